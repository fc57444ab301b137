/* SPDX-License-Identifier: ISC */
/*
 * Input: a journal that a run resumes.  It is refused with a message, or every
 * trial that it is believed to contain can be read and written as results, and
 * is still there after another trial was added and the journal read again.
 *
 * An input of version 1 gets a key and the sums of its lines, which no mutation
 * would find.
 */
#include "json.h"
#include "results/outcome.h"
#include "results/result.h"
#include "results/result_internal.h"
#include "results/result_internal.h"
#include "results/verdict.h"
#include "suite/spec.h"
#include "test/fuzz/scratch.h"
#include "test/tool/help.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { TASKS = 2, TRIALS = 2 };

static const struct spec_def def;
static struct spec_task tasks[TASKS] = {
	{ .id = { "a", 1 }, .name = { "A", 1 }, .def = &def },
	{ .id = { "b", 1 }, .name = { "B", 1 }, .def = &def },
};
static const struct spec_suite suite = {
	.name = { "small", 5 }, .skill = { "s", 1 }, .path = "eval.yaml",
	.tasks = tasks, .ntasks = TASKS,
	.config = { .pass_threshold = 1, .task_pass_threshold = 1,
	    .timeout_seconds = 300 }
};

static struct result_run
begin(struct arena *a)
{
	struct result_run r = { .arena = a, .suite = &suite, .run_id = "r",
		.executor = STR("mock"), .started_ns = 1, .trials = TRIALS };
	size_t i;

	r.ntasks = TASKS;
	r.tasks = NEW_N(a, struct result_task, TASKS);
	for (i = 0; i < TASKS; i++)
		r.tasks[i].spec = &tasks[i];
	result_init(&r);
	return r;
}

static void
check_results(struct arena *a, struct result_run *r)
{
	struct buf b = { 0 };
	const struct outcome *o;
	struct err e = { 0 };
	size_t i, k, some = 0, n;

	for (i = 0; i < TASKS; i++) {
		for (n = k = 0; k < TRIALS; k++) {
			if (r->tasks[i].trials[k].status == RESULT_NONE)
				continue;
			assert(result_read(a, r, &r->tasks[i].trials[k], &e) !=
			    NULL);
			n++;
		}
		result_end_task(r, i);
		some += n > 0;
	}
	result_sum(r);
	result_write_buf(r, &b);
	o = outcome_parse(a, arena_str(a, buf_str(&b)), "x", &e);
	assert(o != NULL && o->ntasks == some);
	buf_free(&b);
}

static void
add(struct result_run *r)
{
	struct verdict v = { .name = STR("v"), .type = STR("text"), .score = 1,
		.weight = 1, .passed = true };
	struct result_record rec = { .task = 1, .trial = 1, .attempts = 1,
		.status = RESULT_PASSED, .verdicts = &v, .nverdicts = 1 };
	struct err e = { 0 };

	assert(result_add(r, &rec, &e) == 0);
}

static void
check_again(struct arena *a, const struct result_run *old, const char *path)
{
	struct result_run r = begin(a);
	struct err e = { 0 };
	size_t i, k;

	assert(result_open(&r, path, true, &e) == 0);
	for (i = 0; i < TASKS; i++)
		for (k = 0; k < TRIALS; k++)
			assert(r.tasks[i].trials[k].status ==
			    old->tasks[i].trials[k].status);
	assert(r.tasks[1].trials[1].status == RESULT_PASSED);
	result_close(&r);
}

/* Appends a line with its sum; other text is copied. */
static void
put_line(struct buf *out, struct str line)
{
	static const unsigned char key[16];
	struct buf b = { 0 };

	if (line.n > 0 && line.p[0] == '{') {
		buf_puts(&b, "{\"check\":\"0000000000000000\",");
		buf_put(&b, (struct str){ line.p + 1, line.n - 1 });
		buf_putc(&b, '\n');
		result_seal(key, (int64_t)out->n, &b);
	} else {
		buf_put(&b, line);
		buf_putc(&b, '\n');
	}
	buf_put(out, buf_str(&b));
	buf_free(&b);
}

static struct str
with_sums(struct arena *a, struct str s)
{
	struct str old = STR("{\"waza_journal\":1,");
	struct buf out = { 0 };
	const char *nl;
	size_t n;

	if (!str_starts(s, old))
		return s;
	buf_puts(&out, "{\"waza_journal\":2,"
	    "\"key\":\"00000000000000000000000000000000\",");
	s.p += old.n;
	s.n -= old.n;
	nl = memchr(s.p, '\n', s.n);
	n = nl == NULL ? s.n : (size_t)(nl + 1 - s.p);
	for (;;) {
		buf_put(&out, (struct str){ s.p, n });
		s.p += n;
		s.n -= n;
		while ((nl = memchr(s.p, '\n', s.n)) != NULL) {
			n = (size_t)(nl - s.p);
			put_line(&out, (struct str){ s.p, n });
			s.p += n + 1;
			s.n -= n + 1;
		}
		if (s.n == 0)
			return arena_take(a, &out);
		n = s.n;		/* a torn line */
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	const char *path = arena_fmt(&a, "%s/journal", scratch_dir()).p;
	struct result_run r = begin(&a);
	struct err e = { 0 };
	struct str s = with_sums(&a, (struct str){ (const char *)data, size });

	scratch_put(path, (const uint8_t *)s.p, s.n);
	if (result_open(&r, path, true, &e) == -1)
		assert(e.msg[0] != '\0' && r.journal.fd == -1);
	else {
		check_results(&a, &r);
		add(&r);
		check_results(&a, &r);
		result_close(&r);
		check_again(&a, &r, path);
	}
	result_close(&r);
	arena_free(&a);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * store_file.c: one results file: its summary for the list, and the whole file
 * on request.
 *
 * The last file that was requested stays in memory for a while, since a client
 * that views one task of a run usually views the next one soon.
 */
#include "results/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "json.h"
#include "results/outcome.h"
#include "results/result.h"
#include "results/result_internal.h"

enum {
	ID_BYTES = 128,		/* longest run id that is used unchanged */
	HELD_MS = 10000,	/* how long an outcome stays in memory */
	STILL_S = 600,		/* a file older than this is not running */
	GRADERS_MAX = 8		/* failed graders that a task names */
};

void
store_stamp(struct store_stamp *t, const struct stat *st)
{
	t->mtime = (int64_t)st->st_mtim.tv_sec * 1000000000 +
	    st->st_mtim.tv_nsec;
	t->ctime = (int64_t)st->st_ctim.tv_sec * 1000000000 +
	    st->st_ctim.tv_nsec;
	t->size = (int64_t)st->st_size;
	t->ino = (uint64_t)st->st_ino;
}

bool
store_same(const struct store_stamp *a, const struct store_stamp *b)
{
	return a->mtime == b->mtime && a->ctime == b->ctime &&
	    a->size == b->size && a->ino == b->ino;
}

/*
 * The summary.
 */
static void
count_tasks(struct store_run *r, const struct outcome *o)
{
	const struct json *sum = json_getc(o->root, "summary");
	const struct outcome_task *t;
	size_t none = 0;
	int64_t n;

	for (t = o->tasks; t < o->tasks + o->ntasks; t++) {
		r->passed += t->status == RESULT_PASSED;
		none += !t->finished || t->status == RESULT_SKIPPED;
		if (!t->finished || t->status <= RESULT_PASSED)
			continue;
		r->failed++;
		r->errors += result_is_error(t->status);
	}
	r->skipped = none;
	if (result_int(sum, "skipped", &n) && n > (int64_t)none)
		r->skipped = (size_t)n;
	if (o->ntasks == 0) {
		if (result_int(sum, "succeeded", &n) && n > 0)
			r->passed = (size_t)n;
		if (result_int(sum, "errors", &n) && n > 0)
			r->errors = (size_t)n;
		if (result_int(sum, "failed", &n) && n > 0)
			r->failed = (size_t)n + r->errors;
	}
	r->total = r->tasks = r->passed + r->failed + r->skipped;
	r->done = r->passed + r->failed;
	r->rate = o->rate;
	r->score = o->score;
	r->summed = true;
}

static bool
add_usage(struct store_run *r, const struct json *u)
{
	static const char *const keys[] = { "input_tokens", "output_tokens" };
	int64_t n;
	double d;
	size_t i;

	if (u == NULL || u->type != JSON_OBJECT)
		return false;
	if (r->tokens < 0)
		r->tokens = 0;
	for (i = 0; i < COUNTOF(keys); i++)
		if (result_int(u, keys[i], &n) && n > 0)
			r->tokens = add_near(r->tokens, n);
	if (result_num(u, "cost", &d) && d >= 0)
		r->cost = (r->cost < 0 ? 0 : r->cost) + d;
	return true;
}

/* From the summary or, if it has none, from the trials. */
static void
count_usage(struct store_run *r, const struct outcome *o)
{
	const struct outcome_task *t;
	size_t i;

	if (add_usage(r, json_getc(json_getc(o->root, "summary"), "usage")))
		return;
	for (t = o->tasks; t < o->tasks + o->ntasks; t++)
		for (i = 0; i < t->ntrials; i++)
			(void)add_usage(r, json_getc(json_getc(
			    t->trials[i].node, "session_digest"), "usage"));
}

bool
store_is_recent(int64_t mtime)
{
	return os_wall_ns() - mtime < (int64_t)STILL_S * 1000000000;
}

/* "running" is true only while the file is still written to. */
static void
set_state(struct store_run *r, struct str word, int64_t mtime)
{
	r->state = STORE_COMPLETED;
	r->ok = r->total > 0 && r->passed == r->total;
	if (str_is(word, "running"))
		r->state = store_is_recent(mtime) ? STORE_RUNNING :
		    STORE_CANCELLED;
	else if (str_is(word, "cancelled"))
		r->state = STORE_CANCELLED;
	else if (str_is(word, "passed") || str_is(word, "failed"))
		r->ok = str_is(word, "passed");
	if (r->state == STORE_RUNNING)
		r->ok = -1;
	else if (r->state == STORE_CANCELLED)
		r->ok = 0;
}

/* Whether an id can be part of a URL without escapes. */
static bool
is_url_safe(struct str id)
{
	size_t i;

	for (i = 0; i < id.n; i++)
		if (!(id.p[i] >= 'a' && id.p[i] <= 'z') &&
		    !(id.p[i] >= 'A' && id.p[i] <= 'Z') &&
		    !(id.p[i] >= '0' && id.p[i] <= '9') &&
		    id.p[i] != '-' && id.p[i] != '_' && id.p[i] != '.')
			return false;
	return id.n > 0 && id.n <= ID_BYTES && id.p[0] != '.';
}

struct copy {			/* a string, and where its copy goes */
	struct str *to, s;
};

/* Copies all strings into one buffer, which is allocated in advance. */
static void
copy_strings(struct store_file *f, const struct copy *v, size_t n)
{
	size_t i, all = 1;
	struct buf b = { 0 };

	for (i = 0; i < n; i++)
		all += v[i].s.n + 1;
	(void)buf_room(&b, all);
	for (i = 0; i < n; i++) {
		*v[i].to = (struct str){ b.p + b.n, v[i].s.n };
		buf_put(&b, v[i].s);
		buf_putc(&b, '\0');
	}
	buf_free(&f->text);	/* some strings may have come from it */
	f->text = b;
}

/* A list of many files keeps its size, whatever they contain. */
static struct str
head(struct str s)
{
	return utf8_cut(s, STORE_TEXT_MAX);
}

static void
summarize(struct arena *a, struct store_file *f, const char *path,
    const char *below, const struct outcome *o)
{
	struct store_run r = { .tokens = -1, .cost = -1 };
	unsigned long long mark = str_hash(str_of(below));
	struct str id = is_url_safe(o->run_id) ? o->run_id :
	    arena_fmt(a, "file-%016llx", mark);
	const struct json *config = json_getc(o->root, "config");
	const struct copy all[] = {
		{ &f->name, f->name }, { &f->eval_id, id },
		{ &f->long_id, arena_fmt(a, "%.*s~%08llx", STRF(id),
		    mark & 0xffffffff) },
		{ &f->run.path, str_of(path) },
		{ &f->run.name, head(o->name) },
		{ &f->run.skill, head(o->skill) },
		{ &f->run.model, head(o->model) },
		{ &f->run.executor, head(o->executor) },
		{ &f->run.judge, head(json_str(config, "judge_model")) },
	};

	count_tasks(&r, o);
	count_usage(&r, o);
	r.duration_ms = r.sum_ms = o->duration_ms;
	r.started_ns = result_parse_time(o->timestamp);
	if (r.started_ns == 0)
		r.started_ns = f->stamp.mtime;
	set_state(&r, json_str(o->root, "status"), f->stamp.mtime);
	f->run = r;
	copy_strings(f, all, COUNTOF(all));
	f->run.id = f->eval_id;
}

static struct outcome *
read_whole(struct arena *a, const char *path, struct err *e)
{
	struct str s;

	return os_read_plain(a, path, STORE_FILE_MAX, &s, e) == -1 ? NULL :
	    outcome_parse(a, s, path, e);
}

bool
store_load(struct store *s, const char *path, struct store_file *f)
{
	struct arena_mark mark = arena_save(&s->scratch);
	struct outcome *o;
	struct err e;
	bool ok;

	o = read_whole(&s->scratch, path, &e);
	ok = o != NULL && (o->name.n > 0 || o->ntasks > 0);
	if (ok)
		summarize(&s->scratch, f, path, path + strlen(s->dir), o);
	arena_restore(&s->scratch, mark);
	return ok;
}

/*
 * The whole file.
 */
static void
on_drop(void *arg)
{
	store_forget(arg, NULL);
}

void
store_forget(struct store *s, const struct store_file *f)
{
	if (s->held == NULL || (f != NULL && f != s->held))
		return;
	s->held = NULL;
	s->held_outcome = NULL;
	timer_stop(s->loop, &s->drop);
	arena_free(&s->held_arena);
	os_trim();
}

/* -1 unless it is still a regular file inside the directory. */
static int
check(struct store *s, const char *path, struct store_stamp *stamp,
    struct err *e)
{
	struct stat st;

	if (lstat(path, &st) == -1)
		return err_sys(e, path);
	if (!S_ISREG(st.st_mode) || !os_inside(s->dir, path)) {
		errno = ENOENT;
		return err_sys(e, path);
	}
	store_stamp(stamp, &st);
	return 0;
}

struct outcome *
store_read(struct store *s, const struct store_file *f, struct arena *a,
    struct err *e)
{
	struct store_stamp now;

	if (check(s, f->run.path.p, &now, e) == -1)
		return NULL;
	return read_whole(a, arena_cstr(a, f->run.path), e);
}

struct outcome *
store_outcome(struct store *s, const struct store_file *f, struct err *e)
{
	struct store_stamp now;
	const char *path;

	if (check(s, f->run.path.p, &now, e) == -1)
		return NULL;
	if (s->held != f || !store_same(&s->held_stamp, &now)) {
		store_forget(s, NULL);
		path = arena_cstr(&s->held_arena, f->run.path);
		s->held = f;
		s->held_stamp = now;
		s->held_outcome = read_whole(&s->held_arena, path, e);
		if (s->held_outcome == NULL) {
			store_forget(s, NULL);
			return NULL;
		}
	}
	s->drop.fn = on_drop;
	s->drop.arg = s;
	timer_start(s->loop, &s->drop, HELD_MS);
	return s->held_outcome;
}

int
store_open(struct store *s, const struct store_file *f, int64_t *size,
    struct err *e)
{
	struct store_stamp now;
	struct stat st;
	int fd;

	if (check(s, f->run.path.p, &now, e) == -1)
		return -1;
	fd = open(f->run.path.p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC | O_NOCTTY);
	if (fd == -1)
		return err_sys(e, f->run.path.p);
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		os_close(&fd);
		errno = ENOENT;
		return err_sys(e, f->run.path.p);
	}
	store_stamp(&now, &st);
	if (!store_same(&now, &f->stamp) && store_outcome(s, f, e) == NULL) {
		os_close(&fd);
		return -1;
	}
	*size = (int64_t)st.st_size;
	return fd;
}

/* The name of a grader that failed a trial; empty: it did not. */
static struct str
failed_grader(const struct json *v)
{
	struct str name = json_str(v, "identifier");

	if (result_true(v, "passed") || result_true(v, "skipped") ||
	    result_true(v, "advisory"))
		return (struct str){ NULL, 0 };
	return name.n > 0 ? name : json_key(v);
}

/* The graders that failed in any trial, at most GRADERS_MAX. */
static void
put_failed(struct json_out *o, const struct outcome_task *t)
{
	struct str names[GRADERS_MAX], name;
	const struct json *v;
	size_t n = 0, i, k;

	for (i = 0; i < t->ntrials; i++) {
		v = json_getc(t->trials[i].node, "validations");
		for (v = json_first(v); v != NULL && n < GRADERS_MAX;
		    v = v->next) {
			name = failed_grader(v);
			for (k = 0; k < n && !str_eq(names[k], name); k++)
				continue;
			if (k == n && name.n > 0)
				names[n++] = name;
		}
	}
	if (n == 0)
		return;
	json_open_member(o, "failedGraders", '[');
	for (i = 0; i < n; i++)
		json_put_str(o, names[i]);
	json_close(o, ']');
}

/* The suspect of the first trial that has one. */
static void
put_suspect(struct json_out *o, const struct outcome_task *t)
{
	const struct json *v = NULL;
	size_t i;

	for (i = 0; i < t->ntrials && v == NULL; i++)
		v = json_getc(t->trials[i].node, "suspect");
	if (v != NULL && v->type == JSON_OBJECT)
		json_put_member(o, "suspect", v);
}

static void
put_task(struct json_out *o, const struct outcome_task *t)
{
	struct str error = json_str(t->node, "error_msg");
	int64_t passed = 0;
	size_t i;

	if (error.n == 0)
		error = json_str(t->node, "skip_reason");
	for (i = 0; i < t->ntrials && error.n == 0; i++)
		error = json_str(t->trials[i].node, "error_msg");
	for (i = 0; i < t->ntrials; i++)
		passed += t->trials[i].status == RESULT_PASSED;
	json_open(o, '{');
	json_put_member_str(o, "id", t->id);
	json_put_member_str(o, "name", t->name);
	json_put_member_str(o, "status", t->status == RESULT_NONE ?
	    json_str(t->node, "status") :
	    str_of(result_word(t->status)));
	json_put_member_double(o, "score", t->score);
	json_put_member_int(o, "trials", (int64_t)t->ntrials);
	json_put_member_int(o, "passed", passed);
	json_put_member_int(o, "durationMs", t->duration_ms);
	if (result_is_error(t->status))
		json_put_member_cstr(o, "errorClass", result_class(t->status));
	if (error.n > 0)
		json_put_member_str(o, "error", error);
	put_failed(o, t);
	if (t->status > RESULT_PASSED)
		put_suspect(o, t);
	json_close(o, '}');
}

void
store_put_tasks(struct json_out *o, const struct outcome *oc)
{
	size_t i;

	json_open_member(o, "tasks", '[');
	for (i = 0; i < oc->ntasks; i++)
		put_task(o, &oc->tasks[i]);
	json_close(o, ']');
}

void
store_put_reasons(struct json_out *o, const struct outcome *oc)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "metrics", "metrics" }, { "trigger_metrics", "triggers" },
		{ "controls", "controls" }, { "matrix", "matrix" },
	};
	const struct json *v;
	double least;
	size_t i;

	if (result_num(json_getc(oc->root, "config"), "pass_threshold", &least))
		json_put_member_double(o, "passThreshold", least);
	for (i = 0; i < COUNTOF(rows); i++) {
		v = json_getc(oc->root, rows[i].from);
		if (v == NULL || (v->type != JSON_OBJECT &&
		    v->type != JSON_ARRAY) || v->n == 0)
			continue;
		json_put_key(o, str_of(rows[i].to));
		json_put(o, v);
	}
}

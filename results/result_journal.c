/* SPDX-License-Identifier: ISC */
/*
 * result_journal.c: the journal, an append-only file with one JSON object per
 * line.  The first line identifies the run:
 *
 *	{"waza_journal":1,"suite":...,"path":...,"model":...,"executor":...,
 *	 "trials":N,"run_id":...,"started":...}
 *
 * Each other line is a finished trial: the numbers that stay in memory, then
 * its object for the results file.  The object is the last member, so that its
 * offset is known without a second parse:
 *
 *	{"task":id,"trial":n,"status":...,"score":x,"weighted":y,"run":{...}}
 *
 * A line for a trigger test has "trigger":n,"skill":name instead of task and
 * trial.  {"regraded":time} notes that the results file was graded again;
 * null revokes that.
 *
 * A line counts once its newline is written.  Invariant: bytes 0 to
 * journal.end of the file are whole lines.  Bytes that a failed write left
 * after them are cut off at once or, if that fails too (journal.torn), before
 * the next line.
 */
#include "results/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "results/result_internal.h"
#include "suite/spec.h"

enum { CHUNK = 256 << 10, KEEP = 1 << 20 };
#define MS_MAX INT64_C(1000000000000)	/* 31 years: their sum fits */

int
result_fail(struct err *e, const char *path, const char *what)
{
	int sys = errno;

	err_set(e, ERR_SYS, "%.100s: %s: %s", path, what, strerror(sys));
	e->sys = sys;
	return -1;
}

static int
cannot_write(const struct result_run *run, struct err *e)
{
	return result_fail(e, run->journal.path, "cannot write the journal");
}

/* Appends journal.line, which has its newline. */
static int
append(struct result_run *run, struct err *e)
{
	struct result_journal *j = &run->journal;
	struct err why = { 0 };

	if (j->line.full)
		return err_set(e, ERR_LIMIT, "%.100s: a trial of more than "
		    "%d MiB cannot be stored", j->path, RESULT_LINE_MAX >> 20);
	if (j->torn && ftruncate(j->fd, (off_t)j->end) == -1)
		return cannot_write(run, e);
	j->torn = false;
	if (os_write_all(j->fd, buf_str(&j->line), &why) == -1) {
		j->torn = ftruncate(j->fd, (off_t)j->end) == -1;
		errno = why.sys;
		return cannot_write(run, e);
	}
	j->end += (int64_t)j->line.n;
	if (j->line.cap > KEEP) {	/* a large line was an exception */
		buf_free(&j->line);
		j->line.max = RESULT_LINE_MAX;
	}
	return 0;
}

struct buf *
result_line_begin(struct result_run *run)
{
	run->journal.line.n = 0;
	run->journal.line.full = false;
	return &run->journal.line;
}

void
result_line_numbers(struct buf *b, struct result_trial *t)
{
	result_put_str(b, STR(",\"status\":"), str_of(
	    result_is_error(t->status) ? result_class(t->status) :
	    result_word(t->status)));
	result_put_num(b, STR(",\"score\":"), t->score);
	result_put_num(b, STR(",\"weighted\":"), t->weighted);
	buf_put(b, STR(",\"run\":"));
	t->off = (int64_t)b->n;
}

int
result_line_end(struct result_run *run, struct result_trial *t, struct err *e)
{
	struct buf *b = &run->journal.line;

	t->len = b->n - (size_t)t->off;
	t->off += run->journal.end;
	buf_put(b, STR("}\n"));
	return append(run, e);
}

void
result_replace(struct result_run *run, struct result_trial *slot,
    const struct result_trial *by, size_t *done)
{
	struct arena_mark mark = arena_save(&run->scratch);
	struct answer_usage old;
	struct err e;

	if (slot->off >= 0 && run->journal.fd != -1) {
		old = answer_read_usage(result_read(&run->scratch, run, slot,
		    &e));
		answer_count_usage(&run->usage, &old, -1);
	}
	arena_restore(&run->scratch, mark);
	*done -= slot->status != RESULT_NONE;
	*done += by->status != RESULT_NONE;
	*slot = *by;
}

static int
put_header(struct result_run *run, struct err *e)
{
	struct buf *b = result_line_begin(run);
	struct json_out o = { .put = buf_sink, .ctx = b };
	char when[RESULT_TIME_MAX];

	result_time(when, run->started_ns);
	json_open(&o, '{');
	json_put_member_int(&o, "waza_journal", 1);
	json_put_member_str(&o, "suite", run->suite->name);
	if (run->suite->path != NULL)
		json_put_member_cstr(&o, "path", run->suite->path);
	json_put_member_str(&o, "model", run->model);
	json_put_member_str(&o, "executor", run->executor);
	json_put_member_int(&o, "trials", (int64_t)run->trials);
	json_put_member_cstr(&o, "run_id",
	    run->run_id == NULL ? "" : run->run_id);
	json_put_member_cstr(&o, "started", when);
	json_close(&o, '}');
	buf_putc(b, '\n');
	return append(run, e);
}

#define REGRADED "regraded"

/*
 * Reading a journal.
 */
struct reader {
	struct result_run *run;
	struct result_task **by_id;	/* run->ntasks of them, sorted */
	bool headed;		/* the first line was read */
	int64_t at;		/* of the line in the file */
	unsigned line;
	struct err *err;
};

static int
by_id(const void *a, const void *b)
{
	const struct result_task *const *x = a, *const *y = b;

	return str_cmp((*x)->spec->id, (*y)->spec->id);
}

static int
cmp_id(const void *id, const void *task)
{
	const struct result_task *const *t = task;

	return str_cmp(*(const struct str *)id, (*t)->spec->id);
}

static struct result_task **
sort_tasks(struct result_run *run)
{
	struct result_task **v = NEW_N(&run->scratch, struct result_task *,
	    run->ntasks);
	size_t i;

	for (i = 0; i < run->ntasks; i++)
		v[i] = &run->tasks[i];
	if (run->ntasks > 1)
		qsort(v, run->ntasks, sizeof(v[0]), by_id);
	return v;
}

static struct json *
read_json(struct arena *a, struct str s, struct json_error *e)
{
	struct json_mem mem = { arena_hook, a };

	return json_read(&mem, s, 0, e);
}

static int
not_ours(const struct reader *r)
{
	return err_set(r->err, ERR_SCHEMA, "%.120s: not a waza journal; the "
	    "file is unchanged", r->run->journal.path);
}

static int
check_header(struct reader *r, struct str line)
{
	struct result_run *run = r->run;
	struct json_error je;
	struct json *v = read_json(&run->scratch, line, &je);
	const struct {
		const char *key;
		struct str want;
	} same[] = {
		{ "suite", run->suite->name },
		{ "executor", run->executor },
		{ "model", run->model },
	};
	struct str got;
	int64_t version;
	size_t i;

	if (v == NULL || !result_int(v, "waza_journal", &version))
		return not_ours(r);
	if (version != 1)
		return err_set(r->err, ERR_SCHEMA, "%.100s: written by "
		    "another version of waza", run->journal.path);
	for (i = 0; i < COUNTOF(same); i++) {
		got = json_str(v, same[i].key);
		if (!str_eq(got, same[i].want))
			return err_set(r->err, ERR_SCHEMA, "%.60s: cannot be "
			    "resumed: its %s is \"%.*s\", not \"%.*s\"",
			    run->journal.path, same[i].key,
			    STRF(utf8_cut(got, 40)),
			    STRF(utf8_cut(same[i].want, 40)));
	}
	r->headed = true;
	return 0;
}

/*
 * Reads the numbers of a line; false when one is missing.  The key "run" has
 * no escapes, so it points into the line and yields the object's offset.
 */
static bool
restore(const struct json *v, struct str line, struct result_trial *t)
{
	const struct json *run = json_getc(v, "run");
	struct str word = json_str(v, "status"), key;
	size_t off;

	t->status = str_is(word, "passed") ? RESULT_PASSED :
	    str_is(word, "failed") ? RESULT_FAILED : result_of_class(word);
	if (t->status == RESULT_NONE || run == NULL ||
	    run->type != JSON_OBJECT || run->next != NULL)
		return false;
	key = json_key(run);
	if (key.p < line.p || key.p >= line.p + line.n)
		return false;
	off = (size_t)(key.p - line.p) + key.n + 2;
	if (off >= line.n || line.p[off] != '{' ||
	    line.p[line.n - 1] != '}')
		return false;
	t->off = (int64_t)off;
	t->len = line.n - off - 1;
	t->attempts = result_attempts(run);
	return result_num(v, "score", &t->score) &&
	    result_num(v, "weighted", &t->weighted) &&
	    result_int(run, "duration_ms", &t->duration_ms) &&
	    t->duration_ms >= 0 && t->duration_ms <= MS_MAX;
}

static void
read_trial(struct reader *r, struct str line)
{
	struct result_run *run = r->run;
	struct result_trial t = { .off = -1 };
	struct result_task **task;
	struct answer_usage usage;
	struct json_error je;
	struct str id;
	struct json *v = read_json(&run->scratch, line, &je);
	int64_t trial;

	if (json_getc(v, REGRADED) != NULL)
		run->regraded = json_str(v, REGRADED).n > 0;
	id = json_str(v, "task");
	if (v == NULL || !restore(v, line, &t) ||
	    t.status == RESULT_CANCELLED)
		return;
	t.off += r->at;
	if (json_getc(v, "trigger") != NULL) {
		result_take_trigger(run, v, &t);
		return;
	}
	if (run->ntasks == 0 || !result_int(v, "trial", &trial))
		return;
	task = bsearch(&id, r->by_id, run->ntasks, sizeof(*task), cmp_id);
	if (task == NULL || trial < 1 || (uint64_t)trial > (*task)->ntrials)
		return;
	result_replace(run, &(*task)->trials[trial - 1], &t, &(*task)->done);
	usage = answer_read_usage(json_getc(v, "run"));
	answer_count_usage(&run->usage, &usage, 1);
}

/* Reads the whole lines of b and removes them from it. */
static int
read_lines(struct reader *r, struct buf *b, size_t *seen)
{
	struct arena_mark mark;
	struct str line;
	size_t from = 0;
	char *nl;
	int rc = 0;

	while (rc == 0 &&
	    (nl = memchr(b->p + *seen, '\n', b->n - *seen)) != NULL) {
		line = (struct str){ b->p + from,
		    (size_t)(nl - b->p) - from };
		mark = arena_save(&r->run->scratch);
		if (!r->headed)
			rc = check_header(r, line);
		else
			read_trial(r, line);
		arena_restore(&r->run->scratch, mark);
		r->at += (int64_t)line.n + 1;
		from += line.n + 1;
		*seen = from;
	}
	buf_eat(b, from);
	*seen = b->n;
	return rc;
}

/* Cuts off what follows the last newline, if waza can have written it. */
static int
drop_rest(struct reader *r, struct str rest)
{
	static const char head[] = "{\"waza_journal\":1,";
	size_t n = rest.n < sizeof(head) - 1 ? rest.n : sizeof(head) - 1;
	struct result_run *run = r->run;

	if (!r->headed && n > 0 && memcmp(rest.p, head, n) != 0)
		return not_ours(r);
	if (rest.n > 0 && ftruncate(run->journal.fd, (off_t)r->at) == -1)
		return cannot_write(run, r->err);
	run->journal.end = r->at;
	return 0;
}

static int
read_all(struct reader *r, struct buf *b)
{
	size_t seen = 0;
	ssize_t n;
	char *p;

	while ((p = buf_room(b, CHUNK)) != NULL) {
		n = os_read(r->run->journal.fd, p, CHUNK);
		if (n == -1)
			return result_fail(r->err, r->run->journal.path,
			    "cannot read the journal");
		if (n == 0)
			return drop_rest(r, buf_str(b));
		b->n += (size_t)n;
		if (read_lines(r, b, &seen) == -1)
			return -1;
	}
	return not_ours(r);
}

static int
resume(struct result_run *run, struct err *e)
{
	struct reader r = { .run = run, .err = e };
	struct arena_mark mark = arena_save(&run->scratch);
	struct buf b = { .max = RESULT_LINE_MAX + 2 * CHUNK };
	int rc;

	r.by_id = sort_tasks(run);
	rc = read_all(&r, &b);
	buf_free(&b);
	arena_restore(&run->scratch, mark);
	if (rc == 0 && !r.headed)
		rc = put_header(run, e);
	if (rc == 0 && run->regraded) {
		buf_puts(result_line_begin(run),
		    "{\"" REGRADED "\":null}\n");
		rc = append(run, e);
	}
	return rc;
}

int
result_note_regraded(const char *output, struct err *e)
{
	struct arena a = { 0 };
	const char *path = arena_fmt(&a, "%s.journal", output).p;
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY |
	    O_NONBLOCK), rc = 0;
	char when[RESULT_TIME_MAX];
	struct stat st;

	if (fd == -1 && errno != ENOENT)
		rc = result_fail(e, path, "cannot write the journal");
	if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		result_time(when, os_wall_ns());
		/* the last line may lack its newline */
		rc = os_write_all(fd, arena_fmt(&a, "\n{\"" REGRADED
		    "\":\"%s\"}\n", when), e);
	}
	os_close(&fd);
	arena_free(&a);
	return rc;
}

/* Refuses a second process; filesystems without locks are not protected. */
static int
lock(const struct result_run *run, struct err *e)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(run->journal.fd, F_SETLK, &l) == 0 ||
	    (errno != EAGAIN && errno != EACCES))
		return 0;
	err_set(e, ERR_SYS, "%.100s: another run is writing this journal",
	    run->journal.path);
	e->sys = EAGAIN;
	return -1;
}

static int
start(struct result_run *run, bool again, struct err *e)
{
	if (lock(run, e) == -1)
		return -1;
	if (again)
		return resume(run, e);
	if (ftruncate(run->journal.fd, 0) == -1)
		return cannot_write(run, e);
	return put_header(run, e);
}

int
result_open(struct result_run *run, const char *path, bool again,
    struct err *e)
{
	struct stat st;

	run->journal.path = arena_cstr(run->arena, str_of(path));
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode))
		return err_set(e, ERR_SCHEMA, "%.100s: the journal is not a "
		    "regular file", path);
	run->journal.fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC |
	    O_NOCTTY, 0644);
	if (run->journal.fd == -1)
		return result_fail(e, path, "cannot open the journal");
	run->journal.end = 0;
	run->journal.torn = false;
	if (start(run, again, e) == 0)
		return 0;
	os_close(&run->journal.fd);
	return -1;
}

void
result_close(struct result_run *run)
{
	struct stat st;

	/* an unlinked journal will not be read again: do not sync it */
	if (run->journal.fd != -1 && fstat(run->journal.fd, &st) == 0 &&
	    st.st_nlink > 0)
		(void)fsync(run->journal.fd);
	os_close(&run->journal.fd);
	buf_free(&run->journal.line);
	run->journal.line.max = RESULT_LINE_MAX;
	arena_free(&run->scratch);
}

struct json *
result_read(struct arena *a, const struct result_run *run,
    const struct result_trial *t, struct err *e)
{
	const char *path = run->journal.path;
	struct json_error je;
	struct json *v;
	size_t got = 0;
	ssize_t n = 1;
	char *p;

	if (t->imported != NULL)
		return t->imported;
	if (run->journal.fd == -1 || t->off < 0) {
		err_set(e, ERR_SCHEMA, "the journal has no entry for this "
		    "trial");
		return NULL;
	}
	p = arena_raw(a, t->len + 1, 1);
	for (; got < t->len && n > 0; got += n > 0 ? (size_t)n : 0)
		do
			n = pread(run->journal.fd, p + got, t->len - got,
			    (off_t)(t->off + (int64_t)got));
		while (n == -1 && errno == EINTR);
	if (n == -1) {
		result_fail(e, path, "cannot read the journal");
		return NULL;
	}
	v = read_json(a, (struct str){ p, got }, &je);
	if (v == NULL)
		err_set(e, ERR_SYNTAX, "%.100s: was changed while it was in "
		    "use", path);
	return v;
}

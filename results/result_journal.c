/* SPDX-License-Identifier: ISC */
/*
 * result_journal.c: the journal, an append-only file of one JSON object a
 * line.  The first line says whose it is:
 *
 *	{"waza_journal":1,"suite":...,"path":...,"model":...,"executor":...,
 *	 "trials":N,"run_id":...,"started":...}
 *
 * and each other line is a finished trial: the numbers that are kept in
 * memory, then the object for the results file, last, so that its place in
 * the line can be told without a parser:
 *
 *	{"task":id,"trial":n,"status":...,"score":x,"weighted":y,"run":{...}}
 *
 * or a prompt of the trigger tests: the same, but "trigger":n,"skill":name
 * instead of task and trial.
 *
 * A line counts once its newline is there.  Invariant: bytes 0 to run->end
 * of the file are whole lines; what a failed write left behind them is cut
 * off at once, or, where that fails too (run->torn), before the next line.
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

int
result_append(struct result_run *run, struct err *e)
{
	struct result_journal *j = &run->journal;
	struct err why = { 0 };

	if (j->line.full)
		return err_set(e, ERR_LIMIT, "%.100s: a trial of more than "
		    "%d MiB cannot be kept", j->path, RESULT_LINE_MAX >> 20);
	if (j->torn && ftruncate(j->fd, (off_t)j->end) == -1)
		return result_fail(e, j->path, "cannot write the journal");
	j->torn = false;
	if (os_write_all(j->fd, buf_str(&j->line), &why) == -1) {
		j->torn = ftruncate(j->fd, (off_t)j->end) == -1;
		errno = why.sys;
		return result_fail(e, j->path, "cannot write the journal");
	}
	j->end += (int64_t)j->line.n;
	j->line.n = 0;
	if (j->line.cap > KEEP) {	/* a large line was an exception */
		buf_free(&j->line);
		j->line.max = RESULT_LINE_MAX;
	}
	return 0;
}

static int
put_header(struct result_run *run, struct err *e)
{
	struct json_out o = { .put = buf_sink, .ctx = &run->journal.line };
	char when[RESULT_TIME_MAX];

	result_time(when, run->started_ns);
	run->journal.line.n = 0;
	json_open(&o, '{');
	json_put_member_int(&o, "waza_journal", 1);
	json_put_member_str(&o, "suite", run->suite->name);
	if (run->suite->path != NULL) {
		json_put_member_cstr(&o, "path", run->suite->path);
	}
	json_put_member_str(&o, "model", run->model);
	json_put_member_str(&o, "executor", run->executor);
	json_put_member_int(&o, "trials", (int64_t)run->trials);
	json_put_member_cstr(&o, "run_id",
	    run->run_id == NULL ? "" : run->run_id);
	json_put_member_cstr(&o, "started", when);
	json_close(&o, '}');
	buf_putc(&run->journal.line, '\n');
	return result_append(run, e);
}

/* A line that is no trial: when the results file was graded again, or null. */
#define REGRADED "regraded"

/* Reading one again. */
struct known {			/* a task by its id */
	struct str id;
	size_t task;
};

struct reader {
	struct result_run *run;
	struct known *known;	/* sorted; run->ntasks of them */
	bool headed;		/* the first line was read */
	int64_t at;		/* of the line in the file */
	unsigned line;
	struct err *err;
};

static int
by_id(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return str_cmp(x->id, y->id);
}

static struct known *
know(struct result_run *run)
{
	struct known *k = NEW_N(&run->scratch, struct known, run->ntasks);
	size_t i;

	for (i = 0; i < run->ntasks; i++)
		k[i] = (struct known){ run->tasks[i].spec->id, i };
	if (run->ntasks > 1)
		qsort(k, run->ntasks, sizeof(k[0]), by_id);
	return k;
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
	return err_set(r->err, ERR_SCHEMA, "%.120s: is not a journal of waza; "
	    "it is left as it is", r->run->journal.path);
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
			    got.n > 40 ? 40 : (int)got.n, got.p,
			    same[i].want.n > 40 ? 40 : (int)same[i].want.n,
			    same[i].want.p);
	}
	r->headed = true;
	return 0;
}

/* RESULT_NONE when the word is none that a finished trial has. */
static enum result_status
status_of(struct str s)
{
	int i;

	for (i = RESULT_PASSED; i < RESULT__MAX; i++)
		if (str_is(s, i > RESULT_FAILED ?
		    result_class((enum result_status)i) :
		    result_word((enum result_status)i)))
			return (enum result_status)i;
	return RESULT_NONE;
}

/*
 * The numbers of a line; false when something is missing.  The object's name
 * was not escaped, so it is borrowed from the line, and tells the place.
 */
static bool
restore(const struct json *v, struct str line, struct result_trial *t)
{
	const struct json *run = json_getc(v, "run");
	struct str key;
	size_t off;
	int64_t n;

	t->status = status_of(json_str(v, "status"));
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
	t->attempts = result_int(run, "attempts", &n) && n >= 0 &&
	    n <= INT32_MAX ? (unsigned)n : 1;
	return result_num(v, "score", &t->score) &&
	    result_num(v, "weighted", &t->weighted) &&
	    result_int(run, "duration_ms", &t->duration_ms) &&
	    t->duration_ms >= 0 && t->duration_ms <= MS_MAX;
}

static void
take(struct reader *r, struct str line)
{
	struct result_run *run = r->run;
	struct result_trial t = { .off = -1 }, *old;
	struct known key = { { NULL, 0 }, 0 }, *k;
	struct json_error je;
	struct json *v = read_json(&run->scratch, line, &je);
	int64_t trial;

	if (json_getc(v, REGRADED) != NULL)
		run->regraded = json_str(v, REGRADED).n > 0;
	key.id = json_str(v, "task");
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
	k = bsearch(&key, r->known, run->ntasks, sizeof(key), by_id);
	if (k == NULL || trial < 1 ||
	    (uint64_t)trial > run->tasks[k->task].ntrials)
		return;
	old = &run->tasks[k->task].trials[trial - 1];
	result_subtract_usage(run, old);
	result_add_usage(&run->usage, json_getc(v, "run"), 1);
	run->tasks[k->task].done += old->status == RESULT_NONE;
	*old = t;
}

/* The whole lines of b; they are gone from it afterwards. */
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
			take(r, line);
		arena_restore(&r->run->scratch, mark);
		r->at += (int64_t)line.n + 1;
		from += line.n + 1;
		*seen = from;
	}
	buf_eat(b, from);
	*seen = b->n;
	return rc;
}

/* What stands after the last newline: cut off, if it can be of ours. */
static int
drop_rest(struct reader *r, struct str rest)
{
	static const char head[] = "{\"waza_journal\":1,";
	size_t n = rest.n < sizeof(head) - 1 ? rest.n : sizeof(head) - 1;
	struct result_run *run = r->run;

	if (!r->headed && n > 0 && memcmp(rest.p, head, n) != 0)
		return not_ours(r);
	if (rest.n > 0 && ftruncate(run->journal.fd, (off_t)r->at) == -1)
		return result_fail(r->err, run->journal.path,
		    "cannot write the journal");
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

	r.known = know(run);
	rc = read_all(&r, &b);
	buf_free(&b);
	arena_restore(&run->scratch, mark);
	if (rc == 0 && !r.headed)
		rc = put_header(run, e);
	if (rc == 0 && run->regraded) {
		run->journal.line.n = 0;
		buf_puts(&run->journal.line, "{\"" REGRADED "\":null}\n");
		rc = result_append(run, e);
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
		/* the last line may have no end */
		rc = os_write_all(fd, arena_fmt(&a, "\n{\"" REGRADED
		    "\":\"%s\"}\n", when), e);
	}
	os_close(&fd);
	arena_free(&a);
	return rc;
}

/* One process at a time; where files cannot be locked, the user sees to it. */
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
begin(struct result_run *run, bool again, struct err *e)
{
	if (lock(run, e) == -1)
		return -1;
	if (again)
		return resume(run, e);
	if (ftruncate(run->journal.fd, 0) == -1)
		return result_fail(e, run->journal.path,
		    "cannot write the journal");
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
		return err_set(e, ERR_SCHEMA, "%.100s: a journal has to be "
		    "a regular file", path);
	run->journal.fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC |
	    O_NOCTTY, 0644);
	if (run->journal.fd == -1)
		return result_fail(e, path, "cannot open the journal");
	run->journal.end = 0;
	run->journal.torn = false;
	if (begin(run, again, e) == 0)
		return 0;
	os_close(&run->journal.fd);
	return -1;
}

void
result_close(struct result_run *run)
{
	struct stat st;

	/* one that has no name any more is not kept: no wait for the disk */
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
		err_set(e, ERR_SCHEMA, "nothing is kept of this trial");
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

void
result_subtract_usage(struct result_run *run, const struct result_trial *t)
{
	struct arena_mark mark = arena_save(&run->scratch);
	struct err e;

	if (t->off >= 0 && run->journal.fd != -1)
		result_add_usage(&run->usage,
		    result_read(&run->scratch, run, t, &e), -1);
	arena_restore(&run->scratch, mark);
}

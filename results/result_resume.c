/* SPDX-License-Identifier: ISC */
/*
 * result_resume.c: reads the journal of an interrupted run, and adds notes to
 * that of another one.  result_journal.c describes the format.
 *
 * Lines that this program did not write are counted and skipped: their trials
 * run again.
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
#include "lib/siphash.h"
#include "results/result_internal.h"
#include "suite/spec.h"

enum { CHUNK = 256 << 10, HEADER_MAX = 64 << 10 };
#define MS_MAX INT64_C(1000000000000)	/* 31 years: their sum fits */

#define REGRADED "regraded"

/*
 * Reading a journal.
 */
struct reader {
	struct result_run *run;
	struct result_task **by_id;	/* run->ntasks of them, sorted */
	bool headed;		/* the first line was read */
	struct result_stored from;	/* its path and source */
	int64_t at;		/* of the line in the file */
	unsigned line;
	struct err *err;
};

static struct json *
read_json(struct arena *a, struct str s, struct json_error *e)
{
	struct json_mem mem = { arena_hook, a };

	return json_read(&mem, s, 0, e);
}

static int
not_ours(const struct reader *r)
{
	return err_set(r->err, ERR_SCHEMA, "%s: not a waza journal; the "
	    "file is unchanged", r->run->journal.path);
}

bool
result_read_key(unsigned char *key, struct str hex)
{
	size_t i;
	int hi, lo;

	for (i = 0; i < SIPHASH_KEY && hex.n == 2 * SIPHASH_KEY; i++) {
		hi = hex_digit(hex.p[2 * i]);
		lo = hex_digit(hex.p[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return false;
		key[i] = (unsigned char)(hi << 4 | lo);
	}
	return i == SIPHASH_KEY;
}

static int
check_header(struct reader *r, struct str line)
{
	struct result_run *run = r->run;
	struct json_error je;
	struct json *v = read_json(&run->scratch, line, &je);
	struct result_stored from = { run->journal.path, v,
		json_str(v, "suite"), json_str(v, "executor"),
		json_str(v, "model"), false,
		arena_cstr(run->arena, json_str(v, "path")) };
	int64_t version;

	if (v == NULL || !result_int(v, "waza_journal", &version))
		return not_ours(r);
	if (version != RESULT_VERSION || !result_read_key(run->journal.key,
	    json_str(v, "key")))
		return err_set(r->err, ERR_SCHEMA, "%s: written by another "
		    "version of waza: run without --resume", run->journal.path);
	if (result_check_same(run, &from, r->err) == -1)
		return -1;
	r->from.path = from.path;
	r->from.source = json_getc(v, "path") != NULL ? from.source : NULL;
	run->first_id = arena_cstr(run->arena, json_str(v, "run_id"));
	run->first_ns = result_parse_time(json_str(v, "started"));
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
	    str_is(word, "failed") ? RESULT_FAILED :
	    str_is(word, "skipped") ? RESULT_SKIPPED : result_of_class(word);
	if (t->status == RESULT_NONE || run == NULL ||
	    run->type != JSON_OBJECT || run->next != NULL)
		return false;
	key = json_key(run);
	if (key.p < line.p || key.p >= line.p + line.n)
		return false;
	off = (size_t)(key.p - line.p) + key.n + 2;
	if (off >= line.n || off < RESULT_CHECK || line.p[off] != '{' ||
	    line.p[line.n - 1] != '}')
		return false;
	t->off = (int64_t)off;
	t->len = (uint32_t)(line.n - off - 1);
	t->head = (uint32_t)(off - RESULT_CHECK);
	t->attempts = result_attempts(run);
	return result_num(v, "score", &t->score) &&
	    result_num(v, "weighted", &t->weighted) &&
	    result_int(run, "duration_ms", &t->duration_ms) &&
	    t->duration_ms >= 0 && t->duration_ms <= MS_MAX;
}

static void
disbelieve(struct reader *r)
{
	struct result_journal *j = &r->run->journal;

	if (j->bad++ == 0)
		j->first_bad = r->line;
}

bool
result_find_trial(const struct result_task *t, int64_t *trial)
{
	size_t i;

	for (i = 0; t->more->numbers != NULL && i < t->ntrials; i++)
		if (t->more->numbers[i] == *trial) {
			*trial = (int64_t)i;
			return true;
		}
	--*trial;
	return t->more->numbers == NULL && *trial >= 0 &&
	    (uint64_t)*trial < t->ntrials;
}

/* -1: this run lacks the trial, which would get lost. */
static int
read_trial(struct reader *r, struct str line)
{
	struct result_run *run = r->run;
	struct result_trial t = { .off = -1 }, *place;
	struct result_task *task;
	struct json_error je;
	struct str id;
	struct json *v;
	int64_t trial;

	if (line.n == 0)		/* separates ours from a torn one */
		return 0;
	if (!result_sealed(run->journal.key, r->at, line, &t.sum)) {
		disbelieve(r);
		return 0;
	}
	v = read_json(&run->scratch, line, &je);
	if (json_getc(v, REGRADED) != NULL)
		run->regraded = json_str(v, REGRADED).n > 0;
	id = json_str(v, "task");
	if (v == NULL || !restore(v, line, &t) ||
	    t.status == RESULT_CANCELLED)
		return 0;
	t.off += r->at;
	if (json_getc(v, "trigger") != NULL) {
		result_take_trigger(run, v, &t);
		return 0;
	}
	if (!result_int(v, "trial", &trial))
		return 0;
	place = result_find_place(run, r->by_id, id, trial, &task);
	if (place == NULL)
		return result_lacks(run, task, id, &r->from, r->err);
	result_read_used(&t, json_getc(v, "run"));
	result_replace(run, place, &t, &task->done);
	result_count(run, json_getc(v, "run"), 1);
	return 0;
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
		r->line++;
		if (!r->headed)
			rc = check_header(r, line);
		else
			rc = read_trial(r, line);
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
	struct str line = STR("{\"check\":\"");
	struct result_run *run = r->run;

	if (!r->headed && !result_is_ours(rest, true))
		return not_ours(r);
	line.n = line.n < rest.n ? line.n : rest.n;
	if (r->headed && !str_starts(rest, line)) {
		r->line++;
		disbelieve(r);
	}
	if (rest.n > 0 && ftruncate(run->journal.fd, (off_t)r->at) == -1)
		return result_cannot_write(run, r->err);
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
put_regraded(struct result_run *run, struct err *e)
{
	buf_puts(result_line_begin(run), "\"" REGRADED "\":null");
	return result_line_end(run, NULL, e);
}

int
result_resume(struct result_run *run, struct err *e)
{
	struct reader r = { .run = run, .err = e };
	struct arena_mark mark = arena_save(&run->scratch);
	struct buf b = { .max = RESULT_LINE_MAX + 2 * CHUNK };
	int rc;

	r.by_id = result_sort_tasks(run);
	rc = read_all(&r, &b);
	buf_free(&b);
	arena_restore(&run->scratch, mark);
	if (rc == 0 && !r.headed)
		rc = result_put_header(run, e);
	if (rc == 0 && run->regraded)
		rc = put_regraded(run, e);
	return rc;
}

/* Appends a line to the journal of another run, whose first line is read. */
static int
add_note(int fd, const char *path, struct err *e)
{
	struct arena a = { 0 };
	struct result_run run = { .arena = &a, .journal = { .fd = fd,
		.path = path, .line = { .max = RESULT_LINE_MAX } } };
	char when[RESULT_TIME_MAX], head[HEADER_MAX], *nl;
	ssize_t n = os_read_head(fd, head, sizeof(head));
	struct json_error je;
	struct json *v;
	struct stat st;
	int rc = 0;

	nl = n > 0 ? memchr(head, '\n', (size_t)n) : NULL;
	v = nl == NULL ? NULL : read_json(&a, (struct str){ head,
	    (size_t)(nl - head) }, &je);
	if (v != NULL && result_read_key(run.journal.key, json_str(v, "key")) &&
	    fstat(fd, &st) == 0) {
		/* the last line may lack its newline */
		run.journal.end = (int64_t)st.st_size + 1;
		result_time(when, os_wall_ns());
		result_put_str(result_line_begin(&run),
		    STR("\"" REGRADED "\":"), str_of(when));
		rc = result_line_end(&run, NULL, e);
	}
	buf_free(&run.journal.line);
	arena_free(&a);
	return rc;
}

/* A run that is going on rewrites the results file anyway. */
int
result_note_regraded(const char *output, struct err *e)
{
	struct arena a = { 0 };
	const char *path = arena_fmt(&a, "%s.journal", output).p;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int rc = 0;
	struct stat st;

	if (fd == -1 && errno != ENOENT)
		rc = result_fail(e, path, "cannot write the journal");
	if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    os_lock(fd) == 0)
		rc = add_note(fd, path, e);
	os_close(&fd);
	arena_free(&a);
	return rc;
}

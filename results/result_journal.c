/* SPDX-License-Identifier: ISC */
/*
 * result_journal.c: the journal, an append-only file with one JSON object per
 * line.  The first line identifies the run:
 *
 *	{"waza_journal":2,"key":...,"suite":...,"path":...,"model":...,
 *	 "executor":...,"trials":N,"run_id":...,"started":...}
 *
 * "config" is as in the results file.  That of a shard also has "skill", and
 * lines about its tasks follow (result_shard.c).
 *
 * Each other line is a finished trial: the numbers that stay in memory, then
 * its object for the results file.  The object is the last member, so that its
 * offset is known without a second parse:
 *
 *	{"check":sum,"task":id,"trial":n,"status":...,"score":x,"weighted":y,
 *	 "run":{...}}
 *
 * A line for a trigger test has "trigger":n,"skill":name instead of task and
 * trial.  "regraded":time notes that the results file was graded again; null
 * revokes that.
 *
 * Agents run as the same user and can write to the file.  `check` is SipHash of
 * the rest of the line, under the key of the header and the line's offset: a
 * line that somebody else wrote, changed or moved is not believed.  While the
 * run continues, the sums are in memory, where agents cannot change them.
 * Resuming has only the file: a program that computes the sums itself can
 * deceive it.
 *
 * A line counts once its newline is written.  Invariant: bytes 0 to
 * journal.end of the file are whole lines.  Bytes after them are of a failed
 * write (journal.torn) or of somebody else: they are cut off before the next
 * line, which is always written at journal.end.
 */
#include "results/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "io/workspace.h"
#include "json.h"
#include "lib/siphash.h"
#include "results/result_internal.h"
#include "suite/spec.h"

enum {
	KEEP = 1 << 20,		/* bytes of a line's buffer */
	LOCK_TRIES = 50
};

#define CHECK "{\"check\":\""

int
result_fail(struct err *e, const char *path, const char *what)
{
	int sys = errno;

	err_set(e, ERR_SYS, "%s: %s: %s", path, what, strerror(sys));
	e->sys = sys;
	return -1;
}

int
result_cannot_write(const struct result_run *run, struct err *e)
{
	return result_fail(e, run->journal.path, "cannot write the journal");
}

static uint64_t
sum_of(const unsigned char *key, int64_t at, struct str body)
{
	unsigned char k[SIPHASH_KEY];
	size_t i;

	memcpy(k, key, sizeof(k));
	for (i = 0; i < 8; i++)
		k[i] ^= (unsigned char)((uint64_t)at >> (8 * i));
	return siphash_sum(k, body);
}

uint64_t
result_seal(const unsigned char *key, int64_t at, struct buf *line)
{
	uint64_t sum = sum_of(key, at, (struct str){ line->p + RESULT_CHECK,
	    line->n - RESULT_CHECK - 1 });
	char hex[17];

	snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)sum);
	memcpy(line->p + strlen(CHECK), hex, 16);
	return sum;
}

bool
result_sealed(const unsigned char *key, int64_t at, struct str line,
    uint64_t *sum)
{
	char want[RESULT_CHECK + 1];

	if (line.n < RESULT_CHECK)
		return false;
	*sum = sum_of(key, at, (struct str){ line.p + RESULT_CHECK,
	    line.n - RESULT_CHECK });
	snprintf(want, sizeof(want), CHECK "%016llx\",",
	    (unsigned long long)*sum);
	return memcmp(line.p, want, RESULT_CHECK) == 0;
}

/*
 * Before a line is written: cuts off what others have appended, and continues
 * on a new line if they have cut off our lines.
 */
static int
settle(struct result_run *run, struct err *e)
{
	struct result_journal *j = &run->journal;
	struct err why = { 0 };
	struct stat st;

	if (fstat(j->fd, &st) == -1 || (!j->torn && st.st_size == j->end))
		return 0;
	j->foreign |= !j->torn;
	if (st.st_size > j->end) {
		if (ftruncate(j->fd, (off_t)j->end) == -1)
			return result_cannot_write(run, e);
	} else if (st.st_size < j->end) {
		if (lseek(j->fd, st.st_size, SEEK_SET) == -1 ||
		    os_write_all(j->fd, STR("\n"), &why) == -1)
			return result_cannot_write(run, e);
		j->end = (int64_t)st.st_size + 1;
	}
	j->torn = false;
	return 0;
}

/* Writes journal.line, which has its newline, at journal.end. */
static int
append(struct result_run *run, struct err *e)
{
	struct result_journal *j = &run->journal;
	struct err why = { 0 };

	if (j->line.full)
		return err_set(e, ERR_LIMIT, "%s: a trial of more than "
		    "%d MiB cannot be stored", j->path, RESULT_LINE_MAX >> 20);
	if (lseek(j->fd, (off_t)j->end, SEEK_SET) == -1)
		return result_cannot_write(run, e);
	if (os_write_all(j->fd, buf_str(&j->line), &why) == -1) {
		j->torn = ftruncate(j->fd, (off_t)j->end) == -1;
		errno = why.sys;
		return result_cannot_write(run, e);
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
	struct buf *b = &run->journal.line;

	b->n = 0;
	b->full = false;
	buf_puts(b, CHECK "0000000000000000\",");
	return b;
}

void
result_line_name(struct buf *b, const struct result_run *run, size_t task,
    size_t trial)
{
	const struct result_task *t = &run->tasks[task];

	result_put_str(b, STR("\"task\":"), t->spec->id);
	if (run->shard.n > 0)
		result_put_int(b, STR(",\"index\":"), (int64_t)t->index);
	result_put_int(b, STR(",\"trial\":"), result_number(t, trial));
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
	struct result_journal *j = &run->journal;
	size_t len = j->line.n;
	uint64_t sum = 0;

	buf_put(&j->line, STR("}\n"));
	if (settle(run, e) == -1)
		return -1;
	if (!j->line.full)
		sum = result_seal(j->key, j->end, &j->line);
	if (t != NULL) {
		t->len = (uint32_t)(len - (size_t)t->off);
		t->head = (uint32_t)((size_t)t->off - RESULT_CHECK);
		t->off += j->end;
		t->sum = sum;
	}
	return append(run, e);
}

void
result_replace(struct result_run *run, struct result_trial *slot,
    const struct result_trial *by, uint32_t *done)
{
	struct arena_mark mark = arena_save(&run->scratch);
	struct err e;

	if (slot->off >= 0 && run->journal.fd != -1)
		result_count(run, result_read(&run->scratch, run, slot, &e),
		    -1);
	arena_restore(&run->scratch, mark);
	*done -= slot->status != RESULT_NONE;
	*done += by->status != RESULT_NONE;
	*slot = *by;
}

int
result_put_header(struct result_run *run, struct err *e)
{
	struct buf *b = result_line_begin(run);
	struct json_out o = { .put = buf_sink, .ctx = b };
	char when[RESULT_TIME_MAX], key[2 * SIPHASH_KEY + 1];
	size_t i;

	b->n = 0;			/* the first line has no sum */
	if (os_random(run->journal.key, SIPHASH_KEY, e) == -1)
		return -1;
	for (i = 0; i < SIPHASH_KEY; i++)
		snprintf(key + 2 * i, 3, "%02x", run->journal.key[i]);
	result_time(when, run->started_ns);
	json_open(&o, '{');
	json_put_member_int(&o, "waza_journal", RESULT_VERSION);
	json_put_member_cstr(&o, "key", key);
	json_put_member_str(&o, "suite", run->suite->name);
	if (run->suite->path != NULL)
		json_put_member_cstr(&o, "path", run->suite->path);
	json_put_member_str(&o, "model", run->model);
	json_put_member_str(&o, "executor", run->executor);
	json_put_member_int(&o, "trials", (int64_t)run->trials);
	json_put_member_cstr(&o, "run_id",
	    run->run_id == NULL ? "" : run->run_id);
	json_put_member_cstr(&o, "started", when);
	if (run->shard.n > 0)
		json_put_member_str(&o, "skill", run->suite->skill);
	result_put_config(&o, run);
	json_close(&o, '}');
	buf_putc(b, '\n');
	return append(run, e) == -1 ? -1 : result_put_plan(run, e);
}

/*
 * Refuses a second process; filesystems without locks are not protected.  A
 * child of a process that was killed has the lock until it starts its program:
 * wait for that, unless others wait for us.
 */
static int
lock(const struct result_run *run, struct err *e)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	int tries;

	for (tries = run->hasty ? 1 : LOCK_TRIES; tries > 0; tries--) {
		if (os_lock(run->journal.fd) == 0 ||
		    (errno != EAGAIN && errno != EACCES))
			return 0;
		if (tries > 1)
			(void)nanosleep(&nap, NULL);
	}
	err_set(e, ERR_SYS, "%s: another run is writing this journal",
	    run->journal.path);
	e->sys = EBUSY;
	return -1;
}

/* Whether the open file may be replaced. */
static int
check_old(const struct result_run *run, struct err *e)
{
	char head[64];
	ssize_t n = os_read_head(run->journal.fd, head, sizeof(head));

	if (n == -1)
		return result_fail(e, run->journal.path,
		    "cannot read the journal");
	if (result_is_ours((struct str){ head, (size_t)n }, true))
		return 0;
	return err_set(e, ERR_SCHEMA, "%s: exists and is not a journal of "
	    "waza: name another results file, or remove it",
	    run->journal.path);
}

static int
start(struct result_run *run, bool again, struct err *e)
{
	if (lock(run, e) == -1)
		return -1;
	if (again)
		return result_resume(run, e);
	if (check_old(run, e) == -1)
		return -1;
	if (ftruncate(run->journal.fd, 0) == -1)
		return result_cannot_write(run, e);
	return result_put_header(run, e);
}

static int
begin(struct result_run *run, bool again, struct err *e)
{
	run->journal.end = 0;
	run->journal.torn = run->journal.foreign = false;
	run->journal.bad = 0;
	if (start(run, again, e) == 0)
		return 0;
	os_close(&run->journal.fd);
	return -1;
}

static int
not_regular(struct err *e, const char *path)
{
	return err_set(e, ERR_SCHEMA, "%s: the journal is not a regular "
	    "file", path);
}

/* A strict run creates its file itself and follows no link. */
static int
open_file(struct result_run *run, const char *path, struct err *e)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat st;
	int fd;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode))
		return not_regular(e, path);
	if (run->strict) {
		fd = open(path, flags | O_NOFOLLOW);
		if (fd == -1 && errno == ENOENT)
			fd = open(path, flags | O_CREAT | O_EXCL, 0644);
	} else
		fd = open(path, flags | O_CREAT, 0644);
	if (fd == -1)
		return result_fail(e, path, "cannot open the journal");
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		run->journal.fd = fd;
		return 0;
	}
	os_close(&fd);
	return not_regular(e, path);
}

int
result_open(struct result_run *run, const char *path, bool again,
    struct err *e)
{
	run->journal.path = arena_cstr(run->arena, str_of(path));
	return open_file(run, path, e) == -1 ? -1 : begin(run, again, e);
}

int
result_open_unnamed(struct result_run *run, struct err *e)
{
	char *path = arena_cstr(run->arena, arena_fmt(run->arena,
	    "%s/waza-XXXXXX", workspace_tmp()));

	run->journal.path = path;
	run->journal.fd = mkstemp(path);
	if (run->journal.fd == -1)
		return err_sys(e, path);
	(void)unlink(path);
	(void)fcntl(run->journal.fd, F_SETFD, FD_CLOEXEC);
	return begin(run, false, e);
}

/* Unless another file has taken its name. */
static void
remove_spent(struct result_run *run)
{
	struct result_journal *j = &run->journal;
	struct stat own, st;

	(void)result_wake(run);
	if (j->fd != -1 && fstat(j->fd, &own) == 0 &&
	    lstat(j->path, &st) == 0 && own.st_dev == st.st_dev &&
	    own.st_ino == st.st_ino)
		(void)unlink(j->path);
}

void
result_close(struct result_run *run)
{
	struct stat st;

	if (run->journal.spent)
		remove_spent(run);
	/* an unlinked journal will not be read again: do not sync it */
	if (run->journal.fd != -1 && fstat(run->journal.fd, &st) == 0 &&
	    st.st_nlink > 0)
		(void)fsync(run->journal.fd);
	os_close(&run->journal.fd);
	buf_free(&run->journal.line);
	run->journal.line.max = RESULT_LINE_MAX;
	arena_free(&run->scratch);
}

void
result_rest(struct result_run *run)
{
	struct result_journal *j = &run->journal;
	struct stat st;

	arena_free(&run->scratch);
	buf_free(&j->line);
	j->line.max = RESULT_LINE_MAX;
	if (j->fd == -1 || fstat(j->fd, &st) == -1 || st.st_nlink == 0)
		return;
	(void)fsync(j->fd);
	os_close(&j->fd);
	j->resting = true;
}

int
result_journal_fd(const struct result_run *run, int64_t *end)
{
	*end = run->journal.end;
	return run->journal.fd;
}

bool
result_wake(struct result_run *run)
{
	struct result_journal *j = &run->journal;

	if (!j->resting || j->fd != -1)
		return false;
	j->fd = open(j->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return j->fd != -1;
}

struct str
result_line_text(const struct result_run *run, const struct result_trial *t,
    struct str body)
{
	size_t n = t->head + t->len + 1;

	if (body.n < n || sum_of(run->journal.key, t->off - t->head -
	    RESULT_CHECK, (struct str){ body.p, n }) != t->sum)
		return (struct str){ NULL, 0 };
	return (struct str){ body.p + t->head, t->len };
}

struct str
result_line_read(struct arena *a, const struct result_run *run,
    const struct result_trial *t, struct err *e)
{
	size_t got = 0, want = t->head + t->len + 1;
	char *p = arena_raw(a, want, 1);
	struct str text;
	ssize_t n = 1;

	for (; got < want && n > 0; got += n > 0 ? (size_t)n : 0)
		do
			n = pread(run->journal.fd, p + got, want - got,
			    (off_t)(t->off - t->head + (int64_t)got));
		while (n == -1 && errno == EINTR);
	text = result_line_text(run, t, (struct str){ p, got });
	if (n == -1)
		result_fail(e, run->journal.path, "cannot read the journal");
	else if (text.p == NULL)
		err_set(e, ERR_SYNTAX, "%s: was changed while it was in "
		    "use", run->journal.path);
	return text;
}

/* The sums are in memory: another file at the path is not believed. */
static struct json *
read_resting(struct arena *a, const struct result_run *run,
    const struct result_trial *t, struct err *e)
{
	struct result_run copy = *run;
	struct json *v;

	if (!result_wake(&copy)) {
		result_fail(e, run->journal.path, "cannot read the journal");
		return NULL;
	}
	v = result_read(a, &copy, t, e);
	os_close(&copy.journal.fd);
	return v;
}

struct json *
result_read(struct arena *a, const struct result_run *run,
    const struct result_trial *t, struct err *e)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error je;
	struct str text;

	if (t->imported != NULL)
		return t->imported;
	if ((run->journal.fd == -1 && !run->journal.resting) || t->off < 0) {
		err_set(e, ERR_SCHEMA, "the journal has no entry for this "
		    "trial");
		return NULL;
	}
	if (run->journal.fd == -1)
		return read_resting(a, run, t, e);
	text = result_line_read(a, run, t, e);
	return text.p == NULL ? NULL : json_read(&mem, text, 0, &je);
}

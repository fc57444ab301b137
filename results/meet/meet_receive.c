/* SPDX-License-Identifier: ISC */
/*
 * meet_receive.c: pieces of files, and where a file belongs.
 *
 * The first piece of a file makes an upload, whose id is its hash, so that a
 * client which did not get the answer can send it again.  A complete file, or
 * the beginning of a journal, is checked by a copy of the process, then moved
 * to its run.  Later pieces of a journal are appended there.
 */
#include "results/meet/meet_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "results/result.h"
#include "results/result_internal.h"

enum {
	BLOCK = 64 << 10,		/* for comparing */
	FRESH_MS = 60000,		/* between changes of its time */
	UPLOAD_MS = 600000,		/* without a piece: removed, */
	IDLE_MS = 10000			/* if there are many, after this */
};
#define CLOCKS_NS INT64_C(60000000000)	/* between clocks of machines */

static void
answer(meet_reply_fn *fn, void *arg, const struct meet_reply *r)
{
	if (fn != NULL)
		fn(arg, r);
}

static struct meet_upload *
refuse(const struct meet_piece *p, enum meet_status status, const char *why)
{
	struct meet_reply r = { .status = status, .why = why };

	answer(p->reply, p->arg, &r);
	return NULL;
}

/*
 * Bytes.
 */
static bool
is_same(int fd, int64_t at, struct str text)
{
	char block[BLOCK];
	size_t want;
	ssize_t n;

	while (text.n > 0) {
		want = text.n < sizeof(block) ? text.n : sizeof(block);
		do
			n = pread(fd, block, want, (off_t)at);
		while (n == -1 && errno == EINTR);
		if (n <= 0 || memcmp(block, text.p, (size_t)n) != 0)
			return false;
		text.p += n;
		text.n -= (size_t)n;
		at += n;
	}
	return true;
}

/*
 * Adds the part of a piece that is new to a file of *size bytes.  1; 0 if the
 * file has other bytes there, or ends before; -1 and *e.
 */
static int
add_bytes(struct meet *m, const char *path, int64_t *size,
    const struct meet_piece *p, struct err *e)
{
	struct str text = p->text;
	int64_t known = *size - p->offset;
	size_t same = (size_t)(known < (int64_t)text.n ? known :
	    (int64_t)text.n);
	struct err why = { 0 };
	int fd, rc;

	if (known < 0)
		return 0;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK, 0666);
	if (fd == -1)
		return err_sys(e, path);
	rc = is_same(fd, p->offset, (struct str){ text.p, same });
	text = (struct str){ text.p + same, text.n - same };
	/* bytes after a failed write are overwritten by the next piece */
	if (rc == 1 && (lseek(fd, (off_t)*size, SEEK_SET) == -1 ||
	    os_write_all(fd, text, &why) == -1))
		rc = err_sys(e, path);
	os_close(&fd);
	if (rc == 1) {
		*size += (int64_t)text.n;
		m->bytes += (int64_t)text.n;
	}
	return rc;
}

/* NULL: it fits; otherwise the reason. */
static const char *
find_limit(const struct meet *m, int64_t size, size_t more)
{
	if (size > MEET_PART_MAX || (int64_t)more > MEET_PART_MAX - size)
		return "a file of a shard can have up to 1 GiB";
	if (m->bytes > MEET_BYTES_MAX - (int64_t)more)
		return "the shards of unfinished runs have reached 64 GiB";
	return NULL;
}

/*
 * Uploads.
 */
void
meet_drop(struct meet_upload *u)
{
	struct arena own;

	if (u->checking)
		offload_drop(&u->check);
	(void)unlink(u->path);
	u->meet->bytes -= u->got;
	LIST_REMOVE(u);
	u->meet->nuploads--;
	own = u->arena;
	arena_free(&own);
}

/*
 * Removes files that have got no piece for long; if there are too many, after
 * a short time.  A sender that continues begins again.
 */
static void
drop_old(struct meet *m)
{
	int64_t limit = loop_now(m->loop) - (m->nuploads < MEET_UPLOADS_MAX ?
	    UPLOAD_MS : IDLE_MS);
	struct meet_upload *u, *next;

	for (u = m->uploads; u != NULL; u = next) {
		next = u->next;
		if (!u->checking && u->touched < limit)
			meet_drop(u);
	}
}

static struct meet_upload *
find_upload(const struct meet *m, struct str id)
{
	struct meet_upload *u;

	for (u = m->uploads; u != NULL && !str_is(id, u->id); u = u->next)
		;
	return u;
}

static struct meet_upload *
new_upload(struct meet *m, const char *id, int64_t size)
{
	struct arena own = { 0 };
	struct meet_upload *u = NEW(&own, struct meet_upload);

	u->arena = own;
	u->meet = m;
	u->size = size;
	memcpy(u->id, id, sizeof(u->id));
	u->path = arena_fmt(&u->arena, "%s/in-%s", m->place, id).p;
	(void)unlink(u->path);
	LIST_PUSH(&m->uploads, u);
	m->nuploads++;
	return u;
}

/* Ends the upload; the file was moved, or is not needed. */
static void
end_upload(struct meet_upload *u, const struct meet_reply *r)
{
	meet_reply_fn *fn = u->reply;
	void *arg = u->arg;

	answer(fn, arg, r);
	meet_drop(u);
}

static void
fail_upload(struct meet_upload *u, enum meet_status status, const char *why)
{
	struct meet_reply r = { .status = status, .why = why };

	end_upload(u, &r);
}

/*
 * The place of a file that was checked.
 */
static struct meet_part *
add_part(struct meet_run *r, const struct merge_shard *s, const char *hash)
{
	struct meet_part p = { .k = s->k, .journal = -1, .results = -1,
		.started_ns = s->started_ns };

	if (r->parts.n / sizeof(p) >= MEET_PARTS_MAX)
		return NULL;
	memcpy(p.hash, hash, sizeof(p.hash));
	buf_put(&r->parts, (struct str){ (char *)&p, sizeof(p) });
	return meet_find_part(r, s->k, hash);
}

/* Whether the file at path begins with the upload, or the reverse. */
static bool
is_prefix(const struct meet_upload *u, const char *path, int64_t size)
{
	struct arena a = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int64_t n = size < u->got ? size : u->got;
	struct str text;
	struct err e;
	bool same;

	same = fd != -1 && os_read_plain(&a, u->path, MEET_PART_MAX, &text,
	    &e) == 0 && (int64_t)text.n >= n &&
	    is_same(fd, 0, (struct str){ text.p, (size_t)n });
	os_close(&fd);
	arena_free(&a);
	return same;
}

/* Whether the upload replaces the part's file: it is newer or longer. */
static bool
is_newer(const struct meet_upload *u, const struct meet_part *p,
    const char *path, const struct merge_shard *s)
{
	struct stat st;

	if (!s->journal)
		return p->results < 0 || stat(path, &st) == -1 ||
		    (int64_t)st.st_mtim.tv_sec * 1000000000 +
		    st.st_mtim.tv_nsec <= s->ended_ns;
	if (p->journal < 0)
		return true;
	return is_prefix(u, path, p->journal) ? u->got > p->journal :
	    s->started_ns > p->started_ns;
}

/* The time of a results file is that of its last trial. */
static int
move(struct meet_upload *u, struct meet_part *p, const char *path,
    const struct merge_shard *s, struct err *e)
{
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = (time_t)(s->ended_ns / 1000000000),
		    .tv_nsec = (long)(s->ended_ns % 1000000000) } };
	int64_t *size = s->journal ? &p->journal : &p->results;

	if (!s->journal)
		(void)utimensat(AT_FDCWD, u->path, t, 0);
	if (rename(u->path, path) == -1)
		return err_sys(e, path);
	u->meet->bytes -= *size > 0 ? *size : 0;
	*size = u->got;
	u->got = 0;		/* they are the part's bytes now */
	p->started_ns = s->started_ns;
	return 0;
}

/*
 * The run that a file belongs to.  NULL: it has ended without this file, and
 * *over is set; or *e.  A file that is not known of a run that is complete
 * belongs to the next one, unless it started long before the end: then another
 * job has done the same work.  Clocks of machines may differ.
 */
static struct meet_run *
find_run(struct meet *m, const struct merge_shard *s, const char *hash,
    bool *over, struct err *e)
{
	struct meet_run *r = meet_find_key(m, s->key);
	bool known;

	*over = false;
	if (r == NULL || !r->complete)
		return r != NULL ? r : meet_open(m, s, e);
	known = meet_find_part(r, s->k, hash) != NULL;
	if (known && !r->closed)
		return r;
	*over = known || s->started_ns < r->ended_ns - CLOCKS_NS;
	if (*over)
		return NULL;
	if (!r->closed && r != m->merging)
		meet_close(r);
	return meet_open(m, s, e);
}

static void
place(struct meet_upload *u, const struct merge_shard *s)
{
	struct meet_reply reply = { .status = MEET_STORED, .k = s->k,
		.n = s->n };
	char hash[SHA256_HEX];
	struct meet_part *p;
	struct meet_run *r;
	const char *path;
	struct err e = { 0 };
	bool over;

	sha256_hex(s->run_id, hash);
	hash[MEET_HASH - 1] = '\0';
	r = find_run(u->meet, s, hash, &over, &e);
	if (r == NULL) {
		reply.status = over ? MEET_OVER : e.code == ERR_LIMIT ?
		    MEET_LIMIT : MEET_FAILED;
		reply.why = e.msg;
		end_upload(u, &reply);
		return;
	}
	p = meet_find_part(r, s->k, hash);
	if (p == NULL)
		p = add_part(r, s, hash);
	if (p == NULL) {
		fail_upload(u, MEET_LIMIT, "the run has too many shards");
		return;
	}
	if (p->refused) {
		fail_upload(u, MEET_INVALID, "an earlier file of this shard "
		    "cannot be merged: run the shard again");
		return;
	}
	path = meet_path(&u->arena, r, p, s->journal);
	if (is_newer(u, p, path, s) && move(u, p, path, s, &e) == -1) {
		fail_upload(u, MEET_FAILED, e.msg);
		return;
	}
	meet_touch(r);
	reply.run_id = str_of(r->id);
	reply.id = arena_fmt(&u->arena, "%s.%lld-%s", r->id, (long long)p->k,
	    p->hash);
	reply.offset = s->journal ? p->journal : p->results;
	end_upload(u, &reply);
}

/*
 * Checking, in a copy of the process.
 */
static void
check(void *arg, struct buf *out)
{
	const struct meet_upload *u = arg;
	struct json_out o = { .put = buf_sink, .ctx = out };
	struct merge_shard s;
	struct arena a = { 0 };
	struct str why;
	struct err e;

	json_open(&o, '{');
	if (merge_describe(&a, u->path, &s, &e) == -1) {
		why = str_of(e.msg);
		if (str_starts(why, str_of(u->path)))
			why = arena_fmt(&a, "the file%s", why.p +
			    strlen(u->path) + 1);
		json_put_member_str(&o, "error", why);
	} else {
		json_put_member_cstr(&o, "key", s.key);
		json_put_member_int(&o, "k", s.k);
		json_put_member_int(&o, "n", s.n);
		json_put_member_str(&o, "run_id", s.run_id);
		json_put_member_str(&o, "suite", s.suite);
		json_put_member_str(&o, "started", arena_fmt(&a, "%lld",
		    (long long)s.started_ns));
		json_put_member_str(&o, "ended", arena_fmt(&a, "%lld",
		    (long long)s.ended_ns));
		json_put_member_bool(&o, "journal", s.journal);
	}
	json_close(&o, '}');
	arena_free(&a);
}

static int64_t
read_ns(const struct json *v, const char *key)
{
	struct str s = json_str(v, key);
	int64_t n = 0;
	size_t i;

	for (i = 0; i < s.n && i < 19 && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		n = n > (INT64_MAX - 9) / 10 ? n : n * 10 + (s.p[i] - '0');
	return n;
}

static void
on_checked(void *arg)
{
	struct meet_upload *u = arg;
	const struct json *v = arena_json(&u->arena, arena_str(&u->arena,
	    u->check.out), NULL);
	struct merge_shard s = { .k = 0 };
	struct str error = json_str(v, "error");

	u->checking = false;
	if (v == NULL) {
		fail_upload(u, MEET_FAILED, arena_fmt(&u->arena, "the file "
		    "cannot be checked: %s", u->check.error).p);
		return;
	}
	if (error.n > 0) {
		fail_upload(u, MEET_INVALID, arena_str(&u->arena, error).p);
		return;
	}
	snprintf(s.key, sizeof(s.key), "%.*s", STRF(json_str(v, "key")));
	(void)result_int(v, "k", &s.k);
	(void)result_int(v, "n", &s.n);
	s.run_id = json_str(v, "run_id");
	s.suite = json_str(v, "suite");
	s.started_ns = read_ns(v, "started");
	s.ended_ns = read_ns(v, "ended");
	s.journal = result_true(v, "journal");
	place(u, &s);
}

/* After a piece: waits for the next one, or checks the file. */
static struct meet_upload *
proceed(struct meet_upload *u, const struct meet_piece *p)
{
	struct meet_reply r = { .status = MEET_MORE, .id = str_of(u->id),
		.offset = u->got };

	u->touched = loop_now(u->meet->loop);
	if (u->got < u->size) {
		answer(p->reply, p->arg, &r);
		return NULL;
	}
	u->reply = p->reply;
	u->arg = p->arg;
	u->checking = true;
	u->check = (struct offload){ .work = check, .done = on_checked,
		.arg = u };
	offload_start(u->meet->procs, &u->check);
	return u;
}

static struct meet_upload *
add_piece(struct meet_upload *u, const struct meet_piece *p)
{
	struct meet_reply r = { .status = MEET_CONFLICT, .id = str_of(u->id),
		.offset = u->got, .why = "other bytes are stored there, or "
		"bytes before them are missing" };
	const char *why = find_limit(u->meet, u->got, p->text.n);
	struct err e;

	if (u->checking)
		return refuse(p, MEET_BUSY, "the file is being checked: send "
		    "it again later");
	if (why == NULL && p->offset + (int64_t)p->text.n > u->size)
		why = "the file is longer than its announced size";
	if (why != NULL) {
		meet_drop(u);
		return refuse(p, MEET_LIMIT, why);
	}
	switch (add_bytes(u->meet, u->path, &u->got, p, &e)) {
	case 1:
		return proceed(u, p);
	case 0:
		answer(p->reply, p->arg, &r);
		return NULL;
	}
	meet_drop(u);
	return refuse(p, MEET_FAILED, e.msg);
}

struct meet_upload *
meet_begin(struct meet *m, const struct meet_piece *p)
{
	struct meet_piece first = *p;
	struct meet_upload *u;
	struct sha256 h;
	char hex[SHA256_HEX];
	int64_t size = p->size > 0 ? p->size : (int64_t)p->text.n;

	drop_old(m);
	first.offset = 0;
	if (p->text.n == 0)
		return refuse(p, MEET_INVALID, "the body is empty");
	if (find_limit(m, size, 0) != NULL)
		return refuse(p, MEET_LIMIT, find_limit(m, size, 0));
	sha256_init(&h);
	sha256_put(&h, (struct str){ (char *)&size, sizeof(size) });
	sha256_put(&h, p->text);
	sha256_end(&h, hex);
	hex[32] = '\0';
	u = find_upload(m, str_of(hex));
	if (u == NULL && m->nuploads >= MEET_UPLOADS_MAX)
		return refuse(p, MEET_BUSY, "too many files arrive at the "
		    "same time: send it again later");
	return add_piece(u != NULL ? u : new_upload(m, hex, size), &first);
}

/* The part of "RUN.K-HASH", or NULL. */
static struct meet_part *
find_id(const struct meet *m, struct str id, struct meet_run **run)
{
	const char *dot = memchr(id.p, '.', id.n), *dash;
	struct meet_part *v;
	char want[80];
	size_t i, n;

	*run = dot == NULL ? NULL : meet_find_run(m, (struct str){ id.p,
	    (size_t)(dot - id.p) });
	dash = *run == NULL ? NULL : memchr(dot, '-',
	    id.n - (size_t)(dot - id.p));
	if (dash == NULL)
		return NULL;
	v = meet_parts(*run, &n);
	for (i = 0; i < n; i++) {
		snprintf(want, sizeof(want), "%lld-%s", (long long)v[i].k,
		    v[i].hash);
		if (str_is((struct str){ dot + 1, id.n - 1 -
		    (size_t)(dot - id.p) }, want))
			return &v[i];
	}
	return NULL;
}

/*
 * A shard that is alive sends a piece, if only an empty one, twice a minute.
 * The store takes a merged file that is old for one of a run that has died.
 */
static void
keep_fresh(struct meet_run *r)
{
	int64_t now = loop_now(r->meet->loop);

	if (r->complete || now - r->fresh < FRESH_MS)
		return;
	r->fresh = now;
	(void)utimensat(AT_FDCWD, r->file, NULL, 0);
}

static void
append_journal(struct meet_run *r, struct meet_part *part,
    const struct meet_piece *p)
{
	struct meet_reply reply = { .status = MEET_STORED, .id = p->id,
		.run_id = str_of(r->id), .k = part->k, .n = r->n };
	int64_t before = part->journal;
	struct arena a = { 0 };
	struct err e = { 0 };

	switch (add_bytes(r->meet, meet_path(&a, r, part, true),
	    &part->journal, p, &e)) {
	case 0:
		reply.status = MEET_CONFLICT;
		reply.why = "the stored journal has other bytes there";
		break;
	case -1:
		reply.status = MEET_FAILED;
		reply.why = e.msg;
	}
	if (p->text.n == 0)
		keep_fresh(r);
	if (part->journal > before)
		meet_touch(r);
	reply.offset = part->journal;
	answer(p->reply, p->arg, &reply);
	arena_free(&a);
}

struct meet_upload *
meet_append(struct meet *m, const struct meet_piece *p)
{
	struct meet_upload *u = find_upload(m, p->id);
	struct meet_part *part;
	struct meet_run *r;
	const char *why;

	if (u != NULL)
		return add_piece(u, p);
	part = find_id(m, p->id, &r);
	if (part == NULL)
		return refuse(p, MEET_UNKNOWN, NULL);
	if (r->closed)
		return refuse(p, MEET_OVER, NULL);
	if (part->refused)
		return refuse(p, MEET_INVALID, "the journal cannot be merged: "
		    "run the shard again");
	if (part->journal < 0)
		return refuse(p, MEET_UNKNOWN, NULL);
	why = find_limit(m, part->journal, p->text.n);
	if (why != NULL)
		return refuse(p, MEET_LIMIT, why);
	append_journal(r, part, p);
	return NULL;
}

void
meet_forget(struct meet_upload *u, void *arg)
{
	if (u->arg == arg)
		u->reply = NULL;
}

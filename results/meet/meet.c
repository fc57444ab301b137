/* SPDX-License-Identifier: ISC */
/*
 * meet.c: the runs whose shards meet here, and their directories.
 *
 * Another server may use the same results.  Only the one that has locked
 * DIR/.shards/lock receives and merges shards.
 */
#include "results/meet/meet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "results/cache.h"
#include "results/history.h"
#include "results/meet/meet_internal.h"
#include "results/result.h"
#include "results/result_internal.h"

enum { ABOUT_MAX = 4 << 20 };	/* bytes of meet.json */

/*
 * Parts.
 */
struct meet_part *
meet_parts(const struct meet_run *r, size_t *n)
{
	*n = r->parts.n / sizeof(struct meet_part);
	return (struct meet_part *)(void *)r->parts.p;
}

struct meet_part *
meet_find_part(const struct meet_run *r, int64_t k, const char *hash)
{
	size_t i, n;
	struct meet_part *v = meet_parts(r, &n);

	for (i = 0; i < n; i++)
		if (v[i].k == k && strcmp(v[i].hash, hash) == 0)
			return &v[i];
	return NULL;
}

const char *
meet_path(struct arena *a, const struct meet_run *r,
    const struct meet_part *p, bool journal)
{
	return arena_fmt(a, "%s/%lld-%s.json%s", r->dir, (long long)p->k,
	    p->hash, journal ? ".journal" : "").p;
}

/* "K-HASH.json" or "K-HASH.json.journal", as meet_path() writes it. */
static bool
read_name(const char *name, struct meet_part *p, bool *journal)
{
	char want[80];
	size_t i, n;

	for (p->k = 0, n = 0; name[n] >= '0' && name[n] <= '9' && n < 8; n++)
		p->k = p->k * 10 + (name[n] - '0');
	if (name[n++] != '-')
		return false;
	for (i = 0; i < MEET_HASH - 1; i++)
		if (hex_digit(name[n + i]) < 0)
			return false;
	memcpy(p->hash, name + n, MEET_HASH - 1);
	p->hash[MEET_HASH - 1] = '\0';
	*journal = str_ends(str_of(name), STR(".journal"));
	snprintf(want, sizeof(want), "%lld-%s.json%s", (long long)p->k,
	    p->hash, *journal ? ".journal" : "");
	return p->k > 0 && strcmp(want, name) == 0;
}

static void
load_part(struct meet_run *r, const char *name)
{
	struct meet_part p = { .journal = -1, .results = -1 }, *old;
	struct arena a = { 0 };
	struct stat st;
	bool journal;

	if (!read_name(name, &p, &journal) || p.k > r->n)
		return;
	old = meet_find_part(r, p.k, p.hash);
	if (old == NULL && r->parts.n / sizeof(p) < MEET_PARTS_MAX) {
		buf_put(&r->parts, (struct str){ (char *)&p, sizeof(p) });
		old = meet_find_part(r, p.k, p.hash);
	}
	if (old != NULL && lstat(meet_path(&a, r, old, journal), &st) == 0 &&
	    S_ISREG(st.st_mode)) {
		*(journal ? &old->journal : &old->results) = st.st_size;
		r->meet->bytes += st.st_size;
	}
	arena_free(&a);
}

/*
 * Runs.
 */
struct meet_run *
meet_find_key(const struct meet *m, const char *key)
{
	struct meet_run *r;

	for (r = m->runs; r != NULL && strcmp(r->key, key) != 0; r = r->next)
		;
	return r;
}

struct meet_run *
meet_find_run(const struct meet *m, struct str id)
{
	struct meet_run *r;

	for (r = m->runs; r != NULL && !str_is(id, r->id); r = r->next)
		;
	return r;
}

const char *
meet_next(const struct meet *m, const char *id)
{
	const struct meet_run *r = id == NULL ? m->runs :
	    meet_find_run(m, str_of(id))->next;

	return r == NULL ? NULL : r->id;
}

static struct meet_run *
new_run(struct meet *m, const char *id)
{
	struct arena own = { 0 };
	struct meet_run *r = NEW(&own, struct meet_run);

	r->arena = own;
	r->meet = m;
	r->id = arena_str(&r->arena, str_of(id)).p;
	r->dir = arena_fmt(&r->arena, "%s/%s", m->place, id).p;
	r->fresh = loop_now(m->loop);
	LIST_PUSH(&m->runs, r);
	m->nruns++;
	return r;
}

static void
free_run(struct meet_run *r)
{
	struct arena own;

	LIST_REMOVE(r);
	r->meet->nruns--;
	buf_free(&r->parts);
	buf_free(&r->why);
	own = r->arena;
	arena_free(&own);
}

int
meet_save(const struct meet_run *r, struct err *e)
{
	struct arena a = { 0 };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i, n;
	const struct meet_part *v = meet_parts(r, &n);
	const char *name = strrchr(r->file, '/');
	int rc;

	json_open(&o, '{');
	json_put_member_int(&o, "waza_meet", 1);
	json_put_member_cstr(&o, "key", r->key);
	json_put_member_str(&o, "suite", r->suite);
	json_put_member_cstr(&o, "file", name != NULL ? name + 1 : r->file);
	json_put_member_int(&o, "n", r->n);
	json_put_member_bool(&o, "closed", r->closed);
	json_put_member_int(&o, "ended_ms", r->ended_ns / 1000000);
	json_open_member(&o, "parts", '[');
	for (i = 0; i < n && r->closed; i++)
		json_put_str(&o, arena_fmt(&a, "%lld-%s.json",
		    (long long)v[i].k, v[i].hash));
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(&b, '\n');
	rc = os_replace_file(arena_fmt(&a, "%s/meet.json", r->dir).p,
	    buf_str(&b), e);
	buf_free(&b);
	arena_free(&a);
	return rc;
}

/* Forgets the oldest run that is closed; its results stay. */
static bool
make_room(struct meet *m)
{
	struct meet_run *r, *oldest = NULL;
	struct arena a = { 0 };

	if (m->nruns < MEET_RUNS_MAX)
		return true;
	for (r = m->runs; r != NULL; r = r->next)
		if (r->complete && r != m->merging)
			oldest = r;
	if (oldest == NULL)
		return false;
	if (!oldest->closed)
		meet_close(oldest);
	(void)unlink(arena_fmt(&a, "%s/meet.json", oldest->dir).p);
	(void)rmdir(oldest->dir);
	arena_free(&a);
	free_run(oldest);
	return true;
}

struct meet_run *
meet_open(struct meet *m, const struct merge_shard *s, struct err *e)
{
	struct arena a = { 0 };
	unsigned char noise[4];
	struct meet_run *r;
	const char *id;

	if (!make_room(m)) {
		err_set(e, ERR_LIMIT, "%d runs have missing shards: remove "
		    "some of %s and start the server again", MEET_RUNS_MAX,
		    m->place);
		return NULL;
	}
	if (os_random(noise, sizeof(noise), e) == -1)
		return NULL;
	id = arena_fmt(&a, "run-%lld-%02x%02x%02x%02x",
	    (long long)(os_wall_ns() / 1000000000), noise[0], noise[1],
	    noise[2], noise[3]).p;
	r = new_run(m, id);
	arena_free(&a);
	r->n = s->n;
	r->suite = arena_str(&r->arena, s->suite);
	r->file = history_name(&r->arena, m->dir, history_suite(&r->arena,
	    s->suite), s->started_ns, r->id);
	snprintf(r->key, sizeof(r->key), "%s", s->key);
	if (mkdir(r->dir, 0777) == -1)
		err_sys(e, r->dir);
	else if (meet_save(r, e) == 0)
		return r;
	(void)rmdir(r->dir);
	free_run(r);
	return NULL;
}

/*
 * The directory.
 */
static bool
is_file_name(struct str s)
{
	return s.n > 5 && str_ends(s, STR(".json")) && s.p[0] != '.' &&
	    memchr(s.p, '/', s.n) == NULL && memchr(s.p, '\0', s.n) == NULL;
}

static void
load_parts(struct meet_run *r, const struct json *about)
{
	struct arena a = { 0 };
	const struct json *v;
	char **names;
	size_t i, n = 0;

	if (r->closed) {
		for (v = json_first(json_getc(about, "parts")); v != NULL;
		    v = v->next)
			if (v->type == JSON_STRING)
				load_part(r, arena_str(&a, json_text(v)).p);
	} else {
		names = cache_names(&a, r->dir, 2 * MEET_PARTS_MAX + 8, &n);
		for (i = 0; names != NULL && i < n; i++)
			load_part(r, names[i]);
	}
	arena_free(&a);
}

/* A directory that another program has made is left alone. */
static void
load_run(struct meet *m, struct arena *a, const char *name)
{
	const char *path = arena_fmt(a, "%s/%s/meet.json", m->place, name).p;
	struct str text, file, key;
	struct json *v;
	struct meet_run *r;
	int64_t n = 0, ms = 0;
	struct err e;

	if (os_read_plain(a, path, ABOUT_MAX, &text, &e) == -1 ||
	    (v = arena_json(a, text, NULL)) == NULL ||
	    !result_int(v, "n", &n) || n < 1 || n > MERGE_FILES_MAX)
		return;
	file = json_str(v, "file");
	key = json_str(v, "key");
	if (!is_file_name(file) || key.n != SHA256_HEX - 1)
		return;
	r = new_run(m, name);
	r->n = n;
	r->suite = arena_str(&r->arena, json_str(v, "suite"));
	r->file = arena_fmt(&r->arena, "%s/%.*s", m->dir, STRF(file)).p;
	memcpy(r->key, key.p, key.n);
	r->closed = r->complete = result_true(v, "closed");
	(void)result_int(v, "ended_ms", &ms);
	r->ended_ns = ms < INT64_MAX / 1000000 ? ms * 1000000 : 0;
	load_parts(r, v);
	if (!r->closed)
		meet_touch(r);
}

/* In the order of their ids, which begin with the time. */
static void
load_runs(struct meet *m)
{
	struct arena a = { 0 };
	size_t i, n = 0;
	char **names = cache_names(&a, m->place, 2 * MEET_RUNS_MAX, &n);

	for (i = 0; names != NULL && i < n; i++) {
		if (str_starts(str_of(names[i]), STR("in-")))
			(void)unlink(arena_fmt(&a, "%s/%s", m->place,
			    names[i]).p);
		else if (str_starts(str_of(names[i]), STR("run-")) &&
		    m->nruns < MEET_RUNS_MAX)
			load_run(m, &a, names[i]);
	}
	arena_free(&a);
}

static int
lock_place(struct meet *m, struct err *e)
{
	const char *path = arena_fmt(&m->arena, "%s/lock", m->place).p;

	m->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (m->lock == -1)
		return err_sys(e, path);
	if (os_lock(m->lock) == 0 || (errno != EAGAIN && errno != EACCES))
		return 0;
	os_close(&m->lock);
	return err_set(e, ERR_SYS, "%s: another server receives shards there: "
	    "send them to that one, or use another --results-dir", m->place);
}

int
meet_init(struct meet *m, struct err *e)
{
	struct stat st;

	m->lock = -1;
	m->place = arena_fmt(&m->arena, "%s/.shards", m->dir).p;
	if (mkdir(m->place, 0777) == -1 && errno != EEXIST)
		return err_sys(e, m->place);
	if (lstat(m->place, &st) == -1 || !S_ISDIR(st.st_mode))
		return err_set(e, ERR_SCHEMA, "%s: is not a directory",
		    m->place);
	if (lock_place(m, e) == -1)
		return -1;
	load_runs(m);
	return 0;
}

void
meet_fini(struct meet *m)
{
	if (m->place == NULL)
		return;
	timer_stop(m->loop, &m->timer);
	if (m->merging != NULL)
		offload_drop(&m->merge);
	while (m->uploads != NULL)
		meet_drop(m->uploads);
	while (m->runs != NULL)
		free_run(m->runs);
	os_close(&m->lock);
	arena_free(&m->arena);
	m->place = NULL;
}

/*
 * The shards of a run.
 */
static void
put_missing(struct json_out *o, const unsigned char *seen, int64_t n)
{
	int64_t k, named = 0;

	json_open_member(o, "missing", '[');
	for (k = 1; k <= n && named < MEET_NAMED_MAX; k++)
		if (seen[k] == 0) {
			json_put_int(o, k);
			named++;
		}
	json_close(o, ']');
}

static void
put_refused(struct json_out *o, struct str lines)
{
	struct str line;

	if (lines.n == 0)
		return;
	json_open_member(o, "refused", '[');
	while (str_line(&lines, &line))
		json_put_str(o, line);
	json_close(o, ']');
}

void
meet_put(const struct meet *m, struct json_out *o, struct str run_id)
{
	const struct meet_run *r = meet_find_run(m, run_id);
	struct arena a = { 0 };
	const struct meet_part *v;
	unsigned char *seen;
	int64_t begun = 0, ended = 0, k;
	size_t i, n;

	if (r == NULL || r->complete)
		return;
	seen = NEW_N(&a, unsigned char, (size_t)r->n + 1);
	v = meet_parts(r, &n);
	for (i = 0; i < n; i++)
		if (!v[i].refused)
			seen[v[i].k] |= (unsigned char)(v[i].results >= 0 ?
			    3 : 1);
	for (k = 1; k <= r->n; k++) {
		begun += seen[k] & 1;
		ended += seen[k] >> 1;
	}
	json_open_member(o, "shards", '{');
	json_put_member_int(o, "total", r->n);
	json_put_member_int(o, "begun", begun);
	json_put_member_int(o, "ended", ended);
	put_missing(o, seen, r->n);
	put_refused(o, buf_str(&r->why));
	json_close(o, '}');
	arena_free(&a);
}

/* SPDX-License-Identifier: ISC */
/*
 * Answers that are asked for again and again.
 *
 * An answer comes from the suite's file and from the .waza.yaml that is
 * nearest to it, maybe from one that comes to be later: so it is good as long
 * as these files, there or not, are the same by device, inode, size and time.
 * Questions that came with one read are older than the first look at the
 * files: one look is enough for all of them.
 */
#include "rpc/rpc_internal.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/os.h"

enum {
	ENTRIES = 64,
	LEVELS = 10,		/* as the loader looks upwards */
	ANSWER_MAX = 64 << 10,
	FRESH_S = 2		/* a file may change again and look the same */
};

struct mark {
	const char *path;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec at;
};

struct entry {
	struct arena arena;
	struct str path, answer;
	struct mark marks[LEVELS + 2];
	size_t nmarks;
	uint64_t used;
	uint64_t read;		/* when it was last found to be good */
};

struct rpc_cache {
	struct arena arena;	/* the cache is in it */
	struct entry v[ENTRIES];
	uint64_t clock;
};

static struct mark
look(const char *path)
{
	struct mark m = { .path = path };
	struct stat st;

	if (stat(path, &st) == 0) {
		m.dev = st.st_dev;
		m.ino = st.st_ino;
		m.size = st.st_size;
		m.at = st.st_mtim;
	}
	return m;
}

static bool
is_same(const struct mark *a)
{
	struct mark b = look(a->path);

	return a->dev == b.dev && a->ino == b.ino && a->size == b.size &&
	    a->at.tv_sec == b.at.tv_sec && a->at.tv_nsec == b.at.tv_nsec;
}

bool
rpc_cached(struct rpc *r, struct str path, struct buf *out)
{
	struct rpc_cache *k = r->cache;
	struct entry *e;
	size_t i;

	if (k == NULL)
		return false;
	for (e = k->v; e < k->v + ENTRIES; e++)
		if (e->used > 0 && str_eq(e->path, path))
			break;
	if (e == k->v + ENTRIES)
		return false;
	for (i = 0; i < e->nmarks && e->read != r->conns.reads; i++)
		if (!is_same(&e->marks[i])) {
			e->used = 0;
			return false;
		}
	e->read = r->conns.reads;
	e->used = ++k->clock;
	buf_put(out, e->answer);
	return true;
}

static struct entry *
oldest(struct rpc_cache *k)
{
	struct entry *e, *found = k->v;

	for (e = k->v; e < k->v + ENTRIES; e++)
		if (e->used < found->used)
			found = e;
	return found;
}

static void
add_mark(struct entry *e, const char *path)
{
	if (e->nmarks < COUNTOF(e->marks))
		e->marks[e->nmarks++] = look(path);
}

/* .waza.yaml in the suite's directory and those above it. */
static void
add_project(struct entry *e, const char *file)
{
	const char *slash = strrchr(file, '/');
	struct str dir = slash != NULL ? (struct str){ file, (size_t)(slash -
	    file) } : STR(".");
	struct str up = dir;
	int i;

	for (i = 0; i < LEVELS; i++) {
		add_mark(e, arena_fmt(&e->arena, "%.*s/.waza.yaml",
		    STRF(up)).p);
		up = arena_fmt(&e->arena, "%.*s/..", STRF(up));
	}
}

void
rpc_cache_keep(struct rpc *r, struct str path, const char *file,
    struct str answer)
{
	struct arena arena = { 0 };
	struct entry *e;
	time_t now;
	size_t i;

	if (answer.n > ANSWER_MAX)
		return;
	if (r->cache == NULL) {
		r->cache = NEW(&arena, struct rpc_cache);
		r->cache->arena = arena;
	}
	e = oldest(r->cache);
	arena_free(&e->arena);
	*e = (struct entry){ .used = ++r->cache->clock };
	e->path = arena_str(&e->arena, path);
	e->answer = arena_str(&e->arena, answer);
	add_mark(e, arena_cstr(&e->arena, str_of(file)));
	add_project(e, file);
	now = (time_t)(os_wall_ns() / 1000000000);
	for (i = 0; i < e->nmarks; i++)
		if (e->marks[i].at.tv_sec > now - FRESH_S)
			e->used = 0;
}

void
rpc_cache_fini(struct rpc *r)
{
	struct arena arena;
	struct entry *e;

	if (r->cache == NULL)
		return;
	for (e = r->cache->v; e < r->cache->v + ENTRIES; e++)
		arena_free(&e->arena);
	arena = r->cache->arena;
	arena_free(&arena);
	r->cache = NULL;
}

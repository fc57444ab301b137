/* SPDX-License-Identifier: ISC */
/*
 * Cached answers of eval.get.
 *
 * An answer depends on the suite's file and on the nearest .waza.yaml, which
 * may be created later.  It is valid while inode, size and times of all these
 * files, existing or not, are unchanged.  Requests that were read before the
 * files were checked were also sent before: one check is enough for them.
 *
 * The roots are not checked again: a file that was inside them and has not
 * changed since contains nothing that the peer could not read.  Another file
 * under that name, after a link has changed, has another inode.
 */
#include "rpc/rpc_internal.h"

#include <sys/stat.h>

#include "base/os.h"
#include "suite/project.h"
#include "suite/spec.h"

enum {
	ENTRIES = 64,
	ANSWER_MAX = 64 << 10
};
/* A file younger than this can change again unnoticed. */
#define FRESH_NS (2 * INT64_C(1000000000))

struct mark {
	const char *path;
	struct store_stamp stamp;	/* zero: no such file */
};

struct entry {
	struct arena arena;
	struct str path, answer;
	struct mark marks[1 + PROJECT_LEVELS];
	size_t nmarks;
	bool inside;		/* the roots allowed its path */
	uint64_t used;
	uint64_t read;		/* when it was last found valid */
};

struct rpc_cache {
	struct arena arena;	/* holds the cache itself */
	struct entry v[ENTRIES];
	uint64_t clock;
};

static struct mark
look(const char *path)
{
	struct mark m = { .path = path };
	struct stat st;

	if (stat(path, &st) == 0)
		store_stamp(&m.stamp, &st);
	return m;
}

bool
rpc_cached(struct rpc_call *c, struct str path)
{
	const struct rpc *r = c->rpc;
	struct rpc_cache *k = r->state->cache;
	struct entry *e;
	struct mark now;
	bool bound = rpc_has_roots(c->peer);
	size_t i;

	if (k == NULL)
		return false;
	for (e = k->v; e < k->v + ENTRIES; e++)
		if (e->used > 0 && (e->inside || !bound) &&
		    str_eq(e->path, path))
			break;
	if (e == k->v + ENTRIES)
		return false;
	for (i = 0; i < e->nmarks && e->read != r->state->conns.reads; i++) {
		now = look(e->marks[i].path);
		if (!store_same(&e->marks[i].stamp, &now.stamp)) {
			e->used = 0;
			return false;
		}
	}
	e->read = r->state->conns.reads;
	e->used = ++k->clock;
	buf_put(c->buf, e->answer);
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
	e->marks[e->nmarks++] = look(path);
}

/* .waza.yaml where the loader looks for it: up to the first that exists. */
static void
add_project(struct entry *e, const char *file)
{
	const char *dir = spec_dir_of(&e->arena, file);
	int i;

	for (i = 0; i < PROJECT_LEVELS && dir != NULL; i++) {
		add_mark(e, spec_join(&e->arena, dir, STR(".waza.yaml")));
		if (e->marks[e->nmarks - 1].stamp.ino != 0)
			return;
		dir = spec_parent(&e->arena, dir);
	}
}

void
rpc_cache_keep(struct rpc_call *c, struct str path, const char *file,
    struct str answer)
{
	const struct rpc *r = c->rpc;
	struct rpc_cache *k = r->state->cache;
	struct arena arena = { 0 };
	struct entry *e;
	int64_t fresh;
	size_t i;

	if (answer.n > ANSWER_MAX)
		return;
	if (k == NULL) {
		r->state->cache = k = NEW(&arena, struct rpc_cache);
		k->arena = arena;
	}
	e = oldest(k);
	arena_free(&e->arena);
	*e = (struct entry){ .used = ++k->clock };
	e->inside = rpc_has_roots(c->peer);
	e->path = arena_str(&e->arena, path);
	e->answer = arena_str(&e->arena, answer);
	add_mark(e, arena_cstr(&e->arena, str_of(file)));
	add_project(e, file);
	fresh = os_wall_ns() - FRESH_NS;
	for (i = 0; i < e->nmarks; i++)
		if (e->marks[i].stamp.mtime > fresh)
			e->used = 0;
}

void
rpc_cache_free(void *rpc)
{
	struct rpc *r = rpc;
	struct rpc_cache *k = r->state->cache;
	struct entry *e;

	if (k == NULL)
		return;
	for (e = k->v; e < k->v + ENTRIES; e++)
		arena_free(&e->arena);
	arena_free(&k->arena);
	r->state->cache = NULL;
}

/* SPDX-License-Identifier: ISC */
/*
 * The files of a run: which names it may have, and which run writes them.
 *
 * Locks do not keep two runs of one process apart, so each unfinished run has
 * its files to itself: they are compared by name, with all links in their
 * directories resolved, and by device and inode, because links and file
 * systems that ignore case give one file several names.
 */
#include "rpc/rpc_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os_path.h"
#include "results/result.h"
#include "run/run.h"
#include "suite/spec.h"

enum { NAME_BYTES = 60 };	/* of a suite's name, in a file name */

static bool
is_unsafe(char c, bool first)
{
	return strchr(" /\\:*?\"<>|", c) != NULL || c < ' ' || c >= 0x7f ||
	    (first && c == '.');
}

/* A run without an output file gets one in the results directory, if any. */
static void
choose_name(struct rpc_run *r, struct run_opts *o)
{
	struct arena *a = &r->engine.arena;
	struct str name = r->engine.suite->name;
	const char *dir = r->rpc->setup.results_dir;
	struct buf b = { 0 };
	size_t i;

	o->unnamed = true;
	if (dir == NULL)
		return;
	for (i = 0; i < name.n && i < NAME_BYTES; i++)
		buf_putc(&b, is_unsafe(name.p[i], i == 0) ? '_' : name.p[i]);
	o->run_id = run_make_id(a);
	o->output = arena_fmt(a, "%s/%.*s%s.json", dir, STRF(buf_str(&b)),
	    o->run_id + strlen("run")).p;
	buf_free(&b);
}

/* The absolute path with the links of its directory resolved. */
static const char *
resolve(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dir = slash == NULL ? "." : slash == path ? "/" :
	    arena_cstr(a, (struct str){ path, (size_t)(slash - path) });
	const char *real = os_real(a, dir);

	return real == NULL ? os_absolute(a, path) : arena_fmt(a, "%s/%s",
	    strcmp(real, "/") == 0 ? "" : real,
	    slash == NULL ? path : slash + 1).p;
}

static void
identify(struct rpc_run_file f[RPC_RUN_FILES])
{
	struct stat st;
	size_t i;

	for (i = 0; i < RPC_RUN_FILES; i++) {
		f[i].exists = f[i].path != NULL && lstat(f[i].path, &st) == 0;
		if (f[i].exists) {
			f[i].dev = (uint64_t)st.st_dev;
			f[i].ino = (uint64_t)st.st_ino;
		}
	}
}

static bool
is_same(const struct rpc_run_file *a, const struct rpc_run_file *b)
{
	return a->path != NULL && b->path != NULL &&
	    (strcmp(a->path, b->path) == 0 || (a->exists && b->exists &&
	    a->dev == b->dev && a->ino == b->ino));
}

const struct rpc_run *
rpc_output_writer(struct rpc_run *r)
{
	struct rpc_run *o;
	size_t i, k;

	identify(r->files);
	for (o = r->rpc->state->runs.head; o != NULL; o = o->next) {
		if (o == r || o->files[0].path == NULL)
			continue;
		if (!o->queued)
			identify(o->files);	/* it renames them */
		for (i = 0; i < RPC_RUN_FILES; i++)
			for (k = 0; k < RPC_RUN_FILES; k++)
				if (is_same(&r->files[i], &o->files[k]))
					return o;
	}
	return NULL;
}

enum rpc_status
rpc_output_claim(struct rpc_call *c, struct rpc_run *r, struct run_opts *o)
{
	struct arena *a = &r->engine.arena;
	const struct rpc_run *other;
	struct err e = { 0 };

	if (o->output == NULL)
		choose_name(r, o);
	if (o->output == NULL)
		return RPC_DONE;
	o->strict = o->hasty = true;
	r->files[0].path = resolve(a, o->output);
	r->files[1].path = arena_fmt(a, "%s.journal", r->files[0].path).p;
	other = rpc_output_writer(r);
	if (other != NULL) {
		rpc_data(c, "field", STR("output"));
		rpc_data(c, "runId", str_of(other->id));
		return rpc_fail(c, RPC_INVALID_PARAMS, "Invalid params: "
		    "output: %s writes this file: wait for its end, cancel "
		    "it, or name another file", other->id);
	}
	if ((run_check_output(a, o->output, true, &e) == 0 &&
	    result_check_name(r->files[1].path, true, true, &e) == 0) ||
	    e.code != ERR_SCHEMA)
		return RPC_DONE;	/* the launch reports system errors */
	rpc_data(c, "field", STR("output"));
	return rpc_fail(c, RPC_INVALID_PARAMS, "Invalid params: output: %s",
	    e.msg);
}

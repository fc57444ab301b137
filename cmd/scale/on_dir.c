/* SPDX-License-Identifier: ISC */
/*
 * The directory of `waza run --on`: .waza/on/ID of the project, or --on-dir.
 *
 * The plan in it is a text of everything by which --resume recognizes the run;
 * the engine is not part of it, so that another one can continue.  Whoever
 * follows the run has a lock on the plan.  The directory is removed when the
 * merged results were written, unless it was named by --on-dir.
 */
#include "cmd/scale/on_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "cmd/run.h"
#include "results/cache.h"
#include "results/history.h"
#include "run/run.h"
#include "suite/spec.h"

enum {
	PLAN_MAX = 16 << 20, RUNS_MAX = 100000, FILES_MAX = 1000000,
	REFRESH_MS = 1000
};

#define PLAN "plan"

static struct str
plan_of(const struct on *on)
{
	struct buf b = { 0 };

	buf_fmt(&b, "waza run --on, version 1\nshards %zu\ncwd ", on->n);
	on_quote(&b, on->cwd);
	buf_puts(&b, "\nwords ");
	on_quote_words(&b, on->words, on->nwords);
	buf_putc(&b, '\n');
	return arena_take(on->arena, &b);
}

static const char *
path_in(const struct on *on, const char *dir, const char *name)
{
	return arena_fmt(on->arena, "%s/%s", dir, name).p;
}

/* Whether the directory has the plan of this run. */
static bool
has_plan(const struct on *on, const char *dir)
{
	struct arena a = { 0 };
	struct str text;
	struct err e;
	bool same = os_read_plain(&a, path_in(on, dir, PLAN), PLAN_MAX, &text,
	    &e) == 0 && str_eq(text, plan_of(on));

	arena_free(&a);
	return same;
}

/* The directory with .waza, as an absolute path. */
static const char *
root_of(const struct on *on)
{
	const char *root = cmd_run_root(on->run);

	return strcmp(root, ".") == 0 ? on->cwd : os_absolute(on->arena, root);
}

/* The files in it. */
static void
name_files(struct on *on, const char *dir)
{
	struct on_shard *s;

	on->dir = dir;
	on->file = path_in(on, dir, on->engine->file);
	for (s = on->shards; s < on->shards + on->n; s++) {
		s->output = arena_fmt(on->arena, "%s/shard-%lld.json", dir,
		    (long long)s->k).p;
		s->log = arena_fmt(on->arena, "%s/shard-%lld.log", dir,
		    (long long)s->k).p;
	}
}

const char *
on_unit_output(const struct on *on, const struct cmd_unit *u,
    const char *output)
{
	return cmd_run_unit_path(on->run, u, output);
}

static bool
is_unit_complete(const struct on *on, const struct cmd_unit *u,
    const char *output)
{
	static const char *const endings[] = { ".journal",
		".baseline.journal" };
	const char *path = on_unit_output(on, u, output);
	struct stat st;
	size_t i;

	if (stat(path, &st) == -1 || st.st_size == 0)
		return false;
	for (i = 0; i < COUNTOF(endings); i++)
		if (access(arena_fmt(on->arena, "%s%s", path, endings[i]).p,
		    F_OK) == 0)
			return false;
	return true;
}

bool
on_is_complete(const struct on *on, const struct on_shard *s)
{
	struct arena_mark mark = arena_save(on->arena);
	const struct cmd_run *r = on->run;
	bool complete = r->nunits > 0;
	size_t i;

	for (i = 0; i < r->nunits && complete; i++)
		complete = is_unit_complete(on, &r->units[i], s->output);
	arena_restore(on->arena, mark);
	return complete;
}

/*
 * Finding and making it.
 */
static int
lock_plan(struct on *on, const char *dir, bool make)
{
	struct err *e = on->run->job.call->err;
	const char *path = path_in(on, dir, PLAN);
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;

	on->made = make;
	on->lock = open(path, make ? flags | O_CREAT | O_EXCL : flags, 0600);
	if (on->lock == -1)
		return err_sys(e, path);
	if (os_lock(on->lock) == -1 && (errno == EAGAIN || errno == EACCES)) {
		os_close(&on->lock);
		return err_set(e, ERR_SYS, "%s: another waza follows this "
		    "run", dir);
	}
	return make ? os_write_all(on->lock, plan_of(on), e) : 0;
}

/* The newest run in the default place with the same plan, or NULL. */
static const char *
find_earlier(struct on *on, const char *top)
{
	size_t i, n = 0;
	char **v = cache_names(on->arena, top, RUNS_MAX, &n);
	const char *dir, *newest = NULL;
	int64_t ns, last = 0;
	struct stat st;

	/* names have seconds: not enough for runs that scripts start */
	for (i = 0; v != NULL && i < n; i++) {
		dir = path_in(on, top, v[i]);
		if (v[i][0] == '.' || !has_plan(on, dir) ||
		    stat(path_in(on, dir, PLAN), &st) == -1)
			continue;
		ns = (int64_t)st.st_mtim.tv_sec * 1000000000 +
		    st.st_mtim.tv_nsec;
		if (newest != NULL && ns < last)
			continue;
		newest = dir;
		last = ns;
	}
	return newest;
}

/* --on-dir: it is new, or has this run. */
static int
open_named(struct on *on, const char *dir)
{
	struct err *e = on->run->job.call->err;
	bool resume = on->run->opt.reuse.resume, old;

	if (os_make_dirs(dir, 0777, true, e) == -1)
		return -1;
	dir = os_absolute(on->arena, dir);
	old = access(path_in(on, dir, PLAN), F_OK) == 0;
	if (old && !resume)
		return err_set(e, ERR_SCHEMA, "--on-dir %s: has an earlier "
		    "run: continue it with --resume, or remove the directory",
		    dir);
	if (old && !has_plan(on, dir))
		return err_set(e, ERR_SCHEMA, "--on-dir %s: cannot be resumed: "
		    "it has a run with other options, another number of "
		    "shards or another working directory", dir);
	name_files(on, dir);
	on->kept = true;
	return lock_plan(on, dir, !old);
}

static int
open_default(struct on *on)
{
	struct cmd_run *r = on->run;
	struct err *e = r->job.call->err;
	const char *top = history_make_dir(on->arena, root_of(on), STR("on"),
	    e);
	const char *dir = NULL;

	if (top == NULL)
		return -1;
	if (r->opt.reuse.resume) {
		dir = find_earlier(on, top);
		if (dir == NULL && !r->job.opt->quiet)
			cmd_say("waza: nothing to resume in %s: a new run "
			    "starts\n", top);
	}
	if (dir != NULL) {
		name_files(on, dir);
		return lock_plan(on, dir, false);
	}
	dir = path_in(on, top, run_make_id(on->arena));
	name_files(on, dir);
	if (mkdir(dir, 0777) == -1)
		return err_sys(e, dir);
	return lock_plan(on, dir, true);
}

static int
write_file(struct on *on)
{
	struct err *e = on->run->job.call->err;
	struct buf b = { 0 };
	int rc = on->engine->write(on, &b, e);

	if (rc == 0)
		rc = os_replace_file_mode(on->file, buf_str(&b), 0700, e);
	buf_free(&b);
	return rc;
}

int
on_dir_open(struct on *on)
{
	const char *dir = on->run->opt.on.dir;
	struct on_shard *s;

	if ((dir != NULL ? open_named(on, dir) : open_default(on)) == -1)
		return -1;
	for (s = on->shards; s < on->shards + on->n; s++) {
		s->complete = on_is_complete(on, s);
		s->wanted = !s->complete;
		on->left += s->wanted;
	}
	return on->left > 0 ? write_file(on) : 0;
}

int
on_dir_place(struct on *on)
{
	const char *dir = on->run->opt.on.dir;

	if (dir == NULL)
		dir = arena_fmt(on->arena, "%s/.waza/on/%s",
		    root_of(on), run_make_id(on->arena)).p;
	name_files(on, os_absolute(on->arena, dir));
	return 0;
}

/*
 * NFS remembers for up to a minute that a file does not exist, unless this
 * machine changes the directory.
 */
void
on_dir_refresh(struct on *on)
{
	int64_t now = os_now_ms();
	const char *path;
	int fd;

	if (now - on->refreshed_ms < REFRESH_MS)
		return;
	on->refreshed_ms = now;
	path = path_in(on, on->dir, "shard-look");
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	os_close(&fd);
	(void)unlink(path);
}

void
on_dir_close(struct on *on)
{
	size_t i, n = 0;
	char **v;

	if (on->spent && on->dir != NULL) {
		v = cache_names(on->arena, on->dir, FILES_MAX, &n);
		for (i = 0; v != NULL && i < n; i++)
			if (strncmp(v[i], "shard-", 6) == 0 ||
			    strcmp(v[i], PLAN) == 0 ||
			    strcmp(v[i], "job") == 0 ||
			    strcmp(v[i], on->engine->file) == 0)
				(void)unlink(path_in(on, on->dir, v[i]));
		(void)rmdir(on->dir);
	}
	os_close(&on->lock);
}

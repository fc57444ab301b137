/* SPDX-License-Identifier: ISC */
/*
 * The workspace of a trial with the task's files, and the private directories
 * of its agent.
 */
#include "run/run_internal.h"

#include <sys/stat.h>

#include "base/os_path.h"
#include "json.h"

size_t
run_input_dirs(struct arena *a, const struct run *run,
    const struct spec_task *task, const char *dirs[RUN_INPUT_DIRS])
{
	const char *suite = run->suite->dir;

	dirs[0] = task->def->context_dir != NULL ? task->def->context_dir :
	    run->opts.context_dir != NULL ? run->opts.context_dir :
	    arena_fmt(a, "%s/fixtures", suite).p;
	dirs[1] = spec_task_dir(a, task);
	dirs[2] = suite;
	return RUN_INPUT_DIRS;
}

char *
run_find_input(const struct run_trial *t, struct arena *a, struct str path)
{
	const char *dirs[RUN_INPUT_DIRS];
	size_t i, n = run_input_dirs(a, t->run, t->ask.task, dirs);
	struct stat st;
	char *p;

	for (i = 0; i < n; i++) {
		p = arena_cstr(a, arena_fmt(a, "%s/%.*s", dirs[i],
		    STRF(path)));
		if (p != NULL && stat(p, &st) == 0)
			return p;
	}
	return NULL;
}

/*
 * An agent must not be asked about a file that it does not get.  One that
 * reads no files does not need it: a warning, once per task, is enough.
 */
int
run_missing_input(struct run_trial *t, const struct err *e)
{
	if (!t->run->agent->kind->no_files)
		return -1;
	if (t->trial == 0 && t->ask.req.attempt == 1)
		run_warn(t->run, "input_missing", e->msg);
	return 0;
}

static int
missing(struct run_trial *t, const char *what, struct str path, struct err *e)
{
	err_set(e, ERR_SCHEMA, "%s \"%.*s\" does not exist", what,
	    STRF(path));
	return run_missing_input(t, e);
}

static int
put_input(struct run_trial *t, const struct spec_input_file *f, struct err *e)
{
	char *from;

	if (f->content.p != NULL && f->content.n > 0)
		return workspace_put(&t->ask.arena, t->ask.req.workspace,
		    f->path, f->content, e);
	if (!workspace_inside(f->path))
		return err_set(e, ERR_SCHEMA, "input file \"%.*s\" is not a "
		    "path inside the workspace", STRF(f->path));
	from = run_find_input(t, &t->ask.arena, f->path);
	if (from == NULL)
		return missing(t, "input file", f->path, e);
	return workspace_copy(&t->ask.arena, t->ask.req.workspace, from,
	    f->path, e);
}

static int
put_fixture(struct run_trial *t, const struct json *fixture, struct err *e)
{
	struct str path = json_text(fixture), name = str_base(path);
	char *from = run_find_input(t, &t->ask.arena, path);
	struct stat st;

	if (from == NULL)
		return missing(t, "fixture", path, e);
	if (stat(from, &st) == 0 && S_ISDIR(st.st_mode))
		name = STR("");		/* copy its contents */
	return workspace_copy(&t->ask.arena, t->ask.req.workspace, from,
	    name, e);
}

bool
run_needs_workspace(const struct run_trial *t)
{
	const struct spec_task *task = t->ask.task;

	return task->def->inputs.files.n > 0 ||
	    task->def->inputs.repos.n > 0 || task->def->inputs.workdir.n > 0 ||
	    t->run->opts.keep_workspace ||
	    json_getc(task->def->inputs.context, "fixture") != NULL ||
	    agent_needs_workspace(t->run->agent, task) ||
	    grader_flags(t->run->suite, task) &
	    (GRADER_WORKSPACE | GRADER_NEEDS_DIR);
}

int
run_make_workspace(struct run_ask *q, struct str name, size_t slot,
    struct err *e)
{
	struct workspace_pool *pool = &q->run->pool;

	q->dir = workspace_take(pool, &q->arena, name, e);
	if (q->dir == NULL)
		return -1;
	q->req.scratch = arena_fmt(&q->arena, "%s/slot-%zu-", pool->dir,
	    slot).p;
	return 0;
}

/* Sets the working directory, if it is not the workspace itself. */
static int
set_workdir(struct run_trial *t, struct str dir, struct err *e)
{
	char *path;
	struct stat st;

	if (dir.n == 0 || str_is(dir, "."))
		return 0;
	path = arena_cstr(&t->ask.arena, arena_fmt(&t->ask.arena, "%s/%.*s",
	    t->ask.req.workspace, STRF(dir)));
	if (path == NULL || !workspace_inside(dir) ||
	    !os_inside(t->ask.req.workspace, path))
		return err_set(e, ERR_SCHEMA, "workdir \"%.*s\" is not a path "
		    "inside the workspace", STRF(dir));
	if (stat(path, &st) == -1)
		return missing(t, "workdir", dir, e);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_SCHEMA, "workdir \"%.*s\" is not a "
		    "directory", STRF(dir));
	t->ask.req.cwd = path;
	return 0;
}

int
run_fill_workspace(struct run_trial *t, struct err *e)
{
	const struct spec_inputs *in = &t->ask.task->def->inputs;
	const struct spec_input_file *files = in->files.v;
	const struct json *fixture;
	size_t i;

	for (i = 0; i < in->files.n; i++)
		if (put_input(t, &files[i], e) == -1)
			return -1;
	t->ask.req.nfiles = in->files.n;
	fixture = json_getc(in->context, "fixture");
	if (fixture != NULL && fixture->type == JSON_STRING) {
		t->ask.req.nfiles++;
		if (put_fixture(t, fixture, e) == -1)
			return -1;
	}
	return set_workdir(t, in->workdir, e);
}

int
run_make_home(struct run_ask *q, struct err *e)
{
	struct run *run = q->run;
	const struct agent_request *dirs = run->opts.agent_dirs;

	if (dirs != NULL) {
		q->req.home = dirs->home;
		q->req.tmp = dirs->tmp;
		q->req.cache = dirs->cache;
	}
	if (run->opts.agent != NULL || !agent_has_own_dirs(run->agent) ||
	    q->req.scratch == NULL)
		return 0;
	return agent_make_dirs(run->agent, &q->arena, &q->req, q->req.scratch,
	    arena_fmt(&q->arena, "%s/all-", run->pool.dir).p, e);
}

void
run_remove_home(struct run_ask *q)
{
	struct err e;

	if (q->run->opts.agent == NULL &&
	    agent_remove_dirs(q->run->agent, &q->req, &e) == -1)
		run_warn(q->run, "workspace_left", e.msg);
}

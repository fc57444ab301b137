/* SPDX-License-Identifier: ISC */
/*
 * What a trial is given: a directory, and in it the task's files.
 */
#include "run/run_internal.h"

#include <sys/stat.h>

#include "base/os_path.h"
#include "json.h"

/* Where an input file is found: DESIGN.md, "Paths". */
static char *
find_fixture(struct run_trial *t, struct str path)
{
	const struct run *run = t->run;
	const struct spec_task *task = run_trial_spec(t);
	const char *base[4];
	struct stat st;
	size_t i, n = 0;
	char *p;

	if (task->context_dir.n > 0)
		base[n++] = spec_path(&t->arena, run->suite->dir,
		    task->context_dir);
	else if (run->opts.context_dir != NULL)
		base[n++] = run->opts.context_dir;
	else
		base[n++] = arena_fmt(&t->arena, "%s/fixtures",
		    run->suite->dir).p;
	base[n++] = spec_task_dir(&t->arena, task);
	base[n++] = run->suite->dir;
	for (i = 0; i < n; i++) {
		p = arena_cstr(&t->arena, arena_fmt(&t->arena, "%s/%.*s",
		    base[i], STRF(path)));
		if (p != NULL && stat(p, &st) == 0)
			return p;
	}
	return NULL;
}

/*
 * An agent is not asked about a file that it does not get.  To one that does
 * not look, it makes no difference: that is said, once, and it goes on.
 */
int
run_missing_input(struct run_trial *t, const struct err *e)
{
	if (!t->run->agent->kind->no_files)
		return -1;
	if (t->trial == 0 && t->req.attempt == 1)
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
		return workspace_put(&t->arena, t->req.workspace, f->path,
		    f->content, e);
	if (!workspace_inside(f->path))
		return err_set(e, ERR_SCHEMA, "input file \"%.*s\" is not a "
		    "path inside the workspace", STRF(f->path));
	from = find_fixture(t, f->path);
	if (from == NULL)
		return missing(t, "input file", f->path, e);
	return workspace_copy(&t->arena, t->req.workspace, from, f->path, e);
}

static int
put_fixture(struct run_trial *t, const struct json *fixture, struct err *e)
{
	struct str path = json_text(fixture), name = path;
	char *from = find_fixture(t, path);
	struct stat st;
	size_t i;

	if (from == NULL)
		return missing(t, "fixture", path, e);
	for (i = path.n; i > 0 && path.p[i - 1] != '/'; i--)
		;
	name.p += i;
	name.n -= i;
	if (stat(from, &st) == 0 && S_ISDIR(st.st_mode))
		name = STR("");		/* what is in it */
	return workspace_copy(&t->arena, t->req.workspace, from, name, e);
}

bool
run_needs_workspace(const struct run_trial *t)
{
	const struct spec_task *task = run_trial_spec(t);

	return task->inputs.files.n > 0 ||
	    task->inputs.repos.n > 0 || task->inputs.workdir.n > 0 ||
	    t->run->opts.keep_workspace ||
	    (task->inputs.context != NULL &&
	    json_getc(task->inputs.context, "fixture") != NULL) ||
	    agent_needs_workspace(t->run->agent, task) ||
	    grader_flags(t->run->suite, task) != 0;
}

int
run_make_workspace(struct run_trial *t, struct err *e)
{
	t->dir = workspace_take(&t->run->pool, &t->arena, arena_fmt(&t->arena,
	    "%zu-%zu-%u", t->task + 1, t->trial + 1, t->req.attempt), e);
	if (t->dir == NULL)
		return -1;
	t->req.scratch = arena_fmt(&t->arena, "%s/slot-%zu-",
	    t->run->pool.dir, (size_t)(t - t->run->slots)).p;
	return 0;
}

/* Where the agent starts, when that is not the workspace itself. */
static int
enter(struct run_trial *t, struct str dir, struct err *e)
{
	char *path;
	struct stat st;

	if (dir.n == 0 || str_is(dir, "."))
		return 0;
	path = arena_cstr(&t->arena, arena_fmt(&t->arena, "%s/%.*s",
	    t->req.workspace, STRF(dir)));
	if (path == NULL || !workspace_inside(dir) ||
	    !os_inside(t->req.workspace, path))
		return err_set(e, ERR_SCHEMA, "workdir \"%.*s\" is not a path "
		    "inside the workspace", STRF(dir));
	if (stat(path, &st) == -1)
		return missing(t, "workdir", dir, e);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_SCHEMA, "workdir \"%.*s\" is not a "
		    "directory", STRF(dir));
	t->req.cwd = path;
	return 0;
}

int
run_fill_workspace(struct run_trial *t, struct err *e)
{
	const struct spec_inputs *in = &run_trial_spec(t)->inputs;
	const struct spec_input_file *files = in->files.v;
	const struct json *fixture;
	size_t i;

	for (i = 0; i < in->files.n; i++)
		if (put_input(t, &files[i], e) == -1)
			return -1;
	t->req.nfiles = in->files.n;
	fixture = in->context == NULL ? NULL :
	    json_getc(in->context, "fixture");
	if (fixture != NULL && fixture->type == JSON_STRING) {
		t->req.nfiles++;
		if (put_fixture(t, fixture, e) == -1)
			return -1;
	}
	return enter(t, in->workdir, e);
}

int
run_make_home(struct run *run, struct arena *a, struct agent_request *r,
    struct err *e)
{
	const struct agent_request *agent_dirs = run->opts.agent_dirs;

	if (agent_dirs != NULL) {
		r->home = agent_dirs->home;
		r->tmp = agent_dirs->tmp;
		r->cache = agent_dirs->cache;
	}
	if (run->opts.agent != NULL || !agent_has_own_dirs(run->agent) ||
	    r->scratch == NULL)
		return 0;
	return agent_make_dirs(run->agent, a, r, r->scratch, arena_fmt(a,
	    "%s/all-", run->pool.dir).p, e);
}

void
run_remove_home(struct run *run, struct agent_request *r)
{
	struct err e;

	if (run->opts.agent == NULL &&
	    agent_remove_dirs(run->agent, r, &e) == -1)
		run_warn(run, "workspace_left", e.msg);
}

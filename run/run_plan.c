/* SPDX-License-Identifier: ISC */
/*
 * What there is to run: the tasks selected, the workers, and the journal of
 * an earlier run with what it leaves to do.
 */
#include "run/run_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/glob.h"

enum {
	WORKERS_DEFAULT = 4,	/* of `parallel: true` */
	WORKERS_MAX = 1024
};

static bool
any_match(const char *const *globs, size_t n, struct str name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (glob_match(str_of(globs[i]), name))
			return true;
	return false;
}

bool
run_selects(const struct run_opts *o, const struct spec_task *t)
{
	size_t i;

	if (o->ntasks > 0 && !any_match(o->tasks, o->ntasks, t->id) &&
	    !any_match(o->tasks, o->ntasks, t->name))
		return false;
	if (o->ntags == 0)
		return true;
	for (i = 0; i < t->tags.n; i++)
		if (any_match(o->tags, o->ntags, t->tags.v[i]))
			return true;
	return false;
}

/* Shard K of N has every Nth of the selected tasks, from the Kth on. */
int
run_select(struct run *run, struct err *e)
{
	const struct spec_suite *s = run->suite;
	const struct run_opts *o = &run->opts;
	struct result_run *r = &run->results;
	size_t i, nth = 0;

	if (o->stored != NULL)
		return run_stored_select(run, e);
	r->tasks = NEW_N(&run->arena, struct result_task, s->ntasks);
	for (i = 0; i < s->ntasks; i++) {
		if (!run_selects(o, &s->tasks[i]))
			continue;
		if (o->shards > 0 &&
		    (int64_t)(nth++ % (size_t)o->shards) != o->shard - 1)
			continue;
		r->tasks[r->ntasks++].spec = &s->tasks[i];
	}
	if (r->ntasks == 0 && !(o->shards > 0 && nth > 0))
		return err_set(e, ERR_SCHEMA, "no task is selected by %s",
		    o->ntasks > 0 && o->ntags > 0 ? "--task and --tags" :
		    o->ntasks > 0 ? "--task" : "--tags");
	return 0;
}

size_t
run_workers(const struct run *run)
{
	const struct spec_config *c = &run->suite->config;
	int64_t n = run->opts.workers > 0 ? run->opts.workers :
	    c->workers > 0 ? c->workers : c->parallel ? WORKERS_DEFAULT : 1;

	return (size_t)(n > WORKERS_MAX ? WORKERS_MAX : n);
}

/* Letters that a file name can have anywhere. */
static struct str
file_name(struct arena *a, struct str name)
{
	struct str s = arena_str(a, name);
	char *p = arena_cstr(a, s);
	size_t i;

	if (p == NULL || s.n == 0)
		return STR("suite");
	for (i = 0; p[i] != '\0'; i++)
		if (!(p[i] >= '0' && p[i] <= '9') && p[i] != '-' &&
		    p[i] != '_' && (p[i] != '.' || i == 0) &&
		    !((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'z'))
			p[i] = '-';
	return str_of(p);
}

/* A journal that goes with the process: nothing can be resumed. */
static int
open_nameless(struct run *run, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	char *path = arena_cstr(&run->arena, arena_fmt(&run->arena,
	    "%s/waza-XXXXXX", tmp != NULL && *tmp != '\0' ? tmp : "/tmp"));
	int fd = mkstemp(path);
	int r;

	if (fd == -1)
		return err_sys(e, path);
	close(fd);
	r = result_open(&run->results, path, false, e);
	unlink(path);
	return r;
}

/*
 * Beside the results; without such, in .waza; and where that cannot be
 * written, in a file without a name.
 */
int
run_open_journal(struct run *run, struct err *e)
{
	struct arena *a = &run->arena;
	struct run_opts *o = &run->opts;
	struct str model = file_name(a, o->model);
	bool resume = o->resume || o->retry_errors || o->rerun_failed;

	if (o->stored != NULL)
		return open_nameless(run, e);
	if (o->journal == NULL && o->output != NULL)
		o->journal = arena_fmt(a, "%s.journal", o->output).p;
	if (o->journal != NULL)
		return result_open(&run->results, o->journal, resume, e);
	o->journal = arena_fmt(a, ".waza/%.*s%s%.*s%s.journal",
	    STRF(file_name(a, run->suite->name)), o->model.n > 0 ? "-" : "",
	    o->model.n > 0 ? (int)model.n : 0, model.p,
	    o->no_skills ? ".baseline" : "").p;
	if (mkdir(".waza", 0777) == -1 && errno != EEXIST)
		return resume ? err_sys(e, ".waza") : open_nameless(run, e);
	if (result_open(&run->results, o->journal, resume, e) == 0)
		return 0;
	return resume || e->sys == ENOSPC ? -1 : open_nameless(run, e);
}

int
run_check_output(struct arena *a, const char *path, struct err *e)
{
	const char *slash;
	struct stat st;
	struct str dir;

	if (path == NULL)
		return 0;
	if (*path == '\0')
		return err_set(e, ERR_SCHEMA, "the results file has no name");
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return err_set(e, ERR_SYS, "%s: is a directory", path);
		if (access(path, W_OK) == -1)
			return err_sys(e, path);
		return 0;
	}
	slash = strrchr(path, '/');
	dir = slash == NULL ? STR(".") : slash == path ? STR("/") :
	    (struct str){ path, (size_t)(slash - path) };
	if (access(arena_str(a, dir).p, W_OK | X_OK) == -1)
		return err_sys(e, path);
	return 0;
}

/* What an earlier run did that is to be done again is forgotten. */
void
run_forget_reruns(struct run *run)
{
	const struct run_opts *o = &run->opts;
	struct result_task *task;
	struct result_trial *t;
	size_t i, k;

	for (i = 0; i < run->results.ntasks; i++) {
		task = &run->results.tasks[i];
		for (k = 0; k < task->ntrials; k++) {
			t = &task->trials[k];
			if ((result_is_error(t->status) &&
			    (o->retry_errors || o->rerun_failed)) ||
			    (t->status == RESULT_FAILED && o->rerun_failed))
				result_forget(&run->results, i, k);
		}
	}
	for (i = 0; i < run->results.triggers.n; i++) {
		t = &run->results.triggers.v[i];
		if ((result_is_error(t->status) &&
		    (o->retry_errors || o->rerun_failed)) ||
		    (t->status == RESULT_FAILED && o->rerun_failed))
			result_forget_trigger(&run->results, i);
	}
}

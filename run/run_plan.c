/* SPDX-License-Identifier: ISC */
/*
 * The work of a run: the selected tasks, the number of workers, and the
 * journal of an earlier run with the trials it has.
 */
#include "run/run_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "lib/glob.h"

enum {
	WORKERS_DEFAULT = 4,	/* of `parallel: true` */
	WORKERS_MAX = 1024,
	TRIAL_FDS = 6		/* descriptors of a trial */
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

/*
 * Calls take() for the tasks of the suite that the options select.  Shard K of
 * N has every Nth of them, starting with the Kth.  Returns how many there are
 * in all shards.
 */
static size_t
each_selected(const struct spec_suite *s, const struct run_opts *o,
    void (*take)(void *, const struct spec_task *), void *arg)
{
	size_t i, nth = 0;

	for (i = 0; i < s->ntasks; i++) {
		if (!run_selects(o, &s->tasks[i]))
			continue;
		if (o->shards == 0 || (int64_t)(nth % (size_t)o->shards) ==
		    o->shard - 1)
			take(arg, &s->tasks[i]);
		nth++;
	}
	return nth;
}

static void
take_task(void *arg, const struct spec_task *t)
{
	struct result_run *r = arg;

	r->tasks[r->ntasks++].spec = t;
}

static void
count_task(void *arg, const struct spec_task *t)
{
	(void)t;
	++*(size_t *)arg;
}

size_t
run_count_tasks(const struct spec_suite *s, const struct run_opts *o)
{
	size_t n = 0;

	each_selected(s, o, count_task, &n);
	return n;
}

int
run_select(struct run *run, struct err *e)
{
	const struct spec_suite *s = run->suite;
	const struct run_opts *o = &run->opts;
	struct result_run *r = &run->results;

	if (o->stored != NULL)
		return run_stored_select(run, e);
	r->tasks = NEW_N(&run->arena, struct result_task, s->ntasks);
	if (each_selected(s, o, take_task, r) == 0)
		return err_set(e, ERR_SCHEMA, "no task matches %s",
		    o->ntasks > 0 && o->ntags > 0 ? "--task and --tags" :
		    o->ntasks > 0 ? "--task" : "--tags");
	return 0;
}

/*
 * An agent and a grader or judge have three pipes each.  With fewer
 * descriptors, trials could wait for each other.
 */
static int64_t
affordable(const struct run *run)
{
	const struct agent_kind *k = agent_find(run->results.executor);
	size_t n = os_fds_free(2) / TRIAL_FDS;

	return k == NULL || k->needs == AGENT_NEEDS_NOTHING ? WORKERS_MAX :
	    n < 1 ? 1 : (int64_t)n;
}

size_t
run_count_workers(const struct spec_suite *s, const struct run_opts *o)
{
	const struct spec_config *c = &s->config;
	int64_t n = o->workers > 0 ? o->workers : c->workers > 0 ? c->workers :
	    c->parallel ? WORKERS_DEFAULT : 1;

	return (size_t)(n > WORKERS_MAX ? WORKERS_MAX : n);
}

size_t
run_workers(const struct run *run)
{
	size_t n = run_count_workers(run->suite, &run->opts);
	size_t most = (size_t)affordable(run);

	return n > most ? most : n;
}

/* Replaces characters that are not portable in file names. */
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

const char *
run_journal_of(struct arena *a, const char *output, const char *ending)
{
	struct stat st;

	if (stat(output, &st) == 0 && !S_ISREG(st.st_mode))
		return NULL;
	return arena_fmt(a, "%s%s", output, ending).p;
}

/*
 * The journal is beside the results file, or in .waza without one.  If .waza
 * cannot be written, it has no name, and the run cannot be resumed.
 */
int
run_open_journal(struct run *run, struct err *e)
{
	struct arena *a = &run->arena;
	struct run_opts *o = &run->opts;
	struct str model = file_name(a, o->model);
	bool resume = o->resume || o->retry_errors || o->rerun_failed;

	if (o->stored != NULL || o->unnamed)
		return result_open_unnamed(&run->results, e);
	if (o->journal == NULL && o->output != NULL)
		o->journal = run_journal_of(a, o->output, ".journal");
	if (o->journal != NULL)
		return result_open(&run->results, o->journal, resume, e);
	o->journal = arena_fmt(a, ".waza/%.*s%s%.*s%s.journal",
	    STRF(file_name(a, run->suite->name)), o->model.n > 0 ? "-" : "",
	    o->model.n > 0 ? (int)model.n : 0, model.p,
	    o->no_skills ? ".baseline" : "").p;
	if (mkdir(".waza", 0777) == -1 && errno != EEXIST)
		return resume ? err_sys(e, ".waza") :
		    result_open_unnamed(&run->results, e);
	if (result_open(&run->results, o->journal, resume, e) == 0)
		return 0;
	return resume || e->sys == ENOSPC ? -1 :
	    result_open_unnamed(&run->results, e);
}

int
run_check_output(struct arena *a, const char *path, bool strict,
    struct err *e)
{
	const char *slash;
	struct stat st;
	struct str dir;

	if (path == NULL)
		return 0;
	if (*path == '\0')
		return err_set(e, ERR_SCHEMA, "the name of the results file "
		    "is empty");
	if (result_check_name(path, false, strict, e) == -1)
		return -1;
	if (stat(path, &st) == 0)
		return access(path, W_OK) == -1 ? err_sys(e, path) : 0;
	slash = strrchr(path, '/');
	dir = slash == NULL ? STR(".") : slash == path ? STR("/") :
	    (struct str){ path, (size_t)(slash - path) };
	if (access(arena_str(a, dir).p, W_OK | X_OK) == -1)
		return err_sys(e, path);
	return 0;
}

static bool
runs_again(const struct run_opts *o, enum result_status status)
{
	return (result_is_error(status) &&
	    (o->retry_errors || o->rerun_failed)) ||
	    (status == RESULT_FAILED && o->rerun_failed);
}

void
run_forget_reruns(struct run *run)
{
	struct result_run *r = &run->results;
	size_t i, k;

	for (i = 0; i < r->ntasks; i++)
		for (k = 0; k < r->tasks[i].ntrials; k++)
			if (runs_again(&run->opts,
			    r->tasks[i].trials[k].status))
				result_forget(r, i, k);
	for (i = 0; i < r->triggers.n; i++)
		if (runs_again(&run->opts, r->triggers.v[i].status))
			result_forget_trigger(r, i);
}

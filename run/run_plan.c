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
#include "lib/unicode.h"

enum {
	WORKERS_DEFAULT = 4,	/* of `parallel: true`; at most, without */
	WORKERS_MAX = 1024,
	TRIAL_FDS = 6,		/* descriptors of a trial */
	TAGS_SHOWN = 100	/* each once, in a message */
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

/* Both are in lower case. */
static bool
has_word(struct str name, struct str word)
{
	size_t i;

	if (glob_any(word))
		return glob_match(word, name);
	for (i = 0; i + word.n <= name.n; i++)
		if (memcmp(name.p + i, word.p, word.n) == 0)
			return true;
	return false;
}

static bool
any_word(const struct run_opts *o, struct str name)
{
	struct buf lower = { 0 }, word = { 0 };
	bool found = false;
	size_t i;

	unicode_put_lower(&lower, name);
	for (i = 0; i < o->nwords && !found; i++) {
		word.n = 0;
		unicode_put_lower(&word, str_of(o->words[i]));
		found = has_word(buf_str(&lower), buf_str(&word));
	}
	buf_free(&lower);
	buf_free(&word);
	return found;
}

/* -k: a word in the id, the name or a tag. */
static bool
has_any_word(const struct run_opts *o, const struct spec_task *t)
{
	size_t i;

	if (o->nwords == 0 || any_word(o, t->id) || any_word(o, t->name))
		return true;
	for (i = 0; i < t->def->tags.n; i++)
		if (any_word(o, t->def->tags.v[i]))
			return true;
	return false;
}

static int
by_name(const void *key, const void *row)
{
	return str_cmp(*(const struct str *)key, *(const struct str *)row);
}

const char *
run_why(const struct run_only *o, struct str id)
{
	size_t i = search_first(&id, o->ids, o->n, sizeof(*o->ids), by_name);

	return i < o->n && str_eq(o->ids[i], id) ? o->why[i] : NULL;
}

bool
run_selects(const struct run_opts *o, const struct spec_task *t)
{
	size_t i;

	if ((o->only != NULL && run_why(o->only, t->id) == NULL) ||
	    !has_any_word(o, t))
		return false;
	if (o->ntasks > 0 && !any_match(o->tasks, o->ntasks, t->id) &&
	    !any_match(o->tasks, o->ntasks, t->name))
		return false;
	if (o->ntags == 0)
		return true;
	for (i = 0; i < t->def->tags.n; i++)
		if (any_match(o->tags, o->ntags, t->def->tags.v[i]))
			return true;
	return false;
}

/* The ids of the tasks, or their tags. */
static struct field_strs
names_of(struct arena *a, const struct spec_suite *s, bool tags)
{
	struct field_strs out = { 0 };
	size_t i, k, m, n = 0;

	for (i = 0; i < s->ntasks; i++)
		n += tags ? s->tasks[i].def->tags.n : 1;
	out.v = NEW_N(a, struct str, n);
	for (i = 0; i < s->ntasks; i++) {
		if (!tags)
			out.v[out.n++] = s->tasks[i].id;
		for (k = 0; tags && k < s->tasks[i].def->tags.n; k++) {
			for (m = 0; m < out.n && m < TAGS_SHOWN; m++)
				if (str_eq(out.v[m],
				    s->tasks[i].def->tags.v[k]))
					break;
			if (m == out.n)
				out.v[out.n++] = s->tasks[i].def->tags.v[k];
		}
	}
	return out;
}

/* Names the first pattern, similar ids or tags, and those that exist. */
static int
no_match(struct arena *a, const struct spec_suite *s,
    const struct run_opts *o, struct err *e)
{
	bool tags = o->ntasks == 0 && o->nwords == 0;
	const char *option = tags ? "--tags" : o->ntasks > 0 ? "--task" : "-k";
	const char *glob = tags ? o->tags[0] : o->ntasks > 0 ? o->tasks[0] :
	    o->words[0];
	struct field_strs names = names_of(a, s, tags);
	struct buf b = { 0 };

	buf_fmt(&b, "no task matches %s %.100s%s", option, glob,
	    o->ntasks > 0 && o->nwords > 0 ? " and -k" :
	    !tags && o->ntags > 0 ? " and --tags" :
	    tags && names.n == 0 ? ": the suite has no tags" : "");
	str_put_choices(&b, str_of(glob), tags ? "tags" : "tasks", names.v,
	    names.n);
	err_set(e, ERR_SCHEMA, "%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return -1;
}

int
run_explain_selection(struct arena *a, const struct spec_suite *s,
    const struct run_opts *o, struct err *e)
{
	size_t i;

	for (i = 0; i < s->ntasks; i++)
		if (run_selects(o, &s->tasks[i]))
			return 0;
	return no_match(a, s, o, e);
}

int
run_no_match(struct run *run, struct err *e)
{
	return no_match(&run->arena, run->suite, &run->opts, e);
}

int
run_select(struct run *run, struct err *e)
{
	const struct run_opts *o = &run->opts;

	if (o->stored != NULL)
		return run_stored_select(run, e);
	if (run_shard_select(run) > 0 || (o->only != NULL &&
	    run_count_triggers(run->suite, o) > 0))
		return 0;
	return run_no_match(run, e);
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

/*
 * One at a time where the order matters: hooks around tasks, a persistent
 * program, a run that ends after failures.
 */
static int64_t
default_workers(const struct spec_suite *s, const struct run_opts *o)
{
	const struct spec_config *c = &s->config;
	const struct agent_kind *k = agent_find(o->executor.n > 0 ?
	    o->executor : c->executor);
	size_t n = os_processors();

	if (c->parallel)
		return WORKERS_DEFAULT;
	if (k == NULL || !k->side_by_side || c->persistent || c->serial ||
	    c->fail_fast || o->fail_fast || o->max_failures > 0 ||
	    s->hooks[SPEC_BEFORE_TASK].n > 0 ||
	    s->hooks[SPEC_AFTER_TASK].n > 0 || o->stored != NULL)
		return 1;
	return n < WORKERS_DEFAULT ? (int64_t)n : WORKERS_DEFAULT;
}

size_t
run_count_workers(const struct spec_suite *s, const struct run_opts *o)
{
	const struct spec_config *c = &s->config;
	int64_t n = o->workers > 0 ? o->workers : c->workers > 0 ? c->workers :
	    default_workers(s, o);

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

bool
run_is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* A complete run has no journal: its trials are in the results file. */
static int
open_named(struct run *run, bool resume, struct err *e)
{
	const struct run_opts *o = &run->opts;
	struct result_from from = { o->resume_from != NULL ? o->resume_from :
		o->output, o->resume_arm, !o->starts_new, { true,
		o->has_baseline || o->resume_arm != RESULT_ARM_SKILLS,
		o->has_ref || o->resume_arm != RESULT_ARM_SKILLS } };
	bool reuse = resume && from.path != NULL && run_is_file(from.path) &&
	    !run_is_file(o->journal);

	if (result_open(&run->results, o->journal, resume, e) == -1)
		return resume || !o->by_default || e->sys == ENOSPC ? -1 :
		    result_open_unnamed(&run->results, e);
	if (!reuse || result_reuse(&run->results, &from, e) == 0)
		return 0;
	run->results.journal.spent = true;	/* nothing was taken over */
	result_close(&run->results);
	run->results.journal.spent = false;
	return -1;
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
		return open_named(run, resume, e);
	o->journal = arena_fmt(a, ".waza/%.*s%s%.*s%s.journal",
	    STRF(file_name(a, run->suite->name)), o->model.n > 0 ? "-" : "",
	    o->model.n > 0 ? (int)model.n : 0, model.p,
	    o->is_baseline ? ".baseline" : o->ref != NULL ? ".ref" :
	    o->no_skills ? ".no-skills" : "").p;
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

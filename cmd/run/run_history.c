/* SPDX-License-Identifier: ISC */
/*
 * The default place for the results of `waza run`, .waza/results: of the
 * directory with the project's .waza.yaml, else of the working directory.
 *
 * Journals are in .waza.  An interrupted run is resumed from its journal, and
 * continues its results file, which has the run's id in its name.  A complete
 * run has no journal: its results file is the newest one of the same suite,
 * executor, model and skills.  --resume continues that file;
 * --retry-errors and --rerun-failed start a new one, so that both can be
 * compared.
 *
 * All reruns of --watch have the same id for a unit; the results of one replace
 * those of the one before, so that they do not push out other runs.
 */
#include "cmd/run.h"

#include <string.h>

#include "base/os.h"
#include "results/history.h"
#include "suite/config.h"
#include "suite/spec.h"

const char *
cmd_run_root(struct cmd_run *r)
{
	struct spec_notes notes = { .arena = r->job.call->arena };
	struct config_sources from = {
		.path = r->opt.execution.config_path,
		.json = r->opt.execution.config_json,
		.token = r->job.call->token, .trust = r->opt.execution.trust };
	const struct config *c = config_load(notes.arena, &from, &notes);

	r->keep_results = c != NULL ? c->keep_results : 0;
	return c != NULL && c->project_dir != NULL ? c->project_dir : ".";
}

int
cmd_run_history_open(struct cmd_run *r)
{
	struct arena *a = r->job.call->arena;
	const char *root = cmd_run_root(r);

	if (history_make(a, root, r->job.call->err) == 0) {
		r->history = history_dir(a, root);
		return 0;
	}
	if (cmd_run_resumes(r))
		return -1;
	cmd_say("waza: warning: results are not kept: %s; name a file with "
	    "-o, or use --no-results\n", r->job.call->err->msg);
	return 0;
}

static struct str
or_of(struct str option, struct str suite)
{
	return option.n > 0 ? option : suite;
}

/*
 * The newest results of the same suite, executor and model, or NULL.  Another
 * suite can have the same name: the same path takes precedence.  It is not
 * required, because paths are relative to the working directory.
 */
static const struct history_file *
latest(struct cmd_run *r, const struct cmd_unit *u, struct str suite,
    const struct history_file *v, size_t n)
{
	const struct spec_suite *s = u->cell->spec;
	const struct history_file *other = NULL;
	struct history_head h;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!str_eq(v[i].suite, suite) ||
		    !history_head(r->job.call->arena, v[i].path, &h) ||
		    !str_eq(h.suite, s->name) || (u->cell->skill.n > 0 &&
		    !str_eq(h.skill, s->skill)) ||
		    h.no_skills != u->opts.no_skills ||
		    !str_eq(h.executor, or_of(u->opts.executor,
		    s->config.executor)) ||
		    !str_eq(h.model, or_of(u->opts.model, s->config.model)))
			continue;
		if (s->path == NULL || str_is(h.source, s->path))
			return &v[i];
		if (other == NULL)
			other = &v[i];
	}
	return other;
}

/* Continues an earlier run, if there is one. */
static void
resume(struct cmd_run *r, struct cmd_unit *u, struct str suite)
{
	struct arena *a = r->job.call->arena;
	struct run_opts *o = &u->opts;
	size_t i, n;
	const struct history_file *v = history_list(a, r->history, &n), *f;

	o->run_id = history_journal_id(a, o->journal);
	if (o->run_id != NULL) {
		for (i = 0; i < n; i++)
			if (str_is(v[i].run_id, o->run_id))
				o->output = v[i].path;
		return;
	}
	f = latest(r, u, suite, v, n);
	if (f == NULL)
		return;
	o->resume_from = f->path;
	o->starts_new = !r->opt.reuse.resume;
	if (r->opt.reuse.resume) {
		o->output = f->path;
		o->run_id = arena_cstr(a, f->run_id);
	}
}

/* Suites of the call with the same name have their unique names instead. */
static struct str
name_of(struct cmd_run *r, const struct cmd_suite *s)
{
	struct arena *a = r->job.call->arena;
	struct str name = history_suite(a, s->spec->name);
	size_t i;

	for (i = 0; i < r->nsuites; i++)
		if (&r->suites[i] != s && str_eq(name, history_suite(a,
		    r->suites[i].spec->name)))
			return str_of(s->file);
	return name;
}

/* A new id; for a rerun of --watch that of the unit, named by its journal. */
static const char *
id_of(struct cmd_run *r, const char *journal)
{
	struct arena *a = r->job.call->arena;
	const char *id = r->rerun_id;

	if (id == NULL)
		return run_make_id(a);
	return arena_fmt(a, "%.*s-%08x", (int)(strrchr(id, '-') - id), id,
	    (unsigned)(str_hash(arena_fmt(a, "%s %s", id, journal)) &
	    0xffffffff)).p;
}

void
cmd_run_history_unit(struct cmd_run *r, struct cmd_unit *u)
{
	struct arena *a = r->job.call->arena;
	struct run_opts *o = &u->opts;
	struct str suite, cell = STR("");

	if (r->history == NULL) {
		o->unnamed = true;
		return;
	}
	suite = name_of(r, u->suite);
	if (o->shards > 1)		/* others may run in this directory */
		suite = arena_fmt(a, "%.*s.%lld-of-%lld", STRF(suite),
		    (long long)o->shard, (long long)o->shards);
	if (u->cell->file != NULL || u->cell->model.n > 0)
		cell = history_suite(a, u->cell->file != NULL ?
		    str_of(u->cell->file) : u->cell->model);
	o->by_default = true;
	o->journal = arena_fmt(a, "%s/%.*s%s%.*s%s.journal",
	    spec_dir_of(a, r->history), STRF(suite),
	    cell.n > 0 ? "-" : "", STRF(cell),
	    o->no_skills ? ".no-skills" : "").p;
	if (cmd_run_resumes(r))
		resume(r, u, suite);
	if (o->run_id == NULL)
		o->run_id = id_of(r, o->journal);
	if (o->output == NULL)
		o->output = history_name(a, r->history, suite, os_wall_ns(),
		    o->run_id);
	u->kept_as = suite;
}

void
cmd_run_history_close(struct cmd_run *r)
{
	const struct cmd_unit *u;

	for (u = r->units; u < r->units + r->nunits; u++) {
		if (u->kept_as.n == 0)
			continue;
		if (r->rerun_id != NULL && spec_exists(u->opts.output))
			history_replace(r->history, str_of(u->opts.run_id),
			    u->opts.output);
		if (r->keep_results > 0)
			history_prune(r->history, u->kept_as,
			    (size_t)r->keep_results * u->suite->ncells);
	}
}

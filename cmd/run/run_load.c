/* SPDX-License-Identifier: ISC */
/*
 * The suites of `waza run`: finds and loads them, checks where they and the
 * options have to agree, and plans their passes.
 */
#include "cmd/run.h"

#include <string.h>

#include "agent/agent.h"
#include "base/os.h"
#include "cmd/workspace.h"
#include "grader.h"
#include "suite/spec.h"

enum { PARALLEL_WORKERS = 4 };	/* of --parallel, if the suite sets none */

static void
settle_cache(struct cmd_run *r, struct cmd_suite *s)
{
	const struct spec_config *c = &s->spec->config;

	if (r->opt.reuse.no_cache ||
	    !(r->opt.reuse.cache || r->opt.reuse.cache_all || c->cache))
		return;
	s->run.cache_all = r->opt.reuse.cache_all;
	s->run.cache = cmd_cache_dir(r->job.call, r->opt.reuse.cache_dir,
	    c->cache_dir);
}

static void
settle_baseline(struct cmd_run *r, struct cmd_suite *suite,
    struct spec_notes *notes)
{
	const struct spec_suite *s = suite->spec;
	struct spec_where at = { .file = s->path };

	suite->baseline = r->opt.selection.baseline || s->baseline ||
	    r->opt.selection.baseline_ref != NULL;
	if (suite->baseline && (r->opt.selection.no_skills ||
	    (s->config.skill_directories.n == 0 && s->matrix.skill.n == 0 &&
	    s->config.required_skills.n == 0))) {
		spec_note(notes, FIELD_WARNING, at, "the suite has no skills: "
		    "no baseline is run");
		suite->baseline = false;
	}
	suite->run.has_baseline = suite->baseline;
	suite->compares = grader_comparing(s);
	if (suite->compares != NULL && !suite->baseline)
		spec_note(notes, FIELD_ERROR, suite->compares->at, "mode "
		    "\"pairwise\" compares with the baseline: it needs "
		    "--baseline or \"baseline: true\", and skills to leave "
		    "out");
}

/* Baselines are about the skills of the suite. */
static void
check_skills(const struct cmd_run *r, const struct cmd_suite *suite,
    struct spec_notes *notes)
{
	const struct spec_suite *s = suite->spec;
	size_t i;

	if (s->matrix.skill.n > 0 && suite->baseline &&
	    r->opt.selection.baseline_ref != NULL)
		spec_note(notes, FIELD_ERROR, spec_matrix_at(s, "skill", 0),
		    "--baseline-ref compares the skills of the suite: it "
		    "cannot be used with \"matrix.skill\"");
	for (i = 0; i < s->matrix.skill.n; i++)
		if (suite->compares != NULL && suite->baseline &&
		    str_is(s->matrix.skill.v[i], "none"))
			spec_note(notes, FIELD_ERROR, spec_matrix_at(s,
			    "skill", i), "\"none\" has no baseline: graders "
			    "with mode \"pairwise\" cannot be used with it");
}

static void
load_suite(struct cmd_run *r, struct cmd_suite *s, struct spec_notes *notes)
{
	struct cmd_job *j = &r->job;
	struct run_opts all;
	struct spec_config *c;

	s->run = r->run;
	s->run.suite_budget = NEW(j->call->arena, struct run_budget);
	s->spec = spec_load(j->call->arena, s->path, notes);
	if (s->spec == NULL)
		return;
	cmd_settings(j->call, r->opt.execution.config_path,
	    r->opt.execution.config_json, s->spec, notes);
	c = &s->spec->config;
	cmd_run_set_axes(r, s);
	if (r->controls.n > 0)
		c->controls = r->controls;
	if (r->opt.reuse.replay != NULL)
		agent_check(s->spec, s->run.executor, notes);
	else
		agent_check_all(s->spec, notes);
	grader_check(s->spec, notes);
	j->opt->verbose |= c->verbose;
	r->opt.output.session_log |= c->session_log;
	if (r->opt.execution.parallel && s->run.workers == 0 &&
	    c->workers == 0)
		s->run.workers = PARALLEL_WORKERS;
	settle_cache(r, s);
	settle_baseline(r, s, notes);
	check_skills(r, s, notes);
	cmd_run_cells(r, s, notes);
	/* also a shard without tasks of a suite has a results file for it */
	all = s->run;
	all.shards = 0;
	s->selected = run_count_tasks(s->spec, &all) > 0;
}

/* Many suites note the same about the files that they share. */
static void
drop_repeats(struct spec_notes *notes)
{
	struct spec_note *n, *m, *last = NULL;

	for (n = notes->head; n != NULL; n = n->next) {
		for (m = notes->head; m != n; m = m->next)
			if (m->at.line == n->at.line && m->level == n->level &&
			    m->at.col == n->at.col &&
			    strcmp(m->msg, n->msg) == 0 &&
			    strcmp(m->at.file, n->at.file) == 0)
				break;
		if (m == n)
			last = n;
		else
			last->next = n->next;
	}
}

/* Suites without a selected task are left out; one stays, to complain. */
static void
select_suites(struct cmd_run *r)
{
	size_t i, k = 0;

	for (i = 0; i < r->nsuites; i++)
		k += r->suites[i].selected;
	if (k == 0 && r->nsuites > 1)
		r->nsuites = 1;
	if (k == 0 || k == r->nsuites)
		return;
	for (i = k = 0; i < r->nsuites; i++)
		if (r->suites[i].selected)
			r->suites[k++] = r->suites[i];
	r->nsuites = k;
}

static void
add_units(struct cmd_run *r, struct cmd_suite *s)
{
	size_t i, workers;
	int64_t tasks;

	s->unit = r->nunits;
	for (i = 0; i < s->ncells; i++)
		r->units[r->nunits++] = (struct cmd_unit){ .suite = s,
			.cell = &s->cells[i], .baseline = s->baseline &&
			!s->cells[i].no_skills };
	tasks = (int64_t)(cmd_run_passes(r, s) * run_count_tasks(s->spec,
	    &s->run));
	r->job.tasks += tasks;
	r->job.trials += tasks * (s->run.trials > 0 ? s->run.trials :
	    s->spec->config.trials_per_task);
	workers = run_count_workers(s->spec, &s->run);
	if (workers > r->share.slots)
		r->share.slots = workers;
}

/* One unit per suite and cell; many suites share their slots. */
static void
plan_units(struct cmd_run *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->nsuites; i++)
		n += r->suites[i].ncells;
	r->units = NEW_N(r->job.call->arena, struct cmd_unit, n);
	for (i = 0; i < r->nsuites; i++)
		add_units(r, &r->suites[i]);
	r->job.many = r->nsuites > 1;
	r->job.arms = cmd_run_arms(r, &r->units[0]) > 2;
	r->job.suite = r->suites[0].spec;
}

static int
check_recommend(struct cmd_run *r)
{
	size_t i;

	for (i = 0; i < r->nsuites && r->opt.output.recommend; i++)
		if (r->suites[i].ncells < 2)
			return err_set(r->job.call->err, ERR_SCHEMA,
			    "--recommend compares models, executors or "
			    "skills: give --model or --executor at least "
			    "twice, or add \"matrix\" to %s",
			    r->suites[i].path);
	return 0;
}

static int
find_suites(struct cmd_run *r)
{
	const struct cmd_run_opt *o = &r->opt;
	struct cmd_find how = { .config_path = o->execution.config_path,
		.config_json = o->execution.config_json,
		.trust = o->execution.trust, .strict = o->job.strict,
		.discover = o->selection.discover };
	struct cmd_found *found;
	size_t i;

	if (cmd_find_suites(r->job.call, &how, &found, &r->nsuites,
	    &r->skipped) == -1)
		return -1;
	r->suites = NEW_N(r->job.call->arena, struct cmd_suite, r->nsuites);
	for (i = 0; i < r->nsuites; i++) {
		r->suites[i].name = found[i].name;
		r->suites[i].path = found[i].path;
	}
	return 0;
}

int
cmd_run_load(struct cmd_run *r)
{
	struct cmd_job *j = &r->job;
	struct spec_notes notes = { .arena = j->call->arena,
		.strict = j->opt->strict, .updates = j->opt->update,
		.trust = r->opt.execution.trust, .vars = r->vars };
	size_t i;

	if (find_suites(r) == -1)
		return cmd_complain(j->call->err);
	agent_expect(&notes, r->opt.execution.executors.n > 0 ?
	    str_of(r->opt.execution.executors.v[0]) : r->run.executor);
	for (i = 0; i < r->nsuites; i++)
		load_suite(r, &r->suites[i], &notes);
	if (r->nsuites > 1)
		drop_repeats(&notes);
	if (cmd_job_print_notes(j, &notes) != CMD_OK)
		return CMD_ERROR;
	if (r->skipped > 0 && !j->opt->quiet)
		cmd_say("waza: %zu skill%s without a suite: skipped\n",
		    r->skipped, r->skipped == 1 ? "" : "s");
	if (check_recommend(r) == -1 || cmd_run_changed(r) == -1)
		return cmd_complain(j->call->err);
	select_suites(r);
	cmd_run_files_name(r);
	plan_units(r);
	os_trim();	/* a large suite has needed more while it was read */
	return CMD_OK;
}

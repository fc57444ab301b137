/* SPDX-License-Identifier: ISC */
/*
 * The passes of `waza run`: a unit is one cell of a suite (an executor with a
 * model and a skill), and its baselines: without skills, and with those of a
 * git revision.
 *
 * The units of one suite run one after the other and end with the first that
 * cannot be completed.  The units of many suites share one pool of slots: a
 * unit starts when no earlier one can use a slot.  What a suite holds only
 * while it runs is freed when it has ended, so that memory grows with the
 * results alone.
 */
#include "cmd/run.h"

#include "report/compare.h"
#include "results/result.h"
#include "suite/spec.h"

enum { AHEAD = 8 };	/* units at the same time beyond the slots */

static void
on_spare(void *arg)
{
	((struct cmd_run *)arg)->spare = true;
}

static void
end_unit(struct cmd_run *r, struct cmd_unit *u, int status)
{
	struct run *runs[] = { u->with, u->without, u->ref };
	size_t i;

	u->state = CMD_UNIT_ENDED;
	u->status = status;
	for (i = 0; i < COUNTOF(runs); i++) {
		u->now[i] = NULL;
		if (u->with != NULL && runs[i] != NULL && r->job.many)
			run_rest(runs[i]);
	}
}

static struct run **
run_of(struct cmd_unit *u, enum result_arm arm)
{
	return arm == RESULT_ARM_SKILLS ? &u->with :
	    arm == RESULT_ARM_NONE ? &u->without : &u->ref;
}

/*
 * The options of another pass than that with the skills of the working tree;
 * its journal is beside the results file.
 */
static void
set_arm(struct cmd_run *r, struct cmd_unit *u, enum result_arm arm,
    struct run_opts *o)
{
	static const char *const words[] = { NULL, "baseline", "ref" };
	struct arena *a = r->job.call->arena;

	o->no_skills = o->is_baseline = arm == RESULT_ARM_NONE;
	if (arm == RESULT_ARM_REF) {
		o->ref = u->suite->ref;
		o->no_triggers = true;
	}
	o->has_baseline = o->has_ref = false;
	if (o->output != NULL && o->journal == NULL)
		o->journal = run_journal_of(a, o->output, arena_fmt(a,
		    ".%s.journal", words[arm]).p);
	else if (o->journal != NULL)
		o->journal = arena_fmt(a, "%s.%s", o->journal, words[arm]).p;
	if (o->resume_from == NULL)
		o->resume_from = o->output;
	o->resume_arm = arm;
	o->run_id = NULL;
	o->max_failures = 0;
	o->failures = NULL;
	o->output = NULL;
}

/* Starts a pass; false: it could not, and the unit has ended. */
static bool
begin_pass(struct cmd_run *r, struct cmd_unit *u, enum result_arm arm,
    bool held)
{
	struct run_opts o = u->opts;

	if (arm != RESULT_ARM_SKILLS)
		set_arm(r, u, arm, &o);
	if (held) {
		o.held = true;
		o.share = &u->share;
	}
	u->now[arm] = cmd_job_begin(&r->job, arm == RESULT_ARM_REF ?
	    u->suite->ref_spec : u->cell->spec, &o);
	if (u->now[arm] != NULL) {
		*run_of(u, arm) = u->now[arm]->run;
		return true;
	}
	end_unit(r, u, CMD_ERROR);
	return false;
}

/*
 * Passes alternate unless one needs the answers of another, or hooks that are
 * made for one pass at a time.
 */
static bool
alternates(const struct cmd_unit *u)
{
	const struct spec_suite *s = u->suite->spec;
	size_t i;

	for (i = 0; i < SPEC_HOOK__MAX; i++)
		if (s->hooks[i].n > 0)
			return false;
	return u->suite->ref != NULL && u->suite->compares == NULL;
}

/*
 * Starts all passes, which wait until the last is open: it replaces the results
 * file from which the others may resume.
 */
static void
begin_together(struct cmd_run *r, struct cmd_unit *u)
{
	static const enum result_arm order[] = { RESULT_ARM_NONE,
		RESULT_ARM_REF, RESULT_ARM_SKILLS };
	bool ok = true;
	size_t i;

	u->share = (struct run_share){ .alternate = true, .slots =
		run_count_workers(u->suite->spec, &u->opts) };
	for (i = 0; i < COUNTOF(order) && ok; i++)
		ok = begin_pass(r, u, order[i], true);
	for (i = 0; i < COUNTOF(order); i++) {
		if (*run_of(u, order[i]) == NULL)
			continue;
		if (!ok)
			run_cancel(*run_of(u, order[i]));
		run_hold(*run_of(u, order[i]), false);
	}
}

/*
 * The baseline comes first if a grader compares with it, or if an earlier one
 * may be in the results file, which the other pass replaces; otherwise last, so
 * that results come early.
 */
static void
begin_unit(struct cmd_run *r, struct cmd_unit *u)
{
	u->state = CMD_UNIT_GOING;
	if (cmd_run_files_unit(r, u) == -1)
		end_unit(r, u, cmd_job_fail(&r->job, "system"));
	else if (alternates(u))
		begin_together(r, u);
	else
		(void)begin_pass(r, u, u->suite->compares != NULL ||
		    u->suite->ref != NULL || (u->baseline &&
		    cmd_run_resumes(r)) ? RESULT_ARM_NONE : RESULT_ARM_SKILLS,
		    false);
}

/* The results of the passes that the main one is compared with. */
static void
join_results(struct cmd_run *r, struct cmd_unit *u, struct result_run *with)
{
	struct buf b = { 0 };

	if (u->without != NULL)
		with->baseline = run_results(u->without);
	if (u->ref == NULL)
		return;
	with->ref = run_results(u->ref);
	if (with->complete && with->ref->complete) {
		compare_ref_json(&b, with, alternates(u));
		with->ref_effect = arena_take(r->job.call->arena, &b);
	}
}

/* After all passes. */
static void
join(struct cmd_run *r, struct cmd_unit *u)
{
	struct cmd_job *j = &r->job;
	struct result_run *with = run_results(u->with);
	int status = CMD_OK;

	join_results(r, u, with);
	if (with->baseline != NULL && u->opts.output != NULL) {
		with->unwritten = result_write(with, u->opts.output,
		    j->call->err) == -1;
		if (!with->unwritten)
			with->baseline->journal.spent =
			    with->baseline->complete &&
			    with->journal.spent;
		else if (!u->opts.by_default)
			status = cmd_job_fail(j, "results_failed");
		if (!with->unwritten && with->ref != NULL)
			with->ref->journal.spent = with->ref->complete &&
			    with->journal.spent;
	}
	end_unit(r, u, status);
}

/* Whether a pass has not ended; else *status is that of all. */
static bool
is_going(const struct cmd_unit *u, int *status)
{
	size_t i;

	*status = CMD_OK;
	for (i = 0; i < RESULT_ARM__MAX; i++) {
		if (u->now[i] != NULL && u->now[i]->going)
			return true;
		if (u->now[i] != NULL &&
		    cmd_pass_status(u->now[i]) != CMD_OK)
			*status = CMD_ERROR;
	}
	return false;
}

/* The current passes have ended: the next one, or the end of the unit. */
static void
step_unit(struct cmd_run *r, struct cmd_unit *u, int status)
{
	if (status != CMD_OK || cmd_run_interrupted(r))
		end_unit(r, u, status);
	else if (u->suite->ref != NULL && u->ref == NULL) {
		if (u->suite->compares != NULL)
			u->opts.baseline = run_results(u->without);
		(void)begin_pass(r, u, RESULT_ARM_REF, false);
	} else if (u->with == NULL) {
		if (u->suite->ref == NULL)
			u->opts.baseline = run_results(u->without);
		(void)begin_pass(r, u, RESULT_ARM_SKILLS, false);
	} else if (u->baseline && u->without == NULL)
		(void)begin_pass(r, u, RESULT_ARM_NONE, false);
	else
		join(r, u);
}

/* Whether no other unit starts after this one. */
static bool
stops(const struct cmd_run *r, const struct cmd_unit *u)
{
	if (!r->job.many)
		return u->status != CMD_OK;
	if (r->run.max_failures > 0 &&
	    r->failures >= (size_t)r->run.max_failures)
		return true;
	return r->opt.execution.fail_fast && (u->status != CMD_OK ||
	    u->with == NULL || !result_ok(run_results(u->with)));
}

/* Continues the units whose pass has ended; false if there is none. */
static bool
step_units(struct cmd_run *r)
{
	struct cmd_unit *u;
	bool stepped = false;
	int status;
	size_t i;

	for (i = r->first; i < r->next; i++) {
		u = &r->units[i];
		if (u->state == CMD_UNIT_GOING && !is_going(u, &status)) {
			step_unit(r, u, status);
			stepped = true;
		}
		if (u->state == CMD_UNIT_ENDED && stops(r, u))
			r->stopped = true;
	}
	while (r->first < r->next &&
	    r->units[r->first].state == CMD_UNIT_ENDED)
		r->first++;
	return stepped;
}

/* Starts the next unit, if it can; passes that alternate have all slots. */
static bool
start_unit(struct cmd_run *r)
{
	bool room = r->job.many && r->share.slots > 1 && r->spare &&
	    run_has_slot(&r->share) && r->job.going < r->share.slots + AHEAD;

	if (r->next == r->nunits || r->stopped || cmd_run_interrupted(r) ||
	    (r->first < r->next && (!room || alternates(&r->units[r->next]) ||
	    alternates(&r->units[r->next - 1]))))
		return false;
	r->spare = false;
	begin_unit(r, &r->units[r->next++]);
	return true;
}

static int
turn_units(struct cmd_run *r)
{
	struct cmd_job *j = &r->job;

	for (;;) {
		while (step_units(r) || start_unit(r))
			;
		if (j->going == 0)
			return CMD_OK;
		if (cmd_turn(j->loop, j->call->err) == -1)
			return cmd_job_fail(j, "system");
	}
}

int
cmd_run_units(struct cmd_run *r)
{
	int status;
	size_t i;

	r->share.spare = on_spare;
	r->share.arg = r;
	status = turn_units(r);
	for (i = 0; i < r->nunits; i++) {
		if (r->units[i].with != NULL)
			cmd_job_add_results(&r->job,
			    run_results(r->units[i].with),
			    r->units[i].opts.output);
		if (r->units[i].status != CMD_OK)
			status = CMD_ERROR;
	}
	return status;
}

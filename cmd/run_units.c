/* SPDX-License-Identifier: ISC */
/*
 * The passes of `waza run`: a unit is one suite with one model, and its
 * baseline.
 *
 * The units of one suite run one after the other and end with the first that
 * cannot be completed.  The units of many suites share one pool of slots: a
 * unit starts when no earlier one can use a slot.  What a suite holds only
 * while it runs is freed when it has ended, so that memory grows with the
 * results alone.
 */
#include "cmd/run.h"

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
	struct cmd_job *j = &r->job;

	u->state = CMD_UNIT_ENDED;
	u->now = NULL;
	u->status = status;
	if (u->with == NULL || !j->many)
		return;
	run_rest(u->with);
	if (u->without != NULL)
		run_rest(u->without);
}

static void
begin_pass(struct cmd_run *r, struct cmd_unit *u, const struct run_opts *o,
    struct run **out)
{
	u->now = cmd_job_begin(&r->job, u->suite->spec, o);
	if (u->now == NULL)
		end_unit(r, u, CMD_ERROR);
	else
		*out = u->now->run;
}

/* The same pass without skills; its journal is beside the results file. */
static void
begin_baseline(struct cmd_run *r, struct cmd_unit *u)
{
	struct run_opts o = u->opts;

	o.no_skills = true;
	if (o.output != NULL)
		o.journal = run_journal_of(r->job.call->arena, o.output,
		    ".baseline.journal");
	else if (o.journal != NULL)
		o.journal = arena_fmt(r->job.call->arena, "%s.baseline",
		    o.journal).p;
	o.output = NULL;
	begin_pass(r, u, &o, &u->without);
}

/*
 * The baseline comes first if a grader compares with it; otherwise last, so
 * that results come early.
 */
static void
begin_unit(struct cmd_run *r, struct cmd_unit *u)
{
	u->state = CMD_UNIT_GOING;
	if (cmd_run_files_unit(r, u) == -1) {
		end_unit(r, u, cmd_job_fail(&r->job, "system"));
		return;
	}
	if (u->suite->compares != NULL)
		begin_baseline(r, u);
	else
		begin_pass(r, u, &u->opts, &u->with);
}

/* After the pass with skills and its baseline. */
static void
join_baseline(struct cmd_run *r, struct cmd_unit *u)
{
	struct cmd_job *j = &r->job;
	struct result_run *with = run_results(u->with);
	int status = CMD_OK;

	if (u->without != NULL)
		with->baseline = run_results(u->without);
	if (u->without != NULL && u->opts.output != NULL &&
	    result_write(with, u->opts.output, j->call->err) == -1)
		status = cmd_job_fail(j, "results_failed");
	end_unit(r, u, status);
}

/* The current pass has ended: the next one, or the end of the unit. */
static void
step_unit(struct cmd_run *r, struct cmd_unit *u)
{
	int status = cmd_pass_status(u->now);
	bool with = u->now->run == u->with;

	if (status != CMD_OK || cmd_run_interrupted(r))
		end_unit(r, u, status);
	else if (!with && u->with == NULL) {
		u->opts.baseline = run_results(u->without);
		begin_pass(r, u, &u->opts, &u->with);
	} else if (with && u->suite->baseline && u->without == NULL)
		begin_baseline(r, u);
	else
		join_baseline(r, u);
}

/* Whether no other unit starts after this one. */
static bool
stops(const struct cmd_run *r, const struct cmd_unit *u)
{
	if (!r->job.many)
		return u->status != CMD_OK;
	return r->opt.execution.fail_fast && (u->status != CMD_OK ||
	    u->with == NULL || !result_ok(run_results(u->with)));
}

/* Continues the units whose pass has ended; false if there is none. */
static bool
step_units(struct cmd_run *r)
{
	struct cmd_unit *u;
	bool stepped = false;
	size_t i;

	for (i = r->first; i < r->next; i++) {
		u = &r->units[i];
		if (u->state == CMD_UNIT_GOING && !u->now->going) {
			step_unit(r, u);
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

/* Starts the next unit, if it can start now. */
static bool
start_unit(struct cmd_run *r)
{
	bool room = r->job.many && r->share.slots > 1 && r->spare &&
	    run_has_slot(&r->share) && r->job.going < r->share.slots + AHEAD;

	if (r->next == r->nunits || r->stopped || cmd_run_interrupted(r) ||
	    (r->first < r->next && !room))
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
			    run_results(r->units[i].with));
		if (r->units[i].status != CMD_OK)
			status = CMD_ERROR;
	}
	return status;
}

/* SPDX-License-Identifier: ISC */
/*
 * The end of `waza run --on`: the shards are merged, and each merged run
 * becomes the results of its unit, as if it had run here.
 */
#include "cmd/scale/on_internal.h"

#include <string.h>

#include "cmd/run.h"
#include "results/merge/merge.h"
#include "results/result.h"
#include "suite/spec.h"

static int
add_shards(struct on *on, struct err *e)
{
	const struct cmd_run *r = on->run;
	struct merge_opts o = { 0 };
	size_t i, k;

	on->merge = merge_new(on->arena, &o);
	for (i = 0; i < on->n; i++)
		for (k = 0; k < r->nunits; k++)
			if (merge_add(on->merge, on_unit_output(on,
			    &r->units[k], on->shards[i].output), e) == -1)
				return -1;
	return merge_finish(on->merge, e);
}

static void
print_missing(struct on *on)
{
	struct str all = merge_missing(on->merge), line;

	while (str_line(&all, &line))
		cmd_say("waza: missing: %.*s\n", STRF(line));
}

/* With --resume, complete shards may have run before the suite changed. */
static void
warn_if_changed(struct on *on, const struct cmd_unit *u,
    const struct result_run *r)
{
	struct cmd_job *j = &on->run->job;
	struct run_opts o = u->opts;
	struct run *run;
	struct err e;

	o.output = NULL;
	o.resume = false;
	run = on->run->opt.reuse.resume && r->fingerprint[0] != '\0' ?
	    run_new(j->loop, &j->procs, u->suite->spec, &o, &j->bus, &e) :
	    NULL;
	if (run == NULL)
		return;
	if (strcmp(run_results(run)->fingerprint, r->fingerprint) != 0)
		cmd_say("waza: the suite has changed since the shards ran: "
		    "they keep their prompts and verdicts; start a new run to "
		    "judge the new suite\n");
	run_free(run);
}

/*
 * Groups come in order of their first file, so that group i is that of unit i;
 * a mismatch means that the files were exchanged.
 */
static int
take_group(struct on *on, size_t i, bool all, struct err *e)
{
	struct cmd_unit *u = &on->run->units[i];
	struct merge_group *g = merge_at(on->merge, i);
	struct result_run *r = merge_results(g);
	struct str model = u->opts.model.n > 0 ? u->opts.model :
	    u->cell->spec->config.model;

	if (!str_eq(r->suite->name, u->suite->spec->name) ||
	    !str_eq(r->model, model))
		return err_set(e, ERR_SCHEMA, "%s: its results are of another "
		    "suite or model", on->dir);
	warn_if_changed(on, u, r);
	r->run_id = u->opts.run_id != NULL ? u->opts.run_id :
	    run_make_id(on->arena);
	if (r->baseline != NULL)
		r->baseline->run_id = run_make_id(on->arena);
	r->strict = u->opts.by_default;
	u->whole = r;
	u->merged = merge_report(g, all);
	u->state = CMD_UNIT_ENDED;
	if (u->opts.output != NULL &&
	    result_write(r, u->opts.output, e) == -1)
		return -1;
	cmd_job_add_results(&on->run->job, u->merged, u->opts.output);
	return 0;
}

int
on_collect(struct on *on)
{
	struct cmd_run *r = on->run;
	struct err *e = r->job.call->err;
	bool all = r->opt.job.verbose || r->opt.job.reporters.n > 0 ||
	    r->nunits > r->nsuites;
	size_t i;

	if (add_shards(on, e) == -1) {
		print_missing(on);
		return cmd_job_fail(&r->job, "results_failed");
	}
	if (merge_count(on->merge) != r->nunits) {
		err_set(e, ERR_SCHEMA, "%s: has the results of %zu runs, not "
		    "of %zu", on->dir, merge_count(on->merge), r->nunits);
		return cmd_job_fail(&r->job, "results_failed");
	}
	for (i = 0; i < r->nunits; i++)
		if (take_group(on, i, all, e) == -1)
			return cmd_job_fail(&r->job, "results_failed");
	on->spent = !on->kept;
	return CMD_OK;
}

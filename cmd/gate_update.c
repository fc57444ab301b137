/* SPDX-License-Identifier: ISC */
/*
 * waza gate --update-baseline: replaces the baseline by the current results if
 * there is evidence for it, so that one noisy run does not move it.
 *
 *	the gate failed, or the pass rate fell		kept
 *	the run is not complete, or has too few trials	kept, an error
 *	there is no baseline yet			written
 *	tasks were added or removed			written
 *	significantly better				written
 *	otherwise					kept
 */
#include "cmd/gate.h"

#include "base/os.h"
#include "json.h"
#include "report/compare.h"
#include "results/cache.h"
#include "results/outcome.h"
#include "results/result.h"
#include "suite/spec.h"
#include "waza.h"

/* Trials that are evidence: those with a verdict on the agent. */
static size_t
count_verdicts(const struct outcome_task *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->ntrials; i++)
		n += t->trials[i].status == RESULT_PASSED ||
		    t->trials[i].status == RESULT_FAILED;
	return n;
}

static const char *
remedy(struct arena *a, const struct outcome_task *t, int64_t min)
{
	if (t->skipped != NULL)
		return "run it without --stop";
	if (t->ntrials >= (size_t)min)
		return "repeat the others with waza run --retry-errors";
	return arena_fmt(a, "run it with --trials %lld", (long long)min).p;
}

/* Why the results are too little evidence; empty: they are enough. */
static struct str
find_lack(struct arena *a, const struct outcome *o, int64_t min)
{
	struct str status = json_str(o->root, "status");
	const struct outcome_task *t;
	size_t i, n;

	if (o->skipped != NULL || o->unlisted > 0 || (status.n > 0 &&
	    !str_is(status, "passed") && !str_is(status, "failed")))
		return arena_fmt(a, "the run in %s is not complete", o->path);
	for (i = 0; i < o->ntasks; i++) {
		t = &o->tasks[i];
		n = count_verdicts(t);
		if (t->quarantine.n > 0 || n >= (size_t)min)
			continue;
		return arena_fmt(a, "task \"%.*s\" has %zu trial%s with a "
		    "verdict, fewer than %lld (--min-trials): %s",
		    STRF(utf8_cut(t->id, 100)), n, n == 1 ? "" : "s",
		    (long long)min, remedy(a, t, min));
	}
	return STR("");
}

/* The file is new, or was read as results. */
static int
write_baseline(const struct outcome *now, const char *path, struct err *e)
{
	struct arena a = { 0 };
	struct str text;
	int r = -1;

	if (os_read_file(&a, now->path, OUTCOME_MAX, &text, e) == 0)
		r = cache_write_file(path, text, e);
	arena_free(&a);
	return r;
}

/* Whether the current results replace the baseline, and why. */
static bool
is_evidence(const struct compare_gate *g, struct str *why)
{
	if (g->status != COMPARE_OK)
		*why = STR("the gate failed");
	else if (g->common_passed[1] < g->common_passed[0])
		*why = STR("the pass rate fell, which the rules allow, but a "
		    "baseline does not move down");
	else if (g->nnew + g->nremoved > 0)
		*why = STR("tasks were added or removed");
	else if (g->of->pairs[0].verdict == COMPARE_BETTER)
		*why = STR("the results are significantly better");
	else
		*why = STR("the difference is not significant");
	return g->status == COMPARE_OK &&
	    g->common_passed[1] >= g->common_passed[0] &&
	    (g->nnew + g->nremoved > 0 ||
	    g->of->pairs[0].verdict == COMPARE_BETTER);
}

int
cmd_gate_update(struct arena *a, const struct outcome *now,
    const char *path, int64_t min, struct compare_gate *g, struct err *e)
{
	struct str why = STR("there was none"), lack = STR("");
	bool write = g == NULL || is_evidence(g, &why);

	if (g == NULL || g->status == COMPARE_OK)
		lack = find_lack(a, now, min);
	if (lack.n > 0)
		return err_set(e, ERR_SCHEMA, "the baseline %s is kept: %.*s",
		    path, STRF(lack));
	if (write && write_baseline(now, path, e) == -1)
		return -1;
	if (g != NULL) {
		g->updated = write;
		g->update = arena_fmt(a, "the baseline %s %s: %.*s", path,
		    write ? "was replaced" : "is kept", STRF(why));
	}
	return 0;
}

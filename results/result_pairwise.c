/* SPDX-License-Identifier: ISC */
/*
 * result_pairwise.c: a task compared with its baselines: the pass rates, and
 * where a judge compared trials the side that won more than half of them,
 * otherwise a tie.
 */
#include "results/result.h"

#include "json.h"
#include "results/result_internal.h"
#include "suite/spec.h"

enum { SIDES = 3, TIE = 2 };
static const char *const sides[SIDES] = { "skill", "baseline", "tie" };

struct pairs {
	size_t n, won[SIDES];
	const struct json *first[SIDES];	/* the first for each side */
};

/* True if the comparison is the first that its side won. */
static bool
count(struct pairs *p, const struct json *pair)
{
	struct str winner = json_str(pair, "winner");
	size_t i;

	for (i = 0; i < SIDES && !str_is(winner, sides[i]); i++)
		;
	if (i == SIDES)
		return false;
	p->n++;
	if (p->won[i]++ > 0)
		return false;
	p->first[i] = pair;
	return true;
}

static void
count_trial(struct pairs *p, struct arena *a, const struct result_run *run,
    const struct result_trial *t)
{
	struct arena_mark mark = arena_save(a);
	const struct json *v;
	bool keep = false;
	struct err e;

	v = json_getc(result_read(a, run, t, &e), "validations");
	for (v = json_first(v); v != NULL; v = v->next)
		keep |= count(p, json_getc(json_getc(v, "details"),
		    "pairwise"));
	if (!keep)
		arena_restore(a, mark);
}

static void
put(struct json_out *o, const struct pairs *p)
{
	static const char *const ours[] = { "winner", NULL };
	size_t i, winner = TIE;

	for (i = 0; i < TIE; i++)
		if (2 * p->won[i] > p->n)
			winner = i;
	json_open_member(o, "pairwise", '{');
	json_put_member_cstr(o, "winner", sides[winner]);
	result_put_others(o, p->first[winner], ours);
	for (i = 0; i < SIDES && p->n > 1; i++)
		json_put_member_int(o, sides[i], (int64_t)p->won[i]);
	json_close(o, '}');
}

/* Avoids reading all trials of a suite that does not compare. */
static bool
any_compares(const struct spec_graders *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (spec_grader_compares(&list->v[i]))
			return true;
	return false;
}

bool
result_any_compares(const struct result_run *run)
{
	size_t i;

	for (i = 0; i < run->suite->ntasks; i++)
		if (any_compares(&run->suite->tasks[i].def->graders))
			return true;
	return any_compares(&run->suite->graders);
}

static void
put_pairwise(struct json_out *o, const struct result_run *run,
    size_t task)
{
	const struct result_task *t = result_at(run, task, true);
	struct arena tmp = { 0 };
	struct pairs p = { 0 };
	size_t k;

	if (!any_compares(&run->suite->graders) &&
	    !any_compares(&t->spec->def->graders))
		return;
	for (k = 0; k < t->ntrials; k++)
		if (t->trials[k].status != RESULT_NONE)
			count_trial(&p, &tmp, run, &t->trials[k]);
	if (p.n > 0)
		put(o, &p);
	arena_free(&tmp);
}

static void
put_impact(struct json_out *o, const struct result_run *run, size_t i)
{
	const struct result_run *base = run->baseline;
	const struct result_task *t = result_at(run, i, true), *b = NULL;
	double with = t->stats->pass_rate, without, delta;

	if (base != NULL && i < base->ntasks)
		b = result_at(base, i, true);
	if (b != NULL && b->status >= RESULT_PASSED &&
	    str_eq(b->spec->id, t->spec->id))
		without = b->stats->pass_rate;
	else if (!result_num(json_getc(t->more->previous, "skill_impact"),
	    "pass_rate_baseline", &without))
		return;
	delta = with - without;
	json_open_member(o, "skill_impact", '{');
	json_put_member_double(o, "pass_rate_with_skills", with);
	json_put_member_double(o, "pass_rate_baseline", without);
	json_put_member_double(o, "delta", delta);
	json_put_member_double(o, "percent_change",
	    delta / (without > 0.01 ? without : 0.01) * 100);
	put_pairwise(o, run, i);
	json_close(o, '}');
}

/* The same for the skills of another revision. */
static void
put_ref_impact(struct json_out *o, const struct result_run *run, size_t i)
{
	const struct result_task *t = result_at(run, i, true), *b;

	if (run->ref == NULL || i >= run->ref->ntasks)
		return;
	b = result_at(run->ref, i, true);
	if (b->status < RESULT_PASSED || !str_eq(b->spec->id, t->spec->id))
		return;
	json_open_member(o, "ref_impact", '{');
	json_put_member_double(o, "pass_rate", t->stats->pass_rate);
	json_put_member_double(o, "pass_rate_ref", b->stats->pass_rate);
	json_put_member_double(o, "delta", t->stats->pass_rate -
	    b->stats->pass_rate);
	json_close(o, '}');
}

void
result_put_impact(struct json_out *o, const struct result_run *run, size_t i)
{
	put_impact(o, run, i);
	put_ref_impact(o, run, i);
}

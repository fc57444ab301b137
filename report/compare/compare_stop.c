/* SPDX-License-Identifier: ISC */
/*
 * Which tests of a comparison are valid, if runs end trials by a rule or have
 * different numbers of trials.
 *
 * The tests assume that, without a real difference, the two results of a task
 * could be exchanged.  That holds for two runs with the same rule and the same
 * number of planned trials, even if the rule biases their scores.  With fixed,
 * different numbers of trials it holds for the trials that both have: one trial
 * scores 1 more often than five of the same quality do.  A task that ends when
 * its verdict is decided has the verdict of all its trials, so it can be
 * exchanged with them, but its score cannot.  If the rule left out tasks of a
 * suite, the results so far decided which tasks have one: no test is valid.
 */
#include "report/compare.h"

#include <string.h>

#include "lib/stats.h"
#include "results/outcome.h"

/* The largest number of trials, if the file does not tell what was planned. */
static size_t
planned(const struct outcome *o)
{
	size_t i, n = o->trials;

	for (i = 0; o->trials == 0 && i < o->ntasks; i++)
		n = o->tasks[i].ntrials > n ? o->tasks[i].ntrials : n;
	return n;
}

static bool
is_same_rule(const struct outcome *a, const struct outcome *b)
{
	if (a->stop == NULL || b->stop == NULL)
		return a->stop == b->stop;
	return strcmp(a->stop, b->stop) == 0;
}

/* Whether its tasks have the verdicts of all planned trials. */
static bool
is_verdict_whole(const struct outcome *o)
{
	return o->stop == NULL || strcmp(o->stop, "decided") == 0;
}

static unsigned
tests_of(const struct outcome *a, const struct outcome *b)
{
	bool even = planned(a) == planned(b);

	if (is_same_rule(a, b))
		return even ? COMPARE_SCORES | COMPARE_FLIPS :
		    a->stop == NULL ? COMPARE_SCORES : 0;
	return even && is_verdict_whole(a) && is_verdict_whole(b) ?
	    COMPARE_FLIPS : 0;
}

/* Whether its rule ended the suite before all tasks had started. */
static bool
has_left_out(const struct outcome *o)
{
	size_t i;

	for (i = 0; o->stop != NULL && i < o->ntasks; i++)
		if (outcome_is_left_out(&o->tasks[i]))
			return true;
	return false;
}

static struct str
rule_of(struct arena *a, const struct outcome *o)
{
	return o->stop == NULL ? arena_fmt(a, "%zu trials", planned(o)) :
	    arena_fmt(a, "%.40s, at most %zu trials", o->stop, planned(o));
}

struct str
compare_stop(struct arena *a, const struct compare *c, struct compare_pair *p)
{
	const struct outcome *was = c->files[0], *is = c->files[p->file];
	bool first = has_left_out(was), second = has_left_out(is);
	struct str x, y;

	p->left_out = first || second;
	if (p->left_out)
		return arena_fmt(a, "the rule %.40s left out tasks in %s: "
		    "no test is valid", first ? was->stop : is->stop,
		    !second ? "1" : arena_fmt(a, "%s%zu", first ? "1 and " :
		    "", p->file + 1).p);
	p->tests = tests_of(was, is);
	if (p->tests == (COMPARE_SCORES | COMPARE_FLIPS))
		return STR("");
	x = rule_of(a, was);
	y = rule_of(a, is);
	return arena_fmt(a, "trials ended by different rules (%.*s in 1, %.*s "
	    "in %zu): %s", STRF(x), STRF(y), p->file + 1,
	    p->tests == COMPARE_SCORES ? "scores are compared over the trials "
	    "that both have, changes of status are not tested" :
	    p->tests == COMPARE_FLIPS ? "scores are not tested, only changes "
	    "of status" : "no test is valid");
}

/* The mean score of the first n trials that have one. */
static double
first_scores(struct arena *a, const struct outcome_task *t, size_t n)
{
	struct arena_mark mark = arena_save(a);
	double *x = NEW_N(a, double, n), mean;
	size_t i, k = 0;

	for (i = 0; i < t->ntrials && k < n; i++)
		if (result_is_scored(t->trials[i].status))
			x[k++] = t->trials[i].score;
	mean = stats_mean(x, k);
	arena_restore(a, mark);
	return mean;
}

static size_t
scored(const struct outcome_task *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->ntrials; i++)
		n += result_is_scored(t->trials[i].status);
	return n;
}

void
compare_scores(struct arena *a, const struct compare_pair *p,
    const struct outcome_task *was, const struct outcome_task *is,
    double score[2])
{
	size_t n = scored(was), m = scored(is);

	score[0] = was->score;
	score[1] = is->score;
	if (p->tests != COMPARE_SCORES || n == m || n == 0 || m == 0)
		return;
	n = n < m ? n : m;
	score[0] = first_scores(a, was, n);
	score[1] = first_scores(a, is, n);
}

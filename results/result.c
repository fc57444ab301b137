/* SPDX-License-Identifier: ISC */
/*
 * result.c: the numbers of a run: trials, tasks, the whole.
 *
 * Each level is computed from the one below and can be computed again at any
 * time.  Only usage is a running sum, since trials in memory do not hold it.
 * A cancelled trial is not the agent's fault: it counts against the share of
 * passes that a task needs, but is left out of all means.  A skipped trial
 * tells nothing about the agent: it is left out of that share, too.
 *
 * Invariant: trial.status != RESULT_NONE for exactly task.done trials.
 */
#include "results/result.h"

#include <assert.h>
#include <string.h>

#include "json.h"
#include "lib/stats.h"
#include "results/outcome.h"
#include "results/result_internal.h"
#include "results/suspect/suspect.h"
#include "results/verdict.h"
#include "suite/spec.h"

/* Of the bootstrap; any constant will do. */
#define SEED UINT64_C(0x77617A61)	/* the default */

/* Tolerated rounding error of a rate that just reaches its threshold. */
#define EPSILON 1e-9

static const struct {
	const char *word, *class;
} words[] = {
	[RESULT_NONE] = { "skipped", "" },
	[RESULT_SKIPPED] = { "skipped", "" },
	[RESULT_PASSED] = { "passed", "" },
	[RESULT_FAILED] = { "failed", "" },
	[RESULT_AGENT_ERROR] = { "error", "agent_error" },
	[RESULT_TIMEOUT] = { "error", "timeout" },
	[RESULT_GRADER_ERROR] = { "error", "grader_error" },
	[RESULT_JUDGE_ERROR] = { "error", "judge_error" },
	[RESULT_TAINTED] = { "error", "tainted" },
	[RESULT_INFRA] = { "error", "infrastructure" },
	[RESULT_CANCELLED] = { "error", "cancelled" },
};

typedef char words_whole[COUNTOF(words) == RESULT__MAX ? 1 : -1];

const char *
result_word(enum result_status s)
{
	return words[s].word;
}

const char *
result_class(enum result_status s)
{
	return words[s].class;
}

enum result_status
result_of_class(struct str class)
{
	int i;

	for (i = RESULT_FAILED + 1; i < RESULT__MAX; i++)
		if (str_is(class, words[i].class))
			return (enum result_status)i;
	return RESULT_NONE;
}

bool
result_is_error(enum result_status s)
{
	return s > RESULT_FAILED;
}

bool
result_is_scored(enum result_status s)
{
	return s >= RESULT_PASSED && s != RESULT_CANCELLED;
}

const struct result_stats result_no_stats;
const struct result_more result_no_more;

struct result_more *
result_own_more(struct arena *a, struct result_task *t)
{
	struct result_more *m = NEW(a, struct result_more);

	if (t->more != NULL)
		*m = *t->more;
	t->more = m;
	return m;
}

/* What the caller of result_init() has set. */
static const struct result_more *
init_more(struct result_run *run, const struct result_task *t)
{
	struct result_more *m;

	if (t->more == NULL || (t->more->numbers == NULL &&
	    t->more->selected.n == 0))
		return &result_no_more;
	m = NEW(run->arena, struct result_more);
	m->numbers = t->more->numbers;
	m->selected = t->more->selected;
	return m;
}

void
result_init(struct result_run *run)
{
	struct result_task *t;
	struct result_trial *trial;
	size_t i, k;

	if (run->tasks == NULL) {
		run->ntasks = run->suite->ntasks;
		run->tasks = NEW_N(run->arena, struct result_task,
		    run->ntasks);
		for (i = 0; i < run->ntasks; i++)
			run->tasks[i].spec = &run->suite->tasks[i];
	}
	trial = NEW_N(run->arena, struct result_trial,
	    mul_max(run->ntasks, run->trials));
	for (i = 0; i < run->ntasks; i++) {
		t = &run->tasks[i];
		*t = (struct result_task){ .spec = t->spec, .trials = trial,
		    .stats = &result_no_stats, .more = init_more(run, t),
		    .index = t->index, .ntrials = t->more != NULL &&
			t->more->numbers != NULL ? t->ntrials :
			(uint32_t)run->trials };
		for (k = 0; k < run->trials; k++)
			trial++->off = -1;
	}
	run->journal = (struct result_journal){ .fd = -1,
		.line = { .max = RESULT_LINE_MAX } };
	run->scratch = (struct arena){ NULL, 0 };
	/* an arena that is restored to a mark keeps its first chunk */
	(void)NEW(&run->scratch, double);
	run->memo = NULL;
	run->usage = run->saved = run->judge_usage =
	    (struct answer_usage){ 0 };
	result_sum(run);
}

/* Sets the mean and the weighted mean of the scores of the verdicts. */
static void
score(struct arena *a, const struct result_record *r, struct result_trial *t)
{
	double *x, *w;
	size_t i, n = 0;

	t->score = t->weighted = 0;
	if (r->nverdicts == 0 || r->verdicts == NULL)
		return;
	x = NEW_N(a, double, r->nverdicts);
	w = NEW_N(a, double, r->nverdicts);
	for (i = 0; i < r->nverdicts; i++) {
		if (r->verdicts[i].advisory || r->verdicts[i].skipped)
			continue;
		x[n] = r->verdicts[i].score;
		w[n++] = r->verdicts[i].weight;
	}
	t->score = stats_mean(x, n);
	t->weighted = stats_weighted(x, w, n);
}

/* The fields that restore() reads, then the trial's object. */
static int
write_line(struct result_run *run, const struct result_record *r,
    struct result_trial *t, struct err *e)
{
	struct buf *b = result_line_begin(run);
	struct suspect_about about = { .suite = run->suite,
		.task = run->tasks[r->task].spec, .executor = run->executor,
		.wrong_test = run->tasks[r->task].more->wrong_test,
		.wrong_at = run->tasks[r->task].more->wrong_at,
		.no_skills = run->no_skills };

	result_line_name(b, run, r->task, r->trial);
	result_line_numbers(b, t);
	result_put_trial(b, &run->scratch, r, t, &about);
	return result_line_end(run, t, e);
}

int
result_add(struct result_run *run, const struct result_record *r,
    struct err *e)
{
	struct result_task *task = &run->tasks[r->task];
	struct result_trial t = { .status = r->status,
	    .attempts = r->attempts, .duration_ms = r->duration_ms,
	    .off = -1 };
	struct arena_mark mark = arena_save(&run->scratch);
	struct answer_usage spent;
	int rc = 0;

	assert(r->task < run->ntasks && r->status != RESULT_NONE);
	assert(r->trial < task->ntrials);
	score(&run->scratch, r, &t);
	result_set_used(&t, r);
	if (run->journal.fd != -1)
		rc = write_line(run, r, &t, e);
	arena_restore(&run->scratch, mark);
	if (rc == -1)
		return -1;
	result_replace(run, &task->trials[r->trial], &t, &task->done);
	spent = result_spent(r);
	if (spent.answers > 0)
		answer_count_usage(t.used.free ? &run->saved : &run->usage,
		    &spent, 1);
	if (r->judge_usage.answers > 0)
		answer_count_usage(&run->judge_usage, &r->judge_usage, 1);
	return 0;
}

uint32_t
result_number(const struct result_task *t, size_t trial)
{
	return t->more->numbers != NULL ? t->more->numbers[trial] :
	    (uint32_t)trial + 1;
}

void
result_forget(struct result_run *run, size_t task, size_t trial)
{
	struct result_task *t = &run->tasks[task];

	result_replace(run, &t->trials[trial],
	    &(struct result_trial){ .off = -1 }, &t->done);
	t->status = RESULT_NONE;
}

static uint64_t
seed_of(const struct result_run *run)
{
	return run->seed != 0 ? (uint64_t)run->seed : SEED;
}

/* n trials, c of which passed; their scores x and weighted scores w. */
static void
set_stats(struct result_run *run, struct result_stats *s, const double *x,
    const double *w, size_t n, size_t c)
{
	size_t i;

	s->pass_rate = stats_pass_at(n, c, 1);
	(run->stop != NULL ? stats_sequence : stats_wilson)(c, n,
	    &s->pass_lo, &s->pass_hi);
	s->avg = stats_mean(x, n);
	s->weighted = stats_mean(w, n);
	s->std_dev = stats_std_dev(x, n);
	s->min = s->max = x[0];
	for (i = 1; i < n; i++) {
		s->min = x[i] < s->min ? x[i] : s->min;
		s->max = x[i] > s->max ? x[i] : s->max;
	}
	if (run->memo == NULL && n > 1)
		run->memo = NEW(run->arena, struct stats_memo);
	s->ci_lo = s->ci_hi = s->weighted;
	if (run->stop == NULL)
		stats_bootstrap_memo(run->memo, w, n, seed_of(run), &s->ci_lo,
		    &s->ci_hi);
	s->pass_at_k = stats_pass_at(n, c, n);
	s->pass_hat_k = stats_pass_hat(n, c, n);
	s->flaky = c > 0 && c < n;
}

static void
count_stats(struct result_run *run, const struct result_task *t,
    struct result_stats *out)
{
	struct arena_mark mark = arena_save(&run->scratch);
	double *x = NEW_N(&run->scratch, double, t->ntrials);
	double *w = NEW_N(&run->scratch, double, t->ntrials);
	const struct result_trial *r;
	size_t i, n = 0, passed = 0;
	int64_t ms = 0;

	for (i = 0; i < t->ntrials; i++) {
		r = &t->trials[i];
		if (!result_is_scored(r->status))
			continue;
		x[n] = r->score;
		w[n++] = r->weighted;
		ms += r->duration_ms;
		passed += r->status == RESULT_PASSED;
	}
	memset(out, 0, sizeof(*out));	/* with its padding: see share() */
	if (n > 0) {
		set_stats(run, out, x, w, n, passed);
		out->avg_ms = ms / (int64_t)n;
	}
	arena_restore(&run->scratch, mark);
}

static enum result_status
task_status(const struct result_run *run, const struct result_task *t)
{
	enum result_status s, error = RESULT_NONE;
	size_t i, passed = 0, failed = 0, skipped = 0;

	for (i = 0; i < t->ntrials; i++) {
		s = t->trials[i].status;
		skipped += s == RESULT_SKIPPED;
		passed += s == RESULT_PASSED;
		failed += s == RESULT_FAILED;
		if (result_is_error(s) && error == RESULT_NONE)
			error = s;
	}
	if (t->more->error.n > 0 && error == RESULT_NONE)
		error = RESULT_INFRA;
	if (passed + failed == 0)
		return error == RESULT_NONE && skipped > 0 ? RESULT_SKIPPED :
		    error;
	if (t->more->error.n == 0 && (double)passed >=
	    run->suite->config.task_pass_threshold *
	    (double)(t->ntrials - skipped) - EPSILON)
		return RESULT_PASSED;
	if (failed > 0)
		return RESULT_FAILED;
	/* too few passed, none failed, no error: the others did not run */
	return error != RESULT_NONE ? error : RESULT_CANCELLED;
}

const struct result_task *
result_at(const struct result_run *run, size_t i, bool names)
{
	return run->source == NULL ? &run->tasks[i] :
	    run->source->get(run->source->ctx, i, names);
}

/* Equal statistics that are already in memory, or a copy. */
static const struct result_stats *
share(struct result_run *run, const struct result_stats *s)
{
	uint64_t hash = str_hash((struct str){ (const char *)s, sizeof(*s) });
	const struct result_stats **slot = &run->shared[hash %
	    COUNTOF(run->shared)];
	struct result_stats *new;

	if (*slot == NULL || memcmp(*slot, s, sizeof(*s)) != 0) {
		new = NEW(run->arena, struct result_stats);
		memcpy(new, s, sizeof(*s));
		*slot = new;
	}
	return *slot;
}

void
result_end_task(struct result_run *run, size_t task)
{
	struct result_stats s;

	result_finish_task(run, &run->tasks[task], &s);
	run->tasks[task].stats = share(run, &s);
}

void
result_finish_task(struct result_run *run, struct result_task *t,
    struct result_stats *stats)
{
	t->status = t->more->partial ? RESULT_NONE : task_status(run, t);
	count_stats(run, t, stats);
	t->stats = stats;
}

/* Whether a task ended, but its result does not count. */
static bool
is_set_aside(const struct result_task *t)
{
	return t->spec->def->quarantined && t->status != RESULT_NONE &&
	    t->status != RESULT_CANCELLED;
}

static void
count_task(struct result_totals *sum, enum result_status s)
{
	if (s == RESULT_PASSED)
		sum->passed++;
	else if (s == RESULT_FAILED)
		sum->failed++;
	else if (result_is_scored(s))
		sum->errors++;
	else
		sum->skipped++;
	sum->not_run += s == RESULT_NONE || s == RESULT_CANCELLED;
	sum->finished += s != RESULT_NONE;
}

void
result_sum(struct result_run *run)
{
	struct arena_mark mark = arena_save(&run->scratch);
	double *x = NEW_N(&run->scratch, double, run->ntasks);
	double *w = x;		/* its own if they differ */
	struct result_totals *sum = &run->sum;
	const struct result_task *t;
	size_t i, n = 0;

	*sum = (struct result_totals){ 0 };
	for (i = 0; i < run->ntasks; i++) {
		t = result_at(run, i, false);
		if (is_set_aside(t)) {
			sum->quarantined++;
			sum->finished++;
			continue;
		}
		count_task(sum, t->status);
		sum->decided |= t->status == RESULT_SKIPPED &&
		    t->more->skipped != NULL;
		if (t->status < RESULT_PASSED)
			continue;
		x[n] = t->stats->avg;
		if (w == x && (t->stats->weighted < x[n] ||
		    t->stats->weighted > x[n]))
			w = memcpy(NEW_N(&run->scratch, double, run->ntasks), x,
			    n * sizeof(*x));
		w[n] = t->stats->weighted;
		sum->min = n == 0 || x[n] < sum->min ? x[n] : sum->min;
		sum->max = n == 0 || x[n] > sum->max ? x[n] : sum->max;
		n++;
	}
	sum->rate = stats_pass_at(n, sum->passed, 1);
	(sum->decided ? stats_sequence : stats_wilson)(sum->passed, n,
	    &sum->rate_lo, &sum->rate_hi);
	sum->score = stats_mean(x, n);
	sum->weighted = stats_mean(w, n);
	sum->std_dev = stats_std_dev(x, n);
	sum->ci_lo = sum->ci_hi = sum->weighted;
	if (run->trials > 1 && run->stop == NULL)
		stats_bootstrap(w, n, seed_of(run), &sum->ci_lo,
		    &sum->ci_hi);
	arena_restore(&run->scratch, mark);
}

/* fail_fast leaves a task that did not pass, and no task half done. */
bool
result_interrupted(const struct result_run *run)
{
	size_t i;
	bool bad = false;

	if (run->complete || run->cancelled || run->aborted ||
	    run->skipped != NULL)
		return !run->complete;
	for (i = 0; i < run->ntasks; i++) {
		bad = bad || (run->tasks[i].status > RESULT_PASSED &&
		    !run->tasks[i].spec->def->quarantined);
		if (run->tasks[i].status == RESULT_NONE &&
		    run->tasks[i].done > 0)
			return true;
	}
	return !bad;
}

bool
result_metric(const struct result_run *run, const struct spec_metric *m,
    double *value)
{
	struct result_accuracy a;

	*value = run->sum.rate;
	if (!m->enabled || str_is(m->name, "task_completion"))
		return m->enabled;
	if (!str_is(m->name, "trigger_accuracy"))
		return false;
	if (run->stored != NULL)	/* the tests did not run again */
		return result_num(json_getc(run->stored->root,
		    "trigger_metrics"), "accuracy", value);
	if (run->triggers.n == 0 || run->triggers.done < run->triggers.n)
		return false;
	result_accuracy(run, &a);
	*value = a.accuracy;
	return a.skipped < run->triggers.n;
}

bool
result_misses(const struct result_run *run, const struct spec_metric *m)
{
	double value;

	return result_metric(run, m, &value) &&
	    value < m->threshold - EPSILON;
}

const struct spec_metric *
result_missed(const struct result_run *run)
{
	const struct spec_metric *m = run->suite->metrics.v;
	size_t i;

	for (i = 0; i < run->suite->metrics.n; i++)
		if (result_misses(run, &m[i]))
			return &m[i];
	return NULL;
}

bool
result_ok(const struct result_run *run)
{
	const struct result_totals *sum = &run->sum;

	if (run->ntasks == 0 && run->triggers.n > 0)	/* they alone */
		return run->complete && result_missed(run) == NULL;
	return run->complete && sum->not_run == 0 && run->vacuous == 0 &&
	    sum->passed + sum->failed + sum->errors > 0 &&
	    sum->rate >= run->suite->config.pass_threshold - EPSILON &&
	    result_missed(run) == NULL;
}

bool
result_is_skipped(const struct result_run *run)
{
	return run->skipped != NULL || (run->baseline != NULL &&
	    run->baseline->skipped != NULL) || (run->ref != NULL &&
	    run->ref->skipped != NULL);
}

bool
result_only_answers(const struct result_run *run)
{
	return run->ungraded && run->complete && run->sum.not_run == 0 &&
	    run->sum.errors == 0;
}

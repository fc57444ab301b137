/* SPDX-License-Identifier: ISC */
/*
 * Budgets: limits of the money, the tokens and the time that trials take.
 *
 * A trial counts in up to three budgets: that of the call, of its suite and of
 * its task.  A trial spends what its agent reports for all attempts, and what
 * its judges report; cached and replayed answers are free.  It is expected to
 * spend the mean of the trials before it, and it starts only if that, and as
 * much for each trial that runs, is left.  Until an amount is known, one trial
 * runs at a time.  A budget ends when nothing runs that could turn out cheaper
 * than expected; time ends at once.
 *
 * An amount that is not known counts as the mean.  After an answer without an
 * error it shows that the agent or a judge does not report it: then nothing
 * else starts, because the budget could not be kept.
 */
#include "run/run_internal.h"

#include "json.h"

enum { UNKNOWN_MAX = 3 };	/* errors without a known amount */
#define EPSILON 1e-9		/* of a number of trials */

static const char *const units[] = {
	[RUN_USD] = "dollars", [RUN_TOKENS] = "tokens",
	[RUN_SECONDS] = "seconds"
};

static struct run_budget *
suite_budget(struct run *run)
{
	return run->opts.suite_budget != NULL ? run->opts.suite_budget :
	    &run->budget;
}

static struct run_budget *
task_budget(const struct run *run, size_t i)
{
	const struct run_rare *rare = run_rare(run, i);

	return rare != NULL ? rare->budget : NULL;
}

/* The i-th budget of the trials of a task, or NULL. */
static struct run_budget *
budget_at(struct run *run, size_t task, int i)
{
	return i == 0 ? run->opts.budget : i == 1 ? suite_budget(run) :
	    task < run->results.ntasks ? task_budget(run, task) : NULL;
}

/*
 * Limits.
 */
static void
lower(double *limit, double by)
{
	if (by > 0 && (*limit <= 0 || by < *limit))
		*limit = by;
}

static void
add_limits(struct run_budget *b, const struct spec_budget *by)
{
	lower(&b->v[RUN_USD].limit, by->usd);
	lower(&b->v[RUN_TOKENS].limit, (double)by->tokens);
	lower(&b->v[RUN_SECONDS].limit, by->seconds);
}

static bool
is_limited(const struct run_budget *b, enum run_budget_kind k)
{
	return b != NULL && b->v[k].limit > 0;
}

/* Whether some budget of the run limits it. */
static bool
limits(struct run *run, enum run_budget_kind k)
{
	size_t i;

	for (i = 0; i < run->results.ntasks; i++)
		if (is_limited(task_budget(run, i), k))
			return true;
	return is_limited(run->opts.budget, k) ||
	    is_limited(suite_budget(run), k);
}

static int
check_metered(struct run *run, struct err *e)
{
	const struct agent_kind *k = run->agent->kind;
	bool usd = limits(run, RUN_USD);

	if (run->opts.allow_unmetered || (!usd && !limits(run, RUN_TOKENS)))
		return 0;
	if (k->reports_calls != NULL && !k->reports_calls(run->suite))
		return err_set(e, ERR_SCHEMA, "executor \"%s\" reports neither "
		    "tokens nor cost here: the budget cannot be kept (set "
		    "output_format, or use --allow-unmetered)", k->name);
	if (usd && k->needs == AGENT_NEEDS_SERVER &&
	    run->results.model.n > 0 &&
	    json_get(run->suite->prices, run->results.model) == NULL)
		return err_set(e, ERR_SCHEMA, "a budget in dollars needs the "
		    "price of model \"%.*s\": add it to the settings' prices, "
		    "or use --allow-unmetered",
		    STRF(utf8_cut(run->results.model, 80)));
	return 0;
}

int
run_budget_open(struct run *run, struct err *e)
{
	struct run_budget *b = suite_budget(run);
	struct spec_budget own = { 0 };
	const struct spec_budget *t;
	size_t i;

	if (run->opts.stored != NULL)
		return 0;
	b->of = "suite";
	add_limits(b, &run->suite->config.budget);
	agent_limits(run->agent, &own);
	add_limits(b, &own);
	for (i = 0; i < run->results.ntasks; i++) {
		t = &run->results.tasks[i].spec->def->budget;
		if (!(t->usd > 0 || t->seconds > 0 || t->tokens > 0))
			continue;
		b = NEW(&run->arena, struct run_budget);
		b->of = "task";
		add_limits(b, t);
		run_need_rare(run, i)->budget = b;
	}
	return check_metered(run, e);
}

/* The settings of a judge limit the suite, but do not demand a meter. */
void
run_budget_judges(struct run *run)
{
	struct run_budget *b = suite_budget(run);
	struct spec_budget own = { 0 };

	if (run->opts.stored != NULL)
		return;
	judges_limits(&run->judges, &own);
	b->v[RUN_USD].lax |= !is_limited(b, RUN_USD);
	b->v[RUN_TOKENS].lax |= !is_limited(b, RUN_TOKENS);
	add_limits(b, &own);
}

/*
 * Amounts that are left.
 */
static double
spent(const struct run *run, const struct run_budget *b,
    enum run_budget_kind k)
{
	if (k != RUN_SECONDS)
		return b->v[k].spent;
	return b->began ? (double)(loop_clock(run->loop) - b->since) / 1000 :
	    0;
}

static double
mean(const struct run_purse *p)
{
	return p->n > 0 ? p->known / (double)p->n : 0;
}

/* How many trials may start now. */
static size_t
afford(const struct run *run, const struct run_budget *b,
    enum run_budget_kind k)
{
	const struct run_purse *p = &b->v[k];
	double each = mean(p), left = p->limit - spent(run, b, k), n;

	if (!(p->limit > 0))
		return SIZE_MAX;
	if (left <= 0)
		return 0;
	if (k == RUN_SECONDS)
		return each > left ? 0 : SIZE_MAX;
	if (p->n == 0 && p->unknown == 0)
		return b->running == 0;
	if (!(each > 0))
		return SIZE_MAX;
	n = left / each - (double)b->running + EPSILON;
	return n < 1 ? 0 : n > 1e6 ? 1000000 : (size_t)n;
}

static size_t
room(const struct run *run, const struct run_budget *b)
{
	size_t n = SIZE_MAX, m;
	int k;

	for (k = 0; b != NULL && k < RUN_BUDGET__MAX; k++) {
		m = afford(run, b, (enum run_budget_kind)k);
		n = m < n ? m : n;
	}
	return n;
}

size_t
run_budget_room(const struct run *run)
{
	const struct run_budget *own = run->opts.suite_budget != NULL ?
	    run->opts.suite_budget : &run->budget;
	size_t n = room(run, own), all = room(run, run->opts.budget);

	return n < all ? n : all;
}

static void
put_amount(struct buf *b, double x, enum run_budget_kind k)
{
	if (k == RUN_TOKENS || x >= 1000)
		buf_fmt(b, "%.0f", x);
	else
		buf_fmt(b, "%.4g", x);
}

/* Why no more trials start, in the run's arena; NULL: they may. */
static const char *
reason(struct run *run, const struct run_budget *b)
{
	struct buf why = { 0 };
	enum run_budget_kind k;
	int i;

	for (i = 0; b != NULL && i < RUN_BUDGET__MAX; i++) {
		k = (enum run_budget_kind)i;
		if ((b->running > 0 && k != RUN_SECONDS) ||
		    afford(run, b, k) > 0)
			continue;
		buf_puts(&why, "budget: ");
		put_amount(&why, spent(run, b, k), k);
		buf_puts(&why, " of ");
		put_amount(&why, b->v[k].limit, k);
		buf_fmt(&why, " %s of the %s spent", units[k], b->of);
		if (b->v[k].n > 0) {
			buf_puts(&why, ", a trial takes ");
			put_amount(&why, mean(&b->v[k]), k);
			buf_puts(&why, " on average");
		}
		return arena_take(&run->arena, &why).p;
	}
	return NULL;
}

bool
run_budget_ended(struct run *run)
{
	if (run->broke == NULL)
		run->broke = reason(run, run->opts.budget);
	if (run->broke == NULL)
		run->broke = reason(run, suite_budget(run));
	return run->broke != NULL;
}

enum run_may
run_budget_allows(struct run *run, size_t task, const char **why)
{
	const struct run_budget *b = task_budget(run, task);

	*why = reason(run, b);
	return *why != NULL ? RUN_MUST_SKIP : room(run, b) == 0 ?
	    RUN_MUST_WAIT : RUN_MAY_START;
}

/*
 * Amounts that were spent.
 */
static void
begin(struct run *run, struct run_budget *b)
{
	if (b == NULL || b->began)
		return;
	b->began = true;
	b->since = loop_clock(run->loop);
}

void
run_budget_take(struct run *run, size_t task, int running)
{
	struct run_budget *b;
	int i;

	for (i = 0; i < 3; i++) {
		b = budget_at(run, task, i);
		begin(run, b);
		if (b != NULL)
			b->running += (size_t)running;
	}
}

struct amount {
	double x;
	bool known;
};

static void
add(struct run_purse *p, const struct amount *a)
{
	double least = mean(p);

	p->spent += a->known || a->x > least ? a->x : least;
	p->unknown += !a->known;
	if (a->known) {
		p->known += a->x;
		p->n++;
	}
}

/* False: nothing was spent, because the answer is not new. */
static bool
count(struct run *run, size_t task, const struct result_trial *t,
    int64_t took_ms, struct amount v[RUN_BUDGET__MAX])
{
	const struct result_used *u = &t->used;
	bool paid = !u->free && !run->agent->kind->replays;
	struct run_budget *b;
	int i, k;

	v[RUN_USD] = (struct amount){ (paid ? u->cost : 0) + u->judge_cost,
		(!paid || u->cost_known) && u->judge_cost_known };
	v[RUN_TOKENS] = (struct amount){ (paid ? (double)u->input_tokens +
	    (double)u->output_tokens : 0) + (double)u->judge_tokens,
		(!paid || u->tokens_known) && u->judge_tokens_known };
	v[RUN_SECONDS] = (struct amount){ (double)took_ms / 1000, true };
	if (t->status == RESULT_INFRA || (!paid && !(v[RUN_USD].x > 0) &&
	    !(v[RUN_TOKENS].x > 0)))
		return false;
	for (i = 0; i < 3; i++) {
		b = budget_at(run, task, i);
		for (k = 0; b != NULL && k < RUN_BUDGET__MAX; k++)
			add(&b->v[k], &v[k]);
	}
	return true;
}

/* Nothing else starts; what runs is completed. */
static void
fail_unmetered(struct run *run, enum run_budget_kind k, bool has_tokens)
{
	struct err e;

	if (run->broke != NULL || run->err.code != ERR_NONE)
		return;
	if (k == RUN_USD && has_tokens)
		err_set(&e, ERR_SCHEMA, "the cost of a trial is not known: the "
		    "budget in dollars cannot be kept (add the price of model "
		    "\"%.*s\" to the settings' prices, or use "
		    "--allow-unmetered)",
		    STRF(utf8_cut(run->results.model, 80)));
	else
		err_set(&e, ERR_SCHEMA, "executor \"%s\" or a judge does not "
		    "report its %s: the budget cannot be kept "
		    "(--allow-unmetered continues without it)",
		    run->agent->kind->name,
		    k == RUN_USD ? "cost" : "tokens");
	run->err = e;
	run->broke = arena_fmt(&run->arena, "budget: %s", e.msg).p;
}

void
run_budget_charge(struct run *run, size_t task, const struct result_trial *t,
    int64_t took_ms)
{
	struct amount v[RUN_BUDGET__MAX];
	const struct run_budget *b;
	const struct run_purse *p;
	int i, k;

	if (run->opts.stored != NULL || t->status == RESULT_NONE ||
	    !count(run, task, t, took_ms, v) || run->opts.allow_unmetered)
		return;
	for (i = 0; i < 3; i++) {
		b = budget_at(run, task, i);
		for (k = 0; b != NULL && k < RUN_SECONDS; k++) {
			p = &b->v[k];
			if (v[k].known || !(p->limit > 0) || p->lax)
				continue;
			if (!result_is_error(t->status) || (p->n == 0 &&
			    p->unknown >= UNKNOWN_MAX))
				fail_unmetered(run, (enum run_budget_kind)k,
				    v[RUN_TOKENS].known);
		}
	}
}

void
run_budget_start(struct run *run)
{
	const struct result_run *r = &run->results;
	const struct result_task *t;
	struct amount v[RUN_BUDGET__MAX];
	size_t i, k;

	if (run->opts.stored != NULL)
		return;
	begin(run, run->opts.budget);
	begin(run, suite_budget(run));
	for (i = 0; i < r->ntasks; i++) {
		t = &r->tasks[i];
		for (k = 0; k < t->ntrials; k++)
			if (t->trials[k].status != RESULT_NONE)
				(void)count(run, i, &t->trials[k],
				    t->trials[k].duration_ms, v);
	}
	for (i = 0; i < r->triggers.n; i++)
		if (r->triggers.v[i].status != RESULT_NONE)
			(void)count(run, r->ntasks, &r->triggers.v[i],
			    r->triggers.v[i].duration_ms, v);
}

/* SPDX-License-Identifier: ISC */
/*
 * result_used.c: tokens, cost and tool calls of trials, tasks and runs.
 *
 * A run pays for its agents and, separately, for its judges.  An answer from
 * the cache or from a recording was paid for by an earlier run: it counts as
 * saved, and its trial still tells what it had cost.
 */
#include "results/result.h"

#include "json.h"
#include "results/result_internal.h"

static bool
is_free(const struct json *trial)
{
	return result_true(trial, "cached") || result_true(trial, "replayed");
}

static void
count(struct result_run *run, const struct json *trial, bool cached, int times)
{
	const struct json *asked = json_getc(trial, "judge_usage");
	struct answer_usage usage = answer_read_spent(trial), judges;

	answer_count_usage(cached || is_free(trial) ? &run->saved :
	    &run->usage, &usage, times);
	if (!json_is_set(asked))
		return;
	judges = answer_read_counts(asked);
	/* the verdict of a cached trial is cached, too */
	answer_count_usage(cached ? &run->saved : &run->judge_usage, &judges,
	    times);
}

struct answer_usage
result_spent(const struct result_record *r)
{
	const struct json *before = json_getc(r->previous, "earlier_usage");
	struct answer_usage sum = { 0 }, earlier = r->earlier;

	if (json_is_set(before))
		earlier = answer_read_counts(before);
	if (r->answer != NULL)
		answer_add_usage(&sum, &r->answer->usage);
	if (json_is_set(before) || earlier.answers > 0)
		answer_add_usage(&sum, &earlier);
	return sum;
}

void
result_count(struct result_run *run, const struct json *trial, int times)
{
	count(run, trial, result_true(trial, "cached"), times);
}

void
result_count_cached(struct result_run *run, const struct json *trial)
{
	count(run, trial, true, 1);
}

static void
set_usage(struct result_used *out, const struct answer_usage *u)
{
	out->input_tokens = u->input_tokens;
	out->output_tokens = u->output_tokens;
	out->cost = u->cost;
	out->tokens_known = u->known;
	out->cost_known = u->cost_known || u->cost > 0;
}

/* Judges of a cached trial are not asked again. */
static void
set_judges(struct result_used *out, const struct answer_usage *u, bool asked)
{
	out->judge_tokens = asked ? add_near(u->input_tokens,
	    u->output_tokens) : 0;
	out->judge_cost = asked ? u->cost : 0;
	out->judge_tokens_known = !asked || u->known;
	out->judge_cost_known = !asked || u->cost_known || u->cost > 0;
}

void
result_read_used(struct result_trial *t, const struct json *trial)
{
	struct answer_usage u = answer_read_spent(trial);
	const struct json *v = json_getc(trial, "judge_usage");
	struct answer_usage judges = answer_read_counts(v);
	int64_t n = 0;

	set_usage(&t->used, &u);
	set_judges(&t->used, &judges, json_is_set(v) &&
	    !result_true(trial, "cached"));
	t->used.free = is_free(trial);
	t->used.refused = result_true(trial, "refused");
	t->used.calls_known = result_int(json_getc(trial, "session_digest"),
	    "tool_call_count", &n) && n >= 0 && n <= UINT32_MAX;
	t->used.calls = t->used.calls_known ? (uint32_t)n : 0;
	for (v = json_first(json_getc(trial, "unknown")); v != NULL;
	    v = v->next)
		if (v->type == JSON_STRING && str_is(json_text(v),
		    "tool_calls"))
			t->used.calls_known = false;
}

void
result_set_used(struct result_trial *t, const struct result_record *r)
{
	const struct answer *ans = r->answer;
	struct answer_usage spent = result_spent(r);

	t->used.free = r->replayed || is_free(r->previous);
	set_usage(&t->used, &spent);
	set_judges(&t->used, &r->judge_usage, r->judge_usage.answers > 0);
	if (ans == NULL)
		return;
	t->used.refused = ans->refused;
	t->used.calls = (uint32_t)ans->ncalls;
	t->used.calls_known = !ans->no_calls;
}

struct result_used
result_task_used(const struct result_task *t)
{
	struct result_used sum = { .tokens_known = true, .cost_known = true,
		.calls_known = true, .free = true };
	const struct result_used *u;
	size_t i, n = 0;

	for (i = 0; i < t->ntrials; i++) {
		u = &t->trials[i].used;
		if (t->trials[i].status == RESULT_NONE)
			continue;
		n++;
		sum.input_tokens = add_near(sum.input_tokens,
		    u->input_tokens);
		sum.output_tokens = add_near(sum.output_tokens,
		    u->output_tokens);
		sum.cost += u->cost;
		sum.calls += u->calls;
		sum.tokens_known &= u->tokens_known;
		sum.cost_known &= u->cost_known;
		sum.calls_known &= u->calls_known;
		sum.free &= u->free;
		sum.refused |= u->refused;
	}
	return n > 0 ? sum : (struct result_used){ 0 };
}

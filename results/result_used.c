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

/* Usage of judges is stored like that of agents, under another name. */
static struct answer_usage
read_judges(const struct json *trial)
{
	const struct json *v = json_getc(trial, "judge_usage");
	struct answer_usage u = { 0 };

	if (v == NULL || v->type != JSON_OBJECT)
		return u;
	u.known = true;
	(void)result_int(v, "turns", &u.turns);
	(void)result_int(v, "input_tokens", &u.input_tokens);
	(void)result_int(v, "output_tokens", &u.output_tokens);
	(void)result_int(v, "cache_read_tokens", &u.cache_read_tokens);
	(void)result_int(v, "cache_write_tokens", &u.cache_write_tokens);
	(void)result_num(v, "premium_requests", &u.premium_requests);
	(void)result_num(v, "cost", &u.cost);
	u.cost_known = u.cost > 0;
	return u;
}

static void
count(struct result_run *run, const struct json *trial, bool cached, int times)
{
	struct answer_usage usage = answer_read_usage(trial);
	struct answer_usage judges = read_judges(trial);

	answer_count_usage(cached || is_free(trial) ? &run->saved :
	    &run->usage, &usage, times);
	/* the verdict of a cached trial is cached, too */
	answer_count_usage(cached ? &run->saved : &run->judge_usage, &judges,
	    times);
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

void
result_read_used(struct result_trial *t, const struct json *trial)
{
	struct answer_usage u = answer_read_usage(trial);
	const struct json *v;
	int64_t n = 0;

	set_usage(&t->used, &u);
	t->used.free = is_free(trial);
	t->used.refused = result_true(trial, "refused");
	t->used.calls_known = result_int(json_getc(trial, "session_digest"),
	    "tool_call_count", &n) && n >= 0;
	t->used.calls = t->used.calls_known ? (size_t)n : 0;
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

	t->used.free = r->replayed || is_free(r->previous);
	if (ans == NULL)
		return;
	set_usage(&t->used, &ans->usage);
	t->used.refused = ans->refused;
	t->used.calls = ans->ncalls;
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

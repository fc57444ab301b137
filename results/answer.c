/* SPDX-License-Identifier: ISC */
/* answer.c: names of tools; usage, read from results and added up. */
#include "results/answer.h"

#include "json.h"
#include "results/result_internal.h"

static const char *const tool_names[] = {	/* by enum answer_tool */
	"other", "shell", "read", "write", "edit", "search", "fetch", "skill",
	"task",
};

const struct answer_usage answer_no_usage = { .known = true,
	.turns_known = true, .cached_known = true, .reasoning_known = true,
	.cost_known = true };

const char *
answer_tool_name(enum answer_tool tool)
{
	return tool_names[tool];
}

enum answer_tool
answer_tool_of(struct str name)
{
	size_t i;

	for (i = 1; i < COUNTOF(tool_names); i++)
		if (str_is(name, tool_names[i]))
			return (enum answer_tool)i;
	return ANSWER_OTHER;
}

void
answer_add_usage(struct answer_usage *sum, const struct answer_usage *u)
{
	bool first = sum->answers++ == 0;

	sum->known = u->known && (first || sum->known);
	sum->turns_known = u->turns_known && (first || sum->turns_known);
	sum->cached_known = u->cached_known && (first || sum->cached_known);
	sum->reasoning_known = u->reasoning_known &&
	    (first || sum->reasoning_known);
	sum->cost_known = u->cost_known && (first || sum->cost_known);
	sum->turns = add_near(sum->turns, u->turns);
	sum->input_tokens = add_near(sum->input_tokens, u->input_tokens);
	sum->output_tokens = add_near(sum->output_tokens, u->output_tokens);
	sum->reasoning_tokens = add_near(sum->reasoning_tokens,
	    u->reasoning_tokens);
	sum->cache_read_tokens = add_near(sum->cache_read_tokens,
	    u->cache_read_tokens);
	sum->cache_write_tokens = add_near(sum->cache_write_tokens,
	    u->cache_write_tokens);
	sum->premium_requests += u->premium_requests;
	sum->cost += u->cost;
}

bool
answer_has_usage(const struct answer_usage *u)
{
	return u->known || u->turns_known || u->cached_known ||
	    u->reasoning_known || u->cost_known || u->premium_requests > 0;
}

bool
answer_lists_unknown(const struct json *obj, const char *word)
{
	const struct json *v;

	for (v = json_first(json_getc(obj, "unknown")); v != NULL; v = v->next)
		if (v->type == JSON_STRING && str_is(json_text(v), word))
			return true;
	return false;
}

/*
 * Files without "unknown" are older ones or the original's: there a cost is
 * known if it is present, and a trial without turns did not count them.
 */
static void
read_known(const struct json *v, struct answer_usage *u)
{
	if (json_getc(v, "unknown") == NULL &&
	    json_getc(v, "reasoning_tokens") == NULL) {
		u->known = u->cached_known =
		    json_is_set(json_getc(v, "input_tokens")) ||
		    json_is_set(json_getc(v, "output_tokens"));
		u->turns_known = u->turns > 0;
		u->cost_known = json_getc(v, "cost") != NULL;
		return;
	}
	u->known = !answer_lists_unknown(v, "input_tokens") &&
	    json_is_set(json_getc(v, "input_tokens")) &&
	    json_is_set(json_getc(v, "output_tokens"));
	u->turns_known = !answer_lists_unknown(v, "turns");
	u->cached_known = !answer_lists_unknown(v, "cached_input_tokens");
	u->reasoning_known = !answer_lists_unknown(v, "reasoning_tokens");
	u->cost_known = !answer_lists_unknown(v, "cost");
}

struct answer_usage
answer_read_counts(const struct json *v)
{
	struct answer_usage u = { 0 };

	if (v == NULL || v->type != JSON_OBJECT)
		return u;
	(void)result_int(v, "turns", &u.turns);
	(void)result_int(v, "input_tokens", &u.input_tokens);
	(void)result_int(v, "output_tokens", &u.output_tokens);
	(void)result_int(v, "reasoning_tokens", &u.reasoning_tokens);
	(void)result_int(v, "cache_read_tokens", &u.cache_read_tokens);
	(void)result_int(v, "cache_write_tokens", &u.cache_write_tokens);
	(void)result_num(v, "premium_requests", &u.premium_requests);
	(void)result_num(v, "cost", &u.cost);
	read_known(v, &u);
	return u;
}

struct answer_usage
answer_read_usage(const struct json *trial)
{
	const struct json *v = json_getc(json_getc(trial, "session_digest"),
	    "usage");

	if (v == NULL)
		v = json_getc(trial, "usage");
	return v == NULL && result_true(trial, "echo") ? answer_no_usage :
	    answer_read_counts(v);
}

struct answer_usage
answer_read_spent(const struct json *trial)
{
	const struct json *earlier = json_getc(trial, "earlier_usage");
	struct answer_usage u = answer_read_usage(trial), sum = { 0 };

	if (!json_is_set(earlier))
		return u;
	answer_add_usage(&sum, &u);
	u = answer_read_counts(earlier);
	answer_add_usage(&sum, &u);
	return sum;
}

/* Wraps around: an agent may report absurd numbers. */
static void
add_int(int64_t *sum, int64_t n, int times)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)n * (uint64_t)times);
}

static int64_t
nano(double d)
{
	d = d > 9e6 ? 9e6 : d < -9e6 ? -9e6 : d;
	return (int64_t)(d * 1e9 + (d < 0 ? -0.5 : 0.5));
}

/* In whole units of 10^-9, so that order and subtraction leave no error. */
static void
add_num(double *sum, double d, int times)
{
	*sum = (double)(nano(*sum) + nano(d) * times) / 1e9;
}

void
answer_count_usage(struct answer_usage *sum, const struct answer_usage *u,
    int times)
{
	sum->answers += times;
	add_int(&sum->missing[ANSWER_TURNS], !u->turns_known, times);
	add_int(&sum->missing[ANSWER_TOKENS], !u->known, times);
	add_int(&sum->missing[ANSWER_CACHED], !u->cached_known, times);
	add_int(&sum->missing[ANSWER_REASONING], !u->reasoning_known, times);
	add_int(&sum->missing[ANSWER_COST], !u->cost_known, times);
	sum->known |= u->known;
	sum->turns_known |= u->turns_known;
	sum->cached_known |= u->cached_known;
	sum->reasoning_known |= u->reasoning_known;
	sum->cost_known |= u->cost_known;
	add_int(&sum->reasoning_tokens, u->reasoning_tokens, times);
	add_int(&sum->turns, u->turns, times);
	add_int(&sum->input_tokens, u->input_tokens, times);
	add_int(&sum->output_tokens, u->output_tokens, times);
	add_int(&sum->cache_read_tokens, u->cache_read_tokens, times);
	add_int(&sum->cache_write_tokens, u->cache_write_tokens, times);
	add_num(&sum->premium_requests, u->premium_requests, times);
	add_num(&sum->cost, u->cost, times);
}

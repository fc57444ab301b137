/* SPDX-License-Identifier: ISC */
/* answer.c: usage, read from results and added up. */
#include "results/answer.h"

#include "json.h"
#include "results/result_internal.h"

void
answer_add_usage(struct answer_usage *sum, const struct answer_usage *u)
{
	if (!u->known)
		return;
	sum->known = true;
	sum->turns = add_near(sum->turns, u->turns);
	sum->input_tokens = add_near(sum->input_tokens, u->input_tokens);
	sum->output_tokens = add_near(sum->output_tokens, u->output_tokens);
	sum->cache_read_tokens = add_near(sum->cache_read_tokens,
	    u->cache_read_tokens);
	sum->cache_write_tokens = add_near(sum->cache_write_tokens,
	    u->cache_write_tokens);
	sum->premium_requests += u->premium_requests;
	sum->cost += u->cost;
}

struct answer_usage
answer_read_usage(const struct json *trial)
{
	const struct json *v = json_getc(json_getc(trial, "session_digest"),
	    "usage");
	struct answer_usage u = { 0 };

	if (v == NULL)
		v = json_getc(trial, "usage");
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
	return u;
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
	if (!u->known)
		return;
	add_int(&sum->turns, u->turns, times);
	add_int(&sum->input_tokens, u->input_tokens, times);
	add_int(&sum->output_tokens, u->output_tokens, times);
	add_int(&sum->cache_read_tokens, u->cache_read_tokens, times);
	add_int(&sum->cache_write_tokens, u->cache_write_tokens, times);
	add_num(&sum->premium_requests, u->premium_requests, times);
	add_num(&sum->cost, u->cost, times);
}

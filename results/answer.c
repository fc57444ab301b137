/* SPDX-License-Identifier: ISC */
/* answer.c: the usage of several answers together. */
#include "results/answer.h"

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

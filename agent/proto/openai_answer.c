/* SPDX-License-Identifier: ISC */
/*
 * Makes a job's answer from a server's reply: text, calls, tokens and their
 * cost, without secrets; and counts what the run has spent.
 */
#include "agent/proto/openai.h"

#include <string.h>

#include "agent/agent_internal.h"
#include "json.h"

struct str
openai_clip(struct arena *a, struct str s, size_t max)
{
	struct buf b = { 0 };
	uint32_t cp;
	size_t n;

	while (s.n > 0 && b.n < max) {
		n = utf8_get(s.p, s.p + s.n, &cp);
		if (n == 0 || cp < 0x20)
			buf_putc(&b, n == 0 ? '?' : ' ');
		else
			buf_put(&b, (struct str){ s.p, n });
		s.p += n > 0 ? n : 1;
		s.n -= n > 0 ? n : 1;
	}
	if (s.n > 0)
		buf_puts(&b, "...");
	return arena_take(a, &b);
}

bool
openai_mentions(struct str text, const char *word)
{
	size_t i, n = strlen(word);

	for (i = 0; i + n <= text.n; i++)
		if (http_same((struct str){ text.p + i, n }, word))
			return true;
	return false;
}

/* The text if it is JSON, else the text as a JSON string. */
static struct str
one_value(struct arena *a, struct str text)
{
	struct arena tmp = { 0 };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct str out;

	if (text.n == 0)
		return STR("{}");
	if (arena_json(&tmp, text, NULL) != NULL)
		out = arena_str(a, text);
	else {
		json_put_str(&o, text);
		out = arena_str(a, buf_str(&b));
	}
	buf_free(&b);
	arena_free(&tmp);
	return out;
}

static void
take_calls(struct agent_job *j, const struct openai_reply *r)
{
	struct answer_call **tail = &j->ans.calls, *c;
	const struct openai_call *from;

	for (from = r->calls; from != NULL; from = from->next) {
		c = *tail = NEW(j->arena, struct answer_call);
		tail = &c->next;
		c->name = from->name;
		c->success = true;
		c->no_result = true;	/* nobody runs it */
		c->arguments = one_value(j->arena, buf_str(&from->arguments));
		answer_classify(j->arena, c, STR(""));
		j->ans.ncalls++;
	}
}

static void
take_usage(struct agent_job *j, struct openai *to,
    const struct openai_question *q, const struct openai_reply *r)
{
	struct answer_usage *u = &j->ans.usage;

	*u = r->usage;
	u->turns = 1;
	u->turns_known = true;
	if (to->set.api == OPENAI_ANTHROPIC)
		u->input_tokens += u->cache_read_tokens +
		    u->cache_write_tokens;
	j->ans.model = arena_str(j->arena, q->model);
	agent_price(j->agent, j);
}

static void
remember(struct agent_job *j, struct str prompt)
{
	struct agent_conversation *t = j->req->conversation;
	struct openai_history *history;
	struct openai_turn *turn;

	if (t == NULL)
		return;
	history = t->state;
	turn = *history->tail = NEW(t->arena, struct openai_turn);
	history->tail = &turn->next;
	turn->prompt = arena_str(t->arena, prompt);
	turn->answer = arena_str(t->arena, j->ans.output);
}

void
openai_answer(struct agent_job *j, struct openai *to,
    const struct openai_question *q, const struct openai_reply *r)
{
	bool empty = r->text.n == 0 && r->calls == NULL;

	j->ans.output = arena_str(j->arena, buf_str(&r->text));
	j->ans.session_id = r->id;
	take_calls(j, r);
	take_usage(j, to, q, r);
	agent_put_transcript(j);
	agent_mask(j, &to->secrets);
	j->ans.refused = r->refused || openai_mentions(r->stop, "refusal");
	if (agent_is_limit(r->stop))
		agent_fail_cut(j, r->stop);
	else if (openai_mentions(r->stop, "filter"))
		agent_fail(j, ANSWER_FAILED, "the server %s: %.*s", empty ?
		    "refused to answer" : "cut the answer",
		    STRF(openai_clip(j->arena, r->stop, 40)));
	else if (empty && !j->ans.refused && !j->ans.usage.known)
		agent_fail(j, ANSWER_FAILED, "the server sent an answer "
		    "without text, tool calls and token usage");
	else
		remember(j, q->prompt);
}

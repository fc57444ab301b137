/* SPDX-License-Identifier: ISC */
/*
 * The questions of a trial: its prompt; then the follow-ups that the task
 * has, or that a model thinks up in the user's place.
 *
 * An agent that remembers is asked on; one that does not is told what was
 * said before.  The answer of the trial is the answers of all its turns.
 *
 * Memory: what is said is kept once (SAID_MAX) and given whole only at the
 * end; prompts that repeat it are in one buffer, and what executors copy of
 * them is limited as a sum (TOLD_MAX).
 */
#include "run/run_internal.h"

#include <string.h>

#include "json.h"
#include "suite/spec.h"

enum {
	SAID_MAX = 8 << 20,	/* bytes of what was said */
	TOLD_MAX = 64 << 20,	/* bytes of all prompts */
	EVENTS_MAX = 64 << 20	/* bytes of all events */
};

static bool
has_more(const struct run_trial *t)
{
	const struct spec_inputs *in = &run_trial_spec(t)->inputs;

	return (in->follow_up_prompts.n > 0 || in->responder != NULL) &&
	    t->run->opts.stored == NULL && !t->run->agent->kind->all_turns;
}

static void
put_said(struct run_trial *t, const char *who, struct str text)
{
	buf_puts(&t->said, who);
	buf_puts(&t->said, ":\n");
	buf_put(&t->said, text);
	buf_puts(&t->said, "\n\n");
}

int
run_turn_first(struct run_trial *t, struct err *e)
{
	bool more = has_more(t);

	t->prompt = t->asked = t->req.prompt;
	t->note = t->fetched;
	t->turn = 1;
	t->sum = (struct answer){ .exit_status = -1 };
	t->last_call = &t->sum.calls;
	t->last_turn = &t->sum.turns;
	t->said = (struct buf){ .max = SAID_MAX };
	t->words = (struct buf){ 0 };
	t->events = (struct buf){ .max = EVENTS_MAX };
	t->conversation = (struct agent_conversation){ .arena = &t->arena };
	t->req.conversation = t->run->opts.conversation;
	if (t->req.conversation == NULL && more &&
	    agent_has_conversations(t->run->agent))
		t->req.conversation = &t->conversation;
	t->talks = more;
	t->taken = t->responding = false;
	t->told = 0;
	if (run_make_preamble(t, e) == -1)
		return -1;
	if (t->given.n > 0)
		t->req.prompt = arena_fmt(&t->arena, "%.*s%.*s",
		    STRF(t->given), STRF(t->prompt));
	return 0;
}

static struct field_strs
join(struct arena *a, const struct field_strs *x, const struct field_strs *y)
{
	struct field_strs out = { NULL, x->n + y->n };

	if (y->n == 0)
		return *x;
	out.v = NEW_N(a, struct str, out.n);
	if (x->n > 0)
		memcpy(out.v, x->v, x->n * sizeof(*out.v));
	memcpy(out.v + x->n, y->v, y->n * sizeof(*out.v));
	return out;
}

static void
add_usage(struct answer_usage *sum, const struct answer_usage *u)
{
	sum->known = sum->known || u->known;
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

/* What is in a list of events, without its brackets. */
static void
add_events(struct run_trial *t, struct str list)
{
	list = str_trim(list);
	if (list.n < 3 || list.p[0] != '[' || list.p[list.n - 1] != ']')
		return;
	if (t->events.n > 0)
		buf_putc(&t->events, ',');
	buf_put(&t->events, (struct str){ list.p + 1, list.n - 2 });
}

/* The answer of this turn, to those before. */
static void
take_answer(struct run_trial *t)
{
	struct answer *sum = &t->sum, *ans = &t->job.ans;
	struct answer_turn *turn;

	if (t->taken)
		return;
	t->taken = true;
	turn = NEW(&t->arena, struct answer_turn);
	turn->prompt = t->asked;
	turn->output = ans->output;
	*t->last_turn = turn;
	t->last_turn = &turn->next;
	put_said(t, "User", t->asked);
	put_said(t, "Assistant", ans->output);
	for (*t->last_call = ans->calls; *t->last_call != NULL;
	    t->last_call = &(*t->last_call)->next)
		sum->ncalls++;
	sum->skills = join(&t->arena, &sum->skills, &ans->skills);
	add_usage(&sum->usage, &ans->usage);
	add_events(t, ans->transcript);
	sum->truncated = sum->truncated || ans->truncated;
	sum->skills_known = sum->skills_known || ans->skills_known;
}

static struct str
all_outputs(struct run_trial *t)
{
	const struct answer_turn *turn;
	struct buf b = { 0 };
	struct str s;

	for (turn = t->sum.turns; turn != NULL; turn = turn->next) {
		if (turn != t->sum.turns)
			buf_puts(&b, "\n\n");
		buf_put(&b, turn->output);
	}
	s = arena_str(&t->arena, buf_str(&b));
	buf_free(&b);
	return s;
}

/* The trial's answer: all of them, but how it ended is the last one's. */
static void
give_answer(struct run_trial *t)
{
	struct answer *ans = &t->job.ans, *sum = &t->sum;

	ans->output = all_outputs(t);
	ans->calls = sum->calls;
	ans->ncalls = sum->ncalls;
	ans->skills = sum->skills;
	ans->skills_known = sum->skills_known;
	ans->usage = sum->usage;
	ans->turns = sum->turns->next != NULL ? sum->turns : NULL;
	ans->truncated = sum->truncated || t->events.full;
	if (t->events.n > 0 && !t->events.full)
		ans->transcript = arena_fmt(&t->arena, "[%.*s]",
		    STRF(buf_str(&t->events)));
	t->talks = false;		/* it is given */
}

static enum run_turn
bad(struct run_trial *t, const char *why, struct str more)
{
	t->taken = true;		/* nothing was asked after it */
	t->error = arena_fmt(&t->arena, "%s%.*s", why, STRF(more));
	return RUN_TURN_BAD;
}

static enum run_turn
over(struct run_trial *t)
{
	give_answer(t);
	return RUN_TURN_OVER;
}

/* Asks on; an agent that forgets has to be told all of it. */
static enum run_turn
go_on(struct run_trial *t, struct str prompt)
{
	t->turn++;
	t->taken = false;
	t->asked = arena_str(&t->arena, prompt);
	t->req.prompt = t->asked;
	if (t->req.conversation == NULL && !t->run->agent->kind->no_files) {
		t->words.n = 0;
		buf_put(&t->words, t->given);
		buf_puts(&t->words, "This is what was said so far; go on with "
		    "the last message of the user.\n\n");
		buf_put(&t->words, buf_str(&t->said));
		buf_puts(&t->words, "User:\n");
		buf_put(&t->words, prompt);
		buf_putc(&t->words, '\n');
		t->req.prompt = buf_str(&t->words);
	}
	t->told += t->req.prompt.n;
	if (t->said.full || t->told > TOLD_MAX)
		return bad(t, "what was said before is too much to repeat",
		    STR(""));
	return RUN_TURN_ASK;
}

/*
 * A model in the user's place.
 */
static void
on_reply(void *arg)
{
	struct run_trial *t = arg;
	struct run *run = t->run;

	t->state = RUN_TRIAL_ANSWERED;
	if (t->going)
		return;
	run_trial_go(t);
	run_pump(run);
}

static enum run_turn
take_reply(struct run_trial *t)
{
	struct str said = str_trim(t->reply.ans.output);

	t->responding = false;
	if (t->reply.ans.fault != ANSWER_OK)
		return bad(t, "responder: ", t->reply.ans.error);
	if (said.n == 0 || str_is(said, "DONE"))
		return over(t);
	return go_on(t, said);
}

static enum run_turn
ask_responder(struct run_trial *t, const struct spec_responder *r)
{
	t->in = (struct grader_input){ .suite = t->run->suite,
		.task = run_trial_spec(t), .answer = &t->sum,
		.workspace = t->req.workspace, .vars = &t->vars,
		.procs = t->run->procs, .scratch = t->req.scratch,
		.trial = t->req.trial, .attempt = t->req.attempt };
	t->words.n = 0;
	buf_puts(&t->words, "You play the user in a talk with an assistant. ");
	buf_put(&t->words, r->instructions);
	buf_puts(&t->words, "\n\nThe talk so far:\n\n");
	buf_put(&t->words, buf_str(&t->said));
	buf_puts(&t->words, "Answer with the user's next message and nothing "
	    "else, or with DONE when the user has all that was wanted.\n");
	t->told += t->words.n;
	if (t->said.full || t->told > TOLD_MAX)
		return bad(t, "what was said is too much for a responder",
		    STR(""));
	t->reply = (struct judging){ .judges = &t->run->judges,
		.model = r->model, .in = &t->in, .sample = (unsigned)t->turn,
		.responds = true, .prompt = buf_str(&t->words),
		.arena = &t->arena, .done = on_reply, .arg = t };
	t->responding = true;
	return judge_ask(&t->reply) == JUDGE_LATER ? RUN_TURN_WAIT :
	    take_reply(t);
}

static enum run_turn
follow_up(struct run_trial *t, struct str prompt)
{
	struct err e = { 0 };
	struct str next = tmpl_render(&t->arena, prompt, &t->vars, &e);

	if (next.p == NULL)
		return bad(t, "follow_up_prompts: ", str_of(e.msg));
	return go_on(t, next);
}

enum run_turn
run_turn_next(struct run_trial *t)
{
	const struct spec_inputs *in = &run_trial_spec(t)->inputs;
	size_t asked = t->turn - 1, fixed = in->follow_up_prompts.n;

	if (!t->talks)
		return RUN_TURN_OVER;
	if (t->responding)
		return take_reply(t);
	take_answer(t);
	if (t->events.full)
		return bad(t, "the events of the talk are too many", STR(""));
	if (asked < fixed)
		return follow_up(t, in->follow_up_prompts.v[asked]);
	if (in->responder != NULL &&
	    (int64_t)(asked - fixed) < in->responder->max_followups)
		return ask_responder(t, in->responder);
	return over(t);
}

void
run_turn_end(struct run_trial *t)
{
	if (t->talks && t->job.req != NULL) {
		take_answer(t);
		give_answer(t);
	}
	t->talks = false;
	agent_conversation_end(t->run->agent, &t->conversation);
	buf_free(&t->said);
	buf_free(&t->words);
	buf_free(&t->events);
}

/* SPDX-License-Identifier: ISC */
/*
 * The turns of a trial: its prompt, then the task's follow-up prompts, then
 * those that a responder (a model in the user's place) makes up.
 *
 * An agent that has conversations is asked the next prompt alone; any other
 * gets the history of the conversation before it.  The trial's answer combines
 * the answers of all turns.
 *
 * Memory: the history exists once (HISTORY_MAX); prompts that repeat it share
 * one buffer, and SENT_MAX limits what executors copy of them.
 */
#include "run/run_internal.h"

#include <string.h>

#include "json.h"
#include "suite/spec.h"

enum {
	HISTORY_MAX = 8 << 20,	/* bytes of the conversation */
	SENT_MAX = 64 << 20,	/* bytes of all prompts */
	EVENTS_MAX = 64 << 20	/* bytes of all events */
};

/* An executor with all_turns has answered the follow-ups already. */
static bool
has_more(const struct run_trial *t)
{
	const struct spec_inputs *in = &t->ask.task->def->inputs;

	return (in->follow_up_prompts.n > 0 || in->responder != NULL) &&
	    t->run->opts.stored == NULL && !t->run->agent->kind->all_turns;
}

static void
add_history(struct run_dialog *d, const char *who, struct str text)
{
	buf_puts(&d->history, who);
	buf_puts(&d->history, ":\n");
	buf_put(&d->history, text);
	buf_puts(&d->history, "\n\n");
}

int
run_turn_first(struct run_trial *t, struct err *e)
{
	struct run_dialog *d = &t->dialog;
	struct run_ask *q = &t->ask;

	*d = (struct run_dialog){ .prompt = q->req.prompt,
		.question = q->req.prompt, .note = t->fetch.note, .turn = 1,
		.total = { .exit_status = -1 }, .open = has_more(t),
		.history = { .max = HISTORY_MAX },
		.events = { .max = EVENTS_MAX },
		.conversation = { .arena = &q->arena } };
	d->last_call = &d->total.calls;
	d->last_turn = &d->total.turns;
	q->req.conversation = t->run->opts.conversation;
	if (q->req.conversation == NULL && d->open &&
	    agent_has_conversations(t->run->agent))
		q->req.conversation = &d->conversation;
	if (run_make_preamble(t, e) == -1)
		return -1;
	if (d->preamble.n > 0)
		q->req.prompt = arena_fmt(&q->arena, "%.*s%.*s",
		    STRF(d->preamble), STRF(d->prompt));
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

/* Adds the elements of a list of events, without its brackets. */
static void
add_events(struct run_dialog *d, struct str list)
{
	list = str_trim(list);
	if (list.n < 3 || list.p[0] != '[' || list.p[list.n - 1] != ']')
		return;
	if (d->events.n > 0)
		buf_putc(&d->events, ',');
	buf_put(&d->events, (struct str){ list.p + 1, list.n - 2 });
}

/* Adds the answer of this turn to the total, once. */
static void
add_answer(struct run_trial *t)
{
	struct run_dialog *d = &t->dialog;
	struct answer *sum = &d->total, *ans = &t->ask.job.ans;
	struct answer_turn *turn;

	if (d->added)
		return;
	d->added = true;
	turn = NEW(&t->ask.arena, struct answer_turn);
	turn->prompt = d->question;
	turn->output = ans->output;
	*d->last_turn = turn;
	d->last_turn = &turn->next;
	add_history(d, "User", d->question);
	add_history(d, "Assistant", ans->output);
	for (*d->last_call = ans->calls; *d->last_call != NULL;
	    d->last_call = &(*d->last_call)->next)
		sum->ncalls++;
	sum->skills = join(&t->ask.arena, &sum->skills, &ans->skills);
	sum->denied = join(&t->ask.arena, &sum->denied, &ans->denied);
	answer_add_usage(&sum->usage, &ans->usage);
	add_events(d, ans->transcript);
	sum->truncated = sum->truncated || ans->truncated;
	sum->no_calls = sum->no_calls || ans->no_calls;
	sum->refused = sum->refused || ans->refused;
	sum->skills_lost = sum->skills_lost || ans->skills_lost;
	sum->skills_known = ans->skills_known &&
	    (sum->usage.answers == 1 || sum->skills_known);
}

static struct str
all_outputs(struct run_trial *t)
{
	const struct answer_turn *turn;
	struct buf b = { 0 };
	struct str s;

	for (turn = t->dialog.total.turns; turn != NULL; turn = turn->next) {
		if (turn != t->dialog.total.turns)
			buf_puts(&b, "\n\n");
		buf_put(&b, turn->output);
	}
	s = arena_str(&t->ask.arena, buf_str(&b));
	buf_free(&b);
	return s;
}

/*
 * Replaces the last turn's answer by the total; session, exit status and error
 * stay those of the last turn.
 */
static void
combine_answers(struct run_trial *t, struct answer *ans)
{
	struct run_dialog *d = &t->dialog;
	const struct answer *sum = &d->total;

	ans->output = all_outputs(t);
	ans->calls = sum->calls;
	ans->ncalls = sum->ncalls;
	ans->no_calls = sum->no_calls;
	ans->refused = sum->refused;
	ans->skills = sum->skills;
	ans->denied = sum->denied;
	ans->skills_known = sum->skills_known;
	ans->skills_lost = sum->skills_lost;
	ans->usage = sum->usage;
	ans->turns = sum->turns->next != NULL ? sum->turns : NULL;
	ans->truncated = sum->truncated || d->events.full;
	if (d->events.n > 0 && !d->events.full)
		ans->transcript = arena_fmt(&t->ask.arena, "[%.*s]",
		    STRF(buf_str(&d->events)));
}

void
run_turn_so_far(struct run_trial *t, struct answer *out)
{
	if (t->dialog.open)
		add_answer(t);
	*out = t->ask.job.ans;
	if (t->dialog.open)
		combine_answers(t, out);
}

void
run_turn_stop(struct run_trial *t)
{
	run_turn_so_far(t, &t->ask.job.ans);
	t->dialog.open = false;
}

static enum run_turn
bad(struct run_trial *t, const char *why, struct str more)
{
	t->dialog.added = true;		/* nothing was asked after it */
	t->ask.error = arena_fmt(&t->ask.arena, "%s%.*s", why, STRF(more));
	return RUN_TURN_BAD;
}

static enum run_turn
last_turn(struct run_trial *t)
{
	run_turn_stop(t);
	return RUN_TURN_LAST;
}

/* Accounts for a prompt; false if the conversation has become too large. */
static bool
fits(struct run_dialog *d, size_t n)
{
	d->sent += n;
	return !d->history.full && d->sent <= SENT_MAX;
}

/* An agent without conversations gets the history with the prompt. */
static enum run_turn
next_turn(struct run_trial *t, struct str prompt)
{
	struct run_dialog *d = &t->dialog;
	struct run_ask *q = &t->ask;

	d->turn++;
	d->added = false;
	d->question = q->req.prompt = arena_str(&q->arena, prompt);
	if (q->req.conversation == NULL && !t->run->agent->kind->no_files) {
		d->text.n = 0;
		buf_put(&d->text, d->preamble);
		buf_puts(&d->text, "This is what was said so far; go on with "
		    "the last message of the user.\n\n");
		buf_put(&d->text, buf_str(&d->history));
		buf_puts(&d->text, "User:\n");
		buf_put(&d->text, prompt);
		buf_putc(&d->text, '\n');
		q->req.prompt = buf_str(&d->text);
	}
	return fits(d, q->req.prompt.n) ? RUN_TURN_ASK : bad(t,
	    "the conversation is too long to repeat in a prompt", STR(""));
}

/*
 * The responder.
 */
static void
on_reply(void *arg)
{
	run_trial_resume(arg, RUN_TRIAL_ANSWERED);
}

static enum run_turn
take_reply(struct run_trial *t)
{
	const struct answer *ans = &t->dialog.reply.ans;
	struct str text = str_trim(ans->output);

	t->ask.responder = NULL;
	if (ans->fault != ANSWER_OK)
		return bad(t, "responder: ", ans->error);
	if (text.n == 0 || str_is(text, "DONE"))
		return last_turn(t);
	return next_turn(t, text);
}

static enum run_turn
ask_responder(struct run_trial *t, const struct spec_responder *r)
{
	struct run_dialog *d = &t->dialog;
	struct run_ask *q = &t->ask;

	t->in = (struct grader_input){ .suite = t->run->suite,
		.task = q->task, .answer = &d->total,
		.workspace = q->req.workspace, .vars = &q->vars,
		.procs = t->run->procs, .scratch = q->req.scratch,
		.trial = q->req.trial, .attempt = q->req.attempt,
		.judged = &t->judged };
	d->text.n = 0;
	buf_puts(&d->text, "You play the user in a talk with an assistant. ");
	buf_put(&d->text, r->instructions);
	buf_puts(&d->text, "\n\nThe talk so far:\n\n");
	buf_put(&d->text, buf_str(&d->history));
	buf_puts(&d->text, "Answer with the user's next message and nothing "
	    "else, or with DONE when the user has all that was wanted.\n");
	if (!fits(d, d->text.n))
		return bad(t, "the conversation is too long for a responder",
		    STR(""));
	d->reply = (struct judging){ .judges = &t->run->judges,
		.model = r->model, .in = &t->in, .sample = (unsigned)d->turn,
		.responds = true, .prompt = buf_str(&d->text),
		.arena = &q->arena, .done = on_reply, .arg = t };
	q->responder = &d->reply;
	return judge_ask(&d->reply) == JUDGE_LATER ? RUN_TURN_WAIT :
	    take_reply(t);
}

static enum run_turn
follow_up(struct run_trial *t, struct str prompt)
{
	struct err e = { 0 };
	struct str next = tmpl_render(&t->ask.arena, prompt, &t->ask.vars, &e);

	if (next.p == NULL)
		return bad(t, "follow_up_prompts: ", str_of(e.msg));
	return next_turn(t, next);
}

enum run_turn
run_turn_next(struct run_trial *t)
{
	const struct spec_inputs *in = &t->ask.task->def->inputs;
	size_t asked = t->dialog.turn - 1, fixed = in->follow_up_prompts.n;

	if (!t->dialog.open)
		return RUN_TURN_LAST;
	if (t->ask.responder != NULL)
		return take_reply(t);
	add_answer(t);
	if (t->dialog.events.full)
		return bad(t, "the conversation has too many events", STR(""));
	if (asked < fixed)
		return follow_up(t, in->follow_up_prompts.v[asked]);
	if (in->responder != NULL &&
	    (int64_t)(asked - fixed) < in->responder->max_followups)
		return ask_responder(t, in->responder);
	return last_turn(t);
}

void
run_turn_end(struct run_trial *t)
{
	struct run_dialog *d = &t->dialog;

	if (d->open && t->ask.job.req != NULL)
		run_turn_stop(t);
	d->open = false;
	agent_conversation_end(t->run->agent, &d->conversation);
	buf_free(&d->history);
	buf_free(&d->text);
	buf_free(&d->events);
}

/* SPDX-License-Identifier: ISC */
/*
 * The parts of a trial, from its object in the results: the agent, its tool
 * calls, the graders.
 *
 * Results have durations, not times.  The end of the trial is known, and the
 * graders ran one after the other before it; so did the agent before them.
 * Tool calls begin when the agent reported them, if it did while it ran, and
 * have no duration; `waza.time_known` is false for the others.
 *
 * A cached trial did not run: it has events about its verdicts, not spans.
 */
#include "otlp/otlp_internal.h"

#include "results/answer.h"
#include "results/result.h"
#include "suite/spec.h"

enum { READ_MAX = 32 << 20 };	/* bytes of a trial that is read back */

struct trial {
	struct otlp *otlp;
	const struct otlp_run *run;
	const struct event *e;
	const struct otlp_live *live;
	const struct json *json;	/* NULL: unknown */
	char id[OTLP_SPAN_ID], agent_id[OTLP_SPAN_ID];
	int64_t start_ns, answered_ns, end_ns;
	int64_t agent_ns;	/* start of the agent */
};

static int64_t
number(const struct json *obj, const char *key)
{
	int64_t n;

	return json_int(json_getc(obj, key), &n) ? n : 0;
}

static bool
is_true(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}

static struct str
span_name(struct trial *t, const char *what, struct str name)
{
	return arena_fmt(&t->otlp->tmp, "%s %.*s", what, STRF(name));
}

/*
 * The agent.
 */
static void
put_usage(struct otlp_item *i, const struct answer_usage *u)
{
	if (u->known) {
		otlp_int(i, "gen_ai.usage.input_tokens", u->input_tokens);
		otlp_int(i, "gen_ai.usage.output_tokens", u->output_tokens);
	}
	if (u->cached_known) {
		otlp_int(i, "gen_ai.usage.cache_read.input_tokens",
		    u->cache_read_tokens);
		otlp_int(i, "gen_ai.usage.cache_creation.input_tokens",
		    u->cache_write_tokens);
	}
	if (u->reasoning_known)
		otlp_int(i, "gen_ai.usage.reasoning.output_tokens",
		    u->reasoning_tokens);
	if (u->cost_known)
		otlp_num(i, "waza.cost_usd", u->cost);
}

static struct otlp_span
agent_span(struct trial *t)
{
	struct str class = t->e->error_class;

	return (struct otlp_span){ .trace = t->run->trace, .id = t->agent_id,
		.parent = t->id, .kind = OTLP_CLIENT,
		.name = span_name(t, "invoke_agent",
		    t->e->source.run->executor),
		.start_ns = t->agent_ns, .end_ns = t->answered_ns,
		.error = str_is(class, "agent_error") ||
		    str_is(class, "timeout") };
}

static void
put_agent(struct trial *t)
{
	const struct result_run *r = t->e->source.run;
	struct answer_usage u = answer_read_usage(t->json);
	struct otlp_span s = agent_span(t);
	struct otlp_item i;

	otlp_span_begin(&i, t->otlp, &s);
	otlp_str(&i, "gen_ai.operation.name", STR("invoke_agent"));
	otlp_str(&i, "gen_ai.provider.name", r->executor);
	otlp_str(&i, "gen_ai.agent.name", r->executor);
	otlp_str(&i, "gen_ai.request.model", r->model);
	otlp_str(&i, "gen_ai.conversation.id",
	    json_str(json_getc(t->json, "session_digest"), "session_id"));
	put_usage(&i, &u);
	if (s.error)
		otlp_str(&i, "error.type", t->e->error_class);
	otlp_message(&i, "gen_ai.input.messages", "user",
	    json_str(t->json, "prompt"));
	otlp_message(&i, "gen_ai.output.messages", "assistant",
	    json_str(t->json, "final_output"));
	otlp_item_end(&i);
}

/*
 * Tool calls.
 */
static void
put_call(struct trial *t, const struct json *call, size_t nth, bool timed)
{
	struct str name = json_str(call, "tool_name");
	int64_t at = timed ? t->live->tool_ms[nth] * 1000000 :
	    t->agent_ns + (int64_t)nth;
	bool denied = is_true(call, "denied");
	char id[OTLP_SPAN_ID];
	struct otlp_span s = { .trace = t->run->trace, .id = id,
		.parent = t->agent_id, .kind = OTLP_INTERNAL,
		.name = span_name(t, "execute_tool", name), .start_ns = at,
		.end_ns = at, .error = denied || !is_true(call, "success") };
	struct otlp_item i;

	otlp_id(id, t->run, t->agent_id, name, (int64_t)nth);
	otlp_span_begin(&i, t->otlp, &s);
	otlp_str(&i, "gen_ai.operation.name", STR("execute_tool"));
	otlp_str(&i, "gen_ai.tool.name", name);
	otlp_str(&i, "waza.tool", json_str(call, "tool"));
	otlp_int(&i, "waza.sequence", (int64_t)nth + 1);
	otlp_bool(&i, "waza.time_known", timed);
	if (s.error)
		otlp_str(&i, "error.type", denied ? STR("denied") :
		    STR("tool_error"));
	otlp_payload(&i, "gen_ai.tool.call.arguments",
	    result_json(&t->otlp->tmp, json_getc(call, "args")));
	otlp_payload(&i, "gen_ai.tool.call.result",
	    result_json(&t->otlp->tmp, json_getc(call, "result")));
	otlp_item_end(&i);
}

/* The reported times count only if every call has one. */
static void
put_calls(struct trial *t)
{
	const struct json *list = json_getc(t->json, "tool_events"), *c;
	bool timed = list != NULL && t->live != NULL &&
	    t->live->ntools <= OTLP_TOOLS_MAX &&
	    t->live->ntools == json_count(list);
	size_t n = 0;

	for (c = json_first(list); c != NULL; c = c->next)
		put_call(t, c, n++, timed);
}

/*
 * Graders.
 */
static void
put_verdict(struct trial *t, struct otlp_item *i, const struct json *v)
{
	const struct json *score = json_getc(v, "score");
	bool error = json_str(v, "error").n > 0;
	bool skipped = is_true(v, "skipped");
	double d;

	otlp_str(i, "gen_ai.evaluation.name", json_key(v));
	if (!error && !skipped && json_double(score, &d))
		otlp_num(i, "gen_ai.evaluation.score.value", d);
	if (!error)
		otlp_str(i, "gen_ai.evaluation.score.label", skipped ?
		    STR("skipped") : is_true(v, "passed") ? STR("pass") :
		    STR("fail"));
	else
		otlp_str(i, "error.type", STR("grader_error"));
	otlp_payload(i, "gen_ai.evaluation.explanation",
	    json_str(v, "feedback"));
	otlp_str(i, "waza.grader.type", json_str(v, "type"));
	otlp_str(i, "test.case.name", t->e->task);
	otlp_int(i, "waza.trial", t->e->trial);
	if (is_true(v, "advisory"))
		otlp_bool(i, "waza.advisory", true);
	if (t->e->cached)
		otlp_bool(i, "waza.cached", true);
}

/* The event belongs to the operation that was evaluated. */
static void
put_event(struct trial *t, const struct json *v, int64_t at)
{
	struct otlp_span about = agent_span(t);
	struct otlp_item i;

	if (t->e->cached)
		about.id = t->id;
	otlp_event_begin(&i, t->otlp, "gen_ai.evaluation.result", &about, at);
	put_verdict(t, &i, v);
	otlp_item_end(&i);
}

static void
put_grader(struct trial *t, const struct json *v, int64_t *at)
{
	char id[OTLP_SPAN_ID];
	struct otlp_span s = { .trace = t->run->trace, .id = id,
		.parent = t->id, .kind = OTLP_INTERNAL,
		.name = span_name(t, "evaluate", json_key(v)),
		.start_ns = *at, .error = json_str(v, "error").n > 0 };
	struct otlp_item i;

	*at += number(v, "duration_ms") * 1000000;
	s.end_ns = *at;
	otlp_id(id, t->run, t->id, json_key(v), 0);
	if (!t->e->cached) {
		otlp_span_begin(&i, t->otlp, &s);
		put_verdict(t, &i, v);
		otlp_item_end(&i);
	}
	put_event(t, v, *at);
}

static const struct json *
find_verdict(const struct json *all, struct str name)
{
	const struct json *v;

	for (v = json_first(all); v != NULL; v = v->next)
		if (str_eq(json_key(v), name))
			return v;
	return NULL;
}

static bool
has_grader(const struct spec_graders *list, struct str name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (str_eq(list->v[i].name, name))
			return true;
	return false;
}

/* In the order of grading: the suite's, the task's, then all others. */
static void
put_graders(struct trial *t)
{
	const struct json *all = json_getc(t->json, "validations"), *v;
	const struct spec_graders *lists[] = {
		&t->e->source.run->suite->graders,
		&t->e->source.task->spec->def->graders };
	int64_t at = t->answered_ns;
	size_t i, k;

	if (all == NULL || all->type != JSON_OBJECT)
		return;
	for (i = 0; i < COUNTOF(lists); i++)
		for (k = 0; k < lists[i]->n; k++) {
			v = find_verdict(all, lists[i]->v[k].name);
			if (v != NULL)
				put_grader(t, v, &at);
		}
	for (v = json_first(all); v != NULL; v = v->next)
		if (!has_grader(lists[0], json_key(v)) &&
		    !has_grader(lists[1], json_key(v)))
			put_grader(t, v, &at);
}

/*
 * The trial.
 */
static void
put_trial(struct trial *t)
{
	const struct event *e = t->e;
	char parent[OTLP_SPAN_ID];
	struct otlp_span s = { .trace = t->run->trace, .id = t->id,
		.parent = parent, .kind = OTLP_INTERNAL,
		.name = STR("trial"), .start_ns = t->start_ns,
		.end_ns = t->end_ns, .error = e->error_class.n > 0 };
	struct otlp_item i;

	otlp_id(parent, t->run, "task", e->task, 0);
	otlp_span_begin(&i, t->otlp, &s);
	otlp_str(&i, "test.case.name", e->task);
	otlp_str(&i, "test.case.result.status", otlp_verdict(e->status));
	otlp_str(&i, "waza.status", e->status);
	otlp_int(&i, "waza.trial", e->trial);
	otlp_int(&i, "waza.attempts", e->attempt);
	otlp_num(&i, "waza.score", e->score);
	otlp_str(&i, "error.type", e->error_class);
	if (e->cached)
		otlp_bool(&i, "waza.cached", true);
	otlp_payload(&i, "waza.error", e->error);
	otlp_item_end(&i);
}

static void
set_times(struct trial *t)
{
	const struct event *e = t->e;
	int64_t end = e->time_ms, answered, agent;
	int64_t start = t->live != NULL && !e->cached ? t->live->start_ms :
	    e->cached ? end : end - e->took_ms;

	answered = end - number(t->json, "grading_ms");
	if (e->cached || answered < start)
		answered = start;
	agent = answered - e->took_ms;
	if (agent < start)
		agent = start;
	t->start_ns = start * 1000000;
	t->agent_ns = agent * 1000000;
	t->answered_ns = answered * 1000000;
	t->end_ns = end * 1000000;
}

void
otlp_trial(struct otlp *o, const struct otlp_run *r, const struct event *e,
    const struct otlp_live *live)
{
	struct trial t = { .otlp = o, .run = r, .e = e, .live = live };
	const struct result_trial *trial = e->source.trial;
	struct err err;

	if (trial != NULL && trial->len <= READ_MAX)
		t.json = result_read(&o->tmp, e->source.run, trial, &err);
	otlp_id(t.id, r, "trial", e->task, e->trial);
	otlp_id(t.agent_id, r, "agent", e->task, e->trial);
	set_times(&t);
	put_trial(&t);
	if (!e->cached && !str_is(e->error_class, "infrastructure")) {
		put_agent(&t);
		put_calls(&t);
	}
	put_graders(&t);
}

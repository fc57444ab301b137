/* SPDX-License-Identifier: ISC */
/*
 * outcome_answer.c: the answer in a trial of a results file.
 *
 * Tool calls can be in three places.  "tool_events" has all of them in full.
 * Without it, "session_digest.tool_calls" lists them, but the original stores
 * only five arguments there, as strings that are empty if missing.  The
 * original's transcript has all arguments: they are taken from there if both
 * list the same calls.
 */
#include "results/outcome.h"

#include "json.h"
#include "results/result_internal.h"

static bool
is_type(const struct json *event, const char *type)
{
	return str_is(json_str(event, "type"), type);
}

/* The value as JSON; empty for null or a missing value. */
static struct str
json_of(struct arena *a, const struct json *v)
{
	return v == NULL || v->type == JSON_NULL ? STR("") :
	    result_json(a, v);
}

/* The arguments that are not empty. */
static struct str
digest_args(struct arena *a, const struct json *args)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct json *v;
	struct str s;

	if (args != NULL && args->type != JSON_OBJECT)
		return json_of(a, args);
	json_open(&o, '{');
	for (v = json_first(args); v != NULL; v = v->next) {
		if (v->type == JSON_STRING && json_text(v).n == 0)
			continue;
		json_put_key(&o, json_key(v));
		json_put(&o, v);
	}
	json_close(&o, '}');
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* The next event that starts a tool call, or NULL. */
static const struct json *
next_start(const struct json *event)
{
	for (; event != NULL; event = event->next)
		if (is_type(event, "tool.execution_start"))
			return event;
	return NULL;
}

/* The first call in the transcript if it lists the same calls, or NULL. */
static const struct json *
matching_start(const struct json *calls, const struct json *transcript)
{
	const struct json *first = next_start(json_first(transcript));
	const struct json *e = first, *c;

	for (c = json_first(calls); c != NULL && e != NULL; c = c->next) {
		if (!str_eq(json_str(c, "name"), json_str(e, "tool_name")))
			return NULL;
		e = next_start(e->next);
	}
	return c == NULL && e == NULL ? first : NULL;
}

static void
add_call(struct arena *a, struct answer *ans, struct answer_call c,
    struct answer_call ***tail)
{
	struct answer_call *one = NEW(a, struct answer_call);

	*one = c;
	if (one->arguments.n == 0)
		one->arguments = STR("{}");
	**tail = one;
	*tail = &one->next;
	ans->ncalls++;
}

static bool
succeeded(const struct json *call)
{
	const struct json *v = json_getc(call, "success");

	return v == NULL || v->type != JSON_BOOL || json_bool(v);
}

static void
take_events(struct arena *a, const struct json *events,
    struct answer *ans)
{
	struct answer_call **tail = &ans->calls;
	const struct json *v, *canonical;

	for (v = json_first(events); v != NULL; v = v->next) {
		canonical = json_getc(v, "canonical");
		add_call(a, ans, (struct answer_call){
			.name = json_str(v, "tool_name"),
			.arguments = json_of(a, json_getc(v, "args")),
			.result = json_of(a, json_getc(v, "result")),
			.success = succeeded(v),
			.no_name = answer_lists_unknown(v, "name"),
			.any_edit = result_true(v, "any_edit"),
			.more_paths = result_true(v, "more_paths"),
			.denied = result_true(v, "denied"),
			.mock = json_str(v, "mock"),
			.no_arguments = answer_lists_unknown(v, "arguments"),
			.no_result = answer_lists_unknown(v, "result"),
			.tool = answer_tool_of(json_str(v, "tool")),
			.command = json_str(canonical, "command"),
			.path = json_str(canonical, "path"),
			.url = json_str(canonical, "url"),
			.skill = json_str(canonical, "skill") }, &tail);
	}
}

/* Files of the original, and older ones, do not tell what a tool does. */
static void
classify(struct arena *a, const struct json *events, struct answer *ans)
{
	const struct json *v = json_first(events);
	struct answer_call *c;

	for (c = ans->calls; c != NULL; c = c->next) {
		answer_classify(a, c, json_getc(v, "tool") == NULL ?
		    STR("copilot") : STR(""));
		v = v != NULL ? v->next : NULL;
	}
}

static void
take_digest(struct arena *a, const struct json *digest,
    const struct json *transcript, struct answer *ans)
{
	const struct json *calls = json_getc(digest, "tool_calls"), *v, *full;
	struct answer_call **tail = &ans->calls;
	const struct json *given;
	struct str args;

	full = matching_start(calls, transcript);
	for (v = json_first(calls); v != NULL; v = v->next) {
		given = json_getc(full, "arguments");
		args = given != NULL ? json_of(a, given) : digest_args(a,
		    json_getc(v, "arguments"));
		add_call(a, ans, (struct answer_call){
			.name = json_str(v, "name"), .arguments = args,
			/* none of those that the original stores: others */
			.no_arguments = full == NULL && str_is(args, "{}"),
			.few_arguments = full == NULL,
			.result = json_of(a, json_getc(v, "result")),
			.success = succeeded(v) }, &tail);
		full = full == NULL ? NULL : next_start(full->next);
	}
	if (ans->ncalls > 0)
		return;
	for (v = json_first(json_getc(digest, "tools_used")); v != NULL;
	    v = v->next)
		if (v->type == JSON_STRING)
			add_call(a, ans, (struct answer_call){
				.name = json_text(v), .success = true,
				.no_arguments = true, .no_result = true },
				&tail);
}

/* The name of the skill; versions of the original use several keys. */
static struct str
skill_name(const struct json *event)
{
	static const char *const keys[] = { "skill", "name", "skill_name" };
	struct str s = STR("");
	size_t i;

	for (i = 0; i < COUNTOF(keys) && s.n == 0; i++)
		s = json_str(event, keys[i]);
	for (i = 0; i < COUNTOF(keys) && s.n == 0; i++)
		s = json_str(json_getc(event, "arguments"), keys[i]);
	if (s.n == 0)
		s = json_str(event, "content");
	return s.n > 0 ? s : json_str(event, "message");
}

static void
take_skills(struct arena *a, const struct json *node,
    const struct json *transcript, struct answer *ans)
{
	const struct json *list = json_getc(node, "skills"), *v;
	bool known = list != NULL && list->type == JSON_ARRAY;
	size_t n = 0;

	ans->skills_lost = answer_lists_unknown(node, "skills");
	ans->skills_known = known && !ans->skills_lost;
	if (!known)
		list = transcript;
	for (v = json_first(list); v != NULL; v = v->next)
		n += known || is_type(v, "skill.invoked");
	ans->skills.v = NEW_N(a, struct str, n);
	for (v = json_first(list); v != NULL; v = v->next) {
		if (known && v->type == JSON_STRING)
			ans->skills.v[ans->skills.n++] = json_text(v);
		else if (!known && is_type(v, "skill.invoked"))
			ans->skills.v[ans->skills.n++] = skill_name(v);
	}
	list = json_getc(node, "other_skills");
	if (list == NULL || list->type != JSON_ARRAY)
		return;
	ans->other_skills.v = NEW_N(a, struct str, json_count(list));
	for (v = json_first(list); v != NULL; v = v->next)
		if (v->type == JSON_STRING)
			ans->other_skills.v[ans->other_skills.n++] =
			    json_text(v);
}

static void
take_turns(struct arena *a, const struct json *list, struct answer *ans)
{
	struct answer_turn **tail = &ans->turns, *t;
	const struct json *v;

	for (v = json_first(list); v != NULL; v = v->next) {
		t = NEW(a, struct answer_turn);
		t->prompt = json_str(v, "prompt");
		t->output = json_str(v, "output");
		*tail = t;
		tail = &t->next;
	}
}

/* The calls in the events of the original. */
static size_t
count_starts(const struct json *transcript)
{
	const struct json *e = next_start(json_first(transcript));
	size_t n = 0;

	for (; e != NULL; e = next_start(e->next))
		n++;
	return n;
}

/* Whether it lists calls, even if there are none. */
static bool
has_calls(const struct json *digest)
{
	const struct json *v = json_getc(digest, "tool_calls");

	return v != NULL && v->type == JSON_ARRAY;
}

/* What the policy of a custom agent denied. */
static void
take_policy(struct arena *a, const struct json *digest, struct answer *ans)
{
	const struct json *list = json_getc(digest, "tool_policy_denials"), *v;

	ans->tool_policy = json_str(digest, "tool_policy_mode");
	if (list == NULL || list->type != JSON_ARRAY || list->n == 0)
		return;
	ans->denied.v = NEW_N(a, struct str, json_count(list));
	for (v = json_first(list); v != NULL; v = v->next)
		ans->denied.v[ans->denied.n++] = json_str(v, "tool");
}

void
outcome_answer(struct arena *a, const struct outcome_trial *t,
    struct answer *ans)
{
	const struct json *node = t->node;
	const struct json *digest = json_getc(node, "session_digest");
	const struct json *events = json_getc(node, "tool_events");
	const struct json *script = json_getc(node, "transcript");
	int64_t n;

	*ans = (struct answer){ .exit_status = -1 };
	ans->output = json_str(node, "final_output");
	if (json_first(events) != NULL)
		take_events(a, events, ans);
	else
		take_digest(a, digest, script, ans);
	classify(a, events, ans);
	ans->no_calls = answer_lists_unknown(node, "tool_calls") ||
	    count_starts(script) > ans->ncalls ||
	    (result_int(digest, "tool_call_count", &n) ?
	    n > (int64_t)ans->ncalls :		/* some are not listed */
	    ans->ncalls == 0 && !has_calls(digest));
	ans->refused = result_true(node, "refused");
	take_skills(a, node, script, ans);
	take_turns(a, json_getc(node, "turns"), ans);
	ans->usage = answer_read_usage(node);
	if (script != NULL && script->type == JSON_ARRAY)
		ans->transcript = json_of(a, script);
	ans->session_id = json_str(digest, "session_id");
	take_policy(a, digest, ans);
	ans->stderr_tail = json_str(node, "stderr_tail");
	if (result_int(node, "exit_status", &n) && n >= 0 && n <= 255)
		ans->exit_status = (int)n;
	ans->truncated = result_true(node, "truncated");
	ans->patch = json_str(node, "patch");
	ans->command_invocations = json_of(a, json_getc(node,
	    "command_invocations"));
	ans->echo = result_true(node, "echo");
}

/* SPDX-License-Identifier: ISC */
/*
 * Answers as JSON objects: a mock's script, or a persistent worker's line.
 * Other executors use its errors, transcripts and masking.
 */
#include "agent/agent_internal.h"

#include <stddef.h>
#include <string.h>

#include "io/workspace.h"
#include "json.h"
#include "lib/field.h"
#include "lib/mask/mask.h"

static const struct field script_rows[] = {
	FIELD(agent_script, output, FIELD_STR,
	    .help = "the answer"),
	FIELD(agent_script, error, FIELD_STR,
	    .help = "reason why there is no answer"),
	FIELD(agent_script, tool_calls, FIELD_TREE,
	    .help = "tool calls: name, arguments, result, success"),
	FIELD(agent_script, usage, FIELD_TREE,
	    .help = "turns, tokens and cost"),
	FIELD(agent_script, files, FIELD_TREE,
	    .help = "files that are written: path and content"),
	FIELD(agent_script, skills, FIELD_STRS,
	    .help = "skills that are used"),
	FIELD(agent_script, delay_ms, FIELD_INT, .min = 0, .max = 86400000,
	    .help = "time it takes, in milliseconds"),
};
const struct field_table agent_script_table =
    FIELD_TABLE(agent_script, script_rows);

static const struct field usage_rows[] = {
	FIELD(answer_usage, turns, FIELD_INT),
	FIELD(answer_usage, input_tokens, FIELD_INT),
	FIELD(answer_usage, output_tokens, FIELD_INT),
	FIELD(answer_usage, reasoning_tokens, FIELD_INT),
	FIELD(answer_usage, cache_read_tokens, FIELD_INT),
	{ .key = "cached_input_tokens", .type = FIELD_INT,
	    .off = offsetof(struct answer_usage, cache_read_tokens) },
	FIELD(answer_usage, cache_write_tokens, FIELD_INT),
	FIELD(answer_usage, premium_requests, FIELD_NUM),
	FIELD(answer_usage, cost, FIELD_NUM),
};
static const struct field_table usage_table =
    FIELD_TABLE(answer_usage, usage_rows);

enum agent_status
agent_fail(struct agent_job *j, enum answer_fault fault, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	agent_vfail(j, fault, fmt, ap);
	va_end(ap);
	return AGENT_DONE;
}

void
agent_vfail(struct agent_job *j, enum answer_fault fault, const char *fmt,
    va_list ap)
{
	j->ans.fault = fault;
	j->ans.error = arena_head(j->arena, arena_vfmt(j->arena, fmt, ap),
	    REASON_MAX);
}

bool
agent_is_limit(struct str reason)
{
	static const char *const limits[] = { "length", "max_output_tokens",
		"max_tokens", "model_context_window_exceeded" };
	size_t i;

	for (i = 0; i < COUNTOF(limits); i++)
		if (str_is(reason, limits[i]))
			return true;
	return false;
}

void
agent_fail_cut(struct agent_job *j, struct str reason)
{
	j->ans.truncated = true;
	agent_fail(j, ANSWER_FAILED, "the answer is incomplete: the model "
	    "reached a limit of tokens (%.*s)", STRF(reason));
}

bool
agent_is_true(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}

struct str
agent_json_text(struct arena *a, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_put(&o, v);
	return arena_take(a, &b);
}

static void
take_call(struct agent_job *j, const struct json *v, struct answer_call ***tail)
{
	const struct json *arguments = json_getc(v, "arguments");
	const struct json *result = json_getc(v, "result");
	const struct json *success = json_getc(v, "success");
	const struct json *name = json_getc(v, "name");
	struct answer_call *c = NEW(j->arena, struct answer_call);

	c->name = name != NULL ? arena_str(j->arena, json_text(name)) : STR("");
	c->arguments = arguments != NULL ?
	    agent_json_text(j->arena, arguments) : STR("{}");
	c->result = result != NULL ? agent_json_text(j->arena, result) :
	    STR("");
	c->success = success == NULL || json_bool(success);
	answer_classify(j->arena, c, STR(""));
	**tail = c;
	*tail = &c->next;
	j->ans.ncalls++;
}

void
agent_open_call(struct json_out *o, const struct answer_call *c)
{
	json_open(o, '{');
	json_put_member_cstr(o, "type", "tool.execution_complete");
	json_put_member_str(o, "tool_name", c->name);
	json_put_member_raw(o, "arguments", c->arguments);
	if (c->result.n > 0)
		json_put_member_raw(o, "tool_result", c->result);
	json_put_member_bool(o, "success", c->success);
}

void
agent_put_transcript(struct agent_job *j)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct answer_call *c;

	json_open(&o, '[');
	for (c = j->ans.calls; c != NULL; c = c->next) {
		agent_open_call(&o, c);
		json_close(&o, '}');
	}
	json_open(&o, '{');
	json_put_member_cstr(&o, "type", "assistant.message");
	json_put_member_str(&o, "content", j->ans.output);
	json_close(&o, '}');
	json_close(&o, ']');
	j->ans.transcript = arena_take(j->arena, &b);
}

void
agent_add_skill(struct agent_job *j, struct str name)
{
	struct field_strs *list = &j->ans.skills;
	struct str *v;

	if ((list->n & (list->n - 1)) == 0) {	/* full: twice as much room */
		v = NEW_N(j->arena, struct str, 2 * list->n + 1);
		if (list->n > 0)
			memcpy(v, list->v, list->n * sizeof(*v));
		list->v = v;
	}
	list->v[list->n++] = arena_str(j->arena, name);
}

bool
agent_is_count(const struct json *obj, const char *key)
{
	int64_t n;

	return json_int(json_getc(obj, key), &n) && n >= 0 &&
	    n < INT64_MAX / 2;
}

void
agent_usage_known(struct answer_usage *u, const struct json *usage)
{
	double cost;

	u->known = agent_is_count(usage, "input_tokens") &&
	    agent_is_count(usage, "output_tokens");
	u->turns_known = agent_is_count(usage, "turns");
	u->cached_known = agent_is_count(usage, "cache_read_tokens") ||
	    agent_is_count(usage, "cached_input_tokens");
	u->reasoning_known = agent_is_count(usage, "reasoning_tokens");
	u->cost_known = json_double(json_getc(usage, "cost"), &cost);
}

void
agent_play(struct agent_job *j, const struct agent_script *s)
{
	struct answer_call **tail = &j->ans.calls;
	const struct json *v;
	struct err e;
	size_t i;

	j->ans.output = arena_str(j->arena, s->output);
	for (v = json_first(s->tool_calls); v != NULL; v = v->next)
		take_call(j, v, &tail);
	for (i = 0; i < s->skills.n; i++)
		agent_add_skill(j, s->skills.v[i]);
	j->ans.no_calls = s->tool_calls == NULL ||
	    s->tool_calls->type != JSON_ARRAY;
	if (s->usage != NULL && field_decode_one(j->arena, &usage_table,
	    s->usage, &j->ans.usage, &e) == 0)
		agent_usage_known(&j->ans.usage, s->usage);
	agent_put_transcript(j);
	if (s->error.n > 0)
		agent_fail(j, ANSWER_FAILED, "%.*s", STRF(s->error));
}

int
agent_read_script(struct arena *a, const struct json *v,
    struct agent_script *out)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX | FIELD_OPEN };

	return field_decode(&ctx, &agent_script_table, v, out) == 0 ? 0 : -1;
}

void
agent_write_files(struct agent_job *j, const struct json *files)
{
	const struct json *v, *path, *content;
	struct err e;

	for (v = json_first(files); v != NULL; v = v->next) {
		path = json_getc(v, "path");
		content = json_getc(v, "content");
		if (path != NULL && workspace_put(j->arena, j->req->workspace,
		    json_text(path), content != NULL ? json_text(content) :
		    STR(""), &e) == -1) {
			agent_fail(j, ANSWER_INFRA, "%s", e.msg);
			return;
		}
	}
}

/* Programs may print the secrets of their environment; results are shared. */
void
agent_mask(struct agent_job *j, const struct mask *m)
{
	struct answer *ans = &j->ans;
	struct arena *a = j->arena;
	struct answer_call *c;
	struct mask forms = *m;
	size_t i;

	/* these are not graded: more is masked than the keys */
	forms.forms = true;
	ans->error = mask_text(a, &forms, ans->error);
	ans->stderr_tail = mask_text(a, &forms, ans->stderr_tail);
	if (m->n == 0)
		return;
	ans->output = mask_text(a, m, ans->output);
	ans->transcript = mask_json(a, m, ans->transcript);
	ans->session_id = mask_text(a, m, ans->session_id);
	for (i = 0; i < ans->skills.n; i++)
		ans->skills.v[i] = mask_text(a, m, ans->skills.v[i]);
	for (c = ans->calls; c != NULL; c = c->next) {
		c->name = mask_text(a, m, c->name);
		c->arguments = mask_json(a, m, c->arguments);
		c->result = mask_json(a, m, c->result);
		c->command = mask_text(a, m, c->command);
		c->path = mask_text(a, m, c->path);
		c->url = mask_text(a, m, c->url);
		c->skill = mask_text(a, m, c->skill);
	}
}

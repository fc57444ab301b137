/* SPDX-License-Identifier: ISC */
/*
 * Executor `remote`: evaluation clients do the work (seeds/004).  A task names
 * a tool, a page and an input; the client's result is the answer.
 *
 * The codes of a client's error, as in that document, and its class:
 *
 *	-32001				timeout
 *	-32002 -32003 -32004 -32005	infrastructure
 *	-32700 -32600 -32601		infrastructure: unknown protocol
 *	others				agent error
 */
#include "agent/agent_internal.h"

#include <stdio.h>

#include "agent/hub.h"
#include "json.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

enum {
	EVENTS_MAX = 64 << 10,	/* bytes of progress reports that are kept */
	TEXT_MAX = 300,		/* bytes of a status' message */
	CALLS_MAX = 10000	/* tool calls in an answer */
};

struct evaluation {
	struct agent_job *job;
	struct hub_eval eval;
	struct buf events;		/* of the transcript, with commas */
};

/* The settings for all tasks, of the user and of the suite. */
static void
read_settings(struct arena *a, const struct spec_suite *s,
    struct spec_notes *notes, struct spec_remote *out)
{
	const struct json *from[] = { json_getc(s->executors, "remote"),
		json_getc(s->config.executors, "remote"),
		json_getc(s->config.tree, "remote") };
	size_t i;

	*out = (struct spec_remote){ .retries = -1 };
	for (i = 0; i < COUNTOF(from); i++)
		if (from[i] != NULL)
			spec_read_remote(a, from[i], false, s->path,
			    i > 0 ? notes : NULL, out);
}

/* A task's settings take precedence over those of the suite. */
static struct spec_remote
settings_of(const struct spec_remote *all, const struct spec_task *t)
{
	struct spec_remote r = *all;
	const struct spec_remote *own = t->def->remote;

	if (own == NULL)
		return r;
	if (own->tool.n > 0)
		r.tool = own->tool;
	if (own->url.n > 0) {
		r.url = own->url;
		r.target = own->target;
	}
	if (own->input != NULL)
		r.input = own->input;
	if (own->model != NULL)
		r.model = own->model;
	if (own->metadata != NULL)
		r.metadata = own->metadata;
	if (own->timeout_ms > 0)
		r.timeout_ms = own->timeout_ms;
	if (own->retries >= 0)
		r.retries = own->retries;
	if (own->priority.n > 0)
		r.priority = own->priority;
	return r;
}

static void
check(const struct spec_suite *s, struct spec_notes *notes)
{
	struct spec_remote all;
	const struct spec_task *t;
	size_t i;

	if (s->tasks == NULL) {
		spec_note(notes, FIELD_ERROR, s->config.executor_at,
		    "evaluation clients cannot judge");
		return;
	}
	read_settings(notes->arena, s, notes, &all);
	for (i = 0; i < s->ntasks; i++) {
		t = &s->tasks[i];
		if (settings_of(&all, t).tool.n == 0)
			spec_note(notes, FIELD_ERROR, t->def->remote != NULL ?
			    t->def->remote->at : t->at, "executor \"remote\" "
			    "needs a \"tool\", in the task or in config.remote");
		if (t->def->inputs.follow_up_prompts.n > 0 ||
		    t->def->inputs.responder != NULL)
			spec_note(notes, FIELD_WARNING, t->at, "executor "
			    "\"remote\" sends one prompt: follow-up prompts "
			    "are ignored");
	}
}

static int
open_hub(struct agent *a, struct err *e)
{
	struct spec_remote *all = NEW(a->arena, struct spec_remote);

	a->state = all;
	read_settings(a->arena, a->suite, NULL, all);
	if (a->suite->tasks == NULL)
		return err_set(e, ERR_SCHEMA,
		    "evaluation clients cannot judge");
	if (a->hub == NULL)
		return err_set(e, ERR_SCHEMA, "executor \"remote\" needs an "
		    "address for evaluation clients: give --http HOST:PORT, "
		    "or run the suite in \"waza serve\"");
	return 0;
}

/*
 * The request.
 */
struct request {
	struct json_out out;
	struct arena *arena;
	const struct tmpl_vars *vars;
	struct err err;
	bool failed;
};

static struct str
render(struct request *q, struct str text)
{
	struct str s = tmpl_render(q->arena, text, q->vars, &q->err);

	if (s.p != NULL)
		return s;
	q->failed = true;
	return STR("");
}

/* The reader limits the depth of the tree, and so this recursion. */
static void
put_rendered(struct request *q, const struct json *v)
{
	const struct json *c;
	bool object = v->type == JSON_OBJECT;

	if (v->type == JSON_STRING) {
		json_put_str(&q->out, render(q, json_text(v)));
		return;
	}
	if (!object && v->type != JSON_ARRAY) {
		json_put(&q->out, v);
		return;
	}
	json_open(&q->out, object ? '{' : '[');
	for (c = json_first(v); c != NULL; c = c->next) {
		if (object)
			json_put_key(&q->out, json_key(c));
		put_rendered(q, c);
	}
	json_close(&q->out, object ? '}' : ']');
}

/* Without an input, the prompt is sent as a message. */
static void
put_input(struct request *q, const struct spec_remote *r, struct str prompt)
{
	json_put_key(&q->out, STR("input"));
	if (r->input != NULL) {
		put_rendered(q, r->input);
		return;
	}
	json_open(&q->out, '{');
	json_put_member_nonempty(&q->out, "message", prompt);
	json_close(&q->out, '}');
}

/* A string is the name of the main model. */
static void
put_model(struct request *q, const struct spec_remote *r, struct str model)
{
	if (r->model == NULL && model.n == 0)
		return;
	json_put_key(&q->out, STR("model"));
	if (r->model != NULL && r->model->type == JSON_OBJECT) {
		json_put(&q->out, r->model);
		return;
	}
	json_open(&q->out, '{');
	json_put_member_str(&q->out, "main_model",
	    r->model != NULL && r->model->type == JSON_STRING ?
	    json_text(r->model) : model);
	json_close(&q->out, '}');
}

static bool
has(const struct json *obj, const char *key)
{
	return json_is_set(json_getc(obj, key));
}

/* The given metadata; tags, retries and priority have defaults. */
static void
put_metadata(struct request *q, const struct spec_remote *r,
    const struct agent_request *req)
{
	const struct json *v;

	json_open_member(&q->out, "metadata", '{');
	for (v = json_first(r->metadata); v != NULL; v = v->next) {
		if (v->type == JSON_NULL)
			continue;
		json_put_key(&q->out, json_key(v));
		json_put(&q->out, v);
	}
	if (!has(r->metadata, "tags"))
		field_put_strs(&q->out, "tags", &req->task->def->tags);
	if (!has(r->metadata, "retries"))
		json_put_member_int(&q->out, "retries",
		    r->retries > 0 ? r->retries : 0);
	if (!has(r->metadata, "priority"))
		json_put_member_str(&q->out, "priority", r->priority.n > 0 ?
		    r->priority : STR("normal"));
	json_close(&q->out, '}');
}

/* The params of `evaluate`; p is NULL after an error in a template. */
static struct str
make_params(struct agent_job *j, const struct spec_remote *r,
    int64_t timeout_ms, struct err *e)
{
	const struct agent_request *req = j->req;
	struct buf b = { 0 };
	struct request q = { .out = { .put = buf_sink, .ctx = &b },
		.arena = j->arena, .vars = req->vars };

	json_open(&q.out, '{');
	json_put_member_str(&q.out, "evaluationId", req->task->id);
	json_put_member_str(&q.out, "name", req->task->name);
	if (r->url.n > 0)
		json_put_member_str(&q.out, "url", render(&q, r->url));
	if (r->target != NULL) {
		json_put_key(&q.out, STR("target"));
		put_rendered(&q, r->target);
	}
	json_put_member_str(&q.out, "tool", render(&q, r->tool));
	put_input(&q, r, req->prompt);
	put_model(&q, r, req->model);
	json_put_member_int(&q.out, "timeout", timeout_ms);
	put_metadata(&q, r, req);
	json_close(&q.out, '}');
	if (!q.failed)
		return arena_take(j->arena, &b);
	*e = q.err;
	buf_free(&b);
	return (struct str){ NULL, 0 };
}

static void
on_status(void *arg, const struct hub_status *s)
{
	struct evaluation *r = arg;
	struct json_out o = { .put = buf_sink, .ctx = &r->events };
	char text[TEXT_MAX];
	struct str words = utf8_cut(s->message, TEXT_MAX - 40);

	if (s->progress >= 0)
		snprintf(text, sizeof(text), "%d%%%s%.*s",
		    (int)(s->progress * 100 + 0.5), words.n > 0 ? ": " : "",
		    STRF(words));
	else
		snprintf(text, sizeof(text), "%.*s%s%.*s",
		    STRF(utf8_cut(s->status, 20)), words.n > 0 ? ": " : "",
		    STRF(words));
	r->job->event(r->job->arg, AGENT_STEP, str_of(text));
	if (r->events.n > EVENTS_MAX)
		return;
	json_open(&o, '{');
	json_put_member_str(&o, "type", STR("remote.status"));
	json_put_member_str(&o, "status", s->status);
	if (s->progress >= 0)
		json_put_member_double(&o, "progress", s->progress);
	json_put_member_nonempty(&o, "message", words);
	json_close(&o, '}');
	buf_putc(&r->events, ',');
}

/*
 * The answer.
 */
static const struct json *
first_of(const struct json *obj, const char *a, const char *b)
{
	const struct json *v = json_getc(obj, a);

	return v != NULL ? v : json_getc(obj, b);
}

static bool
is_success(struct str status)
{
	return status.n == 0 || str_is(status, "success") ||
	    str_is(status, "completed") || str_is(status, "ok");
}

static void
take_call(struct evaluation *r, const struct json *v,
    struct answer_call ***tail)
{
	static const char *const kept[] = { "duration", "timestamp", "error" };
	struct arena *a = r->job->arena;
	struct answer_call *c = NEW(a, struct answer_call);
	const struct json *args = first_of(v, "arguments", "input");
	const struct json *result = first_of(v, "result", "output");
	struct json_out o = { .put = buf_sink, .ctx = &r->events };
	size_t i;

	c->name = arena_str(a, json_str(v, "tool").n > 0 ?
	    json_str(v, "tool") : json_str(v, "name"));
	c->arguments = args != NULL ? agent_json_text(a, args) : STR("{}");
	if (result != NULL)
		c->result = agent_json_text(a, result);
	c->success = is_success(json_str(v, "status")) && !has(v, "error");
	c->no_arguments = args == NULL;
	c->no_result = result == NULL;
	answer_classify(a, c, STR(""));
	**tail = c;
	*tail = &c->next;
	r->job->ans.ncalls++;
	agent_open_call(&o, c);
	for (i = 0; i < COUNTOF(kept); i++)
		if (has(v, kept[i]))
			json_put_member(&o, kept[i], json_getc(v, kept[i]));
	json_close(&o, '}');
	buf_putc(&r->events, ',');
}

/* Ends the transcript: the client, and what it reports about its work. */
static void
put_end(struct evaluation *r, const struct hub_end *end)
{
	static const char *const kept[] = { "status", "executionTime",
		"metadata", "code", "message", "data" };
	const struct json *v = end->error != NULL ? end->error : end->result;
	struct json_out o = { .put = buf_sink, .ctx = &r->events };
	size_t i;

	json_open(&o, '{');
	json_put_member_str(&o, "type",
	    end->how == HUB_RESULT ? STR("remote.result") :
	    STR("remote.error"));
	json_put_member_str(&o, "client_id", end->client);
	json_put_member_int(&o, "tries", end->tries);
	for (i = 0; i < COUNTOF(kept); i++)
		if (has(v, kept[i]))
			json_put_member(&o, kept[i], json_getc(v, kept[i]));
	json_close(&o, '}');
	r->job->ans.transcript = arena_fmt(r->job->arena, "[%.*s]",
	    STRF(buf_str(&r->events)));
}

/*
 * {status, output, executionTime, toolCalls, metadata}.  Any other value, even
 * null, 0 or false, is the output itself.
 */
static void
take_result(struct evaluation *r, const struct json *result)
{
	struct agent_job *j = r->job;
	struct answer_call **tail = &j->ans.calls;
	const struct json *out = json_getc(result, "output"), *list, *v;
	struct str status = json_str(result, "status"), why;
	struct json_out o = { .put = buf_sink, .ctx = &r->events };

	if (out == NULL && status.n == 0)
		out = result;
	if (out != NULL)
		j->ans.output = out->type == JSON_STRING ?
		    arena_str(j->arena, json_text(out)) :
		    agent_json_text(j->arena, out);
	list = json_getc(result, "toolCalls");
	j->ans.no_calls = list == NULL || list->type != JSON_ARRAY;
	for (v = json_first(list); v != NULL; v = v->next)
		if (v->type == JSON_OBJECT && j->ans.ncalls < CALLS_MAX)
			take_call(r, v, &tail);
		else
			j->ans.no_calls = true;	/* not all are known */
	json_open(&o, '{');
	json_put_member_str(&o, "type", STR("assistant.message"));
	json_put_member_str(&o, "content", j->ans.output);
	json_close(&o, '}');
	buf_putc(&r->events, ',');
	if (is_success(status))
		return;
	why = json_str(result, "error");
	if (why.n == 0)
		why = json_str(result, "message");
	agent_fail(j, ANSWER_FAILED, "the client's status is \"%.*s\"%s%.*s",
	    STRF(utf8_cut(status, 40)), why.n > 0 ? ": " : "", STRF(why));
}

static void
take_error(struct evaluation *r, const struct json *error)
{
	struct agent_job *j = r->job;
	struct str msg = json_str(error, "message"), why;
	int64_t code = 0;
	enum answer_fault fault = ANSWER_FAILED;

	if (!json_int(json_getc(error, "code"), &code))
		code = 0;
	why = json_str(json_getc(error, "data"), "error");
	if (code == -32001)
		j->ans.late = true;
	else if ((code <= -32002 && code >= -32005) || code == -32700 ||
	    code == -32600 || code == -32601)
		fault = ANSWER_INFRA;
	agent_fail(j, fault, "%.*s%s%.*s (%lld)",
	    STRF(msg), why.n > 0 ? ": " : "", STRF(why), (long long)code);
}

static void
take_end(struct evaluation *r, const struct hub_end *end)
{
	struct agent_job *j = r->job;

	switch (end->how) {
	case HUB_RESULT:
		take_result(r, end->result);
		break;
	case HUB_ERROR:
		take_error(r, end->error);
		break;
	case HUB_TIMEOUT:
		j->ans.late = true;
		agent_fail(j, ANSWER_FAILED, "client %.*s did not answer "
		    "within %lld ms", STRF(end->client),
		    (long long)r->eval.timeout_ms);
		break;
	case HUB_LOST:
		agent_fail(j, ANSWER_INFRA, "resource: client %.*s "
		    "disconnected%s", STRF(end->client), end->tries > 1 ?
		    ", as did those before it" : "");
		break;
	case HUB_NO_CLIENT:
		agent_fail(j, ANSWER_INFRA, "resource: no client with tool "
		    "\"%.*s\" connected within %lld s", STRF(r->eval.tool),
		    (long long)r->eval.wait_ms / 1000);
		break;
	}
}

static void
record(const struct agent_request *req, char way, struct arena *a,
    const struct json *message)
{
	if (req->record != NULL && message != NULL)
		req->record(req->record_arg, way, agent_json_text(a, message));
}

static void
on_done(void *arg, const struct hub_end *end)
{
	struct evaluation *r = arg;
	struct agent_job *j = r->job;

	record(j->req, '<', j->arena, end->result);
	record(j->req, '<', j->arena, end->error);
	take_end(r, end);
	put_end(r, end);
	j->ans.took_ms = end->took_ms > 0 ? end->took_ms : 1;
	buf_free(&r->events);
	agent_done(j);
}

static enum agent_status
start(struct agent *a, struct agent_job *j)
{
	struct spec_remote s = settings_of(a->state, j->req->task);
	struct evaluation *r = NEW(j->arena, struct evaluation);
	struct hub_eval *x = &r->eval;
	struct err e = { 0 };

	if (j->req->sample > 0)
		return agent_fail(j, ANSWER_INFRA,
		    "evaluation clients cannot judge");
	j->state = r;
	r->job = j;
	*x = (struct hub_eval){ .id = j->req->task->id, .arg = r,
		.timeout_ms = s.timeout_ms > 0 ? s.timeout_ms :
		j->req->timeout_ms, .wait_ms = j->req->timeout_ms,
		.retries = s.retries > 0 ? (unsigned)s.retries : 0,
		.priority = HUB_NORMAL, .status = on_status,
		.done = on_done };
	hub_priority_find(s.priority, &x->priority);
	x->tool = tmpl_render(j->arena, s.tool, j->req->vars, &e);
	x->params = make_params(j, &s, x->timeout_ms, &e);
	if (x->tool.p == NULL || x->params.p == NULL ||
	    hub_submit(a->hub, x, &e) == -1)
		return agent_fail(j, ANSWER_INFRA, "%s", e.msg);
	if (j->req->record != NULL)
		j->req->record(j->req->record_arg, '>', x->params);
	return AGENT_LATER;
}

static void
cancel(struct agent *a, struct agent_job *j)
{
	struct evaluation *r = j->state;

	(void)a;
	hub_cancel(&r->eval);
	buf_free(&r->events);
	agent_fail(j, ANSWER_CANCELLED, "cancelled");
	agent_done(j);
}

const struct agent_kind agent_remote = {
	.name = "remote", .evaluates = true, .no_files = true,
	.all_turns = true, .own_deadline = true, .cannot_judge = true, .check = check,
	.needs_workspace = agent_no_workspace, .skills = agent_no_skills,
	.open = open_hub, .start = start, .cancel = cancel
};

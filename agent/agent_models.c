/* SPDX-License-Identifier: ISC */
/*
 * Asks executors for their models.
 *
 *	openai		GET BASE/models, of ollama GET BASE/api/tags
 *	copilot-sdk	connect, models.list
 *	acp		initialize, session/new
 */
#include "agent/agent_models.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent_internal.h"
#include "agent/proto/acp.h"
#include "agent/proto/copilot.h"
#include "agent/proto/openai.h"
#include "json.h"
#include "suite/spec.h"

enum agent_models_by
agent_models_by(struct str executor)
{
	static const struct {
		const struct agent_kind *kind;
		enum agent_models_by by;
	} rows[] = {
		{ &agent_openai, AGENT_MODELS_SERVER },
		{ &agent_copilot, AGENT_MODELS_COPILOT },
		{ &agent_acp, AGENT_MODELS_ACP },
	};
	const struct agent_kind *k = agent_find(executor);
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		if (k == rows[i].kind)
			return rows[i].by;
	return AGENT_MODELS_UNKNOWN;
}

/*
 * Lists.
 */
static int
by_id(const void *x, const void *y)
{
	const struct agent_model *a = x, *b = y;

	return str_cmp(a->id, b->id);
}

static struct str
first_text(const struct json *v, const char *const *keys)
{
	struct str s = STR("");

	for (; *keys != NULL && s.n == 0; keys++)
		s = json_str(v, *keys);
	return s;
}

static struct agent_model
read_model(const struct json *v)
{
	static const char *const ids[] = { "id", "modelId", "value", "model",
		"name", NULL };
	static const char *const names[] = { "name", "display_name", NULL };
	const struct json *can = json_getc(v, "capabilities");
	const struct json *vision = json_getc(json_getc(can, "supports"),
	    "vision");
	struct agent_model m = { .id = first_text(v, ids),
		.name = first_text(v, names), .vision = -1, .node = v };

	if (vision != NULL && vision->type == JSON_BOOL)
		m.vision = json_bool(vision);
	if (!json_int(json_getc(json_getc(can, "limits"),
	    "max_context_window_tokens"), &m.context) &&
	    !json_int(json_getc(v, "context_window"), &m.context))
		json_int(json_getc(v, "context_length"), &m.context);
	return m;
}

static void
take_list(struct agent_models *m, const struct json *list)
{
	const struct json *v;
	struct agent_model one;

	if (list == NULL || list->type != JSON_ARRAY) {
		m->error = STR("the reply has no list of models");
		return;
	}
	if (json_count(list) > AGENT_MODELS_MAX) {
		m->error = STR("more than 10,000 models");
		return;
	}
	m->v = NEW_N(m->arena, struct agent_model, json_count(list));
	for (v = json_first(list); v != NULL; v = v->next) {
		one = read_model(v);
		if (one.id.n > 0)
			m->v[m->n++] = one;
	}
	qsort(m->v, m->n, sizeof(*m->v), by_id);
}

/* A copy of a value that is valid only during a call. */
static const struct json *
copy(struct agent_models *m, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_put(&o, v);
	return arena_json(m->arena, arena_take(m->arena, &b), NULL);
}

static void
set_error(struct agent_models *m, struct str s)
{
	if (m->error.n == 0)
		m->error = arena_str(m->arena, s.n > 0 ? utf8_cut(s, 300) :
		    STR("it gave no reason"));
}

/*
 * A model server.
 */
static void
on_head(void *arg, const struct http_head *h)
{
	((struct agent_models *)arg)->status = h->status;
}

static bool
on_data(void *arg, struct str s)
{
	buf_put(&((struct agent_models *)arg)->body, s);
	return true;
}

static void
read_reply(struct agent_models *m)
{
	struct str text = mask_text(m->arena, &m->server->secrets,
	    arena_str(m->arena, buf_str(&m->body)));
	const struct json *v = arena_json(m->arena, text, NULL), *list;

	if (m->status != 200) {
		struct str why = json_str(json_getc(v, "error"), "message");
		struct str hint = openai_key_hint(m->arena, m->server,
		    m->status);

		set_error(m, arena_fmt(m->arena, "HTTP %d%.*s%s%.*s", m->status,
		    STRF(hint), why.n > 0 ? ": " : "",
		    STRF(utf8_cut(why, 200))));
		return;
	}
	if (v == NULL) {
		m->error = STR("the reply is not JSON");
		return;
	}
	list = json_getc(v, "data");
	take_list(m, list != NULL ? list : json_getc(v, "models"));
}

static void
on_fetched(void *arg)
{
	struct agent_models *m = arg;

	timer_stop(m->procs->loop, &m->timer);
	if (m->fetch.end != FETCH_OK)
		set_error(m, str_of(m->fetch.err.msg));
	else
		read_reply(m);
	buf_free(&m->body);
	m->done(m->arg);
}

static void
on_late_server(void *arg)
{
	struct agent_models *m = arg;

	fetch_stop(&m->fetch);
	buf_free(&m->body);
	m->error = STR("no reply within 20 s");
	m->done(m->arg);
}

static int
ask_server(struct agent_models *m, const struct spec_suite *s, struct err *e)
{
	struct fetch_opts o = { .procs = m->procs, .method = "GET",
		.max = AGENT_MODELS_BYTES, .head = on_head, .data = on_data,
		.done = on_fetched, .arg = m };

	m->server = NEW(m->arena, struct openai);
	if (openai_set_up_list(m->arena, s, m->server, e) == -1)
		return -1;
	o.url = m->server->url;
	o.field = m->server->field;
	o.nfields = m->server->nfields;
	o.env = m->server->env;
	m->timer = (struct timer){ .fn = on_late_server, .arg = m };
	if (fetch_start(&m->fetch, &o) == -1) {
		*e = m->fetch.err;
		return -1;
	}
	timer_start(m->procs->loop, &m->timer, AGENT_MODELS_MS);
	return 0;
}

/*
 * An agent.
 */
static void
on_late_agent(void *arg)
{
	struct agent_models *m = arg;

	set_error(m, STR("no reply within 20 s"));
	wire_kill(&m->wire);
}

static void
on_ended(void *arg)
{
	struct agent_models *m = arg;

	timer_stop(m->procs->loop, &m->timer);
	if (!m->answered)
		set_error(m, arena_fmt(m->arena, "the agent ended without a "
		    "reply: %.*s", STRF(utf8_cut(proc_tail_get(m->arena,
		    &m->wire.tail), 200))));
	m->done(m->arg);
}

/* The newer form of ACP lists models as a configuration option. */
static const struct json *
config_models(const struct json *result)
{
	const struct json *v = json_first(json_getc(result, "configOptions"));

	for (; v != NULL; v = v->next)
		if (str_is(json_str(v, "id"), "model") ||
		    str_is(json_str(v, "category"), "model"))
			return json_getc(v, "options");
	return NULL;
}

static void
on_list(void *ctx, const struct json *result, const struct json *error)
{
	struct agent_models *m = ctx;
	const struct json *list;

	if (result == NULL && error == NULL)
		return;
	m->answered = true;
	if (error != NULL)
		set_error(m, mask_text(m->arena, &m->secrets,
		    json_str(error, "message")));
	else if (m->by == AGENT_MODELS_COPILOT)
		take_list(m, json_getc(copy(m, result), "models"));
	else {
		result = copy(m, result);
		list = json_getc(json_getc(result, "models"),
		    "availableModels");
		if (list == NULL)
			list = config_models(result);
		if (list == NULL)
			set_error(m, STR("the agent does not list models"));
		else
			take_list(m, list);
	}
	wire_end(&m->wire);
}

static void
on_hello(void *ctx, const struct json *result, const struct json *error)
{
	struct agent_models *m = ctx;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (result == NULL && error == NULL)
		return;
	if (m->by == AGENT_MODELS_COPILOT) {	/* older ones lack connect */
		wire_ask(&m->wire, "models.list", STR("{}"), on_list, m);
		return;
	}
	if (error != NULL) {
		on_list(m, NULL, error);
		return;
	}
	json_open(&o, '{');
	json_put_member_cstr(&o, "cwd", m->cwd);
	json_open_member(&o, "mcpServers", '[');
	json_close(&o, ']');
	json_close(&o, '}');
	wire_ask(&m->wire, "session/new", buf_str(&b), on_list, m);
	buf_free(&b);
}

static int
ask_agent(struct agent_models *m, struct wire_opts *o, struct err *e)
{
	bool copilot = m->by == AGENT_MODELS_COPILOT;

	o->cwd = m->cwd;
	o->ended = on_ended;
	o->arg = m;
	if (wire_start(m->procs, &m->wire, o, e) == -1)
		return -1;
	m->timer = (struct timer){ .fn = on_late_agent, .arg = m };
	timer_start(m->procs->loop, &m->timer, AGENT_MODELS_MS);
	wire_ask(&m->wire, copilot ? "connect" : "initialize", copilot ?
	    STR("{}") : STR("{\"protocolVersion\":1,\"clientCapabilities\":"
	    "{\"fs\":{\"readTextFile\":false,\"writeTextFile\":false},"
	    "\"terminal\":false}}"), on_hello, m);
	return 0;
}

static int
ask_copilot(struct agent_models *m, const struct spec_suite *s, struct err *e)
{
	struct copilot_settings set = { 0 };
	struct wire_opts o = { .blocks = true };

	if (copilot_read_settings(m->arena, s, &set, e) == -1)
		return -1;
	m->secrets = set.secrets;
	o.argv = set.argv;
	o.env = (const char *const *)set.env;
	return ask_agent(m, &o, e);
}

static int
ask_acp(struct agent_models *m, const struct spec_suite *s, struct err *e)
{
	struct acp_settings set = { .agent = { NULL, 0 } };
	struct spec_def def = { .rows = NULL };
	struct spec_task task = { .id = STR(""), .name = STR(""),
		.def = &def };
	struct agent_request r = { .task = &task, .prompt = STR(""),
		.model = STR(""), .workspace = m->cwd, .run_id = "" };
	struct wire_opts o = { .blocks = false };

	acp_read(m->arena, s, &set);
	o.argv = acp_argv(m->arena, s, &set, &r, e);
	if (o.argv == NULL)
		return -1;
	return ask_agent(m, &o, e);
}

int
agent_models_start(struct agent_models *m, struct procs *procs,
    struct arena *a, const struct spec_suite *s, const char *cwd,
    struct err *e)
{
	m->arena = a;
	m->procs = procs;
	m->cwd = cwd;
	m->error = STR("");
	m->by = agent_models_by(s->config.executor);
	switch (m->by) {
	case AGENT_MODELS_SERVER:
		return ask_server(m, s, e);
	case AGENT_MODELS_COPILOT:
		return ask_copilot(m, s, e);
	case AGENT_MODELS_ACP:
		return ask_acp(m, s, e);
	case AGENT_MODELS_UNKNOWN:
		break;
	}
	if (agent_find(s->config.executor) == NULL)
		return err_set(e, ERR_SCHEMA, "unknown executor%.*s",
		    STRF(agent_advice(a, s->config.executor)));
	return err_set(e, ERR_SCHEMA, "executor \"%.*s\" cannot be asked for "
	    "its models",
	    STRF(utf8_cut(s->config.executor, 60)));
}

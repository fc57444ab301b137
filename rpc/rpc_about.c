/* SPDX-License-Identifier: ISC */
/*
 * Methods about the service itself: rpc.discover; $/cancelRequest, shutdown and
 * exit of language servers; the schema of a method's parameters; the
 * registration of all methods of evaluations.
 */
#include "rpc/rpc_internal.h"

#include <string.h>

static const char *const types[] = {
	[FIELD_STR] = "string", [FIELD_INT] = "integer",
	[FIELD_NUM] = "number", [FIELD_BOOL] = "boolean",
	[FIELD_ENUM] = "string", [FIELD_STRS] = "array",
	[FIELD_INTS] = "array", [FIELD_OBJECT] = "object",
	[FIELD_OBJECTS] = "array", [FIELD_TREE] = NULL,
};

static void
put_words(struct json_out *o, const struct field *f)
{
	const char *const *w;

	json_open_member(o, "enum", '[');
	for (w = f->words; *w != NULL; w++)
		json_put_cstr(o, *w);
	json_close(o, ']');
}

static void
put_items(struct json_out *o, const struct field *f)
{
	json_put_key(o, STR("items"));
	if (f->type == FIELD_OBJECTS) {
		rpc_put_schema(o, f->sub);
		return;
	}
	json_open(o, '{');
	json_put_member_cstr(o, "type",
	    f->type == FIELD_STRS ? "string" : "integer");
	json_close(o, '}');
}

static void
put_field(struct json_out *o, const struct field *f)
{
	json_open_member(o, f->key, '{');
	if (types[f->type] != NULL)
		json_put_member_cstr(o, "type", types[f->type]);
	if (f->type == FIELD_ENUM)
		put_words(o, f);
	if (f->type == FIELD_STRS || f->type == FIELD_INTS ||
	    f->type == FIELD_OBJECTS)
		put_items(o, f);
	if (f->type == FIELD_INT && (f->min != 0 || f->max != 0)) {
		json_put_member_int(o, "minimum", f->min);
		json_put_member_int(o, "maximum", f->max);
	}
	if (f->help != NULL)
		json_put_member_cstr(o, "description", f->help);
	json_close(o, '}');
}

void
rpc_put_schema(struct json_out *o, const struct field_table *t)
{
	size_t i, required = 0;

	json_open(o, '{');
	json_put_member_cstr(o, "type", "object");
	json_open_member(o, "properties", '{');
	for (i = 0; t != NULL && i < t->n; i++) {
		put_field(o, &t->rows[i]);
		required += t->rows[i].flags & FIELD_REQUIRED;
	}
	json_close(o, '}');
	if (required > 0) {
		json_open_member(o, "required", '[');
		for (i = 0; i < t->n; i++)
			if (t->rows[i].flags & FIELD_REQUIRED)
				json_put_cstr(o, t->rows[i].key);
		json_close(o, ']');
	}
	json_close(o, '}');
}

static void
put_method(struct json_out *o, const struct rpc_method *m)
{
	static const char *const families[] = {
		[RPC_EVAL] = "eval", [RPC_TOOL] = "tool",
		[RPC_SESSION] = "session",
	};

	json_open(o, '{');
	json_put_member_cstr(o, "name", m->name);
	json_put_member_cstr(o, "family", families[m->family]);
	json_put_member_cstr(o, "description", m->help);
	json_put_member_bool(o, "needsHello", m->flags & RPC_HELLO);
	json_put_key(o, STR("params"));
	rpc_put_schema(o, m->params);
	json_close(o, '}');
}

void
rpc_view_params(struct rpc *r, const char *method, struct json_out *o)
{
	const struct rpc_method *m;
	size_t i;

	for (i = 0; (m = rpc_method(r, i)) != NULL; i++)
		if (strcmp(m->name, method) == 0)
			break;
	rpc_put_schema(o, m != NULL ? m->params : NULL);
}

static enum rpc_status
discover(struct rpc_call *c, void *params)
{
	struct json_out *o = &c->out;
	const struct rpc_method *m;
	size_t i;

	(void)params;
	json_open(o, '{');
	json_put_member_cstr(o, "name", "waza");
	json_put_member_cstr(o, "version", c->rpc->version);
	json_open_member(o, "methods", '[');
	for (i = 0; (m = rpc_method(c->rpc, i)) != NULL; i++)
		put_method(o, m);
	json_close(o, ']');
	json_close(o, '}');
	return RPC_DONE;
}

struct cancel_params {
	const struct json *id;
};
static const struct field cancel_rows[] = {
	FIELD(cancel_params, id, FIELD_TREE, .flags = FIELD_REQUIRED,
	    .help = "of the request to cancel"),
};
static const struct field_table cancel_table =
    FIELD_TABLE(cancel_params, cancel_rows);

static enum rpc_status
cancel_request(struct rpc_call *c, void *params)
{
	const struct cancel_params *p = params;

	rpc_stop(c->peer, p->id, true);
	json_put_null(&c->out);
	return RPC_DONE;
}

/* LSP, Shutdown Request: a promise of the client, kept by rpc_check_peer(). */
static enum rpc_status
shut_down(struct rpc_call *c, void *params)
{
	(void)params;
	c->peer->shut = true;
	json_put_null(&c->out);
	return RPC_DONE;
}

/* LSP, Exit Notification: without a shutdown it is a failure. */
static enum rpc_status
exit_now(struct rpc_call *c, void *params)
{
	struct rpc_peer *p = c->peer;

	(void)params;
	if (p->via == RPC_STDIO && !p->shut)
		c->rpc->exit_failed = true;
	json_put_null(&c->out);
	conn_finish(p->conn);
	return RPC_DONE;
}

static const struct rpc_method methods[] = {
	{ .name = "$/cancelRequest", .family = RPC_SESSION,
	    .params = &cancel_table, .fn = cancel_request,
	    .help = "cancel a request" },
	{ .name = "exit", .family = RPC_SESSION, .flags = RPC_OPEN,
	    .fn = exit_now, .help = "close the connection (LSP)" },
	{ .name = "rpc.discover", .family = RPC_EVAL, .fn = discover,
	    .help = "list the methods and their parameters" },
	{ .name = "shutdown", .family = RPC_SESSION, .fn = shut_down,
	    .help = "announce exit (LSP)" },
};
static const struct rpc_module about_module = { .methods = methods,
	.nmethods = COUNTOF(methods) };

void
rpc_add_about(struct rpc *r)
{
	rpc_add(r, &about_module, r);
}

void
rpc_add_evals(struct rpc *r)
{
	rpc_add_about(r);
	rpc_add(r, &rpc_eval_module, r);
	rpc_add(r, &rpc_runs_module, r);
	rpc_add(r, &rpc_run_module, r);
	rpc_add(r, &rpc_skill_module, r);
	rpc_add(r, &rpc_executor_module, r);
}

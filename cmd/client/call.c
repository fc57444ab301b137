/* SPDX-License-Identifier: ISC */
/*
 * waza call, generate-fix and delete-session: one request to a server, and the
 * notifications until its answer.
 *
 * For people, each notification is a line, and the answer follows below them
 * (seeds/003).  For programs (--json), each message is a line.
 */
#include "cmd/client/client_command.h"

#include <string.h>

#include "json.h"

struct call_opt {
	struct cmd_client_opt client;	/* first */
	const char *params_json, *params_file;
	bool json, quiet;
};

#define OPT(m, t, ...) CMD_OPT(call_opt, m, t, __VA_ARGS__)
#define PARAMS_ROWS \
	OPT(params_json, OPT_STR, .name = "params-json", .value = "TEXT", \
	    .group = "Input", .help = "parameters, as JSON"), \
	OPT(params_file, OPT_STR, .name = "params-file", .value = "FILE", \
	    .help = "file with the parameters (-: stdin)")
#define SHOW_ROWS \
	OPT(json, OPT_FLAG, .name = "json", .group = "Output", \
	    .help = "print the messages, one JSON object per line"), \
	OPT(quiet, OPT_FLAG, .name = "quiet", .letter = 'q', \
	    .help = "print only the result"), \
	CMD_CONNECT_OPT, \
	CMD_CLIENT_OPTS
static const struct opt call_rows[] = { PARAMS_ROWS, SHOW_ROWS };
static const struct opt delete_rows[] = { SHOW_ROWS };

struct show {
	const struct call_opt *opt;
	bool titled;		/* the result always has a heading */
	size_t notes;		/* notifications shown */
	int status;
	bool detach;		/* the run continues without this client */
	struct str run_id;	/* of the run to wait for */
	struct buf error;	/* printed to stderr at the end */
};

/*
 * Parameters.
 */
static struct json *
read_params(struct cmd_call *c, const char *name, struct str text)
{
	struct json *v = cmd_read_json(c->arena, text, c->err);

	if (v != NULL && v->type != JSON_OBJECT && v->type != JSON_ARRAY) {
		err_set(c->err, ERR_SCHEMA, "parameters must be an object");
		err_at(c->err, v->line, v->col);
		v = NULL;
	}
	if (v == NULL)
		cmd_complain_at(name, c->err);
	return v;
}

/* -1: the reason was printed; *out is NULL if there are no parameters. */
static int
find_params(struct cmd_call *c, const char *operand, struct json **out)
{
	const struct call_opt *o = c->opt;
	const char *text = operand != NULL ? operand : o->params_json;
	const char *file = o->params_file;
	struct str s = str_of(text != NULL ? text : "");
	int r = 0;

	*out = NULL;
	if ((operand != NULL) + (o->params_json != NULL) + (file != NULL) > 1)
		r = err_set(c->err, ERR_SCHEMA, "parameters are given twice");
	else if (file != NULL)
		r = cmd_read_input(c->arena, file, &s, c->err);
	if (r == -1)
		cmd_complain(c->err);
	if (r == -1 || (text == NULL && file == NULL))
		return r;
	*out = read_params(c, file != NULL ? file : operand != NULL ?
	    "PARAMS" : "--params-json", s);
	return *out == NULL ? -1 : 0;
}

/*
 * Messages from the server.
 */
static void
put_value(struct cmd_ask *k, const char *title, const struct json *v,
    unsigned indent)
{
	struct buf b = { 0 };

	buf_puts(&b, title);
	client_put_json(&b, v, indent);
	buf_putc(&b, '\n');
	cmd_stdout_put(&k->out, buf_str(&b));
	buf_free(&b);
}

static void
put_result(struct cmd_ask *k, const struct json *result)
{
	const struct show *s = k->arg;
	bool title = !s->opt->quiet && (s->titled || s->notes > 0);

	if (!s->opt->json)
		put_value(k, title ? "\n--- Final Result ---\n" : "", result,
		    2);
}

static void
on_note(struct cmd_ask *k, const struct json *message, struct str method,
    const struct json *params)
{
	struct show *s = k->arg;
	struct buf b = { 0 };

	if (s->opt->json)
		put_value(k, "", message, 0);
	if (s->run_id.n > 0 && str_is(method, "eval.complete") &&
	    str_eq(json_str(params, "runId"), s->run_id)) {
		s->status = cmd_is_true(json_getc(params, "summary"), "ok") ?
		    CMD_OK : CMD_FAILED;
		put_result(k, params);
		k->over = true;
	} else if (!s->opt->json && !s->opt->quiet) {
		client_put_note(&b, method, params);
		cmd_stdout_put(&k->out, buf_str(&b));
		buf_free(&b);
		s->notes++;
	}
}

/*
 * A run that eval.run has started ends with this connection, unless it is
 * detached: so wait for the end of the run, which is the result.
 */
static bool
waits_for_run(struct cmd_ask *k, const struct json *result)
{
	struct show *s = k->arg;

	if (strcmp(k->method, "eval.run") != 0 || s->detach)
		return false;
	s->run_id = arena_str(k->call->arena, json_str(result, "runId"));
	return s->run_id.n > 0;
}

static bool
on_answer(struct cmd_ask *k, const struct client_answer *a)
{
	struct show *s = k->arg;

	if (s->opt->json)
		put_value(k, "", a->message, 0);
	if (a->error != NULL) {
		s->status = CMD_FAILED;
		buf_fmt(&s->error, "waza: %.100s: ", k->method);
		client_put_error(&s->error, a->error);
		return true;
	}
	if (waits_for_run(k, a->result))
		return false;
	put_result(k, a->result);
	return true;
}

static int
ask(struct cmd_call *c, const char *method, const struct json *params,
    bool titled)
{
	struct cmd_ask *k = NEW(c->arena, struct cmd_ask);
	struct show s = { .opt = c->opt, .titled = titled,
		.detach = cmd_is_true(params, "detach") };
	struct buf b = { 0 };
	struct json_out w = { .put = buf_sink, .ctx = &b };
	int status = CMD_ERROR;

	if (params != NULL)
		json_put(&w, params);
	*k = (struct cmd_ask){ .call = c, .method = method,
		.params = buf_str(&b), .notify = on_note, .answer = on_answer,
		.arg = &s };
	if (cmd_client_find(c, &s.opt->client, &k->opts) == 0)
		status = cmd_ask(k);
	if (!s.opt->json && s.error.n > 0)
		cmd_say("%.*s", STRF(buf_str(&s.error)));
	buf_free(&b);
	buf_free(&s.error);
	return status != CMD_OK ? status : s.status;
}

static int
call_main(struct cmd_call *c)
{
	struct json *params;

	if (find_params(c, c->nargs > 1 ? c->args[1] : NULL, &params) == -1)
		return CMD_ERROR;
	return ask(c, c->args[0], params, false);
}

const struct cmd_command cmd_call_server = {
	.name = "call", .group = CMD_SERVERS, .usage = "[OPTION ...] METHOD [PARAMS]",
	.opts = CMD_OPTS(call_rows), .size = sizeof(struct call_opt),
	.required = { "METHOD" }, .max = 2, .fn = call_main,
	.help = "Call a method of the server"
};

static int
generate_fix_main(struct cmd_call *c)
{
	struct json *params;

	if (find_params(c, NULL, &params) == -1)
		return CMD_ERROR;
	if (params != NULL)
		return ask(c, "kaiak/generate_fix", params, true);
	err_set(c->err, ERR_SCHEMA, "missing parameters: give --params-json "
	    "or --params-file");
	return cmd_complain(c->err);
}

const struct cmd_command cmd_generate_fix = {
	.name = "generate-fix", .group = CMD_SERVERS,
	.usage = "--params-json TEXT|--params-file FILE [OPTION ...]",
	.opts = CMD_OPTS(call_rows), .size = sizeof(struct call_opt),
	.fn = generate_fix_main,
	.help = "Let an agent fix problems found by a migration tool"
};

static int
delete_session_main(struct cmd_call *c)
{
	struct buf b = { 0 };
	struct json_out w = { .put = buf_sink, .ctx = &b };
	struct json *params;

	json_open(&w, '{');
	json_put_member_cstr(&w, "session_id", c->args[0]);
	json_close(&w, '}');
	params = cmd_read_json(c->arena, arena_str(c->arena, buf_str(&b)),
	    c->err);
	buf_free(&b);
	return ask(c, "kaiak/delete_session", params, false);
}

const struct cmd_command cmd_delete_session = {
	.name = "delete-session", .group = CMD_SERVERS, .usage = "[OPTION ...] ID",
	.opts = CMD_OPTS(delete_rows), .size = sizeof(struct call_opt),
	.required = { "ID" }, .max = 1, .fn = delete_session_main,
	.help = "Delete a session of generate-fix"
};

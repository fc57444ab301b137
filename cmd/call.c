/* SPDX-License-Identifier: ISC */
/*
 * waza call, generate-fix, delete-session: one question to a server, and all
 * that it tells until the answer.
 *
 * For people each notification is a line, and the answer stands below them
 * (seeds/003).  For programs the messages themselves are lines.
 */
#include "cmd/client_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"

struct call_opt {
	struct cmd_client_opt client;	/* first */
	const char *params_json, *params_file;
	bool json, quiet;
};

#define ROW(m, t, ...) \
	{ .type = t, .off = offsetof(struct call_opt, m), __VA_ARGS__ }
#define SHOW_ROWS \
	ROW(json, OPT_FLAG, .name = "json", \
	    .help = "print the messages, one JSON object a line"), \
	ROW(quiet, OPT_FLAG, .name = "quiet", .letter = 'q', \
	    .help = "print nothing but the result"), \
	CMD_CONNECT_OPT, \
	CMD_CLIENT_OPTS
#define PARAMS_ROWS \
	ROW(params_json, OPT_STR, .name = "params-json", .value = "TEXT", \
	    .help = "the parameters"), \
	ROW(params_file, OPT_STR, .name = "params-file", .value = "FILE", \
	    .help = "where the parameters are; - is stdin")
static const struct opt call_rows[] = { PARAMS_ROWS, SHOW_ROWS };
static const struct opt delete_rows[] = { SHOW_ROWS };

struct show {
	const struct call_opt *opt;
	bool titled;		/* the result has a heading, in any case */
	size_t notes;		/* shown */
	int status;
	bool detach;		/* what was asked for goes on without us */
	struct str run_id;	/* of the run that is waited for */
	struct buf error;	/* for stderr */
};

/*
 * Parameters.
 */
static struct json *
read_params(struct cmd_call *c, const char *name, struct str text)
{
	struct json_mem mem = { arena_hook, c->arena };
	struct json_error je;
	struct json *v = json_read(&mem, text, 0, &je);

	if (v == NULL) {
		err_set(c->err, ERR_SYNTAX, "%s", je.msg);
		err_at(c->err, je.line, je.col);
	} else if (v->type != JSON_OBJECT && v->type != JSON_ARRAY) {
		err_set(c->err, ERR_SCHEMA, "parameters are an object");
		err_at(c->err, v->line, v->col);
		v = NULL;
	}
	if (v == NULL)
		cmd_complain_at(name, c->err);
	return v;
}

/* -1: it has said what is wrong; *out is NULL when there are none. */
static int
find_params(struct cmd_call *c, const char *operand, struct json **out)
{
	const struct call_opt *o = c->opt;
	const char *text = operand != NULL ? operand : o->params_json;
	const char *file = o->params_file;
	struct str s = { 0 };

	*out = NULL;
	if ((operand != NULL) + (o->params_json != NULL) + (file != NULL) > 1) {
		err_set(c->err, ERR_SCHEMA, "the parameters are given twice");
		cmd_complain(c->err);
		return -1;
	}
	if (text == NULL && file == NULL)
		return 0;
	if (text != NULL)
		s = str_of(text);
	else if (strcmp(file, "-") == 0 ? os_read_fd(c->arena, STDIN_FILENO,
	    "standard input", CMD_INPUT_MAX, &s, c->err) == -1 :
	    os_read_file(c->arena, file, CMD_INPUT_MAX, &s, c->err) == -1) {
		cmd_complain(c->err);
		return -1;
	}
	*out = read_params(c, file != NULL ? file : operand != NULL ?
	    "PARAMS" : "--params-json", s);
	return *out == NULL ? -1 : 0;
}

/*
 * What comes.
 */
static void
put_line(struct cmd_ask *k, const struct json *message)
{
	struct buf b = { 0 };

	client_put_json(&b, message, 0);
	buf_putc(&b, '\n');
	cmd_stdout_put(&k->out, buf_str(&b));
	buf_free(&b);
}

static void
put_result(struct cmd_ask *k, const struct json *result)
{
	struct show *s = k->arg;
	struct buf b = { 0 };

	if (s->opt->json)
		return;
	if (!s->opt->quiet && (s->titled || s->notes > 0))
		buf_puts(&b, "\n--- Final Result ---\n");
	client_put_json(&b, result, 2);
	buf_putc(&b, '\n');
	cmd_stdout_put(&k->out, buf_str(&b));
	buf_free(&b);
}

static bool
is_true(const struct json *v)
{
	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}

static bool
is_text(const struct json *v, struct str want)
{
	return v != NULL && v->type == JSON_STRING &&
	    str_eq(json_text(v), want);
}

static void
on_note(struct cmd_ask *k, const struct json *message, struct str method,
    const struct json *params)
{
	struct show *s = k->arg;
	struct buf b = { 0 };

	if (s->opt->json)
		put_line(k, message);
	if (s->run_id.n > 0 && str_is(method, "eval.complete") &&
	    is_text(json_getc(params, "runId"), s->run_id)) {
		s->status = is_true(json_getc(json_getc(params, "summary"),
		    "ok")) ? CMD_OK : CMD_FAILED;
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
 * A run that eval.run has started would end with us, unless it is detached:
 * then its end is the result.
 */
static bool
waits_for_run(struct cmd_ask *k, const struct json *result)
{
	struct show *s = k->arg;
	const struct json *id = json_getc(result, "runId");

	if (strcmp(k->method, "eval.run") != 0 || s->detach || id == NULL ||
	    id->type != JSON_STRING)
		return false;
	s->run_id = arena_str(k->call->arena, json_text(id));
	return s->run_id.n > 0;
}

static bool
on_answer(struct cmd_ask *k, const struct client_answer *a)
{
	struct show *s = k->arg;

	if (s->opt->json)
		put_line(k, a->message);
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
		.detach = is_true(json_getc(params, "detach")) };
	struct buf b = { 0 };
	struct json_out w = { .put = buf_sink, .ctx = &b };
	int status = CMD_ERROR;

	if (params != NULL)
		json_put(&w, params);
	k->call = c;
	k->method = method;
	k->params = buf_str(&b);
	k->notify = on_note;
	k->answer = on_answer;
	k->arg = &s;
	if (cmd_client_find(c, &s.opt->client, &k->opts) == 0)
		status = cmd_ask(k);
	if (!s.opt->json && s.error.n > 0)
		fprintf(stderr, "%.*s", STRF(buf_str(&s.error)));
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
	.name = "call", .usage = "[OPTION ...] METHOD [PARAMS]",
	.opts = CMD_OPTS(call_rows), .size = sizeof(struct call_opt),
	.min = 1, .max = 2, .fn = call_main,
	.help = "ask the server anything"
};

static int
generate_fix_main(struct cmd_call *c)
{
	struct json *params;

	if (find_params(c, NULL, &params) == -1)
		return CMD_ERROR;
	if (params != NULL)
		return ask(c, "kaiak/generate_fix", params, true);
	err_set(c->err, ERR_SCHEMA, "the parameters are missing: give "
	    "--params-json or --params-file");
	return cmd_complain(c->err);
}

const struct cmd_command cmd_generate_fix = {
	.name = "generate-fix",
	.usage = "--params-json TEXT|--params-file FILE [OPTION ...]",
	.opts = CMD_OPTS(call_rows), .size = sizeof(struct call_opt),
	.fn = generate_fix_main,
	.help = "have an agent fix what a migration has found"
};

static int
delete_session_main(struct cmd_call *c)
{
	struct json_mem mem = { arena_hook, c->arena };
	struct json_error je;
	struct buf b = { 0 };
	struct json_out w = { .put = buf_sink, .ctx = &b };
	struct json *params;

	json_open(&w, '{');
	json_put_member_cstr(&w, "session_id", c->args[0]);
	json_close(&w, '}');
	params = json_read(&mem, arena_str(c->arena, buf_str(&b)), 0, &je);
	buf_free(&b);
	return ask(c, "kaiak/delete_session", params, false);
}

const struct cmd_command cmd_delete_session = {
	.name = "delete-session", .usage = "[OPTION ...] ID",
	.opts = CMD_OPTS(delete_rows), .size = sizeof(struct call_opt),
	.min = 1, .max = 1, .fn = delete_session_main,
	.help = "end a session of generate-fix"
};

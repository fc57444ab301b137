/* SPDX-License-Identifier: ISC */
/* Shared by the commands that ask a server: which server, and one request. */
#include "cmd/client/client_command.h"

#include <stdlib.h>
#include <string.h>

#include "suite/config.h"

enum {
	CANCEL_MS = 500,	/* to send a cancellation */
	MESSAGE_MIN = 256 << 20	/* bytes: an answer may contain a whole fix */
};

static bool
is_set(const char *name)
{
	const char *v = getenv(name);

	return v != NULL && v[0] != '\0';
}

static struct config *
settings(struct cmd_call *c, const struct cmd_client_opt *o,
    const struct client_stored *stored)
{
	struct config_flag flags[] = {
		{ o->framing != NULL ? "--framing" : "connection", "framing",
		    o->framing != NULL ? o->framing : stored->framing },
		{ o->token_file != NULL ? "--token-file" : "connection",
		    "token_file", o->token_file != NULL ? o->token_file :
		    stored->token_file },
		{ "--timeout", "timeout_seconds", o->timeout },
	};
	struct config_sources from = { .path = o->config_path,
		.json = o->config_json, .flags = flags, .token = c->token,
		.trust = o->trust,
		.nflags = cmd_given_flags(flags, COUNTOF(flags)) };

	return cmd_load_config(c, &from);
}

/* Whether the settings name a host or port, besides the defaults. */
static bool
names_server(struct cmd_call *c, const struct config *config)
{
	struct config_leaf *v;
	size_t i, n = config_leaves(c->arena, config, &v);

	for (i = 0; i < n; i++)
		if ((str_is(v[i].key, "host") || str_is(v[i].key, "port")) &&
		    v[i].at.file != NULL)
			return true;
	return false;
}

static const char *
host_port(struct cmd_call *c, const struct config *config)
{
	bool six = memchr(config->host.p, ':', config->host.n) != NULL;

	return arena_fmt(c->arena, six ? "tcp:[%s]:%d" : "tcp:%s:%d",
	    config->host.p, (int)config->port).p;
}

/* NULL: no server is known, which was printed. */
static const char *
find_name(struct cmd_call *c, const struct cmd_client_opt *o,
    const struct client_stored *stored, const struct config *config)
{
	if (o->connect != NULL)
		return o->connect;
	if (is_set("WAZA_HOST") || is_set("WAZA_PORT"))
		return host_port(c, config);
	if (stored->name != NULL)
		return stored->name;
	if (names_server(c, config))
		return host_port(c, config);
	err_set(c->err, ERR_SCHEMA, "not connected to a server: run \"waza "
	    "connect TARGET\", or give --connect TARGET");
	cmd_complain(c->err);
	return NULL;
}

static void
fill_in(const struct config *config, struct client_opts *out)
{
	static const struct conn_framer *const framers[] = {
		[CONFIG_AUTO] = NULL, [CONFIG_LINE] = &conn_line,
		[CONFIG_LSP] = &conn_lsp,
	};

	out->framer = framers[config->framing];
	out->version = cmd_version_number;
	out->timeout_ms = config->timeout_seconds * 1000;
	out->limits.message_max = (size_t)config->limits.message_bytes;
	if (out->limits.message_max < MESSAGE_MIN)
		out->limits.message_max = MESSAGE_MIN;
	out->limits.queue_max = (size_t)config->limits.queue_bytes;
}

int
cmd_client_find(struct cmd_call *c, const struct cmd_client_opt *o,
    struct client_opts *out)
{
	struct client_stored stored = { 0 }, none = { 0 };
	struct config *config;
	const char *name;
	bool own = o->connect != NULL || is_set("WAZA_HOST") ||
	    is_set("WAZA_PORT");

	*out = (struct client_opts){ 0 };
	if (!own && client_load(c->arena, &stored, c->err) == -1) {
		cmd_complain(c->err);
		return -1;
	}
	if (c->token != NULL)
		stored.token_file = NULL;	/* WAZA_AUTH_TOKEN wins */
	config = settings(c, o, own ? &none : &stored);
	if (config == NULL)
		return -1;
	name = find_name(c, o, &stored, config);
	if (name == NULL)
		return -1;
	fill_in(config, out);
	if (client_target(c->arena, name, &out->target, c->err) == 0 &&
	    config_token(c->arena, config, &out->token, NULL, c->err) == 0)
		return 0;
	cmd_complain(c->err);
	return -1;
}

/*
 * One request.
 */
static void
on_answer(void *arg, const struct client_answer *a)
{
	struct cmd_ask *k = arg;

	k->id = 0;
	if (a->lost != NULL)
		return;		/* on_change handles it */
	k->over = k->answer == NULL || k->answer(k, a);
}

static void
on_note(void *arg, const struct json *message, struct str method,
    const struct json *params)
{
	struct cmd_ask *k = arg;

	if (k->notify != NULL && !k->over)
		k->notify(k, message, method, params);
}

static void
on_change(void *arg)
{
	struct cmd_ask *k = arg;

	/* After the answer the server may disconnect. */
	if (k->client.state == CLIENT_OVER && !k->over)
		k->over = k->lost = true;
}

/* After a signal, and if nobody reads stdout any more. */
static void
end_waiting(void *arg)
{
	struct cmd_ask *k = arg;

	k->over = true;
}

static void
hold(void *arg, bool on)
{
	struct cmd_ask *k = arg;

	client_hold(&k->client, on);
}

/* Signals are watched last, so that they kill a blocking name lookup. */
static int
start(struct cmd_ask *k)
{
	struct err *e = k->call->err;

	k->loop = loop_new(NULL, e);
	if (k->loop == NULL)
		return -1;
	k->out = (struct cmd_stdout){ .loop = k->loop, .hold = hold,
		.gone = end_waiting, .arg = k };
	k->opts.loop = k->loop;
	k->opts.notify = on_note;
	k->opts.changed = on_change;
	k->opts.arg = k;
	client_start(&k->client, &k->opts);
	k->id = client_ask(&k->client, k->method, k->params, on_answer, k);
	return cmd_signals_start(&k->signals, k->loop, end_waiting, k, e);
}

static void
on_late(void *arg)
{
	bool *late = arg;

	*late = true;
}

/* Tells the server that the answer is no longer needed. */
static void
cancel(struct cmd_ask *k)
{
	struct err e;
	bool late = false;
	struct timer t = { .fn = on_late, .arg = &late };

	if (k->id == 0 || k->client.state != CLIENT_READY)
		return;
	client_cancel(&k->client, k->id);
	timer_start(k->loop, &t, CANCEL_MS);
	while (!late && client_pending(&k->client) > 0)
		if (loop_turn(k->loop, &e) != 1)
			break;
	timer_stop(k->loop, &t);
}

static int
wait_for(struct cmd_ask *k)
{
	struct err *e = k->call->err;
	int signo;

	while (!k->over)
		if (cmd_turn(k->loop, e) == -1)
			return cmd_complain(e);
	cmd_stdout_flush(&k->out, &k->signals.signo);
	signo = k->signals.signo;
	if (signo != 0 || k->out.lost)
		cancel(k);
	if (signo != 0)
		return 128 + signo;
	if (k->lost)
		return cmd_complain(&k->client.err);
	return k->out.lost ? cmd_complain_stdout(k->out.sys) : CMD_OK;
}

int
cmd_ask(struct cmd_ask *k)
{
	int status = CMD_ERROR;

	if (start(k) == 0)
		status = wait_for(k);
	else
		cmd_complain(k->call->err);
	if (k->loop == NULL)
		return status;
	k->server = arena_str(k->call->arena, k->client.server);
	client_fini(&k->client);
	cmd_stdout_end(&k->out);
	cmd_signals_stop(&k->signals);
	loop_free(k->loop);
	k->loop = NULL;
	return status;
}

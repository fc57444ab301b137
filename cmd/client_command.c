/* SPDX-License-Identifier: ISC */
/* A command that asks a server. */
#include "cmd/client_command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "suite/config.h"

enum {
	PARTING_MS = 500,	/* to get the last words out */
	MESSAGE_MIN = 256 << 20	/* bytes: an answer may hold all of a fix */
};

static bool
is_set(const char *name)
{
	const char *v = getenv(name);

	return v != NULL && v[0] != '\0';
}

static size_t
flags(const struct cmd_client_opt *o, const struct client_stored *stored,
    struct config_flag *v)
{
	size_t n = 0;

	if (o->framing != NULL)
		v[n++] = (struct config_flag){ "--framing", "framing",
			o->framing };
	else if (stored->framing != NULL)
		v[n++] = (struct config_flag){ "connection", "framing",
			stored->framing };
	if (o->token_file != NULL)
		v[n++] = (struct config_flag){ "--token-file", "token_file",
			o->token_file };
	else if (stored->token_file != NULL)
		v[n++] = (struct config_flag){ "connection", "token_file",
			stored->token_file };
	if (o->timeout != NULL)
		v[n++] = (struct config_flag){ "--timeout", "timeout_seconds",
			o->timeout };
	return n;
}

static struct config *
settings(struct cmd_call *c, const struct cmd_client_opt *o,
    const struct client_stored *stored)
{
	struct config_flag v[3];
	struct config_sources from = { .path = o->config_path,
		.json = o->config_json, .flags = v, .token = c->token };
	struct spec_notes notes = { .arena = c->arena };
	const struct spec_note *n;
	struct buf b = { 0 };
	struct config *config;

	from.nflags = flags(o, stored, v);
	config = config_load(c->arena, &from, &notes);
	for (n = notes.head; n != NULL; n = n->next)
		spec_note_put(&b, n);
	fprintf(stderr, "%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return config;
}

/* Whether somebody has said where the server is. */
static bool
says_host(struct cmd_call *c, const struct config *config)
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

/* NULL: none is known, and it has said so. */
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
	if (says_host(c, config))
		return host_port(c, config);
	err_set(c->err, ERR_SCHEMA, "nothing is connected: \"waza connect "
	    "TARGET\" remembers a server, --connect TARGET names one");
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
		stored.token_file = NULL;	/* what is set goes before */
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
 * One question.
 */
static void
on_answer(void *arg, const struct client_answer *a)
{
	struct cmd_ask *k = arg;

	k->id = 0;
	if (a->lost != NULL)
		return;		/* on_change says it */
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

	if (k->client.state != CLIENT_OVER || k->over)
		return;			/* who has answered may go */
	k->over = k->lost = true;
}

static void
on_signal(void *arg)
{
	struct cmd_ask_signal *s = arg;

	s->ask->signo = s->w.signo;
	s->ask->over = true;
}

static void
hold(void *arg, bool on)
{
	struct cmd_ask *k = arg;

	client_hold(&k->client, on);
}

static void
gone(void *arg)
{
	struct cmd_ask *k = arg;

	k->over = true;
}

/* A name that is being looked up is given up by the signal itself. */
static int
start(struct cmd_ask *k)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct err *e = k->call->err;
	size_t i;

	k->loop = loop_new(NULL, e);
	if (k->loop == NULL)
		return -1;
	k->out = (struct cmd_stdout){ .loop = k->loop, .hold = hold,
		.gone = gone, .arg = k };
	k->opts.loop = k->loop;
	k->opts.notify = on_note;
	k->opts.changed = on_change;
	k->opts.arg = k;
	client_start(&k->client, &k->opts);
	k->id = client_ask(&k->client, k->method, k->params, on_answer, k);
	for (i = 0; i < COUNTOF(signals); i++) {
		k->sig[i].ask = k;
		k->sig[i].w = (struct sig_watch){ .signo = signals[i],
			.fn = on_signal, .arg = &k->sig[i] };
		if (sig_start(k->loop, &k->sig[i].w, e) == -1)
			return -1;
	}
	return 0;
}

static void
on_late(void *arg)
{
	bool *late = arg;

	*late = true;
}

/* What was asked is wanted no more: the server should know. */
static void
part(struct cmd_ask *k)
{
	struct err e;
	bool late = false;
	struct timer t = { .fn = on_late, .arg = &late };

	if (k->id == 0 || k->client.state != CLIENT_READY)
		return;
	client_cancel(&k->client, k->id);
	timer_start(k->loop, &t, PARTING_MS);
	while (!late && client_pending(&k->client) > 0)
		if (loop_turn(k->loop, &e) != 1)
			break;
	timer_stop(k->loop, &t);
}

static int
wait_for(struct cmd_ask *k)
{
	struct err *e = k->call->err;
	int r;

	while (!k->over) {
		r = loop_turn(k->loop, e);
		if (r == 0)		/* a bug of ours; better than a hang */
			err_set(e, ERR_SYS, "nothing left to wait for");
		if (r != 1)
			return cmd_complain(e);
	}
	cmd_stdout_flush(&k->out, &k->signo);
	if (k->signo != 0 || k->out.lost)
		part(k);
	if (k->signo != 0)
		return 128 + k->signo;
	if (k->lost)
		return cmd_complain(&k->client.err);
	if (!k->out.lost)
		return CMD_OK;
	if (k->out.sys == EPIPE)
		return CMD_ERROR;	/* who has read enough knows */
	err_set(e, ERR_SYS, "cannot write to standard output: %s",
	    strerror(k->out.sys));
	return cmd_complain(e);
}

int
cmd_ask(struct cmd_ask *k)
{
	int status = CMD_ERROR;
	size_t i;

	if (start(k) == 0)
		status = wait_for(k);
	else
		cmd_complain(k->call->err);
	if (k->loop == NULL)
		return status;
	k->server = arena_str(k->call->arena, k->client.server);
	client_fini(&k->client);
	cmd_stdout_end(&k->out);
	for (i = 0; i < COUNTOF(k->sig); i++)
		sig_stop(k->loop, &k->sig[i].w);
	loop_free(k->loop);
	k->loop = NULL;
	return status;
}

/* SPDX-License-Identifier: ISC */
/*
 * waza connect, disconnect and ping: three small commands about the server
 * that the other commands ask.
 *
 * The address, the framing and the path of the token file are stored; a token
 * never is.
 */
#include "cmd/client/client_command.h"

#include "base/os.h"
#include "json.h"

static const struct opt connect_rows[] = { CMD_CLIENT_OPTS };

static int
print_line(struct cmd_call *c, const char *words, const char *name,
    struct str server)
{
	struct buf b = { 0 };

	buf_fmt(&b, "%s %s", words, name);
	if (server.n > 0)
		buf_fmt(&b, " (%.*s)", STRF(server));
	buf_putc(&b, '\n');
	return cmd_finish(c, &b, CMD_OK);
}

static int
show_connected(struct cmd_call *c)
{
	struct client_stored s;
	int r = client_load(c->arena, &s, c->err);

	if (r == -1)
		return cmd_complain(c->err);
	if (r == 1)
		return print_line(c, "connected to", s.name, STR(""));
	err_set(c->err, ERR_SCHEMA, "not connected to a server: run "
	    "\"waza connect TARGET\"");
	cmd_complain(c->err);
	return CMD_FAILED;
}

/* Any answer to ping, even an error, proves that it is a server. */
static int
connect_main(struct cmd_call *c)
{
	struct cmd_client_opt o = *(const struct cmd_client_opt *)c->opt;
	struct cmd_ask *k = NEW(c->arena, struct cmd_ask);
	struct client_stored s = { .framing = o.framing,
		.token_file = o.token_file };
	int status;

	if (c->nargs == 0)
		return show_connected(c);
	o.connect = c->args[0];
	k->call = c;
	k->method = "ping";
	if (cmd_client_find(c, &o, &k->opts) == -1)
		return CMD_ERROR;
	status = cmd_ask(k);
	if (status != CMD_OK)
		return status;
	s.name = k->opts.target.name;
	if (client_store(c->arena, &s, c->err) == -1)
		return cmd_complain(c->err);
	return print_line(c, "connected to", s.name, k->server);
}

const struct cmd_command cmd_connect = {
	.name = "connect", .group = CMD_SERVERS, .usage = "[OPTION ...] [TARGET]",
	.opts = CMD_OPTS(connect_rows), .size = sizeof(struct cmd_client_opt),
	.max = 1, .fn = connect_main,
	.help = "Remember a server for the commands that need one"
};

static int
disconnect_main(struct cmd_call *c)
{
	struct client_stored s;
	int known = client_load(c->arena, &s, c->err);
	int r = client_forget(c->arena, c->err);

	if (r == -1)
		return cmd_complain(c->err);
	if (r == 1 && known == 1)
		return print_line(c, "disconnected from", s.name, STR(""));
	return print_line(c, "not connected", "to a server", STR(""));
}

const struct cmd_command cmd_disconnect = {
	.name = "disconnect", .group = CMD_SERVERS, .usage = "", .fn = disconnect_main,
	.help = "Forget the connected server"
};

struct ping_opt {
	struct cmd_client_opt client;	/* first */
	bool json;
};

static const struct opt ping_rows[] = {
	CMD_CONNECT_OPT,
	CMD_OPT(ping_opt, json, OPT_FLAG, .name = "json",
	    .help = "print JSON"),
	CMD_CLIENT_OPTS
};

static bool
on_pong(struct cmd_ask *k, const struct client_answer *a)
{
	int64_t *took_ns = k->arg;

	(void)a;
	*took_ns = os_now_ns() - *took_ns;
	return true;
}

static void
put_pong(struct buf *b, const struct cmd_ask *k, double ms)
{
	struct json_out w = { .put = buf_sink, .ctx = b };

	json_open(&w, '{');
	json_put_member_cstr(&w, "target", k->opts.target.name);
	json_put_member_str(&w, "server", k->server);
	json_put_member_double(&w, "ms", ms);
	json_close(&w, '}');
	buf_putc(b, '\n');
}

static int
ping_main(struct cmd_call *c)
{
	const struct ping_opt *o = c->opt;
	int64_t took_ns = os_now_ns();
	struct cmd_ask *k = NEW(c->arena, struct cmd_ask);
	struct buf b = { 0 };
	int status;

	*k = (struct cmd_ask){ .call = c, .method = "ping", .answer = on_pong,
		.arg = &took_ns };
	if (cmd_client_find(c, &o->client, &k->opts) == -1)
		return CMD_ERROR;
	status = cmd_ask(k);
	if (status != CMD_OK)
		return status;
	if (o->json) {
		put_pong(&b, k, (double)took_ns / 1e6);
		c->form = GUARD_JSON;
		return cmd_finish(c, &b, CMD_OK);
	}
	return print_line(c, arena_fmt(c->arena, "answer after %.1f ms from",
	    (double)took_ns / 1e6).p, k->opts.target.name, k->server);
}

const struct cmd_command cmd_ping = {
	.name = "ping", .group = CMD_SERVERS, .usage = "[OPTION ...]",
	.opts = CMD_OPTS(ping_rows), .size = sizeof(struct ping_opt),
	.fn = ping_main,
	.help = "Check whether the server answers"
};

/* SPDX-License-Identifier: ISC */
/*
 * The connection of `waza worker` to its server.
 *
 *	WAITING -> CONNECTING -> SHAKING -> GREETED -> REGISTERED
 *
 * and from all of them back to WAITING.  The delay doubles with each failure
 * in a row, and is partly random, so that workers do not return all at once.
 */
#include "cmd/client/worker.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/hub.h"
#include "base/os.h"
#include "base/os_net.h"
#include "waza.h"

enum {
	RETRY_MS = 500,		/* after the first failure; doubles */
	RETRY_MAX_MS = 30000,	/* up to this */
	SHAKE_MS = 15000,	/* limit until it is registered */
	PING_MS = 30000,
	DEAD_MS = 70000,	/* silence after which it is lost */
	REFUSAL_MAX = 4096	/* bytes of a body that explains a refusal */
};

static void try_connect(struct cmd_worker_link *);

static void PRINTF(2, 3)
note(const struct cmd_worker_link *w, const char *fmt, ...)
{
	struct arena a = { 0 };
	struct str text;
	va_list ap;

	if (w->quiet)
		return;
	va_start(ap, fmt);
	text = arena_vfmt(&a, fmt, ap);
	va_end(ap);
	cmd_say("waza: %.*s\n", STRF(text));
	arena_free(&a);
}

static void
finish(struct cmd_worker_link *w, int status)
{
	w->status = status;
	w->state = CMD_WORKER_ENDED;
}

/* Ends with an error, which is printed even if the worker is quiet. */
static void
give_up(struct cmd_worker_link *w, const char *what, struct str why)
{
	cmd_say("waza: %s: %s%.*s\n", w->where, what, STRF(why));
	finish(w, CMD_ERROR);
}

/*
 * Between connections.
 */
static int64_t
retry_ms(const struct cmd_worker_link *w)
{
	int64_t ms = RETRY_MS;
	unsigned i;
	uint16_t noise = 0;
	struct err e;

	for (i = 1; i < w->failures && ms < RETRY_MAX_MS; i++)
		ms *= 2;
	if (ms > RETRY_MAX_MS)
		ms = RETRY_MAX_MS;
	os_random(&noise, sizeof(noise), &e);
	return ms / 2 + ms * noise / 65536;
}

static void
lost(struct cmd_worker_link *w, const char *why)
{
	w->conn = w->jobs->conn = NULL;
	if (w->state == CMD_WORKER_ENDED || w->state == CMD_WORKER_WAITING)
		return;
	if (w->stopping || (w->once && w->was_registered &&
	    w->state == CMD_WORKER_CONNECTING)) {
		finish(w, CMD_OK);	/* the server has ended */
		return;
	}
	w->state = CMD_WORKER_WAITING;
	w->failures++;
	if (w->attempts > 0 && (int64_t)w->failures >= w->attempts) {
		give_up(w, "", str_of(why));
		return;
	}
	if (strcmp(w->why, why) != 0)	/* print a reason once */
		note(w, "%s: %s; reconnecting", w->where, why);
	snprintf(w->why, sizeof(w->why), "%s", why);
	timer_start(w->loop, &w->retry, retry_ms(w));
}

static void
on_retry(void *arg)
{
	struct cmd_worker_link *w = arg;

	w->nth = 0;
	try_connect(w);
}

/*
 * Messages.
 */
static struct json_out
begin(struct cmd_worker_link *w, const char *type)
{
	struct json_out o = { .put = buf_sink, .ctx = conn_begin(w->conn) };

	json_open(&o, '{');
	json_put_member_cstr(&o, "type", type);
	return o;
}

static void
end(struct cmd_worker_link *w, struct json_out *o)
{
	json_close(o, '}');
	conn_end(w->conn);
}

static void
send_register(struct cmd_worker_link *w)
{
	struct json_out o = begin(w, "register");
	size_t i;

	json_put_member_str(&o, "clientId", w->id);
	if (w->token.n > 0)
		json_put_member_str(&o, "secretKey", w->token);
	if (w->name != NULL)
		json_put_member_cstr(&o, "name", w->name);
	json_open_member(&o, "capabilities", '{');
	json_open_member(&o, "tools", '[');
	for (i = 0; i < w->jobs->ntools; i++)
		json_put_str(&o, w->jobs->tools[i].name);
	json_close(&o, ']');
	json_put_member_int(&o, "maxConcurrency", (int64_t)w->jobs->room);
	json_put_member_cstr(&o, "version", cmd_version_number);
	json_put_member_bool(&o, "cancel", true);
	json_close(&o, '}');
	end(w, &o);
}

static void
send_plain(struct cmd_worker_link *w, const char *type)
{
	struct json_out o = begin(w, type);
	char text[HUB_STAMP];

	json_put_member_str(&o, "timestamp", hub_stamp(text, os_wall_ns()));
	end(w, &o);
}

/* A different server does not know the requests of the one before. */
static void
on_welcome(struct cmd_worker_link *w, const struct json *m)
{
	struct str id = json_str(m, "serverId");

	if (id.n >= sizeof(w->server))
		id.n = sizeof(w->server) - 1;
	if (w->server[0] != '\0' && !str_is(id, w->server))
		cmd_worker_jobs_drop(w->jobs);
	memcpy(w->server, id.p, id.n);
	w->server[id.n] = '\0';
	w->state = CMD_WORKER_GREETED;
	send_register(w);
}

/* A server that we do not know may have other words. */
static void
refused(struct cmd_worker_link *w, const struct json *m, struct str status)
{
	struct str why = json_str(m, "reason");
	char what[160];

	if (why.n == 0)
		why = json_str(m, "message");
	if (str_is(status, "rejected"))
		snprintf(what, sizeof(what), "registration rejected");
	else
		snprintf(what, sizeof(what), "the server answered the "
		    "registration with the unknown status \"%.*s\" (known: "
		    "accepted, rejected)", STRF(utf8_cut(status, 60)));
	if (why.n > 0)
		snprintf(what + strlen(what), sizeof(what) - strlen(what),
		    ": ");
	give_up(w, what, utf8_cut(why, 200));
}

static void
on_ack(struct cmd_worker_link *w, const struct json *m)
{
	struct str status = json_str(m, "status");

	if (!str_is(status, "accepted")) {
		refused(w, m, status);
		return;
	}
	w->state = CMD_WORKER_REGISTERED;
	w->was_registered = true;
	w->failures = 0;
	w->why[0] = '\0';
	w->jobs->conn = w->conn;
	note(w, "registered as %.*s at %s", STRF(w->id), w->where);
	cmd_worker_jobs_report(w->jobs);
	if (!w->stopping)
		send_plain(w, "ready");
}

static void
on_request(struct cmd_worker_link *w, const struct json *m, struct str method)
{
	if (w->state != CMD_WORKER_REGISTERED)
		return;
	if (str_is(method, "evaluate"))
		cmd_worker_jobs_start(w->jobs, m);
	else if (str_is(method, "$/cancelRequest"))
		cmd_worker_jobs_stop(w->jobs, json_getc(json_getc(m, "params"),
		    "id"));
	else if (json_getc(m, "id") != NULL) {
		struct json_out o = { .put = buf_sink,
			.ctx = conn_begin(w->conn) };

		json_open(&o, '{');
		json_put_member_cstr(&o, "jsonrpc", "2.0");
		json_put_member_raw(&o, "error", STR("{\"code\":-32601,"
		    "\"message\":\"Method not found\"}"));
		json_put_member(&o, "id", json_getc(m, "id"));
		end(w, &o);
	}
}

static void
on_message(void *arg, struct str text)
{
	struct cmd_worker_link *w = arg;
	struct arena a = { 0 };
	const struct json *m = arena_json(&a, text, NULL);
	struct str type = json_str(m, "type"), method = json_str(m, "method");

	if (w->state == CMD_WORKER_ENDED)
		;
	else if (method.n > 0)
		on_request(w, m, method);
	else if (str_is(type, "welcome") && w->state == CMD_WORKER_SHAKING)
		on_welcome(w, m);
	else if (str_is(type, "registration_ack"))
		on_ack(w, m);
	else if (str_is(type, "error"))
		note(w, "error from the server: %.*s",
		    STRF(utf8_cut(json_str(m, "message"), 200)));
	arena_free(&a);
}

/*
 * The connection.
 */
static void
on_broken(void *arg, const struct err *e)
{
	struct cmd_worker_link *w = arg;

	w->why[0] = '\0';
	note(w, "%s: %s", w->where, e->msg);
}

static void
on_ended(void *arg)
{
	struct cmd_worker_link *w = arg;

	conn_finish(w->conn);
}

static bool
is_owed(void *arg)
{
	(void)arg;
	return true;
}

/* Why the connection was lost, by the state that it had. */
static const char *
loss(const struct cmd_worker_link *w)
{
	return w->state == CMD_WORKER_REGISTERED ? "connection lost" :
	    w->state == CMD_WORKER_GREETED ?
	    "the server did not accept the registration" :
	    "not a server for evaluation clients";
}

/*
 * After a close frame of the server the worker may end.  It always does if
 * another worker has taken its id: two would displace each other for ever.
 */
static void
on_gone(void *arg)
{
	struct cmd_worker_link *w = arg;
	bool registered = w->state == CMD_WORKER_REGISTERED && !w->stopping;
	struct str why;
	int code = registered ? conn_ws_code(w->conn, &why) : 0;

	if (code == WS_NORMAL && why.n > 0 && !w->once) {
		w->conn = w->jobs->conn = NULL;
		give_up(w, "", why);
	} else if (code != 0 && w->once) {
		w->conn = w->jobs->conn = NULL;
		finish(w, CMD_OK);
	} else
		lost(w, loss(w));
}

/*
 * A framer for the response to the handshake: one message, the head and, if
 * the server refuses, the body that explains it.
 */
static int
head_next(struct conn *c, struct str in, bool last, size_t *used,
    struct str *msg, struct err *e)
{
	static const struct http_head none;
	struct http_head head = none;
	size_t n = 0;
	int rc = http_head_read(&head, HTTP_RESPONSE, in, conn_seen(c), &n, e);

	*used = 0;
	if (rc != 1)
		return rc;
	if (head.status != 101 && head.length == HTTP_FIXED)
		n += head.size < REFUSAL_MAX ? (size_t)head.size : REFUSAL_MAX;
	if (in.n < n && !last)
		return 0;
	*used = in.n < n ? in.n : n;
	*msg = (struct str){ in.p, *used };
	return 1;
}

static void
head_wrap(struct buf *b, size_t from)
{
	(void)b;
	(void)from;
}

static const struct conn_framer answer_framer = {
	.name = "handshake", .next = head_next, .wrap = head_wrap,
};

/* The server will not change its mind: connecting again does not help. */
static void
denied(struct cmd_worker_link *w, const struct http_head *h, struct str body)
{
	struct arena a = { 0 };
	const struct json *v = arena_json(&a, body, NULL);
	struct str why = json_str(json_getc(v, "error"), "message");

	if (why.n == 0)
		why = arena_fmt(&a, "%d %.*s", h->status, STRF(h->reason));
	give_up(w, "the server refused the connection: ", utf8_cut(why, 200));
	arena_free(&a);
	conn_drop(w->conn);
}

static void
on_head(void *arg, struct str text)
{
	struct cmd_worker_link *w = arg;
	struct http_head head;
	struct err e = { 0 };
	size_t seen = 0, used = 0;
	int rc = http_head_read(&head, HTTP_RESPONSE, text, &seen, &used, &e);

	if (rc == 1 && (head.status == 401 || head.status == 403)) {
		denied(w, &head, (struct str){ text.p + used, text.n - used });
		return;
	}
	if (rc != 1 || ws_check_answer(&head, w->accept, &e) == -1) {
		note(w, "%s: %s", w->where, e.msg);
		conn_drop(w->conn);
		return;
	}
	conn_hand_over(w->conn, &conn_ws_client, &(struct conn_opts){
	    .message = on_message, .broken = on_broken, .ended = on_ended,
	    .owed = is_owed, .gone = on_gone, .arg = w });
}

static void
shake_hands(struct cmd_worker_link *w, int fd)
{
	unsigned char nonce[WS_NONCE];
	struct err e = { 0 };

	w->conn = conn_new(&w->conns, &(struct conn_opts){ .in = fd,
		.out = fd, .framer = &answer_framer, .message = on_head,
		.broken = on_broken, .ended = on_ended, .owed = is_owed,
		.gone = on_gone, .arg = w });
	if (w->conn == NULL || os_random(nonce, sizeof(nonce), &e) == -1) {
		lost(w, "cannot create a connection");
		return;
	}
	w->state = CMD_WORKER_SHAKING;
	w->since = loop_now(w->loop);
	ws_put_request(conn_begin(w->conn), &w->url, STR(""), nonce,
	    w->accept);
	conn_end(w->conn);
}

static void
on_writable(void *arg, int ready)
{
	struct cmd_worker_link *w = arg;
	int fd = w->connecting.fd, error = os_connected(fd);

	(void)ready;
	fd_stop(w->loop, &w->connecting);
	w->connecting.fd = -1;
	if (error == 0) {
		shake_hands(w, fd);
		return;
	}
	os_close(&fd);
	snprintf(w->refused, sizeof(w->refused), "%s; is the "
	    "server running?", strerror(error));
	w->nth++;
	try_connect(w);
}

static void
try_connect(struct cmd_worker_link *w)
{
	struct err e = { 0 };
	char why[sizeof(e.msg)];
	int fd = os_connect_tcp(w->host, w->port, w->nth, &e);

	w->state = CMD_WORKER_CONNECTING;
	w->since = loop_now(w->loop);
	if (fd == -1) {
		snprintf(why, sizeof(why), "%s", w->nth > 0 &&
		    e.sys == ENOENT ? w->refused : e.msg);
		lost(w, why);
		return;
	}
	w->connecting = (struct fd_watch){ .fd = fd, .fn = on_writable,
		.arg = w };
	fd_start(w->loop, &w->connecting, LOOP_WRITE);
}

static void
stop_connecting(struct cmd_worker_link *w)
{
	int fd = w->connecting.fd;

	if (fd == -1)
		return;
	fd_stop(w->loop, &w->connecting);
	os_close(&fd);
	w->connecting.fd = -1;
}

/* Pings the server, and ends a connection that hangs. */
static void
on_tick(void *arg)
{
	struct cmd_worker_link *w = arg;
	int64_t now = loop_now(w->loop);
	bool slow = now - w->since > SHAKE_MS;

	timer_start(w->loop, &w->tick, PING_MS);
	switch (w->state) {
	case CMD_WORKER_REGISTERED:
		if (now - conn_last_input(w->conn) > DEAD_MS)
			conn_drop(w->conn);
		else
			send_plain(w, "ping");
		break;
	case CMD_WORKER_CONNECTING:
		if (slow) {
			stop_connecting(w);
			lost(w, "no answer");
		}
		break;
	case CMD_WORKER_SHAKING:
	case CMD_WORKER_GREETED:
		if (slow)
			conn_drop(w->conn);
		break;
	case CMD_WORKER_WAITING:
	case CMD_WORKER_ENDED:
		break;
	}
}

void
cmd_worker_link_start(struct cmd_worker_link *w)
{
	w->conns.loop = w->loop;
	conns_init(&w->conns);
	w->connecting.fd = -1;
	w->retry = (struct timer){ .fn = on_retry, .arg = w };
	w->tick = (struct timer){ .fn = on_tick, .arg = w };
	timer_start(w->loop, &w->tick, PING_MS);
	try_connect(w);
}

void
cmd_worker_link_end(struct cmd_worker_link *w)
{
	finish(w, CMD_OK);
}

void
cmd_worker_link_leave(struct cmd_worker_link *w)
{
	if (w->state == CMD_WORKER_REGISTERED || w->state == CMD_WORKER_GREETED)
		conn_ws_close(w->conn, WS_NORMAL, STR("the worker ends"));
	else
		finish(w, CMD_OK);
}

void
cmd_worker_link_fini(struct cmd_worker_link *w)
{
	w->state = CMD_WORKER_ENDED;
	conns_fini(&w->conns);
	stop_connecting(w);
	timer_stop(w->loop, &w->retry);
	timer_stop(w->loop, &w->tick);
}

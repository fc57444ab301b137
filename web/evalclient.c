/* SPDX-License-Identifier: ISC */
/*
 * One evaluation client and its messages.
 *
 * Messages are limited by a token bucket, refilled by time and by each answer
 * to a request.  Messages beyond it are ignored; clients that keep exceeding
 * it are disconnected.
 */
#include "web/evalclient.h"

#include <stdio.h>
#include <string.h>

#include "agent/hub.h"
#include "base/os.h"
#include "io/conn.h"
#include "json.h"
#include "lib/ws.h"
#include "rpc.h"
#include "web/web.h"

enum {
	PING_MS = 30000,
	IDLE_MS = 60000,
	RATE = 100,		/* messages a second */
	BURST = 500,
	EARNED = 10,		/* messages for an answer */
	EXCESS_MAX = 2000,	/* excess messages before disconnecting */
	BYE_MS = 5000,		/* for the client to read our close frame */
	TEXT_MAX = 1000,	/* bytes of the message in a status */
	RATE_LIMITED = -32003	/* "Rate limit exceeded" */
};

struct evalclient {
	struct arena own;	/* holds the client itself */
	struct evalclients *set;
	struct conn *conn;
	struct hub_link link;
	struct json_out out;
	bool authed;		/* it has shown the token, or needs none */
	bool closing;		/* we closed it: its messages are ignored */
	int64_t since;
	double credit;		/* messages that it may send */
	int64_t credit_at;
	unsigned excess;	/* messages beyond its credit */
	struct timer tick;
};

/*
 * Writing.
 */
static struct json_out *
begin(struct evalclient *p)
{
	p->out = (struct json_out){ .put = buf_sink,
		.ctx = conn_begin(p->conn) };
	json_open(&p->out, '{');
	return &p->out;
}

static void
end(struct evalclient *p)
{
	json_close(&p->out, '}');
	conn_end(p->conn);
}

static void
put_now(struct json_out *o)
{
	char text[HUB_STAMP];

	json_put_member_str(o, "timestamp", hub_stamp(text, os_wall_ns()));
}

static void
send_welcome(struct evalclient *p)
{
	struct json_out *o = begin(p);

	json_put_member_cstr(o, "type", "welcome");
	json_put_member_str(o, "serverId", str_of(p->set->id));
	json_put_member_cstr(o, "version", "1.0.0");
	json_put_member_str(o, "server", arena_fmt(&p->set->arena, "waza %s",
	    p->set->version));
	put_now(o);
	end(p);
	arena_free(&p->set->arena);
}

static void
send_error(struct evalclient *p, int code, const char *message, struct str more)
{
	struct json_out *o = begin(p);

	json_put_member_cstr(o, "type", "error");
	json_put_member_int(o, "code", code);
	json_put_member_str(o, "message",
	    arena_fmt(&p->set->arena, "%s%.*s", message,
	    STRF(utf8_cut(more, 100))));
	if (code == RATE_LIMITED)
		json_put_member_int(o, "retryAfterMs", 1000);
	end(p);
}

/* A JSON-RPC error response; id NULL is written as null. */
static void
answer_error(struct evalclient *p, const struct json *id, enum rpc_kind kind)
{
	struct json_out *o = begin(p);

	json_put_member_cstr(o, "jsonrpc", "2.0");
	json_open_member(o, "error", '{');
	json_put_member_int(o, "code", kind == RPC_RATE_LIMITED ?
	    RATE_LIMITED : rpc_number(kind, RPC_EVAL));
	json_put_member_cstr(o, "message", rpc_kind_text(kind));
	json_open_member(o, "data", '{');
	json_put_member_cstr(o, "kind", rpc_kind_name(kind));
	if (kind == RPC_RATE_LIMITED)
		json_put_member_int(o, "retryAfterMs", 1000);
	if (kind == RPC_METHOD_NOT_FOUND)
		json_put_member_cstr(o, "hint", "the methods are at /rpc");
	json_close(o, '}');
	json_close(o, '}');
	json_put_member(o, "id", id);
	end(p);
}

/* Sends a close frame; messages from the client are ignored from now on. */
static void
close_client(struct evalclient *p, int code, struct str why)
{
	p->closing = true;
	timer_start(p->set->loop, &p->tick, BYE_MS);
	conn_ws_close(p->conn, code, why);
}

/*
 * Registration.
 */
static void
send_ack(struct evalclient *p, struct str id, const char *reason)
{
	struct json_out *o = begin(p);

	json_put_member_cstr(o, "type", "registration_ack");
	json_put_member_str(o, "clientId", id);
	json_put_member_cstr(o, "status", reason == NULL ? "accepted" :
	    "rejected");
	json_put_member_cstr(o, "message", reason == NULL ?
	    "Client registered successfully" : "Registration rejected");
	if (reason != NULL)
		json_put_member_cstr(o, "reason", reason);
	else
		json_put_member_int(o, "evaluationsCount",
		    (int64_t)hub_assigned(p->set->hub, &p->link));
	end(p);
}

/* The names of tools; without any, the client takes all evaluations. */
static const char *
read_tools(struct arena *a, const struct json *list, struct field_strs *out)
{
	const struct json *v;

	if (!json_is_set(list))
		return NULL;
	if (list->type != JSON_ARRAY)
		return "tools is not a list";
	if (json_count(list) > HUB_TOOLS_MAX)
		return "too many tools";
	out->v = NEW_N(a, struct str, json_count(list));
	for (v = json_first(list); v != NULL; v = v->next) {
		if (v->type != JSON_STRING || v->n == 0 || v->n > HUB_NAME_MAX)
			return "a tool is not a name";
		out->v[out->n++] = json_text(v);
	}
	return NULL;
}

/* Capabilities: an object, or only the list of tools. */
static const char *
read_hello(struct arena *a, const struct json *m, struct hub_hello *h)
{
	const struct json *caps = json_getc(m, "capabilities"), *v;
	int64_t n;

	h->id = json_str(m, "clientId");
	if (!hub_id_ok(h->id))
		return "clientId is missing, or not made of up to 200 letters, "
		    "digits and ._:@+=~-";
	if (caps != NULL && caps->type == JSON_ARRAY)
		return read_tools(a, caps, &h->tools);
	h->name = utf8_cut(json_str(m, "name").n > 0 ? json_str(m, "name") :
	    json_str(caps, "name"), HUB_NAME_MAX);
	h->version = utf8_cut(json_str(caps, "version"), HUB_NAME_MAX);
	v = json_getc(caps, "maxConcurrency");
	if (json_int(v, &n) && n > 1)
		h->capacity = n < HUB_CAPACITY_MAX ? (size_t)n :
		    HUB_CAPACITY_MAX;
	v = json_getc(caps, "cancel");
	h->can_cancel = v != NULL && v->type == JSON_BOOL && json_bool(v);
	return read_tools(a, json_getc(caps, "tools"), &h->tools);
}

static void
on_register(struct evalclient *p, const struct json *m)
{
	struct hub_hello h = { 0 };
	const char *why = read_hello(&p->set->arena, m, &h);
	struct err e = { 0 };

	if (!p->authed && !rpc_same_secret(json_str(m, "secretKey"),
	    p->set->token)) {
		send_ack(p, utf8_cut(h.id, HUB_ID_MAX), "Invalid secret key");
		close_client(p, WS_POLICY, STR("Invalid secret key"));
		return;
	}
	if (why == NULL && hub_register(p->set->hub, &p->link, &h, &e) == -1)
		why = e.msg;
	send_ack(p, utf8_cut(h.id, HUB_ID_MAX), why);
}

/*
 * Typed messages.
 */
static void
on_ready(struct evalclient *p, const struct json *m)
{
	(void)m;
	if (p->link.client != NULL)
		hub_ready(&p->link);
	else
		send_error(p, -32600, "not registered", STR(""));
}

/*
 * The number in the id of one of our requests; 0: not ours.  Ids differ between
 * servers, so that answers to an earlier server are ignored.
 */
static uint64_t
serial_of(const struct evalclients *set, const struct json *id)
{
	struct str s = json_text(id), tag = str_of(set->tag);
	uint64_t n = 0;
	size_t i;

	if (id->type != JSON_STRING || !str_starts(s, tag) || s.n > tag.n + 19)
		return 0;
	for (i = tag.n; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return 0;
		n = n * 10 + (uint64_t)(s.p[i] - '0');
	}
	return n;
}

static void
on_status(struct evalclient *p, const struct json *m)
{
	struct hub_status s = { .status = utf8_cut(json_str(m, "status"), 20),
		.evaluation = json_str(m, "evaluationId"), .progress = -1,
		.message = utf8_cut(json_str(m, "message"), TEXT_MAX) };
	const struct json *id = json_getc(m, "requestId");

	if (json_double(json_getc(m, "progress"), &s.progress))
		s.progress = !(s.progress > 0) ? 0 : s.progress > 1 ? 1 :
		    s.progress;
	if (id != NULL)
		s.serial = serial_of(p->set, id);
	hub_progress(&p->link, &s);
}

static void
on_ping(struct evalclient *p, const struct json *m)
{
	struct json_out *o = begin(p);

	(void)m;
	json_put_member_cstr(o, "type", "pong");
	put_now(o);
	end(p);
}

/* Ignored: pongs, and a message that another server demands. */
static void
on_ignored(struct evalclient *p, const struct json *m)
{
	(void)p;
	(void)m;
}

static const struct type {
	const char *name;
	void (*fn)(struct evalclient *, const struct json *);
} types[] = {			/* sorted by name */
	{ "auth_verify", on_ignored },
	{ "ping", on_ping },
	{ "pong", on_ignored },
	{ "ready", on_ready },
	{ "register", on_register },
	{ "status", on_status },
};

static void
on_typed(struct evalclient *p, const struct json *m, struct str type)
{
	size_t i;

	for (i = 0; i < COUNTOF(types); i++)
		if (str_is(type, types[i].name)) {
			types[i].fn(p, m);
			return;
		}
	send_error(p, -32600, "Unknown message type: ", type);
}

/*
 * JSON-RPC.
 */
static bool
is_id(const struct json *id)
{
	return id->type == JSON_STRING || id->type == JSON_NUMBER ||
	    id->type == JSON_NULL;
}

static void
on_request(struct evalclient *p, const struct json *m)
{
	const struct json *id = json_getc(m, "id");
	const struct json *method = json_getc(m, "method");
	struct json_out *o;

	if (id == NULL)
		return;			/* a notification */
	if (!is_id(id) || method->type != JSON_STRING) {
		answer_error(p, is_id(id) ? id : NULL, RPC_INVALID_REQUEST);
		return;
	}
	if (!str_is(json_text(method), "ping")) {
		answer_error(p, id, RPC_METHOD_NOT_FOUND);
		return;
	}
	o = begin(p);
	json_put_member_cstr(o, "jsonrpc", "2.0");
	json_open_member(o, "result", '{');
	json_put_member_cstr(o, "type", "pong");
	put_now(o);
	json_close(o, '}');
	json_put_member(o, "id", id);
	end(p);
}

/* A missing result counts as null. */
static bool
on_answer(struct evalclient *p, const struct json *m)
{
	static const struct json null = { .type = JSON_NULL };
	const struct json *result = json_getc(m, "result");
	const struct json *error = json_getc(m, "error");
	const struct json *id = json_getc(m, "id");

	if (error != NULL && error->type == JSON_NULL)
		error = NULL;
	if (error == NULL && result == NULL)
		result = &null;
	return id != NULL && hub_answer(&p->link, serial_of(p->set, id),
	    error == NULL ? result : NULL, error);
}

/*
 * The rate limit.
 */
static bool
take_credit(struct evalclient *p)
{
	int64_t now = loop_now(p->set->loop);

	p->credit += (double)(now - p->credit_at) * (double)RATE / 1000;
	p->credit_at = now;
	if (p->credit > (double)BURST)
		p->credit = BURST;
	if (p->credit > (double)BURST / 2.0)
		p->excess = 0;
	if (p->credit >= 1) {
		p->credit -= 1;
		return true;
	}
	return false;
}

/* A request gets an error; other messages get one error in a hundred. */
static void
refuse_excess(struct evalclient *p, const struct json *m)
{
	const struct json *id = json_getc(m, "id");

	if (p->excess++ > EXCESS_MAX)
		close_client(p, WS_POLICY, STR("Rate limit exceeded"));
	else if (json_getc(m, "method") != NULL && id != NULL && is_id(id))
		answer_error(p, id, RPC_RATE_LIMITED);
	else if (p->excess % 100 == 1)
		send_error(p, RATE_LIMITED, "Rate limit exceeded", STR(""));
}

static void
dispatch(struct evalclient *p, const struct json *m)
{
	const struct json *type = json_getc(m, "type");
	bool answers = json_getc(m, "method") == NULL &&
	    (json_getc(m, "result") != NULL || json_getc(m, "error") != NULL);

	if (answers && on_answer(p, m)) {
		p->credit += (double)EARNED;
		return;
	}
	if (!take_credit(p)) {
		refuse_excess(p, m);
		return;
	}
	if (answers)
		return;			/* late or unknown: ignored */
	if (m->type == JSON_OBJECT && json_getc(m, "method") != NULL)
		on_request(p, m);
	else if (type != NULL && type->type == JSON_STRING)
		on_typed(p, m, json_text(type));
	else
		answer_error(p, NULL, RPC_INVALID_REQUEST);
}

void
evalclient_message(void *arg, struct str text)
{
	struct evalclient *p = arg;
	struct evalclients *s = p->set;
	struct json_mem mem = { arena_hook, &s->arena };
	struct json_error je;
	const struct json *m;

	if (p->closing)
		return;
	hub_seen(&p->link);
	m = json_read(&mem, text, s->depth, &je);
	if (m != NULL)
		dispatch(p, m);
	else if (take_credit(p))
		answer_error(p, NULL, RPC_PARSE_ERROR);
	else
		refuse_excess(p, NULL);
	arena_free(&s->arena);
}

/*
 * Calls from the hub.
 */
static void
link_evaluate(void *arg, const struct hub_eval *x)
{
	struct evalclient *p = arg;
	struct buf *b = conn_begin(p->conn);

	buf_puts(b, "{\"jsonrpc\":\"2.0\",\"method\":\"evaluate\",\"params\":");
	buf_put(b, x->params);
	buf_fmt(b, ",\"id\":\"%s%llu\"}", p->set->tag,
	    (unsigned long long)x->serial);
	conn_end(p->conn);
}

static void
link_cancel(void *arg, const struct hub_eval *x)
{
	struct evalclient *p = arg;

	buf_fmt(conn_begin(p->conn), "{\"jsonrpc\":\"2.0\",\"method\":"
	    "\"$/cancelRequest\",\"params\":{\"id\":\"%s%llu\"}}",
	    p->set->tag, (unsigned long long)x->serial);
	conn_end(p->conn);
}

static void
link_replaced(void *arg)
{
	struct evalclient *p = arg;

	close_client(p, WS_NORMAL, STR("a newer connection has this clientId"));
}

/*
 * Time.  A silent client gets a WebSocket ping, which browsers answer
 * themselves.
 */
static void
on_tick(void *arg)
{
	struct evalclient *p = arg;
	struct evalclients *s = p->set;
	int64_t now = loop_now(s->loop);
	int64_t silent = now - conn_last_input(p->conn);
	int64_t next = s->ping_ms;

	if (p->link.client == NULL && !p->closing &&
	    now - p->since >= s->idle_ms) {
		close_client(p, WS_POLICY, STR("not registered in time"));
		return;
	}
	if (silent >= s->idle_ms || p->closing) {
		conn_drop(p->conn);
		return;
	}
	if (silent >= s->ping_ms)
		conn_ws_send(p->conn, WS_PING, STR(""));
	else
		next = s->ping_ms - silent;
	if (next > s->idle_ms - silent)
		next = s->idle_ms - silent;
	timer_start(s->loop, &p->tick, next);
}

/*
 * The connection.
 */
/* on_tick() limits the silence. */
static bool
is_owed(void *arg)
{
	(void)arg;
	return true;
}

static void
on_gone(void *arg)
{
	struct evalclient *p = arg;

	timer_stop(p->set->loop, &p->tick);
	hub_disconnected(&p->link);
	arena_free(&p->own);
}

struct evalclient *
evalclient_adopt(struct evalclients *s, struct conn *c,
    const struct conn_framer *f, bool authed)
{
	struct arena own = { 0 };
	struct evalclient *p = NEW(&own, struct evalclient);

	*p = (struct evalclient){ .own = own, .set = s, .conn = c,
		.authed = authed || s->token.n == 0, .credit = BURST,
		.since = loop_now(s->loop), .credit_at = loop_now(s->loop),
		.link = { .evaluate = link_evaluate, .cancel = link_cancel,
		    .replaced = link_replaced, .arg = p },
		.tick = { .fn = on_tick, .arg = p } };
	conn_hand_over(c, f, &(struct conn_opts){ .message = evalclient_message,
		.owed = is_owed, .gone = on_gone, .arg = p });
	timer_start(s->loop, &p->tick, s->ping_ms < s->idle_ms ? s->ping_ms :
	    s->idle_ms);
	send_welcome(p);
	return p;
}

void
evalclients_init(struct evalclients *s)
{
	unsigned char noise[6] = { 0 };
	struct err e;

	os_random(noise, sizeof(noise), &e);
	snprintf(s->id, sizeof(s->id), "waza-%02x%02x%02x%02x%02x%02x",
	    noise[0], noise[1], noise[2], noise[3], noise[4], noise[5]);
	snprintf(s->tag, sizeof(s->tag), "rpc-%02x%02x%02x%02x-", noise[0],
	    noise[1], noise[2], noise[3]);
	if (s->ping_ms == 0)
		s->ping_ms = PING_MS;
	if (s->idle_ms == 0)
		s->idle_ms = IDLE_MS;
}

void
evalclients_fini(struct evalclients *s)
{
	arena_free(&s->arena);
}

/*
 * Routes.  They need no token: the client shows it in its first message.
 */
static void
on_socket(struct web_req *r)
{
	bool authed = r->authed;	/* web_upgrade() ends the request */

	evalclient_adopt(r->arg, web_upgrade(r), &conn_ws, authed);
}

static const struct web_route routes[] = {
	{ WEB_WS, "/", WEB_OPEN, .fn = on_socket },
	{ WEB_WS, "/ws", WEB_OPEN, .fn = on_socket },
};

void
evalclient_routes(struct web *w, struct evalclients *s)
{
	web_add(w, routes, COUNTOF(routes), s);
}

/* SPDX-License-Identifier: ISC */
/*
 * Messages of evaluation clients (seeds/004), over a WebSocket on a pair of
 * sockets, with a fake clock: each message of the document, the behaviour of
 * real clients, and messages that are not in the document.
 */
#include "web/evalclient.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/hub.h"
#include "base/os.h"
#include "io/conn.h"
#include "json.h"
#include "lib/ws.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

#if defined(OS_SHORT)		/* short reads and writes */
enum { TURNS = 20000 };
#else
enum { TURNS = 50 };
#endif

static struct loop *l;
static struct err e;
static struct conns conns;
static struct hub hub;
static struct evalclients peers;
static struct arena arena;

/* The other end. */
struct client {
	struct conn *conn;
	int fd;
	struct ws ws;
	struct str said[64];	/* messages that were not read yet */
	size_t n, at;
	int code;		/* of the close frame */
	size_t pings;
	bool ended;
};

static void
hear(struct client *c)
{
	char block[65536];
	struct ws_event ev;
	struct str in;
	ssize_t n;
	size_t used;

	while (!c->ended && (n = read(c->fd, block, sizeof(block))) != -1) {
		in = (struct str){ block, (size_t)n };
		c->ended = n == 0;
		while (ws_next(&c->ws, in, &used, &ev, &e) == 1) {
			in.p += used;
			in.n -= used;
			if (ev.op == WS_CLOSE)
				c->code = ev.code;
			else if (ev.op == WS_PING)
				c->pings++;
			else if (ev.op == WS_TEXT && c->n < COUNTOF(c->said))
				c->said[c->n++] = arena_str(&arena, ev.data);
		}
	}
}

static void
turns(struct client *c, int n)
{
	while (n-- > 0) {
		turn_loop(l);
		hear(c);
	}
}

static void
say(struct client *c, const char *text)
{
	static const unsigned char mask[WS_MASK] = { 1, 2, 3, 4 };
	struct buf b = { 0 };
	size_t at = 0;
	ssize_t n;

	ws_put(&b, WS_TEXT, str_of(text), mask);
	while (at < b.n) {
		n = write(c->fd, b.p + at, b.n - at);
		if (n > 0)
			at += (size_t)n;
		turn_loop(l);
	}
	buf_free(&b);
	turns(c, TURNS);
}

/* The next message, or NULL. */
static const struct json *
next(struct client *c)
{
	return c->at < c->n ? read_json(&arena, c->said[c->at++]) : NULL;
}

static const struct json *
ask(struct client *c, const char *text)
{
	c->at = c->n = 0;
	say(c, text);
	return next(c);
}

static bool
is(const struct json *m, const char *key, const char *want)
{
	const struct json *v = json_getc(m, key);

	return v != NULL && v->type == JSON_STRING &&
	    str_is(json_text(v), want);
}

static int64_t
number(const struct json *m, const char *key)
{
	const struct json *v = json_getc(m, key);
	int64_t n;

	return v != NULL && json_int(v, &n) ? n : -1;
}

/* As web.c does: handed over from within message(). */
static bool has_token;

static void
on_message(void *arg, struct str s)
{
	struct client *c = arg;

	(void)s;
	evalclient_adopt(&peers, c->conn, &conn_ws, has_token);
}

static void
on_broken(void *arg, const struct err *why)
{
	(void)arg;
	(void)why;
}

static void
dial(struct client *c)
{
	int fd[2];

	*c = (struct client){ .ws = { .client = true } };
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == -1)
		abort();
	os_nonblock(fd[0]);
	os_nonblock(fd[1]);
	c->fd = fd[1];
	c->conn = conn_new(&conns, &(struct conn_opts){ .in = fd[0],
		.out = fd[0], .framer = &conn_line, .message = on_message,
		.broken = on_broken, .ended = no_op, .gone = no_op,
		.arg = c });
	if (write(c->fd, "x\n", 2) != 2)
		abort();
	turns(c, TURNS);
}

static void
hang_up(struct client *c)
{
	close(c->fd);
	ws_free(&c->ws);
	for (int i = 0; i < TURNS; i++)
		turn_loop(l);
}

static void
begin(const char *token)
{
	conns = (struct conns){ .loop = l };
	conns_init(&conns);
	hub = (struct hub){ .loop = l, .grace_ms = 2000, .lost_ms = 10000 };
	hub_init(&hub);
	peers = (struct evalclients){ .loop = l, .hub = &hub, .version = "0",
		.token = str_of(token) };
	evalclients_init(&peers);
}

static void
end(void)
{
	conns_fini(&conns);
	evalclients_fini(&peers);
	hub_fini(&hub);
}

/* An evaluation and its outcome. */
struct work {
	struct hub_eval x;
	int done, told;
	enum hub_how how;
	struct str result;
	double progress;
};

static void
on_done(void *arg, const struct hub_end *how)
{
	struct work *w = arg;

	w->done++;
	w->how = how->how;
	w->result = print_json(&arena, how->error != NULL ? how->error :
	    how->result);
}

static void
on_status(void *arg, const struct hub_status *s)
{
	struct work *w = arg;

	w->told++;
	w->progress = s->progress;
}

static void
submit(struct work *w, const char *id)
{
	*w = (struct work){ .x = { .id = str_of(id), .tool = STR("t"),
		.params = STR("{\"evaluationId\":\"e\",\"tool\":\"t\"}"),
		.timeout_ms = 5000, .wait_ms = 30000, .done = on_done,
		.priority = HUB_NORMAL, .status = on_status, .arg = w } };
	hub_submit(&hub, &w->x, &e);
}

/* The text with the id for its star. */
static const char *
fill(const char *text, const struct json *id)
{
	const char *star = strchr(text, '*');
	struct str s = json_text(id);

	return arena_cstr(&arena, arena_fmt(&arena, "%.*s%.*s%s",
	    (int)(star - text), text, STRF(s), star + 1));
}

/* seeds/004, section "Complete flow", and the fields of each message. */
static void
test_flow(void)
{
	struct client c;
	struct work w[3];
	const struct json *m, *id;

	begin("");
	submit(&w[0], "e");
	submit(&w[1], "e");
	dial(&c);
	m = next(&c);
	OK(is(m, "type", "welcome") && is(m, "version", "1.0.0"));
	OK(json_getc(m, "serverId") != NULL);
	OK(json_text(json_getc(m, "timestamp")).n == 24);
	m = ask(&c, "{\"type\": \"register\", \"clientId\": "
	    "\"550e8400-e29b-41d4-a716-446655440000\", \"capabilities\": "
	    "{\"tools\": [\"t\"], \"maxConcurrency\": 3, "
	    "\"version\": \"1.0.0\"}}");
	OK(is(m, "type", "registration_ack") && is(m, "status", "accepted"));
	OK(is(m, "clientId", "550e8400-e29b-41d4-a716-446655440000"));
	OK(is(m, "message", "Client registered successfully"));
	OK(number(m, "evaluationsCount") == 2);
	OK(json_getc(m, "reason") == NULL && next(&c) == NULL);
	m = ask(&c, "{\"type\":\"ready\",\"timestamp\":\"2024-01-01\"}");
	OK(is(m, "jsonrpc", "2.0") && is(m, "method", "evaluate"));
	OK(is(json_getc(m, "params"), "tool", "t"));
	id = json_getc(m, "id");
	OK(id != NULL && str_starts(json_text(id), STR("rpc-")));
	m = next(&c);
	OK(is(m, "method", "evaluate") && next(&c) == NULL);
	ask(&c, "{\"type\":\"status\",\"evaluationId\":\"e\",\"status\":"
	    "\"running\",\"progress\":0.5,\"message\":\"half\"}");
	OK(c.n == 0 && w[0].told == 1 && w[0].progress == 0.5);
	say(&c, fill("{\"jsonrpc\":\"2.0\",\"result\":{\"status\":\"success\","
	    "\"output\":1},\"id\":\"*\"}", id));
	OK(w[0].done == 1 && w[0].how == HUB_RESULT);
	OK(str_is(w[0].result, "{\"status\":\"success\",\"output\":1}"));
	ask(&c, "{\"type\":\"status\",\"evaluationId\":\"e\",\"status\":"
	    "\"completed\",\"progress\":1}");
	OK(c.n == 0 && w[1].told == 1);	/* the other client with that name */
	say(&c, fill("{\"jsonrpc\":\"2.0\",\"result\":1,\"id\":\"*\"}",
	    id));
	OK(w[0].done == 1 && w[1].done == 0 && c.n == 0);
	say(&c, fill("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000},"
	    "\"id\":\"*\"}", json_getc(m, "id")));
	OK(w[1].done == 1 && w[1].how == HUB_ERROR);
	hang_up(&c);
	OK(hub.nclients == 0);
	end();
}

/* null, 0, false and "" are results; so is one beside "error": null. */
static void
test_results(void)
{
	static const char *const values[] = { "null", "0", "false", "\"\"",
		"[]" };
	struct client c;
	struct work w;
	const struct json *m;
	size_t i;

	begin("");
	dial(&c);
	say(&c, "{\"type\":\"register\",\"clientId\":\"a\"}");
	say(&c, "{\"type\":\"ready\"}");
	for (i = 0; i < COUNTOF(values); i++) {
		c.at = c.n = 0;
		submit(&w, "e");
		turns(&c, TURNS);
		m = next(&c);
		say(&c, fill(arena_fmt(&arena, "{\"jsonrpc\":\"2.0\",%s"
		    "\"result\":%s,\"id\":\"*\"}", i % 2 == 0 ?
		    "\"error\":null," : "", values[i]).p,
		    json_getc(m, "id")));
		tap_ok(w.done == 1 && w.how == HUB_RESULT &&
		    str_is(w.result, values[i]), values[i], __FILE__,
		    __LINE__);
	}
	/* answers without a request */
	ask(&c, "{\"jsonrpc\":\"2.0\",\"result\":1,\"id\":\"rpc-1\"}");
	ask(&c, "{\"jsonrpc\":\"2.0\",\"result\":1,\"id\":7}");
	ask(&c, "{\"jsonrpc\":\"2.0\",\"result\":1}");
	ask(&c, "{\"jsonrpc\":\"2.0\",\"error\":{},\"id\":{}}");
	OK(c.n == 0 && !c.ended);
	hang_up(&c);
	end();
}

/* The behaviour of BrowserOperator's client. */
static void
test_real(void)
{
	struct client c;
	struct work w;
	const struct json *m;

	begin("");
	dial(&c);
	c.at = c.n = 0;
	/* its test of the connection, without "jsonrpc" */
	m = ask(&c, "{\"id\":\"test-1\",\"method\":\"ping\",\"params\":{}}");
	OK(is(m, "id", "test-1") && json_getc(m, "result") != NULL);
	m = ask(&c, "{\"type\":\"ping\",\"timestamp\":\"x\"}");
	OK(is(m, "type", "pong") &&
	    json_text(json_getc(m, "timestamp")).n == 24);
	m = ask(&c, "{\"type\":\"register\",\"clientId\":\"base:tab-1\","
	    "\"capabilities\":{\"tools\":[],\"maxConcurrency\":3,"
	    "\"version\":\"1.0.0\"}}");
	OK(is(m, "status", "accepted"));
	ask(&c, "{\"type\":\"auth_verify\",\"clientId\":\"base:tab-1\","
	    "\"verified\":true}");
	OK(c.n == 0);
	ask(&c, "{\"type\":\"ready\",\"timestamp\":\"x\"}");
	submit(&w, "e");
	turns(&c, TURNS);
	m = next(&c);
	OK(is(m, "method", "evaluate"));	/* no tools: any */
	say(&c, fill("{\"jsonrpc\":\"2.0\",\"result\":{\"status\":\"success\","
	    "\"output\":{}},\"id\":\"*\"}", json_getc(m, "id")));
	OK(w.done == 1);
	ask(&c, "{\"type\":\"status\",\"evaluationId\":\"e\",\"status\":"
	    "\"completed\",\"progress\":1}");	/* after the reply */
	OK(c.n == 0);
	/* again on the same connection, as after "newClient" */
	m = ask(&c, "{\"type\":\"register\",\"clientId\":\"base:tab-1\","
	    "\"capabilities\":[\"t\",\"u\"]}");
	OK(is(m, "status", "accepted") && number(m, "evaluationsCount") == 0);
	hang_up(&c);
	end();
}

static void
test_secret(void)
{
	static const char *const bad[] = {
		"{\"type\":\"register\",\"clientId\":\"a\"}",
		"{\"type\":\"register\",\"clientId\":\"a\",\"secretKey\":\"\"}",
		"{\"type\":\"register\",\"clientId\":\"a\",\"secretKey\":"
		    "\"s3cre\"}",
		"{\"type\":\"register\",\"clientId\":\"a\",\"secretKey\":"
		    "\"s3cret+\"}",
		"{\"type\":\"register\",\"clientId\":\"a\",\"secretKey\":"
		    "null}",
		"{\"type\":\"register\",\"clientId\":\"../x\"}",
	};
	struct client c;
	const struct json *m;
	size_t i, k;
	bool leaked = false;

	begin("s3cret");
	for (i = 0; i < COUNTOF(bad); i++) {
		dial(&c);
		say(&c, "{\"type\":\"ping\"}");
		say(&c, "{\"type\":\"ready\"}");
		m = ask(&c, bad[i]);
		OK(is(m, "status", "rejected") &&
		    is(m, "reason", "Invalid secret key"));
		OK(c.code == WS_POLICY && hub.nclients == 0);
		for (k = 0; k < c.n; k++)
			leaked = leaked || strstr(c.said[k].p, "s3c") != NULL;
		hang_up(&c);
	}
	OK(!leaked);
	dial(&c);
	m = ask(&c, "{\"type\":\"register\",\"clientId\":\"a\",\"secretKey\":"
	    "\"s3cret\"}");
	OK(is(m, "status", "accepted") && c.code == 0);
	hang_up(&c);
	/* one that has shown it in the HTTP request */
	has_token = true;
	dial(&c);
	m = ask(&c, "{\"type\":\"register\",\"clientId\":\"a\"}");
	OK(is(m, "status", "accepted"));
	hang_up(&c);
	has_token = false;
	end();
}

static void
test_refusals(void)
{
	static const struct {
		const char *said, *reason;
	} bad[] = {
		{ "{\"type\":\"register\"}", "clientId is missing" },
		{ "{\"type\":\"register\",\"clientId\":7}", "clientId" },
		{ "{\"type\":\"register\",\"clientId\":\"a/b\"}", "clientId" },
		{ "{\"type\":\"register\",\"clientId\":\"a\",\"capabilities\":"
		    "{\"tools\":\"t\"}}", "tools is not a list" },
		{ "{\"type\":\"register\",\"clientId\":\"a\",\"capabilities\":"
		    "[1]}", "not a name" },
	};
	struct client c;
	const struct json *m;
	struct buf b = { 0 };
	size_t i;

	begin("");
	dial(&c);
	for (i = 0; i < COUNTOF(bad); i++) {
		m = ask(&c, bad[i].said);
		OK(is(m, "status", "rejected") && strstr(json_text(
		    json_getc(m, "reason")).p, bad[i].reason) != NULL);
	}
	buf_puts(&b, "{\"type\":\"register\",\"clientId\":\"a\","
	    "\"capabilities\":[\"0\"");
	for (i = 0; i < HUB_TOOLS_MAX; i++)
		buf_puts(&b, ",\"t\"");
	buf_puts(&b, "]}");
	buf_putc(&b, '\0');
	m = ask(&c, b.p);
	OK(is(m, "reason", "too many tools"));
	buf_free(&b);
	/* not JSON; not an object; not known; not registered */
	m = ask(&c, "{\"type\":");
	OK(number(json_getc(m, "error"), "code") == -32700);
	OK(json_getc(m, "id") != NULL && json_getc(m, "id")->type ==
	    JSON_NULL);
	m = ask(&c, "[1]");
	OK(number(json_getc(m, "error"), "code") == -32600);
	m = ask(&c, "7");
	OK(number(json_getc(m, "error"), "code") == -32600);
	m = ask(&c, "{}");
	OK(number(json_getc(m, "error"), "code") == -32600);
	m = ask(&c, "{\"type\":\"dance\"}");
	OK(is(m, "type", "error") && is(m, "message",
	    "Unknown message type: dance"));
	m = ask(&c, "{\"type\":\"ready\"}");
	OK(is(m, "type", "error"));
	ask(&c, "{\"type\":\"status\"}");
	OK(c.n == 0);
	/* requests of JSON-RPC are answered as such */
	m = ask(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"eval.run\",\"id\":1.50}");
	OK(number(json_getc(m, "error"), "code") == -32601);
	OK(str_is(json_text(json_getc(m, "id")), "1.50"));
	m = ask(&c, "{\"jsonrpc\":\"2.0\",\"method\":1,\"id\":null}");
	OK(number(json_getc(m, "error"), "code") == -32600);
	m = ask(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":[]}");
	OK(number(json_getc(m, "error"), "code") == -32600);
	ask(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}");
	OK(c.n == 0);
	/* afterwards it can still register, but as one client only */
	m = ask(&c, "{\"type\":\"register\",\"clientId\":\"a\"}");
	OK(is(m, "status", "accepted") && !c.ended);
	m = ask(&c, "{\"type\":\"register\",\"clientId\":\"b\"}");
	OK(is(m, "status", "rejected"));
	hang_up(&c);
	end();
}

static void
test_newest(void)
{
	struct client a, b;
	struct work w;
	const struct json *m, *old;

	begin("");
	dial(&a);
	say(&a, "{\"type\":\"register\",\"clientId\":\"x\"}");
	say(&a, "{\"type\":\"ready\"}");
	submit(&w, "e");
	a.at = a.n = 0;
	turns(&a, TURNS);
	old = next(&a);
	OK(is(old, "method", "evaluate"));
	dial(&b);
	m = ask(&b, "{\"type\":\"register\",\"clientId\":\"x\"}");
	OK(is(m, "status", "accepted") && number(m, "evaluationsCount") == 1);
	turns(&a, TURNS);
	OK(a.code == WS_NORMAL && hub.nclients == 1);
	m = ask(&b, "{\"type\":\"ready\"}");
	OK(is(m, "method", "evaluate"));
	OK(str_eq(json_text(json_getc(m, "id")), json_text(json_getc(old,
	    "id"))));
	hang_up(&a);
	OK(hub.nclients == 1);
	say(&b, fill("{\"jsonrpc\":\"2.0\",\"result\":1,\"id\":\"*\"}",
	    json_getc(m, "id")));
	OK(w.done == 1);
	hang_up(&b);
	end();
}

static void
pass(struct client *c, int64_t ms)
{
	int64_t until = fake_now + ms;

	while (fake_now < until) {
		fake_now += until - fake_now < 1000 ? until - fake_now : 1000;
		turns(c, 5);
	}
}

static void
test_silence(void)
{
	struct client c;

	begin("");
	dial(&c);
	pass(&c, 31000);
	OK(c.pings == 1 && !c.ended);
	say(&c, "{\"type\":\"ping\"}");
	pass(&c, 30000);
	turns(&c, TURNS);
	OK(c.code == WS_POLICY);		/* not registered in time */
	hang_up(&c);
	dial(&c);
	say(&c, "{\"type\":\"register\",\"clientId\":\"x\"}");
	pass(&c, 31000);
	OK(c.pings == 1);
	say(&c, "{\"type\":\"ping\"}");
	pass(&c, 59000);
	OK(c.pings == 2 && !c.ended && hub.nclients == 1);
	pass(&c, 3000);
	turns(&c, TURNS);
	OK(c.ended && hub.nclients == 0);
	hang_up(&c);
	end();
}

static void
test_flood(void)
{
	struct client c;
	struct work w;
	const struct json *m;
	size_t i;
	int limited = 0;

	begin("");
	dial(&c);
	say(&c, "{\"type\":\"register\",\"clientId\":\"x\"}");
	say(&c, "{\"type\":\"ready\"}");
	for (i = 0; i < 550; i++) {
		m = ask(&c, "{\"id\":1,\"method\":\"ping\"}");
		limited += number(json_getc(m, "error"), "code") == -32003;
	}
	OK(limited > 20 && limited < 100 && !c.ended);
	/* an answer is still accepted, and so are later messages */
	c.at = c.n = 0;
	submit(&w, "e");
	turns(&c, TURNS);
	m = next(&c);
	say(&c, fill("{\"jsonrpc\":\"2.0\",\"result\":1,\"id\":\"*\"}",
	    json_getc(m, "id")));
	OK(w.done == 1);
	fake_now += 2000;
	m = ask(&c, "{\"type\":\"ping\"}");
	OK(is(m, "type", "pong"));
	for (i = 0; i < 4000 && c.code == 0 && !c.ended; i++)
		ask(&c, "{\"type\":\"ping\"}");
	OK(i < 4000 && c.code == WS_POLICY);
	hang_up(&c);
	end();
}

int
main(void)
{
	os_init(&e);
	l = loop_new(fake_clock, &e);
	RUN(test_flow, test_results, test_real, test_secret, test_refusals,
	    test_newest, test_silence);
#if !defined(OS_SHORT)		/* thousands of messages */
	test_flood();
#endif
	loop_free(l);
	arena_free(&arena);
	return tap_done();
}

/* SPDX-License-Identifier: ISC */
/*
 * The client's side of a connection.
 *
 *	IDLE -> CONNECTING -> GREETING -> READY -> OVER, and to OVER from all
 *
 * Invariants:
 *   1. A request is in `open`, oldest first, from client_ask until its
 *      function is called, which happens once.
 *   2. A request made before READY keeps its params and is sent then.
 *   3. OVER is reported from a timer, never from within another call.
 *
 * Silence: after half of the timeout the client sends a ping, so that a busy
 * server is not taken for a dead one.  Any message resets the timeout.
 */
#include "cmd/client/client.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_net.h"
#include "io/wire.h"
#include "json.h"

enum {
	BUSY_MS = 50,		/* until a busy unix socket is tried again */
	ALIVE_S = 15,		/* for os_keepalive */
	SHOWN = 60		/* bytes of a text in messages */
};

struct client_request {
	struct client_request *next;
	int64_t id;
	const char *method;
	client_answer_fn *fn;	/* or NULL */
	void *arg;
	struct buf params;	/* until it is sent */
};

/*
 * The end.
 */
static void
close_all(struct client *c)
{
	int fd = c->w.fd;

	if (c->state == CLIENT_CONNECTING && fd != -1) {
		fd_stop(c->o.loop, &c->w);
		os_close(&fd);
		c->w.fd = -1;
	}
	timer_stop(c->o.loop, &c->retry);
	if (c->conn != NULL)
		conn_drop(c->conn);
}

/* Ends with c->err.  The first reason is kept. */
static void
end(struct client *c)
{
	if (c->state == CLIENT_OVER)
		return;
	close_all(c);
	c->state = CLIENT_OVER;
	timer_start(c->o.loop, &c->timer, 0);
}

#define END(c, code, ...) \
	do { \
		if ((c)->state != CLIENT_OVER) \
			err_set(&(c)->err, code, __VA_ARGS__); \
		end(c); \
	} while (0)

static void
end_request(struct client *c, struct client_request **at,
    const struct client_answer *a)
{
	struct client_request *q = *at;
	client_answer_fn *fn = q->fn;
	void *arg = q->arg;

	*at = q->next;
	if (c->last == &q->next)
		c->last = at;
	buf_free(&q->params);
	q->next = c->spare;
	c->spare = q;
	if (fn != NULL)
		fn(arg, a);
}

static void
report_over(struct client *c)
{
	struct client_answer none = { .lost = &c->err };

	while (c->open != NULL)
		end_request(c, &c->open, &none);
	if (c->o.changed != NULL)
		c->o.changed(c->o.arg);
}

/* Names the oldest request that waits for an answer, if there is one. */
static void
on_ended(void *arg)
{
	struct client *c = arg;
	const struct client_request *q = c->open;

	while (q != NULL && q->fn == NULL)
		q = q->next;
	if (c->state == CLIENT_READY && q != NULL)
		END(c, ERR_SYS, "the server at %s disconnected before it "
		    "answered %.60s", c->o.target.name, q->method);
	else
		END(c, ERR_SYS, "the server at %s %s", c->o.target.name,
		    c->state == CLIENT_READY ? "disconnected" :
		    "closed the connection without an answer");
}

/*
 * Sending.
 */
static void
put_call(struct client *c, int64_t id, const char *method, struct str params)
{
	wire_put_call(conn_begin(c->conn), id, method, params);
	conn_end(c->conn);
}

static struct client_request *
new_request(struct client *c, const char *method, client_answer_fn *fn,
    void *arg)
{
	struct client_request *q = c->spare;

	if (q != NULL)
		c->spare = q->next;
	else
		q = NEW(&c->arena, struct client_request);
	*q = (struct client_request){ .id = ++c->seq, .method = method,
		.fn = fn, .arg = arg };
	*c->last = q;
	c->last = &q->next;
	return q;
}

/* Restarts the timeout. */
static void
touch(struct client *c)
{
	int64_t ms = c->o.timeout_ms;

	c->pinged = false;
	if (ms > 0 && c->state != CLIENT_OVER)
		timer_start(c->o.loop, &c->timer, c->state == CLIENT_READY ?
		    ms - ms / 2 : ms);
}

int64_t
client_ask(struct client *c, const char *method, struct str params,
    client_answer_fn *fn, void *arg)
{
	struct client_request *q = new_request(c, method, fn, arg);

	if (c->state == CLIENT_READY) {
		put_call(c, q->id, method, params);
		touch(c);
	} else if (c->state == CLIENT_OVER)
		timer_start(c->o.loop, &c->timer, 0);
	else
		buf_put(&q->params, params);
	return q->id;
}

void
client_cancel(struct client *c, int64_t id)
{
	struct buf b = { 0 };

	if (c->state != CLIENT_READY || id <= 0)
		return;
	buf_fmt(&b, "{\"id\":%lld}", (long long)id);
	put_call(c, 0, "$/cancelRequest", buf_str(&b));
	buf_free(&b);
}

/*
 * hello
 */
static void
ready(struct client *c)
{
	struct client_request *q;

	c->state = CLIENT_READY;
	touch(c);
	for (q = c->open; q != NULL; q = q->next) {
		put_call(c, q->id, q->method, buf_str(&q->params));
		buf_free(&q->params);
	}
	if (c->o.changed != NULL)
		c->o.changed(c->o.arg);
}

/* "waza 1.2.3", from the answer to hello; unprintable bytes become "?". */
static struct str
server_name(struct client *c, const struct json *server)
{
	struct str name = json_str(server, "name");
	struct str version = json_str(server, "version");
	struct str s;
	char *p;
	size_t i;

	if (name.n == 0)
		return STR("");
	s = arena_fmt(&c->arena, "%.*s%s%.*s",
	    (int)(name.n < SHOWN ? name.n : SHOWN), name.p,
	    version.n > 0 ? " " : "",
	    (int)(version.n < SHOWN ? version.n : SHOWN), version.p);
	p = arena_raw(&c->arena, s.n, 1);
	for (i = 0; i < s.n; i++)
		p[i] = s.p[i] < ' ' || s.p[i] > '~' ? '?' : s.p[i];
	return (struct str){ p, s.n };
}

/* A server without the method hello is accepted, too. */
static void
on_hello(void *arg, const struct client_answer *a)
{
	struct client *c = arg;
	struct buf b = { 0 };
	size_t n;

	if (a->lost != NULL)
		return;
	if (a->error == NULL) {
		c->server = server_name(c, json_getc(a->result, "server"));
		ready(c);
	} else if (client_is_kind(a->error, "method_not_found", WIRE_NO_METHOD))
		ready(c);
	else if (client_is_kind(a->error, "auth_failed", -32001)) {
		c->refused = true;
		END(c, ERR_SCHEMA, "the server at %s %s", c->o.target.name,
		    c->o.token.n > 0 ? "rejects this token" : "requires a "
		    "token: set WAZA_AUTH_TOKEN, or give --token-file");
	} else {
		client_put_error(&b, a->error);
		n = (size_t)((char *)memchr(b.p, '\n', b.n) - b.p);
		END(c, ERR_SCHEMA, "%s rejects the connection: %.*s",
		    c->o.target.name, (int)(n < 90 ? n : 90), b.p);
		buf_free(&b);
	}
}

static void
greet(struct client *c)
{
	struct client_request *rest = c->open, **last = c->last, *q;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_cstr(&o, "name", "waza");
	json_put_member_cstr(&o, "version", c->o.version);
	json_put_member_cstr(&o, "agent", "cli");
	json_put_member_int(&o, "pid", (int64_t)getpid());
	if (c->o.token.n > 0)
		json_put_member_str(&o, "token", c->o.token);
	json_close(&o, '}');
	/* hello goes before the requests that wait for it */
	c->open = NULL;
	c->last = &c->open;
	q = new_request(c, "hello", on_hello, c);
	q->next = rest;
	if (rest != NULL)
		c->last = last;
	c->state = CLIENT_GREETING;
	touch(c);
	put_call(c, q->id, q->method, buf_str(&b));
	buf_free(&b);
}

/*
 * Receiving.
 */
static void
take_answer(struct client *c, const struct json *v, const struct json *id)
{
	static const struct json none = { .type = JSON_NULL };
	const struct json *error = json_getc(v, "error");
	const struct json *result = json_getc(v, "result");
	struct client_request **at = &c->open;
	struct client_answer a = { .message = v };
	int64_t n;

	if (error != NULL && error->type == JSON_NULL)
		error = NULL;
	/* An error without an id is about the oldest request. */
	if (id == NULL || id->type == JSON_NULL) {
		if (error == NULL)
			return;
	} else if (!json_int(id, &n))
		return;
	else
		while (*at != NULL && (*at)->id != n)
			at = &(*at)->next;
	if (*at == NULL)
		return;			/* not an answer to a request */
	a.error = error;
	if (error == NULL)
		a.result = result != NULL ? result : &none;
	end_request(c, at, &a);
}

static void
take_value(struct client *c, const struct json *v)
{
	const struct json *method = json_getc(v, "method");
	const struct json *id = json_getc(v, "id");

	if (method == NULL || method->type != JSON_STRING)
		take_answer(c, v, id);
	else if (id != NULL && id->type != JSON_NULL) {
		wire_put_error(conn_begin(c->conn), id, WIRE_NO_METHOD,
		    "Method not found");
		conn_end(c->conn);
	} else if (c->o.notify != NULL)
		c->o.notify(c->o.arg, v, json_text(method),
		    json_getc(v, "params"));
}

static void
end_invalid(struct client *c, struct str text, bool cut)
{
	struct buf b = { 0 };

	if (cut) {
		END(c, ERR_SYNTAX, "the server at %s disconnected in the "
		    "middle of a message", c->o.target.name);
		return;
	}
	text.n = text.n < SHOWN ? text.n : SHOWN;
	client_put_note(&b, text, NULL);
	END(c, ERR_SYNTAX, "%s does not speak JSON-RPC: it sent %.*s",
	    c->o.target.name, (int)(b.n < 90 ? b.n - 1 : 90), b.p);
	buf_free(&b);
}

static void
on_message(void *arg, struct str text)
{
	struct client *c = arg;
	struct arena a = { 0 };
	struct json_error je = { 0 };
	const struct json *v;

	if (c->state == CLIENT_OVER)
		return;
	touch(c);
	v = arena_json(&a, text, &je);
	if (v == NULL)
		end_invalid(c, text, je.off == text.n && text.n > 0 &&
		    (text.p[0] == '{' || text.p[0] == '['));
	else if (v->type != JSON_ARRAY)
		take_value(c, v);
	else
		for (v = json_first(v); v != NULL &&
		    c->state != CLIENT_OVER; v = v->next)
			take_value(c, v);
	arena_free(&a);
}

static void
on_broken(void *arg, const struct err *e)
{
	struct client *c = arg;

	END(c, e->code, "invalid message from %s: %s",
	    c->o.target.name, e->msg);
}

static void
on_gone(void *arg)
{
	struct client *c = arg;

	c->conn = NULL;
	on_ended(c);
}

/* A server may answer in the other framing: its first byte decides. */
static int
either_next(struct conn *conn, struct str in, bool last, size_t *used,
    struct str *msg, struct err *e)
{
	size_t n = conn_blank(in);
	bool block = n < in.n && (in.p[n] == 'C' || in.p[n] == 'c');

	return (block ? &conn_lsp : &conn_line)->next(conn, in, last, used,
	    msg, e);
}

/*
 * Connecting.
 */
static void
connected(struct client *c, int fd)
{
	struct conn_opts o = { .in = fd, .out = fd, .framer = &c->framer,
		.message = on_message, .broken = on_broken,
		.ended = on_ended, .gone = on_gone, .arg = c };
	const struct conn_framer *f = c->o.framer;

	if (f == NULL)
		f = c->o.target.path != NULL ? &conn_lsp : &conn_line;
	c->framer = *f;
	c->framer.next = either_next;
	if (c->o.target.path == NULL)
		os_keepalive(fd, ALIVE_S);
	c->conn = conn_new(&c->conns, &o);
	assert(c->conn != NULL);	/* the only connection */
	greet(c);
}

static void
end_unconnected(struct client *c, int sys)
{
	END(c, ERR_SYS, "cannot connect to %s: %s%s", c->o.target.name,
	    strerror(sys), sys == ENOENT || sys == ECONNREFUSED ?
	    "; is the server running?" : "");
	c->err.sys = sys;
}

static void try_next(struct client *, int sys);

static void
on_writable(void *arg, int ready_for)
{
	struct client *c = arg;
	int fd = c->w.fd, sys = os_connected(fd);

	(void)ready_for;
	fd_stop(c->o.loop, &c->w);
	c->w.fd = -1;
	if (sys == 0) {
		connected(c, fd);
		return;
	}
	os_close(&fd);
	try_next(c, sys);
}

static void
watch(struct client *c, int fd)
{
	c->w = (struct fd_watch){ .fd = fd, .fn = on_writable, .arg = c };
	fd_start(c->o.loop, &c->w, LOOP_WRITE);
}

/* Tries the next address; sys is the error of the one before, or 0. */
static void
try_tcp(struct client *c, int sys)
{
	const struct client_target *t = &c->o.target;
	struct err e = { 0 };
	int fd;

	for (;;) {
		fd = os_connect_tcp(t->host, t->port, c->nth++, &e);
		if (fd != -1) {
			watch(c, fd);
			return;
		}
		if (e.sys == 0)
			END(c, e.code, "%s", e.msg);
		else if (e.sys == ENOENT)
			end_unconnected(c, sys != 0 ? sys : e.sys);
		if (c->state == CLIENT_OVER)
			return;
		sys = e.sys;
	}
}

static void
try_unix(void *arg)
{
	struct client *c = arg;
	struct err e = { 0 };
	int fd = os_connect_unix(c->o.target.path, &e);

	if (fd != -1)
		watch(c, fd);
	else if (e.code == ERR_SYS)
		try_next(c, e.sys);
	else
		END(c, e.code, "%s", e.msg);
}

static void
try_next(struct client *c, int sys)
{
	if (c->o.target.path == NULL)
		try_tcp(c, sys);
	else if (sys == EAGAIN)
		timer_start(c->o.loop, &c->retry, BUSY_MS);
	else
		end_unconnected(c, sys);
}

static void
on_timer(void *arg)
{
	struct client *c = arg;
	const char *name = c->o.target.name;
	long long s = (long long)(c->o.timeout_ms / 1000);

	switch (c->state) {
	case CLIENT_OVER:
		report_over(c);
		break;
	case CLIENT_CONNECTING:
		END(c, ERR_TIMEOUT, "cannot connect to %s: no answer "
		    "within %lld s", name, s);
		break;
	case CLIENT_GREETING:
		END(c, ERR_TIMEOUT, "the server at %s did not answer "
		    "within %lld s", name, s);
		break;
	case CLIENT_READY:
		if (c->pinged) {
			END(c, ERR_TIMEOUT, "the server at %s stopped "
			    "answering: no message for %lld s", name, s);
			break;
		}
		put_call(c, new_request(c, "ping", NULL, NULL)->id, "ping",
		    STR(""));
		touch(c);
		c->pinged = true;
		break;
	case CLIENT_IDLE:
		break;
	}
}

void
client_start(struct client *c, const struct client_opts *o)
{
	*c = (struct client){ .o = *o, .state = CLIENT_CONNECTING,
		.last = &c->open, .w = { .fd = -1 },
		.conns = { .loop = o->loop, .limits = o->limits },
		.timer = { .fn = on_timer, .arg = c },
		.retry = { .fn = try_unix, .arg = c } };
	c->conns.limits.idle_ms = 0;
	conns_init(&c->conns);
	touch(c);
	if (o->target.path != NULL)
		try_unix(c);
	else
		try_tcp(c, 0);
}

void
client_hold(struct client *c, bool on)
{
	if (c->conn == NULL || c->state == CLIENT_OVER)
		return;
	conn_hold(c->conn, on);
	if (on)
		timer_stop(c->o.loop, &c->timer);
	else
		touch(c);
}

size_t
client_pending(const struct client *c)
{
	return c->conn != NULL && c->state != CLIENT_OVER ?
	    conn_pending(c->conn) : 0;
}

void
client_fini(struct client *c)
{
	if (c->state == CLIENT_IDLE)
		return;
	close_all(c);
	c->state = CLIENT_OVER;
	conns_fini(&c->conns);
	timer_stop(c->o.loop, &c->timer);
	while (c->open != NULL) {
		c->open->fn = NULL;
		end_request(c, &c->open, NULL);
	}
	arena_free(&c->arena);
	c->state = CLIENT_IDLE;
}

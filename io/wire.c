/* SPDX-License-Identifier: ISC */
/*
 * JSON-RPC 2.0 with a child.
 *
 * Invariants:
 *   1. A request is in `pending` from wire_ask until its callback is called,
 *      exactly once; a forgotten request has no callback.
 *   2. ended  <=>  the child has been reaped; nothing is sent or added to
 *      `pending` any more.
 *   3. `in` is empty or begins with an incomplete message.
 *
 * Complete messages are parsed in the read buffer; only an incomplete rest is
 * kept, so an idle wire holds no buffer.
 */
#include "io/wire.h"

#include <string.h>

#include "json.h"
#include "lib/http.h"

enum { HEAD_MAX = 16 * 1024 };	/* bytes of the lines before a block */

struct wire_request {
	struct wire_request *next;
	int64_t id;
	wire_answer_fn *fn;
	void *ctx;
};

static void
set_broken(struct wire *w)
{
	w->broken = true;	/* `in` stays: a callback may be using it */
	wire_kill(w);
}

/* A child that has closed its stdin is expected to exit. */
static void
push(struct wire *w, struct str s)
{
	if (w->ended || w->ending || proc_write(&w->proc, s) == 0)
		return;
	if (w->proc.in_open)
		set_broken(w);
	else
		wire_end(w);
}

/* Sends the message and frees it. */
static void
send_message(struct wire *w, struct buf *b)
{
	struct buf h = { 0 };

	if (w->o.record != NULL && !w->ended && !w->ending)
		w->o.record(w->o.arg, '>', buf_str(b));
	if (w->o.blocks) {
		buf_fmt(&h, "Content-Length: %zu\r\n\r\n", b->n);
		push(w, buf_str(&h));
		buf_free(&h);
	} else
		buf_putc(b, '\n');
	push(w, buf_str(b));
	buf_free(b);
}

static struct json_out
open_message(struct buf *b)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	json_open(&o, '{');
	json_put_member_cstr(&o, "jsonrpc", "2.0");
	return o;
}

void
wire_put_call(struct buf *b, int64_t id, const char *method, struct str params)
{
	struct json_out o = open_message(b);

	if (id > 0)
		json_put_member_int(&o, "id", id);
	json_put_member_cstr(&o, "method", method);
	if (params.n > 0)
		json_put_member_raw(&o, "params", params);
	json_close(&o, '}');
}

void
wire_put_error(struct buf *b, const struct json *id, int code, const char *msg)
{
	struct json_out o = open_message(b);

	json_put_member(&o, "id", id);
	json_open_member(&o, "error", '{');
	json_put_member_int(&o, "code", code);
	json_put_member_cstr(&o, "message", msg);
	json_close(&o, '}');
	json_close(&o, '}');
}

void
wire_notify(struct wire *w, const char *method, struct str params)
{
	struct buf b = { 0 };

	wire_put_call(&b, 0, method, params);
	send_message(w, &b);
}

void
wire_ask(struct wire *w, const char *method, struct str params,
    wire_answer_fn *fn, void *ctx)
{
	struct wire_request *q = w->spare;
	struct buf b = { 0 };

	if (w->ended)
		return;
	if (q != NULL)
		w->spare = q->next;
	else
		q = NEW(&w->arena, struct wire_request);
	*q = (struct wire_request){ w->pending, ++w->seq, fn, ctx };
	w->pending = q;
	wire_put_call(&b, q->id, method, params);
	send_message(w, &b);
}

void
wire_reply(struct wire *w, const struct json *id, struct str result)
{
	struct buf b = { 0 };
	struct json_out o = open_message(&b);

	json_put_member(&o, "id", id);
	json_put_member_raw(&o, "result", result.n > 0 ? result : STR("null"));
	json_close(&o, '}');
	send_message(w, &b);
}

void
wire_refuse(struct wire *w, const struct json *id, int code, const char *msg)
{
	struct buf b = { 0 };

	wire_put_error(&b, id, code, msg);
	send_message(w, &b);
}

void
wire_forget(struct wire *w, void *ctx)
{
	struct wire_request *q;

	for (q = w->pending; q != NULL; q = q->next)
		if (q->ctx == ctx)
			q->fn = NULL;
}

static void
answer(struct wire *w, struct wire_request **at, const struct json *result,
    const struct json *error)
{
	struct wire_request *q = *at;
	wire_answer_fn *fn = q->fn;
	void *ctx = q->ctx;

	*at = q->next;
	q->next = w->spare;
	w->spare = q;
	if (fn != NULL)
		fn(ctx, result, error);
}

static void
handle_response(struct wire *w, const struct json *v, const struct json *id)
{
	static const struct json none = { .type = JSON_NULL };
	const struct json *error = json_getc(v, "error");
	const struct json *result = json_getc(v, "result");
	struct wire_request **at = &w->pending;
	int64_t n;

	if (!json_int(id, &n))
		return;
	while (*at != NULL && (*at)->id != n)
		at = &(*at)->next;
	if (*at == NULL)
		return;			/* no such request */
	if (error != NULL && error->type != JSON_NULL)
		answer(w, at, NULL, error);
	else
		answer(w, at, result != NULL ? result : &none, NULL);
}

static void
handle_value(struct wire *w, const struct json *v)
{
	const struct json *method = json_getc(v, "method");
	const struct json *params = json_getc(v, "params");
	const struct json *id = json_getc(v, "id");

	if (id != NULL && id->type != JSON_STRING && id->type != JSON_NUMBER)
		id = NULL;
	if (method == NULL || method->type != JSON_STRING) {
		if (id != NULL)
			handle_response(w, v, id);
	} else if (id == NULL) {
		if (w->o.notify != NULL)
			w->o.notify(w->o.arg, json_text(method), params);
	} else if (w->o.request != NULL)
		w->o.request(w->o.arg, id, json_text(method), params);
	else
		wire_refuse(w, id, WIRE_NO_METHOD, "Method not found");
}

/* A message is one value or a batch: a list of values. */
static void
handle_message(struct wire *w, struct str text)
{
	struct arena a = { 0 };
	const struct json *v = arena_json(&a, text, NULL);

	if (v != NULL && w->o.record != NULL)
		w->o.record(w->o.arg, '<', text);
	if (v != NULL && v->type == JSON_ARRAY)
		for (v = json_first(v); v != NULL; v = v->next)
			handle_value(w, v);
	else if (v != NULL)
		handle_value(w, v);
	arena_free(&a);
}

/* The next_ functions return 1: a message, 0: incomplete, -1: too long. */
static int
next_line(struct wire *w, struct str in, size_t *used, struct str *msg)
{
	const char *eol = in.n > w->seen ?
	    memchr(in.p + w->seen, '\n', in.n - w->seen) : NULL;
	size_t n = eol != NULL ? (size_t)(eol - in.p) : in.n;

	if (n > WIRE_MESSAGE_MAX)
		return -1;
	w->seen = n;
	if (eol == NULL)
		return 0;
	w->seen = 0;
	*used = n + 1;
	*msg = (struct str){ in.p, n };
	return 1;
}

/*
 * Reads the length from a header line into *n.  Other output without a line
 * end may precede the header.
 */
static bool
read_length(struct str line, size_t *n)
{
	static const char name[] = "content-length:";
	const size_t len = sizeof(name) - 1;
	size_t at;

	for (at = 0; at + len <= line.n; at++)
		if (http_same((struct str){ line.p + at, len }, name))
			break;
	if (at + len > line.n)
		return false;
	for (at += len; at < line.n && line.p[at] == ' '; at++)
		;
	if (at == line.n || line.p[at] < '0' || line.p[at] > '9')
		return false;
	*n = 0;
	for (; at < line.n && line.p[at] >= '0' && line.p[at] <= '9'; at++)
		if (*n <= WIRE_MESSAGE_MAX)
			*n = *n * 10 + (size_t)(line.p[at] - '0');
	return true;
}

/*
 * Reads lines up to the empty one after a Content-Length.  Lines before it are
 * other output; they are dropped at once by advancing *used, which bounds the
 * bytes that are kept.
 */
static int
read_head(struct str in, size_t *used, size_t *body, size_t *length)
{
	const char *eol;
	struct str line;
	size_t at = 0;
	bool has = false;

	while (at < in.n &&
	    (eol = memchr(in.p + at, '\n', in.n - at)) != NULL) {
		line = (struct str){ in.p + at, (size_t)(eol - in.p) - at };
		at += line.n + 1;
		if (at - *used > HEAD_MAX)
			return -1;
		if (read_length(line, length))
			has = true;
		else if (!has)
			*used = at;
		else if (line.n == 0 || (line.n == 1 && *line.p == '\r')) {
			*body = at;
			return *length > WIRE_MESSAGE_MAX ? -1 : 1;
		}
	}
	return in.n - *used > HEAD_MAX ? -1 : 0;
}

static int
next_block(struct wire *w, struct str in, size_t *used, struct str *msg)
{
	size_t body = 0, length = 0;
	int rc;

	if (in.n < w->seen)
		return 0;		/* the body is incomplete */
	w->seen = 0;
	rc = read_head(in, used, &body, &length);
	if (rc != 1)
		return rc;
	if (in.n - body < length) {
		w->seen = body + length - *used;
		return 0;
	}
	*msg = (struct str){ in.p + body, length };
	*used = body + length;
	return 1;
}

/* Handles all complete messages; returns the bytes that are done. */
static size_t
handle_all(struct wire *w, struct str in)
{
	size_t all = 0, used;
	struct str msg;
	int rc;

	do {
		used = 0;
		rc = w->o.blocks ? next_block(w, in, &used, &msg) :
		    next_line(w, in, &used, &msg);
		if (rc == 1)
			handle_message(w, msg);
		in.p += used;
		in.n -= used;
		all += used;
	} while (rc == 1 && !w->broken);
	if (rc == -1)
		set_broken(w);
	return all;
}

void
wire_feed(struct wire *w, struct str s)
{
	size_t used;

	if (w->broken)
		return;
	if (w->in.n == 0) {
		used = handle_all(w, s);
		s.p += used;
		s.n -= used;
		if (!w->broken)
			buf_put(&w->in, s);
		return;
	}
	buf_put(&w->in, s);
	used = handle_all(w, buf_str(&w->in));
	if (w->broken)
		return;
	buf_eat(&w->in, used);
	if (w->in.n == 0)
		buf_free(&w->in);
}

static void
on_out(void *arg, struct str s)
{
	wire_feed(arg, s);
}

static void
on_err(void *arg, struct str s)
{
	struct wire *w = arg;

	proc_tail_add(&w->tail, s);
}

/* Nothing more can come from it. */
static void
on_out_end(void *arg)
{
	struct wire *w = arg;

	w->closed = true;
	if (w->ending)
		return;
	w->ending = true;
	proc_close_in(&w->proc);
	timer_start(w->proc.set->loop, &w->grace, WIRE_CLOSED_MS);
}

/* The last line may lack its line end. */
static void
on_done(void *arg)
{
	struct wire *w = arg;

	w->ended = true;
	timer_stop(w->proc.set->loop, &w->grace);
	if (!w->broken && !w->o.blocks && w->in.n > 0)
		handle_message(w, buf_str(&w->in));
	buf_free(&w->in);
	while (w->pending != NULL)
		answer(w, &w->pending, NULL, NULL);
	arena_free(&w->arena);
	w->spare = NULL;
	proc_fini(&w->proc);
	w->o.ended(w->o.arg);
}

static void
on_grace(void *arg)
{
	struct wire *w = arg;

	proc_cancel(&w->proc);
}

int
wire_start(struct procs *ps, struct wire *w, const struct wire_opts *o,
    struct err *e)
{
	struct proc_opts p = { .argv = o->argv, .env = o->env, .cwd = o->cwd,
		.bounds = o->bounds,
		.in_open = true, .on_out = on_out, .on_err = on_err,
		.on_out_end = on_out_end, .done = on_done, .arg = w };

	*w = (struct wire){ .o = *o };
	w->o.argv = w->o.env = NULL;	/* not needed after the call */
	w->o.cwd = NULL;
	w->o.bounds = NULL;
	w->grace.fn = on_grace;
	w->grace.arg = w;
	return proc_start(ps, &w->proc, &p, e);
}

void
wire_end(struct wire *w)
{
	if (w->ended || w->ending)
		return;
	w->ending = true;
	proc_close_in(&w->proc);
	timer_start(w->proc.set->loop, &w->grace, WIRE_GRACE_MS);
}

void
wire_kill(struct wire *w)
{
	if (w->ended)
		return;
	w->ending = true;
	proc_close_in(&w->proc);
	proc_cancel(&w->proc);
}

void
wire_fini(struct wire *w)
{
	if (w->proc.set == NULL)
		return;
	w->ended = true;
	timer_stop(w->proc.set->loop, &w->grace);
	proc_fini(&w->proc);
	buf_free(&w->in);
	arena_free(&w->arena);
	w->pending = w->spare = NULL;
}

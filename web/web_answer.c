/* SPDX-License-Identifier: ISC */
/*
 * Answers (RFC 9112), written straight into the buffer that is sent.
 */
#include "web/web_internal.h"

#include <assert.h>
#include <string.h>

#include "base/os.h"
#include "lib/http.h"

static const struct reason {
	int status;
	const char *text;
} reasons[] = {
	{ 200, "OK" }, { 201, "Created" }, { 202, "Accepted" },
	{ 204, "No Content" }, { 304, "Not Modified" },
	{ 400, "Bad Request" }, { 401, "Unauthorized" },
	{ 403, "Forbidden" }, { 404, "Not Found" },
	{ 405, "Method Not Allowed" }, { 408, "Request Timeout" },
	{ 409, "Conflict" }, { 413, "Content Too Large" },
	{ 414, "URI Too Long" }, { 415, "Unsupported Media Type" },
	{ 422, "Unprocessable Content" }, { 426, "Upgrade Required" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" }, { 501, "Not Implemented" },
	{ 503, "Service Unavailable" }, { 504, "Gateway Timeout" },
	{ 505, "HTTP Version Not Supported" },
};

/* The status of each kind of error; 500 for all others. */
static const struct {
	enum rpc_kind kind;
	int status;
} statuses[] = {
	{ RPC_PARSE_ERROR, 400 }, { RPC_INVALID_REQUEST, 400 },
	{ RPC_METHOD_NOT_FOUND, 404 }, { RPC_INVALID_PARAMS, 400 },
	{ RPC_EVAL_NOT_FOUND, 404 }, { RPC_VALIDATION_FAILED, 422 },
	{ RPC_AUTH_FAILED, 401 }, { RPC_PATH_DENIED, 403 },
	{ RPC_TIMEOUT, 504 }, { RPC_RATE_LIMITED, 429 },
	{ RPC_TOOL_UNKNOWN, 404 }, { RPC_RESOURCE, 503 },
	{ RPC_SESSION_NOT_FOUND, 404 }, { RPC_SESSION_BUSY, 409 },
	{ RPC_CANCELLED, 409 }, { RPC_RUN_NOT_FOUND, 404 },
	{ RPC_TASK_NOT_FOUND, 404 }, { RPC_NO_RESULT, 404 },
	{ RPC_RUN_OVER, 409 },
};

int
web_status(enum rpc_kind kind)
{
	size_t i;

	for (i = 0; i < COUNTOF(statuses); i++)
		if (statuses[i].kind == kind)
			return statuses[i].status;
	return 500;
}

static const char *
reason_of(int status)
{
	size_t i;

	for (i = 0; i < COUNTOF(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].text;
	return "";
}

static void
put_number(struct buf *b, size_t n)
{
	char text[24], *p = text + sizeof(text);

	do
		*--p = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	buf_put(b, (struct str){ p, (size_t)(text + sizeof(text) - p) });
}

/* RFC 9110, section 6.6.1; formatted once a second. */
static struct str
date(struct web *w)
{
	int64_t now = os_wall_ns() / 1000000000;

	if (now != w->date_at) {
		w->date_at = now;
		http_date_put(now, w->date);
	}
	return (struct str){ w->date, HTTP_DATE };
}

/* The head without the fields that delimit the body and the empty line. */
static void
put_head(struct web_conn *c, struct buf *b, int status, const char *type)
{
	buf_put(b, STR("HTTP/1.1 "));
	if (status == 200)
		buf_put(b, STR("200 OK\r\nDate: "));
	else {
		put_number(b, (size_t)status);
		buf_putc(b, ' ');
		buf_puts(b, reason_of(status));
		buf_put(b, STR("\r\nDate: "));
	}
	buf_put(b, date(c->web));
	if (type != NULL) {
		buf_put(b, STR("\r\nContent-Type: "));
		buf_puts(b, type);
	}
	buf_put(b, STR("\r\nX-Content-Type-Options: nosniff"
	    "\r\nReferrer-Policy: no-referrer"
	    "\r\nCross-Origin-Resource-Policy: same-origin\r\n"));
	if (!c->caching)
		buf_put(b, STR("Cache-Control: no-store\r\n"));
	if (!c->keep)
		buf_put(b, STR("Connection: close\r\n"));
	else if (!c->http11)
		buf_put(b, STR("Connection: keep-alive\r\n"));
	buf_put(b, buf_str(&c->fields));
}

void
web_field(struct web_req *r, const char *name, struct str value)
{
	struct web_conn *c = web_conn_of(r);

	if (!http_value_ok(value))
		return;
	if (http_same(str_of(name), "cache-control"))
		c->caching = true;
	buf_puts(&c->fields, name);
	buf_put(&c->fields, STR(": "));
	buf_put(&c->fields, value);
	buf_put(&c->fields, STR("\r\n"));
}

/* 204 and 304 have no body and no Content-Length (section 8.6). */
void
web_answer(struct web_req *r, int status, const char *type, struct str body)
{
	struct web_conn *c = web_conn_of(r);
	struct buf *b = conn_begin(c->conn);
	bool none = status == 204 || status == 304;

	assert(c->busy && !c->streaming);
	put_head(c, b, status, none ? NULL : type);
	if (!none) {
		buf_put(b, STR("Content-Length: "));
		put_number(b, body.n);
		buf_put(b, STR("\r\n"));
	}
	buf_put(b, STR("\r\n"));
	if (!none && !c->only_head)
		buf_put(b, body);
	conn_end_raw(c->conn);
	web_over(c);
}

struct buf *
web_begin(struct web_req *r)
{
	struct buf *b = &r->web->body;

	if (b->cap > WEB_STREAM_MAX)
		buf_free(b);
	b->n = 0;
	return b;
}

struct json_out *
web_json(struct web_req *r)
{
	r->web->json = (struct json_out){ .put = buf_sink,
		.ctx = web_begin(r) };
	return &r->web->json;
}

void
web_end(struct web_req *r, int status, const char *type)
{
	web_answer(r, status, type, buf_str(&r->web->body));
}

void
web_end_json(struct web_req *r, int status)
{
	buf_putc(&r->web->body, '\n');
	web_end(r, status, "application/json");
}

void
web_fail(struct web_req *r, int status, const char *kind, struct str message,
    struct str data)
{
	struct json_out *o = web_json(r);

	json_open(o, '{');
	json_open_member(o, "error", '{');
	json_put_member_int(o, "code", status);
	json_put_member_cstr(o, "kind", kind);
	json_put_member_str(o, "message", message);
	if (data.n > 0)
		json_put_member_raw(o, "data", data);
	json_close(o, '}');
	json_close(o, '}');
	web_end_json(r, status);
}

/*
 * Streams (RFC 9112, section 7.1): chunks, or until the connection closes for
 * HTTP/1.0.
 */
bool
web_stream_begin(struct web_req *r, const char *type,
    const struct web_stream *s)
{
	struct web_conn *c = web_conn_of(r);
	struct buf *b;

	if (!c->later && !c->only_head)
		web_later(r, s->gone, s->arg);
	c->stream = *s;
	c->chunked = c->http11;
	if (!c->chunked)
		c->keep = false;
	b = conn_begin(c->conn);
	put_head(c, b, 200, type);
	if (c->chunked)
		buf_put(b, STR("Transfer-Encoding: chunked\r\n"));
	buf_put(b, STR("\r\n"));
	conn_end_raw(c->conn);
	c->streaming = true;
	if (c->only_head)
		web_over(c);
	return !c->only_head;
}

bool
web_stream_put(struct web_req *r, struct str s)
{
	struct web_conn *c = web_conn_of(r);
	struct buf *b;

	assert(c->streaming);
	if (s.n == 0)
		return true;
	if (conn_pending(c->conn) + s.n > WEB_STREAM_MAX) {
		conn_drop(c->conn);
		return false;
	}
	b = conn_begin(c->conn);
	if (c->chunked)
		buf_fmt(b, "%zx\r\n", s.n);
	buf_put(b, s);
	if (c->chunked)
		buf_put(b, STR("\r\n"));
	conn_end_soon(c->conn);
	return true;
}

size_t
web_stream_room(const struct web_req *r)
{
	size_t n = conn_pending(((const struct web_conn *)(const void *)
	    r)->conn);

	return n < WEB_STREAM_MAX ? WEB_STREAM_MAX - n : 0;
}

void
web_stream_flush(struct web_req *r)
{
	conn_flush(web_conn_of(r)->conn);
}

void
web_stream_end(struct web_req *r)
{
	struct web_conn *c = web_conn_of(r);

	assert(c->streaming);
	if (c->chunked) {
		buf_put(conn_begin(c->conn), STR("0\r\n\r\n"));
		conn_end_raw(c->conn);
	}
	web_over(c);
}

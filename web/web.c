/* SPDX-License-Identifier: ISC */
/*
 * From a request to its route.
 *
 * A request that is answered before its function returns allocates nothing that
 * lasts: its memory is in an arena that is wound back, and the answer is
 * written straight into the buffer that is sent.  A request that is answered
 * later gets copies of its strings.
 */
#include "web/web_internal.h"

#include <assert.h>
#include <string.h>

#include "lib/http.h"
#include "lib/ws.h"
#include "rpc/rpc_view.h"

static const struct method {
	const char *name;
	unsigned bit;		/* 0: known, but no route has it */
} methods[] = {
	{ "GET", WEB_GET }, { "HEAD", WEB_GET }, { "POST", WEB_POST },
	{ "PUT", WEB_PUT }, { "DELETE", WEB_DELETE },
	{ "PATCH", WEB_PATCH }, { "OPTIONS", 0 },
};

struct web_conn *
web_conn_of(struct web_req *r)
{
	return (struct web_conn *)(void *)r;
}

/*
 * Paths.
 */
bool
web_decode(struct arena *a, struct str s, bool plus, struct str *out)
{
	char *to;
	size_t i, n = 0;

	*out = s;
	if (s.n == 0 || (memchr(s.p, '%', s.n) == NULL &&
	    (!plus || memchr(s.p, '+', s.n) == NULL)))
		return true;
	to = arena_raw(a, s.n, 1);
	for (i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '%') {
			int hi = s.n - i < 3 ? -1 : hex_digit(s.p[i + 1]);
			int lo = hi < 0 ? -1 : hex_digit(s.p[i + 2]);

			if (lo < 0)
				return false;
			c = (char)(hi << 4 | lo);
			i += 2;
		} else if (plus && c == '+')
			c = ' ';
		to[n++] = c;
	}
	*out = (struct str){ to, n };
	return true;
}

bool
web_next_pair(struct str *query, struct str *key, struct str *value)
{
	struct str pair;
	const char *end;

	while (query->n > 0 && query->p[0] == '&') {
		query->p++;
		query->n--;
	}
	if (query->n == 0)
		return false;
	pair = *query;
	end = memchr(pair.p, '&', pair.n);
	if (end != NULL)
		pair.n = (size_t)(end - pair.p);
	query->p += pair.n + (end != NULL);
	query->n -= pair.n + (end != NULL);
	*key = pair;
	*value = STR("");
	end = memchr(pair.p, '=', pair.n);
	if (end != NULL) {
		key->n = (size_t)(end - pair.p);
		*value = (struct str){ end + 1, pair.n - key->n - 1 };
	}
	return true;
}

bool
web_query(struct web_req *r, const char *name, struct str *value)
{
	struct str left = r->query, key, text;

	while (web_next_pair(&left, &key, &text)) {
		if (!web_decode(r->arena, key, true, &key) ||
		    !str_is(key, name))
			continue;
		if (!web_decode(r->arena, text, true, &text))
			return false;
		*value = text;
		return true;
	}
	return false;
}

/* The length of the first segment. */
static size_t
segment(const char *p, const char *end)
{
	const char *slash = end > p ? memchr(p, '/', (size_t)(end - p)) : NULL;

	return (size_t)((slash != NULL ? slash : end) - p);
}

/*
 * Compares segment by segment, decoded (RFC 3986, section 6.2.2.2); a segment
 * at ":name" becomes a parameter.
 */
static bool
matches(struct web_req *r, const char *pattern)
{
	const char *p = r->path.p, *end = p + r->path.n;
	const char *w = pattern, *wend = w + strlen(w);
	struct str s;
	size_t n, wn, k = 0;

	for (;;) {
		if (p == end || *p++ != '/' || *w++ != '/')
			return false;
		n = segment(p, end);
		wn = segment(w, wend);
		if (!web_decode(r->arena, (struct str){ p, n }, false, &s))
			return false;
		if (*w == ':') {
			assert(k < WEB_PARAMS_MAX);
			if (n == 0)
				return false;
			r->param[k++] = s;
		} else if (!str_eq(s, (struct str){ w, wn }))
			return false;
		p += n;
		w += wn;
		if (p == end || w == wend)
			return p == end && w == wend;
	}
}

/*
 * The target of a request (RFC 9112, section 3.2): a path, or a whole URL
 * whose authority replaces Host.
 */
static bool
read_target(struct web_conn *c)
{
	struct web_req *r = &c->req;
	struct http_url u;
	struct err e;
	const char *mark;

	r->path = r->head->target;
	c->authority = http_get(r->head, "host");
	if (r->path.p[0] != '/' && !str_is(r->path, "*")) {
		if (http_url_read(r->path, &u, &e) == -1)
			return false;
		r->path = u.path;
		c->authority = u.authority;
	}
	r->query = STR("");
	mark = memchr(r->path.p, '?', r->path.n);
	if (mark != NULL) {
		r->query = (struct str){ mark + 1, r->path.n -
			(size_t)(mark - r->path.p) - 1 };
		r->path.n = (size_t)(mark - r->path.p);
	}
	mark = memchr(r->path.p, '#', r->path.n);
	if (mark != NULL)
		r->path.n = (size_t)(mark - r->path.p);
	return true;
}

/*
 * Routes.
 */
static const struct method *
find_method(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(methods); i++)
		if (str_is(name, methods[i].name))
			return &methods[i];
	return NULL;
}

/* The row for path and method; *all are all methods of the path. */
static const struct web_route *
find_route(struct web_req *r, unsigned bit, unsigned *all, unsigned *flags)
{
	struct web *w = r->web;
	const struct web_route *row;
	size_t i, k;

	*all = 0;
	*flags = 0;
	for (i = 0; i < w->ntables; i++)
		for (k = 0; k < w->table[i].n; k++) {
			row = &w->table[i].rows[k];
			if (!matches(r, row->path))
				continue;
			*all |= row->methods;
			*flags |= row->flags;
			r->arg = w->table[i].arg;
			if (row->methods & bit)
				return row;
		}
	return NULL;
}

static void
put_allow(struct web_req *r, unsigned all)
{
	struct buf b = { 0 };
	size_t i;

	buf_puts(&b, "OPTIONS");
	for (i = 0; i < COUNTOF(methods); i++)
		if (methods[i].bit & all) {
			buf_puts(&b, ", ");
			buf_puts(&b, methods[i].name);
		}
	web_field(r, "Allow", buf_str(&b));
	buf_free(&b);
}

/* The path exists, but not for this method. */
static void
refuse_method(struct web_req *r, unsigned all)
{
	if (str_is(r->method, "OPTIONS")) {
		put_allow(r, all);
		web_answer(r, 204, NULL, STR(""));
		return;
	}
	if (all == WEB_WS) {
		web_field(r, "Upgrade", STR("websocket"));
		web_field(r, "Connection", STR("Upgrade"));
		web_fail(r, 426, "upgrade_required",
		    STR("Only a WebSocket is served here"), STR(""));
		return;
	}
	put_allow(r, all);
	web_fail(r, 405, "method_not_allowed", STR("Method not allowed"),
	    STR(""));
}

/* Refuses a malformed WebSocket handshake (RFC 6455, section 4.2). */
static bool
check_upgrade(struct web_req *r)
{
	const char *why = NULL;
	int status = ws_refusal(r->head, &why);

	if (status == 0)
		return true;
	if (status == 426)
		web_field(r, "Sec-WebSocket-Version", STR("13"));
	if (status == 405)
		web_field(r, "Allow", STR("GET"));
	web_fail(r, status, status == 405 ? "method_not_allowed" :
	    status == 426 ? "upgrade_required" : "invalid_request",
	    str_of(why), STR(""));
	return false;
}

static void
route(struct web_conn *c)
{
	struct web_req *r = &c->req;
	const struct method *m = find_method(r->method);
	bool ws = ws_wanted(r->head);
	const struct web_route *row;
	unsigned all, flags;

	if (m == NULL) {
		web_fail(r, 501, "method_not_allowed",
		    STR("Method not implemented"), STR(""));
		return;
	}
	if (str_is(r->path, "*")) {
		web_answer(r, m->bit == 0 ? 204 : 400, NULL, STR(""));
		return;
	}
	row = find_route(r, ws ? WEB_WS : m->bit, &all, &flags);
	if (row == NULL && ws && all != 0) {	/* a plain GET */
		ws = false;
		row = find_route(r, m->bit, &all, &flags);
	}
	if (all == 0) {
		web_fail(r, 404, "not_found", STR("Not found"), STR(""));
		return;
	}
	if (!web_check_token(c, row != NULL ? row->flags : flags, ws))
		return;
	r->route = row;
	if (row == NULL)
		refuse_method(r, all);
	else if (ws ? check_upgrade(r) : web_check_type(c, row->flags))
		row->fn(r);
}

/*
 * Connections.
 */
static void
begin(struct web_conn *c, struct str body)
{
	struct web_req *r = &c->req;
	const struct http_head *h = conn_request(c->conn);

	*r = (struct web_req){ .web = c->web, .via = c->via,
		.method = h->method, .body = body, .head = h,
		.arena = &c->web->arena };
	c->busy = c->calling = true;
	c->later = c->streaming = c->caching = false;
	c->keep = h->keep;
	c->http11 = h->minor > 0;
	c->only_head = str_is(h->method, "HEAD");
}

static void
on_message(void *arg, struct str body)
{
	struct web_conn *c = arg;
	struct web *w = c->web;
	struct arena_mark mark = arena_save(&w->arena);

	begin(c, body);
	if (!read_target(c))
		web_fail(&c->req, str_is(c->req.method, "CONNECT") ? 501 : 400,
		    "invalid_request", STR("request target is not a path"),
		    STR(""));
	else if (web_check_source(c))
		route(c);
	arena_restore(&w->arena, mark);
	if (c->conn == NULL) {		/* handed over by web_upgrade() */
		arena_free(&c->own);
		return;
	}
	c->calling = false;
	c->req.head = NULL;
	assert(!c->busy || c->later);
}

/* Malformed input: answers with the status, then the connection closes. */
static void
on_broken(void *arg, const struct err *e)
{
	struct web_conn *c = arg;
	const struct http_head *h = conn_request(c->conn);
	int status = e->code == ERR_TIMEOUT ? 408 : h->status;

	c->req = (struct web_req){ .web = c->web, .via = c->via,
		.arena = &c->web->arena };
	c->busy = c->calling = true;
	c->later = c->streaming = c->caching = c->only_head = c->keep = false;
	c->http11 = true;
	web_fail(&c->req, status, status == 413 || status == 431 ||
	    status == 414 ? "limit" : status == 408 ? "timeout" :
	    "invalid_request", str_of(e->msg), STR(""));
	c->calling = false;
}

static void
on_ended(void *arg)
{
	struct web_conn *c = arg;

	c->keep = false;
	if (!c->busy)
		conn_finish(c->conn);
}

static bool
is_owed(void *arg)
{
	const struct web_conn *c = arg;

	return c->busy;
}

static void
on_drained(void *arg)
{
	struct web_conn *c = arg;

	if (c->streaming && c->stream.drained != NULL)
		c->stream.drained(c->stream.arg);
}

static void
on_gone(void *arg)
{
	struct web_conn *c = arg;

	if (c->busy && c->stream.gone != NULL)
		c->stream.gone(c->stream.arg);
	arena_free(&c->kept);
	buf_free(&c->fields);
	rpc_trim_soon(c->web->rpc);
	arena_free(&c->own);
}

void
web_adopt(struct web *w, struct conn *conn, enum rpc_via via, bool authed)
{
	struct arena own = { 0 };
	struct web_conn *c = NEW(&own, struct web_conn);

	*c = (struct web_conn){ .own = own, .web = w, .conn = conn,
		.via = via, .authed = authed };
	conn_hand_over(conn, &conn_http, &(struct conn_opts){
		.message = on_message, .broken = on_broken, .ended = on_ended,
		.owed = is_owed, .drained = on_drained, .gone = on_gone,
		.arg = c });
}

void
web_over(struct web_conn *c)
{
	bool later = c->later;

	c->busy = c->later = c->streaming = false;
	c->stream = (struct web_stream){ 0 };
	buf_free(&c->fields);
	arena_free(&c->kept);
	if (!c->keep)
		conn_finish(c->conn);
	else if (later)
		conn_hold(c->conn, false);
}

static struct str
keep(struct web_conn *c, struct str s)
{
	return arena_str(&c->kept, s);
}

void
web_later(struct web_req *r, void (*gone)(void *), void *arg)
{
	struct web_conn *c = web_conn_of(r);
	size_t i;

	assert(c->calling && !c->later);
	c->later = true;
	c->stream = (struct web_stream){ .gone = gone, .arg = arg };
	r->method = keep(c, r->method);
	r->path = keep(c, r->path);
	r->query = keep(c, r->query);
	r->body = keep(c, r->body);
	for (i = 0; i < WEB_PARAMS_MAX; i++)
		r->param[i] = keep(c, r->param[i]);
	r->arena = &c->kept;
	conn_hold(c->conn, true);
}

struct conn *
web_upgrade(struct web_req *r)
{
	struct web_conn *c = web_conn_of(r);
	struct conn *conn = c->conn;

	assert(c->calling && !c->later);
	ws_put_accept(conn_begin(conn), r->head);
	conn_end_raw(conn);
	buf_free(&c->fields);
	arena_free(&c->kept);
	c->busy = false;
	c->conn = NULL;		/* on_message() frees the rest */
	return conn;
}

void
web_add(struct web *w, const struct web_route *rows, size_t n, void *arg)
{
	assert(w->ntables < WEB_TABLES_MAX);
	w->table[w->ntables].rows = rows;
	w->table[w->ntables].n = n;
	w->table[w->ntables++].arg = arg;
}

/*
 * The routes of every server: /health, and JSON-RPC over a WebSocket.
 */
static void
health(struct web_req *r)
{
	struct web *w = r->web;
	struct json_out *o = web_json(r);

	json_open(o, '{');
	json_put_member_cstr(o, "status", "ok");
	json_put_member_cstr(o, "version", w->rpc->version);
	json_put_member_int(o, "runs",
	    (int64_t)rpc_view_counts(w->rpc).unfinished);
	json_put_member_int(o, "clients",
	    w->clients != NULL ? (int64_t)w->clients(w->clients_arg) : 0);
	json_close(o, '}');
	web_end_json(r, 200);
}

static void
json_rpc(struct web_req *r)
{
	struct rpc *rpc = r->web->rpc;
	bool authed = r->authed;	/* web_upgrade() ends the request */

	rpc_adopt(rpc, RPC_WS, web_upgrade(r), &conn_ws, authed);
}

static const struct web_route rows[] = {
	{ WEB_GET, "/health", WEB_OPEN, health,
	    .help = "Report the state of the server" },
	{ WEB_GET, "/api/v1/health", WEB_OPEN, health,
	    .help = "Report the state of the server" },
	{ WEB_WS, "/rpc", WEB_OPEN, .fn = json_rpc },	/* last: not if bare */
};

void
web_init(struct web *w)
{
	w->date_at = -1;
	w->adopt = web_adopt;
	web_add(w, rows, COUNTOF(rows) - w->bare, NULL);
}

void
web_fini(struct web *w)
{
	buf_free(&w->body);
	arena_free(&w->arena);
}

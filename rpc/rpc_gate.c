/* SPDX-License-Identifier: ISC */
/*
 * The checks before a method's function runs: hello and token, parameters,
 * path roots; and calls from within the server.
 */
#include "rpc/rpc_internal.h"

#include <assert.h>
#include <string.h>

#include "agent/agent.h"
#include "base/os_path.h"

bool
rpc_same_secret(struct str a, struct str b)
{
	unsigned char diff = a.n != b.n;
	size_t i;

	for (i = 0; i < a.n; i++)
		diff |= (unsigned char)(a.p[i] ^ b.p[b.n > 0 ? i % b.n : 0]);
	return diff == 0;
}

bool
rpc_needs_token(const struct rpc *r, enum rpc_via via)
{
	return r->access.token.n > 0 && (via == RPC_TCP || via == RPC_WS ||
	    (via == RPC_UNIX && r->access.unix_token));
}

bool
rpc_is_http(struct str s)
{
	if (s.n > 0 && s.p[s.n - 1] == '\r')
		s.n--;
	return s.n > 8 && s.p[0] >= 'A' && s.p[0] <= 'Z' &&
	    memcmp(s.p + s.n - 8, "HTTP/1.", 7) == 0;
}

enum rpc_status
rpc_check_peer(struct rpc_call *c)
{
	const struct rpc_peer *p = c->peer;
	unsigned flags = c->method->flags;
	bool hello = flags & RPC_HELLO ||
	    (c->rpc->access.require_hello && p->via != RPC_STDIO);

	if (flags & RPC_OPEN)
		return RPC_DONE;
	if (p->shut)
		return rpc_fail(c, RPC_INVALID_REQUEST,
		    "Invalid request: after shutdown only exit is expected");
	if (rpc_needs_token(c->rpc, p->via) && !p->authed) {
		rpc_data(c, "hint", STR("call hello with a token first"));
		return rpc_fail(c, RPC_AUTH_FAILED, NULL);
	}
	if (hello && !p->hello && !p->mcp) {
		rpc_data(c, "hint", STR("hello needs name, version, agent and pid"));
		return rpc_fail(c, RPC_INVALID_REQUEST,
		    "Client must identify with 'hello' method first");
	}
	return RPC_DONE;
}

bool
rpc_has_roots(const struct rpc_peer *p)
{
	const struct rpc_access *set = &p->rpc->access;

	return set->nroots > 0 && (p->via != RPC_STDIO || set->stdio_roots);
}

/* An allowed path stays allowed for all messages that are handled together. */
static bool
was_allowed(const struct rpc *r, struct str path)
{
	const struct rpc_allowed *last = &r->state->allowed;

	return last->path.n > 0 && last->read == r->state->conns.reads &&
	    str_eq(buf_str(&last->path), path);
}

bool
rpc_allows(const struct rpc_peer *p, const char *path)
{
	const struct rpc_access *set = &p->rpc->access;
	struct rpc_allowed *last = &p->rpc->state->allowed;
	size_t i;

	if (!rpc_has_roots(p) || was_allowed(p->rpc, str_of(path)))
		return true;
	for (i = 0; i < set->nroots; i++)
		if (os_inside(set->roots[i], path)) {
			last->path.n = 0;
			buf_puts(&last->path, path);
			last->read = p->rpc->state->conns.reads;
			return true;
		}
	return false;
}

static bool
allows(const void *peer, const char *path)
{
	return rpc_allows(peer, path);
}

struct spec_notes
rpc_notes(const struct rpc_call *c, struct arena *a)
{
	struct spec_notes n = { .arena = a, .trust = rpc_trusts(c->rpc),
		.allows = allows, .peer = c->peer };

	agent_expect(&n, STR(""));
	return n;
}

enum rpc_status
rpc_check_path(struct rpc_call *c, const char *key, struct str path)
{
	const char *p;

	if (was_allowed(c->rpc, path))
		return RPC_DONE;
	p = arena_cstr(c->arena, path);
	if (p == NULL) {
		rpc_data(c, "field", str_of(key));
		return rpc_fail(c, RPC_INVALID_PARAMS,
		    "Invalid params: \"%s\" contains a NUL byte", key);
	}
	if (path.n == 0 || rpc_allows(c->peer, p))
		return RPC_DONE;
	rpc_data(c, "path", path);
	return rpc_fail(c, RPC_PATH_DENIED, NULL);
}

/* Only the first finding becomes the error. */
struct finding {
	struct rpc_call *call;
	bool reported;
};

static void
on_finding(void *ctx, const struct field_finding *f)
{
	struct finding *x = ctx;

	if (f->level != FIELD_ERROR || x->reported)
		return;
	x->reported = true;
	rpc_data(x->call, "field", f->path.n > 0 ? f->path : f->key);
	rpc_fail(x->call, RPC_INVALID_PARAMS, "Invalid params: %s", f->msg);
}

enum rpc_status
rpc_decode_part(struct rpc_call *c, const struct field_table *t,
    const struct json *v, const char *path, void *out)
{
	struct finding x = { .call = c };
	struct field_ctx ctx = { .arena = c->arena, .flags = FIELD_OPEN,
		.report = on_finding, .ctx = &x, .path = path };

	return field_decode(&ctx, t, v, out) > 0 ? RPC_FAIL : RPC_DONE;
}

enum rpc_status
rpc_decode(struct rpc_call *c, const struct field_table *t,
    const struct json *params, void **out)
{
	static const struct json none = { .type = JSON_OBJECT };
	enum rpc_status status;
	char *settings;
	size_t i;

	*out = NULL;
	if (t == NULL)
		return RPC_DONE;
	settings = arena_alloc(c->arena, t->size, sizeof(int64_t));
	if (t->init != NULL)
		memcpy(settings, t->init, t->size);
	*out = settings;
	status = rpc_decode_part(c, t, params != NULL ? params : &none, NULL,
	    settings);
	for (i = 0; i < t->n && status == RPC_DONE; i++)
		if (t->rows[i].flags & FIELD_PATH)
			status = rpc_check_path(c, t->rows[i].key,
			    *(struct str *)(void *)(settings +
			    t->rows[i].off));
	return status;
}

/*
 * Calls from within the server.
 */
enum rpc_status
rpc_forward(struct rpc_call *c, const struct rpc_method *m,
    const struct json *params, struct buf *value)
{
	const struct rpc_row *row = rpc_find_row(c->rpc, str_of(m->name));
	struct rpc_call inner = { .peer = c->peer, .rpc = c->rpc,
		.method = m, .arg = row->arg, .params = params,
		.arena = c->arena, .buf = value,
		.out = { .put = buf_sink, .ctx = value } };
	enum rpc_status status;
	void *decoded;

	assert((m->flags & RPC_SLOW) == 0);
	status = rpc_decode(&inner, m->params, params, &decoded);
	if (status == RPC_DONE)
		status = m->fn(&inner, decoded);
	if (status == RPC_FAIL) {
		c->kind = inner.kind;
		c->message = inner.message;
		c->data = inner.data;
		c->tail = inner.tail;
	}
	return status;
}

enum rpc_status
rpc_inside(struct rpc *r, struct arena *a, const char *method,
    const struct json *params, struct buf *value, struct rpc_why *why)
{
	struct rpc_call c = { .peer = &r->state->inside, .rpc = r,
		.arena = a };
	const struct rpc_row *row = rpc_find_row(r, str_of(method));
	size_t from = value->n;
	struct buf data = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &data };
	enum rpc_status status;

	assert(row != NULL);
	status = rpc_forward(&c, row->method, params, value);
	if (status != RPC_FAIL)
		return status;
	value->n = from;
	json_open(&o, '{');
	rpc_put_data(&o, &c);
	json_close(&o, '}');
	*why = (struct rpc_why){ c.kind, arena_str(a, c.message),
		arena_str(a, buf_str(&data)) };
	buf_free(&data);
	return RPC_FAIL;
}

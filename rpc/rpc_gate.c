/* SPDX-License-Identifier: ISC */
/*
 * What a call has to pass before its function sees it: hello and token,
 * parameters, path roots.
 */
#include "rpc/rpc_internal.h"

#include <string.h>

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
rpc_token_via(const struct rpc *r, enum rpc_via via)
{
	return r->token.n > 0 && (via == RPC_TCP || via == RPC_WS ||
	    (via == RPC_UNIX && r->unix_token));
}

bool
rpc_needs_token(const struct rpc_peer *p)
{
	return rpc_token_via(p->rpc, p->via);
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
	    (c->rpc->require_hello && p->via != RPC_STDIO);

	if (flags & RPC_OPEN)
		return RPC_DONE;
	if (rpc_needs_token(p) && !p->authed) {
		rpc_data(c, "hint", STR("say hello with a token first"));
		return rpc_fail(c, RPC_AUTH_FAILED, NULL);
	}
	if (hello && !p->hello && !p->mcp) {
		rpc_data(c, "hint", STR("hello needs name, version, agent and pid"));
		return rpc_fail(c, RPC_INVALID_REQUEST,
		    "Client must identify with 'hello' method first");
	}
	return RPC_DONE;
}

/* The last answer holds for all that came with the same read. */
bool
rpc_allows(const struct rpc_peer *p, const char *path)
{
	struct rpc *r = p->rpc;
	size_t i;

	if (r->nroots == 0 || (p->via == RPC_STDIO && !r->stdio_roots))
		return true;
	if (r->allowed.n > 0 && r->allowed_read == r->conns.reads &&
	    str_is(buf_str(&r->allowed), path))
		return true;
	for (i = 0; i < r->nroots; i++)
		if (os_inside(r->roots[i], path)) {
			r->allowed.n = 0;
			buf_puts(&r->allowed, path);
			r->allowed_read = r->conns.reads;
			return true;
		}
	return false;
}

static enum rpc_status
check_path(struct rpc_call *c, const struct field *f, struct str path)
{
	char *p = arena_cstr(c->arena, path);

	if (p == NULL) {
		rpc_data(c, "field", str_of(f->key));
		return rpc_fail(c, RPC_INVALID_PARAMS,
		    "Invalid params: \"%s\" holds a NUL byte", f->key);
	}
	if (path.n == 0 || rpc_allows(c->peer, p))
		return RPC_DONE;
	rpc_data(c, "path", path);
	return rpc_fail(c, RPC_PATH_DENIED, NULL);
}

struct complaint {
	struct rpc_call *call;
	bool told;
};

static void
on_finding(void *ctx, const struct field_finding *f)
{
	struct complaint *x = ctx;

	if (f->level != FIELD_ERROR || x->told)
		return;
	x->told = true;
	rpc_data(x->call, "field", f->path.n > 0 ? f->path : f->key);
	rpc_fail(x->call, RPC_INVALID_PARAMS, "Invalid params: %s", f->msg);
}

enum rpc_status
rpc_decode_part(struct rpc_call *c, const struct field_table *t,
    const struct json *v, const char *path, void *out)
{
	struct complaint x = { .call = c };
	struct field_ctx ctx = { .arena = c->arena, .flags = FIELD_OPEN,
		.report = on_finding, .ctx = &x, .path = path };

	return field_decode(&ctx, t, v, out) > 0 ? RPC_FAIL : RPC_DONE;
}

enum rpc_status
rpc_decode(struct rpc_call *c, const struct rpc_method *m,
    const struct json *params, void **out)
{
	static const struct json none = { .type = JSON_OBJECT };
	const struct field_table *t = m->params;
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
			status = check_path(c, &t->rows[i], *(struct str *)
			    (void *)(settings + t->rows[i].off));
	return status;
}

/* SPDX-License-Identifier: ISC */
/*
 * From a message to its answers.
 *
 * An immediate call costs no allocation that lasts: its tree is in an arena
 * that is wound back, its answer is written where it will be sent from.  Only
 * a call that may be answered later gets memory of its own, and its request
 * is copied there.
 *
 * A batch is answered as a whole, when the last of its calls is.
 */
#include "rpc.h"

#include <assert.h>

#include "base/os.h"
#include "rpc/rpc_internal.h"
#include "rpc/session.h"

enum {
	BATCH_MAX = 1000,	/* calls in a batch */
	TIDY_MS = 1000,		/* at most once in so long */
	TIDY_BYTES = 1 << 20	/* of a message: worth it */
};

static const struct json null_id = { .type = JSON_NULL };

static const struct rpc_method *const methods[] = {	/* sorted by name */
	&rpc_cancel_request, &rpc_eval_get, &rpc_eval_list, &rpc_eval_run,
	&rpc_eval_validate,
	&tool_hello, &tool_initialize,
	&session_message, &session_delete, &session_generate_fix,
	&tool_cancelled, &tool_initialized, &tool_ping,
	&tool_resources, &rpc_discover, &rpc_run_cancel, &rpc_run_list,
	&rpc_run_result, &rpc_run_status, &rpc_run_subscribe, &rpc_task_get,
	&rpc_task_list, &tool_call, &tool_list,
	&session_waza_message, &session_waza_delete, &session_waza_fix,
};

const struct rpc_method *
rpc_method(size_t i)
{
	return i < COUNTOF(methods) ? methods[i] : NULL;
}

static int
by_name(const void *name, const void *row)
{
	const struct rpc_method *const *m = row;

	return str_cmp(*(const struct str *)name, str_of((*m)->name));
}

static const struct rpc_method *
find_method(struct str name)
{
	size_t i = search_first(&name, methods, COUNTOF(methods),
	    sizeof(methods[0]), by_name);

	return i < COUNTOF(methods) && str_is(name, methods[i]->name) ?
	    methods[i] : NULL;
}

/*
 * Peers.
 */
static bool
is_owed(void *arg)
{
	const struct rpc_peer *p = arg;

	return p->ncalls > 0 || p->nruns > 0 || p->nheard > 0;
}

/* One that will ask no more is sent away when it has all its answers. */
void
rpc_settle(struct rpc_peer *p)
{
	if (p->conn != NULL && conn_half(p->conn) && !is_owed(p))
		conn_finish(p->conn);
}

static void
on_ended(void *arg)
{
	rpc_settle(arg);
}

static void
on_broken(void *arg, const struct err *e)
{
	struct rpc_peer *p = arg;
	struct arena_mark mark = arena_save(&p->rpc->arena);
	struct rpc_call c = { .peer = p, .rpc = p->rpc, .id = &null_id,
		.arena = &p->rpc->arena };

	if (p->via == RPC_WS)
		return;		/* its close has a code and a reason */
	rpc_fail(&c, e->code == ERR_LIMIT ? RPC_INVALID_REQUEST :
	    RPC_PARSE_ERROR, e->code == ERR_LIMIT ? "%s" : "Parse error: %s",
	    e->msg);
	rpc_answer_error(&c);
	arena_restore(&p->rpc->arena, mark);
}

/* Freed memory goes back to the system after a while, not each time. */
static void
on_tidy(void *arg)
{
	struct rpc *r = arg;

	r->tidying = false;
	buf_free(&r->trash);
	os_trim();
}

void
rpc_tidy(struct rpc *r)
{
	if (r->tidying)
		return;
	r->tidying = true;
	r->tidy = (struct timer){ .fn = on_tidy, .arg = r };
	timer_start(r->loop, &r->tidy, TIDY_MS);
}

static void
on_gone(void *arg)
{
	struct rpc_peer *p = arg;
	struct rpc *r = p->rpc;
	struct rpc_call *c, *next;
	struct arena arena;

	p->conn = NULL;
	rpc_runs_orphan(p);
	for (c = p->calls; c != NULL; c = c->next) {
		c->peer = NULL;
		if (c->batch != NULL)
			c->batch->peer = NULL;
	}
	for (c = p->calls; c != NULL; c = next) {
		next = c->next;
		c->prev = NULL;
		r->lost++;
		if (c->stop != NULL)
			c->stop(c);
	}
	*p->prev = p->next;
	if (p->next != NULL)
		p->next->prev = p->prev;
	r->npeers--;
	rpc_tidy(r);
	arena = p->arena;	/* the peer itself is in it */
	arena_free(&arena);
	if (r->npeers == 0 && r->quiet != NULL)
		r->quiet(r->arg);
}

static struct rpc_peer *
new_peer(struct rpc *r, enum rpc_via via, struct conn_opts *o)
{
	struct arena arena = { 0 };
	struct rpc_peer *p = NEW(&arena, struct rpc_peer);

	p->arena = arena;
	p->rpc = r;
	p->via = via;
	o->message = rpc_message;
	o->broken = on_broken;
	o->ended = on_ended;
	o->owed = is_owed;
	o->gone = on_gone;
	o->arg = p;
	return p;
}

static void
enter(struct rpc_peer *p)
{
	struct rpc *r = p->rpc;

	p->next = r->peers;
	p->prev = &r->peers;
	if (p->next != NULL)
		p->next->prev = &p->next;
	r->peers = p;
	r->npeers++;
}

struct rpc_peer *
rpc_accept(struct rpc *r, enum rpc_via via, int in, int out,
    const struct conn_framer *framer)
{
	struct conn_opts o = { .in = in, .out = out, .framer = framer };
	struct rpc_peer *p = new_peer(r, via, &o);
	struct arena arena;

	p->conn = conn_new(&r->conns, &o);
	if (p->conn == NULL) {
		arena = p->arena;
		arena_free(&arena);
		return NULL;
	}
	enter(p);
	return p;
}

struct rpc_peer *
rpc_adopt(struct rpc *r, enum rpc_via via, struct conn *c,
    const struct conn_framer *framer)
{
	struct conn_opts o = { 0 };
	struct rpc_peer *p = new_peer(r, via, &o);

	p->conn = c;
	conn_hand_over(c, framer, &o);
	enter(p);
	return p;
}

static enum rpc_status
find(struct rpc_call *c, const struct json *name)
{
	struct str s;

	if (c->method != NULL)
		return RPC_DONE;
	s = json_text(name);
	rpc_data(c, "method", s);
	return rpc_fail(c, RPC_METHOD_NOT_FOUND, "Method not found: %.*s",
	    (int)(s.n < 100 ? s.n : 100), s.p);
}

enum rpc_status
rpc_ask(struct rpc_call *c, const struct rpc_method *m,
    const struct json *params, struct buf *value)
{
	struct rpc_call inner = { .peer = c->peer, .rpc = c->rpc,
		.method = m, .params = params, .arena = c->arena,
		.out = { .put = buf_sink, .ctx = value }, .buf = value };
	enum rpc_status status;
	void *decoded;

	assert((m->flags & RPC_SLOW) == 0);
	status = rpc_decode(&inner, m, params, &decoded);
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

void
rpc_stop(struct rpc_peer *p, const struct json *id, bool answer)
{
	struct rpc_call *c;

	for (c = p->calls; c != NULL; c = c->next)
		if (c->id != NULL && id != NULL && json_equal(c->id, id)) {
			if (!answer)
				c->id = NULL;
			if (c->stop != NULL)
				c->stop(c);
			return;
		}
}

static enum rpc_status
check_named(struct rpc_call *c)
{
	if (c->params == NULL || c->params->type == JSON_OBJECT)
		return RPC_DONE;
	return rpc_fail(c, RPC_INVALID_PARAMS,
	    "Invalid params: parameters go by name, not by position");
}

/* The value goes out as it is made; what then fails is taken back. */
static enum rpc_status
perform(struct rpc_call *c)
{
	enum rpc_status status = rpc_check_peer(c);
	void *params;

	if (status == RPC_DONE)
		status = check_named(c);
	if (status == RPC_DONE)
		status = rpc_decode(c, c->method, c->params, &params);
	if (status != RPC_DONE)
		return status;
	rpc_open_answer(c);
	buf_put(c->buf, STR(",\"result\":"));
	status = c->method->fn(c, params);
	if (status == RPC_DONE)
		rpc_close_answer(c);
	else
		rpc_take_back(c);
	return status;
}

/* A call that outlives its message: all of it in memory of its own. */
static struct rpc_call *
keep(const struct rpc_call *c, const struct json *request)
{
	struct arena own = { 0 };
	struct rpc_call *k = NEW(&own, struct rpc_call);
	struct json_mem mem;
	struct json_error e;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct json *copy;

	json_put(&o, request);
	*k = *c;
	k->own = own;
	k->arena = &k->own;
	mem = (struct json_mem){ arena_hook, &k->own };
	copy = json_read(&mem, arena_str(&k->own, buf_str(&b)), c->rpc->depth,
	    &e);
	buf_free(&b);
	k->id = c->id != NULL ? json_getc(copy, "id") : NULL;
	k->params = json_getc(copy, "params");
	return k;
}

static void
let_go(struct rpc_call *c)
{
	struct arena own = c->own;

	arena_free(&own);
}

static void
wait_for(struct rpc_call *c)
{
	struct rpc_peer *p = c->peer;

	c->later = true;
	c->next = p->calls;
	c->prev = &p->calls;
	if (c->next != NULL)
		c->next->prev = &c->next;
	p->calls = c;
	p->ncalls++;
	if (c->batch != NULL)
		c->batch->waiting++;
}

static void
serve(struct rpc_call *c, const struct json *request)
{
	enum rpc_status status = find(c, json_getc(request, "method"));
	struct rpc_call *k = c;

	if (status == RPC_DONE) {
		if (c->method->flags & RPC_SLOW)
			k = keep(c, request);
		status = perform(k);
	}
	if (status == RPC_FAIL)
		rpc_answer_error(k);
	if (status == RPC_LATER)
		wait_for(k);
	else if (k != c)
		let_go(k);
}

/*
 * Envelopes.
 */
static enum rpc_status
invalid(struct rpc_call *c, const char *why)
{
	rpc_data(c, "detail", str_of(why));
	return rpc_fail(c, RPC_INVALID_REQUEST, NULL);
}

static enum rpc_status
open_envelope(struct rpc_call *c, const struct json *v)
{
	const struct json *version = NULL, *method = NULL, *m;

	if (v->type != JSON_OBJECT) {
		c->id = &null_id;
		return invalid(c, "a request is an object");
	}
	for (m = json_first(v); m != NULL; m = m->next) {
		struct str key = json_key(m);

		if (str_is(key, "id"))
			c->id = m;
		else if (str_is(key, "method"))
			method = m;
		else if (str_is(key, "params"))
			c->params = m;
		else if (str_is(key, "jsonrpc"))
			version = m;
	}
	if (c->id != NULL && c->id->type != JSON_STRING &&
	    c->id->type != JSON_NUMBER && c->id->type != JSON_NULL) {
		c->id = &null_id;
		return invalid(c, "id must be a string, a number or null");
	}
	if (method == NULL && c->id != NULL && (json_getc(v, "result") !=
	    NULL || json_getc(v, "error") != NULL))
		return RPC_LATER;	/* an answer; we have asked nothing */
	if (method != NULL && method->type == JSON_STRING)
		c->method = find_method(json_text(method));
	if (version == NULL || version->type != JSON_STRING ||
	    !str_is(json_text(version), "2.0") || method == NULL ||
	    method->type != JSON_STRING) {
		if (c->id == NULL)
			c->id = &null_id;
		return invalid(c, method != NULL &&
		    method->type == JSON_STRING ?
		    "jsonrpc field must be \"2.0\"" :
		    "method must be a string");
	}
	if (c->params == NULL || c->params->type == JSON_OBJECT ||
	    c->params->type == JSON_ARRAY)
		return RPC_DONE;
	if (c->params->type == JSON_NULL) {
		c->params = NULL;
		return RPC_DONE;
	}
	return invalid(c, "params must be an object");
}

static void
one(struct rpc_peer *p, const struct json *v, struct rpc_batch *b)
{
	struct rpc_call c = { .peer = p, .rpc = p->rpc, .batch = b,
		.arena = &p->rpc->arena };
	enum rpc_status status = open_envelope(&c, v);

	if (status == RPC_DONE)
		serve(&c, v);
	else if (status == RPC_FAIL)
		rpc_answer_error(&c);
}

static void
end_batch(struct rpc_batch *b)
{
	struct arena arena;

	if (--b->waiting > 0)
		return;
	if (b->peer != NULL && b->buf.full) {
		struct rpc_call c = { .peer = b->peer, .rpc = b->peer->rpc,
			.id = &null_id, .arena = &b->arena };

		rpc_fail(&c, RPC_RESOURCE, "the batch's answer is too large");
		rpc_answer_error(&c);
	} else if (b->peer != NULL && b->buf.n > 0) {
		struct buf *out = conn_begin(b->peer->conn);

		buf_putc(out, '[');
		buf_put(out, buf_str(&b->buf));
		buf_putc(out, ']');
		conn_end(b->peer->conn);
	}
	buf_free(&b->buf);
	arena = b->arena;
	arena_free(&arena);
}

static void
batch(struct rpc_peer *p, const struct json *list)
{
	struct rpc_call whole = { .peer = p, .rpc = p->rpc, .id = &null_id,
		.arena = &p->rpc->arena };
	struct arena arena = { 0 };
	struct arena_mark mark;
	const struct json *v;
	struct rpc_batch *b;
	size_t n = json_count(list);

	if (n == 0 || n > BATCH_MAX) {
		invalid(&whole, n == 0 ? "the batch is empty" :
		    "the batch has too many calls");
		rpc_answer_error(&whole);
		return;
	}
	b = NEW(&arena, struct rpc_batch);
	b->arena = arena;
	b->peer = p;
	b->buf.max = p->rpc->conns.limits.queue_max;
	b->waiting = 1;
	for (v = json_first(list); v != NULL; v = v->next) {
		mark = arena_save(&p->rpc->arena);
		one(p, v, b);
		arena_restore(&p->rpc->arena, mark);
	}
	end_batch(b);
}

static void
refuse_text(struct rpc_peer *p, const struct json_error *e)
{
	struct rpc_call c = { .peer = p, .rpc = p->rpc, .id = &null_id,
		.arena = &p->rpc->arena };

	rpc_data(&c, "detail", arena_fmt(c.arena, "%s at byte %zu", e->msg,
	    e->off + 1));
	rpc_fail(&c, RPC_PARSE_ERROR, NULL);
	rpc_answer_error(&c);
}

void
rpc_message(void *peer, struct str text)
{
	struct rpc_peer *p = peer;
	struct arena *a = &p->rpc->arena;
	struct arena_mark mark = arena_save(a);
	struct json_mem mem = { arena_hook, a };
	struct json_error e;
	const struct json *v = json_read(&mem, text, p->rpc->depth, &e);

	if (v == NULL) {
		refuse_text(p, &e);
		if (!p->spoken && rpc_is_http(text))
			conn_finish(p->conn);
	} else if (v->type == JSON_ARRAY)
		batch(p, v);
	else
		one(p, v, NULL);
	p->spoken = true;
	arena_restore(a, mark);
	if (text.n > TIDY_BYTES)
		rpc_tidy(p->rpc);
}

/*
 * Calls that are answered later.
 */
static void
forget(struct rpc_call *c)
{
	struct rpc_peer *p = c->peer;
	struct rpc_batch *b = c->batch;

	if (p != NULL) {
		*c->prev = c->next;
		if (c->next != NULL)
			c->next->prev = c->prev;
		p->ncalls--;
	} else
		c->rpc->lost--;
	let_go(c);
	if (b != NULL)
		end_batch(b);
	if (p != NULL)
		rpc_settle(p);
}

void
rpc_begin(struct rpc_call *c)
{
	rpc_open_answer(c);
	buf_put(c->buf, STR(",\"result\":"));
}

void
rpc_done(struct rpc_call *c)
{
	rpc_close_answer(c);
	forget(c);
}

void
rpc_failed(struct rpc_call *c)
{
	rpc_answer_error(c);
	forget(c);
}

void
rpc_drop(struct rpc_call *c)
{
	forget(c);
}

void
rpc_init(struct rpc *r)
{
	r->conns.loop = r->loop;
	r->conns.limits = r->limits;
	conns_init(&r->conns);
	if (r->runs_max == 0)
		r->runs_max = 128;
	if (r->kept_max == 0)
		r->kept_max = 100;
	if (r->tools_max == 0)
		r->tools_max = 64;
}

void
rpc_cancel(struct rpc *r)
{
	struct rpc_call *c, *next;
	struct rpc_peer *p;

	rpc_runs_cancel(r);
	session_stop(r);
	for (p = r->peers; p != NULL; p = p->next)
		for (c = p->calls; c != NULL; c = next) {
			next = c->next;
			if (c->stop != NULL)
				c->stop(c);
		}
}

bool
rpc_busy(const struct rpc *r)
{
	const struct rpc_peer *p;

	for (p = r->peers; p != NULL; p = p->next)
		if (p->ncalls > 0)
			return true;
	return r->running > 0 || r->lost > 0 || session_busy(r);
}

void
rpc_fini(struct rpc *r)
{
	conns_fini(&r->conns);
	session_fini(r);
	rpc_runs_fini(r);
	rpc_cache_fini(r);
	timer_stop(r->loop, &r->tidy);
	buf_free(&r->trash);
	buf_free(&r->allowed);
	arena_free(&r->arena);
}

/* SPDX-License-Identifier: ISC */
/*
 * From a message to its replies.
 *
 * A call that is answered at once allocates nothing that lasts: its tree is in
 * a scratch arena that is wound back, and the reply is written straight into
 * the buffer that is sent.  Only a call that may be answered later gets memory
 * of its own, with a copy of its request.
 *
 * A batch is answered as a whole, after its last call.
 */
#include "rpc.h"

#include <assert.h>
#include <string.h>

#include "base/os.h"
#include "rpc/rpc_internal.h"

enum {
	BATCH_MAX = 1000,	/* calls in a batch */
	SCRATCH = 8 << 10,	/* bytes that are kept between messages */
	TRIM_MS = 1000,
	TRIM_BYTES = 1 << 20,	/* of a message: trim after it */
	RUNS_MAX = 128,
	KEPT_RUNS_MAX = 100
};

static const struct json null_id = { .type = JSON_NULL };

/*
 * The table of methods.
 */
static int
by_name(const void *key, const void *row)
{
	const struct str *name = key;
	const struct rpc_row *r = row;

	return str_cmp(*name, r->name);
}

/* Where the name is in the table, or belongs. */
static size_t
place_of(const struct rpc_table *t, struct str name)
{
	return search_first(&name, t->row, t->nrows, sizeof(t->row[0]),
	    by_name);
}

const struct rpc_row *
rpc_find_row(const struct rpc *r, struct str name)
{
	struct rpc_table *t = &r->state->table;
	size_t i = t->last;

	if (i >= t->nrows || !str_eq(name, t->row[i].name))
		i = place_of(t, name);
	if (i >= t->nrows || !str_eq(name, t->row[i].name))
		return NULL;
	t->last = i;
	return &t->row[i];
}

void
rpc_add(struct rpc *r, const struct rpc_module *m, void *arg)
{
	struct rpc_table *t = &r->state->table;
	struct str name;
	size_t i, k, at;

	assert(t->nmodules < RPC_MODULES_MAX &&
	    t->nrows + m->nmethods <= RPC_METHODS_MAX);
	t->module[t->nmodules].module = m;
	t->module[t->nmodules++].arg = arg;
	for (i = 0; i < m->nmethods; i++) {
		name = str_of(m->methods[i].name);
		at = place_of(t, name);
		for (k = t->nrows++; k > at; k--)
			t->row[k] = t->row[k - 1];
		t->row[at] = (struct rpc_row){ name, &m->methods[i],
			arg };
	}
}

const struct rpc_method *
rpc_method(const struct rpc *r, size_t i)
{
	return i < r->state->table.nrows ? r->state->table.row[i].method :
	    NULL;
}

/*
 * Peers.
 */
static bool
is_owed(void *arg)
{
	const struct rpc_peer *p = arg;

	return p->ncalls > 0 || p->nruns > 0;
}

void
rpc_close_if_done(void *peer)
{
	struct rpc_peer *p = peer;

	if (p->conn != NULL && conn_half(p->conn) && !is_owed(p))
		conn_finish(p->conn);
}

static void
on_broken(void *arg, const struct err *e)
{
	struct rpc_peer *p = arg;
	struct arena *a = &p->rpc->state->scratch;
	struct arena_mark mark = arena_save(a);
	struct rpc_call c = { .peer = p, .rpc = p->rpc, .id = &null_id,
		.arena = a };

	if (p->via == RPC_WS)
		return;		/* the close frame has a code and a reason */
	rpc_fail(&c, e->code == ERR_LIMIT ? RPC_INVALID_REQUEST :
	    RPC_PARSE_ERROR, e->code == ERR_LIMIT ? "%s" : "Parse error: %s",
	    e->msg);
	rpc_answer_error(&c);
	arena_restore(a, mark);
}

static void
on_trim(void *arg)
{
	struct rpc *r = arg;

	buf_free(&r->state->discarded);
	os_trim();
}

void
rpc_trim_soon(struct rpc *r)
{
	timer_once(r->loop, &r->state->trim, TRIM_MS, on_trim, r);
}

/* Pending calls continue without their peer; their replies are discarded. */
static void
orphan_calls(struct rpc_peer *p)
{
	struct rpc_call *c, *next;

	for (c = p->calls; c != NULL; c = c->next) {
		c->peer = NULL;
		if (c->batch != NULL)
			c->batch->peer = NULL;
	}
	for (c = p->calls; c != NULL; c = next) {
		next = c->next;
		c->prev = NULL;
		p->rpc->state->orphans++;
		if (c->stop != NULL)
			c->stop(c);
	}
}

static void
on_gone(void *arg)
{
	struct rpc_peer *p = arg;
	struct rpc *r = p->rpc;
	struct rpc_table *t = &r->state->table;
	size_t i;

	p->conn = NULL;
	for (i = 0; i < t->nmodules; i++)
		if (t->module[i].module->gone != NULL)
			t->module[i].module->gone(t->module[i].arg, p);
	orphan_calls(p);
	LIST_REMOVE(p);
	r->state->npeers--;
	rpc_trim_soon(r);
	arena_free(&p->arena);
	if (r->state->npeers == 0 && r->idle != NULL)
		r->idle(r->idle_arg);
}

static struct rpc_peer *
new_peer(struct rpc *r, enum rpc_via via, struct conn_opts *o)
{
	struct arena arena = { 0 };
	struct rpc_peer *p = NEW(&arena, struct rpc_peer);

	*p = (struct rpc_peer){ .arena = arena, .rpc = r, .via = via };
	o->message = rpc_message;
	o->broken = on_broken;
	o->ended = rpc_close_if_done;
	o->owed = is_owed;
	o->gone = on_gone;
	o->strict = via == RPC_TCP;
	o->arg = p;
	return p;
}

static void
link_peer(struct rpc_peer *p)
{
	struct rpc_state *s = p->rpc->state;

	LIST_PUSH(&s->peers, p);
	s->npeers++;
}

struct rpc_peer *
rpc_accept(struct rpc *r, enum rpc_via via, int in, int out,
    const struct conn_framer *framer, bool authed)
{
	struct conn_opts o = { .in = in, .out = out, .framer = framer,
		.paced = via == RPC_STDIO };
	struct rpc_peer *p = new_peer(r, via, &o);

	p->authed = authed;
	p->conn = conn_new(&r->state->conns, &o);
	if (p->conn == NULL) {
		arena_free(&p->arena);
		return NULL;
	}
	link_peer(p);
	return p;
}

struct rpc_peer *
rpc_adopt(struct rpc *r, enum rpc_via via, struct conn *c,
    const struct conn_framer *framer, bool authed)
{
	struct conn_opts o = { 0 };
	struct rpc_peer *p = new_peer(r, via, &o);

	p->conn = c;
	p->authed = authed;
	conn_hand_over(c, framer, &o);
	link_peer(p);
	return p;
}

/*
 * Calls.
 */
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

/* The value is written into the output while it is made; an error undoes it. */
static enum rpc_status
perform(struct rpc_call *c)
{
	enum rpc_status status = rpc_check_peer(c);
	void *params;

	if (status == RPC_DONE)
		status = check_named(c);
	if (status == RPC_DONE)
		status = rpc_decode(c, c->method->params, c->params, &params);
	if (status != RPC_DONE)
		return status;
	rpc_begin(c);
	status = c->method->fn(c, params);
	if (status == RPC_DONE)
		rpc_close_answer(c);
	else
		rpc_undo_answer(c);
	return status;
}

/* Copies a call and its request into memory that outlives the message. */
static struct rpc_call *
copy_call(const struct rpc_call *c, const struct json *request)
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
	copy = json_read(&mem, arena_str(&k->own, buf_str(&b)),
	    c->rpc->limits.depth, &e);
	buf_free(&b);
	k->id = c->id != NULL ? json_getc(copy, "id") : NULL;
	k->params = json_getc(copy, "params");
	return k;
}

static void
link_call(struct rpc_call *c)
{
	struct rpc_peer *p = c->peer;

	LIST_PUSH(&p->calls, c);
	p->ncalls++;
	if (c->batch != NULL)
		c->batch->waiting++;
}

static void
serve(struct rpc_call *c, const struct json *request)
{
	struct rpc_call *k = c;
	enum rpc_status status;
	struct str name;

	if (c->method == NULL) {
		name = json_text(json_getc(request, "method"));
		rpc_data(c, "method", name);
		status = rpc_fail(c, RPC_METHOD_NOT_FOUND,
		    "Method not found: %.*s", STRF(utf8_cut(name, 100)));
	} else {
		if (c->method->flags & RPC_SLOW)
			k = copy_call(c, request);
		status = perform(k);
	}
	if (status == RPC_FAIL)
		rpc_answer_error(k);
	if (status == RPC_LATER)
		link_call(k);
	else if (k != c)
		arena_free(&k->own);
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

static bool
is_id(const struct json *v)
{
	return v->type == JSON_STRING || v->type == JSON_NUMBER ||
	    v->type == JSON_NULL;
}

/* The method is looked up first: its family decides the numbers of errors. */
static void
set_method(struct rpc_call *c, const struct json *name)
{
	const struct rpc_row *row = NULL;

	if (name != NULL && name->type == JSON_STRING)
		row = rpc_find_row(c->rpc, json_text(name));
	if (row != NULL) {
		c->method = row->method;
		c->arg = row->arg;
	}
}

/* str_eq() that the compiler expands for a literal: every message needs it. */
static inline bool
is_key(struct str key, struct str name)
{
	return key.n == name.n && memcmp(key.p, name.p, name.n) == 0;
}

static enum rpc_status
open_envelope(struct rpc_call *c, const struct json *v)
{
	const struct json *version = NULL, *method = NULL, *m;
	struct str key;

	if (v->type != JSON_OBJECT) {
		c->id = &null_id;
		return invalid(c, "a request is an object");
	}
	for (m = json_first(v); m != NULL; m = m->next) {
		key = json_key(m);
		if (is_key(key, STR("id")))
			c->id = m;
		else if (is_key(key, STR("method")))
			method = m;
		else if (is_key(key, STR("params")))
			c->params = m;
		else if (is_key(key, STR("jsonrpc")))
			version = m;
	}
	if (method == NULL && (json_getc(v, "result") != NULL ||
	    json_getc(v, "error") != NULL))
		return RPC_LATER;	/* a response: ignored */
	if (c->id != NULL && !is_id(c->id)) {
		c->id = &null_id;
		return invalid(c, "id must be a string, a number or null");
	}
	set_method(c, method);
	if (version == NULL || version->type != JSON_STRING ||
	    !is_key(json_text(version), STR("2.0")) || method == NULL ||
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
handle(struct rpc_peer *p, const struct json *v, struct rpc_batch *b)
{
	struct rpc_call c = { .peer = p, .rpc = p->rpc, .batch = b,
		.arena = &p->rpc->state->scratch };
	enum rpc_status status = open_envelope(&c, v);

	if (status == RPC_DONE)
		serve(&c, v);
	else if (status == RPC_FAIL)
		rpc_answer_error(&c);
}

static void
end_batch(struct rpc_batch *b)
{
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
	arena_free(&b->arena);
}

static void
batch(struct rpc_peer *p, const struct json *list)
{
	struct arena *scratch = &p->rpc->state->scratch, arena = { 0 };
	struct rpc_call whole = { .peer = p, .rpc = p->rpc, .id = &null_id,
		.arena = scratch };
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
	*b = (struct rpc_batch){ .arena = arena, .peer = p, .waiting = 1,
		.buf = { .max = p->rpc->state->conns.limits.queue_max } };
	for (v = json_first(list); v != NULL; v = v->next) {
		mark = arena_save(scratch);
		handle(p, v, b);
		arena_restore(scratch, mark);
	}
	end_batch(b);
}

static void
refuse_text(struct rpc_peer *p, const struct json_error *e)
{
	struct rpc_call c = { .peer = p, .rpc = p->rpc, .id = &null_id,
		.arena = &p->rpc->state->scratch };

	rpc_data(&c, "detail", arena_fmt(c.arena, "%s at byte %zu", e->msg,
	    e->off + 1));
	rpc_fail(&c, RPC_PARSE_ERROR, NULL);
	rpc_answer_error(&c);
}

void
rpc_message(void *peer, struct str text)
{
	struct rpc_peer *p = peer;
	struct arena *a = &p->rpc->state->scratch;
	struct arena_mark mark = arena_save(a);
	struct json_mem mem = { arena_hook, a };
	struct json_error e;
	const struct json *v = json_read(&mem, text, p->rpc->limits.depth, &e);

	if (v == NULL) {
		refuse_text(p, &e);
		if (!p->spoken && rpc_is_http(text))
			conn_finish(p->conn);
	} else if (v->type == JSON_ARRAY)
		batch(p, v);
	else
		handle(p, v, NULL);
	p->spoken = true;
	arena_restore(a, mark);
	if (text.n > TRIM_BYTES)
		rpc_trim_soon(p->rpc);
}

/*
 * Calls that are answered later.
 */
void
rpc_drop(struct rpc_call *c)
{
	struct rpc_peer *p = c->peer;
	struct rpc_batch *b = c->batch;

	if (p != NULL) {
		LIST_REMOVE(c);
		p->ncalls--;
	} else
		c->rpc->state->orphans--;
	arena_free(&c->own);
	if (b != NULL)
		end_batch(b);
	if (p != NULL)
		rpc_close_if_done(p);
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
	rpc_drop(c);
}

void
rpc_failed(struct rpc_call *c)
{
	rpc_answer_error(c);
	rpc_drop(c);
}

/*
 * The server.
 */
void
rpc_init(struct rpc *r)
{
	struct arena own = { 0 };
	struct rpc_state *s = NEW(&own, struct rpc_state);

	*s = (struct rpc_state){ .own = own,
		.conns = { .loop = r->loop, .limits = r->limits.conns },
		.inside = { .rpc = r, .via = RPC_TCP, .inside = true },
		.runs = { .tail = &s->runs.head } };
	conns_init(&s->conns);
	arena_reserve(&s->scratch, SCRATCH);
	if (r->limits.runs == 0)
		r->limits.runs = RUNS_MAX;
	if (r->limits.kept_runs == 0)
		r->limits.kept_runs = KEPT_RUNS_MAX;
	r->state = s;
}

struct conns *
rpc_conns(struct rpc *r)
{
	return &r->state->conns;
}

void
rpc_cancel(struct rpc *r)
{
	struct rpc_table *t = &r->state->table;
	struct rpc_call *c, *next;
	struct rpc_peer *p;
	size_t i;

	for (i = 0; i < t->nmodules; i++)
		if (t->module[i].module->cancel != NULL)
			t->module[i].module->cancel(t->module[i].arg);
	for (p = r->state->peers; p != NULL; p = p->next)
		for (c = p->calls; c != NULL; c = next) {
			next = c->next;
			if (c->stop != NULL)
				c->stop(c);
		}
}

bool
rpc_busy(const struct rpc *r)
{
	const struct rpc_table *t = &r->state->table;
	const struct rpc_peer *p;
	size_t i;

	for (p = r->state->peers; p != NULL; p = p->next)
		if (p->ncalls > 0)
			return true;
	for (i = 0; i < t->nmodules; i++)
		if (t->module[i].module->busy != NULL &&
		    t->module[i].module->busy(t->module[i].arg))
			return true;
	return r->state->orphans > 0;
}

void
rpc_fini(struct rpc *r)
{
	struct rpc_state *s = r->state;
	struct rpc_table *t;
	size_t i;

	if (s == NULL)
		return;
	conns_fini(&s->conns);
	t = &s->table;
	for (i = t->nmodules; i-- > 0; )
		if (t->module[i].module->close != NULL)
			t->module[i].module->close(t->module[i].arg);
	timer_stop(r->loop, &s->trim);
	buf_free(&s->discarded);
	buf_free(&s->allowed.path);
	arena_free(&s->scratch);
	arena_free(&s->own);
	r->state = NULL;
}

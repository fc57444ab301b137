/* SPDX-License-Identifier: ISC */
/*
 * Connections on the loop.
 *
 * Memory: all connections read into one shared block, and messages are handled
 * in place; only an incomplete message is copied to its connection.  Output
 * buffers are shared in the same way.  A silent connection thus costs its
 * struct and a descriptor.
 *
 * The input of all connections that are ready in a turn is read before the
 * first message is handled, as far as the block has room.  Owners can then look
 * once at a file for all of these messages: they were sent before that.
 *
 * Fairness: output that could not be written at once leaves in pieces of at
 * most TURN bytes.
 *
 * Back-pressure: a peer that does not read its answers is not read from.  At
 * most one block of input and HIGH bytes of answers wait for it; unrequested
 * output is limited by queue_max.
 *
 * `in` may hold whole messages that are not delivered, for three reasons:
 * held (by the owner; input is still read until a block waits, so that its end
 * is noticed), stalled (too much output waits, or it was held until now;
 * delivery resumes when the peer can be written to), last (closing).
 */
#include "io/conn_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/os_net.h"
#include "lib/http.h"

enum {
	HIGH = 1 << 20,		/* bytes of unsent output: stop reading */
	LOW = 64 << 10,		/* resume reading */
	TURN = 16 << 10,	/* bytes of delayed output per turn */
	HALF_S = 2		/* keep-alive of a half-closed connection */
};

static void on_reap(void *);
static void handle_reads(void *);

static size_t
or_default(size_t n, size_t value)
{
	return n > 0 ? n : value;
}

void
conns_init(struct conns *s)
{
	struct conn_limits *l = &s->limits;

	l->message_max = or_default(l->message_max, CONN_MESSAGE_MAX);
	l->queue_max = or_default(l->queue_max, CONN_QUEUE_MAX);
	l->conn_max = or_default(l->conn_max, CONN_MAX);
	s->sweep = (struct timer){ .fn = conn_sweep, .arg = s };
	s->reap = (struct timer){ .fn = on_reap, .arg = s };
	s->after = (struct loop_after){ .fn = handle_reads, .arg = s };
}

size_t *
conn_seen(struct conn *c)
{
	return &c->seen;
}

int64_t
conn_last_input(const struct conn *c)
{
	return c->heard;
}

const struct http_head *
conn_request(const struct conn *c)
{
	return c->set->request;
}

void *
conn_state(struct conn *c, size_t n)
{
	if (c->state.p == NULL && n > 0) {
		memset(buf_room(&c->state, n), 0, n);
		c->state.n = n;
	}
	return c->state.p;
}

static void
free_state(struct conn *c)
{
	if (c->state.p != NULL && c->framer->free != NULL)
		c->framer->free(c);
	buf_free(&c->state);
}

size_t
conn_pending(const struct conn *c)
{
	return c->out.n - c->sent;
}

bool
conn_half(const struct conn *c)
{
	return c->half;
}

/*
 * Sets the events to poll for.  A stalled connection resumes when it can be
 * written to, so it waits for that even without output.
 */
void
conn_update(struct conn *c)
{
	bool full = c->held && c->in.n >= CONN_BLOCK;
	int r = !c->half && (!c->last || c->parting) && !c->stalled &&
	    !full ? LOOP_READ : 0;
	int w = ((conn_pending(c) > 0 || (c->stalled && !c->held)) &&
	    !conn_pace_rests(c)) || c->emptied ? LOOP_WRITE : 0;

	if (c->dead)
		return;
	if (c->same) {
		fd_want(c->set->loop, &c->in_w, r | w);
	} else {
		if (c->o.in != -1)
			fd_want(c->set->loop, &c->in_w, r);
		fd_want(c->set->loop, &c->out_w, w);
	}
}

static void
close_fds(struct conn *c)
{
	int in = c->o.in, out = c->o.out;

	if (in > 2)
		os_close(&in);
	if (!c->same && out > 2)
		os_close(&out);
}

void
conn_drop(struct conn *c)
{
	struct conns *s = c->set;

	if (c->dead)
		return;
	c->dead = true;
	conn_pace_end(c);
	fd_stop(s->loop, &c->in_w);
	if (!c->same)
		fd_stop(s->loop, &c->out_w);
	close_fds(c);
	LIST_REMOVE(c);
	s->n--;
	c->next = s->dead;
	s->dead = c;
	timer_start(s->loop, &s->reap, 0);
}

static void
free_conn(struct conn *c)
{
	if (c->o.gone != NULL)
		c->o.gone(c->o.arg);
	free_state(c);
	buf_free(&c->in);
	buf_free(&c->out);
	free(c);
}

static void
on_reap(void *arg)
{
	struct conns *s = arg;
	struct conn *c;

	while ((c = s->dead) != NULL) {
		s->dead = c->next;
		free_conn(c);
	}
}

void
conns_fini(struct conns *s)
{
	struct conn *c;

	s->ending = true;
	while ((c = s->head) != NULL) {
		if (c->pace != NULL ||
		    (c->framer != NULL && c->framer->bye != NULL))
			conn_finish(c);
		conn_drop(c);
	}
	s->ngathered = 0;
	loop_after_stop(&s->after);
	on_reap(s);
	timer_stop(s->loop, &s->reap);
	timer_stop(s->loop, &s->sweep);
	buf_free(&s->spare);
	free(s->block);
	free(s->request);
	s->block = NULL;
	s->request = NULL;
}

void
conn_hand_over(struct conn *c, const struct conn_framer *f,
    const struct conn_opts *o)
{
	int in = c->o.in, out = c->o.out;

	free_state(c);
	c->o = *o;
	c->o.in = in;
	c->o.out = out;
	c->framer = f;
	c->seen = 0;
	c->held = false;
}

/* Waiting messages are delivered from the loop, as after a stall. */
void
conn_hold(struct conn *c, bool on)
{
	bool was = c->held;

	c->held = on;
	if (on || !was || c->dead || c->last)
		return;
	if (!c->reading && (c->in.n > 0 || c->half))
		c->stalled = true;
	conn_update(c);
}

/*
 * Reading.
 */
static bool
choose(struct conn *c, struct str in, bool last)
{
	if (c->framer != NULL)
		return true;
	c->framer = conn_sniff(in, last, c->o.chosen != NULL);
	if (c->framer != NULL && c->o.chosen != NULL)
		c->o.chosen(c->o.arg, c, c->framer);
	return c->framer != NULL;
}

void
conn_fail(struct conn *c, const struct err *e)
{
	if (c->o.broken != NULL)
		c->o.broken(c->o.arg, e);
	conn_finish(c);
}

/* With strict: false if the first bytes have failed the connection. */
static bool
check_start(struct conn *c, struct str in)
{
	struct err e = { 0 };
	int rc = c->started || !c->o.strict ? 1 : conn_check_start(c, in, &e);

	c->started = rc == 1;
	if (rc == -1)
		conn_fail(c, &e);
	return rc != -1;
}

/*
 * Skips a byte order mark, which some libraries write at the start of every
 * stream: its length in *n.  False: the bytes may be the beginning of one.
 */
static bool
skip_mark(struct conn *c, struct str in, bool last, size_t *n)
{
	static const struct str mark = { "\xEF\xBB\xBF", 3 };

	*n = 0;
	if (c->unmarked || in.n == 0)
		return true;
	if (in.n < mark.n && !last && str_starts(mark, in))
		return false;
	c->unmarked = true;
	if (str_starts(in, mark))
		*n = mark.n;
	return true;
}

/*
 * A peer that sends more before it has the reply to a message also reads
 * several messages at once.
 */
static void
note_pipelining(struct conn *c, struct str rest)
{
	if (c->pipelines || rest.n <= conn_blank(rest))
		return;
	c->pipelines = true;
	conn_pace_end(c);
}

/* Delivers all whole messages; returns the bytes that are done. */
static size_t
deliver(struct conn *c, struct str in, bool last)
{
	size_t at, used;
	struct err e = { 0 };
	struct str msg;
	int rc = 1;

	c->stalled = false;
	if (!skip_mark(c, in, last, &at))
		return 0;
	if (c->framer == NULL)
		at += conn_blank((struct str){ in.p + at, in.n - at });
	if (!choose(c, (struct str){ in.p + at, in.n - at }, last) ||
	    !check_start(c, (struct str){ in.p + at, in.n - at }))
		return at;
	while (rc == 1 && !c->dead && !c->last && !c->held) {
		if (conn_pending(c) > HIGH) {
			c->stalled = true;
			break;
		}
		rc = c->framer->next(c, (struct str){ in.p + at, in.n - at },
		    last, &used, &msg, &e);
		at += rc == -1 ? 0 : used;
		if (rc == 1) {
			c->seen = 0;
			c->whole = loop_now(c->set->loop);
			note_pipelining(c, (struct str){ in.p + at,
				in.n - at });
			c->o.message(c->o.arg, msg);
		} else if (rc == -1)
			conn_fail(c, &e);
	}
	return at;
}

/* Records when an incomplete message began, for is_late(). */
static void
note_progress(struct conn *c, size_t came)
{
	bool partial = c->framer == NULL ? c->in.n > 0 : c->seen > 0;

	if (!partial || c->held) {
		c->begun = 0;
		c->got = 0;
		return;
	}
	if (c->begun == 0)
		c->begun = loop_now(c->set->loop);
	c->got += came;
}

static void
read_end(struct conn *c)
{
	c->half = true;
	conn_pace_end(c);
	if (!c->same && c->o.in > 2) {
		fd_stop(c->set->loop, &c->in_w);
		os_close(&c->o.in);
	} else if (c->same)
		os_keepalive(c->o.in, HALF_S);
	if (c->stalled || c->held || c->dead || c->last)
		return;
	if (c->o.ended != NULL)
		c->o.ended(c->o.arg);
	else
		conn_finish(c);
}

/* Writes from the loop, and calls drained(), which may send more. */
static void
drain(struct conn *c, size_t most)
{
	bool some = conn_pending(c) > 0 || c->emptied;

	c->emptied = false;
	conn_write(c, most);
	if (some && conn_pending(c) == 0 && !c->dead && !c->last &&
	    c->o.drained != NULL)
		c->o.drained(c->o.arg);
}

/* Handles new input, or (s empty) input that waited; last: end of input. */
static void
handle_input(struct conn *c, struct str s, bool last)
{
	size_t used, came = s.n;

	c->reading = true;
	if (c->in.n == 0) {
		used = deliver(c, s, last);
		s.p += used;
		s.n -= used;
		if (s.n > 0 && !c->dead && !c->last)
			buf_put(&c->in, s);
	} else {
		buf_put(&c->in, s);
		used = deliver(c, buf_str(&c->in), last);
		buf_eat(&c->in, used);
	}
	if (c->in.n == 0 && c->in.p != NULL)
		buf_free(&c->in);
	note_progress(c, came);
	c->reading = false;
	if (last)
		read_end(c);
	drain(c, SIZE_MAX);
}

/* Delivers messages that had to wait until output left. */
static void
resume(struct conn *c)
{
	while (c->stalled && !c->held && conn_pending(c) <= LOW && !c->dead &&
	    !c->last)
		handle_input(c, STR(""), c->half);
}

/* Handles the input that was read in this turn, unless that is being done. */
static void
handle_reads(void *arg)
{
	struct conns *s = arg;
	struct conn_read *r;
	size_t i;

	if (s->handling)
		return;
	s->handling = true;
	loop_after_stop(&s->after);
	s->reads++;
	for (i = 0; i < s->ngathered; i++) {
		r = &s->gathered[i];
		if (r->conn->dead || r->conn->parting)
			continue;
		handle_input(r->conn, (struct str){ s->block + r->at, r->n },
		    r->end);
		resume(r->conn);
	}
	s->ngathered = s->filled = 0;
	s->handling = false;
}

static void
gather(struct conn *c, size_t n, bool end)
{
	struct conns *s = c->set;

	s->gathered[s->ngathered++] = (struct conn_read){ c, s->filled, n,
		end };
	s->filled += n;
	if (s->ngathered == COUNTOF(s->gathered) ||
	    s->filled > CONN_ROOM - CONN_BLOCK)
		handle_reads(s);
	else
		loop_after_start(s->loop, &s->after);
}

static void
read_some(struct conn *c)
{
	struct conns *s = c->set;
	ssize_t n = os_read(c->o.in, s->block + s->filled, CONN_BLOCK);

	if (n == -1 && errno == EAGAIN)
		return;
	if (n == -1 && (c->same || c->o.in > 2)) {
		conn_drop(c);
		return;
	}
	if (c->parting) {
		if (n == 0)
			conn_drop(c);
		return;
	}
	c->active = c->heard = loop_now(s->loop);
	gather(c, n > 0 ? (size_t)n : 0, n <= 0);
}

static void
on_in(void *arg, int ready)
{
	struct conn *c = arg;

	if (ready & LOOP_WRITE)
		drain(c, TURN);
	if (ready & LOOP_READ && !c->stalled && !c->dead &&
	    (!c->last || c->parting))
		read_some(c);
	resume(c);
}

static void
on_out(void *arg, int ready)
{
	struct conn *c = arg;

	(void)ready;
	drain(c, c->pace != NULL ? SIZE_MAX : TURN);
	resume(c);
}

static void
add_conn(struct conns *s, struct conn *c)
{
	c->set = s;
	c->active = c->heard = c->whole = loop_now(s->loop);
	LIST_PUSH(&s->head, c);
	if (s->n++ == 0)
		timer_start(s->loop, &s->sweep, CONN_SWEEP_MS);
}

struct conn *
conn_new(struct conns *s, const struct conn_opts *o)
{
	struct conn refused = { .o = *o, .same = o->in == o->out };
	struct conn *c;

	if (s->n >= s->limits.conn_max) {
		handle_reads(s);	/* their senders are not idle */
		conn_make_room(s);
	}
	c = s->n < s->limits.conn_max ? calloc(1, sizeof(*c)) : NULL;
	if (s->block == NULL)
		s->block = malloc(CONN_ROOM);
	if (s->request == NULL)
		s->request = calloc(1, sizeof(*s->request));
	if (c == NULL || s->block == NULL || s->request == NULL) {
		free(c);
		close_fds(&refused);
		return NULL;
	}
	*c = refused;
	add_conn(s, c);
	c->framer = o->framer;
	c->in_w = (struct fd_watch){ .fd = o->in, .fn = on_in, .arg = c };
	c->out_w = (struct fd_watch){ .fd = o->out, .fn = on_out, .arg = c };
	fd_start(s->loop, &c->in_w, LOOP_READ);
	if (!c->same)
		fd_start(s->loop, &c->out_w, 0);
	if (o->paced)
		conn_pace_start(c);
	return c;
}

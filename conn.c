/* SPDX-License-Identifier: ISC */
/*
 * Peers on the loop.
 *
 * Memory: what is read goes into one block that all share, and messages are
 * worked off from there; only what is left of a message that is not whole is
 * kept with its connection.  Output buffers go round in the same way.  So a
 * connection that is silent costs its struct and a descriptor.
 *
 * Time: those that were silent for a second move to a set of their own (where
 * the system has one), so that poll() is not to look at them each turn.
 *
 * Back-pressure: a peer that does not read what it asked for is not read from
 * until it has: at most the block and what HIGH allows wait for it, and what
 * is sent to it unasked is limited by queue_max.
 */
#include "conn.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "os.h"
#include "os_net.h"

enum {
	BLOCK = 64 << 10,	/* bytes read at a time */
	HIGH = 1 << 20,		/* bytes waiting to be sent: read no more */
	LOW = 64 << 10,		/* and go on reading */
	SPARE_MAX = 256 << 10,	/* bytes of a buffer that is kept */
	SWEEP_MS = 500,
	PART_MS = 1000,		/* see part() */
	QUIET_MS = 1000,	/* of silence, then it sleeps */
	HALF_S = 2		/* then one that is half closed is asked */
};

struct conn {
	struct conns *set;
	struct conn *next, **prev;
	struct conn_opts o;
	const struct conn_framer *framer;
	struct fd_watch in_w, out_w;	/* of a socket only in_w */
	struct buf in;			/* the start of a message */
	struct buf out;
	size_t sent;			/* bytes of out */
	size_t from;			/* of the message that is appended */
	size_t seen;			/* the framer's */
	int64_t active;			/* when something last came or went */
	bool same;			/* one descriptor for both */
	bool reading;			/* what is sent waits for its end */
	bool stalled;			/* `in` may hold whole messages */
	bool held;			/* by its owner: nothing is handed on */
	bool half, last, parting, asleep, dead;
};

static void on_sweep(void *);
static void on_reap(void *);
static void on_quiet(void *, int);

static size_t
or_else(size_t n, size_t usual)
{
	return n > 0 ? n : usual;
}

void
conns_init(struct conns *s)
{
	struct conn_limits *l = &s->limits;

	l->message_max = or_else(l->message_max, CONN_MESSAGE_MAX);
	l->queue_max = or_else(l->queue_max, CONN_QUEUE_MAX);
	l->conn_max = or_else(l->conn_max, CONN_MAX);
	s->quiet = -1;
	s->sweep = (struct timer){ .fn = on_sweep, .arg = s };
	s->reap = (struct timer){ .fn = on_reap, .arg = s };
}

const struct conn_limits *
conn_limits(const struct conn *c)
{
	return &c->set->limits;
}

size_t *
conn_seen(struct conn *c)
{
	return &c->seen;
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
 * What poll() is to look for.  One that is stalled goes on when it can be
 * written to, also when somebody else's message has made the room.
 */
static void
update(struct conn *c)
{
	int r = !c->half && (!c->last || c->parting) && !c->stalled &&
	    !c->held ? LOOP_READ : 0;
	int w = conn_pending(c) > 0 || (c->stalled && !c->held) ?
	    LOOP_WRITE : 0;

	if (c->dead || c->asleep)
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
wake(struct conn *c)
{
	if (!c->asleep)
		return;
	c->asleep = false;
	os_quiet_del(c->set->quiet, c->in_w.fd);
	fd_start(c->set->loop, &c->in_w, LOOP_READ);
	update(c);
}

static void
give_back(struct conn *c)
{
	struct buf *spare = &c->set->spare;

	c->out.n = c->sent = 0;
	if (spare->p == NULL && c->out.cap <= SPARE_MAX) {
		*spare = c->out;
		c->out = (struct buf){ 0 };
	} else
		buf_free(&c->out);
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
	if (c->asleep)
		os_quiet_del(s->quiet, c->in_w.fd);
	else
		fd_stop(s->loop, &c->in_w);
	if (!c->same)
		fd_stop(s->loop, &c->out_w);
	close_fds(c);
	*c->prev = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	s->n--;
	c->next = s->dead;
	s->dead = c;
	timer_start(s->loop, &s->reap, 0);
}

static void
bury(struct conn *c)
{
	c->o.gone(c->o.arg);
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
		bury(c);
	}
}

void
conns_fini(struct conns *s)
{
	while (s->head != NULL)
		conn_drop(s->head);
	on_reap(s);
	timer_stop(s->loop, &s->reap);
	timer_stop(s->loop, &s->sweep);
	if (s->quiet != -1)
		fd_stop(s->loop, &s->quiet_w);
	os_close(&s->quiet);
	buf_free(&s->spare);
	free(s->block);
	s->block = NULL;
}

/*
 * Writing.  Descriptors 0 to 2 block, so that they are asked first, and get
 * no more than what fits for certain.
 */
static ssize_t
write_some(struct conn *c)
{
	struct pollfd p = { .fd = c->o.out, .events = POLLOUT };
	size_t n = conn_pending(c);

	if (c->o.out <= 2) {
		if (poll(&p, 1, 0) != 1) {
			errno = EAGAIN;
			return -1;
		}
		n = n < PIPE_BUF ? n : PIPE_BUF;
	}
	return os_write(c->o.out, c->out.p + c->sent, n);
}

/*
 * The end, when all is written.  A TCP socket that is closed while something
 * is unread takes back what was sent (RFC 9112, 9.6), so that what still comes
 * is read for a moment, and thrown away.
 */
static void
part(struct conn *c)
{
	if (c->dead || c->parting)
		return;
	if (!c->same || c->half || shutdown(c->o.out, SHUT_WR) == -1) {
		conn_drop(c);
		return;
	}
	c->parting = true;
	c->stalled = false;
	c->active = loop_now(c->set->loop);
	buf_free(&c->in);
}

static void
flush(struct conn *c)
{
	ssize_t n;

	while (!c->dead && conn_pending(c) > 0) {
		n = write_some(c);
		if (n == -1 && errno == EAGAIN)
			break;
		if (n == -1) {
			conn_drop(c);
			return;
		}
		c->sent += (size_t)n;
		c->active = loop_now(c->set->loop);
	}
	if (conn_pending(c) == 0 && c->out.p != NULL)
		give_back(c);
	if (c->last && conn_pending(c) == 0)
		part(c);
	update(c);
}

struct buf *
conn_begin(struct conn *c)
{
	struct conns *s = c->set;

	if (c->out.p == NULL && s->spare.p != NULL) {
		c->out = s->spare;
		s->spare = (struct buf){ 0 };
	}
	c->from = c->out.n;
	return &c->out;
}

void
conn_abort(struct conn *c)
{
	c->out.n = c->from;
}

void
conn_end(struct conn *c)
{
	if (c->dead || c->parting) {
		c->out.n = c->sent = 0;
		return;
	}
	(c->framer != NULL ? c->framer : &conn_line)->wrap(&c->out, c->from);
	if (conn_pending(c) > c->set->limits.queue_max) {
		conn_drop(c);
		return;
	}
	wake(c);
	if (!c->reading || c->o.out <= 2)
		flush(c);
}

void
conn_send(struct conn *c, struct str msg)
{
	buf_put(conn_begin(c), msg);
	conn_end(c);
}

void
conn_finish(struct conn *c)
{
	c->last = true;
	wake(c);
	if (!c->reading)
		flush(c);
}

void
conn_hold(struct conn *c, bool on)
{
	c->held = on;
	wake(c);
	update(c);
}

/*
 * Reading.
 */
static bool
choose(struct conn *c, struct str in, bool last)
{
	if (c->framer == NULL)
		c->framer = conn_sniff(in, last);
	return c->framer != NULL;
}

/* Hands on the messages there are; the bytes that are done with. */
static size_t
work_off(struct conn *c, struct str in, bool last)
{
	size_t at = c->framer == NULL ? conn_blank(in) : 0, used;
	struct err e = { 0 };
	struct str msg;
	int rc = 1;

	c->stalled = false;
	if (!choose(c, (struct str){ in.p + at, in.n - at }, last))
		return at;
	while (rc == 1 && !c->dead && !c->last) {
		if (conn_pending(c) > HIGH || c->held) {
			c->stalled = true;
			break;
		}
		rc = c->framer->next(c, (struct str){ in.p + at, in.n - at },
		    last, &used, &msg, &e);
		at += rc == -1 ? 0 : used;
		if (rc == 1) {
			c->seen = 0;
			c->o.message(c->o.arg, msg);
		} else if (rc == -1) {
			c->o.broken(c->o.arg, &e);
			conn_finish(c);
		}
	}
	return at;
}

static void
read_end(struct conn *c)
{
	c->half = true;
	if (!c->same && c->o.in > 2) {
		fd_stop(c->set->loop, &c->in_w);
		os_close(&c->o.in);
	} else if (c->same)
		os_keepalive(c->o.in, HALF_S);
	if (!c->stalled && !c->dead && !c->last)
		c->o.ended(c->o.arg);
}

/* Takes in what came, or with nothing what is left; last: it is the end. */
static void
take(struct conn *c, struct str s, bool last)
{
	size_t used;

	c->reading = true;
	if (c->in.n == 0) {
		used = work_off(c, s, last);
		s.p += used;
		s.n -= used;
		if (s.n > 0 && !c->dead && !c->last)
			buf_put(&c->in, s);
	} else {
		buf_put(&c->in, s);
		used = work_off(c, buf_str(&c->in), last);
		buf_eat(&c->in, used);
	}
	if (c->in.n == 0 && c->in.p != NULL)
		buf_free(&c->in);
	c->reading = false;
	if (last)
		read_end(c);
	flush(c);
}

static void
read_some(struct conn *c)
{
	struct conns *s = c->set;
	ssize_t n = os_read(c->o.in, s->block, BLOCK);

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
	c->active = loop_now(s->loop);
	s->reads++;
	take(c, (struct str){ s->block, n > 0 ? (size_t)n : 0 }, n <= 0);
}

/* With messages that had to wait for room. */
static void
go_on(struct conn *c)
{
	while (c->stalled && !c->held && conn_pending(c) <= LOW && !c->dead &&
	    !c->last)
		take(c, STR(""), c->half);
}

static void
on_in(void *arg, int ready)
{
	struct conn *c = arg;

	if (ready & LOOP_WRITE)
		flush(c);
	if (ready & LOOP_READ && !c->stalled && !c->dead &&
	    (!c->last || c->parting))
		read_some(c);
	go_on(c);
}

static void
on_out(void *arg, int ready)
{
	struct conn *c = arg;

	(void)ready;
	flush(c);
	go_on(c);
}

struct conn *
conn_new(struct conns *s, const struct conn_opts *o)
{
	struct conn *c = s->n < s->limits.conn_max ? calloc(1, sizeof(*c)) :
	    NULL;
	struct conn refused = { .o = *o, .same = o->in == o->out };

	if (s->block == NULL)
		s->block = malloc(BLOCK);
	if (c == NULL || s->block == NULL) {
		free(c);
		close_fds(&refused);
		return NULL;
	}
	*c = refused;
	c->set = s;
	c->framer = o->framer;
	c->active = loop_now(s->loop);
	c->in_w = (struct fd_watch){ .fd = o->in, .fn = on_in, .arg = c };
	c->out_w = (struct fd_watch){ .fd = o->out, .fn = on_out, .arg = c };
	c->next = s->head;
	c->prev = &s->head;
	if (c->next != NULL)
		c->next->prev = &c->next;
	s->head = c;
	if (s->n++ == 0)
		timer_start(s->loop, &s->sweep, SWEEP_MS);
	fd_start(s->loop, &c->in_w, LOOP_READ);
	if (!c->same)
		fd_start(s->loop, &c->out_w, 0);
	return c;
}

/*
 * Once in a while: who has vanished, who is idle, who may sleep.
 */
static void
look_alive(struct conn *c)
{
	struct pollfd p = { .fd = c->o.out };

	if ((poll(&p, 1, 0) == 1 &&
	    p.revents & (POLLERR | POLLHUP | POLLNVAL)) ||
	    (c->same && os_peer_closed(c->o.out)))
		conn_drop(c);
}

static bool
start_quiet(struct conns *s)
{
	if (s->quiet != -1)
		return true;
	s->quiet = os_quiet_new();
	if (s->quiet == -1)
		return false;
	s->quiet_w = (struct fd_watch){ .fd = s->quiet, .fn = on_quiet,
		.arg = s };
	fd_start(s->loop, &s->quiet_w, LOOP_READ);
	return true;
}

static void
lull(struct conn *c)
{
	struct conns *s = c->set;

	if (!c->same || c->half || c->last || c->stalled || c->held ||
	    conn_pending(c) > 0 || !start_quiet(s) ||
	    os_quiet_add(s->quiet, c->in_w.fd, c) == -1)
		return;
	fd_stop(s->loop, &c->in_w);
	c->asleep = true;
}

static void
on_sweep(void *arg)
{
	struct conns *s = arg;
	struct conn *c, *next;
	int64_t silent;

	for (c = s->head; c != NULL; c = next) {
		next = c->next;
		silent = loop_now(s->loop) - c->active;
		if (c->parting && silent >= PART_MS)
			conn_drop(c);
		else if (s->limits.idle_ms > 0 && silent > s->limits.idle_ms &&
		    c->same && (c->o.owed == NULL || !c->o.owed(c->o.arg)))
			conn_drop(c);
		else if (c->half)
			look_alive(c);
		else if (!c->asleep && silent >= QUIET_MS)
			lull(c);
	}
	if (s->n > 0)
		timer_start(s->loop, &s->sweep, SWEEP_MS);
}

static void
on_quiet(void *arg, int ready)
{
	struct conns *s = arg;
	void *tags[OS_QUIET_MAX];
	size_t i, n = os_quiet_ready(s->quiet, tags);
	struct conn *c;

	(void)ready;
	for (i = 0; i < n; i++) {
		c = tags[i];
		if (c->dead)
			continue;
		wake(c);
		read_some(c);
		go_on(c);
	}
}

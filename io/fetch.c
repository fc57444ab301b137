/* SPDX-License-Identifier: ISC */
/*
 * One HTTP request.
 *
 * The socket is read while the request is still being written, because a
 * server may refuse a long request before it has read all of it.  Then writing
 * fails (write_failed), but the response is still read.
 *
 * A child looks up names (fetch_name.c); for https, curl does.
 */
#include "io/fetch.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "base/os_net.h"
#include "io/fetch_internal.h"

enum { CHUNK = 64 * 1024 };	/* bytes per turn */

static void
close_socket(struct fetch *f)
{
	if (f->w.fd == -1)
		return;
	fd_stop(f->o.procs->loop, &f->w);
	os_close(&f->w.fd);
	f->o.procs->sockets--;
	procs_wake(f->o.procs);
}

static void
release(struct fetch *f)
{
	close_socket(f);
	proc_fini(&f->proc);
	fetch_curl_end(f);
	buf_free(&f->out);
	buf_free(&f->in);
	arena_free(&f->arena);
	f->running = false;
}

void
fetch_stop(struct fetch *f)
{
	assert(!f->busy);
	if (f->running)
		release(f);
}

void
fetch_finish(struct fetch *f, enum fetch_end end)
{
	f->end = end;
	release(f);
	f->o.done(f->o.arg);
}

static void
finish_early(struct fetch *f)
{
	err_set(&f->err, ERR_SYS, "%.*s closed the connection %s",
	    STRF(f->o.url.authority), f->in.n > 0 ?
	    "within the response header" : "without a response");
	fetch_finish(f, FETCH_LOST);
}

static bool
deliver(struct fetch *f, struct str data)
{
	bool more;

	f->busy = true;
	more = data.n == 0 || f->o.data(f->o.arg, data);
	f->busy = false;
	return more;
}

/* Delivers the parts of the body that are in `in`. */
static void
feed_body(struct fetch *f, struct str in, bool last)
{
	struct str data;
	size_t used;
	int r;

	do {
		r = http_body_next(&f->body, in, last, &used, &data, &f->err);
		if (r == -1) {
			fetch_finish(f, last && f->err.code == ERR_SYNTAX ?
			    FETCH_LOST : FETCH_BAD);
			return;
		}
		if (!deliver(f, data))
			r = 1;
		in.p += used;
		in.n -= used;
	} while (r == 0 && in.n > 0);
	if (r == 1)
		fetch_finish(f, FETCH_OK);
}

/* Interim responses (RFC 9110, section 15.2) are skipped. */
static int
read_head(struct fetch *f, struct http_head *h)
{
	size_t used;
	int r;

	for (;;) {
		r = http_head_read(h, HTTP_RESPONSE, buf_str(&f->in),
		    &f->seen, &used, &f->err);
		if (r != 1)
			return r;
		if (h->status == 101)
			return err_set(&f->err, ERR_SYNTAX, "the server "
			    "switched protocols without being asked");
		if (h->status >= 200)
			break;
		buf_eat(&f->in, used);
		f->seen = 0;
	}
	f->seen = used;
	return 1;
}

void
fetch_feed(struct fetch *f, struct str in, bool last)
{
	struct http_head h;
	int r;

	if (f->headed) {
		feed_body(f, in, last);
		return;
	}
	buf_put(&f->in, in);
	r = f->in.n == 0 ? 0 : read_head(f, &h);
	if (r == -1)
		fetch_finish(f, FETCH_BAD);
	else if (r == 0 && last)
		finish_early(f);
	if (r != 1)
		return;
	f->headed = true;
	http_body_init(&f->body, &h, f->o.max > 0 ? f->o.max : FETCH_MAX);
	f->busy = true;
	f->o.head(f->o.arg, &h);
	f->busy = false;
	in = buf_str(&f->in);
	in.p += f->seen;
	in.n -= f->seen;
	feed_body(f, in, last);
}

/*
 * The socket.
 */

/* Connects to the nth address, known or found by the system. */
static int
connect_nth(struct fetch *f, const char *port, struct err *e)
{
	const struct fetch_names *k = f->o.names;

	if (!f->named)
		return os_connect_tcp(arena_cstr(&f->arena, f->o.url.host),
		    port, f->nth, e);
	if (f->nth < k->n)
		return os_connect_tcp(k->v[f->nth], port, 0, e);
	e->sys = ENOENT;
	return -1;
}

/* While others of the set run, the last descriptors are left for short uses. */
static int
leave_reserve(struct fetch *f, int fd, struct err *e)
{
	if (fd == -1 || !procs_busy(f->o.procs) || !os_fd_short(fd, 1))
		return fd;
	os_close(&fd);
	errno = EMFILE;
	return err_sys(e, "socket");
}

/* A shortage concerns all addresses. */
static int
connect_next(struct fetch *f)
{
	struct err e = { 0 };
	char *port = arena_cstr(&f->arena, f->o.url.port);

	for (;;) {
		f->w.fd = leave_reserve(f, connect_nth(f, port, &e), &e);
		if (f->w.fd != -1)
			return 0;
		f->shortage = procs_shortage(f->o.procs, e.sys);
		if (f->shortage) {
			f->err = e;
			return -1;
		}
		if (e.sys == ENOENT && f->nth > 0)
			return -1;	/* keeps the previous error */
		f->err = e;
		if (e.sys == 0 || e.sys == ENOENT)
			return -1;
		f->nth++;
	}
}

static void on_ready(void *arg, int ready);

/* Connects to the next address and watches it; -1 if none is left. */
static int
connect_watched(struct fetch *f)
{
	if (connect_next(f) == -1) {
		if (!f->shortage)
			fetch_name_forget(f);
		return -1;
	}
	f->o.procs->sockets++;
	f->w.fn = on_ready;
	f->w.arg = f;
	fd_start(f->o.procs->loop, &f->w, LOOP_WRITE);
	return 0;
}

static void
try_next(struct fetch *f, int sys)
{
	err_set(&f->err, ERR_SYS, "cannot connect to %.*s: %s",
	    STRF(f->o.url.authority), strerror(sys));
	f->err.sys = sys;
	close_socket(f);
	f->nth++;
	if (connect_watched(f) == -1)
		fetch_finish(f, FETCH_LOST);
}

void
fetch_connect(struct fetch *f, bool named)
{
	f->named = named;
	if (connect_watched(f) == -1)
		fetch_finish(f, FETCH_LOST);
}

static struct str
unsent(const struct fetch *f)
{
	size_t head = f->out.n;

	if (f->sent < head)
		return (struct str){ f->out.p + f->sent, head - f->sent };
	if (f->o.body.n == 0)
		return STR("");
	return (struct str){ f->o.body.p + (f->sent - head),
	    f->o.body.n - (f->sent - head) };
}

static void
send_some(struct fetch *f)
{
	struct str s = unsent(f);
	ssize_t n;

	n = os_write(f->w.fd, s.p, s.n < CHUNK ? s.n : CHUNK);
	if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (n == -1)
		f->write_failed = true;
	else
		f->sent += (size_t)n;
	if (f->write_failed || unsent(f).n == 0)
		fd_want(f->o.procs->loop, &f->w, LOOP_READ);
}

/* Reads once per turn: the owner may stop the fetch in between. */
static void
read_some(struct fetch *f)
{
	char chunk[CHUNK];
	ssize_t n = os_read(f->w.fd, chunk, sizeof(chunk));

	if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (n == -1) {
		err_set(&f->err, ERR_SYS, "the connection to %.*s broke%s: %s",
		    STRF(f->o.url.authority), f->headed ? " within the "
		    "response" : "", strerror(errno));
		fetch_finish(f, FETCH_LOST);
		return;
	}
	fetch_feed(f, (struct str){ chunk, (size_t)n }, n == 0);
}

static void
on_ready(void *arg, int ready)
{
	struct fetch *f = arg;
	int sys;

	if (!f->connected) {
		sys = os_connected(f->w.fd);
		if (sys != 0) {
			try_next(f, sys);
			return;
		}
		f->connected = true;
		fd_want(f->o.procs->loop, &f->w, LOOP_READ | LOOP_WRITE);
	}
	if (ready & LOOP_WRITE)
		send_some(f);
	if (ready & LOOP_READ)
		read_some(f);
}

/* RFC 9112, section 3; one request per connection. */
static void
put_request(struct fetch *f)
{
	struct buf *b = &f->out;
	size_t i;

	buf_fmt(b, "%s %.*s HTTP/1.1\r\nHost: %.*s\r\n", f->o.method,
	    STRF(f->o.url.path), STRF(f->o.url.authority));
	for (i = 0; i < f->o.nfields; i++) {
		buf_put(b, f->o.field[i].name);
		buf_puts(b, ": ");
		buf_put(b, f->o.field[i].value);
		buf_puts(b, "\r\n");
	}
	buf_fmt(b, "Content-Length: %zu\r\nConnection: close\r\n\r\n",
	    f->o.body.n);
}

static bool
fields_ok(const struct fetch_opts *o)
{
	size_t i;

	for (i = 0; i < o->nfields; i++)
		if (!http_name_ok(o->field[i].name) ||
		    !http_value_ok(o->field[i].value))
			return false;
	return o->url.authority.n <= FETCH_HOST_MAX;
}

static int
start_socket(struct fetch *f)
{
	if (f->o.names != NULL && !fetch_name_plain(f->o.url.host)) {
		f->named = fetch_name_known(f);
		if (!f->named && fetch_name_start(f) == 0)
			return 0;
	}
	f->end = FETCH_LOST;
	return connect_watched(f);
}

int
fetch_start(struct fetch *f, const struct fetch_opts *o)
{
	int r;

	assert(!f->running);
	*f = (struct fetch){ .o = *o, .running = true, .end = FETCH_UNABLE };
	f->w.fd = -1;
	if (!fields_ok(o))
		r = err_set(&f->err, ERR_SCHEMA, "invalid request: a header "
		    "contains characters that are not allowed, or the host "
		    "name is too long");
	else if (o->url.tls)
		r = fetch_curl_start(f);
	else {
		put_request(f);
		r = start_socket(f);
	}
	if (r == -1)
		release(f);
	return r;
}

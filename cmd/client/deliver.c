/* SPDX-License-Identifier: ISC */
/* Pieces of files for a server: requests, answers, repetition. */
#include "cmd/client/deliver.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "waza.h"

enum { ANSWER_MAX = 64 << 10 };

static struct loop *
loop_of(struct deliver *d)
{
	return d->procs->loop;
}

static void
set(struct buf *b, struct str text)
{
	b->n = 0;
	buf_put(b, utf8_cut(text, 400));
}

void
deliver_add(struct deliver *d, struct deliver_file *f)
{
	struct deliver_file **last = &d->files;

	while (*last != NULL)
		last = &(*last)->next;
	f->next = NULL;
	f->at = loop_now(loop_of(d));
	*last = f;
}

static bool
has_more(const struct deliver_file *f)
{
	return !f->stored && !f->failed && f->fd != -1 && f->end > f->sent;
}

/* The next file after the last one that has something to send. */
static struct deliver_file *
choose(struct deliver *d)
{
	struct deliver_file *f, *first = NULL, *after = NULL;
	bool passed = d->now == NULL;

	for (f = d->files; f != NULL; f = f->next) {
		if (has_more(f) || (f->journal && f->id.n > 0 &&
		    !f->stored && !f->failed && f->fd != -1 &&
		    loop_now(loop_of(d)) - f->at > DELIVER_ALIVE_MS)) {
			if (first == NULL)
				first = f;
			if (passed && after == NULL)
				after = f;
		}
		passed = passed || f == d->now;
	}
	return after != NULL ? after : first;
}

bool
deliver_busy(const struct deliver *d)
{
	const struct deliver_file *f;

	for (f = d->files; f != NULL && !d->refused; f = f->next)
		if (has_more(f))
			return true;
	return false;
}

/*
 * Answers.
 */
static void
fail_file(struct deliver *d, struct str why)
{
	d->now->failed = true;
	set(&d->now->why, why);
	set(&d->why, why);
}

static void
on_again(void *arg)
{
	struct deliver *d = arg;

	d->waiting = false;
	deliver_pump(d);
}

static void
try_again(struct deliver *d, struct str why)
{
	int64_t pause = (int64_t)DELIVER_PAUSE_MS << (d->tries < 6 ? d->tries :
	    6);

	set(&d->why, why);
	d->tries++;
	if (d->hasty && pause > 2 * DELIVER_PAUSE_MS)
		pause = 2 * DELIVER_PAUSE_MS;
	if (pause > DELIVER_PAUSE_MAX)
		pause = DELIVER_PAUSE_MAX;
	d->waiting = true;
	timer_once(loop_of(d), &d->again, pause, on_again, d);
}

static void
take_stored(struct deliver *d, const struct json *v)
{
	struct deliver_file *f = d->now;
	const struct json *over = json_getc(v, "over");
	int64_t offset = 0;

	if (!json_is_set(json_getc(v, "offset")) ||
	    !json_int(json_getc(v, "offset"), &offset) || offset < 0) {
		d->refused = true;
		set(&d->why, STR("the answer is not that of waza serve"));
		return;
	}
	if (json_str(v, "runId").n > 0)
		set(&d->run_id, json_str(v, "runId"));
	if (over != NULL && over->type == JSON_BOOL && json_bool(over)) {
		f->stored = f->needless = true;
		return;
	}
	if (offset > f->end) {
		fail_file(d, STR("the server has another file of this run"));
		return;
	}
	set(&f->id, json_str(v, "id"));
	d->stored += (int64_t)d->body.n;
	f->sent = offset;
	f->stored = !f->journal && d->status == 200;
}

/* The offset at which the server wants a piece, or -1. */
static int64_t
wanted(const struct json *v)
{
	const struct json *data = json_getc(json_getc(v, "error"), "data");
	int64_t n = -1;

	if (json_str(data, "id").n > 0 &&
	    json_is_set(json_getc(data, "offset")) &&
	    !json_int(json_getc(data, "offset"), &n))
		n = -1;
	return n;
}

static void
take_error(struct deliver *d, const struct json *v, struct str why)
{
	struct deliver_file *f = d->now;
	int64_t offset = wanted(v);

	if (d->status == 404 && f->id.n > 0) {	/* it was restarted */
		f->id.n = 0;
		f->sent = 0;
		try_again(d, why);
	} else if (d->status == 409 && offset >= 0 && offset != f->sent &&
	    offset <= f->end) {
		f->sent = offset;
		try_again(d, why);
	} else if (d->status == 429 || d->status >= 500)
		try_again(d, why);
	else if (d->status == 409 || d->status == 413 || d->status == 422)
		fail_file(d, why);
	else {
		d->refused = true;
		set(&d->why, why);
	}
}

static void
take_answer(struct deliver *d, struct arena *a)
{
	const struct json *v = arena_json(a, buf_str(&d->answer), NULL);
	struct str why = json_str(json_getc(v, "error"), "message");

	d->now->at = loop_now(loop_of(d));
	if (d->status >= 200 && d->status < 300) {
		d->tries = 0;
		take_stored(d, v);
		return;
	}
	take_error(d, v, why.n > 0 ? arena_fmt(a, "%.*s (HTTP status %d)",
	    STRF(utf8_cut(why, 300)), d->status) :
	    arena_fmt(a, "HTTP status %d", d->status));
}

static void
on_head(void *arg, const struct http_head *h)
{
	((struct deliver *)arg)->status = h->status;
}

static bool
on_data(void *arg, struct str data)
{
	struct deliver *d = arg;

	buf_put(&d->answer, data);
	return !d->answer.full;
}

static void
on_done(void *arg)
{
	struct deliver *d = arg;
	struct arena a = { 0 };

	timer_stop(loop_of(d), &d->late);
	if (d->fetch.end == FETCH_OK)
		take_answer(d, &a);
	else if (d->fetch.end == FETCH_LOST)
		try_again(d, str_of(d->fetch.err.msg));
	else {
		d->refused = true;
		set(&d->why, str_of(d->fetch.err.msg));
	}
	arena_free(&a);
	if (!d->waiting) {
		d->waiting = true;
		timer_once(loop_of(d), &d->again, 0, on_again, d);
	}
}

static void
on_late(void *arg)
{
	struct deliver *d = arg;

	fetch_stop(&d->fetch);
	try_again(d, STR("the server did not answer in time"));
}

/*
 * Requests.
 */

/* A journal that can be read no more has ended; its results follow. */
static bool
read_piece(struct deliver *d, struct deliver_file *f, int64_t at)
{
	int64_t n = f->end - at;
	ssize_t got = 0;
	char *p;

	d->body.n = 0;
	n = n > DELIVER_PIECE ? DELIVER_PIECE : n;
	p = buf_room(&d->body, DELIVER_PIECE);
	while ((int64_t)d->body.n < n) {
		got = pread(f->fd, p + d->body.n, (size_t)n - d->body.n,
		    (off_t)(at + (int64_t)d->body.n));
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		d->body.n += (size_t)got;
	}
	if ((int64_t)d->body.n == n)
		return true;
	fail_file(d, STR("the file has become shorter"));
	return false;
}

static void
set_path(struct deliver *d, const struct deliver_file *f)
{
	struct buf *b = &d->path;
	struct str base = d->url.path;

	while (base.n > 0 && base.p[base.n - 1] == '/')
		base.n--;
	b->n = 0;
	buf_put(b, base);
	buf_puts(b, "/api/v1/results");
	if (f->id.n > 0)
		buf_fmt(b, "/%.*s?offset=%lld", STRF(buf_str(&f->id)),
		    (long long)f->sent);
	else if (!f->journal && f->end > DELIVER_PIECE)
		buf_fmt(b, "?size=%lld", (long long)f->end);
}

static size_t
set_fields(struct deliver *d)
{
	size_t n = 0;

	d->field[n++] = (struct http_field){ STR("Content-Type"),
		STR("application/json") };
	d->agent.n = d->auth.n = 0;
	buf_fmt(&d->agent, "waza/%s", d->version);
	d->field[n++] = (struct http_field){ STR("User-Agent"),
		buf_str(&d->agent) };
	if (d->token.n > 0) {
		buf_fmt(&d->auth, "Bearer %.*s", STRF(d->token));
		d->field[n++] = (struct http_field){ STR("Authorization"),
			buf_str(&d->auth) };
	}
	return n;
}

static void
send_piece(struct deliver *d)
{
	struct fetch_opts o = { .procs = d->procs, .method = "POST",
		.url = d->url, .field = d->field, .max = ANSWER_MAX,
		.names = &d->names, .head = on_head, .data = on_data,
		.done = on_done, .arg = d };

	set_path(d, d->now);
	o.nfields = set_fields(d);
	o.url.path = buf_str(&d->path);
	o.body = buf_str(&d->body);
	d->names.host = d->url.host;
	d->answer.n = 0;
	d->answer.max = ANSWER_MAX;
	d->status = 0;
	if (fetch_start(&d->fetch, &o) == 0)
		timer_once(loop_of(d), &d->late, DELIVER_REQUEST_MS, on_late,
		    d);
	else if (d->fetch.shortage || d->fetch.end == FETCH_LOST)
		try_again(d, str_of(d->fetch.err.msg));
	else {
		d->refused = true;
		set(&d->why, str_of(d->fetch.err.msg));
	}
}

void
deliver_pump(struct deliver *d)
{
	struct deliver_file *f;

	if (d->fetch.running || d->waiting || d->refused)
		return;
	d->refresh(d->arg);
	while ((f = choose(d)) != NULL) {
		d->now = f;
		if (read_piece(d, f, f->id.n > 0 ? f->sent : 0)) {
			send_piece(d);
			return;
		}
	}
}

void
deliver_hurry(struct deliver *d)
{
	d->hasty = true;
	d->waiting = false;
	timer_stop(loop_of(d), &d->again);
	d->refresh(d->arg);
	deliver_pump(d);
}

void
deliver_end(struct deliver *d)
{
	struct deliver_file *f;

	if (d->procs == NULL)
		return;
	fetch_stop(&d->fetch);
	timer_stop(loop_of(d), &d->late);
	timer_stop(loop_of(d), &d->again);
	for (f = d->files; f != NULL; f = f->next) {
		buf_free(&f->id);
		buf_free(&f->why);
	}
	buf_free(&d->why);
	buf_free(&d->run_id);
	buf_free(&d->body);
	buf_free(&d->answer);
	buf_free(&d->path);
	buf_free(&d->auth);
	buf_free(&d->agent);
	d->procs = NULL;
}

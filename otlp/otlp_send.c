/* SPDX-License-Identifier: ISC */
/*
 * The queue of spans and log records, and its delivery.
 *
 * Items wait for a moment, so that a request has many of them; there is one
 * request at a time.  A request that failed for a reason that may pass (OTLP:
 * no connection, 429, 502, 503, 504) is repeated with growing pauses, during
 * which the queue fills up to its limit.  Everything else, and everything
 * beyond the limit, is dropped.  A file gets a line per request.
 */
#include "otlp/otlp_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "io/loop.h"
#include "json.h"

enum {
	LINGER_MS = 200,	/* before a request is made, */
	SOON = 256 << 10,	/* unless so many bytes wait */
	REQUEST_MS = 10000,	/* for the whole answer */
	PAUSE_MS = 500,		/* before the second try; doubled each time */
	LAST_PAUSE_MS = 100,	/* the same after the last event */
	TRIES = 5,
	ANSWER_MAX = 64 << 10	/* bytes of an answer that are read */
};

#define ENDPOINT "OTEL_EXPORTER_OTLP_ENDPOINT"
#define HEADERS "OTEL_EXPORTER_OTLP_HEADERS"

static const char *const paths[] = {
	[OTLP_TRACES] = "/v1/traces", [OTLP_LOGS] = "/v1/logs"
};

static struct loop *
loop_of(struct otlp *o)
{
	return o->procs->loop;
}

static void
blame(struct otlp *o, struct str why)
{
	if (o->why.n == 0)
		o->why = arena_str(o->arena, why);
}

/*
 * Where to.
 */

/* The URL, or NULL for a file. */
static const char *
url_of(const struct otlp_opts *opts, struct err *e)
{
	const char *url;

	if (strcmp(opts->to, "env") != 0)
		return strstr(opts->to, "://") != NULL ? opts->to : NULL;
	url = getenv(ENDPOINT);
	if (url == NULL || *url == '\0') {
		err_set(e, ERR_SCHEMA, "--otlp env needs " ENDPOINT
		    ": set it, or give a URL");
		return "";
	}
	return url;
}

static bool
is_traces(struct str line)
{
	return line.n == 0 || str_starts(line, STR("{\"resourceSpans\"")) ||
	    str_starts(line, STR("{\"resourceLogs\""));
}

/* A file is appended to: a typing error must not spoil another one. */
static int
check_file(const char *path, struct err *e)
{
	char head[20];
	struct stat st;
	ssize_t n;
	int fd;

	if (stat(path, &st) == -1)
		return errno == ENOENT ? 0 : err_sys(e, path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_SCHEMA, "--otlp %s: not a regular file",
		    path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1)
		return err_sys(e, path);
	n = os_read_head(fd, head, sizeof(head));
	os_close(&fd);
	if (n == -1)
		return err_sys(e, path);
	if (!is_traces((struct str){ head, (size_t)n }))
		return err_set(e, ERR_SCHEMA, "--otlp %s: the file exists and "
		    "does not contain traces: choose another name", path);
	return 0;
}

int
otlp_send_check(const struct otlp_opts *opts, struct err *e)
{
	struct http_url u;
	const char *url = url_of(opts, e);

	if (url == NULL)
		return check_file(opts->to, e);
	if (*url == '\0')
		return -1;
	if (http_url_read(str_of(url), &u, e) == -1)
		return -1;
	if (memchr(u.path.p, '?', u.path.n) != NULL)
		return err_set(e, ERR_SCHEMA, "--otlp %s: a query is not "
		    "supported", url);
	return 0;
}

/* The path of the endpoint, which may be that of one signal, and ours. */
static struct str
join_path(struct arena *a, struct str base, const char *path)
{
	size_t i, n;

	for (i = 0; i < OTLP_SIGNALS; i++) {
		n = strlen(paths[i]);
		if (str_ends(base, str_of(paths[i])))
			base.n -= n;
	}
	while (base.n > 0 && base.p[base.n - 1] == '/')
		base.n--;
	return arena_fmt(a, "%.*s%s", STRF(base), path);
}

/* Resolves %XX in a value. */
static struct str
decode(struct arena *a, struct str s)
{
	char *to = arena_raw(a, s.n + 1, 1);
	size_t i, n = 0;

	for (i = 0; i < s.n; i++)
		if (s.p[i] == '%' && s.n - i > 2 &&
		    hex_digit(s.p[i + 1]) >= 0 && hex_digit(s.p[i + 2]) >= 0) {
			to[n++] = (char)(hex_digit(s.p[i + 1]) << 4 |
			    hex_digit(s.p[i + 2]));
			i += 2;
		} else
			to[n++] = s.p[i];
	return (struct str){ to, n };
}

/* "name=value,name=value"; values are masked in payloads. */
static int
read_headers(struct otlp *o, struct str list, struct err *e)
{
	struct http_field *f;
	const char *end, *eq;
	struct str pair;

	while (list.n > 0) {
		end = memchr(list.p, ',', list.n);
		pair = list;
		if (end != NULL)
			pair.n = (size_t)(end - list.p);
		list.p += pair.n + (end != NULL);
		list.n -= pair.n + (end != NULL);
		pair = str_trim(pair);
		if (pair.n == 0)
			continue;
		eq = memchr(pair.p, '=', pair.n);
		if (eq == NULL || o->nfields == COUNTOF(o->field))
			return err_set(e, ERR_SCHEMA, HEADERS " is not "
			    "NAME=VALUE,... with at most %d names",
			    OTLP_HEADERS_MAX);
		f = &o->field[o->nfields++];
		f->name = str_trim((struct str){ pair.p,
		    (size_t)(eq - pair.p) });
		f->value = decode(o->arena, str_trim((struct str){ eq + 1,
		    pair.n - (size_t)(eq - pair.p) - 1 }));
		if (!http_name_ok(f->name) || !http_value_ok(f->value))
			return err_set(e, ERR_SCHEMA, HEADERS " has a name or "
			    "a value that HTTP does not allow");
		mask_add(o->arena, &o->secrets, f->value);
	}
	return 0;
}

static int
open_url(struct otlp *o, const char *url, struct err *e)
{
	const char *headers = getenv(HEADERS);
	size_t i;

	if (http_url_read(arena_str(o->arena, str_of(url)), &o->url, e) == -1)
		return -1;
	for (i = 0; i < OTLP_SIGNALS; i++)
		o->queue[i].path = join_path(o->arena, o->url.path, paths[i]);
	o->field[o->nfields++] = (struct http_field){ STR("Content-Type"),
		STR("application/json") };
	o->field[o->nfields++] = (struct http_field){ STR("User-Agent"),
		arena_fmt(o->arena, "waza/%s", o->opts.version) };
	if (strcmp(o->opts.to, "env") == 0 && headers != NULL)
		return read_headers(o, str_of(headers), e);
	return 0;
}

int
otlp_send_open(struct otlp *o, struct err *e)
{
	const char *url = url_of(&o->opts, e);

	if (otlp_send_check(&o->opts, e) == -1)
		return -1;
	if (url != NULL)
		return open_url(o, url, e);
	if (os_make_dirs(o->opts.to, 0777, false, e) == -1)
		return -1;
	o->fd = open(o->opts.to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
	    O_NONBLOCK | O_NOCTTY, 0666);
	return o->fd == -1 ? err_sys(e, o->opts.to) : 0;
}

/*
 * Requests.
 */
static void pump(struct otlp *);

static void
on_due(void *arg)
{
	pump(arg);
}

static void
pump_in(struct otlp *o, int64_t ms)
{
	o->due.fn = on_due;
	o->due.arg = o;
	timer_start(loop_of(o), &o->due, ms);
}

static void
body_done(struct otlp_queue *q)
{
	buf_free(&q->body);
	q->nbody = 0;
}

static void
body_drop(struct otlp *o, struct otlp_queue *q, struct str why)
{
	blame(o, why);
	o->dropped += q->nbody;
	body_done(q);
}

/* After a failure that may pass. */
static void
again_later(struct otlp *o, struct str why)
{
	int64_t pause = o->ending ? LAST_PAUSE_MS :
	    (int64_t)PAUSE_MS << o->tries;

	if (++o->tries < TRIES) {
		pump_in(o, pause);
		return;
	}
	o->tries = 0;
	body_drop(o, &o->queue[o->now], why);
	pump_in(o, 0);
}

/* The server may refuse some of the items (partialSuccess). */
static void
count_rejected(struct otlp *o)
{
	static const char *const keys[] = {
		[OTLP_TRACES] = "rejectedSpans",
		[OTLP_LOGS] = "rejectedLogRecords"
	};
	struct arena a = { 0 };
	const struct json *p = json_getc(arena_json(&a,
	    buf_str(&o->answer), NULL), "partialSuccess");
	const struct json *v = json_getc(p, keys[o->now]);
	struct str why = json_str(p, "errorMessage");
	int64_t n = 0;

	if (v != NULL && v->type == JSON_STRING)
		v = arena_json(&a, json_text(v), NULL);
	if (v != NULL && json_int(v, &n) && n > 0) {
		o->dropped += (uint64_t)n < o->queue[o->now].nbody ?
		    (size_t)n : o->queue[o->now].nbody;
		blame(o, arena_fmt(&a, "the collector rejected them%s%.*s",
		    why.n > 0 ? ": " : "", STRF(utf8_cut(why, 200))));
	}
	arena_free(&a);
}

static void
on_head(void *arg, const struct http_head *h)
{
	((struct otlp *)arg)->status = h->status;
}

static bool
on_data(void *arg, struct str data)
{
	struct otlp *o = arg;

	buf_put(&o->answer, data);
	return !o->answer.full;
}

static void
on_done(void *arg)
{
	struct otlp *o = arg;
	struct otlp_queue *q = &o->queue[o->now];
	struct str words;

	timer_stop(loop_of(o), &o->late);
	words = arena_fmt(&o->tmp, "HTTP status %d from %.*s%.*s", o->status,
	    STRF(o->url.authority), STRF(q->path));
	if (o->fetch.end == FETCH_LOST)
		again_later(o, str_of(o->fetch.err.msg));
	else if (o->fetch.end != FETCH_OK) {
		body_drop(o, q, str_of(o->fetch.err.msg));
		pump_in(o, 0);
	} else if (o->status == 429 || (o->status >= 502 &&
	    o->status <= 504))
		again_later(o, words);
	else {
		o->tries = 0;
		if (o->status >= 200 && o->status < 300) {
			count_rejected(o);
			body_done(q);
		} else
			body_drop(o, q, words);
		pump_in(o, 0);
	}
	buf_free(&o->answer);
	arena_free(&o->tmp);
}

static void
on_late(void *arg)
{
	struct otlp *o = arg;

	fetch_stop(&o->fetch);
	buf_free(&o->answer);
	again_later(o, STR("the collector did not answer in time"));
}

static void
send_request(struct otlp *o, struct otlp_queue *q)
{
	struct fetch_opts f = { .procs = o->procs, .method = "POST",
		.url = o->url, .field = o->field, .nfields = o->nfields,
		.body = buf_str(&q->body),
		.names = &o->names, .head = on_head, .data = on_data,
		.done = on_done, .arg = o };

	f.url.path = q->path;
	o->now = (enum otlp_signal)(q - o->queue);
	o->status = 0;
	o->answer = (struct buf){ .max = ANSWER_MAX };
	o->names.host = o->url.host;
	if (fetch_start(&o->fetch, &f) == 0) {
		o->late.fn = on_late;
		o->late.arg = o;
		timer_start(loop_of(o), &o->late, REQUEST_MS);
	} else if (o->fetch.shortage || o->fetch.end == FETCH_LOST)
		again_later(o, str_of(o->fetch.err.msg));
	else {
		body_drop(o, q, str_of(o->fetch.err.msg));
		pump_in(o, 0);
	}
}

static void
write_line(struct otlp *o, struct otlp_queue *q)
{
	struct err e = { 0 };

	buf_putc(&q->body, '\n');
	if (o->fd != -1 && os_write_all(o->fd, buf_str(&q->body), &e) == 0) {
		body_done(q);
		return;
	}
	if (o->fd != -1)
		blame(o, arena_fmt(&o->tmp, "%s: %s", o->opts.to,
		    strerror(e.sys)));
	os_close(&o->fd);
	body_drop(o, q, STR("the file cannot be written"));
}

/* Makes the items that wait a request. */
static void
fill_body(struct otlp *o, struct otlp_queue *q)
{
	otlp_put_request(&q->body, (enum otlp_signal)(q - o->queue),
	    o->opts.version, buf_str(&q->waiting));
	q->nbody = q->nwaiting;
	buf_free(&q->waiting);
	q->nwaiting = 0;
}

static bool
is_busy(const struct otlp *o)
{
	size_t i;

	for (i = 0; i < OTLP_SIGNALS; i++)
		if (o->queue[i].nwaiting > 0 || o->queue[i].nbody > 0)
			return true;
	return false;
}

static void
pump(struct otlp *o)
{
	struct otlp_queue *q;
	size_t i;

	for (i = 0; i < OTLP_SIGNALS && !o->fetch.running; i++) {
		q = &o->queue[i];
		if (q->nbody == 0 && q->nwaiting > 0)
			fill_body(o, q);
		if (q->nbody == 0)
			continue;
		if (o->url.host.n == 0)
			write_line(o, q);
		else {
			send_request(o, q);
			return;
		}
	}
}

static bool
has_room(struct otlp *o, const struct otlp_queue *q, size_t n)
{
	if (o->given_up)
		return false;
	if (q->waiting.n + n + 1 <= OTLP_QUEUE_MAX)
		return true;
	blame(o, STR("the collector is too slow: more than 8 MiB were "
	    "waiting"));
	return false;
}

void
otlp_send_add(struct otlp *o, enum otlp_signal signal, struct str item)
{
	struct otlp_queue *q = &o->queue[signal];

	o->all++;
	if (!has_room(o, q, item.n)) {
		o->dropped++;
		return;
	}
	if (q->nwaiting++ > 0)
		buf_putc(&q->waiting, ',');
	buf_put(&q->waiting, item);
	if (o->fetch.running || o->tries > 0)
		return;			/* its end continues */
	if (q->waiting.n >= SOON)
		pump_in(o, 0);
	else
		timer_once(loop_of(o), &o->due, LINGER_MS, on_due, o);
}

/*
 * The end.
 */
static void
on_over(void *arg)
{
	*(bool *)arg = true;
}

void
otlp_flush(struct otlp *o, const int *signo)
{
	bool over = false;
	struct timer limit = { .fn = on_over, .arg = &over };
	int before = *signo;
	struct err e;

	o->ending = true;
	timer_start(loop_of(o), &limit, OTLP_FLUSH_MS);
	if (!o->fetch.running)
		pump_in(o, 0);
	while (is_busy(o) && !over && *signo == before)
		if (loop_turn(loop_of(o), &e) != 1)
			break;
	timer_stop(loop_of(o), &limit);
	if (is_busy(o))
		blame(o, STR("the collector did not answer in time"));
	otlp_send_close(o);
}

void
otlp_send_close(struct otlp *o)
{
	size_t i;

	o->given_up = true;
	timer_stop(loop_of(o), &o->due);
	timer_stop(loop_of(o), &o->late);
	fetch_stop(&o->fetch);
	os_close(&o->fd);
	for (i = 0; i < OTLP_SIGNALS; i++) {
		o->dropped += o->queue[i].nwaiting + o->queue[i].nbody;
		o->queue[i].nwaiting = o->queue[i].nbody = 0;
		buf_free(&o->queue[i].waiting);
		buf_free(&o->queue[i].body);
	}
	buf_free(&o->answer);
}

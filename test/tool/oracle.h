/* SPDX-License-Identifier: ISC */
/*
 * oracle.h: checks every message that a test receives from waza, whatever the
 * test looks for: lines, blocks with Content-Length, the JSON bodies and event
 * streams of HTTP, and WebSocket messages must be JSON.
 *
 * Findings are appended to the file that $ORACLE names, which rpc.sh turns into
 * a failed test.  Without $ORACLE nothing is checked.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"
#include "json.h"
#include "lib/http.h"
#include "lib/ws.h"

enum oracle_part { ORACLE_START, ORACLE_BODY, ORACLE_FRAMES, ORACLE_OFF };

/* Of one connection; zero at first. */
struct oracle {
	enum oracle_part part;
	bool no_bodies;		/* answers to HEAD: lengths without bodies */
	struct buf in;		/* not checked yet */
	size_t seen;		/* of it, without the end of a message */
	struct http_body body;
	bool is_json, is_events;
	struct buf json;
	struct http_events events;
	struct ws ws;
};

static inline bool
oracle_on(void)
{
	const char *path = getenv("ORACLE");

	return path != NULL && *path != '\0';
}

static inline void
oracle_found(const char *what, struct str text)
{
	FILE *f = oracle_on() ? fopen(getenv("ORACLE"), "a") : NULL;

	if (f == NULL)
		return;
	fprintf(f, "%s: %.*s\n", what, (int)(text.n < 200 ? text.n : 200),
	    text.p);
	fclose(f);
}

static inline void
oracle_json(const char *what, struct str text)
{
	struct arena a = { 0 };
	struct json_mem hook = { arena_hook, &a };
	struct json_error ignored;

	if (oracle_on() && json_read(&hook, text, 0, &ignored) == NULL)
		oracle_found(what, text);
	arena_free(&a);
}

static inline void
oracle_event(void *arg, struct str data)
{
	(void)arg;
	oracle_json("an event is not JSON", data);
}

/* The next functions return how many bytes they checked; 0: more are needed. */
static inline size_t
oracle_line(struct oracle *o, struct str in)
{
	const char *eol = memchr(in.p + o->seen, '\n', in.n - o->seen);
	size_t n;

	o->seen = in.n;
	if (eol == NULL)
		return 0;
	n = (size_t)(eol - in.p);
	oracle_json("a line is not JSON", (struct str){ in.p, n });
	return n + 1;
}

static inline size_t
oracle_block(struct str in)
{
	size_t head = 3, n = strlen("Content-Length:"), length;

	while (head < in.n && memcmp(in.p + head - 3, "\r\n\r\n", 4) != 0)
		head++;
	if (head++ >= in.n)
		return 0;
	length = (size_t)strtoul(in.p + n, NULL, 10);
	if (length > in.n - head)
		return 0;
	oracle_json("a block is not JSON",
	    (struct str){ in.p + head, length });
	return head + length;
}

static inline size_t
oracle_head(struct oracle *o, struct str in)
{
	struct http_head h;
	struct err e = { 0 };
	struct str type;
	size_t used = 0;
	int rc = http_head_read(&h, HTTP_RESPONSE, in, &o->seen, &used, &e);

	if (rc == 0)
		return 0;
	if (rc == -1) {
		oracle_found("malformed HTTP", in);
		o->part = ORACLE_OFF;
		return in.n;
	}
	if (h.status == 101) {
		o->part = ORACLE_FRAMES;
		o->ws = (struct ws){ .client = true };
		return used;
	}
	if (o->no_bodies)
		h.length = HTTP_NONE;
	type = http_get(&h, "Content-Type");
	o->is_json = h.length != HTTP_NONE &&
	    str_starts(type, STR("application/json"));
	o->is_events = str_starts(type, STR("text/event-stream"));
	o->events = (struct http_events){ .event = oracle_event };
	http_body_init(&o->body, &h, 0);
	o->part = ORACLE_BODY;
	return used;
}

static inline size_t
oracle_body(struct oracle *o, struct str in)
{
	struct str data = { NULL, 0 };
	struct err e = { 0 };
	size_t used = 0;
	int rc = http_body_next(&o->body, in, false, &used, &data, &e);

	if (rc == -1) {
		oracle_found("malformed HTTP body", in);
		o->part = ORACLE_OFF;
		return in.n;
	}
	if (o->is_json)
		buf_put(&o->json, data);
	if (o->is_events)
		http_events_put(&o->events, data);
	if (rc == 1) {
		if (o->is_json)
			oracle_json("a body is not JSON", buf_str(&o->json));
		o->json.n = 0;
		http_events_free(&o->events);
		o->part = ORACLE_START;
	}
	return used;
}

static inline size_t
oracle_frame(struct oracle *o, struct str in)
{
	struct ws_event ev;
	struct err e = { 0 };
	size_t used = 0;
	int rc = ws_next(&o->ws, in, &used, &ev, &e);

	if (rc == -1) {
		oracle_found("malformed WebSocket frame", str_of(e.msg));
		o->part = ORACLE_OFF;
		return in.n;
	}
	if (rc == 1 && ev.op == WS_TEXT)
		oracle_json("a WebSocket message is not JSON", ev.data);
	return used;
}

static inline size_t
oracle_step(struct oracle *o, struct str in)
{
	static const char http[] = "HTTP/", block[] = "Content-Length:";

	switch (o->part) {
	case ORACLE_START:
		break;
	case ORACLE_BODY:
		return oracle_body(o, in);
	case ORACLE_FRAMES:
		return oracle_frame(o, in);
	case ORACLE_OFF:
		return in.n;
	}
	if (strncasecmp(in.p, http, in.n < 5 ? in.n : 5) == 0)
		return in.n < 5 ? 0 : oracle_head(o, in);
	if (strncasecmp(in.p, block, in.n < 15 ? in.n : 15) == 0)
		return in.n < 15 ? 0 : oracle_block(in);
	return oracle_line(o, in);
}

/* Received bytes, in pieces of any size. */
static inline void
oracle_put(struct oracle *o, struct str received)
{
	size_t done = 0, n;
	enum oracle_part before;

	if (!oracle_on())
		return;
	buf_put(&o->in, received);
	while (done < o->in.n) {
		before = o->part;
		n = oracle_step(o, (struct str){ o->in.p + done,
		    o->in.n - done });
		if (n == 0 && o->part == before)
			break;
		if (n > 0)
			o->seen = 0;
		done += n;
	}
	if (done > 0)
		buf_eat(&o->in, done);
}

/* The end of the stream: a message that was cut off must have begun as one. */
static inline void
oracle_end(struct oracle *o)
{
	if (o->in.n > 0 && o->part == ORACLE_START &&
	    strchr("{[CH", o->in.p[0]) == NULL)
		oracle_found("noise at the end", buf_str(&o->in));
	buf_free(&o->in);
	buf_free(&o->json);
	http_events_free(&o->events);
	ws_free(&o->ws);
	o->part = ORACLE_OFF;
}

#endif

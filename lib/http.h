/* SPDX-License-Identifier: ISC */
/*
 * http.h: http_.  HTTP/1.1 messages (RFC 9112), URLs, dates, event streams.
 * Pure: bytes in, structs out, in pieces of any size.
 *
 * A message is a head, found whole by http_head_read(), and a body, which
 * http_body_next() hands out run by run as it arrives.  Both serve servers
 * (requests) and clients (responses); what is wrong with a request has the
 * status to refuse it with.
 */
#ifndef WAZA_HTTP_H
#define WAZA_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
	HTTP_HEAD_MAX = 16 << 10,	/* bytes of a head, or of trailers */
	HTTP_TARGET_MAX = 8000,		/* bytes of what is asked for */
	HTTP_FIELDS_MAX = 100,		/* lines of a head */
	HTTP_CHUNK_LINE_MAX = 4096,	/* bytes before a chunk */
	HTTP_DATE = 29			/* bytes of a date */
};

enum http_side { HTTP_REQUEST, HTTP_RESPONSE };

/* How the end of a body is told (RFC 9112, section 6.3). */
enum http_length {
	HTTP_NONE,		/* there is none */
	HTTP_FIXED,		/* by its length */
	HTTP_CHUNKED,
	HTTP_TO_END		/* by the end of the connection */
};

struct http_field {
	struct str name, value;	/* the value without blanks around it */
};

/* Its strings are those of the input. */
struct http_head {
	enum http_side side;
	struct str method, target;	/* of a request */
	int status;			/* of a response; of a request that is
					 * refused: with what */
	struct str reason;
	int minor;			/* HTTP/1.0 or 1.1 */
	struct http_field field[HTTP_FIELDS_MAX];
	size_t nfields;
	enum http_length length;
	uint64_t size;			/* HTTP_FIXED: of the body */
	bool keep;			/* the connection can go on */
	bool expects;			/* 100 Continue, before the body */
};

/*
 * Looks for a head at the beginning of `in`: 1 and its bytes in *used; 0 when
 * it is not all there; -1 when it is none.  *seen, 0 at first, is how far it
 * has been looked through, so that slow senders cost no more than others.
 * Lines may end in LF alone (section 2.2); folded lines, blanks before a
 * colon, and two opinions about the length are refused.
 */
int http_head_read(struct http_head *, enum http_side, struct str in,
    size_t *seen, size_t *used, struct err *);

/* The first field of that name in any case; p is NULL when there is none. */
struct str http_get(const struct http_head *, const char *name);
/* Whether it is among the words of a list, as "close" of Connection. */
bool http_has(const struct http_head *, const char *name, const char *word);
bool http_same(struct str, const char *word);	/* in any case */

/*
 * The body of a message.  Each call takes some of `in`: *used bytes, of which
 * *data is a run of the body, or empty.  1: it is over, and what is left of
 * `in` belongs to the next message; 0: go on, with more bytes if all were
 * used; -1.  With `last` the input ends here: then it is 1 or -1 in the end.
 */
struct http_body {
	enum http_length length;
	uint64_t left;		/* of the body, or of the chunk */
	uint64_t total, max;	/* bytes handed out, and at most */
	int state;		/* private, of chunks */
	size_t line;		/* bytes of the line so far */
};

void http_body_init(struct http_body *, const struct http_head *,
    uint64_t max);	/* 0: any */
int http_body_next(struct http_body *, struct str in, bool last,
    size_t *used, struct str *data, struct err *);

/* http://host:port/path?query; scheme is "http" or "https". */
struct http_url {
	bool tls;
	struct str host;	/* an IPv6 address without its brackets */
	struct str port;	/* "80" or "443" where it is not said */
	struct str path;	/* from the slash on, "/" where it is empty;
				 * without fragment */
	struct str authority;	/* host and port, as for a Host field */
};

/* Borrows from the text.  User names and passwords in it are refused. */
int http_url_read(struct str, struct http_url *, struct err *);
/* The same from behind the "://" of a scheme that is the caller's. */
int http_url_rest(struct str, bool tls, struct http_url *, struct err *);

/* A date in one of the three forms, as seconds since 1970. */
bool http_date(struct str, int64_t *seconds);
/* In the first of them; not before 1970 nor after 9999. */
void http_date_put(int64_t seconds, char out[HTTP_DATE]);

/* Whether it can be the value of a field. */
bool http_value_ok(struct str);
bool http_name_ok(struct str);		/* a token */

/*
 * Server-sent events: the data of each, as soon as its blank line is there.
 * Names, ids and comments are left out: those who need them read the data.
 * event() may not free this.
 */
struct http_events {
	void (*event)(void *arg, struct str data);
	void *arg;
	struct buf line, data;	/* private */
	bool cr, some;
};

void http_events_put(struct http_events *, struct str);
void http_events_end(struct http_events *);	/* a last one, unended */
void http_events_free(struct http_events *);

#endif

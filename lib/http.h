/* SPDX-License-Identifier: ISC */
/*
 * http.h: http_.  HTTP/1.1 messages (RFC 9112), URLs, dates, event streams.
 *
 * A message is a head, which http_head_read() parses once it is complete, and
 * a body, which http_body_next() returns piece by piece as it arrives.  Both
 * serve servers (requests) and clients (responses); an error in a request
 * comes with the HTTP status to refuse it.
 */
#ifndef WAZA_HTTP_H
#define WAZA_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
	HTTP_HEAD_MAX = 16 << 10,	/* bytes of a head, or of trailers */
	HTTP_TARGET_MAX = 8000,		/* bytes of a request target */
	HTTP_FIELDS_MAX = 100,		/* lines of a head */
	HTTP_CHUNK_LINE_MAX = 4096,	/* bytes before a chunk */
	HTTP_DATE = 29			/* bytes of a date */
};

enum http_side { HTTP_REQUEST, HTTP_RESPONSE };

/* How the length of a body is determined (RFC 9112, section 6.3). */
enum http_length {
	HTTP_NONE,		/* no body */
	HTTP_FIXED,		/* Content-Length */
	HTTP_CHUNKED,
	HTTP_TO_END		/* until the connection closes */
};

struct http_field {
	struct str name, value;	/* without white space around them */
};

/* A parsed head; its strings borrow from the input. */
struct http_head {
	enum http_side side;
	struct str method, target;	/* of a request */
	int status;			/* of a response, or the status to
					 * refuse a request with */
	struct str reason;
	int minor;			/* HTTP/1.0 or 1.1 */
	struct http_field field[HTTP_FIELDS_MAX];
	size_t nfields;
	enum http_length length;
	uint64_t size;			/* HTTP_FIXED: of the body */
	bool keep;			/* the connection can be reused */
	bool expects;			/* the client waits for 100 Continue */
};

/*
 * Parses the head at the beginning of `in`.  Returns 1 and its length in
 * *used; 0 if it is incomplete; -1 if it is malformed.  *seen, 0 at first, is
 * the number of bytes already scanned, so that slow senders cost no more than
 * others.  Lines may end in LF alone (section 2.2); folded lines, white space
 * before a colon and conflicting lengths are refused.
 */
int http_head_read(struct http_head *, enum http_side, struct str in,
    size_t *seen, size_t *used, struct err *);

/* The value of the first field of that name, case-insensitive; or p NULL. */
struct str http_get(const struct http_head *, const char *name);
/* Whether a list, such as Connection, contains the word. */
bool http_has(const struct http_head *, const char *name, const char *word);
/* Case-insensitive comparison, ASCII only. */
bool http_same(struct str, const char *word);

struct http_body {
	enum http_length length;
	uint64_t left;		/* of the body, or of the chunk */
	uint64_t total, max;	/* bytes returned so far, and the limit */
	int state;		/* private, of chunks */
	size_t line;		/* bytes of the line so far */
};

/*
 * The body of a message.  http_body_init() starts after a head, with a limit
 * in bytes (0: none).  http_body_next() consumes *used bytes of `in`; *data is
 * a piece of the body, or empty.  It returns 1 at the end of the body, where
 * the rest of `in` belongs to the next message; 0 if it must be called again,
 * with more input if all was used; -1 on error.  Set `last` if no more input
 * will come: an incomplete body is then an error.
 */
void http_body_init(struct http_body *, const struct http_head *,
    uint64_t max);
int http_body_next(struct http_body *, struct str in, bool last,
    size_t *used, struct str *data, struct err *);

/* http://host:port/path?query; scheme is "http" or "https". */
struct http_url {
	bool tls;
	struct str host;	/* an IPv6 address without its brackets */
	struct str port;	/* default: "80" or "443" */
	struct str path;	/* with query, without fragment; default "/" */
	struct str authority;	/* host and port, for the Host field */
};

/* Parses a URL and borrows from it; refuses user names and passwords. */
int http_url_read(struct str, struct http_url *, struct err *);
/* The same for the part after "://" of a scheme that the caller handles. */
int http_url_rest(struct str, bool tls, struct http_url *, struct err *);

/* Parses a date in any of the three forms into seconds since 1970. */
bool http_date(struct str, int64_t *seconds);
/* Writes a date from 1970 to 9999 in the first form, without a NUL. */
void http_date_put(int64_t seconds, char out[HTTP_DATE]);

/* Whether the text is a valid field value or name, respectively. */
bool http_value_ok(struct str);
bool http_name_ok(struct str);

/* A reader of server-sent events.  Set event and arg, zero the rest. */
struct http_events {
	void (*event)(void *arg, struct str data);
	void *arg;
	struct buf line, data;	/* private */
	bool cr, some;
};

/*
 * http_events_put() takes input in pieces of any size and calls event() with
 * the data of each complete event; names, ids and comments are ignored.
 * http_events_end() also reports an event that lacks its final blank line,
 * then frees the buffers like http_events_free().  event() must not free them.
 */
void http_events_put(struct http_events *, struct str);
void http_events_end(struct http_events *);
void http_events_free(struct http_events *);

#endif

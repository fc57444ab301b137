/* SPDX-License-Identifier: ISC */
/*
 * web.h: web_.  The HTTP face of a server: a request passes the gates, finds
 * its row in a table of routes, and is answered by that row's function.
 *
 * Gates, in this order: the request makes sense (conn_http), its Host is one
 * of ours and its Origin too (a page from elsewhere is turned away, whatever
 * name it made ours answer to), there is such a path, the token is shown, the
 * path knows the method.  Functions see only what has passed.
 *
 * A connection has one request at a time: what comes behind it waits until it
 * is answered, so that answers are in order.  A function answers before it
 * returns, or says that it will (web_later, web_stream_begin).
 */
#ifndef WAZA_WEB_H
#define WAZA_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/conn.h"
#include "json.h"
#include "rpc.h"

struct http_head;
struct web;
struct web_req;

enum {
	WEB_PARAMS_MAX = 4,	/* names in a path */
	WEB_TABLES_MAX = 8,
	WEB_STREAM_MAX = 1 << 20	/* bytes that wait for a stream's
					 * reader; then it is sent away */
};

/* Methods, and what is wanted instead of an answer. */
enum {
	WEB_GET = 1,		/* and HEAD */
	WEB_POST = 2,
	WEB_PUT = 4,
	WEB_DELETE = 8,
	WEB_PATCH = 16,
	WEB_WS = 32		/* a WebSocket: see web_upgrade() */
};

enum {
	WEB_OPEN = 1,		/* needs no token */
	WEB_QUERY_TOKEN = 2	/* which may also be ?access_token=...; so it
				 * may for a WebSocket */
};

/* "/api/v1/runs/:id": a segment with a colon is any, and a parameter. */
struct web_route {
	unsigned methods;
	const char *path;
	unsigned flags;
	void (*fn)(struct web_req *);
};

/* Its strings are good for the call, or until a later answer. */
struct web_req {
	struct web *web;
	void *arg;		/* of the table */
	enum rpc_via via;
	bool authed;		/* it has shown the token, or needs none */
	struct str method;
	struct str path;	/* as it came, without the query */
	struct str query;	/* as it came, without the "?" */
	struct str param[WEB_PARAMS_MAX];	/* of the path, decoded */
	struct str body;
	const struct http_head *head;	/* NULL after the call */
	struct arena *arena;	/* lives as long as the request */
	void *state;		/* the function's own */
};

/* Set the public part, zero the rest. */
struct web {
	struct rpc *rpc;	/* its connections, token, version */
	bool remote;		/* any address may be a Host */
	bool bare;		/* /health only: no /rpc */
	const char *const *hosts;	/* names that may be, besides */
	size_t nhosts;
	const char *const *origins;	/* that are let in, besides */
	size_t norigins;
	size_t (*clients)(void *);	/* for /health; or NULL */
	void *clients_arg;
	/* private */
	struct {
		const struct web_route *rows;
		size_t n;
		void *arg;
	} table[WEB_TABLES_MAX];
	size_t ntables;
	struct arena arena;	/* of the request that is being answered */
	struct buf body;	/* of its answer */
	struct json_out json;
	char date[32];
	int64_t date_at;	/* the second that it tells */
};

void web_init(struct web *);	/* with /health and /rpc */
void web_fini(struct web *);	/* after its connections have gone */
void web_add(struct web *, const struct web_route *, size_t n, void *arg);

/* A connection that speaks HTTP: from within chosen() (conn.h). */
void web_adopt(struct web *, struct conn *, enum rpc_via);

/*
 * What was asked.  A query's value is decoded, into the arena; false: there is
 * none of that name.
 */
bool web_query(struct web_req *, const char *name, struct str *value);
bool web_decode(struct arena *, struct str, bool plus, struct str *out);

/*
 * Answers.  Fields first, then one of these.  After it the request is no
 * more.  A field that cannot be one is left out.
 */
void web_field(struct web_req *, const char *name, struct str value);
void web_answer(struct web_req *, int status, const char *type, struct str);
/* The same without a copy: append the body, or write it as JSON, between. */
struct buf *web_begin(struct web_req *);
struct json_out *web_json(struct web_req *);
void web_end(struct web_req *, int status, const char *type);
void web_end_json(struct web_req *, int status);
/*
 * {"error":{"code":status,"kind":...,"message":...,"data":{...}}}; data is an
 * object as JSON, or empty.
 */
void web_fail(struct web_req *, int status, const char *kind,
    struct str message, struct str data);
int web_status(enum rpc_kind);		/* that goes with it */

/*
 * Keeps the request: it is answered later, unless gone() comes before, which
 * is its end.  The arena is another from then on: what was made in it before
 * is lost with the call.
 */
void web_later(struct web_req *, void (*gone)(void *arg), void *arg);

/*
 * An answer that goes on, as text/event-stream does.  What is put goes out
 * with the loop's next turn, together with all else by then.  begin: false
 * when only the head was asked for; then the request is no more.  put: false
 * when the reader is too slow; it is sent away then, and gone() will come.
 * room: so many bytes may be put.  drained() comes when all has been sent.
 * flush: now, for one who has many to send to.  end: the answer is whole;
 * gone() does not come then.
 */
struct web_stream {
	void (*gone)(void *arg);
	void (*drained)(void *arg);	/* or NULL */
	void *arg;
};

bool web_stream_begin(struct web_req *, const char *type,
    const struct web_stream *);
bool web_stream_put(struct web_req *, struct str);
size_t web_stream_room(const struct web_req *);
void web_stream_flush(struct web_req *);
void web_stream_end(struct web_req *);

/*
 * Of a WEB_WS route: answers 101.  The connection is the caller's, to be
 * handed over at once to one who speaks WebSocket (rpc_adopt); the request is
 * no more.
 */
struct conn *web_upgrade(struct web_req *);

#endif

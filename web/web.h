/* SPDX-License-Identifier: ISC */
/*
 * web.h: web_.  HTTP: a request passes the checks, finds its row in a table of
 * routes, and the row's function answers it.
 *
 * The checks, in this order: the request is well-formed (conn_http); its Host
 * is a name of this server and its Origin as well, so that pages from elsewhere
 * are refused even if their name resolves to this server; the path exists; the
 * token is shown; the path has the method; the body has the type of the route.
 * A function runs only after that.
 *
 * A connection has one request at a time; the next one waits for its answer,
 * so that answers are in order.  A function answers before it returns, or
 * announces an answer (web_later, web_stream_begin).
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
	WEB_STREAM_MAX = 1 << 20	/* bytes queued for a stream's reader
					 * before it is disconnected */
};

/* HTTP methods, and WebSocket upgrades. */
enum {
	WEB_GET = 1,		/* and HEAD */
	WEB_POST = 2,
	WEB_PUT = 4,
	WEB_DELETE = 8,
	WEB_PATCH = 16,
	WEB_WS = 32		/* see web_upgrade() */
};

enum {
	WEB_OPEN = 1,		/* needs no token */
	WEB_QUERY_TOKEN = 2,	/* the token can also be ?access_token=...,
				 * as for every WebSocket */
	WEB_JSON = 4		/* the body must be application/json, which
				 * pages of other servers cannot send; not on
				 * unix sockets */
};

/* A parameter of the query: a string, unless it has words or is a number. */
struct web_param {
	const char *name, *help;
	const char *const *words;	/* the allowed values, or NULL */
	bool number, required;
};

/*
 * "/api/v1/runs/:id": a segment with a colon matches any and is a parameter.
 * The members after fn describe the route in the OpenAPI document; `query` is
 * also what web_api_args() accepts.
 */
struct web_route {
	unsigned methods;
	const char *path;
	unsigned flags;
	void (*fn)(struct web_req *);
	const char *help;	/* NULL: not described, for WebSockets */
	const struct web_param *query;
	size_t nquery;
	const char *body;	/* the JSON-RPC method whose parameters are the
				 * body; "": any text; NULL: there is none */
	int status;		/* of success; 0: 200 */
	const char *type;	/* of the answer; NULL: application/json */
	bool list;		/* the answer is an array, not an object */
};
#define WEB_QUERY(v) .query = (v), .nquery = COUNTOF(v)

/* A request.  Its strings are valid for the call, or until a later answer. */
struct web_req {
	struct web *web;
	void *arg;		/* of web_add() */
	const struct web_route *route;
	enum rpc_via via;
	bool authed;		/* the token was shown or is not required */
	struct str method;
	struct str path;	/* not decoded, without the query */
	struct str query;	/* not decoded, without the "?" */
	struct str param[WEB_PARAMS_MAX];	/* of the path, decoded */
	struct str body;
	const struct http_head *head;	/* NULL after the call */
	struct arena *arena;	/* lives as long as the request */
	void *state;		/* for the function's own use */
};

/* Set the public part, zero the rest. */
struct web {
	struct rpc *rpc;	/* initialized before the first connection */
	bool remote;		/* any IP address is allowed as Host */
	bool bare;		/* /health only: no /rpc */
	const char *const *hosts;	/* more allowed names */
	size_t nhosts;
	const char *const *origins;	/* more allowed origins */
	size_t norigins;
	size_t (*clients)(void *);	/* their number, for /health; or NULL */
	void *clients_arg;
	/* private */
	void (*adopt)(struct web *, struct conn *, enum rpc_via, bool authed);
	struct {
		const struct web_route *rows;
		size_t n;
		void *arg;
	} table[WEB_TABLES_MAX];
	size_t ntables;
	struct arena arena;	/* of the request being answered */
	struct buf body;	/* of its answer */
	struct json_out json;
	char date[32];
	int64_t date_at;	/* the second that it is for */
};

/*
 * init adds /health and /rpc; fini is for after the last connection.  add
 * registers routes, which must live as long, with an argument for their
 * functions; at most WEB_TABLES_MAX times.
 */
void web_init(struct web *);
void web_fini(struct web *);
void web_add(struct web *, const struct web_route *, size_t n, void *arg);

/*
 * Takes over a connection that speaks HTTP: from within chosen() (conn.h).
 * authed: it needs no token.
 */
void web_adopt(struct web *, struct conn *, enum rpc_via, bool authed);

/*
 * query: the decoded value of that name, in the request's arena; false: it is
 * missing or malformed.  decode resolves %XX (and "+", with plus); false: it is
 * malformed.  next_pair splits the first key=value off a query; false: it is
 * empty.
 */
bool web_query(struct web_req *, const char *name, struct str *value);
bool web_decode(struct arena *, struct str, bool plus, struct str *out);
bool web_next_pair(struct str *query, struct str *key, struct str *value);

/* Adds a header field to the answer; ignored if the value is not valid. */
void web_field(struct web_req *, const char *name, struct str value);

/*
 * Each of answer, end, end_json and fail sends the answer and ends the request.
 * For the two ends, append the body to the buffer of begin, or write it to the
 * output of json.  fail sends {"error":{"code":status,"kind":...,"message":...,
 * "data":{...}}}; data is a JSON object or empty.
 */
void web_answer(struct web_req *, int status, const char *type, struct str);
struct buf *web_begin(struct web_req *);
struct json_out *web_json(struct web_req *);
void web_end(struct web_req *, int status, const char *type);
void web_end_json(struct web_req *, int status);
void web_fail(struct web_req *, int status, const char *kind,
    struct str message, struct str data);
int web_status(enum rpc_kind);		/* the HTTP status of an error */

/*
 * Keeps the request to answer it later, unless gone() is called first, which
 * ends it.  The request has another arena from then on; the memory of the old
 * one is freed when the function returns.
 */
void web_later(struct web_req *, void (*gone)(void *arg), void *arg);

struct web_stream {
	void (*gone)(void *arg);
	void (*drained)(void *arg);	/* or NULL */
	void *arg;
};

/*
 * An answer in pieces, such as text/event-stream.  Pieces are sent in the next
 * turn of the loop, all together; flush sends at once.  begin: false if only
 * the head was requested; then the request has ended.  put: false if the reader
 * is too slow; then it is disconnected and gone() follows.  room: how many
 * bytes put accepts.  drained() is called when everything is sent.  end
 * completes the answer; gone() does not follow.
 */
bool web_stream_begin(struct web_req *, const char *type,
    const struct web_stream *);
bool web_stream_put(struct web_req *, struct str);
size_t web_stream_room(const struct web_req *);
void web_stream_flush(struct web_req *);
void web_stream_end(struct web_req *);

/*
 * Answers 101 to a request of a WEB_WS route and ends it.  The caller must hand
 * the connection over at once to an owner that speaks WebSocket (rpc_adopt).
 */
struct conn *web_upgrade(struct web_req *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * web_internal.h: web_.  A connection and its request, for web.c, web_gate.c
 * and web_answer.c.
 */
#ifndef WAZA_WEB_INTERNAL_H
#define WAZA_WEB_INTERNAL_H

#include "web/web.h"

struct web_conn {
	struct web_req req;	/* first */
	struct conn *conn;	/* NULL: handed over */
	struct web *web;
	enum rpc_via via;
	bool authed;		/* it needs no token */
	struct str authority;	/* Host, or of the URL; p NULL: missing */
	struct arena own;	/* holds the connection itself */
	struct arena kept;	/* of a request that is answered later */
	struct buf fields;	/* additional fields of the answer */
	struct web_stream stream;
	unsigned refused;	/* wrong tokens so far */
	bool busy;		/* a request is not answered yet */
	bool calling;		/* its function has not returned */
	bool later;		/* it is answered later */
	bool streaming;		/* its answer has begun */
	bool chunked;
	bool keep;		/* keep the connection after the answer */
	bool http11;		/* not 1.0 */
	bool only_head;
	bool caching;		/* the answer has its own Cache-Control */
};

/* The connection of a request. */
struct web_conn *web_conn_of(struct web_req *);

/* Ends the request after its answer was written. */
void web_over(struct web_conn *);

/*
 * Check Host, Origin and Sec-Fetch-Site; the token; the type of the body, with
 * the flags of the route.  False: the request was refused.
 */
bool web_check_source(struct web_conn *);
bool web_check_token(struct web_conn *, unsigned flags, bool ws);
bool web_check_type(struct web_conn *, unsigned flags);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * web_internal.h: web_.  What a request is made of.  Only for web.c, web_gate.c
 * and web_answer.c.
 */
#ifndef WAZA_WEB_INTERNAL_H
#define WAZA_WEB_INTERNAL_H

#include "web/web.h"

/* A connection, and the request it has. */
struct web_conn {
	struct web_req req;	/* first */
	struct conn *conn;
	struct web *web;
	enum rpc_via via;
	struct str authority;	/* that it was sent to; p NULL: not said */
	struct arena own;	/* this is in it */
	struct arena kept;	/* of a request that is answered later */
	struct buf fields;	/* of the answer, more than the usual */
	struct web_stream stream;
	unsigned refused;	/* wrong tokens so far */
	bool busy;		/* a request is here */
	bool calling;		/* its function has not returned */
	bool later;		/* it is answered later, */
	bool streaming;		/* or is being so */
	bool chunked;
	bool keep;		/* the connection goes on after it */
	bool http11;		/* not 1.0 */
	bool only_head;
	bool caching;		/* the answer says itself */
};

struct web_conn *web_conn_of(struct web_req *);

/* The answer has been written; what comes next may come. */
void web_over(struct web_conn *);

/*
 * The gates.  False: it has been turned away.
 */
bool web_check_source(struct web_conn *);	/* Host and Origin */
bool web_check_token(struct web_conn *, unsigned flags, bool ws);

#endif

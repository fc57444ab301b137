/* SPDX-License-Identifier: ISC */
/*
 * fetch.h: fetch_.  One request to an HTTP server, on the loop.
 *
 * http goes over a socket of ours; https through a child, curl, which is told
 * everything, keys included, on its stdin and nothing by its arguments.  Both
 * give the same bytes, read by http.h.  Redirects are not followed, and
 * deadlines are the caller's, who stops it.
 *
 * A struct fetch lives inside its owner and may not move.  It ends once: by
 * done(), the last call, which may free the owner, or by fetch_stop(), after
 * which nothing is called.  head() and data() may do neither: data() says
 * false when it has had enough, and done() follows as if that were all.
 */
#ifndef WAZA_FETCH_H
#define WAZA_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"
#include "io/proc.h"
#include "lib/http.h"

enum {
	FETCH_MAX = 64 << 20,		/* bytes of an answer's body */
	FETCH_HOST_MAX = 100,		/* bytes of host and port */
	FETCH_TALK_MAX = 512		/* bytes kept of what curl complains */
};

enum fetch_end {
	FETCH_OK,		/* the answer is all there */
	FETCH_LOST,		/* no connection, or it ended too soon */
	FETCH_BAD,		/* the answer is not HTTP, or too long; the
				 * server is not who it should be */
	FETCH_UNABLE		/* it cannot be asked from here */
};

/* What a name stands for, so far; zero: it is not known. */
enum { FETCH_NAMES_MAX = 16 };
struct fetch_names {
	struct str host;	/* borrowed */
	char v[FETCH_NAMES_MAX][64];	/* addresses, numeric */
	size_t n;
	int64_t at;		/* when, by the loop */
};

struct fetch_opts {
	struct procs *procs;	/* with their loop */
	const char *method;
	struct http_url url;
	/* those that are needed for any request are added */
	const struct http_field *field;
	size_t nfields;
	struct str body;	/* with the URL and the fields, borrowed */
	uint64_t max;		/* bytes of the answer's; 0: FETCH_MAX */
	const char *const *env;	/* of children, as in os_spawn.h */
	/* for requests to the same host, which outlives them; NULL: each is
	 * looked up by itself, and all wait meanwhile */
	struct fetch_names *names;
	/* its strings are for the length of the call */
	void (*head)(void *arg, const struct http_head *);
	bool (*data)(void *arg, struct str);
	void (*done)(void *arg);	/* read .end and .err */
	void *arg;
};

struct fetch {
	enum fetch_end end;
	struct err err;		/* unless it is FETCH_OK */
	bool running;
	struct fetch_opts o;	/* private from here */
	struct fd_watch w;
	size_t nth;		/* address of the host */
	struct buf out;		/* head of the request, or words for curl */
	size_t sent;
	struct buf in;		/* the head of the answer, until it is read */
	size_t seen;
	bool connected, headed, deaf, busy;
	bool named;		/* by the addresses of o.names */
	struct http_body body;
	struct proc proc;
	char *file;		/* a body that is too long for curl's words */
	char talk[FETCH_TALK_MAX];
	size_t ntalk;
	struct arena arena;
};

/* -1: it could not even begin; .end and .err say why, done() is not called. */
int fetch_start(struct fetch *, const struct fetch_opts *);
void fetch_stop(struct fetch *);	/* harmless when it does not run */

#endif

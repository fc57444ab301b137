/* SPDX-License-Identifier: ISC */
/*
 * fetch.h: fetch_.  One HTTP request, on the loop.
 *
 * http uses our own socket; https uses a curl child, which gets everything,
 * keys included, on its stdin and nothing in its arguments.  http.h parses the
 * responses of both.  Redirects are not followed.  The caller is responsible
 * for deadlines: it calls fetch_stop().  If descriptors ran out and others of
 * the set will release some, the request fails with .shortage: wait with
 * procs_wait() and start it again.
 *
 * A struct fetch lives inside its owner and must not move.  It ends once: with
 * done(), the last call, which may free the owner, or with fetch_stop(), after
 * which nothing is called.  head() and data() must not end it; if data()
 * returns false, done() follows as if the response were complete.
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
	FETCH_MAX = 64 << 20,		/* bytes of a response body */
	FETCH_HOST_MAX = 100		/* bytes of host and port */
};

enum fetch_end {
	FETCH_OK,		/* the response is complete */
	FETCH_LOST,		/* no connection, or it was closed early */
	FETCH_BAD,		/* the response is not HTTP or too long, or
				 * the server's certificate is wrong */
	FETCH_UNABLE		/* the request cannot be made from here */
};

/* The addresses of a host; zero: not known. */
enum { FETCH_NAMES_MAX = 16 };
struct fetch_names {
	struct str host;	/* borrowed */
	char v[FETCH_NAMES_MAX][64];	/* numeric addresses */
	size_t n;
	int64_t at;		/* time of the lookup, by the loop */
};

struct fetch_opts {
	struct procs *procs;	/* with their loop */
	const char *method;
	struct http_url url;
	/* Host, Content-Length and Connection are added */
	const struct http_field *field;
	size_t nfields;
	struct str body;	/* borrowed, as are the URL and the fields */
	uint64_t max;		/* bytes of the response; 0: FETCH_MAX */
	const char *const *env;	/* of children, as in os_spawn.h */
	/* shared by requests to the same host, which it outlives; NULL: each
	 * request does its own lookup, which blocks */
	struct fetch_names *names;
	/* its strings are valid during the call */
	void (*head)(void *arg, const struct http_head *);
	bool (*data)(void *arg, struct str);	/* false: no more */
	void (*done)(void *arg);	/* read .end and .err */
	void *arg;
};

struct fetch {
	enum fetch_end end;
	struct err err;		/* unless .end is FETCH_OK */
	bool running;
	bool shortage;		/* it can succeed later, see above */
	struct fetch_opts o;	/* private from here */
	struct fd_watch w;
	size_t nth;		/* address of the host in use */
	struct buf out;		/* head of the request, or input of curl */
	size_t sent;
	struct buf in;		/* the head of the response, until parsed */
	size_t seen;
	bool connected;
	bool headed;		/* head() was called */
	bool write_failed;	/* the server stopped reading */
	bool busy;		/* in head() or data() */
	bool named;		/* connects to addresses of o.names */
	struct http_body body;
	struct proc proc;	/* curl or getent */
	char *file;		/* a request body that curl reads */
	struct arena arena;
};

/* -1: it could not start; see .end and .err.  done() is not called then. */
int fetch_start(struct fetch *, const struct fetch_opts *);
void fetch_stop(struct fetch *);	/* no effect if it does not run */

#endif

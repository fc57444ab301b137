/* SPDX-License-Identifier: ISC */
/*
 * cmd/deliver.h: deliver_.  Sends files of a shard to a server, by the API that
 * results/meet/ serves (waza-rpc(5)).
 *
 * The files themselves are the queue: one request at a time carries a piece of
 * one of them, so memory does not grow, and nobody waits for the server.  A
 * lost connection or a busy server is tried again, with growing pauses; the
 * server's answer decides where a file continues.
 *
 * A struct deliver is embedded in its owner, and must not move.
 */
#ifndef WAZA_CMD_DELIVER_H
#define WAZA_CMD_DELIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/fetch.h"
#include "io/loop.h"

enum {
	DELIVER_PIECE = 1 << 20,	/* bytes of a request */
	DELIVER_PAUSE_MS = 500,		/* after a failure, then twice that, */
	DELIVER_PAUSE_MAX = 30000,	/* up to this */
	DELIVER_REQUEST_MS = 60000,	/* until it is answered */
	DELIVER_ALIVE_MS = 30000	/* between signs of life */
};

struct deliver_file {
	/* the owner's: */
	int fd;			/* -1: cannot be read now */
	int64_t end;		/* bytes that can be sent */
	bool journal;		/* it grows; otherwise end is its size */
	/* read-only */
	bool stored;		/* the server has all of it, */
	bool needless;		/* or its run is complete without it */
	bool failed;		/* the server does not take it */
	struct buf why;		/* the reason */
	/* private */
	struct deliver_file *next;
	struct buf id;		/* empty: not begun */
	int64_t sent;
	int64_t at;		/* of the last answer, by the loop */
};

/* Set the first part, zero the rest. */
struct deliver {
	struct procs *procs;
	struct http_url url;	/* of the server; the path is a prefix */
	struct str token;	/* empty: none */
	const char *version;	/* of this program */
	/* before a piece is chosen: the owner sets fd and end of files */
	void (*refresh)(void *arg);
	void *arg;
	/* read-only */
	bool refused;		/* no file is taken: token, or not a server
				 * of this kind */
	struct buf why;		/* reason of the last failure */
	int64_t stored;		/* bytes that the server has accepted */
	struct buf run_id;	/* of the run that the server shows, or "" */
	/* private */
	struct deliver_file *files, *now;
	struct http_field field[3];
	struct fetch_names names;
	struct fetch fetch;
	struct timer late, again;
	struct buf body, answer, path, auth, agent;
	int status;
	unsigned tries;
	bool waiting;		/* in a pause */
	bool hasty;		/* pauses are short */
};

/* Adds a file, which must live as long. */
void deliver_add(struct deliver *, struct deliver_file *);
/* Sends what can be sent, unless a request or a pause is going on. */
void deliver_pump(struct deliver *);
/* The same, and pauses are short from now on: nothing else is left to do. */
void deliver_hurry(struct deliver *);
/* Whether a file has bytes that can be sent, now or after a pause. */
bool deliver_busy(const struct deliver *);
/* Stops, and frees the memory of files, too. */
void deliver_end(struct deliver *);

#endif

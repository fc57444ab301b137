/* SPDX-License-Identifier: ISC */
/*
 * waza_worker.h: waza_.  The parts of `waza worker`: the command
 * (waza_worker.c), the connection (waza_worker_link.c) and the evaluations
 * (waza_work.c).
 */
#ifndef WAZA_WAZA_WORKER_H
#define WAZA_WAZA_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"
#include "conn.h"
#include "http.h"
#include "json.h"
#include "loop.h"
#include "proc.h"
#include "ws.h"

struct waza_chore;

struct waza_tool {
	struct str name;
	const char *command;	/* for /bin/sh -c */
};

/* All that is to be done, and by what. */
struct waza_work {
	struct procs *procs;
	const struct waza_tool *tools;
	size_t ntools;
	size_t room;		/* at the same time */
	struct conn *conn;	/* NULL: there is none that we are known to */
	bool verbose;
	bool ending;		/* nothing new is begun */
	void (*idle)(void *arg);	/* the last command has ended */
	void *arg;
	size_t running;		/* commands */
	struct waza_chore *jobs;	/* private */
};

/* A request of the server: does it, or says why not. */
void waza_work_begin(struct waza_work *, const struct json *request);
/* It is not wanted any more. */
void waza_work_stop(struct waza_work *, const struct json *id);
/* What was done while nobody could be told, now that there is a conn. */
void waza_work_report(struct waza_work *);
/* Asks all commands to end; idle() follows if any runs. */
void waza_work_cancel(struct waza_work *);
void waza_work_drop(struct waza_work *);	/* at once, and in silence */

void waza_put_text(struct json_out *, const char *key, struct str);

enum waza_link_state {
	WAZA_LINK_RESTING, WAZA_LINK_CONNECTING, WAZA_LINK_SHAKING,
	WAZA_LINK_GREETED, WAZA_LINK_REGISTERED, WAZA_LINK_ENDED
};

/* The way to the server.  Set the public part, zero the rest. */
struct waza_link {
	struct loop *loop;
	const char *where;	/* the URL as it was given */
	struct http_url url;
	const char *host, *port;
	struct str token, id;	/* token: empty for none */
	const char *name;	/* or NULL */
	struct waza_work *work;
	int64_t attempts;	/* in a row; 0: any number */
	bool once;		/* it ends when the server does */
	bool quiet;
	bool stopping;		/* the next end is the last one */
	/* read-only: */
	enum waza_link_state state;	/* ENDED: it is over, */
	int status;		/* and this is the exit status */
	/* private: */
	struct conns conns;
	bool was_in;		/* it was registered at least once */
	struct fd_watch connecting;	/* fd -1: idle */
	size_t nth;		/* address of the host */
	struct conn *conn;
	char accept[WS_ACCEPT];
	char server[64];	/* its serverId */
	unsigned failures;	/* in a row */
	struct timer rest, tick;
	int64_t since;		/* the state, for one that hangs */
	char why[200];		/* of the last failure */
	char refused[200];	/* by the last address */
};

void waza_link_start(struct waza_link *);
void waza_link_part(struct waza_link *);	/* says goodbye, then ends */
void waza_link_end(struct waza_link *);		/* at once */
void waza_link_fini(struct waza_link *);

#endif

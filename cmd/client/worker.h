/* SPDX-License-Identifier: ISC */
/*
 * cmd/worker.h: cmd_.  The parts of `waza worker`: the command (worker.c), the
 * connection (worker_link.c) and the evaluations (worker_job.c).
 */
#ifndef WAZA_CMD_WORKER_H
#define WAZA_CMD_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/conn.h"
#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "lib/http.h"
#include "lib/ws.h"

struct cmd_worker_job;

struct cmd_tool {
	struct str name;
	const char *command;	/* for /bin/sh -c */
};

/* All evaluations.  Set the first part and zero the rest. */
struct cmd_worker_jobs {
	struct procs *procs;
	const struct cmd_tool *tools;
	size_t ntools;
	size_t room;		/* evaluations at the same time */
	struct conn *conn;	/* NULL: not registered at the server */
	bool verbose;
	void (*idle)(void *arg);	/* the last command has ended */
	void *arg;
	bool ending;		/* starts nothing new */
	size_t running;		/* commands */
	/* private: */
	unsigned connection;	/* number of the current or the last one */
	struct cmd_worker_job *first;	/* sent replies: the newest first */
};

/* Handles an evaluate request: starts its command, or replies an error. */
void cmd_worker_jobs_start(struct cmd_worker_jobs *,
    const struct json *request);
/* Ends the command of the request with this id, if there is one. */
void cmd_worker_jobs_stop(struct cmd_worker_jobs *, const struct json *id);
/*
 * There is a new connection: sends the replies of evaluations that ended
 * without one.
 */
void cmd_worker_jobs_report(struct cmd_worker_jobs *);
/* Asks all commands to end; idle() follows if any is running. */
void cmd_worker_jobs_cancel(struct cmd_worker_jobs *);
/* Kills all commands and forgets their evaluations. */
void cmd_worker_jobs_drop(struct cmd_worker_jobs *);

enum cmd_worker_link_state {
	CMD_WORKER_WAITING,	/* before the next attempt to connect */
	CMD_WORKER_CONNECTING,
	CMD_WORKER_SHAKING,	/* the WebSocket handshake is under way */
	CMD_WORKER_GREETED,	/* the server has sent welcome */
	CMD_WORKER_REGISTERED,
	CMD_WORKER_ENDED
};

/* The connection to the server.  Set the first part and zero the rest. */
struct cmd_worker_link {
	struct loop *loop;
	const char *where;	/* the URL as given */
	struct http_url url;
	const char *host, *port;
	struct str token, id;	/* token: empty for none */
	const char *name;	/* or NULL */
	struct cmd_worker_jobs *jobs;
	int64_t attempts;	/* failures in a row; 0: no limit */
	bool once;		/* end when the server ends */
	bool quiet;
	bool stopping;		/* do not reconnect */
	/* read-only: */
	enum cmd_worker_link_state state;
	int status;		/* the exit status, if state is ENDED */
	/* private: */
	struct conns conns;
	bool was_registered;	/* at least once */
	struct fd_watch connecting;	/* fd -1: idle */
	size_t nth;		/* address of the host */
	struct conn *conn;
	char accept[WS_ACCEPT];
	char server[64];	/* its serverId */
	unsigned failures;	/* in a row */
	struct timer retry, tick;
	int64_t since;		/* when the state began */
	char why[200];		/* the last failure that was printed */
	char refused[200];	/* error of the last address */
};

/* Starts to connect; it reconnects until the state is CMD_WORKER_ENDED. */
void cmd_worker_link_start(struct cmd_worker_link *);
/* Tells the server that the worker leaves, then ends. */
void cmd_worker_link_leave(struct cmd_worker_link *);
/* Ends at once. */
void cmd_worker_link_end(struct cmd_worker_link *);
/* Closes the connection and stops the timers. */
void cmd_worker_link_fini(struct cmd_worker_link *);

#endif

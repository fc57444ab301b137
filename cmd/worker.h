/* SPDX-License-Identifier: ISC */
/*
 * cmd/worker.h: cmd_.  The parts of `waza worker`: the command
 * (cmd/worker.c), the connection (cmd/worker_link.c) and the evaluations
 * (cmd/worker_job.c).
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

/* All that is to be done, and by what. */
struct cmd_worker_jobs {
	struct procs *procs;
	const struct cmd_tool *tools;
	size_t ntools;
	size_t room;		/* at the same time */
	struct conn *conn;	/* NULL: there is none that we are known to */
	bool verbose;
	bool ending;		/* nothing new is begun */
	void (*idle)(void *arg);	/* the last command has ended */
	void *arg;
	size_t running;		/* commands */
	struct cmd_worker_job *jobs;	/* private */
};

/* A request of the server: does it, or says why not. */
void cmd_worker_begin_job(struct cmd_worker_jobs *, const struct json *request);
/* It is not wanted any more. */
void cmd_worker_stop_job(struct cmd_worker_jobs *, const struct json *id);
/* What was done while nobody could be told, now that there is a conn. */
void cmd_worker_report_job(struct cmd_worker_jobs *);
/* Asks all commands to end; idle() follows if any runs. */
void cmd_worker_cancel_job(struct cmd_worker_jobs *);
/* Ends all jobs at once without reporting them. */
void cmd_worker_drop_job(struct cmd_worker_jobs *);

void cmd_put_text(struct json_out *, const char *key, struct str);

enum cmd_worker_link_state {
	CMD_WORKER_RESTING, CMD_WORKER_CONNECTING, CMD_WORKER_SHAKING,
	CMD_WORKER_GREETED, CMD_WORKER_REGISTERED, CMD_WORKER_ENDED
};

/* The way to the server.  Set the public part, zero the rest. */
struct cmd_worker_link {
	struct loop *loop;
	const char *where;	/* the URL as it was given */
	struct http_url url;
	const char *host, *port;
	struct str token, id;	/* token: empty for none */
	const char *name;	/* or NULL */
	struct cmd_worker_jobs *work;
	int64_t attempts;	/* in a row; 0: any number */
	bool once;		/* it ends when the server does */
	bool quiet;
	bool stopping;		/* the next end is the last one */
	/* read-only: */
	enum cmd_worker_link_state state;	/* ENDED: it is over, */
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

void cmd_worker_link_start(struct cmd_worker_link *);
/* Tells the server that the worker leaves, then ends. */
void cmd_worker_link_part(struct cmd_worker_link *);
void cmd_worker_link_end(struct cmd_worker_link *);		/* at once */
void cmd_worker_link_fini(struct cmd_worker_link *);

#endif

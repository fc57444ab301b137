/* SPDX-License-Identifier: ISC */
/*
 * cmd/run_on_server.h: cmd_.  A pass of `waza run` that a server executes:
 * started by eval.run, followed by its events, reported from its results file.
 */
#ifndef WAZA_CMD_RUN_ON_SERVER_H
#define WAZA_CMD_RUN_ON_SERVER_H

#include <stdbool.h>

struct cmd_job;
struct cmd_on_server;

/* -1: an option that a server cannot be told; the call's err names it. */
int cmd_on_server_check(struct cmd_job *);

/* Begins to connect.  NULL: it has said what is wrong. */
struct cmd_on_server *cmd_on_server_open(struct cmd_job *);
void cmd_on_server_close(struct cmd_on_server *);	/* NULL is harmless */

/*
 * One pass, with the model or, if it is NULL, the suite's; its results are
 * the job's then.  CMD_ERROR when it could not be run: the job's err says why,
 * or the server's words have been printed.
 */
int cmd_on_server_pass(struct cmd_on_server *, const char *model,
    const char *output);

/* Cancels the current run. */
void cmd_on_server_cancel(struct cmd_on_server *);
void cmd_on_server_hold(struct cmd_on_server *, bool);
bool cmd_on_server_ok(const struct cmd_on_server *);	/* all have passed */

#endif

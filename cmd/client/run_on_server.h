/* SPDX-License-Identifier: ISC */
/*
 * cmd/run_on_server.h: cmd_.  A pass of `waza run --remote`, which a server
 * executes: started by eval.run, followed by its events, and reported from
 * its results file.
 */
#ifndef WAZA_CMD_RUN_ON_SERVER_H
#define WAZA_CMD_RUN_ON_SERVER_H

#include <stdbool.h>

struct cmd_run;
struct cmd_on_server;

/* -1 if an option cannot be passed to a server; the call's err names it. */
int cmd_on_server_check(struct cmd_run *);

/*
 * Starts to connect.  The result lives in the call's arena; close it before
 * the loop ends.  NULL: the reason was printed.
 */
struct cmd_on_server *cmd_on_server_open(struct cmd_run *);
void cmd_on_server_close(struct cmd_on_server *);	/* NULL is harmless */

/*
 * Runs one pass with this model (NULL: the suite's), adds its results to the
 * job and writes them to output, unless that is NULL.  CMD_ERROR: the call's
 * err describes the reason, or is empty if the server's error was reported.
 */
int cmd_on_server_pass(struct cmd_on_server *, const char *model,
    const char *output);

/* Cancels the run; the second call does not wait for the server any more. */
void cmd_on_server_cancel(struct cmd_on_server *);
/* Pauses reading from the server, or resumes it. */
void cmd_on_server_hold(struct cmd_on_server *, bool);

/*
 * Calls run(); for several suites on a server, once for each operand.  The
 * highest exit status.
 */
struct cmd_call;
int cmd_on_server_each(struct cmd_call *, int (*run)(struct cmd_call *));

#endif

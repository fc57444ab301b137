/* SPDX-License-Identifier: ISC */
/*
 * cmd/stdout.h: cmd_.  stdout of a command that runs a loop.
 *
 * Output is written at once.  If the reader is slow, output is queued, and if
 * the queue is long, the producer is asked to pause; the loop continues and
 * handles signals.
 */
#ifndef WAZA_CMD_STDOUT_H
#define WAZA_CMD_STDOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "io/loop.h"

struct cmd_stdout {
	struct loop *loop;	/* NULL until it is created */
	void (*hold)(void *arg, bool on);	/* pause, resume; or NULL */
	void (*gone)(void *arg);	/* writing failed; or NULL */
	void *arg;
	bool lost;		/* writing failed; output is dropped */
	int sys;		/* errno of that failure */
	struct fd_watch w;	/* private, as is the rest */
	struct buf queue;
	size_t sent;		/* of it */
	bool held;
};

/* Writes or queues the bytes, which are copied. */
void cmd_stdout_put(struct cmd_stdout *, struct str);

/*
 * Waits until the queue is written.  A new signal ends the waiting; if *signo
 * was set before, it waits for one second at most.
 */
void cmd_stdout_flush(struct cmd_stdout *, const int *signo);
/* Drops the queue and frees it; call it before the loop is freed. */
void cmd_stdout_end(struct cmd_stdout *);

#endif

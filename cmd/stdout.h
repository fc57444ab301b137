/* SPDX-License-Identifier: ISC */
/*
 * cmd/stdout.h: cmd_.  stdout, while a loop goes on.
 *
 * What is put there goes out at once.  When the reader is slow it waits in a
 * queue, and when much waits, so should whoever puts it there; but the loop
 * goes on and hears signals.
 */
#ifndef WAZA_CMD_STDOUT_H
#define WAZA_CMD_STDOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "io/loop.h"

struct cmd_stdout {
	struct loop *loop;	/* NULL until there is one */
	void (*hold)(void *arg, bool on);	/* much waits; or NULL */
	void (*gone)(void *arg);	/* nobody reads any more; or NULL */
	void *arg;
	bool lost;		/* the same */
	int sys;		/* errno of why it is lost */
	struct fd_watch w;	/* private, as is the rest */
	struct buf queue;
	size_t sent;		/* of it */
	bool held;
};

void cmd_stdout_put(struct cmd_stdout *, struct str);

/*
 * Waits until all is written; not at all after a new signal, and a second
 * at most when there was one already.
 */
void cmd_stdout_flush(struct cmd_stdout *, const int *signo);
void cmd_stdout_end(struct cmd_stdout *);

#endif

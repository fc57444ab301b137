/* SPDX-License-Identifier: ISC */
/*
 * cmd/signals.h: cmd_.  The signals that end a command, and turns of the
 * loop until something has happened.
 */
#ifndef WAZA_CMD_SIGNALS_H
#define WAZA_CMD_SIGNALS_H

#include "io/loop.h"

/* Watches for SIGINT, SIGTERM and SIGHUP.  The zero value is not started. */
struct cmd_signals {
	int signo;		/* the last one received; 0: none */
	void (*fn)(void *arg);
	void *arg;
	struct loop *loop;	/* private from here */
	struct cmd_signal {
		struct sig_watch w;
		struct cmd_signals *all;
	} sig[3];
};

/* Calls fn(arg) after each signal, with signo set.  -1 with a message. */
int cmd_signals_start(struct cmd_signals *, struct loop *,
    void (*fn)(void *arg), void *arg, struct err *);
/* Restores the old dispositions; harmless if not started. */
void cmd_signals_stop(struct cmd_signals *);

/*
 * SIGQUIT still ends the process at once, even if the loop hangs, but clears
 * the progress line on stderr first.  An ignored signal stays ignored.
 */
void cmd_clear_on_quit(void);

/*
 * One turn of a loop that the caller waits on.  -1 with a message when it
 * fails, or when no watch is left that could end the waiting.
 */
int cmd_turn(struct loop *, struct err *);

#endif

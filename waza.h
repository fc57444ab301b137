/* SPDX-License-Identifier: ISC */
/*
 * waza.h: waza_.  What the commands share: how they are called, how they say
 * what is wrong, how they end.
 */
#ifndef WAZA_WAZA_H
#define WAZA_WAZA_H

#include <stddef.h>

#include "base.h"
#include "opt.h"

enum { WAZA_OK, WAZA_NO, WAZA_BAD };	/* passed, failed, could not tell */
enum { WAZA_INPUT_MAX = 64 << 20 };	/* bytes of a file named in argv */

struct waza_call {
	struct arena *arena;
	const void *opt;	/* the command's own struct */
	char **args;		/* operands */
	size_t nargs;
	struct err *err;
};

/* A command returns the exit status; it has said why it is not 0. */
struct waza_command {
	const char *name;
	const char *usage;	/* options and operands */
	const char *help;	/* one line */
	struct opt_table opts;
	size_t size;		/* of the options struct */
	size_t min, max;	/* operands */
	int (*fn)(struct waza_call *);
};
#define WAZA_OPTS(rows) { rows, COUNTOF(rows) }

/* The commands, beside those in waza.c itself. */
extern const struct waza_command waza_list, waza_match, waza_parse, waza_run,
    waza_validate;

/* Each prints to stderr and returns WAZA_BAD. */
int waza_complain(const struct err *);			/* waza: message */
int waza_complain_at(const char *file, const struct err *);	/* with place */

/* Writes out to stdout and frees it; the status, or WAZA_BAD if it cannot. */
int waza_finish(struct waza_call *, struct buf *out, int status);

#endif

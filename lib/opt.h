/* SPDX-License-Identifier: ISC */
/*
 * opt.h: opt_.  Command-line options by a table, one row an option; the
 * usage text reads the same rows.
 *
 * --name, --name VALUE, --name=VALUE, -x, -x VALUE, -xVALUE, -xyz for flags;
 * "--" ends the options, "-" alone is an operand, and options may follow
 * operands.  What is not given keeps its initial value.
 */
#ifndef WAZA_OPT_H
#define WAZA_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum opt_type {
	OPT_FLAG,		/* bool, set to true */
	OPT_STR,		/* const char * */
	OPT_INT,		/* int64_t, from min to max */
	OPT_LIST		/* struct opt_list, one string each time */
};

struct opt_list {
	const char **v;
	size_t n;
};

struct opt {
	const char *name;	/* without the dashes */
	char letter;		/* 0: none */
	enum opt_type type;
	size_t off;		/* of the member in the struct */
	const char *value;	/* what usage calls the value */
	const char *help;	/* one line */
	int64_t min, max;	/* OPT_INT; both 0: any */
};

struct opt_table {
	const struct opt *rows;
	size_t n;
};

/*
 * Reads argv (after the command's name) into *out.  Operands are moved to
 * the front of argv, in order; *nargs says how many.  -1 with a message
 * that names the option, and the one that may have been meant.
 */
int opt_parse(struct arena *, const struct opt_table *, char **argv,
    size_t *nargs, void *out, struct err *);

/* One line an option, for the usage text. */
void opt_help(const struct opt_table *, struct buf *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * opt.h: opt_.  Command-line options.  A table with one row per option drives
 * both the parser and the help text.
 *
 * Accepted forms: --name, --name VALUE, --name=VALUE, -x, -x VALUE, -xVALUE,
 * -xyz for flags, and --flag=true or --flag=false.  "--" ends the options, "-"
 * alone is an argument, and options may follow arguments.  Options that are not
 * given keep their initial value.
 */
#ifndef WAZA_OPT_H
#define WAZA_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum opt_type {
	OPT_FLAG,		/* bool, set to true; or =true, =false */
	OPT_MAYBE,		/* const char *: the text after "=", or "";
				 * with =false NULL, with =true "" */
	OPT_STR,		/* const char * */
	OPT_INT,		/* int64_t, from min to max */
	OPT_LIST		/* struct opt_list; repeatable */
};

struct opt_list {
	const char **v;
	size_t n;
};

struct opt {
	const char *name;	/* without the dashes */
	char letter;		/* 0: none */
	unsigned char type;	/* enum opt_type */
	unsigned off;		/* of the member in the struct */
	const char *value;	/* the value's name in help and messages */
	const char *help;	/* one line; NULL: not listed, for options of
				 * other versions that have no effect here */
	const char *instead;	/* refused, with this advice; or NULL */
	const char *group;	/* heading in help; NULL: same as row before */
	int64_t min, max;	/* OPT_INT; both 0: any */
};

struct opt_table {
	const struct opt *rows;
	size_t n;
};

/*
 * Reads argv, which starts after the command's name and ends with NULL, into
 * *out.  Moves the arguments that are not options to the front of argv, in
 * order, and stores their number in *nargs.  Strings are borrowed; lists are
 * in the arena.  0, or -1 with a message that names the option.
 */
int opt_parse(struct arena *, const struct opt_table *, char **argv,
    size_t *nargs, void *out, struct err *);

/*
 * Whether --json is accepted for --format json: there is such a format, and no
 * row for --json.
 */
bool opt_has_json(const struct opt_table *);

/* Appends a value to a list. */
void opt_add(struct arena *, struct opt_list *, const char *value);

/*
 * The words of a command line that opt_parse() accepts, after the command's
 * name, without the options that drop() names; in the arena, *n of them.  Flags
 * that were written together (-xyz) are apart.
 */
const char **opt_without(struct arena *, const struct opt_table *,
    const char *const *words, bool (*drop)(const struct opt *), size_t *n);

enum { OPT_HELP_COLS = 26 };	/* columns before the help of an option */
/* Appends one line per option, under a heading wherever a group begins. */
void opt_help(const struct opt_table *, struct buf *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * grader_code.h: code_.  The parts of the kind `code`: its assertions, the
 * names that they are about, and the interpreter for those that expr.h
 * declines.  Only for the grader_code*.c files.
 */
#ifndef WAZA_GRADER_CODE_H
#define WAZA_GRADER_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "grade/grader_internal.h"

struct json;

enum code_language { CODE_PYTHON, CODE_JAVASCRIPT };

enum code_verdict { CODE_OPEN, CODE_TRUE, CODE_FALSE, CODE_MESSAGE };

struct code_assertion {
	struct str text;
	enum code_verdict verdict;
	struct str message;		/* an exception's, or why it is open */
};

/* The assertions of a grading; in its arena. */
struct code_set {
	struct code_assertion *v;
	size_t n;
};

/*
 * What the assertions can name: output, outcome, transcript, tool_calls,
 * errors and duration_ms, as an object.  What none of them mentions is not
 * made up.
 */
struct json *code_names(struct arena *, const struct grader_input *,
    const struct code_set *);

/* An interpreter of the language that is in PATH; NULL: there is none. */
const char *code_interpreter(struct arena *, enum code_language);
const char *code_wanted(enum code_language);	/* its usual name */

/*
 * Asks one child about all assertions that are open.  Then conclude() is
 * called, with all of them decided, unless the child gave no answers at all,
 * which is the grading's error; g->done() follows.  -1 when there is no
 * child.
 */
struct code_ask {
	struct code_set *set;
	enum code_language language;
	double seconds;			/* it may take */
	void (*conclude)(struct grading *, const struct code_set *);
};
int code_ask(struct grading *, const struct code_ask *, struct err *);
void code_cancel(struct grading *);

#endif

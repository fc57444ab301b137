/* SPDX-License-Identifier: ISC */
/*
 * re.h: re_.  Regular expressions in the dialect of RE2 and Go's regexp:
 * leftmost-first matches with groups, in time linear in the text.
 *
 * Text is UTF-8; a byte that is not part of a valid sequence counts as one
 * U+FFFD.  \d \w \s \b and [[:alpha:]] match ASCII; \pL, \p{Greek} and (?i)
 * cover Unicode 15.  Backreferences and lookaround are not supported.  Where
 * RE2 and Go differ, this follows Go, except for (?<name>...), which newer
 * releases of both accept.  Several groups can have the same name.
 *
 * A compiled expression lives in the arena it was compiled in and allocates
 * its cache there: a few kB at first use, at most RE_CACHE_MAX.  Compiling
 * takes at most a few MB of temporary memory and a fraction of a second.
 * re_match() also takes up to 24 bytes x RE_SLOT_MAX, which it frees.  An
 * expression must not be used by two threads at the same time.
 */
#ifndef WAZA_RE_H
#define WAZA_RE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* Limits; re_compile() fails with ERR_LIMIT if one is exceeded. */
enum {
	RE_PATTERN_MAX = 1 << 16,	/* bytes of the pattern */
	RE_PROG_MAX    = 10000,		/* instructions */
	RE_REPEAT_MAX  = 1000,		/* n of x{n}; product of nested ones */
	RE_DEPTH_MAX   = 1000,		/* nesting of groups */
	RE_RANGE_MAX   = 50000,		/* ranges of all classes */
	RE_SLOT_MAX    = 1 << 20,	/* instructions x groups x 2 */
	RE_CACHE_MAX   = 2 << 20	/* bytes; emptied when full, no error */
};

#define RE_UNSET SIZE_MAX

struct re;

struct re_span {
	size_t start, end;	/* both RE_UNSET: the group did not match */
};

/*
 * Returns NULL if the pattern is refused: ERR_SYNTAX or ERR_LIMIT, with .col
 * the byte (from 1) of the faulty piece, which .msg quotes.  The pattern is
 * copied.
 */
struct re *re_compile(struct arena *, struct str pattern, struct err *);

/*
 * Takes the work of all further calls from the budget, which must outlive
 * them.  Once it is spent, there are no matches any more.
 */
void re_limit(struct re *, struct budget *);

/* True if some part of the text matches.  Faster than re_match(). */
bool re_test(struct re *, struct str text);

/*
 * Finds the leftmost-first match at or after byte `from`; the text before it
 * still matters for ^ and \b.  Sets spans[0] to the whole match and the next
 * ones to the groups, up to nspans; those past the last group are unset.
 * Returns false, with undefined spans, if there is no match.
 */
bool re_match(struct re *, struct str text, size_t from,
    struct re_span *spans, size_t nspans);

/* The number of groups, including the whole match; so at least 1. */
size_t re_groups(const struct re *);
/* The name of a group; empty if it has none. */
struct str re_group_name(const struct re *, size_t group);

#endif

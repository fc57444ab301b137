/* SPDX-License-Identifier: ISC */
/*
 * re.h: re_.  Regular expressions in the dialect of RE2 and Go's regexp:
 * leftmost-first matches with groups, in time linear in the text.
 *
 * Text is UTF-8; a byte that is no part of a well-formed sequence counts as
 * one U+FFFD.  \d \w \s \b and [[:alpha:]] know ASCII, \pL, \p{Greek} and
 * (?i) all of Unicode 15.  There are no backreferences and no lookaround.
 * Where RE2 and Go differ Go is followed, but for (?<name>...), which newer
 * releases of both take.  Two groups may have one name.
 *
 * A compiled expression lives in the arena it was made in and takes all it
 * needs later from there too: a few kB at first use, RE_CACHE_MAX at most.
 * To compile takes a few MB for a while, and a fraction of a second, at most.
 * re_match also borrows up to 24 bytes x RE_SLOT_MAX, which it gives back.
 * An expression may not be used by two threads at once.
 */
#ifndef WAZA_RE_H
#define WAZA_RE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* What an expression may not pass; beyond, re_compile says ERR_LIMIT. */
enum {
	RE_PATTERN_MAX = 1 << 16,	/* bytes of the pattern */
	RE_PROG_MAX    = 10000,		/* instructions */
	RE_REPEAT_MAX  = 1000,		/* x{n}; also the product when nested */
	RE_DEPTH_MAX   = 1000,		/* groups within groups */
	RE_RANGE_MAX   = 50000,		/* ranges of all classes together */
	RE_SLOT_MAX    = 1 << 20,	/* instructions x groups x 2 */
	RE_CACHE_MAX   = 2 << 20	/* bytes; kept in bounds, no error */
};

#define RE_UNSET SIZE_MAX

struct re;

struct re_span {
	size_t start, end;	/* both RE_UNSET: the group took no part */
};

/*
 * NULL when the pattern is refused: ERR_SYNTAX or ERR_LIMIT, .col the byte
 * (from 1) of the offending piece, .msg naming it.  The pattern need not
 * outlive the call.
 */
struct re *re_compile(struct arena *, struct str pattern, struct err *);

/* Whether some part of the text matches.  Does not pay for groups. */
bool re_test(struct re *, struct str text);

/*
 * The leftmost-first match at or after byte `from`; what stands before it
 * still counts for ^ and \b.  Sets spans[0] to the whole match and the next
 * ones to the groups, up to nspans; those past the last group are unset.
 */
bool re_match(struct re *, struct str text, size_t from,
    struct re_span *spans, size_t nspans);

size_t re_groups(const struct re *);		/* with the whole, so >= 1 */
struct str re_group_name(const struct re *, size_t group);	/* or empty */

#endif

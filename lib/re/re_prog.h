/* SPDX-License-Identifier: ISC */
/*
 * re_prog.h: re_parse re_code_ re_prog_ re_lit_ re_dfa_ re_nfa_.  Internal:
 * the program that a pattern becomes and the engines that run it.  Only the
 * re_*.c files and their tests include this.
 */
#ifndef WAZA_RE_PROG_H
#define WAZA_RE_PROG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/re/re.h"
#include "lib/re/re_class.h"

/*
 * Instructions work on code points, so that \pL is one of them, whatever it
 * takes in UTF-8.  All but JMP, SPLIT and MATCH go on to the next one.
 */
enum re_op {
	RE_MATCH,
	RE_CHAR,		/* x: the code point */
	RE_FOLD,		/* x: the smallest of its orbit */
	RE_CLASS,		/* x: index into .classes */
	RE_ANY,
	RE_NOTNL,		/* any but \n */
	RE_SPLIT,		/* the next, then x; if arg is 1, x first */
	RE_JMP,			/* x */
	RE_SAVE,		/* x: the slot; 2k and 2k + 1 for group k */
	RE_ASSERT		/* arg: one of RE_BEGIN_LINE... */
};

enum {				/* what holds between two code points */
	RE_BEGIN_LINE = 1,
	RE_BEGIN_TEXT = 2,
	RE_END_LINE   = 4,
	RE_END_TEXT   = 8,
	RE_WORD       = 16,
	RE_NOT_WORD   = 32
};

struct re_inst {
	uint8_t op;
	uint8_t arg;
	uint32_t x;		/* a target is relative until re_prog_end */
};

struct re_class {
	uint32_t ascii[4];	/* bit r % 32 of word r / 32 */
	uint32_t first, n;	/* in .ranges */
};

/* A program under construction. */
struct re_code {
	struct arena *arena;
	struct re_inst *v;
	size_t n, cap;
	bool full;		/* past RE_PROG_MAX; appends are dropped */
	struct re_class *classes;
	size_t nclasses, capclasses;
	struct re_set ranges;
};

void re_code_put(struct re_code *, enum re_op, unsigned arg, uint32_t x);
void re_code_insert(struct re_code *, size_t at, enum re_op, unsigned arg,
    uint32_t x);
/* Appends code [from, to) n more times. */
void re_code_repeat(struct re_code *, size_t from, size_t to, size_t n);
/* A RE_CLASS (or simpler) of a clean set. */
void re_code_class(struct re_code *, const struct re_set *);

/*
 * What a match must begin with: byte i is byte[i] or other[i], or one of a
 * set.  Found by the rarest of them with memchr, or by two at once.
 */
enum { RE_LIT_MAX = 16 };
enum re_lit_way { RE_LIT_RARE, RE_LIT_PAIR, RE_LIT_OFF };
struct re_lit {
	uint8_t n;		/* 0: nothing is known */
	bool whole;		/* these bytes are all of the pattern */
	uint8_t rare;		/* the place of the rarest... */
	uint8_t nrare, rares[4];	/* ...and what it can be */
	unsigned cost;		/* how common that is, per mille */
	bool paired;		/* the bytes at pair[] can be looked for */
	uint8_t pair[2];
	unsigned pair_cost;
	uint8_t byte[RE_LIT_MAX], other[RE_LIT_MAX];
	const uint8_t *sets;	/* instead: bit i of sets[c] for c at i */
};

struct re {
	struct arena *arena;
	const struct re_inst *prog;
	uint32_t nprog;
	unsigned asserts;		/* the kinds that occur */
	const struct re_class *classes;
	size_t nclasses;
	const struct re_range *ranges;
	size_t nranges;
	size_t ngroups;
	const struct str *names;	/* NULL: none has one */
	struct re_lit lit;
	bool deepened;
	struct re_dfa *dfa;		/* made at first use */
};

/* Parses into code; -1 and e on failure. */
struct re_parsed {
	struct re_code code;
	size_t ngroups;
	struct str *names;	/* borrowed from the pattern; NULL: none */
};
int re_parse(struct arena *tmp, struct str pattern, struct re_parsed *,
    struct err *);

/* Copies the program to the arena of re and makes targets absolute. */
void re_prog_end(struct re *, const struct re_code *);
/* Whether the instruction takes r; folded is re_fold_min(r). */
bool re_prog_takes(const struct re *, const struct re_inst *, uint32_t r,
    uint32_t folded);
/* One code point at p < end; a malformed byte is RE_RUNE_BAD of width 1. */
size_t re_prog_rune(const char *p, const char *end, uint32_t *r);
/* The RE_BEGIN_... that hold at text.p + i. */
unsigned re_prog_holds(struct str text, size_t i);

void re_lit_find(struct re *);
/* Looks harder, for alternatives; takes longer, so for a long text. */
void re_lit_deepen(struct re *);
/* How to search for it, in so much text. */
enum re_lit_way re_lit_way(const struct re_lit *, size_t text);
/*
 * The first place at or after `from` where re->lit is in the text, or
 * RE_UNSET.  Where one way finds too much to pay the next is taken; at
 * RE_LIT_OFF the place is only one before which it is not.
 */
size_t re_lit_search(const struct re_lit *, struct str text, size_t from,
    enum re_lit_way *);

/*
 * Whether there is a match that begins at or after `from`.  When there is,
 * and start is not NULL, no match begins before *start.
 */
bool re_dfa_search(struct re *, struct str text, size_t from, size_t *start);
/* The same without a cache: for tests, and where the cache does not pay. */
bool re_dfa_plain(struct re *, struct str text, size_t from);

/* Threads in step: any text, time O(text x program). */
bool re_nfa_pike(struct re *, struct str text, size_t from,
    struct re_span *, size_t nspans);
/* Backtracking that goes nowhere twice; only where re_nfa_fits. */
bool re_nfa_back(struct re *, struct str text, size_t from,
    struct re_span *, size_t nspans);
bool re_nfa_fits(const struct re *, size_t text);

#endif

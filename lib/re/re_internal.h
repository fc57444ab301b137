/* SPDX-License-Identifier: ISC */
/*
 * re_internal.h: re_set_ re_names_ re_code_ re_parse re_refuse re_lex_ re_atom_
 * re_prog_ re_lit_ re_dfa_ re_nfa_ re_state_ re_cuts_.
 * Sets of code points, the parser, the program that a pattern is compiled to
 * and the engines that run it.
 */
#ifndef WAZA_RE_INTERNAL_H
#define WAZA_RE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/re/re.h"

/* Sets (re_class.c). */

#define RE_RUNE_MAX 0x10FFFFu
#define RE_RUNE_BAD 0xFFFDu	/* what a malformed byte counts as */

struct re_range {
	uint32_t lo, hi;
};

/*
 * Classes with a name, as they were made for the first time.  The zero value
 * is valid; re_names_free ends it.  Adding one twice to a set does nothing,
 * so whoever ends a set says re_names_next.
 */
struct re_names {
	struct arena arena;
	struct re_named *first;
	unsigned set;		/* the number of the set being made */
};

/*
 * The zero value but for .arena and .names is the empty set; .names may be
 * NULL where none are added.  Clean: sorted, merged.
 */
struct re_set {
	struct arena *arena;
	struct re_names *names;
	struct re_range *v;
	size_t n, cap;
	size_t cleaned;		/* n when it was last clean */
};

void re_names_next(struct re_names *);
void re_names_free(struct re_names *);

void re_set_add(struct re_set *, uint32_t lo, uint32_t hi, bool fold);
void re_set_clean(struct re_set *);
void re_set_negate(struct re_set *);		/* of a clean set */

/* Each adds a class by name, or is false when there is none of that name. */
bool re_set_perl(struct re_set *, char letter, bool fold);
bool re_set_posix(struct re_set *, struct str name, bool negate, bool fold);
bool re_set_unicode(struct re_set *, struct str name, bool negate, bool fold);

/* Programs (re_prog.c) and engines. */

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
/* Whether the instruction takes r; folded is unicode_fold_min(r). */
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

/* The parser: re_parse.c reads groups and repetition, re_atom.c the rest. */

enum {				/* i m s U */
	RE_FLAG_FOLD   = 1,
	RE_FLAG_LINES  = 2,
	RE_FLAG_DOT_NL = 4,
	RE_FLAG_LAZY   = 8
};

#define RE_NONE SIZE_MAX

struct re_group {
	size_t open;		/* in the pattern */
	size_t start, alt;	/* in the code: the group, its alternative */
	size_t jumps;		/* the last JMP to its end, or RE_NONE */
	size_t capture;		/* its number, or 0 */
	unsigned weight;	/* of its heaviest atom */
	bool nullable;		/* the atoms of its alternative so far are */
	bool passable;		/* an alternative before is nullable */
	unsigned flags;		/* to come back at its end */
};

struct re_parser {
	struct arena *tmp;
	struct arena sets;	/* for the class being read */
	struct re_names names;
	bool no_posix;		/* no :] follows; looked for once */
	struct str s;
	size_t i;
	struct err *e;
	unsigned flags;
	struct re_parsed *out;
	struct re_code *code;
	struct re_group *stack, *top;
	size_t depth, cap;
	size_t atom;		/* where in the code, or RE_NONE */
	unsigned weight;	/* its largest product of nested counts */
	bool nullable;		/* whether it can match without reading */
	size_t repeat;		/* where one was just read, or RE_NONE */
	size_t capnames;
};

/* Refuses s[from..to), naming it and saying why; -1. */
int re_refuse(struct re_parser *, size_t from, size_t to, const char *why);
bool re_lex_end(const struct re_parser *);
int re_lex_peek(const struct re_parser *, size_t k);	/* or -1 past the end */
uint32_t re_lex_rune(struct re_parser *);	/* takes one */

/* The atom, if any, is done with; what follows in the code is one. */
void re_atom_settle(struct re_parser *);
void re_atom_begin(struct re_parser *);
void re_atom_rune(struct re_parser *, uint32_t);
void re_atom_assert(struct re_parser *, unsigned kind);

/* At a backslash, at a [; -1 when refused. */
int re_atom_escape(struct re_parser *);
int re_atom_class(struct re_parser *);

/* The automaton of re_dfa.c: re_state.c, re_cuts.c. */

enum {				/* where a byte leads if not to a state */
	RE_STATE_NEW,		/* not known yet */
	RE_STATE_DEAD,		/* no match can come */
	RE_STATE_MATCH,
	RE_STATE_FULL,		/* the cache is */
	RE_STATE_SPECIAL = RE_STATE_FULL
};
enum { RE_STATE_DIRTY = 1 };	/* .seen: old threads at the start's members */

/* What stands before: nothing special, a word, a line's or text's start. */
enum { RE_CTX_NONE, RE_CTX_WORD, RE_CTX_LINE, RE_CTX_TEXT, RE_CTX__MAX };

struct re_state {
	uint32_t at;		/* its members, from .members[at] */
	uint16_t n;
	uint8_t ctx;
	uint8_t eof;		/* 0: unknown, else whether it matches + 1 */
	uint32_t base;		/* pending: the state before the sequence */
	uint32_t seen;		/* its bytes; or, if need is 0, a code point */
	uint8_t have, need;	/* bytes read; its length */
	uint8_t left;		/* need == 0: the bytes to come */
};

struct re_start {
	uint32_t id;
	bool match;
	uint16_t n;
	uint16_t *v;
	uint32_t *bits;
};

struct re_dfa {
	struct re *re;
	uint32_t width;
	uint8_t column[256];
	uint32_t *cuts;		/* code points from 0x80 on that are unlike
				   the one before; sorted, 0x80 the first */
	size_t ncuts;
	bool anchored;		/* nothing starts but at the text's start */
	uint32_t idle;		/* the last id of a state without members */
	struct re_start start[RE_CTX__MAX];
	uint32_t *next;
	struct re_state *state;
	size_t nstates, capstates, maxstates;
	uint16_t *members;
	size_t nmembers, capmembers;
	uint32_t *hash;		/* numbers of states, 0 free */
	size_t caphash;
	uint32_t *set, *pass;	/* bitmaps over instructions */
	size_t nwords;
	uint16_t *passed;	/* those in pass, in the order of coming */
	uint16_t *stack;
	uint16_t *list;		/* scratch for members */
};

/* Finds .column, .width and .cuts. */
void re_cuts_find(struct re_dfa *);
/* A code point that stands for all of the same colour as r >= 0x80. */
uint32_t re_cuts_colour(const struct re_dfa *, uint32_t r);

struct re_dfa *re_state_dfa(struct re *);	/* made at first use */
/* Forgets all states but those without members. */
void re_state_flush(struct re_dfa *);
/* The id of the state with this key, made if need be; or RE_STATE_FULL. */
uint32_t re_state_intern(struct re_dfa *, const struct re_state *key,
    const uint16_t *members);
/* Where the byte leads from id; whether the text may end there. */
uint32_t re_state_after(struct re_dfa *, uint32_t id, uint32_t byte);
uint32_t re_state_end(struct re_dfa *, uint32_t id);

/* What stands before text.p + i, and after the code point r. */
unsigned re_state_ctx(const struct re_dfa *, struct str text, size_t i);
unsigned re_state_ctx_after(const struct re_dfa *, uint32_t r);

/*
 * One step without states: clear .set, read r in the members given, which
 * is true at a match, and write down the members of the set, less those of
 * the start in the new context.  At the text's end, ask whether it ends.
 */
void re_state_clear(struct re_dfa *);
bool re_state_read(struct re_dfa *, const uint16_t *v, size_t n,
    unsigned ctx, uint32_t r);
size_t re_state_members(const struct re_dfa *, const uint32_t *less,
    uint16_t *v);
bool re_state_ends(struct re_dfa *, const uint16_t *v, size_t n,
    unsigned ctx);

#endif

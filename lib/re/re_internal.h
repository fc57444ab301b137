/* SPDX-License-Identifier: ISC */
/*
 * re_internal.h: re_set_ re_names_ re_code_ re_parse re_refuse re_lex_ re_atom_
 * re_prog_ re_lit_ re_seek_ re_dfa_ re_bits_ re_nfa_ re_state_ re_cuts_.
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
#define RE_RUNE_BAD 0xFFFDu	/* the code point of a malformed byte */

struct re_range {
	uint32_t lo, hi;
};

/*
 * A cache of named classes.  The zero value is empty.  Adding a class to a set
 * a second time does nothing; re_names_next() starts the next set.
 */
struct re_names {
	struct arena arena;
	struct re_named *first;
	unsigned set;		/* number of the set under construction */
};

/*
 * A set of code points: ranges, which are sorted and disjoint if the set is
 * clean.  An empty set has .arena and, to add named classes, .names set.
 */
struct re_set {
	struct arena *arena;
	struct re_names *names;
	struct re_range *v;
	size_t n, cap;
	size_t cleaned;		/* n when it was last clean */
};

/* Starts another set; frees the cache. */
void re_names_next(struct re_names *);
void re_names_free(struct re_names *);

/* Adds lo to hi and, with fold, what matches them in another case. */
void re_set_add(struct re_set *, uint32_t lo, uint32_t hi, bool fold);
/* Sorts and merges the ranges; replaces a clean set by its complement. */
void re_set_clean(struct re_set *);
void re_set_negate(struct re_set *);

/* Each adds a class by name; false if the name is unknown. */
bool re_set_perl(struct re_set *, char letter, bool fold);
bool re_set_posix(struct re_set *, struct str name, bool negate, bool fold);
bool re_set_unicode(struct re_set *, struct str name, bool negate, bool fold);

/* Programs (re_prog.c) and engines. */

/*
 * Room for `need` elements in an array of which n are used: the array, or a
 * copy in the arena of at least twice the capacity.
 */
void *re_prog_grow(struct arena *, void *old, size_t n, size_t *cap,
    size_t need, size_t size);

/* ASCII letters, digits and _. */
bool re_prog_is_word(uint32_t);

/*
 * Instructions read code points, so that \pL is a single one.  All but JMP,
 * SPLIT and MATCH continue with the next instruction.
 */
enum re_op {
	RE_MATCH,
	RE_CHAR,		/* x: the code point */
	RE_FOLD,		/* x: the smallest code point of its orbit */
	RE_CLASS,		/* x: index into .classes */
	RE_ANY,
	RE_NOTNL,		/* any code point but \n */
	RE_SPLIT,		/* prefers the next to x; arg 1: x */
	RE_JMP,			/* x */
	RE_SAVE,		/* x: the slot; 2k and 2k + 1 for group k */
	RE_ASSERT		/* arg: one of RE_BEGIN_LINE... */
};
#define RE_READS(op) ((op) >= RE_CHAR && (op) <= RE_NOTNL)

enum {				/* conditions between two code points */
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
	uint32_t x;		/* targets are relative until re_prog_end() */
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

/* Appends an instruction; inserts one, moving those from `at` on. */
void re_code_put(struct re_code *, enum re_op, unsigned arg, uint32_t x);
void re_code_insert(struct re_code *, size_t at, enum re_op, unsigned arg,
    uint32_t x);
/* Appends code [from, to) n more times. */
void re_code_repeat(struct re_code *, size_t from, size_t to, size_t n);
/* Appends the instruction that matches a clean set. */
void re_code_class(struct re_code *, const struct re_set *);

/*
 * Bytes that every match begins with, or contains: byte i is byte[i] or
 * other[i], or one of a set.
 */
enum {
	RE_LIT_MAX = 16,
	RE_LIT_LOW = 24		/* cost of bytes worth searching for in a long
				 * text, where lanes are fast */
};
struct re_lit {
	uint8_t n;		/* 0: unknown */
	bool whole;		/* the pattern consists of these bytes */
	uint8_t rare;		/* index of the rarest byte... */
	uint8_t nrare, rares[4];	/* ...and its possible values */
	unsigned cost;		/* its frequency per mille */
	bool paired;		/* the bytes at pair[] can be searched for */
	uint8_t pair[2];
	unsigned pair_cost;
	uint8_t byte[RE_LIT_MAX], other[RE_LIT_MAX];
	const uint8_t *sets;	/* instead: bit i of sets[c] for c at i */
	size_t before;		/* at most so many bytes of a match precede */
};

struct re {
	struct arena *arena;
	const struct re_inst *prog;
	uint32_t nprog;
	unsigned asserts;		/* kinds of assertions that occur */
	const struct re_class *classes;
	size_t nclasses;
	const struct re_range *ranges;
	size_t nranges;
	size_t ngroups;
	const struct str *names;	/* of groups; NULL: no names */
	struct re_lit lit;		/* that matches begin with, or almost */
	struct re_lit need;		/* that matches contain, */
	bool need_known;		/* once re_lit_need() was called */
	size_t longest;			/* code points of a match; RE_UNSET:
					 * any number */
	bool deepened;			/* re_lit_deepen() was called */
	struct re_dfa *dfa;		/* NULL until it is used */
	struct budget *budget;		/* NULL: none */
};

/* The result of the parser. */
struct re_parsed {
	struct re_code code;
	size_t ngroups;
	struct str *names;	/* borrowed from the pattern; NULL: none */
};
/* Parses a pattern, using tmp; -1 and an error if it is refused. */
int re_parse(struct arena *tmp, struct str pattern, struct re_parsed *,
    struct err *);

/* Copies the program to the arena of re and makes targets absolute. */
void re_prog_end(struct re *, const struct re_code *);
/* True if the instruction accepts r; folded is unicode_fold_min(r). */
bool re_prog_takes(const struct re *, const struct re_inst *, uint32_t r,
    uint32_t folded);
/* Decodes at p < end; returns the width.  A bad byte is RE_RUNE_BAD. */
size_t re_prog_rune(const char *p, const char *end, uint32_t *r);
/* The conditions (RE_BEGIN_LINE...) that hold at text.p + i. */
unsigned re_prog_holds(struct str text, size_t i);

/* The number of code points of the longest match, or RE_UNSET. */
size_t re_prog_longest(const struct re *, struct arena *tmp);

/* Finds the bytes that every match begins with, for re->lit. */
void re_lit_find(struct re *);
/* Analyzes alternatives as well; slower, so only for long texts. */
void re_lit_deepen(struct re *);
/* Finds bytes that every match contains, for re->need. */
void re_lit_need(struct re *);
/* Whether byte i can be part of a pair: fixed, or a letter in both cases. */
bool re_lit_pairs(const struct re_lit *, size_t i);

/*
 * A search for the bytes of a struct re_lit (re_seek.c): for the rarest one, or
 * for two at a time.
 */
enum { RE_SEEK_LONG = 1 << 14 };	/* bytes of a long text */
enum re_seek_way { RE_SEEK_RARE, RE_SEEK_PAIR, RE_SEEK_OFF };
struct re_seek {
	enum re_seek_way way;
	bool sampled;		/* what follows is adapted to the text */
	bool paired;
	uint8_t rare, nrare, rares[4], pair[2];
};
/* Begins a search in a text of that length. */
struct re_seek re_seek_begin(const struct re_lit *, size_t text);
/*
 * Finds the bytes at or after `from` and returns the first offset where a match
 * with them can begin, or RE_UNSET.  If a method finds too many candidates, the
 * search changes to another; once it is RE_SEEK_OFF, the bytes need not be
 * there.
 */
size_t re_seek_next(struct re_seek *, const struct re_lit *, struct str text,
    size_t from);

/*
 * True if a match begins at or after `from`.  If start is not NULL, no match
 * begins before *start then.
 */
bool re_dfa_search(struct re *, struct str text, size_t from, size_t *start);
/* The same without a cache, for tests and texts that thrash it. */
bool re_dfa_plain(struct re *, struct str text, size_t from);
/* For tests: searches only with bitmaps from now on; false: not suitable. */
bool re_dfa_use_bits(struct re *);

/* The search with bitmaps (re_bits.c); NULL if it is not suitable. */
struct re_dfa;
struct re_bits *re_bits_new(struct re_dfa *);
/* The time that a code point takes, in about a nanosecond. */
size_t re_bits_cost(const struct re_bits *);

struct re_bits_scan {
	struct str text;
	size_t i;		/* where it begins, and where it ended */
	unsigned ctx;		/* the context there */
	struct re_seek lit;
	size_t idle;		/* no match begins before it */
	struct budget *budget;
};
/*
 * Searches from s->i, where threads wait at the instructions d->list[0..n).
 * True if there is a match; it ends at s->i, and none ends earlier.
 */
bool re_bits_search(struct re_bits *, struct re_bits_scan *s, size_t n);

/* Pike's algorithm: any text, time O(text x program). */
bool re_nfa_pike(struct re *, struct str text, size_t from,
    struct re_span *, size_t nspans);
/* Backtracking that visits nothing twice; requires re_nfa_fits(). */
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
	size_t start, alt;	/* in the code: group, current alternative */
	size_t jumps;		/* last JMP to its end, or RE_NONE */
	size_t capture;		/* its number, or 0 */
	unsigned weight;	/* largest of its atoms */
	bool nullable;		/* the current alternative is, so far */
	bool passable;		/* an earlier alternative is nullable */
	unsigned flags;		/* to restore at its end */
};

struct re_parser {
	struct arena *tmp;
	struct arena sets;	/* for the class being read */
	struct re_names names;
	bool no_posix;		/* a search found that no :] follows */
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
	bool nullable;		/* it can match without reading */
	size_t repeat;		/* offset of the last repetition, or RE_NONE */
	size_t capnames;
};

/* Sets an error that quotes s[from..to) and gives the reason; -1. */
int re_refuse(struct re_parser *, size_t from, size_t to, const char *why);
/* True at the end; the byte k ahead, or -1; reads a code point. */
bool re_lex_end(const struct re_parser *);
int re_lex_peek(const struct re_parser *, size_t k);
uint32_t re_lex_rune(struct re_parser *);

/* Ends the current atom; starts another; appends a simple one. */
void re_atom_settle(struct re_parser *);
void re_atom_begin(struct re_parser *);
void re_atom_rune(struct re_parser *, uint32_t);
void re_atom_assert(struct re_parser *, unsigned kind);

/* Reads an atom at a backslash or at a bracket; -1 if it is refused. */
int re_atom_escape(struct re_parser *);
int re_atom_class(struct re_parser *);

/* The automaton of re_dfa.c: re_state.c, re_cuts.c. */

enum {				/* transitions that do not lead to a state */
	RE_STATE_NEW,		/* not computed yet */
	RE_STATE_DEAD,		/* no match is possible */
	RE_STATE_MATCH,
	RE_STATE_FULL,		/* the cache is full */
	RE_STATE_SPECIAL = RE_STATE_FULL
};
enum { RE_STATE_DIRTY = 1 };	/* .seen: old threads at the start's members */

/* Context before an offset: ordinary, word, start of line, of text. */
enum { RE_CTX_NONE, RE_CTX_WORD, RE_CTX_LINE, RE_CTX_TEXT, RE_CTX__MAX };

struct re_state {
	uint32_t at;		/* index of its members */
	uint16_t n;
	uint8_t ctx;
	uint8_t eof;		/* at the end: 0 unknown, 1 fails, 2 matches */
	uint32_t base;		/* within a sequence: the state before it */
	uint32_t seen;		/* bytes read; if need is 0, a code point */
	uint8_t have, need;	/* number of bytes read; length */
	uint8_t left;		/* if need is 0: number of bytes missing */
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
	uint32_t *cuts;		/* see re_cuts.c; sorted, 0x80 is the first */
	size_t ncuts;
	bool anchored;		/* matches start at the text's start only */
	uint32_t idle;		/* highest id of a state without members */
	struct re_start start[RE_CTX__MAX];
	uint32_t *next;
	struct re_state *state;
	size_t nstates, capstates, maxstates;
	uint16_t *members;
	size_t nmembers, capmembers;
	uint32_t *hash;		/* numbers of states; 0: free */
	size_t caphash;
	uint32_t *set, *pass;	/* bitmaps over instructions */
	size_t nwords;
	uint16_t *passed;	/* members of pass, in order of arrival */
	uint16_t *stack;
	uint16_t *list;		/* temporary list of members */
	struct re_bits *bits;	/* NULL: not used yet, or not suitable */
	bool bits_tried;
	size_t bits_left;	/* bytes to be read with it before states are
				 * tried again */
};

/* Finds .column, .width and .cuts. */
void re_cuts_find(struct re_dfa *);
/* A number that all code points of the colour of r >= 0x80 share. */
uint32_t re_cuts_colour(const struct re_dfa *, uint32_t r);

/* The automaton, which is created at first use. */
struct re_dfa *re_state_dfa(struct re *);
/* Removes all states that have members. */
void re_state_flush(struct re_dfa *);
/* The id of the state with this key, new or not; or RE_STATE_FULL. */
uint32_t re_state_intern(struct re_dfa *, const struct re_state *key,
    const uint16_t *members);
/* The state after a byte; the result if the text ends. */
uint32_t re_state_after(struct re_dfa *, uint32_t id, uint32_t byte);
uint32_t re_state_end(struct re_dfa *, uint32_t id);

/* Conditions between ctx and r; UINT32_MAX is the end of the text. */
unsigned re_state_holds(unsigned ctx, uint32_t r);
/* The context at text.p + i, or behind the code point r. */
unsigned re_state_ctx(const struct re_dfa *, struct str text, size_t i);
unsigned re_state_ctx_after(const struct re_dfa *, uint32_t r);

/*
 * A step without states: re_state_clear() empties .set; re_state_read() adds
 * the instructions after reading r at the members v, true at a match;
 * re_state_members() lists the set without `less`.  re_state_ends() is true if
 * the members match at the end of the text.
 */
void re_state_clear(struct re_dfa *);
bool re_state_read(struct re_dfa *, const uint16_t *v, size_t n,
    unsigned ctx, uint32_t r);
size_t re_state_members(const struct re_dfa *, const uint32_t *less,
    uint16_t *v);
bool re_state_ends(struct re_dfa *, const uint16_t *v, size_t n,
    unsigned ctx);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * re_state.h: re_state_ re_cuts_.  Internal: the states of re_dfa.c's
 * automaton and how one follows from another.
 */
#ifndef WAZA_RE_STATE_H
#define WAZA_RE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/re/re_prog.h"

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

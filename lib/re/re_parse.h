/* SPDX-License-Identifier: ISC */
/*
 * re_parse.h: re_refuse re_lex_ re_atom_.  Internal: what re_parse.c (groups
 * and repetition) and re_atom.c (what they are made of) share.
 */
#ifndef WAZA_RE_PARSE_H
#define WAZA_RE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/re/re_prog.h"

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

#endif

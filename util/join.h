/* SPDX-License-Identifier: ISC */
/*
 * join.h: join_.  Joins C files and the headers that they include into one file
 * whose names are unique.
 *
 * Names that are local to a file (static functions and variables, types,
 * enumerators, macros) get the path of the file as their ending.  The tool
 * knows the tokens of C and its name spaces: members of structs keep their
 * names, and so do the arguments of a macro that become strings or parts of
 * names; a file-local name that is used in both ways keeps its spelling, so two
 * files cannot have the same.  Functions that headers declare become static, so
 * that a compiler sees all their callers.  The functions of headers and of the
 * first files get a section of their own, because compilers do not keep the
 * order of functions.
 *
 * It expects the style of this project: prototypes in headers, no K&R
 * definitions, conditional groups with balanced braces.
 */
#ifndef WAZA_JOIN_H
#define WAZA_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum join_kind { JOIN_WORD, JOIN_NUMBER, JOIN_STRING, JOIN_PUNCT, JOIN_END };

struct join_token {
	const char *p;
	uint32_t n;
	uint32_t lead;		/* bytes of white space and comments before */
	enum join_kind kind;
	bool first;		/* of its line */
	bool directive;		/* part of a line that begins with # */
};

/* How a name is used. */
enum {
	JOIN_ORDINARY = 1,	/* function, variable, enumerator, macro, typedef */
	JOIN_TAG = 2,		/* of a struct, union or enum */
	JOIN_MEMBER = 4,
	JOIN_RAW = 8		/* becomes a string or a part of a name */
};

/* A set of words; each has bits and a number. */
struct join_words {
	struct join_word {
		struct str word;
		unsigned bits;
		size_t n;
		void *data;
	} *v;
	size_t n, cap;		/* cap is a power of two */
};

struct join_macro {
	struct str name;
	const struct join_token *params;	/* the first, or NULL */
	size_t nparams;
	const struct join_token *body, *end;
	unsigned uses[12];	/* of each parameter, once known */
	bool known;
};

enum { JOIN_PARAMS = 11 };	/* "..." is counted as one */

struct join_file {
	struct str path;
	bool header;
	bool rest;		/* its functions are apart from others */
	struct join_token *v;	/* the last one is JOIN_END */
	size_t n;
	struct join_file **includes;
	size_t nincludes;
	struct join_words locals;	/* bits: JOIN_ORDINARY, JOIN_TAG */
	struct join_words macros;
	bool written;
};

struct join {
	struct arena arena;
	struct join_file *files[2000];
	size_t nfiles;
	struct join_words header_macros;
	struct join_words words;	/* n: how often all files contain it */
	struct buf out;
};

/* Prints a message and exits. */
void join_fail(const struct join_file *, const struct join_token *,
    const char *msg, struct str word);

/* join_words.c */
struct join_word *join_add(struct join *, struct join_words *, struct str);
struct join_word *join_find(const struct join_words *, struct str);

/* join_lex.c: the tokens of a text, which ends with a NUL. */
void join_lex(struct join_file *, struct str text);
struct str join_text(const struct join_token *);
bool join_is(const struct join_token *, const char *);
/* The first token after the directive that t is part of. */
const struct join_token *join_next_line(const struct join_token *t);
/* The first token after the conditional group that begins with t. */
const struct join_token *join_group_end(const struct join_file *,
    const struct join_token *t);

/* join_names.c */
/* Finds macros of a file, and the names that are local to it. */
void join_find_macros(struct join *, struct join_file *);
void join_find_locals(struct join *, struct join_file *);

/* join_use.c */
/*
 * Calls fn for each word in [from, to) with the way it is used, a set of bits.
 * The words in directives are visited, too.
 */
struct join_visit {
	void (*fn)(void *, const struct join_token *, unsigned use);
	void *ctx;
};
void join_visit(struct join *, struct join_file *,
    const struct join_token *from, const struct join_token *to,
    struct join_visit);

/* join_write.c */
void join_write(struct join *, struct str version, struct str licence);

#endif

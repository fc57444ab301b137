/* SPDX-License-Identifier: ISC */
/*
 * markdown_internal.h: markdown_.  Shared by markdown*.c: the blocks that
 * markdown_block.c finds and markdown_inline.c reads.
 */
#ifndef WAZA_MARKDOWN_INTERNAL_H
#define WAZA_MARKDOWN_INTERNAL_H

#include "lib/markdown/markdown.h"

/* One line of a block: where its part of the file begins. */
struct markdown_line {
	size_t at;		/* offset in the block */
	const char *from;	/* in the file */
	const char *bol;	/* begin of that line */
	unsigned number;
};

/* A paragraph or heading, without the marks of quotes and lists. */
struct markdown_block {
	struct markdown_block *next;
	struct str text;
	const struct markdown_line *line;
	size_t nlines;
	unsigned level;		/* of a heading; 0: paragraph */
	size_t from;		/* behind the definitions */
};

/* [label]: target */
struct markdown_def {
	struct str label;	/* normalized */
	struct str target, raw;
	size_t order;		/* the first of equal ones applies */
};

struct markdown_reader {
	struct arena *arena;
	struct markdown_block *head, **tail;
	struct buf links, headings, fences, anchors, defs;	/* of structs */
	const struct markdown_def *def;		/* sorted */
	size_t ndefs;
};

/* Appends a struct to a list. */
#define MARKDOWN_PUSH(list, x) \
	buf_put((list), (struct str){ (const char *)&(x), sizeof(x) })

/* Splits the text into blocks; also finds fences. */
void markdown_split(struct markdown_reader *, struct str text, unsigned line);

/* Takes definitions from the front of a paragraph. */
void markdown_take_defs(struct markdown_reader *, struct markdown_block *);
void markdown_sort_defs(struct markdown_reader *);

/* Finds the links and anchors of a block. */
void markdown_inline(struct markdown_reader *, const struct markdown_block *);

/* Adds the ids and names of HTML elements to the anchors. */
void markdown_html_ids(struct markdown_reader *, struct str html);

/*
 * The length of a tag, comment or the like at the beginning of s, or 0.  Each
 * bit of *missing is an end that does not follow: it is not searched again.
 */
size_t markdown_tag(struct str s, unsigned *missing);

bool markdown_is_punct(char);
/* The place in the file of an offset in the block. */
const struct markdown_line *markdown_place(const struct markdown_block *,
    size_t at);

#endif

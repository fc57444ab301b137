/* SPDX-License-Identifier: ISC */
/*
 * markdown.h: markdown_.  The parts of a Markdown text that refer to something
 * or can be referred to: links, headings, anchors and fenced blocks.
 *
 * Blocks and inlines are those of CommonMark, so that code, HTML and escaped
 * brackets are not links.  Lists, quotes and lazy lines count as there.
 * Emphasis is not read, nor are the extensions of GitHub, except for the
 * anchors of headings.  Time and memory are linear in the text, apart from
 * sorting.
 */
#ifndef WAZA_MARKDOWN_H
#define WAZA_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

enum { MARKDOWN_DEPTH = 32 };	/* nested quotes and lists; more are text */

/* A link, an image or an <autolink>. */
struct markdown_link {
	struct str target;	/* without escapes and entities */
	struct str raw;		/* as spelt, a part of the text; a reference
				 * link has it in its definition */
	unsigned line, col;	/* where the link begins; 1-based, in bytes */
	bool image;
};

struct markdown_heading {
	struct str text;	/* as spelt */
	unsigned level, line;
};

struct markdown_fence {
	unsigned line;		/* of its opening fence */
	unsigned lines;		/* between the fences */
};

/* Everything lives in the arena; raw and text borrow from the text. */
struct markdown {
	struct markdown_link *link;	/* in the order of the text */
	size_t nlinks;
	struct markdown_heading *heading;
	size_t nheadings;
	struct markdown_fence *fence;
	size_t nfences;
	struct str *anchor;	/* sorted */
	size_t nanchors;
};

/*
 * Reads a text whose first line has this number.  It cannot fail: every text
 * is Markdown.
 */
void markdown_read(struct arena *, struct str text, unsigned line,
    struct markdown *);

/*
 * Whether a fragment leads somewhere: to a heading, by GitHub's rules, or to
 * an HTML element with this id or name.
 */
bool markdown_has_anchor(const struct markdown *, struct str fragment);

/* Appends a heading's anchor by GitHub's rules, without its number. */
void markdown_slug(struct buf *, struct str heading);

#endif

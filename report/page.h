/* SPDX-License-Identifier: ISC */
/*
 * page.h: page_.  The files of the page, as `waza serve` sends them and HTML
 * reports contain them.  Their sources are in page/; page/embed turns them
 * into build/page_files.c, compressed.
 */
#ifndef WAZA_PAGE_H
#define WAZA_PAGE_H

#include <stddef.h>

#include "base/base.h"

struct page_file {
	const char *name;	/* "style.css" */
	const unsigned char *p;	/* gzip */
	size_t n;
};

extern const struct page_file page_files[];	/* build/page_files.c */
extern const size_t page_nfiles;

/*
 * The content of a file, in the arena or as gzip; .p is NULL if there is none
 * of this name.
 */
struct str page_file(struct arena *, struct str name);
struct str page_gzip(struct str name);

/*
 * The page as one document, which makes no requests and runs from a file: its
 * style and scripts are within it, allowed by their hashes; nothing else is.
 * Append the head, then the results with page_put_results() any number of
 * times, then the tail.
 */
void page_put_head(struct buf *);
void page_put_tail(struct buf *);
/*
 * One results file: begin with its name, add its JSON text in pieces that are
 * cut anywhere, end.
 */
void page_begin_results(struct buf *, struct str name);
void page_put_results(struct buf *, struct str json);
void page_end_results(struct buf *);

#endif

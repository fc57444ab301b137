/* SPDX-License-Identifier: ISC */
/*
 * web_page.h: web_page_.  The page for browsers.  Its sources are in page/;
 * page/embed turns them into build/web_files.c.
 */
#ifndef WAZA_WEB_PAGE_H
#define WAZA_WEB_PAGE_H

#include <stddef.h>

#include "base/base.h"

struct web;

struct web_page_file {
	const char *name;	/* "style.css" */
	const unsigned char *p;
	size_t n;
};

extern const struct web_page_file web_page_files[];	/* build/web_files.c */
extern const size_t web_page_nfiles;

/* Adds the routes GET / and GET /page/NAME. */
void web_page_add(struct web *);

#endif

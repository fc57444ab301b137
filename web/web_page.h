/* SPDX-License-Identifier: ISC */
/* web_page.h: web_page_.  Serves the page for browsers (report/page.h). */
#ifndef WAZA_WEB_PAGE_H
#define WAZA_WEB_PAGE_H

struct web;

/* Adds the routes GET / and GET /page/NAME. */
void web_page_add(struct web *);

#endif

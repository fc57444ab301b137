/* SPDX-License-Identifier: ISC */
/*
 * fetch_curl.h: fetch_.  What the parts of a fetch share: bytes of an answer
 * go in at fetch_feed(), wherever they are from.  Only for fetch*.c.
 */
#ifndef WAZA_FETCH_CURL_H
#define WAZA_FETCH_CURL_H

#include "io/fetch.h"

/* Each may be the end of the fetch, and has to be the caller's last act. */
void fetch_feed(struct fetch *, struct str, bool last);
void fetch_finish(struct fetch *, enum fetch_end);

/* Connects, by the addresses that are known or as the system finds them. */
void fetch_connect(struct fetch *, bool named);

/* fetch_name.c: whether a host need not be looked up, or was before. */
bool fetch_name_plain(struct str host);
bool fetch_name_known(const struct fetch *);
void fetch_name_forget(struct fetch *);
/* Then fetch_connect() or fetch_finish() follows; -1: it cannot be done. */
int fetch_name_start(struct fetch *);

int fetch_curl_start(struct fetch *);
void fetch_curl_end(struct fetch *);	/* removes what it left */

#endif

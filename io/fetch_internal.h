/* SPDX-License-Identifier: ISC */
/*
 * fetch_internal.h: fetch_.  Functions shared by fetch*.c only.
 */
#ifndef WAZA_FETCH_INTERNAL_H
#define WAZA_FETCH_INTERNAL_H

#include "io/fetch.h"

/*
 * Handles bytes of the response, from the socket or from curl; or ends the
 * fetch.  Both may call done(), so the caller must not use the fetch after.
 */
void fetch_feed(struct fetch *, struct str, bool last);
void fetch_finish(struct fetch *, enum fetch_end);

/* Connects, to the known addresses or to those that the system finds. */
void fetch_connect(struct fetch *, bool named);

/*
 * fetch_name.c: whether the host is an address or localhost; whether its
 * addresses are known; forgets them.
 */
bool fetch_name_plain(struct str host);
bool fetch_name_known(const struct fetch *);
void fetch_name_forget(struct fetch *);
/* Looks up the host, then connects or finishes; -1: cannot start. */
int fetch_name_start(struct fetch *);

/* fetch_curl.c: starts curl; -1 with .err on failure. */
int fetch_curl_start(struct fetch *);
void fetch_curl_end(struct fetch *);	/* removes its temporary file */

#endif

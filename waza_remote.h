/* SPDX-License-Identifier: ISC */
/*
 * waza_remote.h: waza_.  A pass of `waza run` that a server runs: it is asked
 * for by eval.run, told by its events, and reported from its results file.
 */
#ifndef WAZA_WAZA_REMOTE_H
#define WAZA_WAZA_REMOTE_H

#include <stdbool.h>

struct waza_job;
struct waza_remote;

/* -1: an option that a server cannot be told; the call's err names it. */
int waza_remote_check(struct waza_job *);

/* Begins to connect.  NULL: it has said what is wrong. */
struct waza_remote *waza_remote_open(struct waza_job *);
void waza_remote_close(struct waza_remote *);	/* NULL is harmless */

/*
 * One pass, with the model or, if it is NULL, the suite's; its results are
 * the job's then.  WAZA_BAD when it could not be run: the job's err says why,
 * or the server's words have been printed.
 */
int waza_remote_pass(struct waza_remote *, const char *model,
    const char *output);

void waza_remote_cancel(struct waza_remote *);	/* the run that goes on */
void waza_remote_hold(struct waza_remote *, bool);
bool waza_remote_ok(const struct waza_remote *);	/* all have passed */

#endif

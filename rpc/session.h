/* SPDX-License-Identifier: ISC */
/*
 * session.h: session_.  Sessions (seeds/003): an agent fixes incidents in a
 * directory, and is asked again in the same session.  waza-sessions(5) has
 * the methods.
 *
 * A fix is a run of one task, in the directory itself.  A session is what
 * outlives it: what was said so far, and the agent where that remembers.
 * One fix at a time goes on in a session.
 */
#ifndef WAZA_SESSION_H
#define WAZA_SESSION_H

#include <stdbool.h>

#include "base/base.h"

struct rpc;

enum { SESSION_TEMPLATE_MAX = 1 << 20 };	/* bytes */

/* What prompts are made of where nothing else is said. */
extern const char session_template[];

/* -1: the template cannot be rendered; e has the place. */
int session_check_template(struct arena *, struct str, struct err *);

/*
 * Reads those that were kept in sessions.persist_dir, which is made where it
 * is missing.  What cannot be read is told, and left where it is.
 */
int session_restore(struct rpc *, void (*tell)(void *arg, const char *),
    void *arg, struct err *);

/*
 * Fixes are cancelled and agents ended; no more are started.  Busy until all
 * of that is done; then fini.
 */
void session_stop(struct rpc *);
bool session_busy(const struct rpc *);
void session_fini(struct rpc *);

#endif

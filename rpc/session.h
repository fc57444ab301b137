/* SPDX-License-Identifier: ISC */
/*
 * session.h: session_.  Sessions (seeds/003): an agent fixes incidents in a
 * directory, and a later call can continue in the same session.  The methods
 * are documented in waza-sessions(5).
 *
 * A fix is a run of one task in the directory itself.  The session outlives
 * it: the conversation so far, and the agent if that keeps a memory of it.  At
 * most one fix runs in a session at a time.
 */
#ifndef WAZA_SESSION_H
#define WAZA_SESSION_H

#include "base/base.h"

struct rpc;

enum { SESSION_TEMPLATE_MAX = 1 << 20 };	/* bytes */

/* The default template of prompts. */
extern const char session_template[];

/* -1: the template cannot be rendered; *e has the place. */
int session_check_template(struct arena *, struct str, struct err *);

struct session_opts {
	struct str template;	/* of prompts; empty: session_template */
	void (*log)(void *arg, const char *message);	/* or NULL */
	void *arg;
};

/*
 * Registers the methods of sessions, after rpc_init(), and reads the sessions
 * that were saved in sessions.persist_dir, which is created if it is missing.
 * Unreadable files are logged and left alone.  -1: the directory cannot be
 * used.  rpc_fini() closes the sessions in any case.
 */
int session_open(struct rpc *, const struct session_opts *, struct err *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * run_mocks.h: run_mocks_.  The mocks of a prompt: their files and calls.
 */
#ifndef WAZA_RUN_MOCKS_H
#define WAZA_RUN_MOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct answer;
struct json;
struct run_ask;
struct spec_suite;

/* run_mocks.c: the calls of a trial's mocks. */
struct run_mocks {
	const struct json *calls;	/* a list; NULL: not read */
	int64_t stray;			/* bytes of calls of no trial, before */
	bool checked, added;
};

/* Whether the suite or a task of it has mocks of commands; looks at all. */
bool run_mocks_any(const struct spec_suite *);

/*
 * run_mocks.c.  place: makes the files of the mocks, once there is a workspace,
 * and sets req.mocks; 0, or -1 and *e.  check: after the last answer, reads
 * their calls; sets status and error if one had no response, or (numbers) if
 * their number is not the expected one.  add: adds them to the answer.
 * so_far: adds those so far to a copy of the answer, whose calls become its
 * own; 0, or -1 with status and error.  remove: removes the files.  All are
 * harmless without mocks.
 */
int run_mocks_place(struct run_ask *, struct err *);
void run_mocks_check(struct run_ask *, bool numbers);
void run_mocks_add(struct run_ask *);
int run_mocks_so_far(struct run_ask *, struct answer *);
/* run_mocks_play.c: lines of the answer's calls, by executor mock. */
struct str run_mocks_play(struct run_ask *, const struct json *commands,
    struct answer *);
/* Puts MCP servers into the workspace, for an agent that finds them there. */
int run_mcp_place(struct run_ask *, struct err *);
void run_mocks_remove(struct run_ask *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * cmd/run/control.h: cmd_.  Controls outside of a run, for commands that
 * examine suites: no agent is asked, no judge, and unless `programs` is set no
 * program and no hook of the suite is started.
 */
#ifndef WAZA_CMD_RUN_CONTROL_H
#define WAZA_CMD_RUN_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "io/proc.h"
#include "waza.h"

struct spec_notes;
struct spec_suite;

/* Set the first part and zero the rest. */
struct cmd_controls {
	struct cmd_call *call;
	bool programs;
	/* of all suites: tasks, those that are vacuous, others that accept a
	 * control, and those of which it is unknown */
	size_t tasks, vacuous, accepting, unknown;
	struct buf unknowns;		/* a line for each of the last suite */
	/* private */
	struct loop *loop;
	struct procs procs;
};

/* 0, or -1 with the call's err. */
int cmd_controls_open(struct cmd_controls *);
/*
 * Tries the control "null" and those of the suite, which has no errors.  Each
 * task that accepts one is noted as a warning.  0, or -1 with the call's err.
 */
int cmd_controls_try(struct cmd_controls *, const struct spec_suite *,
    struct spec_notes *);
/* A program has one loop at a time; the second call has no effect. */
void cmd_controls_close(struct cmd_controls *);

#endif

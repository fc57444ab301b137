/* SPDX-License-Identifier: ISC */
/*
 * control_internal.h: control_ run_.  What the files of run/control/ share, and
 * the controls of a run.
 */
#ifndef WAZA_CONTROL_INTERNAL_H
#define WAZA_CONTROL_INTERNAL_H

#include "run/control/control.h"

/* Adds a copy of the name to the list. */
void control_add_name(struct arena *, struct field_strs *, struct str name);

/* control_mutate.c: what the altered answers of the i-th task show. */
void control_collect_mutants(const struct control_run *, struct arena *,
    size_t i, struct control_finding *);

/*
 * run_control.c.  check: whether the suite's controls can be tried; 0, or -1
 * and *e.  start: tries them, and then the tests of tasks; done(run) follows
 * from the loop.  False: there are none.  cancel: done() follows.  drop: as
 * run_trial_drop().
 */
int run_controls_check(const struct run *, struct err *);
bool run_controls_start(struct run *, void (*done)(struct run *));
void run_controls_cancel(struct run *);
void run_controls_drop(struct run *);

#endif

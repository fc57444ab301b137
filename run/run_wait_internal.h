/* SPDX-License-Identifier: ISC */
/*
 * run_wait_internal.h: run_.  Waits of runs for descriptors and processes.
 */
#ifndef WAZA_RUN_WAIT_INTERNAL_H
#define WAZA_RUN_WAIT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "io/proc.h"

struct run;
struct spec_task;

/*
 * Waiting for descriptors or processes that other children will release; zero
 * it.  run_must_wait(): a child could not be started because of a shortage,
 * and `shortages` was the number before.  True: fn(arg) will be called, to try
 * again.  False: the error has another reason, or the wait has taken longer
 * than the time limit of the task (NULL: the suite's).  run_waited(): the
 * milliseconds of the wait that fn ends.
 */
struct run_wait {
	struct procs_wait room;
	int64_t since, began;		/* of all waits, of this one */
};
bool run_must_wait(struct run *, struct run_wait *, uint64_t shortages,
    const struct spec_task *, void (*fn)(void *), void *arg);
int64_t run_waited(const struct run *, const struct run_wait *);

#endif

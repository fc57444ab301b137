/* SPDX-License-Identifier: ISC */
/*
 * cmd/gate.h: cmd_.  Parts of `waza gate`, whose command is in compare.c.
 */
#ifndef WAZA_CMD_GATE_H
#define WAZA_CMD_GATE_H

#include <stdint.h>

#include "base/base.h"

struct compare_gate;
struct outcome;

/*
 * gate_update.c: writes the current results to path if they are evidence for
 * another baseline: each task has at least `min` trials with a verdict, and
 * the gate (NULL: there is no baseline yet) has passed.  Sets `update` and
 * `updated` of the gate.  -1 and *e: too little evidence, or it could not be
 * written.
 */
int cmd_gate_update(struct arena *, const struct outcome *now,
    const char *path, int64_t min, struct compare_gate *, struct err *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * on_internal.h: on_.  What the parts of `waza run --on` share.
 */
#ifndef WAZA_CMD_ON_INTERNAL_H
#define WAZA_CMD_ON_INTERNAL_H

#include "cmd/scale/on.h"

struct cmd_unit;

/*
 * on_dir.c.  open: finds the directory of an earlier call (--resume) or makes
 * a new one, locks it, writes plan and file, and marks complete shards; -1
 * with the call's err.  place: only names a new one.  refresh: lets a network
 * file system show files that others have made, at most once a second.  close:
 * unlocks it, and removes it if it is spent.
 */
int on_dir_open(struct on *);
int on_dir_place(struct on *);
void on_dir_refresh(struct on *);
void on_dir_close(struct on *);

/* The results file of a unit in that of a shard. */
const char *on_unit_output(const struct on *, const struct cmd_unit *,
    const char *output);
/* Looks whether the shard is complete. */
bool on_is_complete(const struct on *, const struct on_shard *);

/*
 * on_follow.c.  start: reads what earlier calls have left, and emits the first
 * events.  read: reads the journals for a slice of time; true if there is more
 * to read.  shard: reads the rest of one that has ended.  end: emits the last
 * events, with the merged results of units.  close: frees everything.
 */
void on_follow_start(struct on *);
bool on_follow_read(struct on *);
void on_follow_shard(struct on *, const struct on_shard *);
void on_follow_end(struct on *);
void on_follow_close(struct on *);
/* The trials that are known to have ended, and all of them. */
size_t on_follow_done(const struct on *, size_t *all);

/* on_collect.c: merges the shards into the units; an exit status. */
int on_collect(struct on *);

#endif

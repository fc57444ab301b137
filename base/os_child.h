/* SPDX-License-Identifier: ISC */
/*
 * os_child.h: os_.  Children, adopted ones included, and other processes.
 */
#ifndef WAZA_OS_CHILD_H
#define WAZA_OS_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/base.h"

/*
 * Makes this process the parent of orphaned descendants, so that it can find
 * and terminate them.  False if the system cannot do this: only Linux with
 * /proc can.
 */
bool os_subreaper(bool on);

/* In a child: sends it SIGTERM when its parent dies (Linux only). */
void os_follow(void);

/*
 * A child that has terminated, without reaping it; 0 if there is none.  -1 if
 * this process has no children (ECHILD) or the system cannot do this.
 */
pid_t os_peek_child(void);

/*
 * Stores our children, including terminated ones, in the arena and returns
 * their number, or -1 if the system cannot list them.
 */
ssize_t os_children(struct arena *, pid_t **);

/*
 * The value of a variable in the initial environment of a process.  False if
 * it is not set or not readable (another user's process, or not Linux).
 */
bool os_env_of(struct arena *, pid_t, const char *name, struct str *value);

/*
 * Sends the signal to all processes, except this one, whose initial environment
 * has NAME=value with a value that starts with the prefix; their descendants
 * without it get SIGKILL.  Returns how many there were; 0 also if the system
 * cannot list processes (only Linux can).
 */
size_t os_kill_marked(const char *name, struct str prefix, int signo);

#endif

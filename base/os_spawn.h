/* SPDX-License-Identifier: ISC */
/*
 * os_spawn.h: os_.  Starts child processes and builds their environment.
 */
#ifndef WAZA_OS_SPAWN_H
#define WAZA_OS_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct err;

enum {
	OS_FD_NULL = -1,	/* the child gets /dev/null */
	OS_FD_KEEP = -2		/* the child gets ours, or /dev/null if ours
				 * was closed (os_init) */
};

struct os_spawn {
	const char *const *argv;	/* ends with NULL; [0] is the program */
	const char *const *env;		/* "K=V", ends with NULL; NULL: ours */
	const char *cwd;		/* NULL: ours */
	int fd[3];			/* its 0, 1, 2; they stay open here */
	bool group;			/* leads a process group of its own */
	uint64_t nofile;		/* soft limit on descriptors; 0: ours */
};

/*
 * Starts the program and returns its pid.  If it cannot be started, no child
 * exists: returns -1, e->sys is the errno, and the message names the program
 * or directory.
 *
 * A name without a slash is searched for in the PATH of its environment (or
 * ours, if that has none), relative to our working directory; a name with a
 * slash is relative to cwd.  /bin/sh runs a file that the system does not
 * recognize as a program, as execvp does.
 *
 * The child has default signal actions and no blocked signals.  It inherits
 * the three descriptors and all that are not close-on-exec.
 *
 * Blocks until the program is loaded; a dead network disk can delay that.
 */
pid_t os_spawn(const struct os_spawn *, struct err *);

/*
 * Our environment with n changes: "K=V" sets, "K" removes; the last change of
 * a name takes precedence.  Returns an array in the arena that ends with NULL
 * and borrows the strings: first the changes, then ours in their order.
 */
const char **os_env(struct arena *, const char *const *set, size_t n);
/* The same for another environment than ours. */
const char **os_env_change(struct arena *, const char *const *env,
    const char *const *set, size_t n);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * os_spawn.h: os_.  Starting a child process, and the environment it gets.
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
	OS_FD_KEEP = -2		/* the child gets ours; where that is closed or
				 * of no use (os_init), /dev/null */
};

struct os_spawn {
	const char *const *argv;	/* ends with NULL; [0] is looked for */
	const char *const *env;		/* "K=V", ends with NULL; NULL: ours */
	const char *cwd;		/* NULL: ours */
	int fd[3];			/* to be its 0, 1, 2; stay open here */
	bool group;			/* leads a process group of its own */
	uint64_t nofile;		/* soft limit on descriptors; 0: ours */
};

/*
 * Starts the program and returns its pid, or -1 when it could not be started:
 * then there is no child, e->sys is the errno and the message says what could
 * not be run or entered.
 *
 * A name without a slash is looked for in the PATH of its environment (ours,
 * when that has none), directories of which count from our working directory;
 * one with a slash counts from cwd.  A file that the system does not take for
 * a program is given to /bin/sh, as execvp does.
 *
 * The child has default signal actions, none of them blocked, the three
 * descriptors and whatever else here is not close-on-exec.
 *
 * Blocks until the program is loaded, which is long on a dead network disk.
 */
pid_t os_spawn(const struct os_spawn *, struct err *);

/*
 * Our environment changed by n settings: "K=V" sets, "K" removes; the last
 * setting of a name holds.  The strings are borrowed, the array is the
 * arena's.  The settings come first, then ours in their order.
 */
const char **os_env(struct arena *, const char *const *set, size_t n);

#endif

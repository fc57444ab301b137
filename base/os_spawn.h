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
struct os_bounds;

enum {
	OS_FD_NULL = -1,	/* the child gets /dev/null */
	OS_FD_KEEP = -2		/* the child gets ours, or /dev/null if ours
				 * was closed (os_init) */
};

/* Limits of a child where the system has them; 0: as ours. */
struct os_limits {
	uint64_t nofile;	/* descriptors; the child may raise it again */
	uint64_t memory;	/* bytes of its address space */
	uint64_t data;		/* bytes that it can write; for programs that
				 * reserve more than they use (Linux) */
	uint64_t cpu_seconds;	/* then SIGXCPU ends it */
};

/* What earlier children of this process have shown.  Zero it first. */
struct os_spawn_memo {
	uint64_t altered;	/* signals whose action is not the default */
	bool shares;		/* a starting child shares our memory */
};

struct os_spawn {
	const char *const *argv;	/* ends with NULL; [0] is the program */
	void (*fn)(void *arg);		/* instead: a copy of this process calls
					 * it and exits with status 0 */
	void *arg;
	const char *const *env;		/* "K=V", ends with NULL; NULL: ours */
	const char *cwd;		/* NULL: ours */
	int fd[3];			/* its 0, 1, 2; they stay open here */
	bool group;			/* leads a process group of its own */
	bool outlives;			/* keeps running when we end */
	const struct os_bounds *bounds;	/* of its confinement, see
					 * os_confine.h; NULL: it has none */
	struct os_limits limits;
	struct os_spawn_memo *memo;	/* makes further children cheaper; NULL:
					 * none */
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
 * the three descriptors and all that are not close-on-exec; a copy of this
 * process inherits only the three, and writes none of our buffered output.
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
/*
 * Removes a variable and overwrites its value in place: the system shows the
 * initial environment of a process to its children (/proc/PID/environ).
 */
void os_env_erase(const char *name);
/* The value of a variable in an environment; NULL: it is not set. */
const char *os_env_value(const char *const *env, const char *name);
/* The same as os_env() for another environment than ours. */
const char **os_env_change(struct arena *, const char *const *env,
    const char *const *set, size_t n);

#endif

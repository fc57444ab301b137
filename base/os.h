/* SPDX-License-Identifier: ISC */
/*
 * os.h: os_.  Operations that differ between systems: clocks, random bytes,
 * files and descriptors, limits.  os_spawn.h starts children, os_net.h makes
 * sockets, os_path.h resolves paths.  Nothing here keeps state.
 *
 * Every descriptor made here is close-on-exec.
 */
#ifndef WAZA_OS_H
#define WAZA_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"

/*
 * Call once, first thing in main.  Ignores SIGPIPE and SIGXFSZ, so that a
 * failed write returns an error.  Marks inherited descriptors above 2
 * close-on-exec, so that children do not inherit them.  Opens those of 0-2
 * that are closed, in the direction that fails with EBADF when used, so that
 * no later open gets their numbers.
 */
int os_init(struct err *);

int64_t os_now_ms(void);	/* monotonic: for intervals and deadlines */
int64_t os_now_ns(void);	/* the same clock, for measuring */
int64_t os_wall_ns(void);	/* since 1970-01-01T00:00:00Z */

int os_random(void *p, size_t n, struct err *);	/* for keys and tokens */

/*
 * read(2) and write(2) that continue after EINTR but not after EAGAIN.  Built
 * with -DOS_SHORT they transfer one byte at a time and sometimes fail with
 * EINTR and, on non-blocking descriptors, with EAGAIN.
 */
ssize_t os_read(int fd, void *p, size_t n);
ssize_t os_write(int fd, const void *p, size_t n);

/*
 * Creates a file with mode 0600, or overwrites an existing one in place and
 * then truncates it: some filesystems flush a file that was truncated first.
 */
int os_write_file(const char *path, struct str, struct err *);

/* Writes all bytes; waits while a non-blocking descriptor is not ready. */
int os_write_all(int fd, struct str, struct err *);

/*
 * Each reads a whole file, or the rest of a descriptor, into the arena,
 * followed by a NUL that is not counted.  More than max bytes is ERR_LIMIT.
 * Messages start with the path (os_read_fd: with name).  Pipes and devices
 * can be read, directories cannot; os_read_plain() refuses all but regular
 * files, so that it never waits for a writer.
 */
int os_read_file(struct arena *, const char *path, size_t max, struct str *,
    struct err *);
int os_read_fd(struct arena *, int fd, const char *name, size_t max,
    struct str *, struct err *);
int os_read_plain(struct arena *, const char *path, size_t max, struct str *,
    struct err *);

enum { OS_NONBLOCK_READ = 1, OS_NONBLOCK_WRITE = 2 };

/* fd[0] reads from fd[1]; flags name the ends that are non-blocking. */
int os_pipe(int fd[2], int flags, struct err *);

/* 0, or -1 with errno.  Never make 0-2 non-blocking: our parent shares them. */
int os_nonblock(int fd);
int os_cloexec(int fd);
void os_close(int *fd);		/* sets it to -1; does nothing to -1 */

enum { OS_QUIET_MAX = 64 };

/*
 * A set of descriptors that are rarely ready.  The set is a descriptor that
 * polls readable when one of its members is readable or hung up; its cost
 * does not depend on its size.  new and add return -1 if the system has no
 * such sets (only Linux has), or if the set cannot hold that descriptor.
 * ready stores the tags of readable members and returns their number.
 */
int os_quiet_new(void);
int os_quiet_add(int set, int fd, void *tag);
void os_quiet_del(int set, int fd);
size_t os_quiet_ready(int set, void *tag[OS_QUIET_MAX]);

/* Returns freed memory to the system, where malloc keeps it. */
void os_trim(void);

/*
 * The soft limit on open descriptors.  raise lifts it to the hard limit and
 * returns the old value, or 0 if it failed; set restores it (0: no effect).
 */
uint64_t os_nofile_raise(void);
void os_nofile_set(uint64_t soft);

/*
 * Makes this process the parent of orphaned descendants, so that it can find
 * and terminate them.  False if the system cannot do this (only Linux can).
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

#endif

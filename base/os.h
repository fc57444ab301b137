/* SPDX-License-Identifier: ISC */
/*
 * os.h: os_.  Operations that differ between systems: clocks, random bytes,
 * files and descriptors, limits.  os_spawn.h starts children, os_child.h finds
 * them, os_net.h makes sockets, os_path.h resolves paths.  Nothing here keeps
 * state.
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

/* The first bytes of a file, at most n; the offset stays.  -1: see errno. */
ssize_t os_read_head(int fd, void *p, size_t n);

/*
 * Creates a file with mode 0600, or overwrites an existing one in place and
 * then truncates it: some filesystems flush a file that was truncated first.
 */
int os_write_file(const char *path, struct str, struct err *);

/*
 * Replaces a file as a whole: readers see the old or the new content.  The new
 * file has mode 0600, or the given one; missing directories are created with
 * mode 0700.
 */
int os_replace_file(const char *path, struct str, struct err *);
int os_replace_file_mode(const char *path, struct str, unsigned mode,
    struct err *);

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

/*
 * Locks a file that is open for writing against other processes, without
 * waiting.  0, or -1 with errno: EAGAIN or EACCES if another one has the lock.
 * Linux and macOS release it when this descriptor is closed, other systems
 * when any descriptor of the file is.
 */
int os_lock(int fd);

/*
 * Looks at a pipe or unix stream socket that we write to: *unread is 0 if its
 * reader has read everything; *fits is then how many bytes a write takes
 * without blocking.  False: fd is something else, or the system cannot tell
 * (only Linux can).
 */
bool os_unread(int fd, size_t *unread, size_t *fits);

/* Returns freed memory to the system, where malloc keeps it. */
void os_trim(void);

/*
 * The soft limit on open descriptors.  raise lifts it to the hard limit and
 * returns the old value, or 0 if it failed; set restores it (0: no effect).
 */
uint64_t os_nofile_raise(void);
void os_nofile_set(uint64_t soft);

/*
 * Long uses of descriptors leave a reserve for short ones (reading a file,
 * starting a child): an eighth of the limit, at most 32.  fd_short: whether a
 * descriptor that was just opened lies within so many reserves, since the
 * system assigns the lowest free number; true for -1.  fds_free: about how
 * many more can be opened before that; after 0, errno is the reason.
 */
bool os_fd_short(int fd, unsigned reserves);
size_t os_fds_free(unsigned reserves);

/* The number of processors in use, at least 1. */
size_t os_processors(void);

/* Whether an errno means that descriptors, processes or memory ran out. */
bool os_is_shortage(int sys);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * os.h: os_.  What differs between systems: clocks, random bytes, files and
 * descriptors, limits, confinement.  Children are in os_spawn.h, sockets in
 * os_net.h.  Nothing here keeps state.
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
 * Once, first thing in main: ignores SIGPIPE and SIGXFSZ (a failed write
 * says why), and marks what was inherited beyond 0-2 close-on-exec, so that
 * our children get their own three descriptors and no other.  Those of 0-2
 * that are closed are opened the wrong way round: their numbers are taken,
 * and who reads or writes them gets EBADF as before.
 */
int os_init(struct err *);

int64_t os_now_ms(void);	/* monotonic: for intervals and deadlines */
int64_t os_now_ns(void);	/* the same clock, for measuring */
int64_t os_wall_ns(void);	/* since 1970-01-01T00:00:00Z */
int64_t os_cpu_ns(void);	/* used by this process so far */
unsigned os_cpus(void);		/* online, at least 1 */

int os_random(void *p, size_t n, struct err *);	/* fit for keys and tokens */

/*
 * read(2) and write(2) that go on after EINTR; EAGAIN is the caller's.
 * Built with -DOS_SHORT they move one byte at a time and interrupt and refuse
 * now and then (they refuse only descriptors that are non-blocking).
 */
ssize_t os_read(int fd, void *p, size_t n);
ssize_t os_write(int fd, const void *p, size_t n);

/*
 * A new file, mode 0600, or an old one's new content: written over it, which
 * is much faster than anew on filesystems that fear for truncated files.
 */
int os_write_file(const char *path, struct str, struct err *);

/* All of it, waiting where the descriptor would block. */
int os_write_all(int fd, struct str, struct err *);

/*
 * A whole file, or all that a descriptor still gives, in the arena, with a
 * NUL behind it that is not counted.  More than max bytes is ERR_LIMIT.
 * Messages start with the path (for os_read_fd: the name given).  Pipes and
 * devices can be read; directories are refused in so many words.
 */
int os_read_file(struct arena *, const char *path, size_t max, struct str *,
    struct err *);
int os_read_fd(struct arena *, int fd, const char *name, size_t max,
    struct str *, struct err *);
/* The same of plain files only, so that it never waits for a writer. */
int os_read_plain(struct arena *, const char *path, size_t max, struct str *,
    struct err *);

enum { OS_NONBLOCK_READ = 1, OS_NONBLOCK_WRITE = 2 };

/* fd[0] reads what fd[1] writes; the ends named in flags do not block. */
int os_pipe(int fd[2], int flags, struct err *);

/* Not for 0-2: that flag is shared with whoever started us. */
int os_nonblock(int fd);
int os_cloexec(int fd);
void os_close(int *fd);		/* and sets it to -1; -1 is harmless */

/*
 * A set of descriptors that are seldom ready, itself a descriptor that polls
 * readable when one of them is (or has hung up): it costs the same whether
 * it holds ten or ten thousand.  new and add return -1 where the system has
 * no such thing (only Linux is served), or cannot hold that descriptor.
 * ready tells the tags of those that are readable, at most OS_QUIET_MAX.
 */
enum { OS_QUIET_MAX = 64 };

int os_quiet_new(void);
int os_quiet_add(int set, int fd, void *tag);
void os_quiet_del(int set, int fd);
size_t os_quiet_ready(int set, void *tag[OS_QUIET_MAX]);

/* Gives freed memory back to the system, where that takes asking. */
void os_trim(void);

/* How many descriptors we have open, or -1 where it cannot be told. */
int os_fd_count(void);

/*
 * The soft limit on open descriptors.  Raising lifts it to the hard one, and
 * returns what it was; set puts that back.  0 means unknown, and sets nothing.
 */
uint64_t os_nofile_raise(void);
void os_nofile_set(uint64_t soft);

/*
 * Makes us the parent of orphaned descendants, so that they can be found and
 * ended.  False where the system has no such thing (only Linux has).
 */
bool os_subreaper(bool on);

/* In a child: it is asked to end when we do, even by kill -9 (only Linux). */
void os_follow(void);

/*
 * A child of ours that has ended and waits to be reaped, which it stays; 0
 * when none has; -1 when we have no children (ECHILD), or the system cannot
 * tell without reaping.
 */
pid_t os_peek_child(void);

/*
 * Our children, the ended ones included, into the arena.  The count, or -1
 * where the system cannot tell.
 */
ssize_t os_children(struct arena *, pid_t **);

/*
 * The value that a process had in its environment when it began; false when
 * there is none or it cannot be read (another user's, or not Linux).
 */
bool os_env_of(struct arena *, pid_t, const char *name, struct str *value);

/* What the program still has to do, from narrow to wide. */
enum os_phase {
	OS_PHASE_CHECK,		/* read files, write to what is open */
	OS_PHASE_SERVE,		/* and sockets, files, children */
	OS_PHASE_RUN		/* and children, files, name lookup */
};

/* Gives up what the phase does not need.  No effect but on OpenBSD. */
int os_sandbox(enum os_phase, struct err *);

#endif

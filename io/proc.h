/* SPDX-License-Identifier: ISC */
/*
 * proc.h: proc_ procs_.  A child process with its three pipes on the loop,
 * and the set of all such children.
 *
 * A struct proc lives inside its owner and must not move while it runs.  It
 * completes exactly once, with done(), when the child has been reaped and its
 * output has ended, or 500 ms after reaping if another process keeps the
 * output open.  The rest of its process group is killed then.
 *
 * A callback may start, cancel and fini any proc and free any owner, its own
 * included.
 */
#ifndef WAZA_PROC_H
#define WAZA_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/os_spawn.h"
#include "io/loop.h"

enum {
	PROC_OUT_MAX = 10 << 20,	/* bytes kept of stdout, of stderr */
	PROC_IN_MAX = 64 << 20,		/* bytes queued by proc_write */
	PROC_GRACE_MS = 2000,		/* from SIGTERM to SIGKILL */
	PROC_LINGER_MS = 500		/* from reaping to giving up on pipes
					 * that are empty */
};

/*
 * The children of a loop.  With `adopts`, where the system supports it
 * (Linux), descendants that left their process group and outlived their parent
 * are killed too: those with the child's WAZA_PROC in the environment within
 * 100 ms of its completion, the others when no child runs any more.
 */
struct procs {
	struct loop *loop;
	struct proc *head;		/* running children */
	size_t running;
	size_t sockets;			/* of requests: see fetch.h */
	bool adopts;
	uint64_t shortages;		/* see struct procs_wait */
	struct offload *offloads;	/* see offload.h: those that wait, */
	size_t noffloads;		/* and how many run */
	struct procs_wait *waiting;	/* the rest is private */
	struct timer room;
	uint64_t seq;
	int64_t swept;
	unsigned rounds;
	struct timer sweep;
	struct os_spawn_memo memo;
	pid_t guard_pid;		/* of the guardian, or 0 */
	int guard_fd;
};

/* The variable that marks children of a set with `adopts`. */
#define PROC_MARK "WAZA_PROC"

/*
 * proc_guard.c.  Starts the guardian of a set with `adopts`, unless it runs:
 * when this process dies, it terminates all marked processes.  The first child
 * starts it, too.  A failure has no effect but its absence.  end: ends it;
 * procs_fini() calls it.
 */
void procs_guard(struct procs *);
void procs_guard_end(struct procs *);

/* Prepares the set; cancels all running children; proc_fini for each. */
void procs_init(struct procs *, struct loop *, bool adopt);
void procs_cancel(struct procs *);
void procs_fini(struct procs *);

/*
 * A child or a request can fail to start because the system has no descriptor
 * or process left, while others of the set run and will release some: then
 * `shortages` has grown.  procs_wait() calls fn(arg) once, from the loop, when
 * one of them has ended, at the latest after a second; then the start can be
 * tried again.  The struct lives inside its owner; stopping an idle wait has
 * no effect.
 */
struct procs_wait {
	void (*fn)(void *arg);
	void *arg;
	struct procs_wait *next, **prev;	/* private */
};
void procs_wait(struct procs *, struct procs_wait *);
void procs_wait_stop(struct procs_wait *);
/* Calls all waiting owners in the next turn. */
void procs_wake(struct procs *);
/*
 * Whether others of the set hold descriptors that they will release; whether a
 * start that failed with this errno can therefore succeed later, which counts
 * as a shortage.
 */
bool procs_busy(const struct procs *);
bool procs_shortage(struct procs *, int sys);

struct proc_opts {
	const char *const *argv, *const *env;	/* as in os_spawn.h */
	const char *cwd;		/* NULL: ours */
	/*
	 * Instead of argv: a copy of this process computes its output from
	 * arg, which must not use the loop.
	 */
	void (*work)(void *arg, struct buf *out);
	struct os_limits limits;	/* without nofile, which is ours */
	const struct os_bounds *bounds;	/* as in os_spawn.h */
	struct str in;			/* its stdin; borrowed until done */
	bool in_open;			/* proc_write will add to it */
	bool err_joins;			/* stderr goes to stdout */
	size_t out_max, err_max;	/* bytes kept; 0: PROC_OUT_MAX */
	bool stop_at_max;		/* terminate it if it writes more */
	int64_t timeout_ms;		/* 0: none */
	int64_t grace_ms;		/* 0: PROC_GRACE_MS */
	void (*on_out)(void *arg, struct str);	/* gets output at once; */
	void (*on_err)(void *arg, struct str);	/* NULL: it is kept */
	void (*on_out_end)(void *arg);	/* it closed stdout and runs on */
	void (*done)(void *arg);		/* read .res, .out, .err */
	void *arg;
};

struct proc_result {
	int wstatus;			/* as from waitpid; -1 unknown */
	int status;			/* exit status, -1 when killed */
	int signo;			/* the signal that killed it, or 0 */
	int exec_errno;			/* why proc_start failed, or 0; */
	bool shortage;			/* counted in procs.shortages */
	bool timed_out, cancelled;	/* we terminated it */
	bool truncated;			/* it wrote more than is kept */
	bool left_open;			/* another process held the output */
	int64_t duration_ms;		/* until it was reaped */
};

/* An output stream: its first max bytes and the number of all bytes. */
struct proc_pipe {
	struct buf buf;			/* the owner may take it in done() */
	uint64_t total;
	size_t max;			/* the rest is private */
	uint64_t at_end;		/* bytes read when it was reaped */
	void (*fn)(void *arg, struct str);
	struct fd_watch w;
	struct proc *proc;
};

/*
 * The last bytes of a stream of any length.  proc_tail_get returns a copy that
 * begins at a line or a word, so that no part of a secret escapes redaction,
 * and lacks trailing line ends.
 */
enum { PROC_TAIL = 4096 };
struct proc_tail {
	char text[PROC_TAIL];
	size_t n;
};
void proc_tail_add(struct proc_tail *, struct str);
struct str proc_tail_get(struct arena *, const struct proc_tail *);

enum proc_phase {
	PROC_IDLE,			/* not started, or completed */
	PROC_RUNNING,
	PROC_ENDING,			/* got SIGTERM */
	PROC_KILLED,			/* got SIGKILL */
	PROC_LINGERING			/* reaped, output still open */
};

struct proc {
	struct proc_result res;
	struct proc_pipe out, err;
	pid_t pid;			/* and process group; 0 once reaped */
	enum proc_phase phase;
	struct procs *set;		/* the rest is private */
	struct proc *next, **prev;
	struct child child;
	struct timer timer;
	int64_t started, grace_ms;
	uint64_t id;
	pid_t group;
	bool stop_at_max;
	void (*out_end)(void *arg);
	void (*done)(void *arg);
	void *arg;
	struct fd_watch in_w;
	struct str in;			/* borrowed; written before inq */
	struct buf inq;			/* queued by proc_write */
	size_t inq_off;
	bool in_open;
};

/*
 * Starts a child in its own process group.  The proc must be zero, completed
 * or finished with proc_fini.  argv, env and cwd are not needed after the
 * call.  On -1 nothing runs and done() is not called; e->sys and
 * .res.exec_errno are the errno (ENOENT, EACCES, ...).  While others run, a
 * child does not take the last descriptors (os_fd_short): EMFILE.
 */
int proc_start(struct procs *, struct proc *, const struct proc_opts *,
    struct err *);

/*
 * Queues a copy for its stdin (with in_open).  -1 if stdin is closed or more
 * than PROC_IN_MAX bytes would wait.  It is not an error if the child closes
 * its stdin or exits without reading all input: the rest is dropped.
 */
int proc_write(struct proc *, struct str);
void proc_close_in(struct proc *);	/* once the queue is written */

/*
 * SIGTERM to the process group, SIGKILL after the grace; done() follows with
 * .res.cancelled.  No effect on a proc that is ending or idle.
 */
void proc_cancel(struct proc *);

/*
 * Frees the kept output.  A running child is killed at once and reaped later
 * by the loop (at the latest in loop_free); done() is not called.  Harmless on
 * a zero or idle proc, and twice.
 */
void proc_fini(struct proc *);

#endif

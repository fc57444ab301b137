/* SPDX-License-Identifier: ISC */
/*
 * proc.h: proc_ procs_.  A child process with its three pipes on the loop,
 * and the set of all such children.
 *
 * A struct proc lives inside its owner and may not move while it runs.  It
 * completes exactly once, by a call of done(), when the child has been reaped
 * and its output is at its end, or 500 ms after reaping when something else
 * keeps the output open.  What is left of its process group is killed then.
 *
 * A callback may start, cancel and fini any proc and free its owner, its own
 * included.
 */
#ifndef WAZA_PROC_H
#define WAZA_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/base.h"
#include "io/loop.h"

enum {
	PROC_OUT_MAX = 10 << 20,	/* kept of each of stdout and stderr */
	PROC_IN_MAX = 64 << 20,		/* waiting in proc_write */
	PROC_GRACE_MS = 2000,		/* from SIGTERM to SIGKILL */
	PROC_LINGER_MS = 500		/* from reaping to giving up on pipes */
};

/*
 * The children of a loop.  When adopting, and where the system can (Linux),
 * descendants that left their process group and outlived their parent are
 * killed too: those that still have the child's WAZA_PROC in the environment
 * within 100 ms of its completion, the others when no child runs any more.
 */
struct procs {
	struct loop *loop;
	struct proc *head;		/* those that run */
	size_t running;
	bool adopts;
	uint64_t seq;			/* the rest is private */
	int64_t swept;
	unsigned rounds;
	struct timer sweep;
};

void procs_init(struct procs *, struct loop *, bool adopt);
void procs_cancel(struct procs *);	/* all that run now */
void procs_fini(struct procs *);	/* as proc_fini on each */

struct proc_opts {
	const char *const *argv, *const *env;	/* as in os_spawn.h */
	const char *cwd;		/* NULL: ours */
	struct str in;			/* its stdin; borrowed until done */
	bool in_open;			/* proc_write will add to it */
	bool err_joins;			/* stderr goes where stdout goes */
	size_t out_max, err_max;	/* bytes kept; 0: PROC_OUT_MAX */
	bool stop_at_max;		/* end the child that writes more */
	int64_t timeout_ms;		/* 0: none */
	int64_t grace_ms;		/* 0: PROC_GRACE_MS */
	void (*on_out)(void *arg, struct str);	/* gets what comes; else */
	void (*on_err)(void *arg, struct str);	/* it is kept, see below */
	void (*done)(void *arg);		/* read .res, .out, .err */
	void *arg;
};

struct proc_result {
	int wstatus;			/* as from waitpid; -1 unknown */
	int status;			/* exit status, -1 when killed */
	int signo;			/* what killed it, or 0 */
	int exec_errno;			/* why proc_start failed, or 0 */
	bool timed_out, cancelled;	/* we ended it */
	bool truncated;			/* wrote more than is kept */
	bool left_open;			/* something else held the output */
	int64_t duration_ms;		/* until it was reaped */
};

/* A stream that we read: the first max bytes, and how many there were. */
struct proc_pipe {
	struct buf buf;			/* the owner may take it in done() */
	uint64_t total;
	size_t max;			/* the rest is private */
	void (*fn)(void *arg, struct str);
	struct fd_watch w;
	struct proc *proc;
};

/*
 * The last bytes of a stream that may have no end.  proc_tail_get gives them
 * from the beginning of a line, or a word, lest half a secret is left, and
 * without the ends of lines behind them.
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
	PROC_ENDING,			/* had SIGTERM */
	PROC_KILLED,			/* had SIGKILL */
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
	void (*done)(void *arg);
	void *arg;
	struct fd_watch in_w;
	struct str in;			/* borrowed, before inq */
	struct buf inq;
	size_t inq_off;
	bool in_open;
};

/*
 * Starts a child in a process group of its own.  The proc is zero, or has
 * completed, or has seen proc_fini.  argv, env and cwd are not needed after
 * the call.  On -1 nothing runs and done() will not be called: e->sys and
 * .res.exec_errno are the errno (ENOENT, EACCES, ...).
 */
int proc_start(struct procs *, struct proc *, const struct proc_opts *,
    struct err *);

/*
 * More for its stdin (in_open only), copied.  -1 when that is closed or has
 * PROC_IN_MAX bytes waiting.  A child that closes its stdin or ends without
 * reading it all is no error: what is left is dropped.
 */
int proc_write(struct proc *, struct str);
void proc_close_in(struct proc *);	/* after what is waiting */

/*
 * SIGTERM to the process group, SIGKILL after the grace; done() follows with
 * .res.cancelled.  No effect on a proc that is being ended or is idle.
 */
void proc_cancel(struct proc *);

/*
 * Frees what was kept.  A child that still runs is killed at once, reaped
 * later by the loop (at the latest by loop_free), and done() is not called.
 * Harmless on a zero or idle proc, and twice.
 */
void proc_fini(struct proc *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * The guardian of a set of children: a copy of this process that outlives it.
 *
 * While waza lives, it adopts and kills what its children leave behind.  When
 * it is killed, the system terminates only its direct children; a program that
 * an agent started in a session of its own, as Claude does with its shells,
 * would continue.  The guardian holds the read end of a pipe.  At its end
 * without a byte, waza has died: the guardian finds all processes with our mark
 * in their environment, and their descendants, and terminates them.
 *
 * It has its own session, so that a signal to our process group or from the
 * terminal does not end it, too.  A program that clears its environment and
 * whose parent has already ended escapes it.
 */
#include "io/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_child.h"

enum {
	GRACE_MS = 500,			/* from SIGTERM to SIGKILL */
	AGAIN_MS = 50,			/* between two searches, */
	ROUNDS = 100,			/* and how many: some do not die */
	QUIET_ROUNDS = 3		/* without a find: all are gone */
};

/* Runs in the copy; its stdin is the pipe. */
static void
guard(void *arg)
{
	static const int ignored[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	struct sigaction sa = { .sa_handler = SIG_IGN };
	unsigned round, quiet = 0;
	char mark[32], byte;
	size_t i;

	for (i = 0; i < COUNTOF(ignored); i++)
		sigaction(ignored[i], &sa, NULL);
	setsid();
	(void)!chdir("/");
	snprintf(mark, sizeof(mark), "%ld.", *(long *)arg);
	if (os_read(0, &byte, 1) != 0)
		return;			/* waza has ended in order */
	if (os_kill_marked(PROC_MARK, str_of(mark), SIGTERM) > 0)
		poll(NULL, 0, GRACE_MS);
	for (round = 0; round < ROUNDS && quiet < QUIET_ROUNDS; round++) {
		quiet = os_kill_marked(PROC_MARK, str_of(mark), SIGKILL) > 0 ?
		    0 : quiet + 1;
		poll(NULL, 0, AGAIN_MS);
	}
}

void
procs_guard(struct procs *ps)
{
	long self = (long)getpid();
	struct os_spawn s = { .fn = guard, .arg = &self,
		.fd = { OS_FD_NULL, OS_FD_NULL, OS_FD_NULL } };
	int fd[2];
	struct err e;

	if (!ps->adopts || ps->guard_pid != 0 || os_pipe(fd, 0, &e) == -1)
		return;
	s.fd[0] = fd[0];
	ps->guard_pid = os_spawn(&s, &e);
	os_close(&fd[0]);
	if (ps->guard_pid == -1) {
		ps->guard_pid = 0;
		os_close(&fd[1]);
		return;
	}
	ps->guard_fd = fd[1];
}

void
procs_guard_end(struct procs *ps)
{
	if (ps->guard_pid == 0)
		return;
	(void)os_write(ps->guard_fd, "", 1);
	os_close(&ps->guard_fd);
	while (waitpid(ps->guard_pid, NULL, 0) == -1 && errno == EINTR)
		;
	ps->guard_pid = 0;
}

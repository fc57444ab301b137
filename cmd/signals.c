/* SPDX-License-Identifier: ISC */
/* Signals and turns of the loop, for commands that wait. */
#include "cmd/signals.h"

#include <signal.h>
#include <unistd.h>

#include "base/base.h"

static void
on_signal(void *arg)
{
	struct cmd_signal *s = arg;

	s->all->signo = s->w.signo;
	s->all->fn(s->all->arg);
}

int
cmd_signals_start(struct cmd_signals *s, struct loop *loop,
    void (*fn)(void *), void *arg, struct err *e)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	size_t i;

	s->fn = fn;
	s->arg = arg;
	s->loop = loop;
	for (i = 0; i < COUNTOF(signals); i++) {
		s->sig[i].all = s;
		s->sig[i].w = (struct sig_watch){ .signo = signals[i],
			.fn = on_signal, .arg = &s->sig[i] };
		if (sig_start(loop, &s->sig[i].w, e) == -1)
			return -1;
	}
	return 0;
}

void
cmd_signals_stop(struct cmd_signals *s)
{
	size_t i;

	for (i = 0; i < COUNTOF(s->sig) && s->loop != NULL; i++)
		sig_stop(s->loop, &s->sig[i].w);
}

/* The disposition is the default again, and the signal arrives at the end. */
static void
on_quit(int signo)
{
	static const char clear[] = "\r\033[K";

	ssize_t n = write(STDERR_FILENO, clear, sizeof(clear) - 1);

	(void)n;
	raise(signo);
}

void
cmd_clear_on_quit(void)
{
	struct sigaction sa = { .sa_handler = on_quit }, old;

	sa.sa_flags = (int)SA_RESETHAND;
	if (sigaction(SIGQUIT, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
		sigaction(SIGQUIT, &sa, NULL);
}

int
cmd_turn(struct loop *loop, struct err *e)
{
	int r = loop_turn(loop, e);

	/* This would be a bug in a watch; an error is better than a hang. */
	if (r == 0)
		err_set(e, ERR_SYS, "nothing left to wait for");
	return r == 1 ? 0 : -1;
}

/* SPDX-License-Identifier: ISC */
/*
 * The engine `parallel`: GNU parallel starts the shards, on this machine or by
 * ssh on others that see the same directory.
 *
 * Its --joblog has a line for each job that has ended.  After a first SIGTERM
 * it waits for the jobs that run, a second one ends them.
 */
#include "cmd/scale/on.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "cmd/run.h"

enum {
	ASK_MS = 500, SETTLE_MS = 5000,
	SECOND_MS = 300,	/* between the two SIGTERM */
	GRACE_MS = 20000,
	LOG_MAX = 16 << 20
};

struct parallel {
	struct on *on;
	struct proc proc;
	struct timer second;
	const char *log;	/* of parallel */
	int64_t *k;		/* the shard of each job, */
	size_t n;		/* and their number */
};

static const char *
job_log(const struct on *on)
{
	return arena_fmt(on->arena, "%s/shard-jobs.log", on->dir).p;
}

static int
parallel_write(struct on *on, struct buf *b, struct err *e)
{
	if (strchr(on->dir, '{') != NULL)
		return err_set(e, ERR_SCHEMA, "--on parallel: GNU parallel "
		    "replaces braces, as in %s: name another directory with "
		    "--on-dir", on->dir);
	on_put_script(on, b, NULL);
	return 0;
}

/* A line of sh, in which parallel replaces {} by the number of the shard. */
static const char *
job_line(const struct on *on)
{
	struct buf b = { 0 };

	buf_puts(&b, "sh ");
	on_quote(&b, on->file);
	buf_puts(&b, " {} >>");
	on_quote(&b, on->dir);
	buf_puts(&b, "/shard-{}.log 2>&1");
	return arena_take(on->arena, &b).p;
}

static const char *const *
parallel_command(struct on *on)
{
	struct on_words w = { .arena = on->arena };
	size_t i;

	on_add(&w, "env");
	on_add(&w, "PARALLEL_SHELL=/bin/sh");
	on_add(&w, "parallel");
	on_add(&w, "--will-cite");
	on_add(&w, "--termseq");
	on_add(&w, "TERM,10000,KILL,25");
	on_add(&w, "--joblog");
	on_add(&w, job_log(on));
	on_add_all(&w, on->options);
	on_add(&w, job_line(on));
	on_add(&w, ":::");
	for (i = 0; i < on->n; i++)
		if (on->shards[i].wanted)
			on_add(&w, arena_fmt(on->arena, "%zu", i + 1).p);
	return w.v;
}

/*
 * The log: Seq, Host, Starttime, JobRuntime, Send, Receive, Exitval, Signal and
 * Command, with tabs between them.
 */
enum { SEQ, EXITVAL = 6, SIGNAL };

/* The number in a column; -1: it has none. */
static long
column(const char *line, int i)
{
	char *end;
	long n;

	for (; i > 0 && line != NULL; i--) {
		line = strchr(line, '\t');
		line = line != NULL ? line + 1 : NULL;
	}
	if (line == NULL)
		return -1;
	n = strtol(line, &end, 10);
	return end == line ? -1 : n;
}

static void
take_job(struct parallel *p, const char *line)
{
	long seq = column(line, SEQ), status = column(line, EXITVAL);
	long signo = column(line, SIGNAL);
	char why[60];

	if (seq < 1 || (size_t)seq > p->n || signo == -1)
		return;
	snprintf(why, sizeof(why), signo != 0 ? "signal %ld" :
	    "exit status %ld", signo != 0 ? signo : status);
	on_ended(p->on, p->k[seq - 1], why);
}

static void
parallel_ask(struct on *on)
{
	struct parallel *p = on->engine_state;
	struct arena a = { 0 };
	struct str text, line;
	struct err e;

	if (os_read_plain(&a, p->log, LOG_MAX, &text, &e) == 0)
		while (memchr(text.p, '\n', text.n) != NULL &&
		    str_line(&text, &line))
			take_job(p, arena_str(&a, line).p);
	arena_free(&a);
}

static void
on_done(void *arg)
{
	struct parallel *p = arg;
	struct on *on = p->on;
	struct str err = buf_str(&p->proc.err.buf);
	size_t i, lost = 0;

	timer_stop(on->run->job.loop, &p->second);
	parallel_ask(on);
	for (i = 0; i < p->n; i++)
		lost += on->shards[p->k[i] - 1].state != ON_ENDED;
	if (lost == p->n && !on->cancelled && p->proc.res.status != 0)
		on_broke(on, "parallel could not run the jobs", err);
	for (i = 0; i < p->n; i++)
		on_ended(on, p->k[i], "parallel has ended");
}

static int
parallel_submit(struct on *on, struct err *e)
{
	struct parallel *p = NEW(on->arena, struct parallel);
	struct proc_opts o = { .argv = on->engine->command(on),
		.grace_ms = GRACE_MS, .done = on_done, .arg = p };
	size_t i;

	p->on = on;
	p->log = job_log(on);
	p->k = NEW_N(on->arena, int64_t, on->n);
	for (i = 0; i < on->n; i++)
		if (on->shards[i].wanted)
			p->k[p->n++] = (int64_t)i + 1;
	on->engine_state = p;
	if (os_replace_file_mode(p->log, STR(""), 0644, e) == -1 ||
	    proc_start(&on->run->job.procs, &p->proc, &o, e) == -1)
		return -1;
	for (i = 0; i < p->n; i++)
		on_began(on, p->k[i]);
	return 0;
}

static void
on_second(void *arg)
{
	const struct parallel *p = arg;

	if (p->proc.pid > 0)
		(void)kill(p->proc.pid, SIGTERM);
}

static void
parallel_cancel(struct on *on)
{
	struct parallel *p = on->engine_state;

	proc_cancel(&p->proc);
	p->second = (struct timer){ .fn = on_second, .arg = p };
	timer_start(on->run->job.loop, &p->second, SECOND_MS);
}

static void
parallel_close(struct on *on)
{
	struct parallel *p = on->engine_state;

	if (p == NULL)
		return;
	timer_stop(on->run->job.loop, &p->second);
	proc_fini(&p->proc);
}

const struct on_engine on_parallel = {
	.name = "parallel", .programs = { "parallel", "env" },
	.file = "job.sh", .ask_ms = ASK_MS, .settle_ms = SETTLE_MS,
	.write = parallel_write, .command = parallel_command,
	.submit = parallel_submit, .ask = parallel_ask,
	.cancel = parallel_cancel, .close = parallel_close
};

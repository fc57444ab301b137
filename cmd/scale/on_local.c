/* SPDX-License-Identifier: ISC */
/*
 * The engine `local`: each shard is a child of this process.
 */
#include "cmd/scale/on.h"

#include <stdio.h>

#include "cmd/run.h"

enum {
	AT_ONCE = 64,		/* children */
	GRACE_MS = 15000	/* for hooks after a cancelled run */
};

struct local_job {
	struct on *on;
	int64_t k;
	struct proc proc;
	bool ended;
};

struct local {
	struct local_job *v;
	size_t next, running;
	bool cancelled;
	struct procs_wait wait;
};

static int
local_check(struct on *on, struct err *e)
{
	if (on->options->n == 0)
		return 0;
	return err_set(e, ERR_SCHEMA, "--on local has no options: remove "
	    "--on-option %s", on->options->v[0]);
}

static int
local_write(struct on *on, struct buf *b, struct err *e)
{
	(void)e;
	on_put_script(on, b, NULL);
	return 0;
}

static const char *const *
local_command(struct on *on)
{
	struct on_words w = { .arena = on->arena };

	on_add(&w, "sh");
	on_add(&w, on->file);
	on_add(&w, "K");
	return w.v;
}

static void start_some(void *);

static void
on_done(void *arg)
{
	struct local_job *j = arg;
	struct local *l = j->on->engine_state;
	const struct proc_result *r = &j->proc.res;
	char why[60];

	if (r->signo != 0)
		snprintf(why, sizeof(why), "signal %d", r->signo);
	else
		snprintf(why, sizeof(why), "exit status %d", r->status);
	j->ended = true;
	l->running--;
	on_ended(j->on, j->k, why);
	start_some(j->on);
}

/* The shell opens the log, so that the shard writes to it without us. */
static int
start_job(struct local_job *j, struct err *e)
{
	struct on *on = j->on;
	const char *const argv[] = { "/bin/sh", "-c",
		"exec sh \"$1\" \"$2\" >>\"$3\" 2>&1", "sh", on->file,
		arena_fmt(on->arena, "%lld", (long long)j->k).p,
		on->shards[j->k - 1].log, NULL };
	struct proc_opts o = { .argv = argv, .grace_ms = GRACE_MS,
		.done = on_done, .arg = j };

	return proc_start(&on->run->job.procs, &j->proc, &o, e);
}

/* Starts the shards that fit; the rest follows when others have ended. */
static void
start_some(void *arg)
{
	struct on *on = arg;
	struct local *l = on->engine_state;
	struct err e = { 0 };
	struct local_job *j;

	for (; l->next < on->n && l->running < AT_ONCE; l->next++) {
		j = &l->v[l->next];
		if (!on->shards[l->next].wanted)
			continue;
		if (l->cancelled) {
			on_ended(on, j->k, "not started");
			continue;
		}
		if (start_job(j, &e) == 0) {
			l->running++;
			on_began(on, j->k);
		} else if (j->proc.res.shortage) {
			procs_wait(&on->run->job.procs, &l->wait);
			return;
		} else
			on_ended(on, j->k, e.msg);
	}
}

static int
local_submit(struct on *on, struct err *e)
{
	struct local *l = NEW(on->arena, struct local);
	size_t i;

	(void)e;
	l->v = NEW_N(on->arena, struct local_job, on->n);
	for (i = 0; i < on->n; i++) {
		l->v[i].on = on;
		l->v[i].k = (int64_t)i + 1;
	}
	l->wait = (struct procs_wait){ .fn = start_some, .arg = on };
	on->engine_state = l;
	on->job = "local";
	start_some(on);
	return 0;
}

static void
local_cancel(struct on *on)
{
	struct local *l = on->engine_state;
	size_t i;

	l->cancelled = true;
	for (i = 0; i < l->next; i++)
		proc_cancel(&l->v[i].proc);
	start_some(on);
}

static void
local_close(struct on *on)
{
	struct local *l = on->engine_state;
	size_t i;

	if (l == NULL)
		return;
	procs_wait_stop(&l->wait);
	for (i = 0; i < on->n; i++)
		proc_fini(&l->v[i].proc);
}

const struct on_engine on_local = {
	.name = "local", .programs = { "sh" }, .file = "job.sh",
	.check = local_check, .write = local_write, .command = local_command,
	.submit = local_submit, .cancel = local_cancel, .close = local_close
};

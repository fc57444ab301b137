/* SPDX-License-Identifier: ISC */
/*
 * Hooks: shell commands of the suite, before and after the run and each task,
 * one after the other.  A hook that fails causes a warning or, if it has
 * error_on_fail, ends the list with an error.
 */
#include "run/run_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/os_spawn.h"

static void step(struct run_hooks *);

static bool
accepted(const struct spec_hook *h, int status)
{
	size_t i;

	if (h->exit_codes.n == 0)
		return status == 0;
	for (i = 0; i < h->exit_codes.n; i++)
		if (h->exit_codes.v[i] == status)
			return true;
	return false;
}

/* Reports a failure, and skips the other hooks if it is an error. */
static void
failed(struct run_hooks *hs, const struct spec_hook *h, const char *why)
{
	struct err e;

	err_set(&e, ERR_SYS, "hook \"%.*s\": %s",
	    STRF(utf8_cut(h->command, 80)), why);
	if (!h->error_on_fail) {
		run_warn(hs->run, "hook_failed", e.msg);
		return;
	}
	hs->err = e;
	hs->next = hs->list->n;
}

static const char **
hook_env(struct run_hooks *hs)
{
	const char **set = NEW_N(&hs->arena, const char *, 2);
	size_t n = 0;

	set[n++] = arena_fmt(&hs->arena, "WAZA_RUN_ID=%s",
	    hs->run->results.run_id).p;
	if (hs->task_id.n > 0)
		set[n++] = arena_fmt(&hs->arena, "WAZA_TASK_ID=%.*s",
		    STRF(hs->task_id)).p;
	return os_env(&hs->arena, set, n);
}

static void
on_done(void *arg)
{
	struct run_hooks *hs = arg;
	const struct spec_hook *h = hs->cur;
	const struct proc_result *r = &hs->proc.res;
	char why[300];
	struct str output = buf_str(&hs->proc.out.buf);

	while (output.n > 0 && output.p[output.n - 1] == '\n')
		output.n--;
	if (output.n > 200) {
		output.p += output.n - 200;
		output.n = 200;
	}
	if (r->cancelled)
		failed(hs, h, "cancelled");
	else if (r->timed_out)
		failed(hs, h, "took too long");
	else if (!accepted(h, r->status)) {
		snprintf(why, sizeof(why), r->signo != 0 ?
		    "killed by signal %d%s%.*s" : "exit status %d%s%.*s",
		    r->signo != 0 ? r->signo : r->status,
		    output.n > 0 ? ": " : "", STRF(output));
		failed(hs, h, why);
	}
	proc_fini(&hs->proc);
	arena_free(&hs->arena);
	step(hs);
}

static bool start(struct run_hooks *, const struct spec_hook *);

static void
on_room(void *arg)
{
	struct run_hooks *hs = arg;

	if (hs->cancelled)
		failed(hs, hs->cur, "cancelled");
	else if (start(hs, hs->cur))
		return;
	arena_free(&hs->arena);
	step(hs);
}

/* False if it could not be started, which failed() has reported. */
static bool
start(struct run_hooks *hs, const struct spec_hook *h)
{
	struct run *run = hs->run;
	const char *argv[] = { "/bin/sh", "-c", NULL, NULL };
	struct proc_opts o = { .argv = argv, .err_joins = true,
		.out_max = 64 << 10, .done = on_done, .arg = hs };
	uint64_t before = run->procs->shortages;
	struct err e = { 0 };
	struct str command;

	if (hs->task != NULL)
		hs->vars.vars[0] = spec_vars(&hs->arena, hs->task);
	command = tmpl_render(&hs->arena, h->command, &hs->vars, &e);
	argv[2] = command.p == NULL ? NULL : arena_cstr(&hs->arena, command);
	if (argv[2] == NULL) {
		failed(hs, h, e.msg);
		return false;
	}
	o.env = hook_env(hs);
	o.cwd = h->working_directory.n == 0 ? NULL : spec_path(&hs->arena,
	    run->suite->dir, h->working_directory);
	o.timeout_ms = run->suite->config.timeout_seconds * 1000;
	if (proc_start(run->procs, &hs->proc, &o, &e) == 0 ||
	    run_must_wait(run, &hs->wait, before, NULL, on_room, hs))
		return true;
	failed(hs, h, e.msg);
	return false;
}

/* Starts the next hook; after the last one, calls done(). */
static void
step(struct run_hooks *hs)
{
	const struct spec_hook *list = hs->list->v;

	while (hs->next < hs->list->n) {
		hs->cur = &list[hs->next++];
		if (start(hs, hs->cur))
			return;
		arena_free(&hs->arena);
	}
	hs->done(hs->arg);
}

void
run_hooks_start(struct run_hooks *hs, struct run *run,
    enum spec_hook_kind kind, const struct spec_task *task,
    void (*done)(void *), void *arg)
{
	*hs = (struct run_hooks){ .run = run, .done = done, .arg = arg,
		.index = hs->index,
		.list = &run->suite->hooks[kind] };
	hs->vars = (struct tmpl_vars){ .iteration = 1, .attempt = 1,
		.job_id = str_of(run->results.run_id),
		.timestamp = str_of(run->timestamp),
		.vars = { NULL, run->suite->inputs } };
	hs->task = task;
	if (task != NULL) {
		hs->task_id = task->id;
		hs->vars.task_name = task->name;
	}
	step(hs);
}

void
run_hooks_cancel(struct run_hooks *hs)
{
	hs->next = hs->list->n;
	hs->cancelled = true;
	proc_cancel(&hs->proc);
	procs_wake(hs->run->procs);
}

/* SPDX-License-Identifier: ISC */
/*
 * Hooks: commands of the suite before and after the run and each task, by
 * /bin/sh, one after the other.  One that fails is a warning, or, when it
 * says error_on_fail, the end of the list and an error.
 */
#include "run/run_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/os_spawn.h"

static void step(struct run_hooks *);

/* Whether the exit status is one of those that the hook accepts. */
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

/* False: the list ends here. */
static bool
failed(struct run_hooks *hs, const struct spec_hook *h, const char *why)
{
	struct err e;

	err_set(&e, ERR_SYS, "hook \"%.*s\": %s",
	    (int)(h->command.n < 80 ? h->command.n : 80), h->command.p, why);
	if (h->error_on_fail) {
		hs->err = e;
		return false;
	}
	run_warn(hs->run, "hook_failed", e.msg);
	return true;
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
	struct str said = buf_str(&hs->proc.out.buf);
	bool more = true;

	while (said.n > 0 && said.p[said.n - 1] == '\n')
		said.n--;
	if (said.n > 200) {
		said.p += said.n - 200;
		said.n = 200;
	}
	if (r->cancelled)
		more = failed(hs, h, "cancelled");
	else if (r->timed_out)
		more = failed(hs, h, "took too long");
	else if (!accepted(h, r->status)) {
		snprintf(why, sizeof(why), r->signo != 0 ?
		    "killed by signal %d%s%.*s" : "exit status %d%s%.*s",
		    r->signo != 0 ? r->signo : r->status,
		    said.n > 0 ? ": " : "", STRF(said));
		more = failed(hs, h, why);
	}
	proc_fini(&hs->proc);
	arena_free(&hs->arena);
	if (!more)
		hs->next = hs->list->n;
	step(hs);
}

/* True: it runs.  False: it could not, which failed() has judged. */
static bool
start(struct run_hooks *hs, const struct spec_hook *h)
{
	struct run *run = hs->run;
	const char *argv[] = { "/bin/sh", "-c", NULL, NULL };
	struct proc_opts o = { .argv = argv, .err_joins = true,
		.out_max = 64 << 10, .done = on_done, .arg = hs };
	struct err e = { 0 };
	struct str command;

	command = tmpl_render(&hs->arena, h->command, &hs->vars, &e);
	argv[2] = command.p == NULL ? NULL : arena_cstr(&hs->arena, command);
	if (argv[2] == NULL) {
		if (!failed(hs, h, e.msg))
			hs->next = hs->list->n;
		return false;
	}
	o.env = hook_env(hs);
	o.cwd = h->working_directory.n == 0 ? NULL : spec_path(&hs->arena,
	    run->suite->dir, h->working_directory);
	o.timeout_ms = run->suite->config.timeout_seconds * 1000;
	if (proc_start(run->procs, &hs->proc, &o, &e) == -1) {
		if (!failed(hs, h, e.msg))
			hs->next = hs->list->n;
		return false;
	}
	return true;
}

/* Starts the next hook that can be started, or ends. */
static bool
advance(struct run_hooks *hs)
{
	const struct spec_hook *list = hs->list->v;

	while (hs->next < hs->list->n) {
		hs->cur = &list[hs->next++];
		if (start(hs, hs->cur))
			return true;
		arena_free(&hs->arena);
	}
	return false;
}

static void
step(struct run_hooks *hs)
{
	if (!advance(hs))
		hs->done(hs->arg);
}

bool
run_hooks_start(struct run_hooks *hs)
{
	hs->next = 0;
	hs->err = (struct err){ 0 };
	return !advance(hs);
}

void
run_hooks_cancel(struct run_hooks *hs)
{
	hs->next = hs->list->n;
	proc_cancel(&hs->proc);
}

/* SPDX-License-Identifier: ISC */
/*
 * The part of a job that `waza run` and `waza grade` share.
 *
 * Errors have two readers: people on stderr, and programs as events.  Until
 * the console has started, an error is printed here; afterwards the console
 * prints the error events, below its progress line.
 */
#include "cmd/job.h"

#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "results/result.h"
#include "suite/spec.h"

enum { TICK_MS = 100 };		/* between redraws of the console */

int
cmd_job_check(struct cmd_job *j)
{
	const struct opt_list *r = &j->opt->reporters;
	struct err *e = j->call->err;
	struct report_opts o;
	size_t i;

	if (cmd_report_env(&o, STDOUT_FILENO, &j->opt->color, e) == -1)
		return -1;
	for (i = 0; i < r->n; i++) {
		if (report_check(r->v[i], e) == -1)
			return -1;
		if (j->owns_stdout != NULL &&
		    report_flags(r->v[i]) & REPORT_STDOUT)
			return err_set(e, ERR_SCHEMA, "reporter %s needs a "
			    "file with %s", r->v[i], j->owns_stdout);
	}
	return 0;
}

static void
emit_error(struct cmd_job *j, const char *type, const char *msg,
    struct spec_where at)
{
	struct event ev = { .type = EVENT_ERROR, .problem = {
		.error_type = str_of(type), .message = str_of(msg),
		.line = at.line, .col = at.col } };

	if (at.file != NULL)
		ev.problem.file = str_of(at.file);
	event_emit(&j->bus, &ev);
}

int
cmd_job_fail(struct cmd_job *j, const char *type)
{
	const struct err *e = j->call->err;
	bool bare = e->code == ERR_SYS && str_ends(str_of(e->msg),
	    str_of(strerror(e->sys)));

	emit_error(j, type, arena_fmt(j->call->arena, "%s%s", e->msg,
	    bare ? err_advice(e) : "").p, (struct spec_where){ 0 });
	return j->has_console ? CMD_ERROR : cmd_complain(e);
}

int
cmd_job_print_notes(struct cmd_job *j, const struct spec_notes *notes)
{
	const struct spec_note *n;

	for (n = notes->head; n != NULL; n = n->next)
		if (n->level == FIELD_ERROR || notes->strict)
			emit_error(j, "eval_load_failed", n->msg, n->at);
	return cmd_print_notes(notes, !j->opt->quiet);
}

void
cmd_job_cancel(struct cmd_job *j)
{
	struct cmd_pass *p;

	for (p = j->passes; p != NULL; p = p->next)
		if (p->going)
			run_cancel(p->run);
	if (j->cancelled != NULL)
		j->cancelled(j);
}

void
cmd_job_hold(struct cmd_job *j, bool on)
{
	struct cmd_pass *p;

	for (p = j->passes; p != NULL; p = p->next)
		if (p->going)
			run_hold(p->run, on);
}

static void
on_signal(void *arg)
{
	cmd_job_cancel(arg);
}

static void
on_tick(void *arg)
{
	struct cmd_job *j = arg;

	report_console_tick(&j->console, os_wall_ns() / 1000000);
	timer_start(j->loop, &j->tick, TICK_MS);
}

void
cmd_job_tick(struct cmd_job *j, bool on)
{
	if (!on)
		timer_stop(j->loop, &j->tick);
	else if (j->console.live)
		timer_start(j->loop, &j->tick, TICK_MS);
}

struct report_opts
cmd_job_report_opts(const struct cmd_job *j, int fd)
{
	struct report_opts o = { .verbose = j->opt->verbose,
		.interpret = j->opt->interpret };

	/* cmd_job_check() has accepted --color */
	(void)cmd_report_env(&o, fd, &j->opt->color, j->call->err);
	return o;
}

int
cmd_job_start(struct cmd_job *j)
{
	struct report_console *c = &j->console;
	struct err *e = j->call->err;

	if (j->opt->output != NULL &&
	    os_make_dirs(j->opt->output, 0777, false, e) == -1)
		return -1;
	j->loop = loop_new(NULL, e);
	if (j->loop == NULL)
		return -1;
	procs_init(&j->procs, j->loop, j->adopt);
	if (cmd_signals_start(&j->signals, j->loop, on_signal, j, e) == -1)
		return -1;
	c->opts = cmd_job_report_opts(j, STDERR_FILENO);
	c->fd = STDERR_FILENO;
	c->arms = j->arms && !j->many;
	c->all_tasks = j->many || c->arms ? j->tasks : 0;
	c->all_trials = j->many || c->arms ? j->trials : 0;
	if (j->opt->quiet || j->no_progress)
		c->level = REPORT_QUIET;
	else if (j->opt->verbose)
		c->level = REPORT_VERBOSE;
	c->live = c->level == REPORT_NORMAL && isatty(STDERR_FILENO);
	report_console_start(c, &j->bus);
	if (c->live)
		cmd_clear_on_quit();
	j->has_console = true;
	j->tick = (struct timer){ .fn = on_tick, .arg = j };
	return 0;
}

static void
on_done(void *arg)
{
	struct cmd_pass *p = arg;

	p->going = false;
	if (--p->job->going == 0)
		cmd_job_tick(p->job, false);
}

struct cmd_pass *
cmd_job_begin(struct cmd_job *j, const struct spec_suite *s,
    const struct run_opts *o)
{
	struct err *e = j->call->err;
	struct cmd_pass *p = NEW(j->call->arena, struct cmd_pass);

	*p = (struct cmd_pass){ .job = j, .next = j->passes };
	p->run = run_new(j->loop, &j->procs, s, o, &j->bus, e);
	if (p->run == NULL || run_open(p->run, e) == -1) {
		run_free(p->run);
		cmd_job_fail(j, "run_failed");
		return NULL;
	}
	j->passes = p;
	p->going = true;
	if (j->going++ == 0)
		cmd_job_tick(j, true);
	run_start(p->run, on_done, p);
	return p;
}

int
cmd_pass_status(const struct cmd_pass *p)
{
	return run_error(p->run)->code != ERR_NONE ? CMD_ERROR : CMD_OK;
}

int
cmd_job_pass(struct cmd_job *j, const struct run_opts *o, struct run **out)
{
	struct cmd_pass *p = cmd_job_begin(j, j->suite, o);

	*out = p != NULL ? p->run : NULL;
	while (p != NULL && p->going)
		if (cmd_turn(j->loop, j->call->err) == -1)
			return cmd_job_fail(j, "system");
	return p != NULL ? cmd_pass_status(p) : CMD_ERROR;
}

void
cmd_job_add_results(struct cmd_job *j, struct result_run *r,
    const char *output)
{
	buf_put(&j->list, (struct str){ (const char *)&r, sizeof(r) });
	buf_put(&j->files, (struct str){ (const char *)&output,
	    sizeof(output) });
	j->results = (struct result_run **)(void *)j->list.p;
	j->outputs = (const char **)(void *)j->files.p;
	j->nresults++;
}

bool
cmd_job_passed(const struct cmd_job *j)
{
	const struct result_run *r;
	size_t i;

	if (j->on_server)
		return !j->server_failed && j->nresults > 0;
	for (i = 0; i < j->nresults; i++) {
		r = j->results[i];
		if ((r->ntasks == 0 && j->sharded) || result_only_answers(r))
			continue;	/* more shards than tasks; no graders */
		if (!result_ok(r))
			return false;
		if (r->baseline != NULL && r->ref == NULL &&
		    r->sum.rate < r->baseline->sum.rate)
			return false;	/* the skill made it worse */
	}
	return j->nresults > 0;
}

int
cmd_exit_status(const struct cmd_job *j, bool errors)
{
	size_t i;

	if (j->signals.signo != 0)
		return 128 + j->signals.signo;
	if (errors)
		return CMD_ERROR;
	for (i = 0; i < j->nresults; i++)
		if (result_is_skipped(j->results[i]))
			return CMD_BUDGET;
	return cmd_job_passed(j) ? CMD_OK : CMD_FAILED;
}

void
cmd_job_free_runs(struct cmd_job *j)
{
	if (j->going > 0)
		procs_fini(&j->procs);	/* the loop has failed */
	for (; j->passes != NULL; j->passes = j->passes->next)
		run_free(j->passes->run);
	j->going = 0;
	j->nresults = 0;
	buf_free(&j->list);
	buf_free(&j->files);
}

void
cmd_job_end(struct cmd_job *j)
{
	report_console_end(&j->console);
	cmd_job_free_runs(j);
	if (j->loop == NULL)
		return;
	cmd_signals_stop(&j->signals);
	procs_fini(&j->procs);
	loop_free(j->loop);
}

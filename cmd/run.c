/* SPDX-License-Identifier: ISC */
/*
 * waza run: a suite from the shell, an IDE, or CI.
 *
 * One pass is one run of the suite by one model; several models, and the
 * baseline without skills, are passes one after the other.  With
 * --stream-json stdout has events and nothing else; otherwise it has the
 * report, at the end.
 */
#include "cmd/run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os.h"
#include "cmd/evalclients.h"
#include "cmd/run_on_server.h"
#include "grader.h"
#include "io/loop.h"
#include "io/proc.h"
#include "report/report.h"
#include "results/event.h"
#include "results/result.h"
#include "run/run.h"
#include "suite/spec.h"

/* An error that has no run: also an event, where those are wanted. */
static void
tell_error(struct cmd_job *j, const char *type, const char *msg,
    struct spec_where at)
{
	struct event ev = { .type = EVENT_ERROR, .problem = {
		.error_type = str_of(type), .message = str_of(msg),
		.line = at.line, .col = at.col } };

	if (at.file != NULL)
		ev.problem.file = str_of(at.file);
	event_emit(&j->bus, &ev);
}

/* Once there is a console, it is the one that prints error events. */
static int
fail(struct cmd_job *j, const char *type)
{
	tell_error(j, type, j->call->err->msg, (struct spec_where){ 0 });
	return j->talks ? CMD_ERROR : cmd_complain(j->call->err);
}

static void
print_note(const struct spec_note *n)
{
	const char *what = n->level == FIELD_ERROR ? "" : "warning: ";

	if (n->at.line > 0)
		fprintf(stderr, "%s:%u:%u: %s%s\n", n->at.file, n->at.line,
		    n->at.col, what, n->msg);
	else
		fprintf(stderr, "%s: %s%s\n",
		    n->at.file != NULL ? n->at.file : "waza", what, n->msg);
}

static int
print_notes(struct cmd_job *j, const struct spec_notes *notes)
{
	const struct spec_note *n;

	for (n = notes->head; n != NULL; n = n->next) {
		if (n->level == FIELD_ERROR || notes->strict || !j->opt.quiet)
			print_note(n);
		if (n->level == FIELD_ERROR || notes->strict)
			tell_error(j, "eval_load_failed", n->msg, n->at);
	}
	return notes->errors > 0 || (notes->strict && notes->warnings > 0) ?
	    CMD_ERROR : CMD_OK;
}

static void
settle_cache(struct cmd_job *j)
{
	const struct spec_config *c = &j->suite->config;

	if (j->opt.no_cache || !(j->opt.cache || j->opt.cache_all || c->cache))
		return;
	j->run.cache_all = j->opt.cache_all;
	j->run.cache = cmd_cache_dir(j->call, j->opt.cache_dir,
	    c->cache_dir);
}

/* Where options and suite have to agree. */
static void
settle(struct cmd_job *j, struct spec_notes *notes)
{
	const struct spec_config *c = &j->suite->config;
	struct spec_where at = { .file = j->suite->path };

	j->opt.verbose |= c->verbose;
	j->opt.session_log |= c->session_log;
	if (j->opt.parallel && j->run.workers == 0 && c->workers == 0)
		j->run.workers = 4;
	settle_cache(j);
	j->baseline = j->opt.baseline || j->suite->baseline;
	if (j->baseline && (j->opt.no_skills ||
	    (c->skill_directories.n == 0 && c->required_skills.n == 0))) {
		spec_note(notes, FIELD_WARNING, at,
		    "there are no skills to compare with: no baseline");
		j->baseline = false;
	}
	j->compares = grader_comparing(j->suite);
	if (j->compares != NULL && !j->baseline)
		spec_note(notes, FIELD_ERROR, j->compares->at, "mode "
		    "\"pairwise\" compares with the baseline: it needs "
		    "--baseline or \"baseline: true\", and skills to leave "
		    "out");
}

static int
load(struct cmd_job *j)
{
	struct cmd_call *c = j->call;
	struct spec_notes notes = { .arena = c->arena,
		.strict = j->opt.strict, .updates = j->opt.update };
	struct str executor;

	j->suite = spec_load(c->arena, cmd_suite_path(c), &notes);
	if (j->suite != NULL) {
		cmd_settings(c, j->opt.config_path, j->opt.config_json,
		    j->suite, &notes);
		if (j->opt.models.n > 0 && j->suite->config.model.n == 0)
			j->suite->config.model = str_of(j->opt.models.v[0]);
		executor = j->run.executor.n > 0 ? j->run.executor :
		    j->suite->config.executor;
		agent_check(j->suite, executor, &notes);
		grader_check(j->suite, &notes);
		settle(j, &notes);
	}
	return print_notes(j, &notes);
}

static void
cancel(void *arg)
{
	struct cmd_job *j = arg;

	if (j->cur != NULL)
		run_cancel(j->cur);
	if (j->remote != NULL)
		cmd_on_server_cancel(j->remote);
}

static void
hold(void *arg, bool on)
{
	struct cmd_job *j = arg;

	if (j->cur != NULL)
		run_hold(j->cur, on);
	if (j->remote != NULL)
		cmd_on_server_hold(j->remote, on);
}

static void
on_event(void *arg, const struct event *ev)
{
	struct cmd_job *j = arg;
	struct buf b = { 0 };

	event_line(&b, ev);
	cmd_stdout_put(&j->out, buf_str(&b));
	buf_free(&b);
}

static void
start_stream(struct cmd_job *j)
{
	j->out.hold = hold;
	j->out.gone = cancel;
	j->out.arg = j;
	j->stream = (struct event_sink){ .fn = on_event, .arg = j };
	event_listen(&j->bus, &j->stream);
}

static void
on_signal(void *arg)
{
	struct cmd_interrupt *i = arg;

	i->job->signo = i->w.signo;
	cancel(i->job);
}

static void
on_tick(void *arg)
{
	struct cmd_job *j = arg;

	report_console_tick(&j->console, os_wall_ns() / 1000000);
	timer_start(j->loop, &j->tick, 100);
}

static int
start_loop(struct cmd_job *j)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct err *e = j->call->err;
	size_t i;

	j->loop = loop_new(NULL, e);
	if (j->loop == NULL)
		return -1;
	procs_init(&j->procs, j->loop, !j->opt.remote);
	j->out.loop = j->loop;
	for (i = 0; i < COUNTOF(signals); i++) {
		j->sig[i] = (struct cmd_interrupt){ .job = j };
		j->sig[i].w = (struct sig_watch){ .signo = signals[i],
			.fn = on_signal, .arg = &j->sig[i] };
		if (sig_start(j->loop, &j->sig[i].w, e) == -1)
			return -1;
	}
	return 0;
}

static int
start_sinks(struct cmd_job *j)
{
	struct report_console *c = &j->console;
	struct err *e = j->call->err;

	report_env(&c->opts, STDERR_FILENO);
	c->opts.color = c->opts.color && !j->opt.no_color;
	c->fd = STDERR_FILENO;
	c->level = j->opt.stream || j->opt.quiet ? REPORT_QUIET :
	    j->opt.verbose ? REPORT_VERBOSE : REPORT_NORMAL;
	c->live = c->level == REPORT_NORMAL && isatty(STDERR_FILENO);
	report_console_start(c, &j->bus);
	j->talks = true;
	j->tick = (struct timer){ .fn = on_tick, .arg = j };
	if (j->opt.session_log || j->opt.session_dir != NULL) {
		j->log.suite = str_of(j->suite != NULL ? j->suite->path :
		    cmd_suite_path(j->call));
		if (report_log_start(&j->log, j->opt.session_dir != NULL ?
		    j->opt.session_dir : ".", &j->bus, e) == -1)
			return -1;
	}
	if (j->opt.transcript_dir != NULL)
		return report_transcripts_start(&j->transcripts,
		    j->opt.transcript_dir, &j->bus, e);
	return 0;
}

static void
on_done(void *arg)
{
	struct cmd_job *j = arg;

	timer_stop(j->loop, &j->tick);
	j->cur = NULL;
}

static int
run_pass(struct cmd_job *j, const struct run_opts *o, struct run **out)
{
	struct err *e = j->call->err;
	int r;

	j->cur = run_new(j->loop, &j->procs, j->suite, o, &j->bus, e);
	if (j->cur == NULL)
		return fail(j, "run_failed");
	*out = j->runs[j->nruns++] = j->cur;
	if (j->console.live)
		timer_start(j->loop, &j->tick, 100);
	run_start(j->cur, on_done, j);
	while (j->cur != NULL) {
		r = loop_turn(j->loop, e);
		if (r == 0)		/* a bug of ours; better than a hang */
			err_set(e, ERR_SYS, "nothing left to wait for");
		if (r != 1)
			return fail(j, "system");
	}
	return run_error(*out)->code != ERR_NONE ? CMD_ERROR : CMD_OK;
}

static int
run_baseline(struct cmd_job *j, const struct run_opts *with, struct run **out)
{
	struct run_opts o = *with;

	o.no_skills = true;
	if (o.output != NULL)
		o.journal = arena_fmt(j->call->arena, "%s.baseline.journal",
		    o.output).p;
	o.output = NULL;
	return run_pass(j, &o, out);
}

static int
run_remote(struct cmd_job *j, const char *model)
{
	const char *output = j->opt.output;
	int r;

	if (output != NULL && j->opt.models.n > 1)
		output = cmd_model_path(j->call->arena, output, model);
	if (j->console.live)
		timer_start(j->loop, &j->tick, 100);
	r = cmd_on_server_pass(j->remote, model, output);
	timer_stop(j->loop, &j->tick);
	if (r != CMD_OK && j->signo == 0 && j->call->err->code != ERR_NONE)
		return fail(j, "remote_failed");
	return r;
}

/* The pass of one model, and its baseline; that first, if it is needed. */
static int
run_model(struct cmd_job *j, const char *model)
{
	struct run_opts o = j->run;
	struct run *with = NULL, *without = NULL;
	int r;

	if (j->remote != NULL)
		return run_remote(j, model);
	if (model != NULL)
		o.model = str_of(model);
	if (j->opt.models.n > 1) {
		o.record = cmd_model_dir(j->call->arena, o.record, model,
		    true);
		o.replay = cmd_model_dir(j->call->arena, o.replay, model,
		    false);
	}
	if (j->opt.output != NULL)
		o.output = j->opt.models.n > 1 ? cmd_model_path(j->call->arena,
		    j->opt.output, model) : j->opt.output;
	if (j->compares != NULL) {
		r = run_baseline(j, &o, &without);
		if (r != CMD_OK || j->signo != 0 || j->out.lost)
			return r;
		o.baseline = run_results(without);
	}
	r = run_pass(j, &o, &with);
	if (with != NULL)
		j->results[j->nresults++] = run_results(with);
	if (r != CMD_OK || j->signo != 0 || j->out.lost ||
	    !j->baseline)
		return r;
	if (without == NULL) {
		r = run_baseline(j, &o, &without);
		if (r != CMD_OK)
			return r;
	}
	run_results(with)->baseline = run_results(without);
	if (o.output != NULL && result_write(run_results(with), o.output,
	    j->call->err) == -1)
		return fail(j, "results_failed");
	return CMD_OK;
}

static int
run_models(struct cmd_job *j)
{
	const struct opt_list *m = &j->opt.models;
	size_t i;
	int r = CMD_OK;

	if (m->n == 0)
		return run_model(j, NULL);
	for (i = 0; i < m->n && r == CMD_OK; i++) {
		if (j->signo != 0 || j->out.lost)
			break;
		r = run_model(j, m->v[i]);
	}
	return r;
}

/* On stdout, unless something else has it to itself. */
static int
print_reports(struct cmd_job *j)
{
	struct report_opts o = { 0 };
	struct buf out = { 0 };
	size_t i;
	bool alone = j->opt.stream;

	for (i = 0; i < j->opt.reporters.n; i++)
		alone |= report_flags(j->opt.reporters.v[i]) & REPORT_ALONE;
	if (alone)
		return CMD_OK;
	report_env(&o, STDOUT_FILENO);
	o.color = o.color && !j->opt.no_color;
	o.verbose = j->opt.verbose;
	o.interpret = j->opt.interpret;
	for (i = 0; i < j->nresults; i++)
		report_text(&out, j->results[i], &o);
	if (j->nresults > 1)
		report_models(&out, j->results, j->nresults, &o);
	return cmd_finish(j->call, &out, CMD_OK);
}

/* Whatever the outcome, every reporter has its turn. */
static int
write_reports(struct cmd_job *j)
{
	const struct opt_list *r = &j->opt.reporters;
	struct report_opts o = { 0 };
	int status = print_reports(j);
	size_t i;

	for (i = 0; i < r->n; i++)
		if (report_write(r->v[i], j->results, j->nresults, &o,
		    j->call->err) == -1)
			status = fail(j, "report_failed");
	return status;
}

static bool
all_ok(const struct cmd_job *j)
{
	const struct result_run *r;
	size_t i;

	if (j->remote != NULL)
		return cmd_on_server_ok(j->remote) && j->nresults > 0;
	for (i = 0; i < j->nresults; i++) {
		r = j->results[i];
		if (r->ntasks == 0 && j->run.shards > 0)
			continue;	/* more shards than tasks */
		if (!result_ok(r))
			return false;
		if (r->baseline != NULL && r->sum.rate < r->baseline->sum.rate)
			return false;	/* worse with its skill */
	}
	return j->nresults > 0;
}

static int
run_all(struct cmd_job *j)
{
	int status, reports;

	if (!j->opt.remote && load(j) != CMD_OK)
		return CMD_ERROR;
	if (start_loop(j) == -1 || start_sinks(j) == -1 ||
	    cmd_evalclients_open(j) == -1)
		return fail(j, "system");
	if (j->opt.remote) {
		j->remote = cmd_on_server_open(j);
		if (j->remote == NULL)
			return CMD_ERROR;
	}
	status = run_models(j);
	report_console_clear(&j->console);
	reports = write_reports(j);
	if (j->signo != 0)
		return 128 + j->signo;
	if (status != CMD_OK || reports != CMD_OK || j->out.lost)
		return CMD_ERROR;
	return all_ok(j) ? CMD_OK : CMD_FAILED;
}

static void
clean_up(struct cmd_job *j)
{
	size_t i;

	report_console_end(&j->console);
	report_log_end(&j->log);
	report_transcripts_end(&j->transcripts);
	cmd_stdout_end(&j->out);
	for (i = 0; i < j->nruns; i++)
		run_free(j->runs[i]);
	cmd_on_server_close(j->remote);
	if (j->loop == NULL)
		return;
	cmd_evalclients_close(j);
	for (i = 0; i < COUNTOF(j->sig); i++)
		sig_stop(j->loop, &j->sig[i].w);
	procs_fini(&j->procs);
	loop_free(j->loop);
}

int
cmd_run_suite(struct cmd_call *c)
{
	struct cmd_job *j = NEW(c->arena, struct cmd_job);
	int status;

	j->call = c;
	j->opt = *(const struct cmd_run_opt *)c->opt;
	j->log.fd = -1;
	if (cmd_run_read(j) == -1)
		return cmd_complain(c->err);
	if (j->opt.stream)
		start_stream(j);
	status = run_all(j);
	cmd_stdout_flush(&j->out, &j->signo);
	clean_up(j);
	return status;
}

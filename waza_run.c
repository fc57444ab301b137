/* SPDX-License-Identifier: ISC */
/*
 * waza run: a suite from the shell, an IDE, or CI.
 *
 * One pass is one run of the suite by one model; several models, and the
 * baseline without skills, are passes one after the other.  With
 * --stream-json stdout has events and nothing else; otherwise it has the
 * report, at the end.
 */
#include "waza.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"
#include "event.h"
#include "grader.h"
#include "loop.h"
#include "os.h"
#include "proc.h"
#include "report.h"
#include "result.h"
#include "run.h"
#include "spec.h"
#include "waza_stream.h"

struct run_opt {
	const char *output, *executor, *context_dir, *format, *shard;
	const char *transcript_dir, *session_dir, *judge_model;
	const char *config_path, *config_json;
	const char *record, *replay, *cache_dir;
	struct opt_list models, tasks, tags, reporters;
	int64_t trials, workers, timeout;
	bool stream, verbose, quiet, fail_fast, keep, baseline, no_skills;
	bool resume, retry_errors, rerun_failed, interpret, strict, no_color;
	bool session_log, parallel, no_triggers, update;
	bool cache, cache_all, no_cache;
};

#define ROW(m, t, ...) \
	{ .type = t, .off = offsetof(struct run_opt, m), __VA_ARGS__ }
static const struct opt run_rows[] = {
	ROW(output, OPT_STR, .name = "output", .letter = 'o', .value = "FILE",
	    .help = "write the results there, as JSON"),
	ROW(stream, OPT_FLAG, .name = "stream-json",
	    .help = "print events, one JSON object a line"),
	ROW(format, OPT_STR, .name = "format", .value = "FORMAT",
	    .help = "text, or json: the same as --stream-json"),
	ROW(reporters, OPT_LIST, .name = "reporter", .value = "NAME[:FILE]",
	    .help = "json, junit, csv, tap, github, markdown or html"),
	ROW(executor, OPT_STR, .name = "executor", .value = "NAME",
	    .help = "instead of the suite's"),
	ROW(models, OPT_LIST, .name = "model", .value = "NAME",
	    .help = "instead of the suite's; each time one more pass"),
	ROW(judge_model, OPT_STR, .name = "judge-model", .value = "NAME",
	    .help = "the model that judges, instead of the suite's"),
	ROW(tasks, OPT_LIST, .name = "task", .value = "GLOB",
	    .help = "only tasks with such an id or name"),
	ROW(tags, OPT_LIST, .name = "tags", .value = "GLOB",
	    .help = "only tasks with such a tag"),
	ROW(shard, OPT_STR, .name = "shard", .value = "K/N",
	    .help = "only every Nth task, from the Kth on"),
	ROW(trials, OPT_INT, .name = "trials", .value = "N", .min = 1,
	    .max = 100000, .help = "trials of each task"),
	ROW(workers, OPT_INT, .name = "workers", .value = "N", .min = 1,
	    .max = 1024, .help = "trials at the same time"),
	ROW(parallel, OPT_FLAG, .name = "parallel",
	    .help = "as many workers as the suite or four"),
	ROW(timeout, OPT_INT, .name = "timeout", .value = "SECONDS", .min = 1,
	    .max = 86400, .help = "for each trial"),
	ROW(fail_fast, OPT_FLAG, .name = "fail-fast",
	    .help = "start no task after one that did not pass"),
	ROW(context_dir, OPT_STR, .name = "context-dir", .value = "DIR",
	    .help = "where input files are, instead of fixtures"),
	ROW(keep, OPT_FLAG, .name = "keep-workspace",
	    .help = "do not remove the trials' directories"),
	ROW(update, OPT_FLAG, .name = "update-snapshots",
	    .help = "write what diff graders find as their snapshots"),
	ROW(baseline, OPT_FLAG, .name = "baseline",
	    .help = "a second pass without skills, to compare"),
	ROW(no_skills, OPT_FLAG, .name = "no-skills",
	    .help = "run without the suite's skills"),
	ROW(no_triggers, OPT_FLAG, .name = "no-triggers",
	    .help = "leave the trigger tests out"),
	ROW(resume, OPT_FLAG, .name = "resume",
	    .help = "go on with an interrupted run"),
	ROW(retry_errors, OPT_FLAG, .name = "retry-errors",
	    .help = "run again what ended in an error"),
	ROW(rerun_failed, OPT_FLAG, .name = "rerun-failed",
	    .help = "run again what did not pass"),
	ROW(record, OPT_STR, .name = "record", .value = "DIR",
	    .help = "keep what agents say there, to be played again"),
	ROW(replay, OPT_STR, .name = "replay", .value = "DIR",
	    .help = "play what was recorded there; ask no agent"),
	ROW(cache, OPT_FLAG, .name = "cache",
	    .help = "do not run again what has not changed"),
	ROW(cache_all, OPT_FLAG, .name = "cache-all",
	    .help = "the same, also for what models judge"),
	ROW(no_cache, OPT_FLAG, .name = "no-cache",
	    .help = "run it all, whatever the settings say"),
	ROW(cache_dir, OPT_STR, .name = "cache-dir", .value = "DIR",
	    .help = "where that is kept, instead of .waza-cache"),
	ROW(transcript_dir, OPT_STR, .name = "transcript-dir", .value = "DIR",
	    .help = "write a transcript of each task there"),
	ROW(session_log, OPT_FLAG, .name = "session-log",
	    .help = "write a log of events"),
	ROW(session_dir, OPT_STR, .name = "session-dir", .value = "DIR",
	    .help = "where the log goes"),
	ROW(interpret, OPT_FLAG, .name = "interpret",
	    .help = "explain the results in plain words"),
	ROW(verbose, OPT_FLAG, .name = "verbose", .letter = 'v',
	    .help = "say more"),
	ROW(quiet, OPT_FLAG, .name = "quiet", .letter = 'q',
	    .help = "say nothing on the way"),
	ROW(no_color, OPT_FLAG, .name = "no-color",
	    .help = "no colours, even on a terminal"),
	ROW(config_path, OPT_STR, .name = "config-path", .value = "FILE",
	    .help = "settings over your own and the project's"),
	ROW(config_json, OPT_STR, .name = "config-json", .value = "TEXT",
	    .help = "settings over all others, as JSON"),
	ROW(strict, OPT_FLAG, .name = "strict",
	    .help = "take warnings about the suite for errors"),
};

enum { PASSES_MAX = 32 };

struct interrupt {
	struct sig_watch w;
	struct job *job;
};

/* All that a call of `waza run` has going on. */
struct job {
	struct waza_call *call;
	struct run_opt opt;
	struct run_opts run;		/* the same for all passes */
	struct spec_suite *suite;
	bool baseline;			/* a second pass is wanted */
	const struct spec_grader *compares;	/* needs it first, or NULL */
	struct loop *loop;
	struct procs procs;
	struct event_bus bus;
	struct waza_stream stream;
	struct report_console console;
	struct report_log log;
	struct report_transcripts transcripts;
	struct timer tick;
	struct interrupt sig[3];
	int signo;			/* what interrupted us */
	bool talks;			/* the console is there */
	struct run *cur;		/* NULL: none goes on */
	struct run *runs[2 * PASSES_MAX];
	size_t nruns;
	struct result_run *results[PASSES_MAX];	/* of the passes with skills */
	size_t nresults;
};

/* An error that has no run: also an event, where those are wanted. */
static void
tell_error(struct job *j, const char *type, const char *msg,
    struct spec_where at)
{
	struct event ev = { .type = EVENT_ERROR, .error_type = str_of(type),
		.message = str_of(msg), .line = at.line, .col = at.col };

	if (at.file != NULL)
		ev.file = str_of(at.file);
	event_emit(&j->bus, &ev);
}

/* Once there is a console, it is the one that prints error events. */
static int
fail(struct job *j, const char *type)
{
	tell_error(j, type, j->call->err->msg, (struct spec_where){ 0 });
	return j->talks ? WAZA_BAD : waza_complain(j->call->err);
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
print_notes(struct job *j, const struct spec_notes *notes)
{
	const struct spec_note *n;

	for (n = notes->head; n != NULL; n = n->next) {
		if (n->level == FIELD_ERROR || notes->strict || !j->opt.quiet)
			print_note(n);
		if (n->level == FIELD_ERROR || notes->strict)
			tell_error(j, "eval_load_failed", n->msg, n->at);
	}
	return notes->errors > 0 || (notes->strict && notes->warnings > 0) ?
	    WAZA_BAD : WAZA_OK;
}

static void
settle_cache(struct job *j)
{
	const struct spec_config *c = &j->suite->config;

	if (j->opt.no_cache || !(j->opt.cache || j->opt.cache_all || c->cache))
		return;
	j->run.cache_all = j->opt.cache_all;
	j->run.cache = waza_cache_dir(j->call, j->opt.cache_dir, j->suite);
}

/* Where options and suite have to agree. */
static void
settle(struct job *j, struct spec_notes *notes)
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
load(struct job *j)
{
	struct waza_call *c = j->call;
	struct spec_notes notes = { .arena = c->arena,
		.strict = j->opt.strict, .updates = j->opt.update };
	struct str executor;

	j->suite = spec_load(c->arena, waza_suite_path(c), &notes);
	if (j->suite != NULL) {
		waza_settings(c, j->opt.config_path, j->opt.config_json,
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

/* Digits only; strtol would take blanks and signs. */
static bool
read_number(const char **p, int64_t *n)
{
	const char *s = *p;

	for (*n = 0; *s >= '0' && *s <= '9' && *n < 1000000; s++)
		*n = *n * 10 + (*s - '0');
	if (s == *p)
		return false;
	*p = s;
	return true;
}

static int
read_shard(struct job *j)
{
	const char *s = j->opt.shard;

	if (s == NULL || (read_number(&s, &j->run.shard) && *s++ == '/' &&
	    read_number(&s, &j->run.shards) && *s == '\0' &&
	    j->run.shard >= 1 && j->run.shard <= j->run.shards))
		return 0;
	return err_set(j->call->err, ERR_SCHEMA,
	    "--shard needs K/N with K from 1 to N, not \"%s\"", j->opt.shard);
}

static int
read_format(struct job *j)
{
	const char *f = j->opt.format;

	if (f == NULL || strcmp(f, "text") == 0 || strcmp(f, "default") == 0)
		return 0;
	if (strcmp(f, "json") != 0 && strcmp(f, "stream-json") != 0)
		return err_set(j->call->err, ERR_SCHEMA,
		    "--format is text or json, not \"%s\"", f);
	j->opt.stream = true;
	return 0;
}

static int
check_models(struct job *j)
{
	const struct opt_list *m = &j->opt.models;
	size_t i, k;

	if (m->n > PASSES_MAX)
		return err_set(j->call->err, ERR_LIMIT,
		    "more than %d models", PASSES_MAX);
	for (i = 0; i < m->n; i++)
		for (k = 0; k < i; k++)
			if (strcmp(m->v[i], m->v[k]) == 0)
				return err_set(j->call->err, ERR_SCHEMA,
				    "--model %s is given twice", m->v[i]);
	return 0;
}

static int
check_reporters(struct job *j)
{
	const struct opt_list *r = &j->opt.reporters;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (report_check(r->v[i], j->call->err) == -1)
			return -1;
		if (j->opt.stream && report_flags(r->v[i]) & REPORT_STDOUT)
			return err_set(j->call->err, ERR_SCHEMA, "reporter %s "
			    "needs a file with --stream-json", r->v[i]);
	}
	return 0;
}

static int
read_options(struct job *j)
{
	const struct run_opt *o = &j->opt;

	j->run = (struct run_opts){ .trials = o->trials, .workers = o->workers,
		.timeout_seconds = o->timeout, .tasks = o->tasks.v,
		.ntasks = o->tasks.n, .tags = o->tags.v, .ntags = o->tags.n,
		.context_dir = o->context_dir, .resume = o->resume,
		.retry_errors = o->retry_errors,
		.rerun_failed = o->rerun_failed, .fail_fast = o->fail_fast,
		.keep_workspace = o->keep, .no_skills = o->no_skills,
		.update_snapshots = o->update,
		.verbose = o->verbose, .no_triggers = o->no_triggers,
		.record = o->record, .replay = o->replay };
	if (o->replay != NULL && o->executor != NULL)
		return err_set(j->call->err, ERR_SCHEMA, "--replay asks no "
		    "executor: --executor %s is too much", o->executor);
	if (o->replay != NULL)
		j->run.executor = STR("replay");
	if (o->executor != NULL)
		j->run.executor = str_of(o->executor);
	if (o->judge_model != NULL)
		j->run.judge_model = str_of(o->judge_model);
	if (read_format(j) == -1 || read_shard(j) == -1 ||
	    check_models(j) == -1)
		return -1;
	return check_reporters(j);
}

static void
on_signal(void *arg)
{
	struct interrupt *i = arg;
	struct job *j = i->job;

	j->signo = i->w.signo;
	if (j->cur != NULL)
		run_cancel(j->cur);
}

static void
on_tick(void *arg)
{
	struct job *j = arg;

	report_console_tick(&j->console, os_wall_ns() / 1000000);
	timer_start(j->loop, &j->tick, 100);
}

static int
start_loop(struct job *j)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct err *e = j->call->err;
	size_t i;

	j->loop = loop_new(NULL, e);
	if (j->loop == NULL)
		return -1;
	procs_init(&j->procs, j->loop, true);
	j->stream.loop = j->loop;
	for (i = 0; i < COUNTOF(signals); i++) {
		j->sig[i] = (struct interrupt){ .job = j };
		j->sig[i].w = (struct sig_watch){ .signo = signals[i],
			.fn = on_signal, .arg = &j->sig[i] };
		if (sig_start(j->loop, &j->sig[i].w, e) == -1)
			return -1;
	}
	return 0;
}

static int
start_sinks(struct job *j)
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
		j->log.suite = str_of(j->suite->path);
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
	struct job *j = arg;

	timer_stop(j->loop, &j->tick);
	j->cur = j->stream.run = NULL;
}

static int
run_pass(struct job *j, const struct run_opts *o, struct run **out)
{
	struct err *e = j->call->err;
	int r;

	j->cur = run_new(j->loop, &j->procs, j->suite, o, &j->bus, e);
	if (j->cur == NULL)
		return fail(j, "run_failed");
	*out = j->runs[j->nruns++] = j->stream.run = j->cur;
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
	return run_error(*out)->code != ERR_NONE ? WAZA_BAD : WAZA_OK;
}

static int
run_baseline(struct job *j, const struct run_opts *with, struct run **out)
{
	struct run_opts o = *with;

	o.no_skills = true;
	if (o.output != NULL)
		o.journal = arena_fmt(j->call->arena, "%s.baseline.journal",
		    o.output).p;
	o.output = NULL;
	return run_pass(j, &o, out);
}

/* The pass of one model, and its baseline; that first, if it is needed. */
static int
run_model(struct job *j, const char *model)
{
	struct run_opts o = j->run;
	struct run *with = NULL, *without = NULL;
	int r;

	if (model != NULL)
		o.model = str_of(model);
	if (j->opt.models.n > 1) {
		o.record = waza_model_dir(j->call->arena, o.record, model,
		    true);
		o.replay = waza_model_dir(j->call->arena, o.replay, model,
		    false);
	}
	if (j->opt.output != NULL)
		o.output = j->opt.models.n > 1 ? waza_model_path(j->call->arena,
		    j->opt.output, model) : j->opt.output;
	if (j->compares != NULL) {
		r = run_baseline(j, &o, &without);
		if (r != WAZA_OK || j->signo != 0 || j->stream.lost)
			return r;
		o.against = run_results(without);
	}
	r = run_pass(j, &o, &with);
	if (with != NULL)
		j->results[j->nresults++] = run_results(with);
	if (r != WAZA_OK || j->signo != 0 || j->stream.lost ||
	    !j->baseline)
		return r;
	if (without == NULL) {
		r = run_baseline(j, &o, &without);
		if (r != WAZA_OK)
			return r;
	}
	run_results(with)->baseline = run_results(without);
	if (o.output != NULL && result_write(run_results(with), o.output,
	    j->call->err) == -1)
		return fail(j, "results_failed");
	return WAZA_OK;
}

static int
run_models(struct job *j)
{
	const struct opt_list *m = &j->opt.models;
	size_t i;
	int r = WAZA_OK;

	if (m->n == 0)
		return run_model(j, NULL);
	for (i = 0; i < m->n && r == WAZA_OK; i++) {
		if (j->signo != 0 || j->stream.lost)
			break;
		r = run_model(j, m->v[i]);
	}
	return r;
}

/* On stdout, unless something else has it to itself. */
static int
print_reports(struct job *j)
{
	struct report_opts o = { 0 };
	struct buf out = { 0 };
	size_t i;
	bool alone = j->opt.stream;

	for (i = 0; i < j->opt.reporters.n; i++)
		alone |= report_flags(j->opt.reporters.v[i]) & REPORT_ALONE;
	if (alone)
		return WAZA_OK;
	report_env(&o, STDOUT_FILENO);
	o.color = o.color && !j->opt.no_color;
	o.verbose = j->opt.verbose;
	o.interpret = j->opt.interpret;
	for (i = 0; i < j->nresults; i++)
		report_text(&out, j->results[i], &o);
	if (j->nresults > 1)
		report_models(&out, j->results, j->nresults, &o);
	return waza_finish(j->call, &out, WAZA_OK);
}

/* Whatever the outcome, every reporter has its turn. */
static int
write_reports(struct job *j)
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
all_ok(const struct job *j)
{
	const struct result_run *r;
	size_t i;

	for (i = 0; i < j->nresults; i++) {
		r = j->results[i];
		if (r->ntasks == 0 && j->run.shards > 0)
			continue;	/* more shards than tasks */
		if (!result_ok(r))
			return false;
		if (r->baseline != NULL && r->rate < r->baseline->rate)
			return false;	/* worse with its skill */
	}
	return j->nresults > 0;
}

static int
run_all(struct job *j)
{
	int status, reports;

	if (load(j) != WAZA_OK)
		return WAZA_BAD;
	if (start_loop(j) == -1 || start_sinks(j) == -1)
		return fail(j, "system");
	status = run_models(j);
	report_console_clear(&j->console);
	reports = write_reports(j);
	if (j->signo != 0)
		return 128 + j->signo;
	if (status != WAZA_OK || reports != WAZA_OK || j->stream.lost)
		return WAZA_BAD;
	return all_ok(j) ? WAZA_OK : WAZA_NO;
}

static void
clean_up(struct job *j)
{
	size_t i;

	report_console_end(&j->console);
	report_log_end(&j->log);
	report_transcripts_end(&j->transcripts);
	waza_stream_end(&j->stream);
	for (i = 0; i < j->nruns; i++)
		run_free(j->runs[i]);
	if (j->loop == NULL)
		return;
	for (i = 0; i < COUNTOF(j->sig); i++)
		sig_stop(j->loop, &j->sig[i].w);
	procs_fini(&j->procs);
	loop_free(j->loop);
}

static int
cmd_run(struct waza_call *c)
{
	struct job *j = NEW(c->arena, struct job);
	int status;

	j->call = c;
	j->opt = *(const struct run_opt *)c->opt;
	j->log.fd = -1;
	if (read_options(j) == -1)
		return waza_complain(c->err);
	if (j->opt.stream)
		waza_stream_start(&j->stream, &j->bus);
	status = run_all(j);
	waza_stream_flush(&j->stream, &j->signo);
	clean_up(j);
	return status;
}

const struct waza_command waza_run = {
	.name = "run", .usage = "[OPTION ...] [EVAL.yaml|DIR]",
	.opts = WAZA_OPTS(run_rows), .size = sizeof(struct run_opt),
	.max = 1, .fn = cmd_run,
	.help = "run a suite, grade the answers, report"
};

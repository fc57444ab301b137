/* SPDX-License-Identifier: ISC */
/*
 * waza run: runs a suite from the shell, an IDE or CI.
 *
 * One pass runs one suite once with one model; run_units.c has the passes of
 * several suites, of several models, and of the baseline without skills.  With
 * --stream-json, stdout contains events and nothing else; otherwise it
 * contains the report, at the end.
 */
#include "cmd/run.h"

#include <string.h>

#include "agent/agent.h"
#include "base/os.h"
#include "cmd/evalclients.h"
#include "cmd/client/run_on_server.h"
#include "cmd/workspace.h"
#include "grader.h"
#include "report/report_suites.h"
#include "results/result.h"
#include "suite/spec.h"

enum { PARALLEL_WORKERS = 4 };	/* of --parallel, if the suite sets none */

#define OPT(m, t, ...) CMD_OPT(cmd_run_opt, m, t, __VA_ARGS__)
#define SELECT(m, t, ...) OPT(selection.m, t, __VA_ARGS__)
#define EXECUTE(m, t, ...) OPT(execution.m, t, __VA_ARGS__)
#define REUSE(m, t, ...) OPT(reuse.m, t, __VA_ARGS__)
#define SERVER(m, t, ...) OPT(server.m, t, __VA_ARGS__)
#define OUTPUT(m, t, ...) OPT(output.m, t, __VA_ARGS__)
#define RECORDS "--stream-json and --session-log record the run"
#define OTHER(n, advice) { .name = n, .instead = advice }
static const struct opt run_rows[] = {
	CMD_JOB_OPT(tasks, OPT_LIST, .name = "task", .letter = 't',
	    .value = "GLOB", .group = "Selection",
	    .help = "only tasks with a matching id or name (repeatable)"),
	SELECT(tags, OPT_LIST, .name = "tags", .value = "GLOB",
	    .help = "only tasks with a matching tag (repeatable)"),
	SELECT(shard, OPT_STR, .name = "shard", .value = "K/N",
	    .help = "only every Nth task, starting with the Kth"),
	SELECT(discover, OPT_MAYBE, .name = "discover", .value = "DIR",
	    .help = "all suites and skills below a directory (default: .)"),
	SELECT(no_triggers, OPT_FLAG, .name = "no-triggers",
	    .help = "skip the trigger tests"),
	SELECT(no_skills, OPT_FLAG, .name = "no-skills",
	    .help = "run without the suite's skills"),
	SELECT(baseline, OPT_FLAG, .name = "baseline",
	    .help = "add a pass without skills and compare with it"),
	EXECUTE(executor, OPT_STR, .name = "executor", .value = "NAME",
	    .group = "Execution",
	    .help = "executor (default: the suite's)"),
	EXECUTE(models, OPT_LIST, .name = "model", .letter = 'm',
	    .value = "NAME",
	    .help = "model (default: the suite's); repeat it for more passes"),
	EXECUTE(trials, OPT_INT, .name = "trials", .value = "N", .min = 1,
	    .max = 100000, .help = "trials of each task (default: the suite's)"),
	EXECUTE(timeout, OPT_INT, .name = "timeout", .value = "SECONDS",
	    .min = 1, .max = 86400,
	    .help = "time limit of a trial (default: the suite's)"),
	EXECUTE(parallel, OPT_FLAG, .name = "parallel",
	    .help = "use the suite's number of workers, or 4"),
	EXECUTE(fail_fast, OPT_FLAG, .name = "fail-fast",
	    .help = "start no more tasks after one that did not pass"),
	EXECUTE(skip_graders, OPT_FLAG, .name = "skip-graders",
	    .help = "collect answers only; grade them with waza grade"),
	EXECUTE(context_dir, OPT_STR, .name = "context-dir", .letter = 'c',
	    .value = "DIR",
	    .help = "directory of input files (default: fixtures)"),
	EXECUTE(keep, OPT_FLAG, .name = "keep-workspace",
	    .help = "do not remove the workspaces of trials"),
	CMD_JOB_EXECUTION,
	CMD_CONFIG_OPTS(cmd_run_opt, execution.config_path,
	    execution.config_json, execution.trust),
	REUSE(resume, OPT_FLAG, .name = "resume", .group = "Reuse",
	    .help = "continue an interrupted run"),
	REUSE(retry_errors, OPT_FLAG, .name = "retry-errors",
	    .help = "repeat trials that ended in an error"),
	REUSE(rerun_failed, OPT_FLAG, .name = "rerun-failed",
	    .help = "repeat trials that did not pass"),
	REUSE(record, OPT_STR, .name = "record", .value = "DIR",
	    .help = "record the answers of agents"),
	REUSE(replay, OPT_STR, .name = "replay", .value = "DIR",
	    .help = "replay recorded answers, without an agent"),
	REUSE(cache, OPT_FLAG, .name = "cache",
	    .help = "reuse trials that have not changed"),
	REUSE(cache_all, OPT_FLAG, .name = "cache-all",
	    .help = "like --cache, and also trials that a model judges"),
	REUSE(no_cache, OPT_FLAG, .name = "no-cache",
	    .help = "do not use the cache, even if the settings do"),
	REUSE(cache_dir, OPT_STR, .name = "cache-dir", .value = "DIR",
	    .help = "directory of the cache (default: .waza-cache)"),
	SERVER(on_server, OPT_FLAG, .name = "remote", .group = "Servers",
	    .help = "run on the connected server"),
	SERVER(connect, OPT_STR, .name = "connect", .value = "TARGET",
	    .help = "run on this server"),
	SERVER(framing, OPT_STR, .name = "framing", .value = "line|lsp",
	    .help = "framing of messages to the server"),
	SERVER(http, OPT_LIST, .name = "http", .value = "HOST:PORT",
	    .help = "listen here for evaluation clients (port 0: any free)"),
	SERVER(allow_remote, OPT_FLAG, .name = "allow-remote",
	    .help = "accept clients from other machines; needs a token"),
	SERVER(no_token, OPT_FLAG, .name = "no-token",
	    .help = "accept clients of all users here without a token"),
	SERVER(token_file, OPT_STR, .name = "token-file", .value = "FILE",
	    .help = "token for the server, or for clients of --http"),
	CMD_JOB_OUTPUT,
	OUTPUT(output_dir, OPT_STR, .name = "output-dir", .letter = 'd',
	    .value = "DIR",
	    .help = "write results to a new directory below DIR"),
	OUTPUT(no_summary, OPT_FLAG, .name = "no-summary",
	    .help = "write no summary of several suites"),
	CMD_JOB_OPT(format, OPT_STR, .name = "format", .letter = 'f',
	    .value = "text|json|github-comment",
	    .help = "json: events as by --stream-json"),
	OUTPUT(recommend, OPT_FLAG, .name = "recommend",
	    .help = "recommend one of several models"),
	OUTPUT(stream, OPT_FLAG, .name = "stream-json",
	    .help = "print events, one JSON object per line"),
	OUTPUT(transcript_dir, OPT_STR, .name = "transcript-dir",
	    .value = "DIR", .help = "write a transcript of each task"),
	OUTPUT(session_log, OPT_FLAG, .name = "session-log",
	    .help = "write a log of events"),
	OUTPUT(session_dir, OPT_STR, .name = "session-dir", .value = "DIR",
	    .help = "directory of that log (default: .)"),
	OUTPUT(debug, OPT_FLAG, .name = "debug",
	    .help = "the same as --verbose"),
	/* of other versions */
	OUTPUT(no_update_check, OPT_FLAG, .name = "no-update-check"),
	OTHER("suggest", "waza suggest SKILL asks a model for better tasks"),
	OTHER("auto-file-issue", "give the report of --reporter markdown:FILE "
	    "to gh issue create"),
	OTHER("otel-exporter", RECORDS),
	OTHER("otel-endpoint", RECORDS),
	OTHER("otel-headers", RECORDS),
	OTHER("otel-file", RECORDS),
	OTHER("otel-include-payloads", "--transcript-dir has the payloads"),
	OTHER("snapshot", "--record DIR keeps the answers, --replay DIR uses "
	    "them"),
	OTHER("snapshot-env-allow", "recordings contain no environment"),
	OTHER("redact", "--record masks the secrets of the environment"),
};

/*
 * Options.
 */

/* Digits only; strtol would accept blanks and signs. */
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
read_shard(struct cmd_run *r)
{
	const char *s = r->opt.selection.shard;

	r->job.sharded = s != NULL;
	if (s == NULL || (read_number(&s, &r->run.shard) && *s++ == '/' &&
	    read_number(&s, &r->run.shards) && *s == '\0' &&
	    r->run.shard >= 1 && r->run.shard <= r->run.shards))
		return 0;
	return err_set(r->job.call->err, ERR_SCHEMA, "--shard must be K/N "
	    "with K from 1 to N, not \"%s\"", r->opt.selection.shard);
}

static int
read_format(struct cmd_run *r)
{
	static const char *const formats[] = { "text", "json",
		"github-comment" };
	const char *f = r->opt.job.format;

	if (f != NULL && (strcmp(f, "json") == 0 ||
	    strcmp(f, "stream-json") == 0))
		r->opt.output.stream = true;
	else if (f != NULL && strcmp(f, "github-comment") == 0)
		opt_add(r->job.call->arena, &r->opt.job.reporters,
		    "markdown:-");
	else if (f != NULL && strcmp(f, "default") != 0 &&
	    cmd_choose("format", f, formats, COUNTOF(formats),
	    r->job.call->err) == -1)
		return -1;
	r->opt.job.verbose |= r->opt.output.debug;
	r->job.no_progress = r->opt.output.stream;
	if (r->opt.output.stream)
		r->job.owns_stdout = "--stream-json";
	return 0;
}

static int
check_models(struct cmd_run *r)
{
	const struct opt_list *m = &r->opt.execution.models;
	struct err *e = r->job.call->err;
	size_t i, k;

	if (m->n > CMD_MODELS_MAX)
		return err_set(e, ERR_LIMIT, "more than %d models",
		    CMD_MODELS_MAX);
	for (i = 0; i < m->n; i++)
		for (k = 0; k < i; k++)
			if (strcmp(m->v[i], m->v[k]) == 0)
				return err_set(e, ERR_SCHEMA, "--model %s is "
				    "given twice", m->v[i]);
	return 0;
}

static struct str
or_empty(const char *s)
{
	return s != NULL ? str_of(s) : STR("");
}

/* The options, as the engine wants them. */
static struct run_opts
engine_opts(const struct cmd_run_opt *o)
{
	return (struct run_opts){
		.executor = or_empty(o->reuse.replay != NULL ? "replay" :
		    o->execution.executor),
		.judge_model = or_empty(o->job.judge_model),
		.trials = o->execution.trials, .workers = o->job.workers,
		.timeout_seconds = o->execution.timeout,
		.tasks = o->job.tasks.v, .ntasks = o->job.tasks.n,
		.tags = o->selection.tags.v, .ntags = o->selection.tags.n,
		.context_dir = o->execution.context_dir,
		.resume = o->reuse.resume,
		.retry_errors = o->reuse.retry_errors,
		.rerun_failed = o->reuse.rerun_failed,
		.fail_fast = o->execution.fail_fast,
		.skip_graders = o->execution.skip_graders,
		.keep_workspace = o->execution.keep, .sweep = true,
		.no_skills = o->selection.no_skills,
		.update_snapshots = o->job.update, .verbose = o->job.verbose,
		.no_triggers = o->selection.no_triggers,
		.record = o->reuse.record, .replay = o->reuse.replay
	};
}

/* -1: the call's err describes what is wrong with the options. */
static int
read_options(struct cmd_run *r)
{
	struct cmd_run_opt *o = &r->opt;

	r->run = engine_opts(o);
	if (o->reuse.replay != NULL && o->execution.executor != NULL)
		return err_set(r->job.call->err, ERR_SCHEMA, "--replay uses "
		    "no executor: remove --executor %s",
		    o->execution.executor);
	if (read_format(r) == -1 || read_shard(r) == -1 ||
	    check_models(r) == -1 || cmd_run_files_check(r) == -1)
		return -1;
	if (o->output.recommend && o->execution.models.n < 2)
		return err_set(r->job.call->err, ERR_SCHEMA, "--recommend "
		    "compares models: give --model at least twice");
	r->job.on_server = o->server.on_server || o->server.connect != NULL;
	r->job.adopt = !r->job.on_server;
	if (r->job.on_server && cmd_on_server_check(r) == -1)
		return -1;
	if (r->job.on_server && r->job.call->nargs > 1)
		return err_set(r->job.call->err, ERR_SCHEMA, "unexpected "
		    "argument: %s (a server runs one suite per call)",
		    r->job.call->args[1]);
	return cmd_job_check(&r->job);
}

/*
 * The suites, and where they and the options have to agree.
 */
static void
settle_cache(struct cmd_run *r, struct cmd_suite *s)
{
	const struct spec_config *c = &s->spec->config;

	if (r->opt.reuse.no_cache ||
	    !(r->opt.reuse.cache || r->opt.reuse.cache_all || c->cache))
		return;
	s->run.cache_all = r->opt.reuse.cache_all;
	s->run.cache = cmd_cache_dir(r->job.call, r->opt.reuse.cache_dir,
	    c->cache_dir);
}

static void
settle_baseline(struct cmd_run *r, struct cmd_suite *suite,
    struct spec_notes *notes)
{
	const struct spec_suite *s = suite->spec;
	struct spec_where at = { .file = s->path };

	suite->baseline = r->opt.selection.baseline || s->baseline;
	if (suite->baseline && (r->opt.selection.no_skills ||
	    (s->config.skill_directories.n == 0 &&
	    s->config.required_skills.n == 0))) {
		spec_note(notes, FIELD_WARNING, at, "the suite has no skills: "
		    "no baseline is run");
		suite->baseline = false;
	}
	suite->compares = grader_comparing(s);
	if (suite->compares != NULL && !suite->baseline)
		spec_note(notes, FIELD_ERROR, suite->compares->at, "mode "
		    "\"pairwise\" compares with the baseline: it needs "
		    "--baseline or \"baseline: true\", and skills to leave "
		    "out");
}

static void
load_suite(struct cmd_run *r, struct cmd_suite *s, struct spec_notes *notes)
{
	struct cmd_job *j = &r->job;
	const struct opt_list *models = &r->opt.execution.models;
	struct spec_config *c;

	s->run = r->run;
	s->spec = spec_load(j->call->arena, s->path, notes);
	if (s->spec == NULL)
		return;
	cmd_settings(j->call, r->opt.execution.config_path,
	    r->opt.execution.config_json, s->spec, notes);
	c = &s->spec->config;
	if (models->n > 0 && c->model.n == 0)
		c->model = str_of(models->v[0]);
	agent_check(s->spec, s->run.executor.n > 0 ? s->run.executor :
	    c->executor, notes);
	grader_check(s->spec, notes);
	j->opt->verbose |= c->verbose;
	r->opt.output.session_log |= c->session_log;
	if (r->opt.execution.parallel && s->run.workers == 0 &&
	    c->workers == 0)
		s->run.workers = PARALLEL_WORKERS;
	settle_cache(r, s);
	settle_baseline(r, s, notes);
	s->selected = run_count_tasks(s->spec, &s->run) > 0;
}

/* Many suites note the same about the files that they share. */
static void
drop_repeats(struct spec_notes *notes)
{
	struct spec_note *n, *m, *last = NULL;

	for (n = notes->head; n != NULL; n = n->next) {
		for (m = notes->head; m != n; m = m->next)
			if (m->at.line == n->at.line && m->level == n->level &&
			    m->at.col == n->at.col &&
			    strcmp(m->msg, n->msg) == 0 &&
			    strcmp(m->at.file, n->at.file) == 0)
				break;
		if (m == n)
			last = n;
		else
			last->next = n->next;
	}
}

/* Suites without a selected task are left out; one stays, to complain. */
static void
select_suites(struct cmd_run *r)
{
	size_t i, k = 0;

	for (i = 0; i < r->nsuites; i++)
		k += r->suites[i].selected;
	if (k == 0 && r->nsuites > 1)
		r->nsuites = 1;
	if (k == 0 || k == r->nsuites)
		return;
	for (i = k = 0; i < r->nsuites; i++)
		if (r->suites[i].selected)
			r->suites[k++] = r->suites[i];
	r->nsuites = k;
}

/* One unit per suite and model; many suites share their slots. */
static void
plan_units(struct cmd_run *r)
{
	const struct opt_list *m = &r->opt.execution.models;
	size_t i, k, n = m->n > 0 ? m->n : 1, workers;
	const struct cmd_suite *s;

	r->units = NEW_N(r->job.call->arena, struct cmd_unit, r->nsuites * n);
	for (i = 0; i < r->nsuites; i++) {
		s = &r->suites[i];
		for (k = 0; k < n; k++)
			r->units[r->nunits++] = (struct cmd_unit){
				.suite = s,
				.model = m->n > 0 ? m->v[k] : NULL };
		r->job.tasks += (int64_t)(n * (s->baseline ? 2 : 1) *
		    run_count_tasks(s->spec, &s->run));
		workers = run_count_workers(s->spec, &s->run);
		if (workers > r->share.slots)
			r->share.slots = workers;
	}
	r->job.many = r->nsuites > 1;
	r->job.suite = r->suites[0].spec;
}

static int
find_suites(struct cmd_run *r)
{
	const struct cmd_run_opt *o = &r->opt;
	struct cmd_find how = { .config_path = o->execution.config_path,
		.config_json = o->execution.config_json,
		.trust = o->execution.trust, .strict = o->job.strict,
		.discover = o->selection.discover };
	struct cmd_found *found;
	size_t i;

	if (cmd_find_suites(r->job.call, &how, &found, &r->nsuites,
	    &r->skipped) == -1)
		return -1;
	r->suites = NEW_N(r->job.call->arena, struct cmd_suite, r->nsuites);
	for (i = 0; i < r->nsuites; i++) {
		r->suites[i].name = found[i].name;
		r->suites[i].path = found[i].path;
	}
	return 0;
}

static int
load(struct cmd_run *r)
{
	struct cmd_job *j = &r->job;
	struct spec_notes notes = { .arena = j->call->arena,
		.strict = j->opt->strict, .updates = j->opt->update,
		.trust = r->opt.execution.trust };
	size_t i;

	if (find_suites(r) == -1)
		return cmd_complain(j->call->err);
	agent_expect(&notes, r->run.executor);
	for (i = 0; i < r->nsuites; i++)
		load_suite(r, &r->suites[i], &notes);
	if (r->nsuites > 1)
		drop_repeats(&notes);
	if (cmd_job_print_notes(j, &notes) != CMD_OK)
		return CMD_ERROR;
	if (r->skipped > 0 && !j->opt->quiet)
		cmd_say("waza: %zu skill%s without a suite: skipped\n",
		    r->skipped, r->skipped == 1 ? "" : "s");
	select_suites(r);
	cmd_run_files_name(r);
	plan_units(r);
	return CMD_OK;
}

/*
 * Output while it runs.
 */
static void
cancel_on_server(struct cmd_job *j)
{
	struct cmd_run *r = (struct cmd_run *)(void *)j;

	if (r->server != NULL)
		cmd_on_server_cancel(r->server);
}

static void
on_stdout_lost(void *arg)
{
	cmd_job_cancel(&((struct cmd_run *)arg)->job);
}

/* Pauses the run while the reader of stdout is slow. */
static void
hold(void *arg, bool on)
{
	struct cmd_run *r = arg;

	cmd_job_hold(&r->job, on);
	if (r->server != NULL)
		cmd_on_server_hold(r->server, on);
}

static void
on_event(void *arg, const struct event *ev)
{
	struct cmd_run *r = arg;
	struct buf b = { 0 };

	event_line(&b, ev);
	guard_output(&b, 0, GUARD_JSON);
	cmd_stdout_put(&r->out, buf_str(&b));
	buf_free(&b);
}

static int
start(struct cmd_run *r)
{
	struct cmd_job *j = &r->job;
	const char *dir = r->opt.output.session_dir;

	if (cmd_job_start(j) == -1 || cmd_run_files_open(r) == -1)
		return -1;
	r->out.loop = j->loop;
	if (r->opt.output.session_log || dir != NULL) {
		r->log.suite = str_of(j->suite != NULL ? j->suite->path :
		    j->call->nargs > 0 ? j->call->args[0] : "eval.yaml");
		if (report_log_start(&r->log, dir != NULL ? dir : ".",
		    &j->bus, j->call->err) == -1)
			return -1;
	}
	if (r->opt.output.transcript_dir != NULL &&
	    report_transcripts_start(&r->transcripts,
	    r->opt.output.transcript_dir, &j->bus, j->call->err) == -1)
		return -1;
	return cmd_evalclients_open(r);
}

/*
 * Passes.
 */
bool
cmd_run_interrupted(const struct cmd_run *r)
{
	return r->job.signals.signo != 0 || r->out.lost;
}

/* A pass on the server with this model; NULL: the suite's. */
static int
pass_on_server(struct cmd_run *r, const char *model)
{
	struct cmd_job *j = &r->job;
	const char *output = r->opt.job.output;
	int status;

	if (output != NULL && r->opt.execution.models.n > 1)
		output = cmd_model_path(j->call->arena, output, model);
	cmd_job_tick(j, true);
	status = cmd_on_server_pass(r->server, model, output);
	cmd_job_tick(j, false);
	if (status != CMD_OK && j->signals.signo == 0 &&
	    j->call->err->code != ERR_NONE)
		return cmd_job_fail(j, "remote_failed");
	return status;
}

static int
run_on_server(struct cmd_run *r)
{
	const struct opt_list *m = &r->opt.execution.models;
	int status = CMD_OK;
	size_t i;

	r->server = cmd_on_server_open(r);
	if (r->server == NULL)
		return CMD_ERROR;
	if (m->n == 0)
		status = pass_on_server(r, NULL);
	for (i = 0; i < m->n && status == CMD_OK &&
	    !cmd_run_interrupted(r); i++)
		status = pass_on_server(r, m->v[i]);
	return status;
}

static void
print_suites(struct cmd_job *j, struct buf *out, const struct report_opts *o)
{
	struct report_suites all = cmd_run_results((struct cmd_run *)(void *)j);

	report_suites_text(out, &all, o);
}

static int
run_all(struct cmd_run *r)
{
	struct cmd_job *j = &r->job;
	int status, reports, files = CMD_OK;

	if (!j->on_server && load(r) != CMD_OK)
		return CMD_ERROR;
	if (start(r) == -1)
		return cmd_job_fail(j, "system");
	status = j->on_server ? run_on_server(r) : cmd_run_units(r);
	if (j->on_server && r->server == NULL)
		return status;
	report_console_clear(&j->console);
	reports = cmd_job_report(j);	/* of what there is, in any case */
	if (!j->on_server)
		files = cmd_run_files_close(r);
	return cmd_exit_status(j, status != CMD_OK || reports != CMD_OK ||
	    files != CMD_OK);
}

/* Runs end before the connections that they use, and those before the loop. */
static void
clean_up(struct cmd_run *r)
{
	report_log_end(&r->log);
	report_transcripts_end(&r->transcripts);
	cmd_stdout_end(&r->out);
	cmd_job_free_runs(&r->job);
	cmd_on_server_close(r->server);
	cmd_evalclients_close(r);
	cmd_job_end(&r->job);
}

static int
run_main(struct cmd_call *c)
{
	struct cmd_run *r = NEW(c->arena, struct cmd_run);
	int status;

	r->opt = *(const struct cmd_run_opt *)c->opt;
	r->job.call = c;
	r->job.opt = &r->opt.job;
	r->job.cancelled = cancel_on_server;
	r->job.print = print_suites;
	r->started_ms = os_now_ms();
	r->log.fd = -1;
	if (read_options(r) == -1)
		return cmd_complain(c->err);
	if (r->opt.output.stream) {
		r->out = (struct cmd_stdout){ .hold = hold,
			.gone = on_stdout_lost, .arg = r };
		r->stream = (struct event_sink){ .fn = on_event, .arg = r };
		event_listen(&r->job.bus, &r->stream);
	}
	status = run_all(r);
	cmd_stdout_flush(&r->out, &r->job.signals.signo);
	if (r->out.lost && r->job.signals.signo == 0)
		status = cmd_complain_stdout(r->out.sys);
	clean_up(r);
	return status;
}

const struct cmd_command cmd_run = {
	.name = "run", .group = CMD_RUNS,
	.usage = "[OPTION ...] [EVAL.yaml|DIR|SKILL ...]",
	.opts = CMD_OPTS(run_rows), .size = sizeof(struct cmd_run_opt),
	.max = SIZE_MAX, .fn = run_main,
	.help = "Run suites, grade the answers and report"
};

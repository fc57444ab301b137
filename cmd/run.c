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

#include "base/os.h"
#include "cmd/server/evalclients.h"
#include "cmd/client/run_on_server.h"
#include "cmd/scale/on.h"
#include "report/report_suites.h"
#include "results/result.h"
#include "suite/spec.h"

#define OPT(m, t, ...) CMD_OPT(cmd_run_opt, m, t, __VA_ARGS__)
#define SELECT(m, t, ...) OPT(selection.m, t, __VA_ARGS__)
#define EXECUTE(m, t, ...) OPT(execution.m, t, __VA_ARGS__)
#define REUSE(m, t, ...) OPT(reuse.m, t, __VA_ARGS__)
#define SERVER(m, t, ...) OPT(server.m, t, __VA_ARGS__)
#define OUTPUT(m, t, ...) OPT(output.m, t, __VA_ARGS__)
#define OTHER(n, advice) { .name = n, .instead = advice }
static const struct opt run_rows[] = {
	CMD_JOB_OPT(tasks, OPT_LIST, .name = "task", .letter = 't',
	    .value = "GLOB", .group = "Selection",
	    .help = "only tasks with a matching id or name (repeatable)"),
	SELECT(tags, OPT_LIST, .name = "tags", .value = "GLOB",
	    .help = "only tasks with a matching tag (repeatable)"),
	SELECT(words, OPT_LIST, .name = "keyword", .letter = 'k',
	    .value = "PATTERN",
	    .help = "only tasks with this in id, name or tag (repeatable)"),
	SELECT(limit, OPT_INT, .name = "limit", .value = "N", .min = 1,
	    .max = INT32_MAX, .help = "only the first N tasks of each suite"),
	SELECT(list, OPT_FLAG, .name = "list",
	    .help = "list the selected tasks and exit"),
	SELECT(dry_run, OPT_FLAG, .name = "dry-run",
	    .help = "check everything and print what would run"),
	SELECT(changed, OPT_MAYBE, .name = "changed", .value = "REF",
	    .help = "only what differs from a git revision (default: where "
	    "the branch began)"),
	SELECT(watch, OPT_FLAG, .name = "watch",
	    .help = "run again what a changed file affects"),
	OPT(shard.shard, OPT_STR, .name = "shard", .value = "K/N|auto",
	    .help = "only part K of N; auto: from the job's environment"),
	OPT(shard.shards, OPT_INT, .name = "shards", .value = "N", .min = 1,
	    .max = 1000000, .help = "number of shards, for --shard or --on"),
	OPT(shard.by, OPT_STR, .name = "shard-by", .value = "HOW",
	    .help = "divide by count, hash or time=FILE (default: count)"),
	OPT(shard.trials, OPT_FLAG, .name = "shard-trials",
	    .help = "divide the trials of each task"),
	OPT(on.engine, OPT_STR, .name = "on",
	    .value = "local|parallel|slurm|kubernetes",
	    .help = "run the shards as jobs"),
	OPT(on.options, OPT_LIST, .name = "on-option", .value = "OPTION",
	    .help = "an option for the engine (repeatable)"),
	OPT(on.dir, OPT_STR, .name = "on-dir", .value = "DIR",
	    .help = "directory that all jobs share (default: .waza/on/ID)"),
	SELECT(discover, OPT_MAYBE, .name = "discover", .value = "DIR",
	    .help = "all suites and skills below a directory (default: .)"),
	SELECT(no_triggers, OPT_FLAG, .name = "no-triggers",
	    .help = "skip the trigger tests"),
	SELECT(no_skills, OPT_FLAG, .name = "no-skills",
	    .help = "run without the suite's skills"),
	SELECT(baseline, OPT_FLAG, .name = "baseline",
	    .help = "add a pass without skills and compare with it"),
	SELECT(baseline_ref, OPT_STR, .name = "baseline-ref", .value = "REF",
	    .help = "compare with the skills of a git revision, and without"),
	EXECUTE(executors, OPT_LIST, .name = "executor",
	    .value = "NAME[,NAME...]", .group = "Execution",
	    .help = "executor (default: the suite's); several are compared"),
	EXECUTE(models, OPT_LIST, .name = "model", .letter = 'm',
	    .value = "NAME",
	    .help = "model (default: the suite's); repeat it to compare more"),
	EXECUTE(trials, OPT_INT, .name = "trials", .value = "N", .min = 1,
	    .max = 100000, .help = "trials of each task (default: the suite's)"),
	EXECUTE(timeout, OPT_INT, .name = "timeout", .value = "SECONDS",
	    .min = 1, .max = 86400,
	    .help = "time limit of a trial (default: the suite's)"),
	EXECUTE(parallel, OPT_FLAG, .name = "parallel",
	    .help = "use the suite's number of workers, or 4"),
	EXECUTE(fail_fast, OPT_FLAG, .name = "fail-fast",
	    .help = "start no more tasks after one that did not pass"),
	EXECUTE(max_failures, OPT_INT, .name = "max-failures", .value = "N",
	    .min = 1, .max = INT32_MAX,
	    .help = "start no more tasks after N that did not pass"),
	OPT(stop.rule, OPT_STR, .name = "stop", .value = "decided|ci=WIDTH",
	    .help = "start no trials that cannot change the verdict; or go on "
	    "until pass rates are known so well"),
	OPT(stop.max_trials, OPT_INT, .name = "max-trials", .value = "N",
	    .min = 1, .max = 100000,
	    .help = "with --stop ci, trials of a task at most (default: 200)"),
	OPT(budget.usd, OPT_STR, .name = "budget-usd", .value = "DOLLARS",
	    .help = "start no trial that is expected to exceed this"),
	OPT(budget.tokens, OPT_INT, .name = "budget-tokens", .value = "N",
	    .min = 1, .max = INT64_C(1000000000000000),
	    .help = "the same for tokens, read and written"),
	OPT(budget.time, OPT_STR, .name = "budget-time", .value = "TIME",
	    .help = "the same for time: seconds, or 10m, 2h"),
	OPT(budget.allow_unmetered, OPT_FLAG, .name = "allow-unmetered",
	    .help = "with a budget, allow agents that do not report usage"),
	EXECUTE(vars, OPT_LIST, .name = "var", .value = "NAME=VALUE",
	    .help = "set a variable of templates (repeatable)"),
	EXECUTE(seed, OPT_INT, .name = "seed", .value = "N", .min = 1,
	    .max = INT64_C(1) << 53, .help = "seed of the statistics"),
	EXECUTE(controls, OPT_LIST, .name = "control",
	    .value = "null|echo|FILE",
	    .help = "first try an answer that must not pass (repeatable)"),
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
	SERVER(send, OPT_STR, .name = "send", .value = "URL",
	    .help = "send journals and results to a server that merges"),
	CMD_JOB_OUTPUT,
	OUTPUT(output_dir, OPT_STR, .name = "output-dir", .letter = 'd',
	    .value = "DIR",
	    .help = "write results to a new directory below DIR"),
	OUTPUT(no_results, OPT_FLAG, .name = "no-results",
	    .help = "write no results and no journal"),
	OUTPUT(no_summary, OPT_FLAG, .name = "no-summary",
	    .help = "write no summary of several suites or combinations"),
	CMD_JOB_OPT(format, OPT_STR, .name = "format", .letter = 'f',
	    .value = "text|json|github-comment",
	    .help = "json: events as by --stream-json"),
	OUTPUT(recommend, OPT_FLAG, .name = "recommend",
	    .help = "recommend one of several models or executors"),
	OUTPUT(suggest, OPT_FLAG, .name = "suggest",
	    .help = "after failures, ask the judge what to improve"),
	OUTPUT(stream, OPT_FLAG, .name = "stream-json",
	    .help = "print events, one JSON object per line"),
	OUTPUT(transcript_dir, OPT_STR, .name = "transcript-dir",
	    .value = "DIR", .help = "write a transcript of each task"),
	OUTPUT(session_log, OPT_FLAG, .name = "session-log",
	    .help = "write a log of events"),
	OUTPUT(session_dir, OPT_STR, .name = "session-dir", .value = "DIR",
	    .help = "directory of that log (default: .)"),
	CMD_OTLP_OPTS(cmd_run_opt, output),
	OUTPUT(debug, OPT_FLAG, .name = "debug",
	    .help = "the same as --verbose"),
	/* of other versions */
	OUTPUT(no_update_check, OPT_FLAG, .name = "no-update-check"),
	OTHER("auto-file-issue", "give the report of --reporter markdown:FILE "
	    "to gh issue create"),
	OTHER("snapshot", "--record DIR keeps the answers, --replay DIR uses "
	    "them"),
	OTHER("snapshot-env-allow", "recordings contain no environment"),
	OTHER("redact", "--record masks the secrets of the environment"),
};

/*
 * Options.
 */

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

/* An empty word is in every task. */
static int
check_words(struct cmd_run *r)
{
	const struct opt_list *l = &r->opt.selection.words;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (*l->v[i] == '\0')
			return err_set(r->job.call->err, ERR_SCHEMA,
			    "--keyword is empty: give a part of an id, a name "
			    "or a tag, or remove it");
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
		.words = o->selection.words.v,
		.nwords = o->selection.words.n,
		.limit = o->selection.limit,
		.max_failures = o->execution.max_failures,
		.seed = o->execution.seed,
		.fail_fast = o->execution.fail_fast,
		.skip_graders = o->execution.skip_graders,
		.strict_controls = o->job.strict,
		.keep_workspace = o->execution.keep, .sweep = true,
		.fingerprint = true,
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

	if (cmd_run_axes(r) == -1)
		return -1;
	r->run = engine_opts(o);
	if (read_format(r) == -1 || cmd_shard_read(r) == -1 ||
	    cmd_run_budget(r) == -1 || cmd_run_stop(r) == -1 ||
	    cmd_run_vars(r) == -1 || cmd_run_controls(r) == -1 ||
	    check_words(r) == -1 ||
	    cmd_run_files_check(r) == -1 || cmd_run_otlp_check(r) == -1 ||
	    cmd_on_check(r) == -1 || cmd_run_send_check(r) == -1)
		return -1;
	if (o->selection.changed != NULL && o->selection.watch)
		return err_set(r->job.call->err, ERR_SCHEMA, "--watch selects "
		    "what changes from now on: remove --changed");
	if (o->selection.baseline_ref != NULL && o->selection.no_skills)
		return err_set(r->job.call->err, ERR_SCHEMA, "--baseline-ref "
		    "compares skills: remove --no-skills");
	if (o->selection.baseline_ref != NULL && (o->shard.shard != NULL ||
	    o->on.engine != NULL))
		return err_set(r->job.call->err, ERR_SCHEMA, "--baseline-ref "
		    "cannot be used with --%s: its passes alternate",
		    o->on.engine != NULL ? "on" : "shard");
	r->job.resumable = true;
	r->job.resumes = o->reuse.resume || o->reuse.retry_errors ||
	    o->reuse.rerun_failed;
	r->job.on_server = o->server.on_server || o->server.connect != NULL;
	r->job.adopt = !r->job.on_server;
	if (r->job.on_server && cmd_on_server_check(r) == -1)
		return -1;
	return cmd_job_check(&r->job);
}

/*
 * Output while it runs.
 */
static void
cancel_elsewhere(struct cmd_job *j)
{
	struct cmd_run *r = (struct cmd_run *)(void *)j;

	if (r->server != NULL)
		cmd_on_server_cancel(r->server);
	cmd_on_cancel(r);
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
	return cmd_run_otlp_open(r) == -1 || cmd_run_send_open(r) == -1 ?
	    -1 : cmd_evalclients_open(r);
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
	const struct cmd_run *r = (const struct cmd_run *)(void *)j;
	struct report_suites all = cmd_run_results(r);

	report_suites_text(out, &all, o);
}

static int
run_all(struct cmd_run *r)
{
	struct cmd_job *j = &r->job;
	int status, reports, files = CMD_OK;

	if (!j->on_server && cmd_run_load(r) != CMD_OK)
		return CMD_ERROR;
	if (cmd_run_ref_open(r) == -1)
		return cmd_job_fail(j, "system");
	if (!r->opt.selection.list && !r->opt.selection.dry_run &&
	    cmd_run_report_changed(r))
		return CMD_OK;
	if (r->on != NULL && cmd_on_plan(r) == -1)
		return cmd_job_fail(j, "system");
	if (r->on != NULL && r->opt.selection.dry_run)
		return cmd_on_dry(r);
	if (r->opt.selection.list || r->opt.selection.dry_run)
		return cmd_run_dry(r);
	if (start(r) == -1)
		return cmd_job_fail(j, "system");
	status = j->on_server ? run_on_server(r) : r->on != NULL ?
	    cmd_on_run(r) : cmd_run_units(r);
	if (j->on_server && r->server == NULL)
		return status;
	report_console_clear(&j->console);
	if (j->many)
		j->summary = cmd_run_where(r);
	if (!j->on_server)
		cmd_run_compare(r);
	reports = cmd_job_report(j);	/* of what there is, in any case */
	if (!j->on_server)
		files = cmd_run_files_close(r);
	cmd_run_otlp_flush(r);
	status = cmd_exit_status(j, status != CMD_OK || reports != CMD_OK ||
	    files != CMD_OK);
	cmd_run_send_end(r);
	return status;
}

/* Runs end before the connections that they use, and those before the loop. */
static void
clean_up(struct cmd_run *r)
{
	cmd_run_otlp_close(r);
	cmd_run_send_close(r);
	report_log_end(&r->log);
	report_transcripts_end(&r->transcripts);
	cmd_stdout_end(&r->out);
	cmd_job_free_runs(&r->job);
	cmd_run_ref_close(r);
	cmd_on_close(r);
	cmd_on_server_close(r->server);
	cmd_evalclients_close(r);
	cmd_job_end(&r->job);
}

/* From the first event to the end of all output. */
static int
run_once(struct cmd_run *r)
{
	int status;

	r->started_ms = os_now_ms();
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

static int
run_call(struct cmd_call *c)
{
	struct cmd_run *r = NEW(c->arena, struct cmd_run);

	r->opt = *(const struct cmd_run_opt *)c->opt;
	r->job.call = c;
	r->job.opt = &r->opt.job;
	r->job.cancelled = cancel_elsewhere;
	r->job.print = print_suites;
	r->log.fd = -1;
	if (read_options(r) == -1)
		return cmd_complain(c->err);
	if (r->opt.selection.watch && (r->opt.selection.list ||
	    r->opt.selection.dry_run))
		r->opt.selection.watch = false;
	return r->opt.selection.watch ? cmd_run_watch(r, run_once) :
	    run_once(r);
}

static int
run_main(struct cmd_call *c)
{
	return cmd_on_server_each(c, run_call);
}

const struct cmd_command cmd_run = {
	.name = "run", .group = CMD_RUNS,
	.usage = "[OPTION ...] [EVAL.yaml|DIR|SKILL ...]",
	.opts = CMD_OPTS(run_rows), .size = sizeof(struct cmd_run_opt),
	.max = SIZE_MAX, .fn = run_main,
	.help = "Run suites, grade the answers and report"
};

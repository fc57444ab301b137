/* SPDX-License-Identifier: ISC */
/* The options of `waza run`, and what they make of a run. */
#include "cmd/run.h"

#include <string.h>

#include "cmd/run_on_server.h"

#define ROW(m, t, ...) \
	{ .type = t, .off = offsetof(struct cmd_run_opt, m), __VA_ARGS__ }
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
	ROW(http, OPT_LIST, .name = "http", .value = "HOST:PORT",
	    .help = "let evaluation clients come there; port 0 is any"),
	ROW(allow_remote, OPT_FLAG, .name = "allow-remote",
	    .help = "not only from loopback; needs a token"),
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
	ROW(remote, OPT_FLAG, .name = "remote",
	    .help = "have the connected server run it"),
	ROW(connect, OPT_STR, .name = "connect", .value = "TARGET",
	    .help = "have this server run it"),
	ROW(token_file, OPT_STR, .name = "token-file", .value = "FILE",
	    .help = "what to show to the server; or clients to us"),
	ROW(framing, OPT_STR, .name = "framing", .value = "line|lsp",
	    .help = "how messages to the server are cut"),
	ROW(strict, OPT_FLAG, .name = "strict",
	    .help = "take warnings about the suite for errors"),
};

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
read_shard(struct cmd_job *j)
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
read_format(struct cmd_job *j)
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
check_models(struct cmd_job *j)
{
	const struct opt_list *m = &j->opt.models;
	size_t i, k;

	if (m->n > CMD_PASSES_MAX)
		return err_set(j->call->err, ERR_LIMIT,
		    "more than %d models", CMD_PASSES_MAX);
	for (i = 0; i < m->n; i++)
		for (k = 0; k < i; k++)
			if (strcmp(m->v[i], m->v[k]) == 0)
				return err_set(j->call->err, ERR_SCHEMA,
				    "--model %s is given twice", m->v[i]);
	return 0;
}

static int
check_reporters(struct cmd_job *j)
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

int
cmd_run_read(struct cmd_job *j)
{
	const struct cmd_run_opt *o = &j->opt;

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
	j->opt.remote = o->remote || o->connect != NULL;
	if (j->opt.remote && cmd_on_server_check(j) == -1)
		return -1;
	return check_reporters(j);
}

const struct cmd_command cmd_run = {
	.name = "run", .usage = "[OPTION ...] [EVAL.yaml|DIR]",
	.opts = CMD_OPTS(run_rows), .size = sizeof(struct cmd_run_opt),
	.max = 1, .fn = cmd_run_suite,
	.help = "run a suite, grade the answers, report"
};

/* SPDX-License-Identifier: ISC */
/*
 * cmd/run.h: cmd_.  `waza run`, for the files that it consists of: the command
 * (run.c), a run on a server (run_on_server.c), and the evaluation clients of
 * a run here (evalclients.c).
 */
#ifndef WAZA_CMD_RUN_H
#define WAZA_CMD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/job.h"
#include "cmd/stdout.h"
#include "lib/opt.h"
#include "report/report.h"
#include "results/event.h"
#include "run/run.h"

struct spec_grader;
struct cmd_http;
struct cmd_on_server;

/* The options, by the headings of `waza help run`. */
struct cmd_run_opt {
	struct cmd_job_opt job;		/* first */
	struct {
		struct opt_list tags;
		const char *shard;
		bool no_triggers, no_skills, baseline;
	} selection;
	struct {
		struct opt_list models;
		const char *executor, *context_dir, *config_path, *config_json;
		int64_t trials, timeout;
		bool parallel, fail_fast, keep, trust;
	} execution;
	struct {
		const char *record, *replay, *cache_dir;
		bool resume, retry_errors, rerun_failed;
		bool cache, cache_all, no_cache;
	} reuse;
	struct {
		struct opt_list http;
		const char *connect, *token_file, *framing;
		bool on_server, allow_remote, no_token;
	} server;
	struct {
		const char *transcript_dir, *session_dir;
		bool stream, session_log;
	} output;
};

/* One call of `waza run`. */
struct cmd_run {
	struct cmd_job job;		/* first */
	struct cmd_run_opt opt;
	struct run_opts run;		/* the same for all passes */
	bool baseline;			/* run a second pass without skills */
	const struct spec_grader *compares;	/* a grader that compares with
					 * the baseline, or NULL */
	struct cmd_http *http;		/* for evaluation clients, or NULL */
	struct cmd_on_server *server;	/* NULL: it runs here */
	struct cmd_stdout out;		/* for --stream-json, */
	struct event_sink stream;	/* which writes to it */
	struct report_log log;
	struct report_transcripts transcripts;
};

#endif

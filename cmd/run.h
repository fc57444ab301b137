/* SPDX-License-Identifier: ISC */
/*
 * cmd/run.h: cmd_.  What `waza run` has going on, for the files that it is
 * made of: its options, the run itself, and the run on a server.
 */
#ifndef WAZA_CMD_RUN_H
#define WAZA_CMD_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/stdout.h"
#include "io/loop.h"
#include "io/proc.h"
#include "lib/opt.h"
#include "report/report.h"
#include "results/event.h"
#include "run/run.h"
#include "waza.h"

struct result_run;
struct spec_grader;
struct spec_suite;
struct cmd_http;
struct cmd_on_server;

struct cmd_run_opt {
	const char *output, *executor, *context_dir, *format, *shard;
	const char *transcript_dir, *session_dir, *judge_model;
	const char *config_path, *config_json;
	const char *record, *replay, *cache_dir;
	const char *connect, *token_file, *framing;
	struct opt_list models, tasks, tags, reporters, http;
	int64_t trials, workers, timeout;
	bool stream, verbose, quiet, fail_fast, keep, baseline, no_skills;
	bool resume, retry_errors, rerun_failed, interpret, strict, no_color;
	bool session_log, parallel, no_triggers, update;
	bool cache, cache_all, no_cache, remote, allow_remote;
};

enum { CMD_PASSES_MAX = 32 };

struct cmd_interrupt {
	struct sig_watch w;
	struct cmd_job *job;
};

/* All that a call of `waza run` has going on. */
struct cmd_job {
	struct cmd_call *call;
	struct cmd_run_opt opt;
	struct run_opts run;		/* the same for all passes */
	struct spec_suite *suite;
	bool baseline;			/* a second pass is wanted */
	const struct spec_grader *compares;	/* needs it first, or NULL */
	struct loop *loop;
	struct procs procs;
	struct cmd_http *http;		/* where clients come in, or NULL */
	struct event_bus bus;
	struct cmd_stdout out;		/* for --stream-json, */
	struct event_sink stream;	/* which gets there by this */
	struct report_console console;
	struct report_log log;
	struct report_transcripts transcripts;
	struct timer tick;
	struct cmd_interrupt sig[3];
	int signo;			/* what interrupted us */
	bool talks;			/* the console is there */
	struct cmd_on_server *remote;	/* NULL: it runs here */
	struct run *cur;		/* NULL: none goes on */
	struct run *runs[2 * CMD_PASSES_MAX];
	size_t nruns;
	struct result_run *results[CMD_PASSES_MAX];	/* with skills */
	size_t nresults;
};

/* Options to what a run is to be; -1: the call's err has what is wrong. */
int cmd_run_read(struct cmd_job *);

int cmd_run_suite(struct cmd_call *);	/* the command itself */

#endif

/* SPDX-License-Identifier: ISC */
/*
 * cmd/run.h: cmd_.  `waza run`, for the files that it consists of: the command
 * (run.c), its passes over all suites and models (run_units.c), the names of
 * its files (run_files.c), a run on a server (client/run_on_server.c), and the
 * evaluation clients of a run here (evalclients.c).
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

struct report_suites;
struct spec_grader;
struct cmd_http;
struct cmd_on_server;

/* The options, by the headings of `waza help run`. */
struct cmd_run_opt {
	struct cmd_job_opt job;		/* first */
	struct {
		struct opt_list tags;
		const char *shard, *discover;
		bool no_triggers, no_skills, baseline;
	} selection;
	struct {
		struct opt_list models;
		const char *executor, *context_dir, *config_path, *config_json;
		int64_t trials, timeout;
		bool parallel, fail_fast, keep, trust, skip_graders;
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
		const char *transcript_dir, *session_dir, *output_dir;
		bool stream, session_log, no_summary, recommend, suggest;
		bool debug, no_update_check;
	} output;
};

/* A suite of the call. */
struct cmd_suite {
	struct str name;		/* unique among them, */
	const char *file;		/* also as part of a file name */
	const char *path;
	struct spec_suite *spec;
	struct run_opts run;		/* the same for all its passes */
	bool baseline;			/* run a second pass without skills */
	const struct spec_grader *compares;	/* a grader that compares with
					 * the baseline, or NULL */
	bool selected;			/* it has tasks to run */
};

enum cmd_unit_state { CMD_UNIT_NEW, CMD_UNIT_GOING, CMD_UNIT_ENDED };

/* The passes of one suite with one model: the pass itself, its baseline. */
struct cmd_unit {
	const struct cmd_suite *suite;
	const char *model;		/* NULL: the suite's */
	struct run_opts opts;
	enum cmd_unit_state state;
	struct cmd_pass *now;		/* the current pass, or NULL */
	struct run *with, *without;	/* NULL: not run, or not yet */
	int status;
};

/* One call of `waza run`. */
struct cmd_run {
	struct cmd_job job;		/* first */
	struct cmd_run_opt opt;
	struct run_opts run;		/* the same for all suites */
	struct cmd_suite *suites;
	size_t nsuites, skipped;	/* skipped: skills without a suite */
	struct cmd_unit *units;		/* suite by suite */
	size_t nunits, first, next;	/* first: not ended; next: to start */
	bool stopped;			/* start no more units */
	struct run_share share;		/* of the passes of many suites */
	bool spare;			/* a slot of it is free */
	int64_t started_ms;		/* monotonic */
	const char *stamp_dir;		/* DIR/STAMP of --output-dir, or NULL */
	bool made_stamp;		/* by this run */
	struct cmd_http *http;		/* for evaluation clients, or NULL */
	struct cmd_on_server *server;	/* NULL: it runs here */
	struct cmd_stdout out;		/* for --stream-json, */
	struct event_sink stream;	/* which writes to it */
	struct report_log log;
	struct report_transcripts transcripts;
};

/* Whether a signal or a lost reader ends the job. */
bool cmd_run_interrupted(const struct cmd_run *);

/* run_units.c: runs all suites with all models; an exit status. */
int cmd_run_units(struct cmd_run *);

/*
 * run_files.c.  check: whether the options fit together; -1 with the call's
 * err.  name: the unique names of all suites.  open: finds or creates the
 * directory of --output-dir; -1 with the call's err.  unit: the names of a
 * unit's results file, journal and recordings.  close: after the last pass,
 * writes the summary and notes whether the job is complete; an exit status.
 */
int cmd_run_files_check(struct cmd_run *);
void cmd_run_files_name(struct cmd_run *);
int cmd_run_files_open(struct cmd_run *);
int cmd_run_files_unit(struct cmd_run *, struct cmd_unit *);
int cmd_run_files_close(struct cmd_run *);

/* The results of all suites; they live as long as the call's arena. */
struct report_suites cmd_run_results(const struct cmd_run *);

#endif

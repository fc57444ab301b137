/* SPDX-License-Identifier: ISC */
/*
 * cmd/run.h: cmd_.  `waza run`, for the files that it consists of: the command
 * (run.c), its passes over all suites and cells (run_units.c), the names of
 * its files (run_files.c), a run on a server (client/run_on_server.c), and the
 * evaluation clients of a run here (evalclients.c), and its shard
 * (scale/shard.c).
 */
#ifndef WAZA_CMD_RUN_H
#define WAZA_CMD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/job.h"
#include "cmd/stdout.h"
#include "io/workspace.h"
#include "lib/opt.h"
#include "report/report.h"
#include "results/event.h"
#include "results/result.h"
#include "run/run.h"
#include "suite/spec.h"

struct report_suites;
struct spec_grader;
struct spec_notes;
struct cmd_http;
struct cmd_on_server;
struct cmd_send;
struct matrix;
struct otlp;
struct on;

/* The shard to run; see cmd/scale/shard.c. */
struct cmd_shard_opt {
	const char *shard, *by;
	int64_t shards;
	bool trials;
};

/* The engine that runs the shards; see cmd/scale/on.h. */
struct cmd_on_opt {
	const char *engine, *dir;
	struct opt_list options;
};

/* The rule that ends trials early; see cmd/run/run_stop.c. */
struct cmd_stop_opt {
	const char *rule;
	int64_t max_trials;
};

/* The budget; see cmd/run/run_budget.c. */
struct cmd_budget_opt {
	const char *usd, *time;
	int64_t tokens;
	bool allow_unmetered;
};

/* The options, by the headings of `waza help run`. */
struct cmd_run_opt {
	struct cmd_job_opt job;		/* first */
	struct {
		struct opt_list tags, words;
		const char *discover, *changed, *baseline_ref;
		int64_t limit;
		bool no_triggers, no_skills, baseline, list, dry_run, watch;
	} selection;
	struct cmd_shard_opt shard;
	struct cmd_on_opt on;
	struct cmd_budget_opt budget;
	struct cmd_stop_opt stop;
	struct {
		struct opt_list executors, models, vars, controls;
		const char *executor;	/* the only one of these, or NULL */
		const char *context_dir, *config_path, *config_json;
		int64_t trials, timeout, max_failures, seed;
		bool parallel, fail_fast, keep, trust, skip_graders;
	} execution;
	struct {
		const char *record, *replay, *cache_dir;
		bool resume, retry_errors, rerun_failed;
		bool cache, cache_all, no_cache;
	} reuse;
	struct {
		struct opt_list http;
		const char *connect, *token_file, *framing, *send;
		bool on_server, allow_remote, no_token;
	} server;
	struct {
		const char *transcript_dir, *session_dir, *output_dir;
		const char *otlp;
		bool stream, session_log, no_summary, recommend, suggest;
		bool debug, no_update_check, no_results, otlp_payloads;
	} output;
};

/* The options of traces, with those of other versions; m: their member. */
#define CMD_OTLP_INSTEAD "use --otlp URL, --otlp FILE or --otlp env"
#define CMD_OTLP_OPTS(T, m) \
	CMD_OPT(T, m.otlp, OPT_STR, .name = "otlp", .value = "URL|FILE|env", \
	    .help = "send traces (OTLP) to a collector or a file"), \
	CMD_OPT(T, m.otlp_payloads, OPT_FLAG, .name = "otlp-payloads", \
	    .help = "include prompts, answers and reasons in traces"), \
	{ .name = "otel-exporter", .instead = CMD_OTLP_INSTEAD }, \
	{ .name = "otel-endpoint", .instead = CMD_OTLP_INSTEAD }, \
	{ .name = "otel-headers", .instead = "set " \
	    "OTEL_EXPORTER_OTLP_HEADERS and use --otlp env" }, \
	{ .name = "otel-file", .instead = CMD_OTLP_INSTEAD }, \
	{ .name = "otel-include-payloads", .instead = "use --otlp-payloads" }

/* A combination of executor, model and skill; empty: the suite's. */
struct cmd_cell {
	struct str executor, model;
	struct str skill;		/* as in the matrix, */
	bool no_skills;			/* where it is "none" */
	const struct spec_suite *spec;	/* with that skill */
	/* of several cells: */
	struct str label;		/* for people, or empty */
	struct str json;		/* its values, or empty */
	const char *file;		/* part of file names, or NULL */
};

/* A suite of the call. */
struct cmd_suite {
	struct str name;		/* unique among them, */
	const char *file;		/* also as part of a file name */
	const char *path;
	struct spec_suite *spec;
	struct cmd_cell *cells;
	size_t ncells, unit;		/* unit: index of the first */
	const struct matrix *matrix;	/* their comparison, at the end, or
					 * NULL */
	struct run_opts run;		/* the same for all its passes */
	bool baseline;			/* run a second pass without skills, */
	const struct run_ref *ref;	/* and one with those of a revision, */
	const struct spec_suite *ref_spec;	/* which this suite has */
	const struct spec_grader *compares;	/* a grader that compares with
					 * the baseline, or NULL */
	bool selected;			/* it has tasks to run */
	const char *why_triggers;	/* with --changed: why they run */
};

enum cmd_unit_state { CMD_UNIT_NEW, CMD_UNIT_GOING, CMD_UNIT_ENDED };

/* The passes of one cell of a suite: the pass itself, its baselines. */
struct cmd_unit {
	const struct cmd_suite *suite;
	const struct cmd_cell *cell;
	bool baseline;			/* run a second pass without skills */
	struct run_opts opts;
	enum cmd_unit_state state;
	struct cmd_pass *now[RESULT_ARM__MAX];	/* current passes, or NULL */
	struct run *with, *without, *ref;	/* NULL: not run, or not yet */
	struct run_share share;		/* of passes that alternate */
	struct result_run *merged;	/* instead, of --on: for reports, */
	struct result_run *whole;	/* and for the results file */
	struct str kept_as;		/* suite in the default place, or "" */
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
	bool idle;			/* nothing has changed: nothing runs */
	size_t failures;		/* tasks that did not pass */
	struct run_budget budget;	/* of all suites */
	const struct json *vars;	/* of --var, or NULL */
	struct spec_controls controls;	/* of --control */
	struct run_share share;		/* of the passes of many suites */
	bool spare;			/* a slot of it is free */
	int64_t started_ms;		/* monotonic */
	struct workspace_pool refs;	/* skills of --baseline-ref */
	struct str since;		/* of --changed, for messages; or "" */
	const char *stamp_dir;		/* DIR/STAMP of --output-dir, or NULL */
	bool made_stamp;		/* by this run */
	const char *history;		/* default place for results, or NULL */
	int64_t keep_results;		/* there, for each suite; 0: all */
	const char *rerun_id;		/* of all reruns of --watch, or NULL */
	struct cmd_http *http;		/* for evaluation clients, or NULL */
	struct cmd_on_server *server;	/* NULL: it runs here */
	struct on *on;			/* --on, or NULL */
	struct cmd_stdout out;		/* for --stream-json, */
	struct event_sink stream;	/* which writes to it */
	struct report_log log;
	struct report_transcripts transcripts;
	struct otlp *otlp;		/* of --otlp, or NULL */
	struct cmd_send *send;		/* of --send, or NULL */
};

/* Whether a signal or a lost reader ends the job. */
bool cmd_run_interrupted(const struct cmd_run *);

/* scale/shard.c: sets the shard of the options; -1 with the call's err. */
int cmd_shard_read(struct cmd_run *);

/* run_stop.c: reads the rule of the options; -1 with the call's err. */
int cmd_run_stop(struct cmd_run *);

/* run_budget.c: reads the budget of the options; -1 with the call's err. */
int cmd_run_budget(struct cmd_run *);

/*
 * run_vars.c: sets vars from --var, an object of strings; the last value of a
 * name counts.  -1 with the call's err.
 */
int cmd_run_vars(struct cmd_run *);

/* run_control.c: reads the controls of --control; -1 with the call's err. */
int cmd_run_controls(struct cmd_run *);

/*
 * run_cells.c.  axes: reads --executor and --model; -1 with the call's err.
 * set: replaces the lists of a suite's matrix by those of the options.  cells:
 * makes the cells of a suite; notes skills that cannot be found.
 */
int cmd_run_axes(struct cmd_run *);
void cmd_run_set_axes(const struct cmd_run *, struct cmd_suite *);
void cmd_run_cells(const struct cmd_run *, struct cmd_suite *,
    struct spec_notes *);

/*
 * run_load.c: finds and loads the suites, prints what was noted about them, and
 * plans the units; an exit status.
 */
int cmd_run_load(struct cmd_run *);

/*
 * run_otlp.c: traces.  check: the options; open: before the first event; both
 * -1 with the call's err.  flush: after the last one, waits a moment and
 * reports on stderr what was dropped.  close: frees everything.
 */
int cmd_run_otlp_check(struct cmd_run *);
int cmd_run_otlp_open(struct cmd_run *);
void cmd_run_otlp_flush(struct cmd_run *);
void cmd_run_otlp_close(struct cmd_run *);

/*
 * run_send.c, for --send.  check: the options, after the shard; open: before
 * the first pass; both -1 with the call's err.  end: after the last pass, waits
 * until the results are delivered, and reports that on stderr.  close: frees
 * everything.
 */
int cmd_run_send_check(struct cmd_run *);
int cmd_run_send_open(struct cmd_run *);
void cmd_run_send_end(struct cmd_run *);
void cmd_run_send_close(struct cmd_run *);

/*
 * run_changed.c, for --changed.  Selects, of the suites that are selected, what
 * differs from the revision; sets `since` and `idle`.  -1 with the call's err.
 * report: prints how much that is; true if it is nothing.
 */
int cmd_run_changed(struct cmd_run *);
bool cmd_run_report_changed(const struct cmd_run *);

/*
 * run_ref.c, for --baseline-ref.  Copies the skills of the suites that have a
 * baseline; -1 with the call's err.  close: removes the copies.  arms: how
 * many passes a cell has: 1 to 3; and all cells of a suite.
 */
size_t cmd_run_arms(const struct cmd_run *, const struct cmd_unit *);
size_t cmd_run_passes(const struct cmd_run *, const struct cmd_suite *);
int cmd_run_ref_open(struct cmd_run *);
void cmd_run_ref_close(struct cmd_run *);

/* run_dry.c: prints what would run, after loading; an exit status. */
int cmd_run_dry(struct cmd_run *);

/*
 * run_watch.c: calls once() in a copy of the process, and again for what a
 * changed file affects, until a signal ends it; an exit status.
 */
int cmd_run_watch(struct cmd_run *, int (*once)(struct cmd_run *));

/* run_units.c: runs all cells of all suites; an exit status. */
int cmd_run_units(struct cmd_run *);

/*
 * run_suggest.c: asks the judge what to improve after failures; -1 if a results
 * file could not be written.
 */
int cmd_run_suggest(struct cmd_run *, const struct report_suites *);

/*
 * run_files.c.  check: whether the options fit together; -1 with the call's
 * err.  name: the unique names of all suites.  open: finds or creates the
 * directory of --output-dir; -1 with the call's err.  unit: the names of a
 * unit's results file, journal and recordings.  compare: after the last pass,
 * before reports, compares the cells of each suite.  close: then
 * writes the summary and notes whether the job is complete; an exit status.
 */
int cmd_run_files_check(struct cmd_run *);
void cmd_run_files_name(struct cmd_run *);
int cmd_run_files_open(struct cmd_run *);
int cmd_run_files_unit(struct cmd_run *, struct cmd_unit *);
void cmd_run_compare(struct cmd_run *);
int cmd_run_files_close(struct cmd_run *);

/* The results file of a unit, if that of the run is `output`. */
const char *cmd_run_unit_path(const struct cmd_run *, const struct cmd_unit *,
    const char *output);
/* The model of a unit. */
struct str cmd_unit_model(const struct cmd_unit *);
/* The results of a unit, or NULL: for reports, and for its results file. */
struct result_run *cmd_unit_results(const struct cmd_unit *);
struct result_run *cmd_unit_whole(const struct cmd_unit *);

/*
 * After close: where the results are, if --output did not name it: a directory,
 * or the file of a single suite and cell.  NULL: none were written.
 */
const char *cmd_run_where(const struct cmd_run *);

/* Whether an earlier run is continued. */
bool cmd_run_resumes(const struct cmd_run *);

/*
 * run_history.c, the default place for results.  root: the directory that has
 * it.  open: finds and creates it; a
 * place that cannot be used is a warning, or if a run is resumed -1 with the
 * call's err.  unit: names the files of a unit.  close: after the last pass,
 * removes the oldest files, and those of the previous rerun of --watch.
 */
const char *cmd_run_root(struct cmd_run *);
int cmd_run_history_open(struct cmd_run *);
void cmd_run_history_unit(struct cmd_run *, struct cmd_unit *);
void cmd_run_history_close(struct cmd_run *);

/* The results of all suites; they live as long as the call's arena. */
struct report_suites cmd_run_results(const struct cmd_run *);

#endif

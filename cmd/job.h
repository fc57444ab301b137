/* SPDX-License-Identifier: ISC */
/*
 * cmd/job.h: cmd_.  The job of `waza run` and `waza grade`: the options that
 * both have, the loop with its signals and console, one pass after the other,
 * the reports, and the exit status (cmd_exit_status in waza.h).
 *
 * A command embeds a struct cmd_job, sets its first part, zeroes the rest,
 * and calls check, load, start, pass, report and end, in this order.
 */
#ifndef WAZA_CMD_JOB_H
#define WAZA_CMD_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/signals.h"
#include "io/loop.h"
#include "io/proc.h"
#include "report/report.h"
#include "results/event.h"
#include "run/run.h"
#include "waza.h"

struct matrix;
struct result_run;
struct spec_notes;
struct spec_suite;

/* The options that both commands have; first in their options structs. */
struct cmd_job_opt {
	struct opt_list tasks, reporters;
	const char *output, *judge_model, *format;
	int64_t workers;
	struct cmd_color color;
	bool update, strict, interpret, verbose, quiet;
};

#define CMD_JOB_OPT(m, t, ...) CMD_OPT(cmd_job_opt, m, t, __VA_ARGS__)
#define CMD_JOB_EXECUTION \
	CMD_JOB_OPT(judge_model, OPT_STR, .name = "judge-model", \
	    .group = "Execution", .value = "NAME", \
	    .help = "model that judges (default: the suite's)"), \
	CMD_JOB_OPT(workers, OPT_INT, .name = "workers", .letter = 'w', \
	    .value = "N", \
	    .min = 1, .max = 1024, \
	    .help = "concurrent trials (default: the suite's)"), \
	CMD_JOB_OPT(workers, OPT_INT, .name = "jobs", .letter = 'j', \
	    .value = "N", .min = 1, .max = 1024, \
	    .help = "the same as --workers"), \
	CMD_JOB_OPT(update, OPT_FLAG, .name = "update-snapshots", \
	    .help = "replace snapshots by the current files"), \
	CMD_JOB_OPT(strict, OPT_FLAG, .name = "strict", \
	    .help = "treat warnings about the suite as errors")
#define CMD_JOB_OUTPUT \
	CMD_JOB_OPT(output, OPT_STR, .name = "output", .letter = 'o', \
	    .group = "Output", .value = "FILE", \
	    .help = "write a results file (JSON)"), \
	CMD_JOB_OPT(reporters, OPT_LIST, .name = "reporter", \
	    .value = "NAME[:FILE]", .help = "add a report: " \
	    "csv, github, html, json, junit, markdown, tap"), \
	CMD_JOB_OPT(interpret, OPT_FLAG, .name = "interpret", \
	    .help = "explain the results in plain words"), \
	CMD_JOB_OPT(verbose, OPT_FLAG, .name = "verbose", .letter = 'v', \
	    .help = "print details"), \
	CMD_JOB_OPT(quiet, OPT_FLAG, .name = "quiet", .letter = 'q', \
	    .help = "print no progress"), \
	CMD_COLOR_OPTS(cmd_job_opt, color)

/* One pass: a run from its start to the end of the job. */
struct cmd_pass {
	struct cmd_job *job;
	struct cmd_pass *next;		/* of all passes, the newest first */
	struct run *run;
	bool going;			/* it has not ended yet */
};

struct cmd_job {
	struct cmd_call *call;
	struct cmd_job_opt *opt;
	void (*cancelled)(struct cmd_job *);	/* besides the run; or NULL */
	/* appends the report of many suites */
	void (*print)(struct cmd_job *, struct buf *,
	    const struct report_opts *);
	bool adopt;		/* see procs_init */
	bool no_progress;	/* the console prints errors only */
	const char *owns_stdout;	/* the option because of which stdout
				 * is not for reports, or NULL */
	struct spec_suite *suite;	/* NULL: a server has it */
	bool on_server;		/* the server decides what has passed, */
	bool server_failed;	/* and a run there did not */
	bool sharded;		/* a run may have no task */
	bool resumable;		/* the command has --resume, */
	bool resumes;		/* and this call continues another run */
	/* results of the passes that are reported: cmd_job_add_results() */
	struct result_run **results;
	const char **outputs;	/* their files; NULL: none */
	size_t nresults;
	const struct matrix *matrix;	/* of one suite: its cells; or NULL */
	bool many;		/* more than one suite: print() reports */
	bool arms;		/* passes of one suite overlap */
	const char *summary;	/* of many suites, file or directory of all; of
				 * several cells, their summary; or NULL */
	int64_t tasks, trials;	/* of all of them */
	/* set by start */
	struct loop *loop;
	struct procs procs;
	struct cmd_signals signals;
	struct event_bus bus;
	struct report_console console;
	bool has_console;	/* it prints the error events */
	struct timer tick;	/* redraws the console */
	struct cmd_pass *passes;	/* with the baselines */
	size_t going;		/* passes that have not ended */
	struct buf list, files;	/* of results and outputs */
};

/* Checks the reporters before anything is run.  -1 with the call's err. */
int cmd_job_check(struct cmd_job *);

/* Prints what was noted, also as events; CMD_ERROR: nothing can be run. */
int cmd_job_print_notes(struct cmd_job *, const struct spec_notes *);

/*
 * Creates the directory of the results file and the loop, and starts signals
 * and console.  -1 with the call's err.
 */
int cmd_job_start(struct cmd_job *);

/* Reports the call's err, as an event of this type or on stderr: CMD_ERROR. */
int cmd_job_fail(struct cmd_job *, const char *type);

/* Cancels the passes, because of a signal or a lost reader. */
void cmd_job_cancel(struct cmd_job *);
/* Pauses them, or lets them continue. */
void cmd_job_hold(struct cmd_job *, bool on);

/*
 * Starts a pass; the caller turns the loop until it is not going any more.  The
 * pass lives until the job ends.  NULL: the reason was reported.
 */
struct cmd_pass *cmd_job_begin(struct cmd_job *, const struct spec_suite *,
    const struct run_opts *);

/* After it has ended: CMD_OK, or CMD_ERROR if it could not be completed. */
int cmd_pass_status(const struct cmd_pass *);

/*
 * Runs one pass of the job's suite to its end.  *out is the run, which lives
 * until the job ends, or NULL if it could not be created.  CMD_ERROR: the
 * reason was reported.
 */
int cmd_job_pass(struct cmd_job *, const struct run_opts *, struct run **out);

/* Adds results, and their file or NULL, to those that are reported. */
void cmd_job_add_results(struct cmd_job *, struct result_run *,
    const char *output);

/* The console redraws itself in this time; for passes on a server. */
void cmd_job_tick(struct cmd_job *, bool on);

/* The options for output to this descriptor. */
struct report_opts cmd_job_report_opts(const struct cmd_job *, int fd);

/*
 * job_report.c: prints the report to stdout and writes all reporters; an exit
 * status.  If no pass could start, nothing is written: an empty report looks
 * like success.
 */
int cmd_job_report(struct cmd_job *);

/*
 * The words of this call, quoted for a shell, with --resume if the command has
 * it; in the call's arena.
 */
struct str cmd_job_again(const struct cmd_job *);

/* Whether the results mean success. */
bool cmd_job_passed(const struct cmd_job *);

/* Frees the runs; end does it as well, and frees everything else. */
void cmd_job_free_runs(struct cmd_job *);
void cmd_job_end(struct cmd_job *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * report_internal.h: report_.  Shared by the reporters: safe text for lines,
 * terminals and XML; the details of trials; output that is flushed.
 */
#ifndef WAZA_REPORT_INTERNAL_H
#define WAZA_REPORT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/guard.h"
#include "report/report.h"
#include "results/result.h"
#include "suite/spec.h"

/*
 * Appends text as one line of at most cols columns (0: no limit), without
 * control characters and with blanks joined.  Returns the columns used.
 */
size_t report_line(struct buf *, struct str, size_t cols, bool ascii);
/* The same between two texts; nothing at all if the text is empty. */
void report_part(struct buf *, const char *before, struct str, size_t cols,
    bool ascii, const char *after);
/* The same as report_line(), padded with spaces to cols columns. */
void report_cell(struct buf *, struct str, size_t cols, bool ascii);
/* The columns that a text needs, at most max. */
size_t report_cols(struct str, size_t max);
/*
 * The bytes of a line that fit into cols columns, up to a blank if possible; at
 * least one character.
 */
size_t report_fit(struct str, size_t cols, bool ascii);
/* Appends a duration, 12ms 1.2s 2m3s 1h2m, right-aligned in cols columns. */
void report_took(struct buf *, int64_t ms, int cols);

/* At most max bytes of whole characters; *cut: the text was longer. */
struct str report_cut(struct str, size_t max, bool *cut);
enum { REPORT_REASON = 4096 };	/* bytes of a reason */
/*
 * Appends a reason as indented lines, each wrapped at blanks if opts.wrap is
 * set, and the number of bytes beyond REPORT_REASON.
 */
void report_reason(struct buf *, struct str, const char *indent,
    const struct report_opts *);
/* The same on one line, without wrapping. */
void report_reason_line(struct buf *, struct str, bool ascii);
/* Appends at most `lines` lines, indented, and the number of bytes left. */
void report_block(struct buf *, struct str, const char *indent, size_t lines,
    const struct report_opts *);
/*
 * Append well-formed UTF-8, without control characters except \n and \t;
 * report_escape() also escapes it for XML.
 */
void report_clean(struct buf *, struct str);
void report_escape(struct buf *, struct str);
/* Appends report_line(), escaped for XML. */
void report_escape_line(struct buf *, struct str, size_t cols);
/* Appends one line of Markdown that renders as this text. */
void report_inline(struct buf *, struct str, size_t cols);
enum report_stamp {
	REPORT_ISO,		/* 2026-01-02T03:04:05; all are UTC */
	REPORT_DASH,		/* 20260102-030405 */
	REPORT_TIGHT		/* 20260102T030405Z */
};
/* Appends a time in this format. */
void report_stamp(struct buf *, int64_t wall_ns, enum report_stamp);

/*
 * report_layout.c: words that flow into lines of the terminal's width; without
 * opts.wrap, lines are not broken.  Set at to the column that the line has
 * reached and indent to that of further lines.  Blanks before a text are a gap,
 * which a line break replaces.  A sgr of NULL is plain.
 */
struct report_flow {
	struct buf *b;
	const struct report_opts *o;
	size_t at, indent;
};
void report_flow(struct report_flow *, const char *sgr, struct str text);
/* The same after other words; nothing at all if the text is empty. */
void report_flow_part(struct report_flow *, const char *sgr,
    const char *before, struct str text);
/* The same for a text of others: of a long one the rest is counted. */
void report_flow_reason(struct report_flow *, const char *before, struct str);
/* The same with a format, for at most 255 bytes. */
void report_flow_fmt(struct report_flow *, const char *sgr, const char *fmt,
    ...) PRINTF(3, 4);
/*
 * The same for "WHAT: PATH".  A path is never broken, so that it can be copied;
 * one that does not fit begins a line, which may be wider than the terminal.
 */
void report_flow_path(struct report_flow *, const char *what, struct str path);
/* Ends the line. */
void report_flow_end(struct report_flow *);
/* The columns of a terminal, or of COLUMNS if these are fewer; 0: unknown. */
unsigned report_columns(int fd);
/* The width of lines; SIZE_MAX: unlimited. */
size_t report_width(const struct report_opts *);
/* cols on a terminal; else 0, with which report_line() truncates nothing. */
size_t report_limit(const struct report_opts *, size_t cols);
void report_spaces(struct buf *, size_t);

/* A table whose first column contains names. */
enum { REPORT_COLUMNS = 8 };
struct report_column {
	const char *head;
	int keep;		/* if it is too wide, the least is dropped */
};
struct report_row {
	struct str cell[REPORT_COLUMNS];
	enum result_status mark;
	struct str note;	/* after the cells, or on a line of its own */
	const char *sgr;	/* of the note, or NULL */
};
struct report_table {
	const struct report_column *cols;
	size_t ncols;
	const struct report_row *rows;
	size_t n;
	bool marks;		/* the rows begin with their marks */
};
/* Appends the table; nothing if it has no rows. */
void report_table(struct buf *, const struct report_table *,
    const struct report_opts *);

/* Append ✓ ✗ ! or - in color (or ASCII), and a space; a color; its end. */
void report_mark(struct buf *, enum result_status, const struct report_opts *);
void report_color(struct buf *, const char *sgr, const struct report_opts *);
void report_plain(struct buf *, const struct report_opts *);
/* Appends words in a color; "1" is bold. */
void report_colored(struct buf *, const char *sgr, const char *words,
    const struct report_opts *);
/* The word for a status; for an error its class, e.g. "timeout". */
const char *report_status(enum result_status);

struct report_verdict {
	struct str name, type, feedback;
	double score;
	enum result_status status;	/* passed, failed or skipped */
	struct spec_where at;	/* its grader, else its task */
};

struct report_call {
	struct str name, tool;	/* the agent's name; ours, or empty */
	struct str about;	/* command, path or the like, or empty */
	struct str result;	/* or empty */
	bool failed;
	bool denied;		/* it was stopped before it ran */
};

struct report_detail {
	struct str prompt, output, error, stderr_tail, patch;
	struct report_call *calls, *mocked;	/* mocked: commands */
	size_t ncalls, nmocked;
	struct report_verdict *v;
	size_t n;
	const struct json *json;	/* NULL: could not be read */
};

/* Reads the details into the arena; if that fails, .error has the reason. */
void report_detail(struct arena *, const struct report_opts *,
    const struct result_run *, const struct result_task *,
    const struct result_trial *, struct report_detail *);

/* The same from the object of a trial in results, without places. */
void report_read_detail(struct arena *, const struct json *trial,
    struct report_detail *);

/* report_calls.c: reads the tool calls from .json; for report_detail(). */
void report_read_calls(struct arena *, struct report_detail *);
/* Appends "bash (shell) ls => a.txt", as report_line(). */
void report_call(struct buf *, const struct report_call *, size_t cols,
    bool ascii);
enum { REPORT_CALLS = 100 };	/* that a report lists */
/* Appends all calls, a line each. */
void report_call_lines(struct buf *, const struct report_detail *);
/*
 * Append tokens, cost and number of tool calls, right-aligned in cols columns;
 * a dash if unknown.
 */
void report_tokens(struct buf *, const struct result_used *, int cols,
    bool ascii);
void report_cost(struct buf *, const struct result_used *, int cols,
    bool ascii);
void report_count(struct buf *, const struct result_used *, int cols,
    bool ascii);
/* Appends "1,234 tokens in, 5 out, cost $0.01"; false: there are none. */
bool report_usage(struct buf *, const struct answer_usage *);

/*
 * Why a task did not pass, in the arena: its error, or what the first check
 * that failed found; empty: not known.
 */
struct str report_why(struct arena *, const struct report_opts *,
    const struct result_run *, const struct result_task *);

/* The first trial that did not pass, else the first; NULL: none has run. */
const struct result_trial *report_trial(const struct result_task *);
/* The number of trials that passed. */
size_t report_passes(const struct result_task *);
/*
 * The start of a text that consists of letters, digits, "=" and ".": of the
 * reason why trials were skipped "budget", or the name of a rule.
 */
struct str report_word(const char *);
/* Whether some trials have run, but not all. */
bool report_is_partial(const struct result_task *);
/* Appends "failed", "skipped", or "14/50 trials, not finished". */
void report_put_status(struct buf *, const struct result_task *);
/* Why not everything ran, or NULL.  *broken: it was interrupted. */
const char *report_end(const struct result_run *, bool *broken);
/* Why a complete run graded nothing: "all tasks were skipped"; or NULL. */
const char *report_graded_nothing(const struct result_run *);
/*
 * Appends "task_completion is 50.0%, required 90.0%" for a metric that a
 * complete run misses; false if there is none.
 */
bool report_missed(struct buf *, const struct result_run *);
/* The average score of the task, or 0 if it has not finished. */
double report_task_score(const struct result_task *);
/* The mean duration of its trials: the time until the agent had answered. */
int64_t report_task_ms(const struct result_task *);
/* Appends file:line; nothing if the file is not known. */
void report_where(struct buf *, struct spec_where);

/* One prompt of the trigger tests. */
struct report_trigger {
	const struct spec_trigger *spec;
	enum result_status status;
	int64_t duration_ms;
	const char *words;	/* "should trigger, did not" */
	struct str error, output;	/* only if it did not pass */
};
/* Reads the ith trigger test into the arena; false: it has not run. */
bool report_trigger(struct arena *, const struct result_run *, size_t,
    struct report_trigger *);
/* Whether trigger tests make the run miss its metric. */
bool report_triggers_missed(const struct result_run *);
/* Appends "accuracy 40.0%, precision ...", on one line. */
void report_triggers_sum(struct buf *, const struct result_run *);
/* Append their section of a report; nothing if none has run. */
void report_triggers_text(struct buf *, const struct result_run *,
    const struct report_opts *);
/*
 * control/report_control.c: the same for controls; `named` with the name of
 * the suite.
 */
void report_controls_text(struct buf *, const struct result_run *, bool named,
    const struct report_opts *);
/*
 * report_sum.c: append the end of a report: counts, pass rate, usage, reuse,
 * and the verdict with the places of the files; an interpretation.
 */
void report_sum(struct buf *, const struct result_run *,
    const struct report_opts *);
void report_interpret(struct buf *, const struct result_run *,
    const struct report_opts *);
/* A line about the trials that were not run again; nothing without reuse. */
void report_reused(struct report_flow *, const struct result_reuse *);

/* The output of a reporter. */
struct report_out {
	struct buf b;
	int fd;			/* -1: everything stays in b */
	struct err err;
	struct arena arena;	/* for the details of one task */
	const struct report_opts *opts;
	struct result_run *const *runs;
	size_t nruns;
	size_t count;		/* for the reporter itself */
	const struct report_file *files;	/* the same */
	size_t room;		/* limit in bytes; 0: none */
	bool log;		/* fd may be a log: commands are broken up */
	enum guard_form form;	/* of its text, set by report_render() */
	size_t sent;		/* bytes written so far */
};

/* Between tasks: frees the arena, and writes once 64 KiB are buffered. */
void report_flush(struct report_out *);
/* Whether n more bytes are within the limit. */
bool report_room(const struct report_out *, size_t n);

struct report_kind {
	const char *name;	/* as usage shows it: "csv:PATH" */
	bool path;		/* a path is required */
	bool left_out;		/* this program was built without it */
	enum guard_form form;	/* of its text */
	unsigned flags;		/* REPORT_..., without a path */
	const char *head, *tail;	/* first and last text, or NULL */
	void (*begin)(struct report_out *);	/* or NULL, as is end */
	void (*run)(struct report_out *, const struct result_run *, bool base);
	void (*end)(struct report_out *);
};

extern const struct report_kind report_csv, report_github, report_html;
extern const struct report_kind report_junit, report_markdown, report_tap;
extern const struct report_kind report_view;	/* for report_files() */

/* The mark of a status in Markdown. */
const char *report_sign(enum result_status);

/*
 * The pass of a run in words, in the arena: "baseline", or "baseline, skills of
 * main"; empty for the run itself.
 */
struct str report_pass(struct arena *, const struct result_run *, bool base);

/* The same for Markdown. */
void report_triggers_markdown(struct report_out *, const struct result_run *);
void report_controls_markdown(struct report_out *, const struct result_run *);

/* Runs a reporter over all runs: 0, or -1 with the first error in out->err. */
int report_render(struct report_out *, const struct report_kind *);

/* Appends Markdown to the file GITHUB_STEP_SUMMARY names; -1 with a message. */
int report_summary(struct result_run *const *runs, size_t n,
    const struct report_opts *, struct err *);

/*
 * The same to a file, which is written beside its path and then renamed to it;
 * a pipe, a device and the target of a link are written directly.  -1 with a
 * message.
 */
int report_render_file(struct report_out *, const struct report_kind *,
    const char *path, struct err *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * report.h: report_.  The output of a run, for people and programs: the console
 * during the run, the report at its end, and files for CI.
 *
 * Text from suites and agents is hostile.  Whatever it contains, terminals
 * receive no control bytes, XML is well-formed, HTML runs no script, and an
 * annotation is one line.  Long texts are truncated, except in the results
 * file; a reason (the feedback of a grader, the message of an error) is whole
 * up to 4 KiB.  Memory is bounded by the details of one task.
 */
#ifndef WAZA_REPORT_H
#define WAZA_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "results/event.h"

struct json;
struct result_run;
struct result_trial;
struct store_file;

/* A file that belongs to the results, such as "journal". */
struct report_path {
	const char *what, *path;
};

/* The zero value is right for files. */
struct report_opts {
	bool color;		/* escape sequences; only for a terminal */
	bool ascii;		/* the reader does not support UTF-8 */
	bool dumb;		/* a terminal that cannot redraw a line */
	bool wrap;		/* a terminal: lines fit its width */
	bool verbose;		/* all tasks, all failures, prompts */
	bool interpret;		/* add an interpretation */
	unsigned width;		/* columns of a terminal; 0: 80 */
	const struct report_path *places;	/* named beside the verdict */
	size_t nplaces;
	const char *const *resume;	/* quoted words of the command that
				 * continues the run; NULL: none */
	bool larger;		/* a budget is spent: it needs a larger one */
	/* reads the details of a trial; NULL: result_read */
	struct json *(*read)(struct arena *, const struct result_run *,
	    const struct result_trial *, struct err *);
};

/* When colors are used; REPORT_AUTO: report_env() decides. */
enum report_when { REPORT_AUTO, REPORT_ALWAYS, REPORT_NEVER };

/*
 * Sets color, ascii, dumb, wrap and width for output to fd.  Color: as `when`,
 * else not if NO_COLOR is set, else as FORCE_COLOR, else on a terminal that is
 * not dumb.  Ascii unless the locale is UTF-8.  Wrap and width only on a
 * terminal: its width, or that of COLUMNS if it is less.  A terminal without
 * TERM is dumb.
 */
void report_env(struct report_opts *, int fd, enum report_when);

/*
 * Wraps all lines at blanks if they are for a terminal.  An indented line
 * continues at column `hang`, others at 4.  A path that is wider than the
 * terminal stays whole.
 */
void report_wrap(struct buf *, size_t hang, const struct report_opts *);

/*
 * A share in percent, for "%.1f": it is 100 only if the share is 1, and 0 only
 * if it is 0.
 */
double report_rate(double share);

/*
 * Lines of files under messages about them, for terminals only.  A place is a
 * line and a column in bytes, both from 1; indent is that of the output.
 */
struct report_place {
	unsigned line, col, indent;
};
struct report_sources {
	struct arena arena;	/* of the file that was read last */
	const char *file;
	struct str text;
	unsigned width;		/* 0: not a terminal */
	size_t shown;
};
/* For a stream; call report_sources_end() afterwards. */
void report_sources_init(struct report_sources *, int fd);
/* Appends the line and a caret, if the stream is a terminal. */
void report_source(struct report_sources *, struct buf *, const char *file,
    struct report_place);
void report_sources_end(struct report_sources *);
/* The same for a line that is known. */
void report_source_line(struct buf *, struct str line, struct report_place,
    size_t width);

/* Appends the report at the end of a run. */
void report_text(struct buf *, const struct result_run *,
    const struct report_opts *);

/* Appends the changes after `waza grade`; the run has .stored. */
void report_changes(struct buf *, const struct result_run *,
    const struct report_opts *);

/* Appends a table of several models, after their reports. */
void report_models(struct buf *, struct result_run *const *runs, size_t n,
    const struct report_opts *);

/* Appends a table of stored runs; nothing if there are none. */
void report_stored(struct buf *, struct store_file *const *, size_t n,
    const struct report_opts *);

/*
 * Appends the last line: a verdict (PASSED, FAILED or another word), the reason
 * or nothing, and opts.places; before it, the command of opts.resume.
 */
void report_verdict(struct buf *, const char *word, struct str why,
    const struct report_opts *);

/*
 * Recommends one of at least two models: appends a line, and returns the
 * original's object as JSON in the arena.
 */
struct str report_recommend(struct arena *, struct result_run *const *,
    size_t n, struct buf *);

/*
 * Reporters: NAME or NAME:PATH; the path - is stdout.  report_check() finds
 * before a run what would fail after it: an unknown name, a missing path, a
 * directory that cannot be written.  -1 with a message.
 */
enum {
	REPORT_STDOUT = 1,	/* it writes to stdout */
	REPORT_ALONE = 2	/* and nothing else may */
};
int report_check(const char *spec, struct err *);
/* The flags of a reporter that report_check() has accepted. */
unsigned report_flags(const char *spec);
/* The names for usage, "csv:PATH" and so on, sorted; returns how many. */
size_t report_names(const char *const **);

/*
 * Writes one report of all runs (one per model), each followed by its baseline.
 * A file is replaced as a whole, and missing directories are created.  A path
 * that is not a regular file (a pipe, a terminal) is opened and written to.
 * -1 with a message.
 */
int report_write(const char *spec, struct result_run *const *runs, size_t n,
    const struct report_opts *, struct err *);

/*
 * Writes results files, which must be valid, as one HTML page; the path - is
 * stdout.  -1 with a message.
 */
struct report_file {
	struct str name, json;
};
int report_files(const char *path, const struct report_file *, size_t n,
    struct err *);

/*
 * The console, on stderr during the run.  On a terminal: a line per task that
 * did not pass, above one progress line that is redrawn at most ten times a
 * second and fits the width, also after it has changed.  Otherwise, and on a
 * dumb terminal: a line per task.  Set the first members and zero the rest.
 */
enum report_level { REPORT_NORMAL, REPORT_QUIET, REPORT_VERBOSE };
enum { REPORT_RUNNING = 8 };	/* trials named in the progress line */

struct report_console {
	struct report_opts opts;
	enum report_level level;
	int fd;
	bool live;		/* a terminal; start clears it if dumb */
	bool arms;			/* all_tasks are of one suite, whose
					 * passes overlap */
	int64_t all_tasks, all_trials;	/* of many suites, whose runs overlap;
				 * 0: one run after the other */
	/* private */
	struct event_sink sink;
	struct buf out;
	struct {
		const void *run;
		int64_t idx, trial;	/* trial 0: free */
		char name[100];
	} running[REPORT_RUNNING];
	int64_t tasks, trials;	/* in total; trials of each */
	int64_t done, passed, failed, errors;	/* tasks */
	int64_t trials_all, trials_done, active;
	int64_t own;		/* trials that were run, not reused */
	int64_t triggers, triggers_done;	/* tests: in total; so far */
	int64_t began_ms, drawn_ms;	/* since 1970, as in events */
	unsigned drawn_cols;	/* of the terminal at that time */
	bool shown;		/* the progress line is on the screen */
	bool printed;		/* other lines were printed */
};

/* Subscribes to the bus; the console must live as long as the bus. */
void report_console_start(struct report_console *, struct event_bus *);
/* Redraws the progress line between events; now_ms as in events. */
void report_console_tick(struct report_console *, int64_t now_ms);
/* Removes the progress line, so that others can print. */
void report_console_clear(struct report_console *);
/* Removes the progress line and frees the buffers. */
void report_console_end(struct report_console *);

/*
 * Files that are written during the run by sinks on its bus.  Set opts (and
 * suite) and zero the rest; start returns -1 with a message.  A write error
 * ends the writing, not the run, and is kept in .err.  end is harmless if start
 * failed or was not called.
 */
struct report_log {		/* DIR/YYYYMMDDTHHMMSSZ-session.jsonl */
	struct event_sink sink;
	struct report_opts opts;
	char *path;
	int fd;
	struct str suite;	/* path of eval.yaml, or empty */
	struct err err;
	struct arena arena;
	struct buf buf;
};
/* Creates the log in dir, and closes it. */
int report_log_start(struct report_log *, const char *dir, struct event_bus *,
    struct err *);
void report_log_end(struct report_log *);

struct report_transcripts {	/* DIR/NAME-YYYYMMDD-HHMMSS.json */
	struct event_sink sink;
	struct report_opts opts;
	const char *dir;
	struct err err;
	struct arena arena;
	struct buf buf;
};
/* Checks that dir can be written to; each task creates its own file. */
int report_transcripts_start(struct report_transcripts *, const char *dir,
    struct event_bus *, struct err *);
void report_transcripts_end(struct report_transcripts *);

/* Appends a GitHub workflow command's message, or one of its properties. */
void report_annotation(struct buf *, struct str, bool property);

#endif

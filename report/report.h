/* SPDX-License-Identifier: ISC */
/*
 * report.h: report_.  What a run says to people and to other programs: the
 * console while it goes on, the report at its end, and files for CI.
 *
 * Everything from a suite or an agent is hostile here: whatever it holds, a
 * terminal gets no control bytes, XML is well-formed, HTML runs no script,
 * an annotation stays one line.  Long texts are shortened; only the results
 * file has them whole.  Memory is bounded by one task's details.
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

/* The zero value is right for a file. */
struct report_opts {
	bool color;		/* escape sequences; only for a terminal */
	bool ascii;		/* the reader does not know UTF-8 */
	bool dumb;		/* a terminal that cannot redraw a line */
	bool verbose;		/* all tasks, all failures, prompts */
	bool interpret;		/* also in plain words */
	unsigned width;		/* columns of a line; 0: 80 */
	/* where the details of a trial come from; NULL: result_read */
	struct json *(*read)(struct arena *, const struct result_run *,
	    const struct result_trial *, struct err *);
};

/*
 * What the environment says about a terminal or file on fd: color unless
 * NO_COLOR or TERM=dumb, ascii unless the locale says UTF-8, the width of
 * COLUMNS.  Color and width only where fd is a terminal; a terminal without
 * a TERM is taken for a dumb one.
 */
void report_env(struct report_opts *, int fd);

/* The report at the end of a run. */
void report_text(struct buf *, const struct result_run *,
    const struct report_opts *);

/* After it: what has changed where stored answers were graded again. */
void report_changes(struct buf *, const struct result_run *,
    const struct report_opts *);

/* Several models side by side, after their reports. */
void report_models(struct buf *, struct result_run *const *runs, size_t n,
    const struct report_opts *);

/*
 * Reporters: NAME or NAME:PATH, where - stands for stdout.  check refuses
 * before a run what would fail after it: names that are not known, a path
 * that is missing or not wanted, a directory that cannot be written.
 */
enum {
	REPORT_STDOUT = 1,	/* it writes to stdout */
	REPORT_ALONE = 2	/* and wants it for itself */
};
int report_check(const char *spec, struct err *);
unsigned report_flags(const char *spec);	/* of one that check took */
size_t report_names(const char *const **);	/* NAME or NAME:PATH, sorted */

/*
 * One report of all the runs (one for each model), each followed by its
 * baseline.  A path is written whole or not at all: beside it, then renamed;
 * directories on the way are made.  What is there and is no file (a pipe, a
 * terminal) is written to as it is.
 */
int report_write(const char *spec, struct result_run *const *runs, size_t n,
    const struct report_opts *, struct err *);

/*
 * The console, on stderr while the run goes on.  On a terminal one line that
 * is redrawn, at most ten times a second; elsewhere, and on a dumb one, a
 * line for each task.  Set the first members, zero the rest, then start.
 */
enum report_level { REPORT_NORMAL, REPORT_QUIET, REPORT_VERBOSE };
enum { REPORT_RUNNING = 8 };	/* trials named in the progress line */

struct report_console {
	struct report_opts opts;
	enum report_level level;
	int fd;
	bool live;		/* it is a terminal; start clears it if dumb */
	/* private */
	struct event_sink sink;
	struct buf out;
	struct {
		int64_t idx, trial;	/* trial 0: free */
		char name[32];
	} running[REPORT_RUNNING];
	int64_t tasks, trials;	/* to come in all; trials of each */
	int64_t done, passed, failed, errors;	/* tasks */
	int64_t trials_done, active;
	int64_t triggers, triggers_done;	/* tests: in all; so far */
	int64_t began_ms, drawn_ms;	/* since 1970, as in events */
	bool shown;		/* the progress line is on the screen */
};

/* tick redraws: from a timer, while no events come; now_ms as in events */
void report_console_start(struct report_console *, struct event_bus *);
void report_console_tick(struct report_console *, int64_t now_ms);
void report_console_clear(struct report_console *);	/* others may print */
void report_console_end(struct report_console *);	/* clears and frees */

/*
 * Files that grow with the run, as sinks on its bus.  A failure to write
 * ends the writing, not the run: .err has it (ERR_NONE: all is well).  To
 * end what was not started, or could not be, is harmless.
 */
struct report_log {		/* DIR/YYYYMMDDTHHMMSSZ-session.jsonl */
	struct event_sink sink;
	struct report_opts opts;
	char *path;
	int fd;
	struct str suite;	/* path of eval.yaml, may be empty */
	struct err err;
	struct arena arena;
	struct buf buf;
};
int report_log_start(struct report_log *, const char *dir, struct event_bus *,
    struct err *);		/* opts and suite are set, the rest is zero */
void report_log_end(struct report_log *);

struct report_transcripts {	/* DIR/NAME-YYYYMMDD-HHMMSS.json, one a task */
	struct event_sink sink;
	struct report_opts opts;
	const char *dir;
	struct err err;
	struct arena arena;
	struct buf buf;
};
int report_transcripts_start(struct report_transcripts *, const char *dir,
    struct event_bus *, struct err *);
void report_transcripts_end(struct report_transcripts *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * report_internal.h: report_.  What the reporters are made of: words fit for a
 * line, a screen, XML; the details of a trial; an output that is flushed.
 */
#ifndef WAZA_REPORT_INTERNAL_H
#define WAZA_REPORT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "report/report.h"
#include "results/result.h"
#include "suite/spec.h"

/* One line: blanks run together, nothing that moves a cursor. */
size_t report_line(struct buf *, struct str, size_t cols, bool ascii);
/* The same, filled up with spaces. */
void report_cell(struct buf *, struct str, size_t cols, bool ascii);
size_t report_cols(struct str, size_t max);	/* that it would take */
void report_took(struct buf *, int64_t ms);	/* 12ms 1.2s 2m3s 1h2m */
double report_rate(double share);	/* in percent; 100 only if it is all */
void report_percent(struct buf *, double share);

/* At most max bytes of it, whole characters; *cut: there was more. */
struct str report_cut(struct str, size_t max, bool *cut);
/* Lines of it, each behind indent; at most `lines`, the rest counted. */
void report_block(struct buf *, struct str, const char *indent, size_t lines,
    const struct report_opts *);
/* Well-formed UTF-8, control bytes but \n and \t replaced; for XML escaped. */
void report_clean(struct buf *, struct str);
void report_escape(struct buf *, struct str);
/* One line of Markdown that says just this. */
void report_inline(struct buf *, struct str, size_t cols);
/* A part of a GitHub workflow command: its message, or a property. */
void report_annotation(struct buf *, struct str, bool property);
enum report_stamp {
	REPORT_ISO,		/* 2026-01-02T03:04:05; all are UTC */
	REPORT_DASH,		/* 20260102-030405 */
	REPORT_TIGHT		/* 20260102T030405Z */
};
void report_stamp(struct buf *, int64_t wall_ns, enum report_stamp);

/* ✓ ✗ ! - in color, or what stands for them in ASCII. */
void report_mark(struct buf *, enum result_status, const struct report_opts *);
void report_color(struct buf *, const char *sgr, const struct report_opts *);
void report_plain(struct buf *, const struct report_opts *);
const char *report_status(enum result_status);	/* with its class: "timeout" */

struct report_verdict {
	struct str name, type, feedback;
	double score;
	bool passed;
	struct spec_where at;	/* its grader, else its task */
};

struct report_detail {
	struct str prompt, output, error, stderr_tail;
	struct report_verdict *v;
	size_t n;
	const struct json *json;	/* NULL: nothing is known */
};

/* Always an answer; what cannot be read is said in .error. */
void report_detail(struct arena *, const struct report_opts *,
    const struct result_run *, const struct result_task *,
    const struct result_trial *, struct report_detail *);

/* The first trial that did not pass, else the first; NULL: none ran. */
const struct result_trial *report_trial(const struct result_task *);
size_t report_passes(const struct result_task *);	/* trials */
bool report_is_partial(const struct result_task *);	/* begun, not ended */
/* "failed", "skipped", or "14/50 trials, not finished". */
void report_standing(struct buf *, const struct result_task *);
/* Why not all was run; NULL: all was.  *broken: it was not meant to be so. */
const char *report_end(const struct result_run *, bool *broken);
/* "task_completion is 50.0%, needed 90.0%", of a run that is complete. */
bool report_missed(struct buf *, const struct result_run *);
double report_task_score(const struct result_task *);
int64_t report_task_ms(const struct result_task *);	/* of all its trials */
void report_where(struct buf *, struct spec_where);	/* file:line */

/* One prompt of the trigger tests; false: it was not asked. */
struct report_trigger {
	const struct spec_trigger *spec;
	enum result_status status;
	int64_t duration_ms;
	const char *words;	/* "should trigger, did not" */
	struct str error, output;	/* only where it was wrong */
};
bool report_trigger(struct arena *, const struct result_run *, size_t,
    struct report_trigger *);
/* Whether the run misses a metric because of them. */
bool report_triggers_missed(const struct result_run *);
/* "accuracy 40.0%, precision ...", on one line. */
void report_triggers_sum(struct buf *, const struct result_run *);
/* Their part of a report; nothing where none was asked. */
void report_triggers_text(struct buf *, const struct result_run *,
    size_t width, const struct report_opts *);

/* Where a reporter writes. */
struct report_out {
	struct buf b;
	int fd;			/* -1: all stays in b */
	struct err err;
	struct arena arena;	/* for the details of one task */
	const struct report_opts *opts;
	struct result_run *const *runs;
	size_t nruns;
	size_t count;		/* the reporter's own */
	size_t room;		/* bytes it may take; 0: any number */
	size_t sent;		/* bytes written so far */
};

/* Between tasks: writes when enough has come together. */
void report_flush(struct report_out *);
/* Whether n more bytes may come. */
bool report_room(const struct report_out *, size_t n);

struct report_kind {
	const char *name;	/* as usage shows it: "csv:PATH" */
	bool path;		/* which it cannot do without */
	unsigned flags;		/* without a path */
	void (*begin)(struct report_out *);
	void (*run)(struct report_out *, const struct result_run *, bool base);
	void (*end)(struct report_out *);
};

extern const struct report_kind report_csv, report_github, report_html;
extern const struct report_kind report_junit, report_markdown, report_tap;

void report_triggers_markdown(struct report_out *, const struct result_run *);
void report_triggers_html(struct report_out *, const struct result_run *);

/* All runs through a reporter: 0, or -1 with the first failure in out->err. */
int report_render(struct report_out *, const struct report_kind *);

/* The summary that GitHub shows, where the environment asks for it. */
int report_summary(struct result_run *const *runs, size_t n,
    const struct report_opts *, struct err *);

/* A file to be: made beside its path, then renamed to it. */
struct report_file {
	char *path, *temp;	/* temp NULL: it is written to directly */
	int fd;
};
int report_file_open(struct report_file *, struct arena *, const char *path,
    struct err *);
int report_file_keep(struct report_file *, struct err *);
void report_file_drop(struct report_file *);
int report_dirs(const char *path, bool last, struct err *);	/* mkdir -p */

#endif

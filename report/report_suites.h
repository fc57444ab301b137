/* SPDX-License-Identifier: ISC */
/*
 * report_suites.h: report_.  One report of many suites: a table, the tasks that
 * did not pass, and the summary file.
 */
#ifndef WAZA_REPORT_SUITES_H
#define WAZA_REPORT_SUITES_H

#include <stdbool.h>
#include <stddef.h>

#include "report/report.h"

struct matrix;

/* A suite and its results, one per cell. */
struct report_suite {
	struct str name;	/* unique */
	struct str skill;	/* or empty */
	const char *path;	/* of its eval.yaml */
	struct result_run **runs;
	const char **models, **files;	/* of each run; files may be NULL */
	struct str *cells;	/* their names in a matrix; or empty */
	const struct matrix *matrix;	/* their comparison, or NULL */
	size_t n;
	bool planned;		/* some of its passes have not started */
	bool failed;		/* a pass could not be completed */
};

struct report_suites {
	const struct report_suite *v;
	size_t n;
	int64_t duration_ms;	/* of all */
	int64_t ended_ns;	/* wall clock */
	size_t skipped;		/* skills without a suite */
	bool complete;		/* everything has run */
};

/* Whether all results of the suite mean success. */
bool report_suite_passed(const struct report_suite *);

/* Appends the tasks that did not pass, the table, and the totals. */
void report_suites_text(struct buf *, const struct report_suites *,
    const struct report_opts *);

/* Appends the summary as JSON: the original's keys, then ours. */
void report_suites_json(struct buf *, const struct report_suites *);

#endif

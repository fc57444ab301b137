/* SPDX-License-Identifier: ISC */
/*
 * report_coverage.h: report_.  The report of `waza coverage` for people.
 */
#ifndef WAZA_REPORT_COVERAGE_H
#define WAZA_REPORT_COVERAGE_H

struct buf;
struct coverage;
struct report_opts;

/* Appends a table with a row for each skill, then the sums. */
void report_coverage(struct buf *, const struct coverage *,
    const struct report_opts *);

#endif

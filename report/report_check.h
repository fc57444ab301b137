/* SPDX-License-Identifier: ISC */
/*
 * report_check.h: report_.  The reports of `waza check` about n skills.
 */
#ifndef WAZA_REPORT_CHECK_H
#define WAZA_REPORT_CHECK_H

#include <stddef.h>

#include "base/base.h"

struct check;
struct report_opts;

/* For people.  Of several skills, those without problems are only counted. */
void report_check_text(struct buf *, const struct check *const *, size_t n,
    const struct report_opts *);

/* Workflow commands of GitHub: an annotation for each error and warning. */
void report_check_github(struct buf *, const struct check *const *, size_t n);

/* SARIF 2.1.0, with the version of the program. */
void report_check_sarif(struct buf *, const struct check *const *, size_t n,
    const char *version);

/* {timestamp, skills}: the original's JSON report, with more keys. */
void report_check_json(struct buf *, const struct check *const *, size_t n,
    int64_t wall_ns);

#endif

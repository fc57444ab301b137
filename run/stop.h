/* SPDX-License-Identifier: ISC */
/*
 * stop.h: stop_.  Rules by which a run starts no more trials of a task, or no
 * more tasks of a suite.
 *
 * STOP_DECIDED: the verdict of a threshold cannot change any more.  A task, or
 * a suite, that is stopped so has the verdict that it would have had.
 * STOP_CI: the interval of a task's pass rate (stats_sequence) is narrow
 * enough.  Looking after every trial does not make it invalid.
 */
#ifndef WAZA_STOP_H
#define WAZA_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stop_kind { STOP_NEVER, STOP_DECIDED, STOP_CI };

struct stop_rule {
	enum stop_kind kind;
	double width;		/* STOP_CI: half the interval at most */
};

/* Trials of a task, or tasks of a suite; errors have failed. */
struct stop_counts {
	size_t planned;
	size_t known;		/* with the skipped ones */
	size_t passed, skipped;
};

/* The trials of a task that have a result; a run may have a million tasks. */
struct stop_known {
	uint32_t n, passed, skipped;
	uint32_t last;		/* index of the last one */
};

/* Whether no more trials are needed; at least one must have been graded. */
bool stop_task(const struct stop_rule *, const struct stop_counts *,
    double threshold);

/* Whether the share that passes is certain to reach, or to miss, it. */
enum stop_verdict { STOP_OPEN, STOP_PASSES, STOP_FAILS };
enum stop_verdict stop_verdict(const struct stop_counts *, double threshold);

#endif

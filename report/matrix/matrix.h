/* SPDX-License-Identifier: ISC */
/*
 * matrix.h: matrix_.  The cells of a matrix: results of the same suite with
 * different executors, models or skills.  All pairs are compared as `waza
 * compare` does, and their p values are corrected for the number of pairs
 * (Holm), so that one of many pairs is not called better by chance.
 */
#ifndef WAZA_MATRIX_H
#define WAZA_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

#include "report/compare.h"

/* A pair of cells; .of compares the second with the first. */
struct matrix_pair {
	size_t cell[2];
	double p;		/* before the correction */
	struct compare_pair of;	/* its p values are corrected */
};

struct matrix {
	struct result_run *const *runs;
	size_t n;		/* cells */
	struct compare_row *rows;	/* tasks; .in has one per cell */
	size_t nrows;
	struct matrix_pair *pairs;	/* first with second, third ... */
	size_t npairs;
	size_t left_out;	/* tasks that are not compared in all cells:
				 * an error there is not the agent's */
};

/*
 * Compares the results of 2 to COMPARE_FILES cells, which must live as long;
 * their tasks must be in memory.
 */
struct matrix *matrix_make(struct arena *, struct result_run *const *runs,
    size_t n);

/*
 * The same for cells of which some have no results, NULL; NULL if fewer than
 * two or more than COMPARE_FILES have.
 */
struct matrix *matrix_of(struct arena *, struct result_run *const *runs,
    size_t n);

/* For people: the name of the cell; outside of a matrix, the model. */
struct str matrix_name(const struct result_run *);

/* Appends the tables and the comparisons for people. */
void matrix_text(struct buf *, const struct matrix *,
    const struct report_opts *);

/*
 * matrix_markdown.c: for the first of several cells among the runs of a report,
 * a section of them all.
 */
struct report_out;
void matrix_markdown(struct report_out *, const struct result_run *);

/* Appends a JSON object: cells and comparisons; and tasks, if wanted. */
void matrix_json(struct buf *, const struct matrix *, bool tasks);

#endif

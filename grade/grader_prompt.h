/* SPDX-License-Identifier: ISC */
/*
 * grader_prompt.h: grader_.  The parts of the kind `prompt`: the criteria that
 * a judge applies (grader_prompt_rubric.c), the text of the question
 * (grader_prompt_question.c), the grading (grader_prompt.c), and its verdict
 * (grader_prompt_verdict.c).
 */
#ifndef WAZA_GRADER_PROMPT_H
#define WAZA_GRADER_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "grade/grader_internal.h"
#include "grade/judge.h"

enum { GRADER_RUBRIC_MAX = 1 << 20 };	/* bytes of a rubric file */

/* The criteria of a judge and the scale of the score. */
struct grader_criteria {
	struct str text;
	struct judge_scale scale;
};

struct grader_rubric_source {
	const struct spec_suite *suite;
	const char *file;		/* that names the rubric */
	struct spec_notes *notes;	/* for warnings, or NULL */
};

/*
 * Reads a rubric: the name of a built-in one, the name of a file, or a mapping
 * as in such a file.  A file is searched beside the one that names it, then
 * beside the suite.  -1 and *e, which names the file that caused it.
 */
extern const struct field_table grader_rubric_table;	/* its keys */
int grader_read_rubric(struct arena *, const struct grader_rubric_source *,
    const struct json *, struct grader_criteria *, struct err *);

struct grader_question {
	const struct grader_input *in;
	const struct grader_criteria *criteria;
	bool compares;			/* answers a and b */
	struct str a, b;
	bool session;			/* include the whole transcript */
	bool again;			/* the first answer had no verdict */
};

/* Writes the question into the arena; -1 and *e without random bytes. */
int grader_prompt_question(struct arena *, const struct grader_question *,
    struct str *, struct err *);

enum grader_mode { GRADER_ALONE, GRADER_PAIRWISE };

/* Settings of the kind `prompt`. */
struct grader_prompt {
	struct str prompt, model, reasoning_effort;
	const struct json *rubric, *judge, *unused;
	int mode;			/* enum grader_mode */
	bool continue_session;		/* show the whole transcript */
	double threshold;		/* negative: not set */
	int64_t samples;
};

/* One sample: the verdict of a judge, or an error. */
struct grader_sample {
	bool valid, passed;
	double score;
	struct judge_verdict verdict;
	struct judge_choice choice[2];	/* of a comparison: with the answer
					 * as A, then as B */
	struct str error;		/* if not valid */
	struct str response;
	bool again;			/* the judge was asked twice */
};

/* One grading of the kind `prompt`. */
struct prompt_grading {
	struct grading *g;
	struct grader_prompt set;
	struct grader_criteria criteria;
	struct judging q;
	struct str asked[2][2];		/* question texts, by turn and again */
	struct grader_sample *samples;
	size_t n, invalid;		/* samples so far; the invalid ones */
	unsigned turn;			/* of a comparison: 0 or 1 */
	bool again, cancelled;
	struct answer_usage usage;	/* sum over all questions */
	int64_t began;			/* os_now_ms() at the start */
};

/* Sets the verdict (or the error) of the grading from its samples. */
void grader_prompt_conclude(struct prompt_grading *);

/*
 * The winner of a comparison: JUDGE_A is the answer with skills, JUDGE_B the
 * baseline.  A tie if the two orders disagree.
 */
enum judge_side grader_prompt_winner(const struct grader_sample *);

#endif

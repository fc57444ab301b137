/* SPDX-License-Identifier: ISC */
/*
 * grader_prompt.h: grader_.  The parts of the kind `prompt`: the measure that
 * a judge is given (grader_rubric.c), the question it is asked
 * (grader_question.c), and the grading (grader_prompt.c) with what it says of
 * itself (grader_judged.c).
 */
#ifndef WAZA_GRADER_PROMPT_H
#define WAZA_GRADER_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "grade/grader_internal.h"
#include "grade/judge.h"

enum { GRADER_RUBRIC_MAX = 1 << 20 };	/* bytes of a rubric's file */

/* By what an answer is measured, in words, and how the score is counted. */
struct grader_measure {
	struct str text;
	struct judge_scale scale;
};

struct grader_source {
	const struct spec_suite *suite;
	const char *file;		/* that names the rubric */
	struct spec_notes *notes;	/* for warnings about it, or NULL */
};

/*
 * A rubric: a string that names a built-in one or a file, or the mapping that
 * such a file has.  Files are looked for beside the one that names them, then
 * beside the suite.  -1 and *e, which names the file where it is one's fault.
 */
int grader_rubric(struct arena *, const struct grader_source *,
    const struct json *, struct grader_measure *, struct err *);

struct grader_question {
	const struct grader_input *in;
	const struct grader_measure *measure;
	bool compares;			/* answers a and b; else the one */
	bool session;			/* all that was said and done for it */
	struct str a, b;
	bool again;			/* it gave no verdict the first time */
};

/* The question in words, in the arena; -1 when there is no randomness. */
int grader_ask(struct arena *, const struct grader_question *, struct str *,
    struct err *);

enum grader_mode { GRADER_ALONE, GRADER_PAIRWISE };

/* The settings of the kind. */
struct grader_prompt {
	struct str prompt, model, reasoning_effort;
	const struct json *rubric, *judge, *unused;
	int mode;			/* enum grader_mode */
	bool continue_session;
	double threshold;		/* below 0: not given */
	int64_t samples;
};

/* One sample: a verdict, or why there is none. */
struct grader_sample {
	bool valid, passed;
	double score;
	struct judge_verdict verdict;
	struct judge_choice choice[2];	/* the answer as A, then as B */
	struct str error;		/* not valid: why */
	struct str response;
	bool again;			/* it had to be asked twice */
};

/* A grading by a judge. */
struct grader_judged {
	struct grading *g;
	struct grader_prompt set;
	struct grader_measure measure;
	struct judging q;
	struct str asked[2][2];		/* the questions, by turn and again */
	struct grader_sample *samples;
	size_t n, wrong;		/* samples so far, those not valid */
	unsigned turn;			/* of a comparison: 0, 1 */
	bool again, cancelled;
	struct answer_usage usage;
	int64_t began;
};

/* Score, passed, feedback and details, from the samples. */
void grader_sum_up(struct grader_judged *);

/* Who of the two a comparison prefers: JUDGE_A is the answer with skills. */
enum judge_side grader_preferred(const struct grader_sample *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * Input: a results file.  It is refused with a message, or: each answer in it
 * can be taken, and the file that is written from it can be read again and has
 * the same tasks with the same status.
 */
#include <assert.h>

#include "base/base.h"
#include "results/answer.h"
#include "results/outcome.h"
#include "results/result.h"
#include "suite/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_answers(struct arena *a, const struct outcome *o)
{
	struct answer ans;
	size_t i, k;

	for (i = 0; i < o->ntasks; i++) {
		assert(outcome_find(o, o->tasks[i].id) == &o->tasks[i]);
		assert(outcome_task_spec(a, &o->tasks[i]) != NULL);
		for (k = 0; k < o->tasks[i].ntrials; k++) {
			ans = (struct answer){ 0 };
			outcome_answer(a, &o->tasks[i].trials[k], &ans);
			assert(utf8_valid(ans.output));
		}
	}
}

static void
check_again(struct arena *a, const struct outcome *o)
{
	struct spec_suite s = { .config = { .pass_threshold = 1,
		.task_pass_threshold = 1 } };
	struct result_run *run = outcome_run(a, o, &s);
	const struct outcome_task *t;
	struct outcome *w;
	struct buf b = { 0 };
	struct err e = { 0 };
	size_t i;

	result_write_buf(run, &b);
	w = outcome_parse(a, arena_str(a, buf_str(&b)), "x", &e);
	assert(w != NULL && w->ntasks <= o->ntasks);
	for (i = 0; i < w->ntasks; i++) {
		t = outcome_find(o, w->tasks[i].id);
		assert(t != NULL && t->status == w->tasks[i].status);
		assert(t->ntrials == w->tasks[i].ntrials);
	}
	result_close(run);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct str text = { (const char *)data, size };
	struct err e = { 0 };
	struct outcome *o = outcome_parse(&a, arena_str(&a, text), "x", &e);

	if (o == NULL)
		assert(e.msg[0] != '\0');
	else {
		check_answers(&a, o);
		check_again(&a, o);
	}
	arena_free(&a);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * The cost of an assertion of a `code` grader: the corpus in process, and one
 * start of python3 that evaluates several assertions.
 */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "json.h"
#include "lib/py/expr.h"
#include "test/tool/help.h"

enum { CASES = 1000 };

static struct {
	struct str expr;
	const struct json *names;
} cases[CASES];
static size_t ncases;

/* Of the processor for ours, of the clock on the wall for a child. */
static double
now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct json *
context(struct arena *a, const struct json *output)
{
	return read_json(a, arena_fmt(a, "{\"outcome\":{\"status\":"
	    "\"completed\"},\"tool_calls\":[{\"name\":\"bash\"}],\"errors\":[],"
	    "\"duration_ms\":1234,\"transcript\":[{\"type\":"
	    "\"assistant.message\"}],\"output\":%.*s}",
	    STRF(print_json(a, output))));
}

static void
load(struct arena *a, const char *dir)
{
	struct str path = arena_fmt(a, "%s/assertions/assertions.jsonl", dir);
	FILE *f = fopen(path.p, "rb");
	struct buf b = { 0 };
	const struct json *row, *c;
	int ch;

	while (f != NULL && (ch = getc(f)) != EOF) {
		if (ch != '\n') {
			buf_putc(&b, (char)ch);
			continue;
		}
		row = read_json(a, arena_str(a, buf_str(&b)));
		b.n = 0;
		for (c = json_first(json_getc(row, "cases"));
		    c != NULL && ncases < CASES; c = c->next) {
			cases[ncases].expr = json_text(json_getc(row, "expr"));
			cases[ncases++].names = context(a,
			    json_getc(c, "output"));
		}
	}
	if (f != NULL)
		fclose(f);
	buf_free(&b);
}

/* Seconds for one case on average, best of some rounds. */
static double
measure(bool compile, size_t *declined)
{
	struct arena keep = { 0 }, tmp = { 0 };
	struct expr *x[CASES];
	double best = 1e9, t;
	struct arena_mark mark;
	struct err e;
	size_t i;
	int k, round;

	for (i = 0; i < ncases; i++)
		x[i] = expr_compile(&keep, cases[i].expr, &e);
	for (round = 0; round < 7; round++) {
		*declined = 0;
		t = now(CLOCK_PROCESS_CPUTIME_ID);
		for (k = 0; k < 200; k++)
			for (i = 0; i < ncases; i++) {
				mark = arena_save(&tmp);
				if (compile)
					x[i] = expr_compile(&tmp, cases[i].expr, &e);
				*declined += expr_eval(x[i], cases[i].names,
				    &tmp, &e) == EXPR_DECLINED;
				arena_restore(&tmp, mark);
			}
		t = (now(CLOCK_PROCESS_CPUTIME_ID) - t) / 200 / (double)ncases;
		best = t < best ? t : best;
	}
	arena_free(&keep);
	arena_free(&tmp);
	return best;
}

static double
python(void)
{
	double best = 1e9, t;
	int i;

	for (i = 0; i < 5; i++) {
		t = now(CLOCK_MONOTONIC);
		if (system("python3 -c 'import json, re; eval(\"1\")' "
		    "2>/dev/null") != 0)
			return -1;
		t = now(CLOCK_MONOTONIC) - t;
		best = t < best ? t : best;
	}
	return best;
}

int
main(void)
{
	const char *dir = getenv("CORPUS");
	struct arena a = { 0 };
	size_t declined;
	double t;

	load(&a, dir != NULL ? dir : "../shared/corpus");
	if (ncases == 0) {
		printf("no corpus of assertions\n");
		return 0;
	}
	t = measure(true, &declined);
	printf("%-34s %9.3f us  %zu cases, %zu declined\n",
	    "compile and evaluate", t * 1e6, ncases, declined / 200);
	printf("%-34s %9.3f us\n", "evaluate", measure(false, &declined) * 1e6);
	t = python();
	if (t > 0)
		printf("%-34s %9.0f us\n", "python3, one start for a set", t * 1e6);
	else
		printf("python3: not installed\n");
	arena_free(&a);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * result_bench [TASKS]: the cost of storing a small trial, writing the results
 * file, reading the journal, and the bootstraps.
 */
#include "results/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/base.h"
#include "base/os.h"
#include "grader.h"
#include "lib/stats.h"
#include "suite/spec.h"
#include "test/tool/tap.h"

static struct arena a;
static struct spec_suite suite;
static struct err e;
static char dir[] = "/tmp/result_bench.XXXXXX";

static int64_t
cpu_ns(void)
{
	return (int64_t)(tap_cpu() * 1e9);
}

static void
row(const char *what, int64_t ns, int64_t cpu, size_t n)
{
	printf("%-34s %8.1f ms %8.1f ms CPU %8.2f us each\n", what,
	    (double)ns / 1e6, (double)cpu / 1e6, (double)cpu / 1e3 / (double)n);
}

static struct result_run
start(void)
{
	struct result_run r = { .arena = &a, .suite = &suite,
	    .run_id = "bench", .executor = STR("mock"), .model = STR("m"),
	    .started_ns = os_wall_ns(), .trials = 1 };

	result_init(&r);
	return r;
}

static int
add_all(struct result_run *r)
{
	struct verdict v = { .name = STR("regex"), .type = STR("text"),
	    .score = 1, .weight = 1, .passed = true,
	    .feedback = STR("All patterns matched"),
	    .details = STR("{\"matched\":1,\"total\":1}") };
	struct answer ans = { .exit_status = -1, .output = STR(
	    "Mock response for: Say the word that was asked for, once.") };
	struct result_record rec = { .status = RESULT_PASSED, .attempts = 1,
	    .answer = &ans, .verdicts = &v, .nverdicts = 1,
	    .prompt = STR("Say the word that was asked for, once.") };
	int rc = 0;

	for (rec.task = 0; rec.task < r->ntasks; rec.task++) {
		rc |= result_add(r, &rec, &e);
		result_end_task(r, rec.task);
	}
	return rc;
}

static void
bootstraps(size_t n)
{
	static double x[STATS_BOOTSTRAP_MAX];
	int64_t t = os_now_ns(), c = cpu_ns();
	double lo, hi;
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = (double)(i * 7919 % 1000) / 1000;
	for (i = 0; i < 10; i++)
		stats_bootstrap(x, n, i, &lo, &hi);
	printf("%4zu values: ", n);
	row("bootstrap", (os_now_ns() - t) / 10, (cpu_ns() - c) / 10, 1);
}

int
main(int argc, char **argv)
{
	size_t i, n = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 10000;
	const char *journal, *out;
	struct spec_def def = { .rows = NULL };
	struct result_run r;
	int64_t t, c;

	if (mkdtemp(dir) == NULL)
		return 2;
	journal = arena_fmt(&a, "%s/r.journal", dir).p;
	out = arena_fmt(&a, "%s/r.json", dir).p;
	suite = (struct spec_suite){ .name = STR("bench"), .ntasks = n };
	suite.config.pass_threshold = suite.config.task_pass_threshold = 1;
	suite.tasks = NEW_N(&a, struct spec_task, n);
	for (i = 0; i < n; i++) {
		suite.tasks[i].def = &def;
		suite.tasks[i].id = suite.tasks[i].name =
		    arena_fmt(&a, "task-%zu", i);
	}
	r = start();
	if (result_open(&r, journal, false, &e) == -1)
		return 2;
	t = os_now_ns(), c = cpu_ns();
	if (add_all(&r) == -1)
		return 2;
	row("trials kept", os_now_ns() - t, cpu_ns() - c, n);
	t = os_now_ns(), c = cpu_ns();
	result_sum(&r);
	row("summed up", os_now_ns() - t, cpu_ns() - c, n);
	for (i = 0; i < 2; i++) {
		r.complete = i == 1;
		t = os_now_ns(), c = cpu_ns();
		if (result_write(&r, out, &e) == -1)
			return 2;
		row(i == 0 ? "results written" : "results written and synced",
		    os_now_ns() - t, cpu_ns() - c, n);
	}
	result_close(&r);
	r = start();
	t = os_now_ns(), c = cpu_ns();
	if (result_open(&r, journal, true, &e) == -1)
		return 2;
	row("resumed", os_now_ns() - t, cpu_ns() - c, n);
	result_close(&r);
	bootstraps(3);
	bootstraps(100);
	bootstraps(1000);
	(void)unlink(journal);
	(void)unlink(out);
	(void)rmdir(dir);
	arena_free(&a);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/* Trigger tests: their totals, and how they are stored and resumed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/base.h"
#include "base/os.h"
#include "json.h"
#include "results/result.h"
#include "suite/spec.h"
#include "test/tool/tap.h"

enum { N = 6 };

static struct arena a;
static struct err e;
static char dir[] = "/tmp/t_trigger.XXXXXX";
static const struct spec_def def;
static struct spec_task task = { .def = &def };
static struct spec_metric metric;
static struct spec_trigger prompts[N];
static struct spec_triggers triggers;
static struct spec_suite suite;

/* One prompt per letter: y should trigger, n not, capitals count half. */
static void
set_prompts(const char *kinds)
{
	size_t i;

	triggers = (struct spec_triggers){ .file = "trigger_tests.yaml",
	    .v = prompts, .n = strlen(kinds) };
	triggers.skill = STR("speller");
	for (i = 0; i < triggers.n; i++) {
		struct spec_trigger *t = &prompts[i];

		*t = (struct spec_trigger){ .weight = 1 };
		t->task.def = &def;
		t->task.prompt = arena_fmt(&a, "prompt %zu", i + 1);
		t->should = (kinds[i] | 0x20) == 'y';
		if ((kinds[i] & 0x20) == 0) {
			t->confidence = STR("medium");
			t->weight = 0.5;
		}
	}
}

static struct result_run
start(const char *kinds)
{
	struct result_run r = { .arena = &a, .suite = &suite,
	    .run_id = "run-7", .trials = 1 };

	set_prompts(kinds);
	task.id = task.name = STR("one");
	suite = (struct spec_suite){ .path = "eval.yaml", .tasks = &task,
	    .ntasks = 1, .triggers = &triggers };
	suite.name = STR("small");
	suite.config.pass_threshold = suite.config.task_pass_threshold = 1;
	suite.metrics = (struct field_list){ &metric, 1 };
	metric = (struct spec_metric){ .weight = 1, .enabled = true };
	metric.name = STR("trigger_accuracy");
	r.executor = STR("mock");
	result_init(&r);
	result_want_triggers(&r, false);
	return r;
}

static int
add(struct result_run *r, size_t i, enum result_status st)
{
	struct answer ans = { .exit_status = -1 };
	struct result_record rec = { .task = i, .status = st,
	    .duration_ms = 5, .answer = &ans };

	ans.output = STR("an answer");
	ans.usage = (struct answer_usage){ .known = true, .turns = 1,
	    .input_tokens = 10 };
	if (result_is_error(st))
		rec.error = STR("broken");
	return result_add_trigger(r, &rec, &e);
}

/* Statuses by letter: p passed, f failed, e error, - not run. */
static struct result_accuracy
sums(const char *kinds, const char *statuses)
{
	struct result_run r = start(kinds);
	struct result_accuracy x;
	size_t i;

	for (i = 0; statuses[i] != '\0'; i++)
		if (statuses[i] != '-')
			(void)add(&r, i, statuses[i] == 'p' ? RESULT_PASSED :
			    statuses[i] == 'f' ? RESULT_FAILED :
			    RESULT_AGENT_ERROR);
	result_accuracy(&r, &x);
	result_close(&r);
	return x;
}

static bool
has(const struct result_accuracy *x, double tp, double fp, double tn,
    double fn)
{
	return x->tp == tp && x->fp == fp && x->tn == tn && x->fn == fn;
}

static void
test_sums(void)
{
	struct result_accuracy x;

	/* hit, a medium one missed, one that should not hit */
	x = sums("yYn", "pff");
	OK(has(&x, 1, 1, 0, 0.5) && x.errors == 0);
	OK(x.precision == (double)0.5 && x.recall == (double)0.6667 && x.accuracy == (double)0.4);
	OK(x.f1 == (double)0.5714);		/* 2 / 3.5 */
	x = sums("yyYnnN", "pppppp");
	OK(has(&x, 2.5, 0, 2.5, 0));
	OK(x.precision == 1 && x.recall == 1 && x.f1 == 1 &&
	    x.accuracy == 1);
	x = sums("yyYnnN", "ffffff");
	OK(has(&x, 0, 2.5, 0, 2.5));
	OK(x.precision == 0 && x.recall == 0 && x.f1 == 0 &&
	    x.accuracy == 0);
	x = sums("yyn", "pep");		/* an error is wrong, neither positive nor negative */
	OK(has(&x, 1, 0, 1, 0) && x.errors == 1);
	OK(x.recall == 1 && x.accuracy == (double)0.6667);
	x = sums("nn", "pe");
	OK(has(&x, 0, 0, 1, 0) && x.errors == 1);
	x = sums("nn", "pp");		/* no division by zero */
	OK(has(&x, 0, 0, 2, 0) && x.precision == 0 && x.recall == 0 &&
	    x.f1 == 0 && x.accuracy == 1);
	x = sums("yyn", "---");
	OK(has(&x, 0, 0, 0, 0) && x.accuracy == 0);
	x = sums("yyy", "p--");		/* only those that were asked */
	OK(has(&x, 1, 0, 0, 0) && x.accuracy == 1);
}

static void
test_metric(void)
{
	struct result_run r = start("yyn");
	double value;

	metric.threshold = 0.6667;
	(void)add(&r, 0, RESULT_PASSED);
	(void)add(&r, 1, RESULT_FAILED);
	OK(!result_metric(&r, &metric, &value));	/* not all have run */
	OK(result_missed(&r) == NULL);
	(void)add(&r, 2, RESULT_PASSED);
	OK(result_metric(&r, &metric, &value) && value == (double)0.6667);
	OK(result_missed(&r) == NULL && !result_misses(&r, &metric));
	metric.threshold = 0.67;
	OK(result_missed(&r) == &metric && result_misses(&r, &metric));
	metric.enabled = false;
	OK(result_missed(&r) == NULL);
	metric.enabled = true;
	metric.threshold = 0;
	OK(result_missed(&r) == NULL);
	result_forget_trigger(&r, 2);
	OK(r.triggers.done == 2 && !result_metric(&r, &metric, &value));
	OK(result_did_trigger(&r, 0) && !result_did_trigger(&r, 1));
	result_close(&r);
}

static struct json *
read_file(const char *path)
{
	struct json_mem mem = { arena_hook, &a };
	struct json_error je;
	struct str s;

	if (os_read_file(&a, path, 1 << 20, &s, &e) == -1)
		return NULL;
	return json_read(&mem, s, 0, &je);
}

static bool
text_is(const struct json *v, const char *key, const char *want)
{
	v = json_getc(v, key);
	return v != NULL && str_is(json_text(v), want);
}

static bool
truth_is(const struct json *v, const char *key, bool want)
{
	v = json_getc(v, key);
	return v != NULL && v->type == JSON_BOOL && json_bool(v) == want;
}

static void
test_file(void)
{
	const char *path = arena_fmt(&a, "%s/r.json", dir).p;
	const char *journal = arena_fmt(&a, "%s/r.journal", dir).p;
	struct result_run r = start("yYn");
	const struct json *v, *item;
	int64_t n;

	OK(result_open(&r, journal, false, &e) == 0);
	OK(result_write(&r, path, &e) == 0);
	v = read_file(path);
	OK(json_getc(v, "trigger_metrics") == NULL &&
	    json_getc(v, "trigger_results") == NULL);
	(void)add(&r, 2, RESULT_AGENT_ERROR);
	(void)add(&r, 0, RESULT_PASSED);
	(void)add(&r, 1, RESULT_FAILED);
	OK(r.usage.turns == 3 && r.usage.input_tokens == 30);
	OK(result_write(&r, path, &e) == 0);
	v = read_file(path);
	item = json_getc(v, "trigger_metrics");
	OK(json_int(json_getc(item, "true_positives"), &n) && n == 1);
	OK(json_int(json_getc(item, "false_negatives"), &n) && n == 1);
	OK(json_int(json_getc(item, "false_positives"), &n) && n == 0);
	OK(json_int(json_getc(item, "true_negatives"), &n) && n == 0);
	OK(json_int(json_getc(item, "errors"), &n) && n == 1);
	OK(json_getc(item, "simulated") == NULL);
	item = json_getc(json_getc(v, "metrics"), "trigger_accuracy");
	OK(text_is(item, "value", "0.4") && text_is(item, "threshold", "0") &&
	    truth_is(item, "passed", true) && text_is(item, "weight", "1") &&
	    text_is(item, "identifier", "trigger_accuracy"));
	/* in the order of their file, not of their end */
	v = json_getc(v, "trigger_results");
	OK(json_count(v) == 3);
	item = json_first(v);
	OK(text_is(item, "prompt", "prompt 1") &&
	    json_getc(item, "confidence") == NULL &&
	    truth_is(item, "should_trigger", true) &&
	    truth_is(item, "did_trigger", true) &&
	    text_is(item, "final_output", "an answer") &&
	    json_getc(item, "error_msg") == NULL);
	item = item->next;
	OK(text_is(item, "confidence", "medium") &&
	    truth_is(item, "did_trigger", false));
	item = item->next;
	OK(truth_is(item, "should_trigger", false) &&
	    truth_is(item, "did_trigger", true) &&
	    text_is(item, "error_msg", "broken") &&
	    text_is(item, "error_class", "agent_error"));
	result_close(&r);
}

/* Other runs resume from the journal of test_file(). */
static void
test_resume(void)
{
	const char *journal = arena_fmt(&a, "%s/r.journal", dir).p;
	struct result_run r = start("yYn");

	OK(result_open(&r, journal, true, &e) == 0);
	OK(r.triggers.done == 3 && r.usage.turns == 3);
	OK(r.triggers.v[0].status == RESULT_PASSED &&
	    r.triggers.v[1].status == RESULT_FAILED &&
	    r.triggers.v[2].status == RESULT_AGENT_ERROR &&
	    r.triggers.v[2].duration_ms == 5);
	result_forget_trigger(&r, 2);
	OK(r.triggers.done == 2 && r.usage.turns == 2);
	OK(add(&r, 2, RESULT_PASSED) == 0 && r.usage.turns == 3);
	OK(add(&r, 2, RESULT_PASSED) == 0 && r.usage.turns == 3);
	result_close(&r);

	r = start("yYn");		/* the last line counts */
	OK(result_open(&r, journal, true, &e) == 0);
	OK(r.triggers.done == 3 && r.triggers.v[2].status == RESULT_PASSED);
	result_close(&r);

	r = start("yYy");		/* other expectations */
	prompts[0].task.prompt = STR("asks something else");
	OK(result_open(&r, journal, true, &e) == 0);
	OK(r.triggers.done == 1 && r.triggers.v[1].status == RESULT_FAILED);
	OK(r.usage.turns == 1);
	result_close(&r);

	r = start("yYn");
	triggers.skill = STR("another");
	OK(result_open(&r, journal, true, &e) == 0 && r.triggers.done == 0);
	result_close(&r);

	r = start("yYn");
	r.triggers.simulated = true;
	OK(result_open(&r, journal, true, &e) == 0 && r.triggers.done == 0);
	result_close(&r);

	r = start("y");			/* fewer tests than before */
	OK(result_open(&r, journal, true, &e) == 0 && r.triggers.done == 1);
	result_close(&r);

	r = start("yYn");		/* none are part of this run */
	r.triggers = (struct result_triggers){ .n = 0 };
	OK(result_open(&r, journal, true, &e) == 0 && r.usage.turns == 0);
	result_close(&r);
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	RUN(test_sums, test_metric, test_file, test_resume);
	unlink(arena_fmt(&a, "%s/r.json", dir).p);
	unlink(arena_fmt(&a, "%s/r.journal", dir).p);
	OK(rmdir(dir) == 0);
	arena_free(&a);
	return tap_done();
}

/* SPDX-License-Identifier: ISC */
/* outcome.h: results files of this program, of the original, written by hand. */
#include "results/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/base.h"
#include "json.h"
#include "results/result.h"
#include "suite/spec.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct arena a;
static struct err e;

static struct json *
parse(struct str text)
{
	struct json *v = read_json(&a, arena_str(&a, text));

	if (v == NULL)
		abort();
	return v;
}

static struct outcome *
of(const char *text)
{
	e = (struct err){ ERR_NONE, 0, 0, 0, "" };
	return outcome_of(&a, parse(str_of(text)), "x.json", &e);
}

/* One task with one run of these members. */
static struct answer
answer(const char *members)
{
	struct answer ans;
	struct outcome *o = of(arena_fmt(&a, "{\"tasks\":[{\"test_id\":\"t\","
	    "\"runs\":[{%s}]}]}", members).p);

	outcome_answer(&a, &o->tasks[0].trials[0], &ans);
	return ans;
}

static void
test_whole(void)
{
	static const char text[] =
	    "{\"eval_id\":\"r1\",\"skill\":\"s\",\"eval_name\":\"n\","
	    "\"timestamp\":\"T\",\"config\":{\"model_id\":\"m\","
	    "\"engine_type\":\"x\"},\"summary\":{\"duration_ms\":9,"
	    "\"success_rate\":0.1},\"future\":[1],\"tasks\":["
	    "{\"test_id\":\"b\",\"display_name\":\"B\",\"group\":\"g\","
	    "\"golden\":true,\"status\":\"passed\",\"runs\":["
	    "{\"status\":\"passed\",\"score\":1,\"weighted_score\":0.5,"
	    "\"duration_ms\":10},{\"status\":\"error\",\"error_class\":"
	    "\"timeout\",\"duration_ms\":20}]},"
	    "{\"test_id\":\"a\",\"status\":\"running\",\"runs\":null},"
	    "{\"test_id\":\"c\",\"status\":\"error\","
	    "\"error_class\":\"judge_error\"}]}";
	struct outcome *o = of(text);
	const struct outcome_task *t;

	OK(o != NULL && o->ntasks == 3 && o->passed == 1);
	OK(str_is(o->run_id, "r1") && str_is(o->name, "n"));
	OK(str_is(o->model, "m") && str_is(o->executor, "x"));
	OK(o->duration_ms == 9 && near(o->rate, 0.5));
	t = outcome_find(o, STR("b"));
	OK(t == &o->tasks[0] && t->golden && t->finished && t->ntrials == 2);
	OK(str_is(t->name, "B") && str_is(t->group, "g"));
	OK(near(t->score, 0.5) && near(t->weighted, 0.25));
	OK(near(t->pass_rate, 0.5) && t->duration_ms == 15);
	OK(t->trials[1].status == RESULT_TIMEOUT);
	OK(t->trials[1].node != NULL && t->node != NULL);
	t = outcome_find(o, STR("a"));
	OK(t == &o->tasks[1] && !t->finished && t->status == RESULT_NONE);
	OK(str_is(t->name, "a"));
	t = outcome_find(o, STR("c"));
	OK(t == &o->tasks[2] && t->status == RESULT_JUDGE_ERROR);
	OK(outcome_find(o, STR("")) == NULL);
	OK(outcome_find(o, STR("zz")) == NULL);
}

static enum result_status
status(const char *members)
{
	struct outcome *o = of(arena_fmt(&a,
	    "{\"tasks\":[{\"test_id\":\"t\",%s}]}", members).p);

	return o->tasks[0].status;
}

static void
test_status(void)
{
	OK(status("\"status\":\"n/a\"") == RESULT_NONE);
	OK(status("\"status\":\"skipped\"") == RESULT_SKIPPED);
	OK(status("\"status\":\"purple\"") == RESULT_NONE);
	OK(status("\"status\":7") == RESULT_NONE);
	OK(status("\"status\":\"error\"") == RESULT_AGENT_ERROR);
	OK(status("\"status\":\"error\",\"error_class\":\"new kind\"") ==
	    RESULT_AGENT_ERROR);
	OK(status("\"runs\":[{\"status\":\"passed\"}]") == RESULT_PASSED);
	OK(status("\"runs\":[{\"status\":\"passed\"},{\"status\":"
	    "\"failed\"}]") == RESULT_FAILED);
	OK(status("\"runs\":[{\"validations\":{\"g\":{\"passed\":true}}}]") ==
	    RESULT_PASSED);
	OK(status("\"runs\":[{\"validations\":[{\"passed\":true},"
	    "{\"passed\":false}]}]") == RESULT_FAILED);
	OK(status("\"runs\":[{\"error_msg\":\"x\"}]") == RESULT_AGENT_ERROR);
	OK(status("\"runs\":[{}]") == RESULT_NONE);
}

static void
test_numbers(void)
{
	struct outcome *o = of("{\"tasks\":[{\"id\":\"t\",\"runs\":["
	    "{\"validations\":{\"x\":{\"score\":1,\"weight\":3,\"passed\":"
	    "true},\"y\":{\"score\":0,\"weight\":1,\"passed\":false}}},"
	    "{\"score\":1e999,\"duration_ms\":1e300},"
	    "{\"score\":-4,\"duration_ms\":-5,\"status\":\"failed\"}]}]}");
	const struct outcome_task *t = &o->tasks[0];

	OK(near(t->trials[0].score, 0.5) && near(t->trials[0].weighted, 0.75));
	OK(near(t->trials[1].score, 0) && t->trials[1].duration_ms == 0);
	OK(near(t->trials[2].score, 0) && t->trials[2].duration_ms == 0);
	/* errors that the original counted as passed */
	o = of("{\"tasks\":[{\"test_id\":\"t\",\"status\":\"failed\","
	    "\"stats\":{\"pass_rate\":1,\"avg_score\":0.25},"
	    "\"runs\":[{\"status\":\"error\"}]}]}");
	OK(near(o->tasks[0].pass_rate, 0) && near(o->tasks[0].score, 0.25));
	/* only statistics, only a summary */
	o = of("{\"tasks\":[{\"test_id\":\"t\",\"status\":\"passed\","
	    "\"stats\":{\"pass_rate\":0.75,\"avg_score\":0.5,"
	    "\"avg_weighted_score\":0.6,\"avg_duration_ms\":7}}]}");
	OK(near(o->tasks[0].pass_rate, 0.75) && near(o->score, 0.5));
	OK(near(o->weighted, 0.6) && o->tasks[0].duration_ms == 7);
	o = of("{\"tasks\":null,\"summary\":{\"success_rate\":0.9,"
	    "\"aggregate_score\":0.8}}");
	OK(o->ntasks == 0 && near(o->rate, 0.9) && near(o->weighted, 0.8));
}

static bool
refused(const char *text, unsigned line, const char *word)
{
	return of(text) == NULL && e.line == line &&
	    strstr(e.msg, word) != NULL;
}

static void
test_refused(void)
{
	OK(refused("[]", 1, "object"));
	OK(refused("{}", 1, "tasks"));
	OK(refused("{\n\"tasks\":\n7}", 3, "tasks"));
	OK(refused("{\"tasks\":[\n7]}", 2, "tasks"));
	OK(refused("{\"tasks\":[\n{\"status\":\"passed\"}]}", 2, "test_id"));
	OK(refused("{\"tasks\":[{\"test_id\":\"t\",\n\"runs\":{}}]}", 2,
	    "runs"));
	OK(refused("{\"tasks\":[{\"test_id\":\"t\",\"runs\":[\n1]}]}", 2,
	    "runs"));
	OK(refused("{\"tasks\":[{\"test_id\":\"t\"},\n{\"test_id\":\"u\"},\n"
	    "{\"test_id\":\"t\"}]}", 3, "\"t\""));
	OK(refused("{\"tasks\":[],\n\"schemaVersion\":\"2.1\"}", 2, "2.1"));
	OK(refused("{\"tasks\":[],\n\"schema_version\":\"x\"}", 2, "x"));
	OK(refused("{\"tasks\":[],\n\"schema_version\":[]}", 2, "?"));
	OK(of("{\"tasks\":[],\"schemaVersion\":\"1.7\"}") != NULL);
	OK(of("{\"tasks\":[],\"schemaVersion\":1.2}") != NULL);
	OK(of("{\"tasks\":[],\"schemaVersion\":null}") != NULL);
	OK(outcome_read(&a, "/nonexistent", &e) == NULL && e.line == 0 &&
	    strstr(e.msg, "/nonexistent") != NULL);
}

static void
test_answer(void)
{
	struct answer x = answer("\"final_output\":\"out\","
	    "\"tool_events\":[{\"tool_name\":\"bash\",\"args\":{\"n\":[1,2]},"
	    "\"result\":\"r\",\"success\":false},{\"tool_name\":\"ls\"}],"
	    "\"session_digest\":{\"tool_calls\":[{\"name\":\"no\"}],"
	    "\"usage\":{\"turns\":2,\"input_tokens\":3,\"output_tokens\":4,"
	    "\"cost\":0.5},\"session_id\":\"sid\"},\"skills\":[\"a\",\"b\"],"
	    "\"transcript\":[{\"type\":\"x\"}],\"exit_status\":3,"
	    "\"stderr_tail\":\"err\",\"truncated\":true");
	const struct answer_call *c = x.calls;

	OK(str_is(x.output, "out") && x.ncalls == 2);
	OK(str_is(c->name, "bash") && str_is(c->arguments, "{\"n\":[1,2]}"));
	OK(str_is(c->result, "\"r\"") && !c->success);
	c = c->next;
	OK(str_is(c->name, "ls") && str_is(c->arguments, "{}"));
	OK(c->success && c->result.n == 0 && c->next == NULL);
	OK(x.usage.known && x.usage.turns == 2 && near(x.usage.cost, 0.5));
	OK(x.skills.n == 2 && str_is(x.skills.v[1], "b"));
	OK(str_is(x.transcript, "[{\"type\":\"x\"}]"));
	OK(str_is(x.session_id, "sid") && x.exit_status == 3);
	OK(str_is(x.stderr_tail, "err") && x.truncated);
	OK(x.fault == ANSWER_OK);
	x = answer("");
	OK(x.output.n == 0 && x.calls == NULL && x.exit_status == -1);
	OK(!x.usage.known && x.transcript.n == 0 && x.skills.n == 0);
	x = answer("\"final_output\":7,\"tool_events\":{},\"session_digest\":"
	    "[],\"skills\":\"a\",\"transcript\":{},\"usage\":1");
	OK(x.output.n == 0 && x.calls == NULL && x.skills.n == 0);
}

/* The digest has five arguments, the transcript has all. */
static void
test_original(void)
{
	static const char digest[] = "\"session_digest\":{\"tool_calls\":["
	    "{\"name\":\"bash\",\"arguments\":{\"path\":\"\",\"command\":"
	    "\"ls\"},\"result\":{\"k\":1},\"success\":true}]}";
	struct answer x = answer(digest);

	OK(x.ncalls == 1 && str_is(x.calls->arguments,
	    "{\"command\":\"ls\"}"));
	OK(str_is(x.calls->result, "{\"k\":1}"));
	x = answer(arena_fmt(&a, "%s,\"transcript\":[{\"type\":\"skill.invoked"
	    "\",\"name\":\"sk\"},{\"type\":\"tool.execution_start\","
	    "\"tool_name\":\"bash\",\"arguments\":{\"command\":\"ls\","
	    "\"timeout\":9}}]", digest).p);
	OK(x.ncalls == 1 && str_is(x.calls->arguments,
	    "{\"command\":\"ls\",\"timeout\":9}"));
	OK(x.skills.n == 1 && str_is(x.skills.v[0], "sk"));
	x = answer(arena_fmt(&a, "%s,\"transcript\":[{\"type\":"
	    "\"tool.execution_start\",\"tool_name\":\"grep\",\"arguments\":"
	    "{\"command\":\"no\"}}]", digest).p);
	OK(str_is(x.calls->arguments, "{\"command\":\"ls\"}"));
	x = answer("\"session_digest\":{\"tools_used\":[\"a\",\"a\"]}");
	OK(x.ncalls == 2 && str_is(x.calls->next->name, "a"));
	OK(x.calls->no_arguments && x.calls->no_result && !x.no_calls);
}

/* What a file leaves out is unknown. */
static void
test_left_out(void)
{
	struct answer x = answer("\"session_digest\":{\"tool_call_count\":3,"
	    "\"tool_calls\":[{\"name\":\"bash\",\"arguments\":{\"command\":"
	    "\"ls\"}}]}");

	OK(x.ncalls == 1 && x.no_calls && !x.calls->no_arguments);
	x = answer("\"session_digest\":{\"tool_call_count\":1,"
	    "\"tool_calls\":[{\"name\":\"web_fetch\",\"arguments\":"
	    "{\"command\":\"\",\"path\":\"\"}}]}");
	OK(!x.no_calls && x.calls->no_arguments);
	x = answer("\"session_digest\":{\"tool_call_count\":0,\"usage\":"
	    "{\"turns\":2}}");
	OK(!x.no_calls && !x.usage.known && x.usage.turns_known);
	x = answer("\"session_digest\":{\"tool_call_count\":0,\"usage\":"
	    "{\"input_tokens\":2,\"output_tokens\":1}}");
	OK(x.usage.known);
}

/* Reading any file, and its answers, terminates. */
static void
test_damage(void)
{
	static const char text[] = "{\"tasks\":[{\"test_id\":\"t\",\"status\":"
	    "\"passed\",\"stats\":{\"avg_score\":1},\"runs\":[{\"status\":"
	    "\"passed\",\"validations\":{\"g\":{\"score\":1,\"passed\":true,"
	    "\"weight\":1}},\"session_digest\":{\"tool_calls\":[{\"name\":"
	    "\"x\",\"arguments\":{\"a\":\"b\"}}],\"usage\":{\"turns\":1}},"
	    "\"tool_events\":[],\"skills\":[\"s\"],\"transcript\":[{\"type\":"
	    "\"skill.invoked\",\"name\":\"n\"}]}]}],\"schema_version\":\"1\"}";
	static const char *const with[] = { "null", "[]", "{}", "1", "\"x\"",
	    "[[]]", "[null]", "true" };
	struct json_mem mem = { arena_hook, &a };
	struct json_error je;
	struct answer ans;
	struct outcome *o;
	struct json *v;
	struct str part;
	size_t i, k, used, tried = 0, n = sizeof(text) - 1;

	for (i = 0; i < n; i++) {
		part = (struct str){ text + i, n - i };
		if (i > 0 && text[i - 1] != ':' && text[i - 1] != '[')
			continue;
		if (json_read_prefix(&mem, part, 0, &used, &je) == NULL)
			continue;
		for (k = 0; k < COUNTOF(with); k++) {
			v = json_read(&mem, arena_fmt(&a, "%.*s%s%s", (int)i,
			    text, with[k], text + i + used), 0, &je);
			if (v == NULL)
				continue;
			tried++;
			o = outcome_of(&a, v, "x", &e);
			if (o != NULL && o->ntasks > 0 &&
			    o->tasks[0].ntrials > 0)
				outcome_answer(&a, &o->tasks[0].trials[0],
				    &ans);
		}
	}
	OK(tried > 200);
}

/* The run that produced the file. */
static const struct result_run *
run_of(const char *text, const struct spec_suite *suite)
{
	static const struct spec_suite none = { .config = {
		.pass_threshold = 1, .task_pass_threshold = 1 } };
	struct outcome *o = of(text);
	struct result_run *r;

	if (o == NULL)
		abort();
	r = outcome_run(&a, o, suite != NULL ? suite : &none);
	result_close(r);		/* needed only if there is a journal */
	return r;
}

static int64_t
started(const char *stamp)
{
	return run_of(arena_fmt(&a, "{\"timestamp\":\"%s\",\"tasks\":[]}",
	    stamp).p, NULL)->started_ns;
}

/* A cancelled run with two tasks and two trigger tests. */
static const char run_text[] =
    "{\"eval_id\":\"r1\",\"skill\":\"s\",\"eval_name\":\"n\","
    "\"config\":{\"model_id\":\"m\",\"engine_type\":\"x\","
    "\"runs_per_test\":3,\"timeout_sec\":7,\"judge_model\":\"j\"},"
    "\"summary\":{\"duration_ms\":9},\"status\":\"cancelled\","
    "\"tasks\":[{\"test_id\":\"b\",\"display_name\":\"B\","
    "\"status\":\"passed\",\"runs\":[{\"status\":\"passed\","
    "\"attempts\":2,\"score\":1,\"session_digest\":{\"usage\":"
    "{\"input_tokens\":5}}}]},"
    "{\"test_id\":\"a\",\"status\":\"cancelled\",\"runs\":["
    "{\"status\":\"failed\"}]}],"
    "\"trigger_results\":[{\"prompt\":\"p\",\"should_trigger\":true,"
    "\"did_trigger\":true,\"status\":\"passed\"},{\"prompt\":\"q\","
    "\"should_trigger\":false,\"did_trigger\":true,\"status\":"
    "\"error\",\"error_class\":\"timeout\",\"confidence\":"
    "\"medium\",\"simulated\":true}]}";

static void
test_run(void)
{
	const struct result_run *r = run_of(run_text, NULL);

	OK(r->ntasks == 2 && r->trials == 3 && r->duration_ms == 9);
	OK(strcmp(r->run_id, "r1") == 0 && str_is(r->suite->name, "n"));
	OK(str_is(r->model, "m") && str_is(r->executor, "x"));
	OK(r->timeout_seconds == 7 && str_is(r->judge_model, "j"));
	OK(r->cancelled && r->ended && !r->complete && !result_ok(r));
	OK(r->sum.passed == 1 && r->sum.skipped == 1 &&
	    r->usage.input_tokens == 5);
	OK(str_is(r->tasks[0].spec->name, "B") &&
	    r->tasks[0].status == RESULT_PASSED);
	OK(r->tasks[0].ntrials == 1 && r->tasks[0].trials[0].attempts == 2);
	OK(r->tasks[1].status == RESULT_NONE && r->tasks[1].done == 1 &&
	    r->tasks[1].ntrials == 3);
	OK(r->triggers.n == 2 && r->triggers.done == 2);
	OK(r->triggers.v[0].status == RESULT_PASSED &&
	    r->triggers.v[1].status == RESULT_TIMEOUT);
	OK(r->suite->triggers->v[0].should && !r->suite->triggers->v[1].should);
	OK(near(r->suite->triggers->v[1].weight, 0.5) &&
	    r->triggers.simulated && r->suite->triggers->v[1].task.at.file ==
	    NULL);
}

/* With a suite: its tasks first, their locations, tasks not run. */
static void
test_run_of_suite(void)
{
	struct spec_def def = { .golden = false };
	struct spec_task tasks[2] = { { .def = &def },
		{ .def = &def, .at = { "f", 3, 1 } } };
	struct spec_trigger asked = { .task = { .def = &def,
		.at = { "t", 4, 1 } } };
	struct spec_triggers triggers = { .v = &asked, .n = 1 };
	struct spec_suite suite = { .tasks = tasks, .ntasks = 2,
		.triggers = &triggers,
		.config = { .pass_threshold = 1, .task_pass_threshold = 1 } };
	const struct result_run *r;

	suite.name = STR("own");
	tasks[0].id = tasks[0].name = STR("none");
	tasks[1].id = tasks[1].name = STR("a");
	asked.task.prompt = STR("q");
	r = run_of(run_text, &suite);
	OK(r->ntasks == 3 && r->sum.skipped == 2 &&
	    str_is(r->suite->name, "own"));
	OK(r->tasks[0].status == RESULT_NONE && r->tasks[0].done == 0);
	OK(r->tasks[1].spec == &tasks[1] && r->tasks[1].done == 1);
	OK(str_is(r->tasks[2].spec->id, "b"));
	OK(r->suite->triggers->v[1].task.at.line == 4 && suite.triggers ==
	    &triggers);
	tasks[1].id = STR("x");
	r = run_of("{\"status\":\"failed\",\"tasks\":[{\"id\":\"none\","
	    "\"status\":\"failed\"}]}", &suite);
	OK(!r->complete && !r->cancelled && !result_interrupted(r));
}

/* How a run ended, and absurd numbers. */
static void
test_run_end(void)
{
	const struct result_run *r;

	r = run_of("{\"status\":\"failed\",\"tasks\":[{\"id\":\"a\","
	    "\"status\":\"failed\"}]}", NULL);
	OK(r->complete && r->sum.failed == 1 && !result_ok(r));
	r = run_of("{\"status\":\"passed\",\"tasks\":[{\"id\":\"a\","
	    "\"status\":\"passed\",\"score\":1}]}", NULL);
	OK(r->complete && result_ok(r) && near(r->sum.score, 1));
	r = run_of("{\"tasks\":[],\"config\":5,\"trigger_results\":{}}",
	    NULL);
	OK(r->ntasks == 0 && r->triggers.n == 0 && !result_ok(r));
	/* absurd numbers of trials are ignored */
	r = run_of("{\"config\":{\"runs_per_test\":99999},\"tasks\":[{\"id\":"
	    "\"a\",\"status\":\"running\",\"runs\":[{}]}]}", NULL);
	OK(r->tasks[0].ntrials == 99999);
	r = run_of("{\"config\":{\"runs_per_test\":1e18},\"tasks\":[{\"id\":"
	    "\"a\",\"status\":\"running\",\"runs\":[{},{}]}]}", NULL);
	OK(r->tasks[0].ntrials == 2 && r->trials == 2);
}

static void
test_times(void)
{
	OK(started("1970-01-01T00:00:00Z") == 0);
	OK(started("2000-02-29T12:00:00.5Z") == INT64_C(951825600500000000));
	OK(started("2026-11-16T18:30:00.000000001+01:30") ==
	    INT64_C(1794848400000000001));
	OK(started("2026-11-16T15:30:00-0130") ==
	    INT64_C(1794848400000000000));
	OK(started("2026-11-16T15:30:00") == INT64_C(1794843000000000000));
	OK(started("2026-13-16T15:30:00Z") == 0 && started("x") == 0);
	OK(started("9999-11-16T15:30:00Z") == 0);
	OK(started("2026-11-16T15:30:00.12345678901234567890Z") != 0);
}

int
main(void)
{
	RUN(test_whole, test_run, test_run_of_suite, test_run_end, test_times,
	    test_status, test_numbers, test_refused, test_answer,
	    test_original, test_left_out, test_damage);
	arena_free(&a);
	return tap_done();
}

/* SPDX-License-Identifier: ISC */
/* result.h: numbers, journal, resuming, the results file. */
#include "results/result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/base.h"
#include "base/os.h"
#include "grader.h"
#include "json.h"
#include "suite/spec.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

/* With one system call per byte, large tests take too long. */
#ifdef OS_SHORT
enum { STEP = 17, DAMAGES = 40, LARGE = 70000 };
#else
enum { STEP = 1, DAMAGES = 400, LARGE = 300000 };
#endif

static struct arena a;
static struct err e;
static char dir[] = "/tmp/t_result.XXXXXX";
static struct spec_task tasks[3];
static struct spec_def defs[3];
static struct spec_suite suite;

static const char *
in_dir(const char *name)
{
	return arena_fmt(&a, "%s/%s", dir, name).p;
}

static struct str
slurp(const char *path)
{
	struct str s = { NULL, 0 };

	(void)os_read_file(&a, path, 1 << 28, &s, &e);
	return s;
}

static void
put_file(const char *path, struct str s)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd == -1 || os_write_all(fd, s, &e) == -1)
		abort();
	close(fd);
}

static struct json *
parse(struct str s)
{
	return read_json(&a, s);
}

static void
put(void *buf, const char *p, size_t n)
{
	buf_put(buf, (struct str){ p, n });
}

/* On one line: equal values in equal order yield equal text. */
static struct str
canon(struct str s)
{
	struct buf b = { 0 };
	struct json_out o = { .put = put, .ctx = &b };
	struct str r;

	json_put(&o, parse(s));
	r = arena_str(&a, buf_str(&b));
	buf_free(&b);
	return r;
}

static bool
same(struct str got, struct str want)
{
	size_t i;

	if (str_eq(got, want))
		return true;
	for (i = 0; i < got.n && i < want.n && got.p[i] == want.p[i]; i++)
		continue;
	i = i > 40 ? i - 40 : 0;
	printf("# got  ...%.120s\n# want ...%.120s\n",
	    i < got.n ? got.p + i : "", i < want.n ? want.p + i : "");
	return false;
}

static void
setup(void)
{
	static struct str tag[] = { { "fast", 4 } };
	size_t i;

	suite = (struct spec_suite){ .name = STR("small"),
	    .skill = STR("speller"), .path = "small/eval.yaml",
	    .tasks = tasks, .ntasks = 3 };
	suite.config.timeout_seconds = 300;
	suite.config.pass_threshold = 1;
	suite.config.task_pass_threshold = 1;
	tasks[0] = (struct spec_task){ .id = STR("one"), .name = STR("One") };
	tasks[1] = (struct spec_task){ .id = STR("two"), .name = STR("Two") };
	tasks[2] = (struct spec_task){ .id = STR("three"),
	    .name = STR("Three") };
	for (i = 0; i < 3; i++)
		tasks[i].def = &defs[i];
	defs[0] = defs[2] = (struct spec_def){ .tags = { tag, 1 } };
}

static struct result_run
start(size_t ntasks, size_t trials)
{
	struct result_run r = { .arena = &a, .suite = &suite,
	    .run_id = "run-7", .executor = STR("mock"), .model = STR("m-1"),
	    .started_ns = INT64_C(1700000000123000000), .trials = trials };
	size_t i;

	r.ntasks = ntasks;
	r.tasks = NEW_N(&a, struct result_task, ntasks);
	for (i = 0; i < ntasks; i++)
		r.tasks[i].spec = &tasks[i];
	result_init(&r);
	return r;
}

/* A trial with one verdict of that score. */
static int
add(struct result_run *r, size_t task, size_t trial, enum result_status s,
    double score)
{
	struct verdict v = { .name = STR("says"), .type = STR("text"),
	    .score = score, .weight = 1, .passed = s == RESULT_PASSED };
	struct answer ans = { .output = STR("a \"word\"\nor two"),
	    .exit_status = -1, .usage = answer_no_usage };
	struct result_record rec = { .task = task, .trial = trial,
	    .status = s, .attempts = 1, .duration_ms = 12, .answer = &ans,
	    .verdicts = &v, .nverdicts = 1, .prompt = STR("Say it.") };

	ans.usage.turns = 1;
	ans.usage.input_tokens = 10;
	ans.usage.output_tokens = 3;
	ans.usage.cost = 0.25;
	if (result_is_error(s)) {
		rec.verdicts = NULL;
		rec.nverdicts = 0;
		rec.error = STR("it broke");
	}
	return result_add(r, &rec, &e);
}

/* A run may have a million tasks: most have equal numbers. */
static void
size(void)
{
	enum { N = 2000 };
	struct arena own = { 0 };
	struct spec_suite large = suite;
	struct result_run r = { .arena = &own, .suite = &large,
	    .run_id = "run-8", .executor = STR("mock"), .trials = 1 };
	size_t i;

	large.tasks = NEW_N(&a, struct spec_task, N);
	large.ntasks = N;
	for (i = 0; i < N; i++)
		large.tasks[i] = tasks[0];
	result_init(&r);
	for (i = 0; i < N; i++) {
		add(&r, i, 0, i % 2 > 0 ? RESULT_PASSED : RESULT_FAILED,
		    i % 2 > 0 ? 1 : 0);
		result_end_task(&r, i);
	}
	result_sum(&r);
	OK(r.sum.passed == N / 2 && r.tasks[0].stats == r.tasks[2].stats &&
	    r.tasks[0].stats->avg < r.tasks[1].stats->avg);
	OK(own.used / N < 180);
	result_close(&r);
	arena_free(&own);
}

static void
end_all(struct result_run *r)
{
	size_t i;

	for (i = 0; i < r->ntasks; i++)
		result_end_task(r, i);
	result_sum(r);
}

static bool
roughly(double x, double y)
{
	return x - y < 1e-6 && y - x < 1e-6;
}

static void
words(void)
{
	int i;

	for (i = 0; i < RESULT__MAX; i++)
		OK(result_word((enum result_status)i)[0] != '\0' &&
		    (result_class((enum result_status)i)[0] != '\0') ==
		    result_is_error((enum result_status)i));
	OK(strcmp(result_word(RESULT_TIMEOUT), "error") == 0);
	OK(strcmp(result_class(RESULT_TIMEOUT), "timeout") == 0);
	OK(!result_is_error(RESULT_FAILED) && result_is_error(RESULT_INFRA));
}

static void
times(void)
{
	char t[RESULT_TIME_MAX];

	setenv("TZ", "XST-5:30", 1);
	tzset();
	result_time(t, INT64_C(1700000000123000000));
	OK(strcmp(t, "2023-11-15T03:43:20.123+05:30") == 0);
	setenv("TZ", "XST8", 1);
	tzset();
	result_time(t, INT64_C(1704070800000000000));
	OK(strcmp(t, "2023-12-31T17:00:00-08:00") == 0);
	setenv("TZ", "UTC0", 1);
	tzset();
	result_time(t, INT64_C(1700000000000000001));
	OK(strcmp(t, "2023-11-14T22:13:20.000000001Z") == 0);
	result_time(t, -1);
	OK(strcmp(t, "1969-12-31T23:59:59.999999999Z") == 0);
}

static void
scores(void)
{
	struct result_run r = start(1, 1);
	struct verdict v[3] = {
		{ .name = STR("a"), .score = 1, .weight = 3 },
		{ .name = STR("b"), .score = 0, .weight = 0.5 },
		{ .name = STR("c"), .score = 1, .weight = 1 },
	};
	struct result_record rec = { .status = RESULT_FAILED, .attempts = 1,
	    .verdicts = v, .nverdicts = 3 };

	OK(result_add(&r, &rec, &e) == 0);
	OK(roughly(r.tasks[0].trials[0].score, 0.666667));
	OK(roughly(r.tasks[0].trials[0].weighted, 0.888889));
	v[0].weight = 0;	/* counts as 1 */
	v[1].weight = 1;
	OK(result_add(&r, &rec, &e) == 0);
	OK(roughly(r.tasks[0].trials[0].weighted, 0.666667));
	OK(r.tasks[0].done == 1);
	rec.verdicts = NULL;
	rec.nverdicts = 0;
	OK(result_add(&r, &rec, &e) == 0);
	OK(r.tasks[0].trials[0].score == 0 && r.tasks[0].trials[0].off == -1);
	result_close(&r);
}

static void
statuses(void)
{
	struct result_run r = start(1, 3);
	struct result_task *t = &r.tasks[0];

	end_all(&r);
	OK(t->status == RESULT_NONE && r.sum.skipped == 1 && !result_ok(&r));
	result_own_more(&a, t)->error = STR("hook: exit status 1");
	end_all(&r);
	OK(t->status == RESULT_INFRA && r.sum.errors == 1 && r.sum.rate == 0);
	result_own_more(&a, t)->error = STR("");
	add(&r, 0, 0, RESULT_PASSED, 1);
	end_all(&r);
	OK(t->status == RESULT_CANCELLED && r.sum.skipped == 1);
	add(&r, 0, 1, RESULT_TIMEOUT, 0);
	add(&r, 0, 2, RESULT_PASSED, 1);
	end_all(&r);
	OK(t->status == RESULT_TIMEOUT && r.sum.errors == 1 && t->done == 3);
	OK(roughly(t->stats->pass_rate, 0.666667) && t->stats->flaky);
	add(&r, 0, 1, RESULT_FAILED, 0);
	end_all(&r);
	OK(t->status == RESULT_FAILED && r.sum.failed == 1 && t->done == 3);
	OK(roughly(t->stats->pass_rate, 0.666667) && t->stats->flaky);
	OK(roughly(t->stats->avg, 0.666667) && roughly(t->stats->std_dev, 0.471405));
	OK(t->stats->min == 0 && t->stats->max == 1 && t->stats->avg_ms == 12);
	OK(t->stats->pass_at_k == 1 && roughly(t->stats->pass_hat_k, 0.296296));
	OK(t->stats->ci_lo == 0 && t->stats->ci_hi == 1);
	suite.config.task_pass_threshold = 2.0 / 3;
	r.complete = true;
	end_all(&r);
	OK(t->status == RESULT_PASSED && r.sum.passed == 1 && result_ok(&r));
	result_forget(&r, 0, 1);
	OK(t->done == 2 && t->status == RESULT_NONE);
	add(&r, 0, 1, RESULT_CANCELLED, 0);
	suite.config.task_pass_threshold = 1;
	end_all(&r);
	OK(t->status == RESULT_CANCELLED && t->stats->pass_rate == 1);
	result_close(&r);
}

/* Skipped trials and tasks are left out of rates and means. */
static void
skipped(void)
{
	struct result_run r = start(2, 2);
	struct result_task *t = r.tasks;
	struct verdict v[2] = { { .score = 0.5, .weight = 1, .passed = true },
		{ .weight = 3, .skipped = true } };
	struct result_record rec = { .status = RESULT_PASSED, .verdicts = v,
		.nverdicts = 2, .attempts = 1 };

	add(&r, 0, 0, RESULT_SKIPPED, 0);
	add(&r, 0, 1, RESULT_SKIPPED, 0);
	add(&r, 1, 0, RESULT_SKIPPED, 0);
	add(&r, 1, 1, RESULT_SKIPPED, 0);
	r.complete = true;
	end_all(&r);
	OK(t[0].status == RESULT_SKIPPED && r.sum.skipped == 2);
	OK(r.sum.not_run == 0 && !result_ok(&r) && !result_interrupted(&r));
	add(&r, 1, 1, RESULT_PASSED, 1);
	end_all(&r);
	OK(t[1].status == RESULT_PASSED && t[1].stats->pass_rate == 1);
	OK(t[1].stats->avg == 1 && !t[1].stats->flaky && result_ok(&r));
	OK(r.sum.rate == 1 && r.sum.min == 1 && r.sum.skipped == 1);
	add(&r, 0, 1, RESULT_FAILED, 0);
	end_all(&r);
	OK(t[0].status == RESULT_FAILED && t[0].stats->pass_rate == 0);
	add(&r, 0, 1, RESULT_TIMEOUT, 0);
	end_all(&r);
	OK(t[0].status == RESULT_TIMEOUT);
	rec.task = 0;
	OK(result_add(&r, &rec, &e) == 0);
	OK(t[0].trials[0].score == 0.5 && t[0].trials[0].weighted == 0.5);
	OK(!result_is_error(RESULT_SKIPPED));
	OK(strcmp(result_word(RESULT_SKIPPED), "skipped") == 0);
	result_close(&r);
}

static void
thresholds(void)
{
	struct result_run r = start(3, 1), none = start(0, 1);

	add(&r, 0, 0, RESULT_PASSED, 1);
	add(&r, 1, 0, RESULT_FAILED, 0.5);
	add(&r, 2, 0, RESULT_AGENT_ERROR, 0);
	r.complete = true;
	end_all(&r);
	OK(r.sum.passed == 1 && r.sum.failed == 1 && r.sum.errors == 1 &&
	    r.sum.skipped == 0);
	OK(roughly(r.sum.rate, 1.0 / 3) && roughly(r.sum.score, 0.5) && r.sum.min == 0);
	OK(r.sum.max == 1 && roughly(r.sum.std_dev, 0.408248) && !result_ok(&r));
	suite.config.pass_threshold = 1.0 / 3;
	OK(result_ok(&r));
	r.complete = false;
	OK(!result_ok(&r));
	suite.config.pass_threshold = 0;
	none.complete = true;
	end_all(&none);
	OK(!result_ok(&none));
	suite.config.pass_threshold = 1;
	result_close(&r);
	result_close(&none);
}

/* In parts, since a literal may not be longer than 4095 bytes. */
static const char *const golden[] = {
"{\"eval_id\":\"run-7\",\"skill\":\"speller\",\"eval_name\":\"small\","
"\"timestamp\":\"2023-11-14T22:13:20.123Z\",\"config\":{\"runs_per_test\":2,"
"\"model_id\":\"m-1\",\"engine_type\":\"mock\",\"timeout_sec\":300,"
"\"judge_model\":\"j\"},\"summary\":{\"total_tests\":2,\"succeeded\":1,"
"\"failed\":1,\"errors\":0,\"skipped\":0,\"success_rate\":0.5,"
"\"aggregate_score\":0.75,\"weighted_score\":0.75,\"min_score\":0.5,"
"\"max_score\":1,\"std_dev\":0.25,\"duration_ms\":99,\"groups\":["
"{\"name\":\"fast\",\"passed\":1,\"total\":1,\"avg_score\":1}],"
"\"usage\":{\"turns\":3,\"input_tokens\":30,\"output_tokens\":9,"
"\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"premium_requests\":0,"
"\"cost\":0.75,\"cached_input_tokens\":0,\"reasoning_tokens\":0,"
"\"unknown_trials\":{\"turns\":1,\"input_tokens\":1,\"output_tokens\":1,\"cached_input_tokens\":1,"
"\"reasoning_tokens\":1,\"cost\":1}},"
"\"statistics\":{\"bootstrap_ci\":{\"lower\":0.5,\"upper\":1,"
"\"mean\":0.75,\"confidence_level\":0.95,\"num_bootstraps\":10000},"
"\"is_significant\":true,\"success_rate_ci\":{\"lower\":0.09453120573423072,"
"\"upper\":0.9054687942657693,\"confidence_level\":0.95}}},"
"\"metrics\":{\"task_completion\":{\"identifier\":\"task_completion\","
"\"value\":0.5,\"threshold\":0.8,\"passed\":false,\"weight\":1}},\"tasks\":[",
"{\"test_id\":\"one\",\"display_name\":\"One\",\"group\":\"fast\","
"\"status\":\"passed\",\"runs\":[{\"run_number\":1,\"attempts\":1,"
"\"status\":\"passed\",\"duration_ms\":12,\"validations\":{\"says\":"
"{\"identifier\":\"says\",\"type\":\"text\",\"score\":1,\"weight\":1,"
"\"passed\":true,\"feedback\":\"\",\"duration_ms\":0}},\"session_digest\":"
"{\"tool_call_count\":0,\"tools_used\":null,\"errors\":[],\"usage\":"
"{\"turns\":1,\"input_tokens\":10,\"output_tokens\":3,"
"\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"premium_requests\":0,"
"\"cost\":0.25,\"cached_input_tokens\":0,\"reasoning_tokens\":0}},"
"\"final_output\":\"a \\\"word\\\"\\nor two\",\"score\":1,"
"\"weighted_score\":1,\"prompt\":\"Say it.\",\"grading_ms\":0},"
"{\"run_number\":2,\"attempts\":2,\"status\":\"passed\",\"duration_ms\":2500,"
"\"validations\":{\"_output_contains\":{\"identifier\":\"_output_contains\","
"\"type\":\"expected\",\"score\":1,\"weight\":1,\"passed\":true,"
"\"feedback\":\"\",\"duration_ms\":0},\"says\":{\"identifier\":\"says\","
"\"type\":\"text\",\"score\":1,\"weight\":2,\"passed\":true,"
"\"feedback\":\"fine\",\"details\":{\"matched\":[\"x\"],\"n\":1.50},"
"\"duration_ms\":4}},\"session_digest\":{\"tool_call_count\":2,"
"\"tools_used\":[\"bash\",\"view\"],\"tool_calls\":[{\"name\":\"bash\","
"\"arguments\":{\"path\":\"\",\"file_text\":\"\",\"command\":\"ls\","
"\"description\":\"\",\"skill\":\"\"},\"result\":{\"rc\":0},"
"\"success\":true},{\"name\":\"view\",\"arguments\":{\"path\":\"\","
"\"file_text\":\"\",\"command\":\"\",\"description\":\"\",\"skill\":\"\"},"
"\"success\":false}],\"errors\":[],\"session_id\":\"s-1\"},"
"\"transcript\":[{\"type\":\"assistant.message\",\"content\":\"done\"}],"
"\"final_output\":\"done\",\"score\":1,\"weighted_score\":1,"
"\"prompt\":\"Say it.\",\"tool_events\":[{\"sequence\":1,"
"\"tool_name\":\"bash\",\"args\":{\"command\":\"ls\",\"cwd\":[1,2]},"
"\"result\":{\"rc\":0},\"success\":true,\"tool\":\"shell\","
"\"canonical\":{\"command\":\"ls\"}},{\"sequence\":2,"
"\"tool_name\":\"view\",\"args\":\"{not json\",\"success\":false,"
"\"tool\":\"read\",\"unknown\":[\"result\"]}],"
"\"skills\":[\"speller\"],\"stderr_tail\":\"warn\",\"exit_status\":0,"
"\"truncated\":true,\"note\":\"noted\","
"\"started_at\":\"2023-11-14T22:13:20Z\",\"grading_ms\":4}],\"stats\":"
"{\"pass_rate\":1,\"avg_score\":1,\"avg_weighted_score\":1,\"min_score\":1,"
"\"max_score\":1,\"std_dev_score\":0,\"score_variance\":0,\"ci95_lo\":1,"
"\"ci95_hi\":1,\"flaky\":false,\"avg_duration_ms\":1256,\"bootstrap_ci\":"
"{\"lower\":1,\"upper\":1,\"mean\":1,\"confidence_level\":0.95,"
"\"num_bootstraps\":10000},\"is_significant\":true,\"pass_rate_ci\":"
"{\"lower\":0.3423802275066531,\"upper\":1,\"confidence_level\":0.95},"
"\"pass_at_k\":1,\"pass_hat_k\":1}},{\"test_id\":\"two\","
"\"display_name\":\"Two\",\"status\":\"failed\",\"runs\":[{\"run_number\":1,"
"\"attempts\":1,\"status\":\"failed\",\"duration_ms\":12,\"validations\":"
"{\"says\":{\"identifier\":\"says\",\"type\":\"text\",\"score\":1,"
"\"weight\":1,\"passed\":false,\"feedback\":\"\",\"duration_ms\":0}},"
"\"session_digest\":{\"tool_call_count\":0,\"tools_used\":null,\"errors\":[],"
"\"usage\":{\"turns\":1,\"input_tokens\":10,\"output_tokens\":3,"
"\"cache_read_tokens\":0,\"cache_write_tokens\":0,\"premium_requests\":0,"
"\"cost\":0.25,\"cached_input_tokens\":0,\"reasoning_tokens\":0}},"
"\"final_output\":\"a \\\"word\\\"\\nor two\",\"score\":1,"
"\"weighted_score\":1,\"prompt\":\"Say it.\",\"grading_ms\":0},"
"{\"run_number\":2,\"attempts\":1,\"status\":\"error\",\"duration_ms\":12,"
"\"validations\":null,\"session_digest\":{\"tool_call_count\":0,"
"\"tools_used\":null,\"errors\":null,\"usage\":{\"turns\":1,"
"\"input_tokens\":10,\"output_tokens\":3,\"cache_read_tokens\":0,"
"\"cache_write_tokens\":0,\"premium_requests\":0,\"cost\":0.25,"
"\"cached_input_tokens\":0,\"reasoning_tokens\":0}},"
"\"final_output\":\"a \\\"word\\\"\\nor two\",\"error_msg\":\"it broke\","
"\"error_class\":\"timeout\",\"score\":0,\"weighted_score\":0,"
"\"prompt\":\"Say it.\"}],\"stats\":{\"pass_rate\":0,\"avg_score\":0.5,"
"\"avg_weighted_score\":0.5,\"min_score\":0,\"max_score\":1,"
"\"std_dev_score\":0.5,\"score_variance\":0.25,\"ci95_lo\":0,\"ci95_hi\":1,"
"\"flaky\":false,\"avg_duration_ms\":12,\"bootstrap_ci\":{\"lower\":0,"
"\"upper\":1,\"mean\":0.5,\"confidence_level\":0.95,"
"\"num_bootstraps\":10000},\"is_significant\":false,\"pass_rate_ci\":"
"{\"lower\":0,\"upper\":0.6576197724933469,\"confidence_level\":0.95},"
"\"pass_at_k\":0,\"pass_hat_k\":0}}],"
"\"source\":{\"file\":\"small/eval.yaml\"},\"schema_version\":\"1.0\","
"\"status\":\"failed\"}" };

/* A trial that has everything. */
static int
add_full(struct result_run *r, size_t task, size_t trial)
{
	struct answer_call view = { .name = STR("view"), .no_result = true,
	    .tool = ANSWER_READ,
	    .arguments = STR("{not json") };
	struct answer_call bash = { .next = &view, .name = STR("bash"),
	    .tool = ANSWER_SHELL, .command = STR("ls"),
	    .arguments = STR("{\"command\": \"ls\",\n \"cwd\": [1, 2]}"),
	    .result = STR("{\"rc\": 0}"), .success = true };
	struct str skill = STR("speller");
	struct answer ans = { .output = STR("done"), .calls = &bash,
	    .ncalls = 2, .skills = { &skill, 1 }, .session_id = STR("s-1"),
	    .transcript = STR("[{\"type\": \"assistant.message\",\n"
	    "\"content\": \"done\"}]\n"), .stderr_tail = STR("warn"),
	    .truncated = true };
	struct verdict v[2] = {
		{ .name = STR("says"), .type = STR("text"), .score = 1,
		    .weight = 2, .passed = true, .feedback = STR("fine"),
		    .details = STR("{\"matched\":[\"x\"],\n\"n\":1.50}"),
		    .duration_ms = 4 },
		{ .name = STR("_output_contains"), .type = STR("expected"),
		    .score = 1, .weight = 1, .passed = true },
	};
	struct result_record rec = { .task = task, .trial = trial,
	    .status = RESULT_PASSED, .attempts = 2, .duration_ms = 2500,
	    .started_ns = INT64_C(1700000000000000000), .answer = &ans,
	    .verdicts = v, .nverdicts = 2, .prompt = STR("Say it."),
	    .note = STR("noted") };

	return result_add(r, &rec, &e);
}

static size_t
lines(struct str s)
{
	size_t i, n = 0;

	for (i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

static void
whole(void)
{
	struct spec_metric metric = { .name = STR("task_completion"),
	    .weight = 1, .threshold = 0.8, .enabled = true };
	struct result_run r = start(2, 2);
	const char *path = in_dir("results.json");
	struct json *v;
	struct str s;

	suite.config.judge_model = STR("j");
	suite.config.group_by = STR("tags");
	suite.metrics = (struct field_list){ &metric, 1 };
	OK(result_open(&r, in_dir("results.json.journal"), false, &e) == 0);
	OK(add(&r, 1, 0, RESULT_FAILED, 1) == 0);
	OK(add(&r, 0, 0, RESULT_PASSED, 1) == 0);
	OK(add(&r, 1, 1, RESULT_TIMEOUT, 0) == 0);
	OK(add_full(&r, 0, 1) == 0);
	OK(lines(slurp(in_dir("results.json.journal"))) == 5);
	r.complete = r.ended = true;
	r.duration_ms = 99;
	end_all(&r);
	OK(result_write(&r, path, &e) == 0);
	s = slurp(path);
	OK(s.n > 0 && s.p[s.n - 1] == '\n');
	OK(same(canon(s), arena_fmt(&a, "%s%s", golden[0], golden[1])));
	v = result_read(&a, &r, &r.tasks[0].trials[1], &e);
	OK(v != NULL && str_is(json_text(json_getc(v, "final_output")),
	    "done"));
	OK(str_is(json_text(json_getc(json_getc(json_getc(v, "validations"),
	    "says"), "feedback")), "fine"));
	/* a second try replaces the first, in usage too */
	OK(add(&r, 1, 1, RESULT_PASSED, 1) == 0 && r.usage.turns == 3);
	OK(result_read(&a, &r, &r.tasks[1].trials[1], &e) != NULL);
	result_forget(&r, 1, 1);
	OK(r.usage.turns == 2 && r.usage.cost == 0.5);
	OK(result_read(&a, &r, &r.tasks[1].trials[1], &e) == NULL);
	result_close(&r);
	suite.config.judge_model = suite.config.group_by = STR("");
	suite.metrics = (struct field_list){ NULL, 0 };
}

/* With a baseline, without a journal, while it runs. */
static void
other_shapes(void)
{
	struct result_run r = start(3, 1), base = start(3, 1);
	const char *path = in_dir("other.json");
	struct json *v, *t;

	r.baseline = &base;
	defs[0].group = defs[2].group = STR("g");
	defs[1].group = STR("h");
	add(&r, 0, 0, RESULT_PASSED, 1);
	add(&r, 1, 0, RESULT_PASSED, 1);
	result_own_more(&a, &r.tasks[2])->error = STR("before_task: exit status 3");
	add(&base, 0, 0, RESULT_FAILED, 0);
	add(&base, 1, 0, RESULT_PASSED, 1);
	end_all(&r);
	end_all(&base);
	base.ended = base.complete = true;
	OK(result_write(&r, path, &e) == 0);
	v = parse(slurp(path));
	OK(str_is(json_text(json_getc(v, "status")), "running"));
	OK(json_bool(json_getc(v, "is_baseline")));
	t = json_getc(v, "baseline_outcome");
	OK(str_is(json_text(json_getc(t, "status")), "failed"));
	OK(json_count(json_getc(t, "tasks")) == 2);
	t = json_first(json_getc(v, "tasks"));
	OK(str_is(json_text(json_getc(json_getc(t, "skill_impact"),
	    "percent_change")), "10000"));
	OK(json_count(json_getc(t, "runs")) == 1);
	OK(str_is(json_text(json_getc(json_first(json_getc(t, "runs")),
	    "status")), "passed"));
	t = t->next->next;
	OK(str_is(json_text(json_getc(t, "error_class")), "infrastructure"));
	OK(str_is(json_text(json_getc(t, "status")), "error"));
	OK(json_count(json_getc(t, "runs")) == 0);
	OK(json_getc(t, "stats") == NULL);
	t = json_first(json_getc(json_getc(v, "summary"), "groups"));
	OK(str_is(json_text(json_getc(t, "name")), "g"));
	OK(str_is(json_text(json_getc(t, "total")), "2"));
	r.cancelled = true;
	OK(result_write(&r, path, &e) == 0);
	OK(str_is(json_text(json_getc(parse(slurp(path)), "status")),
	    "cancelled"));
	defs[0].group = defs[1].group = defs[2].group = STR("");
	result_close(&r);
	result_close(&base);
}

/* A run also fails if it misses a metric that it has a value for. */
static void
metrics(void)
{
	struct spec_metric m[3] = {
	    { .name = STR("tool_use"), .threshold = 1, .enabled = true },
	    { .name = STR("task_completion"), .threshold = 0.9 },
	    { .name = STR("task_completion"), .threshold = 0.9,
	    .enabled = true } };
	struct result_run r = start(2, 1);
	double value = 0;

	suite.metrics = (struct field_list){ m, 2 };
	suite.config.pass_threshold = 0.5;
	add(&r, 0, 0, RESULT_PASSED, 1);
	add(&r, 1, 0, RESULT_FAILED, 0);
	r.complete = true;
	end_all(&r);
	OK(result_ok(&r) && result_missed(&r) == NULL);
	OK(!result_metric(&r, &m[0], &value) && !result_metric(&r, &m[1], &value));
	suite.metrics.n = 3;
	OK(!result_ok(&r) && result_missed(&r) == &m[2]);
	OK(result_metric(&r, &m[2], &value) && value == 0.5);
	m[2].threshold = 0.5;
	OK(result_ok(&r));
	suite.metrics = (struct field_list){ NULL, 0 };
	suite.config.pass_threshold = 1;
	result_close(&r);
}

/* Cancelled and aborted runs are interrupted; fail_fast is not. */
static void
broken(void)
{
	struct result_run r = start(3, 2);

	OK(result_interrupted(&r));
	add(&r, 0, 0, RESULT_PASSED, 1);
	add(&r, 0, 1, RESULT_PASSED, 1);
	end_all(&r);
	OK(result_interrupted(&r));		/* nothing to stop at */
	add(&r, 1, 0, RESULT_FAILED, 0);
	OK(result_interrupted(&r));
	add(&r, 1, 1, RESULT_FAILED, 0);
	end_all(&r);
	OK(!result_interrupted(&r));
	r.aborted = true;
	OK(result_interrupted(&r));
	r.aborted = false;
	r.cancelled = true;
	OK(result_interrupted(&r));
	r.cancelled = false;
	r.complete = true;
	OK(!result_interrupted(&r));
	result_close(&r);
}

/* Trials of an unfinished task are written, during the run and after. */
static void
unfinished(void)
{
	struct result_run r = start(3, 3), base = start(3, 3);
	const char *path = in_dir("part.json");
	struct json *v, *t;

	r.baseline = &base;
	OK(result_open(&r, in_dir("part.journal"), false, &e) == 0);
	OK(add(&r, 1, 0, RESULT_PASSED, 1) == 0);
	OK(add(&r, 1, 2, RESULT_FAILED, 0) == 0);
	OK(add(&base, 1, 0, RESULT_PASSED, 1) == 0);
	end_all(&base);
	result_sum(&r);
	OK(result_write(&r, path, &e) == 0);
	v = parse(slurp(path));
	OK(json_count(json_getc(v, "tasks")) == 1);
	t = json_first(json_getc(v, "tasks"));
	OK(str_is(json_text(json_getc(t, "test_id")), "two"));
	OK(str_is(json_text(json_getc(t, "status")), "running"));
	OK(json_count(json_getc(t, "runs")) == 2);
	OK(json_getc(t, "stats") == NULL && json_getc(t, "error_class") == NULL);
	OK(json_getc(t, "skill_impact") == NULL);
	v = json_getc(v, "summary");
	OK(str_is(json_text(json_getc(v, "total_tests")), "0"));
	OK(str_is(json_text(json_getc(v, "skipped")), "3"));
	r.ended = r.cancelled = true;
	OK(result_write(&r, path, &e) == 0);
	v = parse(slurp(path));
	OK(str_is(json_text(json_getc(v, "status")), "cancelled"));
	t = json_first(json_getc(v, "tasks"));
	OK(str_is(json_text(json_getc(t, "status")), "cancelled"));
	OK(json_count(json_getc(t, "runs")) == 2);
	result_close(&r);
	result_close(&base);
}

/* The four trials of resume(), from the n-th on. */
static int
add_from(struct result_run *r, size_t n)
{
	int rc = 0;

	if (n <= 0)
		rc |= add(r, 0, 0, RESULT_PASSED, 1);
	if (n <= 1)
		rc |= add(r, 1, 0, RESULT_TIMEOUT, 0);
	if (n <= 2)
		rc |= add_full(r, 1, 1);
	if (n <= 3)
		rc |= add(r, 0, 1, RESULT_FAILED, 0.25);
	return rc;
}

static size_t
done(const struct result_run *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->ntasks; i++)
		n += r->tasks[i].done;
	return n;
}

static struct str
outcome(struct result_run *r, const char *path)
{
	r->complete = true;
	end_all(r);
	return result_write(r, path, &e) == 0 ? slurp(path) : STR("");
}

/* Sums of usage do not depend on order and survive absurd numbers. */
static void
usage(void)
{
	struct answer ans = { .usage = { .known = true, .turns = 1,
	    .input_tokens = INT64_MAX, .premium_requests = 1e300 } };
	struct result_record rec = { .status = RESULT_PASSED, .attempts = 1,
	    .answer = &ans };
	struct result_run r = start(3, 1);

	OK(result_open(&r, in_dir("u.journal"), false, &e) == 0);
	for (rec.task = 0; rec.task < 3; rec.task++) {
		ans.usage.cost = rec.task == 1 ? 0.2 : 0.1;
		OK(result_add(&r, &rec, &e) == 0);
	}
	OK(r.usage.cost == (double)0.4 && r.usage.turns == 3);
	result_forget(&r, 0, 0);
	OK(r.usage.cost == (double)0.3);
	result_forget(&r, 1, 0);
	result_forget(&r, 2, 0);
	OK(r.usage.cost == 0 && r.usage.turns == 0);
	OK(r.usage.input_tokens == 0);
	result_close(&r);
}

/* A journal that was cut off at any byte can be resumed. */
static void
resume(void)
{
	const char *path = in_dir("r.journal"), *out = in_dir("r.json");
	struct result_run r = start(2, 2);
	size_t n, have, bad = 0;
	struct arena_mark mark;
	struct str all, want;

	OK(result_open(&r, path, false, &e) == 0 && add_from(&r, 0) == 0);
	want = outcome(&r, out);
	result_close(&r);
	all = slurp(path);
	OK(lines(all) == 5 && want.n > 0);
	for (n = 0; n <= all.n; n += STEP) {
		mark = arena_save(&a);
		unlink(path);
		put_file(path, (struct str){ all.p, n });
		have = lines((struct str){ all.p, n });
		r = start(2, 2);
		bad += result_open(&r, path, true, &e) != 0;
		bad += done(&r) != (have > 1 ? have - 1 : 0);
		bad += add_from(&r, done(&r)) != 0;
		/* a new first line has another key */
		bad += have > 0 && !str_eq(slurp(path), all);
		if (n % 200 < STEP)
			bad += !str_eq(outcome(&r, out), want);
		os_close(&r.journal.fd);	/* not synced: that takes long */
		result_close(&r);
		if (bad != 0) {
			printf("# at %zu: %s\n", n, e.msg);
			break;
		}
		arena_restore(&a, mark);
	}
	OK(bad == 0);
}

/* Other contents of a journal. */
static void
resume_odd(void)
{
	const char *path = in_dir("odd.journal");
	struct result_run r = start(2, 2);
	struct buf b = { 0 };
	struct str all;

	OK(result_open(&r, path, false, &e) == 0 && add_from(&r, 0) == 0);
	OK(add(&r, 0, 0, RESULT_FAILED, 0.5) == 0);
	OK(add(&r, 1, 0, RESULT_CANCELLED, 0) == 0);
	result_close(&r);
	all = slurp(path);
	buf_put(&b, all);
	buf_puts(&b, "{\"task\":\"one\",\"trial\":1,\"status\":\"passed\","
	    "\"score\":1,\"weighted\":1,\"run\":{\"duration_ms\":1}}\r\n"
	    "garbage\n\n{}\n[]\n{\"task\":\"one\",\"trial\":1}\n"
	    "{\"task\":\"gone\",\"trial\":1,\"status\":\"passed\",\"score\":1,"
	    "\"weighted\":1,\"run\":{\"duration_ms\":1}}\n"
	    "{\"task\":\"one\",\"trial\":1,\"status\":\"passed\",\"score\":1,"
	    "\"weighted\":1,\"run\":{\"duration_ms\":9223372036854775807}}\n"
	    "{\"task\":\"one\",\"trial\":9,\"status\":\"passed\",\"score\":1,"
	    "\"weighted\":1,\"run\":{\"duration_ms\":1}}\n"
	    "{\"task\":\"one\",\"trial\":2,\"status\":\"weird\",\"score\":1,"
	    "\"weighted\":1,\"run\":{\"duration_ms\":1}}\n");
	put_file(path, buf_str(&b));
	r = start(2, 2);
	OK(result_open(&r, path, true, &e) == 0);
	OK(done(&r) == 4 && r.tasks[0].trials[0].status == RESULT_FAILED);
	OK(r.tasks[0].trials[0].score == 0.5);
	OK(r.tasks[1].trials[0].status == RESULT_TIMEOUT);
	OK(r.tasks[1].trials[1].attempts == 2);
	OK(r.usage.turns == 3);
	OK(result_read(&a, &r, &r.tasks[1].trials[1], &e) != NULL);
	OK(outcome(&r, in_dir("odd.json")).n > 0);
	result_close(&r);
	/* with fewer trials, those that are stored would be lost */
	r = start(1, 1);
	OK(result_open(&r, path, true, &e) == -1);
	OK(strstr(e.msg, "cannot be resumed with fewer") != NULL);
	result_close(&r);
	/* a new one replaces it */
	r = start(2, 2);
	OK(result_open(&r, path, false, &e) == 0 && done(&r) == 0);
	OK(lines(slurp(path)) == 1);
	result_close(&r);
	buf_free(&b);
}

static void
scribble(const char *path, const char *text, off_t at)
{
	int fd = open(path, O_WRONLY);

	OK(pwrite(fd, text, strlen(text), at) == (ssize_t)strlen(text));
	close(fd);
}

/* Others write to the journal while the run continues. */
static void
foreign_lines(void)
{
	const char *path = in_dir("f.journal"), *out = in_dir("f.json");
	struct result_run r = start(2, 2);
	struct str one, all;
	struct stat st;

	OK(result_open(&r, path, false, &e) == 0);
	OK(add(&r, 0, 0, RESULT_FAILED, 0.5) == 0 && !r.journal.foreign);
	/* a line that imitates ours, and one moved */
	one = slurp(path);
	one = (struct str){ strchr(one.p, '\n') + 1, 0 };
	one.n = strlen(one.p);
	stat(path, &st);
	scribble(path, "{\"task\":\"one\",\"trial\":1,\"status\":\"passed\","
	    "\"score\":1,\"weighted\":1,\"run\":{\"duration_ms\":1}}\n",
	    st.st_size);
	OK(add(&r, 1, 0, RESULT_PASSED, 1) == 0 && r.journal.foreign);
	OK(lines(slurp(path)) == 3);
	stat(path, &st);
	scribble(path, arena_cstr(&a, one), st.st_size);
	OK(outcome(&r, out).n > 0 && r.journal.lost == 0);
	result_close(&r);
	r = start(2, 2);
	OK(result_open(&r, path, true, &e) == 0 && done(&r) == 2);
	OK(r.journal.bad == 1 && r.journal.first_bad == 4);
	/* our line, changed in place */
	all = slurp(path);
	scribble(path, "passed", strstr(all.p, "\"failed\"") + 1 - all.p);
	OK(r.tasks[0].trials[0].status == RESULT_FAILED);
	OK(result_read(&a, &r, &r.tasks[0].trials[0], &e) == NULL);
	OK(parse(outcome(&r, out)) != NULL && r.journal.lost == 1);
	/* our lines, cut off */
	OK(truncate(path, 700) == 0 && add(&r, 0, 1, RESULT_PASSED, 1) == 0);
	OK(parse(outcome(&r, out)) != NULL && r.journal.foreign);
	result_close(&r);
	r = start(2, 2);
	OK(result_open(&r, path, true, &e) == 0);
	OK(r.tasks[0].trials[0].status == RESULT_NONE);
	OK(r.tasks[0].trials[1].status == RESULT_PASSED);
	result_close(&r);
}

/* Any contents are harmless, and the results are valid JSON. */
static void
resume_damaged(void)
{
	const char *path = in_dir("d.journal"), *out = in_dir("d.json");
	struct result_run r = start(2, 2);
	struct arena_mark mark;
	uint32_t x = 1;
	size_t i, k, bad = 0, opened = 0;
	struct str all;
	char *p;

	OK(result_open(&r, path, false, &e) == 0 && add_from(&r, 0) == 0);
	result_close(&r);
	all = slurp(path);
	for (i = 0; i < DAMAGES && bad == 0; i++) {
		mark = arena_save(&a);
		p = arena_raw(&a, all.n, 1);
		memcpy(p, all.p, all.n);
		for (k = 0; k <= i % 4; k++) {
			x = x * UINT32_C(1664525) + UINT32_C(1013904223);
			p[300 + (x >> 8) % (all.n - 300)] =
			    "\n}{\",:[]\\0x \xff"[(x >> 4) % 14];
		}
		unlink(path);
		put_file(path, (struct str){ p, all.n });
		r = start(2, 2);
		if (result_open(&r, path, true, &e) == 0) {
			opened++;
			end_all(&r);
			bad += result_write(&r, out, &e) != 0;
			bad += parse(slurp(out)) == NULL;
			os_close(&r.journal.fd);
		}
		result_close(&r);
		arena_restore(&a, mark);
	}
	OK(bad == 0 && opened > DAMAGES / 4 * 3);
}

static bool
refused(const char *path, struct result_run r, const char *why)
{
	struct str was = slurp(path);
	bool ok;

	ok = result_open(&r, path, true, &e) == -1 && r.journal.fd == -1 &&
	    strstr(e.msg, why) != NULL && str_eq(slurp(path), was);
	if (!ok)
		printf("# %s\n", e.msg);
	result_close(&r);
	return ok;
}

static void
headers(void)
{
	const char *path = in_dir("h.journal");
	struct result_run r = start(1, 1);

	OK(result_open(&r, path, false, &e) == 0);
	OK(add(&r, 0, 0, RESULT_PASSED, 1) == 0);
	result_close(&r);
	r = start(1, 1);
	r.model = STR("m-2");
	OK(refused(path, r, "its model is \"m-1\", not \"m-2\""));
	r = start(1, 1);
	r.executor = STR("command");
	OK(refused(path, r, "its executor is \"mock\", not \"command\""));
	suite.name = STR("large");
	OK(refused(path, start(1, 1), "its suite is \"small\""));
	suite.name = STR("small");
	put_file(path, STR("a diary\nof mine\n"));
	OK(refused(path, start(1, 1), "not a waza journal"));
	put_file(path, STR("no line"));
	OK(refused(path, start(1, 1), "not a waza journal"));
	put_file(path, STR("{\"waza_journal\":3}\n"));
	OK(refused(path, start(1, 1), "another version"));
	r = start(1, 1);
	OK(result_open(&r, dir, true, &e) == -1 && e.sys == EISDIR);
	result_close(&r);
	r = start(1, 1);
	OK(result_open(&r, in_dir("no/journal"), true, &e) == -1);
	OK(e.sys == ENOENT && strstr(e.msg, "no/journal") != NULL);
	result_close(&r);
	r = start(1, 1);
	OK(result_open(&r, "/dev/null", true, &e) == -1);
	result_close(&r);
}

static size_t
files(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

/* A file size limit acts like a full disk. */
static void
disk_full(void)
{
	const char *path = in_dir("full.journal"), *out = in_dir("full.json");
	struct result_run r = start(2, 2);
	struct rlimit lim, was;
	struct str old, journal;
	int rc[3];
	size_t n;

	(void)signal(SIGXFSZ, SIG_IGN);
	OK(result_open(&r, path, false, &e) == 0);
	OK(add(&r, 0, 0, RESULT_PASSED, 1) == 0);
	old = outcome(&r, out);
	journal = slurp(path);
	n = files();
	fflush(stdout);
	if (getrlimit(RLIMIT_FSIZE, &was) == -1) {
		SKIP("no limit on the size of files");
		return;
	}
	lim = was;
	lim.rlim_cur = (rlim_t)journal.n + 50;
	setrlimit(RLIMIT_FSIZE, &lim);
	rc[0] = add(&r, 0, 1, RESULT_PASSED, 1);
	lim.rlim_cur = 100;
	setrlimit(RLIMIT_FSIZE, &lim);
	rc[1] = result_write(&r, out, &e);
	setrlimit(RLIMIT_FSIZE, &was);
	OK(rc[0] == -1 && rc[1] == -1);
	OK(e.sys == EFBIG && strstr(e.msg, "full.json") != NULL);
	OK(str_eq(slurp(path), journal) && str_eq(slurp(out), old));
	OK(files() == n && r.tasks[0].done == 1);
	OK(add(&r, 0, 1, RESULT_PASSED, 1) == 0 && lines(slurp(path)) == 3);
	OK(result_read(&a, &r, &r.tasks[0].trials[1], &e) != NULL);
	if (access("/dev/full", W_OK) == 0) {
		OK(result_write(&r, "/dev/full", &e) == -1);
		OK(e.sys == ENOSPC && strstr(e.msg, "/dev/full") != NULL);
	} else
		SKIP("no /dev/full");
	OK(result_write(&r, "/dev/null", &e) == 0);
	result_close(&r);
}

static void
places(void)
{
	const char *link = in_dir("link.json");
	struct result_run r = start(1, 1);
	struct stat st;

	OK(result_write(&r, dir, &e) == -1 && e.sys == EISDIR);
	OK(result_write(&r, in_dir("no/x.json"), &e) == -1);
	OK(e.sys == ENOENT);
	put_file(in_dir("real.json"), STR("old"));
	OK(symlink("real.json", link) == 0);
	OK(result_write(&r, link, &e) == 0);
	OK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
	OK(parse(slurp(in_dir("real.json"))) != NULL);
	result_close(&r);
}

/* 0 if the right files are refused; root changes its user first. */
static int
try_read_only(struct result_run *r)
{
	if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
		return 2;
	return result_write(r, in_dir("ro/x.json"), &e) == -1 &&
	    e.sys == EACCES && strstr(e.msg, "ro/x.json: cannot") != NULL &&
	    result_open(r, in_dir("ro/j"), false, &e) == -1 &&
	    e.sys == EACCES && strstr(e.msg, "ro/j: cannot") != NULL ? 0 : 1;
}

static void
read_only(void)
{
	struct result_run r = start(1, 1);
	int status = -1;
	pid_t pid;

	OK(chmod(dir, 0755) == 0 && mkdir(in_dir("ro"), 0555) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(try_read_only(&r));
	OK(waitpid(pid, &status, 0) == pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		SKIP("root cannot become nobody here");
	else
		OK(status == 0);
	result_close(&r);
}

/* Reads the file until the run has ended; 0 if it was always whole. */
static int
watch(const char *path)
{
	struct arena_mark mark = arena_save(&a);
	struct json *v;

	for (;;) {
		v = parse(slurp(path));
		if (v == NULL)
			return 1;
		if (!str_is(json_text(json_getc(v, "status")), "running"))
			return 0;
		arena_restore(&a, mark);
	}
}

static void
watched(void)
{
	const char *path = in_dir("w.json");
	struct result_run r = start(3, 20);
	int status = -1, bad = 0;
	pid_t pid;
	size_t i;

	OK(result_open(&r, in_dir("w.journal"), false, &e) == 0);
	OK(result_write(&r, path, &e) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(watch(path));
	for (i = 0; i < 60; i++) {
		bad += add_full(&r, i % 3, i / 3) != 0;
		end_all(&r);
		r.complete = i == 59;
		bad += result_write(&r, path, &e) != 0;
	}
	OK(bad == 0);
	OK(waitpid(pid, &status, 0) == pid && status == 0);
	result_close(&r);
}

/* Two processes cannot use one journal. */
static void
locked(void)
{
	const char *path = in_dir("l.journal");
	struct result_run r = start(1, 1), other = start(1, 1);
	int status = -1;
	pid_t pid;

	OK(result_open(&r, path, false, &e) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(result_open(&other, path, true, &e) == -1 &&
		    strstr(e.msg, "another run") != NULL ? 0 : 1);
	OK(waitpid(pid, &status, 0) == pid && status == 0);
	OK(add(&r, 0, 0, RESULT_PASSED, 1) == 0);
	result_close(&r);
	result_close(&other);
}

/* Larger than any buffer, with characters that need escapes. */
static void
large(void)
{
	struct result_run r = start(2, 1);
	struct buf b = { 0 }, deep = { 0 };
	struct answer ans = { .exit_status = -1 };
	struct result_record rec = { .status = RESULT_PASSED, .attempts = 1,
	    .answer = &ans };
	struct json *v;
	int i;

	for (i = 0; i < LARGE; i++)
		buf_putc(&b, (char)(i * 7));
	for (i = 0; i < 5000; i++)
		buf_putc(&deep, '[');
	ans.output = buf_str(&b);
	ans.transcript = buf_str(&deep);
	OK(result_open(&r, in_dir("big.journal"), false, &e) == 0);
	OK(result_add(&r, &rec, &e) == 0);
	rec.task = 1;
	ans.transcript = STR("");
	OK(result_add(&r, &rec, &e) == 0);
	v = parse(outcome(&r, in_dir("big.json")));
	OK(json_count(json_getc(v, "tasks")) == 2);
	OK(result_read(&a, &r, &r.tasks[1].trials[0], &e) != NULL);
	result_close(&r);
	r = start(2, 1);
	OK(result_open(&r, in_dir("big.journal"), true, &e) == 0);
	OK(done(&r) == 2);
	/* the numbers are known, although the journal was changed meanwhile */
	OK(truncate(in_dir("big.journal"), 5000) == 0);
	end_all(&r);
	OK(result_write(&r, in_dir("big.json"), &e) == 0);
	OK(r.journal.lost == 2);
	OK(result_read(&a, &r, &r.tasks[1].trials[0], &e) == NULL);
	OK(strstr(e.msg, "was changed") != NULL);
	v = parse(slurp(in_dir("big.json")));
	OK(json_count(json_getc(v, "tasks")) == 2);
	result_close(&r);
	buf_free(&b);
	buf_free(&deep);
}

int
main(void)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	setup();
	RUN(size, words, times, scores, statuses, skipped, thresholds, whole, other_shapes,
	    metrics, broken, unfinished, usage, resume, resume_odd,
	    resume_damaged, foreign_lines, headers, disk_full, places, read_only, watched,
	    locked, large);
	if (fork() == 0)
		execlp("rm", "rm", "-rf", dir, (char *)NULL);
	(void)wait(NULL);
	arena_free(&a);
	return tap_done();
}

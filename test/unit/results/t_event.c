/* SPDX-License-Identifier: ISC */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "results/event.h"
#include "test/tool/tap.h"

static struct arena arena;
static struct buf line;

static bool
is_line(const struct event *e, const char *want)
{
	line.n = 0;
	event_line(&line, e);
	if (str_is(buf_str(&line), want))
		return true;
	printf("# %.*s", STRF(buf_str(&line)));
	return false;
}

/* The line read back; NULL unless it is one object and one line. */
static struct json *
read_line(const struct event *e)
{
	struct json_mem mem = { arena_hook, &arena };
	struct json_error je;
	struct json *v;

	line.n = 0;
	event_line(&line, e);
	if (line.n == 0 || memchr(line.p, '\n', line.n) != line.p + line.n - 1)
		return NULL;
	v = json_read(&mem, arena_str(&arena, buf_str(&line)), 0, &je);
	return v != NULL && v->type == JSON_OBJECT ? v : NULL;
}

static bool
member_is(const struct json *v, const char *key, const char *text)
{
	const struct json *m = json_getc(v, key);

	return m != NULL && str_is(json_text(m), text);
}

/* Every example of seeds/001, followed by our own members. */
static void
check_seed_lines(void)
{
	struct event e = {
		.type = EVENT_EVAL_START, .eval = STR("my-eval"),
		.skill = STR("azure-functions"), .tasks = 5,
		.time_ms = INT64_C(1234567890999)
	};

	OK(is_line(&e, "{\"type\":\"eval_start\",\"eval\":\"my-eval\","
	    "\"skill\":\"azure-functions\",\"tasks\":5,"
	    "\"timestamp\":1234567890}\n"));

	e = (struct event){
		.type = EVENT_TASK_START, .task = STR("test-auth"),
		.name = STR("Test auth"), .prompt = STR("Create \"x\"\n"),
		.total = 5, .time_ms = INT64_C(1234567890000), .seq = 2,
		.run_id = STR("run-1"), .trials = 3
	};
	OK(is_line(&e, "{\"type\":\"task_start\",\"idx\":0,"
	    "\"task\":\"test-auth\",\"name\":\"Test auth\","
	    "\"prompt\":\"Create \\\"x\\\"\\n\",\"total\":5,\"trials\":3,"
	    "\"timestamp\":1234567890,\"run_id\":\"run-1\",\"seq\":2}\n"));

	e = (struct event){
		.type = EVENT_TASK_PROGRESS, .task = STR("a"), .name = STR("A"),
		.step = STR("executing"), .detail = STR("Calling LLM...")
	};
	OK(is_line(&e, "{\"type\":\"task_progress\",\"idx\":0,\"task\":\"a\","
	    "\"name\":\"A\",\"step\":\"executing\","
	    "\"detail\":\"Calling LLM...\",\"timestamp\":0}\n"));

	e = (struct event){
		.type = EVENT_TASK_COMPLETE, .task = STR("test-auth"),
		.name = STR("Test auth"), .status = STR("passed"),
		.took_ms = 1234, .score = 1, .time_ms = INT64_C(1234567891000)
	};
	OK(is_line(&e, "{\"type\":\"task_complete\",\"idx\":0,"
	    "\"task\":\"test-auth\",\"name\":\"Test auth\","
	    "\"status\":\"passed\",\"score\":1.0,\"took_ms\":1234,"
	    "\"timestamp\":1234567891}\n"));

	e = (struct event){
		.type = EVENT_EVAL_COMPLETE, .total = 5,
		.totals = { .passed = 4, .failed = 1, .rate = 0.8,
		    .duration_sec = 45.2, .results = STR("results.json") },
		.status = STR("failed"), .score = 0.85,
		.time_ms = INT64_C(1234567900000)
	};
	OK(is_line(&e, "{\"type\":\"eval_complete\",\"passed\":4,\"failed\":1,"
	    "\"total\":5,\"rate\":0.8,\"duration_sec\":45.2,\"errors\":0,"
	    "\"skipped\":0,\"score\":0.85,\"status\":\"failed\","
	    "\"results\":\"results.json\",\"timestamp\":1234567900}\n"));

	e = (struct event){
		.type = EVENT_ERROR, .problem = {
		    .error_type = STR("eval_load_failed"),
		    .message = STR("Failed to parse eval.yaml: invalid syntax"),
		    .file = STR("eval.yaml"), .line = 15, .col = 3 }
	};
	OK(is_line(&e, "{\"type\":\"error\","
	    "\"error_type\":\"eval_load_failed\","
	    "\"message\":\"Failed to parse eval.yaml: invalid syntax\","
	    "\"file\":\"eval.yaml\",\"line\":15,\"col\":3,"
	    "\"timestamp\":0}\n"));
}

static void
check_errors_are_failures(void)
{
	struct event e = {
		.type = EVENT_TRIAL_COMPLETE, .idx = 7, .task = STR("t"),
		.name = STR("T"), .trial = 2, .trials = 3, .attempt = 1,
		.status = STR("error"), .error_class = STR("timeout"),
		.error = STR("no answer in 5 s")
	};
	struct json *v = read_line(&e);
	int64_t n;

	OK(v != NULL);
	OK(member_is(v, "type", "trial_complete"));
	OK(member_is(v, "status", "failed"));
	OK(member_is(v, "error_class", "timeout"));
	OK(member_is(v, "error", "no answer in 5 s"));
	OK(member_is(v, "score", "0.0"));
	OK(json_int(json_getc(v, "trial"), &n) && n == 2);
	OK(json_int(json_getc(v, "idx"), &n) && n == 7);
	e.type = EVENT_TASK_COMPLETE;
	OK(member_is(read_line(&e), "status", "failed"));
	OK(member_is(read_line(&e), "error_class", "timeout"));
}

/* Members that a type does not have are not written. */
static void
check_types(void)
{
	struct event e = {
		.seq = 9, .run_id = STR("r"), .eval = STR("e"),
		.skill = STR("s"), .executor = STR("mock"), .model = STR("m"),
		.tasks = 1, .trials = 2, .idx = 3, .total = 4,
		.task = STR("t"), .name = STR("n"), .prompt = STR("p"),
		.trial = 5, .attempt = 6, .step = STR("s"), .detail = STR("d"),
		.status = STR("failed"), .error_class = STR("c"),
		.error = STR("w"), .score = 0.5, .took_ms = 7,
		.totals = { .passed = 8, .failed = 9, .errors = 10,
		    .skipped = 11, .rate = 0.25, .duration_sec = 2 },
		.problem = { .error_type = STR("y"), .message = STR("m"),
		    .file = STR("f"), .line = 1, .col = 2 }
	};
	int t;

	for (t = 0; t < EVENT__MAX; t++) {
		struct json *v;

		e.type = (enum event_type)t;
		v = read_line(&e);
		OK(v != NULL && str_is(json_text(json_getc(v, "type")),
		    event_name(e.type)));
		OK(str_is(json_key(json_first(v)), "type"));
		OK(json_getc(v, "timestamp") != NULL);
		OK(member_is(v, "run_id", "r") && member_is(v, "seq", "9"));
		OK((json_getc(v, "prompt") != NULL) ==
		    (t == EVENT_TASK_START || t == EVENT_TRIGGER_COMPLETE));
		OK((json_getc(v, "message") != NULL) == (t == EVENT_ERROR));
		OK((json_getc(v, "rate") != NULL) ==
		    (t == EVENT_EVAL_COMPLETE));
		OK((json_getc(v, "idx") != NULL) ==
		    (t != EVENT_EVAL_START && t != EVENT_EVAL_COMPLETE &&
		    t != EVENT_ERROR));
	}
}

/* Any strings and numbers yield one line of valid JSON. */
static void
check_hostile(void)
{
	static const char all[] = "\0\x01\x1b[31m\n\r\t\"\\</script>\xff\xc3\x28"
	    "\xed\xa0\x80\xe2\x80\xa8\x7f end";
	struct str bad = { all, sizeof(all) - 1 };
	struct event e = {
		.task = bad, .name = bad, .prompt = bad, .eval = bad,
		.skill = bad, .step = bad, .detail = bad, .status = bad,
		.error = bad, .error_class = bad, .model = bad, .executor = bad,
		.run_id = bad, .idx = INT64_MIN, .total = INT64_MAX,
		.problem = { .error_type = bad, .message = bad, .file = bad,
		    .line = INT64_MAX },
		.score = NAN, .totals = { .results = bad, .rate = INFINITY,
		    .duration_sec = 1e300 }
	};
	int t;

	for (t = 0; t < EVENT__MAX; t++) {
		e.type = (enum event_type)t;
		OK(read_line(&e) != NULL);
	}
	e.type = EVENT_EVAL_COMPLETE;
	OK(json_getc(read_line(&e), "rate")->type == JSON_NULL);
	OK(json_getc(read_line(&e), "duration_sec")->type == JSON_NUMBER);
	e = (struct event){ .type = EVENT_TASK_COMPLETE, .score = -0.0 };
	OK(read_line(&e) != NULL);
	e.score = 1e21;
	OK(read_line(&e) != NULL);
}

/* A line read and written again is the same line. */
static void
check_read(void)
{
	struct event e = {
		.seq = 7, .time_ms = INT64_C(1234567890000), .run_id = STR("r"),
		.eval = STR("e"), .skill = STR("s"), .executor = STR("x"),
		.model = STR("m"), .tasks = 3, .trials = 2, .idx = 1,
		.total = 3, .task = STR("t"), .name = STR("T \"\n"),
		.prompt = STR("p"), .trial = 2, .attempt = 1,
		.step = STR("a"), .detail = STR("b"), .status = STR("error"),
		.error_class = STR("timeout"), .error = STR("slow"),
		.should_trigger = true, .score = 0.25, .took_ms = 12,
		.cached = true, .totals = { .passed = 1, .failed = 1,
		    .errors = 1, .skipped = 1, .rate = 0.5,
		    .duration_sec = 1.5, .results = STR("f") },
		.problem = { .error_type = STR("k"), .message = STR("why"),
		    .file = STR("y"), .line = 3, .col = 4 }
	}, got;
	struct json_mem mem = { arena_hook, &arena };
	struct json_error je;
	struct buf again = { 0 };
	int t;

	for (t = 0; t < EVENT__MAX; t++) {
		e.type = (enum event_type)t;
		OK(event_read(read_line(&e), &got) && got.type == e.type);
		again.n = 0;
		event_line(&again, &got);
		OK(str_eq(buf_str(&again), buf_str(&line)));
	}
	e.type = EVENT_TASK_COMPLETE;
	OK(event_read(read_line(&e), &got) && str_is(got.status, "error"));
	OK(!event_read(NULL, &got));
	OK(!event_read(json_read(&mem, STR("{\"type\":5}"), 0, &je), &got));
	OK(!event_read(json_read(&mem, STR("[\"error\"]"), 0, &je), &got));
	OK(event_read(json_read(&mem, STR("{\"type\":\"task_complete\","
	    "\"idx\":\"1\",\"task\":5,\"score\":1e999,\"took_ms\":1e99,"
	    "\"timestamp\":9223372036854775807}"), 0, &je), &got));
	OK(got.idx == 0 && got.task.n == 0 && got.took_ms == 0 &&
	    got.time_ms == 0 && got.score == 0);
	buf_free(&again);
}

struct heard {
	struct buf *log;
	char name;
};

static void
hear(void *arg, const struct event *e)
{
	struct heard *h = arg;

	buf_fmt(h->log, "%c%d ", h->name, (int)e->seq);
	if (e->time_ms <= 0)
		buf_puts(h->log, "no time ");
}

static void
check_bus(void)
{
	struct event_bus bus = { 0 };
	struct buf log = { 0 };
	struct heard a = { &log, 'a' }, b = { &log, 'b' };
	struct event_sink sa = { .fn = hear, .arg = &a };
	struct event_sink sb = { .fn = hear, .arg = &b };
	struct event e = { .type = EVENT_EVAL_START };

	event_emit(&bus, &e);
	OK(log.n == 0 && e.seq == 1);
	event_listen(&bus, &sa);
	event_emit(&bus, &e);
	event_listen(&bus, &sb);
	event_emit(&bus, &e);
	OK(str_is(buf_str(&log), "a2 a3 b3 "));
	buf_free(&log);
}

int
main(void)
{
	RUN(check_seed_lines, check_errors_are_failures, check_types,
	    check_hostile, check_read, check_bus);
	buf_free(&line);
	arena_free(&arena);
	return tap_done();
}

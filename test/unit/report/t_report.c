/* SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/base.h"
#include "base/os.h"
#include "grader.h"
#include "json.h"
#include "report/report.h"
#include "report/report_internal.h"
#include "results/event.h"
#include "results/result.h"
#include "suite/spec.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

/* Hostile text in the output of agents. */
#define HOSTILE "]]><script>alert('x')</script>&amp;\033[31m\r\n\x01\x7f\xff" \
	"\xc3\x28\xe2\x80\xae|`*_@you #1 %0A,:\"\\ \xe6\xbc\xa2\xe5\xad\x97"

static struct arena arena;
static char dir[] = "/tmp/t_report.XXXXXX";

#define LIT(s) { s, sizeof(s) - 1 }	/* where STR() is not constant */

static struct spec_grader graders[] = {
	{ .name = LIT("says-bye"), .type = LIT("text"), .weight = 1,
	    .at = { "tasks/bye.yaml", 12, 5 } },
};
static struct spec_grader suite_graders[] = {
	{ .name = LIT("polite"), .type = LIT("regex"), .weight = 1,
	    .at = { "eval.yaml", 9, 3 } },
};
static struct spec_def defs[4] = {
	{ .rows = NULL }, { .graders = { graders, COUNTOF(graders) } },
};
static struct spec_task specs[] = {
	{ .def = &defs[0], .id = LIT("hello"), .name = LIT("Hello"),
	    .at = { "tasks/hello.yaml", 1, 1 } },
	{ .def = &defs[1], .id = LIT("bye"), .name = LIT("Says goodbye"),
	    .at = { "tasks/bye.yaml", 1, 1 } },
	{ .def = &defs[2], .id = LIT("slow"), .name = LIT("Slow one"),
	    .at = { "tasks/slow.yaml", 1, 1 } },
	{ .def = &defs[3], .id = LIT("later"), .name = LIT("Later"),
	    .at = { "tasks/later.yaml", 1, 1 } },
};
static struct spec_suite suite = {
	.path = "eval.yaml", .dir = ".", .name = LIT("greetings"),
	.skill = LIT("greeter"), .graders = { suite_graders, 1 },
	.config = { .pass_threshold = 1, .task_pass_threshold = 1 },
	.tasks = specs, .ntasks = COUNTOF(specs),
};

/* Details by trial, as the journal has them. */
static const char *const details[][2] = {
	{ "{\"run_number\":1,\"prompt\":\"Say hello\",\"final_output\":\"Hello!\","
	    "\"validations\":{\"polite\":{\"type\":\"regex\",\"score\":1,\"passed\":true,"
	    "\"feedback\":\"matched\"}},\"transcript\":[{\"type\":\"a\"}]}",
	    "{\"run_number\":2,\"final_output\":\"Hello again\",\"validations\":{},"
	    "\"transcript\":[{\"type\":\"b\"}],\"session_digest\":{\"tool_call_count\":0}}" },
	{ "{\"prompt\":\"Say bye\",\"final_output\":\"See you\\nlater\",\"validations\":{"
	    "\"polite\":{\"type\":\"regex\",\"score\":1,\"passed\":true,\"feedback\":\"ok\"},"
	    "\"says-bye\":{\"type\":\"text\",\"score\":0,\"passed\":false,\"feedback\":"
	    "\"expected \\\"bye\\\" in the output\\nfound none\"}}}",
	    "{\"final_output\":\"bye\",\"validations\":{\"says-bye\":{\"type\":\"text\","
	    "\"score\":1,\"passed\":true}}}" },
	{ "{\"error_msg\":\"no answer in 5 s\",\"stderr_tail\":\"a\\nb\\n\","
	    "\"final_output\":\"\",\"validations\":null}", NULL },
};

static struct result_run run;
static struct result_task tasks[COUNTOF(specs)];
static struct result_stats stats[COUNTOF(specs)];
static struct result_trial trials[COUNTOF(specs)][2];

static struct json *
read_fake(struct arena *a, const struct result_run *r,
    const struct result_trial *t, struct err *e)
{
	size_t i = (size_t)(t - &trials[0][0]);

	(void)r;
	if (i / 2 >= COUNTOF(details) || details[i / 2][i % 2] == NULL) {
		err_set(e, ERR_SYS, "the journal is gone");
		return NULL;
	}
	return read_json(a, str_of(details[i / 2][i % 2]));
}

static const struct report_opts plain = { .read = read_fake };

static void
set_trial(size_t task, size_t n, enum result_status st, double score,
    int64_t ms)
{
	trials[task][n] = (struct result_trial){ .status = st, .attempts = 1,
		.score = score, .weighted = score, .duration_ms = ms };
	tasks[task].done += st != RESULT_NONE;
}

static void
make_run(void)
{
	size_t i;

	run = (struct result_run){ .arena = &arena, .suite = &suite,
		.run_id = "run-7", .executor = STR("mock"),
		.model = STR("gpt-x"), .started_ns = 1767323045LL * 1000000000,
		.duration_ms = 1234, .tasks = tasks, .ntasks = COUNTOF(specs),
		.trials = 2, .complete = true, .journal.fd = -1 };
	for (i = 0; i < COUNTOF(specs); i++)
		tasks[i] = (struct result_task){ .spec = &specs[i],
			.trials = trials[i], .ntrials = 2,
			.stats = &stats[i], .more = &result_no_more };
	set_trial(0, 0, RESULT_PASSED, 1, 12);
	set_trial(0, 1, RESULT_PASSED, 1, 14);
	set_trial(1, 0, RESULT_FAILED, 0.5, 100);
	set_trial(1, 1, RESULT_PASSED, 1, 140);
	set_trial(2, 0, RESULT_TIMEOUT, 0, 5000);
	set_trial(2, 1, RESULT_NONE, 0, 0);
	set_trial(3, 0, RESULT_NONE, 0, 0);
	set_trial(3, 1, RESULT_NONE, 0, 0);
	tasks[0].status = RESULT_PASSED;
	stats[0] = (struct result_stats){ .pass_rate = 1, .avg = 1,
		.avg_ms = 13 };
	tasks[1].status = RESULT_FAILED;
	stats[1] = (struct result_stats){ .pass_rate = 0.5,
		.pass_lo = 0.0945, .pass_hi = 0.9055, .avg = 0.75,
		.std_dev = 0.25, .flaky = true, .avg_ms = 120 };
	tasks[2].status = RESULT_TIMEOUT;
	stats[2] = (struct result_stats){ .avg_ms = 5000 };
	run.sum.passed = run.sum.failed = run.sum.errors = run.sum.skipped = 1;
	run.sum.finished = 3;
	run.sum.rate = 1 / 3.0;
	run.sum.rate_lo = 0.0615;
	run.sum.rate_hi = 0.7923;
	run.sum.score = run.sum.weighted = 0.5833;
	run.sum.max = 1;
	run.sum.std_dev = 0.4249;
}

static const char golden[] =
    "greetings  skill greeter  executor mock  model gpt-x  2 trials each\n"
    "\n"
    "    task          trials  score  avg time\n"
    "  ✓ Hello            2/2   1.00      13ms\n"
    "  ✗ Says goodbye     1/2   0.75     120ms\n"
    "  ! Slow one         0/2   0.00      5.0s  timeout\n"
    "  - Later         not run\n"
    "\n"
    "Failures\n"
    "\n"
    "  ✗ Says goodbye [bye]  tasks/bye.yaml:1\n"
    "    trial 1 of 2 did not pass:\n"
    "    ✗ says-bye (text) tasks/bye.yaml:12: expected \"bye\" in the output\n"
    "        found none\n"
    "    answer:\n"
    "      │ See you\n"
    "      │ later\n"
    "\n"
    "  ! Slow one [slow]  tasks/slow.yaml:1\n"
    "    trial 1 of 2 did not pass:\n"
    "    timeout: no answer in 5 s\n"
    "    stderr:\n"
    "      │ a\n"
    "      │ b\n"
    "\n"
    "Flaky\n"
    "  ~ Says goodbye  passed 50.0% (95% interval: 9–91%)  score 0.75 ± 0.25\n"
    "\n"
    "4 tasks: 1 passed, 1 failed, 1 error (1 timeout); 1 not run\n"
    "pass rate 33.3% (95% interval: 6–79%), score 0.58, 1.2s\n"
    "\n"
    "FAILED\n";

/* Nothing that a terminal would obey, and whole characters only. */
static bool
is_safe(const struct buf *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (((unsigned char)b->p[i] < ' ' && b->p[i] != '\n') ||
		    b->p[i] == 0x7f)
			return false;
	return utf8_valid(buf_str(b)) && lacks(buf_str(b), "\xe2\x80\xae");
}

static void
check_text(void)
{
	struct report_opts o = plain;
	struct buf b = { 0 };

	make_run();
	report_text(&b, &run, &o);
	OK(str_is(buf_str(&b), golden));
	if (!str_is(buf_str(&b), golden))
		printf("%.*s", STRF(buf_str(&b)));

	b.n = 0;
	o.ascii = o.interpret = o.verbose = true;
	suite.config.pass_threshold = 0.25;
	run.usage.input_tokens = 1234567;
	run.usage.output_tokens = 89;
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "  + Hello"));
	OK(has(buf_str(&b), "below the target"));
	OK(has(buf_str(&b), "Less than half of the tasks passed"));
	OK(has(buf_str(&b), "prompt:\n      | Say bye"));
	OK(has(buf_str(&b), "+ polite (regex) 1.00"));
	OK(has(buf_str(&b), "required pass rate 25.0%"));
	OK(has(buf_str(&b), "usage: 1,234,567 tokens in, 89 out"));
	suite.config.pass_threshold = 1;

	b.n = 0;
	o = plain;
	o.color = true;
	run.cancelled = true;
	run.complete = false;
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "\033[32m✓\033[0m"));
	OK(has(buf_str(&b), "INTERRUPTED\033[0m\n"));
	OK(has(buf_str(&b), "3 of 4 tasks done:") && lacks(buf_str(&b), "pass rate"));
	buf_free(&b);
}

static void
check_models(void)
{
	struct result_run *runs[2] = { &run, &run };
	struct buf b = { 0 };

	run.complete = true;
	report_models(&b, runs, 2, &plain);
	OK(str_is(buf_str(&b), "\n  model  pass rate  score  time\n"
	    "  gpt-x      33.3%   0.58  1.2s\n"
	    "  gpt-x      33.3%   0.58  1.2s\n"));
	buf_free(&b);
}

static struct str
line_of(const char *s, size_t cols, bool ascii)
{
	static struct buf b;

	b.n = 0;
	report_line(&b, str_of(s), cols, ascii);
	return arena_str(&arena, buf_str(&b));
}

static struct str
took(int64_t ms)
{
	static struct buf b;

	b.n = 0;
	report_took(&b, ms, 0);
	return arena_str(&arena, buf_str(&b));
}

static void
check_words(void)
{
	struct buf b = { 0 };
	bool cut;

	OK(str_is(line_of("  a \n\t b  ", 0, false), "a b"));
	OK(str_is(line_of("abcdef", 6, false), "abcdef"));
	OK(str_is(line_of("abcdefg", 6, false), "abcde…"));
	OK(str_is(line_of("abcdefg", 6, true), "abc..."));
	OK(str_is(line_of("abc", 0, true), "abc"));
	OK(str_is(line_of("漢字漢字", 5, false), "漢字…"));
	OK(str_is(line_of("漢字漢字", 6, false), "漢字…"));
	OK(str_is(line_of("漢字漢", 6, false), "漢字漢"));
	OK(str_is(line_of("a\033[31mb\xff", 0, false), "a\xEF\xBF\xBD[31mb\xEF\xBF\xBD"));
	OK(str_is(line_of("a\xe2\x80\xae" "b", 0, false), "ab"));
	OK(str_is(line_of("", 0, false), ""));
	OK(report_cols(STR("漢字"), 10) == 4 && report_cols(STR("漢字"), 3) == 3);
	OK(str_is(took(-1), "0ms") && str_is(took(999), "999ms"));
	OK(str_is(took(1000), "1.0s") && str_is(took(59949), "59.9s"));
	OK(str_is(took(59960), "1m0s") && str_is(took(123400), "2m3s"));
	OK(str_is(took(3600000), "1h0m") && str_is(took(3725000), "1h2m"));
	OK(report_cut(STR("aé"), 2, &cut).n == 1 && cut);
	OK(report_cut(STR("aé"), 3, &cut).n == 3 && !cut);
	report_escape(&b, STR("<a href='x'>&\"\r\nb\rc\f</a>"));
	OK(str_is(buf_str(&b), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\nb\nc"
	    "\xEF\xBF\xBD&lt;/a&gt;"));
	b.n = 0;
	report_escape(&b, (struct str){ NULL, 0 });
	report_line(&b, (struct str){ NULL, 0 }, 5, true);
	OK(b.n == 0);
	report_block(&b, STR("a\nb\nc\n"), "> ", 2, &plain);
	OK(str_is(buf_str(&b), "> a\n> b\n> (1 more bytes)\n"));
	buf_free(&b);
}

/* Any bytes: the line fits, is UTF-8, and has nothing to obey. */
static void
check_random_lines(void)
{
	struct buf b = { 0 }, x = { 0 };
	uint32_t seed = 7;
	size_t i, n, cols, bad = 0;
	char in[40];

	for (i = 0; i < 20000; i++) {
		for (n = 0; n < sizeof(in); n++) {
			seed = seed * 1664525 + 1013904223;
			in[n] = (char)(seed >> 24);
			if (i % 2 == 0 && (seed >> 8) % 3 > 0)
				in[n] = "\xe6\xbc\xa2\xcc\x81" "a \xf0\x9f\x98\x80"
				    [(seed >> 12) % 11];
		}
		cols = (seed >> 16) % 30;
		n = (seed >> 10) % sizeof(in);
		b.n = x.n = 0;
		n = report_line(&b, (struct str){ in, n }, cols, i % 3 == 0);
		bad += !is_safe(&b) || (cols > 0 && n > cols);
		bad += report_cols(buf_str(&b), 1000) != n;
		report_escape(&x, (struct str){ in, sizeof(in) });
		bad += !utf8_valid(buf_str(&x)) || has(buf_str(&x), "<");
	}
	OK(bad == 0);
	buf_free(&b);
	buf_free(&x);
}

/* A run in which every string is hostile. */
static char hostile_json[4096];

static struct json *
read_hostile(struct arena *a, const struct result_run *r,
    const struct result_trial *t, struct err *e)
{
	(void)r;
	(void)t;
	(void)e;
	return read_json(a, str_of(hostile_json));
}

static void
make_hostile(void)
{
	static const char *const keys[] = { "prompt", "final_output",
		"error_msg", "stderr_tail" };
	struct buf b = { 0 };
	struct json_out w = { .put = buf_sink, .ctx = &b };
	size_t i;

	make_run();
	json_open(&w, '{');
	for (i = 0; i < COUNTOF(keys); i++) {
		json_put_member_str(&w, keys[i], STR(HOSTILE "\n```````\n"));
	}
	json_open_member(&w, "validations", '{');
	json_put_key(&w, STR(HOSTILE));
	json_open(&w, '{');
	json_put_member_str(&w, "type", STR(HOSTILE));
	json_put_member_str(&w, "feedback", STR("=cmd|" HOSTILE "\n" HOSTILE));
	json_close(&w, '}');
	json_put_member_int(&w, "odd", 3);
	json_close(&w, '}');
	json_close(&w, '}');
	memcpy(hostile_json, b.p, b.n);
	hostile_json[b.n] = '\0';
	buf_free(&b);
	for (i = 0; i < COUNTOF(specs); i++) {
		specs[i].name = specs[i].id = STR(HOSTILE);
		defs[i].group = STR(HOSTILE);
		specs[i].at.file = HOSTILE;
	}
	suite.name = suite.skill = run.model = run.executor = STR(HOSTILE);
	result_own_more(&arena, &tasks[2])->error = STR(HOSTILE);
}

static void
restore(void)
{
	static const char *const ids[] = { "hello", "bye", "slow", "later" };
	static const char *const names[] = { "Hello", "Says goodbye",
		"Slow one", "Later" };
	size_t i;

	for (i = 0; i < COUNTOF(specs); i++) {
		specs[i].id = str_of(ids[i]);
		specs[i].name = str_of(names[i]);
		defs[i].group = STR("");
		specs[i].at.file = "tasks/x.yaml";
	}
	suite.name = STR("greetings");
	suite.skill = STR("greeter");
	make_run();
}

static const char *
path_of(const char *name)
{
	return arena_fmt(&arena, "%s/%s%c", dir, name, 0).p;
}

/* The reporter's file, or an empty text with its error in the log. */
static struct str
write_report(const char *kind, const struct report_opts *o)
{
	const char *path = path_of(kind);
	struct str spec = arena_fmt(&arena, "%s:%s%c", kind, path, 0), text;
	struct result_run *runs[1] = { &run };
	struct err e = { 0 };

	if (report_check(spec.p, &e) == -1 ||
	    report_write(spec.p, runs, 1, o, &e) == -1 ||
	    os_read_file(&arena, path, 1 << 24, &text, &e) == -1) {
		printf("# %s\n", e.msg);
		return STR("");
	}
	return text;
}

/* Tags balance, attributes are quoted, no bare < or &: well-formed enough. */
static bool
is_balanced(struct str s)
{
	struct str open[64];
	const char *p = s.p, *end = s.p + s.n, *q;
	size_t n = 0;

	while ((p = memchr(p, '<', (size_t)(end - p))) != NULL) {
		struct str name;

		if (p[1] == '?' || p[1] == '!') {
			p++;
			continue;
		}
		q = p + 1 + (p[1] == '/');
		name.p = q;
		name.n = strcspn(q, " \n/>");
		q = memchr(p, '>', (size_t)(end - p));
		if (q == NULL || name.n == 0)
			return false;
		if (p[1] == '/') {
			if (n == 0 || !str_eq(open[--n], name))
				return false;
		} else if (q[-1] != '/') {
			if (n == COUNTOF(open))
				return false;
			open[n++] = name;
		}
		p = q;
	}
	return n == 0 && utf8_valid(s);
}

/* Tags and attributes that the schema of Jenkins' xunit plugin knows. */
static bool
is_junit(struct str s)
{
	static const struct {
		const char *tag, *attrs;
	} known[] = {
		{ "testsuites", " name time tests failures errors " },
		{ "testsuite", " name tests failures errors group time skipped timestamp hostname id "
		    "package file log url " },
		{ "properties", "" }, { "property", " name value " },
		{ "testcase", " name time classname group " },
		{ "failure", " type message " }, { "error", " type message " },
		{ "skipped", " type message " }, { "system-out", "" }, { "system-err", "" },
	};
	const char *p = s.p, *end = s.p + s.n;
	char word[64];
	size_t i, n;

	while ((p = memchr(p, '<', (size_t)(end - p))) != NULL) {
		if (*++p == '?' || *p == '/')
			continue;
		n = strcspn(p, " />");
		for (i = 0; i < COUNTOF(known); i++)
			if (str_is((struct str){ p, n }, known[i].tag))
				break;
		if (i == COUNTOF(known))
			return false;
		for (p += n; *p == ' '; p += strcspn(p, "\"") + 1) {
			n = strcspn(p + 1, "=");
			snprintf(word, sizeof(word), " %.*s ", (int)n, p + 1);
			if (strstr(known[i].attrs, word) == NULL)
				return false;
			p += n + 3;
		}
	}
	return true;
}

static void
check_xml_by_tool(const char *path)
{
	struct str cmd = arena_fmt(&arena, "command -v xmllint >/dev/null || "
	    "exit 9; xmllint --noout '%s'%c", path, 0);
	int r = system(cmd.p);

	if (r == 9 << 8)
		SKIP("no xmllint here");
	else
		OK(r == 0);
}

static void
check_junit(void)
{
	struct report_opts o = plain;
	struct str s;

	restore();
	s = write_report("junit", &o);
	OK(is_balanced(s) && is_junit(s));
	check_xml_by_tool(path_of("junit"));
	OK(has(s, "<testsuites tests=\"6\" failures=\"1\" errors=\"1\" time=\"1.234\">"));
	OK(has(s, "<testsuite name=\"greetings\" tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"1\" "
	    "time=\"1.234\" timestamp=\"2026-01-02T03:04:05\">"));
	OK(has(s, "<property name=\"score\" value=\"0.5833\"/>"));
	OK(has(s, "<testcase name=\"Says goodbye [trial 1 of 2]\" classname=\"greeter\" "
	    "time=\"0.100\">"));
	OK(has(s, "<failure message=\"expected &quot;bye&quot; in the output found none\" "
	    "type=\"GraderFailure\">says-bye (text) 0.00 tasks/bye.yaml:12"));
	OK(has(s, "<system-out>See you\nlater</system-out>"));
	OK(has(s, "<error message=\"no answer in 5 s\" type=\"timeout\">"));
	OK(has(s, "<skipped message=\"not run\"/>"));

	/* a task that passes by its threshold hides no trial, and fails none */
	tasks[1].status = RESULT_PASSED;
	s = write_report("junit", &o);
	OK(has(s, "failures=\"0\" errors=\"1\" skipped=\"2\""));
	OK(has(s, "<skipped message=\"failed, but its task passed with 1 of 2 trials\"/>"));

	make_hostile();
	o.read = read_hostile;
	s = write_report("junit", &o);
	OK(is_balanced(s) && is_junit(s) && lacks(s, "<script"));
	check_xml_by_tool(path_of("junit"));
	restore();
}

static void
check_csv(void)
{
	struct report_opts o = plain;
	struct str s;

	restore();
	s = write_report("csv", &o);
	OK(str_starts(s, STR("trial,attempts,status,")));
	OK(has(s, "\n1,1,failed,,0.5,0.5,100,\"greetings\",\"greeter\",\"mock\",\"gpt-x\",false,"
	    "\"run-7\",\"bye\",\"Says goodbye\",\"\",\"says-bye\",\"\",\"See you\nlater\","
	    ",,,,,\"\"\n"));
	OK(has(s, "\n1,1,error,timeout,0,0,5000,"));
	OK(has(s, "\n0,0,skipped,,0,0,0,"));
	suite.name = STR("=1+1,\"x\"");
	s = write_report("csv", &o);
	OK(has(s, ",\"'=1+1,\"\"x\"\"\","));
	make_hostile();
	o.read = read_hostile;
	OK(utf8_valid(write_report("csv", &o)));
	restore();
}

static void
check_tap(void)
{
	struct report_opts o = plain;
	struct str s;

	restore();
	s = write_report("tap", &o);
	OK(str_starts(s, STR("TAP version 14\nok 1 - Hello\nnot ok 2 - Says goodbye\n  ---\n")));
	OK(has(s, "\n    - {\"grader\":\"says-bye\",\"score\":0,\"feedback\":"
	    "\"expected \\\"bye\\\" in the output\\nfound none\","
	    "\"file\":\"tasks/bye.yaml\",\"line\":12}\n"));
	OK(has(s, "\n  ...\nok 4 - Later # SKIP not run\n1..4\n"));
	specs[0].name = STR("a # SKIP \\ me\nnot ok 9");
	s = write_report("tap", &o);
	OK(has(s, "ok 1 - a \\# SKIP \\\\ me not ok 9\n"));
	make_hostile();
	o.read = read_hostile;
	OK(utf8_valid(write_report("tap", &o)));
	restore();
}

static void
check_markdown(void)
{
	struct report_opts o = plain;
	struct str s;

	restore();
	specs[0].name = STR("a|b\n@you *x* <i> #1");
	s = write_report("markdown", &o);
	OK(has(s, "| a\\|b @<!-- -->you \\*x\\* &lt;i&gt; #<!-- -->1 | 1.00 | ✅ passed (2/2) | polite |\n"));
	OK(has(s, "## Waza results: greetings\n\n**❌ Failed** · **Score** 0.58 · **Duration** 1.2s\n"));
	OK(has(s, "- ❌ **says-bye** (0.00)\\: ") ||
	    has(s, "- ❌ **says-bye** (0.00): expected \"bye\" in the output found none\n"));
	OK(has(s, "```text\nSee you\nlater\n```\n"));
	OK(has(s, "### Flaky tasks\n\n- Says goodbye: passed 50.0%"));
	make_hostile();
	o.read = read_hostile;
	s = write_report("markdown", &o);
	OK(utf8_valid(s) && has(s, "\n````````text\n") && lacks(s, "@you *"));
	restore();
}

static void
check_github(void)
{
	struct report_opts o = plain;
	const char *summary = path_of("summary.md");
	struct err e = { 0 };
	struct str s, text;
	size_t i, lines = 0;

	restore();
	setenv("GITHUB_STEP_SUMMARY", summary, 1);
	s = write_report("github", &o);
	OK(str_starts(s, STR("::error file=tasks/bye.yaml,line=12,col=5,title=Says goodbye%3A failed::"
	    "says-bye: expected \"bye\" in the output%0Afound none\n")));
	OK(has(s, "\n::error file=tasks/x.yaml,line=1,col=1,title=Slow one%3A timeout::"
	    "no answer in 5 s\n"));
	OK(os_read_file(&arena, summary, 1 << 20, &text, &e) == 0 &&
	    str_starts(text, STR("## Waza results")));
	i = text.n;
	write_report("github", &o);
	OK(os_read_file(&arena, summary, 1 << 20, &text, &e) == 0 &&
	    text.n == 2 * i);
	unsetenv("GITHUB_STEP_SUMMARY");

	make_hostile();
	o.read = read_hostile;
	s = write_report("github", &o);
	for (i = 0; i < s.n; i++)
		lines += s.p[i] == '\n';
	OK(lines == 2 && lacks(s, "\r") && has(s, "%250A%2C%3A"));
	restore();
}

static void
check_hostile_text(void)
{
	struct report_opts o = { .read = read_hostile, .verbose = true };
	struct buf b = { 0 };

	make_hostile();
	report_text(&b, &run, &o);
	OK(is_safe(&b));
	o.ascii = true;
	b.n = 0;
	report_text(&b, &run, &o);
	OK(is_safe(&b));
	buf_free(&b);
	restore();
}

static void
make_file(const char *name)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT, 0600);

	OK(fd != -1);
	close(fd);
}

static bool
fails(const char *spec, const char *words)
{
	struct err e = { 0 };

	if (report_check(spec, &e) == -1 && strstr(e.msg, words) != NULL)
		return true;
	printf("# %s: %s\n", spec, e.msg);
	return false;
}

static void
check_specs(void)
{
	struct result_run *runs[1] = { &run };
	struct err e = { 0 };
	const char *const *list, *spec;
	struct stat st;
	size_t i, n = report_names(&list);

	for (i = 1; i < n; i++)
		OK(strcmp(list[i - 1], list[i]) < 0);
	OK(fails("junt:x", "unknown reporter \"junt\" (did you mean \"junit\"?)"));
	OK(fails("nothing", "(reporters: csv, github"));
	OK(fails("", "unknown reporter \"\""));
	OK(fails("junit", "reporter junit needs a path: junit:PATH"));
	OK(fails("junit:", "the path after the colon is missing"));
	OK(fails("html:/", "it is a directory"));
	OK(fails("json:-", "not to stdout"));
	make_file("file");
	OK(fails(arena_fmt(&arena, "csv:%s/file/x%c", dir, 0).p,
	    "cannot write "));
	OK(report_check("tap", &e) == 0 && report_check("junit:-", &e) == 0);
	/* by way of a link, lest a mistake here cost the machine its own */
	OK(symlink("/dev/null", path_of("null")) == 0);
	spec = arena_fmt(&arena, "csv:%s/null%c", dir, 0).p;
	OK(report_check(spec, &e) == 0);
	OK(report_write(spec, runs, 1, &plain, &e) == 0);
	OK(lstat(path_of("null"), &st) == 0 && S_ISLNK(st.st_mode));
	OK(report_flags("tap") == (REPORT_STDOUT | REPORT_ALONE));
	OK(report_flags("tap:x") == 0 && report_flags("github") == REPORT_STDOUT);

	/* directories are made on the way */
	OK(report_check(arena_fmt(&arena, "csv:%s/a/b/c.csv%c", dir, 0).p,
	    &e) == 0);
	OK(report_write(arena_fmt(&arena, "csv:%s/a/b/c.csv%c", dir, 0).p,
	    runs, 1, &plain, &e) == 0);
	OK(access(path_of("a/b/c.csv"), R_OK) == 0);
	if (symlink("/dev/full", path_of("full")) == 0 &&
	    access(path_of("full"), W_OK) == 0) {
		spec = arena_fmt(&arena, "csv:%s/full%c", dir, 0).p;
		OK(report_write(spec, runs, 1, &plain, &e) == -1);
		OK(strstr(e.msg, "/full: No space left") != NULL);
	} else
		SKIP("no /dev/full here");
}

static void
check_json_copies(void)
{
	struct result_run two = run, *runs[2] = { &run, &two };
	struct err e = { 0 };
	struct str text;

	two.model = STR("b/c");
	OK(report_write(arena_fmt(&arena, "json:%s/r/r.json%c", dir, 0).p, runs,
	    2, &plain, &e) == 0);
	OK(os_read_file(&arena, path_of("r/r_gpt-x.json"), 1 << 20, &text,
	    &e) == 0 && read_json(&arena, text) != NULL);
	OK(access(path_of("r/r_b-c.json"), R_OK) == 0);
}

/* Several models and a baseline: one file, a suite for each. */
static void
check_several(void)
{
	struct result_run base = run, two = run, *runs[2] = { &two, &run };
	struct err e = { 0 };
	struct str s = STR("");

	two.baseline = &base;
	OK(report_write(arena_fmt(&arena, "junit:%s/m.xml%c", dir, 0).p, runs,
	    2, &plain, &e) == 0);
	OK(os_read_file(&arena, path_of("m.xml"), 1 << 20, &s, &e) == 0);
	OK(is_balanced(s));
	OK(has(s, "<testsuites tests=\"18\" failures=\"2\" errors=\"2\" "));
	OK(has(s, "(baseline)\" tests=\"6\" failures=\"0\" errors=\"0\" "
	    "skipped=\"3\" "));
	OK(has(s, "<skipped message=\"failed in the baseline, without the skill: "
	    "expected &quot;bye&quot; in the output found none\"/>"));
	OK(has(s, "<testsuite name=\"greetings - gpt-x (baseline)\""));
	OK(has(s, "<property name=\"baseline\" value=\"true\"/>"));
	OK(report_write(arena_fmt(&arena, "tap:%s/m.tap%c", dir, 0).p, runs,
	    2, &plain, &e) == 0);
	OK(os_read_file(&arena, path_of("m.tap"), 1 << 20, &s, &e) == 0);
	OK(has(s, "not ok 6 - Says goodbye - gpt-x (baseline) "
	    "# TODO baseline, without the skill\n"));
	OK(has(s, "ok 5 - Hello - gpt-x (baseline)\n") &&
	    str_ends(s, STR("\n1..12\n")));
}

/* A run that broke off is nowhere green; one that fail_fast ended is. */
static void
check_broken(void)
{
	struct report_opts o = plain;
	struct buf b = { 0 };
	struct str s;

	restore();
	tasks[0].status = tasks[1].status = tasks[2].status = RESULT_NONE;
	trials[0][1].status = trials[1][0].status = RESULT_NONE;
	trials[1][1].status = trials[2][0].status = RESULT_NONE;
	tasks[0].done = 1;
	tasks[1].done = tasks[2].done = 0;
	run.sum.passed = run.sum.failed = run.sum.errors = 0;
	run.sum.skipped = 4;
	run.sum.finished = 0;
	run.complete = false;
	run.ended = run.cancelled = true;
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "  - Hello         1/2 trials, not finished\n"));
	OK(has(buf_str(&b), "0 of 4 tasks done: 0 passed, 0 failed; 1 done in part, 3 not run\n"));
	OK(has(buf_str(&b), "\nINTERRUPTED\n"));
	s = write_report("junit", &o);
	OK(is_balanced(s) && is_junit(s));
	OK(has(s, "<testsuites tests=\"5\" failures=\"0\" errors=\"1\""));
	OK(has(s, "<error message=\"the run was interrupted\" type=\"incomplete\"/>"));
	s = write_report("tap", &o);
	OK(has(s, "\nok 1 - Hello # SKIP 1/2 trials, not finished\n"));
	OK(has(s, "\nBail out! the run was interrupted\n1..4\n"));
	s = write_report("markdown", &o);
	OK(has(s, "\n> ⚠️ **Incomplete**: the run was interrupted.\n"));
	OK(has(s, "➖ 1/2 trials, not finished |"));
	s = write_report("github", &o);
	OK(str_is(s, "::error file=eval.yaml,title=incomplete::the run was interrupted\n"));
	run.cancelled = false;
	s = write_report("tap", &o);
	OK(has(s, "\nBail out! the run did not finish\n1..4\n"));

	/* fail_fast */
	restore();
	run.complete = false;
	run.ended = true;
	b.n = 0;
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "FAILED: the run ended after a task that did not pass\n"));
	s = write_report("junit", &o);
	OK(has(s, "<testsuites tests=\"6\" failures=\"1\" errors=\"1\""));
	OK(lacks(s, "incomplete"));
	OK(lacks(write_report("tap", &o), "Bail out"));
	OK(lacks(write_report("github", &o), "incomplete"));
	run.aborted = true;
	OK(has(write_report("junit", &o), "\"the run did not finish\""));
	buf_free(&b);
	restore();
}

/* Which words --interpret has for a rate. */
static bool
worded(double rate, const char *words)
{
	struct report_opts o = plain;
	struct buf b = { 0 };
	bool yes;

	o.interpret = true;
	run.sum.rate = rate;
	report_text(&b, &run, &o);
	yes = has(buf_str(&b), words);
	buf_free(&b);
	return yes;
}

static void
check_interpret(void)
{
	restore();
	OK(worded(1, "All of the tasks passed"));
	OK(worded(0.8, "Most of the tasks passed"));
	OK(worded(0.727, "More than half of the tasks passed"));
	OK(worded(0.5, "Half of the tasks passed"));
	OK(worded(0.49, "Less than half of the tasks passed"));
	OK(worded(0, "None of the tasks passed"));
	restore();
}

/* Every report names a missed metric beside the outcome. */
static void
check_metric(void)
{
	struct spec_metric m[2] = { { .name = STR("x"), .threshold = 1,
		.enabled = true }, { .name = STR("task_completion"),
		.threshold = 0.9, .enabled = true } };
	struct report_opts o = plain;
	struct buf b = { 0 };

	restore();
	suite.metrics = (struct field_list){ m, 2 };
	suite.config.pass_threshold = 0.5;
	run.sum.rate = 0.5;
	run.sum.skipped = 0;
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "FAILED: required pass rate 50.0%; metric "
	    "task_completion is 50.0%, required 90.0%\n"));
	OK(has(write_report("markdown", &o),
	    "- Metric missed: task\\_completion is 50.0%, required 90.0%\n"));
	OK(has(write_report("markdown", &o), "1 failed, 1 error, 0 skipped"));
	run.complete = false;
	b.n = 0;
	report_text(&b, &run, &o);
	OK(lacks(buf_str(&b), "metric"));		/* it has no value yet */
	run.complete = true;
	run.sum.rate = 0.9;
	b.n = 0;
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "PASSED: required pass rate 50.0%\n"));
	suite.metrics = (struct field_list){ NULL, 0 };
	suite.config.pass_threshold = 1;
	buf_free(&b);
	restore();
}

/* Groups are those of the results file. */
static void
check_groups(void)
{
	struct report_opts o = plain;
	struct buf b = { 0 };

	restore();
	defs[0].group = STR("g");
	suite.config.group_by = STR("model");
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "Groups\n  group  passed  score\n"
	    "  gpt-x     1/3   0.58\n"));
	OK(has(write_report("csv", &o), ",\"Hello\",\"gpt-x\","));
	suite.config.group_by = STR("");
	b.n = 0;
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "\n  g         1/1   1.00\n"));
	buf_free(&b);
	restore();
}

/* The output of a grading program is feedback; its escapes are removed. */
static const char noisy[] = "{\"final_output\":\"x\",\"validations\":{"
    "\"g\":{\"type\":\"program\",\"score\":0,\"passed\":false,\"feedback\":"
    "\"exit status 1; stdout: \\u001b[2Ja\\u009b31mb\\u0007\\u202ec\\u007f\"}}}";

static struct json *
read_noisy(struct arena *a, const struct result_run *r,
    const struct result_trial *t, struct err *e)
{
	(void)r;
	(void)t;
	(void)e;
	return read_json(a, str_of(noisy));
}

static void
check_noise(void)
{
	static const char *const kinds[] = { "csv", "github", "junit", "markdown",
		"tap" };
	static const char *const bad[] = { "\033", "\xc2\x9b", "\a",
		"\xe2\x80\xae", "\x7f" };
	struct report_opts o = { .read = read_noisy };
	struct buf b = { 0 };
	struct str s;
	size_t i, j;

	restore();
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "exit status 1; stdout: ") && is_safe(&b));
	OK(lacks(buf_str(&b), "\xc2\x9b"));
	for (i = 0; i < COUNTOF(kinds); i++) {
		s = write_report(kinds[i], &o);
		for (j = 0; j < COUNTOF(bad) && lacks(s, bad[j]); j++)
			;
		OK(s.n > 0 && j == COUNTOF(bad));
	}
	buf_free(&b);
}

/* The output of a console since the last call. */
struct screen {
	struct report_console c;
	struct event_bus bus;
	off_t at;
	int fd;
};

static struct str
seen(struct screen *s)
{
	static char text[8192];
	ssize_t n = pread(s->fd, text, sizeof(text), s->at);

	s->at += n > 0 ? n : 0;
	return (struct str){ text, n > 0 ? (size_t)n : 0 };
}

static void
open_screen(struct screen *s, enum report_level level, bool live)
{
	*s = (struct screen){ .c = { .opts = plain, .level = level,
		.live = live } };
	s->fd = open(path_of("screen"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	s->c.fd = s->fd;
	report_console_start(&s->c, &s->bus);
}

static void
close_screen(struct screen *s)
{
	report_console_end(&s->c);
	close(s->fd);
}

static void
tell(struct screen *s, enum event_type type, const char *status, double score)
{
	struct event e = { .type = type, .tasks = 2, .trials = 1, .idx = 1,
		.total = 2, .task = STR("bye"), .name = STR("Says goodbye"),
		.trial = 1, .status = str_of(status), .score = score,
		.took_ms = 120, .source.run = &run, .source.task = &tasks[1],
		.source.trial = &trials[1][0] };

	if (strcmp(status, "error") == 0) {
		e.error_class = STR("timeout");
		e.error = STR(HOSTILE);
	}
	if (type == EVENT_ERROR) {
		e.problem.file = STR("eval.yaml");
		e.problem.line = 3;
		e.problem.col = 4;
		e.problem.message = STR("bad\nthing\033");
	}
	event_emit(&s->bus, &e);
}

static void
check_console_lines(void)
{
	struct screen s;

	open_screen(&s, REPORT_NORMAL, false);
	tell(&s, EVENT_EVAL_START, "", 0);
	tell(&s, EVENT_TASK_START, "", 0);
	tell(&s, EVENT_TRIAL_START, "", 0);
	tell(&s, EVENT_TRIAL_COMPLETE, "failed", 0.5);
	OK(seen(&s).n == 0);
	tell(&s, EVENT_TASK_COMPLETE, "failed", 0.5);
	OK(str_is(seen(&s), "[1/2] ✗ Says goodbye  0.50  120ms  "
	    "expected \"bye\" in the output found none\n"));
	tell(&s, EVENT_TASK_COMPLETE, "error", 0);
	OK(str_starts(seen(&s), STR("[2/2] ! Says goodbye  0.00  120ms  timeout: ]]><script>")));
	tell(&s, EVENT_ERROR, "", 0);
	OK(str_is(seen(&s), "eval.yaml:3:4: bad thing\xEF\xBF\xBD\n"));
	tell(&s, EVENT_EVAL_COMPLETE, "failed", 0);
	OK(seen(&s).n == 0);
	close_screen(&s);

	open_screen(&s, REPORT_QUIET, false);
	tell(&s, EVENT_EVAL_START, "", 0);
	tell(&s, EVENT_TASK_COMPLETE, "failed", 0.5);
	tell(&s, EVENT_EVAL_COMPLETE, "failed", 0);
	OK(seen(&s).n == 0);
	close_screen(&s);

	open_screen(&s, REPORT_VERBOSE, false);
	tell(&s, EVENT_EVAL_START, "", 0);
	tell(&s, EVENT_TRIAL_COMPLETE, "failed", 0.5);
	OK(str_is(seen(&s), "    ✗ bye trial 1/1  0.50  120ms\n"
	    "      prompt Say bye\n      answer See you later\n"
	    "      ✓ polite 1.00 ok\n"
	    "      ✗ says-bye 0.00 expected \"bye\" in the output found none\n"));
	close_screen(&s);
}

/*
 * One line at the end of the screen, as wide as it: the least important parts
 * are left out.  Tasks that did not pass are printed above.
 */
#define B4 "░░░░"
static void
check_console_live(void)
{
	struct screen s;
	struct str t;
	size_t i;
	bool control = false;

	open_screen(&s, REPORT_NORMAL, true);
	s.c.opts.width = 60;
	tell(&s, EVENT_EVAL_START, "", 0);
	OK(str_is(seen(&s), "\033[?7l" B4 B4 "░░  0/2  0s"
	    "\033[?7h\r"));
	tell(&s, EVENT_TRIAL_START, "", 0);
	tell(&s, EVENT_TRIAL_COMPLETE, "passed", 1);
	tell(&s, EVENT_TASK_COMPLETE, "passed", 1);
	seen(&s);
	tell(&s, EVENT_TRIAL_START, "", 0);
	seen(&s);
	report_console_tick(&s.c, s.c.drawn_ms + 99);
	OK(seen(&s).n == 0);
	s.c.began_ms = s.c.drawn_ms;
	report_console_tick(&s.c, s.c.drawn_ms + 2000);
	OK(str_is(seen(&s), "\r\033[K\033[?7l█████░░░░░  1/2  2s, 2s "
	    "left  Says goodbye\033[?7h\r"));
	s.c.opts.width = 20;
	report_console_tick(&s.c, s.c.drawn_ms + 100);
	OK(str_is(seen(&s), "\r\033[K\033[?7l1/2  2s, 3s left\033[?7h\r"));
	s.c.opts.width = 8;
	report_console_tick(&s.c, s.c.drawn_ms + 100);
	OK(str_is(seen(&s), "\r\033[K\033[?7l1/2  2s\033[?7h\r"));
	s.c.opts.width = 40;
	tell(&s, EVENT_TASK_COMPLETE, "failed", 0.5);
	OK(str_starts(seen(&s), STR("\r\033[K✗ Says goodbye  expected \"bye\" "
	    "in the o…\n\033[?7l")));
	report_console_clear(&s.c);
	OK(str_is(seen(&s), "\r\033[K"));
	report_console_clear(&s.c);
	OK(seen(&s).n == 0);
	tell(&s, EVENT_ERROR, "", 0);
	t = seen(&s);
	for (i = 0; i < t.n; i++)
		control |= t.p[i] == '\033' && t.p[i + 1] != '[';
	OK(!control && str_starts(t, STR("eval.yaml:3:4: bad thing")));
	tell(&s, EVENT_EVAL_COMPLETE, "passed", 1);
	OK(str_is(seen(&s), "\r\033[K"));
	close_screen(&s);
}

/* A dumb terminal gets the lines of a file. */
static void
check_console_dumb(void)
{
	struct screen s = { .c = { .opts = plain, .live = true } };

	s.c.opts.dumb = true;
	s.fd = s.c.fd = open(path_of("screen"), O_RDWR | O_CREAT | O_TRUNC,
	    0600);
	report_console_start(&s.c, &s.bus);
	OK(!s.c.live);
	tell(&s, EVENT_EVAL_START, "", 0);
	tell(&s, EVENT_TRIAL_START, "", 0);
	report_console_tick(&s.c, 5000);
	OK(seen(&s).n == 0);
	tell(&s, EVENT_TASK_COMPLETE, "failed", 0.5);
	OK(str_is(seen(&s), "[1/2] ✗ Says goodbye  0.50  120ms  "
	    "expected \"bye\" in the output found none\n"));
	close_screen(&s);
}

static void
check_session_log(void)
{
	struct report_log l = { .opts = plain, .suite = STR("eval.yaml") };
	struct event_bus bus = { 0 };
	struct screen s = { .fd = -1 };
	struct err e = { 0 };
	struct str text, line;
	size_t lines = 0, good = 0;
	struct json *v;

	OK(report_log_start(&l, path_of("logs"), &bus, &e) == 0);
	s.bus = bus;
	s.bus.tail = &s.bus.head->next;
	tell(&s, EVENT_EVAL_START, "", 0);
	tell(&s, EVENT_TASK_START, "", 0);
	tell(&s, EVENT_TASK_PROGRESS, "", 0);
	tell(&s, EVENT_TRIAL_COMPLETE, "failed", 0.5);
	tell(&s, EVENT_TASK_COMPLETE, "failed", 0.5);
	tell(&s, EVENT_EVAL_COMPLETE, "failed", 0);
	OK(l.err.code == ERR_NONE);
	OK(os_read_file(&arena, l.path, 1 << 20, &text, &e) == 0);
	while (text.n > 0) {
		line = (struct str){ text.p, strcspn(text.p, "\n") };
		v = read_json(&arena, line);
		lines++;
		good += v != NULL && json_getc(v, "timestamp") != NULL &&
		    json_getc(v, "type") != NULL &&
		    json_getc(v, "data") != NULL;
		if (lines == 4)
			OK(str_is(json_text(json_getc(json_getc(v, "data"),
			    "grader_type")), "text"));
		text.p += line.n + 1;
		text.n -= line.n + 1;
	}
	OK(lines == 6 && good == 6);
	report_log_end(&l);
	OK(report_log_start(&l, path_of("file/x"), &bus, &e) == -1);
	report_log_end(&l);
	l = (struct report_log){ .fd = 0 };
	report_log_end(&l);
	OK(fcntl(0, F_GETFD) != -1);
}

static void
check_transcripts(void)
{
	struct report_transcripts t = { .opts = plain };
	struct event_bus bus = { 0 };
	struct event e = { .type = EVENT_TASK_COMPLETE, .source.run = &run,
		.source.task = &tasks[0] };
	struct err err = { 0 };
	struct buf stem = { 0 };
	struct str text;
	struct json *v = NULL;

	specs[0].name = STR("Hello, ../World 1_x");
	OK(report_transcripts_start(&t, path_of("t/s"), &bus, &err) == 0);
	event_emit(&bus, &e);
	OK(t.err.code == ERR_NONE);
	buf_fmt(&stem, "%s/hello-world-1_x-", path_of("t/s"));
	report_stamp(&stem, e.time_ms * 1000000, REPORT_DASH);
	buf_puts(&stem, ".json");
	buf_putc(&stem, '\0');
	OK(os_read_file(&arena, stem.p, 1 << 20, &text, &err) == 0 &&
	    (v = read_json(&arena, text)) != NULL);
	OK(str_is(json_text(json_getc(v, "task_id")), "hello"));
	OK(str_is(json_text(json_getc(v, "status")), "passed"));
	OK(str_is(json_text(json_getc(v, "prompt")), "Say hello"));
	OK(str_is(json_text(json_getc(v, "final_output")), "Hello again"));
	OK(json_count(json_getc(v, "transcript")) == 2);
	OK(json_getc(v, "error_msg") == NULL);
	event_emit(&bus, &e);	/* the same second: another name */
	OK(t.err.code == ERR_NONE);
	report_transcripts_end(&t);
	OK(report_transcripts_start(&t, path_of("file/x"), &bus, &err) == -1);
	buf_free(&stem);
	restore();
}

/* The same from a real journal, and after it was lost. */
static void
check_journal(void)
{
	struct answer answer = { .output = STR("good day\n"),
		.exit_status = -1 };
	struct verdict verdict = { .name = STR("says-bye"),
		.type = STR("text"), .weight = 1,
		.feedback = STR("no \"bye\" in it"), .spec = &graders[0] };
	struct result_run r = { .arena = &arena, .suite = &suite,
		.run_id = "run-8", .executor = STR("mock"), .trials = 1 };
	struct result_record rec = { .status = RESULT_FAILED, .task = 1,
		.attempts = 1, .duration_ms = 5, .answer = &answer,
		.verdicts = &verdict, .nverdicts = 1,
		.prompt = STR("Say bye") };
	struct report_opts o = { .verbose = true };
	struct err e = { 0 };
	struct buf b = { 0 };
	size_t i;

	result_init(&r);
	OK(result_open(&r, path_of("journal"), false, &e) == 0);
	OK(result_add(&r, &rec, &e) == 0);
	for (i = 0; i < r.ntasks; i++)
		result_end_task(&r, i);
	r.complete = r.ended = true;
	result_sum(&r);
	report_text(&b, &r, &o);
	OK(has(buf_str(&b), "✗ says-bye (text) tasks/bye.yaml:12: "
	    "no \"bye\" in it\n"));
	OK(has(buf_str(&b), "answer:\n      │ good day\n"));
	OK(has(buf_str(&b), "prompt:\n      │ Say bye\n"));
	OK(has(buf_str(&b), "4 tasks: 0 passed, 1 failed; 3 not run\n"));
	OK(truncate(path_of("journal"), 0) == 0);
	b.n = 0;
	report_text(&b, &r, &o);
	OK(has(buf_str(&b), "no details: ") && has(buf_str(&b), "0 passed, 1 failed"));
	result_close(&r);
	buf_free(&b);
}

/* Many tasks: reports for people are shortened, others are complete. */
static void
check_large(void)
{
	enum { N = 20000 };
	struct result_task *many = NEW_N(&arena, struct result_task, N);
	struct report_opts o = plain;
	struct buf b = { 0 };
	struct str s;
	size_t i;

	for (i = 0; i < N; i++)
		many[i] = tasks[i % 10 == 0];
	run.tasks = many;
	run.ntasks = N;
	report_text(&b, &run, &o);
	OK(has(buf_str(&b), "  18000 tasks that passed or did not run are not listed; use -v"));
	OK(has(buf_str(&b), "and 1975 more; use -v to show them"));
	s = write_report("tap", &o);
	OK(str_ends(s, STR("\n1..20000\n")));
	setenv("GITHUB_STEP_SUMMARY", path_of("big.md"), 1);
	write_report("github", &o);
	unsetenv("GITHUB_STEP_SUMMARY");
	s = STR("");
	os_read_file(&arena, path_of("big.md"), 1 << 20, &s, &(struct err){ 0 });
	OK(s.n > 500000 && has(s, "more tasks are not listed here") &&
	    has(s, "more did not pass."));
	buf_free(&b);
	make_run();
}

static void
check_env(void)
{
	struct report_opts o = { 0 };
	int fd = open("/dev/null", O_WRONLY);

	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("COLUMNS", "132", 1);
	report_env(&o, fd, REPORT_AUTO);
	OK(!o.ascii && !o.color && o.width == 0);
	setenv("LC_ALL", "C", 1);
	report_env(&o, fd, REPORT_AUTO);
	OK(o.ascii);
	setenv("TERM", "dumb", 1);
	report_env(&o, fd, REPORT_AUTO);
	OK(o.dumb);
	setenv("TERM", "xterm", 1);
	report_env(&o, fd, REPORT_AUTO);
	OK(!o.dumb);
	unsetenv("TERM");
	report_env(&o, fd, REPORT_AUTO);
	OK(o.dumb);
	close(fd);
}

static bool
reasons(const char *text, bool wrap, unsigned width, const char *want)
{
	struct report_opts o = { .wrap = wrap, .width = width };
	struct buf b = { 0 };

	report_reason(&b, str_of(text), "  ", &o);
	return is_text(arena_take(&arena, &b), want);
}

static void
check_reasons(void)
{
	struct buf b = { 0 };
	struct str s;
	int i;

	OK(reasons("", true, 40, ""));
	OK(reasons("one two\n  three\n", true, 40, "  one two\n    three\n"));
	OK(reasons("the first words, the second words, the third", true, 30,
	    "  the first words, the second\n  words, the third\n"));
	OK(reasons("the first words, the second words, the third", false, 30,
	    "  the first words, the second words, the third\n"));
	OK(reasons("aaaaaaaaaabbbbbbbbbbccccccccccdd", true, 22,
	    "  aaaaaaaaaabbbbbbbbbb\n  ccccccccccdd\n"));
	OK(reasons("\xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD"
	    "\xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD"
	    "\xE8\xAF\xAD\xE8\xAF\xAD", true, 22,
	    "  \xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD"
	    "\xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD\xE8\xAF\xAD"
	    "\xE8\xAF\xAD\n  \xE8\xAF\xAD\n"));
	for (i = 0; i < 5000; i++)
		buf_putc(&b, 'x');
	buf_putc(&b, '\0');
	s = str_of(b.p);
	OK(reasons(s.p, false, 0, arena_fmt(&arena, "  %.4096s\n  (904 more "
	    "bytes)\n", s.p).p));
	buf_free(&b);
}

int
main(void)
{
	struct str rm;

	if (mkdtemp(dir) == NULL)
		return 1;
	unsetenv("COLUMNS");
	unsetenv("NO_COLOR");
	unsetenv("FORCE_COLOR");
	RUN(check_words, check_random_lines, check_text, check_models,
	    check_hostile_text, check_specs, check_junit, check_csv,
	    check_tap, check_markdown, check_github, check_json_copies,
	    check_several, check_broken, check_interpret, check_metric,
	    check_groups, check_noise, check_console_lines, check_console_live,
	    check_console_dumb, check_session_log, check_transcripts,
	    check_journal, check_large, check_env, check_reasons);
	rm = arena_fmt(&arena, "rm -rf '%s'%c", dir, 0);
	OK(system(rm.p) == 0);
	arena_free(&arena);
	return tap_done();
}

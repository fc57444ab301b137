/* SPDX-License-Identifier: ISC */
/*
 * Graders: verdicts of each kind on small and hostile answers; notes about
 * settings and their places; every grader of the corpus.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os.h"
#include "grade/grader_internal.h"
#include "grader.h"
#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "lib/tmpl.h"
#include "lib/unicode.h"
#include "suite/spec.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"
#include "test/unit/grade/twice.h"
#include "yaml_lite.h"

static struct arena mem;
static struct loop *loop;
static struct procs procs;
static char dir[] = "/tmp/t_grader.XXXXXX";
static bool ended;

static struct json *
yaml(const char *text)
{
	return read_yaml(&mem, text);
}

static void
on_done(void *arg)
{
	(void)arg;
	ended = true;
}

struct with {			/* further input of a grading */
	const char *workspace;
	struct answer_call *calls;
	const char *file;
	bool cancel;
};

static struct verdict
grade_with(const char *type, const struct json *config, struct str output,
    const struct with *w)
{
	static struct spec_suite suite;
	static struct spec_task task;
	static const struct spec_def def;
	static struct spec_grader spec;
	static struct answer answer;
	static struct tmpl_vars vars;
	static struct grader_input in;
	static struct grading g;
	const struct grader_kind *kind;
	struct err e = { 0 };

	suite = (struct spec_suite){ .dir = ".", .path = "eval.yaml",
		.program_timeout = 30 };
	task = (struct spec_task){ .id = STR("t1"), .name = STR("Task"),
		.def = &def };
	spec = (struct spec_grader){ .name = STR("g"), .type = str_of(type),
		.weight = 2, .config = config };
	spec.at.file = w->file != NULL ? w->file : "eval.yaml";
	answer = (struct answer){ .output = output, .calls = w->calls };
	vars = (struct tmpl_vars){ .job_id = STR("j"),
		.task_name = STR("Task"), .timestamp = STR("now"),
		.iteration = 1, .attempt = 1,
		.vars = { yaml("{who: Ada}"), NULL } };
	in = (struct grader_input){ .suite = &suite, .task = &task,
		.answer = &answer, .workspace = w->workspace, .vars = &vars,
		.procs = &procs };
	g = (struct grading){ .in = &in, .spec = &spec, .arena = &mem,
		.done = on_done };
	ended = false;
	if (grader_start(&g) == GRADER_LATER) {
		if (w->cancel)
			grader_cancel(&g);
		while (!ended && loop_turn(loop, &e) == 1)
			;
	} else if ((kind = grader_find(spec.type)) != NULL &&
	    (kind->cancel == NULL || kind->carries)) {
		OK(twice_same(&g, in, loop, &procs));
	}
	return g.out;
}

static struct verdict
grade(const char *type, const char *config, const char *output)
{
	struct with w = { .workspace = dir };

	return grade_with(type, config != NULL ? yaml(config) : NULL,
	    str_of(output), &w);
}

static struct str
detail(struct verdict v, const char *key)
{
	struct json_mem m = { arena_hook, &mem };
	struct json_error je;
	struct json *o = json_read(&m, v.details, 0, &je);
	struct buf b = { 0 };
	struct json_out out = { .put = buf_sink, .ctx = &b };

	if (o == NULL || json_getc(o, key) == NULL)
		return STR("absent");
	json_put(&out, json_getc(o, key));
	return arena_take(&mem, &b);
}

static void
texts(void)
{
	struct verdict v = grade("text", "contains: [A, B]", "a");

	OK(near(v.score, 0.5) && !v.passed && v.weight == 2 && v.error.n == 0);
	OK(str_is(v.name, "g") && str_is(v.type, "text") && v.spec != NULL);
	OK(str_is(v.feedback, "missing \"B\" (the output is \"a\")"));
	OK(str_is(detail(v, "contains"), "[\"A\",\"B\"]"));
	OK(str_is(detail(v, "regex_match"), "null"));
	OK(has(detail(v, "failures"), "missing"));
	v = grade("text", "{}", "a");
	OK(v.passed && near(v.score, 1));
	OK(str_is(detail(v, "failures"), "null"));
	v = grade("text", NULL, "a");
	OK(v.passed && near(v.score, 1));
	v = grade("text", "regex_match: ['(']", "a");
	OK(!v.passed && near(v.score, 0) && v.error.n == 0);
	OK(has(v.feedback, "invalid pattern \"(\""));
	OK(!grade("text", "regex_match: ['^b$']", "a\nb").passed);
	OK(grade("text", "regex_match: ['(?m)^b$']", "a\nb").passed);
	v = grade("text", "{contains_cs: [Ada], not_contains_cs: [ada, ADA], "
	    "not_contains: [x], regex_not_match: ['d+']}", "ada x dd");
	OK(near(v.score, 1.0 / 5));
	OK(has(v.feedback, "missing (case-sensitive) \"Ada\""));
	OK(has(v.feedback, "unwanted \"x\" (output contains \"ada x dd\")"));
	OK(has(v.feedback, "unwanted match for \"d+\""));
	OK(has(grade("text", "contains: zebra", "").feedback, "is empty"));
	OK(has(grade("text", "contains: x", "a\033[1m\302\233\377\n").feedback,
	    "is \"a\\x1B[1m\\x9B\\xFF\\n\")"));
	v = grade("text", "contains: Ada", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\303\244");
	OK(has(v.feedback, "missing \"Ada\" (79 characters of output searched)"));
	OK(grade("text", "contains: [123, true]", "123 True").passed);
}

static void
spellings(void)
{
	struct verdict v;

	v = grade("regex", "{pattern: 'a+b', should_match: true}", "xaab");
	OK(v.passed && str_is(v.type, "regex"));
	OK(str_is(detail(v, "regex_match"), "[\"a+b\"]"));
	OK(!grade("regex", "{pattern: 'a+b', should_match: false}", "ab").passed);
	OK(grade("regex", "{pattern: 'a+b', should_match: false}", "b").passed);
	OK(near(grade("regex", "{must_match: [a, b], must_not_match: [c]}",
	    "ac").score, 1.0 / 3));
	v = grade("keyword", "{keywords: [Foo, bar], must_not_contain: [baz]}",
	    "FOO BAR");
	OK(v.passed && str_is(v.type, "keyword"));
	OK(!grade("keyword", "must_contain: qux", "FOO").passed);
	OK(!grade("keyword", "{must_contain: Foo, case_sensitive: true}",
	    "FOO").passed);
	OK(grade("text", "{pattern: ['^a'], keywords: B}", "ab").passed);
	OK(grade("text", "{type: text, name: n, contains: b}", "ab").passed);
}

static bool
lowers(const char *from, const char *to)
{
	struct buf b = { 0 };

	unicode_put_lower(&b, str_of(from));
	return is_buf(&b, to);
}

static void
letters(void)
{
	struct buf b = { 0 };
	struct str bad = { "A\0\377\303B", 5 };
	uint32_t c;
	char in[4];
	bool same = true;

	OK(lowers("Hello, W\303\226rld!", "hello, w\303\266rld!"));
	OK(lowers("\304\260I\304\261", "ii\304\261"));	/* dotted, dotless */
	OK(lowers("\341\272\236\303\237", "\303\237\303\237"));	/* sharp s */
	OK(lowers("\316\243\317\203\317\202", "\317\203\317\203\317\202"));
	OK(lowers("\307\204\307\205", "\307\206\307\206"));	/* DZ, title */
	OK(lowers("\342\204\252", "k"));			/* Kelvin */
	OK(lowers("\310\272", "\342\261\245"));		/* two become three */
	OK(lowers("\320\226\320\226", "\320\266\320\266"));
	OK(lowers("\346\274\242\345\255\227\343\201\213", "\346\274\242\345\255\227\343\201\213"));
	OK(lowers("\360\220\220\200", "\360\220\220\250"));	/* Deseret */
	OK(lowers("\342\205\243\342\222\266", "\342\205\263\342\223\220"));
	OK(lowers("@[`{\x7f", "@[`{\x7f"));
	OK(lowers("@AZ[`az{\x7f/0AZ", "@az[`az{\x7f/0az"));
	unicode_put_lower(&b, bad);
	OK(str_eq(buf_str(&b), (struct str){ "a\0\357\277\275\357\277\275b", 9 }));
	for (c = 0x4E00; c < 0xA000; c++) {	/* letters without case */
		b.n = 0;
		unicode_put_lower(&b, (struct str){ in, utf8_put(in, c) });
		same = same && b.n == 3 && memcmp(b.p, in, 3) == 0;
	}
	OK(same);
	for (c = 0; c < 0x11000; c++) {		/* idempotent */
		struct buf d = { 0 };

		if (c >= 0xD800 && c < 0xE000)
			continue;
		b.n = 0;
		unicode_put_lower(&b, (struct str){ in, utf8_put(in, c) });
		unicode_put_lower(&d, buf_str(&b));
		same = same && str_eq(buf_str(&b), buf_str(&d));
		buf_free(&d);
	}
	OK(same);
	buf_free(&b);
	OK(grade("text", "contains: ['STRASSE', '\303\226L']", "Stra\303\237e \303\266l Strasse").passed);
	OK(!grade("text", "contains: ['STRASSE']", "Stra\303\237e").passed);
}

/* Compares with a naive search, over a small alphabet. */
static void
searches(void)
{
	unsigned seed = 1, i, j;
	char text[64], needle[8];
	struct str t, n;
	size_t k, want;
	bool ok = true;

	for (i = 0; i < 20000; i++) {
		for (j = 0; j < sizeof(text); j++) {
			seed = seed * 1103515245 + 12345;
			text[j] = "ab"[seed >> 16 & 1];
		}
		for (j = 0; j < sizeof(needle); j++) {
			seed = seed * 1103515245 + 12345;
			needle[j] = "ab"[seed >> 16 & 1];
		}
		t = (struct str){ text, seed >> 8 & 63 };
		n = (struct str){ needle, 1 + (seed >> 20 & 7) };
		want = SIZE_MAX;
		for (k = 0; k + n.n <= t.n && want == SIZE_MAX; k++)
			if (memcmp(text + k, needle, n.n) == 0)
				want = k;
		ok = ok && grader_search(&mem, t, n) == want;
	}
	OK(ok);
	OK(grader_search(&mem, STR("abc"), STR("")) == 0);
	OK(grader_search(&mem, STR(""), STR("a")) == SIZE_MAX);
}

/* Texts of nearly equal letters, which make the search change to KMP. */
static void
periodic(void)
{
	enum { LONG = 4000, SHORT = 60 };
	static char text[LONG], needle[SHORT];
	unsigned seed = 7, i, j;
	size_t k, want, found = 0;
	bool ok = true;

	for (i = 0; i < 300; i++) {
		for (j = 0; j < LONG; j++) {
			seed = seed * 1103515245 + 12345;
			text[j] = (seed >> 16) % 67 == 0 ? 'b' : 'a';
		}
		memset(needle, 'a', SHORT);
		needle[(seed >> 12) % SHORT] = 'b';
		want = SIZE_MAX;
		for (k = 0; k + SHORT <= LONG && want == SIZE_MAX; k++)
			if (memcmp(text + k, needle, SHORT) == 0)
				want = k;
		found += want != SIZE_MAX;
		ok = ok && grader_search(&mem, (struct str){ text, LONG },
		    (struct str){ needle, SHORT }) == want;
	}
	OK(ok && found > 100);
}

/* Ten megabytes of any text are searched within the time limit. */
static void
floods(void)
{
	enum { BIG = 10 << 20, NEEDLE = 1 << 20 };
	struct arena a = { 0 };
	char *p = arena_raw(&a, BIG, 1), *q = arena_raw(&a, NEEDLE, 1);
	struct str big = { p, BIG }, needle = { q, NEEDLE };
	struct with w = { 0 };
	struct verdict v;
	double began = tap_cpu();

	memset(p, 'a', BIG);
	memset(q, 'a', NEEDLE);
	q[NEEDLE - 1] = 'b';
	OK(grader_search(&a, big, needle) == SIZE_MAX);
	p[BIG - 1] = 'b';
	OK(grader_search(&a, big, needle) == BIG - NEEDLE);
	memset(p, 0, BIG / 2);
	memset(p + BIG / 2, 0xFF, BIG / 2);
	memcpy(p + BIG - 6, "N\303\204dl.", 6);
	v = grade_with("text", yaml("{contains: ['n\303\244d'], not_contains: "
	    "[foo], regex_match: ['N.dl\\.$'], regex_not_match: ['a.*b']}"),
	    big, &w);
	OK(v.passed && near(v.score, 1));
	v = grade_with("text", yaml("{regex_not_match: ['(?s)^.*$'], "
	    "contains: [foo], not_contains: ['dl.']}"), big, &w);
	OK(near(v.score, 0) && v.feedback.n < 1000 && v.details.n < 2000);
	OK(tap_cpu() - began < 120);
	arena_free(&a);
}

static void
put_file(const char *name, const char *text)
{
	struct err e = { 0 };
	struct str path = arena_fmt(&mem, "%s/%s", dir, name);
	int fd = open(path.p, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	OK(fd >= 0 && os_write_all(fd, str_of(text), &e) == 0);
	os_close(&fd);
}

static const char *
in_dir(const char *name)
{
	return arena_fmt(&mem, "%s/%s", dir, name).p;
}

static void
files(void)
{
	struct verdict v;
	struct with none = { 0 };

	put_file("here.txt", "one\ntwo\n");
	OK(mkdir(in_dir("sub"), 0755) == 0);
	v = grade("file", "{must_exist: [x], content_patterns: [{path: y, "
	    "must_match: [a, b], must_not_match: [c]}]}", "");
	OK(near(v.score, 0) && !v.passed && v.error.n == 0);
	OK(str_is(detail(v, "failures"), "[\"missing file \\\"x\\\"\",\"cannot read "
	    "file \\\"y\\\": No such file or directory\",\"pattern \\\"a\\\": file "
	    "\\\"y\\\" cannot be read\",\"pattern \\\"b\\\": file \\\"y\\\" cannot be "
	    "read\",\"pattern \\\"c\\\": file \\\"y\\\" cannot be read\"]"));
	v = grade("file", "{must_exist: [x, here.txt], content_patterns: "
	    "[{path: y, must_match: [a, b], must_not_match: [c]}]}", "");
	OK(near(v.score, 1.0 / 6));
	OK(has(v.feedback, "missing file \"x\"; cannot read file \"y\""));
	OK(str_is(detail(v, "workspace_dir"), arena_fmt(&mem, "\"%s\"", dir).p));
	OK(has(detail(v, "content_patterns"), "{\"Path\":\"y\",\"MustMatch\":["));
	v = grade("file", "{must_exist: [here.txt, sub, ./sub/../here.txt], "
	    "must_not_exist: [no], content_patterns: [{path: here.txt, "
	    "must_match: ['(?m)^two$'], must_not_match: [three]}]}", "");
	OK(v.passed && near(v.score, 1));
	v = grade("file", "must_not_exist: [here.txt]", "");
	OK(has(v.feedback, "unwanted file \"here.txt\""));
	v = grade("file", "content_patterns: [{path: here.txt, must_match: "
	    "[three, '(']}]", "");
	OK(near(v.score, 1.0 / 3));
	OK(has(v.feedback, "no match for \"three\" (the file \"here.txt\" is"));
	OK(grade("file_exists", "path: here.txt", "").passed);
	OK(!grade("file_exists", "paths: [here.txt, gone]", "").passed);
	OK(str_is(grade("file_exists", "path: a", "").type, "file_exists"));
	v = grade_with("file", yaml("must_exist: [a]"), STR(""), &none);
	OK(!v.passed && near(v.score, 0) && v.error.n == 0);
	v = grade_with("file", yaml("must_not_exist: [a]"), STR(""), &none);
	OK(!v.passed && near(v.score, 0));
}

static void
escapes(void)
{
	static const char *const bad[] = { "../x", "/etc/passwd", "a/../../x",
		".", "./", "a/..", "..", "''", "sub/../..", "\"a\\0b\"" };
	static const char *const keys[] = { "must_exist", "must_not_exist",
		"path" };
	struct verdict v;
	size_t i, j, errors = 0;

	for (i = 0; i < COUNTOF(bad); i++)
		for (j = 0; j < COUNTOF(keys); j++) {
			v = grade("file", arena_fmt(&mem, "%s: [%s]", keys[j],
			    bad[i]).p, "");
			errors += v.error.n > 0 && !v.passed;
		}
	OK(errors == COUNTOF(bad) * COUNTOF(keys));
	v = grade("file", "content_patterns: [{path: ../x}]", "");
	OK(has(v.error, "path \"../x\" leads out of the workspace"));
	OK(symlink("/etc", in_dir("etc")) == 0);
	OK(symlink("here.txt", in_dir("link")) == 0);
	OK(symlink("nowhere", in_dir("dangling")) == 0);
	OK(symlink("round", in_dir("round")) == 0);
	OK(symlink(in_dir("sub"), in_dir("inward")) == 0);
	OK(mkfifo(in_dir("pipe"), 0600) == 0);
	OK(has(grade("file", "must_exist: [etc/passwd]", "").error, "symbolic link"));
	OK(has(grade("file", "must_exist: [etc]", "").error, "symbolic link"));
	OK(has(grade("file", "must_not_exist: [etc/no/such]", "").error, "link"));
	OK(grade("file", "must_exist: [link, inward]", "").passed);
	OK(!grade("file", "must_exist: [inward/none]", "").passed);
	OK(!grade("file", "must_exist: [dangling]", "").passed);
	OK(!grade("file", "must_exist: [here.txt/below]", "").passed);
	v = grade("file", "content_patterns: [{path: pipe, must_match: [a]}, "
	    "{path: sub}, {path: round}]", "");
	OK(near(v.score, 0) && v.error.n == 0);
	OK(truncate(in_dir("here.txt"), (16 << 20) + 1) == 0);
	v = grade("file", "content_patterns: [{path: here.txt}]", "");
	OK(has(v.error, "larger than 16 MiB"));
}

/* An agent that removed or replaced its workspace. */
static void
lost_workspaces(void)
{
	struct with w = { .workspace = in_dir("ws") };
	const struct json *want = yaml("must_exist: [x]");
	const struct json *ban = yaml("must_not_exist: [x]");
	struct verdict v;

	v = grade_with("file", want, STR(""), &w);
	OK(!v.passed && str_is(v.error, "the workspace was removed"));
	v = grade_with("file", ban, STR(""), &w);
	OK(!v.passed && str_is(v.error, "the workspace was removed"));
	OK(symlink("sub", w.workspace) == 0);
	v = grade_with("file", ban, STR(""), &w);
	OK(!v.passed && str_is(v.error, "the workspace was replaced by a symbolic link"));
	OK(unlink(w.workspace) == 0);
	put_file("ws", "");
	v = grade_with("file", ban, STR(""), &w);
	OK(!v.passed && has(v.error, "no longer a directory"));
	OK(unlink(w.workspace) == 0 && mkdir(w.workspace, 0755) == 0);
	OK(grade_with("file", ban, STR(""), &w).passed);
	OK(rmdir(w.workspace) == 0);
}

static void
templates(void)
{
	struct verdict v;

	OK(grade("text", "contains: 'hello {{.Vars.who}}'", "Hello ADA").passed);
	OK(!grade("text", "contains: 'hello {{.Vars.who}}'", "Hello Bob").passed);
	OK(grade("regex", "pattern: '^{{.TaskName}}$'", "Task").passed);
	v = grade("text", "contains: '{{.Vars.nobody}}'", "x");
	OK(!v.passed && has(v.error, "template: "));
	OK(str_eq(v.error, v.feedback));
	put_file("Ada.md", "by Ada");
	v = grade("file", "content_patterns: [{path: '{{.Vars.who}}.md', "
	    "must_match: ['by {{.Vars.who}}']}]", "");
	OK(v.passed && has(v.details, "Ada.md"));
}

static void
programs(void)
{
	struct verdict v;
	struct with w = { .workspace = dir };
	struct arena a = { 0 };
	char *big;

	v = grade("program", "{command: printf, args: [' ok \\n']}", "");
	OK(v.passed && near(v.score, 1) && str_is(v.feedback, "ok"));
	OK(str_is(detail(v, "stdout"), "\"ok\"") && has(v.details, "\"command\":\"printf\""));
	OK(str_is(detail(v, "exit_error"), "absent"));
	v = grade("program", "command: 'true'", "");
	OK(v.passed && v.feedback.n > 0 && str_is(detail(v, "args"), "null"));
	v = grade("program", "{command: sh, args: [-c, 'echo bad >&2; exit 3']}", "");
	OK(!v.passed && near(v.score, 0) && v.error.n == 0);
	OK(str_is(v.feedback, "exit status 3; stderr: bad"));
	OK(str_is(detail(v, "exit_error"), "\"exit status 3\""));
	v = grade("program", "{command: sh, args: [-c, 'echo no; exit 1']}", "");
	OK(str_is(v.feedback, "exit status 1; stdout: no"));
	v = grade("program", "{command: sh, args: [-c, 'kill -9 $$']}", "");
	OK(!v.passed && str_is(v.error, "program sh: killed by signal 9"));
	OK(str_is(detail(v, "exit_error"), "\"killed by signal 9\""));
	v = grade("program", "{command: sh, args: [-c, 'exit 255']}", "");
	OK(!v.passed && v.error.n == 0);
	v = grade("program", "{command: env, args: [no-such-program-anywhere]}", "");
	OK(has(v.error, "program env: exit status 127; stderr: "));
	v = grade("program", "{command: sh, args: [-c, '/']}", "");
	OK(has(v.error, "program sh: exit status 126; stderr: "));
	v = grade("program", "{command: sh, args: [-c, 'test \"$(cat)\" = "
	    "hello && test \"$WAZA_TASK_ID\" = t1 && echo "
	    "$WAZA_WORKSPACE_DIR $WAZA_WORKSPACE']}", "hello");
	OK(str_is(v.feedback, arena_fmt(&mem, "%s %s", dir, dir).p));
	v = grade("program", "command: no-such-program-anywhere", "");
	OK(!v.passed && has(v.error, "no-such-program-anywhere"));
	v = grade("program", "{command: ./none/such}", "");
	OK(v.error.n > 0);

	/* blocked on a pipe without a writer */
	v = grade_with("program", yaml("{command: sh, args: [-c, 'read x "
	    "<$WAZA_WORKSPACE/pipe'], timeout: 0.1}"), STR(""), &w);
	OK(!v.passed && has(v.error, "program sh: timed out after 0.1 s; \"timeout\" "));
	w.cancel = true;
	v = grade_with("program", yaml("{command: sh, args: [-c, 'read x "
	    "<$WAZA_WORKSPACE/pipe']}"), STR(""), &w);
	OK(str_is(v.error, "cancelled") && !v.passed);
	w.cancel = false;

	/* large input and output */
	big = arena_raw(&a, 256 << 10, 1);
	memset(big, 'x', 256 << 10);
	v = grade_with("program", yaml("{command: cat}"),
	    (struct str){ big, 256 << 10 }, &w);
	OK(v.passed && v.details.n > 1000 && v.details.n < 70000);
	OK(v.feedback.n > 60000 && v.feedback.n < REASON_MAX);
	OK(str_ends(v.feedback, STR("xxx... (200704 more bytes)")));
	v = grade_with("program", yaml("{command: 'true'}"),
	    (struct str){ big, 256 << 10 }, &w);
	OK(v.passed);
	arena_free(&a);

	/* script beside the file that names it */
	put_file("judge.sh", "#!/bin/sh\necho beside \"$1\"\n");
	w.file = in_dir("task.yaml");
	v = grade_with("program", yaml("{command: ./judge.sh, args: [judge.sh]}"),
	    STR(""), &w);
	OK(str_is(v.feedback, "beside judge.sh"));
	v = grade_with("program", yaml("{command: sh, args: [judge.sh, a]}"),
	    STR(""), &w);
	OK(str_is(v.feedback, "beside a"));
}

/* The notes of one grader, as lines. */
static struct str
noted(const char *type, const char *config, bool strict)
{
	struct spec_notes notes = { .arena = &mem, .strict = strict };
	struct spec_grader g = { .type = str_of(type), .name = STR("g"),
		.weight = 1, .at = { "eval.yaml", 7, 3 } };
	struct spec_def def = { .rows = NULL };
	struct spec_task tasks[2] = {
		{ .id = STR("a"), .name = STR("a"), .def = &def,
		    .row = yaml("{x: a, y: b}") },
		{ .id = STR("b"), .name = STR("b"), .def = &def,
		    .row = yaml("{x: (}") } };
	struct spec_suite suite = { .dir = ".", .tasks = tasks, .ntasks = 2,
		.graders = { &g, 1 } };
	const struct spec_note *n;
	struct buf b = { 0 };

	g.config = config != NULL ? yaml(config) : NULL;
	grader_check(&suite, &notes);
	for (n = notes.head; n != NULL; n = n->next)
		buf_fmt(&b, "%s:%u:%u: %s: %s\n", n->at.file, n->at.line,
		    n->at.col, n->level == FIELD_ERROR ? "error" : "warning",
		    n->msg);
	return arena_take(&mem, &b);
}

static void
checks(void)
{
	OK(noted("text", "contains: [a]", true).n == 0);
	OK(noted("text", "{type: text, name: x, weight: 2, contains: a}", true).n == 0);
	OK(has(noted("text", "{}", false), "eval.yaml:7:3: error: this grader checks nothing"));
	OK(has(noted("text", NULL, false), "checks nothing"));
	OK(has(noted("text", "contains: []", false), "checks nothing"));
	OK(has(noted("text", "contains: ['']", false), "checks nothing"));
	OK(has(noted("text", "contains: [a, '']", false),
	    "eval.yaml:1:15: warning: every output contains the empty string"));
	OK(has(noted("text", "regex_match:\n  - a\n  - '('\n", false),
	    "eval.yaml:3:5: error: invalid pattern \"(\": "));
	OK(has(noted("regex", "pattern: '(?=x)'", false), "eval.yaml:1:10: error"));
	OK(has(noted("text", "{contains: [a], not_contain: [b]}", false),
	    "warning: unknown key \"not_contain\" (did you mean \"not_contains\"?)"));
	OK(has(noted("text", "{contains: [a], not_contain: [b]}", true), "error: unknown key"));
	OK(has(noted("text", "contains: {a: b}", false), "error: \"contains\" must be"));
	OK(has(noted("text", "[a]", false), "error: expected a mapping"));
	OK(has(noted("txet", "contains: [a]", false),
	    "unknown grader type \"txet\" (did you mean \"text\"? kinds: action_sequence, "));
	OK(has(noted("nonsense", "{}", false), "unknown grader type \"nonsense\" (kinds: "));
	OK(has(noted("contains", "{}", false),
	    "unknown grader type \"contains\": write type \"text\" with contains_cs"));
	OK(has(noted("LLM_Judge", "{}", false),
	    "unknown grader type \"LLM_Judge\": write type \"prompt\""));
	OK(has(noted("", "{}", false), "a grader needs a type"));
	OK(has(noted("file", "{}", false), "checks nothing"));
	OK(has(noted("file", "must_exist: [a, ../b]", false),
	    "eval.yaml:1:17: error: path \"../b\" leads out"));
	OK(has(noted("file", "content_patterns: [{must_match: a}]", false), "Missing required field: path"));
	OK(has(noted("file", "content_patterns: [{path: a, must_match: '('}]", false),
	    "eval.yaml:1:42: error: invalid pattern"));
	OK(has(noted("file_exists", "path: /a", false), "not relative"));
	OK(has(noted("program", "args: [a]", false), "Missing required field: command"));
	OK(has(noted("program", "command: ''", false), "\"command\" is empty"));
	OK(noted("program", "{command: sh, args: [a], timeout: 5}", true).n == 0);
	OK(has(noted("text", "contains: '{{.Vars.none}}'", false), "eval.yaml:1:11: error: template: "));
	OK(has(noted("text", "contains: '{{.Vars.y}}'", false), "error: template: "));
	OK(has(noted("text", "contains: ['']", false), "checks nothing"));
	OK(has(noted("text", "contains: [a, '']", false),
	    "eval.yaml:1:15: warning: every output contains the empty string"));
	OK(has(noted("text", "regex_match: '{{.Vars.x}}'", false), "error: invalid pattern \"(\""));
	OK(noted("text", "contains: '{{.Vars.x}}'", false).n == 0);
}

/* The verdicts of an `expected:`, as "name score;" and the feedback. */
static struct str
expect(const struct spec_expected *x, struct answer *answer)
{
	struct spec_suite suite = { .skill = STR("my-skill") };
	struct spec_def def = { .expected = x };
	struct spec_task task = { .id = STR("t"), .def = &def };
	struct tmpl_vars vars = { .task_name = STR("Task"),
		.vars = { yaml("{who: Ada}"), NULL } };
	struct grader_input in = { .suite = &suite, .task = &task,
		.answer = answer, .vars = &vars, .duration_ms = 500 };
	struct grading g = { .in = &in, .arena = &mem };
	struct verdict *v;
	struct buf b = { 0 };
	size_t i, n;

	OK(grader_start(&g) == GRADER_DONE);
	v = g.expected;
	n = g.nexpected;
	for (i = 0; i < n; i++) {
		OK(v[i].weight == 1 && v[i].type.n == 0 && v[i].spec == NULL);
		OK(v[i].error.n > 0 || v[i].passed == near(v[i].score, 1));
		buf_fmt(&b, "%.*s %s%.3f %.*s%.*s\n", STRF(v[i].name),
		    v[i].skipped ? "skipped " : "", v[i].score,
		    STRF(v[i].feedback), STRF(v[i].error));
	}
	return arena_take(&mem, &b);
}

#define NO_LIMITS { -1, -1, -1, -1, { NULL, 0 }, { NULL, 0 } }

/* An answer with two calls, "bash" and "rm". */
struct two_calls {
	struct answer_call c1, c2;
	struct answer a;
};

static void
answer_twice(struct two_calls *w)
{
	*w = (struct two_calls){
		.c1 = { .next = &w->c2, .name = STR("bash"),
		    .arguments = STR("{\"command\":\"azd up\"}") },
		.c2 = { .name = STR("rm"), .arguments = STR("{}") },
		.a = { .output = STR("ADA Byron"), .calls = &w->c1,
		    .ncalls = 2 },
	};
}

static const struct spec_expected none = { .behavior = NO_LIMITS };

static void
expected_outputs(void)
{
	struct str ab[2] = { STR("Ada"), STR("{{.Vars.who}} L") };
	struct str no[1] = { STR("{{.Vars.no}}") };
	struct spec_expected x = none;
	struct two_calls w;
	struct str s;

	answer_twice(&w);
	OK(expect(NULL, &w.a).n == 0);
	OK(expect(&x, &w.a).n == 0);
	x.output_contains = (struct field_strs){ ab, 2 };
	x.output_not_contains = (struct field_strs){ ab, 2 };
	x.output_contains_any = (struct field_strs){ ab, 2 };
	s = expect(&x, &w.a);
	OK(has(s, "_output_contains 0.500 missing \"Ada L\" (the output is"));
	OK(has(s, "_output_not_contains 0.500 unwanted \"Ada\" (output contains \"ADA"));
	OK(has(s, "_output_contains_any 1.000 "));
	w.a.output = STR("Bob");
	OK(has(expect(&x, &w.a), "_output_contains_any 0.000 the output contains none of \"Ada\", \"Ada L\""));
	x = none;
	x.output_contains = (struct field_strs){ no, 1 };
	OK(has(expect(&x, &w.a), "_output_contains 0.000 template: "));
}

static void
expected_behavior(void)
{
	struct str tools[2] = { STR("bash"), STR("view") }, rm[1] = { STR("rm") };
	struct spec_expected x = none;
	struct two_calls w;
	struct str s;

	answer_twice(&w);
	x.behavior.max_tool_calls = 2;
	x.behavior.max_tokens = 10;
	x.behavior.max_iterations = 1;
	x.behavior.max_response_time_ms = 499;
	x.behavior.required_tools = (struct field_strs){ tools, 2 };
	x.behavior.forbidden_tools = (struct field_strs){ rm, 1 };
	s = expect(&x, &w.a);
	OK(has(s, "_behavior 0.400 500 ms until the answer, at most 499 expected; "
	    "required tool \"view\" was not called (called: \"bash\", \"rm\"); "
	    "forbidden tool \"rm\" was called (1 of 2 calls); not checked: the "
	    "agent does not report turns, tokens; calls: bash, rm\n"));
	w.a.usage = (struct answer_usage){ .known = true, .turns_known = true,
		.turns = 2, .input_tokens = 6, .output_tokens = 5 };
	s = expect(&x, &w.a);
	OK(has(s, "2 turns, at most 1") && has(s, "11 tokens, at most 10"));
	x = none;
	x.behavior.max_tool_calls = 0;
	OK(has(expect(&x, &w.a), "_behavior 0.000 2 tool calls, at most 0"));
}

static void
expected_outcomes(void)
{
	struct spec_expected x = none;
	struct two_calls w;

	answer_twice(&w);
	x.outcomes = yaml("[{type: task_completed}, {type: tool_called, "
	    "tool_name: bash}, {type: tool_called, tool_name: x}, {type: odd}]");
	OK(has(expect(&x, &w.a), "_outcomes 0.667 tool \"x\" was not called"));
	w.a.fault = ANSWER_FAILED;
	w.a.error = STR("crashed");
	OK(has(expect(&x, &w.a), "_outcomes 0.333 the task was not completed: \"crashed\""));
}

static void
expected_calls(void)
{
	struct spec_expected x = none;
	struct two_calls w;

	answer_twice(&w);
	x.tool_calls = yaml("{required: [{pattern: 'azd (up|down)'}, {pattern: "
	    "none}, bash, {tool: rm}], forbidden: [{pattern: '^rm '}, {tool: cp}]}");
	OK(has(expect(&x, &w.a), "_tool_calls 0.667 no call matches \"none\" (2 tool calls); "
	    "forbidden call matches \"^rm \""));

	x = none;
	x.tool_calls = yaml("{required: [shell], forbidden: [{pattern: 'shell azd'}]}");
	w.c1.tool = ANSWER_SHELL;
	w.c1.command = STR("azd up");
	OK(has(expect(&x, &w.a), "_tool_calls 0.500 forbidden call matches \"shell azd\""));
	/* under the names of other agents' tools, too, but not by their parts */
	w.c1.name = STR("run_it");
	x.tool_calls = yaml("{forbidden: [{pattern: '^bash azd'}, {pattern: "
	    "'^Bash$|^local_shell '}, {pattern: 'exec_comm'}]}");
	OK(has(expect(&x, &w.a), "_tool_calls 0.333 forbidden call matches \"^bash azd\" "
	    "(2 tool calls); forbidden call matches \"^Bash$|^local_shell \""));
	w.c1.name = STR("bash");
	x.tool_calls = yaml("{forbidden: [{tool: bash, pattern: 'rm'}]}");
	w.c1.no_arguments = true;
	OK(has(expect(&x, &w.a), "_tool_calls 1.000"));
	w.c1.command = STR("");
	OK(has(expect(&x, &w.a), "_tool_calls 0.000 cannot be checked: the agent "
	    "does not report arguments"));
	w.a.no_calls = true;
	w.a.calls = NULL;
	w.a.ncalls = 0;
	OK(has(expect(&x, &w.a), "cannot be checked: the agent does not report tool calls"));
	x.outcomes = yaml("[{type: tool_called, tool_name: bash}]");
	OK(has(expect(&x, &w.a), "_outcomes 0.000 cannot be checked: "));
	w.a.no_calls = false;
}

static void
expected_skills(void)
{
	struct str tools[2] = { STR("bash"), STR("view") };
	struct spec_expected x = none;
	struct two_calls w;

	answer_twice(&w);
	x.trigger_given = x.should_trigger = true;
	OK(has(expect(&x, &w.a), "_skill skipped"));
	w.a.skills = (struct field_strs){ tools, 2 };
	OK(has(expect(&x, &w.a), "_skill 0.000 skill \"my-skill\" was not used"));
	x.should_trigger = false;
	OK(has(expect(&x, &w.a), "_skill 1.000"));
}

static void
expectations(void)
{
	expected_outputs();
	expected_behavior();
	expected_outcomes();
	expected_calls();
	expected_skills();
}

static struct str
expected_notes(struct spec_expected *x)
{
	struct spec_notes notes = { .arena = &mem };
	struct spec_def def = { .expected = x };
	struct spec_task tasks[2] = {
		{ .id = STR("a"), .def = &def, .at = { "a.yaml", 1, 1 } },
		{ .id = STR("b"), .def = &def, .at = { "b.yaml", 1, 1 } } };
	struct spec_suite suite = { .dir = ".", .tasks = tasks, .ntasks = 2,
		.config.executor = STR("mock") };
	const struct spec_note *n;
	struct buf b = { 0 };

	grader_check(&suite, &notes);
	for (n = notes.head; n != NULL; n = n->next)
		buf_fmt(&b, "%s:%u:%u: %s: %s\n", n->at.file, n->at.line,
		    n->at.col, n->level == FIELD_ERROR ? "error" : "warning",
		    n->msg);
	return arena_take(&mem, &b);
}

static void
expected_checks(void)
{
	struct str no[1] = { STR("{{.Nothing}}") };
	struct str empty[2] = { STR(""), STR("a") };
	struct spec_expected x = none;

	OK(str_is(expected_notes(NULL), "a.yaml:1:1: warning: this task has no graders: its "
	    "trials will end as errors\nb.yaml:1:1: warning: this task has no graders: its "
	    "trials will end as errors\n"));
	OK(has(expected_notes(&x), "a.yaml:1:1: warning: this task has no graders"));
	x.outcomes = yaml("[{type: odd}]");
	OK(has(expected_notes(&x), "b.yaml:1:1: warning: this task has no graders"));
	x = none;
	x.behavior.max_tokens = 0;
	OK(expected_notes(&x).n == 0);
	x = none;
	x.tool_calls = yaml("{required: [], forbidden: [a]}");
	OK(expected_notes(&x).n == 0);
	x = none;
	x.outcomes = yaml("- type: task_completed\n- type: file_made\n");
	OK(str_is(expected_notes(&x), "a.yaml:2:9: warning: outcome \"file_made\" has no "
	    "effect: it is not supported\n"));
	x.outcomes = yaml("[a, {type: tool_called}]");
	OK(has(expected_notes(&x), "without \"tool_name\""));
	x = none;
	x.tool_calls = yaml("{required: [{pattern: '('}, {}], other: []}");
	OK(has(expected_notes(&x), "a.yaml:1:23: error: invalid pattern"));
	OK(has(expected_notes(&x), "\"pattern\" or \"tool\" is missing"));
	OK(has(expected_notes(&x), "only the lists \"required\" and"));
	x.tool_calls = yaml("[a]");
	OK(has(expected_notes(&x), "not a mapping"));
	x = none;
	x.output_contains = (struct field_strs){ no, 1 };
	OK(has(expected_notes(&x), "a.yaml:1:1: error: template: "));
	x.output_contains = (struct field_strs){ empty, 2 };
	OK(has(expected_notes(&x), "warning: \"output_contains\" has an empty string"));
	x.output_contains_any = x.output_contains;
	OK(has(expected_notes(&x), "error: \"output_contains_any\" checks nothing"));
	x = none;
	x.output_contains = (struct field_strs){ empty, 1 };
	OK(has(expected_notes(&x), "a.yaml:1:1: error: \"output_contains\" checks nothing"));
	x = none;
	x.activated_given = true;
	OK(has(expected_notes(&x), "\"skill_activated\" is skipped with executor \"mock\""));
	OK(!has(expected_notes(&x), "this task has no graders"));
}

/* The warnings of a whole suite. */
static struct str
suite_notes(const struct spec_suite *suite)
{
	struct spec_notes notes = { .arena = &mem };
	const struct spec_note *n;
	struct buf b = { 0 };

	grader_check(suite, &notes);
	for (n = notes.head; n != NULL; n = n->next)
		spec_note_put(&b, n);
	return arena_take(&mem, &b);
}

static void
suite_checks(void)
{
	struct spec_metric m[] = {
	    { .enabled = true },
	    { .enabled = true, .at = { "eval.yaml", 5, 3 } },
	    { .enabled = true, .at = { "eval.yaml", 6, 3 } },
	    { .enabled = false } };
	struct spec_def def = { .rows = NULL };
	struct spec_task rows[3] = {
	    { .def = &def, .at = { "t.csv", 2, 1 } },
	    { .def = &def, .at = { "t.csv", 3, 1 } },
	    { .def = &def, .at = { "eval.yaml", 9, 5 } } };
	struct spec_suite suite = { .dir = ".", .path = "eval.yaml",
	    .metrics = { m, COUNTOF(m) } };
	struct str s;

	/* not as initializers: tcc rejects nested literals */
	m[0].name = STR("task_completion");
	m[1].name = STR("behavior_quality");
	m[2].name = STR("trigger_accuracy");
	m[3].name = STR("other");
	rows[0].id = STR("1");
	rows[0].row = yaml("{a: 1}");
	rows[1].id = STR("2");
	rows[1].row = yaml("{a: 2}");
	rows[2].id = STR("3");
	s = suite_notes(&suite);
	OK(has(s, "eval.yaml:5:3: warning: metric \"behavior_quality\" has no "
	    "effect: it is not supported\n"));
	OK(has(s, "eval.yaml:6:3: warning: metric \"trigger_accuracy\" has no "
	    "effect without trigger tests"));
	OK(grader_search(&mem, s, STR("other")) == SIZE_MAX);
	OK(grader_search(&mem, s, STR("task_completion")) == SIZE_MAX);
	suite = (struct spec_suite){ .dir = ".", .tasks = rows, .ntasks = 3 };
	OK(str_is(suite_notes(&suite), "t.csv:2:1: warning: this task has no graders: its "
	    "trials will end as errors\neval.yaml:9:5: warning: this task has no graders: its "
	    "trials will end as errors\n"));
}

struct wild {
	size_t files, ours, accepted, others;
	size_t absent;		/* name a file that was not collected */
};

static void
wild_grader(struct wild *w, const char *file, const struct json *v)
{
	struct arena tmp = { 0 };
	struct spec_notes notes = { .arena = &tmp };
	const struct json *type = json_getc(v, "type");
	struct spec_grader g = { .weight = 1, .at = { file, 0, 0 } };
	struct spec_suite suite = { .dir = ".", .graders = { &g, 1 } };
	const struct spec_note *n;

	if (type == NULL || type->type != JSON_STRING)
		return;
	suite.config.executor = STR("copilot-sdk");
	g.type = json_text(type);
	g.config = json_getc(v, "config");
	g.config = g.config != NULL ? g.config : v;
	if (grader_find(g.type) == NULL) {
		w->others++;
		return;
	}
	grader_check(&suite, &notes);
	w->ours++;
	w->accepted += notes.errors == 0;
	w->absent += notes.errors == 1 && str_ends(str_of(notes.last->msg),
	    STR("schema.json: No such file or directory"));
	for (n = notes.head; n != NULL; n = n->next)
		printf("# %s: %.*s: %s\n", file, STRF(g.type), n->msg);
	arena_free(&tmp);
}

static void
wild_tree(struct wild *w, const char *file, const struct json *v)
{
	const struct json *c, *g;

	if (v->type != JSON_OBJECT && v->type != JSON_ARRAY)
		return;
	for (c = json_first(v); c != NULL; c = c->next) {
		if (json_key(c).p != NULL && str_is(json_key(c), "graders") &&
		    c->type == JSON_ARRAY)
			for (g = json_first(c); g != NULL; g = g->next)
				wild_grader(w, file, g);
		wild_tree(w, file, c);
	}
}

static void
wild_file(struct wild *w, const char *path)
{
	struct arena a = { 0 };
	struct json_mem m = { arena_hook, &a };
	struct json_error je;
	struct err e = { 0 };
	struct json *v;
	struct str text;

	if (os_read_file(&a, path, 16 << 20, &text, &e) == 0 &&
	    (v = json_read(&m, text, 0, &je)) != NULL) {
		w->files++;
		wild_tree(w, path, v);
	}
	arena_free(&a);
}

/* Paths in these suites are often relative to the root of their repository. */
static void
wild_dir(struct wild *w, const char *path, bool enter)
{
	DIR *d = opendir(path);
	struct dirent *e;
	struct stat st;
	struct str p;

	if (d == NULL)
		return;
	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		p = arena_fmt(&mem, "%s/%s", path, e->d_name);
		if (lstat(p.p, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode) && enter) {
			OK(chdir(e->d_name) == 0);
			wild_dir(w, ".", false);
			OK(chdir("..") == 0);
		} else if (S_ISDIR(st.st_mode)) {
			wild_dir(w, p.p, false);
		} else if (str_ends(p, STR(".yaml.json"))) {
			wild_file(w, p.p);
		}
	}
	closedir(d);
}

/* The graders of the corpus that are refused, and why. */
static void
wild(void)
{
	const char *corpus = getenv("CORPUS");
	struct wild w = { 0 };
	struct str p;
	int here = open(".", O_RDONLY);

	p = arena_fmt(&mem, "%s/waza-wild",
	    corpus != NULL ? corpus : "../shared/corpus");
	if (here < 0 || chdir(p.p) != 0) {
		SKIP("no suites from the wild here");
	} else {
		wild_dir(&w, ".", true);
		printf("# %zu files: %zu graders, %zu accepted, %zu of other "
		    "kinds\n", w.files, w.ours, w.accepted, w.others);
		OK(w.ours > 500 && w.others == 0);
		OK(w.accepted + w.absent == w.ours && w.absent <= 3);
		OK(fchdir(here) == 0);
	}
	os_close(&here);
}

static void
tidy(void)
{
	static const char *const names[] = { "here.txt", "Ada.md", "judge.sh",
		"etc", "link", "dangling", "round", "inward", "pipe" };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++)
		unlink(in_dir(names[i]));
	rmdir(in_dir("sub"));
	OK(rmdir(dir) == 0);
}

int
main(void)
{
	struct err e = { 0 };

	if (os_init(&e) != 0 || mkdtemp(dir) == NULL ||
	    (loop = loop_new(NULL, &e)) == NULL)
		return 2;
	procs_init(&procs, loop, false);
	RUN(texts, spellings, letters, searches, periodic, files,
	    escapes, lost_workspaces, templates, programs, checks, expectations,
	    expected_checks, suite_checks, wild);
	RUN_LARGE(floods);
	RUN(tidy);
	procs_fini(&procs);
	loop_free(loop);
	arena_free(&mem);
	return tap_done();
}

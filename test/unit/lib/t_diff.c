/* SPDX-License-Identifier: ISC */
/*
 * Unified diffs: their exact form; applying them to one text gives the other,
 * for thousands of pairs; they are as short as possible; large and hostile
 * texts finish in time.  The diff grader: its number of checks, its feedback,
 * where snapshots are and when they are written.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/base.h"
#include "base/os.h"
#include "grade/grader_internal.h"
#include "grader.h"
#include "lib/diff.h"
#include "lib/diff_internal.h"
#include "lib/tmpl.h"
#include "suite/spec.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"
#include "test/unit/lib/patch.h"
#include "yaml_lite.h"

static struct arena mem;
static uint32_t seed = 1;

static uint32_t
dice(uint32_t sides)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % sides;
}

static struct str
diff(struct str a, struct str b, size_t context)
{
	struct diff_opts o = { .context = context };
	struct buf out = { 0 };
	struct str s;

	diff_unified(&out, a, b, &o);
	s = arena_str(&mem, buf_str(&out));
	buf_free(&out);
	return s;
}

static bool
gives(const char *a, const char *b, const char *want)
{
	struct str got = diff(str_of(a), str_of(b), DIFF_CONTEXT);

	if (str_is(got, want))
		return true;
	printf("# got: %.*s\n", STRF(got));
	return false;
}

static void
forms(void)
{
	struct diff_opts o = { .from = STR("a/x"), .to = STR("b/x"),
		.context = 1 };
	struct buf out = { 0 };

	OK(gives("", "", ""));
	OK(gives("a\n", "a\n", ""));
	OK(gives("a", "a", ""));
	OK(gives("", "a\n", "@@ -0,0 +1 @@\n+a\n"));
	OK(gives("a\n", "", "@@ -1 +0,0 @@\n-a\n"));
	OK(gives("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"));
	OK(gives("", "\n", "@@ -0,0 +1 @@\n+\n"));
	OK(gives("a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n"));
	OK(gives("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"));
	OK(gives("a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"));
	OK(gives("a", "b", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n"
	    "+b\n\\ No newline at end of file\n"));
	OK(gives("a\nz", "b\nz", "@@ -1,2 +1,2 @@\n-a\n+b\n z\n"
	    "\\ No newline at end of file\n"));
	OK(gives("a\nz", "a\nz\n", "@@ -1,2 +1,2 @@\n a\n-z\n"
	    "\\ No newline at end of file\n+z\n"));
	OK(gives("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
	    "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"));
	OK(gives("a\r\nb\r\n", "a\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"));
	OK(gives("\377\n", "\376\n", "@@ -1 +1 @@\n-\377\n+\376\n"));
	/* seven equal lines between changes: two hunks; six: one */
	OK(gives("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
	    "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n"
	    "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"));
	OK(gives("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
	    "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"));
	/* of a run of equal lines, the last one is the added one */
	OK(gives("{\n}\n\n{\n}\n", "{\n}\n\n{\n}\n\n{\n}\n",
	    "@@ -3,3 +3,6 @@\n \n {\n }\n+\n+{\n+}\n"));
	OK(str_is(diff(STR("a\nb\nc\n"), STR("a\nc\n"), 0), "@@ -2 +1,0 @@\n-b\n"));
	OK(str_is(diff(STR("a\nc\n"), STR("a\nb\nc\n"), 0), "@@ -1,0 +2 @@\n+b\n"));
	OK(str_is(diff(STR("a\nb\n"), STR("a\nc\n"), SIZE_MAX),
	    "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"));
	OK(str_is(diff(STR("a\0b\n"), STR("a\0c\n"), 0), "@@ -1 +1 @@\n-a") == 0);
	OK(diff(STR("a\0b\n"), STR("a\0c\n"), 0).n == strlen("@@ -1 +1 @@\n-a.b\n+a.c\n"));
	OK(diff_unified(&out, STR("a\nb\n"), STR("a\nc\nd\n"), &o) == 3);
	OK(str_is(buf_str(&out), "--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"));
	OK(diff_unified(&out, (struct str){ NULL, 0 }, STR(""), &o) == 0);
	OK(diff_unified(&out, STR("a"), (struct str){ NULL, 0 }, &o) == 1);
	buf_free(&out);
}

static void
cuts(void)
{
	struct diff_opts o = { .context = 3, .max = 400 };
	struct buf out = { 0 }, b = { 0 };
	int i;

	for (i = 0; i < 1000; i++)
		buf_fmt(&b, "line %d\n", i);
	OK(diff_unified(&out, STR(""), buf_str(&b), &o) == 1000);
	OK(out.n > 300 && out.n < 500);
	OK(str_starts(buf_str(&out), STR("@@ -0,0 +1,1000 @@\n+line 0\n+line 1\n")));
	OK(str_ends(buf_str(&out), STR(" bytes left out\n")));
	out.n = b.n = 0;
	for (i = 0; i < 10000; i++)	/* one long line */
		buf_puts(&b, "\342\202\254");
	OK(diff_unified(&out, STR("short\n"), buf_str(&b), &o) == 2);
	OK(out.n < 500 && utf8_valid(buf_str(&out)));
	OK(str_ends(buf_str(&out), STR("...\n... 0 lines, 29901 bytes left out\n")));
	buf_free(&out);
	buf_free(&b);
}

/* Few different lines, so that many match; the last may lack its newline. */
static struct str
random_text(uint32_t lines, uint32_t kinds)
{
	struct buf b = { 0 };
	struct str s;
	uint32_t i, n = dice(lines + 1);

	for (i = 0; i < n; i++) {
		buf_putc(&b, (char)('a' + dice(kinds)));
		if (dice(8) == 0)
			buf_puts(&b, dice(2) ? "\r" : "\377");
		if (i + 1 < n || dice(4) > 0)
			buf_putc(&b, '\n');
	}
	s = arena_str(&mem, buf_str(&b));
	buf_free(&b);
	return s;
}

static struct str
edited(struct str s, uint32_t edits)
{
	struct buf b = { 0 };
	struct str line;
	uint32_t what;

	while (patch_line(&s, &line)) {
		what = dice(100);
		if (what >= edits || what % 3 == 0)
			buf_put(&b, line);
		if (what < edits && what % 3 < 2)
			buf_fmt(&b, "%c\n", 'a' + (int)dice(26));
	}
	s = arena_str(&mem, buf_str(&b));
	buf_free(&b);
	return s;
}

static bool
applies(struct str a, struct str b, size_t context)
{
	struct str d = diff(a, b, context);
	struct buf out = { 0 };
	bool ok = patch_apply(a, d, &out) && str_eq(buf_str(&out), b) &&
	    (d.n == 0) == str_eq(a, b);

	if (!ok)
		printf("# a: %.*s\n# b: %.*s\n# diff: %.*s\n", STRF(a),
		    STRF(b), STRF(d));
	buf_free(&out);
	return ok;
}

static void
pairs(void)
{
	size_t good = 0, i, all = 4000;
	struct arena_mark m;
	struct str a, b;

	for (i = 0; i < all; i++) {
		m = arena_save(&mem);
		a = random_text(1 + dice(60), 1 + dice(20));
		b = dice(2) ? edited(a, dice(60)) :
		    random_text(1 + dice(60), 1 + dice(20));
		good += applies(a, b, dice(5));
		arena_restore(&mem, m);
	}
	OK(good == all);
}

/* The minimal number of changes, by dynamic programming. */
static int
distance(const uint32_t *a, int n, const uint32_t *b, int k)
{
	int row[16], i, j, old, up;

	for (j = 0; j <= k; j++)
		row[j] = j;
	for (i = 1; i <= n; i++) {
		old = row[0];
		row[0] = i;
		for (j = 1; j <= k; j++) {
			up = row[j];
			if (a[i - 1] == b[j - 1])
				row[j] = old;
			else
				row[j] = 1 + (up < row[j - 1] ? up : row[j - 1]);
			old = up;
		}
	}
	return row[k];
}

/* Every pair of sequences of up to six elements from three numbers. */
static bool
shortest(int n, int k, uint32_t x, uint32_t y)
{
	uint32_t a[6], b[6];
	unsigned char ca[6] = { 0 }, cb[6] = { 0 };
	struct arena_mark m = arena_save(&mem);
	int i, j, changed = 0;

	for (i = 0; i < n; i++, x /= 3)
		a[i] = x % 3;
	for (i = 0; i < k; i++, y /= 3)
		b[i] = y % 3;
	diff_search(&mem, (struct diff_seq){ a, ca, n },
	    (struct diff_seq){ b, cb, k }, DIFF_WORK_MAX);
	arena_restore(&mem, m);
	for (i = 0; i < n; i++)
		changed += ca[i];
	for (i = 0; i < k; i++)
		changed += cb[i];
	if (changed != distance(a, n, b, k))
		return false;
	for (i = j = 0; i < n || j < k; i++, j++) {	/* the rest is equal */
		while (i < n && ca[i])
			i++;
		while (j < k && cb[j])
			j++;
		if ((i < n) != (j < k) || (i < n && a[i] != b[j]))
			return false;
	}
	return true;
}

static void
shortness(void)
{
	static const uint32_t power[] = { 1, 3, 9, 27, 81, 243, 729 };
	uint32_t x, y;
	size_t bad = 0;
	int n, k;

	for (n = 0; n <= 6; n++)
		for (k = 0; k <= 6; k++)
			for (x = 0; x < power[n]; x++)
				for (y = 0; y < power[k]; y += n + k > 9 ? 5 : 1)
					bad += !shortest(n, k, x, y);
	OK(bad == 0);
}

/* Few steps: not the shortest diff, but a correct one. */
static void
hurries(void)
{
	enum { N = 3000 };
	uint32_t *a = NEW_N(&mem, uint32_t, N), *b = NEW_N(&mem, uint32_t, N);
	unsigned char *ca, *cb;
	size_t steps, bad = 0;
	int i, j;

	for (steps = 0; steps < 2000000; steps = steps * 3 + 1) {
		ca = NEW_N(&mem, unsigned char, N);
		cb = NEW_N(&mem, unsigned char, N);
		for (i = 0; i < N; i++) {
			a[i] = dice(40);
			b[i] = dice(40);
		}
		diff_search(&mem, (struct diff_seq){ a, ca, N },
		    (struct diff_seq){ b, cb, N }, steps);
		for (i = j = 0; i < N || j < N; i++, j++) {
			while (i < N && ca[i])
				i++;
			while (j < N && cb[j])
				j++;
			bad += (i < N) != (j < N) || (i < N && a[i] != b[j]);
		}
	}
	OK(bad == 0);
}

static const char *
big_line(int kind, int i)
{
	static char s[80];

	switch (kind) {
	case 0:		/* few changes */
		snprintf(s, sizeof(s), "line %d of a text that has many lines\n",
		    i);
		break;
	case 1:
		snprintf(s, sizeof(s), "line %d of a text that has many %s\n",
		    i, i % 5000 == 7 ? "changes" : "lines");
		break;
	case 2:		/* no common line */
		snprintf(s, sizeof(s), "something else altogether, %d\n", i);
		break;
	case 3:		/* the same lines in another order */
		snprintf(s, sizeof(s), "line %u of a text that has many lines\n",
		    (unsigned)i * 7919u % 100000u);
		break;
	default:	/* few different lines */
		snprintf(s, sizeof(s), "%u\n", dice((uint32_t)kind));
	}
	return s;
}

static struct str
big_text(int kind, int lines)
{
	struct buf b = { 0 };
	struct str s;
	int i;

	for (i = 0; i < lines; i++)
		buf_puts(&b, big_line(kind, i));
	s = arena_str(&mem, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
big(const char *what, int a, int b, int lines)
{
	struct arena_mark m = arena_save(&mem);
	struct str x = big_text(a, lines), y = big_text(b, lines);
	struct diff_opts o = { .context = DIFF_CONTEXT };
	struct buf d = { 0 }, out = { 0 };
	double took = tap_cpu();
	size_t n = diff_unified(&d, x, y, &o);

	took = tap_cpu() - took;
	printf("# %s: %zu lines changed, %.2f s\n", what, n, took);
	OK(patch_apply(x, buf_str(&d), &out) && str_eq(buf_str(&out), y));
	OK(took < 60);			/* also under valgrind */
	buf_free(&d);
	buf_free(&out);
	arena_restore(&mem, m);
}

static void
bigs(void)
{
	big("100k lines, 20 changes", 0, 1, 100000);
	big("100k lines, nothing alike", 0, 2, 100000);
	big("100k lines, shuffled", 0, 3, 100000);
	big("100k lines of 5 kinds", 5, 5, 100000);
	big("100k lines of 1000 kinds", 1000, 1000, 100000);
	big("too many lines to look at", 5, 5, DIFF_LINES_MAX);
}

static bool
save(const char *path, struct str s)
{
	struct err e = { 0 };

	return os_write_file(path, s, &e) == 0;
}

/* patch(1) applies them too; not every patch accepts NUL bytes. */
static void
real_patch(void)
{
	char dir[] = "/tmp/t_diff.XXXXXX", cmd[200];
	struct diff_opts o = { .from = STR("f"), .to = STR("f"),
		.context = DIFF_CONTEXT };
	struct buf d = { 0 };
	struct err e = { 0 };
	struct str a, b, got;
	size_t i, good = 0, all = 20;

	if (system("patch --version >/dev/null 2>&1") != 0) {
		SKIP("no patch(1) here");
		return;
	}
	OK(mkdtemp(dir) != NULL && chdir(dir) == 0);
	for (i = 0; i < all; i++) {
		a = random_text(1 + dice(80), 1 + dice(20));
		b = i % 2 ? edited(a, 10) : random_text(80, 20);
		d.n = 0;
		diff_unified(&d, a, b, &o);
		(void)unlink("f");
		if (!save("f", a) || !save("f.diff", buf_str(&d)))
			break;
		good += (d.n == 0 || system(
		    "patch --binary -s f f.diff >patch.out 2>&1") == 0) &&
		    ((b.n == 0 && access("f", F_OK) == -1) ||
		    (os_read_file(&mem, "f", 1 << 20, &got, &e) == 0 &&
		    str_eq(got, b)));
	}
	OK(good == all);
	buf_free(&d);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	OK(chdir("/") == 0 && system(cmd) == 0);
}

/*
 * The grader.  Directories: ws, the workspace; suite, with tasks, where t.yaml
 * has the grader; out, which is outside of both.
 */
static char top[] = "/tmp/t_diff.XXXXXX";

static const char *
in_top(const char *name)
{
	return arena_fmt(&mem, "%s/%s", top, name).p;
}

static void
put(const char *name, struct str text)
{
	OK(save(in_top(name), text));
}

static bool
holds(const char *name, const char *want)
{
	struct err e = { 0 };
	struct str got;

	return os_read_file(&mem, in_top(name), 1 << 20, &got, &e) == 0 &&
	    str_is(got, want);
}

static bool
is_gone(const char *name)
{
	struct stat st;

	return lstat(in_top(name), &st) == -1;
}

static struct verdict
grade_with(struct grader_input in, const char *settings)
{
	static struct spec_suite suite;
	static struct spec_task task;
	static struct spec_def def;
	struct spec_grader spec = { .weight = 1 };
	struct answer answer = { 0 };
	struct tmpl_vars vars = { .iteration = 1, .attempt = 1 };
	struct grading g = { .in = &in, .spec = &spec, .arena = &mem };
	struct err e = { 0 };

	suite = (struct spec_suite){ .dir = in_top("suite") };
	def.context_dir = in_top("suite/ctx");
	task.def = &def;
	spec.name = spec.type = STR("diff");
	spec.at.file = in_top("suite/tasks/t.yaml");
	spec.config = yaml_read_one(&mem, str_of(settings), &e);
	in.suite = &suite;
	in.task = &task;
	in.answer = &answer;
	in.vars = &vars;
	in.workspace = in_top("ws");
	if (spec.config == NULL || grader_start(&g) != GRADER_DONE)
		printf("# not graded: %s\n", e.msg);
	return g.out;
}

static struct verdict
grade(const char *settings)
{
	struct grader_input in = { .trial = 1 };

	return grade_with(in, settings);
}

/* Compares one file with a snapshot and checks the feedback. */
static struct verdict
grade_one(const char *path, const char *snapshot)
{
	return grade(arena_fmt(&mem, "expected_files: [{path: %s, snapshot: "
	    "%s}]", path, snapshot).p);
}

static struct verdict
updated(const char *path, const char *snapshot)
{
	return grade(arena_fmt(&mem, "{update_snapshots: true, "
	    "expected_files: [{path: %s, snapshot: %s}]}", path, snapshot).p);
}

static bool
scores(struct verdict v, double want)
{
	double d = v.score - want;

	if (v.error.n == 0 && d < 1e-12 && d > -1e-12 &&
	    v.passed == (want > 0.999))
		return true;
	printf("# score %f, error \"%.*s\", \"%.*s\"\n", v.score,
	    STRF(v.error), STRF(v.feedback));
	return false;
}

static void
vectors(void)
{
	struct verdict v;

	put("ws/a.txt", STR("one\ntwo\nthree\n"));
	put("suite/tasks/s.txt", STR("one\ntwo\nthree\n"));
	put("suite/tasks/no.txt", STR("one\n2\nthree\n"));
	v = grade("expected_files: [{path: p, snapshot: s.txt, contains: [a, -b]}]");
	OK(scores(v, 0) && str_is(v.feedback, "missing file \"p\"; snapshot "
	    "\"s.txt\": file \"p\" cannot be read; fragment \"a\": file \"p\" "
	    "cannot be read; fragment \"-b\": file \"p\" cannot be read"));
	OK(scores(grade("expected_files: [{path: p, snapshot: s.txt, contains: "
	    "[a, -b]}, {path: a.txt, contains: [one]}]"), 2.0 / 6));
	OK(scores(grade("expected_files: [{path: a.txt, contains: ['- ']}]"), 1));
	OK(scores(grade("expected_files: [{path: a.txt, contains: ['', '+', ' ']}]"), 1));
	v = grade("expected_files: [{path: a.txt, snapshot: s.txt, contains: "
	    "['+two', '-four', 'three', \"+ \\u00a0 one \\u3000\"]}]");
	OK(scores(v, 1) && str_is(v.feedback, "all files are as expected"));
	v = grade("expected_files: [{path: a.txt, contains: [+four, '-  two ', "
	    "TWO, '++', '--']}]");
	OK(scores(v, 2.0 / 6));
	OK(has(v.feedback, "missing \"four\" in file \"a.txt\" (14 bytes); "
	    "unwanted \"two\" in file \"a.txt\", line 2; missing \"TWO\" in "
	    "file \"a.txt\" (14 bytes); missing \"+\""));
	v = grade_one("a.txt", "no.txt");
	OK(scores(v, 0.5));
	OK(has(v.feedback, "at line 2, column 1 (2 lines removed or added)\n--- "));
	OK(has(v.feedback, "\n@@ -1,3 +1,3 @@\n one\n-2\n+two\n three"));
	OK(has(v.details, "{\"expected_files\":[{\"path\":\"a.txt\","
	    "\"snapshot\":\"no.txt\",\"diff\":\"--- "));
	OK(has(v.details, "\"failures\":[\"file \\\"a.txt\\\" differs"));
	OK(has(v.details, "\"workspace_dir\":\""));
	v = grade_one("a.txt", "none.txt");
	OK(scores(v, 0.5) && has(v.feedback, " is missing; --update-"));
	v = grade_one("a.txt", ".");
	OK(scores(v, 0.5) && has(v.feedback, "cannot read snapshot"));
	v = grade_one("../a.txt", "s.txt");
	OK(!v.passed && has(v.error, "leads out of the workspace"));
	OK(has(grade_one("/etc/passwd", "s.txt").error, "not relative"));
	OK(has(grade_one("sub/..", "s.txt").error, "the workspace itself"));
}

static void
places(void)
{
	put("suite/in-suite", STR("one\ntwo\nthree\n"));
	put("suite/ctx/in-ctx", STR("one\ntwo\nthree\n"));
	put("suite/fixtures/in-fix", STR("one\ntwo\nthree\n"));
	put("out/far", STR("one\ntwo\nthree\n"));
	OK(scores(grade_one("a.txt", "in-suite"), 1));
	OK(scores(grade_one("a.txt", "in-ctx"), 1));
	OK(scores(grade_one("a.txt", "in-fix"), 1));
	OK(scores(grade_one("a.txt", "../../out/far"), 1));
	OK(scores(grade_one("a.txt", in_top("out/far")), 1));
	OK(chdir(in_top("out")) == 0 && scores(grade_one("a.txt", "far"), 1) &&
	    chdir("/") == 0);
	OK(scores(grade("{context_dir: ../fixtures, expected_files: [{path: "
	    "a.txt, snapshot: in-fix}]}"), 1));
	OK(scores(grade("{context_dir: ../fixtures, expected_files: [{path: "
	    "a.txt, snapshot: in-suite}]}"), 0.5));
}

static void
hostile(void)
{
	struct verdict v;

	OK(symlink("/etc", in_top("ws/etc")) == 0);
	OK(symlink("a.txt", in_top("ws/link")) == 0);
	OK(mkfifo(in_top("ws/pipe"), 0600) == 0);
	OK(mkdir(in_top("ws/dir"), 0755) == 0);
	OK(has(grade_one("etc/passwd", "s.txt").error, "symbolic link"));
	OK(scores(grade_one("link", "s.txt"), 1));
	OK(scores(grade_one("pipe", "s.txt"), 0));
	OK(scores(grade_one("dir", "s.txt"), 0));
	OK(scores(grade_one("a.txt/b", "s.txt"), 0));
	put("ws/big", STR(""));
	OK(truncate(in_top("ws/big"), (16 << 20) + 1) == 0);
	v = grade_one("big", "s.txt");
	OK(!v.passed && has(v.error, "\"big\" is larger than 16 MiB"));
	OK(link(in_top("ws/big"), in_top("suite/tasks/big")) == 0);
	v = grade_one("a.txt", "big");
	OK(!v.passed && has(v.error, "larger than 16 MiB"));
	put("ws/bin", STR("a\0b\n"));
	v = grade_one("bin", "s.txt");
	OK(scores(v, 0.5) && has(v.feedback, "binary file \"bin\" differs"));
	OK(has(v.feedback, "at byte 0 (4 bytes, expected 14)"));
	put("ws/raw", STR("one\n\377\033[1m\r\nthree\n"));
	v = grade_one("raw", "s.txt");
	OK(utf8_valid(v.feedback) && utf8_valid(v.details));
	OK(has(v.feedback, "\n-two\n+\\xFF\\x1B[1m\\x0D\n"));
	put("ws/empty", STR(""));
	OK(has(grade_one("empty", "s.txt").feedback, "@@ -1,3 +0,0 @@\n-one\n"));
	OK(scores(grade("expected_files: [{path: empty, contains: ['-x']}]"), 1));
}

/* The feedback shows some of many diffs, the details all. */
static void
many(void)
{
	struct buf b = { 0 };
	struct verdict v;
	struct str s;
	size_t n = 0, at;
	int i;

	for (i = 0; i < 400; i++)
		buf_fmt(&b, "line %d\n", i);
	put("ws/long", buf_str(&b));
	b.n = 0;
	buf_puts(&b, "expected_files: [");
	for (i = 0; i < 5; i++)
		buf_puts(&b, "{path: long, snapshot: s.txt}, ");
	buf_puts(&b, "]");
	buf_putc(&b, '\0');
	v = grade(b.p);
	buf_free(&b);
	OK(scores(v, 0.5) && v.feedback.n < 6000);
	OK(has(v.feedback, "more diffs in the details)"));
	for (s = v.details; (at = grader_search(&mem, s, STR("\"diff\":"))) !=
	    SIZE_MAX; n++) {
		s.p += at + 1;
		s.n -= at + 1;
	}
	OK(n == 5);
}

static ino_t
inode(const char *name)
{
	struct stat st;

	return stat(in_top(name), &st) == 0 ? st.st_ino : 0;
}

static void
updates(void)
{
	static const char set[] =
	    "expected_files: [{path: a.txt, snapshot: ../snap/deep/er/a.txt}]";
	struct grader_input in = { .trial = 2, .update_snapshots = true };
	struct verdict v;
	ino_t was;

	v = grade_with(in, set);
	OK(scores(v, 1) && has(v.feedback, "not compared: the first trial"));
	OK(is_gone("suite/snap"));
	in = (struct grader_input){ .trial = 1, .update_snapshots = true,
		.no_skills = true };
	OK(scores(grade_with(in, set), 0.5) && is_gone("suite/snap"));
	in = (struct grader_input){ .trial = 1, .update_snapshots = true,
		.grader_failed = true };
	OK(scores(grade_with(in, set), 0.5) && is_gone("suite/snap"));
	in.grader_failed = false;
	v = grade_with(in, set);
	OK(scores(v, 1) && has(v.feedback, "; snapshot updated: \""));
	OK(has(v.details, "\"updated\":true"));
	OK(holds("suite/snap/deep/er/a.txt", "one\ntwo\nthree\n"));
	OK(scores(grade(set), 1));
	was = inode("suite/snap/deep/er/a.txt");
	v = grade_with(in, set);
	OK(str_is(v.feedback, "all files are as expected"));
	OK(inode("suite/snap/deep/er/a.txt") == was);
	put("ws/a.txt", STR("else\n"));
	OK(scores(grade(set), 0.5));
	OK(scores(grade_with(in, set), 1));
	OK(holds("suite/snap/deep/er/a.txt", "else\n"));
	OK(system(arena_fmt(&mem, "test -z \"$(find %s -name '*.tmp.*')\"",
	    top).p) == 0);
}

static void
refusals(void)
{
	struct verdict v;

	OK(scores(updated("none", "x"), 0) && is_gone("suite/tasks/x"));
	put("suite/precious", STR("precious\n"));
	OK(symlink("../precious", in_top("suite/tasks/lnk")) == 0);
	v = updated("a.txt", "lnk");
	OK(scores(v, 0.5) && has(v.feedback, "not updated: it is a symbolic link"));
	OK(holds("suite/precious", "precious\n"));
	OK(symlink("../../out", in_top("suite/tasks/away")) == 0);
	v = updated("a.txt", "away/new");
	OK(scores(v, 0.5) && has(v.feedback, "not in the suite's directory"));
	OK(is_gone("out/new"));
	OK(scores(updated("a.txt", "away/far"), 0.5));
	OK(scores(updated("a.txt", "../../out/new"), 0.5) && is_gone("out/new"));
	OK(scores(updated("a.txt", "new/../../../out/new"), 0.5));
	OK(is_gone("out/new") && is_gone("suite/tasks/new"));
	OK(scores(updated("a.txt", in_top("out/new")), 0.5) && is_gone("out/new"));
	OK(scores(updated("a.txt", "/waza-no-such-file"), 0.5));
	OK(scores(updated("a.txt", "."), 0.5) && scores(updated("a.txt", ".."), 0.5));
	OK(has(updated("a.txt", "d/").feedback, "its path does not name a file"));
	OK(scores(updated("a.txt", "d/."), 0.5) && is_gone("suite/tasks/d"));
	OK(mkfifo(in_top("suite/tasks/fifo"), 0600) == 0);
	v = updated("a.txt", "fifo");
	OK(scores(v, 0.5) && has(v.feedback, "not a regular file"));
	OK(scores(updated("a.txt", "s.txt/below"), 0.5));
	OK(holds("suite/tasks/s.txt", "one\ntwo\nthree\n"));
	OK(symlink("../ctx", in_top("suite/tasks/inside")) == 0);
	OK(scores(updated("a.txt", "inside/made"), 1) && holds("suite/ctx/made", "else\n"));
	OK(scores(updated("a.txt", in_top("suite/abs")), 1) && holds("suite/abs", "else\n"));
	OK(scores(grade("{update_snapshots: true, context_dir: ../../out/golden, "
	    "expected_files: [{path: a.txt, snapshot: g}]}"), 1));
	OK(holds("out/golden/g", "else\n"));
}

static struct str
noted(const char *settings, bool updates_too)
{
	struct spec_grader g = { .weight = 1, .at = { "t.yaml", 9, 9 } };
	struct spec_suite suite = { .dir = in_top("suite"), .graders = { &g, 1 } };
	struct spec_notes notes = { .arena = &mem, .updates = updates_too };
	const struct spec_note *n;
	struct buf b = { 0 };
	struct err e = { 0 };

	g.type = STR("diff");
	g.config = yaml_read_one(&mem, str_of(settings), &e);
	grader_check(&suite, &notes);
	for (n = notes.head; n != NULL; n = n->next) {
		spec_note_put(&b, n);
		buf_putc(&b, '\n');
	}
	return arena_take(&mem, &b);
}

static void
notes(void)
{
	OK(has(noted("{}", false), "Missing required field: expected_files"));
	OK(has(noted("expected_files: []", false), "t.yaml:9:9: this grader checks nothing"));
	OK(has(noted("expected_files: [{path: a}]", false),
	    "t.yaml:1:18: \"snapshot\" or \"contains\" is missing"));
	OK(has(noted("expected_files: [{snapshot: a}]", false), "Missing required field: path"));
	OK(has(noted("expected_files: [{path: ../a, contains: b}]", false),
	    "t.yaml:1:25: path \"../a\" leads out of the workspace"));
	OK(has(noted("expected_files: [{path: a, contains: [b, '- ']}]", false),
	    "t.yaml:1:42: warning: every file contains an empty"));
	OK(has(noted("expected_files: [{path: a, snapshot: none}]", false),
	    "t.yaml:1:38: warning: snapshot \"none\" is missing; --update-snapshots creates it"));
	OK(noted("expected_files: [{path: a, snapshot: none}]", true).n == 0);
	OK(noted("{update_snapshots: true, expected_files: [{path: a, snapshot: none}]}", false).n == 0);
	OK(noted("expected_files: [{path: a, snapshot: in-suite}]", false).n == 0);
	OK(has(noted("expected_files: [{path: a, snapshot: \"a\\0b\"}]", false), "is not a path"));
	OK(has(noted("expected_files: [{path: a, contains: b, snapshoot: c}]", false),
	    "did you mean \"snapshot\""));
}

static void
grader(void)
{
	static const char *const dirs[] = { "ws", "suite", "suite/tasks",
		"suite/ctx", "suite/fixtures", "out", "out/golden" };
	size_t i;

	OK(mkdtemp(top) != NULL);
	for (i = 0; i < COUNTOF(dirs); i++)
		OK(mkdir(in_top(dirs[i]), 0755) == 0);
	vectors();
	places();
	hostile();
	many();
	updates();
	refusals();
	notes();
	OK(system(arena_fmt(&mem, "rm -rf %s", top).p) == 0);
}

int
main(void)
{
	RUN(forms, cuts, pairs, shortness, hurries, real_patch, grader);
	RUN_LARGE(bigs);
	arena_free(&mem);
	return tap_done();
}

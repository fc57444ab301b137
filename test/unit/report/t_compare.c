/* SPDX-License-Identifier: ISC */
/*
 * Two columns of scores, and the verdict on them.
 */
#include "report/compare.h"

#include <string.h>

#include "report/report.h"
#include "results/outcome.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

enum { MANY = 200 };

/* Results as outcome_read() would give them, tasks in the order of their ids. */
struct results {
	struct outcome o;
	struct outcome_task t[MANY];
	struct outcome_task *by_id[MANY];
	char id[MANY][8];
};

static void
put(struct results *r, size_t id, double score, enum result_status status)
{
	struct outcome_task *t = &r->t[r->o.ntasks];

	snprintf(r->id[r->o.ntasks], sizeof(r->id[0]), "t%03zu", id);
	t->id = t->name = str_of(r->id[r->o.ntasks]);
	t->score = score;
	t->pass_rate = status == RESULT_PASSED;
	t->status = status;
	t->finished = status != RESULT_NONE;
	r->by_id[r->o.ntasks] = t;
	r->o.ntasks++;
	r->o.tasks = r->t;
	r->o.by_id = r->by_id;
	r->o.path = "r.json";
}

/* Tasks of which `better` score higher, `worse` lower, and so on. */
static void
fill(struct results *a, struct results *b, size_t better, size_t worse,
    size_t same)
{
	size_t i, n = better + worse + same;

	memset(a, 0, sizeof(*a));
	memset(b, 0, sizeof(*b));
	for (i = 0; i < n; i++) {
		bool up = i < better, down = !up && i < better + worse;

		put(a, i, up ? 0.25 : 1, up ? RESULT_FAILED : RESULT_PASSED);
		put(b, i, down ? 0.25 : 1, down ? RESULT_FAILED :
		    RESULT_PASSED);
	}
}

static struct results a, b;

static const struct compare_pair *
pair(struct arena *arena, struct compare *c)
{
	static const struct outcome *files[2];

	files[0] = &a.o;
	files[1] = &b.o;
	compare_make(arena, c, files, 2);
	return &c->pairs[0];
}

/* Whether the sentence on it begins so. */
static bool
says(const struct compare_pair *p, const char *want)
{
	struct buf s = { 0 };
	bool ok;

	compare_sentence(&s, p);
	ok = str_starts(buf_str(&s), str_of(want));
	if (!ok)
		printf("# got %.*s\n", STRF(buf_str(&s)));
	buf_free(&s);
	return ok;
}

static void
verdicts(void)
{
	struct arena arena = { 0 };
	const struct compare_pair *p;
	struct compare c;
	size_t i, k;

	fill(&a, &b, 0, 0, 10);
	p = pair(&arena, &c);
	OK(p->verdict == COMPARE_SAME && p->p == 1 && p->mean == 0);
	OK(says(p, "same results: all 10 tasks scored the same; a change that affects less than 26% of such tasks can go unnoticed"));
	fill(&a, &b, 5, 0, 0);
	p = pair(&arena, &c);
	OK(p->verdict == COMPARE_FEW && p->lo == 0.75 && p->p == 0.0625);
	OK(says(p, "cannot tell: 5 of 5 tasks scored higher, none lower; at least 6 tasks must"));
	fill(&a, &b, 6, 0, 0);
	p = pair(&arena, &c);
	OK(p->verdict == COMPARE_BETTER && p->fixed == 6 && p->broken == 0);
	OK(says(p, "better: 6 of 6 tasks scored higher, none lower; this is unlikely to be chance (p = 0.031)"));
	fill(&a, &b, 0, 10, 10);
	p = pair(&arena, &c);
	OK(p->verdict == COMPARE_WORSE && p->broken == 10 && p->same == 10);
	OK(p->hi < 0 && p->lo > -0.75 && p->p == p->p_flips);
	OK(says(p, "worse: 10 of 20 tasks scored lower, none higher; this is unlikely to be chance (p = 0.002)"));
	fill(&a, &b, 3, 2, 15);
	p = pair(&arena, &c);
	OK(p->verdict == COMPARE_SAME && p->lo < 0 && p->hi > 0);
	OK(says(p, "cannot tell: 3 of 20 tasks scored higher, 2 lower; chance alone can explain this (p = 1)"));
	/* the bootstrap is sure of 4 among 10; four throws of a coin are not */
	fill(&a, &b, 4, 0, 6);
	p = pair(&arena, &c);
	OK(p->verdict == COMPARE_UNCLEAR && p->lo > 0 && p->p == 0.125);
	OK(says(p, "cannot tell: it looks better (4 of 10 tasks scored higher, none lower), but chance alone can explain so few changes (p = 0.12)"));
	OK(compare_tasks_needed(p) == 18 && p->passed[0] == 6 &&
	    p->passed[1] == 10 && p->rate_lo > 0.03 && p->rate_lo < 0.04);
	/* many small steps up, one large step down */
	fill(&a, &b, 0, 1, 9);
	for (i = 1; i < 10; i++)
		a.t[i].score = 0.99;
	p = pair(&arena, &c);
	OK(p->verdict == COMPARE_UNCLEAR && p->p < 0.05);
	OK(says(p, "mixed: 9 of 10 tasks scored higher, 1 lower, but the average score did not clearly change"));
	/* statuses change, scores do not */
	for (k = 0; k < 2; k++) {
		fill(&a, &b, 0, 0, 10);
		for (i = 0; i < 2 + 4 * k; i++)
			b.t[i].status = RESULT_FAILED;
		p = pair(&arena, &c);
		OK(says(p, k == 0 ? "cannot tell: 2 tasks broke, none was fixed at the same scores; chance alone" :
		    "worse: 6 tasks broke, none was fixed at the same scores; this is unlikely to be chance (p = 0.031)"));
	}
	fill(&a, &b, 0, 0, 0);
	p = pair(&arena, &c);
	OK(p->verdict == COMPARE_NOTHING && c.nrows == 0);
	OK(says(p, "cannot compare: no task is finished in both"));
	arena_free(&arena);
}

/* Tasks that are not everywhere, or not finished, are rows without a word. */
static void
joins(void)
{
	struct arena arena = { 0 };
	struct compare c;
	double d, r;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	put(&a, 1, 1, RESULT_PASSED);
	put(&a, 3, 0.5, RESULT_NONE);
	put(&a, 5, 0.5, RESULT_AGENT_ERROR);
	put(&b, 0, 1, RESULT_PASSED);
	put(&b, 3, 1, RESULT_PASSED);
	put(&b, 5, 1, RESULT_PASSED);
	pair(&arena, &c);
	OK(c.nrows == 4 && c.pairs[0].tasks == 1 && c.pairs[0].fixed == 1);
	OK(str_is(c.rows[0].id, "t001") && c.rows[0].in[1] == NULL);
	OK(str_is(c.rows[1].id, "t003") && c.rows[1].in[1] == &b.t[1]);
	OK(str_is(c.rows[3].id, "t000") && c.rows[3].in[0] == NULL);
	OK(!compare_delta(&c, &c.rows[0], &d, &r));
	OK(!compare_delta(&c, &c.rows[1], &d, &r));
	OK(compare_delta(&c, &c.rows[2], &d, &r) && d == 0.5 && r == 1);
	OK(compare_flip(&c.rows[0], 0, 1) == NULL);
	OK(compare_flip(&c.rows[1], 0, 1) == NULL);
	OK(strcmp(compare_flip(&c.rows[2], 0, 1), "error -> pass") == 0);
	OK(strcmp(compare_flip(&c.rows[2], 1, 0), "pass -> error") == 0);
	OK(c.nwarnings == 1 && str_is(c.warnings[0], "1 task is not finished in 1"));
	arena_free(&arena);
}

static bool
shows(double d, int decimals, bool plus, const char *want)
{
	struct buf s = { 0 };

	compare_signed(&s, d, decimals, plus);
	return is_buf(&s, want);
}

static void
words(void)
{
	struct buf s = { 0 };

	OK(shows(0, 2, true, "+0.00") && shows(-0.001, 2, true, "+0.00"));
	OK(shows(-0.006, 2, false, "-0.01") && shows(12.55, 1, false, "12.6"));
	OK(shows(-0.0, 0, false, "0") && shows(1, 0, true, "+1"));
	compare_points(&s, -0.034, true);
	OK(str_is(buf_str(&s), "-0.03"));
	s.n = 0;
	compare_points(&s, 25, false);
	OK(str_is(buf_str(&s), "25.0"));
	s.n = 0;
	compare_range(&s, -0.0021, 0.0005, 1);
	OK(str_is(buf_str(&s), "-0.002 to +0.001"));
	s.n = 0;
	compare_range(&s, -64, 64.04, 1);
	OK(str_is(buf_str(&s), "-64.0 to +64.0"));
	s.n = 0;
	OK(shows(report_rate(1.0 / 5000), 1, false, "0.1"));
	OK(shows(report_rate(0.9999), 1, false, "99.9"));
	OK(report_rate(0) == 0 && report_rate(1) == 100);
	compare_wrapped(&s, STR("aa bb cc dd"), 2, 8);
	OK(str_is(buf_str(&s), "aa bb\n    cc\n    dd"));
	s.n = 0;
	compare_wrapped(&s, STR("long-as-it-is x"), 0, 4);
	OK(str_is(buf_str(&s), "long-as-it-is\n  x"));
	buf_free(&s);
}

static enum compare_status
gate(struct arena *arena, const struct compare_rules *r,
    struct compare_gate *g)
{
	static struct compare c;

	pair(arena, &c);
	compare_gate(arena, g, &c, r);
	return g->status;
}

static void
gates(void)
{
	struct arena arena = { 0 };
	struct compare_rules r = { 0 };
	struct compare_gate g;

	fill(&a, &b, 0, 0, 10);
	OK(gate(&arena, &r, &g) == COMPARE_OK && g.drop == 0 && g.nissues == 0);
	fill(&a, &b, 0, 1, 9);
	OK(gate(&arena, &r, &g) == COMPARE_REGRESSED && g.drop == 10);
	r.max_drop = 10;
	OK(gate(&arena, &r, &g) == COMPARE_OK);
	r.max_drop = 9.99;
	OK(gate(&arena, &r, &g) == COMPARE_REGRESSED);
	r.significant = true;
	OK(gate(&arena, &r, &g) == COMPARE_OK && g.nissues == 1);
	fill(&a, &b, 0, 6, 9);
	OK(gate(&arena, &r, &g) == COMPARE_REGRESSED);
	r = (struct compare_rules){ .min_pass = 91 };
	fill(&a, &b, 1, 1, 8);
	OK(gate(&arena, &r, &g) == COMPARE_REGRESSED && g.drop == 0);
	r.min_pass = 90;
	OK(gate(&arena, &r, &g) == COMPARE_OK);
	arena_free(&arena);
}

/* Tasks that only one of the two runs has. */
static void
policies(void)
{
	struct arena arena = { 0 };
	struct compare_rules r = { .on_removed = COMPARE_WARN };
	struct compare_gate g;
	size_t i;

	/* the failed tasks were removed; one of the rest fails */
	fill(&a, &b, 0, 1, 7);
	put(&a, 100, 0, RESULT_FAILED);
	put(&a, 101, 0, RESULT_FAILED);
	OK(gate(&arena, &r, &g) == COMPARE_REGRESSED && g.rate[1] > g.rate[0]);
	OK(g.drop == 12.5 && g.nremoved == 2 && g.common == 8);
	fill(&a, &b, 0, 0, 8);
	put(&a, 100, 0, RESULT_FAILED);
	OK(gate(&arena, &r, &g) == COMPARE_OK && g.nissues == 1);
	r.on_removed = COMPARE_ALLOW;
	OK(gate(&arena, &r, &g) == COMPARE_OK && g.nissues == 0);
	r.on_removed = COMPARE_FAIL;
	OK(gate(&arena, &r, &g) == COMPARE_REGRESSED);
	fill(&a, &b, 0, 0, 8);
	put(&b, 100, 1, RESULT_PASSED);
	OK(gate(&arena, &r, &g) == COMPARE_OK && g.nnew == 1);
	r.on_new = COMPARE_FAIL;
	OK(gate(&arena, &r, &g) == COMPARE_REGRESSED);
	/* golden tasks: failed, unfinished, removed */
	for (i = 0; i < 3; i++) {
		fill(&a, &b, 0, 0, 8);
		r = (struct compare_rules){ .max_drop = 100 };
		a.t[7].golden = true;
		if (i == 0)
			b.t[7].status = RESULT_FAILED;
		else if (i == 1)
			b.t[7].finished = false;
		else
			b.o.ntasks--;
		OK(gate(&arena, &r, &g) == COMPARE_OK);
		r.golden = true;
		OK(gate(&arena, &r, &g) == COMPARE_GOLDEN && g.ngolden == 1);
	}
	fill(&a, &b, 0, 0, 8);
	a.t[7].golden = b.t[6].golden = true;
	OK(gate(&arena, &r, &g) == COMPARE_OK);
	arena_free(&arena);
}

#define SIDE(status, answer, call, patch) "{\"tasks\":[{\"test_id\":\"fix\"," \
	"\"status\":\"" status "\",\"runs\":[{\"status\":\"" status "\"," \
	"\"final_output\":\"" answer "\",\"patch\":\"" patch "\"," \
	"\"tool_events\":[{\"tool_name\":\"bash\",\"args\":{\"command\":" \
	"\"ls\"}}," call "],\"validations\":{\"g\":{\"type\":\"text\"," \
	"\"score\":1,\"passed\":true}}}]}]}"
#define BAD "\\u001b[31m\xE2\x80\xAE"	/* a color, and a change of direction */
#define HAN "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E"	/* six columns */

static const char left[] = SIDE("passed", "one\\ntwo\\n\\tthree",
    "{\"tool_name\":\"edit\",\"args\":{\"path\":\"x.c\"}}", "+a\\n b");
static const char right[] = SIDE("failed", "one\\nTWO " BAD HAN HAN HAN HAN HAN
    HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN
    "\\n\\tthree\\nfour",
    "{\"tool_name\":\"edit\",\"args\":{\"path\":\"y.c\"}}", "+a\\n b");

/* What compare --task prints at a width; 0: to a pipe. */
static void
print_task(struct buf *out, unsigned width)
{
	static const struct outcome *files[2];
	struct report_opts o = { .width = width };
	struct arena arena = { 0 };
	struct compare c;
	struct err e;

	files[0] = outcome_parse(&arena, str_of(left), "old.json", &e);
	files[1] = outcome_parse(&arena, str_of(right), "new.json", &e);
	compare_make(&arena, &c, files, 2);
	out->n = 0;
	compare_task(out, &c, &c.rows[0], &o);
	arena_free(&arena);
}

static bool
contains(const struct buf *got, const char *want)
{
	struct str s = buf_str(got);

	for (; s.n > 0; s.p++, s.n--)
		if (str_starts(s, str_of(want)))
			return true;
	printf("# got %.*s\n", STRF(buf_str(got)));
	return false;
}

/* The columns of the widest line; characters of three bytes here have two. */
static size_t
widest(struct str s)
{
	size_t most = 0, i, n;
	struct str line;

	while (str_line(&s, &line)) {
		for (i = n = 0; i < line.n; i++)
			if (line.p[i] == '\xEF' || line.p[i] == '\xE2')
				n++;	/* U+FFFD; a mark, an ellipsis */
			else if ((line.p[i] & 0xC0) != 0x80)
				n += (line.p[i] & 0x80) != 0 ? 2 : 1;
		most = n > most ? n : most;
	}
	return most;
}

static void
tasks(void)
{
	static const unsigned widths[] = { 40, 60, 80, 99, 100, 120, 200 };
	struct buf out = { 0 };
	size_t i;

	print_task(&out, 0);
	OK(contains(&out, "fix\n1  old.json: passed, score 1.00\n"
	    "2  new.json: failed, score 1.00\n"
	    "\nVerdicts: the same in both\n  passed g 1.00\n"
	    "\nAnswer\n  one\n- two\n+ TWO \xEF\xBF\xBD[31m\xE6\x97\xA5"));
	OK(contains(&out, "\n      three\n+ four\n"));
	OK(contains(&out, "\nTool calls\n  bash ls\n- edit x.c\n+ edit y.c\n"));
	OK(contains(&out, "\nPatch: the same in both\n  +a\n   b\n"));
	for (i = 0; i < COUNTOF(widths); i++) {
		print_task(&out, widths[i]);
		OK(widest(buf_str(&out)) <= widths[i]);
		OK(memchr(out.p, '\033', out.n) == NULL);
	}
	print_task(&out, 101);
	OK(contains(&out, "\none                                                 "
	    "one\ntwo                                               | TWO\n"));
	OK(contains(&out, "\n    three                                          "
	    "     three\n                                                  > four\n"));
	buf_free(&out);
}

/* No line is wider than the terminal, with long and wide names. */
static void
widths(void)
{
	static const unsigned all[] = { 60, 72, 80, 120 };
	struct compare_rules rules = { .golden = true };
	struct arena arena = { 0 };
	struct compare_gate g;
	struct compare c;
	struct buf out = { 0 };
	size_t i, k;

	for (k = 0; k < 2; k++) {
		fill(&a, &b, 12, 3, 85);
		for (i = 0; i < a.o.ntasks; i++)
			a.t[i].name = b.t[i].name = i % 2 == 0 ?
			    STR(HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN HAN) :
			    STR("a name that is longer than a column of names "
			    "in a table can be, with an end that is cut");
		a.o.path = k == 0 ? "results/of/yesterday/with/a/long/name.json" :
		    "a-path-that-cannot-be-shortened-at-a-slash-at-all-is-cut.json";
		a.o.model = b.o.model = STR("a-model-with-a-long-name-2026-11-17");
		a.t[50].finished = b.t[51].golden = b.t[52].finished = false;
		b.o.ntasks = 98;
		pair(&arena, &c);
		for (i = 0; i < COUNTOF(all); i++) {
			struct report_opts o = { .width = all[i] };

			out.n = 0;
			compare_text(&out, &c, &o);
			OK(widest(buf_str(&out)) <= all[i]);
			if (widest(buf_str(&out)) > all[i])
				printf("# %u: %.*s\n", all[i],
				    STRF(buf_str(&out)));
			compare_gate(&arena, &g, &c, &rules);
			out.n = 0;
			compare_gate_text(&out, &g, &o);
			OK(widest(buf_str(&out)) <= all[i]);
			if (widest(buf_str(&out)) > all[i])
				printf("# %u: %.*s\n", all[i],
				    STRF(buf_str(&out)));
		}
	}
	buf_free(&out);
	arena_free(&arena);
}

int
main(void)
{
	RUN(verdicts, joins, words, gates, policies, tasks, widths);
	return tap_done();
}

/* SPDX-License-Identifier: ISC */
/*
 * A comparison in sentences that need no knowledge of statistics.
 *
 * "Better" and "worse" are said only of a difference that is unlikely to be
 * chance.  The absence of such a difference is never called "no change": then
 * it cannot be told.
 */
#include "report/compare.h"

#include "json.h"
#include "lib/stats.h"
#include "report/report_internal.h"
#include "results/outcome.h"

const char *
compare_word(enum compare_verdict v)
{
	static const char *const words[] = {
		[COMPARE_NOTHING] = "nothing_to_compare",
		[COMPARE_FEW] = "too_few",
		[COMPARE_SAME] = "no_real_change",
		[COMPARE_UNCLEAR] = "unclear",
		[COMPARE_BETTER] = "better",
		[COMPARE_WORSE] = "worse",
		[COMPARE_UNTESTED] = "not_tested",
	};

	return words[v];
}

/*
 * A value that rounds to 0 has no sign; d is below 10^9.  Halves are rounded
 * up, also those missed by a rounding error, which differs between machines.
 */
void
compare_signed(struct buf *b, double d, int decimals, bool plus)
{
	int64_t unit = 1, n;
	int i;

	for (i = 0; i < decimals; i++)
		unit *= 10;
	n = (int64_t)((d < 0 ? -d : d) * (double)unit + 0.5 + 1e-7);
	if (n > 0 && d < 0)
		buf_putc(b, '-');
	else if (plus)
		buf_putc(b, '+');
	buf_fmt(b, "%lld", (long long)(n / unit));
	if (decimals > 0)
		buf_fmt(b, ".%0*lld", decimals, (long long)(n % unit));
}

void
compare_points(struct buf *b, double points, bool plus)
{
	double size = points < 0 ? -points : points;
	int decimals = 1;

	for (; size > 1e-9 && size < 0.05 && decimals < 6; size *= 10)
		decimals++;
	compare_signed(b, points, decimals, plus);
}

void
compare_range(struct buf *b, double lo, double hi, int decimals)
{
	double wide = hi - lo;
	int i;

	for (i = 0; i < decimals; i++)
		wide *= 10;
	for (; wide > 0 && wide < 2 && decimals < 6; wide *= 10)
		decimals++;
	compare_signed(b, lo, decimals, true);
	buf_puts(b, " to ");
	compare_signed(b, hi, decimals, true);
}

/* "p = 0.016"; small ones are not rounded to 0, large ones not to 1. */
static void
put_p(struct buf *b, double p)
{
	if (p < 0.001)
		buf_puts(b, "p < 0.001");
	else if (p == 1)
		buf_puts(b, "p = 1");
	else
		buf_fmt(b, "p = %.*f", p < 0.0995 ? 3 : 2, p > 0.99 ? 0.99 :
		    p);
}

static void
put_or_none(struct buf *b, size_t n, const char *word)
{
	if (n == 0)
		buf_fmt(b, ", none %s", word);
	else
		buf_fmt(b, ", %zu %s", n, word);
}

/* "3 of 20 tasks scored higher, 2 lower"; the larger number is first. */
static void
put_counts(struct buf *b, const struct compare_pair *p)
{
	bool up = p->better >= p->worse;

	buf_fmt(b, "%zu of %zu task%s scored %s", up ? p->better : p->worse,
	    p->tasks, p->tasks == 1 ? "" : "s", up ? "higher" : "lower");
	put_or_none(b, up ? p->worse : p->better, up ? "lower" : "higher");
}

/* "2 tasks broke, none was fixed" and how likely chance does that. */
static void
put_flips(struct buf *b, const struct compare_pair *p)
{
	static const char *const words[2][2] = {
		{ "broke", "broke" }, { "was fixed", "were fixed" } };
	bool up = p->fixed > p->broken;
	size_t most = up ? p->fixed : p->broken;
	size_t least = up ? p->broken : p->fixed;

	buf_fmt(b, "%zu task%s %s", most, most == 1 ? "" : "s",
	    words[up][most != 1]);
	if (least == 0)
		buf_fmt(b, ", none %s", words[!up][0]);
	else
		buf_fmt(b, ", %zu %s", least, words[!up][least != 1]);
}

/* No score differs. */
static void
put_same(struct buf *b, const struct compare_pair *p)
{
	if (p->fixed + p->broken > 0 && !(p->tests & COMPARE_FLIPS)) {
		buf_puts(b, "cannot tell: ");
		put_flips(b, p);
		buf_puts(b, " at the same scores, which is not tested: the "
		    "numbers of trials differ");
		return;
	}
	if (p->fixed + p->broken > 0) {
		buf_puts(b, p->p_flips >= 0.05 ? "cannot tell: " :
		    p->fixed > p->broken ? "better: " : "worse: ");
		put_flips(b, p);
		buf_puts(b, " at the same scores; ");
		buf_puts(b, p->p_flips >= 0.05 ? "chance alone can explain "
		    "this (" : "this is unlikely to be chance (");
		put_p(b, p->p_flips);
		buf_putc(b, ')');
		return;
	}
	buf_fmt(b, "same results: %s%zu task%s scored the same; a change that "
	    "affects less than %.*f%% of such tasks can go unnoticed",
	    p->tasks > 1 ? "all " : "", p->tasks, p->tasks > 1 ? "s" : "",
	    p->tasks < 300 ? 0 : 2, stats_unseen(p->tasks) * 100);
}

static void
put_unclear(struct buf *b, const struct compare_pair *p)
{
	bool clear = p->lo > 0 || p->hi < 0;

	if (p->p < 0.05) {
		buf_puts(b, "mixed: ");
		put_counts(b, p);
		buf_fmt(b, ", but the average score %s", !clear ?
		    "did not clearly change" : p->mean > 0 ? "rose" : "fell");
		return;
	}
	buf_fmt(b, "cannot tell: it looks %s (", p->mean > 0 ? "better" :
	    "worse");
	put_counts(b, p);
	buf_puts(b, "), but chance alone can explain so few changes (");
	put_p(b, p->p);
	buf_putc(b, ')');
}

/* Only the changes of status can be tested. */
static void
put_by_flips(struct buf *b, const struct compare_pair *p)
{
	if (p->fixed + p->broken == 0) {
		buf_fmt(b, "cannot tell: none of %zu task%s was fixed or "
		    "broke, and scores cannot be compared", p->tasks,
		    p->tasks == 1 ? "" : "s");
		return;
	}
	buf_fmt(b, "%s: ", p->verdict == COMPARE_SAME ? "cannot tell" :
	    compare_word(p->verdict));
	put_flips(b, p);
	buf_puts(b, p->verdict == COMPARE_SAME ? "; chance alone can explain "
	    "this (" : "; this is unlikely to be chance (");
	put_p(b, p->p_flips);
	buf_putc(b, ')');
}

void
compare_sentence(struct buf *b, const struct compare_pair *p)
{
	if (p->tests == COMPARE_FLIPS && p->tasks > 0) {
		put_by_flips(b, p);
		return;
	}
	switch (p->verdict) {
	case COMPARE_UNTESTED:
		buf_puts(b, "cannot tell: ");
		put_counts(b, p);
		buf_fmt(b, ", but %s, so that no test is valid", p->left_out ?
		    "a rule left out tasks" :
		    "trials ended by different rules");
		return;
	case COMPARE_NOTHING:
	case COMPARE__MAX:
		buf_puts(b, "cannot compare: no task is finished in both");
		return;
	case COMPARE_UNCLEAR:
		put_unclear(b, p);
		return;
	case COMPARE_SAME:
		if (p->better + p->worse == 0) {
			put_same(b, p);
			return;
		}
		buf_puts(b, "cannot tell: ");
		break;
	case COMPARE_FEW:
		buf_puts(b, "cannot tell: ");
		put_counts(b, p);
		buf_fmt(b, "; at least %zu tasks must change in the same "
		    "direction before chance is unlikely",
		    p->needed);
		return;
	case COMPARE_BETTER:
	case COMPARE_WORSE:
		buf_fmt(b, "%s: ", compare_word(p->verdict));
		break;
	}
	put_counts(b, p);
	buf_puts(b, p->verdict == COMPARE_SAME ? "; chance alone can explain "
	    "this (" : "; this is unlikely to be chance (");
	put_p(b, p->p);
	buf_putc(b, ')');
}

void
compare_flips(struct buf *b, const struct compare_pair *p)
{
	if (p->fixed + p->broken == 0)
		return;
	put_flips(b, p);
	if (!(p->tests & COMPARE_FLIPS)) {
		buf_puts(b, "; not tested, because trials ended by different "
		    "rules");
		return;
	}
	buf_puts(b, p->p_flips < 0.05 ? "; this is unlikely to be chance (" :
	    "; chance alone can explain this (");
	put_p(b, p->p_flips);
	buf_puts(b, ", McNemar's test)");
}

double
compare_tasks_needed(const struct compare_pair *p)
{
	double n = stats_pairs_needed(p->better, p->worse, p->tasks);
	double least = (double)stats_sign_needed(0);

	if (n <= 0 || n > 1e6 || p->p < 0.05 || !(p->tests & COMPARE_SCORES))
		return 0;
	n = (double)((int64_t)n + 1);
	n = n > least ? n : least;
	return n > (double)p->tasks ? n : 0;
}

void
compare_needed(struct buf *b, const struct compare_pair *p)
{
	double n = compare_tasks_needed(p);

	if (n > 0)
		buf_fmt(b, "about %.0f tasks like these are needed to tell a "
		    "difference of this size from chance; there are %zu", n,
		    p->tasks);
}

/* Breaks lines at blanks; columns are those of a terminal. */
void
compare_wrapped(struct buf *b, struct str s, size_t indent, size_t width)
{
	size_t at = indent, i, k, j, w;

	for (i = 0; i < s.n; i = k + 1) {
		for (k = i; k < s.n && s.p[k] != ' '; k++)
			;
		w = report_cols((struct str){ s.p + i, k - i }, k - i);
		if (i > 0 && width > 0 && at + 1 + w > width) {
			buf_putc(b, '\n');
			for (j = 0; j < indent + 2; j++)
				buf_putc(b, ' ');
			at = indent + 2;
		} else if (i > 0) {
			buf_putc(b, ' ');
			at++;
		}
		buf_put(b, (struct str){ s.p + i, k - i });
		at += w;
	}
}

/*
 * The effect of the skill: a run compared with its baseline, or with the skill
 * of another revision.
 */
struct effect {
	const struct result_run *base, *run;
	struct str what, without, with;
};

static void
put_effect(struct buf *b, const struct effect *f, const struct compare_pair *p)
{
	double n = (double)p->tasks;

	buf_fmt(b, "%.*s: ", STRF(f->what));
	compare_sentence(b, p);
	if (p->tasks == 0)
		return;
	buf_fmt(b, "; pass rate %.1f%% %.*s, %.1f%% %.*s (",
	    report_rate((double)p->passed[0] / n), STRF(f->without),
	    report_rate((double)p->passed[1] / n), STRF(f->with));
	compare_points(b, ((double)p->fixed - (double)p->broken) * 100 / n,
	    true);
	buf_puts(b, " percentage points)");
}

static void
put_comparison(struct buf *b, const struct effect *f,
    const struct report_opts *o)
{
	struct arena a = { 0 };
	const struct outcome *files[] = {
		outcome_from_run(&a, f->base, "without"),
		outcome_from_run(&a, f->run, "with") };
	struct buf s = { 0 };
	struct compare c;

	compare_make(&a, &c, files, COUNTOF(files));
	put_effect(&s, f, &c.pairs[0]);
	compare_wrapped(b, buf_str(&s), 0, o->width);
	buf_putc(b, '\n');
	buf_free(&s);
	arena_free(&a);
}

void
compare_skill(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	const struct effect f = { run->baseline, run,
		STR("effect of the skill"), STR("without"), STR("with it") };

	put_comparison(b, &f, o);
}

void
compare_ref(struct buf *b, const struct result_run *run,
    const struct report_opts *o)
{
	struct arena a = { 0 };
	struct str ref = run->ref->ref_name;
	const struct effect f = { run->ref, run, arena_fmt(&a,
	    "change of the skill since %.*s (%.12s)", STRF(utf8_cut(ref, 60)),
	    run->ref->ref_commit.p), arena_fmt(&a, "at %.*s",
	    STRF(utf8_cut(ref, 60))), STR("now") };

	put_comparison(b, &f, o);
	arena_free(&a);
}

void
compare_ref_json(struct buf *b, const struct result_run *run,
    bool interleaved)
{
	struct arena a = { 0 };
	const struct outcome *files[] = {
		outcome_from_run(&a, run->ref, "ref"),
		outcome_from_run(&a, run, "now") };
	struct json_out o = { .put = buf_sink, .ctx = b };
	const struct compare_pair *p;
	struct compare c;

	compare_make(&a, &c, files, COUNTOF(files));
	p = &c.pairs[0];
	json_open(&o, '{');
	json_put_member_str(&o, "ref", run->ref->ref_name);
	json_put_member_str(&o, "commit", run->ref->ref_commit);
	json_put_member_bool(&o, "interleaved", interleaved);
	json_put_member_int(&o, "tasks", (int64_t)p->tasks);
	json_put_member_int(&o, "better", (int64_t)p->better);
	json_put_member_int(&o, "worse", (int64_t)p->worse);
	json_put_member_int(&o, "fixed", (int64_t)p->fixed);
	json_put_member_int(&o, "broken", (int64_t)p->broken);
	json_put_member_double(&o, "mean_difference", p->mean);
	json_put_member_double(&o, "ci95_lo", p->lo);
	json_put_member_double(&o, "ci95_hi", p->hi);
	json_put_member_double(&o, "p_value", p->p);
	json_put_member_cstr(&o, "verdict", compare_word(p->verdict));
	json_close(&o, '}');
	arena_free(&a);
}

/* SPDX-License-Identifier: ISC */
/*
 * The comparison of two files in sentences.
 */
#include "report/compare.h"

#include "lib/stats.h"

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

static void
put_p(struct buf *b, double p)
{
	if (p < 0.001)
		buf_puts(b, "p < 0.001");
	else if (p > 0.995)
		buf_puts(b, "p = 1");
	else
		buf_fmt(b, "p = %.*f", p < 0.0995 ? 3 : 2, p);
}

static void
put_size(struct buf *b, const struct compare_pair *p)
{
	int k = p->mean > -0.0995 && p->mean < 0.0995 ? 3 : 2;

	compare_signed(b, p->mean, k, true);
	buf_puts(b, " (95 % interval ");
	compare_signed(b, p->lo, k, false);
	buf_puts(b, " to ");
	compare_signed(b, p->hi, k, false);
	buf_puts(b, ")");
}

/* How many changes would be significant, where they are not. */
static void
put_needed(struct buf *b, size_t x, size_t y)
{
	size_t fewer = x < y ? x : y;

	buf_fmt(b, "at least %zu changes in one direction",
	    stats_sign_needed(fewer));
	if (fewer > 0)
		buf_fmt(b, " against %zu", fewer);
	buf_puts(b, " are needed");
}

void
compare_sentence(struct buf *b, const struct compare_pair *p)
{
	static const char *const begin[] = {
		[COMPARE_NOTHING] = "nothing to compare: no task in common",
		[COMPARE_FEW] = "too few tasks to tell: ",
		[COMPARE_SAME] = "no significant change: ",
		[COMPARE_UNCLEAR] = "unclear: ",
		[COMPARE_BETTER] = "better: ",
		[COMPARE_WORSE] = "worse: ",
	};

	if (p->verdict == COMPARE_SAME && p->better + p->worse == 0) {
		buf_fmt(b, "no change: %s%zu task%s scored the same",
		    p->tasks > 1 ? "all " : "", p->tasks,
		    p->tasks > 1 ? "s" : "");
		return;
	}
	buf_puts(b, begin[p->verdict]);
	if (p->verdict == COMPARE_NOTHING)
		return;
	if (p->verdict == COMPARE_FEW) {
		compare_signed(b, p->mean, 2, true);
		buf_fmt(b, " over %zu; ", p->tasks);
		put_needed(b, 0, 0);
		return;
	}
	put_size(b, p);
	buf_puts(b, p->verdict == COMPARE_UNCLEAR ? ", but " : ", ");
	put_p(b, p->p);
	if (p->p >= 0.05) {
		buf_puts(b, "; ");
		put_needed(b, p->better, p->worse);
	}
}

void
compare_flips(struct buf *b, const struct compare_pair *p)
{
	if (p->fixed + p->broken == 0) {
		buf_puts(b, "no task was fixed or broke");
		return;
	}
	if (p->fixed > 0)
		buf_fmt(b, "%zu task%s fixed", p->fixed,
		    p->fixed == 1 ? "" : "s");
	if (p->broken > 0)
		buf_fmt(b, "%s%zu task%s broke", p->fixed > 0 ? ", " : "",
		    p->broken, p->broken == 1 ? "" : "s");
	buf_puts(b, p->p_flips < 0.05 ? "; significant (" :
	    "; not significant (");
	put_p(b, p->p_flips);
	if (p->p_flips >= 0.05) {
		buf_puts(b, "; ");
		put_needed(b, p->fixed, p->broken);
	}
	buf_putc(b, ')');
}

void
compare_wrapped(struct buf *b, struct str s, size_t indent, size_t width)
{
	size_t at = indent, i, k, j;

	for (i = 0; i < s.n; i = k + 1) {
		for (k = i; k < s.n && s.p[k] != ' '; k++)
			;
		if (i > 0 && at + 1 + (k - i) > width) {
			buf_putc(b, '\n');
			for (j = 0; j < indent + 2; j++)
				buf_putc(b, ' ');
			at = indent + 2;
		} else if (i > 0) {
			buf_putc(b, ' ');
			at++;
		}
		buf_put(b, (struct str){ s.p + i, k - i });
		at += k - i;
	}
}

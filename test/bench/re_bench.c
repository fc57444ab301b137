/* SPDX-License-Identifier: ISC */
/*
 * Boolean tests with the patterns of real graders ($CORPUS/regex), on made
 * texts: throughput on 1 MB that match late or never, and the time to
 * compile and test on short ones.  Peers run on the same data in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "lib/re/re.h"
#include "re_bench.h"
#include "test/tool/help.h"

#ifdef NO_PEERS
const struct re_peer re_peers[] = { { NULL, NULL, NULL, NULL } };
const size_t re_npeers = 0;
#endif

enum { LONG = 1 << 20, PATTERNS = 512, ENGINES = 4 };

static uint32_t seed = 1;

static uint32_t
rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* Ours, behind the same interface. */

struct ours {
	struct arena a;
	struct re *re;
};

static void *
cmd_compile(const char *p, size_t n)
{
	struct ours *o = calloc(1, sizeof(*o));
	struct err e;

	if (o == NULL)
		exit(2);
	o->re = re_compile(&o->a, (struct str){ p, n }, &e);
	if (o->re != NULL)
		return o;
	arena_free(&o->a);
	free(o);
	return NULL;
}

static int
cmd_test(void *v, const char *p, size_t n)
{
	return re_test(((struct ours *)v)->re, (struct str){ p, n });
}

static void
cmd_drop(void *v)
{
	struct ours *o = v;

	arena_free(&o->a);
	free(o);
}

static const struct re_peer waza = {
	"waza", cmd_compile, cmd_test, cmd_drop
};

/* Texts of words that no pattern has, in the letters' usual shares. */

static void
word(struct buf *b, bool capital)
{
	static const char vowels[] = "eeeeeaaaaooooiiiiuuy";
	static const char others[] =
	    "tttttnnnnsssshhhrrrrddllccmmffppggwwbbvkjxqz";
	uint32_t i, n = 2 + rnd(8);
	char c;

	for (i = 0; i < n; i++) {
		c = (i + n) % 2 ? vowels[rnd(sizeof(vowels) - 1)] :
		    others[rnd(sizeof(others) - 1)];
		buf_putc(b, capital && i == 0 ? (char)(c - 32) : c);
	}
}

static void
prose(struct buf *b)
{
	uint32_t i, n = 6 + rnd(14);

	for (i = 0; i < n; i++) {
		word(b, i == 0);
		buf_puts(b, i + 1 < n ? (rnd(9) ? " " : ", ") : ". ");
	}
	if (rnd(4) == 0)
		buf_putc(b, '\n');
}

static void
logline(struct buf *b)
{
	buf_fmt(b, "2026-11-%02uT%02u:%02u:%02u.%03uZ INFO  [w-%u] ",
	    1 + rnd(28), rnd(24), rnd(60), rnd(60), rnd(1000), rnd(32));
	word(b, false);
	buf_fmt(b, "=0x%08x ", rnd(1u << 24) * 251);
	word(b, false);
	buf_fmt(b, "=%u/%u ms\n", rnd(100000), rnd(1000));
}

static void
mixed(struct buf *b)
{
	uint32_t i, n;
	char u[4];

	prose(b);
	for (i = 0, n = 10 + rnd(40); i < n; i++)
		buf_put(b, (struct str){ u, utf8_put(u, rnd(3) ?
		    0x4E00 + rnd(0x1400) : 0x3041 + rnd(0x50)) });
	buf_puts(b, " \xC3\xA9\xC3\xBC\xE2\x80\x93 ");
}

static struct str
made(void line(struct buf *), size_t n)
{
	struct buf b = { 0 };

	while (b.n < n)
		line(&b);
	return (struct str){ b.p, n };
}

/* Patterns. */

static struct str
unescape(char *s)
{
	char *in = s, *out = s;

	for (; *in != '\0'; in++) {
		if (*in == '\\' && in[1] != '\0')
			in++;
		*out++ = *in;
	}
	return (struct str){ s, (size_t)(out - s) };
}

static size_t
patterns(struct arena *a, struct str *v)
{
	const char *corpus = getenv("CORPUS");
	char line[8192];
	size_t n = 0;
	FILE *f;

	snprintf(line, sizeof(line), "%s/regex/wild-patterns.tsv",
	    corpus != NULL ? corpus : "../shared/corpus");
	f = fopen(line, "r");
	while (f != NULL && n < PATTERNS && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\t\n")] = '\0';
		v[n++] = unescape(arena_cstr(a, str_of(line)));
	}
	if (f != NULL)
		fclose(f);
	return n;
}

/* Measuring. */

/* This process's time, so that the neighbours' work does not count. */
static double
cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct re_peer *engine[ENGINES];
static size_t nengines;

/* Seconds for one test of a long text, the expression being warm. */
static double
long_time(const struct re_peer *e, struct str p, struct str t)
{
	void *re = e->compile(p.p, p.n);
	double t0, best = 1e9, dt;
	int i;

	if (re == NULL)
		return 0;
	e->test(re, t.p, t.n);
	for (i = 0; i < 10; i++) {
		t0 = cpu_now();
		e->test(re, t.p, t.n);
		dt = cpu_now() - t0;
		best = dt < best ? dt : best;
	}
	e->drop(re);
	return best;
}

static double
short_time(const struct re_peer *e, struct str p, struct str t)
{
	double t0, best = 1e9, dt;
	int i, j;
	void *re;

	for (i = 0; i < 3; i++) {
		t0 = cpu_now();
		for (j = 0; j < 10; j++) {
			re = e->compile(p.p, p.n);
			if (re == NULL)
				return 0;
			e->test(re, t.p, t.n);
			e->drop(re);
		}
		dt = (cpu_now() - t0) / 10;
		best = dt < best ? dt : best;
	}
	return best;
}

/* Whether the first match ends in the first half. */
static bool
early(struct str p, struct str t)
{
	struct arena a = { 0 };
	struct re_span s;
	struct err e;
	struct re *re = re_compile(&a, p, &e);
	bool yes = re == NULL || (re_match(re, t, 0, &s, 1) &&
	    s.end < t.n / 2);

	arena_free(&a);
	return yes;
}

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
report(const char *name, const struct str *pat, size_t n, struct str text,
    double time(const struct re_peer *, struct str, struct str))
{
	static double ratio[ENGINES][PATTERNS];
	double sum[ENGINES] = { 0 }, t[ENGINES];
	bool is_long = text.n >= LONG;
	size_t i, k, used = 0;

	for (i = 0; i < n; i++) {
		if (is_long && early(pat[i], text))
			continue;
		for (k = 0; k < nengines; k++) {
			t[k] = time(engine[k], pat[i], text);
			sum[k] += t[k];
			ratio[k][used] = t[k] / t[0];
		}
		used++;
		if (getenv("RE_BENCH_ALL") != NULL && nengines > 1)
			printf("%6.2f %8.2f us  %.*s\n", t[1] / t[0],
			    t[0] * 1e6, STRF(pat[i]));
	}
	for (k = 0; k < nengines && used > 0; k++) {
		qsort(ratio[k], used, sizeof(ratio[k][0]), by_size);
		printf("%-12s %-6s %4zu patterns ", name,
		    engine[k]->name, used);
		if (is_long)
			printf("%8.0f MB/s", (double)text.n * (double)used /
			    sum[k] / 1e6);
		else
			printf("%8.2f us", sum[k] / (double)used * 1e6);
		if (k > 0)
			printf("   waza is x%.2f; of patterns: median x%.2f, "
			    "worst x%.2f", sum[k] / sum[0],
			    ratio[k][used / 2], ratio[k][0]);
		putchar('\n');
	}
}

int
main(void)
{
	static struct str pat[PATTERNS];
	static void (*const kinds[])(struct buf *) = { prose, logline, mixed };
	static const char *const names[] = { "prose", "log", "mixed" };
	struct arena a = { 0 };
	size_t i, k, n = patterns(&a, pat);
	struct str t;
	char name[32];

	engine[nengines++] = &waza;
	for (i = 0; i < re_npeers; i++)
		engine[nengines++] = &re_peers[i];
	if (n == 0)
		puts("no patterns: set CORPUS");
	for (k = 0; k < COUNTOF(kinds); k++) {
		t = made(kinds[k], LONG);
		snprintf(name, sizeof(name), "%s 1M", names[k]);
		report(name, pat, n, t, long_time);
		t.n = 1000;
		snprintf(name, sizeof(name), "%s 1k+c", names[k]);
		report(name, pat, n, t, short_time);
		t.n = 200;
		snprintf(name, sizeof(name), "%s 200+c", names[k]);
		report(name, pat, n, t, short_time);
	}
	arena_free(&a);
	return 0;
}

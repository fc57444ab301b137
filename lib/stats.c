/* SPDX-License-Identifier: ISC */
/*
 * Statistics in software floating point, see num.h: results must be
 * identical on every machine.
 */
#include "lib/stats.h"

#include <stdbool.h>
#include <string.h>

#include "base/num.h"

static bool
all_same(const double *x, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (memcmp(&x[i], &x[0], sizeof(x[0])) != 0)
			return false;
	return true;
}

static struct num
mean(const double *x, size_t n)
{
	struct num sum = { 0, 0 };
	size_t i;

	if (n == 0)
		return sum;
	if (all_same(x, n))
		return num_get(x[0]);
	for (i = 0; i < n; i++)
		sum = num_add(sum, num_get(x[i]));
	return num_div(sum, num_int(n));
}

double
stats_mean(const double *x, size_t n)
{
	return num_double(mean(x, n));
}

double
stats_weighted(const double *x, const double *w, size_t n)
{
	struct num sum = { 0, 0 }, total = { 0, 0 }, v;
	size_t i;

	if (all_same(x, n) || all_same(w, n))
		return stats_mean(x, n);
	for (i = 0; i < n; i++) {
		v = num_get(w[i]);
		if (v.m == 0)
			v = num_int(1);
		sum = num_add(sum, num_mul(num_get(x[i]), v));
		total = num_add(total, v);
	}
	return num_double(num_div(sum, total));
}

/* Two passes, to avoid cancellation if the values are close together. */
static struct num
std_dev(const double *x, size_t n)
{
	struct num m, d, sum = { 0, 0 };
	size_t i;

	if (n < 2 || all_same(x, n))
		return sum;
	m = mean(x, n);
	for (i = 0; i < n; i++) {
		d = num_sub(num_get(x[i]), m);
		sum = num_add(sum, num_mul(d, d));
	}
	return num_sqrt(num_div(sum, num_int(n)));
}

double
stats_std_dev(const double *x, size_t n)
{
	return num_double(std_dev(x, n));
}

double
stats_square(double x)
{
	return num_double(num_mul(num_get(x), num_get(x)));
}

/*
 * The bootstrap.  Values become integers in a unit that is small enough to add
 * n of them.  Of the 10,000 sums only the 251 smallest and the 250 largest are
 * kept, each in a heap whose top is the sum that is needed.
 */
enum { LOW = STATS_BOOTSTRAPS / 40 + 1, HIGH = STATS_BOOTSTRAPS / 40 };

struct heap {
	size_t n, max;
	uint64_t v[LOW];
};

static void
heap_down(struct heap *h, size_t i)
{
	uint64_t v = h->v[i];
	size_t k;

	for (; (k = 2 * i + 1) < h->n; i = k) {
		if (k + 1 < h->n && h->v[k + 1] > h->v[k])
			k++;
		if (h->v[k] <= v)
			break;
		h->v[i] = h->v[k];
	}
	h->v[i] = v;
}

/* Adds a value; a full heap keeps the smallest. */
static void
heap_offer(struct heap *h, uint64_t v)
{
	size_t i;

	if (h->n < h->max) {
		for (i = h->n++; i > 0 && h->v[(i - 1) / 2] < v;
		    i = (i - 1) / 2)
			h->v[i] = h->v[(i - 1) / 2];
		h->v[i] = v;
	} else if (v < h->v[0]) {
		h->v[0] = v;
		heap_down(h, 0);
	}
}

/* The next number of a splitmix64 generator. */
static uint64_t
draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/* The sum of n values drawn from v, two per random number. */
static uint64_t
resample(const uint64_t *v, size_t n, uint64_t *state)
{
	uint64_t sum = 0, r;
	size_t i;

	for (i = 0; i < n / 2; i++) {
		r = draw(state);
		sum += v[(r & UINT32_MAX) * n >> 32];
		sum += v[(r >> 32) * n >> 32];
	}
	if (n % 2 != 0)
		sum += v[(draw(state) & UINT32_MAX) * n >> 32];
	return sum;
}

static void
sort(uint64_t *v, size_t n)
{
	size_t gap, i, k;
	uint64_t x;

	for (gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (i = gap; i < n; i++) {
			x = v[i];
			for (k = i; k >= gap && v[k - gap] > x; k -= gap)
				v[k] = v[k - gap];
			v[k] = x;
		}
}

/* x in units of 2^-unit; x above 1 counts as 1. */
static uint64_t
fixed(double x, int unit)
{
	struct num a = num_get(x);
	int by = -unit - a.e;

	if (a.m == 0 || by >= NUM_BITS)
		return 0;
	if (a.e > -NUM_BITS)
		return UINT64_C(1) << unit;
	if (by < 0)
		return a.m << -by;
	return by == 0 ? a.m : (a.m + (UINT64_C(1) << (by - 1))) >> by;
}

/* The sums at both ends of the interval of resampled sums; sorts v. */
static void
bootstrap_sums(uint64_t *v, size_t n, uint64_t seed, uint64_t *lo,
    uint64_t *hi)
{
	struct heap low = { 0, LOW, { 0 } }, high = { 0, HIGH, { 0 } };
	uint64_t s;
	size_t i;

	sort(v, n);
	for (i = 0; i < STATS_BOOTSTRAPS; i++) {
		s = resample(v, n, &seed);
		heap_offer(&low, s);
		heap_offer(&high, UINT64_MAX - s);
	}
	*lo = low.v[0];
	*hi = UINT64_MAX - high.v[0];
}

static void
normal(const double *x, size_t n, double *lo, double *hi)
{
	struct num m = mean(x, n), d = std_dev(x, n), one = num_int(1), z;

	z = num_div(num_int(196), num_int(100));
	d = num_div(num_mul(d, z), num_sqrt(num_int(n)));
	*lo = num_cmp(m, d) > 0 ? num_double(num_sub(m, d)) : 0;
	m = num_add(m, d);
	*hi = num_cmp(m, one) < 0 ? num_double(m) : 1;
}

void
stats_bootstrap(const double *x, size_t n, uint64_t seed, double *lo,
    double *hi)
{
	uint64_t v[STATS_BOOTSTRAP_MAX], low, high;
	int unit = 62;
	size_t i;

	if (n < 2 || all_same(x, n)) {
		*lo = *hi = stats_mean(x, n);
		return;
	}
	if (n > STATS_BOOTSTRAP_MAX) {
		normal(x, n, lo, hi);
		return;
	}
	for (i = n; i > 1; i = (i + 1) / 2)
		unit--;
	for (i = 0; i < n; i++)
		v[i] = fixed(x[i], unit);
	bootstrap_sums(v, n, seed, &low, &high);
	*lo = num_double(num_div(num_of(low, -unit), num_int(n)));
	*hi = num_double(num_div(num_of(high, -unit), num_int(n)));
}

void
stats_bootstrap_memo(struct stats_memo *memo, const double *x, size_t n,
    uint64_t seed, double *lo, double *hi)
{
	double v[STATS_MEMO_VALUES] = { 0 }, y;
	uint64_t hash = n, b;
	struct stats_known *slot;
	size_t i, k;

	if (n < 2 || n > STATS_MEMO_VALUES || all_same(x, n)) {
		stats_bootstrap(x, n, seed, lo, hi);
		return;
	}
	for (i = 0; i < n; i++) {
		y = x[i];
		for (k = i; k > 0 && v[k - 1] > y; k--)
			v[k] = v[k - 1];
		v[k] = y;
	}
	for (i = 0; i < n; i++) {
		memcpy(&b, &v[i], sizeof(b));
		hash ^= b;
		b = draw(&hash);
		hash = b;
	}
	slot = &memo->slots[hash % STATS_MEMO_SLOTS];
	if (slot->n != n || memcmp(slot->x, v, n * sizeof(v[0])) != 0) {
		slot->n = n;
		memcpy(slot->x, v, n * sizeof(v[0]));
		stats_bootstrap(v, n, seed, &slot->lo, &slot->hi);
	}
	*lo = slot->lo;
	*hi = slot->hi;
}

/*
 * Pairs.  A difference plus 1, which makes it unsigned, is an integer in units
 * of 2^-unit that is small enough to add n of them.
 */
static uint64_t
shifted(double before, double after, int unit)
{
	return (UINT64_C(1) << unit) + fixed(after, unit) - fixed(before, unit);
}

/* The mean difference, from the sum of n shifted differences. */
static double
unshifted(uint64_t sum, size_t n, int unit)
{
	uint64_t zero = (uint64_t)n << unit;
	uint64_t by = sum > zero ? sum - zero : zero - sum;
	double d = num_double(num_div(num_of(by, -unit), num_int(n)));

	return sum < zero ? -d : d;
}

static void
normal_change(const double *before, const double *after, size_t n, int unit,
    struct stats_change *c)
{
	struct num m, d, dev = { 0, 0 }, half, z;
	uint64_t sum = 0, by, top = (uint64_t)n << (unit + 1);
	size_t i;

	for (i = 0; i < n; i++)
		sum += shifted(before[i], after[i], unit);
	m = num_div(num_of(sum, -unit), num_int(n));
	for (i = 0; i < n; i++) {
		d = num_of(shifted(before[i], after[i], unit), -unit);
		d = num_sub(d, m);
		dev = num_add(dev, num_mul(d, d));
	}
	z = num_div(num_int(196), num_int(100));
	half = num_div(num_mul(num_sqrt(dev), z), num_int(n));
	by = fixed(num_double(half), unit) * n;
	c->mean = unshifted(sum, n, unit);
	c->lo = unshifted(sum > by ? sum - by : 0, n, unit);
	c->hi = unshifted(by < top - sum ? sum + by : top, n, unit);
}

void
stats_paired(const double *before, const double *after, size_t n,
    uint64_t seed, struct stats_change *c)
{
	uint64_t v[STATS_BOOTSTRAP_MAX], low, high, sum = 0;
	bool same = true;
	int unit = 61;
	size_t i;

	*c = (struct stats_change){ 0, 0, 0 };
	for (i = n; i > 1; i = (i + 1) / 2)
		unit--;
	if (n > STATS_BOOTSTRAP_MAX) {
		normal_change(before, after, n, unit, c);
		return;
	}
	for (i = 0; i < n; i++) {
		sum += v[i] = shifted(before[i], after[i], unit);
		same = same && v[i] == v[0];
	}
	if (n > 0)
		c->mean = c->lo = c->hi = unshifted(sum, n, unit);
	if (same)
		return;
	bootstrap_sums(v, n, seed, &low, &high);
	c->lo = unshifted(low, n, unit);
	c->hi = unshifted(high, n, unit);
}

/*
 * Twice the sum of the binomial coefficients up to the smaller number, divided
 * by 2^(a+b).  A struct num has a larger range of exponents than a double, so
 * the large coefficients do not overflow.
 */
double
stats_sign_test(size_t a, size_t b)
{
	size_t n = a + b, few = a < b ? a : b, i;
	struct num term = num_int(1), sum = term;

	if (a == b)
		return 1;
	for (i = 0; i < few; i++) {
		term = num_div(num_mul(term, num_int(n - i)), num_int(i + 1));
		sum = num_add(sum, term);
	}
	sum.e -= (int)n - 1;
	return num_double(sum);
}

/* Equal values get the largest factor of them, as the first has in order. */
void
stats_holm(const double *p, size_t n, double *out)
{
	size_t i, k, left;

	for (i = 0; i < n; i++) {
		for (k = left = 0; k < n; k++)
			left += p[k] >= p[i];
		out[i] = p[i] * (double)left;
		out[i] = out[i] < 1 ? out[i] : 1;
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++)
			if (p[k] <= p[i] && out[k] > out[i])
				out[i] = out[k];
}

size_t
stats_sign_needed(size_t b)
{
	size_t lo = b, hi = b + 8, mid;

	while (stats_sign_test(hi, b) >= 0.05)
		hi = b + 2 * (hi - b);
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (stats_sign_test(mid, b) < 0.05)
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

/*
 * With z = 1.959963984540054, the 97.5th percentile of the normal
 * distribution: (2k + z^2 -/+ z sqrt(z^2 + 4k(n-k)/n)) / 2(n + z^2), which
 * is n / (n + z^2) or z^2 / (n + z^2) when all or none succeeded.
 */
void
stats_wilson(size_t k, size_t n, double *lo, double *hi)
{
	struct num z = num_get(1.959963984540054), zz = num_mul(z, z), c, r;
	struct num d = num_add(num_int(n), zz), two = num_int(2);

	*lo = 0;
	*hi = n == 0 ? 0 : 1;
	if (n == 0)
		return;
	if (k >= n)
		*lo = num_double(num_div(num_int(n), d));
	else if (k == 0)
		*hi = num_double(num_div(zz, d));
	if (k >= n || k == 0)
		return;
	r = num_mul(num_int(k), num_int(n - k));
	r = num_div(num_mul(r, num_int(4)), num_int(n));
	r = num_mul(z, num_sqrt(num_add(zz, r)));
	c = num_add(num_mul(two, num_int(k)), zz);
	d = num_mul(d, two);
	*lo = num_double(num_div(num_sub(c, r), d));
	*hi = num_double(num_div(num_add(c, r), d));
}

double
stats_pass_at(size_t n, size_t c, size_t k)
{
	struct num none = num_int(1);
	size_t i;

	c = c < n ? c : n;
	k = k < n ? k : n;
	if (c == 0 || k == 0)
		return 0;
	if (n - c < k)
		return 1;
	for (i = 0; i < k; i++)
		none = num_mul(none, num_div(num_int(n - c - i),
		    num_int(n - i)));
	return num_double(num_sub(num_int(1), none));
}

double
stats_pass_hat(size_t n, size_t c, size_t k)
{
	if (n == 0 || c == 0)
		return 0;
	return c >= n ? 1 : num_double(num_power(num_div(num_int(c),
	    num_int(n)), k < n ? k : n));
}

/* sqrt(x^2 - 2 phi x y + y^2) for phi from -1 to 1, given as |phi| and sign. */
static struct num
side(struct num x, struct num y, struct num phi, bool negative)
{
	struct num t = num_mul(num_int(2), num_mul(phi, num_mul(x, y)));
	struct num sum = num_add(num_mul(x, x), num_mul(y, y));

	return num_sqrt(negative ? num_add(sum, t) : num_cmp(sum, t) > 0 ?
	    num_sub(sum, t) : num_int(0));
}

/* Newcombe's phi; a positive one is corrected for continuity. */
static struct num
phi_of(size_t both, size_t lost, size_t gained, size_t neither, bool *negative)
{
	struct num ad = num_mul(num_int(both), num_int(neither));
	struct num bc = num_mul(num_int(lost), num_int(gained)), d, half;
	struct num rows = num_mul(num_int(both + lost),
	    num_int(gained + neither));
	struct num cols = num_mul(num_int(both + gained),
	    num_int(lost + neither));

	*negative = num_cmp(ad, bc) < 0;
	d = num_sub(ad, bc);
	half = num_div(num_int(both + lost + gained + neither), num_int(2));
	if (!*negative)
		d = num_cmp(d, half) > 0 ? num_sub(d, half) : num_int(0);
	if (rows.m == 0 || cols.m == 0)
		return num_int(0);
	return num_div(d, num_sqrt(num_mul(rows, cols)));
}

void
stats_paired_rates(size_t both, size_t lost, size_t gained, size_t neither,
    double *lo, double *hi)
{
	size_t n = both + lost + gained + neither;
	double l1, u1, l2, u2, d = (double)gained - (double)lost;
	struct num p1, p2, phi;
	bool negative;

	*lo = *hi = 0;
	if (n == 0)
		return;
	d /= (double)n;
	phi = phi_of(both, lost, gained, neither, &negative);
	stats_wilson(both + lost, n, &l1, &u1);
	stats_wilson(both + gained, n, &l2, &u2);
	p1 = num_div(num_int(both + lost), num_int(n));
	p2 = num_div(num_int(both + gained), num_int(n));
	*lo = d - num_double(side(num_sub(p2, num_get(l2)),
	    num_sub(num_get(u1), p1), phi, negative));
	*hi = d + num_double(side(num_sub(num_get(u2), p2),
	    num_sub(p1, num_get(l1)), phi, negative));
}

/*
 * Connor's formula with |a - b| / n as the effect:
 * (1.96 sqrt((a + b) n) + 0.842 sqrt((a + b) n - (a - b)^2))^2 / (a - b)^2.
 */
double
stats_pairs_needed(size_t a, size_t b, size_t n)
{
	struct num all = num_mul(num_int(a + b), num_int(n));
	struct num d = num_int(a > b ? a - b : b - a), s;

	if (a == b || n < a + b)
		return 0;
	s = num_mul(num_get(0.8416212335729143), num_sqrt(num_sub(all,
	    num_mul(d, d))));
	s = num_add(s, num_mul(num_get(1.959963984540054), num_sqrt(all)));
	s = num_div(s, d);
	return num_double(num_mul(s, s));
}

/* Bisects q^n = 0.05. */
double
stats_unseen(size_t n)
{
	struct num lo = num_int(0), hi = num_int(1), mid;
	int i;

	for (i = 0; i < 56; i++) {
		mid = num_div(num_add(lo, hi), num_int(2));
		if (num_cmp(num_power(mid, n), num_get(0.05)) < 0)
			lo = mid;
		else
			hi = mid;
	}
	return num_double(num_sub(num_int(1), lo));
}

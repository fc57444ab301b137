/* SPDX-License-Identifier: ISC */
/*
 * Statistics in software floating point.  Results must be identical on every
 * machine, but operations on `double` are not: x87 keeps extra bits between
 * operations, compilers fuse multiplication and addition, and sqrt() is in a
 * library that may not be linked.  A struct num has 60 bits of mantissa, seven
 * more than a double.  Operations truncate, which keeps each a few lines long;
 * only sums and the final conversion to double round.  Nothing here is
 * negative, so there is no sign.
 *
 * Invariant: 2^59 <= m < 2^60, or m == 0.  The value is m * 2^e.
 */
#include "lib/stats.h"

#include <stdbool.h>
#include <string.h>

struct num {
	uint64_t m;
	int e;
};

enum { BITS = 60, SMALL = -8192 };	/* smaller exponents become 0 */
#define TOP (UINT64_C(1) << (BITS - 1))

/* Normalizes m * 2^e, for any m below 2^63. */
static struct num
num_of(uint64_t m, int e)
{
	if (m == 0)
		return (struct num){ 0, 0 };
	for (; m >= 2 * TOP; e++)
		m >>= 1;
	for (; m < TOP >> 15; e -= 16)
		m <<= 16;
	for (; m < TOP; e--)
		m <<= 1;
	return (struct num){ m, e };
}

/* Decodes an IEEE 754 binary64; subnormal numbers become 0. */
static struct num
num_get(double d)
{
	uint64_t b;
	int e;

	memcpy(&b, &d, sizeof(b));
	e = (int)(b >> 52 & 0x7FF);
	if (b >> 63 != 0 || e == 0 || e == 0x7FF)
		return (struct num){ 0, 0 };
	b = (b & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
	return (struct num){ b << 7, e - 1075 - 7 };
}

/* Rounds to nearest, ties to even. */
static double
num_double(struct num a)
{
	uint64_t m = a.m >> 7, rest = a.m & 127;
	int e = a.e + 7 + 1075;
	double d;

	if (a.m == 0 || e <= 0)
		return 0;
	if (rest > 64 || (rest == 64 && (m & 1) != 0))
		m++;
	if (m >> 53 != 0) {
		m >>= 1;
		e++;
	}
	if (e >= 0x7FF)
		return 0;
	m = (m & ((UINT64_C(1) << 52) - 1)) | (uint64_t)e << 52;
	memcpy(&d, &m, sizeof(d));
	return d;
}

static int
num_cmp(struct num a, struct num b)
{
	if (a.m == 0 || b.m == 0 || a.e == b.e)
		return a.m < b.m ? -1 : a.m > b.m;
	return a.e < b.e ? -1 : 1;
}

static struct num
num_add(struct num a, struct num b)
{
	int by;

	if (num_cmp(a, b) < 0)
		return num_add(b, a);
	if (b.m == 0 || (by = a.e - b.e) >= BITS)
		return a;
	/* round: truncation would bias long sums */
	if (by > 0)
		b.m = (b.m + (UINT64_C(1) << (by - 1))) >> by;
	return num_of(a.m + b.m, a.e);
}

/* The absolute difference. */
static struct num
num_sub(struct num a, struct num b)
{
	int by;

	if (num_cmp(a, b) < 0)
		return num_sub(b, a);
	if (b.m == 0 || (by = a.e - b.e) >= BITS)
		return a;
	/* use the three spare bits above the mantissa, to truncate less */
	if (by >= 3)
		return num_of((a.m << 3) - (b.m >> (by - 3)), a.e - 3);
	return num_of((a.m << by) - b.m, b.e);
}

static struct num
num_mul(struct num a, struct num b)
{
	const uint64_t low = (UINT64_C(1) << 30) - 1;
	uint64_t a1 = a.m >> 30, a0 = a.m & low, b1 = b.m >> 30;
	uint64_t b0 = b.m & low, mid = a1 * b0 + a0 * b1 + (a0 * b0 >> 30);

	if (a.m == 0 || b.m == 0 || a.e + b.e < SMALL)
		return (struct num){ 0, 0 };
	/* 119 or 120 bits; keep one more than num_of() may drop */
	return num_of(((a1 * b1) << 1) + (mid >> 29), a.e + b.e + BITS - 1);
}

/* Long division, bit by bit; b is not 0. */
static struct num
num_div(struct num a, struct num b)
{
	uint64_t q = 0, r = a.m;
	int i;

	for (i = 0; i <= BITS + 1; i++, r <<= 1) {
		q <<= 1;
		if (r >= b.m) {
			r -= b.m;
			q |= 1;
		}
	}
	return num_of(q, a.e - b.e - (BITS + 1));
}

/* Digit by digit: two bits of the radicand for one of the root. */
static struct num
num_sqrt(struct num a)
{
	uint64_t root = 0, rem = 0;
	int at, odd = (a.e & 1) != 0;
	uint64_t m = a.m << odd;	/* below 2^61, with an even exponent */

	/* the radicand is m * 2^BITS: 2 * BITS + 1 bits, from the top */
	for (at = 2 * BITS; at >= 0; at -= 2) {
		rem = rem << 2 | (at >= BITS ? m >> (at - BITS) & 3 : 0);
		root <<= 1;
		if (rem >= 2 * root + 1) {
			rem -= 2 * root + 1;
			root++;
		}
	}
	return num_of(root, (a.e - odd - BITS) / 2);
}

static struct num
num_int(size_t n)
{
	return num_of((uint64_t)n & (UINT64_MAX >> 1), 0);
}

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

	if (a.m == 0 || by >= BITS)
		return 0;
	if (a.e > -BITS)
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
	struct num all = num_int(1), p;

	if (n == 0 || c == 0)
		return 0;
	if (c >= n)
		return 1;
	p = num_div(num_int(c), num_int(n));
	for (k = k < n ? k : n; k > 0; k /= 2, p = num_mul(p, p))
		if (k % 2 != 0)
			all = num_mul(all, p);
	return num_double(all);
}

/* SPDX-License-Identifier: ISC */
/*
 * The linear-space variant of Myers, "An O(ND) Difference Algorithm and Its
 * Variations" (1986).
 *
 * The search splits boxes, each a range of one sequence by a range of the
 * other, at a point of a shortest path, until one side is empty.  The larger
 * half is pushed on a stack and the smaller one is next, so the depth of the
 * stack is logarithmic.  A box that takes too long is split at the furthest
 * point seen: the result is correct, but may not be the shortest.
 */
#include "lib/diff_internal.h"

#include <assert.h>
#include <limits.h>

enum {
	ROUNDS = 2048,		/* per box, before it is split anyway */
	ROUNDS_MIN = 8,		/* the same when few steps are left */
	STACK = 64
};

struct box {
	int a0, a1, b0, b1;
};

/* A diagonal is an index into a minus an index into b. */
struct work {
	struct diff_seq a, b;
	int *ahead, *back;	/* by diagonal: the furthest index into a */
	size_t left;		/* steps */
	bool hurry;		/* a box has exceeded its rounds */
};

static void
mark(struct work *w, const struct box *box)
{
	int i;

	for (i = box->a0; i < box->a1; i++)
		w->a.changed[i] = 1;
	for (i = box->b0; i < box->b1; i++)
		w->b.changed[i] = 1;
}

static void
shrink(const struct work *w, struct box *x)
{
	while (x->a0 < x->a1 && x->b0 < x->b1 &&
	    w->a.id[x->a0] == w->b.id[x->b0]) {
		x->a0++;
		x->b0++;
	}
	while (x->a0 < x->a1 && x->b0 < x->b1 &&
	    w->a.id[x->a1 - 1] == w->b.id[x->b1 - 1]) {
		x->a1--;
		x->b1--;
	}
}

/* The diagonals that a search from one corner has reached. */
struct front {
	int min, max;
	int *at;		/* by diagonal: the furthest index into a */
};

/*
 * Widens a front by one diagonal on either side, with `none` beyond its ends.
 * At the border of the box it shrinks instead, so that it contains every other
 * diagonal: odd or even ones, like the number of rounds.
 */
static void
widen(struct front *f, const struct box *x, int none)
{
	if (f->min > x->a0 - x->b1)
		f->at[--f->min - 1] = none;
	else
		f->min++;
	if (f->max < x->a1 - x->b0)
		f->at[++f->max + 1] = none;
	else
		f->max--;
}

/* Follows one change and all equal elements after it; the index into a. */
static int
step_ahead(struct work *w, const struct box *x, const struct front *f, int d)
{
	int from = f->at[d - 1] >= f->at[d + 1] ? f->at[d - 1] + 1 :
	    f->at[d + 1], i = from;

	while (i < x->a1 && i - d < x->b1 && w->a.id[i] == w->b.id[i - d])
		i++;
	w->left -= (size_t)(i - from) < w->left ? (size_t)(i - from) : w->left;
	w->left -= w->left > 0;
	f->at[d] = i;
	return i;
}

static int
step_back(struct work *w, const struct box *x, const struct front *f, int d)
{
	int from = f->at[d - 1] < f->at[d + 1] ? f->at[d - 1] :
	    f->at[d + 1] - 1, i = from;

	while (i > x->a0 && i - d > x->b0 &&
	    w->a.id[i - 1] == w->b.id[i - d - 1])
		i--;
	w->left -= (size_t)(from - i) < w->left ? (size_t)(from - i) : w->left;
	w->left -= w->left > 0;
	f->at[d] = i;
	return i;
}

/* The point inside the box that is furthest from its corner. */
static bool
furthest(const struct box *x, const struct front *f, bool ahead, int *a,
    int *b)
{
	int d, i, best = -1, far;

	for (d = f->min; d <= f->max; d += 2) {
		i = f->at[d];
		if (i < x->a0 || i > x->a1 || i - d < x->b0 || i - d > x->b1)
			continue;
		far = ahead ? i - x->a0 + i - d - x->b0 :
		    x->a1 - i + x->b1 - (i - d);
		if (far <= best)
			continue;
		best = far;
		*a = i;
		*b = i - d;
	}
	return best > 0 && best < x->a1 - x->a0 + x->b1 - x->b0;
}

/*
 * Finds the point to split a box that differs at both ends: where the two
 * fronts meet, or the furthest one when the rounds are used up.  False: none.
 */
static bool
find_split(struct work *w, const struct box *x, int *a, int *b)
{
	struct front f = { x->a0 - x->b0, x->a0 - x->b0, w->ahead };
	struct front r = { x->a1 - x->b1, x->a1 - x->b1, w->back };
	bool odd = (f.min - r.min) & 1;
	size_t share = w->left / (size_t)(x->a1 - x->a0 + x->b1 - x->b0);
	size_t least = w->left / 2;
	int rounds = ROUNDS, n, d, i;

	if (w->hurry && share < ROUNDS)
		rounds = share > ROUNDS_MIN ? (int)share : ROUNDS_MIN;
	f.at[f.min] = x->a0;
	r.at[r.min] = x->a1;
	for (n = 0; n < rounds && w->left > least; n++) {
		widen(&f, x, -1);
		for (d = f.max; d >= f.min && w->left > 0; d -= 2) {
			i = step_ahead(w, x, &f, d);
			if (odd && d >= r.min && d <= r.max && r.at[d] <= i) {
				*a = i;
				*b = i - d;
				return true;
			}
		}
		widen(&r, x, INT_MAX);
		for (d = r.max; d >= r.min && w->left > 0; d -= 2) {
			i = step_back(w, x, &r, d);
			if (!odd && d >= f.min && d <= f.max && i <= f.at[d]) {
				*a = i;
				*b = i - d;
				return true;
			}
		}
	}
	w->hurry = true;
	return w->left > 0 && (furthest(x, &f, true, a, b) ||
	    furthest(x, &r, false, a, b));
}

static size_t
area(const struct box *x)
{
	return (size_t)(x->a1 - x->a0) + (size_t)(x->b1 - x->b0);
}

static void
search(struct work *w)
{
	struct box stack[STACK], x, rest;
	size_t n = 0;
	int a = 0, b = 0;

	stack[n++] = (struct box){ 0, w->a.n, 0, w->b.n };
	while (n > 0) {
		x = stack[--n];
		shrink(w, &x);
		if (x.a0 == x.a1 || x.b0 == x.b1 || w->left == 0 ||
		    !find_split(w, &x, &a, &b)) {
			mark(w, &x);
			continue;
		}
		assert(a >= x.a0 && a <= x.a1 && b >= x.b0 && b <= x.b1);
		rest = (struct box){ a, x.a1, b, x.b1 };
		x = (struct box){ x.a0, a, x.b0, b };
		assert(n + 2 <= STACK);
		stack[n++] = area(&x) > area(&rest) ? x : rest;
		stack[n++] = area(&x) > area(&rest) ? rest : x;
	}
}

void
diff_search(struct arena *mem, struct diff_seq a, struct diff_seq b,
    size_t steps)
{
	struct work w = { .a = a, .b = b, .left = steps };
	size_t n = (size_t)a.n + (size_t)b.n + 3;

	w.ahead = NEW_N(mem, int, n) + b.n + 1;
	w.back = NEW_N(mem, int, n) + b.n + 1;
	search(&w);
}

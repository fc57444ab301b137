/* SPDX-License-Identifier: ISC */
/*
 * The engines that find the offsets of groups.
 *
 * In Pike's algorithm, all threads advance through the text together, in order
 * of preference.  At most one thread, the preferred one, is at an instruction,
 * so that a code point costs O(program).  The backtracker follows one thread
 * at a time and marks every pair of instruction and offset that it visits; a
 * second visit would fail like the first.  It is faster, but its marks take
 * text x program bits.
 *
 * Temporary memory comes from the expression's arena and is freed on return.
 */
#include "lib/re/re_internal.h"

#include <string.h>

#include "lib/unicode.h"

enum { BACK_BITS = 1 << 18 };

#define NONE UINT32_MAX

struct list {
	uint32_t *dense, *sparse;	/* sparse[dense[i]] == i for i < n */
	uint32_t n;
	size_t *slots;			/* of instruction i, from i * nslots */
};

struct due {
	uint32_t pc;		/* NONE: restore the slot to old */
	uint32_t slot;
	size_t old;
};

struct pike {
	const struct re *re;
	struct str text;
	size_t nslots;
	size_t *cap;		/* of the thread being added */
	struct due *stack;
	struct list a, b;
};

static void
list_init(struct list *l, struct arena *a, uint32_t nprog, size_t nslots)
{
	l->dense = arena_raw(a, nprog * sizeof(uint32_t), ALIGNOF(uint32_t));
	l->sparse = NEW_N(a, uint32_t, nprog);	/* read before it is set */
	l->slots = arena_raw(a, mul_max(nprog * nslots, sizeof(size_t)),
	    ALIGNOF(size_t));
	l->n = 0;
}

static bool
has(const struct list *l, uint32_t pc)
{
	return l->sparse[pc] < l->n && l->dense[l->sparse[pc]] == pc;
}

/*
 * Adds the instructions that can be reached from pc at offset i without
 * reading.  Each is entered once and pushes at most two entries.
 */
static void
add(struct pike *k, struct list *l, uint32_t pc, size_t i)
{
	const struct re_inst *in;
	struct due *t = k->stack;
	uint32_t other;

	*t++ = (struct due){ pc, 0, 0 };
	while (t > k->stack) {
		t--;
		if (t->pc == NONE) {
			k->cap[t->slot] = t->old;
			continue;
		}
		for (pc = t->pc; !has(l, pc);) {
			in = &k->re->prog[pc];
			l->sparse[pc] = l->n;
			l->dense[l->n++] = pc;
			if (in->op == RE_JMP) {
				pc = in->x;
			} else if (in->op == RE_SPLIT) {
				other = in->arg ? pc + 1 : in->x;
				pc = in->arg ? in->x : pc + 1;
				*t++ = (struct due){ other, 0, 0 };
			} else if (in->op == RE_SAVE) {
				pc++;
				if (in->x >= k->nslots)
					continue;
				*t++ = (struct due){ NONE, in->x,
					k->cap[in->x] };
				k->cap[in->x] = i;
			} else if (in->op == RE_ASSERT) {
				if (!(re_prog_holds(k->text, i) & in->arg))
					break;
				pc++;
			} else {
				memcpy(l->slots + pc * k->nslots, k->cap,
				    k->nslots * sizeof(*k->cap));
				break;
			}
		}
	}
}

/* Advances the threads of l over r into `next`; true at a match. */
static bool
step(struct pike *k, struct list *l, struct list *next, uint32_t r,
    size_t to, size_t *best)
{
	uint32_t i, pc, folded = unicode_fold_min(r);
	size_t *slots;

	for (i = 0; i < l->n; i++) {
		pc = l->dense[i];
		slots = l->slots + pc * k->nslots;
		if (k->re->prog[pc].op == RE_MATCH) {
			memcpy(best, slots, k->nslots * sizeof(*best));
			return true;
		}
		if (!re_prog_takes(k->re, &k->re->prog[pc], r, folded))
			continue;
		memcpy(k->cap, slots, k->nslots * sizeof(*slots));
		add(k, next, pc + 1, to);
	}
	return false;
}

static bool
run(struct pike *k, size_t i, size_t *best)
{
	const char *end = k->text.p + k->text.n;
	struct list *l = &k->a, *next = &k->b, *t;
	bool matched = false;
	uint32_t r;
	size_t j, w;

	for (;; i += w) {
		if (!matched) {
			for (j = 0; j < k->nslots; j++)
				k->cap[j] = RE_UNSET;
			add(k, l, 0, i);
		}
		if (l->n == 0 || !budget_take(k->re->budget, 20 + l->n *
		    (8 + (uint64_t)k->nslots)))
			break;
		r = UINT32_MAX;		/* no instruction accepts it */
		w = 0;
		if (i < k->text.n)
			w = re_prog_rune(k->text.p + i, end, &r);
		next->n = 0;
		if (step(k, l, next, r, i + w, best))
			matched = true;
		if (i == k->text.n)
			break;
		t = l;
		l = next;
		next = t;
	}
	return matched;
}

static void
set_spans(struct re_span *spans, size_t nspans, const size_t *slots,
    size_t nslots)
{
	size_t i;
	bool set;

	for (i = 0; i < nspans; i++) {
		set = 2 * i < nslots && slots[2 * i] != RE_UNSET &&
		    slots[2 * i + 1] != RE_UNSET;
		spans[i].start = set ? slots[2 * i] : RE_UNSET;
		spans[i].end = set ? slots[2 * i + 1] : RE_UNSET;
	}
}

static size_t
slots_for(const struct re *re, size_t nspans)
{
	size_t n = nspans < re->ngroups ? nspans : re->ngroups;

	return 2 * (n > 0 ? n : 1);
}

bool
re_nfa_pike(struct re *re, struct str text, size_t from,
    struct re_span *spans, size_t nspans)
{
	struct arena_mark mark = arena_save(re->arena);
	struct pike k = { .re = re, .text = text,
		.nslots = slots_for(re, nspans) };
	size_t *best;
	bool matched;

	k.cap = NEW_N(re->arena, size_t, k.nslots);
	best = NEW_N(re->arena, size_t, k.nslots);
	k.stack = arena_raw(re->arena, (re->nprog + 2) * sizeof(*k.stack),
	    ALIGNOF(struct due));
	list_init(&k.a, re->arena, re->nprog, k.nslots);
	list_init(&k.b, re->arena, re->nprog, k.nslots);
	matched = run(&k, from, best);
	if (matched)
		set_spans(spans, nspans, best, k.nslots);
	arena_restore(re->arena, mark);
	return matched;
}

/* Backtracking.  Offsets are relative to `from`. */

struct job {
	uint32_t pc;		/* NONE - slot: restore the slot to i */
	uint32_t i;
};

struct back {
	const struct re *re;
	struct str text;
	size_t from;
	uint32_t *marks;
	uint32_t *slots;
	uint32_t nslots;
	struct job *stack;
	size_t n, cap;
	size_t steps;
};

bool
re_nfa_fits(const struct re *re, size_t text)
{
	return text < BACK_BITS && (text + 1) * re->nprog <= BACK_BITS;
}

static void
push(struct back *k, uint32_t pc, uint32_t i)
{
	k->stack = re_prog_grow(k->re->arena, k->stack, k->n, &k->cap,
	    k->n + 1, sizeof(*k->stack));
	k->stack[k->n++] = (struct job){ pc, i };
}

static bool
mark(struct back *k, uint32_t pc, uint32_t i)
{
	size_t bit = i * k->re->nprog + pc;
	uint32_t m = UINT32_C(1) << bit % 32;

	if (k->marks[bit / 32] & m)
		return false;
	k->marks[bit / 32] |= m;
	k->steps++;
	return true;
}

/* Follows one thread to its end; true at a match. */
static bool
follow(struct back *k, uint32_t pc, uint32_t i)
{
	const struct re_inst *in;
	uint32_t r;
	size_t w;

	while (mark(k, pc, i)) {
		in = &k->re->prog[pc++];
		switch ((enum re_op)in->op) {
		case RE_MATCH:
			return true;
		case RE_JMP:
			pc = in->x;
			break;
		case RE_SPLIT:
			push(k, in->arg ? pc : in->x, i);
			pc = in->arg ? in->x : pc;
			break;
		case RE_SAVE:
			if (in->x < k->nslots) {
				push(k, NONE - in->x, k->slots[in->x]);
				k->slots[in->x] = i;
			}
			break;
		case RE_ASSERT:
			if (!(re_prog_holds(k->text, k->from + i) & in->arg))
				return false;
			break;
		case RE_CHAR:
		case RE_FOLD:
		case RE_CLASS:
		case RE_ANY:
		case RE_NOTNL:
			if (k->from + i == k->text.n)
				return false;
			w = re_prog_rune(k->text.p + k->from + i,
			    k->text.p + k->text.n, &r);
			if (!re_prog_takes(k->re, in, r,
			    in->op == RE_FOLD ? unicode_fold_min(r) : 0))
				return false;
			i += (uint32_t)w;
			break;
		}
	}
	return false;
}

static bool
attempt(struct back *k, uint32_t i)
{
	struct job j;

	k->n = 0;
	push(k, 0, i);
	while (k->n > 0) {
		j = k->stack[--k->n];
		if (j.pc > NONE - k->nslots)
			k->slots[NONE - j.pc] = j.i;
		else if (follow(k, j.pc, j.i))
			return true;
	}
	return false;
}

static bool
attempt_all(struct back *k)
{
	const char *p = k->text.p + k->from, *end = k->text.p + k->text.n;
	uint32_t r;

	for (;;) {
		if (attempt(k, (uint32_t)(p - (k->text.p + k->from))))
			return true;
		if (p == end)
			return false;
		p += re_prog_rune(p, end, &r);
	}
}

bool
re_nfa_back(struct re *re, struct str text, size_t from,
    struct re_span *spans, size_t nspans)
{
	struct arena_mark m = arena_save(re->arena);
	struct back k = { .re = re, .text = text, .from = from, .cap = 64,
		.nslots = (uint32_t)slots_for(re, nspans) };
	size_t i, *slots = NEW_N(re->arena, size_t, k.nslots);
	bool matched;

	k.marks = NEW_N(re->arena, uint32_t,
	    (text.n - from + 1) * re->nprog / 32 + 1);
	k.slots = NEW_N(re->arena, uint32_t, k.nslots);
	for (i = 0; i < k.nslots; i++)
		k.slots[i] = NONE;
	k.stack = arena_raw(re->arena, k.cap * sizeof(*k.stack),
	    ALIGNOF(struct job));
	matched = attempt_all(&k);
	budget_take(re->budget, (uint64_t)k.steps * 10);
	for (i = 0; i < k.nslots; i++)
		slots[i] = k.slots[i] == NONE ? RE_UNSET : from + k.slots[i];
	if (matched)
		set_spans(spans, nspans, slots, k.nslots);
	arena_restore(re->arena, m);
	return matched;
}

/* SPDX-License-Identifier: ISC */
/*
 * Programs.  The parser appends instructions, inserts them before a fragment
 * and copies fragments; re_prog_end() makes the final program.
 *
 * Until then, targets are relative and lead at most to the end of their own
 * fragment, so that a fragment can be moved and copied as bytes.
 */
#include "lib/re/re_internal.h"

#include <string.h>

void *
re_prog_grow(struct arena *a, void *old, size_t n, size_t *cap, size_t need,
    size_t size)
{
	void *p;

	if (need <= *cap)
		return old;
	*cap = *cap < 4 ? 8 : *cap * 2;
	if (*cap < need)
		*cap = need;
	p = arena_raw(a, mul_max(*cap, size), ALIGNOF(uint64_t));
	if (n > 0)
		memcpy(p, old, n * size);
	return p;
}

/* Makes room for n more instructions; false if they exceed the limit. */
static bool
room(struct re_code *c, size_t n)
{
	if (c->full || n > RE_PROG_MAX - c->n) {
		c->full = true;
		return false;
	}
	c->v = re_prog_grow(c->arena, c->v, c->n, &c->cap, c->n + n,
	    sizeof(*c->v));
	return true;
}

void
re_code_put(struct re_code *c, enum re_op op, unsigned arg, uint32_t x)
{
	if (room(c, 1))
		c->v[c->n++] = (struct re_inst){ (uint8_t)op, (uint8_t)arg, x };
}

void
re_code_insert(struct re_code *c, size_t at, enum re_op op, unsigned arg,
    uint32_t x)
{
	if (!room(c, 1))
		return;
	memmove(c->v + at + 1, c->v + at, (c->n - at) * sizeof(*c->v));
	c->v[at] = (struct re_inst){ (uint8_t)op, (uint8_t)arg, x };
	c->n++;
}

void
re_code_repeat(struct re_code *c, size_t from, size_t to, size_t n)
{
	size_t i, len = to - from;

	if (!room(c, mul_max(len, n)))
		return;
	for (i = 0; i < n; i++, c->n += len)
		memcpy(c->v + c->n, c->v + from, len * sizeof(*c->v));
}

static bool
same_class(const struct re_code *c, const struct re_class *k,
    const struct re_set *s)
{
	return k->n == s->n && (s->n == 0 || memcmp(c->ranges.v + k->first,
	    s->v, s->n * sizeof(*s->v)) == 0);
}

void
re_code_class(struct re_code *c, const struct re_set *s)
{
	struct re_set *all = &c->ranges;
	struct re_class *k;
	uint32_t r;
	size_t i;

	if (s->n == 1 && s->v[0].lo == 0 && s->v[0].hi == RE_RUNE_MAX) {
		re_code_put(c, RE_ANY, 0, 0);
		return;
	}
	if (s->n == 1 && s->v[0].lo == s->v[0].hi) {
		re_code_put(c, RE_CHAR, 0, s->v[0].lo);
		return;
	}
	for (i = c->nclasses; i > 0 && c->nclasses - i < 64; i--)
		if (same_class(c, &c->classes[i - 1], s)) {
			re_code_put(c, RE_CLASS, 0, (uint32_t)(i - 1));
			return;
		}
	if (s->n > RE_RANGE_MAX - all->n) {
		c->full = true;
		return;
	}
	c->classes = re_prog_grow(c->arena, c->classes, c->nclasses,
	    &c->capclasses, c->nclasses + 1, sizeof(*c->classes));
	k = &c->classes[c->nclasses++];
	*k = (struct re_class){ .first = (uint32_t)all->n,
		.n = (uint32_t)s->n };
	for (i = 0; i < s->n && s->v[i].lo < 128; i++)
		for (r = s->v[i].lo; r <= s->v[i].hi && r < 128; r++)
			k->ascii[r / 32] |= UINT32_C(1) << r % 32;
	all->v = re_prog_grow(c->arena, all->v, all->n, &all->cap,
	    all->n + s->n, sizeof(*all->v));
	if (s->n > 0)
		memcpy(all->v + all->n, s->v, s->n * sizeof(*s->v));
	all->n += s->n;
	re_code_put(c, RE_CLASS, 0, (uint32_t)(c->nclasses - 1));
}

static const void *
copy(struct arena *a, const void *p, size_t n, size_t align)
{
	void *to = arena_raw(a, n, align);

	return n == 0 ? to : memcpy(to, p, n);
}

void
re_prog_end(struct re *re, const struct re_code *c)
{
	struct re_inst *v;
	uint32_t i;

	v = arena_raw(re->arena, c->n * sizeof(*v), ALIGNOF(struct re_inst));
	memcpy(v, c->v, c->n * sizeof(*v));
	for (i = 0; i < c->n; i++) {
		if (v[i].op == RE_SPLIT || v[i].op == RE_JMP)
			v[i].x += i;
		else if (v[i].op == RE_ASSERT)
			re->asserts |= v[i].arg;
	}
	re->prog = v;
	re->nprog = (uint32_t)c->n;
	re->classes = copy(re->arena, c->classes,
	    c->nclasses * sizeof(*c->classes), ALIGNOF(struct re_class));
	re->nclasses = c->nclasses;
	re->ranges = copy(re->arena, c->ranges.v,
	    c->ranges.n * sizeof(*c->ranges.v), ALIGNOF(struct re_range));
	re->nranges = c->ranges.n;
}

/* Backwards over the program, because only loops lead back. */
size_t
re_prog_longest(const struct re *re, struct arena *tmp)
{
	const struct re_inst *in;
	size_t *n = NEW_N(tmp, size_t, re->nprog), x;
	uint32_t pc;

	for (pc = re->nprog; pc-- > 0;) {
		in = &re->prog[pc];
		if (in->op == RE_MATCH)
			continue;
		if ((in->op == RE_SPLIT || in->op == RE_JMP) && in->x <= pc)
			return RE_UNSET;
		x = in->op == RE_SPLIT || in->op == RE_JMP ? n[in->x] : 0;
		n[pc] = in->op == RE_JMP || n[pc + 1] < x ? x :
		    n[pc + 1] + RE_READS(in->op);
	}
	return n[0];
}

static bool
in_class(const struct re *re, const struct re_class *k, uint32_t r)
{
	const struct re_range *v = re->ranges + k->first;
	size_t lo = 0, hi = k->n, mid;

	if (r < 128)
		return k->ascii[r / 32] >> r % 32 & 1;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (v[mid].hi < r)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < k->n && v[lo].lo <= r;
}

bool
re_prog_takes(const struct re *re, const struct re_inst *in, uint32_t r,
    uint32_t folded)
{
	switch ((enum re_op)in->op) {
	case RE_CHAR:
		return r == in->x;
	case RE_FOLD:
		return folded == in->x;
	case RE_CLASS:
		return in_class(re, &re->classes[in->x], r);
	case RE_ANY:
		return true;
	case RE_NOTNL:
		return r != '\n';
	case RE_MATCH:
	case RE_SPLIT:
	case RE_JMP:
	case RE_SAVE:
	case RE_ASSERT:
		break;
	}
	return false;
}

size_t
re_prog_rune(const char *p, const char *end, uint32_t *r)
{
	size_t n = utf8_get(p, end, r);

	if (n > 0)
		return n;
	*r = RE_RUNE_BAD;
	return 1;
}

bool
re_prog_is_word(uint32_t r)
{
	return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') ||
	    (r >= '0' && r <= '9') || r == '_';
}

unsigned
re_prog_holds(struct str text, size_t i)
{
	bool before = i > 0 &&
	    re_prog_is_word((unsigned char)text.p[i - 1]);
	bool after = i < text.n &&
	    re_prog_is_word((unsigned char)text.p[i]);
	unsigned holds = before == after ? RE_NOT_WORD : RE_WORD;

	if (i == 0)
		holds |= RE_BEGIN_TEXT | RE_BEGIN_LINE;
	else if (text.p[i - 1] == '\n')
		holds |= RE_BEGIN_LINE;
	if (i == text.n)
		holds |= RE_END_TEXT | RE_END_LINE;
	else if (text.p[i] == '\n')
		holds |= RE_END_LINE;
	return holds;
}

/* SPDX-License-Identifier: ISC */
/*
 * Sets of code points as lists of ranges.
 *
 * Adding a range appends it, or joins it with the last one; re_set_clean()
 * sorts and merges.  A set that has doubled since it was last clean is cleaned
 * before it grows, so that [a-cx-za-cx-z...] stays as small as [a-cx-z].
 *
 * A named class is made once for a pattern and added once to a set, so that
 * [\pL\pL\pL...] costs as much as [\pL].  All of them together take less
 * than 200 kB.
 */
#include "lib/re/re_internal.h"

#include <string.h>

#include "lib/unicode.h"

static const struct {
	const char *name, *ranges;	/* pairs of bytes */
} posix[] = {
	{ "alnum",  "09AZaz" },
	{ "alpha",  "AZaz" },
	{ "ascii",  "\001\177" },	/* NUL is added in code */
	{ "blank",  "\t\t  " },
	{ "cntrl",  "\001\037\177\177" },
	{ "digit",  "09" },
	{ "graph",  "!~" },
	{ "lower",  "az" },
	{ "print",  " ~" },
	{ "punct",  "!/:@[`{~" },
	{ "space",  "\t\r  " },
	{ "upper",  "AZ" },
	{ "word",   "09AZ__az" },
	{ "xdigit", "09AFaf" },
};

static void
append(struct re_set *s, uint32_t lo, uint32_t hi)
{
	struct re_range *last = s->n > 0 ? &s->v[s->n - 1] : NULL;

	if (last != NULL && lo >= last->lo && lo <= last->hi + 1) {
		if (hi > last->hi)
			last->hi = hi;
		return;
	}
	if (s->n == s->cap && s->n > 2 * s->cleaned + 64) {
		re_set_clean(s);
		append(s, lo, hi);
		return;
	}
	s->v = re_prog_grow(s->arena, s->v, s->n, &s->cap, s->n + 1,
	    sizeof(*s->v));
	s->v[s->n++] = (struct re_range){ lo, hi };
}

static void
append_image(void *set, uint32_t lo, uint32_t hi)
{
	append(set, lo, hi);
}

void
re_set_add(struct re_set *s, uint32_t lo, uint32_t hi, bool fold)
{
	append(s, lo, hi);
	if (fold && !(lo <= 'A' && hi == RE_RUNE_MAX))
		unicode_fold_range(lo, hi, append_image, s);
}

static void
sort(struct re_range *v, size_t n)
{
	struct re_range x;
	size_t gap, i, j;

	for (gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (i = gap; i < n; i++) {
			x = v[i];
			for (j = i; j >= gap && v[j - gap].lo > x.lo; j -= gap)
				v[j] = v[j - gap];
			v[j] = x;
		}
}

void
re_set_clean(struct re_set *s)
{
	size_t i, n = 0;

	for (i = 1; i < s->n; i++)
		if (s->v[i].lo < s->v[i - 1].lo) {
			sort(s->v, s->n);
			break;
		}
	for (i = 0; i < s->n; i++) {
		if (n > 0 && s->v[i].lo <= s->v[n - 1].hi + 1) {
			if (s->v[i].hi > s->v[n - 1].hi)
				s->v[n - 1].hi = s->v[i].hi;
		} else {
			s->v[n++] = s->v[i];
		}
	}
	s->n = s->cleaned = n;
}

void
re_set_negate(struct re_set *s)
{
	struct re_set out = { .arena = s->arena };
	uint32_t lo = 0;
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->v[i].lo > lo)
			append(&out, lo, s->v[i].lo - 1);
		lo = s->v[i].hi + 1;
	}
	if (lo <= RE_RUNE_MAX)
		append(&out, lo, RE_RUNE_MAX);
	out.cleaned = out.n;
	*s = out;
}

/* Kinds of named classes, and the meaning of .id for each. */
enum kind {
	PERL,			/* the letter */
	POSIX,			/* the row in `posix` */
	UNICODE,		/* the number of unicode_class() */
	ANY
};

struct re_named {
	struct re_named *next;
	enum kind kind;
	uint32_t id;
	bool fold;
	struct re_range *v;
	size_t n;
	unsigned in[2];		/* last set + 1 it was added to; [1]: negated */
};

static void
make_perl(struct re_set *s, uint32_t letter, bool fold)
{
	if (letter == 'd') {
		re_set_add(s, '0', '9', false);
	} else if (letter == 's') {	/* not \v, unlike [[:space:]] */
		re_set_add(s, '\t', '\n', false);
		re_set_add(s, '\f', '\r', false);
		re_set_add(s, ' ', ' ', false);
	} else {
		re_set_add(s, '0', '9', false);
		re_set_add(s, 'A', 'Z', fold);
		re_set_add(s, '_', '_', false);
		re_set_add(s, 'a', 'z', false);
	}
}

static void
make_posix(struct re_set *s, uint32_t row, bool fold)
{
	const unsigned char *p = (const unsigned char *)posix[row].ranges;

	if (p[0] == '\001')
		re_set_add(s, 0, 0, false);
	for (; *p != '\0'; p += 2)
		re_set_add(s, p[0], p[1], fold);
}

/* A set under construction, and whether its ranges are folded. */
struct target {
	struct re_set *set;
	bool fold;
};

static void
add_range(void *target, uint32_t lo, uint32_t hi)
{
	struct target *t = target;

	re_set_add(t->set, lo, hi, t->fold);
}

static void
make(struct re_set *s, enum kind kind, uint32_t id, bool fold)
{
	struct target t = { s, fold };

	switch (kind) {
	case PERL:
		make_perl(s, id, fold);
		break;
	case POSIX:
		make_posix(s, id, fold);
		break;
	case UNICODE:
		unicode_each(id, add_range, &t);
		break;
	case ANY:
		re_set_add(s, 0, RE_RUNE_MAX, false);
		break;
	}
	re_set_clean(s);
}

static struct re_named *
named(struct re_names *names, enum kind kind, uint32_t id, bool fold)
{
	struct arena tmp = { 0 };
	struct re_set s = { .arena = &tmp };
	struct re_named *k;

	for (k = names->first; k != NULL; k = k->next)
		if (k->kind == kind && k->id == id && k->fold == fold)
			return k;
	make(&s, kind, id, fold);
	k = NEW(&names->arena, struct re_named);
	*k = (struct re_named){ .next = names->first, .kind = kind, .id = id,
		.fold = fold, .n = s.n };
	k->v = NEW_N(&names->arena, struct re_range, s.n);
	if (s.n > 0)
		memcpy(k->v, s.v, s.n * sizeof(*s.v));
	names->first = k;
	arena_free(&tmp);
	return k;
}

/* Adds the ranges of the class, or the gaps between them. */
static void
add_named(struct re_set *s, struct re_named *k, bool negate)
{
	uint32_t lo = 0;
	size_t i;

	if (k->in[negate] == s->names->set + 1)
		return;
	k->in[negate] = s->names->set + 1;
	for (i = 0; i < k->n; i++) {
		if (!negate)
			append(s, k->v[i].lo, k->v[i].hi);
		else if (k->v[i].lo > lo)
			append(s, lo, k->v[i].lo - 1);
		lo = k->v[i].hi + 1;
	}
	if (negate && lo <= RE_RUNE_MAX)
		append(s, lo, RE_RUNE_MAX);
}

void
re_names_next(struct re_names *names)
{
	names->set++;
}

void
re_names_free(struct re_names *names)
{
	arena_free(&names->arena);
	names->first = NULL;
}

bool
re_set_perl(struct re_set *s, char letter, bool fold)
{
	char small = (char)(letter | 0x20);

	if (small != 'd' && small != 's' && small != 'w')
		return false;
	add_named(s, named(s->names, PERL, (uint32_t)small, fold),
	    letter < 'a');
	return true;
}

bool
re_set_posix(struct re_set *s, struct str name, bool negate, bool fold)
{
	uint32_t i;

	for (i = 0; i < COUNTOF(posix); i++)
		if (str_is(name, posix[i].name))
			break;
	if (i == COUNTOF(posix))
		return false;
	add_named(s, named(s->names, POSIX, i, fold), negate);
	return true;
}

bool
re_set_unicode(struct re_set *s, struct str name, bool negate, bool fold)
{
	bool any = str_is(name, "Any");
	uint32_t id = any ? 0 : unicode_class(name);

	if (id == 0 && !any)
		return false;
	add_named(s, named(s->names, any ? ANY : UNICODE, id, fold), negate);
	return true;
}

/* SPDX-License-Identifier: ISC */
/*
 * Upper and lower case and the other properties of characters, as Python's
 * str has them: with the mappings to several characters, and with the small
 * sigma that ends a word.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

#include "lib/py/expr_unicode.h"

/* The table of runs with the place of each, made when it is needed. */
struct uni {
	struct {
		uint32_t lo;
		uint8_t kind;
	} v[1];			/* expr_uni_nruns of them */
};

static int
read_uni(struct eval *ev)
{
	size_t i, n = expr_uni_nruns;
	const uint8_t *p = expr_uni_runs;
	uint32_t lo = 0, len, shift;
	struct uni *u;

	u = expr_alloc(ev, sizeof(*u) + (n - 1) * sizeof(u->v[0]));
	if (u == NULL || expr_steps(ev, n) == -1)
		return -1;
	for (i = 0; i < n; i++) {
		u->v[i].lo = lo;
		u->v[i].kind = *p++;
		len = shift = 0;
		do {
			len |= (uint32_t)(*p & 0x7F) << shift;
			shift += 7;
		} while (*p++ & 0x80);
		lo += len;
	}
	ev->uni = u;
	return 0;
}

static unsigned
ascii_props(uint32_t c)
{
	unsigned always = c >= ' ' && c < 0x7F ? EXPR_UNI_PRINT : 0;

	if (c >= 'a' && c <= 'z')
		return always | EXPR_UNI_ALPHA | EXPR_UNI_LOWER |
		    EXPR_UNI_CASED;
	if (c >= 'A' && c <= 'Z')
		return always | EXPR_UNI_ALPHA | EXPR_UNI_UPPER |
		    EXPR_UNI_CASED;
	if (c >= '0' && c <= '9')
		return always | EXPR_UNI_DECIMAL | EXPR_UNI_DIGIT |
		    EXPR_UNI_NUMERIC;
	if (c == '\'' || c == '.' || c == ':' || c == '^' || c == '`')
		return always | EXPR_UNI_IGNORED;
	return always;
}

int
expr_props(struct eval *ev, uint32_t c, unsigned *out)
{
	size_t lo = 0, hi = expr_uni_nruns, mid;

	if (c < 0x80) {
		*out = ascii_props(c);
		return 0;
	}
	if (ev->uni == NULL && read_uni(ev) == -1)
		return -1;
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (ev->uni->v[mid].lo <= c)
			lo = mid;
		else
			hi = mid;
	}
	*out = expr_uni_kinds[ev->uni->v[lo].kind].
	    mask[(c - ev->uni->v[lo].lo) & 1];
	if (*out & EXPR_UNI_UNSURE)
		return expr_decline(ev, "U+%04X, which is new in Unicode",
		    (unsigned)c);
	return 0;
}

/* Mappings. */

/* Whether some row says where c goes, which is *out. */
static bool
find_row(const struct expr_case_row *v, size_t n, uint32_t c, uint32_t *out)
{
	size_t lo = 0, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (c > v[mid].hi)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == n || c < v[lo].lo || (c - v[lo].lo) % v[lo].stride != 0)
		return false;
	*out = v[lo].step == EXPR_CASE_UNSURE ? UINT32_MAX :
	    (uint32_t)((int32_t)c + v[lo].step);
	return true;
}

static const char *
find_long(enum expr_case map, uint32_t c)
{
	size_t lo = 0, hi = expr_case_nlongs, mid;
	const struct expr_case_long *r;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		r = &expr_case_longs[mid];
		if (r->map < (uint32_t)map ||
		    (r->map == (uint32_t)map && r->cp < c))
			lo = mid + 1;
		else
			hi = mid;
	}
	r = &expr_case_longs[lo];
	return lo < expr_case_nlongs && r->map == (uint32_t)map &&
	    r->cp == c ? r->to : NULL;
}

static uint32_t
find_short(enum expr_case map, uint32_t c)
{
	uint32_t to = c;

	if ((c >= 0x2E00 && c < 0xA640) || (c >= 0xAC00 && c < 0xFB00))
		return c;		/* most of the world's text */
	if ((map == EXPR_TITLE &&
	    find_row(expr_case_title, expr_case_ntitle, c, &to)) ||
	    (map == EXPR_FOLD &&
	    find_row(expr_case_fold, expr_case_nfold, c, &to)))
		return to;
	if (map == EXPR_UPPER || map == EXPR_TITLE)
		find_row(expr_case_upper, expr_case_nupper, c, &to);
	else
		find_row(expr_case_lower, expr_case_nlower, c, &to);
	return to;
}

/* Appends what c becomes. */
static int
put_case(struct eval *ev, struct sink *s, enum expr_case map, uint32_t c)
{
	const char *to;
	char out[4];

	if (c < 0x80) {
		if (map == EXPR_UPPER || map == EXPR_TITLE)
			c = c >= 'a' && c <= 'z' ? c - 0x20 : c;
		else
			c = c >= 'A' && c <= 'Z' ? c + 0x20 : c;
		out[0] = (char)c;
		return expr_put(ev, s, (struct str){ out, 1 });
	}
	to = find_long(map, c);
	if (to != NULL)
		return expr_put(ev, s, str_of(to));
	c = find_short(map, c);
	if (c == UINT32_MAX)
		return expr_decline(ev, "a letter that is new in Unicode");
	return expr_put(ev, s, (struct str){ out, utf8_put(out, c) });
}

/* The code point at i, and how far it goes; what is none is taken alone. */
static uint32_t
code_at(const struct text *t, size_t i, size_t *n)
{
	uint32_t c;

	*n = utf8_get(t->p + i, t->p + t->n, &c);
	if (*n == 0) {
		*n = 1;
		c = 0xFFFD;
	}
	return c;
}

/* The first that is not ignored before i (or from i on) is cased: 1, 0, -1. */
static int
cased_beside(struct eval *ev, const struct text *t, size_t i, bool back)
{
	unsigned props;
	uint32_t c;
	size_t n;

	while (back ? i > 0 : i < t->n) {
		if (back)
			do
				i--;
			while (i > 0 &&
			    ((unsigned char)t->p[i] & 0xC0) == 0x80);
		c = code_at(t, i, &n);
		if (expr_steps(ev, 1) == -1 || expr_props(ev, c, &props) == -1)
			return -1;
		if ((props & EXPR_UNI_IGNORED) == 0)
			return (props & EXPR_UNI_CASED) != 0;
		if (!back)
			i += n;
	}
	return 0;
}

static int
put_sigma(struct eval *ev, struct sink *s, const struct text *t, size_t i)
{
	int before = cased_beside(ev, t, i, true), after = 0;

	if (before == 1)
		after = cased_beside(ev, t, i + 2, false);
	if (before == -1 || after == -1)
		return -1;
	return expr_put(ev, s, before == 1 && after == 0 ?
	    STR("\xCF\x82") : STR("\xCF\x83"));
}

/* The code point at i in another case. */
static int
put_at(struct eval *ev, struct sink *s, enum expr_case map,
    const struct text *t, size_t i, uint32_t c)
{
	if (c == 0x3A3 && map == EXPR_LOWER)
		return put_sigma(ev, s, t, i);
	return put_case(ev, s, map, c);
}

/*
 * Changes [p, p + n) into out as far as it is ASCII; how far that was.  Eight
 * bytes at a time: the top bit of each tells, by carries that stay within
 * their byte, whether it is from the first letter on and whether it is past
 * the last.
 */
static size_t
ascii_case(char *out, const char *p, size_t n, bool upper)
{
	const uint64_t ones = UINT64_MAX / 0xFF, tops = ones * 0x80;
	const unsigned first = upper ? 'a' : 'A', last = first + 25;
	uint64_t w, from, past;
	size_t i;
	unsigned char c;

	for (i = 0; n - i >= sizeof(w); i += sizeof(w)) {
		memcpy(&w, p + i, sizeof(w));
		if (w & tops)
			break;
		from = w + ones * (0x80 - first);
		past = w + ones * (0x7F - last);
		w ^= ((from ^ past) & tops) >> 2;
		memcpy(out + i, &w, sizeof(w));
	}
	for (; i < n; i++) {
		c = (unsigned char)p[i];
		if (c >= 0x80)
			break;
		out[i] = (char)(c >= first && c <= last ? c ^ 0x20 : c);
	}
	return i;
}

static int
change(struct eval *ev, const struct text *t, enum expr_case map,
    struct value *out)
{
	bool upper = map == EXPR_UPPER;
	struct sink s = { .cap = t->n + 8 };
	size_t i, n;
	uint32_t c;

	s.p = expr_alloc(ev, s.cap);
	if (s.p == NULL || expr_bytes(ev, t->n) == -1)
		return -1;
	i = s.n = ascii_case(s.p, t->p, t->n, upper);
	if (i < t->n && expr_bytes(ev, t->n * 8) == -1)
		return -1;
	while (i < t->n) {
		c = code_at(t, i, &n);
		if (put_at(ev, &s, map, t, i, c) == -1)
			return -1;
		i += n;
		if (t->n - i > s.cap - s.n)
			continue;	/* there may be no room for all */
		n = ascii_case(s.p + s.n, t->p + i, t->n - i, upper);
		s.n += n;
		i += n;
	}
	return expr_take(ev, &s, out);
}

int
expr_case(struct eval *ev, struct text *t, enum expr_case map,
    struct value *out)
{
	if (map == EXPR_LOWER && t->low != NULL) {
		*out = (struct value){ .kind = EXPR_STR };
		out->u.text = t->low;
		return 0;
	}
	if (change(ev, t, map, out) == -1)
		return -1;
	if (map == EXPR_LOWER && !t->fixed)
		t->low = out->u.text;
	return 0;
}

enum mixed { TITLE, CAPITAL, SWAP };

static int
change_each(struct eval *ev, const struct text *t, enum mixed how,
    struct value *out)
{
	struct sink s = { 0 };
	enum expr_case map;
	unsigned props = 0;
	bool cased = false;
	size_t i, n;
	uint32_t c;

	if (expr_steps(ev, t->n) == -1)
		return -1;
	for (i = 0; i < t->n; i += n) {
		c = code_at(t, i, &n);
		if (how != CAPITAL && expr_props(ev, c, &props) == -1)
			return -1;
		map = cased ? EXPR_LOWER : EXPR_TITLE;
		if (how == SWAP)
			map = props & EXPR_UNI_UPPER ? EXPR_LOWER : EXPR_UPPER;
		if (how == SWAP && !(props & (EXPR_UNI_UPPER |
		    EXPR_UNI_LOWER)) ? expr_put(ev, &s,
		    (struct str){ t->p + i, n }) == -1 :
		    put_at(ev, &s, map, t, i, c) == -1)
			return -1;
		cased = how == CAPITAL || props & EXPR_UNI_CASED;
	}
	return expr_take(ev, &s, out);
}

int
expr_title(struct eval *ev, struct text *t, struct value *out)
{
	return change_each(ev, t, TITLE, out);
}

int
expr_capitalize(struct eval *ev, struct text *t, struct value *out)
{
	return change_each(ev, t, CAPITAL, out);
}

int
expr_swapcase(struct eval *ev, struct text *t, struct value *out)
{
	return change_each(ev, t, SWAP, out);
}

/* Tests. */

/* Rules: all have one of these; none of those; at least one of these. */
static const struct {
	const char *name;
	unsigned all, none, some;
	bool empty;		/* what it says of the empty text */
} tests[] = {
	{ "isalnum",     EXPR_UNI_WORD,    0, 0, false },
	{ "isalpha",     EXPR_UNI_ALPHA,   0, 0, false },
	{ "isdecimal",   EXPR_UNI_DECIMAL, 0, 0, false },
	{ "isdigit",     EXPR_UNI_DIGIT,   0, 0, false },
	{ "isnumeric",   EXPR_UNI_NUMERIC, 0, 0, false },
	{ "isprintable", EXPR_UNI_PRINT,   0, 0, true },
	{ "islower",     0, EXPR_UNI_UPPER | EXPR_UNI_TITLE, EXPR_UNI_LOWER, false },
	{ "isupper",     0, EXPR_UNI_LOWER | EXPR_UNI_TITLE, EXPR_UNI_UPPER, false },
};

/* Words that begin with a capital and go on small. */
static int
is_title(struct eval *ev, const struct text *t, struct value *out)
{
	unsigned props;
	bool cased = false, any = false, small;
	size_t i, n;

	*out = expr_bool(false);
	for (i = 0; i < t->n; i += n) {
		if (expr_steps(ev, 1) == -1 ||
		    expr_props(ev, code_at(t, i, &n), &props) == -1)
			return -1;
		small = props & EXPR_UNI_LOWER;
		if (small || props & (EXPR_UNI_UPPER | EXPR_UNI_TITLE)) {
			if (small != cased)
				return 0;
			cased = any = true;
		} else
			cased = false;
	}
	*out = expr_bool(any);
	return 0;
}

static int
is_space(struct eval *ev, const struct text *t, struct value *out)
{
	size_t i, n;

	*out = expr_bool(false);
	for (i = 0; i < t->n; i += n)
		if (expr_steps(ev, 1) == -1)
			return -1;
		else if (!expr_is_space(code_at(t, i, &n)))
			return 0;
	*out = expr_bool(t->n > 0);
	return 0;
}

int
expr_test(struct eval *ev, struct text *t, const char *name,
    struct value *out)
{
	unsigned props, seen = 0;
	size_t k, i, n;

	if (strcmp(name, "istitle") == 0)
		return is_title(ev, t, out);
	if (strcmp(name, "isspace") == 0)
		return is_space(ev, t, out);
	for (k = 0; strcmp(tests[k].name, name) != 0; k++)
		;
	*out = expr_bool(t->n > 0 ? false : tests[k].empty);
	for (i = 0; i < t->n; i += n) {
		if (expr_steps(ev, 1) == -1 ||
		    expr_props(ev, code_at(t, i, &n), &props) == -1)
			return -1;
		if ((tests[k].all != 0 && (props & tests[k].all) == 0) ||
		    (props & tests[k].none) != 0)
			return 0;
		seen |= props;
	}
	if (t->n > 0)
		*out = expr_bool(tests[k].some == 0 ||
		    (seen & tests[k].some) != 0);
	return 0;
}

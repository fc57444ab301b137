/* SPDX-License-Identifier: ISC */
/*
 * Case and classes of characters, as Python's str has them.
 *
 * Characters on which Python versions disagree are declined, and so are most
 * letters that become several letters in another case.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

#include "lib/unicode.h"

/* True if the category is one of those in the list "Lu Ll ". */
static bool
is_one_of(const char *category, const char *list)
{
	for (; *list != '\0'; list += 3)
		if (memcmp(category, list, 2) == 0)
			return true;
	return false;
}

/* The category of a code point, or NULL after declining. */
static const char *
category(struct eval *ev, uint32_t c)
{
	if (!unicode_changed(c))
		return unicode_category(c);
	expr_decline(ev, "U+%04X, which is new in Unicode", (unsigned)c);
	return NULL;
}

/* A predicate: it is a letter in upper, lower or title case. */
static int
is_cased(struct eval *ev, uint32_t c)
{
	const char *cat;

	if (c < 0x80)
		return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
	cat = category(ev, c);
	if (cat == NULL)
		return -1;
	if (is_one_of(cat, "Lu Ll Lt "))
		return 1;
	if (is_one_of(cat, "Lm Nl ") || c == 0xAA || c == 0xBA || c == 0x345 ||
	    (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F189))
		return expr_decline(ev, "case of U+%04X", (unsigned)c);
	return 0;
}

/* Case mappings. */

/* Letters whose mapping (a bit for each enum expr_case) is not simple. */
static const struct {
	uint32_t lo, hi;
	unsigned maps;
} special[] = {
#define BIT(map) (1u << (map))
#define LONGER (BIT(EXPR_UPPER) | BIT(EXPR_FOLD) | BIT(EXPR_TITLE))
	{ 0x149, 0x149, LONGER },   { 0x1C4, 0x1CC, BIT(EXPR_TITLE) },
	{ 0x1F0, 0x1F0, LONGER },   { 0x1F1, 0x1F3, BIT(EXPR_TITLE) },
	{ 0x390, 0x390, LONGER },   { 0x3B0, 0x3B0, LONGER },
	{ 0x587, 0x587, LONGER },   { 0x10D0, 0x10FF, BIT(EXPR_TITLE) },
	{ 0x13A0, 0x13FF, BIT(EXPR_FOLD) }, { 0x1E96, 0x1E9E, LONGER },
	{ 0x1F50, 0x1FFC, LONGER }, { 0xAB70, 0xABBF, BIT(EXPR_FOLD) },
	{ 0xFB00, 0xFB17, LONGER },
};

static bool
is_special(enum expr_case map, uint32_t c)
{
	size_t i;

	if (unicode_changed(c) &&
	    (unicode_lower(c) != c || unicode_upper(c) != c))
		return true;
	for (i = 0; i < COUNTOF(special); i++)
		if (c >= special[i].lo && c <= special[i].hi)
			return (special[i].maps & BIT(map)) != 0;
	return false;
}

/* Appends c in another case; map is not EXPR_CAPITALIZE. */
static int
put_case(struct eval *ev, struct sink *s, enum expr_case map, uint32_t c)
{
	bool upper = map == EXPR_UPPER || map == EXPR_TITLE;
	char out[4];

	if (c == 0xDF && map != EXPR_LOWER)
		return expr_put(ev, s, map == EXPR_UPPER ? STR("SS") :
		    map == EXPR_TITLE ? STR("Ss") : STR("ss"));
	if (c == 0x130 && !upper)
		return expr_put(ev, s, STR("i\xCC\x87"));
	if ((c >= 0x2E80 && c < 0xA640) || (c >= 0xAC00 && c < 0xFB00))
		return expr_put(ev, s, (struct str){ out, utf8_put(out, c) });
	if (c >= 0x80 && is_special(map, c))
		return expr_decline(ev, "case of U+%04X", (unsigned)c);
	if (upper || (map == EXPR_FOLD && c != 0x131))
		c = unicode_upper(c);
	if (!upper)
		c = unicode_lower(c);
	return expr_put(ev, s, (struct str){ out, utf8_put(out, c) });
}

/*
 * A predicate: the next character before byte i (or from i on) that is not
 * ignorable is cased.  Characters that may be ignorable or not are declined.
 */
static int
cased_beside(struct eval *ev, const struct text *t, size_t i, bool before)
{
	const char *cat;
	uint32_t c;
	size_t n;

	while (before ? i > 0 : i < t->n) {
		if (before)
			i = expr_code_before(t, i);
		c = expr_code_at(t, i, &n);
		if (expr_steps(ev, 1) == -1)
			return -1;
		cat = category(ev, c);
		if (cat == NULL)
			return -1;
		if (c >= 0x80 && is_one_of(cat, "Po Pi Pf Lm "))
			return expr_decline(ev, "sigma beside U+%04X",
			    (unsigned)c);
		if (!is_one_of(cat, "Mn Me Cf Sk ") &&
		    (c >= 0x80 || c == 0 || strchr("'.:", (int)c) == NULL))
			return is_cased(ev, c);
		if (!before)
			i += n;
	}
	return 0;
}

/* Capital sigma at byte i in lower case, which differs at a word's end. */
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

/* Appends the code point c at byte i in another case. */
static int
put_at(struct eval *ev, struct sink *s, enum expr_case map,
    const struct text *t, size_t i, uint32_t c)
{
	if (c == 0x3A3 && map == EXPR_LOWER)
		return put_sigma(ev, s, t, i);
	return put_case(ev, s, map, c);
}

static int
change_all(struct eval *ev, const struct text *t, enum expr_case map,
    struct value *out)
{
	bool upper = map == EXPR_UPPER;
	struct sink s = { .cap = t->n + 8 };
	size_t i, n;

	s.p = expr_alloc(ev, s.cap);
	if (s.p == NULL || expr_bytes(ev, t->n) == -1)
		return -1;
	i = s.n = unicode_ascii_case(s.p, t->p, t->n, upper);
	if (i < t->n && expr_bytes(ev, t->n * 8) == -1)
		return -1;
	while (i < t->n) {
		if (put_at(ev, &s, map, t, i, expr_code_at(t, i, &n)) == -1)
			return -1;
		i += n;
		if (t->n - i > s.cap - s.n)
			continue;	/* the rest may not fit */
		n = unicode_ascii_case(s.p + s.n, t->p + i, t->n - i, upper);
		s.n += n;
		i += n;
	}
	return expr_take(ev, &s, out);
}

/* title() and capitalize(), in which the case of letters differs. */
static int
change_each(struct eval *ev, const struct text *t, bool title,
    struct value *out)
{
	struct sink s = { 0 };
	int inside = 0;			/* of a word, or of the text */
	size_t i, n;
	uint32_t c;

	if (expr_steps(ev, t->n) == -1)
		return -1;
	for (i = 0; i < t->n; i += n) {
		c = expr_code_at(t, i, &n);
		if (put_at(ev, &s, inside ? EXPR_LOWER : EXPR_TITLE, t, i,
		    c) == -1)
			return -1;
		inside = title ? is_cased(ev, c) : 1;
		if (inside == -1)
			return -1;
	}
	return expr_take(ev, &s, out);
}

int
expr_case(struct eval *ev, struct text *t, enum expr_case map,
    struct value *out)
{
	if (map == EXPR_TITLE || map == EXPR_CAPITALIZE)
		return change_each(ev, t, map == EXPR_TITLE, out);
	if (map == EXPR_LOWER && t->low != NULL) {
		*out = (struct value){ .kind = EXPR_STR };
		out->u.text = t->low;
		return 0;
	}
	if (change_all(ev, t, map, out) == -1)
		return -1;
	if (map == EXPR_LOWER && !t->constant)
		t->low = out->u.text;
	return 0;
}

/* Classes. */

/*
 * 1: the character has the property, 0: it has not, 2: it is neutral, which
 * islower() and isupper() accept beside others; or -1.
 */
static int
test_one(struct eval *ev, uint32_t c, enum expr_test test)
{
	const char *cat;
	int cased;

	if (test == EXPR_SPACE)
		return expr_is_space(c);
	cat = category(ev, c);
	if (cat == NULL)
		return -1;
	if (test == EXPR_ALPHA)
		return cat[0] == 'L';
	if (test == EXPR_ALNUM)
		return cat[0] == 'L' || cat[0] == 'N';
	if (test == EXPR_DIGIT)
		return is_one_of(cat, "No ") ?
		    expr_decline(ev, "digit U+%04X", (unsigned)c) :
		    is_one_of(cat, "Nd ");
	cased = is_cased(ev, c);
	if (cased != 1)
		return cased == 0 ? 2 : -1;
	return is_one_of(cat, test == EXPR_IS_LOWER ? "Ll " : "Lu ");
}

int
expr_test(struct eval *ev, struct text *t, enum expr_test test,
    struct value *out)
{
	bool any = false;
	size_t i, n;
	int rc;

	*out = expr_bool(false);
	if (expr_steps(ev, t->n) == -1)
		return -1;
	for (i = 0; i < t->n; i += n) {
		rc = test_one(ev, expr_code_at(t, i, &n), test);
		if (rc <= 0)
			return rc;
		any = any || rc == 1;
	}
	*out = expr_bool(any);
	return 0;
}

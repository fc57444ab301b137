/* SPDX-License-Identifier: ISC */
/* The Unicode tables: categories, scripts, case mappings and folding. */
#include <string.h>

#include "base/base.h"
#include "lib/unicode.h"
#include "test/tool/tap.h"

static size_t total;

/* Counts code points; all ranges have to be valid. */
static void
count(void *last, uint32_t lo, uint32_t hi)
{
	uint32_t *next = last;

	if (lo < *next || hi < lo || hi > 0x10FFFF)
		total = SIZE_MAX / 2;
	*next = hi + 1;
	total += hi - lo + 1;
}

static size_t
size_of(const char *class)
{
	uint32_t next = 0;

	total = 0;
	unicode_each(unicode_class(str_of(class)), count, &next);
	return total;
}

static bool
is(uint32_t c, const char *category)
{
	return memcmp(unicode_category(c), category, 2) == 0;
}

/* Sizes from the Unicode Character Database 15.0. */
static void
test_classes(void)
{
	OK(is('A', "Lu") && is('a', "Ll") && is('0', "Nd") && is(0x100, "Lu") && is(0x101, "Ll"));
	OK(is(0x4E00, "Lo") && is(0x378, "Cn") && is(0x10FFFF, "Cn") && is(UINT32_MAX, "Cn"));
	OK(size_of("Lu") == 1831 && size_of("Ll") == 2233 && size_of("Nd") == 680);
	OK(size_of("L") == size_of("Lu") + size_of("Ll") + size_of("Lt") + size_of("Lm") + size_of("Lo"));
	OK(size_of("Greek") == 518 && size_of("Han") == 98408);
	OK(unicode_class(STR("greek")) == 0 && unicode_class(STR("Lx")) == 0 && unicode_class(STR("")) == 0);
}

/* Mappings are consistent, and orbits are cycles that contain them. */
static void
test_case(void)
{
	uint32_t c, next, min;
	size_t bad = 0, n;

	for (c = 0; c < 0x20000; c++) {
		bad += unicode_lower(unicode_lower(c)) != unicode_lower(c);
		min = c;
		for (n = 1, next = unicode_fold_next(c); next != c && n < 9; n++) {
			min = next < min ? next : min;
			next = unicode_fold_next(next);
		}
		bad += n > 4 || unicode_fold_min(c) != min;
		if (c != 0x130)
			bad += unicode_fold_min(unicode_lower(c)) != min;
	}
	OK(bad == 0);
	OK(unicode_lower(0x130) == 'i' && unicode_upper(0x131) == 'I' && unicode_upper(0xFF) == 0x178);
	OK(unicode_fold_next('k') == 0x212A && unicode_fold_next(0x212A) == 'K');
	OK(unicode_fold_next(0x130) == 0x130 && unicode_fold_next(0xDF) == 0x1E9E);
	OK(unicode_changed(0x2C2F) && !unicode_changed(0x2C2E));
}

int
main(void)
{
	test_classes();
	test_case();
	return tap_done();
}

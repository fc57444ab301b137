/* SPDX-License-Identifier: ISC */
/* Commands of CI systems are broken up in every form of output. */
#include <string.h>

#include "base/base.h"
#include "lib/guard.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct arena a;

static bool
guards(enum guard_form form, const char *text, const char *want)
{
	struct buf b = { 0 };

	buf_puts(&b, "##[");	/* before `from`: unchanged */
	buf_puts(&b, text);
	guard_output(&b, 3, form);
	return is_text(arena_take(&a, &b), arena_fmt(&a, "##[%s", want).p);
}

static void
anywhere(void)
{
	OK(guards(GUARD_TEXT, "", "") && guards(GUARD_TEXT, "#", "#"));
	OK(guards(GUARD_TEXT, "a ##[b] ##vso[c]", "a #\\#[b] #\\#vso[c]"));
	OK(guards(GUARD_TEXT, "##teamcity[ ##VSO[", "#\\#teamcity[ #\\#VSO["));
	OK(guards(GUARD_TEXT, "####[", "###\\#["));
	OK(guards(GUARD_TEXT, "## a [b] ##x[ # #[ ##vsoo[ ##vso", "## a [b] ##x[ # #[ ##vsoo[ ##vso"));
	OK(guards(GUARD_TEXT, "#\xE2\x80\x8B#\xC2\xADvs\x01o[", "#\\\xE2\x80\x8B#\xC2\xADvs\x01o["));
	OK(guards(GUARD_TEXT, "#\n#[", "#\n#["));
	OK(guards(GUARD_GITHUB, "::error::##[a", "::error::#\\#[a"));
	OK(guards(GUARD_JSON, "\"##vso[x]\"", "\"\\u0023#vso[x]\""));
	OK(guards(GUARD_JSON, "{\n::\n}", "{\n::\n}"));
	OK(guards(GUARD_XML, "<a>##[b]\n::c", "<a>&#35;#[b]\n&#58;:c"));
}

static void
lines(void)
{
	OK(guards(GUARD_TEXT, "::a::b\n::c", ":\\:a::b\n:\\:c"));
	OK(guards(GUARD_TEXT, "a ::b\n: :\nc::d", "a ::b\n: :\nc::d"));
	OK(guards(GUARD_TEXT, " \t\xC2\xA0\xE3\x80\x80::", " \t\xC2\xA0\xE3\x80\x80:\\:"));
	OK(guards(GUARD_TEXT, "a\r::b\x0B::c\xE2\x80\xA8::d", "a\r:\\:b\x0B:\\:c\xE2\x80\xA8:\\:d"));
	OK(guards(GUARD_TEXT, "\xEF\xBB\xBF:\xE2\x80\x8D:", "\xEF\xBB\xBF:\\\xE2\x80\x8D:"));
	OK(guards(GUARD_TEXT, "\033[1;31m::a", "\033[1;31m:\\:a"));
	OK(guards(GUARD_TEXT, "\xE6\xB3\xA8::a", "\xE6\xB3\xA8::a"));
	OK(guards(GUARD_TEXT, "::\n\n::", ":\\:\n\n:\\:"));
}

static void
plain(void)
{
	OK(guards(GUARD_PLAIN, "a\tb\nc\xC3\xA9", "a\tb\nc\xC3\xA9"));
	OK(guards(GUARD_PLAIN, "\033[31m\r\x7F\xC2\x85\xFF", "?[31m????"));
	OK(guards(GUARD_PLAIN, "\xE2\x80\xAE::\xEF\xBB\xBF", "?::?"));
	OK(guards(GUARD_PLAIN, "::##[", ":\\:#\\#["));
	OK(guard_hidden(0x200B) && guard_hidden(0xE0001) && guard_hidden(0xAD));
	OK(!guard_hidden('a') && !guard_hidden(0xFE0F) && !guard_hidden(0x301));
}

/* Linear: repeated beginnings, long stretches that are ignored. */
static void
large(void)
{
	static const char *const units[] = { "#", "##", "##vso", ":", " ",
		"#\xE2\x80\x8B", "\n\xE2\x80\x8B", "##[", "::\n", "\033[", "\x01" };
	struct buf b = { 0 };
	double start = tap_cpu();
	size_t i, n;

	for (i = 0; i < COUNTOF(units); i++) {
		b.n = 0;
		for (n = 0; n < 200000; n++)
			buf_puts(&b, units[i]);
		guard_output(&b, 0, GUARD_TEXT);
		b.n = 0;
		buf_puts(&b, "\n");
		for (n = 0; n < 200000; n++)
			buf_puts(&b, units[i]);
		guard_output(&b, 1, GUARD_PLAIN);
	}
	printf("# %.2f s\n", tap_cpu() - start);
	OK(tap_cpu() - start < 60);
	buf_free(&b);
}

int
main(void)
{
	RUN(anywhere, lines, plain);
	RUN_LARGE(large);
	arena_free(&a);
	return tap_done();
}

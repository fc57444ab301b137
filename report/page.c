/* SPDX-License-Identifier: ISC */
/*
 * The page in one document.
 *
 * Results are JSON in script elements of a type that browsers do not run.  The
 * only character that could end such an element is "<", which is written as an
 * escape sequence; "#" is, too, so that a log contains no command (guard.h).
 */
#include "report/page.h"

#include <assert.h>
#include <string.h>

#include "lib/base64.h"
#include "lib/gzip/inflate.h"
#include "lib/sha256.h"
#include "report/report_internal.h"

/* What index.html loads, and what a document contains instead. */
static const struct part {
	const char *tag;	/* in index.html */
	const char *file;
	const char *open, *close;
} parts[] = {
	{ "<link rel=\"icon\" href=\"page/icon.svg\" type=\"image/svg+xml\">",
	    NULL, "", "" },
	{ "<link rel=\"stylesheet\" href=\"page/style.css\">", "style.css",
	    "<style>", "</style>" },
	{ "<script src=\"page/theme.js\"></script>", "theme.js",
	    "<script>", "</script>" },
	{ "<script type=\"module\" src=\"page/app.js\"></script>", "app.js",
	    "<script type=\"module\">", "</script>" },
};
static const char end[] = "</body>";

enum { FILE_MAX = 1 << 20 };	/* as of util/deflate.c */

struct str
page_gzip(struct str name)
{
	const struct page_file *f = page_files;

	for (; f < page_files + page_nfiles; f++)
		if (str_is(name, f->name))
			return (struct str){ (const char *)f->p, f->n };
	return (struct str){ NULL, 0 };
}

struct str
page_file(struct arena *a, struct str name)
{
	struct str gzip = page_gzip(name);
	struct buf b = { 0 };
	struct err e;
	int rc;

	if (gzip.p == NULL)
		return gzip;
	rc = inflate_gzip(&b, gzip, FILE_MAX, &e);
	assert(rc == 0);	/* build/page_files.c is as it was made */
	return arena_take(a, &b);
}

/* Appends the hash of a text, as a policy names it. */
static void
put_hash(struct buf *b, struct str text)
{
	unsigned char digest[SHA256_BYTES];
	char out[BASE64_SIZE(SHA256_BYTES)];

	sha256_raw(text, digest);
	base64_put(digest, sizeof(digest), out);
	buf_fmt(b, " 'sha256-%.*s'", (int)sizeof(out), out);
}

static void
put_policy(struct buf *b, struct arena *a)
{
	buf_puts(b, "<meta http-equiv=\"Content-Security-Policy\" "
	    "content=\"default-src 'none'; script-src");
	put_hash(b, page_file(a, STR("theme.js")));
	put_hash(b, page_file(a, STR("app.js")));
	buf_puts(b, "; style-src");
	put_hash(b, page_file(a, STR("style.css")));
	buf_puts(b, "; base-uri 'none'; form-action 'none'; "
	    "require-trusted-types-for 'script'; trusted-types 'none'\">\n");
}

/* Appends the text before a tag, and removes both; the tag must be there. */
static void
put_until(struct buf *b, struct str *text, const char *tag)
{
	size_t n = strlen(tag), i;

	for (i = 0; i + n <= text->n; i++)
		if (memcmp(text->p + i, tag, n) == 0)
			break;
	assert(i + n <= text->n);
	buf_put(b, (struct str){ text->p, i });
	*text = (struct str){ text->p + i + n, text->n - i - n };
}

void
page_put_head(struct buf *b)
{
	struct arena a = { 0 };
	struct str rest = page_file(&a, STR("index.html"));
	const struct part *p;

	for (p = parts; p < parts + COUNTOF(parts); p++) {
		put_until(b, &rest, p->tag);
		if (p == parts)
			put_policy(b, &a);
		buf_puts(b, p->open);
		if (p->file != NULL)
			buf_put(b, page_file(&a, str_of(p->file)));
		buf_puts(b, p->close);
	}
	put_until(b, &rest, end);
	arena_free(&a);
}

void
page_put_tail(struct buf *b)
{
	buf_fmt(b, "%s\n</html>\n", end);
}

void
page_begin_results(struct buf *b, struct str name)
{
	buf_puts(b, "<script type=\"application/json\" class=\"results\" "
	    "data-name=\"");
	report_escape_line(b, name, 0);
	buf_puts(b, "\">");
}

void
page_put_results(struct buf *b, struct str json)
{
	size_t i, from;

	for (i = from = 0; i < json.n; i++) {
		if (json.p[i] != '<' && json.p[i] != '#')
			continue;
		buf_put(b, (struct str){ json.p + from, i - from });
		buf_puts(b, json.p[i] == '<' ? "\\u003c" : "\\u0023");
		from = i + 1;
	}
	buf_put(b, (struct str){ json.p + from, json.n - from });
}

void
page_end_results(struct buf *b)
{
	buf_puts(b, "</script>\n");
}

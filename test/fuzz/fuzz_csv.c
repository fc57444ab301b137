/* SPDX-License-Identifier: ISC */
/*
 * Input: a CSV table.  An error has a place.  In a table that is accepted each
 * record has one field per name, and the table is the same after it is written
 * with every field quoted and read again.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "lib/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
put_field(struct buf *b, struct str s, bool first)
{
	size_t i;

	buf_puts(b, first ? "\"" : ",\"");
	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '"')
			buf_putc(b, '"');
		buf_putc(b, s.p[i]);
	}
	buf_putc(b, '"');
}

static void
put_record(struct buf *b, const struct json *row, bool names)
{
	const struct json *v;

	for (v = json_first(row); v != NULL; v = v->next)
		put_field(b, names ? json_key(v) : json_text(v),
		    v == json_first(row));
	buf_putc(b, '\n');
}

/* CR LF within quotes becomes LF, so the CR is lost. */
static bool
has_crlf(struct str s)
{
	size_t i;

	for (i = 0; i + 1 < s.n; i++)
		if (s.p[i] == '\r' && s.p[i + 1] == '\n')
			return true;
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct str text = { (const char *)data, size };
	struct err e = { 0 };
	struct buf b = { 0 };
	struct json *v, *w, *row;

	v = csv_read(&a, text, &e);
	if (v == NULL)
		assert(e.code == ERR_SYNTAX && e.line > 0 && e.col > 0 &&
		    e.msg[0] != '\0');
	else if (json_first(v) != NULL) {
		put_record(&b, json_first(v), true);
		for (row = json_first(v); row != NULL; row = row->next) {
			assert(json_count(row) == json_count(json_first(v)));
			assert(row->line > 0);
			put_record(&b, row, false);
		}
		w = csv_read(&a, buf_str(&b), &e);
		assert(w != NULL);
		assert(has_crlf(buf_str(&b)) || json_equal(v, w));
	}
	buf_free(&b);
	arena_free(&a);
	return 0;
}

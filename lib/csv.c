/* SPDX-License-Identifier: ISC */
/*
 * Comma-separated values into the tree of json.h.
 *
 * One pass over the text.  A field borrows from the text, unless it is quoted
 * and contains a doubled quote or a CR LF.  All records share the column
 * names, so a record costs one node plus one per field.
 */
#include "lib/csv.h"

#include <string.h>

#include "json.h"

enum { COLUMNS_MAX = 10000 };

struct reader {
	struct arena *arena;
	const char *p, *end;
	const char *bol;	/* the start of the line */
	unsigned line;
	struct err *err;
};

static uint16_t
column(const struct reader *r, const char *at)
{
	size_t col = (size_t)(at - r->bol) + 1;

	return (uint16_t)(col < JSON_COL_MAX ? col : JSON_COL_MAX);
}

static int
fail(struct reader *r, const char *at, const char *msg)
{
	err_set(r->err, ERR_SYNTAX, "%s", msg);
	return err_at(r->err, r->line, column(r, at));
}

/* The length of the line end at p: LF, CR LF, or CR at the end; else 0. */
static size_t
eol(const struct reader *r, const char *p)
{
	if (p < r->end && *p == '\n')
		return 1;
	if (p < r->end && *p == '\r') {
		if (p + 1 == r->end)
			return 1;
		if (p[1] == '\n')
			return 2;
	}
	return 0;
}

static void
next_line(struct reader *r)
{
	r->p += eol(r, r->p);
	r->bol = r->p;
	r->line++;
}

/* Decodes the text between the quotes of a field. */
static struct str
unquote(struct reader *r, const char *from, const char *to)
{
	size_t n = (size_t)(to - from);
	char *out, *w;

	if (memchr(from, '"', n) == NULL && memchr(from, '\r', n) == NULL)
		return (struct str){ from, n };
	out = w = arena_raw(r->arena, n, 1);
	for (; from < to; from++) {
		if (*from == '"' || (*from == '\r' && from + 1 < to &&
		    from[1] == '\n'))
			from++;	/* keep the second of the two */
		*w++ = *from;
	}
	return (struct str){ out, (size_t)(w - out) };
}

static int
read_quoted(struct reader *r, struct str *out)
{
	const char *open = r->p, *from = ++r->p, *bol = r->bol;
	unsigned line = r->line;

	for (;; r->p++) {
		if (r->p == r->end) {
			r->bol = bol;
			r->line = line;
			return fail(r, open, "a quote is not closed");
		}
		if (*r->p == '\n') {
			r->line++;
			r->bol = r->p + 1;
		}
		if (*r->p != '"')
			continue;
		if (r->p + 1 < r->end && r->p[1] == '"')
			r->p++;
		else
			break;
	}
	*out = unquote(r, from, r->p++);
	if (r->p < r->end && *r->p != ',' && eol(r, r->p) == 0)
		return fail(r, r->p, "text after a closing quote; write a "
		    "quote inside a quoted field twice");
	return 0;
}

static int
read_field(struct reader *r, struct str *out)
{
	const char *from = r->p;

	if (r->p < r->end && *r->p == '"')
		return read_quoted(r, out);
	while (r->p < r->end && *r->p != ',' && eol(r, r->p) == 0) {
		if (*r->p == '"')
			return fail(r, r->p, "quote inside an unquoted field; "
			    "quote the whole field");
		r->p++;
	}
	*out = (struct str){ from, (size_t)(r->p - from) };
	return 0;
}

/* Reads the next field into v. */
static int
read_cell(struct reader *r, struct json *v)
{
	struct str s = { 0 };

	v->type = JSON_STRING;
	v->line = r->line;
	v->col = column(r, r->p);
	if (read_field(r, &s) == -1)
		return -1;
	if (s.n > UINT32_MAX)
		return fail(r, r->p, "a field is too long");
	v->u.text = s.p;
	v->n = (uint32_t)s.n;
	return 0;
}

/* Skips blank lines; false at the end of the text. */
static bool
at_record(struct reader *r)
{
	while (r->p < r->end && eol(r, r->p) > 0)
		next_line(r);
	return r->p < r->end;
}

/* Reads the first record; its members are the column names. */
static struct json *
read_header(struct reader *r, size_t *n)
{
	struct json_mem mem = { arena_hook, r->arena };
	struct json *row = NEW(r->arena, struct json), **tail = &row->u.child;
	const struct json *twice;
	struct json *v;

	row->type = JSON_OBJECT;
	for (*n = 0;; r->p++) {
		v = NEW(r->arena, struct json);
		if (++*n > COLUMNS_MAX) {
			fail(r, r->p, "too many columns");
			return NULL;
		}
		if (read_cell(r, v) == -1)
			return NULL;
		v->key = v->u.text;
		v->nkey = v->n;
		v->key_line = v->line;
		v->key_col = v->col;
		*tail = v;
		tail = &v->next;
		if (r->p == r->end || *r->p != ',')
			break;
	}
	row->n = (uint32_t)*n;
	twice = json_seal(&mem, row, false);
	if (twice != NULL) {
		err_set(r->err, ERR_SYNTAX, "duplicate column \"%.*s\"",
		    STRF(utf8_cut(json_key(twice), 40)));
		err_at(r->err, twice->line, twice->col);
		return NULL;
	}
	next_line(r);
	return row;
}

static int
read_record(struct reader *r, const struct json *header, size_t n,
    struct json *row)
{
	struct json_mem mem = { arena_hook, r->arena };
	struct json *v = NEW_N(r->arena, struct json, n);
	const struct json *name = json_first(header);
	size_t i;

	row->type = JSON_OBJECT;
	row->line = r->line;
	row->col = 1;
	row->n = (uint32_t)n;
	row->u.child = v;
	for (i = 0; i < n; i++, name = name->next, r->p++) {
		if (read_cell(r, &v[i]) == -1)
			return -1;
		v[i].key = name->key;
		v[i].nkey = name->nkey;
		v[i].key_line = name->key_line;
		v[i].key_col = name->key_col;
		v[i].next = i + 1 < n ? &v[i + 1] : NULL;
		if (r->p == r->end || *r->p != ',')
			break;
	}
	if (i + 1 != n) {
		err_set(r->err, ERR_SYNTAX, "%s fields than the header, "
		    "which has %zu", i < n ? "fewer" : "more", n);
		return err_at(r->err, row->line, i < n ? 1 : column(r, r->p));
	}
	json_seal(&mem, row, false);
	next_line(r);
	return 0;
}

/* Refuses invalid UTF-8 and NUL bytes. */
static int
check_text(struct reader *r)
{
	const char *p;
	uint32_t c;
	size_t n;

	for (p = r->p; p < r->end; p += n) {
		n = (unsigned char)*p < 0x80 ? 1 : utf8_get(p, r->end, &c);
		if (*p == '\n') {
			r->bol = p + 1;
			r->line++;
		}
		if (n == 0)
			return fail(r, p, "the text is not valid UTF-8");
		if (*p == '\0')
			return fail(r, p, "NUL byte: this is not a text file");
	}
	r->bol = r->p;
	r->line = 1;
	return 0;
}

int
csv_open(struct csv *t, struct arena *a, struct str text, struct err *e)
{
	struct reader r = { .arena = a, .line = 1, .err = e };

	if (text.p == NULL)
		text = STR("");
	r.p = r.bol = str_after_bom(text).p;
	r.end = text.p + text.n;
	if (check_text(&r) == -1)
		return -1;
	if (!at_record(&r))
		return fail(&r, r.p, "the header is missing: the file is "
		    "empty");
	t->header = read_header(&r, &t->columns);
	t->p = r.p;
	t->end = r.end;
	t->line = r.line;
	return t->header != NULL ? 0 : -1;
}

int
csv_next(struct csv *t, struct arena *a, struct json *row, const char **at,
    struct err *e)
{
	struct reader r = { .arena = a, .p = t->p, .end = t->end, .bol = t->p,
		.line = t->line, .err = e };

	if (!at_record(&r))
		return 0;
	*at = r.p;
	if (read_record(&r, t->header, t->columns, row) == -1)
		return -1;
	t->p = r.p;
	t->line = r.line;
	return 1;
}

struct json *
csv_read(struct arena *a, struct str text, struct err *e)
{
	struct json *list = NEW(a, struct json), **tail = &list->u.child;
	struct json *row;
	struct csv table;
	const char *at;
	int rc;

	list->type = JSON_ARRAY;
	list->line = list->col = 1;
	if (csv_open(&table, a, text, e) == -1)
		return NULL;
	for (;; list->n++) {
		row = NEW(a, struct json);
		rc = csv_next(&table, a, row, &at, e);
		if (rc <= 0)
			return rc == 0 ? list : NULL;
		if (list->n == UINT32_MAX) {
			err_set(e, ERR_LIMIT, "too many records");
			err_at(e, row->line, 1);
			return NULL;
		}
		*tail = row;
		tail = &row->next;
	}
}

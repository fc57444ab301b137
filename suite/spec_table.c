/* SPDX-License-Identifier: ISC */
/*
 * The table of `tasks_from`: CSV, a JSON list, or JSON lines.
 *
 * A row as a tree needs many times the bytes of its text, and a table may have
 * a million rows.  So a row is a place in the text: the table is read once to
 * find what is wrong with it, once more for its tasks, and a row whenever its
 * variables are needed.  Only a JSON list stays as a tree.
 */
#include "suite/spec_internal.h"

#include <string.h>

#include "base/os_path.h"

enum { ROOM = 16 << 10 };	/* bytes that are enough for most rows */

/* The rows that `range` selects, counted from 1; all rows without it. */
static bool
get_range(struct spec_loader *l, const struct spec_file *f,
    const struct json *range, int64_t *first, int64_t *last)
{
	const struct json *v = json_first(range);

	*first = 1;
	*last = INT64_MAX;
	if (!spec_given(range))
		return true;
	if (range->type != JSON_ARRAY || json_count(range) != 2 ||
	    !json_int(v, first) || !json_int(v->next, last)) {
		spec_error(l, f->path, range, NULL,
		    "\"range\" must be two whole numbers: [first, last]");
		return false;
	}
	if (*first == 0 && *last == 0) {
		*first = 1;
		*last = INT64_MAX;
	}
	if (*first >= 1 && *first <= *last)
		return true;
	spec_error(l, f->path, range, NULL,
	    "\"range\" must be [first, last] with 1 <= first <= last");
	return false;
}

/* Takes the next line that is not blank from the text; false at the end. */
static bool
next_line(const char **p, const char *end, unsigned *line, struct str *out)
{
	const char *nl;

	while (*p < end) {
		nl = memchr(*p, '\n', (size_t)(end - *p));
		*out = (struct str){ *p, (size_t)((nl != NULL ? nl : end) -
		    *p) };
		*p += out->n + (nl != NULL);
		++*line;
		if (str_trim(*out).n > 0)
			return true;
	}
	return false;
}

/* One JSON value per line: 1, or 0 at the end, or -1 and *e. */
static int
next_json(struct spec_rows *r, struct arena *a, struct spec_row *out,
    struct err *e)
{
	struct json_error je = { 0 };
	struct str line;

	if (!next_line(&r->csv.p, r->end, &r->csv.line, &line))
		return 0;
	out->at = line.p;
	out->tree = arena_json(a, line, &je);
	if (out->tree != NULL) {
		out->tree->line = r->csv.line;
		return 1;
	}
	err_set(e, ERR_SYNTAX, "%s", je.msg);
	return err_at(e, r->csv.line, je.col);
}

static int
next_row(struct spec_rows *r, struct arena *a, struct spec_row *out,
    struct err *e)
{
	if (r->list != NULL) {
		out->tree = r->list;
		r->list = r->list->next;
		return 1;
	}
	if (r->end == NULL)
		return 0;
	if (r->is_json)
		return next_json(r, a, out, e);
	out->tree = NEW(a, struct json);
	return csv_next(&r->csv, a, out->tree, &out->at, e);
}

/* Whether its row is text of the table, not a tree. */
static bool
has_text(const struct spec_task *t)
{
	return t->row != NULL && t->def->rows != NULL &&
	    t->def->rows->end != NULL;
}

const struct json *
spec_vars(struct arena *a, const struct spec_task *t)
{
	struct spec_rows r;
	struct spec_row row;
	struct err e;

	if (!has_text(t))
		return t->row;
	r = *t->def->rows;
	r.csv.p = t->row;
	r.csv.line = t->at.line - r.is_json;
	return next_row(&r, a, &row, &e) == 1 ? row.tree : NULL;
}

struct str
spec_cell(struct arena *a, const struct spec_task *t, struct str column)
{
	struct arena tmp = { 0 };
	const struct json *v = json_get(spec_vars(&tmp, t), column);
	struct str s = v != NULL && (v->type == JSON_STRING ||
	    v->type == JSON_NUMBER) ? json_text(v) : STR("");

	if (has_text(t) && (s.p < (const char *)t->row ||
	    s.p >= t->def->rows->end))
		s = arena_str(a, s);	/* it was decoded */
	arena_free(&tmp);
	return s;
}

bool
spec_is_row(const struct spec_task *t)
{
	return t->row != NULL;
}

/* Every row must be an object; keeps the first error. */
static void
check_row(const struct json *v, struct err *e)
{
	if (v->type == JSON_OBJECT || e->code != ERR_NONE)
		return;
	err_set(e, ERR_SCHEMA, "a row must be an object, not %s",
	    json_type_name((enum json_type)v->type));
	err_at(e, v->line, v->col);
}

/* Counts the rows up to the end of the table; -1 and *e if one is wrong. */
static int
count_rows(struct spec_rows r, int64_t *n, struct err *e)
{
	struct arena tmp = { 0 };
	struct spec_row row;
	struct err wrong = { 0 };
	struct arena_mark mark;
	int rc;

	arena_reserve(&tmp, ROOM);
	mark = arena_save(&tmp);
	for (*n = 0; (rc = next_row(&r, &tmp, &row, e)) == 1; ++*n) {
		check_row(row.tree, &wrong);
		arena_restore(&tmp, mark);
	}
	arena_free(&tmp);
	if (rc == -1 || wrong.code == ERR_NONE)
		return rc;
	*e = wrong;
	return -1;
}

/* The place of the first row: in CSV, a JSON list, or JSON lines, by name. */
static int
open_rows(struct arena *a, const char *path, struct str text,
    struct spec_rows *r, struct err *e)
{
	struct str name = str_of(path);
	struct json_error je = { 0 };
	struct json *v;

	r->end = text.p + text.n;
	r->is_json = str_ends(name, STR(".jsonl")) ||
	    str_ends(name, STR(".ndjson"));
	r->csv.p = str_after_bom(text).p;
	if (r->is_json)
		return 0;
	if (!str_ends(name, STR(".json")))
		return csv_open(&r->csv, a, text, e);
	r->end = NULL;
	v = arena_json(a, str_after_bom(text), &je);
	if (v == NULL) {
		err_set(e, ERR_SYNTAX, "%s", je.msg);
		return err_at(e, je.line, je.col);
	}
	if (v->type != JSON_ARRAY) {
		err_set(e, ERR_SCHEMA, "expected a list of objects, not %s",
		    json_type_name((enum json_type)v->type));
		return err_at(e, v->line, v->col);
	}
	r->list = v->n > 0 ? v->u.child : NULL;
	return 0;
}

/* Skips the rows before the range. */
static void
set_range(struct spec_loader *l, struct spec_table *t, int64_t first,
    int64_t last, int64_t total)
{
	struct spec_rows r;
	struct arena tmp = { 0 };
	struct arena_mark mark;
	struct spec_row row;
	struct err e;
	int64_t i;

	arena_reserve(&tmp, ROOM);
	mark = arena_save(&tmp);
	for (i = 1; i < first && next_row(&t->rows, &tmp, &row, &e) == 1; i++)
		arena_restore(&tmp, mark);
	arena_free(&tmp);
	t->n = (size_t)((last < total ? last : total) - first + 1);
	r = t->rows;
	if (next_row(&r, l->arena, &row, &e) == 1)
		t->first = row.tree;
}

void
spec_read_table(struct spec_loader *l, const struct spec_file *f,
    const struct spec_task_list *in, struct spec_table *t)
{
	const struct json *from = in->tasks_from;
	struct err e = { 0 };
	int64_t first, last, total;
	bool ok = get_range(l, f, in->range, &first, &last);

	if (from->type != JSON_STRING) {
		spec_wrong_type(l, f->path, from, "the name of a table");
		return;
	}
	t->path = spec_path(l->arena, f->dir, json_text(from));
	if (spec_read_text(l, t->path, spec_at(f->path, from), &t->text) == -1)
		return;
	if (!os_inside(f->dir, t->path))
		spec_warning(l, f->path, from, NULL, "%.*s is outside the "
		    "suite's directory", STRF(spec_tail(t->path)));
	if (open_rows(l->arena, t->path, t->text, &t->rows, &e) == -1 ||
	    count_rows(t->rows, &total, &e) == -1) {
		spec_note(l->notes, FIELD_ERROR, (struct spec_where){ t->path,
		    e.line, e.col }, "%s", e.msg);
		return;
	}
	if (!ok)
		return;
	if (first <= total)
		set_range(l, t, first, last, total);
	else
		spec_warning(l, f->path, from, NULL, "%.*s has no rows in "
		    "\"range\"", STRF(spec_tail(t->path)));
}

void
spec_read_rows(struct spec_loader *l, struct spec_table *t)
{
	struct spec_suite *s = l->suite;
	struct spec_rows r = t->rows, *shared;
	struct arena tmp = { 0 };
	struct arena_mark mark;
	struct spec_row row = { NULL, NULL };
	struct err e;
	size_t i;

	if (t->n == 0)
		return;
	shared = NEW(l->arena, struct spec_rows);
	*shared = t->rows;
	spec_own_def(l, &t->task)->rows = shared;
	arena_reserve(&tmp, ROOM);
	mark = arena_save(&tmp);
	for (i = 0; i < t->n && next_row(&r, &tmp, &row, &e) == 1; i++) {
		spec_read_row(l, t, &row, i + 1, &s->tasks[s->ntasks++]);
		arena_restore(&tmp, mark);
	}
	arena_free(&tmp);
}

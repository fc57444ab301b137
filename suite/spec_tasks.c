/* SPDX-License-Identifier: ISC */
/*
 * All tasks of a suite: patterns of files, entries of `tasks:`, rows of a
 * table, in this order as they are named.
 *
 * First what there is to read is gathered, then it is read into one array.
 * That an id is used once, and a file read once, is found by sorting.
 */
#include "suite/spec_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "lib/csv.h"
#include "lib/glob.h"

/* Where a task comes from: a file, or an entry. */
struct origin {
	const char *path;	/* NULL: the entry is the task */
	const struct json *entry;	/* of `tasks:` */
	size_t index;
	bool again;		/* a file that came before */
};

/* Whether a pattern leaves open how the name ends. */
static bool
is_open_ended(struct str pattern)
{
	return pattern.n > 0 && (pattern.p[pattern.n - 1] == '*' ||
	    pattern.p[pattern.n - 1] == '?' ||
	    (pattern.p[pattern.n - 1] == ']' && glob_any(pattern)));
}

/* A star at the end matches what else is there; that is not meant. */
static bool
is_task_file(struct spec_loader *l, const char *path, struct str pattern,
    struct spec_where at)
{
	struct str s = str_of(path);
	const char *why = NULL;
	struct stat st;

	if (!is_open_ended(pattern))
		return true;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		why = "it is a directory";
	else if (!str_ends(s, STR(".yaml")) && !str_ends(s, STR(".yml")))
		why = "its name does not end in .yaml";
	if (why != NULL)
		spec_note_key(l->notes, FIELD_WARNING, at, STR("tasks"),
		    "%.*s is not taken as a task: %s",
		    STRF(spec_tail(path)), why);
	return why == NULL;
}

static void
add_origin(struct buf *list, const char *path, const struct json *entry)
{
	struct origin o = { path, entry, list->n / sizeof(o), false };

	buf_put(list, (struct str){ (const char *)&o, sizeof(o) });
}

/* The files of a pattern; a name that is none is tried here as well. */
static void
add_pattern(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct buf *list)
{
	struct str pattern = json_text(v);
	struct spec_where at = spec_at(f->path, v);
	struct spec_paths paths;
	struct err e;
	size_t i, n = 0;

	if (glob_check(pattern, &e) == -1) {
		spec_note_key(l->notes, FIELD_ERROR, at, STR("tasks"),
		    "\"%.*s\" is a %s", STRF(spec_short(pattern)), e.msg);
		return;
	}
	spec_glob(l->arena, f->dir, pattern, &paths);
	if (paths.n == 0 && !glob_any(pattern))
		spec_glob(l->arena, ".", pattern, &paths);
	for (i = 0; i < paths.n; i++)
		if (is_task_file(l, paths.v[i], pattern, at)) {
			add_origin(list, paths.v[i], v);
			n++;
		}
	if (n == 0)
		add_origin(list, NULL, v);
}

static int
by_path(const void *a, const void *b)
{
	const struct origin *x = *(struct origin *const *)a;
	const struct origin *y = *(struct origin *const *)b;
	int r = strcmp(x->path, y->path);

	return r != 0 ? r : x->index < y->index ? -1 : 1;
}

/* A file that two patterns match is one task. */
static void
mark_again(struct spec_loader *l, const char *file, struct origin *o, size_t n)
{
	struct arena_mark mark = arena_save(&l->scratch);
	struct origin **v = NEW_N(&l->scratch, struct origin *, n + 1);
	size_t i, k = 0;

	for (i = 0; i < n; i++)
		if (o[i].path != NULL)
			v[k++] = &o[i];
	qsort(v, k, sizeof(*v), by_path);
	for (i = 1; i < k; i++)
		if (strcmp(v[i]->path, v[i - 1]->path) == 0) {
			v[i]->again = true;
			spec_note_key(l->notes, FIELD_WARNING, spec_at(file,
			    v[i]->entry), STR("tasks"), "%.*s was named "
			    "before; it is one task",
			    STRF(spec_tail(v[i]->path)));
		}
	arena_restore(&l->scratch, mark);
}

static void
gather(struct spec_loader *l, const struct spec_file *f,
    const struct json *tasks, struct buf *list)
{
	const struct json *v;

	if (tasks == NULL || tasks->type == JSON_NULL)
		return;
	if (tasks->type == JSON_STRING) {
		add_pattern(l, f, tasks, list);
		return;
	}
	if (tasks->type != JSON_ARRAY) {
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path, tasks),
		    STR("tasks"), "\"tasks\" must be a list, not %s",
		    json_type_name((enum json_type)tasks->type));
		return;
	}
	for (v = json_first(tasks); v != NULL; v = v->next) {
		if (v->type == JSON_STRING)
			add_pattern(l, f, v, list);
		else if (v->type == JSON_OBJECT)
			add_origin(list, NULL, v);
		else
			spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path,
			    v), STR("tasks"), "a task must be a mapping or "
			    "the name of a file, not %s",
			    json_type_name((enum json_type)v->type));
	}
}

/* One entry; whether it gave a task. */
static bool
read_origin(struct spec_loader *l, const struct spec_file *f,
    const struct origin *o, struct spec_task *t)
{
	struct spec_file file;

	if (o->again || (o->path == NULL && o->entry->type == JSON_STRING))
		return false;
	if (o->path != NULL)
		return spec_read_yaml(l, o->path, &file) == 0 &&
		    spec_read_task(l, &file, file.root, t);
	if (!spec_read_task(l, f, o->entry, t))
		return false;
	if (t->id.n == 0) {
		t->id = t->name = arena_fmt(l->arena, "task-%zu", o->index + 1);
		spec_note_key(l->notes, FIELD_WARNING, t->at, STR("id"),
		    "the task has neither \"id\" nor \"name\"; it is taken "
		    "as \"%.*s\"", STRF(t->id));
	}
	return true;
}

static struct str
cell(const struct json *row, const char *name)
{
	const struct json *v = json_getc(row, name);

	return v == NULL ? STR("") : json_text(v);
}

static void
read_row(struct spec_loader *l, const char *file, const struct json *row,
    size_t n, struct spec_task *t)
{
	const struct json *prompt = json_getc(row, "prompt");

	t->id = spec_trim(cell(row, "id"));
	t->name = spec_trim(cell(row, "name"));
	if (t->id.n == 0)
		t->id = t->name;
	if (t->id.n == 0)
		t->id = arena_fmt(l->arena, "row-%zu", n);
	if (t->name.n == 0)
		t->name = t->id;
	t->at = spec_at(file, row);
	t->vars = row;
	t->inputs.prompt = cell(row, "prompt");
	spec_check_text(l, spec_at(file, prompt != NULL ? prompt : row),
	    "prompt", t->inputs.prompt, row);
}

/* The window of rows that `range` selects, from 1; all without one. */
static bool
get_range(struct spec_loader *l, const struct spec_file *f,
    const struct json *range, int64_t *first, int64_t *last)
{
	const struct json *v = spec_first(range);

	*first = 1;
	*last = INT64_MAX;
	if (range == NULL || range->type == JSON_NULL)
		return true;
	if (range->type != JSON_ARRAY || json_count(range) != 2 ||
	    !json_int(v, first) || !json_int(v->next, last)) {
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path, range),
		    STR("range"), "\"range\" must be two whole numbers: "
		    "[first, last]");
		return false;
	}
	if (*first == 0 && *last == 0) {
		*first = 1;
		*last = INT64_MAX;
	}
	if (*first >= 1 && *first <= *last)
		return true;
	spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path, range),
	    STR("range"), "\"range\" must go from a row, 1 or later, to the "
	    "same or a later one");
	return false;
}

struct table {
	const char *path;
	const struct json *rows;	/* from the first that is wanted */
	size_t n;
};

/* The rows of `tasks_from` that are wanted. */
static void
read_table(struct spec_loader *l, const struct spec_file *f,
    const struct spec_task_list *in, struct table *t)
{
	struct spec_where at = spec_at(f->path, in->tasks_from);
	struct str text;
	struct err e = { 0 };
	int64_t first, last, total, i;
	struct json *v;
	bool ok = get_range(l, f, in->range, &first, &last);

	if (in->tasks_from->type != JSON_STRING) {
		spec_note_key(l->notes, FIELD_ERROR, at, STR("tasks_from"),
		    "\"tasks_from\" must be the name of a CSV file, not %s",
		    json_type_name((enum json_type)in->tasks_from->type));
		return;
	}
	t->path = spec_path(l->arena, f->dir, json_text(in->tasks_from));
	if (spec_read_text(l, l->arena, t->path, &at, &text) == -1)
		return;
	v = csv_read(l->arena, text, &e);
	if (v == NULL) {
		spec_note(l->notes, FIELD_ERROR, (struct spec_where){ t->path,
		    e.line, e.col }, "%s", e.msg);
		return;
	}
	if (!ok)
		return;
	total = (int64_t)json_count(v);
	t->rows = json_first(v);
	for (i = 1; i < first && i <= total; i++)
		t->rows = t->rows->next;
	if (first <= total)
		t->n = (size_t)((last < total ? last : total) - first + 1);
	else
		spec_note_key(l->notes, FIELD_WARNING, at, STR("tasks_from"),
		    "%.*s has no such rows", STRF(spec_tail(t->path)));
}

static int
by_id(const void *a, const void *b)
{
	const struct spec_task *x = *(struct spec_task *const *)a;
	const struct spec_task *y = *(struct spec_task *const *)b;
	int r = str_cmp(x->id, y->id);

	return r != 0 ? r : x < y ? -1 : 1;
}

static void
check_ids(struct spec_loader *l)
{
	struct spec_suite *s = l->suite;
	struct spec_task **v = NEW_N(&l->scratch, struct spec_task *,
	    s->ntasks + 1);
	const struct spec_where *at;
	size_t i, first = 0;

	for (i = 0; i < s->ntasks; i++)
		v[i] = &s->tasks[i];
	qsort(v, s->ntasks, sizeof(*v), by_id);
	for (i = 1; i < s->ntasks; i++) {
		if (!str_eq(v[i]->id, v[first]->id)) {
			first = i;
			continue;
		}
		at = &v[first]->at;
		spec_note_key(l->notes, FIELD_ERROR, v[i]->at, STR("id"),
		    "the task id \"%.*s\" is used twice (first at %.*s:%u:%u)",
		    STRF(spec_short(v[i]->id)), STRF(spec_tail(at->file)),
		    at->line, at->col);
	}
}

/* Patterns without a file: errors where nothing else gives a task. */
static void
check_patterns(struct spec_loader *l, const char *file,
    const struct origin *o, size_t n)
{
	enum field_level level = l->suite->ntasks == 0 ? FIELD_ERROR :
	    FIELD_WARNING;
	size_t i;

	for (i = 0; i < n; i++)
		if (o[i].path == NULL && o[i].entry->type == JSON_STRING)
			spec_note_key(l->notes, level, spec_at(file,
			    o[i].entry), STR("tasks"), "no task file matches "
			    "%.*s", STRF(spec_short(json_text(o[i].entry))));
}

static void
check_none(struct spec_loader *l, const struct spec_file *f,
    const struct spec_task_list *in, size_t norigins)
{
	const struct json *v = in->tasks != NULL ? in->tasks : in->tasks_from;
	struct spec_where at = spec_at(f->path, v != NULL ? v : f->root);

	if (v == NULL || v->type == JSON_NULL)
		spec_note_key(l->notes, FIELD_ERROR, at, STR("tasks"),
		    "Missing required field: tasks");
	else if (norigins > 0)
		spec_note_key(l->notes, FIELD_ERROR, at, STR("tasks"),
		    "there are no tasks: none is enabled");
	else
		spec_note_key(l->notes, FIELD_ERROR, at, json_key(v),
		    "there are no tasks: \"%.*s\" is empty",
		    STRF(json_key(v)));
}

void
spec_read_tasks(struct spec_loader *l, const struct spec_file *f,
    const struct spec_task_list *in)
{
	struct spec_suite *s = l->suite;
	struct table table = { 0 };
	struct buf list = { 0 };
	struct origin *o;
	size_t i, n, errors = l->notes->errors;
	const struct json *row;

	gather(l, f, in->tasks, &list);
	o = (struct origin *)(void *)list.p;
	n = list.n / sizeof(*o);
	if (n > 1)
		mark_again(l, f->path, o, n);
	if (in->tasks_from != NULL && in->tasks_from->type != JSON_NULL)
		read_table(l, f, in, &table);
	else if (spec_first(in->range) != NULL &&
	    !json_equal(json_first(in->range),
	    &(struct json){ .type = JSON_NUMBER, .u = { "0" }, .n = 1 }))
		spec_note_key(l->notes, FIELD_WARNING, spec_at(f->path,
		    in->range), STR("range"), "\"range\" has no effect "
		    "without \"tasks_from\"");
	s->tasks = NEW_N(l->arena, struct spec_task, n + table.n);
	for (i = 0; i < n; i++)
		if (read_origin(l, f, &o[i], &s->tasks[s->ntasks]))
			s->ntasks++;
	for (i = 0, row = table.rows; i < table.n; i++, row = row->next)
		read_row(l, table.path, row, i + 1, &s->tasks[s->ntasks++]);
	check_patterns(l, f->path, o, n);
	if (s->ntasks == 0 && l->notes->errors == errors)
		check_none(l, f, in, n);
	check_ids(l);
	buf_free(&list);
}

/* SPDX-License-Identifier: ISC */
/*
 * All tasks of a suite: the entries of `tasks:` (tasks, and patterns of task
 * files) in their order, then the rows of `tasks_from`.
 *
 * The loader first gathers the origins of tasks, then reads them into one
 * array.  Sorting finds files that are matched twice and duplicate ids.
 */
#include "suite/spec_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/glob.h"

/* The origin of a task: a file or an entry of `tasks:`. */
struct origin {
	const char *path;	/* NULL: the entry itself, or no match */
	const struct json *entry;	/* of `tasks:` */
	size_t index;
	bool repeated;		/* the file was matched before */
};

/* Whether a pattern does not fix the end of the name. */
static bool
is_open_ended(struct str pattern)
{
	return pattern.n > 0 && (pattern.p[pattern.n - 1] == '*' ||
	    pattern.p[pattern.n - 1] == '?' ||
	    (pattern.p[pattern.n - 1] == ']' && glob_any(pattern)));
}

/* A pattern that ends in a star also matches files that are not tasks. */
static bool
is_task_file(struct spec_loader *l, const char *path, const char *file,
    const struct json *entry)
{
	struct str s = str_of(path);
	const char *why = NULL;
	struct stat st;

	if (!is_open_ended(json_text(entry)))
		return true;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		why = "it is a directory";
	else if (!str_ends(s, STR(".yaml")) && !str_ends(s, STR(".yml")))
		why = "its name does not end in .yaml";
	if (why != NULL)
		spec_warning(l, file, entry, "tasks", "%.*s is skipped: %s",
		    STRF(spec_tail(path)), why);
	return why == NULL;
}

static void
add_origin(struct buf *list, const char *path, const struct json *entry)
{
	struct origin o = { path, entry, list->n / sizeof(o), false };

	buf_put(list, (struct str){ (const char *)&o, sizeof(o) });
}

/*
 * Adds the files of a pattern.  A plain name that does not exist beside the
 * suite is also looked up in the working directory.
 */
static void
add_pattern(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct buf *list)
{
	struct str pattern = json_text(v);
	struct field_strs paths;
	struct err e;
	size_t i, n = 0;

	if (glob_check(pattern, &e) == -1) {
		spec_error(l, f->path, v, "tasks", "\"%.*s\" is a %s",
		    SPEC_SHORT(pattern), e.msg);
		return;
	}
	paths = spec_glob(l->arena, f->dir, pattern);
	if (paths.n == 0 && !glob_any(pattern))
		paths = spec_glob(l->arena, ".", pattern);
	for (i = 0; i < paths.n; i++)
		if (is_task_file(l, paths.v[i].p, f->path, v)) {
			add_origin(list, paths.v[i].p, v);
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

/* A file that several patterns match is one task. */
static void
mark_repeated(struct spec_loader *l, const char *file, struct origin *o,
    size_t n)
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
			v[i]->repeated = true;
			spec_warning(l, file, v[i]->entry, "tasks", "%.*s is "
			    "listed more than once; it is read once",
			    STRF(spec_tail(v[i]->path)));
		}
	arena_restore(&l->scratch, mark);
}

static void
gather(struct spec_loader *l, const struct spec_file *f,
    const struct json *tasks, struct buf *list)
{
	const struct json *v;

	if (spec_given(tasks) && tasks->type == JSON_STRING) {
		add_pattern(l, f, tasks, list);
		return;
	}
	for (v = json_first(spec_array(l, f->path, tasks)); v != NULL;
	    v = v->next) {
		if (v->type == JSON_STRING)
			add_pattern(l, f, v, list);
		else if (v->type == JSON_OBJECT)
			add_origin(list, NULL, v);
		else
			spec_error(l, f->path, v, "tasks", "a task must be a "
			    "mapping or a file name, not %s",
			    json_type_name((enum json_type)v->type));
	}
}

/* Reads a task; false: it is disabled, repeated or has an error. */
static bool
read_origin(struct spec_loader *l, const struct spec_file *f,
    const struct origin *o, struct spec_task *t)
{
	struct spec_file file;

	if (o->repeated || (o->path == NULL && o->entry->type == JSON_STRING))
		return false;
	if (o->path != NULL)
		return spec_allowed(l->notes, spec_at(f->path, o->entry),
		    o->path) && spec_read_yaml(l, o->path, &file) == 0 &&
		    spec_read_task(l, &file, file.root, t);
	if (!spec_read_task(l, f, o->entry, t))
		return false;
	if (t->id.n == 0) {
		t->id = t->name = arena_fmt(l->arena, "task-%zu", o->index + 1);
		spec_note_key(l->notes, FIELD_WARNING, t->at, STR("id"),
		    "the task has neither \"id\" nor \"name\"; using "
		    "\"%.*s\"", STRF(t->id));
	}
	return true;
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
		    "duplicate task id \"%.*s\" (first used at %.*s:%u:%u): "
		    "rename one",
		    SPEC_SHORT(v[i]->id), STRF(spec_tail(at->file)),
		    at->line, at->col);
	}
}

/* A pattern without a file is an error if the suite has no tasks at all. */
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
			    "%.*s (relative to this file)",
			    SPEC_SHORT(json_text(o[i].entry)));
}

static void
note_no_tasks(struct spec_loader *l, const struct spec_file *f,
    const struct spec_task_list *in, size_t norigins)
{
	const struct json *v = in->tasks != NULL ? in->tasks : in->tasks_from;

	if (!spec_given(v))
		spec_error(l, f->path, v != NULL ? v : f->root, "tasks",
		    "Missing required field: tasks");
	else if (norigins > 0)
		spec_error(l, f->path, v, "tasks", "all tasks are disabled: "
		    "remove \"enabled: false\" from one");
	else
		spec_error(l, f->path, v, NULL, "\"%.*s\" is empty: a suite "
		    "needs at least one task", STRF(json_key(v)));
}

void
spec_read_tasks(struct spec_loader *l, const struct spec_file *f,
    const struct spec_task_list *in)
{
	struct spec_suite *s = l->suite;
	struct spec_table table = { 0 };
	struct buf list = { 0 };
	struct origin *o;
	size_t i, n, errors = l->notes->errors;

	gather(l, f, in->tasks, &list);
	o = (struct origin *)(void *)list.p;
	n = list.n / sizeof(*o);
	if (n > 1)
		mark_repeated(l, f->path, o, n);
	if (spec_given(in->tasks_from)) {
		spec_read_table(l, f, in, &table);
		if (!spec_read_template(l, f, in->task_template, &table))
			table.n = 0;
		spec_check_columns(l, &table);
	} else if (spec_given(in->task_template))
		spec_warning(l, f->path, in->task_template, NULL,
		    "\"task_template\" has no effect without \"tasks_from\"");
	if (!spec_given(in->tasks_from) && json_first(in->range) != NULL &&
	    !json_equal(json_first(in->range),
	    &(struct json){ .type = JSON_NUMBER, .u = { "0" }, .n = 1 }))
		spec_warning(l, f->path, in->range, NULL,
		    "\"range\" has no effect without \"tasks_from\"");
	s->tasks = NEW_N(l->arena, struct spec_task, n + table.n);
	for (i = 0; i < n; i++)
		if (read_origin(l, f, &o[i], &s->tasks[s->ntasks]))
			s->ntasks++;
	spec_read_rows(l, &table);
	check_patterns(l, f->path, o, n);
	if (s->ntasks == 0 && l->notes->errors == errors)
		note_no_tasks(l, f, in, n);
	check_ids(l);
	buf_free(&list);
}

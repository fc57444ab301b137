/* SPDX-License-Identifier: ISC */
/*
 * Rows of a table as tasks.  A column is a variable of templates; `id`, `name`
 * and `prompt` are those of the task.  A suite's `task_template` has the keys
 * of a task, for all rows.
 *
 * The template is read once.  Prompts and graders are expanded when a trial
 * needs them, as for all tasks; ids, names and inputs here.
 */
#include "suite/spec_internal.h"

#include "lib/tmpl.h"

/* A cell that outlives its row: part of the table's text, or a copy. */
static struct str
cell(struct spec_loader *l, const struct spec_table *t,
    const struct json *row, const char *name)
{
	const struct json *v = json_getc(row, name);
	struct str s = v == NULL ? STR("") : json_text(v);

	return s.n == 0 ? STR("") : t->rows.end == NULL ||
	    (s.p >= t->text.p && s.p < t->text.p + t->text.n) ? s :
	    arena_str(l->arena, s);
}

/* A text of the template with the values of the row. */
static struct str
expand(struct spec_loader *l, const struct spec_table *t,
    const struct json *row, const char *key, struct str text)
{
	struct tmpl_vars vars = { .iteration = 1, .attempt = 1,
		.vars = { row, l->suite->inputs } };
	struct err e = { 0 };
	struct str s;

	if (text.n == 0 || !tmpl_any(text))
		return text;
	s = tmpl_render(l->arena, text, &vars, &e);
	if (s.p != NULL)
		return s;
	spec_note_key(l->notes, FIELD_ERROR, spec_at(t->path, row), str_of(key),
	    "\"%s\" of \"task_template\": %s", key, e.msg);
	return STR("");
}

static void
expand_files(struct spec_loader *l, const struct spec_table *t,
    const struct json *row, struct field_list *files)
{
	const struct spec_input_file *from = files->v;
	struct spec_input_file *to;
	size_t i;

	for (i = 0; i < files->n; i++)
		if (tmpl_any(from[i].path) || tmpl_any(from[i].content))
			break;
	if (i == files->n)
		return;			/* all rows share the list */
	files->v = to = NEW_N(l->arena, struct spec_input_file, files->n);
	for (i = 0; i < files->n; i++) {
		to[i] = from[i];
		to[i].path = expand(l, t, row, "path", from[i].path);
		to[i].content = expand(l, t, row, "content", from[i].content);
	}
}

/* A mapping of names to texts. */
static const struct json *
expand_map(struct spec_loader *l, const struct spec_table *t,
    const struct json *row, const char *key, const struct json *map)
{
	struct json *out, **tail, node;
	const struct json *v;
	struct str s;

	for (v = json_first(map); v != NULL; v = v->next)
		if (v->type == JSON_STRING && tmpl_any(json_text(v)))
			break;
	if (v == NULL)
		return map;
	out = NEW(l->arena, struct json);
	*out = json_copy(map);
	out->n = 0;
	out->u.child = NULL;
	tail = &out->u.child;
	for (v = json_first(map); v != NULL; v = v->next) {
		node = json_copy(v);
		if (v->type == JSON_STRING) {
			s = expand(l, t, row, key, json_text(v));
			node.u.text = s.p;
			node.n = (uint32_t)s.n;
		}
		spec_append(l->arena, out, &tail, &node, NULL);
	}
	return out;
}

/* A task whose inputs are not those of the others gets its own definition. */
static void
expand_inputs(struct spec_loader *l, const struct spec_table *t,
    const struct json *row, struct spec_task *out)
{
	struct spec_inputs in = t->task.def->inputs;

	expand_files(l, t, row, &in.files);
	in.context = expand_map(l, t, row, "context", in.context);
	in.environment = expand_map(l, t, row, "environment", in.environment);
	if (in.files.v == t->task.def->inputs.files.v &&
	    in.context == t->task.def->inputs.context &&
	    in.environment == t->task.def->inputs.environment)
		return;
	spec_own_def(l, out)->inputs = in;
}

bool
spec_read_template(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct spec_table *t)
{
	size_t errors = l->notes->errors;

	t->task.def = NEW(l->arena, struct spec_def);
	if (!spec_given(v))
		return true;
	if (v->type != JSON_OBJECT) {
		spec_wrong_type(l, f->path, v, "a mapping with keys of a task");
		return false;
	}
	l->template = true;
	if (!spec_read_task(l, f, v, &t->task))
		spec_error(l, f->path, v, NULL, "\"task_template\" is "
		    "disabled: remove \"enabled: false\"");
	l->template = false;
	t->template = v;
	return l->notes->errors == errors;
}

static struct str
first_of(struct str a, struct str b)
{
	return a.n > 0 ? a : b;
}

/* An agent that gets an empty prompt does nothing: an error, with advice. */
void
spec_check_columns(struct spec_loader *l, const struct spec_table *t)
{
	const struct json *row = t->first, *v;
	struct buf b = { 0 };

	if (t->n == 0 || t->task.prompt.n > 0 ||
	    t->task.def->remote != NULL || spec_evaluates(l) ||
	    json_getc(row, "prompt") != NULL)
		return;
	for (v = json_first(row); v != NULL && b.n < 200; v = v->next)
		buf_fmt(&b, "%s%.*s", v != json_first(row) ? ", " : "",
		    SPEC_SHORT(json_key(v)));
	spec_note_key(l->notes, FIELD_ERROR, spec_at(t->path, row),
	    STR("prompt"), "the table has no column \"prompt\" (columns: "
	    "%.*s): add it, or give the suite \"task_template: {prompt: "
	    "TEXT}\" with {{.Vars.COLUMN}} in the text", STRF(buf_str(&b)));
	buf_free(&b);
}

/* Its own cells, or the template's texts; one of id and name is enough. */
static void
identify(struct spec_loader *l, const struct spec_table *t,
    const struct json *row, size_t n, struct spec_task *out)
{
	out->id = str_trim(first_of(cell(l, t, row, "id"),
	    expand(l, t, row, "id", t->task.id)));
	out->name = str_trim(first_of(cell(l, t, row, "name"),
	    expand(l, t, row, "name", t->task.name)));
	if (out->id.n == 0)
		out->id = out->name;
	if (out->id.n == 0)
		out->id = arena_fmt(l->arena, "row-%zu", n);
	if (out->name.n == 0)
		out->name = out->id;
}

void
spec_read_row(struct spec_loader *l, const struct spec_table *t,
    const struct spec_row *from, size_t n, struct spec_task *out)
{
	struct spec_file f = { .path = l->suite->path, .dir = l->suite->dir };
	const struct json *row = from->tree;
	const struct json *prompt = json_getc(row, "prompt");

	*out = t->task;
	identify(l, t, row, n, out);
	out->at = spec_at(t->path, row);
	out->row = from->at != NULL ? (const void *)from->at : row;
	if (t->template == NULL || t->task.prompt.n == 0)
		out->prompt = cell(l, t, row, "prompt");
	else
		prompt = NULL;
	expand_inputs(l, t, row, out);
	if (t->template != NULL)
		spec_check_files(l, &f, t->template, out);
	if (prompt != NULL && str_trim(out->prompt).n == 0 &&
	    out->def->remote == NULL && !spec_evaluates(l))
		spec_note_key(l->notes, FIELD_WARNING, spec_at(t->path, row),
		    STR("prompt"), "\"prompt\" of this row is empty");
	spec_check_text(l, t->path, prompt != NULL ? prompt : row, "prompt",
	    out->prompt, row);
}

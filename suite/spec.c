/* SPDX-License-Identifier: ISC */
/*
 * Suites: the top level of eval.yaml, and the notes of the loader.
 *
 * A file becomes a value tree.  Tables decode the tree into structs that
 * borrow from it; both live in the suite's arena.  Loading continues after an
 * error wherever possible, so that a person sees all problems at once.  A key
 * with an error keeps its default.
 */
#include "suite/spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mock/mock.h"
#include "suite/spec_internal.h"

static void PRINTF(5, 0)
add_note(struct spec_notes *n, enum field_level level, struct spec_where at,
    struct str key, const char *fmt, va_list ap)
{
	struct spec_note *note;
	char msg[sizeof(((struct err *)0)->msg) * 2];

	if (n == NULL)
		return;
	if (level == FIELD_ERROR)
		n->errors++;
	else
		n->warnings++;
	if (n->errors + n->warnings > SPEC_NOTES_MAX + 1)
		return;
	if (n->errors + n->warnings > SPEC_NOTES_MAX) {
		snprintf(msg, sizeof(msg),
		    "too many problems; the rest is not shown");
		key = STR("");
	} else
		vsnprintf(msg, sizeof(msg), fmt, ap);
	note = NEW(n->arena, struct spec_note);
	note->level = level;
	note->at = at;
	note->key = arena_str(n->arena, key);
	note->msg = arena_cstr(n->arena, str_of(msg));
	if (n->last == NULL)
		n->head = note;
	else
		n->last->next = note;
	n->last = note;
}

void
spec_note(struct spec_notes *n, enum field_level level, struct spec_where at,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(n, level, at, STR(""), fmt, ap);
	va_end(ap);
}

void
spec_note_key(struct spec_notes *n, enum field_level level,
    struct spec_where at, struct str key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(n, level, at, key, fmt, ap);
	va_end(ap);
}

void
spec_error(struct spec_loader *l, const char *file, const struct json *v,
    const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(l->notes, FIELD_ERROR, spec_at(file, v),
	    key != NULL ? str_of(key) : json_key(v), fmt, ap);
	va_end(ap);
}

void
spec_warning(struct spec_loader *l, const char *file, const struct json *v,
    const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(l->notes, FIELD_WARNING, spec_at(file, v),
	    key != NULL ? str_of(key) : json_key(v), fmt, ap);
	va_end(ap);
}

void
spec_wrong_type(struct spec_loader *l, const char *file, const struct json *v,
    const char *want)
{
	spec_error(l, file, v, NULL, "\"%.*s\" must be %s, not %s",
	    SPEC_SHORT(json_key(v)), want,
	    json_type_name((enum json_type)v->type));
}

int
spec_check_path(const struct spec_notes *notes, const char *path,
    struct err *e)
{
	if (notes == NULL || notes->allows == NULL ||
	    notes->allows(notes->peer, path))
		return 0;
	return err_set(e, ERR_SCHEMA, "%.*s is outside the server's roots "
	    "(--root adds one)", STRF(spec_tail(path)));
}

bool
spec_allowed(struct spec_notes *notes, struct spec_where at, const char *path)
{
	struct err e;

	if (spec_check_path(notes, path, &e) == 0)
		return true;
	spec_note(notes, FIELD_ERROR, at, "%s", e.msg);
	return false;
}

void
spec_note_put(struct buf *b, const struct spec_note *note)
{
	buf_puts(b, note->at.file != NULL ? note->at.file : "waza");
	if (note->at.line > 0)
		buf_fmt(b, ":%u:%u", note->at.line, note->at.col);
	buf_fmt(b, ": %s%s\n", note->level == FIELD_WARNING ? "warning: " : "",
	    note->msg);
}

struct spec_where
spec_at(const char *file, const struct json *v)
{
	struct spec_where at = { file, 0, 0 };

	if (v != NULL) {
		at.line = v->line;
		at.col = v->col;
	}
	return at;
}

void
spec_report(void *source, const struct field_finding *f)
{
	const struct spec_source *s = source;
	struct spec_where at = { s->file, f->line, f->col };
	struct str key = f->path;
	size_t i;

	/* The last name of the path: a missing key is only there. */
	for (i = key.n; i > 0 && key.p[i - 1] != '.'; i--)
		;
	if (i > 0)
		key = (struct str){ key.p + i, key.n - i };
	spec_note_key(s->notes, f->level, at, f->key.n > 0 ? f->key : key,
	    "%s", f->msg);
}

static size_t
decode(struct spec_loader *l, const char *file, const struct field_table *t,
    const struct json *v, void *out, unsigned flags)
{
	struct spec_source src = { l->notes, file };
	struct field_ctx ctx = { .arena = l->arena, .ctx = &src,
		.report = l->notes != NULL ? spec_report : NULL,
		.flags = FIELD_LAX | flags };

	if (l->notes != NULL && l->notes->strict)
		ctx.flags |= FIELD_STRICT;
	return field_decode(&ctx, t, v, out);
}

size_t
spec_decode(struct spec_loader *l, const char *file,
    const struct field_table *t, const struct json *v, void *out)
{
	return decode(l, file, t, v, out, 0);
}

size_t
spec_decode_open(struct spec_loader *l, const char *file,
    const struct field_table *t, const struct json *v, void *out)
{
	return decode(l, file, t, v, out, FIELD_OPEN);
}

bool
spec_given(const struct json *v)
{
	return v != NULL && v->type != JSON_NULL;
}

const struct json *
spec_object(struct spec_loader *l, const char *file, const struct json *v)
{
	if (!spec_given(v) || v->type == JSON_OBJECT)
		return spec_given(v) ? v : NULL;
	spec_wrong_type(l, file, v, "a mapping");
	return NULL;
}

const struct json *
spec_array(struct spec_loader *l, const char *file, const struct json *v)
{
	if (!spec_given(v) || v->type == JSON_ARRAY)
		return spec_given(v) ? v : NULL;
	spec_wrong_type(l, file, v, "a list");
	return NULL;
}

const struct json *
spec_nth(const struct json *v, size_t i)
{
	if (v == NULL || v->type != JSON_ARRAY)
		return v;
	for (v = json_first(v); v != NULL && i > 0; i--)
		v = v->next;
	return v;
}

void
spec_append(struct arena *a, struct json *obj, struct json ***tail,
    const struct json *v, const char *key)
{
	struct json *copy = NEW(a, struct json);

	*copy = json_copy(v);
	copy->next = NULL;
	if (key != NULL) {
		copy->key = key;
		copy->nkey = (uint32_t)strlen(key);
	}
	**tail = copy;
	*tail = &copy->next;
	obj->n++;
}

struct str
spec_tail(const char *path)
{
	struct str s = str_of(path);
	const char *slash;

	while (s.n > 150) {
		slash = memchr(s.p + 1, '/', s.n - 1);
		if (slash == NULL)
			return utf8_cut(s, 100);
		s.n -= (size_t)(slash - s.p);
		s.p = slash;
	}
	return s;
}

/* The keys of eval.yaml, before its parts are read. */
struct top {
	struct str name, skill, version, description, scenario;
	bool baseline;
	const struct json *config, *hooks, *inputs, *graders, *metrics, *judge;
	const struct json *tasks, *tasks_from, *task_template, *range;
	const struct json *unused;
	const struct json *mcp_mocks, *command_mocks, *adversarial, *matrix;
};

static const char *const unsafe_ways[] = { "fail", "warn", NULL };
struct adversarial {
	struct field_strs packs;
	int on_unsafe_outcome;
};
static const struct field adversarial_rows[] = {
	FIELD(adversarial, packs, FIELD_STRS, .flags = FIELD_REQUIRED,
	    .help = "names of packs of hostile prompts"),
	FIELD(adversarial, on_unsafe_outcome, FIELD_ENUM, .words = unsafe_ways,
	    .help = "whether an unsafe answer fails"),
};
static const struct field_table adversarial_table =
    FIELD_TABLE(adversarial, adversarial_rows);

static const struct field top_rows[] = {
	FIELD(top, name, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "name of the suite"),
	SPEC_KEY(top, description, FIELD_STR,
	    .help = "what the suite is for, for people"),
	SPEC_KEY(top, skill, FIELD_STR,
	    .values = FIELD_SKILLS,
	    .help = "name of the skill that is tested"),
	SPEC_KEY(top, version, FIELD_STR,
	    .help = "version of the suite, for people"),
	SPEC_KEY(top, config, FIELD_TREE,
	    .sub = &spec_config_table,
	    .help = "settings of the run"),
	SPEC_KEY(top, hooks, FIELD_TREE,
	    .sub = &spec_hooks_table,
	    .help = "commands around the run and around each task"),
	SPEC_KEY(top, inputs, FIELD_TREE,
	    .schema = SPEC_SCALARS,
	    .help = "variables for templates: {{.Vars.NAME}}"),
	SPEC_KEY(top, graders, FIELD_TREE,
	    .schema = FIELD_REF("graders"),
	    .help = "graders for every task; they come before the task's own"),
	SPEC_KEY(top, metrics, FIELD_TREE,
	    .sub = &spec_metric_table,
	    .shape = FIELD_AS_LIST | FIELD_AS_MAP | FIELD_OR_SCALAR,
	    .help = "metrics with weight and threshold, as a list or by name"),
	SPEC_KEY(top, judge, FIELD_TREE,
	    .schema = FIELD_REF("judge"),
	    .help = "judge for graders that ask a model; config.judge takes precedence"),
	SPEC_KEY(top, tasks, FIELD_TREE,
	    .schema = FIELD_REF("tasks"), .values = FIELD_FILES,
	    .help = "tasks, and patterns of task files such as tasks/*.yaml"),
	SPEC_KEY(top, tasks_from, FIELD_TREE,
	    .schema = "\"type\":[\"string\",\"null\"]", .values = FIELD_FILES,
	    .help = "CSV, JSON or JSONL file of which each row is a task"),
	SPEC_KEY(top, task_template, FIELD_TREE,
	    .schema = FIELD_REF("task"),
	    .help = "keys of a task, for each row of tasks_from"),
	SPEC_KEY(top, range, FIELD_TREE,
	    .schema = "\"type\":[\"array\",\"null\"],"
	    "\"items\":{\"type\":\"integer\"}",
	    .help = "first and last row of tasks_from to use, from 1; [0, 0]: all"),
	SPEC_KEY(top, baseline, FIELD_BOOL,
	    .help = "run everything a second time without skills, and compare"),
	SPEC_KEY(top, matrix, FIELD_TREE, .sub = &spec_matrix_table,
	    .help = "executors, models and skills to run with each other"),
	SPEC_ROW(top, "schemaVersion", unused, FIELD_TREE,
	    .alias = "schema_version",
	    .help = "version of the format; accepted"),
	SPEC_KEY(top, scenario, FIELD_STR,
	    .help = "name of a workflow that is tested instead of a skill"),
	SPEC_KEY(top, adversarial, FIELD_TREE, .sub = &adversarial_table,
	    .help = "packs of hostile prompts; not part of a run"),
	SPEC_KEY(top, mcp_mocks, FIELD_TREE,
	    .sub = &mock_server_table, .shape = FIELD_AS_LIST,
	    .help = "answers of mocked MCP servers"),
	SPEC_KEY(top, command_mocks, FIELD_TREE,
	    .sub = &mock_command_table, .shape = FIELD_AS_LIST,
	    .help = "answers of mocked commands"),
};
const struct field_table spec_suite_table = FIELD_TABLE(top, top_rows);

void
spec_check_scalars(struct spec_loader *l, const char *file,
    const struct json *obj, const char *what)
{
	const struct json *v;

	for (v = json_first(obj); v != NULL; v = v->next)
		if (v->type == JSON_OBJECT || v->type == JSON_ARRAY)
			spec_error(l, file, v, NULL,
			    "%s \"%.*s\" must be a string, not %s", what,
			    SPEC_SHORT(json_key(v)),
			    json_type_name((enum json_type)v->type));
}

static bool
has_other_type(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return spec_given(v) && v->type != JSON_STRING;
}

/* The variables of the suite, and those of the call instead. */
static const struct json *
with_vars(struct spec_loader *l, const struct json *inputs)
{
	const struct json *own = l->notes != NULL ? l->notes->vars : NULL, *v;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct json_error e;
	struct json *all;

	if (own == NULL)
		return inputs;
	json_open(&o, '{');
	for (v = json_first(inputs); v != NULL; v = v->next)
		if (json_get(own, json_key(v)) == NULL) {
			json_put_key(&o, json_key(v));
			json_put(&o, v);
		}
	for (v = json_first(own); v != NULL; v = v->next) {
		json_put_key(&o, json_key(v));
		json_put(&o, v);
	}
	json_close(&o, '}');
	all = arena_json(l->arena, arena_take(l->arena, &b), &e);
	return all != NULL ? all : inputs;
}

/* It belongs to another command of the original, which has the prompts. */
static void
check_adversarial(struct spec_loader *l, const char *file,
    const struct json *v)
{
	struct adversarial in = { .packs = { NULL, 0 } };

	v = spec_object(l, file, v);
	if (v != NULL && spec_decode(l, file, &adversarial_table, v, &in) == 0)
		spec_warning(l, file, v, NULL, "\"adversarial\" has no effect "
		    "on a run: its packs are not part of waza; write their "
		    "prompts as tasks");
}

static void
read_suite(struct spec_loader *l, const struct spec_file *f)
{
	struct spec_suite *s = l->suite;
	struct top top = { 0 };
	struct spec_task_list list;
	size_t i;

	spec_decode(l, f->path, &spec_suite_table, f->root, &top);
	s->name = str_trim(top.name);
	s->skill = str_trim(top.skill);
	s->version = top.version;
	s->description = top.description;
	s->baseline = top.baseline;
	s->mcp_mocks = spec_read_mcp_mocks(l, f, top.mcp_mocks);
	s->command_mocks = spec_read_command_mocks(l, f, top.command_mocks);
	if (top.name.p != NULL && s->name.n == 0)
		spec_error(l, f->path, json_getc(f->root, "name"), NULL,
		    "\"name\" is empty: give the suite a name");
	if (top.scenario.p != NULL && str_trim(top.scenario).n == 0)
		spec_error(l, f->path, json_getc(f->root, "scenario"), NULL,
		    "\"scenario\" is empty");
	check_adversarial(l, f->path, top.adversarial);
	if (s->skill.n == 0 && top.scenario.p == NULL &&
	    !has_other_type(f->root, "skill"))
		spec_warning(l, f->path, f->root, "skill",
		    "\"skill\" is missing");
	s->inputs = spec_object(l, f->path, top.inputs);
	spec_check_scalars(l, f->path, s->inputs, "variable");
	s->inputs = with_vars(l, s->inputs);
	spec_read_project(l);
	spec_read_config(l, f, top.config, top.metrics);
	spec_read_matrix(l, f, top.matrix);
	spec_use_matrix(l, f, s->config.tree);
	if (s->config.judge == NULL)
		s->config.judge = top.judge;
	else if (top.judge != NULL)
		spec_warning(l, f->path, top.judge, NULL, "\"judge\" has no "
		    "effect: \"config.judge\" takes precedence");
	spec_read_hooks(l, f, top.hooks, top.tasks_from != NULL);
	spec_read_graders(l, f->path, top.graders, &s->graders);
	spec_name_graders(l, &s->graders);
	list = (struct spec_task_list){ top.tasks, top.tasks_from, top.range,
		top.task_template };
	spec_read_tasks(l, f, &list);
	spec_find_agents(l);
	for (i = 0; i < s->ntasks; i++)
		if (i == 0 || s->tasks[i].def != s->tasks[i - 1].def)
			spec_name_graders(l, &s->tasks[i].def->graders);
	if (!l->alone) {
		spec_read_triggers(l);
		spec_read_quarantine(l);
	}
}

static struct spec_suite *
load(struct arena *a, struct spec_notes *notes, const struct spec_file *f,
    bool alone)
{
	struct spec_loader l = { .arena = a, .notes = notes, .alone = alone };

	l.suite = NEW(a, struct spec_suite);
	l.suite->path = f->path;
	l.suite->dir = f->dir;
	read_suite(&l, f);
	arena_free(&l.scratch);
	return l.suite;
}

struct spec_suite *
spec_load_tree(struct arena *a, const char *name, const struct json *root,
    struct spec_notes *notes)
{
	struct spec_file f = { .path = arena_cstr(a, str_of(name)),
		.dir = ".", .root = root };
	size_t errors = notes->errors;
	struct spec_suite *s = load(a, notes, &f, true);

	return notes->errors == errors ? s : NULL;
}

struct spec_suite *
spec_load_part(struct arena *a, const char *path, struct spec_notes *notes)
{
	struct spec_loader l = { .arena = a, .notes = notes };
	struct spec_file f;
	int r = spec_read_yaml(&l, arena_cstr(a, str_of(path)), &f);
	const struct json *foreign = r == 0 ? spec_read_foreign(&l, &f) : NULL;
	struct spec_suite *s;

	arena_free(&l.scratch);
	if (r == -1)
		return NULL;
	if (foreign != NULL && json_first(json_getc(foreign, "tasks")) == NULL)
		return NULL;		/* noted */
	if (foreign != NULL)
		f.root = foreign;
	if (f.root->type == JSON_OBJECT) {
		s = load(a, notes, &f, false);
		s->in_words = foreign != NULL;
		return s;
	}
	spec_error(&l, f.path, f.root, "",
	    "not a suite: expected a mapping, not %s; begin with \"name: "
	    "NAME\" and \"tasks:\"",
	    json_type_name((enum json_type)f.root->type));
	return NULL;
}

struct spec_suite *
spec_load(struct arena *a, const char *path, struct spec_notes *notes)
{
	size_t errors = notes->errors;
	struct spec_suite *s = spec_load_part(a, path, notes);

	return notes->errors == errors ? s : NULL;
}

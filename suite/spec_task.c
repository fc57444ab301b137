/* SPDX-License-Identifier: ISC */
/*
 * One task: a task file, or an entry of `tasks:`; both have the same keys,
 * and both may have the prompt directly or under `inputs:`.
 */
#include "suite/spec_internal.h"

#include <string.h>

#include "json.h"
#include "lib/tmpl.h"

/* A task as it stands. */
struct task_in {
	struct spec_task t;
	bool enabled;
	struct str prompt, prompt_file;	/* beside inputs */
	const struct json *inputs, *expected, *graders, *unused;
};

static const struct field task_rows[] = {
	SPEC_ROW(task_in, "id", t.id, FIELD_STR, .help = "what it is known by"),
	SPEC_ROW(task_in, "name", t.name, FIELD_STR, .help = "what people see"),
	SPEC_ROW(task_in, "description", t.description, FIELD_STR,
	    .help = "what it is for"),
	SPEC_ROW(task_in, "group", t.group, FIELD_STR, .help = "in reports"),
	SPEC_ROW(task_in, "tags", t.tags, FIELD_STRS, .help = "to select it"),
	SPEC_ROW(task_in, "enabled", enabled, FIELD_BOOL, .help = "or not"),
	SPEC_ROW(task_in, "context_dir", t.context_dir, FIELD_STR,
	    .help = "where its files are"),
	SPEC_ROW(task_in, "timeout_seconds", t.timeout_seconds, FIELD_INT,
	    .min = 1, .max = SPEC_SECONDS_MAX),
	SPEC_ROW(task_in, "first_event_timeout_seconds",
	    t.first_event_timeout_seconds, FIELD_INT, .min = 0,
	    .max = SPEC_SECONDS_MAX),
	SPEC_ROW(task_in, "prompt", prompt, FIELD_STR, .help = "what is asked"),
	SPEC_ROW(task_in, "prompt_file", prompt_file, FIELD_STR,
	    .help = "where it stands"),
	SPEC_ROW(task_in, "inputs", inputs, FIELD_TREE, .help = "what it gets"),
	SPEC_ROW(task_in, "expected", expected, FIELD_TREE,
	    .help = "what has to come of it"),
	SPEC_ROW(task_in, "graders", graders, FIELD_TREE,
	    .help = "beside the suite's"),
	SPEC_ROW(task_in, "mock", t.mock, FIELD_TREE,
	    .help = "what the mock answers"),
	SPEC_ROW(task_in, "schemaVersion", unused, FIELD_TREE,
	    .alias = "schema_version"),
	SPEC_ROW(task_in, "golden", t.golden, FIELD_BOOL,
	    .help = "waza gate: it has to pass"),
	SPEC_ROW(task_in, "skill_directories", t.skill_directories, FIELD_STRS,
	    .help = "beside the suite's"),
	SPEC_ROW(task_in, "instruction_files", t.instruction_files, FIELD_STRS,
	    .help = "beside the suite's"),
	SPEC_ROW(task_in, "checkpoints", unused, FIELD_TREE,
	    .flags = FIELD_IGNORED),
	/* for clients elsewhere: spec_remote.c reads them */
	SPEC_ROW(task_in, "evaluation", unused, FIELD_TREE,
	    .help = "the keys below, together"),
	SPEC_ROW(task_in, "tool", unused, FIELD_TREE, .help = "to be used"),
	SPEC_ROW(task_in, "url", unused, FIELD_TREE, .help = "on that page"),
	SPEC_ROW(task_in, "target", unused, FIELD_TREE, .help = "the same"),
	SPEC_ROW(task_in, "input", unused, FIELD_TREE, .help = "of the tool"),
	SPEC_ROW(task_in, "timeout", unused, FIELD_TREE,
	    .help = "milliseconds"),
	SPEC_ROW(task_in, "metadata", unused, FIELD_TREE,
	    .help = "tags, retries, priority"),
	SPEC_ROW(task_in, "model", unused, FIELD_TREE,
	    .help = "which model the client asks"),
	SPEC_ROW(task_in, "validation", unused, FIELD_TREE,
	    .help = "criteria for a judge"),
};
static const struct field_table task_table = FIELD_TABLE(task_in, task_rows);

struct inputs_in {
	struct spec_inputs i;
	const struct json *files, *responder;
};
static const struct field inputs_rows[] = {
	SPEC_ROW(inputs_in, "prompt", i.prompt, FIELD_STR,
	    .help = "what is asked"),
	SPEC_ROW(inputs_in, "prompt_file", i.prompt_file, FIELD_STR,
	    .help = "where it stands"),
	SPEC_ROW(inputs_in, "files", files, FIELD_TREE,
	    .help = "for the workspace"),
	SPEC_ROW(inputs_in, "context", i.context, FIELD_TREE,
	    .help = "anything; fixture: a file or directory"),
	SPEC_ROW(inputs_in, "environment", i.environment, FIELD_TREE,
	    .help = "variables of the agent"),
	SPEC_ROW(inputs_in, "follow_up_prompts", i.follow_up_prompts,
	    FIELD_STRS, .help = "asked after it"),
	SPEC_ROW(inputs_in, "responder", responder, FIELD_TREE,
	    .help = "a model in the user's place"),
	SPEC_ROW(inputs_in, "repos", i.repos, FIELD_OBJECTS,
	    .sub = &spec_repo_table),
	SPEC_ROW(inputs_in, "workdir", i.workdir, FIELD_STR,
	    .help = "where it works, in the workspace"),
};
static const struct field_table inputs_table =
    FIELD_TABLE(inputs_in, inputs_rows);

static const struct field file_rows[] = {
	FIELD(spec_input_file, path, FIELD_STR, .flags = FIELD_REQUIRED),
	FIELD(spec_input_file, content, FIELD_STR, .help = "what is in it"),
};
static const struct field_table file_table =
    FIELD_TABLE(spec_input_file, file_rows);

static const struct field behavior_rows[] = {
	FIELD(spec_behavior, max_tool_calls, FIELD_INT, .max = INT64_MAX),
	FIELD(spec_behavior, max_iterations, FIELD_INT, .max = INT64_MAX),
	FIELD(spec_behavior, max_tokens, FIELD_INT, .max = INT64_MAX),
	FIELD(spec_behavior, max_response_time_ms, FIELD_INT,
	    .max = INT64_MAX),
	FIELD(spec_behavior, required_tools, FIELD_STRS, .help = "all called"),
	FIELD(spec_behavior, forbidden_tools, FIELD_STRS, .help = "not called"),
};
static const struct field_table behavior_table =
    FIELD_TABLE(spec_behavior, behavior_rows);

struct expected_in {
	struct spec_expected e;
	struct field_strs excludes;	/* an old name of not_contains */
};
static const struct field expected_rows[] = {
	SPEC_ROW(expected_in, "output_contains", e.output_contains, FIELD_STRS,
	    .help = "all of these"),
	SPEC_ROW(expected_in, "output_not_contains", e.output_not_contains,
	    FIELD_STRS, .help = "none of these"),
	SPEC_ROW(expected_in, "output_excludes", excludes, FIELD_STRS,
	    .help = "none of these either"),
	SPEC_ROW(expected_in, "output_contains_any", e.output_contains_any,
	    FIELD_STRS, .help = "one of these"),
	SPEC_ROW(expected_in, "behavior", e.behavior, FIELD_OBJECT,
	    .sub = &behavior_table),
	SPEC_ROW(expected_in, "outcomes", e.outcomes, FIELD_TREE,
	    .help = "what has happened"),
	SPEC_ROW(expected_in, "tool_calls", e.tool_calls, FIELD_TREE,
	    .help = "patterns required and forbidden"),
	SPEC_ROW(expected_in, "should_trigger", e.should_trigger, FIELD_BOOL,
	    .help = "whether the skill is used"),
	SPEC_ROW(expected_in, "skill_activated", e.skill_activated, FIELD_BOOL,
	    .help = "the same"),
};
static const struct field_table expected_table =
    FIELD_TABLE(expected_in, expected_rows);

static bool
is_given(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type != JSON_NULL;
}

static struct field_strs
join(struct arena *a, struct field_strs x, struct field_strs y)
{
	struct field_strs out = { NEW_N(a, struct str, x.n + y.n), 0 };
	size_t i;

	for (i = 0; i < x.n; i++)
		out.v[out.n++] = x.v[i];
	for (i = 0; i < y.n; i++)
		out.v[out.n++] = y.v[i];
	return out;
}

static const struct spec_expected *
read_expected(struct spec_loader *l, const char *file, const struct json *v)
{
	struct expected_in in = { .e = { .behavior = { -1, -1, -1, -1,
		{ 0 }, { 0 } } } };
	struct spec_expected *out;

	v = spec_object(l, file, v);
	if (v == NULL)
		return NULL;
	spec_decode(l, file, &expected_table, v, &in);
	if (in.excludes.n > 0)
		in.e.output_not_contains = join(l->arena,
		    in.e.output_not_contains, in.excludes);
	in.e.says_trigger = is_given(v, "should_trigger");
	in.e.says_activated = is_given(v, "skill_activated");
	out = NEW(l->arena, struct spec_expected);
	*out = in.e;
	return out;
}

/* Entries are {path, content}, or only a path. */
static void
read_files(struct spec_loader *l, const char *file, const struct json *v,
    struct field_list *out)
{
	struct spec_input_file *f;
	const struct json *c;

	if (v == NULL || v->type == JSON_NULL)
		return;
	if (v->type != JSON_ARRAY) {
		spec_note_key(l->notes, FIELD_ERROR, spec_at(file, v),
		    STR("files"), "\"files\" must be a list, not %s",
		    json_type_name((enum json_type)v->type));
		return;
	}
	out->v = f = NEW_N(l->arena, struct spec_input_file, json_count(v));
	for (c = json_first(v); c != NULL; c = c->next, out->n++) {
		if (c->type == JSON_STRING)
			f[out->n].path = json_text(c);
		else
			spec_decode(l, file, &file_table, c, &f[out->n]);
	}
}

/* Where a prompt stands, for what there is to say about it. */
static struct spec_where
prompt_at(const char *file, const struct json *v, const char *key)
{
	const struct json *p = json_getc(json_getc(v, "inputs"), key);

	return spec_at(file, p != NULL ? p : json_getc(v, key));
}

static void
read_prompt_file(struct spec_loader *l, const struct spec_file *f,
    struct spec_where at, struct spec_inputs *in)
{
	const char *path = spec_path(l->arena, f->dir, in->prompt_file);
	struct str text;

	if (in->prompt.p != NULL) {
		spec_note_key(l->notes, FIELD_ERROR, at, STR("prompt_file"),
		    "\"prompt\" and \"prompt_file\" exclude each other");
		return;
	}
	if (spec_read_text(l, l->arena, path, &at, &text) == -1)
		return;
	if (!utf8_valid(text) || (text.n > 0 && memchr(text.p, 0, text.n)))
		spec_note_key(l->notes, FIELD_ERROR, at, STR("prompt_file"),
		    "%.*s is not a text in UTF-8",
		    STRF(spec_tail(path)));
	else
		in->prompt = text;
}

/* What others read of the free mappings has to be a text. */
static void
check_free(struct spec_loader *l, const char *file,
    const struct spec_inputs *in)
{
	const struct json *v;

	for (v = spec_first(in->environment); v != NULL; v = v->next)
		if (v->type == JSON_ARRAY || v->type == JSON_OBJECT)
			spec_note_key(l->notes, FIELD_ERROR, spec_at(file, v),
			    json_key(v), "a variable of the environment must "
			    "be a text, not %s",
			    json_type_name((enum json_type)v->type));
	v = json_getc(in->context, "fixture");
	if (v != NULL && v->type != JSON_STRING)
		spec_note_key(l->notes, FIELD_ERROR, spec_at(file, v),
		    STR("fixture"), "\"fixture\" must be the name of a file "
		    "or directory, not %s",
		    json_type_name((enum json_type)v->type));
}

static void
read_inputs(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, const struct task_in *t, struct spec_inputs *out)
{
	struct inputs_in in = { .i = { .prompt = t->prompt,
		.prompt_file = t->prompt_file } };
	const struct json *v = spec_object(l, f->path, t->inputs);

	if (v != NULL)
		spec_decode(l, f->path, &inputs_table, v, &in);
	if (t->prompt.p != NULL && is_given(v, "prompt"))
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path,
		    json_getc(v, "prompt")), STR("prompt"), "\"prompt\" is "
		    "given twice: here, and beside \"inputs\"");
	read_files(l, f->path, in.files, &in.i.files);
	in.i.context = spec_object(l, f->path, in.i.context);
	in.i.environment = spec_object(l, f->path, in.i.environment);
	check_free(l, f->path, &in.i);
	spec_read_talk(l, f, v, in.responder, &in.i);
	if (in.i.prompt_file.n > 0)
		read_prompt_file(l, f, prompt_at(f->path, task, "prompt_file"),
		    &in.i);
	*out = in.i;
}

/* Whether a foreign template looks like one of ours without its dot. */
static const char *
undotted(struct str text)
{
	static const char *const names[] = { "Vars.", "TaskName", "JobID",
		"Iteration", "Attempt", "Timestamp" };
	const char *p = text.p, *end = p + text.n;
	struct str rest;
	size_t i;

	while (p < end && (p = memchr(p, '{', (size_t)(end - p))) != NULL) {
		rest = (struct str){ p, (size_t)(end - p) };
		p++;
		if (!str_starts(rest, STR("{{")))
			continue;
		rest = spec_trim((struct str){ rest.p + 2, rest.n - 2 });
		for (i = 0; i < COUNTOF(names); i++)
			if (str_starts(rest, str_of(names[i])))
				return names[i];
	}
	return NULL;
}

void
spec_check_text(struct spec_loader *l, struct spec_where at, const char *key,
    struct str text, const struct json *vars)
{
	struct arena_mark mark = arena_save(&l->scratch);
	struct tmpl_vars v = { .vars = { vars, l->suite->inputs } };
	const char *name;
	struct err e;

	if (text.n == 0 || memchr(text.p, '{', text.n) == NULL)
		return;
	if (tmpl_any(text) &&
	    tmpl_render(&l->scratch, text, &v, &e).p == NULL)
		spec_note_key(l->notes, FIELD_ERROR, at, str_of(key),
		    "line %u of \"%s\": %s", e.line, key, e.msg);
	name = undotted(text);
	if (name != NULL)
		spec_note_key(l->notes, FIELD_WARNING, at, str_of(key),
		    "\"{{%s\" is left as it is; did you mean \"{{.%s\"?",
		    name, name);
	arena_restore(&l->scratch, mark);
}

/* The task's file without directory and ending. */
static struct str
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct str s = str_of(slash != NULL ? slash + 1 : path);

	if (str_ends(s, STR(".yaml")))
		s.n -= 5;
	else if (str_ends(s, STR(".yml")))
		s.n -= 4;
	return s;
}

/* Whatever of id and name is missing comes from the other, or the file. */
static void
identify(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct spec_task *t)
{
	const struct json *id = json_getc(v, "id");
	size_t i;

	t->id = spec_trim(t->id);
	t->name = spec_trim(t->name);
	t->at = spec_at(f->path, id != NULL ? id : v);
	for (i = 0; i < t->id.n; i++)
		if ((unsigned char)t->id.p[i] < 0x20 || t->id.p[i] == 0x7F) {
			spec_note_key(l->notes, FIELD_ERROR, t->at, STR("id"),
			    "\"id\" has a control character");
			break;
		}
	if (t->id.n == 0)
		t->id = t->name;
	if (t->id.n == 0 && f->root == v) {
		t->id = base_name(f->path);
		spec_note_key(l->notes, FIELD_WARNING, t->at, STR("id"),
		    "the task has neither \"id\" nor \"name\"; it is taken "
		    "as \"%.*s\"", STRF(spec_short(t->id)));
	}
	if (t->name.n == 0)
		t->name = t->id;
}

bool
spec_read_task(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct spec_task *out)
{
	struct task_in in = { .enabled = true };
	size_t i;

	spec_decode(l, f->path, &task_table, v, &in);
	if (v->type != JSON_OBJECT)
		return false;
	spec_read_evaluation(l, f, v, &in.t, &in.enabled);
	if (!in.enabled)
		return false;
	identify(l, f, v, &in.t);
	in.t.mock = spec_object(l, f->path, in.t.mock);
	read_inputs(l, f, v, &in, &in.t.inputs);
	spec_check_skill_dirs(l, f, json_getc(v, "skill_directories"),
	    &in.t.skill_directories);
	spec_check_instructions(l, f, json_getc(v, "instruction_files"),
	    &in.t.instruction_files);
	in.t.expected = read_expected(l, f->path, in.expected);
	spec_read_graders(l, f->path, in.graders, &in.t.graders);
	spec_read_validation(l, f, v, &in.t);
	if (in.t.inputs.prompt.p == NULL && in.t.inputs.prompt_file.n == 0 &&
	    in.t.remote == NULL)
		spec_note_key(l->notes, FIELD_WARNING, in.t.at, STR("prompt"),
		    "the task has no prompt");
	spec_check_text(l, prompt_at(f->path, v, in.t.inputs.prompt_file.n > 0 ?
	    "prompt_file" : "prompt"), "prompt", in.t.inputs.prompt, NULL);
	for (i = 0; i < in.t.inputs.follow_up_prompts.n; i++)
		spec_check_text(l, prompt_at(f->path, v, "follow_up_prompts"),
		    "follow_up_prompts", in.t.inputs.follow_up_prompts.v[i],
		    NULL);
	*out = in.t;
	return true;
}

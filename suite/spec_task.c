/* SPDX-License-Identifier: ISC */
/*
 * One task: a task file or an entry of `tasks:`.  Both have the same keys; the
 * prompt is a key of the task or of its `inputs:`.
 */
#include "suite/spec_internal.h"

#include <string.h>

#include "lib/tmpl.h"
#include "mock/mock.h"

static const struct field file_rows[] = {
	FIELD(spec_input_file, path, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "path in the workspace"),
	SPEC_KEY(spec_input_file, content, FIELD_STR,
	    .help = "text of the file; missing: a file of the fixtures"),
};
static const struct field_table file_table =
    FIELD_TABLE(spec_input_file, file_rows);

struct inputs_in {
	struct spec_inputs i;
	struct str prompt;
	const struct json *files, *responder;
};
static const struct field inputs_rows[] = {
	SPEC_KEY(inputs_in, prompt, FIELD_STR,
	    .help = "text that the agent gets"),
	SPEC_PART(inputs_in, i, prompt_file, FIELD_STR,
	    .values = FIELD_FILES,
	    .help = "file with that text"),
	SPEC_KEY(inputs_in, files, FIELD_TREE,
	    .sub = &file_table, .shape = FIELD_AS_LIST | FIELD_OR_SCALAR,
	    .values = FIELD_FILES,
	    .help = "files in the workspace: paths of fixtures, or path and content"),
	SPEC_PART(inputs_in, i, context, FIELD_TREE,
	    .schema = "\"type\":[\"object\",\"null\"]",
	    .help = "data about the task; fixture is a file or directory for the workspace"),
	SPEC_PART(inputs_in, i, environment, FIELD_TREE,
	    .schema = SPEC_SCALARS,
	    .help = "environment variables of the agent"),
	SPEC_PART(inputs_in, i, follow_up_prompts, FIELD_STRS,
	    .help = "further prompts in the same session"),
	SPEC_KEY(inputs_in, responder, FIELD_TREE,
	    .sub = &spec_responder_table,
	    .help = "model that answers instead of a user"),
	SPEC_ROW(inputs_in, "repos", i.repos, FIELD_OBJECTS,
	    .sub = &spec_repo_table,
	    .help = "git repositories in the workspace"),
	SPEC_PART(inputs_in, i, workdir, FIELD_STR,
	    .help = "working directory of the agent inside the workspace"),
};
static const struct field_table inputs_table =
    FIELD_TABLE(inputs_in, inputs_rows);

#define LIMIT(m, ...) \
	SPEC_RANGE(spec_behavior, m, FIELD_INT, 0, INT64_MAX, __VA_ARGS__)
static const struct field behavior_rows[] = {
	LIMIT(max_tool_calls,
	    .help = "tool calls at most"),
	LIMIT(max_iterations,
	    .help = "turns at most"),
	LIMIT(max_tokens,
	    .help = "tokens at most"),
	LIMIT(max_response_time_ms,
	    .help = "milliseconds at most"),
	SPEC_KEY(spec_behavior, required_tools, FIELD_STRS,
	    .help = "tools that must be called"),
	SPEC_KEY(spec_behavior, forbidden_tools, FIELD_STRS,
	    .help = "tools that must not be called"),
};
static const struct field_table behavior_table =
    FIELD_TABLE(spec_behavior, behavior_rows);

struct expected_in {
	struct spec_expected e;
	struct field_strs excludes;	/* the old name of not_contains */
};
#define EXPECTED(m, ...) SPEC_PART(expected_in, e, m, __VA_ARGS__)
static const struct field expected_rows[] = {
	EXPECTED(output_contains, FIELD_STRS,
	    .help = "texts that the answer contains, case-insensitive"),
	EXPECTED(output_not_contains, FIELD_STRS,
	    .help = "texts that the answer does not contain"),
	SPEC_ROW(expected_in, "output_excludes", excludes, FIELD_STRS,
	    .help = "older name of output_not_contains"),
	EXPECTED(output_contains_any, FIELD_STRS,
	    .help = "texts of which the answer contains at least one"),
	SPEC_ROW(expected_in, "behavior", e.behavior, FIELD_OBJECT,
	    .sub = &behavior_table,
	    .help = "limits of the agent's work"),
	EXPECTED(outcomes, FIELD_TREE,
	    .help = "outcomes: task_completed, or tool_called with a tool_name"),
	EXPECTED(tool_calls, FIELD_TREE,
	    .help = "calls that are required or forbidden"),
	EXPECTED(should_trigger, FIELD_BOOL,
	    .help = "whether the skill must be used"),
	EXPECTED(skill_activated, FIELD_BOOL,
	    .help = "whether the skill must be used"),
};
static const struct field_table expected_table =
    FIELD_TABLE(expected_in, expected_rows);

/* The keys of a task. */
struct task_in {
	struct spec_task t;
	struct spec_def d;		/* t.def */
	bool enabled;
	struct str prompt, prompt_file;	/* not those of inputs */
	struct str context_dir;
	const struct json *inputs, *expected, *graders, *unused;
};

static const struct task_in no_task = { .enabled = true };
#define TASK(m, ...) SPEC_PART(task_in, t, m, __VA_ARGS__)
#define DEF(m, ...) SPEC_PART(task_in, d, m, __VA_ARGS__)
#define OTHER(k) SPEC_ROW(task_in, k, unused, FIELD_TREE, \
	.sub = &spec_evaluation_table, .shape = FIELD_AS_ROW)
static const struct field task_rows[] = {
	TASK(id, FIELD_STR,
	    .help = "unique id of the task"),
	TASK(name, FIELD_STR,
	    .help = "name of the task, for people"),
	DEF(description, FIELD_STR,
	    .help = "what the task is for, for people"),
	DEF(group, FIELD_STR,
	    .help = "group of the task in reports"),
	DEF(tags, FIELD_STRS,
	    .help = "tags, by which tasks can be selected"),
	SPEC_KEY(task_in, enabled, FIELD_BOOL,
	    .help = "whether the task is part of the suite"),
	SPEC_KEY(task_in, context_dir, FIELD_STR,
	    .values = FIELD_FILES,
	    .help = "directory with the fixtures of this task"),
	SPEC_ROW(task_in, "timeout_seconds", d.timeout_seconds, FIELD_INT,
	    .min = 1, .max = SPEC_SECONDS_MAX,
	    .help = "time limit of an answer, in seconds"),
	SPEC_ROW(task_in, "first_event_timeout_seconds",
	    d.first_event_timeout_seconds, FIELD_INT, .min = 0,
	    .max = SPEC_SECONDS_MAX,
	    .help = "time limit until the agent's first event, in seconds; 0: none"),
	DEF(budget, FIELD_OBJECT, .sub = &spec_budget_table,
	    .help = "limits of what the trials of this task spend"),
	SPEC_KEY(task_in, prompt, FIELD_STR,
	    .help = "text that the agent gets"),
	SPEC_KEY(task_in, prompt_file, FIELD_STR,
	    .values = FIELD_FILES,
	    .help = "file with that text"),
	SPEC_KEY(task_in, inputs, FIELD_TREE,
	    .sub = &inputs_table,
	    .help = "prompt, files and environment of the task"),
	SPEC_KEY(task_in, expected, FIELD_TREE,
	    .sub = &expected_table,
	    .help = "expectations of the answer; each is a verdict of its own"),
	SPEC_KEY(task_in, graders, FIELD_TREE,
	    .schema = FIELD_REF("graders"),
	    .help = "graders for this task"),
	DEF(mock, FIELD_TREE,
	    .schema = FIELD_REF("mock"),
	    .help = "answer of the executor mock"),
	DEF(command_mocks, FIELD_TREE,
	    .sub = &mock_command_table, .shape = FIELD_AS_LIST,
	    .help = "answers of mocked commands, instead of the suite's"),
	SPEC_ROW(task_in, "schemaVersion", unused, FIELD_TREE,
	    .alias = "schema_version",
	    .help = "version of the format; accepted"),
	DEF(golden, FIELD_BOOL,
	    .help = "waza gate fails if this task does not pass"),
	DEF(skill_directories, FIELD_STRS,
	    .values = FIELD_FILES,
	    .help = "skill directories in addition to the suite's"),
	DEF(instruction_files, FIELD_STRS,
	    .values = FIELD_FILES,
	    .help = "instruction files in addition to the suite's"),
	SPEC_ROW(task_in, "checkpoints", unused, FIELD_TREE,
	    .sub = &spec_checkpoint_table, .shape = FIELD_AS_LIST,
	    .help = "graders that run after a turn of the conversation"),
	SPEC_ROW(task_in, "tests", unused, FIELD_TREE,
	    .sub = &spec_test_table, .shape = FIELD_AS_LIST,
	    .help = "answers that the graders must pass or fail, for waza grade --self-test"),
	SPEC_ROW(task_in, "requirements", unused, FIELD_TREE,
	    .sub = &spec_requirement_table, .shape = FIELD_AS_LIST,
	    .help = "what the task demonstrates, for people and reviews"),
	/* for evaluation clients: spec_remote.c reads them */
	SPEC_ROW(task_in, "evaluation", unused, FIELD_TREE,
	    .sub = &spec_evaluation_table,
	    .help = "the same keys, as in files of evaluation servers"),
	OTHER("tool"), OTHER("url"), OTHER("target"),
	OTHER("input"), OTHER("timeout"), OTHER("metadata"), OTHER("model"),
	OTHER("validation"),
};
const struct field_table spec_task_table = { task_rows, COUNTOF(task_rows),
	sizeof(struct task_in), &no_task };

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
	in.e.trigger_given = spec_given(json_getc(v, "should_trigger"));
	in.e.activated_given = spec_given(json_getc(v, "skill_activated"));
	out = NEW(l->arena, struct spec_expected);
	*out = in.e;
	return out;
}

/* An entry is {path, content} or a path alone. */
static void
read_files(struct spec_loader *l, const char *file, const struct json *v,
    struct field_list *out)
{
	struct spec_input_file *f;
	const struct json *c;

	v = spec_array(l, file, v);
	if (v == NULL)
		return;
	out->v = f = NEW_N(l->arena, struct spec_input_file, json_count(v));
	for (c = json_first(v); c != NULL; c = c->next, out->n++) {
		f[out->n].at = spec_at(file, c);
		if (c->type == JSON_STRING)
			f[out->n].path = json_text(c);
		else
			spec_decode(l, file, &file_table, c, &f[out->n]);
	}
}

/* The node of a prompt, for messages: under `inputs` or in the task. */
static const struct json *
prompt_node(const struct json *task, const char *key)
{
	const struct json *p = json_getc(json_getc(task, "inputs"), key);

	return p != NULL ? p : json_getc(task, key);
}

static void
read_prompt_file(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, const struct spec_inputs *in, struct str *prompt)
{
	const char *path = spec_path(l->arena, f->dir, in->prompt_file);
	const struct json *v = prompt_node(task, "prompt_file");
	struct str text;

	if (prompt->p != NULL) {
		spec_error(l, f->path, v, NULL, "\"prompt\" and "
		    "\"prompt_file\" are mutually exclusive");
		return;
	}
	if (spec_read_text(l, path, spec_at(f->path, v), &text) == -1)
		return;
	if (!utf8_valid(text) || (text.n > 0 && memchr(text.p, 0, text.n)))
		spec_error(l, f->path, v, NULL, "%.*s is not UTF-8 text",
		    STRF(spec_tail(path)));
	else
		*prompt = text;
}

/* Checks the keys of the free-form mappings that others read. */
static void
check_mappings(struct spec_loader *l, const char *file,
    const struct spec_inputs *in)
{
	const struct json *v = json_getc(in->context, "fixture");

	spec_check_scalars(l, file, in->environment, "environment variable");
	if (v != NULL && v->type != JSON_STRING)
		spec_wrong_type(l, file, v, "the path of a file or directory");
}

static void
read_inputs(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, struct task_in *t)
{
	struct inputs_in in = { .i = { .prompt_file = t->prompt_file },
		.prompt = t->prompt };
	const struct json *v = spec_object(l, f->path, t->inputs);

	if (v != NULL)
		spec_decode(l, f->path, &inputs_table, v, &in);
	if (t->prompt.p != NULL && spec_given(json_getc(v, "prompt")))
		spec_error(l, f->path, json_getc(v, "prompt"), NULL,
		    "\"prompt\" is given twice: here and in the task itself");
	read_files(l, f->path, in.files, &in.i.files);
	in.i.context = spec_object(l, f->path, in.i.context);
	in.i.environment = spec_object(l, f->path, in.i.environment);
	check_mappings(l, f->path, &in.i);
	spec_read_dialogue(l, f, v, in.responder, &in.i);
	if (in.i.prompt_file.n > 0)
		read_prompt_file(l, f, task, &in.i, &in.prompt);
	t->t.prompt = in.prompt;
	t->d.inputs = in.i;
}

/* The first variable in a text that lacks its dot: {{TaskName}}; or NULL. */
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
		rest = str_trim((struct str){ rest.p + 2, rest.n - 2 });
		for (i = 0; i < COUNTOF(names); i++)
			if (str_starts(rest, str_of(names[i])))
				return names[i];
	}
	return NULL;
}

void
spec_check_text(struct spec_loader *l, const char *file, const struct json *at,
    const char *key, struct str text, const struct json *vars)
{
	struct arena_mark mark = arena_save(&l->scratch);
	struct tmpl_vars v = { .vars = { vars, l->suite->inputs } };
	const char *name;
	struct err e;

	if (text.n == 0 || memchr(text.p, '{', text.n) == NULL)
		return;
	if (tmpl_any(text) &&
	    tmpl_render(&l->scratch, text, &v, &e).p == NULL)
		spec_error(l, file, at, key,
		    "line %u of \"%s\": %s%s", e.line, key, e.msg,
		    strncmp(e.msg, "unknown variable", 16) != 0 ? "" :
		    vars != NULL ? "; add the column, or set it in \"inputs\" "
		    "of the suite" : "; set it in \"inputs\" of the suite");
	name = undotted(text);
	if (name != NULL)
		spec_warning(l, file, at, key,
		    "\"{{%s\" is not expanded (did you mean \"{{.%s\"?)",
		    name, name);
	arena_restore(&l->scratch, mark);
}

/* The name of the task file without directory and suffix. */
static struct str
base_name(const char *path)
{
	struct str s = str_base(str_of(path));

	if (str_ends(s, STR(".yaml")))
		s.n -= 5;
	else if (str_ends(s, STR(".yml")))
		s.n -= 4;
	return s;
}

/* A missing id or name is taken from the other, or from the file name. */
static void
identify(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct spec_task *t)
{
	const struct json *id = json_getc(v, "id");
	size_t i;

	t->id = str_trim(t->id);
	t->name = str_trim(t->name);
	t->at = spec_at(f->path, id != NULL ? id : v);
	for (i = 0; i < t->id.n; i++)
		if ((unsigned char)t->id.p[i] < 0x20 || t->id.p[i] == 0x7F) {
			spec_note_key(l->notes, FIELD_ERROR, t->at, STR("id"),
			    "\"id\" contains a control character");
			break;
		}
	if (t->id.n == 0)
		t->id = t->name;
	if (t->id.n == 0 && f->root == v) {
		t->id = base_name(f->path);
		spec_note_key(l->notes, FIELD_WARNING, t->at, STR("id"),
		    "the task has neither \"id\" nor \"name\"; using "
		    "\"%.*s\"", SPEC_SHORT(t->id));
	}
	if (t->name.n == 0)
		t->name = t->id;
}

/* Beside the file that names it, else the suite, else below the cwd. */
static const char *
find_context(struct spec_loader *l, const struct spec_file *f, struct str path)
{
	const char *here = spec_join(l->arena, f->dir, path), *there;

	if (spec_exists(here))
		return here;
	there = spec_path(l->arena, l->suite->dir, path);
	return spec_exists(there) ? there : here;
}

/* Checks an input file or fixture wherever a run would find it. */
static void
check_input(struct spec_loader *l, const struct spec_file *f,
    const struct spec_task *t, const struct json *node, struct str path)
{
	struct arena_mark mark = arena_save(&l->scratch);
	const char *own = t->def->context_dir;
	const char *dirs[] = { own != NULL ? own :
		l->notes->context_dir != NULL ? l->notes->context_dir :
		spec_join(&l->scratch, l->suite->dir, STR("fixtures")),
		f->dir, l->suite->dir };
	size_t i;

	for (i = 0; i < COUNTOF(dirs); i++)
		if (!spec_allowed(l->notes, spec_at(f->path, node),
		    arena_fmt(&l->scratch, "%s/%.*s", dirs[i], STRF(path)).p))
			break;
	arena_restore(&l->scratch, mark);
}

void
spec_check_files(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, const struct spec_task *t)
{
	const struct json *inputs = json_getc(task, "inputs");
	const struct spec_input_file *file = t->def->inputs.files.v;
	const struct json *v = json_getc(t->def->inputs.context, "fixture");
	size_t i;

	if (l->notes == NULL || l->notes->allows == NULL)
		return;
	if (t->def->context_dir != NULL)
		(void)spec_allowed(l->notes, spec_at(f->path,
		    json_getc(task, "context_dir")), t->def->context_dir);
	if (v != NULL)
		check_input(l, f, t, v, json_text(v));
	for (i = 0; i < t->def->inputs.files.n; i++)
		if (file[i].content.n == 0)
			check_input(l, f, t, spec_nth(json_getc(inputs,
			    "files"), i), file[i].path);
}

static void
check_prompts(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, const struct spec_task *t)
{
	const struct spec_inputs *in = &t->def->inputs;
	size_t i;

	if (str_trim(t->prompt).n == 0 && in->prompt_file.n == 0 &&
	    t->def->remote == NULL)
		spec_note_key(l->notes, FIELD_WARNING, t->at, STR("prompt"),
		    "the task has no prompt: add \"prompt: TEXT\"");
	spec_check_text(l, f->path, prompt_node(v, in->prompt_file.n > 0 ?
	    "prompt_file" : "prompt"), "prompt", t->prompt, NULL);
	for (i = 0; i < in->follow_up_prompts.n; i++)
		spec_check_text(l, f->path, prompt_node(v,
		    "follow_up_prompts"), "follow_up_prompts",
		    in->follow_up_prompts.v[i], NULL);
}

bool
spec_read_task(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct spec_task *out)
{
	struct task_in in = no_task;

	in.t.def = &in.d;
	spec_decode(l, f->path, &spec_task_table, v, &in);
	if (v->type != JSON_OBJECT)
		return false;
	spec_read_evaluation(l, f, v, &in.t, &in.d, &in.enabled);
	if (!in.enabled)
		return false;
	identify(l, f, v, &in.t);
	if (in.context_dir.n > 0)
		in.d.context_dir = find_context(l, f, in.context_dir);
	in.d.mock = spec_object(l, f->path, in.d.mock);
	in.d.command_mocks = spec_read_command_mocks(l, f,
	    in.d.command_mocks);
	read_inputs(l, f, v, &in);
	spec_check_files(l, f, v, &in.t);
	(void)spec_check_skill_dirs(l, f, json_getc(v, "skill_directories"),
	    &in.d.skill_directories);
	spec_check_instructions(l, f, in.d.context_dir,
	    json_getc(v, "instruction_files"), &in.d.instruction_files);
	in.d.expected = read_expected(l, f->path, in.expected);
	spec_read_graders(l, f->path, in.graders, &in.d.graders);
	spec_read_validation(l, f, v, &in.d);
	spec_read_checkpoints(l, f, v, &in.d);
	spec_read_tests(l, f, v, &in.d);
	spec_check_requirements(l, f, v, &in.t);
	if (!l->template)
		check_prompts(l, f, v, &in.t);
	*out = in.t;
	(void)spec_own_def(l, out);
	return true;
}

struct spec_def *
spec_own_def(struct spec_loader *l, struct spec_task *t)
{
	struct spec_def *d = NEW(l->arena, struct spec_def);

	*d = *t->def;
	t->def = d;
	return d;
}

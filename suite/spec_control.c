/* SPDX-License-Identifier: ISC */
/*
 * What proves that graders work: `controls` of the suite, answers that must
 * not pass, and `tests` of a task, examples of good and bad answers.
 */
#include "suite/spec_internal.h"

#include <string.h>

#include "base/os.h"
#include "yaml_lite.h"

enum {
	CONTROL_FILE_MAX = 1 << 20,	/* bytes of an answer */
	CONTROLS_MAX = 16,		/* of a suite */
	TESTS_MAX = 1000		/* of a task */
};

static const struct {
	const char *word;
	enum spec_control_kind kind;
} words[] = {
	{ "echo", SPEC_CONTROL_ECHO },
	{ "mutate", SPEC_CONTROL_MUTATE },
	{ "none", SPEC_CONTROL_NULL },
	{ "null", SPEC_CONTROL_NULL },
};

static bool
is_script(struct str name)
{
	return str_ends(name, STR(".yaml")) || str_ends(name, STR(".yml")) ||
	    str_ends(name, STR(".json"));
}

/* Whether it has a part of an answer: one without any is a mistake. */
static bool
is_answer(const struct json *v)
{
	return v->type == JSON_OBJECT && (json_getc(v, "output") != NULL ||
	    json_getc(v, "files") != NULL ||
	    json_getc(v, "tool_calls") != NULL);
}

int
spec_read_control(struct arena *a, const char *path, struct spec_control *c,
    struct err *e)
{
	struct str text;
	struct err why = { 0 };

	if (os_read_plain(a, path, CONTROL_FILE_MAX, &text, e) == -1)
		return -1;
	if (!utf8_valid(text) || (text.n > 0 && memchr(text.p, 0, text.n)))
		return err_set(e, ERR_SCHEMA, "%s: is not UTF-8 text", path);
	c->text = text;
	if (!is_script(str_of(path)))
		return 0;
	c->script = yaml_read_one(a, text, &why);
	if (c->script == NULL)
		return err_set(e, ERR_SCHEMA, "%s:%u:%u: %s", path, why.line,
		    why.col, why.msg);
	if (!is_answer(c->script))
		return err_set(e, ERR_SCHEMA, "%s: is not an answer as "
		    "\"mock\" takes it: a mapping with output, files or "
		    "tool_calls", path);
	return 0;
}

bool
spec_control_word(struct str word, struct spec_control *c)
{
	size_t i;

	*c = (struct spec_control){ .kind = SPEC_CONTROL_FILE, .name = word };
	for (i = 0; i < COUNTOF(words); i++)
		if (str_is(word, words[i].word)) {
			c->kind = words[i].kind;
			if (c->kind == SPEC_CONTROL_NULL)
				c->name = STR("null");
			return true;
		}
	return false;
}

bool
spec_add_control(struct arena *a, struct spec_controls *list,
    const struct spec_control *c)
{
	struct spec_control *v;
	size_t i;

	for (i = 0; i < list->n; i++)
		if (str_eq(list->v[i].name, c->name))
			return true;
	if (list->n == CONTROLS_MAX)
		return false;
	v = NEW_N(a, struct spec_control, list->n + 1);
	if (list->n > 0)
		memcpy(v, list->v, list->n * sizeof(*v));
	v[list->n++] = *c;
	list->v = v;
	return true;
}

/* One entry of `controls`: a word, or the file of an answer. */
static void
read_entry(struct spec_loader *l, const struct spec_file *f,
    const struct json *v)
{
	struct spec_control c;
	const char *path;
	struct err e = { 0 };

	if (v->type == JSON_NULL) {
		(void)spec_control_word(STR("null"), &c);
	} else if (v->type != JSON_STRING || json_text(v).n == 0) {
		spec_wrong_type(l, f->path, v, "none, echo, mutate or the "
		    "path of a file");
		return;
	} else if (!spec_control_word(json_text(v), &c)) {
		path = spec_path(l->arena, f->dir, c.name);
		if (!spec_allowed(l->notes, spec_at(f->path, v), path))
			return;
		if (spec_read_control(l->arena, path, &c, &e) == -1) {
			spec_error(l, f->path, v, NULL, "control \"%.*s\": %s "
			    "(use none, echo, mutate or a file with an "
			    "answer)", SPEC_SHORT(c.name), e.msg);
			return;
		}
	}
	if (!spec_add_control(l->arena, &l->suite->config.controls, &c))
		spec_error(l, f->path, v, NULL, "more than %d controls",
		    CONTROLS_MAX);
}

/* A suite's list replaces that of the project. */
void
spec_read_controls(struct spec_loader *l, const struct spec_file *f,
    const struct json *config)
{
	const struct json *list = json_getc(config, "controls"), *v;

	if (list == NULL)
		return;
	l->suite->config.controls = (struct spec_controls){ NULL, 0 };
	if (list->type == JSON_STRING || list->type == JSON_NULL) {
		read_entry(l, f, list);
		return;
	}
	list = spec_array(l, f->path, list);
	for (v = json_first(list); v != NULL; v = v->next)
		read_entry(l, f, v);
}

static const char *const verdicts[] = { "pass", "fail", NULL };

struct test_in {
	struct str output, why;
	const struct json *files, *tool_calls;
	struct field_strs skills;
	int expect;
};
static const struct field test_rows[] = {
	SPEC_KEY(test_in, output, FIELD_STR,
	    .help = "text of the answer; default: empty"),
	SPEC_KEY(test_in, files, FIELD_TREE,
	    .help = "files that the agent writes: path and content"),
	SPEC_KEY(test_in, tool_calls, FIELD_TREE,
	    .help = "tool calls: name, arguments, result, success"),
	SPEC_KEY(test_in, skills, FIELD_STRS,
	    .help = "skills that are used"),
	FIELD(test_in, expect, FIELD_ENUM, .flags = FIELD_REQUIRED,
	    .words = verdicts,
	    .help = "whether the graders must pass or fail this answer"),
	SPEC_KEY(test_in, why, FIELD_STR,
	    .help = "what the example shows, for people"),
};
const struct field_table spec_test_table = FIELD_TABLE(test_in, test_rows);

static void
check_items(struct spec_loader *l, const char *file, const struct json *list,
    const char *key)
{
	const struct json *v;

	list = spec_array(l, file, list);
	for (v = json_first(list); v != NULL; v = v->next)
		if (json_getc(v, key) == NULL)
			spec_error(l, file, v, key, "an entry of \"%.*s\" "
			    "needs a \"%s\"", STRF(json_key(list)), key);
}

void
spec_read_tests(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, struct spec_def *d)
{
	const struct json *list = spec_array(l, f->path, json_getc(task,
	    "tests")), *v;
	size_t n = list != NULL ? json_count(list) : 0;
	struct spec_test *out;
	struct test_in in;

	if (n > TESTS_MAX) {
		spec_error(l, f->path, list, NULL, "more than %d tests",
		    TESTS_MAX);
		return;
	}
	d->tests.v = out = NEW_N(l->arena, struct spec_test, n);
	for (v = json_first(list); v != NULL; v = v->next) {
		in = (struct test_in){ .expect = 0 };
		if (spec_decode(l, f->path, &spec_test_table, v, &in) > 0)
			continue;
		if (in.output.p == NULL && in.files == NULL &&
		    in.tool_calls == NULL)
			spec_error(l, f->path, v, "output", "the test has no "
			    "answer: add \"output\", \"files\" or "
			    "\"tool_calls\"");
		check_items(l, f->path, in.files, "path");
		check_items(l, f->path, in.tool_calls, "name");
		out[d->tests.n++] = (struct spec_test){ .script = v,
			.passes = in.expect == 0, .why = in.why,
			.at = spec_at(f->path, v) };
	}
}

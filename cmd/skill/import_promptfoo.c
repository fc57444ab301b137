/* SPDX-License-Identifier: ISC */
/*
 * Configurations of promptfoo: each test with each prompt is a task.  Variables
 * are put into the prompts here; prompts with other templates, and assertions
 * that run code or compute metrics, are left out.
 */
#include "cmd/skill/import.h"

#include <string.h>

#include "lib/re/re.h"
#include "yaml_lite.h"

enum how { CONTAINS, CONTAINS_LIST, ANY, REGEX, EQUALS, STARTS, JSON, WORDS };

/* A type of assertion, without "not-". */
static const struct kind {
	const char *name;
	enum how how;
	bool fold;		/* ignores the case of letters */
	const char *key, *not_key;	/* of a text grader */
} kinds[] = {
	{ "contains", CONTAINS, false, "contains_cs", "not_contains_cs" },
	{ "contains-all", CONTAINS_LIST, false, "contains_cs", NULL },
	{ "contains-any", ANY, false, "regex_match", "regex_not_match" },
	{ "contains-json", JSON, false, NULL, NULL },
	{ "equals", EQUALS, false, "regex_match", "regex_not_match" },
	{ "g-eval", WORDS, false, NULL, NULL },
	{ "icontains", CONTAINS, true, "contains", "not_contains" },
	{ "icontains-all", CONTAINS_LIST, true, "contains", NULL },
	{ "icontains-any", ANY, true, "regex_match", "regex_not_match" },
	{ "is-json", JSON, false, NULL, NULL },
	{ "llm-rubric", WORDS, false, NULL, NULL },
	{ "model-graded-closedqa", WORDS, false, NULL, NULL },
	{ "regex", REGEX, false, "regex_match", "regex_not_match" },
	{ "starts-with", STARTS, false, "regex_match", "regex_not_match" },
};

struct reader {
	struct import *im;
	const struct json *root, *defaults;	/* defaultTest, or NULL */
	struct import_task task;
	const struct json *vars[2];	/* of the test, then of all */
};

/*
 * Variables.
 */
static const struct json *
find_var(const struct reader *r, struct str name)
{
	const struct json *v = json_get(r->vars[0], name);

	return v != NULL ? v : json_get(r->vars[1], name);
}

/* Puts variables into a text; false: it has other templates. */
static bool
render(struct reader *r, struct str s, struct str *out)
{
	struct buf b = { 0 };
	const struct json *v;
	const char *end;
	struct str name;

	while (s.n > 0) {
		if (str_starts(s, STR("{%")) || str_starts(s, STR("{#")))
			break;
		if (!str_starts(s, STR("{{"))) {
			buf_putc(&b, *s.p);
			s = (struct str){ s.p + 1, s.n - 1 };
			continue;
		}
		end = memchr(s.p, '}', s.n);
		if (end == NULL || end + 1 == s.p + s.n || end[1] != '}')
			break;
		name = str_trim((struct str){ s.p + 2,
		    (size_t)(end - s.p) - 2 });
		v = find_var(r, name);
		if (v == NULL || (v->type != JSON_STRING &&
		    v->type != JSON_NUMBER) || str_starts(json_text(v),
		    STR("file://")))
			break;
		buf_put(&b, json_text(v));
		s.n -= (size_t)(end + 2 - s.p);
		s.p = end + 2;
	}
	*out = arena_take(r->im->arena, &b);
	return s.n == 0;
}

/* A value of an assertion with its variables; p is NULL: left out. */
static struct str
value_of(struct reader *r, const struct json *v, const struct json *at)
{
	struct str s = STR("");

	if (v == NULL || (v->type != JSON_STRING && v->type != JSON_NUMBER))
		import_leave(r->im, at, "an assertion whose value is not a "
		    "text");
	else if (str_starts(json_text(v), STR("file://")))
		import_leave(r->im, at, "an assertion whose value is in a "
		    "file");
	else if (render(r, json_text(v), &s))
		return s;
	else
		import_leave(r->im, at, "an assertion with a template");
	return (struct str){ NULL, 0 };
}

/*
 * Assertions.
 */
static void
put_text(struct reader *r, const char *key, struct str value,
    const struct json *weight)
{
	import_open(r->im, &r->task, "text", weight);
	import_put_list(r->im, key, value);
	import_close(r->im);
}

/* Texts of which all, or any, must be in the answer. */
static void
put_texts(struct reader *r, const struct kind *k, const char *key,
    const struct json *a)
{
	const struct json *v = json_getc(a, "value"), *c;
	struct str *list = NEW_N(r->im->arena, struct str, v != NULL ?
	    json_count(v) + 1 : 1);
	struct buf b = { 0 };
	size_t i, n = 0;

	for (c = json_first(v); c != NULL; c = c->next) {
		list[n] = value_of(r, c, a);
		if (list[n++].p == NULL)
			return;
	}
	if (n == 0) {
		import_leave(r->im, a, "an assertion without a list of "
		    "values");
		return;
	}
	import_open(r->im, &r->task, "text", json_getc(a, "weight"));
	if (k->how == CONTAINS_LIST) {
		json_open_member(&r->im->out, key, '[');
		for (i = 0; i < n; i++)
			import_put_str(r->im, list[i]);
		json_close(&r->im->out, ']');
	} else {
		buf_puts(&b, k->fold ? "(?i)(" : "(");
		for (i = 0; i < n; i++)
			buf_fmt(&b, "%s%.*s", i > 0 ? "|" : "",
			    STRF(import_literal(r->im->arena, list[i])));
		buf_putc(&b, ')');
		import_put_list(r->im, key, buf_str(&b));
		buf_free(&b);
	}
	import_close(r->im);
}

static void
put_pattern(struct reader *r, const char *key, const struct kind *k,
    const struct json *a)
{
	struct arena tmp = { 0 };
	struct str s = value_of(r, json_getc(a, "value"), a);
	struct err e;

	if (s.p == NULL)
		return;
	if (k->how == EQUALS)
		s = arena_fmt(r->im->arena, "\\A%.*s\\z",
		    STRF(import_literal(r->im->arena, s)));
	else if (k->how == STARTS)
		s = arena_fmt(r->im->arena, "\\A%.*s",
		    STRF(import_literal(r->im->arena, s)));
	if (re_compile(&tmp, s, &e) == NULL)
		import_leave(r->im, a, "a pattern that is not supported: %s",
		    e.msg);
	else
		put_text(r, key, s, json_getc(a, "weight"));
	arena_free(&tmp);
}

static void
put_json(struct reader *r, const struct kind *k, const struct json *a)
{
	const struct json *schema = json_getc(a, "value");

	if (json_is_set(schema) && schema->type != JSON_OBJECT) {
		import_leave(r->im, a, "a schema that is not an object here");
		return;
	}
	import_open(r->im, &r->task, "json_schema", json_getc(a, "weight"));
	if (json_is_set(schema))
		json_put_member(&r->im->out, "schema", schema);
	else
		json_put_member_raw(&r->im->out, "schema", STR("{}"));
	if (strcmp(k->name, "contains-json") == 0)
		json_put_member_bool(&r->im->out, "extract_json", true);
	import_close(r->im);
}

static void
put_words(struct reader *r, const struct json *a)
{
	struct str s = value_of(r, json_getc(a, "value"), a);
	const struct json *threshold = json_getc(a, "threshold");
	double t;

	if (s.p == NULL)
		return;
	import_open(r->im, &r->task, "prompt", json_getc(a, "weight"));
	json_put_key(&r->im->out, STR("prompt"));
	import_put_str(r->im, s);
	if (json_double(threshold, &t) && t >= 0 && t <= 1)
		json_put_member(&r->im->out, "threshold", threshold);
	import_close(r->im);
}

static void
put_kind(struct reader *r, const struct kind *k, bool negated,
    const struct json *a)
{
	const char *key = negated ? k->not_key : k->key;
	struct str s;

	switch (k->how) {
	case CONTAINS:
		s = value_of(r, json_getc(a, "value"), a);
		if (s.p != NULL)
			put_text(r, key, s, json_getc(a, "weight"));
		break;
	case CONTAINS_LIST:
	case ANY:
		put_texts(r, k, key, a);
		break;
	case REGEX:
	case EQUALS:
	case STARTS:
		put_pattern(r, key, k, a);
		break;
	case JSON:
		put_json(r, k, a);
		break;
	case WORDS:
		put_words(r, a);
		break;
	}
}

static void
put_assertion(struct reader *r, const struct json *a)
{
	struct str type = json_str(a, "type"), name = type;
	bool negated = str_starts(type, STR("not-"));
	size_t i;

	if (negated)
		name = (struct str){ type.p + 4, type.n - 4 };
	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_is(name, kinds[i].name))
			break;
	if (i == COUNTOF(kinds) || (negated && kinds[i].not_key == NULL))
		import_leave(r->im, a, "assertion \"%.*s\"",
		    STRF(utf8_cut(type, 60)));
	else if (json_is_set(json_getc(a, "transform")))
		import_leave(r->im, a, "assertion \"%.*s\" with a transform",
		    STRF(utf8_cut(type, 60)));
	else
		put_kind(r, &kinds[i], negated, a);
}

/*
 * Tests and prompts.
 */
static struct str
prompt_text(const struct json *p)
{
	if (p->type == JSON_STRING)
		return json_text(p);
	return json_str(p, json_getc(p, "raw") != NULL ? "raw" : "prompt");
}

static void
read_test(struct reader *r, const struct json *test, const struct json *prompt,
    size_t n, size_t k)
{
	struct str raw = prompt_text(prompt);
	const struct json *v;

	r->vars[0] = json_getc(test, "vars");
	r->vars[1] = json_getc(r->defaults, "vars");
	r->task = (struct import_task){ .at = test,
		.name = json_str(test, "description") };
	r->task.id = k > 0 ? arena_fmt(r->im->arena, "test-%zu-prompt-%zu", n,
	    k) : arena_fmt(r->im->arena, "test-%zu", n);
	if (raw.n == 0 || str_starts(raw, STR("file://")) ||
	    !render(r, raw, &r->task.prompt)) {
		import_leave(r->im, raw.n > 0 ? test : prompt, "test %zu: its "
		    "prompt is in a file, or has variables that are lists, "
		    "files or missing", n);
		return;
	}
	import_begin(r->im, &r->task);
	for (v = json_first(json_getc(r->defaults, "assert")); v != NULL;
	    v = v->next)
		put_assertion(r, v);
	for (v = json_first(json_getc(test, "assert")); v != NULL; v = v->next)
		put_assertion(r, v);
	import_end(r->im, &r->task);
}

static void
list_unread(struct reader *r)
{
	static const char *const keys[] = { "providers", "targets",
		"scenarios", "derivedMetrics", "nunjucksFilters",
		"extensions", "redteam" };
	const struct json *v;
	size_t i;

	for (i = 0; i < COUNTOF(keys); i++) {
		v = json_getc(r->root, keys[i]);
		if (json_is_set(v))
			import_leave(r->im, v, "\"%s\"%s", keys[i], i < 2 ?
			    ": choose an executor instead" : "");
	}
}

static void
read_tests(struct reader *r, const struct json *tests,
    const struct json *prompts)
{
	bool one = prompts->type != JSON_ARRAY || json_count(prompts) == 1;
	const struct json *t, *p;
	size_t n = 0, k;

	for (t = json_first(tests); t != NULL; t = t->next) {
		n++;
		if (t->type != JSON_OBJECT) {
			import_leave(r->im, t, "tests in another file");
			continue;
		}
		if (json_is_set(json_getc(t, "options")))
			import_leave(r->im, json_getc(t, "options"),
			    "\"options\" of test %zu", n);
		k = 0;
		for (p = prompts->type == JSON_ARRAY ? json_first(prompts) :
		    prompts; p != NULL; p = p == prompts ? NULL : p->next)
			read_test(r, t, p, n, one ? 0 : ++k);
	}
}

int
import_promptfoo(struct import *im, struct str text, struct err *e)
{
	struct reader r = { .im = im };
	const struct json *prompts, *tests;

	r.root = yaml_read_one(im->arena, text, e);
	if (r.root == NULL)
		return -1;
	prompts = json_getc(r.root, "prompts");
	tests = json_getc(r.root, "tests");
	if (!json_is_set(prompts) || !json_is_set(tests) ||
	    tests->type != JSON_ARRAY) {
		err_set(e, ERR_SCHEMA, "not a configuration of promptfoo with "
		    "\"prompts\" and a list of \"tests\"");
		return err_at(e, r.root->line, r.root->col);
	}
	r.defaults = json_getc(r.root, "defaultTest");
	im->name = json_str(r.root, "description");
	list_unread(&r);
	read_tests(&r, tests, prompts);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/* Which response a call gets: the first one of which all conditions hold. */
#include "mock/mock.h"

#include <string.h>

#include "base/os_spawn.h"
#include "json.h"
#include "lib/re/re.h"
#include "lib/schema/schema.h"

enum { YES = 1, NO = 0, UNKNOWN = -1 };

/* A scalar as text; lists and mappings as JSON. */
static struct str
text_of(struct arena *a, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (v->type == JSON_STRING || v->type == JSON_NUMBER)
		return json_text(v);
	json_put(&o, v);
	return arena_take(a, &b);
}

static int
matches_regex(struct arena *a, const struct json *map, const struct json *args,
    struct err *e)
{
	const struct json *m, *v;
	struct re *re;

	for (m = json_first(map); m != NULL; m = m->next) {
		v = json_get(args, json_key(m));
		if (v == NULL)
			return NO;
		re = re_compile(a, json_source(m), e);
		if (re == NULL)
			return UNKNOWN;
		if (!re_test(re, text_of(a, v)))
			return NO;
	}
	return YES;
}

static int
matches_schema(struct arena *a, const struct json *doc,
    const struct json *args, struct err *e)
{
	struct arena tmp = { 0 };
	struct schema *s;
	int fits;

	if (json_first(doc) == NULL && doc->type == JSON_OBJECT)
		return YES;
	s = schema_compile(a, doc, NULL, e);
	if (s == NULL)
		return UNKNOWN;
	fits = schema_check(s, &tmp, args, NULL, NULL, e);
	arena_free(&tmp);
	return fits;
}

static int
fits_call(struct arena *a, const struct mock_reply *r, const struct json *args,
    struct err *e)
{
	int fits = YES;

	if (json_first(r->match) != NULL && !json_equal(r->match, args))
		return NO;
	fits = matches_regex(a, r->match_regex, args, e);
	if (fits == YES && json_is_set(r->match_schema))
		fits = matches_schema(a, r->match_schema, args, e);
	return fits;
}

int
mock_match_tool(struct arena *a, const struct mock_tool *t,
    const struct json *args, struct err *e)
{
	static const struct json none = { .type = JSON_OBJECT };
	const struct mock_reply *r = t->responses.v;
	size_t i;
	int fits;

	if (!json_is_set(args))
		args = &none;
	for (i = 0; i < t->responses.n; i++) {
		fits = fits_call(a, &r[i], args, e);
		if (fits != NO)
			return fits == YES ? (int)i : -2;
	}
	return -1;
}

/* The pattern matches the whole word. */
static int
matches_word(struct arena *a, struct str pattern, struct str word,
    struct err *e)
{
	struct re *re = re_compile(a, arena_fmt(a, "\\A(?:%.*s)\\z",
	    STRF(pattern)), e);

	return re == NULL ? UNKNOWN : re_test(re, word);
}

static int
matches_args(struct arena *a, const struct mock_output *o,
    const char *const *argv, struct err *e)
{
	const struct json *v = json_first(o->args != NULL ? o->args :
	    o->args_regex);
	int fits;

	for (; v != NULL && *argv != NULL; v = v->next, argv++) {
		fits = o->args != NULL ? str_is(json_source(v), *argv) :
		    matches_word(a, json_source(v), str_of(*argv), e);
		if (fits != YES)
			return fits;
	}
	return v == NULL && *argv == NULL;
}

static bool
matches_env(struct arena *a, const struct json *map, const char *const *env)
{
	const struct json *v;
	const char *name, *value;

	for (v = json_first(map); v != NULL; v = v->next) {
		name = arena_cstr(a, json_key(v));
		value = name != NULL ? os_env_value(env, name) : NULL;
		if (value == NULL || !str_is(v->type == JSON_NULL ? STR("") :
		    json_source(v), value))
			return false;
	}
	return true;
}

/* Without "." and repeated or trailing slashes. */
static struct str
clean(struct arena *a, struct str path)
{
	struct buf b = { 0 };
	struct str name;
	size_t i, from = 0;

	for (i = 0; i <= path.n; i++) {
		if (i < path.n && path.p[i] != '/')
			continue;
		name = (struct str){ path.p + from, i - from };
		if (name.n > 0 && !str_is(name, ".")) {
			if (b.n > 0)
				buf_putc(&b, '/');
			buf_put(&b, name);
		}
		from = i + 1;
	}
	return arena_take(a, &b);
}

static bool
matches_workdir(struct arena *a, const struct mock_output *o,
    const char *workdir)
{
	return o->workdir.p == NULL || (workdir != NULL &&
	    str_eq(clean(a, o->workdir), clean(a, str_of(workdir))));
}

int
mock_match_command(struct arena *a, const struct mock_command *c,
    const struct mock_words *w, struct err *e)
{
	const struct mock_output *o = c->responses.v;
	size_t i;
	int fits;

	for (i = 0; i < c->responses.n; i++) {
		fits = matches_args(a, &o[i], w->argv, e);
		if (fits == YES && (!matches_env(a, o[i].environment, w->env) ||
		    !matches_workdir(a, &o[i], w->workdir)))
			fits = NO;
		if (fits != NO)
			return fits == YES ? (int)i : -2;
	}
	return -1;
}

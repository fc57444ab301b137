/* SPDX-License-Identifier: ISC */
/*
 * Matchers for the arguments of a call.
 *
 * A matcher is a mapping with exactly one of the keys below.  Any other value
 * means `equals` that value, but a mapping that looks like a misspelt matcher
 * is an error.
 */
#include "grade/grader_trace.h"

#include <string.h>

#include "json.h"
#include "lib/re/re.h"
#include "lib/schema/schema.h"
#include "suite/spec.h"

static const char *const keys[] = {
	[GRADER_EQUALS] = "equals",
	[GRADER_REGEX] = "regex",
	[GRADER_CONTAINS] = "contains",
	[GRADER_RANGE] = "range",
	[GRADER_SCHEMA] = "json_schema",
};

static const char *const bounds[] = { "gte", "gt", "lte", "lt" };
enum { AT_LEAST, ABOVE, AT_MOST, BELOW };

/* The index of the word, or n. */
static size_t
index_of(struct str word, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n && !str_is(word, words[i]); i++)
		;
	return i;
}

static bool
is_bound(struct str key)
{
	return index_of(key, bounds, COUNTOF(bounds)) < COUNTOF(bounds);
}

/* The key that a misspelt key was probably meant to be; p is NULL if none. */
static struct str
intended_key(struct str key)
{
	struct str_nearest near = { .word = key };
	size_t i;

	for (i = 0; i < COUNTOF(keys); i++)
		str_nearest(&near, str_of(keys[i]));
	return near.best.p == NULL && is_bound(key) ? STR("range") : near.best;
}

/* Sets kind and value of the matcher; -1 and *e if it is invalid. */
static int
classify(struct grader_arg *m, const struct json *v, struct err *e)
{
	const struct json *member;
	struct str near;
	char hint[STR_HINT];
	size_t i, known = 0;

	m->kind = GRADER_EQUALS;
	m->value = v;
	if (v->type != JSON_OBJECT)
		return 0;
	for (member = json_first(v); member != NULL; member = member->next) {
		i = index_of(json_key(member), keys, COUNTOF(keys));
		if (i == COUNTOF(keys))
			continue;
		m->kind = (enum grader_arg_kind)i;
		m->value = member;
		known++;
	}
	if (known == 1 && json_count(v) == 1)
		return 0;
	if (known > 0 || json_count(v) == 0)
		return err_set(e, ERR_SCHEMA, "expected exactly one of equals, "
		    "regex, contains, range and json_schema");
	member = json_first(v);
	near = intended_key(json_key(member));
	if (near.p != NULL)
		return err_set(e, ERR_SCHEMA, "unknown matcher \"%.*s\"%s; "
		    "use \"equals\" to compare with a mapping",
		    STRF(json_key(member)), str_hint(hint, "", near));
	return 0;
}

static int
check_range(const struct json *range, struct err *e)
{
	double lo = 0, hi = 0, d;
	const struct json *v;
	bool any_lo = false, any_hi = false;

	if (range->type != JSON_OBJECT || json_count(range) == 0)
		return err_set(e, ERR_SCHEMA,
		    "\"range\" needs one of gte, gt, lte and lt");
	for (v = json_first(range); v != NULL; v = v->next) {
		if (!is_bound(json_key(v)))
			return err_set(e, ERR_SCHEMA, "\"range\" takes only "
			    "gte, gt, lte and lt");
		if (!json_double(v, &d))
			return err_set(e, ERR_SCHEMA, "\"%.*s\" must be a "
			    "number", STRF(json_key(v)));
		if (v->key[0] == 'g') {
			lo = any_lo && lo > d ? lo : d;
			any_lo = true;
		} else {
			hi = any_hi && hi < d ? hi : d;
			any_hi = true;
		}
	}
	if (any_lo && any_hi && lo > hi)
		return err_set(e, ERR_SCHEMA, "\"range\" is empty");
	return 0;
}

/* Finds errors that do not depend on templates. */
static int
check_value(const struct grader_arg *m, struct err *e)
{
	const struct json *v = m->value;

	switch (m->kind) {
	case GRADER_REGEX:
	case GRADER_CONTAINS:
		if (v->type != JSON_STRING && v->type != JSON_NUMBER)
			return err_set(e, ERR_SCHEMA, "\"%s\" must be a string",
			    keys[m->kind]);
		return v->n > 0 ? 0 : err_set(e, ERR_SCHEMA,
		    "\"%s\" is empty: it matches everything", keys[m->kind]);
	case GRADER_RANGE:
		return check_range(v, e);
	case GRADER_SCHEMA:
		if (v->type != JSON_OBJECT || json_count(v) == 0)
			return err_set(e, ERR_SCHEMA, "\"json_schema\" must be "
			    "a non-empty mapping");
		return 0;
	case GRADER_EQUALS:
	case GRADER_ARG__MAX:
		break;
	}
	return 0;
}

static void
check_one(struct grader_check *c, const struct json *v)
{
	struct str q = grader_quote(c->tmp, json_key(v));
	struct grader_arg m;
	struct err e = { 0 };

	if (classify(&m, v, &e) != 0 || check_value(&m, &e) != 0) {
		grader_note(c, FIELD_ERROR, v, "argument %.*s: %s", STRF(q),
		    e.msg);
		return;
	}
	if (m.kind == GRADER_REGEX)
		grader_check_each(c, v, keys[GRADER_REGEX],
		    grader_check_pattern);
	if (m.kind == GRADER_SCHEMA &&
	    schema_compile(c->tmp, m.value, NULL, &e) == NULL)
		grader_note(c, FIELD_ERROR, m.value, "json_schema: %s", e.msg);
}

void
grader_args_check(struct grader_check *c, const struct json *map)
{
	const struct json *v;

	if (!json_is_set(map))
		return;
	if (map->type != JSON_OBJECT) {
		grader_note(c, FIELD_ERROR, map,
		    "\"args\" must be a mapping of argument names to matchers");
		return;
	}
	for (v = json_first(map); v != NULL; v = v->next)
		check_one(c, v);
}

int
grader_args_read(struct arena *a, const struct json *map,
    struct grader_args *args, struct budget *b, struct err *e)
{
	struct schema_opts opts = { .budget = b };
	const struct json *v;
	struct grader_arg *m;

	*args = (struct grader_args){ NULL, 0 };
	if (!json_is_set(map))
		return 0;
	if (map->type != JSON_OBJECT)
		return err_set(e, ERR_SCHEMA, "\"args\" must be a mapping");
	args->v = NEW_N(a, struct grader_arg, json_count(map));
	for (v = json_first(map); v != NULL; v = v->next) {
		m = &args->v[args->n++];
		m->name = json_key(v);
		if (classify(m, v, e) != 0 || check_value(m, e) != 0)
			return -1;
		if (m->kind == GRADER_REGEX &&
		    (m->re = re_compile(a, json_text(m->value), e)) == NULL)
			return -1;
		if (m->kind == GRADER_SCHEMA && (m->schema =
		    schema_compile(a, m->value, &opts, e)) == NULL)
			return -1;
		if (m->re != NULL)
			re_limit(m->re, b);
	}
	return 0;
}

/* A member of an object, or an element of an array by its index. */
static const struct json *
element(const struct json *v, struct str key)
{
	size_t i, at = 0;

	if (v->type != JSON_ARRAY)
		return json_get(v, key);
	for (i = 0; i < key.n; i++) {
		if (key.p[i] < '0' || key.p[i] > '9' || i > 7)
			return NULL;
		at = at * 10 + (size_t)(key.p[i] - '0');
	}
	v = key.n > 0 ? json_first(v) : NULL;
	while (v != NULL && at-- > 0)
		v = v->next;
	return v;
}

/* The argument of that name, or at that path: a.b.0. */
static const struct json *
find_argument(const struct json *arguments, struct str name)
{
	const struct json *v = json_get(arguments, name);
	const char *p = name.p, *end = p + name.n, *dot;

	if (v != NULL || name.n == 0 || memchr(p, '.', name.n) == NULL)
		return v;
	for (v = arguments; v != NULL && p != NULL; p = dot) {
		dot = memchr(p, '.', (size_t)(end - p));
		v = element(v, (struct str){ p, (size_t)((dot != NULL ? dot :
		    end) - p) });
		dot = dot != NULL ? dot + 1 : NULL;
	}
	return v;
}

struct str
grader_arg_text(struct arena *a, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (v->type == JSON_STRING)
		return json_text(v);
	if (v->type != JSON_NULL)
		json_put(&o, v);
	return arena_take(a, &b);
}

/* For messages: only strings are in quotes. */
static struct str
show(struct arena *a, const struct json *v)
{
	struct str q;

	if (v->type == JSON_NULL)
		return STR("null");
	q = grader_quote(a, grader_arg_text(a, v));
	if (v->type == JSON_STRING)
		return q;
	return (struct str){ q.p + 1, q.n - 2 };
}

/* The first bound that d violates, or NULL. */
static const char *
violated_bound(const struct json *range, double d)
{
	const struct json *v;
	double limit;
	size_t i;

	for (i = 0; i < COUNTOF(bounds); i++) {
		v = json_getc(range, bounds[i]);
		if (!json_double(v, &limit))
			continue;
		if (!(i == AT_LEAST ? d >= limit : i == ABOVE ? d > limit :
		    i == AT_MOST ? d <= limit : d < limit))
			return bounds[i];
	}
	return NULL;
}

static int
match_range(const struct grader_arg *m, struct arena *tmp,
    const struct json *v, struct buf *why)
{
	struct str is = show(tmp, v), limit;
	const char *key;
	double d;

	if (!json_double(v, &d)) {
		buf_fmt(why, "a number expected, %.*s found", STRF(is));
		return 0;
	}
	key = violated_bound(m->value, d);
	if (key == NULL)
		return 1;
	limit = utf8_cut(json_text(json_getc(m->value, key)), 40);
	buf_fmt(why, "%s %.*s expected, %.*s found", key, STRF(limit),
	    STRF(is));
	return 0;
}

/* The first finding of a schema check. */
struct first_finding {
	struct buf *why;
	bool found;
};

static void
on_finding(void *ctx, const struct schema_finding *f)
{
	struct first_finding *s = ctx;

	if (s->found)
		return;
	s->found = true;
	buf_put(s->why, utf8_cut(f->at, 80));
	buf_puts(s->why, f->at.n > 0 ? ": " : "");
	buf_put(s->why, f->msg);
}

static int
match_one(const struct grader_arg *m, struct arena *tmp, const struct json *v,
    struct buf *why, struct err *e)
{
	struct first_finding f = { why, false };
	struct str want, is, text;
	bool ok = false;

	switch (m->kind) {
	case GRADER_RANGE:
		return match_range(m, tmp, v, why);
	case GRADER_SCHEMA:
		return schema_check(m->schema, tmp, v, on_finding, &f, e);
	case GRADER_EQUALS:
		ok = json_equal(m->value, v);
		break;
	case GRADER_REGEX:
		ok = re_test(m->re, grader_arg_text(tmp, v));
		break;
	case GRADER_CONTAINS:
		text = grader_arg_text(tmp, v);
		ok = grader_search(tmp, text, json_text(m->value)) != SIZE_MAX;
		break;
	case GRADER_ARG__MAX:
		break;
	}
	if (ok)
		return 1;
	want = show(tmp, m->value);
	is = show(tmp, v);
	buf_fmt(why, "%s%.*s expected, %.*s found",
	    m->kind == GRADER_REGEX ? "a match for " :
	    m->kind == GRADER_CONTAINS ? "text with " : "", STRF(want),
	    STRF(is));
	return 0;
}

/* As match_one(), for an argument in two forms; either may be NULL. */
static int
match_either(const struct grader_arg *m, struct arena *tmp,
    const struct json *v, const struct json *own, struct buf *why,
    struct err *e)
{
	int rc;

	if (v == NULL && own == NULL) {
		buf_puts(why, "missing");
		return 0;
	}
	rc = match_one(m, tmp, v != NULL ? v : own, why, e);
	return rc == 0 && v != NULL && own != NULL ?
	    match_one(m, tmp, own, why, e) : rc;
}

int
grader_args_match(const struct grader_args *args, struct arena *tmp,
    const struct json *arguments, const struct json *own, struct buf *why,
    struct err *e)
{
	struct str name;
	size_t i, from;
	int rc, all = 1;

	for (i = 0; i < args->n; i++) {
		from = why->n;
		name = args->v[i].name;
		buf_puts(why, all ? "argument " : "; argument ");
		buf_put(why, grader_quote(tmp, name));
		buf_puts(why, ": ");
		rc = match_either(&args->v[i], tmp, find_argument(arguments,
		    name), json_get(own, name), why, e);
		if (rc < 0)
			return -1;
		if (rc > 0)
			why->n = from;
		else
			all = 0;
	}
	return all;
}

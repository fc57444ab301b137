/* SPDX-License-Identifier: ISC */
/*
 * The table-driven decoder.
 *
 * Most objects have fewer keys than their table has rows, so decoding walks
 * the object once and finds the row of each key.  A bit per row records which
 * keys were present, to find missing ones.  Paths are a chain on the stack
 * and are formatted only to report an error.
 */
#include "lib/field.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

enum { ROWS_MAX = 64 };		/* bits in the set of rows seen */
enum { SHOWN_MAX = 40 };	/* bytes of a value in a message */

/* One step of the path from the root to the current value. */
struct step {
	const struct step *up;
	struct str key;		/* a member's name; p is NULL for an item */
	size_t index;
};

struct decoder {
	const struct field_ctx *ctx;
	size_t errors;
};

static void
path_put(struct buf *b, const struct step *s)
{
	if (s == NULL)
		return;
	path_put(b, s->up);
	if (s->key.p == NULL) {
		buf_fmt(b, "[%zu]", s->index);
		return;
	}
	if (b->n > 0)
		buf_putc(b, '.');
	buf_put(b, s->key);
}

static void PRINTF(4, 0)
report(struct decoder *d, struct field_finding *f, const struct step *at,
    const char *fmt, va_list ap)
{
	struct buf path = { .max = 1000 };
	char msg[sizeof(((struct err *)0)->msg)];

	vsnprintf(msg, sizeof(msg), fmt, ap);
	if (d->ctx->path != NULL)
		buf_puts(&path, d->ctx->path);
	path_put(&path, at);
	f->path = buf_str(&path);
	f->msg = msg;
	if (f->level == FIELD_ERROR)
		d->errors++;
	if (d->ctx->report != NULL)
		d->ctx->report(d->ctx->ctx, f);
	buf_free(&path);
}

/* Reports an error at a value; always false. */
static bool PRINTF(4, 5)
bad(struct decoder *d, const struct json *v, const struct step *at,
    const char *fmt, ...)
{
	struct field_finding f = { .level = FIELD_ERROR,
		.line = v->line, .col = v->col, .key = json_key(v) };
	va_list ap;

	va_start(ap, fmt);
	report(d, &f, at, fmt, ap);
	va_end(ap);
	return false;
}

/* Reports a finding at a key. */
static void PRINTF(5, 6)
about_key(struct decoder *d, enum field_level level, const struct json *v,
    const struct step *at, const char *fmt, ...)
{
	struct field_finding f = { .level = level,
		.line = v->key_line, .col = v->key_col, .key = json_key(v) };
	va_list ap;

	va_start(ap, fmt);
	report(d, &f, at, fmt, ap);
	va_end(ap);
}

static struct str
shorten(struct str s)
{
	return utf8_cut(s, SHOWN_MAX);
}

static struct str
name_of(const struct json *v, const struct field *f)
{
	return v->key != NULL ? json_key(v) : str_of(f->key);
}

static bool
wrong_type(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, const char *want)
{
	return bad(d, v, at, "\"%.*s\" must be %s, not %s",
	    STRF(shorten(name_of(v, f))), want,
	    json_type_name((enum json_type)v->type));
}

/* The caller compares, as doubles cannot represent every int64_t. */
static bool
in_range(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, bool inside)
{
	if ((f->min == 0 && f->max == 0) || inside)
		return true;
	if (f->max == INT64_MAX)
		return bad(d, v, at, "\"%s\" must be at least %lld, not %.*s",
		    f->key, (long long)f->min, STRF(shorten(json_source(v))));
	return bad(d, v, at, "\"%s\" must be from %lld to %lld, not %.*s",
	    f->key, (long long)f->min, (long long)f->max,
	    STRF(shorten(json_source(v))));
}

static bool
get_str(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, struct str *out)
{
	if (v->type == JSON_STRING) {
		*out = json_text(v);
		return true;
	}
	if ((d->ctx->flags & FIELD_LAX) != 0 &&
	    (v->type == JSON_NUMBER || v->type == JSON_BOOL)) {
		*out = json_source(v);
		return true;
	}
	return wrong_type(d, f, v, at, "a string");
}

static void
set_str(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, void *out)
{
	struct str s;

	if (get_str(d, f, v, at, &s))
		*(struct str *)out = s;
}

static void
set_int(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, void *out)
{
	int64_t i;

	if (v->type != JSON_NUMBER)
		wrong_type(d, f, v, at, "a whole number");
	else if (!json_int(v, &i))
		bad(d, v, at, "\"%s\" must be a whole number, not %.*s",
		    f->key, STRF(shorten(json_source(v))));
	else if (in_range(d, f, v, at, i >= f->min && i <= f->max))
		*(int64_t *)out = i;
}

static void
set_num(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, void *out)
{
	double x;

	if (v->type != JSON_NUMBER)
		wrong_type(d, f, v, at, "a number");
	else if (!json_double(v, &x))
		bad(d, v, at, "\"%s\" must be a finite number, not %.*s",
		    f->key, STRF(shorten(json_source(v))));
	else if (in_range(d, f, v, at,
	    x >= (double)f->min && x <= (double)f->max))
		*(double *)out = x;
}

static bool
same_but_case(struct str s, const char *word)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (word[i] == '\0' || (s.p[i] >= 'A' && s.p[i] <= 'Z' ?
		    s.p[i] + 'a' - 'A' : s.p[i]) != word[i])
			return false;
	return word[s.n] == '\0';
}

/* Booleans of YAML 1.1 that YAML 1.2 reads as strings. */
static bool
get_old_bool(const struct json *v, bool *out)
{
	static const char *const words[] = { "no", "yes", "off", "on", "n",
		"y" };
	size_t i;

	for (i = 0; i < COUNTOF(words) && v->type == JSON_STRING; i++)
		if (same_but_case(json_text(v), words[i])) {
			*out = i & 1;
			return true;
		}
	return false;
}

static void
set_bool(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, void *out)
{
	bool b;

	if (v->type == JSON_BOOL)
		*(bool *)out = json_bool(v);
	else if (d->ctx->flags & FIELD_LAX && get_old_bool(v, &b))
		*(bool *)out = b;
	else
		wrong_type(d, f, v, at, "true or false");
}

static void
set_enum(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, void *out)
{
	struct buf list = { .max = 120 };
	struct str_nearest near = { 0 };
	int i;

	if (!get_str(d, f, v, at, &near.word))
		return;
	for (i = 0; f->words[i] != NULL; i++) {
		if (str_is(near.word, f->words[i])) {
			*(int *)out = i;
			buf_free(&list);
			return;
		}
		str_nearest(&near, str_of(f->words[i]));
		buf_fmt(&list, "%s%s", i > 0 ? ", " : "", f->words[i]);
	}
	if (near.best.p != NULL)
		bad(d, v, at, "\"%s\" cannot be \"%.*s\"; did you mean "
		    "\"%.*s\"?", f->key, STRF(shorten(near.word)),
		    STRF(near.best));
	else
		bad(d, v, at, "\"%s\" must be one of %.*s, not \"%.*s\"",
		    f->key, STRF(buf_str(&list)), STRF(shorten(near.word)));
	buf_free(&list);
}

static void
set_strs(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, void *out)
{
	struct field_strs list = { 0 };
	struct step step = { .up = at };
	const struct json *c;
	bool ok = true;

	if (v->type != JSON_ARRAY) {
		list.v = NEW(d->ctx->arena, struct str);
		list.n = 1;
		if (v->type == JSON_OBJECT)
			ok = wrong_type(d, f, v, at, "a list of strings");
		else
			ok = get_str(d, f, v, at, list.v);
	} else {
		list.v = NEW_N(d->ctx->arena, struct str, json_count(v));
		for (c = json_first(v); c != NULL; c = c->next) {
			step.index = list.n;
			ok &= get_str(d, f, c, &step, &list.v[list.n++]);
		}
	}
	if (ok)
		*(struct field_strs *)out = list;
}

static void
set_ints(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, void *out)
{
	struct field_ints list = { 0 };
	struct step step = { .up = at };
	const struct json *c;
	int64_t n = (int64_t)json_count(v);
	bool ok = true;

	if (v->type != JSON_ARRAY) {
		wrong_type(d, f, v, at, "a list of whole numbers");
		return;
	}
	if ((f->min != 0 || f->max != 0) && (n < f->min || n > f->max)) {
		bad(d, v, at, "\"%s\" must have %lld to %lld numbers, not %lld",
		    f->key, (long long)f->min, (long long)f->max, (long long)n);
		return;
	}
	list.v = NEW_N(d->ctx->arena, int64_t, (size_t)n);
	for (c = json_first(v); c != NULL; c = c->next) {
		step.index = list.n;
		if (!json_int(c, &list.v[list.n++]))
			ok = wrong_type(d, f, c, &step, "whole numbers");
	}
	if (ok)
		*(struct field_ints *)out = list;
}

static void decode(struct decoder *, const struct field_table *,
    const struct json *, const struct step *, void *out);

static void
set_objects(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, void *out)
{
	struct field_list list = { 0 };
	struct step step = { .up = at };
	const struct json *c;
	size_t errors = d->errors;
	char *elem;

	if (v->type != JSON_ARRAY) {
		wrong_type(d, f, v, at, "a list");
		return;
	}
	list.v = arena_alloc(d->ctx->arena,
	    mul_max(json_count(v), f->sub->size), sizeof(int64_t));
	for (c = json_first(v); c != NULL; c = c->next) {
		step.index = list.n;
		elem = (char *)list.v + list.n++ * f->sub->size;
		if (f->sub->init != NULL)
			memcpy(elem, f->sub->init, f->sub->size);
		decode(d, f->sub, c, &step, elem);
	}
	if (d->errors == errors)
		*(struct field_list *)out = list;
}

static void
set(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at, void *out)
{
	switch (f->type) {
	case FIELD_STR:
		set_str(d, f, v, at, out);
		break;
	case FIELD_INT:
		set_int(d, f, v, at, out);
		break;
	case FIELD_NUM:
		set_num(d, f, v, at, out);
		break;
	case FIELD_BOOL:
		set_bool(d, f, v, at, out);
		break;
	case FIELD_ENUM:
		set_enum(d, f, v, at, out);
		break;
	case FIELD_STRS:
		set_strs(d, f, v, at, out);
		break;
	case FIELD_INTS:
		set_ints(d, f, v, at, out);
		break;
	case FIELD_OBJECT:
		decode(d, f->sub, v, at, out);
		break;
	case FIELD_OBJECTS:
		set_objects(d, f, v, at, out);
		break;
	case FIELD_TREE:
		*(const struct json **)out = v;
		break;
	}
}

static void
unknown(struct decoder *d, const struct field_table *t, const struct json *v,
    const struct step *at)
{
	enum field_level level = d->ctx->flags & FIELD_STRICT ?
	    FIELD_ERROR : FIELD_WARNING;
	struct str_nearest near = { .word = json_key(v) };
	const struct field *f;

	if (d->ctx->flags & FIELD_OPEN)
		return;
	for (f = t->rows; f < t->rows + t->n; f++)
		if (!(f->flags & FIELD_RETIRED))
			str_nearest(&near, str_of(f->key));
	if (near.best.p != NULL)
		about_key(d, level, v, at,
		    "unknown key \"%.*s\"; did you mean \"%.*s\"?",
		    STRF(shorten(json_key(v))), STRF(near.best));
	else
		about_key(d, level, v, at, "unknown key \"%.*s\"",
		    STRF(shorten(json_key(v))));
}

static void
warn_flags(struct decoder *d, const struct field *f, const struct json *v,
    const struct step *at)
{
	if (f->flags & FIELD_RETIRED && f->instead != NULL)
		about_key(d, FIELD_WARNING, v, at,
		    "\"%.*s\" is an old name; use \"%s\"",
		    STRF(json_key(v)), f->instead);
	if (f->flags & FIELD_IGNORED)
		about_key(d, FIELD_WARNING, v, at,
		    "\"%.*s\" has no effect here", STRF(json_key(v)));
}

static void
decode(struct decoder *d, const struct field_table *t, const struct json *obj,
    const struct step *at, void *out)
{
	const struct json *v;
	const struct field *f;
	struct step step = { .up = at };
	uint64_t seen = 0;
	size_t i;

	assert(t->n <= ROWS_MAX);
	if (obj->type != JSON_OBJECT) {
		bad(d, obj, at, "expected a mapping, not %s",
		    json_type_name((enum json_type)obj->type));
		return;
	}
	for (v = json_first(obj); v != NULL; v = v->next) {
		step.key = json_key(v);
		f = field_find(t, json_key(v));
		if (f == NULL) {
			unknown(d, t, v, &step);
			continue;
		}
		if (v->type == JSON_NULL)
			continue;
		seen |= (uint64_t)1 << (f - t->rows);
		warn_flags(d, f, v, &step);
		set(d, f, v, &step, (char *)out + f->off);
	}
	for (i = 0; i < t->n; i++)
		if (t->rows[i].flags & FIELD_REQUIRED && !(seen >> i & 1)) {
			step.key = str_of(t->rows[i].key);
			bad(d, obj, &step, "Missing required field: %s",
			    t->rows[i].key);
		}
}

size_t
field_decode(const struct field_ctx *ctx, const struct field_table *t,
    const struct json *obj, void *out)
{
	struct decoder d = { .ctx = ctx };

	decode(&d, t, obj, NULL, out);
	return d.errors;
}

static void
keep_first(void *ctx, const struct field_finding *f)
{
	struct err *e = ctx;

	if (f->level != FIELD_ERROR || e->code != ERR_NONE)
		return;
	err_set(e, ERR_SCHEMA, "%s", f->msg);
	err_at(e, f->line, f->col);
}

int
field_decode_one(struct arena *a, const struct field_table *t,
    const struct json *obj, void *out, struct err *e)
{
	struct field_ctx ctx = { .arena = a, .report = keep_first, .ctx = e };

	*e = (struct err){ 0 };
	return field_decode(&ctx, t, obj, out) == 0 ? 0 : -1;
}

const struct field *
field_find(const struct field_table *t, struct str key)
{
	const struct field *f;

	for (f = t->rows; f < t->rows + t->n; f++)
		if (str_is(key, f->key) ||
		    (f->alias != NULL && str_is(key, f->alias)))
			return f;
	return NULL;
}

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

/* A value to decode, and where to. */
struct slot {
	struct decoder *d;
	const struct field *f;
	const struct json *v;
	const struct step *at;	/* its path */
	void *out;		/* the member */
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
	return json_key(v).p != NULL ? json_key(v) : str_of(f->key);
}

static bool
wrong_type(const struct slot *s, const char *want)
{
	return bad(s->d, s->v, s->at, "\"%.*s\" must be %s, not %s",
	    STRF(shorten(name_of(s->v, s->f))), want,
	    json_type_name((enum json_type)s->v->type));
}

/* The caller compares, as doubles cannot represent every int64_t. */
static bool
in_range(const struct slot *s, bool inside)
{
	const struct field *f = s->f;
	struct str source = shorten(json_source(s->v));

	if ((f->min == 0 && f->max == 0) || inside)
		return true;
	if (f->max == INT64_MAX)
		return bad(s->d, s->v, s->at, "\"%s\" must be at least %lld, "
		    "not %.*s", f->key, (long long)f->min, STRF(source));
	return bad(s->d, s->v, s->at, "\"%s\" must be from %lld to %lld, not "
	    "%.*s", f->key, (long long)f->min, (long long)f->max,
	    STRF(source));
}

static bool
get_str(const struct slot *s, struct str *out)
{
	if (s->v->type == JSON_STRING) {
		*out = json_text(s->v);
		return true;
	}
	if ((s->d->ctx->flags & FIELD_LAX) != 0 &&
	    (s->v->type == JSON_NUMBER || s->v->type == JSON_BOOL)) {
		*out = json_source(s->v);
		return true;
	}
	return wrong_type(s, "a string");
}

static void
set_str(const struct slot *s)
{
	struct str text;

	if (get_str(s, &text))
		*(struct str *)s->out = text;
}

static void
set_int(const struct slot *s)
{
	int64_t i;

	if (s->v->type != JSON_NUMBER)
		wrong_type(s, "a whole number");
	else if (!json_int(s->v, &i))
		bad(s->d, s->v, s->at, "\"%s\" must be a whole number, not "
		    "%.*s", s->f->key, STRF(shorten(json_source(s->v))));
	else if (in_range(s, i >= s->f->min && i <= s->f->max))
		*(int64_t *)s->out = i;
}

static void
set_num(const struct slot *s)
{
	double x;

	if (s->v->type != JSON_NUMBER)
		wrong_type(s, "a number");
	else if (!json_double(s->v, &x))
		bad(s->d, s->v, s->at, "\"%s\" must be a finite number, not "
		    "%.*s", s->f->key, STRF(shorten(json_source(s->v))));
	else if (in_range(s, x >= (double)s->f->min && x <= (double)s->f->max))
		*(double *)s->out = x;
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
set_bool(const struct slot *s)
{
	bool b;

	if (s->v->type == JSON_BOOL)
		*(bool *)s->out = json_bool(s->v);
	else if (s->d->ctx->flags & FIELD_LAX && get_old_bool(s->v, &b))
		*(bool *)s->out = b;
	else
		wrong_type(s, "true or false");
}

static void
set_enum(const struct slot *s)
{
	struct buf list = { .max = 120 };
	struct str_nearest near = { 0 };
	char hint[STR_HINT];
	int i;

	if (!get_str(s, &near.word))
		return;
	for (i = 0; s->f->words[i] != NULL; i++) {
		if (str_is(near.word, s->f->words[i])) {
			*(int *)s->out = i;
			buf_free(&list);
			return;
		}
		str_nearest(&near, str_of(s->f->words[i]));
		buf_fmt(&list, "%s%s", i > 0 ? ", " : "", s->f->words[i]);
	}
	if (near.best.p != NULL)
		bad(s->d, s->v, s->at, "\"%s\" cannot be \"%.*s\"%s",
		    s->f->key, STRF(shorten(near.word)),
		    str_hint(hint, "", near.best));
	else
		bad(s->d, s->v, s->at, "\"%s\" must be one of %.*s, not "
		    "\"%.*s\"", s->f->key, STRF(buf_str(&list)),
		    STRF(shorten(near.word)));
	buf_free(&list);
}

static void
set_strs(const struct slot *s)
{
	struct field_strs list = { 0 };
	struct step step = { .up = s->at };
	struct slot item = { s->d, s->f, NULL, &step, NULL };
	bool ok = true;

	if (s->v->type == JSON_OBJECT) {
		wrong_type(s, "a list of strings");
		return;
	}
	list.v = NEW_N(s->d->ctx->arena, struct str, json_count(s->v) + 1);
	if (s->v->type != JSON_ARRAY)
		ok = get_str(s, &list.v[list.n++]);
	for (item.v = json_first(s->v); item.v != NULL; item.v = item.v->next) {
		step.index = list.n;
		ok &= get_str(&item, &list.v[list.n++]);
	}
	if (ok)
		*(struct field_strs *)s->out = list;
}

static void
set_ints(const struct slot *s)
{
	struct field_ints list = { 0 };
	struct step step = { .up = s->at };
	struct slot item = { s->d, s->f, NULL, &step, NULL };
	long long n = (long long)json_count(s->v), min = s->f->min;
	long long max = s->f->max;
	bool ok = true;

	if (s->v->type != JSON_ARRAY) {
		wrong_type(s, "a list of whole numbers");
		return;
	}
	if ((min != 0 || max != 0) && (n < min || n > max)) {
		bad(s->d, s->v, s->at, "\"%s\" must have %lld to %lld "
		    "numbers, not %lld", s->f->key, min, max, n);
		return;
	}
	list.v = NEW_N(s->d->ctx->arena, int64_t, (size_t)n);
	for (item.v = json_first(s->v); item.v != NULL; item.v = item.v->next) {
		step.index = list.n;
		if (!json_int(item.v, &list.v[list.n++]))
			ok = wrong_type(&item, "whole numbers");
	}
	if (ok)
		*(struct field_ints *)s->out = list;
}

static void decode(struct decoder *, const struct field_table *,
    const struct json *, const struct step *, void *out);

static void
set_object(const struct slot *s)
{
	decode(s->d, s->f->sub, s->v, s->at, s->out);
}

static void
set_objects(const struct slot *s)
{
	const struct field_table *sub = s->f->sub;
	struct field_list list = { 0 };
	struct step step = { .up = s->at };
	const struct json *c;
	size_t errors = s->d->errors;
	char *elem;

	if (s->v->type != JSON_ARRAY) {
		wrong_type(s, "a list");
		return;
	}
	list.v = arena_alloc(s->d->ctx->arena,
	    mul_max(json_count(s->v), sub->size), sizeof(int64_t));
	for (c = json_first(s->v); c != NULL; c = c->next) {
		step.index = list.n;
		elem = (char *)list.v + list.n++ * sub->size;
		if (sub->init != NULL)
			memcpy(elem, sub->init, sub->size);
		decode(s->d, sub, c, &step, elem);
	}
	if (s->d->errors == errors)
		*(struct field_list *)s->out = list;
}

static void
set_tree(const struct slot *s)
{
	*(const struct json **)s->out = s->v;
}

static void (*const setters[])(const struct slot *) = {
	[FIELD_STR] = set_str, [FIELD_INT] = set_int, [FIELD_NUM] = set_num,
	[FIELD_BOOL] = set_bool, [FIELD_ENUM] = set_enum,
	[FIELD_STRS] = set_strs, [FIELD_INTS] = set_ints,
	[FIELD_OBJECT] = set_object, [FIELD_OBJECTS] = set_objects,
	[FIELD_TREE] = set_tree,
};

static void
unknown(struct decoder *d, const struct field_table *t, const struct json *v,
    const struct step *at)
{
	enum field_level level = d->ctx->flags & FIELD_STRICT ?
	    FIELD_ERROR : FIELD_WARNING;
	struct str_nearest near = { .word = json_key(v) };
	char hint[STR_HINT];
	const struct field *f;

	if (d->ctx->flags & FIELD_OPEN)
		return;
	for (f = t->rows; f < t->rows + t->n; f++)
		if (!(f->flags & FIELD_RETIRED))
			str_nearest(&near, str_of(f->key));
	about_key(d, level, v, at, "unknown key \"%.*s\"%s",
	    STRF(shorten(json_key(v))), str_hint(hint, "", near.best));
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
		setters[f->type](&(struct slot){ d, f, v, &step,
		    (char *)out + f->off });
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

void
field_put_strs(struct json_out *o, const char *key,
    const struct field_strs *list)
{
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < list->n; i++)
		json_put_str(o, list->v[i]);
	json_close(o, ']');
}

bool
field_has(const struct field_strs *list, struct str s)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (str_eq(list->v[i], s))
			return true;
	return false;
}

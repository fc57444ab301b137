/* SPDX-License-Identifier: ISC */
/*
 * Makes values from constants and from value trees.  A tree is read one level
 * at a time, when its elements are needed.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

#include "json.h"

const char *
expr_type(struct value v)
{
	static const char *const names[EXPR_KIND__MAX] = {
		"NoneType", "bool", "int", "float", "str", "list", "tuple",
		"dict", "set", "dict_keys", "generator", "re.Match",
		"RegexFlag", "module", "builtin_function_or_method"
	};

	if (v.kind == EXPR_VIEW)
		return v.sub == EXPR_KEYS ? "dict_keys" :
		    v.sub == EXPR_VALUES ? "dict_values" : "dict_items";
	return names[v.kind];
}

bool
expr_true(struct value v)
{
	if (v.kind == EXPR_NONE)
		return false;
	if (v.kind == EXPR_FLOAT)
		return v.u.d != 0;
	if (EXPR_ISINT(v) || v.kind == EXPR_FLAGS)
		return v.u.i != 0;
	if (v.kind == EXPR_STR)
		return v.u.text->n > 0;
	if (EXPR_ISSEQ(v))
		return v.u.seq->n > 0;
	return v.kind > EXPR_VIEW || expr_map_n(v) > 0;
}

struct value
expr_none(void)
{
	return (struct value){ .kind = EXPR_NONE };
}

struct value
expr_bool(bool b)
{
	return (struct value){ .kind = EXPR_BOOL, .u = { .i = b } };
}

struct value
expr_int(int64_t i)
{
	return (struct value){ .kind = EXPR_INT, .u = { .i = i } };
}

struct value
expr_float(double d)
{
	return (struct value){ .kind = EXPR_FLOAT, .u = { .d = d } };
}

int
expr_str(struct eval *ev, struct str s, struct value *out)
{
	struct text *t = expr_alloc(ev, sizeof(*t));

	if (t == NULL)
		return -1;
	*t = (struct text){ .p = s.n > 0 ? s.p : "", .n = s.n,
		.len = EXPR_UNKNOWN };
	*out = (struct value){ .kind = EXPR_STR, .u = { .text = t } };
	return 0;
}

struct str
expr_bytes_of(struct value v)
{
	return (struct str){ v.u.text->p, v.u.text->n };
}

static int
seq_new(struct eval *ev, enum expr_kind kind, struct seq seq,
    struct value *out)
{
	struct seq *p = expr_alloc(ev, sizeof(*p));

	if (p == NULL)
		return -1;
	*p = seq;
	*out = (struct value){ .kind = (uint8_t)kind, .u = { .seq = p } };
	return 0;
}

int
expr_seq(struct eval *ev, enum expr_kind kind, struct value *v, size_t n,
    struct value *out)
{
	return seq_new(ev, kind, (struct seq){ v, n, NULL }, out);
}

static int
number(struct eval *ev, const struct json *json, struct value *out)
{
	struct str s = json_text(json);
	int64_t i;
	double d;
	size_t k;

	for (k = 0; k < s.n; k++)
		if (strchr(".eE", s.p[k]) != NULL && s.p[k] != '\0')
			break;
	if (k == s.n && json_int(json, &i))
		*out = expr_int(i);
	else if (k < s.n && json_double(json, &d))
		*out = expr_float(d);
	else
		return expr_decline(ev, "number out of range");
	return 0;
}

int
expr_json(struct eval *ev, const struct json *json, struct value *out)
{
	struct map *map;

	switch ((enum json_type)json->type) {
	case JSON_NULL:
		*out = expr_none();
		return 0;
	case JSON_BOOL:
		*out = expr_bool(json_bool(json));
		return 0;
	case JSON_NUMBER:
		return number(ev, json, out);
	case JSON_STRING:
		return expr_str(ev, json_text(json), out);
	case JSON_ARRAY:
		return seq_new(ev, EXPR_LIST,
		    (struct seq){ NULL, json_count(json), json }, out);
	case JSON_OBJECT:
		break;
	}
	if (expr_map_new(ev, EXPR_DICT, out) == -1)
		return -1;
	map = out->u.map;
	map->src = json;
	return 0;
}

int
expr_read_seq(struct eval *ev, struct seq *seq)
{
	const struct json *json = seq->src;
	size_t i = 0;

	if (json == NULL)
		return 0;
	seq->v = expr_alloc(ev, seq->n * sizeof(*seq->v));
	if (seq->v == NULL || expr_steps(ev, seq->n) == -1)
		return -1;
	for (json = json_first(json); json != NULL; json = json->next)
		if (expr_json(ev, json, &seq->v[i++]) == -1)
			return -1;
	seq->src = NULL;
	return 0;
}

int
expr_read_map(struct eval *ev, struct map *map)
{
	const struct json *json = map->src;
	struct value key, val;

	if (json == NULL)
		return 0;
	map->src = NULL;
	for (json = json_first(json); json != NULL; json = json->next)
		if (expr_str(ev, json_key(json), &key) == -1 ||
		    expr_json(ev, json, &val) == -1 ||
		    expr_map_put(ev, map, key, val) == -1)
			return -1;
	return 0;
}

size_t
expr_map_n(struct value v)
{
	const struct map *map = v.u.map;

	return map->src != NULL ? json_count(map->src) : map->n;
}

/* SPDX-License-Identifier: ISC */
/*
 * The builtins, the methods of containers, and which attributes there are.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

static int
only(struct eval *ev, const struct args *a, size_t min, size_t max)
{
	if (a->nnamed > 0 || a->n < min || a->n > max)
		return expr_decline(ev, "a call with such arguments");
	return 0;
}

/* Builtins. */

static int
call_len(struct eval *ev, const struct args *a, struct value *out)
{
	struct value v;

	if (only(ev, a, 1, 1) == -1)
		return -1;
	v = a->v[0];
	if (v.kind == EXPR_STR)
		*out = expr_int((int64_t)expr_len(v.u.text));
	else if (EXPR_ISSEQ(v))
		*out = expr_int((int64_t)expr_seq_n(v));
	else if (v.kind >= EXPR_DICT && v.kind <= EXPR_VIEW)
		*out = expr_int((int64_t)expr_map_n(v));
	else if (v.kind <= EXPR_FLOAT || v.kind == EXPR_GEN)
		return expr_raise(ev, "object of type '%s' has no len()",
		    expr_type(v));
	else
		return expr_decline(ev, "len() of this");
	return 0;
}

/* Whether some (or all) elements are true; the order is no matter. */
static int
quantify(struct eval *ev, const struct args *a, bool some,
    struct value *out)
{
	struct iter it;
	struct value v;
	size_t i;
	int rc;

	if (only(ev, a, 1, 1) == -1)
		return -1;
	*out = expr_bool(some);
	if (a->v[0].kind == EXPR_SET) {
		for (i = 0; i < a->v[0].u.map->n; i++)
			if (expr_true(a->v[0].u.map->v[i].key) == some)
				return 0;
		*out = expr_bool(!some);
		return 0;
	}
	if (expr_iter(ev, a->v[0], &it) == -1)
		return -1;
	while ((rc = expr_next(ev, &it, &v)) == 1)
		if (expr_true(v) == some)
			return 0;
	*out = expr_bool(!some);
	return rc;
}

static int
call_any(struct eval *ev, const struct args *a, struct value *out)
{
	return quantify(ev, a, true, out);
}

static int
call_all(struct eval *ev, const struct args *a, struct value *out)
{
	return quantify(ev, a, false, out);
}

static int
call_str(struct eval *ev, const struct args *a, struct value *out)
{
	struct sink s = { 0 };

	if (only(ev, a, 0, 1) == -1)
		return -1;
	if (a->n == 1 && a->v[0].kind == EXPR_STR) {
		*out = a->v[0];
		return 0;
	}
	if (a->n == 1 && expr_put_str(ev, &s, a->v[0]) == -1)
		return -1;
	return expr_take(ev, &s, out);
}

/* Digits without the blanks around and the _ between; false: not such. */
static bool
plain_number(struct str s, char *out, size_t size, size_t *n)
{
	size_t i;

	while (s.n > 0 && expr_is_space((unsigned char)s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && expr_is_space((unsigned char)s.p[s.n - 1]))
		s.n--;
	*n = 0;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '_') {
			if (i == 0 || i + 1 == s.n || s.p[i - 1] < '0' ||
			    s.p[i - 1] > '9' || s.p[i + 1] < '0' ||
			    s.p[i + 1] > '9')
				return false;
			continue;
		}
		if (*n == size)
			return false;
		out[(*n)++] = s.p[i];
	}
	return *n > 0;
}

static int
parse_int(struct eval *ev, struct value v, struct value *out)
{
	struct str s = { v.u.text->p, v.u.text->n };
	char text[64];
	size_t n, i;
	bool minus;
	int64_t x;

	if (!expr_ascii(v.u.text) || s.n > sizeof(text))
		return expr_decline(ev, "an integer like this");
	if (!plain_number(s, text, sizeof(text), &n))
		return expr_raise_repr(ev,
		    "invalid literal for int() with base 10: ", v, "");
	s = (struct str){ text, n };
	minus = text[0] == '-';
	if (text[0] == '-' || text[0] == '+') {
		s.p++;
		s.n--;
	}
	for (i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		;
	if (i < s.n || s.n == 0)
		return expr_raise_repr(ev,
		    "invalid literal for int() with base 10: ", v, "");
	if (!expr_read_int(s, &x))
		return expr_decline(ev, "an integer beyond 64 bits");
	*out = expr_int(minus ? -x : x);
	return 0;
}

static int
call_int(struct eval *ev, const struct args *a, struct value *out)
{
	struct value v = a->n > 0 ? a->v[0] : expr_int(0);

	if (only(ev, a, 0, 1) == -1)
		return -1;
	if (v.kind == EXPR_STR)
		return parse_int(ev, v, out);
	if (v.kind == EXPR_FLOAT) {
		if (v.u.d != v.u.d)
			return expr_raise(ev,
			    "cannot convert float NaN to integer");
		if (v.u.d - v.u.d != 0)
			return expr_raise(ev,
			    "cannot convert float infinity to integer");
		if (v.u.d > 9e18 || v.u.d < -9e18)
			return expr_decline(ev, "an integer beyond 64 bits");
		*out = expr_int((int64_t)v.u.d);
	} else if (EXPR_ISINT(v))
		*out = expr_int(v.u.i);
	else
		return expr_decline(ev, "int() of this");
	return 0;
}

/* [+-] digits [. digits] [e [+-] digits], with digits before the e. */
static bool
is_float(struct str s)
{
	size_t i, digits = 0;
	bool point = false;

	for (i = 0; i < s.n; i++)
		if (s.p[i] >= '0' && s.p[i] <= '9')
			digits++;
		else if (s.p[i] == '.' && !point)
			point = true;
		else
			break;
	if (digits == 0)
		return false;
	if (i == s.n)
		return true;
	if ((s.p[i] | 0x20) != 'e')
		return false;
	i++;
	if (i < s.n && (s.p[i] == '+' || s.p[i] == '-'))
		i++;
	if (i == s.n)
		return false;
	for (; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return true;
}

/* Some versions take off the blanks around before they complain. */
static int
bad_float(struct eval *ev, struct value v)
{
	struct str s = { v.u.text->p, v.u.text->n };

	if (s.n > 0 && (expr_is_space((unsigned char)s.p[0]) ||
	    expr_is_space((unsigned char)s.p[s.n - 1])))
		return expr_decline(ev, "how Python says that");
	return expr_raise_repr(ev, "could not convert string to float: ", v,
	    "");
}

static int
parse_float(struct eval *ev, struct value v, struct value *out)
{
	struct str s = { v.u.text->p, v.u.text->n };
	char text[64];
	size_t n, i;
	bool minus;
	double d;

	if (!expr_ascii(v.u.text) || s.n > sizeof(text))
		return expr_decline(ev, "a number like this");
	for (i = 0; i < s.n; i++)
		if ((s.p[i] | 0x20) == 'n')	/* nan, inf, infinity */
			return expr_decline(ev, "a number like this");
	if (!plain_number(s, text, sizeof(text), &n))
		return bad_float(ev, v);
	s = (struct str){ text, n };
	minus = text[0] == '-';
	if (text[0] == '-' || text[0] == '+') {
		s.p++;
		s.n--;
	}
	if (!is_float(s))
		return bad_float(ev, v);
	if (!expr_read_float(s, &d))
		return expr_decline(ev, "a number of this size");
	*out = expr_float(minus ? -d : d);
	return 0;
}

static int
call_float(struct eval *ev, const struct args *a, struct value *out)
{
	struct value v = a->n > 0 ? a->v[0] : expr_float(0);

	if (only(ev, a, 0, 1) == -1)
		return -1;
	if (v.kind == EXPR_STR)
		return parse_float(ev, v, out);
	if (!EXPR_ISNUM(v))
		return expr_decline(ev, "float() of this");
	*out = v.kind == EXPR_FLOAT ? v : expr_float((double)v.u.i);
	return 0;
}

static int
call_bool(struct eval *ev, const struct args *a, struct value *out)
{
	if (only(ev, a, 0, 1) == -1)
		return -1;
	*out = expr_bool(a->n > 0 && expr_true(a->v[0]));
	return 0;
}

static int
call_list(struct eval *ev, const struct args *a, struct value *out)
{
	if (only(ev, a, 0, 1) == -1)
		return -1;
	if (a->n == 0)
		return expr_seq(ev, EXPR_LIST, NULL, 0, out);
	return expr_as_list(ev, a->v[0], out);
}

/* Pairs into a dict. */
static int
put_pairs(struct eval *ev, struct value from, struct map *map)
{
	struct value item, pair;
	struct iter it;
	int rc;

	if (expr_iter(ev, from, &it) == -1)
		return -1;
	while ((rc = expr_next(ev, &it, &item)) == 1) {
		if (item.kind < EXPR_STR || item.kind > EXPR_TUPLE)
			return expr_decline(ev, "dict() of this");
		if (expr_as_list(ev, item, &pair) == -1)
			return -1;
		if (pair.u.seq->n != 2)
			return expr_decline(ev, "dict() of this");
		if (expr_map_put(ev, map, pair.u.seq->v[0],
		    pair.u.seq->v[1]) == -1)
			return -1;
	}
	return rc;
}

static int
call_dict(struct eval *ev, const struct args *a, struct value *out)
{
	struct value key;
	size_t i;

	if (a->n > 1)
		return expr_decline(ev, "a call with such arguments");
	if (expr_map_new(ev, EXPR_DICT, out) == -1)
		return -1;
	if (a->n == 1 && a->v[0].kind == EXPR_DICT) {
		key = a->v[0];
		key.kind = EXPR_VIEW;
		key.sub = EXPR_ITEMS;
		if (put_pairs(ev, key, out->u.map) == -1)
			return -1;
	} else if (a->n == 1 && put_pairs(ev, a->v[0], out->u.map) == -1)
		return -1;
	for (i = 0; i < a->nnamed; i++)
		if (expr_str(ev, a->names[i], &key) == -1 ||
		    expr_map_put(ev, out->u.map, key, a->v[a->n + i]) == -1)
			return -1;
	return 0;
}

static const struct builtin builtins[] = {
	{ "len",   call_len,   false },
	{ "any",   call_any,   false },
	{ "all",   call_all,   false },
	{ "str",   call_str,   true },
	{ "int",   call_int,   true },
	{ "float", call_float, true },
	{ "bool",  call_bool,  true },
	{ "list",  call_list,  true },
	{ "dict",  call_dict,  true },
};

const struct builtin *
expr_builtin(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(builtins); i++)
		if (str_is(name, builtins[i].name))
			return &builtins[i];
	return NULL;
}

/* Methods of containers. */

static int
seq_count(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	size_t i;
	int64_t n = 0;
	int rc;

	if (only(ev, a, 1, 1) == -1 || expr_read_seq(ev, self.u.seq) == -1)
		return -1;
	for (i = 0; i < self.u.seq->n; i++) {
		rc = expr_steps(ev, 1) == -1 ? -1 :
		    expr_same(ev, self.u.seq->v[i], a->v[0]);
		if (rc == -1)
			return -1;
		n += rc;
	}
	*out = expr_int(n);
	return 0;
}

static int
seq_index(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	size_t i;
	int rc;

	if (only(ev, a, 1, 1) == -1 || expr_read_seq(ev, self.u.seq) == -1)
		return -1;
	for (i = 0; i < self.u.seq->n; i++) {
		rc = expr_steps(ev, 1) == -1 ? -1 :
		    expr_same(ev, self.u.seq->v[i], a->v[0]);
		if (rc == -1)
			return -1;
		if (rc == 1) {
			*out = expr_int((int64_t)i);
			return 0;
		}
	}
	if (self.kind == EXPR_TUPLE)
		return expr_raise(ev, "tuple.index(x): x not in tuple");
	return expr_raise_repr(ev, "", a->v[0], " is not in list");
}

/* Values do not change, so a copy is the same again. */
static int
any_copy(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	*out = self;
	return only(ev, a, 0, 0);
}

static int
dict_get(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	if (only(ev, a, 1, 2) == -1)
		return -1;
	*out = a->n > 1 ? a->v[1] : expr_none();
	return expr_map_get(ev, self.u.map, a->v[0], out) == -1 ? -1 : 0;
}

static int
view(struct eval *ev, struct value self, const struct args *a,
    enum expr_view of, struct value *out)
{
	*out = self;
	out->kind = EXPR_VIEW;
	out->sub = (uint8_t)of;
	return only(ev, a, 0, 0);
}

static int
dict_keys(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return view(ev, self, a, EXPR_KEYS, out);
}

static int
dict_values(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return view(ev, self, a, EXPR_VALUES, out);
}

static int
dict_items(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return view(ev, self, a, EXPR_ITEMS, out);
}

static int
set_relation(struct eval *ev, struct value self, const struct args *a,
    enum expr_rel rel, struct value *out)
{
	int rc;

	if (only(ev, a, 1, 1) == -1)
		return -1;
	if (a->v[0].kind != EXPR_SET)
		return expr_decline(ev, "a set and something else");
	rc = expr_set_compare(ev, rel, self.u.map, a->v[0].u.map);
	*out = expr_bool(rc == 1);
	return rc == -1 ? -1 : 0;
}

static int
set_issubset(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return set_relation(ev, self, a, EXPR_LE, out);
}

static int
set_issuperset(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	return set_relation(ev, self, a, EXPR_GE, out);
}

const struct method expr_other_methods[] = {
	{ "get",        EXPR_DICT,  dict_get,       1, 2 },
	{ "keys",       EXPR_DICT,  dict_keys,      0, 0 },
	{ "values",     EXPR_DICT,  dict_values,    0, 0 },
	{ "items",      EXPR_DICT,  dict_items,     0, 0 },
	{ "copy",       EXPR_DICT,  any_copy,       0, 0 },
	{ "count",      EXPR_LIST,  seq_count,      1, 1 },
	{ "index",      EXPR_LIST,  seq_index,      1, 1 },
	{ "copy",       EXPR_LIST,  any_copy,       0, 0 },
	{ "count",      EXPR_TUPLE, seq_count,      1, 1 },
	{ "index",      EXPR_TUPLE, seq_index,      1, 1 },
	{ "copy",       EXPR_SET,   any_copy,       0, 0 },
	{ "issubset",   EXPR_SET,   set_issubset,   1, 1 },
	{ "issuperset", EXPR_SET,   set_issuperset, 1, 1 },
	{ NULL,         EXPR_NONE,  NULL,           0, 0 },
};

/* Attributes. */

/* What else there is in some version of Python, by type. */
static const char *const others[EXPR_KIND__MAX] = {
	[EXPR_NONE] = "",
	[EXPR_BOOL] = " as_integer_ratio bit_count bit_length conjugate denominator"
	    " from_bytes imag is_integer numerator real to_bytes ",
	[EXPR_INT] = " as_integer_ratio bit_count bit_length conjugate denominator"
	    " from_bytes imag is_integer numerator real to_bytes ",
	[EXPR_FLOAT] = " as_integer_ratio conjugate fromhex from_number hex imag"
	    " is_integer real ",
	[EXPR_STR] = " encode expandtabs format_map isidentifier maketrans translate ",
	[EXPR_LIST] = " append clear extend insert pop remove reverse sort ",
	[EXPR_TUPLE] = "",
	[EXPR_DICT] = " clear fromkeys pop popitem setdefault update ",
	[EXPR_SET] = " add clear difference difference_update discard"
	    " intersection intersection_update isdisjoint pop remove"
	    " symmetric_difference symmetric_difference_update union update ",
};

static const struct method *
find_method(struct value self, struct str name)
{
	const struct method *tables[2], *m;
	size_t i;

	tables[0] = self.kind == EXPR_STR ? expr_str_methods :
	    expr_other_methods;
	tables[1] = self.kind == EXPR_STR ? expr_split_methods :
	    expr_re_methods;
	for (i = 0; i < COUNTOF(tables); i++)
		for (m = tables[i]; m->name != NULL; m++)
			if (m->kind == (enum expr_kind)self.kind &&
			    str_is(name, m->name))
				return m;
	return NULL;
}

int
expr_attr(struct eval *ev, struct value self, struct str name,
    const struct method **out)
{
	char word[34];
	int n = (int)name.n;

	*out = find_method(self, name);
	if (*out != NULL)
		return 0;
	if (self.kind > EXPR_SET || name.n > sizeof(word) - 4 ||
	    str_starts(name, STR("__")))
		return expr_decline(ev, "an attribute like this");
	word[0] = word[name.n + 1] = ' ';
	memcpy(word + 1, name.p, name.n);
	word[name.n + 2] = '\0';
	if (strstr(others[self.kind], word) != NULL)
		return expr_decline(ev, "the method %.*s", n, name.p);
	return expr_raise(ev, "'%s' object has no attribute '%.*s'",
	    expr_type(self), n, name.p);
}

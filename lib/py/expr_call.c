/* SPDX-License-Identifier: ISC */
/*
 * Builtin functions, methods of containers, and the lookup of attributes.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

/* Builtin functions. */

static int
call_len(struct eval *ev, const struct args *a,
    struct value *out)
{
	struct value v = a->v[0];

	if (v.kind == EXPR_STR)
		*out = expr_int((int64_t)expr_len(v.u.text));
	else if (EXPR_ISSEQ(v))
		*out = expr_int((int64_t)v.u.seq->n);
	else if (v.kind >= EXPR_DICT && v.kind <= EXPR_VIEW)
		*out = expr_int((int64_t)expr_map_n(v));
	else if (v.kind <= EXPR_FLOAT || v.kind == EXPR_GEN)
		return expr_raise(ev, "object of type '%s' has no len()",
		    expr_type(v));
	else
		return expr_decline(ev, "len() of this type");
	return 0;
}

enum { ALL, ANY };

/* any() and all(); the order of a set does not matter. */
static int
call_any(struct eval *ev, const struct args *a,
    struct value *out)
{
	bool some = a->variant == ANY;
	struct value v = a->v[0];
	struct iter it;
	size_t i;
	int rc = 0;

	*out = expr_bool(some);
	if (v.kind == EXPR_SET) {
		for (i = 0; i < v.u.map->n; i++)
			if (expr_true(v.u.map->v[i].key) == some)
				return 0;
	} else if (expr_iter(ev, v, &it) == -1)
		return -1;
	else
		while ((rc = expr_next(ev, &it, &v)) == 1)
			if (expr_true(v) == some)
				return 0;
	*out = expr_bool(!some);
	return rc;
}

static int
call_str(struct eval *ev, const struct args *a,
    struct value *out)
{
	struct sink s = { 0 };

	if (a->n == 1 && a->v[0].kind == EXPR_STR) {
		*out = a->v[0];
		return 0;
	}
	if (a->n == 1 && expr_put_str(ev, &s, a->v[0]) == -1)
		return -1;
	return expr_take(ev, &s, out);
}

static bool
is_blank(char c)
{
	return expr_is_space((unsigned char)c);
}

/*
 * The digits of a text that int() or float() reads, without blanks and sign.
 * Declines texts that are long, not ASCII, or contain '_'.
 */
static int
number_text(struct eval *ev, struct value v, struct str *out, bool *minus)
{
	struct str s = expr_bytes_of(v);

	if (!expr_ascii(v.u.text) || s.n > 64 ||
	    memchr(s.p, '_', s.n) != NULL)
		return expr_decline(ev, "number in this text");
	for (; s.n > 0 && is_blank(s.p[0]); s.n--)
		s.p++;
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	*minus = s.n > 0 && s.p[0] == '-';
	if (*minus || (s.n > 0 && s.p[0] == '+')) {
		s.p++;
		s.n--;
	}
	*out = s;
	return 0;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int
parse_int(struct eval *ev, struct value v, struct value *out)
{
	struct str s;
	size_t i;
	bool minus;
	int64_t x;

	if (number_text(ev, v, &s, &minus) == -1)
		return -1;
	for (i = 0; i < s.n && is_digit(s.p[i]); i++)
		;
	if (i < s.n || s.n == 0)
		return expr_raise_repr(ev,
		    "invalid literal for int() with base 10: ", v, "");
	if (!expr_read_int(s, &x))
		return expr_decline(ev, "integer beyond 64 bits");
	*out = expr_int(minus ? -x : x);
	return 0;
}

static int
call_int(struct eval *ev, const struct args *a,
    struct value *out)
{
	struct value v = a->n > 0 ? a->v[0] : expr_int(0);

	if (v.kind == EXPR_STR)
		return parse_int(ev, v, out);
	if (EXPR_ISINT(v))
		*out = expr_int(v.u.i);
	else if (v.kind == EXPR_FLOAT && v.u.d > -9e18 && v.u.d < 9e18)
		*out = expr_int((int64_t)v.u.d);
	else
		return expr_decline(ev, "int() of this value");
	return 0;
}

/* Digits with a point among them, and an exponent. */
static bool
is_float(struct str s)
{
	size_t i, digits = 0, points = 0, from;

	for (i = 0; i < s.n && (is_digit(s.p[i]) || s.p[i] == '.'); i++)
		if (s.p[i] == '.')
			points++;
		else
			digits++;
	if (digits == 0 || points > 1 || i == s.n)
		return digits > 0 && points <= 1;
	if ((s.p[i++] | 0x20) != 'e')
		return false;
	if (i < s.n && (s.p[i] == '+' || s.p[i] == '-'))
		i++;
	for (from = i; i < s.n && is_digit(s.p[i]); i++)
		;
	return i > from && i == s.n;
}

static int
parse_float(struct eval *ev, struct value v, struct value *out)
{
	struct str s, all = expr_bytes_of(v);
	bool minus;
	double d;

	if (number_text(ev, v, &s, &minus) == -1)
		return -1;
	if (is_float(s)) {
		if (!expr_read_float(s, &d))
			return expr_decline(ev, "number out of range");
		*out = expr_float(minus ? -d : d);
		return 0;
	}
	/* nan, inf; Python versions differ in how they quote blanks */
	if ((s.n > 0 && strchr("nNiI", s.p[0]) != NULL) || (all.n > 0 &&
	    (is_blank(all.p[0]) || is_blank(all.p[all.n - 1]))))
		return expr_decline(ev, "float() of this text");
	return expr_raise_repr(ev, "could not convert string to float: ", v,
	    "");
}

static int
call_float(struct eval *ev, const struct args *a,
    struct value *out)
{
	struct value v = a->n > 0 ? a->v[0] : expr_float(0);

	if (v.kind == EXPR_STR)
		return parse_float(ev, v, out);
	if (!EXPR_ISNUM(v))
		return expr_decline(ev, "float() of this type");
	*out = v.kind == EXPR_FLOAT ? v : expr_float((double)v.u.i);
	return 0;
}

static int
call_bool(struct eval *ev, const struct args *a,
    struct value *out)
{
	(void)ev;
	*out = expr_bool(a->n > 0 && expr_true(a->v[0]));
	return 0;
}

static int
call_list(struct eval *ev, const struct args *a,
    struct value *out)
{
	if (a->n == 0)
		return expr_seq(ev, EXPR_LIST, NULL, 0, out);
	return expr_as_list(ev, a->v[0], out);
}

/* dict() with named arguments, or of a dict, which needs no copy. */
static int
call_dict(struct eval *ev, const struct args *a,
    struct value *out)
{
	struct value key;
	size_t i;

	if (a->n == 1) {
		*out = a->v[0];
		return out->kind != EXPR_DICT || a->nnamed > 0 ?
		    expr_decline(ev, "arguments of dict()") : 0;
	}
	if (expr_map_new(ev, EXPR_DICT, out) == -1)
		return -1;
	for (i = 0; i < a->nnamed; i++)
		if (expr_str(ev, a->names[i], &key) == -1 ||
		    expr_map_put(ev, out->u.map, key, a->v[i]) == -1)
			return -1;
	return 0;
}

static const struct builtin builtins[] = {
	{ "len",   call_len,   0,   1, 1, false },
	{ "any",   call_any,   ANY, 1, 1, false },
	{ "all",   call_any,   ALL, 1, 1, false },
	{ "str",   call_str,   0,   0, 1, false },
	{ "int",   call_int,   0,   0, 1, false },
	{ "float", call_float, 0,   0, 1, false },
	{ "bool",  call_bool,  0,   0, 1, false },
	{ "list",  call_list,  0,   0, 1, false },
	{ "dict",  call_dict,  0,   0, 1, true },
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

int
expr_call(struct eval *ev, const struct builtin *b, struct args *a,
    struct value *out)
{
	if (a->n < b->min || a->n > b->max || (a->nnamed > 0 && !b->named))
		return expr_decline(ev, "arguments of %s()", b->name);
	a->variant = b->variant;
	return b->call(ev, a, out);
}

/* Methods of containers. */

enum { COUNT, INDEX };

static int
seq_count(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct seq *seq = self.u.seq;
	int64_t n = 0;
	size_t i;
	int rc;

	if (expr_read_seq(ev, seq) == -1)
		return -1;
	for (i = 0; i < seq->n; i++) {
		rc = expr_steps(ev, 1) == -1 ? -1 :
		    expr_same(ev, seq->v[i], a->v[0]);
		if (rc == -1)
			return -1;
		if (rc == 1 && a->variant == INDEX) {
			*out = expr_int((int64_t)i);
			return 0;
		}
		n += rc;
	}
	*out = expr_int(n);
	if (a->variant == COUNT)
		return 0;
	if (self.kind == EXPR_TUPLE)
		return expr_raise(ev, "tuple.index(x): x not in tuple");
	return expr_raise_repr(ev, "", a->v[0], " is not in list");
}

static int
dict_get(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	*out = a->n > 1 ? a->v[1] : expr_none();
	return expr_map_get(ev, self.u.map, a->v[0], out) == -1 ? -1 : 0;
}

static int
dict_view(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	(void)ev;
	(void)a;
	*out = self;
	out->kind = EXPR_VIEW;
	out->sub = (uint8_t)a->variant;
	return 0;
}

static const struct method container_methods[] = {
	{ "get",    EXPR_DICT,  dict_get,  0,           1, 2 },
	{ "keys",   EXPR_DICT,  dict_view, EXPR_KEYS,   0, 0 },
	{ "values", EXPR_DICT,  dict_view, EXPR_VALUES, 0, 0 },
	{ "items",  EXPR_DICT,  dict_view, EXPR_ITEMS,  0, 0 },
	{ "count",  EXPR_LIST,  seq_count, COUNT,       1, 1 },
	{ "index",  EXPR_LIST,  seq_count, INDEX,       1, 1 },
	{ "count",  EXPR_TUPLE, seq_count, COUNT,       1, 1 },
	{ "index",  EXPR_TUPLE, seq_count, INDEX,       1, 1 },
	{ NULL,     EXPR_NONE,  NULL,      0,           0, 0 },
};

/* Attributes. */

/* Attributes that some version of Python has and we do not, by type. */
#define INT_ATTRIBUTES " as_integer_ratio bit_count bit_length conjugate" \
	" denominator from_bytes imag is_integer numerator real to_bytes "
static const char *const unsupported[EXPR_KIND__MAX] = {
	[EXPR_NONE] = "",
	[EXPR_BOOL] = INT_ATTRIBUTES,
	[EXPR_INT] = INT_ATTRIBUTES,
	[EXPR_FLOAT] = " as_integer_ratio conjugate fromhex from_number hex imag"
	    " is_integer real ",
	[EXPR_STR] = " center encode expandtabs format format_map isascii isdecimal"
	    " isidentifier isnumeric isprintable istitle ljust maketrans partition"
	    " removeprefix removesuffix rfind rindex rjust rpartition rsplit swapcase"
	    " translate zfill ",
	[EXPR_LIST] = " append clear copy extend insert pop remove reverse sort ",
	[EXPR_TUPLE] = "",
	[EXPR_DICT] = " clear copy fromkeys pop popitem setdefault update ",
	[EXPR_SET] = " add clear copy difference difference_update discard"
	    " intersection intersection_update isdisjoint issubset issuperset pop"
	    " remove symmetric_difference symmetric_difference_update union update ",
};

static bool
is_unsupported(int kind, struct str name)
{
	char word[34];

	if (name.n > sizeof(word) - 3)
		return false;
	word[0] = word[name.n + 1] = ' ';
	memcpy(word + 1, name.p, name.n);
	word[name.n + 2] = '\0';
	return strstr(unsupported[kind], word) != NULL;
}

bool
expr_attr_unsupported(struct str name)
{
	int kind;

	for (kind = EXPR_NONE; kind <= EXPR_SET; kind++)
		if (is_unsupported(kind, name))
			return true;
	return false;
}

int
expr_attr(struct eval *ev, struct value self, struct str name,
    const struct method **out)
{
	const struct method *m = self.kind == EXPR_STR ? expr_str_methods :
	    self.kind == EXPR_MATCH ? expr_re_methods : container_methods;
	int n = (int)name.n;

	for (; m->name != NULL; m++)
		if (m->kind == (enum expr_kind)self.kind &&
		    str_is(name, m->name)) {
			*out = m;
			return 0;
		}
	if (self.kind > EXPR_SET || name.n > 30 ||
	    str_starts(name, STR("__")) || is_unsupported(self.kind, name))
		return expr_decline(ev, "attribute of this type");
	return expr_raise(ev, "'%s' object has no attribute '%.*s'",
	    expr_type(self), n, name.p);
}

int
expr_call_method(struct eval *ev, const struct method *m, struct value self,
    struct args *a, struct value *out)
{
	if (a->n < m->min || a->n > m->max || a->nnamed > 0)
		return expr_decline(ev, "arguments of %s()", m->name);
	a->variant = m->variant;
	return m->call(ev, self, a, out);
}

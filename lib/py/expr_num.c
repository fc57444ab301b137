/* SPDX-License-Identifier: ISC */
/*
 * Arithmetic.  Integers that leave 64 bits are declined, and so is what
 * depends on a mathematical library: Python's is the platform's.
 */
#include "lib/py/expr_internal.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#include "json.h"

/* Whether double arithmetic rounds to double each time; if unsure, no. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
#define EXACT true
#else
#define EXACT false
#endif

enum { EXACT_BITS = 53 };

static const char *const op_names[EXPR_ARITH__MAX] = { "+", "-", "*", "/",
	"//", "%", "** or pow()", "|", "^", "&", "<<", ">>" };

int
expr_unsupported(struct eval *ev, const char *op, struct value a,
    struct value b)
{
	if (a.kind > EXPR_SET || b.kind > EXPR_SET)
		return expr_decline(ev, "arithmetic with this");
	return expr_raise(ev, "unsupported operand type(s) for %s: '%s' and "
	    "'%s'", op, expr_type(a), expr_type(b));
}

/* Reading. */

bool
expr_read_int(struct str s, int64_t *out)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || v > INT64_MAX / 10)
			return false;
		v = v * 10 + (unsigned)(s.p[i] - '0');
		if (v > INT64_MAX)
			return false;
	}
	*out = (int64_t)v;
	return s.n > 0;
}

/* Digits, a point, an exponent: as JSON would have it, with digits around. */
bool
expr_read_float(struct str s, double *out)
{
	char text[480];
	size_t i = 0, n = 0;
	struct json json = { .type = JSON_NUMBER };

	if (s.n > 400)
		return false;
	while (i + 1 < s.n && s.p[i] == '0' && s.p[i + 1] >= '0' &&
	    s.p[i + 1] <= '9')
		i++;
	if (i < s.n && s.p[i] == '.')
		text[n++] = '0';
	for (; i < s.n; i++) {
		text[n++] = s.p[i];
		if (s.p[i] == '.' && (i + 1 == s.n || s.p[i + 1] < '0' ||
		    s.p[i + 1] > '9'))
			text[n++] = '0';
	}
	text[n] = '\0';
	json.u.text = text;
	json.n = (uint32_t)n;
	return json_double(&json, out);
}

/* Integers. */

static bool
add_int(int64_t a, int64_t b, int64_t *out)
{
	if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
		return false;
	*out = a + b;
	return true;
}

static bool
mul_int(int64_t a, int64_t b, int64_t *out)
{
	if (a == 0 || b == 0) {
		*out = 0;
		return true;
	}
	if ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN))
		return false;
	if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a) :
	    (b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a))
		return false;
	*out = a * b;
	return true;
}

static bool
pow_int(int64_t a, int64_t b, int64_t *out)
{
	int64_t v = 1;

	if (a == 0 || a == 1)
		v = b == 0 ? 1 : a;
	else if (a == -1)
		v = b % 2 == 0 ? 1 : -1;
	else
		for (; b > 0; b--)
			if (!mul_int(v, a, &v))
				return false;
	*out = v;
	return true;
}

static bool
shift_int(int64_t a, int64_t b, bool left, int64_t *out)
{
	if (!left) {
		b = b > 63 ? 63 : b;
		*out = a < 0 ? ~(~a >> b) : a >> b;
		return true;
	}
	if (a == 0) {
		*out = 0;
		return true;
	}
	return b < 63 && mul_int(a, (int64_t)1 << b, out);
}

static void
floor_int(int64_t a, int64_t b, int64_t *div, int64_t *mod)
{
	assert(b != 0);
	*div = a / b;
	*mod = a % b;
	if (*mod != 0 && (*mod < 0) != (b < 0)) {
		*mod += b;
		--*div;
	}
}

static bool
small(int64_t i)
{
	const int64_t max = (int64_t)1 << EXACT_BITS;

	return i >= -max && i <= max;
}

static int
divide_ints(struct eval *ev, enum expr_arith op, int64_t a, int64_t b,
    struct value *out)
{
	int64_t div, mod;

	if (b == 0)
		return op == EXPR_DIV ? expr_raise(ev, "division by zero") :
		    op == EXPR_FLOOR ? expr_raise(ev,
		    "integer division or modulo by zero") :
		    expr_decline(ev, "how Python says modulo by zero");
	if (op == EXPR_DIV) {
		if (!EXACT || !small(a) || !small(b))
			return expr_decline(ev, "a division like this");
		*out = expr_float((double)a / (double)b);
		return 0;
	}
	if (a == INT64_MIN && b == -1)
		return expr_decline(ev, "an integer beyond 64 bits");
	floor_int(a, b, &div, &mod);
	*out = expr_int(op == EXPR_FLOOR ? div : mod);
	return 0;
}

static int
arith_ints(struct eval *ev, enum expr_arith op, struct value a,
    struct value b, struct value *out)
{
	bool bools = a.kind == EXPR_BOOL && b.kind == EXPR_BOOL, ok = true;
	int64_t x = a.u.i, y = b.u.i, v = 0;

	switch (op) {
	case EXPR_DIV:
	case EXPR_FLOOR:
	case EXPR_MOD:
		return divide_ints(ev, op, x, y, out);
	case EXPR_BITOR:
	case EXPR_BITXOR:
	case EXPR_BITAND:
		v = op == EXPR_BITOR ? x | y : op == EXPR_BITXOR ? x ^ y :
		    x & y;
		*out = bools ? expr_bool(v != 0) : expr_int(v);
		return 0;
	case EXPR_ADD:
		ok = add_int(x, y, &v);
		break;
	case EXPR_SUB:
		ok = y == INT64_MIN ? x < 0 && add_int(x + 1, INT64_MAX, &v) :
		    add_int(x, -y, &v);
		break;
	case EXPR_MUL:
		ok = mul_int(x, y, &v);
		break;
	case EXPR_POW:
		if (y < 0)
			return expr_decline(ev, "a power like this");
		ok = pow_int(x, y, &v);
		break;
	case EXPR_SHL:
	case EXPR_SHR:
		if (y < 0)
			return expr_raise(ev, "negative shift count");
		ok = shift_int(x, y, op == EXPR_SHL, &v);
		break;
	case EXPR_ARITH__MAX:
		break;
	}
	if (!ok)
		return expr_decline(ev, "an integer beyond 64 bits");
	*out = expr_int(v);
	return 0;
}

/* Floats. */

/* Whole numbers only, whose quotient and rest are exact. */
static int
floor_floats(struct eval *ev, enum expr_arith op, double a, double b,
    struct value *out)
{
	const double max = 4503599627370496.0;
	int64_t div, mod;
	double zero;

	if (b == 0)
		return op == EXPR_FLOOR ? expr_raise(ev,
		    "float floor division by zero") :
		    expr_decline(ev, "how Python says modulo by zero");
	if (!(a >= -max && a <= max && b >= -max && b <= max) ||
	    (double)(int64_t)a != a || (double)(int64_t)b != b)
		return expr_decline(ev, "a division like this");
	floor_int((int64_t)a, (int64_t)b, &div, &mod);
	if (op == EXPR_MOD) {
		zero = b < 0 ? -0.0 : 0.0;
		*out = expr_float(mod == 0 ? zero : (double)mod);
	} else {
		zero = a / b;
		*out = expr_float(div == 0 ? (zero < 0 || (a == 0 &&
		    1 / zero < 0) ? -0.0 : 0.0) : (double)div);
	}
	return 0;
}

static int
arith_floats(struct eval *ev, enum expr_arith op, struct value va,
    struct value vb, struct value *out)
{
	double a = va.kind == EXPR_FLOAT ? va.u.d : (double)va.u.i;
	double b = vb.kind == EXPR_FLOAT ? vb.u.d : (double)vb.u.i;

	if (!EXACT)
		return expr_decline(ev, "arithmetic of this processor");
	switch (op) {
	case EXPR_ADD:
		*out = expr_float(a + b);
		return 0;
	case EXPR_SUB:
		*out = expr_float(a - b);
		return 0;
	case EXPR_MUL:
		*out = expr_float(a * b);
		return 0;
	case EXPR_DIV:
		if (b == 0)
			return expr_raise(ev, "float division by zero");
		*out = expr_float(a / b);
		return 0;
	case EXPR_FLOOR:
	case EXPR_MOD:
		return floor_floats(ev, op, a, b, out);
	case EXPR_POW:
		return expr_decline(ev, "a power like this");
	case EXPR_BITOR:
	case EXPR_BITXOR:
	case EXPR_BITAND:
	case EXPR_SHL:
	case EXPR_SHR:
	case EXPR_ARITH__MAX:
		break;
	}
	return expr_unsupported(ev, op_names[op], va, vb);
}

/* What is not only numbers. */

static int
multiply(struct eval *ev, struct value a, struct value b, struct value *out)
{
	bool left = a.kind == EXPR_STR || EXPR_ISSEQ(a);
	struct value seq = left ? a : b, n = left ? b : a;

	if (seq.kind != EXPR_STR && !EXPR_ISSEQ(seq))
		return expr_unsupported(ev, "*", a, b);
	if (EXPR_ISINT(n))
		return expr_repeat(ev, seq, n.u.i, out);
	if (n.kind > EXPR_SET)
		return expr_decline(ev, "a text times this");
	return expr_raise(ev, "can't multiply sequence by non-int of type '%s'",
	    expr_type(n));
}

static int
merge(struct eval *ev, struct map *a, struct map *b, struct value *out)
{
	struct map *from[2];
	size_t i, k;

	from[0] = a;
	from[1] = b;
	if (expr_map_new(ev, EXPR_DICT, out) == -1)
		return -1;
	for (k = 0; k < COUNTOF(from); k++) {
		if (expr_read_map(ev, from[k]) == -1)
			return -1;
		for (i = 0; i < from[k]->n; i++)
			if (expr_map_put(ev, out->u.map, from[k]->v[i].key,
			    from[k]->v[i].val) == -1)
				return -1;
	}
	return 0;
}

int
expr_arith(struct eval *ev, enum expr_arith op, struct value a,
    struct value b, struct value *out)
{
	if (EXPR_ISINT(a) && EXPR_ISINT(b))
		return arith_ints(ev, op, a, b, out);
	if (EXPR_ISNUM(a) && EXPR_ISNUM(b))
		return arith_floats(ev, op, a, b, out);
	if (op == EXPR_ADD && (a.kind == EXPR_STR || EXPR_ISSEQ(a)))
		return expr_concat(ev, a, b, out);
	if (op == EXPR_MUL)
		return multiply(ev, a, b, out);
	if (op == EXPR_MOD && a.kind == EXPR_STR)
		return expr_percent(ev, a.u.text, b, out);
	if (a.kind == EXPR_SET && b.kind == EXPR_SET && (op == EXPR_SUB ||
	    op == EXPR_BITAND || op == EXPR_BITOR || op == EXPR_BITXOR))
		return expr_set_op(ev, op, a.u.map, b.u.map, out);
	if (a.kind == EXPR_DICT && b.kind == EXPR_DICT && op == EXPR_BITOR)
		return merge(ev, a.u.map, b.u.map, out);
	if (a.kind == EXPR_FLAGS && b.kind == EXPR_FLAGS &&
	    op == EXPR_BITOR) {
		*out = (struct value){ .kind = EXPR_FLAGS };
		out->u.i = a.u.i | b.u.i;
		return 0;
	}
	return expr_unsupported(ev, op_names[op], a, b);
}

int
expr_unary(struct eval *ev, int op, struct value v, struct value *out)
{
	if (v.kind == EXPR_FLOAT && op != '~') {
		*out = expr_float(op == '-' ? -v.u.d : v.u.d);
		return 0;
	}
	if (EXPR_ISINT(v)) {
		if (op == '-' && v.u.i == INT64_MIN)
			return expr_decline(ev, "an integer beyond 64 bits");
		*out = expr_int(op == '-' ? -v.u.i : op == '~' ? ~v.u.i :
		    v.u.i);
		return 0;
	}
	if (v.kind > EXPR_SET)
		return expr_decline(ev, "a sign before this");
	return expr_raise(ev, "bad operand type for unary %c: '%s'", op,
	    expr_type(v));
}

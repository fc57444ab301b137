/* SPDX-License-Identifier: ISC */
/*
 * Arithmetic.  Integers beyond 64 bits are declined, and so are operations on
 * floats that are not exact IEEE operations.
 */
#include "lib/py/expr_internal.h"

#include <float.h>
#include <string.h>

#include "json.h"

/* True if every operation on doubles rounds to double. */
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 0
#define EXACT true
#else
#define EXACT false
#endif

enum { EXACT_BITS = 53 };

static int
unsupported(struct eval *ev, enum expr_arith op, struct value a,
    struct value b)
{
	static const char *const names[EXPR_ARITH__MAX] = { "+", "-", "*", "/",
		"//", "%", "|", "** or pow()" };

	if (a.kind > EXPR_SET || b.kind > EXPR_SET)
		return expr_decline(ev, "arithmetic with this type");
	return expr_raise(ev, "unsupported operand type(s) for %s: '%s' and "
	    "'%s'", names[op], expr_type(a), expr_type(b));
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

/* Converts to the syntax of JSON: digits on both sides of the point. */
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

/* True if a double represents the integer exactly. */
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
		    expr_decline(ev, "modulo by zero");
	if (op == EXPR_DIV) {
		if (!EXACT || !small(a) || !small(b))
			return expr_decline(ev, "inexact division");
		*out = expr_float((double)a / (double)b);
		return 0;
	}
	if (a == INT64_MIN && b == -1)
		return expr_decline(ev, "integer beyond 64 bits");
	div = a / b;
	mod = a % b;
	if (mod != 0 && (mod < 0) != (b < 0)) {
		mod += b;
		div--;
	}
	*out = expr_int(op == EXPR_FLOOR ? div : mod);
	return 0;
}

static int
power(struct eval *ev, int64_t base, int64_t exponent, struct value *out)
{
	int64_t v = 1, square = base, n = exponent, bits = 0, rest;
	bool ok = true;

	if (n < 0)
		return expr_decline(ev, "negative exponent");
	for (; ok && n > 0; n /= 2) {
		if (n % 2 == 1)
			ok = mul_int(v, square, &v);
		if (n > 1)
			ok = ok && mul_int(square, square, &square);
	}
	*out = expr_int(v);
	if (ok)
		return 0;
	/* it has about that many bits: a few are Python's business */
	for (rest = base; rest / 2 != 0; rest /= 2)
		bits++;
	if (bits > EXPR_STEPS_MAX / exponent)
		return expr_exceed_steps(ev);
	return expr_decline(ev, "integer beyond 64 bits");
}

static int
arith_ints(struct eval *ev, enum expr_arith op, int64_t a, int64_t b,
    struct value *out)
{
	int64_t v = 0;
	bool ok;

	if (op == EXPR_BITOR)
		return expr_decline(ev, "bits of integers");
	if (op == EXPR_POW)
		return power(ev, a, b, out);
	if (op != EXPR_ADD && op != EXPR_SUB && op != EXPR_MUL)
		return divide_ints(ev, op, a, b, out);
	if (op == EXPR_MUL)
		ok = mul_int(a, b, &v);
	else if (op == EXPR_ADD)
		ok = add_int(a, b, &v);
	else
		ok = b != INT64_MIN && add_int(a, -b, &v);
	if (!ok)
		return expr_decline(ev, "integer beyond 64 bits");
	*out = expr_int(v);
	return 0;
}

static int
arith_floats(struct eval *ev, enum expr_arith op, struct value va,
    struct value vb, struct value *out)
{
	double a = va.kind == EXPR_FLOAT ? va.u.d : (double)va.u.i;
	double b = vb.kind == EXPR_FLOAT ? vb.u.d : (double)vb.u.i;

	if (op == EXPR_BITOR)
		return unsupported(ev, op, va, vb);
	if (!EXACT || op == EXPR_FLOOR || op == EXPR_MOD || op == EXPR_POW)
		return expr_decline(ev, "inexact arithmetic");
	if (op == EXPR_DIV && b == 0)
		return expr_raise(ev, "float division by zero");
	*out = expr_float(op == EXPR_ADD ? a + b : op == EXPR_SUB ? a - b :
	    op == EXPR_MUL ? a * b : a / b);
	return 0;
}

/* Operands that are not numbers. */

static int
multiply(struct eval *ev, struct value a, struct value b, struct value *out)
{
	bool left = a.kind == EXPR_STR || EXPR_ISSEQ(a);
	struct value seq = left ? a : b, n = left ? b : a;

	if (seq.kind != EXPR_STR && !EXPR_ISSEQ(seq))
		return unsupported(ev, EXPR_MUL, a, b);
	if (EXPR_ISINT(n))
		return expr_repeat(ev, seq, n.u.i, out);
	if (n.kind > EXPR_SET)
		return expr_decline(ev, "multiplication by this type");
	return expr_raise(ev, "can't multiply sequence by non-int of type '%s'",
	    expr_type(n));
}

int
expr_arith(struct eval *ev, enum expr_arith op, struct value a,
    struct value b, struct value *out)
{
	if (EXPR_ISINT(a) && EXPR_ISINT(b))
		return arith_ints(ev, op, a.u.i, b.u.i, out);
	if (EXPR_ISNUM(a) && EXPR_ISNUM(b))
		return arith_floats(ev, op, a, b, out);
	if (op == EXPR_ADD && (a.kind == EXPR_STR || EXPR_ISSEQ(a)))
		return expr_concat(ev, a, b, out);
	if (op == EXPR_MUL)
		return multiply(ev, a, b, out);
	if (op == EXPR_MOD && a.kind == EXPR_STR)
		return expr_decline(ev, "formatting with %%");
	if (a.kind == b.kind && ((a.kind == EXPR_SET && op == EXPR_SUB) ||
	    (op == EXPR_BITOR && (a.kind == EXPR_SET || a.kind == EXPR_DICT))))
		return expr_decline(ev, "operator of sets and dicts");
	if (a.kind == EXPR_FLAGS && b.kind == EXPR_FLAGS &&
	    op == EXPR_BITOR) {
		*out = (struct value){ .kind = EXPR_FLAGS };
		out->u.i = a.u.i | b.u.i;
		return 0;
	}
	return unsupported(ev, op, a, b);
}

int
expr_sign(struct eval *ev, int sign, struct value v, struct value *out)
{
	if (v.kind == EXPR_FLOAT)
		*out = expr_float(sign == '-' ? -v.u.d : v.u.d);
	else if (EXPR_ISINT(v) && v.u.i != INT64_MIN)
		*out = expr_int(sign == '-' ? -v.u.i : v.u.i);
	else if (EXPR_ISINT(v))
		return expr_decline(ev, "integer beyond 64 bits");
	else if (v.kind > EXPR_SET)
		return expr_decline(ev, "sign of this type");
	else
		return expr_raise(ev, "bad operand type for unary %c: '%s'",
		    sign, expr_type(v));
	return 0;
}

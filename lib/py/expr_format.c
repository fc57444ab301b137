/* SPDX-License-Identifier: ISC */
/*
 * Formatting: f'{x:spec}', str.format() and the operator %, as far as their
 * use in graders goes.
 */
#include "lib/py/expr_internal.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH_MAX = 4096, PRECISION_MAX = 50 };

#define NUMBERED SIZE_MAX	/* fields have numbers: none may go without */

struct spec {
	struct str fill;	/* one code point */
	char align;		/* < > ^ or 0 */
	char sign;		/* + - blank or 0 */
	bool zero, comma;
	size_t width;
	int precision;		/* -1: none */
	char type;		/* or 0 */
};

static bool
is_digit(struct str s, size_t i)
{
	return i < s.n && s.p[i] >= '0' && s.p[i] <= '9';
}

static bool
read_size(struct str s, size_t *i, size_t max, size_t *out)
{
	*out = 0;
	for (; is_digit(s, *i); ++*i) {
		*out = *out * 10 + (size_t)(s.p[*i] - '0');
		if (*out > max)
			return false;
	}
	return true;
}

static bool
is_align(struct str s, size_t i)
{
	return i < s.n && (s.p[i] == '<' || s.p[i] == '>' || s.p[i] == '^');
}

/* [[fill]align][sign][0][width][,][.precision][type] */
static bool
read_spec(struct str s, struct spec *sp)
{
	size_t i = 0, k;
	uint32_t c;

	*sp = (struct spec){ .precision = -1 };
	sp->fill = STR(" ");
	k = utf8_get(s.p, s.p + s.n, &c);
	if (k > 0 && is_align(s, k)) {
		sp->fill = (struct str){ s.p, k };
		i = k;
	}
	if (is_align(s, i))
		sp->align = s.p[i++];
	if (i < s.n && strchr("+- ", s.p[i]) != NULL)
		sp->sign = s.p[i++];
	if (i < s.n && s.p[i] == '0') {
		sp->zero = true;
		i++;
	}
	if (!read_size(s, &i, WIDTH_MAX, &sp->width))
		return false;
	if (i < s.n && s.p[i] == ',') {
		sp->comma = true;
		i++;
	}
	if (i < s.n && s.p[i] == '.') {
		i++;
		if (!is_digit(s, i) || !read_size(s, &i, PRECISION_MAX, &k))
			return false;
		sp->precision = (int)k;
	}
	if (i < s.n)
		sp->type = s.p[i++];
	return i == s.n;
}

static int
put_times(struct eval *ev, struct sink *s, struct str what, size_t n)
{
	for (; n > 0; n--)
		if (expr_put(ev, s, what) == -1)
			return -1;
	return 0;
}

static int
put_padded(struct eval *ev, struct sink *s, struct text *t,
    const struct spec *sp, char align)
{
	size_t len = expr_len(t);
	size_t pad = sp->width > len ? sp->width - len : 0;
	size_t left = align == '>' ? pad : align == '^' ? pad / 2 : 0;

	if (put_times(ev, s, sp->fill, left) == -1 ||
	    expr_put(ev, s, (struct str){ t->p, t->n }) == -1)
		return -1;
	return put_times(ev, s, sp->fill, pad - left);
}

static int
put_text(struct eval *ev, struct sink *s, struct text *t,
    const struct spec *sp)
{
	struct text cut = *t;

	if (sp->zero || sp->sign != 0 || sp->comma ||
	    (sp->type != 0 && sp->type != 's'))
		return expr_decline(ev, "a format like this");
	if (sp->precision >= 0 && (size_t)sp->precision < expr_len(t)) {
		cut.n = expr_offset(t, (size_t)sp->precision);
		cut.len = (size_t)sp->precision;
	}
	return put_padded(ev, s, &cut, sp, sp->align == 0 ? '<' : sp->align);
}

/* The digits of a number that is not negative. */
static size_t
digits_of(struct value v, const struct spec *sp, char *out, size_t size)
{
	double d = v.kind == EXPR_FLOAT ? v.u.d : (double)v.u.i;
	uint64_t u = v.u.i < 0 ? 0 - (uint64_t)v.u.i : (uint64_t)v.u.i;
	int n;

	d = d < 0 ? -d : d == 0 ? 0 : d;	/* -0.0 too */
	if (sp->type == 'f' || sp->type == 'F')
		n = snprintf(out, size, "%.*f", sp->precision < 0 ? 6 :
		    sp->precision, d);
	else if (sp->type == '%')
		n = snprintf(out, size, "%.*f%%", sp->precision < 0 ? 6 :
		    sp->precision, d * 100);
	else if (v.kind == EXPR_FLOAT)
		n = (int)expr_put_float(out, d);
	else
		n = snprintf(out, size, sp->type == 'x' ? "%llx" :
		    sp->type == 'X' ? "%llX" : sp->type == 'o' ? "%llo" :
		    "%llu", (unsigned long long)u);
	return n < 0 || (size_t)n >= size ? 0 : (size_t)n;
}

static size_t
with_commas(const char *in, size_t n, char *out)
{
	size_t whole = 0, i, k = 0;

	while (whole < n && in[whole] >= '0' && in[whole] <= '9')
		whole++;
	for (i = 0; i < n; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			out[k++] = ',';
		out[k++] = in[i];
	}
	return k;
}

static bool
is_negative(struct value v)
{
	return v.kind == EXPR_FLOAT ? v.u.d < 0 || (v.u.d == 0 &&
	    1 / v.u.d < 0) : v.u.i < 0;
}

static int
put_number(struct eval *ev, struct sink *s, struct value v, struct spec *sp)
{
	const char *types = v.kind == EXPR_FLOAT ? "fF%" : "fF%dxXo";
	char digits[400], out[600], *p = out;
	bool minus = is_negative(v);
	struct text t = { .len = EXPR_UNKNOWN };
	size_t n;

	if ((sp->type != 0 && strchr(types, sp->type) == NULL) ||
	    (sp->zero && (sp->comma || sp->align != 0)) ||
	    (sp->comma && strchr("xXo", sp->type) != NULL && sp->type != 0) ||
	    (sp->precision >= 0 && (sp->type == 0 ||
	    strchr("fF%", sp->type) == NULL)) ||
	    (v.kind == EXPR_FLOAT && v.u.d - v.u.d != 0))
		return expr_decline(ev, "a format like this");
	n = digits_of(v, sp, digits, sizeof(digits));
	if (n == 0)
		return expr_decline(ev, "a number of this size");
	if (minus || sp->sign == '+' || sp->sign == ' ')
		*p++ = minus ? '-' : sp->sign;
	if (sp->zero) {
		if (expr_put(ev, s, (struct str){ out, (size_t)(p - out) }) ==
		    -1 || put_times(ev, s, STR("0"), sp->width >
		    n + (size_t)(p - out) ? sp->width - n -
		    (size_t)(p - out) : 0) == -1)
			return -1;
		return expr_put(ev, s, (struct str){ digits, n });
	}
	if (sp->comma)
		p += with_commas(digits, n, p);
	else {
		memcpy(p, digits, n);
		p += n;
	}
	t.p = out;
	t.n = (size_t)(p - out);
	return put_padded(ev, s, &t, sp, sp->align == 0 ? '>' : sp->align);
}

int
expr_put_format(struct eval *ev, struct sink *s, struct value v,
    struct str how)
{
	struct spec sp;

	if (how.n == 0)
		return expr_put_str(ev, s, v);
	if (v.kind == EXPR_NONE || (v.kind > EXPR_STR && v.kind <= EXPR_SET))
		return expr_raise(ev, "unsupported format string passed to "
		    "%s.__format__", expr_type(v));
	if (v.kind == EXPR_BOOL || v.kind > EXPR_SET || !read_spec(how, &sp))
		return expr_decline(ev, "a format like this");
	if (v.kind == EXPR_STR)
		return put_text(ev, s, v.u.text, &sp);
	return put_number(ev, s, v, &sp);
}

/* The operator %. */

struct percent {
	struct value v;		/* what is formatted */
	size_t used;		/* of a tuple, or of itself */
};

static int
next_argument(struct eval *ev, struct percent *pc, struct value *out)
{
	bool tuple = pc->v.kind == EXPR_TUPLE;
	size_t n = tuple ? pc->v.u.seq->n : 1;

	if (pc->used == n)
		return expr_raise(ev, "not enough arguments for format string");
	*out = tuple ? pc->v.u.seq->v[pc->used] : pc->v;
	pc->used++;
	return 0;
}

/* One conversion, behind its %: how far it goes in *i. */
static int
put_percent(struct eval *ev, struct sink *s, struct str f, size_t *i,
    struct percent *pc)
{
	struct spec sp = { .precision = -1 };
	struct sink r = { 0 };
	struct value v;
	size_t k;

	sp.fill = STR(" ");
	if (*i < f.n && f.p[*i] == '%') {
		++*i;
		return expr_put(ev, s, STR("%"));
	}
	if ((*i < f.n && f.p[*i] == '0') ||
	    !read_size(f, i, WIDTH_MAX, &sp.width))
		return expr_decline(ev, "a format like this");
	if (*i < f.n && f.p[*i] == '.') {
		++*i;
		if (!is_digit(f, *i) || !read_size(f, i, PRECISION_MAX, &k))
			return expr_decline(ev, "a format like this");
		sp.precision = (int)k;
	}
	if (*i == f.n || strchr("srdif", f.p[*i]) == NULL || f.p[*i] == '\0')
		return expr_decline(ev, "a format like this");
	sp.type = f.p[(*i)++];
	if (next_argument(ev, pc, &v) == -1)
		return -1;
	if (sp.type == 's' || sp.type == 'r') {
		if ((sp.type == 's' ? expr_put_str(ev, &r, v) :
		    expr_put_repr(ev, &r, v)) == -1 ||
		    expr_take(ev, &r, &v) == -1)
			return -1;
		sp.type = 's';
		sp.align = '>';
		return put_text(ev, s, v.u.text, &sp);
	}
	if (sp.type == 'f' ? !EXPR_ISNUM(v) : !EXPR_ISINT(v) ||
	    sp.precision >= 0)
		return expr_decline(ev, "a format like this");
	if (v.kind == EXPR_BOOL)
		v.kind = EXPR_INT;
	sp.type = sp.type == 'f' ? 'f' : 'd';
	return put_number(ev, s, v, &sp);
}

int
expr_percent(struct eval *ev, struct text *t, struct value v,
    struct value *out)
{
	struct str f = { t->p, t->n };
	struct percent pc = { .v = v };
	struct sink s = { 0 };
	size_t i = 0, from;

	if (v.kind > EXPR_SET)
		return expr_decline(ev, "a format of this");
	while (i < f.n) {
		from = i;
		while (i < f.n && f.p[i] != '%')
			i++;
		if (expr_put(ev, &s, (struct str){ f.p + from,
		    i - from }) == -1)
			return -1;
		if (i < f.n && (i++, put_percent(ev, &s, f, &i, &pc)) == -1)
			return -1;
	}
	if (v.kind == EXPR_TUPLE ? pc.used < v.u.seq->n :
	    pc.used == 0 && (v.kind <= EXPR_STR || v.kind == EXPR_SET))
		return expr_raise(ev, "not all arguments converted during "
		    "string formatting");
	return expr_take(ev, &s, out);
}

/* str.format() */

/* The argument that a field names, by nothing, a number or a name. */
static bool
pick(const struct args *args, struct str name, size_t *next,
    struct value *out)
{
	int64_t i;
	size_t k;

	if (name.n == 0) {
		if (*next == NUMBERED)
			return false;
		i = (int64_t)(*next)++;
	} else if (is_digit(name, 0)) {
		if ((*next > 0 && *next != NUMBERED) ||
		    !expr_read_int(name, &i))
			return false;
		*next = NUMBERED;
	} else {
		for (k = 0; k < args->nnamed; k++)
			if (str_eq(args->names[k], name)) {
				*out = args->v[args->n + k];
				return true;
			}
		return false;
	}
	if ((uint64_t)i >= args->n)
		return false;
	*out = args->v[i];
	return true;
}

static int
put_field(struct eval *ev, struct sink *s, struct str field,
    const struct args *args, size_t *next)
{
	const char *p = memchr(field.p, ':', field.n);
	struct str name = field, how = STR("");
	struct value v;

	if (p != NULL) {
		name.n = (size_t)(p - field.p);
		how = (struct str){ p + 1, field.n - name.n - 1 };
	}
	if (memchr(name.p, '!', name.n) != NULL ||
	    memchr(name.p, '[', name.n) != NULL ||
	    memchr(name.p, '.', name.n) != NULL ||
	    !pick(args, name, next, &v))
		return expr_decline(ev, "a field like this");
	return expr_put_format(ev, s, v, how);
}

int
expr_str_format(struct eval *ev, struct value self, const struct args *args,
    struct value *out)
{
	struct str f = { self.u.text->p, self.u.text->n };
	size_t i, end, next = 0;
	struct sink s = { 0 };

	for (i = 0; i < f.n; i++) {
		if (f.p[i] != '{' && f.p[i] != '}') {
			if (expr_put(ev, &s, (struct str){ f.p + i, 1 }) == -1)
				return -1;
			continue;
		}
		if (i + 1 < f.n && f.p[i + 1] == f.p[i]) {
			if (expr_put(ev, &s, (struct str){ f.p + i, 1 }) == -1)
				return -1;
			i++;
			continue;
		}
		for (end = i + 1; end < f.n && f.p[end] != '}' &&
		    f.p[end] != '{'; end++)
			;
		if (f.p[i] == '}' || end == f.n || f.p[end] == '{')
			return expr_decline(ev, "a field like this");
		if (put_field(ev, &s, (struct str){ f.p + i + 1,
		    end - i - 1 }, args, &next) == -1)
			return -1;
		i = end;
	}
	return expr_take(ev, &s, out);
}

/* SPDX-License-Identifier: ISC */
/*
 * How values are written: str() and repr(), and the texts of exceptions that
 * have a value in them.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

#include "json.h"
#include "lib/py/expr_unicode.h"

int
expr_put(struct eval *ev, struct sink *s, struct str str)
{
	size_t cap;
	char *p;

	if (str.n > s->cap - s->n) {
		if (!add_ok(s->n, str.n, &cap) || !add_ok(cap, cap, &cap))
			cap = SIZE_MAX;
		p = expr_alloc(ev, cap);
		if (p == NULL)
			return -1;
		if (s->n > 0)
			memcpy(p, s->p, s->n);
		s->p = p;
		s->cap = cap;
	}
	if (str.n > 0)
		memcpy(s->p + s->n, str.p, str.n);
	s->n += str.n;
	return str.n < EXPR_STEP_BYTES ? 0 : expr_bytes(ev, str.n);
}

int
expr_take(struct eval *ev, const struct sink *s, struct value *out)
{
	return expr_str(ev, (struct str){ s->p, s->n }, out);
}

/* Numbers. */

static size_t
put_int(char out[24], int64_t i)
{
	char text[24], *p = text + sizeof(text);
	uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
	size_t n;

	do
		*--p = (char)('0' + u % 10);
	while ((u /= 10) > 0);
	if (i < 0)
		*--p = '-';
	n = (size_t)(text + sizeof(text) - p);
	memcpy(out, p, n);
	return n;
}

/* The digits of a number and where its point is: 0.digits x 10^point. */
static size_t
split_digits(const char *text, char digits[32], int *point)
{
	size_t n = 0;
	int exp = 0;
	bool after = false, minus;
	const char *p;

	*point = 0;
	for (p = text; *p != '\0' && *p != 'e' && *p != 'E'; p++)
		if (*p == '.')
			after = true;
		else if (*p >= '0' && *p <= '9') {
			if (n > 0 || *p != '0')
				digits[n++] = *p;
			else if (after)
				--*point;
			*point += !after && n > 0;
		}
	if (*p != '\0') {
		minus = p[1] == '-';
		for (p++; *p != '\0'; p++)
			if (*p >= '0' && *p <= '9')
				exp = exp * 10 + (*p - '0');
		*point += minus ? -exp : exp;
	}
	while (n > 0 && digits[n - 1] == '0')
		n--;
	return n;
}

size_t
expr_put_float(char out[40], double d)
{
	char text[32], digits[32];
	size_t n = 0, i, k;
	int point, exp;

	if (d != d || d - d != 0) {
		memcpy(out, d != d ? "nan" : d > 0 ? "inf" : "-inf", 4);
		return d < 0 ? 4 : 3;
	}
	json_format_double(text, d);
	if (text[0] == '-' || (d == 0 && 1 / d < 0))
		out[n++] = '-';
	k = split_digits(text, digits, &point);
	if (k == 0) {
		out[n++] = '0';
		out[n++] = '.';
		out[n++] = '0';
		return n;
	}
	if (point > 16 || point <= -4) {
		out[n++] = digits[0];
		if (k > 1) {
			out[n++] = '.';
			memcpy(out + n, digits + 1, k - 1);
			n += k - 1;
		}
		exp = point - 1;
		out[n++] = 'e';
		out[n++] = exp < 0 ? '-' : '+';
		exp = exp < 0 ? -exp : exp;
		if (exp < 10)
			out[n++] = '0';
		return n + put_int(out + n, exp);
	}
	if (point <= 0)
		out[n++] = '0';
	for (i = 0; (int)i < point; i++)
		out[n++] = i < k ? digits[i] : '0';
	out[n++] = '.';
	for (; point < 0; point++)
		out[n++] = '0';
	if (i >= k)
		out[n++] = '0';
	for (; i < k; i++)
		out[n++] = digits[i];
	return n;
}

/* Texts. */

static int
put_escape(struct eval *ev, struct sink *s, uint32_t c)
{
	static const char hex[] = "0123456789abcdef";
	const char *simple = c == '\n' ? "\\n" : c == '\r' ? "\\r" :
	    c == '\t' ? "\\t" : c == '\\' ? "\\\\" : NULL;
	unsigned digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8, i;
	char out[10];

	if (simple != NULL)
		return expr_put(ev, s, str_of(simple));
	out[0] = '\\';
	out[1] = digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
	for (i = 0; i < digits; i++)
		out[2 + i] = hex[c >> 4 * (digits - 1 - i) & 15];
	return expr_put(ev, s, (struct str){ out, 2 + digits });
}

static int
put_quoted(struct eval *ev, struct sink *s, const struct text *t)
{
	bool twice = t->n > 0 && memchr(t->p, '\'', t->n) != NULL &&
	    memchr(t->p, '"', t->n) == NULL;
	struct str quote = twice ? STR("\"") : STR("'");
	unsigned props;
	uint32_t c;
	size_t i, n;
	int rc;

	if (expr_steps(ev, t->n) == -1 || expr_put(ev, s, quote) == -1)
		return -1;
	for (i = 0; i < t->n; i += n) {
		n = utf8_get(t->p + i, t->p + t->n, &c);
		if (n == 0)
			return expr_decline(ev, "a text that is not UTF-8");
		if (expr_props(ev, c, &props) == -1)
			return -1;
		if (c == '\'' && !twice)
			rc = expr_put(ev, s, STR("\\'"));
		else if (c == '\\' || (props & EXPR_UNI_PRINT) == 0)
			rc = put_escape(ev, s, c);
		else
			rc = expr_put(ev, s, (struct str){ t->p + i, n });
		if (rc == -1)
			return -1;
	}
	return expr_put(ev, s, quote);
}

/* Containers. */

static int
put_seq(struct eval *ev, struct sink *s, struct value v)
{
	bool list = v.kind == EXPR_LIST;
	struct seq *seq = v.u.seq;
	size_t i;

	if (expr_read_seq(ev, seq) == -1 ||
	    expr_put(ev, s, list ? STR("[") : STR("(")) == -1)
		return -1;
	for (i = 0; i < seq->n; i++)
		if (expr_put(ev, s, i > 0 ? STR(", ") : STR("")) == -1 ||
		    expr_put_repr(ev, s, seq->v[i]) == -1)
			return -1;
	return expr_put(ev, s, list ? STR("]") : seq->n == 1 ? STR(",)") :
	    STR(")"));
}

static int
put_map(struct eval *ev, struct sink *s, struct value v)
{
	struct map *map = v.u.map;
	size_t i;

	if (expr_read_map(ev, map) == -1)
		return -1;
	if (v.kind == EXPR_SET && map->n > 1)
		return expr_decline(ev, "the order of a set");
	if (v.kind == EXPR_SET && map->n == 0)
		return expr_put(ev, s, STR("set()"));
	if (expr_put(ev, s, STR("{")) == -1)
		return -1;
	for (i = 0; i < map->n; i++) {
		if (expr_put(ev, s, i > 0 ? STR(", ") : STR("")) == -1 ||
		    expr_put_repr(ev, s, map->v[i].key) == -1)
			return -1;
		if (v.kind == EXPR_DICT &&
		    (expr_put(ev, s, STR(": ")) == -1 ||
		    expr_put_repr(ev, s, map->v[i].val) == -1))
			return -1;
	}
	return expr_put(ev, s, STR("}"));
}

int
expr_put_repr(struct eval *ev, struct sink *s, struct value v)
{
	char out[40];

	if (expr_steps(ev, 1) == -1)
		return -1;
	switch ((enum expr_kind)v.kind) {
	case EXPR_NONE:
		return expr_put(ev, s, STR("None"));
	case EXPR_BOOL:
		return expr_put(ev, s, v.u.i ? STR("True") : STR("False"));
	case EXPR_INT:
		return expr_put(ev, s, (struct str){ out,
		    put_int(out, v.u.i) });
	case EXPR_FLOAT:
		return expr_put(ev, s, (struct str){ out,
		    expr_put_float(out, v.u.d) });
	case EXPR_STR:
		return put_quoted(ev, s, v.u.text);
	case EXPR_LIST:
	case EXPR_TUPLE:
		return put_seq(ev, s, v);
	case EXPR_DICT:
	case EXPR_SET:
		return put_map(ev, s, v);
	case EXPR_VIEW:
	case EXPR_GEN:
	case EXPR_MATCH:
	case EXPR_FLAGS:
	case EXPR_MODULE:
	case EXPR_BUILTIN:
	case EXPR_KIND__MAX:
		break;
	}
	return expr_decline(ev, "how Python writes this");
}

int
expr_put_str(struct eval *ev, struct sink *s, struct value v)
{
	if (v.kind == EXPR_STR)
		return expr_put(ev, s, (struct str){ v.u.text->p,
		    v.u.text->n });
	return expr_put_repr(ev, s, v);
}

int
expr_raise_repr(struct eval *ev, const char *before, struct value v,
    const char *after)
{
	struct sink s = { 0 };

	if (v.kind == EXPR_STR && v.u.text->n > sizeof(ev->err->msg))
		return expr_decline(ev, "the text of an exception is long");
	if (expr_put_repr(ev, &s, v) == -1)
		return -1;
	if (s.n > sizeof(ev->err->msg))
		return expr_decline(ev, "the text of an exception is long");
	return expr_raise(ev, "%s%.*s%s", before, (int)s.n, s.p, after);
}

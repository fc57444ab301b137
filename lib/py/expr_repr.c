/* SPDX-License-Identifier: ISC */
/*
 * str() and repr(), and the texts of exceptions that contain a value.
 */
#include "lib/py/expr_internal.h"

#include <stdio.h>
#include <string.h>

#include "json.h"
#include "lib/unicode.h"

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

static int
put_int(struct eval *ev, struct sink *s, int64_t i)
{
	char out[24];
	int n = snprintf(out, sizeof(out), "%lld", (long long)i);

	return expr_put(ev, s, (struct str){ out, (size_t)n });
}

/* Only numbers that Python writes without an exponent. */
static int
put_float(struct eval *ev, struct sink *s, double d)
{
	double size = d < 0 ? -d : d;
	char out[32];

	if (!(size >= 1e-4 && size < 1e15) && (d != 0 || 1 / d < 0))
		return expr_decline(ev, "repr of this float");
	json_format_double(out, d);
	if (strchr(out, 'e') != NULL || strchr(out, 'E') != NULL)
		return expr_decline(ev, "repr of this float");
	return expr_put(ev, s, str_of(out)) == -1 || (strchr(out, '.') ==
	    NULL && expr_put(ev, s, STR(".0")) == -1) ? -1 : 0;
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

/* Predicate: as str.isprintable(). */
static int
is_printable(struct eval *ev, uint32_t c)
{
	const char *cat;

	if (c < 0x7F)
		return c >= ' ';
	if (unicode_changed(c))
		return expr_decline(ev, "U+%04X, which is new in Unicode",
		    (unsigned)c);
	cat = unicode_category(c);
	return cat[0] != 'C' && cat[0] != 'Z';
}

static int
put_quoted(struct eval *ev, struct sink *s, const struct text *t)
{
	bool twice = t->n > 0 && memchr(t->p, '\'', t->n) != NULL &&
	    memchr(t->p, '"', t->n) == NULL;
	struct str quote = twice ? STR("\"") : STR("'");
	uint32_t c;
	size_t i, n;
	int rc;

	if (expr_steps(ev, t->n) == -1 || expr_put(ev, s, quote) == -1)
		return -1;
	for (i = 0; i < t->n; i += n) {
		c = expr_code_at(t, i, &n);
		rc = is_printable(ev, c);
		if (c == '\'' && !twice)
			rc = expr_put(ev, s, STR("\\'"));
		else if (c == '\\' || rc == 0)
			rc = put_escape(ev, s, c);
		else if (rc == 1)
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
		return expr_decline(ev, "order of a set");
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
	if (expr_steps(ev, 1) == -1)
		return -1;
	if (v.kind == EXPR_NONE)
		return expr_put(ev, s, STR("None"));
	if (v.kind == EXPR_BOOL)
		return expr_put(ev, s, v.u.i ? STR("True") : STR("False"));
	if (v.kind == EXPR_INT)
		return put_int(ev, s, v.u.i);
	if (v.kind == EXPR_FLOAT)
		return put_float(ev, s, v.u.d);
	if (v.kind == EXPR_STR)
		return put_quoted(ev, s, v.u.text);
	if (EXPR_ISSEQ(v))
		return put_seq(ev, s, v);
	if (v.kind == EXPR_DICT || v.kind == EXPR_SET)
		return put_map(ev, s, v);
	return expr_decline(ev, "repr of this type");
}

int
expr_put_str(struct eval *ev, struct sink *s, struct value v)
{
	return v.kind == EXPR_STR ? expr_put(ev, s, expr_bytes_of(v)) :
	    expr_put_repr(ev, s, v);
}

int
expr_raise_repr(struct eval *ev, const char *before, struct value v,
    const char *after)
{
	struct sink s = { 0 };

	if (v.kind == EXPR_STR && v.u.text->n > sizeof(ev->err->msg))
		return expr_decline(ev, "long text of an exception");
	if (expr_put_repr(ev, &s, v) == -1)
		return -1;
	if (s.n > sizeof(ev->err->msg))
		return expr_decline(ev, "long text of an exception");
	return expr_raise(ev, "%s%.*s%s", before, (int)s.n, s.p, after);
}

/* SPDX-License-Identifier: ISC */
/*
 * The module re.  A search only finds out whether there is a match; the
 * offsets of the match and its groups are computed when they are needed.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

#include "lib/re/re.h"
#include "lib/unicode.h"

/* A pattern compiled for texts with some properties. */
struct pattern {
	struct str source;
	int64_t flags;
	enum expr_match how;
	bool ascii, newline;	/* properties of the text */
	struct translation t;
	struct re *re;
};

struct match {
	struct pattern *pat;
	struct text *text;
	struct re_span *spans;	/* of Python's groups; NULL: unknown */
};

/* Charges the memory that lib/re took from the arena. */
static int
charge(struct eval *ev, size_t before)
{
	size_t n = ev->arena->used - before;

	if (n > ev->memory)
		return expr_exceed_memory(ev);
	ev->memory -= n;
	return 0;
}

static bool
ends_line(const struct text *t)
{
	return t->n > 0 && t->p[t->n - 1] == '\n';
}

/* The facts about a text that is not ASCII. */
static int
facts(struct eval *ev, struct text *t, unsigned *out)
{
	unsigned f = t->facts;
	const char *category;
	uint32_t c;
	size_t i, n;

	for (i = 0; t->facts == 0 && i < t->n; i += n) {
		f |= EXPR_FACT_KNOWN;
		c = expr_code_at(t, i, &n);
		if (c < 0x80)
			continue;
		if (expr_steps(ev, 1) == -1)
			return -1;
		if (c == 0x130 || c == 0x131 || c == 0x17F || c == 0x212A ||
		    c == 0x345)
			f |= EXPR_FACT_FOLD;
		category = unicode_category(c);
		if (unicode_changed(c))
			f |= EXPR_FACT_CHANGED;
		else if (category[0] == 'L' || category[0] == 'N')
			f |= EXPR_FACT_WORD;
	}
	*out = f;
	if (!t->constant)
		t->facts = (uint8_t)f;
	return 0;
}

/* Declines if the translated pattern could differ from Python's here. */
static int
check_subject(struct eval *ev, const struct pattern *p, struct text *t)
{
	unsigned f = 0;

	if (p->t.taboo != 0 && !p->ascii && facts(ev, t, &f) == -1)
		return -1;
	if (f & p->t.taboo)
		return expr_decline(ev, "this regular expression for "
		    "this text");
	return 0;
}

/* True if a compiled pattern can be used again for this text. */
static bool
is_usable(const struct pattern *p, struct str source, int64_t flags,
    enum expr_match how, struct text *t)
{
	return p->flags == flags && p->how == how &&
	    str_eq(p->source, source) && p->ascii == expr_ascii(t) &&
	    (!p->t.dollar || p->newline == ends_line(t));
}

static struct pattern *
compile(struct eval *ev, struct text *source, int64_t flags,
    enum expr_match how, struct text *t)
{
	struct str s = { source->p, source->n };
	struct pattern *p;
	struct err e;
	size_t i, before;

	if (ev->patterns == NULL) {
		ev->patterns = expr_alloc(ev, EXPR_RES_MAX * sizeof(*p));
		if (ev->patterns == NULL)
			return NULL;
	}
	for (i = 0; i < ev->npatterns; i++)
		if (is_usable(&ev->patterns[i], s, flags, how, t))
			return check_subject(ev, &ev->patterns[i], t) == -1 ?
			    NULL : &ev->patterns[i];
	if (i == EXPR_RES_MAX) {
		expr_decline(ev, "more than %d patterns", EXPR_RES_MAX);
		return NULL;
	}
	p = &ev->patterns[i];
	*p = (struct pattern){ .source = s, .flags = flags, .how = how,
		.ascii = expr_ascii(t), .newline = ends_line(t) };
	if (expr_translate(ev, source, flags, how, t, &p->t) == -1 ||
	    check_subject(ev, p, t) == -1)
		return NULL;
	before = ev->arena->used;
	p->re = re_compile(ev->arena, (struct str){ p->t.out.p,
	    p->t.out.n }, &e);
	if (p->re == NULL) {
		expr_decline(ev, "unsupported regular expression");
		return NULL;
	}
	re_limit(p->re, ev->expr->budget);
	if (charge(ev, before) == -1 || expr_steps(ev, 1000 + p->t.weight *
	    16) == -1)
		return NULL;
	ev->npatterns++;
	return p;
}

/* The match at or after `from`, for Python's groups: 1, 0, -1. */
static int
match_at(struct eval *ev, struct pattern *p, struct text *t, size_t from,
    struct re_span *out)
{
	struct re_span all[2 * EXPR_GROUPS_MAX + 1];
	size_t before = ev->arena->used, i;
	bool yes = re_match(p->re, (struct str){ t->p, t->n }, from, all,
	    COUNTOF(all));

	if (charge(ev, before) == -1 || expr_bytes(ev, ((yes ? all[0].end :
	    t->n) - from) * (1 + p->t.weight / 2)) == -1)
		return -1;
	if (!yes)
		return 0;
	out[0] = all[0];
	for (i = 0; i < p->t.nmarks; i++)
		if (all[p->t.marks[i]].start != RE_UNSET)
			out[0].end = all[p->t.marks[i]].start;
	for (i = 1; i <= p->t.ngroups; i++)
		out[i] = all[p->t.group[i]];
	return 1;
}

/* Functions of the module. */

/* Checks that the first n arguments are texts, and reads the flags after. */
static int
read_args(struct eval *ev, const struct args *a, size_t n, int64_t *flags)
{
	const int64_t known = EXPR_FLAG_FOLD | EXPR_FLAG_LINES |
	    EXPR_FLAG_DOT_ALL;
	const struct value *v = a->n > n ? &a->v[n] : NULL;
	size_t i;

	for (i = 0; i < n; i++)
		if (a->v[i].kind != EXPR_STR)
			return expr_decline(ev, "arguments that are not texts");
	*flags = 0;
	if (a->nnamed == 1 && str_is(a->names[0], "flags") && v == NULL)
		v = &a->v[n];
	else if (a->nnamed > 0)
		return expr_decline(ev, "named arguments");
	if (v == NULL)
		return 0;
	if (v->kind != EXPR_FLAGS)
		return expr_decline(ev, "flags");
	*flags = v->u.i & ~(int64_t)EXPR_FLAG_UNICODE;
	return *flags & ~known ? expr_decline(ev, "flags") : 0;
}

static int
re_find(struct eval *ev, const struct args *a,
    struct value *out)
{
	struct match *m;
	struct pattern *p;
	struct text *t;
	int64_t flags;
	size_t before;
	bool yes;

	if (read_args(ev, a, 2, &flags) == -1)
		return -1;
	t = a->v[1].u.text;
	p = compile(ev, a->v[0].u.text, flags, (enum expr_match)a->variant, t);
	if (p == NULL || expr_bytes(ev, t->n * (1 + p->t.weight / 32)) == -1)
		return -1;
	before = ev->arena->used;
	yes = re_test(p->re, (struct str){ t->p, t->n });
	if (charge(ev, before) == -1)
		return -1;
	*out = expr_none();
	if (!yes)
		return 0;
	m = expr_alloc(ev, sizeof(*m));
	if (m == NULL)
		return -1;
	*m = (struct match){ p, t, NULL };
	out->kind = EXPR_MATCH;
	out->u.match = m;
	return 0;
}

/* A group as a text; `none` if it took no part. */
static int
group_text(struct eval *ev, const struct text *t, struct re_span s,
    struct value none, struct value *out)
{
	if (s.start == RE_UNSET) {
		*out = none;
		return 0;
	}
	return expr_sub(ev, t, s.start, s.end, out);
}

/* The groups as a tuple. */
static int
groups_tuple(struct eval *ev, const struct pattern *p, const struct text *t,
    const struct re_span *spans, struct value none, struct value *out)
{
	size_t n = p->t.ngroups, i;
	struct value *v = expr_alloc(ev, n * sizeof(*v));

	if (v == NULL)
		return -1;
	for (i = 0; i < n; i++)
		if (group_text(ev, t, spans[i + 1], none, &v[i]) == -1)
			return -1;
	return expr_seq(ev, EXPR_TUPLE, v, n, out);
}

/* The element of findall() for one match. */
static int
found(struct eval *ev, const struct pattern *p, const struct text *t,
    const struct re_span *spans, struct value *out)
{
	struct value none;

	if (p->t.ngroups == 0)
		return expr_sub(ev, t, spans[0].start, spans[0].end, out);
	if (expr_str(ev, STR(""), &none) == -1)
		return -1;
	if (p->t.ngroups == 1)
		return group_text(ev, t, spans[1], none, out);
	return groups_tuple(ev, p, t, spans, none, out);
}

/* A pattern of which all matches are found, one after the other. */
static struct pattern *
compile_all(struct eval *ev, struct text *source, int64_t flags,
    struct text *t)
{
	struct pattern *p = compile(ev, source, flags, EXPR_SEARCH, t);

	if (p == NULL)
		return NULL;
	if (p->t.nullable || (p->t.looped && p->t.ngroups > 0)) {
		expr_decline(ev, "all matches of this regular expression");
		return NULL;
	}
	return p;
}

enum { FINDALL, SPLIT };

static int
re_list(struct eval *ev, const struct args *a,
    struct value *out)
{
	struct re_span spans[EXPR_GROUPS_MAX + 1];
	struct value *v = NULL;
	size_t n = 0, cap = 0, at = 0;
	struct pattern *p;
	struct text *t;
	int64_t flags;
	int rc;

	if (read_args(ev, a, 2, &flags) == -1)
		return -1;
	t = a->v[1].u.text;
	p = compile_all(ev, a->v[0].u.text, flags, t);
	if (p == NULL)
		return -1;
	if (a->variant == SPLIT && p->t.ngroups > 0)
		return expr_decline(ev, "split() with groups");
	while ((rc = match_at(ev, p, t, at, spans)) == 1) {
		v = expr_grow(ev, v, n, &cap, sizeof(*v));
		if (v == NULL || (a->variant == SPLIT ?
		    expr_sub(ev, t, at, spans[0].start, &v[n++]) :
		    found(ev, p, t, spans, &v[n++])) == -1)
			return -1;
		at = spans[0].end;
	}
	if (rc == 0 && a->variant == SPLIT) {
		v = expr_grow(ev, v, n, &cap, sizeof(*v));
		if (v == NULL || expr_sub(ev, t, at, t->n, &v[n++]) == -1)
			return -1;
	}
	return rc == -1 ? -1 : expr_seq(ev, EXPR_LIST, v, n, out);
}

static int
re_sub(struct eval *ev, const struct args *a,
    struct value *out)
{
	struct re_span spans[EXPR_GROUPS_MAX + 1];
	struct sink s = { 0 };
	struct pattern *p;
	struct text *t;
	int64_t flags;
	size_t at = 0;
	int rc;

	if (read_args(ev, a, 3, &flags) == -1)
		return -1;
	t = a->v[1].u.text;
	if (memchr(t->p, '\\', t->n) != NULL)
		return expr_decline(ev, "replacement with an escape");
	t = a->v[2].u.text;
	p = compile_all(ev, a->v[0].u.text, flags, t);
	if (p == NULL)
		return -1;
	while ((rc = match_at(ev, p, t, at, spans)) == 1) {
		if (expr_put(ev, &s, (struct str){ t->p + at,
		    spans[0].start - at }) == -1 ||
		    expr_put_str(ev, &s, a->v[1]) == -1)
			return -1;
		at = spans[0].end;
	}
	if (rc == -1 || expr_put(ev, &s, (struct str){ t->p + at,
	    t->n - at }) == -1)
		return -1;
	return expr_take(ev, &s, out);
}

/* The argument after the texts is flags, but a limit for split and sub. */
static const struct builtin functions[] = {
	{ "search",    re_find, EXPR_SEARCH,      2, 3, true },
	{ "match",     re_find, EXPR_MATCH_START, 2, 3, true },
	{ "fullmatch", re_find, EXPR_MATCH_FULL,  2, 3, true },
	{ "findall",   re_list, FINDALL,          2, 3, true },
	{ "split",     re_list, SPLIT,            2, 2, true },
	{ "sub",       re_sub,  0,                3, 3, true },
};

static const struct {
	const char *name;
	int64_t value;
} flag_names[] = {
	{ "I", EXPR_FLAG_FOLD },    { "IGNORECASE", EXPR_FLAG_FOLD },
	{ "M", EXPR_FLAG_LINES },   { "MULTILINE",  EXPR_FLAG_LINES },
	{ "S", EXPR_FLAG_DOT_ALL }, { "DOTALL",     EXPR_FLAG_DOT_ALL },
	{ "U", EXPR_FLAG_UNICODE }, { "UNICODE",    EXPR_FLAG_UNICODE },
};

int
expr_re_attr(struct eval *ev, struct str name, struct value *out)
{
	size_t i;

	for (i = 0; i < COUNTOF(functions); i++)
		if (str_is(name, functions[i].name)) {
			*out = (struct value){ .kind = EXPR_BUILTIN };
			out->u.builtin = &functions[i];
			return 0;
		}
	for (i = 0; i < COUNTOF(flag_names); i++)
		if (str_is(name, flag_names[i].name)) {
			*out = (struct value){ .kind = EXPR_FLAGS };
			out->u.i = flag_names[i].value;
			return 0;
		}
	return expr_decline(ev, "re.%.*s", (int)(name.n < 60 ? name.n : 60),
	    name.p);
}

/* Methods of a match. */

/* Computes the offsets of the match and its groups, unless they are known. */
static int
find_spans(struct eval *ev, struct match *m)
{
	size_t n = m->pat->t.ngroups + 1;
	int rc;

	if (m->spans != NULL)
		return 0;
	m->spans = expr_alloc(ev, n * sizeof(*m->spans));
	if (m->spans == NULL)
		return -1;
	rc = match_at(ev, m->pat, m->text, 0, m->spans);
	return rc == 0 ? expr_decline(ev, "offset of the match") :
	    rc == -1 ? -1 : 0;
}

/* The number of a group, which is given by number or by name. */
static int
group_number(struct eval *ev, const struct match *m, struct value v,
    size_t *out)
{
	size_t n = m->pat->t.ngroups, i;

	*out = SIZE_MAX;
	if (EXPR_ISINT(v) && v.u.i >= 0 && (uint64_t)v.u.i <= n)
		*out = (size_t)v.u.i;
	for (i = 1; v.kind == EXPR_STR && i <= n; i++)
		if (v.u.text->n > 0 && str_eq(re_group_name(m->pat->re,
		    m->pat->t.group[i]), expr_bytes_of(v)))
			*out = i;
	if (*out == SIZE_MAX)
		return EXPR_ISINT(v) || v.kind == EXPR_STR ?
		    expr_raise(ev, "no such group") :
		    expr_decline(ev, "group of this type");
	if (*out > 0 && m->pat->t.looped)
		return expr_decline(ev, "repeated group");
	return 0;
}

static int
match_group(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct match *m = self.u.match;
	size_t k = 0;

	if (find_spans(ev, m) == -1 ||
	    (a->n > 0 && group_number(ev, m, a->v[0], &k) == -1))
		return -1;
	return group_text(ev, m->text, m->spans[k], expr_none(), out);
}

static int
match_groups(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct match *m = self.u.match;

	(void)a;
	if (m->pat->t.looped && m->pat->t.ngroups > 0)
		return expr_decline(ev, "repeated group");
	if (find_spans(ev, m) == -1)
		return -1;
	return groups_tuple(ev, m->pat, m->text, m->spans, expr_none(), out);
}

const struct method expr_re_methods[] = {
	{ "group",  EXPR_MATCH, match_group,  0, 0, 1 },
	{ "groups", EXPR_MATCH, match_groups, 0, 0, 0 },
	{ NULL,     EXPR_MATCH, NULL,         0, 0, 0 },
};

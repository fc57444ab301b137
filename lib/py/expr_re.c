/* SPDX-License-Identifier: ISC */
/*
 * The module re.  Whether there is a match is found first; where it and its
 * groups are only when somebody asks.
 */
#include "lib/py/expr_internal.h"

#include <string.h>

#include "lib/py/expr_unicode.h"
#include "lib/re/re.h"

/* A pattern compiled for texts of one sort. */
struct pattern {
	struct str source;
	int64_t flags;
	enum expr_match how;
	bool ascii, newline;	/* of the text */
	struct translation t;
	struct re *re;
};

struct match {
	struct pattern *pat;
	struct text *text;
	struct re_span *spans;	/* of Python's groups; NULL: not asked for */
};

/* Memory that re took from the arena counts as ours. */
static int
charge(struct eval *ev, size_t before)
{
	size_t n = ev->arena->used - before;

	if (n > ev->memory) {
		expr_decline(ev, "it takes more memory than an expression may");
		ev->err->code = ERR_LIMIT;
		return -1;
	}
	ev->memory -= n;
	return 0;
}

static bool
ends_line(const struct text *t)
{
	return t->n > 0 && t->p[t->n - 1] == '\n';
}

/* What there is beyond ASCII in a text. */
static int
facts(struct eval *ev, struct text *t, unsigned *out)
{
	unsigned f = EXPR_FACT_KNOWN, props;
	uint32_t c;
	size_t i, n;

	for (i = 0; t->facts == 0 && i < t->n; i += n) {
		n = utf8_get(t->p + i, t->p + t->n, &c);
		if (n == 0)
			return expr_decline(ev, "a text that is not UTF-8");
		if (c < 0x80)
			continue;
		if (c == 0x130 || c == 0x131 || c == 0x17F || c == 0x212A ||
		    c == 0x345)
			f |= EXPR_FACT_FOLD;
		if (expr_steps(ev, 1) == -1)
			return -1;
		if (expr_props(ev, c, &props) == -1) {
			if (ev->err->code == ERR_LIMIT)
				return -1;
			f |= EXPR_FACT_UNSURE;
		} else if (props & EXPR_UNI_WORD)
			f |= EXPR_FACT_WORD;
	}
	*out = t->facts != 0 ? t->facts : f;
	if (!t->fixed)
		t->facts = (uint8_t)*out;
	return 0;
}

/* Whether the pattern means the same for this text. */
static int
suits(struct eval *ev, const struct pattern *p, struct text *t)
{
	unsigned f = 0;

	if (p->t.taboo != 0 && !p->ascii && facts(ev, t, &f) == -1)
		return -1;
	if (f & p->t.taboo || (p->t.not_empty && t->n == 0))
		return expr_decline(ev, "such a pattern on such a text");
	return 0;
}

static bool
fits(const struct pattern *p, struct str source, int64_t flags,
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
		if (fits(&ev->patterns[i], s, flags, how, t))
			return suits(ev, &ev->patterns[i], t) == -1 ? NULL :
			    &ev->patterns[i];
	if (i == EXPR_RES_MAX) {
		expr_decline(ev, "more than %d patterns", EXPR_RES_MAX);
		return NULL;
	}
	p = &ev->patterns[i];
	*p = (struct pattern){ .source = s, .flags = flags, .how = how,
		.ascii = expr_ascii(t), .newline = ends_line(t) };
	if (expr_translate(ev, source, flags, how, t, &p->t) == -1 ||
	    suits(ev, p, t) == -1)
		return NULL;
	before = ev->arena->used;
	p->re = re_compile(ev->arena, (struct str){ p->t.out.p,
	    p->t.out.n }, &e);
	if (p->re == NULL) {
		expr_decline(ev, "a pattern like this");
		return NULL;
	}
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

/* Flags from place i on, or by name. */
static int
read_flags(struct eval *ev, const struct args *a, size_t i, int64_t *out)
{
	const struct value *v = NULL;

	*out = 0;
	if (a->n > i)
		v = &a->v[i];
	if (a->nnamed == 1 && str_is(a->names[0], "flags") && a->n == i)
		v = &a->v[a->n];
	else if (a->nnamed > 0)
		return expr_decline(ev, "such arguments");
	if (v == NULL)
		return 0;
	if (v->kind != EXPR_FLAGS && v->kind != EXPR_INT)
		return expr_decline(ev, "such flags");
	*out = v->u.i & ~(int64_t)EXPR_FLAG_UNICODE;
	return *out & ~(int64_t)(EXPR_FLAG_FOLD | EXPR_FLAG_LINES |
	    EXPR_FLAG_DOT_ALL) ? expr_decline(ev, "such flags") : 0;
}

/* Texts at the first n places, and one argument more at most. */
static int
texts(struct eval *ev, const struct args *a, size_t n, size_t max)
{
	size_t i;

	if (a->n < n || a->n > max)
		return expr_decline(ev, "such arguments");
	for (i = 0; i < n; i++)
		if (a->v[i].kind != EXPR_STR)
			return expr_decline(ev, "a pattern and no text");
	return 0;
}

static int
find(struct eval *ev, const struct args *a, enum expr_match how,
    struct value *out)
{
	struct match *m;
	struct pattern *p;
	struct text *t;
	int64_t flags;
	size_t before;
	bool yes;

	if (texts(ev, a, 2, 3) == -1 || read_flags(ev, a, 2, &flags) == -1)
		return -1;
	t = a->v[1].u.text;
	p = compile(ev, a->v[0].u.text, flags, how, t);
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

static int
re_search(struct eval *ev, const struct args *a, struct value *out)
{
	return find(ev, a, EXPR_SEARCH, out);
}

static int
re_match_start(struct eval *ev, const struct args *a, struct value *out)
{
	return find(ev, a, EXPR_MATCH_START, out);
}

static int
re_fullmatch(struct eval *ev, const struct args *a, struct value *out)
{
	return find(ev, a, EXPR_MATCH_FULL, out);
}

/* A group as a text, or what stands for none. */
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

/* What findall() gives for one match. */
static int
found(struct eval *ev, const struct pattern *p, const struct text *t,
    const struct re_span *spans, struct value *out)
{
	size_t n = p->t.ngroups, i;
	struct value *v, none;

	if (n == 0)
		return expr_sub(ev, t, spans[0].start, spans[0].end, out);
	if (expr_str(ev, STR(""), &none) == -1)
		return -1;
	if (n == 1)
		return group_text(ev, t, spans[1], none, out);
	v = expr_alloc(ev, n * sizeof(*v));
	if (v == NULL)
		return -1;
	for (i = 0; i < n; i++)
		if (group_text(ev, t, spans[i + 1], none, &v[i]) == -1)
			return -1;
	return expr_seq(ev, EXPR_TUPLE, v, n, out);
}

/* A pattern whose matches follow each other as in Python. */
static struct pattern *
compile_all(struct eval *ev, struct text *source, int64_t flags,
    struct text *t)
{
	struct pattern *p = compile(ev, source, flags, EXPR_SEARCH, t);

	if (p == NULL)
		return NULL;
	if (p->t.nullable || (p->t.looped && p->t.ngroups > 0)) {
		expr_decline(ev, "all matches of a pattern like this");
		return NULL;
	}
	return p;
}

static int
re_findall(struct eval *ev, const struct args *a, struct value *out)
{
	struct re_span spans[EXPR_GROUPS_MAX + 1];
	struct value *v = NULL;
	size_t n = 0, cap = 0, at = 0;
	struct pattern *p;
	struct text *t;
	int64_t flags;
	int rc;

	if (texts(ev, a, 2, 3) == -1 || read_flags(ev, a, 2, &flags) == -1)
		return -1;
	t = a->v[1].u.text;
	p = compile_all(ev, a->v[0].u.text, flags, t);
	if (p == NULL)
		return -1;
	while ((rc = match_at(ev, p, t, at, spans)) == 1) {
		v = expr_grow(ev, v, n, &cap, sizeof(*v));
		if (v == NULL || found(ev, p, t, spans, &v[n++]) == -1)
			return -1;
		at = spans[0].end;
	}
	return rc == -1 ? -1 : expr_seq(ev, EXPR_LIST, v, n, out);
}

static int
re_split(struct eval *ev, const struct args *a, struct value *out)
{
	struct re_span spans[EXPR_GROUPS_MAX + 1];
	struct value *v = NULL;
	size_t n = 0, cap = 0, at = 0, from = 0;
	struct pattern *p;
	struct text *t;
	int rc;

	if (texts(ev, a, 2, 2) == -1)
		return -1;
	if (a->nnamed > 0)
		return expr_decline(ev, "such arguments");
	t = a->v[1].u.text;
	p = compile_all(ev, a->v[0].u.text, 0, t);
	if (p == NULL)
		return -1;
	if (p->t.ngroups > 0)
		return expr_decline(ev, "a split with groups");
	do {
		rc = match_at(ev, p, t, at, spans);
		v = expr_grow(ev, v, n, &cap, sizeof(*v));
		if (rc == -1 || v == NULL || expr_sub(ev, t, from, rc == 1 ?
		    spans[0].start : t->n, &v[n++]) == -1)
			return -1;
		if (rc == 1)
			from = at = spans[0].end;
	} while (rc == 1);
	return expr_seq(ev, EXPR_LIST, v, n, out);
}

static int
re_sub(struct eval *ev, const struct args *a, struct value *out)
{
	struct re_span spans[EXPR_GROUPS_MAX + 1];
	struct sink s = { 0 };
	struct pattern *p;
	struct text *t;
	size_t at = 0;
	int rc;

	if (texts(ev, a, 3, 3) == -1)
		return -1;
	t = a->v[1].u.text;
	if (a->nnamed > 0 || memchr(t->p, '\\', t->n) != NULL)
		return expr_decline(ev, "such arguments");
	t = a->v[2].u.text;
	p = compile_all(ev, a->v[0].u.text, 0, t);
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

static int
re_escape(struct eval *ev, const struct args *a, struct value *out)
{
	static const char special[] = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f";
	struct sink s = { 0 };
	const struct text *t;
	size_t i;

	if (texts(ev, a, 1, 1) == -1 || a->nnamed > 0)
		return expr_decline(ev, "such arguments");
	t = a->v[0].u.text;
	for (i = 0; i < t->n; i++)
		if ((memchr(special, t->p[i], sizeof(special) - 1) != NULL &&
		    expr_put(ev, &s, STR("\\")) == -1) ||
		    expr_put(ev, &s, (struct str){ t->p + i, 1 }) == -1)
			return -1;
	return expr_steps(ev, t->n) == -1 ? -1 : expr_take(ev, &s, out);
}

static const struct builtin functions[] = {
	{ "search",    re_search,      false },
	{ "match",     re_match_start, false },
	{ "fullmatch", re_fullmatch,   false },
	{ "findall",   re_findall,     false },
	{ "split",     re_split,       false },
	{ "sub",       re_sub,         false },
	{ "escape",    re_escape,      false },
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

static int
spans(struct eval *ev, struct match *m)
{
	size_t n = m->pat->t.ngroups + 1;
	int rc;

	if (m->spans != NULL)
		return 0;
	m->spans = expr_alloc(ev, n * sizeof(*m->spans));
	if (m->spans == NULL)
		return -1;
	rc = match_at(ev, m->pat, m->text, 0, m->spans);
	return rc == 0 ? expr_decline(ev, "where the match is") :
	    rc == -1 ? -1 : 0;
}

/* The number of a group that an argument names. */
static int
group_number(struct eval *ev, const struct match *m, struct value v,
    size_t *out)
{
	size_t i;

	*out = SIZE_MAX;
	if (EXPR_ISINT(v) && v.u.i >= 0 &&
	    (uint64_t)v.u.i <= m->pat->t.ngroups)
		*out = (size_t)v.u.i;
	for (i = 1; v.kind == EXPR_STR && i <= m->pat->t.ngroups; i++)
		if (v.u.text->n > 0 && str_eq(re_group_name(m->pat->re,
		    m->pat->t.group[i]), (struct str){ v.u.text->p,
		    v.u.text->n }))
			*out = i;
	if (*out == SIZE_MAX)
		return EXPR_ISINT(v) || v.kind == EXPR_STR ?
		    expr_raise(ev, "no such group") :
		    expr_decline(ev, "such a group");
	if (*out > 0 && m->pat->t.looped)
		return expr_decline(ev, "a group that is repeated");
	return 0;
}

static int
match_group(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct match *m = self.u.match;
	struct value *v;
	size_t i, k;

	if (a->nnamed > 0)
		return expr_decline(ev, "such arguments");
	if (spans(ev, m) == -1)
		return -1;
	if (a->n == 0)
		return group_text(ev, m->text, m->spans[0], expr_none(), out);
	v = expr_alloc(ev, a->n * sizeof(*v));
	if (v == NULL)
		return -1;
	for (i = 0; i < a->n; i++)
		if (group_number(ev, m, a->v[i], &k) == -1 ||
		    group_text(ev, m->text, m->spans[k], expr_none(),
		    &v[i]) == -1)
			return -1;
	if (a->n > 1)
		return expr_seq(ev, EXPR_TUPLE, v, a->n, out);
	*out = v[0];
	return 0;
}

static int
match_groups(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct match *m = self.u.match;
	size_t n = m->pat->t.ngroups, i;
	struct value *v;

	if (a->nnamed > 0 || (m->pat->t.looped && n > 0))
		return expr_decline(ev, "such groups");
	v = expr_alloc(ev, n * sizeof(*v));
	if (v == NULL || spans(ev, m) == -1)
		return -1;
	for (i = 0; i < n; i++)
		if (group_text(ev, m->text, m->spans[i + 1], a->n > 0 ?
		    a->v[0] : expr_none(), &v[i]) == -1)
			return -1;
	return expr_seq(ev, EXPR_TUPLE, v, n, out);
}

/* Where a group begins and ends, in code points. */
static int
places(struct eval *ev, struct match *m, const struct args *a,
    struct value out[2])
{
	struct text before = { .p = m->text->p, .len = EXPR_UNKNOWN };
	size_t k = 0, i;

	if (a->nnamed > 0)
		return expr_decline(ev, "such arguments");
	if (spans(ev, m) == -1 ||
	    (a->n > 0 && group_number(ev, m, a->v[0], &k) == -1) ||
	    expr_bytes(ev, 2 * m->text->n) == -1)
		return -1;
	for (i = 0; i < 2; i++) {
		before.len = EXPR_UNKNOWN;
		before.n = i == 0 ? m->spans[k].start : m->spans[k].end;
		out[i] = expr_int(before.n == RE_UNSET ? -1 :
		    (int64_t)expr_len(&before));
	}
	return 0;
}

static int
match_start(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct value v[2];

	if (places(ev, self.u.match, a, v) == -1)
		return -1;
	*out = v[0];
	return 0;
}

static int
match_end(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct value v[2];

	if (places(ev, self.u.match, a, v) == -1)
		return -1;
	*out = v[1];
	return 0;
}

static int
match_span(struct eval *ev, struct value self, const struct args *a,
    struct value *out)
{
	struct value *v = expr_alloc(ev, 2 * sizeof(*v));

	if (v == NULL || places(ev, self.u.match, a, v) == -1)
		return -1;
	return expr_seq(ev, EXPR_TUPLE, v, 2, out);
}

const struct method expr_re_methods[] = {
	{ "group",  EXPR_MATCH, match_group,  0, EXPR_ARGS_MAX },
	{ "groups", EXPR_MATCH, match_groups, 0, 1 },
	{ "start",  EXPR_MATCH, match_start,  0, 1 },
	{ "end",    EXPR_MATCH, match_end,    0, 1 },
	{ "span",   EXPR_MATCH, match_span,   0, 1 },
	{ NULL,     EXPR_MATCH, NULL,         0, 0 },
};

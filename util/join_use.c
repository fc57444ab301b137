/* SPDX-License-Identifier: ISC */
/*
 * How words are used: a walk over tokens that knows which bracket is open.
 *
 * A word is a member after "." and "->", and where a struct declares it; a tag
 * after "struct", "union" and "enum".  The first word of a macro's argument is
 * used as the macro uses its parameter, which a walk over its body finds.
 */
#include "util/join.h"

#include <string.h>

enum { DEPTH = 200 };

struct walk {
	struct join *join;
	struct join_file *file;
	const struct join_macro *in;	/* the macro whose body is walked */
	struct level {
		char open;
		bool members;		/* of a struct: words are members */
		bool offset;		/* offsetof() */
		struct join_macro *macro;	/* whose arguments these are */
		size_t arg;
		bool start;		/* of an argument */
	} levels[DEPTH];
	size_t depth;
	struct join_visit visit;
};

static unsigned macro_use(struct join *, struct join_file *,
    struct join_macro *, size_t arg);

static struct join_macro *
macro_of(const struct join *j, const struct join_file *f, struct str name)
{
	const struct join_word *w = join_find(&f->macros, name);

	if (w == NULL)
		w = join_find(&j->header_macros, name);
	return w == NULL ? NULL : w->data;
}

/* The number of a parameter of the macro that is walked, or JOIN_PARAMS. */
static size_t
param_of(const struct join_macro *m, const struct join_token *t)
{
	size_t i;

	if (m == NULL || m->params == NULL)
		return JOIN_PARAMS;
	for (i = 0; i < m->nparams; i++) {
		const struct join_token *p = m->params + 2 * i;

		if (str_eq(join_text(p), join_text(t)) ||
		    (join_is(p, "...") && join_is(t, "__VA_ARGS__")))
			return i;
	}
	return JOIN_PARAMS;
}

static bool
after_tag_word(const struct join_token *t)
{
	return join_is(t, "struct") || join_is(t, "union") ||
	    join_is(t, "enum");
}

/* Whether a struct's body declares the word, rather than uses it as a type. */
static bool
declares_member(const struct level *l, const struct join_token *t)
{
	return l->members && !join_is(t - 1, ":") && t[1].n == 1 &&
	    strchr(";,[:)", *t[1].p) != NULL;
}

static unsigned
use_of(struct walk *w, const struct join_token *t)
{
	const struct level *l = &w->levels[w->depth];

	if (w->in != NULL && (join_is(t - 1, "##") || join_is(t + 1, "##") ||
	    join_is(t - 1, "#")))
		return JOIN_RAW;
	if (join_is(t - 1, ".") || join_is(t - 1, "->"))
		return JOIN_MEMBER;
	if (after_tag_word(t - 1))
		return JOIN_TAG;
	if (declares_member(l, t) || (l->offset && l->arg == 1 && l->start))
		return JOIN_MEMBER;
	if (l->macro != NULL && l->start)
		return macro_use(w->join, w->file, l->macro, l->arg);
	return JOIN_ORDINARY;
}

static void
open_bracket(struct walk *w, const struct join_token *t)
{
	const struct level *outer = &w->levels[w->depth];
	struct level *l;

	if (++w->depth == DEPTH)
		join_fail(w->file, t, "brackets are nested too deep", STR(""));
	l = &w->levels[w->depth];
	*l = (struct level){ .open = *t->p, .start = true };
	if (*t->p == '{')
		l->members = t[-1].kind == JOIN_WORD &&
		    (join_is(t - 1, "struct") || join_is(t - 1, "union") ||
		    join_is(t - 2, "struct") || join_is(t - 2, "union"));
	if (*t->p != '(' || t[-1].kind != JOIN_WORD) {
		l->members |= *t->p == '(' && outer->members;
		return;
	}
	l->macro = macro_of(w->join, w->file, join_text(t - 1));
	if (l->macro != NULL && l->macro->params == NULL)
		l->macro = NULL;
	l->offset = join_is(t - 1, "offsetof");
}

static void
punct(struct walk *w, const struct join_token *t)
{
	struct level *l = &w->levels[w->depth];

	switch (t->n == 1 ? *t->p : '\0') {
	case '(': case '[': case '{':
		l->start = false;
		open_bracket(w, t);
		return;
	case ')': case ']': case '}':
		if (w->depth == 0)
			join_fail(w->file, t, "a bracket was not open", STR(""));
		w->depth--;
		return;
	case ',':
		l->arg++;
		l->start = true;
		return;
	}
	l->start = false;
}

static void
token(struct walk *w, const struct join_token *t)
{
	if (t->kind == JOIN_PUNCT) {
		punct(w, t);
		return;
	}
	if (t->kind == JOIN_WORD)
		w->visit.fn(w->visit.ctx, t, use_of(w, t));
	w->levels[w->depth].start = false;
}

/* A directive: brackets within it are its own. */
static const struct join_token *
directive(struct walk *w, const struct join_token *t)
{
	const struct join_token *end = join_next_line(t);
	struct walk inner = { .join = w->join, .file = w->file,
	    .visit = w->visit };
	const struct join_word *m;

	if (join_is(t + 1, "include"))
		return end;
	if (join_is(t + 1, "define")) {
		m = join_find(w->file->header ? &w->join->header_macros :
		    &w->file->macros, join_text(t + 2));
		inner.in = m == NULL ? NULL : m->data;
	}
	for (t += 2; t < end; t++)
		token(&inner, t);
	return end;
}

void
join_visit(struct join *j, struct join_file *f, const struct join_token *from,
    const struct join_token *to, struct join_visit v)
{
	struct walk w = { .join = j, .file = f, .visit = v };
	const struct join_token *t = from;

	while (t < to && t->kind != JOIN_END)
		if (t->first && t->directive)
			t = directive(&w, t);
		else
			token(&w, t++);
}

/* The uses of the parameters in the body of a macro. */
struct params {
	struct join_macro *macro;
};

static void
add_use(void *ctx, const struct join_token *t, unsigned use)
{
	struct params *p = ctx;
	size_t i = param_of(p->macro, t);

	if (i < JOIN_PARAMS)
		p->macro->uses[i] |= use;
}

static unsigned
macro_use(struct join *j, struct join_file *f, struct join_macro *m, size_t arg)
{
	struct params p = { m };
	struct walk w = { .join = j, .file = f, .in = m,
	    .visit = { add_use, &p } };
	const struct join_token *t;

	if (!m->known) {
		m->known = true;
		for (t = m->body; t < m->end; t++)
			token(&w, t);
	}
	if (arg >= m->nparams)
		arg = m->nparams - 1;
	return m->uses[arg];
}

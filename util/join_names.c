/* SPDX-License-Identifier: ISC */
/* Which names a file defines for itself. */
#include "util/join.h"

#include <string.h>

/* Reads the parameters of the macro whose name is t. */
static void
read_params(const struct join_file *f, struct join_macro *m,
    const struct join_token *t)
{
	m->body = t + 1;
	if (!join_is(t + 1, "(") || t[1].lead > 0)
		return;
	m->params = t + 2;
	for (t += 2; !join_is(t, ")"); t++)
		m->nparams += !join_is(t, ",");
	if (m->nparams > JOIN_PARAMS || m->nparams == 0)
		join_fail(f, t, "a macro without or with too many parameters",
		    m->name);
	m->body = t + 1;
}

void
join_find_macros(struct join *j, struct join_file *f)
{
	struct join_words *words = f->header ? &j->header_macros : &f->macros;
	const struct join_token *t;
	struct join_macro *m;
	struct join_word *w;

	for (t = f->v; t->kind != JOIN_END; t++) {
		if (!t->first || !t->directive || !join_is(t + 1, "define"))
			continue;
		w = join_add(j, words, join_text(t + 2));
		m = NEW(&j->arena, struct join_macro);
		m->name = w->word;
		m->end = join_next_line(t);
		read_params(f, m, t + 2);
		/* of two definitions, that with parameters is walked */
		if (w->data == NULL || m->body < m->end)
			w->data = m;
	}
}

/* A search for definitions in a file. */
struct names {
	struct join *join;
	struct join_file *file;
};

static void
local(struct names *n, const struct join_token *t, unsigned bits)
{
	if (t->kind != JOIN_WORD)
		join_fail(n->file, t, "expected a name", join_text(t));
	join_add(n->join, &n->file->locals, join_text(t))->bits |= bits;
}

/* The token after the bracket that closes the one at t. */
static const struct join_token *
after_bracket(const struct join_token *t)
{
	int depth = 0;

	for (; t->kind != JOIN_END; t++) {
		if (t->kind != JOIN_PUNCT || t->directive)
			continue;
		if (strchr("([{", *t->p) != NULL)
			depth++;
		else if (strchr(")]}", *t->p) != NULL && --depth == 0)
			return t + 1;
	}
	return t;
}

static const struct join_token *
after_value(const struct join_token *t)
{
	while (t->kind != JOIN_END && !join_is(t, ";") && !join_is(t, ","))
		t = t->kind == JOIN_PUNCT && strchr("([{", *t->p) != NULL ?
		    after_bracket(t) : t + 1;
	return t;
}

static bool
calls_macro(const struct names *n, const struct join_token *t)
{
	return join_find(&n->join->header_macros, join_text(t)) != NULL ||
	    join_find(&n->file->macros, join_text(t)) != NULL;
}

/*
 * The name that is declared at a bracket, with `last` the word before it: that
 * word, or the word in (*NAME)
 */
static const struct join_token *
name_at(const struct join_token *t, const struct join_token *last)
{
	if (!join_is(t, "(") || !join_is(t + 1, "*"))
		return last;
	for (t++; join_is(t, "*") || join_is(t, "const"); t++)
		;
	return t;
}

/* The names of a declaration that begins with static or typedef. */
static void
declaration(struct names *n, const struct join_token *t)
{
	const struct join_token *last = NULL;
	bool named = false;

	for (t++; t->kind != JOIN_END; ) {
		if (join_is(t, "__attribute__")) {
			t = after_bracket(t);
		} else if (t->kind == JOIN_WORD) {
			last = t++;
		} else if (join_is(t, "(") && calls_macro(n, last)) {
			t = after_bracket(t);
		} else if (join_is(t, "{")) {
			if (named)
				return;		/* the body of a function */
			t = after_bracket(t);
		} else if (join_is(t, "(") || join_is(t, "[")) {
			if (!named)
				local(n, name_at(t, last), JOIN_ORDINARY);
			named = true;
			t = after_bracket(t);
		} else if (join_is(t, "=") || join_is(t, ",") ||
		    join_is(t, ";")) {
			if (!named)
				local(n, last, JOIN_ORDINARY);
			t = after_value(t);
			if (join_is(t, ";"))
				return;
			named = false;
			t++;
		} else {
			t++;
		}
	}
}

/* The enumerators of the body at t. */
static void
enumerators(struct names *n, const struct join_token *t)
{
	const struct join_token *end = after_bracket(t) - 1;
	bool start = true;

	for (t++; t < end; t++) {
		if (t->directive)
			continue;
		if (start)
			local(n, t, JOIN_ORDINARY);
		start = join_is(t, ",");
		if (join_is(t, "("))
			t = after_bracket(t) - 1;
	}
}

static void
type(struct names *n, const struct join_token *t)
{
	const struct join_token *tag = t[1].kind == JOIN_WORD ? t + 1 : NULL;
	const struct join_token *body = tag == NULL ? t + 1 : tag + 1;

	if (!join_is(body, "{"))
		return;
	if (tag != NULL)
		local(n, tag, JOIN_TAG);
	if (join_is(t, "enum"))
		enumerators(n, body);
}

/*
 * How the headers that a file includes, directly or not, use a word: as a tag,
 * or as a macro that others define.
 */
static unsigned
header_uses(const struct join_file *f, struct str word)
{
	const struct join_word *w;
	unsigned uses = 0;
	size_t i;

	for (i = 0; i < f->nincludes; i++) {
		w = join_find(&f->includes[i]->locals, word);
		uses |= header_uses(f->includes[i], word);
		if (w != NULL)
			uses |= w->bits;
	}
	return uses;
}

/* "PREFIX_##param" makes names that cannot get another ending. */
static void
keep_pasted(struct names *n, const struct join_token *t)
{
	struct join_words *locals = &n->file->locals;
	struct str part = join_text(t - 1);
	size_t i;

	for (i = 0; i < locals->cap; i++)
		if (locals->v[i].word.p != NULL &&
		    str_starts(locals->v[i].word, part))
			locals->v[i].bits = 0;
}

static void
keep_string(void *ctx, const struct join_token *t, unsigned use)
{
	struct names *n = ctx;
	struct join_word *w = join_find(&n->file->locals, join_text(t));

	if (w != NULL && (use & JOIN_RAW) != 0)
		w->bits &= ~use;
}

/* Removes the names that have to stay as they are. */
static void
keep(struct names *n)
{
	struct join_words *locals = &n->file->locals;
	const struct join_token *t;
	size_t i;

	for (i = 0; i < locals->cap; i++)
		if (locals->v[i].word.p != NULL)
			locals->v[i].bits &= ~header_uses(n->file,
			    locals->v[i].word);
	for (t = n->file->v; t->kind != JOIN_END; t++)
		if (join_is(t, "##"))
			keep_pasted(n, t);
	join_visit(n->join, n->file, n->file->v, n->file->v + n->file->n,
	    (struct join_visit){ keep_string, n });
}

/* The tags and conditions of a header. */
static void
header_names(struct names *n)
{
	const struct join_token *t;
	bool condition = false;

	for (t = n->file->v; t->kind != JOIN_END; t++) {
		if (t->first)
			condition = t->directive && (join_is(t + 1, "if") ||
			    join_is(t + 1, "ifdef") || join_is(t + 1, "ifndef"));
		if (t->kind != JOIN_WORD)
			continue;
		if (condition)
			local(n, t, JOIN_ORDINARY);
		else if (join_is(t - 1, "struct") || join_is(t - 1, "union") ||
		    join_is(t - 1, "enum"))
			local(n, t, JOIN_TAG);
	}
}

void
join_find_locals(struct join *j, struct join_file *f)
{
	struct names n = { j, f };
	const struct join_token *t;
	int depth = 0;

	if (f->header) {
		header_names(&n);
		return;
	}
	for (t = f->v; t->kind != JOIN_END; t++) {
		if (t->directive) {
			if (t->first && join_is(t + 1, "define"))
				local(&n, t + 2, JOIN_ORDINARY);
			continue;
		}
		if (join_is(t, "{"))
			depth++;
		else if (join_is(t, "}"))
			depth--;
		else if (join_is(t, "struct") || join_is(t, "union") ||
		    join_is(t, "enum"))
			type(&n, t);
		else if (depth == 0 && (join_is(t, "static") ||
		    join_is(t, "typedef")))
			declaration(&n, t);
	}
	if (depth != 0)
		join_fail(f, NULL, "braces are not balanced", STR(""));
	keep(&n);
}

/* SPDX-License-Identifier: ISC */
/*
 * Python texts that no version of Python accepts as an expression.  lib/py
 * declines them like everything that it does not know; this finds the common
 * mistakes with certainty, on machines without Python too.
 *
 * It reads tokens, not a grammar: strings, brackets, operators and words.  A
 * text with f-strings is left to Python, since versions read them differently.
 */
#include "grade/grader_internal.h"

#include <string.h>

enum { DEPTH_MAX = 200 };

struct scan {
	struct arena *arena;
	struct str text;
	size_t at;
	char open[DEPTH_MAX];	/* brackets that are not closed */
	size_t depth;
	struct str last;	/* the last token; empty after a string */
	bool unsure;		/* leave it to Python */
};

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

static bool
looking_at(const struct scan *s, const char *what)
{
	return str_starts((struct str){ s->text.p + s->at, s->text.n - s->at },
	    str_of(what));
}

/* A string, from its quote on; false if it has no end. */
static bool
skip_string(struct scan *s)
{
	char quote = s->text.p[s->at];
	const char *three = quote == '"' ? "\"\"\"" : "'''";
	bool tripled = looking_at(s, three);

	for (s->at += tripled ? 3 : 1; s->at < s->text.n; s->at++) {
		if (s->text.p[s->at] == '\\') {
			s->at++;
		} else if (tripled && looking_at(s, three)) {
			s->at += 3;
			return true;
		} else if (!tripled && s->text.p[s->at] == quote) {
			s->at++;
			return true;
		} else if (!tripled && s->text.p[s->at] == '\n')
			return false;
	}
	return false;
}

static const char *
bracket(struct scan *s, char c)
{
	static const char pairs[] = "()[]{}";
	const char *p = strchr(pairs, c);

	s->at++;
	s->last = STR("");
	if ((p - pairs) % 2 == 0) {
		if (s->depth == DEPTH_MAX)
			s->unsure = true;
		else
			s->open[s->depth++] = c;
		s->last = (struct str){ p, 1 };
		return NULL;
	}
	if (s->depth == 0 || s->open[s->depth - 1] != p[-1])
		return arena_fmt(s->arena, "\"%c\" closes nothing", c).p;
	s->depth--;
	return NULL;
}

static const char *
word(struct scan *s)
{
	static const char *const statements[] = { "assert", "class", "def",
		"del", "for", "from", "global", "if", "import", "pass",
		"raise", "return", "try", "while", "with" };
	struct str w = { s->text.p + s->at, 0 };
	bool first = s->at == 0;
	size_t i;

	while (s->at < s->text.n && is_word(s->text.p[s->at]))
		s->at++;
	w.n = (size_t)(s->text.p + s->at - w.p);
	if (s->at < s->text.n && (s->text.p[s->at] == '"' ||
	    s->text.p[s->at] == '\'')) {	/* r"..." */
		s->unsure |= memchr(w.p, 'f', w.n) != NULL ||
		    memchr(w.p, 'F', w.n) != NULL ||
		    memchr(w.p, 't', w.n) != NULL;
		return NULL;
	}
	s->last = w;
	s->unsure |= str_is(w, "lambda");	/* it can have "=" */
	for (i = 0; first && i < COUNTOF(statements); i++)
		if (str_is(w, statements[i]))
			return arena_fmt(s->arena, "\"%s\" begins a "
			    "statement; write a condition",
			    statements[i]).p;
	return NULL;
}

static const char *
operator(struct scan *s)
{
	static const struct { const char *text, *why; } rows[] = {
		{ "&&", "\"&&\" is not Python; write \"and\"" },
		{ "||", "\"||\" is not Python; write \"or\"" },
		{ "===", "\"===\" is not Python; write \"==\"" },
		{ "!==", "\"!==\" is not Python; write \"!=\"" },
		{ "==", NULL }, { "!=", NULL }, { "<=", NULL }, { ">=", NULL },
		{ ":=", NULL },
		{ "!", "\"!\" is not Python; write \"not\"" },
		{ "?", "\"?\" is not Python; write \"A if CONDITION else "
		    "B\"" },
		{ "$", "\"$\" is not Python" },
		{ "`", "\"`\" is not Python" },
	};
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		if (looking_at(s, rows[i].text)) {
			s->last = str_of(rows[i].text);
			s->at += s->last.n;
			return rows[i].why;
		}
	s->last = (struct str){ s->text.p + s->at++, 1 };
	return s->last.p[0] == '=' && s->depth == 0 ?
	    "\"=\" assigns; write \"==\" to compare" : NULL;
}

/* The message about a text that ends too early, or NULL. */
static const char *
end(struct scan *s)
{
	static const char *const words[] = { "and", "else", "if", "in", "is",
		"not", "or", "+", "-", "*", "/", "%", "<", ">", "|", "&", "^",
		"~", "==", "!=", "<=", ">=" };
	size_t i;

	if (s->depth > 0)
		return arena_fmt(s->arena, "\"%c\" is not closed",
		    s->open[s->depth - 1]).p;
	for (i = 0; i < COUNTOF(words); i++)
		if (str_is(s->last, words[i]))
			return arena_fmt(s->arena, "it ends after \"%s\"",
			    words[i]).p;
	return NULL;
}

const char *
code_mistake(struct arena *a, struct str text)
{
	struct scan s = { .arena = a, .text = str_trim(text) };
	const char *why = NULL;
	char c;

	while (s.at < s.text.n && why == NULL && !s.unsure) {
		c = s.text.p[s.at];
		if (strchr(" \t\r\n\f", c) != NULL)
			s.at++;
		else if (c == '#' || c == '\\')
			return NULL;
		else if (c == '"' || c == '\'') {
			if (!skip_string(&s))
				why = "a string has no end";
			s.last = STR("");
		} else if (strchr("()[]{}", c) != NULL)
			why = bracket(&s, c);
		else
			why = is_word(c) ? word(&s) : operator(&s);
	}
	if (s.unsure)
		return NULL;
	return why != NULL ? why : end(&s);
}

/* SPDX-License-Identifier: ISC */
/* Tokens of C.  White space and comments belong to the token after them. */
#include "util/join.h"

#include <string.h>

struct str
join_text(const struct join_token *t)
{
	return (struct str){ t->p, t->n };
}

bool
join_is(const struct join_token *t, const char *s)
{
	return str_is(join_text(t), s);
}

static bool
in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	    (c >= '0' && c <= '9');
}

/* Skips white space and comments; *line is set if a line ends there. */
static const char *
skip(const char *p, bool *line)
{
	for (;;) {
		if (p[0] == '\\' && p[1] == '\n') {
			p += 2;
		} else if (p[0] == '/' && p[1] == '*') {
			p = strstr(p + 2, "*/");
			if (p == NULL)
				return "";
			p += 2;
		} else if (p[0] == '/' && p[1] == '/') {
			p += strcspn(p, "\n");
		} else if (*p != '\0' && strchr(" \t\n\f", *p) != NULL) {
			*line |= *p++ == '\n';
		} else {
			return p;
		}
	}
}

static const char *
quoted(const char *p)
{
	char quote = *p++;

	while (*p != quote && *p != '\0' && *p != '\n')
		p += p[0] == '\\' && p[1] != '\0' ? 2 : 1;
	return *p == quote ? p + 1 : p;
}

static const char *
number(const char *p)
{
	while (in_word(*p) || *p == '.' || ((*p == '+' || *p == '-') &&
	    strchr("eEpP", p[-1]) != NULL))
		p++;
	return p;
}

static const char *
punct(const char *p)
{
	static const char *const longer[] = { "...", "->", "##" };
	size_t i;

	for (i = 0; i < COUNTOF(longer); i++)
		if (strncmp(p, longer[i], strlen(longer[i])) == 0)
			return p + strlen(longer[i]);
	return p + 1;
}

/* The end of the token at p. */
static const char *
token(const char *p, enum join_kind *kind)
{
	if (*p >= '0' && *p <= '9') {
		*kind = JOIN_NUMBER;
		return number(p);
	}
	if (in_word(*p)) {
		*kind = JOIN_WORD;
		while (in_word(*p))
			p++;
		return p;
	}
	if (*p == '"' || *p == '\'') {
		*kind = JOIN_STRING;
		return quoted(p);
	}
	*kind = *p == '\0' ? JOIN_END : JOIN_PUNCT;
	return *kind == JOIN_END ? p : punct(p);
}

void
join_lex(struct join_file *f, struct str text)
{
	const char *p = text.p, *at, *end;
	struct buf tokens = { 0 };
	struct join_token t = { 0 };

	do {
		bool line = p == text.p;

		at = skip(p, &line);
		end = token(at, &t.kind);
		t.p = at;
		t.n = (uint32_t)(end - at);
		t.lead = (uint32_t)(at - p);
		t.first = line;
		t.directive = line ? *at == '#' : t.directive;
		buf_put(&tokens, (struct str){ (const char *)&t, sizeof(t) });
		p = end;
	} while (t.kind != JOIN_END);
	f->v = (void *)tokens.p;
	f->n = tokens.n / sizeof(t);
}

const struct join_token *
join_next_line(const struct join_token *t)
{
	do
		t++;
	while (t->kind != JOIN_END && !t->first);
	return t;
}

const struct join_token *
join_group_end(const struct join_file *f, const struct join_token *t)
{
	const struct join_token *begin = t;
	int depth = 0;

	for (; t->kind != JOIN_END; t++) {
		if (!t->first || !t->directive)
			continue;
		if (join_is(t + 1, "if") || join_is(t + 1, "ifdef") ||
		    join_is(t + 1, "ifndef"))
			depth++;
		else if (join_is(t + 1, "endif") && --depth == 0)
			return join_next_line(t);
	}
	join_fail(f, begin, "a conditional group without an end", STR(""));
	return t;
}

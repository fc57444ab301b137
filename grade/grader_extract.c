/* SPDX-License-Identifier: ISC */
/* See grader_extract.h. */
#include "grade/grader_extract.h"

#include <string.h>

#include "json.h"

struct search {
	struct arena *arena;
	struct str text;
	size_t fuel;		/* bytes that may still be read in vain */
	struct json *found;
	size_t n;		/* different ones */
	struct json *weak;	/* the same, of those that may be none */
	size_t nweak;
};

/* Bytes that may be read for each byte of text; and of text at least. */
enum { TRIES = 32, FEW = 1 << 16 };

/* A footnote [1], a box to be ticked [ ]: in a text they are seldom meant. */
static bool
is_weak(const struct json *v)
{
	int64_t n;

	if (v->type == JSON_OBJECT)
		return json_count(v) == 0;
	if (v->type != JSON_ARRAY)
		return false;
	for (v = json_first(v); v != NULL; v = v->next)
		if (v->type != JSON_NUMBER || !json_int(v, &n))
			return false;
	return true;
}

static void
note(struct json **found, size_t *n, struct json *v)
{
	if (*found == NULL || !json_equal(*found, v))
		(*n)++;
	if (*found == NULL)
		*found = v;
}

static void
take(struct search *s, struct json *v, bool whole)
{
	if (!whole && is_weak(v))
		note(&s->weak, &s->nweak, v);
	else
		note(&s->found, &s->n, v);
}

/* Reads a value at p; the bytes it takes, or 0. */
static size_t
try(struct search *s, const char *p, const char *end, bool whole)
{
	struct json_mem mem = { arena_hook, s->arena };
	struct arena_mark mark = arena_save(s->arena);
	struct str text = { p, (size_t)(end - p) };
	struct json_error e = { .msg = NULL };
	size_t used = text.n;
	struct json *v;

	v = whole ? json_read(&mem, text, 0, &e) :
	    json_read_prefix(&mem, text, 0, &used, &e);
	if (v != NULL) {
		take(s, v, whole);
		return used > 0 ? used : 1;
	}
	arena_restore(s->arena, mark);
	s->fuel -= e.off < s->fuel ? e.off : s->fuel;
	return 0;
}

/* The next line that begins with a fence, after blanks; NULL: none. */
static const char *
fence(const char *p, const char *end)
{
	const char *q;

	for (; p < end; p++) {
		for (q = p; q < end && (*q == ' ' || *q == '\t'); )
			q++;
		if (end - q >= 3 && memcmp(q, "```", 3) == 0)
			return q;
		p = memchr(p, '\n', (size_t)(end - p));
		if (p == NULL)
			break;
	}
	return NULL;
}

/* Objects and arrays anywhere between two places. */
static void
scan(struct search *s, const char *p, const char *end)
{
	size_t used;

	for (; p < end && s->fuel > 0 && s->n < 2; p += used) {
		used = *p == '{' || *p == '[' ? try(s, p, end, false) : 0;
		if (used == 0)
			used = 1;
	}
}

/* What is between fences, each as a whole; or all that is not, in parts. */
static void
by_fences(struct search *s, bool inside)
{
	const char *p = s->text.p, *end = p + s->text.n, *open, *body, *close;

	while (p < end) {
		open = fence(p, end);
		if (!inside)
			scan(s, p, open != NULL ? open : end);
		if (open == NULL)
			return;
		body = memchr(open, '\n', (size_t)(end - open));
		body = body != NULL ? body + 1 : end;
		close = fence(body, end);
		if (inside && body < end)
			try(s, body, close != NULL ? close : end, true);
		p = close != NULL ? memchr(close, '\n', (size_t)(end - close)) :
		    NULL;
		if (p == NULL)
			return;
		p++;
	}
}

struct json *
grader_extract(struct arena *a, struct str text, struct err *e)
{
	struct search s = { .arena = a, .text = text };

	s.fuel = TRIES * (text.n + FEW);
	if (text.n == 0)
		text.p = s.text.p = "";
	if (try(&s, text.p, text.p + text.n, true) > 0)
		return s.found;
	by_fences(&s, true);
	if (s.n == 0)
		by_fences(&s, false);
	if (s.n == 0 && fence(text.p, text.p + text.n) != NULL)
		scan(&s, s.text.p, s.text.p + s.text.n);
	if (s.n == 0) {
		s.n = s.nweak;
		s.found = s.weak;
	}
	if (s.n == 1 && s.fuel > 0)
		return s.found;
	if (s.fuel == 0)
		err_set(e, ERR_LIMIT,
		    "the output has too much that only looks like JSON");
	else
		err_set(e, ERR_SCHEMA, s.n == 0 ?
		    "the output has no JSON value in it" :
		    "the output has several different JSON values in it");
	return NULL;
}

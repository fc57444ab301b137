/* SPDX-License-Identifier: ISC */
/* Extracts the JSON value from an answer that also contains prose. */
#include "grade/grader_internal.h"

#include <string.h>

#include "json.h"

struct search {
	struct arena *arena;
	struct str text;
	size_t fuel;		/* bytes that failed attempts may still read */
	struct json *found;	/* the first value, */
	size_t n;		/* and the number of different ones */
	struct json *weak;	/* the same for values that may be markup */
	size_t nweak;
};

/* Fuel for each byte of text, and bytes added to its length. */
enum { TRIES = 32, FEW = 1 << 16 };

/* A footnote [1], a check box [ ], {}: in prose they are seldom JSON. */
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
add_value(struct json **found, size_t *n, struct json *v)
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
		add_value(&s->weak, &s->nweak, v);
	else
		add_value(&s->found, &s->n, v);
}

/* Reads a value at p; its length in bytes, or 0. */
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

/* The next code fence at the start of a line, or NULL. */
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

/* Reads all objects and arrays between p and end. */
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

/* Reads the content of each fence as one value, or scans the other text. */
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
grader_extract_json(struct arena *a, struct str text, struct err *e)
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
		    "the output contains too much text that only looks like "
		    "JSON");
	else
		err_set(e, ERR_SCHEMA, s.n == 0 ?
		    "the output contains no JSON value" :
		    "the output contains several different JSON values");
	return NULL;
}

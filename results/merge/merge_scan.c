/* SPDX-License-Identifier: ISC */
/*
 * merge_scan.c: reads JSON of any length in bounded memory.
 *
 * Objects and lists that the caller enters are passed through member by member.
 * Other values are found by their brackets and quotes, and are checked by the
 * parser that reads their text.
 */
#include "results/merge/merge_internal.h"

#include <string.h>

#include "base/os.h"
#include "json.h"

enum { KEY_MAX = 256 };

static int
cut_off(struct merge_scan *s)
{
	return err_set(s->err, ERR_SYNTAX, "%s: is cut off at byte %lld",
	    s->path, (long long)s->before + (long long)s->at);
}

static int
malformed(struct merge_scan *s)
{
	return err_set(s->err, ERR_SYNTAX, "%s: is not JSON at byte %lld",
	    s->path, (long long)s->before + (long long)s->at);
}

/* Reads the next block; 1, 0 at the end of the file, or -1. */
static int
fill(struct merge_scan *s)
{
	ssize_t n = os_read(s->fd, s->p, MERGE_BLOCK);

	if (n == -1)
		return err_sys(s->err, s->path);
	s->before += (int64_t)s->n;
	s->n = (size_t)n;
	s->at = 0;
	return n > 0;
}

/* Skips blanks; 0 at the end of the file. */
static int
skip(struct merge_scan *s)
{
	int rc;

	for (;;) {
		for (; s->at < s->n; s->at++)
			if (strchr(" \t\r\n", s->p[s->at]) == NULL ||
			    s->p[s->at] == '\0')
				return 1;
		rc = fill(s);
		if (rc != 1)
			return rc;
	}
}

int
merge_peek(struct merge_scan *s)
{
	int rc = skip(s);

	return rc == 1 ? (unsigned char)s->p[s->at] : rc == 0 ? cut_off(s) :
	    -1;
}

static int
expect(struct merge_scan *s, char c)
{
	int got = merge_peek(s);

	if (got == -1 || got != (unsigned char)c)
		return got == -1 ? -1 : malformed(s);
	s->at++;
	return 0;
}

int
merge_enter(struct merge_scan *s, char open)
{
	return expect(s, open);
}

int
merge_more(struct merge_scan *s, char close, bool *first)
{
	int c = merge_peek(s);

	if (c == -1)
		return -1;
	if (c == close) {
		s->at++;
		return 0;
	}
	if (!*first && expect(s, ',') == -1)
		return -1;
	*first = false;
	return 1;
}

int
merge_end(struct merge_scan *s)
{
	int rc = skip(s);

	return rc == 1 ? malformed(s) : rc;
}

/* A value between brackets or quotes, as far as this block has it. */
struct value {
	unsigned depth;
	bool quoted, escaped;
};

/* The bytes of the value in the block; sets *done if it ends there. */
static size_t
measure(const char *p, size_t n, struct value *v, bool *done)
{
	size_t i;

	for (i = 0; i < n && !*done; i++) {
		if (v->quoted) {
			if (v->escaped)
				v->escaped = false;
			else if (p[i] == '\\')
				v->escaped = true;
			else if (p[i] == '"') {
				v->quoted = false;
				*done = v->depth == 0;
			}
		} else if (p[i] == '"')
			v->quoted = true;
		else if (p[i] == '{' || p[i] == '[')
			v->depth++;
		else if (p[i] == '}' || p[i] == ']')
			*done = v->depth <= 1 || --v->depth == 0;
	}
	return i;
}

/* A number or a word ends before the next punctuation. */
static size_t
measure_word(const char *p, size_t n, bool *done)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i] == ',' || p[i] == '}' || p[i] == ']' ||
		    p[i] == ' ' || p[i] == '\n' || p[i] == '\r' ||
		    p[i] == '\t') {
			*done = true;
			break;
		}
	return i;
}

int
merge_value(struct merge_scan *s, struct buf *out)
{
	int c = merge_peek(s), rc;
	bool done = false, word;
	struct value v = { 0 };
	size_t n;

	if (c == -1)
		return -1;
	word = strchr("{[\"", c) == NULL;
	if (word && strchr(",:}]", c) != NULL)
		return malformed(s);
	if (out != NULL)
		out->n = 0;
	for (;;) {
		n = word ? measure_word(s->p + s->at, s->n - s->at, &done) :
		    measure(s->p + s->at, s->n - s->at, &v, &done);
		if (out != NULL)
			buf_put(out, (struct str){ s->p + s->at, n });
		s->at += n;
		if (done)
			break;
		rc = fill(s);
		if (rc != 1)
			return rc == 0 ? cut_off(s) : -1;
	}
	if (out != NULL && out->full)
		return err_set(s->err, ERR_LIMIT, "%s: a value of more than "
		    "%d MiB", s->path, RESULT_LINE_MAX >> 20);
	return 0;
}

int
merge_key(struct merge_scan *s, struct buf *key)
{
	if (merge_peek(s) != '"')
		return s->err->code != ERR_NONE ? -1 : malformed(s);
	if (merge_value(s, key) == -1 || expect(s, ':') == -1)
		return -1;
	if (key->n > KEY_MAX + 2)	/* none that is looked for */
		key->n = KEY_MAX + 2;
	memmove(key->p, key->p + 1, key->n - 2);
	key->n -= 2;
	return 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * Prints messages of a server for people.
 *
 * The server is not trusted.  JSON output has no control bytes below 0x20;
 * other control characters, hidden ones and commands for CI systems are
 * escaped, which keeps the meaning as JSON.  A word is printed as it is if it
 * is plain, else as a JSON string.
 */
#include "cmd/client/client.h"

#include "json.h"
#include "lib/guard.h"

enum { VALUE_MAX = 400 };	/* bytes of a value on a line */

static bool
is_unsafe(uint32_t cp)
{
	return (cp >= 0x7F && cp < 0xA0) || guard_hidden(cp);
}

static void
put_escape(struct buf *b, uint32_t cp)
{
	if (cp < 0x10000)
		buf_fmt(b, "\\u%04x", (unsigned)cp);
	else
		buf_fmt(b, "\\u%04x\\u%04x",
		    (unsigned)(0xD800 + ((cp - 0x10000) >> 10)),
		    (unsigned)(0xDC00 + ((cp - 0x10000) & 0x3FF)));
}

/* Escapes what a terminal or a CI system obeys in the JSON from `from` on. */
static void
make_safe(struct buf *b, size_t from)
{
	struct buf old = { 0 };
	const char *p, *end, *run;
	uint32_t cp;
	size_t n;

	buf_put(&old, (struct str){ b->p + from, b->n - from });
	b->n = from;
	end = old.p + old.n;
	for (p = run = old.p; p < end; p += n) {
		n = utf8_get(p, end, &cp);
		if (n == 0)
			n = 1;		/* cannot happen: it is valid UTF-8 */
		else if (is_unsafe(cp)) {
			buf_put(b, (struct str){ run, (size_t)(p - run) });
			put_escape(b, cp);
			run = p + n;
		}
	}
	if (end > run)
		buf_put(b, (struct str){ run, (size_t)(end - run) });
	guard_output(b, from, GUARD_JSON);
	buf_free(&old);
}

void
client_put_json(struct buf *b, const struct json *v, unsigned indent)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = indent };
	size_t from = b->n;

	json_put(&o, v);
	make_safe(b, from);
}

static bool
is_plain(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '"' ||
		    s.p[i] == '\\' || s.p[i] == '#')
			return false;
	return s.n > 0;
}

/* Truncates the text from `from` on, with dots. */
static void
truncate_value(struct buf *b, size_t from)
{
	struct str s = { b->p + from, b->n - from };

	if (s.n <= VALUE_MAX)
		return;
	b->n = from + utf8_cut(s, VALUE_MAX).n;
	buf_puts(b, "...");
}

static void
put_word(struct buf *b, struct str s)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	size_t from = b->n;

	if (is_plain(s))
		buf_put(b, s);
	else {
		json_put_str(&o, s);
		make_safe(b, from);
	}
	truncate_value(b, from);
}

static void
put_value(struct buf *b, const struct json *v)
{
	size_t from = b->n;

	if (v->type == JSON_STRING) {
		put_word(b, json_text(v));
		return;
	}
	client_put_json(b, v, 0);
	truncate_value(b, from);
}

static void
put_pair(struct buf *b, const struct json *v)
{
	buf_putc(b, ' ');
	put_word(b, json_key(v));
	buf_putc(b, '=');
	put_value(b, v);
}

/* As in the example of seeds/003: only stage and progress. */
static void
put_progress(struct buf *b, const struct json *params)
{
	const struct json *stage = json_getc(params, "stage");
	const struct json *progress = json_getc(params, "progress");

	if (stage != NULL)
		put_pair(b, stage);
	if (progress != NULL) {
		put_pair(b, progress);
		buf_putc(b, '%');
	}
}

void
client_put_note(struct buf *b, struct str method, const struct json *params)
{
	const struct json *v;

	buf_putc(b, '[');
	put_word(b, method);
	buf_putc(b, ']');
	if (str_ends(method, STR("/generateFix/progress")))
		put_progress(b, params);
	else if (params != NULL && params->type == JSON_OBJECT)
		for (v = json_first(params); v != NULL; v = v->next)
			put_pair(b, v);
	else if (params != NULL) {
		buf_putc(b, ' ');
		put_value(b, params);
	}
	buf_putc(b, '\n');
}

bool
client_is_kind(const struct json *error, const char *kind, int number)
{
	const struct json *k = json_getc(json_getc(error, "data"), "kind");
	int64_t n;

	if (k != NULL && k->type == JSON_STRING)
		return str_is(json_text(k), kind);
	k = json_getc(error, "code");
	return k != NULL && json_int(k, &n) && n == number;
}

/* A message without the characters that are unfit for a line. */
static void
put_text(struct buf *b, struct str s)
{
	const char *p = s.p, *end = s.n > 0 ? s.p + s.n : s.p;
	size_t from = b->n, n;
	uint32_t cp = 0;

	for (; p < end; p += n) {
		n = utf8_get(p, end, &cp);
		if (n == 0 || cp < ' ' || is_unsafe(cp)) {
			buf_putc(b, cp == '\n' || cp == '\t' ? ' ' : '?');
			n = n == 0 ? 1 : n;
		} else
			buf_put(b, (struct str){ p, n });
	}
	truncate_value(b, from);
}

void
client_put_error(struct buf *b, const struct json *error)
{
	const struct json *message = json_getc(error, "message");
	const struct json *code = json_getc(error, "code");
	const struct json *data = json_getc(error, "data"), *v;

	if (message != NULL && message->type == JSON_STRING &&
	    json_text(message).n > 0)
		put_text(b, json_text(message));
	else
		buf_puts(b, "error without a message");
	if (code != NULL && code->type == JSON_NUMBER) {
		buf_puts(b, " (");
		put_value(b, code);
		buf_puts(b, ")");
	}
	buf_putc(b, '\n');
	for (v = json_first(data); v != NULL; v = v->next) {
		buf_puts(b, "  ");
		if (data->type == JSON_OBJECT) {
			put_word(b, json_key(v));
			buf_puts(b, ": ");
		}
		put_value(b, v);
		buf_putc(b, '\n');
	}
	if (data != NULL && data->type != JSON_NULL &&
	    data->type != JSON_OBJECT && data->type != JSON_ARRAY) {
		buf_puts(b, "  ");
		put_value(b, data);
		buf_putc(b, '\n');
	}
}

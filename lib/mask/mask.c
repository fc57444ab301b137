/* SPDX-License-Identifier: ISC */
/*
 * Masking secrets.
 *
 * One pass over the text, as an agent could fill it with secrets.  Secrets
 * that overlap are masked together, so that no part of one remains.
 */
#include "lib/mask/mask.h"

#include <stdbool.h>
#include <string.h>

#include "json.h"

enum { DEPTH = 2 * JSON_DEPTH };	/* we wrap values in further levels */

static const struct str stars = { "***", 3 };

static void
insert(struct arena *a, struct mask *m, struct str s)
{
	struct str *v;
	size_t i;

	for (i = 0; i < m->n; i++)
		if (str_eq(m->v[i], s))
			return;
	if (m->n == m->room) {
		m->room = m->room > 0 ? 2 * m->room : 8;
		v = NEW_N(a, struct str, m->room);
		if (m->n > 0)
			memcpy(v, m->v, m->n * sizeof(*v));
		m->v = v;
	}
	for (i = m->n++; i > 0 && m->v[i - 1].n < s.n; i--)
		m->v[i] = m->v[i - 1];
	m->v[i] = arena_str(a, s);
}

void
mask_add(struct arena *a, struct mask *m, struct str secret)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (secret.n < MASK_MIN)
		return;
	insert(a, m, secret);
	json_put_str(&o, secret);
	insert(a, m, (struct str){ b.p + 1, b.n - 2 });
	buf_free(&b);
}

/* The name is, say, KEY or ends in _KEY. */
bool
mask_is_name(struct str name)
{
	static const struct str words[] = { { "KEY", 3 }, { "TOKEN", 5 },
		{ "SECRET", 6 }, { "PASSWORD", 8 }, { "PASSWD", 6 },
		{ "CREDENTIALS", 11 } };
	size_t i, n;

	for (i = 0; i < COUNTOF(words); i++) {
		n = words[i].n;
		if (name.n < n || name.p[name.n - 1] != words[i].p[n - 1])
			continue;	/* most names, and there are many */
		if (str_ends(name, words[i]) && (name.n == n ||
		    name.p[name.n - n - 1] == '_'))
			return true;
	}
	return false;
}

void
mask_add_env(struct arena *a, struct mask *m, const char *const *env)
{
	struct str value;
	const char *end;

	for (; *env != NULL; env++) {
		end = strchr(*env, '=');
		if (end == NULL ||
		    !mask_is_name((struct str){ *env, (size_t)(end - *env) }))
			continue;
		value = str_of(end + 1);
		if (value.n >= MASK_ENV_MIN)
			mask_add(a, m, value);
	}
}

void
mask_add_forms(struct arena *a, struct mask *m, struct str text)
{
	struct str s;
	size_t at = 0;

	while ((s = mask_form(text, &at)).p != NULL)
		if (s.n >= MASK_ENV_MIN)
			mask_add(a, m, s);
}

/* The length of the longest secret at the start of the text, or 0. */
static size_t
secret_at(const struct mask *m, struct str text)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (str_starts(text, m->v[i]))
			return m->v[i].n;
	return 0;
}

/* The end of the secret at `at`, n bytes, and of all that overlap it. */
static size_t
end_of(const struct mask *m, struct str text, size_t at, size_t n)
{
	size_t end = at + n;

	while (++at < end) {
		n = secret_at(m, (struct str){ text.p + at, text.n - at });
		end = at + n > end ? at + n : end;
	}
	return end;
}

/* Replaces the values that mask_form() finds. */
static struct str
mask_forms(struct arena *a, struct str text)
{
	struct buf b = { 0 };
	size_t at = 0, from = 0;
	struct str s;

	while ((s = mask_form(text, &at)).p != NULL) {
		buf_put(&b, (struct str){ text.p + from,
		    (size_t)(s.p - text.p) - from });
		buf_put(&b, stars);
		from = at;
	}
	if (from == 0)
		return text;
	buf_put(&b, (struct str){ text.p + from, text.n - from });
	return arena_take(a, &b);
}

struct str
mask_text(struct arena *a, const struct mask *m, struct str text)
{
	bool first[256] = { false };
	struct buf b = { 0 };
	size_t i, n, from = 0;
	struct str out;

	if (m->forms)
		text = mask_forms(a, text);
	for (i = 0; i < m->n; i++)
		first[(unsigned char)m->v[i].p[0]] = true;
	for (i = 0; m->n > 0 && i < text.n; i++) {
		if (!first[(unsigned char)text.p[i]] || (n = secret_at(m,
		    (struct str){ text.p + i, text.n - i })) == 0)
			continue;
		buf_put(&b, (struct str){ text.p + from, i - from });
		buf_put(&b, stars);
		from = end_of(m, text, i, n);
		i = from - 1;
	}
	if (from == 0)
		return text;
	buf_put(&b, (struct str){ text.p + from, text.n - from });
	out = arena_str(a, buf_str(&b));
	buf_free(&b);
	return out;
}

static void put_masked(struct json_out *, struct arena *, const struct mask *,
    const struct json *);

static void
put_members(struct json_out *o, struct arena *a, const struct mask *m,
    const struct json *v)
{
	const bool object = v->type == JSON_OBJECT;

	json_open(o, object ? '{' : '[');
	for (v = json_first(v); v != NULL; v = v->next) {
		if (object)
			json_put_key(o, mask_text(a, m, json_key(v)));
		put_masked(o, a, m, v);
	}
	json_close(o, object ? '}' : ']');
}

static void
put_masked(struct json_out *o, struct arena *a, const struct mask *m,
    const struct json *v)
{
	struct str s;

	if (v->type == JSON_OBJECT || v->type == JSON_ARRAY)
		put_members(o, a, m, v);
	else if (v->type == JSON_STRING)
		json_put_str(o, mask_text(a, m, json_text(v)));
	else if (v->type == JSON_NUMBER && (s = json_text(v),
	    mask_text(a, m, s).p != s.p))
		json_put_str(o, stars);
	else
		json_put(o, v);
}

struct str
mask_json(struct arena *a, const struct mask *m, struct str json)
{
	struct arena tmp = { 0 };
	struct json_mem mem = { arena_hook, &tmp };
	struct str out = mask_text(a, m, json);
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct json_error e;
	const struct json *v;

	if (out.p == json.p && !m->forms)
		return json;
	v = json_read(&mem, json, DEPTH, &e);
	if (v != NULL) {
		put_masked(&o, &tmp, m, v);
		out = arena_str(a, buf_str(&b));
	}
	buf_free(&b);
	arena_free(&tmp);
	return out;
}

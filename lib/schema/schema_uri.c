/* SPDX-License-Identifier: ISC */
/* URI references and their resolution, RFC 3986 section 5. */
#include "lib/schema/schema_internal.h"

#include <string.h>

struct uri {
	struct str scheme, host, path, query, fragment;
	bool has_scheme, has_host, has_query;
};

static struct str
cut(struct str s, size_t from, size_t to)
{
	return (struct str){ s.p + from, to - from };
}

static size_t
until(struct str s, size_t i, const char *stops)
{
	while (i < s.n && (s.p[i] == '\0' || strchr(stops, s.p[i]) == NULL))
		i++;
	return i;
}

/* RFC 3986 appendix B. */
static struct uri
parse(struct str s)
{
	struct uri u;
	size_t i = 0, k;

	memset(&u, 0, sizeof(u));
	k = until(s, 0, ":/?#");
	if (k > 0 && k < s.n && s.p[k] == ':') {
		u.has_scheme = true;
		u.scheme = cut(s, 0, k);
		i = k + 1;
	}
	if (s.n - i >= 2 && s.p[i] == '/' && s.p[i + 1] == '/') {
		k = until(s, i + 2, "/?#");
		u.has_host = true;
		u.host = cut(s, i + 2, k);
		i = k;
	}
	k = until(s, i, "?#");
	u.path = cut(s, i, k);
	if (k < s.n && s.p[k] == '?') {
		i = k + 1;
		k = until(s, i, "#");
		u.has_query = true;
		u.query = cut(s, i, k);
	}
	if (k < s.n)
		u.fragment = cut(s, k + 1, s.n);
	return u;
}

/* Appends a path without "." and ".." segments (5.2.4). */
static void
put_path(struct buf *b, struct str path)
{
	size_t root = b->n, i = 0, end;
	struct str part;
	bool slash, last;

	while (i < path.n) {
		slash = path.p[i] == '/';
		end = until(path, i + slash, "/");
		part = cut(path, i + slash, end);
		last = end == path.n;
		if (str_is(part, "..")) {
			while (b->n > root && b->p[--b->n] != '/')
				;
			if (last)
				buf_putc(b, '/');
		} else if (str_is(part, ".")) {
			if (last && (slash || b->n > root))
				buf_putc(b, '/');
		} else {
			if (slash)
				buf_putc(b, '/');
			buf_put(b, part);
		}
		i = end;
	}
}

static struct str
merged(struct arena *a, const struct uri *base, struct str path)
{
	size_t n = base->path.n;

	if (base->has_host && n == 0)
		return arena_fmt(a, "/%.*s", STRF(path));
	while (n > 0 && base->path.p[n - 1] != '/')
		n--;
	return arena_fmt(a, "%.*s%.*s", (int)n, base->path.p, STRF(path));
}

static struct str
decode(struct arena *a, struct str s)
{
	char *out = arena_raw(a, s.n + 1, 1);
	size_t i, n = 0;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '%' && s.n - i > 2 &&
		    hex_digit(s.p[i + 1]) >= 0 && hex_digit(s.p[i + 2]) >= 0) {
			out[n++] = (char)(hex_digit(s.p[i + 1]) << 4 |
			    hex_digit(s.p[i + 2]));
			i += 2;
		} else
			out[n++] = s.p[i];
	}
	return (struct str){ out, n };
}

/* Section 5.2.2; a reference that is only a fragment keeps the base. */
static void
resolve(struct arena *a, const struct uri *base, struct uri *r)
{
	if (r->has_scheme)
		return;
	if (!r->has_host) {
		if (r->path.n == 0) {
			r->path = base->path;
			if (!r->has_query) {
				r->query = base->query;
				r->has_query = base->has_query;
			}
		} else if (r->path.p[0] != '/')
			r->path = merged(a, base, r->path);
		r->host = base->host;
		r->has_host = base->has_host;
	}
	r->scheme = base->scheme;
	r->has_scheme = base->has_scheme;
}

struct schema_ref
schema_uri_resolve(struct arena *a, struct str base, struct str ref)
{
	struct uri b = parse(base), r = parse(ref);
	struct schema_ref out;
	struct buf t = { 0 };

	out.fragment = decode(a, r.fragment);
	resolve(a, &b, &r);
	if (r.has_scheme) {
		buf_put(&t, r.scheme);
		buf_putc(&t, ':');
	}
	if (r.has_host) {
		buf_puts(&t, "//");
		buf_put(&t, r.host);
	}
	put_path(&t, r.path);
	if (r.has_query) {
		buf_putc(&t, '?');
		buf_put(&t, r.query);
	}
	out.uri = arena_str(a, buf_str(&t));
	buf_free(&t);
	return out;
}

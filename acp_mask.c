/* SPDX-License-Identifier: ISC */
/*
 * Secrets that an agent may repeat: it has our environment, and its errors
 * quote keys.  A variable is one by its name, and long enough that its value
 * does not stand in a text by chance.
 */
#include "acp.h"

#include <string.h>

enum { SECRET_MIN = 8 };

static const char *const names[] = {
	"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS",
};

/* NAME, or anything that ends in _NAME. */
static bool
is_secret(struct str name)
{
	struct str word;
	size_t i;

	for (i = 0; i < COUNTOF(names); i++) {
		word = str_of(names[i]);
		if (str_ends(name, word) && (name.n == word.n ||
		    name.p[name.n - word.n - 1] == '_'))
			return true;
	}
	return false;
}

void
acp_secrets(struct arena *a, const char *const *env, struct acp_secrets *out)
{
	struct str name, value;
	size_t i, n = 0;

	while (env[n] != NULL)
		n++;
	out->v = NEW_N(a, struct str, n);
	out->n = 0;
	for (i = 0; i < n; i++) {
		name = (struct str){ env[i], strcspn(env[i], "=") };
		if (env[i][name.n] == '\0')
			continue;
		value = str_of(env[i] + name.n + 1);
		if (value.n >= SECRET_MIN && is_secret(name))
			out->v[out->n++] = arena_str(a, value);
	}
}

/* The first place where one of them stands, and how long it is; else n. */
static size_t
next_secret(const struct acp_secrets *s, struct str text, size_t *len)
{
	size_t i, at = text.n;
	const char *p;

	*len = 0;
	for (i = 0; i < s->n; i++)
		for (p = text.p; p < text.p + at &&
		    (p = memchr(p, s->v[i].p[0], (size_t)(text.p + at - p))) !=
		    NULL; p++)
			if ((size_t)(text.p + text.n - p) >= s->v[i].n &&
			    memcmp(p, s->v[i].p, s->v[i].n) == 0) {
				at = (size_t)(p - text.p);
				*len = s->v[i].n;
				break;
			}
	return at;
}

struct str
acp_mask(struct arena *a, const struct acp_secrets *s, struct str text)
{
	struct buf b = { 0 };
	size_t at, len;
	struct str out;

	if (text.n == 0)
		return text;		/* p may be NULL */
	at = next_secret(s, text, &len);
	if (len == 0)
		return text;
	for (; len > 0; at = next_secret(s, text, &len)) {
		buf_put(&b, (struct str){ text.p, at });
		buf_puts(&b, "***");
		text.p += at + len;
		text.n -= at + len;
	}
	buf_put(&b, text);
	out = arena_str(a, buf_str(&b));
	buf_free(&b);
	return out;
}

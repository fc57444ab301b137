/* SPDX-License-Identifier: ISC */
/*
 * The file of recorded calls.  Several processes append to it at once: each
 * line is one write, which O_APPEND makes atomic on local file systems.
 */
#include "mock/mock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "lib/mask.h"

int
mock_log(const char *path, struct str line, struct err *e)
{
	struct buf b = { 0 };
	int rc, fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
	    0600);

	if (fd == -1)
		return err_sys(e, path);
	buf_put(&b, line);
	buf_putc(&b, '\n');
	rc = os_write_all(fd, buf_str(&b), e);
	buf_free(&b);
	os_close(&fd);
	return rc;
}

/* Words in the names of options whose values are secret. */
static const char *const secret_words[] = {
	"secret", "token", "password", "passwd", "credential", "api-key",
	"api_key", "key", "sig", "connection", "auth"
};

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool
contains(struct str s, const char *word)
{
	size_t i, k, n = strlen(word);

	for (i = 0; i + n <= s.n; i++) {
		for (k = 0; k < n && lower(s.p[i + k]) == word[k]; k++)
			;
		if (k == n)
			return true;
	}
	return false;
}

static bool
is_secret_name(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(secret_words); i++)
		if (contains(name, secret_words[i]))
			return true;
	return false;
}

bool
mock_is_secret(struct str name)
{
	static const char *const words[] = { "secret", "password", "passwd",
		"credential", "api-key", "api_key", "apikey", "authorization",
		"access_token", "accesstoken", "auth_token", "private-token" };
	size_t i;

	for (i = 0; i < COUNTOF(words); i++)
		if (contains(name, words[i]))
			return true;
	return false;
}

/* The length of the name of a header of HTTP with a secret value, or 0. */
static size_t
secret_header(struct str s)
{
	const char *colon = memchr(s.p, ':', s.n);
	struct str name = { s.p, colon == NULL ? 0 : (size_t)(colon - s.p) };

	return name.n > 0 && memchr(name.p, ' ', name.n) == NULL &&
	    name.n + 1 < s.n && colon[1] == ' ' && mock_is_secret(name) ?
	    name.n : 0;
}

void
mock_put_args(struct json_out *o, const char *const *argv,
    const char *const *env)
{
	struct arena a = { 0 };
	struct mask m = { 0 };
	const char *eq;
	struct str s, name;
	bool hide = false;

	mask_add_env(&a, &m, env);
	for (; *argv != NULL; argv++) {
		eq = strchr(*argv, '=');
		s = str_of(*argv);
		name = eq == NULL ? s : (struct str){ *argv,
			(size_t)(eq - *argv) };
		if (hide) {
			json_put_cstr(o, "[REDACTED]");
			hide = false;
		} else if (eq != NULL && is_secret_name(name))
			json_put_str(o, arena_fmt(&a, "%.*s=[REDACTED]",
			    STRF(name)));
		else if (secret_header(s) > 0)
			json_put_str(o, arena_fmt(&a, "%.*s: [REDACTED]",
			    (int)secret_header(s), s.p));
		else {
			hide = **argv == '-' && eq == NULL &&
			    is_secret_name(name);
			json_put_str(o, mask_text(&a, &m, s));
		}
	}
	arena_free(&a);
}

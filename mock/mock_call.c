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
#include "lib/mask/mask.h"

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

/* Options whose value is USER:PASSWORD. */
static bool
is_user_option(const char *arg)
{
	static const char *const names[] = { "-u", "-U", "--user",
		"--proxy-user" };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++)
		if (strcmp(arg, names[i]) == 0)
			return true;
	return false;
}

/* An argument as a text shows it: after the option that it belongs to. */
static struct str
in_context(struct arena *a, const char *const *argv, size_t i)
{
	char quote = strchr(argv[i], '\'') == NULL ? '\'' :
	    strchr(argv[i], '"') == NULL ? '"' : '`';

	return i > 0 && is_user_option(argv[i - 1]) ? arena_fmt(a, "%s %c%s",
	    argv[i - 1], quote, argv[i]) : str_of(argv[i]);
}

void
mock_add_secrets(struct arena *a, struct mask *m, const char *command,
    const char *const *argv, const char *const *env)
{
	struct str secret;
	size_t i;

	mask_add_env(a, m, env);
	for (i = 0; argv[i] != NULL; i++) {
		mask_add_forms(a, m, in_context(a, argv, i));
		secret = mask_argument(command, argv, i);
		if (secret.n >= MASK_ENV_MIN)
			mask_add(a, m, secret);
		if (i > 0 && argv[i - 1][0] == '-' &&
		    mock_is_secret(str_of(argv[i - 1])) &&
		    strlen(argv[i]) >= MASK_ENV_MIN)
			mask_add(a, m, str_of(argv[i]));
	}
}

/* The argument without what its form tells to be secret. */
static struct str
masked_arg(struct arena *a, const struct mask *m, const char *const *argv,
    size_t i)
{
	struct str s = in_context(a, argv, i), out = mask_text(a, m, s);
	size_t skip = s.n - strlen(argv[i]);

	return (struct str){ out.p + skip, out.n - skip };
}

void
mock_put_args(struct json_out *o, const char *command,
    const char *const *argv, const char *const *env)
{
	struct arena a = { 0 };
	struct mask m = { .forms = true };
	const char *eq;
	struct str s, name, secret;
	bool hide = false;
	size_t i;

	mock_add_secrets(&a, &m, command, argv, env);
	for (i = 0; argv[i] != NULL; i++) {
		eq = strchr(argv[i], '=');
		s = str_of(argv[i]);
		name = eq == NULL ? s : (struct str){ s.p,
			(size_t)(eq - s.p) };
		secret = mask_argument(command, argv, i);
		if (hide) {
			json_put_cstr(o, "[REDACTED]");
			hide = false;
		} else if (secret.n > 0)
			json_put_str(o, arena_fmt(&a, "%.*s***",
			    (int)(s.n - secret.n), s.p));
		else if (eq != NULL && is_secret_name(name))
			json_put_str(o, arena_fmt(&a, "%.*s=[REDACTED]",
			    STRF(name)));
		else if (secret_header(s) > 0)
			json_put_str(o, arena_fmt(&a, "%.*s: [REDACTED]",
			    (int)secret_header(s), s.p));
		else {
			hide = s.n > 0 && s.p[0] == '-' && eq == NULL &&
			    is_secret_name(name);
			json_put_str(o, masked_arg(&a, &m, argv, i));
		}
	}
	arena_free(&a);
}

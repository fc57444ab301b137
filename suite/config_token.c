/* SPDX-License-Identifier: ISC */
/*
 * The authentication token of peers.
 *
 * A token file that other users can read or write is refused.  Messages never
 * contain any part of the token.
 */
#include "suite/config_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"

/* A valid token fits an environment variable and a JSON string. */
static int
check_token(struct str s, const char *name, struct err *e)
{
	size_t i;

	if (s.n == 0)
		return err_set(e, ERR_SCHEMA, "%s: the token is empty",
		    name);
	if (s.n > CONFIG_TOKEN_MAX)
		return err_set(e, ERR_LIMIT,
		    "%s: the token is longer than %d bytes", name,
		    CONFIG_TOKEN_MAX);
	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7F)
			return err_set(e, ERR_SCHEMA, "%s: the token "
			    "contains a control character", name);
	if (!utf8_valid(s))
		return err_set(e, ERR_SCHEMA, "%s: the token is not UTF-8",
		    name);
	return 0;
}

static int
check_mode(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) == -1)
		return err_sys(e, path);
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return err_set(e, ERR_SCHEMA, "%s: not a file", path);
	if (st.st_mode & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH))
		return err_set(e, ERR_SCHEMA, "%s: other users can read or "
		    "write it (mode %04o); run chmod 600 on it and use a new "
		    "token", path, (unsigned)(st.st_mode & 07777));
	return 0;
}

/* Editors add one line break at the end. */
static struct str
without_line_break(struct str s)
{
	if (s.n > 0 && s.p[s.n - 1] == '\n')
		s.n--;
	if (s.n > 0 && s.p[s.n - 1] == '\r')
		s.n--;
	return s;
}

static int
read_token(struct arena *a, const char *path, struct str *out, struct err *e)
{
	int fd, r;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	while (fd == -1 && errno == EINTR);
	if (fd == -1)
		return err_sys(e, path);
	r = check_mode(fd, path, e);
	if (r == 0)
		r = os_read_fd(a, fd, path, CONFIG_TOKEN_MAX + 2, out, e);
	os_close(&fd);
	if (r == 0)
		*out = without_line_break(*out);
	return r == 0 ? check_token(*out, path, e) : -1;
}

int
config_token(struct arena *a, const struct config *c, struct str *token,
    const char **source, struct err *e)
{
	const char *from = NULL;
	int r = 0;

	*token = STR("");
	if (c->token_file.n > 0 && (c->file_token || c->env_token == NULL)) {
		from = c->token_file.p;
		r = read_token(a, from, token, e);
	} else if (c->env_token != NULL) {
		from = "WAZA_AUTH_TOKEN";
		*token = arena_str(a, str_of(c->env_token));
		r = check_token(*token, from, e);
	}
	if (r == -1)
		*token = STR("");
	if (source != NULL)
		*source = from;
	return r;
}

/* SPDX-License-Identifier: ISC */
/* The address of a server, and the stored connection. */
#include "cmd/client/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"

enum { STORED_MAX = 64 << 10 };	/* bytes of the file */

static bool
is_port(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n > 0 && n <= 5 && s[n] == '\0' && strtol(s, NULL, 10) <= 65535;
}

static int
unix_target(struct arena *a, const char *path, struct client_target *t,
    struct err *e)
{
	if (path[0] == '\0')
		return err_set(e, ERR_SCHEMA, "missing path of a socket");
	if (strchr(path, '\n') != NULL)
		return err_set(e, ERR_SCHEMA, "the path of a socket must "
		    "not contain a line break");
	t->path = t->name = os_absolute(a, path);
	return t->path == NULL ? err_sys(e, "working directory") : 0;
}

/* The host of "HOST:PORT" or "[IPv6]:PORT", up to the colon. */
static int
tcp_target(struct arena *a, const char *text, struct client_target *t,
    struct err *e)
{
	const char *colon = strrchr(text, ':');
	struct str host = { text, colon != NULL ? (size_t)(colon - text) : 0 };

	t->port = colon != NULL ? colon + 1 : text;
	if (!is_port(t->port) || strcspn(text, " \t\r\n/") != strlen(text))
		return err_set(e, ERR_SCHEMA, "\"%s\" is neither HOST:PORT "
		    "nor the path of a socket", text);
	if (host.n > 2 && host.p[0] == '[' && host.p[host.n - 1] == ']') {
		host.p++;
		host.n -= 2;
	} else if (memchr(host.p, ':', host.n) != NULL)
		return err_set(e, ERR_SCHEMA, "\"%s\": an IPv6 address "
		    "needs brackets: [::1]:9000", text);
	if (host.n == 0)
		host = STR("127.0.0.1");
	t->host = arena_cstr(a, host);
	t->port = arena_cstr(a, str_of(t->port));
	t->name = arena_fmt(a, memchr(host.p, ':', host.n) != NULL ?
	    "[%s]:%s" : "%s:%s", t->host, t->port).p;
	return 0;
}

/* The URL that a server prints for browsers works as well. */
static int
http_target(struct arena *a, const char *text, struct client_target *t,
    struct err *e)
{
	struct str s = str_of(text);

	if (s.n > 0 && s.p[s.n - 1] == '/')
		s.n--;
	return tcp_target(a, arena_cstr(a, s), t, e);
}

int
client_target(struct arena *a, const char *text, struct client_target *t,
    struct err *e)
{
	*t = (struct client_target){ 0 };
	if (strncmp(text, "unix://", 7) == 0)
		return unix_target(a, text + 7, t, e);
	if (strncmp(text, "unix:", 5) == 0)
		return unix_target(a, text + 5, t, e);
	if (strncmp(text, "tcp://", 6) == 0)
		return tcp_target(a, text + 6, t, e);
	if (strncmp(text, "tcp:", 4) == 0)
		return tcp_target(a, text + 4, t, e);
	if (strncmp(text, "http://", 7) == 0)
		return http_target(a, text + 7, t, e);
	if (strstr(text, "://") != NULL)
		return err_set(e, ERR_SCHEMA, "\"%s\": must be HOST:PORT "
		    "or the path of a socket", text);
	if (strchr(text, '/') != NULL ||
	    (strchr(text, ':') == NULL && !is_port(text)))
		return unix_target(a, text, t, e);
	return tcp_target(a, text, t, e);
}

/*
 * The stored connection.
 */
const char *
client_home(struct arena *a, struct err *e)
{
	const char *dir = getenv("WAZA_HOME"), *home = getenv("HOME");

	if (dir != NULL && dir[0] != '\0')
		return dir;
	if (home != NULL && home[0] != '\0')
		return arena_fmt(a, "%s/.waza", home).p;
	err_set(e, ERR_SYS, "cannot store a connection: neither WAZA_HOME nor "
	    "HOME is set");
	return NULL;
}

static const char *
stored_path(struct arena *a, struct err *e)
{
	const char *dir = client_home(a, e);

	return dir == NULL ? NULL : arena_fmt(a, "%s/connection", dir).p;
}

int
client_store(struct arena *a, const struct client_stored *s, struct err *e)
{
	const char *path = stored_path(a, e), *token = NULL;
	struct buf b = { 0 };
	int r;

	if (path == NULL)
		return -1;
	if (s->token_file != NULL) {
		token = os_absolute(a, s->token_file);
		if (token == NULL)
			return err_sys(e, s->token_file);
	}
	buf_fmt(&b, "%s\n", s->name);
	if (s->framing != NULL)
		buf_fmt(&b, "framing %s\n", s->framing);
	if (token != NULL)
		buf_fmt(&b, "token_file %s\n", token);
	r = os_replace_file(path, buf_str(&b), e);
	buf_free(&b);
	return r;
}

/* The value of a line that begins with this word; or NULL. */
static const char *
value_of(struct arena *a, struct str line, struct str word)
{
	if (!str_starts(line, word) || line.n <= word.n + 1 ||
	    line.p[word.n] != ' ')
		return NULL;
	return arena_cstr(a, (struct str){ line.p + word.n + 1,
	    line.n - word.n - 1 });
}

static void
read_line(struct arena *a, struct str line, struct client_stored *s)
{
	const char *v;

	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	if (line.n == 0)
		return;
	if (s->name == NULL) {
		s->name = arena_cstr(a, line);
		return;
	}
	if ((v = value_of(a, line, STR("framing"))) != NULL)
		s->framing = v;
	else if ((v = value_of(a, line, STR("token_file"))) != NULL)
		s->token_file = v;
}

int
client_load(struct arena *a, struct client_stored *s, struct err *e)
{
	const char *path = stored_path(a, e), *eol;
	struct str text, line;

	*s = (struct client_stored){ 0 };
	if (path == NULL)
		return -1;
	if (os_read_plain(a, path, STORED_MAX, &text, e) == -1)
		return e->code == ERR_SYS && (e->sys == ENOENT ||
		    e->sys == ENOTDIR) ? 0 : -1;
	while (text.n > 0) {
		eol = memchr(text.p, '\n', text.n);
		line = (struct str){ text.p, eol != NULL ?
		    (size_t)(eol - text.p) : text.n };
		read_line(a, line, s);
		text.p += line.n + (eol != NULL);
		text.n -= line.n + (eol != NULL);
	}
	return s->name != NULL;
}

int
client_forget(struct arena *a, struct err *e)
{
	const char *path = stored_path(a, e);

	if (path == NULL)
		return -1;
	if (unlink(path) == 0)
		return 1;
	return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(e, path);
}

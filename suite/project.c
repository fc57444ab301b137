/* SPDX-License-Identifier: ISC */
/*
 * Finds the project's file and decides whether it is read.  The ownership is
 * that of the open descriptor whose bytes are used.
 */
#include "suite/project.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "suite/config_internal.h"
#include "yaml_lite.h"

enum { STICKY = 01000 };		/* S_ISVTX, which only XSI has */

static const char name[] = ".waza.yaml";

/* Why others could have written it; NULL if they could not. */
static const char *
danger(struct arena *a, const char *what, const struct stat *st)
{
	unsigned mode = st->st_mode & 07777;
	bool others = mode & S_IWOTH || (mode & S_IWGRP &&
	    (uintmax_t)st->st_gid != (uintmax_t)st->st_uid);

	if (st->st_uid != 0 && st->st_uid != geteuid())
		return arena_fmt(a, "%s belongs to user %ju, not to you (user "
		    "%ju) or root", what, (uintmax_t)st->st_uid,
		    (uintmax_t)geteuid()).p;
	if (others && !S_ISLNK(st->st_mode) &&
	    !(S_ISDIR(st->st_mode) && mode & STICKY))
		return arena_fmt(a, "%s is writable by others (mode %04o)",
		    what, mode).p;
	return NULL;
}

static const char *
dir_danger(struct arena *a, const char *dir)
{
	struct stat st;
	const char *what = arena_fmt(a, "the directory %s", dir).p;

	if (stat(dir, &st) == -1)
		return arena_fmt(a, "%s: %s", what, strerror(errno)).p;
	return danger(a, what, &st);
}

/* The entry in its directory, and where it leads if it is a link. */
static const char *
link_danger(struct arena *a, const char *path)
{
	struct stat st;
	const char *why, *real;

	if (lstat(path, &st) == -1)
		return strerror(errno);
	if (!S_ISLNK(st.st_mode))
		return NULL;
	why = danger(a, "the link", &st);
	real = os_real(a, path);
	if (why != NULL || real == NULL)
		return why != NULL ? why : strerror(errno);
	return dir_danger(a, spec_dir_of(a, real));
}

/* Sets p->why unless nobody else could have written the open file. */
static void
inspect(struct arena *a, const char *dir, const struct stat *st,
    struct project *p)
{
	const char *last = spec_dir_of(a, p->path);

	p->why = danger(a, "it", st);
	if (p->why == NULL)
		p->why = link_danger(a, p->path);
	for (; p->why == NULL && dir != NULL; dir = spec_parent(a, dir)) {
		p->why = dir_danger(a, dir);
		if (strcmp(dir, last) == 0 || spec_same_dir(dir, last))
			return;
	}
}

static int
read_text(struct arena *a, const char *dir, struct project *p, struct err *e)
{
	int fd, r = -1;
	struct stat st;

	do
		fd = open(p->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC |
		    O_NOCTTY);
	while (fd == -1 && errno == EINTR);
	if (fd == -1 || fstat(fd, &st) == -1) {
		err_sys(e, p->path);
		if (lstat(p->path, &st) == 0)	/* a foreign file or link */
			inspect(a, dir, &st, p);
	} else {
		inspect(a, dir, &st, p);
		if (!S_ISREG(st.st_mode))
			err_set(e, ERR_SCHEMA, "%s: not a regular file",
			    p->path);
		else
			r = os_read_fd(a, fd, p->path, YAML_BYTES, &p->text,
			    e);
	}
	os_close(&fd);
	return r;
}

/* The path of the nearest file, or of the one that failed; NULL: none. */
static int
nearest(struct arena *a, const char *dir, const char **path, struct err *e)
{
	struct stat st;
	int i;

	for (i = 0; i < PROJECT_LEVELS && dir != NULL; i++) {
		*path = spec_join(a, dir, str_of(name));
		if (stat(*path, &st) == 0)
			return 0;
		if (errno != ENOENT && errno != ENOTDIR)
			return lstat(*path, &st) == 0 ? 0 : err_sys(e, *path);
		dir = spec_parent(a, dir);
	}
	*path = NULL;
	return 0;
}

/* WAZA_TRUST_PROJECT=1, for continuous integration. */
static bool
trusts_all(const struct config_sources *from)
{
	const char *v = config_getenv(from, "WAZA_TRUST_PROJECT");

	return from->trust || (v != NULL && (strcmp(v, "1") == 0 ||
	    strcmp(v, "true") == 0));
}

/* Looks the file up in the list. */
static void
look_up(struct arena *a, const struct config_sources *from, struct project *p)
{
	const struct json *list;
	struct err e = { 0 };
	struct str hash;

	if (project_list(a, from, &list, &e) == -1)
		p->unlisted = arena_str(a, str_of(e.msg)).p;
	else if (p->key != NULL &&
	    (hash = json_str(list, p->key)).n > 0) {
		if (str_is(hash, p->hash))
			p->state = PROJECT_TRUSTED;
		else
			p->changed = true;
	}
}

int
project_find(struct arena *a, const struct config_sources *from,
    struct project *p, struct err *e)
{
	const char *dir = from->dir != NULL ? from->dir : ".", *real;
	int r;

	*p = (struct project){ .state = PROJECT_NONE };
	r = nearest(a, dir, &p->path, e);
	if (r == -1 || p->path == NULL)
		return r;
	real = os_real(a, spec_dir_of(a, p->path));
	if (real != NULL)
		p->key = spec_join(a, real, str_of(name));
	r = read_text(a, dir, p, e);
	p->state = p->why != NULL ? PROJECT_FOREIGN : PROJECT_UNTRUSTED;
	if (r == -1)	/* another user must not stop us with a bad file */
		return p->why != NULL && !trusts_all(from) ? 0 : -1;
	sha256_hex(p->text, p->hash);
	if (trusts_all(from))
		p->state = PROJECT_TRUSTED;
	else
		look_up(a, from, p);
	return 0;
}

/* The word as a shell takes it. */
static struct str
shell_word(struct arena *a, const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,:=@%-";
	struct buf b = { 0 };

	if (*s != '\0' && *s != '-' && s[strspn(s, plain)] == '\0')
		return str_of(s);
	buf_puts(&b, *s == '-' ? "'./" : "'");
	for (; *s != '\0'; s++)
		if (*s == '\'')
			buf_puts(&b, "'\\''");
		else
			buf_putc(&b, *s);
	buf_putc(&b, '\'');
	return arena_take(a, &b);
}

void
project_warn(struct arena *a, const struct project *p, struct str keys,
    struct spec_notes *notes)
{
	struct spec_where at = { p->path, 0, 0 };
	const char *dir = p->path == NULL ? "." : spec_dir_of(a, p->path);
	struct buf b = { 0 };

	if (p->state == PROJECT_FOREIGN)
		buf_fmt(&b, "not read: %s%s", p->why, p->changed ?
		    "; it has changed since you trusted it" : "");
	else if (p->state == PROJECT_UNTRUSTED && keys.n > 0)
		buf_fmt(&b, "%s: %.*s ignored", p->changed ?
		    "changed since you trusted it" : "not trusted",
		    STRF(keys));
	else
		return;
	if (p->unlisted != NULL)
		buf_fmt(&b, " (%s)", p->unlisted);
	buf_puts(&b, "; if you trust this file, run \"waza config trust");
	if (strcmp(dir, ".") != 0)
		buf_fmt(&b, " %.*s", STRF(shell_word(a, dir)));
	buf_puts(&b, "\", or in CI set WAZA_TRUST_PROJECT=1");
	spec_note(notes, FIELD_WARNING, at, "%.*s", STRF(buf_str(&b)));
	buf_free(&b);
}

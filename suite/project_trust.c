/* SPDX-License-Identifier: ISC */
/*
 * The list of trusted files.  It must be the user's own: a list that others
 * can write is not used.
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

const char *
project_home(struct arena *a, const struct config_sources *from)
{
	const char *home = config_getenv(from, "WAZA_HOME");
	const char *dir = config_getenv(from, "HOME");

	if (home != NULL || dir == NULL)
		return home;
	return spec_join(a, dir, STR(".waza"));
}

static const char *
list_path(struct arena *a, const struct config_sources *from, struct err *e)
{
	const char *home = project_home(a, from);

	if (home != NULL)
		return spec_join(a, home, STR("trusted"));
	err_set(e, ERR_SYS, "no list of trusted files: neither WAZA_HOME nor "
	    "HOME is set");
	return NULL;
}

static int
check_list(const char *path, struct err *e)
{
	struct stat st;

	if (stat(path, &st) == -1)
		return err_sys(e, path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return err_set(e, ERR_SYS, "%s: belongs to user %ju",
		    path, (uintmax_t)st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e, ERR_SYS, "%s: is writable by others; "
		    "remove it", path);
	return 0;
}

int
project_list(struct arena *a, const struct config_sources *from,
    const struct json **list, struct err *e)
{
	const char *path = list_path(a, from, e);
	struct str text;

	*list = NULL;
	if (path == NULL)
		return -1;
	if (access(path, F_OK) == -1 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (check_list(path, e) == -1 || os_read_plain(a, path,
	    PROJECT_TRUSTED_MAX, &text, e) == -1)
		return -1;
	*list = arena_json(a, text, NULL);
	if (*list == NULL || (*list)->type != JSON_OBJECT)
		return err_set(e, ERR_SYNTAX, "%s: not a list of trusted "
		    "files; remove it", path);
	return 0;
}

/* Writes the list without the key, and with it if there is a hash. */
static int
write_list(struct arena *a, const struct config_sources *from,
    const struct json *list, struct str key, const char *hash, struct err *e)
{
	const char *path = list_path(a, from, e);
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b, .indent = 2 };
	const struct json *v;
	int r;

	if (path == NULL)
		return -1;
	json_open(&o, '{');
	for (v = json_first(list); v != NULL; v = v->next) {
		if (str_eq(json_key(v), key))
			continue;
		json_put_key(&o, json_key(v));
		json_put(&o, v);
	}
	if (hash != NULL) {
		json_put_key(&o, key);
		json_put_str(&o, str_of(hash));
	}
	json_close(&o, '}');
	buf_putc(&b, '\n');
	r = os_replace_file(path, buf_str(&b), e);
	buf_free(&b);
	return r;
}

/*
 * Waits for the lock, a file.  Its owner removes it at the end, so a lock on a
 * file that has no name any more is void.
 */
static int
lock_list(const char *path, struct err *e)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st = { .st_nlink = 0 };
	int fd = -1, r = os_make_dirs(path, 0700, false, e);

	while (r == 0 && st.st_nlink == 0) {
		os_close(&fd);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		    0600);
		while (fd != -1 && (r = fcntl(fd, F_SETLKW, &l)) == -1 &&
		    errno == EINTR)
			;
		if (fd == -1 || r == -1 || fstat(fd, &st) == -1)
			r = err_sys(e, path);
	}
	if (r == -1)
		os_close(&fd);
	return fd;
}

/*
 * Reads the list and writes it again, with the lock: two changes at the same
 * time are both kept.
 */
static int
change_list(struct arena *a, const struct config_sources *from,
    struct str key, const char *hash, struct err *e)
{
	const char *path = list_path(a, from, e);
	const struct json *list;
	int fd, r;

	if (path == NULL)
		return -1;
	path = arena_fmt(a, "%s.lock", path).p;
	if ((fd = lock_list(path, e)) == -1)
		return -1;
	r = project_list(a, from, &list, e);
	if (r == 0)
		r = write_list(a, from, list, key, hash, e);
	(void)unlink(path);
	os_close(&fd);
	return r;
}

int
project_trust(struct arena *a, const struct config_sources *from,
    const struct project *p, struct err *e)
{
	if (p->key == NULL || !utf8_valid(str_of(p->key)))
		return err_set(e, ERR_SCHEMA, "%s: its path is not UTF-8 "
		    "and cannot be listed; use --trust", p->path);
	return change_list(a, from, str_of(p->key), p->hash, e);
}

int
project_forget(struct arena *a, const struct config_sources *from,
    struct str key, struct err *e)
{
	const struct json *list;

	if (project_list(a, from, &list, e) == -1)
		return -1;
	if (list == NULL || json_get(list, key) == NULL)
		return err_set(e, ERR_SCHEMA, "%.*s is not trusted",
		    STRF(key));
	return change_list(a, from, key, NULL, e);
}

bool
project_hash(const char *path, char hex[SHA256_HEX])
{
	struct arena a = { 0 };
	struct str text;
	struct err e;
	bool ok = os_read_plain(&a, path, YAML_BYTES, &text, &e) == 0;

	if (ok)
		sha256_hex(text, hex);
	arena_free(&a);
	return ok;
}

/* SPDX-License-Identifier: ISC */
/*
 * The directory of entries.  KEY.json is one, and KEY.json. with letters
 * behind is one that was being written when its process died.
 */
#include "results/cache.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"

#define ENDING ".json"

/* True for ours, of which *whole are entries. */
static bool
is_ours(const char *name, bool *whole)
{
	size_t hex = strspn(name, "0123456789abcdef");

	*whole = hex == CACHE_KEY - 1 && strcmp(name + hex, ENDING) == 0;
	return *whole || (hex == CACHE_KEY - 1 &&
	    strncmp(name + hex, ENDING ".", sizeof(ENDING)) == 0);
}

struct json *
cache_get(struct arena *a, const char *dir, const char *key)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error je;
	struct json *v, *k;
	struct str text;
	struct err e;
	int64_t version;

	if (os_read_plain(a, arena_fmt(a, "%s/%s" ENDING, dir, key).p,
	    CACHE_ENTRY_MAX, &text, &e) == -1)
		return NULL;
	v = json_read(&mem, text, 0, &je);
	k = json_getc(v, "waza_cache");
	if (k == NULL || !json_int(k, &version) || version != 1)
		return NULL;
	k = json_getc(v, "key");
	return k != NULL && k->type == JSON_STRING &&
	    str_is(json_text(k), key) ? v : NULL;
}

static int
write_all(int fd, const char *tmp, const char *path, struct str text,
    struct err *e)
{
	int r = os_write_all(fd, text, e);

	if (close(fd) == -1 && r == 0)
		r = err_sys(e, path);
	if (r == 0 && rename(tmp, path) == -1)
		r = err_sys(e, path);
	if (r == -1)
		unlink(tmp);
	return r;
}

int
cache_put(const char *dir, const char *key, struct str entry, struct err *e)
{
	struct arena a = { 0 };
	const char *path = arena_fmt(&a, "%s/%s" ENDING, dir, key).p;
	char *tmp = arena_cstr(&a, arena_fmt(&a, "%s.XXXXXX", path));
	int fd = -1, r = -1;

	if (entry.n > CACHE_ENTRY_MAX)
		err_set(e, ERR_LIMIT, "an entry of more than %d MiB is not "
		    "kept", CACHE_ENTRY_MAX >> 20);
	else if (mkdir(dir, 0777) == -1 && errno != EEXIST)
		err_sys(e, dir);
	else if ((fd = mkstemp(tmp)) == -1)
		err_sys(e, dir);
	else {
		os_cloexec(fd);
		r = write_all(fd, tmp, path, entry, e);
	}
	arena_free(&a);
	return r;
}

static void
count(struct cache_stats *s, const char *path, const char *name)
{
	struct stat st;
	bool whole;

	if (!is_ours(name, &whole) || lstat(path, &st) == -1 ||
	    !S_ISREG(st.st_mode)) {
		s->others++;
		if (s->other[0] == '\0')
			snprintf(s->other, sizeof(s->other), "%s", name);
		return;
	}
	s->entries += whole;
	s->bytes += (uint64_t)st.st_size;
	if (s->oldest == 0 || st.st_mtime < s->oldest)
		s->oldest = (int64_t)st.st_mtime;
	if (st.st_mtime > s->newest)
		s->newest = (int64_t)st.st_mtime;
}

/* Calls fn with each name but the two that every directory has. */
static int
each(const char *dir, struct cache_stats *s,
    void (*fn)(struct cache_stats *, const char *path, const char *name),
    struct err *e)
{
	struct arena a = { 0 };
	struct dirent *d;
	DIR *dp = opendir(dir);

	if (dp == NULL)
		return errno == ENOENT ? 0 : err_sys(e, dir);
	while ((d = readdir(dp)) != NULL)
		if (strcmp(d->d_name, ".") != 0 &&
		    strcmp(d->d_name, "..") != 0) {
			struct arena_mark mark = arena_save(&a);

			fn(s, arena_fmt(&a, "%s/%s", dir, d->d_name).p,
			    d->d_name);
			arena_restore(&a, mark);
		}
	closedir(dp);
	arena_free(&a);
	return 0;
}

int
cache_stats(const char *dir, struct cache_stats *s, struct err *e)
{
	*s = (struct cache_stats){ 0 };
	return each(dir, s, count, e);
}

/* What another process has removed is gone as well. */
static void
clear(struct cache_stats *s, const char *path, const char *name)
{
	bool whole;

	if (is_ours(name, &whole) && unlink(path) == -1 && errno != ENOENT &&
	    s->other[0] == '\0')
		snprintf(s->other, sizeof(s->other), "%s", name);
}

int
cache_clear(const char *dir, struct cache_stats *s, struct err *e)
{
	if (cache_stats(dir, s, e) == -1)
		return -1;
	if (s->others > 0)
		return err_set(e, ERR_SCHEMA, "%.60s: has \"%.60s\", which "
		    "is no entry of a cache: nothing is removed", dir,
		    s->other);
	if (each(dir, s, clear, e) == -1)
		return -1;
	if (s->other[0] != '\0')
		return err_set(e, ERR_SYS, "%.60s: \"%.60s\" cannot be "
		    "removed", dir, s->other);
	(void)rmdir(dir);
	return 0;
}

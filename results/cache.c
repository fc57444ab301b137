/* SPDX-License-Identifier: ISC */
/*
 * cache.c: the directory of entries.  KEY.json is an entry; KEY.json.XXXXXX is
 * left behind by a process that died while it wrote one.
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

/* True if waza wrote the file; *whole: it is an entry. */
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
	struct json *v;
	struct str text;
	struct err e;
	int64_t version;

	if (os_read_plain(a, arena_fmt(a, "%s/%s" ENDING, dir, key).p,
	    CACHE_ENTRY_MAX, &text, &e) == -1)
		return NULL;
	v = arena_json(a, text, NULL);
	if (json_getc(v, "waza_cache") == NULL ||
	    !json_int(json_getc(v, "waza_cache"), &version) || version != 1)
		return NULL;
	return str_is(json_str(v, "key"), key) ? v : NULL;
}

int
cache_write_file(const char *path, struct str text, struct err *e)
{
	struct arena a = { 0 };
	char *tmp = arena_cstr(&a, arena_fmt(&a, "%s.XXXXXX", path));
	int fd = mkstemp(tmp), r = -1;

	if (fd == -1)
		err_sys(e, path);
	else {
		os_cloexec(fd);
		r = os_write_all(fd, text, e);
		if (close(fd) == -1 && r == 0)
			r = err_sys(e, path);
		if (r == 0 && rename(tmp, path) == -1)
			r = err_sys(e, path);
		if (r == -1)
			unlink(tmp);
	}
	arena_free(&a);
	return r;
}

int
cache_put(const char *dir, const char *key, struct str entry, struct err *e)
{
	struct arena a = { 0 };
	int r;

	if (entry.n > CACHE_ENTRY_MAX)
		return err_set(e, ERR_LIMIT, "an entry of more than %d MiB is "
		    "not cached", CACHE_ENTRY_MAX >> 20);
	if (mkdir(dir, 0777) == -1 && errno != EEXIST)
		return err_sys(e, dir);
	r = cache_write_file(arena_fmt(&a, "%s/%s" ENDING, dir, key).p, entry,
	    e);
	arena_free(&a);
	return r;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **
cache_names(struct arena *a, const char *dir, size_t max, size_t *n)
{
	struct buf b = { 0 };
	struct dirent *d;
	char **v, *name;
	DIR *dp = opendir(dir);

	*n = 0;
	if (dp == NULL)
		return NULL;
	while (*n < max && (d = readdir(dp)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 ||
		    strcmp(d->d_name, "..") == 0)
			continue;
		name = arena_cstr(a, str_of(d->d_name));
		buf_put(&b, (struct str){ (char *)&name, sizeof(name) });
		++*n;
	}
	closedir(dp);
	v = NEW_N(a, char *, *n + 1);
	if (*n > 0)
		memcpy(v, b.p, b.n);
	buf_free(&b);
	if (*n > 1)
		qsort(v, *n, sizeof(v[0]), by_name);
	return v;
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

/* Calls fn for each name in the directory. */
static int
each(const char *dir, struct cache_stats *s,
    void (*fn)(struct cache_stats *, const char *path, const char *name),
    struct err *e)
{
	struct arena a = { 0 };
	size_t i, n;
	char **v = cache_names(&a, dir, SIZE_MAX, &n);
	int r = v != NULL || errno == ENOENT ? 0 : err_sys(e, dir);

	for (i = 0; i < n; i++)
		fn(s, arena_fmt(&a, "%s/%s", dir, v[i]).p, v[i]);
	arena_free(&a);
	return r;
}

int
cache_stats(const char *dir, struct cache_stats *s, struct err *e)
{
	*s = (struct cache_stats){ 0 };
	return each(dir, s, count, e);
}

/* Another process may have removed the file already. */
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
		return err_set(e, ERR_SCHEMA, "%s: contains \"%.60s\", "
		    "which is not a cache entry; nothing was removed", dir,
		    s->other);
	if (each(dir, s, clear, e) == -1)
		return -1;
	if (s->other[0] != '\0')
		return err_set(e, ERR_SYS, "%s: \"%.60s\" cannot be "
		    "removed", dir, s->other);
	(void)rmdir(dir);
	return 0;
}

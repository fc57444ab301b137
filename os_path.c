/* SPDX-License-Identifier: ISC */
/*
 * realpath(3) is where the C libraries ask for the X/Open name.
 */
#define _XOPEN_SOURCE 700

#include "os_path.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

/* Whether a part of it leads upwards. */
static bool
climbs(const char *p)
{
	size_t n;

	for (; *p != '\0'; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (n == 2 && p[0] == '.' && p[1] == '.')
			return true;
	}
	return false;
}

/* The part of a path that there is, all links followed; what is not there
 * must lead downwards, and not be a link to something that is not there. */
static bool
resolve(const char *path, char *real)
{
	char cut[PATH_MAX];
	size_t n = strlen(path);
	struct stat st;

	if (n == 0 || n >= sizeof(cut))
		return false;
	memcpy(cut, path, n + 1);
	while (realpath(cut, real) == NULL) {
		while (n > 0 && cut[n - 1] == '/')
			n--;
		cut[n] = '\0';
		if (n > 0 && lstat(cut, &st) == 0 && S_ISLNK(st.st_mode))
			return false;
		while (n > 0 && cut[n - 1] != '/')
			n--;
		cut[n] = '\0';
		if (n == 0)
			return !climbs(path) && realpath(".", real) != NULL;
	}
	return !climbs(path + n);
}

bool
os_inside(const char *root, const char *path)
{
	char base[PATH_MAX], real[PATH_MAX];
	struct str b, r;

	if (realpath(root, base) == NULL || !resolve(path, real))
		return false;
	b = str_of(base);
	r = str_of(real);
	return str_starts(r, b) &&
	    (r.n == b.n || r.p[b.n] == '/' || b.n == 1);
}

char *
os_real(struct arena *a, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) == NULL ? NULL :
	    arena_cstr(a, str_of(real));
}

char *
os_find(struct arena *a, const char *name)
{
	const char *p = getenv("PATH"), *end;
	struct stat st;
	char *path;

	for (; p != NULL && name[0] != '\0';
	    p = *end != '\0' ? end + 1 : NULL) {
		end = p + strcspn(p, ":");
		path = arena_cstr(a, arena_fmt(a, "%.*s%s%s", (int)(end - p),
		    p, end > p ? "/" : "", name));
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    access(path, X_OK) == 0)
			return path;
	}
	return NULL;
}

/* SPDX-License-Identifier: ISC */
/* Resolving paths.  C libraries declare realpath(3) only for X/Open. */
#define _XOPEN_SOURCE 700

#include "base/os_path.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"

#if defined(__APPLE__)
int _NSGetExecutablePath(char *, uint32_t *);	/* mach-o/dyld.h */
#endif

enum { LINKS_MAX = 40 };	/* symbolic links followed */

static bool
has_dot_dot(const char *p)
{
	size_t n;

	for (; *p != '\0'; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (n == 2 && p[0] == '.' && p[1] == '.')
			return true;
	}
	return false;
}

/*
 * Resolves the part of a path that exists, *n bytes, into real.  If the next
 * component is a dangling link, *link is its end, else 0.  False if not even
 * the working directory exists.
 */
static bool
follow(const char *path, char *real, size_t *n, size_t *link)
{
	char cut[PATH_MAX];
	struct stat st;

	*n = strlen(path);
	*link = 0;
	memcpy(cut, path, *n + 1);
	while (realpath(cut, real) == NULL) {
		while (*n > 0 && cut[*n - 1] == '/')
			(*n)--;
		cut[*n] = '\0';
		if (*n > 0 && lstat(cut, &st) == 0 && S_ISLNK(st.st_mode))
			*link = *n;
		while (*n > 0 && cut[*n - 1] != '/')
			(*n)--;
		cut[*n] = '\0';
		if (*n == 0)
			return realpath(".", real) != NULL;
	}
	return true;
}

/* Replaces the link between n and link by its target. */
static bool
replace_link(char *path, size_t n, size_t link)
{
	char to[PATH_MAX], end = path[link];
	size_t rest = strlen(path + link) + 1;
	ssize_t len;

	path[link] = '\0';
	len = readlink(path, to, sizeof(to));
	path[link] = end;
	if (len <= 0)
		return false;
	if (to[0] == '/')
		n = 0;
	if (n + (size_t)len + rest > PATH_MAX)
		return false;
	memmove(path + n + len, path + link, rest);
	memcpy(path + n, to, (size_t)len);
	return true;
}

/* Resolves what exists of a path; false if the rest contains "..". */
static bool
resolve(const char *path, char *real)
{
	char all[PATH_MAX];
	size_t n = strlen(path), link;
	int i;

	if (n == 0 || n >= sizeof(all))
		return false;
	memcpy(all, path, n + 1);
	for (i = 0; i < LINKS_MAX; i++) {
		if (!follow(all, real, &n, &link))
			return false;
		if (link == 0 || !replace_link(all, n, link))
			break;
	}
	return !has_dot_dot(all + n);
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
os_absolute(struct arena *a, const char *path)
{
	char cwd[PATH_MAX];

	if (*path == '/' || getcwd(cwd, sizeof(cwd)) == NULL)
		return arena_cstr(a, str_of(path));
	return arena_cstr(a, arena_fmt(a, "%s/%s", cwd, path));
}

char *
os_real(struct arena *a, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) == NULL ? NULL :
	    arena_cstr(a, str_of(real));
}

char *
os_find_in(struct arena *a, const char *name, const char *dirs)
{
	const char *end;
	struct stat st;
	char *path;
	int sys = ENOENT;

	for (; name[0] != '\0'; dirs = end + 1) {
		end = dirs + strcspn(dirs, ":");
		path = arena_cstr(a, arena_fmt(a, "%.*s/%s", end == dirs ? 1 :
		    (int)(end - dirs), end == dirs ? "." : dirs, name));
		errno = 0;
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		    access(path, X_OK) == 0)
			return os_absolute(a, path);
		if (errno == EACCES)
			sys = EACCES;
		if (*end == '\0')
			break;
	}
	errno = sys;
	return NULL;
}

char *
os_find(struct arena *a, const char *name)
{
	const char *dirs = getenv("PATH");

	return dirs != NULL ? os_find_in(a, name, dirs) : NULL;
}

/* Links to it in the file systems for processes; macOS has a call. */
char *
os_self(struct arena *a)
{
	static const char *const links[] = { "/proc/self/exe",
		"/proc/curproc/exe", "/proc/curproc/file" };
	char path[PATH_MAX];
	size_t i;

#if defined(__APPLE__)
	uint32_t n = sizeof(path);

	if (_NSGetExecutablePath(path, &n) == 0 && access(path, X_OK) == 0)
		return os_real(a, path);
#endif
	for (i = 0; i < COUNTOF(links); i++)
		if (realpath(links[i], path) != NULL && access(path, X_OK) == 0)
			return arena_cstr(a, str_of(path));
	return os_find(a, "waza");
}

static int
make_dir(const char *path, unsigned mode, struct err *e)
{
	struct stat st;
	int sys;

	if (mkdir(path, (mode_t)mode) == 0 || errno == EEXIST)
		return 0;
	/* An existing directory may fail with another error. */
	sys = errno;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	errno = sys;
	return err_sys(e, path);
}

int
os_make_dirs(const char *path, unsigned mode, bool last, struct err *e)
{
	struct buf b = { 0 };
	size_t i, n = strlen(path);
	int r = 0;

	buf_puts(&b, path);
	buf_putc(&b, '\0');
	for (i = 1; r == 0 && i < n; i++)
		if (path[i] == '/' && path[i - 1] != '/') {
			b.p[i] = '\0';
			r = make_dir(b.p, mode, e);
			b.p[i] = '/';
		}
	if (r == 0 && last)
		r = make_dir(path, mode, e);
	buf_free(&b);
	return r;
}

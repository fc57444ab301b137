/* SPDX-License-Identifier: ISC */
/*
 * Confinement of children by Landlock, which needs no privileges.
 *
 * The rules handle all rights that change the file system by name: writing,
 * truncating, creating, removing, renaming, linking.  Executing and listing are
 * not handled and therefore allowed.  Version 2 cannot deny truncate(2), and
 * version 1 denies every rename between directories, so both are refused.
 *
 * Rules can only allow.  To hide a file, reading is handled, and allowed for
 * everything beside the file and beside each directory above it.
 *
 * Landlock does not handle chmod, chown, utime and extended attributes: a
 * confined child can still change those of its user's files.  Neither does it
 * restrict what runs outside: a child can ask another program to write for it.
 */
#include "base/os_internal.h"

#include "base/os_confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>

enum {
	VERSION_MIN = 3,
	GET_VERSION = 1,		/* flag of create_ruleset */
	PATH_BENEATH = 1,		/* type of add_rule */
	/* the same on all architectures but alpha, which adds 110 */
#if defined(__alpha__)
	CALL_CREATE = 554, CALL_ADD = 555, CALL_RESTRICT = 556,
#else
	CALL_CREATE = 444, CALL_ADD = 445, CALL_RESTRICT = 446,
#endif
	/* rights: 0 execute and 3 read a directory are not handled */
	WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, TRUNCATE = 1 << 14,
	FILE_RIGHTS = WRITE_FILE | TRUNCATE,
	DIR_RIGHTS = FILE_RIGHTS | 0x3ff0,	/* 4-13: remove, make, refer */
	ENTRIES_MAX = 10000		/* beside hidden files */
};

/*
 * The interface of the kernel: the first version of its structs.  Its rule is
 * packed and ends after the descriptor, as ours does but for the padding.
 */
struct ruleset {
	uint64_t handled;
};
struct rule {
	uint64_t allowed;
	int32_t parent;
};

/* Terminals and shared memory are directories. */
static const char *const devices[] = { "/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts",
	"/dev/shm", NULL };

bool
os_can_confine(void)
{
	return syscall(CALL_CREATE, NULL, (size_t)0, GET_VERSION) >=
	    VERSION_MIN;
}

struct rules {
	int fd;
	uint64_t read;			/* READ_FILE if it is handled, else 0 */
};

static int
allow(const struct rules *to, const char *path, uint64_t rights,
    struct err *e)
{
	struct rule r = { .parent = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;
	long failed;

	if (r.parent == -1)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ?
		    0 : err_sys(e, path);
	if (fstat(r.parent, &st) == -1)
		st.st_mode = 0;
	r.allowed = rights & (S_ISDIR(st.st_mode) ? DIR_RIGHTS | READ_FILE :
	    FILE_RIGHTS | READ_FILE);
	failed = syscall(CALL_ADD, to->fd, PATH_BENEATH, &r, 0);
	if (failed != 0)
		err_sys(e, path);
	os_close(&r.parent);
	return failed != 0 ? -1 : 0;
}

static int
allow_all(const struct rules *to, const char *const *paths, struct err *e)
{
	for (; *paths != NULL; paths++)
		if (allow(to, *paths, DIR_RIGHTS | to->read, e) == -1)
			return -1;
	return 0;
}

/* Whether a hidden file is below the directory, or is the path itself. */
enum { BESIDE, ABOVE, HIDDEN };
static int
place_of(const char *path, const char *const *hidden)
{
	size_t n = strlen(path);

	for (; *hidden != NULL; hidden++)
		if (strncmp(*hidden, path, n) == 0) {
			if ((*hidden)[n] == '\0')
				return HIDDEN;
			if ((*hidden)[n] == '/')
				return ABOVE;
		}
	return BESIDE;
}

/*
 * Lists what is beside hidden files, from a directory above them down; links
 * are left out, since their targets are listed.  False: there is too much.
 */
static bool
list_visible(struct arena *a, const char *dir, const char *const *hidden,
    struct buf *list)
{
	DIR *d = opendir(*dir == '\0' ? "/" : dir);
	struct dirent *entry;
	struct stat st;
	const char *path;
	bool ok = true;
	int place;

	while (ok && d != NULL && (entry = readdir(d)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0)
			continue;
		path = arena_fmt(a, "%s/%s", dir, entry->d_name).p;
		place = place_of(path, hidden);
		if (place == ABOVE)
			ok = list_visible(a, path, hidden, list);
		else if (place == BESIDE && lstat(path, &st) == 0 &&
		    !S_ISLNK(st.st_mode))
			buf_put(list, (struct str){ (const char *)&path,
			    sizeof(path) });
		ok = ok && list->n < ENTRIES_MAX * sizeof(path);
	}
	if (d != NULL)
		closedir(d);
	return ok;
}

/* The paths that can be read, if some cannot; NULL: all can. */
static const char **
visible(struct arena *a, const char *const *hidden)
{
	struct buf list = { 0 };
	const char **v = NULL;

	if (hidden != NULL && *hidden != NULL &&
	    list_visible(a, "", hidden, &list)) {
		v = NEW_N(a, const char *, list.n / sizeof(*v) + 1);
		if (list.n > 0)
			memcpy(v, list.p, list.n);
	}
	buf_free(&list);
	return v;
}

static int
add_rules(const struct rules *to, const struct os_bounds *b,
    const char *const *readable, struct err *e)
{
	if (allow_all(to, devices, e) == -1 ||
	    allow_all(to, b->writable, e) == -1)
		return -1;
	for (; readable != NULL && *readable != NULL; readable++)
		if (allow(to, *readable, READ_FILE, e) == -1)
			return -1;
	return 0;
}

int
os_confine_open(const struct os_bounds *b, struct err *e)
{
	struct arena a = { 0 };
	struct ruleset all = { DIR_RIGHTS };
	struct rules to = { 0 };
	const char **readable;

	if (!os_can_confine()) {
		errno = ENOSYS;
		return err_sys(e, "Landlock");
	}
	readable = visible(&a, b->hidden);
	to.read = readable != NULL ? READ_FILE : 0;
	all.handled |= to.read;
	to.fd = (int)syscall(CALL_CREATE, &all, sizeof(all), 0);
	if (to.fd == -1)
		err_sys(e, "Landlock");
	else if (add_rules(&to, b, readable, e) == -1)
		os_close(&to.fd);
	arena_free(&a);
	return to.fd;
}

int
os_confine_enter(int rules)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == -1)
		return -1;
	return syscall(CALL_RESTRICT, rules, 0) == 0 ? 0 : -1;
}

#else

bool
os_can_confine(void)
{
	return false;
}

int
os_confine_open(const struct os_bounds *b, struct err *e)
{
	(void)b;
	errno = ENOSYS;
	return err_sys(e, "confinement");
}

int
os_confine_enter(int rules)
{
	(void)rules;
	errno = ENOSYS;
	return -1;
}

#endif

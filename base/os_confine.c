/* SPDX-License-Identifier: ISC */
/*
 * Confinement of children by Landlock, which needs no privileges.
 *
 * The rules handle all rights that change the file system by name: writing,
 * truncating, creating, removing, renaming, linking.  Reading and executing are
 * not handled and therefore allowed.  Version 2 cannot deny truncate(2), and
 * version 1 denies every rename between directories, so both are refused.
 *
 * Landlock does not handle chmod, chown, utime and extended attributes: a
 * confined child can still change those of its user's files.  Neither does it
 * restrict what runs outside: a child can ask another program to write for it.
 */
#include "base/os_internal.h"

#include "base/os_confine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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
	/* rights: 0 execute, 2 read a file and 3 a directory are not handled */
	WRITE_FILE = 1 << 1, TRUNCATE = 1 << 14,
	FILE_RIGHTS = WRITE_FILE | TRUNCATE,
	DIR_RIGHTS = FILE_RIGHTS | 0x3ff0	/* 4-13: remove, make, refer */
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

static int
allow(int rules, const char *path, struct err *e)
{
	struct rule r = { .parent = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;
	long failed;

	if (r.parent == -1)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ?
		    0 : err_sys(e, path);
	if (fstat(r.parent, &st) == -1)
		st.st_mode = 0;
	r.allowed = S_ISDIR(st.st_mode) ? DIR_RIGHTS : FILE_RIGHTS;
	failed = syscall(CALL_ADD, rules, PATH_BENEATH, &r, 0);
	if (failed != 0)
		err_sys(e, path);
	os_close(&r.parent);
	return failed != 0 ? -1 : 0;
}

static int
allow_all(int rules, const char *const *paths, struct err *e)
{
	for (; *paths != NULL; paths++)
		if (allow(rules, *paths, e) == -1)
			return -1;
	return 0;
}

int
os_confine_open(const char *const *writable, struct err *e)
{
	struct ruleset all = { DIR_RIGHTS };
	int fd;

	if (!os_can_confine()) {
		errno = ENOSYS;
		return err_sys(e, "Landlock");
	}
	fd = (int)syscall(CALL_CREATE, &all, sizeof(all), 0);
	if (fd == -1)
		return err_sys(e, "Landlock");
	if (allow_all(fd, devices, e) == -1 ||
	    allow_all(fd, writable, e) == -1)
		os_close(&fd);
	return fd;
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
os_confine_open(const char *const *writable, struct err *e)
{
	(void)writable;
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

/* SPDX-License-Identifier: ISC */
/*
 * Directories that a killed process has left below TMPDIR.
 *
 * A name proves nothing, and a process id may belong to another process by
 * now, or to another container.  So each directory contains a file that its
 * process keeps locked: the system releases the lock when the process dies.
 * The file gets its name after it is locked; without it a directory is never
 * removed, nor is one that contains the id of this process: opening our own
 * file again would release our lock.
 */
#include "io/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

enum { SWEEP_MAX = 100 };	/* directories removed at once */

#define OWNER ".owner"

static bool
lock(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_SETLK, &l) == 0;
}

int
workspace_claim(struct arena *a, const char *dir)
{
	const char *name = arena_fmt(a, "%s/" OWNER, dir).p;
	const char *fresh = arena_fmt(a, "%s.new", name).p;
	int fd = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd != -1 && (!lock(fd) || rename(fresh, name) == -1)) {
		(void)unlink(fresh);
		os_close(&fd);
	}
	return fd;
}

/* Whether it is the name of a pool's directory, of another process. */
static bool
is_name(const char *name)
{
	char own[32];
	size_t n = strlen(WORKSPACE_PREFIX);

	snprintf(own, sizeof(own), WORKSPACE_PREFIX "%ld-", (long)getpid());
	if (strncmp(name, WORKSPACE_PREFIX, n) != 0 ||
	    strncmp(name, own, strlen(own)) == 0)
		return false;
	while (name[n] >= '0' && name[n] <= '9')
		n++;
	return name[n] == '-' && strlen(name + n) == strlen("-XXXXXX");
}

static bool
is_mine(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type &&
	    st.st_uid == geteuid();
}

/* Takes over the lock of a dead process; -1: it lives, or is not known. */
static int
take_over(int tmp, const char *name)
{
	int fd = -1, dir = openat(tmp, name, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);

	if (dir != -1 && is_mine(dir, S_IFDIR))
		fd = openat(dir, OWNER, O_RDWR | O_NOFOLLOW | O_NONBLOCK |
		    O_CLOEXEC);
	if (fd != -1 && (!is_mine(fd, S_IFREG) || !lock(fd)))
		os_close(&fd);
	os_close(&dir);
	return fd;
}

void
workspace_sweep(void)
{
	const char *tmp = workspace_tmp();
	DIR *list = opendir(tmp);
	struct arena a = { 0 };
	struct dirent *d;
	struct err e;
	int fd, n = 0;

	while (list != NULL && n < SWEEP_MAX && (d = readdir(list)) != NULL) {
		fd = is_name(d->d_name) ? take_over(dirfd(list), d->d_name) :
		    -1;
		if (fd == -1)
			continue;
		(void)workspace_remove(arena_fmt(&a, "%s/%s", tmp,
		    d->d_name).p, &e);
		os_close(&fd);
		n++;
	}
	if (list != NULL)
		closedir(list);
	arena_free(&a);
}

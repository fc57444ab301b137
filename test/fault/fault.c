/* SPDX-License-Identifier: ISC */
/*
 * A library for LD_PRELOAD that lets one call of a program fail.
 *
 *	FAULT=CALL:N:ERRNO	the Nth call fails with that errno
 *	FAULT=CALL:N+:ERRNO	and all later ones
 *
 * CALL is poll, pipe, fork, open, read, write, rename, ftruncate, fsync, mkdir
 * or malloc; similar calls count as one (openat as open, vfork as fork, calloc
 * and realloc as malloc).  With ERRNO 0 a read or write is short; with
 * another one only those of files and stdout fail, and never those of stderr, so
 * that messages can be seen.  Calls of a forked child count until it executes
 * another program, which runs without the library.  When the fault happens the
 * file FAULT_LOG is created.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char name[16], fault_log[4096];
static unsigned long nth, *count;	/* shared with forked children */
static bool rest;
static int code;

/* The function that this library hides. */
#define NEXT(f) \
	static __typeof__(&f) next; \
	if (next == NULL) \
		*(void **)&next = dlsym(RTLD_NEXT, #f)

__attribute__((constructor)) static void
init(void)
{
	const char *s = getenv("FAULT"), *log = getenv("FAULT_LOG");
	char plus = ':';

	if (s == NULL || sscanf(s, "%15[a-z]:%lu%c", name, &nth, &plus) != 3)
		return;
	rest = plus == '+';
	code = atoi(strrchr(s, ':') + 1);
	snprintf(fault_log, sizeof(fault_log), "%s", log != NULL ? log : "");
	unsetenv("LD_PRELOAD");
	unsetenv("FAULT");
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* Whether this call fails, or is short; sets errno. */
static bool
fails(const char *call)
{
	unsigned long n;

	if (count == NULL || strcmp(call, name) != 0)
		return false;
	n = ++*count;
	if (n != nth && !(rest && n > nth))
		return false;
	if (n == nth)
		syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, fault_log,
		    O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	errno = code;
	return true;
}

#define WRAP(type, call, f, params, args) \
	type f params \
	{ \
		NEXT(f); \
		return fails(call) ? (type)-1 : next args; \
	}

#define WRAP_NULL(f, params, args) \
	void *f params \
	{ \
		NEXT(f); \
		return fails("malloc") ? NULL : next args; \
	}

/* A short call transfers half of the bytes.  Only files are full or broken. */
static bool
fails_on(const char *call, int fd)
{
	struct stat st;

	return fd != 2 && (code == 0 || fd == 1 ||
	    (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))) && fails(call);
}

#define WRAP_SHORT(f, T) \
	ssize_t f(int fd, T *p, size_t n) \
	{ \
		NEXT(f); \
		if (!fails_on(#f, fd)) \
			return next(fd, p, n); \
		return code != 0 ? -1 : next(fd, p, n > 1 ? n / 2 : n); \
	}

WRAP(int, "poll", poll, (struct pollfd *p, nfds_t n, int ms), (p, n, ms))
WRAP(int, "pipe", pipe, (int *fd), (fd))
WRAP(int, "pipe", pipe2, (int *fd, int flags), (fd, flags))
WRAP(int, "rename", rename, (const char *a, const char *b), (a, b))
WRAP(int, "rename", renameat, (int d, const char *a, int e, const char *b),
    (d, a, e, b))
WRAP(int, "ftruncate", ftruncate, (int fd, off_t n), (fd, n))
WRAP(int, "fsync", fsync, (int fd), (fd))
WRAP(int, "mkdir", mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, "mkdir", mkdirat, (int d, const char *path, mode_t mode),
    (d, path, mode))
WRAP(pid_t, "fork", fork, (void), ())
WRAP_NULL(malloc, (size_t n), (n))
WRAP_NULL(calloc, (size_t n, size_t size), (n, size))
WRAP_NULL(realloc, (void *p, size_t n), (p, n))
WRAP_SHORT(read, void)
WRAP_SHORT(write, const void)

/* A vfork that returns through a function of ours must be a fork. */
pid_t
vfork(void)
{
	return fork();
}

static mode_t
mode_of(int flags, va_list ap)
{
	return flags & O_CREAT ? va_arg(ap, mode_t) : 0;
}

int
open(const char *path, int flags, ...)
{
	NEXT(open);
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fails("open") ? -1 : next(path, flags, mode);
}

int
openat(int dir, const char *path, int flags, ...)
{
	NEXT(openat);
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fails("open") ? -1 : next(dir, path, flags, mode);
}

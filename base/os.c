/* SPDX-License-Identifier: ISC */
/*
 * Operations that differ between systems, except children (os_spawn.c),
 * sockets (os_net.c), sets of them (os_quiet.c) and paths (os_path.c).  Only
 * the os*.c files may contain #ifdef __OS__ or use more than POSIX; they prefer
 * calls that all systems have.
 */
#include "base/os_internal.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os_path.h"

#if defined(__linux__)
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

enum {
	INHERITED_MAX = 256,	/* os_init() marks descriptors below this */
	READ_CHUNK = 64 * 1024,
	RESERVE_MAX = 32	/* descriptors: see os_fd_short() */
};

/* Occupies closed descriptors below 3, so that no other file gets them. */
static int
fill_closed(struct err *e)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) == -1 &&
		    open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			return err_sys(e, "/dev/null");
	return 0;
}

int
os_init(struct err *e)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };
	int fd;

	sigemptyset(&sa.sa_mask);
	if (sigaction(SIGPIPE, &sa, NULL) == -1 ||
	    sigaction(SIGXFSZ, &sa, NULL) == -1)
		return err_sys(e, "sigaction");
	if (fill_closed(e) == -1)
		return -1;
	for (fd = 3; fd < INHERITED_MAX; fd++)
		os_cloexec(fd);
	return 0;
}

static int64_t
clock_ns(clockid_t id)
{
	struct timespec t = { 0 };

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t
os_now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t
os_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int64_t
os_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

int
os_random(void *p, size_t n, struct err *e)
{
	char *at = p;
	ssize_t k;
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return err_sys(e, "/dev/urandom");
	for (; n > 0; n -= (size_t)k, at += k) {
		k = os_read(fd, at, n);
		if (k <= 0) {
			errno = k == 0 ? EIO : errno;
			err_sys(e, "/dev/urandom");
			close(fd);
			return -1;
		}
	}
	close(fd);
	return 0;
}

#if defined(OS_SHORT)
/*
 * For tests: every fifth call is interrupted, every third on a non-blocking
 * descriptor other than a file fails with EAGAIN, all others transfer a single
 * byte.
 */
static bool
inject_fault(int fd, size_t *n)
{
	static unsigned calls;
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	calls++;
	*n = *n > 1 ? 1 : *n;
	if (calls % 5 == 0)
		errno = EINTR;
	else if (calls % 3 == 0 && flags != -1 && (flags & O_NONBLOCK) != 0 &&
	    fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		errno = EAGAIN;
	else
		return false;
	return true;
}
#else
static bool
inject_fault(int fd, size_t *n)
{
	(void)fd;
	(void)n;
	return false;
}
#endif

ssize_t
os_read(int fd, void *p, size_t n)
{
	ssize_t k;

	do
		k = inject_fault(fd, &n) ? -1 : read(fd, p, n);
	while (k == -1 && errno == EINTR);
	return k;
}

ssize_t
os_write(int fd, const void *p, size_t n)
{
	ssize_t k;

	do
		k = inject_fault(fd, &n) ? -1 : write(fd, p, n);
	while (k == -1 && errno == EINTR);
	return k;
}

ssize_t
os_read_head(int fd, void *p, size_t n)
{
	char *q = p;
	size_t got = 0;
	ssize_t k;

	do {
		k = pread(fd, q + got, n - got, (off_t)got);
		if (k > 0)
			got += (size_t)k;
	} while (k == -1 ? errno == EINTR : k > 0 && got < n);
	return k == -1 ? -1 : (ssize_t)got;
}

/* After a failed call on a non-blocking descriptor: waits until it is ready. */
static bool
wait_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return false;
	return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

int
os_write_all(int fd, struct str s, struct err *e)
{
	ssize_t k;

	while (s.n > 0) {
		k = os_write(fd, s.p, s.n);
		if (k == -1 && !wait_ready(fd, POLLOUT))
			return err_sys(e, "write");
		if (k > 0) {
			s.p += k;
			s.n -= (size_t)k;
		}
	}
	return 0;
}

int
os_write_file(const char *path, struct str s, struct err *e)
{
	struct stat st;
	int fd, r;

	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd == -1)
		return err_sys(e, path);
	r = os_write_all(fd, s, e);
	if (r == 0 && (fstat(fd, &st) == -1 || ((uintmax_t)st.st_size > s.n &&
	    ftruncate(fd, (off_t)s.n) == -1)))
		r = err_sys(e, path);
	os_close(&fd);
	return r;
}

int
os_replace_file(const char *path, struct str s, struct err *e)
{
	return os_replace_file_mode(path, s, 0600, e);
}

int
os_replace_file_mode(const char *path, struct str s, unsigned mode,
    struct err *e)
{
	struct arena a = { 0 };
	char *tmp = arena_cstr(&a, arena_fmt(&a, "%s.XXXXXX", path));
	int fd = -1, r = os_make_dirs(path, 0700, false, e);

	if (r == 0 && (fd = mkstemp(tmp)) == -1)
		r = err_sys(e, path);
	if (fd != -1) {
		os_cloexec(fd);
		r = os_write_all(fd, s, e);
		if (r == 0 && mode != 0600 && fchmod(fd, (mode_t)mode) == -1)
			r = err_sys(e, path);
		if (fsync(fd) == -1 && errno != EINVAL && errno != EROFS &&
		    r == 0)
			r = err_sys(e, path);
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

static int
err_path(struct err *e, const char *path)
{
	int sys = errno;

	err_set(e, ERR_SYS, "%s: %s", path, sys == EISDIR ?
	    "is a directory" : strerror(sys));
	e->sys = sys;
	return -1;
}

static int
too_large(struct err *e, const char *path, size_t max)
{
	return err_set(e, ERR_LIMIT, "%s: larger than %zu bytes", path,
	    max);
}

/* Asks for one byte more than max, to detect larger files. */
static int
read_rest(struct buf *b, int fd, const char *name, size_t max, struct err *e)
{
	size_t want;
	ssize_t k;

	for (;;) {
		if (b->n > max)
			return too_large(e, name, max);
		want = max - b->n < READ_CHUNK ? max - b->n + 1 : READ_CHUNK;
		if (b->cap > b->n)
			want = b->cap - b->n;
		k = os_read(fd, buf_room(b, want), want);
		if (k == 0)
			return 0;
		if (k == -1 && !wait_ready(fd, POLLIN))
			return err_path(e, name);
		b->n += k > 0 ? (size_t)k : 0;
	}
}

int
os_read_fd(struct arena *a, int fd, const char *name, size_t max,
    struct str *out, struct err *e)
{
	struct buf b = { 0 };
	struct stat st;
	int rc;

	if (fstat(fd, &st) == -1)
		return err_path(e, name);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return err_path(e, name);
	}
	if (S_ISREG(st.st_mode) && st.st_size > 0) {
		if ((uintmax_t)st.st_size > max)
			return too_large(e, name, max);
		buf_room(&b, (size_t)st.st_size + 1);
	}
	rc = read_rest(&b, fd, name, max, e);
	if (rc == 0)
		*out = arena_str(a, buf_str(&b));
	buf_free(&b);
	return rc;
}

static int
open_to_read(const char *path, int flags, struct err *e)
{
	int fd;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
	while (fd == -1 && errno == EINTR);
	return fd == -1 ? err_path(e, path) : fd;
}

int
os_read_file(struct arena *a, const char *path, size_t max, struct str *out,
    struct err *e)
{
	int rc, fd = open_to_read(path, 0, e);

	if (fd == -1)
		return -1;
	rc = os_read_fd(a, fd, path, max, out, e);
	close(fd);
	return rc;
}

int
os_read_plain(struct arena *a, const char *path, size_t max, struct str *out,
    struct err *e)
{
	int rc, fd = open_to_read(path, O_NONBLOCK, e);
	struct stat st;

	if (fd == -1)
		return -1;
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode))
		rc = err_set(e, ERR_SYS, "%s: not a regular file", path);
	else
		rc = os_read_fd(a, fd, path, max, out, e);
	close(fd);
	return rc;
}

int
os_cloexec(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int
os_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags == -1)
		return -1;
	return fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void
os_close(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

int
os_lock(int fd)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

#if defined(F_OFD_SETLK)
	if (fcntl(fd, F_OFD_SETLK, &l) == 0)
		return 0;
	if (errno != EINVAL)	/* an old kernel */
		return -1;
#endif
	return fcntl(fd, F_SETLK, &l);
}

/* pipe2() saves a third of the system calls that starting a child takes. */
static int
pipe_cloexec(int fd[2])
{
#if defined(__linux__)
	return pipe2(fd, O_CLOEXEC);
#else
	if (pipe(fd) == -1)
		return -1;
	if (os_cloexec(fd[0]) == 0 && os_cloexec(fd[1]) == 0)
		return 0;
	os_close(&fd[0]);
	os_close(&fd[1]);
	return -1;
#endif
}

int
os_pipe(int fd[2], int flags, struct err *e)
{
	if (pipe_cloexec(fd) == -1)
		return err_sys(e, "pipe");
	/* a new pipe has no other flags to keep */
	if (((flags & OS_NONBLOCK_READ) == 0 ||
	    fcntl(fd[0], F_SETFL, O_NONBLOCK) == 0) &&
	    ((flags & OS_NONBLOCK_WRITE) == 0 ||
	    fcntl(fd[1], F_SETFL, O_NONBLOCK) == 0))
		return 0;
	err_sys(e, "fcntl");
	os_close(&fd[0]);
	os_close(&fd[1]);
	return -1;
}

/*
 * A pipe that is empty takes as much as it can hold.  A socket counts its
 * buffers with their overhead, which is at most three times the data.
 */
bool
os_unread(int fd, size_t *unread, size_t *fits)
{
#if defined(__linux__)
	struct sockaddr_storage name;
	socklen_t len = sizeof(name), size = sizeof(int);
	int n = 0, most = 0;
	struct stat st;

	if (fstat(fd, &st) == -1)
		return false;
	if (S_ISFIFO(st.st_mode)) {
		if (ioctl(fd, FIONREAD, &n) == -1)
			return false;
		most = fcntl(fd, F_GETPIPE_SZ);
	} else if (!S_ISSOCK(st.st_mode) ||
	    getsockname(fd, (struct sockaddr *)&name, &len) == -1 ||
	    name.ss_family != AF_UNIX || ioctl(fd, TIOCOUTQ, &n) == -1)
		return false;
	else if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &most, &size) == 0)
		most /= 4;
	*unread = n > 0 ? (size_t)n : 0;
	*fits = most > 0 ? (size_t)most : 0;
	return true;
#else
	(void)fd;
	(void)unread;
	(void)fits;
	return false;
#endif
}

void
os_trim(void)
{
#if defined(__GLIBC__)
	malloc_trim(0);
#endif
}

uint64_t
os_nofile_raise(void)
{
	struct rlimit r;
	rlim_t soft;

	if (getrlimit(RLIMIT_NOFILE, &r) == -1)
		return 0;
	soft = r.rlim_cur;
	if (soft == r.rlim_max)
		return soft;
	r.rlim_cur = r.rlim_max;
#if defined(OPEN_MAX)		/* macOS does not accept RLIM_INFINITY */
	if (r.rlim_cur > OPEN_MAX && soft < OPEN_MAX)
		r.rlim_cur = OPEN_MAX;
#endif
	return setrlimit(RLIMIT_NOFILE, &r) == 0 ? soft : 0;
}

void
os_nofile_set(uint64_t soft)
{
	struct rlimit r;

	if (soft == 0 || getrlimit(RLIMIT_NOFILE, &r) == -1)
		return;
	r.rlim_cur = (rlim_t)soft;
	setrlimit(RLIMIT_NOFILE, &r);
}

bool
os_is_shortage(int sys)
{
	return sys == EMFILE || sys == ENFILE || sys == EAGAIN ||
	    sys == ENOMEM;
}

static size_t
reserve_of(rlim_t limit)
{
	return limit / 8 < RESERVE_MAX ? (size_t)limit / 8 : RESERVE_MAX;
}

bool
os_fd_short(int fd, unsigned reserves)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == -1)
		return fd == -1;
	return fd == -1 || (rlim_t)fd + reserves * reserve_of(r.rlim_cur) >=
	    r.rlim_cur;
}

size_t
os_processors(void)
{
#ifdef _SC_NPROCESSORS_ONLN
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (size_t)n : 1;
#else
	return 1;
#endif
}

size_t
os_fds_free(unsigned reserves)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), next = fd;
	struct rlimit r;
	size_t n = 0;

	os_close(&fd);
	if (next == -1)
		return 0;
	if (os_fd_short(next, reserves)) {
		errno = EMFILE;
		return 0;
	}
	if (getrlimit(RLIMIT_NOFILE, &r) == -1 || r.rlim_cur > INT_MAX)
		return INT_MAX;
	n = (size_t)r.rlim_cur - (size_t)next;
	return n - reserves * reserve_of(r.rlim_cur);
}

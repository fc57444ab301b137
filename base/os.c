/* SPDX-License-Identifier: ISC */
/*
 * Operations that differ between systems, except children (os_spawn.c),
 * sockets (os_net.c) and paths (os_path.c).  Only the os*.c files may contain
 * #ifdef __OS__ or use more than POSIX; they prefer calls that all systems
 * have.
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
#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/prctl.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

enum {
	INHERITED_MAX = 256,	/* os_init() marks descriptors below this */
	READ_CHUNK = 64 * 1024,
	ENVIRON_MAX = 4 << 20
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
 * descriptor fails with EAGAIN, all others transfer a single byte.
 */
static bool
inject_fault(int fd, size_t *n)
{
	static unsigned calls;
	int flags = fcntl(fd, F_GETFL);

	calls++;
	*n = *n > 1 ? 1 : *n;
	if (calls % 5 == 0)
		errno = EINTR;
	else if (calls % 3 == 0 && flags != -1 && (flags & O_NONBLOCK) != 0)
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

static int
err_path(struct err *e, const char *path)
{
	int sys = errno;

	err_set(e, ERR_SYS, "%.120s: %s", path, sys == EISDIR ?
	    "is a directory" : strerror(sys));
	e->sys = sys;
	return -1;
}

static int
too_large(struct err *e, const char *path, size_t max)
{
	return err_set(e, ERR_LIMIT, "%.120s: larger than %zu bytes", path,
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
	if (((flags & OS_NONBLOCK_READ) == 0 || os_nonblock(fd[0]) == 0) &&
	    ((flags & OS_NONBLOCK_WRITE) == 0 || os_nonblock(fd[1]) == 0))
		return 0;
	err_sys(e, "fcntl");
	os_close(&fd[0]);
	os_close(&fd[1]);
	return -1;
}

/* glibc gives struct epoll_event its real layout only under __GNUC__. */
#if defined(__linux__) && defined(__GNUC__)
int
os_quiet_new(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

int
os_quiet_add(int set, int fd, void *tag)
{
	struct epoll_event ev = { .events = EPOLLIN };

	ev.data.ptr = tag;
	return epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev);
}

void
os_quiet_del(int set, int fd)
{
	struct epoll_event unused = { 0 };

	epoll_ctl(set, EPOLL_CTL_DEL, fd, &unused);
}

size_t
os_quiet_ready(int set, void *tag[OS_QUIET_MAX])
{
	struct epoll_event ev[OS_QUIET_MAX];
	int i, n = epoll_wait(set, ev, OS_QUIET_MAX, 0);

	for (i = 0; i < n; i++)
		tag[i] = ev[i].data.ptr;
	return n < 0 ? 0 : (size_t)n;
}
#else
int
os_quiet_new(void)
{
	return -1;
}

int
os_quiet_add(int set, int fd, void *tag)
{
	(void)set;
	(void)fd;
	(void)tag;
	return -1;
}

void
os_quiet_del(int set, int fd)
{
	(void)set;
	(void)fd;
}

size_t
os_quiet_ready(int set, void *tag[OS_QUIET_MAX])
{
	(void)set;
	(void)tag;
	return 0;
}
#endif

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

void
os_follow(void)
{
#if defined(PR_SET_PDEATHSIG)
	prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM, 0UL, 0UL, 0UL);
#endif
}

bool
os_subreaper(bool on)
{
#if defined(PR_SET_CHILD_SUBREAPER)
	return prctl(PR_SET_CHILD_SUBREAPER, on ? 1UL : 0UL, 0UL, 0UL,
	    0UL) == 0;
#else
	(void)on;
	return false;
#endif
}

pid_t
os_peek_child(void)
{
#if defined(__linux__) || defined(__FreeBSD__) || defined(__NetBSD__)
	siginfo_t si;
	int r;

	do {
		si.si_pid = 0;
		r = waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT);
	} while (r == -1 && errno == EINTR);
	return r == 0 ? si.si_pid : -1;
#else
	errno = ENOSYS;
	return -1;
#endif
}

/*
 * Linux lists the children of a thread in one file, if it is built with
 * CONFIG_PROC_CHILDREN, as all distributions do; we have only one thread.
 */
ssize_t
os_children(struct arena *a, pid_t **out)
{
	struct str s;
	struct err e;
	char path[64];
	size_t i, n = 0;
	pid_t *v;
	long pid = (long)getpid();

	if (os_peek_child() == -1 && errno == ECHILD)
		return 0;		/* the common case, and much cheaper */
	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", pid, pid);
	if (os_read_file(a, path, ENVIRON_MAX, &s, &e) == -1)
		return -1;
	v = NEW_N(a, pid_t, s.n / 2 + 1);
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			continue;
		v[n] = v[n] * 10 + (s.p[i] - '0');
		if (i + 1 == s.n || s.p[i + 1] == ' ')
			n++;
	}
	*out = v;
	return (ssize_t)n;
}

bool
os_env_of(struct arena *a, pid_t pid, const char *name, struct str *value)
{
	struct str all, rest, key = str_of(name);
	const char *end;
	struct err e;
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	if (os_read_file(a, path, ENVIRON_MAX, &all, &e) == -1)
		return false;
	for (rest = all; rest.n > 0; rest.p += n, rest.n -= n) {
		end = memchr(rest.p, '\0', rest.n);
		n = end == NULL ? rest.n : (size_t)(end - rest.p) + 1;
		if (n <= key.n + 1 || !str_starts(rest, key) ||
		    rest.p[key.n] != '=')
			continue;
		value->p = rest.p + key.n + 1;
		value->n = n - key.n - 1 - (end != NULL);
		return true;
	}
	return false;
}

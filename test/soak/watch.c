/* SPDX-License-Identifier: ISC */
/*
 * The server from outside: its resources, read from /proc if that exists, and
 * its latency, measured by a client in its own process, so that the other
 * clients do not delay it.
 */
#include "soak.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ASKED_MAX = 200000 };

static void
serve(const struct soak *s, int say)
{
	struct rlimit l;
	char tmp[128];

	l.rlim_cur = l.rlim_max = (rlim_t)s->nofile;
	if (s->nofile > 0 && setrlimit(RLIMIT_NOFILE, &l) == -1)
		_exit(126);
	snprintf(tmp, sizeof(tmp), "%s/tmp", s->dir);
	setenv("TMPDIR", tmp, 1);
	dup2(say, 2);
	execl(s->waza, s->waza, "serve", "--unix", s->path, "--tcp",
	    "127.0.0.1:0", "--root", s->dir, (char *)NULL);
	_exit(127);
}

/* Reads the output of the server until it prints its address. */
void
watch_start(struct soak *s)
{
	static const char there[] = "listening on 127.0.0.1:";
	char text[4096] = "", *at = NULL;
	size_t n = 0;
	ssize_t k = 1;
	int p[2];

	if (pipe(p) == -1)
		die("pipe");
	s->pid = fork();
	if (s->pid == -1)
		die("fork");
	if (s->pid == 0)
		serve(s, p[1]);
	close(p[1]);
	while (k > 0 && ((at = strstr(text, there)) == NULL ||
	    strstr(text, s->path) == NULL)) {
		k = read(p[0], text + n, sizeof(text) - 1 - n);
		n += k > 0 ? (size_t)k : 0;
		text[n] = '\0';
	}
	if (at == NULL) {
		fprintf(stderr, "soak: the server does not start: %s\n", text);
		exit(2);
	}
	s->port = atoi(at + sizeof(there) - 1);
	s->say = p[0];
	fcntl(p[0], F_SETFD, FD_CLOEXEC);
}

bool
watch_alive(const struct soak *s)
{
	return waitpid(s->pid, NULL, WNOHANG) == 0;
}

int
watch_stop(struct soak *s)
{
	double end = now() + 10;
	int status;

	kill(s->pid, SIGTERM);
	while (now() < end) {
		if (waitpid(s->pid, &status, WNOHANG) == s->pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		nap(0.02);
	}
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	return -1;
}

/* Entries of a directory, not counting those that begin with a dot. */
static long
entries(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	long n = 0;

	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static size_t
slurp(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd == -1 ? -1 : read(fd, text, size - 1);

	if (fd != -1)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Its child, or an agent of this test that has lost its parent. */
static bool
is_child(const struct soak *s, long pid)
{
	char path[64], text[2000], *p;
	size_t n, i;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	slurp(path, text, sizeof(text));
	p = strrchr(text, ')');
	if (p != NULL && strlen(p) > 4 && atol(p + 4) == (long)s->pid)
		return true;
	snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
	n = slurp(path, text, sizeof(text));
	for (i = 0; i < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	return strstr(text, " agent ") != NULL && strstr(text, s->dir) != NULL;
}

static long
children(const struct soak *s)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	long n = 0;

	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		if (isdigit((unsigned char)e->d_name[0]))
			n += is_child(s, atol(e->d_name));
	closedir(d);
	return n;
}

struct holds
watch_holds(const struct soak *s)
{
	struct holds h = { -1, -1, -1, -1 };
	char path[128], text[4000], *p;

	snprintf(path, sizeof(path), "%s/tmp", s->dir);
	h.files = entries(path);
	snprintf(path, sizeof(path), "/proc/%ld/status", (long)s->pid);
	slurp(path, text, sizeof(text));
	p = strstr(text, "VmRSS:");
	if (p == NULL)
		return h;
	h.kb = atol(p + 6);
	h.children = children(s);
	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)s->pid);
	h.fds = entries(path);
	return h;
}

/*
 * The probe.
 */
static bool
question(int fd, double *ms)
{
	static const char ping[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
	struct pollfd p = { .fd = fd, .events = POLLIN };
	double start = now();
	char text[200];
	ssize_t k;

	if (!put(fd, ping, sizeof(ping) - 1, 10) || poll(&p, 1, 10000) != 1)
		return false;
	k = recv(fd, text, sizeof(text), 0);
	*ms = (now() - start) * 1e3;
	return k > 0 && text[k - 1] == '\n';
}

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* An echo process; it exits when its peer disconnects. */
static int
echo(void)
{
	char text[200];
	ssize_t k;
	int p[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, p) == -1)
		die("socketpair");
	pid = fork();
	if (pid == -1)
		die("fork");
	if (pid == 0) {
		close(p[1]);
		while ((k = read(p[0], text, sizeof(text))) > 0)
			if (write(p[0], text, (size_t)k) != k)
				break;
		_exit(0);
	}
	close(p[0]);
	return p[1];
}

static void
sum_up(struct probed *r, double *v, double *w)
{
	if (r->n == 0)
		return;
	qsort(v, r->n, sizeof(*v), by_size);
	qsort(w, r->n, sizeof(*w), by_size);
	r->p50 = v[r->n / 2];
	r->p99 = v[r->n * 99 / 100];
	r->max = v[r->n - 1];
	r->other = w[r->n * 99 / 100];
}

static void
probe(const struct soak *s, int fd, int stop, int told)
{
	double *v = calloc(ASKED_MAX, sizeof(*v));
	double *w = calloc(ASKED_MAX, sizeof(*w));
	struct pollfd p = { .fd = stop, .events = POLLIN };
	struct probed r = { 0 };
	int other = echo();

	if (v == NULL || w == NULL)
		die("calloc");
	while (r.n < ASKED_MAX && poll(&p, 1, 2) == 0) {
		if (question(fd, &v[r.n]) && question(other, &w[r.n])) {
			r.n++;
			continue;
		}
		r.lost++;
		close(fd);
		fd = dial(s, false);
	}
	sum_up(&r, v, w);
	_exit(write(told, &r, sizeof(r)) != sizeof(r));
}

void
probe_start(struct probe *b, const struct soak *s)
{
	int stop[2], told[2], fd = dial(s, false);
	double ms;

	/* it has its place before the scene begins, which may take them all */
	if (!question(fd, &ms))
		fprintf(stderr, "soak: the first ping is lost\n");
	fflush(stdout);
	if (pipe(stop) == -1 || pipe(told) == -1)
		die("pipe");
	b->pid = fork();
	if (b->pid == -1)
		die("fork");
	if (b->pid == 0) {
		close(stop[1]);
		close(told[0]);
		probe(s, fd, stop[0], told[1]);
	}
	close(fd);
	close(stop[0]);
	close(told[1]);
	b->stop = stop[1];
	b->told = told[0];
}

struct probed
probe_stop(struct probe *b)
{
	struct probed r = { .lost = 1 };

	close(b->stop);
	if (read(b->told, &r, sizeof(r)) != sizeof(r))
		r.lost = 1;
	close(b->told);
	waitpid(b->pid, NULL, 0);
	return r;
}

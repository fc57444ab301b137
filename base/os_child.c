/* SPDX-License-Identifier: ISC */
/*
 * Children and other processes: how the system reports them.  Only Linux lists
 * the environment and the children of processes, in /proc.
 */
#include "base/os_internal.h"

#include "base/os_child.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"

#if defined(__linux__)
#include <sys/prctl.h>
#endif

enum { ENVIRON_MAX = 4 << 20 };

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
	/* without /proc, os_children() cannot find adopted processes */
	if (on && access("/proc/self/task", X_OK) == -1)
		return false;
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

/* A process in the list of all; related: it has the mark, or an ancestor. */
struct process {
	struct process *next;
	pid_t pid, parent;
	bool marked, related;
};

/* The fourth field of its stat; the second may contain anything. */
static pid_t
parent_of(struct arena *a, pid_t pid)
{
	char path[64];
	const char *end;
	struct str s;
	struct err e;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	if (os_read_file(a, path, ENVIRON_MAX, &s, &e) == -1 ||
	    (end = strrchr(s.p, ')')) == NULL || strlen(end) < 5)
		return 0;
	return (pid_t)strtol(end + 4, NULL, 10);	/* after ") S " */
}

static struct process *
list_processes(struct arena *a, const char *name, struct str prefix)
{
	struct process *head = NULL, *p;
	DIR *dir = opendir("/proc");
	struct dirent *d;
	struct str value;
	long pid;

	while (dir != NULL && (d = readdir(dir)) != NULL) {
		pid = strtol(d->d_name, NULL, 10);
		if (pid <= 1 || pid == (long)getpid())
			continue;
		p = NEW(a, struct process);
		p->pid = (pid_t)pid;
		p->parent = parent_of(a, p->pid);
		p->marked = p->related = os_env_of(a, p->pid, name, &value) &&
		    str_starts(value, prefix);
		p->next = head;
		head = p;
	}
	if (dir != NULL)
		closedir(dir);
	return head;
}

/* Relates the children of related processes; true: there were new ones. */
static bool
relate(struct process *all)
{
	struct process *p, *q;
	bool found = false;

	for (p = all; p != NULL; p = p->next)
		for (q = all; !p->related && q != NULL; q = q->next)
			if (q->related && q->pid == p->parent)
				p->related = found = true;
	return found;
}

size_t
os_kill_marked(const char *name, struct str prefix, int signo)
{
	struct arena a = { 0 };
	struct process *all = list_processes(&a, name, prefix), *p;
	size_t n = 0;

	while (relate(all))
		;
	for (p = all; p != NULL; p = p->next)
		if (p->related && kill(p->pid, p->marked ? signo :
		    SIGKILL) == 0)
			n++;
	arena_free(&a);
	return n;
}

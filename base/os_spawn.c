/* SPDX-License-Identifier: ISC */
/*
 * Starting a child process.
 *
 * Everything is prepared before the child exists: the path of the program,
 * arguments for the shell in case it is a script without #!, descriptors
 * above 2.  The child then only makes system calls and changes no memory, so
 * vfork can be used, which shares our memory and stack while we wait.  Its
 * cost does not depend on our size; fork's does (27 ms at 500 MB).
 *
 * The requirements of vfork:
 *   1. None of our signal handlers runs in the child: all signals are blocked
 *      until the child has reset every action that may not be the default.
 *   2. The child never returns from the function that called vfork: enter()
 *      ends in execve or _exit.
 *   3. The child writes only struct note.  Valgrind and others use fork, so
 *      that the note is lost: failures are then reported through a
 *      close-on-exec pipe.  Whether the note of an earlier child arrived is
 *      in struct os_spawn_memo.
 * A child that calls a function is made with fork.
 */
#include "base/os_internal.h"

#include "base/os_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "base/os_child.h"
#include "base/os_confine.h"
#include "base/os_path.h"

/* POSIX has no vfork any more, and macOS deprecates it. */
#if defined(__linux__) || defined(__FreeBSD__) || defined(__NetBSD__) || \
    defined(__OpenBSD__) || defined(__DragonFly__)
#define VFORK vfork
#else
#define VFORK fork
#endif

extern char **environ;

enum {
	SIGNALS = 64,		/* bits of a set; real-time signals above it, on
				 * FreeBSD and MIPS Linux, are left alone */
	FDS_MAX = 1 << 20,	/* if the limit of descriptors is unknown */
	COPY_NICE = 10		/* a copy of this process yields to it */
};

enum step { STEP_FDS, STEP_CONFINE, STEP_CWD, STEP_EXEC };

struct failure {
	enum step step;
	int sys;
};

/* From the child, in memory that vfork shares. */
struct note {
	bool entered;
	enum step step;
	int sys;			/* 0: it has not failed */
};

/* The first parameter of setrlimit. */
#ifdef __GLIBC__
typedef __rlimit_resource_t resource_id;
#else
typedef int resource_id;
#endif

struct plan {
	void (*fn)(void *arg);		/* NULL: a program */
	void *arg;
	const char *path;		/* contains a slash */
	const char *const *argv, *const *sh_argv, *const *env;
	const char *cwd;
	int fd[3];			/* the index itself, or above 2 */
	int report;			/* write end: struct failure; or -1 */
	volatile struct note *note;
	bool shared;			/* the note has arrived */
	int rules;			/* of its confinement, or -1 */
	bool group, outlives;
	uint64_t altered;		/* signals to reset: bit 0 is 1 */
	struct limit {
		resource_id resource;
		struct rlimit r;
	} limits[4];
	size_t nlimits;
};

/* execve's parameters lack const for historical reasons only. */
static int
exec(const char *path, const char *const *argv, const char *const *env)
{
	union {
		const char *const *in;
		char **out;
	} a, v;

	a.in = argv;
	v.in = env;
	return execve(path, a.out, v.out);
}

static void
fail(const struct plan *p, enum step step)
{
	struct failure f = { step, errno };

	p->note->step = f.step;
	p->note->sys = f.sys;
	if (p->report != -1)
		(void)!write(p->report, &f, sizeof(f));
	_exit(127);
}

static void
close_from(int from)
{
	struct rlimit r = { .rlim_cur = 0 };
	int fd;

#if defined(SYS_close_range)
	if (syscall(SYS_close_range, (unsigned)from, ~0u, 0u) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &r) == -1 || r.rlim_cur > FDS_MAX)
		r.rlim_cur = FDS_MAX;
	for (fd = from; fd < (int)r.rlim_cur; fd++)
		close(fd);
}

/* Runs in the child: system calls only, unless there is a function. */
static void
enter(const struct plan *p)
{
	struct sigaction sa = { .sa_handler = SIG_DFL };
	sigset_t none;
	size_t k;
	int i;

	p->note->entered = true;
	if (p->group)
		setpgid(0, 0);
	if (!p->outlives)
		os_follow();
	if (p->rules != -1 && os_confine_enter(p->rules) == -1)
		fail(p, STEP_CONFINE);
	for (i = 1; i <= SIGNALS; i++)
		if (p->altered >> (i - 1) & 1)
			sigaction(i, &sa, NULL);
	for (i = 0; i < 3; i++)
		if (p->fd[i] == i ? fcntl(i, F_SETFD, 0) == -1 :
		    dup2(p->fd[i], i) == -1)
			fail(p, STEP_FDS);
	if (p->cwd != NULL && chdir(p->cwd) == -1)
		fail(p, STEP_CWD);
	for (k = 0; k < p->nlimits; k++)
		setrlimit(p->limits[k].resource, &p->limits[k].r);
	if (p->fn != NULL)
		close_from(3);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (p->fn != NULL) {
		(void)!nice(COPY_NICE);
		p->fn(p->arg);
		_exit(0);
	}
	exec(p->path, p->argv, p->env);
	if (errno == ENOEXEC)
		exec("/bin/sh", p->sh_argv, p->env);
	fail(p, STEP_EXEC);
}

static pid_t
launch(const struct plan *p)
{
	pid_t pid = p->fn != NULL ? fork() : VFORK();

	if (pid == 0)
		enter(p);
	return pid;
}

const char *
os_env_value(const char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; *env != NULL; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* A variable can be there more than once. */
void
os_env_erase(const char *name)
{
	size_t n = strlen(name);
	char **v;

	for (v = environ; v != NULL && *v != NULL; v++)
		if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
			memset(*v + n + 1, 0, strlen(*v + n + 1));
	unsetenv(name);
}

static const char *const *
our_env(void)
{
	union {
		char **in;
		const char *const *out;
	} u;

	u.in = environ;
	return u.out;
}

static const char *
find(struct arena *a, const char *name, const char *const *env)
{
	const char *dirs;

	if (name == NULL || name[0] == '\0') {
		errno = ENOENT;
		return NULL;
	}
	if (strchr(name, '/') != NULL)
		return name;
	dirs = os_env_value(env, "PATH");
	if (dirs == NULL)
		dirs = os_env_value(our_env(), "PATH");
	return os_find_in(a, name, dirs != NULL ? dirs : "/usr/bin:/bin");
}

static const char *const *
shell_argv(struct arena *a, const char *path, const char *const *argv)
{
	const char **v;
	size_t n = 0;

	while (argv[n] != NULL)
		n++;
	v = NEW_N(a, const char *, n + 2);
	v[0] = "sh";
	v[1] = path;
	if (n > 1)
		memcpy(v + 2, argv + 1, (n - 1) * sizeof(v[0]));
	return v;
}

/* Whether our 0 can be read, or our 1 or 2 be written: see os_init(). */
static bool
is_usable(int i)
{
	int flags = fcntl(i, F_GETFL);

	return flags != -1 &&
	    (flags & O_ACCMODE) != (i == 0 ? O_WRONLY : O_RDONLY);
}

/*
 * The descriptor to become the child's i: i itself, or one above 2, which no
 * dup2 in enter() overwrites before its use.  *made is set to a new
 * descriptor that the caller has to close.
 */
static int
place(int fd, int i, int *made)
{
	if (fd == OS_FD_KEEP)
		fd = is_usable(i) ? i : OS_FD_NULL;
	if (fd == i)
		return i;
	if (fd == OS_FD_NULL) {
		fd = *made = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (fd == -1 || fd > 2)
			return fd;
		*made = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		close(fd);
		return *made;
	}
	if (fd < 3)
		return *made = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return fd;
}

static int
describe(struct err *e, struct failure f, const struct os_spawn *o)
{
	static const char *const what[] = {
		[STEP_FDS]  = "cannot set up the descriptors of",
		[STEP_CONFINE] = "cannot confine",
		[STEP_CWD]  = "cannot enter directory",
		[STEP_EXEC] = "cannot run",
	};
	const char *name = f.step == STEP_CWD ? o->cwd : o->fn != NULL ?
	    "a copy of this process" : o->argv[0];

	err_set(e, ERR_SYS, "%s '%s': %s", what[f.step],
	    name != NULL ? name : "", strerror(f.sys));
	e->sys = f.sys;
	return -1;
}

/* Whether the child has failed to start the program; then *f is set. */
static bool
has_failed(int report, const volatile struct note *note, struct failure *f)
{
	ssize_t n;

	if (report == -1) {
		*f = (struct failure){ note->step, note->sys };
		return f->sys != 0;
	}
	do
		n = read(report, f, sizeof(*f));
	while (n == -1 && errno == EINTR);
	return n == (ssize_t)sizeof(*f);
}

/*
 * Finds the signals to reset: the ignored ones, which exec leaves ignored, and
 * those with a handler.  The program may begin to handle the known ones later.
 */
static uint64_t
find_altered(void)
{
	static const int known[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM,
		SIGCHLD, SIGPIPE, SIGXFSZ };
	struct sigaction sa;
	uint64_t found = 0;
	size_t i;
	int k;

	for (i = 0; i < COUNTOF(known); i++)
		found |= UINT64_C(1) << (known[i] - 1);
	for (k = 1; k <= SIGNALS; k++)
		if (sigaction(k, NULL, &sa) == 0 && sa.sa_handler != SIG_DFL)
			found |= UINT64_C(1) << (k - 1);
	return found;
}

/* The pid, or -1 with *f set. */
static pid_t
attempt(struct plan *p, bool shares, struct failure *f, struct err *e)
{
	volatile struct note note = { 0 };
	int fd[2] = { -1, -1 };
	sigset_t all, old;
	pid_t pid;

	if (!shares && os_pipe(fd, 0, e) == -1) {
		*f = (struct failure){ STEP_FDS, errno };
		return -1;
	}
	p->report = fd[1];
	p->note = &note;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	pid = launch(p);
	f->step = STEP_EXEC;
	f->sys = errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	os_close(&fd[1]);
	p->note = NULL;
	p->shared = note.entered;
	if (pid != -1 && p->fn == NULL && has_failed(fd[0], &note, f)) {
		while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
			;
		pid = -1;
	}
	os_close(&fd[0]);
	return pid;
}

/* Never raises a limit: the lower one of the present and the new one holds. */
static void
set_limit(struct plan *p, resource_id resource, uint64_t max)
{
	struct rlimit r;

	if (max == 0 || max >= RLIM_INFINITY ||
	    getrlimit(resource, &r) == -1 || r.rlim_cur == (rlim_t)max)
		return;
	if (r.rlim_max == RLIM_INFINITY || r.rlim_max > (rlim_t)max) {
		r.rlim_cur = (rlim_t)max;
		if (resource != RLIMIT_NOFILE)
			r.rlim_max = r.rlim_cur;
	} else
		r.rlim_cur = r.rlim_max;
	p->limits[p->nlimits++] = (struct limit){ resource, r };
}

static void
set_limits(struct plan *p, const struct os_limits *l)
{
	set_limit(p, RLIMIT_NOFILE, l->nofile);
#ifdef RLIMIT_AS
	set_limit(p, RLIMIT_AS, l->memory);
#else
	set_limit(p, RLIMIT_DATA, l->memory);
#endif
	set_limit(p, RLIMIT_DATA, l->data);
	set_limit(p, RLIMIT_CPU, l->cpu_seconds);
}

pid_t
os_spawn(const struct os_spawn *o, struct err *e)
{
	struct plan p = { .cwd = o->cwd, .group = o->group,
		.outlives = o->outlives, .fn = o->fn, .arg = o->arg,
		.rules = -1 };
	struct os_spawn_memo own = { 0 }, *memo = o->memo;
	struct failure f = { STEP_EXEC, 0 };
	struct arena a = { 0 };
	int i, made[3] = { -1, -1, -1 };
	pid_t pid = -1;

	memo = memo != NULL ? memo : &own;
	p.argv = o->argv;
	p.env = o->env != NULL ? o->env : our_env();
	if (o->fn == NULL) {
		p.path = find(&a, o->argv[0], p.env);
		if (p.path == NULL)
			goto out;
		p.sh_argv = shell_argv(&a, p.path, o->argv);
	}
	set_limits(&p, &o->limits);
	for (i = 0; i < 3; i++) {
		p.fd[i] = place(o->fd[i], i, &made[i]);
		if (p.fd[i] == -1) {
			f.step = STEP_FDS;
			goto out;
		}
	}
	if (o->bounds != NULL) {
		p.rules = os_confine_open(o->bounds, e);
		if (p.rules == -1) {
			f.step = STEP_CONFINE;
			goto out;
		}
	}
	if (memo->altered == 0)
		memo->altered = find_altered();
	p.altered = memo->altered;
	pid = attempt(&p, memo->shares, &f, e);
	memo->shares |= p.shared;
out:
	if (pid == -1) {
		f.sys = f.sys != 0 ? f.sys : errno;
		describe(e, f, o);
	}
	for (i = 0; i < 3; i++)
		os_close(&made[i]);
	os_close(&p.rules);
	arena_free(&a);
	return pid;
}

/* A variable that is set or removed: the length of its name. */
static size_t
name_length(const char *v)
{
	const char *end = strchr(v, '=');

	return end != NULL ? (size_t)(end - v) : strlen(v);
}

/* Whether one of the names, of these lengths, is that of the variable. */
static bool
is_set(const char *const *set, const size_t *len, size_t n, const char *v)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (set[i][0] == v[0] && strncmp(set[i], v, len[i]) == 0 &&
		    (v[len[i]] == '=' || v[len[i]] == '\0'))
			return true;
	return false;
}

const char **
os_env_change(struct arena *a, const char *const *env,
    const char *const *set, size_t n)
{
	size_t *len = NEW_N(a, size_t, n);
	const char **out;
	size_t i, k = 0, have = 0;

	while (env[have] != NULL)
		have++;
	out = NEW_N(a, const char *, have + n + 1);
	for (i = 0; i < n; i++)
		len[i] = name_length(set[i]);
	for (i = 0; i < n; i++)
		if (set[i][len[i]] == '=' &&
		    !is_set(set + i + 1, len + i + 1, n - i - 1, set[i]))
			out[k++] = set[i];
	for (i = 0; i < have; i++)
		if (!is_set(set, len, n, env[i]))
			out[k++] = env[i];
	return out;
}

const char **
os_env(struct arena *a, const char *const *set, size_t n)
{
	return os_env_change(a, our_env(), set, n);
}

/* SPDX-License-Identifier: ISC */
/*
 * waza run --watch: runs again what a changed file affects.
 *
 * Each round is a copy of the process, made with fork(), which loads and runs
 * the suites and exits; so nothing of a round is left.  Between rounds the
 * files of the suites' directories and of their skills are compared by time
 * and size.  A round starts when two looks in a row see the same files.
 *
 * A round may write files beside its suite, such as reports.  Files are
 * therefore compared with their state after the round, and only suites, task
 * files and skills with their state before it.
 */
#include "cmd/run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/workspace.h"
#include "suite/spec.h"

enum {
	PAUSE_MS = 300,		/* between two looks */
	WAIT_MS = 10,		/* between looks at a round */
	FILES_MAX = 20000, DEPTH_MAX = 16
};

struct file {
	const char *path;
	size_t suite;
	bool source;		/* the suite, a task file, or of a skill */
	int64_t ns, size;
};

struct look {
	struct arena arena;
	struct cmd_found *suites;
	struct spec_suite **specs;	/* NULL: cannot be loaded */
	size_t nsuites;
	struct buf list;		/* of struct file */
};

static size_t
count(const struct look *l)
{
	return l->list.n / sizeof(struct file);
}

static struct file *
files(const struct look *l)
{
	return (struct file *)(void *)l->list.p;
}

static bool
is_task_file(const struct spec_suite *s, const char *path)
{
	size_t i;

	for (i = 0; s != NULL && i < s->ntasks; i++)
		if (s->tasks[i].at.file != NULL &&
		    strcmp(s->tasks[i].at.file, path) == 0)
			return true;
	return false;
}

static void
add_file(struct look *l, const char *path, size_t suite, bool source)
{
	struct file f = { .path = path, .suite = suite };
	struct stat st;

	if (lstat(path, &st) == -1 || !S_ISREG(st.st_mode) ||
	    count(l) >= FILES_MAX)
		return;
	f.ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	f.size = (int64_t)st.st_size;
	f.source = source || strcmp(path, l->suites[suite].path) == 0 ||
	    is_task_file(l->specs[suite], path);
	buf_put(&l->list, (struct str){ (const char *)&f, sizeof(f) });
}

/* Hidden files are those of waza, git and editors. */
static void
add_dir(struct look *l, const char *dir, size_t suite, bool source,
    unsigned depth)
{
	struct field_strs names;
	const char *path;
	struct stat st;
	size_t i;

	if (depth > DEPTH_MAX || spec_list(&l->arena, dir, &names) == -1)
		return;
	for (i = 0; i < names.n; i++) {
		if (names.v[i].p[0] == '.' || str_ends(names.v[i], STR("~")) ||
		    str_is(names.v[i], "node_modules"))
			continue;
		path = spec_join(&l->arena, dir, names.v[i]);
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
			add_dir(l, path, suite, source, depth + 1);
		else
			add_file(l, path, suite, source);
	}
}

static int
look(struct cmd_run *r, struct look *l)
{
	const struct cmd_run_opt *o = &r->opt;
	struct cmd_find how = { .config_path = o->execution.config_path,
		.config_json = o->execution.config_json,
		.trust = o->execution.trust,
		.discover = o->selection.discover };
	struct cmd_call call = *r->job.call;
	struct spec_notes notes = { .arena = &l->arena, .vars = r->vars,
		.trust = o->execution.trust };
	struct field_strs dirs;
	size_t i, k, skipped;

	call.arena = &l->arena;
	if (cmd_find_suites(&call, &how, &l->suites, &l->nsuites,
	    &skipped) == -1)
		return -1;
	l->specs = NEW_N(&l->arena, struct spec_suite *, l->nsuites);
	for (i = 0; i < l->nsuites; i++) {
		l->specs[i] = spec_load(&l->arena, l->suites[i].path, &notes);
		add_dir(l, spec_dir_of(&l->arena, l->suites[i].path), i,
		    false, 0);
		if (o->execution.context_dir != NULL)
			add_dir(l, o->execution.context_dir, i, false, 0);
		if (l->specs[i] == NULL)
			continue;
		dirs = spec_skill_dirs(&l->arena, l->specs[i], NULL);
		for (k = 0; k < dirs.n; k++)
			add_dir(l, dirs.v[k].p, i, true, 0);
		dirs = l->specs[i]->matrix.skill;
		for (k = 0; k < dirs.n; k++)
			add_dir(l, spec_path(&l->arena, l->specs[i]->dir,
			    dirs.v[k]), i, true, 0);
	}
	return 0;
}

static void
forget(struct look *l)
{
	arena_free(&l->arena);
	buf_free(&l->list);
	*l = (struct look){ 0 };
}

static const struct file *
find(const struct look *l, const struct file *f, size_t hint)
{
	const struct file *v = files(l);
	size_t i, n = count(l);

	for (i = 0; i < n; i++, hint++)
		if (v[hint % n].suite == f->suite &&
		    strcmp(v[hint % n].path, f->path) == 0)
			return &v[hint % n];
	return NULL;
}

/*
 * Calls fn for each file of b that is new or changed since a, or has gone, at
 * most once; sources: only suites, task files and skills.  How many there are.
 */
static size_t
differences(const struct look *a, const struct look *b, bool sources,
    void (*fn)(void *, const struct file *), void *arg)
{
	const struct file *v = files(b), *old;
	size_t i, n = 0;

	for (i = 0; i < count(b); i++) {
		old = find(a, &v[i], i);
		if ((sources && !v[i].source) || (old != NULL &&
		    old->ns == v[i].ns && old->size == v[i].size))
			continue;
		n++;
		if (fn != NULL)
			fn(arg, &v[i]);
	}
	v = files(a);
	for (i = 0; i < count(a); i++)
		if ((!sources || v[i].source) && find(b, &v[i], i) == NULL) {
			n++;
			if (fn != NULL)
				fn(arg, &v[i]);
		}
	return n;
}

/* What runs next: tasks of the suites of a look. */
struct next {
	const struct look *look;
	bool *suite;			/* all of it, */
	bool **task;			/* or these tasks */
	const char *because;		/* a changed file */
	size_t files;
};

/* Whether the task gets the file as an input. */
static bool
takes(const struct spec_task *t, const char *path)
{
	const struct spec_input_file *v = t->def->inputs.files.v;
	size_t i;
	struct str p = str_of(path);

	for (i = 0; i < t->def->inputs.files.n; i++)
		if (v[i].path.n > 0 && str_ends(p, v[i].path) &&
		    (p.n == v[i].path.n ||
		    p.p[p.n - v[i].path.n - 1] == '/'))
			return true;
	return false;
}

static void
on_change(void *arg, const struct file *f)
{
	struct next *n = arg;
	const struct spec_suite *s;
	bool some = false;
	size_t i;

	n->because = f->path;
	n->files++;
	if (f->suite >= n->look->nsuites)
		return;
	s = n->look->specs[f->suite];
	for (i = 0; s != NULL && i < s->ntasks &&
	    strcmp(f->path, n->look->suites[f->suite].path) != 0; i++)
		if ((s->tasks[i].at.file != NULL &&
		    strcmp(s->tasks[i].at.file, f->path) == 0) ||
		    takes(&s->tasks[i], f->path))
			n->task[f->suite][i] = some = true;
	if (!some)
		n->suite[f->suite] = true;
}

/* An id as a pattern that matches only it. */
static const char *
quote(struct arena *a, struct str id)
{
	struct buf b = { 0 };
	struct str s;
	size_t i;

	for (i = 0; i < id.n; i++) {
		if (id.p[i] != '\0' && strchr("*?[\\", id.p[i]) != NULL)
			buf_putc(&b, '\\');
		buf_putc(&b, id.p[i]);
	}
	s = arena_take(a, &b);
	return arena_cstr(a, s);
}

/* Lets the copy run only these; false: nothing that was selected. */
static bool
select_next(struct cmd_run *r, const struct next *n)
{
	struct arena *a = r->job.call->arena;
	struct opt_list tasks = { 0 };
	char **args = NEW_N(a, char *, n->look->nsuites + 1);
	size_t i, k, nargs = 0;
	bool whole = false, part = false, used;

	for (i = 0; i < n->look->nsuites; i++) {
		const struct spec_suite *s = n->look->specs[i];

		used = n->suite[i] || s == NULL;
		whole |= n->suite[i];
		for (k = 0; s != NULL && k < s->ntasks; k++)
			if ((n->suite[i] || n->task[i][k]) &&
			    run_selects(&r->run, &s->tasks[k])) {
				opt_add(a, &tasks, quote(a, s->tasks[k].id));
				used = true;
				part |= !n->suite[i];
			}
		if (used)
			args[nargs++] = arena_cstr(a,
			    str_of(n->look->suites[i].path));
	}
	if (nargs == 0 || (tasks.n == 0 && !whole))
		return false;
	r->job.call->args = args;
	r->job.call->nargs = nargs;
	r->opt.selection.discover = NULL;
	if (part || r->opt.job.tasks.n > 0) {	/* else also trigger tests */
		r->opt.job.tasks = tasks;
		r->run.tasks = tasks.v;
		r->run.ntasks = tasks.n;
	}
	return true;
}

static void
pause_ms(int64_t ms)
{
	const struct timespec t = { .tv_nsec = (long)ms * 1000000 };

	(void)nanosleep(&t, NULL);
}

/* A signal of the set that is waiting for us; 0: none. */
static int
pending(const int *signals, size_t n)
{
	sigset_t set;
	size_t i;

	if (sigpending(&set) == 0)
		for (i = 0; i < n; i++)
			if (sigismember(&set, signals[i]) == 1)
				return signals[i];
	return 0;
}

/*
 * Waits for the copy.  Signals that end us are blocked meanwhile: a terminal
 * sends an interrupt to the copy as well, which ends its run and reports; the
 * others are passed on.
 */
static int
wait_for(pid_t pid)
{
	static const int ends[] = { SIGTERM, SIGHUP, SIGINT };
	bool passed = false;
	int status = 0, sig;
	pid_t got;

	do {
		got = waitpid(pid, &status, WNOHANG);
		sig = pending(ends, COUNTOF(ends));
		if (got == 0 && sig != 0 && sig != SIGINT && !passed) {
			(void)kill(pid, sig);
			passed = true;
		}
		if (got == 0)
			pause_ms(WAIT_MS);
	} while (got == 0 || (got == -1 && errno == EINTR));
	if (sig != 0)
		return 128 + sig;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}

/* Runs a round in a copy; its exit status, or 128 and a signal. */
static int
round_of(struct cmd_run *r, const struct next *n, int (*once)(struct cmd_run *))
{
	sigset_t block, old;
	int status = CMD_ERROR;
	pid_t pid;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, &old);
	pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		_exit(n == NULL || select_next(r, n) ? once(r) : CMD_OK);
	}
	if (pid == -1) {
		err_sys(r->job.call->err, "fork");
		cmd_complain(r->job.call->err);
	} else
		status = wait_for(pid);
	if (status < 128)
		sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}

/*
 * Waits until the files differ from those before, and stay the same for one
 * pause.  *now is the last look.
 */
static void
wait_for_change(struct cmd_run *r, const struct look *before,
    const struct look *after, struct look *now)
{
	struct look last = { 0 };
	bool changed = false;

	for (;;) {
		forget(&last);
		last = *now;
		*now = (struct look){ 0 };
		if (changed)
			pause_ms(PAUSE_MS);
		if (look(r, now) == -1)
			continue;	/* a file is being replaced */
		if (changed && differences(&last, now, false, NULL, NULL) == 0)
			break;
		changed = differences(after, now, false, NULL, NULL) > 0 ||
		    differences(before, now, true, NULL, NULL) > 0;
		if (!changed)
			pause_ms(PAUSE_MS);
	}
	forget(&last);
}

static void
explain(const struct next *n)
{
	if (n->files == 1)
		cmd_say("\nwaza: %s changed\n", n->because);
	else
		cmd_say("\nwaza: %s and %zu other file%s changed\n",
		    n->because, n->files - 1, n->files == 2 ? "" : "s");
}

int
cmd_run_watch(struct cmd_run *r, int (*once)(struct cmd_run *))
{
	struct look before = { 0 }, after = { 0 }, now = { 0 };
	struct next n = { 0 };
	bool first = true;
	size_t i;
	int status;

	for (;;) {
		forget(&before);
		if (look(r, &before) == -1 && first) {
			status = cmd_complain(r->job.call->err);
			break;
		}
		if (!first && r->rerun_id == NULL)
			r->rerun_id = run_make_id(r->job.call->arena);
		status = round_of(r, first ? NULL : &n, once);
		if (status > 128 || (first && count(&before) == 0))
			break;
		first = false;
		forget(&after);
		if (look(r, &after) == -1)
			forget(&after);
		cmd_say("waza: watching %zu files; Ctrl-C ends\n",
		    count(&after));
		wait_for_change(r, &before, &after, &now);
		n = (struct next){ .look = &now,
			.suite = NEW_N(&now.arena, bool, now.nsuites),
			.task = NEW_N(&now.arena, bool *, now.nsuites) };
		for (i = 0; i < now.nsuites; i++)
			n.task[i] = NEW_N(&now.arena, bool,
			    now.specs[i] != NULL ? now.specs[i]->ntasks : 0);
		if (differences(&after, &now, false, on_change, &n) == 0)
			(void)differences(&before, &now, true, on_change, &n);
		explain(&n);
	}
	forget(&before);
	forget(&after);
	forget(&now);
	return status;
}

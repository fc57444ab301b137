/* SPDX-License-Identifier: ISC */
/*
 * Repositories in a trial's workspace.
 *
 * Each is a clone that borrows its objects from the user's repository, which
 * is only read: changes that the agent makes to branches, tags and settings
 * disappear with the workspace, and trials do not affect each other.
 *
 *	LOOK      find the repository and the hash of the commit
 *	CLONE     without files
 *	CHECKOUT  the files, with a detached HEAD
 *
 * A repository is looked up once per run, so that all trials get the same
 * commit even if the user commits in the meantime.
 */
#include "run/run_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/os_path.h"
#include "base/os_spawn.h"
#include "io/git.h"

enum {
	OUTPUT_MAX = 64 << 10,	/* bytes of git's output */
	ARGS = 24		/* of a git command, with the last NULL */
};

static const struct spec_repo *
spec_of(const struct run_trial *t)
{
	const struct spec_repo *v = t->ask.task->def->inputs.repos.v;

	return &v[t->fetch.next];
}

static struct str
wanted(const struct run_trial *t)
{
	struct str commit = spec_of(t)->commit;

	return commit.n > 0 ? commit : STR("HEAD");
}

/*
 * Reports a problem with the current repository.  False: the trial fails.
 * True: the agent reads no files, and the trial continues without it.
 */
static bool PRINTF(2, 3)
wrong(struct run_trial *t, const char *fmt, ...)
{
	struct str why;
	struct err all;
	va_list ap;

	va_start(ap, fmt);
	why = arena_vfmt(&t->ask.arena, fmt, ap);
	va_end(ap);
	why = arena_fmt(&t->ask.arena, "repository \"%.*s\": %.*s",
	    STRF(utf8_cut(spec_of(t)->source, 60)), STRF(why));
	err_set(&all, ERR_SYS, "%.*s", STRF(why));
	if (!t->ask.cancelled && run_missing_input(t, &all) == 0)
		return true;
	t->ask.error = why;
	return false;
}

/* The last line of its errors, which has the reason. */
static struct str
last_error(const struct proc *p)
{
	struct str s = str_trim(buf_str(&p->err.buf));
	size_t i;

	if (s.n == 0)
		return STR("");
	for (i = s.n; i > 0 && s.p[i - 1] != '\n'; i--)
		;
	s.p += i;
	s.n -= i;
	if (str_starts(s, STR("fatal: "))) {
		s.p += 7;
		s.n -= 7;
	}
	return s;
}

/* Takes the first line of a text. */
static struct str
take_line(struct str *text)
{
	const char *nl = text->n == 0 ? NULL : memchr(text->p, '\n', text->n);
	struct str s = { text->p, nl == NULL ? text->n :
	    (size_t)(nl - text->p) };
	size_t n = s.n + (nl != NULL);

	if (n == 0)
		return STR("");
	text->p += n;
	text->n -= n;
	return s;
}

static bool
is_hash(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (strchr("0123456789abcdef", s.p[i]) == NULL ||
		    s.p[i] == '\0')
			return false;
	return s.n >= 40 && s.n <= 64;
}

static const struct run_repo *
find(const struct run_trial *t)
{
	const struct run_repo *r;

	for (r = t->run->repos; r != NULL; r = r->next)
		if (strcmp(r->source, t->fetch.source) == 0 &&
		    str_eq(r->wanted, wanted(t)))
			return r;
	return NULL;
}

/* Remembers the output of rev-parse for the rest of the run. */
static bool
remember(struct run_trial *t)
{
	struct arena *a = &t->run->arena;
	struct str text = buf_str(&t->fetch.proc.out.buf);
	struct str store = take_line(&text), hash = take_line(&text);
	struct run_repo *r;
	const char *path;

	if (store.n == 0 || !is_hash(hash))
		return wrong(t, "unexpected output of git rev-parse");
	t->fetch.repo = find(t);
	if (t->fetch.repo != NULL)
		return true;		/* another trial has looked it up */
	path = store.p[0] == '/' ? arena_cstr(a, store) :
	    arena_cstr(a, arena_fmt(a, "%s/%.*s", t->fetch.source,
	    STRF(store)));
	r = NEW(a, struct run_repo);
	r->store = path == NULL ? NULL : os_real(a, path);
	if (r->store == NULL)
		return wrong(t, "unexpected output of git rev-parse");
	r->source = arena_cstr(a, str_of(t->fetch.source));
	r->wanted = wanted(t);
	r->commit = arena_str(a, hash);
	r->next = t->run->repos;
	t->run->repos = r;
	t->fetch.repo = r;
	return true;
}

/* The name of a repository: its directory, without .git. */
static struct str
name_of(struct arena *a, const char *store)
{
	struct str s = str_of(store);

	if (str_ends(s, STR("/.git")))
		s.n -= 5;
	else if (str_ends(s, STR(".git")))
		s.n -= 4;
	return arena_str(a, str_base(s));
}

/* An earlier repository may contain links: check where the path leads. */
static bool
choose_dest(struct run_trial *t)
{
	struct str dest = spec_of(t)->dest;
	const char *path;

	if (dest.n == 0)
		dest = name_of(&t->ask.arena, t->fetch.repo->store);
	path = str_is(dest, ".") ? t->ask.dir : arena_fmt(&t->ask.arena,
	    "%s/%.*s", t->ask.dir, STRF(dest)).p;
	if ((!str_is(dest, ".") && !workspace_inside(dest)) ||
	    !os_inside(t->ask.dir, path))
		return wrong(t, "\"%.*s\" is not a path inside the workspace",
		    STRF(utf8_cut(dest, 60)));
	t->fetch.dest = path;
	return true;
}

/* Our environment without the variables that redirect git. */
static const char **
git_env(struct arena *a)
{
	const char **set = NEW_N(a, const char *, GIT_VARS + 2);

	memcpy(set, git_vars, sizeof(git_vars));
	set[GIT_VARS] = "GIT_TERMINAL_PROMPT=0";
	set[GIT_VARS + 1] = "GIT_OPTIONAL_LOCKS=0";
	return os_env(a, set, GIT_VARS + 2);
}

/* The command of the current step: at most ARGS words with the NULL. */
static void
set_argv(struct run_trial *t, const char **argv)
{
	const struct run_fetch *f = &t->fetch;
	const char *common[] = { "git", "-c", "core.hooksPath=/dev/null", "-c",
		"advice.detachedHead=false" };
	const char *step[][ARGS - COUNTOF(common)] = {
		[RUN_FETCH_LOOK] = { "-C", f->source, "rev-parse",
		    "--git-common-dir", arena_fmt(&t->ask.arena,
		    "%.*s^{commit}", STRF(wanted(t))).p },
		[RUN_FETCH_CLONE] = { "clone", "--quiet", "--shared",
		    "--no-checkout", "--template=", "--config",
		    "remote.origin.pushurl=nowhere", "--",
		    f->repo != NULL ? f->repo->store : NULL, f->dest },
		[RUN_FETCH_CHECKOUT] = { "-C", f->dest, "checkout", "--quiet",
		    "--detach", f->repo != NULL ? f->repo->commit.p : NULL },
	};

	memcpy(argv, common, sizeof(common));
	memcpy(argv + COUNTOF(common), step[f->step], sizeof(step[0]));
}

static void on_git(void *);

/* True: a child runs.  False: *ok is the result of wrong(). */
static bool
start(struct run_trial *t, bool *ok)
{
	const char *argv[ARGS];
	struct proc_opts o = { .argv = argv, .out_max = OUTPUT_MAX,
		.err_max = OUTPUT_MAX, .done = on_git, .arg = t };
	struct run *run = t->run;
	int64_t all = run_timeout_ms(run, t->ask.task);
	struct err e = { 0 };

	set_argv(t, argv);
	o.env = git_env(&t->ask.arena);
	o.timeout_ms = all - (loop_clock(run->loop) - t->fetch.started);
	if (o.timeout_ms < 1)
		o.timeout_ms = 1;
	if (proc_start(run->procs, &t->fetch.proc, &o, &e) == 0)
		return true;
	*ok = e.sys == ENOENT ? wrong(t, "git is not installed (not found in "
	    "PATH)") : wrong(t, "%s", e.msg);
	return false;
}

/* Prepares the current repository; false if there are no more. */
static bool
begin(struct run_trial *t)
{
	struct run_fetch *f = &t->fetch;

	if (f->next == t->ask.task->def->inputs.repos.n)
		return false;
	f->source = spec_path(&t->ask.arena, spec_task_dir(&t->ask.arena,
	    t->ask.task), spec_of(t)->source);
	f->step = RUN_FETCH_LOOK;
	f->repo = find(t);
	f->dest = NULL;
	return true;
}

/* Starts with the next repositories.  True: a child runs. */
static bool
advance(struct run_trial *t)
{
	struct run_fetch *f = &t->fetch;
	bool ok;

	for (; begin(t); f->next++) {
		if (f->repo != NULL) {
			f->step = RUN_FETCH_CLONE;
			if (!choose_dest(t))
				return false;
			if (f->dest == NULL)
				continue;
		}
		if (start(t, &ok))
			return true;
		if (!ok)
			return false;
	}
	return false;
}

/* Git failed: chooses the message. */
static bool
report_failure(struct run_trial *t)
{
	const struct proc_result *r = &t->fetch.proc.res;
	struct str said = last_error(&t->fetch.proc);

	if (r->timed_out)
		return wrong(t, "git took longer than %lld s", (long long)
		    run_timeout_ms(t->run, t->ask.task) / 1000);
	if (t->fetch.step == RUN_FETCH_LOOK && said.n > 0 &&
	    t->fetch.proc.out.buf.n > 0)
		return wrong(t, "commit \"%.*s\" not found",
		    STRF(utf8_cut(wanted(t), 60)));
	return said.n > 0 ? wrong(t, "%.*s", STRF(said)) :
	    wrong(t, "git ended with status %d", r->status);
}

static void
note_commit(struct run_trial *t)
{
	t->fetch.note = arena_fmt(&t->ask.arena,
	    "%.*s%srepository %.*s at %.12s", STRF(t->fetch.note),
	    t->fetch.note.n > 0 ? "; " : "",
	    STRF(name_of(&t->ask.arena, t->fetch.repo->store)),
	    t->fetch.repo->commit.p);
}

/* After a child.  True: another runs. */
static bool
step(struct run_trial *t)
{
	struct run_fetch *f = &t->fetch;
	bool ok = true;

	if (t->ask.cancelled)
		return false;
	if (f->proc.res.status != 0) {
		if (!report_failure(t))
			return false;
		f->next++;		/* continue without it */
		return advance(t);
	}
	switch (f->step) {
	case RUN_FETCH_LOOK:
		f->step = RUN_FETCH_CLONE;
		f->dest = NULL;
		if (!remember(t) || (f->repo != NULL && !choose_dest(t)))
			return false;
		break;
	case RUN_FETCH_CLONE:
		f->step = RUN_FETCH_CHECKOUT;
		break;
	case RUN_FETCH_CHECKOUT:
		note_commit(t);
		f->dest = NULL;
		break;
	}
	if (f->dest != NULL && start(t, &ok))
		return true;
	if (!ok)
		return false;
	f->next++;
	return advance(t);
}

static void
on_git(void *arg)
{
	struct run_trial *t = arg;

	if (step(t))
		return;
	proc_fini(&t->fetch.proc);
	run_trial_resume(t, RUN_TRIAL_FILL);
}

bool
run_fetch(struct run_trial *t)
{
	t->fetch = (struct run_fetch){
		.started = loop_clock(t->run->loop) };
	return t->ask.task->def->inputs.repos.n > 0 && advance(t);
}

void
run_fetch_cancel(struct run_trial *t)
{
	proc_cancel(&t->fetch.proc);
}

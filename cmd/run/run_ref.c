/* SPDX-License-Identifier: ISC */
/*
 * waza run --baseline-ref REF: the suite with its skills as they are at a git
 * revision.
 *
 * Their files are read from git and written below a temporary directory, as
 * the repository has them.  A tree of git may be a stranger's: names that lead
 * elsewhere are refused, and links are written last, so that no file is
 * written through one.
 */
#include "cmd/run.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os_path.h"
#include "cmd/run/change_set.h"
#include "suite/spec.h"

/* A directory that was copied. */
struct copied {
	struct copied *next;
	struct str below, path;		/* in the repository; the copy */
};

struct copier {
	struct cmd_changes set;		/* its repository and commit */
	const char *ref, *top;		/* top: of all copies */
	const char *dir;		/* of the current one */
	struct copied *done;
	size_t n;
	struct arena *arena;
	struct err *err;
};

/* The revision, for messages. */
static struct str
at(const struct copier *c)
{
	return arena_fmt(c->arena, "%.100s (%.12s)", c->ref, c->set.commit.p);
}

/* Whether a link at a path inside a directory leads to a place inside it. */
static bool
stays_inside(struct str dir, struct str path, struct str target)
{
	struct str word;
	size_t i, depth = 0;

	for (i = dir.n + 1; i < path.n; i++)
		depth += path.p[i] == '/';
	if (target.n == 0 || target.p[0] == '/' ||
	    memchr(target.p, '\0', target.n) != NULL)
		return false;
	while (target.n > 0) {
		word = git_word(&target, '/');
		if (str_is(word, "..") && depth-- == 0)
			return false;
		depth += word.n > 0 && !str_is(word, ".") &&
		    !str_is(word, "..");
	}
	return true;
}

static int
put_link(struct copier *c, struct str dir, const struct git_file *f)
{
	const char *path;
	size_t slash;

	if (!stays_inside(dir, f->path, f->text))
		return err_set(c->err, ERR_SCHEMA, "%.*s at %.*s is a link "
		    "that leads out of its skill directory: it cannot be "
		    "copied", STRF(utf8_cut(f->path, 200)), STRF(at(c)));
	for (slash = f->path.n; slash > 0 && f->path.p[slash - 1] != '/';
	    slash--)
		;
	if (slash > 1 && workspace_make_dir(c->arena, c->dir,
	    (struct str){ f->path.p, slash - 1 }, c->err) == -1)
		return -1;
	path = spec_join(c->arena, c->dir, f->path);
	return symlink(arena_str(c->arena, f->text).p, path) == -1 ?
	    err_sys(c->err, path) : 0;
}

static int
put_file(struct copier *c, const struct git_file *f)
{
	const char *path;

	if (workspace_put(c->arena, c->dir, f->path, f->text, c->err) == -1)
		return -1;
	path = spec_join(c->arena, c->dir, f->path);
	return f->program && chmod(path, 0755) == -1 ?
	    err_sys(c->err, path) : 0;
}

/* The files of a directory of the commit. */
static int
copy_files(struct copier *c, struct str below)
{
	struct git_file *v;
	size_t i, n;
	int r;

	r = git_files(&c->set.git, c->set.commit, below.n > 0 ?
	    arena_fmt(c->arena, "%.*s/", STRF(below)).p : NULL, NULL, &v, &n,
	    c->err);
	if (r == 0 && n == 0)
		return err_set(c->err, ERR_SCHEMA, "%.*s does not exist at "
		    "%.*s: there is nothing to compare with; use --baseline",
		    STRF(below), STRF(at(c)));
	for (i = 0; i < n && r == 0; i++)
		if (!workspace_inside(v[i].path))
			r = err_set(c->err, ERR_SCHEMA, "\"%.*s\" at %.*s is "
			    "not a path inside the repository",
			    STRF(utf8_cut(v[i].path, 200)), STRF(at(c)));
	for (i = 0; i < n && r == 0; i++)
		if (!v[i].link)
			r = put_file(c, &v[i]);
	for (i = 0; i < n && r == 0; i++)
		if (v[i].link)
			r = put_link(c, below, &v[i]);
	return r;
}

/* Copies a skill directory, once; 0 and the path of the copy, or -1. */
static int
copy_dir(struct copier *c, const char *from, struct str *to)
{
	const char *real = os_real(c->arena, from);	/* it may be a link */
	struct copied *d;
	struct str below;

	if (!cmd_changes_locate(&c->set, real != NULL ? real : from, &below))
		return err_set(c->err, ERR_SCHEMA, "skill directory %s is not "
		    "in the repository %s: it has no revision %s", from,
		    c->set.git.top, c->ref);
	for (d = c->done; d != NULL; d = d->next)
		if (str_eq(d->below, below)) {
			*to = d->path;
			return 0;
		}
	c->dir = arena_fmt(c->arena, "%s/%zu", c->top, ++c->n).p;
	if (mkdir(c->dir, 0700) == -1)
		return err_sys(c->err, c->dir);
	*to = arena_fmt(c->arena, "%s%s%.*s", c->dir, below.n > 0 ? "/" : "",
	    STRF(below));
	d = NEW(c->arena, struct copied);
	*d = (struct copied){ c->done, below, *to };
	c->done = d;
	return copy_files(c, below);
}

static int
copy_dirs(struct copier *c, const char *base, struct field_strs *dirs)
{
	struct field_strs new = { NEW_N(c->arena, struct str, dirs->n),
		dirs->n };
	size_t i;

	for (i = 0; i < dirs->n; i++)
		if (copy_dir(c, spec_path(c->arena, base, dirs->v[i]),
		    &new.v[i]) == -1)
			return -1;
	*dirs = new;
	return 0;
}

static int
copy_task(struct copier *c, struct spec_task *t)
{
	struct spec_def *d = NEW(c->arena, struct spec_def);

	*d = *t->def;
	t->def = d;
	return copy_dirs(c, spec_task_dir(c->arena, t), &d->skill_directories);
}

static int
copy_suite(struct copier *c, struct cmd_suite *s)
{
	struct spec_suite *new = NEW(c->arena, struct spec_suite);
	struct run_ref *ref = NEW(c->arena, struct run_ref);
	size_t i;

	*new = *s->spec;
	new->tasks = NEW_N(c->arena, struct spec_task, new->ntasks);
	if (copy_dirs(c, new->dir, &new->config.skill_directories) == -1)
		return -1;
	for (i = 0; i < new->ntasks; i++) {
		new->tasks[i] = s->spec->tasks[i];
		if (new->tasks[i].def->skill_directories.n > 0 &&
		    copy_task(c, &new->tasks[i]) == -1)
			return -1;
	}
	ref->name = str_of(c->ref);
	ref->commit = c->set.commit;
	s->ref_spec = new;
	s->ref = ref;
	s->run.has_ref = true;
	return 0;
}

static int
open_ref(struct cmd_run *r, struct cmd_suite *s, size_t i)
{
	struct copier c = { .ref = r->opt.selection.baseline_ref,
		.arena = r->job.call->arena, .err = r->job.call->err };

	c.set.git = (struct git){ .arena = c.arena, .dir = spec_dir_of(c.arena,
		s->path), .needed_by = "--baseline-ref" };
	if (git_open(&c.set.git, c.err) == -1 ||
	    git_commit(&c.set.git, c.ref, &c.set.commit, c.err) == -1)
		return -1;
	r->refs.arena = c.arena;
	c.top = workspace_take(&r->refs, c.arena, arena_fmt(c.arena, "ref-%zu",
	    i + 1), c.err);
	return c.top == NULL ? -1 : copy_suite(&c, s);
}

size_t
cmd_run_arms(const struct cmd_run *r, const struct cmd_unit *u)
{
	return !u->baseline ? 1 : r->opt.selection.baseline_ref == NULL ? 2 :
	    3;
}

size_t
cmd_run_passes(const struct cmd_run *r, const struct cmd_suite *s)
{
	size_t i, n = 0;

	for (i = 0; i < r->nunits; i++)
		if (r->units[i].suite == s)
			n += cmd_run_arms(r, &r->units[i]);
	return n;
}

int
cmd_run_ref_open(struct cmd_run *r)
{
	size_t i;

	for (i = 0; i < r->nsuites; i++)
		if (r->opt.selection.baseline_ref != NULL &&
		    r->suites[i].baseline && open_ref(r, &r->suites[i],
		    i) == -1)
			return -1;
	return 0;
}

void
cmd_run_ref_close(struct cmd_run *r)
{
	struct err e;

	if (r->refs.dir != NULL && workspace_close(&r->refs, false, &e) == -1)
		cmd_say("waza: warning: %s\n", e.msg);
}

/* SPDX-License-Identifier: ISC */
/*
 * Two scans of a directory and the differences between them.
 *
 * A scan works through a queue of directories, each read as a whole, so that
 * no descriptor stays open between steps.  A file is unchanged if its size and
 * times are those of the first scan, unless the times are so recent that the
 * clock of the file system may not have advanced in between.  Then, and when
 * size or times differ, the contents are compared: those of now with a copy,
 * or with what the caller knows of the contents before.
 */
#include "io/workspace_scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "io/workspace.h"
#include "io/workspace_text.h"
#include "lib/glob.h"

enum {
	DEPTH_MAX = 64,
	TICK_NS = 20000000,	/* file times lag the clock by this much */
	RECENT_NS = 2000000000	/* the coarsest file times have 2 s */
};

struct entry {
	struct str path;
	int64_t size, mtime, ctime;
	uint64_t ino;
	int64_t copy;		/* offset of the copy; -1: none */
	unsigned mode;		/* as git stores it */
	struct str target;	/* of a link, with opts.patch */
	bool link;
	bool matches;		/* the patterns select it */
	bool seen;		/* in the second scan */
};

struct dir {
	struct dir *next;
	struct str path;	/* empty: the top */
	unsigned depth;
};

/* FIRST -> IDLE -> (workspace_scan_again) SECOND -> UNSEEN -> DONE */
enum phase {
	FIRST, IDLE, SECOND,
	UNSEEN,			/* files that the second scan did not see */
	DONE
};

struct workspace_scan_state {
	struct workspace_scan scan;	/* what callers see */
	struct arena arena;		/* of all this */
	const char *top;
	struct workspace_scan_opts opts;
	enum phase phase;
	struct entry *v;		/* files of the first scan */
	size_t n, room, nmatch;
	struct dir *dirs, **last;	/* still to be read */
	struct arena names_arena;
	struct str *names;		/* in the current directory */
	size_t nnames, name;		/* name: the next one */
	size_t visited;			/* names, in this scan */
	const struct dir *dir;
	struct workspace_copies copies;
	int64_t started;		/* wall clock; with opts.patch, the end
					 * of the first scan */
	size_t diffs;			/* bytes */
	size_t next;			/* entry to check in phase UNSEEN */
	size_t change_room;
	int64_t top_changed;		/* of a fresh top, in the first scan */
	bool partial;			/* the first scan missed some files */
};

/* The array, moved to twice the room if it is full. */
static void *
grow(struct arena *a, void *v, size_t n, size_t *room, size_t size)
{
	void *more;

	if (n < *room)
		return v;
	*room = *room == 0 ? 64 : *room * 2;
	more = arena_alloc(a, mul_max(*room, size), sizeof(int64_t));
	if (n > 0)
		memcpy(more, v, n * size);
	return more;
}

static void
set_incomplete(struct workspace_scan_state *s, const char *why)
{
	if (s->scan.incomplete == NULL)
		s->scan.incomplete = why;
}

/* Some files are not recorded: later they cannot be told from new ones. */
static void
skip_files(struct workspace_scan_state *s, const char *why)
{
	set_incomplete(s, why);
	s->partial |= s->phase == FIRST;
}

static const char *
full_path(struct arena *a, const struct workspace_scan_state *s,
    struct str path)
{
	if (path.n == 0)
		return s->top;
	return arena_fmt(a, "%s/%.*s", s->top, STRF(path)).p;
}

static bool
matches(const struct field_strs *patterns, struct str path)
{
	size_t i;

	for (i = 0; i < patterns->n; i++)
		if (glob_path(patterns->v[i], path))
			return true;
	return false;
}

static bool
is_selected(const struct workspace_scan_state *s, struct str path)
{
	const struct workspace_scan_opts *o = &s->opts;

	return (o->include == NULL || o->include->n == 0 ||
	    matches(o->include, path)) &&
	    (o->exclude == NULL || !matches(o->exclude, path));
}

static bool
is_file(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISLNK(st->st_mode);
}

static int64_t
ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_nsec;
}

/*
 * Directories.
 */
static void
push_dir(struct workspace_scan_state *s, struct str path, unsigned depth)
{
	struct dir *d;

	if (depth > DEPTH_MAX) {
		skip_files(s, "directories are nested too deeply");
		return;
	}
	d = NEW(&s->arena, struct dir);
	d->path = path;
	d->depth = depth;
	*s->last = d;
	s->last = &d->next;
}

/* Compares a struct str, or structs whose first member is their path. */
static int
by_path(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool
is_skipped(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strcmp(name, ".git") == 0;
}

static void
read_names(struct workspace_scan_state *s, const char *path)
{
	struct arena *a = &s->names_arena;
	DIR *d = opendir(path);
	const struct dirent *e;
	size_t room = 0;

	if (d == NULL) {
		if (errno != ENOENT)
			skip_files(s, "a directory could not be read");
		return;
	}
	while ((e = readdir(d)) != NULL) {
		if (is_skipped(e->d_name))
			continue;
		if (s->nnames > WORKSPACE_SCAN_NAMES_MAX)
			break;
		s->names = grow(a, s->names, s->nnames, &room,
		    sizeof(*s->names));
		s->names[s->nnames++] = arena_str(a, str_of(e->d_name));
	}
	closedir(d);
	if (s->nnames > 0)
		qsort(s->names, s->nnames, sizeof(*s->names), by_path);
}

/*
 * Whether nothing was ever put into the directory.  Anybody can set its
 * modification time, but not its change time, which the second scan compares.
 */
static bool
is_untouched(struct workspace_scan_state *s)
{
	struct stat st;
	int64_t changed;

	if (s->dir->path.n > 0 || !workspace_is_fresh(s->top, &st))
		return false;
	changed = ns_of(st.st_ctim);
	if (s->phase == FIRST)
		s->top_changed = changed;
	return changed == s->top_changed;
}

/* Reads the names of the next directory; false: none is left. */
static bool
next_dir(struct workspace_scan_state *s)
{
	arena_free(&s->names_arena);
	s->names = NULL;
	s->nnames = s->name = 0;
	s->dir = s->dirs;
	if (s->dir == NULL)
		return false;
	s->dirs = s->dir->next;
	if (s->dirs == NULL)
		s->last = &s->dirs;
	if (!is_untouched(s))
		read_names(s, full_path(&s->names_arena, s, s->dir->path));
	return true;
}

/*
 * Contents.
 */
/* The contents; false: not a regular file, too large, or unreadable. */
static bool
read_file(struct workspace_scan_state *s, struct arena *a, struct str path,
    struct str *out)
{
	int fd = open(full_path(a, s, path),
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	struct err e;
	bool ok;

	if (fd == -1)
		return false;
	ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    os_read_fd(a, fd, "file", (size_t)s->opts.file_max, out, &e) == 0;
	os_close(&fd);
	return ok;
}

static void
copy_file(struct workspace_scan_state *s, struct entry *f)
{
	struct arena a = { 0 };
	struct str text;

	if (f->size > s->opts.file_max)
		return;
	if (s->copies.used + f->size > s->opts.copy_max) {
		set_incomplete(s, "the files are too large to be compared");
		return;
	}
	if (read_file(s, &a, f->path, &text)) {
		f->copy = workspace_keep(&s->copies, text);
		if (f->copy == -1)
			set_incomplete(s, "files could not be copied");
		else
			f->size = (int64_t)text.n;
	}
	arena_free(&a);
}

/* The target of a link; false: unreadable, or links are not compared. */
static bool
read_target(const struct workspace_scan_state *s, struct arena *a,
    struct str path, struct str *out)
{
	char target[4096];
	ssize_t n = !s->opts.patch ? -1 : readlink(full_path(a, s, path),
	    target, sizeof(target));

	if (n == -1)
		return false;
	*out = arena_str(a, (struct str){ target, (size_t)n });
	return true;
}

/* The contents in the first scan; false: not known. */
static bool
read_before(struct workspace_scan_state *s, struct arena *a,
    const struct entry *f, struct str *out)
{
	if (f->link) {
		*out = f->target;
		return f->target.n > 0;
	}
	if (f->copy >= 0)
		return workspace_kept(&s->copies, a, f->copy, (size_t)f->size,
		    out);
	return s->opts.before != NULL && f->size <= s->opts.file_max &&
	    s->opts.before(s->opts.arg, a, f->path, out) &&
	    (int64_t)out->n == f->size;
}

static bool
read_now(struct workspace_scan_state *s, struct arena *a,
    const struct entry *now, struct str *out)
{
	return now->link ? read_target(s, a, now->path, out) :
	    read_file(s, a, now->path, out);
}

/*
 * The first scan.
 */
static void
note_stat(struct entry *f, const struct stat *st)
{
	f->size = (int64_t)st->st_size;
	f->mtime = ns_of(st->st_mtim);
	f->ctime = ns_of(st->st_ctim);
	f->ino = (uint64_t)st->st_ino;
	f->link = S_ISLNK(st->st_mode);
	f->mode = f->link ? 0120000 : st->st_mode & S_IXUSR ? 0100755 :
	    0100644;
}

static void
add_entry(struct workspace_scan_state *s, struct str path,
    const struct stat *st)
{
	struct entry *f;
	bool matches_it = is_selected(s, path);

	if (matches_it ? s->nmatch >= WORKSPACE_SCAN_FILES_MAX :
	    s->n - s->nmatch >= WORKSPACE_SCAN_OTHERS_MAX) {
		skip_files(s, "there are too many files");
		return;
	}
	s->v = grow(&s->arena, s->v, s->n, &s->room, sizeof(*s->v));
	f = &s->v[s->n++];
	f->path = arena_str(&s->arena, path);
	f->copy = -1;
	f->matches = matches_it;
	note_stat(f, st);
	s->nmatch += f->matches;
	if (f->link)
		(void)read_target(s, &s->arena, f->path, &f->target);
	else if (f->matches && s->opts.copy_max > 0)
		copy_file(s, f);
}

static void
end_first(struct workspace_scan_state *s)
{
	struct workspace_scan *scan = &s->scan;
	size_t i;

	if (s->n > 0)
		qsort(s->v, s->n, sizeof(*s->v), by_path);
	scan->files = NEW_N(&s->arena, struct str, s->nmatch);
	for (i = 0; i < s->n; i++)
		if (s->v[i].matches)
			scan->files[scan->nfiles++] = s->v[i].path;
	if (s->opts.patch)
		s->started = os_wall_ns();
	s->phase = IDLE;
}

/*
 * The second scan.
 */
static struct entry *
find(struct workspace_scan_state *s, struct str path)
{
	size_t i = search_first(&path, s->v, s->n, sizeof(*s->v), by_path);

	return i < s->n && str_eq(s->v[i].path, path) ? &s->v[i] : NULL;
}

static void
put_diff(struct workspace_scan_state *s, struct workspace_change *c,
    struct str before, struct str after)
{
	size_t max = s->opts.diff_max, left = s->opts.diffs_max - s->diffs;
	struct buf b = { 0 };

	if (s->diffs >= s->opts.diffs_max) {
		c->no_diff = "too many diffs";
		set_incomplete(s, "there are too many diffs");
		return;
	}
	if (s->opts.patch && max > left)
		max = left;
	if (!workspace_diff(&b, c->path, c->kind == WORKSPACE_ADDED,
	    c->kind == WORKSPACE_DELETED, before, after, max)) {
		c->no_diff = "binary";
		return;
	}
	s->diffs += b.n;
	c->diff = arena_str(&s->arena, buf_str(&b));
	buf_free(&b);
}

/* Whether report() needs the contents of a file. */
static bool
needs_text(const struct workspace_scan_state *s, const struct entry *f)
{
	return f->matches && s->scan.nchanges < WORKSPACE_SCAN_CHANGES_MAX;
}

/*
 * Adds a change of a file that was f and is `now`; without a reason no_diff,
 * with the diff of the contents.
 */
static void
report(struct workspace_scan_state *s, const struct entry *f,
    const struct entry *now, enum workspace_change_kind kind,
    const char *no_diff, struct str before, struct str after)
{
	struct workspace_scan *scan = &s->scan;
	struct workspace_change *c;

	if (scan->nchanges >= WORKSPACE_SCAN_CHANGES_MAX) {
		set_incomplete(s, "there are too many changes");
		return;
	}
	scan->changes = grow(&s->arena, scan->changes, scan->nchanges,
	    &s->change_room, sizeof(*scan->changes));
	c = &scan->changes[scan->nchanges++];
	c->path = arena_str(&s->arena, f->path);
	c->kind = kind;
	c->old_mode = kind == WORKSPACE_ADDED ? 0 : f->mode;
	c->new_mode = kind == WORKSPACE_DELETED ? 0 : now->mode;
	c->size = kind == WORKSPACE_DELETED ? f->size : now->size;
	c->excluded = !f->matches;
	c->no_diff = c->excluded ? "excluded" : no_diff;
	if (c->no_diff == NULL)
		put_diff(s, c, before, after);
}

/*
 * A file that the first scan did not record.  If that scan is incomplete, the
 * file is not necessarily new: its change time decides whether it changed.
 */
static void
report_new(struct workspace_scan_state *s, struct str path,
    const struct stat *st)
{
	struct entry f = { .path = path, .matches = is_selected(s, path) };
	struct str none = STR(""), text = none;
	struct arena a = { 0 };

	note_stat(&f, st);
	if (s->partial) {
		if (ns_of(st->st_ctim) >= s->started - TICK_NS)
			report(s, &f, &f, WORKSPACE_MODIFIED, "too many files",
			    none, none);
	} else if (needs_text(s, &f) && !read_now(s, &a, &f, &text))
		report(s, &f, &f, WORKSPACE_ADDED, f.link ? "a link" :
		    "too large", none, none);
	else
		report(s, &f, &f, WORKSPACE_ADDED, NULL, none, text);
	arena_free(&a);
}

/* Why the contents before are not known. */
static const char *
unknown(const struct workspace_scan_state *s, const struct entry *f)
{
	return f->link ? "a link" : s->opts.before != NULL &&
	    f->size <= s->opts.file_max ? "not kept" : "too large";
}

static void
report_deleted(struct workspace_scan_state *s, const struct entry *f)
{
	struct arena a = { 0 };
	struct str before = STR("");
	bool missing = needs_text(s, f) && !read_before(s, &a, f, &before);

	report(s, f, f, WORKSPACE_DELETED, missing ? unknown(s, f) : NULL,
	    before, STR(""));
	arena_free(&a);
}

/*
 * Whether the file may have changed since without a change of its times.  File
 * systems with whole seconds need more time than others.
 */
static bool
in_doubt(const struct workspace_scan_state *s, const struct entry *f)
{
	bool coarse = !s->opts.patch || f->ctime % 1000000000 == 0 ||
	    f->mtime % 1000000000 == 0;

	return f->ctime >= s->started - (coarse ? RECENT_NS : TICK_NS);
}

static void
compare(struct workspace_scan_state *s, const struct entry *f,
    const struct stat *st)
{
	struct entry now = { .path = f->path };
	struct str before = STR(""), after = STR("");
	struct arena a = { 0 };
	bool same, mode;

	note_stat(&now, st);
	mode = s->opts.patch && now.mode != f->mode;
	same = now.mtime == f->mtime && now.ino == f->ino &&
	    now.link == f->link && now.size == f->size;
	if (same && !mode && now.ctime == f->ctime && !in_doubt(s, f))
		return;
	if (!read_before(s, &a, f, &before) ||
	    !read_now(s, &a, &now, &after)) {
		if (!same)
			report(s, f, &now, WORKSPACE_MODIFIED, now.link ?
			    "a link" : now.size > s->opts.file_max ?
			    "too large" : unknown(s, f), before, after);
	} else if (!str_eq(before, after))
		report(s, f, &now, WORKSPACE_MODIFIED, NULL, before, after);
	else if (mode)
		report(s, f, &now, WORKSPACE_MODIFIED, "mode", before, after);
	arena_free(&a);
}

/* Whether the file still exists, and no link has replaced a directory. */
static bool
still_exists(const struct workspace_scan_state *s, struct str path,
    struct stat *st)
{
	struct arena a = { 0 };
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < path.n; i++)
		if (path.p[i] == '/')
			ok = lstat(full_path(&a, s, (struct str){ path.p, i }),
			    st) == 0 && S_ISDIR(st->st_mode);
	ok = ok && lstat(full_path(&a, s, path), st) == 0 && is_file(st);
	arena_free(&a);
	return ok;
}

/* A file may be unseen because the second scan stopped at a limit. */
static void
report_unseen(struct workspace_scan_state *s, const struct entry *f)
{
	struct stat st;

	if (still_exists(s, f->path, &st))
		compare(s, f, &st);
	else
		report_deleted(s, f);
}

static void
end_second(struct workspace_scan_state *s)
{
	struct workspace_scan *scan = &s->scan;

	if (scan->nchanges > 0)
		qsort(scan->changes, scan->nchanges, sizeof(*scan->changes),
		    by_path);
	s->phase = DONE;
}

/*
 * Steps.
 */
static void
visit(struct workspace_scan_state *s, struct str name)
{
	struct arena a = { 0 };
	struct str path = s->dir->path.n == 0 ? name : arena_fmt(&a,
	    "%.*s/%.*s", STRF(s->dir->path), STRF(name));
	struct entry *f;
	struct stat st;

	if (++s->visited > WORKSPACE_SCAN_NAMES_MAX) {
		skip_files(s, "there are too many files");
		s->dirs = NULL;
		s->last = &s->dirs;
		s->name = s->nnames;
	} else if (lstat(full_path(&a, s, path), &st) == -1)
		;			/* it has just been removed */
	else if (S_ISDIR(st.st_mode))
		push_dir(s, arena_str(&s->arena, path), s->dir->depth + 1);
	else if (!is_file(&st))
		;
	else if (s->phase == FIRST)
		add_entry(s, path, &st);
	else if ((f = find(s, path)) == NULL)
		report_new(s, path, &st);
	else {
		f->seen = true;
		compare(s, f, &st);
	}
	arena_free(&a);
}

static void
step(struct workspace_scan_state *s)
{
	if (s->phase == UNSEEN) {
		if (s->next == s->n)
			end_second(s);
		else if (!s->v[s->next++].seen)
			report_unseen(s, &s->v[s->next - 1]);
	} else if (s->name < s->nnames)
		visit(s, s->names[s->name++]);
	else if (next_dir(s))
		return;
	else if (s->phase == FIRST)
		end_first(s);
	else
		s->phase = UNSEEN;
}

static void
begin(struct workspace_scan_state *s, enum phase phase)
{
	s->phase = phase;
	s->visited = 0;
	s->dirs = NULL;
	s->last = &s->dirs;
	push_dir(s, STR(""), 0);
}

struct workspace_scan *
workspace_scan_new(const char *dir, const struct workspace_scan_opts *o)
{
	struct arena arena = { 0 };
	struct workspace_scan_state *s = NEW(&arena,
	    struct workspace_scan_state);

	s->arena = arena;
	s->scan.state = s;
	s->top = dir;
	s->opts = *o;
	s->copies.fd = -1;
	s->started = os_wall_ns();
	begin(s, FIRST);
	return &s->scan;
}

bool
workspace_scan_step(struct workspace_scan *scan, int64_t ms)
{
	struct workspace_scan_state *s = scan->state;
	int64_t until = os_now_ms() + ms;

	while (s->phase != IDLE && s->phase != DONE) {
		step(s);
		if (os_now_ms() >= until)
			break;
	}
	return s->phase == IDLE || s->phase == DONE;
}

void
workspace_scan_again(struct workspace_scan *scan)
{
	begin(scan->state, SECOND);
}

void
workspace_scan_free(struct workspace_scan *scan)
{
	struct arena arena;

	if (scan == NULL)
		return;
	os_close(&scan->state->copies.fd);
	arena_free(&scan->state->names_arena);
	arena = scan->state->arena;
	arena_free(&arena);
}

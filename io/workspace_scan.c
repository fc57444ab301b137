/* SPDX-License-Identifier: ISC */
/*
 * Two scans of a directory and the differences between them.
 *
 * A scan works through a queue of directories, each read as a whole, so that
 * no descriptor stays open between steps.  A file is unchanged if its size and
 * times are those of the first scan, unless the times are so recent that the
 * clock of the file system may not have advanced in between.  Then, and when
 * size or times differ, the contents are compared.
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
#include "lib/diff.h"
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
	const struct field_strs *include, *exclude;
	enum phase phase;
	struct entry *v;		/* files of the first scan */
	size_t n, room, nmatch;
	struct dir *dirs, **last;	/* still to be read */
	struct arena names_arena;
	struct str *names;		/* in the current directory */
	size_t nnames, name;		/* name: the next one */
	size_t visited;			/* names, in this scan */
	const struct dir *dir;
	int fd;				/* of the copies, or -1 */
	int64_t copied;			/* bytes */
	int64_t started;		/* wall clock */
	size_t diffs;			/* bytes */
	size_t next;			/* entry to check in phase UNSEEN */
	size_t change_room;
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
	return (s->include->n == 0 || matches(s->include, path)) &&
	    !matches(s->exclude, path);
}

static bool
is_file(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISLNK(st->st_mode);
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
	read_names(s, full_path(&s->names_arena, s, s->dir->path));
	return true;
}

/*
 * Contents.
 */
static int
open_copies(struct workspace_scan_state *s)
{
	char *path = arena_cstr(&s->arena, arena_fmt(&s->arena,
	    "%s/waza-scan-XXXXXX", workspace_tmp()));

	s->fd = mkstemp(path);
	if (s->fd == -1)
		return -1;
	unlink(path);
	os_cloexec(s->fd);
	return 0;
}

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
	    os_read_fd(a, fd, "file", WORKSPACE_SCAN_FILE_MAX, out, &e) == 0;
	os_close(&fd);
	return ok;
}

static void
copy_file(struct workspace_scan_state *s, struct entry *f)
{
	struct arena a = { 0 };
	struct str text;
	struct err e;

	if (f->size > WORKSPACE_SCAN_FILE_MAX)
		return;
	if (s->copied + f->size > WORKSPACE_SCAN_COPY_MAX) {
		set_incomplete(s, "the files are too large to be compared");
		return;
	}
	if (read_file(s, &a, f->path, &text)) {
		if ((s->fd == -1 && open_copies(s) == -1) ||
		    lseek(s->fd, (off_t)s->copied, SEEK_SET) == -1 ||
		    os_write_all(s->fd, text, &e) == -1)
			set_incomplete(s, "files could not be copied");
		else {
			f->copy = s->copied;
			f->size = (int64_t)text.n;
			s->copied += f->size;
		}
	}
	arena_free(&a);
}

static bool
read_copy(struct workspace_scan_state *s, struct arena *a,
    const struct entry *f, struct str *out)
{
	char *p = arena_raw(a, (size_t)f->size + 1, 1);
	ssize_t n;
	size_t got = 0;

	while (got < (size_t)f->size) {
		n = pread(s->fd, p + got, (size_t)f->size - got,
		    (off_t)(f->copy + (int64_t)got));
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	*out = (struct str){ p, got };
	return true;
}

/*
 * The first scan.
 */
static int64_t
ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_nsec;
}

static void
note_stat(struct entry *f, const struct stat *st)
{
	f->size = (int64_t)st->st_size;
	f->mtime = ns_of(st->st_mtim);
	f->ctime = ns_of(st->st_ctim);
	f->ino = (uint64_t)st->st_ino;
	f->link = S_ISLNK(st->st_mode);
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
	if (f->matches && !f->link)
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

static bool
is_text(struct str s)
{
	return (s.n == 0 || memchr(s.p, '\0', s.n) == NULL) && utf8_valid(s);
}

/* The name of one side of a diff, on one line. */
static struct str
diff_name(struct arena *a, const char *side, struct str path)
{
	char *p;
	struct str s = arena_fmt(a, "%s/%.*s", side, STRF(path));

	for (p = arena_cstr(a, s), s = str_of(p); *p != '\0'; p++)
		if (*p == '\n' || *p == '\r' || *p == '\t')
			*p = '?';
	return s;
}

static void
put_diff(struct workspace_scan_state *s, struct workspace_change *c,
    struct str before, struct str after)
{
	struct diff_opts o = { .context = DIFF_CONTEXT,
		.max = WORKSPACE_SCAN_DIFF_MAX };
	struct arena a = { 0 };
	struct buf b = { 0 };

	if (!is_text(before) || !is_text(after)) {
		c->no_diff = "binary";
		return;
	}
	if (s->diffs >= WORKSPACE_SCAN_DIFFS_MAX) {
		c->no_diff = "too many diffs";
		set_incomplete(s, "there are too many diffs");
		return;
	}
	o.from = c->kind == WORKSPACE_ADDED ? STR("/dev/null") :
	    diff_name(&a, "a", c->path);
	o.to = c->kind == WORKSPACE_DELETED ? STR("/dev/null") :
	    diff_name(&a, "b", c->path);
	diff_unified(&b, before, after, &o);
	s->diffs += b.n;
	c->diff = arena_str(&s->arena, buf_str(&b));
	buf_free(&b);
	arena_free(&a);
}

/* Whether report() needs the contents of a file. */
static bool
needs_text(const struct workspace_scan_state *s, const struct entry *f)
{
	return f->matches && s->scan.nchanges < WORKSPACE_SCAN_CHANGES_MAX;
}

/* Adds a change; without a reason no_diff, with the diff of the contents. */
static void
report(struct workspace_scan_state *s, const struct entry *f,
    enum workspace_change_kind kind, const char *no_diff, struct str before,
    struct str after)
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

	if (s->partial) {
		if (ns_of(st->st_ctim) >= s->started - TICK_NS)
			report(s, &f, WORKSPACE_MODIFIED, "too many files",
			    none, none);
	} else if (S_ISLNK(st->st_mode))
		report(s, &f, WORKSPACE_ADDED, "a link", none, none);
	else if (needs_text(s, &f) && !read_file(s, &a, path, &text))
		report(s, &f, WORKSPACE_ADDED, "too large", none, none);
	else
		report(s, &f, WORKSPACE_ADDED, NULL, none, text);
	arena_free(&a);
}

static void
report_deleted(struct workspace_scan_state *s, const struct entry *f)
{
	struct arena a = { 0 };
	struct str before = STR("");
	bool missing = f->copy == -1 ||
	    (needs_text(s, f) && !read_copy(s, &a, f, &before));

	report(s, f, WORKSPACE_DELETED, !missing ? NULL : f->link ? "a link" :
	    "too large", before, STR(""));
	arena_free(&a);
}

static void
compare(struct workspace_scan_state *s, const struct entry *f,
    const struct stat *st)
{
	struct entry now = { .path = f->path };
	struct str before = STR(""), after = STR("");
	struct arena a = { 0 };
	bool same, link;

	note_stat(&now, st);
	link = f->link || now.link;
	same = now.mtime == f->mtime && now.ino == f->ino &&
	    now.link == f->link && now.size == f->size;
	if (same && now.ctime == f->ctime && f->ctime < s->started - RECENT_NS)
		return;
	if (link || f->copy == -1 || !read_copy(s, &a, f, &before) ||
	    !read_file(s, &a, f->path, &after)) {
		if (!same)
			report(s, f, WORKSPACE_MODIFIED, link ? "a link" :
			    "too large", before, after);
	} else if (!str_eq(before, after))
		report(s, f, WORKSPACE_MODIFIED, NULL, before, after);
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
workspace_scan_new(const char *dir, const struct field_strs *include,
    const struct field_strs *exclude)
{
	struct arena arena = { 0 };
	struct workspace_scan_state *s = NEW(&arena,
	    struct workspace_scan_state);

	s->arena = arena;
	s->scan.state = s;
	s->top = dir;
	s->include = include;
	s->exclude = exclude;
	s->fd = -1;
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
	os_close(&scan->state->fd);
	arena_free(&scan->state->names_arena);
	arena = scan->state->arena;
	arena_free(&arena);
}

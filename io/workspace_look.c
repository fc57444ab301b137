/* SPDX-License-Identifier: ISC */
/*
 * Two looks at a directory, and what differs.
 *
 * A look goes through a queue of directories, each read as a whole, so that
 * no descriptor stays open from one step to the next.  A file whose size and
 * times are those of the first look has not changed, unless they are so young
 * that the clock of the filesystem may not have moved on in between; then, as
 * when they differ, its bytes decide.
 */
#include "io/workspace_look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "lib/diff.h"
#include "lib/glob.h"

enum {
	DEPTH_MAX = 64,
	TICK_NS = 20000000,	/* the clock of files is so much behind */
	YOUNG_NS = 2000000000	/* some move only once in so long */
};

struct entry {
	struct str path;
	int64_t size, mtime, ctime;
	uint64_t ino;
	int64_t copy;		/* where it begins; -1: none */
	bool link, into, seen;
};

struct dir {
	struct dir *next;
	struct str path;	/* empty: the top */
	unsigned depth;
};

enum phase { FIRST, RESTING, SECOND, MISSING, DONE };

struct workspace_look_state {
	struct workspace_look look;	/* first */
	struct arena arena;		/* all of this is in it */
	const char *top;
	const struct field_strs *include, *exclude;
	enum phase phase;
	struct entry *v;
	size_t n, room, into;
	struct dir *dirs, **last;	/* to be read */
	struct arena names_arena;
	struct str *names;		/* of the directory at hand */
	size_t nnames, name;
	size_t looked;			/* at names, in this look */
	const struct dir *dir;
	int fd;				/* of the copies, or -1 */
	int64_t copied;
	int64_t started;		/* wall clock */
	size_t diffs;			/* bytes */
	size_t next;			/* entry that may be missing */
	size_t change_room;
	bool blind;			/* the first look was not complete */
};

/* Moves what there is to a place with more room. */
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
cut(struct workspace_look_state *s, const char *why)
{
	if (s->look.cut == NULL)
		s->look.cut = why;
}

/* Of the files that were there, some are not known. */
static void
miss(struct workspace_look_state *s, const char *why)
{
	cut(s, why);
	s->blind |= s->phase == FIRST;
}

static const char *
full_path(struct arena *a, const struct workspace_look_state *s,
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
is_into(const struct workspace_look_state *s, struct str path)
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
push_dir(struct workspace_look_state *s, struct str path, unsigned depth)
{
	struct dir *d;

	if (depth > DEPTH_MAX) {
		miss(s, "directories are nested too deeply");
		return;
	}
	d = NEW(&s->arena, struct dir);
	d->path = path;
	d->depth = depth;
	*s->last = d;
	s->last = &d->next;
}

static int
by_bytes(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool
is_passed_over(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strcmp(name, ".git") == 0;
}

static void
read_names(struct workspace_look_state *s, const char *path)
{
	struct arena *a = &s->names_arena;
	DIR *d = opendir(path);
	const struct dirent *e;
	size_t room = 0;

	if (d == NULL) {
		if (errno != ENOENT)
			miss(s, "a directory could not be read");
		return;
	}
	while ((e = readdir(d)) != NULL) {
		if (is_passed_over(e->d_name))
			continue;
		if (s->nnames > WORKSPACE_LOOK_NAMES)
			break;		/* the rest is not looked at */
		s->names = grow(a, s->names, s->nnames, &room,
		    sizeof(*s->names));
		s->names[s->nnames++] = arena_str(a, str_of(e->d_name));
	}
	closedir(d);
	if (s->nnames > 0)
		qsort(s->names, s->nnames, sizeof(*s->names), by_bytes);
}

/* False: there is none left. */
static bool
next_dir(struct workspace_look_state *s)
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
 * Bytes.
 */
static int
open_copies(struct workspace_look_state *s)
{
	const char *dir = getenv("TMPDIR");
	struct str name = arena_fmt(&s->arena, "%s/waza-look-XXXXXX",
	    dir != NULL && *dir != '\0' ? dir : "/tmp");
	char *path = arena_cstr(&s->arena, name);

	s->fd = mkstemp(path);
	if (s->fd == -1)
		return -1;
	unlink(path);
	os_cloexec(s->fd);
	return 0;
}

/* Of a plain file no larger than it may be; false: it is none. */
static bool
read_file(struct workspace_look_state *s, struct arena *a, struct str path,
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
	    os_read_fd(a, fd, "file", WORKSPACE_LOOK_FILE, out, &e) == 0;
	os_close(&fd);
	return ok;
}

static void
copy_file(struct workspace_look_state *s, struct entry *f)
{
	struct arena a = { 0 };
	struct str text;
	struct err e;

	if (f->size > WORKSPACE_LOOK_FILE)
		return;
	if (s->copied + f->size > WORKSPACE_LOOK_COPY) {
		cut(s, "the files are too large to be compared");
		return;
	}
	if (read_file(s, &a, f->path, &text)) {
		if ((s->fd == -1 && open_copies(s) == -1) ||
		    lseek(s->fd, (off_t)s->copied, SEEK_SET) == -1 ||
		    os_write_all(s->fd, text, &e) == -1)
			cut(s, "files could not be copied");
		else {
			f->copy = s->copied;
			f->size = (int64_t)text.n;
			s->copied += f->size;
		}
	}
	arena_free(&a);
}

static bool
read_copy(struct workspace_look_state *s, struct arena *a,
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
 * The first look.
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
add_entry(struct workspace_look_state *s, struct str path,
    const struct stat *st)
{
	struct entry *f;
	bool into = is_into(s, path);

	if (into ? s->into >= WORKSPACE_LOOK_FILES :
	    s->n - s->into >= WORKSPACE_LOOK_OTHERS) {
		miss(s, "there are too many files");
		return;
	}
	s->v = grow(&s->arena, s->v, s->n, &s->room, sizeof(*s->v));
	f = &s->v[s->n++];
	f->path = arena_str(&s->arena, path);
	f->copy = -1;
	f->into = into;
	note_stat(f, st);
	s->into += into;
	if (into && !f->link)
		copy_file(s, f);
}

static int
by_path(const void *a, const void *b)
{
	return str_cmp(((const struct entry *)a)->path,
	    ((const struct entry *)b)->path);
}

static void
end_first(struct workspace_look_state *s)
{
	struct workspace_look *l = &s->look;
	size_t i;

	if (s->n > 0)
		qsort(s->v, s->n, sizeof(*s->v), by_path);
	l->files = NEW_N(&s->arena, struct str, s->into);
	for (i = 0; i < s->n; i++)
		if (s->v[i].into)
			l->files[l->nfiles++] = s->v[i].path;
	s->phase = RESTING;
}

/*
 * The second look.
 */
static struct entry *
find(struct workspace_look_state *s, struct str path)
{
	size_t lo = 0, hi = s->n, mid;
	int c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		c = str_cmp(path, s->v[mid].path);
		if (c == 0)
			return &s->v[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static struct workspace_change *
add_change(struct workspace_look_state *s, struct str path,
    enum workspace_how how, bool into)
{
	struct workspace_look *l = &s->look;
	struct workspace_change *c;

	if (l->nchanges >= WORKSPACE_LOOK_CHANGES) {
		cut(s, "there are too many changes");
		return NULL;
	}
	l->changes = grow(&s->arena, l->changes, l->nchanges,
	    &s->change_room, sizeof(*l->changes));
	c = &l->changes[l->nchanges++];
	c->path = arena_str(&s->arena, path);
	c->how = how;
	c->excluded = !into;
	if (!into)
		c->why = "excluded";
	return c;
}

static bool
is_text(struct str s)
{
	return (s.n == 0 || memchr(s.p, '\0', s.n) == NULL) && utf8_valid(s);
}

static struct str
name_of(struct arena *a, const char *side, struct str path)
{
	char *p;
	struct str s = arena_fmt(a, "%s/%.*s", side, STRF(path));

	for (p = arena_cstr(a, s), s = str_of(p); *p != '\0'; p++)
		if (*p == '\n' || *p == '\r' || *p == '\t')
			*p = '?';
	return s;
}

static void
put_diff(struct workspace_look_state *s, struct workspace_change *c,
    struct arena *a, struct str was, struct str is)
{
	struct diff_opts o = { .context = DIFF_CONTEXT,
		.max = WORKSPACE_LOOK_DIFF };
	struct buf b = { 0 };

	if (!is_text(was) || !is_text(is)) {
		c->why = "binary";
		return;
	}
	if (s->diffs >= WORKSPACE_LOOK_DIFFS) {
		c->why = "too many diffs";
		cut(s, "there are too many diffs");
		return;
	}
	o.from = c->how == WORKSPACE_ADDED ? STR("/dev/null") :
	    name_of(a, "a", c->path);
	o.to = c->how == WORKSPACE_DELETED ? STR("/dev/null") :
	    name_of(a, "b", c->path);
	diff_unified(&b, was, is, &o);
	s->diffs += b.n;
	c->diff = arena_str(&s->arena, buf_str(&b));
	buf_free(&b);
}

/* After a look that missed some, nobody knows whether it was there. */
static void
tell_new(struct workspace_look_state *s, struct str path,
    const struct stat *st)
{
	struct workspace_change *c;
	struct arena a = { 0 };
	struct str text;

	if (s->blind) {
		if (ns_of(st->st_ctim) >= s->started - TICK_NS) {
			c = add_change(s, path, WORKSPACE_MODIFIED,
			    is_into(s, path));
			if (c != NULL && c->why == NULL)
				c->why = "too many files";
		}
		return;
	}
	c = add_change(s, path, WORKSPACE_ADDED, is_into(s, path));
	if (c == NULL || c->excluded)
		return;
	if (S_ISLNK(st->st_mode))
		c->why = "a link";
	else if (!read_file(s, &a, path, &text))
		c->why = "too large";
	else
		put_diff(s, c, &a, STR(""), text);
	arena_free(&a);
}

static void
tell_modified(struct workspace_look_state *s, const struct entry *f,
    const char *why, struct arena *a, struct str was, struct str is)
{
	struct workspace_change *c = add_change(s, f->path,
	    WORKSPACE_MODIFIED, f->into);

	if (c == NULL || c->excluded)
		return;
	c->why = why;
	if (why == NULL)
		put_diff(s, c, a, was, is);
}

static void
compare(struct workspace_look_state *s, const struct entry *f,
    const struct stat *st)
{
	struct entry now = { .path = f->path };
	struct str was = STR(""), is = STR("");
	struct arena a = { 0 };
	bool same;

	note_stat(&now, st);
	same = now.mtime == f->mtime && now.ino == f->ino &&
	    now.link == f->link && now.size == f->size;
	if (same && now.ctime == f->ctime && f->ctime < s->started - YOUNG_NS)
		return;
	if (f->link || now.link || f->copy == -1) {
		if (!same)
			tell_modified(s, f, f->link || now.link ? "a link" :
			    "too large", &a, was, is);
	} else if (!read_copy(s, &a, f, &was) ||
	    !read_file(s, &a, f->path, &is)) {
		if (!same)
			tell_modified(s, f, "too large", &a, was, is);
	} else if (!str_eq(was, is))
		tell_modified(s, f, NULL, &a, was, is);
	arena_free(&a);
}

static void
tell_deleted(struct workspace_look_state *s, const struct entry *f)
{
	struct workspace_change *c;
	struct arena a = { 0 };
	struct str was;

	c = add_change(s, f->path, WORKSPACE_DELETED, f->into);
	if (c != NULL && !c->excluded) {
		if (f->copy == -1 || !read_copy(s, &a, f, &was))
			c->why = f->link ? "a link" : "too large";
		else
			put_diff(s, c, &a, was, STR(""));
	}
	arena_free(&a);
}

/* Where it was, and not behind a link that has taken a directory's place. */
static bool
is_there(const struct workspace_look_state *s, struct str path,
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

/* Of those that were not seen again some are there, if the look was cut. */
static void
tell_unseen(struct workspace_look_state *s, const struct entry *f)
{
	struct stat st;

	if (is_there(s, f->path, &st))
		compare(s, f, &st);
	else
		tell_deleted(s, f);
}

static int
by_change(const void *a, const void *b)
{
	return str_cmp(((const struct workspace_change *)a)->path,
	    ((const struct workspace_change *)b)->path);
}

static void
end_second(struct workspace_look_state *s)
{
	struct workspace_look *l = &s->look;

	if (l->nchanges > 0)
		qsort(l->changes, l->nchanges, sizeof(*l->changes),
		    by_change);
	s->phase = DONE;
}

/*
 * Steps.
 */
static void
look_at(struct workspace_look_state *s, struct str name)
{
	struct arena a = { 0 };
	struct str path = s->dir->path.n == 0 ? name : arena_fmt(&a,
	    "%.*s/%.*s", STRF(s->dir->path), STRF(name));
	struct entry *f;
	struct stat st;

	if (++s->looked > WORKSPACE_LOOK_NAMES) {
		miss(s, "there are too many files");
		s->dirs = NULL;
		s->last = &s->dirs;
		s->name = s->nnames;
	} else if (lstat(full_path(&a, s, path), &st) == -1)
		;			/* it has just gone */
	else if (S_ISDIR(st.st_mode))
		push_dir(s, arena_str(&s->arena, path), s->dir->depth + 1);
	else if (!is_file(&st))
		;
	else if (s->phase == FIRST)
		add_entry(s, path, &st);
	else if ((f = find(s, path)) == NULL)
		tell_new(s, path, &st);
	else {
		f->seen = true;
		compare(s, f, &st);
	}
	arena_free(&a);
}

static void
step(struct workspace_look_state *s)
{
	if (s->phase == MISSING) {
		if (s->next == s->n)
			end_second(s);
		else if (!s->v[s->next++].seen)
			tell_unseen(s, &s->v[s->next - 1]);
	} else if (s->name < s->nnames)
		look_at(s, s->names[s->name++]);
	else if (next_dir(s))
		return;
	else if (s->phase == FIRST)
		end_first(s);
	else
		s->phase = MISSING;
}

static void
begin(struct workspace_look_state *s, enum phase phase)
{
	s->phase = phase;
	s->looked = 0;
	s->dirs = NULL;
	s->last = &s->dirs;
	push_dir(s, STR(""), 0);
}

struct workspace_look *
workspace_look_new(const char *dir, const struct field_strs *include,
    const struct field_strs *exclude)
{
	struct arena arena = { 0 };
	struct workspace_look_state *s = NEW(&arena,
	    struct workspace_look_state);

	s->arena = arena;
	s->look.state = s;
	s->top = dir;
	s->include = include;
	s->exclude = exclude;
	s->fd = -1;
	s->started = os_wall_ns();
	begin(s, FIRST);
	return &s->look;
}

bool
workspace_look_step(struct workspace_look *l, int64_t ms)
{
	struct workspace_look_state *s = l->state;
	int64_t until = os_now_ms() + ms;

	while (s->phase != RESTING && s->phase != DONE) {
		step(s);
		if (os_now_ms() >= until)
			break;
	}
	return s->phase == RESTING || s->phase == DONE;
}

void
workspace_look_again(struct workspace_look *l)
{
	begin(l->state, SECOND);
}

void
workspace_look_free(struct workspace_look *l)
{
	struct arena arena;

	if (l == NULL)
		return;
	os_close(&l->state->fd);
	arena_free(&l->state->names_arena);
	arena = l->state->arena;
	arena_free(&arena);
}

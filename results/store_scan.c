/* SPDX-License-Identifier: ISC */
/*
 * store_scan.c: scans the directories, a slice at a time.
 *
 * A scan follows the list of directories, in which each comes after its
 * parent.  A directory whose modification time has changed is listed again and
 * merged with its known contents, both sorted by name.  Then each of its files
 * is checked, and those that changed are read.  A modification time that is
 * younger than the clock resolution of a filesystem is not trusted.
 *
 * The first slice may take longer than the others, so that a directory of the
 * usual size is complete before the first request.
 */
#include "results/store_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "io/loop.h"
#include "results/cache.h"

enum {
	FIRST_MS = 300,		/* of the first slice */
	SLICE_MS = 5,
	SCAN_MS = 1000,		/* minimum pause between two scans, */
	SHARE = 20,		/* and as a multiple of the last scan's time */
	IDLE_MS = 10000,	/* minimum pause without requests */
	ASKED_MS = 60000,	/* how long a request counts */
	COARSE_MS = 2500,	/* resolution of a filesystem's clock */
	NAMES_MAX = 2 * (STORE_FILES + STORE_DIRS)	/* of one directory:
				 * there are also journals */
};
#define MS INT64_C(1000000)

static const char *
join(struct arena *a, const struct store_dir *d, const char *name)
{
	return arena_fmt(a, "%s/%s", d->path.p, name).p;
}

/*
 * The known directories and files.
 */
static struct store_dir *
add_dir(struct store *s, const char *path, unsigned depth)
{
	struct store_dir *d = s->spare_dir;
	const char *slash;

	if (d != NULL)
		s->spare_dir = d->next;
	else
		d = NEW(&s->arena, struct store_dir);
	*d = (struct store_dir){ .depth = depth };
	buf_puts(&d->path, path);
	buf_putc(&d->path, '\0');
	slash = strrchr(d->path.p, '/');
	d->name = slash != NULL ? slash + 1 : d->path.p;
	*s->last_dir = d;
	s->last_dir = &d->next;
	s->ndirs++;
	return d;
}

/* Adds a file to the numbers, or (by -1) takes it out again. */
static void
count(struct store *s, const struct store_file *f, int by)
{
	if (f->results)
		s->nresults += (size_t)by;
	else if (f->read)
		s->nskipped += (size_t)by;
	if (f->large)
		s->nlarge += (size_t)by;
	s->stale = s->stale || f->results;
}

static void
remove_file(struct store *s, struct store_file **at)
{
	struct store_file *f = *at;

	*at = f->next;
	count(s, f, -1);
	store_forget(s, f);
	buf_free(&f->text);
	f->next = s->spare;
	s->spare = f;
	s->nfiles--;
}

static void
add_file(struct store *s, struct store_file **at, const char *name)
{
	struct store_file *f = s->spare;

	if (f != NULL)
		s->spare = f->next;
	else
		f = NEW(&s->arena, struct store_file);
	*f = (struct store_file){ .next = *at };
	buf_puts(&f->text, name);
	buf_putc(&f->text, '\0');
	f->name = (struct str){ f->text.p, f->text.n - 1 };
	*at = f;
	s->nfiles++;
}

/* Removes a directory from its parent; the scan frees it later. */
static void
detach(struct store_dir **sub)
{
	(*sub)->gone = true;
	(*sub)->in = NULL;
	*sub = (*sub)->next_sub;
}

/* Its subdirectories are emptied when the scan reaches them. */
static void
empty(struct store *s, struct store_dir *d)
{
	while (d->files != NULL)
		remove_file(s, &d->files);
	while (d->subs != NULL)
		detach(&d->subs);
	d->listed_ns = 0;
}

/*
 * A directory that has changed.
 */
static bool
is_json(const char *name)
{
	return str_ends(str_of(name), STR(".json")) && strlen(name) > 5;
}

static bool
has_room(struct store *s, size_t n, size_t max)
{
	if (n < max)
		return true;
	s->full = true;
	return false;
}

/* Adds a name that is new in the directory. */
static void
add_name(struct store *s, struct store_dir *d, const char *name,
    struct store_file **file, struct store_dir **sub)
{
	const char *path = join(&s->scratch, d, name);
	struct store_dir *n;
	struct stat st;

	if (lstat(path, &st) == -1)
		return;
	if (S_ISDIR(st.st_mode)) {
		if (!has_room(s, d->depth, STORE_DEPTH) ||
		    !has_room(s, s->ndirs, STORE_DIRS))
			return;
		n = add_dir(s, path, d->depth + 1);
		n->in = d;
		n->next_sub = *sub;
		*sub = n;
	} else if (is_json(name) && (S_ISREG(st.st_mode) ||
	    S_ISLNK(st.st_mode)) && has_room(s, s->nfiles, STORE_FILES))
		add_file(s, file, name);
}

static void
merge(struct store *s, struct store_dir *d, char **names, size_t n)
{
	struct store_file **f = &d->files;
	struct store_dir **sub = &d->subs;
	struct arena_mark mark;
	bool known;
	size_t i;

	for (i = 0; i < n; i++) {
		if (names[i][0] == '.')
			continue;
		while (*f != NULL && strcmp((*f)->name.p, names[i]) < 0)
			remove_file(s, f);
		while (*sub != NULL && strcmp((*sub)->name, names[i]) < 0)
			detach(sub);
		mark = arena_save(&s->scratch);
		known = (*f != NULL &&
		    strcmp((*f)->name.p, names[i]) == 0) ||
		    (*sub != NULL && strcmp((*sub)->name, names[i]) == 0);
		if (!known)
			add_name(s, d, names[i], f, sub);
		arena_restore(&s->scratch, mark);
		if (*f != NULL && strcmp((*f)->name.p, names[i]) == 0)
			f = &(*f)->next;
		if (*sub != NULL && strcmp((*sub)->name, names[i]) == 0)
			sub = &(*sub)->next_sub;
	}
	while (*f != NULL)
		remove_file(s, f);
	while (*sub != NULL)
		detach(sub);
}

static bool
is_young(int64_t mtime, int64_t now)
{
	return mtime > now - COARSE_MS * MS;
}

/* Lists the directory if it has changed; -1 if it is gone. */
static int
visit(struct store *s, struct store_dir *d)
{
	struct arena_mark mark = arena_save(&s->scratch);
	struct store_stamp now;
	struct stat st;
	char **names;
	size_t n;

	if (d->gone || (d == s->dirs ? stat(d->path.p, &st) :
	    lstat(d->path.p, &st)) == -1 || !S_ISDIR(st.st_mode))
		return -1;
	store_stamp(&now, &st);
	if (d->listed_ns != 0 && store_same(&now, &d->stamp) &&
	    !is_young(now.mtime, d->listed_ns))
		return 0;
	d->stamp = now;
	d->listed_ns = os_wall_ns();
	names = cache_names(&s->scratch, d->path.p, NAMES_MAX, &n);
	s->full = s->full || n == NAMES_MAX;
	if (names != NULL)
		merge(s, d, names, n);
	arena_restore(&s->scratch, mark);
	return names != NULL ? 0 : -1;
}

/*
 * A file that may have changed.
 */
static bool
is_due(struct store *s, const struct store_file *f, const char *path,
    const struct store_stamp *now)
{
	if (f->read && store_same(now, &f->stamp) && !(f->results &&
	    f->run.state == STORE_RUNNING && !store_is_recent(now->mtime)))
		return false;
	return s->later == NULL || !s->later(s->arg, path);
}

/* Reads a file if it has changed. */
static void
check_file(struct store *s, const struct store_dir *d, struct store_file *f)
{
	struct arena_mark mark = arena_save(&s->scratch);
	const char *path = join(&s->scratch, d, f->name.p);
	struct store_stamp now = { 0, 0, 0, 0 };
	struct stat st;
	bool plain;

	plain = lstat(path, &st) == 0 && S_ISREG(st.st_mode);
	if (plain)
		store_stamp(&now, &st);
	if (is_due(s, f, path, &now)) {
		count(s, f, -1);
		f->read = true;
		f->stamp = now;
		f->large = plain && now.size > STORE_FILE_MAX;
		f->results = plain && !f->large && store_load(s, path, f);
		count(s, f, 1);
		if (f->results && s->scanned && s->changed != NULL)
			s->changed(s->arg, &f->run);
	}
	arena_restore(&s->scratch, mark);
}

/*
 * The scan as a whole.
 */
static void
begin(struct store *s, struct store_dir *d)
{
	s->at = d;
	s->file_at = NULL;
}

/* Removes a directory that is gone; returns the next one. */
static struct store_dir *
remove_dir(struct store *s, struct store_dir *d)
{
	struct store_dir **at = &s->dirs, *next = d->next, **sub;

	empty(s, d);
	if (d->in != NULL) {
		for (sub = &d->in->subs; *sub != d; sub = &(*sub)->next_sub)
			;
		d->in->listed_ns = 0;
		detach(sub);
	}
	if (d == s->dirs)
		return next;
	while (*at != d)
		at = &(*at)->next;
	*at = next;
	if (next == NULL)
		s->last_dir = at;
	buf_free(&d->path);
	d->next = s->spare_dir;
	s->spare_dir = d;
	s->ndirs--;
	return next;
}

/* One step; false if the scan is complete. */
static bool
step(struct store *s)
{
	struct store_dir *d = s->at;
	struct store_file *f;

	if (d == NULL)
		return false;
	if (s->file_at == NULL) {
		if (visit(s, d) == -1)
			begin(s, remove_dir(s, d));
		else
			s->file_at = &d->files;
		return true;
	}
	f = *s->file_at;
	if (f == NULL) {
		begin(s, d->next);
		return true;
	}
	check_file(s, d, f);
	s->file_at = &f->next;
	return true;
}

static void on_time(void *);

static void
slice(struct store *s, int64_t ms)
{
	int64_t start = os_now_ns(), took = 0;
	bool more = true;

	while (more && took < ms * MS) {
		more = step(s);
		took = os_now_ns() - start;
	}
	s->used_ns += took;
	s->timer.fn = on_time;
	s->timer.arg = s;
	if (more) {
		timer_start(s->loop, &s->timer, s->eager && !s->scanned ? 0 :
		    SLICE_MS);
		return;
	}
	/* later scans read only what has changed, unlike the first */
	took = s->scanned ? s->used_ns / MS * SHARE : 0;
	s->scanned = true;
	s->used_ns = 0;
	s->idle = loop_now(s->loop) - s->asked > ASKED_MS;
	if (took < (s->idle ? IDLE_MS : SCAN_MS))
		took = s->idle ? IDLE_MS : SCAN_MS;
	timer_start(s->loop, &s->timer, took);
}

void
store_wake(struct store *s)
{
	s->asked = loop_now(s->loop);
	if (!s->idle)
		return;
	s->idle = false;
	timer_start(s->loop, &s->timer, 0);
}

static void
on_time(void *arg)
{
	struct store *s = arg;

	if (s->at == NULL)
		begin(s, s->dirs);
	slice(s, SLICE_MS);
}

int
store_scan_start(struct store *s, struct err *e)
{
	struct stat st;

	if (stat(s->dir, &st) == -1)
		return err_sys(e, s->dir);
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return err_sys(e, s->dir);
	}
	s->asked = loop_now(s->loop);
	begin(s, add_dir(s, s->dir, 0));
	slice(s, FIRST_MS);
	return 0;
}

void
store_scan_stop(struct store *s)
{
	struct store_dir *d;

	timer_stop(s->loop, &s->timer);
	for (d = s->dirs; d != NULL; d = d->next) {
		empty(s, d);
		buf_free(&d->path);
	}
}

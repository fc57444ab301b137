/* SPDX-License-Identifier: ISC */
/*
 * Writes reports to a descriptor piece by piece, and replaces files as a whole.
 *
 * A file is written under another name in the same directory and then renamed,
 * so that a reader sees either the old or the new file, never a part.
 */
#include "report/report_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"

enum { PIECE = 64 << 10, NAMES = 100 };

static void
write_out(struct report_out *o)
{
	if (o->log)
		guard_output(&o->b, 0, o->form);
	if (o->err.code == ERR_NONE)
		os_write_all(o->fd, buf_str(&o->b), &o->err);
	o->sent += o->b.n;
	o->b.n = 0;
}

void
report_flush(struct report_out *o)
{
	arena_free(&o->arena);
	if (o->fd != -1 && o->b.n >= PIECE)
		write_out(o);
}

bool
report_room(const struct report_out *o, size_t n)
{
	return o->room == 0 || o->sent + o->b.n + n <= o->room;
}

int
report_render(struct report_out *o, const struct report_kind *k)
{
	size_t i;

	o->form = k->form;
	if (k->head != NULL)
		buf_puts(&o->b, k->head);
	if (k->begin != NULL)
		k->begin(o);
	for (i = 0; i < o->nruns; i++) {
		k->run(o, o->runs[i], false);
		if (o->runs[i]->baseline != NULL)
			k->run(o, o->runs[i]->baseline, true);
		if (o->runs[i]->ref != NULL)
			k->run(o, o->runs[i]->ref, true);
	}
	if (k->end != NULL)
		k->end(o);
	if (k->tail != NULL)
		buf_puts(&o->b, k->tail);
	if (o->fd != -1)
		write_out(o);
	arena_free(&o->arena);
	return o->err.code == ERR_NONE ? 0 : -1;
}

/* Creates a file beside path.  -1 with errno, and *name is NULL. */
static int
open_beside(struct arena *a, const char *path, char **name)
{
	int i, fd;

	for (i = 0; i < NAMES; i++) {
		*name = arena_cstr(a, arena_fmt(a, "%s.%ld.%d", path,
		    (long)getpid(), i));
		fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd != -1)
			return fd;
		if (errno != EEXIST)
			break;
	}
	*name = NULL;
	return -1;
}

/* Closes the file and renames it from temp, if not NULL; false with errno. */
static bool
complete(int *fd, const char *temp, const char *path)
{
	bool ok = temp == NULL || fsync(*fd) == 0 || errno == EINVAL ||
	    errno == EROFS;

	ok = close(*fd) == 0 && ok;
	*fd = -1;
	return ok && (temp == NULL || rename(temp, path) == 0);
}

int
report_render_file(struct report_out *o, const struct report_kind *k,
    const char *path, struct err *e)
{
	struct arena a = { 0 };
	struct stat st;
	char *temp = NULL;
	int r;

	o->log = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
	if (o->log)
		o->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	else if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		/* a link such as /dev/stdout must not be replaced */
		o->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0666);
	else if (os_make_dirs(path, 0777, false, e) == -1)
		return -1;
	else
		o->fd = open_beside(&a, path, &temp);
	r = o->fd == -1 ? err_sys(e, path) : report_render(o, k);
	if (r == -1 && o->fd != -1) {
		errno = o->err.sys;
		err_sys(e, path);
	} else if (r == 0 && !complete(&o->fd, temp, path))
		r = err_sys(e, path);
	if (r == -1 && temp != NULL)
		unlink(temp);
	os_close(&o->fd);
	arena_free(&a);
	return r;
}

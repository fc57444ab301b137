/* SPDX-License-Identifier: ISC */
/*
 * kube_files.c: the files of a suite, for a ConfigMap.
 *
 * Links are followed as long as they stay below the working directory: pods
 * get their contents.
 */
#include "cmd/scale/kube.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "results/cache.h"
#include "results/result.h"

struct walk {
	struct arena *arena;
	struct buf list;		/* of struct kube_file */
	size_t bytes;
	struct err *err;
};

/* Not of the suite, or secret: a ConfigMap can be read by many. */
static bool
is_skipped(const char *name)
{
	static const char *const names[] = { ".git", ".waza", ".waza-cache",
		"node_modules" };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return str_ends(str_of(name), STR(".journal")) ||
	    str_ends(str_of(name), STR(".env")) ||
	    str_starts(str_of(name), STR(".env."));
}

/* The largest file helps to find what does not belong to the suite. */
static int
too_large(struct walk *w, const struct kube_file *last)
{
	const struct kube_file *v = (const void *)w->list.p, *most = last;
	size_t i, n = w->list.n / sizeof(*v);

	for (i = 0; i < n; i++)
		if (v[i].text.n > most->text.n)
			most = &v[i];
	return err_set(w->err, ERR_LIMIT, "the files of the suite do not fit "
	    "in a ConfigMap: more than %s (%.200s has %zu KiB): remove what "
	    "the suite does not need, or put the suite into the image and give "
	    "--on-option suite=PATH", n >= KUBE_FILES_MAX ? "5,000 files" :
	    "1 MiB", most->path.p, (most->text.n + 1023) / 1024);
}

static int
add_file(struct walk *w, struct str path, const struct stat *st)
{
	struct kube_file f = { .path = path,
		.executable = (st->st_mode & 0111) != 0 };

	f.text.n = (size_t)st->st_size;
	if (st->st_size > KUBE_BYTES_MAX ||
	    w->list.n / sizeof(f) >= KUBE_FILES_MAX)
		return too_large(w, &f);
	if (os_read_plain(w->arena, path.p, KUBE_BYTES_MAX, &f.text,
	    w->err) == -1)
		return -1;
	w->bytes += f.text.n;
	if (w->bytes > KUBE_BYTES_MAX)
		return too_large(w, &f);
	buf_put(&w->list, (struct str){ (const char *)&f, sizeof(f) });
	return 0;
}

/* Results of earlier runs that lie beside the suite are not a part of it. */
static bool
is_results(struct str path, const struct stat *st, int depth)
{
	struct err e;

	return depth == 1 && st->st_size > 0 && str_ends(path, STR(".json")) &&
	    result_check_name(path.p, false, false, &e) == 0;
}

static int
add_path(struct walk *w, struct str path, int depth)
{
	struct stat st;
	size_t i, n;
	char **v;

	if (depth > KUBE_DEPTH_MAX)
		return err_set(w->err, ERR_LIMIT, "%s: more than %d "
		    "directories inside each other", path.p, KUBE_DEPTH_MAX);
	if (stat(path.p, &st) == -1)
		return err_sys(w->err, path.p);
	if (!os_inside(".", path.p))
		return err_set(w->err, ERR_SCHEMA, "%s: is outside of the "
		    "working directory: start waza in a directory above all "
		    "files of the suite", path.p);
	if (S_ISREG(st.st_mode))
		return is_results(path, &st, depth) ? 0 :
		    add_file(w, path, &st);
	if (!S_ISDIR(st.st_mode))
		return err_set(w->err, ERR_SCHEMA, "%s: is not a regular file",
		    path.p);
	v = cache_names(w->arena, path.p, SIZE_MAX, &n);
	if (v == NULL)
		return err_sys(w->err, path.p);
	for (i = 0; i < n; i++)
		if (!is_skipped(v[i]) && add_path(w, str_is(path, ".") ?
		    str_of(v[i]) : arena_fmt(w->arena, "%s/%s", path.p, v[i]),
		    depth + 1) == -1)
			return -1;
	return 0;
}

static int
by_path(const void *x, const void *y)
{
	const struct kube_file *a = x, *b = y;

	return str_cmp(a->path, b->path);
}

struct kube_file *
kube_files(struct arena *a, const char *const *paths, size_t npaths,
    size_t *nfiles, struct err *e)
{
	struct walk w = { .arena = a, .err = e };
	struct kube_file *v = NULL;
	size_t i, n;

	*nfiles = 0;
	for (i = 0; i < npaths; i++)
		if (add_path(&w, str_of(paths[i]), 0) == -1)
			goto out;
	n = w.list.n / sizeof(*v);
	v = NEW_N(a, struct kube_file, n + 1);
	if (n > 0) {
		memcpy(v, w.list.p, w.list.n);
		qsort(v, n, sizeof(*v), by_path);
	}
	for (i = 0; i < n; i++)
		if (i == 0 || !str_eq(v[i].path, v[i - 1].path))
			v[(*nfiles)++] = v[i];
out:
	buf_free(&w.list);
	return v;
}

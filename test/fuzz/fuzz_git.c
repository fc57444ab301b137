/* SPDX-License-Identifier: ISC */
/*
 * Input: what git prints.  Up to a line of two dashes it is a list of files,
 * which is read as each of the lists; after it, the contents of the files.
 * Everything that is found lies in the input, in order, and within the limits.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "io/git_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static bool
is_inside(struct str part, struct str whole)
{
	return part.n == 0 || (part.p >= whole.p &&
	    part.p + part.n <= whole.p + whole.n);
}

static void
check_filters(struct arena *a, struct str text)
{
	struct git g = { .arena = a };
	struct err e = { 0 };
	size_t i;

	(void)git_read_filters(&g, text, &e);
	assert(g.noff <= GIT_FILTERS_MAX);
	for (i = 0; i < g.noff; i++)
		assert(strchr(g.off[i], '=') != NULL);
}

static void
check_changes(struct arena *a, struct str text)
{
	struct buf list = { 0 };
	struct git_change *v;
	struct err e = { 0 };
	size_t i, n;

	(void)git_read_diff(&list, text, &e);
	(void)git_read_others(&list, text, &e);
	n = list.n / sizeof(*v);
	assert(n <= GIT_FILES_MAX);
	v = NEW_N(a, struct git_change, n);
	if (n > 0)
		memcpy(v, list.p, list.n);
	n = git_sort_changes(v, n);
	for (i = 0; i < n; i++) {
		assert(v[i].path.n > 0 && is_inside(v[i].path, text));
		assert(i == 0 || str_cmp(v[i - 1].path, v[i].path) < 0);
	}
	buf_free(&list);
}

static bool
wants(void *arg, struct str path, int64_t bytes)
{
	assert(bytes >= 0 && is_inside(path, *(struct str *)arg));
	return path.n > 0;
}

static void
check_files(struct arena *a, struct str tree, struct str batch)
{
	struct git_choice c = { wants, &tree };
	struct git_list l = { { 0 }, { 0 } };
	struct err e = { 0 };
	struct git_file *v;
	size_t i, n;

	(void)git_read_tree(&l, tree, &c, &e);
	n = l.files.n / sizeof(*v);
	v = NEW_N(a, struct git_file, n);
	if (n > 0)
		memcpy(v, l.files.p, l.files.n);
	if (git_read_batch(batch, v, n, &e) == 0)
		for (i = 0; i < n; i++)
			assert(is_inside(v[i].text, batch));
	else
		assert(e.msg[0] != '\0');
	buf_free(&l.files);
	buf_free(&l.names);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str list = { (const char *)data, size }, rest = { "", 0 };
	struct arena a = { 0 };
	size_t i;

	for (i = 0; i + 4 <= size; i++)
		if (memcmp(data + i, "\n--\n", 4) == 0) {
			rest = (struct str){ list.p + i + 4, size - i - 4 };
			list.n = i;
			break;
		}
	check_filters(&a, list);
	check_changes(&a, list);
	check_files(&a, list, rest);
	arena_free(&a);
	return 0;
}

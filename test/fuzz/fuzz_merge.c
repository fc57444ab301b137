/* SPDX-License-Identifier: ISC */
/*
 * Input: files of shards, separated by NUL bytes, each a results file or a
 * journal.  They are refused with a message, or the merged results can be
 * written, read back, and reported.
 */
#include "results/merge/merge.h"

#include "results/outcome.h"
#include "results/result.h"
#include "test/fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { FILES = 4, SMALL = 100000 };

/* Adds all files; false if one is refused. */
static bool
add_files(struct arena *a, struct merge *m, const uint8_t *data, size_t size)
{
	const uint8_t *end;
	struct err e = { 0 };
	const char *path;
	size_t n;
	int i;

	for (i = 0; i < FILES && size > 0; i++) {
		end = memchr(data, 0, size);
		n = end == NULL ? size : (size_t)(end - data);
		path = arena_fmt(a, "%s/%d.json", scratch_dir(), i).p;
		scratch_put(path, data, n);
		n += end != NULL;
		data += n;
		size -= n;
		if (merge_add(m, path, &e) == -1) {
			assert(e.msg[0] != '\0');
			return false;
		}
	}
	return merge_count(m) > 0;
}

static void
check_group(struct arena *a, struct merge_group *g)
{
	struct result_run *r = merge_results(g), *shown;
	struct buf b = { 0 };
	struct err e = { 0 };
	const struct outcome *o;

	r->run_id = "r";
	if (r->baseline != NULL)
		r->baseline->run_id = "b";
	result_write_buf(r, &b);
	o = outcome_parse(a, arena_str(a, buf_str(&b)), "x", &e);
	/* two tasks of a hostile file may have one id */
	assert(o != NULL || strstr(e.msg, "have the id") != NULL);
	shown = merge_report(g, true);
	assert(shown->ntasks == r->ntasks && shown->left_out == 0);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct merge_opts opts = { .allow_missing = true,
		.prefer_first = size % 2 != 0 };
	struct merge *m = merge_new(&a, &opts);
	struct err e = { 0 };
	bool small = add_files(&a, m, data, size);
	size_t i, n = merge_count(m);

	for (i = 0; i < n; i++)
		small = small && merge_results(merge_at(m, i))->ntasks *
		    merge_results(merge_at(m, i))->trials < SMALL;
	if (small && merge_finish(m, &e) == -1)
		assert(e.msg[0] != '\0');
	else if (small)
		for (i = 0; i < n; i++)
			check_group(&a, merge_at(m, i));
	merge_free(m);
	arena_free(&a);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * Input: a document.  At every position the word is inside of the text, its
 * path is bounded, and the place of each offset leads back to it.
 */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "editor/lsp_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { POSITIONS = 200 };

static void
look(struct lsp *l, struct arena *a, struct str text, size_t offset)
{
	struct lsp_nodes nodes;
	struct lsp_at at;
	struct field_strs keys;

	if (!lsp_look(text, offset, &at))
		return;
	assert(at.from <= at.to && at.to <= text.n && at.from <= offset);
	assert(at.n <= LSP_STEPS_MAX);
	lsp_resolve(lsp_schema(l, LSP_EVAL), &at, &nodes);
	assert(nodes.n <= LSP_NODES_MAX);
	if (at.key) {
		keys = lsp_keys(a, &at, &at.here);
		assert(keys.n <= LSP_KEYS_MAX);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lsp l = { 0 };
	struct arena a = { 0 };
	struct str text = { (const char *)data, size };
	struct lsp_ruler r = { .text = text };
	struct lsp_line line;
	size_t i, step = size / POSITIONS + 1;

	if (!utf8_valid(text))
		return 0;
	line = lsp_line(text, 0);
	do
		assert(line.from <= line.to && line.to <= size);
	while (lsp_line_down(text, &line));
	for (i = 0; i <= size; i += step) {
		look(&l, &a, text, i);
		if (i == size || (data[i] & 0xC0) != 0x80)
			assert(lsp_offset(text, lsp_place(&r, i)) == i ||
			    (i > 0 && data[i - 1] == '\r'));
	}
	arena_free(&a);
	arena_free(&l.arena);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/* The table of stored runs that `waza results` prints. */
#include "report/report_internal.h"

#include "results/store.h"

enum { SUITE, PASSED, STARTED, MODEL, SKILL, ID, CELLS };

/* A name keeps 24 columns, the pass rate is beside it, and 2 are between. */
enum { BESIDE = 2 + 24 + 2 + 6 + 2 };

/* Whether all ids have room beside the names; else they are below them. */
static bool
has_room(struct store_file *const *v, size_t n, const struct report_opts *o)
{
	size_t i, w, most = 0;

	for (i = 0; i < n; i++) {
		w = report_cols(v[i]->run.id, SIZE_MAX);
		most = w > most ? w : most;
	}
	return !o->wrap || BESIDE + most <= report_width(o);
}

static void
fill(struct arena *a, struct report_row *row, const struct store_run *run)
{
	struct buf when = { 0 };

	report_stamp(&when, run->started_ns, REPORT_ISO);
	row->cell[SUITE] = run->name;
	row->cell[PASSED] = arena_fmt(a, "%.1f%%", report_rate(run->rate));
	row->cell[STARTED] = arena_take(a, &when);
	row->cell[MODEL] = run->model;
	row->cell[SKILL] = run->skill;
	row->cell[ID] = run->id;
}

void
report_stored(struct buf *b, struct store_file *const *v, size_t n,
    const struct report_opts *o)
{
	static const struct report_column cols[CELLS] = {
		[SUITE] = { "suite", 0 }, [PASSED] = { "passed", 4 },
		[STARTED] = { "started (UTC)", 3 }, [MODEL] = { "model", 2 },
		[SKILL] = { "skill", 1 }, [ID] = { "run id", 5 } };
	struct arena a = { 0 };
	struct report_row *rows = NEW_N(&a, struct report_row, n);
	struct report_table table = { .cols = cols, .ncols = CELLS,
		.rows = rows, .n = n };
	bool room = has_room(v, n, o);
	size_t i;

	for (i = 0; i < n; i++) {
		fill(&a, &rows[i], &v[i]->run);
		if (!room) {
			rows[i].note = rows[i].cell[ID];
			rows[i].cell[ID] = STR("");
		}
	}
	report_table(b, &table, o);
	arena_free(&a);
}

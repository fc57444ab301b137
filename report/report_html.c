/* SPDX-License-Identifier: ISC */
/*
 * One HTML file: the page (page.h) with the results inside, so that a report
 * looks and works like `waza serve`.
 */
#include "report/report_internal.h"

#include "report/matrix/matrix.h"
#include "report/page.h"

static void
begin(struct report_out *o)
{
	page_put_head(&o->b);
}

static void
put(void *ctx, struct str piece)
{
	struct report_out *o = ctx;

	page_put_results(&o->b, piece);
	report_flush(o);
}

/* A baseline is part of its run's results. */
static void
put_run(struct report_out *o, const struct result_run *ignored, bool base)
{
	struct result_run *run;
	struct err e = { 0 };

	(void)ignored;			/* writing needs its scratch memory */
	if (base)
		return;
	run = o->runs[o->count++];
	page_begin_results(&o->b, matrix_name(run).n > 0 && o->nruns > 1 ?
	    matrix_name(run) : run->suite->name);
	if (result_write_pieces(run, put, o, &e) == -1 &&
	    o->err.code == ERR_NONE)
		o->err = e;
	page_end_results(&o->b);
}

static void
end(struct report_out *o)
{
	page_put_tail(&o->b);
}

const struct report_kind report_html = {
	.name = "html:PATH", .path = true, .form = GUARD_JSON, .begin = begin,
	.run = put_run, .end = end
};

/* Results files instead of runs. */
static void
put_files(struct report_out *o)
{
	size_t i;

	page_put_head(&o->b);
	for (i = 0; i < o->count; i++) {
		page_begin_results(&o->b, o->files[i].name);
		page_put_results(&o->b, o->files[i].json);
		page_end_results(&o->b);
		report_flush(o);
	}
}

const struct report_kind report_view = {
	.name = "view", .form = GUARD_JSON, .begin = put_files, .end = end
};

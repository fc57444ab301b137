/* SPDX-License-Identifier: ISC */
/*
 * Comma-separated values (RFC 4180), one row per trial.
 *
 * Spreadsheets treat a cell that begins with = + - or @ as a formula, so such
 * text from suites and agents is prefixed with an apostrophe.
 */
#include "report/report_internal.h"

#include <string.h>

enum { CELL_MAX = REPORT_REASON };

static void
put_cell(struct buf *b, struct str s)
{
	struct buf clean = { 0 };
	bool cut;
	size_t i;

	report_clean(&clean, report_cut(s, CELL_MAX, &cut));
	buf_puts(b, ",\"");
	if (clean.n > 0 && strchr("=+-@\t\n", clean.p[0]) != NULL)
		buf_putc(b, '\'');
	for (i = 0; i < clean.n; i++) {
		if (clean.p[i] == '"')
			buf_putc(b, '"');
		buf_putc(b, clean.p[i]);
	}
	buf_puts(b, cut ? "...\"" : "\"");
	buf_free(&clean);
}

static void
put_failed(struct report_out *o, const struct report_detail *d)
{
	struct buf names = { 0 };
	size_t i;

	for (i = 0; i < d->n; i++) {
		if (d->v[i].status != RESULT_FAILED)
			continue;
		if (names.n > 0)
			buf_puts(&names, "; ");
		buf_put(&names, d->v[i].name);
	}
	put_cell(&o->b, buf_str(&names));
	buf_free(&names);
}

/* An unknown number is an empty cell. */
static void
put_used(struct buf *b, const struct result_used *u)
{
	buf_putc(b, ',');
	if (u->calls_known)
		buf_fmt(b, "%u", u->calls);
	if (u->tokens_known)
		buf_fmt(b, ",%lld,%lld", (long long)u->input_tokens,
		    (long long)u->output_tokens);
	else
		buf_puts(b, ",,");
	buf_putc(b, ',');
	if (u->cost_known)
		buf_fmt(b, "%.6g", u->free ? 0.0 : u->cost);
	buf_putc(b, ',');
	if (u->cost_known)
		buf_fmt(b, "%.6g", u->free ? u->cost : 0.0);
}

/* t is NULL if the task has no trial. */
static void
put_row(struct report_out *o, const struct result_run *run, bool base,
    const struct result_task *k, const struct result_trial *t)
{
	enum result_status st = t != NULL ? t->status : k->status;
	struct report_detail d = { .error = k->more->error };

	if (t != NULL) {
		report_detail(&o->arena, o->opts, run, k, t, &d);
		buf_fmt(&o->b, "%d,%u", (int)(t - k->trials) + 1, t->attempts);
	} else
		buf_puts(&o->b, "0,0");
	buf_fmt(&o->b, ",%s,%s", result_word(st), result_class(st));
	buf_fmt(&o->b, ",%.6g,%.6g,%lld", t != NULL ? t->score : 0,
	    t != NULL ? t->weighted : 0,
	    (long long)(t != NULL ? t->duration_ms : 0));
	put_cell(&o->b, run->suite->name);
	put_cell(&o->b, run->suite->skill);
	put_cell(&o->b, run->executor);
	put_cell(&o->b, run->model);
	buf_puts(&o->b, base ? ",true" : ",false");
	put_cell(&o->b, str_of(run->run_id != NULL ? run->run_id : ""));
	put_cell(&o->b, k->spec->id);
	put_cell(&o->b, k->spec->name);
	put_cell(&o->b, result_group(&o->arena, run, k->spec));
	put_failed(o, &d);
	put_cell(&o->b, d.error);
	put_cell(&o->b, d.output);
	put_used(&o->b, t != NULL ? &t->used : &(struct result_used){ 0 });
	put_cell(&o->b, run->ref_name);
	buf_putc(&o->b, '\n');
}

static void
put_run(struct report_out *o, const struct result_run *run, bool base)
{
	size_t i, j;

	for (i = 0; i < run->ntasks; i++) {
		const struct result_task *k = &run->tasks[i];

		if (k->done == 0)
			put_row(o, run, base, k, NULL);
		for (j = 0; j < k->ntrials; j++) {
			if (k->trials[j].status == RESULT_NONE)
				continue;
			put_row(o, run, base, k, &k->trials[j]);
			report_flush(o);
		}
	}
}

const struct report_kind report_csv = {
	.name = "csv:PATH", .path = true, .form = GUARD_TEXT,
	.flags = REPORT_STDOUT | REPORT_ALONE,
	.head = "trial,attempts,status,error_class,score,weighted_score,"
	    "duration_ms,eval,skill,executor,model,baseline,run_id,task,name,"
	    "group,failed_graders,error,output,tool_calls,input_tokens,"
	    "output_tokens,cost,saved_cost,skills_ref\n", .run = put_run
};

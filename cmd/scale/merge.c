/* SPDX-License-Identifier: ISC */
/*
 * waza merge: joins the results of shards into the results of one run, and
 * reports them as `waza run` does.
 *
 * Nothing is written before everything has been read and found complete.
 */
#include "waza.h"

#include <string.h>

#include "base/os.h"
#include "base/os_path.h"
#include "cmd/job.h"
#include "json.h"
#include "report/matrix/matrix.h"
#include "report/report_suites.h"
#include "results/cache.h"
#include "results/merge/merge.h"
#include "results/result.h"
#include "suite/spec.h"

struct merge_opt {
	struct cmd_job_opt job;		/* first */
	const char *prefer;
	bool allow_missing;
};

#define OPT(m, t, ...) CMD_OPT(merge_opt, m, t, __VA_ARGS__)
static const struct opt merge_rows[] = {
	OPT(allow_missing, OPT_FLAG, .name = "allow-missing",
	    .group = "Selection",
	    .help = "merge what there is; the result is not complete"),
	OPT(prefer, OPT_STR, .name = "prefer", .value = "newest|first",
	    .help = "of a trial that two shards did (default: newest)"),
	CMD_JOB_OUTPUT,
};

/* One merged run. */
struct merged {
	struct merge_group *group;
	struct result_run *results, *report;
	struct str name;		/* of its suite */
	const char *file;		/* results file, or NULL */
};

struct merging {
	struct cmd_job job;		/* first */
	struct merge_opt opt;
	struct merge *merge;
	struct merged *v;
	size_t n, suites;
	struct report_suite *rows;	/* of .all */
	struct report_suites all;
	int64_t started_ms;
};

static void
print_missing(struct merging *g)
{
	struct str all = merge_missing(g->merge), line;
	size_t bad = merge_bad_lines(g->merge);

	while (str_line(&all, &line))
		cmd_say("waza: missing: %.*s\n", STRF(line));
	if (bad > 0)
		cmd_say("waza: warning: %zu line%s of journals %s not "
		    "written by waza: ignored\n", bad, bad == 1 ? "" : "s",
		    bad == 1 ? "was" : "were");
}

/*
 * The files, named as those of `waza run`: OUT.json, of several suites
 * OUT_SUITE.json, of several cells OUT_CELL.json.
 */
static bool
has_cells(const struct merging *g, const struct merged *x)
{
	size_t i, n = 0;

	for (i = 0; i < g->n; i++)
		n += str_eq(g->v[i].name, x->name);
	return n > 1;
}

/* The values that distinguish the run from others of its suite. */
static const char *
cell_of(struct arena *a, const struct result_run *r)
{
	static const char *const axes[] = { "executor", "model", "skill" };
	struct json *cell = r->cell.n > 0 ? arena_json(a, r->cell, NULL) :
	    NULL;
	struct buf b = { 0 };
	struct str v;
	size_t i;

	for (i = 0; i < COUNTOF(axes) && cell != NULL; i++) {
		v = cmd_short_path(json_str(cell, axes[i]));
		if (v.n > 0)
			buf_fmt(&b, "%s%.*s", b.n > 0 ? "_" : "", STRF(v));
	}
	if (b.n == 0)
		buf_put(&b, r->model.n > 0 ? r->model : STR("results"));
	return arena_take(a, &b).p;
}

/* The word for a suite in names of files: its skill, if no other has it. */
static struct str
word_of(const struct merging *g, const struct merged *x)
{
	struct str skill = x->results->suite->skill;
	size_t i;

	for (i = 0; i < g->n; i++)
		if (!str_eq(g->v[i].name, x->name) &&
		    str_eq(g->v[i].results->suite->skill, skill))
			return x->name;
	return skill.n > 0 ? skill : x->name;
}

static int
name_file(struct merging *g, size_t i)
{
	struct merged *x = &g->v[i];
	struct arena *a = g->job.call->arena;
	struct err *e = g->job.call->err;
	struct str word;
	size_t k;

	x->file = g->opt.job.output;
	if (x->file == NULL)
		return 0;
	if (g->suites > 1) {
		word = word_of(g, x);	/* but not that of the summary */
		x->file = cmd_model_path(a, x->file, str_is(word, "summary") ?
		    "summary-2" : arena_str(a, word).p);
	}
	if (has_cells(g, x))
		x->file = cmd_model_path(a, x->file, cell_of(a, x->results));
	for (k = 0; k < i; k++)
		if (strcmp(g->v[k].file, x->file) == 0)
			return err_set(e, ERR_SCHEMA, "%s: the results of two "
			    "suites would have this name: merge them one by "
			    "one", x->file);
	if (os_make_dirs(x->file, 0777, false, e) == -1)
		return -1;
	return run_check_output(a, x->file, false, e);
}

/* A run of which parts are missing counts as interrupted, not as failed. */
static void
end_result(struct arena *a, struct result_run *r)
{
	r->run_id = run_make_id(a);
	r->cancelled = !r->complete && r->skipped == NULL;
}

static void
list_groups(struct merging *g)
{
	struct arena *a = g->job.call->arena;
	struct merged *x;
	size_t i, k;

	g->n = merge_count(g->merge);
	g->v = NEW_N(a, struct merged, g->n);
	for (i = 0; i < g->n; i++) {
		x = &g->v[i];
		x->group = merge_at(g->merge, i);
		x->results = merge_results(x->group);
		end_result(a, x->results);
		if (x->results->baseline != NULL)
			end_result(a, x->results->baseline);
		x->name = x->results->suite->name;
		for (k = 0; k < i && !str_eq(g->v[k].name, x->name); k++)
			;
		g->suites += k == i;
	}
	g->job.many = g->suites > 1;
}

static int
name_files(struct merging *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (name_file(g, i) == -1)
			return -1;
	return 0;
}

/* All results files, or none: they are checked before the first is written. */
static int
write_files(struct merging *g)
{
	struct err *e = g->job.call->err;
	size_t i;

	for (i = 0; i < g->n; i++)
		if (g->v[i].file != NULL &&
		    result_write(g->v[i].results, g->v[i].file, e) == -1)
			return -1;
	return 0;
}

/*
 * Reports.
 */
static struct report_suites
all_suites(struct merging *g)
{
	struct arena *a = g->job.call->arena;
	struct report_suite *v = NEW_N(a, struct report_suite, g->suites), *s;
	struct report_suites out = { .v = v, .n = 0, .complete = true,
		.ended_ns = os_wall_ns(),
		.duration_ms = os_now_ms() - g->started_ms };
	const struct merged *x;
	size_t i, k;

	g->rows = v;
	for (i = 0; i < g->n; i++) {
		x = &g->v[i];
		for (k = 0; k < out.n && !str_eq(v[k].name, x->name); k++)
			;
		s = &v[k];
		if (k == out.n) {
			*s = (struct report_suite){ .name = x->name,
				.skill = x->results->suite->skill,
				.path = x->file != NULL ? x->file : "" };
			s->runs = NEW_N(a, struct result_run *, g->n);
			s->models = NEW_N(a, const char *, g->n);
			s->files = NEW_N(a, const char *, g->n);
			s->cells = NEW_N(a, struct str, g->n);
			out.n++;
		}
		s->runs[s->n] = x->report;
		s->models[s->n] = arena_str(a, x->results->model).p;
		s->cells[s->n] = matrix_name(x->results);
		s->files[s->n++] = x->file;
		out.complete = out.complete && x->results->complete;
	}
	return out;
}

/* Compares the cells of each suite; their results contain that. */
static void
compare_cells(struct merging *g)
{
	struct arena *a = g->job.call->arena;
	struct report_suite *s;
	struct buf b = { 0 };
	struct str json;
	size_t i, k;

	g->all = all_suites(g);
	for (i = 0; i < g->all.n; i++) {
		s = &g->rows[i];
		s->matrix = matrix_of(a, s->runs, s->n);
		if (s->matrix == NULL)
			continue;
		matrix_json(&b, s->matrix, false);
		json = arena_take(a, &b);
		for (k = 0; k < g->n; k++)
			if (str_eq(g->v[k].name, s->name))
				g->v[k].results->matrix =
				    g->v[k].report->matrix = json;
	}
	if (!g->job.many && g->all.n > 0)
		g->job.matrix = g->rows[0].matrix;
}

static void
print_suites(struct cmd_job *j, struct buf *out, const struct report_opts *o)
{
	report_suites_text(out, &((struct merging *)(void *)j)->all, o);
}

static int
write_summary(struct merging *g)
{
	struct buf b = { 0 };
	int rc;

	if (g->n < 2 || g->opt.job.output == NULL)
		return 0;
	report_suites_json(&b, &g->all);
	rc = cache_write_file(cmd_model_path(g->job.call->arena,
	    g->opt.job.output, "summary"), buf_str(&b), g->job.call->err);
	buf_free(&b);
	return rc;
}

/* Reads all tasks if cells are compared. */
static void
add_reports(struct merging *g)
{
	bool all = g->opt.job.verbose || g->opt.job.reporters.n > 0 ||
	    g->n > g->suites;
	size_t i;

	for (i = 0; i < g->n; i++) {
		g->v[i].report = merge_report(g->v[i].group, all);
		cmd_job_add_results(&g->job, g->v[i].report, g->v[i].file);
	}
	compare_cells(g);
}

static int
report(struct merging *g)
{
	int status = cmd_job_report(&g->job);

	if (write_summary(g) == -1)
		status = cmd_complain(g->job.call->err);
	return cmd_exit_status(&g->job, status != CMD_OK);
}

static int
merge(struct merging *g)
{
	struct cmd_call *c = g->job.call;
	size_t i;

	for (i = 0; i < c->nargs; i++)
		if (merge_add(g->merge, c->args[i], c->err) == -1)
			return cmd_complain(c->err);
	if (merge_finish(g->merge, c->err) == -1) {
		print_missing(g);
		return cmd_complain(c->err);
	}
	print_missing(g);
	list_groups(g);
	if (name_files(g) == -1)
		return cmd_complain(c->err);
	add_reports(g);
	if (write_files(g) == -1)
		return cmd_complain(c->err);
	return report(g);
}

static int
merge_main(struct cmd_call *c)
{
	static const char *const prefer[] = { "newest", "first" };
	struct merging *g = NEW(c->arena, struct merging);
	struct merge_opts o = { 0 };
	int first, status;

	g->opt = *(const struct merge_opt *)c->opt;
	g->job.call = c;
	g->job.opt = &g->opt.job;
	g->job.print = print_suites;
	g->started_ms = os_now_ms();
	first = cmd_choose("prefer", g->opt.prefer, prefer, COUNTOF(prefer),
	    c->err);
	if (first == -1 || cmd_job_check(&g->job) == -1)
		return cmd_complain(c->err);
	o.prefer_first = first == 1;
	o.allow_missing = g->opt.allow_missing;
	g->merge = merge_new(c->arena, &o);
	status = merge(g);
	cmd_job_free_runs(&g->job);
	merge_free(g->merge);
	return status;
}

const struct cmd_command cmd_merge = {
	.name = "merge", .group = CMD_RUNS,
	.usage = "[OPTION ...] FILE|DIR ...",
	.opts = CMD_OPTS(merge_rows), .size = sizeof(struct merge_opt),
	.required = { "FILE|DIR" }, .max = SIZE_MAX, .fn = merge_main,
	.help = "Join the results of shards into those of one run"
};

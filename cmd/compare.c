/* SPDX-License-Identifier: ISC */
/*
 * waza compare and waza gate: both compare results files.
 *
 * The exit status of gate has the meanings of the original: 1 for a
 * regression, 2 for a golden task, and 3 where other commands have 2.
 */
#include "waza.h"

#include <string.h>
#include <unistd.h>

#include "cmd/gate.h"
#include "cmd/stored.h"
#include "report/compare.h"
#include "json.h"
#include "report/report.h"
#include "results/outcome.h"
#include "suite/spec.h"

enum {
	GATE_ERROR = COMPARE_CONFIG,
	MIN_TRIALS = 5		/* of a task, before a baseline is replaced */
};

/* A shard can be compared with the same part of another run only. */
static int
check_shards(struct cmd_call *c, const struct outcome *const *files, size_t n)
{
	const struct json *v;
	int64_t k[2] = { 0, 0 }, of[2] = { 0, 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		v = json_getc(json_getc(files[i]->root, "config"), "shard");
		(void)json_int(json_getc(v, "k"), &k[i > 0]);
		(void)json_int(json_getc(v, "n"), &of[i > 0]);
		if (i > 0 && (k[0] != k[1] || of[0] != of[1]))
			break;
		k[1] = of[1] = 0;
	}
	if (i == n)
		return CMD_OK;
	i = of[1] > 0 ? i : 0;
	err_set(c->err, ERR_SCHEMA, "%s: has the results of a shard, not of a "
	    "whole run: join the shards with waza merge", files[i]->path);
	return cmd_complain(c->err);
}

static int
read_files(struct cmd_call *c, const char *const *paths, size_t n,
    const struct outcome **files)
{
	const char *path;
	size_t i;

	for (i = 0; i < n; i++) {
		path = cmd_find_results(c, paths[i]);
		if (path == NULL)
			return cmd_complain(c->err);
		files[i] = outcome_read(c->arena, path, c->err);
		if (files[i] == NULL)
			return cmd_complain_at(path, c->err);
	}
	return check_shards(c, files, n);
}

/* waza compare */
struct compare_opt {
	const char *format, *task;
	struct cmd_color color;
	bool verbose;
};
static const struct opt compare_rows[] = {
	CMD_OPT(compare_opt, format, OPT_STR, .name = "format", .letter = 'f',
	    .value = "table|json|markdown",
	    .help = "output format (default: table)"),
	CMD_OPT(compare_opt, task, OPT_STR, .name = "task", .value = "ID",
	    .help = "compare answers, tool calls and patches of this task"),
	CMD_OPT(compare_opt, verbose, OPT_FLAG, .name = "verbose",
	    .letter = 'v', .help = "list all tasks; with --task all lines"),
	CMD_COLOR_OPTS(compare_opt, color),
};

/* One file: its results without the skill are the first, it is the second. */
static int
add_baseline(struct cmd_call *c, const struct outcome **files)
{
	files[1] = files[0];
	files[0] = outcome_baseline(c->arena, files[1], c->err);
	return files[0] != NULL ? CMD_OK :
	    cmd_complain_at(files[1]->path, c->err);
}

/* The task that --task names by its id, else by its name. */
static const struct compare_row *
find_row(struct cmd_call *c, const struct compare *all, const char *id)
{
	struct str *ids = NEW_N(c->arena, struct str, all->nrows);
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < all->nrows; i++)
		if (str_is(all->rows[i].id, id))
			return &all->rows[i];
	for (i = 0; i < all->nrows; i++) {
		if (str_is(all->rows[i].name, id))
			return &all->rows[i];
		ids[i] = all->rows[i].id;
	}
	buf_fmt(&b, "no task \"%.60s\" in the results", id);
	str_put_choices(&b, str_of(id), "tasks", ids, all->nrows);
	err_set(c->err, ERR_SCHEMA, "%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return NULL;
}

/* compare --task: of two results, as text. */
static int
compare_one(struct cmd_call *c, const struct compare *all,
    const struct report_opts *r, int format)
{
	const struct compare_opt *o = c->opt;
	const struct compare_row *row;
	struct buf out = { 0 };

	if (format != 0 || all->nfiles != 2) {
		err_set(c->err, ERR_SCHEMA, format != 0 ?
		    "--task prints text: omit --format" :
		    "--task compares two results, not %zu", all->nfiles);
		return cmd_complain(c->err);
	}
	row = find_row(c, all, o->task);
	if (row == NULL)
		return cmd_complain(c->err);
	compare_task(&out, all, row, r);
	c->form = GUARD_TEXT;
	return cmd_finish(c, &out, CMD_OK);
}

static int
compare_main(struct cmd_call *c)
{
	static const char *const formats[] = { "table", "json", "markdown" };
	const struct compare_opt *o = c->opt;
	int format = cmd_choose("format", o->format, formats,
	    COUNTOF(formats), c->err);
	const char *last[2], *const *paths = (const char *const *)c->args;
	const struct outcome *files[COMPARE_FILES];
	struct report_opts r = { .verbose = o->verbose };
	size_t n = c->nargs;
	struct compare all;
	struct buf out = { 0 };

	if (format == -1 || cmd_report_env(&r, STDOUT_FILENO, &o->color,
	    c->err) == -1)
		return cmd_complain(c->err);
	if (n == 0) {
		if (cmd_last_two(c, last, 0) == -1)
			return cmd_complain(c->err);
		paths = last;
		n = 2;
	}
	if (read_files(c, paths, n, files) != CMD_OK)
		return CMD_ERROR;
	if (n == 1 && add_baseline(c, files) != CMD_OK)
		return CMD_ERROR;
	compare_make(c->arena, &all, files, n > 1 ? n : 2);
	all.skill = n == 1;
	if (o->task != NULL)
		return compare_one(c, &all, &r, format);
	if (format == 0)
		compare_text(&out, &all, &r);
	else if (format == 1)
		compare_json(&out, &all);
	else
		compare_markdown(&out, &all);
	c->form = format == 1 ? GUARD_JSON : GUARD_TEXT;
	return cmd_finish(c, &out, CMD_OK);
}

/* waza gate */
struct gate_opt {
	const char *baseline, *current, *max_drop, *min_pass;
	const char *on_new, *on_removed, *format;
	int64_t min_trials;
	struct cmd_color color;
	bool golden, significant, partial, verbose, update;
};
#define GATE(m, t, ...) CMD_OPT(gate_opt, m, t, __VA_ARGS__)
static const struct opt gate_rows[] = {
	GATE(baseline, OPT_STR, .name = "baseline", .value = "FILE",
	    .group = "Input",
	    .help = "accepted results (required)"),
	GATE(current, OPT_STR, .name = "current", .value = "FILE",
	    .help = "new results (default: the latest)"),
	GATE(max_drop, OPT_STR, .name = "max-regression-pct", .value = "N",
	    .group = "Rules",
	    .help = "allowed drop of the pass rate, in points (default: 0)"),
	GATE(min_pass, OPT_STR, .name = "min-pass-pct", .value = "N",
	    .help = "percent of tasks that must pass (default: 0)"),
	GATE(significant, OPT_FLAG, .name = "significant",
	    .help = "only warn if a drop is not significant"),
	GATE(partial, OPT_FLAG, .name = "partial",
	    .help = "count tasks that did not run as in the baseline"),
	GATE(golden, OPT_FLAG, .name = "golden-must-pass",
	    .help = "fail if a golden task does not pass"),
	GATE(on_new, OPT_STR, .name = "on-new-tasks",
	    .value = "allow|warn|fail",
	    .help = "policy for new tasks (default: allow)"),
	GATE(on_removed, OPT_STR, .name = "on-removed-tasks",
	    .value = "allow|warn|fail",
	    .help = "policy for removed tasks (default: warn)"),
	GATE(update, OPT_FLAG, .name = "update-baseline", .group = "Update",
	    .help = "replace the baseline if the results are better"),
	GATE(min_trials, OPT_INT, .name = "min-trials", .value = "N",
	    .min = 1, .max = 100000,
	    .help = "trials of each task that this needs (default: 5)"),
	GATE(format, OPT_STR, .name = "format", .letter = 'f',
	    .group = "Output",
	    .value = "FORMAT", .help = "human (default), json, markdown or "
	    "github (also github-actions)"),
	GATE(verbose, OPT_FLAG, .name = "verbose", .letter = 'v',
	    .help = "list all tasks"),
	CMD_COLOR_OPTS(gate_opt, color),
};

/* 0 to 100, with up to nine decimals. */
static int
get_percent(const char *option, const char *s, double *out, struct err *e)
{
	const char *p = s;
	double d = 0, unit = 1;
	size_t n = 0;

	if (s == NULL)
		return 0;
	for (; *p >= '0' && *p <= '9' && n < 12; p++, n++)
		d = d * 10 + (*p - '0');
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9' && n < 12; p++, n++) {
			d = d * 10 + (*p - '0');
			unit *= 10;
		}
	*out = d / unit;
	if (*p != '\0' || n == 0 || *out > 100)
		return err_set(e, ERR_SCHEMA, "--%s must be a number from "
		    "0 to 100, not \"%.40s\"", option, s);
	return 0;
}

static int
get_policy(const char *option, const char *value, enum compare_policy *out,
    struct err *e)
{
	static const char *const words[] = { "allow", "warn", "fail" };
	int i = cmd_choose(option, value, words, COUNTOF(words), e);

	if (i == -1)
		return -1;
	*out = (enum compare_policy)i;
	return 0;
}

static int
get_rules(const struct gate_opt *o, struct compare_rules *r, struct err *e)
{
	r->golden = o->golden;
	r->significant = o->significant;
	r->partial = o->partial;
	if (get_policy("on-new-tasks", o->on_new, &r->on_new, e) == -1 ||
	    get_policy("on-removed-tasks", o->on_removed != NULL ?
	    o->on_removed : "warn", &r->on_removed, e) == -1 ||
	    get_percent("max-regression-pct", o->max_drop, &r->max_drop,
	    e) == -1)
		return -1;
	return get_percent("min-pass-pct", o->min_pass, &r->min_pass, e);
}

static int64_t
min_trials(const struct gate_opt *o)
{
	return o->min_trials > 0 ? o->min_trials : MIN_TRIALS;
}

/* --update-baseline before there is one. */
static int
create_baseline(struct cmd_call *c, const char *current)
{
	const struct gate_opt *o = c->opt;
	const struct outcome *now;

	if (read_files(c, &current, 1, &now) != CMD_OK)
		return GATE_ERROR;
	if (cmd_gate_update(c->arena, now, o->baseline, min_trials(o), NULL,
	    c->err) == -1) {
		cmd_complain(c->err);
		return GATE_ERROR;
	}
	cmd_say("waza: the baseline %s was created from %s\n", o->baseline,
	    now->path);
	return CMD_OK;
}

/* Tasks without a result, and those that a rule of --stop left out. */
static size_t
count_open(const struct outcome *o)
{
	size_t i, n = o->unlisted;

	for (i = 0; i < o->ntasks; i++)
		n += o->tasks[i].quarantine.n == 0 &&
		    (!o->tasks[i].finished ||
		    outcome_is_left_out(&o->tasks[i]));
	return n;
}

/*
 * The tasks that did not run could be those that broke.  Where fail_fast ended
 * the current run, compare_gate() knows what they can change; a baseline would
 * demand less.
 */
static bool
has_ended(struct cmd_call *c, const struct outcome *o, bool baseline)
{
	const char *why = outcome_incomplete(c->arena, o);
	size_t n = baseline ? count_open(o) : 0;

	if (why != NULL)
		cmd_say("waza: %s: the run is not complete (%s): finish it "
		    "with --resume, or run it again\n", o->path, why);
	else if (n > 0)
		cmd_say("waza: %s: the run is not complete: a baseline needs "
		    "all tasks, but %zu had no end; run it again without "
		    "--stop and --fail-fast\n", o->path, n);
	return why == NULL && n == 0;
}

/* Nothing failed, but tasks of the baseline were not run. */
static int
say_open(const struct compare_gate *g)
{
	const struct outcome *now = g->of->files[1];

	cmd_say("waza: %s: cannot be decided: %zu task%s of the baseline %s "
	    "not run (%.100s); run without --stop and --fail-fast, or use "
	    "--partial to count them as in the baseline\n", now->path,
	    g->nleft, g->nleft == 1 ? "" : "s", g->nleft == 1 ? "was" : "were",
	    now->stop != NULL ? now->stop : "the run ended early");
	return GATE_ERROR;
}

/* A part of a suite can have new tasks only; another suite cannot pass. */
static bool
has_common(const struct compare_gate *g, const struct outcome *const *files)
{
	size_t old = g->of->nrows - g->nnew;

	return g->common > 0 && (g->nkept < old ||
	    str_eq(files[0]->name, files[1]->name));
}

static int
run_gate(struct cmd_call *c, const struct compare_rules *rules, int format)
{
	static void (*const put[])(struct buf *,
	    const struct compare_gate *) = { NULL, compare_gate_json,
		compare_gate_markdown, compare_gate_github,
		compare_gate_github };
	static const enum guard_form forms[] = { GUARD_TEXT, GUARD_JSON,
		GUARD_TEXT, GUARD_GITHUB, GUARD_GITHUB };
	const struct gate_opt *o = c->opt;
	const char *paths[] = { o->baseline, o->current };
	const struct outcome *files[COUNTOF(paths)];
	struct report_opts r = { .verbose = o->verbose };
	struct compare both;
	struct compare_gate g;
	struct buf out = { 0 };

	if (cmd_report_env(&r, STDOUT_FILENO, &o->color, c->err) == -1 ||
	    (o->current == NULL && cmd_last_two(c, paths, 1) == -1)) {
		cmd_complain(c->err);
		return GATE_ERROR;
	}
	if (strcmp(o->baseline, paths[1]) == 0 && !spec_exists(paths[1])) {
		cmd_say("waza: --baseline and --current are the same results: "
		    "\"%s~1\" names those before them\n", paths[1]);
		return GATE_ERROR;
	}
	if (o->update && !spec_exists(o->baseline))
		return create_baseline(c, paths[1]);
	if (read_files(c, paths, COUNTOF(paths), files) != CMD_OK ||
	    !has_ended(c, files[0], true) || !has_ended(c, files[1], false))
		return GATE_ERROR;
	compare_make(c->arena, &both, files, COUNTOF(paths));
	compare_gate(c->arena, &g, &both, rules);
	if (!has_common(&g, files)) {
		cmd_say("waza: %s and %s have no task in common\n",
		    paths[0], paths[1]);
		return GATE_ERROR;
	}
	if (g.status == COMPARE_CONFIG)
		return say_open(&g);
	if (o->update && cmd_gate_update(c->arena, files[1], o->baseline,
	    min_trials(o), &g, c->err) == -1) {
		cmd_complain(c->err);
		return GATE_ERROR;
	}
	if (format == 0)
		compare_gate_text(&out, &g, &r);
	else
		put[format](&out, &g);
	if (o->update && format > 2)
		cmd_say("waza: %.*s\n", STRF(g.update));
	c->form = forms[format];
	if (cmd_finish(c, &out, CMD_OK) != CMD_OK)
		return GATE_ERROR;
	return (int)g.status;
}

static int
gate_main(struct cmd_call *c)
{
	static const char *const formats[] = { "human", "json", "markdown",
		"github", "github-actions" };
	const struct gate_opt *o = c->opt;
	struct compare_rules rules = { 0 };
	int format = cmd_choose("format", o->format, formats,
	    COUNTOF(formats), c->err);

	if (format != -1 && o->baseline == NULL)
		format = err_set(c->err, ERR_SCHEMA, "--baseline FILE is "
		    "missing: name a results file; see \"waza help gate\"");
	if (format != -1 && o->min_trials > 0 && !o->update)
		format = err_set(c->err, ERR_SCHEMA, "--min-trials is for "
		    "--update-baseline: add it");
	if (format != -1 && o->partial && o->update)
		format = err_set(c->err, ERR_SCHEMA, "--update-baseline needs "
		    "results of all tasks: remove --partial");
	if (format == -1 || get_rules(o, &rules, c->err) == -1) {
		cmd_complain(c->err);
		return GATE_ERROR;
	}
	return run_gate(c, &rules, format);
}

const struct cmd_command cmd_compare = {
	.name = "compare", .group = CMD_RESULTS,
	.usage = "[-f table|json|markdown] [--task ID] [-v] [FILE|SKILL ...]",
	.opts = CMD_OPTS(compare_rows), .size = sizeof(struct compare_opt),
	.max = COMPARE_FILES, .fn = compare_main,
	.help = "Compare results and test whether the difference is "
	    "significant"
};
const struct cmd_command cmd_gate = {
	.name = "gate", .group = CMD_RESULTS,
	.usage = "--baseline FILE [--current FILE] [OPTION ...]",
	.opts = CMD_OPTS(gate_rows), .size = sizeof(struct gate_opt),
	.fn = gate_main, .misuse = GATE_ERROR,
	.help = "Fail if results regress against a baseline"
};

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

#include "cmd/workspace.h"
#include "report/compare.h"
#include "report/report.h"
#include "results/outcome.h"
#include "suite/spec.h"

enum { GATE_ERROR = COMPARE_CONFIG };

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
	return CMD_OK;
}

/* waza compare */
struct compare_opt {
	const char *format;
	bool verbose;
};
static const struct opt compare_rows[] = {
	CMD_OPT(compare_opt, format, OPT_STR, .name = "format", .letter = 'f',
	    .value = "table|json|markdown",
	    .help = "output format (default: table)"),
	CMD_OPT(compare_opt, verbose, OPT_FLAG, .name = "verbose",
	    .letter = 'v', .help = "list all tasks"),
};

static int
compare_main(struct cmd_call *c)
{
	static const char *const formats[] = { "table", "json", "markdown" };
	const struct compare_opt *o = c->opt;
	int format = cmd_choose("format", o->format, formats,
	    COUNTOF(formats), c->err);
	const struct outcome *files[COMPARE_FILES];
	struct report_opts r = { .verbose = o->verbose };
	struct compare all;
	struct buf out = { 0 };

	if (format == -1)
		return cmd_complain(c->err);
	if (read_files(c, (const char *const *)c->args, c->nargs,
	    files) != CMD_OK)
		return CMD_ERROR;
	compare_make(c->arena, &all, files, c->nargs);
	report_env(&r, STDOUT_FILENO);
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
	bool golden, significant, verbose;
};
#define GATE(m, t, ...) CMD_OPT(gate_opt, m, t, __VA_ARGS__)
static const struct opt gate_rows[] = {
	GATE(baseline, OPT_STR, .name = "baseline", .value = "FILE",
	    .group = "Input",
	    .help = "accepted results (required)"),
	GATE(current, OPT_STR, .name = "current", .value = "FILE",
	    .help = "new results (required)"),
	GATE(max_drop, OPT_STR, .name = "max-regression-pct", .value = "N",
	    .group = "Rules",
	    .help = "allowed drop of the pass rate, in points (default: 0)"),
	GATE(min_pass, OPT_STR, .name = "min-pass-pct", .value = "N",
	    .help = "percent of tasks that must pass (default: 0)"),
	GATE(significant, OPT_FLAG, .name = "significant",
	    .help = "only warn if a drop is not significant"),
	GATE(golden, OPT_FLAG, .name = "golden-must-pass",
	    .help = "fail if a golden task does not pass"),
	GATE(on_new, OPT_STR, .name = "on-new-tasks",
	    .value = "allow|warn|fail",
	    .help = "policy for new tasks (default: allow)"),
	GATE(on_removed, OPT_STR, .name = "on-removed-tasks",
	    .value = "allow|warn|fail",
	    .help = "policy for removed tasks (default: warn)"),
	GATE(format, OPT_STR, .name = "format", .letter = 'f',
	    .group = "Output",
	    .value = "FORMAT", .help = "human (default), json, markdown or "
	    "github-actions"),
	GATE(verbose, OPT_FLAG, .name = "verbose", .letter = 'v',
	    .help = "list all tasks"),
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
	if (get_policy("on-new-tasks", o->on_new, &r->on_new, e) == -1 ||
	    get_policy("on-removed-tasks", o->on_removed != NULL ?
	    o->on_removed : "warn", &r->on_removed, e) == -1 ||
	    get_percent("max-regression-pct", o->max_drop, &r->max_drop,
	    e) == -1)
		return -1;
	return get_percent("min-pass-pct", o->min_pass, &r->min_pass, e);
}

static int
run_gate(struct cmd_call *c, const struct compare_rules *rules, int format)
{
	static void (*const put[])(struct buf *,
	    const struct compare_gate *) = { NULL, compare_gate_json,
		compare_gate_markdown, compare_gate_github };
	static const enum guard_form forms[] = { GUARD_TEXT, GUARD_JSON,
		GUARD_TEXT, GUARD_GITHUB };
	const struct gate_opt *o = c->opt;
	const char *const paths[] = { o->baseline, o->current };
	const struct outcome *files[COUNTOF(paths)];
	struct report_opts r = { .verbose = o->verbose };
	struct compare both;
	struct compare_gate g;
	struct buf out = { 0 };

	if (strcmp(o->baseline, o->current) == 0 && !spec_exists(o->current)) {
		cmd_say("waza: --baseline and --current are the same results: "
		    "\"%s~1\" names those before them\n", o->current);
		return GATE_ERROR;
	}
	if (read_files(c, paths, COUNTOF(paths), files) != CMD_OK)
		return GATE_ERROR;
	compare_make(c->arena, &both, files, COUNTOF(paths));
	compare_gate(c->arena, &g, &both, rules);
	if (g.common == 0) {
		cmd_say("waza: %s and %s have no task in common\n",
		    o->baseline, o->current);
		return GATE_ERROR;
	}
	report_env(&r, STDOUT_FILENO);
	if (format == 0)
		compare_gate_text(&out, &g, &r);
	else
		put[format](&out, &g);
	c->form = forms[format];
	if (cmd_finish(c, &out, CMD_OK) != CMD_OK)
		return GATE_ERROR;
	return (int)g.status;
}

static int
gate_main(struct cmd_call *c)
{
	static const char *const formats[] = { "human", "json", "markdown",
		"github-actions" };
	const struct gate_opt *o = c->opt;
	struct compare_rules rules = { 0 };
	int format = cmd_choose("format", o->format, formats,
	    COUNTOF(formats), c->err);

	if (format != -1 && (o->baseline == NULL || o->current == NULL))
		format = err_set(c->err, ERR_SCHEMA, "--%s FILE is missing",
		    o->baseline == NULL ? "baseline" : "current");
	if (format == -1 || get_rules(o, &rules, c->err) == -1) {
		cmd_complain(c->err);
		return GATE_ERROR;
	}
	return run_gate(c, &rules, format);
}

const struct cmd_command cmd_compare = {
	.name = "compare", .group = CMD_RESULTS,
	.usage = "[-f table|json|markdown] [-v] FILE|SKILL FILE|SKILL ...",
	.opts = CMD_OPTS(compare_rows), .size = sizeof(struct compare_opt),
	.required = { "FILE", "FILE" }, .max = COMPARE_FILES,
	.fn = compare_main,
	.help = "Compare results and test whether the difference is "
	    "significant"
};
const struct cmd_command cmd_gate = {
	.name = "gate", .group = CMD_RESULTS,
	.usage = "--baseline FILE --current FILE [OPTION ...]",
	.opts = CMD_OPTS(gate_rows), .size = sizeof(struct gate_opt),
	.fn = gate_main, .misuse = GATE_ERROR,
	.help = "Fail if results regress against a baseline"
};

/* SPDX-License-Identifier: ISC */
/*
 * Commands about results that are there: compare and gate.
 *
 * The gate's exit status has meanings of its own, those of the original: 1 a
 * regression, 2 a golden task, and 3 where other commands have 2.
 */
#include "waza.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/compare.h"
#include "report/report.h"
#include "results/outcome.h"

enum { GATE_BAD = COMPARE_CONFIG };

/* Which of the words it is; NULL is the first.  -1: none, *e says so. */
static int
choose(const char *option, const char *s, const char *const *words, size_t n,
    struct err *e)
{
	struct buf b = { 0 };
	size_t i;

	if (s == NULL)
		return 0;
	for (i = 0; i < n; i++)
		if (strcmp(s, words[i]) == 0)
			return (int)i;
	for (i = 0; i < n; i++)
		buf_fmt(&b, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ",
		    words[i]);
	err_set(e, ERR_SCHEMA, "--%s is %.*s, not \"%.40s\"", option,
	    STRF(buf_str(&b)), s);
	buf_free(&b);
	return -1;
}

static void
complain(const char *path, const struct err *e)
{
	if (e->line > 0)
		cmd_complain_at(path, e);
	else
		cmd_complain(e);
}

/* waza compare */
struct compare_opt {
	const char *format;
	bool verbose;
};
static const struct opt compare_opts[] = {
	{ .name = "format", .letter = 'f', .type = OPT_STR,
	    .off = offsetof(struct compare_opt, format),
	    .value = "table|json|markdown", .help = "how it is printed" },
	{ .name = "verbose", .letter = 'v', .type = OPT_FLAG,
	    .off = offsetof(struct compare_opt, verbose),
	    .help = "list all tasks, however many" },
};

static int
compare_main(struct cmd_call *c)
{
	static const char *const formats[] = { "table", "json", "markdown" };
	const struct compare_opt *o = c->opt;
	int format = choose("format", o->format, formats, COUNTOF(formats),
	    c->err);
	const struct outcome *files[COMPARE_FILES];
	struct report_opts r = { .verbose = o->verbose };
	struct compare all;
	struct buf out = { 0 };
	size_t i;

	if (format == -1)
		return cmd_complain(c->err);
	for (i = 0; i < c->nargs; i++) {
		files[i] = outcome_read(c->arena, c->args[i], c->err);
		if (files[i] == NULL) {
			complain(c->args[i], c->err);
			return CMD_ERROR;
		}
	}
	compare_make(c->arena, &all, files, c->nargs);
	report_env(&r, STDOUT_FILENO);
	if (format == 0)
		compare_text(&out, &all, &r);
	else if (format == 1)
		compare_json(&out, &all);
	else
		compare_markdown(&out, &all);
	return cmd_finish(c, &out, CMD_OK);
}

/* waza gate */
struct gate_opt {
	const char *baseline, *current, *max_drop, *min_pass;
	const char *on_new, *on_removed, *format;
	bool golden, significant, verbose;
};
static const struct opt gate_opts[] = {
	{ .name = "baseline", .type = OPT_STR, .off = offsetof(struct gate_opt, baseline),
	    .value = "FILE", .help = "results that were accepted" },
	{ .name = "current", .type = OPT_STR, .off = offsetof(struct gate_opt, current),
	    .value = "FILE", .help = "results that are to be" },
	{ .name = "max-regression-pct", .type = OPT_STR,
	    .off = offsetof(struct gate_opt, max_drop), .value = "N",
	    .help = "points the success rate may fall by; 0" },
	{ .name = "min-pass-pct", .type = OPT_STR, .off = offsetof(struct gate_opt, min_pass),
	    .value = "N", .help = "percent of tasks that have to pass; 0" },
	{ .name = "significant", .type = OPT_FLAG,
	    .off = offsetof(struct gate_opt, significant),
	    .help = "a fall that may be chance is a warning" },
	{ .name = "golden-must-pass", .type = OPT_FLAG,
	    .off = offsetof(struct gate_opt, golden),
	    .help = "golden tasks have to pass" },
	{ .name = "on-new-tasks", .type = OPT_STR, .off = offsetof(struct gate_opt, on_new),
	    .value = "allow|warn|fail", .help = "allow" },
	{ .name = "on-removed-tasks", .type = OPT_STR,
	    .off = offsetof(struct gate_opt, on_removed),
	    .value = "allow|warn|fail", .help = "warn" },
	{ .name = "format", .letter = 'f', .type = OPT_STR,
	    .off = offsetof(struct gate_opt, format),
	    .value = "FORMAT",
	    .help = "human, json, markdown, github-actions" },
	{ .name = "verbose", .letter = 'v', .type = OPT_FLAG,
	    .off = offsetof(struct gate_opt, verbose),
	    .help = "list all tasks, however many" },
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
		return err_set(e, ERR_SCHEMA, "--%s is a number from 0 to "
		    "100, not \"%.40s\"", option, s);
	return 0;
}

static int
get_rules(const struct gate_opt *o, struct compare_rules *r, struct err *e)
{
	static const char *const words[] = { "allow", "warn", "fail" };
	int fresh = choose("on-new-tasks", o->on_new, words, COUNTOF(words),
	    e), gone;

	if (fresh == -1)
		return -1;
	gone = choose("on-removed-tasks", o->on_removed != NULL ?
	    o->on_removed : "warn", words, COUNTOF(words), e);
	if (gone == -1)
		return -1;
	r->on_new = (enum compare_policy)fresh;
	r->on_removed = (enum compare_policy)gone;
	r->golden = o->golden;
	r->significant = o->significant;
	if (get_percent("max-regression-pct", o->max_drop, &r->max_drop,
	    e) == -1)
		return -1;
	return get_percent("min-pass-pct", o->min_pass, &r->min_pass, e);
}

static void
put_gate(struct buf *out, const struct compare_gate *g, int format,
    const struct report_opts *r)
{
	if (format == 0)
		compare_gate_text(out, g, r);
	else if (format == 1)
		compare_gate_json(out, g);
	else if (format == 2)
		compare_gate_markdown(out, g);
	else
		compare_gate_github(out, g);
}

static int
run_gate(struct cmd_call *c, const struct compare_rules *rules, int format)
{
	const struct gate_opt *o = c->opt;
	const char *const paths[] = { o->baseline, o->current };
	const struct outcome *files[COUNTOF(paths)];
	struct report_opts r = { .verbose = o->verbose };
	struct compare both;
	struct compare_gate g;
	struct buf out = { 0 };
	size_t i;

	for (i = 0; i < COUNTOF(paths); i++) {
		files[i] = outcome_read(c->arena, paths[i], c->err);
		if (files[i] == NULL) {
			complain(paths[i], c->err);
			return GATE_BAD;
		}
	}
	compare_make(c->arena, &both, files, COUNTOF(paths));
	compare_gate(c->arena, &g, &both, rules);
	if (g.common == 0) {
		fprintf(stderr, "waza: no task is in both %s and %s\n",
		    o->baseline, o->current);
		return GATE_BAD;
	}
	report_env(&r, STDOUT_FILENO);
	put_gate(&out, &g, format, &r);
	if (cmd_finish(c, &out, CMD_OK) != CMD_OK)
		return GATE_BAD;
	return (int)g.status;
}

static int
gate_main(struct cmd_call *c)
{
	static const char *const formats[] = { "human", "json", "markdown",
		"github-actions" };
	const struct gate_opt *o = c->opt;
	struct compare_rules rules = { 0 };
	int format = choose("format", o->format, formats, COUNTOF(formats),
	    c->err);

	if (format != -1 && o->baseline == NULL)
		format = err_set(c->err, ERR_SCHEMA, "--baseline is missing");
	if (format != -1 && o->current == NULL)
		format = err_set(c->err, ERR_SCHEMA, "--current is missing");
	if (format == -1 || get_rules(o, &rules, c->err) == -1) {
		cmd_complain(c->err);
		return GATE_BAD;
	}
	return run_gate(c, &rules, format);
}

const struct cmd_command cmd_compare = {
	.name = "compare",
	.usage = "[-f table|json|markdown] [-v] FILE FILE ...",
	.opts = CMD_OPTS(compare_opts), .size = sizeof(struct compare_opt),
	.min = 2, .max = COMPARE_FILES, .fn = compare_main,
	.help = "say how results differ, and whether that is chance"
};
const struct cmd_command cmd_gate = {
	.name = "gate", .usage = "--baseline FILE --current FILE [OPTION ...]",
	.opts = CMD_OPTS(gate_opts), .size = sizeof(struct gate_opt),
	.fn = gate_main, .misuse = GATE_BAD,
	.help = "let results pass that are no worse than others"
};

/* SPDX-License-Identifier: ISC */
/* waza coverage: which skills have suites, tasks and graders. */
#include "waza.h"

#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "report/report.h"
#include "report/report_coverage.h"
#include "skill/coverage.h"
#include "suite/config.h"
#include "suite/spec.h"

enum { BADGE_MODE = 0644 };

struct coverage_opt {
	struct opt_list paths;
	const char *format, *badge;
	struct cmd_color color;
	bool trust;
};
static const struct opt coverage_rows[] = {
	CMD_OPT(coverage_opt, format, OPT_STR, .name = "format", .letter = 'f',
	    .value = "text|markdown|json",
	    .help = "output format (default: text)"),
	CMD_OPT(coverage_opt, paths, OPT_LIST, .name = "path", .value = "DIR",
	    .help = "search skills and suites here, too; repeatable"),
	CMD_OPT(coverage_opt, badge, OPT_STR, .name = "badge", .value = "FILE",
	    .help = "write a badge with the percentage, as SVG"),
	CMD_TRUST_OPT(coverage_opt, trust),
	CMD_COLOR_OPTS(coverage_opt, color),
};

enum { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_JSON };
static const char *const formats[] = { "text", "markdown", "json" };

static int
read_coverage(struct cmd_call *c, const struct coverage_opt *opt,
    struct coverage *out)
{
	struct coverage_opts o = { .root = c->nargs > 0 ? c->args[0] : ".",
		.paths = opt->paths.v, .npaths = opt->paths.n };
	struct config_sources from = { .dir = o.root, .token = c->token,
		.trust = opt->trust };
	struct spec_notes notes = { .arena = c->arena };
	const struct config *config = config_load(c->arena, &from, &notes);
	size_t i;

	if (config == NULL) {
		cmd_print_notes(&notes, false);
		return err_set(c->err, ERR_SCHEMA, "the settings of %s cannot "
		    "be read", o.root);
	}
	if (config->paths.skills.n > 0)
		o.skills = arena_cstr(c->arena, config->paths.skills);
	if (config->paths.evals.n > 0)
		o.evals = arena_cstr(c->arena, config->paths.evals);
	if (coverage_read(c->arena, &o, out, c->err) == -1)
		return -1;
	for (i = 0; i < out->warnings.n; i++)
		cmd_say("waza: %.*s: not counted\n",
		    STRF(out->warnings.v[i]));
	return out->n > 0 ? 0 : err_set(c->err, ERR_SCHEMA, "%s: no skill "
	    "found (searched: skills, .github/skills, .agents/skills, "
	    ".claude/skills%s; name other directories with --path)", o.root,
	    o.skills != NULL ? ", paths.skills of .waza.yaml" : "");
}

static void
put_report(const struct coverage *v, int format, struct buf *out,
    const struct report_opts *opts)
{
	struct json_out o = { .put = buf_sink, .ctx = out, .indent = 2 };

	if (format == FORMAT_JSON) {
		coverage_put(&o, v);
		buf_putc(out, '\n');
	} else if (format == FORMAT_MARKDOWN)
		coverage_markdown(out, v);
	else
		report_coverage(out, v, opts);
}

static int
coverage_main(struct cmd_call *c)
{
	static const enum guard_form forms[] = { GUARD_TEXT, GUARD_TEXT,
		GUARD_JSON };
	const struct coverage_opt *opt = c->opt;
	struct buf out = { 0 }, badge = { 0 };
	struct report_opts opts = { 0 };
	struct coverage v;
	int format = cmd_choose("format", opt->format, formats,
	    COUNTOF(formats), c->err), r = 0;

	if (format == -1 || cmd_report_env(&opts, STDOUT_FILENO, &opt->color,
	    c->err) == -1 || read_coverage(c, opt, &v) == -1)
		return cmd_complain(c->err);
	if (opt->badge != NULL) {
		coverage_badge(&badge, &v);
		r = os_replace_file_mode(opt->badge, buf_str(&badge),
		    BADGE_MODE, c->err);
		buf_free(&badge);
	}
	if (r == -1)
		return cmd_complain(c->err);
	put_report(&v, format, &out, &opts);
	c->form = forms[format];
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_coverage = {
	.name = "coverage", .group = CMD_SUITES, .usage = "[--format FORMAT] "
	    "[--path DIR] [--badge FILE] [ROOT]",
	.opts = CMD_OPTS(coverage_rows), .size = sizeof(struct coverage_opt),
	.max = 1, .fn = coverage_main,
	.help = "Show which skills have suites, tasks and graders"
};

/* SPDX-License-Identifier: ISC */
/* waza match: finds a regular expression in a text. */
#include "waza.h"


#include "lib/re/re.h"

struct match_opt {
	bool groups;
};
static const struct opt match_rows[] = {
	CMD_OPT(match_opt, groups, OPT_FLAG, .name = "groups", .letter = 'g',
	    .help = "print every group, the whole match first"),
};

/* Repeats a short printable pattern, with a mark below the place. */
static int
complain_pattern(struct str pattern, const struct err *e)
{
	size_t i;

	cmd_say("pattern:1:%u: %s\n", e->col, e->msg);
	for (i = 0; i < pattern.n; i++)
		if (pattern.p[i] < ' ' || pattern.p[i] > '~')
			return CMD_ERROR;
	if (pattern.n <= 100 && e->col > 0)
		cmd_say("\t%.*s\n\t%*s^\n", STRF(pattern),
		    (int)e->col - 1, "");
	return CMD_ERROR;
}

static int
match_main(struct cmd_call *c)
{
	const struct match_opt *o = c->opt;
	struct str text, pattern = str_of(c->args[0]);
	struct re *re = re_compile(c->arena, pattern, c->err);
	struct re_span *spans;
	struct buf out = { 0 };
	size_t i, n;

	if (re == NULL)
		return complain_pattern(pattern, c->err);
	if (cmd_read_input(c->arena, c->nargs > 1 ? c->args[1] : "-", &text,
	    c->err) == -1)
		return cmd_complain(c->err);
	n = o->groups ? re_groups(re) : 1;
	spans = NEW_N(c->arena, struct re_span, n);
	if (!re_match(re, text, 0, spans, n))
		return CMD_FAILED;
	for (i = 0; i < n; i++) {
		buf_puts(&out, i > 0 ? "," : "");
		if (spans[i].start == RE_UNSET)
			buf_putc(&out, '-');
		else
			buf_fmt(&out, "%zu-%zu", spans[i].start, spans[i].end);
	}
	buf_putc(&out, '\n');
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_match = {
	.name = "match", .usage = "[-g] PATTERN [FILE|-]",
	.opts = CMD_OPTS(match_rows), .size = sizeof(struct match_opt),
	.required = { "PATTERN" }, .max = 2, .fn = match_main,
	.help = "Find a regular expression in a text"
};

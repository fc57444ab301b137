/* SPDX-License-Identifier: ISC */
/* Commands that show how a text is read: parse and match. */
#include "waza.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "lib/re/re.h"
#include "yaml_lite.h"

/* What messages call the operand at i. */
static const char *
input_name(const struct cmd_call *c, size_t i)
{
	if (i >= c->nargs || strcmp(c->args[i], "-") == 0)
		return "stdin";
	return c->args[i];
}

static int
read_input(struct cmd_call *c, size_t i, struct str *text)
{
	if (i >= c->nargs || strcmp(c->args[i], "-") == 0)
		return os_read_fd(c->arena, STDIN_FILENO, "stdin",
		    CMD_INPUT_MAX, text, c->err);
	return os_read_file(c->arena, c->args[i], CMD_INPUT_MAX, text, c->err);
}

/* waza parse */
struct parse_opt {
	bool yaml, json, pretty;
};
static const struct opt parse_opts[] = {
	{ .name = "yaml", .type = OPT_FLAG, .off = offsetof(struct parse_opt, yaml),
	    .help = "read YAML, whatever the name" },
	{ .name = "json", .type = OPT_FLAG, .off = offsetof(struct parse_opt, json),
	    .help = "read JSON, whatever the name" },
	{ .name = "pretty", .type = OPT_FLAG,
	    .off = offsetof(struct parse_opt, pretty),
	    .help = "print over several lines, indented" },
};

static struct json *
read_json(struct cmd_call *c, struct str text)
{
	struct json_mem mem = { arena_hook, c->arena };
	struct json_error je;
	struct json *v = json_read(&mem, text, 0, &je);

	if (v == NULL) {
		err_set(c->err, ERR_SYNTAX, "%s", je.msg);
		err_at(c->err, je.line, je.col);
	}
	return v;
}

static int
parse_main(struct cmd_call *c)
{
	const struct parse_opt *o = c->opt;
	const char *name = input_name(c, 0);
	struct json *v;
	struct buf out = { 0 };
	struct str text;
	bool json;

	if (o->yaml && o->json) {
		err_set(c->err, ERR_SCHEMA,
		    "parse: --yaml and --json exclude each other");
		return cmd_complain(c->err);
	}
	if (read_input(c, 0, &text) == -1)
		return cmd_complain(c->err);
	json = o->json || (!o->yaml && str_ends(str_of(name), STR(".json")));
	v = json ? read_json(c, text) : yaml_read(c->arena, text, NULL, c->err);
	if (v == NULL)
		return cmd_complain_at(name, c->err);
	for (v = json ? v : json_first(v); v != NULL; v = v->next) {
		struct json_out w = { .put = buf_sink, .ctx = &out,
			.indent = o->pretty ? 2 : 0 };

		json_put(&w, v);
		buf_putc(&out, '\n');
	}
	return cmd_finish(c, &out, CMD_OK);
}

/* waza match */
struct match_opt {
	bool groups;
};
static const struct opt match_opts[] = {
	{ .name = "groups", .letter = 'g', .type = OPT_FLAG,
	    .off = offsetof(struct match_opt, groups),
	    .help = "print every group, the whole match first" },
};

/* The pattern again, with a mark under the place; only where it would fit. */
static int
complain_pattern(struct str pattern, const struct err *e)
{
	size_t i;

	fprintf(stderr, "pattern:1:%u: %s\n", e->col, e->msg);
	for (i = 0; i < pattern.n; i++)
		if (pattern.p[i] < ' ' || pattern.p[i] > '~')
			return CMD_ERROR;
	if (pattern.n <= 100 && e->col > 0)
		fprintf(stderr, "\t%.*s\n\t%*s^\n", STRF(pattern),
		    (int)e->col - 1, "");
	return CMD_ERROR;
}

static void
put_span(struct buf *out, struct re_span s)
{
	if (s.start == RE_UNSET)
		buf_putc(out, '-');
	else
		buf_fmt(out, "%zu-%zu", s.start, s.end);
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
	if (read_input(c, 1, &text) == -1)
		return cmd_complain(c->err);
	n = o->groups ? re_groups(re) : 1;
	spans = NEW_N(c->arena, struct re_span, n);
	if (!re_match(re, text, 0, spans, n))
		return CMD_FAILED;
	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_putc(&out, ',');
		put_span(&out, spans[i]);
	}
	buf_putc(&out, '\n');
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_match = {
	.name = "match", .usage = "[-g] PATTERN [FILE|-]",
	.opts = CMD_OPTS(match_opts), .size = sizeof(struct match_opt),
	.min = 1, .max = 2, .fn = match_main,
	.help = "find a regular expression in a text"
};
const struct cmd_command cmd_parse = {
	.name = "parse", .usage = "[--yaml|--json] [--pretty] [FILE|-]",
	.opts = CMD_OPTS(parse_opts), .size = sizeof(struct parse_opt),
	.max = 1, .fn = parse_main,
	.help = "read YAML or JSON and print it as JSON"
};

/* SPDX-License-Identifier: ISC */
/* waza parse: prints YAML or JSON as JSON, one line per document. */
#include "waza.h"

#include "json.h"
#include "yaml_lite.h"

struct parse_opt {
	bool yaml, json, pretty;
};
static const struct opt parse_rows[] = {
	CMD_OPT(parse_opt, yaml, OPT_FLAG, .name = "yaml",
	    .help = "read YAML, regardless of the file name"),
	CMD_OPT(parse_opt, json, OPT_FLAG, .name = "json",
	    .help = "read JSON, regardless of the file name"),
	CMD_OPT(parse_opt, pretty, OPT_FLAG, .name = "pretty",
	    .help = "print indented, on several lines"),
};

static int
parse_main(struct cmd_call *c)
{
	const struct parse_opt *o = c->opt;
	const char *name = c->nargs > 0 ? c->args[0] : "-";
	bool json = o->json || (!o->yaml && str_ends(str_of(name),
	    STR(".json")));
	struct json *v;
	struct buf out = { 0 };
	struct str text;

	if (o->yaml && o->json) {
		err_set(c->err, ERR_SCHEMA,
		    "--yaml and --json are mutually exclusive");
		return cmd_complain(c->err);
	}
	if (cmd_read_input(c->arena, name, &text, c->err) == -1)
		return cmd_complain(c->err);
	v = json ? cmd_read_json(c->arena, text, c->err) :
	    yaml_read(c->arena, text, NULL, c->err);
	if (v == NULL || (!json && yaml_check_json(v, c->err) == -1))
		return cmd_complain_at(cmd_input_name(name), c->err);
	for (v = json ? v : json_first(v); v != NULL; v = v->next) {
		struct json_out w = { .put = buf_sink, .ctx = &out,
			.indent = o->pretty ? 2 : 0 };

		json_put(&w, v);
		buf_putc(&out, '\n');
	}
	c->form = GUARD_JSON;
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_parse = {
	.name = "parse", .usage = "[--yaml|--json] [--pretty] [FILE|-]",
	.opts = CMD_OPTS(parse_rows), .size = sizeof(struct parse_opt),
	.max = 1, .fn = parse_main,
	.help = "Print YAML or JSON as JSON"
};

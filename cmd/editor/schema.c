/* SPDX-License-Identifier: ISC */
/* waza schema: prints the JSON Schema of a file format. */
#include "waza.h"

#include "editor/editor_schema.h"
#include "json.h"

struct schema_opt {
	bool strict;
};
static const struct opt schema_rows[] = {
	CMD_OPT(schema_opt, strict, OPT_FLAG, .name = "strict",
	    .help = "allow known keys only, as validate --strict does"),
};

static int
unknown_name(struct cmd_call *c)
{
	struct str_nearest near = { .word = str_of(c->args[0]) };
	struct buf names = { 0 };
	char hint[STR_HINT];
	const char *name;
	size_t i;

	for (i = 0; (name = editor_schema_name(i)) != NULL; i++) {
		str_nearest(&near, str_of(name));
		buf_fmt(&names, "%s%s", i > 0 ? ", " : "", name);
	}
	err_set(c->err, ERR_SCHEMA, "unknown schema \"%s\"%s (schemas: %.*s)",
	    c->args[0], str_hint(hint, "", near.best),
	    STRF(buf_str(&names)));
	buf_free(&names);
	return cmd_complain(c->err);
}

static int
schema_main(struct cmd_call *c)
{
	const struct schema_opt *opt = c->opt;
	struct editor_schema_opts o = { .strict = opt->strict };
	struct buf out = { 0 };
	struct json_out json = { .put = buf_sink, .ctx = &out, .indent = 2 };

	if (!editor_put_schema(&json, str_of(c->args[0]), &o))
		return unknown_name(c);
	buf_putc(&out, '\n');
	c->form = GUARD_JSON;
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_schema = {
	.name = "schema",
	.usage = "[--strict] check|config|eval|results|task|trigger",
	.opts = CMD_OPTS(schema_rows), .size = sizeof(struct schema_opt),
	.required = { "NAME" }, .max = 1, .fn = schema_main,
	.help = "Print the JSON Schema of a file format"
};

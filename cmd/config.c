/* SPDX-License-Identifier: ISC */
/*
 * waza config: prints the effective settings and the source of each.
 *
 * The token is not a setting.  Its source is shown, and problems with it, but
 * not its value.
 */
#include "waza.h"

#include <string.h>

#include "json.h"
#include "suite/config.h"

struct config_opt {
	const char *format, *path, *json;
	bool show;
};
static const struct opt config_rows[] = {
	CMD_CONFIG_OPTS(config_opt, path, json),
	CMD_OPT(config_opt, format, OPT_STR, .name = "format",
	    .value = "text|json", .help = "output format (default: text)"),
	CMD_OPT(config_opt, show, OPT_FLAG, .name = "show",
	    .help = "print the settings; this is the default"),
};

enum { VALUE_WIDTH = 40 };	/* longer values shift their source */

static void
put_source(struct buf *b, const struct spec_where *at)
{
	buf_puts(b, at->file == NULL ? "default" : at->file);
	if (at->line > 0)
		buf_fmt(b, ":%u:%u", at->line, at->col);
}

/* Counts characters, so that columns are aligned. */
static size_t
width(struct str s)
{
	size_t i, n = 0;

	for (i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return n;
}

static void
put_padded(struct buf *b, struct str s, size_t to)
{
	size_t n = width(s);

	buf_put(b, s);
	for (; n < to; n++)
		buf_putc(b, ' ');
}

static void
put_text(struct buf *b, const struct config_leaf *v, size_t n)
{
	size_t i, key = 0, value = 0, w;

	for (i = 0; i < n; i++) {
		w = width(v[i].key);
		key = w > key ? w : key;
		w = width(v[i].value);
		value = w > value && w <= VALUE_WIDTH ? w : value;
	}
	for (i = 0; i < n; i++) {
		put_padded(b, v[i].key, key);
		buf_puts(b, " = ");
		put_padded(b, v[i].value.n > 0 ? v[i].value : STR("(hidden)"),
		    value);
		buf_puts(b, "  # ");
		put_source(b, &v[i].at);
		buf_putc(b, '\n');
	}
}

static void
put_json(struct buf *b, const struct config_leaf *v, size_t n)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	struct buf source = { 0 };
	size_t i;

	json_open(&o, '{');
	for (i = 0; i < n; i++) {
		json_put_key(&o, v[i].key);
		json_open(&o, '{');
		json_put_member_raw(&o, "value", v[i].value.n > 0 ?
		    v[i].value : STR("null"));
		source.n = 0;
		put_source(&source, &v[i].at);
		json_put_member_str(&o, "source", buf_str(&source));
		if (v[i].value.n == 0)
			json_put_member_bool(&o, "hidden", true);
		json_close(&o, '}');
	}
	json_close(&o, '}');
	buf_putc(b, '\n');
	buf_free(&source);
}

/* The settings; the token is the last of them, if there is one. */
static size_t
leaves(struct cmd_call *call, const struct config *c, const char *token,
    struct config_leaf **out)
{
	struct config_leaf *v;
	size_t n = config_leaves(call->arena, c, &v);

	*out = NEW_N(call->arena, struct config_leaf, n + 1);
	memcpy(*out, v, n * sizeof(*v));
	if (token != NULL)
		(*out)[n++] = (struct config_leaf){ .key = STR("token"),
			.at = { token, 0, 0 } };
	return n;
}

static int
config_main(struct cmd_call *call)
{
	const struct config_opt *opt = call->opt;
	struct config_sources from = { .path = opt->path, .json = opt->json,
		.token = call->token };
	struct config_leaf *v;
	struct config *c;
	struct buf out = { 0 };
	struct str token;
	const char *source = NULL;
	int json = cmd_choose_json(opt->format, call->err), status = CMD_OK;
	size_t n;

	if (json == -1)
		return cmd_complain(call->err);
	c = cmd_load_config(call, &from);
	if (c == NULL)
		return CMD_ERROR;
	if (config_token(call->arena, c, &token, &source, call->err) == -1)
		status = cmd_complain(call->err);
	n = leaves(call, c, source, &v);
	(json ? put_json : put_text)(&out, v, n);
	return cmd_finish(call, &out, status);
}

const struct cmd_command cmd_config = {
	.name = "config", .usage = "[--format FORMAT] [--config-path FILE] "
	    "[--config-json TEXT]", .opts = CMD_OPTS(config_rows),
	.size = sizeof(struct config_opt), .fn = config_main,
	.help = "Print the effective settings and their sources"
};

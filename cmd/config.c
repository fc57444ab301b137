/* SPDX-License-Identifier: ISC */
/*
 * The command config: which settings hold, and where each of them is from.
 *
 * The token is not a setting; where it is from is shown, and what is wrong
 * with it, but not what it is.
 */
#include "waza.h"

#include <stdio.h>
#include <string.h>

#include "json.h"
#include "suite/config.h"

struct config_opt {
	const char *format, *path, *json;
	bool show;
};
static const struct opt config_rows[] = {
	{ .name = "config-json", .type = OPT_STR, .off = offsetof(struct config_opt, json),
	    .value = "TEXT", .help = "settings over all others, as JSON" },
	{ .name = "config-path", .type = OPT_STR, .off = offsetof(struct config_opt, path),
	    .value = "FILE",
	    .help = "over your own settings and the project's" },
	{ .name = "format", .type = OPT_STR, .off = offsetof(struct config_opt, format),
	    .value = "text|json", .help = "how they are printed" },
	{ .name = "show", .type = OPT_FLAG, .off = offsetof(struct config_opt, show),
	    .help = "print them; this is what it does anyway" },
};

enum { VALUE_WIDTH = 40 };	/* longer ones push their source away */

static void
put_notes(const struct spec_notes *notes)
{
	struct buf b = { 0 };
	const struct spec_note *n;

	for (n = notes->head; n != NULL; n = n->next)
		spec_note_put(&b, n);
	fprintf(stderr, "%.*s", STRF(buf_str(&b)));
	buf_free(&b);
}

static void
put_source(struct buf *b, const struct spec_where *at)
{
	buf_puts(b, at->file == NULL ? "default" : at->file);
	if (at->line > 0)
		buf_fmt(b, ":%u:%u", at->line, at->col);
}

/* Characters, so that columns stand below each other. */
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
		json_put_key(&o, STR("value"));
		if (v[i].value.n > 0)
			json_put_raw(&o, v[i].value);
		else
			json_put_null(&o);
		json_put_key(&o, STR("source"));
		source.n = 0;
		put_source(&source, &v[i].at);
		json_put_str(&o, buf_str(&source));
		if (v[i].value.n == 0) {
			json_put_member_bool(&o, "hidden", true);
		}
		json_close(&o, '}');
	}
	json_close(&o, '}');
	buf_putc(b, '\n');
	buf_free(&source);
}

/* The settings, and as the last of them the token, if there is one. */
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
	struct spec_notes notes = { .arena = call->arena };
	struct config_leaf *v;
	struct config *c;
	struct buf out = { 0 };
	struct str token;
	const char *source = NULL;
	bool json = opt->format != NULL && strcmp(opt->format, "json") == 0;
	int status = CMD_OK;
	size_t n;

	if (opt->format != NULL && !json && strcmp(opt->format, "text") != 0) {
		err_set(call->err, ERR_SCHEMA, "--format is text or json, "
		    "not \"%.40s\"", opt->format);
		return cmd_complain(call->err);
	}
	c = config_load(call->arena, &from, &notes);
	put_notes(&notes);
	if (c == NULL)
		return CMD_ERROR;
	if (config_token(call->arena, c, &token, &source, call->err) == -1)
		status = cmd_complain(call->err);
	n = leaves(call, c, source, &v);
	if (json)
		put_json(&out, v, n);
	else
		put_text(&out, v, n);
	return cmd_finish(call, &out, status);
}

const struct cmd_command cmd_config = {
	.name = "config", .usage = "[--format FORMAT] [--config-path FILE] "
	    "[--config-json TEXT]", .opts = CMD_OPTS(config_rows),
	.size = sizeof(struct config_opt), .fn = config_main,
	.help = "show which settings hold, and where they are from"
};

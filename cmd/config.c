/* SPDX-License-Identifier: ISC */
/*
 * waza config: prints the effective settings and the source of each; trusts a
 * project's file.
 *
 * The token is not a setting.  Its source is shown, and problems with it, but
 * not its value.
 */
#include "waza.h"

#include <string.h>
#include <unistd.h>

#include "base/os_path.h"
#include "json.h"
#include "suite/config.h"
#include "suite/project.h"

struct config_opt {
	const char *format, *path, *json;
	bool show, trust;
};
static const struct opt config_rows[] = {
	CMD_CONFIG_OPTS(config_opt, path, json, trust),
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

/* A line per setting; `before` and `after` are put around each. */
static void
put_lines(struct buf *b, const char *before, const struct config_leaf *v,
    size_t n, const char *after)
{
	size_t i, key = 0, value = 0, w;

	for (i = 0; i < n; i++) {
		w = width(v[i].key);
		key = w > key ? w : key;
		w = width(v[i].value);
		value = w > value && w <= VALUE_WIDTH ? w : value;
	}
	for (i = 0; i < n; i++) {
		buf_puts(b, before);
		put_padded(b, v[i].key, key);
		buf_puts(b, " = ");
		put_padded(b, v[i].value.n > 0 ? v[i].value : STR("(hidden)"),
		    value);
		buf_puts(b, "  # ");
		put_source(b, &v[i].at);
		buf_puts(b, after);
		buf_putc(b, '\n');
	}
}

static void
put_text(struct buf *b, const struct config_leaf *v, size_t n,
    const struct config *c)
{
	put_lines(b, "", v, n, "");
	put_lines(b, "# ", c->held, c->nheld, ": ignored, not trusted");
}

static void
put_leaf(struct json_out *o, const struct config_leaf *v)
{
	struct buf source = { 0 };

	json_put_member_raw(o, "value", v->value.n > 0 ? v->value :
	    STR("null"));
	put_source(&source, &v->at);
	json_put_member_str(o, "source", buf_str(&source));
	if (v->value.n == 0)
		json_put_member_bool(o, "hidden", true);
	buf_free(&source);
}

static void
put_json(struct buf *b, const struct config_leaf *v, size_t n,
    const struct config *c)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	size_t i;

	json_open(&o, '{');
	for (i = 0; i < n; i++) {
		json_put_key(&o, v[i].key);
		json_open(&o, '{');
		put_leaf(&o, &v[i]);
		json_close(&o, '}');
	}
	if (c->nheld > 0)
		json_open_member(&o, "ignored", '[');
	for (i = 0; i < c->nheld; i++) {
		json_open(&o, '{');
		json_put_member_str(&o, "key", c->held[i].key);
		put_leaf(&o, &c->held[i]);
		json_close(&o, '}');
	}
	if (c->nheld > 0)
		json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(b, '\n');
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

/*
 * Trust.
 */
/* The file of the directory that is named; -1: the reason was printed. */
static int
find_project(struct cmd_call *call, struct config_sources *from,
    struct project *p)
{
	from->dir = call->nargs > 1 ? call->args[1] : ".";
	*p = (struct project){ .state = PROJECT_NONE };
	/* a mistyped directory must not lead to the file of one above it */
	if (access(from->dir, F_OK) == -1) {
		err_sys(call->err, from->dir);
		cmd_complain(call->err);
		return -1;
	}
	if (project_find(call->arena, from, p, call->err) == 0 &&
	    p->state != PROJECT_NONE)
		return 0;
	if (p->path == NULL)
		err_set(call->err, ERR_SYS, "%s: no .waza.yaml in this "
		    "directory or the %d above it", from->dir,
		    PROJECT_LEVELS - 1);
	cmd_complain(call->err);
	return -1;
}

/* Prints what the file can do now: it is read as it was hashed. */
static int
trust(struct cmd_call *call)
{
	struct spec_notes notes = { .arena = call->arena };
	struct config_sources from = { .trust = false };
	const struct config_leaf *v;
	struct buf out = { 0 };
	struct project p;
	size_t n;

	if (find_project(call, &from, &p) == -1)
		return CMD_ERROR;
	if (p.text.p == NULL) {
		err_set(call->err, ERR_SYS, "%s: cannot be read: %s",
		    p.path, p.why);
		return cmd_complain(call->err);
	}
	if (config_need_trust(call->arena, &from, &p, &notes, &v, &n) == -1) {
		cmd_print_notes(&notes, true);
		return CMD_ERROR;
	}
	if (project_trust(call->arena, &from, &p, call->err) == -1)
		return cmd_complain(call->err);
	buf_fmt(&out, "trusted: %s%s\n", p.key, n > 0 ? "" :
	    " (no setting in it needs trust)");
	put_lines(&out, "  ", v, n, "");
	return cmd_finish(call, &out, CMD_OK);
}

/* Whether the file of the directory itself was forgotten; it may be gone. */
static bool
forget_here(struct cmd_call *call, const struct config_sources *from,
    const char **key)
{
	const char *dir = os_real(call->arena, from->dir);
	struct err e;

	if (dir == NULL)
		dir = os_absolute(call->arena, from->dir);
	*key = arena_fmt(call->arena, "%s/.waza.yaml", dir).p;
	return project_forget(call->arena, from, str_of(*key), &e) == 0;
}

static int
untrust(struct cmd_call *call)
{
	struct config_sources from = { .dir = call->nargs > 1 ?
		call->args[1] : "." };
	struct buf out = { 0 };
	struct project p = { .key = NULL };
	const char *key;
	struct err e;

	if (!forget_here(call, &from, &key)) {
		if (access(from.dir, F_OK) == 0)
			(void)project_find(call->arena, &from, &p, &e);
		if (p.key != NULL)
			key = p.key;
		if (project_forget(call->arena, &from, str_of(key),
		    call->err) == -1)
			return cmd_complain(call->err);
	}
	buf_fmt(&out, "no longer trusted: %s\n", key);
	return cmd_finish(call, &out, CMD_OK);
}

static int
list_trusted(struct cmd_call *call)
{
	struct config_sources from = { .dir = NULL };
	const struct json *list, *v;
	char hash[SHA256_HEX];
	struct buf out = { 0 };
	struct str key;

	if (call->nargs > 1)
		err_set(call->err, ERR_SCHEMA, "unexpected argument: %s",
		    call->args[1]);
	if (call->nargs > 1 || project_list(call->arena, &from, &list,
	    call->err) == -1)
		return cmd_complain(call->err);
	for (v = json_first(list); v != NULL; v = v->next) {
		key = arena_str(call->arena, json_key(v));
		buf_fmt(&out, "%s%s\n", key.p, !project_hash(key.p, hash) ?
		    " (missing)" : str_is(json_source(v), hash) ? "" :
		    " (changed, not trusted)");
	}
	return cmd_finish(call, &out, CMD_OK);
}

static int
show(struct cmd_call *call)
{
	const struct config_opt *opt = call->opt;
	struct config_sources from = { .path = opt->path, .json = opt->json,
		.token = call->token, .trust = opt->trust };
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
	(json ? put_json : put_text)(&out, v, n, c);
	call->form = json ? GUARD_JSON : GUARD_PLAIN;
	return cmd_finish(call, &out, status);
}

static int
config_main(struct cmd_call *call)
{
	static const struct {
		const char *word;
		int (*fn)(struct cmd_call *);
	} words[] = {
		{ "trust", trust }, { "trusted", list_trusted },
		{ "untrust", untrust },
	};
	size_t i;

	if (call->nargs == 0)
		return show(call);
	for (i = 0; i < COUNTOF(words); i++)
		if (strcmp(call->args[0], words[i].word) == 0)
			return words[i].fn(call);
	err_set(call->err, ERR_SCHEMA, "unknown operation \"%.60s\" (trust, "
	    "trusted or untrust)", call->args[0]);
	return cmd_complain(call->err);
}

const struct cmd_command cmd_config = {
	.name = "config", .group = CMD_SUITES,
	.usage = "[OPTION ...] [trust [DIR] | untrust [DIR] "
	    "| trusted]", .opts = CMD_OPTS(config_rows),
	.size = sizeof(struct config_opt), .max = 2, .fn = config_main,
	.help = "Print the effective settings, or trust a project's file"
};

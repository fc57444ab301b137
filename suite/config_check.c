/* SPDX-License-Identifier: ISC */
/*
 * Checks the settings of one source.
 *
 * Each layer is checked by itself, before layers are merged, so that a mistake
 * is reported at its place even when a higher layer hides it.
 */
#include "suite/config_internal.h"

#include <string.h>

enum {
	TOOL_NAME_MAX = 64,	/* bytes */
	PORT_MAX = 65535
};

/* The layer that is checked, for the callbacks of the decoder. */
struct check {
	struct config_loader *loader;
	const struct config_layer *layer;
	struct spec_source source;
};

#define BAD(c, v, ...) CONFIG_ERROR((c)->loader, (c)->layer, v, __VA_ARGS__)

/* A project's .waza.yaml also has keys for the suite loader. */
static void
on_finding(void *ctx, const struct field_finding *f)
{
	struct check *c = ctx;
	const struct field *row = field_find(&config_table, f->path);

	if (c->layer->level == CONFIG_PROJECT && f->level == FIELD_WARNING &&
	    row != NULL && row->flags & FIELD_IGNORED)
		return;
	spec_report(&c->source, f);
}

static void
decode(struct check *c, const struct field_table *t, const struct json *v,
    const char *path, void *out)
{
	struct field_ctx ctx = { .arena = c->loader->arena, .flags = FIELD_LAX,
		.report = on_finding, .ctx = c, .path = path };

	if (c->loader->notes->strict)
		ctx.flags |= FIELD_STRICT;
	field_decode(&ctx, t, v, out);
}

/*
 * Whether a key names a secret, case-insensitive and with "-", "_" or nothing
 * between the words.
 */
static bool
is_secret(struct str key)
{
	static const char *const words[] = { "token", "authtoken", "apikey",
		"xapikey", "secret", "secretkey", "clientsecret", "password",
		"passwd", "authorization", "proxyauthorization",
		"accesstoken", "bearertoken" };
	char plain[24];
	size_t i, n = 0;

	for (i = 0; i < key.n; i++) {
		if (key.p[i] == '-' || key.p[i] == '_')
			continue;
		if (n == sizeof(plain))
			return false;
		plain[n++] = key.p[i] >= 'A' && key.p[i] <= 'Z' ?
		    (char)(key.p[i] + 'a' - 'A') : key.p[i];
	}
	for (i = 0; i < COUNTOF(words); i++)
		if (str_is((struct str){ plain, n }, words[i]))
			return true;
	return false;
}

/* Searches lists too, but not schemas, whose property names are harmless. */
static void
check_secrets(struct check *c, const struct json *v)
{
	struct str key;

	for (v = json_first(v); v != NULL; v = v->next) {
		key = json_key(v);
		if (key.p != NULL && str_is(key, "input_schema"))
			continue;
		if (key.p != NULL && is_secret(key) &&
		    (v->type == JSON_STRING || v->type == JSON_NUMBER))
			BAD(c, v, "\"%.*s\" is a secret: settings are "
			    "displayed and shared; name an environment "
			    "variable (\"api_key_env\") or a file instead",
			    SPEC_SHORT(key));
		else
			check_secrets(c, v);
	}
}

/* Notes an error for each of the keys that is given. */
static void
refuse(struct check *c, const char *const *keys, const char *why)
{
	const struct json *v;

	for (; *keys != NULL; keys++) {
		v = json_getc(c->layer->root, *keys);
		if (spec_given(v))
			BAD(c, v, "\"%s\" %s", *keys, why);
	}
}

/* An empty name is likely an unset variable of a script; null is "none". */
static void
check_empty(struct check *c)
{
	const struct json *v = json_getc(c->layer->root, "token_file");

	if (v != NULL && v->type == JSON_STRING && json_text(v).n == 0)
		BAD(c, v, "\"token_file\" is empty");
}

static bool
has_nul(const struct json *v)
{
	struct str s;

	if (v->type != JSON_STRING)
		return false;
	s = json_text(v);
	return s.n > 0 && memchr(s.p, '\0', s.n) != NULL;
}

/* Checks the strings that the table names. */
static void
check_nul(struct check *c, const struct field_table *t, const struct json *v)
{
	const struct field *f;
	const struct json *e;

	for (v = json_first(v); v != NULL; v = v->next) {
		f = field_find(t, json_key(v));
		if (f == NULL || f->type == FIELD_TREE)
			continue;
		if (f->sub != NULL)
			check_nul(c, f->sub, v);
		for (e = v->type == JSON_ARRAY ? json_first(v) : v; e != NULL;
		    e = v->type == JSON_ARRAY ? e->next : NULL)
			if (has_nul(e))
				BAD(c, e, "\"%s\" contains a NUL", f->key);
	}
}

/* HOST:PORT, [ADDRESS]:PORT, :PORT, PORT */
static int
check_address(struct str s, struct err *e)
{
	struct str host = s;
	size_t port = 0, i;

	while (host.n > 0 && host.p[host.n - 1] != ':')
		host.n--;
	for (i = host.n; i < s.n && port <= PORT_MAX; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return err_set(e, ERR_SCHEMA, "\"%.*s\" is not "
			    "HOST:PORT", SPEC_SHORT(s));
		port = port * 10 + (size_t)(s.p[i] - '0');
	}
	if (host.n == s.n || port > PORT_MAX)
		return err_set(e, ERR_SCHEMA, "\"%.*s\": the port must be "
		    "from 0 to %d", SPEC_SHORT(s), PORT_MAX);
	if (host.n > 3 && host.p[0] == '[' && host.p[host.n - 2] == ']')
		return 0;
	for (i = 0; i + 1 < host.n; i++)
		if (host.p[i] == ':')
			return err_set(e, ERR_SCHEMA, "\"%.*s\": write an "
			    "IPv6 address in brackets", SPEC_SHORT(s));
	return 0;
}

const char *
config_listen(struct str s, enum config_via *via, struct err *e)
{
	static const char *const names[] = { "stdio", "tcp", "unix", "http" };
	const char *colon = s.n > 0 ? memchr(s.p, ':', s.n) : NULL;
	struct str kind = s, rest = STR("");
	size_t i;

	if (colon != NULL) {
		kind.n = (size_t)(colon - s.p);
		rest = (struct str){ colon + 1, s.n - kind.n - 1 };
	}
	for (i = 0; i < COUNTOF(names) && !str_is(kind, names[i]); i++)
		;
	*via = (enum config_via)i;
	if (i == COUNTOF(names) || (i == CONFIG_STDIO && colon != NULL) ||
	    (i != CONFIG_STDIO && i != CONFIG_TCP && rest.n == 0) ||
	    (i == CONFIG_TCP && colon != NULL && rest.n == 0)) {
		err_set(e, ERR_SCHEMA, "\"%.*s\" is not stdio, tcp, "
		    "tcp:HOST:PORT, http:HOST:PORT or unix:PATH",
		    SPEC_SHORT(s));
		return NULL;
	}
	if ((i == CONFIG_TCP || i == CONFIG_HTTP) && colon != NULL &&
	    check_address(rest, e) == -1)
		return NULL;
	return rest.p;
}

static void
check_listen(struct check *c, const struct json *list)
{
	const struct json *v;
	enum config_via via;
	struct err e;
	bool stdio = false;

	if (!spec_given(list) || list->type == JSON_OBJECT)
		return;
	for (v = list->type == JSON_ARRAY ? json_first(list) : list; v != NULL;
	    v = list->type == JSON_ARRAY ? v->next : NULL) {
		if (v->type == JSON_ARRAY || v->type == JSON_OBJECT ||
		    v->type == JSON_NULL)
			continue;	/* the decoder has reported it */
		if (config_listen(json_source(v), &via, &e) == NULL)
			BAD(c, v, "%s", e.msg);
		else if (via == CONFIG_STDIO && stdio)
			BAD(c, v, "\"stdio\" is listed twice");
		else if (via == CONFIG_STDIO)
			stdio = true;
	}
}

bool
config_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* The value if it is an object; notes an error if it is anything else. */
static const struct json *
object(struct check *c, const struct json *v)
{
	struct spec_loader l = { .notes = c->loader->notes };

	return spec_object(&l, c->layer->name, v);
}

static bool
is_tool_name(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!config_is_word(s.p[i]) && s.p[i] != '.')
			return false;
	return s.n > 0 && s.n <= TOOL_NAME_MAX;
}

static void
check_tool(struct check *c, const struct json *v)
{
	struct config_tool tool = { 0 };
	const struct json *cmd = json_getc(v, "command");
	const struct json *schema = json_getc(v, "input_schema");

	decode(c, &config_tool_table, v, "tools", &tool);
	check_nul(c, &config_tool_table, v);
	if (spec_given(cmd) && (tool.command.n == 0 ||
	    tool.command.v[0].n == 0) && (cmd->type == JSON_ARRAY ||
	    cmd->type == JSON_STRING))
		BAD(c, cmd, "\"command\" is empty");
	object(c, schema);
}

/* Checks the entries of tools, prices or executors. */
static void
check_map(struct check *c, const char *key)
{
	const struct json *v;
	struct config_price price = { 0 };

	v = json_first(object(c, json_getc(c->layer->root, key)));
	for (; v != NULL; v = v->next) {
		if (strcmp(key, "tools") == 0 && !is_tool_name(json_key(v)))
			BAD(c, v, "\"%.*s\" is not a valid tool name: use "
			    "letters, digits, \"_\", \"-\" and \".\", at most "
			    "%d", SPEC_SHORT(json_key(v)), TOOL_NAME_MAX);
		if (object(c, v) == NULL)
			continue;
		if (strcmp(key, "tools") == 0)
			check_tool(c, v);
		else if (strcmp(key, "prices") == 0)
			decode(c, &config_price_table, v, "prices", &price);
	}
}

static void
check_judge(struct check *c)
{
	static const char *const names[] = { "executor", "model" };
	const struct json *judge, *v;
	size_t i;

	judge = object(c, json_getc(c->layer->root, "judge"));
	for (i = 0; i < COUNTOF(names); i++) {
		v = json_getc(judge, names[i]);
		if (spec_given(v) && v->type != JSON_STRING)
			BAD(c, v, "\"%s\" must be a string, not %s", names[i],
			    json_type_name((enum json_type)v->type));
	}
}

void
config_check(struct config_loader *l, const struct config_layer *layer)
{
	static const char *const maps[] = { "executors", "tools", "prices" };
	static const char *const trees[] = { "executors", "tools", "judge" };
	static const char *const tokens[] = { "token", "auth_token", "auth",
		NULL };
	struct check c = { l, layer, { l->notes, layer->name } };
	struct config scratch = config_defaults;
	size_t i;

	decode(&c, &config_table, layer->root, NULL, &scratch);
	if (layer->root->type != JSON_OBJECT)
		return;
	refuse(&c, tokens, "is not allowed: settings are displayed and "
	    "shared; put the token in a file that only you can read and name "
	    "the file in \"token_file\", or set WAZA_AUTH_TOKEN");
	for (i = 0; i < COUNTOF(maps); i++)
		check_map(&c, maps[i]);
	for (i = 0; i < COUNTOF(trees); i++)
		check_secrets(&c, json_getc(layer->root, trees[i]));
	check_judge(&c);
	check_empty(&c);
	check_nul(&c, &config_table, layer->root);
	check_listen(&c, json_getc(layer->root, "listen"));
}

/* SPDX-License-Identifier: ISC */
/*
 * Settings: the layers are read, checked, merged and decoded once.
 *
 * Relative paths are resolved last, when it is known which file each comes
 * from.
 */
#include "suite/config.h"

#include <string.h>

#include "lib/schema/schema.h"
#include "suite/config_internal.h"

static const struct config_item *
item(const struct json *obj, const char *key)
{
	return (const struct config_item *)json_getc(obj, key);
}

/* Resolves a path against the directory of the layer; "~/" is $HOME. */
static struct str
resolve(struct config_loader *l, const struct config_layer *from, struct str s)
{
	const char *home;

	if (str_starts(s, STR("~/"))) {
		home = config_getenv(l->from, "HOME");
		if (home != NULL)
			return arena_fmt(l->arena, "%s/%.*s", home,
			    (int)s.n - 2, s.p + 2);
	}
	return s.n == 0 ? s : str_of(spec_join(l->arena, from->dir, s));
}

static void
resolve_member(struct config_loader *l, const struct json *obj, const char *key,
    struct str *out)
{
	const struct config_item *i = item(obj, key);

	if (i != NULL)
		*out = resolve(l, i->from, *out);
}

/* Replaces all strings of a table by copies that end in a NUL. */
static void
own_strings(struct arena *a, const struct field_table *t, void *out)
{
	const struct field *f;
	struct field_strs *list;
	struct str *s;
	size_t i;

	for (f = t->rows; f < t->rows + t->n; f++) {
		s = (struct str *)(void *)((char *)out + f->off);
		list = (struct field_strs *)(void *)((char *)out + f->off);
		if (f->type == FIELD_STR)
			*s = arena_str(a, *s);
		else if (f->type == FIELD_STRS)
			for (i = 0; i < list->n; i++)
				list->v[i] = arena_str(a, list->v[i]);
		else if (f->type == FIELD_OBJECT)
			own_strings(a, f->sub, (char *)out + f->off);
	}
}

/* Decodes an object that was checked before. */
static void
decode(struct arena *a, const struct field_table *t, const struct json *v,
    void *out)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX };

	field_decode(&ctx, t, v, out);
	own_strings(a, t, out);
}

/* The address of plain "tcp". */
static struct str
default_address(struct arena *a, const struct config *c)
{
	bool six = memchr(c->host.p, ':', c->host.n) != NULL;

	return arena_fmt(a, "%s%.*s%s:%lld", six ? "[" : "", STRF(c->host),
	    six ? "]" : "", (long long)c->port);
}

static void
set_ports(struct config_loader *l, struct config *c)
{
	static const char *const names[] = { "stdio", "tcp:", "unix:",
		"http:" };
	const struct config_item *list = item(c->tree, "listen");
	const struct json *v;
	struct config_port *p;
	struct err e;

	if (list == NULL)
		return;
	v = list->json.type == JSON_ARRAY ? json_first(&list->json) :
	    &list->json;
	c->ports = NEW_N(l->arena, struct config_port, c->listen.n);
	for (p = c->ports; c->nports < c->listen.n; p++, v = v->next) {
		struct str s;

		s = str_of(config_listen(c->listen.v[c->nports], &p->via,
		    &e));
		if (p->via == CONFIG_UNIX)
			s = resolve(l, list->from, s);
		else if (p->via == CONFIG_TCP && s.n == 0)
			s = default_address(l->arena, c);
		p->where = s.p;
		p->at = spec_at(list->from->name, v);
		c->listen.v[c->nports++] = arena_fmt(l->arena, "%s%s",
		    names[p->via], p->where);
	}
}

/* Resolves a program that contains a slash, in the tree as well. */
static void
resolve_program(struct config_loader *l, struct config_item *cmd, struct str *s)
{
	struct json *v = &cmd->json;

	if (memchr(s->p, '/', s->n) == NULL)
		return;
	*s = resolve(l, cmd->from, *s);
	if (v->type == JSON_ARRAY) {
		v = NEW(l->arena, struct json);
		*v = json_copy(cmd->json.u.child);
		cmd->json.u.child = v;
	}
	v->type = JSON_STRING;
	v->u.text = s->p;
	v->n = (uint32_t)s->n;
}

static void
check_schema(struct config_loader *l, const struct config_item *i)
{
	struct spec_where at;
	struct err e;

	if (i == NULL || schema_compile(l->arena, &i->json, NULL, &e) != NULL)
		return;
	at = spec_at(i->from->name, &i->json);
	if (e.line > 0) {
		at.line = e.line;
		at.col = e.col;
	}
	spec_note(l->notes, FIELD_ERROR, at, "%s", e.msg);
}

static void
set_tool(struct config_loader *l, const struct json *v, struct config_tool *t)
{
	struct config_item *cmd;

	*t = config_tool_init;
	t->name = arena_str(l->arena, json_key(v));
	t->at = spec_at(((const struct config_item *)v)->from->name, v);
	decode(l->arena, &config_tool_table, v, t);
	check_schema(l, item(v, "input_schema"));
	cmd = (struct config_item *)json_getc(v, "command");
	if (cmd == NULL || t->command.n == 0)
		spec_note(l->notes, FIELD_ERROR, t->at,
		    "tool \"%.*s\": \"command\" is missing",
		    SPEC_SHORT(t->name));
	else
		resolve_program(l, cmd, &t->command.v[0]);
}

static void
set_tools(struct config_loader *l, struct config *c)
{
	const struct json *v;

	if (c->tools == NULL)
		return;
	c->tool = NEW_N(l->arena, struct config_tool, json_count(c->tools));
	for (v = json_first(c->tools); v != NULL; v = v->next)
		set_tool(l, v, &c->tool[c->ntools++]);
}

static void
set_prices(struct config_loader *l, struct config *c)
{
	const struct json *v;
	struct config_price *p;

	if (c->prices == NULL)
		return;
	c->price = NEW_N(l->arena, struct config_price, json_count(c->prices));
	for (v = json_first(c->prices); v != NULL; v = v->next) {
		p = &c->price[c->nprices++];
		p->model = arena_str(l->arena, json_key(v));
		decode(l->arena, &config_price_table, v, p);
	}
}

/* Resolves paths and decodes the parts that tables cannot describe. */
static void
finish(struct config_loader *l, struct config *c)
{
	const struct config_item *i = item(c->tree, "roots");
	const struct json *s = json_getc(c->tree, "sessions");
	const struct json *p = json_getc(c->tree, "paths");
	size_t k;

	resolve_member(l, c->tree, "token_file", &c->token_file);
	resolve_member(l, s, "persist_dir", &c->sessions.persist_dir);
	resolve_member(l, s, "prompt_template", &c->sessions.prompt_template);
	resolve_member(l, s, "working_dir", &c->sessions.working_dir);
	resolve_member(l, p, "skills", &c->paths.skills);
	resolve_member(l, p, "evals", &c->paths.evals);
	resolve_member(l, p, "results", &c->paths.results);
	resolve_member(l, json_getc(c->tree, "tokens"), "vocab",
	    &c->tokens.vocab);
	c->project_dir = l->project_dir;
	for (k = 0; i != NULL && k < c->roots.n; k++)
		c->roots.v[k] = resolve(l, i->from, c->roots.v[k]);
	set_ports(l, c);
	set_tools(l, c);
	set_prices(l, c);
	i = item(c->tree, "token_file");
	c->file_token = i != NULL && i->from->level > CONFIG_ENV;
	c->env_token = l->from->token == NULL ? NULL :
	    arena_str(l->arena, str_of(l->from->token)).p;
}

/* The executor of the highest layer that has one and is the user's own. */
static struct str
own_executor(struct config_loader *l)
{
	const struct config_layer *i;
	const struct json *v;
	struct str s = STR("");

	for (i = l->head; i != NULL; i = i->next) {
		v = i->untrusted ? NULL : json_getc(i->root, "executor");
		if (v != NULL)
			s = v->type == JSON_NULL ? STR("") :
			    arena_str(l->arena, json_source(v));
	}
	return s;
}

struct config *
config_load(struct arena *a, const struct config_sources *from,
    struct spec_notes *notes)
{
	struct config_loader l = { .arena = a, .notes = notes, .from = from };
	struct config *c = NEW(a, struct config);
	struct config_item *tree = NULL;
	const struct config_layer *i;
	size_t errors = notes->errors;

	l.tail = &l.head;
	config_read(&l);
	*c = config_defaults;
	config_take_held(&l, &c->held, &c->nheld);
	if (notes->errors > errors)
		return NULL;
	for (i = l.head; i != NULL; i = i->next)
		tree = config_merge(a, tree, i);
	c->trust = from->trust;
	c->own_executor = own_executor(&l);
	if (tree != NULL) {
		c->tree = &tree->json;
		decode(a, &config_table, c->tree, c);
	}
	finish(&l, c);
	return notes->errors > errors ? NULL : c;
}

bool
config_has_executor(const struct config *c, struct str name)
{
	const struct json *v = c->executors == NULL ? NULL :
	    json_get(c->executors, name);

	return v != NULL && !((const struct config_item *)v)->from->untrusted;
}

void
config_apply(const struct config *c, struct spec_suite *s)
{
	const struct json *own = s->config.judge;

	s->executors = c->executors;
	s->prices = c->prices;
	if (c->judge == NULL || spec_given(own))
		return;
	s->config.judge = c->judge;
	s->config.judge_file = item(c->tree, "judge")->from->name;
}

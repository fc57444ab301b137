/* SPDX-License-Identifier: ISC */
/*
 * The settings of seeds/003 under our keys: `model` as a mapping, `workspace`
 * and `init_config` are translated before a layer is checked.
 *
 *	model.provider, .temperature, .max_tokens	sessions.*
 *	model.model_id, model.model			model
 *	workspace.working_dir, or workspace itself	sessions.working_dir
 *	init_config.transport, .socket_path		listen
 *
 * Values keep their places.  If a layer has both spellings, ours takes
 * precedence.
 */
#include "suite/config_internal.h"

#include <string.h>

struct respell {
	struct config_loader *loader;
	struct config_layer *layer;
	struct json *root, **tail;	/* the new layer */
	struct json *sessions, **stail;	/* and its sessions */
};

static void
add_root(struct respell *r, const struct json *v, const char *key)
{
	spec_append(r->loader->arena, r->root, &r->tail, v, key);
}

static struct json *
new_object(struct respell *r, const struct json *at)
{
	struct json *v = NEW(r->loader->arena, struct json);

	*v = json_copy(at);
	v->next = NULL;
	v->type = JSON_OBJECT;
	v->u.child = NULL;
	v->n = 0;
	v->indexed = 0;
	return v;
}

/* Adds a key to the sessions unless the layer has it already. */
static void
add_session(struct respell *r, const struct json *v, const char *key)
{
	const struct json *own = json_getc(r->layer->root, "sessions");

	if (v != NULL && (own == NULL || json_getc(own, key) == NULL))
		spec_append(r->loader->arena, r->sessions, &r->stail, v, key);
}

/* The members of the old keys, and the new key of each. */
static const struct {
	const char *key, *member, *new_key;
	bool session;
} members[] = {
	{ "model", "provider", "provider", true },
	{ "model", "temperature", "temperature", true },
	{ "model", "max_tokens", "max_tokens", true },
	{ "model", "model_id", "model", false },
	{ "model", "model", "model", false },
	{ "workspace", "working_dir", "working_dir", true },
	{ "init_config", "transport", NULL, false },	/* see read_init() */
	{ "init_config", "socket_path", NULL, false },
};

/* Translates the members of an old key and notes unknown ones. */
static void
read_members(struct respell *r, const char *key, const struct json *obj)
{
	const struct json *v;
	size_t i;

	for (v = json_first(obj); v != NULL; v = v->next) {
		for (i = 0; i < COUNTOF(members); i++)
			if (strcmp(members[i].key, key) == 0 &&
			    str_is(json_key(v), members[i].member))
				break;
		if (i == COUNTOF(members))
			spec_note(r->loader->notes, r->loader->notes->strict ?
			    FIELD_ERROR : FIELD_WARNING,
			    spec_at(r->layer->name, v),
			    "unknown key \"%.*s\"", SPEC_SHORT(json_key(v)));
		else if (members[i].session)
			add_session(r, v, members[i].new_key);
		else if (members[i].new_key != NULL &&
		    (json_getc(obj, "model_id") == NULL ||
		    str_is(json_key(v), "model_id")))
			add_root(r, v, members[i].new_key);
	}
}

static bool
is_text(const struct json *v, const char *text)
{
	return v != NULL && v->type == JSON_STRING &&
	    str_is(json_text(v), text);
}

#define BAD(r, v, ...) CONFIG_ERROR((r)->loader, (r)->layer, v, __VA_ARGS__)

static void
read_init(struct respell *r, const struct json *in)
{
	const struct json *how = json_getc(in, "transport");
	const struct json *path = json_getc(in, "socket_path");
	struct json list;
	struct str where = STR("stdio");

	if (in->type != JSON_OBJECT) {
		BAD(r, in, "\"init_config\" must be a mapping, not %s",
		    json_type_name((enum json_type)in->type));
		return;
	}
	read_members(r, "init_config", in);
	if (is_text(how, "socket") || is_text(how, "unix") ||
	    (how == NULL && path != NULL)) {
		if (path == NULL || path->type != JSON_STRING ||
		    json_text(path).n == 0) {
			BAD(r, in, "\"init_config\" needs a \"socket_path\"");
			return;
		}
		where = arena_fmt(r->loader->arena, "unix:%.*s",
		    STRF(json_text(path)));
	} else if (how == NULL)
		return;
	else if (!is_text(how, "stdio")) {
		BAD(r, how, "\"transport\" must be \"socket\" or \"stdio\"");
		return;
	}
	if (json_getc(r->layer->root, "listen") != NULL) {
		BAD(r, in, "\"init_config\" and \"listen\" are mutually "
		    "exclusive");
		return;
	}
	list = json_copy(path != NULL ? path : how);
	list.type = JSON_STRING;
	list.u.text = where.p;
	list.n = (uint32_t)where.n;
	add_root(r, &list, "listen");
}

static bool
is_translated(const struct json *v)
{
	return (str_is(json_key(v), "model") && v->type == JSON_OBJECT) ||
	    str_is(json_key(v), "workspace") ||
	    str_is(json_key(v), "init_config");
}

static void
translate(struct respell *r, const struct json *v)
{
	if (!is_translated(v)) {
		if (!str_is(json_key(v), "sessions"))
			add_root(r, v, NULL);
	} else if (v->type == JSON_NULL)
		return;
	else if (str_is(json_key(v), "model"))
		read_members(r, "model", v);
	else if (str_is(json_key(v), "init_config"))
		read_init(r, v);
	else if (v->type == JSON_OBJECT)
		read_members(r, "workspace", v);
	else
		add_session(r, v, "working_dir");
}

/* Adds the layer's own sessions together with the translated keys. */
static void
join_sessions(struct respell *r)
{
	const struct json *own = json_getc(r->layer->root, "sessions"), *v;
	struct json_mem mem = { arena_hook, r->loader->arena };

	if (own != NULL && (own->type != JSON_OBJECT ||
	    r->sessions->n == 0)) {
		add_root(r, own, NULL);
		return;
	}
	if (r->sessions->n == 0)
		return;
	for (v = json_first(own); v != NULL; v = v->next)
		spec_append(r->loader->arena, r->sessions, &r->stail, v, NULL);
	json_seal(&mem, r->sessions, true);
	add_root(r, r->sessions, "sessions");
}

void
config_respell(struct config_loader *l, struct config_layer *layer)
{
	struct respell r = { .loader = l, .layer = layer };
	struct json_mem mem = { arena_hook, l->arena };
	const struct json *v;
	bool any = false;

	for (v = json_first(layer->root); v != NULL; v = v->next)
		any |= layer->root->type == JSON_OBJECT && is_translated(v);
	if (!any)
		return;
	r.root = new_object(&r, layer->root);
	r.tail = &r.root->u.child;
	r.sessions = new_object(&r, layer->root);
	r.stail = &r.sessions->u.child;
	for (v = json_first(layer->root); v != NULL; v = v->next)
		translate(&r, v);
	join_sessions(&r);
	json_seal(&mem, r.root, true);
	layer->root = r.root;
}

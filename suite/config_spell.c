/* SPDX-License-Identifier: ISC */
/*
 * Settings in the words of seeds/003: what `model`, as a mapping, `workspace`
 * and `init_config` say is said with our keys, before a layer is checked.
 *
 *	model.provider, .temperature, .max_tokens	sessions.*
 *	model.model_id, model.model			model
 *	workspace.working_dir, or workspace itself	sessions.working_dir
 *	init_config.transport, .socket_path		listen
 *
 * A value keeps its place.  What a layer says with both wins with ours.
 */
#include "suite/config_internal.h"

#include <string.h>

struct respell {
	struct config_loader *loader;
	struct config_layer *layer;
	struct json *root, **tail;	/* the layer anew */
	struct json *sessions, **stail;	/* and its sessions */
};

static struct json *
copy_node(struct respell *r, const struct json *v, const char *key)
{
	struct json *new = NEW(r->loader->arena, struct json);

	*new = *v;
	new->next = NULL;
	if (key != NULL) {
		new->key = key;
		new->nkey = (uint32_t)strlen(key);
	}
	return new;
}

static void
add(struct json *obj, struct json ***tail, struct json *v)
{
	**tail = v;
	*tail = &v->next;
	obj->n++;
}

static struct json *
empty_like(struct respell *r, const struct json *v)
{
	struct json *new = copy_node(r, v, NULL);

	new->type = JSON_OBJECT;
	new->u.child = NULL;
	new->n = 0;
	new->indexed = 0;
	return new;
}

/* Ours, unless it is there already. */
static void
add_session(struct respell *r, const struct json *v, const char *key)
{
	const struct json *own = json_getc(r->layer->root, "sessions");

	if (v != NULL && (own == NULL || json_getc(own, key) == NULL))
		add(r->sessions, &r->stail, copy_node(r, v, key));
}

static void
check_keys(struct respell *r, const struct json *obj, const char *const *known)
{
	const struct json *v;
	size_t i;

	for (v = json_first(obj); v != NULL; v = v->next) {
		for (i = 0; known[i] != NULL; i++)
			if (str_is(json_key(v), known[i]))
				break;
		if (known[i] == NULL)
			config_note(r->loader, r->loader->notes->strict ?
			    FIELD_ERROR : FIELD_WARNING, r->layer, v,
			    "unknown key \"%.*s\"",
			    STRF(config_short(json_key(v))));
	}
}

static void
take_model(struct respell *r, const struct json *m)
{
	static const char *const keys[] = { "provider", "model_id", "model",
		"temperature", "max_tokens", NULL };
	const struct json *id = json_getc(m, "model_id");

	check_keys(r, m, keys);
	if (id == NULL)
		id = json_getc(m, "model");
	if (id != NULL)
		add(r->root, &r->tail, copy_node(r, id, "model"));
	add_session(r, json_getc(m, "provider"), "provider");
	add_session(r, json_getc(m, "temperature"), "temperature");
	add_session(r, json_getc(m, "max_tokens"), "max_tokens");
}

static void
take_workspace(struct respell *r, const struct json *w)
{
	static const char *const keys[] = { "working_dir", NULL };

	if (w->type == JSON_OBJECT) {
		check_keys(r, w, keys);
		add_session(r, json_getc(w, "working_dir"), "working_dir");
	} else
		add_session(r, w, "working_dir");
}

static bool
is_text(const struct json *v, const char *text)
{
	return v != NULL && v->type == JSON_STRING &&
	    str_is(json_text(v), text);
}

#define BAD(r, v, ...) \
	config_note((r)->loader, FIELD_ERROR, (r)->layer, v, __VA_ARGS__)

static void
take_init(struct respell *r, const struct json *in)
{
	static const char *const keys[] = { "transport", "socket_path", NULL };
	const struct json *how = json_getc(in, "transport");
	const struct json *path = json_getc(in, "socket_path");
	struct json *list;
	struct str where = STR("stdio");

	if (in->type != JSON_OBJECT) {
		BAD(r, in, "\"init_config\" must be a mapping, not %s",
		    json_type_name((enum json_type)in->type));
		return;
	}
	check_keys(r, in, keys);
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
		BAD(r, in, "\"init_config\" and \"listen\" exclude each other");
		return;
	}
	list = copy_node(r, path != NULL ? path : how, "listen");
	list->type = JSON_STRING;
	list->u.text = where.p;
	list->n = (uint32_t)where.n;
	add(r->root, &r->tail, list);
}

static bool
is_foreign(const struct json *v)
{
	return (str_is(json_key(v), "model") && v->type == JSON_OBJECT) ||
	    str_is(json_key(v), "workspace") ||
	    str_is(json_key(v), "init_config");
}

static void
take(struct respell *r, const struct json *v)
{
	if (!is_foreign(v)) {
		if (!str_is(json_key(v), "sessions"))
			add(r->root, &r->tail, copy_node(r, v, NULL));
	} else if (v->type == JSON_NULL)
		return;
	else if (str_is(json_key(v), "model"))
		take_model(r, v);
	else if (str_is(json_key(v), "workspace"))
		take_workspace(r, v);
	else
		take_init(r, v);
}

/* Its own sessions, and what was found for them. */
static void
join_sessions(struct respell *r)
{
	const struct json *own = json_getc(r->layer->root, "sessions"), *v;
	struct json_mem mem = { arena_hook, r->loader->arena };

	if (own != NULL && (own->type != JSON_OBJECT ||
	    r->sessions->n == 0)) {
		add(r->root, &r->tail, copy_node(r, own, NULL));
		return;
	}
	if (r->sessions->n == 0)
		return;
	for (v = own != NULL ? json_first(own) : NULL; v != NULL; v = v->next)
		add(r->sessions, &r->stail, copy_node(r, v, NULL));
	json_seal(&mem, r->sessions, true);
	add(r->root, &r->tail, copy_node(r, r->sessions, "sessions"));
}

void
config_respell(struct config_loader *l, struct config_layer *layer)
{
	struct respell r = { .loader = l, .layer = layer };
	struct json_mem mem = { arena_hook, l->arena };
	const struct json *v;
	bool any = false;

	for (v = json_first(layer->root); v != NULL; v = v->next)
		any |= is_foreign(v);
	if (layer->root->type != JSON_OBJECT || !any)
		return;
	r.root = empty_like(&r, layer->root);
	r.tail = &r.root->u.child;
	r.sessions = empty_like(&r, layer->root);
	r.stail = &r.sessions->u.child;
	for (v = json_first(layer->root); v != NULL; v = v->next)
		take(&r, v);
	join_sessions(&r);
	json_seal(&mem, r.root, true);
	layer->root = r.root;
}

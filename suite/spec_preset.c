/* SPDX-License-Identifier: ISC */
/*
 * `ref` of a grader: a preset in a file, which the entry completes and
 * overrides.  The file contains one entry of `graders`, or with #NAME a mapping
 * whose `graders` has an entry of this name.
 *
 * The entry's own name, weight and type take precedence.  Settings are merged:
 * mappings key by key at all depths, while lists and scalars are replaced.
 */
#include "suite/spec_internal.h"

#include <string.h>

struct ref {
	struct str path, name;	/* name: after #, or empty */
};

static struct ref
split(struct str text)
{
	const char *hash = memchr(text.p, '#', text.n);
	size_t n = hash != NULL ? (size_t)(hash - text.p) : text.n;

	return (struct ref){ { text.p, n }, hash == NULL ? STR("") :
		(struct str){ hash + 1, text.n - n - 1 } };
}

/* Whether it names a file, not HOST/OWNER/REPOSITORY@VERSION. */
static bool
is_local(const struct ref *r)
{
	return memchr(r->path.p, '@', r->path.n) == NULL &&
	    memchr(r->name.p, '@', r->name.n) == NULL &&
	    (str_ends(r->path, STR(".yaml")) || str_ends(r->path, STR(".yml")) ||
	    str_ends(r->path, STR(".json")));
}

/* The entry of that name in `graders`, a list or a mapping; or NULL. */
static const struct json *
find(const struct json *root, struct str name)
{
	const struct json *all = json_getc(root, "graders"), *v;

	if (all == NULL)
		return NULL;
	if (all->type == JSON_OBJECT)
		return json_get(all, name);
	for (v = json_first(all); v != NULL; v = v->next)
		if (str_eq(json_str(v, "name"), name))
			return v;
	return NULL;
}

static const struct json *
read_preset(struct spec_loader *l, const char *file, const struct json *ref)
{
	struct ref r = split(json_text(ref));
	const char *path = spec_path(l->arena, l->suite->dir, r.path);
	const struct json *v;
	struct spec_file f;

	if (!spec_allowed(l->notes, spec_at(file, ref), path))
		return NULL;
	if (!spec_exists(path)) {
		spec_error(l, file, ref, "ref", "preset file \"%.*s\" does not "
		    "exist", SPEC_SHORT(r.path));
		return NULL;
	}
	if (spec_read_yaml(l, path, &f) == -1)
		return NULL;
	v = r.name.n > 0 ? find(f.root, r.name) : f.root;
	if (v == NULL || v->type != JSON_OBJECT) {
		spec_error(l, file, ref, "ref", r.name.n > 0 ? "\"graders\" of "
		    "the preset file has no entry \"%.*s\"" : "the preset file "
		    "\"%.*s\" is not a mapping with \"type\"",
		    SPEC_SHORT(r.name.n > 0 ? r.name : r.path));
		return NULL;
	}
	if (spec_given(json_getc(v, "ref"))) {
		spec_error(l, path, json_getc(v, "ref"), "ref", "a preset "
		    "cannot refer to another one");
		return NULL;
	}
	return v;
}

/* Both mappings; values of `top` take precedence. */
static const struct json *
merge(struct arena *a, const struct json *base, const struct json *top)
{
	struct json_mem mem = { arena_hook, a };
	struct json *obj, **tail, part;
	const struct json *v, *other;

	if (base == NULL || base->type != JSON_OBJECT ||
	    top->type != JSON_OBJECT)
		return top;
	obj = NEW(a, struct json);
	tail = &obj->u.child;
	*obj = (struct json){ .type = JSON_OBJECT, .line = top->line,
		.col = top->col };
	tail = &obj->u.child;
	for (v = json_first(base); v != NULL; v = v->next)
		if (json_get(top, json_key(v)) == NULL)
			spec_append(a, obj, &tail, v, NULL);
	for (v = json_first(top); v != NULL; v = v->next) {
		other = json_get(base, json_key(v));
		part = json_copy(v);
		if (other != NULL) {
			part = json_copy(merge(a, other, v));
			part.key = v->key;
			part.nkey = v->nkey;
		}
		spec_append(a, obj, &tail, &part, NULL);
	}
	json_seal(&mem, obj, true);
	return obj;
}

/* The entry with all settings under `config`. */
static const struct json *
gather(struct arena *a, const struct json *entry)
{
	struct json_mem mem = { arena_hook, a };
	struct json *obj = NEW(a, struct json), **tail = &obj->u.child;
	const struct json *v;

	*obj = (struct json){ .type = JSON_OBJECT, .line = entry->line,
		.col = entry->col };
	for (v = json_first(entry); v != NULL; v = v->next)
		if (field_find(&spec_grader_table, json_key(v)) != NULL &&
		    !str_is(json_key(v), "config") &&
		    !str_is(json_key(v), "ref"))
			spec_append(a, obj, &tail, v, NULL);
	spec_append(a, obj, &tail, spec_grader_settings(a, entry), "config");
	json_seal(&mem, obj, true);
	return obj;
}

const struct json *
spec_use_preset(struct spec_loader *l, const char *file,
    const struct json *entry)
{
	const struct json *ref = json_getc(entry, "ref"), *preset;
	struct ref r;

	if (ref->type != JSON_STRING) {
		spec_wrong_type(l, file, ref, "the path of a preset");
		return NULL;
	}
	r = split(json_text(ref));
	if (!is_local(&r)) {
		spec_error(l, file, ref, "ref", "\"%.*s\" is not a file: "
		    "presets of a registry are not fetched; save the preset "
		    "and write \"ref: ./preset.yaml\", or write its \"type\" "
		    "and settings here", SPEC_SHORT(json_text(ref)));
		return NULL;
	}
	preset = read_preset(l, file, ref);
	return preset == NULL ? NULL : merge(l->arena, gather(l->arena,
	    preset), gather(l->arena, entry));
}

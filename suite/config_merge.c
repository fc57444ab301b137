/* SPDX-License-Identifier: ISC */
/*
 * Merges one layer over those below it.
 *
 * The result is a tree of items, each with the layer that it came from.  An
 * object of two layers is rebuilt from the members of both; the members of the
 * lower one are reused, since the old tree is not used again.  Lookups use the
 * index of sealed objects, so merging takes n log n steps even for hostile
 * files.  The reader limits the nesting.
 */
#include "suite/config_internal.h"

struct list {
	struct config_item *obj;
	struct json **tail;
};

static void
append(struct list *l, struct config_item *i)
{
	i->json.next = NULL;
	*l->tail = &i->json;
	l->tail = &i->json.next;
	l->obj->json.n++;
}

static struct config_item *
new_item(struct arena *a, const struct json *v, const struct config_layer *l)
{
	struct config_item *i = NEW(a, struct config_item);

	i->json = json_copy(v);
	i->json.next = NULL;
	i->from = l;
	return i;
}

/* An empty object at the place of v. */
static struct list
begin(struct arena *a, const struct json *v, const struct config_layer *l)
{
	struct config_item *i = new_item(a, v, l);

	i->json.u.child = NULL;
	i->json.n = 0;
	i->json.indexed = 0;
	return (struct list){ i, &i->json.u.child };
}

static struct config_item *
end(struct arena *a, struct list *l)
{
	struct json_mem mem = { arena_hook, a };

	json_seal(&mem, &l->obj->json, true);
	return l->obj;
}

/* Whether a member is merged: at the top only keys of our settings. */
static bool
is_merged(const struct json *v, bool top)
{
	const struct field *f;

	if (v->type == JSON_NULL || !top)
		return v->type != JSON_NULL;
	f = field_find(&config_table, json_key(v));
	return f != NULL && !config_foreign(f);
}

static struct config_item *
copy(struct arena *a, const struct json *v, const struct config_layer *l,
    bool top)
{
	struct list out;

	if (v->type != JSON_OBJECT)
		return new_item(a, v, l);
	out = begin(a, v, l);
	for (v = json_first(v); v != NULL; v = v->next)
		if (is_merged(v, top))
			append(&out, copy(a, v, l, false));
	return end(a, &out);
}

/*
 * New members first: moving members of base destroys its list.  An object of
 * several layers is that of the lowest one that is trusted.
 */
static struct config_item *
merge(struct arena *a, struct json *base, const struct json *over,
    const struct config_layer *l, bool top)
{
	const struct config_layer *low = ((struct config_item *)base)->from;
	struct list out = begin(a, base, low->untrusted ? l : low);
	struct list fresh = begin(a, base, l);
	struct json *b, *next;
	const struct json *o;

	for (o = json_first(over); o != NULL; o = o->next)
		if (is_merged(o, top) && json_get(base, json_key(o)) == NULL)
			append(&fresh, copy(a, o, l, false));
	for (b = json_first(base); b != NULL; b = next) {
		next = b->next;
		o = json_get(over, json_key(b));
		if (o == NULL)
			append(&out, (struct config_item *)b);
		else if (o->type == JSON_OBJECT && b->type == JSON_OBJECT)
			append(&out, merge(a, b, o, l, false));
		else if (o->type != JSON_NULL)
			append(&out, copy(a, o, l, false));
	}
	*out.tail = fresh.obj->json.u.child;
	out.obj->json.n += fresh.obj->json.n;
	return end(a, &out);
}

struct config_item *
config_merge(struct arena *a, struct config_item *base,
    const struct config_layer *l)
{
	if (base == NULL)
		return copy(a, l->root, l, true);
	return merge(a, &base->json, l->root, l, true);
}

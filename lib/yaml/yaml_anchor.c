/* SPDX-License-Identifier: ISC */
/*
 * Anchors and aliases.
 *
 * An alias copies one struct json and shares its children, so its cost does
 * not depend on the size of the node.  But a walk over the tree visits shared
 * children each time, so the limits apply to the expanded tree: each anchor
 * records how many values its node contains and how deep they nest.
 *
 * An open anchor is found as well, to refuse an alias inside its own node,
 * which would make the tree contain itself.
 */
#include "lib/yaml/yaml_internal.h"

#include <stdbool.h>
#include <string.h>

#include "json.h"

struct yaml_anchor {
	struct str name;
	const struct json *node;	/* NULL while open */
	size_t size;		/* values in it; while open: before it */
	unsigned height;	/* levels in it; while open: old deepest */
};

/* A name, in a tree that branches by two bits of the hash per level. */
struct yaml_anchor_slot {
	struct yaml_anchor_slot *kid[4];
	struct str name;
	struct yaml_anchor *now;	/* the latest of that name */
};

/* ns-anchor-name [103]: anything but white space and flow indicators. */
static struct str
read_name(struct yaml_in *y)
{
	const char *s = ++y->p;

	while (!yaml_in_is(*y->p, YAML_IN_WHITE | YAML_IN_EOL | YAML_IN_FLOW))
		y->p++;
	return (struct str){ s, (size_t)(y->p - s) };
}

/*
 * The first character of a name that other YAML readers might treat as the
 * end of the name, or NULL: they disagree about punctuation.
 */
static const char *
unsafe_char(struct str name)
{
	size_t i;
	char c;

	for (i = 0; i < name.n; i++) {
		c = name.p[i];
		if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
		    !(c >= '0' && c <= '9') && (unsigned char)c < 0x80 &&
		    strchr("-_./:", c) == NULL)
			return name.p + i;
	}
	return NULL;
}

static uint64_t
hash(struct str s, uint64_t seed)
{
	uint64_t h = seed ^ UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 32;
}

/* The link to the slot of that name, or to where it has to be added. */
static struct yaml_anchor_slot **
find(struct yaml_in *y, struct str name)
{
	struct yaml_anchor_slot **at = &y->anchors;
	uint64_t h = 0;
	unsigned level;

	for (level = 0; *at != NULL; level++) {
		if (str_eq((*at)->name, name))
			break;
		if (level % 16 == 0)	/* separates names with equal hashes */
			h = hash(name, level);
		at = &(*at)->kid[h & 3];
		h >>= 2;
	}
	return at;
}

struct yaml_anchor *
yaml_anchor_open(struct yaml_in *y)
{
	const char *at = y->p;
	struct str name = read_name(y);
	struct yaml_anchor_slot **slot;
	struct yaml_anchor *a;

	if (name.n == 0) {
		yaml_in_bad(y, at, "& must be followed by the anchor's name; "
		    "quote it if it is text");
		return NULL;
	}
	if (yaml_in_printable(y, name.p, y->p) != 0)
		return NULL;
	if (unsafe_char(name) != NULL) {
		yaml_in_bad(y, unsafe_char(name), "%c in the name of an anchor "
		    "is not supported; use letters, digits, - and _",
		    *unsafe_char(name));
		return NULL;
	}
	slot = find(y, name);
	if (*slot == NULL) {
		*slot = NEW(y->mem, struct yaml_anchor_slot);
		(*slot)->name = name;
	}
	(*slot)->now = a = NEW(y->mem, struct yaml_anchor);
	a->name = name;
	a->size = y->nodes - 1;
	a->height = y->deepest;
	y->deepest = y->depth;
	return a;
}

void
yaml_anchor_close(struct yaml_in *y, struct yaml_anchor *a, struct json *v)
{
	unsigned height = y->deepest - y->depth;

	if (a->height > y->deepest)
		y->deepest = a->height;
	a->node = v;
	a->size = y->nodes - a->size;
	a->height = height;
}

static int
over_limit(struct yaml_in *y, const char *at, const struct yaml_anchor *a,
    bool deep)
{
	yaml_in_bad(y, at, deep ?
	    "alias *%s makes nesting deeper than %zu levels" :
	    "alias *%s: aliases expand to more than %zu values",
	    YAML_IN_SHOW(a->name),
	    deep ? (size_t)y->max_depth : y->max_aliased);
	y->err->code = ERR_LIMIT;
	return -1;
}

int
yaml_anchor_alias(struct yaml_in *y, struct json *v)
{
	const char *at = y->p;
	struct str name = read_name(y);
	struct yaml_anchor_slot *slot = *find(y, name);
	struct yaml_anchor *a = slot == NULL ? NULL : slot->now;
	unsigned depth = y->depth;

	if (name.n == 0)
		return yaml_in_bad(y, at, "* must be followed by the name of "
		    "an anchor; quote it if it is text");
	if (a == NULL)
		return yaml_in_bad(y, at, "alias *%s: no anchor &%s before it; "
		    "quote it if it is text", YAML_IN_SHOW(name),
		    YAML_IN_SHOW(name));
	if (a->node == NULL)
		return yaml_in_bad(y, at, "alias *%s is inside the value that "
		    "it refers to", YAML_IN_SHOW(name));
	depth += a->height;
	if (v == y->merge && a->height > 0)	/* merged: one level less */
		depth--;
	if (depth > y->max_depth || a->size > y->max_aliased - y->aliased)
		return over_limit(y, at, a, depth > y->max_depth);
	y->aliased += a->size;
	y->nodes += a->size - 1;
	if (depth > y->deepest)
		y->deepest = depth;
	v->type = a->node->type;
	v->indexed = a->node->indexed;
	v->sourced = a->node->sourced;
	v->n = a->node->n;
	v->u = a->node->u;
	return 0;
}

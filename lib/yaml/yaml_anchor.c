/* SPDX-License-Identifier: ISC */
/*
 * Anchors and aliases.
 *
 * An alias copies one struct json and shares the children, so that it costs
 * the same whatever it names.  But whoever walks the tree meets the children
 * again each time, so what counts against the limits is the tree as walked:
 * each anchor knows how many values it stands for and how deep they go.
 *
 * An anchor that is not closed yet is found all the same: its name is taken,
 * and an alias to it would be a tree that contains itself.
 */
#include "lib/yaml/yaml_anchor.h"

#include <stdbool.h>
#include <string.h>

#include "json.h"
#include "lib/yaml/yaml_internal.h"

struct yaml_anchor {
	struct str name;
	const struct json *node;	/* NULL while open */
	size_t size;		/* values in it; while open, those before it */
	unsigned height;	/* levels in it; while open, the old deepest */
};

/* A name, in a tree that branches by two bits of its hash per level. */
struct yaml_anchor_slot {
	struct yaml_anchor_slot *kid[4];
	struct str name;
	struct yaml_anchor *now;	/* the youngest of that name */
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
 * The specification allows any punctuation but what ends the name, and
 * readers disagree about where that is; so only what none of them mistakes.
 */
static const char *
odd_in(struct str name)
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

/* Where the slot of that name is, or belongs. */
static struct yaml_anchor_slot **
find(struct yaml_in *y, struct str name)
{
	struct yaml_anchor_slot **at = &y->anchors;
	uint64_t h = 0;
	unsigned level;

	for (level = 0; *at != NULL; level++) {
		if (str_eq((*at)->name, name))
			break;
		if (level % 16 == 0)	/* equal hashes part ways here */
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
		    "quote the text if it is meant as text");
		return NULL;
	}
	if (yaml_in_printable(y, name.p, y->p) != 0)
		return NULL;
	if (odd_in(name) != NULL) {
		yaml_in_bad(y, odd_in(name), "%c in the name of an anchor is "
		    "not supported; use letters, digits, - and _",
		    *odd_in(name));
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
over(struct yaml_in *y, const char *at, const struct yaml_anchor *a, bool deep)
{
	yaml_in_bad(y, at, deep ?
	    "alias *%s makes the tree more than %zu deep" :
	    "alias *%s: the aliases stand for more than %zu values",
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
		    "an anchor; quote the text if it is meant as text");
	if (a == NULL)
		return yaml_in_bad(y, at, "alias *%s: no anchor &%s before it; "
		    "quote the text if it is meant as text",
		    YAML_IN_SHOW(name), YAML_IN_SHOW(name));
	if (a->node == NULL)
		return yaml_in_bad(y, at, "alias *%s stands inside the value "
		    "that it names", YAML_IN_SHOW(name));
	depth += a->height;
	if (v == y->merge && a->height > 0)	/* its members join ours */
		depth--;
	if (depth > y->max_depth || a->size > y->max_aliased - y->aliased)
		return over(y, at, a, depth > y->max_depth);
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

/* SPDX-License-Identifier: ISC */
/*
 * yaml_map.h: yaml_map_.  A mapping under construction: its entries, keys set
 * twice, merge keys.  Private to the yaml_*.c files.
 */
#ifndef WAZA_YAML_MAP_H
#define WAZA_YAML_MAP_H

struct json;
struct yaml_in;
struct yaml_scalar;

struct yaml_map {
	struct json *obj;
	struct json **tail;	/* where the next entry goes */
	struct json *merge;	/* the value of the key << */
};

/* Makes v an object without members. */
void yaml_map_init(struct yaml_map *, struct json *v);

/*
 * A new entry; its value, still null, stands where the cursor is.  NULL: the
 * key cannot be one.
 */
struct json *yaml_map_add(struct yaml_in *, struct yaml_map *,
    const struct yaml_scalar *key);

/* The mapping is complete. */
int yaml_map_done(struct yaml_in *, struct yaml_map *);

#endif

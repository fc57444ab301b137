/* SPDX-License-Identifier: ISC */
/*
 * yaml_anchor.h: yaml_anchor_.  Anchors and aliases (YAML 1.2.2
 * sections 6.9.2 and 7.1).  Private to the yaml_*.c files.
 */
#ifndef WAZA_YAML_ANCHOR_H
#define WAZA_YAML_ANCHOR_H

struct json;
struct yaml_anchor;
struct yaml_in;

/* Reads the anchor at the cursor, for a node that follows; NULL: error. */
struct yaml_anchor *yaml_anchor_open(struct yaml_in *);

/* The node is complete: aliases can name it from here on. */
void yaml_anchor_close(struct yaml_in *, struct yaml_anchor *, struct json *);

/* Reads the alias at the cursor and makes v a copy of what it names. */
int yaml_anchor_alias(struct yaml_in *, struct json *v);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * config_internal.h: config_.  What the parts of the settings share.
 */
#ifndef WAZA_CONFIG_INTERNAL_H
#define WAZA_CONFIG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"
#include "suite/config.h"

/* All that one place says. */
struct config_layer {
	struct config_layer *next;
	enum config_level level;
	const char *name;	/* of the file, variable or flag */
	const char *dir;	/* what its paths are relative to */
	const struct json *root;
};

struct config_loader {
	struct arena *arena;
	struct spec_notes *notes;
	const struct config_sources *from;
	struct config_layer *head, **tail;	/* lowest first */
};

/*
 * A value of the merged tree, and the layer that had it.  Every member of an
 * object there is one, and so is the root; elements of arrays are not.
 */
struct config_item {
	struct json json;	/* first: a pointer to it is one to both */
	const struct config_layer *from;
};

/* config_keys.c: the tables */
extern const struct field_table config_table, config_tool_table,
    config_price_table;
extern const struct config_tool config_tool_init;
/* Whether a key is for other parts of the program, or not to be used. */
bool config_foreign(const struct field *);
/* The row of a dotted key; NULL: there is none. */
const struct field *config_row(struct str key);

/* config_layer.c: from files, environment, text and flags */
void config_read(struct config_loader *);
const char *config_getenv(const struct config_sources *, const char *name);

/* config_check.c: notes what is wrong with one layer */
void config_check(struct config_loader *, const struct config_layer *);
void config_note(struct config_loader *, enum field_level,
    const struct config_layer *, const struct json *, const char *fmt, ...)
    PRINTF(5, 6);
/* "tcp:HOST:PORT" and the like; NULL and *e when it is none of them. */
const char *config_listen(struct str, enum config_via *, struct err *);
struct str config_short(struct str);	/* enough of it for a message */

/* config_spell.c: seeds/003's words for settings become ours */
void config_respell(struct config_loader *, struct config_layer *);

/* config_merge.c */
struct config_item *config_merge(struct arena *, struct config_item *base,
    const struct config_layer *);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * config_internal.h: config_.  Types and functions shared by config*.c.
 */
#ifndef WAZA_CONFIG_INTERNAL_H
#define WAZA_CONFIG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"
#include "suite/config.h"
#include "suite/spec_internal.h"

/* The settings from one source. */
struct config_layer {
	struct config_layer *next;
	enum config_level level;
	const char *name;	/* of the file, variable or flag */
	const char *dir;	/* what its paths are relative to */
	const struct json *root;
	bool untrusted;		/* a project's file, without trust */
};

struct config_loader {
	struct arena *arena;
	struct spec_notes *notes;
	const struct config_sources *from;
	struct config_layer *head, **tail;	/* lowest precedence first */
	struct buf held;	/* of struct config_leaf */
	const char *project_dir;	/* of the .waza.yaml that is read */
};

/*
 * A value of the merged tree and the layer that it came from.  The root and
 * every member of an object there is one; elements of arrays are not.
 */
struct config_item {
	struct json json;	/* first: a pointer to it points to both */
	const struct config_layer *from;
};

/* Notes an error about a value of a layer; arguments as for printf. */
#define CONFIG_ERROR(loader, layer, v, ...) spec_note((loader)->notes, \
	FIELD_ERROR, spec_at((layer)->name, v), __VA_ARGS__)

/* config_keys.c: the tables of settings */
extern const struct field_table config_tool_table, config_price_table;
extern const struct config_tool config_tool_init;
/* Whether a key belongs to another part of the program or is refused. */
bool config_foreign(const struct field *);
/* The row of a dotted key, or NULL. */
const struct field *config_row(struct str key);

/* config_layer.c: reads and checks all sources, each into a layer */
void config_read(struct config_loader *);
/* The variable's value in these sources; NULL if it is unset or empty. */
const char *config_getenv(const struct config_sources *, const char *name);

/* config_check.c: notes everything that is wrong with one layer */
void config_check(struct config_loader *, const struct config_layer *);
/*
 * Parses "tcp:HOST:PORT" and the like.  Returns the part after the colon,
 * borrowed and possibly empty; NULL and *e on failure.
 */
const char *config_listen(struct str, enum config_via *, struct err *);

/* Whether it is a letter, a digit, "_" or "-" (ASCII). */
bool config_is_word(char);

/*
 * config_hold.c: removes the settings that need trust from a layer and adds
 * them to the loader's list.  The result, for messages, is "roots is" or
 * "roots, tools are"; empty if there was none.
 */
struct str config_hold(struct config_loader *, struct config_layer *);
/* Moves that list to the arena. */
void config_take_held(struct config_loader *, const struct config_leaf **,
    size_t *n);

/* config_show.c: the dotted path with one more word, quoted unless plain. */
struct str config_path_add(struct arena *, struct str path, struct str word);
/* Whether values below that key are not shown: they often contain secrets. */
bool config_is_hidden(struct str key);

/* config_spell.c: replaces the keys of seeds/003 in a layer by ours */
void config_respell(struct config_loader *, struct config_layer *);

/*
 * config_merge.c: merges a layer over the tree (NULL: there is none yet).
 * The old tree must not be used afterwards.
 */
struct config_item *config_merge(struct arena *, struct config_item *base,
    const struct config_layer *);

#endif

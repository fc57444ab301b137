/* SPDX-License-Identifier: ISC */
/*
 * mask.h: mask_.  Texts without the secrets in them.
 *
 * An agent has keys in its environment, and its answers and errors quote
 * them; results are shown around.  A secret is masked as it is and as it
 * looks inside of a JSON string.
 */
#ifndef WAZA_MASK_H
#define WAZA_MASK_H

#include <stddef.h>

#include "base/base.h"

enum {
	MASK_MIN = 4,		/* bytes; less is in every other word */
	MASK_ENV_MIN = 8	/* of a variable that has only the name */
};

/* Zero is none.  All of it lives in the arena of the calls. */
struct mask {
	struct str *v;		/* the longest first */
	size_t n, room;
};

/* One that is too short is left out. */
void mask_add(struct arena *, struct mask *, struct str secret);

/* The values of variables ("NAME=value") whose names say that they are. */
void mask_add_env(struct arena *, struct mask *, const char *const *env);

/* The text with stars instead of them: itself, where there are none. */
struct str mask_text(struct arena *, const struct mask *, struct str text);

/*
 * The same with a text that is one JSON value, and stays one, though a number
 * may be a secret: then it becomes a string.
 */
struct str mask_json(struct arena *, const struct mask *, struct str json);

#endif

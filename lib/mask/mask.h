/* SPDX-License-Identifier: ISC */
/*
 * mask.h: mask_.  Removes secrets from texts.
 *
 * An agent has keys in its environment and may quote them in answers and
 * errors, and results are shared.  A secret is masked both as it is and as it
 * is spelt inside a JSON string.
 */
#ifndef WAZA_MASK_H
#define WAZA_MASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

enum {
	MASK_MIN = 4,		/* bytes; shorter ones match common words */
	MASK_ENV_MIN = 8	/* bytes, if only the name suggests a secret */
};

/* A set of secrets.  Zero is empty; pass the same arena to all calls. */
struct mask {
	struct str *v;		/* longest first */
	size_t n, room;
	bool forms;		/* also mask what mask_form() finds */
};

/* Adds a copy of a secret; ignores those shorter than MASK_MIN. */
void mask_add(struct arena *, struct mask *, struct str secret);

/* Adds the values of variables ("NAME=value") with names like API_KEY. */
void mask_add_env(struct arena *, struct mask *, const char *const *env);

/* Whether a variable of that name has a secret: API_KEY and the like. */
bool mask_is_name(struct str name);

/*
 * mask_form.c: the next value from *at on that the text around it tells to be
 * secret, as in https://user:SECRET@host or --password=SECRET; p is NULL if
 * there is none.  Moves *at to its end.
 */
struct str mask_form(struct str text, size_t *at);

/*
 * mask_form.c: the password in an argument of a command, as in mysql -pSECRET
 * or sshpass -p SECRET: its last bytes; n is 0 if it has none.
 */
struct str mask_argument(const char *command, const char *const *argv,
    size_t i);

/* Adds such values of at least MASK_ENV_MIN bytes: other texts repeat them. */
void mask_add_forms(struct arena *, struct mask *, struct str text);

/* Returns the text with "***" for each secret, or the text itself. */
struct str mask_text(struct arena *, const struct mask *, struct str text);

/*
 * The same for a text that is one JSON value: the result is valid JSON too.
 * A number that contains a secret becomes a string.
 */
struct str mask_json(struct arena *, const struct mask *, struct str json);

#endif

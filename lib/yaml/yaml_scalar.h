/* SPDX-License-Identifier: ISC */
/*
 * yaml_scalar.h: yaml_scalar_.  Plain and quoted scalars (YAML 1.2.2 section
 * 7.3).  Private to the yaml_*.c files.
 */
#ifndef WAZA_YAML_SCALAR_H
#define WAZA_YAML_SCALAR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json;
struct yaml_in;

/* A plain or quoted scalar, before anybody knows if it is a key. */
struct yaml_scalar {
	struct str text;	/* decoded */
	const char *to;		/* behind its last byte, a quote included */
	size_t chars;		/* of its spelling; bytes while they are few */
	unsigned line, col;	/* where it starts */
	bool plain;
	bool multi;		/* it spans lines */
};

/*
 * Reads one at the cursor; lines after its first need n spaces.  The cursor
 * stays behind its last byte.
 */
int yaml_scalar_read(struct yaml_in *, int n, bool flow, struct yaml_scalar *);

/* Says why no scalar starts at the cursor; always -1. */
int yaml_scalar_none(struct yaml_in *);

/* Gives v the scalar's value: a string, or what the core schema says. */
int yaml_scalar_value(struct yaml_in *, const struct yaml_scalar *,
    struct json *v);

/* A scalar with ':' at `colon` can be a key: one line, 1024 characters. */
int yaml_scalar_key(struct yaml_in *, const struct yaml_scalar *,
    const char *colon);

#endif

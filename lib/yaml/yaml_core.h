/* SPDX-License-Identifier: ISC */
/*
 * yaml_core.h: yaml_core_.  What a plain scalar means: the core schema (YAML
 * 1.2.2 section 10.3).  Private to the yaml_*.c files.
 */
#ifndef WAZA_YAML_CORE_H
#define WAZA_YAML_CORE_H

#include <stdbool.h>

#include "base/base.h"

struct json;
struct yaml_in;
struct yaml_scalar;

/* Gives v the value of a plain scalar; -1 for a number beyond all bounds. */
int yaml_core_value(struct yaml_in *, const struct yaml_scalar *,
    struct json *v);

/* The plain scalar is null. */
bool yaml_core_null(struct str);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * yaml_flow.h: yaml_flow_.  Flow collections: [a, b] and {a: b} (YAML 1.2.2
 * section 7.4).  Private to the yaml_*.c files.
 */
#ifndef WAZA_YAML_FLOW_H
#define WAZA_YAML_FLOW_H

#include <stdbool.h>

struct json;
struct yaml_in;

/*
 * Reads the one at the cursor into v; lines after its first need n spaces,
 * or one less before a closing bracket.  The cursor stays behind its end.
 */
int yaml_flow_read(struct yaml_in *, int n, struct json *v);

#endif

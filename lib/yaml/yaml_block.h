/* SPDX-License-Identifier: ISC */
/*
 * yaml_block.h: yaml_block_.  Block scalars: | and > (YAML 1.2.2 section
 * 8.1).  Private to the yaml_*.c files.
 */
#ifndef WAZA_YAML_BLOCK_H
#define WAZA_YAML_BLOCK_H

struct json;
struct yaml_in;

/*
 * Reads one at the cursor, under a parent that is indented by n; leaves the
 * cursor on a fresh line.
 */
int yaml_block_read(struct yaml_in *, int n, struct json *v);

#endif

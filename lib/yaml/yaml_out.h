/* SPDX-License-Identifier: ISC */
/*
 * yaml_out.h: yaml_put_.  Writes values as YAML that every reader understands
 * in the same way; yaml_lite.h reads back the same tree.
 */
#ifndef WAZA_YAML_OUT_H
#define WAZA_YAML_OUT_H

#include "base/base.h"

struct json;

/*
 * Appends a string: plain where no reader could take it for anything else,
 * otherwise quoted, or as a block of lines.  The lines of a block are indented
 * by `indent` blanks, which must be deeper than the key before it.  A string
 * that is not UTF-8 gets U+FFFD for its wrong bytes.  yaml_put_word() never
 * writes a block: for keys and lists in brackets.
 */
void yaml_put_str(struct buf *, struct str, unsigned indent);
void yaml_put_word(struct buf *, struct str);

/*
 * Appends a value and a newline, collections one entry per line.  `indent` is
 * the column of its keys and dashes; the caller has written nothing on the
 * line, or "KEY:" or "-" for a value that belongs to it.
 */
void yaml_put(struct buf *, const struct json *, unsigned indent);

#endif

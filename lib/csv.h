/* SPDX-License-Identifier: ISC */
/*
 * csv.h: csv_.  Comma-separated values after RFC 4180, strictly: the first
 * record names the columns, every other has as many fields, quotes stand
 * only around a whole field.  Blank lines are passed over, a byte order mark
 * is dropped, lines may end in CR LF.
 */
#ifndef WAZA_CSV_H
#define WAZA_CSV_H

#include <stddef.h>

#include "base/base.h"

struct json;

/*
 * The records as a JSON array of objects, all values strings, each with its
 * line.  NULL on failure, with line and column.  The text must outlive it.
 */
struct json *csv_read(struct arena *, struct str text, struct err *);

#endif

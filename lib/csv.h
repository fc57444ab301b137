/* SPDX-License-Identifier: ISC */
/*
 * csv.h: csv_.  A strict reader for comma-separated values (RFC 4180).  The
 * first record names the columns; all records have the same number of fields;
 * quotes must enclose a whole field.  Blank lines and a byte order mark are
 * ignored; lines may end in CR LF.
 */
#ifndef WAZA_CSV_H
#define WAZA_CSV_H

#include <stddef.h>

#include "base/base.h"

struct json;

/*
 * Returns the records as a JSON array of objects; all values are strings, with
 * line and column.  The tree borrows from the text.  NULL on failure, with
 * line and column.
 */
struct json *csv_read(struct arena *, struct str text, struct err *);

#endif

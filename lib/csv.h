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

/* A table that is read record by record. */
struct csv {
	const struct json *header;	/* its members are the columns */
	size_t columns;
	const char *p, *end;	/* the next record, or blank lines before it */
	unsigned line;		/* of p */
};

/*
 * Checks that all of the text is UTF-8 and reads the header into the arena; -1
 * and *e on failure.
 */
int csv_open(struct csv *, struct arena *, struct str text, struct err *);
/*
 * Reads the next record, as csv_read() does, and tells where it begins: 1, or
 * 0 at the end, or -1 and *e.  A copy of the struct whose p is that place reads
 * it again.
 */
int csv_next(struct csv *, struct arena *, struct json *row, const char **at,
    struct err *);

#endif

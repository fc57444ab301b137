/* SPDX-License-Identifier: ISC */
/* inflate.h: inflate_.  Reads gzip (RFC 1952, RFC 1951). */
#ifndef WAZA_INFLATE_H
#define WAZA_INFLATE_H

#include "base/base.h"

/*
 * Appends the content of one gzip member, which is all of `in`, to a buffer
 * that had none.  The checksum and the length have to match.  Returns -1 for
 * malformed input, and with ERR_LIMIT for more than `max` bytes of content.
 */
int inflate_gzip(struct buf *, struct str in, size_t max, struct err *);

#endif

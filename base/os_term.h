/* SPDX-License-Identifier: ISC */
/*
 * os_term.h: os_.  The size of terminals.
 */
#ifndef WAZA_OS_TERM_H
#define WAZA_OS_TERM_H

/* The columns of the terminal, or 0 if it is not one or does not know. */
unsigned os_columns(int fd);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * os_path.h: os_.  Where a path, or a name, really leads.
 */
#ifndef WAZA_OS_PATH_H
#define WAZA_OS_PATH_H

#include <stdbool.h>

struct arena;

/*
 * Whether a path, all symbolic links followed, stays below the directory
 * root.  Of a path that does not exist, or can not be followed to its end,
 * the part counts that can, and what follows must not lead upwards.  False
 * also when there is no root.
 */
bool os_inside(const char *root, const char *path);

/* The path from the root on, for children that start elsewhere. */
char *os_absolute(struct arena *, const char *path);

/* The path of what is there, all links followed, or NULL. */
char *os_real(struct arena *, const char *path);

/* The program of that name in PATH, as a shell finds it, or NULL. */
char *os_find(struct arena *, const char *name);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * os_path.h: os_.  Where a path really leads.
 */
#ifndef WAZA_OS_PATH_H
#define WAZA_OS_PATH_H

#include <stdbool.h>

/*
 * Whether a path, all symbolic links followed, stays below the directory
 * root.  Of a path that does not exist, or can not be followed to its end,
 * the part counts that can.  False also when there is no root.
 */
bool os_inside(const char *root, const char *path);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * os_path.h: os_.  Resolves paths and names of programs.
 */
#ifndef WAZA_OS_PATH_H
#define WAZA_OS_PATH_H

#include <stdbool.h>

struct arena;
struct err;

/*
 * Whether a path, with all symbolic links followed, stays within the directory
 * root.  If only the beginning of the path exists, that part is resolved and
 * the rest must not contain "..".  False if root does not exist.
 */
bool os_inside(const char *root, const char *path);

/* The absolute path, links not followed; it need not exist. */
char *os_absolute(struct arena *, const char *path);

/* The absolute path with all links followed, or NULL if it does not exist. */
char *os_real(struct arena *, const char *path);

/*
 * mkdir -p: creates the directories of a path that do not exist yet; `last`
 * includes the path itself.  -1 with the name of the failed one.
 */
int os_make_dirs(const char *path, unsigned mode, bool last, struct err *);

/* The path of the running program, or NULL if it is not known. */
char *os_self(struct arena *);

/*
 * The absolute path of the program of that name in PATH or in the given
 * directories, which colons separate; NULL with errno if there is none.
 */
char *os_find(struct arena *, const char *name);
char *os_find_in(struct arena *, const char *name, const char *dirs);

#endif

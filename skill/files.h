/* SPDX-License-Identifier: ISC */
/*
 * files.h: files_.  A set of files that is created as a whole: either all
 * missing files appear, each complete, or nothing changes.  Files that exist
 * are kept.
 */
#ifndef WAZA_FILES_H
#define WAZA_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

enum { FILES_MAX = 20000 };	/* files and directories of a set */

enum files_state {
	FILES_KEPT,		/* it exists, and stays as it is */
	FILES_NEW,		/* it is missing */
	FILES_REPLACED		/* it exists, and gets the new text */
};

struct files_entry {
	const char *path;
	const char *label;	/* what it is, for people */
	struct str text;	/* p is NULL: a directory */
	enum files_state state;
	const char *temp;	/* private */
	bool made;		/* private */
};

/* Set the arena, and the root if it is another; zero the rest. */
struct files {
	struct arena *arena;
	const char *root;	/* the project; NULL: the working directory */
	struct files_entry *v;
	size_t n;
	bool full;		/* an entry did not fit; files_write() fails */
	const char **dirs;	/* private: directories that were made */
	size_t ndirs;
};

/*
 * Adds a file, or with the text { NULL, 0 } a directory.  Path and label must
 * live as long as the set, the text until files_write().  The state says
 * whether it exists; files_replace() gives an existing file the text.  Add a
 * path only once.
 */
void files_add(struct files *, const char *path, struct str text,
    const char *label);
void files_replace(struct files *, const char *path, struct str text,
    const char *label);

/* How many entries have that state. */
size_t files_count(const struct files *, enum files_state);

/*
 * Creates what is missing, with the modes that the umask allows.  -1 and *e:
 * nothing was changed.  A file that someone else created meanwhile is kept.
 * A link below the root that leads out of it is an error: the project may be a
 * stranger's.
 */
int files_write(struct files *, struct err *);

/*
 * -1 if a link below the root leads out of it on the way to a directory: a link
 * of a project must not decide where else files are written.  Links to the root
 * itself, and those outside of it, are the user's own.
 */
int files_check_dir(struct arena *, const char *root, const char *dir,
    struct err *);

#endif

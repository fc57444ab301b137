/* SPDX-License-Identifier: ISC */
/*
 * project.h: project_.  The project's .waza.yaml: which file applies, who
 * could have written it, and whether the user trusts it.
 *
 * The file is the nearest one in a directory and those above it.  It is not
 * read if another user could have written it: if the file, or a directory on
 * the way up to it, belongs to somebody other than the user or root, or is
 * writable by others.  A directory with the sticky bit (/tmp) can be writable
 * by all, since only the owner of a file can replace it there.  A group can
 * have write permission if its number is that of the owner: a private group.
 *
 * The user's own file may have come with a cloned repository.  Until the user
 * has trusted it, it sets only names and numbers; config_hold.c has the list.
 *
 * The user trusts a path with its content: the file "trusted" in WAZA_HOME
 * (default ~/.waza) maps absolute paths to SHA-256.  A changed file is not
 * trusted.  A trusted content is read whoever owns the file.
 */
#ifndef WAZA_PROJECT_H
#define WAZA_PROJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "lib/sha256.h"

struct config_sources;
struct spec_notes;

enum {
	PROJECT_LEVELS = 10,		/* directories searched */
	PROJECT_TRUSTED_MAX = 16 << 20	/* bytes of the list of trusted files */
};

enum project_state {
	PROJECT_NONE,			/* no file */
	PROJECT_FOREIGN,		/* others could have written it */
	PROJECT_UNTRUSTED,		/* the user's own, not trusted */
	PROJECT_TRUSTED			/* by the list, --trust or variable */
};

/* Everything lives in the arena of project_find(). */
struct project {
	enum project_state state;
	const char *path;		/* as found from the directory */
	const char *key;		/* absolute, with real directories */
	struct str text;
	char hash[SHA256_HEX];		/* of the text */
	bool changed;			/* trusted with another content */
	const char *why;		/* FOREIGN: the reason */
	const char *unlisted;		/* why the list was not read, or NULL */
};

/*
 * Finds the file for `dir` of the sources and reads it once, so that what is
 * checked is what is used.  -1 and *e, whose message starts with the path, if
 * it cannot be read.
 */
int project_find(struct arena *, const struct config_sources *,
    struct project *, struct err *);

/*
 * Notes a warning with the commands that trust the file, if it is not read at
 * all or (keys not empty) these settings are ignored.
 */
void project_warn(struct arena *, const struct project *, struct str keys,
    struct spec_notes *);

/* WAZA_HOME or ~/.waza; NULL if neither it nor HOME is set. */
const char *project_home(struct arena *, const struct config_sources *);

/* Trusts the file with this content, or forgets its path.  0, or -1 and *e. */
int project_trust(struct arena *, const struct config_sources *,
    const struct project *, struct err *);
int project_forget(struct arena *, const struct config_sources *,
    struct str key, struct err *);

/* The list of trusted files: {path: hash}.  -1 and *e if it is not usable. */
struct json;
int project_list(struct arena *, const struct config_sources *,
    const struct json **, struct err *);

/* The hash of a file's content; false if it cannot be read. */
bool project_hash(const char *path, char hex[SHA256_HEX]);

#endif

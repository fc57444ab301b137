/* SPDX-License-Identifier: ISC */
/*
 * skill.h: skill_.  A SKILL.md as its author wrote it: with the place of every
 * key, so that findings can name file, line and column.
 *
 * spec_read_skill() (suite/spec.h) reads what a run needs; this is for the
 * commands that examine skills.
 */
#ifndef WAZA_SKILL_H
#define WAZA_SKILL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct json;

enum { SKILL_FILE_MAX = 4 << 20 };	/* bytes of a SKILL.md */

/* Everything lives in the arena of skill_read(). */
struct skill {
	const char *file;	/* its path */
	const char *dir;	/* of the file */
	struct str text;	/* the whole file */
	struct str front;	/* lines of the front matter; empty: none */
	struct str body;	/* after the front matter */
	unsigned body_line;	/* line of the body's first byte */
	/*
	 * The front matter as an object, whose lines are those of the file;
	 * NULL without front matter.
	 */
	const struct json *fields;
	struct err warning;	/* about the front matter; line 0: none */
	struct str name;	/* "" if missing or not a string */
	struct str description;
};

/*
 * Reads the SKILL.md that path names, or that is in the directory path.  -1
 * and *e, with line and column, if it cannot be read, has no end of its front
 * matter, or its front matter is not a YAML mapping.  After an error of syntax
 * all members but fields, name and description are set.
 */
int skill_read(struct arena *, const char *path, struct skill *,
    struct err *);

/* The same for the text of a SKILL.md, which must outlive the result. */
int skill_parse(struct arena *, const char *path, struct str text,
    struct skill *, struct err *);

/* The last part of a directory's path, also of "." */
struct str skill_dir_name(struct arena *, const char *dir);

#endif

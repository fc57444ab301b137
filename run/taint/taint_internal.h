/* SPDX-License-Identifier: ISC */
/* taint_internal.h: taint_.  The parts of taint.h. */
#ifndef WAZA_TAINT_INTERNAL_H
#define WAZA_TAINT_INTERNAL_H

#include <stdint.h>

#include "run/taint/taint.h"

struct answer_call;

/* A sealed file. */
struct taint_file {
	struct str base;	/* last part of its path; the list is sorted */
	const char *path;	/* real */
	struct str name;	/* for messages: relative to the suite */
	dev_t dev;
	ino_t ino;
	size_t lines;		/* of it that are in the index */
};

/* A line of a sealed file. */
struct taint_line {
	uint64_t hash;
	uint32_t file, number;
	bool telling;		/* alone it is evidence */
};

struct taint {
	struct taint_file *files;
	const char **paths;
	size_t nfiles;
	struct taint_line *lines;	/* sorted by hash */
	size_t nlines;
	const char *dir;		/* real path of the suite's directory */
};

/* Whether the character is in the set. */
bool taint_is_one(char, const char *set);

/* taint_lines.c: reads the lines of all files. */
void taint_index(struct taint *, struct arena *);

/* Text of a sealed file that the agent was not given. */
struct taint_match {
	const struct taint_file *file;
	uint32_t number;	/* of its line */
};
bool taint_match(const struct taint *, struct str text,
    const struct taint_trial *, struct taint_match *);
/* The same in the strings of a JSON value. */
bool taint_match_json(const struct taint *, struct str json,
    const struct taint_trial *, struct taint_match *);

/* taint_paths.c: the sealed file that a call has named, or NULL. */
const struct taint_file *taint_named(const struct taint *,
    const struct answer_call *, const char *cwd);

#endif

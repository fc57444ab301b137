/* SPDX-License-Identifier: ISC */
/*
 * check_internal.h: check_.  Shared by check*.c.
 */
#ifndef WAZA_CHECK_INTERNAL_H
#define WAZA_CHECK_INTERNAL_H

#include "json.h"
#include "lib/markdown/markdown.h"
#include "skill/check.h"

/* Limits of the specification, in characters unless noted. */
enum {
	CHECK_NAME_MAX = 64,		/* bytes */
	CHECK_DESCRIPTION_MAX = 1024,
	CHECK_DESCRIPTION_MIN = 150,	/* of a good one */
	CHECK_COMPATIBILITY_MAX = 500
};

/* Appends to a list of struct check. */
#define CHECK_APPEND(c, list, x) do { \
	*(c)->list##_end = (x); \
	(c)->list##_end = &(x)->next; \
} while (0)

/* A place in a file. */
struct check_at {
	const char *file;
	unsigned line, col;
};
/* The value of a key of the front matter, or the front matter itself. */
struct check_at check_at_key(const struct check *, const char *key);
struct check_at check_at_node(const struct check *, const struct json *);

void check_add(struct check *, const char *rule, enum check_severity,
    struct check_at, const char *fmt, ...) PRINTF(5, 6);
/* Makes the item fail with a piece of evidence, which is an error. */
void check_fail(struct check *, struct check_item *, struct check_at,
    const char *fmt, ...) PRINTF(4, 5);
void check_issue(struct check *, bool mcp, enum check_severity,
    const char *fmt, ...) PRINTF(4, 5);

/* The number of characters; an invalid byte counts as one. */
size_t check_chars(struct str);
/* Whether a text contains one of the words, which end with NULL. */
bool check_has(struct str text, const char *const *words);
size_t check_count(struct str text, const char *word);
/* The offset of a word; the length of the text if it is not there. */
size_t check_find(struct str text, const char *word);
/* The text in lower case. */
struct str check_lower(struct arena *, struct str);

/* The texts that rules search, in lower case, in a scratch arena. */
struct check_texts {
	struct arena *scratch;
	struct str all;		/* the whole file */
	struct str description;
	struct str body;
	struct str both;	/* description, newline, body; trimmed */
};

void check_run_spec(struct check *);
void check_run_level(struct check *, const struct check_env *,
    const struct check_texts *);
void check_run_mcp(struct check *, const struct check_texts *);
void check_run_advice(struct check *, const struct check_env *,
    const struct check_texts *);
void check_run_suite(struct check *, const struct check_env *);

/* A file of the skill's directory. */
struct check_file {
	struct str rel;		/* path in the skill's directory */
	bool is_markdown, reached;
	struct markdown md;
	struct str text;
	size_t body;		/* offset of the text behind front matter */
};

/* The files of a skill, sorted by path. */
struct check_files {
	struct check_file *v;
	size_t n, bytes;
	bool full;		/* a limit was exceeded */
	struct check_text *outside;	/* links that lead out of it */
};

/* Lists the files and reads Markdown, all into the arena. */
void check_list_files(struct arena *, const char *dir, struct check_files *);
struct check_file *check_find_file(const struct check_files *, struct str rel);
void check_run_links(struct check *, struct arena *scratch);

/* A link's target, taken apart. */
enum check_target { CHECK_SKIP, CHECK_EXTERNAL, CHECK_LOCAL };
enum check_target check_target_of(struct str target, struct str *path,
    struct str *fragment);
/* %41 -> A */
struct str check_unescape(struct arena *, struct str);
/* An absolute path without ".", ".." and repeated slashes. */
char *check_clean(struct arena *, const char *path);
/*
 * The path in the skill's directory (absolute) that a target in the file
 * `source` names; false if it leads out.
 */
bool check_resolve(struct arena *, const char *absolute, struct str source,
    struct str target, struct str *rel);

/* Records a link with a problem, and its finding. */
struct check_link *check_add_link(struct check *, enum check_link_kind,
    struct check_at, struct str source, struct str target,
    const char *reason);

#endif

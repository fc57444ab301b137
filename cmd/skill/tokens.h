/* SPDX-License-Identifier: ISC */
/*
 * tokens.h: tokens_.  `waza tokens`: what its files share.  Everything lives
 * in the arena of the call.
 */
#ifndef WAZA_TOKENS_H
#define WAZA_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "skill/budget.h"
#include "suite/spec.h"
#include "waza.h"

struct catalog;
struct config;
struct json_out;

enum {
	TOKENS_FILE_MAX = 16 << 20,	/* bytes of a counted file */
	TOKENS_FILES_MAX = 100000,	/* files of a call */
	TOKENS_DEPTH = 64		/* of directories */
};

struct tokens_opt {
	const char *format, *sort, *tokenizer, *vocab, *threshold, *model;
	const char *min_savings;
	int64_t min_tokens;
	bool no_total, strict, quiet, unchanged, skills, copilot, trust;
};

enum tokens_format { TOKENS_TABLE, TOKENS_JSON, TOKENS_GITHUB };

struct tokens {
	struct cmd_call *call;
	const struct tokens_opt *opt;
	struct arena *arena;
	struct config *config;
	struct spec_notes notes;
	enum tokens_format format;
	struct token_settings settings;
	struct token_counter counter;
	struct buf out;
};

/* A file, with its numbers once it was counted. */
struct tokens_file {
	struct str path;	/* for people, with slashes */
	const char *name;	/* to open it */
	int64_t tokens, lines;
	size_t bytes;
	struct token_limit limit;
	bool exceeded;
	const char *error;	/* why it was not read, or NULL */
};

/* The files of one skill or of the operands. */
struct tokens_scope {
	struct str skill;	/* its name, or empty */
	const char *dir;	/* whose limits apply */
	struct tokens_file *v;	/* by path */
	size_t n;
};

struct tokens_scopes {
	struct tokens_scope *v;
	size_t n;
	bool batch;		/* one for each skill of the workspace */
};

/*
 * tokens_files.c.  Finds the files that the operands name: Markdown files,
 * directories, or the name of a skill.  Without operands, the working
 * directory; if `workspace`, the skill around it or each skill of the
 * project.  -1 with the call's err.
 */
int tokens_find(struct tokens *, bool workspace, struct tokens_scopes *);

/* Whether a path ends with .md or .mdx, or is a SKILL.md; case-insensitive. */
bool tokens_is_markdown(struct str path);
bool tokens_is_skill(struct str path);

/*
 * Reads a file into the scratch arena and counts it.  -1: it has an error,
 * which is also printed.
 */
int tokens_read(struct tokens *, struct tokens_file *, struct arena *scratch,
    struct str *text);

/* Lines: newlines, and one more if the last byte is not a newline. */
int64_t tokens_lines(struct str);

/* Sets the limits of the scope's files; -1: the reason was noted. */
int tokens_limits(struct tokens *, struct tokens_scope *);

/* tokens.c: output that all share. */
void tokens_put_counter(struct json_out *, const struct tokens *);
void tokens_put_time(struct json_out *, const char *key);
void tokens_put_rule(struct buf *, size_t width);
void tokens_put_heading(struct buf *, struct str skill);
/* The columns of a path in a table, and a path in so many. */
size_t tokens_width(struct str path, size_t least);
/* The columns of a path if the others of a row need `rest` on a terminal. */
size_t tokens_fit(size_t width, size_t rest);
void tokens_put_path(struct buf *, struct str path, size_t width);
/* A workflow command of GitHub: level is error, warning or notice. */
void tokens_put_command(struct buf *, const char *level, struct str path,
    int64_t line, const char *text);

/* The subcommands. */
int tokens_check(struct tokens *);
int tokens_compare(struct tokens *);
int tokens_profile(struct tokens *);
int tokens_suggest(struct tokens *);

/* tokens_git.c: the Markdown files of a revision or of the working tree. */
struct tokens_blob {
	struct str path;
	struct str text;
	const char *error;	/* why it was not read, or NULL */
};
struct tokens_tree {
	struct tokens_blob *v;	/* by path */
	size_t n;
};
/*
 * 0 and the name of a commit (empty: the repository has none yet), or -1 and
 * *e: git is not installed, this is not a repository, or it has no such
 * revision.  `missing` turns the last into 1.
 */
int tokens_revision(struct tokens *, const char *ref, bool missing,
    struct str *commit, struct err *);
int tokens_tree(struct tokens *, struct str commit, struct tokens_tree *,
    struct err *);
int tokens_worktree(struct tokens *, struct tokens_tree *, struct err *);
/* A file of a commit, or text.p NULL; -1 and *e. */
int tokens_blob(struct tokens *, struct str commit, const char *path,
    struct str *text, struct err *);

#endif

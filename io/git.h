/* SPDX-License-Identifier: ISC */
/*
 * git.h: git_.  Asks git about a repository.
 *
 * The repository may be a stranger's: settings of its .git/config that would
 * start programs (hooks, fsmonitor, filters, pagers, diff drivers) or fetch
 * objects are overridden.  Names are passed on only after git has resolved
 * them to hashes.  Each call waits for its child, so none may be made while a
 * loop has work.
 */
#ifndef WAZA_GIT_H
#define WAZA_GIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
	GIT_LIST_MAX = 64 << 20,	/* bytes of a list of files */
	GIT_BLOBS_MAX = 256 << 20,	/* bytes of all files of a revision */
	GIT_FILES_MAX = 100000,		/* files of a list */
	GIT_FILTERS_MAX = 1000		/* settings of filters */
};

/* Variables that make git use another repository than that of its cwd. */
enum { GIT_VARS = 8 };
extern const char *const git_vars[GIT_VARS];

/* Zero it; set the first part. */
struct git {
	struct arena *arena;	/* gets all output */
	const char *dir;	/* where git runs; NULL: here */
	const char *needed_by;	/* "tokens compare", for a message */
	/* set by git_open() */
	const char *top;	/* of the working tree, links followed */
	const char **off;	/* options that switch filters off */
	size_t noff;
};

/*
 * Runs git with these arguments, which end with NULL.  *out is its output, in
 * the arena.  Returns its exit status, with its last words in *e if it is not
 * 0; or -1 and *e: it is not installed, was killed, or printed more than max.
 */
int git_run(struct git *, const char *const *args, struct str in, size_t max,
    struct str *out, struct err *);

/*
 * Finds the working tree around dir, and switches off the filters that its
 * settings define.  0, or -1 and *e: not a repository.
 */
int git_open(struct git *, struct err *);

/*
 * Resolves a revision, "REF..." to the merge base of REF and HEAD.  0 and the
 * hash, or -1 and *e.
 */
int git_commit(struct git *, const char *ref, struct str *commit,
    struct err *);

/*
 * The commit where the work on this branch began: the merge base of HEAD and
 * the branch that a CI job names as the target, else the default branch of
 * origin, else main or master.  *ref is that branch.  0, or -1 and *e.
 */
int git_branch_point(struct git *, const char **ref, struct str *commit,
    struct err *);

/* A file that differs between a commit and the working tree. */
struct git_change {
	struct str path;	/* below the top */
	char how;		/* A added, ? not tracked, D deleted, M or
				 * another: changed */
};
/*
 * Lists them by path, with files that git does not track and does not ignore.
 * A renamed file is deleted and added.  0, or -1 and *e.
 */
int git_changes(struct git *, struct str commit, struct git_change **,
    size_t *n, struct err *);

/* A file of a commit, or text.p NULL if it has none; -1 and *e. */
int git_blob(struct git *, struct str commit, struct str path, size_t max,
    struct str *text, struct err *);

/* A file of a commit. */
struct git_file {
	struct str path;	/* below the top, or before git_open() where
				 * git runs */
	struct str text;	/* of a symbolic link its target */
	bool program;		/* it is executable */
	bool link;
};
/*
 * git_files.c: reads the files of a commit below dir (NULL: all), by path.
 * Submodules are left out, and files that wants() refuses, which also gets
 * their size.  0, or -1 and *e.
 */
struct git_choice {
	bool (*wants)(void *arg, struct str path, int64_t bytes);
	void *arg;
};
int git_files(struct git *, struct str commit, const char *dir,
    const struct git_choice *, struct git_file **, size_t *n, struct err *);

/* Takes the text before `end`, or all of it, from the front of *s. */
struct str git_word(struct str *s, char end);

#endif

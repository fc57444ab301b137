/* SPDX-License-Identifier: ISC */
/*
 * workspace_scan.h: workspace_.  The changes in a directory: a first scan of
 * its files, and a second one after somebody has worked there.
 *
 * A scan runs in steps of a few milliseconds, so that the loop can do other
 * work in between.  Directories named .git are skipped and symbolic links are
 * not followed.  Files are compared by size and times.  Files that match the
 * patterns are also copied, into an unnamed file, so that diffs can be made;
 * a caller that knows their contents can do without.
 * Everything is limited; `incomplete` is set when a limit was reached.
 */
#ifndef WAZA_WORKSPACE_SCAN_H
#define WAZA_WORKSPACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/field.h"

enum {
	WORKSPACE_SCAN_FILES_MAX = 20000,	/* files that match */
	WORKSPACE_SCAN_OTHERS_MAX = 50000,	/* files that do not */
	WORKSPACE_SCAN_NAMES_MAX = 100000,	/* names of any kind */
	WORKSPACE_SCAN_FILE_MAX = 1 << 20,	/* bytes of a copied file */
	WORKSPACE_SCAN_COPY_MAX = 64 << 20,	/* bytes of all copies */
	WORKSPACE_SCAN_DIFF_MAX = 256 << 10,	/* bytes of a diff */
	WORKSPACE_SCAN_DIFFS_MAX = 4 << 20,	/* bytes of all diffs, about */
	WORKSPACE_SCAN_CHANGES_MAX = 2000	/* changes that are reported */
};

enum workspace_change_kind {
	WORKSPACE_ADDED, WORKSPACE_MODIFIED, WORKSPACE_DELETED
};

struct workspace_change {
	struct str path;		/* relative to the directory */
	enum workspace_change_kind kind;
	bool excluded;			/* the patterns exclude it */
	unsigned old_mode, new_mode;	/* as git stores them; 0: no file */
	int64_t size;			/* bytes; if deleted, before */
	struct str diff;		/* p NULL: there is none */
	const char *no_diff;		/* the reason, or NULL */
};

struct workspace_scan {
	struct str *files;		/* those that match, sorted */
	size_t nfiles;
	struct workspace_change *changes;	/* after the second scan */
	size_t nchanges;
	const char *incomplete;		/* the first limit reached, or NULL */
	struct workspace_scan_state *state;	/* private */
};

struct workspace_scan_opts {
	/* patterns of glob_path; NULL or empty: all files, no files */
	const struct field_strs *include, *exclude;
	int64_t file_max;		/* bytes of a compared file */
	int64_t copy_max;		/* of all copies; 0: none is made */
	size_t diff_max, diffs_max;	/* of a diff, of all; see above */
	/*
	 * For a patch: links and modes are compared, too.  Nobody else changes
	 * files during the first scan.
	 */
	bool patch;
	/* the contents before of a file that was not copied; false: unknown */
	bool (*before)(void *arg, struct arena *, struct str path,
	    struct str *out);
	void *arg;
};
#define WORKSPACE_SCAN_LIMITS .file_max = WORKSPACE_SCAN_FILE_MAX, \
	.copy_max = WORKSPACE_SCAN_COPY_MAX, \
	.diff_max = WORKSPACE_SCAN_DIFF_MAX, \
	.diffs_max = WORKSPACE_SCAN_DIFFS_MAX

/*
 * Begins the first scan.  The options are copied; `dir` and what they point to
 * must outlive the scan.  Free it with workspace_scan_free(); NULL is allowed
 * there.
 */
struct workspace_scan *workspace_scan_new(const char *dir,
    const struct workspace_scan_opts *);
void workspace_scan_free(struct workspace_scan *);

/* Works for at most about that long; true when the current scan is done. */
bool workspace_scan_step(struct workspace_scan *, int64_t ms);

/* Begins the second scan; the first must be done. */
void workspace_scan_again(struct workspace_scan *);

#endif

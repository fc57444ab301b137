/* SPDX-License-Identifier: ISC */
/*
 * os_confine.h: os_.  Confines a child: it reads everything that its user can
 * read apart from some files, and writes only below some paths.
 */
#ifndef WAZA_OS_CONFINE_H
#define WAZA_OS_CONFINE_H

#include <stdbool.h>

struct err;

/*
 * Whether this system can confine children: Linux with Landlock, version 3 or
 * later (kernel 6.2), unless a container forbids it.
 */
bool os_can_confine(void);

struct os_bounds {
	const char *const *writable;	/* files and directories; paths that
					 * do not exist are skipped */
	const char *const *hidden;	/* real paths of files, or NULL */
};					/* both lists end with NULL */

/*
 * Makes a set of rules, a descriptor that is close-on-exec: only files below
 * the writable paths, and devices such as /dev/null, can be written, created,
 * removed or renamed.  A hidden file cannot be read, unless a writable path
 * contains it; neither can files that others create later in a directory above
 * a hidden one.  If such a directory has very many entries, nothing is hidden.
 * -1 with the error; ENOSYS: see os_can_confine().
 */
int os_confine_open(const struct os_bounds *, struct err *);

/*
 * In a child, before exec: applies the rules to it and all its descendants for
 * good.  Makes system calls only.  Set-user-ID programs lose their privileges.
 * 0, or -1 with errno.
 */
int os_confine_enter(int rules);

#endif

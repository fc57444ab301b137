/* SPDX-License-Identifier: ISC */
/*
 * realpath(3) is where the C libraries ask for the X/Open name.
 */
#define _XOPEN_SOURCE 700

#include "os_path.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

bool
os_inside(const char *root, const char *path)
{
	char base[PATH_MAX], real[PATH_MAX], cut[PATH_MAX];
	size_t n = strlen(path);
	struct str b, r;
	char *slash;

	if (n >= sizeof(cut) || realpath(root, base) == NULL)
		return false;
	memcpy(cut, path, n + 1);
	while (realpath(cut, real) == NULL) {
		slash = strrchr(cut, '/');
		if (slash == NULL || slash == cut)
			return false;
		*slash = '\0';
	}
	b = str_of(base);
	r = str_of(real);
	return str_starts(r, b) &&
	    (r.n == b.n || r.p[b.n] == '/' || b.n == 1);
}

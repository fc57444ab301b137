/* SPDX-License-Identifier: ISC */
/* TAP for C: OK(cond) once per fact, SKIP(why), tap_done() as main's result. */
#ifndef TAP_H
#define TAP_H

#include <stdio.h>

static int tap_n, tap_bad;

#define OK(cond) tap_ok((cond), #cond, __FILE__, __LINE__)
#define SKIP(why) printf("ok %d - # SKIP %s\n", ++tap_n, (why))

static inline void
tap_ok(int ok, const char *what, const char *file, int line)
{
	tap_n++;
	printf("%sok %d - %s\n", ok ? "" : "not ", tap_n, what);
	if (!ok) {
		tap_bad++;
		printf("# %s:%d\n", file, line);
	}
}

static inline int
tap_done(void)
{
	printf("1..%d\n", tap_n);
	return tap_bad != 0;
}

#endif

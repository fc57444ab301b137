/* SPDX-License-Identifier: ISC */
/*
 * TAP for C: OK(cond) once per fact, SKIP(why), RUN(function, ...) for groups of
 * tests; main() returns tap_done().
 */
#ifndef TAP_H
#define TAP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int tap_n, tap_bad;

/*
 * Functions whose inputs are large to find quadratic costs; T_SLOW in the
 * environment leaves them out, where a checker would take minutes.
 */
#define RUN_LARGE(...) tap_run_large((void (*const[])(void)){ __VA_ARGS__, NULL })

#define OK(cond) tap_ok((cond), #cond, __FILE__, __LINE__)
#define RUN(...) tap_run((void (*const[])(void)){ __VA_ARGS__, NULL })
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

/*
 * Calls functions in order, up to NULL.  Lines before each are flushed, so that
 * they are kept if the program is ended there.
 */
static inline void
tap_run(void (*const *test)(void))
{
	for (; *test != NULL; test++) {
		fflush(stdout);
		(*test)();
	}
}

static inline void
tap_run_large(void (*const *test)(void))
{
	if (getenv("T_SLOW") == NULL)
		tap_run(test);
	else
		SKIP("large inputs take too long here");
}

/*
 * Of n repetitions, a fifth, which finds what each repetition can show; all with
 * T_LARGE in the environment, as CI runs them once.
 */
static inline int
tap_some(int n)
{
	return getenv("T_LARGE") != NULL ? n : n / 5;
}

/* The number of open descriptors, or -1; the directory is subtracted. */
static inline int
tap_fd_count(void)
{
	DIR *d = opendir("/dev/fd");
	struct dirent *f;
	int n = 0;

	if (d == NULL)
		return -1;
	while ((f = readdir(d)) != NULL)
		n += f->d_name[0] != '.';
	closedir(d);
	return n - 1;
}

/* Seconds of processor time that this process has used; load does not count. */
static inline double
tap_cpu(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static inline int
tap_done(void)
{
	printf("1..%d\n", tap_n);
	return tap_bad != 0;
}

#endif

/* SPDX-License-Identifier: ISC */
/* The time, for tests and for benchmarks that link nothing else. */
#ifndef CLOCK_H
#define CLOCK_H

#include <time.h>

/* Seconds of the real, monotonic clock. */
static inline double
seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif

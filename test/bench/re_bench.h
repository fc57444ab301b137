/* SPDX-License-Identifier: ISC */
/* re_bench.h: what re_bench.c asks of the engines it compares. */
#ifndef RE_BENCH_H
#define RE_BENCH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct re_peer {
	const char *name;
	void *(*compile)(const char *pattern, size_t n);	/* or NULL */
	int (*test)(void *, const char *text, size_t n);
	void (*drop)(void *);
};

extern const struct re_peer re_peers[];
extern const size_t re_npeers;

#ifdef __cplusplus
}
#endif

#endif

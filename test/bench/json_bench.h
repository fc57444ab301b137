/* SPDX-License-Identifier: ISC */
/*
 * What json_bench.c measures of each library.  Every function takes the
 * texts one by one, each into its own tree, and drops the tree.
 */
#ifndef JSON_BENCH_H
#define JSON_BENCH_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bench_text {
	const char *p;		/* a NUL follows */
	size_t n;
};

struct bench_peer {
	const char *name;
	/* Reads; 0 when a text is refused. */
	int (*read)(const struct bench_text *, size_t n);
	/* Reads, and adds up all numbers as doubles. */
	double (*sum)(const struct bench_text *, size_t n);
	/* A tree to write, its writing (bytes), its end; NULL: not measured. */
	void *(*tree)(const struct bench_text *);
	size_t (*write)(void *tree);
	void (*drop)(void *tree);
};

extern const struct bench_peer bench_peers[];	/* ends with a NULL name */

#ifdef __cplusplus
}
#endif
#endif

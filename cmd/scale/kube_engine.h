/* SPDX-License-Identifier: ISC */
/*
 * scale/kube_engine.h: kube_ on_.  The engine `kubernetes` of `waza run --on`,
 * for the files that it consists of: options (kube_option.c), logs and results
 * of pods (kube_log.c), and the Job (kube.c).
 */
#ifndef WAZA_KUBE_ENGINE_H
#define WAZA_KUBE_ENGINE_H

#include "cmd/scale/kube.h"
#include "cmd/scale/on.h"

struct kube;

enum { KUBE_FETCHES = 4 };	/* logs that are read at the same time */

/* A shard of the Job; its number in the Job is its place in the list. */
struct kube_shard {
	int64_t k;
	enum kube_phase phase;	/* of the best of its pods */
	char pod[256];		/* its name; "": none yet */
	char why[100];		/* how the last one failed */
	size_t failed, told;	/* failed pods; those the user knows of */
	bool over;		/* nothing more will be tried */
	bool fetching, done;	/* its log is read, was read */
	unsigned tries;		/* to read it */
};

/* Reads the log of a pod into the log of the shard. */
struct kube_fetch {
	struct kube *kube;
	struct kube_shard *shard;
	struct proc proc;
	bool busy;
	int fd;
	size_t bytes;
};

/* The beginning of results must contain these. */
struct kube_want {
	const char *v[4];	/* v[0] NULL: not known yet */
};

struct kube {
	struct on *on;
	struct kube_plan plan;
	const char *context;	/* of kubectl, or NULL */
	const char *send;	/* server that shards send to, or NULL */
	struct opt_list paths;	/* besides the suites, for the ConfigMap */
	const char *suite;	/* its path in the image, or NULL */
	bool keep;
	bool trust;		/* the project's settings */
	/* the Job */
	struct on_call create, get, delete;
	bool created, cancelled;
	struct kube_shard *shards;
	size_t n, left;		/* left: not done */
	struct kube_fetch fetch[KUBE_FETCHES];
	struct kube_want *wants;	/* of each unit */
	unsigned lost;		/* answers in a row that did not come */
	int64_t stuck_ms;	/* since when no pod can start, or 0 */
	const char *told;	/* the last reason of a waiting pod */
	struct buf output;	/* of the call that failed, */
	const char *broken;	/* and what it was, or NULL */
};

/*
 * kube_option.c: reads --on-option, names the Job, and reads the files that
 * pods need.  -1 and *e.
 */
int kube_options(struct on *, struct err *);

/* The beginning of a kubectl command. */
struct on_words kube_command(const struct kube *);

/*
 * kube_log.c.  fetch: reads the log of a shard's pod, and of a pod that
 * succeeded the results; then kube_shard_done() is called with why the shard
 * failed, or "".  It waits while others are read.
 */
void kube_fetch(struct kube *, struct kube_shard *);
void kube_fetch_end(struct kube *);

/* kube.c */
void kube_shard_done(struct kube *, struct kube_shard *, const char *why);

#endif

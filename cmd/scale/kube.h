/* SPDX-License-Identifier: ISC */
/*
 * scale/kube.h: kube_.  Runs the shards as an indexed Job of Kubernetes.
 *
 * The pods share no directory with us.  The suite is in their image, or reaches
 * them in a ConfigMap; each pod prints its results to standard output, in a
 * block with length and SHA-256 (kube_pod.c), and the collector reads the logs.
 * Values of the environment are never written to a manifest: pods get them
 * from Secrets.
 */
#ifndef WAZA_KUBE_H
#define WAZA_KUBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/opt.h"

enum {
	KUBE_FILES_MAX = 5000,		/* in a ConfigMap */
	KUBE_BYTES_MAX = 1 << 20,	/* of them all: the API's limit */
	KUBE_DEPTH_MAX = 16,		/* of directories */
	KUBE_LOG_MAX = 256 << 20	/* of a pod */
};

/* A file that pods get. */
struct kube_file {
	struct str path;		/* relative to their directory */
	struct str text;
	bool executable;
};

/* A Job and what it needs.  A NULL is left out. */
struct kube_plan {
	const char *name;		/* of Job and ConfigMap */
	const char *image, *space;	/* space: the namespace */
	const char *cpu, *memory, *account;
	const char *claim;		/* volume that keeps journals */
	struct opt_list secrets;
	int64_t shards;			/* of the run */
	const int64_t *list;		/* those of the Job; NULL: all */
	size_t nlist;
	int64_t parallelism, retries;
	const char *const *words;	/* of `waza run`, besides the shard */
	size_t nwords;
	const struct kube_file *files;
	size_t nfiles;			/* 0: the image has the suite */
};

/*
 * kube_manifest.c: appends a List of the ConfigMap and the Job as JSON, as
 * `kubectl create` reads it.
 */
void kube_manifest(struct buf *, const struct kube_plan *);

/* The label of Job, ConfigMap and pods; its value is the plan's name. */
#define KUBE_LABEL "waza-run"
#define KUBE_CONTAINER "waza"		/* of a pod */
/* Directories in a pod, below KUBE_DIR or its variable KUBE_DIR_ENV. */
#define KUBE_DIR "/waza"		/* a volume of its own */
#define KUBE_DIR_ENV "WAZA_POD_DIR"
#define KUBE_SUITE "suite"		/* copy of the files */
#define KUBE_FILES "files"		/* the ConfigMap, whose paths begin
					 * with KUBE_SUITE */
#define KUBE_RESULTS "results"

/*
 * kube_files.c: reads the files at and below each path, which is relative to
 * the working directory and below it ("." is all of it); directories of git
 * and waza, journals and .env are skipped.  Sorted, each once.  NULL and *e if
 * they do not fit in a ConfigMap.
 */
struct kube_file *kube_files(struct arena *, const char *const *paths,
    size_t npaths, size_t *nfiles, struct err *);

/*
 * kube_pod.c.  The shell script of a pod: it runs the shard of the pod with its
 * arguments as words of `waza run`, then prints the results files.  It fails
 * unless the run could be completed; tasks that did not pass are not a failure
 * of the pod.
 */
void kube_pod_script(struct buf *, const struct kube_plan *);

/* A results file in the log of a pod. */
struct kube_block {
	struct str name, text;
};

/*
 * Takes the next results file from the front of a log.  1: *out is set; 0:
 * there are no more; -1 and *e: it is cut or changed.
 */
int kube_pod_block(struct str *log, struct kube_block *out, struct err *);

/* The part of a log before the results files. */
struct str kube_pod_talk(struct str log);

/*
 * kube_state.c: what `kubectl get jobs,pods -o KUBE_QUERY` prints.
 */
#define KUBE_QUERY "jsonpath={range .items[*]}{.kind}{\"\\t\"}" \
	"{.metadata.name}{\"\\t\"}{.metadata.annotations." \
	"batch\\.kubernetes\\.io/job-completion-index}{\"\\t\"}" \
	"{.status.phase}{\"\\t\"}" \
	"{.status.containerStatuses[0].state.waiting.reason}{\"\\t\"}" \
	"{.status.containerStatuses[0].state.terminated.reason}{\"\\t\"}" \
	"{.status.containerStatuses[0].state.terminated.exitCode}{\"\\t\"}" \
	"{.status.reason}{\"\\t\"}{.status.failedIndexes}{\"\\t\"}" \
	"{.status.conditions[?(@.type==\"Failed\")].reason}{\"\\n\"}{end}"

/* In the order in which the pods of a shard count. */
enum kube_phase { KUBE_PENDING, KUBE_FAILED, KUBE_RUNNING, KUBE_SUCCEEDED };

/* A line of it: the Job, or a pod. */
struct kube_line {
	bool is_job;
	struct str name;
	size_t index;			/* of a pod */
	enum kube_phase phase;
	struct str waits;		/* why a pod does not start, or "" */
	char why[100];			/* how a failed pod ended */
	struct str failed_indexes;	/* of the Job, "1,3-5" */
	struct str failed;		/* why the Job failed, or "" */
};

/* Takes the next line; false at the end.  Other lines are skipped. */
bool kube_state_line(struct str *text, struct kube_line *);
/* Whether a list such as "1,3-5" has the number. */
bool kube_state_has(struct str list, size_t i);

#endif

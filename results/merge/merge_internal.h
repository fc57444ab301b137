/* SPDX-License-Identifier: ISC */
/*
 * merge_internal.h: merge_.  What the merge_*.c files share.
 */
#ifndef WAZA_MERGE_INTERNAL_H
#define WAZA_MERGE_INTERNAL_H

#include <stdint.h>

#include "results/merge/merge.h"
#include "results/result.h"
#include "suite/spec.h"

struct json;

/*
 * merge_scan.c: reads JSON from a descriptor, piece by piece.  Each returns -1
 * and sets *err when the text ends early or is not JSON.
 */
enum { MERGE_BLOCK = 64 << 10 };
struct merge_scan {
	int fd;
	const char *path;		/* for messages */
	struct err *err;
	char *p;			/* MERGE_BLOCK bytes, */
	size_t n, at;			/* n of them read, up to `at` used */
	int64_t before;			/* bytes of the file before them */
};
/* The next character that is not blank; it is not used up. */
int merge_peek(struct merge_scan *);
/* Enters an object or a list. */
int merge_enter(struct merge_scan *, char open);
/* 1: another member or element follows; 0: the end was read.  *first: the
 * caller sets it after merge_enter. */
int merge_more(struct merge_scan *, char close, bool *first);
/* The key of a member, as text without escapes. */
int merge_key(struct merge_scan *, struct buf *key);
/* A value as text, or NULL to skip it. */
int merge_value(struct merge_scan *, struct buf *out);
/* Nothing but blanks may follow. */
int merge_end(struct merge_scan *);

/* A file: what its beginning describes. */
struct merge_input {
	const char *path;
	uint32_t family;	/* a results file and its journals */
	bool named;		/* an operand, not found in a directory */
	bool journal;
	/* set when it is read */
	struct merge_group *group;
	bool baseline;		/* it is of the pass without skills */
	bool known;		/* its shard has been read */
	int64_t k, started_ns, duration_ms;
	struct str run_id;
	struct str suite, skill;
	const char *source;	/* path of the suite, or NULL */
};

/* A task as an input describes it. */
enum { MERGE_ID, MERGE_NAME, MERGE_GROUP, MERGE_ERROR, MERGE_CONTROLS,
	MERGE_FILE, MERGE_QUARANTINE, MERGE_UNTIL, MERGE_SELECTED,
	MERGE_SKIP,		/* last: it is removed from complete tasks */
	MERGE_STRINGS };
struct merge_about {
	struct str s[MERGE_STRINGS];
	int64_t line;
	int64_t trials;		/* of a task that ended early, or 0 */
	bool golden;
};
/* Reads the member "source": the file, which borrows, and the line. */
void merge_take_source(struct merge_about *, const struct json *);

/* A trial in the temporary file. */
struct merge_trial {
	struct result_trial t;
	int64_t ended_ns;
	uint32_t family;
};

/*
 * A task there; the strings are in the file of names.  Pointers of t are set
 * when it is read.
 */
struct merge_task {
	struct result_task t;
	struct result_stats stats;
	int64_t names;		/* offset */
	uint32_t n[MERGE_STRINGS];
	uint32_t k;		/* shard that reported it */
	uint32_t line;		/* of MERGE_FILE */
	uint32_t trials;	/* 0: as many as planned */
	bool golden;
	bool accepts;		/* an answer of a control */
};

/* Records of one kind, read and written through a window. */
struct merge_records {
	int fd;
	size_t size;		/* of a record */
	char *window;
	size_t first, count;	/* records in it; count 0: none */
	bool changed;		/* it is to be written */
};

/* The run with skills, or the baseline. */
struct merge_pass {
	struct merge_group *group;
	struct result_run run;
	struct result_source source;
	size_t tasks, trials;	/* first records */
	unsigned char *have;	/* a bit for each trial, */
	unsigned char *known;	/* and for each task */
	const struct json *config;	/* of the first file */
	const char *first;	/* its path */
	/* the task that was read last: its index + 1, with its strings */
	size_t loaded;
	bool named;
	struct merge_task task;
	struct result_trial *slots;
	struct spec_task spec;
	struct spec_def def;
	struct result_more more;
	struct buf names;
};

struct merge_group {
	struct merge *m;
	struct merge_group *next;
	struct spec_suite suite;
	struct spec_grader compares;	/* instead of those of the suite */
	struct merge_pass pass[2];	/* [1]: the baseline */
	bool has_baseline;
	unsigned char *seen;	/* a bit for each shard */
	int64_t n;		/* shards */
	int64_t started_ns, ended_ns;
	int64_t *trigger_ns;	/* start of the run that did each test */
};

struct merge {
	struct arena *arena;
	struct merge_opts opts;
	struct merge_group *groups, **last;
	struct merge_input *first;	/* file that was added, or NULL */
	struct buf seen;	/* of struct merge_done */
	size_t files, bad;
	uint32_t families;
	struct result_run spool;	/* whose journal has all trials */
	struct merge_records tasks, trials;
	int names_fd;
	int64_t names_end;	/* bytes there, followed by */
	struct buf names;	/* those that are not written yet */
	size_t next_task, next_trial;	/* records that are not in use */
	struct buf missing;
	size_t named, unnamed;
	struct arena scratch;
	struct err err;		/* of a temporary file */
};

/* merge_read.c: the parts of an input that both formats have; -1 and *e. */
int merge_take_head(struct merge *, struct merge_input *,
    const struct json *config, struct err *);
struct merge_part {
	struct merge_input *in;
	struct merge_pass *pass;
	size_t index;		/* of the task */
	int64_t number;		/* of the trial, from 1 */
};
int merge_take_task(struct merge *, const struct merge_part *,
    const struct merge_about *, struct err *);
int merge_take_trial(struct merge *, const struct merge_part *, struct str,
    struct json *, struct err *);
int merge_take_trigger(struct merge *, struct merge_input *, int64_t number,
    struct str, struct json *, struct err *);
int merge_fail(struct err *, const struct merge_input *, const char *fmt,
    ...) PRINTF(3, 4);
/* The key of struct merge_shard, from the values that shards must share. */
void merge_run_key(const struct merge_input *, char hex[SHA256_HEX]);

/* merge_file.c, merge_journal.c: read an input; -1 and *e. */
int merge_read_file(struct merge *, struct merge_input *, int fd,
    struct err *);
int merge_read_journal(struct merge *, struct merge_input *, int fd,
    struct err *);

/* merge_store.c: opens the temporary files; -1 and *e. */
int merge_open(struct merge *, struct err *);
void merge_close(struct merge *);
int merge_put(struct merge_records *, size_t i, const void *, struct err *);
int merge_get(struct merge_records *, size_t i, void *, struct err *);
/* Appends strings to the file of names. */
int merge_put_names(struct merge *, const struct str *, struct merge_task *,
    struct err *);
/* Reads a task with its trials, and its strings if wanted. */
const struct result_task *merge_load(struct merge_pass *, size_t i,
    bool names);
/* Prepares a pass; -1 and *e. */
int merge_open_pass(struct merge *, struct merge_pass *, struct err *);

static inline bool
merge_bit(const unsigned char *v, size_t i)
{
	return v[i / 8] >> (i % 8) & 1;
}

static inline void
merge_set_bit(unsigned char *v, size_t i)
{
	v[i / 8] |= (unsigned char)(1 << (i % 8));
}

#endif

/* SPDX-License-Identifier: ISC */
/*
 * cmd/scale/on.h: on_ cmd_on_.  `waza run --on ENGINE`: a run whose shards are
 * the jobs of an engine.  on.c has the common part, one file each the engines.
 *
 *	check	engine, its programs and options, before anything is written
 *	plan	number of shards, words of their command lines
 *	open	the directory of the run: new, or that of an earlier call
 *	submit	by the engine; on_began() and on_ended() report its jobs
 *	follow	journals become the events of the run (on_follow.c)
 *	end	the shards are merged into the results of the units, which are
 *		reported as those of a local run (on_collect.c)
 *
 * The directory has these files; all but the first two are made by the shards:
 *
 *	plan		identifies the run, for --resume
 *	job.sh		or another file that the engine submits
 *	shard-K.json	results of shard K; of several suites and models named
 *			as by `run -o`; with .journal as long as it runs
 *	shard-K.log	output of its job
 *
 * A shard is complete when it has its results files and no journal.  A job that
 * has ended before is a failure, which is named with the end of its log.
 */
#ifndef WAZA_CMD_ON_H
#define WAZA_CMD_ON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"
#include "io/proc.h"
#include "lib/opt.h"

struct cmd_run;
struct merge;
struct on;
struct on_follow;

enum on_state {
	ON_WAITING,		/* not submitted, or in a queue */
	ON_RUNNING,
	ON_ENDED		/* its job has ended, in whatever way */
};

struct on_shard {
	int64_t k;		/* from 1 */
	enum on_state state;
	bool wanted;		/* this call runs it */
	bool complete;		/* its results are in the directory */
	bool settled;		/* complete, or it failed */
	int64_t ended_ms;	/* monotonic */
	char why[100];		/* how its job ended; "": unknown */
	const char *output;	/* its results file, */
	const char *log;	/* and its log */
};

/*
 * An engine.  All functions are called from the loop and must not block.  An
 * engine keeps its own state in on->engine_state.
 */
struct on_engine {
	const char *name;
	const char *programs[4];	/* must be in PATH; ends with NULL */
	const char *file;	/* what is submitted, "job.sh" */
	int64_t ask_ms;		/* between calls of ask; 0: never */
	int64_t settle_ms;	/* from the end of a job until its files must
				 * be visible: file systems have caches */
	/* Options, before anything is written; may be NULL.  -1 and *e. */
	int (*check)(struct on *, struct err *);
	/* Appends the content of the file.  -1 and *e. */
	int (*write)(struct on *, struct buf *, struct err *);
	/* The command that submits it, in the arena; ends with NULL. */
	const char *const *(*command)(struct on *);
	/*
	 * Starts the jobs of all wanted shards; from then on on_began(),
	 * on_ended() and on_broke() report them.  -1 and *e: nothing was
	 * started.
	 */
	int (*submit)(struct on *, struct err *);
	/* Asks for the states of the jobs; may be NULL. */
	void (*ask)(struct on *);
	/*
	 * Ends all jobs; each must be reported by on_ended().  Called once, at
	 * any time after submit.
	 */
	void (*cancel)(struct on *);
	/* Frees what the engine holds outside of the arena; may be NULL. */
	void (*close)(struct on *);
};

struct on {
	struct cmd_run *run;
	struct arena *arena;	/* of the call */
	const struct on_engine *engine;
	const struct opt_list *options;	/* --on-option */
	void *engine_state;
	const char *job;	/* the engine's name of the job, or NULL */
	const char *undo;	/* the command that cancels it, or NULL */
	/* all paths are absolute */
	const char *waza;	/* the program that runs, */
	const char *cwd;	/* and its working directory */
	const char *dir, *file;	/* the run's, and what is submitted */
	/* words of a shard after `waza run`, without its --shard and -o */
	const char *const *words;
	size_t nwords;
	struct on_shard *shards;
	size_t n;
	size_t left;		/* wanted shards that are not settled */
	bool cancelled;
	/* private to on*.c */
	bool given_up;		/* end at once */
	bool broken;		/* the engine failed; the reason was printed */
	bool kept;		/* --on-dir: the directory stays */
	bool made;		/* the directory is new */
	bool spent;		/* nobody needs the directory any more */
	int lock;		/* descriptor of the plan, or -1 */
	struct timer tick, late;
	int64_t asked_ms, refreshed_ms;
	struct on_follow *follow;
	struct merge *merge;
};

extern const struct on_engine on_kubernetes, on_local, on_parallel, on_slurm;

/*
 * For engines.  began: the job of the shard runs.  waits: it is in the queue,
 * perhaps again.  ended: with how it ended ("exit status 2", ""); a second call
 * has no effect.  broke: nothing more can be expected of the engine; the
 * message goes to the user, with the end of output, which may be empty.
 */
void on_began(struct on *, int64_t k);
void on_waits(struct on *, int64_t k);
void on_ended(struct on *, int64_t k, const char *why);
void on_broke(struct on *, const char *what, struct str output);

/* Prints a line to stderr, after "waza: ". */
void on_say(struct on *, const char *fmt, ...) PRINTF(2, 3);

/* Appends a word that sh reads as it is. */
void on_quote(struct buf *, const char *word);
/* Appends n words, quoted, with blanks between them. */
void on_quote_words(struct buf *, const char *const *v, size_t n);

/*
 * The script of engines whose jobs run on a file system that this process
 * shares: `job.sh K` runs shard K; without K, `number` is it, an expression of
 * sh such as "$SLURM_ARRAY_TASK_ID" (NULL: K is required).
 */
void on_put_script(struct on *, struct buf *, const char *number);

/* The range of the wanted shards as "1-3,5,8", in the arena. */
const char *on_range(const struct on *);

/* A list of words that grows in an arena; v ends with NULL. */
struct on_words {
	struct arena *arena;
	const char **v;
	size_t n, cap;
};
void on_add(struct on_words *, const char *word);
void on_add_all(struct on_words *, const struct opt_list *);

/*
 * A call of a program of the engine.  done() gets the child's status (-1: it
 * was killed or could not be started) and its output; errors are in proc.err.
 */
struct on_call {
	struct on *on;
	struct proc proc;
	bool busy;
	void (*done)(struct on *, struct on_call *, int status);
};
void on_call(struct on_call *, const char *const *argv);

/*
 * cmd_on_check: after the options were read; no effect without --on.  -1 with
 * the call's err.  cmd_on_plan: after the suites were loaded.  cmd_on_dry:
 * prints what would be submitted; an exit status.  cmd_on_run: everything; the
 * results are added to the job; an exit status.  cmd_on_cancel: after a signal.
 * cmd_on_close: after the reports.
 */
int cmd_on_check(struct cmd_run *);
int cmd_on_plan(struct cmd_run *);
int cmd_on_dry(struct cmd_run *);
int cmd_on_run(struct cmd_run *);
void cmd_on_cancel(struct cmd_run *);
void cmd_on_close(struct cmd_run *);

#endif

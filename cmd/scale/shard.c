/* SPDX-License-Identifier: ISC */
/*
 * The options of `waza run` that choose a shard: --shard K/N or auto, --shards,
 * --shard-by and --shard-trials.
 *
 * `auto` takes the shard from the environment that an engine sets for its
 * jobs.  Two engines at once (GNU parallel in a Slurm job) are an error: a
 * wrong guess would run some tasks twice and others never.
 */
#include "cmd/run.h"

#include <stdlib.h>
#include <string.h>

#include "run/shard.h"
#include "results/outcome.h"

enum { SHARDS_MAX = 1000000 };

/* What an engine sets; total NULL: it does not tell, --shards is needed. */
static const struct engine {
	const char *name, *index, *total;
	int64_t base;		/* index of the first shard */
	const char *advice;
} engines[] = {
	{ "Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", 1,
	    "submit an array: sbatch --array=1-N" },
	{ "Kubernetes", "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", 0,
	    "set JOB_COMPLETIONS or give --shards N" },
	{ "GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", 1,
	    "set `parallel: N` for the job" },
	{ "GNU parallel", "PARALLEL_SEQ", NULL, 1, "give --shards N" },
};

/* Digits only; strtol would accept blanks and signs. */
static bool
read_number(const char **p, int64_t *n)
{
	const char *s = *p;

	for (*n = 0; *s >= '0' && *s <= '9' && *n <= SHARDS_MAX; s++)
		*n = *n * 10 + (*s - '0');
	if (s == *p)
		return false;
	*p = s;
	return true;
}

/* A variable of the environment; 0: it is not set, -1 and *e: malformed. */
static int
read_env(const char *name, int64_t *n, struct err *e)
{
	const char *v = name != NULL ? getenv(name) : NULL, *p = v;

	if (v == NULL || *v == '\0')
		return 0;
	if (read_number(&p, n) && *p == '\0')
		return 1;
	return err_set(e, ERR_SCHEMA, "--shard auto: %s is \"%.40s\", not a "
	    "number", name, v);
}

static const struct engine *
find_engine(struct err *e)
{
	const struct engine *found = NULL;
	const char *v;
	size_t i;

	for (i = 0; i < COUNTOF(engines); i++) {
		v = getenv(engines[i].index);
		if (v == NULL || *v == '\0')
			continue;
		if (found != NULL) {
			err_set(e, ERR_SCHEMA, "--shard auto is ambiguous: "
			    "both %s (%s) and %s (%s) are set: give --shard "
			    "K/N", found->index, found->name,
			    engines[i].index, engines[i].name);
			return NULL;
		}
		found = &engines[i];
	}
	if (found == NULL)
		err_set(e, ERR_SCHEMA, "--shard auto: none of "
		    "SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, CI_NODE_INDEX "
		    "and PARALLEL_SEQ is set: give --shard K/N");
	return found;
}

/*
 * A Slurm array begins anywhere and has steps (--array=0-14:4).  With
 * --shards, a part of an array can be submitted again: ids are 1 to N.
 */
static int
settle_slurm(struct run_opts *o, bool given, struct err *e)
{
	int64_t min = 0, max = 0, step = 1;

	if (given)
		return 0;
	if (read_env("SLURM_ARRAY_TASK_MIN", &min, e) != 1 ||
	    read_env("SLURM_ARRAY_TASK_MAX", &max, e) != 1 ||
	    read_env("SLURM_ARRAY_TASK_STEP", &step, e) == -1)
		return e->code != ERR_NONE ? -1 : err_set(e, ERR_SCHEMA,
		    "--shard auto: SLURM_ARRAY_TASK_MIN or _MAX is not set: "
		    "give --shards N");
	if (step == 1 && o->shards > 1 && max > min &&
	    (max - min) % (o->shards - 1) == 0)
		step = (max - min) / (o->shards - 1);
	if (step < 1 || max < min || (max - min) / step + 1 != o->shards ||
	    o->shard < min || (o->shard - min) % step != 0)
		return err_set(e, ERR_SCHEMA, "--shard auto: the ids of this "
		    "Slurm array have no regular step: submit --array=1-N, or "
		    "give --shards N with ids from 1 to N");
	o->shard = (o->shard - min) / step + 1;
	return 0;
}

static int
read_auto(struct run_opts *o, int64_t shards, struct err *e)
{
	const struct engine *g = find_engine(e);

	if (g == NULL || read_env(g->index, &o->shard, e) == -1)
		return -1;
	o->shards = shards;
	if (shards == 0 && read_env(g->total, &o->shards, e) == -1)
		return -1;
	if (o->shards == 0)
		return err_set(e, ERR_SCHEMA, "--shard auto: %s is set, but "
		    "not the number of shards: %s", g->index, g->advice);
	if (g == &engines[0]) {
		if (settle_slurm(o, shards > 0, e) == -1)
			return -1;
	} else
		o->shard += 1 - g->base;
	if (o->shard >= 1 && o->shard <= o->shards)
		return 0;
	return err_set(e, ERR_SCHEMA, "--shard auto: %s is %s, but there are "
	    "%lld shards, numbered from %lld", g->index, getenv(g->index),
	    (long long)o->shards, (long long)g->base);
}

static int
read_shard(struct run_opts *o, const char *word, int64_t shards,
    struct err *e)
{
	const char *s = word;

	if (strcmp(word, "auto") == 0)
		return read_auto(o, shards, e);
	if (read_number(&s, &o->shard) && *s == '/' && (s++, read_number(&s,
	    &o->shards)) && *s == '\0' && o->shard >= 1 &&
	    o->shard <= o->shards && o->shards <= SHARDS_MAX) {
		if (shards == 0 || shards == o->shards)
			return 0;
		return err_set(e, ERR_SCHEMA, "--shard %s and --shards %lld "
		    "contradict each other", word, (long long)shards);
	}
	s = word;
	if (shards > 0 && read_number(&s, &o->shard) && *s == '\0' &&
	    o->shard >= 1 && o->shard <= shards) {
		o->shards = shards;
		return 0;
	}
	return err_set(e, ERR_SCHEMA, "--shard must be K/N with K from 1 to N, "
	    "K with --shards N, or auto, not \"%s\"", word);
}

/* count, hash, or time=FILE. */
static int
read_by(struct cmd_call *call, const char *word, struct run_opts *o)
{
	struct err *e = call->err;
	static const char *const words[] = { "count", "hash", "time=FILE" };
	int by;

	if (word == NULL)
		return 0;
	if (strncmp(word, "time=", 5) == 0 && word[5] != '\0') {
		o->shard_by = SHARD_TIME;
		o->shard_times = outcome_read(call->arena, word + 5, e);
		return o->shard_times == NULL ? -1 : 0;
	}
	if (strcmp(word, "time") == 0 || strcmp(word, "time=") == 0)
		return err_set(e, ERR_SCHEMA, "--shard-by time needs an "
		    "earlier results file: --shard-by time=FILE");
	by = cmd_choose("shard-by", word, words, COUNTOF(words), e);
	if (by == -1)
		return -1;
	o->shard_by = (enum shard_by)by;
	return 0;
}

int
cmd_shard_read(struct cmd_run *r)
{
	const struct cmd_shard_opt *o = &r->opt.shard;
	struct err *e = r->job.call->err;

	r->job.sharded = o->shard != NULL;
	if (o->shard == NULL) {
		if (o->shards == 0 && o->by == NULL && !o->trials)
			return 0;
		if (r->opt.on.engine != NULL)	/* they are for its shards */
			return read_by(r->job.call, o->by, &r->run);
		return err_set(e, ERR_SCHEMA, "--%s needs --shard or "
		    "--on",
		    o->shards != 0 ? "shards" : o->by != NULL ? "shard-by" :
		    "shard-trials");
	}
	r->run.shard_trials = o->trials;
	if (read_shard(&r->run, o->shard, o->shards, e) == -1)
		return -1;
	return read_by(r->job.call, o->by, &r->run);
}

/* SPDX-License-Identifier: ISC */
/* waza run --stop decided|ci=WIDTH and --max-trials. */
#include "cmd/run.h"

#include <string.h>

#include "json.h"

enum { MAX_TRIALS = 200 };	/* of --stop ci, the default */

static int
read_rule(struct cmd_run *r, const char *word)
{
	struct err *e = r->job.call->err;
	double x;

	if (strcmp(word, "decided") == 0) {
		r->run.stop.kind = STOP_DECIDED;
		return 0;
	}
	if (strncmp(word, "ci=", 3) != 0)
		return err_set(e, ERR_SCHEMA, "--stop must be \"decided\" or "
		    "\"ci=WIDTH\", not \"%.40s\"", word);
	if (!json_double(arena_json(r->job.call->arena, str_of(word + 3),
	    NULL), &x) || !(x >= 0.001 && x < 0.5))
		return err_set(e, ERR_SCHEMA, "--stop ci=WIDTH is half the "
		    "width of an interval, from 0.001 to below 0.5, not "
		    "\"%.40s\"", word + 3);
	r->run.stop = (struct stop_rule){ STOP_CI, x };
	return 0;
}

int
cmd_run_stop(struct cmd_run *r)
{
	const char *word = r->opt.stop.rule;
	int64_t most = r->opt.stop.max_trials;
	struct err *e = r->job.call->err;

	if (word != NULL && read_rule(r, word) == -1)
		return -1;
	if (most > 0 && r->run.stop.kind != STOP_CI)
		return err_set(e, ERR_SCHEMA, "--max-trials needs --stop "
		    "ci=WIDTH; --trials sets a fixed number");
	if (r->run.stop.kind == STOP_CI && r->run.trials > 0)
		return err_set(e, ERR_SCHEMA, "--trials and --stop %s "
		    "contradict each other: give --max-trials", word);
	if (word != NULL && r->run.shard_trials)
		return err_set(e, ERR_SCHEMA, "--stop needs all trials of a "
		    "task: remove --shard-trials");
	if (r->run.stop.kind == STOP_CI)
		r->run.trials = most > 0 ? most : MAX_TRIALS;
	return 0;
}

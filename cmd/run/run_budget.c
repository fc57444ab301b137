/* SPDX-License-Identifier: ISC */
/* waza run --budget-usd, --budget-tokens, --budget-time. */
#include "cmd/run.h"

#include <string.h>

#include "json.h"

/* The number that the word begins with, and what follows it. */
static bool
read_number(struct arena *a, const char *word, double *x, const char **rest)
{
	size_t n = strspn(word, "0123456789.");

	*rest = word + n;
	return n > 0 && json_double(arena_json(a, (struct str){ word, n },
	    NULL), x);
}

/* Seconds for one of a unit; 0: unknown. */
static double
unit(const char *word)
{
	static const struct {
		const char *word;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 },
		{ "d", 86400 } };
	size_t i;

	for (i = 0; i < COUNTOF(units); i++)
		if (strcmp(word, units[i].word) == 0)
			return units[i].seconds;
	return 0;
}

int
cmd_run_budget(struct cmd_run *r)
{
	const char *usd = r->opt.budget.usd, *time = r->opt.budget.time, *rest;
	struct arena *a = r->job.call->arena;
	struct err *e = r->job.call->err;
	struct run_purse *v = r->budget.v;
	double x;

	r->budget.of = "run";
	if (usd != NULL) {
		if (!read_number(a, usd, &x, &rest) || *rest != '\0' ||
		    !(x > 0 && x <= 1e9))
			return err_set(e, ERR_SCHEMA, "--budget-usd must be a "
			    "number of dollars above 0, not \"%.40s\"", usd);
		v[RUN_USD].limit = x;
	}
	if (time != NULL) {
		if (!read_number(a, time, &x, &rest) || !(x > 0) ||
		    !(unit(rest) > 0) || x * unit(rest) > 366 * 86400)
			return err_set(e, ERR_SCHEMA, "--budget-time must be "
			    "seconds, or a number with m, h or d, such as 10m, "
			    "not \"%.40s\"", time);
		v[RUN_SECONDS].limit = x * unit(rest);
	}
	v[RUN_TOKENS].limit = (double)r->opt.budget.tokens;
	if (usd != NULL || time != NULL || r->opt.budget.tokens > 0)
		r->run.budget = &r->budget;
	r->run.allow_unmetered = r->opt.budget.allow_unmetered;
	return 0;
}

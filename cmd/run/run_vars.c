/* SPDX-License-Identifier: ISC */
/* waza run --var NAME=VALUE: variables of templates. */
#include "cmd/run.h"

#include <string.h>

#include "json.h"

int
cmd_run_vars(struct cmd_run *r)
{
	const struct opt_list *l = &r->opt.execution.vars;
	struct arena *a = r->job.call->arena;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct json_error je;
	const char *eq;
	size_t i;

	if (l->n == 0)
		return 0;
	json_open(&o, '{');
	for (i = 0; i < l->n; i++) {
		eq = strchr(l->v[i], '=');
		if (eq == NULL || eq == l->v[i]) {
			buf_free(&b);
			return err_set(r->job.call->err, ERR_SCHEMA, "--var "
			    "must be NAME=VALUE, not \"%.100s\"", l->v[i]);
		}
		json_put_key(&o, (struct str){ l->v[i],
		    (size_t)(eq - l->v[i]) });
		json_put_str(&o, str_of(eq + 1));
	}
	json_close(&o, '}');
	r->vars = arena_json(a, arena_take(a, &b), &je);
	return r->vars != NULL ? 0 : err_set(r->job.call->err, ERR_SCHEMA,
	    "--var: %s", je.msg);
}

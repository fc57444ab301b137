/* SPDX-License-Identifier: ISC */
/* The controls of the command line, which replace those of a suite. */
#include "cmd/run.h"

int
cmd_run_controls(struct cmd_run *r)
{
	const struct opt_list *l = &r->opt.execution.controls;
	struct arena *a = r->job.call->arena;
	struct err *e = r->job.call->err;
	struct spec_control c;
	struct err why = { 0 };
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (!spec_control_word(str_of(l->v[i]), &c) &&
		    spec_read_control(a, l->v[i], &c, &why) == -1)
			return err_set(e, ERR_SCHEMA, "--control %s (use "
			    "null, echo, mutate or a file with an answer)",
			    why.msg);
		if (!spec_add_control(a, &r->controls, &c))
			return err_set(e, ERR_LIMIT, "too many controls");
	}
	return 0;
}

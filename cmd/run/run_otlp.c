/* SPDX-License-Identifier: ISC */
/* --otlp of `waza run`: the traces of all its runs. */
#include "cmd/run.h"

#include "otlp/otlp.h"

static struct otlp_opts
opts_of(const struct cmd_run *r)
{
	return (struct otlp_opts){ .to = r->opt.output.otlp,
		.version = cmd_version_number,
		.payloads = r->opt.output.otlp_payloads };
}

int
cmd_run_otlp_check(struct cmd_run *r)
{
	struct otlp_opts o = opts_of(r);

	if (o.to != NULL)
		return otlp_check(&o, r->job.call->err);
	if (o.payloads)
		return err_set(r->job.call->err, ERR_SCHEMA,
		    "--otlp-payloads needs --otlp URL or --otlp FILE");
	return 0;
}

int
cmd_run_otlp_open(struct cmd_run *r)
{
	struct otlp_opts o = opts_of(r);

	if (o.to == NULL)
		return 0;
	r->otlp = otlp_start(r->job.call->arena, &o, &r->job.procs,
	    &r->job.bus, r->job.call->err);
	return r->otlp != NULL ? 0 : -1;
}

void
cmd_run_otlp_flush(struct cmd_run *r)
{
	struct otlp_loss l;

	if (r->otlp == NULL)
		return;
	otlp_flush(r->otlp, &r->job.signals.signo);
	l = otlp_loss(r->otlp);
	if (l.dropped > 0)
		cmd_say("waza: warning: %zu of %zu spans and events of --otlp "
		    "were dropped: %.*s\n", l.dropped, l.all,
		    STRF(l.why.n > 0 ? l.why : STR("the queue was full")));
}

void
cmd_run_otlp_close(struct cmd_run *r)
{
	otlp_end(r->otlp);
}

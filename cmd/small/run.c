/* SPDX-License-Identifier: ISC */
/*
 * What `waza run` cannot do in a program that was built with SMALL=1: options
 * for a server, for jobs on other machines, for traces, --watch and --suggest
 * are refused by the checks, so that nothing else here has an effect.
 */
#include "cmd/run.h"

#include "cmd/client/run_on_server.h"
#include "cmd/scale/on.h"
#include "cmd/server/evalclients.h"

static int
refuse(struct cmd_run *r, const char *option)
{
	return err_set(r->job.call->err, ERR_SCHEMA, ERR_LEFT_OUT, option);
}

/* --on */
int
cmd_on_check(struct cmd_run *r)
{
	const struct cmd_on_opt *o = &r->opt.on;

	return o->engine != NULL || o->dir != NULL || o->options.n > 0 ?
	    refuse(r, "--on") : 0;
}

int
cmd_on_plan(struct cmd_run *r)
{
	return refuse(r, "--on");
}

int
cmd_on_dry(struct cmd_run *r)
{
	return cmd_on_run(r);
}

int
cmd_on_run(struct cmd_run *r)
{
	refuse(r, "--on");
	return CMD_ERROR;
}

void
cmd_on_cancel(struct cmd_run *r)
{
	(void)r;
}

void
cmd_on_close(struct cmd_run *r)
{
	(void)r;
}

/* --remote, --connect */
int
cmd_on_server_check(struct cmd_run *r)
{
	return refuse(r, "--remote");
}

struct cmd_on_server *
cmd_on_server_open(struct cmd_run *r)
{
	refuse(r, "--remote");
	cmd_complain(r->job.call->err);
	return NULL;
}

void
cmd_on_server_close(struct cmd_on_server *s)
{
	(void)s;
}

int
cmd_on_server_pass(struct cmd_on_server *s, const char *model,
    const char *output)
{
	(void)s;
	(void)model;
	(void)output;
	return CMD_ERROR;
}

void
cmd_on_server_cancel(struct cmd_on_server *s)
{
	(void)s;
}

void
cmd_on_server_hold(struct cmd_on_server *s, bool on)
{
	(void)s;
	(void)on;
}

int
cmd_on_server_each(struct cmd_call *c, int (*run)(struct cmd_call *))
{
	return run(c);
}

/* --http; also the evaluation clients of a server, which has none */
int
cmd_evalclients_open(struct cmd_run *r)
{
	return r->opt.server.http.n > 0 ? refuse(r, "--http") : 0;
}

void
cmd_evalclients_close(struct cmd_run *r)
{
	(void)r;
}

void
cmd_evalclients_fini(struct cmd_evalclients *c)
{
	(void)c;
}

/* --otlp */
int
cmd_run_otlp_check(struct cmd_run *r)
{
	return r->opt.output.otlp != NULL || r->opt.output.otlp_payloads ?
	    refuse(r, "--otlp") : 0;
}

int
cmd_run_otlp_open(struct cmd_run *r)
{
	return cmd_run_otlp_check(r);
}

void
cmd_run_otlp_flush(struct cmd_run *r)
{
	(void)r;
}

void
cmd_run_otlp_close(struct cmd_run *r)
{
	(void)r;
}

/* --send; --suggest, --http are checked at the same time */
int
cmd_run_send_check(struct cmd_run *r)
{
	if (r->opt.server.send != NULL)
		return refuse(r, "--send");
	if (r->opt.output.suggest)
		return refuse(r, "--suggest");
	return cmd_evalclients_open(r);
}

int
cmd_run_send_open(struct cmd_run *r)
{
	return cmd_run_send_check(r);
}

void
cmd_run_send_end(struct cmd_run *r)
{
	(void)r;
}

void
cmd_run_send_close(struct cmd_run *r)
{
	(void)r;
}

int
cmd_run_suggest(struct cmd_run *r, const struct report_suites *all)
{
	(void)all;
	return refuse(r, "--suggest");
}

int
cmd_run_watch(struct cmd_run *r, int (*once)(struct cmd_run *))
{
	(void)once;
	refuse(r, "--watch");
	return cmd_complain(r->job.call->err);
}

/* SPDX-License-Identifier: ISC */
/*
 * Persistent workers of executor `command`: children that each answer many
 * trials, one at a time.  A worker reads and writes one JSON object per line:
 *
 *	> {"id": 1, "task_id": "", "prompt": "", "model": "", "workspace": "",
 *	   "run_id": "", "trial": 1, "attempt": 1}
 *	< {"output": "", "tool_calls": [], "usage": {}, "skills": []}
 *
 * A request to a judge also has "role": "judge" and "sample": 1.  "cwd",
 * "environment" and "skill_directories" are present if the task has them,
 * "mcp_config", a file, if it has MCP servers.
 *
 * A worker is idle, busy with one job, or terminated.  Cancelling a job
 * terminates its worker, and so does an invalid line: otherwise the next line
 * might answer an older request.  An id in an answer has to match.
 */
#include "agent/agent_internal.h"

#include <string.h>

#include "base/os_path.h"
#include "base/os_spawn.h"
#include "io/proc.h"
#include "json.h"
#include "lib/mask/mask.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

enum { CLOSE_GRACE_MS = 2000 };	/* from end of stdin to SIGTERM */

struct worker {
	struct pool *pool;
	struct proc proc;
	struct agent_job *job;		/* NULL: idle */
	const char *mcp;		/* file with its MCP servers, or NULL */
	struct buf line;		/* of its stdout */
	struct proc_tail tail;		/* of its stderr */
	int64_t request_id;		/* of the last request */
	size_t answers;
	bool alive, cancelled;
	bool invalid;			/* it wrote an invalid line */
};

struct pool {
	struct agent *agent;
	struct worker *v;		/* n places */
	size_t n, alive;
	bool closing;
	struct timer grace;
	struct mask secrets;		/* of our environment */
};

int
agent_pool_open(struct agent *a, struct err *e)
{
	struct pool *p = NEW(a->arena, struct pool);

	(void)e;
	p->agent = a;
	mask_add_env(a->arena, &p->secrets, os_env(a->arena, NULL, 0));
	p->n = a->workers;
	p->v = NEW_N(a->arena, struct worker, p->n);
	a->state = p;
	return 0;
}

/* Other programs get these from their environment and cwd. */
static void
put_environment(struct json_out *o, const struct spec_suite *s,
    const struct agent_request *r)
{
	const struct json *env = r->task->def->inputs.environment;
	struct field_strs dirs;
	struct arena a = { 0 };
	size_t i;

	if (r->cwd != NULL)
		json_put_member_str(o, "cwd", str_of(r->cwd));
	if (json_first(env) != NULL)
		json_put_member(o, "environment", env);
	if (r->no_skills || r->task->def->skill_directories.n == 0)
		return;
	dirs = spec_skill_dirs(&a, s, r->task);
	json_open_member(o, "skill_directories", '[');
	for (i = 0; i < dirs.n; i++)
		json_put_str(o, str_of(os_absolute(&a, dirs.v[i].p)));
	json_close(o, ']');
	arena_free(&a);
}

static void
send_request(struct worker *w, const struct agent_request *r)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	w->line.n = 0;			/* drop output before the request */
	json_open(&o, '{');
	json_put_member_int(&o, "id", ++w->request_id);
	json_put_member_str(&o, "task_id", r->task->id);
	json_put_member_str(&o, "prompt", r->prompt);
	json_put_member_str(&o, "model", r->model);
	if (r->workspace != NULL)
		json_put_member_str(&o, "workspace", str_of(r->workspace));
	json_put_member_str(&o, "run_id", str_of(r->run_id));
	json_put_member_int(&o, "trial", r->trial);
	json_put_member_int(&o, "attempt", r->attempt);
	put_environment(&o, w->pool->agent->suite, r);
	if (w->mcp != NULL)
		json_put_member_cstr(&o, "mcp_config", w->mcp);
	if (r->sample > 0) {
		json_put_member_str(&o, "role", r->responds ? STR("responder") :
		    STR("judge"));
		json_put_member_int(&o, "sample", r->sample);
	}
	json_close(&o, '}');
	buf_putc(&b, '\n');
	proc_write(&w->proc, buf_str(&b));
	buf_free(&b);
}

static void
finish(struct worker *w)
{
	struct agent_job *j = w->job;

	w->job = NULL;
	agent_mask(j, &w->pool->secrets);
	agent_done(j);
}

/* Whether its id, if any, is that of the request. */
static bool
id_matches(const struct worker *w, const struct json *v)
{
	const struct json *id = json_getc(v, "id");
	int64_t n;

	return id == NULL || (json_int(id, &n) && n == w->request_id);
}

/* Unlike a script, a worker may do things that it does not mention. */
static void
mark_unknown(struct agent_job *j, const struct json *calls)
{
	const struct json *v = json_first(calls);
	struct answer_call *c;

	for (c = j->ans.calls; c != NULL && v != NULL; c = c->next) {
		c->no_arguments = json_getc(v, "arguments") == NULL;
		c->no_result = json_getc(v, "result") == NULL;
		v = v->next;
	}
}

static void
read_answer(struct worker *w, struct str line)
{
	struct agent_job *j = w->job;
	struct agent_script s = { .output = STR("") };
	struct json_error je;
	struct json *v;

	v = arena_json(j->arena, arena_str(j->arena, line), &je);
	if (v != NULL && v->type == JSON_OBJECT && id_matches(w, v) &&
	    agent_read_script(j->arena, v, &s) == 0) {
		agent_play(j, &s);
		mark_unknown(j, s.tool_calls);
		j->ans.skills_known |= json_is_set(json_getc(v, "skills"));
		if (s.files != NULL && j->ans.fault == ANSWER_OK)
			agent_write_files(j, s.files);
		j->ans.stderr_tail = proc_tail_get(j->arena, &w->tail);
		w->answers++;
		finish(w);
		return;
	}
	if (v == NULL)
		agent_fail(j, ANSWER_FAILED,
		    "the worker's answer is not JSON: %s at column %u", je.msg,
		    je.col);
	else
		agent_fail(j, ANSWER_FAILED, "the worker's line does "
		    "not answer the request");
	w->invalid = true;
	proc_cancel(&w->proc);		/* on_done finishes the job */
}

static void
on_out(void *arg, struct str s)
{
	struct worker *w = arg;
	const char *nl;
	struct str line;

	w->line.max = PROC_OUT_MAX;
	buf_put(&w->line, s);
	if (w->line.full) {		/* the line is too long */
		proc_cancel(&w->proc);
		return;
	}
	while (w->line.n > 0 && !w->invalid && !w->cancelled &&
	    (nl = memchr(w->line.p, '\n', w->line.n)) != NULL) {
		line = (struct str){ w->line.p, (size_t)(nl - w->line.p) };
		if (w->job != NULL && line.n > 0)
			read_answer(w, line);
		if (w->line.n > 0)	/* not dropped by send_request */
			buf_eat(&w->line, line.n + 1);
	}
}

static void
on_err(void *arg, struct str s)
{
	struct worker *w = arg;

	proc_tail_add(&w->tail, s);
}

static void on_done(void *);

static int
start_worker(struct pool *p, struct worker *w, struct agent_job *j,
    struct err *e)
{
	struct agent *a = p->agent;
	struct proc_opts o = { .in_open = true, .on_out = on_out,
		.on_err = on_err, .done = on_done, .arg = w };

	*w = (struct worker){ .pool = p };
	o.argv = agent_argv(j->arena, a->suite, a->suite->config.command,
	    j->req->vars, e);
	o.env = o.argv == NULL ? NULL :
	    agent_env(j->arena, a->suite, j->req, false, e);
	if (o.env == NULL)
		return -1;
	o.env = agent_mocks_env(a, j->arena, NULL, o.env);
	o.bounds = agent_bounds(a, j->arena, j->req, o.env);
	if (proc_start(a->procs, &w->proc, &o, e) == -1)
		return -1;
	w->alive = true;
	p->alive++;
	return 0;
}

/*
 * A worker may exit between requests.  If it has answered before, and has
 * written nothing of this answer, the request goes to a new worker.
 */
static bool
retry_request(struct worker *w, struct agent_job *j)
{
	const char *mcp = w->mcp;
	struct err e;

	if (w->answers == 0 || w->line.n > 0 || w->cancelled || w->invalid ||
	    w->pool->closing || w->proc.res.truncated)
		return false;
	buf_free(&w->line);
	proc_fini(&w->proc);
	if (start_worker(w->pool, w, j, &e) == -1) {
		agent_fail(j, ANSWER_INFRA, "%s", e.msg);
		finish(w);
		return true;
	}
	w->job = j;
	w->mcp = mcp;
	send_request(w, j->req);
	return true;
}

static void
judge_end(struct worker *w, struct agent_job *j)
{
	struct str error = j->ans.error;
	struct str tail = proc_tail_get(j->arena, &w->tail);

	w->proc.res.truncated |= w->line.full;
	agent_set_exit(j, &w->proc, tail);
	if (w->invalid && !w->cancelled) {
		j->ans.fault = ANSWER_FAILED;
		j->ans.error = error;
	} else if (j->ans.fault == ANSWER_OK)
		agent_fail(j, ANSWER_FAILED,
		    "the worker exited without an answer");
}

static void
on_done(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;
	struct agent_job *j = w->job;

	w->alive = false;
	p->alive--;
	if (j != NULL && retry_request(w, j))
		return;
	if (j != NULL)
		judge_end(w, j);
	buf_free(&w->line);
	proc_fini(&w->proc);
	if (j != NULL)
		finish(w);
	if (p->closing && p->alive == 0) {
		timer_stop(p->agent->procs->loop, &p->grace);
		p->agent->closed(p->agent->arg);
	}
}

/* An idle worker, else a place for a new one, or NULL. */
static struct worker *
pick(struct pool *p)
{
	struct worker *w, *empty = NULL;

	for (w = p->v; w < p->v + p->n; w++) {
		if (w->alive && w->job == NULL && !w->cancelled)
			return w;
		if (!w->alive && empty == NULL)
			empty = w;
	}
	return empty;
}

enum agent_status
agent_pool_start(struct agent *a, struct agent_job *j)
{
	struct pool *p = a->state;
	struct worker *w = pick(p);
	struct err e = { 0 };

	if (w == NULL) {		/* all are terminating */
		return agent_fail(j, ANSWER_INFRA, "no worker is free");
	}
	if (!w->alive && start_worker(p, w, j, &e) == -1)
		return agent_fail(j, ANSWER_INFRA, "%s", e.msg);
	w->mcp = NULL;
	if (agent_mcp_any(a->suite, j->req) && (w->mcp = agent_mcp_file(
	    j->arena, a->suite, j->req, &e)) == NULL)
		return agent_fail(j, ANSWER_INFRA, "%s", e.msg);
	w->job = j;
	w->tail.n = 0;
	j->state = w;
	send_request(w, j->req);
	return AGENT_LATER;
}

void
agent_pool_cancel(struct agent *a, struct agent_job *j)
{
	struct worker *w = j->state;

	(void)a;
	w->cancelled = true;
	proc_cancel(&w->proc);
}

static void
on_grace(void *arg)
{
	struct pool *p = arg;
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->v[i].alive)
			proc_cancel(&p->v[i].proc);
}

bool
agent_pool_close(struct agent *a)
{
	struct pool *p = a->state;
	size_t i;

	if (p == NULL || p->alive == 0)
		return true;
	p->closing = true;
	for (i = 0; i < p->n; i++)
		if (p->v[i].alive)
			proc_close_in(&p->v[i].proc);
	p->grace.fn = on_grace;
	p->grace.arg = p;
	timer_start(a->procs->loop, &p->grace, CLOSE_GRACE_MS);
	return false;
}

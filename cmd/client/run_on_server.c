/* SPDX-License-Identifier: ISC */
/*
 * waza run --remote: a run on a server.
 *
 * The server sends the events of the run, and they go to the job's bus like
 * those of a local run.  At the end the server's results file is fetched, and
 * all reports are made from it; if the suite can be read here as well, it
 * provides the places of the graders.  The server decides whether the run
 * passed.
 *
 * The last event, eval_complete, is emitted after the results were fetched.
 */
#include "cmd/client/run_on_server.h"

#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os_path.h"
#include "cmd/client/client.h"
#include "cmd/client/client_command.h"
#include "cmd/run.h"
#include "json.h"
#include "results/outcome.h"
#include "results/result.h"
#include "suite/spec.h"

enum { CANCEL_MS = 10000 };	/* the server's time to end a run */

struct cmd_on_server {
	struct cmd_job *job;
	const struct cmd_run_opt *opt;
	struct client client;
	struct client_opts opts;
	struct spec_suite *suite;	/* as far as it is known here */
	const char *path;	/* of the suite, for the server */
	/* the request that was sent last: */
	bool answered;
	struct json *result;	/* in the call's arena; or NULL */
	/* the current pass: */
	struct str run_id;
	bool complete;		/* eval.complete was received */
	const struct json *last;	/* eval_complete, or NULL */
	bool cancelled;
	struct timer late;	/* the server did not end in CANCEL_MS */
	bool given_up;
	struct result_run *runs[SPEC_CELLS_MAX];
	size_t nruns;
};

/*
 * Options.
 */
int
cmd_on_server_check(struct cmd_run *run)
{
	const struct cmd_run_opt *o = &run->opt;
	const struct {
		bool given;
		const char *name;
	} local[] = {
		{ o->selection.baseline, "baseline" },
		{ o->selection.baseline_ref != NULL, "baseline-ref" },
		{ o->selection.no_skills, "no-skills" },
		{ o->selection.no_triggers, "no-triggers" },
		{ o->reuse.resume, "resume" },
		{ o->reuse.retry_errors, "retry-errors" },
		{ o->reuse.rerun_failed, "rerun-failed" },
		{ o->reuse.record != NULL, "record" },
		{ o->reuse.replay != NULL, "replay" },
		{ o->reuse.cache, "cache" },
		{ o->reuse.cache_all, "cache-all" },
		{ o->reuse.no_cache, "no-cache" },
		{ o->reuse.cache_dir != NULL, "cache-dir" },
		{ o->execution.keep, "keep-workspace" },
		{ o->job.update, "update-snapshots" },
		{ o->shard.shard != NULL, "shard" },
		{ o->execution.parallel, "parallel" },
		{ o->execution.skip_graders, "skip-graders" },
		{ o->execution.controls.n > 0, "control" },
		{ o->selection.discover != NULL, "discover" },
		{ o->output.output_dir != NULL, "output-dir" },
		{ o->output.recommend, "recommend" },
		{ o->output.suggest, "suggest" },
		{ o->selection.words.n > 0, "keyword" },
		{ o->selection.limit > 0, "limit" },
		{ o->selection.list, "list" },
		{ o->selection.dry_run, "dry-run" },
		{ o->selection.watch, "watch" },
		{ o->selection.changed != NULL, "changed" },
		{ o->execution.max_failures > 0, "max-failures" },
		{ o->execution.vars.n > 0, "var" },
		{ o->execution.seed > 0, "seed" },
		{ o->stop.rule != NULL, "stop" },
		{ run->run.budget != NULL, "budget-usd, -tokens or -time" },
		{ o->budget.allow_unmetered, "allow-unmetered" },
		{ o->job.strict, "strict" },
		{ o->output.transcript_dir != NULL, "transcript-dir" },
		{ o->server.http.n > 0, "http" },
		{ o->output.otlp != NULL, "otlp" },
	};
	size_t i;

	for (i = 0; i < COUNTOF(local); i++)
		if (local[i].given)
			return err_set(run->job.call->err, ERR_SCHEMA, "--%s "
			    "cannot be used with --remote", local[i].name);
	return 0;
}

/*
 * Paths: a server on this machine sees the same files, but may have another
 * working directory.
 */
static bool
is_local(const struct client_target *t)
{
	return t->path != NULL || strcmp(t->host, "localhost") == 0 ||
	    strncmp(t->host, "127.", 4) == 0 || strcmp(t->host, "::1") == 0;
}

static const char *
server_path(struct cmd_on_server *r, const char *path)
{
	const char *absolute = !is_local(&r->opts.target) ||
	    access(path, F_OK) == -1 ? NULL :
	    os_absolute(r->job->call->arena, path);

	return absolute != NULL ? absolute : path;
}

/*
 * Requests.
 */
static struct json *
read_text(struct cmd_on_server *r, struct buf *b)
{
	struct arena *a = r->job->call->arena;
	struct json *v = arena_json(a, arena_str(a, buf_str(b)), NULL);

	buf_free(b);
	return v;
}

static struct json *
copy(struct cmd_on_server *r, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_put(&o, v);
	return read_text(r, &b);
}

/* One event for each problem of a suite; otherwise one for the error. */
static void
emit_error(struct cmd_on_server *r, const struct json *error)
{
	const struct json *data = json_getc(error, "data");
	const struct json *v = json_first(json_getc(data, "errors"));
	struct event ev = { .type = EVENT_ERROR, .problem = {
		.file = json_str(data, "path"),
		.error_type = STR("eval_load_failed") } };
	struct buf b = { 0 };

	for (; v != NULL; v = v->next) {
		ev.problem.message = v->type == JSON_STRING ? json_text(v) :
		    STR("?");
		event_emit(&r->job->bus, &ev);
	}
	if (ev.seq > 0)
		return;
	client_put_error(&b, error);
	b.n = (size_t)((char *)memchr(b.p, '\n', b.n) - b.p);
	ev.problem.error_type = STR("remote_failed");
	ev.problem.message = buf_str(&b);
	event_emit(&r->job->bus, &ev);
	buf_free(&b);
}

/* Takes the id of a run at once: its events may follow immediately. */
static void
on_answer(void *arg, const struct client_answer *a)
{
	struct cmd_on_server *r = arg;

	r->answered = true;
	r->result = NULL;
	if (a->error != NULL)
		emit_error(r, a->error);
	else if (a->lost == NULL)
		r->result = copy(r, a->result);
	if (r->run_id.n == 0)
		r->run_id = json_str(r->result, "runId");
}

static bool
is_over(const struct cmd_on_server *r)
{
	return r->given_up || r->client.state == CLIENT_OVER;
}

/* CMD_ERROR: the connection is lost, and the call's err describes why. */
static int
wait_for(struct cmd_on_server *r, const bool *done)
{
	struct err *e = r->job->call->err;

	while (!*done && !is_over(r))
		if (cmd_turn(r->job->loop, e) == -1)
			return CMD_ERROR;
	if (*done)
		return CMD_OK;
	if (r->client.state == CLIENT_OVER)
		*e = r->client.err;
	else
		err_set(e, ERR_TIMEOUT, "the server did not end the run "
		    "within %d s", CANCEL_MS / 1000);
	return CMD_ERROR;
}

/* CMD_ERROR: no result; an error of the server was reported as an event. */
static int
ask(struct cmd_on_server *r, const char *method, struct str params)
{
	struct err *e = r->job->call->err;

	r->answered = false;
	r->result = NULL;
	*e = (struct err){ 0 };
	client_ask(&r->client, method, params, on_answer, r);
	if (wait_for(r, &r->answered) != CMD_OK)
		return CMD_ERROR;
	if (r->client.state == CLIENT_OVER && r->result == NULL)
		*e = r->client.err;
	return r->result != NULL ? CMD_OK : CMD_ERROR;
}

static void
put_param(struct buf *b, const char *key, struct str value)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	json_open(&o, '{');
	json_put_member_str(&o, key, value);
	json_close(&o, '}');
}

static int
ask_about(struct cmd_on_server *r, const char *method, const char *key,
    struct str value)
{
	struct buf b = { 0 };
	int status;

	put_param(&b, key, value);
	status = ask(r, method, buf_str(&b));
	buf_free(&b);
	return status;
}

/*
 * Events.
 */
static void
on_note(void *arg, const struct json *message, struct str method,
    const struct json *params)
{
	struct cmd_on_server *r = arg;
	struct event ev;

	(void)message;
	if (r->run_id.n == 0 || !str_eq(json_str(params, "runId"), r->run_id))
		return;
	if (str_is(method, "eval.complete"))
		r->complete = true;
	if (!str_is(method, "eval.event") || !event_read(params, &ev))
		return;
	if (ev.type == EVENT_EVAL_COMPLETE)
		r->last = copy(r, params);
	else
		event_emit(&r->job->bus, &ev);
}

static void
emit_last(struct cmd_on_server *r, const char *output)
{
	struct event ev;

	if (r->last == NULL || !event_read(r->last, &ev))
		return;
	if (output != NULL)
		ev.totals.results = str_of(output);
	event_emit(&r->job->bus, &ev);
}

/*
 * The suite, as far as reports need it.
 */
static void
take_metrics(struct arena *a, struct spec_suite *s, const struct json *v)
{
	struct spec_metric *m = NEW_N(a, struct spec_metric,
	    v != NULL ? json_count(v) : 0);
	size_t n = 0;

	for (v = json_first(v); v != NULL; v = v->next) {
		if (str_is(json_key(v), "pass_threshold")) {
			(void)json_double(v, &s->config.pass_threshold);
			continue;
		}
		m[n].name = json_key(v);
		m[n].enabled = true;
		if (json_getc(v, "threshold") != NULL)
			(void)json_double(json_getc(v, "threshold"),
			    &m[n].threshold);
		n++;
	}
	s->metrics.v = m;
	s->metrics.n = n;
}

/* Loads the suite here if it can be read; otherwise asks the server. */
static int
learn_suite(struct cmd_on_server *r)
{
	struct cmd_call *c = r->job->call;
	struct spec_notes notes = { .arena = c->arena,
		.trust = r->opt->execution.trust };
	const struct json *v;
	double d;

	if (r->suite != NULL)
		return CMD_OK;
	agent_expect(&notes, str_of(r->opt->execution.executor != NULL ?
	    r->opt->execution.executor : ""));
	if (is_local(&r->opts.target) && access(r->path, R_OK) == 0)
		r->suite = spec_load(c->arena, cmd_suite_path(c), &notes);
	if (r->suite != NULL)
		return CMD_OK;
	if (ask_about(r, "eval.get", "path", str_of(r->path)) != CMD_OK)
		return CMD_ERROR;
	r->suite = NEW(c->arena, struct spec_suite);
	*r->suite = (struct spec_suite){ .path = r->path,
		.name = json_str(r->result, "name"),
		.skill = json_str(r->result, "skill"),
		.config = { .pass_threshold = 1, .task_pass_threshold = 1 } };
	v = json_getc(json_getc(r->result, "config"), "task_pass_threshold");
	if (v != NULL && json_double(v, &d))
		r->suite->config.task_pass_threshold = d;
	take_metrics(c->arena, r->suite, json_getc(r->result, "metrics"));
	return CMD_OK;
}

/* Starts at *at, because the server keeps the order of the suite. */
static const struct spec_task *
find_task(const struct spec_suite *s, struct str id, size_t *at)
{
	size_t i, k;

	for (i = 0; i < s->ntasks; i++) {
		k = (*at + i) % s->ntasks;
		if (str_eq(s->tasks[k].id, id)) {
			*at = k + 1;
			return &s->tasks[k];
		}
	}
	return NULL;
}

/* The suite with exactly the tasks of this run, also those not started. */
static struct spec_suite *
suite_of(struct cmd_on_server *r, const struct json *tasks)
{
	struct arena *a = r->job->call->arena;
	struct spec_suite *s = NEW(a, struct spec_suite);
	const struct spec_task *known;
	struct spec_def *none = NEW(a, struct spec_def);
	const struct json *v;
	struct spec_task *t;
	size_t at = 0;

	*s = *r->suite;
	s->ntasks = 0;
	s->tasks = NEW_N(a, struct spec_task,
	    tasks != NULL ? json_count(tasks) : 0);
	for (v = json_first(tasks); v != NULL; v = v->next) {
		t = &s->tasks[s->ntasks++];
		known = find_task(r->suite, json_str(v, "id"), &at);
		*t = known != NULL ? *known : (struct spec_task){ .def = none };
		t->id = json_str(v, "id");
		t->name = json_str(v, "name");
	}
	return s;
}

/*
 * A pass.
 */
/* Each writes a parameter, unless its option was not given. */
static void
put_text(struct json_out *o, const char *key, const char *s)
{
	if (s != NULL)
		json_put_member_cstr(o, key, s);
}

static void
put_list(struct json_out *o, const char *key, const struct opt_list *l)
{
	size_t i;

	if (l->n == 0)
		return;
	json_open_member(o, key, '[');
	for (i = 0; i < l->n; i++)
		json_put_cstr(o, l->v[i]);
	json_close(o, ']');
}

static void
put_number(struct json_out *o, const char *key, int64_t n)
{
	if (n != 0)
		json_put_member_int(o, key, n);
}

static void
put_params(struct cmd_on_server *r, const char *model, struct buf *b)
{
	const struct cmd_run_opt *p = r->opt;
	struct json_out o = { .put = buf_sink, .ctx = b };

	json_open(&o, '{');
	put_text(&o, "path", r->path);
	put_text(&o, "executor", p->execution.executor);
	put_text(&o, "model", model);
	put_text(&o, "judge_model", p->job.judge_model);
	if (p->execution.context_dir != NULL)
		put_text(&o, "context_dir",
		    server_path(r, p->execution.context_dir));
	put_list(&o, "tasks", &p->job.tasks);
	put_list(&o, "tags", &p->selection.tags);
	put_number(&o, "trials", p->execution.trials);
	put_number(&o, "workers", p->job.workers);
	put_number(&o, "timeout", p->execution.timeout);
	if (p->execution.fail_fast)
		json_put_member_bool(&o, "fail_fast", true);
	json_put_member_bool(&o, "events", true);
	json_close(&o, '}');
}

static void
on_late(void *arg)
{
	struct cmd_on_server *r = arg;

	r->given_up = true;
}

void
cmd_on_server_cancel(struct cmd_on_server *r)
{
	struct buf b = { 0 };

	if (r->cancelled || r->run_id.n == 0 ||
	    r->client.state != CLIENT_READY) {
		r->given_up = true;
		return;
	}
	r->cancelled = true;
	put_param(&b, "runId", r->run_id);
	client_ask(&r->client, "run.cancel", buf_str(&b), NULL, NULL);
	buf_free(&b);
	timer_start(r->job->loop, &r->late, CANCEL_MS);
}

void
cmd_on_server_hold(struct cmd_on_server *r, bool on)
{
	client_hold(&r->client, on);
}

/* The result of run.status in the form of a results file. */
static struct json *
brief(struct cmd_on_server *r, const struct json *sum)
{
	static const char *const keys[] = { "id", "name", "status", "score" };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct json *v;
	size_t i;

	json_open(&o, '{');
	json_open_member(&o, "summary", '{');
	json_put_member(&o, "duration_ms", json_getc(sum, "durationMs"));
	json_close(&o, '}');
	json_open_member(&o, "tasks", '[');
	v = json_first(json_getc(sum, "tasks"));
	for (; v != NULL; v = v->next) {
		json_open(&o, '{');
		for (i = 0; i < COUNTOF(keys); i++)
			json_put_member(&o, keys[i], json_getc(v, keys[i]));
		json_put_member(&o, "error_class", json_getc(v, "errorClass"));
		json_close(&o, '}');
	}
	json_close(&o, ']');
	json_close(&o, '}');
	return read_text(r, &b);
}

/* Sets the call's err to the reason why a run has no results. */
static void
set_no_results(struct cmd_on_server *r, const struct json *status)
{
	struct str why = json_str(status, "error");
	struct buf b = { 0 };

	client_put_note(&b, why.n > 0 ? why : STR("no reason given"), NULL);
	err_set(r->job->call->err, ERR_SCHEMA, "the server has no results: "
	    "%.*s", (int)(b.n < 140 ? b.n - 1 : 140), b.p);
	buf_free(&b);
}

/*
 * From the results file; if the server cannot send it, e.g. because it is too
 * large, from the summary.  An output file needs the results file.
 */
static struct result_run *
fetch_results(struct cmd_on_server *r, const char *output)
{
	struct cmd_call *c = r->job->call;
	struct spec_suite *s;
	struct outcome *o;
	const struct json *sum;
	bool whole;

	if (ask_about(r, "run.status", "runId", r->run_id) != CMD_OK)
		return NULL;
	sum = json_getc(r->result, "result");
	if (sum == NULL || sum->type != JSON_OBJECT) {
		set_no_results(r, r->result);
		return NULL;
	}
	if (!cmd_is_true(sum, "ok"))
		r->job->server_failed = true;
	s = suite_of(r, json_getc(sum, "tasks"));
	whole = ask_about(r, "run.result", "runId", r->run_id) == CMD_OK;
	if (is_over(r) || (!whole && output != NULL))
		return NULL;
	o = outcome_of(c->arena, whole ? r->result : brief(r, sum),
	    "the server's results", c->err);
	return o == NULL ? NULL : outcome_run(c->arena, o, s);
}

static int
take_results(struct cmd_on_server *r, const char *output)
{
	struct cmd_job *j = r->job;
	struct result_run *run = fetch_results(r, output);

	if (run == NULL)
		return CMD_ERROR;
	r->runs[r->nruns++] = run;
	cmd_job_add_results(j, run, output);
	if (output != NULL && result_write(run, output, j->call->err) == -1)
		return CMD_ERROR;
	emit_last(r, output);
	return CMD_OK;
}

int
cmd_on_server_pass(struct cmd_on_server *r, const char *model,
    const char *output)
{
	struct buf b = { 0 };
	int status;

	r->run_id = STR("");
	r->complete = false;
	r->last = NULL;
	*r->job->call->err = (struct err){ 0 };
	if (learn_suite(r) != CMD_OK)
		return CMD_ERROR;
	put_params(r, model, &b);
	status = ask(r, "eval.run", buf_str(&b));
	buf_free(&b);
	if (status != CMD_OK)
		return status;
	status = wait_for(r, &r->complete);
	timer_stop(r->job->loop, &r->late);
	return status != CMD_OK ? status : take_results(r, output);
}

struct cmd_on_server *
cmd_on_server_open(struct cmd_run *run)
{
	struct cmd_job *j = &run->job;
	struct cmd_on_server *r = NEW(j->call->arena, struct cmd_on_server);
	struct cmd_client_opt o = { .connect = run->opt.server.connect,
		.token_file = run->opt.server.token_file,
		.framing = run->opt.server.framing,
		.config_path = run->opt.execution.config_path,
		.config_json = run->opt.execution.config_json,
		.trust = run->opt.execution.trust };

	r->job = j;
	r->opt = &run->opt;
	r->late = (struct timer){ .fn = on_late, .arg = r };
	if (cmd_client_find(j->call, &o, &r->opts) == -1)
		return NULL;
	r->path = server_path(r, j->call->nargs > 0 ? j->call->args[0] :
	    "eval.yaml");
	r->opts.loop = j->loop;
	r->opts.notify = on_note;
	r->opts.arg = r;
	client_start(&r->client, &r->opts);
	return r;
}

void
cmd_on_server_close(struct cmd_on_server *r)
{
	size_t i;

	if (r == NULL)
		return;
	timer_stop(r->job->loop, &r->late);
	client_fini(&r->client);
	for (i = 0; i < r->nruns; i++)
		result_close(r->runs[i]);
}

int
cmd_on_server_each(struct cmd_call *c, int (*run)(struct cmd_call *))
{
	const struct cmd_run_opt *o = c->opt;
	const char *one = o->job.output != NULL ? "output" :
	    o->job.reporters.n > 0 ? "reporter" : o->output.stream ?
	    "stream-json" : NULL;
	struct cmd_call call = *c;
	int status, worst = CMD_OK;
	size_t i;

	if (c->nargs < 2 || (!o->server.on_server &&
	    o->server.connect == NULL))
		return run(c);
	if (one != NULL) {
		err_set(c->err, ERR_SCHEMA, "--%s is for one suite: call waza "
		    "run --remote for each suite", one);
		return cmd_complain(c->err);
	}
	call.nargs = 1;
	for (i = 0; i < c->nargs && worst < 128; i++) {
		call.args = c->args + i;
		status = run(&call);
		worst = status > worst ? status : worst;
	}
	return worst;
}

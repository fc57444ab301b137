/* SPDX-License-Identifier: ISC */
/*
 * waza grade --self-test: examples of good and bad answers for the graders.
 * Programs and judges of graders run as for an agent's answer, hooks do not.
 */
#include "cmd/run/self_test.h"

#include <unistd.h>

#include "cmd/job.h"
#include "json.h"
#include "report/report.h"
#include "run/control/control.h"
#include "suite/spec.h"

struct self_test {
	struct cmd_job *job;
	struct control_tests tests;
	bool done;
	size_t right, wrong, unknown;
};

static void
on_done(void *arg)
{
	((struct self_test *)arg)->done = true;
}

static bool
is_right(const struct control_test *t)
{
	return t->verdict == (t->test->passes ? CONTROL_PASSED :
	    CONTROL_FAILED);
}

/* The tests of all selected tasks. */
static void
list_tests(struct self_test *s)
{
	const struct spec_suite *suite = s->job->suite;
	struct run_opts o = { .tasks = s->job->opt->tasks.v,
		.ntasks = s->job->opt->tasks.n };
	struct control_tests *all = &s->tests;
	size_t i, k, n = 0;

	for (i = 0; i < suite->ntasks; i++)
		n += suite->tasks[i].def->tests.n;
	all->v = NEW_N(s->job->call->arena, struct control_test, n);
	for (i = 0; i < suite->ntasks; i++)
		for (k = 0; k < suite->tasks[i].def->tests.n &&
		    run_selects(&o, &suite->tasks[i]); k++)
			all->v[all->n++] = (struct control_test){
				.task = &suite->tasks[i],
				.test = &suite->tasks[i].def->tests.v[k],
				.number = k + 1 };
}

static void
count(struct self_test *s)
{
	const struct control_test *t = s->tests.v;
	size_t i;

	for (i = 0; i < s->tests.n; i++)
		if (t[i].verdict == CONTROL_UNKNOWN)
			s->unknown++;
		else if (is_right(&t[i]))
			s->right++;
		else
			s->wrong++;
}

static const char *const found[] = {
	[CONTROL_FAILED] = "fail", [CONTROL_PASSED] = "pass",
	[CONTROL_UNKNOWN] = "unknown"
};

static void
put_test_json(struct json_out *o, const struct control_test *t)
{
	json_open(o, '{');
	json_put_member_str(o, "task", t->task->id);
	json_put_member_int(o, "test", (int64_t)t->number);
	json_put_member_cstr(o, "expect", t->test->passes ? "pass" : "fail");
	json_put_member_cstr(o, "found", found[t->verdict]);
	json_put_member_bool(o, "ok", is_right(t));
	json_put_member_nonempty(o, "why", t->test->why);
	json_put_member_nonempty(o, "reason", t->why);
	json_put_member_cstr(o, "file", t->test->at.file);
	json_put_member_int(o, "line", t->test->at.line);
	json_close(o, '}');
}

static void
put_json(const struct self_test *s, struct buf *b)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	size_t i;

	json_open(&o, '{');
	json_put_member_int(&o, "tests", (int64_t)s->tests.n);
	json_put_member_int(&o, "as_expected", (int64_t)s->right);
	json_put_member_int(&o, "unexpected", (int64_t)s->wrong);
	json_put_member_int(&o, "unknown", (int64_t)s->unknown);
	json_open_member(&o, "results", '[');
	for (i = 0; i < s->tests.n; i++)
		put_test_json(&o, &s->tests.v[i]);
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(b, '\n');
}

/* As file:line:col, since the test or a grader there has to be changed. */
static void
put_wrong(struct buf *b, const struct control_test *t)
{
	const struct spec_where *at = &t->test->at;

	buf_fmt(b, "%s:%u:%u: test %zu of task \"%.*s\" ", at->file, at->line,
	    at->col, t->number, STRF(utf8_cut(t->task->id, 100)));
	if (t->verdict == CONTROL_UNKNOWN)
		buf_puts(b, "is undecided");
	else
		buf_fmt(b, "must %s, but the graders %s it",
		    t->test->passes ? "pass" : "fail",
		    t->verdict == CONTROL_PASSED ? "pass" : "fail");
	if (t->test->why.n > 0)
		buf_fmt(b, " (%.*s)", STRF(t->test->why));
	if (t->why.n > 0)
		buf_fmt(b, ": %.*s", STRF(t->why));
	buf_putc(b, '\n');
}

static void
put_text(const struct self_test *s, struct buf *b)
{
	size_t i, n = s->tests.n;

	for (i = 0; i < n; i++)
		if (!is_right(&s->tests.v[i]))
			put_wrong(b, &s->tests.v[i]);
	buf_fmt(b, "%zu test%s of graders: %zu as expected", n,
	    n == 1 ? "" : "s", s->right);
	if (s->wrong > 0)
		buf_fmt(b, ", %zu not", s->wrong);
	if (s->unknown > 0)
		buf_fmt(b, ", %zu undecided", s->unknown);
	buf_putc(b, '\n');
}

static int
report(struct self_test *s)
{
	struct cmd_job *j = s->job;
	struct buf out = { 0 };
	bool json = j->owns_stdout != NULL;

	count(s);
	(json ? put_json : put_text)(s, &out);
	j->call->form = json ? GUARD_JSON : GUARD_PLAIN;
	return cmd_finish(j->call, &out, s->wrong + s->unknown > 0 ?
	    CMD_FAILED : CMD_OK);
}

int
cmd_self_test(struct cmd_job *j)
{
	struct self_test s = { .job = j };
	struct err *e = j->call->err;

	list_tests(&s);
	if (s.tests.n == 0) {
		err_set(e, ERR_SCHEMA, "no selected task has \"tests\": add "
		    "answers that its graders must pass or fail");
		return cmd_complain(e);
	}
	s.tests.env = (struct control_env){ .arena = j->call->arena,
		.loop = j->loop, .procs = &j->procs, .suite = j->suite,
		.programs = true, .no_hooks = true, .judges = true };
	if (j->opt->judge_model != NULL)
		s.tests.env.judge_model = str_of(j->opt->judge_model);
	s.tests.done = on_done;
	s.tests.arg = &s;
	control_tests_start(&s.tests);
	while (!s.done) {
		if (cmd_turn(j->loop, e) == -1) {
			control_run_free(&s.tests.run);
			return cmd_job_fail(j, "system");
		}
		if (j->signals.signo != 0)
			control_run_cancel(&s.tests.run);
	}
	return j->signals.signo != 0 ? 128 + j->signals.signo : report(&s);
}

/* SPDX-License-Identifier: ISC */
/*
 * One trial: a workspace, an answer, verdicts, a record.  The states are in
 * run_part.h; each has its function, which says what comes next.
 */
#include "run_part.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "event.h"
#include "json.h"
#include "os.h"

static const struct spec_task *
spec_of(const struct run_trial *t)
{
	return t->run->results.tasks[t->task].spec;
}

int64_t
run_trial_timeout_ms(const struct run *run, const struct spec_task *task)
{
	if (run->opts.timeout_seconds > 0)
		return run->opts.timeout_seconds * 1000;
	if (task->timeout_seconds > 0)
		return task->timeout_seconds * 1000;
	return run->suite->config.timeout_seconds * 1000;
}

static int64_t
first_event_ms(const struct run *run, const struct spec_task *task)
{
	if (task->first_event_timeout_seconds > 0)
		return task->first_event_timeout_seconds * 1000;
	return run->suite->config.first_event_timeout_seconds * 1000;
}

/* The trial is decided, by an error. */
static enum run_trial_state PRINTF(3, 4)
fail(struct run_trial *t, enum result_status status, const char *fmt, ...)
{
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e.msg, sizeof(e.msg), fmt, ap);
	va_end(ap);
	t->status = status;
	t->error = arena_str(&t->arena, str_of(e.msg));
	return RUN_TRIAL_FINISH;
}

static const char *
dir_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? "." :
	    arena_str(a, (struct str){ path, (size_t)(slash - path) }).p;
}

/* Where an input file is found: DESIGN.md, "Paths". */
static char *
find_fixture(struct run_trial *t, struct str path)
{
	const struct run *run = t->run;
	const struct spec_task *task = spec_of(t);
	const char *base[4];
	struct stat st;
	size_t i, n = 0;
	char *p;

	if (task->context_dir.n > 0)
		base[n++] = spec_path(&t->arena, run->suite->dir,
		    task->context_dir);
	else if (run->opts.context_dir != NULL)
		base[n++] = run->opts.context_dir;
	else
		base[n++] = arena_fmt(&t->arena, "%s/fixtures",
		    run->suite->dir).p;
	base[n++] = dir_of(&t->arena, task->at.file);
	base[n++] = run->suite->dir;
	for (i = 0; i < n; i++) {
		p = arena_cstr(&t->arena, arena_fmt(&t->arena, "%s/%.*s",
		    base[i], STRF(path)));
		if (p != NULL && stat(p, &st) == 0)
			return p;
	}
	return NULL;
}

static int
put_input(struct run_trial *t, const struct spec_input_file *f, struct err *e)
{
	char *from;

	if (f->content.p != NULL && f->content.n > 0)
		return workspace_put(&t->arena, t->req.workspace, f->path,
		    f->content, e);
	if (!workspace_inside(f->path))
		return err_set(e, ERR_SCHEMA, "input file \"%.*s\" is not a "
		    "path inside the workspace", STRF(f->path));
	from = find_fixture(t, f->path);
	if (from == NULL)
		return err_set(e, ERR_SCHEMA, "input file \"%.*s\" does not "
		    "exist", STRF(f->path));
	return workspace_copy(&t->arena, t->req.workspace, from, f->path, e);
}

static int
put_fixture(struct run_trial *t, const struct json *fixture, struct err *e)
{
	struct str path = json_text(fixture), name = path;
	char *from = find_fixture(t, path);
	struct stat st;
	size_t i;

	if (from == NULL)
		return err_set(e, ERR_SCHEMA, "fixture \"%.*s\" does not exist",
		    STRF(path));
	for (i = path.n; i > 0 && path.p[i - 1] != '/'; i--)
		;
	name.p += i;
	name.n -= i;
	if (stat(from, &st) == 0 && S_ISDIR(st.st_mode))
		name = STR("");		/* what is in it */
	return workspace_copy(&t->arena, t->req.workspace, from, name, e);
}

static bool
needs_workspace(const struct run_trial *t)
{
	const struct spec_task *task = spec_of(t);

	return task->inputs.files.n > 0 || t->run->opts.keep_workspace ||
	    (task->inputs.context != NULL &&
	    json_getc(task->inputs.context, "fixture") != NULL) ||
	    agent_roams(&t->run->agent, task) ||
	    grader_flags(t->run->suite, task) & GRADER_WORKSPACE;
}

static int
make_workspace(struct run_trial *t, struct err *e)
{
	const struct spec_inputs *in = &spec_of(t)->inputs;
	const struct spec_input_file *files = in->files.v;
	const struct json *fixture;
	size_t i;

	t->dir = workspace_take(&t->run->pool, &t->arena, arena_fmt(&t->arena,
	    "%zu-%zu-%u", t->task + 1, t->trial + 1, t->req.attempt), e);
	if (t->dir == NULL)
		return -1;
	t->req.workspace = t->dir;
	t->req.scratch = arena_fmt(&t->arena, "%s/slot-%zu-",
	    t->run->pool.dir, (size_t)(t - t->run->slots)).p;
	for (i = 0; i < in->files.n; i++)
		if (put_input(t, &files[i], e) == -1)
			return -1;
	t->req.nfiles = in->files.n;
	fixture = in->context == NULL ? NULL :
	    json_getc(in->context, "fixture");
	if (fixture != NULL && fixture->type == JSON_STRING) {
		if (put_fixture(t, fixture, e) == -1)
			return -1;
		t->req.nfiles++;
	}
	return 0;
}

static enum run_trial_state
prepare(struct run_trial *t)
{
	const struct spec_task *task = spec_of(t);
	struct run *run = t->run;
	struct err e = { 0 };

	t->timed_out = t->silent = false;
	t->verdicts = NULL;
	t->nverdicts = t->grader = 0;
	t->started = loop_clock(run->loop);
	t->wall_ns = os_wall_ns();
	t->vars = (struct tmpl_vars){ .job_id = str_of(run->results.run_id),
		.task_name = task->name, .timestamp = str_of(run->timestamp),
		.iteration = (int64_t)t->trial + 1, .attempt = t->req.attempt,
		.vars = { task->vars, run->suite->inputs } };
	t->req.task = task;
	t->req.model = run->results.model;
	t->req.run_id = run->results.run_id;
	t->req.trial = (unsigned)t->trial + 1;
	t->req.vars = &t->vars;
	t->req.no_skills = run->opts.no_skills;
	t->req.workspace = t->req.scratch = NULL;
	t->req.nfiles = 0;
	t->req.prompt = tmpl_render(&t->arena, task->inputs.prompt, &t->vars,
	    &e);
	if (t->req.prompt.p == NULL) {
		t->req.prompt = STR("");
		return fail(t, RESULT_INFRA, "prompt: %s", e.msg);
	}
	if (needs_workspace(t) && make_workspace(t, &e) == -1)
		return fail(t, RESULT_INFRA, "%s", e.msg);
	return RUN_TRIAL_ASK;
}

static void
on_answer(void *arg)
{
	struct run_trial *t = arg;
	struct run *run = t->run;

	t->state = RUN_TRIAL_ANSWERED;
	if (t->going)			/* from within agent_cancel */
		return;
	run_trial_go(t);
	run_pump(run);
}

static void
on_event(void *arg, enum agent_event type, struct str detail)
{
	static const char *const steps[] = {
		[AGENT_STEP] = "executing", [AGENT_TEXT] = "answering",
		[AGENT_TOOL] = "tool"
	};
	struct run_trial *t = arg;
	struct event ev = { .type = EVENT_TASK_PROGRESS,
		.run_id = str_of(t->run->results.run_id),
		.idx = (int64_t)t->task, .task = spec_of(t)->id,
		.name = spec_of(t)->name, .trial = (int64_t)t->trial + 1,
		.step = str_of(steps[type]), .detail = detail };

	timer_stop(t->run->loop, &t->first);
	event_emit(t->run->bus, &ev);
}

static void
on_deadline(void *arg)
{
	struct run_trial *t = arg;

	t->timed_out = true;
	agent_cancel(&t->run->agent, &t->job);
}

static void
on_silence(void *arg)
{
	struct run_trial *t = arg;

	t->silent = true;
	on_deadline(t);
}

static enum run_trial_state
ask(struct run_trial *t)
{
	struct run *run = t->run;
	int64_t first = first_event_ms(run, spec_of(t));

	if (t->cancelled)
		return fail(t, RESULT_CANCELLED, "cancelled");
	t->job = (struct agent_job){ .req = &t->req, .arena = &t->arena,
		.event = on_event, .done = on_answer, .arg = t };
	if (agent_start(&run->agent, &t->job) == AGENT_DONE)
		return RUN_TRIAL_ANSWERED;
	t->deadline = (struct timer){ .fn = on_deadline, .arg = t };
	t->first = (struct timer){ .fn = on_silence, .arg = t };
	timer_start(run->loop, &t->deadline,
	    run_trial_timeout_ms(run, spec_of(t)));
	if (first > 0)
		timer_start(run->loop, &t->first, first);
	return RUN_TRIAL_ASKING;
}

static enum run_trial_state
answered(struct run_trial *t)
{
	struct run *run = t->run;
	const struct agent_answer *ans = &t->job.ans;

	timer_stop(run->loop, &t->deadline);
	timer_stop(run->loop, &t->first);
	t->duration_ms = loop_clock(run->loop) - t->started;
	if (t->cancelled)
		return fail(t, RESULT_CANCELLED, "cancelled");
	if (t->silent)
		return fail(t, RESULT_TIMEOUT, "no sign of life within %lld s",
		    (long long)first_event_ms(run, spec_of(t)) / 1000);
	if (t->timed_out)
		return fail(t, RESULT_TIMEOUT, "no answer within %lld s",
		    (long long)run_trial_timeout_ms(run, spec_of(t)) / 1000);
	if (ans->fault != AGENT_OK)
		return fail(t, ans->fault == AGENT_INFRA ? RESULT_INFRA :
		    RESULT_AGENT_ERROR, "%.*s", STRF(ans->error));
	t->in = (struct grader_input){ .suite = run->suite, .task = spec_of(t),
		.answer = ans, .workspace = t->req.workspace, .vars = &t->vars,
		.duration_ms = t->duration_ms, .procs = run->procs };
	return RUN_TRIAL_GRADE;
}

static size_t
count_graders(const struct run_trial *t)
{
	return t->run->suite->graders.n + spec_of(t)->graders.n;
}

static void
on_verdict(void *arg)
{
	struct run_trial *t = arg;
	struct run *run = t->run;

	t->verdicts[t->nverdicts++] = t->grading.out;
	t->state = RUN_TRIAL_GRADE;
	if (t->going)
		return;
	run_trial_go(t);
	run_pump(run);
}

/* The suite's graders first, then the task's; then what is expected. */
static enum run_trial_state
grade(struct run_trial *t)
{
	const struct spec_graders *suite = &t->run->suite->graders;
	const struct spec_graders *task = &spec_of(t)->graders;
	struct grader_verdict *more;
	size_t n;

	if (t->verdicts == NULL)
		t->verdicts = NEW_N(&t->arena, struct grader_verdict,
		    count_graders(t) + 1);
	if (t->cancelled)
		return fail(t, RESULT_CANCELLED, "cancelled");
	if (t->grader < count_graders(t)) {
		t->grading = (struct grading){ .in = &t->in,
			.arena = &t->arena, .done = on_verdict, .arg = t };
		t->grading.spec = t->grader < suite->n ?
		    &suite->v[t->grader] : &task->v[t->grader - suite->n];
		t->grader++;
		if (grader_start(&t->grading) == GRADER_LATER)
			return RUN_TRIAL_GRADING;
		t->verdicts[t->nverdicts++] = t->grading.out;
		return RUN_TRIAL_GRADE;
	}
	more = grader_expected(&t->arena, &t->in, &n);
	if (n > 0) {
		struct grader_verdict *all = NEW_N(&t->arena,
		    struct grader_verdict, t->nverdicts + n);

		if (t->nverdicts > 0)
			memcpy(all, t->verdicts, t->nverdicts * sizeof(*all));
		memcpy(all + t->nverdicts, more, n * sizeof(*all));
		t->verdicts = all;
		t->nverdicts += n;
	}
	return RUN_TRIAL_GRADED;
}

static void
clean_up(struct run_trial *t)
{
	struct err e;

	if (t->dir != NULL && !t->run->opts.keep_workspace &&
	    workspace_give(&t->run->pool, t->dir, &e) == -1)
		run_warn(t->run, "workspace_left", e.msg);
	t->dir = NULL;
}

static enum run_trial_state
graded(struct run_trial *t)
{
	struct run *run = t->run;
	const struct grader_verdict *v;
	int64_t most = run->suite->config.max_attempts;

	t->status = RESULT_PASSED;
	if (t->nverdicts == 0)
		return fail(t, RESULT_GRADER_ERROR,
		    "nothing graded this trial: the task has no grader and no "
		    "expected block");
	for (v = t->verdicts; v < t->verdicts + t->nverdicts; v++) {
		if (v->error.n > 0)
			return fail(t, v->judge ? RESULT_JUDGE_ERROR :
			    RESULT_GRADER_ERROR, "grader \"%.*s\": %.*s",
			    STRF(v->name), STRF(v->error));
		if (!v->passed)
			t->status = RESULT_FAILED;
	}
	if (t->status == RESULT_FAILED && t->req.attempt < most &&
	    !t->cancelled && !run->cancelled) {
		clean_up(t);
		arena_free(&t->arena);
		t->req.attempt++;
		return RUN_TRIAL_PREPARE;
	}
	return RUN_TRIAL_FINISH;
}

static void
tell(struct run_trial *t, enum event_type type)
{
	struct result_task *task = &t->run->results.tasks[t->task];
	struct result_trial *trial = &task->trials[t->trial];
	struct event ev = { .type = type,
		.run_id = str_of(t->run->results.run_id),
		.idx = (int64_t)t->task,
		.total = (int64_t)t->run->results.ntasks,
		.task = task->spec->id, .name = task->spec->name,
		.trial = (int64_t)t->trial + 1, .attempt = t->req.attempt,
		.trials = (int64_t)t->run->results.trials };

	if (type == EVENT_TRIAL_COMPLETE) {
		ev.status = str_of(result_word(t->status));
		ev.error_class = str_of(result_class(t->status));
		ev.error = t->error;
		ev.score = trial->score;
		ev.took_ms = t->duration_ms;
		ev.trial_result = trial;
		ev.task_result = task;
		ev.run_result = &t->run->results;
	}
	event_emit(t->run->bus, &ev);
}

/* Kept first, told afterwards. */
static enum run_trial_state
finish(struct run_trial *t)
{
	struct result_record r = { .task = t->task, .trial = t->trial,
		.status = t->status, .attempts = t->req.attempt,
		.duration_ms = t->duration_ms, .started_ns = t->wall_ns,
		.answer = &t->job.ans,
		.verdicts = t->verdicts, .nverdicts = t->nverdicts,
		.prompt = t->req.prompt, .error = t->error };
	struct run *run = t->run;
	struct err e = { 0 };

	if (t->job.req == NULL)
		r.answer = NULL;
	if (run->opts.keep_workspace && t->dir != NULL)
		r.note = arena_fmt(&t->arena, "workspace kept at %s",
		    t->req.workspace);
	if (result_is_error(t->status) && run->tasks[t->task].error.n == 0)
		run->tasks[t->task].error = arena_str(&run->arena, t->error);
	if (t->status != RESULT_CANCELLED) {
		if (result_add(&run->results, &r, &e) == -1)
			run_abort(run, &e);
		tell(t, EVENT_TRIAL_COMPLETE);
	}
	clean_up(t);
	arena_free(&t->arena);
	t->state = RUN_TRIAL_IDLE;
	run_trial_over(run, t);
	return RUN_TRIAL_IDLE;
}

void
run_trial_start(struct run_trial *t, size_t task, size_t trial)
{
	struct run *run = t->run;

	*t = (struct run_trial){ .run = run, .state = RUN_TRIAL_PREPARE,
		.task = task, .trial = trial };
	t->req.attempt = 1;
	tell(t, EVENT_TRIAL_START);
}

void
run_trial_go(struct run_trial *t)
{
	t->going = true;
	while (t->state != RUN_TRIAL_IDLE && t->state != RUN_TRIAL_ASKING &&
	    t->state != RUN_TRIAL_GRADING) {
		switch (t->state) {
		case RUN_TRIAL_PREPARE:
			t->state = prepare(t);
			break;
		case RUN_TRIAL_ASK:
			t->state = ask(t);
			break;
		case RUN_TRIAL_ANSWERED:
			t->state = answered(t);
			break;
		case RUN_TRIAL_GRADE:
			t->state = grade(t);
			break;
		case RUN_TRIAL_GRADED:
			t->state = graded(t);
			break;
		case RUN_TRIAL_FINISH:
			t->state = finish(t);
			break;
		case RUN_TRIAL_IDLE:
		case RUN_TRIAL_ASKING:
		case RUN_TRIAL_GRADING:
			break;
		}
	}
	t->going = false;
}

void
run_trial_cancel(struct run_trial *t)
{
	if (t->state == RUN_TRIAL_IDLE || t->cancelled)
		return;
	t->cancelled = true;
	if (t->state == RUN_TRIAL_ASKING)
		agent_cancel(&t->run->agent, &t->job);
	else if (t->state == RUN_TRIAL_GRADING)
		grader_cancel(&t->grading);
}

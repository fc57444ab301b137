/* SPDX-License-Identifier: ISC */
/*
 * Judges: their settings, when they are opened, how they are asked.
 *
 * An executor takes its settings from a suite, so each judge has a suite of its
 * own: a copy without tasks whose config contains the judge's settings.  It
 * does not contain what is only for the agents, such as their skills and the
 * mock's script.
 */
#include "grade/judge.h"

#include <string.h>

#include "agent/agent_probe.h"
#include "grade/grader_internal.h"
#include "io/proc.h"
#include "json.h"
#include "lib/field.h"
#include "suite/spec.h"

struct judge {
	struct judge *next;
	struct judges *set;
	const struct json *own;
	const char *dir;		/* its command is relative to */
	struct str model, effort;	/* set by the grader, or empty */
	struct spec_suite suite;
	struct agent agent;
	struct str error;		/* why it cannot be used, or empty */
	struct agent_ready ready;
	bool asking;			/* ready.done() follows */
};

/* A setting that the executor itself reads from the block. */
#define OWN(k) { .key = k, .type = FIELD_TREE, \
	.off = offsetof(struct spec_config, tree), \
	.sub = &spec_config_table, .shape = FIELD_AS_ROW }

/* The keys of `judge:`. */
static const struct field judge_rows[] = {
	GRADER_KEY(spec_config, executor, FIELD_STR,
	    .values = FIELD_EXECUTORS,
	    .help = "executor that judges"),
	GRADER_KEY(spec_config, model, FIELD_STR,
	    .help = "model of the judge"),
	GRADER_KEY(spec_config, reasoning_effort, FIELD_STR,
	    .help = "reasoning effort of the judge"),
	FIELD(spec_config, timeout_seconds, FIELD_INT, .min = 1, .max = 86400,
	    .help = "time limit of a verdict, in seconds"),
	GRADER_KEY(spec_config, command, FIELD_TREE,
	    .help = "program that judges"),
	GRADER_KEY(spec_config, output_format, FIELD_STR,
	    .help = "format of its output"),
	GRADER_KEY(spec_config, persistent, FIELD_BOOL,
	    .help = "start one program per worker"),
	GRADER_KEY(spec_config, mock, FIELD_TREE,
	    .schema = FIELD_REF("mock"),
	    .help = "verdict of the executor mock"),
	{ .key = "args", .type = FIELD_TREE,
	    .off = offsetof(struct spec_config, tree),
	    .help = "arguments of the agent's program" },
	OWN("acp"), OWN("agent"), OWN("api"), OWN("api_key_env"),
	OWN("auth_method"), OWN("base_url"), OWN("cli_path"), OWN("copilot"),
	OWN("env"), OWN("headers"), OWN("max_cost"), OWN("max_tokens"),
	OWN("max_tokens_total"), OWN("mode"), OWN("openai"),
	OWN("permissions"), OWN("provider"), OWN("retries"), OWN("system"),
	OWN("temperature"),
};
const struct field_table judge_table =
    FIELD_TABLE(spec_config, judge_rows);

/* Applies the settings of a block; notes may be NULL. */
static void
overlay(struct arena *a, const struct json *block, const char *file,
    struct spec_notes *notes, struct spec_config *c)
{
	struct spec_source src = { notes, file };
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX,
		.path = "judge" };
	const struct json *at = json_getc(block, "executor"), *tree = c->tree;
	bool command = json_getc(block, "command") != NULL;
	bool mock = json_getc(block, "mock") != NULL;

	if (notes != NULL) {
		ctx.report = spec_report;
		ctx.ctx = &src;
		ctx.flags |= notes->strict ? (unsigned)FIELD_STRICT : 0;
	}
	if (block->type != JSON_OBJECT) {
		if (notes != NULL)
			spec_note(notes, FIELD_ERROR, spec_at(file, block),
			    "\"judge\" must be a mapping, not %s",
			    json_type_name((enum json_type)block->type));
		return;
	}
	field_decode(&ctx, &judge_table, block, c);
	c->tree = tree;
	if (at == NULL && command != mock) {
		c->executor = command ? STR("command") : STR("mock");
		at = json_getc(block, command ? "command" : "mock");
	} else if (at == NULL && command && notes != NULL)
		spec_note(notes, FIELD_ERROR, spec_at(file, block),
		    "a judge with \"command\" and \"mock\" needs \"executor\"");
	if (at != NULL)
		c->executor_at = spec_at(file, at);
}

/*
 * The directory of a judge's command: that of the grader's file if the program
 * is there, else the suite's.
 */
static const char *
command_dir(struct arena *a, const struct spec_suite *s,
    const struct json *own, const char *file)
{
	const struct json *word = json_first(json_getc(own, "command"));
	const char *dir;

	if (word == NULL || word->type != JSON_STRING || file == NULL ||
	    strcmp(file, s->path) == 0)
		return s->dir;
	dir = spec_dir_of(a, file);
	return spec_exists(arena_fmt(a, "%s/%.*s", dir,
	    STRF(json_text(word))).p) ? dir : s->dir;
}

/* The file with the suite's `judge`: the suite, or a settings file. */
static const char *
file_of(const struct spec_suite *s)
{
	return s->config.judge_file != NULL ? s->config.judge_file : s->path;
}

/* Where a judge's settings come from. */
struct sources {
	const struct spec_suite *suite;
	const struct judges *set;	/* NULL: before the run */
	const struct json *own;		/* the grader's `judge:`, or NULL */
	const char *file;		/* of the grader */
	struct str model, effort;	/* set by the grader, or empty */
	struct str executor;		/* of the run that is checked */
};

/* Makes the suite of a judge; the later settings take precedence. */
static void
derive_suite(struct arena *a, const struct sources *from,
    struct spec_notes *notes, struct spec_suite *out)
{
	struct spec_config *c = &out->config;
	const struct json *shared = from->suite->config.judge;

	*out = *from->suite;
	out->tasks = NULL;
	out->ntasks = 0;
	out->graders = (struct spec_graders){ NULL, 0 };
	c->mock = NULL;
	c->mcp_servers = NULL;
	c->reasoning_effort = c->judge_reasoning_effort;
	c->skill_directories = c->required_skills = (struct field_strs){ 0 };
	c->executor_at.file = NULL;	/* set if `judge:` names it */
	if (from->set != NULL) {
		c->executor = from->set->executor;
		c->model = from->set->model;
	} else if (from->executor.n > 0)
		c->executor = from->executor;
	if (c->judge_model.n > 0)
		c->model = c->judge_model;
	if (json_is_set(shared)) {
		c->judging[0].block = shared;
		c->judging[0].file = file_of(out);
		overlay(a, shared, file_of(out), NULL, c);
	}
	if (from->set != NULL && from->set->judge_model.n > 0)
		c->model = from->set->judge_model;
	if (json_is_set(from->own)) {
		c->judging[1].block = from->own;
		c->judging[1].file = from->file;
		overlay(a, from->own, from->file, notes, c);
		if (json_getc(from->own, "command") != NULL ||
		    json_getc(from->own, "mock") != NULL)
			out->path = from->file;
	}
	if (from->model.n > 0)
		c->model = from->model;
	if (from->effort.n > 0)
		c->reasoning_effort = from->effort;
}

/* A scripted executor cannot judge without a script. */
static bool
lacks_script(const struct spec_config *c)
{
	const struct agent_kind *kind = agent_find(c->executor);

	return kind != NULL && kind->scripted &&
	    !json_is_set(json_getc(c->mock, "output")) &&
	    !json_is_set(json_getc(c->mock, "tool_calls")) &&
	    !json_is_set(json_getc(c->mock, "error"));
}

/* A responder, which plays the user, is asked like a judge. */
static void
check_responders(const struct spec_suite *s, struct spec_notes *notes)
{
	struct sources from = { .suite = s };
	struct spec_suite judge;
	size_t i;

	for (i = 0; i < s->ntasks; i++)
		if (s->tasks[i].def->inputs.responder != NULL)
			break;
	if (i == s->ntasks)
		return;
	derive_suite(notes->arena, &from, NULL, &judge);
	if (lacks_script(&judge.config))
		spec_note(notes, FIELD_WARNING, s->tasks[i].at, "the mock "
		    "cannot be the responder without a script: set \"judge\" "
		    "in the suite's config");
}

void
judge_check_suite(const struct spec_suite *s, struct spec_notes *notes)
{
	struct sources from = { .suite = s };
	struct spec_suite judge;

	check_responders(s, notes);
	if (!json_is_set(s->config.judge))
		return;
	/* read the block twice: for its problems and for its settings */
	judge = *s;
	overlay(notes->arena, s->config.judge, file_of(s), notes,
	    &judge.config);
	derive_suite(notes->arena, &from, NULL, &judge);
	if (judge.config.executor_at.file != NULL)
		agent_check(&judge, judge.config.executor, notes);
}

/* Once for all tasks of a file whose expectations nobody can judge. */
static void
note_no_judge(struct spec_where at, struct spec_notes *notes)
{
	static const char msg[] = "expectations in words need a judge: add "
	    "the line \"judge: {executor: NAME}\" to .waza.yaml, or run with "
	    "--executor NAME (waza doctor lists them)";
	const struct spec_note *n = notes->head;

	while (n != NULL && strcmp(n->msg, msg) != 0)
		n = n->next;
	if (n == NULL)
		spec_note(notes, FIELD_ERROR, at, "%s", msg);
}

void
judge_check(const struct spec_suite *s, const struct json *own,
    struct spec_where at, struct spec_notes *notes)
{
	struct sources from = { .suite = s, .own = own, .file = at.file,
		.executor = notes->executor };
	const struct agent_kind *kind;
	struct spec_suite judge;

	derive_suite(notes->arena, &from, notes, &judge);
	if (json_is_set(own) && judge.config.executor_at.file != NULL)
		agent_check(&judge, judge.config.executor, notes);
	kind = agent_find(judge.config.executor);
	if (kind != NULL && kind->cannot_judge)
		spec_note(notes, FIELD_ERROR, at, "executor \"%s\" cannot "
		    "judge: set \"judge\" in the suite's config or in this "
		    "grader", kind->name);
	if (lacks_script(&judge.config) && s->in_words)
		note_no_judge(at, notes);
	else if (lacks_script(&judge.config))
		spec_note(notes, FIELD_WARNING, at, "the mock cannot judge "
		    "without a script: set \"judge\" in the suite's config "
		    "or in this grader");
}

static bool
same_block(const struct json *a, const struct json *b)
{
	return a == b || (a != NULL && b != NULL && json_equal(a, b));
}

static void
open_judge(struct judge *j, const struct judging *q)
{
	struct judges *set = j->set;
	struct sources from = { .suite = set->suite, .set = set,
		.own = j->own, .file = q->file, .model = j->model,
		.effort = j->effort };
	struct err e = { 0 };

	derive_suite(set->arena, &from, NULL, &j->suite);
	j->suite.dir = j->dir;
	j->agent = (struct agent){ .kind = agent_find(j->suite.config.executor),
		.suite = &j->suite, .procs = set->procs, .arena = set->arena,
		.workers = set->workers > 0 ? set->workers : 1 };
	if (j->agent.kind == NULL)
		j->error = arena_fmt(set->arena, "unknown executor \"%.*s\"",
		    STRF(j->suite.config.executor));
	else if (lacks_script(&j->suite.config))
		j->error = STR("the mock cannot judge without a script");
	else if (agent_open(&j->agent, &e) == -1)
		j->error = arena_str(set->arena, str_of(e.msg));
}

void
judges_limits(const struct judges *set, struct spec_budget *out)
{
	const struct judge *j;
	struct spec_budget one;

	for (j = set->head; j != NULL; j = j->next) {
		one = (struct spec_budget){ 0 };
		if (j->error.n == 0)
			agent_limits(&j->agent, &one);
		if (one.usd > 0 && (out->usd <= 0 || one.usd < out->usd))
			out->usd = one.usd;
		if (one.tokens > 0 && (out->tokens == 0 ||
		    one.tokens < out->tokens))
			out->tokens = one.tokens;
	}
}

static struct judge *
find_judge(const struct judging *q)
{
	struct judges *set = q->judges;
	const char *dir = command_dir(q->arena, set->suite, q->own, q->file);
	struct judge *j;

	for (j = set->head; j != NULL; j = j->next)
		if (same_block(j->own, q->own) && str_eq(j->model, q->model) &&
		    str_eq(j->effort, q->effort) && strcmp(j->dir, dir) == 0)
			return j;
	j = NEW(set->arena, struct judge);
	j->next = set->head;
	set->head = j;
	set->n++;
	j->set = set;
	j->own = q->own;
	j->model = arena_str(set->arena, q->model);
	j->effort = arena_str(set->arena, q->effort);
	j->dir = arena_cstr(set->arena, str_of(dir));
	open_judge(j, q);
	return j;
}

static void
fail(struct judging *q, enum answer_fault fault, struct str why)
{
	q->ans.fault = fault;
	q->ans.error = why;
}

static void
take_answer(struct judging *q)
{
	q->ans = q->job.ans;
	if (q->in->judged != NULL)
		answer_add_usage(q->in->judged, &q->ans.usage);
	if (q->timed_out)
		fail(q, ANSWER_FAILED, arena_fmt(q->arena,
		    "no answer within %lld s",
		    (long long)q->judge->suite.config.timeout_seconds));
}

static void
on_done(void *arg)
{
	struct judging *q = arg;

	timer_stop(q->judges->procs->loop, &q->deadline);
	take_answer(q);
	q->done(q->arg);
}

static void
on_deadline(void *arg)
{
	struct judging *q = arg;

	q->timed_out = true;
	agent_cancel(&q->judge->agent, &q->job);
}

/* The task that the judge's executor sees: only its names. */
static const struct spec_task *
placeholder_task(struct arena *a, const struct spec_task *task)
{
	struct spec_task *t = NEW(a, struct spec_task);

	t->def = NEW(a, struct spec_def);
	t->id = task->id;
	t->name = task->name;
	t->at = task->at;
	return t;
}

static void on_room(void *);

/* Waits at most as long as for an answer. */
static bool
must_wait(struct judging *q, uint64_t shortages)
{
	struct procs *ps = q->judges->procs;
	int64_t now = loop_clock(ps->loop);

	if (q->job.ans.fault == ANSWER_OK || ps->shortages == shortages)
		return false;
	q->since = q->since == 0 ? now : q->since;
	if (now - q->since > q->judge->suite.config.timeout_seconds * 1000)
		return false;
	q->room = (struct procs_wait){ .fn = on_room, .arg = q };
	procs_wait(ps, &q->room);
	return true;
}

static enum judge_status
begin(struct judging *q)
{
	struct judge *j = q->judge;
	struct procs *ps = q->judges->procs;
	uint64_t before = ps->shortages;

	q->job = (struct agent_job){ .req = &q->req, .arena = q->arena,
		.done = on_done, .arg = q };
	if (agent_start(&j->agent, &q->job) == AGENT_DONE) {
		if (must_wait(q, before))
			return JUDGE_LATER;
		take_answer(q);
		return JUDGE_DONE;
	}
	q->deadline = (struct timer){ .fn = on_deadline, .arg = q };
	timer_start(ps->loop, &q->deadline,
	    j->suite.config.timeout_seconds * 1000);
	return JUDGE_LATER;
}

static void
on_room(void *arg)
{
	struct judging *q = arg;

	if (begin(q) == JUDGE_DONE)
		q->done(q->arg);
}

enum judge_status
judge_ask(struct judging *q)
{
	const struct grader_input *in = q->in;
	struct judge *j = q->judge = find_judge(q);

	q->timed_out = false;
	q->since = 0;
	q->ans = (struct answer){ .exit_status = -1 };
	q->used_executor = j->suite.config.executor;
	q->used_model = j->suite.config.model;
	if (j->error.n > 0) {
		fail(q, ANSWER_INFRA, j->error);
		return JUDGE_DONE;
	}
	q->req = (struct agent_request){ .task = placeholder_task(q->arena,
		in->task),
		.prompt = q->prompt, .model = j->suite.config.model,
		.workspace = in->workspace != NULL ? in->workspace :
		    in->empty_dir,
		.run_id = j->set->run_id,
		.trial = in->trial > 0 ? in->trial : 1,
		.attempt = in->attempt > 0 ? in->attempt : 1,
		.vars = in->vars, .no_skills = true, .sample = q->sample,
		.responds = q->responds };
	if (in->scratch != NULL)
		q->req.scratch = arena_fmt(q->arena, "%sjudge-", in->scratch).p;
	if (j->agent.kind->offers_tools) {
		q->req.tools = q->tools;
		q->req.ntools = q->ntools;
	}
	return begin(q);
}

void
judge_cancel(struct judging *q)
{
	if (q->room.prev == NULL) {
		agent_cancel(&q->judge->agent, &q->job);
		return;
	}
	procs_wait_stop(&q->room);
	fail(q, ANSWER_CANCELLED, STR("cancelled"));
	q->done(q->arg);
}

void
judge_drop(struct judging *q)
{
	timer_stop(q->judges->procs->loop, &q->deadline);
	if (q->room.prev == NULL)
		agent_drop(&q->judge->agent, &q->job);
	procs_wait_stop(&q->room);
}

void
judges_expect(struct judges *set, const struct judging *what)
{
	struct judging q = { .judges = set, .own = what->own,
		.file = what->file, .model = what->model,
		.effort = what->effort, .arena = set->arena };

	(void)find_judge(&q);
}

static void
take_missing(struct judge *j)
{
	struct judges *set = j->set;

	if (j->ready.missing.n > 0 && set->missing.n == 0)
		set->missing = arena_fmt(set->arena, "the judge cannot be "
		    "used: %.*s", STRF(j->ready.missing));
}

static void
on_closed(void *arg)
{
	struct judges *set = arg;

	if (--set->closing == 0)
		set->closed(set->arg);
}

static void
on_ready(void *arg)
{
	struct judge *j = arg;
	struct judges *set = j->set;

	j->asking = false;
	set->asking--;
	if (set->closing > 0) {
		on_closed(set);
		return;
	}
	take_missing(j);
	if (set->asking == 0)
		set->known(set->arg);
}

/* Whether the agent of the run is the same program with the same login. */
static bool
is_agent(const struct judge *j)
{
	static const char *const keys[] = { "agent", "cli_path", "command",
		"env", "home", "provider" };
	const struct agent *a = j->set->agent;
	struct arena *mem = j->set->arena;
	const struct json *theirs, *ours;
	size_t i;

	if (a == NULL || a->kind != j->agent.kind)
		return false;
	theirs = agent_settings(mem, a->suite, a->kind->name);
	ours = agent_settings(mem, &j->suite, a->kind->name);
	for (i = 0; i < COUNTOF(keys); i++)
		if (!same_block(json_getc(theirs, keys[i]),
		    json_getc(ours, keys[i])))
			return false;
	return true;
}

bool
judges_examine(struct judges *set, void (*known)(void *arg), void *arg)
{
	struct judge *j;

	set->known = known;
	set->arg = arg;
	for (j = set->head; j != NULL; j = j->next) {
		if (j->error.n > 0 || is_agent(j))
			continue;
		j->ready.done = on_ready;
		j->ready.arg = j;
		j->asking = agent_ready_start(&j->ready, &j->agent);
		set->asking += j->asking;
		take_missing(j);
	}
	return set->asking == 0;
}

bool
judges_close(struct judges *set)
{
	struct judge *j;

	for (j = set->head; j != NULL; j = j->next) {
		if (j->asking) {
			set->closing++;
			agent_ready_cancel(&j->ready);
		}
		if (j->error.n > 0)
			continue;
		j->agent.closed = on_closed;
		j->agent.arg = set;
		if (!agent_close(&j->agent))
			set->closing++;
	}
	return set->closing == 0;
}

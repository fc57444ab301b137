/* SPDX-License-Identifier: ISC */
/*
 * The table of grader kinds, and what is common to all kinds: lookup, decoding
 * of settings, templates, time.
 *
 * To add a kind: write grade/grader_<kind>.c with a struct grader_kind (see
 * grade/grader_internal.h; grade/grader_behavior.c is a short example), declare
 * it there, add it to the table below and to GRADE in the Makefile, and
 * describe it in man/waza-eval.5.
 *
 * Settings are decoded for each grading, into memory that is freed with it.
 * So a suite of a hundred thousand graders keeps only its tree in memory.
 */
#include "grader.h"

#include <assert.h>
#include <string.h>

#include "base/os.h"
#include "grade/grader_internal.h"
#include "grade/judge.h"
#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

static const struct grader_kind *const kinds[] = {	/* sorted by name */
	&grader_action_sequence, &grader_behavior, &grader_code,
	&grader_diff, &grader_file, &grader_file_exists,
	&grader_json_schema, &grader_keyword, &grader_program,
	&grader_prompt, &grader_regex, &grader_skill_invocation,
	&grader_text, &grader_tool_calls, &grader_tool_constraint,
	&grader_trigger,
};

static int
by_name(const void *type, const void *row)
{
	const struct grader_kind *const *kind = row;

	return str_cmp(*(const struct str *)type, str_of((*kind)->name));
}

const struct grader_kind *
grader_find(struct str type)
{
	size_t i = search_first(&type, kinds, COUNTOF(kinds),
	    sizeof(kinds[0]), by_name);

	return i < COUNTOF(kinds) && str_is(type, kinds[i]->name) ?
	    kinds[i] : NULL;
}

const char *
grader_nth(size_t i, const struct field_table **settings)
{
	if (i >= COUNTOF(kinds))
		return NULL;
	*settings = kinds[i]->fields;
	return kinds[i]->name;
}

static struct str
unknown_type(struct arena *a, struct str type)
{
	const char *advice = grader_advice(type);
	struct str names[COUNTOF(kinds)], q = grader_quote(a, type);
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		names[i] = str_of(kinds[i]->name);
	if (type.n == 0)
		buf_puts(&b, "a grader needs a type");
	else
		buf_fmt(&b, "unknown grader type %.*s", STRF(q));
	if (advice != NULL)
		buf_fmt(&b, ": %s", advice);
	str_put_choices(&b, advice != NULL ? STR("") : type, "kinds", names,
	    COUNTOF(names));
	return arena_take(a, &b);
}

/* Keys of a grader itself, which suites may write beside its settings. */
static bool
is_own_key(struct str key)
{
	static const char *const keys[] = { "type", "kind", "name",
		"identifier", "weight", "config" };
	size_t i;

	for (i = 0; i < COUNTOF(keys); i++)
		if (str_is(key, keys[i]))
			return true;
	return false;
}

static void
take_finding(void *ctx, const struct field_finding *f)
{
	struct grader_check *c = ctx;
	struct spec_where where = { c->file, f->line, f->col };
	const struct spec_note *before = c->notes->last;

	if (str_eq(f->path, f->key) && is_own_key(f->key))
		return;
	if (f->line == 0)
		where = c->spec->at;
	spec_note(c->notes, f->level, where, "%s", f->msg);
	if (c->notes->last != before)
		c->notes->last->key = f->key;
}

static void *
settings_new(struct arena *a, const struct field_table *t)
{
	void *settings = arena_alloc(a, t->size, sizeof(int64_t));

	if (t->init != NULL)
		memcpy(settings, t->init, t->size);
	return settings;
}

static void
check_settings(struct grader_check *c, const struct grader_kind *kind)
{
	struct field_ctx ctx = { .arena = c->tmp, .flags = FIELD_LAX,
		.report = take_finding, .ctx = c };
	void *settings = settings_new(c->tmp, kind->fields);
	static const struct json none = { .type = JSON_OBJECT };
	const struct json *config = c->spec->config;

	if (c->notes->strict)
		ctx.flags |= FIELD_STRICT;
	if (!json_is_set(config))
		config = &none;
	if (field_decode(&ctx, kind->fields, config, settings) == 0 &&
	    grader_check_templates(c, config))
		kind->check(c, settings);
}

static void
check_graders(struct grader_check *c, const struct spec_graders *graders)
{
	const struct grader_kind *kind;
	struct arena_mark mark;
	struct str why;
	size_t i;

	for (i = 0; i < graders->n; i++) {
		mark = arena_save(c->tmp);
		c->spec = &graders->v[i];
		c->file = c->spec->at.file;
		kind = grader_find(c->spec->type);
		if (kind != NULL) {
			check_settings(c, kind);
		} else {
			why = unknown_type(c->tmp, c->spec->type);
			grader_note(c, FIELD_ERROR, NULL, "%.*s", STRF(why));
		}
		arena_restore(c->tmp, mark);
	}
	c->spec = NULL;
}

static void
check_task_graders(struct grader_check *c)
{
	const struct spec_checkpoints *p = &c->task->def->checkpoints;
	size_t i;

	check_graders(c, &c->task->def->graders);
	for (i = 0; i < p->n; i++)
		check_graders(c, &p->v[i].graders);
}

void
grader_check(const struct spec_suite *suite, struct spec_notes *notes)
{
	struct arena tmp = { 0 };
	struct grader_check c = { .suite = suite, .notes = notes, .tmp = &tmp,
		.noted_skills = notes->stored,
		.noted = notes->stored ? ~0U : 0 };
	const struct spec_task *before = NULL;
	size_t i, noted = 0;

	grader_check_metrics(&c);
	judge_check_suite(suite, notes);
	check_graders(&c, &suite->graders);
	for (i = 0; i < suite->ntasks; i++) {
		c.task = &suite->tasks[i];
		c.file = c.task->at.file;
		/* rows of a table share their graders: note a problem once */
		if (before == NULL || c.task->def->graders.v == NULL ||
		    before->def->graders.v != c.task->def->graders.v)
			noted = notes->errors + notes->warnings;
		if (noted == notes->errors + notes->warnings)
			check_task_graders(&c);
		/* rows of a CSV table share one `expected:` block */
		if (c.task->def->expected != NULL && (before == NULL ||
		    before->def->expected != c.task->def->expected))
			grader_check_expected(&c);
		grader_check_task(&c, before);
		before = c.task;
	}
	arena_free(&tmp);
}

unsigned
grader_flags_of(const struct spec_grader *g)
{
	const struct grader_kind *kind = grader_find(g->type);

	return kind != NULL ? kind->flags : 0;
}

static unsigned
flags_of(const struct spec_graders *graders)
{
	unsigned flags = 0;
	size_t i;

	for (i = 0; i < graders->n; i++)
		flags |= grader_flags_of(&graders->v[i]);
	return flags;
}

unsigned
grader_flags(const struct spec_suite *suite, const struct spec_task *task)
{
	unsigned flags = flags_of(&suite->graders) |
	    flags_of(&task->def->graders);
	size_t i;

	for (i = 0; i < task->def->checkpoints.n; i++)
		flags |= flags_of(&task->def->checkpoints.v[i].graders);
	return flags;
}

static void
keep_error(void *ctx, const struct field_finding *f)
{
	struct err *e = ctx;

	if (f->level == FIELD_ERROR && e->code == ERR_NONE)
		err_set(e, ERR_SCHEMA, "%s", f->msg);
}

static enum grader_status
start(struct grading *g, const struct grader_kind *kind, struct arena *tmp)
{
	void *settings = settings_new(tmp, kind->fields);
	struct err e = { 0 };
	struct field_ctx ctx = { .arena = tmp,
		.flags = FIELD_LAX | FIELD_OPEN,
		.report = keep_error, .ctx = &e };
	const struct json *config = g->spec->config;

	if (json_is_set(config) &&
	    field_decode(&ctx, kind->fields, config, settings) > 0)
		return grader_error(g, "%s", e.msg);
	if (grader_render(tmp, kind->fields, settings, g->in->vars, &e) != 0)
		return grader_error(g, "template: %s", e.msg);
	return kind->start(g, settings, tmp);
}

/* Grades in this process; g->out has been initialized. */
static enum grader_status
compute(struct grading *g)
{
	const struct grader_kind *kind;
	struct arena tmp = { 0 };
	enum grader_status status;

	if (g->spec == NULL) {
		grader_expect(g);
		return GRADER_DONE;
	}
	kind = grader_find(g->spec->type);
	if (kind->cancel != NULL)	/* needs its settings until done() */
		return start(g, kind, g->arena);
	status = start(g, kind, &tmp);
	arena_free(&tmp);
	return status;
}

static void
init(struct grading *g)
{
	g->out = (struct verdict){ 0 };
	g->expected = NULL;
	g->nexpected = 0;
	if (g->spec != NULL)
		g->out = (struct verdict){ .name = g->spec->name,
			.type = g->spec->type, .weight = g->spec->weight,
			.spec = g->spec };
}

/* Grades in this process unless that exceeds the budget; then false. */
static bool
attempt(struct grading *g, enum grader_status *status)
{
	const struct answer *a = g->in->answer;
	struct budget b = { .left = g->in->budget > 0 ? g->in->budget :
		GRADER_BUDGET };
	struct arena_mark mark = arena_save(g->arena);

	g->budget = &b;
	if (budget_take(&b, GRADER_COST + (uint64_t)a->output.n *
	    GRADER_BYTE_COST + (uint64_t)a->ncalls * GRADER_CALL_COST))
		*status = compute(g);
	g->budget = NULL;
	if (b.spent) {
		arena_restore(g->arena, mark);
		init(g);
	}
	return !b.spent;
}

enum grader_status
grader_start(struct grading *g)
{
	const struct grader_kind *kind = NULL;
	enum grader_status status = GRADER_DONE;
	int64_t began = os_now_ms();
	struct str why;

	init(g);
	if (g->spec != NULL) {
		kind = grader_find(g->spec->type);
		if (kind == NULL) {
			why = unknown_type(g->arena, g->spec->type);
			return grader_error(g, "%.*s", STRF(why));
		}
		if (kind->cancel != NULL && !kind->carries)
			return start(g, kind, g->arena);
	}
	if (g->in->procs == NULL)
		status = compute(g);
	else if (!attempt(g, &status))
		return grader_offload(g, compute);
	if (status == GRADER_DONE)
		g->out.duration_ms = os_now_ms() - began;
	return status;
}

void
grader_cancel(struct grading *g)
{
	const struct grader_kind *kind;

	if (g->away != NULL) {
		grader_offload_cancel(g);
		return;
	}
	kind = grader_find(g->spec->type);
	assert(kind != NULL && kind->cancel != NULL);
	kind->cancel(g);
}

void
grader_drop(struct grading *g)
{
	const struct grader_kind *kind = g->spec == NULL ? NULL :
	    grader_find(g->spec->type);

	if (g->away != NULL)
		grader_offload_drop(g);
	else if (kind != NULL && kind->drop != NULL)
		kind->drop(g);
}

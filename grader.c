/* SPDX-License-Identifier: ISC */
/*
 * The table of grader kinds, and the frame that all of them run in: names,
 * settings, templates, time.
 *
 * Settings are decoded anew for each grading, into memory that goes with it:
 * what a suite of a hundred thousand graders keeps is the suite, no more.
 */
#include "grader.h"

#include <assert.h>

#include "base/os.h"
#include "grade/grader_internal.h"
#include "grade/judge.h"
#include "json.h"
#include "lib/field.h"
#include "suite/spec.h"

static const struct grader_kind *const kinds[] = {	/* sorted by name */
	&grader_action_sequence,
	&grader_behavior,
	&grader_code,
	&grader_diff,
	&grader_file,
	&grader_file_exists,
	&grader_json_schema,
	&grader_keyword,
	&grader_program,
	&grader_prompt,
	&grader_regex,
	&grader_skill_invocation,
	&grader_text,
	&grader_tool_calls,
	&grader_tool_constraint,
	&grader_trigger,
};

/* Keys of a grader itself, which may stand beside its settings. */
static const char *const own_keys[] = {
	"type", "kind", "name", "identifier", "weight", "config",
};

const struct grader_kind *
grader_find(struct str type)
{
	size_t lo = 0, hi = COUNTOF(kinds), mid;
	int c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		c = str_cmp(type, str_of(kinds[mid]->name));
		if (c == 0)
			return kinds[mid];
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static bool
among(struct str s, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_is(s, words[i]))
			return true;
	return false;
}

static const char *
nearest(struct str type)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_similar(type, str_of(kinds[i]->name)))
			return kinds[i]->name;
	return NULL;
}

/* Why there is no kind of that name. */
static struct str
refusal(struct arena *a, struct str type)
{
	struct str q = grader_quote(a, type);
	const char *near;

	if (type.n == 0)
		return STR("a grader needs a type");
	near = nearest(type);
	if (near == NULL)
		return arena_fmt(a, "unknown grader type %.*s", STRF(q));
	return arena_fmt(a, "unknown grader type %.*s; did you mean \"%s\"?",
	    STRF(q), near);
}

static void
take_finding(void *ctx, const struct field_finding *f)
{
	struct grader_check *c = ctx;
	struct spec_where where = { c->file, f->line, f->col };
	const struct spec_note *before = c->notes->last;

	if (str_eq(f->path, f->key) &&
	    among(f->key, own_keys, COUNTOF(own_keys)))
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
	char *p = arena_alloc(a, t->size, sizeof(int64_t));
	const char *init = t->init;
	size_t i;

	for (i = 0; init != NULL && i < t->size; i++)
		p[i] = init[i];
	return p;
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
	if (config == NULL || config->type == JSON_NULL)
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
			why = refusal(c->tmp, c->spec->type);
			grader_note(c, FIELD_ERROR, NULL, "%.*s", STRF(why));
		}
		arena_restore(c->tmp, mark);
	}
	c->spec = NULL;
}

void
grader_check(const struct spec_suite *suite, struct spec_notes *notes)
{
	struct arena tmp = { 0 };
	struct grader_check c = { .suite = suite, .notes = notes, .tmp = &tmp,
		.told_skills = notes->stored, .told_calls = notes->stored };
	const struct spec_task *before = NULL;
	size_t i;

	grader_check_metrics(&c);
	judge_check_suite(suite, notes);
	check_graders(&c, &suite->graders);
	for (i = 0; i < suite->ntasks; i++) {
		c.task = &suite->tasks[i];
		c.file = c.task->at.file;
		check_graders(&c, &c.task->graders);
		/* rows of a table share what they expect */
		if (c.task->expected != NULL && (before == NULL ||
		    before->expected != c.task->expected))
			grader_check_expected(&c);
		grader_check_graded(&c, before);
		before = c.task;
	}
	arena_free(&tmp);
}

static unsigned
flags_of(const struct spec_graders *graders)
{
	const struct grader_kind *kind;
	unsigned flags = 0;
	size_t i;

	for (i = 0; i < graders->n; i++) {
		kind = grader_find(graders->v[i].type);
		flags |= kind != NULL ? kind->flags : 0;
	}
	return flags;
}

unsigned
grader_flags_of(const struct spec_grader *g)
{
	const struct grader_kind *kind = grader_find(g->type);

	return kind != NULL ? kind->flags : 0;
}

unsigned
grader_flags(const struct spec_suite *suite, const struct spec_task *task)
{
	return flags_of(&suite->graders) | flags_of(&task->graders);
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

	if (config != NULL && config->type != JSON_NULL &&
	    field_decode(&ctx, kind->fields, config, settings) > 0)
		return grader_error(g, "%s", e.msg);
	if (grader_render(tmp, kind->fields, settings, g->in->vars, &e) != 0)
		return grader_error(g, "template: %s", e.msg);
	return kind->start(g, settings, tmp);
}

enum grader_status
grader_start(struct grading *g)
{
	const struct grader_kind *kind = grader_find(g->spec->type);
	struct arena tmp = { 0 };
	enum grader_status status;
	int64_t began = os_now_ms();
	struct str why;

	g->out = (struct verdict){ .name = g->spec->name,
		.type = g->spec->type, .weight = g->spec->weight,
		.spec = g->spec };
	if (kind == NULL) {
		why = refusal(g->arena, g->spec->type);
		return grader_error(g, "%.*s", STRF(why));
	}
	if (kind->cancel != NULL)
		return start(g, kind, g->arena);
	status = start(g, kind, &tmp);
	arena_free(&tmp);
	g->out.duration_ms = os_now_ms() - began;
	return status;
}

void
grader_cancel(struct grading *g)
{
	const struct grader_kind *kind = grader_find(g->spec->type);

	assert(kind != NULL && kind->cancel != NULL);
	kind->cancel(g);
}

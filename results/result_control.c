/* SPDX-License-Identifier: ISC */
/*
 * result_control.c: what controls have shown about the tasks of a run.  Each
 * task has its findings as JSON, so that they are the same in a run, in a
 * results file and in merged results.
 */
#include "results/result.h"

#include "json.h"
#include "results/result_internal.h"
#include "suite/spec.h"

/* Adds a finding to the numbers of its control. */
static void
count(struct result_controls *c, struct str name, struct str verdict)
{
	struct result_control *v;
	size_t i;

	for (i = 0; i < c->n && !str_eq(c->v[i].name, name); i++)
		;
	if (i == RESULT_CONTROLS_MAX)
		return;
	v = &c->v[i];
	if (i == c->n)
		c->v[c->n++] = (struct result_control){
			.name = arena_str(c->arena, name) };
	v->tasks++;
	if (str_is(verdict, "passed"))
		v->passed++;
	else if (str_is(verdict, "failed"))
		v->failed++;
	else
		v->unknown++;
}

void
result_each_control(const struct result_run *run,
    void (*fn)(void *ctx, const struct result_task *, const struct json *),
    void *ctx)
{
	const struct result_task *t;
	const struct json *v;
	struct arena tmp = { 0 };
	size_t i;

	for (i = 0; i < run->ntasks; i++) {
		t = result_at(run, i, true);
		if (t->more->controls.n == 0)
			continue;
		v = json_first(arena_json(&tmp, t->more->controls, NULL));
		for (; v != NULL; v = v->next)
			fn(ctx, t, v);
		arena_free(&tmp);
		tmp = (struct arena){ NULL, 0 };
	}
}

static void
count_one(void *ctx, const struct result_task *t, const struct json *v)
{
	(void)t;
	count(ctx, json_str(v, "control"), json_str(v, "verdict"));
}

void
result_controls(struct arena *a, const struct result_run *run,
    struct result_controls *out)
{
	*out = (struct result_controls){ .arena = a };
	result_each_control(run, count_one, out);
}

size_t
result_control_passes(const struct result_run *run)
{
	struct result_controls c;
	struct arena tmp = { 0 };
	size_t i, n = 0;

	result_controls(&tmp, run, &c);
	for (i = 0; i < c.n; i++)
		n += c.v[i].passed;
	arena_free(&tmp);
	return n;
}

struct passes {
	struct json_out *o;
	struct str control;
};

static void
put_pass(void *ctx, const struct result_task *t, const struct json *v)
{
	const struct passes *p = ctx;

	if (str_eq(json_str(v, "control"), p->control) &&
	    str_is(json_str(v, "verdict"), "passed"))
		json_put_str(p->o, t->spec->id);
}

void
result_put_controls(struct json_out *o, const struct result_run *run)
{
	struct result_controls c;
	struct arena tmp = { 0 };
	struct passes p = { .o = o };
	size_t i;

	result_controls(&tmp, run, &c);
	if (c.n > 0)
		json_open_member(o, "controls", '[');
	for (i = 0; i < c.n; i++) {
		p.control = c.v[i].name;
		json_open(o, '{');
		json_put_member_str(o, "control", c.v[i].name);
		json_put_member_int(o, "tasks", (int64_t)c.v[i].tasks);
		json_put_member_int(o, "passed", (int64_t)c.v[i].passed);
		json_put_member_int(o, "failed", (int64_t)c.v[i].failed);
		json_put_member_int(o, "unknown", (int64_t)c.v[i].unknown);
		json_open_member(o, "passed_tasks", '[');
		result_each_control(run, put_pass, &p);
		json_close(o, ']');
		json_close(o, '}');
	}
	if (c.n > 0)
		json_close(o, ']');
	arena_free(&tmp);
}

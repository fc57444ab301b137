/* SPDX-License-Identifier: ISC */
/*
 * The verdicts of `expected:`, which a task can have without any grader.
 *
 * One verdict for each part that is given; a part says all that it found
 * wrong.  What an executor does not tell is not held against the agent: an
 * unknown count of tokens or turns passes, and skills are judged only where
 * skills are reported.
 */
#include "grade/grader_trace.h"

#include <string.h>

#include "agent/agent.h"
#include "json.h"
#include "lib/re/re.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

enum { VERDICT_MAX = 7 };

struct work {
	struct arena *arena;
	const struct grader_input *in;
	const struct spec_expected *want;
	struct arena tmp;
	struct verdict *v;
	size_t n;
};

static struct verdict *
add(struct work *w, const char *name)
{
	struct verdict *v = &w->v[w->n++];

	v->name = str_of(name);
	v->weight = 1;
	return v;
}

static struct str
details(struct work *w, const char *key, const struct field_strs *list,
    const struct grader_tally *t)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	if (list != NULL)
		grader_put_strs(&o, key, list);
	grader_put_failures(&o, t);
	json_close(&o, '}');
	return grader_take(w->arena, &b);
}

/* The list with its templates done; an error is the verdict's. */
static bool
render(struct work *w, struct verdict *v, const struct field_strs *from,
    struct field_strs *to)
{
	struct err e = { 0 };
	size_t i;

	to->v = NEW_N(&w->tmp, struct str, from->n);
	to->n = from->n;
	for (i = 0; i < from->n; i++) {
		to->v[i] = from->v[i];
		if (tmpl_any(from->v[i]))
			to->v[i] = tmpl_render(&w->tmp, from->v[i],
			    w->in->vars, &e);
		if (to->v[i].p == NULL && from->v[i].n > 0) {
			v->error = arena_fmt(w->arena, "template: %s", e.msg);
			return false;
		}
	}
	return true;
}

static void
any_of(struct grader_subject *s, const struct field_strs *list)
{
	struct buf b = { .max = 500 };
	struct str q;
	size_t i;

	for (i = 0; i < list->n; i++)
		if (grader_has(s, list->v[i])) {
			grader_pass(s->tally);
			return;
		}
	for (i = 0; i < list->n && !b.full; i++) {
		q = grader_quote(s->tmp, list->v[i]);
		buf_puts(&b, i > 0 ? ", " : "");
		buf_put(&b, q);
	}
	grader_fail(s->tally, "none of %.*s%s in the output",
	    STRF(buf_str(&b)), b.full ? " ..." : "");
	buf_free(&b);
}

static void
each_of(struct grader_subject *s, const struct field_strs *list, bool ban)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (ban)
			grader_ban(s, list->v[i], false);
		else
			grader_want(s, list->v[i], false);
}

enum how { ALL, NONE, ANY };

static void
output(struct work *w, const char *name, const struct field_strs *from,
    enum how how)
{
	struct grader_tally t = { .arena = &w->tmp };
	struct grader_subject s = { .tally = &t, .tmp = &w->tmp,
		.text = w->in->answer->output, .what = "output" };
	struct verdict *v;
	struct field_strs list;

	if (from->n == 0)
		return;
	v = add(w, name);
	if (!render(w, v, from, &list))
		return;
	if (how == ANY)
		any_of(&s, &list);
	else
		each_of(&s, &list, how == NONE);
	grader_subject_fini(&s);
	grader_conclude(w->arena, v, &t, how == NONE ?
	    "the output has nothing unwanted" :
	    "the output has what it should");
	v->details = details(w, name + 1, &list, &t);
}

static bool
called(const struct answer *a, struct str tool)
{
	const struct answer_call *c;

	for (c = a->calls; c != NULL; c = c->next)
		if (str_eq(c->name, tool))
			return true;
	return false;
}

static struct str
behavior_details(struct work *w, const struct grader_tally *t)
{
	const struct answer *a = w->in->answer;
	struct field_strs tools = grader_tools(&w->tmp, a);
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	grader_put_failures(&o, t);
	grader_put_counts(&o, w->in);
	grader_put_strs(&o, "tools_used", &tools);
	grader_put_tokens(&o, a);
	json_close(&o, '}');
	return grader_take(w->arena, &b);
}

static void
behavior(struct work *w)
{
	const struct spec_behavior *b = &w->want->behavior;
	const struct answer *a = w->in->answer;
	const struct answer_usage *u = &a->usage;
	struct field_strs tools = grader_tools(&w->tmp, a);
	struct grader_tally t = { .arena = &w->tmp };
	struct verdict *v;

	grader_limit(&t, "tool calls", b->max_tool_calls, (int64_t)a->ncalls,
	    true);
	grader_limit(&t, "turns", b->max_iterations, u->turns, u->known);
	grader_limit(&t, "tokens", b->max_tokens,
	    add_near(u->input_tokens, u->output_tokens), u->known);
	grader_limit(&t, "ms until the answer", b->max_response_time_ms,
	    w->in->duration_ms, true);
	grader_want_tools(&t, &w->tmp, &tools, &b->required_tools,
	    &b->forbidden_tools);
	if (t.total == 0)
		return;
	v = add(w, "_behavior");
	grader_conclude(w->arena, v, &t, "within all limits");
	v->details = behavior_details(w, &t);
}

static struct str
member(const struct json *v, const char *key)
{
	const struct json *m = json_getc(v, key);

	return m != NULL && m->type == JSON_STRING ? json_text(m) : STR("");
}

static void
outcome(struct work *w, struct grader_tally *t, const struct json *o)
{
	const struct answer *a = w->in->answer;
	struct str type = member(o, "type"), tool = member(o, "tool_name"), q;

	if (str_is(type, "task_completed")) {
		q = grader_quote(&w->tmp, a->error);
		if (a->fault == ANSWER_OK)
			grader_pass(t);
		else
			grader_fail(t, "the task was not completed: %.*s",
			    STRF(q));
	} else if (str_is(type, "tool_called") && tool.n > 0) {
		q = grader_quote(&w->tmp, tool);
		if (called(a, tool))
			grader_pass(t);
		else
			grader_fail(t, "tool %.*s was not called (%zu calls)",
			    STRF(q), a->ncalls);
	}
}

static void
outcomes(struct work *w)
{
	struct grader_tally t = { .arena = &w->tmp };
	const struct json *list = w->want->outcomes, *o;
	struct verdict *v;

	if (list == NULL || list->type != JSON_ARRAY)
		return;
	for (o = json_first(list); o != NULL; o = o->next)
		outcome(w, &t, o);
	if (t.total == 0)
		return;
	v = add(w, "_outcomes");
	grader_conclude(w->arena, v, &t, "all outcomes as expected");
	v->details = details(w, NULL, NULL, &t);
}

/* A call that the entry means: a tool's name, or a pattern in what was run. */
static int
matching(struct work *w, const struct json *entry, struct err *e)
{
	const struct answer_call *c;
	struct str tool, pattern, text;
	struct re *re = NULL;
	int hit = 0;

	tool = entry->type == JSON_STRING ? json_text(entry) :
	    member(entry, "tool");
	if (tool.n == 0)
		tool = member(entry, "name");
	pattern = member(entry, "pattern");
	if (pattern.n > 0 && (re = re_compile(&w->tmp, pattern, e)) == NULL)
		return -1;
	for (c = w->in->answer->calls; c != NULL && !hit; c = c->next) {
		text = arena_fmt(&w->tmp, "%.*s %.*s", STRF(c->name),
		    STRF(c->arguments));
		hit = (tool.n == 0 || str_eq(c->name, tool)) &&
		    (re == NULL || re_test(re, text));
	}
	return hit;
}

static void
calls(struct work *w, struct grader_tally *t, const char *key, int want)
{
	const struct json *list = json_getc(w->want->tool_calls, key), *o;
	struct arena_mark mark;
	struct err e = { 0 };
	struct str q;
	int hit;

	if (list == NULL)
		return;
	for (o = json_first(list); o != NULL; o = o->next) {
		mark = arena_save(&w->tmp);
		hit = matching(w, o, &e);
		arena_restore(&w->tmp, mark);
		q = o->type == JSON_STRING ? json_text(o) :
		    member(o, "pattern");
		q = grader_quote(&w->tmp, q.n > 0 ? q : member(o, "tool"));
		if (hit == want)
			grader_pass(t);
		else if (hit < 0)
			grader_fail(t, "invalid pattern %.*s: %s", STRF(q),
			    e.msg);
		else
			grader_fail(t, want ? "no call like %.*s (%zu calls)" :
			    "unwanted call like %.*s (%zu calls)", STRF(q),
			    w->in->answer->ncalls);
	}
}

static void
tool_calls(struct work *w)
{
	struct grader_tally t = { .arena = &w->tmp };
	struct verdict *v;

	if (w->want->tool_calls == NULL)
		return;
	calls(w, &t, "required", 1);
	calls(w, &t, "forbidden", 0);
	if (t.total == 0)
		return;
	v = add(w, "_tool_calls");
	grader_conclude(w->arena, v, &t, "all calls as expected");
	v->details = behavior_details(w, &t);
}

static void
want_skill(struct work *w, struct grader_tally *t, bool want)
{
	const struct field_strs *used = &w->in->answer->skills;
	struct str name = w->in->suite->skill, q;
	bool was = false;
	size_t i;

	for (i = 0; i < used->n; i++)
		was = was || name.n == 0 || str_eq(used->v[i], name);
	q = grader_quote(&w->tmp, name);
	if (was == want)
		grader_pass(t);
	else
		grader_fail(t, "skill %.*s was %s", STRF(q),
		    was ? "used, and should not be" : "not used");
}

/* Only where skills are reported at all. */
static void
skill(struct work *w)
{
	const struct spec_expected *x = w->want;
	struct grader_tally t = { .arena = &w->tmp };
	struct verdict *v;

	if (w->in->answer->skills.n == 0 && !w->in->answer->skills_known)
		return;
	if (x->says_trigger)
		want_skill(w, &t, x->should_trigger);
	if (x->says_activated)
		want_skill(w, &t, x->skill_activated);
	if (t.total == 0)
		return;
	v = add(w, "_skill");
	grader_conclude(w->arena, v, &t, "skills as expected");
	v->details = details(w, "skills", &w->in->answer->skills, &t);
}

static bool
is_outcome(const struct json *o)
{
	struct str type = member(o, "type");

	return str_is(type, "task_completed") || (str_is(type, "tool_called") &&
	    member(o, "tool_name").n > 0);
}

static bool
any_in(const struct json *list)
{
	return list != NULL && json_first(list) != NULL;
}

bool
grader_expects(const struct spec_expected *x, bool tells_skills)
{
	const struct spec_behavior *b = &x->behavior;
	const struct json *o = NULL;

	if (x->outcomes != NULL && x->outcomes->type == JSON_ARRAY)
		o = json_first(x->outcomes);
	while (o != NULL && !is_outcome(o))
		o = o->next;
	return o != NULL || x->output_contains.n > 0 ||
	    x->output_not_contains.n > 0 || x->output_contains_any.n > 0 ||
	    b->max_tool_calls >= 0 || b->max_iterations >= 0 ||
	    b->max_tokens >= 0 || b->max_response_time_ms >= 0 ||
	    b->required_tools.n > 0 || b->forbidden_tools.n > 0 ||
	    (x->tool_calls != NULL &&
	    (any_in(json_getc(x->tool_calls, "required")) ||
	    any_in(json_getc(x->tool_calls, "forbidden")))) ||
	    (tells_skills && (x->says_trigger || x->says_activated));
}

struct verdict *
grader_expected(struct arena *a, const struct grader_input *in, size_t *n)
{
	struct work w = { .arena = a, .in = in, .want = in->task->expected };
	size_t i;

	*n = 0;
	if (w.want == NULL)
		return NULL;
	w.v = NEW_N(a, struct verdict, VERDICT_MAX);
	output(&w, "_output_contains", &w.want->output_contains, ALL);
	output(&w, "_output_not_contains", &w.want->output_not_contains, NONE);
	output(&w, "_output_contains_any", &w.want->output_contains_any, ANY);
	behavior(&w);
	outcomes(&w);
	tool_calls(&w);
	skill(&w);
	arena_free(&w.tmp);
	if (in->answer->echo &&
	    in->suite->graders.n + in->task->graders.n > 0)
		for (i = 0; i < w.n; i++)
			w.v[i].advisory = true;
	*n = w.n;
	return w.v;
}

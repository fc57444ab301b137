/* SPDX-License-Identifier: ISC */
/*
 * The controls of a suite: one run for each, one after the other, and what
 * they show about each task.
 */
#include "run/control/control_internal.h"

#include <string.h>

#include "json.h"

enum { NAMED_MAX = 6 };		/* graders in a note */

/* Why an agent that does nothing gets past a grader, by type or name. */
static const struct hint {
	const char *word, *why;
	bool negative;		/* it demands that something does not happen */
} hints[] = {			/* sorted by word */
	{ "_behavior", "doing nothing exceeds no limit", true },
	{ "_outcomes", "any answer completes the task", false },
	{ "_output_not_contains", "an empty answer contains nothing unwanted",
	    true },
	{ "_skill", "no skill was used", true },
	{ "_tool_calls", "no tool was called", true },
	{ "action_sequence", "no tool was called", true },
	{ "behavior", "doing nothing exceeds no limit", true },
	{ "code", "its assertions are true of an empty answer", false },
	{ "diff", "the untouched files satisfy it", false },
	{ "file", "the untouched files satisfy it", false },
	{ "file_exists", "the untouched files satisfy it", false },
	{ "json_schema", "it accepts an empty answer", false },
	{ "keyword", "an empty answer contains nothing unwanted", true },
	{ "program", "its program accepts that nothing was done", false },
	{ "regex", "it accepts an empty answer", true },
	{ "skill_invocation", "no skill was used", true },
	{ "text", "it accepts an empty answer", true },
	{ "tool_calls", "no tool was called", true },
	{ "tool_constraint", "no tool was called", true },
	{ "trigger", "it looks at the prompt, not at the answer", false },
};

static const struct hint *
find_hint(struct str name, struct str type)
{
	size_t i;

	for (i = 0; i < COUNTOF(hints); i++)
		if (str_is(type.n > 0 ? type : name, hints[i].word))
			return &hints[i];
	return NULL;
}

void
control_add_name(struct arena *a, struct field_strs *list, struct str name)
{
	struct str *v = NEW_N(a, struct str, list->n + 1);

	if (list->n > 0)
		memcpy(v, list->v, list->n * sizeof(*v));
	v[list->n++] = arena_str(a, name);
	list->v = v;
}

/* The graders that passed, or those without a verdict. */
static void
list_graders(struct arena *a, const struct json *verdicts,
    struct control_finding *f)
{
	const struct json *v;
	bool passed;

	for (v = json_first(verdicts); v != NULL; v = v->next)
		if (control_counts(v, &passed) ? f->verdict == CONTROL_PASSED :
		    f->verdict == CONTROL_UNKNOWN)
			control_add_name(a, &f->graders, json_key(v));
}

/* The reasons why nothing passes, and what to do. */
static struct str
explain(struct arena *a, const struct json *verdicts)
{
	const struct json *v;
	const struct hint *h;
	struct buf b = { 0 };
	bool passed, negative = true;
	size_t n = 0;

	for (v = json_first(verdicts); v != NULL; v = v->next) {
		if (!control_counts(v, &passed))
			continue;
		h = find_hint(json_key(v), json_str(v, "type"));
		negative = negative && h != NULL && h->negative;
		if (n++ < NAMED_MAX)
			buf_fmt(&b, "%s%.*s%s%s", n > 1 ? "; " : "",
			    STRF(utf8_cut(json_key(v), 100)),
			    h != NULL ? ": " : "", h != NULL ? h->why : "");
	}
	if (n > NAMED_MAX)
		buf_fmt(&b, "; and %zu more", n - NAMED_MAX);
	if (negative)
		buf_puts(&b, "; if doing nothing is right here, also check "
		    "what the agent answers: nothing else proves that it "
		    "worked");
	return arena_take(a, &b);
}

static void
collect(struct control_set *s, size_t task, struct control_finding *f)
{
	struct arena tmp = { 0 }, *a = s->env.arena;
	struct control_found found;

	if (f->control->kind == SPEC_CONTROL_MUTATE) {
		control_collect_mutants(&s->run, a, task, f);
		return;
	}
	found = control_read(&s->run, &tmp, task, 0);
	f->verdict = found.verdict;
	list_graders(a, found.verdicts, f);
	if (f->verdict == CONTROL_UNKNOWN)
		f->note = arena_str(a, found.why);
	else if (f->verdict == CONTROL_PASSED &&
	    f->control->kind == SPEC_CONTROL_NULL)
		f->note = explain(a, found.verdicts);
	arena_free(&tmp);
}

static void next(struct control_set *);

static void
on_done(void *arg)
{
	struct control_set *s = arg;
	size_t i;

	for (i = 0; i < s->ntasks; i++)
		collect(s, i, &s->findings[i * s->list.n + s->at]);
	control_run_free(&s->run);
	s->at++;
	next(s);
}

static void
next(struct control_set *s)
{
	const struct spec_control *c = &s->list.v[s->at];
	size_t i, per = 1;

	if (s->at == s->list.n || s->cancelled) {
		s->done(s->arg);
		return;
	}
	if (c->kind == SPEC_CONTROL_MUTATE)
		per = AGENT_MUTATIONS;
	s->run = (struct control_run){ .env = &s->env,
		.ncases = s->ntasks * per, .trials = 1,
		.answer = { .kind = (int)c->kind, .text = c->text,
		    .replay = s->env.replay },
		.mutates = c->kind == SPEC_CONTROL_MUTATE, .done = on_done,
		.arg = s };
	if (s->run.mutates && s->env.trials > 1)
		s->run.trials = s->env.trials;
	s->run.cases = NEW_N(s->env.arena, struct control_case,
	    s->run.ncases);
	for (i = 0; i < s->run.ncases; i++)
		s->run.cases[i] = (struct control_case){ s->tasks[i / per],
			c->script };
	control_run_start(&s->run);
}

void
control_start(struct control_set *s)
{
	size_t i, n = s->list.n;

	s->findings = NEW_N(s->env.arena, struct control_finding,
	    s->ntasks * n);
	for (i = 0; i < s->ntasks * n; i++)
		s->findings[i] = (struct control_finding){
			.task = s->tasks[i / n], .control = &s->list.v[i % n],
			.verdict = CONTROL_UNKNOWN };
	next(s);
}

void
control_cancel(struct control_set *s)
{
	s->cancelled = true;
	control_run_cancel(&s->run);
}

void
control_drop(struct control_set *s)
{
	control_run_free(&s->run);
}

static void
put_finding(struct json_out *o, const struct control_finding *f)
{
	static const char *const verdicts[] = {
		[CONTROL_FAILED] = "failed", [CONTROL_PASSED] = "passed",
		[CONTROL_UNKNOWN] = "unknown"
	};
	size_t i;

	json_open(o, '{');
	json_put_member_str(o, "control", f->control->name);
	json_put_member_cstr(o, "verdict", verdicts[f->verdict]);
	if (f->control->kind == SPEC_CONTROL_MUTATE) {
		json_put_member_int(o, "altered", (int64_t)f->altered);
		json_put_member_int(o, "accepted", (int64_t)f->survived);
	}
	if (f->graders.n > 0) {
		json_open_member(o, "graders", '[');
		for (i = 0; i < f->graders.n; i++)
			json_put_str(o, f->graders.v[i]);
		json_close(o, ']');
	}
	json_put_member_nonempty(o, "note", f->note);
	json_close(o, '}');
}

struct str
control_json(struct arena *a, const struct control_finding *f, size_t n)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i;

	if (n == 0)
		return STR("");
	json_open(&o, '[');
	for (i = 0; i < n; i++)
		put_finding(&o, &f[i]);
	json_close(&o, ']');
	return arena_take(a, &b);
}

/* SPDX-License-Identifier: ISC */
/*
 * Checks of settings, for all kinds: notes at a place, templates, patterns, and
 * what the executor reports.
 *
 * A string with a template is checked after expansion.  For a grader of the
 * suite the expansion depends on the task, so the string is checked with each
 * task's values until one of them is invalid.
 */
#include "grade/grader_internal.h"

#include <stdarg.h>

#include "agent/agent.h"
#include "json.h"
#include "lib/re/re.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

void
grader_note(struct grader_check *c, enum field_level level,
    const struct json *at, const char *fmt, ...)
{
	struct spec_where where;
	struct str msg;
	va_list ap;

	va_start(ap, fmt);
	msg = arena_vfmt(c->tmp, fmt, ap);
	va_end(ap);
	if (at != NULL && at->line > 0)
		where = (struct spec_where){ c->file, at->line, at->col };
	else
		where = c->spec != NULL ? c->spec->at : c->task->at;
	spec_note(c->notes, level, where, "%.*s", STRF(msg));
}

void
grader_note_empty(struct grader_check *c)
{
	grader_note(c, FIELD_ERROR, NULL, "this grader checks nothing: "
	    "add a setting of its kind, see waza-eval(5)");
}

/* Placeholder values for what only a run knows. */
static struct tmpl_vars
trial_vars(struct arena *a, const struct spec_suite *suite,
    const struct spec_task *task)
{
	return (struct tmpl_vars){ .job_id = STR("run"),
		.task_name = task->name,
		.timestamp = STR("1970-01-01T00:00:00Z"),
		.iteration = 1, .attempt = 1,
		.vars = { spec_vars(a, task), suite->inputs } };
}

/* A string whose templates are expanded and then checked by fn, if set. */
struct check_str {
	struct grader_check *c;
	const struct json *node;
	struct str text;
	bool (*fn)(struct grader_check *, const struct json *, struct str);
};

static bool
check_for_task(const struct check_str *u, const struct spec_task *task)
{
	struct arena_mark mark = arena_save(u->c->tmp);
	struct tmpl_vars vars = trial_vars(u->c->tmp, u->c->suite, task);
	struct err e = { 0 };
	struct str s = tmpl_render(u->c->tmp, u->text, &vars, &e);
	bool ok = s.p != NULL;

	if (!ok)
		grader_note(u->c, FIELD_ERROR, u->node, "template: %s", e.msg);
	else if (u->fn != NULL)
		ok = u->fn(u->c, u->node, s);
	arena_restore(u->c->tmp, mark);
	return ok;
}

static void
check_str(const struct check_str *u)
{
	struct arena_mark mark;
	size_t i;

	if (!tmpl_any(u->text)) {
		mark = arena_save(u->c->tmp);
		if (u->fn != NULL)
			u->fn(u->c, u->node, u->text);
		arena_restore(u->c->tmp, mark);
	} else if (u->c->task != NULL) {
		check_for_task(u, u->c->task);
	} else {
		for (i = 0; i < u->c->suite->ntasks; i++)
			if (!check_for_task(u, &u->c->suite->tasks[i]))
				return;
	}
}

void
grader_check_each(struct grader_check *c, const struct json *obj,
    const char *key, bool (*fn)(struct grader_check *, const struct json *,
    struct str))
{
	const struct json *v = json_getc(obj, key);
	struct check_str u = { .c = c, .fn = fn };
	bool one;

	if (v == NULL)
		return;
	one = v->type != JSON_ARRAY;
	for (u.node = one ? v : json_first(v); u.node != NULL;
	    u.node = one ? NULL : u.node->next) {
		if (u.node->type != JSON_STRING && u.node->type != JSON_NUMBER)
			continue;
		u.text = json_text(u.node);
		check_str(&u);
	}
}

bool
grader_check_pattern(struct grader_check *c, const struct json *node,
    struct str pattern)
{
	struct err e = { 0 };
	struct str q;

	if (re_compile(c->tmp, pattern, &e) != NULL)
		return true;
	q = grader_quote(c->tmp, pattern);
	grader_note(c, FIELD_ERROR, node, "invalid pattern %.*s: %s", STRF(q),
	    e.msg);
	return false;
}

bool
grader_check_name(struct grader_check *c, const struct json *node,
    struct str name)
{
	if (name.n > 0)
		return true;
	grader_note(c, FIELD_ERROR, node, "empty name");
	return false;
}

bool
grader_check_templates(struct grader_check *c, const struct json *v)
{
	struct check_str u = { .c = c, .node = v };
	size_t errors = c->notes->errors;
	const struct json *child;

	if (v->type == JSON_STRING) {
		u.text = json_text(v);
		if (tmpl_any(u.text))
			check_str(&u);
	} else if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) {
		for (child = json_first(v); child != NULL; child = child->next)
			grader_check_templates(c, child);
	}
	return c->notes->errors == errors;
}

void
grader_check_skills(struct grader_check *c)
{
	const struct agent_kind *k = agent_find(c->suite->config.executor);

	if (c->noted_skills || agent_may_report_skills(c->suite, c->task))
		return;
	c->noted_skills = true;
	grader_note(c, FIELD_WARNING, NULL,
	    "executor \"%.*s\" does not report the skills that it used: this "
	    "grader will %s", STRF(c->suite->config.executor),
	    k->scripted ? "see none" : "be skipped");
}

void
grader_check_told(struct grader_check *c, unsigned needed)
{
	static const struct { unsigned bit; const char *what; } words[] = {
		{ AGENT_CALLS, "tool calls" },
		{ AGENT_NAMES, "the names of tools" },
		{ AGENT_ARGUMENTS, "arguments" },
		{ AGENT_TOKENS, "tokens" }, { AGENT_TURNS, "turns" },
	};
	unsigned untold = needed & ~c->noted & agent_untold(c->suite);
	struct str agent;
	size_t i;

	if (untold == 0)
		return;
	c->noted |= untold;
	agent = utf8_cut(agent_label(c->tmp, c->suite->config.executor,
	    c->suite), 80);
	for (i = 0; i < COUNTOF(words); i++)
		if (untold & words[i].bit)
			grader_note(c, FIELD_WARNING, NULL, "%.*s does not "
			    "report %s: rules on that cannot be checked, and "
			    "their trials end as errors", STRF(agent),
			    words[i].what);
}

static bool
is_graded(const struct spec_suite *suite, const struct spec_task *task)
{
	return suite->graders.n > 0 || task->def->graders.n > 0 ||
	    task->def->checkpoints.n > 0 ||
	    (task->def->expected != NULL &&
	    grader_has_expectations(task->def->expected));
}

/*
 * Notes only the first row of a CSV table, since its rows are alike, and
 * nothing if there are errors, since these may be why graders are missing.
 */
void
grader_check_task(struct grader_check *c, const struct spec_task *before)
{
	if (c->notes->errors > 0 || is_graded(c->suite, c->task))
		return;
	if (before != NULL && spec_is_row(before) && spec_is_row(c->task) &&
	    before->def->expected == c->task->def->expected &&
	    !is_graded(c->suite, before))
		return;
	grader_note(c, FIELD_WARNING, NULL,
	    "this task has no graders: its trials will end as errors");
}

void
grader_check_metrics(struct grader_check *c)
{
	const struct spec_metric *m = c->suite->metrics.v;
	size_t i;

	for (i = 0; i < c->suite->metrics.n; i++) {
		struct arena_mark mark = arena_save(c->tmp);
		struct str q = grader_quote(c->tmp, m[i].name);
		bool accuracy = str_is(m[i].name, "trigger_accuracy");

		if (!m[i].enabled || str_is(m[i].name, "task_completion") ||
		    (accuracy && c->suite->triggers != NULL))
			;
		else if (accuracy)
			spec_note(c->notes, FIELD_WARNING, m[i].at,
			    "metric %.*s has no effect without "
			    "trigger tests", STRF(q));
		else
			spec_note(c->notes, FIELD_WARNING, m[i].at,
			    "metric %.*s has no effect: it is not "
			    "supported", STRF(q));
		arena_restore(c->tmp, mark);
	}
}

/* SPDX-License-Identifier: ISC */
/*
 * What the checks of settings share: notes at a place, templates, patterns.
 *
 * A string with a template is checked as what it will be.  For a grader of
 * the suite that depends on the task, so it is tried with each task's values
 * until one is wrong, and that one is told.
 */
#include "grade/grader_internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "json.h"
#include "lib/re/re.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

void
grader_note(struct grader_check *c, enum field_level level,
    const struct json *at, const char *fmt, ...)
{
	struct spec_where where;
	char msg[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	if (at != NULL && at->line > 0)
		where = (struct spec_where){ c->file, at->line, at->col };
	else
		where = c->spec != NULL ? c->spec->at : c->task->at;
	spec_note(c->notes, level, where, "%s", msg);
}

void
grader_nothing(struct grader_check *c)
{
	grader_note(c, FIELD_ERROR, NULL, "this grader checks nothing");
}

bool
grader_blank(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] != ' ' && (s.p[i] < '\t' || s.p[i] > '\r'))
			return false;
	return true;
}

/* Values of the right shape for what only a run knows. */
static struct tmpl_vars
trial_vars(const struct spec_suite *suite, const struct spec_task *task)
{
	return (struct tmpl_vars){ .job_id = STR("run"),
		.task_name = task->name,
		.timestamp = STR("1970-01-01T00:00:00Z"),
		.iteration = 1, .attempt = 1,
		.vars = { task->vars, suite->inputs } };
}

struct use {
	struct grader_check *c;
	const struct json *node;
	struct str text;
	bool (*fn)(struct grader_check *, const struct json *, struct str);
};

static bool
use_with(const struct use *u, const struct spec_task *task)
{
	struct arena_mark mark = arena_save(u->c->tmp);
	struct tmpl_vars vars = trial_vars(u->c->suite, task);
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
use(const struct use *u)
{
	struct arena_mark mark;
	size_t i;

	if (!tmpl_any(u->text)) {
		mark = arena_save(u->c->tmp);
		if (u->fn != NULL)
			u->fn(u->c, u->node, u->text);
		arena_restore(u->c->tmp, mark);
	} else if (u->c->task != NULL) {
		use_with(u, u->c->task);
	} else {
		for (i = 0; i < u->c->suite->ntasks; i++)
			if (!use_with(u, &u->c->suite->tasks[i]))
				return;
	}
}

void
grader_each(struct grader_check *c, const struct json *obj, const char *key,
    bool (*fn)(struct grader_check *, const struct json *, struct str))
{
	const struct json *v = json_getc(obj, key);
	struct use u = { .c = c, .fn = fn };
	bool one;

	if (v == NULL)
		return;
	one = v->type != JSON_ARRAY;
	for (u.node = one ? v : json_first(v); u.node != NULL;
	    u.node = one ? NULL : u.node->next) {
		if (u.node->type != JSON_STRING && u.node->type != JSON_NUMBER)
			continue;
		u.text = json_text(u.node);
		use(&u);
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
grader_check_templates(struct grader_check *c, const struct json *v)
{
	struct use u = { .c = c, .node = v };
	size_t errors = c->notes->errors;
	const struct json *child;

	if (v->type == JSON_STRING) {
		u.text = json_text(v);
		if (tmpl_any(u.text))
			use(&u);
	} else if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) {
		for (child = json_first(v); child != NULL; child = child->next)
			grader_check_templates(c, child);
	}
	return c->notes->errors == errors;
}

/*
 * Strings that were decoded without their places.  An empty one is in every
 * output; where `enough` of them decide, there is nothing left to check.
 */
static void
check_strs(struct grader_check *c, const char *key,
    const struct field_strs *list, size_t enough)
{
	struct use u = { .c = c };
	size_t i, empty = 0;

	for (i = 0; i < list->n; i++) {
		u.text = list->v[i];
		use(&u);
		empty += list->v[i].n == 0;
	}
	if (empty >= enough && empty > 0)
		grader_note(c, FIELD_ERROR, NULL, "\"%s\" checks nothing: an "
		    "empty string is in every output", key);
	else if (empty > 0)
		grader_note(c, FIELD_WARNING, NULL, "\"%s\" has an empty "
		    "string, which is in every output", key);
}

static void
check_outcomes(struct grader_check *c, const struct json *list)
{
	const struct json *o, *type, *tool;

	if (list == NULL)
		return;
	if (list->type != JSON_ARRAY)
		grader_note(c, FIELD_WARNING, list,
		    "\"outcomes\" has no effect: it is not a list");
	for (o = json_first(list); o != NULL; o = o->next) {
		type = json_getc(o, "type");
		tool = json_getc(o, "tool_name");
		if (type == NULL || type->type != JSON_STRING)
			grader_note(c, FIELD_WARNING, o,
			    "this outcome has no effect: it has no type");
		else if (str_is(json_text(type), "task_completed"))
			continue;
		else if (!str_is(json_text(type), "tool_called"))
			grader_note(c, FIELD_WARNING, type,
			    "outcome \"%.*s\" has no effect: there is no way "
			    "to check it", (int)(type->n < 40 ? type->n : 40),
			    json_text(type).p);
		else if (tool == NULL || tool->type != JSON_STRING ||
		    tool->n == 0)
			grader_note(c, FIELD_WARNING, o,
			    "outcome \"tool_called\" has no effect without "
			    "\"tool_name\"");
	}
}

static void
check_call(struct grader_check *c, const struct json *entry)
{
	const struct json *v;

	if (entry->type == JSON_STRING)
		return;
	if (json_getc(entry, "pattern") == NULL &&
	    json_getc(entry, "tool") == NULL &&
	    json_getc(entry, "name") == NULL) {
		grader_note(c, FIELD_ERROR, entry,
		    "expected a \"pattern\" or a \"tool\" here");
		return;
	}
	for (v = json_first(entry); v != NULL; v = v->next)
		if (v->type != JSON_STRING)
			grader_note(c, FIELD_ERROR, v,
			    "\"%.*s\" must be a string", STRF(json_key(v)));
	grader_each(c, entry, "pattern", grader_check_pattern);
}

static void
check_calls(struct grader_check *c, const struct json *map)
{
	const struct json *list, *entry;

	if (map == NULL)
		return;
	if (map->type != JSON_OBJECT)
		grader_note(c, FIELD_WARNING, map,
		    "\"tool_calls\" has no effect: it is not a mapping");
	for (list = json_first(map); list != NULL; list = list->next) {
		if (list->type != JSON_ARRAY ||
		    (!str_is(json_key(list), "required") &&
		    !str_is(json_key(list), "forbidden"))) {
			grader_note(c, FIELD_WARNING, list,
			    "only lists \"required\" and \"forbidden\" have an "
			    "effect here");
			continue;
		}
		for (entry = json_first(list); entry != NULL;
		    entry = entry->next)
			check_call(c, entry);
	}
}

bool
grader_tells_skills(const struct spec_suite *suite,
    const struct spec_task *task)
{
	struct str name = suite->config.executor;
	size_t i;

	if (str_is(name, "command"))
		return suite->config.persistent;
	if (!str_is(name, "mock"))
		return !str_is(name, "remote") && !str_is(name, "openai");
	if (suite->config.mock != NULL || task != NULL)
		return suite->config.mock != NULL || task->mock != NULL;
	for (i = 0; i < suite->ntasks; i++)
		if (suite->tasks[i].mock != NULL)
			return true;
	return false;
}

void
grader_check_expected(struct grader_check *c)
{
	const struct spec_expected *x = c->task->expected;

	check_strs(c, "output_contains", &x->output_contains,
	    x->output_contains.n);
	check_strs(c, "output_not_contains", &x->output_not_contains,
	    x->output_not_contains.n);
	check_strs(c, "output_contains_any", &x->output_contains_any, 1);
	check_outcomes(c, x->outcomes);
	check_calls(c, x->tool_calls);
	if ((x->says_trigger || x->says_activated) && !c->told_skills &&
	    !grader_tells_skills(c->suite, c->task)) {
		c->told_skills = true;
		grader_note(c, FIELD_WARNING, NULL,
		    "\"%s\" has no effect with executor \"%.*s\", which does "
		    "not tell the skills it used", x->says_trigger ?
		    "should_trigger" : "skill_activated",
		    STRF(c->suite->config.executor));
	}
}

static bool
is_graded(const struct spec_suite *suite, const struct spec_task *task)
{
	return suite->graders.n > 0 || task->graders.n > 0 ||
	    (task->expected != NULL && grader_expects(task->expected,
	    grader_tells_skills(suite, task)));
}

/*
 * Of a table, whose rows are all alike, the first row is enough.  Nothing is
 * said where there are errors, which may have cost the task its graders.
 */
void
grader_check_graded(struct grader_check *c, const struct spec_task *before)
{
	if (c->notes->errors > 0 || is_graded(c->suite, c->task))
		return;
	if (before != NULL && before->vars != NULL && c->task->vars != NULL &&
	    before->expected == c->task->expected &&
	    !is_graded(c->suite, before))
		return;
	grader_note(c, FIELD_WARNING, NULL,
	    "nothing grades this task: its trials will end as errors");
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
			    "metric %.*s comes only with trigger tests; it "
			    "has no effect", STRF(q));
		else
			spec_note(c->notes, FIELD_WARNING, m[i].at,
			    "metric %.*s is not computed; it has no effect",
			    STRF(q));
		arena_restore(c->tmp, mark);
	}
}

static int
render_strs(struct arena *a, struct field_strs *list,
    const struct tmpl_vars *vars, struct err *e)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (!tmpl_any(list->v[i]))
			continue;
		list->v[i] = tmpl_render(a, list->v[i], vars, e);
		if (list->v[i].p == NULL)
			return -1;
	}
	return 0;
}

static int
render_str(struct arena *a, struct str *s, const struct tmpl_vars *vars,
    struct err *e)
{
	struct field_strs one = { s, 1 };

	return render_strs(a, &one, vars, e);
}

int
grader_render(struct arena *a, const struct field_table *t, void *settings,
    const struct tmpl_vars *vars, struct err *e)
{
	const struct field *f;
	struct field_list *list;
	char *at;
	size_t i;
	int rc = 0;

	for (f = t->rows; f < t->rows + t->n && rc == 0; f++) {
		at = (char *)settings + f->off;
		if (f->type == FIELD_STR) {
			rc = render_str(a, (struct str *)(void *)at, vars, e);
		} else if (f->type == FIELD_STRS) {
			rc = render_strs(a, (struct field_strs *)(void *)at,
			    vars, e);
		} else if (f->type == FIELD_OBJECTS) {
			list = (struct field_list *)(void *)at;
			for (i = 0; i < list->n && rc == 0; i++)
				rc = grader_render(a, f->sub, (char *)list->v +
				    i * f->sub->size, vars, e);
		}
	}
	return rc;
}

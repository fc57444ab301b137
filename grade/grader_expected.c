/* SPDX-License-Identifier: ISC */
/*
 * The `expected:` block of a task: its checks before the run, and its verdicts.
 *
 * Each part of the block leads to one verdict, which lists all failures.  A
 * part that needs what the agent does not report is an error, unless another
 * check of it fails; skills are skipped then.
 */
#include "grade/grader_trace.h"

#include <string.h>

#include "agent/agent.h"
#include "json.h"
#include "lib/re/re.h"
#include "suite/spec.h"

enum {
	VERDICT_MAX = 7,
	CALL_COST = 200,	/* of comparing a call, in units of a budget */
	SYNONYMS = 32		/* about as often a pattern is compared */
};

struct work {
	struct arena *arena;
	struct budget *budget;
	const struct grader_input *in;
	const struct spec_expected *want;
	struct arena tmp;
	struct grader_trace trace;
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
	return arena_take(w->arena, &b);
}

/* Counts one check: the text contains one of the strings. */
static void
expect_any(struct grader_subject *s, const struct field_strs *list)
{
	struct str strings;
	size_t i;

	for (i = 0; i < list->n; i++)
		if (grader_contains(s, list->v[i])) {
			grader_pass(s->tally);
			return;
		}
	strings = grader_quote_list(s->tmp, list);
	grader_fail(s->tally, "the output contains none of %.*s",
	    STRF(strings));
}

enum how { ALL, NONE, ANY };

static void
grade_output(struct work *w, const char *name, const struct field_strs *from,
    enum how how)
{
	struct grader_tally t = { .arena = &w->tmp };
	struct grader_subject s = { .tally = &t, .tmp = &w->tmp,
		.budget = w->budget,
		.text = w->in->answer->output, .what = "output" };
	struct field_strs list = { NEW_N(&w->tmp, struct str, from->n),
		from->n };
	struct verdict *v;
	struct err e = { 0 };
	size_t i;

	if (from->n == 0)
		return;
	v = add(w, name);
	memcpy(list.v, from->v, from->n * sizeof(*list.v));
	if (grader_render_strs(&w->tmp, &list, w->in->vars, &e) == -1) {
		v->error = arena_fmt(w->arena, "template: %s", e.msg);
		return;
	}
	if (how == ANY)
		expect_any(&s, &list);
	for (i = 0; how != ANY && i < list.n; i++)
		grader_check_text(&s, list.v[i], false, how == NONE);
	grader_subject_fini(&s);
	grader_conclude(w->arena, v, &t, how == NONE ?
	    "the output contains nothing unwanted" :
	    "the output contains the expected text");
	v->details = details(w, name + 1, &list, &t);
}


static struct str
behavior_details(struct work *w, const struct grader_tally *t)
{
	const struct answer *a = w->in->answer;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	grader_put_failures(&o, t);
	grader_put_counts(&o, w->in);
	grader_put_strs(&o, "tools_used", &w->trace.names);
	if (t->failed > 0)
		grader_put_calls(&o, a);
	grader_put_tokens(&o, a);
	json_close(&o, '}');
	return arena_take(w->arena, &b);
}

/* Adds a verdict of that name if any check was made; else NULL. */
static struct verdict *
conclude(struct work *w, const char *name, const struct grader_tally *t,
    const char *success)
{
	struct verdict *v;

	if (t->total + t->nunknown == 0)
		return NULL;
	v = add(w, name);
	grader_conclude(w->arena, v, t, success);
	return v;
}

static void
grade_behavior(struct work *w)
{
	const struct spec_behavior *b = &w->want->behavior;
	struct grader_tally t = { .arena = &w->tmp };
	struct verdict *v;

	grader_limit(&t, w->in, GRADER_CALLS, b->max_tool_calls);
	grader_limit(&t, w->in, GRADER_TURNS, b->max_iterations);
	grader_limit(&t, w->in, GRADER_TOKENS, b->max_tokens);
	grader_limit(&t, w->in, GRADER_TIME, b->max_response_time_ms);
	grader_expect_tools(&t, &w->tmp, &w->trace, &b->required_tools,
	    &b->forbidden_tools);
	v = conclude(w, "_behavior", &t, "within all limits");
	if (v != NULL) {
		grader_add_calls(w->arena, v, w->in->answer);
		v->details = behavior_details(w, &t);
	}
}

static void
grade_outcome(struct work *w, struct grader_tally *t, const struct json *o)
{
	const struct answer *a = w->in->answer;
	struct str type = json_str(o, "type"), q;
	struct str tool = json_str(o, "tool_name");
	const char *doubt;

	if (str_is(type, "task_completed")) {
		q = grader_quote(&w->tmp, a->error);
		if (a->fault == ANSWER_OK)
			grader_pass(t);
		else
			grader_fail(t, "the task was not completed: %.*s",
			    STRF(q));
	} else if (str_is(type, "tool_called") && tool.n > 0) {
		q = grader_quote(&w->tmp, tool);
		if (grader_trace_count(&w->trace, tool, &doubt) > 0)
			grader_pass(t);
		else if (doubt != NULL)
			grader_unknown(t, w->in, doubt);
		else
			grader_fail(t, "tool %.*s was not called (%zu tool "
			    "calls)", STRF(q), a->ncalls);
	}
}

static void
grade_outcomes(struct work *w)
{
	struct grader_tally t = { .arena = &w->tmp };
	const struct json *list = w->want->outcomes, *o;
	struct verdict *v;

	if (list == NULL || list->type != JSON_ARRAY)
		return;
	for (o = json_first(list); o != NULL; o = o->next)
		grade_outcome(w, &t, o);
	v = conclude(w, "_outcomes", &t, "all outcomes are as expected");
	if (v != NULL)
		v->details = details(w, NULL, NULL, &t);
}

/* A pattern for calls. */
struct pattern {
	struct re *re;			/* NULL: any call */
	struct re *whole;		/* matches only whole names */
};

static int
read_pattern(struct work *w, struct str text, struct pattern *p, struct err *e)
{
	*p = (struct pattern){ .re = NULL };
	if (text.n == 0)
		return 0;
	p->re = re_compile(&w->tmp, text, e);
	p->whole = p->re == NULL ? NULL : re_compile(&w->tmp, arena_fmt(
	    &w->tmp, "^(?:%.*s)$", STRF(text)), e);
	if (p->whole == NULL)
		return -1;
	re_limit(p->re, w->budget);
	re_limit(p->whole, w->budget);
	return 0;
}

/* Whether "NAME REST" matches. */
static bool
is_line_match(struct pattern *p, struct buf *line, struct str name,
    struct str rest)
{
	line->n = 0;
	buf_fmt(line, "%.*s %.*s", STRF(name), STRF(rest));
	return re_test(p->re, buf_str(line));
}

/* Not if it matches only a part of the name: "rm" is in "terminal". */
static bool
is_synonym_match(struct pattern *p, struct str name)
{
	return !re_test(p->re, name) || re_test(p->whole, name);
}

/*
 * Whether a call matches: under its own name and under those of other agents'
 * tools that do the same, with its arguments and with what it acts on.
 */
static bool
is_match(struct pattern *p, const struct answer_call *c)
{
	const struct str *const own[] = { &c->command, &c->path, &c->url,
		&c->skill };
	uint64_t does = c->does != 0 ? c->does : answer_plain(c->tool);
	struct buf line = { 0 }, object = { 0 };
	const char *name = answer_tool_name(c->tool);
	size_t i;
	bool hit;

	for (i = 0; i < COUNTOF(own); i++)
		if (own[i]->n > 0)
			buf_fmt(&object, "%s%.*s", object.n > 0 ? " " : "",
			    STRF(*own[i]));
	hit = is_line_match(p, &line, c->name, c->arguments) ||
	    is_line_match(p, &line, str_of(name), buf_str(&object));
	for (i = 0; !hit && (name = answer_synonym(does, i)) != NULL; i++)
		hit = *name != '\0' && is_synonym_match(p, str_of(name)) &&
		    (is_line_match(p, &line, str_of(name), c->arguments) ||
		    is_line_match(p, &line, str_of(name), buf_str(&object)));
	buf_free(&line);
	buf_free(&object);
	return hit;
}

static bool
is_told(const struct answer_call *c)
{
	return !c->no_arguments || (!c->more_paths && c->command.n +
	    c->path.n + c->url.n + c->skill.n > 0);
}

/*
 * Whether some call matches the entry: the name of a tool, a pattern for name
 * and arguments, or both.  -1 and *e: the pattern is invalid.  *doubt: what the
 * agent does not report of a call that may match, or NULL.
 */
static int
is_called(struct work *w, const struct json *entry, const char **doubt,
    struct err *e)
{
	const struct answer_call *c;
	struct str tool;
	struct pattern p;
	struct answer_name name;
	enum grader_fit fit;
	int hit = 0;

	tool = entry->type == JSON_STRING ? json_text(entry) :
	    json_str(entry, "tool");
	if (tool.n == 0)
		tool = json_str(entry, "name");
	if (read_pattern(w, json_str(entry, "pattern"), &p, e) != 0)
		return -1;
	name = answer_name(tool);
	for (c = w->in->answer->calls; c != NULL && !hit; c = c->next) {
		if (!budget_take(w->budget, CALL_COST +
		    (p.re != NULL ? SYNONYMS : 1) * (uint64_t)c->arguments.n))
			return 0;
		fit = c->denied ? GRADER_NO : tool.n == 0 ? GRADER_YES :
		    grader_call_is(c, &name);
		if (fit == GRADER_NO || (p.re != NULL && !is_match(&p, c) &&
		    is_told(c)))
			continue;
		hit = fit == GRADER_YES && (p.re == NULL || is_match(&p, c));
		if (!hit)
			*doubt = fit == GRADER_YES ? "arguments" :
			    grader_call_doubt(c);
	}
	return hit;
}

static void
grade_calls(struct work *w, struct grader_tally *t, const char *key, int want)
{
	const struct json *list = json_getc(w->want->tool_calls, key), *o;
	struct arena_mark mark;
	struct err e = { 0 };
	const char *doubt;
	struct str q;
	int hit;

	if (list == NULL)
		return;
	for (o = json_first(list); o != NULL; o = o->next) {
		mark = arena_save(&w->tmp);
		doubt = w->in->answer->no_calls ? "tool calls" : NULL;
		hit = is_called(w, o, &doubt, &e);
		arena_restore(&w->tmp, mark);
		q = o->type == JSON_STRING ? json_text(o) :
		    json_str(o, "pattern");
		q = grader_quote(&w->tmp, q.n > 0 ? q : json_str(o, "tool"));
		if (hit == 0 && doubt != NULL)
			grader_unknown(t, w->in, doubt);
		else if (hit == want)
			grader_pass(t);
		else if (hit < 0)
			grader_fail(t, "invalid pattern %.*s: %s", STRF(q),
			    e.msg);
		else
			grader_fail(t, want ?
			    "no call matches %.*s (%zu tool calls)" :
			    "forbidden call matches %.*s (%zu tool calls)",
			    STRF(q), w->in->answer->ncalls);
	}
}

static void
grade_tool_calls(struct work *w)
{
	struct grader_tally t = { .arena = &w->tmp };
	struct verdict *v;

	if (w->want->tool_calls == NULL)
		return;
	grade_calls(w, &t, "required", 1);
	grade_calls(w, &t, "forbidden", 0);
	v = conclude(w, "_tool_calls", &t, "all tool calls are as expected");
	if (v != NULL) {
		grader_add_calls(w->arena, v, w->in->answer);
		v->details = behavior_details(w, &t);
	}
}

static void
expect_skill(struct work *w, struct grader_tally *t, bool want)
{
	const struct field_strs *used = &w->in->answer->skills;
	struct str name = w->in->suite->skill, q;
	bool was = false;
	size_t i;

	for (i = 0; i < used->n; i++)
		was = was || name.n == 0 || str_eq(used->v[i], name);
	q = grader_quote(&w->tmp, name);
	if (!was && w->in->answer->skills_lost)
		grader_unknown(t, w->in, "all skills that it used");
	else if (was == want)
		grader_pass(t);
	else
		grader_fail(t, "skill %.*s was %s", STRF(q),
		    was ? "used, but should not be" : "not used");
}

/* Skipped unless the executor reports skills. */
static void
grade_skill(struct work *w)
{
	const struct spec_expected *x = w->want;
	struct grader_tally t = { .arena = &w->tmp };
	struct str why = grader_no_skills(w->arena, w->in);
	struct verdict *v;

	if (!x->trigger_given && !x->activated_given)
		return;
	if (why.p != NULL) {
		v = add(w, "_skill");
		v->skipped = true;
		v->feedback = why;
		return;
	}
	if (x->trigger_given)
		expect_skill(w, &t, x->should_trigger);
	if (x->activated_given)
		expect_skill(w, &t, x->skill_activated);
	v = conclude(w, "_skill", &t, "skills are as expected");
	if (v != NULL)
		v->details = details(w, "skills", &w->in->answer->skills, &t);
}

static bool
is_outcome(const struct json *o)
{
	struct str type = json_str(o, "type");

	return str_is(type, "task_completed") || (str_is(type, "tool_called") &&
	    json_str(o, "tool_name").n > 0);
}

static bool
has_entries(const struct json *list)
{
	return list != NULL && json_first(list) != NULL;
}

bool
grader_has_expectations(const struct spec_expected *x)
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
	    (has_entries(json_getc(x->tool_calls, "required")) ||
	    has_entries(json_getc(x->tool_calls, "forbidden")))) ||
	    x->trigger_given || x->activated_given;
}

/*
 * Every output contains the empty string, so `decisive` empty strings leave
 * nothing to check.  The strings were decoded without their places.
 */
static void
check_strs(struct grader_check *c, const char *key,
    const struct field_strs *list, size_t decisive)
{
	struct json node = { .type = JSON_STRING };
	size_t i, empty = 0;

	for (i = 0; i < list->n; i++) {
		node.u.text = list->v[i].p;
		node.n = (uint32_t)list->v[i].n;
		grader_check_templates(c, &node);
		empty += list->v[i].n == 0;
	}
	if (empty >= decisive && empty > 0)
		grader_note(c, FIELD_ERROR, NULL, "\"%s\" checks nothing: "
		    "every output contains the empty string", key);
	else if (empty > 0)
		grader_note(c, FIELD_WARNING, NULL, "\"%s\" has an empty "
		    "string, which every output contains", key);
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
			    "this outcome has no effect: \"type\" is missing");
		else if (str_is(json_text(type), "task_completed"))
			continue;
		else if (!str_is(json_text(type), "tool_called"))
			grader_note(c, FIELD_WARNING, type,
			    "outcome \"%.*s\" has no effect: it is not "
			    "supported", STRF(json_text(type)));
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
		    "\"pattern\" or \"tool\" is missing");
		return;
	}
	for (v = json_first(entry); v != NULL; v = v->next)
		if (v->type != JSON_STRING)
			grader_note(c, FIELD_ERROR, v,
			    "\"%.*s\" must be a string", STRF(json_key(v)));
	grader_check_each(c, entry, "pattern", grader_check_pattern);
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
			    "only the lists \"required\" and \"forbidden\" "
			    "have an effect here");
			continue;
		}
		for (entry = json_first(list); entry != NULL;
		    entry = entry->next)
			check_call(c, entry);
	}
}

static unsigned
needs(const struct spec_expected *x)
{
	const struct spec_behavior *b = &x->behavior;
	bool calls = b->max_tool_calls >= 0 || b->required_tools.n > 0 ||
	    b->forbidden_tools.n > 0 ||
	    (x->tool_calls != NULL && json_first(x->tool_calls) != NULL);

	return (calls ? AGENT_CALLS : 0U) |
	    (b->max_tokens >= 0 ? AGENT_TOKENS : 0U) |
	    (b->max_iterations >= 0 ? AGENT_TURNS : 0U);
}

void
grader_check_expected(struct grader_check *c)
{
	const struct spec_expected *x = c->task->def->expected;

	check_strs(c, "output_contains", &x->output_contains,
	    x->output_contains.n);
	check_strs(c, "output_not_contains", &x->output_not_contains,
	    x->output_not_contains.n);
	check_strs(c, "output_contains_any", &x->output_contains_any, 1);
	check_outcomes(c, x->outcomes);
	check_calls(c, x->tool_calls);
	grader_check_told(c, needs(x));
	if ((x->trigger_given || x->activated_given) && !c->noted_skills &&
	    !agent_may_report_skills(c->suite, c->task)) {
		c->noted_skills = true;
		grader_note(c, FIELD_WARNING, NULL,
		    "\"%s\" is skipped with executor \"%.*s\", which does "
		    "not report the skills that it used", x->trigger_given ?
		    "should_trigger" : "skill_activated",
		    STRF(c->suite->config.executor));
	}
}

void
grader_expect(struct grading *g)
{
	const struct grader_input *in = g->in;
	struct work w = { .arena = g->arena, .budget = g->budget, .in = in,
		.want = in->task->def->expected };
	size_t i;

	if (w.want == NULL)
		return;
	w.v = NEW_N(g->arena, struct verdict, VERDICT_MAX);
	grader_trace_read(&w.tmp, in, w.budget, &w.trace);
	grade_output(&w, "_output_contains", &w.want->output_contains, ALL);
	grade_output(&w, "_output_not_contains", &w.want->output_not_contains,
	    NONE);
	grade_output(&w, "_output_contains_any", &w.want->output_contains_any,
	    ANY);
	grade_behavior(&w);
	grade_outcomes(&w);
	grade_tool_calls(&w);
	grade_skill(&w);
	arena_free(&w.tmp);
	if (in->answer->echo && in->suite->graders.n +
	    in->task->def->graders.n > 0)
		for (i = 0; i < w.n; i++)
			w.v[i].advisory = true;
	g->expected = w.v;
	g->nexpected = w.n;
}

/* SPDX-License-Identifier: ISC */
/*
 * The kind tool_constraint: expected calls, rejected calls, and the only tools
 * that may be used.
 *
 * An entry is a mapping or, as in many suites, only the pattern of a tool.
 */
#include "grade/grader_trace.h"

#include "agent/agent.h"
#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

struct constraint {
	const struct json *expect_tools, *reject_tools;
	const struct json *allow_only;	/* empty: no tool is allowed */
	int64_t max_turns, max_tokens;	/* 0: no limit */
};

static const struct field constraint_rows[] = {
	GRADER_KEY(constraint, expect_tools, FIELD_TREE,
	    .help = "calls that must occur"),
	GRADER_KEY(constraint, reject_tools, FIELD_TREE,
	    .help = "calls that must not occur"),
	GRADER_KEY(constraint, allow_only, FIELD_TREE,
	    .help = "tools that can be called; no other"),
	FIELD(constraint, max_turns, FIELD_INT, .min = 0, .max = INT64_MAX,
	    .help = "turns at most"),
	FIELD(constraint, max_tokens, FIELD_INT, .min = 0, .max = INT64_MAX,
	    .help = "tokens at most"),
};
static const struct field_table constraint_fields =
    FIELD_TABLE(constraint, constraint_rows);

/* Also true for an empty list, which forbids all calls. */
static bool
has_allow_only(const struct json *config)
{
	return json_is_set(json_getc(config, "allow_only"));
}

/* An entry is the name of a tool, or a mapping with "tool" alone. */
static void
check_allow_only(struct grader_check *c, const struct json *list)
{
	const struct json *v, *m;
	bool one = list->type != JSON_ARRAY;

	for (v = one ? list : json_first(list); v != NULL;
	    v = one ? NULL : v->next) {
		if (v->type == JSON_OBJECT && json_str(v, "tool").n == 0)
			grader_note(c, FIELD_ERROR, v, "\"allow_only\": "
			    "\"tool\" is missing");
		else if (v->type != JSON_STRING && v->type != JSON_OBJECT)
			grader_note(c, FIELD_ERROR, v, "\"allow_only\" must "
			    "be a list of tools, not %s",
			    json_type_name((enum json_type)v->type));
		for (m = v->type == JSON_OBJECT ? json_first(v) : NULL;
		    m != NULL; m = m->next)
			if (!str_is(json_key(m), "tool"))
				grader_note(c, FIELD_ERROR, m, "\"allow_only\" "
				    "takes names of tools only; use "
				    "\"expect_tools\" or \"reject_tools\" for "
				    "\"%.*s\"", STRF(utf8_cut(json_key(m),
				    60)));
	}
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct constraint *s = settings;
	const struct json *config = c->spec->config;
	size_t n;

	n = grader_calls_check(c, "expect_tools");
	n += grader_calls_check(c, "reject_tools");
	n += has_allow_only(config);
	grader_check_each(c, config, "allow_only", grader_check_name);
	if (has_allow_only(config))
		check_allow_only(c, json_getc(config, "allow_only"));
	if (n == 0 && s->max_turns == 0 && s->max_tokens == 0)
		grader_note_empty(c);
	grader_check_told(c, (n > 0 ? AGENT_CALLS : 0U) |
	    (s->max_turns > 0 ? AGENT_TURNS : 0U) |
	    (s->max_tokens > 0 ? AGENT_TOKENS : 0U));
}

/* Whether one of the names fits the call. */
static enum grader_fit
is_allowed(const struct answer_call *c, const struct answer_name *allowed,
    size_t n)
{
	enum grader_fit best = GRADER_NO, fit;
	size_t i;

	for (i = 0; i < n && best != GRADER_YES; i++) {
		fit = grader_call_is(c, &allowed[i]);
		best = fit > best ? fit : best;
	}
	return best;
}

static void
check_allowed(struct grader_tally *t, struct arena *tmp,
    const struct field_strs *allowed, const struct grader_trace *trace)
{
	const struct grader_input *in = trace->in;
	struct answer_name *names = NEW_N(tmp, struct answer_name, allowed->n);
	struct field_strs others = { NEW_N(tmp, struct str,
	    trace->names.n), 0 };
	const char *doubt = in->answer->no_calls ? "tool calls" : NULL;
	struct str bad, good;
	enum grader_fit fit;
	size_t i;

	if (!grader_trace_afford(trace, allowed->n))
		return;
	for (i = 0; i < allowed->n; i++)
		names[i] = answer_name(allowed->v[i]);
	for (i = 0; i < trace->names.n; i++) {
		fit = is_allowed(trace->calls[i], names, allowed->n);
		if (fit == GRADER_MAYBE)
			doubt = grader_call_doubt(trace->calls[i]);
		else if (fit == GRADER_NO)
			others.v[others.n++] = trace->names.v[i];
	}
	if (others.n == 0) {
		if (doubt != NULL)
			grader_unknown(t, in, doubt);
		else
			grader_pass(t);
		return;
	}
	others = grader_index_new(tmp, &others);
	grader_index_unique(&others);
	bad = grader_quote_list(tmp, &others);
	good = grader_quote_list(tmp, allowed);
	grader_fail(t, "called: %.*s; allowed: %.*s", STRF(bad), STRF(good));
}

static void
put_labels(struct json_out *o, struct arena *tmp, const char *key,
    const struct grader_calls *calls)
{
	struct field_strs labels = { NEW_N(tmp, struct str, calls->n),
		calls->n };
	size_t i;

	for (i = 0; i < calls->n; i++)
		labels.v[i] = grader_call_label(tmp, &calls->v[i]);
	field_put_strs(o, key, &labels);
}

/* The state of one grading. */
struct work {
	struct grading *g;
	struct arena *tmp;
	const struct constraint *settings;
	struct grader_calls expect, reject;
	struct field_strs allowed;
	struct grader_trace trace;
	struct grader_tally tally;
};

static struct str
details(struct work *w)
{
	const struct answer *a = w->g->in->answer;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	put_labels(&o, w->tmp, "expect_tools", &w->expect);
	put_labels(&o, w->tmp, "reject_tools", &w->reject);
	if (has_allow_only(w->g->spec->config))
		field_put_strs(&o, "allow_only", &w->allowed);
	grader_put_failures(&o, &w->tally);
	grader_put_strs(&o, "tools_used", &w->trace.names);
	if (w->tally.failed > 0)
		grader_put_calls(&o, a);
	grader_put_tokens(&o, a);
	if (a->usage.turns_known)
		json_put_member_int(&o, "total_turns", a->usage.turns);
	json_close(&o, '}');
	return arena_take(w->g->arena, &b);
}

static void
check_all(struct work *w)
{
	const struct constraint *s = w->settings;
	const struct grader_input *in = w->g->in;
	struct grader_tally *t = &w->tally;

	grader_calls_grade(t, w->tmp, in, &w->expect, true);
	grader_calls_grade(t, w->tmp, in, &w->reject, false);
	if (has_allow_only(w->g->spec->config))
		check_allowed(t, w->tmp, &w->allowed, &w->trace);
	grader_limit(t, in, GRADER_TURNS, s->max_turns > 0 ? s->max_turns : -1);
	grader_limit(t, in, GRADER_TOKENS, s->max_tokens > 0 ? s->max_tokens :
	    -1);
}

/* The names in `allow_only`, with their templates expanded. */
static int
read_allowed(struct work *w, struct err *e)
{
	const struct json *list = w->settings->allow_only, *v;
	bool one;

	if (!json_is_set(list))
		return 0;
	list = grader_render_tree(w->tmp, list, w->g->in->vars, e);
	if (list == NULL)
		return -1;
	one = list->type != JSON_ARRAY;
	w->allowed.v = NEW_N(w->tmp, struct str, one ? 1 : json_count(list));
	for (v = one ? list : json_first(list); v != NULL;
	    v = one ? NULL : v->next)
		w->allowed.v[w->allowed.n++] = v->type == JSON_OBJECT ?
		    json_str(v, "tool") : json_text(v);
	return 0;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct constraint *s = settings;
	const struct answer *a = g->in->answer;
	struct work w = { .g = g, .tmp = tmp, .settings = s,
		.tally = { .arena = tmp } };
	struct err e = { 0 };

	grader_trace_read(tmp, g->in, g->budget, &w.trace);
	if (grader_calls_read(tmp, s->expect_tools, g, &w.expect,
	    &e) != 0 || grader_calls_read(tmp, s->reject_tools, g,
	    &w.reject, &e) != 0 || read_allowed(&w, &e) != 0 ||
	    grader_calls_find(tmp, a, &w.expect, &e) != 0 ||
	    grader_calls_find(tmp, a, &w.reject, &e) != 0)
		return grader_error(g, "%s", e.msg);
	check_all(&w);
	grader_conclude(g->arena, &g->out, &w.tally,
	    "all tool constraints are met");
	grader_add_calls(g->arena, &g->out, a);
	g->out.details = details(&w);
	return GRADER_DONE;
}

const struct grader_kind grader_tool_constraint = {
	.name = "tool_constraint", .fields = &constraint_fields,
	.check = check, .start = start,
};

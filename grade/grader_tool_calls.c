/* SPDX-License-Identifier: ISC */
/*
 * The kind tool_calls: the number of calls, required and forbidden tools, and
 * expected calls with their arguments.
 */
#include "grade/grader_trace.h"

#include "agent/agent.h"
#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

struct tool_calls {
	struct field_strs required_tools, forbidden_tools;
	int64_t min_calls, max_calls;	/* -1: any */
	const struct json *expect;
};

static const struct field calls_rows[] = {
	GRADER_KEY(tool_calls, required_tools, FIELD_STRS,
	    .help = "tools that must be called"),
	GRADER_KEY(tool_calls, forbidden_tools, FIELD_STRS,
	    .help = "tools that must not be called"),
	FIELD(tool_calls, min_calls, FIELD_INT, .min = 0, .max = INT64_MAX,
	    .help = "tool calls at least"),
	FIELD(tool_calls, max_calls, FIELD_INT, .min = 0, .max = INT64_MAX,
	    .help = "tool calls at most"),
	GRADER_KEY(tool_calls, expect, FIELD_TREE,
	    .help = "calls that must occur"),
};

static const struct tool_calls calls_init = { .min_calls = -1,
	.max_calls = -1 };
static const struct field_table calls_fields = {
	calls_rows, COUNTOF(calls_rows), sizeof(struct tool_calls), &calls_init
};

static void
check(struct grader_check *c, const void *settings)
{
	const struct tool_calls *s = settings;
	const struct json *config = c->spec->config;

	/* min_calls: 0 checks nothing */
	if (grader_calls_check(c, "expect") + s->required_tools.n +
	    s->forbidden_tools.n == 0 && s->min_calls <= 0 && s->max_calls < 0)
		grader_note_empty(c);
	if (s->max_calls >= 0 && s->min_calls > s->max_calls)
		grader_note(c, FIELD_ERROR, json_getc(config, "min_calls"),
		    "\"min_calls\" is more than \"max_calls\"");
	grader_check_each(c, config, "required_tools", grader_check_name);
	grader_check_each(c, config, "forbidden_tools", grader_check_name);
	grader_check_told(c, AGENT_CALLS);
}

static void
put_expected(struct json_out *o, const struct grader_calls *x)
{
	size_t i;

	json_open_member(o, "expect", '[');
	for (i = 0; i < x->n; i++) {
		json_open(o, '{');
		json_put_member_str(o, "tool", x->v[i].tool);
		if (x->v[i].want.n > 0)
			json_put_member(o, "args", x->v[i].args);
		if (x->v[i].hit != SIZE_MAX)
			json_put_member_int(o, "matched_call_index",
			    (int64_t)x->v[i].hit);
		else
			json_put_member_str(o, "reason", x->v[i].why);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static struct str
details(struct grading *g, struct arena *tmp, const struct grader_trace *trace,
    const struct grader_calls *x, const struct grader_tally *t)
{
	struct field_strs once = grader_index_new(tmp, &trace->names);
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	grader_index_unique(&once);
	json_open(&o, '{');
	json_put_member_int(&o, "total_calls", (int64_t)g->in->answer->ncalls);
	field_put_strs(&o, "unique_tools", &once);
	json_put_member_int(&o, "passed_checks",
	    (int64_t)(t->total - t->failed));
	json_put_member_int(&o, "total_checks", (int64_t)t->total);
	grader_put_failures(&o, t);
	if (x->n > 0)
		put_expected(&o, x);
	if (t->failed > 0)
		grader_put_calls(&o, g->in->answer);
	json_close(&o, '}');
	return arena_take(g->arena, &b);
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct tool_calls *s = settings;
	const struct grader_input *in = g->in;
	struct grader_tally t = { .arena = tmp };
	struct grader_trace trace;
	struct grader_calls expect;
	struct err e = { 0 };

	grader_trace_read(tmp, in, g->budget, &trace);
	if (grader_calls_read(tmp, s->expect, g, &expect, &e) != 0 ||
	    grader_calls_find(tmp, g->in->answer, &expect, &e) != 0)
		return grader_error(g, "%s", e.msg);
	grader_expect_tools(&t, tmp, &trace, &s->required_tools,
	    &s->forbidden_tools);
	if (s->min_calls > (int64_t)trace.names.n && in->answer->no_calls)
		grader_unknown(&t, in, "tool calls");
	else if (s->min_calls > (int64_t)trace.names.n)
		grader_fail(&t, "%zu tool calls, at least %lld expected",
		    trace.names.n, (long long)s->min_calls);
	else if (s->min_calls >= 0)
		grader_pass(&t);
	grader_limit(&t, in, GRADER_CALLS, s->max_calls);
	grader_calls_grade(&t, tmp, in, &expect, true);
	grader_conclude(g->arena, &g->out, &t,
	    "all tool calls are as expected");
	grader_add_calls(g->arena, &g->out, in->answer);
	g->out.details = details(g, tmp, &trace, &expect, &t);
	return GRADER_DONE;
}

const struct grader_kind grader_tool_calls = {
	.name = "tool_calls", .fields = &calls_fields, .check = check,
	.start = start,
};

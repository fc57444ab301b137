/* SPDX-License-Identifier: ISC */
/*
 * The kind behavior: limits on what an agent uses for its answer, and required
 * and forbidden tools.
 *
 * A limit of 0 means no limit, as in the original; check() warns about it.
 */
#include "grade/grader_trace.h"

#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

struct behavior {
	int64_t max_tool_calls, max_tokens, max_duration_ms;	/* 0: none */
	int64_t max_response_time_ms, max_iterations;
	struct field_strs required_tools, forbidden_tools;
};

#define LIMIT(m, a) FIELD(behavior, m, FIELD_INT, .alias = a, \
	.min = 0, .max = INT64_MAX)

static const struct field behavior_rows[] = {
	LIMIT(max_tool_calls, NULL),
	LIMIT(max_tokens, NULL),
	LIMIT(max_duration_ms, NULL),
	LIMIT(max_response_time_ms, NULL),
	LIMIT(max_iterations, "max_turns"),
	GRADER_KEY(behavior, required_tools, FIELD_STRS),
	GRADER_KEY(behavior, forbidden_tools, FIELD_STRS),
};
static const struct field_table behavior_fields =
    FIELD_TABLE(behavior, behavior_rows);

static bool
needs_calls(const struct behavior *b)
{
	return b->max_tool_calls > 0 || b->required_tools.n > 0 ||
	    b->forbidden_tools.n > 0;
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct behavior *b = settings;
	const struct json *config = c->spec->config;
	const struct json *calls = json_getc(config, "max_tool_calls");

	if (json_is_set(calls) && b->max_tool_calls == 0)
		grader_note(c, FIELD_WARNING, calls,
		    "0 means no limit; to forbid all calls, use a "
		    "\"tool_calls\" grader with \"max_calls: 0\"");
	if (!needs_calls(b) && b->max_tokens == 0 && b->max_duration_ms == 0 &&
	    b->max_response_time_ms == 0 && b->max_iterations == 0)
		grader_note_empty(c);
	grader_check_each(c, config, "required_tools", grader_check_name);
	grader_check_each(c, config, "forbidden_tools", grader_check_name);
	if (needs_calls(b))
		grader_check_calls(c);
}

static struct str
details(struct grading *g, const struct behavior *s,
    const struct field_strs *tools, const struct grader_tally *t)
{
	const struct { const char *key; int64_t value; } limits[] = {
		{ "max_tool_calls", s->max_tool_calls },
		{ "max_tokens", s->max_tokens },
		{ "max_duration_ms", s->max_duration_ms },
		{ "max_response_time_ms", s->max_response_time_ms },
		{ "max_iterations", s->max_iterations },
	};
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i;

	json_open(&o, '{');
	for (i = 0; i < COUNTOF(limits); i++) {
		/* the original has only the first three */
		if (i > 2 && limits[i].value == 0)
			continue;
		json_put_member_int(&o, limits[i].key, limits[i].value);
	}
	grader_put_strs(&o, "required_tools", &s->required_tools);
	grader_put_strs(&o, "forbidden_tools", &s->forbidden_tools);
	grader_put_failures(&o, t);
	grader_put_counts(&o, g->in);
	grader_put_strs(&o, "tools_used", tools);
	grader_put_tokens(&o, g->in->answer);
	json_close(&o, '}');
	return arena_take(g->arena, &b);
}

/* 0 means no limit. */
static int64_t
limit(int64_t max)
{
	return max > 0 ? max : -1;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct behavior *s = settings;
	const struct answer *a = g->in->answer;
	const struct answer_usage *u = &a->usage;
	struct field_strs tools = grader_tool_names(tmp, a);
	struct grader_tally t = { .arena = tmp };

	grader_limit(&t, "tool calls", limit(s->max_tool_calls),
	    (int64_t)tools.n, true);
	grader_limit(&t, "tokens", limit(s->max_tokens),
	    add_near(u->input_tokens, u->output_tokens), u->known);
	grader_limit(&t, "turns", limit(s->max_iterations), u->turns, u->known);
	grader_expect_tools(&t, tmp, &tools, &s->required_tools,
	    &s->forbidden_tools);
	grader_limit(&t, "ms until the answer", limit(s->max_duration_ms),
	    g->in->duration_ms, true);
	grader_limit(&t, "ms until the answer",
	    limit(s->max_response_time_ms), g->in->duration_ms, true);
	grader_conclude(g->arena, &g->out, &t,
	    !u->known && (s->max_tokens > 0 || s->max_iterations > 0) ?
	    "within all limits; tokens and turns are unknown" :
	    "within all limits");
	g->out.details = details(g, s, &tools, &t);
	return GRADER_DONE;
}

const struct grader_kind grader_behavior = {
	.name = "behavior",
	.flags = GRADER_VARIES,		/* it can limit the time */
	.fields = &behavior_fields,
	.check = check,
	.start = start,
};

/* SPDX-License-Identifier: ISC */
/*
 * The kind behavior: limits on what an agent uses for its answer, and required
 * and forbidden tools.
 *
 * A limit of 0 means no limit, as in the original; check() warns about it.
 */
#include "grade/grader_trace.h"

#include "agent/agent.h"
#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

struct behavior {
	int64_t max_tool_calls, max_tokens, max_duration_ms;	/* 0: none */
	int64_t max_response_time_ms, max_iterations;
	struct field_strs required_tools, forbidden_tools;
};

#define LIMIT(m, a, ...) FIELD(behavior, m, FIELD_INT, .alias = a, \
	.min = 0, .max = INT64_MAX, __VA_ARGS__)

static const struct field behavior_rows[] = {
	LIMIT(max_tool_calls, NULL,
	    .help = "tool calls at most"),
	LIMIT(max_tokens, NULL,
	    .help = "tokens at most"),
	LIMIT(max_duration_ms, NULL,
	    .help = "milliseconds at most"),
	LIMIT(max_response_time_ms, NULL,
	    .help = "milliseconds at most"),
	LIMIT(max_iterations, "max_turns",
	    .help = "turns at most"),
	GRADER_KEY(behavior, required_tools, FIELD_STRS,
	    .help = "tools that must be called"),
	GRADER_KEY(behavior, forbidden_tools, FIELD_STRS,
	    .help = "tools that must not be called"),
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
	grader_check_told(c, (needs_calls(b) ? AGENT_CALLS : 0U) |
	    (b->max_tokens > 0 ? AGENT_TOKENS : 0U) |
	    (b->max_iterations > 0 ? AGENT_TURNS : 0U));
}

static struct str
details(struct grading *g, const struct behavior *s,
    const struct grader_trace *trace, const struct grader_tally *t)
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
	grader_put_strs(&o, "tools_used", &trace->names);
	if (t->failed > 0)
		grader_put_calls(&o, g->in->answer);
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
	const struct grader_input *in = g->in;
	struct grader_tally t = { .arena = tmp };
	struct grader_trace trace;

	grader_trace_read(tmp, in, g->budget, &trace);
	grader_limit(&t, in, GRADER_CALLS, limit(s->max_tool_calls));
	grader_limit(&t, in, GRADER_TOKENS, limit(s->max_tokens));
	grader_limit(&t, in, GRADER_TURNS, limit(s->max_iterations));
	grader_expect_tools(&t, tmp, &trace, &s->required_tools,
	    &s->forbidden_tools);
	grader_limit(&t, in, GRADER_TIME, limit(s->max_duration_ms));
	grader_limit(&t, in, GRADER_TIME, limit(s->max_response_time_ms));
	grader_conclude(g->arena, &g->out, &t, "within all limits");
	grader_add_calls(g->arena, &g->out, in->answer);
	g->out.details = details(g, s, &trace, &t);
	return GRADER_DONE;
}

const struct grader_kind grader_behavior = {
	.name = "behavior",
	.flags = GRADER_VARIES,		/* it can limit the time */
	.fields = &behavior_fields,
	.check = check,
	.start = start,
};

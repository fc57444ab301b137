/* SPDX-License-Identifier: ISC */
/*
 * Sequences of names, and the kind action_sequence, which checks the sequence
 * of called tools.
 *
 * The order decides whether a sequence passes.  The score is the F1 of the
 * names in any order, so it can be below 1 although the sequence passes: extra
 * calls reduce precision.
 */
#include "grade/grader_trace.h"

#include "agent/agent.h"
#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

enum { MISSING_MAX = 300 };	/* bytes of listed missing names */

const char *const grader_order_words[] = { "exact_match", "in_order_match",
	"any_order_match", "in_order", "any_order", NULL };

enum grader_order
grader_order_of(int word)
{
	static const enum grader_order orders[] = { GRADER_EXACT,
		GRADER_IN_ORDER, GRADER_ANY_ORDER, GRADER_IN_ORDER,
		GRADER_ANY_ORDER };

	return orders[word];
}

/* The size of the intersection of two sorted lists, with duplicates. */
static size_t
count_common(const struct field_strs *x, const struct field_strs *y)
{
	size_t i = 0, j = 0, n = 0;
	int c;

	while (i < x->n && j < y->n) {
		c = str_cmp(x->v[i], y->v[j]);
		n += c == 0;
		i += c <= 0;
		j += c >= 0;
	}
	return n;
}

/* How many of the expected names were found in order. */
static size_t
count_in_order(const struct grader_match *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->got.n && n < m->want.n; i++)
		n += str_eq(m->got.v[i], m->want.v[n]);
	return n;
}

/* The index of the first difference. */
static size_t
first_difference(const struct grader_match *m)
{
	size_t i;

	for (i = 0; i < m->want.n && i < m->got.n; i++)
		if (!str_eq(m->want.v[i], m->got.v[i]))
			break;
	return i;
}

void
grader_match_names(struct arena *tmp, struct grader_match *m)
{
	struct field_strs want = grader_index_new(tmp, &m->want);
	struct field_strs got = grader_index_new(tmp, &m->got);
	size_t both = count_common(&want, &got), at = first_difference(m);
	double sum;

	switch (m->order) {
	case GRADER_EXACT:
		m->ok = at == m->want.n && at == m->got.n;
		break;
	case GRADER_IN_ORDER:
		m->ok = count_in_order(m) == m->want.n;
		break;
	case GRADER_ANY_ORDER:
		m->ok = both == m->want.n;
		break;
	}
	if (m->want.n == 0 && m->got.n == 0) {
		m->precision = m->recall = m->f1 = 1;
		return;
	}
	m->precision = m->got.n == 0 ? 0 : (double)both / (double)m->got.n;
	m->recall = m->want.n == 0 ? 0 : (double)both / (double)m->want.n;
	sum = m->precision + m->recall;
	m->f1 = sum > 0 ? 2 * m->precision * m->recall / sum : 0;
}

static struct str
item(struct arena *a, const struct field_strs *list, size_t i)
{
	return i < list->n ? grader_quote(a, list->v[i]) : STR("nothing");
}

static void
put_missing(struct arena *a, struct buf *b, const struct grader_match *m)
{
	struct field_strs want = grader_index_new(a, &m->want);
	struct field_strs got = grader_index_new(a, &m->got);
	size_t i, need, have, told = 0, left = 0, from = b->n;

	for (i = 0; i < want.n; i += need) {
		need = grader_index_count(&want, want.v[i]);
		have = grader_index_count(&got, want.v[i]);
		if (have >= need)
			continue;
		if (b->n - from > MISSING_MAX) {
			left++;
			continue;
		}
		buf_puts(b, told++ > 0 ? ", " : "missing ");
		buf_put(b, grader_quote(a, want.v[i]));
		if (need > 1)
			buf_fmt(b, " (%zu expected, %zu found)", need, have);
	}
	if (left > 0)
		buf_fmt(b, " and %zu more", left);
}

struct str
grader_match_difference(struct arena *a, const struct grader_match *m)
{
	static const char *const orders[] = {
		[GRADER_EXACT] = "exactly",
		[GRADER_IN_ORDER] = "in this order",
		[GRADER_ANY_ORDER] = "in any order",
	};
	struct str want = grader_quote_list(a, &m->want);
	struct str got = grader_quote_list(a, &m->got), x, y;
	struct buf b = { 0 };
	size_t at;

	switch (m->order) {
	case GRADER_EXACT:
		at = first_difference(m);
		x = item(a, &m->want, at);
		y = item(a, &m->got, at);
		buf_fmt(&b, "first difference at %zu: %.*s expected, %.*s "
		    "found", at + 1, STRF(x), STRF(y));
		break;
	case GRADER_IN_ORDER:
		at = count_in_order(m);
		x = item(a, &m->want, at);
		buf_fmt(&b, "first difference at %zu: %.*s not found", at + 1,
		    STRF(x));
		if (at > 0) {
			y = item(a, &m->want, at - 1);
			buf_fmt(&b, " after %.*s", STRF(y));
		}
		break;
	case GRADER_ANY_ORDER:
		put_missing(a, &b, m);
		break;
	}
	buf_fmt(&b, "; expected %zu %s %s: %.*s; found %zu: %.*s", m->want.n,
	    m->what, orders[m->order], STRF(want), m->got.n, STRF(got));
	return arena_take(a, &b);
}

void
grader_put_match(struct json_out *o, const struct grader_match *m)
{
	json_put_member_double(o, "precision", m->precision);
	json_put_member_double(o, "recall", m->recall);
	json_put_member_double(o, "f1", m->f1);
}

struct sequence {
	int matching_mode;
	struct field_strs expected_actions;
};

static const struct field sequence_rows[] = {
	FIELD(sequence, matching_mode, FIELD_ENUM, .alias = "mode",
	    .flags = FIELD_REQUIRED, .words = grader_order_words,
	    .help = "how the calls are compared"),
	FIELD(sequence, expected_actions, FIELD_STRS, .flags = FIELD_REQUIRED,
	    .help = "names of the tools, in order"),
};
static const struct field_table sequence_fields =
    FIELD_TABLE(sequence, sequence_rows);

static void
check(struct grader_check *c, const void *settings)
{
	const struct sequence *s = settings;
	const struct json *config = c->spec->config;

	if (s->expected_actions.n == 0)
		grader_note(c, FIELD_ERROR, json_getc(config,
		    "expected_actions"), "\"expected_actions\" is empty, so "
		    "this grader checks nothing; to forbid all calls, use a "
		    "\"tool_calls\" grader with \"max_calls: 0\"");
	grader_check_each(c, config, "expected_actions", grader_check_name);
	grader_check_told(c, AGENT_CALLS);
}

static struct str
details(struct grading *g, const struct sequence *s,
    const struct grader_match *m)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_str(&o, "matching_mode",
	    str_of(grader_order_words[s->matching_mode]));
	grader_put_strs(&o, "expected_actions", &m->want);
	grader_put_strs(&o, "actual_actions", &m->got);
	grader_put_match(&o, m);
	if (!m->ok)
		grader_put_calls(&o, g->in->answer);
	json_close(&o, '}');
	return arena_take(g->arena, &b);
}

/* An expected name. */
struct expected {
	struct answer_name name;
	size_t left;			/* calls that are still expected */
};

/* How the calls are matched with the names. */
struct naming {
	struct expected *want;		/* each name once */
	size_t n;
	const char *doubt;		/* see grader_trace_count() */
};

static void
expect_names(struct arena *tmp, struct naming *s,
    const struct field_strs *want)
{
	struct field_strs x = grader_index_new(tmp, want);
	size_t i, n;

	s->want = NEW_N(tmp, struct expected, x.n);
	for (i = 0; i < x.n; i += n) {
		n = grader_index_count(&x, x.v[i]);
		s->want[s->n++] = (struct expected){ answer_name(x.v[i]), n };
	}
}

/*
 * The name for a call: the one that is expected here, if it fits; else one that
 * fits and is still expected; else the agent's.
 */
static struct str
name_call(struct naming *s, const struct answer_call *c,
    const struct str *here)
{
	struct expected *best = NULL, *e;
	enum grader_fit fit;

	for (e = s->want; e < s->want + s->n; e++) {
		fit = grader_call_is(c, &e->name);
		if (fit == GRADER_MAYBE)
			s->doubt = grader_call_doubt(c);
		if (fit != GRADER_YES)
			continue;
		if (here != NULL && str_eq(e->name.text, *here)) {
			best = e;
			break;
		}
		if (best == NULL || (best->left == 0 && e->left > 0) ||
		    (e->left > 0 && str_eq(e->name.text, c->name)))
			best = e;
	}
	if (best == NULL)
		return c->name;
	best->left -= best->left > 0;
	return best->name.text;
}

/* The calls under the names that the settings use for them. */
static struct field_strs
names_of(struct arena *tmp, const struct grader_trace *trace,
    const struct grader_match *m, const char **doubt)
{
	struct naming s = { .n = 0 };
	struct field_strs got = { NEW_N(tmp, struct str, trace->names.n), 0 };
	size_t at = 0;

	expect_names(tmp, &s, &m->want);
	if (!grader_trace_afford(trace, s.n))
		return got;
	for (; got.n < trace->names.n; got.n++) {
		if (m->order == GRADER_EXACT)
			at = got.n;
		got.v[got.n] = name_call(&s, trace->calls[got.n],
		    m->order != GRADER_ANY_ORDER && at < m->want.n ?
		    &m->want.v[at] : NULL);
		if (m->order == GRADER_IN_ORDER && at < m->want.n)
			at += str_eq(got.v[got.n], m->want.v[at]);
	}
	*doubt = trace->in->answer->no_calls ? "tool calls" : s.doubt;
	return got;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct sequence *s = settings;
	struct grader_match m = { .what = "calls",
		.order = grader_order_of(s->matching_mode),
		.want = s->expected_actions };
	struct str agent = grader_agent(g->in);
	struct grader_trace trace;
	const char *doubt = NULL;

	grader_trace_read(tmp, g->in, g->budget, &trace);
	m.got = names_of(tmp, &trace, &m, &doubt);
	grader_match_names(tmp, &m);
	if (doubt != NULL && (!m.ok || g->in->answer->no_calls))
		return grader_error(g, "cannot be checked: %.*s does not "
		    "report %s", STRF(agent), doubt);
	g->out.passed = m.ok;
	g->out.score = m.f1;
	if (!m.ok)
		g->out.feedback = grader_match_difference(g->arena, &m);
	else if (m.got.n > m.want.n)
		g->out.feedback = arena_fmt(g->arena, "the calls are as "
		    "expected, with %zu more", m.got.n - m.want.n);
	else
		g->out.feedback = STR("the calls are as expected");
	grader_add_calls(g->arena, &g->out, g->in->answer);
	g->out.details = details(g, s, &m);
	return GRADER_DONE;
}

const struct grader_kind grader_action_sequence = {
	.name = "action_sequence", .fields = &sequence_fields,
	.check = check, .start = start,
};

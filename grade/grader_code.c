/* SPDX-License-Identifier: ISC */
/*
 * The kind code: assertions about the answer, Python expressions or
 * JavaScript's.
 *
 * Nearly all that suites assert is evaluated here, by expr.h, without a
 * child.  What that declines, and everything in JavaScript, goes to one
 * interpreter together.  Each assertion is one check; an exception is a
 * failed one, with its text.
 */
#include "grade/grader_code.h"

#include <string.h>

#include "agent/agent.h"
#include "json.h"
#include "lib/py/expr.h"
#include "suite/spec.h"

enum {
	TIMEOUT = 30,		/* seconds, unless settings say otherwise */
	TIMEOUT_MAX = 3600,
	SHOWN = 200		/* bytes of an assertion in the feedback */
};

struct code {
	struct field_strs assertions;
	int language;
	double timeout;
};

static const char *const languages[] = { "python", "javascript", NULL };

static const struct field code_rows[] = {
	FIELD(code, assertions, FIELD_STRS, .alias = "assertion",
	    .help = "expressions that have to be true"),
	FIELD(code, language, FIELD_ENUM, .words = languages,
	    .help = "python or javascript"),
	FIELD(code, timeout, FIELD_NUM, .alias = "timeout_seconds",
	    .help = "seconds an interpreter may take"),
};
static const struct field_table code_fields = FIELD_TABLE(code, code_rows);

static bool
check_blank(struct grader_check *c, const struct json *node, struct str s)
{
	if (!grader_blank(s))
		return true;
	grader_note(c, FIELD_ERROR, node, "an assertion is empty");
	return false;
}

/* One that expr.h takes needs nobody else, unless its values are odd. */
static bool
check_alone(struct grader_check *c, const struct json *node, struct str s)
{
	struct arena_mark mark = arena_save(c->tmp);
	struct err e = { 0 };
	bool alone = grader_blank(s) || expr_compile(c->tmp, s, &e) != NULL;

	arena_restore(c->tmp, mark);
	if (!alone)
		grader_note(c, FIELD_ERROR, node, "this assertion needs %s, "
		    "which is not in PATH (%s)", code_wanted(CODE_PYTHON),
		    e.msg);
	return alone;
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct code *set = settings;
	enum code_language language = (enum code_language)set->language;
	const char *key = json_getc(c->spec->config, "assertions") != NULL ?
	    "assertions" : "assertion";

	if (set->assertions.n == 0) {
		grader_nothing(c);
		return;
	}
	if (set->timeout < 0 || set->timeout > TIMEOUT_MAX)
		grader_note(c, FIELD_ERROR, json_getc(c->spec->config,
		    "timeout"), "\"timeout\" must be 0 to %d seconds",
		    TIMEOUT_MAX);
	grader_each(c, c->spec->config, key, check_blank);
	if (code_interpreter(c->tmp, language) != NULL)
		return;
	if (language == CODE_PYTHON)
		grader_each(c, c->spec->config, key, check_alone);
	else
		grader_note(c, FIELD_ERROR, json_getc(c->spec->config,
		    "language"), "\"%s\" needs %s, which is not in PATH",
		    languages[language], code_wanted(language));
}

static struct str
details(struct arena *a, const struct grader_tally *t)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_int(&o, "total_assertions", (int64_t)t->total);
	json_put_member_int(&o, "passed_assertions",
	    (int64_t)(t->total - t->failed));
	grader_put_failures(&o, t);
	json_close(&o, '}');
	return grader_take(a, &b);
}

/* Without the quotes: it is the suite's own text. */
static struct str
shorten(struct arena *a, struct str s)
{
	size_t n = SHOWN;

	if (s.n <= SHOWN)
		return s;
	while (n > SHOWN - 3 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	return arena_fmt(a, "%.*s...", (int)n, s.p);
}

static void
fail(struct grading *g, struct grader_tally *t,
    const struct code_assertion *as)
{
	struct str text = shorten(g->arena, as->text), found;
	size_t at = grader_search(g->arena, as->text, STR("output"));

	if (as->verdict == CODE_MESSAGE) {
		grader_fail(t, "Failed: %.*s: %.*s", STRF(text),
		    STRF(as->message));
	} else if (at != SIZE_MAX) {
		found = grader_quote(g->arena, g->in->answer->output);
		grader_fail(t, "Failed: %.*s (output is %.*s)", STRF(text),
		    STRF(found));
	} else
		grader_fail(t, "Failed: %.*s", STRF(text));
}

static void
conclude(struct grading *g, const struct code_set *set)
{
	struct grader_tally t = { .arena = g->arena };
	size_t i;

	for (i = 0; i < set->n; i++) {
		if (set->v[i].verdict == CODE_TRUE)
			grader_pass(&t);
		else
			fail(g, &t, &set->v[i]);
	}
	grader_conclude(g->arena, &g->out, &t, "all assertions hold");
	g->out.details = details(g->arena, &t);
}

/* True when it is decided, here and now. */
static bool
evaluate(struct grading *g, struct code_assertion *as,
    const struct json *names, struct arena *tmp)
{
	static const enum code_verdict verdicts[] = {
		[EXPR_TRUE] = CODE_TRUE, [EXPR_FALSE] = CODE_FALSE,
		[EXPR_RAISED] = CODE_MESSAGE, [EXPR_DECLINED] = CODE_OPEN
	};
	struct arena_mark mark = arena_save(tmp);
	struct err e = { 0 };
	struct expr *x = expr_compile(tmp, as->text, &e);

	as->verdict = x == NULL ? CODE_OPEN :
	    verdicts[expr_eval(x, names, tmp, &e)];
	if (as->verdict == CODE_MESSAGE || as->verdict == CODE_OPEN)
		as->message = arena_str(g->arena, str_of(e.msg));
	arena_restore(tmp, mark);
	return as->verdict != CODE_OPEN;
}

static size_t
evaluate_all(struct grading *g, struct code_set *set)
{
	struct arena tmp = { 0 };
	const struct json *names = code_names(&tmp, g->in, set);
	size_t i, open = 0;

	for (i = 0; i < set->n; i++)
		open += !evaluate(g, &set->v[i], names, &tmp);
	arena_free(&tmp);
	return open;
}

static double
seconds(const struct grading *g, const struct code *c)
{
	if (c->timeout > 0)
		return c->timeout < TIMEOUT_MAX ? c->timeout : TIMEOUT_MAX;
	return g->in->suite->program_timeout > 0 ?
	    (double)g->in->suite->program_timeout : TIMEOUT;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct code *c = settings;
	enum code_language language = (enum code_language)c->language;
	struct code_set *set = NEW(g->arena, struct code_set);
	struct code_ask ask = { set, language, seconds(g, c), conclude };
	size_t i, open;
	struct err e = { 0 };

	(void)tmp;		/* is g->arena */
	set->n = c->assertions.n;
	set->v = NEW_N(g->arena, struct code_assertion, set->n);
	for (i = 0; i < set->n; i++)
		set->v[i].text = c->assertions.v[i];
	open = language == CODE_PYTHON ? evaluate_all(g, set) : set->n;
	if (open == 0) {
		conclude(g, set);
		return GRADER_DONE;
	}
	if (code_ask(g, &ask, &e) == -1)
		return grader_error(g, "%s", e.msg);
	return GRADER_LATER;
}

const struct grader_kind grader_code = {
	.name = "code",
	.fields = &code_fields,
	.check = check,
	.start = start,
	.cancel = code_cancel,
};

/* SPDX-License-Identifier: ISC */
/*
 * The kind code: assertions about the answer, in Python or JavaScript.
 *
 * lib/py evaluates nearly all Python assertions of real suites without a
 * child.  Those that it declines, and all JavaScript assertions, are evaluated
 * by one interpreter process.  Each assertion is one check; an exception fails
 * the check.
 */
#include "grade/grader_internal.h"

#include "json.h"
#include "lib/py/expr.h"
#include "results/answer.h"
#include "suite/spec.h"

enum {
	TIMEOUT_MAX = 3600,	/* seconds */
	SHOWN_MAX = 200		/* bytes of an assertion in the feedback */
};

struct code {
	struct field_strs assertions;
	int language;
	double timeout;
};

static const char *const languages[] = { "python", "javascript", NULL };

static const struct field code_rows[] = {
	FIELD(code, assertions, FIELD_STRS, .alias = "assertion"),
	FIELD(code, language, FIELD_ENUM, .words = languages),
	FIELD(code, timeout, FIELD_NUM, .alias = "timeout_seconds"),
};
static const struct field_table code_fields = FIELD_TABLE(code, code_rows);

static bool
check_blank(struct grader_check *c, const struct json *node, struct str s)
{
	if (str_trim(s).n > 0)
		return true;
	grader_note(c, FIELD_ERROR, node, "empty assertion");
	return false;
}

/*
 * An assertion that lib/py compiles needs no interpreter, except for unusual
 * values.
 */
static bool
check_without_python(struct grader_check *c, const struct json *node,
    struct str s)
{
	struct arena_mark mark = arena_save(c->tmp);
	struct err e = { 0 };
	bool ok = str_trim(s).n == 0 || expr_compile(c->tmp, s, &e) != NULL;

	arena_restore(c->tmp, mark);
	if (!ok)
		grader_note(c, FIELD_ERROR, node, "this assertion needs %s, "
		    "which is not installed (not found in PATH): %s",
		    code_interpreter_name(CODE_PYTHON), e.msg);
	return ok;
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct code *set = settings;
	enum code_language language = (enum code_language)set->language;
	const char *key = json_getc(c->spec->config, "assertions") != NULL ?
	    "assertions" : "assertion";

	if (set->assertions.n == 0) {
		grader_note_empty(c);
		return;
	}
	if (set->timeout < 0 || set->timeout > TIMEOUT_MAX)
		grader_note(c, FIELD_ERROR, json_getc(c->spec->config,
		    "timeout"), "\"timeout\" must be from 0 to %d seconds",
		    TIMEOUT_MAX);
	grader_check_each(c, c->spec->config, key, check_blank);
	if (code_interpreter(c->tmp, language) != NULL)
		return;
	if (language == CODE_PYTHON)
		grader_check_each(c, c->spec->config, key,
		    check_without_python);
	else
		grader_note(c, FIELD_ERROR, json_getc(c->spec->config,
		    "language"), "\"%s\" needs %s, which is not "
		    "installed (not found in PATH)", languages[language],
		    code_interpreter_name(language));
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
	return arena_take(a, &b);
}

static void
fail(struct grading *g, struct grader_tally *t, const struct code_assertion *as)
{
	struct str text = grader_shorten(g->arena, as->text, SHOWN_MAX), found;
	size_t at = grader_search(g->arena, as->text, STR("output"));

	if (as->verdict == CODE_RAISED) {
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
	grader_conclude(g->arena, &g->out, &t, "all assertions are true");
	g->out.details = details(g->arena, &t);
}

/* Evaluates an assertion with lib/py; false if it stays undecided. */
static bool
evaluate(struct grading *g, struct code_assertion *as,
    const struct json *names, struct arena *tmp)
{
	static const enum code_verdict verdicts[] = {
		[EXPR_TRUE] = CODE_TRUE, [EXPR_FALSE] = CODE_FALSE,
		[EXPR_RAISED] = CODE_RAISED, [EXPR_DECLINED] = CODE_UNDECIDED
	};
	struct arena_mark mark = arena_save(tmp);
	struct err e = { 0 };
	struct expr *x = expr_compile(tmp, as->text, &e);

	as->verdict = x == NULL ? CODE_UNDECIDED :
	    verdicts[expr_eval(x, names, tmp, &e)];
	if (as->verdict == CODE_RAISED || as->verdict == CODE_UNDECIDED)
		as->message = arena_str(g->arena, str_of(e.msg));
	arena_restore(tmp, mark);
	return as->verdict != CODE_UNDECIDED;
}

static size_t
evaluate_all(struct grading *g, struct code_set *set)
{
	struct arena tmp = { 0 };
	const struct json *names = code_variables(&tmp, g->in, set);
	size_t i, undecided = 0;

	for (i = 0; i < set->n; i++)
		undecided += !evaluate(g, &set->v[i], names, &tmp);
	arena_free(&tmp);
	return undecided;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct code *c = settings;
	enum code_language language = (enum code_language)c->language;
	struct code_set *set = NEW(g->arena, struct code_set);
	struct code_request ask = { set, language,
		grader_child_seconds(g, c->timeout, TIMEOUT_MAX), conclude };
	size_t i, undecided;
	struct err e = { 0 };

	(void)tmp;		/* is g->arena */
	set->n = c->assertions.n;
	set->v = NEW_N(g->arena, struct code_assertion, set->n);
	for (i = 0; i < set->n; i++)
		set->v[i].text = c->assertions.v[i];
	undecided = language == CODE_PYTHON ? evaluate_all(g, set) : set->n;
	if (undecided == 0) {
		conclude(g, set);
		return GRADER_DONE;
	}
	if (code_request(g, &ask, &e) == -1)
		return grader_error(g, "%s", e.msg);
	return GRADER_LATER;
}

const struct grader_kind grader_code = {
	.name = "code", .fields = &code_fields, .check = check,
	.start = start, .cancel = grader_child_cancel,
};

/* SPDX-License-Identifier: ISC */
/*
 * The kind code: assertions about the answer, in Python or JavaScript.
 *
 * lib/py evaluates nearly all Python assertions of real suites without a
 * child.  Those that it declines, and all JavaScript assertions, are evaluated
 * by one interpreter process.  Each assertion is one check; an exception fails
 * the check.  A syntax error or an exceeded limit does not judge the answer:
 * it is an error of the grader.
 */
#include "grade/grader_internal.h"

#include <string.h>

#include "agent/agent.h"
#include "json.h"
#include "lib/py/expr.h"
#include "results/answer.h"
#include "suite/spec.h"

enum {
	BYTE_COST = 20,		/* of the variables, in units of a budget */
	TIMEOUT_MAX = 3600,	/* seconds */
	SHOWN_MAX = 200		/* bytes of an assertion in the feedback */
};

struct code {
	struct field_strs assertions;
	int language;
	double timeout;
	int64_t memory_mb;
};

static const char *const languages[] = { "python", "javascript", NULL };

static const struct field code_rows[] = {
	FIELD(code, assertions, FIELD_STRS, .alias = "assertion",
	    .help = "expressions that must be true"),
	FIELD(code, language, FIELD_ENUM, .words = languages,
	    .help = "language of the expressions"),
	FIELD(code, timeout, FIELD_NUM, .alias = "timeout_seconds",
	    .help = "time limit in seconds"),
	FIELD(code, memory_mb, FIELD_INT, .min = SPEC_CODE_MB_MIN,
	    .max = SPEC_CODE_MB_MAX,
	    .help = "memory limit in MiB"),
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
check_python(struct grader_check *c, const struct json *node, struct str s)
{
	struct arena_mark mark = arena_save(c->tmp);
	const char *why;
	struct err e = { 0 };
	bool ok = expr_compile(c->tmp, s, &e) != NULL;

	arena_restore(c->tmp, mark);
	if (ok || !check_blank(c, node, s))
		return ok;
	if (e.code != ERR_LIMIT &&
	    (why = code_mistake(c->tmp, s)) != NULL)
		grader_note(c, FIELD_ERROR, node, "this assertion is not a "
		    "Python expression: %s", why);
	else if (e.code == ERR_LIMIT)
		grader_note(c, FIELD_ERROR, node, "this assertion %s", e.msg);
	else if (code_interpreter(c->tmp, CODE_PYTHON) == NULL)
		grader_note(c, FIELD_ERROR, node, "this assertion needs %s, "
		    "which is not installed (not found in PATH): %s",
		    code_interpreter_name(CODE_PYTHON), e.msg);
	else
		return true;
	return false;
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
	if (set->timeout < 0 || set->timeout > (double)TIMEOUT_MAX)
		grader_note(c, FIELD_ERROR, json_getc(c->spec->config,
		    "timeout"), "\"timeout\" must be from 0 to %d seconds",
		    TIMEOUT_MAX);
	grader_check_each(c, c->spec->config, key,
	    language == CODE_PYTHON ? check_python : check_blank);
	grader_check_told(c, code_uses_calls(&set->assertions) ?
	    AGENT_CALLS : 0);
	if (language != CODE_PYTHON &&
	    code_interpreter(c->tmp, language) == NULL)
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

/* Ends the grading with the first assertion that is an error, if any. */
static bool
refuse(struct grading *g, const struct code_set *set)
{
	const struct code_assertion *as;
	struct str q;
	size_t i;

	for (i = 0; i < set->n && set->v[i].verdict != CODE_ERROR; i++)
		;
	if (i == set->n)
		return false;
	as = &set->v[i];
	q = grader_quote(g->arena, as->text);
	grader_error(g, "assertion %.*s %.*s", STRF(q), STRF(as->message));
	return true;
}

static void
conclude(struct grading *g, const struct code_set *set)
{
	struct grader_tally t = { .arena = g->arena };
	size_t i;

	if (refuse(g, set))
		return;
	for (i = 0; i < set->n; i++) {
		if (set->v[i].verdict == CODE_TRUE)
			grader_pass(&t);
		else if (set->v[i].verdict == CODE_UNKNOWN)
			grader_unknown(&t, g->in, code_unknown(g->arena,
			    g->in, set->v[i].text));
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
		[EXPR_RAISED] = CODE_RAISED, [EXPR_DECLINED] = CODE_UNDECIDED,
		[EXPR_LIMIT] = CODE_ERROR
	};
	struct arena_mark mark = arena_save(tmp);
	struct err e = { 0 };
	struct expr *x = expr_compile(tmp, as->text, &e);

	if (x != NULL) {
		expr_limit(x, g->budget);
		as->verdict = verdicts[expr_eval(x, names, tmp, &e)];
	} else
		as->verdict = e.code == ERR_LIMIT ? CODE_ERROR :
		    CODE_UNDECIDED;
	if (as->verdict != CODE_TRUE && as->verdict != CODE_FALSE)
		as->message = arena_str(g->arena, str_of(e.msg));
	arena_restore(tmp, mark);
	return as->verdict != CODE_UNDECIDED;
}

static size_t
evaluate_all(struct grading *g, struct code_set *set)
{
	struct arena tmp = { 0 };
	const struct json *names;
	size_t i, undecided = 0;

	if (!budget_take(g->budget, (g->in->answer->transcript.n +
	    (uint64_t)g->in->answer->output.n) * BYTE_COST))
		return 0;
	names = code_variables(&tmp, g->in, set);
	for (i = 0; i < set->n; i++)
		undecided += set->v[i].verdict != CODE_UNKNOWN &&
		    !evaluate(g, &set->v[i], names, &tmp);
	arena_free(&tmp);
	return undecided;
}

/* The verdicts and messages of the assertions, as bytes. */
static struct str
save(struct arena *a, const struct code_set *set)
{
	const struct code_assertion *as;
	struct buf b = { 0 };

	for (as = set->v; as < set->v + set->n; as++) {
		buf_put(&b, (struct str){ (const char *)&as->verdict,
			sizeof(as->verdict) });
		buf_put(&b, (struct str){ (const char *)&as->message.n,
			sizeof(as->message.n) });
		buf_put(&b, as->message);
	}
	return arena_take(a, &b);
}

/* The opposite; returns how many are undecided. */
static size_t
restore(struct str from, struct code_set *set)
{
	struct code_assertion *as;
	const char *p = from.p;
	size_t undecided = 0;

	for (as = set->v; as < set->v + set->n; as++) {
		memcpy(&as->verdict, p, sizeof(as->verdict));
		p += sizeof(as->verdict);
		memcpy(&as->message.n, p, sizeof(as->message.n));
		p += sizeof(as->message.n);
		as->message.p = p;
		p += as->message.n;
		undecided += as->verdict == CODE_UNDECIDED;
	}
	return undecided;
}

/* Returns the number of assertions that can be evaluated. */
static size_t
read_set(struct grading *g, const struct field_strs *from,
    struct code_set *set)
{
	size_t i, n = 0;

	set->n = from->n;
	set->v = NEW_N(g->arena, struct code_assertion, set->n);
	for (i = 0; i < set->n; i++) {
		set->v[i].text = from->v[i];
		if (code_unknown(g->arena, g->in, from->v[i]) != NULL)
			set->v[i].verdict = CODE_UNKNOWN;
		else
			n++;
	}
	return n;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct code *c = settings;
	enum code_language language = (enum code_language)c->language;
	struct code_set *set = NEW(g->arena, struct code_set);
	const struct spec_suite *suite = g->in->suite;
	struct code_request ask = { .set = set, .language = language,
		.memory_mb = c->memory_mb > 0 ? c->memory_mb :
		suite->code_memory_mb, .conclude = conclude,
		.seconds = grader_child_seconds(c->timeout, TIMEOUT_MAX,
		suite->code_timeout) };
	size_t undecided;
	struct err e = { 0 };

	(void)tmp;		/* is g->arena */
	undecided = read_set(g, &c->assertions, set);
	if (undecided > 0 && language == CODE_PYTHON)
		undecided = g->carry.n > 0 ? restore(g->carry, set) :
		    evaluate_all(g, set);
	if (g->budget != NULL && g->budget->spent)
		return GRADER_DONE;
	if (refuse(g, set))
		return GRADER_DONE;
	if (undecided == 0) {
		conclude(g, set);
		return GRADER_DONE;
	}
	if (g->copied) {
		g->carry = save(g->arena, set);
		return GRADER_LATER;
	}
	if (g->in->no_programs)
		return grader_skip(g, "not run: it needs %s",
		    code_interpreter_name(language));
	if (code_request(g, &ask, &e) == -1)
		return grader_error(g, "%s", e.msg);
	return GRADER_LATER;
}

const struct grader_kind grader_code = {
	.name = "code", .fields = &code_fields, .check = check,
	.start = start, .cancel = grader_child_cancel, .carries = true,
};

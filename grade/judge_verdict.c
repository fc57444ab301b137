/* SPDX-License-Identifier: ISC */
/*
 * Reads the verdict of a judge: calls of tools, or a JSON object anywhere in
 * its answer, in prose or in a code fence.
 *
 * The last object with the members of a verdict counts.  If it is invalid,
 * there is no verdict, since an earlier object may be a quotation.  Objects
 * inside objects or lists do not count, even if the outer one is truncated:
 * the parts of a list of criteria look like a verdict on the whole.
 */
#include "grade/judge.h"

#include <string.h>

#include "grade/grader_internal.h"
#include "json.h"

enum {
	DEPTH = 16,			/* nesting of a verdict */
	TREE_MAX = 4 << 20,		/* bytes of its tree */
	REASONS_MAX = 64 << 10		/* bytes of reasons */
};

const char *const judge_sides[] = {
	[JUDGE_A] = "A", [JUDGE_B] = "B", [JUDGE_TIE] = "tie"
};
const char *const judge_magnitudes[] = {
	"much-better", "slightly-better", "equal", NULL
};

#define REASON_SCHEMA "{\"type\":\"object\",\"properties\":{" \
	"\"description\":{\"type\":\"string\"}," \
	"\"reason\":{\"type\":\"string\"}}}"

const struct agent_tool judge_grade_tools[2] = {
	{ "set_waza_grade_pass", "A criterion is met.", REASON_SCHEMA },
	{ "set_waza_grade_fail", "A criterion is not met.", REASON_SCHEMA },
};
const struct agent_tool judge_choice_tools[1] = {
	{ "set_pairwise_winner", "Which of the two answers is better.",
	    "{\"type\":\"object\",\"required\":[\"winner\"],\"properties\":{"
	    "\"winner\":{\"enum\":[\"A\",\"B\",\"tie\"]},"
	    "\"magnitude\":{\"enum\":[\"much-better\",\"slightly-better\","
	    "\"equal\"]},\"reasoning\":{\"type\":\"string\"}}}" },
};

/* Limited memory, so that a huge object is not a verdict. */
struct limited_arena {
	struct arena *arena;
	size_t left;
};

static void *
alloc_limited(void *ctx, size_t n)
{
	struct limited_arena *r = ctx;

	if (n > r->left)
		return NULL;
	r->left -= n;
	return arena_hook(r->arena, n);
}

static struct json *
read_object(struct arena *a, struct str text, size_t *used)
{
	struct limited_arena limited = { a, TREE_MAX };
	struct json_mem mem = { alloc_limited, &limited };
	struct json_error e;

	return json_read_prefix(&mem, text, DEPTH, used, &e);
}

static const char *
after_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
		p++;
	return p;
}

/* Whether a non-empty object, or a list of such objects, may start here. */
static bool
may_start(const char *p, const char *end)
{
	if (*p == '[')
		p = after_blanks(p + 1, end);
	if (p == end || *p != '{')
		return false;
	p = after_blanks(p + 1, end);
	return p < end && *p == '"';
}

/* Where the bracket at p seems to be closed, counting only brackets. */
static const char *
closing_bracket(const char *p, const char *end)
{
	size_t open = 0;

	for (; p < end; p++) {
		if (*p == '{' || *p == '[')
			open++;
		else if ((*p == '}' || *p == ']') && --open == 0)
			return p;
	}
	return end;
}

/* Whether the first member of a malformed object is wanted. */
static bool
starts_wanted(const char *p, const char *end, struct arena *tmp,
    bool (*wanted)(const void *, const struct json *), const void *ctx)
{
	struct json name = { .type = JSON_NULL }, obj = { .type = JSON_OBJECT };
	const struct json *v;
	size_t used;

	p = after_blanks(p + 1, end);
	if (*p == '{')			/* the first object of a list */
		p = after_blanks(p + 1, end);
	v = read_object(tmp, (struct str){ p, (size_t)(end - p) }, &used);
	if (v == NULL)
		return false;
	name.key = json_text(v).p;
	name.nkey = v->n;
	obj.u.child = &name;
	obj.n = 1;
	return wanted(ctx, &obj);
}

/*
 * Inside a malformed object, an object counts only at the start of a line,
 * where it is probably not a part of the other one.
 *
 * Linear: attempts that fail read the same byte at most DEPTH times, because
 * their braces must be nested.
 */
size_t
judge_last_object(struct str text,
    bool (*wanted)(const void *ctx, const struct json *), const void *ctx)
{
	struct arena tmp = { 0 };
	const char *p = text.p, *end = p + text.n, *shut = p;
	size_t used, found = SIZE_MAX;
	struct json *v;

	for (; p < end; p += used) {
		used = 1;
		if (!may_start(p, end) ||
		    (p < shut && p > text.p && p[-1] != '\n'))
			continue;
		v = read_object(&tmp, (struct str){ p, (size_t)(end - p) },
		    &used);
		if (v != NULL) {
			if (v->type == JSON_OBJECT && wanted(ctx, v))
				found = (size_t)(p - text.p);
		} else {
			used = 1;
			shut = p < shut ? shut : closing_bracket(p, end);
			if (starts_wanted(p, end, &tmp, wanted, ctx))
				found = SIZE_MAX;
		}
		arena_free(&tmp);
	}
	return found;
}

static const struct json *
last_object(struct arena *a, struct str text,
    bool (*wanted)(const void *, const struct json *), const void *ctx)
{
	size_t used, at = judge_last_object(text, wanted, ctx);

	return at == SIZE_MAX ? NULL : read_object(a,
	    (struct str){ text.p + at, text.n - at }, &used);
}

/* Whether the call is of the tool; servers may add a prefix to its name. */
static bool
is_call_of(const struct answer_call *c, const char *tool)
{
	struct str name = c->name;
	size_t n = strlen(tool);
	char before;

	if (!str_ends(name, str_of(tool)))
		return false;
	if (name.n == n)
		return true;
	before = name.p[name.n - n - 1];
	return before == '_' || before == '-' || before == '.' ||
	    before == '/' || before == ':';
}

static const struct json *
read_arguments(struct arena *a, const struct answer_call *c)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error e;

	return json_read(&mem, c->arguments, DEPTH, &e);
}

static struct str
reason_of_call(struct arena *a, const struct answer_call *c)
{
	const struct json *args = read_arguments(a, c);
	struct str what = json_str(args, "description");
	struct str why = json_str(args, "reason");

	if (what.n == 0 || why.n == 0)
		return what.n > 0 ? what : why;
	return arena_fmt(a, "%.*s: %.*s", STRF(what), STRF(why));
}

/* Calls of one of the two tools: their number and their reasons. */
struct side {
	size_t n;
	struct buf reasons;
};

static void
count_call(struct side *s, struct arena *a, const struct answer_call *c)
{
	struct arena_mark mark = arena_save(a);
	struct str reason = reason_of_call(a, c);

	s->n++;
	s->reasons.max = REASONS_MAX;
	if (reason.n > 0 && s->reasons.n > 0)
		buf_puts(&s->reasons, "; ");
	buf_put(&s->reasons, reason);
	arena_restore(a, mark);
}

/* The score is the share of passes; one failure fails the whole. */
static bool
read_calls(struct arena *a, const struct answer *ans, struct judge_verdict *v)
{
	struct side pass = { 0 }, fail = { 0 };
	const struct answer_call *c;

	for (c = ans->calls; c != NULL; c = c->next) {
		if (is_call_of(c, judge_grade_tools[0].name))
			count_call(&pass, a, c);
		else if (is_call_of(c, judge_grade_tools[1].name))
			count_call(&fail, a, c);
	}
	v->passes = arena_take(a, &pass.reasons);
	v->failures = arena_take(a, &fail.reasons);
	if (pass.n + fail.n == 0)
		return false;
	v->by_tool = true;
	v->score = (double)pass.n / (double)(pass.n + fail.n);
	v->passed = fail.n == 0;
	return true;
}

static struct str
level_key(const struct judge_scale *s)
{
	return s->key.n > 0 ? s->key : STR("score");
}

static bool
is_verdict(const void *ctx, const struct json *v)
{
	return json_getc(v, "passed") != NULL ||
	    json_get(v, level_key(ctx)) != NULL;
}

/* Whether the value is the level of that name. */
static bool
is_level(struct arena *a, struct str name, const struct json *v)
{
	const struct json *n;

	if (v->type == JSON_BOOL)
		return str_is(name, json_bool(v) ? "true" : "false");
	if (v->type == JSON_STRING)
		return str_eq(name, json_text(v));
	n = arena_json(a, name, NULL);
	return n != NULL && n->type == JSON_NUMBER && json_equal(n, v);
}

static int
read_level(struct arena *a, const struct judge_scale *s, const struct json *v,
    double *score, struct err *e)
{
	struct str key = level_key(s);
	const struct json *m;
	double lo = s->ranged ? s->min : 0, hi = s->ranged ? s->max : 1, d;

	for (m = json_first(s->mapping); m != NULL; m = m->next)
		if (is_level(a, json_key(m), v) && json_double(m, score))
			return 0;
	if (s->mapping != NULL && !s->ranged)
		return err_set(e, ERR_SCHEMA, "\"%.*s\" of the verdict is "
		    "not a level of the rubric", STRF(key));
	if (!json_double(v, &d))
		return err_set(e, ERR_SCHEMA, "\"%.*s\" of the verdict is %s, "
		    "not a number", STRF(key),
		    json_type_name((enum json_type)v->type));
	if (!(d >= lo && d <= hi))
		return err_set(e, ERR_SCHEMA, "\"%.*s\" of the verdict is %g, "
		    "not from %g to %g", STRF(key), d, lo, hi);
	*score = (d - lo) / (hi - lo);
	return 0;
}

static struct str
reason_of(const struct json *v)
{
	static const char *const keys[] = { "reason", "reasoning",
		"explanation" };
	struct str s = STR("");
	size_t i;

	for (i = 0; s.n == 0 && i < COUNTOF(keys); i++)
		s = json_str(v, keys[i]);
	return s;
}

static int
read_json(struct arena *a, const struct json *v, const struct judge_scale *s,
    double threshold, struct judge_verdict *out, struct err *e)
{
	const struct json *passed = json_getc(v, "passed");
	const struct json *level = json_get(v, level_key(s));

	if (json_is_set(passed) && passed->type != JSON_BOOL)
		return err_set(e, ERR_SCHEMA, "\"passed\" of the verdict is "
		    "%s, not true or false",
		    json_type_name((enum json_type)passed->type));
	if (json_is_set(level)) {
		if (read_level(a, s, level, &out->score, e) == -1)
			return -1;
		out->passed = out->score >= (threshold < 0 ? 0.5 : threshold);
	} else if (json_is_set(passed))
		out->score = json_bool(passed) ? 1 : 0;
	else
		return err_set(e, ERR_SCHEMA, "the verdict is null");
	if (!json_is_set(passed))
		return 0;
	if (json_bool(passed) ? !(out->score > 0) : !(out->score < 1))
		return err_set(e, ERR_SCHEMA, "the verdict contradicts itself:"
		    " %s with a score of %g", json_bool(passed) ? "passed" :
		    "not passed", out->score);
	out->passed = json_bool(passed) &&
	    (threshold < 0 || out->score >= threshold);
	return 0;
}

int
judge_read(struct arena *a, const struct answer *ans,
    const struct judge_scale *scale, double threshold,
    struct judge_verdict *out, struct err *e)
{
	const struct json *v;

	*out = (struct judge_verdict){ 0 };
	if (read_calls(a, ans, out))
		return 0;
	v = last_object(a, ans->output, is_verdict, scale);
	if (v == NULL)
		return err_set(e, ERR_SCHEMA, "the answer contains no verdict");
	if (read_json(a, v, scale, threshold, out, e) == -1)
		return -1;
	*(out->passed ? &out->passes : &out->failures) = reason_of(v);
	return 0;
}

static bool
is_choice(const void *ctx, const struct json *v)
{
	(void)ctx;
	return json_getc(v, "winner") != NULL;
}

static bool
same_word(struct str s, const char *word)
{
	size_t i;

	for (i = 0; i < s.n && word[i] != '\0'; i++)
		if ((s.p[i] | 0x20) != (word[i] | 0x20))
			return false;
	return i == s.n && word[i] == '\0';
}

static int
read_choice(const struct json *v, struct judge_choice *out, struct err *e)
{
	struct str winner = json_str(v, "winner");
	struct str magnitude = json_str(v, "magnitude");
	size_t i;

	for (i = 0; i <= JUDGE_TIE; i++)
		if (same_word(winner, judge_sides[i]))
			break;
	if (i > JUDGE_TIE)
		return err_set(e, ERR_SCHEMA, "\"winner\" of the verdict is "
		    "not \"A\", \"B\" or \"tie\"");
	out->winner = (enum judge_side)i;
	for (i = 0; judge_magnitudes[i] != NULL; i++)
		if (same_word(magnitude, judge_magnitudes[i]))
			out->magnitude = str_of(judge_magnitudes[i]);
	out->reasoning = reason_of(v);
	return 0;
}

/* The last call counts, as does the last object. */
int
judge_read_choice(struct arena *a, const struct answer *ans,
    struct judge_choice *out, struct err *e)
{
	const struct answer_call *c, *last = NULL;
	const struct json *v;

	*out = (struct judge_choice){ .winner = JUDGE_TIE };
	for (c = ans->calls; c != NULL; c = c->next)
		if (is_call_of(c, judge_choice_tools[0].name))
			last = c;
	v = last != NULL ? read_arguments(a, last) :
	    last_object(a, ans->output, is_choice, NULL);
	if (v == NULL)
		return err_set(e, ERR_SCHEMA, "the answer contains no verdict");
	return read_choice(v, out, e);
}

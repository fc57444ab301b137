/* SPDX-License-Identifier: ISC */
/*
 * Calls that settings describe: patterns for the tool and for well-known
 * arguments, and matchers for any argument.
 *
 * The trace is read once; the arguments of a call are parsed only if a
 * description needs them.
 */
#include "grade/grader_trace.h"

#include "agent/agent.h"
#include "json.h"
#include "lib/re/re.h"
#include "results/answer.h"
#include "suite/spec.h"

enum {				/* in units of a budget: */
	CALL_COST = 500,	/* of a call, */
	PARSE_COST = 20		/* of each byte of its arguments */
};

static const struct field call_rows[] = {
	FIELD(grader_call, tool, FIELD_STR, .alias = "name",
	    .flags = FIELD_REQUIRED,
	    .help = "name of the tool, or a pattern"),
	GRADER_KEY(grader_call, command_pattern, FIELD_STR,
	    .help = "pattern for the command"),
	GRADER_KEY(grader_call, skill_pattern, FIELD_STR,
	    .help = "pattern for the skill"),
	GRADER_KEY(grader_call, path_pattern, FIELD_STR,
	    .help = "pattern for the path"),
	GRADER_KEY(grader_call, args, FIELD_TREE,
	    .help = "arguments of the call"),
};
static const struct field_table call_fields =
    FIELD_TABLE(grader_call, call_rows);

enum { PATH = 3 };

/* By index of the pattern; 0 is the name of the tool. */
static const char *const argument_names[][2] = {
	{ NULL, NULL }, { "command", NULL }, { "skill", NULL },
	[PATH] = { "path", "file_path" },
};

/* The entries of a list; another value is a list of one entry. */
static const struct json *
first(const struct json *list)
{
	return list->type == JSON_ARRAY ? json_first(list) : list;
}

static const struct json *
after(const struct json *list, const struct json *entry)
{
	return list->type == JSON_ARRAY ? entry->next : NULL;
}

static void
check_entry(struct grader_check *c, const struct json *entry)
{
	static const char *const patterns[] = { "tool", "name",
		"command_pattern", "skill_pattern", "path_pattern" };
	struct spec_source source = { c->notes, c->file };
	struct field_ctx ctx = { .arena = c->tmp, .flags = FIELD_LAX,
		.report = spec_report, .ctx = &source };
	struct grader_call call = { .hit = 0 };
	size_t i;

	ctx.flags |= c->notes->strict ? FIELD_STRICT : 0;
	if (field_decode(&ctx, &call_fields, entry, &call) > 0)
		return;
	if (call.tool.n == 0)
		grader_note(c, FIELD_ERROR, entry, "\"tool\" is empty");
	for (i = 0; i < COUNTOF(patterns); i++)
		grader_check_each(c, entry, patterns[i], grader_check_pattern);
	if (json_is_set(call.args))
		grader_check_told(c, AGENT_ARGUMENTS);
	grader_args_check(c, call.args);
}

size_t
grader_calls_check(struct grader_check *c, const char *key)
{
	const struct json *list = json_getc(c->spec->config, key), *entry;
	size_t n = 0;

	if (!json_is_set(list))
		return 0;
	for (entry = first(list); entry != NULL; entry = after(list, entry)) {
		n++;
		if (entry->type == JSON_OBJECT)
			check_entry(c, entry);
		else if (entry->type != JSON_STRING)
			grader_note(c, FIELD_ERROR, entry,
			    "\"%s\": expected a mapping with \"tool\" or the "
			    "name of a tool, not %s", key,
			    json_type_name((enum json_type)entry->type));
		else if (entry->n == 0)
			grader_note(c, FIELD_ERROR, entry, "empty name");
	}
	grader_check_each(c, c->spec->config, key, grader_check_pattern);
	return n;
}

static struct re *
compile_ignoring_case(struct arena *a, struct str pattern, struct err *e)
{
	struct buf b = { 0 };
	struct re *re;

	buf_puts(&b, "(?i)");
	buf_put(&b, pattern);
	re = re_compile(a, buf_str(&b), e);
	buf_free(&b);
	return re;
}

static bool
fits_whole(void *re, struct str name)
{
	return re_test(re, name);
}

/* What the tools do that the pattern names: as a whole, not in a part. */
static int
read_names(struct arena *a, struct grader_call *c, struct budget *b,
    struct err *e)
{
	struct buf whole = { 0 };
	struct re *re;
	size_t i;

	buf_puts(&whole, "^(?:");
	buf_put(&whole, c->tool);
	buf_puts(&whole, ")$");
	re = compile_ignoring_case(a, buf_str(&whole), e);
	buf_free(&whole);
	if (re == NULL)
		return -1;
	re_limit(re, b);
	c->does = answer_names_do(fits_whole, re);
	for (i = 0; i < ANSWER_TOOL__MAX; i++)
		if (re_test(re, str_of(answer_tool_name((enum answer_tool)i))))
			c->does |= answer_any((enum answer_tool)i);
	return 0;
}

static int
read_entry(struct arena *a, const struct json *entry, struct grader_call *c,
    struct budget *b, struct err *e)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX | FIELD_OPEN };
	struct str patterns[4];
	size_t i;

	c->hit = SIZE_MAX;
	if (entry->type == JSON_STRING)
		c->tool = json_text(entry);
	else if (entry->type != JSON_OBJECT ||
	    field_decode(&ctx, &call_fields, entry, c) > 0)
		return err_set(e, ERR_SCHEMA, "invalid description of a call");
	patterns[0] = c->tool;
	patterns[1] = c->command_pattern;
	patterns[2] = c->skill_pattern;
	patterns[3] = c->path_pattern;
	for (i = 0; i < COUNTOF(patterns); i++) {
		if (patterns[i].n == 0)
			continue;
		c->re[i] = compile_ignoring_case(a, patterns[i], e);
		if (c->re[i] == NULL)
			return -1;
		re_limit(c->re[i], b);
	}
	if (c->re[0] != NULL && read_names(a, c, b, e) != 0)
		return -1;
	return grader_args_read(a, c->args, &c->want, b, e);
}

int
grader_calls_read(struct arena *a, const struct json *list,
    const struct grading *g, struct grader_calls *calls, struct err *e)
{
	const struct json *entry;

	*calls = (struct grader_calls){ .budget = g->budget };
	if (!json_is_set(list))
		return 0;
	if ((list = grader_render_tree(a, list, g->in->vars, e)) == NULL)
		return -1;
	calls->v = NEW_N(a, struct grader_call,
	    list->type == JSON_ARRAY ? json_count(list) : 1);
	for (entry = first(list); entry != NULL; entry = after(list, entry))
		if (read_entry(a, entry, &calls->v[calls->n++], g->budget,
		    e) != 0)
			return -1;
	return 0;
}

/* The arguments of a call, parsed when they are first needed. */
struct arguments {
	const struct answer_call *call;
	struct arena *tmp;
	bool read;
	const struct json *tree;	/* NULL: not JSON */
};

static const struct json *
tree_of(struct arguments *a)
{
	if (!a->read && a->call->arguments.n > 0)
		a->tree = arena_json(a->tmp, a->call->arguments, NULL);
	a->read = true;
	return a->tree;
}

/* The text of the first argument with one of the names, or "". */
static struct str
text_of(struct arguments *a, const char *const *names)
{
	const struct json *tree = tree_of(a), *v;
	size_t i;

	for (i = 0; i < 2 && names[i] != NULL; i++) {
		v = json_getc(tree, names[i]);
		if (json_is_set(v))
			return grader_arg_text(a->tmp, v);
	}
	return STR("");
}

/* The known arguments in our own form, as an object. */
static const struct json *
own_tree(struct arguments *a)
{
	const struct answer_call *c = a->call;
	const struct { const char *key; struct str value; } all[] = {
		{ "command", c->command }, { "path", c->path },
		{ "url", c->url }, { "skill", c->skill },
	};
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i;

	json_open(&o, '{');
	for (i = 0; i < COUNTOF(all); i++)
		if (all[i].value.n > 0)
			json_put_member_str(&o, all[i].key, all[i].value);
	json_close(&o, '}');
	return arena_json(a->tmp, arena_take(a->tmp, &b), NULL);
}

/* Whether one of the files fits, of a call that has a list of them. */
static bool
fits_file(struct re *re, struct arguments *a)
{
	static const char *const lists[] = { "paths", "changes", "files" };
	const struct json *list, *v;
	size_t i;

	for (i = 0; i < COUNTOF(lists); i++) {
		list = json_getc(tree_of(a), lists[i]);
		if (list == NULL || (list->type != JSON_ARRAY &&
		    list->type != JSON_OBJECT))
			continue;
		for (v = json_first(list); v != NULL; v = v->next)
			if (re_test(re, list->type == JSON_OBJECT ?
			    json_key(v) : v->type == JSON_STRING ?
			    json_text(v) : json_str(v, "path")))
				return true;
	}
	return false;
}

/* Whether it changes files that no argument names, as a patch does. */
static bool
hides_path(struct arguments *a)
{
	const struct answer_call *c = a->call;
	const struct json *tree = tree_of(a);

	if (c->tool != ANSWER_WRITE && c->tool != ANSWER_EDIT)
		return false;
	return c->more_paths || (c->path.n == 0 && tree != NULL &&
	    (tree->type == JSON_OBJECT ? json_count(tree) > 0 :
	    tree->type == JSON_STRING));
}

/* Whether the tool fits, by its own name or by what it does. */
static enum grader_fit
fits_name(const struct grader_call *c, const struct answer_call *call)
{
	struct answer_name n = { .text = c->tool, .does = c->does };

	if (c->re[0] == NULL ||
	    re_test(c->re[0], str_of(answer_tool_name(call->tool))) ||
	    (!call->no_name && re_test(c->re[0], call->name)))
		return GRADER_YES;
	return grader_call_does(call, &n);
}

/* Whether the argument fits, as the agent gave it or in our own form. */
static enum grader_fit
fits_argument(const struct grader_call *c, struct arguments *a, size_t i)
{
	const struct answer_call *call = a->call;
	const struct str none = STR("");
	const struct str *const all[] = { &none, &call->command, &call->skill,
		&call->path };
	struct str own = *all[i];

	if (c->re[i] == NULL || (own.n > 0 && re_test(c->re[i], own)))
		return GRADER_YES;
	if (call->no_arguments)
		return own.n > 0 && !(i == PATH && call->more_paths) ?
		    GRADER_NO : GRADER_MAYBE;
	if (re_test(c->re[i], text_of(a, argument_names[i])) ||
	    (i == PATH && fits_file(c->re[i], a)))
		return GRADER_YES;
	if (call->few_arguments && own.n == 0)
		return GRADER_MAYBE;
	return i == PATH && hides_path(a) ? GRADER_MAYBE : GRADER_NO;
}

/* Whether it has conditions on arguments that the original does not store. */
static bool
wants_others(const struct grader_args *want)
{
	static const char *const stored[] = { "path", "file_text", "command",
		"description", "skill" };
	size_t i, k;

	for (i = 0; i < want->n; i++) {
		for (k = 0; k < COUNTOF(stored); k++)
			if (str_is(want->v[i].name, stored[k]))
				break;
		if (k == COUNTOF(stored))
			return true;
	}
	return false;
}

/*
 * The index of the first argument pattern that does not fit, or 0.  *doubt: one
 * of them, or an argument matcher, looks for what the agent does not report.
 */
static size_t
mismatch(const struct grader_call *c, struct arguments *a, bool *doubt)
{
	enum grader_fit fit;
	size_t i;

	*doubt = c->want.n > 0 && (a->call->no_arguments ||
	    (a->call->few_arguments && wants_others(&c->want)));
	for (i = 1; i < COUNTOF(argument_names); i++) {
		fit = fits_argument(c, a, i);
		if (fit == GRADER_NO)
			return i;
		*doubt = *doubt || fit == GRADER_MAYBE;
	}
	return 0;
}

/* As grader_args_match(), for all conditions except the name. */
static int
matches(const struct grader_call *c, struct arguments *a, struct buf *why,
    struct err *e)
{
	bool doubt;
	size_t i = mismatch(c, a, &doubt);
	struct str q;

	if (i > 0) {
		q = grader_quote(a->tmp, text_of(a, argument_names[i]));
		buf_fmt(why, "%s is %.*s", argument_names[i][0], STRF(q));
		return 0;
	}
	if (c->want.n > 0 && tree_of(a) == NULL && a->call->arguments.n > 0) {
		q = grader_quote(a->tmp, a->call->arguments);
		buf_fmt(why, "the arguments are not JSON: %.*s", STRF(q));
		return 0;
	}
	return grader_args_match(&c->want, a->tmp, tree_of(a), own_tree(a),
	    why, e);
}

/* Compares one call of the trace with all descriptions without a match. */
static int
match_call(struct grader_calls *calls, struct arguments *a, size_t at,
    struct err *e)
{
	enum grader_fit fit;
	struct grader_call *c;
	struct buf why = { 0 };
	bool doubt;
	size_t i;
	int rc = 0;

	for (i = 0; i < calls->n && rc >= 0; i++) {
		c = &calls->v[i];
		if (c->hit != SIZE_MAX)
			continue;
		fit = fits_name(c, a->call);
		if (fit == GRADER_NO)
			continue;
		if (mismatch(c, a, &doubt) == 0 && (doubt ||
		    fit == GRADER_MAYBE)) {
			c->doubt = doubt ? ((a->call->no_arguments ||
			    a->call->few_arguments) &&
			    !a->call->more_paths ? "arguments" :
			    "which files a call changes") :
			    grader_call_doubt(a->call);
			continue;
		}
		if (fit == GRADER_MAYBE)
			continue;
		why.n = 0;
		rc = matches(c, a, &why, e);
		if (rc > 0)
			c->hit = at;
		else
			c->near = a->call;
	}
	buf_free(&why);
	return rc;
}

/* Sets why the last call with a matching name does not match. */
static void
explain(struct arena *keep, struct grader_call *c, struct arguments *a)
{
	struct buf why = { 0 };
	struct err e = { 0 };

	if (c->hit != SIZE_MAX)
		return;
	if (c->near == NULL) {
		c->why = STR("no such tool was called");
		return;
	}
	a->call = c->near;
	a->read = false;
	a->tree = NULL;
	matches(c, a, &why, &e);
	c->why = arena_take(keep, &why);
}

int
grader_calls_find(struct arena *keep, const struct answer *answer,
    struct grader_calls *calls, struct err *e)
{
	struct arena tmp = { 0 };
	struct arguments a = { .tmp = &tmp };
	const struct answer_call *call;
	size_t i, at = 0;
	int rc = 0;

	for (call = answer->calls; call != NULL && rc >= 0;
	    call = call->next) {
		a = (struct arguments){ .call = call, .tmp = &tmp };
		if (call->denied) {
			at++;
			continue;
		}
		if (!budget_take(calls->budget, CALL_COST +
		    (uint64_t)call->arguments.n * PARSE_COST))
			break;
		rc = match_call(calls, &a, at++, e);
		arena_free(&tmp);
	}
	for (i = 0; i < calls->n && rc >= 0; i++)
		explain(keep, &calls->v[i], &a);
	arena_free(&tmp);
	return rc < 0 ? -1 : 0;
}

static void
put_part(struct buf *b, size_t from, const char *key, struct str pattern)
{
	if (pattern.n == 0)
		return;
	buf_puts(b, b->n == from ? " (" : ", ");
	buf_fmt(b, "%s: ", key);
	buf_put(b, pattern);
}

struct str
grader_call_label(struct arena *a, const struct grader_call *c)
{
	struct buf b = { 0 };
	size_t i, from;

	buf_put(&b, c->tool);
	from = b.n;
	put_part(&b, from, "command_pattern", c->command_pattern);
	put_part(&b, from, "skill_pattern", c->skill_pattern);
	put_part(&b, from, "path_pattern", c->path_pattern);
	for (i = 0; i < c->want.n; i++) {
		buf_puts(&b, i > 0 ? ", " : b.n == from ? " (args: [" :
		    ", args: [");
		buf_put(&b, c->want.v[i].name);
	}
	buf_puts(&b, c->want.n > 0 ? "]" : "");
	buf_puts(&b, b.n > from ? ")" : "");
	return arena_take(a, &b);
}

void
grader_calls_grade(struct grader_tally *t, struct arena *tmp,
    const struct grader_input *in, const struct grader_calls *calls,
    bool expected)
{
	const char *unknown = in->answer->no_calls ? "tool calls" : NULL;
	const struct grader_call *c;
	struct str q;
	size_t i;

	for (i = 0; i < calls->n; i++) {
		c = &calls->v[i];
		if (c->hit == SIZE_MAX && (c->doubt != NULL ||
		    unknown != NULL)) {
			grader_unknown(t, in, c->doubt != NULL ? c->doubt :
			    unknown);
			continue;
		}
		if ((c->hit != SIZE_MAX) == expected) {
			grader_pass(t);
			continue;
		}
		q = grader_quote(tmp, grader_call_label(tmp, c));
		if (expected)
			grader_fail(t, "no call matches %.*s: %.*s", STRF(q),
			    STRF(c->why));
		else
			grader_fail(t, "call %zu matches rejected %.*s",
			    c->hit + 1, STRF(q));
	}
}

/* SPDX-License-Identifier: ISC */
/*
 * The kinds text, regex and keyword: strings and patterns in the output.
 *
 * regex and keyword are older names of text.  All spellings of the settings,
 * including undocumented ones of real suites, are reduced to six lists.
 */
#include "grade/grader_internal.h"

#include <string.h>

#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

/* In the order of the checks, of the details and of the failures. */
enum list {
	HAS, HAS_NOT, HAS_CS, HAS_NOT_CS, MATCH, MATCH_NOT, LIST__MAX
};

static const char *const list_keys[] = {
	[HAS] = "contains",
	[HAS_NOT] = "not_contains",
	[HAS_CS] = "contains_cs",
	[HAS_NOT_CS] = "not_contains_cs",
	[MATCH] = "regex_match",
	[MATCH_NOT] = "regex_not_match",
};

struct text {
	struct field_strs contains, not_contains;
	struct field_strs contains_cs, not_contains_cs;
	struct field_strs regex_match, regex_not_match;
	/* other spellings of the above; pattern depends on should_match */
	struct field_strs must_contain, must_not_contain, keywords;
	struct field_strs must_match, must_not_match, pattern;
	bool should_match;
	bool case_sensitive;
};

static const struct field text_rows[] = {
	GRADER_KEY(text, contains, FIELD_STRS,
	    .help = "texts that the answer contains, case-insensitive"),
	GRADER_KEY(text, not_contains, FIELD_STRS,
	    .help = "texts that the answer does not contain, case-insensitive"),
	GRADER_KEY(text, contains_cs, FIELD_STRS,
	    .help = "texts that the answer contains, case-sensitive"),
	GRADER_KEY(text, not_contains_cs, FIELD_STRS,
	    .help = "texts that the answer does not contain, case-sensitive"),
	GRADER_KEY(text, regex_match, FIELD_STRS,
	    .help = "regular expressions that match"),
	GRADER_KEY(text, regex_not_match, FIELD_STRS,
	    .help = "regular expressions that do not match"),
	FIELD(text, must_contain, FIELD_STRS, .alias = "must_include",
	    .help = "texts that the answer contains"),
	FIELD(text, must_not_contain, FIELD_STRS, .alias = "must_exclude",
	    .help = "texts that the answer does not contain"),
	FIELD(text, keywords, FIELD_STRS, .alias = "must_include_all",
	    .help = "words that the answer contains"),
	GRADER_KEY(text, must_match, FIELD_STRS,
	    .help = "regular expressions that match"),
	GRADER_KEY(text, must_not_match, FIELD_STRS,
	    .help = "regular expressions that do not match"),
	FIELD(text, pattern, FIELD_STRS, .alias = "patterns",
	    .help = "regular expressions; should_match selects the verdict"),
	GRADER_KEY(text, should_match, FIELD_BOOL,
	    .help = "whether pattern must match"),
	GRADER_KEY(text, case_sensitive, FIELD_BOOL,
	    .help = "whether keywords are case-sensitive"),
};

static const struct text text_init = { .should_match = true };
static const struct field_table text_fields = {
	text_rows, COUNTOF(text_rows), sizeof(struct text), &text_init
};

static void
append(struct arena *a, struct field_strs *to, const struct field_strs *from)
{
	struct str *v;

	if (from->n == 0)
		return;
	if (to->n == 0) {
		*to = *from;
		return;
	}
	v = NEW_N(a, struct str, to->n + from->n);
	memcpy(v, to->v, to->n * sizeof(*v));
	memcpy(v + to->n, from->v, from->n * sizeof(*v));
	to->v = v;
	to->n += from->n;
}

/* Collects all spellings in the six lists. */
static void
gather(struct arena *a, const struct text *t, struct field_strs *list)
{
	bool cs = t->case_sensitive;

	list[HAS_CS] = t->contains_cs;
	list[HAS_NOT_CS] = t->not_contains_cs;
	append(a, &list[cs ? HAS_CS : HAS], &t->contains);
	append(a, &list[cs ? HAS_CS : HAS], &t->must_contain);
	append(a, &list[cs ? HAS_CS : HAS], &t->keywords);
	append(a, &list[cs ? HAS_NOT_CS : HAS_NOT], &t->not_contains);
	append(a, &list[cs ? HAS_NOT_CS : HAS_NOT], &t->must_not_contain);
	append(a, &list[MATCH], &t->regex_match);
	append(a, &list[MATCH], &t->must_match);
	append(a, &list[MATCH_NOT], &t->regex_not_match);
	append(a, &list[MATCH_NOT], &t->must_not_match);
	append(a, &list[t->should_match ? MATCH : MATCH_NOT], &t->pattern);
}

static bool
check_item(struct grader_check *c, const struct json *node, struct str item)
{
	if (item.n > 0)
		return true;
	grader_note(c, FIELD_WARNING, node,
	    "every output contains the empty string");
	return false;
}

static void
check(struct grader_check *c, const void *settings)
{
	static const char *const patterns[] = { "regex_match",
		"regex_not_match", "must_match", "must_not_match", "pattern",
		"patterns" };
	struct field_strs list[LIST__MAX] = { { 0 } };
	size_t i, j, n = 0;

	gather(c->tmp, settings, list);
	for (i = 0; i < LIST__MAX; i++)
		for (j = 0; j < list[i].n; j++)
			n += list[i].v[j].n > 0;
	if (n == 0)
		grader_note_empty(c);
	for (i = 0; i < COUNTOF(text_rows); i++)
		grader_check_each(c, c->spec->config, text_rows[i].key,
		    check_item);
	for (i = 0; i < COUNTOF(patterns); i++)
		grader_check_each(c, c->spec->config, patterns[i],
		    grader_check_pattern);
}

static void
look(struct grader_subject *s, enum list kind, struct str item)
{
	bool forbid = kind == HAS_NOT || kind == HAS_NOT_CS ||
	    kind == MATCH_NOT;

	if (kind == MATCH || kind == MATCH_NOT)
		grader_check_match(s, item, forbid);
	else
		grader_check_text(s, item, kind == HAS_CS ||
		    kind == HAS_NOT_CS, forbid);
}

static struct str
details(struct arena *a, const struct field_strs *list,
    const struct grader_tally *t)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i;

	json_open(&o, '{');
	for (i = 0; i < LIST__MAX; i++)
		grader_put_strs(&o, list_keys[i], &list[i]);
	grader_put_failures(&o, t);
	json_close(&o, '}');
	return arena_take(a, &b);
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	struct field_strs list[LIST__MAX] = { { 0 } };
	struct grader_tally t = { .arena = tmp };
	struct grader_subject s = { .tally = &t, .tmp = tmp,
		.budget = g->budget,
		.text = g->in->answer->output, .what = "output" };
	size_t i, j;

	gather(tmp, settings, list);
	for (i = 0; i < LIST__MAX; i++)
		for (j = 0; j < list[i].n; j++)
			look(&s, (enum list)i, list[i].v[j]);
	grader_subject_fini(&s);
	grader_conclude(g->arena, &g->out, &t, "all text checks passed");
	g->out.details = details(g->arena, list, &t);
	return GRADER_DONE;
}

#define TEXT_KIND(word) \
	{ .name = word, .fields = &text_fields, .check = check, .start = start }

const struct grader_kind grader_text = TEXT_KIND("text");
const struct grader_kind grader_regex = TEXT_KIND("regex");
const struct grader_kind grader_keyword = TEXT_KIND("keyword");

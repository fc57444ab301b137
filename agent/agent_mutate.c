/* SPDX-License-Identifier: ISC */
/*
 * Recorded answers, altered: a grader that accepts every alteration does not
 * look at what the agent did.
 *
 * The tasks of such a run are those of the suite, AGENT_MUTATIONS times each:
 * the place of a task in the list decides what is altered in its answer.
 */
#include "agent/agent_internal.h"

#include <string.h>

#include "json.h"
#include "lib/re/re.h"
#include "suite/spec.h"

enum {
	WORD_MIN = 2,		/* bytes of a text that graders look for */
	TEXT_MAX = 1 << 20	/* bytes of an answer that are searched */
};

static const char *const names[AGENT_MUTATIONS] = {
	[AGENT_AS_RECORDED] = "as recorded",
	[AGENT_HALF_OUTPUT] = "second half of the text removed",
	[AGENT_NO_WORDS] = "texts that graders look for removed",
	[AGENT_OTHER_NUMBERS] = "numbers changed",
	[AGENT_NO_OUTPUT] = "text removed",
	[AGENT_NO_CALLS] = "tool calls removed",
	[AGENT_NO_FILES] = "written files removed",
	[AGENT_NOTHING] = "everything removed"
};

const char *
agent_mutation_name(size_t i)
{
	return names[i];
}

static unsigned char
lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Where the word is in the text, apart from case; SIZE_MAX: nowhere. */
static size_t
find(struct str text, size_t from, struct str word)
{
	size_t i, k;

	for (i = from; word.n <= text.n && i <= text.n - word.n; i++) {
		for (k = 0; k < word.n && lower(text.p[i + k]) ==
		    lower(word.p[k]); k++)
			;
		if (k == word.n)
			return i;
	}
	return SIZE_MAX;
}

/* The text without the word. */
static struct str
without_word(struct arena *a, struct str text, struct str word)
{
	struct buf b = { 0 };
	size_t at, from = 0;

	if (word.n < WORD_MIN || find(text, 0, word) == SIZE_MAX)
		return text;
	while ((at = find(text, from, word)) != SIZE_MAX) {
		buf_put(&b, (struct str){ text.p + from, at - from });
		from = at + word.n;
	}
	buf_put(&b, (struct str){ text.p + from, text.n - from });
	return arena_take(a, &b);
}

/* The text without the matches of the pattern, if it is one. */
static struct str
without_matches(struct arena *a, struct str text, struct str pattern)
{
	struct arena tmp = { 0 };
	struct err e = { 0 };
	struct re *re = re_compile(&tmp, pattern, &e);
	struct re_span s;
	struct buf b = { 0 };
	size_t from = 0;

	while (re != NULL && from <= text.n &&
	    re_match(re, text, from, &s, 1) && s.end > s.start) {
		buf_put(&b, (struct str){ text.p + from, s.start - from });
		from = s.end;
	}
	arena_free(&tmp);
	if (from == 0) {
		buf_free(&b);
		return text;
	}
	buf_put(&b, (struct str){ text.p + from, text.n - from });
	return arena_take(a, &b);
}

/* Texts in quotes, as assertions of `code` graders have them. */
static struct str
without_quoted(struct arena *a, struct str text, struct str code)
{
	const char *p, *q, *end = code.p + code.n;

	for (p = code.p; p < end; p++) {
		if (*p != '\'' && *p != '"')
			continue;
		q = memchr(p + 1, *p, (size_t)(end - p - 1));
		if (q == NULL)
			break;
		text = without_word(a, text, (struct str){ p + 1,
		    (size_t)(q - p - 1) });
		p = q;
	}
	return text;
}

/* The text without all that a grader's settings name. */
static struct str
without_named(struct arena *a, struct str text, const struct json *v)
{
	const struct json *c;
	struct str s;

	if (v == NULL)
		return text;
	if (v->type == JSON_STRING && text.n <= TEXT_MAX) {
		s = json_text(v);
		text = without_word(a, text, s);
		text = without_quoted(a, text, s);
		return without_matches(a, text, s);
	}
	if (v->type != JSON_OBJECT && v->type != JSON_ARRAY)
		return text;
	for (c = json_first(v); c != NULL; c = c->next)
		text = without_named(a, text, c);
	return text;
}

static struct str
without_list(struct arena *a, struct str text, const struct field_strs *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		text = without_word(a, text, list->v[i]);
	return text;
}

static struct str
without_wanted(struct arena *a, struct str text, const struct spec_suite *s,
    const struct spec_task *t)
{
	size_t i;

	for (i = 0; i < s->graders.n; i++)
		text = without_named(a, text, s->graders.v[i].config);
	for (i = 0; i < t->def->graders.n; i++)
		text = without_named(a, text, t->def->graders.v[i].config);
	if (t->def->expected != NULL) {
		text = without_list(a, text,
		    &t->def->expected->output_contains);
		text = without_list(a, text,
		    &t->def->expected->output_contains_any);
	}
	return text;
}

/* Each digit becomes another one: 42 becomes 97. */
static struct str
other_numbers(struct arena *a, struct str text)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < text.n; i++)
		buf_putc(&b, text.p[i] >= '0' && text.p[i] <= '9' ?
		    (char)('0' + (text.p[i] - '0' + 5) % 10) : text.p[i]);
	return arena_take(a, &b);
}

static struct str
alter_text(const struct agent *a, const struct agent_job *j, size_t how)
{
	struct str text = j->ans.output;

	if (how == AGENT_HALF_OUTPUT)
		return arena_str(j->arena, utf8_cut(text, text.n / 2));
	if (how == AGENT_NO_WORDS)
		return without_wanted(j->arena, text, a->suite, j->req->task);
	if (how == AGENT_OTHER_NUMBERS)
		return other_numbers(j->arena, text);
	return how == AGENT_NO_OUTPUT || how == AGENT_NOTHING ? STR("") : text;
}

/* Whether the answer had any. */
static bool
drop_calls(struct answer *ans)
{
	bool had = ans->ncalls > 0 || ans->skills.n > 0;

	ans->calls = NULL;
	ans->ncalls = 0;
	ans->skills.n = 0;
	ans->usage.turns = 0;
	return had;
}

static enum agent_status
start(struct agent *a, struct agent_job *j)
{
	struct agent_control *c = a->state;
	size_t i = (size_t)(j->req->task - c->tasks);
	size_t how = i % AGENT_MUTATIONS;
	bool no_files = how == AGENT_NO_FILES || how == AGENT_NOTHING;
	const struct agent_request *req = j->req;
	struct agent_request bare = *req;
	struct str text;
	bool wrote = false, said;

	if (no_files) {
		bare.workspace = NULL;
		j->req = &bare;
	}
	(void)agent_play_recording(j, c->replay, &wrote);
	j->req = req;
	if (j->ans.fault != ANSWER_OK)
		return AGENT_DONE;
	text = alter_text(a, j, how);
	said = !str_eq(text, j->ans.output);
	j->ans.output = text;
	if (how == AGENT_NO_CALLS || how == AGENT_NOTHING)
		said = drop_calls(&j->ans) || said;
	if (said) {
		j->ans.turns = NULL;
		agent_put_transcript(j);
	}
	if (no_files)
		j->ans.patch = STR("");
	c->altered[i] = c->altered[i] || said ||
	    (no_files && wrote && req->workspace != NULL);
	return AGENT_DONE;
}

const struct agent_kind agent_mutate = {
	.name = "mutate", .evaluates = true, .loads_skills = true,
	.all_turns = true, .replays = true, .cannot_judge = true,
	.needs_workspace = agent_no_workspace, .start = start
};

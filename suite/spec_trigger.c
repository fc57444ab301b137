/* SPDX-License-Identifier: ISC */
/*
 * Trigger tests: prompts that should trigger a skill, and prompts that should
 * not, in trigger_tests.yaml or in a list as other tools write it,
 *
 *	[{"query": "", "should_trigger": true, "expected_skill": ""}]
 *
 * They are read together with their suite, so that a run reads no more files.
 */
#include "suite/spec_internal.h"

#include <string.h>

struct prompt_in {
	struct str prompt, reason, expected_skill;
	int confidence;		/* index of the word; -1: not given */
	const struct json *mock;
};

struct triggers_in {
	struct str skill;
	struct field_list should, should_not;	/* of struct prompt_in */
};

static const char *const confidences[] = { "high", "medium", NULL };
static const struct prompt_in no_prompt = { .confidence = -1 };
static const struct field prompt_rows[] = {
	FIELD(prompt_in, prompt, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "prompt for the agent"),
	SPEC_KEY(prompt_in, reason, FIELD_STR,
	    .help = "reason, for people"),
	SPEC_KEY(prompt_in, expected_skill, FIELD_STR,
	    .help = "skill that should be used instead"),
	FIELD(prompt_in, confidence, FIELD_ENUM, .words = confidences,
	    .help = "a prompt of medium confidence counts half"),
	SPEC_KEY(prompt_in, mock, FIELD_TREE,
	    .schema = FIELD_REF("mock"),
	    .help = "answer of the executor mock"),
};
static const struct field_table prompt_table = { prompt_rows,
	COUNTOF(prompt_rows), sizeof(struct prompt_in), &no_prompt };

static const struct field triggers_rows[] = {
	FIELD(triggers_in, skill, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "name of the skill"),
	SPEC_ROW(triggers_in, "should_trigger_prompts", should, FIELD_OBJECTS,
	    .sub = &prompt_table,
	    .help = "prompts for which the skill should be used"),
	SPEC_ROW(triggers_in, "should_not_trigger_prompts", should_not,
	    FIELD_OBJECTS, .sub = &prompt_table,
	    .help = "prompts for which the skill should not be used"),
};
const struct field_table spec_triggers_table =
    FIELD_TABLE(triggers_in, triggers_rows);

struct query_in {
	struct str query, expected_skill, reason;
	bool should_trigger;
	const struct json *mock;
};

static const struct query_in no_query = { .should_trigger = true };
static const struct field query_rows[] = {
	FIELD(query_in, query, FIELD_STR, .alias = "prompt",
	    .flags = FIELD_REQUIRED,
	    .help = "prompt for the agent"),
	FIELD(query_in, should_trigger, FIELD_BOOL, .flags = FIELD_REQUIRED,
	    .help = "whether the skill should be used"),
	SPEC_KEY(query_in, expected_skill, FIELD_STR,
	    .help = "skill that should be used"),
	SPEC_KEY(query_in, reason, FIELD_STR,
	    .help = "reason, for people"),
	SPEC_KEY(query_in, mock, FIELD_TREE,
	    .schema = FIELD_REF("mock"),
	    .help = "answer of the executor mock"),
};
const struct field_table spec_query_table = { query_rows,
	COUNTOF(query_rows), sizeof(struct query_in), &no_query };

/* The names of such lists, beside the suite or in evals/. */
static const char *const lists[] = { "trigger_eval.json", "trigger-eval.json",
	"trigger_evals.json", "trigger-evals.json" };

static void
set_def(struct spec_loader *l, struct spec_trigger *t, const struct json *mock)
{
	struct spec_def *d = NEW(l->arena, struct spec_def);

	d->mock = mock;
	t->task.def = d;
}

static void
check_prompt(struct spec_loader *l, const struct spec_trigger *t)
{
	const struct json *mock = t->task.def->mock;

	if (str_trim(t->task.prompt).n == 0)
		spec_note_key(l->notes, FIELD_ERROR, t->task.at, STR("prompt"),
		    "\"prompt\" is empty");
	if (mock != NULL && mock->type != JSON_OBJECT)
		spec_wrong_type(l, t->task.at.file, mock, "a mapping");
}

/*
 * Makes a task of each prompt, since executors answer tasks.  The place of a
 * prompt is the file as a whole if the list has entries that were refused.
 */
static void
take_prompts(struct spec_loader *l, struct spec_triggers *to,
    const struct field_list *from, const struct json *list, bool should)
{
	const struct prompt_in *p = from->v;
	const struct json *entry = json_first(list);
	struct spec_trigger *t;
	size_t i;

	for (i = 0; i < from->n; i++) {
		t = &to->v[to->n++];
		t->should = should;
		t->expected = str_trim(p[i].expected_skill);
		t->reason = p[i].reason;
		if (p[i].confidence >= 0)
			t->confidence = str_of(confidences[p[i].confidence]);
		t->weight = str_is(t->confidence, "medium") ? 0.5 : 1;
		t->task.id = t->task.name = arena_fmt(l->arena, "%s-%zu",
		    should ? "should-trigger" : "should-not-trigger", i + 1);
		t->task.prompt = p[i].prompt;
		set_def(l, t, p[i].mock);
		t->task.at = spec_at(to->file, json_count(list) == from->n ?
		    entry : NULL);
		check_prompt(l, t);
		entry = entry != NULL ? entry->next : NULL;
	}
}

static struct spec_triggers *
new_triggers(struct spec_loader *l, const char *path, struct str skill,
    size_t n)
{
	struct spec_triggers *t = NEW(l->arena, struct spec_triggers);

	t->file = path;
	t->skill = skill;
	if (n > SPEC_TRIGGERS_MAX)
		spec_note(l->notes, FIELD_ERROR, (struct spec_where){ path, 0,
		    0 }, "more than %d prompts", SPEC_TRIGGERS_MAX);
	else
		t->v = NEW_N(l->arena, struct spec_trigger, n);
	l->suite->triggers = t;
	return t;
}

static void
read_tests(struct spec_loader *l, const char *path)
{
	struct triggers_in in = { .skill = { NULL, 0 } };
	struct spec_triggers *t;
	struct spec_file f;
	size_t errors, n;

	if (spec_read_yaml(l, path, &f) == -1)
		return;
	errors = spec_decode(l, path, &spec_triggers_table, f.root, &in);
	n = in.should.n + in.should_not.n;
	t = new_triggers(l, path, str_trim(in.skill), n);
	if (in.skill.p != NULL && t->skill.n == 0)
		spec_error(l, path, json_getc(f.root, "skill"), NULL,
		    "\"skill\" is empty");
	if (errors == 0 && n == 0)
		spec_note(l->notes, FIELD_ERROR, (struct spec_where){ path, 0,
		    0 }, "no prompts: \"should_trigger_prompts\" and "
		    "\"should_not_trigger_prompts\" are both empty");
	if (t->v == NULL)
		return;
	take_prompts(l, t, &in.should,
	    json_getc(f.root, "should_trigger_prompts"), true);
	take_prompts(l, t, &in.should_not,
	    json_getc(f.root, "should_not_trigger_prompts"), false);
}

static void
take_query(struct spec_loader *l, struct spec_triggers *to,
    const struct json *entry)
{
	struct spec_trigger *t = &to->v[to->n];
	struct query_in in = no_query;

	if (entry->type != JSON_OBJECT) {
		spec_error(l, to->file, entry, NULL, "expected a mapping");
		return;
	}
	if (spec_decode(l, to->file, &spec_query_table, entry, &in) > 0)
		return;
	to->n++;
	t->should = in.should_trigger;
	t->expected = str_trim(in.expected_skill);
	t->reason = in.reason;
	t->weight = 1;
	t->task.id = t->task.name = arena_fmt(l->arena, "%s-%zu", t->should ?
	    "should-trigger" : "should-not-trigger", to->n);
	t->task.prompt = in.query;
	set_def(l, t, in.mock);
	t->task.at = spec_at(to->file, entry);
	check_prompt(l, t);
	if (t->should && t->expected.n == 0 && to->skill.n == 0)
		spec_error(l, to->file, entry, NULL, "\"expected_skill\" is "
		    "missing: the suite does not name a skill");
}

static void
read_list(struct spec_loader *l, const char *path)
{
	const struct json *v;
	struct spec_triggers *t;
	struct spec_file f;

	if (spec_read_yaml(l, path, &f) == -1)
		return;
	if (f.root->type != JSON_ARRAY || json_count(f.root) == 0) {
		spec_error(l, path, f.root, NULL, "expected a list of "
		    "{\"query\", \"should_trigger\"}");
		return;
	}
	t = new_triggers(l, path, l->suite->skill, json_count(f.root));
	for (v = json_first(f.root); v != NULL && t->v != NULL; v = v->next)
		take_query(l, t, v);
}

/* Reads a file, or warns that it is ignored because there is another. */
static void
try_file(struct spec_loader *l, const char *path,
    void (*read)(struct spec_loader *, const char *), const char **taken)
{
	struct spec_where whole = { path, 0, 0 };

	if (!spec_exists(path))
		return;
	/* a list that is run as a suite is not also its trigger tests */
	if (strcmp(path, l->suite->path) == 0) {
		*taken = path;
		return;
	}
	if (*taken != NULL) {
		spec_note(l->notes, FIELD_WARNING, whole, "ignored: the "
		    "trigger tests are taken from %s", *taken);
		return;
	}
	*taken = path;
	if (spec_allowed(l->notes, whole, path))
		read(l, path);
}

void
spec_read_triggers(struct spec_loader *l)
{
	const char *dir = l->suite->dir, *taken = NULL;
	size_t i;

	try_file(l, spec_join(l->arena, dir, STR("trigger_tests.yaml")),
	    read_tests, &taken);
	for (i = 0; i < COUNTOF(lists); i++)
		try_file(l, spec_join(l->arena, dir, str_of(lists[i])),
		    read_list, &taken);
	dir = spec_join(l->arena, dir, STR("evals"));
	for (i = 0; i < COUNTOF(lists); i++)
		try_file(l, spec_join(l->arena, dir, str_of(lists[i])),
		    read_list, &taken);
}

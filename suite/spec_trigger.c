/* SPDX-License-Identifier: ISC */
/*
 * trigger_tests.yaml: prompts that should trigger a skill, and prompts that
 * should not.  It is read together with its suite, so that a run reads no
 * more files.
 */
#include "suite/spec_internal.h"

struct prompt_in {
	struct str prompt, reason;
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
	FIELD(prompt_in, prompt, FIELD_STR, .flags = FIELD_REQUIRED),
	SPEC_KEY(prompt_in, reason, FIELD_STR),
	FIELD(prompt_in, confidence, FIELD_ENUM, .words = confidences),
	SPEC_KEY(prompt_in, mock, FIELD_TREE),
};
static const struct field_table prompt_table = { prompt_rows,
	COUNTOF(prompt_rows), sizeof(struct prompt_in), &no_prompt };

static const struct field triggers_rows[] = {
	FIELD(triggers_in, skill, FIELD_STR, .flags = FIELD_REQUIRED),
	SPEC_ROW(triggers_in, "should_trigger_prompts", should, FIELD_OBJECTS,
	    .sub = &prompt_table),
	SPEC_ROW(triggers_in, "should_not_trigger_prompts", should_not,
	    FIELD_OBJECTS, .sub = &prompt_table),
};
static const struct field_table triggers_table =
    FIELD_TABLE(triggers_in, triggers_rows);

static void
check_prompt(struct spec_loader *l, const struct spec_trigger *t)
{
	if (str_trim(t->task.inputs.prompt).n == 0)
		spec_note_key(l->notes, FIELD_ERROR, t->task.at, STR("prompt"),
		    "\"prompt\" is empty");
	if (t->task.mock != NULL && t->task.mock->type != JSON_OBJECT)
		spec_wrong_type(l, t->task.at.file, t->task.mock, "a mapping");
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
		t->reason = p[i].reason;
		if (p[i].confidence >= 0)
			t->confidence = str_of(confidences[p[i].confidence]);
		t->weight = str_is(t->confidence, "medium") ? 0.5 : 1;
		t->task.id = t->task.name = arena_fmt(l->arena, "%s-%zu",
		    should ? "should-trigger" : "should-not-trigger", i + 1);
		t->task.inputs.prompt = p[i].prompt;
		t->task.mock = p[i].mock;
		t->task.at = spec_at(to->file, json_count(list) == from->n ?
		    entry : NULL);
		check_prompt(l, t);
		entry = entry != NULL ? entry->next : NULL;
	}
}

void
spec_read_triggers(struct spec_loader *l)
{
	const char *path = spec_join(l->arena, l->suite->dir,
	    STR("trigger_tests.yaml"));
	struct spec_where whole = { path, 0, 0 };
	struct triggers_in in = { .skill = { NULL, 0 } };
	struct spec_triggers *t;
	struct spec_file f;
	size_t errors, n;

	if (!spec_exists(path) || spec_read_yaml(l, path, &f) == -1)
		return;
	errors = spec_decode(l, path, &triggers_table, f.root, &in);
	t = NEW(l->arena, struct spec_triggers);
	t->file = path;
	t->skill = str_trim(in.skill);
	l->suite->triggers = t;
	if (in.skill.p != NULL && t->skill.n == 0)
		spec_error(l, path, json_getc(f.root, "skill"), NULL,
		    "\"skill\" is empty");
	n = in.should.n + in.should_not.n;
	if (errors == 0 && n == 0)
		spec_note(l->notes, FIELD_ERROR, whole, "no prompts: "
		    "\"should_trigger_prompts\" and "
		    "\"should_not_trigger_prompts\" are both empty");
	if (n > SPEC_TRIGGERS_MAX) {
		spec_note(l->notes, FIELD_ERROR, whole,
		    "more than %d prompts", SPEC_TRIGGERS_MAX);
		return;
	}
	t->v = NEW_N(l->arena, struct spec_trigger, n);
	take_prompts(l, t, &in.should,
	    json_getc(f.root, "should_trigger_prompts"), true);
	take_prompts(l, t, &in.should_not,
	    json_getc(f.root, "should_not_trigger_prompts"), false);
}

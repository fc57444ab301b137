/* SPDX-License-Identifier: ISC */
/*
 * The rules that find suspects.  The order of the table is that of precedence:
 * a trial that could not be graded tells nothing about tools, and an agent that
 * was denied a tool may not have needed the skill.
 *
 * Each rule needs positive evidence.  "The agent used no skill" counts only for
 * agents whose use of skills is visible, and not for the mock, which is not an
 * agent.
 */
#include "results/suspect/suspect.h"

#include <string.h>

#include "json.h"
#include "results/answer.h"
#include "results/result.h"
#include "results/verdict.h"
#include "suite/spec.h"

struct look {
	struct arena *arena;
	const struct result_record *r;
	const struct suspect_about *about;
	struct suspect *out;
};

/* The first line of a text, shortened. */
static struct str
line(struct str s)
{
	const char *nl = s.n > 0 ? memchr(s.p, '\n', s.n) : NULL;

	if (nl != NULL)
		s.n = (size_t)(nl - s.p);
	return utf8_cut(s, SUSPECT_TEXT);
}

static struct str
place(struct look *l, struct spec_where at)
{
	if (at.file == NULL)
		return STR("");
	return at.line == 0 ? arena_fmt(l->arena, "%s", at.file) :
	    arena_fmt(l->arena, "%s:%u", at.file, at.line);
}

static struct str
task_place(struct look *l)
{
	return l->about->task != NULL ? place(l, l->about->task->at) : STR("");
}

/*
 * Rules.
 */
static bool
infrastructure(struct look *l)
{
	enum result_status s = l->r->status;
	struct str why = l->r->error;

	if (s != RESULT_INFRA && s != RESULT_JUDGE_ERROR &&
	    s != RESULT_GRADER_ERROR)
		return false;
	if (why.n == 0 && l->r->answer != NULL)
		why = l->r->answer->error;
	l->out->evidence = line(why);
	l->out->at = task_place(l);
	return why.n > 0;
}

static bool
tests(struct look *l)
{
	if (l->r->status != RESULT_FAILED || l->about->wrong_test.n == 0)
		return false;
	l->out->evidence = line(l->about->wrong_test);
	l->out->at = place(l, *l->about->wrong_at);
	return true;
}

/* Counts the samples of a judge that passed and that failed. */
static void
count_samples(struct look *l, const struct verdict *v, size_t n[2])
{
	const struct json *s = json_first(json_getc(arena_json(l->arena,
	    v->details, NULL), "samples")), *passed;

	for (; s != NULL; s = s->next) {
		passed = json_getc(s, "passed");
		if (passed != NULL && passed->type == JSON_BOOL)
			n[json_bool(passed)]++;
	}
}

static bool
judge(struct look *l)
{
	const struct verdict *v;
	size_t i;

	for (i = 0; i < l->r->nverdicts; i++) {
		size_t n[2] = { 0, 0 };

		v = &l->r->verdicts[i];
		if (v->passed || v->advisory || v->skipped ||
		    v->details.n == 0 || !str_is(v->type, "prompt"))
			continue;
		count_samples(l, v, n);
		if (n[0] == 0 || n[1] == 0)
			continue;
		l->out->evidence = arena_fmt(l->arena, "%zu of %zu samples of "
		    "the judge passed the same answer", n[1], n[0] + n[1]);
		l->out->grader = v->name;
		if (v->spec != NULL)
			l->out->at = place(l, v->spec->at);
		return true;
	}
	return false;
}

static bool
denied(struct look *l)
{
	const struct answer *a = l->r->answer;
	const struct answer_call *c = a != NULL ? a->calls : NULL;
	int64_t n = 1;

	for (; c != NULL && !c->denied; c = c->next)
		n++;
	if (c == NULL && (a == NULL || a->denied.n == 0))
		return false;
	if (c == NULL)
		l->out->evidence = arena_fmt(l->arena, "the tool %.*s is not "
		    "one of the agent's tools",
		    STRF(utf8_cut(a->denied.v[0], 100)));
	else {
		l->out->call = n;
		l->out->evidence = line(arena_fmt(l->arena, "tool call "
		    "%lld, %.*s%s%.*s, was denied", (long long)n,
		    STRF(utf8_cut(c->name, 100)), c->command.n > 0 ? ": " : "",
		    STRF(utf8_cut(line(c->command), 100))));
	}
	l->out->at = task_place(l);
	return true;
}

/*
 * Skills.
 */
static struct str
skills_way(const struct look *l)
{
	return l->r->skills_way.n > 0 ? l->r->skills_way :
	    json_str(l->r->previous, "skills_way");
}

/* Whether the trial was to use a skill. */
static bool
wants_skill(const struct look *l)
{
	return l->about->suite != NULL && l->about->suite->skill.n > 0 &&
	    !l->about->no_skills && !str_is(l->about->executor, "mock") &&
	    l->r->status == RESULT_FAILED && l->r->answer != NULL;
}

static bool
no_skill(struct look *l)
{
	const struct answer_call *c;
	int64_t n = 0;

	if (!wants_skill(l))
		return false;
	for (c = l->r->answer->calls; c != NULL; c = c->next) {
		n++;
		if (c->tool != ANSWER_SKILL || c->success || c->denied ||
		    field_has(&l->r->answer->skills, c->skill))
			continue;
		l->out->evidence = arena_fmt(l->arena, "tool call %lld could "
		    "not load the skill \"%.*s\"", (long long)n,
		    STRF(utf8_cut(c->skill, 100)));
		l->out->call = n;
		l->out->at = l->r->skill_at;
		return true;
	}
	if (!str_is(skills_way(l), "none"))
		return false;
	l->out->evidence = arena_fmt(l->arena, "the agent had no skills: no "
	    "directory of skill_directories has the skill \"%.*s\"",
	    STRF(utf8_cut(l->about->suite->skill, 100)));
	l->out->at = place(l, (struct spec_where){
		.file = l->about->suite->path });
	return true;
}

static bool
unused(struct look *l)
{
	const struct answer *a = l->r->answer;
	struct str skill;

	if (!wants_skill(l) || !a->skills_known ||
	    !str_is(skills_way(l), "native"))
		return false;
	skill = l->about->suite->skill;
	if (field_has(&a->skills, skill) || (a->skills.n > 0 &&
	    l->r->skill_at.n == 0))
		return false;	/* the suite may name a group of skills */
	l->out->evidence = a->skills.n > 0 ? arena_fmt(l->arena, "the agent "
	    "used the skill \"%.*s\" and not \"%.*s\"",
	    STRF(utf8_cut(a->skills.v[0], 100)), STRF(utf8_cut(skill, 100))) :
	    arena_fmt(l->arena, "the agent had the skill \"%.*s\" and did not "
	    "use it (%zu tool call%s); its description decides that",
	    STRF(utf8_cut(skill, 100)), a->ncalls, a->ncalls == 1 ? "" : "s");
	l->out->at = l->r->skill_at;
	return true;
}

static const struct rule {
	const char *name, *words;
	bool (*fits)(struct look *);
} rules[] = {
	[SUSPECT_NONE] = { "", "", NULL },
	[SUSPECT_INFRASTRUCTURE] = { "infrastructure",
	    "not the agent: it could not be run or graded", infrastructure },
	[SUSPECT_TESTS] = { "grader_contradicts_tests",
	    "the graders contradict the task's own tests", tests },
	[SUSPECT_JUDGE] = { "judge_disagrees", "the judge disagrees with itself", judge },
	[SUSPECT_DENIED] = { "tool_denied", "a tool was denied", denied },
	[SUSPECT_NO_SKILL] = { "skill_not_found", "the skill was not found", no_skill },
	[SUSPECT_UNUSED] = { "skill_not_used", "the skill was not used", unused },
};
typedef char rules_are_complete[COUNTOF(rules) == SUSPECT__MAX ? 1 : -1];

const char *
suspect_name(enum suspect_kind kind)
{
	return rules[kind].name;
}

const char *
suspect_words(enum suspect_kind kind)
{
	return rules[kind].words;
}

bool
suspect_find(struct arena *a, const struct result_record *r,
    const struct suspect_about *about, struct suspect *out)
{
	struct look l = { .arena = a, .r = r, .about = about, .out = out };
	int i;

	if (r->status <= RESULT_PASSED || r->status == RESULT_CANCELLED)
		return false;
	for (i = SUSPECT_NONE + 1; i < SUSPECT__MAX; i++) {
		*out = (struct suspect){ .kind = (enum suspect_kind)i,
			.evidence = STR(""), .at = STR(""),
			.grader = STR("") };
		if (rules[i].fits(&l))
			return true;
	}
	return false;
}

void
suspect_put(struct buf *b, const struct suspect *s)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	json_open(&o, '{');
	json_put_member_cstr(&o, "kind", suspect_name(s->kind));
	json_put_member_str(&o, "evidence", s->evidence);
	json_put_member_nonempty(&o, "look_at", s->at);
	json_put_member_nonempty(&o, "grader", s->grader);
	if (s->call > 0)
		json_put_member_int(&o, "tool_call", s->call);
	json_close(&o, '}');
}

bool
suspect_read(const struct json *trial, struct suspect *s)
{
	const struct json *v = json_getc(trial, "suspect");
	struct str kind = json_str(v, "kind");
	int i;

	*s = (struct suspect){ .evidence = json_str(v, "evidence"),
		.at = json_str(v, "look_at"),
		.grader = json_str(v, "grader") };
	(void)json_int(json_getc(v, "tool_call"), &s->call);
	for (i = SUSPECT_NONE + 1; i < SUSPECT__MAX; i++)
		if (str_is(kind, rules[i].name))
			s->kind = (enum suspect_kind)i;
	return s->kind != SUSPECT_NONE;
}

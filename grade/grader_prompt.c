/* SPDX-License-Identifier: ISC */
/*
 * The kind prompt: a model judges the answer.
 *
 * Samples are taken one after the other, so a trial never asks more than one
 * question at a time and does not exceed `workers`.  A comparison is two
 * questions, with the answers in both orders.  A judge that gives no verdict
 * is asked once more; if it fails again, the sample is invalid.
 *
 *	start -> prepare -> judge_ask -> [waits] -> take_answer
 *	           ^                                   |
 *	           +-- again, other order, next sample +-> conclude
 */
#include "grade/grader_prompt.h"

#include "base/os.h"
#include "json.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

enum { SAMPLES_MAX = 25 };

static const char *const modes[] = {
	[GRADER_ALONE] = "independent", [GRADER_PAIRWISE] = "pairwise", NULL
};

static const struct field prompt_rows[] = {
	GRADER_KEY(grader_prompt, prompt, FIELD_STR,
	    .help = "criteria for the judge"),
	GRADER_KEY(grader_prompt, rubric, FIELD_TREE,
	    .sub = &grader_rubric_table, .shape = FIELD_OR_SCALAR,
	    .values = FIELD_FILES,
	    .help = "predefined criteria: a built-in name, a file or a mapping"),
	GRADER_KEY(grader_prompt, model, FIELD_STR,
	    .help = "model of the judge"),
	GRADER_KEY(grader_prompt, judge, FIELD_TREE,
	    .schema = FIELD_REF("judge"),
	    .help = "judge; takes precedence over the suite's"),
	FIELD(grader_prompt, mode, FIELD_ENUM, .words = modes,
	    .help = "judge the answer alone, or compare it with the baseline's"),
	FIELD(grader_prompt, samples, FIELD_INT, .min = 1, .max = SAMPLES_MAX,
	    .help = "times that the judge is asked; the majority decides"),
	FIELD(grader_prompt, threshold, FIELD_NUM, .min = 0, .max = 1,
	    .help = "smallest score that passes"),
	GRADER_KEY(grader_prompt, continue_session, FIELD_BOOL,
	    .help = "give the judge the whole session of the agent"),
	GRADER_KEY(grader_prompt, reasoning_effort, FIELD_STR,
	    .help = "reasoning effort of the judge"),
	{ .key = "response_format", .type = FIELD_TREE, .flags = FIELD_IGNORED,
	    .off = offsetof(struct grader_prompt, unused),
	    .help = "known, without effect" },
};
static const struct grader_prompt prompt_init = {
	.threshold = -1, .samples = 1
};
static const struct field_table prompt_fields = {
	prompt_rows, COUNTOF(prompt_rows), sizeof(struct grader_prompt),
	&prompt_init
};

/* Checks the templates of a rubric, whose text may be from a file. */
static bool
check_text(struct grader_check *c, const struct json *at, struct str text)
{
	struct json node = { .type = JSON_STRING };

	node.line = at->line;
	node.col = at->col;
	node.u.text = text.p;
	node.n = (uint32_t)text.n;
	return grader_check_templates(c, &node);
}

static void
check_criteria(struct grader_check *c, const struct grader_prompt *p)
{
	const struct json *prompt = json_getc(c->spec->config, "prompt");
	struct grader_rubric_source from = { c->suite, c->file, c->notes };
	struct grader_criteria m;
	struct err e = { 0 };

	if (json_is_set(p->rubric) && json_is_set(prompt))
		grader_note(c, FIELD_ERROR, p->rubric, "set either \"prompt\" "
		    "or \"rubric\"");
	else if (json_is_set(p->rubric)) {
		if (grader_read_rubric(c->tmp, &from, p->rubric, &m, &e) == -1)
			grader_note(c, FIELD_ERROR, p->rubric, "%s", e.msg);
		else
			check_text(c, p->rubric, m.text);
	} else if (!json_is_set(prompt))
		grader_note(c, FIELD_ERROR, NULL,
		    "\"prompt\" or \"rubric\" is required");
	else if (str_trim(p->prompt).n == 0)
		grader_note_empty(c);
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct grader_prompt *p = settings;

	check_criteria(c, p);
	judge_check(c->suite, p->judge, c->spec->at, c->notes);
	if (p->mode == GRADER_PAIRWISE && p->threshold >= 0)
		grader_note(c, FIELD_WARNING, json_getc(c->spec->config,
		    "threshold"), "\"threshold\" has no effect with "
		    "\"mode: pairwise\"");
}

static const struct spec_grader *
comparing(const struct spec_graders *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (spec_grader_compares(&list->v[i]))
			return &list->v[i];
	return NULL;
}

const struct spec_grader *
grader_comparing(const struct spec_suite *s)
{
	const struct spec_grader *g = comparing(&s->graders);
	size_t i;

	for (i = 0; g == NULL && i < s->ntasks; i++)
		g = comparing(&s->tasks[i].def->graders);
	return g;
}

static void
expect_judges(struct judges *set, const struct spec_graders *list)
{
	struct field_ctx ctx = { .arena = set->arena, .flags = FIELD_LAX };
	struct grader_prompt p;
	struct judging q;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (grader_find(list->v[i].type) != &grader_prompt)
			continue;
		p = prompt_init;
		field_decode(&ctx, &prompt_fields, list->v[i].config, &p);
		q = (struct judging){
			.own = json_is_set(p.judge) ? p.judge : NULL,
			.file = list->v[i].at.file, .model = p.model,
			.effort = p.reasoning_effort };
		judges_expect(set, &q);
	}
}

void
grader_expect_judges(struct judges *set, const struct spec_suite *s,
    const struct spec_task *t)
{
	static const struct judging responder;
	size_t i;

	expect_judges(set, &s->graders);
	expect_judges(set, &t->def->graders);
	for (i = 0; i < t->def->checkpoints.n; i++)
		expect_judges(set, &t->def->checkpoints.v[i].graders);
	if (t->def->inputs.responder != NULL)
		judges_expect(set, &responder);
}

/* Prepares the next question. */
static int
prepare(struct prompt_grading *s, struct err *e)
{
	struct grading *g = s->g;
	struct grader_question q = { .in = g->in, .criteria = &s->criteria,
		.compares = s->set.mode == GRADER_PAIRWISE,
		.session = s->set.continue_session, .again = s->again };
	struct str *asked = &s->asked[s->turn][s->again];

	if (q.compares) {
		q.a = s->turn == 0 ? g->in->answer->output : g->in->baseline;
		q.b = s->turn == 0 ? g->in->baseline : g->in->answer->output;
		s->q.tools = judge_choice_tools;
		s->q.ntools = COUNTOF(judge_choice_tools);
	} else if (s->criteria.scale.key.n == 0) {
		s->q.tools = judge_grade_tools;
		s->q.ntools = COUNTOF(judge_grade_tools);
	}
	s->q.sample = (unsigned)s->n + 1;
	if (asked->p == NULL &&
	    grader_prompt_question(g->arena, &q, asked, e) == -1)
		return -1;
	s->q.prompt = *asked;
	return 0;
}

/* Ends a sample.  A tie scores 0.5. */
static void
end_sample(struct prompt_grading *s, bool valid)
{
	static const double points[] = {
		[JUDGE_A] = 1, [JUDGE_B] = 0, [JUDGE_TIE] = 0.5
	};
	struct grader_sample *sample = &s->samples[s->n];

	sample->valid = valid;
	if (valid && s->set.mode == GRADER_PAIRWISE) {
		sample->score = points[grader_prompt_winner(sample)];
		sample->passed = sample->score > 0;
	} else if (valid) {
		sample->score = sample->verdict.score;
		sample->passed = sample->verdict.passed;
	} else
		s->invalid++;
	s->n++;
	s->turn = 0;
	s->again = false;
}

static void
take_answer(struct prompt_grading *s)
{
	struct grader_sample *sample = &s->samples[s->n];
	const struct answer *ans = &s->q.ans;
	struct arena *a = s->g->arena;
	struct err e = { 0 };
	struct str said;
	int r;

	answer_add_usage(&s->usage, &ans->usage);
	sample->response = ans->output;
	if (ans->fault != ANSWER_OK) {
		s->cancelled |= ans->fault == ANSWER_CANCELLED;
		sample->error = arena_fmt(a, "the judge failed: %.*s",
		    STRF(ans->error));
		end_sample(s, false);
		return;
	}
	r = s->set.mode == GRADER_PAIRWISE ?
	    judge_read_choice(a, ans, &sample->choice[s->turn], &e) :
	    judge_read(a, ans, &s->criteria.scale, s->set.threshold,
	    &sample->verdict, &e);
	if (r == -1 && !s->again) {
		s->again = sample->again = true;
	} else if (r == -1) {
		said = grader_quote(a, ans->output);
		sample->error = arena_fmt(a, "the judge gave no verdict: %s; "
		    "its answer: %.*s", e.msg, STRF(said));
		end_sample(s, false);
	} else if (s->set.mode == GRADER_PAIRWISE && s->turn == 0) {
		s->turn = 1;
		s->again = false;
	} else
		end_sample(s, true);
}

/* True when the grading has ended; false: on_answer() continues it. */
static bool
advance(struct prompt_grading *s)
{
	size_t samples = (size_t)s->set.samples;
	struct err e = { 0 };

	/* until a majority of valid samples has become impossible */
	while (s->n < samples && !s->cancelled && 2 * s->invalid < samples) {
		if (prepare(s, &e) == -1) {
			grader_error(s->g, "%s", e.msg);
			return true;
		}
		if (judge_ask(&s->q) == JUDGE_LATER)
			return false;
		take_answer(s);
	}
	s->g->out.duration_ms = os_now_ms() - s->began;
	if (s->cancelled)
		grader_error(s->g, "cancelled");
	else
		grader_prompt_conclude(s);
	return true;
}

static void
on_answer(void *arg)
{
	struct prompt_grading *s = arg;
	struct grading *g = s->g;

	take_answer(s);
	if (advance(s))
		g->done(g->arg);
}

/* The baseline is not compared with itself. */
static enum grader_status
skip_baseline(struct grading *g)
{
	g->out.passed = true;
	g->out.score = 0.5;
	g->out.feedback = STR("not compared: this is the baseline");
	g->out.details = STR("{\"mode\":\"pairwise\",\"skipped\":true}");
	return GRADER_DONE;
}

static int
read_criteria(struct prompt_grading *s, struct err *e)
{
	struct grading *g = s->g;
	struct grader_rubric_source from = { .suite = g->in->suite,
		.file = g->spec->at.file };

	if (!json_is_set(s->set.rubric)) {
		s->criteria.text = s->set.prompt;
		return 0;
	}
	if (grader_read_rubric(g->arena, &from, s->set.rubric, &s->criteria,
	    e) == -1)
		return -1;
	s->criteria.text = tmpl_render(g->arena, s->criteria.text, g->in->vars,
	    e);
	return s->criteria.text.p == NULL ? -1 : 0;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	struct prompt_grading *s = NEW(g->arena, struct prompt_grading);
	struct err e = { 0 };

	(void)tmp;			/* is g->arena */
	s->g = g;
	s->set = *(const struct grader_prompt *)settings;
	s->began = os_now_ms();
	if (g->in->no_judges)
		return grader_skip(g, "not run: controls ask no judge");
	if (s->set.mode == GRADER_PAIRWISE && g->in->no_skills)
		return skip_baseline(g);
	if (s->set.mode == GRADER_PAIRWISE && !g->in->has_baseline)
		return grader_error(g, "the baseline has no answer to compare "
		    "with");
	if (g->in->judges == NULL)
		return grader_error(g, "no judge is available");
	if (read_criteria(s, &e) == -1)
		return grader_error(g, "%s", e.msg);
	s->samples = NEW_N(g->arena, struct grader_sample,
	    (size_t)s->set.samples);
	s->q = (struct judging){ .judges = g->in->judges,
		.own = json_is_set(s->set.judge) ? s->set.judge : NULL,
		.file = g->spec->at.file, .model = s->set.model,
		.effort = s->set.reasoning_effort, .in = g->in,
		.arena = g->arena, .done = on_answer, .arg = s };
	g->state = s;
	return advance(s) ? GRADER_DONE : GRADER_LATER;
}

static void
cancel(struct grading *g)
{
	struct prompt_grading *s = g->state;

	s->cancelled = true;
	judge_cancel(&s->q);
}

static void
drop(struct grading *g)
{
	struct prompt_grading *s = g->state;

	judge_drop(&s->q);
}

const struct grader_kind grader_prompt = {
	.name = "prompt", .fields = &prompt_fields,
	.flags = GRADER_NEEDS_DIR | GRADER_VARIES, .check = check,
	.start = start, .cancel = cancel, .drop = drop,
};

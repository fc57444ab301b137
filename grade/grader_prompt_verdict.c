/* SPDX-License-Identifier: ISC */
/*
 * The verdict of a `prompt` grader: the majority of its valid samples, the mean
 * of their scores, and details of each sample.
 */
#include "grade/grader_prompt.h"

#include "json.h"
#include "results/result.h"

enum {
	RESPONSE_MAX = 32 << 10		/* bytes kept of a response */
};

static const char *const winners[] = {
	[JUDGE_A] = "skill", [JUDGE_B] = "baseline", [JUDGE_TIE] = "tie"
};

/* The winner of the second question, where the answer is B. */
static enum judge_side
second_winner(const struct grader_sample *s)
{
	static const enum judge_side swapped[] = {
		[JUDGE_A] = JUDGE_B, [JUDGE_B] = JUDGE_A,
		[JUDGE_TIE] = JUDGE_TIE
	};

	return swapped[s->choice[1].winner];
}

static bool
is_consistent(const struct grader_sample *s)
{
	return s->choice[0].winner == second_winner(s);
}

enum judge_side
grader_prompt_winner(const struct grader_sample *s)
{
	return is_consistent(s) ? s->choice[0].winner : JUDGE_TIE;
}

/* The weaker of the two magnitudes; "equal" for a tie. */
static struct str
magnitude(const struct grader_sample *s)
{
	struct str a = s->choice[0].magnitude, b = s->choice[1].magnitude;
	size_t i;

	if (grader_prompt_winner(s) == JUDGE_TIE)
		return STR("equal");
	if (a.n == 0 || b.n == 0)
		return a.n > 0 ? a : b;
	for (i = 0; judge_magnitudes[i] != NULL; i++)
		if (str_is(a, judge_magnitudes[i]))
			return b;	/* a is not weaker than b */
		else if (str_is(b, judge_magnitudes[i]))
			return a;
	return a;
}

static struct str
reasoning(struct arena *a, const struct grader_sample *s)
{
	struct str first = s->choice[0].reasoning, other;

	if (is_consistent(s))
		return first.n > 0 ? first : s->choice[1].reasoning;
	other = s->choice[1].reasoning;
	return arena_fmt(a, "the judge chose %s first and %s after the order "
	    "was swapped: %.*s / %.*s", winners[s->choice[0].winner],
	    winners[second_winner(s)], STRF(first), STRF(other));
}

/* The reason of a sample, or its error. */
static struct str
reason(const struct prompt_grading *j, const struct grader_sample *s)
{
	if (!s->valid)
		return s->error;
	if (j->set.mode == GRADER_PAIRWISE)
		return reasoning(j->g->arena, s);
	return s->passed ? s->verdict.passes : s->verdict.failures;
}

/* On one line, without control characters. */
static void
put_line(struct buf *b, struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		buf_putc(b, (unsigned char)s.p[i] < ' ' || s.p[i] == 0x7F ?
		    ' ' : s.p[i]);
}

struct sum {
	size_t valid, passed;
	size_t sides[JUDGE_TIE + 1];
	double score;
};

static struct sum
count(const struct prompt_grading *j)
{
	struct sum sum = { 0 };
	size_t i;

	for (i = 0; i < j->n; i++) {
		if (!j->samples[i].valid)
			continue;
		sum.valid++;
		sum.passed += j->samples[i].passed;
		sum.score += j->samples[i].score;
		sum.sides[grader_prompt_winner(&j->samples[i])]++;
	}
	if (sum.valid > 0)
		sum.score /= (double)sum.valid;
	return sum;
}

/* The side that more samples prefer; a tie if most of them are ties. */
static enum judge_side
winner(const struct sum *sum)
{
	size_t a = sum->sides[JUDGE_A], b = sum->sides[JUDGE_B];

	if (2 * sum->sides[JUDGE_TIE] > sum->valid || a == b)
		return JUDGE_TIE;
	return a > b ? JUDGE_A : JUDGE_B;
}

/* The reasons of the samples that agree with the verdict. */
static struct str
feedback(struct prompt_grading *j, const struct sum *sum)
{
	struct buf b = { 0 };
	const struct grader_sample *s;
	struct str w;
	bool any = false;

	if (j->set.samples > 1)
		buf_fmt(&b, "%zu of %zu passed", sum->passed, sum->valid);
	else if (j->set.mode == GRADER_PAIRWISE)
		buf_fmt(&b, "%s", winners[winner(sum)]);
	for (s = j->samples; s < j->samples + j->n; s++) {
		w = reason(j, s);
		if (!s->valid || s->passed != j->g->out.passed || w.n == 0)
			continue;
		buf_puts(&b, any ? "; " : b.n > 0 ? ": " : "");
		put_line(&b, w);
		any = true;
	}
	if (b.n == 0)
		buf_puts(&b, j->g->out.passed ? "passed, without a reason" :
		    "failed, without a reason");
	return arena_take(j->g->arena, &b);
}

static void
put_choice(struct json_out *o, const char *key, const struct judge_choice *c)
{
	json_open_member(o, key, '{');
	json_put_member_str(o, "winner", str_of(judge_sides[c->winner]));
	json_put_member_nonempty(o, "magnitude", c->magnitude);
	json_put_member_str(o, "reasoning", c->reasoning);
	json_close(o, '}');
}

static void
put_pairwise(struct json_out *o, struct prompt_grading *j,
    const struct sum *sum)
{
	const struct grader_sample *s, *shown = NULL;

	for (s = j->samples; s < j->samples + j->n; s++)
		if (s->valid && (shown == NULL ||
		    (grader_prompt_winner(shown) != winner(sum) &&
		    grader_prompt_winner(s) == winner(sum))))
			shown = s;
	if (shown == NULL)
		return;
	json_open_member(o, "pairwise", '{');
	json_put_member_str(o, "winner", str_of(winners[winner(sum)]));
	json_put_member_nonempty(o, "magnitude", winner(sum) == JUDGE_TIE ?
	    STR("equal") : magnitude(shown));
	json_put_member_str(o, "reasoning", reasoning(j->g->arena, shown));
	json_put_member_bool(o, "position_consistent", is_consistent(shown));
	json_close(o, '}');
	put_choice(o, "pass1", &shown->choice[0]);
	put_choice(o, "pass2", &shown->choice[1]);
}

/* Writes the reasons of all samples, joined by "; ". */
static void
put_reasons(struct json_out *o, const char *key, const struct prompt_grading *j,
    bool passes)
{
	const struct grader_sample *s;
	struct buf b = { 0 };
	struct str w;

	for (s = j->samples; s < j->samples + j->n; s++) {
		w = passes ? s->verdict.passes : s->verdict.failures;
		if (!s->valid || w.n == 0)
			continue;
		if (b.n > 0)
			buf_puts(&b, "; ");
		buf_put(&b, w);
	}
	json_put_member_str(o, key, buf_str(&b));
	buf_free(&b);
}

static void
put_samples(struct json_out *o, const struct prompt_grading *j)
{
	const struct grader_sample *s;

	json_open_member(o, "samples", '[');
	for (s = j->samples; s < j->samples + j->n; s++) {
		json_open(o, '{');
		if (s->valid) {
			json_put_member_bool(o, "passed", s->passed);
			json_put_member_double(o, "score", s->score);
			if (j->set.mode == GRADER_PAIRWISE)
				json_put_member_str(o, "winner",
				    str_of(winners[grader_prompt_winner(s)]));
			json_put_member_str(o, "reason", reason(j, s));
		} else
			json_put_member_str(o, "error", s->error);
		if (s->again)
			json_put_member_bool(o, "asked_again", true);
		if (j->set.samples > 1)
			json_put_member_str(o, "response",
			    utf8_cut(s->response, RESPONSE_MAX));
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void
put_usage(struct json_out *o, const struct answer_usage *u)
{
	struct buf b = { 0 };

	if (!u->known)
		return;
	result_put_usage(&b, u);
	json_put_member_raw(o, "usage", buf_str(&b));
	buf_free(&b);
}

static struct str
details(struct prompt_grading *j, const struct sum *sum)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	bool compares = j->set.mode == GRADER_PAIRWISE;

	json_open(&o, '{');
	if (compares)
		put_pairwise(&o, j, sum);
	else
		json_put_member_str(&o, "response", utf8_cut(j->n > 0 ?
		    j->samples[0].response : STR(""), RESPONSE_MAX));
	json_put_member_str(&o, "prompt",
	    utf8_cut(j->criteria.text, RESPONSE_MAX));
	if (!compares) {
		put_reasons(&o, "passes", j, true);
		put_reasons(&o, "failures", j, false);
	}
	json_put_member_str(&o, "mode", compares ? STR("pairwise") :
	    STR("independent"));
	put_samples(&o, j);
	json_put_member_str(&o, "executor", j->q.used_executor);
	json_put_member_str(&o, "model", j->q.used_model);
	put_usage(&o, &j->usage);
	json_close(&o, '}');
	return arena_take(j->g->arena, &b);
}

static const struct grader_sample *
first_invalid(const struct prompt_grading *j)
{
	const struct grader_sample *s = j->samples;

	while (s->valid)
		s++;
	return s;
}

void
grader_prompt_conclude(struct prompt_grading *j)
{
	struct grading *g = j->g;
	struct sum sum = count(j);
	size_t wanted = (size_t)j->set.samples;
	struct str why;

	g->out.details = details(j, &sum);
	if (2 * sum.valid > wanted) {
		g->out.passed = j->set.mode == GRADER_PAIRWISE ?
		    winner(&sum) != JUDGE_B : 2 * sum.passed > sum.valid;
		g->out.score = sum.score;
		g->out.feedback = feedback(j, &sum);
		return;
	}
	why = first_invalid(j)->error;
	g->out.judge = true;
	if (wanted == 1)
		grader_error(g, "%.*s", STRF(why));
	else
		grader_error(g, "only %zu of %zu samples have a verdict; %.*s",
		    sum.valid, wanted, STRF(why));
}

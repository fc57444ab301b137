/* SPDX-License-Identifier: ISC */
/*
 * The kind skill_invocation: which skills were used, in which order.
 *
 * An empty list of required skills, together with `exact_match` or
 * `allow_extra: false`, means that no skill may be used.
 */
#include "grade/grader_trace.h"

#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

struct skill {
	struct field_strs required_skills, forbidden_skills;
	int mode;
	bool allow_extra;
};

static const struct field skill_rows[] = {
	GRADER_KEY(skill, required_skills, FIELD_STRS,
	    .values = FIELD_SKILLS,
	    .help = "skills that must be used"),
	GRADER_KEY(skill, forbidden_skills, FIELD_STRS,
	    .values = FIELD_SKILLS,
	    .help = "skills that must not be used"),
	FIELD(skill, mode, FIELD_ENUM, .alias = "matching_mode",
	    .words = grader_order_words,
	    .help = "how the used skills are compared"),
	GRADER_KEY(skill, allow_extra, FIELD_BOOL,
	    .help = "whether other skills can be used, too"),
};

static const struct skill skill_init = { .mode = -1, .allow_extra = true };
static const struct field_table skill_fields = {
	skill_rows, COUNTOF(skill_rows), sizeof(struct skill), &skill_init
};

/* Whether no skill may be used. */
static bool
forbids_all(const struct skill *s, const struct json *config)
{
	const struct json *list = json_getc(config, "required_skills");

	return list != NULL && list->type == JSON_ARRAY &&
	    s->required_skills.n == 0 && (!s->allow_extra ||
	    (s->mode >= 0 && grader_order_of(s->mode) == GRADER_EXACT));
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct skill *s = settings;
	const struct json *config = c->spec->config;

	if (s->required_skills.n + s->forbidden_skills.n == 0 &&
	    !forbids_all(s, config))
		grader_note_empty(c);
	if (s->required_skills.n > 0 && s->mode < 0)
		grader_note(c, FIELD_ERROR, NULL, "\"required_skills\" needs a "
		    "\"mode\": exact_match, in_order or any_order");
	grader_check_each(c, config, "required_skills", grader_check_name);
	grader_check_each(c, config, "forbidden_skills", grader_check_name);
	grader_check_skills(c);
}

/* The forbidden skills that were used, each once; also built-in ones. */
static struct field_strs
violations(struct arena *tmp, const struct skill *s, const struct answer *ans)
{
	struct field_strs x = grader_index_new(tmp, &ans->skills);
	struct field_strs y = grader_index_new(tmp, &ans->other_skills);
	struct field_strs ban = grader_index_new(tmp, &s->forbidden_skills);
	struct field_strs bad = { NULL, 0 };
	size_t i;

	grader_index_unique(&ban);
	bad.v = NEW_N(tmp, struct str, ban.n);
	for (i = 0; i < ban.n; i++)
		if (grader_index_count(&x, ban.v[i]) > 0 ||
		    grader_index_count(&y, ban.v[i]) > 0)
			bad.v[bad.n++] = ban.v[i];
	return bad;
}

/* Extra skills that are not allowed cost up to 0.6 of the score. */
static double
score(const struct skill *s, const struct grader_match *m)
{
	double extra;

	if (s->allow_extra || m->want.n == 0 || m->got.n <= m->want.n)
		return m->f1;
	extra = (double)(m->got.n - m->want.n) / (double)m->got.n;
	return m->f1 * (1 - 0.6 * extra);
}

static struct str
details(struct arena *a, const struct skill *s, const struct grader_match *m,
    const struct field_strs *bad)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_str(&o, "mode", s->mode < 0 ? STR("any_order") :
	    str_of(grader_order_words[s->mode]));
	field_put_strs(&o, "required_skills", &s->required_skills);
	field_put_strs(&o, "forbidden_skills", &s->forbidden_skills);
	field_put_strs(&o, "forbidden_violations", bad);
	field_put_strs(&o, "actual_skills", &m->got);
	json_put_member_bool(&o, "allow_extra", s->allow_extra);
	grader_put_match(&o, m);
	json_close(&o, '}');
	return arena_take(a, &b);
}

static struct str
feedback(struct arena *a, const struct skill *s, const struct grader_match *m,
    const struct field_strs *bad)
{
	struct str list, diff;
	struct buf b = { 0 };

	if (!m->ok && m->want.n == 0) {
		list = grader_quote_list(a, &m->got);
		buf_fmt(&b, "expected no skill; found %zu: %.*s", m->got.n,
		    STRF(list));
	} else if (!m->ok) {
		diff = grader_match_difference(a, m);
		buf_put(&b, diff);
	} else if (bad->n == 0) {
		buf_puts(&b, "the skills are as expected");
	}
	if (m->want.n > 0 && !s->allow_extra && m->got.n > m->want.n)
		buf_fmt(&b, "; %zu used, only %zu expected",
		    m->got.n, m->want.n);
	if (bad->n > 0) {
		list = grader_quote_list(a, bad);
		buf_fmt(&b, "%sforbidden skills were used: %.*s",
		    b.n > 0 ? "; " : "", STRF(list));
	}
	return arena_take(a, &b);
}

/*
 * Whether skills that were used, too, but are not known, could change the
 * verdict or the score.
 */
static bool
is_open(const struct skill *s, const struct grader_match *m,
    const struct field_strs *bad)
{
	if (bad->n > 0 || (m->want.n == 0 && !m->ok))
		return false;
	return !m->ok || s->forbidden_skills.n > 0 || m->want.n == 0 ||
	    !s->allow_extra || m->order == GRADER_EXACT;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct skill *s = settings;
	struct grader_match m = { .what = "skills",
		.order = s->mode < 0 ? GRADER_ANY_ORDER :
		    grader_order_of(s->mode),
		.want = s->required_skills, .got = g->in->answer->skills };
	struct field_strs bad = violations(tmp, s, g->in->answer);
	struct str why = grader_no_skills(tmp, g->in);

	/* an echo used none, as in the original */
	if (why.p != NULL && !g->in->answer->echo)
		return grader_skip(g, "%.*s", STRF(why));
	if (m.want.n > 0) {
		grader_match_names(tmp, &m);
	} else {
		m.ok = m.got.n == 0 || !forbids_all(s, g->spec->config);
		m.precision = m.recall = m.f1 = m.ok ? 1 : 0;
	}
	if (g->in->answer->skills_lost && is_open(s, &m, &bad))
		return grader_error(g, "cannot be checked: %.*s does not "
		    "report all skills that it used: events of it were lost",
		    STRF(grader_agent(g->in)));
	g->out.passed = m.ok && bad.n == 0;
	g->out.score = bad.n > 0 ? 0 : score(s, &m);
	g->out.feedback = feedback(g->arena, s, &m, &bad);
	g->out.details = details(g->arena, s, &m, &bad);
	return GRADER_DONE;
}

const struct grader_kind grader_skill_invocation = {
	.name = "skill_invocation", .fields = &skill_fields,
	.check = check, .start = start,
};

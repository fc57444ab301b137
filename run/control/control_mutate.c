/* SPDX-License-Identifier: ISC */
/*
 * Which graders notice that a recorded answer was altered.
 *
 * A grader that accepts the answer as recorded, and each of its alterations
 * down to nothing at all, does not depend on what the agent did.  Graders that
 * reject the recorded answer, or were not run, are left out.
 */
#include "run/control/control_internal.h"

#include "json.h"

/* The cases of one task. */
struct mutants {
	const struct control_run *run;
	size_t first;			/* case: the answer as recorded */
	struct arena tmp;
	struct control_found found[AGENT_MUTATIONS];	/* of one trial */
	struct field_strs passed, noticed;	/* graders, in all trials */
	bool graded[AGENT_MUTATIONS];	/* in a trial, */
	bool known[AGENT_MUTATIONS];	/* by all graders or rejected, */
	bool rejected[AGENT_MUTATIONS];
};

/* Whether the grader rejects an alteration in this trial. */
static bool
notices(const struct mutants *m, struct str name)
{
	bool passed;
	size_t k;

	for (k = 1; k < AGENT_MUTATIONS; k++)
		if (m->run->answer.altered[m->first + k] &&
		    m->found[k].verdicts != NULL &&
		    (!control_counts(json_get(m->found[k].verdicts, name),
		    &passed) || !passed))
			return true;
	return false;
}

static void
read_trial(struct mutants *m, size_t trial)
{
	const struct json *v;
	bool passed;
	size_t k;

	for (k = 0; k < AGENT_MUTATIONS; k++)
		m->found[k] = control_read(m->run, &m->tmp, m->first + k,
		    trial);
	if (m->found[0].verdict == CONTROL_FAILED)
		return;			/* nothing to notice */
	for (v = json_first(m->found[0].verdicts); v != NULL; v = v->next) {
		if (!control_counts(v, &passed) || !passed)
			continue;
		if (!field_has(&m->passed, json_key(v)))
			control_add_name(&m->tmp, &m->passed, json_key(v));
		if (notices(m, json_key(v)) &&
		    !field_has(&m->noticed, json_key(v)))
			control_add_name(&m->tmp, &m->noticed, json_key(v));
	}
	for (k = 0; k < AGENT_MUTATIONS; k++) {
		m->graded[k] = m->graded[k] || m->found[k].verdicts != NULL;
		m->known[k] = m->known[k] ||
		    m->found[k].verdict != CONTROL_UNKNOWN;
		m->rejected[k] = m->rejected[k] ||
		    m->found[k].verdict == CONTROL_FAILED;
	}
}

/*
 * Counts the altered answers, and names those that still pass; returns how
 * many a grader has seen.
 */
static size_t
count(const struct mutants *m, struct arena *a, struct control_finding *f)
{
	struct buf b = { 0 };
	size_t k, graded = 0;

	for (k = 1; k < AGENT_MUTATIONS; k++) {
		if (!m->run->answer.altered[m->first + k])
			continue;
		graded += m->graded[k];
		if (!m->known[k])
			continue;
		f->altered++;
		if (m->rejected[k])
			continue;
		buf_fmt(&b, "%s%s", f->survived++ > 0 ? ", " : "",
		    agent_mutation_name(k));
	}
	if (f->survived > 0)
		f->note = arena_fmt(a, "accepted with: %.*s",
		    STRF(buf_str(&b)));
	buf_free(&b);
	return graded;
}

void
control_collect_mutants(const struct control_run *c, struct arena *a,
    size_t task, struct control_finding *f)
{
	struct mutants m = { .run = c, .first = task * AGENT_MUTATIONS };
	struct str why;
	size_t i, graded;

	for (i = 0; i < c->trials; i++)
		read_trial(&m, i);
	graded = count(&m, a, f);
	for (i = 0; i < m.passed.n && graded > 0; i++)
		if (!field_has(&m.noticed, m.passed.v[i]))
			control_add_name(a, &f->graders, m.passed.v[i]);
	why = m.found[AGENT_AS_RECORDED].why;
	if (m.found[AGENT_AS_RECORDED].verdict == CONTROL_FAILED)
		why = STR("the recorded answer does not pass");
	else if (m.passed.n > 0 && graded == 0)
		why = STR("the recorded answer has nothing to alter");
	if (m.passed.n > 0 && f->altered > 0)
		f->verdict = f->survived == f->altered ? CONTROL_PASSED :
		    CONTROL_FAILED;
	else
		f->note = arena_str(a, why);
	arena_free(&m.tmp);
}

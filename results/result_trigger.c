/* SPDX-License-Identifier: ISC */
/*
 * result_trigger.c: the results of the trigger tests: which prompts made the
 * agent use the skill, and how often that was right.
 *
 * A test is stored like a trial, with its line in the journal.  Whether the
 * skill was used follows from the status and from the suite's expectation.
 *
 * Invariant: v[i].status != RESULT_NONE for exactly `done` of them.
 */
#include "results/result.h"

#include <assert.h>

#include "json.h"
#include "results/result_internal.h"
#include "suite/spec.h"

#define KEY(name) STR(",\"" name "\":")

void
result_want_triggers(struct result_run *run, bool simulated)
{
	struct result_triggers *t = &run->triggers;
	size_t i;

	t->n = run->suite->triggers->n;
	t->v = NEW_N(run->arena, struct result_trial, t->n);
	t->used = NEW_N(run->arena, struct str, t->n);
	t->done = 0;
	t->simulated = simulated;
	for (i = 0; i < t->n; i++)
		t->v[i].off = -1;
}

/* Whether the skill was used in a test that ended like this. */
static bool
was_used(const struct spec_trigger *t, enum result_status status)
{
	return (status == RESULT_PASSED) == t->should;
}

bool
result_did_trigger(const struct result_run *run, size_t i)
{
	return was_used(&run->suite->triggers->v[i], run->triggers.v[i].status);
}

struct str
result_expected_skill(const struct result_run *run, size_t i)
{
	const struct spec_trigger *t = &run->suite->triggers->v[i];

	return t->expected.n > 0 ? t->expected : t->should ?
	    run->suite->triggers->skill : STR("");
}

/*
 * Of several skills, the expected one counts, else the one that should not be
 * used, else the first.
 */
static struct str
choose_used(const struct result_run *run, size_t i,
    const struct field_strs *skills)
{
	struct str want[2];
	size_t k, w;

	want[0] = result_expected_skill(run, i);
	want[1] = run->suite->triggers->skill;
	for (w = 0; w < COUNTOF(want); w++)
		for (k = 0; k < skills->n; k++)
			if (str_eq(skills->v[k], want[w]))
				return want[w];
	return skills->n > 0 ? skills->v[0] : STR("");
}

void
result_take_used(struct result_run *run, size_t i, const struct json *item)
{
	struct arena_mark mark = arena_save(&run->scratch);
	const struct json *list = json_getc(item, "skills"), *v;
	struct field_strs skills = { NEW_N(&run->scratch, struct str,
	    list != NULL ? json_count(list) : 0), 0 };

	for (v = json_first(list); v != NULL; v = v->next)
		if (v->type == JSON_STRING)
			skills.v[skills.n++] = json_text(v);
	run->triggers.used[i] = list == NULL && result_true(item,
	    "did_trigger") ? result_expected_skill(run, i) :
	    arena_str(run->arena, choose_used(run, i, &skills));
	arena_restore(&run->scratch, mark);
}

struct result_confusion *
result_confusion(struct arena *a, const struct result_run *run, size_t *n)
{
	const struct result_triggers *t = &run->triggers;
	struct result_confusion *v = NEW_N(a, struct result_confusion, t->n);
	struct str expected;
	size_t i, k;

	*n = 0;
	for (i = 0; i < t->n; i++) {
		if (t->v[i].status != RESULT_PASSED &&
		    t->v[i].status != RESULT_FAILED)
			continue;
		expected = result_expected_skill(run, i);
		for (k = 0; k < *n && (!str_eq(v[k].expected, expected) ||
		    !str_eq(v[k].used, t->used[i])); k++)
			;
		v[k].expected = expected;
		v[k].used = t->used[i];
		v[k].n++;
		*n += k == *n;
	}
	return v;
}

/* Rounds a sum of weights, which is neither negative nor large. */
static int64_t
whole(double d)
{
	return (int64_t)(d + 0.5);
}

static double
share(double part, double all)
{
	return all > 0 ? (double)whole(part / all * 1e4) / 1e4 : 0;
}

void
result_accuracy(const struct result_run *run, struct result_accuracy *a)
{
	const struct result_triggers *t = &run->triggers;
	const struct spec_trigger *spec;
	double wrong = 0;
	size_t i;

	*a = (struct result_accuracy){ 0 };
	for (i = 0; i < t->n; i++) {
		a->skipped += t->v[i].status == RESULT_SKIPPED;
		if (t->v[i].status < RESULT_PASSED)
			continue;
		spec = &run->suite->triggers->v[i];
		if (result_is_error(t->v[i].status)) {
			a->errors++;
			wrong += spec->weight;
		} else if (was_used(spec, t->v[i].status))
			*(spec->should ? &a->tp : &a->fp) += spec->weight;
		else
			*(spec->should ? &a->fn : &a->tn) += spec->weight;
	}
	a->precision = share(a->tp, a->tp + a->fp);
	a->recall = share(a->tp, a->tp + a->fn);
	/* the harmonic mean of the two, before they are rounded */
	a->f1 = share(2 * a->tp, 2 * a->tp + a->fp + a->fn);
	a->accuracy = share(a->tp + a->tn, a->tp + a->fp + a->tn + a->fn +
	    wrong);
}

static void
put_skill(struct buf *b, struct str key, struct str name)
{
	if (name.n > 0)
		result_put_str(b, key, name);
	else {
		buf_put(b, key);
		buf_puts(b, "null");
	}
}

static void
put_confusion(struct buf *b, const struct result_run *run)
{
	const struct result_confusion *v;
	struct arena tmp = { 0 };
	size_t i, n;

	v = result_confusion(&tmp, run, &n);
	buf_put(b, KEY("confusion"));
	for (i = 0; i < n; i++) {
		buf_putc(b, i == 0 ? '[' : ',');
		put_skill(b, STR("{\"expected\":"), v[i].expected);
		put_skill(b, KEY("used"), v[i].used);
		result_put_int(b, KEY("count"), (int64_t)v[i].n);
		buf_putc(b, '}');
	}
	buf_puts(b, n == 0 ? "[]" : "]");
	arena_free(&tmp);
}

/* Without a test that was scored, there are no rates. */
void
result_put_accuracy(struct buf *b, const struct result_run *run)
{
	struct result_accuracy a;

	result_accuracy(run, &a);
	if (a.skipped > 0 && a.skipped == run->triggers.done) {
		result_put_int(b, STR("{\"skipped\":"), (int64_t)a.skipped);
		buf_putc(b, '}');
		return;
	}
	result_put_int(b, STR("{\"true_positives\":"), whole(a.tp));
	result_put_int(b, KEY("false_positives"), whole(a.fp));
	result_put_int(b, KEY("true_negatives"), whole(a.tn));
	result_put_int(b, KEY("false_negatives"), whole(a.fn));
	if (a.errors > 0)
		result_put_int(b, KEY("errors"), (int64_t)a.errors);
	if (a.skipped > 0)
		result_put_int(b, KEY("skipped"), (int64_t)a.skipped);
	result_put_num(b, KEY("precision"), a.precision);
	result_put_num(b, KEY("recall"), a.recall);
	result_put_num(b, KEY("f1"), a.f1);
	result_put_num(b, KEY("accuracy"), a.accuracy);
	put_confusion(b, run);
	if (run->triggers.simulated)
		result_put_bool(b, KEY("simulated"), true);
	buf_putc(b, '}');
}

void
result_put_trigger(struct buf *b, struct arena *a,
    const struct result_run *run, const struct result_record *r)
{
	const struct spec_trigger *t = &run->suite->triggers->v[r->task];
	struct str why = r->error;

	if (why.n == 0 && r->answer != NULL)
		why = r->answer->error;
	result_put_str(b, STR("{\"prompt\":"), t->task.prompt);
	if (t->confidence.n > 0)
		result_put_str(b, KEY("confidence"), t->confidence);
	result_put_bool(b, KEY("should_trigger"), t->should);
	if (r->status != RESULT_SKIPPED)	/* otherwise it is not known */
		result_put_bool(b, KEY("did_trigger"), was_used(t, r->status));
	if (t->expected.n > 0)
		result_put_str(b, KEY("expected_skill"), t->expected);
	if (why.n > 0)
		result_put_str(b, KEY("error_msg"), why);
	if (r->answer != NULL)
		result_put_answer(b, a, r->answer);
	if (r->skills_way.n > 0)
		result_put_str(b, KEY("skills_way"), r->skills_way);
	result_put_str(b, KEY("status"), str_of(result_word(r->status)));
	if (result_is_error(r->status))
		result_put_str(b, KEY("error_class"),
		    str_of(result_class(r->status)));
	if (t->reason.n > 0)
		result_put_str(b, KEY("reason"), t->reason);
	result_put_int(b, KEY("duration_ms"), r->duration_ms);
	if (run->triggers.simulated)
		result_put_bool(b, KEY("simulated"), true);
	buf_putc(b, '}');
}

/* Like a trial's line, so that the same function reads it. */
static int
write_line(struct result_run *run, const struct result_record *r,
    struct result_trial *t, struct err *e)
{
	struct buf *b = result_line_begin(run);

	result_put_int(b, STR("\"trigger\":"), (int64_t)r->task + 1);
	result_put_str(b, KEY("skill"), run->suite->triggers->skill);
	result_line_numbers(b, t);
	result_put_trigger(b, &run->scratch, run, r);
	return result_line_end(run, t, e);
}

int
result_add_trigger(struct result_run *run, const struct result_record *r,
    struct err *e)
{
	struct arena_mark mark = arena_save(&run->scratch);
	struct result_trial t = { .status = r->status, .attempts = 1,
	    .duration_ms = r->duration_ms, .off = -1 };
	int rc = 0;

	assert(r->task < run->triggers.n && r->status != RESULT_NONE);
	t.score = t.weighted = r->status == RESULT_PASSED;
	result_set_used(&t, r);
	if (run->journal.fd != -1)
		rc = write_line(run, r, &t, e);
	arena_restore(&run->scratch, mark);
	if (rc == -1)
		return -1;
	result_replace(run, &run->triggers.v[r->task], &t,
	    &run->triggers.done);
	run->triggers.used[r->task] = run->triggers.simulated ?
	    result_expected_skill(run, r->task) : r->answer == NULL ?
	    STR("") : arena_str(run->arena, choose_used(run, r->task,
	    &r->answer->skills));
	if (r->answer != NULL)
		answer_count_usage(&run->usage, &r->answer->usage, 1);
	return 0;
}

void
result_forget_trigger(struct result_run *run, size_t i)
{
	result_replace(run, &run->triggers.v[i],
	    &(struct result_trial){ .off = -1 }, &run->triggers.done);
}

static bool
is_text(const struct json *obj, const char *key, struct str want)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type == JSON_STRING &&
	    str_eq(json_text(v), want);
}

/* Whether an object is about test i as the suite has it now. */
static bool
is_about(const struct result_run *run, size_t i, const struct json *item)
{
	const struct spec_trigger *t = &run->suite->triggers->v[i];

	return str_eq(json_str(item, "expected_skill"), t->expected) &&
	    is_text(item, "prompt", t->task.prompt) &&
	    result_true(item, "should_trigger") == t->should &&
	    result_true(item, "simulated") == run->triggers.simulated;
}

static void
take(struct result_run *run, size_t i, const struct json *item,
    const struct result_trial *t)
{
	struct answer_usage usage = answer_read_usage(item);

	result_replace(run, &run->triggers.v[i], t, &run->triggers.done);
	result_read_used(&run->triggers.v[i], item);
	result_take_used(run, i, item);
	answer_count_usage(&run->usage, &usage, 1);
}

/* A line that asked or expected something else is ignored. */
void
result_take_trigger(struct result_run *run, const struct json *line,
    const struct result_trial *t)
{
	const struct json *item = json_getc(line, "run");
	int64_t n;

	if (result_int(line, "trigger", &n) && n >= 1 &&
	    (uint64_t)n <= run->triggers.n &&
	    is_text(line, "skill", run->suite->triggers->skill) &&
	    is_about(run, (size_t)n - 1, item))
		take(run, (size_t)n - 1, item, t);
}

int
result_reuse_trigger(struct result_run *run, size_t *next,
    const struct json *item, struct err *e)
{
	struct str word = json_str(item, "status");
	struct result_trial t = { .off = -1, .attempts = 1 };
	struct buf *b;
	size_t i;

	t.status = str_is(word, "passed") ? RESULT_PASSED :
	    str_is(word, "failed") ? RESULT_FAILED :
	    str_is(word, "skipped") ? RESULT_SKIPPED :
	    result_of_class(json_str(item, "error_class"));
	t.score = t.weighted = t.status == RESULT_PASSED;
	for (i = *next; i < run->triggers.n && !is_about(run, i, item); i++)
		;
	if (i == run->triggers.n || t.status == RESULT_NONE ||
	    t.status == RESULT_CANCELLED ||
	    !result_int(item, "duration_ms", &t.duration_ms))
		return 0;
	*next = i + 1;
	b = result_line_begin(run);
	result_put_int(b, STR("\"trigger\":"), (int64_t)i + 1);
	result_put_str(b, KEY("skill"), run->suite->triggers->skill);
	if (result_line_copy(run, &t, item, e) == -1)
		return -1;
	take(run, i, item, &t);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * result_trial.c: a trial as JSON: the original's keys in their order, then
 * ours.  The journal contains it exactly as the results file will.
 *
 * This is most of the cost of a small trial.  Therefore keys are constants
 * with their comma and colon, and the text grows in one buffer.  Each value is
 * written by json.h as a document of its own.
 *
 * JSON from agents and graders is parsed and written again, never copied: a
 * line of the journal must be valid and must not contain a newline.  Text that
 * is not JSON, or is nested too deeply to be read back, becomes a string.
 */
#include "results/result.h"

#include <stdlib.h>

#include "json.h"
#include "results/result_internal.h"
#include "results/suspect/suspect.h"
#include "results/verdict.h"

enum { DEPTH = 100 };		/* of embedded JSON: JSON_DEPTH less ours */

#define KEY(name) STR(",\"" name "\":")
#define NAME(name) { "\"" name "\":", sizeof("\"" name "\":") - 1 }

void
result_put_str(struct buf *b, struct str key, struct str s)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	buf_put(b, key);
	json_put_str(&o, s);
}

void
result_put_int(struct buf *b, struct str key, int64_t i)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	buf_put(b, key);
	if (i >= 0 && i <= 9)
		buf_putc(b, (char)('0' + i));
	else
		json_put_int(&o, i);
}

void
result_put_num(struct buf *b, struct str key, double d)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	buf_put(b, key);
	if (d == 0 || d == 1)
		buf_putc(b, d == 0 ? '0' : '1');
	else
		json_put_double(&o, d);
}

void
result_put_bool(struct buf *b, struct str key, bool yes)
{
	buf_put(b, key);
	buf_put(b, yes ? STR("true") : STR("false"));
}

/* Omits an empty string. */
static void
put_some(struct buf *b, struct str key, struct str s)
{
	if (s.n > 0)
		result_put_str(b, key, s);
}

static struct json *
read_value(struct arena *a, struct str s)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error e;

	return json_read(&mem, s, DEPTH, &e);
}

/* Embeds JSON; omits an empty text, quotes one that is not JSON. */
static void
put_value(struct buf *b, struct arena *a, struct str key, struct str s)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	struct arena_mark mark = arena_save(a);
	struct json *v;

	if (s.n == 0)
		return;
	buf_put(b, key);
	v = read_value(a, s);
	if (v != NULL)
		json_put(&o, v);
	else
		json_put_str(&o, s);
	arena_restore(a, mark);
}

static void
put_verdict(struct buf *b, struct arena *a, const struct verdict *v)
{
	result_put_str(b, STR(""), v->name);
	result_put_str(b, STR(":{\"identifier\":"), v->name);
	result_put_str(b, KEY("type"), v->type);
	result_put_num(b, KEY("score"), v->score);
	result_put_num(b, KEY("weight"), v->skipped ? 0 : v->weight);
	result_put_bool(b, KEY("passed"), v->passed);
	result_put_str(b, KEY("feedback"), arena_head(a, v->error.n > 0 ?
	    v->error : v->feedback, REASON_MAX));
	put_value(b, a, KEY("details"), v->details);
	result_put_int(b, KEY("duration_ms"), v->duration_ms);
	put_some(b, KEY("error"), arena_head(a, v->error, REASON_MAX));
	if (v->skipped)
		result_put_bool(b, KEY("skipped"), true);
	if (v->advisory)
		result_put_bool(b, KEY("advisory"), true);
	buf_putc(b, '}');
}

static int
by_name(const void *a, const void *b)
{
	const struct verdict *const *x = a, *const *y = b;

	return str_cmp((*x)->name, (*y)->name);
}

/* A map sorted by name, like Go's; null if nothing was graded. */
static void
put_verdicts(struct buf *b, struct arena *a, const struct verdict *all,
    size_t n)
{
	const struct verdict **v;
	size_t i;

	buf_put(b, KEY("validations"));
	if (all == NULL) {
		buf_put(b, STR("null"));
		return;
	}
	v = NEW_N(a, const struct verdict *, n);
	for (i = 0; i < n; i++)
		v[i] = &all[i];
	if (n > 1)
		qsort(v, n, sizeof(v[0]), by_name);
	for (i = 0; i < n; i++) {
		buf_putc(b, i == 0 ? '{' : ',');
		put_verdict(b, a, v[i]);
	}
	buf_put(b, i == 0 ? STR("{}") : STR("}"));
}

/*
 * Checkpoints, in the order of turns.  An error of a grader is a verdict of its
 * own, as in the original.
 */
static void
put_checks(struct buf *b, struct arena *a, const struct result_record *r)
{
	static const struct verdict fault = {
		.name = { "_checkpoint_error", 17 },
		.type = { "checkpoint_error", 16 }, .weight = 1 };
	const struct result_checkpoint *c;
	struct verdict *all;
	size_t i, k, n;

	for (i = 0; i < r->nchecks; i++) {
		c = &r->checks[i];
		all = NEW_N(a, struct verdict, c->nverdicts + 1);
		for (n = k = 0; k < c->nverdicts; k++)
			all[n++] = c->verdicts[k];
		for (k = 0; k < c->nverdicts && c->error; k++)
			if (c->verdicts[k].error.n > 0) {
				all[n] = fault;
				all[n++].feedback = c->verdicts[k].error;
				break;
			}
		buf_put(b, i == 0 ? KEY("checkpoints") : STR(""));
		buf_putc(b, i == 0 ? '[' : ',');
		result_put_int(b, STR("{\"after_turn\":"), c->after_turn);
		result_put_str(b, KEY("status"), c->error ? STR("error") :
		    c->failed ? STR("failed") : STR("passed"));
		put_verdicts(b, a, all, n);
		if (c->stopped)
			result_put_bool(b, KEY("stopped"), true);
		buf_putc(b, '}');
	}
	if (r->nchecks > 0)
		buf_putc(b, ']');
}

/*
 * The original stores these five arguments only, always as strings.  A wire
 * that does not report arguments may still tell the canonical ones.
 */
static void
put_call(struct buf *b, struct arena *a, const struct answer_call *c)
{
	static const char *const keys[] = { "path", "file_text", "command",
	    "description", "skill" };
	const struct str none = STR("");
	const struct str *const canonical[] = { &c->path, &none, &c->command,
	    &none, &c->skill };
	struct arena_mark mark = arena_save(a);
	const struct json *args = read_value(a, c->arguments), *v;
	size_t i;

	result_put_str(b, STR("{\"name\":"), c->name);
	buf_put(b, KEY("arguments"));
	for (i = 0; i < COUNTOF(keys); i++) {
		v = json_getc(args, keys[i]);
		buf_putc(b, i == 0 ? '{' : ',');
		result_put_str(b, STR(""), str_of(keys[i]));
		result_put_str(b, STR(":"), v != NULL &&
		    v->type == JSON_STRING ? json_text(v) : *canonical[i]);
	}
	buf_putc(b, '}');
	put_value(b, a, KEY("result"), c->result);
	result_put_bool(b, KEY("success"), c->success);
	buf_putc(b, '}');
	arena_restore(a, mark);
}

static void
put_calls(struct buf *b, struct arena *a, const struct answer *ans)
{
	const struct answer_call *c;

	buf_put(b, KEY("tool_calls"));
	for (c = ans->calls; c != NULL; c = c->next) {
		buf_putc(b, c == ans->calls ? '[' : ',');
		put_call(b, a, c);
	}
	buf_putc(b, ']');
}

/* "unknown": the names whose flag is set; nothing if there are none. */
static void
put_unknown(struct buf *b, const char *const *names, const bool *unknown,
    size_t n)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++)
		if (unknown[i])
			result_put_str(b, k++ == 0 ? STR(",\"unknown\":[") :
			    STR(","), str_of(names[i]));
	if (k > 0)
		buf_putc(b, ']');
}

/* What graders look for, in the same words for every agent. */
static void
put_canonical(struct buf *b, const struct answer_call *c)
{
	static const char *const names[] = { "name", "arguments", "result" };
	const bool unknown[] = { c->no_name, c->no_arguments, c->no_result };
	const struct str *const values[] = { &c->command, &c->path, &c->url,
	    &c->skill };
	static const struct str keys[] = { NAME("command"), NAME("path"),
	    NAME("url"), NAME("skill") };
	size_t i, n = 0;

	result_put_str(b, KEY("tool"), str_of(answer_tool_name(c->tool)));
	for (i = 0; i < COUNTOF(keys); i++)
		if (values[i]->n > 0) {
			buf_put(b, n++ == 0 ? KEY("canonical") : STR(""));
			buf_putc(b, n == 1 ? '{' : ',');
			result_put_str(b, keys[i], *values[i]);
		}
	if (n > 0)
		buf_putc(b, '}');
	if (c->any_edit)
		result_put_bool(b, KEY("any_edit"), true);
	if (c->more_paths)
		result_put_bool(b, KEY("more_paths"), true);
	if (c->denied)
		result_put_bool(b, KEY("denied"), true);
	put_unknown(b, names, unknown, COUNTOF(names));
}

/* All arguments, under the keys of the original's later versions. */
static void
put_events(struct buf *b, struct arena *a, const struct answer *ans)
{
	const struct answer_call *c;
	int64_t n = 0;

	if (ans->calls == NULL)
		return;
	buf_put(b, KEY("tool_events"));
	for (c = ans->calls; c != NULL; c = c->next) {
		buf_putc(b, c == ans->calls ? '[' : ',');
		result_put_int(b, STR("{\"sequence\":"), ++n);
		result_put_str(b, KEY("tool_name"), c->name);
		put_value(b, a, KEY("args"), c->arguments);
		put_value(b, a, KEY("result"), c->result);
		result_put_bool(b, KEY("success"), c->success);
		put_canonical(b, c);
		put_some(b, KEY("mock"), c->mock);
		buf_putc(b, '}');
	}
	buf_putc(b, ']');
}

/* "unknown_trials": how many trials of a sum do not report a number. */
static void
put_missing(struct buf *b, const struct answer_usage *u)
{
	static const struct { struct str key; enum answer_count i; } rows[] = {
		{ NAME("turns"), ANSWER_TURNS },
		{ NAME("input_tokens"), ANSWER_TOKENS },
		{ NAME("output_tokens"), ANSWER_TOKENS },
		{ NAME("cached_input_tokens"), ANSWER_CACHED },
		{ NAME("reasoning_tokens"), ANSWER_REASONING },
		{ NAME("cost"), ANSWER_COST },
	};
	size_t i, n = 0;

	for (i = 0; i < COUNTOF(rows); i++) {
		if (u->missing[rows[i].i] <= 0)
			continue;
		buf_put(b, n == 0 ? KEY("unknown_trials") : STR(""));
		buf_putc(b, n++ == 0 ? '{' : ',');
		result_put_int(b, rows[i].key, u->missing[rows[i].i]);
	}
	if (n > 0)
		buf_putc(b, '}');
}

void
result_put_usage(struct buf *b, const struct answer_usage *u)
{
	static const char *const names[] = { "turns", "input_tokens",
	    "output_tokens", "cached_input_tokens", "reasoning_tokens",
	    "cost" };
	const bool unknown[] = { !u->turns_known, !u->known, !u->known,
	    !u->cached_known, !u->reasoning_known, !u->cost_known };

	result_put_int(b, STR("{\"turns\":"), u->turns);
	result_put_int(b, KEY("input_tokens"), u->input_tokens);
	result_put_int(b, KEY("output_tokens"), u->output_tokens);
	result_put_int(b, KEY("cache_read_tokens"), u->cache_read_tokens);
	result_put_int(b, KEY("cache_write_tokens"), u->cache_write_tokens);
	result_put_num(b, KEY("premium_requests"), u->premium_requests);
	if (u->cost_known || u->cost > 0)
		result_put_num(b, KEY("cost"), u->cost);
	result_put_int(b, KEY("cached_input_tokens"), u->cache_read_tokens);
	result_put_int(b, KEY("reasoning_tokens"), u->reasoning_tokens);
	put_unknown(b, names, unknown, COUNTOF(names));
	put_missing(b, u);
	buf_putc(b, '}');
}

static void
put_answer_usage(struct buf *b, const struct answer *ans)
{
	if (!answer_has_usage(&ans->usage) || ans->echo)
		return;			/* an echo uses nothing */
	buf_put(b, KEY("usage"));
	result_put_usage(b, &ans->usage);
}

bool
result_int(const struct json *obj, const char *key, int64_t *n)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && json_int(v, n);
}

bool
result_num(const struct json *obj, const char *key, double *d)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && json_double(v, d);
}

bool
result_true(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}

unsigned
result_attempts(const struct json *trial)
{
	int64_t n;

	return result_int(trial, "attempts", &n) && n > 0 && n <= INT32_MAX ?
	    (unsigned)n : 1;
}

struct str
result_json(struct arena *a, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct str s;

	if (v == NULL)
		return STR("");
	json_put(&o, v);
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* The policy of a custom agent's tools, and what it denied. */
static void
put_policy(struct buf *b, const struct answer *ans)
{
	size_t i;

	put_some(b, KEY("tool_policy_mode"), ans->tool_policy);
	if (ans->denied.n == 0)
		return;
	buf_put(b, KEY("tool_policy_denials"));
	for (i = 0; i < ans->denied.n; i++) {
		buf_putc(b, i == 0 ? '[' : ',');
		result_put_str(b, STR("{\"tool\":"), ans->denied.v[i]);
		buf_put(b, STR(",\"kind\":\"tool\",\"reason\":\"not one of the "
		    "agent's tools\"}"));
	}
	buf_putc(b, ']');
}

static void
put_digest(struct buf *b, struct arena *a, const struct answer *ans,
    bool error)
{
	const struct answer_call *calls = ans == NULL ? NULL : ans->calls, *c;
	int64_t n = 0;

	for (c = calls; c != NULL; c = c->next)
		n++;
	buf_put(b, KEY("session_digest"));
	result_put_int(b, STR("{\"tool_call_count\":"), n);
	buf_put(b, KEY("tools_used"));
	for (c = calls; c != NULL; c = c->next)
		result_put_str(b, c == calls ? STR("[") : STR(","), c->name);
	buf_put(b, calls == NULL ? STR("null") : STR("]"));
	if (calls != NULL)
		put_calls(b, a, ans);
	buf_put(b, error ? STR(",\"errors\":null") : STR(",\"errors\":[]"));
	if (ans != NULL) {
		put_answer_usage(b, ans);
		put_some(b, KEY("session_id"), ans->session_id);
		put_policy(b, ans);
	}
	buf_putc(b, '}');
}

static void
put_turns(struct buf *b, const struct answer_turn *turns)
{
	const struct answer_turn *t;

	if (turns == NULL)
		return;
	buf_put(b, KEY("turns"));
	for (t = turns; t != NULL; t = t->next) {
		buf_putc(b, t == turns ? '[' : ',');
		result_put_str(b, STR("{\"prompt\":"), t->prompt);
		result_put_str(b, KEY("output"), t->output);
		buf_putc(b, '}');
	}
	buf_putc(b, ']');
}

static void
put_names(struct buf *b, struct str key, const struct field_strs *names)
{
	size_t i;

	buf_put(b, key);
	buf_putc(b, '[');
	for (i = 0; i < names->n; i++)
		result_put_str(b, i == 0 ? STR("") : STR(","), names->v[i]);
	buf_putc(b, ']');
}

/* The parts of an answer for which the original has no keys. */
static void
put_answer(struct buf *b, struct arena *a, const struct answer *ans)
{
	static const char *const names[] = { "tool_calls", "skills" };
	const bool unknown[] = { ans->no_calls, ans->skills_lost };

	put_events(b, a, ans);
	put_turns(b, ans->turns);
	if (ans->skills.n > 0 || ans->skills_known)
		put_names(b, KEY("skills"), &ans->skills);
	if (ans->other_skills.n > 0)
		put_names(b, KEY("other_skills"), &ans->other_skills);
	put_some(b, KEY("stderr_tail"), ans->stderr_tail);
	if (ans->exit_status >= 0)
		result_put_int(b, KEY("exit_status"), ans->exit_status);
	if (ans->truncated)
		result_put_bool(b, KEY("truncated"), true);
	if (ans->refused)
		result_put_bool(b, KEY("refused"), true);
	put_some(b, KEY("patch"), ans->patch);
	put_value(b, a, KEY("command_invocations"), ans->command_invocations);
	if (ans->echo)
		result_put_bool(b, KEY("echo"), true);
	if (ans->confined || ans->loose)
		result_put_bool(b, KEY("confined"), ans->confined);
	put_unknown(b, names, unknown, COUNTOF(names));
}

void
result_put_answer(struct buf *b, struct arena *a,
    const struct answer *ans)
{
	put_some(b, KEY("final_output"), ans->output);
	put_value(b, a, KEY("transcript"), ans->transcript);
	if (ans->calls != NULL)
		put_calls(b, a, ans);
	put_some(b, KEY("session_id"), ans->session_id);
	put_answer(b, a, ans);
	put_answer_usage(b, ans);
}

static int64_t
grading_ms(const struct result_record *r)
{
	int64_t ms = 0;
	size_t i;

	for (i = 0; i < r->nverdicts; i++)
		ms += r->verdicts[i].duration_ms;
	return ms;
}

static void
put_judges(struct buf *b, const struct answer_usage *u)
{
	if (u->answers == 0)
		return;
	buf_put(b, KEY("judge_usage"));
	result_put_usage(b, u);
}

static void
put_more(struct buf *b, struct arena *a, const struct result_record *r,
    const struct result_trial *t)
{
	char when[RESULT_TIME_MAX];

	put_some(b, KEY("error_class"), str_of(result_class(t->status)));
	result_put_num(b, KEY("score"), t->score);
	result_put_num(b, KEY("weighted_score"), t->weighted);
	result_put_str(b, KEY("prompt"), r->prompt);
	if (r->answer != NULL)
		put_answer(b, a, r->answer);
	put_some(b, KEY("skills_way"), r->skills_way);
	put_some(b, KEY("note"), r->note);
	put_some(b, KEY("workspace"), r->workspace);
	if (r->started_ns != 0) {
		result_time(when, r->started_ns);
		result_put_str(b, KEY("started_at"), str_of(when));
	}
	if (r->verdicts != NULL)
		result_put_int(b, KEY("grading_ms"), grading_ms(r));
	put_judges(b, &r->judge_usage);
	if (r->earlier.answers > 0) {
		buf_put(b, KEY("earlier_usage"));
		result_put_usage(b, &r->earlier);
	}
	if (r->replayed)
		result_put_bool(b, KEY("replayed"), true);
}

static void
put_suspect(struct buf *b, struct arena *a, const struct result_record *r,
    const struct suspect_about *about)
{
	struct suspect s;

	if (about == NULL || !suspect_find(a, r, about, &s))
		return;
	buf_put(b, KEY("suspect"));
	suspect_put(b, &s);
}

static int64_t
number_of(const struct result_record *r)
{
	return r->number > 0 ? r->number : (int64_t)r->trial + 1;
}

/* The old trial with new verdicts: other members are unchanged. */
static void
put_regraded(struct buf *b, struct arena *a, const struct result_record *r,
    const struct result_trial *t, const struct suspect_about *about)
{
	static const char *const graded[] = { "run_number", "attempts",
	    "status", "validations", "error_msg", "error_class", "score",
	    "weighted_score", "note", "grading_ms", "judge_usage", "suspect",
	    NULL };
	struct json_out o = { .put = buf_sink, .ctx = b, .more = true };
	int64_t n;

	if (!result_int(r->previous, "run_number", &n))
		n = number_of(r);
	result_put_int(b, STR("{\"run_number\":"), n);
	result_put_int(b, KEY("attempts"), t->attempts);
	result_put_str(b, KEY("status"), str_of(result_word(t->status)));
	put_verdicts(b, a, r->verdicts, r->nverdicts);
	result_put_others(&o, r->previous, graded);
	put_some(b, KEY("error_msg"), r->error);
	put_some(b, KEY("error_class"), str_of(result_class(t->status)));
	result_put_num(b, KEY("score"), t->score);
	result_put_num(b, KEY("weighted_score"), t->weighted);
	put_some(b, KEY("note"), r->note);
	result_put_int(b, KEY("grading_ms"), grading_ms(r));
	put_judges(b, &r->judge_usage);
	put_suspect(b, a, r, about);
	buf_putc(b, '}');
}

void
result_put_trial(struct buf *b, struct arena *a,
    const struct result_record *r, const struct result_trial *t,
    const struct suspect_about *about)
{
	const struct answer *ans = r->answer;
	struct str why = r->error;

	if (r->previous != NULL) {
		put_regraded(b, a, r, t, about);
		return;
	}
	if (why.n == 0 && ans != NULL)
		why = ans->error;
	result_put_int(b, STR("{\"run_number\":"), number_of(r));
	result_put_int(b, KEY("attempts"), t->attempts);
	result_put_str(b, KEY("status"), str_of(result_word(t->status)));
	result_put_int(b, KEY("duration_ms"), t->duration_ms);
	put_verdicts(b, a, r->verdicts, r->nverdicts);
	put_digest(b, a, ans, result_is_error(t->status));
	if (ans != NULL)
		put_value(b, a, KEY("transcript"), ans->transcript);
	result_put_str(b, KEY("final_output"),
	    ans != NULL ? ans->output : STR(""));
	put_some(b, KEY("error_msg"), why);
	put_checks(b, a, r);
	put_more(b, a, r, t);
	put_suspect(b, a, r, about);
	buf_putc(b, '}');
}

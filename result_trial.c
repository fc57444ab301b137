/* SPDX-License-Identifier: ISC */
/*
 * result_trial.c: a trial as JSON, in the original's keys and their order,
 * ours after them.  It stands in the journal as it will in the results file.
 *
 * JSON from agents and graders is read and written anew, never passed on as
 * it came: a journal is one line a trial, and has to be valid.  What is not
 * JSON, or is nested so deeply that the results file could not be read back,
 * becomes a string.
 */
#include "result.h"

#include <stdlib.h>

#include "agent.h"
#include "grader.h"
#include "json.h"
#include "result_part.h"

enum { DEPTH = 100 };		/* of what is embedded: JSON_DEPTH less ours */

static void
put_text(struct json_out *o, struct str key, struct str s)
{
	json_put_key(o, key);
	json_put_str(o, s);
}

static void
put_int(struct json_out *o, struct str key, int64_t i)
{
	json_put_key(o, key);
	json_put_int(o, i);
}

static void
put_double(struct json_out *o, struct str key, double d)
{
	json_put_key(o, key);
	json_put_double(o, d);
}

static void
put_bool(struct json_out *o, struct str key, bool b)
{
	json_put_key(o, key);
	json_put_bool(o, b);
}

/* Omitted when empty. */
static void
put_some(struct json_out *o, struct str key, struct str s)
{
	if (s.n > 0)
		put_text(o, key, s);
}

static struct json *
read_value(struct arena *a, struct str s)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error e;

	return json_read(&mem, s, DEPTH, &e);
}

/* Omitted when empty; a string when it is not JSON. */
static void
put_value(struct json_out *o, struct arena *a, struct str key, struct str s)
{
	struct arena_mark mark = arena_save(a);
	struct json *v;

	if (s.n == 0)
		return;
	json_put_key(o, key);
	v = read_value(a, s);
	if (v != NULL)
		json_put(o, v);
	else
		json_put_str(o, s);
	arena_restore(a, mark);
}

static void
put_verdict(struct json_out *o, struct arena *a,
    const struct grader_verdict *v)
{
	json_put_key(o, v->name);
	json_open(o, '{');
	put_text(o, STR("identifier"), v->name);
	put_text(o, STR("type"), v->type);
	put_double(o, STR("score"), v->score);
	put_double(o, STR("weight"), v->weight);
	put_bool(o, STR("passed"), v->passed);
	put_text(o, STR("feedback"), v->feedback);
	put_value(o, a, STR("details"), v->details);
	put_int(o, STR("duration_ms"), v->duration_ms);
	put_some(o, STR("error"), v->error);
	json_close(o, '}');
}

static int
by_name(const void *a, const void *b)
{
	const struct grader_verdict *const *x = a, *const *y = b;

	return str_cmp((*x)->name, (*y)->name);
}

/* A map, sorted by name as Go's are; null where nothing was graded. */
static void
put_verdicts(struct json_out *o, struct arena *a,
    const struct result_record *r)
{
	const struct grader_verdict **v;
	size_t i;

	json_put_key(o, STR("validations"));
	if (r->verdicts == NULL) {
		json_put_null(o);
		return;
	}
	v = NEW_N(a, const struct grader_verdict *, r->nverdicts);
	for (i = 0; i < r->nverdicts; i++)
		v[i] = &r->verdicts[i];
	if (r->nverdicts > 1)
		qsort(v, r->nverdicts, sizeof(v[0]), by_name);
	json_open(o, '{');
	for (i = 0; i < r->nverdicts; i++)
		put_verdict(o, a, v[i]);
	json_close(o, '}');
}

/* The original keeps five arguments, as strings that are always there. */
static void
put_call(struct json_out *o, struct arena *a, const struct agent_call *c)
{
	static const char *const keys[] = { "path", "file_text", "command",
	    "description", "skill" };
	struct arena_mark mark = arena_save(a);
	const struct json *args = read_value(a, c->arguments), *v;
	size_t i;

	json_open(o, '{');
	put_text(o, STR("name"), c->name);
	json_put_key(o, STR("arguments"));
	json_open(o, '{');
	for (i = 0; i < COUNTOF(keys); i++) {
		v = json_getc(args, keys[i]);
		put_text(o, str_of(keys[i]), v != NULL &&
		    v->type == JSON_STRING ? json_text(v) : STR(""));
	}
	json_close(o, '}');
	put_value(o, a, STR("result"), c->result);
	put_bool(o, STR("success"), c->success);
	json_close(o, '}');
	arena_restore(a, mark);
}

/* All of the arguments, in the words of the original's later versions. */
static void
put_events(struct json_out *o, struct arena *a, const struct agent_answer *ans)
{
	const struct agent_call *c;
	int64_t n = 0;

	if (ans->calls == NULL)
		return;
	json_put_key(o, STR("tool_events"));
	json_open(o, '[');
	for (c = ans->calls; c != NULL; c = c->next) {
		json_open(o, '{');
		put_int(o, STR("sequence"), ++n);
		put_text(o, STR("tool_name"), c->name);
		put_value(o, a, STR("args"), c->arguments);
		put_value(o, a, STR("result"), c->result);
		put_bool(o, STR("success"), c->success);
		json_close(o, '}');
	}
	json_close(o, ']');
}

void
result_put_usage(struct json_out *o, const struct result_usage *u)
{
	json_put_key(o, STR("usage"));
	json_open(o, '{');
	put_int(o, STR("turns"), u->turns);
	put_int(o, STR("input_tokens"), u->input_tokens);
	put_int(o, STR("output_tokens"), u->output_tokens);
	put_int(o, STR("cache_read_tokens"), u->cache_read_tokens);
	put_int(o, STR("cache_write_tokens"), u->cache_write_tokens);
	put_double(o, STR("premium_requests"), u->premium_requests);
	if (u->cost > 0)
		put_double(o, STR("cost"), u->cost);
	json_close(o, '}');
}

static void
put_answer_usage(struct json_out *o, const struct agent_usage *u)
{
	const struct result_usage r = { u->turns, u->input_tokens,
	    u->output_tokens, u->cache_read_tokens, u->cache_write_tokens,
	    u->premium_requests, u->cost };

	if (u->known)
		result_put_usage(o, &r);
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

void
result_use(struct result_usage *u, const struct json *trial, int times)
{
	const struct json *v = json_getc(json_getc(trial, "session_digest"),
	    "usage");
	const struct {
		const char *key;
		int64_t *to;
	} ints[] = {
		{ "turns", &u->turns },
		{ "input_tokens", &u->input_tokens },
		{ "output_tokens", &u->output_tokens },
		{ "cache_read_tokens", &u->cache_read_tokens },
		{ "cache_write_tokens", &u->cache_write_tokens },
	};
	int64_t n;
	double d;
	size_t i;

	if (v == NULL)
		return;
	for (i = 0; i < COUNTOF(ints); i++)
		if (result_int(v, ints[i].key, &n))
			*ints[i].to = (int64_t)((uint64_t)*ints[i].to +
			    (uint64_t)n * (uint64_t)times);
	if (result_num(v, "premium_requests", &d))
		u->premium_requests += d * times;
	if (result_num(v, "cost", &d))
		u->cost += d * times;
}

static void
put_names(struct json_out *o, struct str key, const struct agent_answer *ans)
{
	const struct agent_call *c;

	json_put_key(o, key);
	if (ans == NULL || ans->calls == NULL) {
		json_put_null(o);
		return;
	}
	json_open(o, '[');
	for (c = ans->calls; c != NULL; c = c->next)
		json_put_str(o, c->name);
	json_close(o, ']');
}

static void
put_digest(struct json_out *o, struct arena *a, const struct agent_answer *ans,
    bool error)
{
	const struct agent_call *c;
	int64_t n = 0;

	for (c = ans == NULL ? NULL : ans->calls; c != NULL; c = c->next)
		n++;
	json_put_key(o, STR("session_digest"));
	json_open(o, '{');
	put_int(o, STR("tool_call_count"), n);
	put_names(o, STR("tools_used"), ans);
	if (n > 0) {
		json_put_key(o, STR("tool_calls"));
		json_open(o, '[');
		for (c = ans->calls; c != NULL; c = c->next)
			put_call(o, a, c);
		json_close(o, ']');
	}
	json_put_key(o, STR("errors"));
	json_put_raw(o, error ? STR("null") : STR("[]"));
	if (ans != NULL) {
		put_answer_usage(o, &ans->usage);
		put_some(o, STR("session_id"), ans->session_id);
	}
	json_close(o, '}');
}

/* What the original does not have. */
static void
put_more(struct json_out *o, struct arena *a, const struct result_record *r,
    const struct result_trial *t)
{
	const struct agent_answer *ans = r->answer;
	char when[RESULT_TIME_MAX];
	int64_t ms = 0;
	size_t i;

	put_some(o, STR("error_class"), str_of(result_class(t->status)));
	put_double(o, STR("score"), t->score);
	put_double(o, STR("weighted_score"), t->weighted);
	put_text(o, STR("prompt"), r->prompt);
	if (ans != NULL) {
		put_events(o, a, ans);
		if (ans->skills.n > 0) {
			json_put_key(o, STR("skills"));
			json_open(o, '[');
			for (i = 0; i < ans->skills.n; i++)
				json_put_str(o, ans->skills.v[i]);
			json_close(o, ']');
		}
		put_some(o, STR("stderr_tail"), ans->stderr_tail);
		if (ans->exit_status >= 0)
			put_int(o, STR("exit_status"), ans->exit_status);
		if (ans->truncated)
			put_bool(o, STR("truncated"), true);
	}
	put_some(o, STR("note"), r->note);
	if (r->started_ns != 0) {
		result_time(when, r->started_ns);
		put_text(o, STR("started_at"), str_of(when));
	}
	if (r->verdicts != NULL) {
		for (i = 0; i < r->nverdicts; i++)
			ms += r->verdicts[i].duration_ms;
		put_int(o, STR("grading_ms"), ms);
	}
}

void
result_put_trial(struct json_out *o, struct arena *a,
    const struct result_record *r, const struct result_trial *t)
{
	const struct agent_answer *ans = r->answer;
	bool error = result_is_error(t->status);
	struct str why = r->error;

	if (why.n == 0 && ans != NULL)
		why = ans->error;
	json_open(o, '{');
	put_int(o, STR("run_number"), (int64_t)r->trial + 1);
	put_int(o, STR("attempts"), t->attempts);
	put_text(o, STR("status"), str_of(result_word(t->status)));
	put_int(o, STR("duration_ms"), t->duration_ms);
	put_verdicts(o, a, r);
	put_digest(o, a, ans, error);
	if (ans != NULL)
		put_value(o, a, STR("transcript"), ans->transcript);
	put_text(o, STR("final_output"), ans != NULL ? ans->output : STR(""));
	put_some(o, STR("error_msg"), why);
	put_more(o, a, r, t);
	json_close(o, '}');
}

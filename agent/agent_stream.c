/* SPDX-License-Identifier: ISC */
/*
 * The output of a program, line by line.
 *
 * Lines that are not JSON objects are ignored: programs print other things.
 * Output without any event may be one JSON document on several lines; if it is
 * not, it is plain text.
 */
#include "agent/agent_internal.h"

#include <string.h>

#include "json.h"
#include "lib/mask/mask.h"

enum {
	LINE_MAX_BYTES = 8 << 20,	/* bytes of one event */
	ALL_MAX = 1 << 20,		/* bytes of a document */
	HEAD_MAX = 512,			/* of an event, with its type */
	FIND_MAX = 1000,		/* last calls that can get a result */
	CALLS_MAX = 10000,		/* calls, and skills */
	KEEP_MAX = 32 << 20		/* bytes of calls and skills */
};

static const struct agent_format formats[] = {	/* sorted by name */
	{ "claude", agent_read_claude, false, "result" },
	{ "codex", agent_read_codex, false, "turn.completed" },
	{ "copilot", agent_read_copilot, false, "result" },
	{ "gemini", agent_read_gemini, false, "result" },
	{ "json", agent_read_json, true, NULL },
	{ "opencode", agent_read_opencode, false, "step_finish" },
	{ "qwen", agent_read_qwen, false, "result" },
	{ "text", NULL, false, NULL },
};

const struct agent_format *
agent_format(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(formats); i++)
		if (str_is(name, formats[i].name))
			return &formats[i];
	return NULL;
}

const char *
agent_format_names(void)
{
	return "text, json, claude, codex, copilot, gemini, opencode or "
	    "qwen";
}

void
agent_stream_init(struct agent_stream *s, struct agent_job *j,
    const struct agent_format *f, const struct mask *secrets)
{
	*s = (struct agent_stream){ .job = j, .format = f,
		.secrets = secrets };
	s->tail = &j->ans.calls;
	s->line.max = LINE_MAX_BYTES;
	s->all.max = ALL_MAX;
}

/* False if the text is not a JSON object; *e is the place, if not NULL. */
static bool
read_object(struct agent_stream *s, struct str text, struct json_error *e)
{
	struct arena tmp = { 0 };
	const struct json *v = arena_json(&tmp, text, e);
	bool ok = v != NULL && v->type == JSON_OBJECT;

	if (ok) {
		s->events++;
		s->format->read(s, v);
	}
	arena_free(&tmp);
	return ok;
}

/* An object with a key; other lines with a brace are logs, as "{ a: 1 }". */
static bool
is_event(struct str line)
{
	size_t i = 1;

	while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
		i++;
	return i < line.n && line.p[0] == '{' && line.p[i] == '"';
}

/*
 * Whether an event that could not be read may have been text of the answer.
 * The head of one about a tool tells that it was not; quotes inside of text
 * are escaped.
 */
static bool
may_answer(struct str line)
{
	static const char *const others[] = { "command_execution",
		"file_change", "mcp_tool_call", "tool.execution_complete",
		"tool.execution_start", "tool_result", "tool_use", "user" };
	struct str head = { line.p, line.n < HEAD_MAX ? line.n : HEAD_MAX };
	struct str type;
	size_t i;

	if (!is_event(head))
		return head.n == 0;
	for (; head.n > 0; head.p++, head.n--) {
		if (!str_starts(head, STR("\"type\":\"")))
			continue;
		type = (struct str){ head.p + 8, head.n - 8 };
		for (i = 0; i < COUNTOF(others); i++)
			if (str_starts(type, str_of(others[i])) &&
			    type.n > strlen(others[i]) &&
			    type.p[strlen(others[i])] == '"')
				return false;
	}
	return true;
}

/* Of a line that is too long, only the beginning is there. */
static void
read_line(struct agent_stream *s, struct str line)
{
	bool full = s->line.full, brace, ok;

	if (s->lines++ == 0)
		line = str_after_bom(line);
	brace = line.n > 0 && line.p[0] == '{';
	ok = !full && brace && read_object(s, line, NULL);
	if (ok || (!full && str_trim(line).n == 0))
		return;
	if (s->bad_line == 0)
		s->bad_line = s->lines;
	s->lost = s->lost || brace || full;
	if ((brace || full) && s->gap == 0 && may_answer(line))
		s->gap = s->lines;
}

void
agent_stream_put(struct agent_stream *s, struct str in)
{
	const char *eol;
	size_t n;

	if (s->events == 0)
		buf_put(&s->all, in);
	while ((eol = in.n > 0 ? memchr(in.p, '\n', in.n) : NULL) != NULL) {
		n = (size_t)(eol - in.p);
		if (s->line.n == 0 && !s->line.full)
			read_line(s, (struct str){ in.p, n });
		else {
			buf_put(&s->line, (struct str){ in.p, n });
			read_line(s, buf_str(&s->line));
			s->line.n = 0;
			s->line.full = false;
		}
		in.p += n + 1;
		in.n -= n + 1;
	}
	buf_put(&s->line, in);
}

/* The output may be one document over several lines. */
static void
read_document(struct agent_stream *s, struct json_error *e)
{
	struct str all = buf_str(&s->all);

	*e = (struct json_error){ .msg = NULL };
	if (read_object(s, str_after_bom(all), e)) {
		s->bad_line = s->gap = 0;
		s->lost = false;
	} else
		agent_stream_text(s, all);
}

/* Fails the answer of a strict format that is not what it should be. */
static void
check_strict(struct agent_stream *s, const struct json_error *e)
{
	struct agent_job *j = s->job;
	const char *format = s->format->name;

	if (s->events == 0 && s->all.full)
		agent_fail(j, ANSWER_FAILED, "the output is not %s: neither "
		    "an object on each line nor a document of at most %d MiB",
		    format, ALL_MAX >> 20);
	else if (s->events == 0 && str_trim(buf_str(&s->all)).n == 0)
		agent_fail(j, ANSWER_FAILED, "the output is empty; "
		    "output_format \"%s\" needs an object with \"output\"",
		    format);
	else if (s->events == 0 && e->msg != NULL)
		agent_fail(j, ANSWER_FAILED, "the output is not %s: %s at line "
		    "%u, column %u", format, e->msg, e->line, e->col);
	else if (s->events == 0)
		agent_fail(j, ANSWER_FAILED, "the output is not an object");
	else if (s->bad_line > 0)
		agent_fail(j, ANSWER_FAILED, "line %zu of the output is not "
		    "a JSON object; logs belong on standard error",
		    s->bad_line);
	else if (!s->answered)
		agent_fail(j, ANSWER_FAILED, "the output has no answer: "
		    "\"output\" is missing or not a string");
}

static void
finish_calls(struct agent_stream *s)
{
	struct answer *ans = &s->job->ans;
	struct answer_call *c;

	for (c = ans->calls; c != NULL; c = c->next) {
		c->no_result = c->result.n == 0;
		c->denied = c->denied && !c->success;
		answer_classify(s->job->arena, c, str_of(s->format->name));
	}
	/* text instead of events, or an object without a list of calls */
	ans->no_calls = s->events == 0 || s->summary || s->lost || s->orphan ||
	    (s->format->strict && !s->listed);
	ans->skills_lost = s->lost || s->orphan;
	if (s->lost)	/* the counts are too low */
		ans->usage.known = ans->usage.turns_known = false;
}

/* Text without any event may be an answer; half an event is not. */
static bool
is_cut(const struct agent_stream *s)
{
	return s->format->last != NULL && !s->ended &&
	    (s->events > 0 || s->lost);
}

/* The model was not asked, or failed. */
static bool
is_empty(const struct answer *ans)
{
	return str_trim(ans->output).n == 0 && ans->ncalls == 0 &&
	    !ans->usage.known && !ans->refused;
}

void
agent_stream_end(struct agent_stream *s)
{
	struct agent_job *j = s->job;
	struct json_error e = { .msg = NULL };

	read_line(s, buf_str(&s->line));
	if (s->events == 0 && !s->all.full)
		read_document(s, &e);
	j->ans.output = arena_str(j->arena, buf_str(&s->text));
	finish_calls(s);
	agent_put_transcript(j);
	if (s->error.n > 0)
		agent_fail(j, ANSWER_FAILED, "%.*s", STRF(s->error));
	else if (s->format->strict && j->ans.fault == ANSWER_OK)
		check_strict(s, &e);
	else if (j->ans.fault == ANSWER_OK && is_cut(s))
		agent_fail(j, ANSWER_FAILED, "the output ended early: its "
		    "last event, \"%s\", is missing", s->format->last);
	else if (j->ans.fault == ANSWER_OK && s->gap > 0)
		agent_fail(j, ANSWER_FAILED, "line %zu of the output could not "
		    "be read, because it is too long or damaged: the answer "
		    "may be incomplete", s->gap);
	else if (j->ans.fault == ANSWER_OK && s->limit.n > 0)
		agent_fail_cut(j, s->limit);
	else if (j->ans.fault == ANSWER_OK && is_empty(&j->ans))
		agent_fail(j, ANSWER_FAILED, "the agent ended without an "
		    "answer, a tool call or token usage");
	buf_free(&s->line);
	buf_free(&s->text);
	buf_free(&s->all);
}

static void
send_event(struct agent_stream *s, enum agent_event what, struct str detail)
{
	if (s->job->event != NULL)
		s->job->event(s->job->arg, what, mask_text(s->job->arena,
		    s->secrets, detail));
}

void
agent_stream_text(struct agent_stream *s, struct str text)
{
	if (s->final || text.n == 0)
		return;
	if (s->text.n == 0)
		send_event(s, AGENT_TEXT, STR("answering"));
	buf_put(&s->text, text);
}

void
agent_stream_restart(struct agent_stream *s)
{
	s->text.n = 0;
	s->gap = 0;
}

void
agent_stream_settle(struct agent_stream *s, struct str text)
{
	agent_stream_restart(s);
	s->final = false;
	agent_stream_text(s, text);
	s->final = true;
}

void
agent_stream_fail(struct agent_stream *s, struct str why)
{
	if (s->error.n > 0)
		return;
	if (why.n == 0)
		why = STR("the agent reported a failure");
	why = mask_text(s->job->arena, s->secrets, why);
	s->error = arena_str(s->job->arena,
	    arena_head(s->job->arena, why, REASON_MAX));
}

void
agent_stream_stop(struct agent_stream *s, struct str reason)
{
	s->limit = agent_is_limit(reason) ? arena_str(s->job->arena, reason) :
	    STR("");
}

/* Counts n more bytes; false ends the agent: it reported too much. */
static bool
keep(struct agent_stream *s, size_t n)
{
	s->kept += n;
	if (s->kept <= KEEP_MAX && s->job->ans.ncalls < CALLS_MAX &&
	    s->job->ans.skills.n < CALLS_MAX)
		return true;
	if (!s->full)
		s->error = arena_fmt(s->job->arena, "the agent reported more "
		    "than %d MiB about its tools, or more than %d calls",
		    KEEP_MAX >> 20, CALLS_MAX);
	s->full = true;
	return false;
}

static struct str
text_of(struct agent_stream *s, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct str text;

	json_put(&o, v);
	text = keep(s, b.n) ? arena_str(s->job->arena, buf_str(&b)) :
	    STR("null");
	buf_free(&b);
	return text;
}

struct answer_call *
agent_stream_find(struct agent_stream *s, struct str id)
{
	struct agent_stream_call *c;
	size_t n = 0;

	for (c = s->last; c != NULL && n < FIND_MAX; c = c->prev, n++)
		if (str_eq(c->id, id))
			return &c->call;
	return NULL;
}

struct answer_call *
agent_stream_call(struct agent_stream *s, struct str id, struct str name,
    const struct json *arguments)
{
	struct arena *a = s->job->arena;
	struct answer_call *known = id.n > 0 ? agent_stream_find(s, id) : NULL;
	struct agent_stream_call *c;

	if (known != NULL) {
		if (arguments != NULL) {
			known->arguments = text_of(s, arguments);
			known->no_arguments = false;
		}
		return known;
	}
	if (!keep(s, id.n + name.n + sizeof(*c)))
		return NULL;
	c = NEW(a, struct agent_stream_call);
	c->id = arena_str(a, id);
	c->call.name = arena_str(a, name);
	c->call.arguments = arguments != NULL ? text_of(s, arguments) :
	    STR("{}");
	c->call.no_arguments = arguments == NULL;
	c->prev = s->last;
	s->last = c;
	*s->tail = &c->call;
	s->tail = &c->call.next;
	s->job->ans.ncalls++;
	send_event(s, AGENT_TOOL, c->call.name);
	return &c->call;
}

void
agent_stream_hide(struct agent_stream *s, struct str id)
{
	struct arena *a = s->job->arena;
	struct agent_stream_call *c;

	if (!keep(s, id.n + sizeof(*c)))
		return;
	c = NEW(a, struct agent_stream_call);
	c->id = arena_str(a, id);
	c->call.name = STR("");
	c->call.arguments = STR("{}");
	c->prev = s->last;
	s->last = c;
}

/* A skill is used when it was loaded; an event may have reported it. */
static void
add_loaded(struct agent_stream *s, struct str name)
{
	const struct field_strs *all = &s->job->ans.skills;
	size_t i;

	for (i = 0; i < all->n; i++)
		if (str_eq(all->v[i], name))
			return;
	agent_stream_skill(s, name);
}

void
agent_stream_result(struct agent_stream *s, struct answer_call *c,
    const struct json *result, bool success)
{
	if (c == NULL) {
		s->orphan = true;
		return;
	}
	if (json_is_set(result))
		c->result = text_of(s, result);
	c->success = success;
	answer_classify(s->job->arena, c, str_of(s->format->name));
	if (c->tool == ANSWER_SKILL && success)
		add_loaded(s, c->skill);
}

void
agent_stream_skill(struct agent_stream *s, struct str name)
{
	if (name.n > 0 && keep(s, name.n))
		agent_add_skill(s->job, name);
}

void
agent_stream_add(int64_t *sum, const struct json *obj, const char *key)
{
	int64_t n;

	if (json_int(json_getc(obj, key), &n) && n > 0 && n < INT64_MAX / 2 &&
	    *sum < INT64_MAX / 2)
		*sum += n;
}

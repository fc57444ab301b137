/* SPDX-License-Identifier: ISC */
/*
 * double_copilot: replaces `copilot --headless --stdio` in tests, with the
 * protocol of its SDK.  Sessions run in parallel, as in the real one.  The
 * prompt contains directives:
 *
 *	[[say:TEXT]]		answers it; [[params]]: the parameters of
 *				session.create, [[env:NAME]]: a variable
 *	[[write:PATH|TEXT]]	writes a file, if permitted
 *	[[outside:PATH|TEXT]]	the same, with two requests
 *	[[shell:TEXT]]		asks to run a command, but does not run it
 *	[[tool:NAME|JSON]]	calls a tool of the client
 *	[[skill:NAME]] [[intent]] [[delta]] [[sub]] [[early]] [[late]] [[noise]]
 *	[[request]]		sends an unknown request, and waits
 *	[[hook:TOOL]]		asks the hook before a call, answers the reply
 *	[[nameless]]		[[write:...]], [[shell:...]]: the request names no call
 *	[[error:TYPE|TEXT]] [[abort]] [[badsend]]
 *	[[cut]]			its last call of the model reaches a limit
 *	[[orphan]]		sends the result of a call that was not sent
 *	[[leak]]		sends an error that contains its secrets
 *	[[hang]] until session.abort, [[deaf]] even after that
 *	[[crash:STATUS]] [[kill]] [[garbage]] [[flood]] [[calls]]
 *
 * DOUBLE_LOG names a file that gets a line for each start, session request and
 * end.  DOUBLE_PROTOCOL, DOUBLE_NO_CONNECT, DOUBLE_NO_AUTH, DOUBLE_EXIT,
 * DOUBLE_MUTE, DOUBLE_REFUSE (a method) and DOUBLE_BAD_CREATE (mute: no answer)
 * make the start fail.
 * DOUBLE_PLAY names a recorded session, which is played instead.
 * DOUBLE_COUNTED: each call has 1000 tokens in, 200 of them cached, and 50 out.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "json.h"
#include "test/tool/help.h"

enum { SESSIONS = 256 };

enum step { IDLE, PERMISSION, SECOND, TOOL, REQUEST, HANG, DEAF };

struct session {
	char id[64];
	enum step step;
	char prompt[4096], params[16384], dir[1000];
	int calls;
	int asked;
};

static struct session sessions[SESSIONS];

static void
note(const char *what)
{
	const char *path = getenv("DOUBLE_LOG");
	FILE *f = path == NULL ? NULL : fopen(path, "a");

	if (f == NULL)
		return;
	fprintf(f, "%s\n", what);
	fclose(f);
}

static void
out(struct str s)
{
	ssize_t n;

	while (s.n > 0) {
		n = write(1, s.p, s.n);
		if (n < 0 && errno != EINTR)
			exit(1);
		if (n < 0)
			continue;
		s.p += n;
		s.n -= (size_t)n;
	}
}

static void
frame(struct str body)
{
	struct buf b = { 0 };

	buf_fmt(&b, "Content-Length: %zu\r\n\r\n", body.n);
	buf_put(&b, body);
	out(buf_str(&b));
	buf_free(&b);
}

/* The text as a JSON string, for %s; a few at a time. */
static const char *
quote(struct str s)
{
	static struct buf ring[8];
	static unsigned at;
	struct buf *b = &ring[at++ % COUNTOF(ring)];
	struct json_out o = { .put = buf_sink, .ctx = b };

	b->n = 0;
	json_put_str(&o, s);
	buf_putc(b, '\0');
	return b->p;
}

static char text[4 << 20];	/* of the message being formatted */

static void PRINTF(1, 2)
send_text(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	frame(str_of(text));
}

/* An id is a number or a string. */
static const char *
source(const struct json *id)
{
	static char number[40];

	snprintf(number, sizeof(number), "%.*s", STRF(json_text(id)));
	return id->type == JSON_STRING ? quote(json_text(id)) : number;
}

static void
reply(const struct json *id, const char *result)
{
	send_text("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", source(id),
	    result);
}

static void
refuse(const struct json *id, int code, const char *msg)
{
	send_text("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,"
	    "\"message\":%s}}", source(id), code, quote(str_of(msg)));
}

/* The data are JSON; agent is the id of a subagent, or NULL. */
static void PRINTF(4, 5)
event_of(struct session *s, const char *agent, const char *type,
    const char *fmt, ...)
{
	static char data[sizeof(text) - 1000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(data, sizeof(data), fmt, ap);
	va_end(ap);
	send_text("{\"jsonrpc\":\"2.0\",\"method\":\"session.event\","
	    "\"params\":{\"sessionId\":\"%s\",\"event\":{\"type\":\"%s\","
	    "\"data\":%s,\"id\":\"x\",\"parentId\":null%s%s%s}}}", s->id,
	    type, data, agent != NULL ? ",\"agentId\":\"" : "",
	    agent != NULL ? agent : "", agent != NULL ? "\"" : "");
}

#define event(s, type, ...) event_of(s, NULL, type, __VA_ARGS__)

/* The argument of [[name:...]] in the prompt; false: it is not there. */
static bool
directive(const struct session *s, const char *name, struct str *arg)
{
	char open[40];
	const char *p, *end;

	snprintf(open, sizeof(open), "[[%s", name);
	for (p = s->prompt; (p = strstr(p, open)) != NULL; p++) {
		p += strlen(open);
		if (*p != ':' && *p != ']')
			continue;
		p += *p == ':';
		end = strstr(p, "]]");
		if (end == NULL)
			return false;
		*arg = (struct str){ p, (size_t)(end - p) };
		return true;
	}
	return false;
}

static bool
has_directive(const struct session *s, const char *name)
{
	struct str arg;

	return directive(s, name, &arg);
}

static void
split(struct str both, struct str *first, struct str *second)
{
	const char *bar = memchr(both.p, '|', both.n);

	*first = both;
	*second = STR("");
	if (bar == NULL)
		return;
	first->n = (size_t)(bar - both.p);
	*second = (struct str){ bar + 1, both.n - first->n - 1 };
}

static void
usage(struct session *s)
{
	s->calls++;
	if (getenv("DOUBLE_COUNTED") != NULL)
		event(s, "assistant.usage", "{\"inputTokens\":1000,"
		    "\"outputTokens\":50,\"cacheReadTokens\":200,"
		    "\"cacheWriteTokens\":0}");
	else
		event(s, "assistant.usage", "{\"inputTokens\":11,"
		    "\"outputTokens\":7,\"cacheReadTokens\":1,"
		    "\"cacheWriteTokens\":0,\"cost\":0.5}");
}

static void
idle(struct session *s, bool aborted)
{
	s->step = IDLE;
	event(s, "assistant.idle", "{}");
	event(s, "session.idle", aborted ? "{\"aborted\":true}" : "{}");
}

static void
message(struct session *s, struct str content, const char *agent)
{
	event_of(s, agent, "assistant.message", "{\"messageId\":\"m\","
	    "\"content\":%s,\"toolRequests\":[]}", quote(content));
}

static void
tool_end(struct session *s, bool ok, const char *words)
{
	if (ok)
		event(s, "tool.execution_complete", "{\"toolCallId\":"
		    "\"call-1\",\"success\":true,\"result\":{\"content\":%s}}",
		    quote(str_of(words)));
	else
		event(s, "tool.execution_complete", "{\"toolCallId\":"
		    "\"call-1\",\"success\":false,\"error\":{\"message\":%s,"
		    "\"code\":\"denied\"}}", quote(str_of(words)));
}

static void
conclude(struct session *s, const char *before)
{
	struct buf b = { 0 };
	struct str arg;
	const char *v;

	buf_puts(&b, before);
	if (directive(s, "say", &arg))
		buf_put(&b, arg);
	if (directive(s, "env", &arg)) {
		char name[100];

		snprintf(name, sizeof(name), "%.*s", STRF(arg));
		v = getenv(name);
		buf_fmt(&b, "%s is %s", name, v != NULL ? v : "unset");
	}
	if (has_directive(s, "params"))
		buf_puts(&b, s->params);
	if (has_directive(s, "orphan"))
		tool_end(s, true, "x");
	usage(s);
	if (has_directive(s, "cut"))
		event(s, "assistant.usage", "{\"finishReason\":\"length\","
		    "\"inputTokens\":1,\"outputTokens\":1}");
	message(s, buf_str(&b), NULL);
	event(s, "assistant.turn_end", "{\"turnId\":\"1\"}");
	idle(s, false);
	buf_free(&b);
}

static void
tool_start(struct session *s, const char *id, struct str name, struct str args)
{
	event(s, "tool.execution_start", "{\"toolCallId\":\"%s\","
	    "\"toolName\":%s,\"arguments\":%.*s}", id, quote(name),
	    STRF(args));
}

static void
ask_permission(struct session *s, const char *kind, const char *key,
    struct str value, const char *prompt)
{
	bool path = strcmp(prompt, "path") == 0;

	event(s, "permission.requested", "{\"requestId\":\"r-%d\","
	    "\"permissionRequest\":{\"kind\":\"%s\",\"toolCallId\":"
	    "\"%s\",\"%s\":%s},\"promptRequest\":{\"kind\":\"%s\"%s%s%s}}",
	    ++s->asked, kind, has_directive(s, "nameless") ? "" : "call-1",
	    key, quote(value), prompt,
	    path ? ",\"paths\":[" : "", path ? quote(value) : "",
	    path ? "]" : "");
}

static void
create_file(struct session *s, struct str path, struct str words)
{
	char name[3000];
	FILE *f;

	snprintf(name, sizeof(name), "%s%s%.*s", *path.p == '/' ? "" : s->dir,
	    *path.p == '/' ? "" : "/", STRF(path));
	f = fopen(name, "w");
	if (f == NULL) {
		tool_end(s, false, strerror(errno));
		conclude(s, "failed: ");
		return;
	}
	fwrite(words.p, 1, words.n, f);
	fclose(f);
	tool_end(s, true, "Created file");
	conclude(s, "done: ");
}

static void
permission(struct session *s, const struct json *params)
{
	const struct json *v = json_getc(json_getc(params, "result"), "kind");
	struct str arg = STR(""), path, words;
	bool ok = v != NULL && str_is(json_text(v), "approve-once");

	if (!directive(s, "write", &arg))
		directive(s, "outside", &arg);
	split(arg, &path, &words);
	if (!ok) {
		tool_end(s, false, "Permission denied");
		conclude(s, "denied: ");
	} else if (s->step == SECOND) {
		s->step = PERMISSION;
		ask_permission(s, "write", "fileName", path, "write");
	} else if (has_directive(s, "shell")) {
		tool_end(s, true, "ran");
		conclude(s, "ran: ");
	} else
		create_file(s, path, words);
}

static void
ask_tool(struct session *s, struct str arg)
{
	struct str name, args;

	split(arg, &name, &args);
	if (args.n == 0)
		args = STR("{}");
	tool_start(s, "call-1", name, args);
	s->step = TOOL;
	event(s, "external_tool.requested", "{\"requestId\":\"t-1\","
	    "\"sessionId\":\"%s\",\"toolCallId\":\"call-1\",\"toolName\":%s,"
	    "\"arguments\":%.*s}", s->id, quote(name), STRF(args));
}

/* Events before the answer. */
static void
preamble(struct session *s)
{
	struct str arg;

	if (has_directive(s, "noise"))
		out(STR("warning: not a message\nand more\r\n"));
	if (has_directive(s, "delta"))
		event(s, "assistant.message_delta",
		    "{\"deltaContent\":\"part\"}");
	if (has_directive(s, "sub")) {
		message(s, STR("of a sub-agent"), "sub-1");
		event_of(s, "sub-1", "session.idle", "{}");
	}
	if (has_directive(s, "intent"))
		tool_start(s, "call-0", STR("report_intent"), STR("{}"));
	if (directive(s, "skill", &arg))
		event(s, "skill.invoked", "{\"name\":%s,\"source\":"
		    "\"custom\"}", quote(arg));
}

static void
flood(struct session *s)
{
	static char big[1 << 20];
	int i;

	memset(big, 'x', sizeof(big) - 1);
	for (i = 0; i < 200; i++)
		message(s, (struct str){ big, sizeof(big) - 1 }, NULL);
}

static void
many_calls(struct session *s)
{
	char id[20];
	int i;

	for (i = 0; i < 20000; i++) {
		snprintf(id, sizeof(id), "c%d", i);
		tool_start(s, id, STR("bash"), STR("{}"));
	}
}

static void
leak(struct session *s)
{
	const char *key = strstr(s->params, "\"apiKey\":\"");
	const char *token = getenv("COPILOT_SDK_AUTH_TOKEN");
	struct buf b = { 0 };

	key = key == NULL ? "" : key + 10;
	buf_fmt(&b, "bad key %.*s, %s", (int)strcspn(key, "\""), key,
	    token != NULL ? token : "");
	fprintf(stderr, "bad key %.*s\n", (int)strcspn(key, "\""), key);
	message(s, buf_str(&b), NULL);
	event(s, "session.error", "{\"errorType\":\"query\",\"message\":%s}",
	    quote(buf_str(&b)));
	buf_free(&b);
	idle(s, false);
}

/* Directives that end the turn, or never end it. */
static bool
misbehave(struct session *s)
{
	struct str arg, type, words;

	if (directive(s, "crash", &arg)) {
		fprintf(stderr, "double: dying as told\n");
		note("end by crash");
		exit(atoi(arg.p));
	} else if (has_directive(s, "kill"))
		raise(SIGKILL);
	else if (has_directive(s, "garbage"))
		out(STR("Content-Length: 99999999999\r\n\r\n"));
	else if (has_directive(s, "flood"))
		flood(s);
	else if (has_directive(s, "calls"))
		many_calls(s);
	else if (directive(s, "error", &arg)) {
		split(arg, &type, &words);
		event(s, "session.error", "{\"errorType\":%s,\"message\":%s}",
		    quote(type), quote(words));
		idle(s, false);
		return true;
	} else if (has_directive(s, "leak")) {
		leak(s);
		return true;
	} else if (has_directive(s, "abort")) {
		event(s, "abort", "{\"reason\":\"user_initiated\"}");
		idle(s, false);
		return true;
	} else if (!has_directive(s, "hang") && !has_directive(s, "deaf"))
		return false;
	s->step = has_directive(s, "deaf") ? DEAF : HANG;
	return true;
}

static void
turn(struct session *s)
{
	struct str arg, path, words;

	event(s, "user.message", "{\"content\":\"x\"}");
	event(s, "assistant.turn_start", "{\"turnId\":\"0\"}");
	preamble(s);
	if (misbehave(s))
		return;
	if (has_directive(s, "request")) {
		s->step = REQUEST;
		send_text("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":"
		    "\"hooks.invoke\",\"params\":{}}", s->id);
	} else if (directive(s, "hook", &arg)) {
		s->step = REQUEST;
		send_text("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":"
		    "\"hooks.invoke\",\"params\":{\"sessionId\":\"%s\","
		    "\"hookType\":\"preToolUse\",\"input\":{\"toolName\":"
		    "\"%.*s\"}}}", s->id, s->id, STRF(arg));
	} else if (directive(s, "tool", &arg))
		ask_tool(s, arg);
	else if (directive(s, "outside", &arg) ||
	    directive(s, "write", &arg)) {
		split(arg, &path, &words);
		usage(s);
		tool_start(s, "call-1", STR("create"), STR("{\"a\":[1,{}]}"));
		s->step = has_directive(s, "outside") ? SECOND : PERMISSION;
		ask_permission(s, "write", "fileName", path,
		    has_directive(s, "outside") ? "path" : "write");
	} else if (directive(s, "shell", &arg)) {
		tool_start(s, "call-1", STR("bash"), STR("{}"));
		s->step = PERMISSION;
		ask_permission(s, "shell", "fullCommandText", arg, "commands");
	} else
		conclude(s, "");
}

static struct session *
find(struct str id)
{
	size_t i;

	for (i = 0; i < SESSIONS; i++)
		if (sessions[i].id[0] != '\0' && str_is(id, sessions[i].id))
			return &sessions[i];
	return NULL;
}

static void
create(const struct json *id, const struct json *params)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const char *bad = getenv("DOUBLE_BAD_CREATE");
	char result[100];
	struct session *s;
	size_t i;

	if (bad != NULL && strcmp(bad, "mute") == 0)
		return;
	if (bad != NULL) {
		refuse(id, -32603, "Request session.create failed");
		return;
	}
	for (i = 0; i < SESSIONS && sessions[i].id[0] != '\0'; i++)
		;
	if (i == SESSIONS) {
		refuse(id, -32603, "too many sessions");
		return;
	}
	s = &sessions[i];
	*s = (struct session){ .step = IDLE };
	snprintf(s->id, sizeof(s->id), "%.*s",
	    STRF(json_text(json_getc(params, "sessionId"))));
	if (json_getc(params, "workingDirectory") != NULL)
		snprintf(s->dir, sizeof(s->dir), "%.*s",
		    STRF(json_text(json_getc(params, "workingDirectory"))));
	json_put(&o, params);
	snprintf(s->params, sizeof(s->params), "%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	/* before the reply, as the real one does */
	event(s, "session.start", "{}");
	snprintf(result, sizeof(result), "{\"sessionId\":\"%s\"}", s->id);
	reply(id, result);
}

static void
destroy(struct session *s, const struct json *id)
{
	if (s->step == DEAF)
		return;
	if (getenv("DOUBLE_COUNTED") != NULL) {
		event(s, "session.shutdown", "{\"modelMetrics\":{\"a\":{"
		    "\"usage\":{\"inputTokens\":%d,\"outputTokens\":%d,"
		    "\"cacheReadTokens\":%d}}}}", 1000 * s->calls,
		    50 * s->calls, 200 * s->calls);
		reply(id, "{\"success\":true}");
		return;
	}
	event(s, "session.shutdown", "{\"totalPremiumRequests\":3,"
	    "\"modelMetrics\":{\"a\":{\"usage\":{\"inputTokens\":%d,"
	    "\"outputTokens\":%d}},\"b\":{\"usage\":{\"inputTokens\":100,"
	    "\"outputTokens\":1,\"cacheReadTokens\":5}}}}", 11 * s->calls,
	    7 * s->calls);
	reply(id, "{\"success\":true}");
}

static void
send_prompt(struct session *s, const struct json *id,
    const struct json *params)
{
	snprintf(s->prompt, sizeof(s->prompt), "%.*s",
	    STRF(json_text(json_getc(params, "prompt"))));
	if (has_directive(s, "badsend")) {
		refuse(id, -32603, "Request session.send failed");
		return;
	}
	if (!has_directive(s, "early") && !has_directive(s, "late"))
		reply(id, "{\"messageId\":\"m\"}");
	turn(s);
	if (has_directive(s, "late"))		/* although it has answered */
		refuse(id, -32603, "too late");
	else if (has_directive(s, "early"))
		reply(id, "{\"messageId\":\"m\"}");
}

static void
of_session(struct session *s, const struct json *id, struct str method,
    const struct json *params)
{
	if (str_is(method, "session.send"))
		send_prompt(s, id, params);
	else if (str_is(method, "session.destroy"))
		destroy(s, id);
	else if (str_is(method, "session.delete")) {
		s->id[0] = '\0';
		reply(id, "{\"success\":true}");
	} else if (s->step == DEAF)
		return;
	else if (str_is(method, "session.abort")) {
		event(s, "abort", "{\"reason\":\"user_initiated\"}");
		reply(id, "{\"success\":true}");
		if (s->step != IDLE)
			idle(s, true);
	} else if (s->step == TOOL) {
		reply(id, "{\"success\":true}");
		tool_end(s, true, "recorded");
		conclude(s, "called: ");
	} else if (s->step == PERMISSION || s->step == SECOND) {
		reply(id, "{\"success\":true}");
		permission(s, params);
	} else
		reply(id, "{\"success\":false}");
}

static void
call(const struct json *id, struct str method, const struct json *params)
{
	const struct json *sid = json_getc(params, "sessionId");
	struct session *s = sid == NULL ? NULL : find(json_text(sid));
	const char *version = getenv("DOUBLE_PROTOCOL");
	const char *refused = getenv("DOUBLE_REFUSE");
	char result[200];

	if (refused != NULL && str_is(method, refused))
		refuse(id, -32603, "not today");
	else if (str_is(method, "connect") &&
	    getenv("DOUBLE_NO_CONNECT") != NULL)
		refuse(id, -32601, "Unhandled method connect");
	else if (str_is(method, "connect") || str_is(method, "ping")) {
		snprintf(result, sizeof(result), "{\"protocolVersion\":%s}",
		    version != NULL ? version : "3");
		reply(id, result);
	} else if (str_is(method, "auth.getStatus"))
		reply(id, getenv("DOUBLE_NO_AUTH") != NULL ?
		    "{\"isAuthenticated\":false}" :
		    "{\"isAuthenticated\":true}");
	else if (str_is(method, "models.list"))
		reply(id, "{\"models\":[{\"id\":\"gpt-y\",\"name\":\"GPT Y\","
		    "\"capabilities\":{\"supports\":{\"vision\":true},"
		    "\"limits\":{\"max_context_window_tokens\":1048576}}},"
		    "{\"id\":\"gpt-x\",\"name\":\"GPT X\",\"capabilities\":"
		    "{\"supports\":{\"vision\":false},\"limits\":"
		    "{\"max_context_window_tokens\":128000}}}]}");
	else if (str_is(method, "session.create"))
		create(id, params);
	else if (str_is(method, "runtime.shutdown")) {
		note("shutdown");
		reply(id, "null");
	} else if (s != NULL)
		of_session(s, id, method, params);
	else
		refuse(id, -32601, "Unhandled method, or session");
}

/*
 * A recorded session: each request of the recording waits for one of the same
 * method.  Ids, the session and its directory are replaced by real ones.
 */
static FILE *played;
static char *recorded;		/* the recording's line */
static size_t recorded_cap;
static char session_was[64], session_is[64], dir_is[1000];

/* Reads up to the next line that begins so; false at the end. */
static bool
next_line(void)
{
	ssize_t n;

	while ((n = getline(&recorded, &recorded_cap, played)) > 0)
		if (n > 11 && (strncmp(recorded + 8, "-> ", 3) == 0 ||
		    strncmp(recorded + 8, "<- ", 3) == 0)) {
			recorded[n - 1] = '\0';
			return true;
		}
	return false;
}

/* Sends the line; `was` is the recording's id of the request, `is` ours. */
static void
play_line(const char *p, const char *was, const char *is)
{
	static const char mark[] = "/w/run/", id[] = "\"id\":";
	size_t nid = strlen(id), nwas = strlen(was);
	struct buf b = { 0 };
	bool head = true;

	if (strstr(p, "characters left out]") != NULL)
		return;
	for (; *p != '\0'; p++)
		if (session_was[0] != '\0' &&
		    strncmp(p, session_was, strlen(session_was)) == 0) {
			buf_puts(&b, session_is);
			p += strlen(session_was) - 1;
		} else if (strncmp(p, mark, sizeof(mark) - 1) == 0) {
			buf_puts(&b, dir_is);
			p += sizeof(mark) - 1;
			p += strcspn(p, "/\"\\ ") - 1;
		} else if (head && nwas > 0 && strncmp(p, id, nid) == 0 &&
		    strncmp(p + nid, was, nwas) == 0 && p[nid + nwas] == ',') {
			buf_fmt(&b, "%s%s", id, is);
			p += nid + nwas - 1;
			head = false;
		} else
			buf_putc(&b, *p);
	frame(buf_str(&b));
	buf_free(&b);
}

static void
set_text(char *to, size_t size, const struct json *params, const char *key)
{
	snprintf(to, size, "%.*s", STRF(json_str(params, key)));
}

static void
play(const struct json *id, struct str method, const struct json *params)
{
	struct arena a = { 0 };
	const struct json *v = NULL;
	char was[20];

	if (played == NULL)
		played = fopen(getenv("DOUBLE_PLAY"), "r");
	while (played != NULL && (recorded != NULL || next_line())) {
		v = recorded[8] == '-' ? read_json(&a, arena_str(&a,
		    str_of(recorded + 11))) : NULL;
		if (v != NULL && str_eq(json_str(v, "method"), method))
			break;
		if (v != NULL && !str_is(json_str(v, "method"), "status.get") &&
		    !str_is(json_str(v, "method"), "auth.getStatus")) {
			reply(id, "{\"success\":true}");
			arena_free(&a);
			return;
		}
		if (!next_line())
			break;
	}
	if (str_is(method, "session.create")) {
		set_text(session_was, sizeof(session_was),
		    json_getc(v, "params"), "sessionId");
		set_text(session_is, sizeof(session_is), params, "sessionId");
		set_text(dir_is, sizeof(dir_is), params, "workingDirectory");
	}
	snprintf(was, sizeof(was), "%.*s", v == NULL ? 0 :
	    (int)json_text(json_getc(v, "id")).n, v == NULL ? "" :
	    json_text(json_getc(v, "id")).p);
	while (next_line() && recorded[8] == '<')
		play_line(recorded + 11, was, source(id));
	arena_free(&a);
}

static void
take(struct str msg)
{
	struct arena a = { 0 };
	const struct json *v = read_json(&a, msg);
	const struct json *method = json_getc(v, "method");
	const struct json *id = json_getc(v, "id");
	const struct json *error = json_getc(json_getc(v, "error"), "code");
	struct session *s;
	char line[100];

	if (v == NULL) {
		note("bad JSON");
		exit(9);
	}
	if (method != NULL && id != NULL) {
		snprintf(line, sizeof(line), "%.*s", STRF(json_text(method)));
		if (strncmp(line, "session.", 8) == 0)
			note(line);
		if (getenv("DOUBLE_PLAY") != NULL)
			play(id, json_text(method), json_getc(v, "params"));
		else
			call(id, json_text(method), json_getc(v, "params"));
	} else if (error != NULL && (s = find(json_text(id))) != NULL &&
	    s->step == REQUEST) {
		snprintf(line, sizeof(line), "refused by %.*s: ",
		    STRF(json_text(error)));
		conclude(s, line);
	} else if (json_getc(v, "result") != NULL && id != NULL &&
	    id->type == JSON_STRING && (s = find(json_text(id))) != NULL &&
	    s->step == REQUEST) {
		snprintf(line, sizeof(line), "hook: %.*s; ", STRF(json_str(
		    json_getc(json_getc(v, "result"), "output"),
		    "permissionDecision")));
		conclude(s, line);
	}
	arena_free(&a);
}

/* Takes one complete message from b; false if it is incomplete. */
static bool
next(struct buf *b)
{
	const char *head;
	size_t i, n;

	for (i = 0; i + 4 <= b->n; i++)
		if (memcmp(b->p + i, "\r\n\r\n", 4) == 0)
			break;
	if (i + 4 > b->n)
		return false;
	head = memchr(b->p, ':', i);
	n = head == NULL ? 0 : (size_t)atol(head + 1);
	if (b->n - i - 4 < n)
		return false;
	take((struct str){ b->p + i + 4, n });
	buf_eat(b, i + 4 + n);
	return true;
}

int
main(int argc, char **argv)
{
	struct buf in = { 0 };
	const char *rc = getenv("DOUBLE_EXIT");
	char chunk[8192], line[100];
	ssize_t n;
	int i;

	snprintf(line, sizeof(line), "start %ld", (long)getpid());
	note(line);
	/* judges ask for the login this way; "unknown" is enough for them */
	if (argc > 1 && strcmp(argv[1], "--acp") == 0) {
		fprintf(stderr, "double: ACP is not supported\n");
		return 2;
	}
	for (i = 1; i < argc; i++)
		if (strcmp(argv[i], "--no-auto-login") == 0 ||
		    strcmp(argv[i], "--auth-token-env") == 0)
			note(argv[i]);
	if (rc != NULL) {
		fprintf(stderr, "double: cannot start\n");
		return atoi(rc);
	}
	while ((n = read(0, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return 1;
		if (getenv("DOUBLE_MUTE") != NULL)
			continue;
		buf_put(&in, (struct str){ chunk, (size_t)n });
		while (next(&in))
			;
	}
	note("end of stdin");
	buf_free(&in);
	return 0;
}

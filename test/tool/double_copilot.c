/* SPDX-License-Identifier: ISC */
/*
 * double_copilot: stands in for `copilot --headless --stdio` in tests, on the
 * wire of its SDK.  Sessions run side by side, as in the real one.  What it
 * does is in the prompt:
 *
 *	[[say:TEXT]]		what it answers; [[params]] instead what it was
 *				created with, [[env:NAME]] a variable
 *	[[write:PATH|TEXT]]	writes a file, if it may
 *	[[outside:PATH|TEXT]]	the same, asking twice
 *	[[shell:TEXT]]		asks to run a command, and does not
 *	[[tool:NAME|JSON]]	calls a tool of the client
 *	[[skill:NAME]] [[intent]] [[delta]] [[sub]] [[early]] [[late]] [[noise]]
 *	[[request]]		asks something that no client knows, and waits
 *	[[error:TYPE|TEXT]] [[abort]] [[badsend]]
 *	[[leak]]		an error that has its secrets in it
 *	[[hang]] until session.abort, [[deaf]] not even then
 *	[[crash:STATUS]] [[kill]] [[garbage]] [[flood]] [[calls]]
 *
 * DOUBLE_LOG names a file that gets a line for each start, message of note
 * and end.  DOUBLE_PROTOCOL, DOUBLE_NO_CONNECT, DOUBLE_NO_AUTH, DOUBLE_EXIT,
 * DOUBLE_MUTE and DOUBLE_BAD_CREATE (mute: no answer) spoil the beginning.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "json.h"

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

static void
send_text(const char *text)
{
	frame(str_of(text));
}

static void
reply(const struct json *id, const char *result)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	buf_puts(&b, "{\"jsonrpc\":\"2.0\",\"id\":");
	json_put(&o, id);
	buf_fmt(&b, ",\"result\":%s}", result);
	frame(buf_str(&b));
	buf_free(&b);
}

static void
refuse(const struct json *id, int code, const char *msg)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	buf_puts(&b, "{\"jsonrpc\":\"2.0\",\"id\":");
	json_put(&o, id);
	buf_fmt(&b, ",\"error\":{\"code\":%d,\"message\":%s}}", code,
	    quote(str_of(msg)));
	frame(buf_str(&b));
	buf_free(&b);
}

/* data is JSON; more follows the event's other members. */
static void
event_more(struct session *s, const char *type, const char *data,
    const char *more)
{
	struct buf b = { 0 };

	buf_fmt(&b, "{\"jsonrpc\":\"2.0\",\"method\":\"session.event\","
	    "\"params\":{\"sessionId\":\"%s\",\"event\":{\"type\":\"%s\","
	    "\"data\":%s,\"id\":\"x\",\"parentId\":null%s}}}", s->id, type,
	    data, more);
	frame(buf_str(&b));
	buf_free(&b);
}

static void
event(struct session *s, const char *type, const char *data)
{
	event_more(s, type, data, "");
}

/* What stands in [[name:...]] of the prompt; false when it is not there. */
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
has(const struct session *s, const char *name)
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
	event(s, "assistant.usage", "{\"inputTokens\":11,\"outputTokens\":7,"
	    "\"cacheReadTokens\":1,\"cacheWriteTokens\":0,\"cost\":0.5}");
}

static void
idle(struct session *s, bool aborted)
{
	s->step = IDLE;
	event(s, "assistant.idle", "{}");
	event(s, "session.idle", aborted ? "{\"aborted\":true}" : "{}");
}

static void
message(struct session *s, struct str text, const char *more)
{
	struct buf b = { 0 };

	buf_fmt(&b, "{\"messageId\":\"m\",\"content\":%s,"
	    "\"toolRequests\":[]}", quote(text));
	buf_putc(&b, '\0');
	event_more(s, "assistant.message", b.p, more);
	buf_free(&b);
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
	if (has(s, "params"))
		buf_puts(&b, s->params);
	usage(s);
	message(s, buf_str(&b), "");
	event(s, "assistant.turn_end", "{\"turnId\":\"1\"}");
	idle(s, false);
	buf_free(&b);
}

static void
tool_start(struct session *s, const char *id, struct str name, struct str args)
{
	struct buf b = { 0 };

	buf_fmt(&b, "{\"toolCallId\":\"%s\",\"toolName\":%s,\"arguments\":",
	    id, quote(name));
	buf_put(&b, args.n > 0 ? args : STR("{}"));
	buf_putc(&b, '}');
	buf_putc(&b, '\0');
	event(s, "tool.execution_start", b.p);
	buf_free(&b);
}

static void
tool_end(struct session *s, bool ok, const char *text)
{
	struct buf b = { 0 };

	buf_fmt(&b, ok ? "{\"toolCallId\":\"call-1\",\"success\":true,"
	    "\"result\":{\"content\":%s}}" : "{\"toolCallId\":\"call-1\","
	    "\"success\":false,\"error\":{\"message\":%s,\"code\":\"denied\"}}",
	    quote(str_of(text)));
	buf_putc(&b, '\0');
	event(s, "tool.execution_complete", b.p);
	buf_free(&b);
}

static void
ask_permission(struct session *s, const char *kind, const char *key,
    struct str value, const char *prompt)
{
	struct buf b = { 0 };

	s->asked++;
	buf_fmt(&b, "{\"requestId\":\"r-%d\",\"permissionRequest\":{\"kind\":"
	    "\"%s\",\"toolCallId\":\"call-1\",\"%s\":%s},\"promptRequest\":"
	    "{\"kind\":\"%s\"", s->asked, kind, key, quote(value), prompt);
	if (strcmp(prompt, "path") == 0)
		buf_fmt(&b, ",\"paths\":[%s]", quote(value));
	buf_puts(&b, "}}");
	buf_putc(&b, '\0');
	event(s, "permission.requested", b.p);
	buf_free(&b);
}

static void
write_file(struct session *s, struct str path, struct str text)
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
	fwrite(text.p, 1, text.n, f);
	fclose(f);
	tool_end(s, true, "Created file");
	conclude(s, "done: ");
}

static void
permission(struct session *s, const struct json *params)
{
	const struct json *v = json_getc(json_getc(params, "result"), "kind");
	struct str arg = STR(""), path, text;
	bool ok = v != NULL && str_is(json_text(v), "approve-once");

	if (!directive(s, "write", &arg))
		directive(s, "outside", &arg);
	split(arg, &path, &text);
	if (!ok) {
		tool_end(s, false, "Permission denied");
		conclude(s, "denied: ");
	} else if (s->step == SECOND) {
		s->step = PERMISSION;
		ask_permission(s, "write", "fileName", path, "write");
	} else if (has(s, "shell")) {
		tool_end(s, true, "ran");
		conclude(s, "ran: ");
	} else
		write_file(s, path, text);
}

static void
ask_tool(struct session *s, struct str arg)
{
	struct str name, args;
	struct buf b = { 0 };

	split(arg, &name, &args);
	tool_start(s, "call-1", name, args);
	s->step = TOOL;
	buf_fmt(&b, "{\"requestId\":\"t-1\",\"sessionId\":\"%s\","
	    "\"toolCallId\":\"call-1\",\"toolName\":%s,\"arguments\":%.*s}",
	    s->id, quote(name), args.n > 0 ? (int)args.n : 2,
	    args.n > 0 ? args.p : "{}");
	buf_putc(&b, '\0');
	event(s, "external_tool.requested", b.p);
	buf_free(&b);
}

/* Things that happen on the way. */
static void
colour(struct session *s)
{
	struct buf b = { 0 };
	struct str arg;

	if (has(s, "noise"))
		out(STR("warning: a line that is no message\nand more\r\n"));
	if (has(s, "delta"))
		event(s, "assistant.message_delta",
		    "{\"deltaContent\":\"part\"}");
	if (has(s, "sub")) {
		message(s, STR("of a sub-agent"), ",\"agentId\":\"sub-1\"");
		event_more(s, "session.idle", "{}", ",\"agentId\":\"sub-1\"");
	}
	if (has(s, "intent"))
		tool_start(s, "call-0", STR("report_intent"), STR("{}"));
	if (directive(s, "skill", &arg)) {
		buf_fmt(&b, "{\"name\":%s,\"source\":\"custom\"}", quote(arg));
		buf_putc(&b, '\0');
		event(s, "skill.invoked", b.p);
		buf_free(&b);
	}
}

static void
flood(struct session *s)
{
	static char big[1 << 20];
	int i;

	memset(big, 'x', sizeof(big) - 1);
	for (i = 0; i < 200; i++)
		message(s, (struct str){ big, sizeof(big) - 1 }, "");
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
	struct buf b = { 0 }, data = { 0 };

	key = key == NULL ? "" : key + 10;
	buf_fmt(&b, "bad key %.*s, %s", (int)strcspn(key, "\""), key,
	    token != NULL ? token : "");
	fprintf(stderr, "bad key %.*s\n", (int)strcspn(key, "\""), key);
	buf_fmt(&data, "{\"errorType\":\"query\",\"message\":%s}",
	    quote(buf_str(&b)));
	buf_putc(&data, '\0');
	message(s, buf_str(&b), "");
	event(s, "session.error", data.p);
	buf_free(&b);
	buf_free(&data);
	idle(s, false);
}

/* Ways not to get to the end of the turn. */
static bool
spoil(struct session *s)
{
	struct str arg, type, text;
	struct buf b = { 0 };

	if (directive(s, "crash", &arg)) {
		fprintf(stderr, "double: dying as told\n");
		note("end by crash");
		exit(atoi(arg.p));
	} else if (has(s, "kill"))
		raise(SIGKILL);
	else if (has(s, "garbage"))
		out(STR("Content-Length: 99999999999\r\n\r\n"));
	else if (has(s, "flood"))
		flood(s);
	else if (has(s, "calls"))
		many_calls(s);
	else if (directive(s, "error", &arg)) {
		split(arg, &type, &text);
		buf_fmt(&b, "{\"errorType\":%s,\"message\":%s}", quote(type),
		    quote(text));
		buf_putc(&b, '\0');
		event(s, "session.error", b.p);
		buf_free(&b);
		idle(s, false);
		return true;
	} else if (has(s, "leak")) {
		leak(s);
		return true;
	} else if (has(s, "abort")) {
		event(s, "abort", "{\"reason\":\"user_initiated\"}");
		idle(s, false);
		return true;
	} else if (!has(s, "hang") && !has(s, "deaf"))
		return false;
	s->step = has(s, "deaf") ? DEAF : HANG;
	return true;
}

static void
turn(struct session *s)
{
	struct str arg, path, text;
	char id[200];

	event(s, "user.message", "{\"content\":\"x\"}");
	event(s, "assistant.turn_start", "{\"turnId\":\"0\"}");
	colour(s);
	if (spoil(s))
		return;
	if (has(s, "request")) {
		s->step = REQUEST;
		snprintf(id, sizeof(id), "{\"jsonrpc\":\"2.0\",\"id\":\"%s\","
		    "\"method\":\"hooks.invoke\",\"params\":{}}", s->id);
		send_text(id);
	} else if (directive(s, "tool", &arg))
		ask_tool(s, arg);
	else if (directive(s, "outside", &arg)) {
		split(arg, &path, &text);
		usage(s);
		tool_start(s, "call-1", STR("create"), STR("{\"a\":[1,{}]}"));
		s->step = SECOND;
		ask_permission(s, "write", "fileName", path, "path");
	} else if (directive(s, "write", &arg)) {
		split(arg, &path, &text);
		usage(s);
		tool_start(s, "call-1", STR("create"), STR("{\"a\":[1,{}]}"));
		s->step = PERMISSION;
		ask_permission(s, "write", "fileName", path, "write");
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
	/* before the answer, as the real one does */
	event(s, "session.start", "{}");
	snprintf(result, sizeof(result), "{\"sessionId\":\"%s\"}", s->id);
	reply(id, result);
}

static void
destroy(struct session *s, const struct json *id)
{
	char data[400];

	if (s->step == DEAF)
		return;
	snprintf(data, sizeof(data), "{\"totalPremiumRequests\":3,"
	    "\"modelMetrics\":{\"a\":{\"usage\":{\"inputTokens\":%d,"
	    "\"outputTokens\":%d}},\"b\":{\"usage\":{\"inputTokens\":100,"
	    "\"outputTokens\":1,\"cacheReadTokens\":5}}}}", 11 * s->calls,
	    7 * s->calls);
	event(s, "session.shutdown", data);
	reply(id, "{\"success\":true}");
}

static void
send_prompt(struct session *s, const struct json *id,
    const struct json *params)
{
	snprintf(s->prompt, sizeof(s->prompt), "%.*s",
	    STRF(json_text(json_getc(params, "prompt"))));
	if (has(s, "badsend")) {
		refuse(id, -32603, "Request session.send failed");
		return;
	}
	if (!has(s, "early") && !has(s, "late"))
		reply(id, "{\"messageId\":\"m\"}");
	turn(s);
	if (has(s, "late"))		/* it has answered all the same */
		refuse(id, -32603, "too late");
	else if (has(s, "early"))
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
	char text[200];

	if (str_is(method, "connect") && getenv("DOUBLE_NO_CONNECT") != NULL)
		refuse(id, -32601, "Unhandled method connect");
	else if (str_is(method, "connect") || str_is(method, "ping")) {
		snprintf(text, sizeof(text), "{\"protocolVersion\":%s}",
		    version != NULL ? version : "3");
		reply(id, text);
	} else if (str_is(method, "auth.getStatus"))
		reply(id, getenv("DOUBLE_NO_AUTH") != NULL ?
		    "{\"isAuthenticated\":false}" :
		    "{\"isAuthenticated\":true}");
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

static void
take(struct str text)
{
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct json_error je;
	const struct json *v = json_read(&mem, text, 0, &je);
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
		call(id, json_text(method), json_getc(v, "params"));
	} else if (error != NULL && (s = find(json_text(id))) != NULL &&
	    s->step == REQUEST) {
		snprintf(line, sizeof(line), "refused by %.*s: ",
		    STRF(json_text(error)));
		conclude(s, line);
	}
	arena_free(&a);
}

/* One message that is whole in b, and away with it. */
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

/* SPDX-License-Identifier: ISC */
/*
 * double_acp: an agent for tests that supports the Agent Client Protocol and
 * obeys directives in its prompt:
 *
 *	[[say:text]]		answers it, one word per message
 *	[[write:path|text]]	asks, and writes the file; [[strid]]: by a
 *				string id, [[late-call]]: without a report
 *	[[twice]]		reports a call twice, first an empty one
 *	[[run:command]]		runs it in a shell, without asking
 *	[[skill:name]]		calls the skill tool
 *	[[fs]]			requests files and terminals, not offered
 *	[[ask:kind|path]]	only asks, and answers the reply
 *	[[error:text]]		fails; $NAME is a variable
 *	[[stop:reason]] [[crash:status]] [[noise]] [[late]]
 *	[[die:status]]		exits after its answer
 *	[[shut]]		closes its output and stays
 *	[[hang]]		waits until it is cancelled
 *	[[stubborn]]		hangs; ignores cancel, EOF and SIGTERM
 *	[[tree]]		leaves a child behind, its pid in $PIDS/tree
 *	[[flood]] [[big:n]]	writes too much
 *	[[env:NAME]]		writes it to text, call, error and stderr
 *	[[again]]		answers the number of prompts so far
 *
 * DOUBLE_ACP in its environment: auth1, auth2 (needs a login, has that many
 * methods), v2 (another version), mute (never answers), garbage, exit (at
 * once), modes, options, copilot (errors as text), noend (ignores EOF), refuse
 * (every mode and model).  DOUBLE_ACP_MODES: the modes that it offers, separated
 * by blanks; the first is the current one.
 *
 * With a file as its argument it plays a recorded session instead.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "json.h"

static struct arena arena;
static const char *how = "";
static int asked, prompts, authed;
static const char *set_mode = "", *set_model = "";

static void PRINTF(1, 2)
put(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* A string as JSON. */
static const char *
quoted(struct str s)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const char *p;

	json_put_str(&o, s);
	p = arena_str(&arena, buf_str(&b)).p;
	buf_free(&b);
	return p;
}

static void
ignore_signals(void)
{
	signal(SIGTERM, SIG_IGN);
	for (;;)
		pause();
}

/* The next message; exits at the end of input. */
static const struct json *
next(void)
{
	struct json_mem mem = { arena_hook, &arena };
	struct json_error je;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n = getline(&line, &cap, stdin);
	const struct json *v;

	if (n <= 0 && strcmp(how, "noend") == 0)
		for (;;)
			pause();
	if (n <= 0)
		exit(0);
	v = json_read(&mem, arena_str(&arena, (struct str){ line, (size_t)n }),
	    0, &je);
	free(line);
	if (v == NULL) {
		fprintf(stderr, "not JSON: %s\n", je.msg);
		exit(9);
	}
	return v;
}

static const char *
text(const struct json *v, const char *key)
{
	v = json_getc(v, key);
	return v == NULL ? "" : arena_str(&arena, json_text(v)).p;
}

static bool
is(const struct json *v, const char *method)
{
	return strcmp(text(v, "method"), method) == 0;
}

/* The argument of a directive; NULL: it is not in the prompt. */
static const char *
directive(const char *prompt, const char *name)
{
	const char *p = strstr(prompt, arena_fmt(&arena, "[[%s", name).p);
	const char *end;

	if (p == NULL)
		return NULL;
	p += 2 + strlen(name);
	end = strstr(p, "]]");
	if (end == NULL || (*p != ':' && p != end))
		return NULL;
	p += *p == ':';
	return arena_str(&arena, (struct str){ p, (size_t)(end - p) }).p;
}

static void PRINTF(1, 2)
update(const char *fmt, ...)
{
	va_list ap;

	fputs("{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":"
	    "{\"sessionId\":\"s-1\",\"update\":{", stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	put("}}}");
}

static void
say(const char *what)
{
	size_t n;

	for (; *what != '\0'; what += n) {
		n = strcspn(what, " ");
		n += what[n] == ' ';
		update("\"sessionUpdate\":\"agent_message_chunk\",\"content\":"
		    "{\"type\":\"text\",\"text\":%s}",
		    quoted((struct str){ what, n }));
	}
}

/* Sends a request and reads until its reply. */
static const struct json *
ask(const char *method, const char *params, bool by_string)
{
	const char *id = arena_fmt(&arena, by_string ? "\"r-%d\"" : "%d",
	    asked++).p;
	const struct json *v, *w;

	put("{\"id\":%s,\"params\":%s,\"method\":\"%s\",\"jsonrpc\":\"2.0\"}",
	    id, params, method);
	for (;;) {
		v = next();
		w = json_getc(v, "id");
		if (w != NULL && json_getc(v, "method") == NULL &&
		    strcmp(by_string ? quoted(json_text(w)) :
		    arena_str(&arena, json_text(w)).p, id) == 0)
			return v;
	}
}

static const char *
permission(const char *kind, const char *path, bool by_string)
{
	const char *p = quoted(str_of(path));
	const struct json *v;

	v = ask("session/request_permission", arena_fmt(&arena,
	    "{\"sessionId\":\"s-1\",\"toolCall\":{\"toolCallId\":\"c-1\","
	    "\"title\":\"May I?\",\"kind\":\"%s\",\"rawInput\":{\"filePath\":"
	    "%s},\"locations\":[{\"path\":%s}]},\"options\":["
	    "{\"optionId\":\"A\",\"kind\":\"allow_always\",\"name\":\"a\"},"
	    "{\"optionId\":\"b\",\"kind\":\"allow_once\",\"name\":\"b\"},"
	    "{\"optionId\":\"N\",\"kind\":\"reject_always\",\"name\":\"c\"},"
	    "{\"optionId\":\"n\",\"kind\":\"reject_once\",\"name\":\"d\"}]}",
	    kind, p, p).p, by_string);
	v = json_getc(json_getc(v, "result"), "outcome");
	return strcmp(text(v, "outcome"), "selected") == 0 ?
	    text(v, "optionId") : text(v, "outcome");
}

static void
do_write(const char *prompt, const char *arg)
{
	const char *bar = strchr(arg, '|'), *path, *got;
	FILE *f;

	path = bar == NULL ? arg : arena_str(&arena,
	    (struct str){ arg, (size_t)(bar - arg) }).p;
	if (directive(prompt, "late-call") == NULL)
		update("\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c-1\""
		    ",\"title\":\"write\",\"kind\":\"edit\",\"status\":"
		    "\"pending\",\"rawInput\":{}");
	if (directive(prompt, "twice") != NULL)
		update("\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c-1\""
		    ",\"title\":\"Writing %s\",\"kind\":\"edit\",\"status\":"
		    "\"in_progress\",\"rawInput\":{\"filePath\":%s,"
		    "\"content\":\"x\"}", path, quoted(str_of(path)));
	got = permission("edit", path, directive(prompt, "strid") != NULL);
	if (strcmp(got, "b") != 0) {
		update("\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":"
		    "\"c-1\",\"status\":\"failed\"");
		say(arena_fmt(&arena, "not permitted: %s", got).p);
		return;
	}
	f = fopen(path, "w");
	if (f != NULL) {
		fputs(bar == NULL ? "" : bar + 1, f);
		fclose(f);
	}
	update("\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"c-1\","
	    "\"status\":\"%s\",\"rawOutput\":{\"output\":\"Wrote it.\"}",
	    f != NULL ? "completed" : "failed");
	say(arena_fmt(&arena, "done: wrote %s", path).p);
}

static void
do_fs(void)
{
	static const char *const methods[] = { "fs/write_text_file",
		"fs/read_text_file", "terminal/create", "no/such" };
	const struct json *v, *code;
	size_t i;

	for (i = 0; i < COUNTOF(methods); i++) {
		v = ask(methods[i], "{\"path\":\"x\"}", false);
		code = json_getc(json_getc(v, "error"), "code");
		say(arena_fmt(&arena, "%s %s. ", methods[i], code == NULL ?
		    "fine" : arena_str(&arena, json_text(code)).p).p);
	}
}

static void
do_env(const char *name)
{
	const char *value = getenv(name);

	value = value == NULL ? "unset" : value;
	fprintf(stderr, "key %s\n", value);
	update("\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c-2\","
	    "\"title\":\"echo %s\",\"status\":\"completed\",\"rawInput\":"
	    "{\"%s\":\"%s\"},\"rawOutput\":\"%s\"", value, name, value, value);
	say(arena_fmt(&arena, "the value is %s!", value).p);
}

static void
do_tree(void)
{
	const char *dir = getenv("PIDS");
	pid_t pid = fork();
	FILE *f = pid > 0 && dir != NULL ?
	    fopen(arena_fmt(&arena, "%s/tree", dir).p, "w") : NULL;

	if (f != NULL) {
		fprintf(f, "%ld\n", (long)pid);
		fclose(f);
	}
	if (pid == 0) {
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		close(0);
		for (;;)
			pause();
	}
	say("planted");
}

static const char *
hang(void)
{
	for (;;)
		if (is(next(), "session/cancel"))
			return "cancelled";
}

static void
flood(void)
{
	for (;;)
		update("\"sessionUpdate\":\"agent_message_chunk\",\"content\":"
		    "{\"type\":\"text\",\"text\":\"%01000d\"}", 0);
}

static void
fail(const char *id, const char *arg)
{
	if (*arg == '$' && getenv(arg + 1) != NULL)
		arg = getenv(arg + 1);
	if (strcmp(how, "copilot") != 0) {
		put("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32603,"
		    "\"message\":\"Internal error\",\"data\":{\"details\":"
		    "%s}}}", id, quoted(str_of(arg)));
		return;
	}
	say("Error: 400 ");
	say(arg);
	put("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"stopReason\":"
	    "\"end_turn\"}}", id);
}

static void
prompt(const struct json *id, const char *p)
{
	const char *stop = "end_turn", *arg;
	const char *n = arena_str(&arena, json_text(id)).p;

	prompts++;
	update("\"sessionUpdate\":\"agent_thought_chunk\",\"content\":{"
	    "\"type\":\"text\",\"text\":\"hm\"}");
	update("\"sessionUpdate\":\"plan\",\"entries\":[]");
	if (directive(p, "noise") != NULL)
		put("this is no JSON\n\n\t{\"nor\": this}\n[]\n17");
	if ((arg = directive(p, "env")) != NULL)
		do_env(arg);
	if ((arg = directive(p, "crash")) != NULL) {
		say("about to crash");
		fprintf(stderr, "the last words\n");
		_exit(atoi(arg));
	}
	if ((arg = directive(p, "error")) != NULL) {
		fail(n, arg);
		return;
	}
	if ((arg = directive(p, "say")) != NULL)
		say(arg);
	if ((arg = directive(p, "run")) != NULL)
		say(system(arg) == 0 ? "ran" : "failed");
	if ((arg = directive(p, "write")) != NULL)
		do_write(p, arg);
	if ((arg = directive(p, "ask")) != NULL && strchr(arg, '|') != NULL)
		say(permission(arena_fmt(&arena, "%.*s", (int)strcspn(arg,
		    "|"), arg).p, strchr(arg, '|') + 1, false));
	if ((arg = directive(p, "skill")) != NULL)
		update("\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"k-%s\""
		    ",\"name\":\"skill\",\"title\":\"Loaded\",\"rawInput\":{"
		    "\"skill\":\"%s\"},\"status\":\"completed\"", arg, arg);
	if ((arg = directive(p, "big")) != NULL)
		update("\"sessionUpdate\":\"agent_message_chunk\",\"content\":"
		    "{\"type\":\"text\",\"text\":\"%0*d\"}", atoi(arg), 0);
	if (directive(p, "fs") != NULL)
		do_fs();
	if (directive(p, "tree") != NULL)
		do_tree();
	if (directive(p, "again") != NULL)
		say(arena_fmt(&arena, "prompt %d, mode %s, model %s", prompts,
		    set_mode, set_model).p);
	if (directive(p, "flood") != NULL)
		flood();
	if (directive(p, "hang") != NULL) {
		say("partial");
		stop = hang();
	}
	if (directive(p, "shut") != NULL) {
		fclose(stdout);
		for (;;)
			pause();
	}
	if (directive(p, "stubborn") != NULL) {
		say("partial");
		ignore_signals();
	}
	if ((arg = directive(p, "stop")) != NULL)
		stop = arg;
	update("\"sessionUpdate\":\"usage_update\",\"used\":18,\"size\":9,"
	    "\"cost\":{\"amount\":%d.5,\"currency\":\"USD\"}", prompts);
	put("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"stopReason\":\"%s\","
	    "\"usage\":{\"inputTokens\":%d,\"outputTokens\":%d}}}", n, stop,
	    11 * prompts, 7 * prompts);
	if (directive(p, "late") != NULL)
		say("late");
	if ((arg = directive(p, "die")) != NULL)
		exit(atoi(arg));
}

static void
list_modes(const char *names)
{
	size_t n;

	if (names == NULL)
		return;
	printf(",\"modes\":{\"currentModeId\":\"%.*s\",\"availableModes\":[",
	    (int)strcspn(names, " "), names);
	for (; *names != '\0'; names += n + (names[n] == ' ')) {
		n = strcspn(names, " ");
		printf("{\"id\":\"%.*s\",\"name\":\"X\"}%s", (int)n, names,
		    names[n] == ' ' ? "," : "");
	}
	printf("]}");
}

static void
open_session(const char *id)
{
	if (strncmp(how, "auth", 4) == 0 && !authed) {
		put("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32000"
		    ",\"message\":\"Authentication required\"}}", id);
		return;
	}
	printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"sessionId\":"
	    "\"s-1\"", id);
	if (strcmp(how, "modes") == 0)
		printf(",\"modes\":{\"currentModeId\":\"ask\","
		    "\"availableModes\":[{\"id\":\"ask\",\"name\":\"Ask\"},"
		    "{\"id\":\"http://x/modes#code\",\"name\":\"Code\"}]},"
		    "\"models\":{\"currentModelId\":\"m-0\","
		    "\"availableModels\":[{\"modelId\":\"p/m-1\",\"name\":"
		    "\"M1\"}]}");
	list_modes(getenv("DOUBLE_ACP_MODES"));
	if (strcmp(how, "options") == 0)
		printf(",\"configOptions\":[{\"id\":\"mode\",\"currentValue\":"
		    "\"ask\",\"options\":[{\"value\":\"code\"}]},{\"id\":"
		    "\"model\",\"options\":[{\"value\":\"p/m-1\"}]}]");
	put("}}");
}

static void
greet(const char *id)
{
	if (strcmp(how, "mute") == 0)
		for (;;)
			next();
	if (strcmp(how, "garbage") == 0)
		for (;;)
			printf("all work and no play makes a dull agent; ");
	put("{\"jsonrpc\":\"2.0\",\"result\":{\"protocolVersion\":%d,"
	    "\"agentCapabilities\":{},\"authMethods\":[{\"id\":\"key\","
	    "\"name\":\"A key\"}%s],\"agentInfo\":{\"name\":\"%s\","
	    "\"version\":\"1\"}},\"id\":%s}", strcmp(how, "v2") == 0 ? 2 : 1,
	    strcmp(how, "auth2") == 0 ? ",{\"id\":\"sso\",\"name\":\"Web\"}" :
	    "", strcmp(how, "copilot") == 0 ? "Copilot" : "double", id);
}

static void
answer(const struct json *v)
{
	const struct json *params = json_getc(v, "params");
	const struct json *id = json_getc(v, "id");
	const char *n = id == NULL ? "" : arena_str(&arena, json_text(id)).p;

	if (is(v, "initialize"))
		greet(n);
	else if (is(v, "session/new"))
		open_session(n);
	else if (is(v, "session/prompt"))
		prompt(id, text(json_first(json_getc(params, "prompt")),
		    "text"));
	else if (id != NULL && strcmp(how, "refuse") == 0)
		put("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32602"
		    ",\"message\":\"Invalid params\"}}", n);
	else if (id != NULL && (is(v, "authenticate") ||
	    is(v, "session/set_mode") || is(v, "session/set_model") ||
	    is(v, "session/set_config_option"))) {
		authed |= strcmp(text(params, "methodId"), "key") == 0;
		if (*text(params, "modeId") != '\0')
			set_mode = text(params, "modeId");
		if (*text(params, "modelId") != '\0')
			set_model = text(params, "modelId");
		if (*text(params, "value") != '\0')
			*(strcmp(text(params, "configId"), "mode") == 0 ?
			    &set_mode : &set_model) = text(params, "value");
		put("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":null}", n);
	} else if (id != NULL)
		put("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601"
		    ",\"message\":\"Method not found\"}}", n);
}

/* A line of a recording, with our directory instead of its own. */
static void
play_line(const char *line, const char *cwd)
{
	const char *mark = "/w/run/", *p, *sid;

	if (strstr(line, "characters left out]") != NULL) {
		p = strstr(line, "\"id\":");
		sid = strstr(line, "\"sessionId\":\"");
		if (p == NULL || sid == NULL || strstr(line, "\"method\""))
			return;
		sid += 13;
		put("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"sessionId\":"
		    "\"%.*s\"}}", atoi(p + 5), (int)strcspn(sid, "\""), sid);
		return;
	}
	while ((p = strstr(line, mark)) != NULL) {
		printf("%.*s%s", (int)(p - line), line, cwd);
		line = p + strlen(mark);
		line += strcspn(line, "/\"\\ ");
	}
	put("%s", line);
}

/* Waits for each message to the agent; repeats each message from it. */
static int
play(const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL, cwd[4096];
	size_t cap = 0;
	ssize_t n;

	if (f == NULL || getcwd(cwd, sizeof(cwd)) == NULL)
		return 9;
	while ((n = getline(&line, &cap, f)) > 0) {
		if (n < 11)
			continue;
		line[n - 1] = '\0';
		if (strncmp(line + 8, "-> ", 3) == 0)
			next();
		else if (strncmp(line + 8, "<- ", 3) == 0)
			play_line(line + 11, cwd);
	}
	fclose(f);
	free(line);
	next();				/* exits at EOF */
	return 0;
}

int
main(int argc, char **argv)
{
	if (getenv("DOUBLE_ACP") != NULL)
		how = getenv("DOUBLE_ACP");
	if (argc > 1)
		return play(argv[1]);
	if (strcmp(how, "exit") == 0) {
		fprintf(stderr, "double: no such option\n");
		return 5;
	}
	for (;;)
		answer(next());
}

/* SPDX-License-Identifier: ISC */
/*
 * The dispatcher: numbers of errors, the table of methods and its schemas,
 * envelopes byte for byte, gates, answers that come later, batches.
 */
#include "rpc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os.h"
#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "lib/schema/schema.h"
#include "rpc/rpc_internal.h"
#include "rpc/session.h"
#include "rpc/tool.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct err e;
static struct loop *l;
static struct procs procs;
static struct rpc table;	/* a server with all methods, for their table */

static void
add_all(struct rpc *r, struct tools *tools)
{
	rpc_add_evals(r);
	tool_add(r, tools);
	(void)session_open(r, &(struct session_opts){ 0 }, &e);
}

/*
 * The numbers of seeds/000, 002 and 003; a kind that they do not define has a
 * number that none of them uses.
 */
static void
numbers(void)
{
	static const struct {
		enum rpc_kind kind;
		const char *name;
		int number[RPC_FAMILY__MAX];	/* eval, tool, session */
	} want[] = {
		{ RPC_PARSE_ERROR, "parse_error", { -32700, -32700, -32700 } },
		{ RPC_INVALID_REQUEST, "invalid_request", { -32600, -32600, -32600 } },
		{ RPC_METHOD_NOT_FOUND, "method_not_found", { -32601, -32601, -32601 } },
		{ RPC_INVALID_PARAMS, "invalid_params", { -32602, -32602, -32602 } },
		{ RPC_INTERNAL, "internal", { -32603, -32603, -32603 } },
		{ RPC_EVAL_NOT_FOUND, "eval_not_found", { -32000, -32020, -32020 } },
		{ RPC_VALIDATION_FAILED, "validation_failed", { -32001, -32021, -32602 } },
		{ RPC_RUN_FAILED, "run_failed", { -32002, -32000, -32010 } },
		{ RPC_TOOL_FAILED, "tool_failed", { -32002, -32000, -32010 } },
		{ RPC_AUTH_FAILED, "auth_failed", { -32024, -32001, -32024 } },
		{ RPC_PATH_DENIED, "path_denied", { -32025, -32002, -32011 } },
		{ RPC_TIMEOUT, "timeout", { -32002, -32000, -32010 } },
		{ RPC_RATE_LIMITED, "rate_limited", { -32027, -32027, -32015 } },
		{ RPC_TOOL_UNKNOWN, "tool_unknown", { -32028, -32602, -32028 } },
		{ RPC_RESOURCE, "resource", { -32029, -32029, -32015 } },
		{ RPC_SESSION_NOT_FOUND, "session_not_found", { -32003, -32003, -32003 } },
		{ RPC_AGENT_INIT, "agent_init", { -32012, -32012, -32012 } },
		{ RPC_SESSION_BUSY, "session_busy", { -32013, -32013, -32013 } },
		{ RPC_CONFIG, "config", { -32014, -32014, -32014 } },
		{ RPC_IO, "io", { -32016, -32016, -32016 } },
		{ RPC_SERIALIZATION, "serialization", { -32017, -32017, -32017 } },
		{ RPC_TRANSPORT, "transport", { -32030, -32030, -32001 } },
		{ RPC_CANCELLED, "cancelled", { -32031, -32031, -32031 } },
		{ RPC_RUN_NOT_FOUND, "run_not_found", { -32602, -32602, -32602 } },
		{ RPC_WORKSPACE, "workspace", { -32011, -32011, -32011 } },
		{ RPC_NO_RESULT, "no_result", { -32032, -32032, -32032 } },
		{ RPC_RUN_OVER, "run_over", { -32033, -32033, -32033 } },
		{ RPC_FORBIDDEN, "forbidden", { -32034, -32034, -32034 } },
		{ RPC_TASK_NOT_FOUND, "task_not_found", { -32602, -32602, -32602 } },
	};
	size_t i, f;

	OK(COUNTOF(want) == RPC_KIND__MAX);
	for (i = 0; i < COUNTOF(want); i++) {
		bool same = strcmp(rpc_kind_name(want[i].kind),
		    want[i].name) == 0 &&
		    rpc_kind_text(want[i].kind)[0] != '\0';

		for (f = 0; f < RPC_FAMILY__MAX; f++)
			same = same && rpc_number(want[i].kind,
			    (enum rpc_family)f) == want[i].number[f];
		tap_ok(same, want[i].name, __FILE__, __LINE__);
	}
	/* the messages of the documents */
	OK(strcmp(rpc_kind_text(RPC_PARSE_ERROR), "Parse error") == 0);
	OK(strcmp(rpc_kind_text(RPC_INVALID_REQUEST), "Invalid request") == 0);
	OK(strcmp(rpc_kind_text(RPC_METHOD_NOT_FOUND),
	    "Method not found") == 0);
	OK(strcmp(rpc_kind_text(RPC_INVALID_PARAMS), "Invalid params") == 0);
	OK(strcmp(rpc_kind_text(RPC_INTERNAL), "Internal error") == 0);
	OK(strcmp(rpc_kind_text(RPC_EVAL_NOT_FOUND), "Eval not found") == 0);
	OK(strcmp(rpc_kind_text(RPC_VALIDATION_FAILED),
	    "Validation failed") == 0);
	OK(strcmp(rpc_kind_text(RPC_RUN_FAILED), "Run failed") == 0);
	OK(strcmp(rpc_kind_text(RPC_PATH_DENIED), "Path access denied") == 0);
	OK(strcmp(rpc_kind_text(RPC_SESSION_NOT_FOUND),
	    "Session not found") == 0);
}

/*
 * The table.
 */
static void
methods(void)
{
	static const char *const needed[] = { "eval.run", "eval.list",
		"eval.get", "eval.validate", "task.list", "task.get",
		"run.status", "run.cancel", "run.list", "run.result",
		"run.subscribe", "rpc.discover", "hello", "ping", "tools/call",
		"tools/list", "initialize", "notifications/initialized",
		"notifications/cancelled", "resources/list",
		"$/cancelRequest" };
	const struct rpc_method *m, *before = NULL;
	size_t i, k, found = 0;
	bool sorted = true, whole = true;

	for (i = 0; (m = rpc_method(&table, i)) != NULL; i++) {
		sorted = sorted && (before == NULL ||
		    strcmp(before->name, m->name) < 0);
		whole = whole && m->fn != NULL && m->help != NULL &&
		    m->help[0] != '\0' && m->family < RPC_FAMILY__MAX;
		for (k = 0; k < COUNTOF(needed); k++)
			found += strcmp(needed[k], m->name) == 0;
		before = m;
	}
	OK(sorted);
	OK(whole);
	OK(found == COUNTOF(needed));
	OK(rpc_method(&table, i) == NULL && rpc_method(&table, i + 1000) == NULL);
}

static struct schema *
schema_of(struct arena *a, const char *method)
{
	const struct rpc_method *m = NULL;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct json *v;
	size_t i;

	for (i = 0; (m = rpc_method(&table, i)) != NULL; i++)
		if (strcmp(m->name, method) == 0)
			break;
	rpc_put_schema(&o, m->params);
	v = read_json(a, arena_str(a, buf_str(&b)));
	buf_free(&b);
	return v != NULL ? schema_compile(a, v, NULL, &e) : NULL;
}

static int
passes(const char *method, struct str value)
{
	struct arena a = { 0 }, tmp = { 0 };
	struct schema *s = schema_of(&a, method);
	int rc = s == NULL ? -1 : schema_check(s, &tmp, read_json(&a, value),
	    NULL, NULL, &e);

	arena_free(&tmp);
	arena_free(&a);
	return rc;
}

/* The tables and the schemas agree. */
static void
schemas(void)
{
	struct arena a = { 0 };
	const struct rpc_method *m;
	size_t i;

	for (i = 0; (m = rpc_method(&table, i)) != NULL; i++)
		tap_ok(schema_of(&a, m->name) != NULL, m->name, __FILE__,
		    __LINE__);
	arena_free(&a);
	OK(passes("eval.run", STR("{\"path\":\"x\"}")) == 1);
	OK(passes("eval.run", STR("{\"path\":\"x\",\"trials\":2,\"tasks\":[\"a\"],\"verbose\":true}")) == 1);
	OK(passes("eval.run", STR("{\"paths\":[\"x\",\"y\"]}")) == 1);
	OK(passes("eval.run", STR("[]")) == 0);
	OK(passes("eval.run", STR("{\"path\":7}")) == 0);
	OK(passes("eval.run", STR("{\"path\":\"x\",\"trials\":0}")) == 0);
	OK(passes("eval.run", STR("{\"path\":\"x\",\"trials\":1.5}")) == 0);
	OK(passes("eval.run", STR("{\"path\":\"x\",\"tasks\":[1]}")) == 0);
	OK(passes("eval.run", STR("{\"path\":\"x\",\"verbose\":\"yes\"}")) == 0);
	OK(passes("eval.list", STR("{}")) == 1);
	OK(passes("task.get", STR("{\"path\":\"x\"}")) == 0);
	OK(passes("task.get", STR("{\"path\":\"x\",\"taskId\":\"y\"}")) == 1);
	OK(passes("ping", STR("{\"anything\":[]}")) == 1);
	OK(passes("tools/call", STR("{\"name\":\"x\",\"arguments\":{}}")) == 1);
}

/*
 * A peer on a socket pair: its requests and the replies.
 */
struct talk {
	struct rpc rpc;
	struct tools tools;
	struct rpc_peer *peer;
	int fd;
	struct buf got;
	int idle;
};

static void
on_idle(void *arg)
{
	struct talk *t = arg;

	t->idle++;
}

static struct rpc_peer *
join(struct talk *t, enum rpc_via via, int *fd)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
		return NULL;
	os_nonblock(pair[0]);
	os_nonblock(pair[1]);
	*fd = pair[1];
	return rpc_accept(&t->rpc, via, pair[0], pair[0], &conn_line,
	    false);
}

static void
begin(struct talk *t, enum rpc_via via)
{
	t->rpc.loop = l;
	t->rpc.procs = &procs;
	t->rpc.version = "1.2.3";
	t->rpc.idle = on_idle;
	t->rpc.idle_arg = t;
	rpc_init(&t->rpc);
	add_all(&t->rpc, &t->tools);
	t->peer = join(t, via, &t->fd);
}

static void
turns(int n)
{
	while (n-- > 0)
		turn_loop(l);
}

static void
end(struct talk *t)
{
	rpc_fini(&t->rpc);
	os_close(&t->fd);
	buf_free(&t->got);
}

static void
gather(struct talk *t)
{
	read_available(t->fd, &t->got);
}

static struct str
hear(struct talk *t)
{
	t->got.n = 0;
	gather(t);
	return buf_str(&t->got);
}

/* The whole reply, also with short writes. */
static struct str
say(struct talk *t, const char *text)
{
	t->got.n = 0;
	rpc_message(t->peer, str_of(text));
	gather(t);
	while (conn_pending(t->peer->conn) > 0) {
		turns(1);
		gather(t);
	}
	return buf_str(&t->got);
}

static bool
says(struct talk *t, const char *text, const char *want)
{
	struct str got = say(t, text);

	if (str_is(got, want))
		return true;
	printf("# said %s\n# want %s# got  %.*s\n", text, want, STRF(got));
	return false;
}

#define PONG(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"status\":\"ok\"}}"
#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"

/* Byte for byte. */
static void
envelopes(void)
{
	struct talk t = { .fd = -1 };
	size_t used, i;

	begin(&t, RPC_UNIX);
	OK(says(&t, PING("1"), PONG("1") "\n"));
	OK(says(&t, PING("1.0"), PONG("1.0") "\n"));
	OK(says(&t, PING("1E+3"), PONG("1E+3") "\n"));
	OK(says(&t, PING("-0"), PONG("-0") "\n"));
	OK(says(&t, PING("null"), PONG("null") "\n"));
	OK(says(&t, PING("\"a\\\"b\""), PONG("\"a\\\"b\"") "\n"));
	OK(says(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}", ""));
	OK(says(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"none\"}", ""));
	OK(says(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"none\"}",
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found: none\","
	    "\"data\":{\"kind\":\"method_not_found\",\"method\":\"none\"}}}\n"));
	OK(says(&t, "[]",
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"Invalid request\","
	    "\"data\":{\"kind\":\"invalid_request\",\"detail\":\"the batch is empty\"}}}\n"));
	OK(says(&t, "[" PING("1") "," PING("2") "]", "[" PONG("1") "," PONG("2") "]\n"));
	OK(says(&t, "[{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}]", ""));
	OK(says(&t, "[{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}," PING("2") "]", "[" PONG("2") "]\n"));
	OK(has(say(&t, "{\"jsonrpc\":\"2.0\",\"id\":1"), "\"id\":null,\"error\":{\"code\":-32700,"));
	OK(has(say(&t, ""), "\"id\":null,\"error\":{\"code\":-32700,"));

	/* no message leaves memory behind */
	used = t.rpc.state->scratch.used;
	for (i = 0; i < 20; i++)
		say(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}");
	OK(t.rpc.state->scratch.used == used && t.peer->ncalls == 0);
	end(&t);
	OK(t.idle == 1);
}

/* Hello and token. */
static void
gates(void)
{
	struct talk t = { .fd = -1 }, u = { .fd = -1 }, v = { .fd = -1 };
	static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"hello\",\"params\":"
	    "{\"name\":\"n\",\"version\":\"1\",\"agent\":\"a\",\"pid\":1,\"token\":\"%s\"}}";
	char text[300];

	t.rpc.access.token = STR("secret");
	begin(&t, RPC_TCP);
	OK(rpc_needs_token(&t.rpc, t.peer->via));
	OK(has(say(&t, PING("1")), "\"code\":-32001,"));
	OK(has(say(&t, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run.list\"}"), "\"code\":-32024,"));
	snprintf(text, sizeof(text), hello, "secre");
	OK(has(say(&t, text), "\"code\":-32001,"));
	OK(!t.peer->authed && t.peer->refused == 1);
	snprintf(text, sizeof(text), hello, "secretsecret");
	OK(has(say(&t, text), "\"code\":-32001,"));
	snprintf(text, sizeof(text), hello, "secret");
	OK(has(say(&t, text), "\"success\":true"));
	OK(t.peer->authed && t.peer->hello && t.peer->refused == 0);
	OK(str_is(t.peer->name, "n") && str_is(t.peer->agent, "a"));
	OK(says(&t, PING("1"), PONG("1") "\n"));
	end(&t);

	u.rpc.access.token = STR("secret");
	begin(&u, RPC_UNIX);
	OK(!rpc_needs_token(&u.rpc, u.peer->via));
	u.rpc.access.unix_token = true;
	OK(rpc_needs_token(&u.rpc, u.peer->via));
	end(&u);

	v.rpc.access.token = STR("secret");
	v.rpc.access.require_hello = true;
	begin(&v, RPC_STDIO);
	OK(!rpc_needs_token(&v.rpc, v.peer->via));
	OK(says(&v, PING("1"), PONG("1") "\n"));
	OK(has(say(&v, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"), "\"code\":-32600,"));
	end(&v);
}

static void
roots(void)
{
	struct talk t = { .fd = -1 }, u = { .fd = -1 };
	static const char *const list[] = { "/usr", "/tmp" };

	t.rpc.access.roots = list;
	t.rpc.access.nroots = COUNTOF(list);
	begin(&t, RPC_UNIX);
	OK(rpc_allows(t.peer, "/tmp") && rpc_allows(t.peer, "/tmp/none"));
	OK(rpc_allows(t.peer, "/usr"));
	OK(!rpc_allows(t.peer, "/") && !rpc_allows(t.peer, "/etc/passwd"));
	OK(!rpc_allows(t.peer, "/tmp/../etc/passwd"));
	OK(!rpc_allows(t.peer, "/tmpx"));
	end(&t);
	u.rpc.access.roots = list;
	u.rpc.access.nroots = COUNTOF(list);
	begin(&u, RPC_STDIO);
	OK(rpc_allows(u.peer, "/etc/passwd"));
	u.rpc.access.stdio_roots = true;
	OK(!rpc_allows(u.peer, "/etc/passwd"));
	end(&u);
}

/*
 * Calls that are answered later: a tool that is a command.
 */
static const char greet[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"hello\",\"params\":"
    "{\"name\":\"n\",\"version\":\"1\",\"agent\":\"a\",\"pid\":1}}";
#define CALL(id, name) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define NOTE(name) "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define CAT(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"success\":true,\"result\":\"{}\",\"structured\":{}}}"

static struct str
wait_for(struct talk *t)
{
	int i;

	t->got.n = 0;
	for (i = 0; i < 5000 && (t->got.n == 0 || t->peer->ncalls > 0 ||
	    conn_pending(t->peer->conn) > 0); i++) {
		loop_turn(l, &e);
		gather(t);
	}
	return buf_str(&t->got);
}

static void
later(void)
{
	struct talk t = { .fd = -1 };
	struct arena a = { 0 };
	struct str got;
	int other, i;

	t.tools.commands = read_json(&a, STR("{\"cat\":{\"command\":[\"cat\"]},"
	    "\"hang\":{\"command\":[\"tail\",\"-f\",\"/dev/null\"]}}"));
	begin(&t, RPC_UNIX);
	say(&t, greet);
	OK(says(&t, CALL("1", "cat"), "") && t.peer->ncalls == 1);
	OK(rpc_busy(&t.rpc));
	OK(str_is(wait_for(&t), CAT("1") "\n") && t.peer->ncalls == 0);
	OK(!rpc_busy(&t.rpc));

	/* a batch waits for its last call */
	OK(says(&t, "[" CALL("\"x\"", "cat") "," PING("2") "," NOTE("cat") "," CALL("3.0", "cat") "]", ""));
	got = wait_for(&t);
	OK(str_is(got, "[" PONG("2") "," CAT("\"x\"") "," CAT("3.0") "]\n") ||
	    str_is(got, "[" PONG("2") "," CAT("3.0") "," CAT("\"x\"") "]\n"));
	OK(says(&t, "[" NOTE("cat") "]", ""));
	OK(says(&t, NOTE("cat"), ""));
	for (i = 0; i < 500 && t.peer->ncalls > 0; i++)
		loop_turn(l, &e);
	OK(says(&t, PING("4"), PONG("4") "\n"));

	/* a ping is answered meanwhile; $/cancelRequest ends the call with its id */
	OK(says(&t, CALL("7", "hang"), ""));
	OK(says(&t, PING("2"), PONG("2") "\n"));
	OK(says(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":8}}", ""));
	OK(t.peer->ncalls == 1);
	say(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":7}}");
	OK(has(wait_for(&t), "\"id\":7,\"error\":{\"code\":-32031,"));

	/* the peer disconnects: its calls end, other peers are served */
	other = t.fd;
	OK(says(&t, "[" CALL("1", "hang") "," CALL("2", "cat") "," CALL("3", "hang") "]", ""));
	conn_drop(t.peer->conn);
	for (i = 0; i < 500 && rpc_busy(&t.rpc); i++)
		loop_turn(l, &e);
	OK(!rpc_busy(&t.rpc) && t.rpc.state->npeers == 0 && t.idle == 1);
	close(other);
	t.peer = join(&t, RPC_UNIX, &t.fd);
	OK(says(&t, PING("4"), PONG("4") "\n"));

	/* rpc_cancel() ends calls, too */
	say(&t, greet);
	OK(says(&t, CALL("1", "hang"), ""));
	rpc_cancel(&t.rpc);
	for (i = 0; i < 500 && rpc_busy(&t.rpc); i++)
		loop_turn(l, &e);
	OK(!rpc_busy(&t.rpc));
	end(&t);
	arena_free(&a);
}

/* A half-closed peer gets its replies, then the connection closes. */
static void
settling(void)
{
	struct talk t = { .fd = -1 };
	struct arena a = { 0 };
	int i;

	t.tools.commands = read_json(&a, STR("{\"cat\":{\"command\":[\"cat\"]}}"));
	begin(&t, RPC_UNIX);
	say(&t, greet);
	say(&t, CALL("1", "cat"));
	shutdown(t.fd, SHUT_WR);
	t.got.n = 0;
	for (i = 0; i < 5000 && t.idle == 0; i++) {
		loop_turn(l, &e);
		gather(&t);
	}
	OK(t.idle == 1);
	OK(str_is(buf_str(&t.got), CAT("1") "\n"));
	end(&t);
	arena_free(&a);
}

/* A reply that is too large becomes an error. */
static void
large(void)
{
	struct talk t = { .fd = -1 };
	struct buf b = { 0 };
	struct str got;
	int i;

	t.rpc.limits.conns.queue_max = 20000;
	begin(&t, RPC_UNIX);
	buf_putc(&b, '[');
	for (i = 0; i < 20; i++)
		buf_fmt(&b, "%s{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"rpc.discover\"}", i > 0 ? "," : "", i);
	buf_putc(&b, ']');
	rpc_message(t.peer, buf_str(&b));
	turns(1000);
	got = hear(&t);
	OK(got.n < 20000 && has(got, "\"id\":null,\"error\":{\"code\":-32029,"));
	buf_free(&b);
	end(&t);
}

static void
notes(void)
{
	struct talk t = { .fd = -1 };
	struct json_out *o;

	begin(&t, RPC_UNIX);
	o = rpc_notify(t.peer, "eval.log");
	json_open(o, '{');
	json_put_member_cstr(o, "level", "info");
	json_close(o, '}');
	rpc_notify_end(t.peer);
	turns(200);
	OK(str_is(hear(&t), "{\"jsonrpc\":\"2.0\",\"method\":\"eval.log\",\"params\":{\"level\":\"info\"}}\n"));
	end(&t);
}

int
main(void)
{
	int fds = tap_fd_count();

	os_init(&e);
	l = loop_new(NULL, &e);
	procs_init(&procs, l, false);
	table = (struct rpc){ .loop = l };
	rpc_init(&table);
	add_all(&table, &(struct tools){ 0 });
	RUN(numbers, methods, schemas, envelopes, gates, roots, later, settling,
	    large, notes);
	rpc_fini(&table);
	procs_fini(&procs);
	loop_free(l);
	OK(tap_fd_count() == fds);
	return tap_done();
}

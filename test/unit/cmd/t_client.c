/* SPDX-License-Identifier: ISC */
/*
 * The client side of JSON-RPC: addresses of servers, messages for people, and
 * servers that send nothing, too much, or invalid messages.
 */
#include "cmd/client/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "base/os_net.h"
#include "json.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

#if defined(OS_SHORT)		/* a byte at a time, and not always */
enum { EACH = 300 };
#else
enum { EACH = 1 };
#endif

static struct loop *l;
static struct err e;
static struct arena arena;
static char dir[] = "/tmp/t_client.XXXXXX";

static struct json *
value(const char *text)
{
	return read_json(&arena, str_of(text));
}

/*
 * Targets.
 */
static bool
is_target(const char *text, const char *name, const char *host)
{
	struct client_target t;

	e = (struct err){ 0 };
	if (client_target(&arena, text, &t, &e) == -1)
		return name == NULL && e.code == ERR_SCHEMA;
	if (name == NULL || strcmp(t.name, name) != 0) {
		printf("# %s is %s\n", text, t.name);
		return false;
	}
	return host != NULL ? t.path == NULL && strcmp(t.host, host) == 0 :
	    strcmp(t.path, name) == 0;
}

static void
targets(void)
{
	static const char *const refused[] = { "unix:", "h:", "h:x", "h:70000",
		"::1:9000", "tcp://h:1/x", "/a\nb", "a b:1" };
	char cwd[1000];
	size_t i;

	OK(is_target("/tmp/x.sock", "/tmp/x.sock", NULL));
	OK(is_target("unix:/tmp/x.sock", "/tmp/x.sock", NULL));
	OK(is_target("unix:///tmp/x.sock", "/tmp/x.sock", NULL));
	OK(is_target("localhost:9000", "localhost:9000", "localhost"));
	OK(is_target("tcp:localhost:9000", "localhost:9000", "localhost"));
	OK(is_target("tcp://h:1", "h:1", "h"));
	OK(is_target("http://h:3000", "h:3000", "h"));
	OK(is_target("http://[::1]:3000/", "[::1]:3000", "::1"));
	OK(is_target("http://h:3000/x", NULL, NULL));
	OK(is_target("https://h:3000", NULL, NULL));
	OK(is_target("9000", "127.0.0.1:9000", "127.0.0.1"));
	OK(is_target(":9000", "127.0.0.1:9000", "127.0.0.1"));
	OK(is_target("[::1]:9000", "[::1]:9000", "::1"));
	OK(is_target("/tmp/a:9", "/tmp/a:9", NULL));
	OK(getcwd(cwd, sizeof(cwd)) != NULL);
	OK(is_target("x.sock", arena_fmt(&arena, "%s/x.sock", cwd).p, NULL));
	OK(is_target("./x:1", arena_fmt(&arena, "%s/./x:1", cwd).p, NULL));
	OK(is_target("unix:x:1", arena_fmt(&arena, "%s/x:1", cwd).p, NULL));
	for (i = 0; i < COUNTOF(refused); i++)
		tap_ok(is_target(refused[i], NULL, NULL), refused[i], __FILE__,
		    __LINE__);
}

/*
 * The one that is remembered.
 */
static void
remembered(void)
{
	const char *home = arena_fmt(&arena, "%s/a/b", dir).p;
	const char *path = arena_fmt(&arena, "%s/connection", home).p;
	struct client_stored s = { .name = "/tmp/x y.sock" }, got;
	struct stat st;
	struct str text;

	setenv("WAZA_HOME", home, 1);
	OK(client_load(&arena, &got, &e) == 0);
	OK(client_forget(&arena, &e) == 0);
	OK(client_store(&arena, &s, &e) == 0);
	OK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	OK(stat(home, &st) == 0 && (st.st_mode & 0777) == 0700);
	OK(os_read_file(&arena, path, 1000, &text, &e) == 0 &&
	    str_is(text, "/tmp/x y.sock\n"));
	OK(client_load(&arena, &got, &e) == 1 &&
	    strcmp(got.name, s.name) == 0);
	OK(got.framing == NULL && got.token_file == NULL);
	s = (struct client_stored){ "h:1", "lsp", "/a/token file" };
	OK(client_store(&arena, &s, &e) == 0);
	OK(client_load(&arena, &got, &e) == 1 && strcmp(got.name, "h:1") == 0);
	OK(strcmp(got.framing, "lsp") == 0);
	OK(strcmp(got.token_file, "/a/token file") == 0);
	OK(client_forget(&arena, &e) == 1);
	OK(client_load(&arena, &got, &e) == 0);
	/* edited by hand: no newline at the end, unknown lines */
	OK(os_write_file(path, STR("/x"), &e) == 0);
	OK(client_load(&arena, &got, &e) == 1 && strcmp(got.name, "/x") == 0);
	OK(os_write_file(path, STR("\r\n/x\r\n\nfuture 1\nframing\n"),
	    &e) == 0);
	OK(client_load(&arena, &got, &e) == 1 && strcmp(got.name, "/x") == 0 &&
	    got.framing == NULL);
	OK(os_write_file(path, STR("\n\n"), &e) == 0);
	OK(client_load(&arena, &got, &e) == 0);
	OK(unlink(path) == 0 && mkdir(path, 0700) == 0);
	OK(client_load(&arena, &got, &e) == -1);
	OK(client_store(&arena, &s, &e) == -1);
	OK(rmdir(path) == 0);
	OK(rmdir(home) == 0);		/* nothing was left beside it */
	OK(rmdir(arena_fmt(&arena, "%s/a", dir).p) == 0);
	unsetenv("WAZA_HOME");
	setenv("HOME", "/x", 1);
	OK(strcmp(client_home(&arena, &e), "/x/.waza") == 0);
	unsetenv("HOME");
	OK(client_home(&arena, &e) == NULL);
}

/*
 * Words.
 */
static bool
is_note(const char *method, const char *params, const char *want)
{
	struct buf b = { 0 };

	client_put_note(&b, str_of(method), params == NULL ? NULL :
	    value(params));
	return is_buf(&b, want);
}

static bool
is_error(const char *error, const char *want)
{
	struct buf b = { 0 };

	client_put_error(&b, value(error));
	return is_buf(&b, want);
}

static void
words(void)
{
	const char *fix = "kaiak/generateFix/progress";
	struct buf b = { 0 };

	OK(is_note(fix, "{\"session_id\":\"s\",\"stage\":\"started\","
	    "\"progress\":0,\"data\":{}}",
	    "[kaiak/generateFix/progress] stage=started progress=0%\n"));
	OK(is_note(fix, "{\"progress\":\"x y\",\"stage\":{}}",
	    "[kaiak/generateFix/progress] stage={} progress=\"x y\"%\n"));
	OK(is_note(fix, NULL, "[kaiak/generateFix/progress]\n"));
	OK(is_note("a.b", "{\"a\":1,\"b\":\"\",\"c d\":[1,{\"x\":null}],"
	    "\"e\":\"two words\",\"f\":\"\\u001b[2J\"}",
	    "[a.b] a=1 b=\"\" \"c d\"=[1,{\"x\":null}] e=\"two words\" "
	    "f=\"\\u001b[2J\"\n"));
	OK(is_note("a", "[1,2]", "[a] [1,2]\n"));
	OK(is_note("a\x1b[2J\xc2\x9b", "\"\\u202e\"",
	    "[\"a\\u001b[2J\\u009b\"] \"\\u202e\"\n"));
	OK(is_note("##vso[a]", "{\"##[b\":\"##teamcity[c\",\"d\":\"#\"}",
	    "[\"\\u0023#vso[a]\"] \"\\u0023#[b\"=\"\\u0023#teamcity[c\" "
	    "d=\"#\"\n"));
	OK(is_note("a", "[\"\\udb40\\udc01 #\\u200b#[\"]",
	    "[a] [\"\\udb40\\udc01 #\\u200b#[\"]\n"));
	client_put_note(&b, STR("m"), value(arena_fmt(&arena,
	    "{\"long\":\"%01000d\"}", 0).p));
	OK(b.n < 500 && str_ends(buf_str(&b), STR("...\n")));
	b.n = 0;
	client_put_json(&b, value("{\"a\":[1],\"b\":\"\\u007f\\u0085\\u00e9"
	    "\\u2066\"}"), 2);
	OK(str_is(buf_str(&b), "{\n  \"a\": [\n    1\n  ],\n  \"b\": "
	    "\"\\u007f\\u0085\xc3\xa9\\u2066\"\n}"));
	buf_free(&b);

	OK(is_error("{\"code\":-32003,\"message\":\"Session not found\","
	    "\"data\":{\"session_id\":\"a b\",\"n\":1}}",
	    "Session not found (-32003)\n  session_id: \"a b\"\n  n: 1\n"));
	OK(is_error("{\"code\":1,\"message\":\"a\\u001b[1m\\nb\\u009b\","
	    "\"data\":null}", "a?[1m b? (1)\n"));
	OK(is_error("{\"message\":5,\"data\":\"x y\"}",
	    "error without a message\n  \"x y\"\n"));
	OK(is_error("7", "error without a message\n"));
	OK(is_error("{\"message\":\"m\",\"data\":[1,\"b\"]}",
	    "m\n  1\n  b\n"));
	OK(client_is_kind(value("{\"code\":1,\"data\":{\"kind\":\"k\"}}"),
	    "k", 2));
	OK(!client_is_kind(value("{\"code\":2,\"data\":{\"kind\":\"k\"}}"),
	    "x", 2));
	OK(client_is_kind(value("{\"code\":2}"), "x", 2));
	OK(!client_is_kind(value("[]"), "x", 2));
}

/*
 * A server of the test, and a client.
 */
struct pair {
	struct client c;
	struct client_opts o;
	int at, fd;		/* where it listens; its end */
	struct buf in;		/* bytes that the server received */
	struct buf log;		/* callbacks of the client */
	int changes;
};

static void
turns(int n)
{
	for (n *= EACH; n > 0; n--)
		turn_loop(l);
}

static void
later(int64_t ms)
{
	fake_now += ms;
	turns(3);
}

static void
on_note(void *arg, const struct json *message, struct str method,
    const struct json *params)
{
	struct pair *p = arg;

	(void)message;
	buf_fmt(&p->log, "%.*s:", STRF(method));
	client_put_json(&p->log, params, 0);
	buf_putc(&p->log, ' ');
}

static void
on_change(void *arg)
{
	struct pair *p = arg;

	p->changes++;
}

static void
on_answer(void *arg, const struct client_answer *a)
{
	struct pair *p = arg;

	if (a->lost != NULL)
		buf_fmt(&p->log, "lost:%s ", a->lost->msg);
	else {
		buf_puts(&p->log, a->error != NULL ? "error:" : "result:");
		client_put_json(&p->log, a->error != NULL ? a->error :
		    a->result, 0);
		buf_putc(&p->log, ' ');
	}
}

static bool
is_log(struct pair *p, const char *want)
{
	bool same;

	if (p->log.n > 0)
		p->log.n--;
	same = str_is(buf_str(&p->log), want);
	if (!same)
		printf("# want %s\n# got  %.*s\n", want,
		    STRF(buf_str(&p->log)));
	p->log.n = 0;
	return same;
}

static bool
lost(struct pair *p, const char *words)
{
	bool same = strstr(p->c.err.msg, words) != NULL &&
	    p->c.state == CLIENT_OVER;

	if (!same)
		printf("# state %d: %s\n", p->c.state, p->c.err.msg);
	return same;
}

/* The bytes that the client sent since the last call. */
static const char *
got(struct pair *p)
{
	const char *s;
	int i;

	for (i = 0; i < 5; i++) {
		turns(1);
		read_available(p->fd, &p->in);
	}
	s = arena_fmt(&arena, "%.*s", STRF(buf_str(&p->in))).p;
	p->in.n = 0;
	return s;
}

static void
say(struct pair *p, const char *text)
{
	size_t at = 0, n = strlen(text);
	ssize_t k;

	while (at < n && p->c.state != CLIENT_OVER) {
		k = write(p->fd, text + at, n - at);
		if (k > 0)
			at += (size_t)k;
		turns(1);
	}
	turns(3);
}

static void
accept_it(struct pair *p)
{
	turns(2);
	p->fd = os_accept(p->at);
	turns(2);
}

/* Up to hello, which is in got(). */
static void
begin(struct pair *p, const struct conn_framer *f)
{
	const char *path = arena_fmt(&arena, "%s/s", dir).p;

	*p = (struct pair){ .fd = -1 };
	p->at = os_listen_unix(path, &e);
	p->o = (struct client_opts){ .loop = l, .framer = f,
		.version = "9", .timeout_ms = 10000,
		.notify = on_note, .changed = on_change, .arg = p };
	p->o.limits.message_max = 10000;
	client_target(&arena, path, &p->o.target, &e);
	client_start(&p->c, &p->o);
	accept_it(p);
}

/* Up to READY. */
static void
begin_ready(struct pair *p)
{
	begin(p, &conn_line);
	got(p);
	say(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

static void
finish(struct pair *p)
{
	client_fini(&p->c);
	client_fini(&p->c);
	os_close(&p->fd);
	os_close(&p->at);
	unlink(p->o.target.path);
	buf_free(&p->in);
	buf_free(&p->log);
}

static void
conversation(void)
{
	struct pair p;
	const char *s;

	begin(&p, &conn_line);
	OK(p.c.state == CLIENT_GREETING && p.changes == 0);
	s = got(&p);
	OK(strncmp(s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\","
	    "\"params\":{\"name\":\"waza\",\"version\":\"9\",\"agent\":"
	    "\"cli\",\"pid\":", 90) == 0);
	OK(strstr(s, "token") == NULL && s[strlen(s) - 1] == '\n');
	OK(client_ask(&p.c, "a", STR("{\"x\":1}"), on_answer, &p) == 2);
	OK(strcmp(got(&p), "") == 0);
	say(&p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"success\":true,"
	    "\"server\":{\"name\":\"srv\\u001b\",\"version\":\"1.0\"}}}\n");
	OK(p.c.state == CLIENT_READY && p.changes == 1);
	OK(str_is(p.c.server, "srv? 1.0"));
	OK(strcmp(got(&p), "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"a\","
	    "\"params\":{\"x\":1}}\n") == 0);
	OK(client_ask(&p.c, "b", STR(""), on_answer, &p) == 3);
	OK(strcmp(got(&p), "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"b\"}"
	    "\n") == 0);
	/* notifications, strangers, nothing; then answers in any order */
	say(&p, "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"k\":1}}\n"
	    "{\"method\":\"m\",\"id\":null}\n\n  \n5\n\"x\"\n[]\n{}\n"
	    "{\"id\":99,\"result\":1}\n{\"id\":\"2\",\"result\":1}\n"
	    "{\"id\":{},\"result\":1}\n{\"id\":2.5,\"result\":1}\n"
	    "{\"id\":null,\"result\":1}\n");
	OK(is_log(&p, "n:{\"k\":1} m:null"));
	say(&p, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":2}\n{\"id\":2,\"result\":7}\n");
	OK(is_log(&p, "error:{\"code\":1} result:null"));
	/* it asks us */
	say(&p, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"x\"}\n");
	OK(strcmp(got(&p), "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"error\":"
	    "{\"code\":-32601,\"message\":\"Method not found\"}}\n") == 0);
	/* a batch; an error about no question in particular */
	client_ask(&p.c, "c", STR(""), on_answer, &p);
	client_ask(&p.c, "d", STR(""), on_answer, &p);
	client_ask(&p.c, "e", STR(""), on_answer, &p);
	say(&p, "[{\"id\":6,\"result\":6},{\"method\":\"n\"},{\"id\":4,"
	    "\"result\":4}]\n{\"id\":null,\"error\":{\"code\":-32700}}\n");
	OK(is_log(&p, "result:6 n:null result:4 error:{\"code\":-32700}"));
	got(&p);
	client_cancel(&p.c, 7);
	OK(strcmp(got(&p), "{\"jsonrpc\":\"2.0\",\"method\":"
	    "\"$/cancelRequest\",\"params\":{\"id\":7}}\n") == 0);
	OK(client_pending(&p.c) == 0);
	/* the server disconnects */
	client_ask(&p.c, "last", STR(""), on_answer, &p);
	os_close(&p.fd);
	turns(3);
	OK(lost(&p, "disconnected before it answered last"));
	OK(p.log.n > 0 && p.changes == 2);
	p.log.n = 0;
	client_ask(&p.c, "late", STR(""), on_answer, &p);
	OK(p.log.n == 0);
	turns(2);
	OK(p.log.n > 0 && strncmp(p.log.p, "lost:", 5) == 0);
	finish(&p);
}

static void
framings(void)
{
	struct pair p;
	const char *s;

	/* blocks are the usual on unix sockets */
	begin(&p, NULL);
	s = got(&p);
	OK(strncmp(s, "Content-Length: ", 16) == 0 &&
	    strstr(s, "\r\n\r\n{\"jsonrpc\"") != NULL);
	say(&p, "Content-Length: 35\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,"
	    "\"result\":1}");
	OK(p.c.state == CLIENT_READY);
	finish(&p);
	/* whatever the server answers in */
	begin(&p, NULL);
	got(&p);
	say(&p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n");
	OK(p.c.state == CLIENT_READY);
	say(&p, "content-length: 14\n\n{\"method\":\"n\"}");
	OK(is_log(&p, "n:null"));
	finish(&p);
	begin(&p, &conn_line);
	got(&p);
	say(&p, "\r\nContent-Length: 18\r\n\r\n{\"id\":1,\"error\":1}");
	OK(lost(&p, "rejects the connection: error without a message"));
	finish(&p);
}

static void
greetings(void)
{
	struct pair p;

	/* one that does not know hello, by its kind or by its number */
	begin(&p, &conn_line);
	got(&p);
	say(&p, "{\"id\":1,\"error\":{\"code\":-32601}}\n");
	OK(p.c.state == CLIENT_READY && p.c.server.n == 0);
	finish(&p);
	/* one that wants a token, and one that wants another */
	begin(&p, &conn_line);
	client_ask(&p.c, "a", STR(""), on_answer, &p);
	say(&p, "{\"id\":1,\"error\":{\"code\":-32001,\"data\":{\"kind\":"
	    "\"auth_failed\"}}}\n");
	OK(lost(&p, "requires a token: set WAZA_AUTH_TOKEN") && p.c.refused);
	OK(p.log.n > 0 && p.changes == 1);
	finish(&p);
	begin(&p, &conn_line);
	client_fini(&p.c);
	os_close(&p.fd);
	p.o.token = STR("s3 \"cret");
	client_start(&p.c, &p.o);
	accept_it(&p);
	OK(strstr(got(&p), "\"token\":\"s3 \\\"cret\"}") != NULL);
	say(&p, "{\"id\":1,\"error\":{\"code\":-32001}}\n");
	OK(lost(&p, "rejects this token") && p.c.refused);
	OK(strstr(p.c.err.msg, "cret") == NULL);
	finish(&p);
	begin(&p, &conn_line);
	say(&p, "{\"id\":1,\"error\":{\"code\":5,\"message\":\"no\\u001b\"}}\n");
	OK(lost(&p, "rejects the connection: no? (5)") && !p.c.refused);
	finish(&p);
}

static bool
refuses(const char *text, const char *words, bool close_it)
{
	struct pair p;
	bool ok;

	begin_ready(&p);
	client_ask(&p.c, "a", STR(""), on_answer, &p);
	got(&p);
	say(&p, text);
	if (close_it)
		os_close(&p.fd);
	turns(EACH > 1 ? 100 : 3);
	ok = lost(&p, words) && strncmp(p.log.p, "lost:", 5) == 0;
	finish(&p);
	return ok;
}

static void
nonsense(void)
{
	struct pair p;
	char *big = arena_alloc(&arena, 20002, 1);

	memset(big, '9', 20000);
	big[20000] = '\n';
	OK(refuses("SSH-2.0-OpenSSH_9\x1b[2J\r\n",
	    "does not speak JSON-RPC: it sent [\"SSH-2.0-OpenSSH_9"
	    "\\u001b[2J", false));
	OK(refuses("HTTP/1.1 400 Bad Request\r\n\r\n", "JSON-RPC", false));
	OK(refuses("\xff\xfe\n", "does not speak JSON-RPC", false));
	OK(refuses("{\"id\":2,\"resu", "in the middle of a message", true));
	OK(refuses("{\"id\":2,\"result\":[[[}\n", "does not speak", false));
	OK(refuses("Content-Length: 50\r\n\r\n{\"id\":2", "disconnected",
	    true));
	OK(refuses("Content-Length: x\r\n\r\n", "invalid message from", false));
	OK(refuses("Content-Length: 99999999999999999999999\r\n\r\n",
	    ": Message exceeds maximum size", false));
	OK(refuses(big, "Message exceeds maximum size", false));
	OK(refuses("", "disconnected before it answered a", true));
	/* nested beyond measure */
	memset(big, '[', 9000);
	strcpy(big + 9000, "\n");
	OK(refuses(big, "does not speak JSON-RPC", false));
	/* before a word */
	begin(&p, &conn_line);
	os_close(&p.fd);
	turns(3);
	OK(lost(&p, "closed the connection without an answer"));
	finish(&p);
	/* many at once, and it ends among them */
	begin_ready(&p);
	memset(big, '\n', 20000);
	memcpy(big, "{\"method\":\"n\"}\nx\n{\"method\":\"n\"}\n", 33);
	say(&p, big);
	OK(is_log(&p, "n:null") && p.c.state == CLIENT_OVER);
	finish(&p);
}

static void
unreachable(void)
{
	struct client_opts o = { .loop = l, .version = "9" };
	struct os_listener port = { .fd = -1 };
	struct pair p = { .fd = -1 };
	char *number;

	o.changed = on_change;
	o.arg = &p;
	client_target(&arena, arena_fmt(&arena, "%s/none", dir).p, &o.target,
	    &e);
	client_start(&p.c, &o);
	client_ask(&p.c, "a", STR(""), on_answer, &p);
	OK(p.log.n == 0 && p.changes == 0);
	turns(2);
	OK(lost(&p, "/none: No such file or directory; is the server running?"));
	OK(p.c.err.sys == ENOENT && p.log.n > 0 && p.changes == 1);
	client_fini(&p.c);
	buf_free(&p.log);

	OK(os_listen_tcp("127.0.0.1", "0", false, &port, 1, &e) == 1);
	number = strrchr(port.name, ':') + 1;
	os_close(&port.fd);
	OK(client_target(&arena, number, &o.target, &e) == 0);
	client_start(&p.c, &o);
	turns(3);
	OK(lost(&p, "is the server running?") &&
	    p.c.err.sys == ECONNREFUSED);
	client_fini(&p.c);
	o.target.port = "no port";	/* or a host: but that may take long */
	client_start(&p.c, &o);
	turns(3);
	OK(lost(&p, "cannot find 127.0.0.1 port no port"));
	client_fini(&p.c);
	client_target(&arena, "/a", &o.target, &e);
	o.target.path = arena_fmt(&arena, "/%0200d", 0).p;
	client_start(&p.c, &o);
	turns(3);
	OK(lost(&p, "the path of a unix socket must be 1 to"));
	client_fini(&p.c);

	/* freed before the connection is made */
	client_target(&arena, number, &o.target, &e);
	client_start(&p.c, &o);
	client_ask(&p.c, "a", STR("{}"), on_answer, &p);
	client_fini(&p.c);
	turns(2);
	OK(p.log.n == 0);
}

/* TCP: keepalive and lines are the usual. */
static void
network(void)
{
	struct os_listener port = { .fd = -1 };
	struct pair p = { .fd = -1 };

	OK(os_listen_tcp("127.0.0.1", "0", false, &port, 1, &e) == 1);
	p.at = port.fd;
	p.o = (struct client_opts){ .loop = l, .version = "9",
		.timeout_ms = 10000, .changed = on_change, .arg = &p };
	client_target(&arena, port.name, &p.o.target, &e);
	client_start(&p.c, &p.o);
	client_ask(&p.c, "a", STR(""), on_answer, &p);
	accept_it(&p);
	OK(strncmp(got(&p), "{\"jsonrpc\":\"2.0\"", 16) == 0);
	say(&p, "{\"id\":2,\"result\":{}}\n{\"id\":1,\"result\":[1]}\n");
	OK(is_log(&p, "result:[1]"));
	client_fini(&p.c);
	os_close(&p.fd);
	os_close(&p.at);
	buf_free(&p.in);
	buf_free(&p.log);
}

static void
silence(void)
{
	struct pair p;
	int i;

	/* to hello */
	begin(&p, &conn_line);
	later(9900);
	OK(p.c.state == CLIENT_GREETING);
	later(200);
	OK(lost(&p, "did not answer within 10 s") &&
	    p.c.err.code == ERR_TIMEOUT);
	finish(&p);
	/* during a call the client pings the server; any answer counts */
	begin_ready(&p);
	client_ask(&p.c, "a", STR(""), on_answer, &p);
	got(&p);
	later(4900);
	OK(strcmp(got(&p), "") == 0);
	later(200);
	OK(strstr(got(&p), "\"id\":3,\"method\":\"ping\"") != NULL);
	for (i = 0; i < 5; i++) {
		later(4900);
		say(&p, i == 0 ? "{\"id\":3,\"error\":{}}\n" :
		    "{\"method\":\"n\"}\n");
	}
	OK(p.c.state == CLIENT_READY && strcmp(got(&p), "") == 0);
	later(5100);
	later(5100);
	OK(lost(&p, "no message for 10 s"));
	finish(&p);
	/* a client can be freed before the server answers */
	begin(&p, &conn_line);
	client_fini(&p.c);
	os_close(&p.fd);
	p.o.timeout_ms = 0;
	client_start(&p.c, &p.o);
	accept_it(&p);
	later(10000000);
	OK(p.c.state == CLIENT_GREETING);
	finish(&p);
	/* one that is held is not silent */
	begin_ready(&p);
	client_hold(&p.c, true);
	say(&p, "{\"method\":\"n\"}\n");
	later(100000);
	OK(p.c.state == CLIENT_READY && p.log.n == 0);
	client_hold(&p.c, false);
	turns(3);
	OK(is_log(&p, "n:null"));
	later(5100);
	later(5100);
	OK(p.c.state == CLIENT_OVER);
	client_hold(&p.c, true);
	finish(&p);
}

/* A server whose queue is full: it is tried again. */
static void
crowd(void)
{
	struct pair p;
	int fds[200], n = 0, i;
	const char *path = arena_fmt(&arena, "%s/s", dir).p;

	begin(&p, &conn_line);
	client_fini(&p.c);
	os_close(&p.fd);
	listen(p.at, 1);
	while (n < 200 && (fds[n] = os_connect_unix(path, &e)) != -1)
		n++;
	client_start(&p.c, &p.o);
	if (n == 200 || e.sys != EAGAIN)
		SKIP("no queue is ever full here");
	else {
		turns(3);
		OK(p.c.state == CLIENT_CONNECTING);
		for (i = 0; i < n; i++)
			os_close(&fds[i]);
		while ((i = os_accept(p.at)) != -1)
			os_close(&i);
		later(60);
		turns(3);
		OK(p.c.state == CLIENT_GREETING);
	}
	for (i = 0; n == 200 && i < n; i++)
		os_close(&fds[i]);
	finish(&p);
}

int
main(void)
{
	int fds = tap_fd_count();

	os_init(&e);
	OK(mkdtemp(dir) != NULL);
	l = loop_new(fake_clock, &e);
	RUN(targets, remembered, words, conversation, framings, greetings,
	    nonsense, unreachable, network, silence, crowd);
	loop_free(l);
	OK(rmdir(dir) == 0);
	arena_free(&arena);
	OK(tap_fd_count() == fds);
	return tap_done();
}

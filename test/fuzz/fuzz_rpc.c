/* SPDX-License-Identifier: ISC */
/*
 * Input: lines as messages to the dispatcher.  All its output is valid
 * JSON-RPC.  A request with an id gets one answer with that id; a notification
 * gets none.  Requests cannot open files, because there are no roots.
 */
#include <assert.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "io/conn.h"
#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "rpc/rpc_internal.h"
#include "rpc/session.h"
#include "rpc/tool.h"
#include "test/tool/help.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum {
	BATCH_MAX = 1000,	/* as in rpc.c */
	LINE_MAX_BYTES = 60000,	/* that a socket takes for certain */
	ROUNDS = 1000000	/* a byte each at worst, and its answer */
};

static bool
is_string(const struct json *v, const char *text)
{
	return v != NULL && v->type == JSON_STRING && str_is(json_text(v),
	    text);
}

/* Whether an element is answered; *id: with that id, or NULL for null. */
static bool
is_answered(const struct json *v, const struct json **id)
{
	const struct json *method = json_getc(v, "method");
	bool valid;

	*id = NULL;
	if (v->type != JSON_OBJECT)
		return true;
	if (method == NULL && (json_getc(v, "result") != NULL ||
	    json_getc(v, "error") != NULL))
		return false;	/* a response */
	*id = json_getc(v, "id");
	if (*id != NULL && (*id)->type != JSON_STRING &&
	    (*id)->type != JSON_NUMBER && (*id)->type != JSON_NULL) {
		*id = NULL;
		return true;
	}
	valid = is_string(json_getc(v, "jsonrpc"), "2.0") && method != NULL &&
	    method->type == JSON_STRING;
	return *id != NULL || !valid;
}

static void
check_answer(const struct json *v, const struct json *id)
{
	const struct json *got = json_getc(v, "id");
	const struct json *result = json_getc(v, "result");
	const struct json *error = json_getc(v, "error");
	int64_t code;

	assert(v->type == JSON_OBJECT && json_count(v) == 3);
	assert(is_string(json_getc(v, "jsonrpc"), "2.0"));
	assert(got != NULL && (result != NULL) != (error != NULL));
	if (id == NULL || id->type == JSON_NULL)
		assert(got->type == JSON_NULL);
	else
		assert(got->type == id->type &&
		    str_eq(json_text(got), json_text(id)));
	if (error == NULL)
		return;
	assert(json_int(json_getc(error, "code"), &code));
	assert(code >= -32768 && code <= -32000);
	assert(json_getc(error, "message")->type == JSON_STRING);
	assert(json_getc(json_getc(error, "data"), "kind") != NULL);
}

static size_t
count_answered(const struct json *list)
{
	const struct json *v, *id;
	size_t n = 0;

	for (v = json_first(list); v != NULL; v = v->next)
		n += is_answered(v, &id);
	return n;
}

/* The answers are exactly those that are expected. */
static void
check(struct arena *a, struct str said, struct str got)
{
	const struct json *v = read_json(a, said), *w, *id = NULL, *x, *y;
	bool some = true;

	if (v != NULL && v->type == JSON_ARRAY && json_count(v) > 0 &&
	    json_count(v) <= BATCH_MAX)
		some = count_answered(v) > 0;
	else if (v != NULL && v->type != JSON_ARRAY)
		some = is_answered(v, &id);
	assert(some == (got.n > 0));
	if (got.n == 0)
		return;
	assert(got.p[got.n - 1] == '\n');
	assert(memchr(got.p, '\n', got.n) == got.p + got.n - 1);
	got.n--;
	w = read_json(a, got);
	assert(w != NULL);
	if (w->type != JSON_ARRAY) {
		check_answer(w, id);
		return;
	}
	y = json_first(w);
	for (x = json_first(v); x != NULL; x = x->next)
		if (is_answered(x, &id)) {
			assert(y != NULL);
			check_answer(y, id);
			y = y->next;
		}
	assert(y == NULL);
}

struct talk {
	struct rpc rpc;
	struct tools tools;
	struct loop *loop;
	struct rpc_peer *peer;
	int fd, idle;
	int far;		/* the dispatcher's end */
	bool over;		/* it was disconnected */
	struct buf got;
};

static void
on_idle(void *arg)
{
	struct talk *t = arg;

	t->idle++;
}

static void
hear(struct talk *t)
{
	if (read_available(t->fd, &t->got))
		t->over = true;
}

static bool
is_blank(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (strchr(" \t\r", s.p[i]) == NULL || s.p[i] == '\0')
			return false;
	return true;
}

/* There is something to read, to answer or to send. */
static bool
busy(const struct talk *t)
{
	char c;

	return t->idle == 0 && (t->peer->ncalls > 0 ||
	    conn_pending(t->peer->conn) > 0 ||
	    recv(t->far, &c, 1, MSG_PEEK | MSG_DONTWAIT) == 1);
}

/* Until every call is answered. */
static void
say(struct talk *t, struct str s)
{
	struct arena a = { 0 };
	int i;

	t->got.n = 0;
	assert(write(t->fd, s.p, s.n) == (ssize_t)s.n);
	assert(write(t->fd, "\n", 1) == 1);
	for (i = 0; i < 3 || (i < ROUNDS && busy(t)); i++) {
		turn_loop(t->loop);
		hear(t);
	}
	if (is_blank(s))
		assert(t->got.n == 0);
	else
		check(&a, s, buf_str(&t->got));
	arena_free(&a);
}

static void
begin(struct talk *t, bool token)
{
	static const char *const roots[] = { "/nowhere/at/all" };
	struct err e;
	int fd[2];

	assert(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	os_nonblock(fd[0]);
	os_nonblock(fd[1]);
	t->fd = fd[1];
	t->far = fd[0];
	t->rpc.loop = t->loop;
	t->rpc.version = "0";
	t->rpc.access.roots = roots;
	t->rpc.access.nroots = 1;
	t->rpc.idle = on_idle;
	t->rpc.idle_arg = t;
	if (token)
		t->rpc.access.token = STR("t");
	rpc_init(&t->rpc);
	rpc_add_evals(&t->rpc);
	tool_add(&t->rpc, &t->tools);
	assert(session_open(&t->rpc, &(struct session_opts){ 0 }, &e) == 0);
	t->peer = rpc_accept(&t->rpc, token ? RPC_TCP : RPC_UNIX, fd[0],
	    fd[0], &conn_line, false);
	assert(t->peer != NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct talk t = { 0 };
	struct procs procs;
	struct str s = { (const char *)data, size }, line;
	const char *eol;
	struct err e;

	if (size == 0 || size > LINE_MAX_BYTES)
		return 0;
	os_init(&e);
	t.loop = loop_new(NULL, &e);
	assert(t.loop != NULL);
	procs_init(&procs, t.loop, false);
	t.rpc.procs = &procs;
	begin(&t, s.p[0] == 'T');
	while (s.n > 0 && t.idle == 0 && !t.over) {
		eol = memchr(s.p, '\n', s.n);
		line = (struct str){ s.p, eol != NULL ?
			(size_t)(eol - s.p) : s.n };
		say(&t, line);
		s.p += line.n + (eol != NULL);
		s.n -= line.n + (eol != NULL);
	}
	assert(rpc_view_counts(&t.rpc).unfinished == 0);
	rpc_fini(&t.rpc);
	assert(t.idle == 1 && t.rpc.state == NULL);
	close(t.fd);
	buf_free(&t.got);
	procs_fini(&procs);
	loop_free(t.loop);
	return 0;
}

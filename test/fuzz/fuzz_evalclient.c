/* SPDX-License-Identifier: ISC */
/*
 * Input: lines as messages of two evaluation clients, while evaluations start
 * and end and time passes.  All replies are JSON with a type or JSON-RPC and
 * do not contain the secret.  An evaluation ends at most once; until then the
 * hub lists it.
 *
 *	!1 !2   select the client           !d   disconnect and reconnect
 *	!e      submit an evaluation        !c   cancel the oldest one
 *	!s !l   wait 1 s, 30 s              other lines are sent; @ is the id of
 *	                                    the client's last request
 */
#include <assert.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/hub.h"
#include "base/base.h"
#include "base/os.h"
#include "io/conn.h"
#include "io/loop.h"
#include "json.h"
#include "lib/ws.h"
#include "test/tool/help.h"
#include "web/evalclient.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { EVALS = 16, SIZE_MAX_BYTES = 20000, LINES_MAX = 300 };

#define SECRET "tOkEn"


struct client {
	struct scene *scene;
	struct conn *conn;
	int fd;
	struct ws ws;
	char id[64];		/* of the last request */
};

struct work {
	struct hub_eval x;
	bool used;
	int done;
};

struct scene {
	struct loop *loop;
	struct conns conns;
	struct hub hub;
	struct evalclients peers;
	struct client client[2];
	struct work work[EVALS];
	size_t cur, nwork, oldest;
};

static void
on_done(void *arg, const struct hub_end *end)
{
	struct work *w = arg;

	assert(!hub_busy(&w->x));
	assert((end->how == HUB_RESULT) == (end->result != NULL));
	assert((end->how == HUB_ERROR) == (end->error != NULL));
	w->done++;
	assert(w->done == 1);
}

static void
on_status(void *arg, const struct hub_status *s)
{
	(void)arg;
	assert(s->progress == -1 || (s->progress >= 0 && s->progress <= 1));
}

/* Checks a message that a client receives. */
static void
check(struct client *c, struct str s)
{
	struct arena a = { 0 };
	const struct json *m = read_json(&a, s);
	struct str id = json_str(m, "id");

	assert(m != NULL && m->type == JSON_OBJECT);
	assert((json_str(m, "type").n > 0) != (json_str(m, "jsonrpc").n > 0));
	if (str_is(json_str(m, "method"), "evaluate")) {
		assert(id.n > 0 && id.n < sizeof(c->id));
		memcpy(c->id, id.p, id.n);
		c->id[id.n] = '\0';
	}
	/* but its own text may be echoed */
	if (json_getc(m, "method") != NULL ||
	    str_is(json_str(m, "type"), "welcome"))
		assert(strstr(arena_cstr(&a, s), SECRET) == NULL);
	arena_free(&a);
}

static void
hear(struct client *c)
{
	char block[65536];
	struct ws_event ev;
	struct str in;
	struct err e;
	ssize_t n;
	size_t used;
	int rc;

	if (c->scene == NULL)		/* not connected yet: fd 0 is stdin */
		return;
	while ((n = read(c->fd, block, sizeof(block))) > 0) {
		in = (struct str){ block, (size_t)n };
		while ((rc = ws_next(&c->ws, in, &used, &ev, &e)) == 1) {
			in.p += used;
			in.n -= used;
			if (ev.op == WS_TEXT)
				check(c, ev.data);
		}
		assert(rc == 0);
	}
}

static void
turns(struct scene *s)
{
	struct timer t = { .fn = no_op };
	struct err e;
	int i;

	for (i = 0; i < 3; i++) {
		timer_start(s->loop, &t, 0);
		loop_turn(s->loop, &e);
		hear(&s->client[0]);
		hear(&s->client[1]);
	}
	timer_stop(s->loop, &t);
}

static void
on_first(void *arg, struct str text)
{
	struct client *c = arg;

	(void)text;
	evalclient_adopt(&c->scene->peers, c->conn, &conn_ws, false);
}

static void
on_broken(void *arg, const struct err *e)
{
	(void)arg;
	(void)e;
}

static void
dial(struct scene *s, struct client *c)
{
	int fd[2];

	*c = (struct client){ .scene = s, .ws = { .client = true } };
	assert(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	os_nonblock(fd[0]);
	os_nonblock(fd[1]);
	c->fd = fd[1];
	c->conn = conn_new(&s->conns, &(struct conn_opts){ .in = fd[0],
		.out = fd[0], .framer = &conn_line, .message = on_first,
		.broken = on_broken, .ended = no_op, .gone = no_op,
		.arg = c });
	assert(c->conn != NULL && write(c->fd, "x\n", 2) == 2);
	turns(s);
}

static void
hang_up(struct client *c)
{
	close(c->fd);
	ws_free(&c->ws);
}

static void
submit(struct scene *s)
{
	struct work *w = &s->work[s->nwork++ % EVALS];
	struct err e;

	if (w->used && hub_busy(&w->x))
		return;
	assert(!w->used || w->done <= 1);
	*w = (struct work){ .used = true, .x = { .id = STR("e"),
		.tool = s->nwork % 3 == 0 ? STR("u") : STR("t"),
		.params = STR("{}"), .timeout_ms = 5000, .wait_ms = 30000,
		.retries = (unsigned)(s->nwork % 3),
		.priority = (enum hub_priority)(s->nwork % 4),
		.status = on_status, .done = on_done, .arg = w } };
	assert(hub_submit(&s->hub, &w->x, &e) == 0);
}

static void
pass(struct scene *s, int64_t ms)
{
	int64_t until = fake_now + ms;

	while (fake_now < until) {
		fake_now += until - fake_now < 5000 ? until - fake_now : 5000;
		turns(s);
	}
}

static void
say(struct scene *s, struct client *c, struct str line)
{
	static const unsigned char mask[WS_MASK] = { 1, 2, 3, 4 };
	struct buf text = { 0 }, frame = { 0 };
	size_t i;
	ssize_t n;

	for (i = 0; i < line.n; i++)
		if (line.p[i] == '@')
			buf_puts(&text, c->id);
		else
			buf_putc(&text, line.p[i]);
	if (utf8_valid(buf_str(&text))) {
		ws_put(&frame, WS_TEXT, buf_str(&text), mask);
		n = write(c->fd, frame.p, frame.n);	/* or it has gone */
		(void)n;
	}
	turns(s);
	buf_free(&text);
	buf_free(&frame);
}

static void
obey(struct scene *s, char what)
{
	struct work *w;

	switch (what) {
	case '1':
	case '2':
		s->cur = (size_t)(what - '1');
		break;
	case 'd':
		hang_up(&s->client[s->cur]);
		turns(s);
		dial(s, &s->client[s->cur]);
		break;
	case 'e':
		submit(s);
		break;
	case 'c':
		w = &s->work[s->oldest++ % EVALS];
		if (w->used)
			hub_cancel(&w->x);
		break;
	case 's':
		pass(s, 1000);
		break;
	case 'l':
		pass(s, 30000);
		break;
	}
}

static void
check_counts(const struct scene *s)
{
	size_t i, busy = 0;

	for (i = 0; i < EVALS; i++)
		busy += s->work[i].used && hub_busy(&s->work[i].x);
	assert(s->hub.waiting + s->hub.running <= busy);	/* some rest */
	assert(s->hub.nclients <= 2);
}

static void
play(struct scene *s, struct str text)
{
	struct str line;
	const char *eol;
	int n = 0;

	while (text.n > 0 && n++ < LINES_MAX) {
		eol = memchr(text.p, '\n', text.n);
		line = (struct str){ text.p, eol != NULL ?
			(size_t)(eol - text.p) : text.n };
		if (line.n == 2 && line.p[0] == '!')
			obey(s, line.p[1]);
		else
			say(s, &s->client[s->cur], line);
		check_counts(s);
		text.p += line.n + (eol != NULL);
		text.n -= line.n + (eol != NULL);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scene s = { 0 };
	struct str text = { (const char *)data, size };
	struct err e;
	size_t i;

	if (size == 0 || size > SIZE_MAX_BYTES)
		return 0;
	fake_now = 1000;
	os_init(&e);
	s.loop = loop_new(fake_clock, &e);
	assert(s.loop != NULL);
	s.conns.loop = s.loop;
	conns_init(&s.conns);
	s.hub = (struct hub){ .loop = s.loop, .grace_ms = 2000,
		.lost_ms = 10000 };
	hub_init(&s.hub);
	s.peers = (struct evalclients){ .loop = s.loop, .hub = &s.hub,
		.version = "0", .token = data[0] == 'T' ? STR(SECRET) :
		STR("") };
	evalclients_init(&s.peers);
	dial(&s, &s.client[0]);
	dial(&s, &s.client[1]);
	play(&s, text);
	for (i = 0; i < EVALS; i++)
		if (s.work[i].used)
			hub_cancel(&s.work[i].x);
	assert(s.hub.waiting == 0 && s.hub.running == 0);
	conns_fini(&s.conns);
	hang_up(&s.client[0]);
	hang_up(&s.client[1]);
	evalclients_fini(&s.peers);
	hub_fini(&s.hub);
	loop_free(s.loop);
	return 0;
}

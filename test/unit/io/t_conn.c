/* SPDX-License-Identifier: ISC */
/*
 * Connections: framing of streams that arrive in any pieces; limits; peers
 * that do not read, are silent or disconnect.
 */
#include "io/conn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

#if defined(OS_SHORT)		/* one-byte reads and writes, at times */
enum { BYTEWISE = 1, EACH = 300 };
#else
enum { BYTEWISE = 0, EACH = 1 };
#endif
enum { MORE = 300 };		/* turns: enough for everything to happen */

static struct loop *l;
static struct err e;

/* A connection as its owner sees it, and the other end of its stream. */
struct end {
	struct conns *set;
	struct conn *c;
	int fd;
	int peer;		/* the conn's own descriptor */
	struct buf log;		/* the messages, each followed by a bar */
	char why[sizeof(((struct err *)0)->msg)];
	enum err_code code;
	int broken, ended, gone, messages;
	bool owed;
	void (*on)(struct end *, struct str);
};

static void
on_message(void *arg, struct str s)
{
	struct end *x = arg;

	x->messages++;
	if (x->on != NULL) {
		x->on(x, s);
		return;
	}
	buf_put(&x->log, s);
	buf_putc(&x->log, '|');
}

static void
on_broken(void *arg, const struct err *why)
{
	struct end *x = arg;

	x->broken++;
	x->code = why->code;
	snprintf(x->why, sizeof(x->why), "%s", why->msg);
	conn_send(x->c, STR("broken"));
}

static void
on_ended(void *arg)
{
	struct end *x = arg;

	x->ended++;
}

static bool
on_owed(void *arg)
{
	struct end *x = arg;

	return x->owed;
}

static void
on_gone(void *arg)
{
	struct end *x = arg;

	x->gone++;
	x->c = NULL;
}

static struct conn_opts
opts(struct end *x, int in, int out, const struct conn_framer *f)
{
	return (struct conn_opts){ .in = in, .out = out, .framer = f,
		.message = on_message, .broken = on_broken,
		.ended = on_ended, .owed = on_owed, .gone = on_gone,
		.arg = x };
}

static bool
begin_kind(struct conns *set, struct end *x, const struct conn_framer *f,
    int kind)
{
	struct conn_opts o;
	int fd[2];

	*x = (struct end){ .set = set, .fd = -1 };
	if (!open_pair(kind, fd))
		return false;
	x->fd = fd[1];
	x->peer = fd[0];
	o = opts(x, fd[0], fd[0], f);
	x->c = conn_new(set, &o);
	return x->c != NULL;
}

static bool
begin(struct conns *set, struct end *x, const struct conn_framer *f)
{
	return begin_kind(set, x, f, SOCK_STREAM);
}

static void
end(struct end *x)
{
	os_close(&x->fd);
	buf_free(&x->log);
}

/* A turn that does not wait. */
static void
turn(void)
{
	int i;

	for (i = 0; i < EACH; i++)
		turn_loop(l);
}

static void
turns(int n)
{
	while (n-- > 0)
		turn();
}

/* Lets output leave at once, also in one-byte mode. */
static void
at_once(void)
{
	if (BYTEWISE)
		turn();
}

static bool
feed(struct end *x, struct str s)
{
	return write(x->fd, s.p, s.n) == (ssize_t)s.n;
}

/* The bytes that arrived at the other end. */
static struct str
got(struct end *x, struct buf *b)
{
	read_available(x->fd, b);
	return buf_str(b);
}

static bool
is_log(struct end *x, const char *want)
{
	bool same = is_text(buf_str(&x->log), want);

	x->log.n = 0;
	return same;
}

/*
 * Framers.  `why` is the message for a malformed stream.
 */
static const struct row {
	const char *in;
	const char *messages;
	const char *why;
} rows[] = {
	/* lines */
	{ "{}\n[1]\n", "{}|[1]|", NULL },
	{ "{}\n[1]", "{}|[1]|", NULL },
	{ "\n\r\n\n{}\r\n  \t \n{}\n\n", "{}\r|{}|", NULL },
	{ "garbage\nmore \xff\xfe\n", "garbage|more \xff\xfe|", NULL },
	{ "", "", NULL },
	{ "\n\n\n", "", NULL },
	{ "   \n", "", NULL },
	{ "c", "c|", NULL },
	{ "con", "con|", NULL },
	{ "con\nContent-Length: 2\n", "con|Content-Length: 2|", NULL },
	{ "\n\nCon", "Con|", NULL },
	{ "CONNECT x\n", "CONNECT x|", NULL },
	{ "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r|Host: x\r|", NULL },
	/* blocks */
	{ "Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]", "{}|[1]|", NULL },
	{ "\r\n\nContent-Length: 2\r\n\r\n{}\r\n\r\nContent-Length: 3\r\n\r\n[1]\n", "{}|[1]|", NULL },
	{ "content-length:2\n\n{}cOnTeNt-LeNgTh:\t 003 \n\n[1]", "{}|[1]|", NULL },
	{ "CONTENT-LENGTH: 2\r\nContent-Type: x; charset=utf-8\r\n\r\n{}", "{}|", NULL },
	{ "Content-Type: x:y\r\nX-Other:\r\nContent-Length: 2\r\n\r\n{}", "{}|", NULL },
	{ "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "{}|", NULL },
	{ "Content-Length: 6\r\n\r\n{\n\r\n\n}", "{\n\r\n\n}|", NULL },
	{ "Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}", "|{}|", NULL },
	{ "Content-Length: 20\r\n\r\nContent-Length: 1\r\n\r\n{}", "Content-Length: 1\r\n\r|",
	    "a message begins with the header Content-Length or Content-Type" },
	{ "Content-Length: 5\r\n\r\n{}", "", NULL },
	{ "Content-Length: 5", "", NULL },
	{ "Content-Length: 2\r\n\r\n{}Cont", "{}|", NULL },
	{ "Content-Length: 2\r\n\r\n{}{}\r\n\r\n", "{}|",
	    "a message begins with the header Content-Length or Content-Type" },
	{ "Content-Length: 2\r\n\r\n{}X-Other: 1\r\nContent-Length: 2\r\n\r\n{}", "{}|",
	    "a message begins with the header Content-Length or Content-Type" },
	{ "Content-X: 1\r\nContent-Length: 2\r\n\r\n{}", "",
	    "a message begins with the header Content-Length or Content-Type" },
	{ "Content-Length : 2\r\n\r\n{}", "",
	    "a message begins with the header Content-Length or Content-Type" },
	{ "Content-Length: 2\r\nX /a:b\r\n\r\n{}", "", "invalid header name" },
	{ "Content-Length: 2\r\n: x\r\n\r\n{}", "", "invalid header name" },
	{ "Content-Length: 2\r\nx\r\n\r\n{}", "", "header line without a colon" },
	{ "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "", "two different Content-Length headers" },
	{ "Content-Length: x\r\n\r\n", "", "Content-Length is not a number" },
	{ "Content-Length: 2x\r\n\r\n{}", "", "Content-Length is not a number" },
	{ "Content-Length: -2\r\n\r\n{}", "", "Content-Length is not a number" },
	{ "Content-Length: +2\r\n\r\n{}", "", "Content-Length is not a number" },
	{ "Content-Length: 0x2\r\n\r\n{}", "", "Content-Length is not a number" },
	{ "Content-Length: 2 2\r\n\r\n{}", "", "Content-Length is not a number" },
	{ "Content-Length: 2.0\r\n\r\n{}", "", "Content-Length is not a number" },
	{ "Content-Length:\r\n\r\n{}", "", "Content-Length is empty" },
	{ "Content-Length 2\r\n\r\n{}", "",
	    "a message begins with the header Content-Length or Content-Type" },
	{ "Content-Type: x\r\n\r\n{}", "", "no Content-Length header" },
	{ "Content-Length: 1099511627776\r\n\r\n{}", "", "Message exceeds maximum size" },
	{ "Content-Length: 18446744073709551618\r\n\r\n{}", "", "Message exceeds maximum size" },
	{ "Content-Length: 99999999999999999999999999999999999999\r\n\r\n{}", "",
	    "Message exceeds maximum size" },
};

/* First a part, then the rest; with 0 byte by byte. */
static bool
one_way(struct conns *set, const struct row *r, size_t cut)
{
	struct str in = str_of(r->in);
	struct end x;
	size_t i;
	bool ok;

	if (!begin(set, &x, NULL))
		return false;
	for (i = 0; i < in.n; i += cut > 0 && i < cut ? cut :
	    cut > 0 ? in.n : 1) {
		(void)!write(x.fd, in.p + i, cut == 0 ? 1 :
		    i < cut ? cut : in.n - cut);
		turn();
	}
	shutdown(x.fd, SHUT_WR);
	turns(3);
	ok = is_log(&x, r->messages) && x.broken == (r->why != NULL) &&
	    (r->why == NULL || strcmp(r->why, x.why) == 0) &&
	    x.ended == (r->why == NULL) && x.gone == (r->why != NULL);
	if (x.c != NULL)
		conn_finish(x.c);
	turns(2);
	ok = ok && x.gone == 1;
	if (!ok)
		printf("# cut at %zu of \"%s\": %s\n", cut, r->in, x.why);
	end(&x);
	return ok;
}

static void
framers(void)
{
	struct conns set = { .loop = l };
	size_t i, cut;
	bool ok;

	conns_init(&set);
	for (i = 0; i < COUNTOF(rows); i++) {
		ok = true;
		for (cut = 0; cut <= strlen(rows[i].in); cut++)
			ok = ok && one_way(&set, &rows[i], cut);
		tap_ok(ok, rows[i].in[0] != '\0' ? "cut everywhere" : "empty",
		    __FILE__, (int)i);
		if (!ok)
			printf("# row %zu: %s\n", i, rows[i].in);
	}
	OK(set.n == 0);
	conns_fini(&set);
	OK(strcmp(conn_line.name, "line") == 0);
	OK(strcmp(conn_lsp.name, "lsp") == 0);
}

/* A NUL is an ordinary byte; a given framer is not sniffed. */
static void
pinned(void)
{
	struct conns set = { .loop = l };
	struct end x;

	conns_init(&set);
	OK(begin(&set, &x, &conn_line));
	OK(feed(&x, STR("Content-Length: 2\n\na\0b\n")));
	turn();
	OK(str_eq(buf_str(&x.log), STR("Content-Length: 2|a\0b|")));
	end(&x);
	turns(2);
	OK(begin(&set, &x, &conn_lsp));
	OK(feed(&x, STR("{}\n\n")));
	turns(2);
	OK(x.broken == 1);
	end(&x);
	conns_fini(&set);
}

/*
 * A connection that must begin with a message: what is delivered, and whether
 * it fails at once, without a line end.
 */
static void
strict(void)
{
	static const struct {
		const struct conn_framer *framer;
		struct str in;
		const char *log;
		bool broken;
	} cases[] = {
		{ NULL, { "{}\ngarbage\n", 11 }, "{}|garbage|", false },
		{ NULL, { " \t\r\n \n [1]\n", 11 }, " [1]|", false },
		{ NULL, { " \n\t \n", 5 }, "", false },
		{ NULL, { "{bad\n{}\n", 8 }, "{bad|{}|", false },
		{ NULL, { "Content-Length: 2\n\n{}", 21 }, "{}|", false },
		{ NULL, { "\xEF\xBB\xBF{}\n", 6 }, "{}|", false },
		{ NULL, { "\xEF\xBB\xBF\n\n{}\n", 8 }, "{}|", false },
		{ NULL, { "\xEF\xBB\xBF" "Content-Length: 2\n\n{}", 24 }, "{}|",
		    false },
		{ &conn_lsp, { "\xEF\xBB\xBF" "Content-Length: 2\n\n{}", 24 },
		    "{}|", false },
		{ NULL, { "\xEF\xBB\xBF\xEF\xBB\xBF{}\n", 9 }, "", true },
		{ NULL, { "\n\xEF\xBB\xBF{}\n", 7 }, "", true },
		{ NULL, { "\xEF\xBB{}\n", 5 }, "", true },
		{ NULL, { "garbage\n{}\n", 11 }, "", true },
		{ NULL, { "\n \n x", 5 }, "", true },
		{ NULL, { "\0{}\n", 4 }, "", true },
		{ NULL, { "\"a\"\n{}\n", 7 }, "", true },
		{ NULL, { "\x16\x03\x01", 3 }, "", true },
		{ NULL, { "Cont{}\n", 7 }, "", true },
		{ &conn_line, { "Content-Length: 2", 17 }, "", true },
		{ &conn_lsp, { "{}\n", 3 }, "", true },
		{ &conn_lsp, { "P", 1 }, "", true },
	};
	struct conns set = { .loop = l };
	struct conn_opts o;
	struct end x;
	size_t i, k;
	int fd[2];

	conns_init(&set);
	for (i = 0; i < 2 * COUNTOF(cases); i++) {
		struct str in = cases[i / 2].in;

		x = (struct end){ .set = &set, .fd = -1 };
		OK(open_pair(SOCK_STREAM, fd));
		x.fd = fd[1];
		o = opts(&x, fd[0], fd[0], cases[i / 2].framer);
		o.strict = true;
		x.c = conn_new(&set, &o);
		for (k = 0; i % 2 == 1 && k < in.n; k++) {
			feed(&x, (struct str){ in.p + k, 1 });
			turns(2);
		}
		if (i % 2 == 0)
			feed(&x, in);
		turns(2);
		OK((x.broken == 1) == cases[i / 2].broken);
		OK(is_log(&x, cases[i / 2].log));
		end(&x);
		turns(2);
	}
	conns_fini(&set);
}

static void
later(int64_t ms)
{
	int64_t until = fake_now + ms;

	while (fake_now < until) {
		fake_now += 250;
		turn();
	}
}

static void
limits(void)
{
	struct conns set = { .loop = l, .limits = { .message_max = 10 } };
	struct buf b = { 0 };
	char block[10];
	struct end x;
	int i;

	conns_init(&set);
	OK(begin(&set, &x, NULL));
	OK(feed(&x, STR("1234567890\n")));
	turn();
	OK(is_log(&x, "1234567890|") && x.broken == 0);
	OK(feed(&x, STR("12345678901\nnext\n")));
	turns(2);
	OK(is_log(&x, "") && x.broken == 1 && x.code == ERR_LIMIT);
	OK(str_is(got(&x, &b), "broken\n"));
	OK(read(x.fd, block, sizeof(block)) == 0);
	/* further input is ignored; then it ends */
	OK(x.gone == 0 && feed(&x, STR("more\nand more\n")));
	turns(2);
	OK(is_log(&x, "") && x.gone == 0);
	later(2000);
	OK(x.gone == 1 && x.ended == 0 && x.broken == 1);
	end(&x);

	/* without waiting for the end of input */
	OK(begin(&set, &x, NULL));
	OK(feed(&x, STR("123456789012345678901234567890")));
	turns(2);
	OK(x.broken == 1 && x.code == ERR_LIMIT);
	end(&x);
	turns(2);
	OK(x.gone == 1);

	OK(begin(&set, &x, NULL));
	OK(feed(&x, STR("Content-Length: 10\n\n1234567890")));
	turn();
	OK(is_log(&x, "1234567890|") && x.broken == 0);
	OK(feed(&x, STR("Content-Length: 11\n\n")));
	turns(2);
	OK(x.broken == 1 && x.code == ERR_LIMIT);
	b.n = 0;
	OK(str_is(got(&x, &b), "Content-Length: 6\r\n\r\nbroken"));
	end(&x);
	turns(2);
	OK(x.gone == 1);

	/* an endless head, with line ends and without */
	OK(begin(&set, &x, NULL));
	feed(&x, STR("Content-Type: x\n"));
	for (i = 2; i < CONN_HEAD_MAX / 8; i++) {
		feed(&x, STR("Cont: x\n"));
		turn();
	}
	OK(x.broken == 0);
	for (i = 0; i < 4; i++) {
		feed(&x, STR("Cont: x\n"));
		turn();
	}
	OK(x.broken == 1 && x.code == ERR_LIMIT);
	end(&x);
	turns(2);
	OK(x.gone == 1);
	buf_free(&b);
	conns_fini(&set);
}

/*
 * Sending.
 */
static void
echo(struct end *x, struct str s)
{
	struct buf *b = conn_begin(x->c);

	buf_puts(b, "re: ");
	buf_put(b, s);
	conn_end(x->c);
}

static void
echo_twice(struct end *x, struct str s)
{
	echo(x, s);
	echo(x, s);
}

static void
sending(void)
{
	struct conns set = { .loop = l };
	struct buf b = { 0 };
	struct end x;

	conns_init(&set);
	OK(begin(&set, &x, NULL));
	x.on = echo;
	conn_send(x.c, STR("before anything came"));
	at_once();
	OK(str_is(got(&x, &b), "before anything came\n"));
	buf_put(conn_begin(x.c), STR("what is taken back"));
	conn_abort(x.c);
	OK(conn_pending(x.c) == 0);
	feed(&x, STR("Content-Length: 2\n\n{}"));
	turn();
	b.n = 0;
	OK(str_is(got(&x, &b), "Content-Length: 6\r\n\r\nre: {}"));
	end(&x);
	turns(2);
	OK(x.ended == 1);
	conn_finish(x.c);
	turns(2);
	OK(x.gone == 1);
	buf_free(&b);
	conns_fini(&set);
}

/* The answers to one read are one write. */
static void
one_write(void)
{
	struct conns set = { .loop = l };
	struct end x;
	char block[200];
	ssize_t n;

	conns_init(&set);
	if (!BYTEWISE && begin_kind(&set, &x, &conn_line, SOCK_SEQPACKET)) {
		x.on = echo;
		feed(&x, STR("a\nb\nc\n"));
		turn();
		n = read(x.fd, block, sizeof(block));
		OK(n > 0 && str_eq((struct str){ block, (size_t)n },
		    STR("re: a\nre: b\nre: c\n")));
		OK(read(x.fd, block, sizeof(block)) == -1 && errno == EAGAIN);
		end(&x);
	} else
		SKIP("no packets here");
	turns(2);
	conns_fini(&set);
}

/*
 * On stdout each answer is its own write, until the peer has sent two messages
 * at once.
 */
static void
stdout_writes(void)
{
	struct conns set = { .loop = l };
	struct end x;
	char block[200];
	ssize_t n;
	int i, out;

	conns_init(&set);
	fflush(stdout);
	out = dup(1);
	if (!BYTEWISE && begin_kind(&set, &x, &conn_line, SOCK_SEQPACKET)) {
		struct end y = { .set = &set, .fd = -1 };
		int fd[2];
		struct conn_opts o;

		OK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd) == 0);
		fflush(stdout);
		dup2(fd[0], 1);
		close(fd[0]);
		o = opts(&y, dup(x.fd), 1, &conn_line);
		y.c = conn_new(&set, &o);
		y.on = echo_twice;
		conn_send(x.c, STR("a"));
		turn();
		conn_send(x.c, STR("b\nc"));
		turn();
		dup2(out, 1);
		for (i = 0; i < 2; i++) {
			n = read(fd[1], block, sizeof(block));
			OK(n == 6 && memcmp(block, "re: a\n", 6) == 0);
		}
		n = read(fd[1], block, sizeof(block));
		OK(n == 24 && memcmp(block, "re: b\nre: b\nre: c\n"
		    "re: c\n", 24) == 0);
		conn_drop(y.c);
		turns(2);
		OK(y.gone == 1);
		close(fd[1]);
		end(&y);
		end(&x);
	} else
		SKIP("no packets here");
	close(out);
	turns(2);
	conns_fini(&set);
}

/*
 * Back-pressure.
 */
enum { REPLY = 10000, ASKED = 2000 };

static void
reply_long(struct end *x, struct str s)
{
	static char text[REPLY];

	(void)s;
	memset(text, 'x', sizeof(text));
	conn_send(x->c, (struct str){ text, sizeof(text) });
}

static size_t
drain(struct end *x)
{
	char block[65536];
	size_t sum = 0;
	ssize_t n;

	while ((n = read(x->fd, block, sizeof(block))) > 0)
		sum += (size_t)n;
	return sum;
}

static void
back_pressure(void)
{
	struct conns set = { .loop = l };
	struct buf ask = { 0 };
	struct end x, y;
	size_t most = 0, sum = 0;
	int i, worked;

	conns_init(&set);
	for (i = 0; i < ASKED; i++)
		buf_puts(&ask, "?\n");
	OK(begin(&set, &x, &conn_line));
	OK(begin(&set, &y, &conn_line));
	x.on = reply_long;
	y.on = echo;
	OK(feed(&x, buf_str(&ask)));
	for (i = 0; i < MORE; i++) {
		turn();
		most = conn_pending(x.c) > most ? conn_pending(x.c) : most;
	}
	worked = x.messages;
	OK(worked > 0 && worked < ASKED);
	OK(most > 0 && most < (1 << 20) + 2 * REPLY);
	/* other connections are not affected */
	OK(feed(&y, STR("hi\n")));
	turns(2);
	OK(drain(&y) == 7);
	/* when the peer reads, everything arrives */
	for (i = 0; i < 100 * MORE && sum < (size_t)ASKED * (REPLY + 1);
	    i++) {
		sum += drain(&x);
		turn();
		most = conn_pending(x.c) > most ? conn_pending(x.c) : most;
	}
	OK(x.messages == ASKED && sum == (size_t)ASKED * (REPLY + 1));
	OK(most < (1 << 20) + 2 * REPLY);
	OK(feed(&x, STR("?\n")));
	turns(2);
	OK(drain(&x) == REPLY + 1);

	/* delivery resumes also after unrequested output has left */
	OK(feed(&x, buf_str(&ask)));
	turns(MORE);
	worked = x.messages;
	for (i = 0; i < MORE && conn_pending(x.c) > 0; i++) {
		drain(&x);
		conn_send(x.c, STR("note"));
	}
	OK(conn_pending(x.c) == 0 && x.messages == worked);
	for (i = 0; i < 100 * MORE && x.messages < 2 * ASKED + 1; i++) {
		turn();
		drain(&x);
	}
	OK(x.messages == 2 * ASKED + 1);

	/* the end of input is delivered after the messages */
	OK(feed(&x, buf_str(&ask)));
	shutdown(x.fd, SHUT_WR);
	turns(MORE);
	OK(x.ended == 0);
	for (i = 0; i < 100 * MORE && x.ended == 0; i++) {
		drain(&x);
		turn();
	}
	OK(x.ended == 1 && x.messages == 3 * ASKED + 1);
	conn_finish(x.c);
	for (i = 0; i < MORE && x.gone == 0; i++) {
		drain(&x);
		turn();
	}
	OK(x.gone == 1 && y.gone == 0);
	end(&x);
	end(&y);
	buf_free(&ask);
	conns_fini(&set);
	OK(y.gone == 1);
}

static void
queue_full(void)
{
	struct conns set = { .loop = l, .limits = { .queue_max = 1 << 20 } };
	struct end x;
	size_t most = 0;
	int i;

	conns_init(&set);
	OK(begin(&set, &x, &conn_line));
	for (i = 0; i < 1000 && x.c != NULL && x.gone == 0; i++) {
		reply_long(&x, STR(""));
		if (x.c != NULL && conn_pending(x.c) > most)
			most = conn_pending(x.c);
		turn();
	}
	OK(x.gone == 1 && i < 1000 && most <= (1 << 20) + REPLY + 1);
	end(&x);
	conns_fini(&set);
	OK(x.gone == 1);
}

/*
 * Silence.
 */
static void
silence(void)
{
	struct conns set = { .loop = l, .limits = { .idle_ms = 5000 } };
	struct end x, y, z;
	int i;

	conns_init(&set);
	OK(begin(&set, &x, NULL));
	OK(begin(&set, &y, NULL));
	OK(begin(&set, &z, NULL));
	z.owed = true;
	later(3000);
	OK(feed(&y, STR("1\n")));	/* after a long silence */
	turns(2);
	OK(is_log(&y, "1|"));
	conn_send(y.c, STR("2"));
	at_once();
	OK(drain(&y) == 2);
	later(3500);
	OK(x.gone == 1 && y.gone == 0 && z.gone == 0);
	later(3500);
	OK(y.gone == 1 && z.gone == 0);
	z.owed = false;
	later(1000);
	OK(z.gone == 1 && set.n == 0);
	end(&x);
	end(&y);
	end(&z);

	/* a peer that does not read its answers is idle, even half closed */
	OK(begin(&set, &x, &conn_line));
	for (i = 0; i < 1000 && conn_pending(x.c) == 0; i++)
		reply_long(&x, STR(""));
	OK(conn_pending(x.c) > 0);
	shutdown(x.fd, SHUT_WR);
	turns(2);
	OK(x.ended == 1 && x.gone == 0);
	conn_finish(x.c);
	later(4000);
	OK(x.gone == 0);
	later(2000);
	OK(x.gone == 1);
	end(&x);

	/* an incomplete message followed by silence is idle too */
	OK(begin(&set, &x, NULL));
	OK(feed(&x, STR("Content-Le")));
	turn();
	later(6000);
	OK(x.gone == 1);
	end(&x);
	conns_fini(&set);
}

/* Many silent connections: read from, sent to, dropped, closed. */
static void
silent_ones(void)
{
	struct conns set = { .loop = l };
	struct end x[100];
	size_t i, heard = 0, told = 0;

	conns_init(&set);
	for (i = 0; i < COUNTOF(x); i++)
		heard += begin(&set, &x[i], NULL);
	OK(heard == COUNTOF(x) && set.n == COUNTOF(x));
	later(3000);
	for (i = 0; i < COUNTOF(x); i++)
		feed(&x[i], STR("1\n"));
	turns(5);
	for (i = heard = 0; i < COUNTOF(x); i++)
		heard += x[i].messages == 1;
	OK(heard == COUNTOF(x));
	later(3000);
	for (i = 0; i < COUNTOF(x); i++)
		conn_send(x[i].c, STR("2"));
	at_once();
	for (i = 0; i < COUNTOF(x); i++)
		told += drain(&x[i]) == 2;
	OK(told == COUNTOF(x));
	later(3000);
	conn_drop(x[0].c);
	conn_finish(x[1].c);
	os_close(&x[2].fd);
	turns(3);
	OK(x[0].gone == 1 && x[1].gone == 0 && x[2].ended == 1);
	later(2000);
	OK(x[1].gone == 1 && x[2].gone == 1);
	OK(set.n == COUNTOF(x) - 3);
	conns_fini(&set);
	for (i = heard = 0; i < COUNTOF(x); i++) {
		heard += x[i].gone == 1;
		end(&x[i]);
	}
	OK(heard == COUNTOF(x));
}

static void
hold_it(struct end *x, struct str s)
{
	buf_put(&x->log, s);
	buf_putc(&x->log, '|');
	conn_hold(x->c, true);
}

/* Held connections: nothing is delivered, not even the end of input. */
static void
holding(void)
{
	struct conns set = { .loop = l };
	struct buf b = { 0 };
	struct end x, y;

	conns_init(&set);
	OK(begin(&set, &x, NULL));
	x.on = hold_it;
	OK(feed(&x, STR("1\n2\n3\n")));
	turns(5);
	OK(is_log(&x, "1|"));
	conn_send(x.c, STR("sent"));
	at_once();
	OK(str_is(got(&x, &b), "sent\n"));
	later(3000);
	OK(is_log(&x, ""));
	conn_hold(x.c, false);
	turns(3);
	OK(is_log(&x, "2|"));
	OK(feed(&x, STR("4\n")));
	OK(shutdown(x.fd, SHUT_WR) == 0);
	later(3000);
	OK(is_log(&x, "") && x.ended == 0);
	conn_hold(x.c, false);
	turns(3);
	OK(is_log(&x, "3|"));
	x.on = NULL;
	conn_hold(x.c, false);
	turns(5);
	OK(is_log(&x, "4|") && x.ended == 1);
	end(&x);
	buf_free(&b);

	/* after a long silence; and one that ends while held */
	OK(begin(&set, &y, NULL));
	later(3000);
	conn_hold(y.c, true);
	OK(feed(&y, STR("1\n")));
	later(3000);
	OK(is_log(&y, ""));
	conn_hold(y.c, false);
	turns(3);
	OK(is_log(&y, "1|"));
	conn_hold(y.c, true);
	conn_drop(y.c);
	turns(2);
	OK(y.gone == 1);
	end(&y);
	conns_fini(&set);
}

/*
 * Ends.
 */
static void
drop_it(struct end *x, struct str s)
{
	(void)s;
	conn_send(x->c, STR("bye"));
	conn_drop(x->c);
	conn_drop(x->c);
	conn_send(x->c, STR("nobody hears that"));
	conn_finish(x->c);
}

static void
finish_it(struct end *x, struct str s)
{
	(void)s;
	conn_send(x->c, STR("bye"));
	conn_finish(x->c);
	conn_finish(x->c);
}

static void
ends(void)
{
	struct conns set = { .loop = l, .limits = { .conn_max = 2 } };
	struct buf b = { 0 };
	struct end x, y, z;

	conns_init(&set);
	/* from within message(); later messages are not delivered */
	OK(begin(&set, &x, NULL));
	x.on = drop_it;
	OK(feed(&x, STR("1\n2\n3\n")));
	turn();
	OK(x.messages == 1);
	turns(2);
	OK(x.gone == 1 && x.messages == 1 && x.ended == 0);
	end(&x);
	OK(begin(&set, &x, NULL));
	x.on = finish_it;
	OK(feed(&x, STR("1\n2\n3\n")));
	turns(3);
	conn_send(x.c, STR("nobody hears that"));
	OK(str_is(got(&x, &b), "bye\n"));
	end(&x);
	turns(2);
	OK(x.gone == 1 && x.messages == 1 && x.ended == 0);

	/* the peer has half closed and awaits answers */
	OK(begin(&set, &x, NULL));
	OK(feed(&x, STR("1\n2")));
	shutdown(x.fd, SHUT_WR);
	turns(3);
	OK(is_log(&x, "1|2|") && x.ended == 1 && x.gone == 0);
	OK(conn_half(x.c));
	later(2000);
	OK(x.gone == 0 && x.ended == 1);
	conn_send(x.c, STR("late"));
	at_once();
	b.n = 0;
	OK(str_is(got(&x, &b), "late\n"));
	conn_finish(x.c);
	turns(2);
	OK(x.gone == 1);
	end(&x);

	/* it has closed: found without sending */
	OK(begin(&set, &x, NULL));
	os_close(&x.fd);
	turns(2);
	OK(x.ended == 1 && x.gone == 0);
	later(1000);
	OK(x.gone == 1);
	end(&x);

	/* or by sending, which is lost */
	OK(begin(&set, &x, NULL));
	os_close(&x.fd);
	conn_send(x.c, STR("anybody?"));
	turns(3);
	OK(x.gone == 1);
	end(&x);

	/* one too many */
	OK(begin(&set, &x, NULL) && begin(&set, &y, NULL));
	OK(!begin(&set, &z, NULL));
	OK(read(z.fd, &b, 1) == 0);
	end(&z);
	conn_drop(y.c);
	turns(2);
	OK(y.gone == 1 && z.gone == 0);
	end(&y);
	OK(begin(&set, &y, NULL));
	conns_fini(&set);
	OK(x.gone == 1 && y.gone == 1);
	end(&x);
	end(&y);
	buf_free(&b);
}

/* Two pipes, like stdin and stdout. */
static void
pipes(void)
{
	struct conns set = { .loop = l };
	struct end x = { .set = &set };
	int in[2], out[2];
	struct conn_opts o;
	char block[64];

	conns_init(&set);
	OK(os_pipe(in, OS_NONBLOCK_READ, &e) == 0);
	OK(os_pipe(out, OS_NONBLOCK_WRITE, &e) == 0);
	o = opts(&x, in[0], out[1], NULL);
	x.c = conn_new(&set, &o);
	x.fd = in[1];
	x.on = echo;
	OK(feed(&x, STR("1\n2")));
	turn();
	OK(read(out[0], block, sizeof(block)) == 6);
	os_close(&x.fd);
	turns(3);
	OK(x.ended == 1 && x.messages == 2);
	OK(read(out[0], block, sizeof(block)) == 6);
	later(2000);
	OK(x.gone == 0);
	conn_send(x.c, STR("3"));
	at_once();
	OK(read(out[0], block, sizeof(block)) == 2);
	close(out[0]);
	later(1000);
	OK(x.gone == 1);
	end(&x);
	conns_fini(&set);
}

/*
 * Paced output: one message at a time, for a peer that has not read the last.
 */
struct paced {
	struct conns set;
	struct end x;
	int out;		/* what the peer reads from */
};

static bool
begin_paced(struct paced *p, bool pair)
{
	struct conn_opts o;
	int in[2], out[2];

	*p = (struct paced){ .set = { .loop = l }, .x = { .fd = -1 } };
	conns_init(&p->set);
	if (os_pipe(in, OS_NONBLOCK_READ, &e) == -1 || (pair ?
	    !open_pair(SOCK_STREAM, out) : os_pipe(out, OS_NONBLOCK_READ |
	    OS_NONBLOCK_WRITE, &e) == -1))
		return false;
	o = opts(&p->x, in[0], out[1], &conn_line);
	o.paced = true;
	p->x.c = conn_new(&p->set, &o);
	p->x.fd = in[1];
	p->out = out[0];
	return p->x.c != NULL;
}

static void
end_paced(struct paced *p)
{
	conns_fini(&p->set);
	os_close(&p->out);
	end(&p->x);
}

static void
send_many(struct paced *p, int n)
{
	while (n-- > 0)
		conn_send(p->x.c, STR("message"));
}

/* Whether the peer's next read returns that many messages. */
static bool
takes(struct paced *p, int n)
{
	char block[65536];
	ssize_t got = read(p->out, block, sizeof(block));

	if (got == (ssize_t)n * 8 || (n == 0 && got == -1))
		return true;
	printf("# %zd bytes instead of %d messages\n", got, n);
	return false;
}

static void
paced_by_reader(bool pair)
{
	struct paced p;

	OK(begin_paced(&p, pair));
	send_many(&p, 4);
	OK(takes(&p, 1) && takes(&p, 0));
	turns(5);
	OK(takes(&p, 1) && takes(&p, 0));	/* at once after a read */
	turns(MORE);
	OK(takes(&p, 1));
	turns(MORE);
	OK(takes(&p, 0));	/* by now it looks once in a millisecond */
	fake_now++;
	turns(3);
	OK(takes(&p, 1) && conn_pending(p.x.c) == 0);
	turns(MORE);
	OK(takes(&p, 0));
	OK(feed(&p.x, STR("1\n")));
	turn();
	send_many(&p, 1);
	OK(takes(&p, 1));	/* an empty pipe: without a delay */
	end_paced(&p);
}

/* A peer that does not read gets the next message after 20 pauses. */
static void
paced_by_time(void)
{
	struct paced p;
	int i;

	OK(begin_paced(&p, false));
	send_many(&p, 200);
	turns(MORE);
	OK(conn_pending(p.x.c) == 199 * 8);
	for (i = 0; i < 18; i++) {
		fake_now++;
		turns(3);
	}
	OK(conn_pending(p.x.c) == 199 * 8);
	fake_now++;
	turns(3);
	OK(conn_pending(p.x.c) == 198 * 8);
	for (i = 0; i < 800 && conn_pending(p.x.c) > 0; i++) {
		fake_now++;
		turns(60);
	}
	OK(conn_pending(p.x.c) == 0);	/* it was given up soon */
	OK(takes(&p, 200));
	send_many(&p, 3);
	OK(takes(&p, 3));		/* for good */
	end_paced(&p);
}

/* A peer that takes 10 ms for a message is still served one by one. */
static void
paced_slowly(void)
{
	struct paced p;
	int i, k, ones = 0;

	OK(begin_paced(&p, true));
	send_many(&p, 120);
	for (i = 0; i < 120; i++) {
		for (k = 0; k < 10; k++) {
			fake_now++;
			turns(60);
		}
		ones += takes(&p, 1);
	}
	OK(ones == 120 && conn_pending(p.x.c) == 0);
	end_paced(&p);
}

/* It ends when the peer pipelines, or ends its input, or we close. */
static void
paced_no_more(void)
{
	static const char *const in[] = { "1\n2\n", "1\n2", "1\n\r\n" };
	static const int left[] = { 4, 4, 1 };
	struct paced p;
	size_t i;

	for (i = 0; i < COUNTOF(in); i++) {
		OK(begin_paced(&p, false));
		send_many(&p, 2);
		OK(takes(&p, 1));
		turns(5);
		OK(feed(&p.x, str_of(in[i])));
		turn();
		send_many(&p, 3);
		turns(MORE);
		OK(takes(&p, left[i]));
		end_paced(&p);
	}
	OK(begin_paced(&p, true));
	send_many(&p, 3);
	os_close(&p.x.fd);
	turns(3);
	OK(p.x.ended == 1 && takes(&p, 3));
	send_many(&p, 2);
	OK(takes(&p, 2));
	end_paced(&p);
	OK(begin_paced(&p, false));
	send_many(&p, 3);
	conns_fini(&p.set);		/* nothing is lost */
	OK(p.x.gone == 1 && takes(&p, 3));
	conns_init(&p.set);
	end_paced(&p);
}

/* A long message leaves as a whole; one that is too long, in pieces. */
static void
paced_long(void)
{
	static char text[300000];
	struct paced p;
	struct buf b = { 0 };
	int i;

	memset(text, 'x', sizeof(text));
	for (i = 0; i < 2; i++) {
		OK(begin_paced(&p, i == 1));
		conn_send(p.x.c, (struct str){ text, 40000 });
		OK(read(p.out, text, sizeof(text)) == 40001);
		end_paced(&p);
	}
	memset(text, 'x', sizeof(text));
	OK(begin_paced(&p, false));
	conn_send(p.x.c, (struct str){ text, sizeof(text) });
	send_many(&p, 1);
	for (i = 0; i < MORE && b.n < sizeof(text) + 1; i++) {
		turn();
		read_available(p.out, &b);
	}
	OK(b.n == sizeof(text) + 1);
	turns(5);
	OK(takes(&p, 1));
	buf_free(&b);
	end_paced(&p);
}

static void
pacing(void)
{
	size_t unread, fits;
	int fd[2];

	OK(os_pipe(fd, 0, &e) == 0);
	if (os_unread(fd[1], &unread, &fits) && !BYTEWISE) {
		OK(unread == 0 && fits >= 4096);
		OK(write(fd[1], "abc", 3) == 3);
		OK(os_unread(fd[1], &unread, &fits) && unread == 3);
		paced_by_reader(false);
		paced_by_reader(true);
		RUN(paced_by_time, paced_slowly, paced_no_more, paced_long);
	}
	close(fd[0]);
	close(fd[1]);
	OK(!os_unread(-1, &unread, &fits));
}

/*
 * The input of all ready connections is read before the first message of them
 * is handled.
 */
static struct end crowd[CONN_GATHER + 2];
static uint64_t first_reads;

static bool
has_input(const struct end *x)
{
	struct pollfd p = { .fd = x->peer, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void
look_at_others(struct end *x, struct str s)
{
	size_t i, waiting = 0;

	if (first_reads == 0) {
		first_reads = x->set->reads;
		for (i = 0; i < COUNTOF(crowd); i++)
			waiting += has_input(&crowd[i]);
		OK(waiting == COUNTOF(crowd) - CONN_GATHER);
		conn_drop(crowd[1].c);
	}
	conn_send(x->c, s);
}

static void
gathering(void)
{
	struct conns set = { .loop = l };
	struct buf b = { 0 };
	size_t i, answered = 0;

	conns_init(&set);
	for (i = 0; i < COUNTOF(crowd); i++) {
		OK(begin(&set, &crowd[i], &conn_line));
		crowd[i].on = look_at_others;
		feed(&crowd[i], STR("x\n"));
	}
	turn();
	OK(set.reads == first_reads + 1);
	for (i = 0; i < COUNTOF(crowd); i++) {
		b.n = 0;
		answered += str_is(got(&crowd[i], &b), "x\n");
	}
	OK(answered == COUNTOF(crowd) - 1 && crowd[1].messages == 0);
	turns(2);
	OK(crowd[1].gone == 1);
	conns_fini(&set);
	for (i = 0; i < COUNTOF(crowd); i++)
		end(&crowd[i]);
	buf_free(&b);
}

int
main(void)
{
	int fds = tap_fd_count();

	os_init(&e);
	l = loop_new(fake_clock, &e);
	RUN(framers, pinned, strict, limits, sending, one_write,
	    stdout_writes);
	if (!BYTEWISE) {
		gathering();
		back_pressure();
		queue_full();
	}
	RUN(silence, silent_ones, holding);
	ends();
	pipes();
	pacing();
	loop_free(l);
	OK(tap_fd_count() == fds);
	return tap_done();
}

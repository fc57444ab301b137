/* SPDX-License-Identifier: ISC */
/*
 * JSON-RPC with a child: input in any pieces, output, and the end.  The clock
 * is injected, so no test waits.
 */
#include "io/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct loop *l;
static struct procs ps;
static struct err e;
static struct wire w;
static struct buf said;		/* a log of all callbacks */
static int ends;

static void
put_value(const char *name, const struct json *v)
{
	struct json_out o = { .put = buf_sink, .ctx = &said };

	buf_puts(&said, name);
	if (v != NULL)
		json_put(&o, v);
	else
		buf_puts(&said, "none");
}

static void
on_notify(void *arg, struct str method, const struct json *params)
{
	(void)arg;
	buf_fmt(&said, "N %.*s", STRF(method));
	put_value(" ", params);
	buf_putc(&said, '\n');
}

/* Replies to method "yes" now, to "wait" later, and refuses others. */
static void
on_request(void *arg, const struct json *id, struct str method,
    const struct json *params)
{
	(void)arg;
	(void)params;
	buf_fmt(&said, "Q %.*s", STRF(method));
	put_value(" ", id);
	buf_putc(&said, '\n');
	if (str_is(method, "yes"))
		wire_reply(&w, id, STR("{\"a\":1}"));
	else if (str_is(method, "null"))
		wire_reply(&w, id, STR(""));
	else
		wire_refuse(&w, id, -32601, "no \"such\" method");
}

static void
on_answer(void *ctx, const struct json *result, const struct json *error)
{
	buf_fmt(&said, "A %s", (const char *)ctx);
	put_value(" ", result);
	put_value(" ", error);
	buf_putc(&said, '\n');
}

static void
on_ended(void *arg)
{
	(void)arg;
	ends++;
	buf_puts(&said, "E\n");
}

static void
on_record(void *arg, char way, struct str message)
{
	buf_fmt(arg, "%c%.*s\n", way, STRF(message));
}

static const struct wire_opts plain = { .notify = on_notify,
	.request = on_request, .ended = on_ended };

static bool
heard(const char *want)
{
	bool ok = str_is(buf_str(&said), want);

	if (!ok)
		printf("# heard: %.*s", STRF(buf_str(&said)));
	said.n = 0;
	return ok;
}

/* A wire without a child: output is dropped. */
static void
begin_fed(bool blocks)
{
	w = (struct wire){ .o = plain, .ending = true };
	w.o.blocks = blocks;
}

static void
end_fed(void)
{
	wire_fini(&w);
	buf_free(&w.in);
	arena_free(&w.arena);
}

struct row {
	const char *in, *want;
	bool blocks, broken;
};

static const struct row rows[] = {
	{ "{\"method\":\"a\",\"params\":[1]}\n", "N a [1]\n", false, false },
	{ "\n\r\n  \nnoise\n{\"method\":\"a\"}\r\n{]\n[]\n7\n\"x\"\n", "N a none\n", false, false },
	{ "[{\"method\":\"a\"},{\"method\":\"b\"}]\n", "N a none\nN b none\n", false, false },
	{ "{\"id\":0,\"method\":\"q\"}\n{\"method\":\"q\",\"id\":\"s\\u00e9\"}\n",
	    "Q q 0\nQ q \"s\303\251\"\n", false, false },
	{ "{\"id\":null,\"method\":\"q\"}\n{\"id\":{},\"method\":\"q\"}\n",
	    "N q none\nN q none\n", false, false },
	{ "{\"id\":1,\"result\":null}\n", "A one null none\n", false, false },
	{ "{\"id\":1}\n{\"id\":1,\"result\":2}\n", "A one null none\n", false, false },
	{ "{\"id\":2,\"error\":{\"code\":1}}\n", "A two none {\"code\":1}\n", false, false },
	{ "{\"id\":1.0,\"result\":5,\"error\":null}\n", "A one 5 none\n", false, false },
	{ "{\"id\":9,\"result\":5}\n{\"id\":\"1\",\"result\":5}\n", "", false, false },
	{ "{\"method\":7,\"id\":1,\"result\":5}\n", "A one 5 none\n", false, false },
	{ "Content-Length: 14\r\n\r\n{\"method\":\"a\"}Content-Length: 14\r\n\r\n{\"method\":\"b\"}",
	    "N a none\nN b none\n", true, false },
	{ "content-length:14\nContent-Type: x\n\n{\"method\":\"a\"}", "N a none\n", true, false },
	{ "printed\nand more Content-Length: 14\r\n\r\n{\"method\":\"a\"}\nagain\n"
	    "Content-Length: 14\r\n\r\n{\"method\":\"b\"}", "N a none\nN b none\n", true, false },
	{ "Content-Length: 3\r\n\r\n{]}Content-Length: 14\r\n\r\n{\"method\":\"b\"}",
	    "N b none\n", true, false },
	{ "Content-Length: 0\r\n\r\nContent-Length: 14\r\n\r\n{\"method\":\"b\"}",
	    "N b none\n", true, false },
	{ "Content-Length: x\r\n\r\nContent-Length: 14\r\n\r\n{\"method\":\"b\"}",
	    "N b none\n", true, false },
	{ "Content-Length: 99999999999999999999999\r\n\r\n", "", true, true },
	{ "Content-Length: 67108865\r\n\r\n", "", true, true },
};

static void
feed_row(const struct row *r, size_t step, size_t first)
{
	struct str in = str_of(r->in);
	size_t n;

	begin_fed(r->blocks);
	wire_ask(&w, "x", STR(""), on_answer, (void *)(uintptr_t)"one");
	wire_ask(&w, "x", STR(""), on_answer, (void *)(uintptr_t)"two");
	for (n = first; in.n > 0; n = step) {
		if (n == 0 || n > in.n)
			n = in.n;
		wire_feed(&w, (struct str){ in.p, n });
		in.p += n;
		in.n -= n;
	}
}

/* Each split at every byte, and a byte at a time. */
static void
test_reading(void)
{
	const struct row *r;
	size_t i;
	bool ok;

	for (r = rows; r < rows + COUNTOF(rows); r++) {
		ok = true;
		for (i = 0; i <= strlen(r->in); i++) {
			feed_row(r, 0, i);
			ok &= heard(r->want) && w.broken == r->broken &&
			    w.in.n == 0 + (r->broken ? w.in.n : 0);
			end_fed();
		}
		feed_row(r, 1, 1);
		ok &= heard(r->want) && w.broken == r->broken;
		end_fed();
		OK(ok);
	}
}

/* An endless line, and endless output before a block. */
static void
test_limits(void)
{
	static char noise[1 << 16];
	size_t i;

	memset(noise, 'x', sizeof(noise));
	begin_fed(true);
	wire_feed(&w, (struct str){ noise, sizeof(noise) });
	OK(w.broken);
	end_fed();
	begin_fed(true);
	for (i = 0; i < 100; i++) {
		wire_feed(&w, (struct str){ noise, 1000 });
		wire_feed(&w, STR("\n"));
	}
	OK(!w.broken && w.in.n == 0);
	end_fed();
	begin_fed(false);
	for (i = 0; i < WIRE_MESSAGE_MAX / sizeof(noise) && !w.broken; i++)
		wire_feed(&w, (struct str){ noise, sizeof(noise) });
	OK(!w.broken);
	wire_feed(&w, STR("x"));
	OK(w.broken);
	end_fed();
}

static void
begin(void)
{
	l = loop_new(fake_clock, &e);
	procs_init(&ps, l, false);
	ends = 0;
}

static struct str
raw_tail(void)
{
	return (struct str){ w.tail.text, w.tail.n };
}

static void
finish(void)
{
	while (loop_turn(l, &e) == 1)
		;
	OK(ps.running == 0);
	OK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	procs_fini(&ps);
	loop_free(l);
}

static int
start(const char *script, const struct wire_opts *from)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	struct wire_opts o = *from;

	o.argv = argv;
	return wire_start(&ps, &w, &o, &e);
}

static void
ask(const char *method, const char *name)
{
	wire_ask(&w, method, STR("{\"p\":[1]}"), on_answer,
	    (void *)(uintptr_t)name);
}

static void
test_talking(void)
{
	struct buf rec = { 0 };
	struct wire_opts o = plain;

	begin();
	o.record = on_record;
	o.arg = &rec;
	OK(start("read -r a; echo '{\"id\":1,\"result\":true}'; "
	    "echo '{\"id\":\"q\",\"method\":\"yes\"}'; read -r b; "
	    "echo '{\"id\":5,\"method\":\"no\"}'; read -r c; "
	    "echo '{\"id\":6,\"method\":\"null\"}'; read -r d; read -r f; "
	    "printf '%s\\n' \"$a\" \"$b\" \"$c\" \"$d\" \"$f\" >&2; "
	    "printf '{\"method\":\"end\"}'", &o) == 0);
	ask("one", "1");
	wire_notify(&w, "told", STR(""));
	while (loop_turn(l, &e) == 1)
		;
	OK(heard("A 1 true none\nQ yes \"q\"\nQ no 5\nQ null 6\n"
	    "N end none\nE\n"));
	OK(w.proc.res.status == 0 && !w.broken && ends == 1);
	OK(str_is(raw_tail(),
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"one\",\"params\":"
	    "{\"p\":[1]}}\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"told\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{\"a\":1}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32601,"
	    "\"message\":\"no \\\"such\\\" method\"}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":null}\n"));
	OK(str_starts(buf_str(&rec), STR(">{\"jsonrpc\":\"2.0\",\"id\":1,")));
	OK(str_ends(buf_str(&rec), STR("\n<{\"method\":\"end\"}\n")));
	buf_free(&rec);
	finish();
}

static void
test_blocks(void)
{
	struct wire_opts o = { .ended = on_ended, .blocks = true };

	begin();
	OK(start("printf 'Content-Length: 23\\r\\n\\r\\n"
	    "{\"id\":7,\"method\":\"any\"}'; cat >&2", &o) == 0);
	wire_notify(&w, "x", STR("[]"));
	while (loop_turn(l, &e) == 1)
		if (w.tail.n >= 42 + 77 + 2 * 22)
			wire_end(&w);
	OK(str_is(raw_tail(), "Content-Length: 42\r\n\r\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":[]}"
	    "Content-Length: 77\r\n\r\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32601,"
	    "\"message\":\"Method not found\"}}"));
	OK(heard("E\n") && w.proc.res.status == 0);
	finish();
}

/* Pending requests are answered with NULL, forgotten ones not at all. */
static void
test_death(void)
{
	static const char same[] = "a";	/* the address is the context */
	begin();
	OK(start("read -r x; echo dying >&2; exit 3", &plain) == 0);
	ask("a", "a");
	ask("b", "b");
	wire_forget(&w, (void *)(uintptr_t)"none of these");
	while (loop_turn(l, &e) == 1)
		;
	OK(heard("A b none none\nA a none none\nE\n"));
	OK(w.proc.res.status == 3 && !w.proc.res.cancelled);
	OK(str_is(raw_tail(), "dying\n"));
	ask("c", "c");			/* no effect after the end */
	wire_notify(&w, "c", STR(""));
	wire_end(&w);
	wire_kill(&w);
	wire_fini(&w);
	OK(heard(""));
	finish();
	begin();
	OK(start("exit 0", &plain) == 0);
	ask("a", same);
	wire_forget(&w, (void *)(uintptr_t)same);
	finish();
	OK(heard("E\n"));
}

static void
test_no_program(void)
{
	const char *argv[] = { "/no/such/program", NULL };
	struct wire_opts o = plain;

	begin();
	o.argv = argv;
	OK(wire_start(&ps, &w, &o, &e) == -1 && e.sys == ENOENT);
	wire_fini(&w);
	OK(heard(""));
	finish();
}

static void
turn_until(size_t tail)
{
	while (w.tail.n < tail && loop_turn(l, &e) == 1)
		;
}

/* Its stdin is closed; SIGTERM and SIGKILL follow, each in its time. */
static void
test_ending(void)
{
	begin();
	OK(start("trap '' TERM; echo up >&2; while :; do read -r x || "
	    "exec tail -f /dev/null; done", &plain) == 0);
	turn_until(3);
	wire_end(&w);
	wire_end(&w);
	fake_now += WIRE_GRACE_MS - 1;
	loop_turn(l, &e);
	OK(w.proc.phase == PROC_RUNNING);
	fake_now += 1;
	loop_turn(l, &e);
	loop_turn(l, &e);
	OK(w.proc.phase == PROC_ENDING);
	fake_now += PROC_GRACE_MS;
	while (ends == 0 && loop_turn(l, &e) == 1)
		;
	OK(w.proc.res.signo == 9 && w.proc.res.cancelled && heard("E\n"));
	finish();
	begin();
	OK(start("echo up >&2; exec tail -f /dev/null", &plain) == 0);
	turn_until(3);
	wire_kill(&w);
	finish();
	OK(w.proc.res.signo == 15 && heard("E\n"));
	begin();
	OK(start("echo up >&2; exec tail -f /dev/null", &plain) == 0);
	ask("a", "a");
	turn_until(3);
	wire_fini(&w);
	finish();
	OK(heard("") && ends == 0);
}

/* A child that closes its stdin and stays is terminated. */
static void
test_deaf(void)
{
	begin();
	OK(start("exec <&-; echo up >&2; exec tail -f /dev/null", &plain) == 0);
	turn_until(3);
	for (ask("a", "a"); !w.ending; ask("a", "a"))
		if (loop_turn(l, &e) != 1)
			break;
	OK(w.ending && !w.broken);
	fake_now += WIRE_GRACE_MS;
	while (ends == 0 && loop_turn(l, &e) == 1)
		;
	OK(w.proc.res.signo == 15);
	said.n = 0;
	finish();
}

/* A child that closes its stdout and stays is terminated, too. */
static void
test_closed(void)
{
	begin();
	OK(start("exec >/dev/null; echo up >&2; exec tail -f /dev/null",
	    &plain) == 0);
	ask("a", "a");
	while (!w.closed && loop_turn(l, &e) == 1)
		;
	OK(w.ending && !w.broken && w.proc.phase == PROC_RUNNING);
	fake_now += WIRE_CLOSED_MS;
	while (ends == 0 && loop_turn(l, &e) == 1)
		;
	OK(w.proc.res.signo == 15 && w.proc.res.cancelled);
	said.n = 0;
	finish();
}

/* Only the last bytes of its stderr are kept. */
static void
test_tail(void)
{
	begin();
	OK(start("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); "
	    "done >&2", &plain) == 0);
	finish();
	OK(w.tail.n == PROC_TAIL);
	OK(str_ends(raw_tail(), STR("line 1998\nline 1999\n")));
	OK(heard("E\n"));
}

int
main(void)
{
	OK(os_init(&e) == 0);
	RUN(test_reading, test_limits, test_talking, test_blocks, test_death,
	    test_no_program, test_ending, test_deaf, test_closed, test_tail);
	buf_free(&said);
	return tap_done();
}

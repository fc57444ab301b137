/* SPDX-License-Identifier: ISC */
/*
 * double_evalclient: evaluation clients (seeds/004), for tests.
 *
 *	double_evalclient talk PORT <SCRIPT
 *
 * connects to a WebSocket, executes the lines of the script, and prints each
 * message that it receives on a line:
 *
 *	> TEXT      sends it; @1@ is the id of the first request received
 *	< [N]       waits for N messages (1)
 *	<TYPE       waits for a message that contains "TYPE"
 *	ping        sends a WebSocket ping
 *	close       sends a close frame and waits for the end
 *	end         waits for the end, and prints its code and reason
 *	drop        closes the connection without a close frame
 *	signal FILE creates that file, for others to see
 *	wait FILE   waits until others have created it
 *
 *	double_evalclient crowd PORT CLIENTS [CAPACITY [MODE]]
 *
 * connects that many clients, which answer all requests until the server ends.
 * Modes: "answer", at once; "silent", never; "moody", reconnecting after each
 * answer.  Prints the number of evaluations that it answered, and the seconds
 * from the first one to the end.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "json.h"
#include "lib/http.h"
#include "lib/ws.h"
#include "test/tool/help.h"
#include "test/tool/oracle.h"

enum { DEADLINE_MS = 60000, IDS_MAX = 100, LINE_MAX_BYTES = 1 << 20 };

static void
fail(const char *what)
{
	printf("double_evalclient: %s\n", what);
	fflush(stdout);
	_exit(1);
}

struct client {
	int fd;
	struct ws ws;
	struct buf in;		/* the head of the handshake's answer */
	bool connected, ended;	/* after the handshake; closed */
	char accept[WS_ACCEPT];
	size_t n;		/* its number */
	int code;
	char reason[WS_CONTROL_MAX + 1];
};

static const unsigned char mask[WS_MASK] = { 0x12, 0x34, 0x56, 0x78 };

static void
put_all(struct client *c, struct str s)
{
	struct pollfd p = { .fd = c->fd, .events = POLLOUT };
	ssize_t n;

	while (s.n > 0 && !c->ended) {
		n = write(c->fd, s.p, s.n);
		if (n == -1 && (errno == EAGAIN || errno == EINTR)) {
			if (poll(&p, 1, DEADLINE_MS) == 0)
				fail("the server does not read");
			continue;
		}
		if (n == -1) {
			c->ended = true;
			return;
		}
		s.p += n;
		s.n -= (size_t)n;
	}
}

static void
send_frame(struct client *c, enum ws_op op, struct str text)
{
	struct buf b = { 0 };

	ws_put(&b, op, text, mask);
	put_all(c, buf_str(&b));
	buf_free(&b);
}

static void
dial(struct client *c, const char *port)
{
	static const unsigned char nonce[WS_NONCE] = "0123456789abcde";
	struct sockaddr_in a = { .sin_family = AF_INET };
	size_t n = c->n;
	struct buf b = { 0 };
	struct http_url url;
	char text[64];
	struct err e;
	int one = 1;

	*c = (struct client){ .n = n, .ws = { .client = true } };
	a.sin_port = htons((uint16_t)atoi(port));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (c->fd == -1 || connect(c->fd, (struct sockaddr *)&a,
	    sizeof(a)) == -1) {
		c->ended = true;
		return;
	}
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
	snprintf(text, sizeof(text), "ws://127.0.0.1:%s/", port);
	if (ws_url_read(str_of(text), &url, &e) == -1)
		fail(e.msg);
	ws_put_request(&b, &url, STR(""), nonce, c->accept);
	put_all(c, buf_str(&b));
	buf_free(&b);
}

static void
hang_up(struct client *c)
{
	close(c->fd);
	ws_free(&c->ws);
	buf_free(&c->in);
	c->ended = true;
}

/* Reads the handshake's answer; true: frames follow in `in`. */
static bool
read_handshake(struct client *c, struct str *in)
{
	struct http_head head;
	size_t seen = 0, used;
	struct err e;
	int rc;

	buf_put(&c->in, *in);
	rc = http_head_read(&head, HTTP_RESPONSE, buf_str(&c->in), &seen,
	    &used, &e);
	if (rc == 0)
		return false;
	if (rc == -1 || ws_check_answer(&head, c->accept, &e) == -1)
		fail(e.msg);
	c->connected = true;
	*in = (struct str){ c->in.p + used, c->in.n - used };
	return true;
}

static void
receive(struct client *c, void (*message)(struct client *, struct str))
{
	char block[65536];
	ssize_t n = read(c->fd, block, sizeof(block));
	struct str in = { block, n > 0 ? (size_t)n : 0 };
	struct ws_event ev;
	struct err e;
	size_t used;
	int rc;

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		c->ended = true;
		return;
	}
	if (!c->connected && !read_handshake(c, &in))
		return;
	while (!c->ended &&
	    (rc = ws_next(&c->ws, in, &used, &ev, &e)) != 0) {
		if (rc == -1)
			fail(e.msg);
		in.p += used;
		in.n -= used;
		if (ev.op == WS_CLOSE) {
			c->code = ev.code;
			memcpy(c->reason, ev.data.p, ev.data.n);
			c->reason[ev.data.n] = '\0';
			send_frame(c, WS_CLOSE, STR(""));
		} else if (ev.op == WS_PING)
			send_frame(c, WS_PONG, ev.data);
		else if (ev.op == WS_TEXT) {
			oracle_json("a WebSocket message is not JSON", ev.data);
			message(c, ev.data);
		}
	}
}

/*
 * talk
 */
static char *ids[IDS_MAX];
static size_t nids, received;
static struct buf last;

static void
on_text(struct client *c, struct str s)
{
	struct arena a = { 0 };
	const struct json *m = read_json(&a, s);
	const struct json *id = json_getc(m, "id");

	(void)c;
	if (json_getc(m, "method") != NULL && id != NULL && nids < IDS_MAX) {
		ids[nids] = malloc(id->n + 1);
		memcpy(ids[nids], json_text(id).p, id->n);
		ids[nids++][id->n] = '\0';
	}
	printf("%.*s\n", STRF(s));
	fflush(stdout);
	last.n = 0;
	buf_put(&last, s);
	buf_putc(&last, '\0');
	received++;
	arena_free(&a);
}

static void
await(struct client *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	if (poll(&p, 1, DEADLINE_MS) == 0)
		fail("no message within the time limit");
	receive(c, on_text);
}

static void
wait_for(struct client *c, const char *what)
{
	size_t n = received + (*what == '\0' ? 1 : strtoul(what, NULL, 10));
	char want[100];

	if (*what >= '0' && *what <= '9')
		what = "";
	if (*what == '\0') {
		while (!c->ended && received < n)
			await(c);
		return;
	}
	snprintf(want, sizeof(want), "\"%s\"", what);
	do {
		n = received;
		while (!c->ended && received == n)
			await(c);
	} while (!c->ended && strstr(last.p, want) == NULL);
}

static void
say(struct client *c, const char *text)
{
	struct buf b = { 0 };
	const char *at;
	size_t k;

	while ((at = strchr(text, '@')) != NULL) {
		buf_put(&b, (struct str){ text, (size_t)(at - text) });
		k = strtoul(at + 1, NULL, 10);
		if (k == 0 || k > nids)
			fail("no such request was received");
		buf_puts(&b, ids[k - 1]);
		text = strchr(at + 1, '@') + 1;
	}
	buf_puts(&b, text);
	send_frame(c, WS_TEXT, buf_str(&b));
	buf_free(&b);
}

static void
wait_file(const char *path)
{
	struct timespec t = { 0, 20000000 };
	struct stat st;
	int i;

	for (i = 0; stat(path, &st) == -1; i++) {
		if (i > DEADLINE_MS / 20)
			fail("the file was not created in time");
		nanosleep(&t, NULL);
	}
}

static void
finish(struct client *c)
{
	while (!c->ended)
		await(c);
	printf("end %d %s\n", c->code, c->reason);
}

static void
execute(struct client *c, char *line, bool *over)
{
	FILE *f;

	if (strncmp(line, "> ", 2) == 0)
		say(c, line + 2);
	else if (line[0] == '<')
		wait_for(c, line + 1 + (line[1] == ' '));
	else if (strcmp(line, "ping") == 0)
		send_frame(c, WS_PING, STR("x"));
	else if (strcmp(line, "close") == 0) {
		send_frame(c, WS_CLOSE, STR("\x03\xe8"));
		finish(c);
		*over = true;
	} else if (strcmp(line, "end") == 0) {
		finish(c);
		*over = true;
	} else if (strcmp(line, "drop") == 0)
		*over = true;
	else if (strncmp(line, "signal ", 7) == 0) {
		f = fopen(line + 7, "w");
		if (f == NULL)
			fail(line);
		fclose(f);
	} else if (strncmp(line, "wait ", 5) == 0)
		wait_file(line + 5);
	else if (line[0] != '\0' && line[0] != '#')
		fail(line);
}

static int
talk(const char *port)
{
	static char line[LINE_MAX_BYTES];
	struct client c = { 0 };
	bool over = false;

	dial(&c, port);
	if (c.ended)
		fail("cannot connect");
	while (!over && fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		execute(&c, line, &over);
	}
	hang_up(&c);
	buf_free(&last);
	return 0;
}

/*
 * crowd
 */
static size_t answered, capacity = 1;
static double begun;		/* time of the first request */

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool silent, moody;

static void
on_request(struct client *c, struct str s)
{
	struct arena a = { 0 };
	const struct json *m = read_json(&a, s);
	const struct json *type = json_getc(m, "type");
	const struct json *id = json_getc(m, "id");
	struct str t = type != NULL ? json_text(type) : STR("");

	if (str_is(t, "welcome"))
		send_frame(c, WS_TEXT, arena_fmt(&a, "{\"type\":\"register\","
		    "\"clientId\":\"crowd-%zu\",\"capabilities\":{\"tools\":"
		    "[],\"maxConcurrency\":%zu,\"version\":\"1.0.0\"}}", c->n,
		    capacity));
	else if (str_is(t, "registration_ack"))
		send_frame(c, WS_TEXT, STR("{\"type\":\"ready\"}"));
	else if (json_getc(m, "method") != NULL && id != NULL && !silent) {
		if (answered == 0)
			begun = seconds();
		send_frame(c, WS_TEXT, arena_fmt(&a, "{\"jsonrpc\":\"2.0\","
		    "\"result\":{\"status\":\"success\",\"output\":\"ok\","
		    "\"executionTime\":0},\"id\":\"%.*s\"}",
		    STRF(json_text(id))));
		answered++;
		if (moody)
			c->ended = true;
	}
	arena_free(&a);
}

static int
crowd(const char *port, size_t n)
{
	struct client *v = calloc(n, sizeof(*v));
	struct pollfd *p = calloc(n, sizeof(*p));
	size_t i, gone = 0;

	for (i = 0; i < n; i++) {
		v[i].n = i;
		dial(&v[i], port);
		gone += v[i].ended;
	}
	while (gone < n) {
		for (i = 0; i < n; i++)
			p[i] = (struct pollfd){ .events = POLLIN,
				.fd = v[i].ended ? -1 : v[i].fd };
		if (poll(p, (nfds_t)n, DEADLINE_MS) == 0)
			fail("no message within the time limit");
		for (i = 0; i < n; i++) {
			if (p[i].revents == 0)
				continue;
			receive(&v[i], on_request);
			if (!v[i].ended)
				continue;
			hang_up(&v[i]);
			if (moody && v[i].code == 0)
				dial(&v[i], port);
			gone += v[i].ended;
		}
	}
	printf("%zu answered %.3f\n", answered,
	    answered > 0 ? seconds() - begun : 0);
	free(v);
	free(p);
	return 0;
}

int
main(int argc, char **argv)
{
	struct rlimit l;

	signal(SIGPIPE, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
	if (argc == 3 && strcmp(argv[1], "talk") == 0)
		return talk(argv[2]);
	if (argc < 4 || strcmp(argv[1], "crowd") != 0)
		fail("usage: double_evalclient talk PORT | crowd PORT N "
		    "[CAPACITY [MODE]]");
	if (argc > 4)
		capacity = strtoul(argv[4], NULL, 10);
	silent = argc > 5 && strcmp(argv[5], "silent") == 0;
	moody = argc > 5 && strcmp(argv[5], "moody") == 0;
	return crowd(argv[2], strtoul(argv[3], NULL, 10));
}

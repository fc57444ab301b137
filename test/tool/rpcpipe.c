/* SPDX-License-Identifier: ISC */
/*
 * rpcpipe: the other end of a JSON-RPC stream, for tests.
 *
 *	rpcpipe play stdio|tcp|unix|ws FILE LOG COMMAND...
 *
 * starts the server and plays a transcript to it: in both framings (ws: over a
 * WebSocket at /rpc), message by message, byte by byte, and all at once.  LOG
 * gets the server's stderr, which contains its address.
 *
 *	# a comment          %steps  never all at once
 *	%only tcp unix       only on these transports; %arg a server argument
 *	> sent text          >> its next line (a blank in line framing)
 *	< received text      as JSON
 *
 * Replies must arrive in the order of the file, and so must notifications; the
 * two can be interleaved.  Then the stream must end.  In received text "<*>"
 * is any value, "<n>" any number, "<$x>" a string that is the same at each
 * occurrence, also in sent text; within a longer string <*> matches any
 * characters.  A member "..." allows other members, an element "..." any
 * further elements.  Numbers are compared by their spelling.
 *
 *	rpcpipe talk [-k] [-l] [-q] [-n LINES] ADDRESS
 *
 * sends stdin and prints the answers.  At end of stdin it closes its writing
 * side (-k: it does not); it ends with the server's stream, or after LINES
 * lines.  With -q it never reads.  ADDRESS is a port, or the path of a unix
 * socket.  With -l it is the server: it listens on the path and talks with the
 * first client.
 *
 *	rpcpipe crowd CONNECTIONS TIMES ADDRESS
 *
 * opens CONNECTIONS connections, sends stdin TIMES times on each, reads each
 * to its end, and prints the number of received lines.
 *
 *	rpcpipe copy
 *
 * copies stdin to stdout.  All of these check what they receive (oracle.h).
 *
 *	rpcpipe ping FILE ADDRESS
 *
 * calls `ping` every few milliseconds until the file exists, and prints the
 * number of answers and the longest time that one took, in ms.
 *
 *	rpcpipe nap
 *
 * ends after 50 ms.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "json.h"
#include "lib/http.h"
#include "lib/ws.h"
#include "test/tool/oracle.h"

enum {
	DEADLINE_MS = 60000,	/* for anything */
	ARGS_MAX = 64,
	OTHER_WAY = 77,		/* exit status: the transcript is not for it */
	VARS_MAX = 16,
	CROWD_MAX = 1000
};

static pid_t server;	/* that we have started */

static void
die(const char *what)
{
	fprintf(stderr, "rpcpipe: %s: %s\n", what, strerror(errno));
	if (server > 0)
		kill(server, SIGKILL);
	exit(2);
}

static void
nap(void)
{
	struct timespec t = { 0, 2000000 };

	nanosleep(&t, NULL);
}

/*
 * Addresses.
 */
static int
dial(const char *where)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	bool tcp = where[strspn(where, "0123456789")] == '\0';
	int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0), on = 1, rc;

	if (fd == -1)
		die("socket");
	if (tcp) {
		in.sin_port = htons((unsigned short)atoi(where));
		in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		rc = connect(fd, (struct sockaddr *)&in, sizeof(in));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	} else {
		if (strlen(where) >= sizeof(un.sun_path)) {
			errno = ENAMETOOLONG;
			die(where);
		}
		memcpy(un.sun_path, where, strlen(where));
		rc = connect(fd, (struct sockaddr *)&un, sizeof(un));
	}
	if (rc == -1)
		die(where);
	return fd;
}

/* Accepts the first client of a unix socket. */
static int
answer(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char temp[sizeof(un.sun_path)];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd == -1 || strlen(path) + 2 >= sizeof(temp))
		die(path);
	snprintf(temp, sizeof(temp), "%s-", path);
	memcpy(un.sun_path, temp, strlen(temp));
	if (bind(fd, (struct sockaddr *)&un, sizeof(un)) == -1 ||
	    listen(fd, 1) == -1 || rename(temp, path) == -1)
		die(path);
	fd = accept(fd, NULL, NULL);
	if (fd == -1)
		die(path);
	unlink(path);
	return fd;
}

/* Writes all of it; false if the other end is closed. */
static bool
put(int fd, struct str s)
{
	ssize_t n;

	while (s.n > 0) {
		n = write(fd, s.p, s.n);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return false;
		s.p += n;
		s.n -= (size_t)n;
	}
	return true;
}

/*
 * Transcripts.
 */
struct line {
	struct line *next;
	bool send;
	struct str text;	/* of several lines, in a framing of blocks */
	unsigned at;
};

struct script {
	const char *file;
	struct line *lines;
	struct str only;	/* empty: by any way */
	char *args[ARGS_MAX];
	int nargs;
	bool steps;
};

static void
add_line(struct arena *a, struct line ***tail, bool send, struct str text,
    unsigned at)
{
	struct line *l = NEW(a, struct line);

	*l = (struct line){ .send = send, .text = text, .at = at };
	**tail = l;
	*tail = &l->next;
}

static struct script
read_script(struct arena *a, const char *file)
{
	struct script s = { .file = file };
	struct line **tail = &s.lines, *last = NULL;
	struct str text, l;
	struct err e;
	const char *eol;
	unsigned at = 0;

	if (os_read_file(a, file, 1 << 20, &text, &e) == -1) {
		fprintf(stderr, "rpcpipe: %s\n", e.msg);
		exit(2);
	}
	for (; text.n > 0; text.p += l.n + 1, text.n -= l.n + 1) {
		eol = memchr(text.p, '\n', text.n);
		l = (struct str){ text.p, eol != NULL ?
			(size_t)(eol - text.p) : text.n };
		at++;
		if (str_is(l, "%steps"))
			s.steps = true;
		else if (str_starts(l, STR("%only ")))
			s.only = l;
		else if (str_starts(l, STR("%arg ")) &&
		    s.nargs < ARGS_MAX)
			s.args[s.nargs++] = arena_cstr(a,
			    (struct str){ l.p + 5, l.n - 5 });
		else if (str_starts(l, STR(">> ")) && last != NULL)
			last->text = arena_fmt(a, "%.*s\n%.*s",
			    STRF(last->text), (int)l.n - 3, l.p + 3);
		else if (str_starts(l, STR("> ")) ||
		    str_starts(l, STR("< "))) {
			last = NULL;
			add_line(a, &tail, l.p[0] == '>',
			    (struct str){ l.p + 2, l.n - 2 }, at);
			for (last = s.lines; last->next != NULL; )
				last = last->next;
		} else if (l.n > 0 && l.p[0] != '#') {
			fprintf(stderr, "%s:%u: what is that?\n", file, at);
			exit(2);
		}
		if (l.n == text.n)
			break;
	}
	return s;
}

/*
 * Matching.
 */
struct vars {
	struct { struct str name, value; } v[VARS_MAX];
	size_t n;
};

static struct str *
find_var(struct vars *vars, struct str name)
{
	size_t i;

	for (i = 0; i < vars->n; i++)
		if (str_eq(vars->v[i].name, name))
			return &vars->v[i].value;
	return NULL;
}

static bool
match_var(struct vars *vars, struct str name, struct str got)
{
	struct str *v = find_var(vars, name);

	if (v != NULL)
		return str_eq(*v, got);
	if (vars->n == VARS_MAX)
		return false;
	vars->v[vars->n].name = name;
	vars->v[vars->n++].value = got;
	return true;
}

static bool
match_text(struct str want, struct str got)
{
	struct str any = STR("<*>");
	size_t i;

	for (; want.n > 0; want.p++, want.n--, got.p++, got.n--) {
		if (str_starts(want, any)) {
			want.p += any.n;
			want.n -= any.n;
			for (i = 0; i <= got.n; i++)
				if (match_text(want, (struct str){ got.p + i,
				    got.n - i }))
					return true;
			return false;
		}
		if (got.n == 0 || want.p[0] != got.p[0])
			return false;
	}
	return got.n == 0;
}

static bool
match_string(struct vars *vars, struct str want, const struct json *got)
{
	if (str_is(want, "<*>"))
		return true;
	if (str_is(want, "<n>"))
		return got->type == JSON_NUMBER;
	if (got->type != JSON_STRING)
		return false;
	if (str_starts(want, STR("<$")))
		return match_var(vars, want, json_text(got));
	return match_text(want, json_text(got));
}

static bool match(struct vars *, const struct json *, const struct json *);

static bool
match_array(struct vars *vars, const struct json *want,
    const struct json *got)
{
	const struct json *w = json_first(want), *g = json_first(got);

	for (; w != NULL; w = w->next, g = g->next) {
		if (w->type == JSON_STRING && str_is(json_text(w), "..."))
			return true;
		if (g == NULL || !match(vars, w, g))
			return false;
	}
	return g == NULL;
}

static bool
match_object(struct vars *vars, const struct json *want,
    const struct json *got)
{
	const struct json *w, *g;
	size_t n = 0;
	bool more = json_getc(want, "...") != NULL;

	for (w = json_first(want); w != NULL; w = w->next) {
		if (str_is(json_key(w), "..."))
			continue;
		g = json_get(got, json_key(w));
		if (g == NULL || !match(vars, w, g))
			return false;
		n++;
	}
	return more || n == json_count(got);
}

static bool
match(struct vars *vars, const struct json *want, const struct json *got)
{
	if (want->type == JSON_STRING)
		return match_string(vars, json_text(want), got);
	if (want->type != got->type)
		return false;
	if (want->type == JSON_ARRAY)
		return match_array(vars, want, got);
	if (want->type == JSON_OBJECT)
		return match_object(vars, want, got);
	if (want->type == JSON_NUMBER)
		return str_eq(json_text(want), json_text(got));
	return json_equal(want, got);
}

/*
 * A stream on which a transcript is played.
 */
enum framing { LINE, LSP, WS, FRAMINGS };
enum pace { STEPS, BYTES, ONCE, PACES };

static const char *const framing_names[] = { "line", "lsp", "websocket" };
static const unsigned char mask[WS_MASK] = { 0x37, 0xFA, 0x21, 0x3D };
static const char *const pace_names[] = { "in steps", "by bytes", "at once" };

struct message {
	struct message *next;
	struct str text;
	const struct json *value;
};

struct play {
	struct arena arena;
	const struct script *script;
	enum framing framing;
	enum pace pace;
	int in, out;		/* what we read, what we write */
	bool same, eof;
	struct buf got;		/* not cut yet */
	struct message *queue[2];	/* replies and notifications */
	struct vars vars;
	struct ws ws;
	bool upgraded;
	bool bad;
};

static void
complain(struct play *p, const struct line *l, const char *what,
    struct str want, struct str got)
{
	p->bad = true;
	printf("# %s:%u: %s, %s: %s\n", p->script->file,
	    l != NULL ? l->at : 0, framing_names[p->framing],
	    pace_names[p->pace], what);
	if (want.n > 0)
		printf("#   want %.*s\n", STRF(want));
	if (got.n > 0)
		printf("#   got  %.*s\n", STRF(got));
}

/* The answer to the handshake; then frames. */
static int
cut_frame(struct play *p, struct str *msg)
{
	struct str in = buf_str(&p->got);
	size_t seen = 0, used = 0;
	struct http_head h;
	struct ws_event ev;
	struct err e = { 0 };
	int rc;

	if (!p->upgraded) {
		rc = http_head_read(&h, HTTP_RESPONSE, in, &seen, &used, &e);
		if (rc != 1)
			return rc;
		if (h.status != 101)
			return -1;
		p->upgraded = true;
		buf_eat(&p->got, used);
	}
	while ((rc = ws_next(&p->ws, buf_str(&p->got), &used, &ev, &e)) == 1) {
		buf_eat(&p->got, used);
		if (ev.op != WS_TEXT)
			continue;
		*msg = arena_str(&p->arena, ev.data);
		return 1;
	}
	buf_eat(&p->got, used);
	return rc;
}

/* Takes the next message from the input; 0: it is not complete yet. */
static int
cut(struct play *p, struct str *msg)
{
	static const char head[] = "Content-Length: ";
	struct str in = buf_str(&p->got);
	const char *eol = in.n > 0 ? memchr(in.p, '\n', in.n) : NULL;
	size_t n, body;

	if (p->framing == WS)
		return cut_frame(p, msg);
	if (eol == NULL)
		return 0;
	n = (size_t)(eol - in.p);
	if (p->framing == LINE) {
		*msg = arena_str(&p->arena, (struct str){ in.p, n });
		buf_eat(&p->got, n + 1);
		return 1;
	}
	if (in.n < n + 3)
		return 0;
	body = (size_t)strtoul(in.p + sizeof(head) - 1, NULL, 10);
	if (!str_starts(in, STR("Content-Length: ")) ||
	    memcmp(in.p + n - 1, "\r\n\r\n", 4) != 0)
		return -1;
	if (in.n < n + 3 + body)
		return 0;
	*msg = arena_str(&p->arena, (struct str){ in.p + n + 3, body });
	buf_eat(&p->got, n + 3 + body);
	return 1;
}

static bool
is_note(const struct json *v)
{
	return v->type == JSON_OBJECT && json_getc(v, "method") != NULL;
}

static void
enqueue(struct play *p, struct str text)
{
	struct json_mem mem = { arena_hook, &p->arena };
	struct json_error e;
	struct message *m = NEW(&p->arena, struct message), **tail;

	m->text = text;
	m->value = json_read(&mem, text, 0, &e);
	if (m->value == NULL) {
		complain(p, NULL, "not JSON", STR(""), text);
		return;
	}
	tail = &p->queue[is_note(m->value)];
	while (*tail != NULL)
		tail = &(*tail)->next;
	*tail = m;
}

/* Reads on; false: at its end, or too late. */
static bool
more(struct play *p, int64_t deadline)
{
	struct pollfd fd = { .fd = p->in, .events = POLLIN };
	int64_t left = deadline - os_now_ms();
	char block[65536];
	struct str msg;
	ssize_t n;
	int rc;

	if (p->eof || left <= 0 || poll(&fd, 1, (int)left) != 1)
		return false;
	n = read(p->in, block, sizeof(block));
	if (n <= 0) {
		p->eof = true;
		if (p->got.n > 0)
			complain(p, NULL, "half a message", STR(""),
			    buf_str(&p->got));
		return false;
	}
	buf_put(&p->got, (struct str){ block, (size_t)n });
	while ((rc = cut(p, &msg)) == 1)
		enqueue(p, msg);
	if (rc == -1) {
		complain(p, NULL, "no message", STR(""), buf_str(&p->got));
		p->eof = true;
	}
	return !p->eof;
}

/* Expands <$x> in a message to send. */
static struct str
fill_in(struct play *p, struct str text)
{
	struct buf b = { 0 };
	struct str s, name, *value;
	const char *end;

	for (s = text; s.n > 0; s.p++, s.n--) {
		end = str_starts(s, STR("<$")) ? memchr(s.p, '>', s.n) : NULL;
		if (end == NULL) {
			buf_putc(&b, s.p[0] == '\n' && p->framing == LINE ?
			    ' ' : s.p[0]);
			continue;
		}
		name = (struct str){ s.p, (size_t)(end - s.p) + 1 };
		value = find_var(&p->vars, name);
		if (value != NULL)
			buf_put(&b, *value);
		s.p += name.n - 1;
		s.n -= name.n - 1;
	}
	s = arena_str(&p->arena, buf_str(&b));
	buf_free(&b);
	return s;
}

static struct str
wrap(struct play *p, struct str text)
{
	struct buf b = { 0 };

	text = fill_in(p, text);
	if (p->framing == WS) {
		ws_put(&b, WS_TEXT, text, mask);
		text = arena_str(&p->arena, buf_str(&b));
		buf_free(&b);
		return text;
	}
	return p->framing == LINE ? arena_fmt(&p->arena, "%.*s\n",
	    STRF(text)) : arena_fmt(&p->arena,
	    "Content-Length: %zu\r\n\r\n%.*s", text.n, STRF(text));
}

static void
say(struct play *p, struct str s)
{
	size_t i;

	if (p->pace != BYTES) {
		put(p->out, s);
		return;
	}
	for (i = 0; i < s.n; i++)
		put(p->out, (struct str){ s.p + i, 1 });
}

static void
ask_for_socket(struct play *p)
{
	say(p, STR("GET /rpc HTTP/1.1\r\nHost: localhost\r\n"
	    "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
	    "Sec-WebSocket-Version: 13\r\n"
	    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"));
}

static void
hang_up(struct play *p)
{
	if (p->same)
		shutdown(p->out, SHUT_WR);
	else
		close(p->out);
}

static void
say_all(struct play *p)
{
	const struct line *l;
	struct buf b = { 0 };

	for (l = p->script->lines; l != NULL; l = l->next)
		if (l->send)
			buf_put(&b, wrap(p, l->text));
	say(p, buf_str(&b));
	buf_free(&b);
	hang_up(p);
}

static void
expect(struct play *p, const struct line *l)
{
	struct json_mem mem = { arena_hook, &p->arena };
	int64_t deadline = os_now_ms() + DEADLINE_MS;
	struct json_error e;
	const struct json *want = json_read(&mem, l->text, 0, &e);
	struct message *m, **queue;

	if (want == NULL) {
		complain(p, l, e.msg, l->text, STR(""));
		return;
	}
	queue = &p->queue[is_note(want)];
	while (*queue == NULL && more(p, deadline))
		;
	m = *queue;
	if (m == NULL) {
		complain(p, l, p->eof ? "the stream has ended" :
		    "nothing comes", l->text, STR(""));
		return;
	}
	*queue = m->next;
	if (!match(&p->vars, want, m->value))
		complain(p, l, "differs", l->text, m->text);
}

static void
wait_for_end(struct play *p)
{
	int64_t deadline = os_now_ms() + DEADLINE_MS;
	struct message *m;
	size_t i;

	while (more(p, deadline))
		;
	if (!p->eof)
		complain(p, NULL, "the stream does not end", STR(""),
		    STR(""));
	for (i = 0; i < COUNTOF(p->queue); i++)
		for (m = p->queue[i]; m != NULL; m = m->next)
			complain(p, NULL, "unexpected", STR(""), m->text);
}

static bool
play(const struct script *s, enum framing f, enum pace pace, int in, int out)
{
	struct play p = { .script = s, .framing = f, .pace = pace, .in = in,
		.out = out, .same = in == out, .ws = { .client = true } };
	const struct line *l;
	bool ok;

	if (f == WS)
		ask_for_socket(&p);
	if (pace == ONCE)
		say_all(&p);
	for (l = s->lines; l != NULL && !p.bad; l = l->next)
		if (!l->send)
			expect(&p, l);
		else if (pace != ONCE)
			say(&p, wrap(&p, l->text));
	if (pace != ONCE)
		hang_up(&p);
	if (!p.bad)
		wait_for_end(&p);
	close(p.in);
	ok = !p.bad;
	ws_free(&p.ws);
	buf_free(&p.got);
	arena_free(&p.arena);
	return ok;
}

/*
 * Servers.
 */
static pid_t
start(char **argv, const char *log, int *in, int *out)
{
	int to[2] = { -1, -1 }, from[2] = { -1, -1 }, fd;
	pid_t pid;

	unlink(log);
	if (in != NULL && (pipe(to) == -1 || pipe(from) == -1))
		die("pipe");
	pid = fork();
	if (pid == -1)
		die("fork");
	if (pid == 0) {
		fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(fd, 2);
		if (in != NULL) {
			dup2(to[0], 0);
			dup2(from[1], 1);
			close(to[1]);
			close(from[0]);
		}
		execv(argv[0], argv);
		_exit(127);
	}
	if (in != NULL) {
		close(to[0]);
		close(from[1]);
		*in = from[0];
		*out = to[1];
	}
	return pid;
}

/* Its status is 0, before the deadline. */
static bool
ended_well(pid_t pid, const char *log)
{
	int64_t deadline = os_now_ms() + DEADLINE_MS;
	int status = -1;
	pid_t rc;

	while ((rc = waitpid(pid, &status, WNOHANG)) == 0 &&
	    os_now_ms() < deadline)
		nap();
	if (rc == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	if (rc == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	printf("# the server ended with %s %d; see %s\n", rc == 0 ?
	    "a kill after" : WIFEXITED(status) ? "status" : "signal",
	    WIFEXITED(status) ? WEXITSTATUS(status) : status, log);
	return false;
}

/* The address that the server prints: the port, or the path. */
static const char *
listens_at(struct arena *a, const char *log, pid_t pid, bool tcp)
{
	static const char words[] = "listening on ";
	int64_t deadline = os_now_ms() + DEADLINE_MS;
	char *at, *eol;
	struct str text;
	struct err e;

	for (; os_now_ms() < deadline; nap()) {
		if (os_read_file(a, log, 1 << 20, &text, &e) == -1)
			continue;
		at = strstr(arena_cstr(a, text), words);
		eol = at != NULL ? strchr(at, '\n') : NULL;
		if (eol != NULL) {
			*eol = '\0';
			at += sizeof(words) - 1;
			return tcp ? strrchr(at, ':') + 1 : at;
		}
		if (waitpid(pid, NULL, WNOHANG) == pid)
			break;
	}
	printf("# the server does not listen; see %s\n", log);
	exit(1);
	return NULL;	/* for compilers that do not know exit() */
}

static void
show(struct arena *a, const char *log)
{
	struct str text;
	struct err e;
	size_t i;

	if (os_read_file(a, log, 1 << 20, &text, &e) == -1 || text.n == 0)
		return;
	printf("#   log: ");
	for (i = 0; i < text.n && i < 4000; i++) {
		putchar(text.p[i]);
		if (text.p[i] == '\n' && i + 1 < text.n)
			printf("#        ");
	}
	putchar('\n');
}

static char **
command_of(struct arena *a, char **argv, int argc, const struct script *s,
    const char *option, const char *value)
{
	char **v = NEW_N(a, char *, (size_t)(argc + s->nargs) + 3);

	memcpy(v, argv, (size_t)argc * sizeof(*v));
	memcpy(v + argc, s->args, (size_t)s->nargs * sizeof(*v));
	argc += s->nargs;
	if (option != NULL) {
		v[argc] = arena_cstr(a, str_of(option));
		v[argc + 1] = arena_cstr(a, str_of(value));
	}
	return v;
}

static bool
goes_by(const struct script *s, const char *via)
{
	size_t n = strlen(via), i;

	for (i = 0; i + n <= s->only.n; i++)
		if (memcmp(s->only.p + i, via, n) == 0)
			return true;
	return s->only.n == 0;
}

static int
play_all(int argc, char **argv)
{
	struct arena a = { 0 };
	const char *via = argv[0], *log = argv[2], *where = NULL;
	struct script s = read_script(&a, argv[1]);
	bool stdio = strcmp(via, "stdio") == 0, ws = strcmp(via, "ws") == 0;
	bool tcp = ws || strcmp(via, "tcp") == 0;
	char **command = command_of(&a, argv + 3, argc - 3, &s, stdio ? NULL :
	    ws ? "--http" : tcp ? "--tcp" : "--unix", tcp ? "127.0.0.1:0" :
	    arena_fmt(&a, "%s.sock", log).p);
	int f, pace, in, out;
	bool ok = true;
	pid_t pid = 0;

	if (!goes_by(&s, via)) {
		arena_free(&a);
		return OTHER_WAY;
	}
	if (!stdio) {
		pid = server = start(command, log, NULL, NULL);
		where = listens_at(&a, log, pid, tcp);
	}
	for (f = 0; f < FRAMINGS; f++)
		for (pace = 0; pace < PACES; pace++) {
			if (!ok || (s.steps && pace == ONCE) ||
			    (f == WS) != ws)
				continue;
			if (stdio)
				pid = start(command, log, &in, &out);
			else
				in = out = dial(where);
			ok &= play(&s, (enum framing)f, (enum pace)pace, in,
			    out);
			if (stdio)
				ok &= ended_well(pid, log);
		}
	if (!stdio) {
		kill(pid, SIGTERM);
		ok &= ended_well(pid, log);
	}
	if (!ok)
		show(&a, log);
	arena_free(&a);
	return !ok;
}

/*
 * Copying to and fro.
 */
static int
copy(void)
{
	struct oracle o = { .part = ORACLE_START };
	char block[65536];
	ssize_t n;

	while ((n = read(0, block, sizeof(block))) > 0) {
		oracle_put(&o, (struct str){ block, (size_t)n });
		put(1, (struct str){ block, (size_t)n });
	}
	oracle_end(&o);
	return 0;
}

static int
talk(int argc, char **argv)
{
	bool keep = false, quiet = false, listens = false;
	long lines = -1, seen = 0;
	struct oracle o = { .part = ORACLE_START };
	struct pollfd p[2];
	char block[65536];
	ssize_t n, i;
	int c;

	while ((c = getopt(argc, argv, "klqn:")) != -1)
		if (c == 'k')
			keep = true;
		else if (c == 'l')
			listens = true;
		else if (c == 'q')
			quiet = true;
		else
			lines = atol(optarg);
	p[0] = (struct pollfd){ .fd = 0, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = listens ? answer(argv[optind]) :
		dial(argv[optind]),
		.events = (short)(quiet ? 0 : POLLIN) };
	while (poll(p, 2, -1) > 0) {
		if (p[0].revents != 0) {
			n = read(0, block, sizeof(block));
			o.no_bodies |= n > 5 && memcmp(block, "HEAD ", 5) == 0;
			if (n <= 0) {
				p[0].fd = -1;
				if (!keep)
					shutdown(p[1].fd, SHUT_WR);
			} else if (!put(p[1].fd, (struct str){ block,
			    (size_t)n }))
				p[0].fd = -1;
		}
		if (p[1].revents != 0 && quiet)
			return 3;	/* it has sent us away */
		if (p[1].revents != 0) {
			n = read(p[1].fd, block, sizeof(block));
			if (n <= 0) {
				oracle_end(&o);
				return n == 0 ? 0 : 3;
			}
			oracle_put(&o, (struct str){ block, (size_t)n });
			if (!put(1, (struct str){ block, (size_t)n }))
				break;
			for (i = 0; i < n; i++)
				seen += block[i] == '\n';
			if (lines != -1 && seen >= lines) {
				oracle_end(&o);
				return 0;
			}
		}
	}
	oracle_end(&o);
	return 2;
}

/* Does not wait for the reader: each gets all of it while it is read. */
static int
crowd(char **argv)
{
	static struct pollfd p[CROWD_MAX];
	static size_t left[CROWD_MAX];
	static struct oracle oracle[CROWD_MAX];
	size_t n = (size_t)atol(argv[0]), times = (size_t)atol(argv[1]), i, k;
	size_t open = n, lines = 0;
	struct arena a = { 0 };
	struct buf all = { 0 };
	char block[65536];
	struct str text;
	struct err e;
	ssize_t got;

	if (n > CROWD_MAX || os_read_fd(&a, 0, "stdin", 1 << 20, &text, &e))
		return 2;
	for (i = 0; i < times; i++)
		buf_put(&all, text);
	for (i = 0; i < n; i++) {
		p[i] = (struct pollfd){ .fd = dial(argv[2]),
			.events = POLLIN | POLLOUT };
		fcntl(p[i].fd, F_SETFL, O_NONBLOCK);
		left[i] = all.n;
	}
	while (open > 0 && poll(p, (nfds_t)n, DEADLINE_MS) > 0)
		for (i = 0; i < n; i++) {
			if (p[i].revents & POLLOUT && left[i] > 0) {
				got = write(p[i].fd, all.p + all.n - left[i],
				    left[i]);
				left[i] -= got > 0 ? (size_t)got : 0;
				if (left[i] == 0) {
					shutdown(p[i].fd, SHUT_WR);
					p[i].events = POLLIN;
				}
			}
			if (!(p[i].revents & (POLLIN | POLLHUP | POLLERR)))
				continue;
			got = read(p[i].fd, block, sizeof(block));
			oracle_put(&oracle[i], (struct str){ block,
			    got > 0 ? (size_t)got : 0 });
			if (got <= 0) {
				oracle_end(&oracle[i]);
				close(p[i].fd);
				p[i].fd = -1;
				open--;
			}
			for (k = 0; got > 0 && k < (size_t)got; k++)
				lines += block[k] == '\n';
		}
	printf("%zu\n", lines);
	buf_free(&all);
	arena_free(&a);
	return open > 0;
}

static int
ping(const char *until, const char *where)
{
	static const char call[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
	int fd = dial(where);
	int64_t began, took, worst = 0;
	unsigned n;
	char c;

	for (n = 0; access(until, F_OK) == -1 || n == 0; n++) {
		began = os_now_ms();
		if (write(fd, call, sizeof(call) - 1) == -1)
			die("write");
		do
			if (read(fd, &c, 1) != 1)
				die("read");
		while (c != '\n');
		took = os_now_ms() - began;
		worst = took > worst ? took : worst;
		nap();
	}
	printf("%u %lld\n", n, (long long)worst);
	close(fd);
	return 0;
}

int
main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc > 5 && strcmp(argv[1], "play") == 0)
		return play_all(argc - 2, argv + 2);
	if (argc > 2 && strcmp(argv[1], "talk") == 0)
		return talk(argc - 1, argv + 1);
	if (argc == 5 && strcmp(argv[1], "crowd") == 0)
		return crowd(argv + 2);
	if (argc == 2 && strcmp(argv[1], "copy") == 0)
		return copy();
	if (argc == 4 && strcmp(argv[1], "ping") == 0)
		return ping(argv[2], argv[3]);
	if (argc == 2 && strcmp(argv[1], "nap") == 0) {
		struct timespec t = { 0, 50000000 };

		return nanosleep(&t, NULL);
	}
	fprintf(stderr, "usage: rpcpipe play|talk|crowd|copy|ping|nap ...\n");
	return 2;
}

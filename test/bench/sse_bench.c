/* SPDX-License-Identifier: ISC */
/*
 * The cost of many readers of a run's events: the time of the run with and
 * without 500 readers, each of which gets every event.
 *
 *	sse_bench WAZA		an absolute path
 *
 * The run is queued behind another one until its readers are connected.  One
 * process contains all readers; it reads and counts.  Its own time is a part of
 * the run's where processors are few, so the server's processor time is printed
 * too: what it took more than without readers, from the start of the run until
 * the last reader had its end.
 */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READERS = 500, ROUNDS = 5 };

static int port;
static pid_t server;
static char dir[] = "/tmp/waza-bench-XXXXXX";

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

static int
dial(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	sa.sin_port = htons((unsigned short)port);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) != 0)
		die("connect");
	return fd;
}

static void
say(int fd, const char *method, const char *path, const char *body)
{
	char text[1000];
	int n = snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\n"
	    "Host: localhost\r\nConnection: close\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n"
	    "\r\n%s", method, path, strlen(body), body);

	if (write(fd, text, (size_t)n) != n)
		die("write");
}

/* The answer, as much of it as fits. */
static void
ask(const char *method, const char *path, const char *body, char *out,
    size_t max)
{
	int fd = dial();
	size_t n = 0;
	ssize_t k;

	say(fd, method, path, body);
	while (n < max - 1 && (k = read(fd, out + n, max - 1 - n)) > 0)
		n += (size_t)k;
	out[n] = '\0';
	close(fd);
}

static void
start(const char *suite, char id[100])
{
	char body[200], out[4000], *p;

	snprintf(body, sizeof(body), "{\"path\":\"%s\"}", suite);
	ask("POST", "/api/v1/runs", body, out, sizeof(out));
	p = strstr(out, "\"runId\":\"");
	if (p == NULL) {
		fprintf(stderr, "%s\n", out);
		exit(1);
	}
	snprintf(id, 100, "%.*s", (int)strcspn(p + 9, "\""), p + 9);
}

static void
nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/*
 * The readers: how many bytes each got at least and at most, and how many of
 * them saw the end.
 */
struct seen {
	long least, most, ends;
};

/* The last bytes received, to check how the stream ends. */
struct tail {
	char p[512];
	size_t n;
};

static void
keep(struct tail *t, const char *p, size_t n)
{
	size_t stay = t->n, max = sizeof(t->p) - 1;

	if (n >= max) {
		p += n - max;
		n = max;
		stay = 0;
	} else if (stay + n > max)
		stay = max - n;
	memmove(t->p, t->p + t->n - stay, stay);
	memcpy(t->p + stay, p, n);
	t->n = stay + n;
	t->p[t->n] = '\0';
}

static void
read_all(const char *id, int ready, int report)
{
	static struct pollfd p[READERS];
	static long bytes[READERS];
	static struct tail tail[READERS];
	static char block[1 << 18];
	struct seen s = { 1L << 40, 0, 0 };
	char path[200];
	int i, left = READERS;
	ssize_t n;

	snprintf(path, sizeof(path), "/api/v1/runs/%s/stream", id);
	for (i = 0; i < READERS; i++) {
		p[i] = (struct pollfd){ .fd = dial(), .events = POLLIN };
		say(p[i].fd, "GET", path, "");
		if (read(p[i].fd, block, sizeof(block)) <= 0)
			die("no stream");
	}
	if (write(ready, "x", 1) != 1)
		die("write");
	while (left > 0 && poll(p, READERS, 60000) > 0)
		for (i = 0; i < READERS; i++) {
			if (p[i].fd == -1 || p[i].revents == 0)
				continue;
			n = read(p[i].fd, block, sizeof(block));
			if (n > 0) {
				bytes[i] += (long)n;
				keep(&tail[i], block, (size_t)n);
				continue;
			}
			close(p[i].fd);
			p[i].fd = -1;
			left--;
		}
	for (i = 0; i < READERS; i++) {
		s.least = bytes[i] < s.least ? bytes[i] : s.least;
		s.most = bytes[i] > s.most ? bytes[i] : s.most;
		s.ends += strstr(tail[i].p, "event: eval_complete") != NULL;
	}
	if (write(report, &s, sizeof(s)) != sizeof(s))
		die("write");
	_exit(0);
}

/* The run's own time, in milliseconds. */
static long
took(const char *id)
{
	char path[200], out[4000], *p;
	int i;

	snprintf(path, sizeof(path), "/api/v1/runs?limit=1&q=%s", id);
	for (i = 0; i < 3000; i++) {
		ask("GET", path, "", out, sizeof(out));
		p = strstr(out, "\"status\":\"completed\"");
		if (p != NULL && (p = strstr(p, "\"durationMs\":")) != NULL)
			return strtol(p + 13, NULL, 10);
		nap(20);
	}
	die("it does not end");
	return 0;
}

/* The server's processor time so far, in milliseconds; 0 without /proc. */
static long
server_ms(void)
{
	char path[64];
	long long user = 0, sys = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)server);
	f = fopen(path, "r");
	if (f == NULL || fscanf(f, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u "
	    "%*u %*u %*u %lld %lld", &user, &sys) != 2)
		user = sys = 0;
	if (f != NULL)
		fclose(f);
	return (long)((user + sys) * 1000 / sysconf(_SC_CLK_TCK));
}

struct cost {
	long ms;		/* of the run */
	long cpu;		/* of the server, in milliseconds */
};

static struct cost
measure(const char *suite, bool readers, struct seen *s)
{
	char first[100], id[100], path[200], out[2000], c;
	int ready[2], report[2];
	struct cost t;
	pid_t pid = 0;

	start("block.yaml", first);
	start(suite, id);
	if (readers) {
		if (pipe(ready) != 0 || pipe(report) != 0)
			die("pipe");
		pid = fork();
		if (pid == 0)
			read_all(id, ready[1], report[1]);
		if (read(ready[0], &c, 1) != 1)
			die("no readers");
	}
	snprintf(path, sizeof(path), "/api/v1/runs/%s", first);
	t.cpu = -server_ms();
	ask("DELETE", path, "", out, sizeof(out));
	t.ms = took(id);
	if (readers) {
		if (read(report[0], s, sizeof(*s)) != sizeof(*s))
			die("no report");
		waitpid(pid, NULL, 0);
		close(ready[0]);
		close(ready[1]);
		close(report[0]);
		close(report[1]);
	}
	t.cpu += server_ms();
	return t;
}

static int
by_size(const void *x, const void *y)
{
	long a = *(const long *)x, b = *(const long *)y;

	return a < b ? -1 : a > b;
}

/* Per cent. */
static double
more(long alone, long with)
{
	return 100.0 * (double)(with - alone) / (double)(alone + 1);
}

static void
row(const char *name, const char *suite)
{
	struct seen s = { 0, 0, 0 };
	long with[ROUNDS], without[ROUNDS], extra[ROUNDS];
	struct cost a, b;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		a = measure(suite, false, NULL);
		b = measure(suite, true, &s);
		without[i] = a.ms;
		with[i] = b.ms;
		extra[i] = b.cpu - a.cpu;
	}
	qsort(with, ROUNDS, sizeof(*with), by_size);
	qsort(without, ROUNDS, sizeof(*without), by_size);
	qsort(extra, ROUNDS, sizeof(*extra), by_size);
	/* the best of each, because other load affects both; and the median */
	printf("%-31s %6ld ms alone, %6ld ms with %d readers: %+.1f %%, "
	    "median %+.1f %%; %ld kB each, %ld had the end%s\n", name,
	    without[0], with[0], READERS, more(without[0], with[0]),
	    more(without[ROUNDS / 2], with[ROUNDS / 2]),
	    s.most / 1000, s.ends, s.most > s.least * 1.1 ?
	    "; not all had all" : "");
	printf("%-31s %+5ld ms of the server's processor time, %.2f us for each "
	    "kB and reader (median)\n", "", extra[ROUNDS / 2],
	    (double)extra[ROUNDS / 2] * 1e6 / ((double)s.most + 1) / READERS);
	fflush(stdout);
}

static void
write_suite(const char *name, const char *config, int tasks)
{
	FILE *f = fopen(name, "w");
	int i;

	if (f == NULL)
		die(name);
	fprintf(f, "name: %s\nskill: s\nconfig: {%s}\ntasks:\n", name, config);
	for (i = 0; i < tasks; i++)
		fprintf(f, "- {id: task-%d, prompt: say something, expected: "
		    "{output_contains: [something]}}\n", i);
	fclose(f);
}

static pid_t
serve(const char *waza)
{
	int fd[2], n = 0;
	char text[500], *p = NULL;
	pid_t pid;

	if (pipe(fd) != 0)
		die("pipe");
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], 2);
		execl(waza, waza, "serve", "--http", "127.0.0.1:0",
		    "--config-json", "{\"limits\":{\"runs\":1}}",
		    (char *)NULL);
		_exit(127);
	}
	while (p == NULL || strchr(p, '\n') == NULL) {
		if (n == (int)sizeof(text) - 1 ||
		    read(fd[0], text + n, 1) != 1)
			die("no server");
		text[++n] = '\0';
		p = strstr(text, "127.0.0.1:");
	}
	port = atoi(p + 10);
	return pid;
}

int
main(int argc, char **argv)
{
	char rm[64];

	if (argc != 2 || mkdtemp(dir) == NULL || chdir(dir) != 0)
		return 1;
	write_suite("block.yaml", "executor: mock, mock: {delay_ms: 100000}",
	    1);
	write_suite("agents.yaml", "executor: mock, mock: {delay_ms: 20}, "
	    "parallel: true, workers: 8", 600);
	write_suite("instant.yaml", "executor: mock", 3000);
	server = serve(argv[1]);
	row("600 trials of 20 ms, 8 at once", "agents.yaml");
	row("3000 trials without a delay", "instant.yaml");
	kill(server, SIGTERM);
	waitpid(server, NULL, 0);
	if (chdir("/") != 0)
		return 1;
	snprintf(rm, sizeof(rm), "rm -rf %s", dir);
	return system(rm) != 0;
}

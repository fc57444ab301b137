/* SPDX-License-Identifier: ISC */
/* Unit tests of os.c and os_net.c: files, clocks, limits, sockets. */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os_child.h"
#include "base/os_confine.h"
#include "base/os_net.h"
#include "base/os_path.h"
#include "base/os_peer.h"
#include "base/os_spawn.h"
#include "base/os_term.h"
#include "test/tool/tap.h"

static struct arena a;
static struct err e;
static char dir[] = "/tmp/t_os.XXXXXX";

static const char *
in_dir(const char *name)
{
	return arena_fmt(&a, "%s/%s", dir, name).p;
}

static void
put_file(const char *path, struct str s)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	OK(os_write_all(fd, s, &e) == 0);
	close(fd);
}

static void
clocks(void)
{
	int64_t ms = os_now_ms(), ns = os_now_ns();

	OK(ms > 0 && ns / 1000000 >= ms && os_now_ms() >= ms);
	OK(os_wall_ns() > INT64_C(1600000000000000000));
}

static void
random_bytes(void)
{
	unsigned char x[64] = { 0 }, y[64] = { 0 };

	OK(os_random(x, sizeof(x), &e) == 0);
	OK(os_random(y, sizeof(y), &e) == 0);
	OK(memcmp(x, y, sizeof(x)) != 0);
	OK(os_random(x, 0, &e) == 0);
}

static void
files(void)
{
	const char *path = in_dir("f"), *ten = "0123456789";
	struct str s;
	int fd[2];

	put_file(path, str_of(ten));
	OK(os_read_file(&a, path, 10, &s, &e) == 0 && str_is(s, ten));
	OK(s.p[s.n] == '\0');
	OK(os_read_file(&a, path, 9, &s, &e) == -1 && e.code == ERR_LIMIT);
	OK(strstr(e.msg, "/f: larger than 9 bytes") != NULL);
	put_file(path, STR(""));
	OK(os_read_file(&a, path, 0, &s, &e) == 0 && s.n == 0);
	OK(os_read_file(&a, in_dir("none"), 9, &s, &e) == -1);
	OK(e.code == ERR_SYS && e.sys == ENOENT);
	OK(os_read_file(&a, dir, 9, &s, &e) == -1 && e.sys == EISDIR);
	OK(strstr(e.msg, ": is a directory") != NULL);
	OK(os_read_file(&a, "/dev/null", 9, &s, &e) == 0 && s.n == 0);
	if (geteuid() != 0) {
		chmod(path, 0);
		OK(os_read_file(&a, path, 9, &s, &e) == -1 && e.sys == EACCES);
	} else
		SKIP("root reads everything");
	unlink(path);

	/* a pipe whose reading end is non-blocking */
	OK(os_pipe(fd, OS_NONBLOCK_READ, &e) == 0);
	OK(os_write_all(fd[1], str_of(ten), &e) == 0);
	os_close(&fd[1]);
	OK(os_read_fd(&a, fd[0], "-", 100, &s, &e) == 0 && str_is(s, ten));
	os_close(&fd[0]);
	os_close(&fd[0]);
	OK(os_pipe(fd, 0, &e) == 0);
	OK(os_write_all(fd[1], str_of(ten), &e) == 0);
	os_close(&fd[1]);
	OK(os_read_fd(&a, fd[0], "-", 9, &s, &e) == -1 && e.code == ERR_LIMIT);
	OK(strcmp(e.msg, "-: larger than 9 bytes") == 0);
	os_close(&fd[0]);
}

/* Sizes around that of one read. */
static void
large_files(void)
{
	static const size_t sizes[] = { 65535, 65536, 65537, 200000 };
	const char *path = in_dir("large");
	struct buf b = { 0 };
	struct str s;
	size_t i;

	for (i = 0; i < COUNTOF(sizes); i++) {
		while (b.n < sizes[i])
			buf_putc(&b, (char)('a' + b.n % 23));
		put_file(path, buf_str(&b));
		OK(os_read_file(&a, path, b.n, &s, &e) == 0 &&
		    str_eq(s, buf_str(&b)));
		OK(os_read_file(&a, path, b.n - 1, &s, &e) == -1);
	}
	unlink(path);
	buf_free(&b);
}

static void
pipes(void)
{
	int fd[2];

	OK(os_pipe(fd, OS_NONBLOCK_WRITE, &e) == 0);
	OK((fcntl(fd[0], F_GETFD) & FD_CLOEXEC) != 0);
	OK((fcntl(fd[1], F_GETFD) & FD_CLOEXEC) != 0);
	OK((fcntl(fd[0], F_GETFL) & O_NONBLOCK) == 0);
	OK((fcntl(fd[1], F_GETFL) & O_NONBLOCK) != 0);
	os_close(&fd[0]);
	OK(fd[0] == -1);
	OK(os_write_all(fd[1], STR("x"), &e) == -1 && e.sys == EPIPE);
	os_close(&fd[1]);
}

/* Runs in a separate process; exits with 0 on success. */
static int
without_descriptors(void)
{
	const char *argv[] = { "/bin/sh", "-c",
	    "cat && echo x && echo y >&2", NULL };
	struct os_spawn o = { .argv = argv };
	pid_t pid;
	char c = 'x';
	int i, status;

	for (i = 0; i < 3; i++)
		close(i);
	if (os_init(&e) == -1)
		return 1;
	if (os_read(0, &c, 1) != -1 || errno != EBADF)
		return 2;
	for (i = 1; i < 3; i++)
		if (os_write(i, &c, 1) != -1 || errno != EBADF)
			return 3;
	o.fd[0] = o.fd[1] = o.fd[2] = OS_FD_KEEP;
	pid = os_spawn(&o, &e);
	if (pid == -1 || waitpid(pid, &status, 0) != pid)
		return 4;
	return status == 0 ? 0 : 5;
}

/* Closed descriptors fail with EBADF; children get /dev/null. */
static void
closed(void)
{
	pid_t pid;
	int status = -1;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(without_descriptors());
	OK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	OK(WEXITSTATUS(status) == 0);
}

/* Whether a child that sends itself the signal dies of it. */
static bool
dies_of(int signo, struct os_spawn_memo *memo)
{
	char line[64];
	const char *argv[] = { "/bin/sh", "-c", line, NULL };
	struct os_spawn o = { .argv = argv, .memo = memo };
	int status = 0;
	pid_t pid;

	snprintf(line, sizeof(line), "kill -%d $$; exit 3", signo);
	o.fd[1] = o.fd[2] = OS_FD_KEEP;
	pid = os_spawn(&o, &e);
	return pid != -1 && waitpid(pid, &status, 0) == pid &&
	    WIFSIGNALED(status) && WTERMSIG(status) == signo;
}

/* A child has default actions, whatever we ignore, also the second one. */
static void
actions(void)
{
	const char *none[] = { "/no/such", NULL };
	struct os_spawn_memo memo = { 0 };
	struct os_spawn o = { .argv = none, .memo = &memo };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usr, term;

	sigaction(SIGUSR1, &ignore, &usr);
	OK(dies_of(SIGUSR1, NULL));
	OK(dies_of(SIGUSR1, &memo) && memo.altered != 0);
	sigaction(SIGTERM, &ignore, &term);
	OK(dies_of(SIGUSR1, &memo) && dies_of(SIGTERM, &memo));
	OK(dies_of(SIGPIPE, &memo));
	o.fd[1] = o.fd[2] = OS_FD_KEEP;
	fflush(stdout);	/* valgrind flushes in a child that ends */
	OK(os_spawn(&o, &e) == -1 && e.sys == ENOENT);
	sigaction(SIGUSR1, &usr, NULL);
	sigaction(SIGTERM, &term, NULL);
}

static void
limits(void)
{
	struct rlimit was, r;

	getrlimit(RLIMIT_NOFILE, &was);
	r = was;
	r.rlim_cur = 100;
	setrlimit(RLIMIT_NOFILE, &r);
	OK(os_nofile_raise() == 100);
	getrlimit(RLIMIT_NOFILE, &r);
	OK(r.rlim_cur > 100);
	os_nofile_set(100);
	getrlimit(RLIMIT_NOFILE, &r);
	OK(r.rlim_cur == 100);
	setrlimit(RLIMIT_NOFILE, &was);
}

static bool
has(const char **env, const char *entry)
{
	for (; *env != NULL; env++)
		if (strcmp(*env, entry) == 0)
			return true;
	return false;
}

static void
environment(void)
{
	static const char *const set[] = { "T_A=1", "T_B", "T_C=x", "T_C=y" };
	const char **env;
	struct str v;
	size_t n, m;

	setenv("T_A", "0", 1);
	setenv("T_B", "0", 1);
	setenv("T_AB", "0", 1);
	env = os_env(&a, NULL, 0);
	for (n = 0; env[n] != NULL; n++)
		;
	env = os_env(&a, set, COUNTOF(set));
	for (m = 0; env[m] != NULL; m++)
		;
	OK(m == n);			/* without T_B, with T_C */
	OK(has(env, "T_A=1") && !has(env, "T_A=0") && !has(env, "T_B=0"));
	OK(has(env, "T_AB=0") && has(env, "T_C=y") && !has(env, "T_C=x"));
	OK(!os_env_of(&a, getpid(), "T_NONE", &v));
}

static bool
ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 10000) == 1;
}

/* Sends a greeting through a connection to the listener, and back. */
static bool
talk(int lfd, int fd)
{
	char b[2] = "";
	int peer;
	bool ok;

	if (fd == -1 || !ready(lfd, POLLIN))
		return false;
	peer = os_accept(lfd);
	ok = peer != -1 && ready(fd, POLLOUT) && os_connected(fd) == 0 &&
	    (fcntl(peer, F_GETFL) & O_NONBLOCK) != 0 &&
	    (fcntl(peer, F_GETFD) & FD_CLOEXEC) != 0 &&
	    os_accept(lfd) == -1 && errno == EAGAIN &&
	    os_write_all(fd, STR("a"), &e) == 0 && ready(peer, POLLIN) &&
	    os_write_all(peer, STR("b"), &e) == 0 && ready(fd, POLLIN);
	while (ok && b[0] == '\0' && os_read(peer, b, 1) == -1)
		ok = errno == EAGAIN;
	while (ok && b[1] == '\0' && os_read(fd, b + 1, 1) == -1)
		ok = errno == EAGAIN;
	ok = ok && memcmp(b, "ab", 2) == 0;
	os_keepalive(peer, 5);
	os_close(&peer);
	os_close(&fd);
	return ok;
}

/* Connects to a host at the listener's port; *fd is the client's end. */
static int
accept_from(const char *host, struct os_listener *v, int *fd)
{
	*fd = os_connect_tcp(host, strrchr(v->name, ':') + 1, 0, &e);
	return *fd != -1 && ready(v->fd, POLLIN) && ready(*fd, POLLOUT) ?
	    os_accept(v->fd) : -1;
}

/* The peer of a connection: this user's; nobody's once it is closed. */
static void
peer_of(const char *listen, const char *host)
{
	struct os_listener v;
	char name[OS_ADDR_MAX];
	enum os_owner owner;
	unsigned long uid;
	int fd, peer;

	if (os_listen_tcp(listen, "0", false, &v, 1, &e) != 1) {
		SKIP("no such address here");
		return;
	}
	peer = accept_from(host, &v, &fd);
	if (peer == -1) {
		SKIP("no such address here");
		os_close(&v.fd);
		return;
	}
	owner = os_peer(peer, &uid);
	/* an emulator shows the table of the machine below */
	if (owner == OS_NOT_KNOWN || getenv("T_EMULATED") != NULL)
		SKIP("this system cannot tell whose socket it is");
	else
		OK(owner == OS_SAME_USER && uid == geteuid());
	os_peer_name(peer, name);
	OK(strchr(name, ':') != NULL);
	shutdown(fd, SHUT_WR);
	OK(os_peer(peer, &uid) == owner);
	os_close(&fd);
	if (os_peer_closed(peer))
		OK(os_peer(peer, &uid) == OS_NOBODY);
	else
		SKIP("this system cannot detect closed peers");
	os_close(&peer);
	os_close(&v.fd);
}

static void
peers(void)
{
	char name[OS_ADDR_MAX];
	unsigned long uid;
	int pair[2];

	peer_of("127.0.0.1", "127.0.0.1");
	peer_of("127.0.0.1", "::ffff:127.0.0.1");
	peer_of("::1", "::1");
	os_peer_name(-1, name);
	OK(os_peer(-1, &uid) == OS_NOBODY && strcmp(name, "?") == 0);
	OK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	OK(os_peer(pair[0], &uid) == OS_NOBODY);
	os_close(&pair[0]);
	os_close(&pair[1]);
}

/* A peer that shut down writing is not closed; one that closed is, if the
 * system can detect it. */
static void
peer_closed(void)
{
	struct os_listener v;
	int fd, peer = -1;

	OK(os_listen_tcp("127.0.0.1", "0", false, &v, 1, &e) == 1);
	fd = os_connect_tcp("127.0.0.1", strrchr(v.name, ':') + 1, 0, &e);
	if (fd != -1 && ready(v.fd, POLLIN) && ready(fd, POLLOUT))
		peer = os_accept(v.fd);
	OK(peer != -1 && !os_peer_closed(peer) && !os_peer_closed(fd));
	shutdown(fd, SHUT_WR);
	OK(ready(peer, POLLIN) && !os_peer_closed(peer));
	os_close(&fd);
	if (os_peer_closed(peer))
		OK(!os_peer_closed(v.fd));
	else
		SKIP("this system cannot detect closed peers");
	os_close(&peer);
	os_close(&v.fd);
	OK(!os_peer_closed(-1));
}

static void
tcp(void)
{
	struct os_listener v[OS_LISTEN_MAX], w[OS_LISTEN_MAX];
	char host[OS_ADDR_MAX], *port;
	int i, n, fd, talked = 0;

	n = os_listen_tcp("localhost", "0", false, v, COUNTOF(v), &e);
	OK(n >= 1);
	if (n < 1)
		return;
	for (i = 0; i < n; i++) {
		snprintf(host, sizeof(host), "%s", v[i].name);
		port = strrchr(host, ':');
		*port++ = '\0';
		if (host[0] == '[')
			host[strlen(host) - 1] = '\0';
		talked += talk(v[i].fd, os_connect_tcp(host[0] == '[' ?
		    host + 1 : host, port, 0, &e));
	}
	OK(talked == n);
	port = strrchr(v[0].name, ':') + 1;
	OK(atoi(port) > 0);
	OK(os_listen_tcp("127.0.0.1", port, false, w, 1, &e) == -1 ||
	    strncmp(v[0].name, "127.", 4) != 0);
	OK(os_connect_tcp("127.0.0.1", port, 99, &e) == -1 && e.sys == ENOENT);
	OK(os_connect_tcp("127.0.0.1", "no port", 0, &e) == -1 && e.sys == 0);
	snprintf(host, sizeof(host), "%s", port);
	for (i = 0; i < n; i++)
		os_close(&v[i].fd);

	/* refused at once, or by os_connected() */
	fd = os_connect_tcp("127.0.0.1", host, 0, &e);
	OK(fd == -1 ? e.sys == ECONNREFUSED :
	    ready(fd, POLLOUT) && os_connected(fd) == ECONNREFUSED);
	os_close(&fd);

	OK(os_listen_tcp("", "0", false, v, 1, &e) == -1);
	OK(e.code == ERR_SCHEMA);
	OK(os_listen_tcp("0.0.0.0", "0", false, v, 1, &e) == -1);
	OK(e.code == ERR_SCHEMA);
	n = os_listen_tcp(NULL, "0", true, v, COUNTOF(v), &e);
	OK(n >= 1);
	while (n > 0)
		os_close(&v[--n].fd);
	OK(os_listen_tcp("127.0.0.1", "nonsense", false, v, 1, &e) == -1);
	OK(e.code == ERR_SYS && strstr(e.msg, "nonsense") != NULL);
}

static void
unix_sockets(void)
{
	const char *path = in_dir("sock");
	char longer[300];
	struct stat st;
	int fd, again;

	fd = os_listen_unix(path, &e);
	OK(fd != -1);
	OK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	OK(talk(fd, os_connect_unix(path, &e)));

	again = os_listen_unix(path, &e);	/* a server answers there */
	OK(again == -1 && e.sys == EADDRINUSE);
	close(os_accept(fd));
	OK(talk(fd, os_connect_unix(path, &e)));
	os_close(&fd);

	OK(os_connect_unix(path, &e) == -1 && e.sys == ECONNREFUSED);
	fd = os_listen_unix(path, &e);		/* that server has closed */
	OK(fd != -1 && talk(fd, os_connect_unix(path, &e)));
	os_close(&fd);
	unlink(path);

	put_file(path, STR("precious"));
	OK(os_listen_unix(path, &e) == -1 && e.sys == ENOTSOCK);
	OK(stat(path, &st) == 0 && st.st_size == 8);
	unlink(path);

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	OK(os_listen_unix(longer, &e) == -1 && e.code == ERR_LIMIT);
	OK(os_connect_unix(longer, &e) == -1 && e.code == ERR_LIMIT);
	OK(os_listen_unix(in_dir("no/such"), &e) == -1 && e.sys == ENOENT);
}

/* Paths of which only the beginning exists. */
static void
insides(void)
{
	const char *link = in_dir("link");
	char here[4096];

	OK(symlink("/", link) == 0);
	OK(os_inside(dir, dir));
	OK(os_inside(dir, in_dir("absent")));
	OK(os_inside(dir, in_dir("absent/deeper/still")));
	OK(os_inside(dir, in_dir("./absent")));
	OK(!os_inside(dir, in_dir("..")));
	OK(!os_inside(dir, in_dir("absent/../../absent")));
	OK(!os_inside(dir, link));
	OK(!os_inside(dir, in_dir("link/absent")));
	OK(unlink(link) == 0 && symlink("/absent", link) == 0);
	OK(!os_inside(dir, link));
	OK(!os_inside(dir, in_dir("link/")));
	OK(!os_inside(dir, in_dir("link/deeper")));
	OK(unlink(link) == 0 && symlink("absent", link) == 0);
	OK(os_inside(dir, link) && os_inside(dir, in_dir("link/deeper")));
	OK(!os_inside(dir, in_dir("link/../..")));
	OK(unlink(link) == 0 && symlink("../absent", link) == 0);
	OK(!os_inside(dir, link));
	OK(unlink(link) == 0 && symlink("link", link) == 0);
	OK(os_inside(dir, link));	/* a dangling link */
	OK(!os_inside(dir, "/"));
	OK(!os_inside(dir, "/absent"));
	OK(!os_inside(dir, ""));
	OK(os_inside("/", "/absent"));
	OK(!os_inside(in_dir("absent"), in_dir("absent")));
	OK(getcwd(here, sizeof(here)) != NULL && chdir(dir) == 0);
	OK(os_inside(dir, "absent"));
	OK(os_inside(".", "absent/deeper"));
	OK(!os_inside(dir, "absent/../.."));
	OK(chdir("/") == 0);
	OK(!os_inside(dir, "absent"));
	OK(chdir(here) == 0);
	unlink(link);
}

/* A shell with a path as $0; its exit status. */
static int
shell(const char *script, const char *path, const struct os_bounds *bounds)
{
	const char *argv[] = { "/bin/sh", "-c", script, path, NULL };
	struct os_spawn s = { .argv = argv, .bounds = bounds,
		.fd = { OS_FD_NULL, OS_FD_NULL, OS_FD_NULL } };
	int status = -1;
	pid_t pid = os_spawn(&s, &e);

	if (pid == -1 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int
writes(const char *file, const char *const *writable)
{
	struct os_bounds bounds = { .writable = writable };

	return shell("echo x 2>&1 >\"$0\"", file, writable != NULL ? &bounds :
	    NULL);
}

static int
reads(const char *file, const struct os_bounds *bounds)
{
	return shell("cat \"$0\"", file, bounds);
}

static int
writes_then_reads(const char *in, const struct os_bounds *bounds)
{
	return shell("cd \"$0\" && echo x >new && cat new && rm new", in,
	    bounds);
}

static void
confinement(void)
{
	char in[] = "/tmp/t_os_in.XXXXXX", out[] = "/tmp/t_os_out.XXXXXX";
	const char *missing = "/tmp/t_os_in.none";
	const char *list[] = { missing, in, NULL };
	const char *hidden[] = { NULL, NULL };
	struct os_bounds bounds = { list, hidden };
	char file[64], other[64];

	if (!os_can_confine()) {
		OK(os_confine_open(&bounds, &e) == -1 && e.sys == ENOSYS);
		return;
	}
	OK(mkdtemp(in) != NULL && mkdtemp(out) != NULL);
	snprintf(file, sizeof(file), "%s/x", out);
	OK(writes(file, list) > 0 && access(file, F_OK) == -1);
	OK(writes(file, NULL) == 0 && unlink(file) == 0);
	snprintf(file, sizeof(file), "%s/x", in);
	OK(writes(file, list) == 0 && unlink(file) == 0);
	OK(writes("/dev/null", list) == 0);
	/* one file cannot be read; its neighbours, and new files, can */
	snprintf(file, sizeof(file), "%s/hidden", out);
	snprintf(other, sizeof(other), "%s/other", out);
	OK(writes(file, NULL) == 0 && writes(other, NULL) == 0);
	hidden[0] = file;
	OK(reads(file, &bounds) > 0 && reads(other, &bounds) == 0);
	OK(reads("/etc/passwd", &bounds) == 0);
	OK(writes_then_reads(in, &bounds) == 0);
	hidden[0] = NULL;
	OK(reads(file, &bounds) == 0);
	OK(unlink(file) == 0 && unlink(other) == 0);
	OK(rmdir(in) == 0 && rmdir(out) == 0);
}

int
main(void)
{
	int fds;

	OK(os_init(&e) == 0);
	OK(mkdtemp(dir) != NULL);
	fds = tap_fd_count();
	OK(os_columns(-1) == 0);
	RUN(clocks, random_bytes, files, large_files, pipes, closed, actions,
	    limits, environment, tcp, peer_closed, peers, unix_sockets,
	    insides, confinement);
	OK(tap_fd_count() == fds);
	OK(rmdir(dir) == 0);
	arena_free(&a);
	return tap_done();
}

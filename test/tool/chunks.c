/* SPDX-License-Identifier: ISC */
/*
 * chunks: a client that takes each read from its server for one message.
 *
 *	chunks pipe|pair|packets TEXT COMMAND...
 *
 * starts the command with pipes or socket pairs as its stdin and stdout, sends
 * it our own stdin and keeps its stdin open.  It is busy for a millisecond after
 * each read.  It ends after the read that contains TEXT, and prints the number
 * of lines, of those that were a read of their own, and of reads.  With packets
 * each read returns what one write has written.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ALARM_S = 60 };

static int
open_ends(const char *kind, int fd[2])
{
	return strcmp(kind, "packets") == 0 ?
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fd) :
	    strcmp(kind, "pair") == 0 ?
	    socketpair(AF_UNIX, SOCK_STREAM, 0, fd) : pipe(fd);
}

static pid_t
start(const char *kind, char **argv, int *in, int *out)
{
	int to[2], from[2];
	pid_t pid;

	if (open_ends(kind, to) == -1 || open_ends(kind, from) == -1)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		close(to[0]);
		close(to[1]);
		close(from[0]);
		close(from[1]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	*in = from[0];
	*out = to[1];
	return pid;
}

static int
count_lines(const char *p)
{
	int n = 0;

	while ((p = strchr(p, '\n')) != NULL) {
		n++;
		p++;
	}
	return n;
}

int
main(int argc, char **argv)
{
	static const struct timespec busy = { 0, 1000000 };
	static char block[65536 + 1];
	int in, out, lines = 0, alone = 0, reads = 0, n;
	ssize_t got;
	pid_t pid;

	if (argc < 4) {
		fprintf(stderr, "usage: chunks pipe|pair|packets TEXT "
		    "COMMAND...\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	alarm(ALARM_S);
	pid = start(argv[1], argv + 3, &in, &out);
	if (pid == -1)
		return 2;
	while ((got = read(0, block, sizeof(block) - 1)) > 0)
		if (write(out, block, (size_t)got) != got)
			return 2;
	do {
		got = read(in, block, sizeof(block) - 1);
		if (got <= 0)
			break;
		block[got] = '\0';
		n = count_lines(block);
		lines += n;
		reads++;
		alone += n == 1 && block[got - 1] == '\n';
		nanosleep(&busy, NULL);
	} while (strstr(block, argv[2]) == NULL);
	printf("%d %d %d\n", lines, alone, reads);
	close(out);
	while (read(in, block, sizeof(block)) > 0)
		;
	waitpid(pid, NULL, 0);
	return got <= 0;
}

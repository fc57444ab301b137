/* SPDX-License-Identifier: ISC */
/*
 * rpc_hold N PATH: opens N connections to a unix socket and sends nothing until
 * stdin ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct rlimit l;
	int i, fd, n = argc == 3 ? atoi(argv[1]) : 0;
	char c;

	if (n <= 0 || strlen(argv[2]) >= sizeof(a.sun_path))
		return 2;
	memcpy(a.sun_path, argv[2], strlen(argv[2]) + 1);
	if (getrlimit(RLIMIT_NOFILE, &l) == 0) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
	}
	for (i = 0; i < n; i++) {
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (fd == -1 || connect(fd, (struct sockaddr *)&a,
		    sizeof(a)) == -1) {
			perror("connect");
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

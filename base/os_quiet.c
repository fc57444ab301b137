/* SPDX-License-Identifier: ISC */
/* Sets of descriptors that are rarely ready: epoll, where there is one. */
#include "base/os_internal.h"

#include "base/os_quiet.h"

#if defined(__linux__)
#include <sys/epoll.h>
#endif

/* glibc gives struct epoll_event its real layout only under __GNUC__. */
#if defined(__linux__) && defined(__GNUC__)
int
os_quiet_new(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

int
os_quiet_add(int set, int fd, void *tag)
{
	struct epoll_event ev = { .events = EPOLLIN };

	ev.data.ptr = tag;
	return epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev);
}

void
os_quiet_del(int set, int fd)
{
	struct epoll_event unused = { 0 };

	epoll_ctl(set, EPOLL_CTL_DEL, fd, &unused);
}

size_t
os_quiet_ready(int set, void *tag[OS_QUIET_MAX])
{
	struct epoll_event ev[OS_QUIET_MAX];
	int i, n = epoll_wait(set, ev, OS_QUIET_MAX, 0);

	for (i = 0; i < n; i++)
		tag[i] = ev[i].data.ptr;
	return n < 0 ? 0 : (size_t)n;
}
#else
int
os_quiet_new(void)
{
	return -1;
}

int
os_quiet_add(int set, int fd, void *tag)
{
	(void)set;
	(void)fd;
	(void)tag;
	return -1;
}

void
os_quiet_del(int set, int fd)
{
	(void)set;
	(void)fd;
}

size_t
os_quiet_ready(int set, void *tag[OS_QUIET_MAX])
{
	(void)set;
	(void)tag;
	return 0;
}
#endif

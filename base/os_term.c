/* SPDX-License-Identifier: ISC */
/* os_term.c: asks a terminal for its size; POSIX 2008 has no function. */
#include "base/os_internal.h"

#include "base/os_term.h"

#include <sys/ioctl.h>

#include <termios.h>

unsigned
os_columns(int fd)
{
#ifdef TIOCGWINSZ
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0)
		return size.ws_col;
#else
	(void)fd;
#endif
	return 0;
}

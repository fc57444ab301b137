/* SPDX-License-Identifier: ISC */
/*
 * What `make coverage` calls instead of _exit(), so that copies of the process
 * write their counters, too.  They are cleared then, because a child of vfork()
 * shares them with its parent.
 */
#undef _exit
#include <unistd.h>

void __gcov_dump(void);
void __gcov_reset(void);
void coverage_exit(int);

void
coverage_exit(int status)
{
	__gcov_dump();
	__gcov_reset();
	_exit(status);
}

/* SPDX-License-Identifier: ISC */
/*
 * os_quiet.h: os_.  Sets of descriptors that are rarely ready.
 */
#ifndef WAZA_OS_QUIET_H
#define WAZA_OS_QUIET_H

#include <stddef.h>

enum { OS_QUIET_MAX = 64 };

/*
 * A set of descriptors that are rarely ready.  The set is a descriptor that
 * polls readable when one of its members is readable or hung up; its cost
 * does not depend on its size.  new and add return -1 if the system has no
 * such sets (only Linux has), or if the set cannot hold that descriptor.
 * ready stores the tags of readable members and returns their number.
 */
int os_quiet_new(void);
int os_quiet_add(int set, int fd, void *tag);
void os_quiet_del(int set, int fd);
size_t os_quiet_ready(int set, void *tag[OS_QUIET_MAX]);

#endif

/* SPDX-License-Identifier: ISC */
/*
 * os_internal.h: os_.  Makes the system headers declare more than POSIX; the
 * os*.c files that need it include this header before all others.  Functions
 * that os_net.c and os_peer.c share.
 */
#ifndef WAZA_OS_INTERNAL_H
#define WAZA_OS_INTERNAL_H

#if defined(__linux__)
#define _GNU_SOURCE		/* prctl, vfork, TCP_KEEPIDLE, waitid */
#elif defined(__APPLE__)
#define _DARWIN_C_SOURCE
#elif defined(__NetBSD__)
#define _NETBSD_SOURCE
#elif defined(__OpenBSD__)
#define _BSD_SOURCE
#elif defined(__FreeBSD__) || defined(__DragonFly__)
#define __BSD_VISIBLE 1
#endif

#include <stdbool.h>
#include <stddef.h>

struct sockaddr;

bool os_is_loopback(const struct sockaddr *);
/* "ADDRESS:PORT" of an address of n bytes, numeric; OS_ADDR_MAX bytes. */
void os_print_addr(const struct sockaddr *, size_t n, char *out);

#endif

/* SPDX-License-Identifier: ISC */
/* A directory for fuzz targets whose readers read files. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "io/workspace.h"

static char scratch_root[4096];

static inline void
scratch_remove(void)
{
	struct err e;

	(void)workspace_remove(scratch_root, &e);
}

/* The directory, made at the first call and removed at exit. */
static inline const char *
scratch_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	if (scratch_root[0] != '\0')
		return scratch_root;
	snprintf(scratch_root, sizeof(scratch_root), "%s/fuzz.XXXXXX",
	    access("/dev/shm", W_OK) == 0 ? "/dev/shm" :
	    tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(scratch_root) == NULL)
		abort();
	atexit(scratch_remove);
	return scratch_root;
}

/* Replaces a file by the input. */
static inline void
scratch_put(const char *path, const uint8_t *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd == -1 || write(fd, data, n) != (ssize_t)n || close(fd) == -1)
		abort();
}

#endif

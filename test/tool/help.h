/* SPDX-License-Identifier: ISC */
/*
 * Helpers that several tests, fuzz targets and benchmarks share.  None of them
 * counts as a test; see tap.h for those.
 */
#ifndef HELP_H
#define HELP_H

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "io/loop.h"
#include "json.h"
#include "test/tool/clock.h"
#include "yaml_lite.h"

/* A clock for loop_new() that advances only when a test changes fake_now. */
static int64_t fake_now = 1000;

static inline int64_t
fake_clock(void)
{
	return fake_now;
}

/* A callback for events that a test ignores. */
static inline void
no_op(void *arg)
{
	(void)arg;
}

/* One turn of the loop that does not wait for events. */
static inline void
turn_loop(struct loop *loop)
{
	struct timer t = { .fn = no_op };
	struct err ignored;

	timer_start(loop, &t, 0);
	loop_turn(loop, &ignored);
	timer_stop(loop, &t);
}

/* The value of a JSON text, which must outlive it; NULL if it is malformed. */
static inline struct json *
read_json(struct arena *a, struct str text)
{
	struct json_mem hook = { arena_hook, a };
	struct json_error ignored;

	return json_read(&hook, text, 0, &ignored);
}

/* A value as JSON text. */
static inline struct str
print_json(struct arena *a, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out out = { .put = buf_sink, .ctx = &b };
	struct str s;

	json_put(&out, v);
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* The value of a YAML text; prints the error and returns NULL otherwise. */
static inline struct json *
read_yaml(struct arena *a, const char *text)
{
	struct err why = { 0 };
	struct json *v = yaml_read_one(a, str_of(text), &why);

	if (v == NULL)
		printf("# %u:%u: %s\n", why.line, why.col, why.msg);
	return v;
}

/* The content of a file; p is NULL if it cannot be opened. */
static inline struct str
read_file(struct arena *a, const char *path)
{
	FILE *f = fopen(path, "rb");
	struct buf b = { 0 };
	struct str s = { NULL, 0 };
	size_t n;

	if (f == NULL)
		return s;
	while ((n = fread(buf_room(&b, 65536), 1, 65536, f)) > 0)
		b.n += n;
	fclose(f);
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* Writes a file; prints the error if that fails. */
static inline void
write_file(const char *path, const char *text)
{
	struct err why = { 0 };

	if (os_write_file(path, str_of(text), &why) == -1)
		printf("# %s: %s\n", path, why.msg);
}

/* Appends all that can be read from a non-blocking descriptor; true at EOF. */
static inline bool
read_available(int fd, struct buf *b)
{
	char block[65536];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) > 0)
		buf_put(b, (struct str){ block, (size_t)n });
	return n == 0;
}

/* A pair of non-blocking sockets; false if the system refuses. */
static inline bool
open_pair(int kind, int fd[2])
{
	if (socketpair(AF_UNIX, kind, 0, fd) == -1)
		return false;
	os_nonblock(fd[0]);
	os_nonblock(fd[1]);
	return true;
}

static inline bool
lacks(struct str s, const char *part)
{
	size_t n = strlen(part), i;

	for (i = 0; i + n <= s.n; i++)
		if (memcmp(s.p + i, part, n) == 0)
			return false;
	return true;
}

/* Whether the text contains the part; prints the text if not. */
static inline bool
has(struct str s, const char *part)
{
	if (!lacks(s, part))
		return true;
	printf("# no \"%s\" in: %.*s\n", part, STRF(s));
	return false;
}

static inline bool
near(double a, double b)
{
	return a - b < 1e-12 && b - a < 1e-12;
}

/* Whether the text is as wanted; prints it if not. */
static inline bool
is_text(struct str got, const char *want)
{
	if (str_is(got, want))
		return true;
	printf("# want: %s\n# got:  %.*s\n", want, STRF(got));
	return false;
}

/* is_text() of a buffer, which is freed. */
static inline bool
is_buf(struct buf *b, const char *want)
{
	bool same = is_text(buf_str(b), want);

	buf_free(b);
	return same;
}

#endif

/* SPDX-License-Identifier: ISC */
/* Shared by all commands: the version, messages, and writing to stdout. */
#include "waza.h"

#include <stdio.h>
#include <unistd.h>

#include "base/os.h"

/* VERSION of the Makefile is an unquoted macro here; stringify it. */
#define QUOTE_(x) #x
#define QUOTE(x) QUOTE_(x)

const char cmd_version_number[] = QUOTE(WAZA_VERSION);

int
cmd_complain(const struct err *e)
{
	fprintf(stderr, "waza: %s\n", e->msg);
	return CMD_ERROR;
}

/* About a text: FILE:LINE:COL: message. */
int
cmd_complain_at(const char *name, const struct err *e)
{
	fprintf(stderr, "%s:%u:%u: %s\n", name, e->line, e->col, e->msg);
	return CMD_ERROR;
}

int
cmd_finish(struct cmd_call *c, struct buf *out, int status)
{
	int r = os_write_all(STDOUT_FILENO, buf_str(out), c->err);

	buf_free(out);
	return r == -1 ? cmd_complain(c->err) : status;
}

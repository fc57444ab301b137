/* SPDX-License-Identifier: ISC */
/* Shared by all commands: the version, messages, input and stdout. */
#include "waza.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "suite/spec.h"

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

int
cmd_complain_at(const char *file, const struct err *e)
{
	if (e->line == 0)
		return cmd_complain(e);
	fprintf(stderr, "%s:%u:%u: %s\n", file, e->line, e->col, e->msg);
	return CMD_ERROR;
}

int
cmd_print_notes(const struct spec_notes *notes, bool all)
{
	const struct spec_note *n;

	for (n = notes->head; n != NULL; n = n->next) {
		if (n->level != FIELD_ERROR && !all && !notes->strict)
			continue;
		fputs(n->at.file != NULL ? n->at.file : "waza", stderr);
		if (n->at.line > 0)
			fprintf(stderr, ":%u:%u", n->at.line, n->at.col);
		fprintf(stderr, ": %s%s\n",
		    n->level == FIELD_ERROR ? "" : "warning: ", n->msg);
	}
	return notes->errors > 0 || (notes->strict && notes->warnings > 0) ?
	    CMD_ERROR : CMD_OK;
}

int
cmd_finish(struct cmd_call *c, struct buf *out, int status)
{
	int r = os_write_all(STDOUT_FILENO, buf_str(out), c->err);

	buf_free(out);
	return r == -1 ? cmd_complain(c->err) : status;
}

int
cmd_choose(const char *option, const char *value, const char *const *words,
    size_t n, struct err *e)
{
	struct buf b = { 0 };
	size_t i;

	if (value == NULL)
		return 0;
	for (i = 0; i < n; i++)
		if (strcmp(value, words[i]) == 0)
			return (int)i;
	for (i = 0; i < n; i++)
		buf_fmt(&b, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ",
		    words[i]);
	err_set(e, ERR_SCHEMA, "--%s must be %.*s, not \"%.60s\"", option,
	    STRF(buf_str(&b)), value);
	buf_free(&b);
	return -1;
}

int
cmd_choose_json(const char *value, struct err *e)
{
	static const char *const words[] = { "text", "json" };

	return cmd_choose("format", value, words, COUNTOF(words), e);
}

const char *
cmd_input_name(const char *name)
{
	return strcmp(name, "-") == 0 ? "stdin" : name;
}

int
cmd_read_input(struct arena *a, const char *name, struct str *text,
    struct err *e)
{
	if (strcmp(name, "-") == 0)
		return os_read_fd(a, STDIN_FILENO, "stdin", CMD_INPUT_MAX,
		    text, e);
	return os_read_file(a, name, CMD_INPUT_MAX, text, e);
}

struct json *
cmd_read_json(struct arena *a, struct str text, struct err *e)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error je;
	struct json *v = json_read(&mem, text, 0, &je);

	if (v == NULL) {
		err_set(e, ERR_SYNTAX, "%s", je.msg);
		err_at(e, je.line, je.col);
	}
	return v;
}

/* SPDX-License-Identifier: ISC */
/* waza list: lists the suites below a directory, and their tasks. */
#include "waza.h"

#include <unistd.h>

#include "agent/agent.h"
#include "cmd/workspace.h"
#include "json.h"
#include "report/report.h"
#include "suite/spec.h"

struct list_opt {
	const char *format;
};
static const struct opt list_rows[] = {
	CMD_OPT(list_opt, format, OPT_STR, .name = "format",
	    .value = "text|json", .help = "output format (default: text)"),
};

static const char *
first_error(const struct spec_notes *notes, struct arena *a)
{
	const struct spec_note *n = notes->head;
	struct buf b = { 0 };
	const char *s;

	while (n != NULL && n->level != FIELD_ERROR)
		n = n->next;
	if (n == NULL)
		return "cannot be read";
	spec_note_put(&b, n);
	b.n--;			/* the newline */
	s = arena_cstr(a, buf_str(&b));
	buf_free(&b);
	return s != NULL ? s : n->msg;
}

static void
put_suite_json(struct json_out *o, const char *path,
    const struct spec_suite *s, const char *error)
{
	size_t i;

	json_open(o, '{');
	json_put_member_str(o, "path", str_of(path));
	if (s != NULL) {
		json_put_member_str(o, "name", s->name);
		json_put_member_str(o, "skill", s->skill);
		json_put_member_str(o, "version", s->version);
	}
	json_open_member(o, "tasks", '[');
	for (i = 0; s != NULL && i < s->ntasks; i++) {
		json_open(o, '{');
		json_put_member_str(o, "id", s->tasks[i].id);
		json_put_member_str(o, "name", s->tasks[i].name);
		json_put_member_str(o, "file", str_of(s->tasks[i].at.file));
		json_close(o, '}');
	}
	json_close(o, ']');
	if (error != NULL)
		json_put_member_str(o, "error", str_of(error));
	json_close(o, '}');
}

/* Continues a line, which began at *line, or begins an indented one. */
static void
put_word(struct buf *b, size_t *line, struct str before, struct str word,
    size_t width)
{
	if (width > 0 && b->n - *line + before.n + word.n + 1 > width) {
		*line = b->n + 1;
		buf_fmt(b, "\n    %.*s%s%.*s", STRF(str_trim(before)),
		    before.n > 2 ? " " : "", STRF(word));
		return;
	}
	buf_put(b, before);
	buf_put(b, word);
}

static void
put_suite_text(struct buf *b, const char *path, const struct spec_suite *s,
    const char *error, size_t width)
{
	const struct spec_task *t;
	size_t i, line = b->n;

	buf_puts(b, path);
	if (s != NULL && s->name.n > 0) {
		buf_putc(b, ':');
		put_word(b, &line, STR(" "), s->name, width);
	}
	if (s != NULL && s->skill.n > 0) {
		put_word(b, &line, STR(" (skill "), s->skill, width);
		buf_putc(b, ')');
	}
	buf_putc(b, '\n');
	if (error != NULL)
		buf_fmt(b, "  error: %s\n", error);
	for (i = 0; error == NULL && i < s->ntasks; i++) {
		t = &s->tasks[i];
		line = b->n;
		buf_fmt(b, "  %.*s", STRF(t->id));
		if (!str_eq(t->id, t->name))
			put_word(b, &line, STR("  "), t->name, width);
		buf_putc(b, '\n');
	}
}

static size_t
width_of(void)
{
	struct report_opts o = { 0 };

	report_env(&o, STDOUT_FILENO, REPORT_AUTO);
	return o.width;
}

static void
list_suite(struct cmd_call *c, const char *path, struct buf *out,
    struct json_out *o)
{
	struct spec_notes notes = { .arena = c->arena };
	struct arena_mark mark = arena_save(c->arena);
	const struct spec_suite *s;
	const char *error = NULL;

	agent_expect(&notes, STR(""));
	s = spec_load_part(c->arena, path, &notes);
	if (notes.errors > 0)
		error = first_error(&notes, c->arena);
	if (o != NULL)
		put_suite_json(o, path, s, error);
	else
		put_suite_text(out, path, s, error, width_of());
	arena_restore(c->arena, mark);
}

static int
list_main(struct cmd_call *c)
{
	const struct list_opt *opt = c->opt;
	const char *dir = c->nargs > 0 ? c->args[0] : ".";
	struct cmd_find how = { 0 };
	struct field_strs found;
	struct buf out = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &out, .indent = 2 };
	int json = cmd_choose_json(opt->format, c->err);
	size_t i;

	if (json == -1)
		return cmd_complain(c->err);
	if (cmd_list_suites(c, &how, dir, &found) == -1)
		return cmd_complain(c->err);
	if (json) {
		json_open(&o, '{');
		json_open_member(&o, "evals", '[');
	}
	for (i = 0; i < found.n; i++)
		list_suite(c, found.v[i].p, &out, json ? &o : NULL);
	if (json) {
		json_close(&o, ']');
		json_close(&o, '}');
		buf_putc(&out, '\n');
	} else if (found.n == 0)
		buf_fmt(&out, "%s: no suite found; create one with: waza new "
		    "eval NAME\n", dir);
	c->form = json ? GUARD_JSON : GUARD_PLAIN;
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_list = {
	.name = "list", .group = CMD_SUITES, .usage = "[--format text|json] [DIR|SKILL]",
	.opts = CMD_OPTS(list_rows), .size = sizeof(struct list_opt),
	.max = 1, .fn = list_main,
	.help = "List the suites below a directory, and their tasks"
};

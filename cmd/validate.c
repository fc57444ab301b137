/* SPDX-License-Identifier: ISC */
/*
 * Commands about suites as they are written: validate and list.
 *
 * Findings are data, so they go to stdout, each on a line of its own, in the
 * order of files and lines; nothing is run.
 */
#include "waza.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "grader.h"
#include "json.h"
#include "suite/spec.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

static int
get_format(struct cmd_call *c, const char *s, enum format *out)
{
	*out = s != NULL && strcmp(s, "json") == 0 ? FORMAT_JSON : FORMAT_TEXT;
	if (s == NULL || *out == FORMAT_JSON || strcmp(s, "text") == 0)
		return 0;
	err_set(c->err, ERR_SCHEMA, "--format is text or json, not \"%s\"", s);
	return -1;
}

static bool
is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

/* waza validate */
struct validate_opt {
	bool strict;
	const char *format;
};
static const struct opt validate_opts[] = {
	{ .name = "strict", .type = OPT_FLAG, .off = offsetof(struct validate_opt, strict),
	    .help = "unknown keys are errors, warnings make a suite invalid" },
	{ .name = "format", .type = OPT_STR, .off = offsetof(struct validate_opt, format),
	    .value = "text|json", .help = "how findings are printed" },
};

/* A file with findings, or a suite without. */
struct finding {
	const struct spec_note *note;	/* NULL: nothing wrong */
	const char *file;
	size_t seq, group;	/* order of finding; of its file's first */
};

struct validation {
	struct cmd_call *call;
	bool strict;
	struct buf findings;	/* of struct finding */
	struct buf ok;		/* lines about suites that are */
	bool invalid;
};

static void
add_finding(struct validation *v, const char *file,
    const struct spec_note *note)
{
	struct finding f = { note, file, v->findings.n / sizeof(f), 0 };

	buf_put(&v->findings, (struct str){ (const char *)&f, sizeof(f) });
}

static void
validate_file(struct validation *v, const char *path)
{
	struct spec_notes notes = { .arena = v->call->arena,
		.strict = v->strict };
	const struct spec_note *n;
	struct spec_suite *s;

	s = spec_load_part(v->call->arena, path, &notes);
	if (s != NULL) {
		agent_check(s, s->config.executor, &notes);
		grader_check(s, &notes);
	}
	add_finding(v, arena_cstr(v->call->arena, str_of(path)), NULL);
	for (n = notes.head; n != NULL; n = n->next)
		add_finding(v, n->at.file, n);
	if (notes.errors > 0 || (v->strict && notes.warnings > 0))
		v->invalid = true;
	else if (s != NULL)
		buf_fmt(&v->ok, "%s: ok (%zu task%s)\n", path, s->ntasks,
		    s->ntasks == 1 ? "" : "s");
}

static int
validate_path(struct validation *v, const char *path)
{
	struct field_strs found;
	size_t i;

	if (!is_dir(path)) {
		validate_file(v, path);
		return 0;
	}
	if (spec_find(v->call->arena, path, &found, v->call->err) == -1)
		return -1;
	if (found.n == 0)
		return err_set(v->call->err, ERR_SCHEMA,
		    "%s: there is no eval.yaml in or below it", path);
	for (i = 0; i < found.n; i++)
		validate_file(v, found.v[i].p);
	return 0;
}

static int
by_file(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	int r = strcmp(x->file, y->file);

	return r != 0 ? r : x->seq < y->seq ? -1 : 1;
}

static int
by_place(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	const struct spec_note *m = x->note, *n = y->note;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (m == NULL || n == NULL)
		return m != NULL ? 1 : n != NULL ? -1 :
		    x->seq < y->seq ? -1 : 1;
	if (m->at.line != n->at.line)
		return m->at.line < n->at.line ? -1 : 1;
	if (m->at.col != n->at.col)
		return m->at.col < n->at.col ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

/* By files in the order in which they were met, and by lines within. */
static void
sort_findings(struct finding *f, size_t n)
{
	size_t i;

	qsort(f, n, sizeof(*f), by_file);
	for (i = 0; i < n; i++)
		f[i].group = i > 0 && strcmp(f[i].file, f[i - 1].file) == 0 ?
		    f[i - 1].group : f[i].seq;
	qsort(f, n, sizeof(*f), by_place);
}

static void
put_note(struct json_out *o, const struct spec_note *n)
{
	json_open(o, '{');
	json_put_member_int(o, "line", n->at.line);
	json_put_member_int(o, "col", n->at.col);
	json_put_member_cstr(o, "message", n->msg);
	if (n->key.n > 0) {
		json_put_member_str(o, "key", n->key);
	}
	json_close(o, '}');
}

static void
put_level(struct json_out *o, const char *key, enum field_level level,
    const struct finding *f, size_t n)
{
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < n; i++)
		if (f[i].note != NULL && f[i].note->level == level)
			put_note(o, f[i].note);
	json_close(o, ']');
}

static void
put_findings_json(struct buf *out, const struct finding *f, size_t n, bool ok)
{
	struct json_out o = { .put = buf_sink, .ctx = out, .indent = 2 };
	size_t i, k;

	json_open(&o, '{');
	json_put_member_bool(&o, "valid", ok);
	json_open_member(&o, "files", '[');
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && f[k].group == f[i].group; k++)
			;
		json_open(&o, '{');
		json_put_member_cstr(&o, "path", f[i].file);
		put_level(&o, "errors", FIELD_ERROR, f + i, k - i);
		put_level(&o, "warnings", FIELD_WARNING, f + i, k - i);
		json_close(&o, '}');
	}
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(out, '\n');
}

static int
validate_main(struct cmd_call *c)
{
	const struct validate_opt *opt = c->opt;
	struct validation v = { .call = c, .strict = opt->strict };
	struct buf out = { 0 };
	struct finding *f;
	enum format format;
	size_t i, n;

	if (get_format(c, opt->format, &format) == -1)
		return cmd_complain(c->err);
	for (i = 0; i < c->nargs; i++)
		if (validate_path(&v, c->args[i]) == -1) {
			buf_free(&v.findings);
			buf_free(&v.ok);
			return cmd_complain(c->err);
		}
	f = (struct finding *)(void *)v.findings.p;
	n = v.findings.n / sizeof(*f);
	sort_findings(f, n);
	if (format == FORMAT_JSON)
		put_findings_json(&out, f, n, !v.invalid);
	else {
		for (i = 0; i < n; i++)
			if (f[i].note != NULL)
				spec_note_put(&out, f[i].note);
		buf_put(&out, buf_str(&v.ok));
	}
	buf_free(&v.findings);
	buf_free(&v.ok);
	return cmd_finish(c, &out, v.invalid ? CMD_ERROR : CMD_OK);
}

/* waza list */
struct list_opt {
	const char *format;
};
static const struct opt list_opts[] = {
	{ .name = "format", .type = OPT_STR, .off = offsetof(struct list_opt, format),
	    .value = "text|json", .help = "how they are printed" },
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

static void
put_suite_text(struct buf *b, const char *path, const struct spec_suite *s,
    const char *error)
{
	const struct spec_task *t;
	size_t i;

	buf_puts(b, path);
	if (s != NULL && s->name.n > 0)
		buf_fmt(b, ": %.*s", STRF(s->name));
	if (s != NULL && s->skill.n > 0)
		buf_fmt(b, " (skill %.*s)", STRF(s->skill));
	buf_putc(b, '\n');
	if (error != NULL)
		buf_fmt(b, "  error: %s\n", error);
	for (i = 0; error == NULL && i < s->ntasks; i++) {
		t = &s->tasks[i];
		buf_fmt(b, "  %.*s", STRF(t->id));
		if (!str_eq(t->id, t->name))
			buf_fmt(b, "  %.*s", STRF(t->name));
		buf_putc(b, '\n');
	}
}

static void
list_suite(struct cmd_call *c, const char *path, struct buf *out,
    struct json_out *o)
{
	struct spec_notes notes = { .arena = c->arena };
	struct arena_mark mark = arena_save(c->arena);
	const struct spec_suite *s;
	const char *error = NULL;

	s = spec_load_part(c->arena, path, &notes);
	if (notes.errors > 0)
		error = first_error(&notes, c->arena);
	if (o != NULL)
		put_suite_json(o, path, s, error);
	else
		put_suite_text(out, path, s, error);
	arena_restore(c->arena, mark);
}

static int
list_main(struct cmd_call *c)
{
	const struct list_opt *opt = c->opt;
	const char *dir = c->nargs > 0 ? c->args[0] : ".";
	struct str one = str_of(dir);
	struct field_strs found = { &one, 1 };
	struct buf out = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &out, .indent = 2 };
	enum format format;
	size_t i;

	if (get_format(c, opt->format, &format) == -1)
		return cmd_complain(c->err);
	if (!is_file(dir) &&
	    spec_find(c->arena, dir, &found, c->err) == -1)
		return cmd_complain(c->err);
	if (format == FORMAT_JSON) {
		json_open(&o, '{');
		json_open_member(&o, "evals", '[');
	}
	for (i = 0; i < found.n; i++)
		list_suite(c, found.v[i].p, &out,
		    format == FORMAT_JSON ? &o : NULL);
	if (format == FORMAT_JSON) {
		json_close(&o, ']');
		json_close(&o, '}');
		buf_putc(&out, '\n');
	} else if (found.n == 0)
		buf_fmt(&out, "%s: there is no eval.yaml in or below it\n",
		    dir);
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_list = {
	.name = "list", .usage = "[--format text|json] [DIR]",
	.opts = CMD_OPTS(list_opts), .size = sizeof(struct list_opt),
	.max = 1, .fn = list_main,
	.help = "show the suites below a directory, and their tasks"
};
const struct cmd_command cmd_validate = {
	.name = "validate", .usage = "[--strict] [--format text|json] PATH ...",
	.opts = CMD_OPTS(validate_opts), .size = sizeof(struct validate_opt),
	.min = 1, .max = SIZE_MAX, .fn = validate_main,
	.help = "say what is wrong with suites"
};

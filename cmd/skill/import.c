/* SPDX-License-Identifier: ISC */
/*
 * waza import: writes a suite from the evals of another program, and lists what
 * it left out.
 */
#include "cmd/skill/import.h"

#include <stdarg.h>
#include <string.h>

#include "agent/agent.h"
#include "base/os.h"
#include "lib/tmpl.h"
#include "lib/yaml/yaml_out.h"
#include "skill/files.h"
#include "skill/scaffold.h"
#include "suite/spec.h"
#include "waza.h"

enum { IMPORT_MAX = 64 << 20, LEFT_MAX = 1000 };	/* bytes; lines */

struct import_opt {
	const char *dir, *executor, *skill;
};

#define OPT(m, t, ...) CMD_OPT(import_opt, m, t, __VA_ARGS__)
static const struct opt import_rows[] = {
	OPT(dir, OPT_STR, .name = "output-dir", .letter = 'o', .value = "DIR",
	    .help = "directory of the suite (default: the name of the file "
	    "without its ending)"),
	OPT(executor, OPT_STR, .name = "executor", .value = "NAME",
	    .help = "executor of the suite (default: mock)"),
	OPT(skill, OPT_STR, .name = "skill", .value = "NAME",
	    .help = "skill of the suite (default: its name)"),
};

static const struct format {
	const char *name;
	int (*read)(struct import *, struct str, struct err *);
} formats[] = {
	{ "inspect-jsonl", import_inspect },
	{ "promptfoo", import_promptfoo },
};

/*
 * For the formats.
 */
void
import_leave(struct import *im, const struct json *at, const char *fmt, ...)
{
	va_list ap;

	if (im->nleft++ >= LEFT_MAX)
		return;
	buf_puts(&im->left, im->file);
	if (at != NULL && at->line > 0)
		buf_fmt(&im->left, ":%u:%u", at->line, at->col);
	buf_puts(&im->left, ": left out: ");
	va_start(ap, fmt);
	buf_put(&im->left, arena_vfmt(im->arena, fmt, ap));
	va_end(ap);
	buf_putc(&im->left, '\n');
}

void
import_put_str(struct import *im, struct str s)
{
	json_put_str(&im->out, tmpl_escape(im->arena, s));
}

void
import_put_list(struct import *im, const char *key, struct str s)
{
	json_open_member(&im->out, key, '[');
	import_put_str(im, s);
	json_close(&im->out, ']');
}

static void
put_files(struct import *im, const struct json *files)
{
	const struct json *v;

	json_open_member(&im->out, "files", '[');
	for (v = json_first(files); v != NULL; v = v->next) {
		json_open(&im->out, '{');
		json_put_member_str(&im->out, "path", json_key(v));
		json_put_member_str(&im->out, "content", json_text(v));
		json_close(&im->out, '}');
	}
	json_close(&im->out, ']');
}

void
import_begin(struct import *im, struct import_task *t)
{
	t->ngraders = 0;
	im->ntasks++;
	json_open(&im->out, '{');
	json_put_member_str(&im->out, "id", t->id);
	json_put_member_nonempty(&im->out, "name", t->name);
	json_open_member(&im->out, "inputs", '{');
	json_put_key(&im->out, STR("prompt"));
	import_put_str(im, t->prompt);
	if (json_first(t->files) != NULL)
		put_files(im, t->files);
	json_close(&im->out, '}');
	json_open_member(&im->out, "graders", '[');
}

void
import_end(struct import *im, struct import_task *t)
{
	json_close(&im->out, ']');
	if (t->ngraders == 0) {
		import_leave(im, t->at, "task \"%.*s\" has no check that "
		    "could be imported; it is disabled",
		    STRF(utf8_cut(t->id, 60)));
		json_put_member_bool(&im->out, "enabled", false);
		im->ndisabled++;
	}
	json_close(&im->out, '}');
}

void
import_open(struct import *im, struct import_task *t, const char *type,
    const struct json *weight)
{
	double w;

	json_open(&im->out, '{');
	json_put_member_cstr(&im->out, "type", type);
	json_put_member_str(&im->out, "name", arena_fmt(im->arena, "%s-%zu",
	    type, ++t->ngraders));
	if (json_double(weight, &w) && w > 0)
		json_put_member(&im->out, "weight", weight);
	json_open_member(&im->out, "config", '{');
}

void
import_close(struct import *im)
{
	json_close(&im->out, '}');
	json_close(&im->out, '}');
}

struct str
import_literal(struct arena *a, struct str s)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] != '\0' && strchr("\\.+*?()|[]{}^$", s.p[i]) != NULL)
			buf_putc(&b, '\\');
		buf_putc(&b, s.p[i]);
	}
	return arena_take(a, &b);
}

/*
 * The suite.
 */
static struct str
suite_text(struct import *im, const struct import_opt *opt)
{
	struct buf json = { 0 }, out = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &json };

	json_open(&o, '{');
	json_put_member_str(&o, "name", im->name);
	json_put_member_str(&o, "skill", opt->skill != NULL ?
	    str_of(opt->skill) : im->name);
	json_open_member(&o, "config", '{');
	json_put_member_cstr(&o, "executor", opt->executor != NULL ?
	    opt->executor : "mock");
	json_close(&o, '}');
	json_put_member_raw(&o, "tasks", buf_str(&im->text));
	json_close(&o, '}');
	buf_fmt(&out, "# Imported from %s.\n", im->file);
	yaml_put(&out, arena_json(im->arena, arena_take(im->arena, &json),
	    NULL), 0);
	return arena_take(im->arena, &out);
}

static int
write_suite(struct cmd_call *c, struct import *im)
{
	const struct import_opt *opt = c->opt;
	struct files f = { .arena = c->arena };
	struct str name = str_stem(str_of(im->file));
	struct buf out = { 0 };
	const char *path = spec_join(c->arena, opt->dir != NULL ? opt->dir :
	    arena_cstr(c->arena, name), STR("eval.yaml"));

	if (im->name.n == 0)
		im->name = name;
	files_add(&f, path, suite_text(im, opt), "suite");
	if (files_count(&f, FILES_KEPT) > 0) {
		err_set(c->err, ERR_SYS, "%s exists: choose another directory "
		    "with --output-dir, or remove it", path);
		return cmd_complain(c->err);
	}
	if (files_write(&f, c->err) == -1)
		return cmd_complain(c->err);
	buf_put(&out, buf_str(&im->left));
	if (im->nleft > LEFT_MAX)
		buf_fmt(&out, "%s: %zu more were left out\n", im->file,
		    im->nleft - LEFT_MAX);
	buf_fmt(&out, "%s: %zu task%s imported, %zu disabled, %zu thing%s left "
	    "out\n", path, im->ntasks - im->ndisabled, im->ntasks -
	    im->ndisabled == 1 ? "" : "s", im->ndisabled, im->nleft,
	    im->nleft == 1 ? "" : "s");
	return cmd_finish(c, &out, CMD_OK);
}

static int
run_import(struct cmd_call *c, const struct format *format)
{
	struct import im = { .arena = c->arena, .file = c->args[1] };
	struct str text;
	int status;

	if (os_read_file(c->arena, im.file, IMPORT_MAX, &text, c->err) == -1)
		return cmd_complain(c->err);
	im.out = (struct json_out){ .put = buf_sink, .ctx = &im.text };
	json_open(&im.out, '[');
	if (format->read(&im, text, c->err) == -1)
		status = cmd_complain_at(im.file, c->err);
	else if (im.ntasks == im.ndisabled) {
		cmd_say("%.*s%s: nothing in it can be imported\n",
		    STRF(buf_str(&im.left)), im.file);
		status = CMD_ERROR;
	} else {
		json_close(&im.out, ']');
		status = write_suite(c, &im);
	}
	buf_free(&im.text);
	buf_free(&im.left);
	return status;
}

static int
import_main(struct cmd_call *c)
{
	const struct import_opt *opt = c->opt;
	const char *words[COUNTOF(formats)];
	size_t i;

	for (i = 0; i < COUNTOF(formats); i++)
		words[i] = formats[i].name;
	for (i = 0; i < COUNTOF(formats); i++)
		if (strcmp(c->args[0], words[i]) == 0)
			break;
	if (i == COUNTOF(formats)) {
		cmd_say("waza: unknown format \"%.60s\" (inspect-jsonl or "
		    "promptfoo; evals.json needs no import: waza run "
		    "evals/evals.json)\n", c->args[0]);
		return CMD_ERROR;
	}
	if (opt->executor != NULL && agent_find(str_of(opt->executor)) ==
	    NULL) {
		cmd_say("waza: unknown executor \"%.60s\" (waza doctor lists "
		    "them)\n", opt->executor);
		return CMD_ERROR;
	}
	return run_import(c, &formats[i]);
}

const struct cmd_command cmd_import = {
	.name = "import", .usage = "[OPTION ...] inspect-jsonl|promptfoo FILE",
	.opts = CMD_OPTS(import_rows), .size = sizeof(struct import_opt),
	.required = { "FORMAT", "FILE" }, .max = 2, .fn = import_main,
	.group = CMD_SUITES,
	.help = "Write a suite from the evals of another program"
};

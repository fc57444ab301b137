/* SPDX-License-Identifier: ISC */
/*
 * Suggested files: read from a reply, loaded as a suite in a temporary
 * directory, printed or written.
 */
#include "cmd/skill/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/os_path.h"
#include "grader.h"
#include "io/workspace.h"
#include "json.h"
#include "lib/diff.h"
#include "lib/yaml/yaml_out.h"
#include "skill/files.h"
#include "skill/scaffold.h"
#include "suite/spec.h"
#include "waza.h"
#include "yaml_lite.h"

enum { CONTENT_MAX = 1 << 20, DIFF_MAX = 16 << 10 };	/* bytes */

/*
 * Reading.
 */
static void PRINTF(2, 3)
complain(struct suggest *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_put(&s->problems, arena_vfmt(s->call->arena, fmt, ap));
	va_end(ap);
	buf_putc(&s->problems, '\n');
}

/* A path below that directory, of plain names. */
static bool
is_below(struct str path, const char *dir)
{
	size_t i;

	if (!str_starts(path, str_of(dir)) || path.n == strlen(dir) ||
	    path.p[path.n - 1] == '/' || path.n > 200)
		return false;
	for (i = 0; i < path.n; i++)
		if ((unsigned char)path.p[i] <= ' ' || path.p[i] == '\\' ||
		    (path.p[i] == '/' && i + 1 < path.n &&
		    (path.p[i + 1] == '.' || path.p[i + 1] == '/')))
			return false;
	return true;
}

/* The id of a task; the file gets a name for people if it has none. */
static void
complete_task(struct suggest *s, struct suggest_file *f)
{
	struct arena *a = s->call->arena;
	struct err e = { 0 };
	const struct json *v = yaml_read_one(a, f->content, &e);
	struct buf b = { 0 };

	if (v == NULL || v->type != JSON_OBJECT) {
		complain(s, "%.*s: %s", STRF(f->path), v == NULL ? e.msg :
		    "not a mapping");
		return;
	}
	f->id = str_trim(json_str(v, "id"));
	if (f->id.n == 0) {
		complain(s, "%.*s: \"id\" is missing", STRF(f->path));
		return;
	}
	if (json_getc(v, "name") != NULL || f->content.p[0] == '{')
		return;
	buf_fmt(&b, "%.*s%sname: ", STRF(f->content), str_ends(f->content,
	    STR("\n")) ? "" : "\n");
	yaml_put_word(&b, scaffold_title(a, f->id));
	buf_putc(&b, '\n');
	f->content = arena_take(a, &b);
}

/* The text of a file; a task may also be an object. */
static struct str
content_of(struct suggest *s, const struct json *v, bool task)
{
	struct buf b = { 0 };

	if (task && v != NULL && v->type == JSON_OBJECT) {
		yaml_put(&b, v, 0);
		return arena_take(s->call->arena, &b);
	}
	return v != NULL && v->type == JSON_STRING ? json_text(v) :
	    (struct str){ NULL, 0 };
}

static void
read_file(struct suggest *s, const struct json *v, bool task,
    struct suggest_file *f)
{
	const char *dir = task ? "tasks/" : "fixtures/";

	f->path = json_str(v, "path");
	f->content = content_of(s, json_getc(v, "content"), task);
	f->rationale = json_str(v, "rationale");
	f->confidence = -1;
	if (json_double(json_getc(v, "confidence"), &f->confidence) &&
	    (f->confidence < 0 || f->confidence > 1))
		f->confidence = -1;
	if (!is_below(f->path, dir))
		complain(s, "\"%.*s\" is not a path below %s",
		    STRF(utf8_cut(f->path, 100)), dir);
	else if (task && (!str_ends(f->path, STR(".yaml")) ||
	    memchr(f->path.p + 6, '/', f->path.n - 6) != NULL))
		complain(s, "%.*s: a task must be tasks/NAME.yaml",
		    STRF(f->path));
	else if (f->content.p == NULL || f->content.n > CONTENT_MAX)
		complain(s, "%.*s: \"content\" must be a text of at most 1 "
		    "MiB", STRF(f->path));
	else if (task)
		complete_task(s, f);
}

static struct suggest_file *
read_list(struct suggest *s, const struct json *list, bool task, size_t *n)
{
	struct suggest_file *f;
	const struct json *v;
	size_t i;

	*n = 0;
	if (list == NULL || list->type != JSON_ARRAY)
		return NULL;
	if (json_count(list) > SUGGEST_MAX) {
		complain(s, "more than %d %s", SUGGEST_MAX, task ? "tasks" :
		    "fixtures");
		return NULL;
	}
	f = NEW_N(s->call->arena, struct suggest_file, json_count(list) + 1);
	for (v = json_first(list); v != NULL; v = v->next, (*n)++) {
		read_file(s, v, task, &f[*n]);
		for (i = 0; i < *n; i++)
			if (str_eq(f[i].path, f[*n].path))
				complain(s, "%.*s is suggested twice",
				    STRF(f[i].path));
	}
	return f;
}

/*
 * Checking: the same loader as for every suite.
 */
static void
add_below(struct files *files, const char *dir, const struct suggest_file *f,
    size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		files_add(files, spec_join(files->arena, dir, f[i].path),
		    f[i].content, "");
}

/* A line about a note, without the temporary directory. */
static void
put_note(struct suggest *s, const struct spec_note *n, const char *dir)
{
	const char *file = n->at.file != NULL ? n->at.file : "";

	if (strncmp(file, dir, strlen(dir)) == 0)
		file += strlen(dir) + 1;
	complain(s, "%s:%u:%u: %s", file, n->at.line, n->at.col, n->msg);
}

static int
load_in(struct suggest *s, const char *dir)
{
	struct arena *a = s->call->arena;
	struct spec_notes notes = { .arena = a, .strict = true };
	struct files files = { .arena = a };
	const struct spec_note *n;
	struct spec_suite *suite;
	const char *eval = spec_join(a, dir, STR("eval.yaml"));

	files_add(&files, eval, STR("name: suggestion\nskill: suggestion\n"
	    "tasks: [tasks/*.yaml]\n"), "");
	add_below(&files, dir, s->tasks, s->ntasks);
	add_below(&files, dir, s->fixtures, s->nfixtures);
	if (files_write(&files, s->call->err) == -1)
		return -1;
	suite = spec_load_part(a, eval, &notes);
	if (suite != NULL)
		grader_check(suite, &notes);
	for (n = notes.head; n != NULL; n = n->next)
		if (n->level == FIELD_ERROR)
			put_note(s, n, dir);
	return 0;
}

int
suggest_read(struct suggest *s, const struct json *reply)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = arena_cstr(s->call->arena, arena_fmt(s->call->arena,
	    "%s/waza-suggest.XXXXXX", tmp != NULL && *tmp == '/' ? tmp :
	    "/tmp"));
	struct err e;
	int r;

	s->tasks = read_list(s, json_getc(reply, "tasks"), true, &s->ntasks);
	s->fixtures = read_list(s, json_getc(reply, "fixtures"), false,
	    &s->nfixtures);
	if (s->ntasks == 0)
		complain(s, "no task is suggested");
	if (s->problems.n > 0)
		return 0;
	if (mkdtemp(dir) == NULL)
		return err_sys(s->call->err, dir);
	r = load_in(s, dir);
	workspace_remove(dir, &e);
	return r;
}

/*
 * Printing.
 */
static void
put_files(struct json_out *o, const char *key, const struct suggest_file *f,
    size_t n)
{
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < n; i++) {
		json_open(o, '{');
		json_put_member_str(o, "path", f[i].path);
		json_put_member_str(o, "content", f[i].content);
		if (f[i].confidence >= 0)
			json_put_member_double(o, "confidence",
			    f[i].confidence);
		json_put_member_nonempty(o, "rationale", f[i].rationale);
		json_close(o, '}');
	}
	json_close(o, ']');
}

/* Prints a value that was written as JSON. */
static int
finish(struct cmd_call *c, struct buf *text, bool json)
{
	struct buf out = { 0 };
	const struct json *v = arena_json(c->arena, arena_take(c->arena, text),
	    NULL);
	struct json_out o = { .put = buf_sink, .ctx = &out, .indent = 2 };

	if (json) {
		json_put(&o, v);
		buf_putc(&out, '\n');
		c->form = GUARD_JSON;
	} else
		yaml_put(&out, v, 0);
	return cmd_finish(c, &out, CMD_OK);
}

int
suggest_show(struct suggest *s, bool json)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_str(&o, "eval_yaml", s->eval_yaml);
	put_files(&o, "tasks", s->tasks, s->ntasks);
	put_files(&o, "fixtures", s->fixtures, s->nfixtures);
	json_close(&o, '}');
	return finish(s->call, &b, json);
}

/*
 * Writing.
 */
/* Prints how an existing file differs from its suggestion. */
static void
put_conflict(struct suggest *s, const char *path, struct str want)
{
	struct diff_opts o = { .from = str_of(path), .to = STR("suggestion"),
		.context = DIFF_CONTEXT, .max = DIFF_MAX };
	struct buf b = { 0 };
	struct str have;
	struct err e;

	if (os_read_plain(s->call->arena, path, CONTENT_MAX, &have, &e) == 0)
		diff_unified(&b, have, want, &o);
	cmd_say("waza: %s exists\n%.*s", path, STRF(buf_str(&b)));
	buf_free(&b);
}

/* Whether a task of the suite in another file has that id. */
static bool
is_taken(const struct spec_suite *suite, struct str id, const char *path)
{
	size_t i;

	for (i = 0; suite != NULL && i < suite->ntasks; i++)
		if (str_eq(suite->tasks[i].id, id) &&
		    (suite->tasks[i].at.file == NULL ||
		    strcmp(suite->tasks[i].at.file, path) != 0))
			return true;
	return false;
}

/* Adds files; returns how many are in the way of existing ones. */
static size_t
add_files(struct suggest *s, struct files *files, const char *dir,
    const struct suggest_file *f, size_t n, bool force)
{
	const char *path;
	size_t i, bad = 0;

	for (i = 0; i < n; i++) {
		path = spec_join(s->call->arena, dir, f[i].path);
		if (spec_exists(path) && !force) {
			put_conflict(s, path, f[i].content);
			bad++;
		}
		(force ? files_replace : files_add)(files, path, f[i].content,
		    "");
	}
	return bad;
}

static size_t
check_ids(struct suggest *s, const char *dir, const char *eval)
{
	struct spec_notes notes = { .arena = s->call->arena };
	const struct spec_suite *suite = spec_exists(eval) ?
	    spec_load_part(s->call->arena, eval, &notes) : NULL;
	size_t i, bad = 0;

	for (i = 0; i < s->ntasks; i++)
		if (is_taken(suite, s->tasks[i].id, spec_join(s->call->arena,
		    dir, s->tasks[i].path))) {
			cmd_say("waza: %s has a task \"%.*s\"\n", eval,
			    STRF(s->tasks[i].id));
			bad++;
		}
	return bad;
}

/* Prints a hint about new tasks that no pattern of the suite matches. */
static void
check_listed(struct suggest *s, const char *eval)
{
	struct spec_notes notes = { .arena = s->call->arena };
	const struct spec_suite *suite = spec_load_part(s->call->arena, eval,
	    &notes);
	size_t i, k;

	for (i = 0; suite != NULL && i < s->ntasks; i++) {
		for (k = 0; k < suite->ntasks; k++)
			if (str_eq(suite->tasks[k].id, s->tasks[i].id))
				break;
		if (k == suite->ntasks)
			cmd_say("waza: %s does not list %.*s: add it to "
			    "\"tasks\"\n", eval, STRF(s->tasks[i].path));
	}
}

int
suggest_apply(struct suggest *s, const char *dir, bool force, bool json)
{
	struct arena *a = s->call->arena;
	const char *eval = spec_join(a, dir, s->eval_file);
	struct files files = { .arena = a, .root = s->root };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i, bad;

	files_add(&files, eval, s->eval_yaml, "");
	bad = check_ids(s, dir, eval);
	bad += add_files(s, &files, dir, s->tasks, s->ntasks, force);
	bad += add_files(s, &files, dir, s->fixtures, s->nfixtures, force);
	if (bad > 0) {
		cmd_say("waza: nothing was written; --force replaces tasks "
		    "and fixtures, not ids\n");
		return CMD_ERROR;
	}
	if (files_write(&files, s->call->err) == -1)
		return cmd_complain(s->call->err);
	check_listed(s, eval);
	json_open(&o, '{');
	json_put_member_cstr(&o, "output_dir", dir);
	json_open_member(&o, "files", '[');
	for (i = 0; i < files.n; i++)
		if (files.v[i].state != FILES_KEPT)
			json_put_cstr(&o, files.v[i].path);
	json_close(&o, ']');
	json_close(&o, '}');
	return finish(s->call, &b, json);
}

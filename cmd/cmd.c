/* SPDX-License-Identifier: ISC */
/* Shared by all commands: version, messages, input, stdout, settings. */
#include "waza.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "report/report.h"
#include "suite/config.h"
#include "suite/spec.h"

/* VERSION of the Makefile is an unquoted macro here; stringify it. */
#define QUOTE_(x) #x
#define QUOTE(x) QUOTE_(x)

const char cmd_version_number[] = QUOTE(WAZA_VERSION);

void
cmd_say(const char *fmt, ...)
{
	struct arena a = { 0 };
	struct buf b = { 0 };
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	buf_put(&b, arena_vfmt(&a, fmt, ap));
	va_end(ap);
	guard_output(&b, 0, GUARD_PLAIN);
	os_write_all(STDERR_FILENO, buf_str(&b), &e);
	buf_free(&b);
	arena_free(&a);
}

int
cmd_complain(const struct err *e)
{
	struct str msg = str_of(e->msg);
	bool bare = e->code == ERR_SYS && str_ends(msg,
	    str_of(strerror(e->sys)));
	struct buf b = { 0 };

	buf_fmt(&b, "waza: %s%s\n", e->msg, bare ? err_advice(e) : "");
	cmd_wrap(&b, 0, STDERR_FILENO);
	cmd_say("%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return CMD_ERROR;
}

int
cmd_complain_at(const char *file, const struct err *e)
{
	struct report_sources src;
	struct buf b = { 0 };

	if (e->line == 0)
		return cmd_complain(e);
	report_sources_init(&src, STDERR_FILENO);
	buf_fmt(&b, "%s:%u:%u: %s\n", file, e->line, e->col, e->msg);
	if (strcmp(file, cmd_input_name("-")) != 0)
		report_source(&src, &b, file, (struct report_place){ e->line,
		    e->col, 0 });
	cmd_say("%.*s", STRF(buf_str(&b)));
	report_sources_end(&src);
	buf_free(&b);
	return CMD_ERROR;
}

int
cmd_complain_stdout(int sys)
{
	if (sys != EPIPE)
		cmd_say("waza: cannot write to standard output: %s\n",
		    strerror(sys));
	return CMD_ERROR;
}

int
cmd_print_notes(const struct spec_notes *notes, bool all)
{
	const struct spec_note *n;
	struct report_sources src;
	struct buf b = { 0 };

	report_sources_init(&src, STDERR_FILENO);
	for (n = notes->head; n != NULL; n = n->next) {
		if (n->level != FIELD_ERROR && !all && !notes->strict)
			continue;
		b.n = 0;
		spec_note_put(&b, n);
		report_source(&src, &b, n->at.file, (struct report_place){
		    n->at.line, n->at.col, 0 });
		cmd_say("%.*s", STRF(buf_str(&b)));
	}
	report_sources_end(&src);
	buf_free(&b);
	return notes->errors > 0 || (notes->strict && notes->warnings > 0) ?
	    CMD_ERROR : CMD_OK;
}

int
cmd_finish(struct cmd_call *c, struct buf *out, int status)
{
	int r;

	guard_output(out, 0, c->form);
	r = os_write_all(STDOUT_FILENO, buf_str(out), c->err);
	buf_free(out);
	return r == -1 ? cmd_complain_stdout(c->err->sys) : status;
}

void
cmd_wrap(struct buf *out, size_t hang, int fd)
{
	struct report_opts o = { 0 };

	report_env(&o, fd, REPORT_AUTO);
	report_wrap(out, hang, &o);
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
cmd_report_env(struct report_opts *o, int fd, const struct cmd_color *color,
    struct err *e)
{
	static const char *const words[] = { [REPORT_AUTO] = "auto",
		[REPORT_ALWAYS] = "always", [REPORT_NEVER] = "never" };
	int when = cmd_choose("color", color->when, words, COUNTOF(words), e);

	if (when == -1)
		return -1;
	report_env(o, fd, color->never ? REPORT_NEVER :
	    (enum report_when)when);
	return 0;
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
	struct json_error je;
	struct json *v = arena_json(a, str_after_bom(text), &je);

	if (v == NULL) {
		err_set(e, ERR_SYNTAX, "%s", je.msg);
		err_at(e, je.line, je.col);
	}
	return v;
}

bool
cmd_is_true(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}

/*
 * Paths and settings that several commands derive from their options.
 */
const char *
cmd_suite_path(const struct cmd_call *c)
{
	const char *path = c->nargs > 0 ? c->args[0] : "eval.yaml";
	const char *yml;
	struct stat st;

	if (stat(path, &st) == -1 || !S_ISDIR(st.st_mode))
		return path;
	yml = arena_fmt(c->arena, "%s/eval.yml", path).p;
	if (stat(yml, &st) == 0)
		return yml;
	return arena_fmt(c->arena, "%s/eval.yaml", path).p;
}

/* Suite and settings both read the project's file: report it once. */
static bool
is_noted(const struct spec_notes *notes, const struct spec_note *n)
{
	const struct spec_note *o;

	for (o = notes->head; o != NULL; o = o->next)
		if (o->at.line == n->at.line && o->at.col == n->at.col &&
		    strcmp(o->msg, n->msg) == 0)
			return true;
	return false;
}

void
cmd_settings(const struct cmd_call *c, const char *path, const char *json,
    struct spec_suite *s, struct spec_notes *notes)
{
	struct spec_notes own = { .arena = c->arena, .strict = notes->strict };
	struct config_sources from = { .path = path, .json = json,
		.dir = s->dir, .token = c->token, .trust = notes->trust };
	const struct config *cfg = config_load(c->arena, &from, &own);
	const struct spec_note *n;

	for (n = own.head; n != NULL; n = n->next)
		if (!is_noted(notes, n))
			spec_note(notes, n->level, n->at, "%s", n->msg);
	if (cfg != NULL)
		config_apply(cfg, s);
}

struct config *
cmd_load_config(struct cmd_call *c, const struct config_sources *from)
{
	struct spec_notes notes = { .arena = c->arena };
	struct config *config = config_load(c->arena, from, &notes);

	cmd_print_notes(&notes, true);
	return config;
}

size_t
cmd_given_flags(struct config_flag *v, size_t n)
{
	size_t i, k = 0;

	for (i = 0; i < n; i++)
		if (v[i].value != NULL)
			v[k++] = v[i];
	return k;
}

const char *
cmd_cache_dir(const struct cmd_call *c, const char *option,
    struct str setting)
{
	if (option != NULL)
		return option;
	return setting.n > 0 ? arena_cstr(c->arena, setting) : ".waza-cache";
}

char *
cmd_file_name(struct arena *a, const char *model)
{
	char *name = arena_cstr(a, str_of(model)), *p;

	for (p = name; *p != '\0'; p++)
		if (strchr("/\\: ", *p) != NULL)
			*p = '-';
	return name;
}

struct str
cmd_short_path(struct str s)
{
	size_t n;

	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	for (;; s.p += n, s.n -= n) {
		n = str_starts(s, STR("../")) ? 3 : str_starts(s, STR("./")) ?
		    2 : 0;
		if (n == 0 || n == s.n)
			return s;
	}
}

const char *
cmd_model_path(struct arena *a, const char *path, const char *model)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');

	if (dot == NULL || (slash != NULL && dot < slash))
		dot = path + strlen(path);
	return arena_fmt(a, "%.*s_%s%s", (int)(dot - path), path,
	    cmd_file_name(a, model), dot).p;
}

const char *
cmd_model_dir(struct arena *a, const char *dir, const char *model, bool make)
{
	char *name = cmd_file_name(a, model);

	if (dir == NULL)
		return NULL;
	if (make)
		(void)mkdir(dir, 0777);	/* errors show when it is used */
	if (name[0] == '.')
		name[0] = '-';
	return arena_fmt(a, "%s/%s", dir, name).p;
}

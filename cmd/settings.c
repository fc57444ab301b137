/* SPDX-License-Identifier: ISC */
/* What suites, settings and options say together, for several commands. */
#include "waza.h"

#include <string.h>
#include <sys/stat.h>

#include "suite/config.h"
#include "suite/spec.h"

/* A directory means the suite in it. */
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

/* A warning that is there already: both read the project's file. */
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
		.dir = s->dir, .token = c->token };
	const struct config *cfg = config_load(c->arena, &from, &own);
	const struct spec_note *n;

	for (n = own.head; n != NULL; n = n->next)
		if (!is_noted(notes, n))
			spec_note(notes, n->level, n->at, "%s", n->msg);
	if (cfg != NULL)
		config_apply(cfg, s);
}

const char *
cmd_cache_dir(const struct cmd_call *c, const char *option,
    struct str setting)
{
	if (option != NULL)
		return option;
	return setting.n > 0 ? arena_cstr(c->arena, setting) : ".waza-cache";
}

const char *
cmd_model_path(struct arena *a, const char *path, const char *model)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
	char *name = arena_cstr(a, str_of(model)), *p;
	size_t n;

	if (dot == NULL || (slash != NULL && dot < slash))
		dot = path + strlen(path);
	for (p = name; *p != '\0'; p++)
		if (strchr("/\\: ", *p) != NULL)
			*p = '-';
	n = (size_t)(dot - path);
	return arena_fmt(a, "%.*s_%s%s", (int)n, path, name, dot).p;
}

const char *
cmd_model_dir(struct arena *a, const char *dir, const char *model, bool make)
{
	char *name = arena_cstr(a, str_of(model)), *p;

	if (dir == NULL)
		return NULL;
	if (make)
		(void)mkdir(dir, 0777);	/* the next one fails, and says why */
	for (p = name; *p != '\0'; p++)
		if (strchr("/\\: ", *p) != NULL || (*p == '.' && p == name))
			*p = '-';
	return arena_fmt(a, "%s/%s", dir, name).p;
}

/* SPDX-License-Identifier: ISC */
/* Paths and settings that several commands derive from their options. */
#include "waza.h"

#include <string.h>
#include <sys/stat.h>

#include "suite/config.h"
#include "suite/spec.h"

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
		.dir = s->dir, .token = c->token };
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

/* A model as part of a file name. */
static char *
file_name(struct arena *a, const char *model)
{
	char *name = arena_cstr(a, str_of(model)), *p;

	for (p = name; *p != '\0'; p++)
		if (strchr("/\\: ", *p) != NULL)
			*p = '-';
	return name;
}

const char *
cmd_model_path(struct arena *a, const char *path, const char *model)
{
	const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');

	if (dot == NULL || (slash != NULL && dot < slash))
		dot = path + strlen(path);
	return arena_fmt(a, "%.*s_%s%s", (int)(dot - path), path,
	    file_name(a, model), dot).p;
}

const char *
cmd_model_dir(struct arena *a, const char *dir, const char *model, bool make)
{
	char *name = file_name(a, model);

	if (dir == NULL)
		return NULL;
	if (make)
		(void)mkdir(dir, 0777);	/* errors show when it is used */
	if (name[0] == '.')
		name[0] = '-';
	return arena_fmt(a, "%s/%s", dir, name).p;
}

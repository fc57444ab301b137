/* SPDX-License-Identifier: ISC */
/*
 * Layers: files, environment, --config-json and flags, as trees.
 *
 * The text of a variable or a flag becomes a tree by the type of its key, so
 * that it is checked and merged like a file.  Each is a layer of its own,
 * because messages name the variable or flag.
 */
#include "suite/config_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "suite/project.h"
#include "yaml_lite.h"

const char *
config_getenv(const struct config_sources *s, const char *name)
{
	const char *v = s->env != NULL ? s->env(s->ctx, name) : getenv(name);

	return v != NULL && *v != '\0' ? v : NULL;
}

/* The layer; NULL if it is empty or has errors. */
static struct config_layer *
add_layer(struct config_loader *l, enum config_level level, const char *name,
    const char *dir, const struct json *root)
{
	struct config_layer *new = NEW(l->arena, struct config_layer);
	size_t errors = l->notes->errors;

	if (root->type == JSON_NULL)
		return NULL;
	new->level = level;
	new->name = name;
	new->dir = dir;
	new->root = root;
	config_respell(l, new);
	config_check(l, new);
	if (l->notes->errors > errors)
		return NULL;
	*l->tail = new;
	l->tail = &new->next;
	return new;
}

static void
read_file(struct config_loader *l, enum config_level level, const char *path)
{
	struct spec_loader yaml = { .arena = l->arena, .notes = l->notes };
	struct spec_file f;

	if (spec_read_yaml(&yaml, path, &f) == 0)
		add_layer(l, level, path, f.dir, f.root);
	arena_free(&yaml.scratch);
}

/* Whether it is a regular file: reading a FIFO could block. */
static bool
is_file(struct config_loader *l, const char *path)
{
	struct spec_where at = { path, 0, 0 };
	struct stat st;

	if (stat(path, &st) == -1) {
		if (errno != ENOENT && errno != ENOTDIR)
			spec_note(l->notes, FIELD_ERROR, at, "%s",
			    strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode))
		spec_note(l->notes, FIELD_ERROR, at, "not a regular file");
	return S_ISREG(st.st_mode);
}

/* WAZA_HOME or ~/.waza has a file "config" or "config.yaml". */
static void
read_user(struct config_loader *l)
{
	const char *home = project_home(l->arena, l->from), *plain, *yaml;
	bool has_plain, has_yaml;

	if (home == NULL)
		return;
	plain = spec_join(l->arena, home, STR("config"));
	yaml = spec_join(l->arena, home, STR("config.yaml"));
	has_plain = is_file(l, plain);
	has_yaml = is_file(l, yaml);
	if (has_plain && has_yaml)
		spec_note(l->notes, FIELD_WARNING,
		    (struct spec_where){ yaml, 0, 0 }, "ignored: the file "
		    "\"config\" in the same directory takes precedence");
	if (has_plain || has_yaml)
		read_file(l, CONFIG_USER, has_plain ? plain : yaml);
}

/* The layer of the project's file; NULL if it is empty or has errors. */
static struct config_layer *
add_project(struct config_loader *l, const struct project *p)
{
	struct spec_loader yaml = { .arena = l->arena, .notes = l->notes };
	struct spec_file f;

	if (spec_parse_yaml(&yaml, p->path, p->text, &f) == -1)
		return NULL;
	return add_layer(l, CONFIG_PROJECT, p->path, f.dir, f.root);
}

static void
read_project(struct config_loader *l)
{
	struct config_layer *new = NULL;
	struct str held = STR("");
	struct project p;
	struct err e = { 0 };

	if (project_find(l->arena, l->from, &p, &e) == -1) {
		spec_note(l->notes, FIELD_ERROR, (struct spec_where){ p.path,
		    0, 0 }, "%s", spec_reason(&e, p.path));
		return;
	}
	if (p.state == PROJECT_UNTRUSTED || p.state == PROJECT_TRUSTED) {
		l->project_dir = spec_dir_of(l->arena, p.path);
		new = add_project(l, &p);
	}
	if (new != NULL && p.state == PROJECT_UNTRUSTED) {
		new->untrusted = true;
		held = config_hold(l, new);
	}
	project_warn(l->arena, &p, held, l->notes);
}

int
config_need_trust(struct arena *a, const struct config_sources *from,
    const struct project *p, struct spec_notes *notes,
    const struct config_leaf **out, size_t *n)
{
	struct config_loader l = { .arena = a, .notes = notes, .from = from };
	struct config_layer *new;
	size_t errors = notes->errors;

	l.tail = &l.head;
	new = add_project(&l, p);
	if (new != NULL)
		(void)config_hold(&l, new);
	config_take_held(&l, out, n);
	return notes->errors > errors ? -1 : 0;
}

static void
read_json(struct config_loader *l)
{
	struct spec_where at = { "--config-json", 0, 0 };
	struct str text = arena_str(l->arena, str_of(l->from->json));
	struct json_error e;
	struct json *root;

	if (text.n > YAML_BYTES) {
		spec_note(l->notes, FIELD_ERROR, at, "larger than %d bytes",
		    YAML_BYTES);
		return;
	}
	root = arena_json(l->arena, text, &e);
	if (root != NULL) {
		add_layer(l, CONFIG_JSON, at.file, ".", root);
		return;
	}
	at.line = e.line;
	at.col = e.col;
	spec_note(l->notes, FIELD_ERROR, at, "%s", e.msg);
}

static struct json *
new_string(struct arena *a, struct str text)
{
	struct json *v = NEW(a, struct json);

	v->type = JSON_STRING;
	v->u.text = arena_str(a, text).p;
	v->n = (uint32_t)text.n;
	return v;
}

static struct json *
new_group(struct arena *a, enum json_type type, struct json *first)
{
	struct json *v = NEW(a, struct json);

	v->type = (uint8_t)type;
	v->u.child = first;
	for (; first != NULL; first = first->next)
		v->n++;
	return v;
}

/* A number or boolean if the text is one; else a string, which is refused. */
static struct json *
scalar(struct arena *a, enum field_type type, struct str s)
{
	struct json *v;

	if (type == FIELD_BOOL && str_is(s, "1"))
		s = STR("true");
	else if (type == FIELD_BOOL && str_is(s, "0"))
		s = STR("false");
	if (type == FIELD_INT || type == FIELD_NUM || type == FIELD_BOOL) {
		v = arena_json(a, arena_str(a, s), NULL);
		if (v != NULL && (v->type == JSON_NUMBER ||
		    v->type == JSON_BOOL)) {
			v->line = v->col = 0;
			return v;
		}
	}
	return new_string(a, s);
}

/* The non-empty elements of a list. */
static struct json *
split(struct arena *a, struct str s, char sep)
{
	struct json *first = NULL, **tail = &first;
	const char *p = s.p, *end = p + s.n, *q;

	for (; p <= end; p = q + 1) {
		q = p < end && sep != '\0' ? memchr(p, sep, (size_t)(end - p)) :
		    NULL;
		if (q == NULL)
			q = end;
		if (q == p)
			continue;
		*tail = new_string(a, (struct str){ p, (size_t)(q - p) });
		tail = &(*tail)->next;
	}
	return new_group(a, JSON_ARRAY, first);
}

/* The value inside the objects of a dotted key: {a: {b: v}} for "a.b". */
static struct json *
nest(struct arena *a, const char *key, struct json *v)
{
	const char *end = key + strlen(key), *p;

	while (end > key) {
		for (p = end; p > key && p[-1] != '.'; p--)
			;
		v->key = p;
		v->nkey = (uint32_t)(end - p);
		v = new_group(a, JSON_OBJECT, v);
		end = p > key ? p - 1 : key;
	}
	return v;
}

static const struct {
	const char *name, *key;
	char sep;		/* between elements of a list */
} variables[] = {
	{ "WAZA_ALLOW_REMOTE", "allow_remote", 0 },
	{ "WAZA_HOST", "host", 0 },
	{ "WAZA_LISTEN", "listen", ',' },
	{ "WAZA_LOG_LEVEL", "log_level", 0 },
	{ "WAZA_PORT", "port", 0 },
	{ "WAZA_ROOTS", "roots", ':' },
	{ "WAZA_TIMEOUT", "timeout_seconds", 0 },
	{ "WAZA_TOKEN_FILE", "token_file", 0 },
};

static void
read_env(struct config_loader *l)
{
	const struct field *f;
	struct json *v;
	const char *s;
	size_t i;

	for (i = 0; i < COUNTOF(variables); i++) {
		s = config_getenv(l->from, variables[i].name);
		if (s == NULL)
			continue;
		f = config_row(str_of(variables[i].key));
		assert(f != NULL);
		v = f->type == FIELD_STRS ? split(l->arena, str_of(s),
		    variables[i].sep) : scalar(l->arena, f->type, str_of(s));
		add_layer(l, CONFIG_ENV, variables[i].name, ".",
		    nest(l->arena, variables[i].key, v));
	}
}

/* Whether an earlier flag has the same key (and, if asked, the same name). */
static bool
is_repeated(const struct config_flag *f, size_t i, bool flag)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (strcmp(f[k].key, f[i].key) == 0 && (!flag ||
		    strcmp(f[k].flag, f[i].flag) == 0))
			return true;
	return false;
}

/* All flags from i on that form one list; its place is "--tcp --unix". */
static struct json *
flag_list(struct config_loader *l, size_t i, const char **name)
{
	const struct config_flag *f = l->from->flags;
	struct json *first = NULL, **tail = &first;
	const char *key = f[i].key;
	struct buf names = { 0 };

	for (; i < l->from->nflags; i++) {
		if (strcmp(f[i].key, key) != 0)
			continue;
		*tail = new_string(l->arena, str_of(f[i].value));
		tail = &(*tail)->next;
		if (!is_repeated(f, i, true))
			buf_fmt(&names, "%s%s", names.n > 0 ? " " : "",
			    f[i].flag);
	}
	*name = arena_str(l->arena, buf_str(&names)).p;
	buf_free(&names);
	return new_group(l->arena, JSON_ARRAY, first);
}

static void
read_flags(struct config_loader *l)
{
	const struct config_flag *f = l->from->flags;
	const struct field *row;
	const char *name;
	struct json *v;
	size_t i;

	for (i = 0; i < l->from->nflags; i++) {
		row = config_row(str_of(f[i].key));
		assert(row != NULL && row->sub == NULL);
		if (row->type == FIELD_STRS && is_repeated(f, i, false))
			continue;
		name = f[i].flag;
		v = row->type == FIELD_STRS ? flag_list(l, i, &name) :
		    scalar(l->arena, row->type, str_of(f[i].value));
		add_layer(l, CONFIG_FLAG, name, ".",
		    nest(l->arena, f[i].key, v));
	}
}

void
config_read(struct config_loader *l)
{
	const char *path = l->from->path;

	if (path == NULL)
		path = config_getenv(l->from, "WAZA_CONFIG");
	read_user(l);
	read_project(l);
	if (path != NULL)
		read_file(l, CONFIG_FILE, path);
	read_env(l);
	if (l->from->json != NULL)
		read_json(l);
	read_flags(l);
}

/* SPDX-License-Identifier: ISC */
/*
 * Layers: files, environment, text and flags, as trees.
 *
 * What comes as a plain text (a variable, a flag) becomes a tree by the type
 * of its key, so that it is checked and merged like all the rest; it is a
 * layer of its own, since its name is its place.
 */
#include "suite/config_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "yaml_lite.h"

enum { LEVELS_UP = 10 };	/* for .waza.yaml, as suites look for it */

const char *
config_getenv(const struct config_sources *s, const char *name)
{
	const char *v = s->env != NULL ? s->env(s->ctx, name) : getenv(name);

	return v != NULL && *v != '\0' ? v : NULL;
}

static void
add_layer(struct config_loader *l, enum config_level level, const char *name,
    const char *dir, const struct json *root)
{
	struct config_layer *new = NEW(l->arena, struct config_layer);
	size_t errors = l->notes->errors;

	if (root->type == JSON_NULL)
		return;
	new->level = level;
	new->name = name;
	new->dir = dir;
	new->root = root;
	config_respell(l, new);
	config_check(l, new);
	if (l->notes->errors > errors)
		return;
	*l->tail = new;
	l->tail = &new->next;
}

/* What a message of os_read_file says without the path that it begins with. */
static const char *
reason(const struct err *e, const char *path)
{
	size_t n = strlen(path);

	if (e->code == ERR_SYS)
		return strerror(e->sys);
	if (strncmp(e->msg, path, n) == 0 &&
	    strncmp(e->msg + n, ": ", 2) == 0)
		return e->msg + n + 2;
	return e->msg;
}

static const char *
dir_of(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return ".";
	return arena_cstr(a, (struct str){ path, slash == path ? 1 :
	    (size_t)(slash - path) });
}

static void
read_file(struct config_loader *l, enum config_level level, const char *path)
{
	struct spec_where at = { path, 0, 0 };
	struct arena tmp = { 0 };
	struct json *root = NULL;
	struct err e = { 0 };
	struct str text;

	if (os_read_file(&tmp, path, YAML_BYTES, &text, &e) == -1)
		spec_note(l->notes, FIELD_ERROR, at, "%s", reason(&e, path));
	else if ((root = yaml_read_one(l->arena, text, &e)) == NULL) {
		at.line = e.line;
		at.col = e.col;
		spec_note(l->notes, FIELD_ERROR, at, "%s", e.msg);
	} else
		add_layer(l, level, path, dir_of(l->arena, path), root);
	arena_free(&tmp);
}

/* Whether there is one.  What nobody has named must not make us wait. */
static bool
found(struct config_loader *l, const char *path)
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
		spec_note(l->notes, FIELD_ERROR, at, "this is no file");
	return S_ISREG(st.st_mode);
}

static void
read_user(struct config_loader *l)
{
	const char *home = config_getenv(l->from, "WAZA_HOME");
	const char *dir = config_getenv(l->from, "HOME");
	const char *plain, *yaml;
	struct spec_where at = { 0 };

	if (home == NULL && dir == NULL)
		return;
	if (home == NULL)
		home = arena_fmt(l->arena, "%s/.waza", dir).p;
	plain = arena_fmt(l->arena, "%s/config", home).p;
	at.file = yaml = arena_fmt(l->arena, "%s/config.yaml", home).p;
	if (!found(l, plain)) {
		if (found(l, yaml))
			read_file(l, CONFIG_USER, yaml);
		return;
	}
	if (found(l, yaml))
		spec_note(l->notes, FIELD_WARNING, at,
		    "this is not read, as there is a file \"config\" beside "
		    "it");
	read_file(l, CONFIG_USER, plain);
}

static bool
same_dir(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	    x.st_ino == y.st_ino;
}

static void
read_project(struct config_loader *l)
{
	const char *dir = l->from->dir, *path, *up;
	bool here = dir == NULL || strcmp(dir, ".") == 0;
	int i;

	if (here)
		dir = ".";
	for (i = 0; i < LEVELS_UP; i++) {
		path = here ? ".waza.yaml" :
		    arena_fmt(l->arena, "%s/.waza.yaml", dir).p;
		if (found(l, path)) {
			read_file(l, CONFIG_PROJECT, path);
			return;
		}
		up = here ? ".." : arena_fmt(l->arena, "%s/..", dir).p;
		if (same_dir(dir, up))
			return;
		dir = up;
		here = false;
	}
}

static void
read_json(struct config_loader *l)
{
	struct json_mem mem = { arena_hook, l->arena };
	struct spec_where at = { "--config-json", 0, 0 };
	struct str text = arena_str(l->arena, str_of(l->from->json));
	struct json_error e;
	struct json *root;

	if (text.n > YAML_BYTES) {
		spec_note(l->notes, FIELD_ERROR, at, "larger than %d bytes",
		    YAML_BYTES);
		return;
	}
	root = json_read(&mem, text, 0, &e);
	if (root != NULL) {
		add_layer(l, CONFIG_JSON, at.file, ".", root);
		return;
	}
	at.line = e.line;
	at.col = e.col;
	spec_note(l->notes, FIELD_ERROR, at, "%s", e.msg);
}

static struct json *
new_node(struct arena *a, enum json_type type, struct str text)
{
	struct json *v = NEW(a, struct json);

	v->type = (uint8_t)type;
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

/* A number or truth, where the text is one; else a text, to be refused. */
static struct json *
word(struct arena *a, enum field_type type, struct str s)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error e;
	struct json *v;

	if (type == FIELD_BOOL && str_is(s, "1"))
		s = STR("true");
	else if (type == FIELD_BOOL && str_is(s, "0"))
		s = STR("false");
	if (type == FIELD_INT || type == FIELD_NUM || type == FIELD_BOOL) {
		v = json_read(&mem, arena_str(a, s), 0, &e);
		if (v != NULL && (v->type == JSON_NUMBER ||
		    v->type == JSON_BOOL)) {
			v->line = v->col = 0;
			return v;
		}
	}
	return new_node(a, JSON_STRING, s);
}

/* The elements of a list; empty ones do not count. */
static struct json *
words(struct arena *a, struct str s, char sep)
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
		*tail = new_node(a, JSON_STRING, (struct str){ p,
		    (size_t)(q - p) });
		tail = &(*tail)->next;
	}
	return new_group(a, JSON_ARRAY, first);
}

/* Around a value, the objects of a dotted key. */
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
	char sep;		/* of a list */
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
		v = f->type == FIELD_STRS ? words(l->arena, str_of(s),
		    variables[i].sep) : word(l->arena, f->type, str_of(s));
		add_layer(l, CONFIG_ENV, variables[i].name, ".",
		    nest(l->arena, variables[i].key, v));
	}
}

static bool
said_before(const struct config_flag *f, size_t i, bool flag)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (strcmp(f[k].key, f[i].key) == 0 && (!flag ||
		    strcmp(f[k].flag, f[i].flag) == 0))
			return true;
	return false;
}

/* All flags from i on that make one list; "--tcp --unix" is its place. */
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
		*tail = new_node(l->arena, JSON_STRING, str_of(f[i].value));
		tail = &(*tail)->next;
		if (!said_before(f, i, true))
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
		if (row->type == FIELD_STRS && said_before(f, i, false))
			continue;
		name = f[i].flag;
		v = row->type == FIELD_STRS ? flag_list(l, i, &name) :
		    word(l->arena, row->type, str_of(f[i].value));
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

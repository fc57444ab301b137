/* SPDX-License-Identifier: ISC */
/*
 * The tools of a mocked server, from the suite and from fixtures: JSON files
 * with a mapping `tools`, or with one tool that is named after the file.
 */
#include "mock/mock.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "json.h"

enum { DEPTH = 16, FILES_MAX = 10000 };

struct walk {
	struct mock_tools *tools;
	const char **file;		/* that is being read */
	size_t files;
};

static int
by_name(const void *key, const void *row)
{
	const struct str *k = key;
	const struct mock_entry *r = row;

	return str_cmp(*k, r->name);
}

const struct mock_entry *
mock_find_entry(const struct mock_tools *t, struct str name)
{
	size_t i = t->n == 0 ? 0 : search_first(&name, t->v, t->n,
	    sizeof(t->v[0]), by_name);

	return i < t->n && str_eq(t->v[i].name, name) ? &t->v[i] : NULL;
}

static int
add(struct mock_tools *t, struct str name, const struct json *tree,
    const char *file, struct err *e)
{
	size_t i = t->n == 0 ? 0 : search_first(&name, t->v, t->n,
	    sizeof(t->v[0]), by_name);
	struct mock_entry *v;

	if (i == t->n || !str_eq(t->v[i].name, name)) {
		if (t->n == MOCK_TOOLS_MAX)
			return err_set(e, ERR_LIMIT, "more than %d tools",
			    MOCK_TOOLS_MAX);
		if (t->n == t->room) {
			t->room = t->room == 0 ? 64 : 2 * t->room;
			v = NEW_N(t->arena, struct mock_entry, t->room);
			if (t->n > 0)
				memcpy(v, t->v, t->n * sizeof(v[0]));
			t->v = v;
		}
		memmove(t->v + i + 1, t->v + i, (t->n - i) * sizeof(t->v[0]));
		t->n++;
	}
	t->v[i] = (struct mock_entry){ name, tree, file };
	return 0;
}

int
mock_add_tools(struct mock_tools *t, const struct json *map, const char *file,
    struct err *e)
{
	const struct json *v;

	for (v = json_first(map); v != NULL; v = v->next)
		if (add(t, json_key(v), v, file, e) == -1)
			return err_at(e, v->line, v->col);
	return 0;
}

static struct str
stem_of(const char *path)
{
	struct str s = str_base(str_of(path));

	if (str_ends(s, STR(".json")))
		s.n -= 5;
	return s;
}

static int
add_file(struct walk *w, const char *path, struct err *e)
{
	struct mock_tools *t = w->tools;
	const struct json *v, *tools;
	struct json_error je;
	struct str text;

	*w->file = path;
	if (++w->files > FILES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d fixtures",
		    FILES_MAX);
	if (os_read_plain(t->arena, path, MOCK_FILE_MAX, &text, e) == -1)
		return -1;
	v = arena_json(t->arena, str_after_bom(text), &je);
	if (v == NULL) {
		err_set(e, ERR_SYNTAX, "%s", je.msg);
		return err_at(e, je.line, je.col);
	}
	if (v->type != JSON_OBJECT)
		return err_set(e, ERR_SCHEMA, "a fixture must be an object "
		    "with \"tools\", or one tool");
	tools = json_getc(v, "tools");
	if (tools != NULL && tools->type == JSON_OBJECT &&
	    json_first(tools) != NULL)
		return mock_add_tools(t, tools, path, e);
	return add(t, arena_str(t->arena, stem_of(path)), v, path, e);
}

/* The names of a directory, sorted; hidden ones are skipped. */
static int
list_dir(struct arena *a, const char *path, struct field_strs *out,
    struct err *e)
{
	struct buf b = { 0 };
	struct dirent *d;
	struct str s;
	DIR *dir = opendir(path);

	if (dir == NULL)
		return err_sys(e, path);
	while ((d = readdir(dir)) != NULL)
		if (d->d_name[0] != '.') {
			s = arena_str(a, str_of(d->d_name));
			buf_put(&b, (struct str){ (const char *)&s,
			    sizeof(s) });
		}
	closedir(dir);
	out->n = b.n / sizeof(struct str);
	out->v = NEW_N(a, struct str, out->n);
	if (out->n > 0) {
		memcpy(out->v, b.p, b.n);
		qsort(out->v, out->n, sizeof(struct str), str_order);
	}
	buf_free(&b);
	return 0;
}

static int
add_dir(struct walk *w, const char *path, unsigned depth, struct err *e)
{
	struct arena *a = w->tools->arena;
	struct field_strs names = { NULL, 0 };
	struct stat st;
	const char *sub;
	size_t i;

	*w->file = path;
	if (depth > DEPTH)
		return err_set(e, ERR_LIMIT, "more than %d directories inside "
		    "each other", DEPTH);
	if (list_dir(a, path, &names, e) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		sub = arena_fmt(a, "%s/%s", path, names.v[i].p).p;
		if (stat(sub, &st) == -1)
			continue;
		if (S_ISDIR(st.st_mode)) {
			if (add_dir(w, sub, depth + 1, e) == -1)
				return -1;
		} else if (str_ends(names.v[i], STR(".json")) &&
		    add_file(w, sub, e) == -1)
			return -1;
	}
	return 0;
}

int
mock_add_path(struct mock_tools *t, const char *path, const char **file,
    struct err *e)
{
	struct walk w = { .tools = t, .file = file };
	struct stat st;

	*file = path;
	if (stat(path, &st) == -1)
		return err_sys(e, path);
	return S_ISDIR(st.st_mode) ? add_dir(&w, path, 1, e) :
	    add_file(&w, path, e);
}

void
mock_put_tools(struct json_out *o, const struct mock_tools *t)
{
	size_t i;

	json_open(o, '{');
	json_open_member(o, "tools", '{');
	for (i = 0; i < t->n; i++) {
		json_put_key(o, t->v[i].name);
		json_put(o, t->v[i].tree);
	}
	json_close(o, '}');
	json_close(o, '}');
}

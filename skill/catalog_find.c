/* SPDX-License-Identifier: ISC */
/* Finds entries of a catalog by name; the messages if there is none. */
#include "skill/catalog.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "suite/spec.h"

const struct catalog_entry *
catalog_find(const struct catalog *c, struct str name)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (str_eq(c->v[i].name, name))
			return &c->v[i];
	for (i = 0; i < c->n; i++)
		if (c->v[i].skill_dir != NULL &&
		    !spec_is_agent(str_of(c->v[i].skill_file)) &&
		    str_eq(str_base(str_of(c->v[i].skill_dir)), name))
			return &c->v[i];
	return NULL;
}

const char *
catalog_suite(const struct catalog_entry *e)
{
	return e->eval != NULL ? e->eval : e->foreign;
}

int
catalog_list(struct arena *a, const struct catalog *c, const char *dir,
    struct field_strs *out, struct err *e)
{
	bool root = spec_same_dir(c->root, dir);
	struct field_strs below = { 0 };
	struct str *v, path;
	const char *suite;
	size_t i;

	if ((!root || !c->places_set) && spec_find(a, dir, &below, e) == -1)
		return -1;
	*out = below;
	if (!root)
		return 0;
	out->v = v = NEW_N(a, struct str, below.n + c->n);
	if (below.n > 0)
		memcpy(v, below.v, below.n * sizeof(*v));
	for (i = 0; i < c->n; i++) {
		suite = catalog_suite(&c->v[i]);
		path = str_of(suite != NULL ? suite : "");
		if (path.n > 0 && (below.n == 0 || bsearch(&path, below.v,
		    below.n, sizeof(path), str_order) == NULL))
			v[out->n++] = path;
	}
	if (out->n > below.n)
		qsort(v, out->n, sizeof(*v), str_order);
	return 0;
}

bool
catalog_is_path(const char *operand)
{
	struct stat st;

	return strpbrk(operand, "/\\.") != NULL || *operand == '\0' ||
	    stat(operand, &st) == 0;
}

/*
 * Messages.
 */
int
catalog_not_found(const struct catalog *c, struct str name, struct err *e)
{
	struct str_nearest near = { .word = name };
	struct buf b = { .max = 160 };
	char hint[STR_HINT];
	size_t i;

	for (i = 0; i < c->n; i++) {
		str_nearest(&near, c->v[i].name);
		if (i < 8)
			buf_fmt(&b, "%s%.*s", i > 0 ? ", " : "",
			    STRF(utf8_cut(c->v[i].name, 40)));
	}
	if (c->n > 8)
		buf_fmt(&b, " and %zu more", c->n - 8);
	err_set(e, ERR_SCHEMA, "finding skill \"%.*s\": not found in workspace "
	    "%.60s%s; it has %s%.*s; searched %.*s%s",
	    STRF(utf8_cut(name, 64)), c->root, str_hint(hint, "", near.best),
	    c->n == 0 ? "no skill" : "", STRF(buf_str(&b)),
	    STRF(utf8_cut(c->searched, 160)), c->n == 0 ?
	    "; create one with: waza new skill NAME" : "");
	buf_free(&b);
	return -1;
}

int
catalog_no_eval(const struct catalog *c, const struct catalog_entry *entry,
    struct err *e)
{
	struct str name = utf8_cut(entry->name, 64);

	return err_set(e, ERR_SCHEMA, "skill \"%.*s\" has no suite: neither "
	    "%.60s/%.*s/%.*s, nor evals/%.*s, %.*s or tests/%.*s in %.80s; "
	    "create one with: waza new eval %.*s", STRF(name), c->evals,
	    STRF(name), STRF(utf8_cut(c->eval_file, 30)),
	    STRF(utf8_cut(c->eval_file, 30)),
	    STRF(utf8_cut(c->eval_file, 30)),
	    STRF(utf8_cut(c->eval_file, 30)), entry->skill_dir, STRF(name));
}

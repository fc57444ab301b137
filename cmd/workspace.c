/* SPDX-License-Identifier: ISC */
/*
 * Finds the suites that operands name.
 *
 * A file is a suite.  A directory is the suite in it, else the suite of the
 * skill in it, else all suites of the workspace there, else all suites below
 * it.  Any other word without a slash and an ending is the name of a skill.
 */
#include "cmd/workspace.h"

#include <string.h>
#include <sys/stat.h>

#include "skill/catalog.h"
#include "suite/config.h"
#include "suite/spec.h"
#include "waza.h"

struct finder {
	struct cmd_call *call;
	const struct cmd_find *how;
	struct buf list;		/* of struct cmd_found */
	size_t skipped;
	struct catalog here;		/* of the working directory */
	bool has_here;
};

/* The first error as the call's err. */
static int
fail_with_note(struct cmd_call *c, const struct spec_notes *notes)
{
	const struct spec_note *n = notes->head;

	while (n != NULL && n->level != FIELD_ERROR)
		n = n->next;
	if (n == NULL)
		return err_set(c->err, ERR_SCHEMA, "the settings cannot be "
		    "read");
	if (n->at.line == 0)
		return err_set(c->err, ERR_SCHEMA, "%s: %s", n->at.file,
		    n->msg);
	return err_set(c->err, ERR_SCHEMA, "%s:%u:%u: %s", n->at.file,
	    n->at.line, n->at.col, n->msg);
}

int
cmd_catalog(struct cmd_call *c, const struct cmd_find *how, const char *dir,
    struct catalog *out)
{
	struct spec_notes notes = { .arena = c->arena };
	struct config_sources from = { .path = how->config_path,
		.json = how->config_json, .dir = dir, .token = c->token,
		.trust = how->trust };
	struct catalog_opts o = { .dir = dir,
		.walk = how->discover != NULL };

	o.config = config_load(c->arena, &from, &notes);
	if (o.config == NULL)
		return fail_with_note(c, &notes);
	return catalog_read(c->arena, &o, out, c->err);
}

/* Adds a suite, unless it has been added before. */
static void
add(struct finder *f, struct str name, const char *path)
{
	struct cmd_found new = { .name = name, .path = path }, *v;
	size_t i, n = f->list.n / sizeof(new);
	struct stat st;

	v = (struct cmd_found *)(void *)f->list.p;
	if (stat(path, &st) == 0) {
		new.dev = st.st_dev;
		new.ino = st.st_ino;
	}
	for (i = 0; i < n; i++)
		if (new.ino != 0 ? v[i].ino == new.ino && v[i].dev == new.dev :
		    strcmp(v[i].path, path) == 0)
			return;
	buf_put(&f->list, (struct str){ (const char *)&new, sizeof(new) });
}

/* Adds all suites of a catalog; -1 if it has none. */
static int
add_all(struct finder *f, const struct catalog *c)
{
	struct err *e = f->call->err;
	size_t i;

	if (c->n == 1 && c->nevals + c->nforeign == 0 &&
	    c->v[0].skill_dir != NULL)
		return catalog_no_eval(c, &c->v[0], e);
	if (c->nevals + c->nforeign == 0)
		return err_set(e, ERR_SCHEMA, "no suite found in workspace "
		    "%s: %s (searched %.*s); name an eval.yaml, or create one "
		    "with: waza new %s NAME", c->root, c->nskills > 0 ?
		    "none of its skills has one" : "it has no skill either",
		    STRF(utf8_cut(c->searched, 200)), c->nskills > 0 ?
		    "eval" : "skill");
	for (i = 0; i < c->n; i++)
		if (catalog_suite(&c->v[i]) != NULL)
			add(f, c->v[i].name, catalog_suite(&c->v[i]));
		else
			f->skipped++;
	return 0;
}

/* --discover: everything below a directory. */
static int
discover(struct finder *f, const char *root)
{
	struct cmd_find how = *f->how;
	struct catalog c;
	size_t i;

	how.discover = root;
	if (cmd_catalog(f->call, &how, root, &c) == -1)
		return -1;
	for (i = 0; f->how->strict && i < c.n; i++)
		if (catalog_suite(&c.v[i]) == NULL)
			return catalog_no_eval(&c, &c.v[i], f->call->err);
	return add_all(f, &c);
}

/* The suite in a directory, or NULL. */
static const char *
suite_in(struct cmd_call *c, const char *dir)
{
	static const char *const names[] = { "eval.yml", "eval.yaml" };
	const char *path;
	size_t i;

	for (i = 0; i < COUNTOF(names); i++) {
		path = spec_join(c->arena, dir, str_of(names[i]));
		if (spec_exists(path))
			return path;
	}
	return NULL;
}

static int
add_dir(struct finder *f, const char *dir)
{
	const char *own = suite_in(f->call, dir);
	struct catalog c;

	if (own != NULL) {
		add(f, STR(""), own);
		return 0;
	}
	if (cmd_catalog(f->call, f->how, dir, &c) == -1)
		return -1;
	if (c.nevals + c.nforeign > 0 && (c.single || f->call->nargs == 0 ||
	    spec_same_dir(c.root, dir)))
		return add_all(f, &c);
	if (c.single || f->call->nargs == 0)
		return add_all(f, &c);
	return discover(f, dir);
}

static int
add_name(struct finder *f, struct str name)
{
	const struct catalog_entry *e;

	if (!f->has_here && cmd_catalog(f->call, f->how, ".", &f->here) == -1)
		return -1;
	f->has_here = true;
	e = catalog_find(&f->here, name);
	if (e == NULL)
		return catalog_not_found(&f->here, name, f->call->err);
	if (catalog_suite(e) == NULL)
		return catalog_no_eval(&f->here, e, f->call->err);
	add(f, e->name, catalog_suite(e));
	return 0;
}

static int
add_operand(struct finder *f, const char *word)
{
	struct stat st;

	if (!catalog_is_path(word))
		return add_name(f, str_of(word));
	if (stat(word, &st) == 0 && S_ISDIR(st.st_mode))
		return add_dir(f, word);
	add(f, STR(""), word);
	return 0;
}

static int
find(struct finder *f)
{
	struct cmd_call *c = f->call;
	const char *root = f->how->discover;
	size_t i;

	if (root != NULL && *root != '\0' && c->nargs > 0)
		return err_set(c->err, ERR_SCHEMA, "unexpected argument: %s "
		    "(--discover searches %s)", c->args[0], root);
	if (root != NULL && c->nargs == 0)
		return discover(f, *root != '\0' ? root : ".");
	if (c->nargs == 0 && spec_exists("eval.yaml")) {
		add(f, STR(""), "eval.yaml");
		return 0;
	}
	if (c->nargs == 0)
		return add_dir(f, ".");
	for (i = 0; i < c->nargs; i++)
		if ((root != NULL ? discover(f, c->args[i]) :
		    add_operand(f, c->args[i])) == -1)
			return -1;
	return 0;
}

int
cmd_find_suites(struct cmd_call *c, const struct cmd_find *how,
    struct cmd_found **out, size_t *n, size_t *skipped)
{
	struct finder f = { .call = c, .how = how };
	int r = find(&f);

	*skipped = f.skipped;
	*n = f.list.n / sizeof(**out);
	*out = NEW_N(c->arena, struct cmd_found, *n);
	if (*n > 0)
		memcpy(*out, f.list.p, f.list.n);
	buf_free(&f.list);
	return r;
}

int
cmd_find_suite(struct cmd_call *c, const struct cmd_find *how,
    const char **path)
{
	struct cmd_found *v;
	size_t n, skipped;

	if (cmd_find_suites(c, how, &v, &n, &skipped) == -1)
		return -1;
	if (n > 1)
		return err_set(c->err, ERR_SCHEMA, "%s has %zu suites: name "
		    "one, such as %s", c->nargs > 0 ? c->args[0] :
		    "the workspace", n, v[0].path);
	*path = v[0].path;
	return 0;
}

int
cmd_list_suites(struct cmd_call *c, const struct cmd_find *how,
    const char *operand, struct field_strs *out)
{
	struct finder f = { .call = c, .how = how };
	struct str *one = NEW(c->arena, struct str);
	struct catalog cat;
	struct stat st;

	if (stat(operand, &st) == 0 && S_ISDIR(st.st_mode))
		return cmd_catalog(c, how, operand, &cat) == -1 ? -1 :
		    catalog_list(c->arena, &cat, operand, out, c->err);
	*one = str_of(operand);
	if (!catalog_is_path(operand)) {
		if (add_name(&f, *one) == -1)
			return -1;
		*one = str_of(((struct cmd_found *)(void *)f.list.p)->path);
		buf_free(&f.list);
	}
	*out = (struct field_strs){ one, 1 };
	return 0;
}

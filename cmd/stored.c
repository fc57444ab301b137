/* SPDX-License-Identifier: ISC */
/* Finds results files by the names of their suites, and by their age. */
#include "cmd/stored.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/workspace.h"
#include "results/history.h"
#include "skill/catalog.h"
#include "suite/config.h"
#include "suite/spec.h"
#include "waza.h"

/* The files, newest first; everything lives in the call's arena. */
struct stored {
	struct arena *arena;
	struct catalog cat;
	const char *dir;		/* the default place */
	struct buf list;		/* of struct history_file */
	struct history_file *v;
	size_t n;
};

int
cmd_stored_dir(struct cmd_call *c, const char **dir)
{
	struct spec_notes notes = { .arena = c->arena };
	struct config_sources from = { .token = c->token };
	const struct config *config = config_load(c->arena, &from, &notes);

	if (config == NULL)
		return err_set(c->err, ERR_SCHEMA, "the settings cannot be "
		    "read");
	*dir = history_dir(c->arena, config->project_dir != NULL ?
	    config->project_dir : ".");
	return 0;
}

/* The files of a directory of --output-dir, and of those in it. */
static void
add_stamp(struct stored *s, const char *dir, struct str stamp, bool deeper)
{
	struct history_file f = { .stamp = stamp };
	struct field_strs names;
	size_t i;

	if (spec_list(s->arena, dir, &names) == -1)
		return;
	for (i = 0; i < names.n; i++) {
		f.path = spec_join(s->arena, dir, names.v[i]);
		if (!str_ends(names.v[i], STR(".json"))) {
			if (deeper)
				add_stamp(s, f.path, stamp, false);
		} else if (!str_is(names.v[i], "summary.json"))
			buf_put(&s->list, (struct str){ (const char *)&f,
			    sizeof(f) });
	}
}

static int
newest_first(const void *x, const void *y)
{
	const struct history_file *a = x, *b = y;
	int c = str_cmp(b->stamp, a->stamp);

	return c != 0 ? c : strcmp(a->path, b->path);
}

static int
list(struct cmd_call *c, struct stored *s)
{
	struct cmd_find how = { 0 };
	struct field_strs names = { 0 };
	struct history_file *kept;
	size_t i, n;

	s->arena = c->arena;
	if (cmd_catalog(c, &how, ".", &s->cat) == -1 ||
	    cmd_stored_dir(c, &s->dir) == -1)
		return -1;
	(void)spec_list(c->arena, s->cat.results, &names);
	for (i = 0; i < names.n; i++)
		if (history_is_stamp(names.v[i]))
			add_stamp(s, spec_join(c->arena, s->cat.results,
			    names.v[i]), names.v[i], true);
	kept = history_list(c->arena, s->dir, &n);
	buf_put(&s->list, (struct str){ (const char *)kept,
	    n * sizeof(*kept) });
	s->n = s->list.n / sizeof(*s->v);
	s->v = NEW_N(c->arena, struct history_file, s->n);
	if (s->n > 0) {
		memcpy(s->v, s->list.p, s->list.n);
		qsort(s->v, s->n, sizeof(*s->v), newest_first);
	}
	buf_free(&s->list);
	return 0;
}

/* The file of that age for which the name is right; *found: how many. */
static const char *
pick(const struct stored *s, struct str name, bool skill, size_t age,
    size_t *found)
{
	struct history_head h;
	size_t i;

	for (i = *found = 0; i < s->n; i++)
		if (history_head(s->arena, s->v[i].path, &h) &&
		    h.run_id.n > 0 && (name.n == 0 || str_eq(h.suite, name) ||
		    (skill && str_eq(h.skill, name))) && (*found)++ == age)
			return s->v[i].path;
	return NULL;
}

/* NAME or NAME~N. */
static struct str
split_age(const char *word, size_t *age)
{
	struct str s = str_of(word);
	size_t i = s.n, n = 0, unit = 1;

	while (i > 0 && s.p[i - 1] >= '0' && s.p[i - 1] <= '9' &&
	    unit < 10000) {
		n += unit * (size_t)(s.p[--i] - '0');
		unit *= 10;
	}
	*age = 0;
	if (i == s.n || i == 0 || s.p[i - 1] != '~')
		return s;
	*age = n;
	return (struct str){ s.p, i - 1 };
}

const char *
cmd_find_results(struct cmd_call *c, const char *word)
{
	struct stored s = { 0 };
	size_t age, found;
	struct str name = split_age(word, &age);
	const char *path;

	if (catalog_is_path(word))
		return word;
	if (list(c, &s) == -1)
		return NULL;
	path = pick(&s, name, true, age, &found);
	if (path != NULL)
		return path;
	if (found == 0 && catalog_find(&s.cat, name) == NULL)
		catalog_not_found(&s.cat, name, c->err);
	else
		err_set(c->err, ERR_SCHEMA, "\"%.*s\" has %zu results in %s "
		    "and %s: write some with waza run %.*s",
		    STRF(utf8_cut(name, 64)), found, s.cat.results, s.dir,
		    STRF(utf8_cut(name, 64)));
	return NULL;
}

static const char *
latest(struct cmd_call *c, const struct stored *s, struct str suite,
    size_t age)
{
	size_t found;
	const char *path = pick(s, suite, false, age, &found);

	if (path != NULL)
		return path;
	if (suite.n == 0)
		err_set(c->err, ERR_SCHEMA, "no results in %s: name a results "
		    "file, or write one with waza run", s->dir);
	else
		err_set(c->err, ERR_SCHEMA, "suite \"%.*s\" has %zu results "
		    "in %s: name a results file, or write one with waza run",
		    STRF(utf8_cut(suite, 64)), found, s->dir);
	return NULL;
}

const char *
cmd_latest_results(struct cmd_call *c, struct str suite, size_t age)
{
	struct stored s = { 0 };

	return list(c, &s) == -1 ? NULL : latest(c, &s, suite, age);
}

int
cmd_last_two(struct cmd_call *c, const char *paths[2], size_t n)
{
	struct stored s = { 0 };
	struct history_head h = { 0 };

	if (list(c, &s) == -1)
		return -1;
	if (n == 0) {
		paths[1] = latest(c, &s, STR(""), 0);
		if (paths[1] == NULL)
			return -1;
		(void)history_head(c->arena, paths[1], &h);
		paths[0] = latest(c, &s, h.suite, 1);
		return paths[0] == NULL ? -1 : 0;
	}
	paths[0] = cmd_find_results(c, paths[0]);
	if (paths[0] == NULL)
		return -1;
	if (access(paths[0], R_OK) == -1)
		return err_sys(c->err, paths[0]);
	if (!history_head(c->arena, paths[0], &h))
		return err_set(c->err, ERR_SCHEMA, "%s: is not a file: name a "
		    "results file", paths[0]);
	paths[1] = latest(c, &s, h.suite, 0);
	return paths[1] == NULL ? -1 : 0;
}

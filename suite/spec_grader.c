/* SPDX-License-Identifier: ISC */
/*
 * Entries of `graders:`.  An entry is a type, a name, a weight and settings;
 * this file does not know the grader types.
 *
 * Settings are under `config:`, as the format defines, or beside `type:`, as
 * in many suites, or in both places; a grader gets one mapping with all of
 * them.  If a setting is given twice, the one under `config:` takes
 * precedence, except for `assertions`, as the format requires.
 *
 * Names are keys in the results, so the graders of a task and those of the
 * suite need different names.  The first of several equal names is kept; a
 * missing name is made from the type.
 */
#include "suite/spec_internal.h"

#include <stdlib.h>

struct entry {
	struct str type, name, ref;
	double weight;
	const struct json *config, *assertions;
};

static const struct field entry_rows[] = {
	FIELD(entry, type, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "kind of the grader"),
	SPEC_KEY(entry, ref, FIELD_STR, .values = FIELD_FILES,
	    .help = "file with a preset, which this entry overrides"),
	SPEC_KEY(entry, name, FIELD_STR,
	    .help = "unique name in the results"),
	SPEC_KEY(entry, weight, FIELD_NUM,
	    .help = "weight in the score of the task, above 0"),
	SPEC_KEY(entry, config, FIELD_TREE,
	    .help = "settings of the kind; they can also be beside type"),
	SPEC_KEY(entry, assertions, FIELD_TREE,
	    .help = "expressions of a code grader; they take precedence over those of config"),
};
static const struct entry no_entry = { .weight = 1 };
const struct field_table spec_grader_table = { entry_rows,
	COUNTOF(entry_rows), sizeof(struct entry), &no_entry };

static bool
is_setting(const struct json *v)
{
	return field_find(&spec_grader_table, json_key(v)) == NULL;
}

/* All settings in one mapping. */
static const struct json *
settings(struct arena *a, const struct json *entry, const struct json *config,
    const struct json *assertions)
{
	struct json_mem mem = { arena_hook, a };
	struct json *obj = NEW(a, struct json), **tail = &obj->u.child;
	const struct json *v;

	obj->type = JSON_OBJECT;
	obj->line = config != NULL ? config->line : entry->line;
	obj->col = config != NULL ? config->col : entry->col;
	for (v = json_first(config); v != NULL; v = v->next)
		if (assertions == NULL || !str_is(json_key(v), "assertions"))
			spec_append(a, obj, &tail, v, NULL);
	for (v = json_first(entry); v != NULL; v = v->next)
		if ((assertions != NULL && v == assertions) || (is_setting(v) &&
		    json_get(config, json_key(v)) == NULL))
			spec_append(a, obj, &tail, v, NULL);
	json_seal(&mem, obj, true);
	return obj;
}

const struct json *
spec_grader_settings(struct arena *a, const struct json *entry)
{
	const struct json *config = json_getc(entry, "config");

	return settings(a, entry, config != NULL &&
	    config->type == JSON_OBJECT ? config : NULL, NULL);
}

static bool
has_setting(const struct json *entry)
{
	const struct json *v;

	for (v = json_first(entry); v != NULL; v = v->next)
		if (is_setting(v))
			return true;
	return false;
}

static bool
read_entry(struct spec_loader *l, const char *file, const struct json *v,
    struct spec_grader *g)
{
	struct entry e = no_entry;
	const struct json *at = v;

	if (spec_given(json_getc(v, "ref")) &&
	    (v = spec_use_preset(l, file, v)) == NULL)
		return false;
	if (spec_decode_open(l, file, &spec_grader_table, v, &e) > 0)
		return false;
	if (e.config != NULL && e.config->type != JSON_OBJECT) {
		spec_object(l, file, e.config);
		return false;
	}
	if (!(e.weight > 0)) {
		spec_warning(l, file, json_getc(v, "weight"), "weight",
		    "\"weight\" must be greater than 0; using 1");
		e.weight = 1;
	}
	if (e.assertions != NULL && e.assertions->type == JSON_ARRAY &&
	    json_count(e.assertions) == 0)
		e.assertions = NULL;
	g->type = e.type;
	g->name = str_trim(e.name);
	g->weight = e.weight;
	g->at = spec_at(file, at);
	g->config = e.config;
	if (e.config == NULL || e.assertions != NULL || has_setting(v))
		g->config = settings(l->arena, v, e.config, e.assertions);
	return true;
}

void
spec_read_graders(struct spec_loader *l, const char *file,
    const struct json *list, struct spec_graders *out)
{
	const struct json *v;

	list = spec_array(l, file, list);
	if (list == NULL)
		return;
	out->v = NEW_N(l->arena, struct spec_grader, json_count(list));
	for (v = json_first(list); v != NULL; v = v->next)
		if (read_entry(l, file, v, &out->v[out->n]))
			out->n++;
}

struct named {
	struct str name;	/* first, for str_order() */
	size_t index;
	bool made;		/* made from the type, not given */
};

static int
by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int r = str_cmp(x->name, y->name);

	if (r != 0)
		return r;
	if (x->made != y->made)
		return x->made ? 1 : -1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static bool
is_suite_name(const struct spec_loader *l, struct str name)
{
	return l->names != NULL && l->suite->graders.n > 0 && bsearch(&name,
	    l->names, l->suite->graders.n, sizeof(name), str_order) != NULL;
}

/*
 * The name with the next free number appended.  After ten numbers that are
 * taken the steps double; otherwise many tasks that avoid many names of the
 * suite would take quadratic time.
 */
static struct str
numbered_name(struct spec_loader *l, const struct named *v, size_t n,
    struct str name, unsigned *k)
{
	struct arena_mark mark = arena_save(&l->scratch);
	unsigned tries = 0, step = 1;
	struct str s;

	for (;; *k += step) {
		s = arena_fmt(&l->scratch, "%.*s-%u", STRF(name), *k);
		if (!is_suite_name(l, s) &&
		    bsearch(&s, v, n, sizeof(*v), str_order) == NULL)
			break;
		arena_restore(&l->scratch, mark);
		step = ++tries < 10 ? 1 : step * 2;
	}
	s = arena_str(l->arena, s);
	arena_restore(&l->scratch, mark);
	++*k;
	return s;
}

static void
rename_one(struct spec_loader *l, struct spec_grader *g, bool made,
    struct str name)
{
	if (!made)
		spec_note_key(l->notes, FIELD_WARNING, g->at, STR("name"),
		    "duplicate grader name \"%.*s\"; this one is renamed "
		    "to \"%.*s\"", SPEC_SHORT(g->name), SPEC_SHORT(name));
	g->name = name;
}

void
spec_name_graders(struct spec_loader *l, const struct spec_graders *g)
{
	struct arena_mark mark = arena_save(&l->scratch);
	struct named *v = NEW_N(&l->scratch, struct named, g->n + 1);
	unsigned k = 2;
	size_t i;

	for (i = 0; i < g->n; i++) {
		v[i].made = g->v[i].name.n == 0;
		v[i].name = v[i].made ? g->v[i].type : g->v[i].name;
		v[i].index = i;
	}
	if (g->n > 1)
		qsort(v, g->n, sizeof(*v), by_name);
	for (i = 0; i < g->n; i++) {
		if (i == 0 || !str_eq(v[i].name, v[i - 1].name)) {
			k = 2;
			if (!is_suite_name(l, v[i].name)) {
				g->v[v[i].index].name = v[i].name;
				continue;
			}
		}
		rename_one(l, &g->v[v[i].index], v[i].made,
		    numbered_name(l, v, g->n, v[i].name, &k));
	}
	arena_restore(&l->scratch, mark);
	if (g != &l->suite->graders || g->n == 0)
		return;
	l->names = NEW_N(l->arena, struct str, g->n);
	for (i = 0; i < g->n; i++)
		l->names[i] = g->v[i].name;
	qsort(l->names, g->n, sizeof(*l->names), str_order);
}

bool
spec_grader_compares(const struct spec_grader *g)
{
	const struct json *mode = json_getc(g->config, "mode");

	return str_is(g->type, "prompt") && mode != NULL &&
	    mode->type == JSON_STRING && str_is(json_text(mode), "pairwise");
}

/* SPDX-License-Identifier: ISC */
/*
 * Entries of `graders:`.  Which kinds there are is not known here: an entry
 * is a type, a name, a weight and settings.
 *
 * Settings stand under `config:`, as the format has it, or beside `type:`, as
 * many suites have it, or in both places; a grader gets one mapping of them.
 * Where a setting is given twice, the one under `config:` counts, except for
 * `assertions`, of which the format says otherwise.
 *
 * Names are keys in the results, so those of a task, the suite's among them,
 * have to differ.  Of equal names the first stays; names that were not given
 * are made from the type.
 */
#include "suite/spec_internal.h"

#include <stdlib.h>

#include "json.h"

struct entry {
	struct str type, name;
	double weight;
	const struct json *config, *assertions;
};

static const struct field entry_rows[] = {
	FIELD(entry, type, FIELD_STR, .flags = FIELD_REQUIRED),
	FIELD(entry, name, FIELD_STR, .help = "in reports"),
	FIELD(entry, weight, FIELD_NUM, .help = "in the weighted score"),
	FIELD(entry, config, FIELD_TREE, .help = "its settings"),
	FIELD(entry, assertions, FIELD_TREE, .help = "a setting"),
};
static const struct field_table entry_table = FIELD_TABLE(entry, entry_rows);

static bool
is_setting(const struct json *v)
{
	return field_find(&entry_table, json_key(v)) == NULL;
}

/* Whether `assertions` has something that goes into the settings. */
static bool
has_assertions(const struct json *v)
{
	return v != NULL && (v->type != JSON_ARRAY || json_count(v) > 0);
}

static void
append(struct arena *a, struct json *obj, struct json ***tail,
    const struct json *v)
{
	struct json *copy = NEW(a, struct json);

	*copy = *v;
	copy->next = NULL;
	**tail = copy;
	*tail = &copy->next;
	obj->n++;
}

/* One mapping of all settings. */
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
	for (v = spec_first(config); v != NULL; v = v->next)
		if (assertions == NULL || !str_is(json_key(v), "assertions"))
			append(a, obj, &tail, v);
	for (v = json_first(entry); v != NULL; v = v->next)
		if (v == assertions || (is_setting(v) &&
		    json_get(config, json_key(v)) == NULL))
			append(a, obj, &tail, v);
	json_seal(&mem, obj, true);
	return obj;
}

static bool
any_setting(const struct json *entry)
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
	struct spec_source src = { l->notes, file };
	struct field_ctx ctx = { .arena = l->arena, .report = spec_report,
		.ctx = &src, .flags = FIELD_LAX | FIELD_OPEN };
	struct entry e = { .weight = 1 };

	if (field_decode(&ctx, &entry_table, v, &e) > 0)
		return false;
	if (e.config != NULL && e.config->type != JSON_OBJECT) {
		spec_object(l, file, e.config);
		return false;
	}
	if (!(e.weight > 0)) {
		spec_note_key(l->notes, FIELD_WARNING, spec_at(file,
		    json_getc(v, "weight")), STR("weight"),
		    "\"weight\" must be above 0; it is taken as 1");
		e.weight = 1;
	}
	if (!has_assertions(e.assertions))
		e.assertions = NULL;
	g->type = e.type;
	g->name = spec_trim(e.name);
	g->weight = e.weight;
	g->at = spec_at(file, v);
	g->config = e.config;
	if (e.config == NULL || e.assertions != NULL || any_setting(v))
		g->config = settings(l->arena, v, e.config, e.assertions);
	return true;
}

void
spec_read_graders(struct spec_loader *l, const char *file,
    const struct json *list, struct spec_graders *out)
{
	const struct json *v;

	if (list == NULL || list->type == JSON_NULL)
		return;
	if (list->type != JSON_ARRAY) {
		spec_note_key(l->notes, FIELD_ERROR, spec_at(file, list),
		    STR("graders"), "\"graders\" must be a list, not %s",
		    json_type_name((enum json_type)list->type));
		return;
	}
	out->v = NEW_N(l->arena, struct spec_grader, json_count(list));
	for (v = json_first(list); v != NULL; v = v->next)
		if (read_entry(l, file, v, &out->v[out->n]))
			out->n++;
}

struct named {
	struct str name;
	size_t index;
	bool made;		/* from the type */
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

static int
same_name(const void *key, const void *elem)
{
	return str_cmp(*(const struct str *)key, ((const struct named *)
	    elem)->name);
}

static int
cmp_str(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static bool
of_suite(const struct spec_loader *l, struct str name)
{
	return l->names != NULL && l->suite->graders.n > 0 && bsearch(&name,
	    l->names, l->suite->graders.n, sizeof(name), cmp_str) != NULL;
}

/*
 * Another name for one that is taken: with a number behind it.  After a few
 * numbers that are taken too, the steps grow, or many tasks that avoid many
 * names of the suite would take the product of both.
 */
static struct str
another(struct spec_loader *l, const struct named *v, size_t n,
    struct str name, unsigned *k)
{
	struct arena_mark mark = arena_save(&l->scratch);
	unsigned tries = 0, step = 1;
	struct str s;

	for (;; *k += step) {
		s = arena_fmt(&l->scratch, "%.*s-%u", STRF(name), *k);
		if (!of_suite(l, s) &&
		    bsearch(&s, v, n, sizeof(*v), same_name) == NULL)
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
		    "another grader is called \"%.*s\" too; this one is "
		    "taken as \"%.*s\"", STRF(spec_short(g->name)),
		    STRF(spec_short(name)));
	g->name = name;
}

void
spec_name_graders(struct spec_loader *l, struct spec_graders *g)
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
			if (!of_suite(l, v[i].name)) {
				g->v[v[i].index].name = v[i].name;
				continue;
			}
		}
		rename_one(l, &g->v[v[i].index], v[i].made,
		    another(l, v, g->n, v[i].name, &k));
	}
	arena_restore(&l->scratch, mark);
	if (g != &l->suite->graders || g->n == 0)
		return;
	l->names = NEW_N(l->arena, struct str, g->n);
	for (i = 0; i < g->n; i++)
		l->names[i] = g->v[i].name;
	qsort(l->names, g->n, sizeof(*l->names), cmp_str);
}

bool
spec_grader_compares(const struct spec_grader *g)
{
	const struct json *mode = json_getc(g->config, "mode");

	return str_is(g->type, "prompt") && mode != NULL &&
	    mode->type == JSON_STRING && str_is(json_text(mode), "pairwise");
}

/* SPDX-License-Identifier: ISC */
/*
 * The prompt of a fix: a template and its variables.
 *
 * A variable's value is text that is ready for a prompt, so that a template
 * needs neither loops nor conditions; a block without content is empty, its
 * heading included.
 */
#include "rpc/session_internal.h"

#include "io/workspace_scan.h"
#include "json.h"
#include "lib/tmpl.h"

enum {
	LIST_FILES = 500,	/* names in a prompt */
	LIST_BYTES = 32 << 10
};

const char session_template[] =
    "{{.Vars.history}}"
    "Fix the incidents below that were found in the project in\n"
    "{{.Vars.working_dir}}, your working directory, by editing its files.\n"
    "Change what the incidents need and nothing else. Say at the end in a few\n"
    "sentences what you have changed and why, and which incidents you could\n"
    "not fix.\n"
    "\n"
    "{{.Vars.migration}}"
    "Incidents ({{.Vars.count}}):\n"
    "\n"
    "{{.Vars.incidents}}"
    "{{.Vars.files}}"
    "{{.Vars.excluded}}";

/* Indents the lines of a text after the first. */
static void
put_text(struct buf *b, struct str s, const char *indent)
{
	size_t i;

	while (s.n > 0 && (unsigned char)s.p[s.n - 1] <= ' ')
		s.n--;
	for (i = 0; i < s.n; i++) {
		buf_putc(b, s.p[i]);
		if (s.p[i] == '\n')
			buf_puts(b, indent);
	}
	buf_putc(b, '\n');
}

static void
put_line(struct buf *b, const char *label, struct str s)
{
	if (s.n == 0)
		return;
	buf_puts(b, "   ");
	buf_puts(b, label);
	put_text(b, s, "   ");
}

static void
put_incident(struct buf *b, const struct session_incident *x, size_t i)
{
	const char *sep = " (";

	buf_fmt(b, "%zu. ", i + 1);
	buf_put(b, x->id);
	buf_puts(b, ": ");
	buf_put(b, x->rule_id);
	if (x->severity >= 0) {
		buf_fmt(b, "%sseverity %s", sep,
		    session_severities[x->severity]);
		sep = ", ";
	}
	if (x->effort >= 0) {
		buf_fmt(b, "%seffort %s", sep, session_efforts[x->effort]);
		sep = ", ";
	}
	buf_puts(b, *sep == ',' ? ")\n" : "\n");
	put_line(b, "", x->message);
	put_line(b, "", x->description);
	if (x->uri.n > 0 && x->line_number > 0) {
		buf_puts(b, "   In ");
		buf_put(b, x->uri);
		buf_fmt(b, ", line %lld\n", (long long)x->line_number);
	} else
		put_line(b, "In ", x->uri);
	put_line(b, "Code: ", x->code_snip);
	buf_putc(b, '\n');
}

static void
put_incidents(struct buf *b, const struct session_params *p)
{
	const struct session_incident *v = p->incidents.v;
	size_t i;

	for (i = 0; i < p->incidents.n; i++)
		put_incident(b, &v[i], i);
}

static void
put_hints(struct buf *b, const struct session_params *p)
{
	size_t i;

	for (i = 0; i < p->hints.n; i++) {
		buf_puts(b, "- ");
		put_text(b, p->hints.v[i], "  ");
	}
}

static void
put_migration(struct buf *b, const struct session_params *p)
{
	if (p->source.n == 0 && p->target.n == 0 && p->hints.n == 0)
		return;
	buf_puts(b, "They are about a migration");
	if (p->source.n > 0) {
		buf_puts(b, " from ");
		buf_put(b, p->source);
	}
	if (p->target.n > 0) {
		buf_puts(b, " to ");
		buf_put(b, p->target);
	}
	buf_puts(b, ".\n");
	if (p->hints.n > 0)
		buf_puts(b, "Hints:\n");
	put_hints(b, p);
	buf_putc(b, '\n');
}

void
session_put_request(struct buf *b, const struct session_params *p)
{
	put_migration(b, p);
	put_incidents(b, p);
}

/* A file name with a line break would look like two. */
static bool
is_one_line(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ')
			return false;
	return true;
}

static void
put_files(struct buf *b, const struct workspace_scan *l)
{
	size_t i, from = b->n;

	if (l == NULL || l->nfiles == 0)
		return;
	buf_puts(b, "Its files:\n\n");
	for (i = 0; i < l->nfiles && i < LIST_FILES &&
	    b->n - from < LIST_BYTES; i++) {
		if (!is_one_line(l->files[i]))
			continue;
		buf_put(b, l->files[i]);
		buf_putc(b, '\n');
	}
	if (i < l->nfiles)
		buf_fmt(b, "and %zu more\n", l->nfiles - i);
	buf_putc(b, '\n');
}

static void
put_patterns(struct buf *b, const struct field_strs *v)
{
	size_t i;

	for (i = 0; i < v->n; i++) {
		if (i > 0)
			buf_puts(b, ", ");
		buf_put(b, v->v[i]);
	}
}

static void
put_excluded(struct buf *b, const struct session_params *p)
{
	const struct session_workspace *w = &p->workspace;

	if (w->include_patterns.n > 0) {
		buf_puts(b, "Change only files that match: ");
		put_patterns(b, &w->include_patterns);
		buf_putc(b, '\n');
	}
	if (w->exclude_patterns.n > 0) {
		buf_puts(b, "Do not change files that match: ");
		put_patterns(b, &w->exclude_patterns);
		buf_putc(b, '\n');
	}
}

static void
put_history(struct buf *b, const struct session_turn *s)
{
	if (s == NULL)
		return;
	buf_puts(b, "This is what was said so far; continue with the last "
	    "message of the user.\n\n");
	for (; s != NULL; s = s->next) {
		buf_puts(b, "User:\n");
		buf_put(b, buf_str(&s->asked));
		buf_puts(b, "\nAssistant:\n");
		buf_put(b, buf_str(&s->answered));
		buf_puts(b, "\n\n");
	}
	buf_puts(b, "User:\n");
}

/*
 * Variables.
 */
static void
put_var(struct json_out *o, const char *key, struct buf *b)
{
	json_put_member_str(o, key, buf_str(b));
	b->n = 0;
}

static void
put_tree_var(struct json_out *o, const char *key, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out inner = { .put = buf_sink, .ctx = &b };

	if (v != NULL)
		json_put(&inner, v);
	put_var(o, key, &b);
	buf_free(&b);
}

static void
put_vars(struct json_out *o, const struct session_params *p,
    const struct workspace_scan *l, const struct session_turn *history)
{
	struct buf b = { 0 };

	json_put_member_str(o, "working_dir", str_of(p->dir));
	json_put_member_str(o, "provider", p->model.provider);
	json_put_member_str(o, "model_id", p->model.model_id);
	json_put_member_int(o, "count", (int64_t)p->incidents.n);
	put_incidents(&b, p);
	put_var(o, "incidents", &b);
	put_tree_var(o, "incidents_json", p->incidents_json);
	put_migration(&b, p);
	put_var(o, "migration", &b);
	put_tree_var(o, "migration_json", p->migration);
	json_put_member_str(o, "source_technology", p->source);
	json_put_member_str(o, "target_technology", p->target);
	put_hints(&b, p);
	put_var(o, "migration_hints", &b);
	put_files(&b, l);
	put_var(o, "files", &b);
	put_excluded(&b, p);
	put_var(o, "excluded", &b);
	put_history(&b, history);
	put_var(o, "history", &b);
	buf_free(&b);
}

struct str
session_prompt(struct arena *a, struct str template,
    const struct session_params *p, const struct workspace_scan *l,
    const struct session_turn *history, struct err *e)
{
	struct tmpl_vars vars = { .task_name = STR("generate_fix"),
		.iteration = 1, .attempt = 1 };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	put_vars(&o, p, l, history);
	json_close(&o, '}');
	vars.vars[0] = arena_json(a, arena_take(a, &b), NULL);
	return tmpl_render(a, template, &vars, e);
}

int
session_check_template(struct arena *a, struct str template, struct err *e)
{
	static const struct session_params none = { .dir = "/" };

	return session_prompt(a, template, &none, NULL, NULL, e).p == NULL ?
	    -1 : 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * Diagnostics: what `waza validate` and `waza check` report, of the text in the
 * editor.
 *
 * A suite is checked as a whole, with the tasks and trigger tests that it
 * names, so a finding can be about a file that is not open; the client gets
 * those of each file.  A task whose suite is not found, and settings, are
 * checked by their schema.  The suite of a task is searched for in its
 * directory and the two above it.
 *
 * Documents are checked from a timer, some time after the last change, so that
 * a check does not delay the answer to a key.
 */
#include "editor/lsp_internal.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/os.h"
#include "grader.h"
#include "lib/schema/schema.h"
#include "skill/check.h"
#include "suite/config.h"
#include "suite/spec.h"
#include "yaml_lite.h"

enum { LEVELS = 3 };		/* directories searched for a suite */

struct finding {
	const char *file;
	unsigned line, col;	/* from 1; 0: the file as a whole */
	int severity;		/* 1 error, 2 warning, 3 information */
	struct str msg;
	const char *rule;	/* of waza check, or NULL */
};

struct checking {
	struct lsp *lsp;
	struct lsp_doc *doc;
	struct arena arena;
	struct buf findings;	/* of struct finding */
};

/* The editor's text of a file that is open. */
static bool
edited(void *lsp, const char *path, struct str *text)
{
	const struct lsp_doc *d = lsp_find_path(lsp, path);

	if (d == NULL)
		return false;
	*text = buf_str(&d->text);
	return true;
}

static void
add(struct checking *c, const struct finding *f)
{
	buf_put(&c->findings, (struct str){ (const char *)f, sizeof(*f) });
}

static void
add_err(struct checking *c, const struct err *e)
{
	struct finding f = { c->doc->path, e->line, e->col, 1,
		arena_str(&c->arena, str_of(e->msg)), NULL };

	add(c, &f);
}

/* Loads a suite as the editor has it. */
static struct spec_suite *
load(struct lsp *l, struct arena *a, const char *path,
    struct spec_notes *notes)
{
	*notes = (struct spec_notes){ .arena = a, .edited = edited,
		.editor = l };
	agent_expect(notes, STR(""));
	return spec_load_part(a, path, notes);
}

static void
check_suite(struct checking *c, const char *path)
{
	struct spec_notes notes;
	struct spec_suite *s = load(c->lsp, &c->arena, path, &notes);
	const struct spec_note *n;
	struct finding f;

	if (s != NULL) {
		agent_check_all(s, &notes);
		grader_check(s, &notes);
		agent_check_files(s, &notes);
	}
	for (n = notes.head; n != NULL; n = n->next) {
		f = (struct finding){ n->at.file != NULL ? n->at.file : path,
			n->at.line, n->at.col, n->level == FIELD_ERROR ? 1 : 2,
			str_of(n->msg), NULL };
		add(c, &f);
	}
}

static void
on_schema(void *arg, const struct schema_finding *s)
{
	struct checking *c = arg;
	bool key = s->key && s->value->key_col > 0;
	struct finding f = { .file = c->doc->path,
		.line = key ? s->value->key_line : s->value->line,
		.col = key ? s->value->key_col : s->value->col, .severity = 1 };

	f.msg = arena_fmt(&c->arena, "%.*s: %.*s", STRF(utf8_cut(s->at, 100)),
	    STRF(utf8_cut(s->msg, 400)));
	add(c, &f);
}

/* Settings, and tasks without a suite: by their schema. */
static void
check_schema(struct checking *c)
{
	const struct json *doc = lsp_schema(c->lsp, c->doc->kind), *v;
	struct schema *s;
	struct arena tmp = { 0 };
	struct err e = { 0 };

	v = yaml_read_one(&c->arena, buf_str(&c->doc->text), &e);
	if (v == NULL) {
		add_err(c, &e);
		return;
	}
	s = schema_compile(&c->arena, doc, NULL, &e);
	if (s != NULL && v->type != JSON_NULL)
		(void)schema_check(s, &tmp, v, on_schema, c, &e);
	arena_free(&tmp);
}

static bool
has_task(const struct spec_suite *s, const char *path)
{
	size_t i;

	for (i = 0; i < s->ntasks; i++)
		if (strcmp(s->tasks[i].at.file, path) == 0)
			return true;
	return s->triggers != NULL && strcmp(s->triggers->file, path) == 0;
}

const char *
lsp_suite_of(struct lsp_doc *d, struct arena *a)
{
	static const char *const names[] = { "eval.yaml", "eval.yml",
		"wazaEval.yaml" };
	const char *dir = spec_dir_of(a, d->path), *path;
	struct spec_notes notes;
	struct spec_suite *s;
	size_t level, i;

	for (level = 0; level < LEVELS && *d->path != '\0'; level++) {
		for (i = 0; i < COUNTOF(names); i++) {
			path = spec_join(a, dir, str_of(names[i]));
			if (!spec_exists(path))
				continue;
			s = load(d->lsp, a, path, &notes);
			if (s != NULL && has_task(s, d->path))
				return path;
		}
		dir = spec_dir_of(a, dir);
	}
	return NULL;
}

/*
 * A skill, as `waza check` examines it; its suite is a document of its own.
 * Links are those of the saved files.
 */
static void
check_skill_text(struct checking *c)
{
	static const int severities[] = { [CHECK_NOTE] = 3,
		[CHECK_WARNING] = 2, [CHECK_ERROR] = 1 };
	struct config_sources from = { .dir = spec_dir_of(&c->arena,
		c->doc->path) };
	struct spec_notes notes = { .arena = &c->arena };
	struct token_settings tokens;
	struct check_env env = { .tokens = &tokens,
		.text = buf_str(&c->doc->text) };
	const struct check_finding *v;
	struct check k;
	struct err e = { 0 };
	struct finding f;

	if (env.text.p == NULL)
		env.text = STR("");
	if (token_settings(&c->arena, &from, &tokens, &notes) == -1)
		return;			/* the settings have the finding */
	check_prepare(&c->arena, &env);
	if (check_skill(&c->arena, &env, c->doc->path, NULL, &k, &e) == -1) {
		add_err(c, &e);
		return;
	}
	check_finish(&k);
	for (v = k.findings; v != NULL; v = v->next) {
		if (strcmp(v->rule, "eval-missing") == 0)
			continue;	/* its suite was not searched for */
		f = (struct finding){ v->file, v->line, v->col,
			severities[v->severity], v->message, v->rule };
		add(c, &f);
	}
}

static void
check_doc(struct checking *c)
{
	const char *suite = NULL;

	switch (c->doc->kind) {
	case LSP_EVAL:
		check_suite(c, c->doc->path);
		break;
	case LSP_TASK: case LSP_TRIGGER:
		suite = lsp_suite_of(c->doc, &c->arena);
		if (suite != NULL) {
			check_suite(c, suite);
			break;
		}
		/* FALLTHROUGH */
	case LSP_CONFIG:
		check_schema(c);
		break;
	case LSP_SKILL:
		check_skill_text(c);
		break;
	case LSP_OTHER: case LSP_KIND__MAX:
		break;
	}
}

static int
by_place(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	int r = strcmp(x->file, y->file);

	if (r != 0)
		return r;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->col < y->col ? -1 : x->col > y->col;
}

/* The end of the word or string at an offset, at least one character. */
static size_t
word_end(struct str text, size_t from)
{
	size_t i = from;
	char quote;

	if (i < text.n && (text.p[i] == '"' || text.p[i] == '\'')) {
		for (quote = text.p[i++]; i < text.n && text.p[i] != quote &&
		    text.p[i] != '\n'; i++)
			;
		return i < text.n && text.p[i] == quote ? i + 1 : i;
	}
	while (i < text.n && text.p[i] != '\n' && text.p[i] != '\r' &&
	    text.p[i] != ',' && text.p[i] != ']' && text.p[i] != '}' &&
	    !(text.p[i] == ':' && (i + 1 == text.n || text.p[i + 1] == ' ' ||
	    text.p[i + 1] == '\n')) &&
	    !(text.p[i] == ' ' && i + 1 < text.n && text.p[i + 1] == '#'))
		i++;
	return i;
}

static void
put_finding(struct json_out *o, struct lsp_ruler *r, const struct finding *f)
{
	size_t from = f->line > 0 ? lsp_byte(r, f->line, f->col) : 0;
	struct lsp_range range = lsp_range(r, from, f->line > 0 ?
	    word_end(r->text, from) : 0);

	json_open(o, '{');
	lsp_put_range(o, "range", &range);
	json_put_member_int(o, "severity", f->severity);
	json_put_member_cstr(o, "source", "waza");
	if (f->rule != NULL)
		json_put_member_cstr(o, "code", f->rule);
	json_put_member_str(o, "message", f->msg);
	json_close(o, '}');
}

/* Tells the client all findings about a file; none withdraws them. */
static void
publish(struct lsp *l, struct str uri, struct str text,
    const struct finding *f, size_t n)
{
	struct lsp_ruler r = { .text = text };
	struct json_out *o;
	size_t i;

	if (l->peer == NULL)
		return;
	o = rpc_notify(l->peer, "textDocument/publishDiagnostics");
	json_open(o, '{');
	json_put_member_str(o, "uri", uri);
	json_open_member(o, "diagnostics", '[');
	for (i = 0; i < n && i < LSP_FINDINGS_MAX; i++)
		put_finding(o, &r, &f[i]);
	json_close(o, ']');
	json_close(o, '}');
	rpc_notify_end(l->peer);
}

static bool
is_told(const struct buf *list, struct str uri)
{
	const struct str *v = (const struct str *)(const void *)list->p;
	size_t i;

	for (i = 0; i < list->n / sizeof(*v); i++)
		if (str_eq(v[i], uri))
			return true;
	return false;
}

static void
tell(struct buf *list, struct arena *a, struct str uri)
{
	struct str copy = arena_str(a, uri);

	if (!is_told(list, uri))
		buf_put(list, (struct str){ (const char *)&copy,
		    sizeof(copy) });
}

/* The text of a file, for positions in it; empty if it cannot be read. */
static struct str
text_of(struct checking *c, const char *file)
{
	struct str text = STR("");
	struct err e;

	if (!edited(c->lsp, file, &text) && os_read_file(&c->arena, file,
	    LSP_TEXT_MAX, &text, &e) == -1)
		return STR("");
	return text;
}

/* The findings by file; then files that have none any more. */
static void
publish_all(struct checking *c)
{
	struct lsp_doc *d = c->doc;
	struct finding *f = (struct finding *)(void *)c->findings.p;
	const struct str *old = (const struct str *)(const void *)d->told.p;
	size_t n = c->findings.n / sizeof(*f), i, k;
	struct buf now = { 0 };
	struct str uri;

	if (n > 0)
		qsort(f, n, sizeof(*f), by_place);
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && strcmp(f[k].file, f[i].file) == 0; k++)
			;
		uri = strcmp(f[i].file, d->path) == 0 ? d->uri :
		    lsp_uri(&c->arena, f[i].file);
		publish(c->lsp, uri, text_of(c, f[i].file), f + i, k - i);
		tell(&now, &d->arena, uri);
	}
	if (!is_told(&now, d->uri))
		publish(c->lsp, d->uri, STR(""), NULL, 0);
	for (i = 0; i < d->told.n / sizeof(*old); i++)
		if (!is_told(&now, old[i]) && !str_eq(old[i], d->uri))
			publish(c->lsp, old[i], STR(""), NULL, 0);
	buf_free(&d->told);
	d->told = now;
}

void
lsp_withdraw(struct lsp_doc *d)
{
	const struct str *v = (const struct str *)(const void *)d->told.p;
	size_t i;

	for (i = 0; i < d->told.n / sizeof(*v); i++)
		publish(d->lsp, v[i], STR(""), NULL, 0);
}

void
lsp_check(struct lsp *l)
{
	struct checking c;
	struct lsp_doc *d;

	for (d = l->docs; d != NULL; d = d->next) {
		if (!d->stale)
			continue;
		d->stale = false;
		c = (struct checking){ .lsp = l, .doc = d };
		check_doc(&c);
		publish_all(&c);
		buf_free(&c.findings);
		arena_free(&c.arena);
	}
}

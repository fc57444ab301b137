/* SPDX-License-Identifier: ISC */
/*
 * `mcp_mocks` and `command_mocks`: checked, and with their fixtures, so that
 * later parts read no further files.
 *
 * The result is a tree of the same form: a list of servers with all their
 * `tools`, or a list of commands with all their `responses`, whose `args` are
 * strings.  `fixture` of a response stays a path relative to the suite.
 */
#include "suite/spec_internal.h"

#include "base/os.h"
#include "mock/mock.h"

struct reader {
	struct spec_loader *loader;
	const char *file;		/* of the list */
	const char *dir;		/* of fixtures */
	const struct json *list;
	struct json_out *out;
};

static struct field_ctx
context(struct spec_loader *l, struct spec_source *src, const char *path)
{
	return (struct field_ctx){ .arena = l->arena, .ctx = src, .path = path,
		.report = l->notes != NULL ? spec_report : NULL,
		.flags = FIELD_LAX | (l->notes != NULL && l->notes->strict ?
		(unsigned)FIELD_STRICT : 0) };
}

/* The path of a fixture that the suite may read; NULL after an error. */
static const char *
find_fixture(const struct reader *r, const struct json *at, struct str name)
{
	struct spec_loader *l = r->loader;
	const char *path = spec_path(l->arena, r->dir, name);

	if (l->alone) {
		spec_error(l, r->file, at, NULL, "\"%.*s\" needs a suite that "
		    "is a file", SPEC_SHORT(json_key(at)));
		return NULL;
	}
	return path != NULL && spec_allowed(l->notes, spec_at(r->file, at),
	    path) ? path : NULL;
}

static void
note_file(struct spec_loader *l, const char *file, const struct err *e)
{
	spec_note(l->notes, FIELD_ERROR, (struct spec_where){ file, e->line,
	    e->col }, "%s", spec_reason(e, file));
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool
same_name(struct str a, struct str b, bool fold)
{
	size_t i;

	for (i = 0; i < a.n && i < b.n; i++)
		if (fold ? lower(a.p[i]) != lower(b.p[i]) : a.p[i] != b.p[i])
			return false;
	return a.n == b.n;
}

/* Another entry of that name before this one. */
static bool
is_repeated(const struct reader *r, const struct json *v, struct str name,
    bool fold)
{
	const struct json *w;

	for (w = json_first(r->list); w != v; w = w->next)
		if (same_name(json_str(w, "name"), name, fold)) {
			spec_error(r->loader, r->file, json_getc(v, "name"),
			    NULL, "duplicate mock \"%.*s\"", SPEC_SHORT(name));
			return true;
		}
	return false;
}

/* All tools of a server; notes errors of each. */
static bool
read_tools(const struct reader *r, const struct json *v,
    const struct mock_server *s, struct mock_tools *all)
{
	struct spec_loader *l = r->loader;
	struct spec_source src = { l->notes, NULL };
	struct field_ctx ctx = context(l, &src, "tools");
	const char *file = r->file, *path;
	struct mock_tool t;
	struct err e = { 0 };
	size_t i, bad = 0;

	if (s->fixtures.n > 0) {
		path = find_fixture(r, json_getc(v, "fixtures"), s->fixtures);
		if (path == NULL)
			return false;
		if (mock_add_path(all, path, &file, &e) == -1) {
			note_file(l, file, &e);
			return false;
		}
	}
	if (mock_add_tools(all, s->tools, r->file, &e) == -1) {
		note_file(l, r->file, &e);
		return false;
	}
	for (i = 0; i < all->n; i++) {
		src.file = all->v[i].file;
		bad += mock_read_tool(&ctx, all->v[i].tree, all->v[i].name, &t);
		if (bad == 0 && t.responses.n == 0 && !s->passthrough) {
			spec_error(l, src.file, all->v[i].tree, NULL, "tool "
			    "\"%.*s\" has no responses: every call of it "
			    "would fail", SPEC_SHORT(all->v[i].name));
			bad++;
		}
	}
	if (all->n == 0 && !s->passthrough) {
		spec_error(l, r->file, v, NULL, "the mock \"%.*s\" has no "
		    "tools", SPEC_SHORT(s->name));
		bad++;
	}
	return bad == 0;
}

static void
read_server(const struct reader *r, const struct json *v)
{
	struct spec_source src = { r->loader->notes, r->file };
	struct field_ctx ctx = context(r->loader, &src, "mcp_mocks");
	struct mock_tools all = { .arena = r->loader->arena };
	struct mock_server s;
	size_t i;

	if (v->type != JSON_OBJECT) {
		spec_wrong_type(r->loader, r->file, v, "a mapping");
		return;
	}
	if (mock_read_server(&ctx, v, &s) > 0 ||
	    is_repeated(r, v, s.name, false) ||
	    !read_tools(r, v, &s, &all))
		return;
	json_open(r->out, '{');
	json_put_member_str(r->out, "name", s.name);
	json_put_member_bool(r->out, "passthrough", s.passthrough);
	if (s.expect_calls >= 0)
		json_put_member_int(r->out, "expect_calls", s.expect_calls);
	json_open_member(r->out, "tools", '{');
	for (i = 0; i < all.n; i++) {
		json_put_key(r->out, all.v[i].name);
		json_put(r->out, all.v[i].tree);
	}
	json_close(r->out, '}');
	json_close(r->out, '}');
}

/* A response of a command: its arguments as they are spelt. */
static void
put_response(struct json_out *o, const struct json *v)
{
	const struct json *m, *w;

	json_open(o, '{');
	for (m = json_first(v); m != NULL; m = m->next) {
		json_put_key(o, json_key(m));
		if (m->type != JSON_ARRAY || (!str_is(json_key(m), "args") &&
		    !str_is(json_key(m), "args_regex"))) {
			json_put(o, m);
			continue;
		}
		json_open(o, '[');
		for (w = json_first(m); w != NULL; w = w->next)
			json_put_str(o, json_source(w));
		json_close(o, ']');
	}
	json_close(o, '}');
}

static void
check_fixtures(const struct reader *r, const struct json *responses)
{
	const struct json *v, *name;
	const char *path;
	struct str text;
	struct err e = { 0 };

	for (v = json_first(responses); v != NULL; v = v->next) {
		name = json_getc(v, "fixture");
		if (name == NULL || name->type != JSON_STRING)
			continue;
		path = find_fixture(r, name, json_text(name));
		if (path != NULL && os_read_plain(&r->loader->scratch, path,
		    MOCK_FILE_MAX, &text, &e) == -1)
			spec_error(r->loader, r->file, name, NULL,
			    "fixture %s", e.msg);
	}
}

/* The responses in the file that `fixtures` names, or NULL. */
static const struct json *
read_fixtures(const struct reader *r, const struct json *v, struct str name)
{
	const struct json *at = json_getc(v, "fixtures");
	const char *path = find_fixture(r, at, name);
	struct spec_source src = { r->loader->notes, path };
	struct field_ctx ctx = context(r->loader, &src, "command_mocks");
	struct mock_command c;
	struct spec_file f;

	if (path == NULL || spec_read_yaml(r->loader, path, &f) == -1 ||
	    mock_read_command(&ctx, f.root, &c) > 0)
		return NULL;
	return json_getc(f.root, "responses");
}

static void
put_command(const struct reader *r, const struct mock_command *c,
    const struct json *own, const struct json *more)
{
	struct json_out *o = r->out;
	const struct json *v;

	json_open(o, '{');
	json_put_member_str(o, "name", c->name);
	json_put_member_bool(o, "passthrough", c->passthrough);
	if (c->expect_calls >= 0)
		json_put_member_int(o, "expect_calls", c->expect_calls);
	json_open_member(o, "responses", '[');
	for (v = json_first(own); v != NULL; v = v->next)
		put_response(o, v);
	for (v = json_first(more); v != NULL; v = v->next)
		put_response(o, v);
	json_close(o, ']');
	json_close(o, '}');
}

static void
read_command(const struct reader *r, const struct json *v)
{
	struct spec_loader *l = r->loader;
	struct spec_source src = { l->notes, r->file };
	struct field_ctx ctx = context(l, &src, "command_mocks");
	const struct json *more = NULL, *own = json_getc(v, "responses");
	struct mock_command c;

	if (v->type != JSON_OBJECT) {
		spec_wrong_type(l, r->file, v, "a mapping");
		return;
	}
	if (mock_read_command(&ctx, v, &c) > 0 ||
	    is_repeated(r, v, c.name, true))
		return;
	check_fixtures(r, own);
	if (c.fixtures.n > 0 &&
	    (more = read_fixtures(r, v, c.fixtures)) == NULL)
		return;
	if (json_first(own) == NULL && json_first(more) == NULL &&
	    !c.passthrough)
		spec_error(l, r->file, v, NULL, "the mock \"%.*s\" has no "
		    "responses: every call of it would fail",
		    SPEC_SHORT(c.name));
	put_command(r, &c, own, more);
}

static const struct json *
read_list(struct spec_loader *l, const struct spec_file *f,
    const struct json *list,
    void (*read)(const struct reader *, const struct json *))
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct reader r = { l, f->path, l->suite->dir, list, &o };
	const struct json *v;
	struct json *all;

	if (spec_array(l, f->path, list) == NULL)
		return NULL;
	json_open(&o, '[');
	for (v = json_first(list); v != NULL; v = v->next)
		read(&r, v);
	json_close(&o, ']');
	all = arena_json(l->arena, arena_take(l->arena, &b), NULL);
	if (all != NULL) {		/* for later messages */
		all->key = json_key(list).p;
		all->nkey = (uint32_t)json_key(list).n;
		all->line = list->line;
		all->col = list->col;
	}
	return all;
}

const struct json *
spec_read_mcp_mocks(struct spec_loader *l, const struct spec_file *f,
    const struct json *list)
{
	return read_list(l, f, list, read_server);
}

const struct json *
spec_read_command_mocks(struct spec_loader *l, const struct spec_file *f,
    const struct json *list)
{
	return read_list(l, f, list, read_command);
}

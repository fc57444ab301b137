/* SPDX-License-Identifier: ISC */
/*
 * The report about a skill as JSON: the original's keys, then `findings`,
 * `unchecked` and `counts`, which it does not have.
 */
#include "skill/check_internal.h"

#include <string.h>

#include "suite/spec.h"

static void
put_issues(struct json_out *o, const struct check_issue *i)
{
	if (i == NULL)
		return;
	json_open_member(o, "issues", '[');
	for (; i != NULL; i = i->next) {
		json_open(o, '{');
		json_put_member_cstr(o, "severity",
		    check_severity_name(i->severity));
		json_put_member_str(o, "message", i->message);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void
put_texts(struct json_out *o, const char *key, const struct check_text *t)
{
	json_open_member(o, key, '[');
	for (; t != NULL; t = t->next)
		json_put_str(o, t->s);
	json_close(o, ']');
}

static void
put_items(struct json_out *o, const char *key, const struct check_item *v,
    size_t n)
{
	static const char *const status[] = { "ok", "warning", "optimal" };
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < n; i++) {
		json_open(o, '{');
		json_put_member_cstr(o, "name", v[i].name);
		json_put_member_bool(o, "passed", v[i].passed);
		json_put_member_str(o, "summary", v[i].summary);
		json_put_member_cstr(o, "status", status[v[i].status]);
		if (v[i].evidence != NULL)
			put_texts(o, "evidence", v[i].evidence);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void
put_budget(struct json_out *o, const struct check *c)
{
	static const char *const status[] = { "ok", "warning", "exceeded" };

	json_open_member(o, "tokenBudget", '{');
	json_put_member_int(o, "count", c->tokens);
	json_put_member_int(o, "limit", c->limit);
	json_put_member_bool(o, "exceeded", c->budget == CHECK_EXCEEDED);
	json_put_member_bool(o, "warning", c->budget == CHECK_NEAR);
	json_put_member_cstr(o, "status", status[c->budget]);
	json_put_member_cstr(o, "counter", c->counter);
	json_close(o, '}');
}

static void
put_links_of(struct json_out *o, const struct check *c, const char *key,
    enum check_link_kind kind)
{
	const struct check_link *l;

	if (c->link_count[kind] == 0)
		return;
	json_open_member(o, key, '[');
	for (l = c->links; l != NULL; l = l->next) {
		if (l->kind != kind)
			continue;
		if (kind == CHECK_ORPHAN) {
			json_put_str(o, l->target);
			continue;
		}
		json_open(o, '{');
		json_put_member_str(o, "source", l->source);
		json_put_member_str(o, "target", l->target);
		json_put_member_cstr(o, "reason", l->reason);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void
put_links(struct json_out *o, const struct check *c)
{
	json_open_member(o, "links", '{');
	json_put_member_int(o, "valid", (int64_t)check_links_valid(c));
	json_put_member_int(o, "total", (int64_t)c->links_total);
	json_put_member_bool(o, "passed", check_links_passed(c));
	put_links_of(o, c, "brokenLinks", CHECK_BROKEN);
	put_links_of(o, c, "directoryLinks", CHECK_DIRECTORY);
	put_links_of(o, c, "scopeEscapes", CHECK_ESCAPE);
	put_links_of(o, c, "deadURLs", CHECK_DEAD);
	put_links_of(o, c, "orphanedFiles", CHECK_ORPHAN);
	put_links_of(o, c, "brokenAnchors", CHECK_ANCHOR);
	if (!c->urls_checked)
		json_put_member_int(o, "uncheckedURLs", (int64_t)c->nurls);
	json_close(o, '}');
}

static void
put_note(struct json_out *o, struct arena *a, const struct spec_note *n)
{
	if (n->at.line == 0)
		json_put_cstr(o, n->msg);
	else
		json_put_str(o, arena_fmt(a, "%u:%u: %s", n->at.line,
		    n->at.col, n->msg));
}

/* A task file relative to the directory of the suite. */
static struct str
relative(const struct check *c, const char *file)
{
	struct str f = str_of(file), dir = str_of(spec_dir_of(c->arena,
	    c->eval));

	if (str_is(dir, "."))
		return f;
	return str_starts(f, dir) && f.n > dir.n && f.p[dir.n] == '/' ?
	    (struct str){ f.p + dir.n + 1, f.n - dir.n - 1 } : f;
}

static bool
is_error_of(const struct spec_note *n, const char *file)
{
	return n->level == FIELD_ERROR && strcmp(n->at.file, file) == 0;
}

static void
put_task_errors(struct json_out *o, const struct check *c)
{
	const struct spec_note *n, *m;

	json_open_member(o, "taskErrors", '{');
	for (n = c->notes->head; n != NULL; n = n->next) {
		if (n->level != FIELD_ERROR || strcmp(n->at.file, c->eval) == 0)
			continue;
		for (m = c->notes->head; m != n; m = m->next)
			if (is_error_of(m, n->at.file))
				break;
		if (m != n)
			continue;	/* it has been written */
		json_put_key(o, relative(c, n->at.file));
		json_open(o, '[');
		for (; m != NULL; m = m->next)
			if (is_error_of(m, n->at.file))
				put_note(o, c->arena, m);
		json_close(o, ']');
	}
	json_close(o, '}');
}

static void
put_schema(struct json_out *o, const struct check *c)
{
	const struct spec_note *n;

	json_open_member(o, "schema", '{');
	if (c->suite_errors > 0) {
		json_open_member(o, "evalErrors", '[');
		for (n = c->notes->head; n != NULL; n = n->next)
			if (is_error_of(n, c->eval))
				put_note(o, c->arena, n);
		json_close(o, ']');
	}
	if (c->task_errors > 0)
		put_task_errors(o, c);
	json_put_member_bool(o, "valid", c->suite_errors + c->task_errors == 0);
	json_close(o, '}');
}

static void
put_suite(struct json_out *o, const struct check *c)
{
	json_open_member(o, "eval", '{');
	json_put_member_bool(o, "found", c->eval != NULL);
	if (c->eval != NULL) {
		json_put_member_cstr(o, "path", c->eval);
		json_put_member_int(o, "tasks", (int64_t)c->ntasks);
	}
	json_close(o, '}');
	if (c->eval != NULL)
		put_schema(o, c);
}

static void
put_findings(struct json_out *o, const struct check *c)
{
	const struct check_finding *f;

	json_open_member(o, "findings", '[');
	for (f = c->findings; f != NULL; f = f->next) {
		json_open(o, '{');
		json_put_member_cstr(o, "rule", f->rule);
		json_put_member_cstr(o, "severity",
		    check_severity_name(f->severity));
		json_put_member_cstr(o, "file", f->file);
		json_put_member_int(o, "line", f->line);
		json_put_member_int(o, "col", f->col);
		json_put_member_str(o, "message", f->message);
		json_close(o, '}');
	}
	json_close(o, ']');
}

void
check_put(struct json_out *o, const struct check *c)
{
	json_open(o, '{');
	json_put_member_str(o, "name", c->skill.name.n > 0 ? c->skill.name :
	    STR("unnamed-skill"));
	json_put_member_cstr(o, "path", c->skill.file);
	json_put_member_bool(o, "ready", c->ready);
	json_open_member(o, "compliance", '{');
	json_put_member_cstr(o, "level", check_level_name(c->level));
	put_issues(o, c->issues);
	json_close(o, '}');
	put_budget(o, c);
	put_items(o, "specCompliance", c->spec, CHECK_SPEC);
	if (c->mcp) {
		json_open_member(o, "mcpIntegration", '{');
		json_put_member_int(o, "score", c->mcp_score);
		json_put_member_int(o, "total", CHECK_MCP);
		put_issues(o, c->mcp_issues);
		json_close(o, '}');
	}
	put_links(o, c);
	put_suite(o, c);
	put_items(o, "advisoryChecks", c->advice, CHECK_ADVICE);
	if (c->steps != NULL)
		put_texts(o, "nextSteps", c->steps);
	else
		json_put_member_null(o, "nextSteps");
	json_open_member(o, "triggers", '{');
	json_put_member_int(o, "use", (int64_t)c->use_count);
	json_put_member_int(o, "avoid", (int64_t)c->avoid_count);
	json_close(o, '}');
	put_findings(o, c);
	json_close(o, '}');
}

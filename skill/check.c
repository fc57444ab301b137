/* SPDX-License-Identifier: ISC */
/*
 * Runs all checks of a skill and decides whether it is ready; check.h
 * describes the result.
 */
#include "skill/check_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/os_path.h"
#include "lib/unicode.h"
#include "suite/spec.h"

const char *
check_level_name(enum check_level l)
{
	static const char *const names[] = { "Invalid", "Low", "Medium",
		"Medium-High", "High" };

	return names[l];
}

const char *
check_severity_name(enum check_severity s)
{
	static const char *const names[] = { "note", "warning", "error" };

	return names[s];
}

struct check_at
check_at_node(const struct check *c, const struct json *v)
{
	return (struct check_at){ c->skill.file, v != NULL ? v->line : 1,
		v != NULL && v->line > 0 ? v->col : 1 };
}

struct check_at
check_at_key(const struct check *c, const char *key)
{
	const struct json *v = json_getc(c->skill.fields, key);

	if (v == NULL && c->skill.front.n > 0)
		return (struct check_at){ c->skill.file, 2, 1 };
	return check_at_node(c, v);
}

void
check_add(struct check *c, const char *rule, enum check_severity severity,
    struct check_at at, const char *fmt, ...)
{
	struct check_finding *f = NEW(c->arena, struct check_finding);
	va_list ap;

	*f = (struct check_finding){ NULL, rule, severity, at.file, at.line,
		at.col, { NULL, 0 } };
	va_start(ap, fmt);
	f->message = arena_vfmt(c->arena, fmt, ap);
	va_end(ap);
	CHECK_APPEND(c, findings, f);
	c->count[severity]++;
}

void
check_fail(struct check *c, struct check_item *item, struct check_at at,
    const char *fmt, ...)
{
	struct check_text *t = NEW(c->arena, struct check_text), **end;
	va_list ap;

	va_start(ap, fmt);
	t->s = arena_vfmt(c->arena, fmt, ap);
	va_end(ap);
	for (end = &item->evidence; *end != NULL; end = &(*end)->next)
		;
	*end = t;
	item->passed = false;
	item->status = CHECK_WARN;
	check_add(c, item->name, CHECK_ERROR, at, "%.*s", STRF(t->s));
}

void
check_issue(struct check *c, bool mcp, enum check_severity severity,
    const char *fmt, ...)
{
	struct check_issue *i = NEW(c->arena, struct check_issue);
	va_list ap;

	i->severity = severity;
	va_start(ap, fmt);
	i->message = arena_vfmt(c->arena, fmt, ap);
	va_end(ap);
	if (mcp)
		CHECK_APPEND(c, mcp_issues, i);
	else
		CHECK_APPEND(c, issues, i);
}

/*
 * Texts
 */
size_t
check_chars(struct str s)
{
	size_t i = 0, n = 0, k;
	uint32_t cp;

	for (; i < s.n; n++) {
		k = utf8_get(s.p + i, s.p + s.n, &cp);
		i += k > 0 ? k : 1;
	}
	return n;
}

size_t
check_find(struct str s, const char *word)
{
	size_t n = strlen(word);
	const char *p = s.p, *end;

	if (s.n < n)
		return s.n;
	end = p + s.n;
	while (p <= end - n && (p = memchr(p, word[0],
	    (size_t)(end - p) - n + 1)) != NULL) {
		if (p[n / 2] == word[n / 2] && memcmp(p, word, n) == 0)
			return (size_t)(p - s.p);
		p++;
	}
	return s.n;
}

size_t
check_count(struct str s, const char *word)
{
	size_t n = strlen(word), found = 0, at;

	while ((at = check_find(s, word)) < s.n) {
		found++;
		s.p += at + n;
		s.n -= at + n;
	}
	return found;
}

bool
check_has(struct str s, const char *const *words)
{
	for (; *words != NULL; words++)
		if (check_find(s, *words) < s.n)
			return true;
	return false;
}

struct str
check_lower(struct arena *a, struct str s)
{
	struct buf b = { 0 };

	if (s.n == 0)
		return STR("");
	unicode_put_lower(&b, s);
	return arena_take(a, &b);
}

static void
make_texts(const struct check *c, struct arena *scratch, struct check_texts *t)
{
	struct str d = str_trim(c->skill.description), body = c->skill.body;
	struct buf b = { 0 };

	t->scratch = scratch;
	t->all = check_lower(scratch, c->skill.text);
	t->description = check_lower(scratch, d);
	t->body = check_lower(scratch, body);
	buf_put(&b, t->description);
	buf_putc(&b, '\n');
	buf_put(&b, t->body);
	t->both = str_trim(arena_take(scratch, &b));
}

/*
 * The skill
 */
static int
open_skill(struct check *c, const struct check_env *env, const char *path,
    struct err *e)
{
	struct err bad = { 0 };
	int r = env->text.p == NULL ?
	    skill_read(c->arena, path, &c->skill, &bad) :
	    skill_parse(c->arena, path, env->text, &c->skill, &bad);

	if (r == -1) {
		if (bad.line == 0 || c->skill.text.p == NULL) {
			*e = bad;
			return -1;
		}
		c->unread = true;
		check_add(c, "front-matter", CHECK_ERROR, (struct check_at){
		    c->skill.file, bad.line, bad.col }, "%s", bad.msg);
	}
	if (c->skill.warning.line > 0)
		check_add(c, "front-matter", CHECK_WARNING, (struct check_at){
		    c->skill.file, c->skill.warning.line,
		    c->skill.warning.col }, "%s", c->skill.warning.msg);
	c->agent = str_ends(str_of(c->skill.file), STR(".agent.md"));
	c->absolute = check_clean(c->arena, os_absolute(c->arena,
	    c->skill.dir));
	c->dir_name = str_base(str_of(c->absolute));
	return 0;
}

/* The path below the working directory; empty if it is elsewhere. */
static struct str
wide_path(const struct check *c)
{
	struct str base = str_of(check_clean(c->arena, os_absolute(c->arena,
	    ".")));
	struct str path = str_of(c->absolute);

	if (!str_starts(path, base) || path.n <= base.n ||
	    path.p[base.n] != '/')
		return STR("");
	return arena_fmt(c->arena, "%.*s/SKILL.md", (int)(path.n - base.n - 1),
	    path.p + base.n + 1);
}

static int
check_tokens(struct check *c, const struct check_env *env, struct err *e)
{
	static const struct token_counter estimate;
	const struct token_counter *counter = env->counter != NULL ?
	    env->counter : &estimate;
	struct spec_notes notes = { .arena = c->arena };
	const struct spec_note *n;
	struct arena scratch = { 0 };
	struct token_rules rules;
	int r = token_rules(c->arena, env->tokens, c->skill.dir, &rules,
	    &notes);

	for (n = notes.head; n != NULL; n = n->next)
		check_add(c, "token-limits", n->level == FIELD_ERROR ?
		    CHECK_ERROR : CHECK_WARNING, (struct check_at){
		    n->at.file != NULL ? n->at.file : c->skill.file,
		    n->at.line, n->at.col },
		    "%s", n->msg);
	if (r == -1)
		return err_set(e, ERR_SCHEMA, "%s: the limits of tokens cannot "
		    "be read: %s", c->skill.file, notes.head != NULL ?
		    notes.head->msg : "invalid");
	c->counter = token_counter_name(counter);
	c->tokens = token_count(counter, &scratch, c->skill.text);
	arena_free(&scratch);
	c->limit = token_limit(env->tokens, &rules, STR("SKILL.md"),
	    wide_path(c)).limit;
	c->budget = c->tokens > c->limit ? CHECK_EXCEEDED :
	    env->tokens->warning > 0 && c->tokens >= env->tokens->warning ?
	    CHECK_NEAR : CHECK_FITS;
	return 0;
}

/* Blanks at the end of lines, except two of them: a line break. */
static void
check_blanks(struct check *c)
{
	const char *p = c->skill.text.p, *end = p + c->skill.text.n, *eol, *q;
	unsigned line = 1, first = 0, n = 0;
	size_t col = 0;

	for (; p < end; p = eol + 1, line++) {
		eol = memchr(p, '\n', (size_t)(end - p));
		if (eol == NULL)
			eol = end;
		for (q = eol; q > p && q[-1] == '\r'; q--)
			;
		if (q == p || (q[-1] != ' ' && q[-1] != '\t') ||
		    (q - p > 2 && q[-1] == ' ' && q[-2] == ' '))
			continue;
		if (n++ == 0) {
			first = line;
			col = (size_t)(q - p);
		}
	}
	if (n > 0)
		check_add(c, "trailing-blanks", CHECK_NOTE, (struct check_at){
		    c->skill.file, first, (unsigned)col },
		    "%u line%s end%s with a blank", n, n == 1 ? "" : "s",
		    n == 1 ? "s" : "");
}

int
check_skill(struct arena *a, const struct check_env *env, const char *path,
    const char *eval, struct check *c, struct err *e)
{
	struct arena scratch = { 0 };
	struct check_texts t;

	*c = (struct check){ .arena = a, .eval = eval };
	c->issues_end = &c->issues;
	c->mcp_issues_end = &c->mcp_issues;
	c->links_end = &c->links;
	c->urls_end = &c->urls;
	c->findings_end = &c->findings;
	c->steps_end = &c->steps;
	if (open_skill(c, env, path, e) == -1 || check_tokens(c, env, e) == -1)
		return -1;
	make_texts(c, &scratch, &t);
	check_run_level(c, env, &t);
	check_run_mcp(c, &t);
	check_run_links(c, &scratch);
	check_run_suite(c, env);
	check_run_spec(c);
	check_run_advice(c, env, &t);
	check_blanks(c);
	arena_free(&scratch);
	return 0;
}

/*
 * The verdict
 */
bool
check_links_passed(const struct check *c)
{
	const size_t *n = c->link_count;

	return !c->links_incomplete && n[CHECK_BROKEN] == 0 &&
	    n[CHECK_DIRECTORY] == 0 && n[CHECK_ESCAPE] == 0 &&
	    n[CHECK_DEAD] == 0 && n[CHECK_ORPHAN] == 0;
}

size_t
check_links_valid(const struct check *c)
{
	const size_t *n = c->link_count;
	size_t bad = n[CHECK_BROKEN] + n[CHECK_DIRECTORY] + n[CHECK_ESCAPE] +
	    n[CHECK_DEAD];

	return c->links_total > bad ? c->links_total - bad : 0;
}

static void add_step(struct check *, const char *fmt, ...) PRINTF(2, 3);

static void
add_step(struct check *c, const char *fmt, ...)
{
	struct check_text *t = NEW(c->arena, struct check_text);
	va_list ap;

	va_start(ap, fmt);
	t->s = arena_vfmt(c->arena, fmt, ap);
	va_end(ap);
	CHECK_APPEND(c, steps, t);
}

static void
add_level_steps(struct check *c)
{
	if (c->level == CHECK_HIGH)
		return;
	if (c->description_chars < CHECK_DESCRIPTION_MIN)
		add_step(c, "Extend the description to at least %d characters "
		    "(now %zu)", CHECK_DESCRIPTION_MIN, c->description_chars);
	if (c->level == CHECK_INVALID && !c->unread)
		add_step(c, "Shorten the description to %d characters (now "
		    "%zu)", CHECK_DESCRIPTION_MAX, c->description_chars);
	if (!c->has_triggers)
		add_step(c, "Say when to use the skill: \"USE FOR: phrase, "
		    "phrase\"");
	if (!c->has_avoid)
		add_step(c, "Say when not to use it: \"DO NOT USE FOR: phrase, "
		    "phrase\"");
	if (!c->has_routing)
		add_step(c, "Name the tools it uses or its kind: \"INVOKES: "
		    "tool, tool\" or \"**UTILITY SKILL**\"");
}

static void
add_link_steps(struct check *c)
{
	static const struct {
		enum check_link_kind kind;
		const char *verb, *one, *many, *rest;
	} rows[] = {
		{ CHECK_BROKEN, "Repair", "broken link", "broken links", "" },
		{ CHECK_DIRECTORY, "Let", "link name a file", "links name files",
		    " instead of a directory" },
		{ CHECK_ESCAPE, "Keep", "link", "links",
		    " inside the skill's directory" },
		{ CHECK_DEAD, "Replace", "dead URL", "dead URLs", "" },
		{ CHECK_ORPHAN, "Link to", "file", "files",
		    " of references/, or remove what is not needed" },
	};
	size_t i, n;

	for (i = 0; i < COUNTOF(rows); i++) {
		n = c->link_count[rows[i].kind];
		if (n > 0)
			add_step(c, "%s %zu %s%s", rows[i].verb, n, n == 1 ?
			    rows[i].one : rows[i].many, rows[i].rest);
	}
}

static void
add_steps(struct check *c)
{
	size_t i;

	add_level_steps(c);
	for (i = 0; i < CHECK_SPEC; i++)
		if (!c->spec[i].passed)
			add_step(c, "%s: %.*s", c->spec[i].name,
			    STRF(c->spec[i].summary));
	add_link_steps(c);
	if (c->budget == CHECK_EXCEEDED)
		add_step(c, "Remove %lld tokens from SKILL.md, or move them to "
		    "references/", (long long)(c->tokens - c->limit));
	else if (c->budget == CHECK_NEAR)
		add_step(c, "SKILL.md is near its limit of %lld tokens",
		    (long long)c->limit);
	if (c->eval == NULL)
		add_step(c, "Add a suite: waza new eval %.*s",
		    STRF(c->skill.name.n > 0 ? c->skill.name : c->dir_name));
	if (c->suite_errors > 0)
		add_step(c, "Correct %zu error%s in %s", c->suite_errors,
		    c->suite_errors == 1 ? "" : "s", c->eval);
	if (c->task_errors > 0)
		add_step(c, "Correct %zu error%s in %zu task file%s",
		    c->task_errors, c->task_errors == 1 ? "" : "s",
		    c->task_error_files, c->task_error_files == 1 ? "" : "s");
}

static int
by_place(const void *a, const void *b)
{
	const struct check_finding *x = *(const struct check_finding *const *)a;
	const struct check_finding *y = *(const struct check_finding *const *)b;
	int r = strcmp(x->file, y->file);

	if (r != 0)
		return r;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->col != y->col)
		return x->col < y->col ? -1 : 1;
	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	r = strcmp(x->rule, y->rule);
	return r != 0 ? r : str_cmp(x->message, y->message);
}

static void
sort_findings(struct check *c)
{
	size_t n = c->count[0] + c->count[1] + c->count[2], i = 0;
	struct check_finding **v, *f, **end = &c->findings;

	if (n == 0)
		return;
	v = NEW_N(c->arena, struct check_finding *, n);
	for (f = c->findings; f != NULL; f = f->next)
		v[i++] = f;
	qsort(v, n, sizeof(struct check_finding *), by_place);
	for (i = 0; i < n; i++) {
		*end = v[i];
		end = &v[i]->next;
	}
	*end = NULL;
}

void
check_finish(struct check *c)
{
	bool spec = true;
	size_t i;

	for (i = 0; i < CHECK_SPEC; i++)
		spec = spec && c->spec[i].passed;
	c->ready = spec && c->level >= CHECK_MEDIUM_HIGH &&
	    c->budget != CHECK_EXCEEDED && check_links_passed(c) &&
	    c->suite_errors + c->task_errors == 0;
	add_steps(c);
	sort_findings(c);
}

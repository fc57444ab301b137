/* SPDX-License-Identifier: ISC */
/*
 * The report of `waza check` for people: a line for each section with the
 * findings below it, then the verdict and the next steps; several skills end
 * in a table.
 */
#include "report/report_check.h"

#include <string.h>
#include <unistd.h>

#include "report/report_internal.h"
#include "skill/check.h"

enum { LABEL = 16, SKILL_MIN = 10, SKILL_MAX = 25, MORE = 20,
	TABLE_REST = 48 };	/* columns beside the skill */

enum section { SECTION_COMPLIANCE, SECTION_SPEC, SECTION_MCP, SECTION_LINKS,
	SECTION_TOKENS, SECTION_SUITE, SECTION_ADVICE };

/* The section of a rule: the first whose prefix fits. */
static enum section
section_of(const char *rule)
{
	static const struct {
		const char *prefix;
		enum section section;
	} rows[] = {
		{ "spec-", SECTION_SPEC }, { "front-matter", SECTION_SPEC },
		{ "field-type", SECTION_SPEC }, { "mcp-", SECTION_MCP },
		{ "link-", SECTION_LINKS }, { "token-", SECTION_TOKENS },
		{ "eval-", SECTION_SUITE }, { "anti-", SECTION_COMPLIANCE },
		{ "description-length", SECTION_COMPLIANCE },
		{ "triggers", SECTION_COMPLIANCE },
		{ "routing", SECTION_COMPLIANCE },
	};
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		if (strncmp(rule, rows[i].prefix, strlen(rows[i].prefix)) == 0)
			return rows[i].section;
	return SECTION_ADVICE;
}

static void
put_row(struct buf *b, enum result_status mark, const char *label,
    struct str value, const struct report_opts *o)
{
	buf_puts(b, "  ");
	report_mark(b, mark, o);
	report_cell(b, str_of(label), LABEL, o->ascii);
	report_line(b, value, (o->width > 0 ? o->width : 80) - LABEL - 4,
	    o->ascii);
	buf_putc(b, '\n');
}

/* A path below the skill's directory, whose path is in the heading. */
static const char *
short_path(const struct check *c, const char *file)
{
	size_t n = strlen(c->skill.dir);

	return strncmp(file, c->skill.dir, n) == 0 && file[n] == '/' ?
	    file + n + 1 : file;
}

static void
put_finding(struct buf *b, struct arena *a, const struct check *c,
    const struct check_finding *f, const struct report_opts *o)
{
	const char *warning = f->severity == CHECK_WARNING ? "warning: " : "";
	const char *file = short_path(c, f->file);
	struct report_sources src;
	struct str s = f->line > 0 ? arena_fmt(a, "%s:%u:%u: %s%.*s [%s]",
	    file, f->line, f->col, warning, STRF(f->message), f->rule) :
	    arena_fmt(a, "%s: %s%.*s [%s]", file, warning, STRF(f->message),
	    f->rule);

	report_reason(b, s, "      ", o);
	if (!o->wrap || f->severity < CHECK_WARNING)
		return;
	report_sources_init(&src, STDOUT_FILENO);
	report_source(&src, b, f->file, (struct report_place){ f->line,
	    f->col, 6 });
	report_sources_end(&src);
}

/* The findings of a section, from this severity on. */
static void
put_section(struct buf *b, struct arena *a, const struct check *c,
    enum section section, enum check_severity least,
    const struct report_opts *o)
{
	const struct check_finding *f;
	size_t shown = 0, more = 0;

	for (f = c->findings; f != NULL; f = f->next) {
		if (section_of(f->rule) != section || f->severity < least)
			continue;
		if (shown == MORE && !o->verbose) {
			more++;
			continue;
		}
		shown++;
		put_finding(b, a, c, f, o);
	}
	if (more > 0)
		buf_fmt(b, "      and %zu more\n", more);
}

static enum result_status
mark_of(bool ok, bool warning)
{
	return !ok ? RESULT_FAILED : warning ? RESULT_AGENT_ERROR :
	    RESULT_PASSED;
}

static size_t
count_passed(const struct check_item *v, size_t n)
{
	size_t i, passed = 0;

	for (i = 0; i < n; i++)
		passed += v[i].passed;
	return passed;
}

static void
put_links(struct buf *b, struct arena *a, const struct check *c,
    const struct report_opts *o)
{
	struct str s = c->links_total == 0 ? STR("none") : arena_fmt(a,
	    "%zu/%zu", check_links_valid(c), c->links_total);

	if (c->nurls > 0 && !c->urls_checked)
		s = arena_fmt(a, "%.*s (and %zu URL%s not requested: use "
		    "--urls)", STRF(s), c->nurls, c->nurls == 1 ? "" : "s");
	put_row(b, check_links_passed(c) && c->links_total == 0 ? RESULT_NONE :
	    mark_of(check_links_passed(c), c->link_count[CHECK_ANCHOR] > 0),
	    "Links", s, o);
	put_section(b, a, c, SECTION_LINKS, CHECK_WARNING, o);
}

static void
put_suite(struct buf *b, struct arena *a, const struct check *c,
    const struct report_opts *o)
{
	bool ok = c->suite_errors + c->task_errors == 0;

	if (c->eval == NULL)
		put_row(b, RESULT_NONE, "Suite", STR("not found"), o);
	else
		put_row(b, mark_of(ok, false), "Suite", arena_fmt(a, "%s "
		    "(%zu task%s)", c->eval, c->ntasks, c->ntasks == 1 ? "" :
		    "s"), o);
	put_section(b, a, c, SECTION_SUITE, CHECK_WARNING, o);
}

static void
put_advice(struct buf *b, struct arena *a, const struct check *c,
    const struct report_opts *o)
{
	size_t n = count_passed(c->advice, CHECK_ADVICE);

	put_row(b, n == CHECK_ADVICE ? RESULT_PASSED : RESULT_NONE, "Advice",
	    arena_fmt(a, "%zu/%d", n, CHECK_ADVICE), o);
	put_section(b, a, c, SECTION_ADVICE, CHECK_NOTE, o);
}

static void
put_sections(struct buf *b, struct arena *a, const struct check *c,
    const struct report_opts *o)
{
	size_t n = count_passed(c->spec, CHECK_SPEC);

	put_row(b, mark_of(c->level >= CHECK_MEDIUM_HIGH, false), "Compliance",
	    str_of(check_level_name(c->level)), o);
	put_section(b, a, c, SECTION_COMPLIANCE, CHECK_NOTE, o);
	put_row(b, mark_of(n == CHECK_SPEC, false), "Specification",
	    arena_fmt(a, "%zu/%d", n, CHECK_SPEC), o);
	put_section(b, a, c, SECTION_SPEC, CHECK_WARNING, o);
	if (c->mcp)
		put_row(b, mark_of(true, c->mcp_score < CHECK_MCP), "MCP",
		    arena_fmt(a, "%lld/%d", (long long)c->mcp_score,
		    CHECK_MCP), o);
	put_section(b, a, c, SECTION_MCP, CHECK_WARNING, o);
	put_links(b, a, c, o);
	put_row(b, mark_of(c->budget != CHECK_EXCEEDED,
	    c->budget == CHECK_NEAR), "Tokens", arena_fmt(a, "%lld of %lld "
	    "(%s)", (long long)c->tokens, (long long)c->limit, c->counter),
	    o);
	put_section(b, a, c, SECTION_TOKENS, CHECK_WARNING, o);
	put_suite(b, a, c, o);
}

static void
put_steps(struct buf *b, const struct check *c,
    const struct report_opts *o)
{
	struct report_flow f = { .b = b, .o = o };
	const struct check_text *t;
	size_t i = 0;

	if (c->steps == NULL)
		return;
	buf_puts(b, "\nNext steps:\n");
	for (t = c->steps; t != NULL; t = t->next) {
		buf_fmt(b, "  %zu. ", ++i);
		f.at = f.indent = i < 10 ? 5 : 6;
		report_flow(&f, NULL, t->s);
		report_flow_end(&f);
	}
}

static void
put_skill(struct buf *b, const struct check *c, bool whole,
    const struct report_opts *o)
{
	struct report_flow f = { .b = b, .o = o, .indent = 4 };
	struct arena a = { 0 };

	report_flow(&f, "1", c->skill.name.n > 0 ? c->skill.name :
	    STR("unnamed-skill"));
	/* a path is never broken */
	buf_puts(b, strlen(c->skill.file) + f.at + 3 > report_width(o) ?
	    "\n    (" : " (");
	report_line(b, str_of(c->skill.file), 0, o->ascii);
	buf_puts(b, ")\n");
	put_sections(b, &a, c, o);
	if (whole) {
		put_advice(b, &a, c, o);
		buf_putc(b, '\n');
		report_mark(b, c->ready ? RESULT_PASSED : RESULT_FAILED, o);
		report_colored(b, "1", c->ready ? "Ready" : "Not ready", o);
		buf_fmt(b, ": %zu error%s, %zu warning%s\n",
		    c->count[CHECK_ERROR], c->count[CHECK_ERROR] == 1 ? "" :
		    "s", c->count[CHECK_WARNING],
		    c->count[CHECK_WARNING] == 1 ? "" : "s");
		put_steps(b, c, o);
	} else
		buf_putc(b, '\n');
	arena_free(&a);
}

/*
 * The table
 */
static void
put_cell(struct buf *b, struct str s, size_t cols, const struct report_opts *o)
{
	report_cell(b, s, cols, o->ascii);
	buf_puts(b, "  ");
}

static void
put_mark(struct buf *b, enum result_status st, size_t cols,
    const struct report_opts *o)
{
	report_mark(b, st, o);
	buf_fmt(b, "%*s", (int)cols, "");
}

/* Whether the name needs a line of its own. */
static bool
is_narrow(const struct report_opts *o)
{
	return o->width > 0 && o->width < TABLE_REST + SKILL_MIN;
}

static void
put_table_row(struct buf *b, const struct check *c, size_t width,
    const struct report_opts *o)
{
	struct arena a = { 0 };
	size_t spec = count_passed(c->spec, CHECK_SPEC);
	bool ok = c->suite_errors + c->task_errors == 0;

	report_mark(b, c->ready ? RESULT_PASSED : RESULT_FAILED, o);
	put_cell(b, c->skill.name.n > 0 ? c->skill.name : STR("unnamed-skill"),
	    width, o);
	if (is_narrow(o))
		buf_puts(b, "\n    ");
	put_cell(b, str_of(check_level_name(c->level)), 11, o);
	put_cell(b, arena_fmt(&a, "%lld/%lld", (long long)c->tokens,
	    (long long)c->limit), 11, o);
	put_cell(b, arena_fmt(&a, "%zu/%d", spec, CHECK_SPEC), 4, o);
	put_mark(b, check_links_passed(c) ? RESULT_PASSED : RESULT_FAILED, 5,
	    o);
	put_mark(b, c->eval == NULL ? RESULT_NONE : ok ? RESULT_PASSED :
	    RESULT_FAILED, 0, o);
	while (b->n > 0 && b->p[b->n - 1] == ' ')
		b->n--;
	buf_putc(b, '\n');
	arena_free(&a);
}

static void
put_table(struct buf *b, const struct check *const *v, size_t n,
    const struct report_opts *o)
{
	size_t width = SKILL_MIN, ready = 0, i, w;

	for (i = 0; i < n; i++) {
		w = report_cols(v[i]->skill.name, SKILL_MAX);
		width = w > width ? w : width;
		ready += v[i]->ready;
	}
	if (is_narrow(o))
		width = o->width - 4;
	else if (o->width > 0 && width + TABLE_REST > o->width)
		width = o->width - TABLE_REST;
	buf_fmt(b, "  %-*s%s%-11s  %-11s  %-4s  %-5s  %s\n",
	    is_narrow(o) ? 0 : (int)width, "Skill", is_narrow(o) ? "\n    " :
	    "  ", "Compliance", "Tokens", "Spec", "Links", "Suite");
	for (i = 0; i < n; i++)
		put_table_row(b, v[i], width, o);
	buf_fmt(b, "\n%zu of %zu skills are ready\n", ready, n);
}

void
report_check_text(struct buf *b, const struct check *const *v, size_t n,
    const struct report_opts *opts)
{
	struct report_opts o = *opts;
	size_t i;

	o.wrap = true;
	if (n == 1) {
		put_skill(b, v[0], true, &o);
		return;
	}
	for (i = 0; i < n; i++)
		if (v[i]->count[CHECK_ERROR] + v[i]->count[CHECK_WARNING] > 0)
			put_skill(b, v[i], false, &o);
	put_table(b, v, n, &o);
}

/* SPDX-License-Identifier: ISC */
/* Coverage as JSON, as Markdown and as a badge. */
#include "skill/coverage.h"

#include <string.h>

#include "json.h"

/* As the original writes them. */
static const char *const level_words[] = {
	[COVERAGE_NONE] = "❌ None",
	[COVERAGE_PARTIAL] = "⚠️ Partial",
	[COVERAGE_FULL] = "✅ Full",
};

double
coverage_percent(const struct coverage *c)
{
	return c->n == 0 ? 0 : (double)c->count[COVERAGE_FULL] * 100 /
	    (double)c->n;
}

static void
put_skill(struct json_out *o, const struct coverage_skill *k)
{
	json_open(o, '{');
	json_put_member_str(o, "skill", k->name);
	json_put_member_int(o, "tasks", (int64_t)k->patterns);
	if (k->kinds.n > 0)
		field_put_strs(o, "graders", &k->kinds);
	else
		json_put_member_null(o, "graders");
	json_put_member_cstr(o, "coverage", level_words[k->level]);
	json_put_member_cstr(o, "path", k->file);
	json_put_member_int(o, "evals", (int64_t)k->evals);
	json_put_member_int(o, "task_count", (int64_t)k->tasks);
	json_put_member_int(o, "triggers", (int64_t)k->triggers);
	json_close(o, '}');
}

void
coverage_put(struct json_out *o, const struct coverage *c)
{
	size_t i;

	json_open(o, '{');
	json_put_member_int(o, "total_skills", (int64_t)c->n);
	json_put_member_int(o, "covered", (int64_t)c->count[COVERAGE_FULL]);
	json_put_member_int(o, "partial",
	    (int64_t)c->count[COVERAGE_PARTIAL]);
	json_put_member_int(o, "uncovered", (int64_t)c->count[COVERAGE_NONE]);
	json_put_member_double(o, "coverage_pct", coverage_percent(c));
	json_open_member(o, "skills", '[');
	for (i = 0; i < c->n; i++)
		put_skill(o, &c->v[i]);
	json_close(o, ']');
	json_close(o, '}');
}

/* Text of a cell: no character can end it or begin markup. */
static void
put_cell(struct buf *b, struct str s)
{
	static const char markup[] = "|\\`*_[]<>#&~";
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (memchr(markup, s.p[i], sizeof(markup) - 1) != NULL)
			buf_putc(b, '\\');
		buf_putc(b, (unsigned char)s.p[i] < ' ' ? ' ' : s.p[i]);
	}
}

void
coverage_markdown(struct buf *b, const struct coverage *c)
{
	const struct coverage_skill *k;
	size_t i, n;

	buf_fmt(b, "## Coverage: %.1f%%\n\n", coverage_percent(c));
	buf_fmt(b, "%zu of %zu skills are covered, %zu partially, %zu not.\n\n",
	    c->count[COVERAGE_FULL], c->n, c->count[COVERAGE_PARTIAL],
	    c->count[COVERAGE_NONE]);
	buf_puts(b, "| Skill | Tasks | Triggers | Graders | Coverage |\n"
	    "| --- | ---: | ---: | --- | --- |\n");
	for (i = 0; i < c->n; i++) {
		k = &c->v[i];
		buf_puts(b, "| ");
		put_cell(b, k->name);
		buf_fmt(b, " | %zu | %zu | ", k->tasks, k->triggers);
		for (n = 0; n < k->kinds.n; n++) {
			buf_puts(b, n > 0 ? ", " : "");
			put_cell(b, k->kinds.v[n]);
		}
		buf_fmt(b, " | %s |\n", level_words[k->level]);
	}
}

void
coverage_badge(struct buf *b, const struct coverage *c)
{
	double all = coverage_percent(c);
	/* whole percents: 100 only if all are covered, 0 only if none is */
	double pct = all > 0 && all < 1 ? 1 : all > 99 && all < 100 ? 99 : all;
	const char *color = pct >= 90 ? "#2e7d32" : pct >= 60 ? "#8a6d00" :
	    "#b3261e";

	buf_fmt(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"126\" "
	    "height=\"20\" role=\"img\" aria-label=\"eval coverage: "
	    "%.0f%%\">\n"
	    "<title>eval coverage: %.0f%%</title>\n"
	    "<rect width=\"86\" height=\"20\" fill=\"#444\"/>\n"
	    "<rect x=\"86\" width=\"40\" height=\"20\" fill=\"%s\"/>\n"
	    "<g fill=\"#fff\" text-anchor=\"middle\" font-family=\"Verdana,"
	    "DejaVu Sans,sans-serif\" font-size=\"11\">\n"
	    "<text x=\"43\" y=\"14\">eval coverage</text>\n"
	    "<text x=\"106\" y=\"14\">%.0f%%</text>\n"
	    "</g>\n</svg>\n", pct, pct, color, pct);
}

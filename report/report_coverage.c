/* SPDX-License-Identifier: ISC */
/* The report of `waza coverage` for people. */
#include "report/report_coverage.h"

#include "report/report_internal.h"
#include "skill/coverage.h"

enum { SKILL_MIN = 10, SKILL_MAX = 30, FIXED = 30,
	KINDS_MIN = 10 };

/* Whether the name needs a line of its own. */
static bool
is_narrow(const struct report_opts *o)
{
	return o->width > 0 && o->width < SKILL_MIN + FIXED + KINDS_MIN;
}

static void
put_row(struct buf *b, const struct coverage_skill *k, size_t width,
    const struct report_opts *o)
{
	static const enum result_status marks[] = {
		[COVERAGE_NONE] = RESULT_FAILED,
		[COVERAGE_PARTIAL] = RESULT_AGENT_ERROR,
		[COVERAGE_FULL] = RESULT_PASSED,
	};
	static const char *const words[] = { "none", "partial", "full" };
	size_t cols = o->width > 0 ? o->width : 80, i;
	struct buf kinds = { 0 };

	report_mark(b, marks[k->level], o);
	report_cell(b, k->name, width, o->ascii);
	buf_fmt(b, "%s%-8s  %5zu  %8zu  ", is_narrow(o) ? "\n    " : "  ",
	    words[k->level], k->tasks, k->triggers);
	for (i = 0; i < k->kinds.n; i++)
		buf_fmt(&kinds, "%s%.*s", i > 0 ? ", " : "",
		    STRF(k->kinds.v[i]));
	report_line(b, kinds.n > 0 ? buf_str(&kinds) : STR("-"),
	    cols > width + FIXED + KINDS_MIN ? cols - width - FIXED :
	    KINDS_MIN, o->ascii);
	buf_putc(b, '\n');
	buf_free(&kinds);
}

void
report_coverage(struct buf *b, const struct coverage *c,
    const struct report_opts *o)
{
	size_t width = SKILL_MIN, i, w;

	for (i = 0; i < c->n; i++) {
		w = report_cols(c->v[i].name, SKILL_MAX);
		width = w > width ? w : width;
	}
	if (is_narrow(o))
		width = o->width - 4;
	else if (o->width > 0 && width + FIXED + KINDS_MIN > o->width)
		width = o->width - FIXED - KINDS_MIN;
	buf_fmt(b, "  %-*s%s%-8s  %5s  %8s  %s\n", is_narrow(o) ? 0 :
	    (int)width, "Skill", is_narrow(o) ? "\n    " : "  ", "Coverage",
	    "Tasks", "Triggers", "Graders");
	for (i = 0; i < c->n; i++)
		put_row(b, &c->v[i], width, o);
	buf_fmt(b, "\n%zu of %zu skills are covered (%.1f%%), %zu partially, "
	    "%zu not\n", c->count[COVERAGE_FULL], c->n, coverage_percent(c),
	    c->count[COVERAGE_PARTIAL], c->count[COVERAGE_NONE]);
}

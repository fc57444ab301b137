/* SPDX-License-Identifier: ISC */
/*
 * waza tokens suggest: where a Markdown file could save tokens.  The rules and
 * their numbers are those of the original.
 *
 * Repeats: a text that is followed by itself has a period p, from p = 20 on,
 * and text[i] == text[i + p] for p successive i.  Among any p successive
 * positions one is a multiple of p, so only these are compared with the
 * position p further, and extended in both directions.  That takes n / p
 * comparisons for each p, n log n for all, unless a text is made of repeats;
 * then a limit ends the search.  Short periods are found first.
 */
#include "cmd/skill/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

enum {
	EMOJIS = 2, EMOJI_TOKENS = 2,
	CODE_LINES = 10, CODE_TOKENS = 16,
	TABLE_ROWS = 10, ROW_TOKENS = 12,
	RULES = 3, RULE_TOKENS = 2,
	REPEAT_MIN = 20,		/* bytes */
	REPEAT_TEXT = 1 << 20,		/* bytes that are searched */
	REPEAT_WORK = 1 << 27,		/* comparisons */
	SAVINGS = 10			/* default of --min-savings */
};

struct suggestion {
	int64_t line, savings;
	const char *issue, *advice;
};

struct analysis {
	struct tokens *t;
	const struct tokens_scope *scope;
	const struct tokens_file *file;
	struct buf list;		/* of struct suggestion */
	int64_t min, savings;
};

static void
add(struct analysis *a, int64_t line, int64_t savings, bool always,
    const char *issue, const char *advice)
{
	struct suggestion s = { line, savings, issue, advice };

	if (savings < a->min && !always)
		return;
	a->savings += savings;
	buf_put(&a->list, (struct str){ (const char *)&s, sizeof(s) });
}

static const char *text(struct analysis *, const char *, ...) PRINTF(2, 3);

static const char *
text(struct analysis *a, const char *fmt, ...)
{
	struct str s;
	va_list ap;

	va_start(ap, fmt);
	s = arena_vfmt(a->t->arena, fmt, ap);
	va_end(ap);
	return s.p;
}

static void
find_emojis(struct analysis *a, struct str s)
{
	const char *p = s.p, *end = s.p + s.n;
	int64_t n = 0;
	uint32_t cp;
	size_t k;

	for (; p < end; p += k > 0 ? k : 1) {
		k = utf8_get(p, end, &cp);
		n += k > 0 && ((cp >= 0x1F300 && cp <= 0x1F9FF) ||
		    (cp >= 0x2600 && cp <= 0x26FF));
	}
	if (n > EMOJIS)
		add(a, 1, (n - EMOJIS) * EMOJI_TOKENS, false, text(a,
		    "Found %lld emojis (%lld over recommended %d)",
		    (long long)n, (long long)n - EMOJIS, EMOJIS), "Remove "
		    "decorative emojis that don't aid comprehension");
}

/* Lines of one kind that follow each other, or are between fences. */
struct block {
	bool open;
	int64_t start, lines;
};

static void
end_code(struct analysis *a, const struct block *b)
{
	int64_t over = b->lines - CODE_LINES;

	if (over > 0)
		add(a, b->start, over * CODE_TOKENS, false, text(a,
		    "Code block with %lld lines (%lld over %d)",
		    (long long)b->lines, (long long)over, CODE_LINES),
		    "Consider truncating example or moving to reference file");
}

static void
end_table(struct analysis *a, struct block *b)
{
	int64_t over = b->lines - TABLE_ROWS;

	if (over > 0)
		add(a, b->start, over * ROW_TOKENS, false, text(a,
		    "Table with %lld rows (%lld over %d)",
		    (long long)b->lines, (long long)over, TABLE_ROWS),
		    "Consider summarizing or moving to reference file");
	*b = (struct block){ .open = false };
}

static void
see_code(struct analysis *a, struct block *b, struct str line, int64_t n)
{
	if (!str_starts(line, STR("```"))) {
		b->lines += b->open;
		return;
	}
	if (b->open)
		end_code(a, b);
	*b = (struct block){ .open = !b->open, .start = n };
}

static void
see_table(struct analysis *a, struct block *b, struct str line, int64_t n)
{
	line = str_trim(line);
	if (!str_starts(line, STR("|")) || !str_ends(line, STR("|")))
		end_table(a, b);
	else if (b->lines++ == 0)
		b->start = n;
}

/* Three or more of - * _ and nothing else. */
static bool
is_rule(struct str s)
{
	size_t i;

	if (s.n > 0 && s.p[s.n - 1] == '\r')
		s.n--;
	if (s.n < 3 || strchr("-*_", s.p[0]) == NULL)
		return false;
	for (i = 1; i < s.n; i++)
		if (s.p[i] != s.p[0])
			return false;
	return true;
}

static void
find_blocks(struct analysis *a, struct str s)
{
	struct block code = { .open = false }, table = { .open = false };
	int64_t n = 0, rules = 0;
	const char *end;
	struct str line;

	while (s.n > 0) {
		end = memchr(s.p, '\n', s.n);
		line = (struct str){ s.p, end != NULL ? (size_t)(end - s.p) :
			s.n };
		s.p += line.n + (end != NULL);
		s.n -= line.n + (end != NULL);
		n++;
		see_code(a, &code, line, n);
		see_table(a, &table, line, n);
		rules += is_rule(line);
	}
	end_table(a, &table);
	if (rules > RULES)
		add(a, 1, (rules - RULES) * RULE_TOKENS, false, text(a,
		    "Found %lld horizontal rules", (long long)rules), "Reduce visual "
		    "separators, use headings instead");
}

/*
 * Repeats.
 */
struct repeats {
	struct str s;
	uint32_t *periods;	/* shortest period of a repeat from here */
	int64_t work;		/* left */
};

/* Extends the equality of positions j and j + p, and notes the repeats. */
static void
extend(struct repeats *r, size_t j, size_t p)
{
	const char *s = r->s.p;
	size_t after = 0, before = 0, i;

	while (after < p && j + p + after < r->s.n &&
	    s[j + after] == s[j + p + after])
		after++;
	while (before + 1 < p && before < j &&
	    s[j - before - 1] == s[j + p - before - 1])
		before++;
	r->work -= (int64_t)(after + before + 1);
	if (after + before < p)
		return;
	for (i = j - before; i <= j + after - p; i++)
		if (r->periods[i] == 0)
			r->periods[i] = (uint32_t)p;
}

static void
find_periods(struct repeats *r)
{
	size_t p, j;

	for (p = REPEAT_MIN; 2 * p <= r->s.n && r->work > 0; p++)
		for (j = 0; j + p < r->s.n && r->work > 0; j += p)
			extend(r, j, p);
}

static int64_t
line_of(struct str s, size_t at)
{
	int64_t n = 1;
	size_t i;

	for (i = 0; i < at; i++)
		n += s.p[i] == '\n';
	return n;
}

static void
find_repeats(struct analysis *a, struct str s)
{
	struct arena scratch = { 0 };
	struct repeats r = { .work = REPEAT_WORK };
	size_t i, end, p;
	int64_t tokens;

	s.n = s.n < REPEAT_TEXT ? s.n : REPEAT_TEXT;
	r.s = s;
	r.periods = NEW_N(&scratch, uint32_t, s.n + 1);
	find_periods(&r);
	for (i = 0; i < s.n; i = end) {
		p = r.periods[i];
		end = i + 1;
		if (p == 0)
			continue;
		for (end = i + p; end + p <= s.n &&
		    memcmp(s.p + i, s.p + end, p) == 0; )
			end += p;
		tokens = token_count(&a->t->counter, &scratch,
		    (struct str){ s.p + i, end - i });
		add(a, line_of(s, i), tokens / 2, false, "Potential duplicate "
		    "content detected", "Remove redundant text or use "
		    "references");
	}
	arena_free(&scratch);
}

static void
analyse(struct analysis *a, struct str s)
{
	const struct tokens_file *f = a->file;

	find_emojis(a, s);
	find_blocks(a, s);
	find_repeats(a, s);
	if (f->tokens > f->limit.limit)
		add(a, 1, 0, true, text(a, "File exceeds token limit "
		    "(%lld/%lld)", (long long)f->tokens,
		    (long long)f->limit.limit), "Split content into "
		    "multiple files or use reference documents");
}

/*
 * Output.
 */
static void
put_json(struct json_out *o, const struct analysis *a)
{
	const struct suggestion *v = (const void *)a->list.p;
	size_t i, n = a->list.n / sizeof(*v);

	json_open(o, '{');
	json_put_member_nonempty(o, "skill", a->scope->skill);
	json_put_member_str(o, "file", a->file->path);
	json_put_member_int(o, "tokens", a->file->tokens);
	json_put_member_int(o, "characters", (int64_t)a->file->bytes);
	json_put_member_int(o, "lines", a->file->lines);
	json_open_member(o, "suggestions", '[');
	for (i = 0; i < n; i++) {
		json_open(o, '{');
		json_put_member_int(o, "line", v[i].line);
		json_put_member_cstr(o, "issue", v[i].issue);
		json_put_member_cstr(o, "suggestion", v[i].advice);
		if (v[i].savings > 0)
			json_put_member_int(o, "estimatedSavings",
			    v[i].savings);
		json_close(o, '}');
	}
	json_close(o, ']');
	if (a->savings > 0)
		json_put_member_int(o, "potentialSavings", a->savings);
	json_close(o, '}');
}

static void
put_text(const struct analysis *a)
{
	const struct suggestion *v = (const void *)a->list.p;
	size_t i, n = a->list.n / sizeof(*v);
	struct buf *b = &a->t->out;

	if (a->t->format == TOKENS_TABLE)
		buf_fmt(b, "%.*s (%lld tokens)\n", STRF(a->file->path),
		    (long long)a->file->tokens);
	for (i = 0; i < n; i++)
		if (a->t->format == TOKENS_GITHUB)
			tokens_put_command(b, "notice", a->file->path,
			    v[i].line, arena_fmt(a->t->arena, "%s: %s",
			    v[i].issue, v[i].advice).p);
		else
			buf_fmt(b, "  line %lld: %s\n    %s%s\n",
			    (long long)v[i].line, v[i].issue, v[i].advice,
			    v[i].savings > 0 ? arena_fmt(a->t->arena,
			    " (saves about %lld tokens)",
			    (long long)v[i].savings).p : "");
}

/* Reads and reports one file; its savings, or -1. */
static int64_t
suggest_file(struct tokens *t, const struct tokens_scope *s,
    struct tokens_file *f, int64_t min, struct json_out *o)
{
	struct analysis a = { .t = t, .scope = s, .file = f, .min = min };
	struct arena scratch = { 0 };
	struct str content;
	int64_t r = -1;

	if (tokens_read(t, f, &scratch, &content) == 0) {
		analyse(&a, content);
		if (a.list.n > 0 && o != NULL)
			put_json(o, &a);
		else if (a.list.n > 0)
			put_text(&a);
		r = a.savings;
	}
	buf_free(&a.list);
	arena_free(&scratch);
	return r;
}

/* Adds the savings of all files; -1 after an error. */
static int
suggest_scope(struct tokens *t, struct tokens_scope *s, int64_t min,
    struct json_out *o, int64_t *sum)
{
	int64_t n;
	size_t i;
	int r = 0;

	if (tokens_limits(t, s) == -1)
		return -1;
	for (i = 0; i < s->n; i++) {
		n = suggest_file(t, s, &s->v[i], min, o);
		*sum += n > 0 ? n : 0;
		r = n == -1 ? -1 : r;
	}
	return r;
}

static int
get_min(struct tokens *t, int64_t *min)
{
	const char *s = t->opt->min_savings;
	char *end;

	*min = SAVINGS;
	if (t->opt->copilot)
		return err_set(t->call->err, ERR_SCHEMA, "--copilot is not "
		    "supported: use \"waza quality SKILL\", which asks the "
		    "model of a judge");
	if (t->opt->model != NULL)
		return err_set(t->call->err, ERR_SCHEMA, "--model is valid "
		    "only with --copilot");
	if (s == NULL)
		return 0;
	*min = strtoll(s, &end, 10);
	if (end == s || *end != '\0' || *min < 0 || *min == INT64_MAX)
		return err_set(t->call->err, ERR_SCHEMA, "--min-savings must "
		    "be a number of tokens, 0 or more, not \"%.40s\"", s);
	return 0;
}

int
tokens_suggest(struct tokens *t)
{
	struct json_out o = { .put = buf_sink, .ctx = &t->out, .indent = 2 };
	struct tokens_scopes all;
	bool json = t->format == TOKENS_JSON;
	int64_t min, sum = 0;
	size_t i;
	int status = CMD_OK;

	if (get_min(t, &min) == -1 || tokens_find(t, true, &all) == -1)
		return cmd_complain(t->call->err);
	if (json) {
		json_open(&o, '{');
		tokens_put_time(&o, "timestamp");
		tokens_put_counter(&o, t);
		json_open_member(&o, "analyses", '[');
	}
	for (i = 0; i < all.n; i++) {
		if (all.batch && t->format == TOKENS_TABLE)
			tokens_put_heading(&t->out, all.v[i].skill);
		if (suggest_scope(t, &all.v[i], min, json ? &o : NULL,
		    &sum) == -1)
			status = CMD_ERROR;
	}
	if (json) {
		json_close(&o, ']');
		if (sum > 0)
			json_put_member_int(&o, "totalPotentialSavings", sum);
		json_close(&o, '}');
		buf_putc(&t->out, '\n');
	} else
		buf_fmt(&t->out, "%sPotential savings: %lld tokens (%s)\n",
		    t->out.n > 0 ? "\n" : "", (long long)sum,
		    token_counter_name(&t->counter));
	return status;
}

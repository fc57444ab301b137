/* SPDX-License-Identifier: ISC */
/*
 * waza tokens compare: how the tokens of Markdown files changed between two
 * revisions, or from one to the working tree.
 */
#include "cmd/skill/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "suite/config.h"
#include "yaml_lite.h"

#define WORKING "WORKING"	/* the name of the working tree */

enum { BASE, HEAD, SIDES };
enum status { ADDED, REMOVED, MODIFIED, UNCHANGED, STATUSES };
static const char *const status_names[] = { "added", "removed", "modified",
	"unchanged" };

struct side {
	const char *ref;
	struct str commit;
	struct tokens_tree tree;
	const char *roots[4];	/* of skills; for --skills */
};

struct numbers {
	int64_t tokens, characters, lines;
};

struct row {
	struct str path;
	bool has[SIDES];
	struct numbers n[SIDES];
	enum status status;
	int64_t diff;
	double percent;
	struct token_limit limit;
	bool exceeded, grown;	/* over the limit; over the threshold */
};

struct comparison {
	struct tokens *t;
	struct side side[SIDES];
	struct row *v;
	size_t n, shown;
	double threshold;	/* percent; negative: none */
	int64_t total[SIDES];
	size_t count[STATUSES], increased, decreased, exceeded, grown;
	bool failed;		/* a file could not be read */
};

/*
 * Input.
 */
static int
get_threshold(struct comparison *c)
{
	const char *s = c->t->opt->threshold;
	char *end;

	c->threshold = -1;
	if (s == NULL)
		return 0;
	c->threshold = strtod(s, &end);
	if (end == s || *end != '\0' || !(c->threshold >= 0) ||
	    c->threshold > 1e9)
		return err_set(c->t->call->err, ERR_SCHEMA, "--threshold must "
		    "be a number of percent, 0 or more, not \"%.40s\"", s);
	return 0;
}

static const char *
without_slashes(struct arena *a, struct str s)
{
	while (s.n > 2 && str_starts(s, STR("./")))
		s = (struct str){ s.p + 2, s.n - 2 };
	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	return s.n == 0 ? NULL : arena_cstr(a, s);
}

/* The directories of skills on a side: its .waza.yaml can name another. */
static int
find_roots(struct comparison *c, struct side *s)
{
	struct arena *a = c->t->arena;
	const struct json *v = NULL;
	struct str text, skills = STR("");
	struct err e = { 0 };

	s->roots[0] = "skills";
	s->roots[1] = ".github/skills";
	s->roots[2] = ".apm/skills";
	if (strcmp(s->ref, WORKING) == 0)
		skills = c->t->config->paths.skills;
	else if (tokens_blob(c->t, s->commit, ".waza.yaml", &text,
	    c->t->call->err) == -1)
		return -1;
	else if (text.p != NULL) {
		v = yaml_read_one(a, text, &e);
		if (v == NULL)
			return err_set(c->t->call->err, ERR_SYNTAX,
			    "%s:.waza.yaml:%u:%u: %s", s->ref, e.line, e.col,
			    e.msg);
		skills = json_str(json_getc(v, "paths"), "skills");
	}
	s->roots[3] = without_slashes(a, skills);
	return 0;
}

static bool
is_skill(const struct side *s, struct str path)
{
	size_t i, n;

	for (i = 0; i < COUNTOF(s->roots) && tokens_is_skill(path); i++) {
		n = s->roots[i] != NULL ? strlen(s->roots[i]) : path.n;
		if (n < path.n && path.p[n] == '/' &&
		    memcmp(path.p, s->roots[i], n) == 0)
			return true;
	}
	return false;
}

static int
open_side(struct comparison *c, int which, const char *ref, bool missing)
{
	struct side *s = &c->side[which];
	struct err *e = c->t->call->err;
	size_t i, n = 0;
	int r = 0;

	s->ref = ref;
	if (strcmp(ref, WORKING) == 0)
		r = tokens_worktree(c->t, &s->tree, e);
	else if ((r = tokens_revision(c->t, ref, missing, &s->commit, e)) == 0)
		r = tokens_tree(c->t, s->commit, &s->tree, e);
	if (r != 0 || !c->t->opt->skills)
		return r;
	if (find_roots(c, s) == -1)
		return -1;
	for (i = 0; i < s->tree.n; i++)
		if (is_skill(s, s->tree.v[i].path))
			s->tree.v[n++] = s->tree.v[i];
	s->tree.n = n;
	return 0;
}

static int
open_sides(struct comparison *c)
{
	char **args = c->t->call->args;
	size_t n = c->t->call->nargs;
	int r = 1;

	if (n > 0)
		r = open_side(c, BASE, args[0], false);
	else if (c->t->opt->skills) {
		r = open_side(c, BASE, "origin/main", true);
		if (r == 1)
			r = open_side(c, BASE, "main", false);
	} else
		r = open_side(c, BASE, "HEAD", false);
	return r != 0 ? -1 : open_side(c, HEAD, n > 1 ? args[1] : WORKING,
	    false);
}

static struct numbers
count(struct tokens *t, struct str text)
{
	struct arena scratch = { 0 };
	const char *p = text.p, *end = text.p + text.n;
	struct numbers out = { .lines = tokens_lines(text) };
	uint32_t cp;
	size_t k;

	for (; p < end; p += k > 0 ? k : 1, out.characters++)
		k = utf8_get(p, end, &cp);
	out.tokens = token_count(&t->counter, &scratch, text);
	arena_free(&scratch);
	return out;
}

static void
judge(struct comparison *c, struct row *r)
{
	int64_t was = r->n[BASE].tokens, is = r->n[HEAD].tokens;

	r->diff = is - was;
	r->percent = was > 0 ? 100 * (double)r->diff / (double)was :
	    is > 0 ? 100 : 0;
	r->status = !r->has[BASE] ? ADDED : !r->has[HEAD] ? REMOVED :
	    was != is ? MODIFIED : UNCHANGED;
	r->grown = c->threshold >= 0 && r->has[BASE] && r->has[HEAD] &&
	    r->percent > c->threshold;
	r->exceeded = c->t->opt->strict && r->has[HEAD] &&
	    is > r->limit.limit;
	c->total[BASE] += was;
	c->total[HEAD] += is;
	c->count[r->status]++;
	c->increased += r->diff > 0;
	c->decreased += r->diff < 0;
	c->exceeded += r->exceeded;
	c->grown += r->grown;
}

static void
fill(struct comparison *c, struct row *r, int side, struct tokens_blob *b)
{
	r->has[side] = true;
	if (b->error != NULL) {
		cmd_say("waza: %s\n", b->error);
		c->failed = true;
	} else
		r->n[side] = count(c->t, b->text);
}

/* Joins both lists by path. */
static void
join(struct comparison *c, const struct token_rules *rules)
{
	struct tokens_tree *a = &c->side[BASE].tree, *b = &c->side[HEAD].tree;
	size_t i = 0, k = 0;
	struct row *r;
	int d;

	c->v = NEW_N(c->t->arena, struct row, a->n + b->n);
	while (i < a->n || k < b->n) {
		r = &c->v[c->n++];
		d = i == a->n ? 1 : k == b->n ? -1 :
		    str_cmp(a->v[i].path, b->v[k].path);
		r->path = d <= 0 ? a->v[i].path : b->v[k].path;
		r->limit = token_limit(&c->t->settings, rules, r->path,
		    STR(""));
		if (d <= 0)
			fill(c, r, BASE, &a->v[i++]);
		if (d >= 0)
			fill(c, r, HEAD, &b->v[k++]);
		judge(c, r);
	}
}

/* Changed rows first; unchanged ones only if they are asked for. */
static int
by_change(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	bool p = a->status == UNCHANGED, q = b->status == UNCHANGED;

	return p != q ? (p ? 1 : -1) : str_cmp(a->path, b->path);
}

static bool
passed(const struct comparison *c)
{
	return c->exceeded == 0 && c->grown == 0;
}

/*
 * Output.
 */
static void
put_numbers(struct json_out *o, const char *key, const struct row *r, int side)
{
	if (!r->has[side]) {
		json_put_member_null(o, key);
		return;
	}
	json_open_member(o, key, '{');
	json_put_member_int(o, "tokens", r->n[side].tokens);
	json_put_member_int(o, "characters", r->n[side].characters);
	json_put_member_int(o, "lines", r->n[side].lines);
	json_close(o, '}');
}

static void
put_row_json(struct json_out *o, const struct comparison *c,
    const struct row *r)
{
	json_open(o, '{');
	json_put_member_str(o, "file", r->path);
	put_numbers(o, "before", r, BASE);
	put_numbers(o, "after", r, HEAD);
	json_put_member_int(o, "diff", r->diff);
	json_put_member_double(o, "percentChange", r->percent);
	json_put_member_cstr(o, "status", status_names[r->status]);
	if (c->t->opt->strict && r->has[HEAD]) {
		json_put_member_int(o, "limit", r->limit.limit);
		json_put_member_bool(o, "exceeded", r->exceeded);
	}
	json_close(o, '}');
}

static double
total_percent(const struct comparison *c)
{
	int64_t d = c->total[HEAD] - c->total[BASE];

	return c->total[BASE] > 0 ? 100 * (double)d / (double)c->total[BASE] :
	    d > 0 ? 100 : 0;
}

static void
put_json(struct comparison *c)
{
	struct json_out o = { .put = buf_sink, .ctx = &c->t->out,
		.indent = 2 };
	size_t i;

	json_open(&o, '{');
	json_put_member_cstr(&o, "baseRef", c->side[BASE].ref);
	json_put_member_cstr(&o, "headRef", c->side[HEAD].ref);
	tokens_put_time(&o, "timestamp");
	tokens_put_counter(&o, c->t);
	json_put_member_double(&o, "threshold", c->threshold < 0 ? 0 :
	    c->threshold);
	json_put_member_bool(&o, "passed", passed(c));
	json_open_member(&o, "summary", '{');
	json_put_member_int(&o, "totalBefore", c->total[BASE]);
	json_put_member_int(&o, "totalAfter", c->total[HEAD]);
	json_put_member_int(&o, "totalDiff", c->total[HEAD] - c->total[BASE]);
	json_put_member_double(&o, "percentChange", total_percent(c));
	json_put_member_int(&o, "filesAdded", (int64_t)c->count[ADDED]);
	json_put_member_int(&o, "filesRemoved", (int64_t)c->count[REMOVED]);
	json_put_member_int(&o, "filesModified", (int64_t)c->count[MODIFIED]);
	json_put_member_int(&o, "filesIncreased", (int64_t)c->increased);
	json_put_member_int(&o, "filesDecreased", (int64_t)c->decreased);
	if (c->t->opt->strict)
		json_put_member_int(&o, "exceededCount",
		    (int64_t)c->exceeded);
	json_close(&o, '}');
	json_open_member(&o, "files", '[');
	for (i = 0; i < c->shown; i++)
		put_row_json(&o, c, &c->v[i]);
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(&c->t->out, '\n');
}

static void
put_cell(struct buf *b, const struct row *r, int side)
{
	if (r->has[side])
		buf_fmt(b, "  %8lld", (long long)r->n[side].tokens);
	else
		buf_puts(b, "         -");
}

/* The columns of the widest change: +4080.8% needs more than most. */
static int
change_width(const struct comparison *c)
{
	int n, most = snprintf(NULL, 0, "%+.1f", total_percent(c));
	size_t i;

	for (i = 0; i < c->shown; i++) {
		n = snprintf(NULL, 0, "%+.1f", c->v[i].percent);
		most = n > most ? n : most;
	}
	return most > 6 ? most : 6;
}

static void
put_table(struct comparison *c)
{
	static const char *const marks[] = { "+", "-", "~", " " };
	struct buf *b = &c->t->out;
	int change = change_width(c);
	size_t i, width = 5, rest = 35 + (size_t)change;	/* of Total */

	for (i = 0; i < c->shown; i++)
		width = tokens_width(c->v[i].path, width);
	width = tokens_fit(width, rest);
	buf_fmt(b, "%s -> %s\n\n  %-*s    Before     After      Diff  "
	    "%*s\n", c->side[BASE].ref, c->side[HEAD].ref, (int)width,
	    "File", change + 1, "Change");
	tokens_put_rule(b, width + rest);
	for (i = 0; i < c->shown; i++) {
		const struct row *r = &c->v[i];

		buf_fmt(b, "%s ", marks[r->status]);
		tokens_put_path(b, r->path, width);
		put_cell(b, r, BASE);
		put_cell(b, r, HEAD);
		buf_fmt(b, "  %+8lld  %+*.1f%%%s%s\n", (long long)r->diff,
		    change, r->percent, r->exceeded ? "  over the limit" : "",
		    r->grown ? "  over the threshold" : "");
	}
	tokens_put_rule(b, width + rest);
	buf_fmt(b, "  %-*s  %8lld  %8lld  %+8lld  %+*.1f%%\n\n", (int)width,
	    "Total", (long long)c->total[BASE], (long long)c->total[HEAD],
	    (long long)(c->total[HEAD] - c->total[BASE]), change,
	    total_percent(c));
}

static const char *
describe(struct comparison *c, const struct row *r)
{
	struct buf b = { 0 };

	buf_fmt(&b, "%s: %lld -> %lld tokens (%+.1f%%)",
	    status_names[r->status], (long long)r->n[BASE].tokens,
	    (long long)r->n[HEAD].tokens, r->percent);
	if (r->exceeded)
		buf_fmt(&b, ", %lld over the limit of %lld", (long long)
		    (r->n[HEAD].tokens - r->limit.limit),
		    (long long)r->limit.limit);
	if (r->grown)
		buf_fmt(&b, ", more than the threshold of %g%%", c->threshold);
	return arena_take(c->t->arena, &b).p;
}

static void
put_text(struct comparison *c)
{
	struct buf *b = &c->t->out;
	size_t i;

	if (c->t->format == TOKENS_GITHUB)
		for (i = 0; i < c->shown; i++)
			tokens_put_command(b, c->v[i].exceeded ||
			    c->v[i].grown ? "error" : "notice", c->v[i].path,
			    1, describe(c, &c->v[i]));
	else if (c->shown > 0)
		put_table(c);
	else
		buf_fmt(b, "No token changes from %s to %s.\n",
		    c->side[BASE].ref, c->side[HEAD].ref);
	buf_fmt(b, "%zu added, %zu removed, %zu modified; %zu increased, "
	    "%zu decreased\n", c->count[ADDED], c->count[REMOVED],
	    c->count[MODIFIED], c->increased, c->decreased);
	for (i = 0; c->t->format == TOKENS_TABLE && i < c->n; i++)
		if (c->v[i].exceeded || c->v[i].grown)
			buf_fmt(b, "❌ %.*s: %s\n", STRF(c->v[i].path),
			    describe(c, &c->v[i]));
	buf_fmt(b, "counted by: %s\n", token_counter_name(&c->t->counter));
}

int
tokens_compare(struct tokens *t)
{
	struct comparison c = { .t = t };
	struct token_rules rules;

	if (get_threshold(&c) == -1 || open_sides(&c) == -1)
		return cmd_complain(t->call->err);
	if (token_rules(t->arena, &t->settings, ".", &rules, &t->notes) == -1)
		return CMD_ERROR;
	join(&c, &rules);
	if (c.failed)
		return CMD_ERROR;
	qsort(c.v, c.n, sizeof(*c.v), by_change);
	c.shown = t->opt->unchanged ? c.n : c.n - c.count[UNCHANGED];
	if (t->format == TOKENS_JSON)
		put_json(&c);
	else
		put_text(&c);
	return passed(&c) ? CMD_OK : CMD_FAILED;
}

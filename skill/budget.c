/* SPDX-License-Identifier: ISC */
/*
 * Limits of tokens per file; budget.h has the rules.
 *
 * A pattern is matched by computing, element by element, the set of offsets of
 * the path that its beginning can end at.  This takes time proportional to
 * pattern times path, whatever both contain.
 */
#include "skill/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/os_path.h"
#include "json.h"
#include "lib/bpe/bpe.h"
#include "lib/field.h"
#include "suite/config.h"
#include "suite/project.h"
#include "suite/spec.h"
#include "yaml_lite.h"

#define LIMIT_MAX INT64_C(1000000000000)

static const struct token_rule built_in_overrides[] = {
	{ { "CONTRIBUTING.md", 15 }, 2500, 0 },
	{ { "README.md", 9 }, 3000, 0 },
};
static const struct token_rule built_in_defaults[] = {
	{ { "SKILL.md", 8 }, 500, 10008 },
	{ { "references/**/*.md", 18 }, 1000, 178 },
	{ { "docs/**/*.md", 12 }, 1500, 172 },
	{ { "*.md", 4 }, 2000, 14 },
};
static const struct token_rules built_in = { NULL, built_in_overrides,
	built_in_defaults, COUNTOF(built_in_overrides),
	COUNTOF(built_in_defaults) };

int64_t
token_estimate(size_t bytes)
{
	return (int64_t)(bytes / 4 + (bytes % 4 != 0));
}

int
token_counter_read(struct arena *a, const char *vocab,
    struct token_counter *out, struct err *e)
{
	struct err bad = { 0 };
	enum bpe_rule rule;
	struct str text;

	*out = (struct token_counter){ 0 };
	if (bpe_rule_of(str_of(vocab), &rule, &bad) == -1)
		return err_set(e, bad.code, "%s: %s", vocab, bad.msg);
	if (os_read_plain(a, vocab, BPE_FILE_MAX, &text, e) == -1)
		return -1;
	out->bpe = bpe_read(a, text, rule, &bad);
	if (out->bpe == NULL && bad.line > 0)
		return err_set(e, bad.code, "%s:%u:%u: %s", vocab, bad.line,
		    bad.col, bad.msg);
	if (out->bpe == NULL)
		return err_set(e, bad.code, "%s: %s", vocab, bad.msg);
	out->encoding = bpe_name(rule);
	return 0;
}

int64_t
token_count(const struct token_counter *c, struct arena *scratch,
    struct str text)
{
	return c->bpe != NULL ? bpe_count(c->bpe, scratch, text) :
	    token_estimate(text.n);
}

const char *
token_counter_name(const struct token_counter *c)
{
	return c->bpe != NULL ? c->encoding : "estimate, one token for 4 "
	    "bytes";
}

/*
 * Matching.
 */
static bool
is_suffix(struct str name, struct str path)
{
	return str_eq(name, path) || (path.n > name.n &&
	    path.p[path.n - name.n - 1] == '/' && str_ends(path, name));
}

static bool
has(struct str s, char c)
{
	return s.n > 0 && memchr(s.p, c, s.n) != NULL;
}

/* at[i]: whether the pattern so far can end before path.p[i]. */
static void
step_star(bool *at, struct str path, bool slashes)
{
	size_t i;

	for (i = 0; i < path.n; i++)
		if (at[i] && (slashes || path.p[i] != '/'))
			at[i + 1] = true;
}

/* Any number of directories, each with its slash. */
static void
step_directories(bool *at, struct str path)
{
	bool open = false;
	size_t i;

	for (i = 0; i < path.n; i++) {
		open |= at[i];
		if (open && path.p[i] == '/')
			at[i + 1] = true;
	}
}

static void
step_byte(bool *at, struct str path, char c)
{
	size_t i;

	for (i = path.n; i > 0; i--)
		at[i] = at[i - 1] && path.p[i - 1] == c;
	at[0] = false;
}

/* anywhere: the match can begin after any slash. */
static bool
matches(struct str pattern, struct str path, bool anywhere)
{
	bool at[TOKEN_PATH_MAX + 1] = { true };
	size_t i, stars;

	for (i = 1; i < path.n; i++)
		at[i] = anywhere && path.p[i - 1] == '/';
	i = 0;
	while (i < pattern.n) {
		for (stars = 0; i < pattern.n && pattern.p[i] == '*'; i++)
			stars++;
		if (stars > 1 && i < pattern.n && pattern.p[i] == '/') {
			step_directories(at, path);
			i++;
		} else if (stars > 0)
			step_star(at, path, stars > 1);
		else
			step_byte(at, path, pattern.p[i++]);
	}
	return at[path.n];
}

bool
token_match(struct str pattern, struct str path)
{
	size_t skip = pattern.n > 0 && pattern.p[0] == '/';

	if (path.n > 0 && path.p[0] == '/')
		path = (struct str){ path.p + 1, path.n - 1 };
	if (pattern.n == 0 || pattern.n > TOKEN_PATTERN_MAX)
		return false;
	if (!has(pattern, '/') && !has(pattern, '*'))
		return is_suffix(pattern, path);
	return path.n <= TOKEN_PATH_MAX && matches((struct str){ pattern.p +
	    skip, pattern.n - skip }, path, !has(pattern, '/'));
}

static int64_t
specificity(struct str s)
{
	int64_t rank = (int64_t)s.n;
	size_t i = 0, stars;

	if (!has(s, '*'))
		rank += 10000;
	while (i < s.n) {
		for (stars = 0; i < s.n && s.p[i] == '*'; i++)
			stars++;
		rank += stars == 1 ? 10 : -50 * (int64_t)(stars / 2);
		if (stars == 0 && s.p[i++] == '/')
			rank += 100;
	}
	return rank;
}

struct token_limit
token_limit(const struct token_settings *s, const struct token_rules *r,
    struct str path, struct str wide)
{
	size_t i;

	for (i = 0; i < r->noverrides; i++)
		if (is_suffix(r->overrides[i].pattern, path) ||
		    is_suffix(r->overrides[i].pattern, wide))
			return (struct token_limit){ r->overrides[i].limit,
				r->overrides[i].pattern };
	for (i = 0; i < r->ndefaults; i++)
		if (token_match(r->defaults[i].pattern, path) ||
		    (wide.n > 0 && token_match(r->defaults[i].pattern, wide)))
			return (struct token_limit){ r->defaults[i].limit,
				r->defaults[i].pattern };
	return (struct token_limit){ s->fallback, { "", 0 } };
}

/*
 * Reading.
 */
struct reader {
	struct arena *arena;
	struct spec_notes *notes;
	const char *file;
	bool failed;
};

static void
fail(struct reader *r, const struct json *v, const char *msg)
{
	r->failed = true;
	spec_note(r->notes, FIELD_ERROR, spec_at(r->file, v), "%s", msg);
}

/* The more specific, or longer, one first. */
static int
order(const void *x, const void *y)
{
	const struct token_rule *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return str_cmp(a->pattern, b->pattern);
}

static void
check_pattern(struct reader *r, const struct json *v, bool overrides)
{
	struct spec_where at = { r->file, v->key_line, v->key_col };

	if (json_key(v).n > TOKEN_PATTERN_MAX)
		spec_note(r->notes, FIELD_WARNING, at, "a pattern of more "
		    "than %d bytes matches nothing", TOKEN_PATTERN_MAX);
	else if (overrides && has(json_key(v), '*'))
		spec_note(r->notes, FIELD_WARNING, at, "overrides are names, "
		    "in which * is an ordinary character: move the pattern "
		    "to \"defaults\"");
}

static const struct token_rule *
read_map(struct reader *r, const struct json *v, bool overrides, size_t *n)
{
	struct token_rule *rules;
	const struct json *m;

	*n = 0;
	if (!json_is_set(v))
		return NULL;
	if (v->type != JSON_OBJECT) {
		fail(r, v, "must be a mapping of patterns to numbers of "
		    "tokens");
		return NULL;
	}
	if (json_count(v) > TOKEN_RULES_MAX) {
		fail(r, v, "more than 1,000 patterns");
		return NULL;
	}
	rules = NEW_N(r->arena, struct token_rule, json_count(v));
	for (m = json_first(v); m != NULL; m = m->next) {
		check_pattern(r, m, overrides);
		rules[*n].pattern = arena_str(r->arena, json_key(m));
		rules[*n].rank = overrides ? (int64_t)json_key(m).n :
		    specificity(json_key(m));
		if (!json_int(m, &rules[*n].limit) || rules[*n].limit < 0 ||
		    rules[*n].limit > LIMIT_MAX)
			fail(r, m, "a limit must be a whole number of tokens, "
			    "0 or more");
		++*n;
	}
	qsort(rules, *n, sizeof(*rules), order);
	return rules;
}

static void
read_rules(struct reader *r, const struct json *v, struct token_rules *out)
{
	out->overrides = read_map(r, json_getc(v, "overrides"), true,
	    &out->noverrides);
	out->defaults = read_map(r, json_getc(v, "defaults"), false,
	    &out->ndefaults);
	if (json_is_set(json_getc(v, "overrides")) ||
	    json_is_set(json_getc(v, "defaults")))
		out->file = r->file;
}

/*
 * A project without trust can name only a file of its own.  config_load() has
 * reported paths that say themselves that they are not.
 */
static const char *
take_vocab(struct reader *r, const struct project *p, const struct json *v,
    struct str vocab)
{
	const char *dir = spec_dir_of(r->arena, p->path), *path;

	if (vocab.n == 0)
		return NULL;
	path = spec_join(r->arena, dir, vocab);
	if (p->state == PROJECT_TRUSTED || os_inside(dir, path))
		return path;
	if (vocab.p[0] != '/' && !str_starts(vocab, STR("..")))
		spec_note(r->notes, FIELD_WARNING, spec_at(r->file,
		    json_getc(v, "vocab")), "ignored: it leads out of the "
		    "project's directory, and the project is not trusted");
	return NULL;
}

static void
read_section(struct reader *r, const struct project *p, const struct json *v,
    struct token_settings *s)
{
	struct spec_source source = { r->notes, r->file };
	struct field_ctx ctx = { .arena = r->arena, .flags = FIELD_LAX |
		FIELD_OPEN, .report = spec_report, .ctx = &source,
		.path = "tokens" };
	struct config_token_limits in = config_defaults.tokens;

	if (!json_is_set(v))
		return;
	if (v->type != JSON_OBJECT) {
		fail(r, v, "\"tokens\" must be a mapping");
		return;
	}
	if (field_decode(&ctx, &config_token_table, v, &in) > 0)
		r->failed = true;
	s->warning = in.warning_threshold;
	s->fallback = in.fallback_limit;
	if (json_is_set(in.limits) && in.limits->type != JSON_OBJECT)
		fail(r, in.limits, "\"limits\" must be a mapping with "
		    "\"defaults\" and \"overrides\"");
	else
		read_rules(r, in.limits, &s->rules);
	s->vocab = take_vocab(r, p, v, in.vocab);
}

int
token_settings(struct arena *a, const struct config_sources *from,
    struct token_settings *s, struct spec_notes *notes)
{
	struct reader r = { .arena = a, .notes = notes };
	const struct json *v;
	struct err e = { 0 };
	struct project p;

	*s = (struct token_settings){
		.warning = config_defaults.tokens.warning_threshold,
		.fallback = config_defaults.tokens.fallback_limit };
	if (project_find(a, from, &p, &e) == -1) {
		spec_note(notes, FIELD_ERROR, (struct spec_where){ NULL, 0, 0 },
		    "%s", e.msg);
		return -1;
	}
	if (p.state == PROJECT_NONE || p.state == PROJECT_FOREIGN)
		return 0;
	r.file = p.path;
	v = yaml_read_one(a, p.text, &e);
	if (v == NULL || yaml_check_json(v, &e) == -1) {
		spec_note(notes, FIELD_ERROR, (struct spec_where){ p.path,
		    e.line, e.col }, "%s", e.msg);
		return -1;
	}
	read_section(&r, &p, json_getc(v, "tokens"), s);
	return r.failed ? -1 : 0;
}

static const struct json *
read_legacy(struct reader *r, struct str text)
{
	struct json_error je;
	const struct json *v = arena_json(r->arena, str_after_bom(text), &je);

	if (v == NULL) {
		r->failed = true;
		spec_note(r->notes, FIELD_ERROR, (struct spec_where){ r->file,
		    je.line, je.col }, "%s", je.msg);
	} else if (v->type != JSON_OBJECT ||
	    !json_is_set(json_getc(v, "defaults"))) {
		fail(r, v, "must be an object with \"defaults\": {PATTERN: "
		    "TOKENS}");
		return NULL;
	}
	return v;
}

int
token_rules(struct arena *a, const struct token_settings *s, const char *dir,
    struct token_rules *out, struct spec_notes *notes)
{
	struct reader r = { .arena = a, .notes = notes };
	const struct json *v;
	struct err e = { 0 };
	struct str text;

	*out = s->rules.file != NULL ? s->rules : built_in;
	r.file = spec_join(a, dir, STR(".token-limits.json"));
	if (s->rules.file != NULL || !spec_exists(r.file))
		return 0;
	spec_note(notes, FIELD_WARNING, (struct spec_where){ r.file, 0, 0 },
	    ".token-limits.json is deprecated: move the limits to "
	    "tokens.limits in .waza.yaml");
	if (os_read_plain(a, r.file, TOKEN_FILE_MAX, &text, &e) == -1) {
		spec_note(notes, FIELD_ERROR, (struct spec_where){ NULL, 0, 0 },
		    "%s", e.msg);
		return -1;
	}
	v = read_legacy(&r, text);
	if (v != NULL) {
		*out = (struct token_rules){ 0 };
		read_rules(&r, v, out);
	}
	return r.failed ? -1 : 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * The nine advisory checks, with the original's names, order and rules.  They
 * never decide whether a skill is ready; their findings are notes.
 */
#include "skill/check_internal.h"

#include <string.h>

#include "lib/re/re.h"

enum {
	MODULES_MANY = 4, MODULES_SOME = 2,
	TOKENS_MANY = 500, TOKENS_SOME = 200,
	CONSTRAINTS_MAX = 5,
	WORDS_MAX = 60,
	LINES_MAX = 500,	/* of the body */
	BLOCK_MAX = 50,		/* lines of a fenced block */
	SIGNALS_MIN = 2		/* of what a skill can do */
};

enum { PATTERN_STEP, PATTERN_DRIVE, PATTERN_ADDRESS, PATTERN_URL, PATTERN_PORT,
	PATTERN_NUMBERED, PATTERNS };

void
check_prepare(struct arena *a, struct check_env *env)
{
	static const char *const patterns[PATTERNS] = {
		[PATTERN_STEP] = "(?m)^step\\s+1\\s*:",
		[PATTERN_DRIVE] = "[a-z]:\\\\",
		[PATTERN_ADDRESS] = "\\b(?:\\d{1,3}\\.){3}\\d{1,3}\\b",
		[PATTERN_URL] = "https?://[^\\s\"'<>]+/[^\\s\"'<>]+",
		[PATTERN_PORT] = ":\\d{4,5}\\b",
		[PATTERN_NUMBERED] = "(?m)^\\s*\\d+\\.\\s",
	};
	struct err ignored;
	size_t i;

	for (i = 0; i < PATTERNS; i++)
		env->pattern[i] = re_compile(a, str_of(patterns[i]), &ignored);
}

struct advice {
	struct check *c;
	const struct check_env *env;
	const struct check_texts *t;
	struct check_item *item;
	struct buf why;		/* reasons of a warning */
	struct check_at at;	/* of the first one */
};

/* The place of an offset of the lower-case text; lines are the same. */
static struct check_at
at_offset(const struct advice *k, size_t off)
{
	struct check_at at = { k->c->skill.file, 1, 1 };

	json_place(k->t->all, off, &at.line, &at.col);
	return at;
}

static struct check_at
at_body(const struct advice *k)
{
	return (struct check_at){ k->c->skill.file, k->c->skill.body_line, 1 };
}

static void
warn(struct advice *k, struct check_at at, struct str reason)
{
	if (k->why.n == 0)
		k->at = at;
	buf_fmt(&k->why, "%s%.*s", k->why.n > 0 ? "; " : "", STRF(reason));
	k->item->passed = false;
	k->item->status = CHECK_WARN;
}

static void
check_modules(struct advice *k)
{
	size_t n = k->c->modules;

	if (n >= MODULES_MANY) {
		warn(k, at_body(k), arena_fmt(k->c->arena, "references/ has "
		    "%zu Markdown files: fewer than %d are easier to use", n,
		    MODULES_MANY));
		return;
	}
	k->item->status = n >= MODULES_SOME ? CHECK_OPTIMAL : CHECK_OK;
	k->item->summary = arena_fmt(k->c->arena, "references/ has %zu "
	    "Markdown file%s", n, n == 1 ? "" : "s");
}

static void
check_complexity(struct advice *k)
{
	size_t n = k->c->modules;
	bool detailed;

	if (k->c->tokens > TOKENS_MANY || n >= MODULES_MANY) {
		warn(k, (struct check_at){ k->c->skill.file, 1, 1 },
		    arena_fmt(k->c->arena, "comprehensive: %lld tokens, %zu "
		    "modules", (long long)k->c->tokens, n));
		return;
	}
	detailed = k->c->tokens >= TOKENS_SOME && n >= 1;
	k->item->status = detailed ? CHECK_OPTIMAL : CHECK_OK;
	k->item->summary = arena_fmt(k->c->arena, "%s: %lld tokens, %zu "
	    "module%s", detailed ? "detailed" : "compact",
	    (long long)k->c->tokens, n, n == 1 ? "" : "s");
}

static void
check_negative(struct advice *k)
{
	static const char *const paths[] = { "but alternatively",
		"however you can also", "another approach is" };
	static const char *const words[] = { "must not", "never", "always",
		"forbidden", "prohibited" };
	struct re_span m = { 0, 0 };
	size_t i, n, at, first = k->t->all.n;

	for (i = 0; i < COUNTOF(paths); i++)
		if ((at = check_find(k->t->all, paths[i])) < k->t->all.n) {
			warn(k, at_offset(k, at), STR("offers several ways to do "
			    "the same"));
			break;
		}
	for (n = 0; re_match(k->env->pattern[PATTERN_STEP], k->t->all, m.end,
	    &m, 1); n++)
		at = m.start;
	if (n > 1)
		warn(k, at_offset(k, at), arena_fmt(k->c->arena, "%zu "
		    "procedures begin with \"Step 1:\"", n));
	for (n = i = 0; i < COUNTOF(words); i++) {
		n += check_count(k->t->all, words[i]);
		at = check_find(k->t->all, words[i]);
		first = at < first ? at : first;
	}
	if (n > CONSTRAINTS_MAX)
		warn(k, at_offset(k, first), arena_fmt(k->c->arena, "%zu "
		    "constraints (\"never\", \"always\" and the like)", n));
	k->item->summary = STR("no conflicting procedures and few constraints");
}

static void
check_procedural(struct advice *k)
{
	static const char *const words[] = { "process", "extract", "deploy",
		"configure", "analyze", "create", "build", "run", "execute",
		"validate", "check", "test", "install", "set up", "implement",
		"step", "first", "then", "next", "finally", "workflow",
		"pipeline", "procedure", "when", "after", "before", NULL };

	if (!check_has(k->t->description, words))
		warn(k, check_at_key(k->c, "description"), STR("the description "
		    "names no action and no procedure"));
	k->item->summary = STR("the description names an action or procedure");
}

/* A URL with a path that is not of a well-known site for documents. */
static size_t
find_url(const struct advice *k)
{
	static const char *const sites[] = { "github.com", "arxiv.org",
		"docs.", "learn.microsoft.com", NULL };
	struct re_span m = { 0, 0 };

	while (re_match(k->env->pattern[PATTERN_URL], k->t->all, m.end, &m, 1))
		if (!check_has((struct str){ k->t->all.p + m.start,
		    m.end - m.start }, sites))
			return m.start;
	return k->t->all.n;
}

static void
check_specific(struct advice *k)
{
	static const char *const roots[] = { "/usr/", "/etc/", "/home/",
		"/var/", "/opt/" };
	static const struct {
		int pattern;
		const char *what;
	} rows[] = {
		{ PATTERN_DRIVE, "absolute Windows paths" },
		{ PATTERN_ADDRESS, "IP addresses" },
		{ PATTERN_URL, "URLs with a path" },
		{ PATTERN_PORT, "port numbers" },
	};
	struct str text = k->t->all;
	struct re_span m;
	size_t i, at;

	for (i = 0; i < COUNTOF(roots); i++)
		if ((at = check_find(text, roots[i])) < text.n) {
			warn(k, at_offset(k, at), STR("absolute Unix paths"));
			break;
		}
	for (i = 0; i < COUNTOF(rows); i++) {
		m.start = text.n;
		if (rows[i].pattern == PATTERN_URL)
			m.start = find_url(k);
		else if (!re_match(k->env->pattern[rows[i].pattern], text, 0,
		    &m, 1))
			continue;
		if (m.start < text.n)
			warn(k, at_offset(k, m.start), str_of(rows[i].what));
	}
	k->item->summary = STR("nothing is specific to one machine or site");
}

static size_t
count_words(struct str s)
{
	size_t i, n = 0;
	bool in = false, blank;

	for (i = 0; i < s.n; i++) {
		blank = strchr(" \t\n\r\v\f", s.p[i]) != NULL && s.p[i] != '\0';
		n += !blank && !in;
		in = !blank;
	}
	return n;
}

/* The first word of the first sentence, without punctuation. */
static struct str
leading_word(struct str s)
{
	size_t n;

	for (n = 0; n < s.n && s.p[n] != '.' && s.p[n] != ' ' &&
	    s.p[n] != '\n' && s.p[n] != '\t'; n++)
		;
	while (n > 0 && strchr(":;,.!?", s.p[n - 1]) != NULL)
		n--;
	return (struct str){ s.p, n };
}

static void
check_density(struct advice *k)
{
	static const char *const verbs[] = { "use", "when", "help", "enable",
		"provide", "support", "create", "build", "run", "execute",
		"analyze", "process", "extract", "deploy", "configure",
		"validate", "check", "test", "install", "implement" };
	struct str first = leading_word(k->t->description);
	size_t i, n = count_words(k->t->description);

	for (i = 0; i < COUNTOF(verbs) && !str_is(first, verbs[i]); i++)
		;
	k->item->summary = n == 0 ? STR("no description to check") :
	    i < COUNTOF(verbs) ? STR("the description is short and begins with "
	    "a verb") : STR("the description is short, but does not begin with "
	    "a usual verb");
	if (n > WORDS_MAX)
		warn(k, check_at_key(k->c, "description"), arena_fmt(
		    k->c->arena, "the description has %zu words, more than %d",
		    n, WORDS_MAX));
	else if (n > 0 && i < COUNTOF(verbs))
		k->item->status = CHECK_OPTIMAL;
}

static void
check_structure(struct advice *k)
{
	static const char *const examples[] = { "## example", "### example",
		"**example", "for example:", NULL };
	static const char *const errors[] = { "error handling", "## error",
		"troubleshooting", "common issues", "known limitations",
		"warnings", "caveats", "note:", "important:", NULL };
	struct str body = k->t->body;

	if (check_count(body, "```") == 0 &&
	    !re_test(k->env->pattern[PATTERN_NUMBERED], body))
		warn(k, at_body(k), STR("no code and no numbered steps"));
	if (!check_has(body, examples))
		warn(k, at_body(k), STR("no examples"));
	if (!check_has(body, errors))
		warn(k, at_body(k), STR("nothing about errors"));
	k->item->summary = STR("steps, examples and error handling are there");
}

/* The body from the line after the front matter on. */
static struct str
body_lines(const struct advice *k)
{
	struct str s = k->t->body;

	if (k->c->skill.front.n > 0 && s.n > 0 && s.p[0] == '\r')
		s = (struct str){ s.p + 1, s.n - 1 };
	if (k->c->skill.front.n > 0 && s.n > 0 && s.p[0] == '\n')
		s = (struct str){ s.p + 1, s.n - 1 };
	return s;
}

static void
check_disclosure(struct advice *k)
{
	struct str rest = body_lines(k), line;
	size_t lines = 0, blocks = 0, n = 0;
	bool fenced = false;

	for (; str_line(&rest, &line); lines++) {
		if (!str_starts(str_trim(line), STR("```"))) {
			n++;
			continue;
		}
		blocks += fenced && n > BLOCK_MAX;
		fenced = !fenced;
		n = 0;
	}
	blocks += fenced && n > BLOCK_MAX;
	if (lines > LINES_MAX)
		warn(k, at_body(k), arena_fmt(k->c->arena, "the body has %zu "
		    "lines, more than %d: move details to references/", lines,
		    LINES_MAX));
	if (blocks > 0)
		warn(k, at_body(k), arena_fmt(k->c->arena, "%zu block%s of "
		    "code with more than %d lines: move %s to references/", blocks,
		    blocks == 1 ? "" : "s", BLOCK_MAX, blocks == 1 ? "it" :
		    "them"));
	k->item->summary = STR("details are not in the way");
}

static size_t
count_items(struct str s)
{
	const char *comma;
	size_t n = 0, len;

	while (s.n > 0) {
		comma = memchr(s.p, ',', s.n);
		len = comma != NULL ? (size_t)(comma - s.p) : s.n;
		n += str_trim((struct str){ s.p, len }).n > 0;
		len += comma != NULL;
		s.p += len;
		s.n -= len;
	}
	return n;
}

/* Items behind "use for:" at the beginning of lines. */
static size_t
count_uses(struct str rest)
{
	struct str line;
	size_t n = 0;

	while (str_line(&rest, &line)) {
		line = str_trim(line);
		if (str_starts(line, STR("use for:")))
			n += count_items((struct str){ line.p + 8,
			    line.n - 8 });
	}
	return n;
}

static void
check_scope(struct advice *k)
{
	struct str rest = body_lines(k), line;
	size_t uses = count_uses(k->t->all), heads = 0, steps = 0, most;

	while (str_line(&rest, &line)) {
		heads += str_starts(line, STR("## ")) && str_trim(line).n > 2;
		steps += str_starts(line, STR("1. ")) && str_trim(line).n > 2;
	}
	most = uses > heads ? uses : heads;
	most = most > steps ? most : steps;
	if (most < SIGNALS_MIN)
		warn(k, at_body(k), arena_fmt(k->c->arena, "%s shows what the "
		    "skill can do: list phrases after \"USE FOR:\", sections "
		    "or procedures", most == 0 ? "nothing" : "little"));
	k->item->summary = arena_fmt(k->c->arena, "%zu phrases, %zu sections, "
	    "%zu procedures", uses, heads, steps);
}

static const struct {
	const char *name;
	void (*fn)(struct advice *);
} rules[CHECK_ADVICE] = {
	{ "module-count", check_modules },
	{ "complexity", check_complexity },
	{ "negative-delta-risk", check_negative },
	{ "procedural-content", check_procedural },
	{ "over-specificity", check_specific },
	{ "cross-model-density", check_density },
	{ "body-structure", check_structure },
	{ "progressive-disclosure", check_disclosure },
	{ "scope-reduction", check_scope },
};

void
check_run_advice(struct check *c, const struct check_env *env,
    const struct check_texts *t)
{
	struct advice k = { .c = c, .env = env, .t = t };
	size_t i;

	for (i = 0; i < CHECK_ADVICE; i++) {
		k.item = &c->advice[i];
		*k.item = (struct check_item){ .name = rules[i].name,
			.passed = true, .status = CHECK_OK };
		k.why.n = 0;
		rules[i].fn(&k);
		if (k.item->passed)
			continue;
		k.item->summary = arena_str(c->arena, buf_str(&k.why));
		check_add(c, rules[i].name, CHECK_NOTE, k.at, "%.*s",
		    STRF(k.item->summary));
	}
	buf_free(&k.why);
}

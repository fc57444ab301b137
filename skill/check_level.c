/* SPDX-License-Identifier: ISC */
/*
 * How well a skill says when to use it: the compliance level, and the checks
 * of skills that use tools of MCP servers.
 *
 * Unlike the original, "DO NOT USE FOR:" alone does not count as a trigger,
 * although it contains "USE FOR:".
 */
#include "skill/check_internal.h"

#include <string.h>

#include "skill/triggers.h"

enum { NO_LIMIT = 5000 };	/* of tokens, where none is set */

static const char *const trigger_marks[] = { "use for:", "use this skill",
	"triggers:", "trigger phrases include", "when:", NULL };
static const char *const avoid_marks[] = { "do not use for:", "not for:",
	"don't use this skill", "instead use", NULL };
static const char *const routing_marks[] = { "invokes:",
	"for single operations:", "**workflow skill**", "**utility skill**",
	"**analysis skill**", NULL };

static bool
has_triggers(struct str text)
{
	size_t negative = check_count(text, "do not use for:");

	return check_count(text, "use for:") > negative ||
	    check_has(text, trigger_marks + 1);
}

static void
check_name(struct check *c)
{
	struct str s = c->skill.name;
	size_t i;

	if (s.n == 0) {
		check_issue(c, false, CHECK_ERROR, "the name is missing");
		return;
	}
	if (s.n > CHECK_NAME_MAX)
		check_issue(c, false, CHECK_ERROR, "the name has %zu bytes, "
		    "more than %d", s.n, CHECK_NAME_MAX);
	for (i = 0; i < s.n && ((s.p[i] >= 'a' && s.p[i] <= 'z') ||
	    (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-'); i++)
		;
	if (i < s.n)
		check_issue(c, false, CHECK_ERROR, "the name may contain only "
		    "lower-case letters, digits and \"-\"");
}

static void
check_length(struct check *c, struct check_at at)
{
	if (c->description_chars >= CHECK_DESCRIPTION_MIN)
		return;
	check_issue(c, false, CHECK_ERROR, "the description has %zu "
	    "characters, fewer than %d", c->description_chars,
	    CHECK_DESCRIPTION_MIN);
	check_add(c, "description-length", CHECK_ERROR, at, "the description "
	    "has %zu characters: agents need at least %d to recognize when to "
	    "use the skill", c->description_chars, CHECK_DESCRIPTION_MIN);
}

static void
check_size(struct check *c, const struct check_env *env, struct check_at at)
{
	int64_t hard = c->limit > 0 ? c->limit : NO_LIMIT;
	bool listed = c->level != CHECK_INVALID;

	if (c->tokens > hard) {
		if (listed)
			check_issue(c, false, CHECK_ERROR, "SKILL.md has %lld "
			    "tokens, more than its limit of %lld",
			    (long long)c->tokens, (long long)hard);
		check_add(c, "token-limit", CHECK_ERROR, at, "SKILL.md has "
		    "%lld tokens, more than its limit of %lld: move details to "
		    "references/", (long long)c->tokens, (long long)hard);
	} else if (c->tokens > env->tokens->warning &&
	    env->tokens->warning > 0) {
		if (listed)
			check_issue(c, false, CHECK_WARNING, "SKILL.md has "
			    "%lld tokens, more than %lld", (long long)c->tokens,
			    (long long)env->tokens->warning);
		check_add(c, "token-warning", CHECK_WARNING, at, "SKILL.md has "
		    "%lld tokens, more than %lld", (long long)c->tokens,
		    (long long)env->tokens->warning);
	}
}

static void
add_findings(struct check *c, struct check_at at)
{
	if (!c->has_triggers)
		check_add(c, "triggers", CHECK_ERROR, at, "nothing says when "
		    "to use the skill: add \"USE FOR: phrase, phrase\" to the "
		    "description");
	if (!c->has_avoid)
		check_add(c, "anti-triggers", CHECK_ERROR, at, "nothing says "
		    "when not to use the skill: add \"DO NOT USE FOR: phrase, "
		    "phrase\" to the description");
	if (!c->has_routing)
		check_add(c, "routing", CHECK_NOTE, at, "nothing says what the "
		    "skill invokes or of which kind it is: add \"INVOKES: tool, "
		    "tool\" or \"**UTILITY SKILL**\" to the description");
}

/* Phrases of description and body; most texts have no label to look for. */
static size_t
count_phrases(const struct check *c, const struct check_texts *t,
    enum triggers_label label)
{
	static const char *const marks[] = { "use for:", "when:",
		"do not use for:" };

	return (check_count(t->description, marks[label]) > 0 ?
	    triggers_count(c->skill.description, label) : 0) +
	    (check_count(t->body, marks[label]) > 0 ?
	    triggers_count(c->skill.body, label) : 0);
}

void
check_run_level(struct check *c, const struct check_env *env,
    const struct check_texts *t)
{
	struct check_at at = check_at_key(c, "description");
	struct check_at top = { c->skill.file, 1, 1 };

	c->description_chars = check_chars(str_trim(c->skill.description));
	c->has_triggers = has_triggers(t->both);
	c->has_avoid = check_has(t->both, avoid_marks);
	c->has_routing = check_has(t->both, routing_marks);
	c->use_count = count_phrases(c, t, TRIGGERS_USE_FOR) +
	    count_phrases(c, t, TRIGGERS_WHEN);
	c->avoid_count = count_phrases(c, t, TRIGGERS_DO_NOT);
	c->level = CHECK_INVALID;
	if (c->unread) {
		check_issue(c, false, CHECK_ERROR, "the front matter cannot be "
		    "read");
		check_size(c, env, top);
		return;
	}
	if (c->description_chars > CHECK_DESCRIPTION_MAX) {
		check_issue(c, false, CHECK_ERROR, "the description has %zu "
		    "characters, more than %d", c->description_chars,
		    CHECK_DESCRIPTION_MAX);
		check_size(c, env, top);
		return;
	}
	c->level = c->description_chars < CHECK_DESCRIPTION_MIN ||
	    !c->has_triggers ? CHECK_LOW : !c->has_avoid ? CHECK_MEDIUM :
	    !c->has_routing ? CHECK_MEDIUM_HIGH : CHECK_HIGH;
	check_name(c);
	check_length(c, at);
	check_size(c, env, top);
	add_findings(c, at);
}

/*
 * MCP
 */
static const char *const setup_words[] = { "prerequisite", "requires mcp",
	"mcp server", "mcp servers needed", "required servers", "required mcp",
	"server setup", "install the", NULL };
static const char *const fallback_words[] = { "fallback", "without mcp",
	"if mcp", "when mcp", "not available", "unavailable", "falls back",
	"graceful degradation", "cli alternative", NULL };
static const char *const built_in[] = { "bash", "edit", "view", "grep", "glob",
	"create", "read", "write", "terminal", "search", "fetch", "run" };

static bool
is_separator(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (strchr("|-: \t", s.p[i]) == NULL)
			return false;
	return s.n > 0 && memchr(s.p, '-', s.n) != NULL &&
	    memchr(s.p, '|', s.n) != NULL;
}

/* A table whose header has the word "tool". */
static bool
has_tools_table(struct str text)
{
	struct str line = { NULL, 0 }, before, next;

	while (str_line(&text, &next)) {
		before = line;
		line = str_trim(next);
		if (before.n > 0 && memchr(before.p, '|', before.n) != NULL &&
		    check_count(before, "tool") > 0 && is_separator(line))
			return true;
	}
	return false;
}

/* The end of a list of tools: a line end or another mark. */
static size_t
list_length(struct str s)
{
	static const char *const ends[] = { "use for:", "when:", "not for:",
		"triggers:", "for single operations:", "do not use for:" };
	const char *lf = memchr(s.p, '\n', s.n);
	size_t n = lf != NULL ? (size_t)(lf - s.p) : s.n, i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < COUNTOF(ends); k++)
			if (str_starts((struct str){ s.p + i, n - i },
			    str_of(ends[k])))
				return i;
	return n;
}

static struct str
first_word(struct str s)
{
	size_t i, n;

	s = str_trim(s);
	for (i = 0; i < s.n && strchr("`*\"'", s.p[i]) != NULL; i++)
		;
	for (n = i; n < s.n && strchr(" \t`*\"'.,;:()", s.p[n]) == NULL; n++)
		;
	return (struct str){ s.p + i, n - i };
}

/* The first tool of INVOKES: that has the name of a built-in one. */
static struct str
find_collision(struct str text)
{
	struct str mark = STR("invokes:"), list, word;
	size_t at, n, i;
	const char *comma;

	for (at = 0; at + mark.n < text.n && memcmp(text.p + at, mark.p,
	    mark.n) != 0; at++)
		;
	if (at + mark.n >= text.n)
		return STR("");
	list = (struct str){ text.p + at + mark.n, text.n - at - mark.n };
	list.n = list_length(list);
	while (list.n > 0) {
		comma = memchr(list.p, ',', list.n);
		n = comma != NULL ? (size_t)(comma - list.p) : list.n;
		word = first_word((struct str){ list.p, n });
		for (i = 0; i < COUNTOF(built_in); i++)
			if (str_is(word, built_in[i]))
				return word;
		n += comma != NULL;
		list.p += n;
		list.n -= n;
	}
	return STR("");
}

static void
mcp_rule(struct check *c, const char *rule, enum check_severity severity,
    bool passed, const char *text)
{
	if (passed) {
		c->mcp_score++;
		return;
	}
	check_issue(c, true, severity, "[%s] %s", rule, text);
	check_add(c, rule, CHECK_WARNING, check_at_key(c, "description"), "%s",
	    text);
}

void
check_run_mcp(struct check *c, const struct check_texts *t)
{
	struct str collision;

	if (check_count(t->description, "invokes:") == 0)
		return;
	c->mcp = true;
	collision = find_collision(t->both);
	mcp_rule(c, "mcp-tools-table", CHECK_WARNING, has_tools_table(t->both),
	    "no table lists the tools");
	mcp_rule(c, "mcp-prerequisites", CHECK_WARNING, check_has(t->both,
	    setup_words), "nothing says which MCP servers are needed");
	mcp_rule(c, "mcp-cli-fallback", CHECK_WARNING, check_has(t->both,
	    fallback_words), "nothing says what to do without the MCP server");
	mcp_rule(c, "mcp-name-collision", CHECK_ERROR, collision.n == 0,
	    collision.n == 0 ? "" : arena_fmt(c->arena, "the tool \"%.*s\" has "
	    "the name of a built-in tool", STRF(collision)).p);
}

/* SPDX-License-Identifier: ISC */
/*
 * budget.h: token_.  Token budgets: how many tokens a text has, and how many
 * a file may have.
 *
 * Limits come from the first of these that has any: `tokens.limits` of the
 * project's .waza.yaml, .token-limits.json in the directory of the skill, the
 * built-in table.  Each has `defaults` (patterns) and `overrides` (names).
 *
 * An override matches a path that is equal to it or ends with a slash and it;
 * the longest one that matches applies.  Otherwise the most specific pattern
 * applies, and of equally specific ones the first by bytes.  (The original
 * takes a random one in both cases.)  A pattern without "/" and "*" matches
 * like an override.  In others * matches a run without slashes and ** any
 * run; a "**" followed by a slash also matches nothing.  A pattern with a
 * slash is compared with the whole path, one without with each end of the
 * path that begins after a slash.  Specificity is the length, plus 100 for
 * each slash, plus 10 for each *, minus 50 for each **, plus 10,000 without
 * any *.
 */
#ifndef WAZA_BUDGET_H
#define WAZA_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct bpe;
struct config_sources;
struct spec_notes;

enum {
	TOKEN_FILE_MAX = 1 << 20,	/* bytes of .token-limits.json */
	TOKEN_RULES_MAX = 1000,		/* patterns of one source */
	TOKEN_PATTERN_MAX = 500,	/* bytes; longer ones never match */
	TOKEN_PATH_MAX = 4096		/* bytes; longer ones match no * */
};

struct token_rule {
	struct str pattern;
	int64_t limit;
	int64_t rank;		/* specificity */
};

struct token_rules {
	const char *file;	/* that has them; NULL: built in */
	const struct token_rule *overrides, *defaults;
	size_t noverrides, ndefaults;
};

/* `tokens` of the project's file, with defaults for absent keys. */
struct token_settings {
	struct token_rules rules;	/* none if file is NULL */
	int64_t warning;	/* tokens from which to warn; 0: never */
	int64_t fallback;	/* limit of files that match no pattern */
	const char *vocab;	/* path of a vocabulary, or NULL */
};

/*
 * Reads `tokens` of the .waza.yaml that applies to the directory of the
 * sources.  Problems are noted, except those that config_load() notes: unknown
 * keys, and what needs trust.  -1 after an error: then no verdict can be
 * given.  The settings live in the arena.  A vocabulary outside of the file's
 * directory needs trust (project.h); without it, it is ignored.
 */
int token_settings(struct arena *, const struct config_sources *,
    struct token_settings *, struct spec_notes *);

/*
 * The rules for the files below a directory, usually that of a skill.  -1
 * after an error, which is noted.  A .token-limits.json that is used causes a
 * warning, because it is deprecated.
 */
int token_rules(struct arena *, const struct token_settings *,
    const char *dir, struct token_rules *, struct spec_notes *);

struct token_limit {
	int64_t limit;
	struct str pattern;	/* that applies; empty: the fallback */
};

/*
 * The limit of a file.  path is relative to the skill's directory, wide to the
 * workspace (empty: not known); a rule applies if it matches either.
 */
struct token_limit token_limit(const struct token_settings *,
    const struct token_rules *, struct str path, struct str wide);

/* The original's estimate: a token for each four bytes, rounded up. */
int64_t token_estimate(size_t bytes);

/* How tokens are counted.  The zero value estimates. */
struct token_counter {
	struct bpe *bpe;		/* NULL: token_estimate() */
	const char *encoding;		/* of the vocabulary, or NULL */
};

/*
 * Reads the vocabulary at this path, whose name says how its tokens are made
 * (bpe_rule_of()), into the arena.  -1 and *e, whose message starts with the
 * path, line and column.
 */
int token_counter_read(struct arena *, const char *vocab,
    struct token_counter *, struct err *);

/* The tokens of a text of at most BPE_TEXT_MAX bytes. */
int64_t token_count(const struct token_counter *, struct arena *scratch,
    struct str text);

/* "estimate, one token for 4 bytes", or "o200k_base". */
const char *token_counter_name(const struct token_counter *);

/* Whether a pattern of `defaults` matches a path. */
bool token_match(struct str pattern, struct str path);

#endif

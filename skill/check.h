/* SPDX-License-Identifier: ISC */
/*
 * check.h: check_.  Examines a skill: whether its SKILL.md follows the
 * specification and says when to use it, whether its links lead somewhere,
 * whether it fits its token budget, and whether its suite is valid.
 *
 * Rules and their names are those of the original, so that reports can be
 * compared; check_rules.c and the tables in check_spec.c and check_advice.c
 * list them.  Nothing is executed, nothing outside of the skill's directory
 * and its suite is read, and only check_urls() uses the network.
 */
#ifndef WAZA_CHECK_H
#define WAZA_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "skill/budget.h"
#include "skill/skill.h"

struct json_out;
struct re;
struct spec_notes;
struct spec_suite;

enum {
	CHECK_FILES_MAX = 10000,	/* files of a skill */
	CHECK_DEPTH = 16,		/* of its directories */
	CHECK_BYTES_MAX = 64 << 20,	/* of its Markdown files */
	CHECK_SPEC = 9,			/* checks of the specification */
	CHECK_ADVICE = 9,		/* advisory checks */
	CHECK_MCP = 4			/* checks of MCP integration */
};

/* Errors make a skill not ready; notes are advice. */
enum check_severity { CHECK_NOTE, CHECK_WARNING, CHECK_ERROR };

struct check_finding {
	struct check_finding *next;
	const char *rule;
	enum check_severity severity;
	const char *file;
	unsigned line, col;	/* 1-based; 0: the file as a whole */
	struct str message;
};

struct check_text {		/* a list of strings */
	struct check_text *next;
	struct str s;
};

enum check_status { CHECK_OK, CHECK_WARN, CHECK_OPTIMAL };

/* The result of one check of the specification, or an advisory one. */
struct check_item {
	const char *name;
	bool passed;
	enum check_status status;
	struct str summary;
	struct check_text *evidence;
};

struct check_issue {
	struct check_issue *next;
	enum check_severity severity;
	struct str message;
};

/* In the order of rank. */
enum check_level { CHECK_INVALID, CHECK_LOW, CHECK_MEDIUM, CHECK_MEDIUM_HIGH,
	CHECK_HIGH };

enum check_link_kind { CHECK_BROKEN, CHECK_DIRECTORY, CHECK_ESCAPE, CHECK_DEAD,
	CHECK_ANCHOR, CHECK_ORPHAN, CHECK_LINK_KINDS };

struct check_link {		/* a link with a problem */
	struct check_link *next;
	enum check_link_kind kind;
	struct str source, target;	/* source: relative to the skill */
	const char *reason;
};

struct check_url {		/* a URL of the skill's files */
	struct check_url *next;
	struct str url;		/* without fragment */
	struct str source;	/* the first file that has it */
	unsigned line, col;
};

enum check_budget { CHECK_FITS, CHECK_NEAR, CHECK_EXCEEDED };

/* Settings common to all skills of a call. */
struct check_env {
	const struct token_settings *tokens;
	const struct token_counter *counter;	/* NULL: estimate */
	bool strict;		/* unknown keys of suites are errors */
	bool trust;		/* --trust */
	struct str text;	/* of the SKILL.md in an editor; p is NULL: the
				 * file is read */
	/* adds what the folders above this one find in a suite, or NULL */
	void (*check_suite)(const struct spec_suite *, struct spec_notes *);
	/* notes the tasks of a valid suite that accept a control, and returns
	 * how many are undecided; or NULL */
	size_t (*try_controls)(void *arg, const struct spec_suite *,
	    struct spec_notes *);
	void *arg;
	/* whether suites may name this path, as in struct spec_notes */
	bool (*allows)(const void *peer, const char *path);
	const void *peer;
	struct re *pattern[6];	/* private, of check_prepare() */
};

/* Everything lives in the arena. */
struct check {
	struct arena *arena;
	struct skill skill;
	struct str dir_name;	/* of the skill's directory */
	const char *absolute;	/* path of that directory */
	bool unread;		/* its front matter cannot be read */
	bool agent;		/* a custom agent (NAME.agent.md) */
	enum check_level level;
	bool has_triggers, has_avoid, has_routing;
	size_t use_count, avoid_count;	/* phrases, as the original counts */
	size_t description_chars;
	struct check_issue *issues, *mcp_issues;
	bool mcp;		/* the description names tools */
	int64_t mcp_score;
	int64_t tokens, limit;
	const char *counter;	/* the name of what counted the tokens */
	enum check_budget budget;
	struct check_item spec[CHECK_SPEC], advice[CHECK_ADVICE];
	size_t modules;		/* Markdown files below references/ */
	struct check_link *links;
	struct check_url *urls;
	size_t links_total, nurls, link_count[CHECK_LINK_KINDS];
	bool links_incomplete;	/* a limit was exceeded */
	bool urls_checked;
	const char *eval;	/* the path of its suite, or NULL */
	const struct spec_notes *notes;	/* about the suite, or NULL */
	size_t suite_errors, task_errors, task_error_files, ntasks;
	struct check_finding *findings;
	size_t count[CHECK_ERROR + 1];	/* findings of each severity */
	struct check_text *steps;	/* what to do next */
	bool ready;
	struct check_issue **issues_end, **mcp_issues_end;	/* private */
	struct check_link **links_end;
	struct check_url **urls_end;
	struct check_finding **findings_end;
	struct check_text **steps_end;
};

/* Compiles the patterns of the advisory checks. */
void check_prepare(struct arena *, struct check_env *);

/*
 * Examines the skill at path, its SKILL.md or directory, whose suite is eval
 * (NULL: it has none).  -1 if the file cannot be read at all or the limits of
 * tokens are unknown; front matter that is not valid is a finding.  Follow it
 * with check_finish().
 */
int check_skill(struct arena *, const struct check_env *, const char *path,
    const char *eval, struct check *, struct err *);

/*
 * Requests the URLs of n skills with curl, and adds those that fail to their
 * links.  Hosts with a private address are not asked, unless allow_private is
 * set, and count as failed.  -1 if that is not possible here.
 */
int check_urls(struct check *const *, size_t n, bool allow_private,
    struct err *);

/* Sorts the findings by place and decides whether the skill is ready. */
void check_finish(struct check *);

/* The skill as an object of the JSON report. */
void check_put(struct json_out *, const struct check *);

const char *check_level_name(enum check_level);
const char *check_severity_name(enum check_severity);
bool check_links_passed(const struct check *);
size_t check_links_valid(const struct check *);

/* Name and one-line description of each rule, sorted; ends with NULL. */
struct check_rule {
	const char *name, *help;
};
extern const struct check_rule check_rules[];

/* A file that check_fix() would change. */
struct check_change {
	struct check_change *next;
	const char *file;
	struct str before, after;
	unsigned mode;		/* permissions */
};

/*
 * Finds the repairs that need no judgement: the name of the directory, quotes
 * around a value with ": ", blanks at the end of lines, a broken link whose
 * file exists once under another path.  Returns the changes, without making
 * them; -1 if the skill cannot be read.
 */
int check_fix(struct arena *, const char *path, struct check_change **,
    struct err *);

#endif

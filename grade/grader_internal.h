/* SPDX-License-Identifier: ISC */
/*
 * grader_internal.h: grader_.  What a kind of grader is made of, for those who
 * write one: a row in the table of grader.c, a struct of settings decoded by
 * its fields, and the helpers that all share.
 */
#ifndef WAZA_GRADER_INTERNAL_H
#define WAZA_GRADER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "grader.h"
#include "lib/field.h"

struct json;
struct json_out;
struct spec_expected;

/* A grader, or an `expected:`, whose settings are being checked. */
struct grader_check {
	const struct spec_suite *suite;
	const struct spec_task *task;	/* NULL: a grader of the suite */
	const struct spec_grader *spec;	/* NULL: `expected:` */
	const char *file;		/* that it stands in */
	struct spec_notes *notes;
	struct arena *tmp;		/* for the call */
	bool told_skills, told_calls;	/* these are said once for all tasks */
};

struct grader_kind {
	const char *name;
	const struct field_table *fields;
	unsigned flags;
	/* what the fields cannot say; settings have their templates yet */
	void (*check)(struct grader_check *, const void *settings);
	/*
	 * Settings, templates done, are in tmp, which goes when this returns;
	 * of a kind that can be cancelled tmp is the grading's own arena.
	 */
	enum grader_status (*start)(struct grading *, const void *settings,
	    struct arena *tmp);
	void (*cancel)(struct grading *);	/* NULL: it is never LATER */
};

extern const struct grader_kind grader_action_sequence, grader_behavior;
extern const struct grader_kind grader_code, grader_diff, grader_file;
extern const struct grader_kind grader_file_exists, grader_json_schema;
extern const struct grader_kind grader_keyword, grader_program;
extern const struct grader_kind grader_prompt, grader_regex;
extern const struct grader_kind grader_skill_invocation, grader_text;
extern const struct grader_kind grader_tool_calls, grader_tool_constraint;
extern const struct grader_kind grader_trigger;

const struct grader_kind *grader_find(struct str type);	/* or NULL */

/*
 * Checks that were made, and what those that failed have to say.  Each call
 * of pass and fail is one check; grader_also adds checks that fail silently,
 * because another one has spoken for them.
 */
struct grader_tally {
	struct arena *arena;		/* for the failures */
	size_t total, failed;
	struct grader_failure {
		struct grader_failure *next;
		struct str text;
	} *head, **tail;
};

void grader_pass(struct grader_tally *);
void grader_fail(struct grader_tally *, const char *fmt, ...) PRINTF(2, 3);
void grader_also(struct grader_tally *, size_t n);

/* Score, passed and feedback of a verdict; `well` is said when all passed. */
void grader_conclude(struct arena *, struct verdict *,
    const struct grader_tally *, const char *well);

/* The failures as a JSON list; null when there are none. */
void grader_put_failures(struct json_out *, const struct grader_tally *);
/* A member: the list, or null when it is empty. */
void grader_put_strs(struct json_out *, const char *key,
    const struct field_strs *);
void grader_put_text(struct json_out *, const char *key, struct str);
/* The buffer as a string of the arena; the buffer is freed. */
struct str grader_take(struct arena *, struct buf *);

/* Ends a grading without a verdict. */
enum grader_status grader_error(struct grading *, const char *fmt, ...)
    PRINTF(2, 3);

/* In quotes, on one line, with its middle left out when it is long. */
struct str grader_quote(struct arena *, struct str);
/*
 * Appends a text as UTF-8 without anything that a terminal would act on: such
 * bytes are spelt out, as are tabs and newlines unless it may have lines.
 */
void grader_put_plain(struct buf *, struct str, bool lines);

/* A text that checks are made of; `what` is what it is called: "output". */
struct grader_subject {
	struct grader_tally *tally;
	struct arena *tmp;
	struct str text;
	const char *what;
	struct buf lower;		/* the text in lower case, once used */
	bool lowered;
};

void grader_want(struct grader_subject *, struct str needle, bool sensitive);
void grader_ban(struct grader_subject *, struct str needle, bool sensitive);
void grader_want_match(struct grader_subject *, struct str pattern);
void grader_ban_match(struct grader_subject *, struct str pattern);
void grader_subject_fini(struct grader_subject *);

/* Where the needle is in the text, or SIZE_MAX; linear in both. */
size_t grader_search(struct arena *, struct str text, struct str needle);
bool grader_has(struct grader_subject *, struct str needle);	/* any case */

/* Files of the workspace, which may be anything. */
enum { GRADER_FILE_MAX = 16 << 20 };	/* bytes of one that is read */

/* What became of the workspace, which its agent can remove; NULL: nothing. */
const char *grader_lost(const char *workspace);
/*
 * Where a path of the settings is, or NULL when it leads out, and *why; both
 * are in the arena.
 */
const char *grader_locate(struct arena *, const char *workspace,
    struct str path, struct str *why);
/* A plain file.  -1 and *e, without the path; ERR_LIMIT: it is too large. */
int grader_read(struct arena *, const char *path, struct str *, struct err *);

/* For checks: notes about a value of the settings, at its place. */
void grader_note(struct grader_check *, enum field_level,
    const struct json *at, const char *fmt, ...) PRINTF(4, 5);
void grader_nothing(struct grader_check *);	/* it checks nothing */
bool grader_blank(struct str);		/* nothing but white space */

/*
 * Calls fn with each string of a member, which is a list or a single one,
 * templates done (for a grader of the suite: with each task's values, until
 * fn says false).
 */
void grader_each(struct grader_check *, const struct json *obj,
    const char *key, bool (*fn)(struct grader_check *, const struct json *,
    struct str));
/* False when a template somewhere in the tree is wrong, which is noted. */
bool grader_check_templates(struct grader_check *, const struct json *);
/* A function for grader_each: the path stays in the workspace. */
bool grader_check_path(struct grader_check *, const struct json *,
    struct str);
/* A function for grader_each: the pattern compiles. */
bool grader_check_pattern(struct grader_check *, const struct json *,
    struct str);

/* Renders the templates in the strings of a decoded struct, in place. */
int grader_render(struct arena *, const struct field_table *, void *settings,
    const struct tmpl_vars *, struct err *);

/* The checks of `expected:` before the run. */
void grader_check_expected(struct grader_check *);
/* Whether the executor tells which skills were used; task NULL: in any. */
bool grader_tells_skills(const struct spec_suite *, const struct spec_task *);
/* Whether an `expected:` has anything that a verdict comes from. */
bool grader_expects(const struct spec_expected *, bool tells_skills);
/* Notes a task without graders; `before` is the task before it, or NULL. */
void grader_check_graded(struct grader_check *,
    const struct spec_task *before);
/* Notes metrics that no run has a value of. */
void grader_check_metrics(struct grader_check *);

#endif

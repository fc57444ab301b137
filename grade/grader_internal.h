/* SPDX-License-Identifier: ISC */
/*
 * grader_internal.h: grader_ code_.  Everything needed to write a kind of
 * grader: the struct grader_kind that the table in grader.c lists, and the
 * helpers that the kinds share.
 *
 * A kind is one file, grader_<kind>.c.  It defines a struct of settings with
 * its table of fields, a check() of settings, and a start() that grades.
 */
#ifndef WAZA_GRADER_INTERNAL_H
#define WAZA_GRADER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "grader.h"
#include "io/proc.h"
#include "lib/field.h"

struct json;
struct json_out;
struct spec_expected;

/* A grader, or an `expected:` block, whose settings are being checked. */
struct grader_check {
	const struct spec_suite *suite;
	const struct spec_task *task;	/* NULL: a grader of the suite */
	const struct spec_grader *spec;	/* NULL: an `expected:` block */
	const char *file;		/* that contains it */
	struct spec_notes *notes;
	struct arena *tmp;		/* freed after the call */
	/* these warnings are given only once for all tasks */
	bool noted_skills;
	unsigned noted;			/* AGENT_CALLS and so on */
};

/* A row of a table of settings. */
#define GRADER_KEY(T, m, ...) FIELD(T, m, __VA_ARGS__)

/* A row of the table of kinds in grader.c. */
struct grader_kind {
	const char *name;
	const struct field_table *fields;	/* of the settings */
	unsigned flags;			/* GRADER_WORKSPACE, _NEEDS_DIR */
	/*
	 * Notes problems that the fields cannot express.  Templates in the
	 * settings are not expanded yet.
	 */
	void (*check)(struct grader_check *, const void *settings);
	/*
	 * Grades.  Templates are expanded.  The settings live in tmp, which is
	 * freed when this returns; if the kind has a cancel(), tmp is the
	 * grading's own arena.
	 */
	enum grader_status (*start)(struct grading *, const void *settings,
	    struct arena *tmp);
	void (*cancel)(struct grading *);	/* NULL: never GRADER_LATER */
	void (*drop)(struct grading *);		/* NULL: nothing to release */
	/*
	 * With cancel(): start() computes first.  In a copy of the process
	 * (g->copied) it stops there, sets g->carry and returns GRADER_LATER;
	 * it is called again in this process with g->carry and continues.
	 */
	bool carries;
};

/*
 * Long computations (grader_offload.c).  start() of a kind that computes takes
 * its work from g->budget, and passes it to the functions that do.  If it is
 * spent, the kind returns soon, its verdict is dropped, and start() is called
 * again in a copy of this process, without a limit.  So a start() must not
 * change anything outside of its memory before its last use of the budget.
 */
enum {
	GRADER_BUDGET = 2 << 20,	/* as in struct budget: ~2 ms */
	GRADER_COST = 1000,		/* of any grading, */
	GRADER_BYTE_COST = 4,		/* of each byte of an answer, */
	GRADER_CALL_COST = 300		/* of each tool call */
};

/* Computes the verdict in a copy; returns GRADER_LATER. */
enum grader_status grader_offload(struct grading *,
    enum grader_status (*compute)(struct grading *));
void grader_offload_cancel(struct grading *);
void grader_offload_drop(struct grading *);

extern const struct grader_kind grader_action_sequence, grader_behavior;
extern const struct grader_kind grader_code, grader_diff, grader_file;
extern const struct grader_kind grader_file_exists, grader_json_schema;
extern const struct grader_kind grader_keyword, grader_program;
extern const struct grader_kind grader_prompt, grader_regex;
extern const struct grader_kind grader_skill_invocation, grader_text;
extern const struct grader_kind grader_tool_calls, grader_tool_constraint;
extern const struct grader_kind grader_trigger;

/* The kind of that name, or NULL. */
const struct grader_kind *grader_find(struct str type);

/*
 * Verdicts (grader_verdict.c).  A tally counts checks and keeps the message of
 * each failed one.
 */
enum { GRADER_UNKNOWNS = 6 };	/* things that an agent may not report */

struct grader_tally {
	struct arena *arena;		/* for the messages */
	size_t total, failed;
	const char *unknown[GRADER_UNKNOWNS];	/* not reported, */
	size_t nunknown;			/* each once */
	struct str agent;			/* by this agent */
	struct grader_failure {
		struct grader_failure *next;
		struct str text;
	} *head, **tail;
};

/* Count one check that passed, or one that failed with a message. */
void grader_pass(struct grader_tally *);
void grader_fail(struct grader_tally *, const char *fmt, ...) PRINTF(2, 3);

/* Notes a check that is not possible: the agent does not report `what`. */
void grader_unknown(struct grader_tally *, const struct grader_input *,
    const char *what);

/*
 * Sets score, passed and feedback of a verdict.  The feedback is the failures,
 * in the arena, or `success` (borrowed) if all checks passed.  If none failed
 * but some were not possible, the verdict is an error: "cannot be checked".
 */
void grader_conclude(struct arena *, struct verdict *,
    const struct grader_tally *, const char *success);

/* Ends a grading with an error instead of a verdict; returns GRADER_DONE. */
enum grader_status grader_error(struct grading *, const char *fmt, ...)
    PRINTF(2, 3);

/*
 * Ends a grading without a verdict, because the agent gives no evidence for
 * one; the message gives the reason.  Returns GRADER_DONE.
 */
enum grader_status grader_skip(struct grading *, const char *fmt, ...)
    PRINTF(2, 3);

/*
 * Why nothing is known about the skills that the agent used, in the arena; p is
 * NULL if they are known, or some of them if skills_lost.
 */
struct str grader_no_skills(struct arena *, const struct grader_input *);

/* The agent's name for messages: "claude", or "the agent". */
struct str grader_agent(const struct grader_input *);

/* Writes the member "failures": the messages, or null if there are none. */
void grader_put_failures(struct json_out *, const struct grader_tally *);
/* As field_put_strs(), but an empty list is written as null. */
void grader_put_strs(struct json_out *, const char *key,
    const struct field_strs *);

/* A text without its middle; never splits a UTF-8 sequence. */
struct grader_excerpt {
	struct str head, tail;
	size_t omitted;			/* bytes between head and tail */
};
/* At most max bytes, of which `tail` are from the end. */
struct grader_excerpt grader_excerpt(struct str, size_t max, size_t tail);
/* The text, or max bytes of it with "..." in the middle, in the arena. */
struct str grader_shorten(struct arena *, struct str, size_t max);
/* In quotes and on one line, printable; a long text loses its middle. */
struct str grader_quote(struct arena *, struct str);
/*
 * Appends a text as UTF-8 without control characters: they and invalid bytes
 * become \xNN, \n and \t.  With keep_lines, newlines and tabs are kept.
 */
void grader_put_printable(struct buf *, struct str, bool keep_lines);

/* Checks of a text (grader_text_checks.c); all are linear in the text. */
struct grader_subject {
	struct grader_tally *tally;
	struct arena *tmp;
	struct budget *budget;		/* or NULL */
	struct str text;
	const char *what;		/* its name in messages: "output" */
	struct buf lower;		/* private: the text in lower case, */
	bool lowered;			/* once it is needed */
};

/* Each counts one check: the text contains or matches it; forbid: does not. */
void grader_check_text(struct grader_subject *, struct str needle,
    bool case_sensitive, bool forbid);
void grader_check_match(struct grader_subject *, struct str pattern,
    bool forbid);
/* Whether the text contains the needle, case-insensitively. */
bool grader_contains(struct grader_subject *, struct str needle);
/* Frees what the checks allocated. */
void grader_subject_fini(struct grader_subject *);

/* The offset of the needle in the text, or SIZE_MAX; linear in both. */
size_t grader_search(struct arena *tmp, struct str text, struct str needle);

/* Files of the workspace (grader_workspace.c); an agent controls them. */
enum { GRADER_FILE_MAX = 16 << 20 };	/* bytes of a file that is read */

/* Sets *e to a system error without a path; returns -1. */
int grader_sys_error(struct err *, int sys);
/* Why a file that a recording does not contain cannot be checked. */
struct str grader_left_out(struct arena *, struct str path);
/* Why the workspace cannot be read (its agent can remove it), or NULL. */
const char *grader_workspace_problem(const char *workspace);
/*
 * The full path of a path in the settings, or NULL and *why when it leads out
 * of the workspace.  Both are in the arena.
 */
const char *grader_workspace_path(struct arena *, const char *workspace,
    struct str path, struct str *why);
/*
 * Reads a regular file into the arena.  -1 and *e without the path; ERR_LIMIT
 * if it is larger than GRADER_FILE_MAX or exceeds the budget.
 */
int grader_workspace_read(struct arena *, const char *path, struct str *,
    struct budget *, struct err *);

/*
 * Snapshots (grader_snapshot.c): files of the suite that another file is
 * compared with, and which can be updated.
 */
struct grader_snapshot_origin {		/* decides where a snapshot is */
	const struct spec_suite *suite;
	const struct spec_task *task;	/* or NULL */
	const char *file;		/* that names it, or NULL */
	struct str context_dir;		/* from the settings, or empty */
};

struct grader_snapshot {
	const char *path;
	const char *roots[2];	/* it is written only below one of these */
	bool exists;
	struct str text;	/* for the caller's use */
};

/* Finds the path of a snapshot, existing or new.  -1: name is not a path. */
int grader_snapshot_find(struct arena *, const struct grader_snapshot_origin *,
    struct str name, struct grader_snapshot *);
/*
 * Replaces or creates the file and its directories.  Refuses a symbolic link
 * and a path that leads out of the suite: -1 and *e, without the path.
 */
int grader_snapshot_write(struct arena *, const struct grader_snapshot *,
    struct str text, struct err *);

/*
 * A child process that grades (grader_child.c).  Set the first four members
 * and embed it in the state of the kind; it must not move.
 */
struct grader_child {
	struct grading *g;
	double seconds;			/* time limit */
	void (*judge)(void *arg);	/* sets the verdict; proc has ended */
	void *arg;
	struct proc proc;
};

/* The time limit: own if set (at most max), else the usual one. */
double grader_child_seconds(double own, double max, int64_t usual);
/*
 * Starts the child; g->done() is called after judge(), or after the grading
 * was cancelled.  0, or -1 and *e if it cannot be started.
 */
int grader_child_start(struct grader_child *, struct proc_opts *, struct err *);
/* The cancel() of a kind that grades with a child. */
void grader_child_cancel(struct grading *);
/* How a child that failed ended, in the arena: "exit status 1". */
struct str grader_child_failure(const struct grader_child *);

/*
 * Checks of settings (grader_check.c).  grader_note() adds a note at a value
 * of the settings, or at the grader where `at` is NULL.
 */
void grader_note(struct grader_check *, enum field_level,
    const struct json *at, const char *fmt, ...) PRINTF(4, 5);
/* Notes the error that this grader checks nothing. */
void grader_note_empty(struct grader_check *);

/*
 * Calls fn with each string of a member, which is a list or one string, with
 * its templates expanded.  For a grader of the suite, fn is called with each
 * task's values until it returns false.
 */
void grader_check_each(struct grader_check *, const struct json *obj,
    const char *key, bool (*fn)(struct grader_check *, const struct json *,
    struct str));
/* Functions for grader_check_each(): each notes an error and returns false. */
bool grader_check_path(struct grader_check *, const struct json *,
    struct str);	/* the path leads out of the workspace */
bool grader_check_pattern(struct grader_check *, const struct json *,
    struct str);	/* the pattern does not compile */
bool grader_check_name(struct grader_check *, const struct json *,
    struct str);	/* the name is empty */

/* Notes invalid templates anywhere in the tree; false if there are any. */
bool grader_check_templates(struct grader_check *, const struct json *);

/* Expands the templates in the strings of decoded settings, in place. */
int grader_render(struct arena *, const struct field_table *, void *settings,
    const struct tmpl_vars *, struct err *);
/* The same for a list of strings, which must be writable. */
int grader_render_strs(struct arena *, struct field_strs *,
    const struct tmpl_vars *, struct err *);
/*
 * A tree with the templates in its strings (not in member names) expanded; the
 * tree itself if it has none.  NULL and *e on failure.
 */
const struct json *grader_render_tree(struct arena *, const struct json *,
    const struct tmpl_vars *, struct err *);
/* Whether a string in the tree contains a template. */
bool grader_has_template(const struct json *);

/* Grades the task's `expected:` block. */
void grader_expect(struct grading *);
/* Notes problems of the task's `expected:` block. */
void grader_check_expected(struct grader_check *);
/* Notes a task without graders; `before` is the previous task, or NULL. */
void grader_check_task(struct grader_check *, const struct spec_task *before);
/* Notes metrics that no run computes. */
void grader_check_metrics(struct grader_check *);
/* Notes, once each, which of these (AGENT_CALLS ...) are never reported. */
void grader_check_told(struct grader_check *, unsigned needed);
/* Notes, once, an executor that does not report skills. */
void grader_check_skills(struct grader_check *);
/* Whether an `expected:` block leads to at least one verdict. */
bool grader_has_expectations(const struct spec_expected *);

/*
 * What to write instead of a grader type that other programs have, or NULL
 * (grader_advice.c).
 */
const char *grader_advice(struct str type);

/*
 * Extracts the one JSON value of a text (grader_json_extract.c): the whole
 * text; else the content of code fences (```); else objects and arrays outside
 * of fences; else anywhere.  Equal values count as one.  Values that may be
 * footnotes ([1]) or check boxes ([ ]) count only if there is nothing else.
 * NULL and *e if there is none, more than one, or too much text that only
 * looks like JSON (the search is linear in the text).
 */
struct json *grader_extract_json(struct arena *, struct str text, struct err *);

/*
 * The kind `code`: grader_code.c evaluates its assertions with lib/py, and
 * passes those that lib/py declines to grader_code_interpreter.c.
 */
enum code_language { CODE_PYTHON, CODE_JAVASCRIPT };

enum code_verdict {
	CODE_UNDECIDED,
	CODE_TRUE,
	CODE_FALSE,
	CODE_RAISED,		/* an exception, which fails the check */
	CODE_ERROR,		/* syntax error, limit: there is no verdict */
	CODE_UNKNOWN		/* the agent does not report what it needs */
};

struct code_assertion {
	struct str text;
	enum code_verdict verdict;
	struct str message;	/* exception, error, or why undecided */
};

/* The assertions of a grading; in its arena. */
struct code_set {
	struct code_assertion *v;
	size_t n;
};

/*
 * The variables that assertions can use: output, outcome, transcript,
 * tool_calls, errors and duration_ms, as an object in the arena.  Variables
 * that no assertion mentions are omitted.
 */
struct json *code_variables(struct arena *, const struct grader_input *,
    const struct code_set *);

/*
 * What the agent does not report although this assertion uses it, or NULL.
 * The arena is for scratch.
 */
const char *code_unknown(struct arena *, const struct grader_input *,
    struct str);
/* Whether one of the assertions uses the tool calls, or events. */
bool code_uses_calls(const struct field_strs *);

/* An interpreter of the language that is in PATH, or NULL. */
const char *code_interpreter(struct arena *, enum code_language);
/* The usual name of an interpreter, for messages. */
const char *code_interpreter_name(enum code_language);

/*
 * Why a text is not a Python expression, or NULL if it may be one
 * (grader_code_syntax.c).
 */
const char *code_mistake(struct arena *, struct str text);

struct code_request {
	struct code_set *set;
	enum code_language language;
	double seconds;			/* limits of the child */
	int64_t memory_mb;
	void (*conclude)(struct grading *, const struct code_set *);
};
/*
 * Evaluates all undecided assertions in one child process.  Then conclude() is
 * called with all of them decided (or the grading ends with an error, if the
 * child gave no answers at all), and g->done() follows.  The grading can be
 * cancelled with grader_child_cancel().  -1 and *e if no child was started.
 */
int code_request(struct grading *, const struct code_request *, struct err *);

#endif

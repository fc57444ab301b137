/* SPDX-License-Identifier: ISC */
/*
 * spec.h: spec_.  A suite as written: eval.yaml, its task files, CSV tables
 * and .waza.yaml, decoded into structs with their places in the files.
 *
 * The loader reports all problems, not only the first, as notes.  Everything
 * lives in the suite's arena and is read-only afterwards.  Paths are relative
 * to the file that names them; if nothing exists there, to the working
 * directory (spec_path).
 */
#ifndef WAZA_SPEC_H
#define WAZA_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/csv.h"
#include "lib/field.h"

struct json;

struct spec_where {
	const char *file;	/* as named or found */
	unsigned line, col;	/* 0: the file as a whole */
};

/* An error or a warning about a file. */
struct spec_note {
	struct spec_note *next;
	enum field_level level;
	struct spec_where at;
	struct str key;		/* the key in question, or empty */
	const char *msg;
};

enum { SPEC_NOTES_MAX = 10000 };	/* kept; more are only counted */

struct spec_notes {
	struct arena *arena;
	struct spec_note *head, *last;	/* in the order they were found */
	size_t errors, warnings;
	bool strict;		/* unknown keys are errors */
	bool updates;		/* snapshots will be written */
	bool stored;		/* answers are given: no executor runs */
	bool trust;		/* --trust: read .waza.yaml in any case */
	/* whether that executor gives tasks to evaluation clients; NULL: none
	 * does.  Set with agent_expect(). */
	bool (*evaluates)(struct str executor);
	struct str executor;	/* of the run; empty: the suite's */
	/* whether the suite may name this path; NULL: it may name any */
	bool (*allows)(const void *peer, const char *path);
	const void *peer;	/* that loads the suite */
	const char *context_dir;	/* of the run, instead of fixtures/ */
	/* variables of templates that replace those of `inputs`, or NULL */
	const struct json *vars;
	/* the text that an editor has of this file, borrowed; false, or NULL:
	 * the file is read */
	bool (*edited)(void *editor, const char *path, struct str *text);
	void *editor;
};

/* Adds a note; with NULL notes it has no effect. */
void spec_note(struct spec_notes *, enum field_level, struct spec_where,
    const char *fmt, ...) PRINTF(4, 5);

/*
 * Whether a file or directory that a suite names may be used: -1 with the
 * reason, or false after an error was noted at the place that names it.
 */
int spec_check_path(const struct spec_notes *, const char *path,
    struct err *);
bool spec_allowed(struct spec_notes *, struct spec_where, const char *path);

/* Appends the line "file:line:col: warning: message". */
void spec_note_put(struct buf *, const struct spec_note *);

/* For field_ctx: turns the findings of field_decode() into notes. */
struct spec_source {
	struct spec_notes *notes;
	const char *file;
};
void spec_report(void *source, const struct field_finding *);

/* The place of a node in a file; NULL: the file as a whole. */
struct spec_where spec_at(const char *file, const struct json *);

struct spec_hook {
	struct str command;	/* for /bin/sh -c; templates */
	struct str working_directory;
	struct field_ints exit_codes;	/* empty: only 0 */
	bool error_on_fail;
	struct spec_where at;
};

enum spec_hook_kind {
	SPEC_BEFORE_RUN, SPEC_AFTER_RUN, SPEC_BEFORE_TASK, SPEC_AFTER_TASK,
	SPEC_HOOK__MAX
};

struct spec_grader {
	struct str name;	/* unique among those of its task */
	struct str type;
	double weight;		/* above 0 */
	const struct json *config;	/* all its settings */
	struct spec_where at;
	bool implicit;		/* added for the tools of a custom agent */
};

/* Whether it compares the answer with the baseline's (mode: pairwise). */
bool spec_grader_compares(const struct spec_grader *);

struct spec_graders {
	struct spec_grader *v;
	size_t n;
};

/* Graders that run after a turn of the conversation. */
struct spec_checkpoint {
	int64_t after_turn;	/* from 1 */
	struct spec_graders graders;	/* names are unique among them */
	bool stop;		/* a failure ends the conversation */
};

struct spec_checkpoints {
	struct spec_checkpoint *v;
	size_t n;
};

struct spec_metric {
	struct str name, description;
	double weight, threshold;
	bool enabled;
	struct spec_where at;
};

/* Limits of what trials and their judges spend; 0: no limit. */
struct spec_budget {
	double usd, seconds;
	int64_t tokens;
};

/* An answer that graders should not accept. */
enum spec_control_kind {
	SPEC_CONTROL_NULL,	/* nothing was done */
	SPEC_CONTROL_ECHO,	/* the prompt, repeated */
	SPEC_CONTROL_FILE,	/* a text, or a script as `mock` takes it */
	SPEC_CONTROL_MUTATE	/* a recorded answer, altered */
};
struct spec_control {
	enum spec_control_kind kind;
	struct str name;	/* "null", "echo", "mutate", or the file */
	struct str text;	/* of the file */
	const struct json *script;	/* the file as a script, or NULL */
};
struct spec_controls {
	struct spec_control *v;
	size_t n;
};

/* False unless the word names a control: it is the name of a file. */
bool spec_control_word(struct str, struct spec_control *);
/* Reads the file of a control; 0, or -1 and *e. */
int spec_read_control(struct arena *, const char *path, struct spec_control *,
    struct err *);
/* Adds a control unless one has its name; false: the list is full. */
bool spec_add_control(struct arena *, struct spec_controls *,
    const struct spec_control *);

/* An example of an answer, and what the graders must find. */
struct spec_test {
	const struct json *script;	/* as `mock` takes it */
	bool passes;
	struct str why;		/* for people, or empty */
	struct spec_where at;
};
struct spec_tests {
	struct spec_test *v;
	size_t n;
};

/* How agents get skills that can load them by themselves. */
enum { SPEC_SKILLS_NATIVE, SPEC_SKILLS_PROMPT };

struct spec_config {
	int64_t trials_per_task;	/* 1 */
	int64_t timeout_seconds;	/* 300 */
	int64_t first_event_timeout_seconds;	/* 0: none */
	int64_t max_attempts;		/* 1 */
	int64_t workers;		/* 0: not given */
	bool parallel, fail_fast;
	bool serial;			/* `parallel: false` was given */
	struct str executor;		/* "mock" */
	struct spec_where executor_at;	/* its place */
	struct str model, judge_model, group_by;
	struct str reasoning_effort, judge_reasoning_effort;	/* or empty */
	double pass_threshold;		/* 1; for the suite */
	double task_pass_threshold;	/* 1; for the trials of a task */
	struct spec_budget budget;
	struct field_strs skill_directories, required_skills, disabled_skills;
	struct field_strs instruction_files;
	bool inject_skill_body;
	int skills;			/* SPEC_SKILLS_NATIVE */
	/* settings of executors, which decode them */
	const struct json *mock, *command, *judge, *mcp_servers;
	struct str output_format;
	bool persistent;
	struct spec_controls controls;	/* tried before the agent */
	/* only from .waza.yaml */
	bool verbose, session_log, cache;
	struct str cache_dir;		/* or empty */
	const struct json *executors;	/* {name: {...}} */
	const struct json *tree;	/* `config` as written */
	const char *judge_file;		/* that has `judge`; NULL: this one */
	struct {
		const struct json *block;
		const char *file;
	} judging[2];			/* of a judge; take precedence */
};

struct spec_input_file {
	struct str path, content;	/* no content: a fixture file */
	struct spec_where at;
};

/* A model that answers instead of a user. */
struct spec_responder {
	struct str model, instructions;
	int64_t max_followups;		/* 5 */
};

/* A git repository in the workspace. */
struct spec_repo {
	int type;			/* 0: worktree */
	struct str source;		/* a directory in a local repository */
	struct str commit;		/* empty: HEAD */
	struct str dest;		/* empty: the name of source */
};

struct spec_inputs {
	struct str prompt_file;	/* the prompt is a member of the task */
	struct field_list files;	/* of struct spec_input_file */
	const struct json *context;	/* .fixture: a path */
	const struct json *environment;
	struct field_strs follow_up_prompts;
	const struct spec_responder *responder;	/* NULL: none */
	struct field_list repos;	/* of struct spec_repo */
	struct str workdir;
};

struct spec_behavior {		/* -1: no limit */
	int64_t max_tool_calls, max_iterations, max_tokens;
	int64_t max_response_time_ms;
	struct field_strs required_tools, forbidden_tools;
};

struct spec_expected {
	struct field_strs output_contains, output_not_contains;
	struct field_strs output_contains_any;
	struct spec_behavior behavior;
	const struct json *outcomes;	/* [{type, ...}] */
	const struct json *tool_calls;
	bool should_trigger, skill_activated;
	bool trigger_given, activated_given;	/* key is given */
};

/*
 * The work of an evaluation client: of a task, or config.remote for all tasks.
 * Strings may be templates.
 */
struct spec_remote {
	struct str tool, url;		/* or empty */
	const struct json *input;	/* any value, or NULL */
	const struct json *target, *model;	/* as written, or NULL */
	const struct json *metadata;	/* a mapping, or NULL */
	int64_t timeout_ms;		/* 0: not given */
	int64_t retries;		/* -1: not given */
	struct str priority;		/* or empty */
	struct field_strs tags;		/* of the metadata */
	struct spec_where at;
};

#define SPEC_AGENT_ENDING ".agent.md"

/* A custom agent (NAME.agent.md). */
struct spec_agent {
	const char *file, *dir;
	struct str stem;	/* NAME of the file */
	struct str name, description;	/* without a name: the stem */
	struct str model;	/* for people; or empty */
	struct str body;	/* after the front matter */
	bool has_tools;		/* false: it can use any tool */
	struct field_strs tools;	/* empty: none */
	/* their names as in calls: without "mcp:" or "custom:", and with the
	 * other names of the same tool */
	struct field_strs permitted;
	unsigned tools_line, tools_col;
	bool has_servers;	/* `mcp-servers` is given */
};

/* Whether it is the name of such a file. */
bool spec_is_agent(struct str file);
/* Reads the file, whose name has the ending; 0, or -1 and *e. */
int spec_read_agent(struct arena *, const char *path, struct spec_agent *,
    struct err *);

/* A table whose rows are tasks; its text lives as long as the suite. */
struct spec_rows {
	struct csv csv;		/* after its header; unless is_json: */
	bool is_json;		/* a JSON object per line */
	const char *end;	/* of the text */
	struct json *list;	/* instead of the text: a list of trees */
};

/*
 * The definition of a task.  Rows of a table share that of their template: a
 * change for one task needs a copy (spec_own_def() in the loader), and nothing
 * changes it once the suite is loaded.
 */
struct spec_def {
	struct str description, group;
	struct field_strs tags;
	const char *context_dir;	/* resolved; NULL: none */
	struct field_strs skill_directories;	/* in addition to the suite's */
	struct field_strs instruction_files;	/* likewise */
	int64_t timeout_seconds, first_event_timeout_seconds;	/* 0: suite's */
	struct spec_budget budget;
	struct spec_inputs inputs;
	const struct spec_expected *expected;	/* NULL: none */
	struct spec_graders graders;
	struct spec_checkpoints checkpoints;
	struct spec_tests tests;	/* of its graders */
	const struct json *mock;
	const struct json *command_mocks;	/* NULL: the suite's */
	const struct spec_remote *remote;	/* or NULL */
	const struct spec_rows *rows;	/* that have the task's, or NULL */
	const struct spec_agent *agent;	/* that is tested, or NULL */
	bool golden;		/* waza gate: it must pass */
	bool quarantined;	/* it does not count: */
	struct str quarantine, quarantine_until;	/* why; last day */
};

/*
 * A task.  Suites may have a million: what is not its own is in its definition,
 * and its row is read when it is needed.
 */
struct spec_task {
	struct str id, name;	/* a missing one is equal to the other */
	struct str prompt;
	struct spec_where at;
	const struct spec_def *def;	/* never NULL */
	const void *row;	/* of a table: text of def->rows, or a tree if
				 * that has no text; else NULL */
};

/* The variables of templates that the task's row has, or NULL. */
const struct json *spec_vars(struct arena *, const struct spec_task *);
/* The text or number in a column of the row; empty: there is none. */
struct str spec_cell(struct arena *, const struct spec_task *,
    struct str column);
/* Whether it has some. */
bool spec_is_row(const struct spec_task *);

/* A prompt of a trigger test, as a task for an executor. */
struct spec_trigger {
	struct spec_task task;	/* its id, prompt, mock and place */
	struct str expected;	/* the skill to use; empty: not given */
	struct str reason, confidence;	/* high, medium, or empty */
	double weight;		/* 0.5 for medium, else 1 */
	bool should;		/* trigger the skill */
};

struct spec_triggers {
	const char *file;	/* trigger_tests.yaml or the like */
	struct str skill;	/* empty: any, if the file does not name it */
	struct spec_trigger *v;	/* in the order of the file */
	size_t n;
};

enum { SPEC_CELLS_MAX = 32 };	/* combinations of a matrix */

/* Values that run with each other; an empty list: that of the suite alone. */
struct spec_matrix {
	struct field_strs executor, model;
	struct field_strs skill;	/* names, directories, or "none" */
	const struct json *tree;	/* as written, or NULL */
};

enum {				/* MiB for an interpreter of assertions */
	SPEC_CODE_MB_MIN = 32,
	SPEC_CODE_MB_MAX = 1 << 16
};

struct spec_suite {
	const char *path;	/* of eval.yaml, as named */
	const char *dir;	/* what its paths are relative to */
	struct str name, skill, version, description;
	struct spec_config config;
	struct field_list hooks[SPEC_HOOK__MAX];	/* of spec_hook */
	const struct json *inputs;	/* template variables, or NULL */
	struct spec_graders graders;
	struct field_list metrics;	/* of struct spec_metric */
	struct spec_task *tasks;	/* enabled ones */
	size_t ntasks;
	bool baseline;
	struct spec_matrix matrix;
	const struct json *mcp_mocks, *command_mocks;	/* or NULL */
	const struct spec_triggers *triggers;	/* NULL: there are none */
	const struct spec_agent *agent;	/* that is tested, or NULL */
	/* from .waza.yaml, with defaults: */
	int64_t program_timeout;	/* seconds; 30 */
	int64_t code_timeout;		/* seconds; 10 */
	int64_t code_memory_mb;		/* 256 */
	/* from the settings; see config_apply() */
	const struct json *executors, *prices;
	bool in_words;		/* its expectations need a judge, which the
				 * file cannot name: evals.json */
};

/* The place of the i-th value of "executor", "model" or "skill". */
struct spec_where spec_matrix_at(const struct spec_suite *, const char *axis,
    size_t i);

/*
 * The keys of eval.yaml, of its `config`, of a task, of an entry of `graders`,
 * of trigger_tests.yaml, of an entry of a list of queries, and of .waza.yaml.
 */
extern const struct field_table spec_suite_table, spec_config_table,
    spec_task_table, spec_grader_table, spec_triggers_table, spec_query_table,
    spec_project_table;

/*
 * Reads a suite and all its files.  NULL if an error was noted, which includes
 * files that cannot be read.
 */
struct spec_suite *spec_load(struct arena *, const char *path,
    struct spec_notes *);

/*
 * The same, but despite errors it returns the parts that could be read, so
 * that callers can check more.  NULL: eval.yaml could not be read.
 */
struct spec_suite *spec_load_part(struct arena *, const char *path,
    struct spec_notes *);

/*
 * Reads a suite from a tree; name is used in messages.  Paths are relative to
 * the working directory; .waza.yaml and trigger tests are not read.
 */
struct spec_suite *spec_load_tree(struct arena *, const char *name,
    const struct json *, struct spec_notes *);

/* cache.dir of the .waza.yaml for suites in that directory; or empty. */
struct str spec_cache_dir(struct arena *, const char *dir,
    struct spec_notes *);

/*
 * Finds eval.yaml and eval.yml below a directory, sorted.  Hidden directories
 * (except .github), node_modules, vendor and symbolic links are skipped.  -1
 * if the directory cannot be read.
 */
int spec_find(struct arena *, const char *dir, struct field_strs *paths,
    struct err *);

/* A SKILL.md; keys that its front matter lacks are empty. */
struct spec_skill {
	struct str name, description;
	struct str body;	/* after the front matter */
	const char *dir;	/* of the file */
	const char *file;
	unsigned line;		/* of its description; 0: it has none */
	struct err *warning;	/* about its front matter, or NULL */
};

enum {
	SPEC_SKILLS_MAX = 1000,	/* entries of a skill directory */
	SPEC_INSTRUCTIONS_MAX = 1 << 20	/* bytes of an instruction file */
};

/*
 * Reads a SKILL.md, given its path or its directory, into the arena.  -1 if it
 * cannot be read or its front matter is not YAML.
 */
int spec_read_skill(struct arena *, const char *path, struct spec_skill *,
    struct err *);

/*
 * Reads front matter, without its lines "---".  A value with a colon that lacks
 * its quotes is read as text, with a warning.  Lines are those of the file;
 * warning->line is 0 if there is nothing to report.
 */
const struct json *spec_read_front(struct arena *, struct str front,
    struct err *warning, struct err *);

/*
 * Lists the skills of a skill directory: its own SKILL.md, else those of its
 * subdirectories in order.  -1 if there is none or one cannot be read; the
 * list then has the skills before it.
 */
struct spec_skills {
	struct spec_skill *v;
	size_t n;
	const char *broken;	/* after a failure: the file, or NULL */
};
int spec_list_skills(struct arena *, const char *dir, struct spec_skills *,
    struct err *);

/* Whether a list contains this name or "*". */
bool spec_names(const struct field_strs *, struct str name);

/*
 * The skill directories of the suite and of the task (which may be NULL).  If
 * skills are disabled, the directory of each other skill instead.
 */
struct field_strs spec_skill_dirs(struct arena *, const struct spec_suite *,
    const struct spec_task *);

/*
 * Reads the keys of an evaluation from an object; `open` allows other keys.
 * Problems are noted unless notes is NULL.
 */
void spec_read_remote(struct arena *, const struct json *, bool open,
    const char *file, struct spec_notes *, struct spec_remote *);

/* The directory that paths in a task are relative to. */
const char *spec_task_dir(struct arena *, const struct spec_task *);

/*
 * Resolves a path named in a file of `dir`; if nothing exists there, against
 * the working directory.  Never NULL.
 */
char *spec_path(struct arena *, const char *dir, struct str path);

/*
 * The path of an instruction file: in the fixtures, else as spec_path() finds
 * it.  Never NULL.
 */
char *spec_instruction(struct arena *, const char *fixtures, const char *dir,
    struct str path);

/*
 * Programs that a suite names (spec_program.c).  Whether it is the name of an
 * interpreter, whose first argument is a script.
 */
bool spec_is_interpreter(struct str program);
/* The regular file of that relative name in one of the directories, or NULL. */
char *spec_script(struct arena *, const char *const *dirs, size_t n,
    struct str word);
/* Whether a script may follow this option of an interpreter: not -c. */
bool spec_before_script(struct str word);
/*
 * A message if a program is missing on this machine, else NULL: one without a
 * slash in PATH, another in the directories.  For the first word of a line for
 * the shell, whose directory is dir, or the workspace (elsewhere).
 */
const char *spec_missing_program(struct arena *, const char *const *dirs,
    size_t n, struct str command);
const char *spec_missing_line(struct arena *, const char *dir,
    struct str line, bool elsewhere);
/*
 * The same for the script of an interpreter in a list of words; *word is the
 * script.  NULL, too, if hooks or repositories may put it into the workspace.
 */
const char *spec_missing_script(struct arena *, const struct spec_suite *,
    const char *context_dir, const struct json *command,
    const struct json **word);

/*
 * Notes input files and fixtures that do not exist, and hooks whose program is
 * missing; for commands that only validate.  `needed`: the executor reads
 * input files, so trials without them end as errors.
 */
void spec_check_missing(const struct spec_suite *, bool needed,
    struct spec_notes *);

/* dir/path; an absolute path alone. */
char *spec_join(struct arena *, const char *dir, struct str path);

/* The directory of a file; "." if the path has no slash or is NULL. */
const char *spec_dir_of(struct arena *, const char *path);

/* The directory above, by name where possible; NULL at the root. */
const char *spec_parent(struct arena *, const char *dir);

/* Whether two paths lead to the same directory or file. */
bool spec_same_dir(const char *, const char *);

/*
 * "a/../b" as "b", for messages, if both lead to the same file; else a copy of
 * the path.
 */
const char *spec_shorten(struct arena *, const char *path);

/* The names in a directory, sorted by bytes; -1 and errno on failure. */
int spec_list(struct arena *, const char *dir, struct field_strs *names);

/* Whether stat() finds something at the path. */
bool spec_exists(const char *path);

#endif

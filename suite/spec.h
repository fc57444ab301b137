/* SPDX-License-Identifier: ISC */
/*
 * spec.h: spec_.  A suite as it is written: eval.yaml, its task files, CSV
 * tables and .waza.yaml, decoded into structs, every part with its place.
 *
 * Loading reports all that is wrong, and not only the first thing, as notes.
 * Everything lives in the suite's arena and is read-only afterwards.  Paths
 * in it are relative to the file that names them; where that does not exist,
 * to the working directory (spec_path).
 */
#ifndef WAZA_SPEC_H
#define WAZA_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/field.h"

struct json;

struct spec_where {
	const char *file;	/* as it was named, or found */
	unsigned line, col;	/* 0: the file as a whole */
};

/* What there is to say about the files read. */
struct spec_note {
	struct spec_note *next;
	enum field_level level;
	struct spec_where at;
	struct str key;		/* the key in question, or empty */
	const char *msg;
};

enum { SPEC_NOTES_MAX = 10000 };	/* kept; those beyond are counted */

struct spec_notes {
	struct arena *arena;
	struct spec_note *head, *last;	/* in the order of their finding */
	size_t errors, warnings;
	bool strict;		/* unknown keys are errors */
	bool updates;		/* snapshots will be written */
	bool stored;		/* answers are there: no executor is asked */
};

void spec_note(struct spec_notes *, enum field_level, struct spec_where,
    const char *fmt, ...) PRINTF(4, 5);

/* The note as people read it: "file:line:col: warning: message". */
void spec_note_put(struct buf *, const struct spec_note *);

/* What a decoding of a part of a file finds, as notes: for field_ctx. */
struct spec_source {
	struct spec_notes *notes;
	const char *file;
};
void spec_report(void *source, const struct field_finding *);

/* The node's place in that file. */
struct spec_where spec_at(const char *file, const struct json *);

struct spec_hook {
	struct str command;	/* for /bin/sh -c; templates */
	struct str working_directory;
	struct field_ints exit_codes;	/* empty: only 0 */
	bool error_on_fail;
};

enum spec_hook_kind {
	SPEC_BEFORE_RUN, SPEC_AFTER_RUN, SPEC_BEFORE_TASK, SPEC_AFTER_TASK,
	SPEC_HOOK__MAX
};

struct spec_grader {
	struct str name;	/* unique among those of its task */
	struct str type;
	double weight;		/* above 0 */
	const struct json *config;	/* its settings, wherever they stood */
	struct spec_where at;
};

/* Whether it compares the answer with the baseline's (mode: pairwise). */
bool spec_grader_compares(const struct spec_grader *);

struct spec_graders {
	struct spec_grader *v;
	size_t n;
};

struct spec_metric {
	struct str name, description;
	double weight, threshold;
	bool enabled;
	struct spec_where at;
};

struct spec_config {
	int64_t trials_per_task;	/* 1 */
	int64_t timeout_seconds;	/* 300 */
	int64_t first_event_timeout_seconds;	/* 0: none */
	int64_t max_attempts;		/* 1 */
	int64_t workers;		/* 0: not said */
	bool parallel, fail_fast;
	struct str executor;		/* "mock" */
	struct spec_where executor_at;	/* where it is named */
	struct str model, judge_model, group_by;
	struct str reasoning_effort, judge_reasoning_effort;	/* or empty */
	double pass_threshold;		/* 1; of the suite */
	double task_pass_threshold;	/* 1; of a task's trials */
	struct field_strs skill_directories, required_skills, disabled_skills;
	struct field_strs instruction_files;
	bool inject_skill_body;
	/* the executors' own; they decode them */
	const struct json *mock, *command, *judge, *mcp_servers;
	struct str output_format;
	bool persistent;
	bool verbose, session_log;	/* only .waza.yaml has them, */
	bool cache;			/* and these */
	struct str cache_dir;		/* or empty */
	const struct json *executors;	/* {name: {...}} */
	const struct json *tree;	/* all of it, as it is written */
	const char *judge_file;		/* where judge is; NULL: here */
	struct {
		const struct json *block;
		const char *file;
	} judging[2];			/* a judge's own, over all these */
};

struct spec_input_file {
	struct str path, content;	/* no content: a fixture of that path */
};

/* A model that answers in the user's place. */
struct spec_responder {
	struct str model, instructions;
	int64_t max_followups;		/* 5 */
};

/* A repository for the workspace. */
struct spec_repo {
	int type;			/* 0: worktree */
	struct str source;		/* a directory in one that is here */
	struct str commit;		/* empty: HEAD */
	struct str dest;		/* empty: what it is called */
};

struct spec_inputs {
	struct str prompt, prompt_file;
	struct field_list files;	/* of struct spec_input_file */
	const struct json *context;	/* .fixture: a file or directory */
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
	bool says_trigger, says_activated;	/* whether those were given */
};

/*
 * What a client elsewhere is asked to do: of a task, or config.remote for all
 * of them.  Strings may be templates.
 */
struct spec_remote {
	struct str tool, url;		/* or empty */
	const struct json *input;	/* any value, or NULL */
	const struct json *target, *model;	/* as they stand, or NULL */
	const struct json *metadata;	/* a mapping, or NULL */
	int64_t timeout_ms;		/* 0: not said */
	int64_t retries;		/* -1: not said */
	struct str priority;		/* or empty */
	struct field_strs tags;		/* of the metadata */
	struct spec_where at;
};

struct spec_task {
	struct str id, name;	/* each the other where it is not given */
	struct str description, group;
	struct field_strs tags;
	struct str context_dir;
	struct field_strs skill_directories;	/* beside the suite's */
	struct field_strs instruction_files;	/* beside the suite's */
	int64_t timeout_seconds, first_event_timeout_seconds;	/* 0: suite's */
	struct spec_inputs inputs;
	const struct spec_expected *expected;	/* NULL: none */
	struct spec_graders graders;
	const struct json *mock;
	const struct spec_remote *remote;	/* NULL: nothing of it */
	const struct json *vars;	/* the CSV row, or NULL */
	bool golden;		/* waza gate: it has to pass */
	struct spec_where at;
};

/* A prompt of trigger_tests.yaml, as a task for an executor. */
struct spec_trigger {
	struct spec_task task;	/* its id, prompt, mock and place */
	struct str reason, confidence;	/* high, medium, or empty */
	double weight;		/* 0.5 for medium, else 1 */
	bool should;		/* the skill is to come into play */
};

struct spec_triggers {
	const char *file;	/* trigger_tests.yaml beside eval.yaml */
	struct str skill;
	struct spec_trigger *v;	/* those that should first */
	size_t n;
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
	struct spec_task *tasks;	/* those that are enabled */
	size_t ntasks;
	bool baseline;
	const struct spec_triggers *triggers;	/* NULL: there are none */
	int64_t program_timeout;	/* of .waza.yaml; 30 s */
	/* the settings' executors and prices, set by whoever runs it */
	const struct json *executors, *prices;
};

/*
 * Reads a suite with everything that belongs to it.  NULL when the notes
 * have errors; a file that cannot be read is one.
 */
struct spec_suite *spec_load(struct arena *, const char *path,
    struct spec_notes *);

/*
 * The same, but with errors it returns what could be read nevertheless, so
 * that more of it can be checked.  NULL: eval.yaml could not be read at all.
 */
struct spec_suite *spec_load_part(struct arena *, const char *path,
    struct spec_notes *);

/*
 * A suite that is not in a file: the tree, under that name, with paths from
 * the working directory; no .waza.yaml, no trigger tests.
 */
struct spec_suite *spec_load_tree(struct arena *, const char *name,
    const struct json *, struct spec_notes *);

/*
 * cache.dir of the .waza.yaml that holds for suites in that directory; empty
 * where it says nothing.
 */
struct str spec_cache_dir(struct arena *, const char *dir,
    struct spec_notes *);

/*
 * eval.yaml and eval.yml below a directory, sorted; hidden directories other
 * than .github, node_modules and vendor are not entered, nor are symbolic
 * links.  -1 when it cannot be read.
 */
int spec_find(struct arena *, const char *dir, struct field_strs *paths,
    struct err *);

/* A SKILL.md; what its front matter does not say is empty. */
struct spec_skill {
	struct str name, description;
	struct str body;	/* what follows the front matter */
	const char *dir;	/* that it is in */
};

enum {
	SPEC_SKILLS_MAX = 1000,	/* in a directory */
	SPEC_INSTRUCTIONS_MAX = 1 << 20	/* bytes of a file of instructions */
};

/*
 * Reads one, by its own path or that of its directory, into the arena.  -1
 * when there is none, or its front matter is not YAML.
 */
int spec_read_skill(struct arena *, const char *path, struct spec_skill *,
    struct err *);

/*
 * The skills of a skill directory: the one whose SKILL.md is in it, else
 * those of the directories in it, in order.  -1 when there is none, or one
 * cannot be read; what came before that is in the list.
 */
struct spec_skills {
	struct spec_skill *v;
	size_t n;
};
int spec_list_skills(struct arena *, const char *dir, struct spec_skills *,
    struct err *);

/* Whether a list of names has this one, or "*". */
bool spec_names(const struct field_strs *, struct str name);

/*
 * The directories of the suite's skills and, unless it is NULL, the task's;
 * where some are disabled, each other skill's own.
 */
struct field_strs spec_skill_dirs(struct arena *, const struct spec_suite *,
    const struct spec_task *);

/*
 * Reads the keys of an evaluation from an object, which may have others if it
 * is open; what is wrong with them is noted, unless notes is NULL.
 */
void spec_read_remote(struct arena *, const struct json *, bool open,
    const char *file, struct spec_notes *, struct spec_remote *);

/* What the paths in a task are relative to. */
const char *spec_task_dir(struct arena *, const struct spec_task *);

/* Where a path named in a file of `dir` leads; always an answer. */
char *spec_path(struct arena *, const char *dir, struct str path);

/* The directory of a file; "." if the path has no slash or is NULL. */
const char *spec_dir_of(struct arena *, const char *path);

/* Whether stat() finds something at the path. */
bool spec_exists(const char *path);

#endif

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

#include "base.h"
#include "field.h"

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
	double pass_threshold;		/* 1; of the suite */
	double task_pass_threshold;	/* 1; of a task's trials */
	struct field_strs skill_directories, required_skills, disabled_skills;
	struct field_strs instruction_files;
	bool inject_skill_body;
	/* the executors' own; they decode them */
	const struct json *mock, *command, *judge, *mcp_servers;
	struct str output_format;
	bool persistent;
	bool verbose, session_log;	/* only .waza.yaml has them */
};

struct spec_input_file {
	struct str path, content;	/* no content: a fixture of that path */
};

struct spec_inputs {
	struct str prompt, prompt_file;
	struct field_list files;	/* of struct spec_input_file */
	const struct json *context;	/* .fixture: a file or directory */
	const struct json *environment;
	struct field_strs follow_up_prompts;
	const struct json *responder, *repos;
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

struct spec_task {
	struct str id, name;	/* each the other where it is not given */
	struct str description, group;
	struct field_strs tags;
	struct str context_dir;
	int64_t timeout_seconds, first_event_timeout_seconds;	/* 0: suite's */
	struct spec_inputs inputs;
	const struct spec_expected *expected;	/* NULL: none */
	struct spec_graders graders;
	const struct json *mock;
	const struct json *vars;	/* the CSV row, or NULL */
	struct spec_where at;
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
	const char *triggers;	/* trigger_tests.yaml beside it, or NULL */
	int64_t program_timeout;	/* of .waza.yaml; 30 s */
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
 * eval.yaml and eval.yml below a directory, sorted; hidden directories other
 * than .github, node_modules and vendor are not entered, nor are symbolic
 * links.  -1 when it cannot be read.
 */
int spec_find(struct arena *, const char *dir, struct field_strs *paths,
    struct err *);

/* Where a path named in a file of `dir` leads; always an answer. */
char *spec_path(struct arena *, const char *dir, struct str path);

#endif

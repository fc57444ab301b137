/* SPDX-License-Identifier: ISC */
/*
 * spec_internal.h: spec_.  Types and functions shared by spec*.c; the settings
 * (config*.c) use some of them too.
 */
#ifndef WAZA_SPEC_INTERNAL_H
#define WAZA_SPEC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "json.h"
#include "lib/field.h"
#include "suite/spec.h"

/*
 * Rows of a field table: a member with the key of the same name, a member of
 * an embedded struct, a number with its range; a key that differs from the
 * member's name.  After the type, or the range, further properties can follow.
 */
#define SPEC_KEY(T, m, ...) FIELD(T, m, __VA_ARGS__)
#define SPEC_PART(T, part, m, ...) SPEC_ROW(T, #m, part.m, __VA_ARGS__)
#define SPEC_RANGE(T, m, t, lo, ...) \
	FIELD(T, m, t, .min = lo, .max = __VA_ARGS__)
#define SPEC_ROW(T, k, m, ...) \
	{ .key = k, .off = offsetof(struct T, m), .type = __VA_ARGS__ }

/* The schema of a mapping of names to scalars. */
#define SPEC_SCALARS "\"type\":[\"object\",\"null\"]," \
	"\"additionalProperties\":{\"type\":[\"string\",\"number\"," \
	"\"boolean\",\"null\"]}"

/* The start of a string for "%.*s" in a message. */
#define SPEC_SHORT(s) STRF(utf8_cut((s), 100))

enum {
	SPEC_SECONDS_MAX = 366 * 24 * 3600,
	SPEC_TRIALS_MAX = 100000,
	SPEC_USD_MAX = 1000000000,	/* of a budget */
	SPEC_TEXT_MAX = 256 << 20,	/* bytes of a CSV or prompt file */
	SPEC_TRIGGERS_MAX = 10000
};

/* Of a budget. */
#define SPEC_TOKENS_MAX INT64_C(1000000000000000)

/* Tables of parts of a suite. */
extern const struct field_table spec_budget_table, spec_hooks_table,
    spec_metric_table,
    spec_responder_table, spec_evaluation_table, spec_requirement_table,
    spec_checkpoint_table, spec_test_table;

struct spec_loader {
	struct arena *arena;		/* the suite's */
	struct arena scratch;		/* freed when loading ends */
	struct spec_notes *notes;	/* NULL: report nothing */
	struct spec_suite *suite;
	struct str *names;		/* of the suite's graders, sorted */
	bool alone;			/* from a tree: reads no other files */
	bool template;			/* reads `task_template` */
};

/* A file that has been read: its name and what its paths are relative to. */
struct spec_file {
	const char *path, *dir;
	const struct json *root;
};

/*
 * spec_file.c: reads a file into the arena, at most SPEC_TEXT_MAX bytes.  -1
 * on failure, which is noted at `named`, the place that names the file.
 */
int spec_read_text(struct spec_loader *, const char *path,
    struct spec_where named, struct str *);

/*
 * Reads the one document of a YAML file, or of its text, which may be freed
 * afterwards.  -1 on failure, which is noted.
 */
int spec_read_yaml(struct spec_loader *, const char *path, struct spec_file *);
int spec_parse_yaml(struct spec_loader *, const char *path, struct str text,
    struct spec_file *);

/* The message of a failed os_read_file() without its path. */
const char *spec_reason(const struct err *, const char *path);

/* Appends a string to a buffer of strings; takes the list out of it. */
void spec_push(struct buf *, struct str);
struct field_strs spec_take(struct arena *, struct buf *);

/* All files that a pattern matches, in the order of Go's filepath.Glob. */
struct field_strs spec_glob(struct arena *, const char *dir,
    struct str pattern);

/*
 * spec.c: decodes an object by a table and notes every problem; returns the
 * number of errors.  With `open`, unknown keys are accepted.
 */
size_t spec_decode(struct spec_loader *, const char *file,
    const struct field_table *, const struct json *, void *out);
size_t spec_decode_open(struct spec_loader *, const char *file,
    const struct field_table *, const struct json *, void *out);

/*
 * Notes an error or a warning about a value (NULL: the file as a whole).
 * key is the key in question; NULL: the value's own.
 */
void spec_error(struct spec_loader *, const char *file, const struct json *,
    const char *key, const char *fmt, ...) PRINTF(5, 6);
void spec_warning(struct spec_loader *, const char *file, const struct json *,
    const char *key, const char *fmt, ...) PRINTF(5, 6);
/* The same with a place and any level. */
void spec_note_key(struct spec_notes *, enum field_level, struct spec_where,
    struct str key, const char *fmt, ...) PRINTF(5, 6);
/* Notes the error "key must be WANT, not TYPE". */
void spec_wrong_type(struct spec_loader *, const char *file,
    const struct json *, const char *want);

/*
 * The value if it is an object or an array; NULL if it is absent or null, and
 * with an error if it is anything else.
 */
const struct json *spec_object(struct spec_loader *, const char *file,
    const struct json *);
const struct json *spec_array(struct spec_loader *, const char *file,
    const struct json *);
bool spec_given(const struct json *);	/* present and not null */

/* Notes members that are lists or mappings; `what` is their noun. */
void spec_check_scalars(struct spec_loader *, const char *file,
    const struct json *obj, const char *what);

/* The ith value of a list, or the value itself if it is not a list. */
const struct json *spec_nth(const struct json *, size_t i);

/* The end of a path, at whole names, for messages. */
struct str spec_tail(const char *path);

/*
 * Builds an object: a copy of v is appended to obj, whose list ends at *tail,
 * under the key (NULL: its own).  Call json_seal() when it is complete.
 */
void spec_append(struct arena *, struct json *obj, struct json ***tail,
    const struct json *v, const char *key);

/* spec_config.c: settings of the suite and of the project's .waza.yaml */
void spec_read_project(struct spec_loader *);
void spec_read_config(struct spec_loader *, const struct spec_file *,
    const struct json *config, const struct json *metrics);
/* rows: tasks come from a table, whose variables are not known yet. */
void spec_read_hooks(struct spec_loader *, const struct spec_file *,
    const struct json *, bool rows);

/* spec_input.c: follow-up prompts, responder, repositories, instructions */
extern const struct field_table spec_repo_table;
void spec_read_dialogue(struct spec_loader *, const struct spec_file *,
    const struct json *inputs, const struct json *responder,
    struct spec_inputs *);
/*
 * Notes files that are missing or too large; list is the node of the files,
 * context the task's fixtures (NULL: the suite's).
 */
void spec_check_instructions(struct spec_loader *, const struct spec_file *,
    const char *context, const struct json *list,
    const struct field_strs *files);
/* spec_checkpoint.c: reads `checkpoints` of a task, after its inputs. */
void spec_read_checkpoints(struct spec_loader *, const struct spec_file *,
    const struct json *task, struct spec_def *);
/*
 * spec_mock.c: checks a list of mocks and returns it with the contents of its
 * fixtures; NULL if it is absent, null or not a list.
 */
const struct json *spec_read_mcp_mocks(struct spec_loader *,
    const struct spec_file *, const struct json *);
const struct json *spec_read_command_mocks(struct spec_loader *,
    const struct spec_file *, const struct json *);
/*
 * spec_matrix.c: reads `matrix`; then sets the executor and the model of a
 * suite whose config names none to the first of the matrix.
 */
extern const struct field_table spec_matrix_table;
void spec_read_matrix(struct spec_loader *, const struct spec_file *,
    const struct json *);
void spec_use_matrix(struct spec_loader *, const struct spec_file *,
    const struct json *config);
/* spec_control.c: reads `controls` of config, and `tests` of a task. */
void spec_read_controls(struct spec_loader *, const struct spec_file *,
    const struct json *config);
void spec_read_tests(struct spec_loader *, const struct spec_file *,
    const struct json *task, struct spec_def *);
/* spec_require.c: checks `requirements` of a task. */
void spec_check_requirements(struct spec_loader *, const struct spec_file *,
    const struct json *task, const struct spec_task *);

/*
 * spec_remote.c: a task for evaluation clients.  Its keys are in the task or
 * under `evaluation`, as in the files of evaluation servers.  The first is
 * called before the other parts of a task are read, the second after.
 */
void spec_read_evaluation(struct spec_loader *, const struct spec_file *,
    const struct json *task, struct spec_task *, struct spec_def *,
    bool *enabled);
void spec_read_validation(struct spec_loader *, const struct spec_file *,
    const struct json *task, struct spec_def *);
/* Whether the executor of the run gives tasks to evaluation clients. */
bool spec_evaluates(const struct spec_loader *);

/*
 * spec_foreign.c: the tree of a suite for a file of another format (evals.json,
 * a list of trigger queries); NULL if it has none of these formats.  Problems
 * are noted.
 */
const struct json *spec_read_foreign(struct spec_loader *,
    const struct spec_file *);

/* spec_trigger.c: reads trigger_tests.yaml, if the suite has one. */
void spec_read_triggers(struct spec_loader *);
/* spec_quarantine.c: marks the tasks that quarantine.yaml lists. */
void spec_read_quarantine(struct spec_loader *);

/* spec_skill.c: notes required skills that are not found. */
void spec_check_skills(struct spec_loader *, const struct spec_file *,
    const struct json *config);
/*
 * Notes directories without skills; list is the node that names them.  False
 * if one of them is not allowed.
 */
bool spec_check_skill_dirs(struct spec_loader *, const struct spec_file *,
    const struct json *list, const struct field_strs *dirs);

/*
 * spec_agent.c: finds the custom agent that the suite tests, and adds the
 * grader for its tools.  Call it after tasks and graders were read.
 */
void spec_find_agents(struct spec_loader *);

/* spec_grader.c: reads `graders:`, which may be NULL. */
void spec_read_graders(struct spec_loader *, const char *file,
    const struct json *, struct spec_graders *);
/* All settings of an entry in one mapping. */
const struct json *spec_grader_settings(struct arena *, const struct json *);
/*
 * spec_preset.c: the entry with the preset that its `ref` names; NULL if an
 * error was noted.
 */
const struct json *spec_use_preset(struct spec_loader *, const char *file,
    const struct json *entry);
/*
 * Makes names unique.  Call it for the suite's graders first: those of tasks
 * avoid their names.
 */
void spec_name_graders(struct spec_loader *, const struct spec_graders *);

struct spec_task_list {
	const struct json *tasks;	/* patterns and tasks, or NULL */
	const struct json *tasks_from;	/* a CSV file, or NULL */
	const struct json *range;	/* [first, last], or NULL */
	const struct json *task_template;	/* for its rows, or NULL */
};
/* spec_tasks.c: reads all tasks of the suite and checks their ids. */
void spec_read_tasks(struct spec_loader *, const struct spec_file *,
    const struct spec_task_list *);

/* spec_table.c: a table and its rows. */
struct spec_table {
	const char *path;
	struct str text;
	struct spec_rows rows;		/* from the first in range */
	const struct json *first;	/* the first one, or NULL */
	size_t n;
	const struct json *template;	/* `task_template`, or NULL */
	struct spec_task task;		/* read from it */
};
struct spec_row {
	struct json *tree;	/* until the next row is read */
	const char *at;		/* in the text; NULL: the tree stays */
};
/* Reads the table of `tasks_from`; n is 0 after an error. */
void spec_read_table(struct spec_loader *, const struct spec_file *,
    const struct spec_task_list *, struct spec_table *);
/* Appends the tasks of its rows to those of the suite. */
void spec_read_rows(struct spec_loader *, struct spec_table *);

/*
 * spec_row.c: the tasks of rows.  Reads `task_template`, which may be NULL;
 * false after an error.
 */
bool spec_read_template(struct spec_loader *, const struct spec_file *,
    const struct json *, struct spec_table *);
/* Notes a table without prompts. */
void spec_check_columns(struct spec_loader *, const struct spec_table *);
/* The task of row n, counted from 1. */
void spec_read_row(struct spec_loader *, const struct spec_table *,
    const struct spec_row *, size_t n, struct spec_task *);

/* spec_task.c: reads one task; false: disabled, or not a mapping. */
bool spec_read_task(struct spec_loader *, const struct spec_file *,
    const struct json *, struct spec_task *);
/* Gives the task a copy of its definition, which can be changed. */
struct spec_def *spec_own_def(struct spec_loader *, struct spec_task *);
/* For a peer: whether it may use the directory and the files of the task. */
void spec_check_files(struct spec_loader *, const struct spec_file *,
    const struct json *task, const struct spec_task *);
/* Notes, at that node, templates that cannot be rendered; vars may be NULL. */
void spec_check_text(struct spec_loader *, const char *file,
    const struct json *at, const char *key, struct str text,
    const struct json *vars);

#endif

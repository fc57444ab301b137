/* SPDX-License-Identifier: ISC */
/*
 * spec_internal.h: spec_.  What the parts of the loader share.
 */
#ifndef WAZA_SPEC_INTERNAL_H
#define WAZA_SPEC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "lib/field.h"
#include "suite/spec.h"

struct json;

/* ROW(tag, "key", member, type, .help = "...") of a table. */
#define SPEC_ROW(T, k, m, t, ...) \
	{ .key = k, .type = t, .off = offsetof(struct T, m), __VA_ARGS__ }

enum {
	SPEC_SECONDS_MAX = 366 * 24 * 3600,
	SPEC_TRIALS_MAX = 100000,
	SPEC_TEXT_MAX = 256 << 20,	/* bytes of a table */
	SPEC_TRIGGERS_MAX = 10000
};

struct spec_loader {
	struct arena *arena;		/* the suite's */
	struct arena scratch;
	struct spec_notes *notes;
	struct spec_suite *suite;
	struct str *names;		/* of the suite's graders, sorted */
	bool alone;			/* no other files belong to it */
};

/* A file that is read: its name, and what its paths are relative to. */
struct spec_file {
	const char *path, *dir;
	const struct json *root;
};

/* spec_file.c: files and directories */
const char *spec_dir_of(struct arena *, const char *path);
char *spec_join(struct arena *, const char *dir, struct str path);
bool spec_exists(const char *path);
/* Text into the arena; why not is noted, at the file or where it is named. */
int spec_read_text(struct spec_loader *, struct arena *, const char *path,
    const struct spec_where *named, struct str *);
/* The one document of a YAML file; -1 and noted when there is none. */
int spec_read_yaml(struct spec_loader *, const char *path, struct spec_file *);

struct spec_paths {		/* in the arena, in order */
	char **v;
	size_t n;
};
int spec_list(struct arena *, const char *dir, struct spec_paths *names);
void spec_glob(struct arena *, const char *dir, struct str pattern,
    struct spec_paths *);

/* spec.c: decoding with notes */
size_t spec_decode(struct spec_loader *, const char *file,
    const struct field_table *, const struct json *, void *out);
void spec_note_key(struct spec_notes *, enum field_level, struct spec_where,
    struct str key, const char *fmt, ...) PRINTF(5, 6);
/* Noted as an error unless it is an object (or NULL, or null). */
const struct json *spec_object(struct spec_loader *, const char *file,
    const struct json *);
struct json *spec_first(const struct json *);	/* of NULL: NULL */
/* The first bytes of a text, the last of a path, for messages. */
struct str spec_short(struct str);
struct str spec_tail(const char *path);
struct str spec_trim(struct str);

/* spec_config.c: settings */
void spec_read_project(struct spec_loader *);
void spec_read_config(struct spec_loader *, const struct spec_file *,
    const struct json *config, const struct json *metrics);
void spec_read_hooks(struct spec_loader *, const struct spec_file *,
    const struct json *, bool rows);

/* spec_input.c: what a task gives beside its prompt and files */
extern const struct field_table spec_repo_table;
void spec_read_talk(struct spec_loader *, const struct spec_file *,
    const struct json *inputs, const struct json *responder,
    struct spec_inputs *);
/* Files that have to be there; list is the node that names them. */
void spec_check_instructions(struct spec_loader *, const struct spec_file *,
    const struct json *list, const struct field_strs *files);

/*
 * spec_remote.c: a task for clients elsewhere: its keys beside the others, or
 * under `evaluation`, as the files of evaluation servers have them.  Before
 * and after what is common to all tasks is read.
 */
void spec_read_evaluation(struct spec_loader *, const struct spec_file *,
    const struct json *task, struct spec_task *, bool *enabled);
void spec_read_validation(struct spec_loader *, const struct spec_file *,
    const struct json *task, struct spec_task *);

/* spec_trigger.c: trigger_tests.yaml */
void spec_read_triggers(struct spec_loader *);

/* spec_skill.c: skills that must be there */
void spec_check_skills(struct spec_loader *, const struct spec_file *,
    const struct json *config);
/* Notes directories without skills; list is the node that names them. */
void spec_check_skill_dirs(struct spec_loader *, const struct spec_file *,
    const struct json *list, const struct field_strs *dirs);

/* spec_grader.c: graders and their names */
void spec_read_graders(struct spec_loader *, const char *file,
    const struct json *, struct spec_graders *);
/* Names for all of them, first the suite's, which the tasks' then avoid. */
void spec_name_graders(struct spec_loader *, struct spec_graders *);

/* spec_task.c: tasks */
struct spec_task_list {
	const struct json *tasks;	/* patterns and tasks, or NULL */
	const struct json *tasks_from;	/* a table, or NULL */
	const struct json *range;	/* [first, last], or NULL */
};
void spec_read_tasks(struct spec_loader *, const struct spec_file *,
    const struct spec_task_list *);
/* One task; false: not enabled, or not to be used. */
bool spec_read_task(struct spec_loader *, const struct spec_file *,
    const struct json *, struct spec_task *);
/* Notes templates in a text that cannot be rendered. */
void spec_check_text(struct spec_loader *, struct spec_where, const char *key,
    struct str text, const struct json *vars);

#endif

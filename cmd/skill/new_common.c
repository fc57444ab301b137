/* SPDX-License-Identifier: ISC */
/* `waza new` and `waza init`: the project, suites, and the list of files. */
#include "cmd/skill/new.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os.h"
#include "base/os_path.h"
#include "cmd/doctor.h"
#include "suite/config.h"
#include "suite/spec.h"

enum { LINE_MAX_BYTES = 4096, PATH_WIDTH = 40 };

int
new_open(struct new *n, const char *dir, bool trust)
{
	struct config_sources from = { .dir = dir, .trust = trust,
		.token = n->call->token };
	struct catalog_opts o = { .dir = dir };

	n->arena = n->call->arena;
	n->files.arena = n->arena;
	n->config = cmd_load_config(n->call, &from);
	if (n->config == NULL)
		return -1;
	o.config = n->config;
	if (catalog_read(n->arena, &o, &n->catalog, n->call->err) == 0) {
		n->files.root = n->catalog.root;
		return 0;
	}
	cmd_complain(n->call->err);
	return -1;
}

const char *
new_executor(struct new *n)
{
	struct str set = n->config->defaults.engine;
	const struct agent_kind *k;
	const char *name;

	if (n->executor == NULL && set.n == 0)
		set = n->config->executor;
	if (n->executor == NULL && set.n == 0) {
		name = doctor_first(n->call, n->config->executors);
		return n->executor = name != NULL ? name : "mock";
	}
	if (n->executor != NULL)
		set = str_of(n->executor);
	k = agent_find(set);
	if (k != NULL)
		return n->executor = k->name;
	cmd_say("waza: unknown executor \"%.*s\" (waza doctor lists them)\n",
	    STRF(utf8_cut(set, 60)));
	return NULL;
}

/* The real path of a directory whose end need not exist. */
static struct str
real_path(struct arena *a, const char *path)
{
	const char *abs = os_absolute(a, path), *slash;
	const char *real = os_real(a, abs);
	struct str up;

	if (real != NULL)
		return str_of(real);
	slash = strrchr(abs, '/');
	if (slash == NULL || slash[1] == '\0' || slash == abs)
		return str_of(abs);
	up = real_path(a, arena_cstr(a, (struct str){ abs,
	    (size_t)(slash - abs) }));
	return strcmp(slash, "/.") == 0 ? up : arena_fmt(a, "%.*s%s%s",
	    STRF(up), str_ends(up, STR("/")) ? "" : "/", slash + 1);
}

/* The next part of an absolute path; false at its end. */
static bool
next_part(struct str *s, struct str *part)
{
	const char *end;

	while (s->n > 0 && s->p[0] == '/')
		*s = (struct str){ s->p + 1, s->n - 1 };
	end = s->n > 0 ? memchr(s->p, '/', s->n) : NULL;
	part->p = s->p;
	part->n = end != NULL ? (size_t)(end - s->p) : s->n;
	*s = (struct str){ s->p + part->n, s->n - part->n };
	return part->n > 0;
}

struct str
new_relative(struct arena *a, const char *from, const char *to)
{
	struct str f = real_path(a, from), t = real_path(a, to);
	struct str f0 = f, t0 = t, x, y;
	struct buf b = { 0 };

	while (next_part(&f, &x) && next_part(&t, &y) && str_eq(x, y)) {
		f0 = f;
		t0 = t;
	}
	while (next_part(&f0, &x))
		buf_puts(&b, b.n > 0 ? "/.." : "..");
	while (next_part(&t0, &y))
		buf_fmt(&b, "%s%.*s", b.n > 0 ? "/" : "", STRF(y));
	if (b.n == 0)
		buf_putc(&b, '.');
	return arena_take(a, &b);
}

/* Whether a suite exists and has tasks: then it is not ours to complete. */
static bool
has_tasks(struct new *n, const char *eval)
{
	struct spec_notes notes = { .arena = n->arena };
	const struct spec_suite *s;

	if (!spec_exists(eval))
		return false;
	s = spec_load_part(n->arena, eval, &notes);
	return s == NULL || s->ntasks > 0;
}

const char *
new_task_path(struct new *n, const char *eval, const char *name)
{
	struct str glob = n->catalog.task_glob, suffix = n->catalog.task_suffix;
	const char *dir = spec_dir_of(n->arena, eval);
	size_t i = glob.n;

	while (i > 0 && glob.p[i - 1] != '/')
		i--;
	if (memchr(glob.p, '*', i) != NULL || glob.p[0] == '/')
		return spec_join(n->arena, dir, arena_fmt(n->arena,
		    "tasks/%s%.*s", name, STRF(suffix)));
	return spec_join(n->arena, dir, arena_fmt(n->arena, "%.*s%s%.*s",
	    (int)i, glob.p, name, STRF(suffix)));
}

static void
add_tasks(struct new *n, const struct scaffold_suite *s, const char *eval)
{
	struct scaffold_task t[SCAFFOLD_TASKS];
	size_t i;

	scaffold_tasks(n->arena, s, t);
	for (i = 0; i < COUNTOF(t); i++)
		files_add(&n->files, new_task_path(n, eval,
		    t[i].file), t[i].text,
		    t[i].label);
}

/* Whether trigger tests would show something with this executor. */
static bool
reports_skills(const char *executor)
{
	const struct spec_suite s = { .path = ".", .dir = ".",
		.config = { .executor = str_of(executor) } };
	enum agent_skills how = agent_skills(agent_find(str_of(executor)), &s,
	    NULL);

	return how != AGENT_SKILLS_NEVER && how != AGENT_SKILLS_SOMETIMES;
}

struct str
new_schemas(struct new *n, const char *dir)
{
	const char *path = spec_join(n->arena, n->catalog.root,
	    STR(NEW_SCHEMAS));

	return n->schemas || spec_exists(path) ? new_relative(n->arena, dir,
	    path) : STR("");
}

int
new_add_suite(struct new *n, struct str skill, struct str description,
    const char *skill_dir, const char *eval)
{
	const char *dir = spec_dir_of(n->arena, eval);
	struct scaffold_suite s = { .skill = skill, .description = description,
		.task_glob = n->catalog.task_glob, .model = n->model != NULL ?
		str_of(n->model) : n->config->defaults.model };
	bool exists = spec_exists(eval);
	struct stat st;

	if (lstat(dir, &st) == 0 && S_ISLNK(st.st_mode)) {
		err_set(n->call->err, ERR_SCHEMA, "%s is a symbolic link: "
		    "name the directory that it leads to with --output", dir);
		(void)cmd_complain(n->call->err);
		return -1;
	}
	if (has_tasks(n, eval)) {
		files_add(&n->files, eval, STR(""), "suite");
		return 0;
	}
	if (new_executor(n) == NULL)
		return -1;
	s.executor = str_of(n->executor);
	s.triggers = !n->agent && reports_skills(n->executor);
	s.schemas = new_schemas(n, dir);
	if (skill_dir != NULL)
		s.skill_dir = new_relative(n->arena, dir, skill_dir);
	files_add(&n->files, eval, scaffold_suite(n->arena, &s), "suite");
	add_tasks(n, &s, eval);
	if (s.triggers && !exists)
		files_add(&n->files, spec_join(n->arena, dir,
		    STR("trigger_tests.yaml")), scaffold_triggers(n->arena,
		    &s), "trigger tests");
	return 0;
}

static const char *
plural(size_t n)
{
	return n == 1 ? "" : "s";
}

int
new_finish(struct new *n, const char *heading)
{
	static const char marks[] = { [FILES_KEPT] = '=', [FILES_NEW] = '+',
		[FILES_REPLACED] = '~' };
	const struct files *f = &n->files;
	struct buf out = { 0 };
	size_t i, made, kept;

	if (files_write(&n->files, n->call->err) == -1)
		return cmd_complain(n->call->err);
	buf_fmt(&out, "%s\n", heading);
	for (i = 0; i < f->n; i++)
		buf_fmt(&out, "  %c %-*s %s%s\n", marks[f->v[i].state],
		    PATH_WIDTH, f->v[i].path, f->v[i].label,
		    f->v[i].state == FILES_KEPT ? " (exists, kept)" : "");
	kept = files_count(f, FILES_KEPT);
	made = f->n - kept;
	if (made == 0)
		buf_puts(&out, "nothing to do: everything exists\n");
	else
		buf_fmt(&out, "%zu file%s created, %zu kept\n%s", made,
		    plural(made), kept, n->next != NULL ? n->next : "");
	return cmd_finish(n->call, &out, CMD_OK);
}

struct str
new_ask(struct new *n, const char *question, struct str other)
{
	char line[LINE_MAX_BYTES];
	struct str s;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return other;
	cmd_say("%s%s%.*s%s ", question, other.n > 0 ? " [" : "", STRF(other),
	    other.n > 0 ? "]:" : ":");
	if (fgets(line, sizeof(line), stdin) == NULL)
		return other;
	s = str_trim(str_of(line));
	return s.n > 0 && utf8_valid(s) ? arena_str(n->arena, s) : other;
}

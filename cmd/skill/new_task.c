/* SPDX-License-Identifier: ISC */
/*
 * waza new task: an empty task, or one made from an answer: of a results file,
 * of a session, or of an agent that is asked now (from-prompt).
 */
#include "cmd/skill/new.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "cmd/job.h"
#include "cmd/skill/new_seen.h"
#include "io/workspace.h"
#include "json.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

enum { TIMEOUT_SECONDS = 300, TIMEOUT_MAX = 86400 };

/*
 * Where the task belongs.
 */
/* The suite that --eval names, or the only one; NULL after a message. */
static const char *
find_suite(struct new *n)
{
	const struct new_opt *opt = n->call->opt;
	const struct catalog *c = &n->catalog;
	const struct catalog_entry *e = NULL;
	size_t i;

	if (opt->eval != NULL && catalog_is_path(opt->eval))
		return cmd_suite_path(&(struct cmd_call){ .arena = n->arena,
		    .args = (char *[]){ arena_cstr(n->arena,
		    str_of(opt->eval)) }, .nargs = 1 });
	if (opt->eval != NULL) {
		e = catalog_find(c, str_of(opt->eval));
		if (e != NULL && e->eval != NULL)
			return e->eval;
		(void)(e == NULL ? catalog_not_found(c, str_of(opt->eval),
		    n->call->err) : catalog_no_eval(c, e, n->call->err));
		cmd_complain(n->call->err);
		return NULL;
	}
	if (spec_exists(spec_join(n->arena, ".", c->eval_file)))
		return spec_join(n->arena, ".", c->eval_file);
	for (i = 0; i < c->n && c->nevals == 1; i++)
		if (c->v[i].eval != NULL)
			return c->v[i].eval;
	cmd_say("waza: %s: name the suite of the task with --eval, or its file "
	    "with --output\n", c->nevals == 0 ? "no suite found here" :
	    "there are several suites here");
	return NULL;
}

/* Prints a hint if no pattern of the suite matches the new file. */
static void
check_listed(struct new *n, const char *eval, const char *file)
{
	struct spec_notes notes = { .arena = n->arena };
	const struct spec_suite *s = spec_load_part(n->arena, eval, &notes);
	struct stat a, b;
	size_t i;

	for (i = 0; s != NULL && i < s->ntasks; i++)
		if (s->tasks[i].at.file != NULL &&
		    stat(s->tasks[i].at.file, &a) == 0 &&
		    stat(file, &b) == 0 && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			return;
	if (spec_exists(file))
		cmd_say("waza: %s does not list the new task: add its file to "
		    "\"tasks\"\n", eval);
}

static struct str
draft(struct arena *a, struct str id, struct str schemas)
{
	struct buf b = { 0 };

	scaffold_schema_line(&b, schemas, "task");
	buf_fmt(&b, "id: %.*s\nname: %.*s\n", STRF(id),
	    STRF(scaffold_title(a, id)));
	buf_puts(&b, "inputs:\n"
	    "  prompt: Replace this by the request of a user\n"
	    "graders:\n"
	    "  # replace this by what every good answer contains\n"
	    "  - type: text\n"
	    "    name: answers\n"
	    "    config:\n"
	    "      regex_match:\n"
	    "        - \"\\\\S\"\n");
	return arena_take(a, &b);
}

/* Task ids are also names of files here, so plain ones are enough. */
static int
check_id(struct str id, struct err *e)
{
	size_t i;

	if (scaffold_check_part(id, e) == -1)
		return -1;
	for (i = 0; i < id.n; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyz0123456789"
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.", id.p[i]) == NULL)
			return err_set(e, ERR_SCHEMA, "\"%.*s\" is not a task "
			    "id: use letters, digits, \"-\", \"_\" and \".\"",
			    STRF(utf8_cut(id, 60)));
	return 0;
}

static struct field_strs
split_tags(struct arena *a, const char *s)
{
	struct field_strs out = { NULL, 0 };
	const char *end;
	struct str tag;

	if (s == NULL)
		return out;
	out.v = NEW_N(a, struct str, strlen(s) + 1);
	for (;; s = end + 1) {
		end = strchr(s, ',');
		tag = str_trim((struct str){ s, end != NULL ?
		    (size_t)(end - s) : strlen(s) });
		if (tag.n > 0)
			out.v[out.n++] = tag;
		if (end == NULL)
			return out;
	}
}

/* Reads the answer that an option names; 1: there is none. */
static int
read_seen(struct new *n, struct new_seen *s)
{
	const struct new_opt *o = n->call->opt;
	struct err *e = n->call->err;
	const char *file = o->results != NULL ? o->results : o->transcript;
	int r;

	if (o->results != NULL && o->transcript != NULL)
		return err_set(e, ERR_SCHEMA, "--from-results and "
		    "--from-transcript are mutually exclusive");
	if (o->task != NULL && o->results == NULL)
		return err_set(e, ERR_SCHEMA, "--task needs --from-results");
	if (file == NULL)
		return 1;
	r = o->results != NULL ? new_seen_results(n->arena, file, o->task, s,
	    e) : new_seen_transcript(n->arena, file, s, e);
	if (r == -1 && e->line > 0) {
		cmd_complain_at(file, e);
		e->code = ERR_NONE;
	}
	return r;
}

static int
finish(struct new *n, const char *file, struct str text, const char *eval)
{
	const struct new_opt *opt = n->call->opt;
	int status;

	(opt->overwrite ? files_replace : files_add)(&n->files, file, text,
	    "task");
	status = new_finish(n, "task:");
	if (status == CMD_OK && eval != NULL)
		check_listed(n, eval, file);
	return status;
}

static int
task_named(struct new *n, const char *name)
{
	const struct new_opt *opt = n->call->opt;
	struct new_seen seen = { .id = str_of(name), .tags =
		split_tags(n->arena, opt->tags) };
	const char *eval = NULL, *file = opt->output;
	struct str schemas;
	int r;

	if (check_id(seen.id, n->call->err) == -1)
		return cmd_complain(n->call->err);
	r = read_seen(n, &seen);
	if (r == -1)
		return n->call->err->code == ERR_NONE ? CMD_ERROR :
		    cmd_complain(n->call->err);
	if (file == NULL) {
		eval = find_suite(n);
		if (eval == NULL)
			return CMD_ERROR;
		file = new_task_path(n, eval, name);
	}
	schemas = new_schemas(n, spec_dir_of(n->arena, file));
	return finish(n, file, r == 1 ? draft(n->arena, seen.id, schemas) :
	    new_seen_task(n->arena, &seen, schemas), eval);
}

/*
 * from-prompt: an agent is asked now.
 */
/* "90s", "5m", "1h30m" or seconds; 0: not a time. */
static int64_t
read_time(const char *s)
{
	static const struct { char unit; int64_t seconds; } units[] = {
		{ 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	int64_t total = 0, v;
	size_t i;

	if (s == NULL)
		return TIMEOUT_SECONDS;
	while (*s != '\0') {
		if (*s < '0' || *s > '9')
			return 0;
		for (v = 0; *s >= '0' && *s <= '9' && v <= TIMEOUT_MAX; s++)
			v = v * 10 + (*s - '0');
		for (i = 0; i < COUNTOF(units) && *s != units[i].unit; i++)
			;
		if (i == COUNTOF(units) && (*s != '\0' || total > 0))
			return 0;
		total += v * (*s != '\0' ? units[i].seconds : 1);
		if (total > TIMEOUT_MAX)
			return 0;
		if (*s != '\0')
			s++;
	}
	return total;
}

/* A suite of this one prompt, with the skills that are here. */
static struct spec_suite *
suite_of(struct new *n, const char *prompt, int64_t timeout,
    struct spec_notes *notes)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i;

	json_open(&o, '{');
	json_put_member_cstr(&o, "name", "new task");
	json_put_member_cstr(&o, "skill", "none");
	json_open_member(&o, "config", '{');
	json_put_member_cstr(&o, "executor", n->executor);
	json_put_member_cstr(&o, "model", n->model != NULL ? n->model : "");
	json_put_member_int(&o, "timeout_seconds", timeout);
	json_open_member(&o, "skill_directories", '[');
	for (i = 0; i < n->catalog.n; i++)
		if (n->catalog.v[i].skill_dir != NULL)
			json_put_cstr(&o, n->catalog.v[i].skill_dir);
	json_close(&o, ']');
	json_close(&o, '}');
	json_open_member(&o, "tasks", '[');
	json_open(&o, '{');
	json_put_member_cstr(&o, "id", "task");
	json_put_member_str(&o, "prompt", tmpl_escape(n->arena,
	    str_of(prompt)));
	json_close(&o, '}');
	json_close(&o, ']');
	json_close(&o, '}');
	return spec_load_tree(n->arena, "new task", arena_json(n->arena,
	    arena_take(n->arena, &b), NULL), notes);
}

/* Asks the agent; the results are in the file. */
static int
ask(struct new *n, struct spec_suite *s, const char *results)
{
	struct cmd_job_opt opt = { .quiet = true };
	struct cmd_job *j = NEW(n->arena, struct cmd_job);
	struct run_opts o = { .output = results, .allow_ungraded = true,
		.unnamed = true, .sweep = true };
	struct run *run = NULL;
	int status;

	j->call = n->call;
	j->opt = &opt;
	j->adopt = true;
	j->suite = s;
	if (cmd_job_start(j) == -1)
		status = cmd_complain(n->call->err);
	else
		status = cmd_job_pass(j, &o, &run);
	if (j->signals.signo != 0)
		status = 128 + j->signals.signo;
	cmd_job_end(j);
	return status;
}

static int
ask_and_read(struct new *n, const char *prompt, struct new_seen *seen)
{
	const struct new_opt *opt = n->call->opt;
	struct spec_notes notes = { .arena = n->arena, .trust = opt->trust };
	const char *tmp = getenv("TMPDIR");
	char *dir = arena_cstr(n->arena, arena_fmt(n->arena,
	    "%s/waza-new.XXXXXX", tmp != NULL && *tmp == '/' ? tmp : "/tmp"));
	const char *results;
	struct spec_suite *s;
	struct err e;
	int status = CMD_ERROR;

	s = suite_of(n, prompt, read_time(opt->timeout), &notes);
	if (s != NULL) {
		cmd_settings(n->call, NULL, NULL, s, &notes);
		agent_check(s, s->config.executor, &notes);
	}
	if (cmd_print_notes(&notes, true) != CMD_OK)
		return CMD_ERROR;
	if (mkdtemp(dir) == NULL) {
		err_sys(n->call->err, dir);
		return cmd_complain(n->call->err);
	}
	results = spec_join(n->arena, dir, STR("results.json"));
	status = ask(n, s, results);
	if (status == CMD_OK && new_seen_results(n->arena, results, NULL, seen,
	    n->call->err) == -1) {
		cmd_say("waza: the agent gave no answer: %s\n",
		    n->call->err->msg);
		status = CMD_ERROR;
	}
	workspace_remove(dir, &e);
	return status;
}

static int
task_from_prompt(struct new *n, const char *prompt, const char *file)
{
	const struct new_opt *opt = n->call->opt;
	struct new_seen seen = { .tags = split_tags(n->arena, opt->tags) };
	int status;

	seen.id = opt->testname != NULL ? str_of(opt->testname) :
	    str_stem(str_of(file));
	if (check_id(seen.id, n->call->err) == -1)
		return cmd_complain(n->call->err);
	if (read_time(opt->timeout) == 0) {
		cmd_say("waza: --timeout must be a time from 1s to 24h, such "
		    "as 90s or 5m, not \"%.60s\"\n", opt->timeout);
		return CMD_ERROR;
	}
	if (spec_exists(file) && !opt->overwrite) {
		cmd_say("waza: %s exists; --overwrite replaces it\n", file);
		return CMD_ERROR;
	}
	if (new_executor(n) == NULL)
		return CMD_ERROR;
	status = ask_and_read(n, prompt, &seen);
	if (status != CMD_OK)
		return status;
	seen.prompt = str_of(prompt);
	return finish(n, file, new_seen_task(n->arena, &seen, new_schemas(n,
	    spec_dir_of(n->arena, file))), NULL);
}

int
new_task(struct cmd_call *c, char **args, size_t nargs)
{
	const struct new_opt *opt = c->opt;
	struct new n = { .call = c, .executor = opt->executor,
		.model = opt->model };
	bool prompt = nargs > 0 && strcmp(args[0], "from-prompt") == 0;
	size_t want = prompt ? 3 : 1;

	if (nargs != want) {
		cmd_say("waza: new task: %s; see \"waza help new\"\n",
		    nargs > want ? "too many "
		    "arguments" : prompt ? "missing argument: PROMPT and FILE" :
		    "missing argument: NAME");
		return CMD_ERROR;
	}
	if (new_open(&n, opt->root != NULL ? opt->root : ".", opt->trust) ==
	    -1)
		return CMD_ERROR;
	return prompt ? task_from_prompt(&n, args[1], args[2]) :
	    task_named(&n, args[0]);
}

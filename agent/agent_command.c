/* SPDX-License-Identifier: ISC */
/*
 * Executor `command`: any program as an agent.  One child per trial gets the
 * prompt on stdin and writes the answer to stdout; it runs in the trial's
 * workspace and finds everything else in WAZA_ variables.  Output may be events
 * (agent_stream.c).  Presets (agent_preset.c) replace the command for known
 * programs.  With `persistent: true`, agent_pool.c takes over.
 */
#include "agent/agent_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_probe.h"
#include "base/os.h"
#include "base/os_path.h"
#include "base/os_spawn.h"
#include "io/git.h"
#include "io/proc.h"
#include "json.h"
#include "lib/mask/mask.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

#define GIT_SETTINGS "GIT_CONFIG_PARAMETERS"	/* as `git -c` sets it */

enum {
	STREAM_MAX = 256 << 20,		/* bytes of events */
	USAGE_MAX = 1 << 20		/* bytes of a file of tokens */
};

struct command {
	struct agent_job *job;
	struct proc proc;
	struct agent_stream stream;	/* unless the answer is text */
	bool streams;
	uint64_t bytes;			/* of stdout */
	struct proc_tail tail;		/* of stderr */
	bool heard;			/* it wrote something */
	struct mask secrets;		/* of its environment */
	struct proc_opts opts;
	struct agent_waiter waiter;	/* for the reply about the login */
};

const char *
agent_word(struct arena *a, const char *flag, struct str value)
{
	const char *text = arena_cstr(a, value);

	return text == NULL ? NULL : arena_fmt(a, "%s%s", flag, text).p;
}

const char **
agent_argv(struct arena *a, const struct spec_suite *s,
    const struct json *command, const struct tmpl_vars *vars, struct err *e)
{
	const bool line = command->type == JSON_STRING;
	const struct json *v = line ? command : json_first(command);
	const char **argv = NEW_N(a, const char *, json_count(command) + 4);
	const char *script;
	struct str word;
	size_t i, n = 0;

	if (line) {
		argv[n++] = "/bin/sh";
		argv[n++] = "-c";
	}
	for (; v != NULL; v = line ? NULL : v->next) {
		word = tmpl_render(a, json_text(v), vars, e);
		if (word.p == NULL)
			return NULL;
		argv[n] = arena_cstr(a, word);
		if (argv[n++] == NULL) {
			err_set(e, ERR_SCHEMA, "\"command\" contains a NUL");
			return NULL;
		}
	}
	if (!line && strchr(argv[0], '/') != NULL)
		argv[0] = os_absolute(a, spec_path(a, s->dir, str_of(argv[0])));
	for (i = 1; i < n && spec_before_script(str_of(argv[i])); i++)
		;
	if (!line && i < n && spec_is_interpreter(str_of(argv[0])) &&
	    (script = spec_script(a, &s->dir, 1, str_of(argv[i]))) != NULL)
		argv[i] = os_absolute(a, script);
	return argv;
}

static void
add(struct arena *a, const char **set, size_t *n, const char *name,
    struct str value)
{
	struct str key = str_of(name);
	char *p;

	if (value.n > 0 && memchr(value.p, '\0', value.n) != NULL)
		value = STR("");
	p = arena_alloc(a, key.n + 1 + value.n + 1, 1);
	memcpy(p, key.p, key.n);
	p[key.n] = '=';
	if (value.n > 0)
		memcpy(p + key.n + 1, value.p, value.n);
	set[(*n)++] = p;
}

/* Skill directories, separated by colons as in PATH. */
static struct str
skill_path(struct arena *a, const struct field_strs *dirs)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < dirs->n; i++)
		buf_fmt(&b, "%s%s", i > 0 ? ":" : "",
		    os_absolute(a, dirs->v[i].p));
	return arena_take(a, &b);
}

static struct str
number(struct arena *a, unsigned n)
{
	return arena_fmt(a, "%u", n);
}

/* The settings that git has from its environment, and an excludes file. */
static struct str
git_settings(struct arena *a, const char *excludes)
{
	const char *given = getenv(GIT_SETTINGS);
	struct buf b = { 0 };

	if (given != NULL && *given != '\0')
		buf_fmt(&b, "%s ", given);
	buf_puts(&b, "'core.excludesFile=");
	for (; *excludes != '\0'; excludes++)
		if (*excludes == '\'')
			buf_puts(&b, "'\\''");
		else
			buf_putc(&b, *excludes);
	buf_putc(&b, '\'');
	return arena_take(a, &b);
}

/* The variables of one trial. */
static int
add_trial(struct arena *a, const char **set, size_t *n,
    const struct agent_request *r, struct err *e)
{
	const struct json *v;
	struct str file;
	size_t i;

	if (r->scratch != NULL) {
		file = arena_fmt(a, "%sprompt", r->scratch);
		if (os_write_file(file.p, r->prompt, e) == -1)
			return -1;
		add(a, set, n, "WAZA_PROMPT_FILE", file);
	}
	add(a, set, n, "WAZA_TASK_ID", r->task->id);
	add(a, set, n, "WAZA_TRIAL", number(a, r->trial));
	add(a, set, n, "WAZA_ATTEMPT", number(a, r->attempt));
	if (r->workspace != NULL) {
		add(a, set, n, "WAZA_WORKSPACE", str_of(r->workspace));
		/* some programs trust it more than getcwd() */
		add(a, set, n, "PWD", str_of(agent_cwd(r)));
	}
	if (r->sample > 0)
		add(a, set, n, "WAZA_SAMPLE", number(a, r->sample));
	*n += agent_home_env(a, r, set + *n);
	if (r->git_ignore != NULL)
		add(a, set, n, GIT_SETTINGS, git_settings(a, r->git_ignore));
	for (i = 0; r->task->def->inputs.repos.n > 0 && i < GIT_VARS; i++)
		set[(*n)++] = git_vars[i];	/* not ours */
	for (v = json_first(r->task->def->inputs.environment); v != NULL;
	    v = v->next)
		if (agent_env_add(a, v, set, n, e) == -1)
			return -1;
	return 0;
}

const char **
agent_env(struct arena *a, const struct spec_suite *s,
    const struct agent_request *r, bool trial, struct err *e)
{
	const struct json *own = r->task->def->inputs.environment;
	struct field_strs dirs = { 0 };
	const char **set;
	size_t n = 0;

	set = NEW_N(a, const char *, 14 + AGENT_HOME_MAX +
	    GIT_VARS + (own != NULL ? json_count(own) : 0));
	add(a, set, &n, "WAZA_MODEL", r->model);
	add(a, set, &n, "WAZA_RUN_ID", str_of(r->run_id));
	if (r->sample > 0)
		add(a, set, &n, "WAZA_ROLE", r->responds ? STR("responder") :
		    STR("judge"));
	if (!r->no_skills)
		dirs = spec_skill_dirs(a, s, trial ? r->task : NULL);
	if (dirs.n > 0)
		add(a, set, &n, "WAZA_SKILLS", skill_path(a, &dirs));
	if (!trial)
		n += agent_home_env(a, r, set + n);
	else if (add_trial(a, set, &n, r, e) == -1)
		return NULL;
	return os_env(a, set, n);
}

void
agent_set_exit(struct agent_job *j, const struct proc *p, struct str tail)
{
	const struct proc_result *r = &p->res;

	j->ans.exit_status = r->status;
	j->ans.stderr_tail = tail;
	j->ans.truncated = r->truncated;
	if (r->truncated)
		agent_fail(j, ANSWER_FAILED, "wrote more than %d MiB",
		    PROC_OUT_MAX >> 20);
	else if (r->cancelled || r->timed_out)
		agent_fail(j, ANSWER_CANCELLED, "cancelled");
	else if (r->signo != 0)
		agent_fail(j, ANSWER_FAILED, "killed by signal %d", r->signo);
	else if (r->status != 0)
		agent_fail(j, ANSWER_FAILED, "exit status %d", r->status);
}

static void
on_out(void *arg, struct str s)
{
	struct command *c = arg;
	struct proc *p = &c->proc;

	if (!c->heard && c->job->event != NULL)
		c->job->event(c->job->arg, c->streams ? AGENT_STEP :
		    AGENT_TEXT, c->streams ? STR("working") :
		    STR("answering"));
	c->heard = true;
	c->bytes += s.n;
	if (c->streams) {
		agent_stream_put(&c->stream, s);
		p->out.buf.full = c->bytes > STREAM_MAX ||
		    c->stream.text.n > PROC_OUT_MAX || c->stream.full;
	} else {
		p->out.buf.max = PROC_OUT_MAX;
		buf_put(&p->out.buf, s);
	}
	if (p->out.buf.full && !p->res.truncated) {
		p->res.truncated = true;
		proc_cancel(p);
	}
}

static void
on_err(void *arg, struct str s)
{
	struct command *c = arg;

	if (!c->heard && c->job->event != NULL)
		c->job->event(c->job->arg, AGENT_STEP, STR("working"));
	c->heard = true;
	proc_tail_add(&c->tail, s);
}

/* Copilot writes its tokens to a file. */
static void
take_usage(struct agent_job *j)
{
	const struct agent_preset *p = agent_preset(j->agent->kind->name);
	const char *path = p != NULL && p->usage_flag != NULL ?
	    agent_usage_file(j->arena, j->req) : NULL;
	struct str text;
	struct err e;

	if (path != NULL && os_read_plain(j->arena, path, USAGE_MAX, &text,
	    &e) == 0)
		agent_add_metrics(&j->ans.usage, json_getc(arena_json(
		    j->arena, text, NULL), "modelMetrics"));
}

static void
on_done(void *arg)
{
	struct command *c = arg;
	struct agent_job *j = c->job;

	take_usage(j);
	j->ans.output = arena_str(j->arena, buf_str(&c->proc.out.buf));
	agent_set_exit(j, &c->proc, proc_tail_get(j->arena, &c->tail));
	if (c->streams) {
		if (!c->stream.full && (j->ans.fault == ANSWER_CANCELLED ||
		    c->proc.res.truncated))
			c->stream.error = STR("");
		agent_stream_end(&c->stream);
	} else
		j->ans.no_calls = true;	/* plain text reports nothing else */
	agent_mask(j, &c->secrets);
	proc_fini(&c->proc);
	agent_done(j);
}

/* A program of the suite finds its MCP servers by a variable. */
static const char *const *
command_env(struct agent *a, struct agent_job *j, struct err *e)
{
	const char **env = agent_env(j->arena, a->suite, j->req, true, e);
	const char *file, *change;

	if (env != NULL && agent_mcp_any(a->suite, j->req)) {
		file = agent_mcp_file(j->arena, a->suite, j->req, e);
		if (file == NULL)
			return NULL;
		change = arena_fmt(j->arena, "WAZA_MCP_CONFIG=%s", file).p;
		env = os_env_change(j->arena, env, &change, 1);
	}
	return env == NULL ? NULL : agent_mocks_env(a, j->arena, j->req, env);
}

/* argv, environment and stdin, from the preset or from config.command. */
static int
set_up(struct agent *a, struct agent_job *j, struct proc_opts *o, struct err *e)
{
	const struct agent_preset *p = agent_preset(a->kind->name);

	o->in = j->req->prompt;
	if (p != NULL) {
		if (agent_preset_set(p, a, j, o, e) == -1)
			return -1;
		o->bounds = agent_bounds(a, j->arena, j->req, o->env);
		return 0;
	}
	o->argv = a->state != NULL ? a->state :
	    agent_argv(j->arena, a->suite, a->suite->config.command,
	    j->req->vars, e);
	if (o->argv != NULL)
		o->env = command_env(a, j, e);
	if (o->env == NULL)
		return -1;
	o->bounds = agent_bounds(a, j->arena, j->req, o->env);
	return 0;
}

static const struct agent_format *
format_of(const struct agent *a)
{
	const struct agent_preset *p = agent_preset(a->kind->name);
	struct str name = a->suite->config.output_format;

	return agent_format(p != NULL ? str_of(p->format) : name);
}

/* Presets ignore `persistent`. */
static bool
is_pool(const struct agent *a)
{
	return a->kind == &agent_command && a->suite->config.persistent;
}

/* No other trial can start a known program that is not installed. */
static enum agent_status
fail_start(struct command *c, const struct agent_facts *f,
    const struct err *e)
{
	int sys = c->proc.res.exec_errno;

	if (f != NULL && (sys == ENOENT || sys == EACCES) &&
	    access(c->opts.cwd, X_OK) == 0)
		return agent_fail(c->job, ANSWER_UNUSABLE, "%s is not "
		    "installed (%s): %s", f->name, e->msg, f->install);
	return agent_fail(c->job, ANSWER_INFRA, "%s", e->msg);
}

static enum agent_status
launch(struct command *c)
{
	struct agent *a = c->job->agent;
	const struct agent_format *f = format_of(a);
	struct err e = { 0 };

	if (c->waiter.missing.n > 0)
		return agent_fail(c->job, ANSWER_UNUSABLE, "%.*s",
		    STRF(c->waiter.missing));
	if (proc_start(a->procs, &c->proc, &c->opts, &e) == -1)
		return fail_start(c, agent_facts(str_of(a->kind->name)), &e);
	mask_add_env(c->job->arena, &c->secrets, c->opts.env);
	c->streams = f != NULL && f->read != NULL;
	if (c->streams)
		agent_stream_init(&c->stream, c->job, f, &c->secrets);
	return AGENT_LATER;
}

static void
on_login(void *arg)
{
	struct command *c = arg;

	if (launch(c) == AGENT_DONE)
		c->job->done(c->job->arg);
}

static enum agent_status
command_start(struct agent *a, struct agent_job *j)
{
	const struct agent_facts *f = agent_facts(str_of(a->kind->name));
	const char *dir = j->req->tmp != NULL ? j->req->tmp : "/";
	struct command *c;
	struct err e = { 0 };

	if (is_pool(a))
		return agent_pool_start(a, j);
	c = NEW(j->arena, struct command);
	j->state = c;
	c->job = j;
	c->opts = (struct proc_opts){ .cwd = agent_cwd(j->req),
		.on_out = on_out, .on_err = on_err, .done = on_done,
		.arg = c };
	c->waiter = (struct agent_waiter){ .fn = on_login, .arg = c };
	if (set_up(a, j, &c->opts, &e) == -1)
		return agent_fail(j, ANSWER_INFRA, "%s", e.msg);
	if (f != NULL && !agent_gate_pass(a, &c->waiter, f, &c->opts,
	    os_absolute(j->arena, dir)))
		return AGENT_LATER;
	return launch(c);
}

static void
command_cancel(struct agent *a, struct agent_job *j)
{
	struct command *c = j->state;

	if (is_pool(a))
		agent_pool_cancel(a, j);
	else if (agent_preset(a->kind->name) != NULL &&
	    agent_gate_leave(a, &c->waiter)) {
		agent_fail(j, ANSWER_CANCELLED, "cancelled");
		j->done(j->arg);
	} else
		proc_cancel(&c->proc);
}

static bool
has_template(const struct json *command)
{
	const struct json *v;

	if (command->type == JSON_STRING)
		return tmpl_any(json_text(command));
	for (v = json_first(command); v != NULL; v = v->next)
		if (tmpl_any(json_text(v)))
			return true;
	return false;
}

/* Without a template, argv is the same for all trials. */
static int
command_open(struct agent *a, struct err *e)
{
	static const struct tmpl_vars none;

	if (agent_preset(a->kind->name) != NULL)
		return 0;
	if (is_pool(a))
		return agent_pool_open(a, e);
	if (!has_template(a->suite->config.command))
		a->state = agent_argv(a->arena, a->suite,
		    a->suite->config.command, &none, e);
	return 0;
}

static bool
command_close(struct agent *a)
{
	if (agent_preset(a->kind->name) != NULL)
		return agent_gate_close(a);
	return !is_pool(a) || agent_pool_close(a);
}

bool
agent_check_map(const struct json *map, const char *what, const char *file,
    struct spec_notes *notes)
{
	const struct json *v;
	bool ok = true;

	if (!json_is_set(map))
		return true;
	if (map->type != JSON_OBJECT) {
		if (notes != NULL)
			spec_note(notes, FIELD_ERROR, spec_at(file, map),
			    "\"%s\" must be a mapping of names to values",
			    what);
		return false;
	}
	for (v = json_first(map); v != NULL; v = v->next) {
		if (v->type != JSON_OBJECT && v->type != JSON_ARRAY &&
		    json_key(v).n > 0)
			continue;
		ok = false;
		if (notes != NULL)
			spec_note(notes, FIELD_ERROR, spec_at(file, v),
			    "each value of \"%s\" must be a string", what);
	}
	return ok;
}

static void
check_template(const struct spec_suite *s, const struct json *v,
    const struct spec_where *at, struct spec_notes *notes)
{
	struct err e;

	if (tmpl_check(json_text(v), &e) == -1)
		spec_note(notes, FIELD_ERROR, at != NULL ? *at :
		    spec_at(s->path, v), "template: %s", e.msg);
}

/* Warns only: another machine may have what is missing here. */
static void
check_present(const struct spec_suite *s, const struct json *cmd,
    const struct spec_where *at, struct spec_notes *notes)
{
	const struct json *word = cmd->type == JSON_STRING ? cmd :
	    json_first(cmd);
	struct arena tmp = { 0 };
	const char *why;

	if (word == NULL || word->type != JSON_STRING || notes->stored)
		return;
	if (cmd->type == JSON_STRING)
		why = spec_missing_line(&tmp, s->dir, json_text(word), true);
	else
		why = spec_missing_program(&tmp, &s->dir, 1, json_text(word));
	if (why == NULL && cmd->type == JSON_ARRAY)
		why = spec_missing_script(&tmp, s, notes->context_dir, cmd,
		    &word);
	if (why != NULL)
		spec_note(notes, FIELD_WARNING, at != NULL ? *at :
		    spec_at(s->path, word), "%s", why);
	arena_free(&tmp);
}

void
agent_check_command(const struct spec_suite *s, const struct json *cmd,
    const struct spec_where *at, struct spec_notes *notes)
{
	const struct json *v;

	check_present(s, cmd, at, notes);
	if (cmd->type != JSON_STRING &&
	    (cmd->type != JSON_ARRAY || json_count(cmd) == 0))
		spec_note(notes, FIELD_ERROR, at != NULL ? *at :
		    spec_at(s->path, cmd), "\"command\" must be a list of "
		    "words or a shell command");
	else if (cmd->type == JSON_STRING && json_text(cmd).n == 0)
		spec_note(notes, FIELD_ERROR, at != NULL ? *at :
		    spec_at(s->path, cmd), "\"command\" is empty: name a "
		    "program");
	check_template(s, cmd, at, notes);
	for (v = json_first(cmd); v != NULL; v = v->next) {
		check_template(s, v, at, notes);
		if (v->type != JSON_STRING && v->type != JSON_NUMBER)
			spec_note(notes, FIELD_ERROR, at != NULL ? *at :
			    spec_at(s->path, v), "each word of \"command\" "
			    "must be a string, not %s",
			    json_type_name((enum json_type)v->type));
	}
}

static void
command_check(const struct spec_suite *s, struct spec_notes *notes)
{
	const struct json *cmd = s->config.command;
	struct str format = s->config.output_format;

	if (cmd == NULL) {
		spec_note(notes, FIELD_ERROR, s->config.executor_at,
		    "executor \"command\" needs config.command, such as "
		    "command: [PROGRAM, ARGUMENT]");
		return;
	}
	agent_check_command(s, cmd, NULL, notes);
	if (format.n > 0 && agent_format(format) == NULL)
		spec_note(notes, FIELD_ERROR, spec_at(s->path, json_getc(
		    s->config.tree, "output_format")), "unknown "
		    "output_format \"%.*s\"; it must be %s",
		    STRF(utf8_cut(format, 80)), agent_format_names());
}

/* Plain text on stdout is only the answer; workers and events report more. */
static bool
command_reports_calls(const struct spec_suite *s)
{
	const struct agent_format *f = agent_format(s->config.output_format);

	return s->config.persistent || (f != NULL && f->read != NULL);
}

static enum agent_skills
command_skills(const struct spec_suite *s, const struct spec_task *t)
{
	(void)t;
	return command_reports_calls(s) ? AGENT_SKILLS_REPORTED :
	    AGENT_SKILLS_NEVER;
}

const struct agent_kind agent_command = {
	.name = "command", .needs = AGENT_NEEDS_COMMAND,
	.side_by_side = true, .takes_mcp = true,
	.loads_skills = true,		/* by WAZA_SKILLS */
	.check = command_check, .skills = command_skills,
	.reports_calls = command_reports_calls,
	.open = command_open, .start = command_start,
	.cancel = command_cancel, .close = command_close
};

/* Programs with a preset: the same, without a command in the suite. */
#define PRESET(var, word, mcp, effort) \
	const struct agent_kind var = { \
		.name = word, .needs = AGENT_NEEDS_PROGRAM, \
		.private_tmp = true, .takes_mcp = mcp, \
		.edits_only = "[\"read\",\"edit\"]", \
		.takes_effort = effort, .check = agent_preset_check, \
		.open = command_open, .start = command_start, \
		.cancel = command_cancel, .close = command_close \
	}

PRESET(agent_claude, "claude", true, true);
PRESET(agent_codex, "codex", true, true);
PRESET(agent_copilot_cli, "copilot-cli", true, true);
PRESET(agent_gemini, "gemini", true, false);
PRESET(agent_opencode, "opencode", true, true);
PRESET(agent_qwen, "qwen", true, false);

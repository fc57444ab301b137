/* SPDX-License-Identifier: ISC */
/*
 * waza doctor: which executors can run here, and what the others need.
 *
 * It makes no network requests and costs nothing: it looks for programs and
 * asks for their version, and looks for variables and login files without
 * reading them.  So it can report that a login is missing, but not whether an
 * existing login is still valid.
 */
#include "waza.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os_path.h"
#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "suite/config.h"

enum { VERSION_MS = 10000, VERSION_MAX = 60 };

struct doctor_opt {
	const char *format, *config_path, *config_json;
};

static const struct opt doctor_rows[] = {
	CMD_OPT(doctor_opt, format, OPT_STR, .name = "format",
	    .value = "text|json", .help = "output format (default: text)"),
	CMD_CONFIG_OPTS(doctor_opt, config_path, config_json),
};

/* A program that an executor or a grader needs. */
struct program {
	const char *name;		/* of the executor or tool */
	const char *programs[7];	/* any of these */
	const char *path_env;		/* variable with its path, or NULL */
	const char *keys[4];		/* variables; one is enough */
	const char *logins[2];		/* files below HOME */
	const char *install, *login;	/* how to do that */
	const char *purpose;		/* of a tool */
};

static const struct program executors[] = {
	{
		.name = "acp",
		.programs = { "claude-agent-acp", "claude-code-acp",
		    "codex-acp", "copilot", "gemini", "goose", "opencode" },
		.install = "install an agent that speaks ACP (gemini, "
		    "opencode, goose, claude-agent-acp, codex-acp), or name "
		    "its command in executors.acp"
	}, {
		.name = "claude", .programs = { "claude" },
		.keys = { "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
		    "CLAUDE_CODE_OAUTH_TOKEN" },
		.logins = { ".claude/.credentials.json" },
		.install = "npm install -g @anthropic-ai/claude-code",
		.login = "run claude and log in, or set ANTHROPIC_API_KEY"
	}, {
		.name = "codex", .programs = { "codex" },
		.keys = { "OPENAI_API_KEY", "CODEX_API_KEY" },
		.logins = { ".codex/auth.json" },
		.install = "npm install -g @openai/codex",
		.login = "codex login, or set OPENAI_API_KEY"
	}, {
		.name = "copilot-cli", .programs = { "copilot" },
		.keys = { "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN" },
		.logins = { ".copilot/config.json" },
		.install = "npm install -g @github/copilot",
		.login = "run copilot and log in, or set COPILOT_GITHUB_TOKEN"
	}, {
		.name = "copilot-sdk", .programs = { "copilot" },
		.path_env = "COPILOT_CLI_PATH",
		.keys = { "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN" },
		.logins = { ".copilot/config.json" },
		.install = "npm install -g @github/copilot",
		.login = "run copilot and log in, set COPILOT_GITHUB_TOKEN, "
		    "or name a provider"
	}, {
		.name = "gemini", .programs = { "gemini" },
		.keys = { "GEMINI_API_KEY", "GOOGLE_API_KEY" },
		.logins = { ".gemini/oauth_creds.json" },
		.install = "npm install -g @google/gemini-cli",
		.login = "run gemini and log in, or set GEMINI_API_KEY"
	}, {
		.name = "opencode", .programs = { "opencode" },
		.install = "npm install -g opencode-ai"
	},
};

static const struct program tools[] = {
	{
		.name = "curl", .programs = { "curl" },
		.purpose = "models behind https", .install = "install curl"
	}, {
		.name = "git", .programs = { "git" },
		.purpose = "repositories in workspaces",
		.install = "install git"
	}, {
		.name = "node", .programs = { "node" },
		.purpose = "JavaScript in code graders",
		.install = "install Node.js"
	}, {
		.name = "python3", .programs = { "python3" },
		.purpose = "code graders beyond the built-in evaluator",
		.install = "install Python 3"
	},
};

/* The findings about one executor or tool. */
struct finding {
	const char *name;
	const struct program *program;	/* or NULL */
	const struct json *settings;	/* of the executor, or NULL */
	const char *path;		/* of the program, or NULL */
	struct proc proc;		/* prints the version */
	struct doctor *doctor;
	struct str version;		/* or empty */
	struct str text, fix;
	bool ok;
};

struct doctor {
	struct cmd_call *call;
	struct arena *arena;
	struct finding *v;		/* executors, then tools */
	size_t n, nexecutors;
	struct procs procs;
	size_t waiting;			/* for versions */
};

static bool
is_set(const char *name)
{
	const char *v = name != NULL ? getenv(name) : NULL;

	return v != NULL && *v != '\0';
}

/*
 * Programs.
 */
static const char *
find_program(struct doctor *d, const struct finding *f)
{
	struct str set = json_str(f->settings, "cli_path");
	const char *path = NULL;
	size_t i;

	if (set.n > 0)
		path = arena_cstr(d->arena, set);
	else if (is_set(f->program->path_env))
		path = getenv(f->program->path_env);
	if (path != NULL && strchr(path, '/') != NULL)
		return access(path, X_OK) == 0 ? path : NULL;
	if (path != NULL)
		return os_find(d->arena, path);
	for (i = 0; i < COUNTOF(f->program->programs) && path == NULL &&
	    f->program->programs[i] != NULL; i++)
		path = os_find(d->arena, f->program->programs[i]);
	return path;
}

/* The first word of the first line with a digit: 8.1.0 of "curl 8.1.0 (x)". */
static struct str
version_of(struct arena *a, struct str out)
{
	size_t from = 0, n = 0;

	while (from < out.n && out.p[from] != '\n' &&
	    (out.p[from] < '0' || out.p[from] > '9'))
		from++;
	while (from + n < out.n && n < VERSION_MAX && out.p[from + n] > ' ' &&
	    out.p[from + n] < 127 && out.p[from + n] != ',' &&
	    out.p[from + n] != ')')
		n++;
	return arena_str(a, (struct str){ out.p + from, n });
}

static void
on_version(void *arg)
{
	struct finding *f = arg;
	struct doctor *d = f->doctor;

	d->waiting--;
	if (f->proc.res.status == 0 && f->proc.out.buf.n > 0)
		f->version = version_of(d->arena, buf_str(&f->proc.out.buf));
	proc_fini(&f->proc);
}

static void
start_version(struct doctor *d, struct finding *f)
{
	const char *argv[] = { f->path, "--version", NULL };
	struct proc_opts o = { .argv = argv, .out_max = 4096,
		.stop_at_max = true,
		.timeout_ms = VERSION_MS, .done = on_version, .arg = f };
	struct err e;

	if (proc_start(&d->procs, &f->proc, &o, &e) == 0)
		d->waiting++;
}

static int
find_versions(struct doctor *d)
{
	struct err *e = d->call->err;
	struct loop *loop = loop_new(NULL, e);
	size_t i;
	int r = 1;

	if (loop == NULL)
		return -1;
	procs_init(&d->procs, loop, false);
	for (i = 0; i < d->n; i++)
		if (d->v[i].path != NULL)
			start_version(d, &d->v[i]);
	while (d->waiting > 0 && r == 1)
		r = loop_turn(loop, e);
	procs_fini(&d->procs);
	loop_free(loop);
	return r == -1 ? -1 : 0;
}

/*
 * Verdicts.
 */
static struct str
login_of(struct doctor *d, const struct finding *f)
{
	const struct program *p = f->program;
	struct str named = json_str(f->settings, "api_key_env");
	const char *home = getenv("HOME"), *path, *var;
	size_t i;

	if (named.n == 0)
		named = json_str(json_getc(f->settings, "provider"),
		    "api_key_env");
	var = named.n > 0 ? arena_cstr(d->arena, named) : NULL;
	if (is_set(var))
		return arena_fmt(d->arena, "key in %s", var);
	for (i = 0; i < COUNTOF(p->keys) && p->keys[i] != NULL; i++)
		if (is_set(p->keys[i]))
			return arena_fmt(d->arena, "key in %s", p->keys[i]);
	for (i = 0; i < COUNTOF(p->logins) && p->logins[i] != NULL &&
	    home != NULL; i++) {
		path = arena_fmt(d->arena, "%s/%s", home, p->logins[i]).p;
		if (access(path, R_OK) == 0)
			return arena_fmt(d->arena, "login in ~/%s",
			    p->logins[i]);
	}
	return STR("");
}

static void
judge_program(struct doctor *d, struct finding *f)
{
	const struct program *p = f->program;
	struct str login;

	if (f->path == NULL) {
		f->text = p->programs[1] != NULL ?
		    STR("no known ACP agent is installed") :
		    arena_fmt(d->arena, "`%s` is not installed (not found in "
		    "PATH)", p->programs[0]);
		f->fix = str_of(p->install);
		return;
	}
	f->text = arena_fmt(d->arena, "%s%s%.*s", f->path,
	    f->version.n > 0 ? ", version " : ", unknown version",
	    STRF(f->version));
	f->ok = true;
	if (p->login == NULL)
		return;
	login = login_of(d, f);
	f->ok = login.n > 0;
	f->text = arena_fmt(d->arena, "%.*s; %.*s", STRF(f->text),
	    STRF(f->ok ? login : STR("no login found")));
	if (!f->ok)
		f->fix = str_of(p->login);
}

/* A self-hosted server needs no key, and http without TLS no curl. */
static void
judge_openai(struct doctor *d, struct finding *f)
{
	struct str base = json_str(f->settings, "base_url");
	struct str api = json_str(f->settings, "api");
	struct str key = json_str(f->settings, "api_key_env");
	bool claude = str_is(api, "anthropic");
	const char *var = claude ? "ANTHROPIC_BASE_URL" : "OPENAI_BASE_URL";
	bool own;

	if (base.n == 0 && is_set(var))
		base = str_of(getenv(var));
	own = base.n > 0 || str_is(api, "ollama");
	if (key.n == 0)
		key = str_of(claude ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY");
	if (!own && !is_set(arena_cstr(d->arena, key))) {
		f->text = arena_fmt(d->arena, "no key: %.*s is not set",
		    STRF(key));
		f->fix = arena_fmt(d->arena, "set %.*s, or set base_url "
		    "to your own server", STRF(key));
		return;
	}
	if (!(own && !str_starts(base, STR("https:"))) &&
	    os_find(d->arena, "curl") == NULL) {
		f->text = STR("https needs `curl`, which is not installed");
		f->fix = STR("install curl");
		return;
	}
	f->ok = true;
	f->text = own ? STR("your own server, from base_url") :
	    arena_fmt(d->arena, "key in %.*s", STRF(key));
	if (own && base.n == 0)
		f->text = STR("Ollama on this machine, if it is running");
}

static void
judge(struct doctor *d, struct finding *f)
{
	const struct agent_kind *k = agent_find(str_of(f->name));
	bool set = json_getc(f->settings, "command") != NULL;

	if (!set && f->program != NULL)
		judge_program(d, f);
	else if (!set && k != NULL && k->needs == AGENT_NEEDS_SERVER)
		judge_openai(d, f);
	else {
		f->ok = true;
		f->text = set ? STR("runs the command of the settings") :
		    k != NULL && k->needs == AGENT_NEEDS_COMMAND ?
		    STR("runs the command of the suite") : STR("built in");
	}
}

/*
 * Collecting and printing.
 */
static const struct program *
program_of(const char *name)
{
	size_t i = 0;

	while (i < COUNTOF(executors) && strcmp(executors[i].name, name) != 0)
		i++;
	return i < COUNTOF(executors) ? &executors[i] : NULL;
}

static bool
is_wanted(const struct doctor *d, const char *name)
{
	size_t i;

	for (i = 0; i < d->call->nargs; i++)
		if (strcmp(d->call->args[i], name) == 0)
			return true;
	return d->call->nargs == 0;
}

static void
add(struct doctor *d, const char *name, const struct program *p,
    const struct json *all)
{
	struct finding *f = &d->v[d->n++];

	*f = (struct finding){ .doctor = d, .name = name, .program = p,
		.settings = json_getc(all, name) };
	if (p != NULL)
		f->path = find_program(d, f);
}

static void
collect(struct doctor *d, const struct json *settings)
{
	const struct agent_kind *k;
	size_t i, n = 0;

	while (agent_nth(n) != NULL)
		n++;
	d->v = NEW_N(d->arena, struct finding, n + COUNTOF(tools));
	for (i = 0; (k = agent_nth(i)) != NULL; i++)
		if (is_wanted(d, k->name))
			add(d, k->name, program_of(k->name), settings);
	d->nexecutors = d->n;
	for (i = 0; i < COUNTOF(tools) && d->call->nargs == 0; i++)
		add(d, tools[i].name, &tools[i], NULL);
}

static void
put_text(struct buf *b, const struct doctor *d)
{
	const struct finding *f;
	size_t i;

	for (i = 0; i < d->n; i++) {
		f = &d->v[i];
		if (i == 0 || i == d->nexecutors)
			buf_puts(b, i == 0 ? "executors:\n" :
			    "for some graders and tasks:\n");
		buf_fmt(b, "  %-3s %-12s %.*s\n", f->ok ? "ok" : "no",
		    f->name, STRF(f->text));
		if (f->program != NULL && f->program->purpose != NULL &&
		    !f->ok)
			buf_fmt(b, "  %16s for: %s\n", "",
			    f->program->purpose);
		if (f->fix.n > 0)
			buf_fmt(b, "  %16s fix: %.*s\n", "", STRF(f->fix));
	}
}

static void
put_finding(struct json_out *o, const struct finding *f)
{
	json_open(o, '{');
	json_put_member_cstr(o, "name", f->name);
	json_put_member_bool(o, "ok", f->ok);
	json_put_member_str(o, "says", f->text);
	if (f->path != NULL)
		json_put_member_cstr(o, "program", f->path);
	if (f->version.n > 0)
		json_put_member_str(o, "version", f->version);
	if (f->fix.n > 0)
		json_put_member_str(o, "fix", f->fix);
	json_close(o, '}');
}

static void
put_json(struct buf *b, const struct doctor *d)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	size_t i;

	json_open(&o, '{');
	json_open_member(&o, "executors", '[');
	for (i = 0; i < d->nexecutors; i++)
		put_finding(&o, &d->v[i]);
	json_close(&o, ']');
	json_open_member(&o, "tools", '[');
	for (; i < d->n; i++)
		put_finding(&o, &d->v[i]);
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(b, '\n');
}

/* Replaces aliases of executors by their names. */
static int
check_names(struct cmd_call *c)
{
	const struct agent_kind *k;
	size_t i, n;

	for (i = 0; i < c->nargs; i++) {
		struct str_nearest near = { .word = str_of(c->args[i]) };

		k = agent_find(near.word);
		if (k != NULL) {
			c->args[i] = arena_cstr(c->arena, str_of(k->name));
			continue;
		}
		for (n = 0; (k = agent_nth(n)) != NULL; n++)
			str_nearest(&near, str_of(k->name));
		return err_set(c->err, ERR_SCHEMA, "unknown executor \"%.60s\""
		    "%s%.*s%s", c->args[i], near.best.p != NULL ?
		    "; did you mean \"" : "", STRF(near.best),
		    near.best.p != NULL ? "\"?" : "");
	}
	return 0;
}

static int
doctor_main(struct cmd_call *c)
{
	const struct doctor_opt *o = c->opt;
	struct doctor d = { .call = c, .arena = c->arena };
	struct config_sources from = { .path = o->config_path,
		.json = o->config_json, .token = c->token };
	const struct config *config;
	struct buf out = { 0 };
	int status = CMD_OK, json = cmd_choose_json(o->format, c->err);
	size_t i;

	if (json == -1 || check_names(c) == -1)
		return cmd_complain(c->err);
	config = cmd_load_config(c, &from);
	if (config == NULL)
		return CMD_ERROR;
	collect(&d, config->executors);
	if (find_versions(&d) == -1)
		return cmd_complain(c->err);
	for (i = 0; i < d.n; i++) {
		judge(&d, &d.v[i]);
		if (c->nargs > 0 && !d.v[i].ok)
			status = CMD_FAILED;
	}
	(json ? put_json : put_text)(&out, &d);
	return cmd_finish(c, &out, status);
}

const struct cmd_command cmd_doctor = {
	.name = "doctor", .usage = "[OPTION ...] [EXECUTOR ...]",
	.opts = CMD_OPTS(doctor_rows), .size = sizeof(struct doctor_opt),
	.max = 64, .fn = doctor_main,
	.help = "Report which executors can run here, and what is missing"
};

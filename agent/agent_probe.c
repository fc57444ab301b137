/* SPDX-License-Identifier: ISC */
/*
 * The known agents, and the question whether they are logged in.
 *
 * A file proves nothing: several programs write theirs as soon as they
 * start, and an environment variable can replace a login.  So the agent is
 * asked, with the environment of a trial, by a command or by the first two
 * requests of a protocol; nothing reaches a model.  Any reply that is not
 * understood means "unknown": only a clear refusal counts as a missing login.
 */
#include "agent/agent_probe.h"

#include "base/os_spawn.h"
#include "json.h"

enum { LOGIN_NEEDED = -32000 };		/* ACP: authentication required */

static const struct agent_facts facts[] = {	/* sorted by name */
	{
		.name = "claude", .executors = { "claude" },
		.program = "claude", .adapter = "claude-agent-acp",
		.keys = { "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN",
		    "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
		    "CLAUDE_CODE_USE_VERTEX" },
		.urls = { "ANTHROPIC_BASE_URL" },
		.install = "npm install -g @anthropic-ai/claude-code",
		.install_adapter = "npm install -g "
		    "@agentclientprotocol/claude-agent-acp",
		.login = "run `claude auth login`, or set ANTHROPIC_API_KEY",
		.ask = AGENT_ASK_STATUS, .words = { "auth", "status" }
	}, {
		.name = "cline", .program = "cline",
		.install = "npm install -g cline",
		.login = "run `cline auth`",
		.ask = AGENT_ASK_SESSION, .words = { "--acp" }
	}, {
		.name = "codex", .executors = { "codex" },
		.program = "codex", .adapter = "codex-acp",
		.keys = { "CODEX_API_KEY" },
		.install = "npm install -g @openai/codex",
		.install_adapter = "npm install -g "
		    "@agentclientprotocol/codex-acp",
		.login = "run `codex login`, or set CODEX_API_KEY",
		.ask = AGENT_ASK_ACCOUNT, .words = { "app-server" }
	}, {
		.name = "copilot", .executors = { "copilot-cli",
		    "copilot-sdk" },
		.program = "copilot", .path_env = "COPILOT_CLI_PATH",
		.keys = { "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN",
		    "COPILOT_PROVIDER_BASE_URL" },
		.urls = { "COPILOT_PROVIDER_BASE_URL" },
		.install = "npm install -g @github/copilot",
		.login = "run `copilot login`, set GH_TOKEN, or name a "
		    "provider",
		.ask = AGENT_ASK_SESSION,
		.words = { "--acp", "--no-auto-update" }
	}, {
		.name = "gemini", .executors = { "gemini" },
		.program = "gemini",
		.keys = { "GEMINI_API_KEY", "GOOGLE_API_KEY",
		    "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA" },
		.urls = { "GOOGLE_GEMINI_BASE_URL" },
		.install = "npm install -g @google/gemini-cli",
		.login = "run gemini and log in, or set GEMINI_API_KEY",
		.ask = AGENT_ASK_SESSION, .words = { "--acp" }
	}, {
		.name = "goose", .program = "goose",
		.keys = { "GOOSE_PROVIDER" },
		.install = "install goose, see its documentation",
		.login = "run `goose configure`"
	}, {
		.name = "opencode", .executors = { "opencode" },
		.program = "opencode",
		.install = "npm install -g opencode-ai",
		.login = "run `opencode auth login`",
		.helper = "rg", .helps = "skills fail without it"
	}, {
		.name = "qwen", .executors = { "qwen" }, .program = "qwen",
		.keys = { "OPENAI_API_KEY", "DASHSCOPE_API_KEY" },
		.urls = { "OPENAI_BASE_URL" },
		.install = "npm install -g @qwen-code/qwen-code",
		.login = "run `qwen auth`, or set OPENAI_API_KEY",
		.ask = AGENT_ASK_SESSION, .words = { "--acp" }
	},
};

const struct agent_facts *
agent_facts(struct str name)
{
	size_t i, k;

	for (i = 0; i < COUNTOF(facts); i++) {
		if (str_is(name, facts[i].name))
			return &facts[i];
		for (k = 0; k < COUNTOF(facts[i].executors) &&
		    facts[i].executors[k] != NULL; k++)
			if (str_is(name, facts[i].executors[k]))
				return &facts[i];
	}
	return NULL;
}

static bool
is_set(const char *name, const char *const *env)
{
	const char *value = env != NULL ? os_env_value(env, name) : NULL;

	return value != NULL && *value != '\0';
}

const char *
agent_first_set(const char *const *names, size_t n, const char *const *env)
{
	size_t i;

	for (i = 0; i < n && names[i] != NULL; i++)
		if (is_set(names[i], env))
			return names[i];
	return NULL;
}

static void
settle(struct agent_probe *p, enum agent_login login, struct str why)
{
	p->login = login;
	p->why = arena_str(p->arena, utf8_cut(why, 200));
}

/* {"loggedIn": false, "apiProvider": "firstParty"} of `claude auth status`. */
static void
read_status(struct agent_probe *p, const struct json *v)
{
	const struct json *in = json_getc(v, "loggedIn");

	if (in == NULL || in->type != JSON_BOOL)
		return;
	if (json_bool(in))
		settle(p, AGENT_LOGIN_YES, json_str(v, "authMethod"));
	else if (str_is(json_str(v, "apiProvider"), "firstParty"))
		settle(p, AGENT_LOGIN_NO, STR(""));
}

/* {"account": null, "requiresOpenaiAuth": true} of codex. */
static void
read_account(struct agent_probe *p, const struct json *v)
{
	const struct json *needs = json_getc(v, "requiresOpenaiAuth");

	if (json_is_set(json_getc(v, "account")))
		settle(p, AGENT_LOGIN_YES, json_str(json_getc(v, "account"),
		    "type"));
	else if (needs != NULL && needs->type == JSON_BOOL)
		settle(p, json_bool(needs) ? AGENT_LOGIN_NO : AGENT_LOGIN_YES,
		    json_bool(needs) ? STR("") : STR("its own provider"));
}

static void
on_second(void *ctx, const struct json *result, const struct json *error)
{
	struct agent_probe *p = ctx;
	int64_t code;

	if (result == NULL && error == NULL)
		return;
	if (error != NULL && json_int(json_getc(error, "code"), &code) &&
	    code == LOGIN_NEEDED && p->ask == AGENT_ASK_SESSION)
		settle(p, AGENT_LOGIN_NO, json_str(error, "message"));
	else if (error != NULL)
		settle(p, AGENT_LOGIN_UNKNOWN, json_str(error, "message"));
	else if (p->ask == AGENT_ASK_ACCOUNT)
		read_account(p, result);
	else
		settle(p, AGENT_LOGIN_YES, STR(""));
	wire_end(&p->wire);
}

static void
on_first(void *ctx, const struct json *result, const struct json *error)
{
	struct agent_probe *p = ctx;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (result == NULL) {
		if (error != NULL)
			wire_end(&p->wire);
		return;
	}
	if (p->ask == AGENT_ASK_ACCOUNT) {
		wire_ask(&p->wire, "account/read", STR("{\"refreshToken\":"
		    "false}"), on_second, p);
		return;
	}
	json_open(&o, '{');
	json_put_member_cstr(&o, "cwd", p->cwd);
	json_open_member(&o, "mcpServers", '[');
	json_close(&o, ']');
	json_close(&o, '}');
	wire_ask(&p->wire, "session/new", buf_str(&b), on_second, p);
	buf_free(&b);
}

static void
on_timeout(void *arg)
{
	struct agent_probe *p = arg;

	settle(p, AGENT_LOGIN_UNKNOWN, STR("no reply"));
	wire_kill(&p->wire);
}

static void
on_ended(void *arg)
{
	struct agent_probe *p = arg;

	timer_stop(p->procs->loop, &p->timer);
	p->done(p->arg);
}

static void
on_status(void *arg)
{
	struct agent_probe *p = arg;
	struct json_error bad;
	const struct json *v = arena_json(p->arena,
	    buf_str(&p->proc.out.buf), &bad);

	if (v != NULL)
		read_status(p, v);
	proc_fini(&p->proc);
	p->done(p->arg);
}

static bool
start_wire(struct agent_probe *p, struct procs *procs,
    const struct wire_opts *o)
{
	struct err e;

	if (wire_start(procs, &p->wire, o, &e) == -1)
		return false;
	p->timer = (struct timer){ .fn = on_timeout, .arg = p };
	timer_start(procs->loop, &p->timer, AGENT_PROBE_MS);
	wire_ask(&p->wire, "initialize", p->ask == AGENT_ASK_ACCOUNT ?
	    STR("{\"clientInfo\":{\"name\":\"waza\",\"version\":\"1\"}}") :
	    STR("{\"protocolVersion\":1,\"clientCapabilities\":{\"fs\":"
	    "{\"readTextFile\":false,\"writeTextFile\":false},"
	    "\"terminal\":false}}"), on_first, p);
	return true;
}

bool
agent_probe_start(struct agent_probe *p, struct procs *procs, struct arena *a,
    enum agent_ask ask, const char *const *argv, const char *const *env,
    const char *cwd)
{
	struct proc_opts status = { .argv = argv, .env = env, .cwd = cwd,
		.bounds = p->bounds, .out_max = 64 << 10,
		.timeout_ms = AGENT_PROBE_MS, .done = on_status, .arg = p };
	struct wire_opts o = { .argv = argv, .env = env, .cwd = cwd,
		.bounds = p->bounds, .ended = on_ended, .arg = p };
	struct err e;

	p->arena = a;
	p->procs = procs;
	p->ask = ask;
	p->cwd = cwd;
	if (ask == AGENT_ASK_NOBODY)
		return false;
	if (ask == AGENT_ASK_STATUS)
		return proc_start(procs, &p->proc, &status, &e) == 0;
	return start_wire(p, procs, &o);
}

void
agent_probe_cancel(struct agent_probe *p)
{
	if (p->ask == AGENT_ASK_STATUS)
		proc_cancel(&p->proc);
	else
		wire_kill(&p->wire);
}

struct str
agent_login_missing(struct arena *a, const struct agent_facts *f,
    struct str why)
{
	return arena_fmt(a, "%s is not logged in%s%.*s%s: %s", f->name,
	    why.n > 0 ? " (" : "", STRF(why), why.n > 0 ? ")" : "", f->login);
}

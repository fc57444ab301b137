/* SPDX-License-Identifier: ISC */
/* The table of executors, dispatch to them, and their settings. */
#include "agent/agent.h"

#include "agent/agent_internal.h"
#include "json.h"
#include "suite/spec.h"

static const struct agent_kind *const kinds[] = {	/* sorted by name */
	&agent_acp, &agent_claude, &agent_codex, &agent_command,
	&agent_copilot_cli, &agent_copilot, &agent_gemini, &agent_mock,
	&agent_openai, &agent_opencode, &agent_qwen, &agent_remote,
	&agent_replay,
};

const struct agent_kind *
agent_find(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_is(name, kinds[i]->name) || (kinds[i]->alias != NULL &&
		    str_is(name, kinds[i]->alias)))
			return kinds[i];
	return NULL;
}

const struct agent_kind *
agent_nth(size_t i)
{
	return i < COUNTOF(kinds) ? kinds[i] : NULL;
}

bool
agent_may_report_skills(const struct spec_suite *s, const struct spec_task *t)
{
	const struct agent_kind *k = agent_find(s->config.executor);
	size_t i;

	if (k == NULL || t != NULL || s->ntasks == 0)
		return k == NULL || agent_skills(k, s, t) != AGENT_SKILLS_NEVER;
	for (i = 0; i < s->ntasks; i++)
		if (agent_skills(k, s, &s->tasks[i]) != AGENT_SKILLS_NEVER)
			return true;
	return false;
}

bool
agent_reports_calls(const struct spec_suite *s)
{
	const struct agent_kind *k = agent_find(s->config.executor);

	return k == NULL || k->reports_calls == NULL || k->reports_calls(s);
}

static bool
wants_accuracy(const struct spec_suite *s)
{
	const struct spec_metric *m = s->metrics.v;
	size_t i;

	for (i = 0; i < s->metrics.n; i++)
		if (m[i].enabled && m[i].threshold > 0 &&
		    str_is(m[i].name, "trigger_accuracy"))
			return true;
	return false;
}

/* Trigger tests would cost money and show nothing. */
static void
check_triggers(const struct agent_kind *k, const struct spec_suite *s,
    struct spec_notes *notes)
{
	enum agent_skills how = agent_skills(k, s, NULL);

	if (s->triggers != NULL && (how == AGENT_SKILLS_NEVER ||
	    how == AGENT_SKILLS_SOMETIMES))
		spec_note(notes, FIELD_WARNING,
		    (struct spec_where){ s->triggers->file, 0, 0 },
		    "executor \"%s\" does not report which skills it used: "
		    "trigger tests are skipped%s", k->name,
		    wants_accuracy(s) ? ", and the threshold of "
		    "trigger_accuracy is ignored" : "");
}

/* Only evaluation clients get the `tool` of a task. */
static void
check_tools(const struct agent_kind *k, const struct spec_suite *s,
    struct spec_notes *notes)
{
	size_t i;

	if (k->evaluates || notes->stored)
		return;
	for (i = 0; i < s->ntasks; i++)
		if (s->tasks[i].def->remote != NULL) {
			spec_note(notes, FIELD_WARNING,
			    s->tasks[i].def->remote->at,
			    "\"tool\" has no effect: it is for executor "
			    "\"remote\", not \"%s\"", k->name);
			return;
		}
}

/* Settings that this executor ignores. */
static void
check_ignored(const struct agent_kind *k, const struct spec_suite *s,
    struct spec_notes *notes)
{
	const struct spec_config *c = &s->config;

	agent_mcp_check(s, notes);
	if (json_first(c->mcp_servers) != NULL && !k->takes_mcp)
		spec_note(notes, FIELD_WARNING, spec_at(s->path,
		    c->mcp_servers), "\"mcp_servers\" has no effect with "
		    "executor \"%s\"", k->name);
	if (c->reasoning_effort.n > 0 && !k->takes_effort)
		spec_note(notes, FIELD_WARNING, c->executor_at,
		    "\"reasoning_effort\" has no effect with executor "
		    "\"%s\"", k->name);
}

/* Names that other programs and people use for an executor. */
static const struct synonym {
	const char *word, *advice;
} synonyms[] = {		/* sorted by word */
#define API(k) "use \"openai\" with api: " k
#define AGENT(k) "use \"" k "\""
	{ "amp", "use \"acp\" or \"command\"" },
	{ "anthropic", API("anthropic") },
	{ "azure", "use \"openai\" with the server's base_url" },
	{ "azure-openai", "use \"openai\" with the server's base_url" },
	{ "bash", AGENT("command") },
	{ "claude-agent", AGENT("claude") },
	{ "claude-cli", AGENT("claude") },
	{ "claude-code", AGENT("claude") },
	{ "claude_code", AGENT("claude") },
	{ "codex-cli", AGENT("codex") },
	{ "cursor", "use \"acp\" or \"command\"" },
	{ "custom", AGENT("command") },
	{ "echo", AGENT("mock") },
	{ "exec", AGENT("command") },
	{ "gemini-cli", AGENT("gemini") },
	{ "github-copilot", AGENT("copilot-cli") },
	{ "goose", "use \"acp\" with agent: goose" },
	{ "http", "use \"openai\" for a model server, \"remote\" for "
	    "evaluation clients, or \"command\" with curl" },
	{ "litellm", "use \"openai\" with the server's base_url" },
	{ "lmstudio", "use \"openai\" with the server's base_url" },
	{ "ollama", API("ollama") },
	{ "openai-chat", API("chat") },
	{ "openai-responses", API("responses") },
	{ "opencode-ai", AGENT("opencode") },
	{ "openrouter", "use \"openai\" with the server's base_url" },
	{ "program", AGENT("command") },
	{ "python", "use \"command\" with command: [python3, FILE]" },
	{ "qwen-code", AGENT("qwen") },
	{ "script", AGENT("command") },
	{ "shell", AGENT("command") },
	{ "vllm", "use \"openai\" with the server's base_url" },
#undef API
#undef AGENT
};

struct str
agent_advice(struct arena *a, struct str name)
{
	struct str names[COUNTOF(kinds)];
	struct buf b = { 0 };
	bool advised = false;
	size_t i;

	for (i = 0; i < COUNTOF(synonyms); i++)
		if (str_is(name, synonyms[i].word)) {
			buf_fmt(&b, ": %s", synonyms[i].advice);
			advised = true;
		}
	for (i = 0; i < COUNTOF(kinds); i++)
		names[i] = str_of(kinds[i]->name);
	str_put_choices(&b, advised ? STR("") : name, "executors", names,
	    COUNTOF(names));
	return arena_take(a, &b);
}

static void
note_unknown(const struct spec_suite *s, struct str name,
    struct spec_notes *notes)
{
	struct arena tmp = { 0 };
	struct str advice = agent_advice(&tmp, name);

	spec_note(notes, FIELD_ERROR, s->config.executor_at, "Invalid "
	    "executor type: %.*s%.*s", STRF(utf8_cut(name, 100)),
	    STRF(advice));
	arena_free(&tmp);
}

static bool
evaluates(struct str executor)
{
	const struct agent_kind *k = agent_find(executor);

	return k != NULL && k->evaluates;
}

void
agent_expect(struct spec_notes *notes, struct str executor)
{
	notes->evaluates = evaluates;
	notes->executor = executor;
}

void
agent_check(const struct spec_suite *s, struct str name,
    struct spec_notes *notes)
{
	const struct agent_kind *k = agent_find(name);

	if (k == NULL) {
		note_unknown(s, name, notes);
		return;
	}
	if (k->check != NULL)
		k->check(s, notes);
	agent_home_check(s, k, notes);
	check_triggers(k, s, notes);
	check_tools(k, s, notes);
	agent_mocks_check(k, s, notes);
	check_ignored(k, s, notes);
}

void
agent_check_all(const struct spec_suite *s, struct spec_notes *notes)
{
	const struct field_strs *all = &s->matrix.executor;
	struct spec_suite copy = *s;
	size_t i;

	if (all->n == 0)
		agent_check(s, s->config.executor, notes);
	for (i = 0; i < all->n; i++) {
		if (s->config.executor_at.line > 0)
			copy.config.executor_at = spec_matrix_at(s, "executor",
			    i);
		agent_check(&copy, all->v[i], notes);
	}
}

void
agent_check_files(const struct spec_suite *s, struct spec_notes *notes)
{
	const struct agent_kind *k = agent_find(s->config.executor);

	spec_check_missing(s, k != NULL && !k->no_files, notes);
}

int
agent_open(struct agent *a, struct err *e)
{
	if (agent_home_read(a, e) == -1)
		return -1;
	return a->kind->open == NULL ? 0 : a->kind->open(a, e);
}

void
agent_limits(const struct agent *a, struct spec_budget *out)
{
	if (a->kind->limits != NULL && a->state != NULL)
		a->kind->limits(a, out);
}

static double
price(const struct json *p, const char *key, double otherwise)
{
	double d;

	return json_double(json_getc(p, key), &d) && d >= 0 ? d : otherwise;
}

/*
 * Prices are dollars for a million tokens.  Without the number of cached
 * tokens, the cost is known only if they have the same price as others.
 * Recorded answers keep what they cost.
 */
void
agent_price(const struct agent *a, struct agent_job *j)
{
	struct answer_usage *u = &j->ans.usage;
	const struct json *p = json_get(a->suite->prices, j->req->model);
	double in, read, cost;
	int64_t cached;

	if (p == NULL)
		p = json_get(a->suite->prices, j->ans.model);
	if (p == NULL || p->type != JSON_OBJECT || !u->known ||
	    a->kind == &agent_replay || a->kind == &agent_stored)
		return;
	in = price(p, "input", 0);
	read = price(p, "cache_read", in);
	if (!u->cached_known && (read < in || read > in))
		return;
	cached = add_near(u->cache_read_tokens, u->cache_write_tokens);
	if (cached > u->input_tokens)
		cached = u->input_tokens;
	cost = (double)(u->input_tokens - cached) * in +
	    (double)u->output_tokens * price(p, "output", 0) +
	    (double)u->cache_read_tokens * read +
	    (double)u->cache_write_tokens * price(p, "cache_write", in);
	u->cost = cost / 1e6;
	u->cost_known = true;
}

void
agent_done(struct agent_job *j)
{
	agent_price(j->agent, j);
	j->done(j->arg);
}

enum agent_status
agent_start(struct agent *a, struct agent_job *j)
{
	enum agent_status status;

	j->agent = a;
	j->ans = (struct answer){ .exit_status = -1,
		.confined = a->home.confined == AGENT_CONFINED,
		.loose = a->home.confined >= AGENT_UNABLE };
	status = a->kind->start(a, j);
	if (status == AGENT_DONE)
		agent_price(a, j);
	return status;
}

void
agent_cancel(struct agent *a, struct agent_job *j)
{
	if (a->kind->cancel != NULL)
		a->kind->cancel(a, j);
}

static void
ignore(void *arg)
{
	(void)arg;
}

/*
 * A hub outlives the run and must forget its evaluation; a request to a model
 * server has memory and a socket of its own.
 */
void
agent_drop(struct agent *a, struct agent_job *j)
{
	j->done = ignore;
	if (a->kind->own_deadline || a->kind->needs == AGENT_NEEDS_SERVER)
		agent_cancel(a, j);
}

bool
agent_close(struct agent *a)
{
	return a->kind->close == NULL || a->kind->close(a);
}

bool
agent_has_conversations(const struct agent *a)
{
	return a->kind->conversation_end != NULL;
}

bool
agent_conversation_open(const struct agent *a,
    const struct agent_conversation *c)
{
	const struct agent_kind *k = a->kind;

	return c->state != NULL && k->conversation_end != NULL &&
	    (k->conversation_open == NULL || k->conversation_open(c));
}

void
agent_conversation_end(struct agent *a, struct agent_conversation *c)
{
	if (a->kind->conversation_end != NULL && c->state != NULL)
		a->kind->conversation_end(a, c);
	c->state = NULL;
}

bool
agent_no_workspace(const struct spec_suite *s, const struct spec_task *t)
{
	(void)s;
	(void)t;
	return false;
}

enum agent_skills
agent_no_skills(const struct spec_suite *s, const struct spec_task *t)
{
	(void)s;
	(void)t;
	return AGENT_SKILLS_NEVER;
}

bool
agent_lists(const struct json *permissions, struct str kind)
{
	const struct json *v;

	if (permissions == NULL || permissions->type != JSON_ARRAY)
		return false;
	for (v = json_first(permissions); v != NULL; v = v->next)
		if (v->type == JSON_STRING && str_eq(json_text(v), kind))
			return true;
	return false;
}

bool
agent_approves(const struct json *permissions, struct str kind)
{
	if (!json_is_set(permissions))
		return true;
	return permissions->type == JSON_STRING ?
	    str_is(json_text(permissions), "approve") :
	    agent_lists(permissions, kind);
}

const char *
agent_cwd(const struct agent_request *r)
{
	return r->cwd != NULL ? r->cwd : r->workspace;
}

bool
agent_needs_workspace(const struct agent *a, const struct spec_task *t)
{
	return a->kind->needs_workspace == NULL ||
	    a->kind->needs_workspace(a->suite, t);
}

static void
add_members(struct arena *a, struct json *obj, struct json ***tail,
    const struct json *from)
{
	const struct json *v;
	struct json *copy;

	if (from == NULL || from->type != JSON_OBJECT)
		return;
	for (v = json_first(from); v != NULL; v = v->next) {
		copy = NEW(a, struct json);
		*copy = json_copy(v);
		copy->next = NULL;
		**tail = copy;
		*tail = &copy->next;
		obj->n++;
	}
}

size_t
agent_blocks(const struct spec_suite *s, const char *name,
    struct agent_block out[AGENT_BLOCKS])
{
	const struct spec_config *c = &s->config;
	const struct json *block;
	const char *file;
	size_t i, n = 0;

	out[n++] = (struct agent_block){ json_getc(s->executors, name), NULL,
		false };
	out[n++] = (struct agent_block){ c->tree, s->path, true };
	out[n++] = (struct agent_block){ json_getc(c->executors, name),
		s->path, false };
	out[n++] = (struct agent_block){ json_getc(c->tree, name), s->path,
		false };
	for (i = 0; i < COUNTOF(c->judging); i++) {
		block = c->judging[i].block;
		file = c->judging[i].file;
		out[n++] = (struct agent_block){ block, file, true };
		out[n++] = (struct agent_block){ json_getc(block, name), file,
			false };
	}
	return n;
}

/* The last of several members of one name wins. */
const struct json *
agent_settings(struct arena *a, const struct spec_suite *s, const char *name)
{
	struct agent_block block[AGENT_BLOCKS];
	struct json_mem mem = { arena_hook, a };
	struct json *obj = NEW(a, struct json), **tail = &obj->u.child;
	size_t i, n = agent_blocks(s, name, block);

	obj->type = JSON_OBJECT;
	for (i = 0; i < n; i++)
		add_members(a, obj, &tail, block[i].v);
	json_seal(&mem, obj, true);
	return obj;
}

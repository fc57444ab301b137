/* SPDX-License-Identifier: ISC */
/*
 * waza doctor: finds programs, asks for version and login, and judges.
 *
 * A few children run at the same time, each with a time limit: many of these
 * programs keep a processor busy for seconds.  A program of several executors
 * is asked once.  It is asked for its version with a private HOME, because even
 * that makes some programs write there; for its login with the user's.
 */
#include "cmd/doctor.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os_net.h"
#include "base/os_path.h"
#include "base/os_spawn.h"
#include "grader.h"
#include "io/loop.h"
#include "json.h"
#include "lib/http.h"
#include "waza.h"

enum { VERSION_MS = 15000, CONNECT_MS = 3000, VERSION_MAX = 60,
	CHILDREN_MAX = 4 };

extern char **environ;

static bool
is_set(const char *name)
{
	const char *v = name != NULL ? getenv(name) : NULL;

	return v != NULL && *v != '\0';
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
	if (n > 0 && out.p[from + n - 1] == '.')
		n--;
	return arena_str(a, (struct str){ out.p + from, n });
}

static void start_children(struct doctor *);

static void
on_version(void *arg)
{
	struct doctor_finding *f = arg;
	struct doctor *d = f->doctor;

	d->waiting--;
	f->version_status = f->proc.res.status;
	f->version_late = f->proc.res.timed_out;
	if (f->proc.res.status == 0 && f->proc.out.buf.n > 0)
		f->version = version_of(d->arena, buf_str(&f->proc.out.buf));
	proc_fini(&f->proc);
	start_children(d);
}

static void
start_version(struct doctor *d, struct doctor_finding *f)
{
	const char *argv[] = { f->path, "--version", NULL };
	const char *set[] = { arena_fmt(d->arena, "HOME=%s", d->dir).p,
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
		"XDG_CACHE_HOME", "CODEX_HOME", "COPILOT_HOME",
		"CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "QWEN_HOME" };
	struct proc_opts o = { .argv = argv, .out_max = 4096, .cwd = d->dir,
		.env = os_env(d->arena, set, COUNTOF(set)),
		.stop_at_max = true, .timeout_ms = VERSION_MS,
		.done = on_version, .arg = f };
	struct err e;

	if (proc_start(&d->procs, &f->proc, &o, &e) == 0)
		d->waiting++;
}

static void
on_login(void *arg)
{
	struct doctor_finding *f = arg;

	f->doctor->waiting--;
	f->login = f->probe.login;
	f->login_by = f->probe.why;
	start_children(f->doctor);
}

/* A key or a provider replaces the login: the agent would not be asked. */
static void
start_login(struct doctor *d, struct doctor_finding *f)
{
	const struct agent_facts *k = f->facts;
	struct str named = json_str(f->settings, "api_key_env");
	const struct json *provider = json_getc(f->settings, "provider");
	const char *argv[COUNTOF(f->question.argv)], *key;

	if (named.n == 0)
		named = json_str(provider, "api_key_env");
	key = named.n > 0 ? arena_cstr(d->arena, named) : NULL;
	if (!is_set(key))
		key = agent_first_set(k->keys, COUNTOF(k->keys),
		    (const char *const *)environ);
	if (key != NULL || json_is_set(provider)) {
		f->login = AGENT_LOGIN_YES;
		f->login_by = key != NULL ? arena_fmt(d->arena, "key in %s",
		    key) : STR("provider");
		return;
	}
	memcpy(argv, f->question.argv, sizeof(argv));
	argv[0] = f->path;
	f->probe.done = on_login;
	f->probe.arg = f;
	d->waiting += agent_probe_start(&f->probe, &d->procs, d->arena,
	    f->question.ask, argv, NULL, d->dir);
}

static void
find_url(struct doctor *d, struct doctor_finding *f)
{
	struct str url = json_str(json_getc(f->settings, "provider"),
	    "base_url");
	const char *var = agent_first_set(f->facts->urls,
	    COUNTOF(f->facts->urls), (const char *const *)environ);

	if (url.n == 0 && var != NULL)
		url = str_of(getenv(var));
	if (memchr(url.p != NULL ? url.p : "", '@', url.n) == NULL)
		f->url = arena_str(d->arena, url);
}

/* Whether a connection to the server can be opened. */
static bool
reaches(struct doctor *d, struct str url, struct err *e)
{
	struct http_url u;
	struct pollfd p = { .events = POLLOUT };
	size_t i;
	int sys = 0;

	if (http_url_read(url, &u, e) == -1)
		return false;
	for (i = 0; (p.fd = os_connect_tcp(arena_cstr(d->arena, u.host),
	    arena_cstr(d->arena, u.port), i, e)) != -1; i++) {
		sys = poll(&p, 1, CONNECT_MS) == 1 ? os_connected(p.fd) : -1;
		close(p.fd);
		if (sys == 0)
			return true;
	}
	if (sys > 0)
		err_set(e, ERR_SYS, "%s", strerror(sys));
	else if (sys < 0)
		err_set(e, ERR_TIMEOUT, "no reply within %d s",
		    CONNECT_MS / 1000);
	return false;
}

/* A self-hosted server needs no key, and http without TLS no curl. */
static void
judge_server(struct doctor *d, struct doctor_finding *f)
{
	struct str base = json_str(f->settings, "base_url");
	struct str api = json_str(f->settings, "api");
	struct str key = json_str(f->settings, "api_key_env");
	bool claude = str_is(api, "anthropic");
	const char *var = claude ? "ANTHROPIC_BASE_URL" : "OPENAI_BASE_URL";
	bool ollama = str_is(api, "ollama");
	struct err e;

	if (base.n == 0 && is_set(var))
		base = str_of(getenv(var));
	f->url = base.n > 0 ? base : ollama ?
	    STR("http://127.0.0.1:11434") : STR("");
	if (key.n == 0 && (base.n == 0 || claude))
		key = str_of(claude ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY");
	if (f->url.n == 0 && !is_set(arena_cstr(d->arena, key))) {
		f->text = arena_fmt(d->arena, "no key: %.*s is not set",
		    STRF(key));
		f->fix = arena_fmt(d->arena, "set %.*s, or set base_url "
		    "to your own server", STRF(key));
	} else if (!str_starts(f->url, STR("http:")) &&
	    os_find(d->arena, "curl") == NULL) {
		f->text = STR("https needs `curl`, which is not installed");
		f->fix = STR("install curl");
	} else if (f->url.n > 0 && !reaches(d, f->url, &e)) {
		f->text = arena_fmt(d->arena, "cannot reach %.*s",
		    STRF(f->url));
		f->note = arena_str(d->arena, str_of(e.msg));
		f->fix = STR("start the server, or change base_url");
	} else {
		f->ok = true;
		f->text = f->url.n == 0 ? arena_fmt(d->arena, "key in %.*s",
		    STRF(key)) : arena_fmt(d->arena, "%.*s can be reached%s",
		    STRF(f->url), key.n == 0 || is_set(arena_cstr(d->arena,
		    key)) ? "" : "; no key is set");
	}
}

static const char *
confinement(struct doctor *d, const struct doctor_finding *f)
{
	static const char *const words[] = { NULL, "workspace", "own sandbox",
	    "no", "no", "no" };
	struct agent a = { .kind = f->kind, .suite = f->suite,
		.arena = d->arena };
	struct err e;

	return agent_open(&a, &e) == -1 ? NULL : words[a.home.confined];
}

/*
 * A program that does not even print its version.  It runs if it has replied to
 * the other question; one that cannot be asked gets only the note.
 */
static void
judge_version(struct doctor *d, struct doctor_finding *f)
{
	if (f->version_late && f->login == AGENT_LOGIN_UNKNOWN)
		f->note = arena_fmt(d->arena, "`%s --version` took more than "
		    "%d s", f->question.argv[0], VERSION_MS / 1000);
	if (f->version_late || f->version_status <= 0 ||
	    f->login != AGENT_LOGIN_UNKNOWN)
		return;
	f->note = arena_fmt(d->arena, "`%s --version` failed with status %d",
	    f->question.argv[0], f->version_status);
	f->ok = f->question.ask == AGENT_ASK_NOBODY || f->login_by.n > 0;
	if (!f->ok)
		f->fix = arena_fmt(d->arena, "install it again: %s",
		    agent_install(f->facts, &f->question));
}

static void
judge_agent(struct doctor *d, struct doctor_finding *f)
{
	const struct agent_facts *k = f->facts;
	const char *from = f->question.path_from;
	const char *name = from != NULL ? getenv(from) : f->question.argv[0];

	if (f->path == NULL) {
		f->text = arena_fmt(d->arena, "`%s` is not installed (%s%s)",
		    name, from != NULL ? from : "not found in PATH",
		    from != NULL ? " is not a program" : "");
		f->fix = str_of(agent_install(k, &f->question));
		return;
	}
	find_url(d, f);
	f->ok = f->login != AGENT_LOGIN_NO;
	f->text = arena_fmt(d->arena, "%s, version %.*s; login: %s%s%.*s",
	    f->path, STRF(f->version.n > 0 ? f->version : STR("unknown")),
	    f->login == AGENT_LOGIN_UNKNOWN ? "unknown" :
	    f->ok ? "yes" : "no", f->login_by.n > 0 ? ", " : "",
	    STRF(f->login_by));
	if (!f->ok)
		f->fix = str_of(k->login);
	if (k->helper != NULL && os_find(d->arena, k->helper) == NULL)
		f->note = arena_fmt(d->arena, "`%s` is not installed: %s",
		    k->helper, k->helps);
	judge_version(d, f);
}

static void
judge(struct doctor *d, struct doctor_finding *f)
{
	const struct agent_kind *k = f->kind;

	if (f->tool != NULL) {
		f->ok = f->path != NULL;
		f->text = f->ok ? str_of(f->path) :
		    arena_fmt(d->arena, "not installed; for: %s",
		    f->tool->purpose);
		if (!f->ok)
			f->fix = str_of(f->tool->install);
	} else if (f->facts != NULL)
		judge_agent(d, f);
	else if (k != NULL && k->needs == AGENT_NEEDS_SERVER)
		judge_server(d, f);
	else if (f->text.n == 0) {
		f->ok = true;
		f->text = k != NULL && k->needs != AGENT_NEEDS_NOTHING ?
		    STR("runs a command of the suite or the settings") :
		    STR("built in");
	}
}

static bool
has_provider(const struct doctor_finding *f)
{
	return json_is_set(json_getc(f->settings, "provider"));
}

/* The first executor with the same program and the same need of a login. */
static struct doctor_finding *
first_of(struct doctor *d, const struct doctor_finding *f)
{
	struct doctor_finding *g = d->v;

	while (g < f && (g->path == NULL || strcmp(g->path, f->path) != 0 ||
	    has_provider(g) != has_provider(f)))
		g++;
	return g;
}

/* Starts children up to the limit: versions first, then logins. */
static void
start_children(struct doctor *d)
{
	struct doctor_finding *f;

	while (d->waiting < CHILDREN_MAX && d->next < 2 * d->n) {
		f = &d->v[d->next % d->n];
		if (f->path != NULL && first_of(d, f) == f) {
			if (d->next < d->n)
				start_version(d, f);
			else if (f->facts != NULL)
				start_login(d, f);
		}
		d->next++;
	}
}

int
doctor_examine(struct doctor *d)
{
	struct err *e = d->call->err;
	struct loop *loop = loop_new(NULL, e);
	struct doctor_finding *f, *first;
	int r = 1;

	if (loop == NULL)
		return -1;
	procs_init(&d->procs, loop, false);
	for (f = d->v; f < d->v + d->n; f++)
		f->path = f->tool != NULL ? os_find(d->arena, f->tool->name) :
		    f->question.path;
	start_children(d);
	while (d->waiting > 0 && r == 1)
		r = loop_turn(loop, e);
	procs_fini(&d->procs);
	loop_free(loop);
	for (f = d->v; r != -1 && f < d->v + d->n; f++) {
		first = f->path != NULL ? first_of(d, f) : f;
		f->version = first->version;
		f->version_status = first->version_status;
		f->version_late = first->version_late;
		f->login = first->login;
		f->login_by = first->login_by;
		judge(d, f);
		if (f->facts != NULL)
			f->confined = confinement(d, f);
	}
	return r == -1 ? -1 : 0;
}

/*
 * The needs of one suite: its executor and its judge with their settings, the
 * commands that it names, and servers.
 */
/* The executor of `judge`, if some grader is a prompt. */
static void
add_judge(struct doctor *d, const struct spec_suite *s)
{
	struct spec_suite *judge = NEW(d->arena, struct spec_suite);
	struct str name = json_str(s->config.judge, "executor");
	const struct agent_kind *k = agent_find(name.n > 0 ? name :
	    s->config.executor);

	*judge = *s;
	judge->config.judging[0].block = s->config.judge;
	judge->config.judging[0].file = s->path;
	judge->config.executor = name.n > 0 ? name : s->config.executor;
	if (name.n > 0 && k != NULL &&
	    !str_eq(str_of(k->name), s->config.executor))
		doctor_add_kind(d, k, judge);
}

/* The suite with this executor of its matrix, or with its own. */
static void
add_executor(struct doctor *d, const struct spec_suite *s, struct str name)
{
	const struct agent_kind *k = agent_find(name);
	struct spec_suite *copy = NEW(d->arena, struct spec_suite);

	*copy = *s;
	copy->config.executor = name;
	if (k != NULL && k->needs != AGENT_NEEDS_COMMAND)
		doctor_add_kind(d, k, copy);
}

static void
add_command(struct doctor *d, const struct spec_suite *s,
    const struct agent_kind *k)
{
	const struct json *word = json_first(s->config.command);
	struct doctor_finding *f;
	const char *name;

	if (word == NULL || word->type != JSON_STRING || k == NULL ||
	    k->needs != AGENT_NEEDS_COMMAND)
		return;
	name = arena_cstr(d->arena, json_text(word));
	if (name == NULL || strstr(name, "{{") != NULL)
		return;
	f = doctor_add(d, "command");
	if (f == NULL)
		return;
	f->ok = strchr(name, '/') != NULL ?
	    access(spec_path(d->arena, s->dir, str_of(name)), X_OK) == 0 :
	    os_find(d->arena, name) != NULL;
	f->text = arena_fmt(d->arena, f->ok ? "%s" : "%s is not installed",
	    name);
}

/* Checks of the suite that found a missing program. */
static void
add_notes(struct doctor *d, const struct spec_notes *notes)
{
	const struct spec_note *n;
	struct doctor_finding *f;

	for (n = notes->head; n != NULL; n = n->next) {
		if (n->level != FIELD_ERROR &&
		    strstr(n->msg, "not installed") == NULL &&
		    strstr(n->msg, "not confined") == NULL)
			continue;
		f = doctor_add(d, "suite");
		if (f == NULL)
			return;
		f->ok = strstr(n->msg, "not confined") != NULL;
		f->text = arena_fmt(d->arena, "%s:%u: %s", n->at.file,
		    n->at.line, n->msg);
	}
}

int
doctor_add_suite(struct doctor *d, const char *path, const char *config,
    const char *json, bool trust)
{
	struct spec_notes notes = { .arena = d->arena, .trust = trust };
	const struct field_strs *all;
	struct spec_suite *s;
	size_t i;

	agent_expect(&notes, STR(""));
	s = spec_load(d->arena, path, &notes);
	if (s != NULL) {
		cmd_settings(d->call, config, json, s, &notes);
		agent_check_all(s, &notes);
		grader_check(s, &notes);
	}
	if (s == NULL) {
		cmd_print_notes(&notes, true);
		return -1;
	}
	all = &s->matrix.executor;
	for (i = 0; i < all->n; i++)
		add_executor(d, s, all->v[i]);
	if (all->n == 0)
		add_executor(d, s, s->config.executor);
	add_judge(d, s);
	d->nexecutors = d->n;
	for (i = 0; i < all->n; i++)
		add_command(d, s, agent_find(all->v[i]));
	if (all->n == 0)
		add_command(d, s, agent_find(s->config.executor));
	add_notes(d, &notes);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * waza doctor: which executors can run here, and what the others need; or what
 * one suite needs.
 *
 * It costs nothing: programs are asked for their version and whether they are
 * logged in (doctor_probe.c), and no model is called.
 */
#include "waza.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/proto/acp.h"
#include "base/os_confine.h"
#include "cmd/doctor.h"
#include "io/workspace.h"
#include "json.h"
#include "report/report.h"
#include "suite/config.h"

enum { NAME_WIDTH = 12, VERSION_WIDTH = 9, LOGIN_WIDTH = 24,
	SKILLS_WIDTH = 14, REPLY_MAX = 54, FULL_WIDTH = 77, LOGIN_LEAST = 7 };

struct doctor_opt {
	const char *format, *config_path, *config_json;
	bool trust;
};

static const struct opt doctor_rows[] = {
	CMD_OPT(doctor_opt, format, OPT_STR, .name = "format",
	    .value = "text|json", .help = "output format (default: text)"),
	CMD_CONFIG_OPTS(doctor_opt, config_path, config_json, trust),
};

static const struct doctor_tool tools[] = {
	{ "curl", "models behind https", "install curl" },
	{ "git", "repositories in workspaces", "install git" },
	{ "node", "JavaScript in code graders", "install Node.js" },
	{ "python3", "code graders that need Python",
	    "install Python 3" },
};

static const char *const logins[] = { [AGENT_LOGIN_UNKNOWN] = "unknown",
	[AGENT_LOGIN_NO] = "no", [AGENT_LOGIN_YES] = "yes" };

/*
 * Collecting.
 */
struct doctor_finding *
doctor_add(struct doctor *d, const char *name)
{
	struct doctor_finding *f = &d->v[d->n];

	if (d->n == DOCTOR_MAX)
		return NULL;
	d->n++;
	*f = (struct doctor_finding){ .doctor = d, .name = name };
	return f;
}

static void
add_agent(struct doctor *d, const struct agent_kind *k,
    const struct acp_agent *acp, const struct spec_suite *s)
{
	struct doctor_finding *f = doctor_add(d, acp == NULL ? k->name :
	    arena_fmt(d->arena, "acp:%s", acp->name).p);
	const struct agent_skill_place *place;

	if (f == NULL)
		return;
	f->kind = k;
	f->suite = s;
	f->settings = agent_settings(d->arena, s, k->name);
	f->facts = agent_facts(str_of(acp != NULL ? acp->name : k->name));
	place = agent_skill_place_of(k, s);
	f->skills = place != NULL ? place->dir : k->shared_process ?
	    "by its path" : NULL;
	f->permits = agent_permits(d->arena, k, s);
	if (f->facts != NULL)
		agent_question(d->arena, k, s, f->facts, &f->question);
}

void
doctor_add_kind(struct doctor *d, const struct agent_kind *k,
    const struct spec_suite *s)
{
	const struct json *set = agent_settings(d->arena, s, k->name);

	add_agent(d, k, strcmp(k->name, "acp") == 0 &&
	    json_getc(set, "command") == NULL ?
	    acp_agent(json_str(set, "agent")) : NULL, s);
}

/* A suite that configures only this executor, or this agent of `acp`. */
static const struct spec_suite *
suite_of(struct doctor *d, const struct agent_kind *k,
    const struct acp_agent *acp)
{
	struct spec_suite *s = NEW(d->arena, struct spec_suite);
	struct json_error e;

	s->path = s->dir = ".";
	s->config.executor = str_of(k->name);
	s->executors = acp == NULL ? d->executors : arena_json(d->arena,
	    arena_fmt(d->arena, "{\"acp\":{\"agent\":\"%s\"}}", acp->name),
	    &e);
	return s;
}

/* Whether an operand names this executor, or this agent of `acp`. */
static bool
is_wanted(const struct doctor *d, const char *name, const char *agent)
{
	const char *arg;
	size_t i;

	for (i = 0; i < d->call->nargs; i++) {
		arg = d->call->args[i];
		if (strcmp(arg, name) == 0 || (agent != NULL &&
		    (strcmp(arg, agent) == 0 || (strncmp(arg, "acp:", 4) == 0
		    && strcmp(arg + 4, agent) == 0))))
			return true;
	}
	return d->call->nargs == 0;
}

static void
collect_acp(struct doctor *d, const struct agent_kind *k)
{
	const struct acp_agent *a;
	const char *alone;
	size_t i;

	if (json_getc(json_getc(d->executors, "acp"), "command") != NULL) {
		if (is_wanted(d, "acp", NULL))
			add_agent(d, k, NULL, suite_of(d, k, NULL));
		return;
	}
	for (i = 0; (a = acp_agent_nth(i)) != NULL; i++) {
		/* "claude" is the executor of that name */
		alone = agent_find(str_of(a->name)) == NULL ? a->name : NULL;
		if (is_wanted(d, "acp", alone) || is_wanted(d, arena_fmt(
		    d->arena, "acp:%s", a->name).p, NULL))
			add_agent(d, k, a, suite_of(d, k, a));
	}
}

static void
add_confinement(struct doctor *d)
{
	struct doctor_finding *f = doctor_add(d, "landlock");

	f->ok = os_can_confine();
	f->text = f->ok ? STR("agents are confined to their directories") :
	    STR("agents are not confined");
	f->fix = f->ok ? STR("") : STR("use Linux 6.2 or later, and a "
	    "container that allows Landlock");
}

static void
collect(struct doctor *d)
{
	const struct agent_kind *k;
	size_t i;

	for (i = 0; (k = agent_nth(i)) != NULL; i++)
		if (strcmp(k->name, "acp") == 0)
			collect_acp(d, k);
		else if (is_wanted(d, k->name, NULL))
			add_agent(d, k, NULL, suite_of(d, k, NULL));
	d->nexecutors = d->n;
	for (i = 0; i < COUNTOF(tools) && d->call->nargs == 0; i++)
		doctor_add(d, tools[i].name)->tool = &tools[i];
	if (d->call->nargs == 0)
		add_confinement(d);
}

static int
make_dir(struct doctor *d)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = arena_cstr(d->arena, arena_fmt(d->arena,
	    "%s/waza-doctor.XXXXXX", tmp != NULL && *tmp == '/' ? tmp :
	    "/tmp"));

	d->dir = mkdtemp(dir);
	return d->dir == NULL ? err_sys(d->call->err, dir) : 0;
}

/* Examines the collected agents; -1 after a message. */
static int
examine_here(struct doctor *d)
{
	struct err e;
	int r;

	if (make_dir(d) == -1)
		return cmd_complain(d->call->err), -1;
	r = doctor_examine(d);
	if (r == -1)
		cmd_complain(d->call->err);
	workspace_remove(d->dir, &e);
	return r;
}

const char *
doctor_first(struct cmd_call *call, const struct json *executors)
{
	struct doctor d = { .call = call, .arena = call->arena,
		.executors = executors };
	const struct agent_kind *k;
	size_t i;

	d.v = NEW_N(call->arena, struct doctor_finding, DOCTOR_MAX);
	for (i = 0; (k = agent_nth(i)) != NULL; i++)
		if (strcmp(k->name, "acp") != 0 &&
		    agent_facts(str_of(k->name)) != NULL)
			add_agent(&d, k, NULL, suite_of(&d, k, NULL));
	if (examine_here(&d) == -1)
		return NULL;
	for (i = 0; i < d.n; i++)
		if (d.v[i].ok)
			return d.v[i].name;
	return NULL;
}

/*
 * Printing.
 */
static void
put_cell(struct buf *b, struct str s, size_t width)
{
	struct str cut = s.n > width ? utf8_cut(s, width - 3) : s;

	buf_fmt(b, "%.*s%s%*s", STRF(cut), cut.n < s.n ? "..." : "",
	    (int)(s.n > width ? 1 : width + 1 - s.n), "");
}

/* What a login is known by is the only column that a row can do without. */
static size_t
login_width(void)
{
	struct report_opts o = { 0 };

	report_env(&o, STDOUT_FILENO, REPORT_AUTO);
	if (o.width == 0 || o.width >= FULL_WIDTH)
		return LOGIN_WIDTH;
	return o.width + LOGIN_WIDTH < FULL_WIDTH + LOGIN_LEAST ? LOGIN_LEAST :
	    o.width + LOGIN_WIDTH - FULL_WIDTH;
}

static void
put_agent(struct buf *b, const struct doctor_finding *f)
{
	struct str login = str_of(logins[f->login]);

	put_cell(b, f->version.n > 0 ? f->version : STR("unknown"),
	    VERSION_WIDTH);
	put_cell(b, f->login == AGENT_LOGIN_YES && f->login_by.n > 0 ?
	    f->login_by : login, login_width());
	put_cell(b, str_of(f->skills != NULL ? f->skills : "-"), SKILLS_WIDTH);
	buf_fmt(b, "%s\n", f->confined != NULL ? f->confined : "-");
}

static void
put_line(struct buf *b, const char *label, struct str text)
{
	if (text.n > 0)
		buf_fmt(b, "%*s%s%.*s\n", NAME_WIDTH + 7, "", label,
		    STRF(text));
}

static void
put_finding_text(struct buf *b, const struct doctor_finding *f, bool details)
{
	buf_fmt(b, "  %s  ", f->ok ? "ok" : "no");
	put_cell(b, str_of(f->name), NAME_WIDTH);
	if (f->path != NULL && f->facts != NULL) {
		put_agent(b, f);
		if (details) {
			put_line(b, "program: ", str_of(f->path));
			put_line(b, "path from: ", str_of(
			    f->question.path_from != NULL ?
			    f->question.path_from : ""));
			put_line(b, "server: ", f->url);
		}
	} else
		buf_fmt(b, "%.*s%s%.*s\n", STRF(f->text),
		    f->version.n > 0 ? ", version " : "", STRF(f->version));
	if (f->login != AGENT_LOGIN_YES)
		put_line(b, "agent: ", utf8_cut(f->login_by, REPLY_MAX));
	put_line(b, "note: ", f->note);
	put_line(b, "fix: ", f->fix);
}

static void
put_text(struct buf *b, const struct doctor *d)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		if (i == 0 && d->nexecutors > 0) {
			put_cell(b, STR("executors:"), NAME_WIDTH + 6);
			put_cell(b, STR("version"), VERSION_WIDTH);
			put_cell(b, STR("login"), login_width());
			put_cell(b, STR("skills"), SKILLS_WIDTH);
			buf_puts(b, "confined\n");
		} else if (i == d->nexecutors)
			buf_puts(b, "for some graders and tasks:\n");
		put_finding_text(b, &d->v[i], d->call->nargs > 0);
	}
}

static void
put_member(struct json_out *o, const char *key, const char *value)
{
	if (value != NULL)
		json_put_member_cstr(o, key, value);
}

static void
put_finding(struct json_out *o, const struct doctor_finding *f)
{
	json_open(o, '{');
	json_put_member_cstr(o, "name", f->name);
	json_put_member_bool(o, "ok", f->ok);
	json_put_member_str(o, "says", f->text);
	put_member(o, "program", f->path);
	put_member(o, "program_from", f->question.path_from);
	if (f->version.n > 0)
		json_put_member_str(o, "version", f->version);
	if (f->facts != NULL && f->path != NULL)
		json_put_member_cstr(o, "login", logins[f->login]);
	if (f->login_by.n > 0)
		json_put_member_str(o, "login_by", f->login_by);
	if (f->url.n > 0)
		json_put_member_str(o, "base_url", f->url);
	put_member(o, "skills", f->skills);
	put_member(o, "confined", f->confined);
	put_member(o, "permissions", f->permits);
	if (f->note.n > 0)
		json_put_member_str(o, "note", f->note);
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

/*
 * Operands.
 */
static bool
is_suite(const char *arg)
{
	struct stat st;

	return agent_find(str_of(arg)) == NULL && (strchr(arg, '/') != NULL ||
	    str_ends(str_of(arg), STR(".yaml")) ||
	    str_ends(str_of(arg), STR(".yml")) || stat(arg, &st) == 0);
}

static bool
is_acp_agent(struct str arg)
{
	if (str_starts(arg, STR("acp:")))
		arg = (struct str){ arg.p + 4, arg.n - 4 };
	return acp_agent(arg) != NULL;
}

/* Replaces aliases of executors by their names. */
static int
check_names(struct cmd_call *c)
{
	const struct agent_kind *k;
	size_t i;

	for (i = 0; i < c->nargs; i++) {
		struct str name = str_of(c->args[i]);

		k = agent_find(name);
		if (k != NULL)
			c->args[i] = arena_cstr(c->arena, str_of(k->name));
		if (k != NULL || is_acp_agent(name))
			continue;
		return err_set(c->err, ERR_SCHEMA, "unknown executor "
		    "\"%.60s\"%.*s", c->args[i], STRF(agent_advice(c->arena,
		    name)));
	}
	return 0;
}

/* The findings; -1 after a message. */
static int
examine(struct doctor *d, const struct doctor_opt *o, bool suite)
{
	if (suite) {
		if (doctor_add_suite(d, cmd_suite_path(d->call),
		    o->config_path, o->config_json, o->trust) == -1)
			return -1;
	} else
		collect(d);
	return examine_here(d);
}

static int
doctor_main(struct cmd_call *c)
{
	const struct doctor_opt *o = c->opt;
	struct doctor d = { .call = c, .arena = c->arena };
	struct config_sources from = { .path = o->config_path,
		.json = o->config_json, .token = c->token,
		.trust = o->trust };
	const struct config *config;
	struct buf out = { 0 };
	int status = CMD_OK, json = cmd_choose_json(o->format, c->err);
	bool suite = c->nargs == 1 && is_suite(c->args[0]);
	size_t i;

	if (json == -1 || (!suite && check_names(c) == -1))
		return cmd_complain(c->err);
	config = cmd_load_config(c, &from);
	if (config == NULL)
		return CMD_ERROR;
	d.executors = config->executors;
	d.v = NEW_N(c->arena, struct doctor_finding, DOCTOR_MAX);
	if (examine(&d, o, suite) == -1)
		return suite ? CMD_FAILED : CMD_ERROR;
	for (i = 0; i < d.n; i++)
		if (c->nargs > 0 && !d.v[i].ok)
			status = CMD_FAILED;
	(json ? put_json : put_text)(&out, &d);
	if (!json)
		cmd_wrap(&out, NAME_WIDTH + 7, STDOUT_FILENO);
	c->form = json ? GUARD_JSON : GUARD_PLAIN;
	return cmd_finish(c, &out, status);
}

const struct cmd_command cmd_doctor = {
	.name = "doctor", .group = CMD_RUNS,
	.usage = "[OPTION ...] [SUITE | AGENT ...]",
	.opts = CMD_OPTS(doctor_rows), .size = sizeof(struct doctor_opt),
	.max = 64, .fn = doctor_main,
	.help = "Report which executors can run here, and what is missing"
};

/* SPDX-License-Identifier: ISC */
/*
 * Custom agents: NAME.agent.md files.  A suite whose `skill` names one tests
 * this agent: its body becomes the system message, and its `tools` are the
 * only ones that it can use.
 *
 * The file is searched in the skill directories of the suite and the task and
 * in their subdirectories, then beside the suite.  A SKILL.md in the same
 * directory takes precedence, so agents beside it are ignored.
 */
#include "suite/spec_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "lib/front.h"
#include "yaml_lite.h"

enum {
	AGENT_MAX = 4 << 20,	/* bytes of an agent's file */
	TOOLS_MAX = 1000	/* of an agent */
};

bool
spec_is_agent(struct str file)
{
	return file.n > sizeof(SPEC_AGENT_ENDING) - 1 &&
	    str_ends(file, STR(SPEC_AGENT_ENDING));
}

static struct str
stem_of(const char *path)
{
	struct str s = str_base(str_of(path));

	s.n -= sizeof(SPEC_AGENT_ENDING) - 1;
	return s;
}

static struct str
member(const struct json *v, const char *key)
{
	const struct json *m = json_getc(v, key);

	return m != NULL && m->type == JSON_STRING ? json_text(m) : STR("");
}

/*
 * The front matter as a tree whose lines are those of the file; NULL without
 * one, or with an error.
 */
static const struct json *
read_front(struct arena *a, struct str front, struct err *e)
{
	struct str text = arena_fmt(a, "\n%.*s", STRF(front));

	return yaml_read_one(a, text, e);
}

/* Adds the words of a text separated by commas: GitHub's short form. */
static void
add_tools(struct buf *list, struct str text)
{
	struct str one;
	size_t i;

	while (text.n > 0) {
		for (i = 0; i < text.n && text.p[i] != ','; i++)
			;
		one = str_trim((struct str){ text.p, i });
		if (one.n > 0)
			spec_push(list, one);
		text.p += i < text.n ? i + 1 : i;
		text.n -= i < text.n ? i + 1 : i;
	}
}

/* Names of one tool; each of them permits it. */
static const char *const groups[][4] = {
	{ "read", "readFile", "fileRead", "view" },
	{ "write", "writeFile", "fileWrite", "edit" },
	{ "bash", "runCommand" },
	{ "fetch", "web_fetch" },
};

static bool
is_same(struct str a, const char *b)
{
	size_t i;

	for (i = 0; i < a.n && b[i] != '\0'; i++)
		if ((a.p[i] | ('A' <= a.p[i] && a.p[i] <= 'Z' ? 32 : 0)) !=
		    (b[i] | ('A' <= b[i] && b[i] <= 'Z' ? 32 : 0)))
			return false;
	return i == a.n && b[i] == '\0';
}

/* The name as calls have it: without the word for the tool's origin. */
static struct str
without_origin(struct str name)
{
	static const char *const origins[] = { "mcp:", "custom:" };
	size_t i, n;

	for (i = 0; i < COUNTOF(origins); i++) {
		n = strlen(origins[i]);
		if (name.n > n && str_starts(name, str_of(origins[i])))
			return (struct str){ name.p + n, name.n - n };
	}
	return name;
}

/* Adds the tool with its other names. */
static void
permit(struct buf *list, struct str tool)
{
	size_t i, k, n;

	spec_push(list, without_origin(tool));
	for (i = 0; i < COUNTOF(groups); i++) {
		n = 0;
		while (n < 4 && groups[i][n] != NULL)
			n++;
		for (k = 0; k < n && !is_same(tool, groups[i][k]); k++)
			;
		for (n = k < n ? n : 0; n > 0; n--)
			if (!is_same(tool, groups[i][n - 1]))
				spec_push(list, str_of(groups[i][n - 1]));
	}
}

static int
wrong(const struct json *v, struct err *e, const char *why)
{
	err_set(e, ERR_SCHEMA, "%s", why);
	e->line = v->line;
	e->col = v->col;
	return -1;
}

/* Absent or null: any tool; an empty list: none. */
static int
read_tools(struct arena *a, const struct json *tools, struct spec_agent *out,
    struct err *e)
{
	struct buf list = { 0 };
	const struct json *v;
	size_t i;

	if (!spec_given(tools))
		return 0;
	out->has_tools = true;
	out->tools_line = tools->line;
	out->tools_col = tools->col;
	if (tools->type == JSON_STRING)
		add_tools(&list, json_text(tools));
	else if (tools->type != JSON_ARRAY)
		return wrong(tools, e, "\"tools\" must be a list of names");
	for (v = tools->type == JSON_ARRAY ? json_first(tools) : NULL;
	    v != NULL; v = v->next) {
		if (v->type != JSON_STRING || str_trim(json_text(v)).n == 0) {
			buf_free(&list);
			return wrong(v, e, "\"tools\": a name of a tool is "
			    "expected");
		}
		spec_push(&list, str_trim(json_text(v)));
	}
	out->tools = spec_take(a, &list);
	for (i = 0; i < out->tools.n; i++)
		permit(&list, out->tools.v[i]);
	out->permitted = spec_take(a, &list);
	return out->tools.n <= TOOLS_MAX ? 0 :
	    wrong(tools, e, "\"tools\" has more than 1000 names");
}

/* The types of the parts that have no effect on a run. */
static int
check_parts(const struct json *front, struct err *e)
{
	static const char *const lists[] = { "handoffs", "mcp-servers",
		"agents" };
	const struct json *v;
	size_t i;

	v = json_getc(front, "model");
	if (spec_given(v) && v->type != JSON_STRING && v->type != JSON_ARRAY)
		return wrong(v, e, "\"model\" must be a name");
	for (i = 0; i < COUNTOF(lists); i++) {
		v = json_getc(front, lists[i]);
		if (spec_given(v) && v->type != JSON_ARRAY &&
		    v->type != JSON_OBJECT)
			return wrong(v, e, i == 0 ? "\"handoffs\" must be a "
			    "list" : i == 1 ? "\"mcp-servers\" must be a list"
			    : "\"agents\" must be a list");
	}
	return 0;
}

int
spec_read_agent(struct arena *a, const char *path, struct spec_agent *out,
    struct err *e)
{
	const struct json *front;
	struct str text;

	*out = (struct spec_agent){ .file = path, .stem = stem_of(path),
		.name = stem_of(path), .dir = spec_dir_of(a, path) };
	if (os_read_plain(a, path, AGENT_MAX, &text, e) == -1)
		return -1;
	if (!utf8_valid(text))
		return err_set(e, ERR_SCHEMA, "%s is not UTF-8 text", path);
	text = front_split(text, &out->body);
	if (text.n == 0)
		return 0;
	if ((front = read_front(a, text, e)) == NULL)
		return -1;
	if (str_trim(member(front, "name")).n > 0)
		out->name = str_trim(member(front, "name"));
	out->description = member(front, "description");
	out->model = member(front, "model");
	out->has_servers = spec_given(json_getc(front, "mcp-servers"));
	return check_parts(front, e) == -1 ? -1 :
	    read_tools(a, json_getc(front, "tools"), out, e);
}

/*
 * Searching.
 */
struct hunt {
	struct spec_loader *l;
	const struct spec_agent *found;
};

static void
note_broken(struct hunt *h, const char *path, const struct err *e)
{
	struct spec_where at = { path, e->line, e->col };

	spec_note_key(h->l->notes, FIELD_ERROR, at, STR("skill"), "the agent "
	    "cannot be read: %s", spec_reason(e, path));
}

/* A file that cannot be read is an error if its name is the wanted one. */
static void
try_file(struct hunt *h, const char *path)
{
	struct spec_loader *l = h->l;
	struct spec_agent *agent = NEW(l->arena, struct spec_agent);
	struct err e = { 0 };

	if (!spec_allowed(l->notes, (struct spec_where){ l->suite->path, 0, 0 },
	    path))
		return;
	if (spec_read_agent(l->arena, path, agent, &e) == -1) {
		if (str_eq(stem_of(path), l->suite->skill))
			note_broken(h, path, &e);
		return;
	}
	if (str_eq(agent->name, l->suite->skill) ||
	    str_eq(agent->stem, l->suite->skill))
		h->found = agent;
}

/* The agents of one directory; depth: of the directories below it. */
static void
hunt_in(struct hunt *h, const char *dir, unsigned depth)
{
	struct arena *a = h->l->arena;
	struct field_strs names;
	const char *path;
	struct stat st;
	size_t i;

	if (h->found != NULL || spec_list(a, dir, &names) == -1 ||
	    names.n > SPEC_SKILLS_MAX ||
	    spec_exists(spec_join(a, dir, STR("SKILL.md"))))
		return;
	for (i = 0; i < names.n && h->found == NULL; i++) {
		path = spec_join(a, dir, names.v[i]);
		if (spec_is_agent(names.v[i]))
			try_file(h, path);
		else if (depth > 0 && names.v[i].p[0] != '.' &&
		    stat(path, &st) == 0 && S_ISDIR(st.st_mode))
			hunt_in(h, path, depth - 1);
	}
}

static bool
is_evals(const char *dir)
{
	struct str name = str_base(str_of(dir));

	return str_is(name, "evals") || str_is(name, "tests");
}

/* Beside the suite; above it, if its directory is the skill's evals/. */
static void
hunt_beside(struct hunt *h)
{
	struct arena *a = h->l->arena;
	const char *dir = h->l->suite->dir;

	hunt_in(h, dir, 0);
	hunt_in(h, spec_join(a, dir, STR("agents")), 0);
	hunt_in(h, spec_join(a, dir, STR("skills")), 0);
	if (is_evals(os_absolute(a, dir)))
		hunt_in(h, spec_parent(a, dir), 0);
}

static const struct spec_agent *
find_agent(struct spec_loader *l, const struct spec_task *t)
{
	struct field_strs dirs = spec_skill_dirs(l->arena, l->suite, t);
	struct hunt h = { .l = l };
	size_t i;

	for (i = 0; i < dirs.n; i++)
		hunt_in(&h, dirs.v[i].p, 1);
	hunt_beside(&h);
	return h.found;
}

/*
 * The implicit grader.
 */
static bool
has_constraint(const struct spec_graders *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (str_is(g->v[i].type, "tool_constraint"))
			return true;
	return false;
}

static const struct json *
constraint(struct arena *a, const struct spec_agent *agent)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i;

	json_open(&o, '{');
	json_open_member(&o, "allow_only", '[');
	for (i = 0; i < agent->permitted.n; i++)
		json_put_str(&o, agent->permitted.v[i]);
	json_close(&o, ']');
	json_close(&o, '}');
	return arena_json(a, arena_take(a, &b), NULL);
}

static void
add_grader(struct spec_loader *l, struct spec_def *d)
{
	const struct spec_agent *agent = d->agent;
	struct spec_grader *v;

	if (!agent->has_tools || has_constraint(&l->suite->graders) ||
	    has_constraint(&d->graders))
		return;
	v = NEW_N(l->arena, struct spec_grader, d->graders.n + 1);
	if (d->graders.n > 0)
		memcpy(v, d->graders.v, d->graders.n * sizeof(*v));
	v[d->graders.n] = (struct spec_grader){ .implicit = true,
		.name = STR("agent_tools_implicit"),
		.type = STR("tool_constraint"), .weight = 1,
		.config = constraint(l->arena, agent),
		.at = { agent->file, agent->tools_line, agent->tools_col } };
	d->graders.v = v;
	d->graders.n++;
}

/* `before`: what the definition of the task before was, or NULL. */
static void
set_agent(struct spec_loader *l, struct spec_task *t,
    const struct spec_agent *agent, const struct spec_def *before)
{
	const struct spec_def *last = t > l->suite->tasks ? t[-1].def : NULL;
	struct spec_def *d = spec_own_def(l, t);

	d->agent = agent;
	/* rows of a table may share no more than their graders */
	if (before != NULL && last->agent == agent &&
	    d->graders.v == before->graders.v &&
	    d->graders.n == before->graders.n)
		d->graders = last->graders;
	else
		add_grader(l, d);
}

static void
warn(struct spec_loader *l, const struct spec_agent *agent)
{
	struct spec_where at = { agent->file, agent->tools_line,
		agent->tools_col };
	size_t i;

	for (i = 0; i < agent->tools.n; i++)
		if (memchr(agent->tools.v[i].p, '*', agent->tools.v[i].n))
			spec_note_key(l->notes, FIELD_WARNING, at,
			    STR("tools"), "\"%.*s\" is the name of a tool, not "
			    "a pattern: without \"tools\" the agent can use "
			    "any tool", SPEC_SHORT(agent->tools.v[i]));
	if (agent->has_servers)
		spec_note_key(l->notes, FIELD_WARNING, (struct spec_where){
		    agent->file, 0, 0 }, STR("mcp-servers"), "\"mcp-servers\" "
		    "of the agent has no effect: add the servers to "
		    "config.mcp_servers of the suite");
}

void
spec_find_agents(struct spec_loader *l)
{
	struct spec_suite *s = l->suite;
	const struct spec_def *before = NULL, *def;
	const struct spec_agent *own, *agent;
	struct spec_task *t;

	if (s->skill.n == 0 || l->alone ||
	    spec_names(&s->config.disabled_skills, s->skill))
		return;
	own = find_agent(l, NULL);
	if (own != NULL)
		warn(l, own);
	for (t = s->tasks; t < s->tasks + s->ntasks; t++, before = def) {
		def = t->def;
		if (def == before) {
			t->def = t[-1].def;
			continue;
		}
		agent = own == NULL && def->skill_directories.n > 0 ?
		    find_agent(l, t) : own;
		if (agent != NULL)
			set_agent(l, t, agent, before);
	}
	s->agent = own;
}

/* SPDX-License-Identifier: ISC */
/*
 * Methods about suites: eval.list, eval.get, eval.validate, task.list,
 * task.get.
 *
 * Each call reads the suite again, except eval.get, which editors call over
 * and over: its answer is cached while the files behind it are unchanged.
 */
#include "rpc/rpc_internal.h"

#include <sys/stat.h>

#include "agent/agent.h"
#include "base/os.h"
#include "grader.h"
#include "skill/catalog.h"
#include "suite/config.h"
#include "suite/spec.h"
#include "yaml_lite.h"

enum {
	SUITE_MAX = 16 << 20,	/* bytes of an eval.yaml */
	LISTED_MAX = 100000	/* suites in a list */
};

struct path_params {
	struct str path, task;
};

static const struct field path_rows[] = {
	FIELD(path_params, path, FIELD_STR, .alias = "eval_path",
	    .flags = FIELD_REQUIRED | FIELD_PATH, .help = "path of eval.yaml"),
};
static const struct field_table path_table =
    FIELD_TABLE(path_params, path_rows);
/* eval.get checks the path itself, unless it knows the answer. */
static const struct field get_rows[] = {
	FIELD(path_params, path, FIELD_STR, .alias = "eval_path",
	    .flags = FIELD_REQUIRED, .help = "path of eval.yaml"),
};
static const struct field_table get_table =
    FIELD_TABLE(path_params, get_rows);

/* The catalog of a directory, with the settings of its project. */
static int
read_catalog(struct rpc_call *c, const char *dir, struct catalog *out,
    struct err *e)
{
	struct spec_notes notes = { .arena = c->arena };
	struct config_sources from = { .dir = dir };
	struct catalog_opts how = { .dir = dir };

	how.config = config_load(c->arena, &from, &notes);
	return catalog_read(c->arena, &how, out, e);
}

/* The suite of a skill in the server's workspace, or NULL. */
static const char *
find_by_name(struct rpc_call *c, struct str name)
{
	const struct catalog_entry *found;
	struct catalog all;
	struct err e;

	if (read_catalog(c, ".", &all, &e) == -1 ||
	    (found = catalog_find(&all, name)) == NULL)
		return NULL;
	return catalog_suite(found);
}

enum rpc_status
rpc_find_suite(struct rpc_call *c, struct str path, const char **out)
{
	const char *plain = arena_cstr(c->arena, path);
	const char *yaml, *yml;
	struct stat st;

	if (plain != NULL && !catalog_is_path(plain))
		plain = find_by_name(c, path);
	*out = plain;
	if (plain != NULL && stat(plain, &st) == 0 && S_ISDIR(st.st_mode)) {
		yaml = arena_fmt(c->arena, "%s/eval.yaml", plain).p;
		yml = arena_fmt(c->arena, "%s/eval.yml", plain).p;
		*out = plain = stat(yaml, &st) == 0 ? yaml : yml;
	}
	if (plain != NULL && stat(plain, &st) == 0 && !S_ISDIR(st.st_mode)) {
		if (rpc_allows(c->peer, plain))
			return RPC_DONE;
		rpc_data(c, "path", path);
		return rpc_fail(c, RPC_PATH_DENIED, NULL);
	}
	rpc_data(c, "path", path);
	return rpc_fail(c, RPC_EVAL_NOT_FOUND, NULL);
}

bool
rpc_trusts(const struct rpc *r)
{
	return r->setup.settings != NULL && r->setup.settings->trust;
}

void
rpc_check_suite(const struct spec_suite *s, struct str executor,
    struct spec_notes *notes)
{
	if (executor.n > 0)
		agent_check(s, executor, notes);
	else
		agent_check_all(s, notes);
	grader_check(s, notes);
}

static void
put_messages(struct json_out *o, const char *key,
    const struct spec_notes *notes, enum field_level level)
{
	const struct spec_note *n;

	if (key != NULL)
		json_put_key(o, str_of(key));
	json_open(o, '[');
	for (n = notes->head; n != NULL; n = n->next)
		if (n->level == level)
			json_put_cstr(o, n->msg);
	json_close(o, ']');
}

static void
put_places(struct json_out *o, const struct spec_notes *notes)
{
	const struct spec_note *n;

	json_open_member(o, "details", '[');
	for (n = notes->head; n != NULL; n = n->next) {
		json_open(o, '{');
		json_put_member_cstr(o, "level",
		    n->level == FIELD_ERROR ? "error" : "warning");
		json_put_member_cstr(o, "file", n->at.file != NULL ?
		    n->at.file : "");
		json_put_member_int(o, "line", n->at.line);
		json_put_member_int(o, "col", n->at.col);
		json_put_member_cstr(o, "message", n->msg);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void
put_notes(struct json_out *o, const struct spec_notes *notes)
{
	if (notes->errors > 0)
		put_messages(o, "errors", notes, FIELD_ERROR);
	if (notes->warnings > 0)
		put_messages(o, "warnings", notes, FIELD_WARNING);
	if (notes->head != NULL)
		put_places(o, notes);
}

enum rpc_status
rpc_refuse_suite(struct rpc_call *c, struct str path,
    const struct spec_notes *notes)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	put_messages(&o, NULL, notes, FIELD_ERROR);
	rpc_data(c, "path", path);
	rpc_data_json(c, "errors", buf_str(&b));
	buf_free(&b);
	return rpc_fail(c, RPC_VALIDATION_FAILED, NULL);
}

/*
 * eval.list
 */
struct list_params {
	struct str directory;
};
static const struct field list_rows[] = {
	FIELD(list_params, directory, FIELD_STR, .alias = "dir",
	    .flags = FIELD_PATH,
	    .help = "where to search; default: the current directory"),
};
static const struct list_params list_init = { { ".", 1 } };
static const struct field_table list_table = {
	list_rows, COUNTOF(list_rows), sizeof(struct list_params), &list_init
};

static void
put_entry(struct json_out *o, struct rpc_call *c, struct str path,
    struct buf *bad)
{
	static const char *const keys[] = { "name", "skill", "version" };
	struct arena_mark mark = arena_save(c->arena);
	const struct json *v = NULL, *m;
	struct err e = { 0 };
	struct str text;
	size_t i;

	if (os_read_file(c->arena, path.p, SUITE_MAX, &text, &e) == 0)
		v = yaml_read_one(c->arena, text, &e);
	if (v == NULL || v->type != JSON_OBJECT) {
		struct json_out b = { .put = buf_sink, .ctx = bad };

		if (bad->n > 0)
			buf_putc(bad, ',');
		json_open(&b, '{');
		json_put_member_str(&b, "path", path);
		json_put_member_cstr(&b, "message", v == NULL ? e.msg :
		    "not a mapping");
		json_close(&b, '}');
	} else {
		json_open(o, '{');
		json_put_member_str(o, "path", path);
		for (i = 0; i < COUNTOF(keys); i++) {
			m = json_getc(v, keys[i]);
			json_put_member_str(o, keys[i], m != NULL &&
			    (m->type == JSON_STRING || m->type == JSON_NUMBER ||
			    m->type == JSON_BOOL) ? json_source(m) : STR(""));
		}
		json_close(o, '}');
	}
	arena_restore(c->arena, mark);
}

static enum rpc_status
eval_list(struct rpc_call *c, void *params)
{
	const struct list_params *p = params;
	struct json_out *o = &c->out;
	struct field_strs found;
	struct catalog all;
	struct buf bad = { 0 };
	struct err e = { 0 };
	char *dir = arena_cstr(c->arena, p->directory);
	size_t i;

	if (read_catalog(c, dir, &all, &e) == -1 ||
	    catalog_list(c->arena, &all, dir, &found, &e) == -1) {
		rpc_data(c, "path", p->directory);
		return rpc_fail(c, RPC_EVAL_NOT_FOUND,
		    "Eval not found: %s", e.msg);
	}
	json_open(o, '{');
	json_open_member(o, "evals", '[');
	for (i = 0; i < found.n && i < LISTED_MAX; i++)
		if (rpc_allows(c->peer, found.v[i].p))
			put_entry(o, c, found.v[i], &bad);
	json_close(o, ']');
	if (bad.n > 0) {
		json_put_member_raw(o, "unreadable", STR("["));
		buf_put(c->buf, buf_str(&bad));
		buf_put(c->buf, STR("]"));
	}
	buf_free(&bad);
	json_close(o, '}');
	return RPC_DONE;
}

/*
 * eval.get
 */
static void
put_config(struct json_out *o, const struct spec_suite *s)
{
	const struct spec_config *g = &s->config;

	json_open_member(o, "config", '{');
	json_put_member_str(o, "executor", g->executor);
	json_put_member_nonempty(o, "model", g->model);
	json_put_member_nonempty(o, "judge_model", g->judge_model);
	json_put_member_int(o, "trials_per_task", g->trials_per_task);
	json_put_member_int(o, "timeout_seconds", g->timeout_seconds);
	json_put_member_int(o, "max_attempts", g->max_attempts);
	if (g->workers > 0)
		json_put_member_int(o, "workers", g->workers);
	json_put_member_bool(o, "parallel", g->parallel);
	json_put_member_bool(o, "fail_fast", g->fail_fast);
	json_put_member_double(o, "task_pass_threshold",
	    g->task_pass_threshold);
	json_close(o, '}');
}

static void
put_metrics(struct json_out *o, const struct spec_suite *s)
{
	const struct spec_metric *m = s->metrics.v;
	size_t i;

	json_open_member(o, "metrics", '{');
	json_put_member_double(o, "pass_threshold", s->config.pass_threshold);
	for (i = 0; i < s->metrics.n; i++) {
		json_put_key(o, m[i].name);
		json_open(o, '{');
		json_put_member_double(o, "threshold", m[i].threshold);
		json_put_member_double(o, "weight", m[i].weight);
		json_close(o, '}');
	}
	json_close(o, '}');
}

static void
put_suite(struct json_out *o, struct str path, const struct spec_suite *s)
{
	json_open(o, '{');
	json_put_member_str(o, "path", path);
	json_put_member_str(o, "name", s->name);
	json_put_member_str(o, "skill", s->skill);
	json_put_member_str(o, "version", s->version);
	json_put_member_nonempty(o, "description", s->description);
	put_config(o, s);
	put_metrics(o, s);
	json_put_member_int(o, "tasks", (int64_t)s->ntasks);
	json_close(o, '}');
}

static enum rpc_status
eval_get(struct rpc_call *c, void *params)
{
	const struct path_params *p = params;
	struct spec_notes notes;
	struct spec_suite *s;
	const char *path;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (rpc_cached(c, p->path))
		return RPC_DONE;
	if (rpc_check_path(c, "path", p->path) != RPC_DONE)
		return RPC_FAIL;
	notes = rpc_notes(c, c->arena);
	if (rpc_find_suite(c, p->path, &path) != RPC_DONE)
		return RPC_FAIL;
	s = spec_load_part(c->arena, path, &notes);
	if (s == NULL || s->name.n == 0)
		return rpc_refuse_suite(c, p->path, &notes);
	put_suite(&o, p->path, s);
	json_put_raw(&c->out, buf_str(&b));
	rpc_cache_keep(c, p->path, path, buf_str(&b));
	buf_free(&b);
	return RPC_DONE;
}

/*
 * eval.validate
 */
static enum rpc_status
eval_validate(struct rpc_call *c, void *params)
{
	const struct path_params *p = params;
	struct spec_notes notes = rpc_notes(c, c->arena);
	struct json_out *o = &c->out;
	struct spec_suite *s;
	const char *path;

	if (rpc_find_suite(c, p->path, &path) != RPC_DONE)
		return RPC_FAIL;
	s = spec_load_part(c->arena, path, &notes);
	if (s != NULL)
		rpc_check_suite(s, STR(""), &notes);
	json_open(o, '{');
	json_put_member_bool(o, "valid", notes.errors == 0);
	if (s != NULL && notes.errors == 0) {
		json_put_member_str(o, "name", s->name);
		json_put_member_str(o, "skill", s->skill);
	}
	put_notes(o, &notes);
	json_close(o, '}');
	return RPC_DONE;
}

/*
 * task.list, task.get
 */
/* A path relative to the suite's directory, if it is inside. */
static struct str
relative(const struct spec_suite *s, const char *file)
{
	struct str dir = str_of(s->dir), f = str_of(file);

	if (str_starts(f, dir) && f.n > dir.n && f.p[dir.n] == '/') {
		f.p += dir.n + 1;
		f.n -= dir.n + 1;
	}
	return f;
}

static void
put_task(struct json_out *o, const struct spec_suite *s,
    const struct spec_task *t)
{
	json_put_member_str(o, "id", t->id);
	json_put_member_str(o, "name", t->name);
	json_put_member_str(o, "description", t->def->description);
	json_put_member_str(o, "file", relative(s, t->at.file));
}

static enum rpc_status
open_suite(struct rpc_call *c, struct str given, struct spec_suite **s)
{
	struct spec_notes notes = rpc_notes(c, c->arena);
	const char *path;

	if (rpc_find_suite(c, given, &path) != RPC_DONE)
		return RPC_FAIL;
	*s = spec_load_part(c->arena, path, &notes);
	return *s == NULL ? rpc_refuse_suite(c, given, &notes) : RPC_DONE;
}

static enum rpc_status
task_list(struct rpc_call *c, void *params)
{
	const struct path_params *p = params;
	struct json_out *o = &c->out;
	struct spec_suite *s;
	size_t i;

	if (open_suite(c, p->path, &s) != RPC_DONE)
		return RPC_FAIL;
	json_open(o, '{');
	json_open_member(o, "tasks", '[');
	for (i = 0; i < s->ntasks; i++) {
		json_open(o, '{');
		put_task(o, s, &s->tasks[i]);
		json_close(o, '}');
	}
	json_close(o, ']');
	json_close(o, '}');
	return RPC_DONE;
}

static const struct field task_rows[] = {
	FIELD(path_params, path, FIELD_STR,
	    .flags = FIELD_REQUIRED | FIELD_PATH, .help = "path of eval.yaml"),
	{ .key = "taskId", .alias = "task_id", .type = FIELD_STR,
	    .flags = FIELD_REQUIRED, .off = offsetof(struct path_params, task),
	    .help = "id of the task" },
};
static const struct field_table task_table =
    FIELD_TABLE(path_params, task_rows);

/* A grader's settings become members next to its type. */
static void
put_graders(struct json_out *o, const struct spec_graders *list)
{
	const struct json *v;
	size_t i;

	for (i = 0; i < list->n; i++) {
		json_open(o, '{');
		json_put_member_str(o, "type", list->v[i].type);
		json_put_member_str(o, "name", list->v[i].name);
		json_put_member_double(o, "weight", list->v[i].weight);
		for (v = json_first(list->v[i].config); v != NULL;
		    v = v->next) {
			json_put_key(o, json_key(v));
			json_put(o, v);
		}
		json_close(o, '}');
	}
}

static enum rpc_status
task_get(struct rpc_call *c, void *params)
{
	const struct path_params *p = params;
	struct json_out *o = &c->out;
	struct spec_suite *s;
	size_t i;

	if (open_suite(c, p->path, &s) != RPC_DONE)
		return RPC_FAIL;
	for (i = 0; i < s->ntasks; i++)
		if (str_eq(s->tasks[i].id, p->task))
			break;
	if (i == s->ntasks) {
		rpc_data(c, "taskId", p->task);
		return rpc_fail(c, RPC_TASK_NOT_FOUND, NULL);
	}
	json_open(o, '{');
	put_task(o, s, &s->tasks[i]);
	json_put_member_str(o, "prompt", s->tasks[i].prompt);
	field_put_strs(o, "tags", &s->tasks[i].def->tags);
	json_open_member(o, "graders", '[');
	put_graders(o, &s->graders);
	put_graders(o, &s->tasks[i].def->graders);
	json_close(o, ']');
	json_close(o, '}');
	return RPC_DONE;
}

#define ROW(n, table, function, text) { .name = n, .family = RPC_EVAL, \
	.flags = RPC_AS_TOOL, .params = table, .fn = function, .help = text }
static const struct rpc_method methods[] = {
	ROW("eval.get", &get_table, eval_get, "the settings of a suite"),
	ROW("eval.list", &list_table, eval_list,
	    "list the suites below a directory"),
	ROW("eval.validate", &path_table, eval_validate,
	    "report all problems in a suite"),
	ROW("task.get", &task_table, task_get,
	    "a task with its prompt and graders"),
	ROW("task.list", &path_table, task_list, "list the tasks of a suite"),
};

const struct rpc_module rpc_eval_module = { .methods = methods,
	.nmethods = COUNTOF(methods), .close = rpc_cache_free };

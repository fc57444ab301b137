/* SPDX-License-Identifier: ISC */
/*
 * TMPDIR and HOME of an agent's process, and changes to its environment.
 *
 * Most agents leave files in TMPDIR, so they get one that is removed after the
 * trial.  HOME is the user's, with its logins, unless the setting `home`
 * is `private`.  A private HOME is empty except for .cache, which persists
 * between runs: some agents unpack hundreds of megabytes there on first start.
 */
#include "agent/agent_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os_path.h"
#include "base/os_spawn.h"
#include "io/workspace.h"
#include "json.h"
#include "suite/spec.h"

enum { HOME_USER, HOME_PRIVATE };

struct settings {
	int home, confine;
	struct str cache_home;
};
static const char *const homes[] = { "user", "private", NULL };
static const char *const confines[] = { "off", "workspace", NULL };
static const struct field rows[] = {
	FIELD(settings, home, FIELD_ENUM, .words = homes),
	FIELD(settings, cache_home, FIELD_STR),
	FIELD(settings, confine, FIELD_ENUM, .words = confines),
};
static const struct field_table table = FIELD_TABLE(settings, rows);

static const struct settings unset = { .home = HOME_USER,
	.confine = AGENT_CONFINE_DEFAULT };

/* The settings of an executor, also under its alias; returns errors. */
static size_t
read_settings(struct field_ctx *ctx, const struct spec_suite *s,
    const struct agent_kind *k, struct settings *set)
{
	struct agent_block block[AGENT_BLOCKS];
	size_t i, errors;

	*set = unset;
	errors = field_decode(ctx, &table, agent_settings(ctx->arena, s,
	    k->name), set);
	if (k->alias == NULL)
		return errors;
	agent_blocks(s, k->alias, block);
	for (i = 0; i < AGENT_OWN_BLOCKS; i++)
		if (!block[i].open && json_is_set(block[i].v))
			errors += field_decode(ctx, &table, block[i].v, set);
	return errors;
}

static void
check_confined(const struct spec_suite *s, const struct agent_kind *k,
    int setting, struct spec_notes *notes)
{
	enum agent_confinement c = agent_confinement(notes->arena, k, s,
	    setting);

	if (c == AGENT_UNABLE || c == AGENT_LOOSE)
		spec_note(notes, FIELD_WARNING, s->config.executor_at,
		    "not confined: executor \"%s\" can write outside of the "
		    "workspace (%s)", k->name, c == AGENT_LOOSE ?
		    "\"confine\" is off, or the permissions "
		    "contain \"path\"" :
		    "this system has no Landlock version 3");
}

void
agent_home_check(const struct spec_suite *s, const struct agent_kind *k,
    struct spec_notes *notes)
{
	struct agent_block block[AGENT_BLOCKS];
	struct spec_source src = { notes, s->path };
	struct field_ctx ctx = { .arena = notes->arena, .flags = FIELD_LAX |
		FIELD_OPEN, .report = spec_report, .ctx = &src };
	struct settings set = unset;
	size_t i;

	agent_blocks(s, k->name, block);
	for (i = 1; i < AGENT_OWN_BLOCKS; i++)	/* of the suite */
		if (block[i].v != NULL && block[i].v->type == JSON_OBJECT)
			field_decode(&ctx, &table, block[i].v, &set);
	ctx.report = NULL;
	(void)read_settings(&ctx, s, k, &set);
	check_confined(s, k, set.confine, notes);
}

/* By default, beside the user's other caches. */
static const char *
default_cache(struct arena *a)
{
	const char *dir = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (dir != NULL && *dir == '/')
		return arena_fmt(a, "%s/waza/home", dir).p;
	if (home != NULL && *home == '/')
		return arena_fmt(a, "%s/.cache/waza/home", home).p;
	return NULL;
}

/* "~/x" is in the user's HOME; other paths are relative to the suite. */
static const char *
cache_path(struct arena *a, const struct spec_suite *s, struct str path)
{
	const char *home = getenv("HOME");
	char cwd[4096];

	if (path.p == NULL)
		return default_cache(a);
	if (path.n == 0)
		return NULL;
	if (str_starts(path, STR("~/")) && home != NULL)
		return arena_cstr(a, arena_fmt(a, "%s%.*s", home,
		    (int)path.n - 1, path.p + 1));
	path = str_of(spec_path(a, s->dir, path));
	if (*path.p == '/' || getcwd(cwd, sizeof(cwd)) == NULL)
		return path.p;
	return arena_fmt(a, "%s/%.*s", cwd, STRF(path)).p;
}

int
agent_home_read(struct agent *a, struct err *e)
{
	struct settings set;
	struct agent_home *h = &a->home;
	struct field_ctx ctx = { .arena = a->arena,
		.flags = FIELD_LAX | FIELD_OPEN };
	bool pool = a->kind == &agent_command && a->suite->config.persistent;

	*h = (struct agent_home){ 0 };
	if (a->kind->no_files)
		return 0;
	if (read_settings(&ctx, a->suite, a->kind, &set) > 0)
		return err_set(e, ERR_SCHEMA, "executor \"%s\": \"home\" "
		    "must be user or private, \"confine\" off or workspace",
		    a->kind->name);
	h->own = set.home == HOME_PRIVATE;
	h->confined = agent_confinement(a->arena, a->kind, a->suite,
	    set.confine);
	h->tmp = a->kind->private_tmp || h->own ||
	    h->confined == AGENT_CONFINED;
	h->shared = a->kind->shared_process || pool;
	if (h->own)
		h->cache = cache_path(a->arena, a->suite, set.cache_home);
	return 0;
}

bool
agent_has_own_dirs(const struct agent *a)
{
	return a->home.tmp;
}

/* Creates an empty directory; one that an earlier run left is removed. */
static int
make_dir(const char *path, struct err *e)
{
	if (mkdir(path, 0700) == 0)
		return 0;
	if (errno != EEXIST)
		return err_sys(e, path);
	if (workspace_remove(path, e) == -1)
		return -1;
	return mkdir(path, 0700) == -1 ? err_sys(e, path) : 0;
}

static const char *
make_home(struct arena *a, const char *scratch, const char *cache,
    struct err *e)
{
	const char *home = arena_fmt(a, "%shome", scratch).p, *link;

	if (make_dir(home, e) == -1)
		return NULL;
	if (cache == NULL)
		return home;
	link = arena_fmt(a, "%s/.cache", home).p;
	if (os_make_dirs(cache, 0700, true, e) == -1)
		return NULL;
	if (symlink(cache, link) == -1) {
		err_sys(e, link);
		return NULL;
	}
	return home;
}

static int
make_both(struct agent *a, struct arena *mem, const char *scratch,
    const char **tmp, const char **home, struct err *e)
{
	*tmp = arena_fmt(mem, "%stmp", scratch).p;
	if (make_dir(*tmp, e) == -1)
		return -1;
	if (!a->home.own)
		return 0;
	*home = make_home(mem, scratch, a->home.cache, e);
	return *home == NULL ? -1 : 0;
}

int
agent_make_dirs(struct agent *a, struct arena *mem, struct agent_request *r,
    const char *scratch, const char *shared, struct err *e)
{
	struct agent_home *h = &a->home;

	r->tmp = r->home = r->cache = NULL;
	if (!h->tmp)
		return 0;
	if (!h->shared) {
		if (make_both(a, mem, scratch, &r->tmp, &r->home, e) == -1)
			return -1;
	} else {
		if (h->tmp_dir == NULL && make_both(a, a->arena, shared,
		    &h->tmp_dir, &h->home_dir, e) == -1)
			return -1;
		r->tmp = h->tmp_dir;
		r->home = h->home_dir;
	}
	r->cache = h->cache;
	return 0;
}

static int
clear(const char **dir, struct err *e)
{
	int r = *dir == NULL ? 0 : workspace_remove(*dir, e);

	*dir = NULL;
	return r;
}

int
agent_remove_dirs(struct agent *a, struct agent_request *r, struct err *e)
{
	int tmp = 0, home = 0;

	if (!a->home.shared) {
		tmp = clear(&r->tmp, e);
		home = clear(&r->home, e);
	}
	r->tmp = r->home = r->cache = NULL;
	return tmp == -1 || home == -1 ? -1 : 0;
}

int
agent_remove_shared_dirs(struct agent *a, struct err *e)
{
	int tmp = clear(&a->home.tmp_dir, e);
	int home = clear(&a->home.home_dir, e);

	return tmp == -1 || home == -1 ? -1 : 0;
}

size_t
agent_home_env(struct arena *a, const struct agent_request *r, const char **set)
{
	size_t n = 0;

	if (r->tmp != NULL)
		set[n++] = arena_fmt(a, "TMPDIR=%s", r->tmp).p;
	if (r->home == NULL)
		return n;
	set[n++] = arena_fmt(a, "HOME=%s", r->home).p;
	set[n++] = r->cache == NULL ? "XDG_CACHE_HOME" :
	    arena_fmt(a, "XDG_CACHE_HOME=%s", r->cache).p;
	set[n++] = "XDG_CONFIG_HOME";	/* they would name other directories */
	set[n++] = "XDG_DATA_HOME";
	set[n++] = "XDG_STATE_HOME";
	return n;
}

struct str
agent_scalar(const struct json *v)
{
	return v->type == JSON_BOOL ? json_bool(v) ? STR("true") :
	    STR("false") : json_source(v);
}

int
agent_env_add(struct arena *a, const struct json *v, const char **set,
    size_t *n, struct err *e)
{
	struct str name = json_key(v), value = agent_scalar(v);

	if (name.n == 0 || memchr(name.p, '=', name.n) != NULL)
		return err_set(e, ERR_SCHEMA, "\"%.*s\" is not the name of an "
		    "environment variable", STRF(utf8_cut(name, 60)));
	if (arena_cstr(a, name) == NULL || arena_cstr(a, value) == NULL)
		return err_set(e, ERR_SCHEMA, "environment variable \"%.*s\" "
		    "contains a NUL", STRF(utf8_cut(name, 60)));
	set[(*n)++] = arena_fmt(a, "%.*s=%.*s", STRF(name), STRF(value)).p;
	return 0;
}

const char **
agent_settings_env(struct arena *a, const struct agent *agent)
{
	const struct json *env = json_getc(agent_settings(a, agent->suite,
	    agent->kind->name), "env"), *v;
	const char **set = NEW_N(a, const char *, env == NULL ? 1 :
	    json_count(env) + 1);
	size_t n = 0;
	struct err e;

	if (env != NULL && env->type == JSON_OBJECT)
		for (v = json_first(env); v != NULL; v = v->next)
			(void)agent_env_add(a, v, set, &n, &e);
	return os_env(a, set, n);
}

const char **
agent_home_over(struct agent *a, const char *const *env)
{
	struct agent_request r = { .tmp = a->home.tmp_dir,
		.home = a->home.home_dir, .cache = a->home.cache };
	const char *set[AGENT_HOME_MAX];

	return os_env_change(a->arena, env, set,
	    agent_home_env(a->arena, &r, set));
}

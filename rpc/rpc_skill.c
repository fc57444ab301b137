/* SPDX-License-Identifier: ISC */
/*
 * skill.check: the report of `waza check` about one skill.  The first keys are
 * those of the original's tool waza_skill_check.
 */
#include "rpc/rpc_internal.h"

#include <sys/stat.h>

#include "skill/budget.h"
#include "skill/catalog.h"
#include "skill/check.h"
#include "suite/config.h"
#include "suite/spec.h"

struct skill_params {
	struct str skill_path;
};
static const struct field skill_rows[] = {
	FIELD(skill_params, skill_path, FIELD_STR, .alias = "path",
	    .flags = FIELD_REQUIRED | FIELD_PATH,
	    .help = "path of SKILL.md or of its directory"),
};
static const struct field_table skill_table =
    FIELD_TABLE(skill_params, skill_rows);

static void
check_suite(const struct spec_suite *s, struct spec_notes *notes)
{
	rpc_check_suite(s, STR(""), notes);
}

/* The skill's file, if the peer may read it. */
static const char *
find_file(struct rpc_call *c, struct str path)
{
	const char *file = arena_cstr(c->arena, path);
	struct stat st;

	if (file != NULL && stat(file, &st) == 0 && S_ISDIR(st.st_mode))
		file = spec_join(c->arena, file, STR("SKILL.md"));
	return file != NULL && stat(file, &st) == 0 && S_ISREG(st.st_mode) &&
	    rpc_allows(c->peer, file) ? file : NULL;
}

/* Limits of tokens, and the suite of the skill (NULL: none). */
static int
read_project(struct rpc_call *c, const char *file, struct token_settings *t,
    const char **eval, struct err *e)
{
	struct spec_notes notes = rpc_notes(c, c->arena);
	struct config_sources from = { .dir = spec_dir_of(c->arena, file),
		.trust = rpc_trusts(c->rpc) };
	struct catalog_opts o = { .dir = from.dir };
	struct catalog cat;

	*eval = NULL;
	o.config = config_load(c->arena, &from, &notes);
	if (o.config == NULL || token_settings(c->arena, &from, t,
	    &notes) == -1)
		return err_set(e, ERR_SCHEMA, "the project's settings cannot "
		    "be read: %s", notes.head != NULL ? notes.head->msg : "");
	if (catalog_read(c->arena, &o, &cat, e) == -1)
		return -1;
	if (cat.single && cat.n > 0 && cat.v[0].eval != NULL &&
	    rpc_allows(c->peer, cat.v[0].eval))
		*eval = cat.v[0].eval;
	return 0;
}

static void
put_issues(struct json_out *o, const struct check *c)
{
	const struct check_link *l;

	json_open_member(o, "linkIssues", '[');
	for (l = c->links; l != NULL; l = l->next)
		if (l->kind == CHECK_BROKEN)
			json_put_str(o, l->target);
	json_close(o, ']');
}

static void
put_check(struct json_out *o, struct str path, const struct check *c)
{
	size_t broken = c->link_count[CHECK_BROKEN];

	json_open(o, '{');
	json_put_member_str(o, "skillPath", path);
	json_put_member_bool(o, "hasSkill", true);
	json_put_member_bool(o, "hasEval", c->eval != NULL);
	json_put_member_int(o, "brokenLinks", (int64_t)broken);
	if (broken > 0)
		put_issues(o, c);
	json_put_member_cstr(o, "message", c->ready ? "the skill is ready" :
	    "the skill is not ready");
	json_put_key(o, STR("report"));
	check_put(o, c);
	json_close(o, '}');
}

static enum rpc_status
skill_check(struct rpc_call *c, void *params)
{
	const struct skill_params *p = params;
	struct token_settings tokens;
	struct token_counter counter = { 0 };
	struct check_env env = { .tokens = &tokens, .trust =
		rpc_trusts(c->rpc), .check_suite = check_suite };
	struct spec_notes notes = rpc_notes(c, c->arena);
	struct check *k = NEW(c->arena, struct check);
	const char *file = find_file(c, p->skill_path), *eval;
	struct err e = { 0 };

	rpc_data(c, "path", p->skill_path);
	if (file == NULL)
		return rpc_fail(c, RPC_INVALID_PARAMS, "SKILL.md not found");
	env.allows = notes.allows;
	env.peer = notes.peer;
	check_prepare(c->arena, &env);
	env.counter = &counter;
	if (read_project(c, file, &tokens, &eval, &e) == -1 ||
	    (tokens.vocab != NULL && token_counter_read(c->arena,
	    tokens.vocab, &counter, &e) == -1) ||
	    check_skill(c->arena, &env, file, eval, k, &e) == -1)
		return rpc_fail(c, RPC_INVALID_PARAMS, "%s", e.msg);
	check_finish(k);
	put_check(&c->out, p->skill_path, k);
	return RPC_DONE;
}

static const struct rpc_method methods[] = {
	{ .name = "skill.check", .family = RPC_EVAL, .flags = RPC_AS_TOOL,
	    .params = &skill_table, .fn = skill_check,
	    .help = "check whether a skill is ready" },
};

const struct rpc_module rpc_skill_module = { .methods = methods,
	.nmethods = COUNTOF(methods) };

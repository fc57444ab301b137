/* SPDX-License-Identifier: ISC */
/*
 * run_key.c: SHA-256 of a suite and its tasks, with the files that they name.
 *
 * A string that names a file is followed by the file's contents; skills and
 * fixtures are followed by the contents of their directories.  The cache adds
 * what else affects a trial (run_cache.c).  The fingerprint in results is the
 * same on every machine that has the same files: absolute paths, the working
 * directory, the environment and the user's settings are left out.
 */
#include "run/run_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "results/cache.h"

enum { PATH_LONGEST = 1024, DEPTH = 60, BUCKETS = 256 };

/* A file or directory that was hashed already. */
struct run_known {
	struct run_known *next;
	struct str path;
	bool ok;
	char hex[CACHE_KEY];
};

/* Hashes a file or directory, once per run. */
static struct run_known *
hash_path(struct run *run, const char *path, bool dir)
{
	struct run_known **head, *k;
	struct sha256 h;
	unsigned sum = 0;
	const char *p;

	for (p = path; *p != '\0'; p++)
		sum = sum * 31 + (unsigned char)*p;
	if (run->known == NULL)
		run->known = NEW_N(&run->arena, struct run_known *, BUCKETS);
	head = &run->known[sum % BUCKETS];
	for (k = *head; k != NULL; k = k->next)
		if (str_is(k->path, path))
			return k;
	k = NEW(&run->arena, struct run_known);
	k->path = arena_str(&run->arena, str_of(path));
	sha256_init(&h);
	k->ok = dir ? cache_hash_dir(&h, path) : cache_hash_file(&h, path);
	sha256_end(&h, k->hex);
	k->next = *head;
	*head = k;
	return k;
}

/* Adds the contents of a file or, if allowed, a directory. */
static void
put_path(struct run_key *k, const char *path, bool dirs)
{
	const struct run_known *found;
	struct stat st;

	if (k->naming != NULL) {
		k->naming->fn(k->naming->arg, k->part, k->task, path,
		    dirs);
		return;
	}
	if (stat(path, &st) == -1 || (!S_ISREG(st.st_mode) &&
	    !(dirs && S_ISDIR(st.st_mode))))
		return;
	found = hash_path(k->run, path, S_ISDIR(st.st_mode));
	k->ok = k->ok && found->ok;
	cache_hash_part(&k->hash, str_of(found->hex));
}

/* Adds all files of that name in the directories that are searched. */
static void
put_name(struct run_key *k, struct str name, bool dirs)
{
	struct arena *a = &k->arena;
	const char *in[RUN_INPUT_DIRS];
	size_t i, n;

	if (name.n == 0 || name.n > PATH_LONGEST ||
	    memchr(name.p, '\0', name.n) != NULL ||
	    memchr(name.p, '\n', name.n) != NULL)
		return;
	if (name.p[0] == '/') {
		if (!k->portable)
			put_path(k, arena_str(a, name).p, dirs);
		return;
	}
	n = run_input_dirs(a, k->run, k->task, in);
	for (i = 0; i < n; i++)
		put_path(k, arena_fmt(a, "%s/%.*s", in[i], STRF(name)).p,
		    dirs);
	/* graders search these as well, even if the task has a context_dir */
	if (k->run->opts.context_dir != NULL)
		put_path(k, arena_fmt(a, "%s/%.*s", k->run->opts.context_dir,
		    STRF(name)).p, dirs);
	put_path(k, arena_fmt(a, "%s/fixtures/%.*s", k->run->suite->dir,
	    STRF(name)).p, dirs);
	if (!k->portable)
		put_path(k, arena_str(a, name).p, dirs);
}

/* Words of a sentence rarely name files; to look for each takes long. */
static bool
looks_like_file(struct str word)
{
	return memchr(word.p, '/', word.n) != NULL ||
	    memchr(word.p, '.', word.n - 1) != NULL;
}

/*
 * Adds the files named by a string or by one of its words, such as the script
 * in "sh check.sh".
 */
static void
put_words(struct run_key *k, struct str s)
{
	struct arena_mark mark = arena_save(&k->arena);
	struct str word;
	size_t i, from = 0;

	if (s.n <= PATH_LONGEST)
		put_name(k, s, false);
	for (i = 0; i <= s.n && s.n <= 4 * PATH_LONGEST; i++) {
		if (i < s.n && s.p[i] != ' ' && s.p[i] != '\n' &&
		    s.p[i] != '"' && s.p[i] != '\'' && s.p[i] != '\t')
			continue;
		word = (struct str){ s.p + from, i - from };
		if (word.n > 1 && word.n < s.n && looks_like_file(word))
			put_name(k, word, false);
		from = i + 1;
	}
	arena_restore(&k->arena, mark);
}

/* Adds the files named by any string in a tree. */
static void
put_files_of(struct run_key *k, const struct json *v, int depth)
{
	const struct json *c;

	if (v == NULL || depth > DEPTH)
		return;
	if (v->type == JSON_STRING)
		put_words(k, json_text(v));
	for (c = json_first(v); c != NULL; c = c->next)
		put_files_of(k, c, depth + 1);
}

static void
put_tree(struct run_key *k, const struct json *v)
{
	cache_hash_json(&k->hash, v);
	put_files_of(k, v, 0);
}

/* Leaves out settings that do not affect a single trial. */
static void
put_config(struct run_key *k, const struct json *tree)
{
	static const char *const ignored[] = { "budget", "fail_fast",
		"group_by",
		"max_workers", "parallel", "pass_threshold", "session_log",
		"task_pass_threshold", "trials_per_task", "verbose",
		"workers" };
	const struct json *v;
	size_t i;

	for (v = json_first(tree); v != NULL; v = v->next) {
		for (i = 0; i < COUNTOF(ignored); i++)
			if (str_is(json_key(v), ignored[i]))
				break;
		if (i < COUNTOF(ignored))
			continue;
		cache_hash_part(&k->hash, json_key(v));
		put_tree(k, v);
	}
}

static void
put_strs(struct run_key *k, const struct field_strs *v)
{
	size_t i;

	cache_hash_int(&k->hash, (int64_t)v->n);
	for (i = 0; i < v->n; i++)
		cache_hash_part(&k->hash, v->v[i]);
}

static void
put_files(struct run_key *k, const struct field_strs *files)
{
	size_t i;

	put_strs(k, files);
	for (i = 0; i < files->n; i++)
		put_name(k, files->v[i], false);
}

/*
 * Their contents, without their names: another revision of them is elsewhere.
 * A trial without skills does not depend on them.
 */
static void
put_dirs(struct run_key *k, const struct field_strs *dirs)
{
	size_t i;

	if (k->naming != NULL)
		put_strs(k, dirs);
	cache_hash_int(&k->hash, (int64_t)dirs->n);
	for (i = 0; i < dirs->n && (k->portable || k->naming != NULL ||
	    !k->run->opts.no_skills); i++)
		put_path(k, spec_path(&k->arena, k->run->suite->dir,
		    dirs->v[i]), true);
}

/* Mocked commands, with the files that they print. */
static void
put_commands(struct run_key *k, const struct json *list)
{
	const struct json *v, *r, *fixture;

	cache_hash_json(&k->hash, list);
	for (v = json_first(list); v != NULL; v = v->next)
		for (r = json_first(json_getc(v, "responses")); r != NULL;
		    r = r->next) {
			fixture = json_getc(r, "fixture");
			if (fixture != NULL)
				put_path(k, spec_path(&k->arena,
				    k->run->suite->dir, json_text(fixture)),
				    false);
		}
}

static void
put_mocks(struct run_key *k, const struct spec_suite *s)
{
	cache_hash_json(&k->hash, s->mcp_mocks);
	put_commands(k, s->command_mocks);
}

void
run_key_suite(struct run_key *k)
{
	static const char *const env[] = { "OPENAI_BASE_URL",
		"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "COPILOT_CLI_PATH" };
	const struct spec_suite *s = k->run->suite;
	const struct spec_config *c = &s->config;
	struct sha256 *h = &k->hash;
	const char *v;
	size_t i;

	cache_hash_part(h, s->name);
	cache_hash_part(h, s->skill);
	cache_hash_json(h, s->inputs);
	put_config(k, c->tree);
	put_tree(k, c->judge);
	put_tree(k, s->executors);
	for (i = 0; i < COUNTOF(c->judging); i++)
		put_tree(k, c->judging[i].block);
	cache_hash_part(h, c->judge_model);
	cache_hash_int(h, c->max_attempts);
	cache_hash_int(h, c->first_event_timeout_seconds);
	cache_hash_int(h, s->program_timeout);
	cache_hash_int(h, s->code_timeout);
	cache_hash_int(h, s->code_memory_mb);
	put_mocks(k, s);
	put_dirs(k, &c->skill_directories);
	put_files(k, &c->instruction_files);
	for (i = 0; i < COUNTOF(env); i++) {
		v = getenv(env[i]);
		cache_hash_part(h, str_of(v != NULL ? v : ""));
	}
}

/* Kinds without files beside the suite: a path is one that the agent writes. */
static bool
reads_only_answer(struct str type)
{
	static const char *const kinds[] = { "action_sequence", "behavior",
		"file", "file_exists", "keyword", "regex", "skill_invocation",
		"text", "tool_calls", "tool_constraint" };
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_is(type, kinds[i]))
			return true;
	return false;
}

/*
 * A run must not change the fingerprint by the files that its agents write.
 * The cache is more careful: to miss a trial is better than a stale verdict.
 */
static void
put_grader(struct run_key *k, const struct spec_grader *g)
{
	const struct json *v;

	if (!k->portable && k->naming == NULL) {
		put_tree(k, g->config);
		return;
	}
	cache_hash_json(&k->hash, g->config);
	if (reads_only_answer(g->type))
		return;
	for (v = json_first(g->config); v != NULL; v = v->next)
		if (!str_is(json_key(v), "expected_files"))
			put_files_of(k, v, 1);
	v = json_first(json_getc(g->config, "expected_files"));
	for (; v != NULL; v = v->next)
		put_files_of(k, json_getc(v, "snapshot"), 1);
}

void
run_key_graders(struct run_key *k, const struct spec_graders *g)
{
	size_t i;

	cache_hash_int(&k->hash, (int64_t)g->n);
	for (i = 0; i < g->n; i++) {
		cache_hash_part(&k->hash, g->v[i].name);
		cache_hash_part(&k->hash, g->v[i].type);
		cache_hash_int(&k->hash, (int64_t)(g->v[i].weight * 1e6));
		put_grader(k, &g->v[i]);
	}
}

static void
put_expected(struct run_key *k, const struct spec_expected *x)
{
	const struct spec_behavior *b;
	struct sha256 *h = &k->hash;

	cache_hash_int(h, x != NULL);
	if (x == NULL)
		return;
	b = &x->behavior;
	put_strs(k, &x->output_contains);
	put_strs(k, &x->output_not_contains);
	put_strs(k, &x->output_contains_any);
	cache_hash_int(h, b->max_tool_calls);
	cache_hash_int(h, b->max_iterations);
	cache_hash_int(h, b->max_tokens);
	cache_hash_int(h, b->max_response_time_ms);
	put_strs(k, &b->required_tools);
	put_strs(k, &b->forbidden_tools);
	put_tree(k, x->outcomes);
	put_tree(k, x->tool_calls);
	cache_hash_int(h, x->should_trigger | x->skill_activated << 1 |
	    x->trigger_given << 2 | x->activated_given << 3);
}

static void
put_inputs(struct run_key *k, const struct spec_inputs *in)
{
	const struct spec_input_file *f = in->files.v;
	const struct json *fixture = json_getc(in->context, "fixture");
	size_t i;

	cache_hash_int(&k->hash, (int64_t)in->files.n);
	for (i = 0; i < in->files.n; i++) {
		cache_hash_part(&k->hash, f[i].path);
		cache_hash_part(&k->hash, f[i].content);
		if (f[i].content.n == 0)
			put_name(k, f[i].path, true);
	}
	put_tree(k, in->context);
	if (fixture != NULL && fixture->type == JSON_STRING)
		put_name(k, json_text(fixture), true);
	cache_hash_json(&k->hash, in->environment);
	cache_hash_part(&k->hash, in->workdir);
}

/* The custom agent without its path. */
static void
put_agent(struct sha256 *h, const struct spec_agent *a)
{
	size_t i;

	if (a == NULL)
		return;
	cache_hash_part(h, a->name);
	cache_hash_part(h, a->body);
	cache_hash_int(h, a->has_tools);
	for (i = 0; i < a->tools.n; i++)
		cache_hash_part(h, a->tools.v[i]);
}

void
run_key_task(struct run_key *k, const struct spec_task *t)
{
	struct sha256 *h = &k->hash;
	size_t i;

	cache_hash_part(h, t->id);
	cache_hash_part(h, t->name);
	cache_hash_json(h, spec_vars(&k->arena, t));
	cache_hash_json(h, t->def->mock);	/* it reads no files */
	put_commands(k, t->def->command_mocks);
	cache_hash_int(h, t->def->first_event_timeout_seconds);
	put_dirs(k, &t->def->skill_directories);
	put_files(k, &t->def->instruction_files);
	put_inputs(k, &t->def->inputs);
	put_expected(k, t->def->expected);
	run_key_graders(k, &t->def->graders);
	for (i = 0; i < t->def->checkpoints.n; i++) {
		cache_hash_int(h, t->def->checkpoints.v[i].after_turn);
		cache_hash_int(h, t->def->checkpoints.v[i].stop);
		run_key_graders(k, &t->def->checkpoints.v[i].graders);
	}
	put_agent(&k->hash, t->def->agent);
	if (k->naming != NULL && t->def->agent != NULL)
		put_path(k, t->def->agent->file, false);
}

/*
 * The fingerprint.
 */

/* Without the files that a command names: hooks read and write results too. */
static void
put_hooks(struct run_key *k, const struct spec_suite *s)
{
	const struct spec_hook *h;
	size_t i, kind;

	for (kind = 0; kind < SPEC_HOOK__MAX; kind++) {
		h = s->hooks[kind].v;
		cache_hash_int(&k->hash, (int64_t)s->hooks[kind].n);
		for (i = 0; i < s->hooks[kind].n; i++) {
			cache_hash_part(&k->hash, h[i].command);
			cache_hash_part(&k->hash, h[i].working_directory);
			cache_hash_int(&k->hash, h[i].error_on_fail);
		}
	}
}

static void
put_triggers(struct run_key *k, const struct spec_triggers *t)
{
	size_t i;

	for (i = 0; t != NULL && i < t->n; i++) {
		cache_hash_part(&k->hash, t->v[i].task.prompt);
		cache_hash_part(&k->hash, t->v[i].expected);
		cache_hash_part(&k->hash, t->v[i].confidence);
		cache_hash_int(&k->hash, t->v[i].should);
		put_tree(k, t->v[i].task.def->mock);
	}
}

static void
put_names(struct run_key *k, const struct spec_suite *s)
{
	cache_hash_part(&k->hash, s->name);
	cache_hash_part(&k->hash, s->skill);
}

static void
put_variables(struct run_key *k, const struct spec_suite *s)
{
	cache_hash_json(&k->hash, s->inputs);
}

static void
put_settings(struct run_key *k, const struct spec_suite *s)
{
	const struct spec_config *c = &s->config;
	const struct json *v;
	size_t i;

	for (v = json_first(c->tree); v != NULL; v = v->next)
		if (!str_is(json_key(v), "budget")) {
			cache_hash_part(&k->hash, json_key(v));
			put_tree(k, v);
		}
	put_tree(k, c->judge);
	for (i = 0; i < COUNTOF(c->judging); i++)
		put_tree(k, c->judging[i].block);
	if (k->naming != NULL)
		cache_hash_json(&k->hash, s->matrix.tree);
}

/* A trial with one skill of a matrix does not depend on the others. */
static void
put_skills(struct run_key *k, const struct spec_suite *s)
{
	put_dirs(k, &s->config.skill_directories);
	if (k->naming != NULL)
		put_dirs(k, &s->matrix.skill);
}

static void
put_instructions(struct run_key *k, const struct spec_suite *s)
{
	put_files(k, &s->config.instruction_files);
}

static void
put_suite_graders(struct run_key *k, const struct spec_suite *s)
{
	run_key_graders(k, &s->graders);
}

static void
put_trigger_tests(struct run_key *k, const struct spec_suite *s)
{
	put_triggers(k, s->triggers);
}

void
run_key_part(struct run_key *k, enum run_part part)
{
	static void (*const put[])(struct run_key *,
	    const struct spec_suite *) = {
		[RUN_PART_NAMES] = put_names,
		[RUN_PART_VARIABLES] = put_variables,
		[RUN_PART_SETTINGS] = put_settings,
		[RUN_PART_MOCKS] = put_mocks,
		[RUN_PART_SKILLS] = put_skills,
		[RUN_PART_INSTRUCTIONS] = put_instructions,
		[RUN_PART_HOOKS] = put_hooks,
		[RUN_PART_GRADERS] = put_suite_graders,
		[RUN_PART_TRIGGERS] = put_trigger_tests,
	};

	k->part = part;
	put[part](k, k->run->suite);
}

void
run_key_whole_task(struct run_key *k, const struct spec_task *t)
{
	const struct spec_inputs *in = &t->def->inputs;
	const struct spec_repo *r = in->repos.v;
	size_t i;

	run_key_task(k, t);
	cache_hash_part(&k->hash, t->def->group);
	cache_hash_int(&k->hash, t->def->golden);
	cache_hash_int(&k->hash, t->def->timeout_seconds);
	cache_hash_part(&k->hash, t->prompt);
	cache_hash_part(&k->hash, in->prompt_file);
	put_name(k, in->prompt_file, false);
	put_strs(k, &in->follow_up_prompts);
	if (in->responder != NULL) {
		cache_hash_part(&k->hash, in->responder->model);
		cache_hash_part(&k->hash, in->responder->instructions);
		cache_hash_int(&k->hash, in->responder->max_followups);
	}
	for (i = 0; i < in->repos.n; i++) {
		cache_hash_part(&k->hash, r[i].commit);
		cache_hash_part(&k->hash, r[i].dest);
	}
	if (t->def->remote != NULL) {
		cache_hash_part(&k->hash, t->def->remote->tool);
		cache_hash_json(&k->hash, t->def->remote->input);
	}
}

void
run_fingerprint(struct run *run)
{
	struct run_key k = { .run = run, .portable = true, .ok = true };
	struct arena_mark mark;
	size_t i, part;

	(void)NEW(&k.arena, double);	/* a restored arena keeps its chunk */
	sha256_init(&k.hash);
	cache_hash_part(&k.hash, STR("waza suite 1"));
	for (i = 0; i < run->suite->ntasks; i++) {
		k.task = &run->suite->tasks[i];
		for (part = 0; i == 0 && part < RUN_PART_TASK; part++)
			run_key_part(&k, (enum run_part)part);
		mark = arena_save(&k.arena);
		run_key_whole_task(&k, k.task);
		arena_restore(&k.arena, mark);
	}
	sha256_end(&k.hash, run->results.fingerprint);
	arena_free(&k.arena);
}

/* SPDX-License-Identifier: ISC */
/*
 * The cache: trials that need not run again because nothing has changed.
 *
 * A key covers everything that can affect a trial: the suite's settings, the
 * task with its files, the graders with the files they name, the executor
 * with its settings, the model, the number of the trial, the version of waza.
 * A string in these that names a file is replaced by the file's contents;
 * skills and fixtures are replaced by the contents of their directories.
 * Other changes (a new version of the agent, a service) are not noticed.
 * Tasks with repositories or a responder are not cached.  Verdicts are
 * cached, errors are not.
 */
#include "run/run_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "results/cache.h"

#define QUOTE_(x) #x
#define QUOTE(x) QUOTE_(x)

enum { PATH_LONGEST = 1024, DEPTH = 60 };

/* A file or directory that was hashed already. */
struct known {
	struct known *next;
	struct str path;
	bool ok;
	char hex[CACHE_KEY];
};

enum { BUCKETS = 256 };

struct run_cache {
	struct known *known[BUCKETS];
	bool warned;
};

struct keying {
	struct run *run;
	const struct spec_task *task;
	struct sha256 hash;
	struct arena arena;
	bool ok;
};

/* Hashes a file or directory, once per run. */
static struct known *
hash_path(struct run *run, const char *path, bool dir)
{
	struct known **head, *k;
	struct sha256 h;
	unsigned sum = 0;
	const char *p;

	for (p = path; *p != '\0'; p++)
		sum = sum * 31 + (unsigned char)*p;
	head = &run->cache->known[sum % BUCKETS];
	for (k = *head; k != NULL; k = k->next)
		if (str_is(k->path, path))
			return k;
	k = NEW(&run->arena, struct known);
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
put_path(struct keying *k, const char *path, bool dirs)
{
	const struct known *found;
	struct stat st;

	if (stat(path, &st) == -1 || (!S_ISREG(st.st_mode) &&
	    !(dirs && S_ISDIR(st.st_mode))))
		return;
	found = hash_path(k->run, path, S_ISDIR(st.st_mode));
	k->ok = k->ok && found->ok;
	cache_hash_part(&k->hash, str_of(found->hex));
}

/* Adds all files of that name in the directories that are searched. */
static void
put_name(struct keying *k, struct str name, bool dirs)
{
	struct arena *a = &k->arena;
	const char *in[RUN_INPUT_DIRS];
	size_t i, n;

	if (name.n == 0 || name.n > PATH_LONGEST ||
	    memchr(name.p, '\0', name.n) != NULL ||
	    memchr(name.p, '\n', name.n) != NULL)
		return;
	if (name.p[0] == '/') {
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
	put_path(k, arena_str(a, name).p, dirs);
}

/* Adds the files named by a string or by one of its words. */
static void
put_words(struct keying *k, struct str s)
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
		if (word.n > 0 && word.n < s.n)
			put_name(k, word, false);
		from = i + 1;
	}
	arena_restore(&k->arena, mark);
}

/* Adds the files named by any string in a tree. */
static void
put_files_of(struct keying *k, const struct json *v, int depth)
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
put_tree(struct keying *k, const struct json *v)
{
	cache_hash_json(&k->hash, v);
	put_files_of(k, v, 0);
}

/* Leaves out settings that do not affect a single trial. */
static void
put_config(struct keying *k, const struct json *tree)
{
	static const char *const ignored[] = { "fail_fast", "group_by",
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
put_strs(struct keying *k, const struct field_strs *v)
{
	size_t i;

	cache_hash_int(&k->hash, (int64_t)v->n);
	for (i = 0; i < v->n; i++)
		cache_hash_part(&k->hash, v->v[i]);
}

static void
put_files(struct keying *k, const struct field_strs *files)
{
	size_t i;

	put_strs(k, files);
	for (i = 0; i < files->n; i++)
		put_name(k, files->v[i], false);
}

static void
put_dirs(struct keying *k, const struct field_strs *dirs)
{
	size_t i;

	put_strs(k, dirs);
	for (i = 0; i < dirs->n; i++)
		put_path(k, spec_path(&k->arena, k->run->suite->dir,
		    dirs->v[i]), true);
}

static void
put_suite(struct keying *k)
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
	put_dirs(k, &c->skill_directories);
	put_files(k, &c->instruction_files);
	for (i = 0; i < COUNTOF(env); i++) {
		v = getenv(env[i]);
		cache_hash_part(h, str_of(v != NULL ? v : ""));
	}
}

static void
put_graders(struct keying *k, const struct spec_graders *g)
{
	size_t i;

	cache_hash_int(&k->hash, (int64_t)g->n);
	for (i = 0; i < g->n; i++) {
		cache_hash_part(&k->hash, g->v[i].name);
		cache_hash_part(&k->hash, g->v[i].type);
		cache_hash_int(&k->hash, (int64_t)(g->v[i].weight * 1e6));
		put_tree(k, g->v[i].config);
	}
}

static void
put_expected(struct keying *k, const struct spec_expected *x)
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
put_inputs(struct keying *k, const struct spec_inputs *in)
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

static void
put_task(struct keying *k, const struct spec_task *t)
{
	struct sha256 *h = &k->hash;

	cache_hash_part(h, t->id);
	cache_hash_part(h, t->name);
	cache_hash_json(h, t->vars);
	put_tree(k, t->mock);
	cache_hash_int(h, t->first_event_timeout_seconds);
	put_dirs(k, &t->skill_directories);
	put_files(k, &t->instruction_files);
	put_inputs(k, &t->inputs);
	put_expected(k, t->expected);
	put_graders(k, &k->run->suite->graders);
	put_graders(k, &t->graders);
}

static bool
make_key(const struct run_trial *t, char hex[CACHE_KEY])
{
	struct run *run = t->run;
	struct keying k = { .run = run, .task = t->ask.task,
		.ok = true };
	char question[CACHE_KEY];

	agent_prompt_hash(&t->ask.req, question);
	sha256_init(&k.hash);
	cache_hash_part(&k.hash, STR("waza " QUOTE(WAZA_VERSION) " trial"));
	cache_hash_part(&k.hash, run->results.executor);
	cache_hash_part(&k.hash, run->results.model);
	cache_hash_part(&k.hash, run->opts.judge_model);
	cache_hash_int(&k.hash, run->opts.no_skills);
	cache_hash_int(&k.hash, agent_skills_way(run->agent->kind,
	    run->suite));
	cache_hash_int(&k.hash, t->ask.req.trial);
	cache_hash_int(&k.hash, run_timeout_ms(run, k.task));
	cache_hash_part(&k.hash, str_of(question));
	put_suite(&k);
	put_task(&k, k.task);
	sha256_end(&k.hash, hex);
	arena_free(&k.arena);
	return k.ok;
}

/* Without --cache-all, verdicts that can vary are not cached. */
static bool
may_cache(const struct run_trial *t)
{
	const struct run *run = t->run;
	const struct spec_task *task = t->ask.task;
	const struct spec_expected *x = task->expected;

	if (run->cache == NULL || task->inputs.responder != NULL ||
	    task->inputs.repos.n > 0)
		return false;
	return run->opts.cache_all ||
	    !(grader_flags(run->suite, task) & GRADER_VARIES ||
	    (x != NULL && x->behavior.max_response_time_ms >= 0));
}

/* Disabled if trials have effects beyond their results. */
void
run_cache_open(struct run *run)
{
	const struct run_opts *o = &run->opts;

	if (o->cache != NULL && o->stored == NULL && o->record == NULL &&
	    !run->agent->kind->all_turns && !o->keep_workspace &&
	    !o->update_snapshots && o->baseline == NULL)
		run->cache = NEW(&run->arena, struct run_cache);
}

bool
run_cache_take(struct run_trial *t)
{
	struct run *run = t->run;
	struct result_trial *trial;
	struct json *v;
	struct err e = { 0 };
	int r;

	if (!may_cache(t) || !make_key(t, t->key)) {
		t->key[0] = '\0';
		return false;
	}
	v = cache_get(&t->ask.arena, run->opts.cache, t->key);
	if (v == NULL || (run->opts.rerun_failed &&
	    json_getc(v, "status") != NULL &&
	    !str_is(json_text(json_getc(v, "status")), "passed")))
		return false;
	r = result_add_cached(&run->results, t->task, t->trial, v, &e);
	if (r == -1)
		run_abort(run, &e);
	if (r != 1)
		return false;
	trial = &run->results.tasks[t->task].trials[t->trial];
	t->cached = true;
	t->ask.status = trial->status;
	t->ask.duration_ms = trial->duration_ms;
	t->ask.req.attempt = trial->attempts;
	return true;
}

void
run_cache_keep(struct run_trial *t)
{
	struct run *run = t->run;
	const struct result_trial *trial =
	    &run->results.tasks[t->task].trials[t->trial];
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct json *v;
	struct err e = { 0 };

	if (t->cached || t->key[0] == '\0' || result_is_error(t->ask.status) ||
	    t->ask.status == RESULT_SKIPPED || trial->status != t->ask.status)
		return;
	v = result_read(&t->ask.arena, &run->results, trial, &e);
	if (v == NULL)
		return;
	json_open(&o, '{');
	json_put_member_int(&o, "waza_cache", 1);
	json_put_member_cstr(&o, "key", t->key);
	json_put_member_str(&o, "task", t->ask.task->id);
	json_put_member_int(&o, "trial", (int64_t)t->trial + 1);
	json_put_member_cstr(&o, "status", result_word(t->ask.status));
	json_put_member_double(&o, "score", trial->score);
	json_put_member_double(&o, "weighted", trial->weighted);
	json_put_member(&o, "run", v);
	json_close(&o, '}');
	buf_putc(&b, '\n');
	if (cache_put(run->opts.cache, t->key, buf_str(&b), &e) == -1 &&
	    !run->cache->warned) {
		run->cache->warned = true;
		run_warn(run, "cache_failed", e.msg);
	}
	buf_free(&b);
}

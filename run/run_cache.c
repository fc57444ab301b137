/* SPDX-License-Identifier: ISC */
/*
 * The cache: trials that need not run again because nothing has changed.
 *
 * A key covers everything that can affect a trial: the suite's settings, the
 * task with its files, the graders with the files they name, the executor
 * with its settings, the model, the number of the trial, the version of waza.
 * run_key.c computes most of it.
 * Other changes (a new version of the agent, a service) are not noticed.
 * Tasks with repositories or a responder are not cached.  Verdicts are
 * cached, errors are not.
 */
#include "run/run_internal.h"

#include "json.h"
#include "results/cache.h"

#define QUOTE_(x) #x
#define QUOTE(x) QUOTE_(x)

struct run_cache {
	bool warned;
};

static bool
make_key(const struct run_trial *t, char hex[CACHE_KEY])
{
	struct run *run = t->run;
	struct run_key k = { .run = run, .task = t->ask.task,
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
	run_key_suite(&k);
	run_key_graders(&k, &run->suite->graders);
	run_key_task(&k, k.task);
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
	const struct spec_expected *x = task->def->expected;

	if (run->cache == NULL || task->def->inputs.responder != NULL ||
	    task->def->inputs.repos.n > 0)
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
	run->results.reuse.cached++;
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
	json_put_member_int(&o, "trial", t->ask.req.trial);
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

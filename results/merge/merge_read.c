/* SPDX-License-Identifier: ISC */
/*
 * merge_read.c: what results files and journals have in common: the
 * description of the shard, which must agree with the others, then tasks,
 * trials and trigger tests, each taken once.
 */
#include "results/merge/merge_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "results/outcome.h"
#include "results/result_internal.h"

enum { TRIGGERS_MAX = 10000, TRIALS_MAX = 100000, NAME_MAX_BYTES = 64 << 10,
	CONTROLS_MAX_BYTES = 1 << 20 };

int
merge_fail(struct err *e, const struct merge_input *in, const char *fmt, ...)
{
	char why[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return err_set(e, ERR_SCHEMA, "%s: %s", in->path, why);
}

/*
 * The head: values that all shards must have in common.
 */
struct words {
	const char *key, *name;
};
static const struct words config_words[] = {
	{ "engine_type", "executor" },
	{ "runs_per_test", "number of trials" },
	{ "fingerprint", "fingerprint: the suite or a file that it names" },
	{ "stop", "rule --stop" }, { "seed", "seed" },
	{ "timeout_sec", "time limit" }, { "judge_model", "judge's model" },
};
static const struct words shard_words[] = {
	{ "n", "number of shards" }, { "tasks", "number of tasks" },
	{ "plan", "division of tasks (selection or --shard-by)" },
	{ "ungraded", "option --skip-graders" },
	{ "pass_threshold", "pass_threshold" },
	{ "task_pass_threshold", "task_pass_threshold" },
	{ "metrics", "metrics" }, { "compares", "pairwise graders" },
};

static int
check_same(struct merge *m, const struct merge_input *in,
    const struct words *w, const struct json *old, const struct json *new,
    struct err *e)
{
	struct str was = result_json(&m->scratch, json_getc(old, w->key));
	struct str is = result_json(&m->scratch, json_getc(new, w->key));
	const struct merge_pass *p = &in->group->pass[0];

	if (str_eq(was, is))
		return 0;
	if (p->config == NULL)
		p = &in->group->pass[1];
	return merge_fail(e, in, "does not belong to %s: another %s (%.*s, "
	    "not %.*s)", p->first, w->name, STRF(utf8_cut(is, 70)),
	    STRF(utf8_cut(was, 70)));
}

static int
check_skills(const struct merge_input *in, const struct json *config,
    struct err *e)
{
	const struct merge_pass *p = &in->group->pass[in->baseline];
	bool none = result_true(config, "no_skills");

	if (p->config == NULL || none == result_true(p->config, "no_skills"))
		return 0;
	return merge_fail(e, in, "does not belong to %s: it ran with%s skills",
	    p->first, none ? "out" : "");
}

static int
check_head(struct merge *m, const struct merge_input *in,
    const struct json *config, struct err *e)
{
	struct merge_group *g = in->group;
	const struct json *old = g->pass[g->pass[0].config == NULL].config;
	size_t i;

	for (i = 0; i < COUNTOF(config_words); i++)
		if (check_same(m, in, &config_words[i], old, config, e) == -1)
			return -1;
	for (i = 0; i < COUNTOF(shard_words); i++)
		if (check_same(m, in, &shard_words[i], json_getc(old,
		    "shard"), json_getc(config, "shard"), e) == -1)
			return -1;
	return check_skills(in, config, e);
}

/* Values that check_head() and find_group() compare. */
void
merge_run_key(const struct merge_input *in, char hex[SHA256_HEX])
{
	const struct json *config = in->group->pass[in->baseline].config;
	const struct json *shard = json_getc(config, "shard");
	struct arena a = { 0 };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i;

	json_open(&o, '[');
	json_put_str(&o, in->group->suite.name);
	json_put_str(&o, json_str(config, "model_id"));
	json_put_str(&o, result_json(&a, json_getc(config, "cell")));
	json_put_bool(&o, !in->baseline && result_true(config, "no_skills"));
	for (i = 0; i < COUNTOF(config_words); i++)
		json_put_str(&o, result_json(&a, json_getc(config,
		    config_words[i].key)));
	for (i = 0; i < COUNTOF(shard_words); i++)
		json_put_str(&o, result_json(&a, json_getc(shard,
		    shard_words[i].key)));
	json_close(&o, ']');
	sha256_hex(buf_str(&b), hex);
	buf_free(&b);
	arena_free(&a);
}

static void
take_metrics(struct arena *a, struct spec_suite *s, const struct json *list)
{
	struct spec_metric *m = NEW_N(a, struct spec_metric, list == NULL ?
	    0 : json_count(list));
	const struct json *v;

	s->metrics.v = m;
	for (v = json_first(list); v != NULL; v = v->next, m++) {
		m->name = arena_str(a, json_str(v, "name"));
		(void)result_num(v, "threshold", &m->threshold);
		(void)result_num(v, "weight", &m->weight);
		m->enabled = result_true(v, "enabled");
		s->metrics.n++;
	}
}

static void
init_suite(struct merge_group *g, const struct merge_input *in,
    const struct json *config)
{
	struct spec_suite *s = &g->suite;
	struct arena *a = g->m->arena;
	const struct json *shard = json_getc(config, "shard");

	s->name = arena_str(a, in->suite);
	s->skill = arena_str(a, in->skill);
	s->path = in->source;
	s->config.pass_threshold = s->config.task_pass_threshold = 1;
	(void)result_num(shard, "pass_threshold", &s->config.pass_threshold);
	(void)result_num(shard, "task_pass_threshold",
	    &s->config.task_pass_threshold);
	take_metrics(a, s, json_getc(shard, "metrics"));
	if (result_true(shard, "compares")) {
		g->compares = (struct spec_grader){ .type = STR("prompt"),
			.config = arena_json(a,
			    STR("{\"mode\":\"pairwise\"}"), NULL) };
		s->graders = (struct spec_graders){ &g->compares, 1 };
	}
}

static int
init_pass(struct merge *m, struct merge_input *in, struct merge_pass *p,
    const struct json *config, struct err *e)
{
	const struct json *shard = json_getc(config, "shard");
	struct merge_group *g = in->group;
	struct result_run *r = &p->run;
	int64_t tasks = 0, trials = 0;

	if (!result_int(shard, "tasks", &tasks) || tasks < 1 ||
	    !result_int(config, "runs_per_test", &trials) || trials < 1 ||
	    trials > TRIALS_MAX || tasks > MERGE_TRIALS_MAX / trials)
		return merge_fail(e, in, "the numbers of its tasks and trials "
		    "are missing or out of range");
	p->group = g;
	p->first = in->path;
	p->config = arena_json(m->arena, result_json(m->arena, config), NULL);
	config = p->config;
	r->arena = m->arena;
	r->suite = &g->suite;
	r->executor = json_str(config, "engine_type");
	r->model = json_str(config, "model_id");
	if (json_is_set(json_getc(config, "cell")))
		r->cell = result_json(m->arena, json_getc(config, "cell"));
	r->cell_name = json_str(json_getc(config, "cell"), "name");
	r->judge_model = json_str(config, "judge_model");
	(void)result_int(config, "timeout_sec", &r->timeout_seconds);
	(void)result_int(config, "seed", &r->seed);
	if (json_str(config, "stop").n > 0)
		r->stop = arena_cstr(m->arena, json_str(config, "stop"));
	r->ungraded = result_true(json_getc(config, "shard"), "ungraded");
	r->no_skills = result_true(config, "no_skills");
	snprintf(r->fingerprint, sizeof(r->fingerprint), "%.*s",
	    STRF(json_str(config, "fingerprint")));
	result_init(r);
	r->trials = (size_t)trials;
	r->ntasks = (size_t)tasks;
	r->source = &p->source;
	return merge_open_pass(m, p, e);
}

/* Cells of a matrix differ by more than their models. */
static struct merge_group *
find_group(struct merge *m, const struct merge_input *in,
    const struct json *config)
{
	struct str cell = result_json(&m->scratch, json_getc(config, "cell"));
	struct merge_group *g;
	const struct json *old;

	for (g = m->groups; g != NULL; g = g->next) {
		old = g->pass[g->pass[0].config == NULL].config;
		if (str_eq(g->suite.name, in->suite) && str_eq(json_str(old,
		    "model_id"), json_str(config, "model_id")) &&
		    str_eq(result_json(&m->scratch, json_getc(old, "cell")),
		    cell))
			return g;
	}
	g = NEW(m->arena, struct merge_group);
	g->m = m;
	return g;
}

/* Another copy of the same run would count for nothing: a mistake. */
struct merge_done {
	const struct merge_group *group;
	int64_t k;
	uint32_t family;
	bool baseline, journal;
	struct str run_id;
	const char *path;
};

static int
check_copy(struct merge *m, struct merge_input *in, struct err *e)
{
	struct merge_done d = { in->group, in->k, in->family, in->baseline,
		in->journal, in->run_id, in->path };
	const struct merge_done *v = (const void *)m->seen.p;
	size_t i, n = m->seen.n / sizeof(d);

	for (i = 0; i < n; i++) {
		if (v[i].group != d.group || v[i].k != d.k ||
		    v[i].family == d.family || v[i].baseline != d.baseline ||
		    !str_eq(v[i].run_id, d.run_id))
			continue;
		if (v[i].journal == d.journal)
			return merge_fail(e, in, "is a copy of %s: both have "
			    "the results of the same run (%.*s)", v[i].path,
			    STRF(utf8_cut(d.run_id, 60)));
		in->family = d.family = v[i].family;
	}
	buf_put(&m->seen, (struct str){ (const char *)&d, sizeof(d) });
	return 0;
}

static int
want_triggers(struct merge_group *g, const struct merge_input *in,
    const struct json *shard, struct err *e)
{
	struct result_run *r = &g->pass[0].run;
	struct spec_triggers *t;
	int64_t n = 0;

	(void)result_int(shard, "triggers", &n);
	if (n == 0 || in->baseline)
		return 0;
	if (n < 0 || n > TRIGGERS_MAX || (r->triggers.n > 0 &&
	    r->triggers.n != (size_t)n))
		return merge_fail(e, in, "another number of trigger tests");
	if (r->triggers.n > 0)
		return 0;
	t = NEW(g->m->arena, struct spec_triggers);
	t->skill = arena_str(g->m->arena, json_str(shard, "trigger_skill"));
	t->v = NEW_N(g->m->arena, struct spec_trigger, (size_t)n);
	t->n = (size_t)n;
	g->suite.triggers = t;
	g->trigger_ns = NEW_N(g->m->arena, int64_t, (size_t)n);
	result_want_triggers(r, result_true(shard, "simulated"));
	return 0;
}

/* Joins a group, or begins one. */
static int
join(struct merge *m, struct merge_input *in, const struct json *config,
    struct err *e)
{
	const struct json *shard = json_getc(config, "shard");
	struct merge_group *g = find_group(m, in, config);
	bool new = g->n == 0;

	in->group = g;
	if (!new && check_head(m, in, config, e) == -1)
		return -1;
	if (new) {
		g->n = 1;
		(void)result_int(shard, "n", &g->n);
		g->seen = NEW_N(m->arena, unsigned char, (size_t)g->n / 8 + 1);
		init_suite(g, in, config);
		*m->last = g;
		m->last = &g->next;
	}
	if (g->started_ns == 0 || in->started_ns < g->started_ns)
		g->started_ns = in->started_ns;
	g->has_baseline |= in->baseline || result_true(shard, "has_baseline");
	if (g->pass[in->baseline].config == NULL && init_pass(m, in,
	    &g->pass[in->baseline], config, e) == -1)
		return -1;
	return want_triggers(g, in, shard, e);
}

int
merge_take_head(struct merge *m, struct merge_input *in,
    const struct json *config, struct err *e)
{
	const struct json *shard = json_getc(config, "shard");
	int64_t version = 0, n = 0;

	if (!json_is_set(shard))
		return merge_fail(e, in, "is of a whole run, not of a shard: "
		    "there is nothing to merge (see --shard)");
	if (!result_int(shard, "version", &version) ||
	    version != RESULT_SHARD_VERSION)
		return merge_fail(e, in, "was written by another version of "
		    "waza (shard version %lld, not %d)", (long long)version,
		    RESULT_SHARD_VERSION);
	if (!result_int(shard, "k", &in->k) || !result_int(shard, "n", &n) ||
	    n < 1 || n > MERGE_FILES_MAX || in->k < 1 || in->k > n)
		return merge_fail(e, in, "its shard is not K of N");
	in->baseline = result_true(shard, "is_baseline");
	if (join(m, in, config, e) == -1 || check_copy(m, in, e) == -1)
		return -1;
	in->known = true;
	if (!in->baseline)
		merge_set_bit(in->group->seen, (size_t)in->k);
	return 0;
}

/*
 * Tasks and trials.
 */
void
merge_take_source(struct merge_about *t, const struct json *v)
{
	t->s[MERGE_FILE] = json_str(v, "file");
	if (!result_int(v, "line", &t->line) || t->line < 0 ||
	    t->line > UINT32_MAX)
		t->line = 0;
}

/* Whether nothing of the description is new. */
static bool
is_known(struct merge *m, const struct merge_part *part, const struct str *s,
    struct err *e)
{
	struct merge_task old;

	if (!merge_bit(part->pass->known, part->index))
		return false;
	if (s[MERGE_ERROR].n > 0 || s[MERGE_SKIP].n > 0)
		return false;
	return s[MERGE_CONTROLS].n == 0 || merge_get(&m->tasks,
	    part->pass->tasks + part->index, &old, e) == -1 ||
	    old.n[MERGE_CONTROLS] + old.n[MERGE_ERROR] > 0;
}

static bool
accepts_control(struct merge *m, struct str controls)
{
	const struct json *v = json_first(controls.n == 0 ? NULL :
	    arena_json(&m->scratch, controls, NULL));

	for (; v != NULL; v = v->next)
		if (str_is(json_str(v, "verdict"), "passed"))
			return true;
	return false;
}

int
merge_take_task(struct merge *m, const struct merge_part *part,
    const struct merge_about *about, struct err *e)
{
	const struct str *s = about->s;
	struct merge_pass *p = part->pass;
	struct merge_task t;
	size_t i;

	for (i = 0; i < MERGE_STRINGS; i++)
		if (s[i].n > (i == MERGE_ERROR ? REASON_MAX * 2 :
		    i == MERGE_CONTROLS ? CONTROLS_MAX_BYTES :
		    NAME_MAX_BYTES))
			return merge_fail(e, part->in, "a name of more than "
			    "%d KiB", NAME_MAX_BYTES >> 10);
	if (part->index >= p->run.ntasks || s[MERGE_ID].n == 0)
		return merge_fail(e, part->in, "a task without an id, or "
		    "outside of the %zu tasks", p->run.ntasks);
	if (about->trials == 0 && is_known(m, part, s, e))
		return 0;
	memset(&t, 0, sizeof(t));
	t.golden = about->golden;
	t.accepts = accepts_control(m, s[MERGE_CONTROLS]);
	t.line = (uint32_t)about->line;
	if (p->run.stop != NULL && about->trials > 0 &&
	    (uint64_t)about->trials <= p->run.trials)
		t.trials = (uint32_t)about->trials;
	t.k = (uint32_t)part->in->k;
	if (merge_put_names(m, s, &t, e) == -1)
		return -1;
	merge_set_bit(p->known, part->index);
	p->source.grouped |= s[MERGE_GROUP].n > 0;
	return merge_put(&m->tasks, p->tasks + part->index, &t, e);
}

/* Whether a trial replaces the one that is there. */
static bool
is_better(const struct merge *m, const struct merge_trial *new,
    const struct merge_trial *old)
{
	if (new->family == old->family)
		return new->ended_ns > old->ended_ns;
	return m->opts.prefer_first ? new->ended_ns < old->ended_ns :
	    new->ended_ns > old->ended_ns;
}

/* The text on one line, as the journal has it. */
static struct str
one_line(struct merge *m, struct str text, const struct json *v)
{
	return memchr(text.p, '\n', text.n) == NULL ? text :
	    result_json(&m->scratch, v);
}

/* Writes the object to the temporary journal and sets where it is. */
static int
write_text(struct merge *m, struct str text, struct result_trial *t,
    struct err *e)
{
	struct buf *b = result_line_begin(&m->spool);

	buf_puts(b, "\"run\":");
	t->off = (int64_t)b->n;
	buf_put(b, text);
	return result_line_end(&m->spool, t, e);
}

static void
uncount(struct merge *m, struct merge_pass *p, const struct result_trial *t)
{
	struct err e;

	result_count(&p->run, result_read(&m->scratch, &m->spool, t, &e), -1);
}

int
merge_take_trial(struct merge *m, const struct merge_part *part,
    struct str text, struct json *v, struct err *e)
{
	struct merge_pass *p = part->pass;
	struct merge_trial rec, old;
	struct outcome_trial from = { 0 };
	size_t slot;
	int64_t at;

	if (part->index >= p->run.ntasks || part->number < 1 ||
	    (uint64_t)part->number > p->run.trials)
		return merge_fail(e, part->in, "trial %lld of task number "
		    "%zu is not in the run", (long long)part->number,
		    part->index + 1);
	outcome_read_trial(&m->scratch, v, &from);
	if (from.status == RESULT_NONE || from.status == RESULT_CANCELLED)
		return 0;
	memset(&rec, 0, sizeof(rec));
	rec.t.status = from.status;
	rec.t.attempts = result_attempts(v);
	rec.t.score = from.score;
	rec.t.weighted = from.weighted;
	rec.t.duration_ms = from.duration_ms;
	result_read_used(&rec.t, v);
	rec.family = part->in->family;
	at = result_parse_time(json_str(v, "started_at"));
	rec.ended_ns = (at > 0 ? at : part->in->started_ns) +
	    from.duration_ms * 1000000;
	slot = part->index * p->run.trials + (size_t)part->number - 1;
	if (merge_bit(p->have, slot)) {
		if (merge_get(&m->trials, p->trials + slot, &old, e) == -1)
			return -1;
		if (!is_better(m, &rec, &old))
			return 0;
		uncount(m, p, &old.t);
	}
	if (write_text(m, one_line(m, text, v), &rec.t, e) == -1)
		return -1;
	merge_set_bit(p->have, slot);
	result_count(&p->run, v, 1);
	if (rec.ended_ns > part->in->group->ended_ns)
		part->in->group->ended_ns = rec.ended_ns;
	return merge_put(&m->trials, p->trials + slot, &rec, e);
}

/* The prompts are in memory: they are part of the suite. */
static void
keep_strings(struct arena *a, struct spec_trigger *t)
{
	t->task.prompt = arena_str(a, t->task.prompt);
	t->expected = arena_str(a, t->expected);
	t->reason = arena_str(a, t->reason);
	t->confidence = arena_str(a, t->confidence);
}

int
merge_take_trigger(struct merge *m, struct merge_input *in, int64_t number,
    struct str text, struct json *v, struct err *e)
{
	struct merge_group *g = in->group;
	struct result_run *r = &g->pass[0].run;
	struct result_trial t = { .off = -1 }, *slot;
	struct spec_trigger spec = { .weight = 1 };
	struct answer_usage usage;
	struct err ignored;

	if (number < 1 || (uint64_t)number > r->triggers.n)
		return merge_fail(e, in, "trigger test %lld is not in the run",
		    (long long)number);
	slot = &r->triggers.v[number - 1];
	if (slot->status != RESULT_NONE) {
		if ((m->opts.prefer_first ? in->started_ns >=
		    g->trigger_ns[number - 1] : in->started_ns <=
		    g->trigger_ns[number - 1]))
			return 0;
		usage = answer_read_usage(result_read(&m->scratch, &m->spool,
		    slot, &ignored));
		answer_count_usage(&r->usage, &usage, -1);
		r->triggers.done--;
	}
	outcome_read_trigger(r, &spec, &t, v);
	keep_strings(m->arena, &spec);
	t.imported = NULL;
	if (t.status == RESULT_NONE || write_text(m, one_line(m, text, v), &t,
	    e) == -1)
		return t.status == RESULT_NONE ? 0 : -1;
	g->suite.triggers->v[number - 1] = spec;
	g->trigger_ns[number - 1] = in->started_ns;
	*slot = t;
	r->triggers.done++;
	result_take_used(r, (size_t)number - 1, v);
	return 0;
}

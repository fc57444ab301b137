/* SPDX-License-Identifier: ISC */
/*
 * Follows the shards of `waza run --on`: lines of their journals become the
 * events that a run here would have, for the console and --stream-json.
 *
 * Only progress depends on it: the results are made of the same files by
 * results/merge.  So lines are not verified, and a file that cannot be read is
 * left to the merge.  A trial is counted once, from whichever file names it
 * first.  The journal of a shard that is complete has been removed: the rest
 * is read from its results file.
 */
#include "cmd/scale/on_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "cmd/run.h"
#include "json.h"
#include "results/outcome.h"
#include "results/result.h"
#include "suite/spec.h"

enum {
	CHUNK = 256 << 10,
	TURN = 8 << 20,		/* bytes that are read at a time, */
	FILES = 500		/* and journals that are opened for them */
};

/* One pass of a unit: the run with skills, or its baseline. */
struct pass {
	const struct cmd_unit *unit;
	bool baseline;
	struct result_run run;	/* of all shards, as far as it is known */
	const char **outputs;	/* results file of each shard, */
	int64_t *offsets;	/* and how far its journal was read */
};

struct on_follow {
	struct on *on;
	struct pass *v;
	size_t n;
	size_t at;		/* the journal to be read next */
	size_t done, all;	/* trials */
	bool silent;		/* no events yet */
	struct arena scratch;
	struct buf text;
};

/*
 * Events.
 */
static void
emit_run(struct on_follow *f, struct pass *p, enum event_type type,
    const struct result_run *end)
{
	struct result_run *r = &p->run;
	struct event ev = { .type = type, .run_id = str_of(r->run_id),
		.eval = r->suite->name, .skill = r->suite->skill,
		.executor = r->executor, .model = r->model,
		.tasks = (int64_t)r->ntasks, .trials = (int64_t)r->trials,
		.source.run = r };

	if (end != NULL) {
		ev.total = (int64_t)r->ntasks;
		ev.score = end->sum.score;
		ev.totals = (struct event_totals){ .rate = end->sum.rate,
			.passed = (int64_t)end->sum.passed,
			.failed = (int64_t)(end->sum.failed +
			    end->sum.errors),
			.errors = (int64_t)end->sum.errors,
			.skipped = (int64_t)end->sum.skipped,
			.duration_sec = (double)end->duration_ms / 1000 };
		ev.status = str_of(result_only_answers(end) ? "skipped" :
		    result_ok(end) ? "passed" : "failed");
	}
	event_emit(&f->on->run->job.bus, &ev);
}

/* The object of a trial, for the reason of a failure; or NULL. */
static void
emit_trial(struct on_follow *f, struct pass *p, size_t i, size_t k,
    const struct json *obj)
{
	struct result_task *t = &p->run.tasks[i];
	const struct result_trial *x = &t->trials[k];
	struct event ev = { .type = EVENT_TRIAL_COMPLETE,
		.run_id = str_of(p->run.run_id), .idx = (int64_t)i,
		.total = (int64_t)p->run.ntasks, .task = t->spec->id,
		.name = t->spec->name, .trial = (int64_t)k + 1,
		.attempt = x->attempts, .trials = (int64_t)p->run.trials,
		.status = str_of(result_word(x->status)),
		.error_class = str_of(result_class(x->status)),
		.error = json_str(obj, "error_msg"), .score = x->score,
		.took_ms = x->duration_ms,
		.source = { .trial = x, .task = t, .run = &p->run } };

	event_emit(&f->on->run->job.bus, &ev);
}

static void
emit_task(struct on_follow *f, struct pass *p, size_t i,
    const struct json *obj)
{
	struct result_task *t = &p->run.tasks[i];
	struct event ev = { .type = EVENT_TASK_COMPLETE,
		.run_id = str_of(p->run.run_id), .idx = (int64_t)i,
		.total = (int64_t)p->run.ntasks, .task = t->spec->id,
		.name = t->spec->name, .prompt = t->spec->prompt,
		.trials = (int64_t)p->run.trials,
		.status = str_of(result_word(t->status)),
		.error_class = str_of(result_class(t->status)),
		.score = t->stats->avg, .took_ms = t->stats->avg_ms,
		.source = { .task = t, .run = &p->run } };

	if (result_is_error(t->status))
		ev.error = json_str(obj, "error_msg");
	event_emit(&f->on->run->job.bus, &ev);
}

static void
emit_trigger(struct on_follow *f, struct pass *p, size_t i,
    const struct json *obj)
{
	const struct spec_trigger *s = &p->run.suite->triggers->v[i];
	const struct result_trial *x = &p->run.triggers.v[i];
	struct event ev = { .type = EVENT_TRIGGER_COMPLETE,
		.run_id = str_of(p->run.run_id), .idx = (int64_t)i,
		.total = (int64_t)p->run.triggers.n,
		.prompt = s->task.prompt, .should_trigger = s->should,
		.did_trigger = result_did_trigger(&p->run, i),
		.status = str_of(result_word(x->status)),
		.error_class = str_of(result_class(x->status)),
		.error = json_str(obj, "error_msg"),
		.took_ms = x->duration_ms, .source.run = &p->run };

	event_emit(&f->on->run->job.bus, &ev);
}

/*
 * Trials.
 */

/* Lets reports read this object as that of the trial; NULL: no more. */
static void
lend(struct result_trial *t, struct json *obj)
{
	t->imported = obj;
	t->off = obj != NULL ? 0 : -1;
}

/*
 * While the end of a task is emitted, its first trial that did not pass has the
 * object of the last one, for the reason on the console.
 */
static void
end_task(struct on_follow *f, struct pass *p, size_t i,
    const struct result_trial *last)
{
	struct result_task *t = &p->run.tasks[i];
	struct result_trial *shown = t->trials;

	while (shown->status <= RESULT_PASSED && shown < t->trials +
	    t->ntrials - 1)
		shown++;
	if (last->status > RESULT_PASSED)
		lend(shown, last->imported);
	emit_task(f, p, i, last->imported);
	lend(shown, NULL);
}

static void
take_trial(struct on_follow *f, struct pass *p, int64_t index, int64_t number,
    const struct result_trial *x)
{
	struct result_task *t;
	struct result_trial *slot;

	if (index < 0 || (size_t)index >= p->run.ntasks || number < 1)
		return;
	t = &p->run.tasks[index];
	if ((size_t)number > t->ntrials || x->status == RESULT_NONE ||
	    x->status == RESULT_CANCELLED)
		return;
	slot = &t->trials[number - 1];
	if (slot->status != RESULT_NONE)
		return;
	*slot = *x;
	t->done++;
	f->done++;
	if (t->done == t->ntrials)
		result_end_task(&p->run, (size_t)index);
	lend(slot, x->imported);
	if (!f->silent)
		emit_trial(f, p, (size_t)index, (size_t)number - 1,
		    x->imported);
	lend(slot, NULL);
	if (!f->silent && t->done == t->ntrials)
		end_task(f, p, (size_t)index, x);
}

static void
take_trigger(struct on_follow *f, struct pass *p, int64_t number,
    const struct result_trial *x)
{
	struct result_triggers *t = &p->run.triggers;

	if (number < 1 || (size_t)number > t->n || x->status == RESULT_NONE ||
	    x->status == RESULT_CANCELLED ||
	    t->v[number - 1].status != RESULT_NONE)
		return;
	t->v[number - 1] = *x;
	t->v[number - 1].imported = NULL;
	t->done++;
	if (!f->silent)
		emit_trigger(f, p, (size_t)number - 1, x->imported);
}

static enum result_status
status_of(struct str word)
{
	return str_is(word, "passed") ? RESULT_PASSED :
	    str_is(word, "failed") ? RESULT_FAILED :
	    str_is(word, "skipped") ? RESULT_SKIPPED : result_of_class(word);
}

static int64_t
number_of(const struct json *obj, const char *key, int64_t otherwise)
{
	int64_t n;

	return json_int(json_getc(obj, key), &n) ? n : otherwise;
}

/*
 * Journals.
 */
static void
read_line(struct on_follow *f, struct pass *p, struct str line)
{
	struct arena_mark mark = arena_save(&f->scratch);
	struct json *v = arena_json(&f->scratch, line, NULL), *run;
	struct result_trial x = { .off = -1, .attempts = 1 };
	double d;

	run = json_getc(v, "run");
	if (run != NULL && run->type == JSON_OBJECT) {
		x.status = status_of(json_str(v, "status"));
		x.score = json_double(json_getc(v, "score"), &d) ? d : 0;
		x.weighted = json_double(json_getc(v, "weighted"), &d) ? d :
		    0;
		x.duration_ms = number_of(run, "duration_ms", 0);
		x.attempts = (unsigned)number_of(run, "attempts", 1);
		x.imported = run;
		if (json_getc(v, "trigger") != NULL)
			take_trigger(f, p, number_of(v, "trigger", 0), &x);
		else
			take_trial(f, p, number_of(v, "index", -1),
			    number_of(v, "trial", 0), &x);
	}
	arena_restore(&f->scratch, mark);
}

/* Reads the whole lines of the text; returns their bytes. */
static size_t
read_lines(struct on_follow *f, struct pass *p)
{
	struct str line;
	size_t at = 0;
	char *nl;

	while (at < f->text.n && (nl = memchr(f->text.p + at, '\n',
	    f->text.n - at)) != NULL) {
		line = (struct str){ f->text.p + at,
			(size_t)(nl - (f->text.p + at)) };
		read_line(f, p, line);
		at += line.n + 1;
	}
	return at;
}

/* Reads a piece with at least one whole line, if there is one; its size. */
static size_t
read_piece(struct on_follow *f, struct pass *p, int fd, int64_t *off)
{
	size_t used = 0;
	ssize_t n = 1;
	char *room;

	f->text.n = 0;
	f->text.full = false;
	f->text.max = RESULT_LINE_MAX;
	while (used == 0 && n > 0) {
		room = buf_room(&f->text, CHUNK);
		if (room == NULL)
			break;
		n = pread(fd, room, CHUNK, (off_t)(*off + (int64_t)f->text.n));
		f->text.n += n > 0 ? (size_t)n : 0;
		used = read_lines(f, p);
	}
	*off += (int64_t)used;
	if (f->text.cap > 4 * CHUNK)
		buf_free(&f->text);
	return used;
}

/* The journal of a shard, from where it was left.  Returns bytes read. */
static size_t
read_journal(struct on_follow *f, struct pass *p, const struct on_shard *s)
{
	int64_t *off = &p->offsets[s->k - 1];
	struct arena_mark mark = arena_save(&f->scratch);
	const char *path = arena_fmt(&f->scratch, "%s%s",
	    p->outputs[s->k - 1], p->baseline ? ".baseline.journal" :
	    ".journal").p;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK |
	    O_NOFOLLOW);
	struct stat st;
	size_t n = 0, piece = 1;

	if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size < *off)
			*off = 0;	/* it was started again */
		while (piece > 0 && n < TURN && *off < st.st_size) {
			piece = read_piece(f, p, fd, off);
			n += piece;
		}
	}
	os_close(&fd);
	arena_restore(&f->scratch, mark);
	return n;
}

/*
 * Results files.
 */
static void
take_outcome(struct on_follow *f, struct pass *p, struct outcome *o)
{
	const struct outcome_task *t;
	const struct outcome_trial *y;
	struct result_trial x;
	size_t i, k;

	for (i = 0; i < o->ntasks; i++) {
		t = &o->tasks[i];
		for (k = 0; k < t->ntrials; k++) {
			y = &t->trials[k];
			x = (struct result_trial){ .status = y->status,
				.score = y->score, .weighted = y->weighted,
				.duration_ms = y->duration_ms,
				.attempts = (unsigned)number_of(y->node,
				    "attempts", 1), .imported = y->node };
			take_trial(f, p, number_of(t->node, "index", -1),
			    number_of(y->node, "run_number", 0), &x);
		}
	}
}

static void
take_triggers(struct on_follow *f, struct pass *p, const struct outcome *o)
{
	struct json *v = json_first(json_getc(o->root, "trigger_results"));
	struct spec_trigger spec;
	struct result_trial x;
	struct result_run unused = { .arena = &f->scratch };
	int64_t i;

	for (i = 1; v != NULL; v = v->next, i++) {
		x = (struct result_trial){ .off = -1 };
		outcome_read_trigger(&unused, &spec, &x, v);
		x.imported = v;
		take_trigger(f, p, i, &x);
	}
}

static void
read_results(struct on_follow *f, struct pass *p, const struct on_shard *s)
{
	struct arena a = { 0 };
	struct err e;
	struct outcome *o = outcome_read(&a, p->outputs[s->k - 1], &e);

	if (o != NULL && p->baseline)
		o = outcome_baseline(&a, o, &e);
	if (o != NULL) {
		take_outcome(f, p, o);
		if (!p->baseline)
			take_triggers(f, p, o);
	}
	arena_free(&a);
}

/*
 * The passes.
 */
static void
init_pass(struct on_follow *f, struct pass *p, const struct cmd_unit *u,
    bool baseline)
{
	struct arena *a = f->on->arena;
	const struct spec_suite *s = u->cell->spec;
	struct run_planned *planned;
	size_t i;

	p->unit = u;
	p->baseline = baseline;
	p->offsets = NEW_N(a, int64_t, f->on->n);
	p->outputs = NEW_N(a, const char *, f->on->n);
	for (i = 0; i < f->on->n; i++)
		p->outputs[i] = on_unit_output(f->on, u,
		    f->on->shards[i].output);
	p->run = (struct result_run){ .arena = a, .suite = s,
		.run_id = !baseline && u->opts.run_id != NULL ?
		    u->opts.run_id : run_make_id(a),
		.executor = u->opts.executor.n > 0 ? u->opts.executor :
		    s->config.executor,
		.model = u->opts.model.n > 0 ? u->opts.model :
		    s->config.model,
		.no_skills = baseline || u->opts.no_skills,
		.trials = (size_t)(u->opts.trials > 0 ? u->opts.trials :
		    s->config.trials_per_task) };
	p->run.ntasks = run_list_tasks(a, s, &u->opts, &planned);
	p->run.tasks = NEW_N(a, struct result_task, p->run.ntasks);
	for (i = 0; i < p->run.ntasks; i++) {
		p->run.tasks[i].spec = planned[i].task;
		p->run.tasks[i].index = (uint32_t)i;
	}
	result_init(&p->run);
	if (!baseline && run_count_triggers(s, &u->opts) > 0)
		result_want_triggers(&p->run, false);
	f->all += p->run.ntasks * p->run.trials;
}

/* What earlier calls have done is known before the first event. */
static void
read_earlier(struct on_follow *f)
{
	size_t i, k, before;

	f->silent = true;
	for (i = 0; i < f->n; i++) {
		before = f->done;
		for (k = 0; k < f->on->n; k++)
			if (f->on->shards[k].complete)
				read_results(f, &f->v[i], &f->on->shards[k]);
			else
				while (read_journal(f, &f->v[i],
				    &f->on->shards[k]) > 0)
					;
		f->v[i].run.reuse = (struct result_reuse){ .resumes = true,
			.resumed = f->done - before,
			.trials = f->v[i].run.ntasks * f->v[i].run.trials };
	}
	f->silent = false;
}

static void
emit_earlier(struct on_follow *f, struct pass *p)
{
	size_t i;

	emit_run(f, p, EVENT_EVAL_START, NULL);
	for (i = 0; i < p->run.ntasks; i++)
		if (p->run.tasks[i].status != RESULT_NONE)
			emit_task(f, p, i, NULL);
}

void
on_follow_start(struct on *on)
{
	struct on_follow *f = NEW(on->arena, struct on_follow);
	struct cmd_job *j = &on->run->job;
	const struct cmd_unit *u;
	size_t i;

	f->on = on;
	(void)NEW(&f->scratch, double);	/* a restored arena keeps its chunk */
	f->v = NEW_N(on->arena, struct pass, 2 * on->run->nunits);
	for (i = 0; i < on->run->nunits; i++) {
		u = &on->run->units[i];
		init_pass(f, &f->v[f->n++], u, false);
		if (u->baseline)
			init_pass(f, &f->v[f->n++], u, true);
	}
	on->follow = f;
	if (f->n > 1) {			/* the passes overlap */
		j->console.all_tasks = j->tasks;
		j->console.all_trials = j->trials;
	}
	read_earlier(f);
	for (i = 0; i < f->n; i++)
		emit_earlier(f, &f->v[i]);
}

bool
on_follow_read(struct on *on)
{
	struct on_follow *f = on->follow;
	size_t i, all = f->n * on->n, bytes = 0;
	const struct on_shard *s;

	for (i = 0; i < all && i < FILES && bytes < TURN; i++) {
		s = &on->shards[f->at % on->n];
		if (s->wanted && !s->settled)
			bytes += read_journal(f, &f->v[f->at / on->n], s);
		f->at = (f->at + 1) % all;
	}
	return bytes >= TURN;
}

void
on_follow_shard(struct on *on, const struct on_shard *s)
{
	struct on_follow *f = on->follow;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (s->complete)
			read_results(f, &f->v[i], s);
		else
			while (read_journal(f, &f->v[i], s) > 0)
				;
}

void
on_follow_end(struct on *on)
{
	struct on_follow *f = on->follow;
	const struct result_run *r;
	size_t i;

	for (i = 0; i < f->n; i++) {
		r = f->v[i].unit->whole;
		if (r != NULL && f->v[i].baseline)
			r = r->baseline;
		if (r != NULL)
			emit_run(f, &f->v[i], EVENT_EVAL_COMPLETE, r);
	}
}

void
on_follow_close(struct on *on)
{
	struct on_follow *f = on->follow;
	size_t i;

	if (f == NULL)
		return;
	for (i = 0; i < f->n; i++)
		result_close(&f->v[i].run);
	arena_free(&f->scratch);
	buf_free(&f->text);
	on->follow = NULL;
}

size_t
on_follow_done(const struct on *on, size_t *all)
{
	*all = on->follow->all;
	return on->follow->done;
}

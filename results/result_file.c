/* SPDX-License-Identifier: ISC */
/*
 * result_file.c: the contents of the results file: the original's keys in
 * their order, then ours.
 *
 * It is streamed: the frame comes from the numbers in memory, the trials are
 * copied from the journal through a window that usually holds the next trials
 * already.  So memory does not depend on the size of the run, and a file of
 * 10,000 trials takes few read and write calls.
 *
 * After the first failure nothing more is written.
 */
#include "results/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "lib/stats.h"
#include "results/outcome.h"
#include "results/result_internal.h"
#include "suite/spec.h"

enum { BLOCK = 64 << 10 };

#define LOST "another program has changed the journal: the answer and the " \
	"verdicts of this trial are lost"

struct file {
	struct result_sink to;
	bool bad;		/* writing failed, see *err */
	struct err *err;
	struct arena *scratch;
	struct json_out out;
	size_t n;
	char *block;		/* BLOCK bytes, n of them to be written */
	/* the window: nwindow bytes at `at` of the journal of `of` */
	const struct result_run *of;
	int64_t at;
	size_t nwindow;
	char *window;		/* BLOCK bytes */
	size_t lost;		/* trials whose lines somebody has changed */
	/* the statistics that were written last, and their text */
	struct result_stats last_stats;
	size_t last_ntrials;
	struct buf stats_text;
	struct buf piece;	/* another value that is made in one piece */
};

/*
 * In a log, "##[" and the like are commands.  A block can end within one, so
 * each "#" is escaped, which keeps its value in a string.
 */
static int
write_log(int fd, struct str s, struct err *e)
{
	struct buf b = { 0 };
	size_t i;
	int rc;

	for (i = 0; i < s.n; i++)
		if (s.p[i] == '#')
			buf_puts(&b, "\\u0023");
		else
			buf_putc(&b, s.p[i]);
	rc = os_write_all(fd, buf_str(&b), e);
	buf_free(&b);
	return rc;
}

static void
file_flush(struct file *f)
{
	struct str s = { f->block, f->n };
	struct err why;

	f->n = 0;
	if (f->bad || s.n == 0)
		return;
	if (f->to.put != NULL) {
		f->to.put(f->to.ctx, s);
		return;
	}
	if (f->to.buf != NULL) {
		buf_put(f->to.buf, s);
		return;
	}
	if ((f->to.log ? write_log : os_write_all)(f->to.fd, s, &why) == 0)
		return;
	errno = why.sys;
	result_fail(f->err, f->to.path, "cannot write the results");
	f->bad = true;
}

static void
file_put(void *ctx, const char *p, size_t n)
{
	struct file *f = ctx;
	size_t k;

	while (n > 0 && !f->bad) {
		if (f->n == BLOCK)
			file_flush(f);
		k = n < BLOCK - f->n ? n : BLOCK - f->n;
		memcpy(f->block + f->n, p, k);
		f->n += k;
		p += k;
		n -= k;
	}
}

/*
 * The n bytes of the journal from `at` on, at most BLOCK; fewer at its end.
 * Reads ahead only in order: the trials of merged shards are in any order.
 */
static struct str
window_at(struct file *f, const struct result_run *run, int64_t at, size_t n)
{
	int64_t end = f->at + (int64_t)f->nwindow;
	bool near = f->of == run && at >= f->at && at <= end;
	ssize_t got;

	if (!near || at + (int64_t)n > end) {
		do
			got = pread(run->journal.fd, f->window, near ? BLOCK :
			    n, (off_t)at);
		while (got == -1 && errno == EINTR);
		f->of = run;
		f->at = at;
		f->nwindow = got > 0 ? (size_t)got : 0;
	}
	return (struct str){ f->window + (at - f->at),
	    f->nwindow - (size_t)(at - f->at) };
}

/* False: somebody has changed the line.  Its numbers are still known. */
static bool
copy_object(struct file *f, const struct result_run *run,
    const struct result_trial *t)
{
	struct arena_mark mark = arena_save(f->scratch);
	size_t n = t->head + t->len + 1;
	struct str s;
	struct err e;

	s = n > BLOCK ? result_line_read(f->scratch, run, t, &e) :
	    result_line_text(run, t, window_at(f, run, t->off - t->head, n));
	f->lost += s.p == NULL;
	if (s.p != NULL) {
		json_put_raw(&f->out, STR(""));
		file_put(f, s.p, s.n);
	}
	arena_restore(f->scratch, mark);
	return s.p != NULL;
}

static void
put_trial(struct file *f, const struct result_run *run,
    const struct result_trial *t, uint32_t k)
{
	struct result_record none = { .number = k, .status = t->status };

	if (t->off >= 0)
		none.error = STR(LOST);
	if (t->imported != NULL) {
		result_put_on_one_line(&f->out, t->imported);
		return;
	}
	if (t->off >= 0 && run->journal.fd != -1 && copy_object(f, run, t))
		return;
	f->piece.n = 0;
	result_put_trial(&f->piece, f->scratch, &none, t, NULL);
	json_put_raw(&f->out, buf_str(&f->piece));
}

/* Sequence: it is of a confidence sequence, else Wilson's. */
static void
put_range(struct buf *b, struct str key, double lo, double hi, bool sequence)
{
	buf_put(b, key);
	result_put_num(b, STR("{\"lower\":"), lo);
	result_put_num(b, STR(",\"upper\":"), hi);
	buf_put(b, STR(",\"confidence_level\":0.95"));
	buf_puts(b, sequence ? ",\"method\":\"confidence_sequence\"}" : "}");
}

/* An interval from n values; num_bootstraps is 0 if not resampled. */
static void
put_bootstrap(struct buf *b, struct str key, double lo, double hi,
    double mean, size_t n)
{
	buf_put(b, key);
	result_put_num(b, STR("{\"lower\":"), lo);
	result_put_num(b, STR(",\"upper\":"), hi);
	result_put_num(b, STR(",\"mean\":"), mean);
	buf_put(b, STR(",\"confidence_level\":0.95"));
	result_put_int(b, STR(",\"num_bootstraps\":"),
	    n > 1 && n <= STATS_BOOTSTRAP_MAX ? STATS_BOOTSTRAPS : 0);
	result_put_bool(b, STR("},\"is_significant\":"), lo > 0);
}

static void
make_stats(struct buf *b, const struct result_stats *s, size_t n, bool stop)
{
	result_put_num(b, STR("{\"pass_rate\":"), s->pass_rate);
	result_put_num(b, STR(",\"avg_score\":"), s->avg);
	result_put_num(b, STR(",\"avg_weighted_score\":"), s->weighted);
	result_put_num(b, STR(",\"min_score\":"), s->min);
	result_put_num(b, STR(",\"max_score\":"), s->max);
	result_put_num(b, STR(",\"std_dev_score\":"), s->std_dev);
	result_put_num(b, STR(",\"score_variance\":"),
	    stats_square(s->std_dev));
	result_put_num(b, STR(",\"ci95_lo\":"), n < 2 || stop ? 0 :
	    s->ci_lo);
	result_put_num(b, STR(",\"ci95_hi\":"), n < 2 || stop ? 0 :
	    s->ci_hi);
	result_put_bool(b, STR(",\"flaky\":"), s->flaky);
	result_put_int(b, STR(",\"avg_duration_ms\":"), s->avg_ms);
	if (n > 1 && !stop)
		put_bootstrap(b, STR(",\"bootstrap_ci\":"), s->ci_lo,
		    s->ci_hi, s->weighted, n);
	put_range(b, STR(",\"pass_rate_ci\":"), s->pass_lo, s->pass_hi,
	    stop);
	result_put_num(b, STR(",\"pass_at_k\":"), s->pass_at_k);
	result_put_num(b, STR(",\"pass_hat_k\":"), s->pass_hat_k);
	buf_putc(b, '}');
}

/* On one line.  Often they equal those of the previous task. */
static void
put_stats(struct file *f, const struct result_stats *s, size_t n, bool stop)
{
	if (f->last_ntrials != n ||
	    memcmp(&f->last_stats, s, sizeof(*s)) != 0) {
		f->stats_text.n = 0;
		make_stats(&f->stats_text, s, n, stop);
		f->last_stats = *s;
		f->last_ntrials = n;
	}
	json_put_member_raw(&f->out, "stats", buf_str(&f->stats_text));
}

/* An unfinished task is "running" as long as the run continues. */
static const char *
task_word(const struct result_run *run, const struct result_task *t)
{
	if (t->status != RESULT_NONE || t->more->skipped != NULL)
		return result_word(t->status);
	return run->ended || run->cancelled ? "cancelled" : "running";
}

/* The place of a task or of the suite, for annotations. */
static void
put_source(struct file *f, const char *file, unsigned line)
{
	if (file == NULL)
		return;
	f->piece.n = 0;
	result_put_str(&f->piece, STR("{\"file\":"), str_of(file));
	if (line > 0)
		result_put_int(&f->piece, STR(",\"line\":"), line);
	buf_putc(&f->piece, '}');
	json_put_member_raw(&f->out, "source", buf_str(&f->piece));
}

static void
put_task(struct file *f, const struct result_run *run, size_t i)
{
	struct json_out *o = &f->out;
	const struct result_task *t = result_at(run, i, true);
	struct str group = result_group(f->scratch, run, t->spec);
	const char *class = result_class(t->status);
	size_t k, n = 0;

	if (t->more->imported != NULL) {
		result_put_imported_task(o, t->more->imported);
		return;
	}
	json_open(o, '{');
	json_put_member_str(o, "test_id", t->spec->id);
	json_put_member_str(o, "display_name", t->spec->name);
	if (run->shard.n > 0)
		json_put_member_int(o, "index", (int64_t)t->index);
	if (group.n > 0)
		json_put_member_str(o, "group", group);
	json_put_member_str(o, "status", str_of(task_word(run, t)));
	json_open_member(o, "runs", '[');
	for (k = 0; k < t->ntrials; k++) {
		if (t->trials[k].status == RESULT_NONE)
			continue;
		put_trial(f, run, &t->trials[k], result_number(t, k));
		n += result_is_scored(t->trials[k].status);
	}
	json_close(o, ']');
	if (run->stop != NULL && t->status > RESULT_SKIPPED)
		json_put_member_int(o, "trials", (int64_t)t->ntrials);
	if (n > 0 && t->status != RESULT_NONE)
		put_stats(f, t->stats, n, run->stop != NULL);
	if (t->status >= RESULT_PASSED)
		result_put_impact(o, run, i);
	if (class[0] != '\0')
		json_put_member_str(o, "error_class", str_of(class));
	if (t->more->error.n > 0)
		json_put_member_str(o, "error_msg", t->more->error);
	if (t->more->skipped != NULL)
		json_put_member_cstr(o, "skip_reason", t->more->skipped);
	if (t->spec->def->golden)
		json_put_member_bool(o, "golden", true);
	json_put_member_nonempty(o, "selected_because", t->more->selected);
	json_put_member_nonempty(o, "quarantine", t->spec->def->quarantine);
	json_put_member_nonempty(o, "quarantine_until",
	    t->spec->def->quarantine_until);
	if (t->more->controls.n > 0)
		json_put_member_raw(o, "controls", t->more->controls);
	put_source(f, t->spec->at.file, t->spec->at.line);
	result_put_other_task_members(o, t);
	json_close(o, '}');
}

static void
put_usage(struct file *f, const char *key, const struct answer_usage *u,
    bool zero)
{
	if (!zero && u->turns == 0 && u->input_tokens == 0 &&
	    u->output_tokens == 0 &&
	    u->cache_read_tokens == 0 && u->cache_write_tokens == 0 &&
	    !(u->premium_requests > 0 || u->cost > 0))
		return;
	f->piece.n = 0;
	/* nobody was asked: that is known */
	result_put_usage(&f->piece, u->answers > 0 ? u : &answer_no_usage);
	json_put_member_raw(&f->out, key, buf_str(&f->piece));
}

static void
put_statistics(struct file *f, const struct result_run *run, size_t n)
{
	f->piece.n = 0;
	if (run->stop == NULL)
		put_bootstrap(&f->piece, STR("{\"bootstrap_ci\":"),
		    run->sum.ci_lo, run->sum.ci_hi, run->sum.weighted, n);
	buf_putc(&f->piece, run->stop == NULL ? ',' : '{');
	put_range(&f->piece, STR("\"success_rate_ci\":"), run->sum.rate_lo,
	    run->sum.rate_hi, run->sum.decided);
	buf_putc(&f->piece, '}');
	json_put_member_raw(&f->out, "statistics", buf_str(&f->piece));
}

static void
put_summary(struct file *f, const struct result_run *run)
{
	const struct result_totals *sum = &run->sum;
	struct json_out *o = &f->out;
	size_t n = sum->finished - sum->quarantined;

	json_open_member(o, "summary", '{');
	json_put_member_int(o, "total_tests", (int64_t)n);
	if (sum->quarantined > 0)
		json_put_member_int(o, "quarantined",
		    (int64_t)sum->quarantined);
	json_put_member_int(o, "succeeded", (int64_t)sum->passed);
	json_put_member_int(o, "failed", (int64_t)sum->failed);
	json_put_member_int(o, "errors", (int64_t)sum->errors);
	json_put_member_int(o, "skipped", (int64_t)sum->skipped);
	json_put_member_double(o, "success_rate", sum->rate);
	json_put_member_double(o, "aggregate_score", sum->score);
	json_put_member_double(o, "weighted_score", sum->weighted);
	json_put_member_double(o, "min_score", sum->min);
	json_put_member_double(o, "max_score", sum->max);
	json_put_member_double(o, "std_dev", sum->std_dev);
	json_put_member_int(o, "duration_ms", run->duration_ms);
	result_put_groups(&f->out, f->scratch, run);
	/* a run whose answers were all cached has spent nothing, not unknown */
	put_usage(f, "usage", &run->usage, run->saved.answers > 0);
	put_usage(f, "saved_usage", &run->saved, false);
	put_usage(f, "judge_usage", &run->judge_usage, false);
	if (run->trials > 1 && n > 1)
		put_statistics(f, run, n);
	json_close(o, '}');
}

void
result_put_config(struct json_out *o, const struct result_run *run)
{
	const struct spec_config *c = &run->suite->config;

	json_open_member(o, "config", '{');
	json_put_member_int(o, "runs_per_test", (int64_t)run->trials);
	json_put_member_str(o, "model_id", run->model);
	json_put_member_str(o, "engine_type", run->executor);
	if (c->pass_threshold < 1)
		json_put_member_double(o, "pass_threshold", c->pass_threshold);
	json_put_member_int(o, "timeout_sec", run->timeout_seconds != 0 ?
	    run->timeout_seconds : c->timeout_seconds);
	if (run->judge_model.n > 0)
		json_put_member_str(o, "judge_model", run->judge_model);
	else if (c->judge_model.n > 0)
		json_put_member_str(o, "judge_model", c->judge_model);
	if (run->seed != 0)
		json_put_member_int(o, "seed", run->seed);
	if (run->stop != NULL)
		json_put_member_cstr(o, "stop", run->stop);
	if (run->no_skills)
		json_put_member_bool(o, "no_skills", true);
	if (run->ref_commit.n > 0) {
		json_open_member(o, "skills_ref", '{');
		json_put_member_str(o, "ref", run->ref_name);
		json_put_member_str(o, "commit", run->ref_commit);
		json_close(o, '}');
	}
	if (run->cell.n > 0)
		json_put_member_raw(o, "cell", run->cell);
	if (run->fingerprint[0] != '\0')
		json_put_member_cstr(o, "fingerprint", run->fingerprint);
	if (run->shard.n > 0)
		result_put_shard(o, run);
	json_close(o, '}');
}

/* The first metric of that name that the run has a value for. */
static void
put_metric(struct file *f, const struct result_run *run, const char *name)
{
	struct json_out *o = &f->out;
	const struct spec_metric *m = run->suite->metrics.v;
	double value = 0;
	size_t i;

	for (i = 0; i < run->suite->metrics.n; i++)
		if (str_is(m[i].name, name) &&
		    result_metric(run, &m[i], &value))
			break;
	if (i == run->suite->metrics.n)
		return;
	json_put_key(o, m[i].name);
	json_open(o, '{');
	json_put_member_str(o, "identifier", m[i].name);
	json_put_member_double(o, "value", value);
	json_put_member_double(o, "threshold", m[i].threshold);
	json_put_member_bool(o, "passed", !result_misses(run, &m[i]));
	json_put_member_double(o, "weight", m[i].weight);
	json_close(o, '}');
}

static void
put_metrics(struct file *f, const struct result_run *run)
{
	struct json_out *o = &f->out;
	static const char *const names[] = {
		"task_completion", "trigger_accuracy"
	};
	size_t i;

	json_open_member(o, "metrics", '{');
	for (i = 0; i < COUNTOF(names); i++)
		put_metric(f, run, names[i]);
	json_close(o, '}');
}

/* The tests that were asked, in the order of their file. */
static void
put_triggers(struct file *f, const struct result_run *run)
{
	struct json_out *o = &f->out;
	const struct result_triggers *t = &run->triggers;
	struct result_record none = { 0 };
	size_t i;

	if (t->done == 0)
		return;
	f->piece.n = 0;
	result_put_accuracy(&f->piece, run);
	json_put_member_raw(o, "trigger_metrics", buf_str(&f->piece));
	json_open_member(o, "trigger_results", '[');
	for (i = 0; i < t->n && !f->bad; i++) {
		if (t->v[i].status == RESULT_NONE)
			continue;
		if (t->v[i].off >= 0 && run->journal.fd != -1 &&
		    copy_object(f, run, &t->v[i]))
			continue;
		none.task = i;
		none.status = t->v[i].status;
		f->piece.n = 0;
		result_put_trigger(&f->piece, f->scratch, run, &none);
		json_put_raw(o, buf_str(&f->piece));
	}
	json_close(o, ']');
}

static const char *
status(const struct result_run *run)
{
	if (result_only_answers(run))
		return "skipped";
	if (run->complete)
		return result_ok(run) ? "passed" : "failed";
	return run->cancelled ? "cancelled" : run->ended ? "failed" :
	    "running";
}

/* Members that are known after all runs of the call. */
static void
put_findings(struct json_out *o, const struct result_run *run)
{
	if (run->matrix.n > 0)
		json_put_member_raw(o, "matrix", run->matrix);
	if (run->recommendation.n + run->suggestion.n == 0)
		return;
	json_open_member(o, "metadata", '{');
	if (run->recommendation.n > 0)
		json_put_member_raw(o, "recommendation", run->recommendation);
	json_put_member_nonempty(o, "suggestion_report", run->suggestion);
	json_close(o, '}');
}

/* Recurses once: a baseline has none itself. */
static void
put_run(struct file *f, const struct result_run *run)
{
	struct json_out *o = &f->out;
	char when[RESULT_TIME_MAX];
	struct str stamp = { NULL, 0 };
	const struct result_task *t;
	size_t i;

	if (run->whole != NULL) {
		result_put_imported_file(o, run->whole);
		return;
	}
	result_time(when, run->started_ns);
	if (run->stored != NULL)
		stamp = run->stored->timestamp;
	json_open(o, '{');
	json_put_member_str(o, "eval_id", str_of(run->run_id == NULL ? "" :
	    run->run_id));
	json_put_member_str(o, "skill", run->suite->skill);
	json_put_member_str(o, "eval_name", run->suite->name);
	json_put_member_str(o, "timestamp", stamp.n > 0 ? stamp : str_of(when));
	result_put_config(&f->out, run);
	put_summary(f, run);
	put_metrics(f, run);
	json_open_member(o, "tasks", '[');
	for (i = 0; i < run->ntasks && !f->bad; i++) {
		t = result_at(run, i, false);
		if (t->status != RESULT_NONE || t->done > 0 ||
		    t->more->skipped != NULL)
			put_task(f, run, i);
	}
	json_close(o, ']');
	result_put_controls(o, run);
	put_source(f, run->suite->path, 0);
	result_put_other_members(o, run);
	put_triggers(f, run);
	put_findings(o, run);
	if (run->baseline != NULL) {
		json_put_member_bool(o, "is_baseline", true);
		json_put_key(o, STR("baseline_outcome"));
		put_run(f, run->baseline);
	}
	if (run->ref != NULL) {
		if (run->ref_effect.n > 0)
			json_put_member_raw(o, "ref_effect", run->ref_effect);
		json_put_key(o, str_of(result_arm_key(RESULT_ARM_REF)));
		put_run(f, run->ref);
	}
	json_put_member_str(o, "schema_version", STR("1.0"));
	json_put_member_str(o, "status", str_of(status(run)));
	if (run->skipped != NULL)
		json_put_member_cstr(o, "skip_reason", run->skipped);
	json_close(o, '}');
}

int
result_put_file(struct result_run *run, const struct result_sink *to,
    struct err *e)
{
	struct file f = { .to = *to, .err = e, .scratch = &run->scratch };
	struct arena_mark mark = arena_save(&run->scratch);
	struct result_run *base = run->baseline, *ref = run->ref;
	bool woken = result_wake(run);
	bool base_woken = base != NULL && result_wake(base);
	bool ref_woken = ref != NULL && result_wake(ref);
	bool file = to->buf == NULL && to->put == NULL;

	f.block = arena_raw(&run->scratch, BLOCK, 1);
	f.window = arena_raw(&run->scratch, BLOCK, 1);
	f.out = (struct json_out){ .put = file_put, .ctx = &f,
		.indent = file ? 2 : 0 };
	put_run(&f, run);
	run->journal.lost = f.lost;
	if (file)
		file_put(&f, "\n", 1);
	file_flush(&f);
	buf_free(&f.stats_text);
	buf_free(&f.piece);
	arena_restore(&run->scratch, mark);
	if (woken)
		os_close(&run->journal.fd);
	if (base_woken)
		os_close(&base->journal.fd);
	if (ref_woken)
		os_close(&ref->journal.fd);
	return f.bad ? -1 : 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * The engine `slurm`: the shards are an array of jobs.
 *
 * Only the queue is asked, since many clusters have no accounting: a job that
 * is not in it has ended.  Slurm forgets a job some minutes after its end, and
 * then reports its id as invalid; other failures of squeue (the controller is
 * restarted) are waited out, since the jobs run on.
 *
 * The file `job` of the run's directory has the id, and before sbatch has told
 * it, "name" and a name of the jobs that no others have.  If this process was
 * killed, --resume follows the jobs that are still in the queue.
 */
#include "cmd/scale/on.h"

#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "cmd/run.h"

enum { ASK_MS = 2000, ASK_SOON_MS = 300, SETTLE_MS = 10000, ID_MAX = 200,
	NAME_BYTES = 6, NAME_KEPT = 100 };

#define NAMED "name "	/* in the file, before a name */

struct slurm {
	struct on_call submit, find, ask, cancel;
	struct timer soon;	/* asks more often after a cancel */
	const char *id;		/* NULL: not submitted yet */
	const char *name;	/* of the jobs; NULL: not chosen yet */
	bool lost;		/* an earlier call may have submitted them, and
				 * was killed before it knew the id */
	const char *cluster;	/* NULL: the default one */
	bool adopts;		/* the id is of an earlier call */
	bool failing;		/* squeue failed, and the user knows */
};

static int
slurm_write(struct on *on, struct buf *b, struct err *e)
{
	(void)e;
	on_put_script(on, b, "$SLURM_ARRAY_TASK_ID");
	return 0;
}

/* In names of files, Slurm replaces % and a letter. */
static const char *
log_pattern(const struct on *on)
{
	struct buf b = { 0 };
	const char *p;

	buf_puts(&b, "--output=");
	for (p = on->dir; *p != '\0'; p++)
		buf_fmt(&b, *p == '%' ? "%%%%" : "%c", *p);
	buf_puts(&b, "/shard-%a.log");
	return arena_take(on->arena, &b).p;
}

/* The last value that --on-option gives to an option of sbatch, or NULL. */
static const char *
option(const struct on *on, const char *name, const char *letter)
{
	const char *found = NULL, *word;
	size_t i, n = strlen(name);

	for (i = 0; on->options != NULL && i < on->options->n; i++) {
		word = on->options->v[i];
		if (strncmp(word, name, n) == 0 && word[n] == '=')
			found = word + n + 1;
		else if (strcmp(word, name) == 0 || strcmp(word, letter) == 0)
			found = i + 1 < on->options->n ?
			    on->options->v[i + 1] : found;
		else if (strncmp(word, letter, 2) == 0)
			found = word + 2;
	}
	return found;
}

static const char *const *
slurm_command(struct on *on)
{
	const struct slurm *s = on->engine_state;
	struct on_words w = { .arena = on->arena };

	on_add(&w, "sbatch");
	on_add(&w, "--parsable");
	on_add(&w, "--job-name=waza");
	on_add(&w, arena_fmt(on->arena, "--array=%s", on_range(on)).p);
	on_add(&w, "--requeue");
	on_add(&w, "--open-mode=append");
	on_add(&w, log_pattern(on));
	on_add_all(&w, on->options);
	if (s != NULL && s->name != NULL)
		on_add(&w, arena_fmt(on->arena, "--job-name=%s", s->name).p);
	on_add(&w, on->file);
	return w.v;
}

/* A program with the id of the job as its last word. */
static void
call_about(struct on_call *c, const char *const *words, size_t n)
{
	const struct slurm *s = c->on->engine_state;
	struct on_words w = { .arena = c->on->arena };
	struct arena_mark mark = arena_save(c->on->arena);
	size_t i;

	for (i = 0; i < n; i++)
		on_add(&w, words[i]);
	if (s->cluster != NULL) {
		on_add(&w, "-M");
		on_add(&w, s->cluster);
	}
	on_add(&w, strcmp(words[0], "squeue") == 0 ? arena_fmt(w.arena,
	    "--jobs=%s", s->id).p : s->id);
	on_call(c, w.v);
	arena_restore(c->on->arena, mark);
}

/*
 * States.
 */
static bool
is_in(const char *const *list, size_t n, struct str word)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_is(word, list[i]))
			return true;
	return false;
}

/* A line of squeue: the number in the array and the state; 0: neither. */
static int64_t
read_line(struct str line, struct str *state)
{
	int64_t k = 0;
	size_t i;

	for (i = 0; i < line.n && line.p[i] >= '0' && line.p[i] <= '9' &&
	    k < INT32_MAX; i++)
		k = k * 10 + (line.p[i] - '0');
	*state = str_trim((struct str){ line.p + i, line.n - i });
	return k;
}

static bool
has_ended(struct str state)
{
	static const char *const ended[] = { "COMPLETED", "FAILED",
		"CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY",
		"BOOT_FAIL", "DEADLINE", "PREEMPTED", "REVOKED" };

	return is_in(ended, COUNTOF(ended), state);
}

static void
take_state(struct on *on, int64_t k, struct str state)
{
	static const char *const running[] = { "RUNNING", "COMPLETING",
		"STAGE_OUT", "SIGNALING", "SUSPENDED", "STOPPED" };
	char why[32];

	if (has_ended(state)) {
		snprintf(why, sizeof(why), "%.*s", STRF(state));
		on_ended(on, k, why);
	} else if (is_in(running, COUNTOF(running), state))
		on_began(on, k);
	else
		on_waits(on, k);
}

/* Jobs that are not in the queue have ended. */
static void
take_states(struct on *on, struct str out)
{
	struct arena a = { 0 };
	bool *seen = NEW_N(&a, bool, on->n);
	struct str line, state;
	int64_t k;
	size_t i;

	while (str_line(&out, &line)) {
		k = read_line(line, &state);
		if (k < 1 || (size_t)k > on->n)
			continue;
		take_state(on, k, state);
		seen[k - 1] = true;
	}
	for (i = 0; i < on->n; i++)
		if (!seen[i] && on->shards[i].wanted)
			on_ended(on, (int64_t)i + 1, "");
	arena_free(&a);
}

/* Whether a job of an earlier call waits or runs. */
static bool
any_active(struct str out)
{
	struct str line, state;

	while (str_line(&out, &line))
		if (read_line(line, &state) > 0 && !has_ended(state))
			return true;
	return false;
}

static bool
contains(struct str text, const char *words)
{
	size_t n = strlen(words), i;

	for (i = 0; i + n <= text.n; i++)
		if (memcmp(text.p + i, words, n) == 0)
			return true;
	return false;
}

static void start_jobs(struct on *);
static void find_jobs(struct on *);

static void
on_asked(struct on *on, struct on_call *c, int status)
{
	struct slurm *s = on->engine_state;
	struct str err = buf_str(&c->proc.err.buf), out;
	bool gone = status > 0 && contains(err, "Invalid job id");

	if (status != 0 && !gone) {
		if (!s->failing)
			on_say(on, "warning: squeue fails, waiting: %.*s",
			    STRF(str_trim(utf8_cut(err, 300))));
		s->failing = true;
		return;
	}
	s->failing = false;
	out = gone ? STR("") : buf_str(&c->proc.out.buf);
	if (s->adopts && !any_active(out)) {
		s->id = NULL;
		start_jobs(on);
	} else
		take_states(on, out);
	s->adopts = false;
}

static void
slurm_ask(struct on *on)
{
	static const char *const words[] = { "squeue", "--noheader",
		"--array", "--format=%K %T" };
	struct slurm *s = on->engine_state;

	if (s->lost && !s->find.busy)
		find_jobs(on);
	else if (s->id != NULL && !s->ask.busy)
		call_about(&s->ask, words, COUNTOF(words));
}

/*
 * Cancelling.
 */
static void
on_soon(void *arg)
{
	struct on *on = arg;
	struct slurm *s = on->engine_state;

	slurm_ask(on);
	timer_start(on->run->job.loop, &s->soon, ASK_SOON_MS);
}

static void
on_cancelled(struct on *on, struct on_call *c, int status)
{
	if (status != 0)
		on_say(on, "scancel failed: %.*s", STRF(str_trim(utf8_cut(
		    buf_str(&c->proc.err.buf), 300))));
	on_soon(on);
}

/* While sbatch runs, on_submitted() does it. */
static void
slurm_cancel(struct on *on)
{
	static const char *const words[] = { "scancel" };
	struct slurm *s = on->engine_state;

	if (s->id != NULL)
		call_about(&s->cancel, words, COUNTOF(words));
}

/*
 * Submitting.
 */

/* "ID" or "ID;CLUSTER"; false: it is neither. */
static bool
take_id(struct on *on, struct str word)
{
	struct slurm *s = on->engine_state;
	char *id = arena_cstr(on->arena, str_trim(word)), *semicolon;

	if (id == NULL || *id < '0' || *id > '9' || strlen(id) > ID_MAX ||
	    strpbrk(id, "\n \t") != NULL)
		return false;
	semicolon = strchr(id, ';');
	if (semicolon != NULL) {
		*semicolon = '\0';
		s->cluster = semicolon + 1;
	}
	s->id = id;
	on->job = arena_fmt(on->arena, "Slurm job %s", id).p;
	on->undo = arena_fmt(on->arena, "scancel%s%s %s", s->cluster != NULL ?
	    " -M " : "", s->cluster != NULL ? s->cluster : "", id).p;
	return true;
}

static const char *
id_file(const struct on *on)
{
	return arena_fmt(on->arena, "%s/job", on->dir).p;
}

static void
on_submitted(struct on *on, struct on_call *c, int status)
{
	struct str out = buf_str(&c->proc.out.buf);
	struct err e = { 0 };

	if (status != 0 || !take_id(on, out)) {
		on_broke(on, status != 0 ? "sbatch refused the jobs" :
		    "sbatch printed no job id", buf_str(&c->proc.err.buf));
		return;
	}
	if (os_write_file(id_file(on), out, &e) == -1)
		on_say(on, "warning: %s", e.msg);
	if (!on->run->job.opt->quiet)
		on_say(on, "submitted %s", on->job);
	if (on->cancelled)
		slurm_cancel(on);
}

/* Chooses a name for the jobs, and keeps it before sbatch is called. */
static int
choose_name(struct on *on, struct err *e)
{
	struct slurm *s = on->engine_state;
	const char *given = option(on, "--job-name", "-J");
	unsigned char random[NAME_BYTES];
	struct buf b = { 0 };
	size_t i;

	if (os_random(random, sizeof(random), e) == -1)
		return -1;
	given = given != NULL ? given : "waza";
	i = strcspn(given, ",");	/* squeue takes a list of names */
	buf_fmt(&b, "%.*s-", (int)(i < NAME_KEPT ? i : NAME_KEPT), given);
	for (i = 0; i < sizeof(random); i++)
		buf_fmt(&b, "%02x", random[i]);
	s->name = arena_take(on->arena, &b).p;
	return os_write_file(id_file(on), arena_fmt(on->arena, NAMED "%s\n",
	    s->name), e);
}

static void
start_jobs(struct on *on)
{
	struct slurm *s = on->engine_state;
	struct err e = { 0 };

	if (on->cancelled)
		on_broke(on, "interrupted before sbatch", STR(""));
	else if (choose_name(on, &e) == -1)
		on_broke(on, "the name of the jobs could not be kept",
		    str_of(e.msg));
	else
		on_call(&s->submit, on->engine->command(on));
}

/* The queue has lines with the id of the array, or nothing. */
static void
on_found(struct on *on, struct on_call *c, int status)
{
	struct slurm *s = on->engine_state;
	struct str out = buf_str(&c->proc.out.buf), line = STR("");
	struct err e = { 0 };
	bool found = false;

	if (status != 0) {
		if (!s->failing)
			on_say(on, "warning: squeue fails, waiting: %.*s",
			    STRF(str_trim(utf8_cut(buf_str(&c->proc.err.buf),
			    300))));
		s->failing = true;
		return;
	}
	s->failing = s->lost = false;
	while (!found && str_line(&out, &line))
		found = take_id(on, line);
	if (!found) {
		start_jobs(on);
		return;
	}
	if (os_write_file(id_file(on), arena_fmt(on->arena, "%s%s%s\n", s->id,
	    s->cluster != NULL ? ";" : "", s->cluster != NULL ? s->cluster :
	    ""), &e) == -1)
		on_say(on, "warning: %s", e.msg);
	if (on->cancelled)
		slurm_cancel(on);
	else
		slurm_ask(on);
}

static void
find_jobs(struct on *on)
{
	struct slurm *s = on->engine_state;
	struct on_words w = { .arena = on->arena };
	struct arena_mark mark = arena_save(on->arena);

	on_add(&w, "squeue");
	on_add(&w, "--noheader");
	if (s->cluster != NULL) {
		on_add(&w, "-M");
		on_add(&w, s->cluster);
	}
	on_add(&w, "--format=%F");
	on_add(&w, arena_fmt(on->arena, "--name=%s", s->name).p);
	on_call(&s->find, w.v);
	arena_restore(on->arena, mark);
}

/* What an earlier call left in the file; false: it has submitted nothing. */
static bool
take_kept(struct on *on)
{
	struct slurm *s = on->engine_state;
	struct str kept;
	struct err e;

	if (os_read_plain(on->arena, id_file(on), ID_MAX, &kept, &e) == -1)
		return false;
	if (str_starts(kept, STR(NAMED))) {
		kept.p += strlen(NAMED);
		kept.n -= strlen(NAMED);
		s->name = arena_cstr(on->arena, str_trim(kept));
		s->cluster = option(on, "--clusters", "-M");
		s->lost = s->name != NULL && s->name[0] != '\0';
		return s->lost;
	}
	s->adopts = take_id(on, kept);
	return s->adopts;
}

static int
slurm_submit(struct on *on, struct err *e)
{
	struct slurm *s = NEW(on->arena, struct slurm);

	(void)e;
	s->submit = (struct on_call){ .on = on, .done = on_submitted };
	s->find = (struct on_call){ .on = on, .done = on_found };
	s->ask = (struct on_call){ .on = on, .done = on_asked };
	s->cancel = (struct on_call){ .on = on, .done = on_cancelled };
	s->soon = (struct timer){ .fn = on_soon, .arg = on };
	on->engine_state = s;
	if (take_kept(on))
		slurm_ask(on);
	else
		start_jobs(on);
	return 0;
}

static void
slurm_close(struct on *on)
{
	struct slurm *s = on->engine_state;

	if (s == NULL)
		return;
	timer_stop(on->run->job.loop, &s->soon);
	proc_fini(&s->submit.proc);
	proc_fini(&s->find.proc);
	proc_fini(&s->ask.proc);
	proc_fini(&s->cancel.proc);
}

const struct on_engine on_slurm = {
	.name = "slurm", .programs = { "sbatch", "squeue", "scancel" },
	.file = "job.sh", .ask_ms = ASK_MS, .settle_ms = SETTLE_MS,
	.write = slurm_write, .command = slurm_command,
	.submit = slurm_submit, .ask = slurm_ask, .cancel = slurm_cancel,
	.close = slurm_close
};

/* SPDX-License-Identifier: ISC */
/*
 * The engine `kubernetes`: the shards are the pods of an indexed Job.
 *
 *	create	ConfigMap and Job
 *	get	states of Job and pods, until all shards are done
 *	logs	of each pod that succeeded, or failed for the last time
 *	delete	Job and ConfigMap; then the last shard has ended
 *
 * Job and ConfigMap are deleted in every case, also after Ctrl-C or a failure
 * of kubectl, before the run ends.
 */
#include "cmd/scale/kube_engine.h"

#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "cmd/run.h"

enum {
	ASK_MS = 2000,
	LOST_MAX = 30,		/* failed answers, about a minute */
	STUCK_MS = 10 * 60 * 1000	/* until a pod must have started */
};

static void
say(struct kube *k, const char *text)
{
	report_console_clear(&k->on->run->job.console);
	cmd_say("waza: %s\n", text);
}

/*
 * The Job's end.
 */
static const char *
selector(const struct kube *k)
{
	return arena_fmt(k->on->arena, "--selector=" KUBE_LABEL "=%s",
	    k->plan.name).p;
}

static const char *const *
delete_words(const struct kube *k)
{
	struct on_words w = kube_command(k);

	on_add(&w, "delete");
	on_add(&w, "job,configmap");
	on_add(&w, selector(k));
	on_add(&w, "--cascade=foreground");
	on_add(&w, "--wait=true");
	on_add(&w, "--timeout=25s");
	on_add(&w, "--ignore-not-found");
	return w.v;
}

static void
on_deleted(struct on *on, struct on_call *c, int status)
{
	struct kube *k = on->engine_state;
	size_t i;

	if (status != 0) {
		say(k, "the Job could not be deleted:");
		cmd_say("%.*s", STRF(utf8_cut(buf_str(&c->proc.err.buf),
		    1000)));
		cmd_say("waza: delete it with: %s\n", on->undo);
	}
	if (k->broken != NULL)
		on_broke(on, k->broken, buf_str(&k->output));
	for (i = 0; i < k->n; i++)
		on_ended(on, k->shards[i].k, k->shards[i].done ?
		    k->shards[i].why : "cancelled");
}

static void
delete(struct kube *k)
{
	if (k->delete.busy || !k->created)
		return;
	k->delete = (struct on_call){ .on = k->on, .done = on_deleted };
	on_call(&k->delete, delete_words(k));
}

/* Nothing more can be expected; the reason is printed after the deletion. */
static void
give_up(struct kube *k, const char *what, struct str output)
{
	k->broken = what;
	k->cancelled = true;
	k->output.n = 0;
	buf_put(&k->output, output);
	kube_fetch_end(k);
	delete(k);
}

void
kube_shard_done(struct kube *k, struct kube_shard *s, const char *why)
{
	if (s->done || k->cancelled)
		return;
	s->done = true;
	if (why != s->why)
		snprintf(s->why, sizeof(s->why), "%s", why);
	if (--k->left == 0 && !k->keep) {
		delete(k);
		return;
	}
	if (k->left == 0)
		say(k, arena_fmt(k->on->arena, "the Job is kept; delete it "
		    "with: %s", k->on->undo).p);
	on_ended(k->on, s->k, s->why);
}

/*
 * States.
 */
static void
take_pod(struct kube *k, const struct kube_line *l)
{
	struct kube_shard *s;

	if (l->index >= k->n)
		return;
	s = &k->shards[l->index];
	if (l->phase == KUBE_FAILED && !s->done) {
		s->failed++;
		memcpy(s->why, l->why, sizeof(s->why));
	}
	if (s->fetching || s->done || (l->phase < s->phase &&
	    s->pod[0] != '\0'))
		return;
	s->phase = l->phase;
	snprintf(s->pod, sizeof(s->pod), "%.*s", STRF(utf8_cut(l->name,
	    sizeof(s->pod) - 1)));
}

/* A pod that failed and is tried again, and why pods do not start. */
static void
tell(struct kube *k, struct kube_shard *s)
{
	char text[400];

	if (s->failed <= s->told)
		return;
	s->told = s->failed;
	if (s->over)
		return;
	snprintf(text, sizeof(text), "shard %lld/%lld: a pod failed%s%s%s; "
	    "Kubernetes starts another one", (long long)s->k,
	    (long long)k->plan.shards, s->why[0] != '\0' ? " (" : "", s->why,
	    s->why[0] != '\0' ? ")" : "");
	say(k, text);
}

static void
tell_waits(struct kube *k, const struct kube_line *l)
{
	if (k->told != NULL && str_is(l->waits, k->told))
		return;
	k->told = arena_str(k->on->arena, utf8_cut(l->waits, 100)).p;
	say(k, arena_fmt(k->on->arena, "pod %.*s does not start: %s",
	    STRF(utf8_cut(l->name, 100)), k->told).p);
}

static void
act(struct kube *k, struct kube_shard *s)
{
	if (k->cancelled)
		return;
	tell(k, s);
	if (s->over || s->phase == KUBE_SUCCEEDED)
		kube_fetch(k, s);
	else if (s->phase == KUBE_RUNNING)
		on_began(k->on, s->k);
	else
		on_waits(k->on, s->k);
}

/* The state of everything, anew; job: the line of the Job. */
static void
take_states(struct kube *k, struct str text, struct kube_line *job,
    struct kube_line *waits)
{
	struct kube_line l;
	struct kube_shard *s;

	for (s = k->shards; s < k->shards + k->n; s++) {
		s->failed = 0;
		if (s->fetching || s->done)
			continue;
		s->phase = KUBE_PENDING;
		s->pod[0] = s->why[0] = '\0';
	}
	while (kube_state_line(&text, &l)) {
		if (l.is_job)
			*job = l;
		else
			take_pod(k, &l);
		if (l.waits.n > 0)
			*waits = l;
	}
}

/* Whether pods could not be started for too long. */
static bool
is_stuck(struct kube *k, const struct kube_line *waits)
{
	size_t i;

	for (i = 0; i < k->n; i++)
		if (k->shards[i].phase == KUBE_RUNNING ||
		    k->shards[i].fetching)
			waits = NULL;
	if (waits == NULL || waits->waits.n == 0)
		k->stuck_ms = 0;
	else if (k->stuck_ms == 0)
		k->stuck_ms = os_now_ms();
	return k->stuck_ms != 0 && os_now_ms() - k->stuck_ms > STUCK_MS;
}

static void
on_states(struct kube *k, struct str text)
{
	struct kube_line job = { .is_job = false }, waits = { .index = 0 };
	struct kube_shard *s;
	size_t i;

	take_states(k, text, &job, &waits);
	if (!job.is_job) {
		give_up(k, "the Job was deleted by somebody else", STR(""));
		return;
	}
	if (waits.waits.n > 0)
		tell_waits(k, &waits);
	if (is_stuck(k, &waits)) {
		give_up(k, "no pod could start for ten minutes", STR(""));
		return;
	}
	for (i = 0; i < k->n; i++) {
		s = &k->shards[i];
		if (s->fetching || s->done)
			continue;
		s->over = s->phase != KUBE_SUCCEEDED && (job.failed.n > 0 ||
		    kube_state_has(job.failed_indexes, i));
		if (s->over && s->why[0] == '\0')
			snprintf(s->why, sizeof(s->why), "%.*s",
			    STRF(utf8_cut(job.failed, 60)));
		act(k, s);
	}
}

static void
on_got(struct on *on, struct on_call *c, int status)
{
	struct kube *k = on->engine_state;

	if (k->cancelled)
		return;
	if (status == 0) {
		k->lost = 0;
		on_states(k, buf_str(&c->proc.out.buf));
	} else if (++k->lost > LOST_MAX)
		give_up(k, "kubectl get fails", buf_str(&c->proc.err.buf));
}

static void
kube_ask(struct on *on)
{
	struct kube *k = on->engine_state;
	struct on_words w;

	if (!k->created || k->cancelled || k->get.busy || k->left == 0)
		return;
	w = kube_command(k);
	on_add(&w, "get");
	on_add(&w, "jobs,pods");
	on_add(&w, selector(k));
	on_add(&w, "--output=" KUBE_QUERY);
	on_call(&k->get, w.v);
}

/*
 * The beginning.
 */
static void
on_created(struct on *on, struct on_call *c, int status)
{
	struct kube *k = on->engine_state;

	k->created = true;
	if (k->cancelled)
		delete(k);
	else if (status != 0)
		give_up(k, "kubectl create failed", buf_str(&c->proc.err.buf));
}

static int
kube_write(struct on *on, struct buf *b, struct err *e)
{
	struct kube *k = on->engine_state;
	int64_t *list = NEW_N(on->arena, int64_t, on->n);
	size_t i;

	(void)e;
	k->plan.nlist = 0;
	for (i = 0; i < on->n; i++)
		if (on->shards[i].wanted)
			list[k->plan.nlist++] = on->shards[i].k;
	k->plan.list = k->plan.nlist < on->n ? list : NULL;
	kube_manifest(b, &k->plan);
	return 0;
}

static const char *const *
kube_create(struct on *on)
{
	struct on_words w = kube_command(on->engine_state);

	on_add(&w, "create");
	on_add(&w, "--filename");
	on_add(&w, on->file);
	return w.v;
}

static void
list_shards(struct kube *k)
{
	struct on *on = k->on;
	size_t i;

	k->shards = NEW_N(on->arena, struct kube_shard, on->n);
	for (i = 0; i < on->n; i++)
		if (on->shards[i].wanted)
			k->shards[k->n++].k = on->shards[i].k;
	k->left = k->n;
}

static int
kube_submit(struct on *on, struct err *e)
{
	struct kube *k = on->engine_state;
	const char *const *v = delete_words(k);
	struct buf b = { 0 };
	size_t n;

	(void)e;
	for (n = 0; v[n] != NULL; n++)
		;
	on_quote_words(&b, v, n);
	on->undo = arena_take(on->arena, &b).p;
	on->job = k->plan.name;
	k->wants = NEW_N(on->arena, struct kube_want, on->run->nunits);
	list_shards(k);
	k->create = (struct on_call){ .on = on, .done = on_created };
	k->get = (struct on_call){ .on = on, .done = on_got };
	on_call(&k->create, kube_create(on));
	return 0;
}

static void
kube_cancel(struct on *on)
{
	struct kube *k = on->engine_state;

	k->cancelled = true;
	kube_fetch_end(k);
	delete(k);
}

static void
kube_close(struct on *on)
{
	struct kube *k = on->engine_state;

	if (k == NULL)
		return;
	kube_fetch_end(k);
	proc_fini(&k->create.proc);
	proc_fini(&k->get.proc);
	proc_fini(&k->delete.proc);
	buf_free(&k->output);
}

const struct on_engine on_kubernetes = {
	.name = "kubernetes", .programs = { "kubectl" }, .file = "job.json",
	.ask_ms = ASK_MS, .check = kube_options, .write = kube_write,
	.command = kube_create, .submit = kube_submit, .ask = kube_ask,
	.cancel = kube_cancel, .close = kube_close
};

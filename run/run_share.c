/* SPDX-License-Identifier: ISC */
/*
 * Slots that several runs share.
 *
 * A run that finds no free slot is starved until another run leaves one free
 * after it has started all that it can.  Invariant: if a slot is free when no
 * run_pump() is on the stack, either no run is starved, or one of them has been
 * woken by its timer, or spare() was called since.  A run that waits for the
 * budget is starved, too, until another one has spent less than expected, or
 * the budget has ended.
 *
 * Runs that alternate start their trials in turn: one that has started more
 * trials than another with trials left waits for it, and is starved as well.
 * So whatever changes over time (a service, the load of the machine) affects
 * all of them alike.
 */
#include "run/run_internal.h"

static size_t
busy(const struct run *run)
{
	return run->queue.busy + run_triggers_busy(run);
}

/* Whether trials may be left to start. */
static bool
has_work(const struct run *run)
{
	const struct run_queue *q = &run->queue;

	return run->phase <= RUN_GOING && !run->cancelled &&
	    !run->unusable && run->broke == NULL && (q->open != 0 ||
	    (!run_is_stopped(run) && q->first_new < run->results.ntasks));
}

/* Whether another run of the share has to start a trial first. */
static bool
must_wait(const struct run *run)
{
	const struct run_share *s = run->opts.share;
	const struct run *r;

	for (r = s->alternate ? s->first : NULL; r != NULL;
	    r = r->next_shared)
		if (r != run && r->queue.started < run->queue.started &&
		    has_work(r))
			return true;
	return false;
}

size_t
run_slots(const struct run *run)
{
	const struct run_share *s = run->opts.share;
	size_t own = run->queue.alone ? 1 : run->queue.nslots;
	size_t room = run_budget_room(run);

	if (s != NULL && (s->busy >= s->slots || must_wait(run)))
		room = 0;
	else if (s != NULL && s->slots - s->busy < room)
		room = s->slots - s->busy;
	return own > busy(run) && room < own - busy(run) ? busy(run) + room :
	    own;
}

bool
run_has_slot(const struct run_share *s)
{
	return s->busy < s->slots;
}

bool
run_lacks_slot(const struct run *run)
{
	const struct run_share *s = run->opts.share;

	return ((s != NULL && (s->busy >= s->slots || must_wait(run))) ||
	    run_budget_room(run) == 0) && has_work(run);
}

void
run_take_slot(struct run *run)
{
	run->queue.started++;
	if (run->opts.share != NULL)
		run->opts.share->busy++;
}

void
run_release_slot(struct run *run)
{
	if (run->opts.share != NULL)
		run->opts.share->busy--;
}

void
run_join(struct run *run)
{
	struct run_share *s = run->opts.share;

	if (s == NULL)
		return;
	run->prev_shared = s->last;
	if (s->last != NULL)
		s->last->next_shared = run;
	else
		s->first = run;
	s->last = run;
}

void
run_leave(struct run *run)
{
	struct run_share *s = run->opts.share;

	if (s == NULL || (s->first != run && run->prev_shared == NULL))
		return;
	if (run->next_shared != NULL)
		run->next_shared->prev_shared = run->prev_shared;
	else
		s->last = run->prev_shared;
	if (run->prev_shared != NULL)
		run->prev_shared->next_shared = run->next_shared;
	else
		s->first = run->next_shared;
	run->next_shared = run->prev_shared = NULL;
}

/* Wakes the starved runs, the oldest first, as far as the free slots go. */
static bool
wake(struct run_share *s)
{
	size_t room = s->slots - s->busy, n = 0;
	struct run *r;

	for (r = s->first; r != NULL && n < room; r = r->next_shared) {
		if (!r->queue.starved || must_wait(r) ||
		    (run_budget_room(r) == 0 && !run_budget_ended(r)))
			continue;
		r->queue.starved = false;
		timer_start(r->loop, &r->queue.again, 0);
		n++;
	}
	return n > 0;
}

void
run_settle_share(struct run *run)
{
	struct run_share *s = run->opts.share;

	if (s == NULL)
		return;
	if (s->busy >= s->slots || must_wait(run) ||
	    (run_budget_room(run) == 0 && !run_budget_ended(run)))
		run->queue.starved = run->phase == RUN_GOING;
	if (s->busy < s->slots && !wake(s) && s->spare != NULL)
		s->spare(s->arg);
}

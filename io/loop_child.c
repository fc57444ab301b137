/* SPDX-License-Identifier: ISC */
/*
 * The children of a loop: found by their process id, reaped after SIGCHLD.
 *
 * Invariants: a watched child is in children[pid % LOOP_CHILDREN]; next_child,
 * the next element of a walk, is in its list or NULL.
 */
#include "io/loop_internal.h"

#include <assert.h>
#include <errno.h>
#include <sys/wait.h>

#include "base/base.h"
#include "base/os.h"
#include "base/os_child.h"

void
child_start(struct loop *l, struct child *c)
{
	struct child **head = &l->children[(size_t)c->pid % LOOP_CHILDREN];

	assert(c->prev == NULL && c->pid > 0);
	LIST_PUSH(head, c);
	l->nchildren++;
}

void
child_stop(struct loop *l, struct child *c)
{
	if (c->prev == NULL)
		return;
	if (l->next_child == c)
		l->next_child = c->next;
	LIST_REMOVE(c);
	c->prev = NULL;
	l->nchildren--;
}

static void
free_forgotten(void *arg, int wstatus)
{
	(void)wstatus;
	loop_release(arg);
}

void
child_forget(struct loop *l, pid_t pid)
{
	struct child *c = loop_resize(NULL, 1, sizeof(*c));

	*c = (struct child){ .pid = pid, .fn = free_forgotten, .arg = c };
	child_start(l, c);
}

/* True if the child has ended; its callback may have freed c then. */
static bool
reap(struct loop *l, struct child *c)
{
	int status;
	pid_t r;

	do
		r = waitpid(c->pid, &status, WNOHANG);
	while (r == -1 && errno == EINTR);
	if (r == 0)
		return false;
	child_stop(l, c);
	c->fn(c->arg, r == -1 ? -1 : status);
	return true;
}

static struct child *
find_child(const struct loop *l, pid_t pid)
{
	struct child *c = l->children[(size_t)pid % LOOP_CHILDREN];

	while (c != NULL && c->pid != pid)
		c = c->next;
	return c;
}

bool
child_watched(const struct loop *l, pid_t pid)
{
	return find_child(l, pid) != NULL;
}

static void
reap_each(struct loop *l)
{
	struct child *c;
	size_t i;

	for (i = 0; i < LOOP_CHILDREN; i++) {
		for (c = l->children[i]; c != NULL; c = l->next_child) {
			l->next_child = c->next;
			reap(l, c);
		}
	}
}

size_t
child_reap(struct loop *l, bool give_up)
{
	struct child *c, *next;
	size_t i, left = 0;

	for (i = 0; i < LOOP_CHILDREN; i++) {
		for (c = l->children[i]; c != NULL; c = next) {
			next = c->next;
			if (c->fn != free_forgotten || reap(l, c))
				continue;
			left++;
			if (give_up) {
				child_stop(l, c);
				loop_release(c);
			}
		}
	}
	return left;
}

/*
 * If k of n children have ended, this takes k calls where the system can peek
 * for ended children.  It takes n calls where it cannot, where an ended child
 * without a watch hides the others, or where someone else reaped ours.
 */
void
child_reap_all(struct loop *l)
{
	struct child *c;
	pid_t pid;

	while (l->nchildren > 0 || l->adopts) {
		pid = os_peek_child();
		if (pid == 0)
			return;
		c = pid == -1 ? NULL : find_child(l, pid);
		if (c != NULL) {
			if (!reap(l, c))
				return;
		} else if (pid == -1 || !l->adopts) {
			reap_each(l);
			return;
		} else if (waitpid(pid, NULL, WNOHANG) <= 0)
			return;
	}
}

bool
loop_adopt(struct loop *l)
{
	if (!l->adopts)
		l->adopts = os_subreaper(true);
	return l->adopts;
}

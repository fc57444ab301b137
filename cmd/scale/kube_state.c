/* SPDX-License-Identifier: ISC */
/* kube_state.c: the states of a Job and its pods, as kubectl prints them. */
#include "cmd/scale/kube.h"

#include <stdio.h>
#include <string.h>

enum { KIND, NAME, INDEX, PHASE, WAITS, ENDED, STATUS, REASON, INDEXES, FAILED,
	COLUMNS };

/* A number at the front of a text, which loses it. */
static bool
take_number(struct str *s, size_t *n)
{
	size_t i;

	for (*n = i = 0; i < s->n && i < 9 && s->p[i] >= '0' &&
	    s->p[i] <= '9'; i++)
		*n = *n * 10 + (size_t)(s->p[i] - '0');
	s->p += i;
	s->n -= i;
	return i > 0;
}

bool
kube_state_has(struct str list, size_t i)
{
	size_t first, last;

	while (take_number(&list, &first)) {
		last = first;
		if (list.n > 0 && list.p[0] == '-') {
			list.p++;
			list.n--;
			if (!take_number(&list, &last))
				return false;
		}
		if (i >= first && i <= last)
			return true;
		if (list.n == 0 || list.p[0] != ',')
			return false;
		list.p++;
		list.n--;
	}
	return false;
}

static size_t
split(struct str line, struct str v[COLUMNS])
{
	const char *tab;
	size_t n = 0;

	for (;;) {
		tab = line.n > 0 ? memchr(line.p, '\t', line.n) : NULL;
		v[n] = (struct str){ line.p, tab != NULL ?
		    (size_t)(tab - line.p) : line.n };
		n++;
		if (tab == NULL || n == COLUMNS)
			return n;
		line.n -= (size_t)(tab + 1 - line.p);
		line.p = tab + 1;
	}
}

/* "OOMKilled, exit status 137", or why the pod was ended: "Evicted". */
static void
explain(struct kube_line *l, const struct str v[COLUMNS])
{
	struct str why = v[REASON].n > 0 ? v[REASON] : v[ENDED];

	snprintf(l->why, sizeof(l->why), "%.*s%s%.*s",
	    STRF(utf8_cut(why, 40)), v[STATUS].n == 0 ? "" : why.n > 0 ?
	    ", exit status " : "exit status ", STRF(utf8_cut(v[STATUS], 10)));
}

static bool
read_pod(struct kube_line *l, const struct str v[COLUMNS])
{
	static const struct {
		const char *name;
		enum kube_phase phase;
	} phases[] = { { "Running", KUBE_RUNNING }, { "Failed", KUBE_FAILED },
		{ "Succeeded", KUBE_SUCCEEDED } };
	struct str index = v[INDEX];
	size_t i;

	if (!take_number(&index, &l->index) || index.n > 0)
		return false;
	for (i = 0; i < COUNTOF(phases); i++)
		if (str_is(v[PHASE], phases[i].name))
			l->phase = phases[i].phase;
	if (!str_is(v[WAITS], "ContainerCreating") &&
	    !str_is(v[WAITS], "PodInitializing"))
		l->waits = v[WAITS];
	explain(l, v);
	return true;
}

bool
kube_state_line(struct str *text, struct kube_line *l)
{
	struct str line, v[COLUMNS];

	while (str_line(text, &line)) {
		if (split(line, v) != COLUMNS)
			continue;
		*l = (struct kube_line){ .is_job = str_is(v[KIND], "Job"),
			.name = v[NAME], .waits = STR(""), .failed = STR(""),
			.failed_indexes = STR("") };
		if (l->is_job) {
			l->failed_indexes = v[INDEXES];
			l->failed = v[FAILED];
			return true;
		}
		if (str_is(v[KIND], "Pod") && read_pod(l, v))
			return true;
	}
	return false;
}

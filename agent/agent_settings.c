/* SPDX-License-Identifier: ISC */
/* What an executor goes by, wherever it is written. */
#include "agent/agent_internal.h"

#include "json.h"
#include "suite/spec.h"

static void
add(struct arena *a, struct json *obj, struct json ***tail,
    const struct json *from)
{
	const struct json *v;
	struct json *copy;

	if (from == NULL || from->type != JSON_OBJECT)
		return;
	for (v = json_first(from); v != NULL; v = v->next) {
		copy = NEW(a, struct json);
		*copy = *v;
		copy->next = NULL;
		**tail = copy;
		*tail = &copy->next;
		obj->n++;
	}
}

/* Of members with the same name the last wins, so the order is the rank. */
const struct json *
agent_settings(struct arena *a, const struct spec_suite *s, const char *name)
{
	const struct spec_config *c = &s->config;
	struct json_mem mem = { arena_hook, a };
	struct json *obj = NEW(a, struct json), **tail = &obj->u.child;
	size_t i;

	obj->type = JSON_OBJECT;
	add(a, obj, &tail, json_getc(s->executors, name));
	add(a, obj, &tail, c->tree);
	add(a, obj, &tail, json_getc(c->executors, name));
	add(a, obj, &tail, json_getc(c->tree, name));
	for (i = 0; i < COUNTOF(c->judging); i++) {
		add(a, obj, &tail, c->judging[i].block);
		add(a, obj, &tail, json_getc(c->judging[i].block, name));
	}
	json_seal(&mem, obj, true);
	return obj;
}

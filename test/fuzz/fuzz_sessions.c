/* SPDX-License-Identifier: ISC */
/*
 * Input: the file of a saved session.  A server that starts logs why it is not
 * read, or has the session; the file that it then saves has the same session.
 */
#include "rpc/session_internal.h"
#include "test/fuzz/scratch.h"
#include "test/tool/help.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct config set;
static struct rpc rpc;
static struct sessions *all;
static size_t logged;

static void
on_log(void *arg, const char *message)
{
	(void)arg;
	assert(message[0] != '\0');
	logged++;
}

static void
begin(const char *dir)
{
	struct err e = { 0 };

	set = config_defaults;
	set.sessions.idle_seconds = INT32_MAX;
	set.sessions.persist_dir = str_of(dir);
	rpc = (struct rpc){ .setup.settings = &set };
	rpc.loop = loop_new(fake_clock, &e);
	rpc_init(&rpc);
	all = sessions_new(&rpc, &(struct session_opts){ .log = on_log });
	logged = 0;
	assert(session_restore(all, &e) == 0);
	assert(all->n + logged == 1);
}

static void
finish(void)
{
	rpc_fini(&rpc);
	loop_free(rpc.loop);
}

static size_t
count(const struct session_turn *t)
{
	size_t n = 0;

	for (; t != NULL; t = t->next) {
		assert(utf8_valid(buf_str(&t->asked)));
		n++;
	}
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	const char *dir = scratch_dir(), *path = arena_fmt(&a,
	    "%s/session-550e8400-e29b-41d4-a716-446655440000.json", dir).p;
	char id[SESSION_ID];
	struct err e = { 0 };
	size_t turns;
	int64_t fixes;

	scratch_put(path, data, size);
	begin(dir);
	if (all->n == 1) {
		memcpy(id, all->head->id, sizeof(id));
		turns = count(all->head->turns);
		fixes = all->head->fixes;
		assert(session_save(all->head, &e) == 0);
		finish();
		begin(dir);
		assert(all->n == 1 && all->head->fixes == fixes);
		assert(session_find(all, str_of(id)) == all->head);
		assert(count(all->head->turns) == turns);
	}
	finish();
	unlink(path);
	arena_free(&a);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * Mocks of a suite and executors: which can take them, and the environment in
 * which an agent finds mocked commands.
 */
#include "agent/agent_internal.h"

#include <string.h>

#include "base/os_spawn.h"
#include "json.h"
#include "mock/mock.h"
#include "suite/spec.h"

bool
agent_takes_mocks(const struct agent_kind *k)
{
	return k->needs == AGENT_NEEDS_COMMAND ||
	    k->needs == AGENT_NEEDS_PROGRAM;
}

char *
agent_mock_file(struct arena *a, const char *mocks, size_t i)
{
	return arena_cstr(a, arena_fmt(a, "%s/mcp-%zu.json", mocks, i));
}

/*
 * Login shells set PATH again; bash reads the file of BASH_ENV after that.  The
 * file reads that of WAZA_BASH_ENV first.
 */
const char *const *
agent_mocks_env(const struct agent *a, struct arena *mem,
    const struct agent_request *r, const char *const *env)
{
	const char *path, *bash, *end, *set[4];
	size_t n = 0;

	if (a->mock_bin == NULL || (r != NULL && r->mocks == NULL))
		return env;
	path = os_env_value(env, "PATH");
	bash = os_env_value(env, "BASH_ENV");
	end = strrchr(a->mock_bin, '/');
	set[n++] = arena_fmt(mem, "PATH=%s:%s", a->mock_bin, path != NULL ?
	    path : "/usr/bin:/bin").p;
	set[n++] = arena_fmt(mem, "BASH_ENV=%.*s/bash_env",
	    (int)(end - a->mock_bin), a->mock_bin).p;
	set[n++] = arena_fmt(mem, "WAZA_BASH_ENV=%s", bash != NULL ? bash :
	    "").p;
	set[n++] = r == NULL ? MOCK_SESSION : arena_fmt(mem, MOCK_SESSION
	    "=%s", r->mocks).p;
	return os_env_change(mem, env, set, n);
}

static void
check_list(const struct agent_kind *k, const struct json *v, const char *file,
    struct spec_notes *notes)
{
	if (json_first(v) != NULL && !agent_takes_mocks(k) && !k->replays &&
	    !k->scripted)
		spec_note(notes, FIELD_ERROR, spec_at(file, v),
		    "\"%.*s\" cannot be given to executor \"%s\"; use an "
		    "executor that starts an agent", STRF(json_key(v)),
		    k->name);
}

/* Without its mocks a suite would act on the real world. */
void
agent_mocks_check(const struct agent_kind *k, const struct spec_suite *s,
    struct spec_notes *notes)
{
	const struct json *before = NULL;
	size_t i;

	if (notes->stored)
		return;
	check_list(k, s->mcp_mocks, s->path, notes);
	check_list(k, s->command_mocks, s->path, notes);
	for (i = 0; i < s->ntasks; i++) {
		/* rows of a CSV table share one list */
		if (s->tasks[i].def->command_mocks != before)
			check_list(k, s->tasks[i].def->command_mocks,
			    s->tasks[i].at.file, notes);
		before = s->tasks[i].def->command_mocks;
	}
}

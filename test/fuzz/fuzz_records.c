/* SPDX-License-Identifier: ISC */
/*
 * Input: a recording that is played.  The answer is an error with a reason, or
 * text; its files are written in the workspace and nowhere else.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "io/loop.h"
#include "io/proc.h"
#include "lib/tmpl.h"
#include "suite/spec.h"
#include "test/fuzz/scratch.h"
#include "test/tool/help.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static size_t
entries(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *f;
	size_t n = 0;

	assert(d != NULL);
	while ((f = readdir(d)) != NULL)
		n += f->d_name[0] != '.' || strlen(f->d_name) > 2;
	closedir(d);
	return n;
}

static void
play(struct arena *a, struct agent_job *j, const char *dir)
{
	static const struct spec_suite suite = { .path = "e.yaml", .dir = "." };
	struct err e = { 0 };
	struct procs ps;
	struct loop *l = loop_new(fake_clock, &e);
	struct agent agent = { .kind = agent_find(STR("replay")),
		.suite = &suite, .procs = &ps, .arena = a };

	procs_init(&ps, l, false);
	agent.state = &dir;
	assert(agent_open(&agent, &e) == 0);
	assert(agent_start(&agent, j) == AGENT_DONE);
	assert(agent_close(&agent));
	procs_fini(&ps);
	loop_free(l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct spec_def def;
	static const struct spec_task task = { .id = { "a", 1 },
		.def = &def };
	struct arena a = { 0 };
	struct tmpl_vars vars = { 0 };
	struct err e = { 0 };
	struct agent_request req = { .task = &task, .run_id = "r",
		.vars = &vars, .trial = 1, .attempt = 1 };
	struct agent_job j = { .req = &req, .arena = &a };

	req.workspace = arena_fmt(&a, "%s/ws", scratch_dir()).p;
	scratch_put(agent_record_path(&a, scratch_dir(), &req), data, size);
	if (mkdir(req.workspace, 0700) == -1)
		abort();
	play(&a, &j, scratch_dir());
	assert(j.ans.took_ms >= 0);
	assert(j.ans.fault == ANSWER_OK || j.ans.error.n > 0 ||
	    j.ans.output.n > 0);
	assert(utf8_valid(j.ans.output) && utf8_valid(j.ans.error));
	assert(entries(scratch_dir()) == 2);
	assert(workspace_remove(req.workspace, &e) == 0);
	arena_free(&a);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/*
 * A conversation with an ACP agent: several prompts in one
 * session, and its ends.  The agent is test/tool/double_acp.c.
 */
#include "agent/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "lib/tmpl.h"
#include "suite/spec.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static char dir[] = "/tmp/t_acp.XXXXXX";	/* its workspace */
static const char *double_acp;
static struct loop *l;
static struct procs ps;
static struct err e;
static struct arena arena;
static struct spec_suite suite = { .path = "e.yaml", .dir = "." };
static const struct spec_def def;
static struct spec_task task = { .def = &def, .at = { "e.yaml", 0, 0 } };
static struct tmpl_vars vars;
static struct agent agent;
static struct agent_conversation conversation;
static struct agent_request req;
static struct agent_job job;
static struct buf record;
static size_t dones, steps;

static const struct json *
tree(const char *text)
{
	return read_json(&arena, arena_str(&arena, str_of(text)));
}

static void
on_event(void *arg, enum agent_event event, struct str detail)
{
	(void)arg;
	(void)event;
	(void)detail;
	steps++;
}

/* The caller may end the conversation here. */
static void
on_done(void *arg)
{
	dones++;
	if (arg != NULL)
		agent_conversation_end(&agent, &conversation);
}

static void
on_record(void *arg, char way, struct str message)
{
	(void)arg;
	buf_putc(&record, way);
	buf_put(&record, message);
	buf_putc(&record, '\n');
}

static void
begin(bool talks)
{
	l = loop_new(NULL, &e);
	procs_init(&ps, l, true);
	suite.config.tree = tree(arena_fmt(&arena,
	    "{\"acp\":{\"command\":[\"%s\"]}}", double_acp).p);
	agent = (struct agent){ .kind = agent_find(STR("acp")),
		.suite = &suite, .procs = &ps, .arena = &arena };
	OK(agent_open(&agent, &e) == 0 && agent_has_conversations(&agent));
	conversation = (struct agent_conversation){ .arena = &arena };
	req = (struct agent_request){ .task = &task, .model = STR(""),
		.workspace = dir, .run_id = "r", .vars = &vars,
		.record = on_record };
	req.conversation = talks ? &conversation : NULL;
	dones = 0;
	record.n = 0;
}

static void
start(const char *prompt, bool ends)
{
	req.prompt = str_of(prompt);
	job = (struct agent_job){ .req = &req, .arena = &arena,
		.event = on_event, .done = on_done };
	job.arg = ends ? &job : NULL;
	if (agent_start(&agent, &job) == AGENT_DONE)
		dones++;
}

static void
ask(const char *prompt, bool ends)
{
	size_t before = dones;

	start(prompt, ends);
	while (dones == before && loop_turn(l, &e) == 1)
		;
}

static void
finish(void)
{
	OK(agent_close(&agent));
	while (loop_turn(l, &e) == 1)
		;
	OK(ps.running == 0);
	procs_fini(&ps);
	loop_free(l);
	OK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static bool
said(const char *want)
{
	if (str_is(job.ans.output, want) && job.ans.fault == ANSWER_OK)
		return true;
	printf("# said: %.*s %.*s\n", STRF(job.ans.output),
	    STRF(job.ans.error));
	return false;
}

static void
test_talk(void)
{
	const char *file = arena_fmt(&arena, "%s/x", dir).p;

	begin(true);
	ask("[[again]]", false);
	OK(said("prompt 1, mode , model "));
	OK(job.ans.usage.known && job.ans.usage.input_tokens == 11);
	OK(job.ans.usage.cost > 1.4 && job.ans.usage.cost < 1.6);
	OK(steps > 1 && conversation.state != NULL && dones == 1);
	ask(arena_fmt(&arena, "[[write:%s|y]] [[again]]", file).p, false);
	OK(said(arena_fmt(&arena, "done: wrote %sprompt 2, mode , model ",
	    file).p));
	OK(job.ans.ncalls == 1);
	OK(job.ans.usage.cost > 0.9 && job.ans.usage.cost < 1.1);
	ask("[[late]] [[again]]", false);
	OK(said("prompt 3, mode , model ") && dones == 3);
	agent_conversation_end(&agent, &conversation);
	OK(conversation.state == NULL);
	OK(strstr(record.p, ">{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
	    "\"initialize\"") == record.p);
	OK(strstr(record.p, "<{\"jsonrpc\":\"2.0\",\"id\":5,") != NULL);
	finish();
	OK(remove(file) == 0);
}

static void
test_ends(void)
{
	begin(true);			/* by the caller, in done() */
	ask("[[again]]", true);
	OK(said("prompt 1, mode , model ") && conversation.state == NULL);
	finish();
	begin(true);			/* by the agent, within a turn */
	ask("[[again]]", false);
	ask("[[crash:4]]", false);
	OK(job.ans.fault == ANSWER_FAILED && job.ans.exit_status == 4);
	OK(str_is(job.ans.output, "about to crash") &&
	    conversation.state == NULL);
	OK(str_is(job.ans.stderr_tail, "the last words"));
	finish();
	begin(true);			/* by the agent, between turns */
	ask("[[die:6]]", false);
	while (ps.running > 0 && loop_turn(l, &e) == 1)
		;
	ask("[[again]]", false);
	OK(job.ans.fault == ANSWER_FAILED && dones == 2);
	OK(str_ends(job.ans.error, STR("between two prompts: exit status 6")));
	agent_conversation_end(&agent, &conversation);
	finish();
	begin(true);			/* by an error of the turn */
	ask("[[error:no]]", false);
	OK(job.ans.fault == ANSWER_FAILED && conversation.state == NULL);
	finish();
}

/* Cancel in each state; twice is harmless. */
static void
test_cancel(void)
{
	size_t turns, i;

	for (turns = 0; turns < 8; turns++) {
		begin(turns % 2 == 1);
		steps = 0;
		start("[[hang]]", false);
		for (i = 0; i < turns && steps < 2; i++)
			loop_turn(l, &e);	/* more events follow */
		agent_cancel(&agent, &job);
		if (turns > 3)
			agent_cancel(&agent, &job);
		while (dones == 0 && loop_turn(l, &e) == 1)
			;
		OK(dones == 1 && job.ans.fault == ANSWER_CANCELLED);
		finish();
	}
	begin(true);
	ask("[[again]]", false);
	start("[[hang]]", false);
	steps = 0;
	while (steps == 0 && loop_turn(l, &e) == 1)
		;
	agent_cancel(&agent, &job);
	while (dones == 1 && loop_turn(l, &e) == 1)
		;
	OK(dones == 2 && job.ans.fault == ANSWER_CANCELLED);
	OK(str_is(job.ans.output, "partial") && conversation.state == NULL);
	finish();
}

int
main(void)
{
	const char *doubles = getenv("DOUBLES");

	double_acp = arena_fmt(&arena, "%s/double_acp",
	    doubles != NULL ? doubles : "test/tool").p;
	if (access(double_acp, X_OK) == -1) {
		SKIP("no double_acp (make check builds it)");
		arena_free(&arena);
		return tap_done();
	}
	os_init(&e);
	OK(mkdtemp(dir) != NULL);
	RUN(test_talk, test_ends, test_cancel);
	OK(rmdir(dir) == 0);
	buf_free(&record);
	arena_free(&arena);
	return tap_done();
}

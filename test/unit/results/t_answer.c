/* SPDX-License-Identifier: ISC */
/* answer.h: what tools do, wrappers of commands, sums of usage. */
#include "results/answer.h"

#include "test/tool/tap.h"

static struct arena a;

static struct answer_call
call(const char *agent, const char *name, const char *arguments)
{
	struct answer_call c = { .name = str_of(name),
		.arguments = str_of(arguments) };

	answer_classify(&a, &c, str_of(agent));
	return c;
}

static void
test_tools(void)
{
	static const struct {
		const char *agent, *name, *arguments;
		enum answer_tool tool;
		const char *value;	/* of its canonical argument */
	} rows[] = {
		{ "copilot", "bash", "{\"command\":\"ls\"}", ANSWER_SHELL,
		    "ls" },
		{ "copilot", "create", "{\"path\":\"x\"}", ANSWER_WRITE, "x" },
		{ "copilot", "str_replace_editor", "{\"command\":\"view\","
		    "\"path\":\"x\"}", ANSWER_READ, "x" },
		{ "copilot", "str_replace_editor", "{\"command\":\"insert\","
		    "\"path\":\"x\"}", ANSWER_EDIT, "x" },
		{ "claude", "Read", "{\"file_path\":\"x\"}", ANSWER_READ,
		    "x" },
		{ "claude", "WebFetch", "{\"url\":\"http://x\"}",
		    ANSWER_FETCH, "http://x" },
		{ "claude", "Skill", "{\"command\":\"old\"}", ANSWER_SKILL,
		    "old" },
		{ "codex", "file_change", "{\"changes\":[{\"path\":\"x\","
		    "\"kind\":\"add\"}]}", ANSWER_EDIT, "x" },
		{ "codex", "shell", "{\"command\":[\"bash\",\"-lc\","
		    "\"a b\"]}", ANSWER_SHELL, "a b" },
		{ "codex", "shell", "{\"command\":[\"ls\",\"-l\"]}",
		    ANSWER_SHELL, "ls -l" },
		{ "gemini", "read_many_files", "{\"paths\":[\"x\",\"y\"]}",
		    ANSWER_READ, "x" },
		{ "opencode", "write", "{\"filePath\":\"x\"}", ANSWER_WRITE,
		    "x" },
		{ "opencode", "skill", "{\"name\":\"s\"}", ANSWER_SKILL, "s" },
		{ "qwen", "edit", "{\"file_path\":\"x\"}", ANSWER_EDIT, "x" },
		/* the name of another agent's tool, and unknown agents */
		{ "gemini", "bash", "{\"command\":\"ls\"}", ANSWER_SHELL,
		    "ls" },
		{ "", "Bash", "{\"command\":\"ls\"}", ANSWER_SHELL, "ls" },
		{ "", "search", "{}", ANSWER_SEARCH, "" },
		{ "", "delegate", "{}", ANSWER_TASK, "" },
		{ "", "unheard_of", "{\"command\":\"ls\"}", ANSWER_OTHER, "" },
		{ "", "bash", "not JSON", ANSWER_SHELL, "" },
		{ "", "bash", "[1]", ANSWER_SHELL, "" },
	};
	struct answer_call c;
	struct str v;
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		c = call(rows[i].agent, rows[i].name, rows[i].arguments);
		v = c.command.n > 0 ? c.command : c.path.n > 0 ? c.path :
		    c.url.n > 0 ? c.url : c.skill;
		if (c.tool != rows[i].tool || !str_is(v, rows[i].value))
			printf("# row %zu: %s %.*s\n", i,
			    answer_tool_name(c.tool), STRF(v));
		OK(c.tool == rows[i].tool && str_is(v, rows[i].value));
	}
	OK(answer_tool_by_kind(STR("execute")) == ANSWER_SHELL);
	OK(answer_tool_by_kind(STR("think")) == ANSWER_OTHER);
	for (i = 0; i < ANSWER_TOOL__MAX; i++)
		OK(answer_tool_of(str_of(answer_tool_name(
		    (enum answer_tool)i))) == (enum answer_tool)i);
}

static void
test_known_values_stay(void)
{
	struct answer_call c = { .name = STR("bash"), .tool = ANSWER_READ,
		.path = STR("p"), .arguments = STR("{\"path\":\"q\"}") };

	answer_classify(&a, &c, STR("copilot"));
	OK(c.tool == ANSWER_READ && str_is(c.path, "p"));
}

static void
test_malformed_arguments(void)
{
	OK(!call("openai", "bash", "{\"command\":\"ls\"}").no_arguments);
	OK(!call("openai", "bash", "{}").no_arguments);
	OK(call("openai", "bash", "{\"command\":\"rm -rf").no_arguments);
	OK(call("openai", "bash", "rm -rf build").no_arguments);
}

static void
test_wrappers(void)
{
	static const char *const rows[][2] = {
		{ "/bin/bash -lc 'cat x'", "cat x" },
		{ "/bin/bash -lc \"printf %s 'a b' > 'c'\"",
		    "printf %s 'a b' > 'c'" },
		{ "bash -c \"echo \\\"\\$HOME\\\" \\\\\"",
		    "echo \"$HOME\" \\" },
		{ "sh -c ls", "ls" },
		{ "bash -l -c 'a; b'", "a; b" },
		{ "bash -lc 'sh -c \"rm -rf x\"'", "rm -rf x" },
		{ "cmd.exe /C \"dir /s\"", "dir /s" },
		{ "powershell.exe -NoProfile -Command 'ls'", "ls" },
		{ "bash -c 'it'\\''s'", "it's" },
		/* not wrappers */
		{ "", "" },
		{ "ls -c x", "ls -c x" },
		{ "bash script.sh", "bash script.sh" },
		{ "bash -c 'a' > b", "bash -c 'a' > b" },
		{ "bash -c a && rm b", "bash -c a && rm b" },
		{ "bash -c 'open", "bash -c 'open" },
		{ "bash -c 'echo $0' name", "bash -c 'echo $0' name" },
		/* the environment of a wrapper belongs to it */
		{ "A=1 bash -lc 'rm -rf x'", "rm -rf x" },
		{ "/usr/bin/env A=1 B_2= sh -c \"cd x && rm -rf y\"",
		    "cd x && rm -rf y" },
		{ "A=1 rm -rf x", "A=1 rm -rf x" },
		{ "env A=1 make -c x", "env A=1 make -c x" },
	};
	struct str got;
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		got = answer_unwrap(&a, str_of(rows[i][0]));
		if (!str_is(got, rows[i][1]))
			printf("# row %zu: %.*s\n", i, STRF(got));
		OK(str_is(got, rows[i][1]));
	}
}

static void
test_usage(void)
{
	struct answer_usage sum = { 0 }, u = answer_no_usage;

	u.input_tokens = 5;
	u.cost = 0.5;
	answer_add_usage(&sum, &u);
	OK(sum.known && sum.turns_known && sum.cost_known);
	u.turns_known = false;
	answer_add_usage(&sum, &u);
	OK(sum.known && !sum.turns_known && sum.input_tokens == 10);
	u.turns_known = true;
	u.known = false;
	answer_add_usage(&sum, &u);
	OK(!sum.known && !sum.turns_known && sum.cost_known);
	OK(answer_has_usage(&sum));
	sum = (struct answer_usage){ 0 };
	OK(!answer_has_usage(&sum));
}

int
main(void)
{
	test_tools();
	test_known_values_stay();
	test_malformed_arguments();
	test_wrappers();
	test_usage();
	arena_free(&a);
	return tap_done();
}

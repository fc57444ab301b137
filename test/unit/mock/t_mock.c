/* SPDX-License-Identifier: ISC */
/* Which response a call gets, what is refused, and what is not recorded. */
#include "mock/mock.h"

#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct arena arena;

static struct json *
tree(const char *text)
{
	struct json *v = read_json(&arena, str_of(text));

	if (v == NULL) {
		printf("# not JSON: %s\n", text);
		exit(1);
	}
	return v;
}

/* The response of a tool for arguments; NULL: none are given. */
static int
tool(const char *responses, const char *args)
{
	struct field_ctx ctx = { .arena = &arena };
	struct mock_tool t;
	struct err e = { 0 };

	if (mock_read_tool(&ctx, tree(arena_fmt(&arena, "{\"responses\":%s}",
	    responses).p), STR("t"), &t) > 0)
		return -3;
	return mock_match_tool(&arena, &t, args != NULL ? tree(args) : NULL,
	    &e);
}

static void
test_tools(void)
{
	static const struct {
		const char *responses, *args;
		int want;
	} rows[] = {
		{ "[{\"return\":1}]", "{\"a\":1}", 0 },
		{ "[{\"return\":1}]", NULL, 0 },
		{ "[{\"match\":{},\"return\":1}]", "{\"a\":1}", 0 },
		{ "[{\"match\":{\"a\":1},\"return\":1}]", "{\"a\":1}", 0 },
		{ "[{\"match\":{\"a\":1},\"return\":1}]", "{\"a\":1,\"b\":2}", -1 },
		{ "[{\"match\":{\"b\":2,\"a\":[1]},\"return\":1}]", "{\"a\":[1],\"b\":2}", 0 },
		{ "[{\"match\":{\"a\":1},\"return\":1}]", NULL, -1 },
		{ "[{\"match\":{\"a\":1},\"return\":1},{\"error\":\"x\"}]", "{}", 1 },
		{ "[{\"match_regex\":{\"a\":\"b+\"},\"return\":1}]", "{\"a\":\"abbc\"}", 0 },
		{ "[{\"match_regex\":{\"a\":\"^b+$\"},\"return\":1}]", "{\"a\":\"abbc\"}", -1 },
		{ "[{\"match_regex\":{\"a\":\"b\"},\"return\":1}]", "{}", -1 },
		{ "[{\"match_regex\":{\"a\":\"^7$\"},\"return\":1}]", "{\"a\":7}", 0 },
		{ "[{\"match_regex\":{\"a\":\"^true$\"},\"return\":1}]", "{\"a\":true}", 0 },
		{ "[{\"match_regex\":{\"a\":\"x\"},\"return\":1}]", "{\"a\":[\"x\"]}", 0 },
		{ "[{\"match_schema\":{\"required\":[\"a\"]},\"return\":1}]", "{\"a\":7}", 0 },
		{ "[{\"match_schema\":{\"required\":[\"a\"]},\"return\":1}]", "{}", -1 },
		{ "[{\"match_schema\":{},\"match_regex\":{},\"return\":1}]", "{}", 0 },
		{ "[{\"match\":{\"a\":\"x\"},\"match_regex\":{\"a\":\"y\"},\"return\":1}]",
		    "{\"a\":\"x\"}", -1 },
		{ "[{\"return\":1,\"error\":\"x\"}]", "{}", -3 },
		{ "[{\"match\":[],\"return\":1}]", "{}", -3 },
		{ "[{\"match_regex\":{\"a\":\"(\"},\"return\":1}]", "{}", -3 },
		{ "[{\"return\":1,\"delay_ms\":-1}]", "{}", -3 },
		{ "[{\"return\":1,\"delay_ms\":600001}]", "{}", -3 },
		{ "[{\"result\":1}]", "{}", -3 },
		{ "[7]", "{}", -3 },
	};
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		tap_ok(tool(rows[i].responses, rows[i].args) == rows[i].want,
		    rows[i].responses, __FILE__, __LINE__);
}

static int
command(const char *responses, struct mock_words w)
{
	struct field_ctx ctx = { .arena = &arena };
	struct mock_command c;
	struct err e = { 0 };

	if (mock_read_command(&ctx, tree(arena_fmt(&arena,
	    "{\"name\":\"c\",\"responses\":%s}", responses).p), &c) > 0)
		return -3;
	return mock_match_command(&arena, &c, &w, &e);
}

static void
test_commands(void)
{
	const char *none[] = { NULL }, *two[] = { "push", "a b", NULL };
	const char *env[] = { "A=1", "B=", NULL };

	OK(command("[{\"args\":[]}]", (struct mock_words){ none, env, "" }) ==
	    0);
	OK(command("[{\"args\":[]}]", (struct mock_words){ two, env, "" }) ==
	    -1);
	OK(command("[{\"args\":[\"push\"]},{\"args\":[\"push\",\"a b\"]}]",
	    (struct mock_words){ two, env, "" }) == 1);
	OK(command("[{\"args_regex\":[\"pu\",\".*\"]}]",
	    (struct mock_words){ two, env, "" }) == -1);
	OK(command("[{\"args_regex\":[\"pu|push\",\"a.b\"]}]",
	    (struct mock_words){ two, env, "" }) == 0);
	OK(command("[{\"args\":[],\"environment\":{\"A\":1,\"B\":\"\"}}]",
	    (struct mock_words){ none, env, "" }) == 0);
	OK(command("[{\"args\":[],\"environment\":{\"A\":\"2\"}}]",
	    (struct mock_words){ none, env, "" }) == -1);
	OK(command("[{\"args\":[],\"workdir\":\"./a//b/\"}]",
	    (struct mock_words){ none, env, "a/b" }) == 0);
	OK(command("[{\"args\":[],\"workdir\":\".\"}]",
	    (struct mock_words){ none, env, "" }) == 0);
	OK(command("[{\"args\":[],\"workdir\":\".\"}]",
	    (struct mock_words){ none, env, NULL }) == -1);
	OK(command("[{}]", (struct mock_words){ none, env, "" }) == -3);
	OK(command("[{\"args\":[],\"args_regex\":[]}]",
	    (struct mock_words){ none, env, "" }) == -3);
	OK(command("[{\"args\":[],\"workdir\":\"a/../b\"}]",
	    (struct mock_words){ none, env, "" }) == -3);
	OK(command("[{\"args\":[],\"environment\":{\"A=B\":1}}]",
	    (struct mock_words){ none, env, "" }) == -3);
	OK(mock_is_command_name(STR("g++")) == false);
	OK(mock_is_command_name(STR("python3.11")));
	OK(!mock_is_command_name(STR(".x")) && !mock_is_command_name(STR("")));
}

static bool
logs(const char *command, const char *const *argv, const char *const *env,
    const char *want)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	bool ok;

	json_open(&o, '[');
	mock_put_args(&o, command, argv, env);
	json_close(&o, ']');
	ok = is_text(buf_str(&b), want);
	buf_free(&b);
	return ok;
}

static void
test_secrets(void)
{
	const char *argv[] = { "login", "--token", "abc", "API_KEY=def",
		"--password=ghi", "monkey", "x-supersecret",
		"Authorization: Bearer jkl", "fix: api-key: x", NULL };
	const char *env[] = { "MY_SECRET=supersecret", NULL };
	const char *mysql[] = { "-uroot", "-pSuperSecret1", "db",
		"SuperSecret1", NULL };
	const char *sshpass[] = { "-p", "Secret 1", "ssh", "-p", "22", NULL };

	OK(logs("x", argv, env, "[\"login\",\"--token\",\"[REDACTED]\","
	    "\"API_KEY=[REDACTED]\",\"--password=[REDACTED]\",\"monkey\","
	    "\"x-***\",\"Authorization: [REDACTED]\","
	    "\"fix: api-key: ***\"]"));
	OK(logs("mysql", mysql, env, "[\"-uroot\",\"-p***\",\"db\","
	    "\"***\"]"));
	OK(logs("cp", mysql, env + 1, "[\"-uroot\",\"-pSuperSecret1\","
	    "\"[REDACTED]\",\"SuperSecret1\"]"));
	OK(logs("sshpass", sshpass, env, "[\"-p\",\"***\",\"ssh\",\"-p\","
	    "\"22\"]"));
}

static void
test_tools_by_name(void)
{
	struct mock_tools t = { .arena = &arena };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct err e = { 0 };

	OK(mock_add_tools(&t, tree("{\"b\":{\"n\":1},\"a\":{\"n\":2}}"), "f",
	    &e) == 0);
	OK(mock_add_tools(&t, tree("{\"c\":{},\"b\":{\"n\":3}}"), "g",
	    &e) == 0);
	OK(t.n == 3 && mock_find_entry(&t, STR("b")) != NULL);
	OK(mock_find_entry(&t, STR("d")) == NULL);
	mock_put_tools(&o, &t);
	OK(str_is(buf_str(&b), "{\"tools\":{\"a\":{\"n\":2},\"b\":{\"n\":3},"
	    "\"c\":{}}}"));
	buf_free(&b);
}

int
main(void)
{
	RUN(test_tools, test_commands, test_secrets, test_tools_by_name);
	arena_free(&arena);
	return tap_done();
}

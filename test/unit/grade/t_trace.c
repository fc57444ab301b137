/* SPDX-License-Identifier: ISC */
/*
 * Graders of traces: tool calls, skills, limits, triggers.  Tables of verdicts,
 * notes about settings and their places, hostile traces.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os.h"
#include "grade/grader_internal.h"
#include "grader.h"
#include "json.h"
#include "lib/tmpl.h"
#include "suite/spec.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"
#include "test/unit/grade/twice.h"
#include "yaml_lite.h"

static struct arena mem;
static struct loop *loop;
static struct procs procs;
static char dir[] = "/tmp/t_trace.XXXXXX";

static struct json *
yaml(const char *text)
{
	return read_yaml(&mem, text);
}

/* Lines "name arguments"; NULL: no calls. */
static void
add_calls(struct answer *a, const char *lines)
{
	struct answer_call **tail = &a->calls;
	const char *p = lines, *eol, *gap;

	for (; p != NULL && *p != '\0'; p = *eol == '\n' ? eol + 1 : eol) {
		eol = p + strcspn(p, "\n");
		gap = p + strcspn(p, " \n");
		*tail = NEW(&mem, struct answer_call);
		(*tail)->name = (struct str){ p, (size_t)(gap - p) };
		gap += *gap == ' ';
		(*tail)->arguments = (struct str){ gap, (size_t)(eol - gap) };
		tail = &(*tail)->next;
		a->ncalls++;
	}
}

/* Words. */
static void
add_skills(struct answer *a, const char *words)
{
	a->skills.v = NEW_N(&mem, struct str, strlen(words));
	while (*words != '\0') {
		size_t n = strcspn(words, " ");

		a->skills.v[a->skills.n++] = (struct str){ words, n };
		words += n + (words[n] == ' ');
	}
}

struct with {
	const char *calls, *skills, *prompt, *file;
	struct answer_usage usage;
	bool no_skills;			/* they are not reported */
	int64_t duration_ms;
	const struct answer *answer;	/* instead of these */
	const struct spec_expected *expected;
};

static struct verdict
grade_with(const char *type, const struct json *config, const struct with *w)
{
	static struct spec_suite suite;
	static struct spec_task task;
	static struct spec_def def;
	static struct spec_grader spec;
	static struct answer answer;
	static struct tmpl_vars vars;
	static struct grader_input in;
	static struct grading g;

	suite = (struct spec_suite){ .dir = ".", .path = "eval.yaml" };
	def = (struct spec_def){ .expected = w->expected };
	task = (struct spec_task){ .def = &def };
	task.id = task.name = STR("t1");
	task.prompt = str_of(w->prompt != NULL ? w->prompt : "");
	spec = (struct spec_grader){ .weight = 1, .config = config };
	spec.name = STR("g");
	spec.type = str_of(type);
	spec.at.file = w->file != NULL ? w->file : "eval.yaml";
	answer = (struct answer){ .usage = w->usage };
	add_calls(&answer, w->calls);
	add_skills(&answer, w->skills != NULL ? w->skills : "");
	answer.skills_known = !w->no_skills;
	vars = (struct tmpl_vars){ .iteration = 1, .attempt = 1,
		.vars = { yaml("{tool: bash, n: 3, dir: d}"), NULL } };
	in = (struct grader_input){ .suite = &suite, .task = &task,
		.answer = w->answer != NULL ? w->answer : &answer,
		.agent = STR("gemini"), .vars = &vars,
		.duration_ms = w->duration_ms };
	g = (struct grading){ .in = &in, .spec = &spec, .arena = &mem };
	OK(grader_start(&g) == GRADER_DONE);
	OK(twice_same(&g, in, loop, &procs));
	return g.out;
}

static struct verdict
grade(const char *type, const char *config, const char *calls)
{
	struct with w = { .calls = calls };

	return grade_with(type, yaml(config), &w);
}

/* Whether the details contain these members. */
static bool
has_details(struct verdict v, const char *want)
{
	struct json_mem m = { arena_hook, &mem };
	struct json_error je;
	const struct json *o = json_read(&m, v.details, 0, &je), *w;
	bool ok = o != NULL;

	for (w = json_first(yaml(want)); w != NULL; w = w->next)
		if (json_get(o, json_key(w)) == NULL ||
		    !json_equal(w, json_get(o, json_key(w))))
			ok = false;
	if (!ok)
		printf("# want: %s\n# got: %.*s\n", want, STRF(v.details));
	return ok;
}

/* Verdicts on calls. */
static const struct {
	const char *type, *config, *calls;
	double score;
	bool passed;
	const char *feedback;	/* a part of it */
} rows[] = {
	/* behavior */
	{ "behavior", "{max_tool_calls: 2, required_tools: [bash], forbidden_tools: [rm]}",
	    "bash\nbash\nrm", 1.0 / 3, false, "3 tool calls, at most 2 expected; forbidden tool "
	    "\"rm\" was called (1 of 3 calls)" },
	{ "behavior", "max_tool_calls: 3", "a\na\na", 1, true, "within all limits" },
	{ "behavior", "max_tool_calls: 1", NULL, 1, true, "within all limits" },
	{ "behavior", "{required_tools: [Bash, my-script, x]}", "bash\nview\nbash", 1.0 / 3, false,
	    "required tool \"my-script\" was not called (called: \"bash\", \"view\"); required tool "
	    "\"x\" was not called" },
	{ "behavior", "{required_tools: [a]}", NULL, 0, false, "(called: none)" },
	{ "behavior", "{max_tool_calls: 0, forbidden_tools: rm}", "a\nb", 1, true, "within" },
	{ "behavior", "{required_tools: ['{{.Vars.tool}}']}", "bash", 1, true, "within" },
	/* action_sequence */
	{ "action_sequence", "{matching_mode: in_order_match, expected_actions: [view, edit, view]}",
	    "view\nbash\nedit\nview", 6.0 / 7, true, "the calls are as expected, with 1 more" },
	{ "action_sequence", "{matching_mode: any_order_match, expected_actions: [a, a]}", "a\nb",
	    0.5, false, "missing \"a\" (2 expected, 1 found); expected 2 calls in any order: \"a\", "
	    "\"a\"; found 2: \"a\", \"b\"" },
	{ "action_sequence", "{matching_mode: exact_match, expected_actions: [a]}", NULL, 0, false,
	    "first difference at 1: \"a\" expected, nothing found; expected 1 calls exactly: "
	    "\"a\"; found 0: none" },
	{ "action_sequence", "{matching_mode: exact_match, expected_actions: [a, b]}", "a\nb", 1,
	    true, "the calls are as expected" },
	{ "action_sequence", "{matching_mode: exact_match, expected_actions: [a, b]}", "b\na", 1,
	    false, "first difference at 1: \"a\" expected, \"b\" found" },
	{ "action_sequence", "{matching_mode: exact_match, expected_actions: [a]}", "a\nc", 2.0 / 3,
	    false, "first difference at 2: nothing expected, \"c\" found" },
	{ "action_sequence", "{matching_mode: in_order_match, expected_actions: [a, b, c]}",
	    "c\na\nb", 1, false, "first difference at 3: \"c\" not found after \"b\"" },
	{ "action_sequence", "{matching_mode: in_order_match, expected_actions: [x]}", "a", 0,
	    false, "first difference at 1: \"x\" not found" },
	{ "action_sequence", "{matching_mode: any_order, expected_actions: [b, a]}", "a\nb\nc",
	    0.8, true, "as expected" },
	{ "action_sequence", "{mode: in_order, expected_actions: '{{.Vars.tool}}'}", "bash", 1,
	    true, "as expected" },
	/* tool_constraint */
	{ "tool_constraint", "{expect_tools: [{tool: '^ba', command_pattern: 'AZD\\s+up'}]}",
	    "Bash {\"command\":\"azd  up\"}", 1, true, "all tool constraints are met" },
	{ "tool_constraint", "{expect_tools: [{tool: '^ba', command_pattern: 'AZD\\s+up'}]}",
	    "view {\"command\":\"azd up\"}\nBash {\"command\":\"ls\"}", 0, false,
	    "no call matches \"^ba (command_pattern: AZD\\s+up)\": command is \"ls\"" },
	{ "tool_constraint", "{expect_tools: [bash, view], reject_tools: [rm, {tool: edit}]}",
	    "bash\nrm\nedit", 0.25, false, "no call matches \"view\": no such tool was called; "
	    "call 2 matches rejected \"rm\"; call 3 matches rejected \"edit\"" },
	{ "tool_constraint", "{reject_tools: [{tool: '.', path_pattern: '^/etc'}]}",
	    "a {\"path\":\"/ETC/passwd\"}", 0, false, "call 1 matches rejected \". (path_pattern: ^/etc)\"" },
	{ "tool_constraint", "{reject_tools: [{tool: '.', path_pattern: '^/etc'}]}",
	    "a {\"file_path\":\"/etc/passwd\"}", 0, false, "call 1 matches rejected" },
	{ "tool_constraint", "{expect_tools: [{tool: skill, skill_pattern: '^greet$'}]}",
	    "skill {\"skill\":\"greet\"}", 1, true, "are met" },
	{ "tool_constraint", "{expect_tools: [{tool: sh, command_pattern: '\"-lc\",\"ls'}]}",
	    "shell {\"command\":[\"sh\",\"-lc\",\"ls\"]}", 1, true, "are met" },
	{ "tool_constraint", "{expect_tools: [{tool: b, command_pattern: '^$'}]}", "b", 1, true,
	    "are met" },
	{ "tool_constraint", "{allow_only: [view, grep]}", "view\nbash\nview\nrm\nbash", 0, false,
	    "called: \"bash\", \"rm\"; allowed: \"view\", \"grep\"" },
	{ "tool_constraint", "{allow_only: [view, grep]}", "view", 1, true, "are met" },
	{ "tool_constraint", "{allow_only: []}", "view", 0, false,
	    "called: \"view\"; allowed: none" },
	{ "tool_constraint", "{allow_only: []}", NULL, 1, true, "are met" },
	{ "tool_constraint", "{expect_tools: [{tool: '{{.Vars.tool}}', args: {n: '{{.Vars.tool}}'}}]}",
	    "bash {\"n\":\"bash\"}", 1, true, "are met" },
	{ "tool_constraint", "{reject_tools: [{tool: b, args: {n: 1}}]}", "b {\"n\":2}", 1, true,
	    "are met" },
	{ "tool_constraint", "{reject_tools: [{tool: b, args: {n: 1}}]}", "b {\"n\":1.0}", 0, false,
	    "call 1 matches rejected \"b (args: [n])\"" },
	{ "tool_constraint", "{reject_tools: [{tool: b, args: {n: 1}}]}", "b {\"n\":", 1, true,
	    "are met" },
	/* tool_calls */
	{ "tool_calls", "{required_tools: [a, b], forbidden_tools: [c], min_calls: 4, max_calls: 2}",
	    "a\nc\nc", 1.0 / 5, false, "required tool \"b\" was not called (called: \"a\", \"c\"); "
	    "forbidden tool \"c\" was called (2 of 3 calls); 3 tool calls, at least 4 expected; "
	    "3 tool calls, at most 2 expected" },
	{ "tool_calls", "{max_calls: 0}", "a", 0, false, "1 tool calls, at most 0 expected" },
	{ "tool_calls", "{max_calls: 0}", NULL, 1, true, "all tool calls are as expected" },
	{ "tool_calls", "{min_calls: 0, max_calls: 1}", "a", 1, true, "all tool calls are as expected" },
	{ "tool_calls", "{expect: [{tool: '^A$'}, {tool: x}, b]}", "a\nxb", 1, true, "as expected" },
	{ "tool_calls", "{expect: [{tool: a, args: {n: {equals: 1}, m: {regex: '^x'}}}]}",
	    "a {\"n\":1,\"m\":\"y\"}\na {\"n\":2,\"m\":\"x\"}", 0, false, "no call matches "
	    "\"a (args: [n, m])\": argument \"n\": 1 expected, 2 found" },
	{ "tool_calls", "{expect: [{tool: a, args: {n: 1}}]}", "a {\"n\":1}\na nonsense", 1, true,
	    "as expected" },
	{ "tool_calls", "{expect: [{tool: a, args: {n: 1}}]}", "b {\"n\":1}\na nonsense", 0, false,
	    "the arguments are not JSON: \"nonsense\"" },
	{ "tool_calls", "{expect: [{tool: a, args: {n: 1}}]}", "a", 0, false,
	    "argument \"n\": missing" },
	{ "tool_calls", "{expect: [{tool: a, args: {n: 1}}]}", "a [1]", 0, false,
	    "argument \"n\": missing" },
	{ "tool_calls", "{expect: {tool: a}}", "a", 1, true, "as expected" },
};

static void
verdicts(void)
{
	struct verdict v;
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++) {
		v = grade(rows[i].type, rows[i].config, rows[i].calls);
		if (v.error.n > 0 || !near(v.score, rows[i].score) ||
		    v.passed != rows[i].passed)
			printf("# %s: %.17g %d %.*s%.*s\n", rows[i].config,
			    v.score, v.passed, STRF(v.feedback),
			    STRF(v.error));
		OK(v.error.n == 0 && near(v.score, rows[i].score) &&
		    v.passed == rows[i].passed);
		OK(has(v.feedback, rows[i].feedback));
		OK(utf8_valid(v.feedback) && utf8_valid(v.details));
	}
}

/*
 * Rules on what agents do not report, and on tools by what they do.  The first
 * letter of the verdict: passed, failed, error.
 */
enum { MUTE = 1, BARE = 2, NAMELESS = 4, EDITS = 8, DENIED = 16, BLANK = 32 };

static const struct {
	const char *type, *config;
	unsigned flags;		/* of the answer and its only call, */
	const char *call;	/* "tool name command": "-" is none */
	char verdict;
	const char *text;	/* a part of feedback or error */
} doubts[] = {
	/* no calls are reported */
	{ "tool_constraint", "reject_tools: [rm]", MUTE, "-", 'e',
	    "cannot be checked: gemini does not report tool calls" },
	{ "tool_constraint", "expect_tools: [rm]", MUTE, "-", 'e', "tool calls" },
	{ "tool_constraint", "allow_only: [a]", MUTE, "-", 'e', "tool calls" },
	{ "tool_calls", "max_calls: 0", MUTE, "-", 'e', "tool calls" },
	{ "tool_calls", "min_calls: 1", MUTE, "-", 'e', "tool calls" },
	{ "tool_calls", "{required_tools: [a], forbidden_tools: [b]}", MUTE, "-", 'e', "tool calls" },
	{ "action_sequence", "{mode: any_order, expected_actions: [a]}", MUTE, "-", 'e',
	    "cannot be checked: gemini does not report tool calls" },
	{ "behavior", "max_tool_calls: 3", MUTE, "-", 'e', "tool calls" },
	{ "behavior", "{max_tokens: 1, max_turns: 1}", 0, "-", 'e',
	    "cannot be checked: gemini does not report tokens, turns" },
	{ "tool_constraint", "{max_tokens: 1}", 0, "-", 'e', "does not report tokens" },
	{ "tool_constraint", "{max_turns: 1}", 0, "-", 'e', "does not report turns" },
	{ "code", "assertions: ['len(tool_calls) == 0']", MUTE, "-", 'e',
	    "cannot be checked: gemini does not report tool calls" },
	{ "code", "assertions: ['\"tool_calls\" not in output']", MUTE, "-", 'p', "" },
	{ "code", "assertions: ['1 == 2', 'len(tool_calls) == 0']", MUTE, "-", 'f',
	    "Failed: 1 == 2; not checked: gemini does not report tool calls" },
	{ "code", "assertions: ['len(errors) == 0']", MUTE, "-", 'e', "does not report tool calls" },
	{ "code", "assertions: ['not any(\"rm\" in str(e) for e in transcript)']", MUTE, "-", 'e',
	    "does not report tool calls" },
	{ "code", "assertions: ['not errors']", 0, "-", 'e', "does not report its events" },
	{ "code", "assertions: ['len(transcript) < 9']", 0, "shell Bash ls", 'e', "its events" },
	{ "code", "assertions: ['\"transcript\" not in output']", 0, "-", 'p', "" },
	{ "code", "assertions: ['f\"{1}\" not in output and not errors']", MUTE, "-", 'e', "tool calls" },
	/* what is known decides, whatever is unknown */
	{ "behavior", "{max_tokens: 1, max_duration_ms: 1}", 0, "-", 'f',
	    "ms until the answer, at most 1 expected; not checked: gemini does not report tokens" },
	{ "tool_constraint", "{max_tokens: 1, reject_tools: [shell]}", 0, "shell Bash ls", 'f',
	    "call 1 matches rejected \"shell\"; not checked: gemini does not report tokens; "
	    "calls: Bash \"ls\"" },
	/* arguments are not reported */
	{ "tool_constraint", "reject_tools: [{tool: Bash, command_pattern: 'rm -rf'}]", BARE,
	    "shell Bash -", 'e', "cannot be checked: gemini does not report arguments" },
	{ "tool_constraint", "reject_tools: [{tool: Bash, command_pattern: 'rm -rf'}]", BARE,
	    "shell Bash rm -rf build", 'f', "call 1 matches rejected" },
	{ "tool_constraint", "reject_tools: [{tool: Bash, command_pattern: 'rm -rf'}]", BARE,
	    "shell Bash ls", 'p', "" },
	{ "tool_constraint", "reject_tools: [{tool: view, command_pattern: 'rm -rf'}]", BARE,
	    "shell Bash -", 'p', "" },
	{ "tool_constraint", "expect_tools: [{tool: Bash, args: {x: 1}}]", BARE, "shell Bash -", 'e',
	    "arguments" },
	{ "tool_calls", "expect: [{tool: Bash, path_pattern: a}]", BARE, "shell Bash -", 'e',
	    "arguments" },
	{ "code", "assertions: ['any(\"rm\" in t[\"arguments\"] for t in tool_calls)']", BARE,
	    "shell Bash -", 'e', "arguments" },
	{ "code", "assertions: ['len(tool_calls) == 1']", BARE, "shell Bash -", 'p', "" },
	{ "code", "assertions: ['\"failed\" not in str(tool_calls)']", BLANK, "shell Bash ls", 'e',
	    "the results of tools" },
	{ "code", "assertions: ['\"failed\" not in f\"{tool_calls}\"']", BLANK, "shell Bash ls", 'e',
	    "the results of tools" },
	{ "code", "assertions: ['all(t[\"tool\"] != \"write\" for t in tool_calls)']", EDITS,
	    "edit Creating -", 'e', "written or edited" },
	{ "code", "assertions: ['len(tool_calls) == 1']", BLANK, "shell Bash ls", 'p', "" },
	{ "code", "assertions: ['tool_calls[0][\"tool\"] == \"shell\" and "
	    "tool_calls[0][\"command\"] == \"rm x\"']", BARE, "shell Bash rm x", 'p', "" },
	/* names by what tools do */
	{ "tool_constraint", "reject_tools: [^shell$]", 0, "shell exec_command ls", 'f', "call 1" },
	{ "tool_constraint", "expect_tools: [{tool: ^shell$, command_pattern: ^ls$}]", 0,
	    "shell run_it ls", 'p', "" },
	{ "tool_constraint", "allow_only: [read]", 0, "read view -", 'p', "" },
	{ "tool_constraint", "allow_only: [read]", 0, "shell view -", 'f', "called: \"view\"" },
	{ "tool_calls", "{required_tools: [shell, Bash], forbidden_tools: [read]}", 0, "shell Bash ls",
	    'p', "" },
	{ "tool_calls", "forbidden_tools: [shell]", 0, "shell Bash rm -rf build", 'f', "forbidden tool "
	    "\"shell\" was called (1 of 1 calls); calls: Bash \"rm -rf build\"" },
	{ "behavior", "required_tools: [shell]", 0, "shell Bash -", 'p', "" },
	{ "action_sequence", "{mode: exact_match, expected_actions: [shell]}", 0, "shell Bash -", 'p', "" },
	{ "action_sequence", "{mode: exact_match, expected_actions: [Bash]}", 0, "shell Bash -", 'p', "" },
	/* names that are not reported */
	{ "tool_calls", "forbidden_tools: [bash]", NAMELESS, "shell execute ls", 'f', "forbidden" },
	{ "tool_calls", "forbidden_tools: [my_tool]", NAMELESS, "shell execute ls", 'e',
	    "does not report the names of tools" },
	{ "tool_calls", "forbidden_tools: [glob]", NAMELESS, "search search -", 'e',
	    "does not report the names of tools" },
	{ "tool_calls", "forbidden_tools: [read]", NAMELESS, "shell execute ls", 'p', "" },
	{ "tool_calls", "forbidden_tools: [shell]", NAMELESS, "shell execute ls", 'f', "forbidden" },
	{ "tool_constraint", "reject_tools: [{tool: bash, command_pattern: rm}]", NAMELESS,
	    "shell execute ls", 'p', "" },
	{ "tool_constraint", "reject_tools: [{tool: bash, command_pattern: rm}]", NAMELESS,
	    "shell execute rm x", 'f', "call 1 matches rejected" },
	{ "tool_constraint", "reject_tools: [{tool: my_tool, command_pattern: rm}]", NAMELESS,
	    "shell execute rm x", 'e', "the names of tools" },
	{ "tool_constraint", "allow_only: [bash]", NAMELESS, "shell execute ls", 'p', "" },
	{ "tool_constraint", "allow_only: [my_tool]", NAMELESS, "shell execute ls", 'e', "names" },
	/* edits that may be writes */
	{ "tool_calls", "forbidden_tools: [write]", EDITS, "edit Creating -", 'e',
	    "does not report whether a file is written or edited" },
	{ "tool_calls", "forbidden_tools: [edit]", EDITS, "edit Creating -", 'f', "forbidden" },
	{ "tool_constraint", "expect_tools: [^write$]", EDITS, "edit Creating -", 'e', "written or" },
	{ "tool_constraint", "reject_tools: [create]", EDITS, "edit Creating -", 'e', "written or" },
	{ "tool_constraint", "allow_only: [write]", EDITS, "edit Creating -", 'e', "written or" },
	{ "tool_calls", "forbidden_tools: [write]", 0, "- apply_patch -", 'e', "written or" },
	{ "tool_calls", "forbidden_tools: [create]", 0, "- file_change -", 'e', "written or" },
	/* names of other agents' tools that do the same */
	{ "tool_constraint", "reject_tools: [bash]", 0, "- shell ls", 'f', "call 1 matches" },
	{ "tool_constraint", "reject_tools: [bash]", 0, "- run_shell_command ls", 'f', "call 1" },
	{ "tool_constraint", "reject_tools: [bash]", 0, "- exec_command ls", 'f', "call 1" },
	{ "tool_constraint", "reject_tools: ['bash|sh']", 0, "- execute_command ls", 'f', "call 1" },
	{ "tool_constraint", "reject_tools: ['bash.*']", 0, "- shell ls", 'f', "call 1" },
	{ "tool_constraint", "reject_tools: [execute]", 0, "- bash ls", 'f', "call 1" },
	{ "tool_constraint", "reject_tools: [local_shell]", 0, "- Bash ls", 'f', "call 1" },
	{ "tool_constraint", "reject_tools: [cat]", 0, "- Read -", 'f', "call 1" },
	{ "tool_constraint", "reject_tools: [str_replace_editor]", 0, "- Edit -", 'f', "call 1" },
	{ "tool_constraint", "reject_tools: [str_replace_editor]", 0, "- write_file -", 'f', "call 1" },
	{ "tool_constraint", "reject_tools: [str_replace_editor]", 0, "- Read -", 'p', "" },
	{ "tool_constraint", "reject_tools: [create]", 0, "- Write -", 'f', "call 1" },
	{ "tool_constraint", "expect_tools: [{tool: bash, command_pattern: ^ls$}]", 0, "- shell ls",
	    'p', "" },
	{ "tool_constraint", "allow_only: [bash]", 0, "- run_shell_command ls", 'p', "" },
	{ "tool_constraint", "allow_only: [view]", 0, "- run_shell_command ls", 'f', "called" },
	{ "tool_calls", "forbidden_tools: [bash]", 0, "- run_shell_command ls", 'f', "forbidden" },
	{ "tool_calls", "required_tools: [bash]", 0, "- run_shell_command ls", 'p', "" },
	{ "behavior", "forbidden_tools: [web_fetch]", 0, "- WebFetch -", 'f', "forbidden" },
	{ "action_sequence", "{mode: exact_match, expected_actions: [bash]}", 0, "- shell ls", 'p', "" },
	{ "action_sequence", "{mode: any_order, expected_actions: [view]}", 0, "- read_file -", 'p', "" },
	/* tools of the same kind for another purpose */
	{ "tool_calls", "forbidden_tools: [WebSearch]", 0, "- WebFetch -", 'p', "" },
	{ "tool_calls", "forbidden_tools: [web_search]", 0, "- WebSearch -", 'f', "forbidden" },
	{ "tool_calls", "required_tools: [grep]", 0, "- Glob -", 'f', "not called" },
	{ "tool_calls", "required_tools: [grep]", 0, "- search_file_content -", 'p', "" },
	{ "tool_calls", "forbidden_tools: [Read]", 0, "- LS -", 'p', "" },
	{ "tool_calls", "forbidden_tools: [read]", 0, "- LS -", 'f', "forbidden" },
	{ "tool_calls", "forbidden_tools: [NotebookEdit]", 0, "- Edit -", 'p', "" },
	/* case */
	{ "tool_calls", "forbidden_tools: [MY_TOOL]", 0, "- my_tool -", 'f', "forbidden" },
	{ "behavior", "forbidden_tools: [Shell]", 0, "- Bash ls", 'f', "forbidden" },
	{ "action_sequence", "{mode: in_order, expected_actions: [My_Tool]}", 0, "- mY_tOOL -", 'p',
	    "" },
	{ "tool_constraint", "allow_only: [MY_TOOL]", 0, "- my_tool -", 'p', "" },
	/* denied calls were not made */
	{ "tool_constraint", "reject_tools: [shell]", DENIED, "shell Bash ls", 'p', "" },
	{ "tool_constraint", "expect_tools: [shell]", DENIED, "shell Bash ls", 'f',
	    "calls: Bash \"ls\" (denied)" },
	{ "behavior", "forbidden_tools: [Bash]", DENIED, "shell Bash ls", 'p', "" },
	{ "tool_calls", "max_calls: 0", DENIED, "shell Bash ls", 'p', "" },
	{ "tool_calls", "max_calls: 0", 0, "shell Bash ls", 'f', "1 tool calls" },
	{ "code", "assertions: [\"tool_calls[0]['denied']\"]", DENIED, "shell Bash ls", 'p', "" },
	{ "code", "assertions: [\"tool_calls[0]['denied']\"]", 0, "shell Bash ls", 'f', "" },
};

static void
unknowns(void)
{
	struct answer_call c;
	struct answer a;
	struct with w = { .answer = &a, .duration_ms = 2 };
	struct verdict v;
	char tool[20], name[20], rest[40];
	size_t i;

	for (i = 0; i < COUNTOF(doubts); i++) {
		c = (struct answer_call){ .success = true, .arguments = STR("{}"),
			.no_arguments = doubts[i].flags & BARE,
			.no_name = doubts[i].flags & NAMELESS,
			.any_edit = doubts[i].flags & EDITS,
			.no_result = doubts[i].flags & BLANK,
			.denied = doubts[i].flags & DENIED };
		a = (struct answer){ .no_calls = doubts[i].flags & MUTE };
		if (sscanf(doubts[i].call, "%19s %19s %39[^\n]", tool, name,
		    rest) == 3) {
			c.tool = answer_tool_of(str_of(tool));
			c.name = str_of(name);
			c.command = str_of(*rest == '-' ? "" : rest);
			if (*tool == '-')
				answer_classify(&mem, &c, STR(""));
			a.calls = &c;
			a.ncalls = 1;
		}
		v = grade_with(doubts[i].type, yaml(doubts[i].config), &w);
		if ((v.error.n > 0 ? 'e' : v.passed ? 'p' : 'f') !=
		    doubts[i].verdict)
			printf("# %s %s: %.*s\n", doubts[i].config,
			    doubts[i].call, STRF(v.feedback));
		OK((v.error.n > 0 ? 'e' : v.passed ? 'p' : 'f') ==
		    doubts[i].verdict);
		OK(has(v.feedback, doubts[i].text));
	}
	v = grade_with("tool_calls", yaml("forbidden_tools: [Bash]"),
	    &(struct with){ .calls = "Bash {\"x\":1}\nls" });
	OK(has_details(v, "{calls: [{name: Bash, tool: other, success: false}, "
	    "{name: ls, tool: other, success: false}]}"));
}

/* One matcher and one argument. */
static const struct {
	const char *matcher, *argument;
	bool matches;
	const char *why;
} matchers[] = {
	{ "{equals: 1}", "1", true, "" },
	{ "{equals: 1}", "1.0", true, "" },
	{ "{equals: 1}", "\"1\"", false, "1 expected, \"1\" found" },
	{ "{equals: '1'}", "\"1\"", true, "" },
	{ "{equals: null}", "null", true, "" },
	{ "{equals: null}", "0", false, "null expected, 0 found" },
	{ "{equals: true}", "true", true, "" },
	{ "{equals: {a: 1, b: [x]}}", "{\"b\":[\"x\"],\"a\":1}", true, "" },
	{ "{equals: {a: 1, b: [x]}}", "{\"b\":[\"y\"],\"a\":1}", false,
	    "{\"a\":1,\"b\":[\"x\"]} expected, {\"b\":[\"y\"],\"a\":1} found" },
	{ "{equals: [1, 2]}", "[2,1]", false, "[1,2] expected, [2,1] found" },
	{ "1", "1", true, "" },
	{ "x", "\"x\"", true, "" },
	{ "x", "\"xy\"", false, "\"x\" expected, \"xy\" found" },
	{ "null", "null", true, "" },
	{ "[1, a]", "[1,\"a\"]", true, "" },
	{ "{a: 1}", "{\"a\":1}", true, "" },
	{ "{a: 1, b: 2}", "{\"a\":1}", false, "expected" },
	{ "{regex: '^a.c$'}", "\"abc\"", true, "" },
	{ "{regex: '^a.c$'}", "\"ABC\"", false, "a match for \"^a.c$\" expected, \"ABC\" found" },
	{ "{regex: '^12$'}", "12", true, "" },
	{ "{regex: '\"k\":\\[1'}", "{ \"k\" : [ 1 ] }", true, "" },
	{ "{regex: '^$'}", "null", true, "" },
	{ "{contains: bc}", "\"abcd\"", true, "" },
	{ "{contains: BC}", "\"abcd\"", false, "text with \"BC\" expected, \"abcd\" found" },
	{ "{contains: '\"b\"'}", "[\"a\", \"b\"]", true, "" },
	{ "{contains: 12}", "\"a12\"", true, "" },
	{ "{contains: rue}", "true", true, "" },
	{ "{range: {gte: 1, lte: 3}}", "1", true, "" },
	{ "{range: {gte: 1, lte: 3}}", "3", true, "" },
	{ "{range: {gte: 1, lte: 3}}", "3.01", false, "lte 3 expected, 3.01 found" },
	{ "{range: {gt: 1}}", "1", false, "gt 1 expected, 1 found" },
	{ "{range: {lt: 1}}", "1e0", false, "lt 1 expected, 1e0 found" },
	{ "{range: {lt: 1}}", "-1e300", true, "" },
	{ "{range: {gte: 1}}", "\"2\"", false, "a number expected, \"2\" found" },
	{ "{range: {gte: 1}}", "1e999", false, "a number expected, 1e999 found" },
	{ "{json_schema: {type: integer, minimum: 2}}", "2", true, "" },
	{ "{json_schema: {type: integer, minimum: 2}}", "1", false, "" },
	{ "{json_schema: {type: object, required: [a]}}", "{\"a\":{}}", true, "" },
	{ "{json_schema: {type: object, properties: {a: {type: string}}}}", "{\"a\":1}", false,
	    "/a" },
};

static void
arguments(void)
{
	struct verdict v;
	size_t i;

	for (i = 0; i < COUNTOF(matchers); i++) {
		v = grade("tool_calls", arena_fmt(&mem, "expect: [{tool: t, "
		    "args: {v: %s}}]", matchers[i].matcher).p,
		    arena_fmt(&mem, "t {\"v\":%s}", matchers[i].argument).p);
		if (v.error.n > 0 || v.passed != matchers[i].matches)
			printf("# %s, %s: %.*s%.*s\n", matchers[i].matcher,
			    matchers[i].argument, STRF(v.feedback),
			    STRF(v.error));
		OK(v.error.n == 0 && v.passed == matchers[i].matches);
		OK(v.passed || has(v.feedback, matchers[i].why));
		OK(utf8_valid(v.feedback) && utf8_valid(v.details));
	}
	/* by path, only if no argument has the whole name */
	v = grade("tool_calls", "expect: [{tool: t, args: {a.b.1.c: 2}}]",
	    "t {\"a\":{\"b\":[0,{\"c\":2}]}}");
	OK(v.passed);
	v = grade("tool_calls", "expect: [{tool: t, args: {a.b: 2}}]",
	    "t {\"a\":{\"b\":2},\"a.b\":3}");
	OK(!v.passed && has(v.feedback, "2 expected, 3 found"));
	v = grade("tool_calls", "expect: [{tool: t, args: {a.: 2, a.b: 1}}]",
	    "t {\"a\":[1]}");
	OK(!v.passed && has(v.feedback, "argument \"a.\": missing; "
	    "argument \"a.b\": missing"));
}

static void
details(void)
{
	struct verdict v;
	struct with w = { .calls = "bash\nrm", .skills = "s t u",
		.duration_ms = 1500 };

	v = grade_with("behavior", yaml("{max_tool_calls: 1, max_duration_ms: "
	    "1000, required_tools: [bash]}"), &w);
	OK(near(v.score, 1.0 / 3));
	OK(has(v.feedback, "1500 ms until the answer, at most 1000 expected"));
	OK(has_details(v, "{max_tool_calls: 1, max_tokens: 0, max_duration_ms: 1000, "
	    "required_tools: [bash], forbidden_tools: null, tool_call_count: 2, "
	    "tools_used: [bash, rm], actual_duration: 1500}"));
	OK(grader_search(&mem, v.details, STR("tokens_total")) == SIZE_MAX);
	w.usage = (struct answer_usage){ .known = true, .turns = 4,
		.turns_known = true, .input_tokens = 60, .output_tokens = 50 };
	v = grade_with("behavior", yaml("{max_tokens: 109, max_iterations: 3, "
	    "max_response_time_ms: 1500}"), &w);
	OK(near(v.score, 1.0 / 3));
	OK(has(v.feedback, "110 tokens, at most 109 expected; 4 turns, at "
	    "most 3 expected"));
	OK(has_details(v, "{tokens_total: 110, max_response_time_ms: 1500}"));
	v = grade("behavior", "forbidden_tools: [a]", NULL);
	OK(has_details(v, "{failures: null, tools_used: null, required_tools: null}"));
	v = grade("action_sequence", "{matching_mode: exact_match, "
	    "expected_actions: [a]}", NULL);
	OK(has_details(v, "{matching_mode: exact_match, expected_actions: [a], "
	    "actual_actions: null, precision: 0, recall: 0, f1: 0}"));
	v = grade_with("tool_constraint", yaml("{expect_tools: [{tool: b, "
	    "args: {x: 1, y: 2}}], max_turns: 3, max_tokens: 200}"), &w);
	OK(near(v.score, 1.0 / 3));
	OK(has_details(v, "{expect_tools: ['b (args: [x, y])'], reject_tools: [], "
	    "tools_used: [bash, rm], tokens_total: 110, total_turns: 4}"));
	OK(has(v.details, "\"failures\":[\"no call matches"));
	v = grade_with("tool_calls", yaml("{expect: [{tool: rm}, {tool: x, "
	    "args: {n: {equals: 1}}}]}"), &w);
	OK(has_details(v, "{total_calls: 2, unique_tools: [bash, rm], passed_checks: "
	    "1, total_checks: 2, expect: [{tool: rm, matched_call_index: 1}, "
	    "{tool: x, args: {n: {equals: 1}}, reason: no such tool "
	    "was called}]}"));
}

/* Verdicts on skills. */
static const struct {
	const char *config, *skills;
	double score;
	bool passed;
	const char *feedback;
} skill_rows[] = {
	{ "{mode: any_order, required_skills: [s], allow_extra: false}", "s t u", 0.3, true,
	    "the skills are as expected; 3 used, only 1 expected" },
	{ "{mode: any_order, required_skills: [s]}", "s t u", 0.5, true, "as expected" },
	{ "{mode: in_order, required_skills: [s, u]}", "s t u", 0.8, true, "as expected" },
	{ "{mode: in_order, required_skills: [u, s]}", "s t u", 0.8, false,
	    "first difference at 2: \"s\" not found after \"u\"; expected 2 skills in this order: "
	    "\"u\", \"s\"; found 3: \"s\", \"t\", \"u\"" },
	{ "{mode: exact_match, required_skills: [s]}", "s", 1, true, "as expected" },
	{ "{mode: exact_match, required_skills: [s]}", "", 0, false, "found 0: none" },
	{ "{mode: exact_match, required_skills: [s], allow_extra: false}", "t s", 2.0 / 3 * 0.7,
	    false, "\"t\", \"s\"; 2 used, only 1 expected" },
	{ "{forbidden_skills: [x]}", "s", 1, true, "as expected" },
	{ "{forbidden_skills: [x, t, x]}", "t x s", 0, false,
	    "forbidden skills were used: \"t\", \"x\"" },
	{ "{mode: any_order, required_skills: [s], forbidden_skills: [t]}", "s t", 0, false,
	    "forbidden skills were used: \"t\"" },
	{ "{mode: any_order, required_skills: [z], forbidden_skills: [t]}", "s t", 0, false,
	    "missing \"z\"; expected 1 skills in any order" },
	{ "{mode: exact_match, required_skills: [], allow_extra: false}", "", 1, true, "expected" },
	{ "{mode: exact_match, required_skills: [], allow_extra: false}", "s", 0, false,
	    "expected no skill; found 1: \"s\"" },
	{ "{mode: exact_match, required_skills: []}", "s", 0, false, "expected no skill" },
	{ "{mode: any_order, required_skills: [], allow_extra: false}", "s", 0, false, "no skill" },
	{ "{forbidden_skills: [x], allow_extra: false}", "s", 1, true, "as expected" },
	{ "{forbidden_skills: [x], mode: exact_match}", "s", 1, true, "as expected" },
	{ "{mode: any_order_match, required_skills: s}", "s", 1, true, "as expected" },
};

static void
skills(void)
{
	struct with w = { 0 };
	struct verdict v;
	size_t i;

	for (i = 0; i < COUNTOF(skill_rows); i++) {
		w.skills = skill_rows[i].skills;
		v = grade_with("skill_invocation", yaml(skill_rows[i].config),
		    &w);
		if (!near(v.score, skill_rows[i].score))
			printf("# %s: %.17g\n", skill_rows[i].config, v.score);
		OK(v.error.n == 0 && near(v.score, skill_rows[i].score) &&
		    v.passed == skill_rows[i].passed);
		OK(has(v.feedback, skill_rows[i].feedback));
	}
	w.skills = "s t u";
	v = grade_with("skill_invocation", yaml(skill_rows[0].config), &w);
	OK(has_details(v, "{mode: any_order, required_skills: [s], forbidden_skills: [], "
	    "forbidden_violations: [], actual_skills: [s, t, u], allow_extra: "
	    "false, recall: 1, f1: 0.5}"));
	w.skills = "";
	v = grade_with("skill_invocation", yaml("forbidden_skills: [a]"), &w);
	OK(has_details(v, "{mode: any_order, required_skills: [], actual_skills: [], "
	    "allow_extra: true, precision: 1, recall: 1, f1: 1}"));
	w.no_skills = true;
	v = grade_with("skill_invocation", yaml("forbidden_skills: [a]"), &w);
	OK(v.skipped && !v.passed && v.score == 0 && v.error.n == 0);
	OK(has(v.feedback, "gemini does not report the skills that it used"));
	w.skills = "a";			/* it did report some */
	v = grade_with("skill_invocation", yaml("forbidden_skills: [a]"), &w);
	OK(!v.skipped && has(v.feedback, "forbidden skills were used"));
}

static const char *
in_dir(const char *name)
{
	return arena_fmt(&mem, "%s/%s", dir, name).p;
}

static void
put_file(const char *name, const char *text)
{
	write_file(in_dir(name), text);
}

static struct verdict
trigger(const char *config, const char *prompt)
{
	struct with w = { .prompt = prompt, .file = in_dir("eval.yaml") };

	return grade_with("trigger", yaml(config), &w);
}

static void
triggers(void)
{
	static const struct spec_expected yes = { .trigger_given = true,
		.should_trigger = true };
	struct with w = { .prompt = "deploy the stack", .expected = &yes,
		.file = in_dir("eval.yaml") };
	struct verdict v;

	put_file("SKILL.md", "---\nname: azure-deploy\ndescription: |\n"
	    "  Deploys things.\n  USE FOR: \"ship the\n  code\", \"roll back\". "
	    "DO NOT USE FOR: poetry, haiku.\n---\n"
	    "Deploy a Stack of \303\234bergr\303\266\303\237e with care.\n");
	/* stack, deploy; not: the (a stop word), to, up (too short) */
	v = trigger("{skill_path: SKILL.md, mode: positive}",
	    "Deploy the stack: stack up to Kubernetes!");
	OK(v.passed && near(v.score, 2.0 / 3));
	OK(has_details(v, "{mode: positive, threshold: 0.6, skill_path: SKILL.md, "
	    "matched_keywords: [deploy, stack], matched_count: 2, "
	    "keyword_count: 12, phrase_score: 0}"));
	OK(has(v.feedback, "the prompt matches the skill: score 0.67, at least "
	    "0.60 (2 of 3 words are words of the skill: \"deploy\", \"stack\"; "
	    "best phrase 0.00)"));
	v = trigger("{skill_path: ., mode: negative}", "Deploy the stack");
	OK(!v.passed && near(v.score, 1));
	OK(has(v.feedback, "the prompt matches the skill, but should not"));
	/* words after "DO NOT USE FOR:" do not count */
	v = trigger("{skill_path: SKILL.md, mode: negative}",
	    "Write me a haiku, some poetry");
	OK(v.passed && near(v.score, 0));
	OK(has_details(v, "{matched_keywords: null, matched_count: 0}"));
	v = trigger("{skill_path: SKILL.md, mode: positive}", "a haiku");
	OK(!v.passed && has(v.feedback, "does not match the skill, but should"));
	/* a phrase: literally, or by its words */
	v = trigger("{skill_path: SKILL.md, mode: positive}",
	    "Would everybody please SHIP the Code somewhere nice today");
	OK(v.passed && near(v.score, 1) && has_details(v, "{phrase_score: 1}"));
	v = trigger("{skill_path: SKILL.md, mode: positive, threshold: 0.51}",
	    "Would everybody please roll somewhere nice today");
	OK(!v.passed && near(v.score, 0.5) && has_details(v, "{phrase_score: 0.5}"));
	v = trigger("{skill_path: SKILL.md, mode: positive}",
	    "\303\234BERGR\303\226\303\237E");
	OK(v.passed && near(v.score, 1));
	v = trigger("{skill_path: SKILL.md, mode: positive}", "a to \xFF\xFE");
	OK(!v.passed && near(v.score, 0) && utf8_valid(v.feedback));
	v = trigger("{skill_path: SKILL.md, mode: positive, threshold: 0}", "");
	OK(v.passed && near(v.score, 0));
	/* without a mode, the task's `expected:` decides */
	v = grade_with("trigger", yaml("skill_path: SKILL.md"), &w);
	OK(v.passed && has_details(v, "{mode: positive}"));
	w.expected = NULL;
	OK(grade_with("trigger", yaml("skill_path: SKILL.md"), &w).error.n > 0);
	v = trigger("{skill_path: no/SKILL.md, mode: positive}", "x");
	OK(v.error.n > 0 && !v.passed);
}

/* How phrases are split: the score of a prompt with one word of two. */
static void
phrases(void)
{
	static const struct {
		const char *description, *prompt;
		double phrase;
	} cases[] = {
		{ "Use for: one two, three four (see five)", "three four", 1 },
		{ "Use for: one two, three four (see five)", "five", 0 },
		{ "Use for: one two.", "two one", 1 },
		{ "DO NOT USE FOR: one. USE FOR: two", "two", 1 },
		{ "DO NOT USE FOR: one two", "one two", 0 },
		{ "USE FOR: one two INVOKES: three", "three", 0 },
		{ "USE FOR: one two FOR SINGLE OPERATIONS: three", "one", 0.5 },
		{ "USE FOR: say \\u201Cone two\\u201D, three", "three", 0 },
		{ "USE FOR: say \\u201Cone two\\u201D, three", "two", 0.5 },
		{ "USE FOR: \\\"\\\"\\\"one\\\" x \\\"two", "one", 1 },
		{ "USE FOR: , ,,", "one", 0 },
		{ "USE FOR:", "one", 0 },
		{ "nothing", "one", 0 },
	};
	struct verdict v;
	struct str want;
	size_t i;

	for (i = 0; i < COUNTOF(cases); i++) {
		put_file("SKILL.md", arena_fmt(&mem, "---\nname: some-skill\n"
		    "description: \"%s\"\n---\n", cases[i].description).p);
		v = trigger("{skill_path: SKILL.md, mode: positive}",
		    cases[i].prompt);
		want = arena_fmt(&mem, "{phrase_score: %g}", cases[i].phrase);
		if (!has_details(v, want.p))
			printf("# %s\n", cases[i].description);
		OK(has_details(v, want.p));
	}
}

/* Notes about settings and their places. */
static struct str
check_with(const char *type, const char *config, const char *executor)
{
	struct spec_notes notes = { .arena = &mem };
	struct spec_grader g = { .weight = 1, .at = { in_dir("e.yaml"), 9, 9 } };
	struct spec_def def = { .rows = NULL };
	struct spec_task task = { .def = &def, .at = { "t.yaml", 1, 1 } };
	struct spec_suite suite = { .dir = ".", .graders = { &g, 1 },
		.tasks = &task, .ntasks = 1, .inputs = yaml("{p: '('}") };
	const struct spec_note *n;
	struct buf b = { 0 };

	suite.config.executor = str_of(executor);
	g.name = STR("g");
	g.type = str_of(type);
	g.config = yaml(config);
	grader_check(&suite, &notes);
	for (n = notes.head; n != NULL; n = n->next)
		spec_note_put(&b, n);
	return arena_take(&mem, &b);
}

static const struct {
	const char *type, *config;
	const char *note;	/* after the file's name; "": no note */
} check_rows[] = {
	{ "behavior", "{}", ":9:9: this grader checks nothing: add " },
	{ "behavior", "max_tool_calls: 0", ":1:17: warning: 0 means no limit; to forbid all "
	    "calls, use a \"tool_calls\" grader with \"max_calls: 0\"\n" },
	{ "behavior", "max_tool_calls: 0", ":9:9: this grader checks nothing: add " },
	{ "behavior", "max_tool_calls: -1", ":1:17: \"max_tool_calls\" must be at least 0" },
	{ "behavior", "max_tool_call: 1", ":1:1: warning: unknown key \"max_tool_call\"" },
	{ "behavior", "required_tools: ['']", ":1:18: empty name\n" },
	{ "behavior", "required_tools: []", ":9:9: this grader checks nothing: add " },
	{ "behavior", "{max_tool_calls: 1, max_tokens: 2, max_duration_ms: 3, required_tools: [a], "
	    "forbidden_tools: [b]}", "" },
	{ "action_sequence", "{matching_mode: exact_match}", ":1:1: Missing required field: "
	    "expected_actions\n" },
	{ "action_sequence", "{expected_actions: [a]}", ":1:1: Missing required field: "
	    "matching_mode\n" },
	{ "action_sequence", "{matching_mode: exact, expected_actions: [a]}",
	    "did you mean \"exact_match\"?" },
	{ "action_sequence", "{matching_mode: in_order_mach, expected_actions: [a]}",
	    "did you mean \"in_order_match\"?" },
	{ "action_sequence", "{matching_mode: exact_match, expected_actions: []}",
	    ":1:48: \"expected_actions\" is empty, so this grader checks nothing" },
	{ "action_sequence", "{matching_mode: in_order_match, expected_actions: [a, b]}", "" },
	{ "skill_invocation", "{}", ":9:9: this grader checks nothing: add " },
	{ "skill_invocation", "{mode: any_order, required_skills: []}", "checks nothing: add " },
	{ "skill_invocation", "{required_skills: [a]}", ":9:9: \"required_skills\" needs a "
	    "\"mode\": exact_match, in_order or any_order\n" },
	{ "skill_invocation", "{mode: inorder, required_skills: [a]}", "did you mean \"in_order\"?" },
	{ "skill_invocation", "{forbidden_skills: [a]}", "" },
	{ "skill_invocation", "{mode: exact_match, required_skills: [], allow_extra: false}", "" },
	{ "tool_constraint", "{}", ":9:9: this grader checks nothing: add " },
	{ "tool_constraint", "{expect_tools: [], reject_tools: []}", "checks nothing: add " },
	{ "tool_constraint", "allow_only: []", "" },
	{ "tool_constraint", "max_turns: 5", "" },
	{ "tool_constraint", "expect_tools: [a, 'b(']", ":1:19: invalid pattern \"b(\"" },
	{ "tool_constraint", "expect_tools: 'b('", ":1:15: invalid pattern \"b(\"" },
	{ "tool_constraint", "expect_tools: [{tool: a, path_pattern: '['}]",
	    ":1:40: invalid pattern \"[\"" },
	{ "tool_constraint", "expect_tools: [{tol: a}]", ":1:16: Missing required field: tool\n" },
	{ "tool_constraint", "expect_tools: [{tool: a, pathpattern: b}]",
	    "did you mean \"path_pattern\"?" },
	{ "tool_constraint", "reject_tools: [{tool: ''}]", ":1:16: \"tool\" is empty\n" },
	{ "tool_constraint", "reject_tools: [1]", ":1:16: \"reject_tools\": expected a mapping with "
	    "\"tool\" or the name of a tool, not a number\n" },
	{ "tool_constraint", "expect_tools: ['{{.Vars.p}}']", ":1:16: invalid pattern \"(\"" },
	{ "tool_constraint", "expect_tools: ['{{.Vars.q}}']", ":1:16: template: " },
	{ "tool_calls", "{}", ":9:9: this grader checks nothing: add " },
	{ "tool_calls", "{expect: []}", ":9:9: this grader checks nothing: add " },
	{ "tool_calls", "max_calls: 0", "" },
	{ "tool_calls", "{min_calls: 3, max_calls: 2}", ":1:13: \"min_calls\" is more than "
	    "\"max_calls\"\n" },
	{ "tool_calls", "expect: [{tool: a, args: [x]}]", ":1:26: \"args\" must be a mapping of "
	    "argument names to matchers\n" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {equals: 1, regex: a}}}]", ":1:30: argument "
	    "\"x\": expected exactly one of equals, regex, contains, range and json_schema\n" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {equals: 1, y: 2}}}]", "exactly one of" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {}}}]", "exactly one of" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {regexp: a}}}]", "unknown matcher \"regexp\" "
	    "(did you mean \"regex\"?); use \"equals\" to compare with a mapping" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {gte: 1}}}]", "did you mean \"range\"?" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {regex: '('}}}]",
	    ":1:38: invalid pattern \"(\"" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {regex: ''}}}]", "is empty" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {contains: []}}}]", "must be a string" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {range: {}}}}]", "needs one of gte" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {range: {min: 1}}}}]", "takes only gte, gt" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {range: {gte: a}}}}]", "must be a number" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {range: {gte: 2, lt: 1}}}}]",
	    "\"range\" is empty" },
	{ "tool_calls", "expect: [{tool: a, args: {x: {json_schema: {type: 1}}}}]",
	    ":1:44: json_schema: " },
	{ "tool_calls", "expect: [{tool: a, args: {x: {json_schema: true}}}]",
	    "must be a non-empty mapping" },
	{ "tool_calls", "{required_tools: [a], expect: [{tool: a, args: {x: 1, y: {equals: {}}, z: "
	    "{range: {gt: 1}}}}]}", "" },
	{ "trigger", "{mode: positive}", ":1:1: Missing required field: skill_path\n" },
	{ "trigger", "{skill_path: ., mode: possitive}", "did you mean \"positive\"?" },
	{ "trigger", "{skill_path: ., mode: positive, threshold: 1.5}", ":1:44: \"threshold\" must be " },
	{ "trigger", "{skill_path: .}", ":9:9: \"mode\" is required" },
	{ "trigger", "{skill_path: no/where, mode: positive}", ":1:14: skill "
	    "\"no/where\" not found beside this file or in the working directory\n" },
	{ "trigger", "{skill_path: bad.md, mode: positive}", ":1:14: skill \"bad.md\": " },
	{ "trigger", "{skill_path: empty.md, mode: positive}", "it contains no words" },
	{ "trigger", "{skill_path: ., mode: positive}", "" },
};

static void
checks(void)
{
	struct str s, file = str_of(in_dir("e.yaml"));
	const char *note;
	size_t i;

	put_file("SKILL.md", "---\nname: a-skill\n---\n");
	put_file("bad.md", "---\nname: [\n---\nbody\n");
	put_file("empty.md", "---\n---\na b c\n");
	for (i = 0; i < COUNTOF(check_rows); i++) {
		s = check_with(check_rows[i].type, check_rows[i].config,
		    "copilot-sdk");
		note = check_rows[i].note;
		if (note[0] == ':')
			note = arena_fmt(&mem, "%.*s%s", STRF(file), note).p;
		OK(note[0] == '\0' ? s.n == 0 : has(s, note));
		if (note[0] == '\0' && s.n > 0)
			printf("# %.*s\n", STRF(s));
	}
	OK(has(check_with("behavior", "max_tool_calls: 1", "command"),
	    "command does not report tool calls: rules on that cannot be "
	    "checked, and their trials end as errors"));
	OK(has(check_with("behavior", "max_tokens: 1", "command"),
	    "does not report tokens"));
	OK(has(check_with("tool_constraint", "max_turns: 1", "gemini"),
	    "gemini does not report turns"));
	OK(check_with("behavior", "max_tokens: 1", "gemini").n == 0);
	OK(check_with("behavior", "max_tokens: 1", "copilot-cli").n == 0);
	OK(check_with("behavior", "max_duration_ms: 1", "command").n == 0);
	OK(has(check_with("code", "assertions: ['not tool_calls']", "command"),
	    "does not report tool calls"));
	OK(check_with("code", "assertions: ['\"tool_calls\" in output']",
	    "command").n == 0);
	OK(has(check_with("skill_invocation", "forbidden_skills: [a]",
	    "command"), "does not report the skills that it used"));
}

/* A long trace of hostile names, graded by every kind. */
static void
floods(void)
{
	enum { CALLS = 20000, LISTED = 2000 };
	struct answer a = { .ncalls = CALLS };
	struct answer_call *c = NEW_N(&mem, struct answer_call, CALLS);
	struct with w = { .answer = &a };
	struct buf b = { 0 };
	struct verdict v;
	double began;
	size_t i;

	for (i = 0; i < CALLS; i++) {
		c[i].next = i + 1 < CALLS ? &c[i + 1] : NULL;
		c[i].name = arena_fmt(&mem, "a\001\377%zu", i % 50000);
		c[i].name.n--;
		if (i % 3 == 0)
			c[i].name = (struct str){ "x\0y\0\377", 5 };
		c[i].arguments = i % 2 ? STR("{\"n\":1,\"m\":[\"\\u0000\"]}") :
		    STR("{\"n\":");
	}
	a.calls = c;
	a.skills.v = NEW_N(&mem, struct str, CALLS);
	for (i = 0; i < CALLS; i++)
		a.skills.v[a.skills.n++] = c[i].name;
	for (i = 0; i < LISTED; i++)
		buf_fmt(&b, "%st%zu", i > 0 ? ", " : "", i);
	buf_putc(&b, '\0');
	began = tap_cpu();
	v = grade_with("behavior", yaml(arena_fmt(&mem, "{required_tools: [%s], "
	    "forbidden_tools: [%s]}", b.p, b.p).p), &w);
	OK(near(v.score, 0.5) && v.feedback.n < REASON_MAX + 4000);
	OK(utf8_valid(v.feedback) && utf8_valid(v.details));
	v = grade_with("action_sequence", yaml(arena_fmt(&mem, "{matching_mode: "
	    "any_order_match, expected_actions: [%s]}", b.p).p), &w);
	OK(!v.passed && v.feedback.n < 4000 && utf8_valid(v.feedback));
	v = grade_with("skill_invocation", yaml(arena_fmt(&mem, "{mode: "
	    "exact_match, required_skills: [%s], forbidden_skills: [%s]}",
	    b.p, b.p).p), &w);
	OK(!v.passed && v.feedback.n < 4000 && utf8_valid(v.feedback));
	v = grade_with("tool_calls", yaml("{expect: [{tool: ., args: {n: 2}}, "
	    "{tool: ., args: {m.0: {contains: z}}}, nobody]}"), &w);
	OK(near(v.score, 0) && v.error.n == 0);
	OK(utf8_valid(v.feedback) && utf8_valid(v.details));
	v = grade_with("tool_constraint", yaml("{reject_tools: [{tool: ., "
	    "args: {n: {range: {gt: 5}}}}], allow_only: [a]}"), &w);
	OK(near(v.score, 0.5) && v.feedback.n < 4000);
	OK(has(v.feedback, "\"a\\x01\\xFF") && utf8_valid(v.feedback));
	printf("# %d calls by five kinds: %.2f s\n", CALLS,
	    tap_cpu() - began);
	OK(tap_cpu() - began < 60);
	buf_free(&b);
}

int
main(void)
{
	static const char *const names[] = { "SKILL.md", "bad.md", "empty.md" };
	struct err e = { 0 };
	size_t i;

	if (os_init(&e) != 0 || mkdtemp(dir) == NULL ||
	    (loop = loop_new(NULL, &e)) == NULL)
		return 2;
	procs_init(&procs, loop, false);
	RUN(verdicts, unknowns, arguments, details, skills, triggers, phrases, checks);
	RUN_LARGE(floods);
	for (i = 0; i < COUNTOF(names); i++)
		unlink(in_dir(names[i]));
	OK(rmdir(dir) == 0);
	procs_fini(&procs);
	loop_free(loop);
	arena_free(&mem);
	return tap_done();
}

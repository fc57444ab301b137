/* SPDX-License-Identifier: ISC */
/*
 * The keys of a results file, as results/result_file.c and
 * results/result_trial.c write them.  Nothing is decoded by these tables; a
 * test checks results files against their schema.
 */
#include "editor/editor_schema.h"

#define ROW(k, t, ...) { .key = k, .type = t, __VA_ARGS__ }
#define ALWAYS .flags = FIELD_REQUIRED
#define TABLE(rows) { rows, COUNTOF(rows), 0, NULL }

static const char *const statuses[] = { "passed", "failed", "error", "skipped",
	"cancelled", "running", "timeout", "n/a", NULL };
static const char *const run_statuses[] = { "passed", "failed", "cancelled",
	"running", NULL };

static const struct field usage_rows[] = {
	ROW("turns", FIELD_INT, ALWAYS, .help = "turns of the model"),
	ROW("input_tokens", FIELD_INT, ALWAYS, .help = "tokens read"),
	ROW("output_tokens", FIELD_INT, ALWAYS, .help = "tokens written"),
	ROW("cache_read_tokens", FIELD_INT,
	    .help = "tokens read from a cache"),
	ROW("cache_write_tokens", FIELD_INT,
	    .help = "tokens written to a cache"),
	ROW("premium_requests", FIELD_NUM, .help = "requests of Copilot"),
	ROW("cost", FIELD_NUM, .help = "dollars"),
	ROW("cached_input_tokens", FIELD_INT,
	    .help = "tokens read from a cache"),
	ROW("reasoning_tokens", FIELD_INT, .help = "tokens of reasoning"),
	ROW("unknown", FIELD_STRS,
	    .help = "numbers that the agent does not report"),
	ROW("unknown_trials", FIELD_TREE,
	    .help = "of a sum: trials that do not report a number"),
};
static const struct field_table usage_table = TABLE(usage_rows);

static const struct field verdict_rows[] = {
	ROW("identifier", FIELD_STR, ALWAYS, .help = "name of the grader"),
	ROW("type", FIELD_STR, ALWAYS, .help = "kind of the grader"),
	ROW("score", FIELD_NUM, ALWAYS, .help = "from 0 to 1"),
	ROW("weight", FIELD_NUM, .help = "weight in the score of the trial"),
	ROW("passed", FIELD_BOOL, ALWAYS, .help = "the verdict"),
	ROW("feedback", FIELD_STR, .help = "reason of the verdict"),
	ROW("details", FIELD_TREE, .help = "more, by the kind of grader"),
	ROW("duration_ms", FIELD_INT, .help = "time it took"),
	ROW("error", FIELD_STR, .help = "why there is no verdict"),
	ROW("skipped", FIELD_BOOL, .help = "not graded; it does not count"),
	ROW("advisory", FIELD_BOOL, .help = "graded, but it does not count"),
};
static const struct field_table verdict_table = TABLE(verdict_rows);

static const struct field call_rows[] = {
	ROW("name", FIELD_STR, ALWAYS, .help = "name of the tool"),
	ROW("arguments", FIELD_TREE, .help = "five of its arguments"),
	ROW("result", FIELD_TREE, .help = "its result"),
	ROW("success", FIELD_BOOL, .help = "whether it succeeded"),
};
static const struct field_table call_table = TABLE(call_rows);

static const struct field digest_rows[] = {
	ROW("tool_call_count", FIELD_INT, ALWAYS, .help = "tool calls"),
	ROW("tools_used", FIELD_TREE, .schema = "\"type\":[\"array\",\"null\"]",
	    .help = "name of the tool of each call"),
	ROW("tool_calls", FIELD_OBJECTS, .sub = &call_table,
	    .help = "the tool calls"),
	ROW("errors", FIELD_TREE, .schema = "\"type\":[\"array\",\"null\"]",
	    .help = "errors of the session"),
	ROW("usage", FIELD_OBJECT, .sub = &usage_table,
	    .help = "tokens and cost"),
	ROW("session_id", FIELD_STR, .help = "id of the agent's session"),
	ROW("tool_policy_mode", FIELD_STR,
	    .help = "tools of a custom agent: unrestricted, deny_all, allow_list"),
	ROW("tool_policy_denials", FIELD_TREE,
	    .help = "tools that were denied before they ran"),
};
static const struct field_table digest_table = TABLE(digest_rows);

static const struct field event_rows[] = {
	ROW("sequence", FIELD_INT, ALWAYS, .help = "number of the call"),
	ROW("tool_name", FIELD_STR, ALWAYS, .help = "name of the tool"),
	ROW("args", FIELD_TREE, .help = "all arguments"),
	ROW("result", FIELD_TREE, .help = "its result"),
	ROW("success", FIELD_BOOL, .help = "whether it succeeded"),
	ROW("tool", FIELD_STR, .help = "the tool's name for all agents"),
	ROW("canonical", FIELD_TREE,
	    .help = "command, path, url and skill of the call"),
	ROW("any_edit", FIELD_BOOL, .help = "it can change any file"),
	ROW("more_paths", FIELD_BOOL, .help = "it concerns more files"),
	ROW("denied", FIELD_BOOL, .help = "the agent was not allowed to"),
	ROW("mock", FIELD_STR, .help = "MCP server whose mock answered"),
	ROW("unknown", FIELD_STRS,
	    .help = "what the agent does not report"),
};
static const struct field_table event_table = TABLE(event_rows);

static const struct field turn_rows[] = {
	ROW("prompt", FIELD_STR, ALWAYS, .help = "prompt of the turn"),
	ROW("output", FIELD_STR, ALWAYS, .help = "answer to it"),
};
static const struct field_table turn_table = TABLE(turn_rows);

static const struct field invocation_rows[] = {
	ROW("command", FIELD_STR, ALWAYS, .help = "name of the command"),
	ROW("args", FIELD_STRS, .help = "its arguments, without secrets"),
	ROW("exit_code", FIELD_INT, ALWAYS, .help = "exit status"),
	ROW("response_index", FIELD_INT, ALWAYS,
	    .help = "number of the response from 0; -1: none fitted"),
	ROW("passthrough", FIELD_BOOL, .help = "the real command ran"),
};
static const struct field_table invocation_table = TABLE(invocation_rows);

static const char *const suspects[] = { "infrastructure",
	"grader_contradicts_tests", "judge_disagrees", "tool_denied",
	"skill_not_found", "skill_not_used", NULL };
static const struct field suspect_rows[] = {
	ROW("kind", FIELD_ENUM, ALWAYS, .words = suspects,
	    .help = "kind of the suspect"),
	ROW("evidence", FIELD_STR, ALWAYS, .help = "what was found"),
	ROW("look_at", FIELD_STR, .help = "FILE:LINE of the place to look at"),
	ROW("grader", FIELD_STR, .help = "name of the grader it concerns"),
	ROW("tool_call", FIELD_INT,
	    .help = "sequence of the tool call it concerns"),
};
static const struct field_table suspect_table = TABLE(suspect_rows);

static const struct field trial_rows[] = {
	ROW("run_number", FIELD_INT, ALWAYS, .help = "number of the trial"),
	ROW("attempts", FIELD_INT, .help = "attempts at it"),
	ROW("status", FIELD_ENUM, ALWAYS, .words = statuses,
	    .help = "how it ended"),
	ROW("duration_ms", FIELD_INT, .help = "time of the agent"),
	ROW("validations", FIELD_TREE, .sub = &verdict_table,
	    .shape = FIELD_AS_MAP, .help = "verdicts by name of the grader"),
	ROW("session_digest", FIELD_OBJECT, .sub = &digest_table,
	    .help = "the agent's session in short"),
	ROW("transcript", FIELD_TREE, .help = "the agent's own events"),
	ROW("final_output", FIELD_STR, .help = "the answer"),
	ROW("error_msg", FIELD_STR, .help = "why it is an error"),
	ROW("error_class", FIELD_STR, .help = "where the error comes from"),
	ROW("score", FIELD_NUM, .help = "mean of the verdicts"),
	ROW("weighted_score", FIELD_NUM, .help = "the same with weights"),
	ROW("prompt", FIELD_STR, .help = "prompt that the agent got"),
	ROW("tool_events", FIELD_OBJECTS, .sub = &event_table,
	    .help = "tool calls with all arguments"),
	ROW("turns", FIELD_OBJECTS, .sub = &turn_table,
	    .help = "turns of a conversation"),
	ROW("skills", FIELD_STRS, .help = "skills that were used"),
	ROW("other_skills", FIELD_STRS,
	    .help = "used skills that are not the suite's"),
	ROW("stderr_tail", FIELD_STR, .help = "end of the agent's stderr"),
	ROW("exit_status", FIELD_INT, .help = "of the agent's program"),
	ROW("truncated", FIELD_BOOL, .help = "the answer was too long"),
	ROW("refused", FIELD_BOOL, .help = "the model refused to answer"),
	ROW("patch", FIELD_STR, .help = "changes in the workspace"),
	ROW("command_invocations", FIELD_OBJECTS, .sub = &invocation_table,
	    .help = "calls of mocked commands"),
	ROW("echo", FIELD_BOOL, .help = "the mock repeated the prompt"),
	ROW("confined", FIELD_BOOL,
	    .help = "whether the agent could write only in its workspace"),
	ROW("unknown", FIELD_STRS,
	    .help = "what the agent does not report"),
	ROW("skills_way", FIELD_STR, .help = "how the agent got the skills"),
	ROW("note", FIELD_STR, .help = "a remark"),
	ROW("workspace", FIELD_STR, .help = "directory that was kept"),
	ROW("started_at", FIELD_STR, .help = "start, as in RFC 3339"),
	ROW("grading_ms", FIELD_INT, .help = "time of the graders"),
	ROW("judge_usage", FIELD_OBJECT, .sub = &usage_table,
	    .help = "tokens and cost of judges"),
	ROW("earlier_usage", FIELD_OBJECT, .sub = &usage_table,
	    .help = "tokens and cost of the attempts before the last"),
	ROW("replayed", FIELD_BOOL, .help = "the answer is a recording"),
	ROW("cached", FIELD_BOOL, .help = "the answer is from the cache"),
	ROW("checkpoints", FIELD_TREE, .help = "verdicts after turns"),
	ROW("suspect", FIELD_OBJECT, .sub = &suspect_table,
	    .help = "why it may have failed, other than by the agent"),
};
static const struct field_table trial_table = TABLE(trial_rows);

static const struct field stats_rows[] = {
	ROW("pass_rate", FIELD_NUM, ALWAYS, .help = "share of passed trials"),
	ROW("avg_score", FIELD_NUM, .help = "mean score"),
	ROW("avg_weighted_score", FIELD_NUM, .help = "mean weighted score"),
	ROW("min_score", FIELD_NUM, .help = "smallest score"),
	ROW("max_score", FIELD_NUM, .help = "largest score"),
	ROW("std_dev_score", FIELD_NUM, .help = "standard deviation"),
	ROW("score_variance", FIELD_NUM, .help = "variance"),
	ROW("ci95_lo", FIELD_NUM, .help = "confidence interval, lower end"),
	ROW("ci95_hi", FIELD_NUM, .help = "confidence interval, upper end"),
	ROW("flaky", FIELD_BOOL, .help = "some trials passed, some did not"),
	ROW("avg_duration_ms", FIELD_INT, .help = "mean time"),
	ROW("bootstrap_ci", FIELD_TREE, .help = "interval of the score"),
	ROW("is_significant", FIELD_BOOL, .help = "the interval is above 0"),
	ROW("pass_rate_ci", FIELD_TREE, .help = "interval of the pass rate"),
	ROW("pass_at_k", FIELD_NUM, .help = "one of k trials passes"),
	ROW("pass_hat_k", FIELD_NUM, .help = "all of k trials pass"),
};
static const struct field_table stats_table = TABLE(stats_rows);

static const struct field source_rows[] = {
	ROW("file", FIELD_STR, ALWAYS, .help = "path of the file"),
	ROW("line", FIELD_INT, .help = "line, from 1"),
};
static const struct field_table source_table = TABLE(source_rows);

static const char *const control_verdicts[] = { "failed", "passed",
	"unknown", NULL };
static const struct field finding_rows[] = {
	ROW("control", FIELD_STR, ALWAYS,
	    .help = "null, echo, mutate or a file"),
	ROW("verdict", FIELD_ENUM, ALWAYS, .words = control_verdicts,
	    .help = "whether the task accepts its answer"),
	ROW("graders", FIELD_STRS, .help = "graders that accept it, or that "
	    "were not run"),
	ROW("note", FIELD_STR, .help = "the reason"),
	ROW("altered", FIELD_INT, .help = "altered answers"),
	ROW("accepted", FIELD_INT, .help = "altered answers that pass"),
};
static const struct field_table finding_table = TABLE(finding_rows);

static const struct field control_rows[] = {
	ROW("control", FIELD_STR, ALWAYS,
	    .help = "null, echo, mutate or a file"),
	ROW("tasks", FIELD_INT, ALWAYS, .help = "tasks that were tried"),
	ROW("passed", FIELD_INT, ALWAYS, .help = "tasks that accept it"),
	ROW("failed", FIELD_INT, ALWAYS, .help = "tasks that reject it"),
	ROW("unknown", FIELD_INT, ALWAYS, .help = "undecided tasks"),
	ROW("passed_tasks", FIELD_STRS, .help = "ids of those that accept"),
};
static const struct field_table control_table = TABLE(control_rows);

static const struct field task_rows[] = {
	ROW("test_id", FIELD_STR, ALWAYS, .help = "id of the task"),
	ROW("display_name", FIELD_STR, .help = "name of the task"),
	ROW("group", FIELD_STR, .help = "group of the task"),
	ROW("status", FIELD_ENUM, ALWAYS, .words = statuses,
	    .help = "how the task ended"),
	ROW("runs", FIELD_OBJECTS, .sub = &trial_table, ALWAYS,
	    .help = "its trials"),
	ROW("trials", FIELD_INT,
	    .help = "with a rule that ends trials early: how many it had"),
	ROW("stats", FIELD_OBJECT, .sub = &stats_table,
	    .help = "statistics over its trials"),
	ROW("skill_impact", FIELD_TREE, .help = "effect of the skills"),
	ROW("ref_impact", FIELD_TREE, .help = "effect of their change since "
	    "a revision"),
	ROW("error_class", FIELD_STR, .help = "where the error comes from"),
	ROW("error_msg", FIELD_STR, .help = "why it is an error"),
	ROW("skip_reason", FIELD_STR,
	    .help = "why trials were not started: \"budget: ...\""),
	ROW("golden", FIELD_BOOL, .help = "waza gate fails without it"),
	ROW("controls", FIELD_OBJECTS, .sub = &finding_table,
	    .help = "answers of no agent that were tried"),
	ROW("selected_because", FIELD_STR, .help = "why --changed selected "
	    "it"),
	ROW("quarantine", FIELD_STR, .help = "why it does not count"),
	ROW("quarantine_until", FIELD_STR, .help = "last day of that"),
	ROW("source", FIELD_OBJECT, .sub = &source_table,
	    .help = "where the task is defined"),
};
static const struct field_table task_table = TABLE(task_rows);

static const struct field group_rows[] = {
	ROW("name", FIELD_STR, ALWAYS, .help = "name of the group"),
	ROW("passed", FIELD_INT, ALWAYS, .help = "passed tasks"),
	ROW("total", FIELD_INT, ALWAYS, .help = "tasks"),
	ROW("avg_score", FIELD_NUM, .help = "mean score"),
};
static const struct field_table group_table = TABLE(group_rows);

static const struct field summary_rows[] = {
	ROW("total_tests", FIELD_INT, ALWAYS, .help = "tasks that count"),
	ROW("quarantined", FIELD_INT, .help = "tasks in quarantine, which "
	    "are in none of the other numbers"),
	ROW("succeeded", FIELD_INT, ALWAYS, .help = "passed tasks"),
	ROW("failed", FIELD_INT, ALWAYS, .help = "failed tasks"),
	ROW("errors", FIELD_INT, ALWAYS, .help = "tasks with errors"),
	ROW("skipped", FIELD_INT, .help = "skipped tasks"),
	ROW("success_rate", FIELD_NUM, ALWAYS, .help = "share that passed"),
	ROW("aggregate_score", FIELD_NUM, .help = "mean score"),
	ROW("weighted_score", FIELD_NUM, .help = "mean weighted score"),
	ROW("min_score", FIELD_NUM, .help = "smallest score of a task"),
	ROW("max_score", FIELD_NUM, .help = "largest score of a task"),
	ROW("std_dev", FIELD_NUM, .help = "standard deviation"),
	ROW("duration_ms", FIELD_INT, .help = "time of the run"),
	ROW("groups", FIELD_OBJECTS, .sub = &group_table,
	    .help = "sums by group"),
	ROW("usage", FIELD_OBJECT, .sub = &usage_table,
	    .help = "tokens and cost"),
	ROW("saved_usage", FIELD_OBJECT, .sub = &usage_table,
	    .help = "tokens and cost of cached answers"),
	ROW("judge_usage", FIELD_OBJECT, .sub = &usage_table,
	    .help = "tokens and cost of judges"),
	ROW("statistics", FIELD_TREE, .help = "intervals"),
};
static const struct field_table summary_table = TABLE(summary_rows);

static const struct field config_rows[] = {
	ROW("runs_per_test", FIELD_INT, ALWAYS, .help = "trials per task"),
	ROW("model_id", FIELD_STR, .help = "model of the agent"),
	ROW("engine_type", FIELD_STR, .help = "executor"),
	ROW("timeout_sec", FIELD_INT, .help = "time limit of an answer"),
	ROW("judge_model", FIELD_STR, .help = "model of the judge"),
	ROW("seed", FIELD_INT, .help = "seed of the statistics"),
	ROW("stop", FIELD_STR, .help = "rule that ends trials early: decided "
	    "or ci=W; runs_per_test is then the largest number"),
	ROW("pass_threshold", FIELD_NUM, .help = "share of tasks that must "
	    "pass; without it all of them"),
	ROW("no_skills", FIELD_BOOL, .help = "it ran without the skills"),
	ROW("cell", FIELD_TREE, .help = "its values in a matrix"),
	ROW("skills_ref", FIELD_TREE, .help = "git revision of the skills"),
	ROW("fingerprint", FIELD_STR, .help = "hash of all that the run "
	    "reads: suite, tasks, input files, skills"),
	ROW("shard", FIELD_TREE, .help = "the part that this run did"),
};
static const struct field_table config_table_of_results = TABLE(config_rows);

static const struct field metric_rows[] = {
	ROW("identifier", FIELD_STR, ALWAYS, .help = "name of the metric"),
	ROW("value", FIELD_NUM, ALWAYS, .help = "its value"),
	ROW("threshold", FIELD_NUM, .help = "smallest value that passes"),
	ROW("passed", FIELD_BOOL, .help = "whether it is reached"),
	ROW("weight", FIELD_NUM, .help = "weight in the mean"),
};
static const struct field_table metric_table = TABLE(metric_rows);

static const struct field results_rows[] = {
	ROW("eval_id", FIELD_STR, .help = "id of the run"),
	ROW("skill", FIELD_STR, .help = "skill of the suite"),
	ROW("eval_name", FIELD_STR, ALWAYS, .help = "name of the suite"),
	ROW("timestamp", FIELD_STR, ALWAYS, .help = "start of the run"),
	ROW("config", FIELD_OBJECT, .sub = &config_table_of_results,
	    .help = "settings of the run"),
	ROW("summary", FIELD_OBJECT, .sub = &summary_table, ALWAYS,
	    .help = "sums and means"),
	ROW("metrics", FIELD_TREE, .sub = &metric_table,
	    .shape = FIELD_AS_MAP, .help = "metrics by name"),
	ROW("tasks", FIELD_OBJECTS, .sub = &task_table, ALWAYS,
	    .help = "the tasks"),
	ROW("controls", FIELD_OBJECTS, .sub = &control_table,
	    .help = "sums over the controls"),
	ROW("matrix", FIELD_TREE, .help = "all cells of the matrix, and their "
	    "comparisons"),
	ROW("metadata", FIELD_TREE, .help = "more about the run"),
	ROW("trigger_metrics", FIELD_TREE,
	    .help = "sums over the trigger tests"),
	ROW("trigger_results", FIELD_TREE, .help = "the trigger tests"),
	ROW("is_baseline", FIELD_BOOL, .help = "there is a baseline"),
	ROW("baseline_outcome", FIELD_TREE,
	    .schema = "\"$ref\":\"#\"", .help = "results without skills"),
	ROW("ref_outcome", FIELD_TREE, .schema = "\"$ref\":\"#\"",
	    .help = "results with the skills of a git revision"),
	ROW("ref_effect", FIELD_TREE,
	    .help = "comparison with those results"),
	ROW("source", FIELD_OBJECT, .sub = &source_table,
	    .help = "the suite's file"),
	ROW("schema_version", FIELD_STR, .help = "version of this format"),
	ROW("status", FIELD_ENUM, .words = run_statuses,
	    .help = "how the run ended"),
	ROW("skip_reason", FIELD_STR,
	    .help = "why trials were not started: \"budget: ...\""),
};
const struct field_table editor_results_table = TABLE(results_rows);

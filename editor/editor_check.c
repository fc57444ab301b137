/* SPDX-License-Identifier: ISC */
/*
 * The keys of the report of `waza check --format json`, as skill/check_json.c
 * writes it.  Nothing is decoded by these tables; a test checks reports against
 * their schema.
 */
#include "editor/editor_schema.h"

#define ROW(k, t, ...) { .key = k, .type = t, __VA_ARGS__ }
#define ALWAYS .flags = FIELD_REQUIRED
#define TABLE(rows) { rows, COUNTOF(rows), 0, NULL }

static const char *const levels[] = { "Invalid", "Low", "Medium",
	"Medium-High", "High", NULL };
static const char *const severities[] = { "note", "warning", "error", NULL };
static const char *const statuses[] = { "ok", "warning", "optimal", NULL };
static const char *const budgets[] = { "ok", "warning", "exceeded", NULL };

static const struct field issue_rows[] = {
	ROW("severity", FIELD_ENUM, ALWAYS, .words = severities,
	    .help = "how bad it is"),
	ROW("message", FIELD_STR, ALWAYS, .help = "what is wrong"),
};
static const struct field_table issue_table = TABLE(issue_rows);

static const struct field compliance_rows[] = {
	ROW("level", FIELD_ENUM, ALWAYS, .words = levels,
	    .help = "how well the skill can be triggered"),
	ROW("issues", FIELD_OBJECTS, .sub = &issue_table,
	    .help = "what it lacks"),
};
static const struct field_table compliance_table = TABLE(compliance_rows);

static const struct field budget_rows[] = {
	ROW("count", FIELD_INT, ALWAYS, .help = "tokens of SKILL.md"),
	ROW("limit", FIELD_INT, ALWAYS, .help = "its limit"),
	ROW("exceeded", FIELD_BOOL, ALWAYS, .help = "above the limit"),
	ROW("warning", FIELD_BOOL, ALWAYS, .help = "near the limit"),
	ROW("status", FIELD_ENUM, ALWAYS, .words = budgets,
	    .help = "the same as a word"),
	ROW("counter", FIELD_STR, .help = "how tokens were counted"),
};
static const struct field_table budget_table = TABLE(budget_rows);

static const struct field item_rows[] = {
	ROW("name", FIELD_STR, ALWAYS, .help = "name of the check"),
	ROW("passed", FIELD_BOOL, ALWAYS, .help = "its verdict"),
	ROW("summary", FIELD_STR, ALWAYS, .help = "its reason"),
	ROW("status", FIELD_ENUM, .words = statuses,
	    .help = "its verdict as a word"),
	ROW("evidence", FIELD_STRS, .help = "places in the skill"),
};
static const struct field_table item_table = TABLE(item_rows);

static const struct field link_rows[] = {
	ROW("source", FIELD_STR, ALWAYS, .help = "file that has the link"),
	ROW("target", FIELD_STR, ALWAYS, .help = "where it leads"),
	ROW("reason", FIELD_STR, .help = "what is wrong with it"),
};
static const struct field_table link_table = TABLE(link_rows);

static const struct field links_rows[] = {
	ROW("valid", FIELD_INT, ALWAYS, .help = "links without problems"),
	ROW("total", FIELD_INT, ALWAYS, .help = "all links"),
	ROW("passed", FIELD_BOOL, ALWAYS, .help = "no link has a problem"),
	ROW("brokenLinks", FIELD_OBJECTS, .sub = &link_table,
	    .help = "files that do not exist"),
	ROW("directoryLinks", FIELD_OBJECTS, .sub = &link_table,
	    .help = "links to directories"),
	ROW("scopeEscapes", FIELD_OBJECTS, .sub = &link_table,
	    .help = "links out of the skill"),
	ROW("deadURLs", FIELD_OBJECTS, .sub = &link_table,
	    .help = "URLs that cannot be fetched"),
	ROW("brokenAnchors", FIELD_OBJECTS, .sub = &link_table,
	    .help = "headings that do not exist"),
	ROW("orphanedFiles", FIELD_STRS, .help = "files without a link"),
	ROW("uncheckedURLs", FIELD_INT, .help = "URLs that were not fetched"),
};
static const struct field_table links_table = TABLE(links_rows);

static const struct field mcp_rows[] = {
	ROW("score", FIELD_INT, ALWAYS, .help = "rules that are satisfied"),
	ROW("total", FIELD_INT, ALWAYS, .help = "all rules"),
	ROW("issues", FIELD_OBJECTS, .sub = &issue_table,
	    .help = "rules that are not"),
};
static const struct field_table mcp_table = TABLE(mcp_rows);

static const struct field eval_rows[] = {
	ROW("found", FIELD_BOOL, ALWAYS, .help = "the skill has a suite"),
	ROW("path", FIELD_STR, .help = "its path"),
	ROW("tasks", FIELD_INT, .help = "its tasks"),
};
static const struct field_table eval_table = TABLE(eval_rows);

static const struct field schema_rows[] = {
	ROW("evalErrors", FIELD_STRS, .help = "errors of the suite"),
	ROW("taskErrors", FIELD_TREE, .help = "errors of tasks by file"),
	ROW("valid", FIELD_BOOL, ALWAYS, .help = "there are none"),
};
static const struct field_table schema_table = TABLE(schema_rows);

static const struct field finding_rows[] = {
	ROW("rule", FIELD_STR, ALWAYS, .help = "name of the rule"),
	ROW("severity", FIELD_ENUM, ALWAYS, .words = severities,
	    .help = "how bad it is"),
	ROW("file", FIELD_STR, ALWAYS, .help = "path of the file"),
	ROW("line", FIELD_INT, ALWAYS, .help = "from 1; 0: the whole file"),
	ROW("col", FIELD_INT, ALWAYS, .help = "in bytes, from 1"),
	ROW("message", FIELD_STR, ALWAYS, .help = "what is wrong"),
};
static const struct field_table finding_table = TABLE(finding_rows);

static const struct field triggers_rows[] = {
	ROW("use", FIELD_INT, ALWAYS, .help = "phrases when to use it"),
	ROW("avoid", FIELD_INT, ALWAYS, .help = "phrases when not to"),
};
static const struct field_table triggers_table = TABLE(triggers_rows);

static const struct field skill_rows[] = {
	ROW("name", FIELD_STR, ALWAYS, .help = "name of the skill"),
	ROW("path", FIELD_STR, ALWAYS, .help = "path of its SKILL.md"),
	ROW("ready", FIELD_BOOL, ALWAYS, .help = "the verdict"),
	ROW("compliance", FIELD_OBJECT, .sub = &compliance_table, ALWAYS,
	    .help = "when the skill is used"),
	ROW("tokenBudget", FIELD_OBJECT, .sub = &budget_table, ALWAYS,
	    .help = "its size"),
	ROW("specCompliance", FIELD_OBJECTS, .sub = &item_table, ALWAYS,
	    .help = "checks of the specification"),
	ROW("mcpIntegration", FIELD_OBJECT, .sub = &mcp_table,
	    .help = "how it describes its tools"),
	ROW("links", FIELD_OBJECT, .sub = &links_table, ALWAYS,
	    .help = "its links"),
	ROW("eval", FIELD_OBJECT, .sub = &eval_table, ALWAYS,
	    .help = "its suite"),
	ROW("schema", FIELD_OBJECT, .sub = &schema_table,
	    .help = "errors of the suite"),
	ROW("advisoryChecks", FIELD_OBJECTS, .sub = &item_table, ALWAYS,
	    .help = "advice"),
	ROW("nextSteps", FIELD_TREE, .schema = "\"type\":[\"array\",\"null\"]",
	    .help = "what to do next"),
	ROW("triggers", FIELD_OBJECT, .sub = &triggers_table,
	    .help = "phrases of the description"),
	ROW("findings", FIELD_OBJECTS, .sub = &finding_table,
	    .help = "all findings with their places"),
};
static const struct field_table skill_table = TABLE(skill_rows);

static const struct field report_rows[] = {
	ROW("timestamp", FIELD_STR, ALWAYS, .help = "as in RFC 3339"),
	ROW("skills", FIELD_OBJECTS, .sub = &skill_table, ALWAYS,
	    .help = "the skills that were checked"),
};
const struct field_table editor_check_table = TABLE(report_rows);

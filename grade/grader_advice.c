/* SPDX-License-Identifier: ISC */
/*
 * Grader types of other programs (promptfoo, DeepEval, Inspect and the like),
 * and what to write here instead.  They are not read as ours: their settings
 * have other names, and a check that looks the same may decide differently.
 */
#include "grade/grader_internal.h"

#define CODE "write type \"code\" with assertions: "
#define JUDGE "write type \"prompt\" with prompt: CRITERIA"
#define PROGRAM "write type \"program\" with command and args"
#define SCHEMA "write type \"json_schema\" with schema or schema_file"
#define TEXT(key) "write type \"text\" with " key
#define TOOLS "write type \"tool_constraint\" or \"tool_calls\""

static const struct {
	const char *type, *advice;
} words[] = {			/* sorted by type, in lower case with "-" */
	{ "answer-relevancy", JUDGE },
	{ "bash", PROGRAM },
	{ "command", PROGRAM },
	{ "contains", TEXT("contains_cs: [TEXT]; contains ignores case") },
	{ "contains-all", TEXT("contains_cs: [TEXT, TEXT]") },
	{ "contains-any", TEXT("regex_match: [TEXT|TEXT]") },
	{ "contains-json", SCHEMA },
	{ "cost", "write type \"behavior\" with max_tokens" },
	{ "equals", CODE "[output == \"TEXT\"]" },
	{ "exact", CODE "[output == \"TEXT\"]" },
	{ "exact-match", CODE "[output == \"TEXT\"]" },
	{ "exact-str", CODE "[output == \"TEXT\"]" },
	{ "exec", PROGRAM },
	{ "expression", CODE "[EXPRESSION]" },
	{ "factuality", JUDGE },
	{ "file-contains", "write type \"file\" with content_patterns" },
	{ "finish-reason", "write type \"behavior\" for limits of the run" },
	{ "function", CODE "[EXPRESSION]" },
	{ "g-eval", JUDGE },
	{ "geval", JUDGE },
	{ "icontains", TEXT("contains: [TEXT]") },
	{ "icontains-all", TEXT("contains: [TEXT, TEXT]") },
	{ "icontains-any", TEXT("regex_match: [(?i)TEXT|TEXT]") },
	{ "includes", TEXT("contains: [TEXT]") },
	{ "is-json", SCHEMA },
	{ "is-valid-json", SCHEMA },
	{ "javascript", CODE "[EXPRESSION] and language: javascript" },
	{ "js", CODE "[EXPRESSION] and language: javascript" },
	{ "json", SCHEMA },
	{ "judge", JUDGE },
	{ "latency", "write type \"behavior\" with max_duration_ms" },
	{ "levenshtein", CODE "[EXPRESSION], or ask a model with \"prompt\"" },
	{ "llm", JUDGE },
	{ "llm-as-judge", JUDGE },
	{ "llm-judge", JUDGE },
	{ "llm-rubric", JUDGE },
	{ "match", TEXT("contains: [TEXT] or regex_match: [PATTERN]") },
	{ "model-graded", JUDGE },
	{ "model-graded-closedqa", JUDGE },
	{ "model-graded-fact", JUDGE },
	{ "model-graded-qa", JUDGE },
	{ "not-contains", TEXT("not_contains_cs: [TEXT]; not_contains ignores "
	    "case") },
	{ "not-equals", CODE "[output != \"TEXT\"]" },
	{ "not-icontains", TEXT("not_contains: [TEXT]") },
	{ "not-regex", TEXT("regex_not_match: [PATTERN]") },
	{ "pattern", TEXT("regex_match: [PATTERN]") },
	{ "python", CODE "[EXPRESSION], or type \"program\" with command: "
	    "python3" },
	{ "re", TEXT("regex_match: [PATTERN]") },
	{ "regexp", TEXT("regex_match: [PATTERN]") },
	{ "rubric", "write type \"prompt\" with rubric" },
	{ "schema", SCHEMA },
	{ "script", PROGRAM },
	{ "shell", PROGRAM },
	{ "similar", JUDGE },
	{ "similarity", JUDGE },
	{ "skill", "write type \"skill_invocation\" or \"trigger\"" },
	{ "starts-with", TEXT("regex_match: [^TEXT]") },
	{ "string", TEXT("contains: [TEXT]") },
	{ "substring", TEXT("contains: [TEXT]") },
	{ "token-count", "write type \"behavior\" with max_tokens" },
	{ "tool", TOOLS },
	{ "tool-call", TOOLS },
	{ "tool-called", TOOLS },
	{ "tool-used", TOOLS },
	{ "webhook", PROGRAM },
};

/* Equal up to case, and "_" or " " for "-". */
static bool
is_word(struct str type, const char *word)
{
	char c;
	size_t i;

	for (i = 0; i < type.n && word[i] != '\0'; i++) {
		c = type.p[i];
		c = c == '_' || c == ' ' ? '-' :
		    c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
		if (c != word[i])
			return false;
	}
	return i == type.n && word[i] == '\0';
}

const char *
grader_advice(struct str type)
{
	size_t i;

	for (i = 0; i < COUNTOF(words); i++)
		if (is_word(type, words[i].type))
			return words[i].advice;
	return NULL;
}

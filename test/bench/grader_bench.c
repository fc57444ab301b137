/* SPDX-License-Identifier: ISC */
/*
 * grader_bench: verdicts a second on an answer of 1 kB, from settings to
 * feedback and details, on one core.
 */
#include "grader.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "base/base.h"
#include "base/os.h"
#include "json.h"
#include "lib/tmpl.h"
#include "suite/spec.h"
#include "yaml_lite.h"
#include "test/tool/tap.h"

enum { ANSWER = 1024, AT_LEAST_MS = 500 };

static const struct row {
	const char *type, *what, *settings;
} rows[] = {
	{ "text", "2 strings, pass", "{contains: [Fox, dog]}" },
	{ "text", "4 strings, 1 fails", "{contains: [Fox, dog], contains_cs: [nowhere], not_contains: [cat]}" },
	{ "text", "strings and a pattern", "{contains: [fox], not_contains: [cat], regex_match: ['jumps over \\w+']}" },
	{ "text", "3 patterns, 1 fails", "{regex_match: ['(?i)LAZY', '[0-9]{3}-[0-9]{4}'], regex_not_match: ['err(or)?']}" },
	{ "json_schema", "no JSON", "{schema: {type: object}}" },
	{ "behavior", "2 limits", "{max_tool_calls: 5, max_duration_ms: 1000}" },
};

static void
measure(const struct row *r, const struct grader_input *in)
{
	struct arena settings = { 0 }, a = { 0 };
	struct err e = { 0 };
	struct spec_grader spec = { .name = STR("g"), .weight = 1 };
	struct grading g = { .in = in, .spec = &spec, .arena = &a };
	double began = tap_cpu(), took;
	size_t i, n = 0;

	spec.type = str_of(r->type);
	spec.config = yaml_read_one(&settings, str_of(r->settings), &e);
	do {
		for (i = 0; i < 1000; i++, n++) {
			grader_start(&g);
			arena_free(&a);
		}
		took = tap_cpu() - began;
	} while (took < AT_LEAST_MS / 1000.0);
	printf("%-12s %-24s %10.0f /s %8.2f us\n", r->type, r->what,
	    (double)n / took, took * 1e6 / (double)n);
	arena_free(&settings);
}

int
main(void)
{
	static const char words[] = "The quick brown fox jumps over the lazy "
	    "dog. ";
	static char text[ANSWER];
	struct spec_suite suite = { .dir = "." };
	struct spec_def def = { .rows = NULL };
	struct spec_task task = { .id = STR("t"), .def = &def };
	struct tmpl_vars vars = { .task_name = STR("t") };
	struct answer ans = { .output = { text, ANSWER } };
	struct grader_input in = { .suite = &suite, .task = &task,
		.answer = &ans, .vars = &vars };
	size_t i;

	for (i = 0; i < ANSWER; i++)
		text[i] = words[i % (sizeof(words) - 1)];
	for (i = 0; i < COUNTOF(rows); i++)
		measure(&rows[i], &in);
	return 0;
}

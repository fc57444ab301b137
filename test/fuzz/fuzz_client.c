/* SPDX-License-Identifier: ISC */
/*
 * Input: JSON as a message of a server: printed for people, as an event, and as
 * results that are reported.  The text contains no control characters, a
 * notification is one line, and a value that is printed parses to itself.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cmd/client/client.h"
#include "json.h"
#include "report/report.h"
#include "results/event.h"
#include "results/outcome.h"
#include "results/result.h"
#include "suite/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Text that a terminal may see: lines of it, or one. */
static void
check_safe(struct str s, bool lines)
{
	const char *p = s.p, *end = s.n > 0 ? s.p + s.n : s.p;
	uint32_t cp;
	size_t n;

	for (; p < end; p += n) {
		n = utf8_get(p, end, &cp);
		assert(n > 0);
		assert(cp >= ' ' || (cp == '\n' && (lines || p == end - 1)));
		assert(cp < 0x7F || cp > 0x9F);
		assert(cp < 0x202A || cp > 0x202E);
	}
}

static void
check_words(struct arena *a, const struct json *v)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error je;
	struct buf b = { 0 };
	const struct json *again, *method = json_getc(v, "method");

	client_put_json(&b, v, 2);
	check_safe(buf_str(&b), true);
	again = json_read(&mem, buf_str(&b), 0, &je);
	assert(again != NULL && json_equal(again, v));
	b.n = 0;
	client_put_json(&b, v, 0);
	check_safe(buf_str(&b), false);
	b.n = 0;
	client_put_error(&b, v);
	check_safe(buf_str(&b), true);
	b.n = 0;
	client_put_note(&b, method != NULL && method->type == JSON_STRING ?
	    json_text(method) : STR("m"), json_getc(v, "params"));
	check_safe(buf_str(&b), false);
	b.n = 0;
	client_put_note(&b, STR("kaiak/generateFix/progress"), v);
	check_safe(buf_str(&b), false);
	buf_free(&b);
}

static void
check_event(const struct json *v)
{
	struct event_bus bus = { 0 };
	struct report_console c = { .fd = -1 };
	struct event ev;
	struct buf b = { 0 };

	if (!event_read(v, &ev))
		return;
	event_line(&b, &ev);
	assert(b.n > 0 && memchr(b.p, '\n', b.n) == b.p + b.n - 1);
	report_console_start(&c, &bus);
	event_emit(&bus, &ev);
	report_console_end(&c);
	buf_free(&b);
}

static void
check_results(struct arena *a, struct json *v)
{
	struct spec_suite s = { .config = { .pass_threshold = 1,
		.task_pass_threshold = 1 } };
	struct report_opts o = { .verbose = true, .interpret = true };
	struct outcome *out;
	struct result_run *run;
	struct buf b = { 0 };
	struct err e;

	out = outcome_of(a, v, "x", &e);
	if (out == NULL)
		return;
	run = outcome_run(a, out, &s);
	report_text(&b, run, &o);
	check_safe(buf_str(&b), true);
	b.n = 0;
	result_write_buf(run, &b);
	assert(b.n > 0);
	(void)report_write("junit:/dev/null", &run, 1, &o, &e);
	(void)report_write("markdown:/dev/null", &run, 1, &o, &e);
	(void)report_write("html:/dev/null", &run, 1, &o, &e);
	(void)report_write("csv:/dev/null", &run, 1, &o, &e);
	result_close(run);
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct json_error je;
	struct json *v = json_read(&mem, (struct str){ (const char *)data, n },
	    0, &je);

	if (v != NULL) {
		check_words(&a, v);
		check_event(v);
		check_results(&a, v);
	}
	arena_free(&a);
	return 0;
}

/* SPDX-License-Identifier: ISC */
/* Replies of model servers: what the messages of each API mean. */
#include <string.h>

#include "agent/proto/openai.h"
#include "base/base.h"
#include "json.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

/* The reply as "TEXT|NAME ARGUMENTS;...|ERROR|STOP", "?" before it: no end. */
static void
show(struct buf *b, const struct openai_reply *r)
{
	const struct openai_call *c;

	buf_puts(b, r->finished || r->error.n > 0 ? "" : "?");
	buf_puts(b, r->refused ? "refused: " : "");
	buf_put(b, buf_str(&r->text));
	buf_putc(b, '|');
	for (c = r->calls; c != NULL; c = c->next)
		buf_fmt(b, "%.*s %.*s;", STRF(c->name),
		    STRF(buf_str(&c->arguments)));
	buf_fmt(b, "|%.*s|%.*s", STRF(r->error), STRF(r->stop));
}

/* One message on each line. */
static bool
reads(enum openai_api api, const char *lines, const char *want)
{
	struct arena a = { 0 };
	struct str text = str_of(lines), line;
	struct openai_reply r;
	struct buf b = { 0 };
	bool same;

	openai_reply_init(&r, &a, api);
	while (str_line(&text, &line))
		openai_read(&r, arena_json(&a, line, NULL));
	show(&b, &r);
	same = str_is(buf_str(&b), want);
	if (!same)
		printf("# want %s\n# got  %.*s\n", want, STRF(buf_str(&b)));
	buf_free(&b);
	openai_reply_free(&r);
	arena_free(&a);
	return same;
}

static const struct {
	enum openai_api api;
	const char *lines, *want;
} rows[] = {
	/* errors in a reply whose status is 200 */
	{ OPENAI_CHAT, "{\"error\":\"overloaded\"}", "||overloaded|" },
	{ OPENAI_CHAT, "{\"error\":{\"message\":\"slow down\",\"code\":\"429\"}}", "||slow down|" },
	{ OPENAI_CHAT, "{\"error\":{\"type\":\"rate_limit\"}}", "||rate_limit|" },
	{ OPENAI_CHAT, "{\"error\":{}}", "||an error without a message|" },
	{ OPENAI_CHAT, "{\"error\":7}", "||an error without a message|" },
	{ OPENAI_CHAT, "{\"error\":7,\"detail\":\"no such model\"}", "||no such model|" },
	{ OPENAI_ANTHROPIC, "{\"type\":\"error\",\"message\":\"why\"}", "||why|" },
	{ OPENAI_RESPONSES, "{\"type\":\"error\"}", "||an error without a message|" },
	{ OPENAI_RESPONSES, "{\"type\":\"error\",\"message\":\"why\"}", "||why|" },
	{ OPENAI_RESPONSES, "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\","
	    "\"error\":{\"code\":\"x\",\"message\":\"why\"}}}", "||why|" },
	{ OPENAI_RESPONSES, "{\"type\":\"response.failed\",\"response\":{\"status\":\"failed\"}}",
	    "||the response failed, without a reason|" },
	/* other values than objects are ignored */
	{ OPENAI_CHAT, "7\n[]\nnull\n", "?|||" },
	{ OPENAI_OLLAMA, "[{\"done\":true}]", "?|||" },
	/* texts in parts, refusals */
	{ OPENAI_CHAT, "{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
	    "{\"text\":\"b\"},7]},\"finish_reason\":\"stop\"}]}", "ab|||stop" },
	{ OPENAI_RESPONSES, "{\"type\":\"response.refusal.delta\",\"delta\":\"no\"}\n"
	    "{\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\","
	    "\"incomplete_details\":{\"reason\":\"content_filter\"}}}",
	    "refused: no|||content_filter" },
	/* calls: arguments as text or as a value, whole or in parts */
	{ OPENAI_OLLAMA, "{\"message\":{\"content\":\"x\",\"tool_calls\":[{\"function\":{\"name\":\"a\","
	    "\"arguments\":{\"k\":1}}},{\"function\":{\"name\":\"b\"}}]}}\n{\"done\":true,"
	    "\"done_reason\":\"stop\"}", "x|a {\"k\":1};b ;||stop" },
	{ OPENAI_ANTHROPIC, "{\"type\":\"message\",\"content\":[{\"type\":\"tool_use\",\"name\":\"a\","
	    "\"input\":{\"k\":[1]}},{\"type\":\"text\",\"text\":\"t\"}],\"stop_reason\":\"tool_use\"}",
	    "t|a {\"k\":[1]};||tool_use" },
	{ OPENAI_RESPONSES, "{\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":"
	    "{\"type\":\"function_call\",\"name\":\"a\"}}\n"
	    "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":1,\"delta\":\"{\\\"k\"}\n"
	    "{\"type\":\"response.function_call_arguments.delta\",\"output_index\":1,\"delta\":\"\\\":1}\"}\n",
	    "?|a {\"k\":1};||" },
	{ OPENAI_RESPONSES, "{\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\"}\n"
	    "{\"type\":\"response.function_call_arguments.done\",\"arguments\":\"{}\"}\n",
	    "?| {};||" },
};

int
main(void)
{
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		tap_ok(reads(rows[i].api, rows[i].lines, rows[i].want),
		    rows[i].want, __FILE__, __LINE__);
	return tap_done();
}

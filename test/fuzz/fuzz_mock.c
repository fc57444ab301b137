/* SPDX-License-Identifier: ISC */
/*
 * Input: a mocked tool or command, as JSON.  If it is accepted, a call is
 * answered alike each time, and what is written is read back as the same.
 */
#include <assert.h>

#include "json.h"
#include "mock/mock.h"
#include "test/tool/help.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check_tool(struct arena *a, const struct json *v)
{
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX };
	struct mock_tool t;
	struct err e = { 0 };
	int i;

	if (mock_read_tool(&ctx, v, STR("t"), &t) > 0)
		return;
	i = mock_match_tool(a, &t, json_getc(v, "call"), &e);
	assert(i >= -2 && i < (int)t.responses.n);
	assert(i == mock_match_tool(a, &t, json_getc(v, "call"), &e));
}

static void
check_command(struct arena *a, const struct json *v)
{
	static const char *const argv[] = { "a", "--key", "b", NULL };
	static const char *const env[] = { "A=1", "X_TOKEN=12345678", NULL };
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX };
	struct mock_words w = { argv, env, "a/b" };
	struct mock_command c, again;
	struct err e = { 0 };
	int i;

	if (mock_read_command(&ctx, v, &c) > 0)
		return;
	i = mock_match_command(a, &c, &w, &e);
	assert(i >= -2 && i < (int)c.responses.n);
	assert(mock_is_command_name(c.name));
	assert(mock_find_command(a, v, c.name, &again) == 0);
}

static void
check_tools(struct arena *a, const struct json *v)
{
	struct mock_tools t = { .arena = a }, again = { .arena = a };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct err e = { 0 };
	const struct json *back;

	if (mock_add_tools(&t, v, "f", &e) == -1)
		return;
	mock_put_tools(&o, &t);
	back = read_json(a, buf_str(&b));
	assert(back == NULL ||	/* too deep now */
	    (mock_add_tools(&again, json_getc(back, "tools"), "g", &e) == 0 &&
	    again.n == t.n));
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct arena a = { 0 };
	const struct json *v = read_json(&a, (struct str){ (const char *)p,
	    n });

	if (v != NULL) {
		check_tool(&a, v);
		if (v->type == JSON_OBJECT) {
			check_command(&a, v);
			check_tools(&a, v);
		}
	}
	arena_free(&a);
	return 0;
}

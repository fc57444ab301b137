/* SPDX-License-Identifier: ISC */
/*
 * Tools that are commands of the settings: they read their arguments as JSON
 * from stdin and print the answer.  A command ends with its call.
 */
#include "rpc/tool.h"

#include "io/proc.h"
#include "json.h"
#include "lib/schema/schema.h"

enum {
	TIMEOUT = 60,		/* seconds; the default */
	OUTPUT_MAX = 4 << 20,	/* bytes of an answer */
	STDERR_MAX = 4 << 10,
	FINDINGS_MAX = 350	/* bytes about wrong arguments */
};

static const struct field command_rows[] = {
	FIELD(tool_command, command, FIELD_STRS, .flags = FIELD_REQUIRED,
	    .min = 1, .max = 1000, .help = "the program and its arguments"),
	FIELD(tool_command, description, FIELD_STR, .help = "for users"),
	FIELD(tool_command, input_schema, FIELD_TREE,
	    .help = "JSON Schema of the arguments"),
	FIELD(tool_command, timeout_seconds, FIELD_NUM, .alias = "timeout",
	    .min = 0, .max = 86400, .help = "before it is terminated"),
};
static const struct field_table command_table =
    FIELD_TABLE(tool_command, command_rows);

int
tool_check(struct arena *a, const struct json *tools, struct err *e)
{
	struct tool_command t;
	const struct json *v;

	if (!json_is_set(tools))
		return 0;
	if (tools->type != JSON_OBJECT)
		return err_set(e, ERR_SCHEMA, "\"tools\" must be a mapping");
	for (v = json_first(tools); v != NULL; v = v->next) {
		t = (struct tool_command){ .timeout_seconds = TIMEOUT };
		if (field_decode_one(a, &command_table, v, &t, e) == -1)
			return -1;
		if (t.input_schema != NULL &&
		    schema_compile(a, t.input_schema, NULL, e) == NULL)
			return -1;
	}
	return 0;
}

bool
tool_find(struct arena *a, const struct json *tools, struct str name,
    struct tool_command *t)
{
	const struct json *v = json_get(tools, name);
	struct err e;

	*t = (struct tool_command){ .name = name,
		.timeout_seconds = TIMEOUT };
	return v != NULL && v->type == JSON_OBJECT &&
	    field_decode_one(a, &command_table, v, t, &e) == 0;
}

struct state {
	struct proc proc;
	struct rpc_call *call;
	struct tools *tools;
	double seconds;
	bool stopped;
};

static void
on_ended(void *arg)
{
	struct state *s = arg;
	struct rpc_call *c = s->call;
	const struct proc_result *r = &s->proc.res;
	struct str out = arena_str(c->arena, buf_str(&s->proc.out.buf));
	struct str err = arena_str(c->arena, buf_str(&s->proc.err.buf));
	int status = r->status, signo = r->signo;
	bool late = r->timed_out, more = r->truncated;

	proc_fini(&s->proc);
	s->tools->running--;
	while (err.n > 0 && err.p[err.n - 1] == '\n')
		err.n--;
	if (s->stopped)
		tool_fail(c, RPC_CANCELLED, STR("cancelled"));
	else if (late)
		tool_fail(c, RPC_TIMEOUT, arena_fmt(c->arena,
		    "no answer within %g s", s->seconds));
	else if (more)
		tool_fail(c, RPC_TOOL_FAILED,
		    STR("the tool's answer is too large"));
	else if (status == 0)
		tool_answer(c, out);
	else if (err.n > 0 || out.n > 0)
		tool_fail(c, RPC_TOOL_FAILED, err.n > 0 ? err : out);
	else
		tool_fail(c, RPC_TOOL_FAILED, arena_fmt(c->arena, signo != 0 ?
		    "killed by signal %d" : "exit status %d",
		    signo != 0 ? signo : status));
}

static void
stop(struct rpc_call *c)
{
	struct state *s = c->state;

	s->stopped = true;
	proc_cancel(&s->proc);
}

/* The message has all findings that fit, `field` is the place of the first. */
struct findings {
	struct rpc_call *call;
	struct buf text;
};

static void
note_finding(void *ctx, const struct schema_finding *f)
{
	struct findings *x = ctx;
	struct arena *a = x->call->arena;

	if (x->text.n == 0)
		rpc_data(x->call, "field", f->missing.n == 0 ? f->at :
		    arena_fmt(a, "%.*s/%.*s", STRF(utf8_cut(f->at, 1000)),
		    STRF(utf8_cut(f->missing, 1000))));
	if (x->text.n > FINDINGS_MAX)
		return;
	buf_fmt(&x->text, "%sarguments%.*s: ", x->text.n > 0 ? "; " : "",
	    STRF(utf8_cut(f->at, 100)));
	buf_put(&x->text, utf8_cut(f->msg, 200));
}

static enum rpc_status
check_arguments(struct rpc_call *c, const struct json *schema,
    const struct json *arguments)
{
	static const struct json none = { .type = JSON_OBJECT };
	struct findings x = { .call = c };
	enum rpc_status status = RPC_DONE;
	struct schema *s;
	struct err e = { 0 };

	if (schema == NULL)
		return RPC_DONE;
	s = schema_compile(c->arena, schema, NULL, &e);
	if (s == NULL || schema_check(s, c->arena, arguments != NULL ?
	    arguments : &none, note_finding, &x, &e) == -1)
		status = rpc_fail(c, RPC_CONFIG, "input_schema: %s", e.msg);
	else if (x.text.n > 0)
		status = rpc_fail(c, RPC_INVALID_PARAMS, "Invalid params: "
		    "%.*s", STRF(utf8_cut(buf_str(&x.text), FINDINGS_MAX)));
	buf_free(&x.text);
	return status;
}

static struct str
input(struct arena *a, const struct json *arguments)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct str s;

	if (arguments != NULL)
		json_put(&o, arguments);
	else
		buf_puts(&b, "{}");
	buf_putc(&b, '\n');
	s = arena_take(a, &b);
	return s;
}

enum rpc_status
tool_run(struct rpc_call *c, const struct tool_command *t,
    const struct json *arguments)
{
	struct tools *tools = c->arg;
	struct state *s = NEW(c->arena, struct state);
	const char **argv = NEW_N(c->arena, const char *, t->command.n + 1);
	struct proc_opts o = { .argv = argv, .out_max = OUTPUT_MAX,
		.err_max = STDERR_MAX, .stop_at_max = true, .done = on_ended,
		.arg = s };
	struct err e = { 0 };
	size_t i;

	if (check_arguments(c, t->input_schema, arguments) != RPC_DONE)
		return RPC_FAIL;
	if (tools->running >= tools->max)
		return rpc_fail(c, RPC_RATE_LIMITED, NULL);
	for (i = 0; i < t->command.n; i++) {
		argv[i] = arena_cstr(c->arena, t->command.v[i]);
		if (argv[i] == NULL)
			return rpc_fail(c, RPC_CONFIG,
			    "the command contains a NUL byte");
	}
	s->call = c;
	s->tools = tools;
	s->seconds = t->timeout_seconds;
	o.timeout_ms = (int64_t)(t->timeout_seconds * 1000) + 1;
	o.in = input(c->arena, arguments);
	if (proc_start(c->rpc->procs, &s->proc, &o, &e) != 0)
		return rpc_fail(c, RPC_TOOL_FAILED, "%s", e.msg);
	tools->running++;
	c->state = s;
	c->stop = stop;
	return RPC_LATER;
}

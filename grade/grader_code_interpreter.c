/* SPDX-License-Identifier: ISC */
/*
 * Evaluates assertions in an interpreter of their language: one child process
 * for all assertions of a grader.
 *
 * The child reads a JSON document from standard input and prints one line for
 * each assertion as soon as it is evaluated: true, false, the message of an
 * exception, or an object if there is no verdict: {"syntax": message}, or
 * {"limit": word}.  If the child is killed because an assertion does not
 * terminate, the first assertion without a line is to blame.  The lines have a
 * prefix, because python3 may be a wrapper script that prints other lines.
 *
 * The system limits the memory of python3.  V8 reserves far more than it uses,
 * so node gets a limit on its heap and one on the memory that it can write.
 *
 * Variables are globals of the Python code.  In the original they are not, and
 * generator expressions cannot use them.
 */
#include "grade/grader_internal.h"

#include <string.h>

#include "base/os_path.h"
#include "json.h"

enum {
	STDOUT_MAX = 4 << 20,	/* bytes of all lines */
	STDERR_MAX = 64 << 10,
	NODE_DATA = 128 << 20	/* bytes that node writes beside its heap */
};

static const char python[] =
    "import json, re, sys\n"
    "doc = json.loads(sys.stdin.buffer.read().decode('utf-8'))\n"
    "names = dict(doc['names'], len=len, any=any, all=all, re=re, str=str,\n"
    "    int=int, float=float, bool=bool, list=list, dict=dict,\n"
    "    __builtins__={})\n"
    "out = sys.stdout.buffer\n"
    "def evaluate(text):\n"
    "    try:\n"
    "        code = compile(text.strip(), 'assertion', 'eval')\n"
    "    except (SyntaxError, ValueError) as e:\n"
    "        return {'syntax': str(getattr(e, 'msg', e))}\n"
    "    return bool(eval(code, dict(names)))\n"
    "for text in doc['assertions']:\n"
    "    try:\n"
    "        said = evaluate(text)\n"
    "    except MemoryError:\n"
    "        said = {'limit': 'memory'}\n"
    "    except RecursionError:\n"
    "        said = {'limit': 'recursion'}\n"
    "    except BaseException as e:\n"
    "        said = (str(e) or type(e).__name__)[:1 << 17]\n"
    "        said = said.encode('utf-8', 'replace').decode('utf-8')\n"
    "        if isinstance(e, OverflowError) and 'float' not in said:\n"
    "            said = {'limit': 'size'}\n"
    "    out.write(b'waza:' + json.dumps(said).encode() + b'\\n')\n"
    "    out.flush()\n";

static const char javascript[] =
    "const fs = require('fs'), vm = require('vm');\n"
    "const doc = JSON.parse(fs.readFileSync(0, 'utf8'));\n"
    "const names = Object.assign({}, doc.names, { Array, Object, String,\n"
    "    Number, Boolean, Math, JSON, RegExp, parseInt, parseFloat, isNaN,\n"
    "    isFinite, undefined, NaN, Infinity, True: true, False: false });\n"
    "const context = vm.createContext(names);\n"
    "const message = (e) => Buffer.from(String(e && e.message || e)\n"
    "    .slice(0, 1 << 17)).toString();\n"
    "const limit = (e) => e && e.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ?\n"
    "    'time' : /^Maximum call stack/.test(message(e)) ? 'recursion' :\n"
    "    /^Invalid string length|allocation failed/.test(message(e)) ?\n"
    "    'memory' : null;\n"
    "const evaluate = (text) => {\n"
    "    let script, word;\n"
    "    try {\n"
    "        script = new vm.Script(text, { filename: 'assertion' });\n"
    "    } catch (e) {\n"
    "        return { syntax: message(e) };\n"
    "    }\n"
    "    try {\n"
    "        return Boolean(script.runInContext(context,\n"
    "            { timeout: 5000 }));\n"
    "    } catch (e) {\n"
    "        word = limit(e);\n"
    "        return word !== null ? { limit: word } : message(e);\n"
    "    }\n"
    "};\n"
    "for (const text of doc.assertions)\n"
    "    fs.writeSync(1, 'waza:' + JSON.stringify(evaluate(text)) + '\\n');\n";

static const struct language {
	const char *programs[3];	/* the first in PATH is used */
	const char *args[6];	/* before the script */
	const char *script;
} languages[] = {
	[CODE_PYTHON] = { { "python3", "python" },
	    { "-I", "-S", "-W", "ignore", "-c" }, python },
	[CODE_JAVASCRIPT] = { { "node", "nodejs" },
	    { "-e" }, javascript },
};

struct state {
	struct grader_child child;
	struct grading *g;
	struct code_request ask;
	const char *program;
	size_t at;		/* all assertions before it are decided */
};

const char *
code_interpreter_name(enum code_language l)
{
	return languages[l].programs[0];
}

const char *
code_interpreter(struct arena *a, enum code_language l)
{
	const char *const *p;

	for (p = languages[l].programs; *p != NULL; p++)
		if (os_find(a, *p) != NULL)
			return *p;
	return NULL;
}

/* {"names": {...}, "assertions": [...]} */
static struct str
document(struct grading *g, const struct code_set *set)
{
	struct arena tmp = { 0 };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct str s;
	size_t i;

	json_open(&o, '{');
	json_put_member(&o, "names", code_variables(&tmp, g->in, set));
	json_open_member(&o, "assertions", '[');
	for (i = 0; i < set->n; i++)
		if (set->v[i].verdict == CODE_UNDECIDED)
			json_put_str(&o, set->v[i].text);
	json_close(&o, ']');
	json_close(&o, '}');
	s = arena_take(g->arena, &b);
	arena_free(&tmp);
	return s;
}

/* The first undecided assertion from *at on; advances *at to it. */
static struct code_assertion *
next_undecided(struct code_set *set, size_t *at)
{
	for (; *at < set->n; ++*at)
		if (set->v[*at].verdict == CODE_UNDECIDED)
			return &set->v[*at];
	return NULL;
}

static void
decide(struct arena *a, struct code_assertion *as, enum code_verdict verdict,
    struct str message)
{
	as->verdict = verdict;
	as->message = arena_str(a, message);
}

/* The message of an assertion that has no verdict, or an empty one. */
static struct str
reason(struct state *s, const struct json *v)
{
	struct str word = json_str(v, "limit");
	struct str syntax = json_str(v, "syntax");
	struct arena *a = s->g->arena;

	if (syntax.n > 0)
		return arena_fmt(a, "is not valid: %.*s", STRF(syntax));
	if (str_is(word, "memory"))
		return arena_fmt(a, "needs more than %d MiB of memory; "
		    "\"memory_mb\" sets the limit", (int)s->ask.memory_mb);
	if (str_is(word, "time"))
		return STR("takes longer than 5 s");
	if (str_is(word, "recursion"))
		return STR("recurses too deeply");
	if (str_is(word, "size"))
		return STR("makes a value that is too large");
	return STR("");
}

/* Decides an assertion by its line; false if it is malformed. */
static bool
read_verdict(struct state *s, struct code_assertion *as, const struct json *v)
{
	struct arena *a = s->g->arena;
	struct str why = STR("");

	if (v->type == JSON_BOOL)
		decide(a, as, json_bool(v) ? CODE_TRUE : CODE_FALSE, why);
	else if (v->type == JSON_STRING)
		decide(a, as, CODE_RAISED, json_text(v));
	else if (v->type == JSON_OBJECT && (why = reason(s, v)).n > 0)
		decide(a, as, CODE_ERROR, why);
	else
		return false;
	return true;
}

/* Reads all complete lines; false if one is malformed. */
static bool
read_lines(struct state *s)
{
	const struct str prefix = STR("waza:");
	struct str left = buf_str(&s->child.proc.out.buf), line;
	struct arena *a = s->g->arena;
	struct code_assertion *as;
	const struct json *v;
	const char *eol;

	while (left.n > 0 && (eol = memchr(left.p, '\n', left.n)) != NULL) {
		line = (struct str){ left.p, (size_t)(eol - left.p) };
		left.p += line.n + 1;
		left.n -= line.n + 1;
		if (!str_starts(line, prefix))
			continue;
		line.p += prefix.n;
		line.n -= prefix.n;
		as = next_undecided(s->ask.set, &s->at);
		v = arena_json(a, line, NULL);
		if (as == NULL || v == NULL || !read_verdict(s, as, v))
			return false;
	}
	return true;
}

/* "python3: exit status 1: stderr" */
static struct str
failure(struct state *s)
{
	struct arena *a = s->g->arena;
	struct str why = grader_child_failure(&s->child);
	struct str err = buf_str(&s->child.proc.err.buf);
	struct str q = grader_quote(a, err);

	return arena_fmt(a, err.n > 0 ? "%s: %.*s: %.*s" : "%s: %.*s",
	    s->program, STRF(why), STRF(q));
}

static void
judge(void *arg)
{
	struct state *s = arg;
	const struct proc_result *r = &s->child.proc.res;
	bool ok = read_lines(s);
	struct code_assertion *as;
	struct str why;

	if (r->truncated) {
		grader_error(s->g, "%s printed more than %d MiB", s->program,
		    STDOUT_MAX >> 20);
		return;
	}
	as = next_undecided(s->ask.set, &s->at);
	if (!ok || (as != NULL && !r->timed_out && r->signo == 0)) {
		why = failure(s);
		grader_error(s->g, "no verdict from %.*s", STRF(why));
		return;
	}
	/* a child that was killed shows a problem of the assertion */
	if (as != NULL) {
		why = failure(s);
		decide(s->g->arena, as, CODE_ERROR, arena_fmt(s->g->arena,
		    "has no verdict: %.*s", STRF(why)));
	}
	s->ask.conclude(s->g, s->ask.set);
}

static int
no_interpreter(struct grading *g, const struct code_request *ask,
    struct err *e)
{
	size_t at = 0;
	const struct code_assertion *as = next_undecided(ask->set, &at);
	struct str q = grader_quote(g->arena, as->text);

	return err_set(e, ERR_SYS, "assertion %.*s needs %s, which is not "
	    "installed (not found in PATH)%s%.*s", STRF(q),
	    code_interpreter_name(ask->language),
	    as->message.n > 0 ? ": " : "", STRF(as->message));
}

int
code_request(struct grading *g, const struct code_request *ask, struct err *e)
{
	const struct language *l = &languages[ask->language];
	struct state *s = NEW(g->arena, struct state);
	const char *argv[COUNTOF(l->args) + 3] = { NULL };
	struct proc_opts o = { .argv = argv, .out_max = STDOUT_MAX,
		.stop_at_max = true, .err_max = STDERR_MAX,
		.grace_ms = 100 };	/* it has nothing to clean up */
	uint64_t memory = (uint64_t)ask->memory_mb << 20;
	size_t i, n = 0;

	s->g = g;
	s->ask = *ask;
	s->child = (struct grader_child){ .g = g, .seconds = ask->seconds,
		.judge = judge, .arg = s };
	s->program = argv[n++] = code_interpreter(g->arena, ask->language);
	if (s->program == NULL)
		return no_interpreter(g, ask, e);
	if (ask->language == CODE_JAVASCRIPT)
		argv[n++] = arena_fmt(g->arena, "--max-old-space-size=%d",
		    (int)ask->memory_mb).p;
	for (i = 0; l->args[i] != NULL; i++)
		argv[n++] = l->args[i];
	argv[n] = l->script;
	if (ask->language == CODE_PYTHON)
		o.limits.memory = memory;
	else
		o.limits.data = memory + NODE_DATA;
	/* the timer is earlier, unless waza itself is stopped or killed */
	o.limits.cpu_seconds = (uint64_t)ask->seconds + 2;
	o.in = document(g, ask->set);
	return grader_child_start(&s->child, &o, e);
}

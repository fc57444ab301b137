/* SPDX-License-Identifier: ISC */
/*
 * Evaluates assertions in an interpreter of their language: one child process
 * for all assertions of a grader.
 *
 * The child reads a JSON document from standard input and prints one line for
 * each assertion as soon as it is evaluated: true, false, or the message of an
 * exception.  If it is killed because an assertion does not terminate, the
 * verdicts before that assertion are kept.  The lines have a prefix, because
 * python3 may be a wrapper script that prints other lines.
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
	MESSAGE_MAX = 500	/* bytes kept of an exception's message */
};

static const char python[] =
    "import json, re, sys\n"
    "try:\n"
    "    import resource\n"
    "    resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))\n"
    "except Exception:\n"
    "    pass\n"
    "doc = json.loads(sys.stdin.buffer.read().decode('utf-8'))\n"
    "names = dict(doc['names'], len=len, any=any, all=all, re=re, str=str,\n"
    "    int=int, float=float, bool=bool, list=list, dict=dict,\n"
    "    __builtins__={})\n"
    "out = sys.stdout.buffer\n"
    "for text in doc['assertions']:\n"
    "    try:\n"
    "        said = bool(eval(text.strip(), dict(names)))\n"
    "    except BaseException as e:\n"
    "        said = (str(e) or type(e).__name__)[:500]\n"
    "        said = said.encode('utf-8', 'replace').decode('utf-8')\n"
    "    out.write(b'waza:' + json.dumps(said).encode() + b'\\n')\n"
    "    out.flush()\n";

static const char javascript[] =
    "const fs = require('fs'), vm = require('vm');\n"
    "const doc = JSON.parse(fs.readFileSync(0, 'utf8'));\n"
    "const names = Object.assign({}, doc.names, { Array, Object, String,\n"
    "    Number, Boolean, Math, JSON, RegExp, parseInt, parseFloat, isNaN,\n"
    "    isFinite, undefined, NaN, Infinity, True: true, False: false });\n"
    "const context = vm.createContext(names);\n"
    "for (const text of doc.assertions) {\n"
    "    let said;\n"
    "    try {\n"
    "        said = Boolean(vm.runInContext(text, context,\n"
    "            { timeout: 5000 }));\n"
    "    } catch (e) {\n"
    "        said = String(e && e.message || e).slice(0, 500);\n"
    "        said = Buffer.from(said).toString();\n"
    "    }\n"
    "    fs.writeSync(1, 'waza:' + JSON.stringify(said) + '\\n');\n"
    "}\n";

static const struct language {
	const char *programs[3];	/* the first in PATH is used */
	const char *args[6];	/* before the script */
	const char *script;
} languages[] = {
	[CODE_PYTHON] = { { "python3", "python" },
	    { "-I", "-S", "-W", "ignore", "-c" }, python },
	[CODE_JAVASCRIPT] = { { "node", "nodejs" },
	    { "--max-old-space-size=1024", "-e" }, javascript },
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
	as->message = arena_str(a, utf8_cut(message, MESSAGE_MAX));
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
		if (as == NULL || v == NULL ||
		    (v->type != JSON_BOOL && v->type != JSON_STRING))
			return false;
		if (v->type == JSON_BOOL)
			decide(a, as, json_bool(v) ? CODE_TRUE : CODE_FALSE,
			    STR(""));
		else
			decide(a, as, CODE_RAISED, json_text(v));
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

/* The first undecided assertion ended the child; the others did not run. */
static void
decide_rest(struct state *s)
{
	struct arena *a = s->g->arena;
	struct code_assertion *as = next_undecided(s->ask.set, &s->at);

	if (as == NULL)
		return;
	decide(a, as, CODE_RAISED, failure(s));
	while ((as = next_undecided(s->ask.set, &s->at)) != NULL)
		decide(a, as, CODE_RAISED,
		    STR("not evaluated: the assertion before it did not end"));
}

static void
judge(void *arg)
{
	struct state *s = arg;
	const struct proc_result *r = &s->child.proc.res;
	bool ok = read_lines(s);
	struct str why;

	if (r->truncated) {
		grader_error(s->g, "%s printed more than %d MiB", s->program,
		    STDOUT_MAX >> 20);
		return;
	}
	/* a child that was killed shows a problem of the assertion */
	if (!ok || (next_undecided(s->ask.set, &s->at) != NULL &&
	    !r->timed_out && r->signo == 0)) {
		why = failure(s);
		grader_error(s->g, "no verdict from %.*s", STRF(why));
		return;
	}
	decide_rest(s);
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
	const char *argv[COUNTOF(l->args) + 2] = { NULL };
	struct proc_opts o = { .argv = argv, .out_max = STDOUT_MAX,
		.stop_at_max = true, .err_max = STDERR_MAX,
		.grace_ms = 100 };	/* it has nothing to clean up */
	size_t i;

	s->g = g;
	s->ask = *ask;
	s->child = (struct grader_child){ .g = g, .seconds = ask->seconds,
		.judge = judge, .arg = s };
	s->program = argv[0] = code_interpreter(g->arena, ask->language);
	if (argv[0] == NULL)
		return no_interpreter(g, ask, e);
	for (i = 0; l->args[i] != NULL; i++)
		argv[i + 1] = l->args[i];
	argv[i + 1] = l->script;
	o.in = document(g, ask->set);
	return grader_child_start(&s->child, &o, e);
}

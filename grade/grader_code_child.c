/* SPDX-License-Identifier: ISC */
/*
 * Assertions that only their own language can judge: one child for all of a
 * grader's.
 *
 * It gets a JSON document on its standard input and says a line for each
 * assertion, as it goes: true, false, or an exception's text.  So when it is
 * stopped, for an assertion that never ends, the verdicts before that one
 * are kept, and the ones after it are known not to be asked.  Its lines have
 * a mark, since what is called python3 may be a script that has more to say.
 *
 * Python's names are globals there, unlike in the original, where no
 * generator expression could see them.
 */
#include "grade/grader_code.h"

#include <string.h>

#include "agent/agent.h"
#include "base/os_path.h"
#include "io/proc.h"
#include "json.h"

enum {
	ANSWER_MAX = 4 << 20,	/* bytes of all its lines */
	ERRORS_MAX = 64 << 10,
	MESSAGE_MAX = 500	/* bytes kept of an exception's text */
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

/* The first that is there is used. */
static const struct language {
	const char *programs[3];
	const char *args[6];	/* before the script */
	const char *script;
} languages[] = {
	[CODE_PYTHON] = { { "python3", "python" },
	    { "-I", "-S", "-W", "ignore", "-c" }, python },
	[CODE_JAVASCRIPT] = { { "node", "nodejs" },
	    { "--max-old-space-size=1024", "-e" }, javascript },
};

struct state {
	struct proc proc;
	struct grading *g;
	struct code_ask ask;
	const char *program;
	size_t at;		/* assertions before it are decided */
};

const char *
code_wanted(enum code_language l)
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
	json_put_member(&o, "names", code_names(&tmp, g->in, set));
	json_open_member(&o, "assertions", '[');
	for (i = 0; i < set->n; i++)
		if (set->v[i].verdict == CODE_OPEN)
			json_put_str(&o, set->v[i].text);
	json_close(&o, ']');
	json_close(&o, '}');
	s = grader_take(g->arena, &b);
	arena_free(&tmp);
	return s;
}

/* The first that is open, from *at on, which it moves there. */
static struct code_assertion *
next_open(struct code_set *set, size_t *at)
{
	for (; *at < set->n; ++*at)
		if (set->v[*at].verdict == CODE_OPEN)
			return &set->v[*at];
	return NULL;
}

static void
decide(struct arena *a, struct code_assertion *as, enum code_verdict verdict,
    struct str message)
{
	as->verdict = verdict;
	if (message.n > MESSAGE_MAX) {
		message.n = MESSAGE_MAX;
		while (((unsigned char)message.p[message.n] & 0xC0) == 0x80)
			message.n--;	/* no half a character */
	}
	as->message = arena_str(a, message);
}

/* Takes the lines that are whole; false when one is not to be understood. */
static bool
take_answers(struct state *s)
{
	const struct str mark = STR("waza:");
	struct str left = buf_str(&s->proc.out.buf), line;
	struct arena *a = s->g->arena;
	struct json_mem mem = { arena_hook, a };
	struct code_assertion *as;
	struct json_error e;
	const struct json *v;
	const char *eol;

	while (left.n > 0 && (eol = memchr(left.p, '\n', left.n)) != NULL) {
		line = (struct str){ left.p, (size_t)(eol - left.p) };
		left.p += line.n + 1;
		left.n -= line.n + 1;
		if (!str_starts(line, mark))
			continue;
		line.p += mark.n;
		line.n -= mark.n;
		as = next_open(s->ask.set, &s->at);
		v = json_read(&mem, line, 0, &e);
		if (as == NULL || v == NULL ||
		    (v->type != JSON_BOOL && v->type != JSON_STRING))
			return false;
		if (v->type == JSON_BOOL)
			decide(a, as, json_bool(v) ? CODE_TRUE : CODE_FALSE,
			    STR(""));
		else
			decide(a, as, CODE_MESSAGE, json_text(v));
	}
	return true;
}

static struct str
reason(struct state *s)
{
	const struct proc_result *r = &s->proc.res;
	struct str err = buf_str(&s->proc.err.buf);
	struct str q = grader_quote(s->g->arena, err);

	if (r->timed_out)
		return arena_fmt(s->g->arena, "no answer within %g s",
		    s->ask.seconds);
	if (r->signo != 0)
		return arena_fmt(s->g->arena, "%s was killed by signal %d",
		    s->program, r->signo);
	return arena_fmt(s->g->arena, "%s ended with status %d: %.*s",
	    s->program, r->status, STRF(q));
}

/* What has no answer, has none because of the first of them. */
static void
give_up(struct state *s)
{
	struct arena *a = s->g->arena;
	struct code_assertion *as = next_open(s->ask.set, &s->at);

	if (as == NULL)
		return;
	decide(a, as, CODE_MESSAGE, reason(s));
	while ((as = next_open(s->ask.set, &s->at)) != NULL)
		decide(a, as, CODE_MESSAGE,
		    STR("not evaluated, for the one before had no answer"));
}

static void
judge(struct state *s)
{
	bool ok = take_answers(s), timed_out = s->proc.res.timed_out;
	struct str why;

	if (s->proc.res.truncated) {
		grader_error(s->g, "%s wrote too much", s->program);
		return;
	}
	/* one that is stopped has shown what is wrong with the assertion */
	if (!ok || (next_open(s->ask.set, &s->at) != NULL && !timed_out &&
	    s->proc.res.signo == 0)) {
		why = reason(s);
		grader_error(s->g, "%s gave no answer: %.*s", s->program,
		    STRF(why));
		return;
	}
	give_up(s);
	s->ask.conclude(s->g, s->ask.set);
}

static void
ended(void *arg)
{
	struct state *s = arg;
	struct grading *g = s->g;

	g->out.duration_ms = s->proc.res.duration_ms;
	if (s->proc.res.cancelled)
		grader_error(g, "cancelled");
	else
		judge(s);
	proc_fini(&s->proc);
	g->state = NULL;
	g->done(g->arg);
}

static int
no_interpreter(struct grading *g, const struct code_ask *ask, struct err *e)
{
	size_t at = 0;
	const struct code_assertion *as = next_open(ask->set, &at);
	struct str q = grader_quote(g->arena, as->text);

	return err_set(e, ERR_SYS, "assertion %.*s needs %s, which is not in "
	    "PATH%s%.*s", STRF(q), code_wanted(ask->language),
	    as->message.n > 0 ? ": " : "", STRF(as->message));
}

int
code_ask(struct grading *g, const struct code_ask *ask, struct err *e)
{
	const struct language *l = &languages[ask->language];
	struct state *s = NEW(g->arena, struct state);
	const char *argv[COUNTOF(l->args) + 2] = { NULL };
	struct proc_opts o = { .argv = argv, .out_max = ANSWER_MAX,
		.stop_at_max = true, .err_max = ERRORS_MAX, .done = ended,
		.arg = s };
	size_t i;

	s->g = g;
	s->ask = *ask;
	s->program = argv[0] = code_interpreter(g->arena, ask->language);
	if (argv[0] == NULL)
		return no_interpreter(g, ask, e);
	for (i = 0; l->args[i] != NULL; i++)
		argv[i + 1] = l->args[i];
	argv[i + 1] = l->script;
	o.in = document(g, ask->set);
	o.timeout_ms = (int64_t)(ask->seconds * 1000) + 1;
	o.grace_ms = 100;	/* it has nothing to tidy up */
	if (proc_start(g->in->procs, &s->proc, &o, e) != 0)
		return -1;
	g->state = s;
	return 0;
}

void
code_cancel(struct grading *g)
{
	struct state *s = g->state;

	if (s != NULL)
		proc_cancel(&s->proc);
}

/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "json.h"
#include "suite/config.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct arena arena;
static char home[] = "/tmp/t_config.XXXXXX";
static struct spec_notes notes;		/* of the last load */
static bool trusting = true;		/* the project's file */

/* Environment: pairs, then NULL; HOME is the temporary directory. */
static const char *
env(void *ctx, const char *name)
{
	const char *const *v = ctx;

	for (; v != NULL && *v != NULL; v += 2)
		if (strcmp(*v, name) == 0)
			return v[1];
	return strcmp(name, "HOME") == 0 ? home : NULL;
}

static const char *
path(const char *name)
{
	return arena_fmt(&arena, "%s/%s", home, name).p;
}

static void
put(const char *name, const char *text)
{
	write_file(path(name), text);
}

static struct config *
load(struct config_sources s)
{
	s.env = env;
	s.trust = trusting;
	if (s.dir == NULL)
		s.dir = path("a/b");
	notes = (struct spec_notes){ .arena = &arena };
	return config_load(&arena, &s, &notes);
}

/* All notes, without the temporary directory. */
static const char *
said(void)
{
	struct buf b = { 0 };
	const struct spec_note *n;
	struct spec_note copy;
	const char *s;

	for (n = notes.head; n != NULL; n = n->next) {
		copy = *n;
		if (strncmp(copy.at.file, home, strlen(home)) == 0)
			copy.at.file += strlen(home);
		spec_note_put(&b, &copy);
	}
	s = arena_str(&arena, buf_str(&b)).p;
	buf_free(&b);
	return s;
}

static bool
says(const char *want)
{
	const char *got = said();

	if (strcmp(got, want) == 0)
		return true;
	printf("# want: %s# got:  %s", want, got);
	return false;
}

/* "value @ source" of a key. */
static const char *
leaf(const struct config *c, const char *key)
{
	struct config_leaf *v;
	size_t n = config_leaves(&arena, c, &v), i;
	const char *file;

	for (i = 0; i < n; i++)
		if (str_is(v[i].key, key)) {
			file = v[i].at.file;
			if (file != NULL &&
			    strncmp(file, home, strlen(home)) == 0)
				file += strlen(home);
			return arena_fmt(&arena, "%.*s @ %s:%u:%u",
			    STRF(v[i].value), file == NULL ? "default" : file,
			    v[i].at.line, v[i].at.col).p;
		}
	return "none";
}

static bool
is(const char *got, const char *want)
{
	if (strcmp(got, want) == 0)
		return true;
	printf("# want: %s\n# got:  %s\n", want, got);
	return false;
}

/* Whether loading a .waza.yaml with this text gives these notes. */
static bool
finds(const char *text, const char *want)
{
	put("a/.waza.yaml", text);
	load((struct config_sources){ 0 });
	put("a/.waza.yaml", "");
	return says(want);
}

/* The same for --config-json. */
static bool
json_finds(const char *json, const char *want)
{
	load((struct config_sources){ .json = json });
	return says(want);
}

static void
test_defaults(void)
{
	struct config *c = load((struct config_sources){ 0 });

	OK(c != NULL && says(""));
	OK(c->port == 9000 && str_is(c->host, "127.0.0.1"));
	OK(c->nports == 0 && c->roots.n == 0 && c->ntools == 0);
	OK(c->framing == CONFIG_AUTO && c->log_level == CONFIG_WARNING);
	OK(!c->allow_remote && c->tools == NULL && c->tree == NULL);
	OK(c->limits.message_bytes == 10 << 20 && c->limits.depth == 128);
	OK(c->limits.connections == 1024 && c->limits.runs == 128);
	OK(c->remote.ping_seconds == 30 && c->remote.lost_seconds == 10);
	OK(is(leaf(c, "port"), "9000 @ default:0:0"));
	OK(is(leaf(c, "limits.runs"), "128 @ default:0:0"));
	OK(is(leaf(c, "tools"), "{} @ default:0:0"));
	OK(is(leaf(c, "defaults"), "none") && is(leaf(c, "token"), "none"));
}

/* Each source in turn sets the port. */
static void
test_ladder(void)
{
	static const char *const vars[] = { "WAZA_PORT", "4", NULL };
	struct config_flag flag = { "--port", "port", "6" };
	struct config_sources s = { 0 };

	put(".waza/config", "port: 1\n");
	OK(is(leaf(load(s), "port"), "1 @ /.waza/config:1:7"));
	put("a/.waza.yaml", "# mine\n\nport:\n  2\n");
	OK(is(leaf(load(s), "port"), "2 @ /a/.waza.yaml:4:3"));
	put("more.json", "{\"port\": 3}");
	s.path = path("more.json");
	OK(is(leaf(load(s), "port"), "3 @ /more.json:1:10"));
	s.ctx = (void *)(uintptr_t)vars;
	OK(is(leaf(load(s), "port"), "4 @ WAZA_PORT:0:0"));
	s.json = " {\"port\": 5}";
	OK(is(leaf(load(s), "port"), "5 @ --config-json:1:11"));
	s.flags = &flag;
	s.nflags = 1;
	OK(is(leaf(load(s), "port"), "6 @ --port:0:0"));
	OK(load(s)->port == 6 && says(""));
	put(".waza/config", "");
	put("a/.waza.yaml", "");
}

static void
test_merge(void)
{
	struct config_sources s = { 0 };
	struct config *c;

	put(".waza/config", "limits: {runs: 1, depth: 2}\nroots: [/x, /y]\n"
	    "tools:\n  a: {command: [one, two], description: low}\n"
	    "  b: {command: b}\nmodel: m\nsessions: {max: 7}\n"
	    "executors: {e: {p: {q: 1, r: 2}, s: [1, 2]}}\n");
	put("a/.waza.yaml", "limits: {runs: 3, connections: 4}\nroots: [/z]\n"
	    "tools:\n  a: {command: [three]}\n  c: {command: c}\n  b: null\n"
	    "model: ~\nsessions: null\n"
	    "executors: {e: {p: {q: 5, r: null, t: 6}, s: [3]}, n: {}}\n");
	c = load(s);
	OK(c != NULL && says(""));
	OK(c->limits.runs == 3 && c->limits.depth == 2);
	OK(c->limits.connections == 4 && c->limits.kept_runs == 100);
	OK(is(leaf(c, "limits.depth"), "2 @ /.waza/config:1:26"));
	OK(c->roots.n == 1 && str_is(c->roots.v[0], "/z"));
	OK(c->model.n == 0 && is(leaf(c, "model"), "\"\" @ default:0:0"));
	OK(c->sessions.max == 1000);
	OK(c->ntools == 2 && str_is(c->tool[0].name, "a") &&
	    str_is(c->tool[1].name, "c"));
	OK(c->tool[0].command.n == 1 && str_is(c->tool[0].command.v[0],
	    "three") && str_is(c->tool[0].description, "low"));
	OK(is(leaf(c, "tools.a.command"), "[\"three\"] @ /a/.waza.yaml:4:16"));
	OK(is(leaf(c, "tools.a.description"), "\"low\" @ /.waza/config:4:41"));
	OK(is(leaf(c, "executors.e.p.q"), "5 @ /a/.waza.yaml:9:24"));
	OK(is(leaf(c, "executors.e.p.r"), "none"));
	OK(is(leaf(c, "executors.e.p.t"), "6 @ /a/.waza.yaml:9:39"));
	OK(is(leaf(c, "executors.e.s"), "[3] @ /a/.waza.yaml:9:46"));
	OK(is(leaf(c, "executors.n"), "{} @ /a/.waza.yaml:9:55"));
	s.json = "{\"tools\": null, \"executors\": {\"e\": 1}}";
	OK(load(s) == NULL);
	OK(says("--config-json:1:36: \"e\" must be a mapping, not a number\n"));
	s.json = "{\"tools\": null, \"executors\": {\"e\": null}}";
	c = load(s);
	OK(c != NULL && c->ntools == 0 && c->tools == NULL);
	OK(json_count(c->executors) == 1);
	put(".waza/config", "");
	put("a/.waza.yaml", "");
}

/* Many members in two layers: all are merged, by the index. */
static void
test_large_merge(void)
{
	struct buf a = { 0 }, b = { 0 };
	struct config *c;
	const struct json *e;
	int i;

	buf_puts(&a, "executors:\n");
	buf_puts(&b, "executors:\n");
	for (i = 0; i < 20000; i++) {
		buf_fmt(&a, "  k%d: {v: 1}\n", i);
		buf_fmt(&b, i % 2 != 0 ? "  k%d: {w: 2}\n" :
		    i % 4 == 0 ? "  k%d:\n" : "  l%d: {}\n", i);
	}
	buf_putc(&a, '\0');
	buf_putc(&b, '\0');
	put(".waza/config", a.p);
	put("a/.waza.yaml", b.p);
	c = load((struct config_sources){ 0 });
	OK(c != NULL && json_count(c->executors) == 20000);
	e = json_getc(c->executors, "k19999");
	OK(json_count(e) == 2 && json_getc(e, "w") != NULL);
	OK(json_getc(c->executors, "k4") == NULL);
	OK(json_getc(c->executors, "l2") != NULL);
	put(".waza/config", "");
	put("a/.waza.yaml", "");
	buf_free(&a);
	buf_free(&b);
}

static void
test_places(void)
{
	OK(finds("limts: {}\n", "/a/.waza.yaml:1:1: warning: unknown key "
	    "\"limts\" (did you mean \"limits\"?)\n"));
	OK(finds("limits: {run: 3}\n", "/a/.waza.yaml:1:10: warning: unknown "
	    "key \"run\" (did you mean \"runs\"?)\n"));
	OK(finds("defaults: {timeout: 3}\ngraders: {}\npaths: {}\nfiles: {}\n"
	    "cache: {}\nserver: {port: 1}\ndev: {}\ntokens: {limits: {}}\n"
	    "storage: {}\n", ""));
	OK(finds("port: many\nframing: lps\nlimits: {runs: 0, depth: 1.5}\n"
	    "roots: {}\n", "/a/.waza.yaml:1:7: \"port\" must be a whole "
	    "number, not a string\n/a/.waza.yaml:2:10: \"framing\" cannot "
	    "be \"lps\" (did you mean \"lsp\"?)\n/a/.waza.yaml:3:16: "
	    "\"runs\" must be from 1 to 1000000, not 0\n/a/.waza.yaml:3:26: "
	    "\"depth\" must be a whole number, not 1.5\n/a/.waza.yaml:4:8: "
	    "\"roots\" must be a list of strings, not a mapping\n"));
	OK(finds("- 1\n", "/a/.waza.yaml:1:1: expected a mapping, not a list\n"));
	OK(finds("a: [\n", "/a/.waza.yaml:2:1: found the end of the file "
	    "inside a sequence that starts at line 1: ] is missing\n"));
	OK(json_finds("{\"storage\": 1}", "--config-json:1:2: warning: "
	    "\"storage\" has no effect here\n"));
	OK(json_finds("{\"port\": 1", "--config-json:1:11: unexpected end of input\n"));
	OK(json_finds("{\"port\": 65536}", "--config-json:1:10: \"port\" must be "
	    "from 0 to 65535, not 65536\n"));
	OK(json_finds("{\"limits\": 3, \"judge\": [], \"prices\": {\"m\": {\"input\": -1}}}",
	    "--config-json:1:12: expected a mapping, not a number\n"
	    "--config-json:1:54: \"input\" must be from 0 to 1000000, not -1\n"
	    "--config-json:1:24: \"judge\" must be a mapping, not a list\n"));
	OK(json_finds("{\"token_file\": \"\"}",
	    "--config-json:1:16: \"token_file\" is empty\n"));
	OK(json_finds("{\"model\": \"a\\u0000b\"}",
	    "--config-json:1:11: \"model\" contains a NUL\n"));
}

static void
test_tools(void)
{
	struct config_sources s = { 0 };
	const struct json *cmd;
	struct config *c;

	OK(json_finds("{\"tools\": {\"t\": {\"description\": \"d\"}}}",
	    "--config-json:1:17: tool \"t\": \"command\" is missing\n"));
	OK(json_finds("{\"tools\": {\"t\": {\"command\": []}, \"u v\": {\"command\": 1}}}",
	    "--config-json:1:29: \"command\" is empty\n--config-json:1:41: "
	    "\"u v\" is not a valid tool name: use letters, digits, \"_\", \"-\" "
	    "and "
	    "\".\", at most 64\n"));
	OK(json_finds("{\"tools\": {\"t\": {\"command\": [\"x\"], \"comand\": 1}}}",
	    "--config-json:1:36: warning: unknown key \"comand\" (did you mean \"command\"?)\n"));
	OK(json_finds("{\"tools\": {\"t\": {\"command\": \"x\", \"input_schema\": {\"type\": 5}}}}",
	    "--config-json:1:59: /type: must be a type or a list of types (null, "
	    "boolean, object, array, number, integer, string), is 5\n"));
	OK(json_finds("{\"tools\": {\"t\": {\"command\": \"x\", \"input_schema\": "
	    "{\"properties\": {\"token\": {\"type\": \"string\"}}}}}}", ""));
	put("a/.waza.yaml", "tools: {t: {command: [bin/t, bin/x], "
	    "timeout_seconds: 0.5}, u: {command: ./u}, v: {command: v}}\n");
	c = load(s);
	OK(c != NULL && c->ntools == 3 && c->tool[0].timeout_seconds == 0.5);
	OK(is(c->tool[0].command.v[0].p, path("a/bin/t")));
	OK(is(c->tool[0].command.v[1].p, "bin/x"));
	cmd = json_getc(json_getc(c->tools, "t"), "command");
	OK(str_is(json_text(json_first(cmd)), path("a/bin/t")));
	OK(json_count(cmd) == 2);
	cmd = json_getc(json_getc(c->tools, "u"), "command");
	OK(str_is(json_text(cmd), path("a/./u")));
	OK(is(c->tool[2].command.v[0].p, "v") && c->tool[2].timeout_seconds == 60);
	put("a/.waza.yaml", "prices: {gpt-4.1: {input: 2, output: 8.5}}\n"
	    "executors: {x: {headers: {x-org: hush}}}\n");
	c = load(s);
	OK(c != NULL && c->nprices == 1 && c->price[0].output == 8.5);
	OK(is(leaf(c, "prices.\"gpt-4.1\".input"), "2 @ /a/.waza.yaml:1:27"));
	OK(is(leaf(c, "executors.x.headers.x-org"), " @ /a/.waza.yaml:2:34"));
	put("a/.waza.yaml", "");
}

static void
test_listen(void)
{
	static const struct config_flag flags[] = {
		{ "--tcp", "listen", "tcp:[::1]:0" },
		{ "--framing", "framing", "line" },
		{ "--unix", "listen", "unix:s" },
		{ "--tcp", "listen", "tcp:80" },
		{ "--runs", "limits.runs", "9" },
		{ "--hello", "require_hello", "1" },
	};
	struct config_sources s = { .flags = flags, .nflags = COUNTOF(flags) };
	static const char *const bad[] = { "", "tpc:1", "tcp:", "tcp:x", "unix:",
		"stdio:1", "http", "tcp:a:b:1", "tcp:1:99999", "tcp:[::1]",
		"tcp:99999999999999999999999", "unix", "Stdio" };
	struct config *c;
	const char *json;
	size_t i;

	put(".waza/config", "listen: [stdio, tcp, 'unix:run/s', 'unix:~/t', "
	    "'http:localhost:3000']\nhost: '::1'\nport: 7\n"
	    "token_file: tok\nroots: ['.', ~/x, /y]\n"
	    "sessions: {persist_dir: p, prompt_template: ~/q}\n");
	c = load((struct config_sources){ 0 });
	OK(c != NULL && c->nports == 5 && c->ports[0].via == CONFIG_STDIO);
	OK(c->ports[1].via == CONFIG_TCP && is(c->ports[1].where, "[::1]:7"));
	OK(c->ports[2].via == CONFIG_UNIX &&
	    is(c->ports[2].where, path(".waza/run/s")));
	OK(is(c->ports[3].where, path("t")) && c->ports[3].at.col == 36);
	OK(c->ports[4].via == CONFIG_HTTP &&
	    is(c->ports[4].where, "localhost:3000"));
	OK(str_is(c->listen.v[1], "tcp:[::1]:7"));
	OK(is(c->token_file.p, path(".waza/tok")));
	OK(is(c->roots.v[0].p, path(".waza/.")) && is(c->roots.v[1].p, path("x")));
	OK(is(c->roots.v[2].p, "/y") && is(c->sessions.persist_dir.p, path(".waza/p")));
	OK(is(c->sessions.prompt_template.p, path("q")));
	c = load(s);
	OK(c != NULL && c->nports == 3 && is(c->ports[0].where, "[::1]:0"));
	OK(is(c->ports[1].where, "s") && is(c->ports[2].where, "80"));
	OK(c->framing == CONFIG_LINE && c->limits.runs == 9 && c->require_hello);
	OK(is(leaf(c, "listen"), "[\"tcp:[::1]:0\",\"unix:s\",\"tcp:80\"] @ --tcp --unix:0:0"));
	put(".waza/config", "");
	for (i = 0; i < COUNTOF(bad); i++) {
		json = arena_fmt(&arena, "{\"listen\": [\"%s\"]}", bad[i]).p;
		c = load((struct config_sources){ .json = json });
		if (c != NULL)
			printf("# %s\n", bad[i]);
		OK(c == NULL && notes.head->at.col == 13);
	}
	OK(json_finds("{\"listen\": [\"stdio\", \"stdio\"]}",
	    "--config-json:1:22: \"stdio\" is listed twice\n"));
}

static void
test_environment(void)
{
	static const char *const good[] = { "WAZA_HOST", "h", "WAZA_TIMEOUT",
		"0", "WAZA_ALLOW_REMOTE", "yes", "WAZA_ROOTS", "/a::/b",
		"WAZA_LISTEN", "tcp,stdio", "WAZA_LOG_LEVEL", "debug",
		"WAZA_TOKEN_FILE", "t", "WAZA_PORT", "", NULL };
	static const char *const bad[] = { "WAZA_PORT", "x", "WAZA_TIMEOUT",
		"1 2", "WAZA_ALLOW_REMOTE", "perhaps", "WAZA_LOG_LEVEL", "debg",
		"WAZA_LISTEN", "tcp:x", NULL };
	const char *dir[] = { "WAZA_HOME", path("other"), "WAZA_CONFIG",
		path("conf"), NULL };
	struct config_sources s = { .ctx = (void *)(uintptr_t)good };
	struct config *c = load(s);

	OK(c != NULL && str_is(c->host, "h") && c->timeout_seconds == 0);
	OK(c->allow_remote && c->roots.n == 2 && is(c->roots.v[1].p, "/b"));
	OK(c->nports == 2 && is(c->ports[0].where, "h:9000"));
	OK(c->log_level == CONFIG_DEBUG && is(c->token_file.p, "t"));
	OK(c->port == 9000 && is(leaf(c, "host"), "\"h\" @ WAZA_HOST:0:0"));
	s.ctx = (void *)(uintptr_t)bad;
	OK(load(s) == NULL && notes.errors == 5);
	OK(says("WAZA_ALLOW_REMOTE: \"allow_remote\" must be true or false, not "
	    "a string\nWAZA_LISTEN: \"x\" is not HOST:PORT\nWAZA_LOG_LEVEL: "
	    "\"log_level\" cannot be \"debg\" (did you mean \"debug\"?)\n"
	    "WAZA_PORT: \"port\" must be a whole number, not a string\n"
	    "WAZA_TIMEOUT: \"timeout_seconds\" must be a whole number, not a "
	    "string\n"));
	put("other/config", "model: other\nexecutor: o\n");
	put("conf", "model: conf\nexecutor: [\n");
	s.ctx = dir;
	OK(load(s) == NULL && notes.errors == 1);
	put("conf", "model: conf\n");
	c = load(s);
	OK(c != NULL && str_is(c->model, "conf") && str_is(c->executor, "o"));
	put("flag", "model: flag\n");
	s.path = path("flag");
	OK(str_is(load(s)->model, "flag"));
	s.path = path("absent");
	OK(load(s) == NULL && says("/absent: No such file or directory; check the path\n"));
	s.path = home;
	OK(load(s) == NULL && notes.errors == 1);
}

static void
test_user_file(void)
{
	struct config_sources s = { 0 };

	unlink(path(".waza/config"));
	put(".waza/config.yaml", "port: 8\n");
	OK(is(leaf(load(s), "port"), "8 @ /.waza/config.yaml:1:7"));
	put(".waza/config", "{\"port\":\t9}");
	OK(is(leaf(load(s), "port"), "9 @ /.waza/config:1:10"));
	OK(says("/.waza/config.yaml: warning: ignored: the file \"config\" "
	    "in the same directory takes precedence\n"));
	unlink(path(".waza/config.yaml"));
	unlink(path(".waza/config"));
	mkfifo(path(".waza/config"), 0600);
	OK(load(s) == NULL && says("/.waza/config: not a regular file\n"));
	unlink(path(".waza/config"));
	put(".waza/config", "");
}

/* .waza.yaml nine directories up is found, ten up is not. */
static void
test_levels(void)
{
	struct config_sources s = { 0 };
	struct buf dir = { 0 };
	int i;

	put("a/.waza.yaml", "port: 5\n");
	buf_puts(&dir, path("a"));
	for (i = 1; i <= 10; i++) {
		buf_puts(&dir, "/d");
		s.dir = arena_str(&arena, buf_str(&dir)).p;
		mkdir(s.dir, 0700);
		if (i >= 9)
			OK(load(s)->port == (i == 9 ? 5 : 9000));
	}
	put("a/.waza.yaml", "");
	buf_free(&dir);
}

/* The keys that are held back, separated by spaces. */
static const char *
held(const struct config *c)
{
	struct buf b = { 0 };
	const char *s;
	size_t i;

	for (i = 0; i < c->nheld; i++)
		buf_fmt(&b, "%s%.*s", i > 0 ? " " : "", STRF(c->held[i].key));
	s = arena_str(&arena, buf_str(&b)).p;
	buf_free(&b);
	return s;
}

/* Without trust, a project's file sets names and numbers only. */
static void
test_trust(void)
{
	struct config *c;

	put(".waza/config", "executor: acp\nroots: [/mine]\n"
	    "executors: {mine: {}}\n");
	put("a/.waza.yaml", "listen: [tcp]\nframing: lsp\nallow_remote: yes\n"
	    "require_hello: no\nunix_token: no\ntoken_file: t\nroots: ~\n"
	    "hosts: [h]\norigins: [o]\nhost: evil\nport: 1\n"
	    "timeout_seconds: 2\nexecutor: claude\nmodel: m\n"
	    "judge: {executor: claude, model: j, base_url: u}\n"
	    "executors: {mine: ~, his: {temperature: 0, env: {A: b}}, no: {},\n"
	    "  new: {temperature: 0}}\n"
	    "tools: {t: {command: [x]}}\nlimits: {runs: 3}\n"
	    "sessions: {max: 4, idle_seconds: 5, timeout_seconds: 6,\n"
	    "  executor: claude, provider: claude, temperature: 0.5,\n"
	    "  max_tokens: 7, working_dir: /, persist_dir: p,\n"
	    "  prompt_template: t}\n"
	    "remote: {lost_seconds: 8}\nprices: {m: {input: 9}}\n"
	    "log_level: debug\nunknown: 1\n");
	trusting = false;
	c = load((struct config_sources){ 0 });
	OK(c != NULL && notes.errors == 0 && notes.warnings == 2);
	OK(is(held(c), "listen framing allow_remote require_hello unix_token "
	    "token_file roots hosts origins host port judge.executor "
	    "judge.model judge.base_url executors.mine "
	    "executors.his.temperature executors.his.env.A executors.no "
	    "tools.t.command sessions.executor sessions.provider "
	    "sessions.working_dir sessions.persist_dir "
	    "sessions.prompt_template"));
	OK(strstr(said(), "/a/.waza.yaml: warning: not trusted: listen, framing, "
	    "allow_remote, require_hello, unix_token, token_file, roots, "
	    "hosts and 13 more are ignored; if you trust this file, run "
	    "\"waza config trust ") != NULL);
	OK(c->nports == 0 && c->framing == CONFIG_AUTO && !c->allow_remote);
	OK(c->port == 9000 && str_is(c->host, "127.0.0.1"));
	OK(c->token_file.n == 0 && c->hosts.n == 0 && c->ntools == 0);
	OK(c->roots.n == 1 && str_is(c->roots.v[0], "/mine"));
	OK(c->timeout_seconds == 2 && c->limits.runs == 3);
	OK(str_is(c->executor, "claude") && str_is(c->own_executor, "acp"));
	OK(str_is(c->model, "m") && c->price[0].input == 9);
	OK(c->sessions.executor.n == 0 && c->sessions.max_tokens == 7);
	OK(config_has_executor(c, STR("mine")));
	OK(c->judge == NULL && is(leaf(c, "executors.his"), "none"));
	OK(is(leaf(c, "executors.new.temperature"), "0 @ /a/.waza.yaml:17:22"));
	OK(!config_has_executor(c, STR("new")));
	OK(!config_has_executor(c, STR("no")));
	c = load((struct config_sources){ .json =
	    "{\"executors\": {\"new\": {}}}" });
	OK(config_has_executor(c, STR("new")));
	trusting = true;
	c = load((struct config_sources){ 0 });
	OK(c->nheld == 0 && c->port == 1 && c->allow_remote && c->ntools == 1);
	OK(str_is(c->own_executor, "claude") && c->roots.n == 0);
	OK(config_has_executor(c, STR("no")) &&
	    !config_has_executor(c, STR("mine")));
	put(".waza/config", "");
	put("a/.waza.yaml", "");
}

static void
test_secrets(void)
{
	static const char *const text[] = { "token: CANARY\n",
		"auth_token: CANARY\n", "auth: {token: CANARY}\n",
		"executors: {e: {api_key: CANARY}}\n",
		"executors: {e: {headers: {Authorization: CANARY}}}\n",
		"executors: {e: {list: [{X-Api-Key: CANARY}]}}\n",
		"judge: {password: CANARY}\n", "token: [CANARY\n" };
	struct config_sources s = { 0 };
	size_t i;

	for (i = 0; i < COUNTOF(text); i++) {
		put("t", text[i]);
		s.path = path("t");
		OK(load(s) == NULL && strstr(said(), "CANARY") == NULL);
	}
	put("t", "executors: {e: {api_key_env: X, max_tokens: 5}}\ntoken: ~\n");
	OK(load(s) != NULL && says(""));
}

/* Reads a token from a file with these bytes and this mode. */
static int
token(const char *text, size_t n, mode_t mode, struct str *out,
    const char **from, struct err *e)
{
	struct config_sources s = { .json = "{\"token_file\": \"~/token\"}" };
	struct config *c = load(s);

	*e = (struct err){ 0 };
	unlink(path("token"));		/* it may be read-only */
	os_write_file(path("token"), (struct str){ text, n }, e);
	chmod(path("token"), mode);
	return config_token(&arena, c, out, from, e);
}

static void
test_token(void)
{
	char *big = arena_raw(&arena, 5000, 1);
	const char *from = NULL;
	struct str t;
	struct err e;

	memset(big, 'x', 5000);
	OK(token("s3cret\n", 7, 0600, &t, &from, &e) == 0 && str_is(t, "s3cret"));
	OK(is(from, path("token")));
	OK(token("s3cret\r\n", 8, 0400, &t, &from, &e) == 0 && str_is(t, "s3cret"));
	OK(token("a b", 3, 0600, &t, &from, &e) == 0 && str_is(t, "a b"));
	OK(token("x", 1, 0640, &t, NULL, &e) == -1 && t.n == 0 &&
	    strstr(e.msg, "other users can read") != NULL);
	OK(token("x", 1, 0604, &t, NULL, &e) == -1);
	OK(token("x", 1, 0620, &t, NULL, &e) == -1);
	OK(token("", 0, 0600, &t, NULL, &e) == -1 && strstr(e.msg, "empty"));
	OK(token("\n", 1, 0600, &t, NULL, &e) == -1);
	OK(token("s3cret\n\n", 8, 0600, &t, NULL, &e) == -1 &&
	    strstr(e.msg, "control") != NULL && strstr(e.msg, "s3c") == NULL);
	OK(token("a\0b", 3, 0600, &t, NULL, &e) == -1);
	OK(token("\xff", 1, 0600, &t, NULL, &e) == -1);
	OK(token(big, 4096, 0600, &t, NULL, &e) == 0 && t.n == 4096);
	OK(token(big, 4097, 0600, &t, NULL, &e) == -1 && e.code == ERR_LIMIT);
	OK(token(big, 5000, 0600, &t, NULL, &e) == -1 && e.code == ERR_LIMIT);
	unlink(path("token"));
}

/* The variable takes precedence over a file of a lower source. */
static void
test_token_ladder(void)
{
	static const char *const vars[] = { "WAZA_TOKEN_FILE", "none", NULL };
	struct config_sources s = { .token = "from-env",
		.ctx = (void *)(uintptr_t)vars };
	struct config_flag flag = { "--token-file", "token_file", "" };
	const char *from;
	struct str t;
	struct err e;

	OK(config_token(&arena, load(s), &t, &from, &e) == 0);
	OK(str_is(t, "from-env") && is(from, "WAZA_AUTH_TOKEN"));
	put("t", "from-file\n");
	flag.value = path("t");
	s.flags = &flag;
	s.nflags = 1;
	OK(config_token(&arena, load(s), &t, &from, &e) == 0);
	OK(str_is(t, "from-file") && is(from, path("t")));
	s = (struct config_sources){ .token = "" };
	OK(config_token(&arena, load(s), &t, &from, &e) == -1);
	s.token = "a\nb";
	OK(config_token(&arena, load(s), &t, &from, &e) == -1);
	s.token = NULL;
	OK(config_token(&arena, load(s), &t, &from, &e) == 0 && t.n == 0);
	OK(from == NULL);
	flag.value = path("absent");
	s.flags = &flag;
	s.nflags = 1;
	OK(config_token(&arena, load(s), &t, &from, &e) == -1 &&
	    e.code == ERR_SYS);
	flag.value = home;
	OK(config_token(&arena, load(s), &t, &from, &e) == -1);
}

static void
test_hostile(void)
{
	struct buf b = { 0 };
	int i;

	for (i = 0; i < 200000; i++)
		buf_putc(&b, '[');
	buf_putc(&b, '\0');
	put("deep", b.p);
	OK(load((struct config_sources){ .path = path("deep") }) == NULL);
	OK(load((struct config_sources){ .json = b.p }) == NULL);
	b.n = 0;
	buf_puts(&b, "x: &a [1,2,3,4,5,6,7,8,9]\n");
	for (i = 0; i < 12; i++)
		buf_fmt(&b, "y%d: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", i,
		    'b' + i, 'a' + i, 'a' + i, 'a' + i, 'a' + i, 'a' + i,
		    'a' + i, 'a' + i);
	buf_putc(&b, '\0');
	put("laughs", b.p);
	OK(load((struct config_sources){ .path = path("laughs") }) == NULL);
	b.n = 0;
	for (i = 0; i < 17; i++)
		buf_fmt(&b, "k%d: '%*s'\n", i, 1 << 20, "");
	buf_putc(&b, '\0');
	put("large", b.p);
	OK(load((struct config_sources){ .path = path("large") }) == NULL &&
	    says("/large: larger than 16777216 bytes\n"));
	put("bin", "port: \x01\n");
	OK(load((struct config_sources){ .path = path("bin") }) == NULL);
	OK(load((struct config_sources){ .path = "/dev/null" }) != NULL);
	buf_free(&b);
}

int
main(void)
{
	static const char *const dirs[] = { "a", "a/b", ".waza", "other" };
	struct str rm;
	size_t i;

	if (mkdtemp(home) == NULL)
		return 1;
	for (i = 0; i < COUNTOF(dirs); i++)
		mkdir(path(dirs[i]), 0700);
	RUN(test_defaults, test_ladder, test_merge, test_large_merge,
	    test_places, test_tools, test_listen, test_environment,
	    test_user_file, test_levels, test_trust, test_secrets, test_token,
	    test_token_ladder, test_hostile);
	rm = arena_fmt(&arena, "rm -rf '%s'", home);
	if (system(rm.p) != 0)
		return 1;
	arena_free(&arena);
	return tap_done();
}

#!/usr/bin/env python3
"""The fake model of check-agents: fakellm.py, and some additions.

[[use:NAME]]  use the skill NAME, if the request describes it: by the agent's
              tool for skills or, where it has none, by reading its SKILL.md
[[twice:COMMAND]]  call the shell tool twice
[[mcp:NAME|NUMBER]]  call the tool of an MCP server whose name ends in NAME
Each call of the model reports 1000 input tokens, 200 of them from the cache, and 50 output
tokens, in the form of each API.

usage: model.py FAKELLM [--port N] [--log FILE] [--portfile FILE]
"""
import importlib.util, json, re, sys, threading

IN, CACHED, OUT = 1000, 200, 50
SKILL_TOOLS = ("skill", "Skill", "activate_skill", "load_skill", "use_skill")

path = sys.argv.pop(1)
spec = importlib.util.spec_from_file_location("fakellm", path)
fake = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fake)
fake.IN_TOK, fake.OUT_TOK = IN, OUT
fake.DIR = re.compile(r"\[\[(write|sh|tool|say|http|hang|use|twice|mcp):(.*?)\]\]", re.S)
request = threading.local()
log, put_json, put_sse = fake.H._log, fake.H._json, fake.H._sse
decide = fake.decide


def use(name, tools):
    text = json.dumps(request.body)
    if "canary of " + name not in text:
        return ("text", "I do not know the skill " + name)
    for t in tools:
        if t["name"] in SKILL_TOOLS:
            props = t["params"].get("properties") or {}
            key = next((k for k in ("skill", "skill_name", "name")
                        if k in props), "name")
            return ("tool", t["name"], {key: name})
    found = re.search(r"(/[^\s\"\\()]*)?/%s/SKILL\.md" % name, text)
    file = found.group(0) if found and found.group(1) else \
        ".agents/skills/%s/SKILL.md" % name
    call = fake.shell_call("cat " + file, tools)
    return ("tool",) + call if call else ("text", "I cannot read " + file)


def call_mcp(what, results, tools):
    """Some agents offer tools of servers only after a search for them."""
    name, _, n = what.partition("|")
    for t in tools:
        if t["name"].endswith(name) and len(results) < 2:
            return ("tool", t["name"], {"n": int(n)})
    for t in tools:
        if t["name"] == "tool_search" and not results:
            return ("tool", t["name"], {k: name for k, v in (t["params"].get("properties") or {}).items()
                    if k in (t["params"].get("required") or [])})
    return ("text", "no tool " + name)


def flat(body):
    """Codex offers the tools of a server in a namespace."""
    request.spaces = {}
    tools = []
    for t in body.get("tools") or []:
        for inner in t.get("tools") or []:
            request.spaces[inner.get("name")] = t.get("name")
            tools.append(inner)
        tools.append(t)
    return dict(body, tools=tools)


def absolute(user):
    """Qwen's tool for writing takes absolute paths only."""
    cwd = re.search(r"working in the directory: (/[^\s\"\\]+)",
                    json.dumps(request.body))
    return re.sub(r"\[\[write:(?!/)", "[[write:%s/" % cwd.group(1), user) \
        if cwd else user


def decide_more(user, results, tools):
    user = absolute(user)
    m = fake.DIR.search(user)
    if m and m.group(1) == "use" and not results and tools:
        return use(m.group(2), tools)
    if m and m.group(1) == "mcp" and tools and "of the mock" not in "".join(results):
        return call_mcp(m.group(2), results, tools)
    if m and m.group(1) == "twice" and len(results) < 2 and tools:
        call = fake.shell_call(m.group(2), tools)
        return ("tool",) + call if call else ("text", "no shell")
    return decide(user, results, tools)


def with_cache(v):
    if isinstance(v, list):
        return [with_cache(x) for x in v]
    if not isinstance(v, dict):
        return v
    v = {k: with_cache(x) for k, x in v.items()}
    if v.get("type") == "function_call" and v.get("name") in getattr(request, "spaces", {}):
        v["namespace"] = request.spaces[v["name"]]
    if "prompt_tokens" in v:
        v["prompt_tokens_details"] = {"cached_tokens": CACHED}
    if "input_tokens_details" in v:
        v["input_tokens_details"] = {"cached_tokens": CACHED}
    if "cache_read_input_tokens" in v:
        v["input_tokens"] = IN - CACHED
        v["cache_read_input_tokens"] = CACHED
    if "promptTokenCount" in v:
        v["cachedContentTokenCount"] = CACHED
    return v


def keep_body(self, body):
    request.body = body
    log(self, body)


norm_responses = fake.norm_responses
fake.norm_responses = lambda body: norm_responses(flat(body))
fake.decide = decide_more
fake.H._log = keep_body
fake.H._json = lambda self, v, *a, **k: put_json(self, with_cache(v), *a, **k)
fake.H._sse = lambda self, v, *a, **k: put_sse(self, with_cache(v), *a, **k)
fake.main()

#!/usr/bin/env python3
"""Print the outcome of one case of check-agents: status, class, reason.

usage: status.py RESULTS CASE
"""
import json, sys

IN, CACHED, OUT, CALLS = 1000, 200, 50, 2	# see model.py


def line(*words):
    print(" ".join(" ".join(str(w).split()) for w in words)[:300])
    sys.exit()


def usage(run):
    u = (run.get("session_digest") or {}).get("usage") or run.get("usage") or {}
    got = {k: u.get(k) for k in ("input_tokens", "output_tokens")}
    got["cached"] = u.get("cached_input_tokens", u.get("cache_read_tokens"))
    got["turns"] = u.get("turns")
    want = {"input_tokens": IN * CALLS, "output_tokens": OUT * CALLS,
            "cached": CACHED * CALLS, "turns": CALLS}
    unknown = u.get("unknown") or []
    if not u:
        line("unknown - the agent does not report them")
    names = {"cached": ("cached_input_tokens", "cached")}
    bad = [k for k in want if got[k] != want[k]]
    said = [k for k in bad if k in unknown or any(
        n in unknown for n in names.get(k, ()))]
    if not bad:
        line("passed")
    if bad == said and "input_tokens" not in bad and "output_tokens" not in bad:
        line("passed - not reported:", ", ".join(said))
    line("unknown" if bad == said else "wrong", "-",
         ", ".join("%s %s, not %s" % (k, got[k], want[k]) for k in bad),
         "reported as unknown:" if unknown else "", ", ".join(unknown))


def trigger(results, should):
    for t in results.get("trigger_results") or []:
        if t.get("should_trigger") == should:
            line("passed" if t.get("passed", t.get("did_trigger") == should)
                 else "failed", t.get("error_class") or "-", json.dumps(t))
    line("skipped -", results.get("trigger_note") or "no trigger results")


try:
    results = json.load(open(sys.argv[1]))
    tasks = results["tasks"]
except Exception as e:
    line("none -", e)
case = sys.argv[2]
if case in ("trigger", "no-trig"):
    trigger(results, case == "trigger")
for t in tasks:
    if case not in (t.get("test_id"), t.get("display_name")):
        continue
    runs = t.get("runs") or [{}]
    run = next((r for r in runs if r.get("status") != "passed"), runs[0])
    if case == "usage" and run.get("status") == "passed":
        usage(run)
    why = run.get("error_msg") or "; ".join(
        "%s: %s" % (k, v.get("feedback")) for k, v in
        (run.get("validations") or {}).items() if not v.get("passed"))
    if case == "commit":
        calls = (run.get("session_digest") or {}).get("tool_calls") or [{}]
        said = [l for l in str(calls[0].get("result")).splitlines()
                if "fatal: " in l]
        why = (why or "") + "; git: " + (said or [""])[0][-150:]
    note = run.get("note") if t.get("status") != "passed" else ""
    line(t.get("status"), run.get("error_class") or "-", why or "",
         "(%s)" % note if note else "")
line("none - the results have no task", case)

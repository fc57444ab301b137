#!/bin/sh
# waza check --urls against a server on this machine.
. "${0%/*}/../tool/lib.sh"
command -v curl >/dev/null || skip_all 'no curl'
command -v python3 >/dev/null || skip_all 'no python3'
cd "$tmp" || exit 1
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

cat >server.py <<'END'
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        with open("log", "a") as f:
            f.write("%s %s %s\n" % (self.command, self.path, self.headers["User-Agent"]))
        status = int(self.path.split("/")[1])
        if self.path.startswith("/405") and self.command == "GET":
            status = 200
        self.send_response(status)
        if status in (301, 302):
            self.send_header("Location", self.path if "loop" in self.path else "/200/end")
        self.send_header("Content-Length", "100000000" if "long" in self.path else "0")
        self.end_headers()
    do_GET = do_HEAD = answer
    def log_message(self, *a):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open("port.new", "w") as f:
    f.write(str(server.server_address[1]))
import os
os.rename("port.new", "port")
server.serve_forever()
END
python3 server.py >server.out 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$tmp"' EXIT
if ! wait_until 30 [ -s port ]
then skip_all 'the server did not start'
fi
base=http://127.0.0.1:$(cat port)

good='Reads tables from documents and writes them as CSV files that other programs can use. **UTILITY SKILL** USE FOR: extract a table, convert a page. DO NOT USE FOR: editing.'
# skill NAME TEXT
skill() {
	mkdir -p "s/$1"
	printf -- '---\nname: %s\ndescription: "%s"\n---\n%s\n' "$1" "$good" "$2" >"s/$1/SKILL.md"
}
skill good "[a]($base/200/a#x) [b]($base/200/a) <$base/302/b> [c]($base/405/c) [d]($base/405/long)"
skill bad "[a]($base/404/a)

[b]($base/500/b) [l]($base/301/loop) [e](http://127.0.0.1:1/) [u](http://a b)"
run "$WAZA" check --format json s/good
is 'without --urls: ready' 0 "$rc"
is 'without --urls: nothing is requested' no "$([ -e log ] && echo yes || echo no)"
run "$WAZA" check --urls --format json s/good
is 'private addresses: not ready' 1 "$rc"
ok 'private addresses: the reason' grep -q 'private address (127.0.0.1), which is not requested' "$tmp/out"
is 'private addresses: nothing is requested' no "$([ -e log ] && echo yes || echo no)"

skill six '[a](http://[::1]:1/) [b](http://[fd00::1]/) [c](http://[::ffff:10.0.0.1]/) [d](http://[fe80::1]/) [e](http://[ff02::1]/)'
run "$WAZA" check --urls --format json s/six
is 'private addresses of IPv6' '::1 ::ffff:10.0.0.1 fd00::1 fe80::1 ff02::1 ' \
    "$(grep -o 'private address ([^)]*), which is not requested' "$tmp/out" | sed 's/.*(\(.*\)).*/\1/' |
    LC_ALL=C sort -u | tr '\n' ' ')"
rm -r s/six
run "$WAZA" check --urls --private-urls --format json s/good
is 'good URLs: ready' 0 "$rc"
is 'good URLs: each counts once' '"valid": 4, "total": 4,' \
    "$(sed -n 's/^ *\("valid": [0-9]*,\|"total": [0-9]*,\)$/\1/p' "$tmp/out" | tr '\n' ' ' | sed 's/ $//')"
is 'HEAD, redirects, then GET after 405' "GET /405/c waza-link-checker/1.0
GET /405/long waza-link-checker/1.0
HEAD /200/a waza-link-checker/1.0
HEAD /200/end waza-link-checker/1.0
HEAD /302/b waza-link-checker/1.0
HEAD /405/c waza-link-checker/1.0
HEAD /405/long waza-link-checker/1.0" "$(sort log)"
run "$WAZA" check --urls --private-urls --format github s/bad
is 'dead URLs: not ready' 1 "$rc"
is 'dead URLs: status, loops, no server' "::error file=s/bad/SKILL.md,line=5,col=1,title=link-dead-url::dead URL \"$base/404/a\": HTTP 404
::error file=s/bad/SKILL.md,line=7,col=1,title=link-dead-url::dead URL \"$base/500/b\": HTTP 500" \
    "$(printf '%s\n' "$out" | head -n 2)"
like 'dead URLs: a loop' "*dead URL \"$base/301/loop\": too many redirects*" "$out"
like 'dead URLs: no server' '*dead URL "http://127.0.0.1:1/": curl: *' "$out"
rm log
run "$WAZA" check --urls --private-urls --format json s
is 'URLs of several skills: the same one is requested once' 1 "$(grep -c 'HEAD /200/a' log)"
mkdir none
err=$(PATH=$tmp/none "$WAZA" check --urls s/good 2>&1)
is 'no curl: exit 2' 2 $?
like 'no curl: message' '*needs `curl`*not installed*' "$err"
done_testing

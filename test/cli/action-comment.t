# The step of action.yml that keeps one comment on a pull request, with a double of
# the API on loopback.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
# the step has a PATH of its own
(PATH=/usr/bin:/bin:/usr/local/bin; command -v curl) >/dev/null || skip_all 'no curl in /usr/bin'
command -v python3 >/dev/null || skip_all 'no python3'
. "$top/test/tool/action.sh"
api=$tmp/api
mkdir "$api"
echo '[]' >"$api/comments.json"
python3 "$top/test/tool/double_github.py" "$api" >"$tmp/api.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$tmp"' EXIT
wait_until 120 test -s "$api/port" || {
	cat "$tmp/api.log"
	ok 'the double of the API has started' false
	done_testing
}
url=http://127.0.0.1:$(cat "$api/port")

# post [NAME=VALUE ...]: the step that comments, after a step that ran
post() {
	: >"$api/requests"
	act comment GITHUB_API_URL="$url" COMMENT_TOKEN=ghs_SECRET no_proxy=127.0.0.1 \
	    WAZA_DIRECTORY="$dir" INPUT_SUITE=good "$@"
}
# ran [NAME=VALUE ...]: sets $dir to the results of a step that ran
ran() {
	act run INPUT_SUITE=good "$@"
	dir=$(output results)
}
# comments CODE: what a Python expression over the list c says about the comments
comments() {
	python3 -c 'import json, sys
c = json.load(open(sys.argv[1], encoding="utf-8"))
print(eval(sys.argv[2]))' "$api/comments.json" "$1"
}

suite good 'yes a'
ran
post
is 'the first run creates a comment' '0 1' "$rc $(comments 'len(c)')"
is 'requests' 'GET /repos/o/r/issues/7/comments?per_page=100&page=1
POST /repos/o/r/issues/7/comments' "$(cat "$api/requests")"
like 'the comment: marker, run, commit, report' \
    '<!-- waza-action [0-9]* -->
\[Run 3\](https://github.example/o/r/actions/runs/42) of 0123456789ab

## Waza results: good
*Passed*' "$(comments 'c[0]["body"]')"
is 'the comment is the report, byte by byte' "$(cat "$dir/body.md")" \
    "$(comments 'c[0]["body"].split("\n", 3)[3]')"
is 'the token is not printed' '' "$(printf '%s' "$out$err" | grep SECRET)"
is 'nothing is left' '' "$(ls "$tmp/runner" | grep comment)"

suite good 'no \"a\\\\b\" 	tab é $(id) `id` %0A'
ran
post
is 'the second run updates it' '0 1' "$rc $(comments 'len(c)')"
is 'requests of an update' 'GET /repos/o/r/issues/7/comments?per_page=100&page=1
PATCH /repos/o/r/issues/comments/9000000000' "$(cat "$api/requests")"
is 'quotes, backslashes, tabs, UTF-8' "$(cat "$dir/body.md")" \
    "$(comments 'c[0]["body"].split("\n", 3)[3]')"
like 'it reports the failure' '*Failed*' "$(comments 'c[0]["body"]')"
post INPUT_MODEL=other
is 'another model has another comment' 2 "$(comments 'len(c)')"
post INPUT_COMMENT=linux
like 'so has a name' '3 <!-- waza-action linux -->*' "$(comments 'len(c)') $(comments 'c[2]["body"]')"
ran INPUT_EXECUTOR='$(id)'
post
like 'a run with a wrong input does not leave the old verdict' '*The action could not start*' "$(comments 'c[0]["body"]')"
ran INPUT_SUITE=nowhere
post
like 'nor does an error' '*waza could not run*' "$(comments 'c[0]["body"]')"

# nothing has changed: no new comment, but an old one is updated
suite good 'yes a'
if git init -q . 2>/dev/null && git add . && git -c user.name=a -c user.email=a@example.com commit -q -m first; then
	ran INPUT_CHANGED=HEAD
	post
	like 'nothing has changed: an update' '*No task has changed*' "$(comments 'c[0]["body"]')"
	post INPUT_COMMENT=new
	is 'nothing has changed: no new comment' '0 3' "$rc $(comments 'len(c)')"
else
	skip 'no git'
fi
ran

# the comment of a stranger who copied the marker; more than a page of comments
comments 'open(sys.argv[1], "w").write(json.dumps([dict(c[0], id=100 + i, user={"id": 5, "type": "User"},
    author_association="CONTRIBUTOR") for i in range(100)] + [dict(c[0], id=5, body="text\n" + c[0]["body"])] + c))' >/dev/null
post
is 'another page' 'GET /repos/o/r/issues/7/comments?per_page=100&page=1
GET /repos/o/r/issues/7/comments?per_page=100&page=2
PATCH /repos/o/r/issues/comments/9000000000' "$(cat "$api/requests")"
comments 'open(sys.argv[1], "w").write(json.dumps([dict(c[101], id=77, user={"id": 5, "type": "User"},
    author_association="OWNER")]))' >/dev/null
post
is 'a comment of a member counts' 'PATCH /repos/o/r/issues/comments/77' "$(tail -n 1 "$api/requests")"

# an agent that prepared an attack on the step
for name in awk cat cksum curl dirname mktemp tr; do
	printf '#!/bin/sh\necho "$0" >>"%s"\nenv >>"%s"\ncat >>"%s"\n' "$tmp/stolen" "$tmp/stolen" "$tmp/stolen" >"$tmp/bin/$name"
	chmod +x "$tmp/bin/$name"
done
printf 'dump-header = "%s"\n' "$tmp/stolen" >"$tmp/home/.curlrc"
post
is 'an attack: the comment is updated' 'PATCH /repos/o/r/issues/comments/77' "$(tail -n 1 "$api/requests")"
ok 'an attack: no program of the agent runs, and .curlrc is not read' test ! -e "$tmp/stolen"
for name in awk cat cksum curl dirname mktemp tr; do
	rm "$tmp/bin/$name"
done
rm "$tmp/home/.curlrc"
is 'action.yml: the step with the token names its shell by its path' 2 \
    "$(sed -n '/name: Comment on/,$p' "$top/action.yml" | grep -c '^ *\(shell: \|run: exec \)/bin/sh ')"

# comments of strangers with many backslashes and quotes
cp "$api/comments.json" "$tmp/saved.json"
comments 'open(sys.argv[1], "w").write(json.dumps([dict(c[0], id=6 + i, body=b) for i, b in enumerate(
    ["\\" * 50000 + "\"", "\"" * 60000, "\\\"" * 30000, "x" * 60000])] + c))' >/dev/null
before=$(date +%s)
post
is 'many backslashes' 'PATCH /repos/o/r/issues/comments/77' "$(tail -n 1 "$api/requests")"
ok 'many backslashes: in time' test $(($(date +%s) - before)) -lt 20
cp "$tmp/saved.json" "$api/comments.json"

# waza could not be installed
post WAZA_DIRECTORY=
is 'not installed: an update' '0 PATCH /repos/o/r/issues/comments/77' "$rc $(tail -n 1 "$api/requests")"
like 'not installed: it does not leave the old verdict' '*waza could not be installed*' "$(comments 'c[0]["body"]')"
post WAZA_DIRECTORY= INPUT_COMMENT=new
is 'not installed: no new comment' '0 1' "$rc $(comments 'len(c)')"

# a long report
{
	cat "$dir/body.md"
	awk 'BEGIN { for (i = 0; i < 20000; i++) print "line", i, "é" }'
} >"$dir/long" && mv "$dir/long" "$dir/body.md"
post
ok 'a long report is cut' [ "$(comments 'len(c[0]["body"])')" -lt 65536 ]
like 'and the cut is mentioned' '*The rest is in the results of the job.
' "$(comments 'c[0]["body"]')
"

# without a comment: a notice, and the verdict stays
none() {
	name=$1 want=$2
	shift 2
	post "$@"
	like "$name" "0 $want" "$rc $out"
	is "$name: nothing is printed but that" '' "$err"
}
ran
none 'a fork without a token' '::notice title=waza::no comment on the pull request: there is no token*' COMMENT_TOKEN=
is 'a fork without a token: no request' '' "$(cat "$api/requests")"
none 'a token that cannot write' '::notice title=waza::*the API answered 403 (Resource not accessible by integration): *permissions: pull-requests: write*' \
    COMMENT_TOKEN=readonly
none 'an error of the API' '::notice title=waza::*the API answered 500 (Server \\"Error\\" *%250A)' COMMENT_TOKEN=broken
none 'another repository' '::notice title=waza::*the API answered 404 (Not Found)*' GITHUB_REPOSITORY=o/other
none 'no server' '::notice title=waza::*curl: *' GITHUB_API_URL=http://127.0.0.1:1
none 'a token with a line break' '::notice title=waza::*the token has characters that no token has' "COMMENT_TOKEN=a
url = file:///etc/passwd"
none 'a repository with a query' '::notice title=waza::*GITHUB_REPOSITORY is not OWNER/NAME' 'GITHUB_REPOSITORY=o/r?x'
echo '{"number": "7/../8"}' >"$tmp/event2.json"
none 'a number that is none' '::notice title=waza::*the event has no number of a pull request' GITHUB_EVENT_PATH="$tmp/event2.json"
none 'a push' '' GITHUB_EVENT_NAME=push
none 'comment: false' '' INPUT_COMMENT=false
none 'a shard' '' INPUT_SHARDS=1/2
is 'no request for these' '' "$(cat "$api/requests")"
done_testing

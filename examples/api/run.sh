#!/bin/sh
# run.sh [WAZA]: use the HTTP API from a shell: start a server and a run, follow
# its events, read its results.  Needs curl.
set -eu
waza=${1:-waza}
url=http://localhost/api/v1
tmp=$(mktemp -d)
"$waza" serve --quiet --socket "$tmp/socket" --results-dir "$tmp" &
server=$!
trap 'kill $server; wait $server; rm -rf "$tmp"' EXIT

api() {
	curl -s --unix-socket "$tmp/socket" "$@"
}

until api "$url/health" >"$tmp/health"
do sleep 1
done
id=$(api -H 'Content-Type: application/json' \
    -d '{"path": "examples/hello", "trials": 1}' "$url/runs" |
    sed 's/.*"runId":"\([^"]*\)".*/\1/')
api "$url/runs/$id/stream" | sed -n 's/^event: //p'
api "$url/runs/$id" | sed 's/.*"status":"\([a-z]*\)","ok":\([a-z]*\).*/\1, ok: \2/'
api "$url/runs?suite=hello" | sed 's/.*"total":\([0-9]*\),"skippedFiles".*/runs: \1/'
api "$url/runs/nobody" || exit 1

#!/bin/sh
# run.sh [WAZA]: start a run that waits for evaluation clients, and a worker.
set -eu
waza=${1:-waza}
here=${0%/*}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
: >"$tmp/log"

"$waza" run "$here" --http 127.0.0.1:0 --reporter tap 2>"$tmp/log" &
until url=$(sed -n 's/.*evaluation clients on //p' "$tmp/log") && [ -n "$url" ]
do
	kill -0 $! || { cat "$tmp/log" >&2; exit 2; }
	sleep 1
done
"$waza" worker "$url" --once --quiet --concurrency 2 \
    --tool "count_words=sh $here/count_words.sh" \
    --tool 'greet=echo "hello to $WAZA_URL"' \
    --tool 'shout=echo HELLO' || exit 2
wait $!

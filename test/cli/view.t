# waza view: any results file as one HTML page; --open starts a browser. What the
# page shows is tested in test/page.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
needs rpcpipe

# tasks N: a suite of N tasks
tasks() {
	printf 'name: many\nskill: s\nconfig: {executor: mock, workers: 4}\ntasks:\n'
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++)
		printf "  - {id: t%d, prompt: p, expected: {output_contains: [p]}}\n", i }'
}
tasks 1 >one.yaml
run "$WAZA" run -q one.yaml -o one.json
is 'a run' 0 "$rc"

run "$WAZA" view one.json
is 'view: status' 0 "$rc"
is 'view: prints the name of the file' one.html "$out"
is 'view: no message' '' "$err"
ok 'view: one document' grep -q '^<!doctype html>' one.html
ok 'view: the results are inside' grep -q 'class="results" data-name="one.json">{' one.html
ok 'view: the policy allows nothing but its own script and style' grep -q \
    "default-src 'none'; script-src 'sha256-[^;]*; style-src 'sha256-[^;]*; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'" one.html
is 'view: nothing is loaded from elsewhere' '' "$(grep -o '<[^>]* \(src\|href\)="[^#"][^"]*"' one.html)"
run "$WAZA" view one.json -o other.html
is 'view -o: the name' other.html "$out"
ok 'view -o: the same document' cmp -s one.html other.html
run "$WAZA" view one.json -o -
ok 'view -o -: standard output' cmp -s one.html "$tmp/out"
run "$WAZA" view "$top/test/page/original.json" -o original.html
is 'view: a file of the original' 0 "$rc"
ok 'view: its results' grep -q 'code-explainer-eval' original.html

# the size grows with the results
for n in 100 1000
do
	tasks $n >many.yaml
	run "$WAZA" run -q many.yaml -o many.json
	run "$WAZA" view many.json -o "many-$n.html"
	is "view: $n tasks" 0 "$rc"
done
size() { wc -c <"$1"; }
page=$(($(size one.html) - $(size one.json)))
small=$(($(size many-100.html) - page)) large=$(($(size many-1000.html) - page))
ok 'view: the size is linear' test $large -gt $((small * 8)) -a $large -lt $((small * 12))

# a browser, which is not waited for
mkdir bin
for name in xdg-open open
do
	printf '#!/bin/sh\nprintf "%%s\\n" "$*" >"%s/opened.new"\nmv "%s/opened.new" "%s/opened"\n' \
	    "$PWD" "$PWD" "$PWD" >bin/$name
	chmod +x bin/$name
done
run env PATH="$PWD/bin:$PATH" "$WAZA" view one.json --open
is 'view --open: status' 0 "$rc"
is 'view --open: the name' one.html "$out"
ok 'view --open: starts a browser' wait_until 30 test -e opened
is 'view --open: with the file' one.html "$(cat opened)"
mkdir none
run env PATH="$PWD/none" "$WAZA" view one.json --open
is 'view --open without a browser: status' 2 "$rc"
like 'view --open without a browser: message' 'waza: cannot open a browser (*); open one.html yourself' "$err"
run "$WAZA" view one.json -o - --open
is 'view --open of standard output: status' 2 "$rc"
is 'view --open of standard output: message' \
    'waza: --open needs a file, not standard output: name one with -o FILE.html' "$err"
is 'view --open of standard output: writes nothing' '' "$out"

# files that are not results
echo '{"tasks": 1}' >bad.json
run "$WAZA" view bad.json
is 'view: not results: status' 2 "$rc"
like 'view: not results: message' '*bad.json*' "$err"
ok 'view: not results: no file' test ! -e bad.html
run "$WAZA" view missing.json
is 'view: no such file: status' 2 "$rc"
like 'view: no such file: message' '*missing.json: *' "$err"
run "$WAZA" view one.json -o one.json/x.html
is 'view: cannot be written: status' 2 "$rc"
like 'view: cannot be written: message' '*one.json*' "$err"
run "$WAZA" view
is 'view without an argument: status' 2 "$rc"
like 'view without an argument: message' '*no results in .waza/results*' "$err"
done_testing

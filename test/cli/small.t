# A program that was built with SMALL=1: what it has works, what it lacks it says.
. "${0%/*}/../tool/lib.sh"
run "$WAZA" serve --help
case $err in
*SMALL=1*) ;;
*) skip_all 'this program is not a small one' ;;
esac
without() { echo "$1: this waza was built without it (make SMALL=1); build it with \"make\""; }

# what is left out
run "$WAZA" serve --http 127.0.0.1:0
is 'serve: status' 2 "$rc"
is 'serve: says why' "waza: $(without serve)" "$err"
run "$WAZA" help
is 'help: lists no command that is left out' '' "$(printf '%s\n' "$out" |
    grep -E '^  (call|check|connect|coverage|lsp|models|new|serve|session|tokens|view|worker) ')"
for o in '--http 127.0.0.1:0' '--on local' '--otlp file' '--remote' '--send http://127.0.0.1:1' --suggest --watch
do
	# shellcheck disable=SC2086 # an option and its value
	run "$WAZA" run $o "$top/examples/hello"
	is "run $o: status" 2 "$rc"
	is "run $o: says why" "waza: $(without "${o%% *}")" "$err"
done
run "$WAZA" run --reporter html:x.html "$top/examples/hello"
is 'an HTML report: status' 2 "$rc"
is 'an HTML report: says why' "waza: $(without 'reporter html')" "$err"
run "$WAZA" validate "$top/examples/remote"
is 'executor remote: status' 2 "$rc"
like 'executor remote: says why' "*$(without 'executor "remote"')*" "$out"
run "$WAZA"
ok 'no command: names none that is left out' [ -z "$(grep -E 'waza (init|new)' "$tmp/err")" ]

# what it has
cp -R "$top/examples/demo" "$tmp/shop" && chmod -R u+w "$tmp/shop" && cd "$tmp" || exit 1
run "$WAZA" validate shop
is 'validate' 0 "$rc"
run "$WAZA" run -q --baseline --reporter junit:a.xml -o first.json shop
is 'run: a task fails' 1 "$rc"
ok 'run: the report' grep -q '<testsuite ' a.xml
echo '- dog: welcome' >>shop/shop-policy/SKILL.md
for k in 1 2
do "$WAZA" run -q --shard "$k/2" -o "part-$k.json" shop >/dev/null
done
run "$WAZA" merge -o second.json part-1.json part-2.json
is 'merge of two shards' 0 "$rc"
run "$WAZA" compare first.json second.json
is 'compare' 0 "$rc"
run "$WAZA" gate --baseline first.json --current second.json
is 'gate' 0 "$rc"
run "$WAZA" grade -q --results second.json shop
is 'grade' 0 "$rc"
run sh -c 'printf "%s\n" "$1" | "$0" jsonrpc' "$WAZA" \
    '{"jsonrpc":"2.0","id":1,"method":"eval.validate","params":{"path":"shop/eval.yaml"}}'
like 'JSON-RPC on stdio' '{"jsonrpc":"2.0","id":1,"result":*' "$out"
done_testing

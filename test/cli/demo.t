# `make demo`: short, with the verdicts that it is about, and a report to open;
# also from a tree that cannot be written.
. "${0%/*}/../tool/lib.sh"
mkdir -p "$tmp/tree" "$tmp/tmp" && cp -R "$top/examples" "$tmp/tree/" && cp "$WAZA" "$tmp/tree/waza"
TMPDIR=$tmp/tmp
export TMPDIR
cd "$tmp/tree" || exit 1
run sh examples/demo.sh ./waza
is 'status' 0 "$rc"
is 'nothing on stderr' '' "$err"
ok 'at most 100 lines' [ "$(printf '%s\n' "$out" | wc -l)" -le 100 ]
like 'the skill helps, and not by chance' \
    '*effect of the skill: better*7 of 8 tasks*unlikely to be chance*' "$out"
like 'the failure has its place and the answer' '*pets*shop/questions.csv:9*missing "welcome"*I am not sure*' "$out"
like 'the small change can be chance' '*waza compare*Cannot tell*1 of 8 tasks*' "$out"
report=$(printf '%s\n' "$out" | sed -n 's,.*file://,,p')
is 'the report' "$tmp/tree/build/demo/report.html" "$report"
ok 'the report is there' grep -q '<title>' "$report"
like 'the address of the page' '*serve --results-dir*http://127.0.0.1:3000*' "$out"
is 'the examples are unchanged' '' "$(diff -r "$top/examples" examples)"
run sh examples/demo.sh ./waza
is 'again: status' 0 "$rc"
rm -rf build
chmod -R a-w .
if mkdir build 2>/dev/null
then skip 'root can write everywhere'
else
	run sh examples/demo.sh ./waza
	is 'read-only: status' 0 "$rc"
	like 'read-only: the report' "*file://$tmp/tmp/*/report.html*" "$out"
fi
chmod -R u+w .
done_testing

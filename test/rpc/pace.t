# Output on stdio, one message at a time: clients that take each read for one
# message, as the editor's example in seeds/000 does.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
[ -z "${SHORT-}" ] || skip_all 'every write is a byte'
chunks=$DOUBLES/chunks

# ask_chunks pipe|pair TEXT REQUEST: count the answers up to TEXT, and see that
# they were read one by one.  The server waits 20 ms for a reader: on an
# overloaded machine a few reads come later.
ask_chunks() {
	# shellcheck disable=SC2046 # two words
	set -- $(printf '%s\n' "$3" | "$chunks" "$1" "$2" "$WAZA" jsonrpc --config-json '{"executor":"mock"}')
	if [ $(($1 - $2)) -le $(($1 / 30)) ]
	then echo "$1, one by one"
	else echo "$1, of which $2 were alone"
	fi
}

mkdir evals/large
{
	printf 'name: large\nskill: s\ntasks:\n'
	n=0
	while [ $((n += 1)) -le 300 ]
	do printf '  - {id: task-number-%d, name: a task with a name that is not short, prompt: x, expected: {output_contains: [x]}}\n' $n
	done
} >evals/large/eval.yaml
if [ "$(uname)" != Linux ]
then skip 'the system cannot tell what a reader has read'
else
	for kind in pipe pair
	do
		is "$kind: a run: one message in each read" '300, one by one' "$(ask_chunks $kind '"eval.complete"' \
		    '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/quick","tasks":["one","two","three","four"],"trials":36}}')"
		like "$kind: events of a run" '*, one by one' "$(ask_chunks $kind '"eval.complete"' \
		    '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/quick","events":true,"trials":20}}')"
		is "$kind: a fix" '5, one by one' "$(ask_chunks $kind '"id":1' "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"kaiak/generate_fix\",\"params\":{\"incidents\":[{\"id\":\"a\",\"rule_id\":\"r\",\"message\":\"m\"}],\"agent_config\":{\"workspace\":{\"working_dir\":\"$tmp/evals/bad\"},\"model\":{\"provider\":\"openai\",\"model_id\":\"m\"}}}}")"
		is "$kind: a reply of many kilobytes is one read" '1, one by one' \
		    "$(ask_chunks $kind '"id":1' '{"jsonrpc":"2.0","id":1,"method":"task.list","params":{"path":"evals/large"}}')"
	done
fi

# the example itself, unchanged but for the path; it has no end of its own
seed=$(ls "$CORPUS"/../seeds/000*.txt 2>/dev/null)
if ! command -v node >/dev/null || ! node --import data:text/javascript, -e 0 2>/dev/null
then skip 'no node with --import'
elif [ -z "$seed" ]
then skip "no seeds beside $CORPUS"
elif [ "$(uname)" != Linux ]
then skip 'the system cannot tell what a reader has read'
else
	mkdir bin
	ln -s "$WAZA" bin/waza
	sed -n '/^```typescript/,/^```/p' "$seed" | sed '/^```/d' >client.mjs
	like "the editor's example: its code" '*spawn(*JSON.parse(data.toString())*' "$(cat client.mjs)"
	sed 's|/path/to/eval.yaml|evals/quick/eval.yaml|' client.mjs >mine.mjs
	is 'only its path differs' 1 "$(diff client.mjs mine.mjs | grep -c '^>')"
	cat >watch.mjs <<'JS'
const parse = JSON.parse;
let n = 0, last = performance.now(), late = 0, started = false;
// waza looks 20 times, at most 1 ms apart, whether the reader has read: one that got
// no processor for some of that time proves nothing
const tick = () => {
	const now = performance.now();
	late = Math.max(late, now - last);
	last = now;
};
setInterval(() => {
	tick();
	late = started ? late : 0;	// to start node takes longer
	started = true;
}, 2);
JSON.parse = (text) => {
	let m;
	tick();
	try {
		m = parse(text);
	} catch (e) {
		console.log(late > 8 ? `a reader ${late} ms late` : String(e));
		process.exit(1);
	}
	n++;
	late = 0;
	if (m.method === 'eval.complete') {
		console.log(`${n} messages`);
		process.exit(0);
	}
	return m;
};
setTimeout(() => process.exit(3), 60000);
JS
	n=0
	while [ $((n += 1)) -le 10 ]
	do PATH="$tmp/bin:$PATH" node --import ./watch.mjs mine.mjs </dev/null 2>&1 | grep -e messages -e Error -e late
	done >said
	if grep -qv late said
	then is "the editor's example works each time" '24 messages' "$(grep -v late said | sort -u)"
	else skip 'the machine is too busy for the example of the editor'
	fi
fi
done_testing

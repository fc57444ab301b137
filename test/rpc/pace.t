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

# pipelined METHOD PARAMS N: N requests in one write, and in how many writes the
# replies leave; the last id ends it
pipelined() {
	n=0
	while [ $((n += 1)) -le "$3" ]
	do printf '{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n' $n "$1" "$2"
	done >requests
	# shellcheck disable=SC2046 # three words
	set -- "$3" $("$chunks" packets "\"id\":$3," "$WAZA" jsonrpc <requests)
	if [ $(($4 * 5)) -le "$1" ]
	then echo "$2 replies, 0.2 writes each at most"
	else echo "$2 replies, $4 writes"
	fi
}
if ! printf '{"jsonrpc":"2.0","id":1,"method":"ping"}\n' | "$chunks" packets '"id":1' "$WAZA" jsonrpc >one
then skip 'no SOCK_SEQPACKET: writes cannot be counted'
else
	is 'a single request is answered at once, in one write' '1 1 1' "$(cat one)"
	is 'pipelined pings: their replies leave together' '40 replies, 0.2 writes each at most' "$(pipelined ping '{}' 40)"
	is 'pipelined replies of more than a page' '30 replies, 0.2 writes each at most' "$(pipelined task.list '{"path":"evals/quick"}' 30)"
fi
# after that, one at a time again: each is answered without a second one
mkfifo in
"$WAZA" jsonrpc <in >replies &
piped=$!
exec 8>in
printf '%s\n%s\n' '{"jsonrpc":"2.0","id":1,"method":"ping"}' '{"jsonrpc":"2.0","id":2,"method":"ping"}' >&8
ok 'a client that pipelines' wait_until 60 lines replies 2
for n in 3 4 5
do
	printf '{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' $n >&8
	ok "and then waits: reply $n" wait_until 60 lines replies $n
done
exec 8>&-
wait $piped
is 'in this order' '1 2 3 4 5 ' "$(sed 's/.*"id":\([0-9]*\).*/\1/' replies | tr '\n' ' ')"

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

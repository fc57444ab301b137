# Other output of an interpreter does not change a verdict.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# suite: one grader, with its assertions on stdin, one a line
suite() {
	printf 'name: c\nskill: s\nconfig: {executor: mock, mock: {output: x}}\n'
	printf 'tasks: [{id: a, prompt: p}]\ngraders:\n  - type: code\n    assertions:\n'
	sed "s/.*/      - \"&\"/"
}

if command -v python3 >/dev/null
then
	i=0
	while [ $((i += 1)) -le 600 ]
	do
		echo "(lambda: output is 'a$i')() or True"
	done | suite >many.yaml
	run "$WAZA" run -q many.yaml
	is 'hundreds of warnings do not change the verdict' 0 "$rc"
	echo "(lambda: {}['é' * 400])()" | suite >long.yaml
	run "$WAZA" run -q -o long.json long.yaml
	is 'a long exception: status' 1 "$rc"
	like 'a long exception: message' '*éééééééé*' "$(cat long.json)"
	is 'a long exception is cut between characters' '' "$(grep -c '�' long.json | grep -v '^0')"
else skip 'no python3 here'
fi

mkdir fake
printf '#!/bin/sh\necho waza:true\nyes >&2\n' >fake/python3
chmod +x fake/python3
echo '(lambda: 1)()' | suite >one.yaml
run env PATH="$tmp/fake:$PATH" "$WAZA" run -q one.yaml
is 'endless output: status 1' 1 "$rc"
like 'endless output: message' '*grader_error*python3 printed more than 4 MiB*' "$out"
done_testing

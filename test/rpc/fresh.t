# eval.get answers from memory while the files of the suite are unchanged: it must
# notice each change, also of a project's file that did not exist.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"

mkdir -p real/deep/s
ln -s real/deep l
suite() {
	printf 'name: s\nskill: s\nversion: "%s"\ntasks: [{id: a, prompt: x}]\n' "$1" >real/deep/s/eval.yaml
	touch -t 202001010000 real/deep/s/eval.yaml	# a new file is not remembered
}
project() {
	printf 'defaults: {timeout: %s}\n' "$1" >.waza.yaml
	touch -t 202001010000 .waza.yaml
}
suite 1
mkfifo in
WAZA_TRUST_PROJECT=1 "$WAZA" jsonrpc <in >replies &
piped=$!
exec 8>in
asked=0
# ask NAME WANT: what eval.get replies, version and timeout, twice
ask() {
	for i in 1 2
	do
		asked=$((asked + 1))
		printf '{"jsonrpc":"2.0","id":%d,"method":"eval.get","params":{"path":"l/s"}}\n' $asked >&8
		wait_until 60 lines replies $asked
		is "$1 ($i)" "$asked $2" "$(tail -n 1 replies |
		    sed 's/.*"id":\([0-9]*\).*"version":"\([^"]*\)".*"timeout_seconds":\([0-9]*\).*/\1 \2 \3/')"
	done
}
ask 'at first' '1 300'
suite 2
ask 'another suite, of the same size and time' '2 300'
project 60
ask 'a new file of the project, beside the link' '2 60'
project 70
ask 'it has changed' '2 70'
printf 'defaults: {timeout: 80}\n' >l/s/.waza.yaml
touch -t 202001010000 l/s/.waza.yaml
ask 'a nearer one' '2 80'
rm l/s/.waza.yaml
ask 'which is removed' '2 70'
exec 8>&-
wait $piped

# within roots: a link that leads out of them later leads to another file
mkdir outside
cp -p real/deep/s/eval.yaml outside/
ln -s deep/s real/link
"$WAZA" jsonrpc --root real <in >within 2>said &
piped=$!
exec 8>in
asked=0
# get NAME WANT: a part of the reply, twice
get() {
	for i in 1 2
	do
		asked=$((asked + 1))
		printf '{"jsonrpc":"2.0","id":%d,"method":"eval.get","params":{"path":"real/link/eval.yaml"}}\n' $asked >&8
		wait_until 60 lines within $asked
		like "$1 ($i)" "$2" "$(tail -n 1 within)"
	done
}
get 'a link inside the roots' '*"version":"2"*'
ln -sfn ../outside real/link
get 'the link leads out of them' '*"code":-32025*'
ln -sfn deep/s real/link
get 'and back' '*"version":"2"*'
exec 8>&-
wait $piped
done_testing

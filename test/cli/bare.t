# In a root directory with nothing but the program, its libraries, /dev and /tmp, as
# in a container from an empty image: no shell, no /etc, no /proc.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir -p root/dev root/tmp
cp "$WAZA" root/waza
ldd "$WAZA" 2>/dev/null | sed -n 's|^[^/]*\(/[^ ]*\).*|\1|p' | while read -r lib
do mkdir -p "root${lib%/*}" && cp "$lib" "root$lib"
done
# files do as devices here
: >root/dev/null
head -c 4096 /dev/urandom >root/dev/urandom
change='chroot'
[ "$(id -u)" = 0 ] || change='unshare -r chroot'

# bare ARGUMENT...: run waza in that directory
bare() {
	# shellcheck disable=SC2086 # a command and its options
	run env -i PATH="$PATH:/usr/sbin" $change root /waza "$@"
}
bare --version
[ "$rc" = 0 ] || skip_all "this user cannot change the root directory, or this build needs more: $err"
printf '%s\n' 'name: s' 'skill: s' 'tasks: [{id: t, prompt: word}]' \
    'graders: [{type: text, config: {contains: [word]}}]' >root/eval.yaml
bare run -q --no-results eval.yaml
is 'a suite' 0 "$rc$err"
is 'no files are left' '' "$(ls root/tmp)"
printf '%s\n' 'name: s' 'skill: s' 'tasks: [{id: t, prompt: word}]' \
    'graders: [{type: program, config: {command: sh, args: [-c, "true"]}}]' >root/eval.yaml
bare run -q --no-results eval.yaml
is 'a grader whose program is missing: status' 1 "$rc"
like 'a grader whose program is missing: an error' "*cannot run 'sh': No such file*1 error*" "$out"

# the name of the loopback addresses needs no hosts file
# shellcheck disable=SC2086
env -i PATH="$PATH:/usr/sbin" $change root /waza serve --tcp localhost:0 </dev/null >served 2>log &
srv=$!
listens() {
	grep -q 'listening on 127.0.0.1:' log || ! kill -0 "$srv" 2>/dev/null
}
wait_until 60 listens
like 'a server at localhost' '*listening on 127.0.0.1:*' "$(cat log)"
kill "$srv" 2>/dev/null
wait "$srv" 2>/dev/null
done_testing

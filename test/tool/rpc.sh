# rpc.sh: sourced after lib.sh by the tests of servers: suites in $tmp, a server
# in the background, persistent clients.
needs rpcpipe
unset WAZA_CONFIG WAZA_AUTH_TOKEN WAZA_HOST WAZA_PORT WAZA_TIMEOUT
HOME=$tmp WAZA_HOME=$tmp/home LOG=$tmp/children TMPDIR=$tmp/tmp
export HOME WAZA_HOME LOG TMPDIR
mkdir "$TMPDIR"
cd "$tmp" || exit 1
cp -r "$top/test/rpc/evals" "$top/test/rpc/ruby.sh" .
srv= pid_a= pid_b= pid_c=
trap 'for p in $srv $pid_a $pid_b $pid_c; do kill -9 "$p"; done; rm -rf "$tmp"' EXIT

# an agent that writes its pid, starts a child, and never answers
mkdir evals/hang
cat >evals/hang/eval.yaml <<'YAML'
name: hang
skill: s
config: {executor: command, command: 'echo $$ >>$LOG; tail -f /dev/null & echo $! >>$LOG; wait'}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML

# lines FILE N: the file has at least N lines
lines() {
	[ "$(grep -c . "$1")" -ge "$2" ]
}

# has FILE TEXT: the file contains the text
has() {
	grep -qF -e "$2" "$1"
}

# What must hold in every test of a server: each message that a client receives is
# JSON (oracle.h), the server keeps no descriptor of a client that has left, prints
# nothing to stdout, and leaves no file in $TMPDIR.  Findings are lines of
# $tmp/oracle.  An empty $ORACLE turns off the first of these.
ORACLE=$tmp/oracle
export ORACLE
: >"$tmp/oracle"
litter= kept_open='^anon_inode:' last_check=oracle

# descriptors: what the server has open, but for $kept_open, a pattern.  An
# administrator can replace /dev/null meanwhile
descriptors() {
	# shellcheck disable=SC2012 # no odd names here
	ls -l "/proc/$srv/fd" 2>/dev/null | sed -n 's/.* -> //p' |
	    sed 's|^/dev/null (deleted)$|/dev/null|' | grep -v "$kept_open" | sort
}

# listens: the server $srv has no client yet
listens() {
	descriptors >"$tmp/opened"
}

# more_descriptors: those that were not open then
more_descriptors() {
	descriptors | comm -13 "$tmp/opened" -
}
no_more() {
	[ -z "$(more_descriptors)" ]
}

# inspect: check the server $srv before it is stopped, unless clients are connected
inspect() {
	[ -z "$pid_a$pid_b$pid_c" ] && [ -s "$tmp/opened" ] || return 0
	wait_until "${PATIENCE:-60}" no_more || more_descriptors | sed 's/^/descriptor left open: /' >>"$tmp/oracle"
}

# inspect_rest: check what a stopped server has left behind
inspect_rest() {
	rm -f "$tmp/opened"
	for f in "$TMPDIR"/*
	do case "$f $litter" in
	   "$TMPDIR/*"*|*/vgdb-*|"$f "*" $f "*) ;;
	   *) echo "file left in TMPDIR: ${f##*/}" >>"$tmp/oracle" ;;
	   esac
	done
	[ ! -s served ] || sed 's/^/noise on stdout: /' served >>"$tmp/oracle"
	[ ! -e log ] || grep -E '^==[0-9]+==|runtime error:' log >>"$tmp/oracle"
}

oracle() {
	[ -z "$srv" ] || stop
	inspect_rest
	is 'wire, descriptors, temporary files' '' "$(sort -u "$tmp/oracle" | head -n 20)"
}

# stdio OPTION...: a server on stdin and stdout
stdio() {
	"$WAZA" jsonrpc "$@" | "$RPCPIPE" copy
}

# serve OPTION...: start a server on $tmp/sock and on $port
serve() {
	: >log
	"$WAZA" jsonrpc --unix sock --tcp 127.0.0.1:0 "$@" </dev/null >served 2>log &
	srv=$!
	wait_until 120 has log 'listening on sock'
	port=$(sed -n 's/.*listening on 127.0.0.1://p' log)
	listens
}

# stop [SIGNAL]: end the server; sets $rc to its status.  stop_busy: in the middle
# of its work
stop() {
	[ "${1-}" = KILL ] || inspect
	stop_busy "$@"
}
stop_busy() {
	kill "-${1:-TERM}" "$srv"
	rc=0
	wait "$srv" || rc=$?
	srv=
	[ "${1-}" != KILL ] || litter=" $(echo "$TMPDIR"/*) "
	inspect_rest
}

# client NAME ADDRESS [OPTION...]: start a persistent client; say NAME TEXT: send
# a line; leave NAME: end its input
client() {
	name=$1 addr=$2
	shift 2
	mkfifo "$name.in"
	: >"$name.out"
	"$RPCPIPE" talk "$@" "$addr" <"$name.in" >"$name.out" 2>"$name.err" 3>&- 4>&- 5>&- &
	eval "pid_$name=$!"
	case $name in
	a) exec 3>a.in ;;
	b) exec 4>b.in ;;
	c) exec 5>c.in ;;
	esac
}

# run_id: of the run that client a has started.  The agent may be faster than the
# reply, which can come one byte at a time
run_id() {
	wait_until 120 has a.out '"status":"running"}}'
	id=$(sed -n 's/.*"id":1,"result":{"runId":"\([^"]*\)".*/\1/p' a.out)
}

say() {
	case $1 in
	a) printf '%s\n' "$2" >&3 ;;
	b) printf '%s\n' "$2" >&4 ;;
	c) printf '%s\n' "$2" >&5 ;;
	esac
}

leave() {
	case $1 in
	a) exec 3>&- ;;
	b) exec 4>&- ;;
	c) exec 5>&- ;;
	esac
	eval "wait \$pid_$1; pid_$1="
	rm -f "$1.in"
}

# die NAME: kill the client
die() {
	eval "kill -9 \$pid_$1; wait \$pid_$1; pid_$1=" 2>/dev/null
	case $1 in
	a) exec 3>&- ;;
	b) exec 4>&- ;;
	c) exec 5>&- ;;
	esac
	rm -f "$1.in"
}

# ask ADDRESS TEXT: send a request, print all answers
ask() {
	printf '%s\n' "$2" | "$RPCPIPE" talk "$1"
}

# children_gone: all agents that wrote their pid have ended
children_gone() {
	# shellcheck disable=SC2046 # a list of numbers
	pids_ended $(cat "$LOG")
}

# children_gone_now: the same, of a server that has ended or has answered
children_gone_now() {
	# shellcheck disable=SC2046
	pids_gone $(cat "$LOG")
}

# hang_on NAME: start a run that hangs, and wait until its children run
hang_on() {
	: >"$LOG"
	: >"$1.out"
	say "$1" '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/hang"}}'
	wait_until 120 lines "$LOG" 2
	run_id=$(sed -n 's/.*"id":1,"result":{"runId":"\([^"]*\)".*/\1/p' "$1.out")
}

ping='{"jsonrpc":"2.0","id":"p","method":"ping"}'
pong='{"jsonrpc":"2.0","id":"p","result":{"status":"ok"}}'

# alive NAME: the server still answers on both sockets
alive() {
	is "$1: it still answers" "$pong $pong" "$(ask sock "$ping") $(ask "$port" "$ping")"
}

# fds: the number of open descriptors of the server; empty if unknown
fds() {
	if [ -d "/proc/$srv/fd" ]
	then find "/proc/$srv/fd" -type l 2>/dev/null | grep -c .
	fi
}

# rss: its memory in KiB; empty if unknown
rss() {
	ps -o rss= -p "$srv" 2>/dev/null | tr -d ' '
}

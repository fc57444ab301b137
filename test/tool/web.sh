# lib.sh: sourced after ../lib.sh and ../rpc/lib.sh by the tests of HTTP.
: "${HTTPGET:=$DOUBLES/httpget}"
[ -x "$HTTPGET" ] || skip_all "no $HTTPGET"
export HTTPGET
v1=/api/v1

# web OPTION...: a server on $port (HTTP), in the background
web() {
	: >log
	"$WAZA" serve --http 127.0.0.1:0 "$@" </dev/null >served 2>log &
	srv=$!
	wait_until 60 has log 'listening on http://127.0.0.1:'
	port=$(sed -n 's|.*listening on http://127.0.0.1:||p' log)
}

# get OPTION... TARGET: the body
get() {
	for last
	do :
	done
	eval "set -- $(drop_last "$@")"
	"$HTTPGET" "$@" "$port" "$last"
}

# drop_last WORD...: all but the last, quoted
drop_last() {
	while [ $# -gt 1 ]
	do
		printf "'%s' " "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
		shift
	done
}

# code OPTION... TARGET: the status and the body
code() {
	get -s "$@" | tr '\n' ' ' | sed 's/ *$//'
}

# post PATH [MORE]: starts a run; leaves its id in $id
post() {
	id=$(get -d "{\"path\":\"$1\"${2-}}" "$v1/runs" | sed -n 's/.*"runId":"\([^"]*\)".*/\1/p')
}

# value KEY: its values in what is read, as they are spelt
value() {
	grep -o "\"$1\":[^,}]*" | sed 's/^[^:]*://'
}

# state ID WORD: the run's status is that
state() {
	get "$v1/runs/$1" | grep -q "\"status\":\"$2\",\"ok\""
}
over() {
	! state "$1" running && ! state "$1" pending
}

# fits NAME PATTERN GOT: as like, but only * and ? are special
fits() {
	like "$1" "$(printf '%s\n' "$2" | sed 's/[][\\]/\\&/g')" "$3"
}

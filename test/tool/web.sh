# web.sh: sourced after lib.sh and rpc.sh by the tests of HTTP.
needs httpget
HTTPGET=$DOUBLES/httpget
export HTTPGET
v1=/api/v1

# web OPTION...: start an HTTP server on $port in the background; its results directory
# is scanned
web() {
	: >log
	"$WAZA" serve --http 127.0.0.1:0 "$@" </dev/null >served 2>log &
	srv=$!
	wait_until 120 has log 'listening on http://127.0.0.1:'
	port=$(sed -n 's|.*listening on http://127.0.0.1:||p' log)
	listens
	case " $*" in
	*' --results-dir '*) wait_until 120 scanned ;;
	esac
}
scanned() {
	! get "$v1/runs" | grep -q '"scanning":true'
}

# get OPTION... TARGET: print the body
get() {
	for last
	do :
	done
	eval "set -- $(drop_last "$@")"
	"$HTTPGET" "$@" "$port" "$last"
}

# drop_last WORD...: print all but the last, quoted
drop_last() {
	while [ $# -gt 1 ]
	do
		printf "'%s' " "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
		shift
	done
}

# code OPTION... TARGET: print the status and the body
code() {
	get -s "$@" | tr '\n' ' ' | sed 's/ *$//'
}

# post PATH [MORE]: start a run; sets $id to its id
post() {
	id=$(get -d "{\"path\":\"$1\"${2-}}" "$v1/runs" | sed -n 's/.*"runId":"\([^"]*\)".*/\1/p')
}

# value KEY: print the values of the member on standard input, as spelt
value() {
	grep -o "\"$1\":[^,}]*" | sed 's/^[^:]*://'
}

# state ID WORD: the run has this status
state() {
	get "$v1/runs/$1" | grep -q "\"status\":\"$2\",\"ok\""
}
over() {
	! state "$1" running && ! state "$1" pending
}

# fits NAME PATTERN GOT: like `like`, but only * and ? are special
fits() {
	like "$1" "$(printf '%s\n' "$2" | sed 's/[][\\]/\\&/g')" "$3"
}

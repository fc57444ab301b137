# lib.sh: sourced by every *.t; POSIX sh only.  TAP helpers and a temporary
# directory $tmp.
set -u
: "${WAZA:?set WAZA to the binary under test}"
export WAZA
: "${DOUBLES:=${WAZA%/*}/test/tool}"
RPCPIPE=$DOUBLES/rpcpipe
# waits for 50 ms; test/tool/run has found out whether sleep(1) can
: "${NAP:=$RPCPIPE nap}"
export DOUBLES RPCPIPE NAP
: "${CORPUS:=../shared/corpus}"
top=$(cd "${0%/*}/../.." && pwd) || exit 1
case $CORPUS in
/*) ;;
*) CORPUS=$top/$CORPUS ;;
esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
# temporary files of its own: what others leave is not found, and nothing stays
TMPDIR=$tmp/.tmp
mkdir "$TMPDIR" || exit 1
export TMPDIR
# do not use the settings of the user who runs the tests
WAZA_HOME=$tmp/.nobody
export WAZA_HOME
# confined agents can write to the cache of npm: doubles leave notes in $tmp
npm_config_cache=$tmp
export npm_config_cache
unset WAZA_CONFIG WAZA_LISTEN WAZA_ROOTS WAZA_TRUST_PROJECT
umask 022
tap_n=0 tap_bad=0

# ok NAME COMMAND...: passes when the command does
ok() {
	tap_name=$1
	shift
	tap_n=$((tap_n + 1))
	if "$@"
	then printf 'ok %d - %s\n' "$tap_n" "$tap_name"
	else tap_bad=1
	     printf 'not ok %d - %s\n' "$tap_n" "$tap_name"
	fi
}

# is NAME WANT GOT
is() {
	tap_n=$((tap_n + 1))
	if [ "$2" = "$3" ]
	then printf 'ok %d - %s\n' "$tap_n" "$1"
	else tap_bad=1
	     printf 'not ok %d - %s\n' "$tap_n" "$1"
	     printf '%s\n' "$2" | sed 's/^/# want: /'
	     printf '%s\n' "$3" | sed 's/^/# got:  /'
	fi
}

# like NAME PATTERN GOT: a pattern of case
like() {
	# shellcheck disable=SC2254 # a pattern
	case $3 in
	$2) is "$1" "$3" "$3" ;;
	*)  is "$1" "$2" "$3" ;;
	esac
}

# run COMMAND...: sets $out, $err and $rc
run() {
	rc=0
	out='' err=''
	"$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
	[ ! -s "$tmp/out" ] || out=$(cat "$tmp/out")
	[ ! -s "$tmp/err" ] || err=$(cat "$tmp/err")
}

# values FILE KEY: all values of that key in a JSON file, sorted
values() {
	"$WAZA" parse "$1" | grep -o "\"$2\":\(\"[^\"]*\"\|[^,}]*\)" | sed 's/^[^:]*://' | sort -u | tr '\n' ' '
}

# wait_until SECONDS COMMAND...: repeat the command until it succeeds, every 50 ms
wait_until() {
	n=$(($1 * 20))
	shift
	until "$@" 2>/dev/null
	do
		n=$((n - 1))
		[ "$n" -gt 0 ] || return 1
		$NAP
	done
}

# pids_ended PID...: whether none of these processes is left
pids_ended() {
	for p
	do ! kill -0 "$p" 2>/dev/null || return 1
	done
}

# pids_gone PID...: the same, after waza has ended them.  Without /proc it cannot find the
# children of its children: they are killed with their group, and init takes them
pids_gone() {
	if [ -e /proc/self ]
	then pids_ended "$@"
	else wait_until 120 pids_ended "$@"
	fi
}

# needs PROGRAM...: skip the test unless these programs of test/tool are built
needs() {
	for tool
	do [ -x "$DOUBLES/$tool" ] || skip_all "no $tool (make check builds it)"
	done
}

skip() {
	tap_n=$((tap_n + 1))
	printf 'ok %d - # SKIP %s\n' "$tap_n" "$1"
}

skip_all() {
	skip "$1"
	done_testing
}

# done_testing: a library that is sourced after this one can add its own last
# check as $last_check
last_check=
done_testing() {
	$last_check
	echo "1..$tap_n"
	exit "$tap_bad"
}

#!/bin/sh
# install.sh: install the released waza for this machine as PREFIX/bin/waza.
#
#   PREFIX        where to install; default ~/.local
#   WAZA_RELEASE  the release: a directory, or an https:// address of one;
#                 default: the release that this script is part of
#
# The program is installed only if its SHA-256 sum is the one in the release's
# SHA256SUMS and it runs here.  To try it, the script creates PREFIX/bin and copies the
# program to a temporary file there, which is removed on failure.  An installed waza is
# replaced in one step or not at all.
set -eu
umask 022

version=0.1.0
# filled in by `make release WAZA_HOME_URL=...`; else the release is the directory of
# this script
home=@WAZA_HOME_URL@
tmp='' new=''
help='install curl, or download the release and set WAZA_RELEASE to its directory'

fail() {
	printf 'install.sh: %s\n' "$1" >&2
	exit 1
}

clean() {
	[ -z "$new" ] || rm -f "$new"
	[ -z "$tmp" ] || rm -rf "$tmp"
}

# The machines of a release are named as `uname -m` names them.
machine() {
	[ "$(uname -s)" = Linux ] ||
	    fail "no binary for $(uname -s); build waza from its source: make install"
	case $(uname -m) in
	x86_64|amd64)  echo x86_64 ;;
	i[3-6]86)      echo i686 ;;
	aarch64|arm64) echo aarch64 ;;
	armv7*|armv8l) echo armv7 ;;
	*)             uname -m ;;
	esac
}

# beside: print the directory of this script if it contains a release
beside() {
	case $0 in
	*/install.sh) dir=${0%/*} ;;
	install.sh)   dir=. ;;
	*)            return 1 ;;
	esac
	[ -f "$dir/SHA256SUMS" ] && printf '%s\n' "$dir"
}

# release: print the directory or the address of the release
release() {
	if [ -n "${WAZA_RELEASE-}" ]
	then printf '%s\n' "$WAZA_RELEASE"
	else case $home in
	     https://*) printf '%s\n' "$home/releases/download/v$version" ;;
	     *) beside ||
		fail 'set WAZA_RELEASE to a directory with a release, or to its https:// address' ;;
	     esac
	fi
}

# get NAME: copy a file of the release to $tmp.  The sums come from the same server, so
# the connection must prove which server it is: without TLS, or with a client that does
# not verify certificates (BusyBox's wget), somebody else could replace both.  curl
# refuses redirects to http://; GNU wget cannot, and relies on the server not to send any.
get() {
	case $from in
	https://*|http://127.0.0.1[:/]*|http://localhost[:/]*)
		if command -v curl >/dev/null
		then curl -fsSL --proto-redir =https --retry 2 -o "$tmp/$1" "$from/$1"
		elif ! command -v wget >/dev/null
		then fail "neither curl nor GNU wget is installed; $help"
		else case $(wget --version 2>&1) in
		     'GNU Wget'*) wget -q -O "$tmp/$1" "$from/$1" ;;
		     *) fail "this wget is not GNU wget, and may not verify certificates; $help" ;;
		     esac
		fi || fail "cannot download $from/$1" ;;
	*://*)
		fail "$from is not an https:// address" ;;
	*)
		[ -f "$from/$1" ] || fail "$from/$1 is missing"
		cp "$from/$1" "$tmp/$1" || fail "cannot read $from/$1" ;;
	esac
}

# sum FILE: print its SHA-256
sum() {
	if command -v sha256sum >/dev/null
	then sha256sum <"$1"
	elif command -v shasum >/dev/null
	then shasum -a 256 <"$1"
	elif command -v openssl >/dev/null
	then openssl dgst -sha256 -r <"$1"
	else fail 'no program computes SHA-256: install sha256sum, shasum or openssl'
	fi | cut -d ' ' -f 1
}

# listed MACHINE: print the lines "SUM NAME" for this machine from SHA256SUMS
listed() {
	awk -v end="-linux-$1" '
	    index($2, "waza-") == 1 && index($2, "/") == 0 &&
	    substr($2, length($2) - length(end) + 1) == end { print $1, $2 }' "$tmp/SHA256SUMS"
}

# fetch: download the program for this machine to $tmp/$file and check its sum
fetch() {
	machine=$(machine)
	get SHA256SUMS
	line=$(listed "$machine")
	case $line in
	'') fail "the release has no binary for $machine; build waza from its source: make install" ;;
	*' '*' '*) fail "SHA256SUMS has several binaries for $machine" ;;
	esac
	want=${line% *} file=${line#* }
	get "$file"
	got=$(sum "$tmp/$file")
	[ "$got" = "$want" ] ||
	    fail "the sum of $file is ${got:-unknown}, not $want: nothing was installed"
}

# place: copy $tmp/$file beside its place, try it, and rename it
place() {
	bin=$prefix/bin
	mkdir -p "$bin" || fail "cannot create $bin; set PREFIX to another directory"
	[ ! -d "$bin/waza" ] || fail "$bin/waza is a directory"
	new=$(mktemp "$bin/.waza.XXXXXX") ||
	    fail "cannot write to $bin; set PREFIX to another directory"
	{ cat "$tmp/$file" >"$new" && chmod 755 "$new"; } || fail "cannot write $new"
	shown=$("$new" --version) || fail "$file does not run on this machine: nothing was installed"
	mv -f "$new" "$bin/waza" || fail "cannot replace $bin/waza"
	new=
}

main() {
	[ $# -eq 0 ] || fail "unexpected argument: $1; see the comment at the top"
	prefix=${PREFIX:-${HOME:?set PREFIX or HOME}/.local}
	from=$(release)
	tmp=$(mktemp -d) || fail 'cannot create a temporary directory'
	fetch
	place
	printf '%s installed as %s\n' "$shown" "$bin/waza"
	case :$PATH: in
	*":$bin:"*) ;;
	*) printf 'Add %s to PATH to run it by its name.\n' "$bin" ;;
	esac
}

trap clean EXIT
trap 'exit 1' HUP INT TERM
# called at the end, so that a download of this script that was cut off does nothing
main "$@"

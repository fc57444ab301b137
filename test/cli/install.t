# pkg/install.sh: installs a release whose sums are right, and nothing else.
. "${0%/*}/../tool/lib.sh"
script=$top/pkg/install.sh

if command -v sha256sum >/dev/null
then sum() { sha256sum "$@"; }
elif command -v shasum >/dev/null
then sum() { shasum -a 256 "$@"; }
else skip_all 'neither sha256sum nor shasum is installed'
fi

# release DIR: a release for three machines; the program of x86_64 runs everywhere
release() {
	mkdir -p "$1"
	printf '#!/bin/sh\necho waza 7.8.9\n' >"$1/waza-7.8.9-linux-x86_64"
	printf '#!/bin/sh\necho waza 7.8.9, armv7\n' >"$1/waza-7.8.9-linux-armv7"
	printf 'not a program\n' >"$1/waza-7.8.9-linux-s390x"
	printf 'source\n' >"$1/waza-7.8.9.tar.gz"
	(cd "$1" && sum waza-* >SHA256SUMS)
}

# on MACHINE [SYSTEM]: what uname prints
on() {
	mkdir -p "$tmp/bin"
	printf '#!/bin/sh\n[ "$1" = -s ] && echo %s || echo %s\n' "${2-Linux}" "$1" >"$tmp/bin/uname"
	chmod 755 "$tmp/bin/uname"
}

# install PREFIX [RELEASE]: with the shell $shell
install() {
	# shellcheck disable=SC2086 # a command and its argument
	run env PATH="$tmp/bin:$PATH" PREFIX="$1" WAZA_RELEASE="${2-$tmp/good}" HOME="$tmp/home" $shell "$script"
}

# files DIR: everything below a directory, hidden files included
files() {
	(cd "$1" 2>/dev/null && find . ! -type d | sort)
}

release "$tmp/good"
on x86_64
shells='sh'
for s in dash bash 'busybox sh' ksh
do ! command -v "${s%% *}" >/dev/null || shells=$shells:$s
done
IFS=:
for shell in $shells
do
	unset IFS
	p="$tmp/a place, $shell"
	install "$p"
	is "$shell: installs" "0 waza 7.8.9 installed as $p/bin/waza" "$rc $(echo "$out" | head -n 1)"
	is "$shell: the program runs" 'waza 7.8.9' "$("$p/bin/waza")"
	is "$shell: and nothing else was written" ./bin/waza "$(files "$p")"
	ln "$p/bin/waza" "$p/old"
	install "$p"
	is "$shell: a second time" 0 "$rc"
	ok "$shell: replaces the file, and does not write into it" [ ! "$p/old" -ef "$p/bin/waza" ]
	rm "$p/old"
	is "$shell: without a rest" ./bin/waza "$(files "$p")"
done
shell='sh'

unset PREFIX
run env PATH="$tmp/bin:$PATH" HOME="$tmp/home" WAZA_RELEASE="$tmp/good" sh "$script"
is 'the default is ~/.local' "0 ./.local/bin/waza" "$rc $(files "$tmp/home")"
like 'a hint if PATH lacks the directory' "*Add $tmp/home/.local/bin to PATH*" "$out"
on armv7l
install "$tmp/arm"
is 'armv7l is armv7' 'waza 7.8.9, armv7' "$("$tmp/arm/bin/waza")"

# refused NAME MESSAGE: the installed program of $tmp/kept is what it was
refused() {
	is "$1: refused" 1 "$rc"
	like "$1: the reason" "*install.sh: $2" "$err"
	is "$1: the old program is kept" "$before" "$(files "$tmp/kept"; cat "$tmp/kept/bin/waza")"
	rm -rf "$tmp/bad"
	release "$tmp/bad"
}
on x86_64
install "$tmp/kept"
printf '#!/bin/sh\necho old\n' >"$tmp/kept/bin/waza"
before=$(files "$tmp/kept"; cat "$tmp/kept/bin/waza")
release "$tmp/bad"
echo '# more' >>"$tmp/bad/waza-7.8.9-linux-x86_64"
install "$tmp/kept" "$tmp/bad"
refused 'a damaged program' 'the sum of waza-7.8.9-linux-x86_64 is *, not *: nothing was installed'
: >"$tmp/bad/waza-7.8.9-linux-x86_64"
install "$tmp/kept" "$tmp/bad"
refused 'an empty program' 'the sum of *'
rm "$tmp/bad/waza-7.8.9-linux-x86_64"
install "$tmp/kept" "$tmp/bad"
refused 'a missing program' '*waza-7.8.9-linux-x86_64 is missing'
rm "$tmp/bad/SHA256SUMS"
install "$tmp/kept" "$tmp/bad"
refused 'missing sums' '*SHA256SUMS is missing'
: >"$tmp/bad/SHA256SUMS"
install "$tmp/kept" "$tmp/bad"
refused 'empty sums' 'the release has no binary for x86_64; build waza from its source: make install'
sed 's/^.*x86_64/ waza-7.8.9-linux-x86_64/' "$tmp/good/SHA256SUMS" >"$tmp/bad/SHA256SUMS"
install "$tmp/kept" "$tmp/bad"
refused 'a name without a sum' 'the release has no binary for x86_64*'
sed 's|waza-7.8.9-linux-x86_64|waza-/../../etc/x-linux-x86_64|' "$tmp/good/SHA256SUMS" >"$tmp/bad/SHA256SUMS"
install "$tmp/kept" "$tmp/bad"
refused 'a name with a path' 'the release has no binary for x86_64*'
cp "$tmp/good/waza-7.8.9-linux-x86_64" "$tmp/bad/waza-7.8.8-linux-x86_64"
(cd "$tmp/bad" && sum waza-* >SHA256SUMS)
install "$tmp/kept" "$tmp/bad"
refused 'two versions' 'SHA256SUMS has several binaries for x86_64'
install "$tmp/kept" "$tmp/nothing"
refused 'a missing release' "$tmp/nothing/SHA256SUMS is missing"
install "$tmp/kept" http://waza.invalid/release
refused 'an address without TLS' 'http://waza.invalid/release is not an https:// address'
install "$tmp/kept" ftp://waza.invalid/release
refused 'an address of another kind' '* is not an https:// address'
on mips64
install "$tmp/kept"
refused 'a machine that is not in the release' 'the release has no binary for mips64;*'
on s390x
install "$tmp/kept"
refused 'a program that does not run here' '*waza-7.8.9-linux-s390x does not run on this machine: nothing was installed'
on arm64 Darwin
install "$tmp/kept"
refused 'another system' 'no binary for Darwin;*'
on x86_64
run env PATH="$tmp/bin:$PATH" PREFIX="$tmp/kept" sh "$script"
refused 'without an address of the release' 'set WAZA_RELEASE*'
# a script without an address installs the release in its own directory
cp "$script" "$tmp/good/install.sh"
run sh -c 'cd "$1" && PATH=$2:$PATH PREFIX=$3 sh install.sh' sh "$tmp/good" "$tmp/bin" "$tmp/beside"
is 'the release beside install.sh' '0 waza 7.8.9' "$rc $("$tmp/beside/bin/waza")"
run env PATH="$tmp/bin:$PATH" PREFIX="$tmp/beside 2" sh "$tmp/good/install.sh"
is 'the release beside install.sh, from another directory' '0 waza 7.8.9' "$rc $("$tmp/beside 2/bin/waza")"
run sh -c 'cd "$1" && PATH=$2:$PATH PREFIX=$3 sh <install.sh' sh "$tmp/good" "$tmp/bin" "$tmp/kept"
refused 'a script from a pipe: the current directory is not used' 'set WAZA_RELEASE*'
rm "$tmp/good/install.sh"
run env PREFIX="$tmp/kept" WAZA_RELEASE="$tmp/good" sh "$script" --help
refused 'an argument' 'unexpected argument: --help*'
# cut off: as curl | sh would get it
head -c 3000 "$script" >"$tmp/half"
run env PREFIX="$tmp/kept" WAZA_RELEASE="$tmp/good" sh "$tmp/half"
is 'half of the script installs nothing' "$before" "$(files "$tmp/kept"; cat "$tmp/kept/bin/waza")"

mkdir -p "$tmp/dir/bin/waza"
install "$tmp/dir"
is 'a directory named waza is kept' "1 install.sh: $tmp/dir/bin/waza is a directory" "$rc $err"
: >"$tmp/file"
install "$tmp/file"
is 'PREFIX is a file' 1 "$rc"
like 'PREFIX is a file: the reason' "*install.sh: cannot create $tmp/file/bin; set PREFIX to another directory" "$err"
if [ "$(id -u)" = 0 ]
then skip 'a read-only PREFIX: root can write everywhere'
else
	mkdir -p "$tmp/sealed/bin"
	chmod 555 "$tmp/sealed/bin"
	install "$tmp/sealed"
	like 'a read-only PREFIX' "1 *cannot write to $tmp/sealed/bin; set PREFIX to another directory" "$rc $err"
	chmod 755 "$tmp/sealed/bin"
	is 'a read-only PREFIX stays empty' '' "$(files "$tmp/sealed")"
fi

# no place left: cat fails after a part of the program
cat >"$tmp/bin/cat" <<.
#!/bin/sh
head -c 5 "\$1"
echo 'cat: No space left on device' >&2
exit 1
.
chmod 755 "$tmp/bin/cat"
install "$tmp/kept"
rm "$tmp/bin/cat"
refused 'no space' '*'
# interrupted while the program is copied
cat >"$tmp/bin/cat" <<.
#!/bin/sh
head -c 5 "\$1"
kill -TERM \$PPID
.
chmod 755 "$tmp/bin/cat"
install "$tmp/kept"
rm "$tmp/bin/cat"
is 'interrupted: the old program is kept, and no part of the new one' "$before" "$(files "$tmp/kept"; cat "$tmp/kept/bin/waza")"

# Downloads: doubles of curl and wget copy from $tmp/good.  PATH has one of them, and
# the programs that the script needs.
mkdir "$tmp/few"
for c in sh cat cp mv rm mkdir mktemp chmod cut awk sha256sum shasum openssl
do ! p=$(command -v "$c") || printf '#!/bin/sh\nexec %s "$@"\n' "$p" >"$tmp/few/$c"
done
cp "$tmp/bin/uname" "$tmp/few/"
sed 's|@WAZA_HOME_URL@|https://waza.invalid/x|; s/^version=.*/version=7.8.9/' "$script" >"$tmp/filled"

# download NAME=VALUE ...: run the released script
download() {
	run env PATH="$tmp/few" "$@" "$sh" "$tmp/filled"
}
sh=$(command -v sh)
chmod 755 "$tmp"/few/*
download PREFIX="$tmp/kept"
refused 'neither curl nor wget' 'neither curl nor GNU wget is installed; install curl, or *WAZA_RELEASE*'
for tool in curl wget
do
	cat >"$tmp/few/$tool" <<.
#!/bin/sh
[ "\$1" != --version ] || { echo 'GNU Wget 1.21.3 built on linux-gnu.'; exit; }
echo "\$@" >>"$tmp/asked"
for last; do :; done
while [ "\$1" != -o ] && [ "\$1" != -O ]; do shift; done
cp "$tmp/good/\${last##*/}" "\$2"
.
	chmod 755 "$tmp/few/$tool"
	: >"$tmp/asked"
	download PREFIX="$tmp/by $tool"
	is "$tool: installs" "0 ./bin/waza" "$rc $(files "$tmp/by $tool")"
	at=https://waza.invalid/x/releases/download/v7.8.9
	is "$tool: the sums first, then the program" "$at/SHA256SUMS $at/waza-7.8.9-linux-x86_64" \
	    "$(sed 's/.* //' "$tmp/asked" | tr '\n' ' ' | sed 's/ $//')"
	mv "$tmp/good/SHA256SUMS" "$tmp/sums"
	download PREFIX="$tmp/kept" WAZA_RELEASE=https://waza.invalid/y
	mv "$tmp/sums" "$tmp/good/SHA256SUMS"
	refused "$tool: a download that fails" '*cannot download https://waza.invalid/y/SHA256SUMS'
	rm "$tmp/few/$tool"
done
# BusyBox's wget does not verify certificates
cat >"$tmp/few/wget" <<.
#!/bin/sh
case \$1 in
--version) printf 'wget: unrecognized option: version\nBusyBox v1.35.0 multi-call binary.\n' >&2; exit 1 ;;
*) echo "\$@" >>"$tmp/asked" ;;
esac
.
chmod 755 "$tmp/few/wget"
: >"$tmp/asked"
download PREFIX="$tmp/kept"
refused "BusyBox's wget" 'this wget is not GNU wget, and may not verify certificates; install curl, or *WAZA_RELEASE*'
is "BusyBox's wget: downloads nothing" '' "$(cat "$tmp/asked")"
done_testing

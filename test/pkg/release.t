# make release: the same bytes from two directories, at two times, by two users; what
# it refuses.  `make check-pkg` runs it, for the machine x86_64 or $PKG_MACHINES,
# with the options $PKG_FLAGS of the compilers.
. "${0%/*}/../tool/lib.sh"
[ -n "${PKG-}" ] || skip_all 'builds the program twice: make check-pkg'
git -C "$top" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip_all 'not a git work tree'
command -v sha256sum >/dev/null || skip_all 'sha256sum is not installed'
machines=${PKG_MACHINES-x86_64}
[ -z "${PKG_FLAGS-}" ] || { RELEASE_FLAGS=$PKG_FLAGS; export RELEASE_FLAGS; }
version=$("$WAZA" --version)
name=waza-${version#waza }
git clone -q "$top" "$tmp/one" 2>/dev/null
mkdir "$tmp/a longer name"
git clone -q "$tmp/one" "$tmp/a longer name/two" 2>/dev/null
cd "$tmp/one" || exit 1

# refused NAME MESSAGE VARIABLE...: nothing is written
refused() {
	what=$1 want=$2
	shift 2
	run make release DIR="$tmp/refused" "$@"
	ok "$what: refused" [ "$rc" -ne 0 ]
	like "$what: the reason" "*release: $want*" "$err"
	ok "$what: nothing is written" [ ! -e "$tmp/refused" ]
}
refused 'an unknown machine' 'unknown machine "vax" (machines: x86_64 *)' MACHINES=vax
refused 'a missing compiler' 'no compiler for: s390x (no-such-cc); install *ALLOW_MISSING=1' \
    MACHINES=s390x CC_s390x=no-such-cc
refused 'only missing compilers' 'no machine is left' MACHINES=s390x CC_s390x=no-such-cc ALLOW_MISSING=1
refused 'an address without TLS' 'WAZA_HOME_URL is "http://waza.invalid", not an https:// address' \
    WAZA_HOME_URL=http://waza.invalid
refused 'an address with a blank' 'WAZA_HOME_URL is *' WAZA_HOME_URL='https://waza.invalid/a b'
# cc makes code for this machine only
case $(uname -m) in
s390x) other=aarch64 ;;
*)     other=s390x ;;
esac
refused 'a compiler for another machine' "no compiler for: $other (cc);*" MACHINES=$other CC_$other=cc
touch -t 200101010000 README.md
refused 'a file that was touched is not a change' 'unknown machine "vax" *' MACHINES=vax
echo >>README.md
refused 'an uncommitted change' 'uncommitted changes*'
git checkout -q README.md
mkdir "$tmp/full" && : >"$tmp/full/file"
run make release DIR="$tmp/full"
like 'a directory with files: refused' '*release: *full is not empty*' "$err"
is 'a directory with files: unchanged' file "$(ls "$tmp/full")"

# shellcheck disable=SC2086 # a list of words
set -- $machines
umask 022
DEBFULLNAME='A & B|C' DEBEMAIL=ab@example.org
export DEBFULLNAME DEBEMAIL
run env WAZA_HOME_URL=https://waza.invalid/home CC_s390x=no-such-cc ALLOW_MISSING=1 \
    make release "MACHINES=$machines s390x" DIR="$tmp/r1"
is 'a release, the first time' 0 "$rc"
[ "$rc" = 0 ] || printf '%s\n' "$err" | sed 's/^/# /'
like 'the machine that is left out is named' '*left out*s390x (no-such-cc)*' "$err"
cd "$tmp/a longer name/two" || exit 1
umask 077
mkdir "$tmp/nobody"
run env HOME="$tmp/nobody" TZ=Asia/Tokyo LC_ALL=C USER=nobody SOURCE_DATE_EPOCH=1 \
    WAZA_HOME_URL=https://waza.invalid/home JOBS=1 CC_s390x=no-such-cc ALLOW_MISSING=1 \
    make release "MACHINES=$machines s390x" DIR="$tmp/r 2" CFLAGS=-O0
is 'a release, the second time' 0 "$rc"
umask 022
is 'the files have the same names' "$(ls "$tmp/r1")" "$(ls "$tmp/r 2")"
for f in "$tmp/r1"/*
do
	ok "the same bytes: ${f##*/}" cmp "$f" "$tmp/r 2/${f##*/}"
	is "the same mode: ${f##*/}" "$(ls -l "$f" | cut -c1-10)" "$(ls -l "$tmp/r 2/${f##*/}" | cut -c1-10)"
done

cd "$tmp/r1" || exit 1
ok 'it has the sums of all files' sha256sum --quiet -c SHA256SUMS
is 'of all files' "$(ls | grep -v SHA256SUMS)" "$(sed 's/.* //' SHA256SUMS)"
for f in APKBUILD Containerfile PKGBUILD install.sh waza.rb waza-all.c "$name.cdx.json" "$name.tar.gz"
do ok "it has $f" [ -s "$f" ]
done
is 'recipes are filled in' '' "$(grep -n '@[A-Z_0-9]*@' APKBUILD PKGBUILD waza.rb install.sh Containerfile)"
for f in APKBUILD PKGBUILD
do is "$f: the maintainer" '# Maintainer: A & B|C <ab@example.org>' "$(sed 1q "$f")"
done
s=$(sha256sum <"$name.tar.gz" | cut -d ' ' -f 1)
ok 'recipes have the sum of the tarball' grep -q "$s" PKGBUILD
ok 'and the formula' grep -q "sha256 \"$s\"" waza.rb
is 'the bill of materials is JSON, with the sums' "$(grep -c . SHA256SUMS) $s" \
    "$(grep -c . SHA256SUMS) $("$WAZA" parse "$name.cdx.json" | tr '{' '\n' | grep -A 1 "$name.tar.gz" |
	sed -n 's/.*"content":"\([0-9a-f]*\)".*/\1/p')"
ok 'the bill of materials has a serial number' grep -Eq \
    '"serialNumber": "urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}"' "$name.cdx.json"
ok 'and libgcc' grep -Eq '"name": "libgcc", "version": "[0-9.]+"' "$name.cdx.json"
for m
do
	p=$name-linux-$m
	ok "$p: in the bill of materials" grep -q "$(sed -n "s/  $p$//p" SHA256SUMS)" "$name.cdx.json"
	ok "$p: without paths of its build" [ -z "$(grep -aF "$tmp" "$p")" ]
	! command -v readelf >/dev/null || is "$p: static" 0 "$(readelf -lW "$p" | grep -c INTERP)"
done
is 'the tarball is the commit' "$(git -C "$tmp/one" ls-tree -r --name-only HEAD)" \
    "$(gzip -dc "$name.tar.gz" | tar tf - | sed -n "s|^$name/\(.*[^/]\)$|\1|p" | LC_ALL=C sort)"
run env PREFIX="$tmp/p" WAZA_RELEASE="$tmp/r1" sh install.sh
case $rc$err in
*'no binary for'*) skip "this machine is not one of: $machines" ;;
*)	is 'it can be installed' "0 $version" "$rc $("$tmp/p/bin/waza" --version)"
	cd "$top" && ok 'the installed program runs the demo' \
	    sh -c "cp -R examples '$tmp/examples' && sh '$tmp/examples/demo.sh' '$tmp/p/bin/waza' >'$tmp/demo'" ;;
esac
done_testing

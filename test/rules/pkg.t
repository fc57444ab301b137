# The recipes in pkg/: their versions are the Makefile's, their syntax is right, and
# they name files that exist.
. "${0%/*}/../tool/lib.sh"
cd "$top" || exit 1
version=$(sed -n 's/^VERSION = //p' Makefile)
ok 'the Makefile has a version' [ -n "$version" ]

# version_in FILE PATTERN: the version is the first group of a basic expression
version_in() {
	is "$1: its version" "$version" "$(sed -n "s/$2/\\1/p" "$1" | sort -u)"
}
version_in pkg/install.sh '^version=\(.*\)$'
version_in pkg/alpine/APKBUILD '^pkgver=\(.*\)$'
version_in pkg/arch/PKGBUILD '^pkgver=\(.*\)$'
version_in pkg/homebrew/waza.rb '^ *url ".*\/download\/v\([0-9.]*\)\/waza-.*$'
version_in pkg/homebrew/waza.rb '^ *url ".*\/waza-\([0-9.]*\)\.tar\.gz"$'
version_in pkg/nix/flake.nix '^ *version = "\(.*\)";$'
version_in pkg/Containerfile '^ARG VERSION=\(.*\)$'
is 'pkg/debian/changelog: its version' "$version" \
    "$(sed -n '1s/^waza (\([0-9.]*\)-[0-9]*) .*$/\1/p' pkg/debian/changelog)"

is 'no other file of pkg/ has the version' '' "$(grep -rlF "$version" pkg |
    grep -vE '/(install.sh|APKBUILD|PKGBUILD|waza.rb|flake.nix|Containerfile|debian/changelog)$')"
is 'no recipe invents a host' '' "$(grep -rnE 'https?://[a-z0-9-]+\.[a-z]' pkg | grep -v 'https://www.debian.org/doc/')"

# syntax FILE PROGRAM...: if the program is installed
syntax() {
	f=$1
	shift
	if command -v "$1" >/dev/null
	then ok "$f: syntax ($1)" "$@"
	else skip "$f: $1 is not installed"
	fi
}
syntax pkg/alpine/APKBUILD sh -n pkg/alpine/APKBUILD
syntax pkg/arch/PKGBUILD bash -n pkg/arch/PKGBUILD
for f in pkg/install.sh pkg/release pkg/deb pkg/debian/tests/installed
do syntax "$f" sh -n "$f"
done
quiet() {
	"$@" >"$tmp/quiet" 2>&1 || { sed 's/^/# /' "$tmp/quiet"; return 1; }
}
if command -v ruby >/dev/null
then ok 'pkg/homebrew/waza.rb: syntax' quiet ruby -c pkg/homebrew/waza.rb
else skip 'pkg/homebrew/waza.rb: ruby is not installed'
fi
if command -v nix-instantiate >/dev/null
then ok 'pkg/nix/flake.nix: syntax' quiet nix-instantiate --parse pkg/nix/flake.nix
else skip 'pkg/nix/flake.nix: nix-instantiate is not installed'
fi

for f in $(cat pkg/debian/docs pkg/debian/examples)
do
	# shellcheck disable=SC2086 # a pattern
	ok "pkg/debian: $f exists" quiet ls -d $f
done
ok 'pkg/debian/rules can be executed' [ -x pkg/debian/rules ]
# the machines of install.sh are those of the release
machines=$(sed -n "s/^machines='\(.*\)'$/\1/p" pkg/release)
ok 'pkg/release has machines' [ "$(echo "$machines" | wc -w)" -ge 7 ]
mkdir "$tmp/bin"
for m in x86_64:x86_64 amd64:x86_64 i586:i686 i686:i686 aarch64:aarch64 arm64:aarch64 armv7l:armv7 \
    armv8l:armv7 riscv64:riscv64 ppc64le:ppc64le s390x:s390x
do
	printf '#!/bin/sh\n[ "$1" = -s ] && echo Linux || echo %s\n' "${m%:*}" >"$tmp/bin/uname"
	chmod 755 "$tmp/bin/uname"
	: >"$tmp/SHA256SUMS"
	run env PATH="$tmp/bin:$PATH" PREFIX="$tmp/p" WAZA_RELEASE="$tmp" sh pkg/install.sh
	like "install.sh on ${m%:*}" "*no binary for ${m#*:};*" "$err"
	case " $machines " in
	*" ${m#*:} "*) ;;
	*) is "a release has ${m#*:}" "$machines" "${m#*:}" ;;
	esac
done
done_testing

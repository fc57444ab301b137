# The recipes of pkg/, filled in as a release fills them in, build packages: Debian's
# with its tools, the others as their tools would call them.  Run by `make check-pkg`.
. "${0%/*}/../tool/lib.sh"
[ -n "${PKG-}" ] || skip_all 'builds packages: make check-pkg'
git -C "$top" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip_all 'not a git work tree'
version=$("$WAZA" --version)
version=${version#waza }
name=waza-$version
cd "$tmp" || exit 1
# logged COMMAND...: print its output only if it fails
logged() {
	"$@" >"$tmp/log" 2>&1 || { tail -n 30 "$tmp/log" | sed 's/^/# /'; return 1; }
}
git -C "$top" archive --prefix="$name/" HEAD | tar xf -
for f in alpine/APKBUILD arch/PKGBUILD homebrew/waza.rb
do
	sed 's|@WAZA_HOME_URL@|https://waza.invalid|g; s|@SHA256@|'"$(printf %064d 0)"'|g; s|@SHA512@|0|g' \
	    "$name/pkg/$f" >"${f##*/}"
done

# The recipes share one build: each gets a copy, in which make finds all objects.
ok 'the source builds' logged make -C "$name" -j2 CFLAGS=-O0 HARDEN=

# package_has DIR NAME: the program, a page and the licence
package_has() {
	is "$2: the program" "waza $version" "$("$1/usr/bin/waza" --version)"
	ok "$2: manual pages" [ -n "$(ls "$1"/usr/share/man/man1/waza-run.1*)" ]
	is "$2: nothing elsewhere" 'usr usr/bin usr/share' "$(cd "$1" && find . -mindepth 1 -maxdepth 2 |
	    sed 's|^\./||' | LC_ALL=C sort | paste -s -d ' ' -)"
}

# recipe SHELL FILE DIR: call build() and package() in $srcdir, as abuild and makepkg do
recipe() {
	mkdir "$3" "$3/src" "$3/pkg"
	cp -Rp "$name" "$3/src/"
	# shellcheck disable=SC2016 # expanded by the other shell
	logged env CFLAGS=-O0 CPPFLAGS= LDFLAGS= srcdir="$tmp/$3/src" pkgdir="$tmp/$3/pkg" $1 -euc '
	    cd "$srcdir"
	    . "$0"
	    cd "${builddir:-$srcdir}" && build
	    cd "${builddir:-$srcdir}" && package' "$tmp/$2"
}
shell='sh'
! command -v busybox >/dev/null || shell='busybox sh'
ok "APKBUILD: builds ($shell)" recipe "$shell" APKBUILD alpine
package_has alpine/pkg APKBUILD
# the pattern of abuild, which refuses other maintainers
like 'APKBUILD: the maintainer has an address' '*[A-Za-z0-9]*\ \<*@*.*\>' "$(sed -n 's/^# Maintainer: //p' APKBUILD)"
ok 'APKBUILD: the licence' [ -s alpine/pkg/usr/share/licenses/waza/LICENSE ]
if command -v bash >/dev/null
then
	ok 'PKGBUILD: builds' recipe bash PKGBUILD arch
	package_has arch/pkg PKGBUILD
	ok 'PKGBUILD: the licence' [ -s arch/pkg/usr/share/licenses/waza/LICENSE ]
	is 'PKGBUILD: its source' "https://waza.invalid/releases/download/v$version/$name.tar.gz" \
	    "$(bash -c '. ./PKGBUILD; echo "${source[0]}"')"
else skip 'PKGBUILD: bash is not installed'
fi

# The tools of Arch build and install the same package.  makepkg refuses to run as
# root; with --noextract it takes the built copy.
as_other() {
	case $(id -u) in
	0) chown -R nobody makepkg && setpriv --reuid=nobody --regid=nogroup --clear-groups "$@" ;;
	*) "$@" ;;
	esac
}
if command -v makepkg >/dev/null && command -v pacman >/dev/null && command -v bsdtar >/dev/null
then
	mkdir makepkg makepkg/src installed installed/db
	chmod 755 "$tmp"
	cp PKGBUILD makepkg/
	cp -Rp "$name" makepkg/src/
	ok 'makepkg builds' logged as_other env HOME="$tmp/makepkg" CFLAGS=-O0 sh -c \
	    'cd makepkg && makepkg --noextract --nocheck --nodeps'
	ok 'pacman installs' logged fakeroot -- pacman -U --noconfirm --nodeps --nodeps --root "$tmp/installed" \
	    --dbpath "$tmp/installed/db" --cachedir "$tmp/cache" --logfile "$tmp/pacman.log" \
	    --gpgdir "$tmp/gpg" --hookdir "$tmp/hooks" makepkg/*.pkg.tar.*
	rm -rf installed/db
	package_has installed pacman
else skip 'makepkg, pacman or bsdtar is not installed'
fi

# a Formula with the words that ours uses
cat >formula.rb <<'.'
class Formula
  class << self
    attr_reader :fields
    %w[desc homepage url sha256 license].each do |f|
      define_method(f) { |value| (@fields ||= {})[f] = value }
    end
    def test(&block) = nil
  end
  Share = Struct.new(:dir) do
    def install(name) = Kernel.system("mkdir", "-p", dir) && Kernel.system("cp", "-R", name, dir)
  end
  def prefix = "#{ENV["OUT"]}/usr"
  def man = "#{prefix}/share/man"
  def pkgshare = Share.new("#{prefix}/share/waza")
  def system(*words) = Kernel.system(*words) || abort("failed: #{words}")
end
def ENV.cc = "cc"
load ARGV[0]
puts Waza.fields["url"]
Dir.chdir(ARGV[1]) { Waza.new.install }
.
if command -v ruby >/dev/null
then
	cp -Rp "$name" brew
	run env OUT="$tmp/brewed" CFLAGS=-O0 ruby formula.rb waza.rb brew
	is 'waza.rb: installs' 0 "$rc"
	is 'waza.rb: its source' "https://waza.invalid/releases/download/v$version/$name.tar.gz" "$(sed 1q out)"
	package_has brewed waza.rb
	ok 'waza.rb: the examples' [ -s brewed/usr/share/waza/examples/demo.sh ]
else skip 'waza.rb: ruby is not installed'
fi

# an own nixpkgs: mkDerivation returns its argument
cat >eval.nix <<'.'
let
  pkgs = {
    stdenv = { mkDerivation = x: x // { outPath = "/nix/store/waza"; }; cc.targetPrefix = ""; };
    lib.licenses = { isc = "ISC"; unicode-30 = "Unicode-3.0"; };
  };
  systems = [ "x86_64-linux" "i686-linux" "aarch64-linux" "armv7l-linux" "riscv64-linux"
    "powerpc64le-linux" "x86_64-darwin" "aarch64-darwin" ];
  nixpkgs.legacyPackages = builtins.listToAttrs (map (name: { inherit name; value = pkgs; }) systems);
  flake = (import (builtins.getEnv "FLAKE")).outputs { self = { }; inherit nixpkgs; };
  waza = flake.packages.x86_64-linux.default;
in "${waza.pname} ${waza.version} ${toString (builtins.length (builtins.attrNames flake.packages))} "
  + "${toString (builtins.pathExists (waza.src + "/Makefile"))} ${flake.apps.aarch64-linux.default.program}"
.
if command -v nix-instantiate >/dev/null
then
	run env HOME="$tmp" NIX_STATE_DIR="$tmp/nix" NIX_STORE_DIR=/nix/store FLAKE="$tmp/$name/pkg/nix/flake.nix" \
	    nix-instantiate --eval --readonly-mode eval.nix
	is 'flake.nix: evaluates' "\"waza $version 8 1 /nix/store/waza/bin/waza\"" "$out"
	[ "$rc" = 0 ] || printf '%s\n' "$err" | sed 's/^/# /'
else skip 'flake.nix: nix-instantiate is not installed'
fi

# Containerfile: needs only the storage below $tmp, and no network
buildah() {
	command buildah --storage-driver vfs --root "$tmp/images" --runroot "$tmp/runroot" "$@"
}
if command -v buildah >/dev/null && buildah from --name try scratch >/dev/null 2>&1
then
	mkdir context
	cp "$name/pkg/Containerfile" context/
	cp "$WAZA" "context/$name-linux-x86_64"
	# the mode of a download
	chmod 644 "context/$name-linux-x86_64"
	ok 'Containerfile: builds' logged buildah build --isolation chroot -t waza context
	buildah from --name there --pull-never localhost/waza >/dev/null 2>&1
	m=$(buildah mount there)
	ok 'Containerfile: the program' cmp "$WAZA" "$m/bin/waza"
	is 'Containerfile: nothing else' ./bin/waza "$(cd "$m" && find . ! -type d)"
	ok 'Containerfile: the program is executable' [ -x "$m/bin/waza" ]
	is 'Containerfile: any user can create temporary files' drwxrwxrwt "$(ls -ld "$m/tmp" | cut -c 1-10)"
	like 'Containerfile: runs the program' '*/bin/waza*' "$(buildah inspect --format '{{.OCIv1.Config.Entrypoint}}' there)"
	buildah umount there >/dev/null
	buildah rm -a >/dev/null 2>&1
	buildah rmi -a -f >/dev/null 2>&1
else skip 'Containerfile: buildah is not installed, or does not work here'
fi

# Debian: the whole package, without optimization and tests
if command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null
then
	git clone -q "$top" clone 2>/dev/null
	run env DEB_BUILD_OPTIONS='nocheck noopt parallel=2' DEBFULLNAME='A Person' DEBEMAIL=person@example.org \
	    make -C clone deb
	is 'make deb' 0 "$rc"
	[ "$rc" = 0 ] || printf '%s\n' "$err" | tail -n 20 | sed 's/^/# /'
	cd clone/build/deb || exit 1
	deb=$(ls waza_"$version"-*_*.deb)
	dpkg-deb -x "$deb" root
	package_has root "$deb"
	is "$deb: its maintainer" 'A Person <person@example.org>' "$(dpkg-deb -f "$deb" Maintainer)"
	is "$deb: the libraries" libc6 "$(dpkg-deb -f "$deb" Depends | sed 's/ .*//')"
	if command -v lintian >/dev/null
	then
		run lintian --allow-root --fail-on error ./*.changes
		is 'lintian finds no errors' 0 "$rc"
		[ "$rc" = 0 ] || printf '%s\n' "$out" | sed 's/^/# /'
	else skip 'lintian is not installed'
	fi
else skip 'make deb: dpkg-dev or debhelper is not installed'
fi
done_testing

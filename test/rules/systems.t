# base/os*.c compiles as on other systems: each variant is selected by the macros of
# its system, and exports the same functions as that of this one.  The headers of
# FreeBSD and macOS that are missing here are replaced by declarations of what we
# use.  A system of which nothing is known gets POSIX with X/Open only.
. "${0%/*}/../tool/lib.sh"
cd "$top" || exit 1
cc=${CC:-cc}
# as the Makefile does, but the same on all compilers
flags='-std=c99 -I. -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror'
printf 'int main(void) { return 0; }\n' >"$tmp/one.c"
# shellcheck disable=SC2086 # a command and its flags
$cc $flags -include stddef.h -c -o "$tmp/one.o" "$tmp/one.c" 2>"$tmp/err" ||
    skip_all "$cc does not accept $flags"
command -v nm >/dev/null || skip_all 'nm is not installed'

# The headers of this system come first, with its own macros, as BSDs declare them
# to a program that asks for more than POSIX; then this is another system.
cat >"$tmp/all.h" <<'EOF'
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include <sys/types.h>
#include <sys/ioctl.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#undef _DEFAULT_SOURCE
#undef _XOPEN_SOURCE
#undef __GLIBC__
EOF

mkdir -p "$tmp/freebsd/sys" "$tmp/freebsd/net" "$tmp/freebsd/netinet" "$tmp/apple"
: >"$tmp/freebsd/sys/queue.h"
: >"$tmp/freebsd/sys/socketvar.h"
: >"$tmp/freebsd/net/route.h"
cat >"$tmp/freebsd/sys/sysctl.h" <<'EOF'
#define LIST_REMOVE(elm, field) ((void)(elm))
int sysctlbyname(const char *, void *, size_t *, const void *, size_t);
EOF
cat >"$tmp/freebsd/netinet/in_pcb.h" <<'EOF'
#define INP_IPV4 1
#define inc_fport inc_ie.ie_fport
#define inc_lport inc_ie.ie_lport
#define inc_faddr inc_ie.ie_dependfaddr.id46_addr.ia46_addr4
#define inc_laddr inc_ie.ie_dependladdr.id46_addr.ia46_addr4
#define inc6_faddr inc_ie.ie_dependfaddr.id6_addr
#define inc6_laddr inc_ie.ie_dependladdr.id6_addr
union in_dependaddr {
	struct { uint32_t pad[3]; struct in_addr ia46_addr4; } id46_addr;
	struct in6_addr id6_addr;
};
struct in_conninfo {
	struct {
		uint16_t ie_fport, ie_lport;
		union in_dependaddr ie_dependfaddr, ie_dependladdr;
	} inc_ie;
};
struct xsocket { uint64_t xso_so; uid_t so_uid; };
struct xinpgen { uint64_t xig_len; };
struct xinpcb {
	struct xsocket xi_socket;
	struct in_conninfo inp_inc;
	uint8_t inp_vflag;
};
EOF
cat >"$tmp/freebsd/netinet/tcp_var.h" <<'EOF'
struct xtcpcb { uint64_t xt_len; struct xinpcb xt_inp; };
EOF
cat >"$tmp/apple/libproc.h" <<'EOF'
#define PROC_UID_ONLY 4
#define PROC_PIDLISTFDS 1
#define PROC_PIDFDSOCKETINFO 3
#define PROX_FDTYPE_SOCKET 2
#define SOCKINFO_TCP 2
#define INI_IPV4 1
union in_any {
	struct { uint32_t pad[3]; struct in_addr i46a_addr4; } ina_46;
	struct in6_addr ina_6;
};
struct in_sockinfo {
	int insi_fport, insi_lport;
	uint8_t insi_vflag;
	union in_any insi_faddr, insi_laddr;
};
struct socket_info {
	int soi_kind;
	union { struct { struct in_sockinfo tcpsi_ini; } pri_tcp; } soi_proto;
};
struct proc_fdinfo { int32_t proc_fd; uint32_t proc_fdtype; };
struct socket_fdinfo { struct socket_info psi; };
int proc_listpids(uint32_t, uint32_t, void *, int);
int proc_pidinfo(int, int, uint64_t, void *, int);
int proc_pidfdinfo(int, int, int, void *, int);
EOF

systems='__linux__ __FreeBSD__ __DragonFly__ __NetBSD__ __OpenBSD__ __APPLE__'

# system NAME MACRO: the options that make this the system NAME
system() {
	cp "$tmp/all.h" "$tmp/$1.h"
	# shellcheck disable=SC2086
	printf '#undef %s\n' $systems >>"$tmp/$1.h"
	echo "#define $2" >>"$tmp/$1.h"
	echo "-include $tmp/$1.h -I$tmp/$1"
}

# exports NAME: the functions of base/os*.c, compiled with $options
exports() {
	mkdir -p "$tmp/$1.o"
	for f in base/os*.c
	do
		o=${f##*/} o=$tmp/$1.o/${o%.c}.o
		# shellcheck disable=SC2086
		$cc $flags $options -c -o "$o" "$f" >&2 || return 1
		nm -P "$o" | sed -n 's/^_\{0,1\}\(os_[a-z_0-9]*\) T.*/\1/p'
	done | sort
}

options=-D_POSIX_C_SOURCE=200809L
here=$(exports here)
ok 'this system' [ "$(echo "$here" | grep -c '^os_')" -ge 60 ]
for s in none: freebsd:'__FreeBSD__ 14' dragonfly:'__DragonFly__ 6' \
    netbsd:'__NetBSD__ 1' openbsd:'__OpenBSD__ 1' apple:'__APPLE__ 1'
do
	name=${s%%:*}
	case $name in
	none) # shellcheck disable=SC2086
	      options="-D_XOPEN_SOURCE=700 $(printf ' -U%s' $systems)" ;;
	*) options=$(system "$name" "${s#*:}") ;;
	esac
	is "$name" "$here" "$(exports "$name" 2>"$tmp/err")"
	sed 's/^/# /' "$tmp/err"
done
done_testing

# waza: POSIX make, no configure.  `make demo`, `make check`, `make install`.
.POSIX:
.SUFFIXES:
.SUFFIXES: .c .o

VERSION = 0.1.0
PREFIX  = /usr/local
BINDIR  = $(PREFIX)/bin
MANDIR  = $(PREFIX)/share/man

CC      = cc
CFLAGS  = -O2 -g
LDFLAGS =
LDLIBS  =
STD     = -std=c99 -D_POSIX_C_SOURCE=200809L
WARN    = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wpointer-arith -Wcast-qual \
	-Wformat=2 -Wvla -Wundef -Wconversion
HARDEN  = -fstack-protector-strong -D_FORTIFY_SOURCE=2
SAN     = -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
	-fsanitize=address,undefined
DEFS    = -DWAZA_VERSION='"$(VERSION)"'

# Public test data; tests that need it say SKIP where it is absent.
CORPUS  = ../shared/corpus

# One noun per file, lower layers first (DESIGN.md section 3).
SRC  = base.c os.c json.c yaml_lite.c re.c re_unicode.c field.c loop.c proc.c
HDR  = base.h os.h json.h yaml_lite.h re.h re_unicode.h field.h loop.h proc.h
OBJ  = $(SRC:.c=.o)
UNIT = test/t_base test/t_json test/t_yaml test/t_re test/t_field \
	test/t_loop test/t_proc
MAN  = waza.1

all: waza

waza: waza.o $(OBJ)
	$(CC) $(HARDEN) $(CFLAGS) $(LDFLAGS) -o $@ waza.o $(OBJ) $(LDLIBS)

waza.o $(OBJ): $(HDR) Makefile

.c.o:
	$(CC) $(STD) $(DEFS) $(WARN) $(HARDEN) $(CFLAGS) -c -o $@ $<
.c:
	$(CC) $(STD) $(WARN) $(HARDEN) $(CFLAGS) -I. $(LDFLAGS) -o $@ $< $(OBJ) $(LDLIBS)
$(UNIT): $(OBJ) $(HDR) test/tap.h

demo: all
	@sh examples/demo.sh ./waza

check: all $(UNIT)
	WAZA=$$PWD/waza CORPUS=$(CORPUS) sh test/run $(UNIT) test/[0-9]*.t

clean:
	rm -rf build
	rm -f waza waza.o $(OBJ) $(UNIT)

.PHONY: all demo check clean

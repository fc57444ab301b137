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
HARDEN  = -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
SAN     = -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all \
	-fsanitize=address,undefined
DEFS    = -DWAZA_VERSION=$(VERSION)
FUZZ_SECONDS = 60
# valgrind over all of the public data takes half an hour: VG_CORPUS=DIR, if you have it
VG_CORPUS = none

# Public test data; tests that need it say SKIP where it is absent.
CORPUS  = ../shared/corpus

# One noun per file, lower layers first (DESIGN.md).
SRC  = base.c os.c os_net.c os_path.c os_spawn.c json.c yaml_anchor.c \
	yaml_block.c yaml_core.c yaml_flow.c yaml_in.c yaml_lite.c yaml_map.c \
	yaml_scalar.c re.c re_atom.c re_class.c re_cuts.c re_dfa.c re_lit.c \
	re_nfa.c re_parse.c re_prog.c re_state.c re_unicode.c field.c opt.c csv.c \
	glob.c tmpl.c stats.c loop.c proc.c workspace.c spec.c spec_config.c \
	spec_file.c spec_grader.c spec_skill.c spec_task.c spec_tasks.c agent.c \
	agent_command.c agent_mock.c agent_script.c agent_worker.c grader.c \
	grader_check.c grader_expected.c grader_file.c grader_lower.c \
	grader_program.c grader_search.c grader_tally.c grader_text.c event.c \
	result.c result_file.c result_journal.c result_trial.c run.c run_hook.c \
	run_plan.c run_trial.c report.c report_console.c report_csv.c \
	report_detail.c report_github.c report_html.c report_junit.c report_log.c \
	report_markdown.c report_out.c report_tap.c report_text.c report_words.c
HDR  = base.h os.h os_net.h os_path.h os_spawn.h json.h yaml_anchor.h \
	yaml_block.h yaml_core.h yaml_flow.h yaml_in.h yaml_lite.h yaml_map.h \
	yaml_scalar.h re.h re_class.h re_parse.h re_prog.h re_state.h \
	re_unicode.h field.h opt.h csv.h glob.h tmpl.h stats.h loop.h proc.h \
	workspace.h spec.h spec_in.h agent.h agent_kind.h grader.h grader_kind.h \
	event.h result.h result_part.h run.h run_part.h report.h report_part.h \
	waza.h waza_stream.h
CMD  = waza.c waza_run.c waza_spec.c waza_stream.c waza_text.c
OBJ  = $(SRC:.c=.o)
MAIN = $(CMD:.c=.o)
UNIT = test/t_base test/t_os test/t_json test/t_yaml test/t_re test/t_field \
	test/t_csv test/t_glob test/t_tmpl test/t_spec \
	test/t_opt test/t_stats test/t_loop test/t_proc test/t_procs test/t_event \
	test/t_result test/t_grader test/t_report
FUZZ = json yaml re csv tmpl
MAN  = waza.1 waza-eval.5

all: waza

waza: $(MAIN) $(OBJ)
	$(CC) $(HARDEN) $(CFLAGS) $(LDFLAGS) -o $@ $(MAIN) $(OBJ) $(LDLIBS)

$(MAIN) $(OBJ): $(HDR) Makefile

.c.o:
	$(CC) $(STD) $(DEFS) $(WARN) $(HARDEN) $(CFLAGS) -c -o $@ $<
.c:
	$(CC) $(STD) $(WARN) $(HARDEN) $(CFLAGS) -I. $(LDFLAGS) -o $@ $< $(OBJ) $(LDLIBS)
$(UNIT): $(OBJ) $(HDR) test/tap.h

demo: all
	@sh examples/demo.sh ./waza

check: all $(UNIT) replay
	@WAZA=$$PWD/waza CORPUS=$(CORPUS) BUILD=build/replay \
	    sh test/run $(UNIT) test/[0-9]*.t

# The fuzz targets with a main() that only replays files, for `make check`.
replay: $(OBJ)
	@mkdir -p build/replay
	@for f in $(FUZZ); do $(CC) $(STD) $(HARDEN) $(CFLAGS) -I. $(LDFLAGS) \
	    -o build/replay/$$f test/fuzz/fuzz_$$f.c test/fuzz/replay.c \
	    $(OBJ) $(LDLIBS) || exit 1; done

# The suite again: with sanitizers, under valgrind, with reads and writes
# of one byte.  Each in its own directory; test/build compiles it.
check-san:
	@CC='$(CC)' FLAGS='$(STD) $(DEFS) $(SAN) $(LDFLAGS)' SRC='$(SRC)' CMD='$(CMD)' \
	    UNIT='$(UNIT)' FUZZ='$(FUZZ)' CORPUS=$(CORPUS) \
	    sh test/build build/san
check-short:
	@CC='$(CC)' FLAGS='$(STD) $(DEFS) -DOS_SHORT $(CFLAGS) $(LDFLAGS)' \
	    SRC='$(SRC)' CMD='$(CMD)' UNIT='$(UNIT)' FUZZ='$(FUZZ)' CORPUS=$(CORPUS) \
	    SHORT=1 sh test/build build/short
check-vg:
	@CC='$(CC)' FLAGS='$(STD) $(DEFS) -O1 -g $(LDFLAGS)' SRC='$(SRC)' CMD='$(CMD)' \
	    UNIT='$(UNIT)' FUZZ='$(FUZZ)' CORPUS=$(VG_CORPUS) \
	    TESTS='test/01*.t test/0200-run.t test/06*.t' \
	    T_PROCS_AT_ONCE=100 T_PROCS_IN_A_ROW=100 \
	    WRAP='valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible --child-silent-after-fork=yes' \
	    sh test/build build/vg

# Needs clang: one minute for each target, findings stay in build/fuzz.
fuzz:
	@SRC='$(SRC)' FLAGS='$(STD) $(DEFS)' FUZZ='$(FUZZ)' \
	    SECONDS_EACH=$(FUZZ_SECONDS) CORPUS=$(CORPUS) sh test/fuzz/run

# One row a measurement, beside the peers that are installed.
bench: all
	@CC='$(CC)' STD='$(STD)' CFLAGS='$(CFLAGS)' OBJ='$(OBJ)' \
	    CORPUS=$(CORPUS) sh test/bench/run

lint:
	@SRC='$(CMD) $(SRC)' FLAGS='$(STD) $(DEFS)' MAN='$(MAN)' sh test/lint

install: all
	mkdir -p "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)/man1" \
	    "$(DESTDIR)$(MANDIR)/man5"
	cp waza "$(DESTDIR)$(BINDIR)/.waza.new"
	chmod 755 "$(DESTDIR)$(BINDIR)/.waza.new"
	mv -f "$(DESTDIR)$(BINDIR)/.waza.new" "$(DESTDIR)$(BINDIR)/waza"
	for m in $(MAN); do d="$(DESTDIR)$(MANDIR)/man$${m##*.}"; \
	    cp "man/$$m" "$$d/$$m" && chmod 644 "$$d/$$m" || exit 1; done

uninstall:
	rm -f "$(DESTDIR)$(BINDIR)/waza"
	for m in $(MAN); do rm -f "$(DESTDIR)$(MANDIR)/man$${m##*.}/$$m"; done

# The tarball comes from what is committed; distcheck proves it.
dist:
	git archive --prefix=waza-$(VERSION)/ HEAD | gzip -n >waza-$(VERSION).tar.gz

distcheck: dist
	@CORPUS=$(CORPUS) MAKE='$(MAKE)' sh test/distcheck waza-$(VERSION)

clean:
	rm -rf build
	rm -f waza $(MAIN) $(OBJ) $(UNIT) waza-*.tar.gz

.PHONY: all demo check replay check-san check-short check-vg fuzz bench lint \
	install uninstall dist distcheck clean

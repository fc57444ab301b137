# Builds and runs the tests; included by ../Makefile, which lists the sources.
# The scripts are in test/tool/.

FUZZ_SECONDS = 60
FUZZ_CFLAGS = -O1
SOAK_SECONDS = 120

# Public test data.  Tests that need it are skipped where it is missing.
SHARED  = ../shared
CORPUS  = $(SHARED)/corpus
# For check-cross: see test/tool/cross.
MACHINES = aarch64 armv7 i686 ppc64le riscv64 s390x
# check-san: -Werror refuses a build with warnings.
WERROR =
# Valgrind over all public data takes half an hour: set VG_CORPUS to use it.
VG_CORPUS = none

UNIT = agent/t_acp agent/t_hub agent/t_openai base/t_base base/t_json base/t_os cmd/t_client cmd/t_kube editor/t_lsp grade/t_grader \
	grade/t_judge grade/t_trace io/t_conn io/t_fetch io/t_scan io/t_loop io/t_offload io/t_proc io/t_procs \
	io/t_wire mock/t_mock lib/t_bpe lib/t_csv lib/t_diff lib/t_expr lib/t_field lib/t_field_schema lib/t_glob lib/t_guard lib/t_http lib/t_inflate lib/t_mask \
	lib/t_opt lib/t_re lib/t_schema lib/t_siphash lib/t_stats lib/t_tmpl lib/t_unicode lib/t_ws lib/t_yaml lib/t_yaml_out \
	report/t_compare report/t_matrix report/t_report report/t_source results/t_answer results/t_cache results/t_event results/t_outcome results/t_result \
	results/t_store results/t_trigger rpc/t_rpc rpc/t_session rpc/t_stream skill/t_budget skill/t_catalog skill/t_files skill/t_skill skill/t_triggers suite/t_config \
	suite/t_spec web/t_evalclient web/t_web \
	lib/t_markdown run/t_shard run/t_stop \
	skill/t_check
TOOL = rpcpipe double_acp double_copilot double_model double_evalclient \
	httpget chunks ws_cases ws_echo
FUZZ = json yaml re expr csv tmpl bpe diff schema http wire frame rpc client \
	evalclient ws web journal merge results sessions records settings lsp \
	markdown mock git inflate

TESTS = $(UNIT:%=test/unit/%)
TOOLS = $(TOOL:%=test/tool/%)
REPLAY = $(FUZZ:%=build/replay/%)

# The programs of the tests take from an archive what they need: that links faster.
AR = ar
build/waza.a: $(OBJ) build/small-is-$(SMALL)
	@$(SAY) AR $@; rm -f $@ && $(AR) -rc $@ $(OBJ)

$(TESTS) $(TOOLS): build/waza.a $(HDR) test/tool/clock.h test/tool/help.h test/tool/oracle.h test/tool/slow_bpe.h test/tool/tap.h

# The program that scripts test: `make check WAZA=PATH` tests another build.
WAZA    = $$PWD/waza
# The scripts that `make check` runs after the unit tests.
SCRIPTS = test/*/*.t

check: all $(TESTS) $(TOOLS) replay
	@WAZA=$(WAZA) DOUBLES=$$PWD/test/tool CORPUS=$(CORPUS) \
	    BUILD=build/replay sh test/tool/run $(TESTS) $(SCRIPTS)

tests: $(TESTS)
tools: $(TOOLS)

# The fuzz targets with a main() that only replays files, for `make check`.
replay: $(REPLAY)
$(REPLAY): build/waza.a $(HDR) $(FUZZ:%=test/fuzz/fuzz_%.c) build/replay.o test/fuzz/scratch.h
	@mkdir -p build/replay
	@$(SAY) CC $@; $(CC) $(STD) $(DEFS) $(HARDEN) $(CFLAGS) $(LDFLAGS) -o $@ \
	    test/fuzz/fuzz_$(@F).c build/replay.o build/waza.a $(LDLIBS)
build/replay.o: test/fuzz/replay.c
	@mkdir -p build
	@$(SAY) CC $@; $(CC) $(STD) $(DEFS) $(HARDEN) $(CFLAGS) -c -o $@ test/fuzz/replay.c

# The wider checks, one script each way; some need more programs (test/tool/wider).
WIDER = CC='$(CC)' STD='$(STD)' DEFS='$(DEFS)' WARN='$(WARN)' WERROR='$(WERROR)' CFLAGS='$(CFLAGS)' \
	LDFLAGS='$(LDFLAGS)' LDLIBS='$(LDLIBS)' OBJ='$(OBJ)' SRC='$(SRC)' \
	UNIT='$(TESTS)' TOOL='$(TOOL)' FUZZ='$(FUZZ)' MAN='$(MAN)' \
	SHARED='$(SHARED)' CORPUS='$(CORPUS)' VG_CORPUS='$(VG_CORPUS)' \
	MACHINES='$(MACHINES)' FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_CFLAGS='$(FUZZ_CFLAGS)' SOAK_SECONDS=$(SOAK_SECONDS) \
	WAZA=$$PWD/waza DOUBLES=$$PWD/test/tool sh test/tool/wider

check-fault check-san check-short fuzz lint: build/page_files.c
	@$(WIDER) $@
check-vg: all $(TESTS) $(TOOLS) replay
	@$(WIDER) $@
check-cross check-interop check-page check-agents check-scale check-pkg coverage soak bench: all $(TOOLS)
	@$(WIDER) $@

.PHONY: check replay tests tools check-fault check-san check-short check-vg check-cross check-interop \
	check-page check-agents check-scale check-pkg coverage soak fuzz bench lint

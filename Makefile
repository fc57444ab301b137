# waza: POSIX make, no configure.  `make demo`, `make check`, `make install`.
.POSIX:
.SUFFIXES:
.SUFFIXES: .c .o

VERSION = 0.1.0
PREFIX  = /usr/local
BINDIR  = $(PREFIX)/bin
MANDIR  = $(PREFIX)/share/man

CC      = cc
CFLAGS  = -O2
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
SOAK_SECONDS = 120
# valgrind over all of the public data takes half an hour: VG_CORPUS=DIR, if you have it
VG_CORPUS = none

# Public test data; tests that need it say SKIP where it is absent.
SHARED  = ../shared
CORPUS  = $(SHARED)/corpus

# One noun per file, lower layers first (DESIGN.md).
SRC  = base.c \
	os.c os_net.c os_path.c os_peer.c os_spawn.c \
	json.c \
	yaml_anchor.c yaml_block.c yaml_core.c yaml_flow.c yaml_in.c \
	yaml_lite.c yaml_map.c yaml_scalar.c \
	re.c re_atom.c re_class.c re_cuts.c re_dfa.c re_lit.c re_nfa.c \
	re_parse.c re_prog.c re_state.c re_unicode.c \
	expr.c expr_atom.c expr_call.c expr_case.c expr_equal.c expr_eval.c \
	expr_format.c expr_lex.c expr_literal.c expr_map.c expr_method.c \
	expr_num.c expr_parse.c expr_pattern.c expr_re.c expr_repr.c \
	expr_seq.c expr_split.c expr_text.c expr_unicode.c expr_value.c \
	schema.c schema_build.c schema_check.c schema_cycle.c schema_index.c \
	schema_keyword.c schema_map.c schema_meta.c schema_number.c \
	schema_pattern.c schema_tell.c schema_uri.c schema_value.c \
	diff.c diff_search.c field.c opt.c http.c http_body.c http_events.c \
	http_url.c ws.c ws_frame.c ws_key.c csv.c glob.c mask.c tmpl.c \
	stats.c loop.c proc.c \
	conn.c conn_frame.c conn_http.c conn_sweep.c conn_ws.c \
	wire.c fetch.c fetch_curl.c fetch_name.c workspace.c \
	workspace_look.c \
	run.c run_cache.c run_hook.c run_input.c run_plan.c run_record.c \
	run_repo.c run_skill.c run_stored.c run_trial.c run_trigger.c \
	run_turn.c \
	agent.c agent_command.c agent_formats.c agent_home.c agent_mask.c \
	agent_mcp.c agent_mock.c agent_preset.c agent_remote.c \
	agent_replay.c agent_script.c agent_settings.c agent_stored.c \
	agent_stream.c agent_worker.c \
	remote.c remote_client.c \
	acp.c acp_answer.c acp_permit.c acp_plan.c acp_setup.c acp_turn.c \
	copilot.c copilot_event.c copilot_permit.c copilot_session.c \
	copilot_settings.c \
	openai.c openai_answer.c openai_body.c openai_read.c openai_setup.c \
	grader.c grader_args.c grader_behavior.c grader_call.c \
	grader_check.c grader_code.c grader_code_child.c grader_code_names.c \
	grader_constraint.c grader_diff.c grader_expected.c grader_extract.c \
	grader_file.c grader_judged.c grader_lower.c grader_program.c \
	grader_prompt.c grader_question.c grader_rubric.c grader_schema.c \
	grader_search.c grader_sequence.c grader_skill.c grader_snapshot.c \
	grader_tally.c grader_text.c grader_toolcalls.c grader_trace.c \
	grader_trigger.c grader_workspace.c \
	judge.c judge_verdict.c \
	spec.c spec_config.c spec_file.c spec_grader.c spec_input.c \
	spec_remote.c spec_skill.c spec_task.c spec_tasks.c spec_trigger.c \
	event.c \
	result.c result_file.c result_journal.c result_keep.c result_pair.c \
	result_place.c result_trial.c result_trigger.c \
	outcome.c outcome_answer.c outcome_run.c cache.c cache_hash.c \
	config.c config_check.c config_keys.c config_layer.c config_merge.c \
	config_show.c config_spell.c config_token.c \
	store.c store_file.c store_scan.c \
	rpc.c rpc_about.c rpc_answer.c rpc_cache.c rpc_error.c rpc_eval.c \
	rpc_gate.c rpc_notify.c rpc_run.c rpc_runs.c rpc_stream.c rpc_view.c \
	server.c tool.c tool_command.c \
	session.c session_agent.c session_file.c session_fix.c \
	session_params.c session_prompt.c session_store.c \
	peer.c peer_web.c \
	web.c web_answer.c web_api.c web_base.c web_feed.c build/web_files.c \
	web_gate.c web_hub.c web_old.c web_page.c web_runs.c \
	client.c client_show.c client_target.c \
	report.c report_change.c report_console.c report_csv.c \
	report_detail.c report_github.c report_html.c report_junit.c \
	report_log.c report_markdown.c report_out.c report_tap.c \
	report_text.c report_trigger.c report_words.c \
	compare.c compare_gate.c compare_gate_out.c compare_json.c \
	compare_markdown.c compare_text.c compare_words.c
HDR  = base.h os.h os_net.h os_path.h os_spawn.h json.h \
	yaml_anchor.h yaml_block.h yaml_core.h yaml_flow.h yaml_in.h \
	yaml_lite.h yaml_map.h yaml_scalar.h \
	re.h re_class.h re_parse.h re_prog.h re_state.h re_unicode.h \
	expr.h expr_in.h expr_lex.h expr_unicode.h schema.h schema_in.h \
	schema_keyword.h diff.h diff_search.h field.h opt.h http.h ws.h \
	csv.h glob.h mask.h tmpl.h stats.h loop.h proc.h conn.h conn_part.h \
	wire.h fetch.h fetch_curl.h workspace.h workspace_look.h run.h \
	run_part.h agent.h agent_kind.h agent_preset.h agent_stream.h \
	remote.h remote_part.h acp.h copilot.h openai.h \
	grader.h grader_code.h grader_extract.h grader_kind.h \
	grader_prompt.h grader_snapshot.h grader_trace.h \
	judge.h spec.h spec_in.h event.h result.h result_part.h outcome.h \
	cache.h config.h config_in.h store.h store_part.h \
	rpc.h rpc_part.h rpc_run.h rpc_stream.h rpc_view.h \
	server.h tool.h session.h session_part.h peer.h peer_part.h \
	web.h web_api.h web_api_part.h web_page.h web_part.h \
	client.h report.h report_part.h compare.h \
	waza.h waza_client.h waza_clients.h waza_out.h waza_remote.h \
	waza_run.h waza_service.h waza_worker.h
CMD  = waza.c waza_cache.c waza_call.c waza_client.c waza_clients.c \
	waza_compare.c waza_config.c waza_connect.c waza_doctor.c \
	waza_grade.c waza_jsonrpc.c waza_out.c waza_remote.c waza_run.c \
	waza_run_opt.c waza_schema.c waza_serve.c waza_service.c \
	waza_settings.c waza_spec.c waza_text.c waza_work.c waza_worker.c \
	waza_worker_link.c
# What the page is made of, index.html first.
PAGE = page/index.html page/style.css page/icon.svg page/theme.js page/api.js \
	page/app.js page/chart.js page/clients.js page/compare.js page/dom.js \
	page/format.js page/list.js page/live.js page/map.js page/new.js \
	page/results.js page/run.js page/runs.js page/store.js page/table.js \
	page/task.js page/text.js page/trends.js
OBJ  = $(SRC:.c=.o)
MAIN = $(CMD:.c=.o)
UNIT = test/t_base test/t_os test/t_mask test/t_json test/t_yaml test/t_re \
	test/t_expr test/t_field test/t_cache test/t_csv test/t_diff \
	test/t_glob test/t_tmpl test/t_spec test/t_config test/t_trigger \
	test/t_opt test/t_stats test/t_http test/t_loop test/t_fetch \
	test/t_conn test/t_proc test/t_procs test/t_wire test/t_acp \
	test/t_event test/t_result test/t_schema test/t_grader test/t_trace \
	test/t_judge test/t_report test/t_remote test/t_peer test/t_look \
	test/t_session test/t_compare test/t_rpc test/t_outcome test/t_store \
	test/t_stream test/t_ws test/t_web test/t_client
HELPER = test/rpcpipe test/double_acp test/double_copilot test/double_model \
	test/ws_echo test/ws_cases test/double_client test/httpget
FUZZ = json yaml re expr csv tmpl diff schema http wire frame rpc client \
	peer ws web
MAN  = waza.1 waza-agents.7 waza-config.5 waza-eval.5 waza-rpc.5 waza-sessions.5

all: waza

waza: $(MAIN) $(OBJ)
	$(CC) $(HARDEN) $(CFLAGS) $(LDFLAGS) -o $@ $(MAIN) $(OBJ) $(LDLIBS)

$(MAIN) $(OBJ): $(HDR) Makefile

build/web_files.c: $(PAGE) page/embed
	@mkdir -p build
	sh page/embed $(PAGE) >$@.new
	mv -f $@.new $@

.c.o:
	$(CC) $(STD) $(DEFS) $(WARN) $(HARDEN) $(CFLAGS) -c -o $@ $<
.c:
	$(CC) $(STD) $(WARN) $(HARDEN) $(CFLAGS) -I. $(LDFLAGS) -o $@ $< $(OBJ) $(LDLIBS)
$(UNIT) $(HELPER): $(OBJ) $(HDR) test/tap.h

demo: all
	@sh examples/demo.sh ./waza

check: all $(UNIT) $(HELPER) replay
	@WAZA=$$PWD/waza RPCPIPE=$$PWD/test/rpcpipe DOUBLES=$$PWD/test CORPUS=$(CORPUS) \
	    BUILD=build/replay \
	    sh test/run $(UNIT) test/[0-9]*.t

# Those in C only, as fast as the compiler.
check-units: all $(UNIT) $(HELPER)
	@WAZA=$$PWD/waza DOUBLES=$$PWD/test CORPUS=$(CORPUS) sh test/run $(UNIT)

# The fuzz targets with a main() that only replays files, for `make check`.
replay: $(OBJ)
	@mkdir -p build/replay
	@for f in $(FUZZ); do $(CC) $(STD) $(HARDEN) $(CFLAGS) -I. $(LDFLAGS) \
	    -o build/replay/$$f test/fuzz/fuzz_$$f.c test/fuzz/replay.c \
	    $(OBJ) $(LDLIBS) || exit 1; done

# The suite again: with sanitizers, under valgrind, with reads and writes
# of one byte.  Each in its own directory; test/build compiles it.
check-san: build/web_files.c
	@CC='$(CC)' FLAGS='$(STD) $(DEFS) $(SAN) $(LDFLAGS)' SRC='$(SRC)' CMD='$(CMD)' \
	    UNIT='$(UNIT)' FUZZ='$(FUZZ)' CORPUS=$(CORPUS) \
	    sh test/build build/san
check-short: build/web_files.c
	@CC='$(CC)' FLAGS='$(STD) $(DEFS) -DOS_SHORT $(CFLAGS) $(LDFLAGS)' \
	    SRC='$(SRC)' CMD='$(CMD)' UNIT='$(UNIT)' FUZZ='$(FUZZ)' CORPUS=$(CORPUS) \
	    SHORT=1 sh test/build build/short
check-vg: build/web_files.c
	@CC='$(CC)' FLAGS='$(STD) $(DEFS) -O1 -g $(LDFLAGS)' SRC='$(SRC)' CMD='$(CMD)' \
	    UNIT='$(UNIT)' FUZZ='$(FUZZ)' CORPUS=$(VG_CORPUS) \
	    TESTS='test/01*.t test/0200-run.t test/0300-rpc.t test/0410-sessions.t test/06*.t' \
	    T_PROCS_AT_ONCE=100 T_PROCS_IN_A_ROW=100 \
	    WRAP='valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible --child-silent-after-fork=yes' \
	    sh test/build build/vg

# Clients from npm against `waza jsonrpc`; installed into a directory that
# goes away.
check-interop: all test/ws_echo test/ws_cases
	@WAZA=$$PWD/waza DOUBLES=$$PWD/test sh test/interop/run

# The page in Chromium, driven from npm; pictures of it in build/page.
# PAGE_CACHE says where what npm installs is kept.
check-page: all
	@WAZA=$$PWD/waza sh test/page/run

# Agents as npm has them, with a model of ours: AGENTS_CACHE says where they
# are kept.  No account, and no network once they are there.
check-agents: all test/rpcpipe
	@WAZA=$$PWD/waza RPCPIPE=$$PWD/test/rpcpipe SHARED=$(SHARED) \
	    sh test/agents/run

# Bad clients by the hundred, for SOAK_SECONDS at least; needs nothing else.
soak: all
	@mkdir -p build/soak
	$(CC) $(STD) $(WARN) $(CFLAGS) $(LDFLAGS) \
	    -o build/soak/soak test/soak/soak.c test/soak/scene.c \
	    test/soak/watch.c test/soak/client.c \
	    test/soak/web.c test/soak/wire.c $(LDLIBS)
	@$$PWD/build/soak/soak $$PWD/waza $(SOAK_SECONDS)

# Needs clang: one minute for each target, findings stay in build/fuzz.
fuzz: build/web_files.c
	@SRC='$(SRC)' FLAGS='$(STD) $(DEFS)' FUZZ='$(FUZZ)' \
	    SECONDS_EACH=$(FUZZ_SECONDS) CORPUS=$(CORPUS) sh test/fuzz/run

# One row a measurement, beside the peers that are installed.
bench: all $(HELPER)
	@CC='$(CC)' STD='$(STD)' CFLAGS='$(CFLAGS)' OBJ='$(OBJ)' \
	    CORPUS=$(CORPUS) sh test/bench/run

lint: build/web_files.c
	@SRC='$(CMD) $(SRC)' FLAGS='$(STD) $(DEFS)' MAN='$(MAN)' sh test/lint

install: all
	mkdir -p "$(DESTDIR)$(BINDIR)" "$(DESTDIR)$(MANDIR)/man1" \
	    "$(DESTDIR)$(MANDIR)/man5" "$(DESTDIR)$(MANDIR)/man7"
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
	rm -f waza $(MAIN) $(OBJ) $(UNIT) $(HELPER) waza-*.tar.gz

.PHONY: all demo check check-units replay check-san check-short check-vg check-interop check-page check-agents soak fuzz bench lint \
	install uninstall dist distcheck clean

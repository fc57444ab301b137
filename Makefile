# waza: POSIX make, no configure.  `make demo`, `make check`, `make install`.
# `make V=1` shows whole commands.  Builds for tests are in test/tool/.
.POSIX:
.SUFFIXES:
.SUFFIXES: .c .o

VERSION = 0.1.0
PREFIX  = /usr/local
BINDIR  = $(PREFIX)/bin
MANDIR  = $(PREFIX)/share/man
HTML    = build/html

CC      = cc
HOSTCC  = cc
CFLAGS  = -O2
LDFLAGS =
LDLIBS  =
STD     = -std=c99 -D_POSIX_C_SOURCE=200809L
WARN    = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wpointer-arith -Wcast-qual \
	-Wformat=2 -Wvla -Wundef -Wconversion
HARDEN  = -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
# times and sizes of files have 64 bits, also on machines of 32
DEFS    = -I. -DWAZA_VERSION=$(VERSION) -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
# The modules of each folder, in the order of DESIGN.md section 2, and the headers of each
# folder.  The modules that a run of a plain suite executes are apart from the others (*_MORE):
# they are linked side by side, so that few pages of the program are in memory (section 13).
BASE = base json num os os_child os_path os_spawn os_term
BASE_MORE = base_near os_confine os_net os_peer os_quiet
BASE_H = base num os os_child os_confine os_internal os_net os_path os_peer os_quiet os_spawn os_term
LIB = field guard opt sha256 siphash stats tmpl unicode re/re re/re_atom re/re_class re/re_lit \
	re/re_parse re/re_prog re/re_seek yaml/yaml_block yaml/yaml_core yaml/yaml_flow \
	yaml/yaml_in yaml/yaml_map yaml/yaml_scalar
LIB_MORE = base64 csv diff diff_search front glob http http_body http_url mask/mask mask/mask_form \
	stats_sequence py/expr py/expr_atom py/expr_call py/expr_case py/expr_equal py/expr_eval \
	py/expr_lex py/expr_map py/expr_num py/expr_parse py/expr_pattern py/expr_re py/expr_repr \
	py/expr_seq py/expr_str py/expr_text py/expr_value re/re_cuts re/re_bits re/re_dfa \
	re/re_nfa re/re_state schema/schema schema/schema_build schema/schema_check \
	schema/schema_index schema/schema_keyword schema/schema_map schema/schema_meta \
	schema/schema_number schema/schema_pattern schema/schema_explain schema/schema_uri \
	schema/schema_value yaml/yaml_anchor
LIB_H = base64 csv diff diff_internal field field_schema front glob guard http mask/mask opt sha256 \
	siphash stats tmpl unicode ws bpe/bpe bpe/bpe_internal py/expr py/expr_internal \
	re/re re/re_internal schema/schema schema/schema_internal yaml/yaml_internal \
	yaml/yaml_out gzip/inflate markdown/markdown markdown/markdown_internal
IO = loop loop_child proc proc_guard workspace workspace_litter workspace_scan
IO_MORE = conn conn_frame conn_http conn_pace conn_sweep conn_write fetch fetch_curl fetch_name \
	git git_files offload proc_tail wire workspace_text
IO_H = conn conn_internal fetch fetch_internal git git_internal loop loop_internal offload proc wire workspace workspace_scan \
	workspace_text
MOCK = mock_shim
MOCK_MORE = mock_call mock_file mock_fixture mock_match mock_read mock_real mock_serve
MOCK_H = mock mock_internal
SUITE = config config_hold config_layer project project_trust spec spec_agent spec_checkpoint \
	spec_config spec_control spec_file spec_foreign spec_grader spec_input spec_matrix \
	spec_mock spec_quarantine spec_remote spec_require spec_skill spec_table spec_task \
	spec_tasks spec_trigger
SUITE_MORE = config_check config_keys config_merge config_show config_spell config_token \
	spec_missing spec_preset spec_program spec_row
SUITE_H = config config_internal project spec spec_internal
SKILL = catalog_find
SKILL_MORE = catalog skill
SKILL_H = budget catalog files scaffold skill triggers \
	check check_internal \
	coverage
RESULTS = answer cache_hash event history result result_control result_file result_group \
	result_import result_journal result_name result_pairwise result_shard result_time \
	result_trial result_used result_write suspect/suspect
RESULTS_MORE = answer_names answer_tool cache outcome outcome_answer outcome_run result_resume \
	result_reuse result_same result_trigger store store_file store_scan merge/merge \
	merge/merge_file merge/merge_find merge/merge_journal merge/merge_read merge/merge_scan \
	merge/merge_store
RESULTS_H = answer cache event history outcome result result_internal store store_internal suspect/suspect verdict \
	merge/merge merge/merge_internal meet/meet meet/meet_internal
AGENT = agent agent_confine agent_home agent_mcp agent_mock agent_mocks agent_policy agent_preset \
	agent_skills agent_untold
AGENT_MORE = agent_command agent_control agent_denial agent_formats agent_gate agent_hide \
	agent_mutate agent_pool agent_probe agent_ready agent_replay agent_script \
	agent_stream proto/acp proto/acp_answer proto/acp_permit proto/acp_plan proto/acp_setup \
	proto/acp_turn proto/copilot proto/copilot_event proto/copilot_permit \
	proto/copilot_session proto/copilot_settings proto/openai proto/openai_answer \
	proto/openai_body proto/openai_read proto/openai_setup
AGENT_H = agent agent_internal agent_models agent_probe hub hub_internal proto/acp proto/copilot \
	proto/openai
GRADE = grader_check grader_expected grader_prompt grader_template grader_text grader_text_checks \
	grader_verdict judge
GRADE_MORE = grader_action_sequence grader_advice grader_behavior grader_child grader_code \
	grader_code_interpreter grader_code_syntax grader_code_variables grader_diff grader_file \
	grader_json_extract grader_json_schema grader_offload grader_program \
	grader_prompt_question grader_prompt_rubric grader_prompt_verdict grader_skill_invocation \
	grader_snapshot grader_tool_calls grader_tool_constraint grader_trace grader_trace_args \
	grader_trace_calls grader_trigger grader_workspace judge_verdict
GRADE_H = grader_internal grader_prompt grader_trace judge
RUN = run run_agent run_ask run_cache run_check run_control run_grade run_key run_mocks run_patch \
	run_plan run_preamble run_record run_shard run_budget run_share run_stop run_skill_git \
	run_skills run_task run_trial run_trigger run_taint run_turn run_workspace
RUN_MORE = run_digest run_hook run_mocks_play run_repo stop run_skill_home run_skill_read \
	run_stored shard taint/taint taint/taint_lines taint/taint_paths control/control \
	control/control_mutate control/control_run control/control_test
RUN_H = run run_internal run_mocks run_wait_internal shard stop taint/taint taint/taint_internal \
	control/control control/control_internal
REPORT = report_calls report_console report_detail report_layout report_log report_source \
	report_sum report_text report_trigger report_words control/report_control matrix/matrix
REPORT_MORE = compare compare_gate compare_gate_out compare_json compare_markdown compare_task \
	compare_text compare_words report report_csv report_github report_junit report_markdown \
	report_out report_recommend report_stored report_suites report_tap compare/compare_stop \
	explain/explain matrix/matrix_markdown matrix/matrix_text
REPORT_H = compare page report report_internal report_suites report_check report_coverage \
	explain/explain matrix/matrix
OTLP = otlp otlp_send otlp_span otlp_trial
OTLP_H = otlp otlp_internal
RPC = rpc_about rpc_answer rpc_cache rpc_eval rpc_gate rpc_listener rpc_output rpc_queue \
	rpc_run rpc_runs rpc_stream rpc_view tool tool_command tool_progress rpc_executor
RPC_H = rpc_internal rpc_stream rpc_view session session_internal tool
WEB = server server_gate server_refuse
WEB_H = evalclient server server_internal web web_api web_api_internal web_internal web_page
EDITOR = editor_check editor_results editor_schema lsp lsp_at lsp_check lsp_complete lsp_doc lsp_line \
	lsp_outline lsp_schema
EDITOR_H = editor_schema lsp lsp_internal
CMD = cmd help job job_report run run/run_budget run/run_cells run/run_history run/run_load \
	run/run_stop run/run_vars run_files run_units signals stdout run/run_changed run/run_ref \
	run/run_control workspace scale/shard
CMD_MORE = cache compare config doctor doctor_probe jsonrpc gate_update grade list match parse \
	results run/run_dry schema_check service stored validate \
	run/change_set run/control run/self_test scale/merge mock/command_record mock/mcp_mock
CMD_H = doctor server/evalclients gate job run run/change_set scale/on scale/on_internal scale/kube_engine service signals stdout stored workspace client/client \
	client/client_command client/deliver client/run_on_server client/worker skill/ask skill/import skill/new \
	skill/new_seen skill/suggest skill/tokens scale/kube \
	run/control run/self_test

# What only the whole program has: with SMALL=1 the files of small/ replace it.
LIB_FULL = field_schema ws ws_key bpe/bpe bpe/bpe_merge bpe/bpe_split yaml/yaml_out gzip/inflate \
	markdown/markdown markdown/markdown_block markdown/markdown_inline
IO_FULL = conn_ws
SKILL_FULL = budget files scaffold scaffold_project triggers check check_advice check_files \
	check_fix check_json check_level check_links check_rules check_spec check_suite coverage \
	coverage_out check_urls
RESULTS_FULL = meet/meet meet/meet_merge meet/meet_receive
AGENT_FULL = agent_models agent_remote hub hub_client
REPORT_FULL = report_html page report_check report_check_ci report_coverage
RPC_FULL = session session_agent session_file session_fix session_params session_prompt \
	session_store rpc_skill
WEB_FULL = evalclient web web_answer web_api web_feed web_gate web_meet web_metrics web_openapi \
	web_page web_runs web_sse web_upstream
CMD_RUN_FULL = client/run_on_server run/run_otlp run/run_send scale/on server/evalclients
CMD_FULL = full/commands models server/serve server/session run/run_watch run_suggest view client/call client/client \
	client/client_command client/client_show client/client_target client/connect \
	client/deliver client/worker client/worker_job client/worker_link editor/complete \
	editor/completion editor/lsp editor/schema skill/ask skill/import skill/import_inspect \
	skill/import_promptfoo skill/init skill/new skill/new_common skill/new_seen \
	skill/new_seen_read skill/new_task skill/check skill/quality skill/suggest \
	skill/suggest_reply skill/tokens skill/tokens_check skill/tokens_compare \
	skill/tokens_files skill/tokens_git skill/tokens_profile skill/tokens_suggest \
	skill/coverage scale/kube scale/kube_files scale/kube_log scale/kube_manifest \
	scale/kube_option scale/kube_pod scale/kube_state scale/on_collect scale/on_dir \
	scale/on_follow scale/on_local scale/on_parallel scale/on_script scale/on_slurm
AGENT_SMALL = small/agent_small
REPORT_SMALL = small/report_small
RPC_SMALL = small/rpc_small small/session_small
CMD_RUN_SMALL = small/run
CMD_SMALL = small/commands

PAGE = index.html style.css icon.svg theme.js dom.js format.js api.js chart.js results.js store.js \
	command.js tile.js table.js list.js live.js log.js map.js text.js runs.js triggers.js controls.js matrix.js why.js \
	run.js choose.js compare.js clients.js agents.js new.js task.js trends.js app.js
MAN  = waza.1 waza-agents.7 waza-cache.1 waza-call.1 waza-check.1 waza-compare.1 \
	waza-completion.1 waza-config.1 waza-config.5 waza-coverage.1 waza-doctor.1 waza-eval.5 \
	waza-gate.1 waza-grade.1 waza-help.1 waza-import.1 waza-init.1 waza-list.1 waza-lsp.1 \
	waza-match.1 waza-mcp-mock.1 waza-merge.1 waza-models.1 waza-new.1 waza-parse.1 waza-quality.1 waza-results.1 \
	waza-rpc.5 waza-run.1 waza-scale.7 waza-schema.1 waza-schema-check.1 waza-serve.1 waza-session.1 \
	waza-sessions.5 waza-suggest.1 waza-tokens.1 waza-validate.1 waza-view.1 waza-worker.1
# Other names of pages that describe several commands, as NAME:PAGE.
MAN_NAMES = waza-command-record:waza-mcp-mock waza-connect:waza-call waza-delete-session:waza-call waza-disconnect:waza-call \
	waza-generate-fix:waza-call waza-jsonrpc:waza-serve waza-mcp-record:waza-mcp-mock waza-ping:waza-call \
	waza-version:waza-help

# The modules of build/join, and those of base/ that it needs.
JOIN = join join_lex join_names join_use join_words join_write
HOSTED = base/base.c base/base_near.c base/json.c

# A folder sees its own headers and those of the folders above it.
H1 = json.h $(BASE_H:%=base/%.h)
H2 = $(H1) yaml_lite.h $(LIB_H:%=lib/%.h)
H3 = $(H2) $(IO_H:%=io/%.h)
H3M = $(H3) $(MOCK_H:%=mock/%.h)
H4 = $(H3M) $(SUITE_H:%=suite/%.h)
H5 = $(H4) $(SKILL_H:%=skill/%.h)
H6 = $(H5) $(RESULTS_H:%=results/%.h)
H7 = $(H6) $(AGENT_H:%=agent/%.h)
H8 = $(H7) grader.h $(GRADE_H:%=grade/%.h)
H9 = $(H8) $(RUN_H:%=run/%.h)
H10 = $(H9) $(REPORT_H:%=report/%.h) $(OTLP_H:%=otlp/%.h)
H11 = $(H10) rpc.h $(RPC_H:%=rpc/%.h)
H12 = $(H11) $(WEB_H:%=web/%.h)
H13 = $(H12) $(EDITOR_H:%=editor/%.h)
HDR = $(H13) waza.h $(CMD_H:%=cmd/%.h)

OBJ_FIRST = $(BASE:%=base/%.o) yaml_lite.o $(LIB:%=lib/%.o) $(IO:%=io/%.o) $(MOCK:%=mock/%.o) \
	$(SUITE:%=suite/%.o) $(SKILL:%=skill/%.o) $(RESULTS:%=results/%.o) $(AGENT:%=agent/%.o) \
	grader.o $(GRADE:%=grade/%.o) $(RUN:%=run/%.o) $(REPORT:%=report/%.o) $(CMD:%=cmd/%.o)
OBJ_RUN_FULL = $(CMD_RUN_FULL:%=cmd/%.o)
OBJ_RUN_SMALL = $(CMD_RUN_SMALL:%=cmd/%.o)
OBJ_MORE = $(BASE_MORE:%=base/%.o) $(LIB_MORE:%=lib/%.o) $(IO_MORE:%=io/%.o) $(MOCK_MORE:%=mock/%.o) \
	$(SUITE_MORE:%=suite/%.o) $(SKILL_MORE:%=skill/%.o) $(RESULTS_MORE:%=results/%.o) \
	$(AGENT_MORE:%=agent/%.o) $(GRADE_MORE:%=grade/%.o) $(RUN_MORE:%=run/%.o) \
	$(REPORT_MORE:%=report/%.o) rpc.o $(RPC:%=rpc/%.o) $(WEB:%=web/%.o) $(CMD_MORE:%=cmd/%.o)
OBJ_FULL = $(OTLP:%=otlp/%.o) $(CMD_FULL:%=cmd/%.o) $(LIB_FULL:%=lib/%.o) $(IO_FULL:%=io/%.o) \
	$(SKILL_FULL:%=skill/%.o) $(RESULTS_FULL:%=results/%.o) $(AGENT_FULL:%=agent/%.o) \
	build/page_files.o $(REPORT_FULL:%=report/%.o) $(RPC_FULL:%=rpc/%.o) $(WEB_FULL:%=web/%.o) \
	$(EDITOR:%=editor/%.o)
OBJ_SMALL = $(AGENT_SMALL:%=agent/%.o) $(REPORT_SMALL:%=report/%.o) $(RPC_SMALL:%=rpc/%.o) \
	$(CMD_SMALL:%=cmd/%.o)
# make SMALL=1: without the page, HTTP, sessions, evaluation clients, editors, traces, jobs on
# other machines, --watch, models, and the commands about skills.
SMALL =
OBJ_RUN_ = $(OBJ_RUN_FULL)
OBJ_RUN_1 = $(OBJ_RUN_SMALL)
OBJ_ = $(OBJ_FULL)
OBJ_1 = $(OBJ_SMALL)
FIRST = $(OBJ_FIRST) $(OBJ_RUN_$(SMALL))
REST = $(OBJ_$(SMALL)) $(OBJ_MORE)
OBJ = $(FIRST) $(REST)
SRC = $(OBJ:.o=.c)
all: waza

waza: waza.o $(OBJ) build/small-is-$(SMALL)
	@$(SAY) LINK $@; $(CC) $(HARDEN) $(CFLAGS) $(LDFLAGS) -o $@ waza.o $(OBJ) $(LDLIBS)

$(BASE:%=base/%.o) $(BASE_MORE:%=base/%.o): $(H1) Makefile
yaml_lite.o $(LIB:%=lib/%.o) $(LIB_MORE:%=lib/%.o) $(LIB_FULL:%=lib/%.o): $(H2) Makefile
$(IO:%=io/%.o) $(IO_MORE:%=io/%.o) $(IO_FULL:%=io/%.o): $(H3) Makefile
$(MOCK:%=mock/%.o) $(MOCK_MORE:%=mock/%.o): $(H3M) Makefile
$(SUITE:%=suite/%.o) $(SUITE_MORE:%=suite/%.o): $(H4) Makefile
$(SKILL:%=skill/%.o) $(SKILL_MORE:%=skill/%.o) $(SKILL_FULL:%=skill/%.o): $(H5) Makefile
$(RESULTS:%=results/%.o) $(RESULTS_MORE:%=results/%.o) $(RESULTS_FULL:%=results/%.o): $(H6) Makefile
$(AGENT:%=agent/%.o) $(AGENT_MORE:%=agent/%.o) $(AGENT_FULL:%=agent/%.o) $(AGENT_SMALL:%=agent/%.o): $(H7) Makefile
grader.o $(GRADE:%=grade/%.o) $(GRADE_MORE:%=grade/%.o): $(H8) Makefile
$(RUN:%=run/%.o) $(RUN_MORE:%=run/%.o): $(H9) Makefile
build/page_files.o $(REPORT:%=report/%.o) $(REPORT_MORE:%=report/%.o) $(REPORT_FULL:%=report/%.o) $(REPORT_SMALL:%=report/%.o) $(OTLP:%=otlp/%.o): $(H10) Makefile
rpc.o $(RPC:%=rpc/%.o) $(RPC_FULL:%=rpc/%.o) $(RPC_SMALL:%=rpc/%.o): $(H11) Makefile
$(WEB:%=web/%.o) $(WEB_FULL:%=web/%.o): $(H12) Makefile
$(EDITOR:%=editor/%.o): $(H13) Makefile
waza.o $(CMD:%=cmd/%.o) $(CMD_MORE:%=cmd/%.o) $(OBJ_RUN_FULL) $(CMD_FULL:%=cmd/%.o) $(OBJ_RUN_SMALL) $(CMD_SMALL:%=cmd/%.o): $(HDR) Makefile

# Tools that run during the build are compiled with HOSTCC, for the machine that
# builds: with a cross compiler as CC it is another one.
build/page_files.c: $(PAGE:%=page/%) page/embed build/deflate
	@sh page/embed build/deflate $(PAGE:%=page/%) >$@.new && mv -f $@.new $@
build/deflate: util/deflate.c
	@mkdir -p build
	@$(SAY) HOSTCC $@; $(HOSTCC) $(STD) -O1 -o $@ util/deflate.c

# Remembers which of the two was built, because both have the same names.
build/small-is-$(SMALL):
	@mkdir -p build && rm -f build/small-is-* && : >$@

# All sources in one file: cc -O2 -o waza waza-all.c.
amalgamation: build/waza-all.c
build/waza-all.c: build/join $(SRC) waza.c $(HDR) LICENSE build/small-is-$(SMALL)
	@build/join $(VERSION) LICENSE base/json.c waza.c $(FIRST:.o=.c) -- $(REST:.o=.c) >$@.new \
	    && mv -f $@.new $@
build/join: $(JOIN:%=util/%.c) util/join.h $(HOSTED) $(H1)
	@mkdir -p build
	@$(SAY) HOSTCC $@; $(HOSTCC) $(STD) -I. -O1 -o $@ $(JOIN:%=util/%.c) $(HOSTED)

# With V=1 the shell prints the command that follows.
SAY = test -n "$(V)" && set -x || echo
V =

.c.o:
	@$(SAY) CC $@; $(CC) $(STD) $(DEFS) $(WARN) $(HARDEN) $(CFLAGS) -c -o $@ $<
.c:
	@$(SAY) CC $@; $(CC) $(STD) $(DEFS) $(WARN) $(HARDEN) $(CFLAGS) $(LDFLAGS) -o $@ $< build/waza.a $(LDLIBS)
demo:
	@test -x waza || echo 'Building waza; make -j4 demo is faster ...'
	@$(MAKE) -s SAY=: all
	@sh examples/demo.sh ./waza

install: all install-man
	mkdir -p "$(DESTDIR)$(BINDIR)"
	cp waza "$(DESTDIR)$(BINDIR)/.waza.new"
	chmod 755 "$(DESTDIR)$(BINDIR)/.waza.new"
	mv -f "$(DESTDIR)$(BINDIR)/.waza.new" "$(DESTDIR)$(BINDIR)/waza"

install-man:
	mkdir -p "$(DESTDIR)$(MANDIR)/man1" "$(DESTDIR)$(MANDIR)/man5" \
	    "$(DESTDIR)$(MANDIR)/man7"
	for m in $(MAN); do d="$(DESTDIR)$(MANDIR)/man$${m##*.}"; \
	    cp "man/$$m" "$$d/$$m" && chmod 644 "$$d/$$m" || exit 1; done
	for m in $(MAN_NAMES); do f="$(DESTDIR)$(MANDIR)/man1/$${m%:*}.1"; \
	    echo ".so man1/$${m#*:}.1" >"$$f" && chmod 644 "$$f" || exit 1; done

uninstall:
	rm -f "$(DESTDIR)$(BINDIR)/waza"
	for m in $(MAN); do rm -f "$(DESTDIR)$(MANDIR)/man$${m##*.}/$$m"; done
	for m in $(MAN_NAMES); do rm -f "$(DESTDIR)$(MANDIR)/man1/$${m%:*}.1"; done

# The manual as HTML, with an index by purpose; needs mandoc.
html:
	@MAN='$(MAN)' MAN_NAMES='$(MAN_NAMES)' sh man/html "$(HTML)"

# The tarball contains what is committed; distcheck builds and tests it.
dist:
	git -c tar.umask=0022 archive --prefix=waza-$(VERSION)/ HEAD | gzip -9n >waza-$(VERSION).tar.gz

distcheck: dist
	@CORPUS=$(CORPUS) MAKE='$(MAKE)' sh test/tool/distcheck waza-$(VERSION)

# Static programs, the tarball, sums and recipes; pkg/release describes its variables.
DIR = build/release
release:
	@VERSION=$(VERSION) MAKE='$(MAKE)' sh pkg/release "$(DIR)"

# The Debian package, in build/deb.
deb:
	@VERSION=$(VERSION) sh pkg/deb build/deb

clean:
	rm -rf build
	rm -f waza waza.o $(OBJ_FIRST) $(OBJ_MORE) $(OBJ_RUN_FULL) $(OBJ_FULL) $(OBJ_RUN_SMALL) $(OBJ_SMALL) $(TESTS) $(TOOLS) waza-*.tar.gz

.PHONY: all amalgamation demo html install install-man uninstall dist distcheck release deb clean

include test/test.mk

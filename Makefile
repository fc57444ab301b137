# waza: POSIX make, no configure.  `make demo`, `make check`, `make install`.
# `make V=1` shows whole commands.  Builds for tests are in test/tool/.
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
DEFS    = -I. -DWAZA_VERSION=$(VERSION)
# The modules of each folder, in the order of DESIGN.md section 2, and the
# headers of each folder.
BASE = base base_near json os os_child os_confine os_net os_path os_peer os_quiet os_spawn os_term
BASE_H = base os os_child os_confine os_internal os_net os_path os_peer os_quiet os_spawn os_term
LIB = base64 csv diff diff_search field field_schema front glob guard http http_body http_url \
	mask opt sha256 siphash stats tmpl unicode ws ws_key bpe/bpe bpe/bpe_merge bpe/bpe_split \
	py/expr py/expr_atom py/expr_call py/expr_case py/expr_equal py/expr_eval py/expr_lex \
	py/expr_map py/expr_num py/expr_parse py/expr_pattern py/expr_re py/expr_repr py/expr_seq \
	py/expr_str py/expr_text py/expr_value re/re re/re_atom re/re_class re/re_cuts re/re_bits \
	re/re_dfa re/re_lit re/re_nfa re/re_parse re/re_prog re/re_state schema/schema \
	schema/schema_build schema/schema_check schema/schema_index schema/schema_keyword \
	schema/schema_map schema/schema_meta schema/schema_number schema/schema_pattern \
	schema/schema_explain schema/schema_uri schema/schema_value yaml/yaml_anchor \
	yaml/yaml_block yaml/yaml_core yaml/yaml_flow yaml/yaml_in yaml/yaml_map yaml/yaml_out \
	yaml/yaml_scalar markdown/markdown markdown/markdown_block markdown/markdown_inline
LIB_H = base64 csv diff diff_internal field field_schema front glob guard http mask opt sha256 \
	siphash stats tmpl unicode ws bpe/bpe bpe/bpe_internal py/expr py/expr_internal \
	re/re re/re_internal schema/schema schema/schema_internal yaml/yaml_internal \
	yaml/yaml_out markdown/markdown markdown/markdown_internal
IO = conn conn_frame conn_http conn_pace conn_sweep conn_ws fetch fetch_curl fetch_name loop loop_child offload proc proc_guard proc_tail wire \
	workspace workspace_litter workspace_scan workspace_text
IO_H = conn conn_internal fetch fetch_internal loop loop_internal offload proc wire workspace workspace_scan \
	workspace_text
SUITE = config config_check config_hold config_keys config_layer config_merge config_show \
	config_spell config_token project project_trust spec spec_config spec_file spec_foreign spec_grader spec_input spec_remote spec_require spec_skill \
	spec_task spec_tasks spec_trigger
SUITE_H = config config_internal project spec spec_internal
SKILL = budget catalog files scaffold scaffold_project skill triggers \
	check check_advice check_files check_fix check_json check_level check_links check_rules check_spec check_suite \
	coverage coverage_out \
	check_urls
SKILL_H = budget catalog files scaffold skill triggers \
	check check_internal \
	coverage
RESULTS = answer answer_names answer_tool cache cache_hash event outcome outcome_answer outcome_run result result_file \
	result_import result_journal result_name result_pairwise result_resume result_time result_trial result_trigger \
	result_used result_write store store_file store_scan
RESULTS_H = answer cache event outcome result result_internal store store_internal verdict
AGENT = agent agent_command agent_confine agent_denial agent_formats agent_gate agent_hide agent_home \
	agent_mcp agent_mock agent_models agent_pool agent_preset agent_probe agent_ready agent_remote agent_replay agent_script \
	agent_skills agent_stream agent_untold \
	hub hub_client proto/acp proto/acp_answer proto/acp_permit proto/acp_plan proto/acp_setup \
	proto/acp_turn proto/copilot proto/copilot_event proto/copilot_permit proto/copilot_session \
	proto/copilot_settings proto/openai proto/openai_answer proto/openai_body proto/openai_read \
	proto/openai_setup
AGENT_H = agent agent_internal agent_models agent_probe hub hub_internal proto/acp proto/copilot \
	proto/openai
GRADE = grader_action_sequence grader_behavior grader_check grader_child grader_code \
	grader_code_interpreter grader_code_variables grader_diff grader_expected grader_file grader_json_extract \
	grader_json_schema grader_offload grader_program grader_prompt grader_prompt_question grader_prompt_rubric \
	grader_prompt_verdict grader_skill_invocation grader_snapshot grader_template grader_text \
	grader_text_checks grader_tool_calls grader_tool_constraint grader_trace grader_trace_args \
	grader_trace_calls grader_trigger grader_verdict grader_workspace judge judge_verdict
GRADE_H = grader_internal grader_prompt grader_trace judge
RUN = run run_ask run_cache run_hook run_patch run_plan run_preamble run_record run_repo run_share \
	run_skill_git run_skill_home run_skill_read run_skills run_stored run_task run_trial run_trigger \
	run_turn run_workspace
RUN_H = run run_internal
REPORT = compare compare_gate compare_gate_out compare_json compare_markdown compare_text report \
	report_calls report_changes report_confusion report_console report_csv report_detail \
	report_github report_html report_junit report_log report_markdown report_out \
	report_recommend report_suites report_tap report_text report_trigger report_words page \
	report_check report_check_ci report_coverage
REPORT_H = compare page report report_internal report_suites report_check report_coverage
RPC = rpc_about rpc_answer rpc_cache rpc_eval rpc_gate rpc_listener rpc_output rpc_queue rpc_run rpc_runs rpc_stream \
	rpc_view session session_agent session_file session_fix session_params session_prompt \
	session_store tool tool_command tool_progress \
	rpc_skill
RPC_H = rpc_internal rpc_stream rpc_view session session_internal tool
WEB = evalclient server server_gate server_refuse web web_answer web_api web_feed web_gate web_page web_runs web_sse \
	web_upstream
WEB_H = evalclient server server_internal web web_api web_api_internal web_internal web_page
EDITOR = editor_check editor_results editor_schema lsp lsp_at lsp_check lsp_complete lsp_doc lsp_line \
	lsp_outline lsp_schema
EDITOR_H = editor_schema lsp lsp_internal
CMD = cache cmd compare config doctor doctor_probe evalclients grade job list match models parse results \
	run run_files run_units schema_check serve service session signals stdout validate view \
	workspace client/call client/client client/client_command client/client_show \
	client/client_target client/connect client/run_on_server client/worker client/worker_job \
	client/worker_link editor/complete editor/completion editor/lsp editor/schema skill/ask \
	skill/import skill/import_inspect skill/import_promptfoo skill/init skill/new \
	skill/new_common skill/new_seen skill/new_seen_read skill/new_task skill/check \
	skill/quality skill/suggest skill/suggest_reply skill/tokens skill/tokens_check \
	skill/tokens_compare skill/tokens_files skill/tokens_git skill/tokens_profile \
	skill/tokens_suggest skill/coverage
CMD_H = doctor evalclients job run service signals stdout workspace client/client \
	client/client_command client/run_on_server client/worker skill/ask skill/import skill/new \
	skill/new_seen skill/suggest skill/tokens
PAGE = index.html style.css icon.svg theme.js dom.js format.js api.js chart.js results.js store.js \
	table.js list.js live.js map.js text.js runs.js run.js compare.js clients.js new.js task.js \
	trends.js app.js
MAN  = waza.1 waza-agents.7 waza-completion.1 waza-config.5 waza-eval.5 waza-import.1 waza-init.1 \
	waza-lsp.1 waza-models.1 waza-new.1 waza-rpc.5 waza-run.1 waza-schema.1 waza-sessions.5 waza-view.1 \
	waza-check.1 waza-coverage.1 waza-quality.1 waza-results.1 waza-session.1 waza-suggest.1 \
	waza-tokens.1

# A folder sees its own headers and those of the folders above it.
H1 = json.h $(BASE_H:%=base/%.h)
H2 = $(H1) yaml_lite.h $(LIB_H:%=lib/%.h)
H3 = $(H2) $(IO_H:%=io/%.h)
H4 = $(H3) $(SUITE_H:%=suite/%.h)
H5 = $(H4) $(SKILL_H:%=skill/%.h)
H6 = $(H5) $(RESULTS_H:%=results/%.h)
H7 = $(H6) $(AGENT_H:%=agent/%.h)
H8 = $(H7) grader.h $(GRADE_H:%=grade/%.h)
H9 = $(H8) $(RUN_H:%=run/%.h)
H10 = $(H9) $(REPORT_H:%=report/%.h)
H11 = $(H10) rpc.h $(RPC_H:%=rpc/%.h)
H12 = $(H11) $(WEB_H:%=web/%.h)
H13 = $(H12) $(EDITOR_H:%=editor/%.h)
HDR = $(H13) waza.h $(CMD_H:%=cmd/%.h)

OBJ = $(BASE:%=base/%.o) yaml_lite.o $(LIB:%=lib/%.o) $(IO:%=io/%.o) \
	$(SUITE:%=suite/%.o) $(SKILL:%=skill/%.o) $(RESULTS:%=results/%.o) $(AGENT:%=agent/%.o) \
	grader.o $(GRADE:%=grade/%.o) $(RUN:%=run/%.o) build/page_files.o $(REPORT:%=report/%.o) \
	rpc.o $(RPC:%=rpc/%.o) $(WEB:%=web/%.o) $(EDITOR:%=editor/%.o) \
	$(CMD:%=cmd/%.o)
SRC = $(OBJ:.o=.c)
all: waza

waza: waza.o $(OBJ)
	@$(SAY) LINK $@; $(CC) $(HARDEN) $(CFLAGS) $(LDFLAGS) -o $@ waza.o $(OBJ) $(LDLIBS)

$(BASE:%=base/%.o): $(H1) Makefile
yaml_lite.o $(LIB:%=lib/%.o): $(H2) Makefile
$(IO:%=io/%.o): $(H3) Makefile
$(SUITE:%=suite/%.o): $(H4) Makefile
$(SKILL:%=skill/%.o): $(H5) Makefile
$(RESULTS:%=results/%.o): $(H6) Makefile
$(AGENT:%=agent/%.o): $(H7) Makefile
grader.o $(GRADE:%=grade/%.o): $(H8) Makefile
$(RUN:%=run/%.o): $(H9) Makefile
build/page_files.o $(REPORT:%=report/%.o): $(H10) Makefile
rpc.o $(RPC:%=rpc/%.o): $(H11) Makefile
$(WEB:%=web/%.o): $(H12) Makefile
$(EDITOR:%=editor/%.o): $(H13) Makefile
waza.o $(CMD:%=cmd/%.o): $(HDR) Makefile

build/page_files.c: $(PAGE:%=page/%) page/embed
	@mkdir -p build
	@sh page/embed $(PAGE:%=page/%) >$@.new && mv -f $@.new $@

# With V=1 the shell prints the command that follows.
SAY = test -n "$(V)" && set -x || echo
V =

.c.o:
	@$(SAY) CC $@; $(CC) $(STD) $(DEFS) $(WARN) $(HARDEN) $(CFLAGS) -c -o $@ $<
.c:
	@$(SAY) CC $@; $(CC) $(STD) $(DEFS) $(WARN) $(HARDEN) $(CFLAGS) $(LDFLAGS) -o $@ $< $(OBJ) $(LDLIBS)
demo: all
	@sh examples/demo.sh ./waza

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

# The tarball contains what is committed; distcheck builds and tests it.
dist:
	git archive --prefix=waza-$(VERSION)/ HEAD | gzip -n >waza-$(VERSION).tar.gz

distcheck: dist
	@CORPUS=$(CORPUS) MAKE='$(MAKE)' sh test/tool/distcheck waza-$(VERSION)

clean:
	rm -rf build
	rm -f waza waza.o $(OBJ) $(TESTS) $(TOOLS) waza-*.tar.gz

.PHONY: all demo install uninstall dist distcheck clean

include test/test.mk

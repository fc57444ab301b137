#!/bin/sh
# SPDX-License-Identifier: ISC
# action.sh install|run|comment: the steps of action.yml, which describes the inputs.
#
#   install  installs the release, see install.sh
#   run      runs a suite or merges shards; writes annotations, the step summary, a
#            JUnit file and outputs; exits with the status of the verdict
#   comment  creates or updates the comment of the pull request; always succeeds
#
# Only the step "comment" has the token of the repository, and no agent runs in it.  This
# does not stop an agent that prepares an attack on that step: the same user can change
# the files of the action and the variables of later steps, or read /proc/PID/environ.
# Only a separate job is safe, as in examples/ci/github-shards.yml: its agents run in jobs
# whose token cannot write.
#
# Inputs are variables INPUT_*; no text of an input becomes part of a command.
set -u
token=${COMMENT_TOKEN-}
unset COMMENT_TOKEN
if [ "${1-}" = comment ]; then
	# agents could write to directories of the PATH, such as that of waza
	PATH=/usr/bin:/bin:/usr/local/bin
	export PATH
fi
locale=${LC_ALL-}
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 2
temp=${RUNNER_TEMP:-${TMPDIR:-/tmp}}
tab='	'
nl='
'
comment_max=60000		# bytes; GitHub accepts 65,536 characters
summary_max=1000000		# bytes; GitHub accepts 1 MiB
pages_max=30			# of 100 comments each

# command_line LEVEL TEXT...: print an annotation; a command is one line, so the text
# cannot begin another one
command_line() {
	level=$1
	shift
	printf '::%s title=waza::' "$level"
	printf '%s' "$*" | tr -d '\000-\010\013-\037\177' | awk '
	    { gsub(/%/, "%25"); printf "%s%s", (NR > 1 ? "%0A" : ""), $0 } END { print "" }'
}

# refuse TEXT...: an input is wrong
refuse() {
	command_line error "$@"
	finish error 2 "The action could not start: an input is wrong. See the log of the job."
}

# put NAME VALUE: set an output; values are one line
put() {
	[ -z "${GITHUB_OUTPUT-}" ] || printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
}

# head_lines BYTES: the first lines of standard input, at most so many bytes
head_lines() {
	awk -v room="$1" '{ room -= length($0) + 1; if (room < 0) { cut = 1; exit } print }
	    END { if (cut) print "\n\nThe rest is in the results of the job." }'
}

# ---- install

install() {
	prefix=$(mktemp -d "$temp/waza-bin.XXXXXX") || exit 2
	# without a release of its own, the action installs that of its repository
	if [ -z "${WAZA_RELEASE-}" ] && [ -n "${ACTION_REPOSITORY-}" ]; then
		version=$(sed -n 's/^version=//p' "$here/install.sh")
		WAZA_RELEASE=${GITHUB_SERVER_URL:?}/$ACTION_REPOSITORY/releases/download/v$version
		export WAZA_RELEASE
	fi
	if ! PREFIX=$prefix sh "$here/install.sh" 2>"$prefix/error"; then
		command_line error "$(cat "$prefix/error")"
		exit 2
	fi
	printf '%s\n' "$prefix/bin" >>"${GITHUB_PATH:?}"
}

# ---- run

# need_line NAME VALUE: the value is one line without control characters
need_line() {
	case $2 in
	*[[:cntrl:]]*) refuse "input $1: \"$2\" is not one line of text" ;;
	-*) refuse "input $1: \"$2\" begins with \"-\"" ;;
	esac
}

# need_lines NAME VALUE: each line of the value is such a line
need_lines() {
	while IFS=" $tab" read -r line; do
		need_line "$1" "$line"
	done <<EOF
$2
EOF
}

# need_budget WORD...: sets $usd, $tokens and $time
need_budget() {
	for word; do
		case $word in
		*=*=*) value=x ;;
		[0-9]*) value=$word usd=$word ;;
		usd=*) value=${word#*=} usd=$value ;;
		tokens=*) value=${word#*=} tokens=$value ;;
		time=*) value=${word#*=} time=${word#*=} value=${value%[smhd]} ;;
		*) value=x ;;
		esac
		case $value in
		''|*[!0-9.]*|*.*.*|.*|*.) refuse "input budget: \"$word\" is not a number of dollars," \
		    'usd=N, tokens=N or time=N with s, m, h or d' ;;
		esac
	done
}

# need_shards VALUE: sets $shard to K/N, or $merge to a directory
need_shards() {
	need_line shards "$1"
	case $1 in
	'') return ;;
	merge:?*) merge=${1#merge:} ;;
	*[!0-9/]*|*/*/*|/*|*/) ;;
	*/*) shard=$1 ;;
	esac
	[ -n "$shard$merge" ] || refuse "input shards: \"$1\" is neither K/N, such as 1/4, nor merge:DIRECTORY"
	[ -z "$merge" ] || [ -d "$merge" ] || [ -n "$changed" ] ||
	    refuse "input shards: the directory \"$merge\" does not exist: download the results of the shards first"
}

# read_inputs: check them all before anything runs
read_inputs() {
	suite=${INPUT_SUITE-} executor=${INPUT_EXECUTOR-} model=${INPUT_MODEL-}
	baseline=${INPUT_BASELINE-} changed=${INPUT_CHANGED-} comment=${INPUT_COMMENT-}
	usd='' tokens='' time='' shard='' merge=''
	need_lines suite "$suite"
	need_line executor "$executor"
	need_lines model "$model"
	need_line baseline "$baseline"
	need_line changed "$changed"
	[ "$changed" != false ] || changed=
	case $executor in
	*[!A-Za-z0-9_-]*) refuse "input executor: \"$executor\" is not the name of an executor" ;;
	esac
	case ${INPUT_BUDGET-} in
	*[!a-z0-9.=,$nl$tab\ ]*) refuse "input budget: \"$INPUT_BUDGET\" has characters that no budget has" ;;
	esac
	# shellcheck disable=SC2046 # words, without characters of patterns
	need_budget $(printf '%s' "${INPUT_BUDGET-}" | tr , ' ')
	need_shards "${INPUT_SHARDS-}"
	need_comment "$comment"
	[ -z "$baseline" ] || [ -e "$baseline" ] ||
	    refuse "input baseline: \"$baseline\" does not exist: commit the accepted results," \
	    'or leave the input empty'
}

need_comment() {
	case $1 in
	*[!A-Za-z0-9._-]*) refuse "input comment: \"$1\" is not true, false or a name of letters, digits, \".\", \"_\" and \"-\"" ;;
	esac
}

# follow COMMAND...: run it to its end; sets $status.  A job that is cancelled gives
# it the time to write its results.  Files that change later steps, and the summary,
# are not for the agents that it starts.
follow() {
	(
		unset GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STATE GITHUB_STEP_SUMMARY
		unset INPUT_SUITE INPUT_EXECUTOR INPUT_MODEL INPUT_BASELINE INPUT_CHANGED
		unset INPUT_BUDGET INPUT_SHARDS INPUT_COMMENT
		LC_ALL=$locale
		exec "$@"
	) </dev/null &
	child=$!
	# a signal ends wait, not the child; 127: there is no program, or no child any more
	again=1 status=127
	trap 'again=1; kill -s TERM "$child"' HUP INT TERM
	while [ $again = 1 ]; do
		again=0
		wait "$child"
		code=$?
		[ $code = 127 ] || status=$code
	done
	trap - HUP INT TERM
}

# run_waza: the suites, or the merge of shards; results and reports in $out
run_waza() {
	set -- -o "$out/results.json"
	[ -n "$shard" ] || set -- "$@" --reporter github --reporter "junit:$out/junit.xml" \
	    --reporter "markdown:$out/report.md"
	if [ -n "$merge" ]; then
		follow waza merge "$@" -- "$merge"
		# of several suites; it is not a results file, unless a skill has this name
		summary=$out/results_summary.json
		grep -q '^  "eval_name":' "$summary" 2>/dev/null || rm -f "$summary"
		return
	fi
	set -- "$@" --no-summary
	[ -z "$executor" ] || set -- "$@" --executor "$executor"
	while IFS=" $tab" read -r line; do
		[ -z "$line" ] || set -- "$@" --model "$line"
	done <<EOF
$model
EOF
	case $changed in
	'') ;;
	true) set -- "$@" --changed ;;
	*) set -- "$@" --changed="$changed" ;;
	esac
	[ -z "$usd" ] || set -- "$@" --budget-usd "$usd"
	[ -z "$tokens" ] || set -- "$@" --budget-tokens "$tokens"
	[ -z "$time" ] || set -- "$@" --budget-time "$time"
	[ -z "$shard" ] || set -- "$@" --shard "$shard"
	set -- "$@" --
	while IFS=" $tab" read -r line; do
		[ -z "$line" ] || set -- "$@" "$line"
	done <<EOF
$suite
EOF
	follow waza run "$@"
}

has_results() {
	for file in "$out"/results*.json; do
		[ -e "$file" ] && return
	done
	return 1
}

# skipped_shards: all shards below $merge have left a note that nothing has changed
skipped_shards() {
	[ -n "$changed" ] && [ -d "$merge" ] || return
	[ -z "$(find "$merge" -name '*.json' | head -n 1)" ] || return
	find "$merge" -name 'unchanged-*-of-*' | sed 's|.*/unchanged-||' | sort -u |
	    awk -F -of- '{ n++; of[$2] } END { for (k in of) { all++; want = k } exit !(all == 1 && n == want) }'
}

# describe FILE: print suite, agent, place of the suite and status of a results file,
# separated by TABs and in the spelling of JSON.  waza writes one member per line.
describe() {
	awk -v OFS="$tab" '
	function value() { sub(/^[^:]*: */, ""); sub(/,$/, ""); return $0 }
	BEGIN { executor = skill = source = status = "-"; model = "\"\"" }
	/^  "/ { top = $1 }
	/^  "eval_name":/ { name = value() }
	/^  "source":/ { source = value() }
	/^  "status":/ { status = value() }
	top == "\"config\":" && /^    "engine_type":/ { executor = value() }
	top == "\"config\":" && /^    "model_id":/ { model = value() }
	top == "\"config\":" && /^    "cell":/ && match($0, /"skill":"([^"\\]|\\.)*"/) {
		skill = substr($0, RSTART + 8, RLENGTH - 8)
	}
	END {
		if (name == "")
			exit 1
		agent = "executor " executor (model != "\"\"" ? ", model " model : "") (skill != "-" ? ", skill " skill : "")
		print name, agent, source, status
	}' "$1"
}

# fail CODE TEXT...: report an error of the gate; sets $verdict to the worst status
fail() {
	[ "$1" -le "$verdict" ] || verdict=$1
	shift
	command_line error "$@"
}

# read_baselines: sets $baselines to a line for each file of the directory $baseline:
# as of describe, then the file
read_baselines() {
	baselines=
	for file in "$baseline"/*.json; do
		[ -e "$file" ] || continue
		if line=$(describe "$file"); then
			baselines=$baselines$line$tab$file$nl
		elif [ "${file##*/}" != results_summary.json ]; then
			fail 3 "the baseline $file is not a results file as waza writes it: accept results again, or move it"
		fi
	done
}

# find_baseline: sets $accepted to the baseline of the results with $name, $agent and
# $source, and $was to its status.  File names depend on which suites ran together, so
# they do not count.  Of several suites with the same name, the place decides.
find_baseline() {
	accepted='' was='' found=0 same=0 related=
	while IFS=$tab read -r b_name b_agent b_source b_status b_file; do
		if [ "$b_name" = "$name" ] || { [ "$b_source" = "$source" ] && [ "$source" != - ]; }; then
			related=$b_file
		fi
		[ "$b_name$tab$b_agent" = "$name$tab$agent" ] || continue
		found=$((found + 1))
		if [ "$b_source" = "$source" ]; then
			same=$((same + 1)) accepted=$b_file was=$b_status
		elif [ "$same" = 0 ]; then
			accepted=$b_file was=$b_status
		fi
	done <<EOF
$baselines
EOF
	[ "$same" = 1 ] || { [ "$same" = 0 ] && [ "$found" = 1 ]; } || accepted=
}

# gate_one: compare $file with $accepted
gate_one() {
	set -- --baseline "$accepted" --current "$file" --golden-must-pass
	[ -z "$changed" ] || set -- "$@" --partial
	text=$(waza gate "$@" --format github)
	gated=$?
	[ -z "$text" ] || printf '%s\n' "$text"
	waza gate "$@" --format markdown >>"$out/gate.md" 2>/dev/null
	[ "$gated" -le "$verdict" ] || verdict=$gated
	if printf '%s\n' "$text" | grep -q '^::warning .*title=warning::these are different suites: '; then
		fail 3 "the baseline $accepted belongs to another suite than $name: for several suites, let the" \
		    'baseline be a directory'
	elif [ "$gated" = 0 ] && [ "$result" != '"passed"' ] && [ "$was" != '"failed"' ]; then
		# a gate compares tasks; suites have other thresholds as well
		fail 1 "the suite $name does not reach its thresholds: see the report"
	fi
}

# gate_new: there is no baseline for $file, which is all right for a new suite that passes
gate_new() {
	accept="to accept its first results, copy ${file##*/} from the results of this job to $baseline as NAME.json"
	if [ "$found" -gt 0 ]; then
		fail 3 "suite $name, $agent: several files in $baseline belong to it: remove all but one"
	elif [ -n "$related" ]; then
		fail 3 "suite $name, $agent: the baseline of this suite, $related, has another name or agent; $accept"
	elif [ "$result" != '"passed"' ]; then
		fail 1 "suite $name, $agent: it has no baseline in $baseline and does not pass; $accept"
	else
		command_line warning "suite $name, $agent: it has no baseline in $baseline, so its own thresholds decide; $accept"
	fi
}

# gate: compare all results with the baseline, a file or a directory of files; sets
# $verdict
gate() {
	verdict=0 used=$nl reason=
	if [ -d "$baseline" ]; then
		read_baselines
	else
		accepted=$baseline was=
		IFS=$tab read -r name agent source was <<EOF
$(describe "$baseline")
EOF
	fi
	for file in "$out"/results*.json; do
		IFS=$tab read -r name agent source result <<EOF
$(describe "$file")
EOF
		[ "$result" = '"passed"' ] || reason=1
		[ ! -d "$baseline" ] || find_baseline
		if [ -z "$accepted" ]; then
			gate_new
			continue
		fi
		if [ -d "$baseline" ]; then
			case $used in *"$nl$accepted$nl"*)
				fail 3 "the baseline $accepted belongs to several results: rename one of the suites $name" ;;
			esac
			used=$used$accepted$nl
		fi
		gate_one
	done
	[ "$status" = 0 ] || [ -n "$reason" ] || fail 1 'the run failed: see the log'
	[ -d "$baseline" ] && [ -z "$changed" ] || return 0
	while IFS=$tab read -r name agent source result accepted; do
		case $used in *"$nl$accepted$nl"*) continue ;; esac
		[ -z "$accepted" ] || fail 3 "suite $name, $agent: it has a baseline, $accepted, but did not run:" \
		    'run it, or remove the file'
	done <<EOF
$baselines
EOF
}

# total KEY: the sum of a number in the summaries of all results
total() {
	cat "$out"/results*.json 2>/dev/null | awk -v key="    \"$1\":" '
	    /^  "summary": \{/ { on = 1 } /^  \}/ { on = 0 }
	    on && index($0, key) == 1 { n += substr($0, length(key) + 1) } END { print n + 0 }'
}

# finish STATUS CODE TEXT: write outputs, summary and the body of the comment; exit
finish() {
	: >>"$out/gate.md"
	: >>"$out/report.md"
	{
		[ -z "$3" ] || printf '%s\n\n' "$3"
		cat "$out/gate.md"
		[ ! -s "$out/gate.md" ] || echo
		cat "$out/report.md"
	} >"$out/body.md"
	printf '%s\n' "$1" >"$out/status"
	[ -z "${GITHUB_STEP_SUMMARY-}" ] || [ -n "${shard-}" ] ||
	    head_lines "$summary_max" <"$out/body.md" >>"$GITHUB_STEP_SUMMARY"
	put status "$1"
	put exit-code "$2"
	put tasks "$(total total_tests)"
	put passed "$(total succeeded)"
	put results "$out"
	put junit "$([ ! -s "$out/junit.xml" ] || echo "$out/junit.xml")"
	put report "$out/body.md"
	exit "$2"
}

# conclude: from the status of the run to that of the action
conclude() {
	case $status in
	0|1) has_results || finish error 2 'waza has written no results. See the log of the job.' ;;
	2) finish error 2 'waza could not run. See the log of the job.' ;;
	3)	command_line error 'the budget is spent: not all tasks have run'
		finish budget 3 '**The budget is spent: not all tasks have run.**' ;;
	*) finish error "$status" "The run was interrupted (status $status)." ;;
	esac
	if [ -n "$shard" ]; then
		# all shards together decide
		finish "$([ "$status" = 0 ] && echo passed || echo failed)" 0 ''
	fi
	[ -z "$baseline" ] || {
		gate
		status=$verdict
	}
	if [ "$status" = 3 ]; then
		command_line error 'the results cannot be compared with the baseline: see the log'
		finish error 3 'The results cannot be compared with the baseline. See the log of the job.'
	fi
	[ "$status" = 0 ] || finish failed "$status" ''
	finish passed 0 ''
}

run() {
	out=$(mktemp -d "$temp/waza.XXXXXX") || exit 2
	put directory "$out"
	echo error >"$out/status"
	echo 'The run did not complete. See the log of the job.' >"$out/body.md"
	read_inputs
	none='No task has changed: nothing was run.'
	if [ -n "$merge" ] && skipped_shards; then
		command_line notice "$none"
		finish unchanged 0 "$none"
	fi
	run_waza
	if [ "$status" = 0 ] && [ -n "$changed" ] && ! has_results; then
		[ -z "$shard" ] || : >"$out/unchanged-${shard%/*}-of-${shard#*/}"
		command_line notice "$none"
		finish unchanged 0 "$none"
	fi
	conclude
}

# ---- comment

# skip TEXT...: there is no comment, for a reason that is not an error
skip() {
	command_line notice "no comment on the pull request: $*"
	exit 0
}

# scalars: the numbers, words and strings of a JSON text, a line "a/0/b TAB value"
# each; strings keep their escapes and may be cut off after 1,000 bytes
scalars() {
	awk 'BEGIN { RS = "\"" }
	function emit(v,  path, i) {
		for (i = 1; i <= depth; i++)
			path = path (i > 1 ? "/" : "") key[i]
		gsub(/[\001-\037]/, " ", v)
		print path "\t" v
	}
	function flush() {
		if (word != "")
			emit(word)
		word = ""
	}
	function structure(s,  i, c) {
		for (i = 1; i <= length(s); i++) {
			c = substr(s, i, 1)
			if (c == "{" || c == "[") {
				list[++depth] = c == "["
				key[depth] = 0
			} else if (c == "}" || c == "]") {
				flush()
				depth--
			} else if (c == ",") {
				flush()
				if (list[depth])
					key[depth]++
			} else if (c !~ /[: \t\r\n]/)
				word = word c
		}
	}
	inside {
		# strangers write long texts: the time is linear, and only the beginning is kept
		if (length(text) < 1000)
			text = text substr($0, 1, 1000)
		for (n = length($0); n > 0 && substr($0, n, 1) == "\\"; n--)
			;
		if ((length($0) - n) % 2 == 1)
			text = text (length(text) < 1000 ? "\"" : "")
		else
			inside = 0
		next
	}
	{
		if (ended) {
			if ($0 ~ /^[ \t\r\n]*:/)
				key[depth] = text
			else
				emit(text)
		}
		structure($0)
		inside = ended = 1
		text = ""
	}'
}

# api METHOD PATH [FILE]: ask GitHub; sets $code, and writes the answer to $work/reply.
# curl reads the token from its standard input, where no other process sees it; -q: an
# agent could have written ~/.curlrc.
api() {
	: >"$work/reply"
	code=$(curl -q -sS --config - --request "$1" --connect-timeout 10 --max-time 60 \
	    -o "$work/reply" -w '%{http_code}' ${3:+--data-binary "@$3"} "$url/$2" 2>"$work/error" <<EOF
header = "Authorization: Bearer $token"
header = "Accept: application/vnd.github+json"
header = "Content-Type: application/json"
header = "X-GitHub-Api-Version: 2022-11-28"
EOF
	) || skip "$(cat "$work/error")"
	case $code in
	2??) return ;;
	401|403|404) skip "the API answered $code ($(reason)): pull requests of forks have a token that cannot" \
	    'write; for others, add "permissions: pull-requests: write" to the job' ;;
	*) skip "the API answered $code ($(reason))" ;;
	esac
}

reason() {
	scalars <"$work/reply" | awk -F '\t' '$1 == "message" { print substr($2, 1, 200); exit }'
}

# mine MARKER: of a page of comments, print how many there are, and the id of the
# first that begins with the marker.  Somebody else could copy the marker and later
# edit what we write there: only comments of bots and members of the repository count.
mine() {
	scalars <"$work/reply" | awk -F '\t' -v marker="$1" '
	function check() {
		if (id != "" && found == "" && ours && trusted)
			found = id
		id = ""
		ours = trusted = 0
	}
	{ split($1, at, "/"); field = substr($1, length(at[1]) + 2) }
	at[1] "" != last "" { check(); last = at[1]; n++ }
	field == "id" { id = $2 }
	field == "user/type" && $2 == "Bot" { trusted = 1 }
	field == "author_association" && $2 ~ /^(OWNER|MEMBER|COLLABORATOR)$/ { trusted = 1 }
	field == "body" {
		gsub(/\\u003[cC]/, "<", $2)
		gsub(/\\u003[eE]/, ">", $2)
		ours = index($2, marker) == 1
	}
	END { check(); print n + 0, found }'
}

# find_comment MARKER: sets $id, empty if there is none
find_comment() {
	page=1 id=
	while [ "$page" -le "$pages_max" ]; do
		api GET "issues/$number/comments?per_page=100&page=$page"
		read -r count id <<EOF
$(mine "$1")
EOF
		[ -z "$id" ] && [ "$count" -ge 100 ] || return 0
		page=$((page + 1))
	done
}

# payload MARKER: the JSON text that creates or updates the comment
payload() {
	{
		printf '%s\n' "$1"
		printf '[Run %s](%s/%s/actions/runs/%s) of %.12s\n\n' "${GITHUB_RUN_NUMBER-}" \
		    "${GITHUB_SERVER_URL-}" "$GITHUB_REPOSITORY" "${GITHUB_RUN_ID-}" "${head:-${GITHUB_SHA-}}"
		cat "$body"
	} | head_lines "$comment_max" | tr -d '\000-\010\013-\037\177' | awk '
	    BEGIN { printf "{\"body\":\"" }
	    { gsub(/\\/, "&&"); gsub(/"/, "\\u0022"); gsub(/\t/, "\\t"); printf "%s\\n", $0 }
	    END { print "\"}" }'
}

# event FIELD: a value of the event that started the workflow
event() {
	scalars <"$GITHUB_EVENT_PATH" | awk -F '\t' -v field="$1" '$1 == field { print $2; exit }'
}

comment() {
	directory=${WAZA_DIRECTORY-}
	case ${INPUT_COMMENT-},${INPUT_SHARDS-} in
	false,*|,*|*,[0-9]*) exit 0 ;;
	*[!A-Za-z0-9._-]*,*) skip 'the input comment is wrong' ;;
	esac
	case ${GITHUB_EVENT_NAME-} in
	pull_request|pull_request_target) ;;
	*) exit 0 ;;
	esac
	[ -n "$token" ] || skip 'there is no token, as for pull requests of forks'
	case $token in *[!A-Za-z0-9_.=/+-]*) skip 'the token has characters that no token has' ;; esac
	command -v curl >/dev/null || skip 'curl is not installed'
	case ${GITHUB_REPOSITORY-} in
	*[!A-Za-z0-9._/-]*|'') skip 'GITHUB_REPOSITORY is not OWNER/NAME' ;;
	esac
	number=$([ ! -r "${GITHUB_EVENT_PATH-}" ] || event number)
	case $number in
	''|*[!0-9]*) skip 'the event has no number of a pull request' ;;
	esac
	head=$(event pull_request/head/sha)
	case $head in *[!0-9a-f]*) head= ;; esac
	[ -n "${GITHUB_API_URL-}" ] || skip 'GITHUB_API_URL is not set'
	url=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY
	work=$(mktemp -d "$temp/waza-comment.XXXXXX") || skip "cannot write to $temp"
	trap 'rm -rf "$work"' EXIT
	key=$(printf '%s\n' "${INPUT_COMMENT-}" "${INPUT_SUITE-}" "${INPUT_EXECUTOR-}" "${INPUT_MODEL-}" | cksum)
	[ "$INPUT_COMMENT" = true ] || key=$INPUT_COMMENT
	marker="<!-- waza-action ${key% *} -->"
	find_comment "$marker"
	body=$directory/body.md state=$(cat "$directory/status" 2>/dev/null)
	if [ -z "$directory" ] || [ ! -s "$body" ]; then
		body=$work/body.md state=none
		echo 'waza could not be installed, or its run left no report. See the log of the job.' >"$body"
	fi
	case $id,$state in
	,unchanged|,none) exit 0 ;;	# only update a comment that exists
	esac
	payload "$marker" >"$work/payload"
	if [ -n "$id" ]; then
		api PATCH "issues/comments/$id" "$work/payload"
	else
		api POST "issues/$number/comments" "$work/payload"
	fi
}

case ${1-} in
install|run|comment) "$1" ;;
*)	echo 'usage: action.sh install|run|comment' >&2
	exit 2 ;;
esac

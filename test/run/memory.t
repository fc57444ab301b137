# A run of one plain task has less than two thirds of the program's code in memory:
# the modules that it executes are linked side by side (DESIGN.md, section 13).  If this
# fails, a module that such a run executes is in a list *_MORE.
. "${0%/*}/../tool/lib.sh"
[ -r /proc/self/smaps ] || skip_all '/proc/PID/smaps is missing'
! grep -q '__asan_init\|__gcov_init' "$WAZA" || skip_all 'each module has a constructor that runs at start'
cd "$tmp" || exit 1
cat >eval.yaml <<'YAML'
name: hello
skill: greeting
config: {executor: mock}
hooks: {after_run: [{command: 'cat "/proc/$PPID/smaps" >"$SMAPS"'}]}
tasks:
  - id: greet
    prompt: Say hello to Ada.
    graders: [{type: text, config: {contains: [Ada]}}]
YAML
SMAPS=$tmp/smaps
export SMAPS
run "$WAZA" run eval.yaml
# the mapping of code: "A-B r-xp OFFSET DEVICE INODE PATH", "Size: N kB", "Rss: N kB"
code=$(awk -v p="$(readlink -f "$WAZA")" '
	/^[0-9a-f]+-/ { in_code = $2 ~ /x/ && $6 == p }
	in_code && $1 == "Size:" { size += $2 }
	in_code && $1 == "Rss:" { rss += $2 }
	END { print size + 0, rss + 0 }' smaps)
size=${code% *} rss=${code#* }
[ "$rc" != 0 ] || [ "$size" -gt 0 ] || skip_all 'the program is not a file in memory'
is 'the run' 0 "$rc"
echo "# $rss of $size KiB of code"
ok 'a part of the code is in memory' [ "$((rss * 3))" -lt "$((size * 2))" ]
done_testing

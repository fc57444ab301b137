# files.sh: sourced after lib.sh by the rule tests.  $sources are the C files of
# the product, $tests those of the tests; counted, so that a rule cannot pass by
# looking at nothing.
cd "$top" || exit 1
folders='base lib lib/yaml lib/bpe lib/re lib/schema lib/py lib/gzip lib/mask lib/markdown io mock suite skill
    results results/meet results/merge results/suspect agent agent/proto agent/small grade run run/control run/taint report report/compare report/control report/explain report/matrix report/small otlp rpc rpc/small web editor cmd cmd/client cmd/editor cmd/full cmd/mock cmd/run cmd/scale cmd/server cmd/skill cmd/small'
sources=$(for d in . $folders; do ls "$d"/*.[ch] 2>/dev/null; done | sed 's|^\./||')
tests=$(ls test/tool/*.[ch] test/unit/*/*.[ch] test/fuzz/*.c)

# looked_at N: the rule of this file has looked at N files
looked_at() {
	ok "looked at $1 files" [ "$1" -ge 300 ]
}
# shellcheck disable=SC2086 # a list of words
count() { set -- $*; echo $#; }

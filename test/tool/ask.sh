# ask.sh: sourced after lib.sh by tests that run one suite after another.  The test
# defines suite(), which prints a suite, and creates the directory tmp.

# ask ARGUMENT...: run the suite that suite() prints for the arguments; sets $rc,
# $out and $err and writes the results to r, floods of zeros in short: shells take
# seconds to match megabytes
ask() {
	suite "$@" >e.yaml
	run "$WAZA" run -q -o r.json e.yaml
	"$WAZA" parse r.json | sed 's/0\{100,\}/0/g' >r
}

# has NAME PATTERN: the results match
has() {
	like "$1" "*$2*" "$(cat r)"
}

# fails NAME CLASS WORDS ARGUMENT...: the trial ends with an error of this class
# and leaves no files
fails() {
	name=$1 class=$2 words=$3
	shift 3
	ask "$@"
	is "$name: status" 1 "$rc"
	has "$name: class" "\"error_class\":\"$class\""
	has "$name: words" "$words"
	is "$name: no files are left" '' "$(ls tmp)"
}

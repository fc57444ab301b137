#!/bin/sh
# waza new eval for every public SKILL.md: the suite is valid, passes with mock,
# and a second call changes nothing.
. "${0%/*}/../tool/lib.sh"
[ -d "$CORPUS/skills" ] || skip_all 'no public skills'
cd "$tmp" || exit 1

# T_SLOW: a checker makes each call take seconds
step=1
[ -z "${T_SLOW:-}" ] || step=25

# one FILE: prints what went wrong
one() {
	name=${1%/SKILL.md}
	name=${name##*/}
	mkdir -p "w/skills/$name" && cp "$1" "w/skills/$name/" && cd w || return
	if "$WAZA" new eval "$name" --executor mock >../out 2>&1
	then
		"$WAZA" validate --strict "evals/$name" >../out 2>&1 ||
		    { echo "$1: validate"; cat ../out; }
		"$WAZA" run -q "evals/$name" -o ../r.json >../out 2>&1 ||
		    { echo "$1: run"; cat ../out; }
		cp -R evals ../before
		"$WAZA" new eval "$name" >../out 2>&1 || echo "$1: again"
		diff -r evals ../before
	else
		# only what cannot be read is refused, with its place
		grep -q 'SKILL.md:[0-9]*:[0-9]*: ' ../out || cat ../out
		refused=$((refused + 1))
	fi
	cd .. && rm -rf w before
}

find "$CORPUS/skills" -name SKILL.md | sort | awk "NR % $step == 0" >list
n=0 refused=0 bad=
while read -r f
do
	n=$((n + 1))
	one "$f" >said 2>&1 || true
	bad=$bad$(cat said)
done <list
is "$n suites are valid, pass and stay" '' "$bad"
ok 'most skills can be read' [ $((refused * 10)) -le "$n" ]
ok 'there are skills' [ "$n" -ge 1 ]
done_testing

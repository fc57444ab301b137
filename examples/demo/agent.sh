#!/bin/sh
# A small agent: if it has the skill, it answers with the fact of the topic that
# the question contains; otherwise it does not know.
read -r question
facts=$(sed -n 's/^- //p' "${WAZA_SKILLS:-.}/SKILL.md" 2>/dev/null)
answer=$(printf '%s\n' "$facts" | while IFS=: read -r topic fact
do
	case $question in
	*"$topic"*) echo "The answer is:$fact." ;;
	esac
done)
echo "${answer:-I am not sure; please ask the shop.}"

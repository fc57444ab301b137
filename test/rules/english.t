# The English of comments, messages and documents: phrases that made it hard to
# read do not come back.  A phrase that is right in one place is written another
# way there, too.
. "${0%/*}/../tool/lib.sh"
. "$top/test/rules/files.sh"
documents="README.md DESIGN.md CHANGES.md SECURITY.md $(ls man/*.[1-9] page/*.js page/*.html page/*.css examples/*.sh \
    examples/*/*.sh examples/*/*.yaml | tr '\n' ' ')"
scripts=$(ls test/*/*.t test/tool/*.sh | grep -v 'rules/english.t')

# refuse PATTERN: no line of sources, documents and tests matches it; case-insensitive,
# but for the words at the beginning of a sentence
refuse() {
	# shellcheck disable=SC2086 # lists of words
	is "not written: $1" '' "$(grep -nE${2-i} "$1" $sources $documents $tests $scripts |
	    grep -viE 'is no (longer|more than)|there (is|are|was|were) no |What is (the capital|2)|this is no JSON' | cut -c1-120)"
}
refuse '(^|[^a-z])(is|are|was|were) no [a-z]'
refuse '(^|[^a-z])(stands|goes on|went on|is told|are told|sent away|as they come)([^a-z_]|$)'
refuse '(^|[^a-z])(of ours|of theirs|it would take|as good as (absent|not))([^a-z]|$)'
refuse '(^|[.;:*"] *)(What|Who) (is|are|was|has|goes|comes|stays) ' n
refuse '(^|[^a-z])may have [0-9]'
refuse '(^|[^a-z])(by and by|in any case:|is content)([^a-z]|$)'
# shellcheck disable=SC2086
looked_at "$(count $sources $documents $tests $scripts)"
done_testing

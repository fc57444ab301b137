#!/bin/sh
# {"text": "one two three"} on stdin, {"words": 3} on stdout.
text=$(sed 's/.*"text":"\([^"]*\)".*/\1/')
# shellcheck disable=SC2086 # words are what is counted
set -- $text
echo "{\"words\": $#}"

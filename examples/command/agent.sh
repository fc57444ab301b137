#!/bin/sh
# A simple agent: reads a prompt, follows it, answers.
read -r verb rest
case $verb in
add)      # shellcheck disable=SC2086 # two numbers
          set -- $rest; echo "The sum is $(($1 + $2))." ;;
multiply) # shellcheck disable=SC2086
          set -- $rest; echo "The product is $(($1 * $2))." ;;
note)     echo "$rest" >note.txt; echo "Noted." ;;
*)        echo "I do not know how to $verb." >&2; exit 1 ;;
esac

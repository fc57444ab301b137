#!/bin/sh
# Reads a question, answers with a verdict, as a model would.
if sed -n '/^BEGIN ANSWER/,/^END ANSWER/p' | grep -q 'Dear Ada'
then echo '{"passed": true, "score": 0.9, "reason": "Ada is dear to it."}'
else echo '{"passed": false, "score": 0.1, "reason": "This is cold."}'
fi

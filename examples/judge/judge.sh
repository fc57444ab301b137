#!/bin/sh
# Reads a question and answers with a verdict, like a model.
if sed -n '/^BEGIN ANSWER/,/^END ANSWER/p' | grep -q 'Dear Ada'
then echo '{"passed": true, "score": 0.9, "reason": "Ada is dear to it."}'
else echo '{"passed": false, "score": 0.1, "reason": "This is cold."}'
fi

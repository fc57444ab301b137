#!/bin/sh
# An agent that knows one fix.  Like a real one, it reads its prompt from stdin
# and works in its working directory.
cat >/dev/null
sed 's/Collections\.sort(names)/names.sort(null)/' Names.java >Names.new &&
    mv Names.new Names.java
echo 'Names.java sorts its list itself now.'

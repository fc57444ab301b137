#!/bin/sh
# An agent that knows one fix.  A real one reads its prompt from stdin, too,
# and works in the directory that it is started in.
cat >/dev/null
sed 's/Collections\.sort(names)/names.sort(null)/' Names.java >Names.new &&
    mv Names.new Names.java
echo 'Names.java sorts its list itself now.'

# The agent of this example: a script that runs two commands.  A real agent also
# gets the MCP server "tickets"; a program of a suite finds it in the file that
# WAZA_MCP_CONFIG names.
gh pr list --json number,title
echo
gh pr comment 7 --body 'release note: the login works again'

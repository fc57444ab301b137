# waza config: settings from all sources, and the source of each.
. "${0%/*}/../tool/lib.sh"
cd "$top" || exit 1

# the manual has every setting and every variable
"$WAZA" config --format json >"$tmp/all" || exit 1
sed -n 's/^  "\([A-Za-z_.]*\)":.*/\1/p' "$tmp/all" | while read -r key
do grep -q "^\.It Va $key\|^\.Va $key$" man/waza-config.5 || echo "$key"
done >"$tmp/missing"
is 'waza-config(5) has every setting' '' "$(cat "$tmp/missing")"
sed -n 's/^	{ "\(WAZA_[A-Z_]*\)".*/\1/p' suite/config_layer.c | while read -r v
do grep -q "^\.It Ev $v" man/waza-config.5 || echo "$v"
done >"$tmp/missing"
is 'waza-config(5) has every variable' '' "$(cat "$tmp/missing")"

for v in $(env | sed -n 's/^\(WAZA_[A-Z_]*\)=.*/\1/p')
do unset "$v"
done
HOME=$tmp/home
export HOME
mkdir -p "$HOME/.waza" "$tmp/p/sub/deep" || exit 1
cd "$tmp/p/sub/deep" || exit 1

# source KEY ARGUMENT...: "value # source" of a setting
source_of() {
	key=$1
	shift
	"$WAZA" config "$@" | sed -n "s/^$key  *= //p" | tr -s ' '
}

run "$WAZA" config
is 'without any settings: status' 0 "$rc"
is 'without any settings: all are defaults' '' \
    "$(printf '%s\n' "$out" | grep -v '  # default$')"
is 'without any settings: nothing on stderr' '' "$err"
is '--show is the same' "$out" "$("$WAZA" config --show)"

# precedence of sources
is 'the default' '9000 # default' "$(source_of port)"
echo 'port: 1' >"$HOME/.waza/config"
is "the user's file" "1 # $HOME/.waza/config:1:7" "$(source_of port)"
printf 'defaults: {workers: 2}\nport: 2\n' >"$tmp/p/.waza.yaml"
WAZA_TRUST_PROJECT=1	# trust.t tests files without trust
export WAZA_TRUST_PROJECT
is "the project's file" '2 # ../../.waza.yaml:2:7' "$(source_of port)"
echo '{"port": 3}' >named.json
is '--config-path' '3 # named.json:1:10' "$(source_of port --config-path named.json)"
WAZA_CONFIG=named.json
export WAZA_CONFIG
is 'WAZA_CONFIG' '3 # named.json:1:10' "$(source_of port)"
echo 'port: 33' >other.yaml
is '--config-path takes precedence over WAZA_CONFIG' '33 # other.yaml:1:7' \
    "$(source_of port --config-path other.yaml)"
WAZA_PORT=4
export WAZA_PORT
is 'WAZA_PORT takes precedence over files' '4 # WAZA_PORT' "$(source_of port)"
is '--config-json' '5 # --config-json:1:10' "$(source_of port --config-json '{"port": 5}')"
is 'null removes the values of lower sources' '9000 # default' \
    "$(source_of port --config-json '{"port": null}')"
unset WAZA_CONFIG WAZA_PORT
WAZA_HOME=$tmp/elsewhere
export WAZA_HOME
mkdir "$WAZA_HOME"
echo 'model: m' >"$WAZA_HOME/config.yaml"
is 'WAZA_HOME/config.yaml is read' "\"m\" # $WAZA_HOME/config.yaml:1:8" "$(source_of model)"
unset WAZA_HOME
is 'without WAZA_HOME it is not read' '"" # default' "$(source_of model)"

# merging
cat >"$HOME/.waza/config" <<'YAML'
limits: {runs: 1, depth: 2}
roots: [/x, /y]
tools:
  t: {command: [cat], description: one}
  u: {command: [cat]}
YAML
cat >"$tmp/p/.waza.yaml" <<'YAML'
limits: {runs: 3}
roots: [/z]
tools:
  t: {description: two}
  u: null
YAML
is 'mappings merge, lists replace, null deletes' 'roots ["/z"] ../../.waza.yaml:2:8
tools.t.command ["cat"] config:4:16
tools.t.description "two" ../../.waza.yaml:4:20
limits.depth 2 config:1:26
limits.runs 3 ../../.waza.yaml:1:16' "$("$WAZA" config | grep -v '# default$' |
    sed "s| *= *| |; s| *# *| |; s|$HOME/.waza/||")"
run "$WAZA" config --format json
if command -v python3 >/dev/null
then
	is 'JSON' '{"source": "../../.waza.yaml:1:16", "value": 3}' \
	    "$(printf '%s' "$out" | python3 -c 'import json, sys
print(json.dumps(json.load(sys.stdin)["limits.runs"], sort_keys=True))')"
else skip 'no python3'
fi
ok '--format json prints valid JSON' sh -c "'$WAZA' config --format json | '$WAZA' parse --json - >'$tmp/parsed'"

# errors
bad() {
	printf '%b' "$2" >x.yaml
	run "$WAZA" config --config-path x.yaml
	is "$1" "$3" "$err"
	is "$1: status" 2 "$rc"
	is "$1: no data" '' "$out"
}
bad 'wrong types' 'port: x\nlimits: {runs: [1]}\nallow_remote: 3\n' \
'x.yaml:1:7: "port" must be a whole number, not a string
x.yaml:2:16: "runs" must be a whole number, not a list
x.yaml:3:15: "allow_remote" must be true or false, not a number'
bad 'bad YAML' 'port: 1\nport: 2\n' 'x.yaml:2:1: key "port" is set twice (first at line 1)'
bad 'an invalid address' 'listen: [tcp:localhost]\n' 'x.yaml:1:10: "localhost" is not HOST:PORT'
bad 'a tool without a command' 'tools: {a: {}}\n' 'x.yaml:1:12: tool "a": "command" is missing'
rm -f x.yaml
run "$WAZA" config --config-path x.yaml
is 'no such file' 'x.yaml: No such file or directory; check the path' "$err"
is 'no such file: status' 2 "$rc"
run env WAZA_TIMEOUT=soon "$WAZA" config
is 'a bad variable' 'WAZA_TIMEOUT: "timeout_seconds" must be a whole number, not a string' "$err"
is 'a bad variable: status' 2 "$rc"
run "$WAZA" config
is 'token limits have their defaults' 'tokens.fallbackLimit = 2000
tokens.warningThreshold = 500' \
    "$(printf '%s\n' "$out" | sed -n 's/ *#.*//; s/  *=  */ = /; /^tokens\.[wf]/p' | sort)"
run "$WAZA" config --config-json '{"prot": 1}'
is 'an unknown key: status 0' 0 "$rc"
is 'an unknown key: warning' '--config-json:1:2: warning: unknown key "prot" (did you mean "port"?)' "$err"
run "$WAZA" config --format yaml
is 'unknown format: status 2' 2 "$rc"

# keys of suites and of the original in project settings
cat >"$tmp/p/.waza.yaml" <<'YAML'
paths: {skills: s/}
defaults: {engine: mock, workers: 4}
cache: {enabled: false}
server: {port: 3000}
dev: {target: high}
tokens: {warningThreshold: 5}
graders: {programTimeout: 3}
storage: {enabled: false}
YAML
run "$WAZA" config
is 'keys of suites in a project: no warning' '' "$err"
is 'keys of suites in a project: status' 0 "$rc"
rm "$tmp/p/.waza.yaml"
: >"$HOME/.waza/config"

# the token: its source is shown, its value is not
run env WAZA_AUTH_TOKEN=CANARY-1 "$WAZA" config
is 'a token of the environment' 'token = (hidden) # WAZA_AUTH_TOKEN' \
    "$(printf '%s\n' "$out" | grep '^token ' | tr -s ' ')"
is 'a token of the environment: not shown' '' "$(cat "$tmp/out" "$tmp/err" | grep CANARY)"
echo CANARY-2 >tok
chmod 600 tok
WAZA_TOKEN_FILE=tok
export WAZA_TOKEN_FILE
run "$WAZA" config --format json
is 'a token of a file: status' 0 "$rc"
is 'a token of a file: source' '{"value":null,"source":"tok","hidden":true}' \
    "$("$WAZA" config --format json | "$WAZA" parse --json - |
    sed -n 's/.*"token":\({[^}]*}\).*/\1/p')"
is 'a token of a file: not shown' '' "$(cat "$tmp/out" "$tmp/err" | grep CANARY)"
for mode in 640 604 666
do
	chmod $mode tok
	run "$WAZA" config
	is "a token file of mode $mode: status" 2 "$rc"
	is "a token file of mode $mode" "waza: tok: other users can read or write it (mode 0$mode); run chmod 600 on it and use a new token" "$err"
	is "a token file of mode $mode: not shown" '' "$(cat "$tmp/out" "$tmp/err" | grep CANARY)"
done
unset WAZA_TOKEN_FILE
run env WAZA_AUTH_TOKEN= "$WAZA" config
is 'an empty token' 2 "$rc"
for text in 'token: CANARY-3' 'auth: {token: CANARY-3}' 'executors: {e: {api_key: CANARY-3}}' \
    'token: [CANARY-3' 'executors: {e: {headers: {Authorization: CANARY-3}}}'
do
	printf '%s\n' "$text" >x.yaml
	run "$WAZA" config --config-path x.yaml
	is "refused: $text" 2 "$rc"
	like "refused, with its place: $text" 'x.yaml:[12]:*' "$err"
	is "not repeated: $text" '' "$(cat "$tmp/out" "$tmp/err" | grep CANARY)"
done
printf 'executors: {e: {headers: {x-org: CANARY-4}, env: {K: CANARY-4}}}\n' >x.yaml
run "$WAZA" config --config-path x.yaml
is 'headers and variables are hidden' '' "$(cat "$tmp/out" "$tmp/err" | grep CANARY)"
is 'headers and variables are listed as hidden' 2 "$(printf '%s\n' "$out" | grep -c '= (hidden)')"

# hostile files
dd if=/dev/zero bs=1000000 count=17 2>/dev/null | tr '\0' '#' >x.yaml
run "$WAZA" config --config-path x.yaml
is 'a file of 17 MB' 'x.yaml: larger than 16777216 bytes' "$err"
is 'a file of 17 MB: status' 2 "$rc"
dd if=/dev/zero bs=1000000 count=1 2>/dev/null | tr '\0' '[' >x.yaml
run "$WAZA" config --config-path x.yaml
is 'a million brackets: status' 2 "$rc"
like 'a million brackets: place' 'x.yaml:1:*' "$err"
awk 'BEGIN { for (i = 0; i < 50000; i++) print "k" i ": {a: 1}" }' >x.yaml
run "$WAZA" config --config-path x.yaml
is 'fifty thousand unknown keys: status' 0 "$rc"
is 'fifty thousand unknown keys: warnings are limited' 10001 "$(printf '%s\n' "$err" | wc -l | tr -d ' ')"
# the settings of seeds/003
cat >kaiak.json <<'EOT'
{
  "model": {
    "provider": "openai",
    "model_id": "gpt-4",
    "temperature": 0.1
  },
  "workspace": {
    "working_dir": "/home/user/project"
  },
  "init_config": {
    "transport": "socket",
    "socket_path": "/tmp/kaiak.sock"
  }
}
EOT
run "$WAZA" config --config-path kaiak.json
is 'seeds/003: no warning' '0 ' "$rc $err"
is 'seeds/003: model' '"gpt-4" # kaiak.json:4:17' "$(source_of model --config-path kaiak.json)"
is 'seeds/003: provider' '"openai" # kaiak.json:3:17' \
    "$(source_of sessions.provider --config-path kaiak.json)"
is 'seeds/003: temperature' '0.1 # kaiak.json:5:20' \
    "$(source_of sessions.temperature --config-path kaiak.json)"
is 'seeds/003: working_dir' '"/home/user/project" # kaiak.json:8:20' \
    "$(source_of sessions.working_dir --config-path kaiak.json)"
is 'seeds/003: listen' '["unix:/tmp/kaiak.sock"] # kaiak.json:12:20' \
    "$(source_of listen --config-path kaiak.json)"
is 'seeds/003: --config-json overrides single members' '"o3" # --config-json:1:22' \
    "$(source_of model --config-path kaiak.json --config-json '{"model":{"model_id":"o3"}}')"
is 'seeds/003: other members keep the values of the file' '"openai" # kaiak.json:3:17' \
    "$(source_of sessions.provider --config-path kaiak.json --config-json '{"model":{"model_id":"o3"}}')"
is 'seeds/003: both spellings can be mixed' '"o4" # --config-json:1:11' \
    "$(source_of model --config-path kaiak.json --config-json '{"model": "o4"}')"
is 'the key of waza takes precedence' '"b" # --config-json:1:55' \
    "$(source_of sessions.provider --config-json '{"model": {"provider": "a"}, "sessions": {"provider": "b"}}')"
is 'stdio' '["stdio"] # --config-json:1:29' \
    "$(source_of listen --config-json '{"init_config":{"transport":"stdio"}}')"
is 'a workspace as a string' '"/w" # --config-json:1:15' \
    "$(source_of sessions.working_dir --config-json '{"workspace": "/w"}')"
for t in '{"init_config":{"transport":"tcp"}}' '{"init_config":{"transport":"socket"}}' \
    '{"init_config":3}' '{"init_config":{"transport":"stdio"},"listen":["tcp"]}' \
    '{"model":{"temperature":2}}' '{"model":{"max_tokens":"x"}}' '{"model":{"provider":{}}}'
do
	run "$WAZA" config --config-json "$t"
	is "refused: $t" 2 "$rc"
done
run "$WAZA" config --config-json '{"model":{"modl":"x"}}'
like 'an unknown key is a warning' '*unknown key "modl"*' "$err"
done_testing

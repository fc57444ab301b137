# The API as OpenAPI against the routes, both ways, and /metrics.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
. "$top/test/tool/web.sh"

mkdir results
web --results-dir results
doc=$(get "$v1/openapi.json")
printf '%s' "$doc" >doc.json
ok 'the document is JSON' sh -c '"$WAZA" parse doc.json >/dev/null'
fits 'and OpenAPI' '{"openapi":"3.1.0","info":{"title":"waza","version":"*' "$doc"

# operations: lines "VERB PATH" of the document
"$WAZA" parse --pretty doc.json >pretty.json
awk '
	/^  "paths": / { on = 1; next }
	on && /^  [}"]/ { on = 0 }
	on && /^    "/ { split($0, w, "\""); path = w[2] }
	on && /^      "/ { split($0, w, "\""); print toupper(w[2]), path }' pretty.json |
    sort >described
# routes: the same from the tables in the source, without WebSockets
sed -n 's/.*{ WEB_\(GET\|POST\|PUT\|DELETE\|PATCH\), V1("\([^"]*\)").*/\1 \/api\/v1\2/p
    s/.*{ WEB_\(GET\|POST\|PUT\|DELETE\|PATCH\), "\(\/[^"]*\)".*/\1 \2/p' "$top"/web/*.c |
    sed 's|:\([a-z]*\)|{\1}|g' | sort >routes
ok 'the tables have routes' [ "$(grep -c . routes)" -ge 20 ]
is 'every route is described, and nothing else' "$(cat routes)" "$(cat described)"

# every path answers to its methods, and to no others
sed 's/^[A-Z]* //' described | sort -u | while read -r path
do
	at=$(echo "$path" | sed 's/{[a-z]*}/x/g')
	want=$(grep " $path\$" described | sed 's/ .*//' | sort | tr '\n' ' ')
	got=$(get -i -X OPTIONS "$at" | tr -d '\r' | sed -n 's/^Allow: //p' | tr ', ' '\n\n' |
	    grep -v 'OPTIONS\|HEAD' | grep . | sort | tr '\n' ' ')
	[ "$want" = "$got" ] || echo "$path: $want: $got"
done >allow
is 'the methods are those of the server' '' "$(cat allow)"

# a parameter that is described is known; another one is not
awk '
	/^    "\// { split($0, w, "\""); path = w[2] }
	/^      "/ { split($0, w, "\""); verb = w[2] }
	/^            "name": / { split($0, w, "\""); name = w[4] }
	/^            "in": "query"/ { print verb, path, name }' pretty.json >params
ok 'there are parameters' [ "$(grep -c . params)" -ge 8 ]
grep -v ' /api/runs ' params | while read -r verb path name
do
	at=$(echo "$path" | sed 's/{[a-z]*}/x/g')
	get -X "$(echo "$verb" | tr '[:lower:]' '[:upper:]')" "$at?$name=1&$name=1" |
	    grep -q "\"$name.*given twice" || echo "$path: $name"
done >unknown
is 'each one is read' '' "$(cat unknown)"
grep '^GET /api/v1' described | grep -v health | while read -r verb path
do
	at=$(echo "$path" | sed 's/{[a-z]*}/x/g')
	get "$at?undescribed=1" | grep -q 'undescribed.*is unknown' || echo "$path"
done >lax
is 'others are refused' '' "$(cat lax)"
like 'the body has the parameters of eval.run' '*"requestBody"*"path"*"trials"*' \
    "$(sed -n 's/.*"\/api\/v1\/runs":{\(.*\)"\/api\/v1\/runs\/{id}":.*/\1/p' doc.json)"

# numbers before and after a run
metric() {
	get /metrics | grep "^$1 " | sed 's/.* //'
}
is 'no runs yet' '0 0' "$(metric 'waza_runs_total{status="passed"}') $(metric 'waza_runs_total{status="failed"}')"
post evals/quick
ok 'a run ends' wait_until 120 over "$id"
is 'the run is counted' 1 "$(metric 'waza_runs_total{status="failed"}')"
is 'and its tasks' '4 1' "$(metric 'waza_tasks_total{status="passed"}') $(metric 'waza_tasks_total{status="failed"}')"
is 'and trials' '4 1' "$(metric 'waza_trials_total{status="passed"}') $(metric 'waza_trials_total{status="failed"}')"
is 'none is active' 0 "$(metric waza_runs_active)"
fits 'the type' '*Content-Type: text/plain; version=0.0.4; charset=utf-8*' "$(get -i /metrics)"
is 'each line is a comment or a sample' '' "$(get /metrics |
    grep -v '^# HELP [a-z_]* [^ ].*\.$\|^# TYPE [a-z_]* \(counter\|gauge\)$\|^[a-z_]*\({[a-z]*="[^"]*"}\)\{0,1\} [0-9.e+-]*$')"
is 'each sample has a type' '' "$(get /metrics | sed -n 's/^\([a-z_]*\)[ {].*/\1/p' | sort -u |
    while read -r m; do get /metrics | grep -q "^# TYPE $m " || echo "$m"; done)"
kill "$srv"
wait "$srv" 2>/dev/null

# both need the token
echo s3cret-s3cret-s3cret >token
chmod 600 token
web --token-file token
is 'metrics need the token' 401 "$(get -s /metrics | head -n 1)"
is 'the document, too' 401 "$(get -s "$v1/openapi.json" | head -n 1)"
is 'with it they are served' 200 "$(get -s -H 'Authorization: Bearer s3cret-s3cret-s3cret' /metrics | head -n 1)"
done_testing

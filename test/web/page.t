# The page: served without a token, identical to page/, with strict headers;
# its sources use only what the headers allow.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"

# fetch METHOD PATH [FIELD]: leaves fields and body
fetch() {
	printf '%s %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n%s\r\n' \
	    "$1" "$2" "$port" "${3:+$3$cr$lf}" | "$RPCPIPE" talk "$port" >answer
	sed '/^.$/,$d' answer | tr -d '\r' >fields
	awk 'on { exit } { n += length($0) + 1 } /^\r$/ { on = 1 }
		END { print n }' answer >skip
	dd if=answer of=body bs=1 skip="$(cat skip)" 2>/dev/null
}

cr=$(printf '\r') lf='
'
field() {
	sed -n "s/^$1: //p" fields
}

echo secret >token
chmod 600 token
: >log
"$WAZA" serve --http 127.0.0.1:0 --token-file token </dev/null >served 2>log &
srv=$!
wait_until 120 has log 'listening on'
port=$(sed -n 's/.*listening on http:.*:\([0-9]*\)$/\1/p' log)
listens

fetch GET /
is 'the page needs no token' 'HTTP/1.1 200 OK' "$(sed -n 1p fields)"
is 'its type' 'text/html; charset=utf-8' "$(field Content-Type)"
ok 'it is the file' cmp -s body "$top/page/index.html"
is 'its length' "$(wc -c <"$top/page/index.html" | tr -d ' ')" "$(field Content-Length)"
policy=$(field Content-Security-Policy)
for part in "default-src 'none'" "script-src 'self'" "style-src 'self'" \
    "connect-src 'self'" "base-uri 'none'" "form-action 'none'" \
    "frame-ancestors 'none'" "require-trusted-types-for 'script'"
do like "policy: $part" "*$part*" "; $policy;"
done
is 'policy: no exception' '' "$(echo "$policy" | grep -oE 'unsafe|http|\*|data:|blob:')"
is 'types are not sniffed' nosniff "$(field X-Content-Type-Options)"
is 'no referrer is sent' no-referrer "$(field Referrer-Policy)"
is 'not for other sites' same-origin "$(field Cross-Origin-Resource-Policy)"
is 'revalidated, since the program may be newer' no-cache "$(field Cache-Control)"

bad=
for f in "$top"/page/*.*
do
	case $f in
	*/theme.js) ;;
	*.js) continue ;;
	esac
	fetch GET "/page/${f##*/}"
	cmp -s body "$f" || bad="$bad ${f##*/}"
	case $f in
	*.js)  like "${f##*/}: a script" 'text/javascript*' "$(field Content-Type)" ;;
	*.css) is 'a style sheet' 'text/css; charset=utf-8' "$(field Content-Type)" ;;
	*.svg) is 'an icon' image/svg+xml "$(field Content-Type)" ;;
	esac
done
is 'every file of the page is there, byte for byte' '' "$bad"
is 'not compressed, but it could be' 'Accept-Encoding ' "$(field Vary) $(field Content-Encoding)"
fetch GET /page/style.css 'Accept-Encoding: deflate, GZIP'
is 'compressed where that is accepted' 'gzip Accept-Encoding text/css; charset=utf-8' \
    "$(field Content-Encoding) $(field Vary) $(field Content-Type)"
is 'compressed: its length' "$(wc -c <body | tr -d ' ')" "$(field Content-Length)"
if command -v gzip >/dev/null
then ok 'compressed: the content' sh -c 'gzip -dc <body | cmp -s - "$1"' sh "$top/page/style.css"
fi
for accept in 'gzip;q=0' br 'identity, gzip;q=0.0'
do
	fetch GET /page/style.css "Accept-Encoding: $accept"
	ok "not compressed: $accept" cmp -s body "$top/page/style.css"
done
fetch GET /page/app.js
like 'the modules: one script' 'text/javascript*' "$(field Content-Type)"
is 'the modules: each is in it, in the order of imports' '' "$(cd "$top/page" && ls ./*.js |
    sed 's|^\./\(.*\)\.js$|\1|' | grep -vx theme | while read -r m
    do [ "$(grep -c "^const m_$m = (() => {$" "$tmp/body")" -eq 1 ] || echo "$m"; done)"
is 'the modules: no import or export is left' '' "$(grep -nE '^(import|export) ' body)"
if command -v node >/dev/null
then cp body app.mjs; ok 'the modules: JavaScript' node --check app.mjs
else skip 'the modules: node is not installed'
fi
fetch HEAD /
is 'HEAD' 'HTTP/1.1 200 OK 0' "$(sed -n 1p fields) $(wc -c <body | tr -d ' ')"
fetch POST /
is 'POST' 'HTTP/1.1 405 Method Not Allowed' "$(sed -n 1p fields)"
for p in /page/ /page/dom.js /page/embed /page/none.js /page/..%2fweb.c /page/index.html/x
do
	fetch GET "$p"
	is "$p: there is none" 'HTTP/1.1 404 Not Found' "$(sed -n 1p fields)"
done
stop

# the sources: no external resources, no markup from text
cd "$top/page" || exit 1
is 'no address of anybody else' '' "$(grep -nE '(https?|wss?)://' ./*.js ./*.css \
    ./*.html | grep -vE 'www\.w3\.org/2000/svg|ws://\$\{location\.host\}')"
is 'no markup from text, no code from text' '' "$(grep -nE \
    'innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|DOMParser|srcdoc|javascript:' ./*.js ./*.html)"
is 'no script, style or handler within the markup' '' "$(grep -nE \
    '<script>|<style|[ "]on[a-z]+=| style=' index.html)"
is 'imports lead to files that are there' '' "$(sed -n "s/.*from '\.\/\(.*\)';$/\1/p" ./*.js |
    sort -u | while read -r f; do [ -f "$f" ] || echo "$f"; done)"
is 'no trailing blanks' '' "$(grep -nE '[ 	]+$' ./*)"
done_testing

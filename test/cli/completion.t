# waza completion: candidates, and the scripts in real shells.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir bin 'a dir' evals evals/speller
ln -s "$WAZA" bin/waza
PATH=$tmp/bin:$PATH
export PATH
cat >eval.yaml <<'YAML'
name: t
skill: s
tasks:
- {id: greet, name: Say hello, prompt: p, tags: [polite, short]}
- {id: 'two words', prompt: p, tags: [short]}
- {id: 'a:b', prompt: p}
YAML
cat >evals/speller/eval.yaml <<'YAML'
name: speller
skill: speller
tasks: [{id: spell, prompt: p}]
YAML

# offers NAME WANT WORD...: the candidates, and what the shell adds
offers() {
	offers_name=$1 offers_want=$2
	shift 2
	is "$offers_name" "$offers_want" "$(waza __complete -- "$@" | sed '1s/	.*/:/; s/	.*//' | tr '\n' ' ')"
}
offers 'commands' 'words: schema schema-check ' sch
offers 'the hidden command is not offered' 'words: ' __
offers 'options' 'words: --task --tags --trials --timeout --trust --token-file --transcript-dir ' run --t
offers 'options that were used are not offered again' 'words: --task --tags --trials --token-file --transcript-dir ' \
    run --timeout 3 --trust --t
offers 'words of an option' 'words: text json ' list --format ''
offers 'words of an option after =' 'words: --format=json ' list --format=j
offers 'executors' 'words: mock ' run --executor m
offers 'tasks' 'words: greet two words a:b ' run --task ''
offers 'tasks of the suite on the line' 'words: spell ' run evals/speller --task ''
offers 'tasks of a suite by name' 'words: spell ' run speller --task ''
offers 'tags, each once' 'words: polite short ' run --tags ''
offers 'files' 'files: ' run --output ''
offers 'directories' 'dirs: ' run --record ''
offers 'suites by name, and files' 'files: speller ' run sp
offers 'words of an operand' 'words: clear stats ' cache ''
offers 'no word where no operand is expected' 'words: ' cache clear ''
offers 'commands of help' 'words: validate version view ' help v
offers 'shells' 'words: bash fish zsh ' completion ''
offers 'schemas' 'words: eval ' schema e
offers 'after -- only operands' 'files: ' validate -- --st
offers 'an unknown command' 'words: ' nosuch ''
offers 'nothing' ''
is 'help of a candidate' 'greet	Say hello' "$(waza __complete -- run --task gr | sed -n 2p)"
is 'a whole line' '--task=two words' "$(waza __complete --line -- "waza run --task='two" | sed -n '2s/	.*//p')"
is 'a line with a backslash' '--task=two words' "$(waza __complete --line -- 'waza run --task=two\ w' | sed -n '2s/	.*//p')"
printf 'name: [\n' >bad.yaml
run waza __complete -- run bad.yaml --task ''
is 'a suite that cannot be read: no message' '0 words	' "$rc $out$err"
run waza completion csh
is 'an unknown shell: status' 2 "$rc"
like 'an unknown shell: message' '*bash*fish*zsh*' "$err"

# type.py SHELL... FIRST: a shell in a terminal reads FIRST, then each line of
# stdin and a tab.  The line is completed to "printf <%s> LINE", which prints what
# its words have become.
cat >type.py <<'PY'
import os, pty, re, select, sys, time

def read(until):
    text, end = b'', time.monotonic() + 120
    while until not in text and time.monotonic() < end:
        if select.select([fd], [], [], 1)[0]:
            try:
                text += os.read(fd, 4096)
            except OSError:
                break
    return text

pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:-1])
os.write(fd, sys.argv[-1].encode() + b"; printf '<%s>\\n' ready\n")
read(b'<ready>')
for line in sys.stdin.read().splitlines():
    os.write(fd, line.encode() + b"\t\x01printf '<%s>' \x05 \\=end=\n")
    text = read(b'<=end=>')
    print(b''.join(re.findall(rb'<[^<>%]*>', text)).decode().replace('<=end=>', ''))
os.kill(pid, 9)
os.waitpid(pid, 0)
PY
cat >bash.sh <<'SH'
# calls the function as bash would, with its own word breaks
source <(waza completion bash)
try() {
	local IFS=$' \t\n' line=$1 i
	COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=()
	while [[ -n $line ]]
	do
		if [[ $line =~ ^[[:space:]]+ ]]; then line=${line#"${BASH_REMATCH[0]}"}
			[[ -z $line ]] && COMP_WORDS+=('')
		elif [[ $line =~ ^[=:]+ || $line =~ ^[^=:[:space:]]+ ]]
		then COMP_WORDS+=("${BASH_REMATCH[0]}") line=${line#"${BASH_REMATCH[0]}"}
		fi
	done
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_waza waza
	echo "$1 -> ${COMPREPLY[*]}"
}
try 'waza sch'
try 'waza run --task gr'
try 'waza run --task a:'
try 'waza run --task=gr'
try 'waza run --task='
try 'waza run --record a'
try 'waza run sp'
try 'waza list --format=j'
SH
want='waza sch -> schema schema-check
waza run --task gr -> greet
waza run --task a: -> b
waza run --task=gr -> greet
waza run --task= -> greet two\ words a:b
waza run --record a -> a dir
waza run sp -> speller
waza list --format=j -> json'
if command -v bash >/dev/null
then
	is 'bash: the function' "$want" "$(bash --norc --noprofile bash.sh 2>&1)"
	all=/usr/share/bash-completion/bash_completion
	if [ -f $all ]
	then
		is 'bash: the function, with the package bash-completion' "$want" \
		    "$( (echo "source $all"; cat bash.sh) | bash --norc --noprofile 2>&1)"
	else
		skip 'no bash-completion'
	fi
else
	skip 'no bash'
fi
cat >typed <<'LINES'
waza schema-c
waza run --task gr
waza run --task tw
waza run --task=gr
waza run --task a
waza list --format=j
waza run --record a
waza validate ev
LINES
want='<waza><schema-check>
<waza><run><--task><greet>
<waza><run><--task><two words>
<waza><run><--task=greet>
<waza><run><--task><a:b>
<waza><list><--format=json>
<waza><run><--record><a dir>
<waza><validate><eval'
# typed NAME SHELL... FIRST: what the shell makes of the lines; the last is the
# common beginning of two files, or one of them
typed() {
	typed_name=$1
	shift
	is "$typed_name" "$want" "$(python3 type.py "$@" <typed | sed 's|/>|>|; $s/\(<eval\).*/\1/')"
}
TERM=dumb HOME=$tmp/home
export TERM HOME
mkdir -p home/.local/share/bash-completion/completions
waza completion bash >home/.local/share/bash-completion/completions/waza
if ! command -v python3 >/dev/null
then
	skip 'no python3'
else
	if command -v bash >/dev/null
	then typed 'bash: in a terminal' bash --norc --noprofile -i 'source <(waza completion bash)'
	fi
	if [ -f /usr/share/bash-completion/bash_completion ]
	then typed 'bash: loaded by the package bash-completion' bash --norc --noprofile -i \
	    'source /usr/share/bash-completion/bash_completion'
	fi
	if command -v zsh >/dev/null
	then typed 'zsh: in a terminal' zsh -f -i \
	    'bindkey -e; PROMPT=; autoload -U compinit; compinit -u -D; source <(waza completion zsh)'
	fi
fi
for shell in zsh fish
do
	if ! command -v $shell >/dev/null
	then
		skip "no $shell"
		continue
	fi
	waza completion $shell >script
	is "$shell: the script is well-formed" '' "$($shell -n script 2>&1)"
done
if command -v fish >/dev/null
then
	# fish_offers NAME WANT LINE
	fish_offers() {
		is "fish: $1" "$2" "$(XDG_CONFIG_HOME=$HOME fish --no-config -c \
		    'waza completion fish | source; complete -C $argv' "$3" | sort)"
	}
	fish_offers 'tasks' 'a:b	a:b
greet	Say hello
two words	two words' 'waza run --task '
	fish_offers 'words after =' '--format=json' 'waza list --format=j'
	fish_offers 'files' 'eval.yaml' 'waza validate eval.y'
fi
done_testing

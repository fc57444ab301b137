/* SPDX-License-Identifier: ISC */
/*
 * waza completion: prints a script that completes command lines of waza in a
 * shell.  The scripts ask `waza __complete` for candidates, so they fit every
 * version of the program.
 */
#include "waza.h"

#include <string.h>

/*
 * In bash "=" and ":" separate words, whatever the quotes; the candidates are
 * whole words, so the part before bash's own word is cut off.  Without
 * candidates bash completes file names by itself (-o default).
 */
static const char bash[] =
"# bash completion for waza\n"
"_waza()\n"
"{\n"
"	local line kind= whole= word cut= cur=${COMP_WORDS[COMP_CWORD]}\n"
"	COMPREPLY=()\n"
"	[[ $cur == [=:] ]] && cur=\n"
"	while IFS= read -r line\n"
"	do\n"
"		if [[ -z $kind ]]\n"
"		then\n"
"			kind=${line%%$'\\t'*} whole=${line#*$'\\t'}\n"
"			[[ $COMP_WORDBREAKS == *=* && $whole == --*=* ]] &&\n"
"			    cut=${whole%%=*}=\n"
"			[[ $COMP_WORDBREAKS == *:* && $whole == *:* ]] &&\n"
"			    cut=${whole%:*}:\n"
"			continue\n"
"		fi\n"
"		word=${line%%$'\\t'*}\n"
"		COMPREPLY+=(\"$(printf %q \"${word#\"$cut\"}\")\")\n"
"	done < <(\"$1\" __complete --line -- \"${COMP_LINE:0:COMP_POINT}\" 2>/dev/null)\n"
"	case $kind in\n"
"	words)\n"
"		compopt +o default +o bashdefault 2>/dev/null ;;\n"
"	dirs)\n"
"		compopt -o filenames 2>/dev/null\n"
"		while IFS= read -r word\n"
"		do COMPREPLY+=(\"$word\")\n"
"		done < <(compgen -d -- \"$cur\") ;;\n"
"	files)\n"
"		[[ ${#COMPREPLY[@]} -eq 0 ]] && return\n"
"		compopt -o filenames 2>/dev/null\n"
"		while IFS= read -r word\n"
"		do COMPREPLY+=(\"$word\")\n"
"		done < <(compgen -f -- \"$cur\") ;;\n"
"	esac\n"
"	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]\n"
"	then compopt -o nospace 2>/dev/null\n"
"	fi\n"
"}\n"
"complete -o bashdefault -o default -F _waza waza\n";

static const char zsh[] =
"#compdef waza\n"
"# zsh completion for waza\n"
"_waza()\n"
"{\n"
"	local -a lines list\n"
"	local line kind\n"
"	lines=(\"${(@f)$(\"${(Q)words[1]}\" __complete -- \\\n"
"	    \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
"	kind=${lines[1]%%$'\\t'*}\n"
"	for line in \"${(@)lines[2,-1]}\"\n"
"	do\n"
"		[[ -n $line ]] &&\n"
"		    list+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
"	done\n"
"	(( ${#list} )) && _describe -t values value list\n"
"	case $kind in\n"
"	files) _files ;;\n"
"	dirs) _files -/ ;;\n"
"	esac\n"
"}\n"
"if [[ $funcstack[1] == _waza ]]\n"
"then _waza \"$@\"\n"
"else compdef _waza waza\n"
"fi\n";

static const char fish[] =
"# fish completion for waza\n"
"function __waza_complete\n"
"	set -l words (commandline -opc) (commandline -ct)\n"
"	set -l lines ($words[1] __complete -- $words[2..-1] 2>/dev/null)\n"
"	test (count $lines) -gt 1; and printf '%s\\n' $lines[2..-1]\n"
"	switch \"$lines[1]\"\n"
"	case 'files*'\n"
"		__fish_complete_path (commandline -ct)\n"
"	case 'dirs*'\n"
"		__fish_complete_directories (commandline -ct) ''\n"
"	end\n"
"end\n"
"complete -c waza -f -a '(__waza_complete)'\n";

static const char *const shells[] = { "bash", "fish", "zsh" };
static const char *const scripts[] = { bash, fish, zsh };

static int
completion_main(struct cmd_call *c)
{
	struct buf out = { 0 };
	size_t i = 0;

	while (i < COUNTOF(shells) && strcmp(c->args[0], shells[i]) != 0)
		i++;
	if (i == COUNTOF(shells)) {
		err_set(c->err, ERR_SCHEMA, "unknown shell \"%.60s\": use "
		    "bash, fish or zsh", c->args[0]);
		return cmd_complain(c->err);
	}
	buf_puts(&out, scripts[i]);
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_completion = {
	.name = "completion", .usage = "bash|fish|zsh",
	.required = { "SHELL" }, .max = 1, .fn = completion_main,
	.help = "Print a script that completes command lines in a shell"
};

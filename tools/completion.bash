# Completes the words of tools/fathom in bash:  source tools/completion.bash
# Commands and options are read from fathom's --help.

_fathom_commands() {
	"$1" --help 2> /dev/null | sed -nE 's/^    ([a-z][a-z-]*)( .*)?$/\1/p'
}

_fathom_options() {
	"$1" "$2" --help 2> /dev/null | sed -n '/^usage:/,/^example:/s/^  \(-.*\)$/\1/p' | grep -oE '(^|[ ,])--?[A-Za-z][a-z-]*' | tr -d ' ,'
}

# The words that an option takes, if it says which: --of {calls,stacks}
_fathom_choices() {
	"$1" "$2" --help 2> /dev/null | sed -n "s/^  .*$3 {\([^}]*\)}.*/\1/p" | head -n 1 | tr ',' ' '
}

_fathom() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		words="$(_fathom_commands "$program") --help"
	elif [[ $word == -* ]]; then
		words=$(_fathom_options "$program" "$command")
	elif [[ $before == --?* ]] && words=$(_fathom_choices "$program" "$command" "$before") && [ -n "$words" ]; then
		:
	else
		case $command in
		perfetto | flame) words=live ;;
		perf) words="live record report script stat top" ;;
		*) words= ;;
		esac
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
	mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o filenames -F _fathom fathom tools/fathom

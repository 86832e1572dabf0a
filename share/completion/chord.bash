# SPDX-License-Identifier: MIT
# bash completion for chord(1). Commands, options and formats are those that the installed chord says it has.
# shellcheck shell=bash

# The commands, a line each.
_chord_commands()
{
	"$1" --help 2>/dev/null | sed -n 's/^  \([a-z+]\{2,\}\) .*/\1/p' | grep -vx chord
}

# The options of a command, a line each; those with a value end with =.
_chord_options()
{
	"$1" "$2" --help 2>/dev/null | grep -oE '^ {2,6}(-., )?--[a-z][a-z-]*(\[?=)?' | sed -E 's/^.*(--[a-z-]+)\[?(=?)$/\1\2/'
}

# The formats, a line each, of a command that has some.
_chord_formats()
{
	"$1" "$2" --help 2>/dev/null | sed -n '/^ *Formats:/,/^$/s/^  \([a-z0-9-]\{2,\}\)  .*/\1/p'
}

# The measures that -fchord= takes.
_chord_measures()
{
	"$1" cc --measures 2>/dev/null | sed 's/[ \t].*//'
}

_chord()
{
	local chord=$1 word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}

	COMPREPLY=()
	# = is a word of its own where bash breaks words at it.
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_chord_commands "$chord")" -- "$word")
		return
	fi
	case $before in
	--format | -f) mapfile -t COMPREPLY < <(compgen -W "$(_chord_formats "$chord" "$command")" -- "$word"); return ;;
	-fchord) mapfile -t COMPREPLY < <(compgen -W "$(_chord_measures "$chord")" -- "$word"); return ;;
	esac
	case $word in
	-*) mapfile -t COMPREPLY < <(compgen -W "$(_chord_options "$chord" "$command")" -- "$word") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$word"); compopt -o filenames 2>/dev/null || true; return ;;
	esac
	if [ "${#COMPREPLY[@]}" = 1 ] && [ "${COMPREPLY[0]%=}" != "${COMPREPLY[0]}" ]; then
		compopt -o nospace 2>/dev/null || true
	fi
}

complete -F _chord chord

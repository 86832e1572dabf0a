# SPDX-License-Identifier: MIT
# Rows of the files of results: words with tabs between them; the first line has the names of the columns. To be sourced, with
# "data" set to the folder of results.
tab=$(printf '\t')

# columns FILE NAME...: begins a file, unless it is there.
columns()
{
	[ -e "$data/$1" ] || put "$@"
}

# put FILE WORD...: a row more.
put()
{
	file=$data/$1
	shift
	echo "$*" | tr ' ' '\t' >>"$file"
}

# has FILE WORD...: is there a row that begins with these?
has()
{
	file=$data/$1
	shift
	[ -e "$file" ] || return 1
	WORDS="$(echo "$*" | tr ' ' '\t')$tab" awk '
		index($0, ENVIRON["WORDS"]) == 1 { found = 1; exit }
		END { exit !found }' "$file"
}

# rows FILE COMMAND...: takes the rows that a command prints, all or none. Status: the command's.
rows()
{
	file=$data/$1
	shift
	"$@" >"$file.new" || return 1
	cat "$file.new" >>"$file"
	rm "$file.new"
}

# fetched PROGRAM: is its source there? What cannot be had is left out: said, and status 1 at the end.
missing=
fetched()
{
	is_ours "$1" || "$real/recipe.sh" "$1" fetch >"$work/fetch.log" 2>&1 && return
	echo "paper: $1 is left out, it cannot be fetched: $(tail -n 1 "$work/fetch.log")" >&2
	missing="$missing $1"
	return 1
}

# progress WHAT: how far the step is, of $steps.
progress()
{
	step=$((step + 1))
	echo "paper: $step of $steps: $*" >&2
}

#!/bin/bash
# SPDX-License-Identifier: MIT
# What recording a run and replaying it cost in relation to the plain program: elapsed time, in turns. The table also has the size
# of the log, and the costs of strace -f, rr, and gdb's `record full`.
#
#	record.sh [--short] [--runs N] [--programs "A B"] [--work DIR]
#
# A table in Markdown: the ratio to the plain program's time, median of the pairs, least and most. The programs are the application
# runs of run.sh, built by gcc -O2, and three that make many system calls: `git` (makes a repository, fills it and looks at it),
# `files` (find, cat, sort), `threads` (mutexes and condition variables). --short: two pairs each.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
real=$(cd "$bench/../tests/real" && pwd)
: "${CHORD:=$bench/../build/chord}"
CHORD=$(realpath "$CHORD")
. "$real/lib.sh"
. "$bench/processor.sh"
. "$bench/builds.sh"
export CHORD_SMALL=1 CHORD_FILE=/dev/null GIT_CONFIG_GLOBAL=/dev/null
programs="bzip2 zlib ncompress sqlite3 grep lua5.4 zstd xz git files threads"
runs=5
work=$CHORD_CACHE/work/record
while [ $# -gt 0 ]; do
	case $1 in
	--short) runs=2 ;;
	--runs) runs=$2; shift ;;
	--programs) programs=$2; shift ;;
	--work) work=$2; shift ;;
	*) die "record.sh: what is $1?" ;;
	esac
	shift
done
rm -rf "$work"
mkdir -p "$work"
gcc -O2 -D_GNU_SOURCE -o "$work/pair" "$bench/pair.c"

# commands PROGRAM: a name and a command on each line, to be run in the current folder; recorded is what follows the first "./".
commands()
{
	case $1 in
	git)
		cp -r "$bench/../src" tree
		cat >git.sh <<-'END'
			#!/bin/sh
			rm -rf repo && mkdir repo && cp -r tree repo && cd repo && git init -q && git add . &&
			git -c user.name=a -c user.email=a@b commit -qm one && echo more >>tree/asm/asm.h && git status --short && git diff &&
			git log --stat | tail -1 && git gc -q && git grep -c struct | wc -l
		END
		chmod +x git.sh
		echo "git ./git.sh" ;;
	files)
		cp -r "$bench/../src" tree
		printf '#!/bin/sh\nfor i in 1 2 3; do find tree -type f | xargs cat | sort | uniq -c | wc -l; done\n' >files.sh
		chmod +x files.sh
		echo "files ./files.sh" ;;
	threads)
		g++ -O2 -w -pthread -o threads "$bench/../tests/replay/threads.cc"
		# it ends with status 3
		printf '#!/bin/sh\n./threads 20000; true\n' >threads.sh
		chmod +x threads.sh
		echo "threads ./threads.sh" ;;
	*)
		"$real/recipe.sh" "$1" fetch >"$work/fetch.log" 2>&1 || die "$1: cannot be fetched"
		built "$1" gcc
		"$real/recipe.sh" "$1" bench "$CHORD_CACHE/bench/$1/gcc" ;;
	esac
}

# ratio PLAIN OTHER RUNS: "median least most plain"
ratio() { "$work/pair" -e "$3" "cd $PWD && $1 >$work/output" "cd $PWD && $2 >$work/output" 2>"$work/pair.err" || echo "- - - -"; }

number() { [ "$1" = - ] && echo - || printf %.2f "$1"; }

cell() { awk '{ if ($1 == "-") print "-"; else printf "%.2f (%.2f-%.2f)", $1, $2, $3 }'; }

# row NAME COMMAND...
row()
{
	local name=$1 plain record replay stops made size strace=- log=$work/$1.log
	shift
	plain=$(number "$(ratio "$*" "$*" 1 | cut -d ' ' -f 4)")
	record=$(ratio "$*" "$(echo "$*" | sed "s|\./|$CHORD record -o $log ./|")" "$runs" | cell)
	# As often as the command runs the program.
	replay=$(ratio "$*" "$(echo "$*" | sed "s|\./[^;]*|$CHORD replay $log|")" "$runs" | cell)
	[ -s "$log" ] || { echo "| $name | $plain | not recorded: $(head -c 200 "$work/pair.err") |"; return; }
	made=$("$CHORD" replay --tally "$log" 2>&1 >"$work/output" |
		awk '/: thread [0-9]+: / { sub(/.*: thread [0-9]+: /, ""); n += $1 } END { print n }')
	size=$(stat -c %s "$log")
	! command -v strace >/dev/null ||
		strace=$(number "$(ratio "$*" "$(echo "$*" | sed "s|\./|strace -f -o /dev/null ./|")" 1 | cut -d ' ' -f 1)")
	stops=$(ratio "$*" "$(echo "$*" | sed "s|\./|$CHORD record --no-buffer -o $log ./|")" 1 | cut -d ' ' -f 1)
	printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$name" "$plain" "$record" "$replay" "$(number "$stops")" "$made" "$((size / 1024))" "$strace"
	rm -f "$log"
}

gdb_run()
{
	timeout 100 gdb -q -batch -nx -ex "set width 0" -ex "set record full insn-number-max unlimited" -ex "break main" \
		-ex "run -d -c tiny >output.gdb" "$@"
}

# gdb's own recording, of a little work: seconds and instructions.
gdb_full()
{
	local plain=$CHORD_CACHE/bench/bzip2/gcc/bzip2-static none full
	[ -x "$plain" ] || return 0
	head -c 300 "$bench/record.sh" | bzip2 >tiny
	export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX_Fast_Unaligned_Load,-ERMS LD_BIND_NOW=1
	TIMEFORMAT=%R
	none=$({ time gdb_run -ex "break _exit" -ex continue "$plain" >gdb.none 2>&1; } 2>&1)
	full=$({ time gdb_run -ex record -ex "break _exit" -ex continue -ex "info record" "$plain" >gdb.full 2>&1; } 2>&1)
	awk -v more="$(awk "BEGIN { print $full - $none }")" '/^Log contains/ { n = $3 }
		END {
			if (n)
				printf "gdb, record full: %d instructions in %.2f s more than without: %.0f ns each\n", n, more, more * 1e9 / n
			else
				print "gdb, record full: it could not record"
		}' gdb.full
}

processor
echo
echo "| program | plain, s | record | replay | record --no-buffer | system calls | log, KB | strace -f |"
echo "|---|---|---|---|---|---|---|---|"
for program in $programs; do
	mkdir "$work/$program"
	cd "$work/$program"
	commands "$program" >"$work/$program.commands"
	while read -r name command <&3; do
		row "$name" "$command"
	done 3<"$work/$program.commands"
done
echo
cd "$work"
if command -v rr >/dev/null; then
	rr record -n -o "$work/rr" true >rr.said 2>&1 && echo "rr: it can start here" || echo "rr cannot start: $(grep -m1 . rr.said)"
else
	echo "rr: not installed"
fi
! command -v gdb >/dev/null || gdb_full

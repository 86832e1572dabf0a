#!/bin/sh
# SPDX-License-Identifier: MIT
# What a trace costs.
#
#	trace.sh [--runs N] [--programs "A B"]
#
# Table 1: the ratio of elapsed time to the plain program's, in alternating runs, if the program packs its trace by itself; if
# another process does (chord trace --run); if only the last 64 MiB are kept, unpacked; and if witnesses, or each branch, are
# written in place of paths. Table 2: the same ratio of the user CPU time of all processes. Table 3: the bytes that the traces take
# on disk, by command.
set -eu
bench=$(cd "$(dirname "$0")" && pwd)
. "$bench/../tests/real/lib.sh"
programs="bzip2 zlib ncompress sqlite3 grep lua5.4 zstd xz" runs=5
while [ $# -gt 0 ]; do
	case $1 in
	--runs) runs=$2; shift ;;
	--programs) programs=$2; shift ;;
	*) echo "trace.sh: what is $1?" >&2; exit 2 ;;
	esac
	shift
done
work=$CHORD_CACHE/work/bench-trace

table()
{
	"$bench/run.sh" --work "$work" --runs "$runs" --programs "$programs" --columns "trace trace-run trace-last trace-witness trace-branches" "$@"
}

echo "Table 1: elapsed time"
table --elapsed
echo
echo "Table 2: CPU time"
table
echo
echo "Table 3: bytes of traces"
awk '{ size[$1 " " $2, $3] += $4; if (!seen[$1 " " $2]++) order[++n] = $1 " " $2 }
	END {
		m = split("trace trace-run trace-last trace-witness trace-branches", column)
		printf "%-14s", "command"
		for (k = 1; k <= m; k++)
			printf " %15s", column[k]
		for (i = 1; i <= n; i++) {
			printf "\n%-14s", order[i]
			for (k = 1; k <= m; k++)
				printf " %15d", size[order[i], column[k]]
		}
		printf "\n"
	}' "$work/sizes"

#!/bin/sh
# SPDX-License-Identifier: MIT
# What a trace costs.
#
#	trace.sh [--runs N] [--programs "A B"]
#
# Table 1: ratio of elapsed time to the plain program's, in alternating runs: the program packs its trace by itself; another process
# does (chord trace --run); only the last 64 MiB are kept, unpacked. Table 2: the same of user CPU time of all processes.
# Table 3: bytes that the traces take on disk, by command.
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
	"$bench/run.sh" --work "$work" --runs "$runs" --programs "$programs" --columns "trace trace-run trace-last" "$@"
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
		printf "%-14s %15s %15s %15s\n", "command", "trace", "trace-run", "trace-last"
		for (i = 1; i <= n; i++)
			printf "%-14s %15d %15d %15d\n", order[i], size[order[i], "trace"], size[order[i], "trace-run"], size[order[i], "trace-last"]
	}' "$work/sizes"

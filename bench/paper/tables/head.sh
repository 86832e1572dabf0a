# SPDX-License-Identifier: MIT
# What the page is, and on which machine it was measured.
cat <<'END'
# Optimally profiling, today

This page repeats the tables and figures of section 6 of Ball and Larus, *Optimally Profiling and Tracing Programs*
(TOPLAS 16(4), 1994), with Chord on today's programs. `make bench` writes it from the files in `bench/results`;
nobody edits it.

Increments are exact: they are the sum of the counters that a run leaves. Instructions are counted by callgrind. They
are those of the whole process, with its libraries and with what Chord does at its beginning and end (some 180,000).
Both repeat, and instructions repeat to the last one if folders have the same names. Times are user times, medians of
alternating runs.

| | redundant | optimal |
|---|---|---|
| the paper | *qpt*: a counter in every basic block | *qpt*: counters on the edges that a maximum spanning tree leaves |
| here | `-fchord=every-block` | `-fchord=edges`, the default |

END
awk -F '\t' '
	NR == 1 { next }
	{ is[$1, $2] = $3; if (!($2 in seen)) { seen[$2] = 1; what[++n] = $2 } }
	function on(step, w) { return ((step, w) in is) ? is[step, w] : "not measured" }
	END {
		printf "| measured | increments and instructions | time |\n|---|---|---|\n"
		for (i = 1; i <= n; i++)
			printf "| %s | %s | %s |\n", what[i], on("count", what[i]), on("time", what[i])
	}' "$data/machine.tsv"
cat <<'END'

Programs are built by gcc with -O2, and by clang for its own two ways to count. Sources are Debian's. The first eight
runs are those of `bench/run.sh`; they have less to do where instructions are counted. The others are recursion
(`bench/fib.c`), small procedures (`bench/small.c`), tight loops (`bench/loop/loops.c`), leveldb (C++: bloom_test is
counted, table_test is timed), a matrix product in Fortran (`bench/loop/dgemm.f90`), and zstd and xz where they were
measured. A dash stands for what was not measured or cannot be built so (clang has no Fortran).
END

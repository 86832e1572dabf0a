#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--mutations N] [--engine SECONDS] [--whole] [TARGET...] Runs fuzz targets. Without an engine it runs them on the kept
# corpus and on N mutations of each file (default 300). With --engine it uses libFuzzer (clang), for SECONDS each. The folder
# CHORD_FUZZ_WORK keeps what the engine finds, so runs add up. Two targets are programs of another kind: `damage` tries traces with
# each byte changed, cut off anywhere, and beside the profiles of others; `index` does the same with the indexes of traces (--whole:
# all of it, otherwise a sample).
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
: "${CHORD:=$top/build/chord}"
. "$here/../may.sh"
may trace || export ASAN_OPTIONS=detect_leaks=0 # the leak sanitizer traces
work=${CHORD_FUZZ_WORK:-$(mktemp -d)}
[ -n "${CHORD_FUZZ_WORK:-}" ] || trap 'rm -rf "$work"' EXIT
mutations=300 engine=0 whole=
while [ $# -gt 0 ]; do
	case $1 in
	--mutations) mutations=$2; shift 2 ;;
	--engine) engine=$2; shift 2 ;;
	--whole) whole=--whole; shift ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || set -- text weave map profile trace damage index graph unwind

# What is made of schemas lies beside the command.
made=$(dirname "$CHORD")/made
flags="-std=gnu11 -D_GNU_SOURCE -I$top/src -I$top -I$made -O1 -g -w"
libs=$(make -s -C "$top" libs)
sources=$(find "$top/src" "$made" -name '*.c' ! -path '*/tool/main.c')

# Traces of signals, jumps, threads, forks and of a collector (zstd), with the code that they are replayed with; words of outcomes.
traced()
{
	[ ! -e "$work/traced/ended" ] || return 0
	rm -rf "$work/traced" && mkdir "$work/traced" && (cd "$work/traced" && "$CHORD" cc -O1 -fchord=trace -o program "$here/traced.c" -lpthread &&
		CHORD_FILE=few.chord ./program 20 && CHORD_FILE=many.chord ./program && CHORD_FILE=last.chord CHORD_TRACE=last:256K ./program &&
		"$CHORD" trace --run -o run.chord ./program &&
		"$CHORD" cc -O1 -fchord=trace -fchord-trace=bits -o bits "$here/traced.c" -lpthread && CHORD_FILE=bits.chord ./bits 20 &&
		: >ended) >"$work/traced.log" 2>&1
}

# indexed ENCODING: two long traces of a program that has an index made of them
indexed()
{
	rm -rf "$work/indexed-$1" && mkdir "$work/indexed-$1" && (cd "$work/indexed-$1" &&
		"$CHORD" cc -O1 -g -fchord=trace -fchord-trace="$1" -o program "$here/indexed.c" -lpthread &&
		CHORD_FILE=one.chord ./program && CHORD_FILE=two.chord ./program 2) >"$work/index.log" 2>&1
}

# waiting FILE: FILE-MEASURE is the profile of a program that ended while a thread waited
waiting()
{
	printf '%s\n' '#include <pthread.h>' '#include <unistd.h>' 'void *f(void *a) { pause(); return a; }' \
		'int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); usleep(50000); return 0; }' >"$work/w.c"
	for measure in edges trace; do
		"$CHORD" cc -O2 -fchord=$measure -o "$work/w" "$work/w.c" -lpthread && (cd "$work" && CHORD_FILE=w.chord ./w) &&
			cp "$work/w.chord" "$1-$measure"
	done
}

# seeds TARGET DIR: the kept corpus, and what this machine's compiler makes
seeds()
{
	mkdir -p "$2"
	cp "$here/corpus/$1"/* "$2" 2>/dev/null
	case $1 in
	text)
		for o in -O0 -O2; do gcc $o -S -g -o "$2/buf$o.s" -D_GNU_SOURCE -I"$top/src" "$top/src/base/buf.c"; done
		cp "$top"/tests/fuzz/corpus/weave/*.s "$2" 2>/dev/null
		;;
	weave)
		for file in str pool diag; do
			gcc -O2 -S -o "$work/$file.s" -D_GNU_SOURCE -I"$top/src" "$top/src/base/$file.c"
		done
		cp "$top"/tests/hostile/byte*.s "$work"
		for file in str pool diag byte-jump byte-ret bytes-islands; do
			"$CHORD" show --pass=labels "$work/$file.s" >"$work/$file.l.s" && as --keep-locals -o "$work/$file.o" "$work/$file.l.s" &&
				{ cat "$work/$file.s"; printf '\377'; cat "$work/$file.o"; } >"$2/$file"
		done
		;;
	map | profile)
		printf 'int f(int a){return a?a*f(a-1):1;}int main(int c,char**v){return f(c)-1;}' >"$work/p.c"
		"$CHORD" cc -O2 -o "$work/p" "$work/p.c" && (cd "$work" && CHORD_FILE=p.chord ./p)
		if [ "$1" = map ]; then objcopy -O binary -j .pdr.chord.map --set-section-flags .pdr.chord.map=alloc "$work/p" "$2/p"; else cp "$work/p.chord" "$2/p"; fi
		[ "$1" = map ] || waiting "$2/waiting"
		;;
	trace)
		# Loops enough to fill segments. Rings are mostly zeros: what is behind the first segment is cut off in one of two.
		printf 'volatile int v;int f(int a){return a?a*f(a-1):1;}int main(void){for(int i=0;i<40000;i++)if(i%%3)v+=f(i%%5);}' >"$work/t.c"
		"$CHORD" cc -O2 -fchord=trace -o "$work/t" "$work/t.c" && (cd "$work" && CHORD_FILE=t.chord ./t) &&
			cp "$work/t.chord.trace" "$2/whole" && head -c 100000 "$2/whole" >"$2/short"
		traced && export TRACED=$work/traced/program TRACED_PROFILE=$work/traced/few.chord
		cp "$work"/traced/few*.trace "$work"/traced/last*.trace "$work"/traced/run*.trace "$2"
		;;
	damage) traced && cp "$work"/traced/*.trace "$2" ;;
	index) for encoding in paths ${whole:+witness bits}; do indexed $encoding && cp "$work/indexed-$encoding"/one*.trace "$2/$encoding"; done ;;
	graph) cp "$top"/tests/graph/*.graph "$2" ;;
	unwind)
		gcc -o "$work/rules" "$here/unwind.s"
		for file in "$work/rules" "$(gcc -print-file-name=libgcc_s.so.1)"; do
			objcopy -O binary -j .eh_frame_hdr -j .eh_frame "$file" "$2/$(basename "$file")"
		done
		;;
	esac
}

# unwinder COMPILER FLAGS OUT REST...: the runtime as it is, without sanitizers: it ends at a page that cannot be read. What its assembly
# has is not called.
unwinder()
{
	local compiler=$1 extra=$2 out=$3
	shift 3
	$compiler $flags $extra -I"$top/runtime/x86_64" -fno-strict-aliasing -mno-red-zone -ffunction-sections -c -o "$work/unwind.o" "$here/unwind.c" &&
		$compiler $flags "$@" -no-pie -Wl,--gc-sections \
			$(nm -u "$work/unwind.o" | awk '$1 == "U" && /chord_/ { print "-Wl,--defsym=" $2 "=0" }') -o "$out" "$work/unwind.o"
}

# compiled COMPILER SANITIZERS: all of Chord but main(), once for all targets, in $work/COMPILER.a.
compiled()
{
	[ -e "$work/$1.a" ] && return
	rm -rf "$work/$1"
	mkdir -p "$work/$1"
	# Files of different folders have one name.
	(echo "$sources" | awk '{ print NR ".o"; print }' |
		while read -r object && read -r source; do
			echo "$work/$1/$object $source $1 $flags -fsanitize=$2 -fno-sanitize-recover=undefined"
		done | xargs -L 1 -P 2 "$here/object.sh") || return 1
	[ ! -e "${CHORD_CACHE-}/objects" ] || find "$CHORD_CACHE/objects" -mtime +7 -delete
	ar rc "$work/$1.new" "$work/$1"/*.o && mv "$work/$1.new" "$work/$1.a"
}

# A sample: of a trace that is not packed, and of one that is.
damaged()
{
	local traces="few.chord run.chord"
	[ -z "$whole" ] || traces="few.chord last.chord many.chord run.chord"
	# shellcheck disable=SC2086
	compiled gcc address,undefined &&
		gcc $flags -fsanitize=address,undefined -fno-sanitize-recover=undefined -o "$work/damage" "$here/damage.c" "$work/gcc.a" $libs &&
		(cd "$work/traced" && "$work/damage" $whole ./program $traces && "$work/damage" $whole ./bits bits.chord) >"$work/damage.log" 2>&1
}

# What is taken for an index must not have memory allocated without bound.
misled()
{
	compiled gcc address,undefined &&
		gcc $flags -fsanitize=address,undefined -fno-sanitize-recover=undefined -o "$work/index" "$here/index.c" "$work/gcc.a" $libs || return 1
	for encoding in "$work"/indexed-*; do
		(cd "$encoding" && ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}max_allocation_size_mb=512:hard_rss_limit_mb=3000 \
			"$work/index" $whole ./program one.chord two.chord) >"$work/index.log" 2>&1 || return 1
	done
}

replay()
{
	if [ "$1" = unwind ]; then
		unwinder gcc "" "$work/replay-unwind" "$here/replay.c" "$top"/src/base/*.c || return 1
		"$work/replay-unwind" "$((mutations * 20))" "$work/seeds-unwind"/* >"$work/unwind.log" 2>&1
		return
	fi
	if [ "$1" = damage ]; then
		damaged
		return
	fi
	if [ "$1" = index ]; then
		misled
		return
	fi
	compiled gcc address,undefined &&
		gcc $flags -fsanitize=address,undefined -fno-sanitize-recover=undefined -o "$work/replay-$1" "$here/$1.c" "$here/replay.c" \
			"$work/gcc.a" $libs || return 1
	"$work/replay-$1" "$mutations" "$work/seeds-$1"/* >"$work/$1.log" 2>&1
}

# The engine's own output goes to a log; what it keeps stays in the work folder.
fuzz()
{
	local TIMEFORMAT='cpu %U %S'
	if [ "$1" = unwind ]; then
		unwinder clang -fsanitize=fuzzer-no-link "$work/fuzz-unwind" -fsanitize=fuzzer || return 1
	else
		compiled clang fuzzer-no-link,address,undefined &&
			clang $flags -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o "$work/fuzz-$1" "$here/$1.c" \
				"$work/clang.a" $libs || return 1
	fi
	{ time { (cd "$work" && exec "./fuzz-$1" -max_total_time="$engine" -max_len=65536 -timeout=20 -rss_limit_mb=4096 -artifact_prefix="$1-" \
		-close_fd_mask=3 -print_final_stats=1 "seeds-$1") >"$work/$1.log" 2>&1; }; } 2>"$work/$1.time"
}

# What the engine did: executions and CPU time.
done_by_engine()
{
	[ "$engine" = 0 ] || awk '/number_of_executed_units/ { n = $2 } $1 == "cpu" { s = $2 + $3 }
		END { printf ", %d executions in %.1f CPU minutes", n, s / 60 }' "$work/$1.log" "$work/$1.time"
}

status=0
for target in "$@"; do
	seeds "$target" "$work/seeds-$target"
	if [ "$engine" = 0 ] || [ "$target" = damage ] || [ "$target" = index ]; then replay "$target"; else fuzz "$target"; fi
	if [ $? = 0 ]; then
		echo "ok fuzz/$target: $(find "$work/seeds-$target" -type f | wc -l) files$(done_by_engine "$target")"
	else
		status=1
		echo "FAIL fuzz/$target: $(grep -m1 -E 'ERROR|runtime error|bug at|Assert|no fault|nothing is said|it is used' "$work/$target.log" || tail -n 1 "$work/$target.log")"
	fi
done
exit $status

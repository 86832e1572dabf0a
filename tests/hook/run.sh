#!/bin/bash
# SPDX-License-Identifier: MIT
# The hook: every way in which compilers call the assembler, and what builds do besides. Prints ok, FAIL or skip for each test;
# status 1 if one failed.
# run.sh [NAME...]: only the tests of these names.
set -u
here=$(cd "$(dirname "$0")" && pwd)
CHORD=${CHORD:-$here/../../build/chord}
CHORD=$(realpath "$CHORD")
w=${CHORD_TEST_DIR:-$(mktemp -d)}
[ -n "${CHORD_TEST_DIR-}" ] || trap 'rm -rf "$w"' EXIT
export LC_ALL=C
unset CHORD_CC CHORD_CXX CHORD_AS CHORD_FILE COMPILER_PATH CHORD_KEEP
. "$here/../registry.sh"
hook=$("$CHORD" hook) || exit 1
as=$(command -v as)
cc="$CHORD cc"
cxx="$CHORD c++"
failed=0

# ---- what the tests are made of ----

skip() { echo "skip $1: $2"; }

# no WHY...: the test that runs fails
no() { echo "$*" >"$w/why"; exit 1; }

# want COMMAND...: it succeeds and has nothing to say on standard error
want() {
	"$@" >out 2>err || no "status $? of $*: $(head -c 400 err)"
	[ ! -s err ] || no "$* said: $(head -c 400 err)"
}

# refused STATUS PATTERN COMMAND...: it fails so, with a message of that pattern
refused() {
	local status=$1 pattern=$2
	shift 2
	"$@" >out 2>err
	local got=$?
	[ $got = "$status" ] || no "status $got, not $status, of $*: $(head -c 400 err)"
	[ -z "$pattern" ] || grep -Eq "$pattern" err || no "not '$pattern' but: $(head -c 400 err)"
}

# says TEXT FILE: the text is in it
says() { grep -qF -- "$1" "$2" || no "no '$1' in $2: $(head -c 400 "$2")"; }

has_map() { readelf -SW "$1" | grep -q '\.chord\.map'; }
measured_object() { has_map "$1" || no "$1 has no map"; }
plain_object() { ! has_map "$1" || no "$1 has a map"; }

# calls PROGRAM FUNCTION: how often it was called, as the report has it
calls() {
	"$CHORD" report --json "$1" >report.json 2>err || no "report: $(head -c 400 err)"
	awk -v name="\"name\": \"$2(\\\\.[0-9]+)?\"," '$0 ~ name { on = 1 } on && /"calls":/ { gsub(/[^0-9]/, ""); print; exit }' report.json
}

# counts PROGRAM [FUNCTION]: it runs, every procedure is measured, and the function (work) was called ten times
counts() {
	local f=${2-work}
	rm -f "$(basename "$1")".*.chord
	want "./$1"
	want "$CHORD" verify "./$1"
	local n
	n=$(calls "./$1" "$f") || exit 1
	[ "$n" = 10 ] || no "$f was called 10 times, the report says '$n'"
}

# same FILE OTHER: there is something in them, and it is the same.
same() {
	[ -s "$1" ] || no "$1 is empty"
	cmp -s "$1" "$2" || no "$1 and $2 differ"
}

# test NAME [COMMAND that has to be there]: runs t_NAME in a folder of its own
only=" $* "
test_case() {
	local name=$1 need
	shift
	[ "$only" = "  " ] || [[ $only == *" $name "* ]] || return
	for need; do
		command -v "$need" >/dev/null || { skip "$name" "no $need here"; return; }
	done
	rm -rf "${w:?}/$name"
	mkdir -p "$w/$name"
	echo "it ended badly" >"$w/why"
	if (cd "$w/$name" && cp "$here"/*.[cfsS]* "$here"/*.adb "$here"/*.rs . && "t_${name//-/_}"); then
		echo "ok $name"
	else
		echo "FAIL $name: $(tr '\n' ' ' <"$w/why")"
		failed=1
	fi
}

# ---- how compilers call the assembler ----

t_link_at_once() { want $cc -O2 -o prog main.c work.c; counts prog; }
t_c() { want $cc -O2 -c main.c work.c; want $cc -o prog main.o work.o; counts prog; }
t_pipe() { want $cc -O2 -pipe -o prog main.c work.c; counts prog; }

# What it opens must not become its own standard streams, or gcc's. Its messages go where they went, and into nothing else.
t_closed_streams() {
	want $cc -O2 -o open main.c work.c
	printf '\t.text\nf:\tbogus %%rax\n' >bad.s
	local closed
	for closed in '<&-' '>&-' '2>&-' '<&- >&-' '>&- 2>&-' '<&- >&- 2>&-'; do
		rm -f prog bad.o
		(eval "exec timeout 60 $cc -O2 -o prog main.c work.c $closed") >out 2>err || no "$closed: status $? $(cat out err)"
		cmp -s open prog || no "$closed: another program"
		(eval "exec timeout 60 $cc -c bad.s $closed") >out 2>err
		[ $? = 1 ] && [ ! -e bad.o ] || no "$closed: wrong assembly is not refused as always: $(cat out err)"
		[[ $closed == *2* ]] || grep -q 'no such instruction' err || no "$closed: no message: $(cat err)"
	done
	counts prog
}

t_save_temps() {
	want $cc -O2 -save-temps -o prog main.c work.c
	[ -f prog-work.s ] || [ -f work.s ] || no "no text was saved: $(ls)"
	counts prog
}
# Names with what ends a string or a line for the assembler: in the directive that names the text, too.
t_save_odd_names() {
	local odd
	for odd in $'a\nb' 'quo"te' 'back\012\' $'b\'oth\n"$x\xff \\'; do
		printf '%s\n' '#include <stdio.h>' 'int work(int n) { int s = 0; for (int i = 0; i < n; i++) s += i & 3; return s; }' \
			'int main(int c, char **v) { int s = 0; while (c <= 10) s += work(c++); printf("%d\n", s); return 0; }' >"$odd.c"
		want $cc -O1 -fno-inline -g -save-temps -o "p$odd" "./$odd.c"
		counts "./p$odd"
		cp hand.s "$odd.s"
		want $cc -g -o prog main.c "./$odd.s"
		counts prog
		want $cc -g -c -o measured.o "./$odd.s"
		readelf --debug-dump=info measured.o | grep -a -m 1 -A 3 DW_AT_name | sed '/DW_AT_comp_dir/,$d; s/^.*DW_AT_name *: //; s/^(.*): //' >name
		printf '%s\n' "./$odd.s" | cmp -s - name || no "not named $odd.s, but: $(cat -A name)"
	done
}

t_s() { want $cc -o prog main.c hand.s; counts prog; }
t_S() { want $cc -o prog main.c cpp.S; counts prog; }
t_with_cpp() {
	cp cpp.S text
	want $cc -c main.c
	want $cc -x assembler-with-cpp -c text -o text.o
	want $cc -o prog main.o text.o
	counts prog
}
# Headers are compiled, and nothing is linked, whatever says that they are headers.
t_precompiled() {
	local compiler suffix
	echo 'int work(int);' >plain
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		export CHORD_CC=$compiler
		want $cc -Werror -x c-header plain -o plain.gch
		want $cc -Werror -xc++-header plain -o plain.gch
		want $cc -Werror --language=c-header plain -o plain.gch
		want $cc -O2 -x c-header plain -x none -c main.c
		measured_object main.o
		want $cc -O2 -x c main.c -x none work.c -o prog
		counts prog
	done
	for suffix in h hh hp hpp hxx h++ H HPP tcc; do
		cp plain "head.$suffix"
		CHORD_CC=gcc want $cc "head.$suffix"
		[ -s "head.$suffix.gch" ] || no "no head.$suffix.gch"
	done
	cp /bin/true a.out
	for option in --compile --assemble --preprocess; do
		CHORD_CC=gcc want $cc $option work.c
	done
}
t_stop_at_text() {
	want $cc -O2 -S work.c
	want gcc -O2 -S -o plain.s work.c
	same work.s plain.s
	want $cc -c work.s
	measured_object work.o
}
t_lto() {
	want $cc -O2 -flto -fno-inline -c main.c work.c
	plain_object main.o
	want $cc -O2 -flto -fno-inline -o prog main.o work.o
	counts prog
	want $cc -O2 -flto=2 -fno-inline -save-temps -o prog2 main.c work.c
	counts prog2
	want $cc -O2 -flto -ffat-lto-objects -c work.c
	measured_object work.o
}
t_lto_measure() {
	want $cc -O2 -fchord=every-block -flto -fno-inline -c main.c work.c
	want $cc -O2 -fchord=every-block -flto -fno-inline -o prog main.o work.o
	counts prog
	readelf -x .pdr.chord.map prog >every || no "no map"
	# the compiler has noted it in the objects
	want $cc -O2 -flto -fno-inline -o prog main.o work.o
	readelf -x .pdr.chord.map prog | cmp -s - every || no "another measure"
	want $cc -O2 -flto -fno-inline -c main.c work.c
	want $cc -O2 -flto -fno-inline -o prog main.o work.o
	readelf -x .pdr.chord.map prog >edges || no "no map"
	! cmp -s every edges || no "-fchord=every-block does not reach the link"
}
t_split_dwarf() {
	want $cc -O2 -g -gsplit-dwarf -c main.c work.c
	[ -f work.dwo ] || no "no work.dwo: $(ls)"
	want $cc -o prog main.o work.o
	counts prog
}
t_at_file() {
	printf '%s\n' -O2 -o '"prog"' main.c work.c >args
	want $cc @args
	counts prog
	printf -- '-O2 -fchord=every-block @args2\n' >args
	printf -- '-o prog main.c work.c\n' >args2
	want $cc @args
	counts prog
	printf -- '-fchord=nonsense main.c\n' >args
	refused 2 "chord: -fchord=nonsense: .*edges" $cc @args
	# files that name each other: as often as the compiler would
	echo '@args @args' >args
	refused 1 'too many @-files' timeout -k 5 60 $cc @args -c work.c
	printf -- '--64 "-o" x.o\nhand.s\n' >args
	want "$hook/as" @args
	measured_object x.o
}
t_several() {
	want $cc -O2 -c main.c work.c hand.s cpp.S
	for o in main work hand cpp; do measured_object $o.o; done
	want $cc -o prog main.o hand.o
	counts prog
}
t_gxx() { want $cxx -O2 -o prog both.cc; counts prog; }
t_gxx_pipe() { want $cxx -std=c++17 -O1 -pipe -g -o prog both.cc; counts prog; }
t_gfortran() {
	want gfortran -B"$hook" -O2 -fno-inline -o prog sums.f90
	counts prog work_
	CHORD_CC=gfortran want $cc -O2 -fno-inline -fchord=every-edge -o prog2 sums.f90
	counts prog2 work_
	want "$CHORD" report ./prog2
	! grep -q "handler of signals" out || no "a note on Fortran's own handlers"
}
t_gnatmake() {
	want env COMPILER_PATH="$hook" gnatmake -q -O2 ada_main.adb
	counts ada_main ada_main__work
	want gnatmake -q -f -O2 -o second ada_main.adb -cargs -B"$hook"
	counts second ada_main__work
	# The file that gnatmake compiles for the link, too.
	local gcc="$(dirname "$CHORD")/chord-cc -fchord=every-edge"
	want gnatmake -q -f -O2 -o third ada_main.adb --GCC="$gcc" -largs --GCC="$gcc"
	counts third ada_main__work
	[ "$(calls ./third main)" = 1 ] || no "main of gnatmake's own file is not measured"
}
# Nothing is said of the handlers of Ada's library, and what they do is counted exactly.
t_gnat_faults() {
	local gcc="$(dirname "$CHORD")/chord-cc"
	for measure in every-block edges paths; do
		rm -f faults.*.chord
		want gnatmake -q -f -O2 -gnatp -fnon-call-exceptions faults.adb --GCC="$gcc -fchord=$measure" -largs --GCC="$gcc -fchord=$measure"
		want ./faults
		"$CHORD" report ./faults >report.$measure 2>err || no "report: $(head -c 400 err)"
		grep -Eq '  1,000  faults__get' report.$measure || no "$measure: $(head -c 800 report.$measure)"
		! grep -qi "handler" report.$measure || no "$measure: a note: $(grep -i handler report.$measure)"
		sed '/^$/,$!d; /blocks entered/,$d' report.$measure >functions.$measure
		same functions.every-block functions.$measure
	done
}
# rustc assembles by itself: its assembler text is woven, and takes the place of its object when it links.
t_rustc() {
	cat >woven-cc <<-'EOF'
		#!/bin/bash
		args=("$@")
		for i in "${!args[@]}"; do
			[[ ${args[i]} != *-cgu.0.rcgu.o ]] || args[i]=woven.o
		done
		exec cc "${args[@]}" -Wl,--build-id
	EOF
	chmod +x woven-cc
	want rustc -O -C codegen-units=1 -o plain rust_main.rs
	want rustc -O -C codegen-units=1 --emit asm rust_main.rs
	for measure in edges every-edge calls; do
		want $cc -fchord=$measure -c -o woven.o rust_main.s
		want rustc -O -C codegen-units=1 -C linker=./woven-cc -o rust_main rust_main.rs
		counts rust_main
		[ "$(./rust_main)" = "$(./plain)" ] || no "not the plain program's output under $measure"
	done
	# With lines: directories of files are given as only DWARF 5 has them.
	want rustc -O -g -C codegen-units=1 --emit asm rust_main.rs
	want $cc -Wa,--gdwarf-5 -c -o woven.o rust_main.s
	want rustc -O -g -C codegen-units=1 -C linker=./woven-cc -o rust_main rust_main.rs
	rm -f ./*.chord
	want ./rust_main
	want "$CHORD" report --lines --top=0 ./rust_main
	grep -qE ' rust_main\.rs:[0-9]+$' out || no "no lines: $(head -n 20 out)"
}
clang_builds() {
	export CHORD_CC=$1 CHORD_CXX=$2
	want $cc -O2 -g -Wall -Werror -o prog main.c work.c
	counts prog
	want $cc -O2 -Werror -fintegrated-as -c work.c
	measured_object work.o
	want $cc -Werror -fchord=every-block -c main.c hand.s
	want $cc -Werror -fchord=every-block -o prog2 main.o hand.o
	counts prog2
	want $cc -Werror -c cpp.S
	measured_object cpp.o
	want $cc -O2 -S work.c
	grep -q addrsig work.s && want gcc -B"$hook" -c -o fromtext.o work.s && measured_object fromtext.o
	want $cc -O2 -save-temps -c work.c
	measured_object work.o
	want $cxx -O2 -o progxx both.cc
	counts progxx
}
t_clang() { clang_builds clang clang++; }
t_clang_14() { clang_builds clang-14 clang++-14; }
t_clang_lto() {
	export CHORD_CC=clang
	for o in -flto -flto=thin; do
		refused 2 "chord: -flto: .*cannot be measured" $cc -O2 $o -o prog main.c work.c
		refused 2 "chord: -flto: .*cannot be measured" $cc -O2 $o -c main.c
	done
	[ ! -e prog ] || no "there is a program"
	want $cc -flto -fno-lto -O2 -o prog main.c work.c
	counts prog
	want $cc -flto --version
}
# clang takes no -Wa with it. What needs none is measured, and the bitcode is there.
t_clang_bitcode() {
	export CHORD_CC=clang
	for o in -fembed-bitcode -fembed-bitcode=all "-fembed-bitcode=off -fembed-bitcode=bitcode"; do
		refused 2 "chord: -fembed-bitcode: .*without Chord's options edges are counted" $cc -O2 -fchord=paths $o -c -o no.o work.c
		want $cc -O2 $o -c -o bitcode.o work.c
		measured_object bitcode.o
		readelf -SW bitcode.o | grep -q llvmbc || no "no bitcode with $o"
	done
	[ ! -e no.o ] || no "there is an object"
	for o in -fembed-bitcode=marker -fembed-bitcode-marker "-fembed-bitcode -fembed-bitcode=off"; do
		want $cc -O2 -fchord=paths $o -c -o marked.o work.c
		measured_object marked.o
	done
	want $cc -fchord=paths -fembed-bitcode --version
	want $cc -O2 -fembed-bitcode -o prog main.c work.c
	counts prog
}
# clang's -fsanitize=function begins functions with a jump over a number and a distance, for which callers look there.
t_begin_with_data() {
	cat >data.s <<-'EOF'
		.text
		.globl f
		.type f, @function
		f:
		.long 846595819
		.long .Ltype-f
		cmpl $4, %edi
		jl 1f
		leal (%rdi,%rdi), %eax
		ret
		1:
		leal 1(%rdi), %eax
		ret
		.size f, .-f
		.section .rodata
		.Ltype: .long 0
		.section .note.GNU-stack,"",@progbits
	EOF
	cat >begin.c <<-'EOF'
		#include <stdio.h>
		#include <string.h>
		int f(int);
		int main(void)
		{
			int first, sum = 0;
			memcpy(&first, (const void *)f, sizeof first);
			for (int i = 0; i < 10; i++)
				sum += f(i);
			return printf("%d %d\n", first, sum) < 0;
		}
	EOF
	local measure
	for measure in $("$CHORD" cc --measures | cut -f 1); do
		want $cc -O1 -fchord=$measure -o prog begin.c data.s
		[ "$(CHORD_FILE=prog.chord ./prog)" = "846595819 88" ] || no "$measure: $(./prog)"
		want "$CHORD" verify ./prog
		[[ $measure != @(events|clock) ]] || continue
		[ "$("$CHORD" report --json ./prog prog.chord | jq -c '.functions[] | select(.name == "f") | [.calls, .instructions]')" = "[10,50]" ] ||
			no "$measure: $("$CHORD" report ./prog prog.chord)"
	done
	want $cc -O1 -fchord=events,edges -fchord-events=instructions,branches -o prog begin.c data.s
	CHORD_FILE=prog.chord ./prog >out
	"$CHORD" report --json ./prog prog.chord | jq -e '.totals.instructions == .events.instructions' >out || no "$(cat out)"
}
# loop and jrcxz reach no further than 127 bytes. With code in between they lead to another jump.
t_near_jumps() {
	local measure i
	{
		printf '\t.text\n\t.globl f\n\t.type f, @function\nf:\tmovq %%rdi, %%rcx\n\txorl %%eax, %%eax\n\tjrcxz 9f\n1:\tincq %%rax\n'
		for i in 1 2 3 4 5 6 7 8; do
			printf '\ttestb $%d, %%cl\n\tje 2f\n\taddq $%d, %%rax\n2:\n' $((1 << i % 7)) $i
		done
		printf '\tloop 1b\n9:\tret\n\t.size f, .-f\n\t.section .note.GNU-stack,"",@progbits\n'
	} >near.s
	cat >near.c <<-'EOF'
		#include <stdio.h>
		long f(long);
		int main(void)
		{
			unsigned long sum = 0;
			for (long i = 0; i < 200; i++)
				sum = sum * 31 + (unsigned long)f(i);
			return printf("%lx\n", sum) < 0;
		}
	EOF
	want gcc -O1 -o plain near.c near.s
	./plain >plain.out
	for measure in $("$CHORD" cc --measures | cut -f 1); do
		want $cc -O1 -Werror -fchord=$measure -o prog near.c near.s
		CHORD_FILE=prog.chord ./prog >prog.out
		same plain.out prog.out
		want "$CHORD" verify ./prog
		[[ $measure != @(events|clock) ]] || continue
		[ "$("$CHORD" report --json ./prog prog.chord | jq -c '.functions[] | select(.name == "f") | [.calls, .instructions]')" = "[200,432882]" ] ||
			no "$measure: $("$CHORD" report ./prog prog.chord)"
		rm -f prog.chord*
	done
}
# What no other assembler reads is not written, and code for another system is none of Chord's business.
t_clang_own() {
	export CHORD_CC=clang
	local target
	for target in --target=x86_64-w64-mingw32 "-target aarch64-linux-gnu" "-target x86_64-apple-darwin"; do
		clang $target -c -o plain.o work.c || no "clang does not make code for $target"
		$cc $target -Werror -c -o ours.o work.c 2>err || no "$target: $(cat err)"
		same plain.o ours.o
		says ': not measured: it is another system' err
		want $cc $target -Werror -S work.c
	done
	want $cc -Werror --target=x86_64-linux-gnu -c -o ours.o work.c
	measured_object ours.o
	for target in aarch64-linux-gnu x86_64-linux-gnu my-wrapped; do
		ln -s "$(command -v clang)" "$target-clang"
		"./$target-clang" -c -o plain.o work.c
		CHORD_CC=./$target-clang $cc -Werror -c -o ours.o work.c 2>err || no "$target-clang: $(cat err)"
		case $target in
		x86_64-* | my-*) measured_object ours.o ;;
		*) same plain.o ours.o && says ': not measured: it is another system' err ;;
		esac
	done
	for option in -faddrsig "-g -gembed-source" -fpseudo-probe-for-profiling; do
		want $cc -O2 -Werror $option -c -o ours.o work.c
		measured_object ours.o
	done
}
# What only clang's own assembler takes is assembled by it, as without Chord. What it rejects is an error.
t_clang_assembles() {
	export CHORD_CC=clang
	mkdir -p 'a folder'
	echo some >'a folder/some.bin'
	printf '\t.text\n\t.globl main\nmain:\tcall f\n\txorl %%eax, %%eax\n\tret\nf:\tret\n\t.incbin "some.bin"\n\t.cg_profile main, f, 30\n' >own.s
	printf '\t.section .note.GNU-stack,"",@progbits\n' >>own.s
	for options in -O2 -pipe -g; do
		rm -f own.o
		$cc $options '-Ia folder' -c own.s 2>err || no "$options: $(cat err)"
		[ "$(grep -c . err)" = 1 ] && says "own.s: not measured: only clang's own assembler takes it" err
		want clang -o own own.o
		want ./own
	done
	printf '\t.data\n\t.globl d\nd:\t.long 4\n\t.cg_profile d, d, 30\n' >data.s
	want clang -c -o plain.o data.s
	$cc -c -o data.o data.s 2>err || no "data alone: $(cat err)"
	[ ! -s err ] && same plain.o data.o
	echo '	foo bar' >>own.s
	rm -f own.o
	$cc '-Ia folder' -c own.s 2>err && no "it assembles what nobody understands"
	[ ! -e own.o ] && says 'foo bar' err
	CHORD_CC=gcc
	$cc '-Ia folder' -c own.s 2>err && no "gcc assembles it"
	[ ! -e own.o ] || no "there is an object"
}
# llvm_sections OBJECT: names and types of its sections that have types of LLVM's.
llvm_sections() { readelf -SW "$1" | sed -En 's/^ *\[[ 0-9]*\] ([^ ]*) *(LOOS\+0xfff4c[0-9a-f]*|LLVM_[A-Z_]*) .*/\1 \2/p'; }
# Types of sections that only clang's own assembler knows by name: objects have them as without Chord, and nobody warns. Every
# text of C++20 has one. lld links the libraries that a pragma names.
t_clang_sections() {
	export CHORD_CC=clang CHORD_CXX=clang++
	for options in -O2 -pipe -g "-Wa,--fatal-warnings"; do
		for file in both.cc empty.cc; do
			[ -e $file ] || echo 'extern int nothing;' >$file
			want clang++ -std=c++20 -fno-addrsig $options -c -o plain.o $file
			$cxx -std=c++20 $options -c -o ours.o $file 2>err || no "$options $file: $(cat err)"
			[ ! -s err ] || no "$options $file: $(cat err)"
			llvm_sections plain.o >types
			llvm_sections ours.o >ours.types
			same types ours.types
		done
	done
	printf '#include <math.h>\n#pragma comment(lib, "m")\nint main(int n, char **v) { return cos(n - 1) != 1; }\n' >named.c
	if command -v ld.lld >/dev/null; then
		want clang -O2 -fno-builtin -fuse-ld=lld -o plain named.c
		want $cc -O2 -fno-builtin -fuse-ld=lld -o prog named.c
		want ./prog
	fi
	printf 'int main() { asm("foo bar"); }\n' >wrong.cc
	$cxx -std=c++20 -c wrong.cc 2>err && no "it assembles what nobody understands"
	grep -qE '^/.*\.s:[0-9]+: Error: .*foo bar' err || no "the message names no file: $(cat err)"
}
# Text that clang wrote for its own assembler says which addresses matter to linkers.
t_clang_own_text() {
	export CHORD_CC=clang
	want clang -O2 -g -S -o main.s main.c
	want clang -O2 -g -S -o work.s work.c
	echo 'extern int work(int); int (*volatile does)(int) = work;' >given.c
	want clang -O2 -S -o given.s given.c
	grep -q '	\.addrsig$' main.s && grep -q '	\.addrsig_sym work$' given.s || no "clang does not say it"
	$cc -o prog main.s work.s given.s 2>err || no "$(cat err)"
	[ ! -s err ] || no "$(cat err)"
	counts prog
	want "$CHORD" show main.s
	grep -q '^procedure main: ' out || no "chord show: $(head -n 3 out)"
}

# clang puts prefixes of calls for thread-local variables on lines of their own. gas would warn of each.
t_clang_prefixes() {
	export CHORD_CC=clang
	cat >threads.c <<-'E'
		__thread int t;
		static __thread int u = 3;
		int get(void) { return t++ + u--; }
	E
	echo 'int get(void); int main(void) { for (int i = 0; i < 9; i++) get(); return get() != 3; }' >main.c
	for options in -O2 "-O2 -Wa,--fatal-warnings" "-O0 -pipe"; do
		want clang -fPIC $options -c -o plain.o threads.c
		objdump -d plain.o | grep -q data16 || no "clang writes no such prefix"
		$cc -fPIC $options -c -o ours.o threads.c 2>err || no "$options: $(cat err)"
		[ ! -s err ] || no "$options: $(cat err)"
		want $cc -O2 -o prog main.c ours.o
		rm -f ./*.chord
		want ./prog
		want "$CHORD" report --json prog
		[ "$(jq '.functions[] | select(.name == "get") | .calls' out)" = 10 ] || no "$options: $(jq -c .functions out)"
		jq -e '.refused == []' out >/dev/null || no "$options: $(jq -c .refused out)"
	done
}
# Nothing comes after `--` or an option without its value, and what can be read only once is read only once.
t_clang_last() {
	export CHORD_CC=clang
	want $cc -O2 -o prog -- main.c work.c
	counts prog
	echo '-O2 -o prog -- main.c work.c' >args
	want $cc -fchord=every-block @args
	counts prog
	want $cc @<(echo -O2 -o prog main.c work.c)
	counts prog
	refused 1 'missing' $cc main.c work.c -o
	CHORD_CC=gcc refused 1 'missing' $cc -fchord=trace main.c work.c -o
	[ -z "$(find . -name '-*')" ] || no "there is a file $(find . -name '-*')"
}
t_compiler_path() {
	COMPILER_PATH=$hook want gcc -O2 -o prog main.c work.c
	counts prog
	COMPILER_PATH=${hook%/} want g++ -O2 -o progxx both.cc
	counts progxx
}
# gcc's own assembler, or one of the user's -B, need not be the one in PATH.
t_users_assembler() {
	local b
	mkdir "my own" pre
	printf '#!/bin/sh\necho "$0" >>log\nexec "%s" "$@"\n' "$as" >"my own/as"
	chmod +x "my own/as"
	cp "my own/as" pre/x86-as
	for b in -Bmy\ own "-Bmy own/" "-B$PWD/my own" -Bpre/x86-; do
		rm -f log
		want $cc "$b" -O2 -c main.c
		measured_object main.o
		[ -s log ] || no "$b: another assembler was run"
		rm -f log
		COMPILER_PATH=$hook want gcc -B"$hook" "$b" -O2 -o prog main.c work.c
		counts prog
		[ -s log ] || no "$b: another assembler was run with the folder in the environment"
	done
	rm log
	want $cc -Bpre -B"$PWD" -B"$hook" -B/no/such -c main.c
	measured_object main.o
}
t_compiler_words() {
	CHORD_CC="env gcc -fno-inline" want $cc -O2 -o prog main.c work.c
	counts prog
	CHORD_CC="no-such-compiler" refused 1 "chord: no-such-compiler: No such file" $cc -o prog main.c
	CHORD_CC="no-such-compiler" refused 1 "chord: no-such-compiler: No such file" $cc -c main.c
}

# ---- arguments of the assembler ----

t_no_operand() {
	want gcc -O2 -S work.c
	want "$hook/as" --64 -o a.o <work.s
	want "$hook/as" --64 -o b.o - <work.s
	want "$hook/as" --64 work.s -o c.o
	want "$hook/as" -oc2.o --64 work.s
	want "$hook/as" work.s
	measured_object a.o
	for o in b.o c.o c2.o a.out; do same a.o $o; done
}
t_operands() {
	printf '\t.text\n\t.globl f\nf:\tret\n\t.size f,.-f\n\t.type f,@function\n' >one.s
	printf '\t.globl g\ng:\tcall f\n\tret\n\t.size g,.-g\n\t.type g,@function\n' >two.s
	want "$hook/as" -o both.o one.s two.s
	want "$hook/as" -o mixed.o one.s - <two.s
	want "$as" -o plain.o one.s two.s
	measured_object both.o
	nm both.o | grep -q ' T f' && nm both.o | grep -q ' T g' || no "f or g is lost"
	same both.o mixed.o
	echo ' foo' >>two.s
	refused 1 '^two.s:[67]: Error: no such instruction' "$hook/as" -o both.o one.s two.s
	refused 1 '^{standard input}:[67]: Error: no such instruction' "$hook/as" -o both.o one.s - <two.s
}
t_probes() {
	for args in --version --help --target-help; do
		want $cc -Wa,$args -c -x assembler /dev/null -o null.o
		"$as" $args >plain 2>&1
		"$hook/as" $args >ours 2>&1 </dev/null || no "status $? of $args"
		sed -i -e "s|$as|as|" plain ours
		[ $args = --help ] || same plain ours
		[ $args != --help ] || says 'turn on listings' ours
	done
	"$as" -v -o null.o </dev/null >plain 2>&1
	"$hook/as" -v -o null.o </dev/null >ours 2>&1
	same plain ours
	"$hook/as" -v --64 -o work.o hand.s >ours 2>&1
	says 'GNU assembler version' ours
	[ "$(grep -c 'GNU assembler version' ours)" = 1 ] || no "it says its version more than once"
	measured_object work.o
	for args in --version -dumpversion -dumpmachine -print-prog-name=as -print-search-dirs -print-file-name=libc.a; do
		gcc $args >plain 2>&1
		want $cc $args
		[ $args = -print-search-dirs ] || [ $args = -print-prog-name=as ] || same plain out
	done
	says "$hook" <($cc -print-prog-name=as)
	$cc -v >out 2>&1 || no "status $? of -v"
	says 'gcc version' out
	refused 1 'no input files' $cc
	[ "$(grep -c chord: err)" = 0 ] || no "$(cat err)"
	$cc -v -o prog main.c work.c >out 2>&1 || no "status $? of -v with inputs"
	counts prog
	want $cc -E main.c
	want $cc -M main.c
	want $cc -fsyntax-only main.c
	$cc '-###' main.c >out 2>&1 || no "status $? of -###"
	echo 'int x;' >x.h
	cp prog a.out
	want $cc x.h
}
t_no_output() {
	want $cc -O2 -c work.c -o /dev/null
	[ -c /dev/null ] || no "/dev/null is gone"
	want $cc -O2 main.c work.c -o /dev/null
	[ -c /dev/null ] || no "/dev/null is gone"
	refused 1 "requires an argument" "$hook/as" hand.s -o
}
t_listing() {
	want gcc -O2 -S work.c
	"$as" -al -o plain.o work.s >plain
	"$hook/as" -al -o a.o work.s >ours 2>err || no "$(cat err)"
	same plain ours
	measured_object a.o
	want "$hook/as" -ahls=list -o a.o work.s
	"$as" -ahls=plainlist -o plain.o work.s
	same list plainlist
	measured_object a.o
	want $cc -O2 -c -Wa,-adhln=list2 work.c
	! grep -q chord list2 || no "the listing has Chord's text in it"
	measured_object work.o
}
t_dependencies() {
	mkdir inc
	echo 'nop' >inc/one.inc
	printf '\t.text\nf:\n\t.include "one.inc"\n\tret\n\t.type f,@function\n\t.size f,.-f\n' >dep.s
	for o in "--MD ours.d" "--MD=ours.d" "-MD ours.d"; do
		want "$hook/as" -I inc $o -o dep.o dep.s
		"$as" -Iinc --MD plain.d -o dep.o dep.s
		same plain.d ours.d
		want "$hook/as" -Iinc $o -o dep.o dep.s
		measured_object dep.o
	done
	want $cc -c -O2 -MMD -Wa,--MD,as.d work.c
	says 'work.o:' work.d
	says 'work.o:' as.d
	measured_object work.o
}
t_other_mode() {
	printf '\t.text\nf:\tret\n' >f.s
	"$hook/as" --32 -o ours.o f.s >out 2>err || no "$(cat err)"
	"$as" --32 -o plain.o f.s
	same ours.o plain.o
	says 'chord: warning: f.s: not measured' err
	"$hook/as" --x32 -o ours.o f.s >out 2>err || no "$(cat err)"
	says 'chord: warning: f.s: not measured' err
	want "$hook/as" --32 --64 -o ours.o f.s
}
t_options() {
	want $cc -O2 -Wa,--noexecstack,-mrelax-relocations=no,--defsym,a=1,-I,. -c work.c
	measured_object work.o
	printf '\t.text\n\t.globl work\n\t.type work,@function\nwork:\tmov $a,%%eax\n\tret\n\t.size work,.-work\n' >def.s
	want "$hook/as" --defsym a=1 -mtune generic64 -o def.o def.s
	want "$hook/as" -defsym=a=1 -o def2.o def.s
	same def.o def2.o
	for o in -mbranches-within-32B-boundaries -O2 -Os --reduce-memory-overheads --elf-stt-common=yes \
		--generate-missing-build-notes=yes --gdwarf-5 --compress-debug-sections; do
		want $cc -O2 -g -Wa,$o -o prog main.c work.c
		counts prog
	done
}

# Padding before branches would stand elsewhere in each text. With counters there is none, so each instruction is where the map has it.
t_padded_branches() {
	local o n
	echo 'int jumps(int *a, int b) { int n = 0;' >jumps.c
	for ((o = 0; o < 40; o++)); do echo "if (a[$o] > b) { n += a[$((o * 7))] ^ $o; b--; }"; done >>jumps.c
	echo 'return n; }' >>jumps.c
	want $cc -O2 -c -o without.o jumps.c
	for o in -mbranches-within-32B-boundaries -malign-branch-boundary=32,-malign-branch=jcc+fused+jmp+call+ret+indirect; do
		want gcc -O2 -c -o plain.o jumps.c
		want gcc -O2 -Wa,$o -c -o padded.o jumps.c
		! cmp -s plain.o padded.o || no "$o pads nothing here"
		want $cc -O2 -Wa,$o -c -o with.o jumps.c
		same with.o without.o
		# A text with labels like Chord's own is not measured: it is assembled as without Chord.
		{ printf '.text\n.Lchordx:\n'; for ((n = 0; n < 40; n++)); do printf '\tcmpl $%d, %%eax\n\tje 1f\n\taddl $%d, %%ebx\n' $n $((n * 999)); done; echo 1:; } >own.s
		want "$as" ${o//,/ } -o padded.o own.s
		want "$as" -o plain.o own.s
		! cmp -s plain.o padded.o || no "$o pads nothing in own.s"
		"$hook/as" ${o//,/ } -o with.o own.s 2>err || no "$o: status $?"
		says 'own.s: not measured: it has labels' err
		same with.o padded.o
	done
}

# The assembler puts fences before returns and indirect branches, and warns of Chord's own text, which is no reason not to measure. It
# warns of the user's calls through memory with and without counters. All fences are counted where objdump sees them in the plain object.
t_fences() {
	local o
	cat >fenced.c <<-'EOF'
	#include <stdlib.h>
	__attribute__((noinline)) int work(int n) { return n > 5 ? abs(n) : n * 3; }
	int main(void) { int n = 0; for (int i = 0; i < 10; i++) n += work(i); return n != 75; }
	EOF
	for o in -mlfence-before-ret=shl -mlfence-before-ret=or -mlfence-before-ret=not -mlfence-before-indirect-branch=all; do
		gcc -O2 -fno-plt -fno-builtin -Wa,$o -c -o plain.o fenced.c 2>plain.err || no "$o: gcc fails: $(cat plain.err)"
		$cc -O2 -fno-plt -fno-builtin -Wa,$o -o prog fenced.c 2>err || no "$o: status $?: $(cat err)"
		[ "$(grep -c Warning err)" = "$(grep -c Warning plain.err)" ] || no "$o: $(cat err)"
		counts prog
		"$CHORD" report --insns ./prog | awk '$1 == "work" { print $3 }' >counted
		objdump -d plain.o | awk '/<work>:$/ { w = 1; next } /^$/ { w = 0 } w && NF > 2 && !/\tnop/ { sub(":", "", $1); print $1 }' |
			while read -r at; do echo $((0x$at)); done >seen
		same seen counted
	done
}

# Text that restricts itself to an older machine than the runtime's.
t_march() {
	want "$hook/as" -march generic64 -o a.o hand.s
	measured_object a.o
	{ echo '	.arch generic64,nojumps'; cat hand.s; } >old.s
	want "$hook/as" -o a.o old.s
	measured_object a.o
}

# ---- messages ----

t_rejected() {
	printf 'main:\n\tnop\n\tfoox %%eax\n' >bad.s
	"$as" -o x.o bad.s 2>plain
	refused 1 '^bad.s:3: Error: no such instruction' "$hook/as" -o x.o bad.s
	same plain err
	"$as" -o x.o <bad.s 2>plain
	refused 1 '^{standard input}:3: Error: no such instruction' "$hook/as" -o x.o <bad.s
	same plain err
	[ ! -e x.o ] || no "there is an object"
	printf 'int main(void)\n{\n\tasm("foox");\n}\n' >bad.c
	refused 1 '^bad.c:3: Error: no such instruction' $cc -g -save-temps -c bad.c
	gcc -c bad.c 2>plain
	refused 1 '^bad.c:3: Error: no such instruction' $cc -c bad.c
	sed -i 's/cc[^.]*\.s/T.s/' plain err
	same plain err
	gcc -pipe -c bad.c 2>plain
	refused 1 '^bad.c:3: Error: no such instruction' $cc -pipe -c bad.c
	same plain err
	printf '#define X foox\n\n\tX\n' >bad.S
	refused 1 '^bad.S:3: Error: no such instruction' $cc -c bad.S
	[ "$(grep -c Error err)" = 1 ] || no "more than one error: $(cat err)"
	refused 1 'no-such-file' "$hook/as" -o x.o no-such-file.s
	"$as" --no-such-option -o x.o hand.s 2>plain
	refused 1 'unrecognized option' "$hook/as" --no-such-option -o x.o hand.s
}
t_warned() {
	printf '\t.text\n\t.globl f\n\t.type f,@function\nf:\n\tmovb $300, %%al\n\tje 1f\n\tnop\n1:\tret\n\t.size f,.-f\n' >warn.s
	for file in warn.s warn.S; do
		cp warn.s $file 2>/dev/null
		$cc -c -o x.o $file 2>err || no "status $?"
		[ "$(grep -c 'Warning' err)" = 1 ] || no "not one warning: $(cat err)"
		says "$file:5: Warning" err
		measured_object x.o
		"$CHORD" verify x.o 2>&1 | grep -q refused.*[1-9] && no "a procedure is refused for it"
	done
	$cc -c -o x.o -pipe -x assembler - <warn.s 2>err || no "status $?"
	[ "$(grep -c '{standard input}:5: Warning' err)" = 1 ] || no "not one warning: $(cat err)"
	measured_object x.o
	refused 1 'warn.s:5: (Error|Warning)' $cc -Wa,--fatal-warnings -c warn.s
	want $cc -Wa,--no-warn -c warn.s
	printf '\t.text\nf:\n\t.warning "look here"\n\tret\n' >user.s
	$cc -c user.s 2>err || no "status $?"
	[ "$(grep -c 'look here' err)" = 1 ] || no "not one warning: $(cat err)"
}
t_lines() {
	want $cc -g -o prog main.c hand.s
	readelf --debug-dump=decodedline prog | grep -Eq '^hand.s +12 ' || no "no line numbers for hand.s: $(readelf --debug-dump=decodedline prog | head -40)"
	! readelf --debug-dump=info prog | grep -qi 'standard input' || no "the input's name is lost"
	counts prog
	want $cc -g -o prog main.c cpp.S
	readelf --debug-dump=decodedline prog | grep -Eq '^cpp.S +12 ' || no "no line numbers for cpp.S"
	counts prog
	printf '\t.text\n\t.globl f\nf:\tret\n\t.size f,.-f\n\t.type f,@function\n' >one.s
	printf '\t.globl g\ng:\tcall f\n\tret\n\t.size g,.-g\n\t.type g,@function\n' >two.s
	want "$hook/as" -g -o both.o one.s two.s
	readelf --debug-dump=decodedline both.o | grep -Eq '^two.s +2 ' || no "no line numbers for two.s"
	# .file names the text's origin for the symbol table: lines stay those of the file that is read, as plain.
	named() {
		gcc -g -c -o plain.o named.s && readelf --debug-dump=decodedline plain.o | awk '$2 + 0 {print $1, $2}' >plain.lines
		want $cc -g -c -o named.o named.s
		readelf --debug-dump=decodedline named.o | awk '$2 + 0 {print $1, $2}' | cmp -s - plain.lines || no "$1: other lines than plain"
		[ -s plain.lines ] || no "$1: no lines"
	}
	local f='\t.text\n\t.globl f\n\t.type f,@function\nf:\n\txorl %%eax, %%eax\n\tret\n\t.size f,.-f\n'
	printf "\t.file \"hand.asm\"\n$f" >named.s
	named "a file's name"
	printf "/* a text\n.file \"in a comment\"\n*/\n$f.file \"behind\"\n.macro m\n.file \"in.m\"\nnop\n.endm\n\tnop\n" >named.s
	named "a comment and a macro"
	printf "\t.file \"hand.asm\"\n# 7 \"hand.m4\"\n\t.file \"again.asm\"\n$f" >named.s
	named "lines that the text numbers"
	printf ".if 0\n.file \"no.asm\"\n.endif\n$f" >named.s
	named "a condition"
}

# ---- options of Chord's ----

# Text that describes its frames by hand: with what type and flags it has that section, what is woven in keeps.
t_own_frames() {
	local how m
	for how in '"a",@unwind' '"aw",@progbits' '"a"'; do
		cat hand.s - >frames.s <<-END
			.section .eh_frame,$how
			.balign 8
			.Lcie:
			.long .Lcie_end-.Lcie_1
			.Lcie_1:
			.long 0
			.byte 1
			.asciz "zR"
			.uleb128 1
			.sleb128 -8
			.byte 16
			.uleb128 1
			.byte 0x1b, 0x0c, 7, 8, 0x90, 1
			.balign 8, 0
			.Lcie_end:
		END
		for m in $(measures); do
			want $cc -fchord="$m" -c frames.s
			measured_object frames.o
		done
	done
}

t_measures() {
	for m in $(measures flow) calls edges,edges events,edges; do
		want $cc -fchord=$m -O2 -c work.c
		want $cc -O2 -c main.c -fchord=$m
		want $cc main.o -fchord=$m -o prog work.o
		counts prog
	done
	want $cc -O2 -fchord=every-edge -c work.c -fchord=edges -o last.o
	want $cc -O2 -c work.c -o edges.o
	same last.o edges.o
}
t_mixed_measures() {
	want $cc -O2 -fchord=events -fchord-events=loads -c main.c -o main.o
	want $cc -O2 -fchord=edges,events -c work.c -o work.o
	want $cc -o prog main.o work.o
	CHORD_FILE=mixed.chord want ./prog
	"$CHORD" report --json prog mixed.chord >json || no "no report"
	[ "$(jq '.events_not_counted_in | (.loads > 0 and .instructions > 0)' json)" = true ] || no "not said what is not counted where"
	[ "$(jq '.events.instructions == ([.functions[].instructions] | add)' json)" = true ] || no "events and edges differ"
}
t_selected_paths() {
	want $cc -O2 -fchord=paths -o prog main.c work.c
	CHORD_FILE=all.chord want ./prog
	want "$CHORD" paths select --rule=hot:90% -o hot.paths prog all.chord
	want $cc -O2 -fchord-paths=hot.paths -o some main.c work.c
	CHORD_FILE=some.chord want ./some
	"$CHORD" paths --json --top=0 prog all.chord >all.json || no "no report"
	"$CHORD" paths --json --top=0 some some.chord >some.json || no "no report"
	[ "$(jq '.paths | length' some.json)" -ge 1 ] || no "no path was counted"
	jq -c '.paths[] | [.function, .begins, .edges, .count]' all.json | sort >all
	jq -c '.paths[] | [.function, .begins, .edges, .count]' some.json | sort >some.list
	[ -z "$(comm -13 all some.list)" ] || no "selected paths were counted otherwise: $(comm -13 all some.list)"
	[ "$(wc -l <some.list)" -lt "$(wc -l <all)" ] || no "all paths were counted"
	sed '/^procedure/s/.$/x/; /^procedure/s/[0-9a-f]x$/00/' hot.paths >other.paths
	refused 1 "^chord: .*other.paths:[0-9]*: .*another build" $cc -O2 -fchord-paths=other.paths -o third main.c work.c
	awk '/^path/ && !n++ { $2 = 999 } { print }' hot.paths >wrong.paths
	refused 1 "^chord: .*wrong.paths:[0-9]*: .*another build" $cc -O2 -fchord-paths=wrong.paths -o third main.c work.c
}
# A program of which nothing is understood: said when it is linked, and when somebody asks for its counts.
t_all_refused() {
	$cc -O2 -fsplit-stack -o prog main.c work.c >out 2>err || no "status $?: $(head -c 400 err)"
	says "nothing in it is measured: each of its procedures was refused" err
	want ./prog
	refused 1 "chord: ./prog: it leaves no profile, because each of its procedures was refused" "$CHORD" report ./prog
}

# An unwinder in the program itself is not seen, which is said; in a static program it is seen.
t_own_unwinder() {
	cat >throws.cc <<-'E'
		#include <cstdio>
		int main(int argc, char **) { try { if (argc) throw 1; } catch (int n) { std::printf("%d\n", n); } }
	E
	local note='has an unwinder of its own \(-static-libgcc\): exceptions were not seen' how
	for how in -static-libgcc -static; do
		rm -f ./*.chord
		want "$CHORD" c++ -O2 -static-libstdc++ $how -o throws throws.cc
		want ./throws
		want "$CHORD" report ./throws
		mv out "report$how"
	done
	grep -Eq "$note" report-static-libgcc || no "it is not said: $(cat report-static-libgcc)"
	grep -Eq "$note" report-static && no "it is said of a static program"
	:
}

t_wrong_measures() {
	local all
	all=$("$CHORD" cc --measures | cut -f 1 | paste -sd ' ' | sed 's/ /, /g; s/\(.*\), /\1 and /')
	refused 2 "^chord: -fchord=nonsense: unknown measure 'nonsense'; there are $all$" $cc -fchord=nonsense -c work.c
	refused 2 "chord: -fchord=edges,every-edge: .*one of them" $cc -c work.c -fchord=edges,every-edge
	refused 2 "chord: -fchord=paths,edges: .*one of them" $cc -c work.c -fchord=paths,edges
	refused 2 "chord: -fchord=trace,paths: .*one of them" $cc -c work.c -fchord=trace,paths
	refused 2 "chord: -fsanitize=thread: .*neither paths nor traces" $cc -fchord=paths -fsanitize=thread -c work.c
	refused 2 "chord: -fsanitize=memory: .*neither paths nor traces" $cc -fsanitize=undefined,memory -fchord=trace -c work.c
	want $cc -fchord=paths -fsanitize=thread -fno-sanitize=all -c work.c
	want $cc -fchord=calls -fsanitize=thread -c work.c
	for o in -fchord=paths,events -fchord=calls,paths "-fchord=paths -fchord-events=loads"; do
		refused 2 "chord: -fchord=paths: .* cannot be counted beside paths" $cc $o -c work.c
	done
	for o in -fchord= -fchord=Edges -fchord=edges,; do
		refused 2 "^chord: $o: .*edges" $cc $o -c work.c
	done
	for o in -fchord -fchords=edges -fchord-weights= -fchord-paths=; do
		refused 2 "^chord: $o: .*there are -fchord=, -fchord-events=, -fchord-timers=, -fchord-paths=, -fchord-trace=, -fchord-trace-stamp=, -fchord-weights= and -fchord-loops=" $cc $o -c work.c
	done
	for o in "" , a,, ,a; do
		refused 2 "^chord: -fchord-trace-stamp: '$o' names a function without a name" $cc -fchord=trace -fchord-trace-stamp=$o -c work.c
	done
	refused 2 "^chord: -fchord-paths: does not go with -fchord=edges" $cc -fchord-paths=f -fchord=edges -c work.c
	refused 1 "^chord: .*no-such: No such file" $cc -fchord-paths=no-such -c work.c
	refused 1 "^chord: .*work.c:1: not a file of paths of interest" $cc -fchord-paths=work.c -c work.c
	refused 2 "^chord: -fchord=calls: 5 events are too many" $cc -fchord=calls -fchord-events=loads,stores,calls,taken,fp -c work.c
	refused 2 "^chord: -fchord-events: .*nonsense" $cc -fchord-events=loads,nonsense -c work.c
	refused 2 "chord: --chord: unknown measure 'x'" "$hook/as" --chord=x -o x.o hand.s
	refused 1 "unknown measure 'x'" gcc -B"$hook" -Wa,--chord=x -c work.c
	refused 1 "^chord: --chord=edges: 'calls' after it is no file; .* joined by [+]" gcc -B"$hook" -Wa,--chord=edges,calls -c work.c
	refused 1 "^chord: --chord=@events=fp: 'loads' after it is no file; .* %2c" gcc -B"$hook" -Wa,--chord=@events=fp,loads -c work.c
	refused 1 "no-such.s" "$hook/as" --chord=edges no-such.s -o x.o
	[ "$(ls *.o 2>/dev/null)" = "" ] || no "there is an object"
}

# ---- never call yourself ----

t_dot_in_path() {
	cp "$CHORD" as
	mkdir sub
	cp "$CHORD" sub/as
	printf '#!/bin/sh\nexit 77\n' >sub/not-as
	PATH=.:$PATH want $cc -O2 -o prog main.c work.c
	counts prog
	PATH=:$PWD/sub:$PATH want $cc -O2 -c work.c
	measured_object work.o
	PATH=$PWD/sub:$PATH COMPILER_PATH=$hook want gcc -O2 -c work.c
	measured_object work.o
}
t_links_in_path() {
	mkdir hard soft copy other
	ln "$CHORD" hard/as 2>/dev/null || cp "$CHORD" hard/as
	ln -s "$CHORD" soft/as
	cp "$CHORD" copy/as
	{ cat "$CHORD"; echo more; } >other/as
	mkdir other/folder
	chmod +x other/as
	for d in hard soft copy other; do
		PATH=$PWD/$d:$PATH want $cc -O2 -c -o $d.o work.c
		measured_object $d.o
		same hard.o $d.o
	done
	refused 1 "chord: as: no assembler in PATH" env PATH="$PWD/hard:$PWD/soft:$PWD/copy:$PWD/other" "$hook/as" --version
}
t_none_in_path() {
	mkdir soft
	ln -s "$CHORD" soft/as
	refused 1 "^chord: as: no assembler in PATH" env PATH="$PWD/soft" "$hook/as" -o x.o hand.s
	refused 1 "CHORD_AS names Chord" env CHORD_AS="$CHORD" "$hook/as" -o x.o hand.s
	CHORD_AS=$as PATH=$PWD/soft want "$hook/as" -o x.o hand.s
	measured_object x.o
	CHORD_AS=/no/such/as refused 1 "chord: /no/such/as: No such file" "$hook/as" -o x.o hand.s
}
t_script_in_path() {
	mkdir script
	printf '#!/bin/sh\nexec "%s/as" "$@"\n' "$hook" >script/as
	chmod +x script/as
	PATH=$PWD/script:$PATH refused 1 "leads back to Chord" $cc -c work.c
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$as" >script/as
	PATH=$PWD/script:$PATH want $cc -c work.c
	measured_object work.o
}
# A compiler that is Chord again, or leads back to it, is refused at once.
t_leads_back() {
	local dir said="^chord: CHORD_CC: .* is Chord itself" again="^chord: CHORD_CC: .* leads back to Chord"
	dir=$(dirname "$CHORD")
	mkdir bin
	ln -s "$CHORD" bin/chord-cc
	ln -s "$CHORD" bin/gcc
	cp "$CHORD" bin/copy
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$dir/chord-cc" >wrap
	printf '#!/bin/sh\n"%s" cc "$@"\nstatus=$?\nexit $status\n' "$CHORD" >calls
	printf '#!/bin/bash\nexec -a cc "%s/calls" "$@"\n' "$PWD" >twice
	chmod +x wrap calls twice
	local how
	for how in -c "-o prog" -E -S --version; do
		for CHORD_CC in "$dir/chord-cc" "$CHORD" "$PWD/bin/chord-cc" "$PWD/bin/copy" "env $dir/chord-cc" chord-cc; do
			CHORD_CC=$CHORD_CC PATH=$dir:$PATH refused 1 "$said" timeout 20 $cc $how work.c
		done
		for CHORD_CC in "$PWD/wrap" "$PWD/calls" "sh $PWD/calls" "$PWD/twice" "env A=b $PWD/wrap"; do
			CHORD_CC=$CHORD_CC refused 1 "$again" timeout 20 $cc $how work.c
			[ "$(wc -l <err)" = 1 ] || no "$CHORD_CC $how: $(head -c 400 err)"
		done
	done
	PATH=$PWD/bin:$PATH refused 1 "^chord: CHORD_CC: gcc is Chord itself" timeout 20 $cc -c work.c
	ln -s "$dir/chord-c++" bin/chord-c++
	CHORD_CXX=$PWD/bin/chord-c++ refused 1 "^chord: CHORD_CXX: .* is Chord itself" timeout 20 "$CHORD" c++ -c both.cc
	if command -v ccache >/dev/null; then
		CCACHE_DIR=$PWD/cache CHORD_CC="ccache $dir/chord-cc" refused 1 "$said" timeout 20 $cc -c work.c
		CCACHE_DIR=$PWD/cache CHORD_CC="ccache $PWD/wrap" refused 1 "leads back to Chord" timeout 20 $cc -c work.c
	fi
	# other wrappers are none of its business, nor is what a server has inherited from an earlier build
	printf '#!/bin/sh\nexec gcc "$@"\n' >wrap
	CHORD_CC=$PWD/wrap want $cc -c work.c
	measured_object work.o
	CHORD_CC_RUNNING=999999 want $cc -c work.c
	printf '#!/bin/sh\nenv >env\nexec gcc "$@"\n' >wrap
	CHORD_CC=$PWD/wrap want $cc -c work.c
	(. <(grep CHORD_CC_RUNNING env | sed 's/^/export /') && want $cc -c work.c) || exit 1
}
# More sections of code than sections of the map may have one name: all linkers keep and drop the right ones.
t_many_sections() {
	local n=700 linker flags
	awk -v n=$n 'BEGIN {
		for (i = 0; i < n; i++)
			printf "__attribute__((noinline)) int f%d(int a) { return a > %d ? a : a + 1; }\n", i, i
		print "int main(void) { volatile int s = 0;"
		for (i = 0; i < n; i += 2)
			printf "s += f%d(1);\n", i
		print "return s & 1; }"
	}' >many.c
	for linker in bfd gold lld mold; do
		ld.$linker --version >/dev/null 2>&1 || continue
		for flags in "" -Wl,--gc-sections "-Wl,--gc-sections -s"; do
			# gold drops all records with -s
			[ "$linker${flags#*ions }" != gold-s ] || continue
			# shellcheck disable=SC2086
			want $cc -B/usr/libexec/$linker -fuse-ld=$linker -O1 -ffunction-sections $flags -o prog many.c
			rm -f p
			CHORD_FILE=$PWD/p ./prog
			want "$CHORD" report --json ./prog p
			# those that ran once each, main, and no other with a count; without -s dropped ones are gone, but for gold
			jq -e "[.functions[] | select(.calls == 1)] | length == $((n / 2 + 1))" out >/dev/null || no "$linker $flags: $(jq -c '.functions | length' out)"
			jq -e "[.functions[] | select(.calls > 1)] | length == 0" out >/dev/null || no "$linker $flags: counted twice"
			[ -z "$flags" ] || jq -e ".functions | length <= $n / 2 + 20" out >/dev/null || no "$linker $flags: $(jq -c '.functions | length' out)"
			[ -n "$flags" ] || jq -e ".functions | length == $((n + 1))" out >/dev/null || no "$linker: $(jq -c '.functions | length' out)"
		done
	done
}
# linear SHAPE: four times the sections must not cost eight times the time
t_linear_sections() {
	local group n one four
	for group in "" G; do
		for n in 4000 16000; do
			awk -v n=$n -v g="$group" 'BEGIN {
				for (i = 0; i < n; i++)
					printf "\t.section .text.f%d,\"ax%s\",@progbits%s\n\t.weak f%d\n\t.type f%d,@function\nf%d:\ttestl %%edi,%%edi\n" \
						"\tje .L%d\n\tincl %%edi\n.L%d:\tret\n\t.size f%d,.-f%d\n", i, g, g ? ",f" i ",comdat" : "", i, i, i, i, i, i, i
			}' >many.s
			/usr/bin/time -o "cost$n" -f %U "$hook/as" -o many.o many.s || no "status $?"
		done
		one=$(cat cost4000) four=$(cat cost16000)
		awk -v a="$one" -v b="$four" 'BEGIN { exit b < 8 * a + 0.5 ? 0 : 1 }' || no "${group:-no group}: $one s, then $four s"
	done
}
# asks.c: it counts what it asks for
asks() {
	printf '%s\n' '#include <chord.h>' 'int main(void) { return chord_events(instructions) == 0; }' >asks.c
}
t_header() {
	asks
	for compiler in gcc clang; do
		command -v $compiler >/dev/null || continue
		export CHORD_CC=$compiler
		want $cc -O2 -Wall -Werror -fchord=events -c asks.c
		want $cc -Wall -Werror -o asks asks.o
		want ./asks
		want $cc -Werror -S asks.c
		want $cc -fchord=events -c asks.s
	done
	unset CHORD_CC
	echo '#define chord_events(NAME) 0' >chord.h
	want $cc -I. -fchord=events -o other asks.c
	refused 1 '' ./other
	want $cc -isystem . -fchord=events -o other asks.c
	refused 1 '' ./other
}
# What chord_events() cannot answer is said.
t_unanswered() {
	cat >some.c <<-'END'
	#include <chord.h>
	unsigned long right(void) { return chord_events(loads); }
	unsigned long wrong(void) { return chord_events(laods); }
	unsigned long refused(void)
	{
		__asm__ volatile("je 1f+1\n1:\tmovl $0x90909090, %%eax" : : : "rax");
		return chord_events(loads);
	}
	void other(void) { __asm__ volatile(".set \".Levents.loads\", 0\n\tnop\n\tmovl $0, %%eax" : : : "eax"); }
	END
	# Nothing is counted at all, whatever else is measured.
	local measure
	for measure in $(measures flow); do
		refused 0 "^chord: warning: some.c:2: chord_events\\(loads\\): not counted; counted are none$" \
			$cc -O2 -fchord=$measure -c some.c
		[ "$(grep -c ': not counted; counted are none$' err)" = 3 ] && [ "$(wc -l <err)" = 3 ] || no "$measure: $(cat err)"
	done
	printf '#include <chord.h>\nint f(void (*g)(void *)) { return chord_timer(loads, 1, g, 0); }\n' >timer.c
	for measure in edges events; do
		refused 0 '^chord: warning: timer.c:2: chord_timer\(loads\): no event with timers .*; those are none$' \
			$cc -O2 -fchord=$measure -c timer.c
		[ "$(wc -l <err)" = 1 ] || no "timers, $measure: $(cat err)"
	done
	local wrong="^chord: warning: some.c:3: chord_events\\(laods\\): not counted; counted are loads, stores$"
	refused 0 "$wrong" $cc -O2 -fchord-events=loads,stores -c some.c
	grep -q "^chord: warning: some.c:7: chord_events(loads): 0 here: " err || no "refused: $(cat err)"
	[ "$(wc -l <err)" = 2 ] || no "$(cat err)"
	sed -i '/__asm__/s/.*//' some.c
	refused 0 "$wrong" $cc -O2 -masm=intel -fchord-events=loads,stores -c some.c
}
# The program can tell 0 from what is not counted, whoever built it, and nobody is warned.
t_counted() {
	printf '#include <chord.h>\n#include <stdio.h>
		int main(void) { printf("%%d %%d\\n", chord_counted(loads), chord_counted(stores)); return 0; }\n' >asks.c
	local how
	for how in -O0 -O2 "-O2 -masm=intel"; do
		want $cc $how -fchord-events=loads -o prog asks.c
		[ "$(./prog)" = "1 0" ] && [ ! -s err ] || no "$how: $(./prog; cat err)"
		want $cc $how -fchord-events=stores,loads -o prog asks.c
		[ "$(./prog)" = "1 1" ] || no "$how, two: $(./prog)"
		want $cc $how -o prog asks.c
		[ "$(./prog)" = "0 0" ] && [ ! -s err ] || no "$how, edges: $(./prog; cat err)"
		want gcc $how -I"$here/../../include" -o prog asks.c
		[ "$(./prog)" = "0 0" ] || no "$how, plain: $(./prog)"
	done
}
# One event, two counters.
t_calls_and_events() {
	want $cc -fchord=calls -fchord-events=loads,stores -c main.c
	want $cc -fchord-events=loads,branches -c work.c
	refused 0 "^chord: warning: prog: loads: counted for calls .* apart" $cc -o prog main.o work.o
	[ "$(wc -l <err)" = 1 ] || no "$(cat err)"
	want $cc -fchord-events=branches -c work.c
	want $cc -o prog main.o work.o
	want $cc -c work.c
	want $cc -o prog main.o work.o
}
t_from_afar() {
	mkdir -p bin "with space/bin" "with space/libexec/chord" else/where
	ln -s "$CHORD" bin/chord
	ln -s "$CHORD" bin/chord-cc
	ln -s "$CHORD" bin/chord-c++
	PATH=$PWD/bin:$PATH want chord-cc -O2 -o prog main.c work.c
	counts prog
	PATH=$PWD/bin:$PATH want chord-c++ -O2 -o progxx both.cc
	counts progxx
	cp "$CHORD" "with space/bin/"
	cp -r "$hook"/* "with space/libexec/chord/"
	want "with space/bin/chord" cc -O2 -o prog main.c work.c
	counts prog
	asks
	want "with space/bin/chord" cc -O2 -fchord=events -o asks asks.c
	want ./asks
	cp "$CHORD" else/where/
	refused 1 "chord: runtime.s: not found beside the program" else/where/chord cc -c main.c
	refused 1 "chord: runtime.s: not found beside the program" else/where/chord hook
}

# ---- builds ----

t_parallel_make() {
	{
		echo 'all: prog'
		echo 'OBJ ='
		for i in $(seq 40); do
			echo "int f$i(int n) { int s = 0; for (volatile int i = 0; i < n; i++) s += i; return s; }" >f$i.c
			echo "OBJ += f$i.o"
		done
		echo 'prog: main.o work.o $(OBJ)'
		printf '\t$(CC) $(CFLAGS) -o $@ $^\n'
	} >Makefile
	want make -s -j8 CC="$cc" CFLAGS="-O2 -fchord=every-block"
	counts prog
	want make -s -j8 CC="$cc" CFLAGS=-O2 -B
	counts prog
	cp prog first
	want make -s -j3 CC="$cc" CFLAGS="-O2 -pipe" -B
	same prog first
}
t_make() {
	printf 'prog: main.o work.o\n\t$(CC) -o $@ $^\nlib.a: work.o\n\t$(AR) rc $@ $^\nprog2: main.o lib.a\n\t$(CC) -o $@ $^\nlib.so: work.c\n\t$(CC) $(CFLAGS) -shared -fPIC -o $@ $^\nprog3: main.o lib.so\n\t$(CC) -o $@ $^ -Wl,-rpath,.\n' >Makefile
	want make -s CC="$cc" prog prog2 prog3
	counts prog
	counts prog2
	rm -f prog3.*.chord
	want ./prog3
	[ "$(calls ./prog3 work)" = 10 ] || no "the shared object counts $(calls ./prog3 work)"
}
t_cmake() {
	cat >CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.13)
		project(t C CXX ASM)
		include(CheckFunctionExists)
		include(CheckCCompilerFlag)
		check_function_exists(printf HAS_PRINTF)
		check_c_compiler_flag(-Wsuch-warning-at-all HAS_NONSENSE)
		if(NOT HAS_PRINTF OR HAS_NONSENSE)
			message(FATAL_ERROR "checks are wrong: ${HAS_PRINTF} ${HAS_NONSENSE}")
		endif()
		add_library(w STATIC work.c)
		add_executable(prog main.c)
		target_link_libraries(prog w)
		add_executable(progasm main.c cpp.S)
		add_executable(progxx both.cc)
	END
	mkdir b
	(cd b && want cmake -DCMAKE_C_COMPILER="$(dirname "$CHORD")/chord-cc" -DCMAKE_CXX_COMPILER="$(dirname "$CHORD")/chord-c++" -DCMAKE_BUILD_TYPE=Release ..) || exit 1
	(cd b && want make -s -j2) || exit 1
	cd b
	counts prog
	counts progasm
	counts progxx
}
t_configure() {
	cat >configure.ac <<-'END'
		AC_INIT([t],[1])
		AC_CONFIG_SRCDIR([main.c])
		AC_PROG_CC
		AC_PROG_CPP
		AM_PROG_AS
		AC_C_INLINE
		AC_C_BIGENDIAN
		AC_CHECK_SIZEOF([long])
		AC_CHECK_HEADERS([stdlib.h no_such_header.h])
		AC_CHECK_FUNCS([printf no_such_function])
		AC_CHECK_LIB([m],[floor])
		AC_LANG_WERROR
		AC_COMPILE_IFELSE([AC_LANG_PROGRAM],[SILENT=yes],[SILENT=no])
		AC_SUBST([SILENT])
		AC_CONFIG_FILES([Makefile])
		AC_OUTPUT
	END
	sed -i '/AM_PROG_AS/d' configure.ac
	printf 'CC = @CC@\nCFLAGS = @CFLAGS@\nSILENT = @SILENT@\nprog: main.o work.o\n\t$(CC) $(CFLAGS) -o $@ $^\n' >Makefile.in
	autoconf >out 2>&1 || no "autoconf: $(tail -3 out)"
	./configure CC="$cc" >out 2>err || no "configure: $(tail -3 err)"
	cp config.status ours.status
	./configure CC=gcc >outplain 2>err || no "configure: $(tail -3 err)"
	diff <(sed -e "s|$cc|CC|g" out) <(sed -e 's/gcc/CC/g' outplain) | grep '^[<>]' | grep -v 'CC' >different
	[ ! -s different ] || no "configure finds otherwise: $(head -5 different)"
	./configure CC="$cc" >out 2>err
	grep -q 'SILENT = yes' Makefile || no "the compiler is not silent"
	want make -s
	counts prog
}
t_libtool() {
	cat >configure.ac <<-'END'
		AC_INIT([t],[1])
		AM_INIT_AUTOMAKE([foreign])
		AC_PROG_CC
		LT_INIT
		AC_CONFIG_FILES([Makefile])
		AC_OUTPUT
	END
	printf 'lib_LTLIBRARIES = libw.la\nlibw_la_SOURCES = work.c\nbin_PROGRAMS = prog\nprog_SOURCES = main.c\nprog_LDADD = libw.la\n' >Makefile.am
	autoreconf -i >out 2>&1 || no "autoreconf: $(tail -3 out)"
	./configure CC="$cc" --disable-shared >out 2>err || no "configure: $(tail -3 err)"
	make -s -j2 >out 2>err || no "make: $(cat err)"
	! grep -q chord: err || no "$(cat err)"
	counts prog
}
t_ccache() {
	export CCACHE_DIR=$PWD/cache
	export CHORD_CC="ccache gcc"
	want $cc -O2 -c work.c
	cp work.o first.o
	want $cc -O2 -c work.c
	same work.o first.o
	ccache -s -v | grep -Eq 'Hits: +1 ' || no "the second is not from the cache: $(ccache -s -v | head -5)"
	want $cc -O2 -fchord=every-block -c work.c
	! cmp -s work.o first.o || no "another measure, the same object: a stale cache"
	want $cc -O2 -c main.c
	want $cc -o prog main.o work.o
	counts prog
	unset CHORD_CC
	want ccache "$(dirname "$CHORD")/chord-cc" -O2 -c work.c
	same work.o first.o
	want ccache gcc -O2 -c -o plain.o work.c
	plain_object plain.o
}
# A build may put `chord cc` before the compiler's own name, as CMake's launchers do.
t_compiler_named() {
	local c
	for c in gcc "$(command -v gcc)" clang "ccache gcc" x86_64-linux-gnu-gcc; do
		command -v $c >/dev/null || continue
		rm -f prog
		CCACHE_DIR=$PWD/cache CHORD_CC=false want $cc $c -O2 -o prog main.c work.c
		counts prog
		$cc $c --version >out 2>err && "${c##* }" --version | cmp -s - out || no "chord cc $c --version: $(head -1 out err)"
	done
	rm -f prog
	want $cc -fchord=edges -fchord=every-block gcc -fchord=paths -O2 -o prog main.c work.c
	counts prog
	want "$CHORD" paths prog
	: >gcc # this folder's file is an input
	$cc gcc -c -o work.o work.c 2>err
	says 'gcc: linker input file unused' err
	rm gcc
	refused 1 'No such file' $cc -O2 gcc -c -o work.o work.c
	mkdir bin
	printf '#!/bin/sh\necho "rustc: unknown option $1" >&2\nexit 1\n' >bin/rustc
	chmod +x bin/rustc
	PATH=$PWD/bin:$PATH refused 1 'rustc does not take gcc.s options' $cc rustc x.rs
	printf '#!/bin/sh\nexec gcc "$@"\n' >bin/mpicc
	chmod +x bin/mpicc
	rm -f prog
	PATH=$PWD/bin:$PATH CHORD_CC=false want $cc mpicc -O2 -o prog main.c work.c
	counts prog
	cp bin/rustc bin/tcc
	PATH=$PWD/bin:$PATH refused 1 'tcc does not take gcc.s options' $cc tcc -c work.c
	# a source that may be executed, as all files of some file systems
	cp work.c bin/odd.cc
	chmod +x bin/odd.cc
	want $cc bin/odd.cc -c -o odd.o
	refused 1 "is Chord itself" $cc "$(dirname "$CHORD")/chord-cc" -c work.c
}
t_cmake_launcher() {
	printf '%s\n' 'cmake_minimum_required(VERSION 3.20)' 'project(p C)' 'add_executable(prog main.c work.c)' >CMakeLists.txt
	want cmake -B built -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER_LAUNCHER="$CHORD;cc"
	want cmake --build built
	counts built/prog
}

# ---- reproducible ----

t_reproducible() {
	local elsewhere=$PWD/another/folder
	mkdir -p "$elsewhere" "$PWD/tmp"
	cp ./*.c ./*.s ./*.S "$elsewhere"
	for src in work.c main.c hand.s cpp.S; do
		for m in events calls; do
			want $cc -O2 -fchord=$m -fchord-events=loads,stores -c -o a.o $src
			(cd "$elsewhere" && want $cc -O2 -fchord=$m -fchord-events=loads,stores -c -o b.o $src) || exit 1
			same a.o "$elsewhere/b.o"
		done
		want $cc -O2 -c -o a.o $src
		want $cc -O2 -c -o b.o $src
		same a.o b.o
		want $cc -O2 -pipe -c -o b.o $src
		same a.o b.o
		TMPDIR=$PWD/tmp want $cc -O2 -c -o b.o $src
		same a.o b.o
		(cd "$elsewhere" && want $cc -O2 -c -o b.o $src) || exit 1
		same a.o "$elsewhere/b.o"
		want $cc -O2 -g -ffile-prefix-map="$PWD"=. -c -o a.o $src
		(cd "$elsewhere" && want $cc -O2 -g -ffile-prefix-map="$PWD"=. -c -o b.o $src) || exit 1
		case $src in *.c) same a.o "$elsewhere/b.o" ;; esac
		want $cc -O2 -g -ffile-prefix-map="$PWD"=. -pipe -c -o b.o $src
		same a.o b.o
	done
}
t_no_traces() {
	mkdir tmp
	TMPDIR=$PWD/tmp want $cc -O2 -o prog main.c work.c
	TMPDIR=$PWD/tmp refused 1 Error "$hook/as" -o x.o - <<<' foox'
	[ -z "$(ls -A tmp)" ] || no "left behind: $(ls -A tmp)"
}

# ---- the link ----

t_unmeasured_link() {
	gcc -O2 -c main.c work.c
	$cc -o prog main.o work.o 2>err || no "status $?"
	[ "$(cat err)" = "chord: warning: prog: nothing in it is measured" ] || no "it says: $(cat err)"
	$cc main.o work.o 2>err || no "status $?"
	[ "$(cat err)" = "chord: warning: a.out: nothing in it is measured" ] || no "it says: $(cat err)"
	$cc -shared -o lib.so main.o work.o 2>err
	says 'chord: warning: lib.so: nothing in it is measured' err
	$cc -s -oprog main.o work.o 2>err || no "status $?"
	says 'chord: warning: prog: nothing in it is measured' err
	gcc -O2 -flto -c main.c work.c
	want $cc -O2 -flto -o prog main.o work.o
	want $cc -O2 -c work.c
	want $cc -o prog main.o work.o
}
t_empty_link() {
	echo 'int table[10] = {1};' >data.c
	want $cc -shared -fPIC -o lib.so data.c
	: >none.c
	want $cc -shared -fPIC -o lib.so none.c
	want $cc -r -o rel.o data.c
	gcc -c -O2 work.c
	want $cc -r -o rel.o work.o
	want $cc -c data.c
	want $cc -O2 -s -o prog main.c work.c hand.s -Wl,--allow-multiple-definition
	want strip prog
	want ./prog
}
# Padding at the beginning of a function that only the woven text has.
t_padded() {
	for n in $(seq 15); do
		printf '\t.text\n\t.globl f%d\n\t.type f%d,@function\nf%d:\n\t.p2align 4,,7\n' $n $n $n
		printf '\t.rept %d\n\tnop\n\t.endr\n\tret\n\t.size f%d,.-f%d\n' $n $n $n
	done >padded.s
	want $cc -c padded.s
	echo 'int main(void) { return 0; }' >none.c
	want $cc -nostartfiles -Wl,-e,main,-z,noexecstack -o prog none.c padded.o
	want "$CHORD" verify --strict prog
}
# A label that jumps from outside come to, and perhaps an indirect jump behind it, by a table: they cannot be told apart.
t_from_outside() {
	printf '\t.data\n\t.quad through, end\n\t.text\n\t.globl f\n\t.type f,@function\nf:\n\txorl %%eax, %%eax\n\tret\n' >outside.s
	printf 'through:\n\tpush %%rbp\n\tjmp *%%rbx\nend:\n\tcall _exit@PLT\n\thlt\n\t.size f,.-f\n' >>outside.s
	echo 'int main(void) { return 0; }' >none.c
	for measure in $(measures); do
		want $cc -fchord=$measure -Wl,-z,noexecstack -o prog none.c outside.s
		refused 1 '' "$CHORD" verify prog
		says 'f: a place in it that jumps from inside and from outside come to' out
	done
	# A procedure that is refused is no reason to say that nothing ran.
	want $cc -fchord=events -Wl,-z,noexecstack -o prog none.c outside.s
	want ./prog
	want "$CHORD" report prog
	! grep -E ' 0 +(instructions|blocks)' out || no "the report says 0"
	# Where the procedure gives the addresses to others, indirect jumps of its own end its activations.
	sed -e '/^\t\.data/d; /^\t\.quad/d' -e 's/xorl %eax, %eax/lea through(%rip), %rax\n\tlea end(%rip), %rcx/' outside.s >given.s
	want $cc -Wl,-z,noexecstack -o prog none.c given.s
	want "$CHORD" verify prog
}
# A procedure by hand that saves the frame pointer gives it back, so its caller's return is on its own stack.
t_frame_by_hand() {
	printf '\t.text\n\t.type leaf,@function\nleaf:\n\tpushq %%rbp\n\tmovq %%rsp, %%rbp\n\tleal 1(%%rdi), %%eax\n\tleave\n\tret\n' >frames.s
	printf '\t.size leaf,.-leaf\n\t.globl f\n\t.type f,@function\nf:\n\tpushq %%rbp\n\tmovq %%rsp, %%rbp\n\tsubq $16, %%rsp\n' >>frames.s
	printf '\tmovl $2, %%edi\n\tcall leaf\n\tleave\n\tret\n\t.size f,.-f\n' >>frames.s
	echo 'int f(void); int main(void) { return f() - 3; }' >calls.c
	want $cc -Wl,-z,noexecstack -o prog calls.c frames.s
	want ./prog
	want "$CHORD" report prog
	! grep -q 'another activation' out || no "a return is taken for a jump"
}
# OCaml's exceptions are not followed.
t_ocaml() {
	printf '\t.globl camlA__frametable\n\t.data\ncamlA__frametable:\n\t.quad 0\n\t.text\n\t.globl camlA__f\n' >ocaml.s
	printf '\t.type camlA__f,@function\ncamlA__f:\n\tmov 16(%%r14), %%rsp\n\tpopq 16(%%r14)\n\tpop %%r11\n\tjmp *%%r11\n' >>ocaml.s
	echo 'int main(void) { return 0; }' >none.c
	want $cc -Wl,-z,noexecstack -o prog none.c ocaml.s
	refused 1 '' "$CHORD" verify prog
	says "camlA__f: OCaml's code, whose exceptions end activations unseen" out
}
t_pascal() {
	printf '\t.section .text.n_u1_$$_f$smallint\n\t.balign 16,0x90\n.globl U1_$$_F$SMALLINT\n' >pascal.s
	printf '\t.type U1_$$_F$SMALLINT,@function\nU1_$$_F$SMALLINT:\n\tleal 1(%%edi), %%eax\n\tret\n.Le0:\n' >>pascal.s
	printf '\t.size U1_$$_F$SMALLINT, .Le0 - U1_$$_F$SMALLINT\n' >>pascal.s
	echo 'int main(void) { return 0; }' >none.c
	want $cc -Wl,-z,noexecstack -o prog none.c pascal.s
	refused 1 '' "$CHORD" verify prog
	says "U1_\$\$_F\$SMALLINT: Free Pascal's code, whose exceptions end activations unseen" out
	# A function whose name is its section's is the C compiler's.
	echo 'int n_main(void) { return 1; } int main(void) { return n_main() - 1; }' >sections.c
	want $cc -ffunction-sections -o prog2 sections.c
	want "$CHORD" verify prog2
}
# gdc warns of options that are not D's.
t_gdc() {
	cat >work.d <<-'EOF'
		extern (C) int puts(const char *);
		extern (C) int work(int n) { return n + 1; }
		extern (C) int main() { int n; foreach (i; 0 .. 10) n = work(n); return n == 10 ? puts("ten") < 0 : 1; }
	EOF
	CHORD_CC=gdc want $cc -Werror -fno-inline -MMD -MF work.dep.d -o prog work.d
	counts prog
	CHORD_CC=gdc want $cc -Werror -fno-inline -o prog2 -x d work.d
	counts prog2
}
# cc1gm2 knows no options for C's preprocessor. Here a script stands for gm2, and C for Modula-2.
t_modula() {
	cat >gm2 <<-'EOF'
		#!/bin/bash
		[[ " $*" != *" -idirafter"* ]] || { echo "unrecognized command-line option '-idirafter'" >&2; exit 1; }
		args=()
		for a; do [[ $a == -xmodula-2 ]] || args+=("$a"); done
		exec gcc -x c "${args[@]}"
	EOF
	chmod +x gm2
	echo '__attribute__((noinline)) int work(int n) { return n + 1; }' >work.mod
	echo 'int main(void) { int n = 0; for (int i = 0; i < 10; i++) n = work(n); return n - 10; }' >>work.mod
	CHORD_CC=./gm2 want $cc -o prog work.mod
	counts prog
	cp work.mod other
	CHORD_CC=./gm2 want $cc -o prog2 -xmodula-2 other
	counts prog2
}
t_unlike_gcc() {
	local c
	for c in rustc ldc2 ocamlopt fpc cobc nim valac; do
		printf '#!/bin/sh\necho ran\n' >$c
		chmod +x $c
		CHORD_CC=$PWD/$c refused 1 "chord: CHORD_CC: .*$c does not take gcc's options: chord-hook" $cc -o prog prog.x
		[ ! -s out ] || no "$c ran"
	done
}
# What fpc itself makes, should it be there.
t_fpc() {
	cat >p.pas <<-'EOF'
		program p;
		function work(n: integer): integer; begin work := n + 1; end;
		begin writeln(work(2)); end.
	EOF
	fpc -v0 -Aas -FD"$hook" -op p.pas >out 2>err || no "status $?: $(head -c 400 out err)"
	[ "$(./p)" = 3 ] || no "not the plain program's output"
	refused 1 '' "$CHORD" verify p
	says "Free Pascal's code, whose exceptions end activations unseen" out
}
# What ghc makes, should it be there. Its timer would make two runs differ.
t_ghc() {
	cat >p.hs <<-'EOF'
		import Control.Exception
		collatz :: Int -> Int
		collatz 1 = 0
		collatz n = 1 + collatz (if even n then n `div` 2 else 3 * n + 1)
		main = do
		  print (maximum (map collatz [1..300]))
		  r <- try (evaluate (1 `div` (0 :: Int))) :: IO (Either ArithException Int)
		  print r
	EOF
	for measure in edges every-block; do
		rm -f p.o p.hi
		want ghc -O -rtsopts -pgma "$CHORD-cc" -opta-fchord=$measure -pgml "$CHORD-cc" -optl-no-pie -o $measure p.hs
		want ./$measure +RTS -V0
		says 127 out
		says 'Left divide by zero' out
		want "$CHORD" report --insns $measure
		mv out $measure.insns
		! grep -q 'not known' $measure.insns || no "$(grep 'not known' $measure.insns)"
	done
	[ -s edges.insns ] && cmp -s edges.insns every-block.insns || no "$(diff edges.insns every-block.insns | head -n 5)"
}
# The address of code by its distance in bytes: of a loop's head, and farther on.
t_lea_number() {
	local own
	own=$(measures own-event)
	printf '\t.text\n\t.globl rounds\n\t.type rounds,@function\nrounds:\n\txorl %%eax, %%eax\n\tlea 0(%%rip), %%rcx\n' >lea.s
	printf '\taddq %%rdi, %%rax\n\tdecq %%rdi\n\tje 1f\n\tjmp *%%rcx\n1:\tret\n\t.size rounds, .-rounds\n' >>lea.s
	printf '\t.globl on\n\t.type on,@function\non:\n\tleaq 6(%%rip), %%rcx\n\txorl %%eax, %%eax\n\ttestl %%edi, %%edi\n' >>lea.s
	printf '\tjmp *%%rcx\n\tjne 1f\n\tret\n1:\tincl %%eax\n\tret\n\t.size on, .-on\n' >>lea.s
	echo 'long rounds(long), on(long); int main(void) { long i, bad = 0; for (i = 0; i < 10; i++)
		bad += rounds(i + 1) != (i + 1) * (i + 2) / 2 || on(i) != (i > 0); return bad != 0; }' >lea.c
	for measure in $(measures); do
		want $cc -fchord=$measure -Wl,-z,noexecstack -o prog lea.c lea.s
		[[ $measure = events || " $own " = *" $measure "* ]] || { counts prog rounds && counts prog on; }
		want ./prog
	done
	want $cc -Wl,-z,noexecstack -o prog lea.c lea.s
	rm -f prog.*.chord
	want ./prog
	want "$CHORD" report --insns prog
	says 'rounds 0 9 55 other' out
}
t_build_id() {
	for o in -Wl,--build-id=none "-Xlinker --build-id=none" -Wl,-O1,--build-id=none -Wl,--build-id=md5 -Wl,--build-id=0x12345678; do
		rm -f *.chord
		want $cc -O2 $o -o prog main.c work.c
		counts prog
	done
	readelf -n prog | grep -q 'Build ID: 12345678$' || no "the user's build id is not used"
}
t_link_status() {
	echo 'int main(void) { return no_such_function(); }' >bad.c
	refused 1 'no_such_function' $cc -w -o prog bad.c
	! grep -q chord: err || no "$(cat err)"
	printf '#!/bin/sh\nexit 7\n' >seven
	printf '#!/bin/sh\nkill -SEGV $$\n' >dies
	printf '#!/bin/sh\ntrap "echo got TERM; exit 5" TERM\necho $$ >pid\nwhile :; do sleep 0.05; done\n' >waits
	chmod +x seven dies waits
	CHORD_CC=./seven refused 7 '' $cc -o prog main.c
	CHORD_CC=./seven refused 7 '' $cc -c main.c
	CHORD_CC=./dies "$CHORD" cc -o prog main.c >out 2>&1 &
	wait $! 2>/dev/null
	[ $? = 139 ] || no "a signal is not passed on"
	CHORD_CC=./waits "$CHORD" cc -o prog main.c >out 2>&1 &
	local driver=$!
	for i in $(seq 100); do [ -s pid ] && break; sleep 0.05; done
	kill -TERM $driver
	wait $driver
	[ $? = 5 ] || no "SIGTERM did not reach the compiler"
	says 'got TERM' out
	(trap '' CHLD; want $cc -o prog main.c work.c) || exit 1
	printf '#!/bin/sh\nexit 7\n' >seven
	(trap '' CHLD; CHORD_CC=./seven refused 7 '' $cc -o prog main.c) || exit 1
}
t_help() {
	want $cc --help
	says 'Usage: chord cc' out
	says '-fchord=every-block' out
	mv out help
	want $cc -h
	cmp -s out help || no "chord cc -h is not its --help"
	want "$CHORD" hook --help
	says 'Usage: chord hook' out
	refused 2 'Usage: chord hook' "$CHORD" hook nonsense
}

test_case link-at-once
test_case c
test_case pipe
test_case closed-streams
test_case save-temps
test_case save-odd-names
test_case s
test_case S
test_case with-cpp
test_case precompiled
test_case stop-at-text
test_case lto
test_case lto-measure
test_case split-dwarf
test_case at-file
test_case several
test_case gxx g++
test_case gxx-pipe g++
test_case gfortran gfortran
test_case gnatmake gnatmake
test_case gnat-faults gnatmake
test_case rustc rustc
test_case clang clang
test_case clang-14 clang-14 clang++-14
test_case clang-lto clang
test_case clang-bitcode clang
test_case clang-own clang
test_case clang-own-text clang
test_case begin-with-data
test_case near-jumps
test_case clang-assembles clang
test_case clang-sections clang clang++
test_case clang-prefixes clang
test_case clang-last clang
test_case compiler-path
test_case users-assembler
test_case compiler-words
test_case no-operand
test_case operands
test_case probes
test_case no-output
test_case listing
test_case dependencies
test_case other-mode
test_case options
test_case march
test_case padded-branches
test_case fences
test_case rejected
test_case warned
test_case lines
test_case own-frames
test_case measures
test_case mixed-measures
test_case all-refused
test_case own-unwinder
test_case wrong-measures
test_case dot-in-path
test_case links-in-path
test_case none-in-path
test_case script-in-path
test_case leads-back
test_case many-sections
test_case linear-sections
test_case from-afar
test_case header
test_case unanswered
test_case counted
test_case calls-and-events
test_case parallel-make make
test_case make make
test_case cmake cmake
test_case configure autoconf
test_case libtool autoreconf libtoolize aclocal
test_case ccache ccache
test_case compiler_named gcc
test_case cmake_launcher cmake
test_case reproducible
test_case no-traces
test_case unmeasured-link
test_case empty-link
test_case padded
test_case from-outside
test_case frame-by-hand
test_case ocaml
test_case pascal
test_case fpc fpc
test_case ghc ghc
test_case gdc gdc
test_case modula
test_case unlike_gcc
test_case lea-number
test_case build-id
test_case link-status
test_case help
exit $failed

# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Signals: each strikes in the replay where it struck in the recording, in the program's code, in calls of libc, in system calls. To
# be sourced by run.sh. SIGNALS: the number of signals of a program (default 60), REPLAYS: the number of replays of each log; 1000
# and 100 are the long form.
SIGNALS=${SIGNALS:-60}
struck_replays=$((REPLAYS > 10 ? REPLAYS : 3))

# struck COMPILER "OPTIONS" HOW OPTION...: signals are recorded, and two recordings are not alike. Where most strike in calls, they may be.
struck() {
	local what="$1 $2 $3" first=none
	{ [ "$1" = gcc ] || command -v "$1" >/dev/null; } || return 0
	# shellcheck disable=SC2086
	CHORD_CC=$1 $cc -w $2 -o struck "$here/struck.c" 2>cc.err || no "$what: $(head -c 300 cc.err)"
	shift 2
	for _ in 1 2; do
		record_by "${@:2}" ./struck "$1" "$SIGNALS"
		[ $status = 3 ] || no "$what: status $status: $(head -c 300 err)"
		[ "$1" = calls ] || [ "$(cat out)" != "$first" ] || no "$what: the signals struck alike in two recordings"
		first=$(cat out)
	done
	replay "$struck_replays"
}

# record_by [OPTION...] COMMAND...
record_by() {
	rm -f log
	{ timeout -k 5 60 "$CHORD" record -o log "$@" >out 2>err </dev/null; status=$?; } 2>/dev/null
	[ -s log ] || no "no log of $*: $(head -c 300 err)"
}

t_struck() {
	if [ "$SIGNALS" -ge 1000 ]; then
		for compiler in gcc clang; do
			for way in "-O0 -fchord=clock" "-O2 -fchord=clock" "-O0 -fchord=events" "-O2 -fchord=events -fno-builtin"; do
				struck $compiler "$way" tight
				struck $compiler "$way" mixed
			done
		done
	fi
	struck gcc "-O2 -fchord=clock" tight
	struck clang "-O0 -fchord=clock" mixed
	struck gcc "-O0 -fchord=events" tight
	struck clang "-O2 -fchord=events -fno-builtin" mixed
	# rounds of instructions that repeat themselves
	struck gcc "-O2 -fchord=clock -minline-all-stringops" mixed
}

t_struck_only() {
	for how in tight mixed calls; do
		struck gcc "-O2 -fchord=clock" $how --signals
		struck clang "-O0 -fchord=events" $how --signals
		if [ "$SIGNALS" -ge 1000 ]; then
			struck gcc "-O0 -fchord=events" $how --signals
			struck clang "-O2 -fchord=clock" $how --signals
		fi
	done
	# system calls have not been recorded
	[ "$(stat -c %s log)" -lt 20000 ] || no "a log of $(stat -c %s log) bytes"
}

# Where the jump of a countdown takes the instruction behind an addition along: that one fails, and handlers return to it, in which others have
# struck.
t_struck_short() {
	$cc -w -O1 -fchord=clock -o fails "$here/fails.c" 2>cc.err || no "$(head -c 300 cc.err)"
	short=$(objdump -d fails | awk '/^[0-9a-f]+ <f[0-3]+>:/ { f = substr($2, 3, 3) } added && /mov +\(%r9\)/ { print f } { added = /incq +%gs:\(%r/ }' | head -n 1)
	[ -n "$short" ] || no "no short addition before a read that fails"
	for least in 0 1; do
		for option in "" --signals; do
			# shellcheck disable=SC2086
			record_by $option ./fails $least "$SIGNALS" "$short"
			[ $status = 3 ] || no "status $status: $(head -c 300 err)"
			replay 2
		done
	done
}

# Loops behind padding for two or three alignments, as gcc 14 has them. Woven code has other padding, in which an instruction of the
# original may seem to stand inside a later one.
t_struck_padded() {
	local n
	{
		echo .text
		for n in $(seq 0 31); do
			printf '\t.globl\tf%s\n\t.type\tf%s, @function\n\t.p2align 5\nf%s:\n\t.cfi_startproc\n\tmovl\t$5, %%eax\n' "$n" "$n" "$n"
			[ "$n" = 0 ] || printf '\tincl\t%%ecx\n%.0s' $(seq "$n")
			printf '\t.p2align 5\n\t.p2align 4\n\t.p2align 3\n1:\tleaq\t1(%%rdi,%%rdi,4), %%rdi\n\tmovq\t%%rdi, (%%rsi)\n'
			printf '\tdecl\t%%eax\n\tjne\t1b\n\tmovq\t%%rdi, %%rax\n\tret\n\t.cfi_endproc\n\t.size\tf%s, .-f%s\n' "$n" "$n"
		done
		printf '\t.ident\t"GCC: (GNU) 14.2.0"\n\t.section\t.note.GNU-stack,"",@progbits\n'
	} >loops.s
	{
		printf '#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/time.h>\n'
		printf 'typedef unsigned long loop(unsigned long, volatile unsigned long *);\nloop f0%s;\n' "$(printf ', f%s' $(seq 31))"
		printf 'static loop *const f[] = {f0%s};\n' "$(printf ', f%s' $(seq 31))"
		cat <<-'EOF'
			static volatile unsigned long x = 1, seen, n;
			static void on(int s) { seen = seen * 31 + x; n++; }
			int main(int argc, char **argv) {
				struct itimerval often = {{0, 1000}, {0, 1000}};
				unsigned long most = strtoul(argv[1], NULL, 10);
				signal(SIGALRM, on), setitimer(ITIMER_REAL, &often, NULL);
				for (unsigned i = 0; n < most; i++)
					f[i % 32](x, &x);
				signal(SIGALRM, SIG_IGN);
				printf("%lu %lu\n", seen, x);
				return 3;
			}
		EOF
	} >prog.c
	want $cc -w -O2 -fchord=clock -o prog prog.c loops.s
	for option in "" --signals; do
		# shellcheck disable=SC2086
		record_by $option ./prog "$SIGNALS"
		[ $status = 3 ] || no "status $status: $(head -c 300 err)"
		replay "$struck_replays"
	done
}

# Signals come faster than they can be recorded: the program gets on all the same.
t_struck_too_often() {
	$cc -w -O2 -fchord=clock -o struck "$here/struck.c" 2>cc.err || no "$(head -c 300 cc.err)"
	gcc -w -O2 -o uncounted "$here/struck.c" || no "cannot compile"
	for run in "struck tight" "struck mixed" "struck calls" "uncounted calls"; do
		# shellcheck disable=SC2086
		record_by ./$run 200 30
		[ $status = 3 ] || no "$run: status $status: $(head -c 300 err)"
		replay 1
	done
}

t_struck_by_others() {
	$cc -w -O2 -fchord=clock -o struck "$here/struck.c" 2>cc.err || no "$(head -c 300 cc.err)"
	for option in "" --signals; do
		rm -f log
		# shellcheck disable=SC2086
		(timeout -k 5 60 "$CHORD" record $option -o log ./struck mixed $((SIGNALS * 2)) >out 2>err </dev/null; echo $? >status) &
		perl -e 'my $p = shift; my ($handles, $strikes) = (0, 0);
			sub of { my ($what) = @_; open(my $f, "<", "/proc/$p/$what") or return ""; local $/; return <$f> // "" }
			while (kill(0, $p)) {
				select(undef, undef, undef, 0.0003 + rand(0.001));
				my ($child) = split " ", of("task/$p/children"); $p = $child if $child;
				$handles ||= of("comm") eq "struck\n" && of("status") =~ /SigCgt:\s*(\w+)/ && (hex($1) & 0xa00) == 0xa00;
				$strikes += kill(rand() < .5 ? "USR1" : "USR2", $p) if $handles }
			print "$strikes\n"' $! >strikes
		wait
		status=$(cat status)
		[ "$status" = 3 ] || no "status $status: $(head -c 300 err)"
		[ "$(cat strikes)" -gt 0 ] || no "nobody has struck it from outside"
		replay "$struck_replays"
	done
}

t_struck_dead() {
	$cc -w -O2 -fchord=clock -o struck "$here/struck.c" 2>cc.err || no "$(head -c 300 cc.err)"
	record_by --signals ./struck end
	[ $status = 142 ] && [ -s out ] || no "status $status: $(head -c 300 err)"
	replay 3
}

# New mappings are where they were, whatever stands beside the library meanwhile.
t_struck_library() {
	printf 'unsigned long step(unsigned long x) { for (int i = 0; i < 1000; i++) x = x * 5 + 1; return x; }\n' >step.c
	cat >prog.c <<-'EOF'
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/time.h>
	unsigned long step(unsigned long);
	static volatile unsigned long x = 1, seen, n;
	static void on(int s) { seen = seen * 31 + x; n++; }
	int main(void) {
		struct itimerval often = {{0, 1000}, {0, 1000}};
		unsigned long where = 0;
		signal(SIGALRM, on), setitimer(ITIMER_REAL, &often, NULL);
		for (int i = 0; n < 60; i++) { x = step(x); if (i % 256 == 0) where = where * 31 + (unsigned long)malloc(300000); }
		signal(SIGALRM, SIG_IGN);
		printf("%lu %lu %lx\n", seen, x, where);
		return 0;
	}
	EOF
	$cc -O2 -fchord=clock -fPIC -shared -o libstep.so step.c && $cc -O2 -fchord=clock -o prog prog.c -L. -lstep -Wl,-rpath,"$PWD" 2>cc.err ||
		no "$(head -c 300 cc.err)"
	for option in "" --signals; do
		# shellcheck disable=SC2086
		record_by $option ./prog
		replay 3
	done
}

t_struck_lua() {
	local src=${CHORD_CACHE:-$HOME/.cache/chord}/src/lua5.4/src
	[ -r "$src/lapi.c" ] || skip "no sources of Lua in $src"
	cp "$src"/*.[ch] . && rm -f lua.c luac.c onelua.c && cp "$here/interpreter.c" .
	echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >lua5.4-deb-multiarch.h
	for way in "gcc -O2" "clang -O2" "gcc -O0" "clang -O0"; do
		compiler=${way% *}
		command -v $compiler >/dev/null && { [ "$way" = "gcc -O2" ] || [ "$SIGNALS" -ge 1000 ]; } || continue
		CHORD_CC=$compiler $cc -w "${way#* }" -fchord=clock '-Dluai_makeseed(L)=0x5eed' -I. -o lua ./*.c -lm 2>cc.err || no "$(head -c 300 cc.err)"
		for option in "" --signals; do
			# shellcheck disable=SC2086
			record_by $option ./lua "$SIGNALS"
			[ $status = 3 ] || no "$way: status $status: $(head -c 300 err)"
			replay "$struck_replays"
		done
	done
}

# Such signals are as they were, also where they are waited for; processes begin, and handlers end.
t_struck_often() {
	$cc -w -O2 -fchord=clock -o often "$here/often.c" 2>cc.err || no "$(head -c 300 cc.err)"
	for how in fork nested chains taken signalfd; do
		for us in 70 1000; do
			record_by ./often $how $us
			[ $status = 3 ] && [[ $(cat out) == "0 wrong "* ]] || no "$how $us: status $status: $(head -c 300 out err)"
			replay 1
		done
	done
}

# On a busy machine a signal may wait for more than two seconds in code that neither counts nor makes calls.
t_struck_busy() {
	local cpu
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//') || skip "no taskset"
	cat >long.c <<-'EOF'
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile unsigned long x = 1, seen;
	static void on(int s) { seen++; }
	int main(void) {
		signal(SIGALRM, on), ualarm(10000, 0);
		for (unsigned long i = 0; i < 250000000; i++) x = x * 5 + 1;
		getppid();
		return printf("%lu\n", seen) < 0;
	}
	EOF
	gcc -w -O2 -o long long.c || no "cannot compile"
	hogs=()
	trap 'kill "${hogs[@]}"' EXIT
	for _ in 1 2 3 4 5; do
		taskset -c "$cpu" bash -c 'while :; do :; done' &
		hogs+=($!)
	done
	record taskset -c "$cpu" ./long
	[ "$(cat out)" = 1 ] && [ ! -s err ] || no "$(head -c 300 out err)"
	replay 1
}

t_struck_refused() {
	gcc -w -O2 -o struck "$here/struck.c" || no "cannot compile"
	refused 1 'signal 14: it has come in .*without being recorded' timeout -k 5 60 "$CHORD" record --signals -o log ./struck tight 20
	[ -s out ] && [ ! -e log ] || no "it did not go on: $(cat out)"
	printf '#include <stdlib.h>\n#include <stdio.h>\nint main(void) { system("echo child"); puts("went on"); return 3; }\n' >starts.c
	$cc -w -fchord=clock -o starts starts.c 2>cc.err || no "$(head -c 300 cc.err)"
	refused 1 'clone: threads, processes .*without being recorded' env CHORD_RECORD=signals timeout -k 5 60 "$CHORD" record -o log ./starts
	[ "$(cat out)" = "$(printf 'child\nwent on')" ] && [ ! -e log ] || no "it did not go on: $(cat out)"
	refused 2 'CHORD_RECORD: all: there is only "signals"' env CHORD_RECORD=all timeout -k 5 60 "$CHORD" record -o log ./starts
	$cc -w -O2 -fchord=clock -o struck "$here/struck.c" 2>cc.err || no "$(head -c 300 cc.err)"
	record_by --signals ./struck tight 20
	head -c 100 log >cut && mv cut log
	cannot 'ends in the middle|damaged'
}

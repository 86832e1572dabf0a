#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings in which system calls are made without a stop. The tests check that they are, and that replays are the same in all that
# a program sees. Prints ok, FAIL or skip for each test; status 1 if one failed.
# buffer.sh [NAME...]
# SIGNALS: how many signals strike (default 200)
set -u
. "$(dirname "$0")/../cases.sh"
. "$here/../may.sh"
. "$here/again.sh"
. "$here/debug.sh"
run_elsewhere $debug_cases
SIGNALS=${SIGNALS:-200}
ulimit -c 0

before() {
	may trace fixed || skip "$why"
	gcc -O1 -w -pthread -o buffer "$here/buffer.c" 2>cc.err || no "cannot compile: $(head -c 300 cc.err)"
	./buffer can || skip "the kernel has no system call user dispatch"
	mkdir tree && for i in 1 2 3 4 5 6 7 8 9; do tail -c $((i * 700)) "$CHORD" >tree/$i; done
	ln -s somewhere tree/link
	mkfifo tree/fifo && exec 8<>tree/fifo
}

# made COMMAND...: recorded, and so many calls have had no stop, in percent at least
made() {
	local least=$1 all free
	shift
	record --stats "$@"
	read -r all free < <(sed -nE 's/^chord: ([0-9]+) system calls, ([0-9]+) of them without a stop.*/\1 \2/p' err)
	sed -i '/^chord: [0-9]* system calls/d' err
	[ $((free * 100)) -ge $((all * least)) ] || no "only $free of $all calls had no stop: $*"
}

t_walk() {
	made 70 ./buffer walk
	[ $status = 3 ] || no "status $status: $(head -c 300 err)"
	replay 3
	# files are not needed
	mv tree elsewhere && replay 1 && mv elsewhere tree
	record --no-buffer --stats ./buffer walk
	grep -q ', 0 of them without a stop' err || no "$(cat err)"
	sed -i '/^chord: [0-9]* system calls/d' err
	replay 1
}

t_registers() {
	./buffer registers >plain
	[ $? = 3 ] || no "plain: $(cat plain)"
	made 30 ./buffer registers
	[ $status = 3 ] && cmp -s plain out || no "other registers: $(cat out)"
	replay 2
}

# Functions with traps between them, as Go's, and a handler of SIGSYS, which is there for signals that are sent.
t_traps() {
	cat >ask.s <<-'EOF'
	.text
	.fill 1024, 1, 0xcc
	.p2align 5, 0xcc
	.globl ask
	ask: mov $110, %eax
	syscall
	ret
	.p2align 5, 0xcc
	.globl after
	after: int3
	ret
	.fill 1024, 1, 0xcc
	.section .note.GNU-stack
	EOF
	cat >traps.c <<-'EOF'
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	int ask(void), after(void);
	static volatile int sent, trapped;
	static void handle(int sig) { if (sig == SIGSYS) sent++; else trapped++; }
	int main(void)
	{
		signal(SIGSYS, handle);
		signal(SIGTRAP, handle);
		for (int i = 0; i < 2000; i++) {
			if (ask() != getppid())
				return 1;
			if (i % 500 == 0)
				raise(SIGSYS), after();
		}
		signal(SIGSYS, SIG_IGN);
		for (int i = 0; i < 100; i++)
			if (ask() != getppid())
				return 1;
		printf("%d %d\n", sent, trapped);
		return 3;
	}
	EOF
	gcc -static -O1 -w -o traps traps.c ask.s || no "cannot compile"
	made 70 ./traps
	[ $status = 3 ] && [ "$(cat out)" = "4 4" ] || no "status $status: $(cat out err)"
	replay 3
}

t_states() {
	made 20 ./buffer states </dev/null
	[ $status = 3 ] || no "status $status: $(head -c 300 err)"
	replay 3
	record --no-buffer ./buffer states </dev/null
	replay 1
}

t_struck() {
	made 50 ./buffer signals "$SIGNALS"
	[ "$(sed -nE '1s/ signals.*//p' out)" -ge "$SIGNALS" ] || no "$(cat out err)"
	replay 3
}

t_interrupted() {
	made 50 ./buffer interrupted
	./buffer interrupted | sed -n 1,2p >plain
	sed -n 1,2p out | cmp -s - plain || no "$(head -c 300 out), plain is $(cat plain)"
	replay 2
}

t_threads_and_processes() {
	made 50 ./buffer threads
	replay 2
	made 30 ./buffer processes
	[ $status = 3 ] || no "status $status: $(head -c 300 err)"
	replay 2
}

t_large() {
	head -c 3000000 "$CHORD" >large
	made 60 ./buffer large
	replay 2
}

# What is written to files: by numbers that mean another file each time, where it is mapped, failing, and up to a death.
t_outputs() {
	gcc -O1 -w -pthread -o outputs "$here/outputs.c" 2>cc.err || no "cannot compile: $(head -c 300 cc.err)"
	made 50 ./outputs
	[ $status = 3 ] || no "status $status: $(tail -n 3 err)"
	[ "$(wc -l <out)" -gt 1000 ] || no "it wrote $(wc -l <out) lines"
	replay 3
	timeout -k 5 60 "$CHORD" record --no-buffer -o log ./outputs >out 2>err || [ $? = 3 ] || no "$(tail -n 3 err)"
	status=3
	replay 1
}

# Pipes are read and written without waiting, where the kernel can.
t_pipes() {
	gcc -O1 -w -o pipes "$here/pipes.c" 2>cc.err || no "cannot compile: $(head -c 300 cc.err)"
	./pipes >plain
	[ "$(grep -vc '^line [0-9]* of output$' plain)" = 2 ] || no "plain: $(head -c 300 plain)"
	printf '#!/bin/sh\n./pipes | cat; exit 3\n' >through.sh
	chmod +x through.sh
	for command in ./pipes ./through.sh; do
		made 60 $command
		grep -v 'bytes of one' plain >expected
		grep -v 'bytes of one' out | cmp -s - expected || no "$command: $(grep -v 'bytes of one' out | diff expected - | head -c 400)"
		[ $status = 3 ] || no "status $status: $(tail -n 3 err)"
		replay 3
	done
}

t_killed() {
	gcc -O1 -w -pthread -o outputs "$here/outputs.c" 2>cc.err || no "cannot compile: $(head -c 300 cc.err)"
	for end in kill:137 term:143; do
		for _ in 1 2 3 4; do
			made 50 ./outputs ${end%:*}
			[ $status = ${end#*:} ] || no "$end: status $status"
			[ "$(wc -l <out)" -gt 100 ] || no "$end: it wrote $(wc -l <out) lines"
			replay 1
		done
	done
}

t_alone() {
	refused 1 'io_uring_setup: the kernel writes memory' timeout -k 5 60 "$CHORD" record -o log ./buffer refused
	[ "$(cat out)" = "refused has ended" ] && [ ! -e log ] || no "it did not go on: $(cat out)"
}

t_static() {
	gcc -O1 -w -pthread -static -o buffer "$here/buffer.c" 2>cc.err || skip "no static libc"
	made 70 ./buffer walk
	replay 1
	gcc -O1 -w -pthread -static-pie -o buffer "$here/buffer.c" 2>cc.err || return 0
	made 70 ./buffer walk
	replay 1
}

t_crash() {
	made 60 ./buffer crash
	[ $status = 139 ] || no "status $status"
	replay 2
	debug ./buffer "continue" "x/i \$pc" "reverse-stepi" "reverse-continue"
	answered 'Program received signal SIGSEGV|SIGSEGV' 'No more reverse-execution history'
}

# gdb sees the program's code as it is, and what calls write.
t_gdb() {
	gcc -g -O0 -w -pthread -o buffer "$here/buffer.c" || no "cannot compile"
	made 60 ./buffer crash
	debug ./buffer "break fstat if times == 15" "tbreak walk" "continue" "delete 1" "watch sum" "continue" "reverse-continue" "finish" \
		"x/2i read"
	answered 'walk \(times=20\)' 'Hardware watchpoint'
	! grep -q '??' answers || no "gdb is lost: $(tail -c 1000 answers)"
}

t_damaged() {
	made 60 ./buffer crash
	size=$(stat -c %s log)
	for cut in 3 2; do
		head -c $((size * cut / 4)) log >cut
		refused 1 'it ends in the middle' "$CHORD" replay cut
	done
}

for name in walk registers traps states struck interrupted threads-and-processes large outputs pipes killed alone static crash gdb damaged; do
	test_case "$name"
done
exit $failed

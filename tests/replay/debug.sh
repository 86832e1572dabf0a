# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Cases of replay/run.sh: gdb looks at a replay, forwards and backwards. To be sourced.

# debug PROGRAM COMMAND...: gdb's answers, in answers. Unless told otherwise gdb waits 2 seconds for an answer, which a very busy
# machine may not give in time.
debug() {
	local program=$1 all=()
	shift
	command -v gdb >/dev/null || skip "no gdb"
	for command in "set confirm off" "set pagination off" "set sysroot /" "set remotetimeout 60" "target remote | $CHORD replay --gdb=- ${view-} log" "$@"; do
		all+=(-ex "$command")
	done
	timeout 200 gdb -nx -q -batch "${all[@]}" "$program" >answers 2>&1 </dev/null || no "gdb: $(tail -c 300 answers)"
	! grep -q 'goes another way' answers || no "$(grep 'goes another way' answers)"
}

# answered PATTERN...: lines that match come in this order
answered() {
	local at=1 found
	# gdb 16 has other words for it.
	sed -i 's/Reached end of recorded history; stopping\./No more reverse-execution history./' answers
	for pattern in "$@"; do
		found=$(tail -n +$at answers | grep -nE -m1 -- "$pattern") || no "no '$pattern' from line $at on of: $(tail -c 1500 answers)"
		at=$((at + ${found%%:*}))
	done
}

# A program with a loop, a write past an array's end, memory that libc and the kernel write, and an end by a signal if it is asked for.
debugged() {
	cat >debugged.c <<-'EOF'
	#include <fcntl.h>
	#include <stdio.h>
	#include <string.h>
	#include <time.h>
	#include <unistd.h>
	struct { int table[10], total; } all = {.total = 100};
	int times;
	char from[64] = "these bytes come from elsewhere", copied[64], got[64];
	void put(int i, int v)
	{
		all.table[i] = v;
	}
	int main(int argc, char **argv)
	{
		for (int i = 0; i < 3000; i++)
			put(i * 7 % 10, i);
		put(10, 7);
		for (int i = 0; i < 2000; i++)
			put(i * 3 % 10, i % 100 || time(NULL) > 0);
		memcpy(copied, from, argc * 32);
		int fd = open("in", O_RDONLY);
		if (read(fd, got, sizeof got) < 5)
			return 1;
		printf("total %d %s\n", all.total, got), fflush(stdout);
		for (int i = 0; i < 5; i++)
			times += i;
		if (argc > 1)
			*(volatile int *)(long)times = 1;
		return 5;
	}
	EOF
	loop=$(grep -n 'times += i' debugged.c | cut -d: -f1)
	gcc -g -O0 -w -o debugged debugged.c || no "cannot compile"
	echo "from a file" >in
	record ./debugged "$@"
}

# The same registers at each state, of vectors, too, forwards and backwards.
t_debug_steps() {
	local forward=() backward=()
	debugged
	for i in $(seq 40); do
		forward+=("stepi 7" "info registers rip rsp rax rcx rdx rsi rdi r11 eflags" "p \$ymm0.v2_int128" "p \$orig_rax > 0")
		backward+=("info registers rip rsp rax rcx rdx rsi rdi r11 eflags" "p \$ymm0.v2_int128" "p \$orig_rax > 0" "reverse-stepi 7")
	done
	debug ./debugged "break debugged.c:$loop" "continue" "delete" "${forward[@]}" 'echo \n--\n' "${backward[@]}"
	sed -n '1,/^--$/p' answers | grep -E '^(rip|rsp|r..|r11|eflags) |^\$' | sed 's/^\$[0-9]*//' >there
	sed -n '/^--$/,$p' answers | grep -E '^(rip|rsp|r..|r11|eflags) |^\$' | sed 's/^\$[0-9]*//' >back
	[ "$(grep -c ^rip there)" = 40 ] && [ "$(grep ^rip there | sort -u | wc -l)" -gt 20 ] || no "not 40 states: $(tail -c 500 answers)"
	# eleven lines a state, the last state first
	[ "$(wc -l <there)" = 440 ] || no "not 11 lines each: $(head -20 there)"
	awk '{block[int((NR - 1) / 11)] = block[int((NR - 1) / 11)] $0 "\n"} END {for (i = 39; i >= 0; i--) printf "%s", block[i]}' there >turned
	cmp -s turned back || no "other registers on the way back: $(diff turned back | head -20)"
}

t_debug_back() {
	debugged
	debug ./debugged "break put if i == 4" "continue" "continue" "continue" "p v" "reverse-continue" "p v" "reverse-continue" "p v" \
		"reverse-step" "reverse-step" "info source" "bt" "delete" "break debugged.c:15" "reverse-continue" "reverse-next" "monitor when" \
		"delete" "reverse-continue" "continue" "continue"
	answered '\$1 = 22$' '\$2 = 12$' '\$3 = 2$' '^main .*|^15' '^#0 .*main' 'Breakpoint' 'event [0-9]+, no clock' \
		'No more reverse-execution history' 'No more reverse-execution history' 'exited with code 05'
	[ "$(grep -c '^total 7 from a file' answers)" = 1 ] || no "not once: $(cat answers)"
}

# Many steps back from a breakpoint whose condition seldom holds. Copies on the way there may lie at one and the same place.
t_debug_seldom() {
	local steps=()
	cat >seldom.c <<-'EOF'
	#include <stdio.h>
	int total;
	void put(int i, int v) { total += v; }
	int main(void)
	{
		for (volatile int i = 0; i < 10; i++)
			put(i, i);
		puts("x");
	}
	EOF
	gcc -g -O0 -o seldom seldom.c && record ./seldom
	for i in $(seq 100); do steps+=("reverse-stepi"); done
	debug ./seldom "break put if i == 4" "continue" 'set $there = $sp' "${steps[@]}" "delete" "stepi 100" 'p $sp - $there' "p i" "p total"
	answered 'Breakpoint 1, put' '= 0$' '= 4$' '= 6$'
}

# Who wrote that last?
t_debug_watch() {
	debugged
	debug ./debugged "break debugged.c:$loop" "continue" "watch all.total" "reverse-continue" "bt 2" "p i" "p v" "delete" \
		"break debugged.c:$loop" "continue" "watch *(int *)(got + 5)" "reverse-continue" 'x/i $pc-2' "bt" "delete" \
		"break debugged.c:$loop" "continue" "watch copied[8]" "reverse-continue" "bt" "delete" \
		"break debugged.c:$loop" "continue" "watch all.table[3]" "reverse-continue" "bt 2" "p v" "reverse-continue" "reverse-continue" "info locals" "p v"
	answered 'Old value = 7' 'New value = 100' '^#0 .*put \(i=10, v=7\)' '^#1 .*main \(argc=1' '\$1 = 10' '\$2 = 7' \
		'atchpoint' 'New value = 0' '__GI___libc_read|read' \
		'atchpoint' "New value = 0" 'mem(cpy|move)' 'main \(' \
		'Old value = 1$' 'New value = 2[0-9]+$' 'put \(i=3, v=1\)' 'v = |\$'
}

# A program that a signal ends stands at the instruction; then it is gone.
t_debug_signal() {
	debugged fault
	debug ./debugged "continue" "p times" "reverse-next" "reverse-next" "continue" "set var times = 3" "p times" "p put(1, 2)" "set var \$rax = 5" "continue"
	[ "$(grep -c 'gdb cannot change registers or memory' answers)" = 1 ] || no "not refused by name: $(tail -c 300 answers)"
	answered 'received signal SIGSEGV' '\$1 = 10' 'received signal SIGSEGV' '(Cannot access memory|could not|rror)' '\$2 = 10' \
		'Program terminated with signal SIGSEGV'
}

t_debug_connections() {
	debugged
	command -v gdb >/dev/null || skip "no gdb"
	"$CHORD" replay --gdb="$PWD/socket" log >again 2>again.err </dev/null &
	for i in $(seq 100); do [ -S socket ] && break; sleep 0.1; done
	timeout 60 gdb -nx -q -batch -ex "set sysroot /" -ex "target remote $PWD/socket" -ex "continue" -ex "continue" ./debugged >answers 2>&1
	wait $! || no "status $?: $(cat again.err)"
	answered 'exited with code 05'
	cmp -s again out || no "other output: $(cat again)"
	refused 1 "neither a port nor" "$CHORD" replay --gdb=nowhere log
	refused 1 "No such file" "$CHORD" replay --gdb=- nothing
}

# Memory that processes share, without a file, with one, and of System V: each copy of the program has its own. What one process
# writes is seen, and found on the way back, in the view of the other.
t_debug_shared() {
	cat >shared.c <<-'EOF'
	#include <fcntl.h>
	#include <sys/mman.h>
	#include <sys/shm.h>
	#include <sys/wait.h>
	#include <unistd.h>
	volatile int *p;
	int got;
	static void done(void) { got = p[0] + p[1]; }
	int main(int n, char **v)
	{
		int fd = n > 1 ? open("file", O_RDWR | O_CREAT | O_TRUNC, 0600) : -1, s = n > 2 ? shmget(IPC_PRIVATE, 9000, IPC_CREAT | 0600) : -1;
		if (fd >= 0) ftruncate(fd, 4096);
		p = n > 2 ? shmat(s, 0, 0) : mmap(0, 4096, PROT_READ | PROT_WRITE, fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
		if (n > 2) shmctl(s, IPC_RMID, 0);
		if (!fork()) { for (int i = 1; i <= 5; i++) { p[0] = i; usleep(1000); } _exit(3); }
		for (int i = 1; i <= 5; i++) { while (p[0] < i) usleep(100); p[1] = i * 10; }
		wait(0);
		done();
		return 0;
	}
	EOF
	gcc -g -w -o shared shared.c || no "cannot compile"
	for kind in "" file "file segment"; do
		# shellcheck disable=SC2086
		record ./shared $kind
		[ $status = 0 ] || no "$kind: status $status"
		debug ./shared "break done" "continue" "p p[0]" "p p[1]" "watch -l p[0]" "reverse-continue" "p p[0]" "reverse-continue" "p p[0]" \
			"delete" "watch -l p[1]" "reverse-continue" "reverse-continue" "p p[1]" "delete" "reverse-continue" "break done" "continue" \
			"p p[0] + p[1]"
		answered '^\$1 = 5' '^\$2 = 50' 'Old value = 5' 'New value = 4' '^\$3 = 4' 'New value = 3' '^\$4 = 3' '^\$5 = [1-4]0' \
			'No more reverse-execution history' 'done' '^\$6 = 55'
		! grep '^chord:' answers || no "$kind: $(grep '^chord:' answers)"
	done
	# bytes behind the end of what was asked for, on its last page
	sed -e 's/ftruncate(fd, 4096)/ftruncate(fd, 100)/' -e 's/mmap(0, 4096/mmap(0, 100/' -e 's/ 9000/ 100/' -e 's/p\[\([01]\)\]/p[\1 + 500]/g' \
		shared.c >behind.c
	gcc -g -w -o behind behind.c || no "cannot compile"
	for kind in "" file "file segment"; do
		# shellcheck disable=SC2086
		record ./behind $kind
		debug ./behind "break done" "continue" "p p[500]" "watch -l p[500]" "reverse-continue" "reverse-continue" "p p[500]"
		answered '^\$1 = 5' 'New value = 4' 'New value = 3' '^\$2 = 3'
	done
	record ./shared
	view=--process=2
	debug ./shared "break _exit" "continue" "p p[0]" "watch -l p[1]" "reverse-continue" "p p[0] * 10 >= p[1]" "delete" "reverse-continue"
	answered '^\$1 = 5' 'Hardware watchpoint 2' '^\$2 = 1' 'No more reverse-execution history'
	printf '#include <fcntl.h>\n#include <sys/mman.h>\n#include <unistd.h>\nint main(void) { int fd = open("file", O_RDWR);
		char *s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
		s[7] = 7; return p[7]; }\n' >twice.c
	gcc -w -o twice twice.c || no "cannot compile"
	record ./twice
	replay 1
	printf '$QStartNoAckMode#b0$c#63$D#44' | refused 1 'maps a file privately, and changes it otherwise' "$CHORD" replay --gdb=- log
}

# Pages of shared memory are guarded as others are: to step through these loops would take longer than gdb may.
t_debug_guarded_shared() {
	cat >long.c <<-'EOF'
	#include <sys/mman.h>
	#include <sys/wait.h>
	#include <unistd.h>
	volatile int *p;
	volatile long w;
	static void done(void) { w++; }
	int main(void)
	{
		p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (!fork()) { usleep(1000); p[0] = 5; _exit(3); }
		for (long i = 0; i < 100000000; i++) w += i;
		p[0] = 1;
		for (long i = 0; i < 100000000; i++) w += i;
		wait(0);
		done();
		return 0;
	}
	EOF
	gcc -g -O1 -w -o long long.c || no "cannot compile"
	record ./long
	debug ./long "break fork" "continue" "delete" "finish" "watch -l p[0]" "continue" "continue" "delete" "break done" "continue" "p p[0]" "delete" \
		"watch -l p[0]" "reverse-continue" "reverse-continue" "p p[0]"
	answered 'Old value = 0' 'New value = [15]' 'New value = [15]' '^Breakpoint' '^\$2 = [15]' 'Old value = [15]' 'New value = 0' '^\$3 = 0'
}

# A write by way of another address of the same memory is found where it is, and without stepping through the loops.
t_debug_two_addresses() {
	cat >two.c <<-'EOF'
	#include <sys/mman.h>
	#include <unistd.h>
	volatile long *p, *q, x;
	static void rest(void) { for (long i = 0; i < 3000000; i++) x += i; }
	int main(void)
	{
		p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		q = mremap((void *)p, 0, 8192, MREMAP_MAYMOVE);
		rest();
		q[600] = 1; /* by the other */
		rest();
		p[600] = 2; /* by this one */
		rest();
		_exit(0);
	}
	EOF
	gcc -D_GNU_SOURCE -g -w -o two two.c || no "cannot compile"
	record ./two
	debug ./two "break _exit" "continue" "p p[600]" "watch -l p[600]" "reverse-continue" "reverse-continue" "continue" "continue"
	answered '^\$1 = 2' 'New value = 1' 'by this one' 'New value = 0' 'by the other' 'New value = 1' 'New value = 2'
}

# ask PACKET...: sends each to the coprocess; *answer*: what it says to the last, without the program's output
ask() {
	local packet
	for packet in "$@"; do
		printf '$%s#00' "$packet" >&"${TALK[1]}"
		answer_next
	done
}

answer_next() {
	answer=
	while :; do
		IFS= read -rt 60 -d '#' answer <&"${TALK[0]}" || no "no answer"
		answer=${answer#*\$}
		[[ $answer == O* && $answer != OK ]] || break
	done
}

# interrupted HOW PACKET: by gdb's byte, or by SIGINT; the program is where it was, within seconds
interrupted() {
	local registers
	ask g
	registers=$answer
	printf '$%s#00' "$2" >&"${TALK[1]}"
	sleep 0.5
	if [ "$1" = byte ]; then printf '\003' >&"${TALK[1]}"; else kill -INT "$TALK_PID"; fi
	SECONDS=0
	answer_next
	[[ $answer == T02thread:1\; ]] || no "$2 by $1: $answer"
	[ $SECONDS -lt 20 ] || no "$2 by $1: $SECONDS seconds"
	ask g
	[ "$answer" = "$registers" ] || no "$2 by $1: another place"
}

# A search that takes long is interrupted: the program is where it was, all goes on from there, and nobody is left behind.
t_debug_interrupt() {
	local talk kids last
	cat >long.c <<-'EOF'
	#include <unistd.h>
	/* one page, which is accessed all the time, so that it takes steps to watch it */
	struct { char never[400], last[400]; volatile unsigned x; } page __attribute__((aligned(4096)));
	static unsigned work(unsigned n)
	{
		page.x = n;
		for (unsigned i = 0; i < 30000000; i++)
			page.x = page.x * 1103515245 + 12345;
		return page.x;
	}
	int main(void) { int r; getppid(), work(1), getppid(), r = work(2), page.last[7] = 1, getppid(); return (r == 3) + 6; }
	EOF
	gcc -g -O0 -w -no-pie -o long long.c || no "cannot compile"
	record ./long
	never=$(nm long | awk '$3 == "page" {print $1}') last=$(printf %x $((16#$never + 400)))
	coproc TALK { exec "$CHORD" replay --gdb=- log 2>again.err; }
	printf '$QStartNoAckMode#b0' >&"${TALK[1]}"
	answer_next
	ask c
	[[ $answer == T05replaylog:end:* ]] || no "to the end: $answer"
	# so much memory is compared after each step
	ask "Z2,$never,190"
	interrupted byte bc
	interrupted signal bc
	ask bs
	[[ $answer == T05thread:1\; ]] || no "a step back: $answer"
	interrupted byte bc
	ask "z2,$never,190" bc
	[[ $answer == T05replaylog:begin:* ]] || no "to the beginning: $answer"
	# the interval in which it changes is stepped
	ask "qRcmd,$(printf 'watch 0x%s 400' "$last" | od -An -v -tx1 | tr -d ' \n')"
	interrupted byte c
	# an old one changes nothing
	printf '\003' >&"${TALK[1]}"
	ask c c
	[ "$answer" = W06 ] || no "at the end: $answer"
	ask bs "Z2,$never,190"
	printf '$bc#00' >&"${TALK[1]}"
	sleep 0.5
	talk=$TALK_PID
	kids=$(pgrep -P "$talk" | tr '\n' ' ')
	[ -n "$kids" ] || no "no copies of the program"
	eval "exec ${TALK[1]}>&-"
	for i in $(seq 200); do kill -0 "$talk" 2>/dev/null || break; sleep 0.1; done
	kill -0 "$talk" 2>/dev/null && no "the search goes on when nobody is there"
	# shellcheck disable=SC2086
	[ -z "$(ps -o pid= -p ${kids// /,}1 | grep -vx ' *1')" ] || no "copies are left: $(ps -p ${kids// /,}1)"
	# gdb hands on what Ctrl-C makes
	command -v gdb >/dev/null || return 0
	timeout 200 gdb -nx -q -batch -ex "set pagination off" -ex "set sysroot /" -ex "set remotetimeout 60" -ex "target remote | $CHORD replay --gdb=- log" \
		-ex "continue" -ex "watch page.never" -ex 'shell (sleep 2; kill -INT $PPID) &' -ex "reverse-continue" -ex "delete" -ex "break work" \
		-ex "reverse-continue" -ex "print n" -ex "kill" ./long >answers 2>&1 </dev/null || no "gdb: $(tail -c 300 answers)"
	answered 'received signal SIGINT' 'Breakpoint 2, work \(n=2\)' '\$1 = 2'
}

# The clock of a measured program is the same at the same state, forwards and backwards.
t_debug_when() {
	local stops=()
	debugged
	$cc -g -O0 -w -fchord=events -o debugged debugged.c && record ./debugged
	for go in continue continue continue reverse-continue reverse-continue; do stops+=("$go" "p v" "monitor when"); done
	debug ./debugged "break put if i == 4" "${stops[@]}" "delete" "reverse-stepi" "reverse-stepi" "stepi" "stepi" "monitor when"
	grep -E '^event' answers >when
	# going there, v is 2, 12, 22: ten times around the loop each
	[ "$(sed -n 's/^\$[0-9]* = //p' answers | tr '\n' ' ')" = "2 12 22 12 2 " ] || no "not these: $(cat answers)"
	awk '{ c[NR] = $4 + 0; e[NR] = $2 + 0 } END { exit !(NR == 6 && c[1] > 0 && c[2] - c[1] > 10 && c[3] - c[2] == c[2] - c[1] &&
		c[4] == c[2] && c[5] == c[1] && c[6] == c[1] && e[1] == e[3] && e[1] == e[6]) }' when || no "the clocks: $(cat when)"
}

# packets TEXT...: each as gdb sends it when nothing is confirmed
packets() { for p in "$@"; do printf '$%s#00' "$p"; done; }

# Who talks to it may send anything: it answers, neither crashes nor hangs, and the program has the memory that it had.
t_debug_garbage() {
	local f=ffffffffffffffff read
	debugged
	gcc -g -O0 -w -no-pie -o debugged debugged.c && record ./debugged
	read=$(printf 'm%x,20' "0x$(nm debugged | awk '$3 == "from" {print $1}')")
	{
		printf '+-\003\000#$g#zz$}#00#00$QStartNoAckMode#b0$#zz'
		packets "" Z Z0 Z0, Z9,1,1 "Z0,$f,1" "Z1,$f,1" "Z2,$f,8" Z2,7ffffffffff9,20 Z2,0,0 "Z2,0,$f" "Z3,8,${f}f" z2,5,5 "z0,$f$f,$f" s bs \
			"z0,$f,1" "z1,$f,1" "z2,$f,8" z2,7ffffffffff9,20 \
			m "m$f,$f" m0,0 "m${f}0,${f}0" "M404000,4:00000000" "X404000,4:0000" "G$f" "P0=$f" "p$f" p p-1 g? H T vCont 'vCont?' vCont\;rzz,yy \
			qXfer: qXfer:features:read:target.xml: "qXfer:features:read:target.xml:$f,$f" qXfer:auxv:read:::::,, qXfer:exec-file:read:1 \
			qRcmd, qRcmd,7 qRcmd,zz "qRcmd,$(printf 41%.0s $(seq 400))" qSupported:::: Qx s bs bc "vCont;r$f,0" bs c c bsbs "${read}" k
	} >garbage
	timeout 60 "$CHORD" replay --gdb=- log <garbage >answers 2>err || no "status $?: $(head -c 300 err)"
	grep -aq "$(printf '$%s#' "$(printf 'these bytes come from elsewhere\0' | od -An -v -tx1 | tr -d ' \n')")" answers ||
		no "other memory: $(tail -c 300 answers)"
	grep -aq 'T05replaylog:end:' answers || no "it did not go on: $(tail -c 300 answers)"
	{ printf '$QStartNoAckMode#b0$'; head -c 300000 /dev/zero | tr '\0' m; printf '#00'; packets "$read" '?'; } >garbage
	timeout 60 "$CHORD" replay --gdb=- log <garbage >answers 2>err || no "a long packet: status $?: $(head -c 300 err)"
	grep -aq 'T05thread:1;' answers || no "no answer behind a long packet: $(head -c 300 answers)"
	for i in 1 2 3 4 5; do
		awk -v seed="$i" 'function any(of) { return substr(of, 1 + int(rand() * length(of)), 1) }
		BEGIN {
			srand(seed); printf "$QStartNoAckMode#b0"
			for (i = 0; i < 300; i++) {
				printf "$%s", any("gGmMpPXqQHT?!rRtxjJv")
				for (n = rand() * 30; n > 0; n--) printf "%s", any("0123456789abcdef,:;-}*+")
				printf "#00"
			}
		}' >garbage
		timeout 60 "$CHORD" replay --gdb=- log <garbage >answers 2>err || no "noise $i: status $?: $(head -c 300 err)"
	done
}
# Each checkpoint has descriptors of its own for files that are mapped. Where these are few, there are few checkpoints.
t_debug_descriptors() {
	cat >maps.c <<-'EOF'
	#include <fcntl.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <unistd.h>
	volatile int sum;
	int main(void) {
		char name[16], *at[20], *more;
		for (int i = 0; i < 40; i++) {
			int fd = open((sprintf(name, "f%d", i % 20), name), O_RDWR | O_CREAT, 0600);
			if (i < 20 && (write(fd, name, 3) != 3 || ftruncate(fd, 8192))) return 1;
			if (i < 20) at[i] = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
			else more = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 4096), sum += at[i - 20][1] + *more;
			close(fd);
			for (int j = 0; i == 19 && j < 2000; j++) sum += at[j % 20][1], j % 20 || getppid();
		}
		printf("%d\n", sum), fflush(stdout);
		return 0;
	}
	EOF
	gcc -w -g -o maps maps.c || no "cannot compile"
	record ./maps
	in_turn 60 50 80 100
	for limit in $turn; do
		(ulimit -n $limit && debug ./maps "break maps.c:17" continue "watch sum" reverse-continue reverse-continue "delete" "break maps.c:18" continue \
			"print sum") || no "limit $limit: $(tail -c 300 answers)"
		answered 'Breakpoint 1' 'Old value' 'Old value' 'Breakpoint 3' "^.1 = $(cat out)$"
	done
}

# The processor of a virtual machine may stop the program by its registers without saying by which. What was written is found all the
# same, and what was read; on the way back the last one comes first, each time.
t_debug_unnamed() {
	local back=()
	cat >often.c <<-'EOF'
	volatile long v, w = 5, sum;
	int main(void) {
		for (int i = 0; i < 200; i++)
			v++;
		for (int i = 0; i < 20; i++)
			sum += w, sum++;
		return sum - 120;
	}
	EOF
	gcc -w -g -no-pie -o often often.c || no "cannot compile"
	gcc -w -shared -fPIC -o unnamed.so "$here/unnamed.c" || no "cannot compile"
	grep -q __asan_init "$CHORD" && skip "nothing can be preloaded into what is built with sanitizers"
	record ./often
	for i in $(seq 20); do back+=(reverse-continue "print v"); done
	in_turn 2 3 7 100
	for every in $turn; do
		LD_PRELOAD=$PWD/unnamed.so EVERY=$every debug ./often "break often.c:8" continue "watch v" "${back[@]}"
		[ "$(sed -n 's/^\$[0-9]* = //p' answers | tr '\n' ' ')" = "$(seq -s ' ' 199 -1 180) " ] || no "every $every: not 199 to 180: $(head -c 900 answers)"
	done
	back=(continue "print sum" continue "print sum" continue "print sum" reverse-continue "print sum" reverse-continue "print sum")
	in_turn 1 2 3
	for every in $turn; do
		LD_PRELOAD=$PWD/unnamed.so EVERY=$every debug ./often "break main" continue "rwatch w" "${back[@]}"
		[ "$(sed -n 's/^\$[0-9]* = //p' answers | tr '\n' ' ')" = "0 6 12 12 6 " ] || no "reads, every $every: $(tail -c 900 answers)"
	done
}

# More memory than the processor watches: pages are guarded. Loops that do not touch it run as fast as ever; stores that only end in its
# page, strings, system calls and a fault of the program's own are seen as when each instruction is stepped.
t_debug_guarded() {
	local forward=() back=()
	cat >guarded.c <<-'EOF'
	#include <signal.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>
	char area[3 * 4096] __attribute__((aligned(4096)));
	volatile long k __attribute__((aligned(4096))), other __attribute__((aligned(4096)));
	static void on(int sig) { k++, mprotect(area + 4096, 4096, PROT_READ | PROT_WRITE); }
	int main(void) {
		char *w = area + 4096;
		int fd[2];
		for (long i = 0; i < 20000000; i++) other += i;
		getppid(), k = 1, w[3] = 1;
		for (int i = 0; i < 1000; i++) w[100] = i, w[3] = 1;
		getppid(), k = 2, *(volatile long *)(w - 4) = 0x0202020202020202;
		for (long i = 0; i < 1000000; i++) other += i;
		getppid(), k = 3;
		__asm__ volatile ("lea -8(%0), %%rdi; mov $12, %%ecx; mov $3, %%al; rep stosb" :: "r"(w) : "rax", "rcx", "rdi", "memory");
		k = 4, pipe(fd), write(fd[1], "xyz", 3), read(fd[0], w + 38, 3);
		k = 5, memset(w + 4000, 7, 200);
		signal(SIGSEGV, on), mprotect(w, 4096, PROT_READ);
		k = 6, w[39] = 9;
		for (long i = 0; i < 1000000; i++) other += i;
		getppid(), k = 8, mprotect(w, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), memcpy(w, "\xc3", 1), ((void (*)(void))w)();
		return w[100] != (char)999;
	}
	EOF
	gcc -w -g -O0 -z execstack -o guarded guarded.c || no "cannot compile"
	record ./guarded
	for i in $(seq 9); do forward+=(continue "print k"); back+=(reverse-continue "print k"); done
	debug ./guarded "break main" continue "watch *(char (*)[40])(area + 4096)" "${forward[@]}" continue "${back[@]}"
	# The string changes four bytes, one after the other.
	[ "$(sed -n 's/^\$[0-9]* = //p' answers | tr '\n' ' ')" = "1 2 3 3 3 3 4 7 8 8 7 4 3 3 3 3 2 1 " ] || no "others: $(tail -c 1500 answers)"
}

# Watched memory that is not there, or cannot be written, is changed by no instruction: what runs meanwhile runs as fast as ever. Memory
# that the stack has not grown to yet is: an instruction has it grow.
t_debug_guarded_nowhere() {
	cat >nowhere.c <<-'EOF'
	#include <sys/mman.h>
	#include <unistd.h>
	char *page = (char *)0x10000000, *deep;
	volatile long other, k;
	static void spin(long n) { for (long i = 0; i < n; i++) other += i; }
	static void grow(void) { char large[1 << 20]; deep = large, large[3] = 7, k = 4; }
	int main(int argc, char **argv) {
		if (argc > 1)
			return getppid(), spin(100), grow(), getppid(), 0;
		spin(20000000);
		mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		k = 1, page[5] = 1, k = 2;
		mprotect(page, 4096, PROT_READ);
		spin(20000000);
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
		k = 3, page[5] = 2;
		return 0;
	}
	EOF
	gcc -w -g -O0 -o nowhere nowhere.c || no "cannot compile"
	record ./nowhere
	debug ./nowhere "break main" continue "tbreak _exit" continue "watch *(char (*)[40])page" reverse-continue "print k" reverse-continue "print k" \
		reverse-continue
	answered 'watchpoint 3: ' '^\$1 = 3' 'watchpoint 3: ' '^\$2 = 1' 'Breakpoint 1, main'
	record ./nowhere deep
	debug ./nowhere "break main" continue "tbreak _exit" continue "watch *(char (*)[40])deep" reverse-continue "print k" "bt 1"
	answered 'watchpoint 3: ' '^\$1 = 0' '#0 .*grow'
}

# Many copies lie on the way to one breakpoint, and writes between some of them: those copies between which nothing fires are skipped,
# by halves, and each write is found, the last first.
t_debug_halves() {
	cat >halves.c <<-'EOF'
	#include <unistd.h>
	char page[4096] __attribute__((aligned(4096)));
	volatile long other __attribute__((aligned(4096)));
	static void here(long i) { other = i; }
	int main(void) {
		long i;
		getppid();
		for (i = 0; i < 400000000; i++) {
			if (i == 1000 || i == 150000000 || i == 150000001 || i == 399990000)
				page[7]++;
			other += i;
		}
		here(i);
		getppid();
		return 0;
	}
	EOF
	gcc -g -O0 -o halves halves.c || no "cannot compile"
	record ./halves
	debug ./halves "break main" continue "break here" continue "monitor checkpoints" "watch *(char (*)[40])page" reverse-continue "print i" \
		reverse-continue "print i" reverse-continue "print i" reverse-continue "print i" reverse-continue "delete" "tbreak _exit" continue
	[ "$(grep -c '^behind event' answers)" -gt 5 ] || skip "too few copies"
	answered 'watchpoint 3: ' '^\$1 = 399990000' '^\$2 = 150000001' '^\$3 = 150000000' '^\$4 = 1000' 'Breakpoint 1, main' '_exit'
}

# Pages are guarded while the replay looks for the state at which a signal struck: what it has stopped by there is still known.
t_debug_guarded_signal() {
	cat >struck.c <<-'EOF'
	#include <signal.h>
	#include <sys/time.h>
	char watched[4096] __attribute__((aligned(4096)));
	volatile long ticks __attribute__((aligned(4096)));
	static void on_alarm(int sig) { if (ticks < 5) ticks++; }
	int main(void) {
		struct itimerval it = {{0, 2000}, {0, 2000}};
		long v = 3;
		signal(SIGALRM, on_alarm), setitimer(ITIMER_REAL, &it, 0);
		while (ticks < 5)
			__asm__ volatile (".rept 10000\n imul %0, %0\n .endr" : "+r"(v));
		watched[7] = 1;
		return 0;
	}
	EOF
	"$CHORD" cc -w -g -O2 -fchord=clock -o struck struck.c || no "cannot compile"
	record ./struck
	debug ./struck "break main" continue "watch *(char (*)[40])((char *)&watched)" continue "print ticks" reverse-continue "print watched[7]"
	answered 'watchpoint 2: ' 'watchpoint 2: ' '\$1 = 5' 'watchpoint 2: ' '\$2 = 0'
}

# Signals strike in a tight loop while pages are guarded: a countdown leads to the states, and each write is seen once, whether the loop
# makes it or the handler, where it is or where the countdown executes it.
t_debug_guarded_countdown() {
	local n
	cat >tight.c <<-'EOF'
	#include <signal.h>
	#include <stdio.h>
	#include <sys/time.h>
	volatile long watched[5] __attribute__((aligned(4096)));
	volatile long ticks __attribute__((aligned(4096)));
	static void on_alarm(int sig) { if (++ticks == 2) watched[1] = 1; }
	int main(void) {
		struct itimerval it = {{0, 3000}, {0, 3000}};
		unsigned long v = 3;
		signal(SIGALRM, on_alarm), setitimer(ITIMER_REAL, &it, 0);
		while (ticks < 4) {
			v = v * 6364136223846793005ul + 1442695040888963407ul;
			if (v >> 43 == 9) watched[2]++;
		}
		watched[4] = 1;
		return printf("%ld\n", watched[2] + 2) < 0;
	}
	EOF
	"$CHORD" cc -w -g -O2 -fchord=clock -o tight tight.c || no "cannot compile"
	record ./tight
	n=$(cat out)
	debug ./tight "break main" continue "watch *(char (*)[40])((char *)&watched)" "ignore 2 100000" continue "info watchpoints" \
		"ignore 2 100000" reverse-continue "info watchpoints"
	answered "already hit $n times" "already hit $((2 * n)) times"
}

# One step back behind many rounds of a loop that makes no calls, in a program without a clock.
t_debug_long_loop() {
	cat >rounds.c <<-'EOF'
	#include <stdio.h>
	static volatile unsigned round;
	static unsigned __attribute__((noinline)) mixed(unsigned v) { return v * 31 + (v >> 7); }
	int main(void) {
		unsigned v = 1;
		for (unsigned i = 0; i < 200000000; i++) round = i, v = mixed(v);
		printf("%u\n", v);
		return 0;
	}
	EOF
	gcc -w -g -O1 -o rounds rounds.c || no "cannot compile"
	record ./rounds
	debug ./rounds "break 7" continue reverse-stepi "print round" reverse-stepi reverse-stepi "print round" "tbreak mixed" reverse-continue "print round"
	answered 'Breakpoint 1, ' '\$1 = 199999999' '\$2 = 199999999' 'mixed' '\$3 = 199999999'
}

debug_cases="debug-descriptors debug-unnamed debug-guarded debug-guarded-nowhere debug-halves debug-guarded-shared debug-two-addresses debug-guarded-signal debug-guarded-countdown debug-steps debug-back debug-long-loop debug-seldom debug-watch debug-signal debug-connections debug-shared debug-interrupt debug-when debug-garbage"

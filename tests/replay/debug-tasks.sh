# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Cases of replay/run.sh: gdb looks at a replay with several threads, processes and programs. To be sourced after debug.sh.

# debug_script PROGRAM [OPTION...]: the same as debug, of commands on standard input
debug_script() {
	local program=$1
	shift
	command -v gdb >/dev/null || skip "no gdb"
	{ printf '%s\n' "set confirm off" "set pagination off" "set sysroot /" "set remotetimeout 60" "target remote | $CHORD replay --gdb=- $* log"; cat; } >script
	timeout 200 gdb -nx -q -batch -x script "$program" >answers 2>&1 </dev/null || no "gdb: $(tail -c 300 answers)"
	! grep -qE 'goes another way|rror in sourced' answers || no "$(grep -E 'goes another way|rror in sourced' -A1 answers)"
}

# caught STATUS PROGRAM: a recording by chance that ends so
caught() {
	for seed in $(seq 60); do
		{ timeout -k 5 60 "$CHORD" record --chaos="$seed" -o log "$2" >out 2>err; status=$?; } 2>/dev/null
		[ $status = 0 ] || break
	done
	[ $status = "$1" ] || no "status $status in $seed recordings: $(head -c 300 err)"
}

racing() {
	cat >lost.c <<-'EOT'
	#include <pthread.h>
	#include <unistd.h>
	static volatile long n;
	static void *add(void *p)
	{
		for (int i = 0; i < 20; i++) {
			long was = n;
			getppid();
			n = was + 1;
		}
		return p;
	}
	int main(void)
	{
		pthread_t a, b;
		pthread_create(&a, 0, add, 0), pthread_create(&b, 0, add, 0);
		pthread_join(a, 0), pthread_join(b, 0);
		return n != 40;
	}
	EOT
	gcc -g -O0 -w -pthread -o lost lost.c || no "cannot compile"
	caught 1 ./lost
}

# An update is lost: the write that undid another thread's is found on the way back, and so is that one.
t_debug_race() {
	racing
	debug_script ./lost <<-'EOT'
	break lost.c:18
	continue
	watch n
	reverse-continue
	set $writes = 1
	while n == was && $writes < 50
	reverse-continue
	set $writes++
	end
	printf "guilty: thread %d writes %ld over %ld\n", $_thread, was + 1, n
	set $guilty = $_thread
	set $over = n
	reverse-continue
	printf "before: thread %d writes %ld, as %d\n", $_thread, was + 1, was + 1 == $over && $_thread != $guilty
	continue
	printf "again: %ld\n", n
	EOT
	answered 'guilty: thread [23] writes [0-9]+ over [0-9]+' 'before: thread [23] writes [0-9]+, as 1' 'hit Hardware watchpoint' 'again: [0-9]+'
	awk '/^guilty/ { ok = $5 != $7 + 1; over = $7 } /^again/ { ok = ok && $2 == over } END { exit !ok }' answers || no "not guilty: $(grep -E 'guilty|again' answers)"
}

# The same states on the way back, whoever had turns meanwhile; every thread is at the same place, too.
t_debug_turns() {
	local show='info registers rip rsp rax rbx rcx rdx rsi rdi fs_base eflags'
	racing
	{
		printf '%s\n' "break add" "continue" "delete" "break lost.c:18"
		for i in $(seq 8); do printf 'stepi 29\n%s\nthread apply all -q p $pc\n' "$show"; done
		echo "echo \\n--\\n"
		for i in $(seq 8); do printf '%s\nthread apply all -q p $pc\nreverse-stepi 29\n' "$show"; done
	} | debug_script ./lost
	awk 'BEGIN { back = 0 } /^--$/ { back = 1 } /^rip/ { n[back]++ } /^(r[a-z0-9]+|fs_base|eflags) / { gsub(/ +/, " "); s[back, n[back]] = s[back, n[back]] $0 "\n" }
		/^\$[0-9]+ = .void/ { sub(/^\$[0-9]+ /, ""); s[back, n[back]] = s[back, n[back]] $0 "\n" }
		END { if (n[0] != 8 || n[1] != 8) { print n[0], n[1]; exit 1 }
			for (i = 1; i <= 8; i++) if (s[0, i] != s[1, 9 - i]) { print i ": " s[0, i] "is not " s[1, 9 - i]; exit 1 } }' answers >differ ||
		no "other states: $(cat differ)"
	grep -q '= (void (\*)())' answers || no "no PCs of threads"
}

# Threads that compute for long, and make no system call; others that wait in loops, of which nothing is counted. Which of the first
# is done first differs from recording to recording.
t_debug_long_turns() {
	cat >long.c <<-'EOT'
	#include <pthread.h>
	#include <stdio.h>
	static long part[2];
	static void *run(void *m)
	{
		long s = 0;
		for (long i = 0; i < 200000000; i++)
			s += i ^ (s >> 3);
		part[(long)m] = s;
		return NULL;
	}
	static void done(void)
	{
		puts("done");
	}
	int main(void)
	{
		pthread_t t[2];
		for (long i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, run, (void *)i);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
		done();
		return part[0] != part[1];
	}
	EOT
	$cc -w -g -O2 -fchord=clock -pthread -o long long.c 2>cc.err || no "cannot compile: $(head -c 300 cc.err)"
	record ./long
	[ $status = 0 ] || no "status $status: $(cat err)"
	may watch || skip "$why: too many steps"
	debug ./long "watch part[1]" "break done" "continue" "continue" "print part[0] == part[1]" "reverse-continue" "print part[1] == 0" \
		"reverse-stepi" "stepi" "stepi" "delete" "break done" "continue" "watch part[0]" "reverse-continue" "print part[0]"
	answered 'hit Hardware watchpoint' 'New value = [^0]' 'Breakpoint 2, done' '\$1 = 1' 'hit Hardware watchpoint' 'New value = 0' '\$2 = 1' \
		'hit Hardware watchpoint' 'New value = [^0]' 'Breakpoint 3, done' 'hit Hardware watchpoint' 'New value = 0' '\$3 = 0'
	gcc -w -g -O1 -pthread -o loops "$here/loops.c" || no "cannot compile"
	record ./loops turns 4
	debug ./loops "continue" "watch turn" "reverse-continue" "reverse-continue" "reverse-continue" "continue" "continue"
	answered 'No more reverse' 'Old value = 0' 'New value = 2' 'Old value = 2' 'New value = 1' 'Old value = 1' 'New value = 0' \
		'Old value = 0' 'New value = 1' 'Old value = 1' 'New value = 2'
}

# Each of two threads waits for what the other one has: both are shown in their calls, and who took what is found.
t_debug_deadlock() {
	cat >dead.c <<-'EOT'
	#define _GNU_SOURCE
	#include <pthread.h>
	#include <unistd.h>
	static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
	static void *both(pthread_mutex_t *x, pthread_mutex_t *y)
	{
		for (int i = 0; i < 30; i++) {
			pthread_mutex_lock(x);
			getppid();
			pthread_mutex_lock(y);
			pthread_mutex_unlock(y);
			pthread_mutex_unlock(x);
		}
		return 0;
	}
	static void *one(void *p) { pthread_setname_np(pthread_self(), "one"); return both(&a, &b); }
	static void *two(void *p) { pthread_setname_np(pthread_self(), "<two>"); return both(&b, &a); }
	int main(void)
	{
		pthread_t t, u;
		alarm(3);
		pthread_create(&t, 0, one, 0), pthread_create(&u, 0, two, 0);
		pthread_join(t, 0), pthread_join(u, 0);
		return 0;
	}
	EOT
	gcc -g -O0 -w -pthread -o dead dead.c || no "cannot compile"
	caught 142 ./dead
	debug_script ./dead <<-'EOT'
	continue
	info threads
	thread apply 2 3 bt
	watch a.__data.__owner
	reverse-continue
	bt
	delete
	continue
	watch b.__data.__owner
	reverse-continue
	bt
	thread 2
	thread name
	EOT
	answered 'No more reverse-execution history' '1 +Thread 1 ' '2 +Thread 2 "one" \(waits in futex\)' '3 +Thread 3 "<two>" \(waits in futex\)' \
		'^Thread 2 ' 'pthread_mutex_lock' 'both \(x=.* <a>, y=.* <b>\)' '^Thread 3 ' 'pthread_mutex_lock' 'both \(x=.* <b>, y=.* <a>\)' \
		'Thread 2 "one" hit Hardware watchpoint' 'New value = 0' '^#[0-9] .*pthread_mutex_lock' 'both \(x=.* <a>' \
		'No more reverse-execution history' 'Thread 3 "<two>" hit Hardware watchpoint' 'New value = 0' 'both \(x=.* <b>'
}

# One thread writes past the end of what is its own; another one dies of it, far away.
t_debug_wild() {
	cat >wild.cc <<-'EOT'
	#include <mutex>
	#include <stdexcept>
	#include <thread>
	struct { long mine[8]; long *theirs; } all;
	long value = 3;
	std::mutex m;
	static __attribute__((noinline)) void fill(int n) { for (int i = 0; i < n; i++) all.mine[i] = 16 + i; }
	static int careful(int i)
	{
		try { if (i % 3 == 0) throw std::runtime_error("third"); } catch (std::exception &) { return 1; }
		return 0;
	}
	static void writer() { for (int i = 0; i < 30; i++) { std::lock_guard<std::mutex> l(m); careful(i); fill(i == 20 ? 9 : 8); } }
	int main()
	{
		all.theirs = &value;
		std::thread t(writer);
		t.join();
		for (int i = 0; i < 100; i++) value += careful(i);
		return (int)*all.theirs;
	}
	EOT
	g++ -g -O1 -w -pthread -o wild wild.cc || no "cannot compile"
	record ./wild
	[ $status = 139 ] || no "status $status"
	may watch || skip "$why: too many steps"
	debug_script ./wild <<-'EOT'
	continue
	watch all.theirs
	reverse-continue
	printf "by thread %d\n", $_thread
	bt 2
	reverse-continue
	printf "by thread %d\n", $_thread
	EOT
	answered 'received signal SIGSEGV' 'Old value = .*0x18' 'New value = .*<value>' 'by thread 2' '^#0 .*fill' 'writer' \
		'Old value = .*<value>' 'New value = .*0x0' 'by thread 1'
}

# One process is seen, the first or the one that is asked for; another program in its place, forwards and backwards.
t_debug_processes() {
	cat >fork.c <<-'EOT'
	#include <sys/wait.h>
	#include <unistd.h>
	int value;
	int main(int argc, char **argv)
	{
		int status;
		value = 1;
		if (!fork()) {
			value = 2;
			value = 3;
			if (argc > 1) execlp("./other", "other", (char *)0);
			_exit(4);
		}
		wait(&status);
		value = 10 + WEXITSTATUS(status);
		return 6;
	}
	EOT
	printf '%s\n' 'int done, more;' 'int main(void) {' 'more = 1;' 'done = 5;' 'return 8; }' >other.c
	gcc -g -O0 -w -o fork fork.c && gcc -g -O0 -w -o other other.c || no "cannot compile"
	record ./fork
	[ $status = 6 ] || no "status $status"
	debug ./fork "watch value" "continue" "continue" "continue" "reverse-continue" "reverse-continue" "reverse-continue"
	answered 'New value = 1$' 'New value = 14$' 'No more rev' 'New value = 1$' 'New value = 0$' 'No more rev'
	printf '%s\n' "watch value" "continue" "continue" "continue" "monitor when" "reverse-continue" "reverse-continue" "reverse-continue" "continue" |
		debug_script ./fork --process=2
	answered 'New value = 2$' 'New value = 3$' 'No more rev' 'thread 2 of process 2' 'New value = 2$' 'New value = 1$' 'No more rev' 'New value = 2$'
	refused 1 'log: there is no process 3: the run has 2' "$CHORD" replay --gdb=- --process=3 log
	refused 2 'not a number from 1 on' "$CHORD" replay --gdb=- --process=x log
	refused 2 'only for use with --gdb' "$CHORD" replay --process=2 log
	record ./fork x
	debug_script ./fork --process=2 <<-'EOT'
	break main
	continue
	watch done
	continue
	continue
	reverse-continue
	reverse-continue
	delete
	reverse-continue
	print value
	watch value
	reverse-continue
	delete
	continue
	continue
	EOT
	answered 'executing new program: .*/other' 'Breakpoint 1, main \(\) at other.c' 'New value = 5' 'No more rev' 'Old value = 5' \
		'Breakpoint 1, main \(\) at other.c' 'executing new program: .*/fork' '\$1 = 1' \
		'executing new program: .*/other' 'No more rev' 'exited with code 010'
}

# Somebody kills the program that is looked at: that is said, and nothing hangs.
t_debug_killed() {
	local replay
	racing
	"$CHORD" replay --gdb="$PWD/socket" log >again 2>again.err </dev/null &
	replay=$!
	for i in $(seq 80); do [ -S socket ] && break; sleep 0.1; done
	gdb -nx -q -batch -ex "set sysroot /" -ex "target remote $PWD/socket" -ex "break add" -ex "continue" \
		-ex "shell for i in \$(pgrep -P $replay); do kill -9 \$i; done" -ex "continue" ./lost >answers 2>&1 &
	wait $replay
	[ $? = 1 ] && grep -q 'by signal 9' again.err || no "nothing is said: $(cat again.err answers)"
}
# Conditions are looked at where the program runs, forwards and backwards: of the 3000 times gdb hears of two.
t_debug_condition() {
	debugged
	debug ./debugged "break put" "condition 1 (i == 6 && v > 2900 && v % 77 == 2) || (short)v * -2 == -24 || !(all.total / 3 + 5)" "set debug remote 1" \
		"continue" "p v" "continue" "p v" "reverse-continue" "p v"
	tr -d '\000-\010' <answers | grep -E '^\$[0-9]+ = ' | sed 's/.* = //' | tr '\n' ' ' >values
	[ "$(cat values)" = "12 2928 12 " ] || no "not these: $(cat values) $(tail -c 300 answers)"
	grep -aqE 'Sending packet: .Z0,[0-9a-f]+,1;X[0-9a-f]+,' answers || no "gdb sends no condition"
	[ "$(grep -acE 'Sending packet: .(vCont;c|bc)' answers)" -lt 20 ] || no "gdb looks itself"
}

# To a count of the clock, an event, the end and the beginning, from before and from behind.
t_debug_seek() {
	debugged
	$cc -g -O0 -w -fchord=events -o debugged debugged.c && record ./debugged
	debug ./debugged "monitor seek 20000" "continue" "monitor when" "info locals" "monitor seek 15000" "continue" "monitor when" "reverse-stepi" \
		"monitor when" "stepi" "monitor when" "monitor seek end" "continue" "monitor when" "monitor seek 20000" "reverse-continue" "monitor when" "info locals" \
		"monitor seek event 9" "continue" "monitor when" "monitor seek begin" "continue" "monitor checkpoints" "monitor seek x" "monitor seek 99999999" \
		"continue" "continue"
	grep -E '^event .*clock' answers | awk '{ print $4 + 0 }' >clocks
	awk '{ c[NR] = $1 } END { exit !(c[1] >= 20000 && c[1] < 20030 && c[2] >= 15000 && c[2] < 15030 && c[3] < 15000 && c[4] == c[2] &&
		c[5] > 30000 && c[6] == c[1]) }' clocks || no "the clocks: $(cat clocks) $(tail -c 500 answers)"
	[ "$(grep -c '^i = ' answers)" -ge 2 ] && [ "$(grep '^i = ' answers | sort -u | wc -l)" = 1 ] || no "another place: $(grep '^i = ' answers)"
	answered ' stopped' 'No more reverse-execution history' ' stopped' '^event 9,' 'No more reverse-execution history' '^event [0-9]+$' 'monitor seek CLOCK' \
		'No more reverse-execution history' 'exited with code 05'
}
# Memory that is too large for the processor's registers: to the write that changes it, in millions of instructions without a system call.
t_debug_intervals() {
	cat >large.c <<-'EOF'
	#include <stdio.h>
	static unsigned char large[4096];
	static unsigned work(unsigned n)
	{
		unsigned x = n;
		for (unsigned i = 0; i < 3000000; i++)
			x = x * 1103515245 + 12345;
		return x;
	}
	int main(void)
	{
		unsigned sum = work(1);
		large[3000] = 7;
		sum += work(2);
		large[17] = 9;
		sum += work(3);
		printf("%u\n", sum), fflush(stdout);
		return fread(large + 64, 1, 5, fopen("in", "r")) != 5;
	}
	EOF
	$cc -g -O0 -w -fchord=events -o large large.c || no "it cannot be built"
	echo 12345 >in
	record ./large
	debug ./large "break main" "continue" 'eval "monitor watch %ld 4096", (long)large' "continue" "print large[3000]" "reverse-stepi" "print large[3000]" \
		'eval "monitor watch %#lx 0x100", (long)large' "continue" "print large[17]" 'eval "monitor watch %#lx 4096", (long)large' \
		"continue" "print large[66]" "backtrace" 'eval "monitor watch %#lx 4096", (long)large + 1024' "continue" \
		"monitor watch 5" "monitor watch 5 -1" "monitor watch 5 99999999"
	answered 'main \(\) at large.c:14' '^\$1 = 7 ' 'large\[3000\] = 7' '^\$2 = 0 ' 'main \(\) at large.c:16' '^\$3 = 9 ' '^\$4 = 51 ' 'in main \(\) at large.c:18' \
		'No more reverse-execution history' 'monitor watch ADDRESS BYTES' 'monitor watch ADDRESS BYTES' 'monitor watch ADDRESS BYTES'
	# By another thread, of a program without a clock, from a breakpoint.
	cat >other.c <<-'EOF'
	#include <pthread.h>
	#include <unistd.h>
	static char big[5000];
	static void *other(void *a)
	{
		for (int i = 0; i < 2000; i++)
			big[4000] += i & 1;
		return a;
	}
	int main(void)
	{
		pthread_t t;
		if (pthread_create(&t, 0, other, 0) || pthread_join(t, 0))
			return 1;
		write(1, "b", 1);
		big[77] = 1;
		return 0;
	}
	EOF
	gcc -g -O0 -w -o other other.c -lpthread && record ./other
	debug ./other "break main" "continue" 'eval "monitor watch %ld 5000", (long)big' "continue" \
		"backtrace 1" "print big[4000]" 'eval "monitor watch %ld 100", (long)big' "continue" "backtrace 1" "print big[77]" "monitor watch 0x10 8" "continue"
	answered 'Thread 2 stopped' '#0 .* other \(a=' '^\$1 = 1 ' 'Thread 1 stopped' '#0 .*main \(\)' '^\$2 = 1 ' 'No more reverse-execution history'
}

# Reads and writes of more memory than the processor's registers watch. What only reads are watched of may be written.
t_debug_reads() {
	cat >reads.c <<-'EOF'
	static volatile long big[8];
	static volatile char text[80] = "text";
	static volatile long sum;
	int main(void)
	{
		big[3] = 5;
		for (int i = 0; i < 20; i++)
			sum += i;
		sum += big[5];                                  /* @9 */
		for (int i = 0; i < 20; i++)
			sum -= i;
		sum += text[79];                                /* @12 */
		long n = 3;
		const volatile char *from = text;
		char to[8], *at = to;
		__asm__ volatile("rep movsb" : "+S"(from), "+D"(at), "+c"(n) : : "memory");
		return sum++ > 1000;
	}
	EOF
	gcc -g -O0 -w -static -o reads reads.c || no "cannot compile"
	record ./reads
	debug ./reads "break main" "continue" "rwatch big" "awatch text" "continue" "continue" "continue" 'print $rcx' "continue" 'print $rcx' \
		"reverse-continue" 'print $rcx' "reverse-continue" 'print $rcx' "reverse-continue" "reverse-continue"
	answered 'read watchpoint 2: big' 'read watchpoint 2: big' '@9' 'access.*watchpoint 3: text' '@12' '\$1 = 2' '\$2 = 1' '\$3 = 2' '\$4 = 3' '@12' '@9'
	grep -q 'reads.c:7' answers && no "rwatch stopped at a write"
	debug ./reads "tbreak main" "continue" "rwatch big[3]" "rwatch big[5]" "continue" "continue" "reverse-continue" "reverse-continue" \
		"delete" "awatch big[3]" "continue" "continue" "reverse-continue"
	answered 'watchpoint 2: big' 'watchpoint 3: big' 'read watchpoint 3: big' 'Value = 0' '@9' 'No more' 'read watchpoint 3: big' '@9' 'No more' \
		'access.*watchpoint 4: big' 'access.*watchpoint 4: big' 'New value = 5' 'No more' 'access.*watchpoint 4: big' 'New value = 0'
}

# Where memory begins to compare with a number in some way, forwards and backwards: as often as gdb's own condition finds it, also for one
# instruction only, by a system call, and with signs.
t_debug_comparison() {
	cat >compared.c <<-'EOF'
	#include <unistd.h>
	static volatile int x = 3;
	static volatile signed char c = 100;
	static volatile long l;
	static volatile unsigned char b[16];
	int main(void)
	{
		int fd[2];
		for (int i = 0; i < 2000; i++)
			x = i * 7 % 1000;
		x = 5, x = 6;
		for (int i = 0; i < 50; i++)
			c--, c -= 2;
		l = -1;
		l = 1;
		l = -2;
		pipe(fd), write(fd[1], "0123456789abcdef", 16), read(fd[0], (void *)b, 16);
		return x;
	}
	EOF
	gcc -g -O0 -w -no-pie -o compared compared.c || no "cannot compile"
	record ./compared
	at() { printf '0x%s' "$(nm compared | awk -v s="$1" '$3 == s {print $1}')"; }
	local x c l b forward=() back=()
	x=$(at x) c=$(at c) l=$(at l) b=$(at b)
	for i in 1 2; do forward+=("monitor watch $x 4 == 5" "continue" "print i"); done
	for i in 1 2 3; do back+=("monitor rwatch $x 4 == 5" "reverse-continue" "print i"); done
	debug ./compared "break main" "continue" "${forward[@]}" "delete" "continue" "${back[@]}" "monitor watch $x 4 == 99999" "continue"
	[ "$(sed -nE 's/^\$[0-9]+ = //p' answers | tr '\n' ' ')" = "715 1715 1715 715 " ] && [ "$(grep -c 'No symbol "i"' answers)" = 1 ] &&
		[ "$(grep -cE 'No more rev|Reached end of rec' answers)" = 2 ] || no "other places: $(tail -c 900 answers)"
	# gdb, by itself
	debug ./compared "break main" "continue" "watch x if x == 5" "continue" "print i" "continue" "print i"
	[ "$(sed -nE 's/^\$[0-9]+ = //p' answers | tr '\n' ' ')" = "715 1715 " ] || no "gdb finds others: $(tail -c 300 answers)"
	debug ./compared "monitor watch $c 1 < +0" "continue" "print c" "monitor watch $c 1 == -50" "continue" "print c" "reverse-stepi" "monitor watch $c 1 > 205" "continue" \
		"monitor seek begin" "continue" "monitor watch $l 8 > +0" "continue" "print l" "monitor rwatch $l 8 <= -1" "continue" "print l" "stepi" "print l" \
		"monitor watch $l 8 >= 0xfffffffffffffffe" "continue" "print l" "monitor watch $b 2 != 0" "continue" "print b" 'x/i $pc-2' "reverse-stepi" "print b[5]" \
		"monitor watch $x 4 == 4294967296" "monitor watch $x 4 == -2147483649" "monitor watch $x 3 == 1" "monitor watch $x 4 = 1" "monitor rwatch $x 4" \
		"monitor watch $x 4 == 5 6" "monitor watch $c 1 == 18446744073709551616"
	answered "= -2 '" "= -50 '" 'No more rev' 'No more rev' '= 1$' '= 0$' '= -1$' '= -2$' '= "0123456789abcdef"' 'syscall' "= 0 '"
	[ "$(grep -c 'rwatch ADDRESS SIZE' answers)" = 7 ] || no "not seven refused: $(tail -c 900 answers)"
}
debug_task_cases="debug-intervals debug-reads debug-comparison debug-condition debug-seek debug-race debug-turns debug-long-turns debug-deadlock debug-wild debug-processes debug-killed"

#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads and processes that are recorded and run again: every replay has the same bytes, the same status and the same counts.
# Prints ok, FAIL or skip for each test; status 1 if one failed.
# tasks.sh [NAME...]
# REPLAYS: the number of replays of each log (default 3)
set -u
. "$(dirname "$0")/../cases.sh"
. "$(dirname "$0")/../may.sh"
. "$(dirname "$0")/again.sh"
REPLAYS=${REPLAYS:-3}
ulimit -c 0

before() { may trace fixed || skip "$why"; }

# build_with OPTIONS PROGRAM SOURCE: a program in C by Chord
build_with() {
	# shellcheck disable=SC2086
	$cc -w -pthread $1 -o "$2" "$3" 2>cc.err || no "cannot compile $3: $(head -c 300 cc.err)"
}

# A program whose threads wait for each other, race, end one by one or all at once.
t_threads() {
	for way in "-O2 -fchord-timers=instructions" "-O0 -fchord=events" "-O1 -fchord=clock"; do
		# shellcheck disable=SC2086
		$CHORD c++ -w -pthread $way -o threads "$here/threads.cc" 2>cc.err || no "$way: $(head -c 300 cc.err)"
		record ./threads
		[ $status = 3 ] || no "$way: status $status: $(head -c 300 err)"
		replay "$REPLAYS"
	done
	g++ -O1 -w -pthread -o threads "$here/threads.cc" || no "cannot compile"
	record ./threads 1000 leave
	[ $status = 4 ] && grep -q "another one ends all" err || no "status $status: $(head -c 300 err)"
	replay "$REPLAYS"
}

# Pipes, memory that they share, vfork, a shell, scripts, programs in the place of others, a death by a signal.
t_processes() {
	gcc -O1 -w -o processes "$here/processes.c" || no "cannot compile"
	printf '#!/bin/sh\necho "script $0 $* $$"; (exit 2); echo $?; exec ./processes end\n' >script && chmod +x script
	for command in "./processes" "sh -c 'seq 200 | sort -rn | head -3 | tr 1 x; echo \$\$; exit 3'" "./script a b" \
	    "sh -c 'for i in 1 2 3; do (echo \$i \$\$) & done; wait; date +%N; kill -TERM \$\$'" "perl -e 'print qx(echo \$\$); exit 4'"; do
		command -v "${command%% *}" >/dev/null || continue
		eval "record $command"
		replay "$REPLAYS"
	done
	[ $status = 4 ] || no "status $status of perl"
	record sh -c 'sleep 0; exec ./processes end'
	"$CHORD" replay --tally log >again 2>tally
	grep -q '^chord: log: thread 1, process 1 (processes): ' tally && grep -q '^chord: log: thread 2, process 2 (sleep): ' tally ||
		no "which process is which: $(cat tally)"
}

# Timers, descriptors that count and watch, queues, memory between processes, daemons.
t_kinds() {
	gcc -w -pthread -o kinds "$here/kinds.c" -lrt || no "cannot compile"
	timeout 50 ./kinds >alone || [ $? = 7 ] || no "status $? of the program alone"
	record ./kinds
	[ $status = 7 ] || no "status $status: $(head -c 300 err)"
	[ "$(wc -l <out)" = "$(wc -l <alone)" ] || no "not what it does alone: $(diff out alone | head -5)"
	replay "$REPLAYS"
}

# Another program in the place of one with several threads, which are anywhere: begun by the first, by another, by one that has outlived it.
t_exec_of_threads() {
	cat >begins.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <unistd.h>
	static char **args;
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static void *rest(void *p) { if (p) pause(); pthread_mutex_lock(&m); return p; }
	static void *spin(void *p) { for (;;) getppid(); }
	static void *begin(void *p) {
		usleep(3000); printf("from %d\n", getpid() == gettid()); fflush(stdout);
		return execl(args[0], args[0], "again", args[1], (char *)0), p;
	}
	int main(int c, char **v) {
		pthread_t t[4];
		args = v;
		if (c > 2) { printf("%s %s, %d\n", v[1], v[2], getpid() == gettid()); return 9; }
		pthread_mutex_lock(&m);
		pthread_create(t, 0, rest, 0), pthread_create(t + 1, 0, rest, t), pthread_create(t + 2, 0, spin, 0);
		if (!strcmp(v[1], "first")) begin(0);
		pthread_create(t + 3, 0, begin, 0);
		if (!strcmp(v[1], "exits")) pthread_exit(0);
		pause();
	}
	EOF
	build_with "-O1 -D_GNU_SOURCE -fchord=events" begins begins.c
	for who in first other exits; do
		record ./begins $who
		[ $status = 9 ] && grep -q "again $who, 1" out || no "$who: status $status: $(head -c 300 out err)"
		replay "$REPLAYS"
	done
}

# A server and its clients, all in one recording; nothing listens in the replay.
t_server() {
	build_with "-O1 -fchord=events" server "$here/server.c"
	record ./server
	[ $status = 0 ] && [ "$(grep -c 'client . got' out)" = 3 ] || no "status $status: $(cat out err | head -c 300)"
	replay "$REPLAYS"
}

# An update that is lost if another thread runs between two calls: found by chance, and kept.
t_chaos() {
	cat >lost.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile long n;
	static void *add(void *p) { for (int i = 0; i < 5; i++) { long was = n; getppid(); n = was + 1; } return p; }
	int main(void) {
		pthread_t a, b;
		pthread_create(&a, 0, add, 0), pthread_create(&b, 0, add, 0), pthread_join(a, 0), pthread_join(b, 0);
		printf("%ld\n", n);
		return n != 10;
	}
	EOF
	gcc -O1 -w -pthread -o lost lost.c || no "cannot compile"
	for seed in $(seq 300); do
		timeout -k 5 60 "$CHORD" record --chaos="$seed" -o log ./lost >out 2>err
		status=$?
		grep -q "chaos: seed $seed" err || no "no seed: $(cat err)"
		[ $status = 0 ] || break
	done
	[ $status = 1 ] || no "no update was lost in 300 recordings"
	"$CHORD" replay --info log >info || no "no --info"
	grep -qx "chaos: seed $seed" info && grep -qx 'command: ./lost' info || no "the log says: $(cat info)"
	: >err
	replay "$REPLAYS"
	refused 2 'not a number' timeout -k 5 60 "$CHORD" record --chaos=x ./lost
}

# Two locks that two threads take in another order: found by chance; all wait then, and that is said. Ended from outside it has a log.
t_deadlock() {
	local pid
	cat >dead.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
	static volatile long moved;
	static void *move(void *p) {
		for (int i = 0, first = p != 0; i < 4; i++) {
			pthread_mutex_lock(&m[first]), getppid(), pthread_mutex_lock(&m[!first]);
			moved++, printf("%ld by %d\n", moved, first), fflush(stdout);
			pthread_mutex_unlock(&m[!first]), pthread_mutex_unlock(&m[first]);
		}
		return p;
	}
	int main(void) {
		pthread_t a, b;
		pthread_create(&a, 0, move, 0), pthread_create(&b, 0, move, m), pthread_join(a, 0), pthread_join(b, 0);
		return 0;
	}
	EOF
	gcc -O1 -w -pthread -o dead dead.c || no "cannot compile"
	for seed in $(seq 300); do
		timeout -k 5 60 "$CHORD" record --chaos="$seed" -o log ./dead >out 2>err </dev/null &
		pid=$!
		while kill -0 $pid 2>/dev/null && ! grep -q 'all threads wait for each other (thread 1 at 0x' err; do sleep 0.03; done
		kill -TERM $pid 2>/dev/null
		wait $pid 2>/dev/null
		status=$?
		[ $status = 0 ] || break
	done
	[ $status = 124 ] && status=143 # of timeout
	[ $status = 143 ] && [ -s log ] || no "no deadlock in 300 recordings, or status $status: $(cat err)"
	: >err
	replay "$REPLAYS"
}

# Threads, processes and signals for which a program waits in loops that make no system call; in loops that count, and by chance.
t_loops() {
	local kind options
	gcc -O2 -w -pthread -o loops "$here/loops.c" || no "cannot compile"
	for kind in "turns 100" "lock 20" "flag 20" "calls" "signals 20" "processes 50"; do
		# shellcheck disable=SC2086
		record ./loops $kind
		[ $status = 0 ] && ! [ -s err ] || no "$kind: status $status: $(head -c 300 err)"
		replay "$REPLAYS"
	done
	in_turn -O2/-fchord=clock -O0/-fchord=events -O2/-fchord=events -O2/-fchord=edges,clock
	for options in $turn; do
		build_with "${options/\// }" measured "$here/loops.c"
		for kind in "turns 100" "flag 20" "calls" "signals 20" "processes 20" "counting"; do
			# shellcheck disable=SC2086
			record ./measured $kind
			[ $status = 0 ] && ! [ -s err ] || no "$options, $kind: status $status: $(head -c 300 err)"
			replay 1
		done
	done
	for kind in "turns 50" "lock 20" "signals 20"; do
		# shellcheck disable=SC2086
		timeout -k 5 60 "$CHORD" record --chaos -o log ./loops $kind >out 2>err </dev/null || no "chaos, $kind: $(head -c 300 err)"
		status=0
		: >err
		replay "$REPLAYS"
	done
}

# A thread that spins until another one has done something, where the log cannot name a state: alone it would not wait for ever.
t_spins() {
	cat >spins.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile int flag;
	static void *work(void *p) { usleep(2000); flag = 1; return p; }
	int main(void) {
		pthread_t t;
		pthread_create(&t, 0, work, 0);
		while (!flag);
		pthread_join(t, 0);
		puts("went on");
		return 3;
	}
	EOF
	sed -e 's/while (!flag)/static long n; & __asm__ volatile("incq %0" : "+m"(n))/' spins.c >memory.c
	gcc -O1 -w -pthread -o spins memory.c || no "cannot compile"
	refused 1 'a thread waits for another one in code .*runs on without being recorded' timeout -k 5 60 "$CHORD" record -o log \
		sh -c './spins; echo status $?'
	[ "$(cat out)" = "$(printf 'went on\nstatus 3')" ] && [ ! -e log ] || no "it did not go on: $(cat out)"
	# where it counts its turn ends, and where it reads the time
	build_with "-O1 -fchord=events" spins spins.c
	record ./spins
	[ $status = 3 ] || no "status $status: $(cat err)"
	replay 1
	# two that wait for each other so, 40 times each
	cat >hand.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	static volatile int turn;
	static void *work(void *p)
	{
		for (int i = 0; i < 40; i++) {
			while (turn != (long)p);
			turn = !turn;
		}
		return p;
	}
	int main(void)
	{
		pthread_t t[2];
		for (long i = 0; i < 2; i++)
			pthread_create(&t[i], 0, work, (void *)i);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], 0);
		printf("handed over\n");
		return 0;
	}
	EOF
	build_with "-O1 -fchord=clock" hand hand.c
	record ./hand
	replay 1
	sed -e 's/while (!flag)/& __builtin_ia32_rdtsc()/' spins.c >reads.c && gcc -O1 -w -pthread -o spins reads.c || no "cannot compile"
	record ./spins
	[ $status = 3 ] || no "status $status: $(cat err)"
	replay 1
}

# Ended or stopped from outside, whatever its threads are at.
t_ended_from_outside() {
	local pid
	cat >rest.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <unistd.h>
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static void *work(void *p) { for (;;) { pthread_mutex_lock(&m); getppid(); pthread_mutex_unlock(&m); if (p) usleep(100); } }
	int main(int c, char **v) {
		pthread_t t;
		for (int i = 0; i < 3; i++) pthread_create(&t, 0, work, i ? 0 : &t);
		printf("%d\n", getpid()), fflush(stdout);
		if (c > 1) pthread_exit(0);
		work(0);
	}
	EOF
	gcc -O1 -w -pthread -o rest rest.c || no "cannot compile"
	for how in KILL TERM SEGV "KILL first" "STOP CONT TERM"; do
		rm -f log out
		# shellcheck disable=SC2046
		(timeout -k 5 60 "$CHORD" record -o log ./rest $(case $how in *first) echo x;; esac) >out 2>err </dev/null; echo $? >status) 2>/dev/null &
		for i in $(seq 200); do [ -s out ] && break; sleep 0.05; done
		pid=$(cat out)
		for sig in ${how% first}; do kill -"$sig" "$pid"; sleep 0.05; done
		wait $!
		status=$(cat status)
		[ "$status" = $((128 + $(kill -l "$sig"))) ] && [ -s log ] || no "$how: status $status: $(cat err)"
		replay 1
	done
}

# Calls that wait when the recording is given up go on waiting, and signals that have just been sent arrive.
t_calls_go_on() {
	cat >waits.c <<-'EOF'
	#define _GNU_SOURCE
	#include <poll.h>
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/syscall.h>
	#include <time.h>
	#include <unistd.h>
	static int p[2];
	static sigset_t all, none;
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static void on(int s) { }
	static void *in_read(void *a) { char c; pthread_sigmask(SIG_SETMASK, &none, 0); printf("read %d\n", (int)read(p[0], &c, 1)); return a; }
	static void *in_nap(void *a) { struct timespec t = {0, 300000000}; printf("nap %d\n", nanosleep(&t, 0)); return a; }
	static void *in_poll(void *a) { printf("poll %d\n", poll(0, 0, 300)); return a; }
	static void *in_futex(void *a) { pthread_mutex_lock(&m), puts("locked"), pthread_mutex_unlock(&m); return a; }
	static void *in_suspend(void *a) { printf("suspend %d\n", sigsuspend(&none)); return a; }
	static void *in_ppoll(void *a) { printf("ppoll %d\n", ppoll(0, 0, 0, &none)); return a; }
	int main(int c, char **v) {
		void *(*f[])(void *) = {in_read, in_suspend, in_ppoll, in_nap, in_poll, in_futex}; pthread_t t[6];
		sigfillset(&all), sigemptyset(&none), sigprocmask(SIG_BLOCK, &all, 0), signal(SIGUSR1, on), pipe(p), pthread_mutex_lock(&m);
		for (int i = 0; i < 6; i++) pthread_create(t + i, 0, f[i], 0);
		usleep(100000);
		for (int i = 0; c > 1 && i < 3; i++) pthread_kill(t[i], SIGUSR1);
		syscall(SYS_memfd_secret, -1);
		for (int i = 0; c == 1 && i < 3; i++) pthread_kill(t[i], SIGUSR1);
		usleep(50000);
		write(p[1], "x", 1), pthread_mutex_unlock(&m);
		for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
		return 3;
	}
	EOF
	gcc -w -pthread -o waits waits.c || no "cannot compile"
	timeout 20 ./waits | sort >alone
	for when in "" before; do
		# shellcheck disable=SC2086
		refused 1 'memfd_secret.*runs on without being recorded' timeout -k 5 60 "$CHORD" record -o log ./waits $when
		sort out | cmp -s - alone || no "$when: otherwise than alone: $(cat out)"
	done
}

for name in threads processes exec-of-threads kinds server chaos deadlock loops spins ended-from-outside calls-go-on; do
	test_case "$name"
done
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord record` and `chord replay`: every replay writes the same bytes and ends with the same status, whatever has become of files
# and processes meanwhile. What cannot be recorded or replayed is reported. Prints ok, FAIL or skip for each test; status 1 if one
# failed.
# run.sh [NAME...]
# REPLAYS: the number of replays of each log (default 10; in tasks.sh and real.sh 3)
set -u
. "$(dirname "$0")/../cases.sh"
. "$(dirname "$0")/../may.sh"
. "$here/again.sh"
. "$here/debug.sh"
. "$here/debug-tasks.sh"
REPLAYS=${REPLAYS:-10}
ulimit -c 0

before() { may trace fixed || skip "$why"; }

# build PROGRAM SOURCE [ARGUMENT...]: by Chord with a clock
build() {
	local to=$1 from=$2
	shift 2
	$cc -w -fchord=events -o "$to" "$@" "$from" 2>cc.err || no "cannot compile $from: $(head -c 300 cc.err)"
}

# cannot PATTERN: replaying log fails so, and prints nothing
cannot() {
	(mkdir -p cannot && cd cannot && refused 1 "$1" timeout 100 "$CHORD" replay ../log && [ ! -s out ]) || no "not '$1', or it printed: $(head -c 300 cannot/err cannot/out)"
}

export GREETING=hello

# ---- the same again ----

t_world() {
	gcc -O1 -w -o plain "$here/world.c" || no "cannot compile"
	build measured "$here/world.c" -O2
	build slow "$here/world.c" -O0
	for program in ./plain ./slow ./measured; do
		record $program
		[ $status = 5 ] || no "$program: status $status"
		if [ $program = ./measured ]; then replay "$REPLAYS"; else replay 2; fi
		cp out first
		record $program
		cmp -s first out && no "$program: the time is the same in two recordings"
	done
	return 0
}

t_status() {
	gcc -O1 -w -o world "$here/world.c" || no "cannot compile"
	for end in segv:139 fault:7 term:143 abort:134; do
		record ./world ${end%:*}
		[ $status = ${end#*:} ] || no "$end: status $status of the recording"
		replay 2
	done
	# by the same signal, as the one who waits for it sees
	cat >wait.c <<-'EOF'
	#include <stdlib.h>
	#include <sys/wait.h>
	#include <unistd.h>
	#include <stdio.h>
	int main(int c, char **v) { int s; if (!fork()) execv(v[1], v + 1); wait(&s); printf("%d\n", WIFSIGNALED(s) ? WTERMSIG(s) : -1); }
	EOF
	gcc -w -o wait wait.c || no "cannot compile"
	record ./world abort
	[ "$(./wait "$CHORD" replay log 2>/dev/null | tail -1)" = 6 ] || no "the replay does not end by the signal"
}

# Nothing of what it used is there any more, and nothing is made again.
t_world_is_gone() {
	mkdir folder && echo precious >folder/in
	cat >copy.c <<-'EOF'
	#include <stdio.h>
	#include <stdlib.h>
	#include <unistd.h>
	int main(void) {
		char line[100]; FILE *in = fopen("folder/in", "r"), *to = fopen("folder/to", "w");
		if (!in || !to) return 1;
		while (fgets(line, sizeof line, in)) { fputs(line, to); printf("%s %s", getenv("GREETING"), line); }
		getcwd(line, sizeof line); puts(line);
		while (fgets(line, sizeof line, stdin)) fputs(line, stdout);
	}
	EOF
	build copy copy.c
	printf 'of standard\ninput\n' >in
	timeout -k 5 60 "$CHORD" record -o log ./copy <in >out 2>err || no "status $?"
	[ -s folder/to ] || no "it did not write its file"
	[ "$(ls -- *.chord | wc -l)" = 1 ] || no "no profile of the recorded run"
	rm -rf folder in ./*.chord
	status=0
	(cd / && env -i "$CHORD" replay "$OLDPWD/log") >again 2>again.err </dev/null || no "status $?: $(head -c 300 again.err)"
	cmp -s out again || no "other output: $(cmp out again)"
	[ ! -e folder ] && ! ls -- *.chord >/dev/null 2>&1 || no "the replay made something: $(ls)"
}

# What gets to the standard output by other ways, and in what order with the standard error.
t_streams() {
	cat >streams.c <<-'EOF'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <stdio.h>
	#include <sys/sendfile.h>
	#include <sys/uio.h>
	#include <unistd.h>
	int main(void) {
		int in = open("in", O_RDONLY), again = open("/dev/stderr", O_WRONLY | O_APPEND), other = open("other", O_CREAT | O_WRONLY, 0600);
		struct iovec v[2] = {{"one", 3}, {" two\n", 5}};
		off_t at = 5;
		write(1, "a\n", 2), write(2, "b\n", 2), write(again, "c\n", 2), writev(1, v, 2), write(other, "not this\n", 9);
		sendfile(1, in, &at, 4), sendfile(1, in, NULL, 5);
		dup2(other, 1);
		write(1, "nor this\n", 9);
		return 0;
	}
	EOF
	gcc -w -o streams streams.c || no "cannot compile"
	echo "some bytes" >in
	record ./streams
	replay 2
	timeout -k 5 60 "$CHORD" record -o log ./streams 2>&1 | cat >out
	[ "$(cat out)" = "$(printf 'a\nb\nc\none two\nbytesome ')" ] || no "recorded: $(cat out)"
	"$CHORD" replay log 2>&1 | cat >again
	cmp -s out again || no "another order: $(cat again)"
}

# Standard streams that are closed are so for the program, too. What it opens in their place is none, nor is what Chord opens.
t_closed_streams() {
	cat >closed.c <<-'EOF'
	#include <fcntl.h>
	#include <stdio.h>
	#include <unistd.h>
	int main(void) {
		int open_ones = 0, fd;
		for (int i = 0; i < 3; i++) open_ones |= (fcntl(i, F_GETFD) >= 0) << i;
		fd = open("file", O_CREAT | O_WRONLY | O_APPEND, 0600);
		dprintf(fd, "%d %d\n", open_ones, fd);
		write(1, "out\n", 4), write(2, "err\n", 4);
		dprintf(fd, "%zd\n", read(0, &fd, 1));
		return open_ones;
	}
	EOF
	gcc -w -o plain closed.c || no "cannot compile"
	build measured closed.c
	local closed program got
	for closed in '<&-' '>&-' '2>&-' '<&- >&-' '>&- 2>&-' '<&- >&- 2>&-'; do
		for program in ./plain ./measured; do
			rm -f file log
			(eval "exec $program </dev/null $closed") >out 2>err
			status=$?
			mv file first
			(eval "exec timeout 60 $CHORD record -o log $program </dev/null $closed") >again 2>again.err
			got=$?
			[ $got = $status ] && cmp -s file first && cmp -s out again && cmp -s err again.err || no "$closed $program: recorded $got, not $status: $(cat file again again.err)"
			rm file
			replay 1
			(eval "exec timeout 60 $CHORD replay log </dev/null $closed") >again 2>again.err
			got=$?
			[ $got = $status ] && cmp -s out again && cmp -s err again.err || no "$closed $program: replayed $got, not $status: $(cat again again.err)"
			[ ! -e file ] || no "the replay has made a file"
		done
	done
}

t_own_programs() {
	local n=0
	mkdir folder && seq 3000 | shuf >folder/numbers && cp "$here/world.c" folder
	for command in "sort -n folder/numbers" "grep -rn int folder" "ls -la folder" "md5sum folder/world.c" "date +%N" \
	    "perl -e 'print rand(), time, \$\$, qq(\n)'" "gzip -c folder/world.c" "sh -c 'echo \$\$; read x <folder/numbers; echo \$x; exit 3'" \
	    "find folder -newer /etc/passwd -ls" "env" "awk '{s += \$1} END {print s, srand()}' folder/numbers" "cat folder/numbers"; do
		command -v "${command%% *}" >/dev/null || continue
		n=$((n + 1))
		eval "record $command"
		replay 2
	done
	[ $n -ge 6 ] || no "only $n programs"
}

# A signal strikes at the instruction where it struck, by the clock: with timers and without.
t_signals() {
	for way in "-O2 -fchord-timers=instructions" "-O0 -fchord-timers=clock" "-O2 -fchord=clock" "-O0 -fchord=events" \
	    "-O2 -fchord=events -fchord-events=loads,instructions,stores"; do
		# shellcheck disable=SC2086
		$cc -w $way -o signals "$here/signals.c" 2>cc.err || no "$way: $(head -c 300 cc.err)"
		record ./signals 60
		[ $status = 0 ] || no "$way: status $status: $(head -c 300 err)"
		replay "$REPLAYS"
		cp out first
		record ./signals 60
		cmp -s first out && no "$way: the signals struck alike in two recordings"
	done
	return 0
}

# A program of others, if its sources are kept from other suites.
t_real_program() {
	local src=${CHORD_CACHE:-$HOME/.cache/chord}/src/bzip2
	[ -r "$src/bzip2.c" ] || skip "no sources of bzip2 in $src"
	$cc -w -O1 -fchord=events -o bzip2 "$src"/{blocksort,huffman,crctable,randtable,compress,decompress,bzlib,bzip2}.c \
		>cc.err 2>&1 || no "bzip2: $(tail -3 cc.err)"
	seq 20000 >numbers
	record ./bzip2 -c numbers
	replay 3
	bunzip2 -c out 2>/dev/null | cmp -s - numbers || ./bzip2 -dc out | cmp -s - numbers || no "it has not packed the numbers"
}

# Of a program without a clock: before the next system call.
t_signals_without_clock() {
	cat >calls.c <<-'EOF'
	#include <signal.h>
	#include <stdio.h>
	#include <sys/time.h>
	#include <unistd.h>
	static volatile unsigned long x = 1, seen, n;
	static void on(int s) { seen = seen * 31 + x; n++; }
	int main(void) {
		struct itimerval often = {{0, 1500}, {0, 1500}};
		signal(SIGALRM, on);
		setitimer(ITIMER_REAL, &often, NULL);
		while (n < 40) { for (int i = 0; i < 500; i++) x = x * 5 + 1; getppid(); }
		printf("%lu %lu\n", seen, x);
		return 0;
	}
	EOF
	gcc -O1 -w -o calls calls.c || no "cannot compile"
	record ./calls
	replay "$REPLAYS"
	cp out first
	record ./calls
	cmp -s first out && no "the signals struck alike in two recordings"
	return 0
}

# A file that is mapped, and cut off by opening it: pages behind its end fail, and are zeros if it grows again.
t_cut_off() {
	cat >cut.c <<-'EOF'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <linux/openat2.h>
	#include <setjmp.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	static sigjmp_buf back;
	static void on(int s) { siglongjmp(back, 1); }
	static void look(const volatile char *p) {
		for (int i = 0; i < 2; i++)
			if (sigsetjmp(back, 1)) printf("cut off "); else printf("%d ", p[i * 5000]);
		puts("");
	}
	static int opened(int how) {
		struct open_how h = {.flags = O_RDWR | O_TRUNC};
		switch (how) {
		case 0: return open("data", O_RDWR | O_TRUNC);
		case 1: return creat("data", 0600);
		case 2: return syscall(SYS_open, "data", O_WRONLY | O_TRUNC);
		case 3: return syscall(SYS_openat2, AT_FDCWD, "data", &h, sizeof h);
		default: return open("data", O_RDWR);
		}
	}
	int main(void) {
		char a[8192];
		signal(SIGBUS, on);
		for (int how = 0; how < 10; how++) {
			int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600), cut;
			for (int i = 0; i < sizeof a; i++) a[i] = how + 1;
			write(fd, a, sizeof a);
			char *p = mmap(0, sizeof a, PROT_READ, how % 2 ? MAP_SHARED : MAP_PRIVATE, fd, 0);
			look(p);
			cut = opened(how / 2);
			look(p);
			ftruncate(fd, sizeof a);
			look(p);
			pwrite(cut, "x", 1, 5000);
			look(p);
			munmap(p, sizeof a), close(fd), close(cut);
		}
		return 3;
	}
	EOF
	gcc -O1 -w -o cut cut.c || no "cannot compile"
	./cut >plain
	for how in "" --no-buffer; do
		# shellcheck disable=SC2086
		record $how ./cut
		cmp -s plain out || no "$how: the recording shows something else: $(diff plain out | head -4)"
		replay 2
	done
	[ "$(grep -c 'cut off' plain)" = 8 ] || no "nothing was cut off"
}

t_default_name() {
	(want timeout -k 5 60 "$CHORD" record echo hello && want "$CHORD" replay && [ "$(cat out)" = hello ] && [ -s chord.log ]) || no "not chord.log"
}

# ---- what cannot be recorded ----

# unrecorded WHAT CODE: refused by that name; the program does what it does
unrecorded() {
	printf '#define _GNU_SOURCE\n#include <pthread.h>\n#include <sched.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>
	#include <string.h>\n#include <fcntl.h>\n#include <sys/mman.h>\n#include <sys/shm.h>\n#include <sys/syscall.h>\n#include <sys/wait.h>\n#include <unistd.h>
	#include <x86intrin.h>\nvolatile int x; void on(int s) { x = 1; } void *thread(void *p) { x = 7; return p; } void *rest(void *p) { pause(); return p; }
	int main(int c, char **v) { %s; __rdtsc(); printf("went on\\n"); return 3; }\n' "$2" >no.c
	gcc -w -pthread -o no no.c || no "cannot compile $2"
	rm -f log
	refused 1 "$1.*runs on without being recorded" timeout -k 5 60 "$CHORD" record -o log ./no
	[ "$(grep -c 'went on' out)" = 1 ] || no "$1: it did not go on: $(cat out)"
	[ ! -e log ] || no "$1: a log is left"
}

t_unrecorded() {
	unrecorded 'signal 14' 'signal(SIGALRM, on); ualarm(300000, 0); while (!x) c++'
	unrecorded 'userfaultfd: the kernel writes memory' 'syscall(SYS_userfaultfd, 0)'
	unrecorded 'number 443' 'syscall(443)'
	unrecorded 'io_uring_setup' 'syscall(SYS_io_uring_setup, 1, 0)'
	unrecorded 'io_setup: the kernel writes memory' 'syscall(SYS_io_setup, 1, 0)'
	unrecorded 'unshare: .*another view' 'unshare(CLONE_NEWNS)'
	unrecorded 'memfd_secret' 'syscall(SYS_memfd_secret, 0)'
	unrecorded 'execveat' 'syscall(SYS_execveat, -1, "", 0, 0, 0)'
	unrecorded 'prctl 0x1a' 'syscall(SYS_prctl, 26, 1)'
	unrecorded 'prctl PR_SET_SECCOMP: a filter' 'syscall(SYS_prctl, 22, 2, 0)'
}

# Calls that cannot be recorded fail with an option, as on a kernel without them, and the rest is recorded.
t_no_aio() {
	cat >aio.c <<-'EOF'
	#define _GNU_SOURCE
	#include <stdio.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int main(void) {
		char p[200] = {0};
		long c = 0;
		printf("%ld ", syscall(SYS_io_uring_setup, 4, p)), perror("uring");
		printf("%ld ", syscall(SYS_io_setup, 1, &c)), perror("aio");
		printf("%d\n", getpid() > 0);
		return 3;
	}
	EOF
	gcc -w -o aio aio.c || no "cannot compile"
	for how in "" --no-buffer; do
		# shellcheck disable=SC2086
		record --no-aio $how ./aio
		[ $status = 3 ] && [ "$(cat out)" = "-1 -1 1" ] && [ "$(grep -c 'Function not implemented' err)" = 2 ] || no "status $status: $(cat out err)"
		replay 2
	done
	refused 1 'io_uring_setup: .*--no-aio' "$CHORD" record -o none ./aio
	refused 2 'it does not go with' "$CHORD" record --signals --no-aio ./aio
}

# A process that cannot be recorded any further goes on alone, where the others need not know what it does; else nothing is recorded.
t_missed() {
	cat >missed.c <<-'EOF'
	#define _GNU_SOURCE
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <pthread.h>
	#include <sys/mman.h>
	#include <sys/ptrace.h>
	#include <sys/syscall.h>
	#include <sys/wait.h>
	#include <time.h>
	#include <unistd.h>
	static int p[2];
	static volatile char *shared;
	static void *rest(void *a) { pause(); return a; }
	static void cannot(const char *how) {
		char text[60];
		pthread_t t;
		struct timespec now;
		if (!strcmp(how, "threads")) pthread_create(&t, 0, rest, 0);
		write(p[1], "before ", 7);
		if (!strcmp(how, "ptrace")) ptrace(PTRACE_ATTACH, -1, 0, 0);
		else syscall(SYS_memfd_secret, -1);
		clock_gettime(CLOCK_REALTIME, &now);
		if (shared) shared[0] = 1;
		write(p[1], text, snprintf(text, sizeof text, "behind %ld ", now.tv_nsec));
		if (!fork()) { puts("alone"), fflush(stdout), _exit(0); }
		wait(NULL), _exit(5);
	}
	int main(int n, char **v) {
		char got[100];
		int s, i = 0, k;
		pipe(p);
		if (!strcmp(v[1], "shared")) shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (!strcmp(v[1], "itself")) cannot(v[1]);
		if (!fork()) cannot(v[1]);
		close(p[1]), wait(&s);
		while (i < 90 && (k = read(p[0], got + i, 90 - i)) > 0) i += k;
		printf("%.*s%d\n", i, got, WEXITSTATUS(s));
		return 6;
	}
	EOF
	gcc -w -pthread -o missed missed.c || no "cannot compile"
	for how in "" --no-buffer --chaos=1; do
		# shellcheck disable=SC2086
		refused 6 'memfd_secret: .*; process 2 of the run goes on' timeout -k 5 60 "$CHORD" record $how -o log ./missed alone
		grep -q '^alone$' out && grep -q '^before behind [0-9]* 5$' out || no "$how: otherwise than alone: $(cat out)"
		grep -v '^alone$' out >wanted
		for i in 1 2; do
			refused 6 'process 2 was not recorded any further' timeout -k 5 60 "$CHORD" replay log
			cmp -s wanted out || no "$how: other output: $(cat out)"
		done
	done
	command -v gdb >/dev/null && { debug ./missed "break _exit" "continue" "reverse-continue" "continue"
		[ "$(grep -c 'process 2 was not recorded any further' answers)" = 1 ] || no "gdb's user is not told once: $(grep '^chord' answers)"; }
	rm log
	for how in shared threads ptrace itself; do
		refused 1 'missed runs on without being recorded' timeout -k 5 60 "$CHORD" record -o log ./missed $how
		[ ! -e log ] || no "$how: there is a log"
		grep -q 'behind' out || [ $how = itself ] || no "$how: otherwise than alone: $(cat out)"
	done
}

# Calls with arrays so long that they are not kept.
t_too_much() {
	local code='long n = (1 << 20) + 1; void **p = calloc(n, 8); for (long i = 0; i < n; i++) p[i] = &n;
		int *s = calloc(n, 4); if (syscall(SYS_move_pages, 0, n, p, 0, s, 0)) return 5'
	printf '#include <stdlib.h>\n#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { %s; return 0; }\n' "$code" >pages.c
	gcc -w -o pages pages.c && ./pages || skip "there is no move_pages here"
	unrecorded 'move_pages' "$code"
}

# All threads and processes go on, those that wait in the kernel, too.
t_all_go_on() {
	cat >all.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/syscall.h>
	#include <sys/wait.h>
	#include <unistd.h>
	#include <x86intrin.h>
	static int up[2], down[2];
	static void *wait_for_byte(void *p) { char c; __rdtsc(); read(down[0], &c, 1); __rdtsc(); write(up[1], "t", 1); return p; }
	int main(void) {
		pthread_t t; char got[2]; int s;
		pipe(up), pipe(down);
		if (!fork()) wait_for_byte(NULL), _exit(6);
		pthread_create(&t, 0, wait_for_byte, 0);
		usleep(20000);
		syscall(SYS_memfd_secret, -1);
		write(down[1], "ab", 2), read(up[0], got, 1), read(up[0], got + 1, 1), pthread_join(t, 0), wait(&s), __rdtsc();
		s = s == 6 << 8 && !system("exit 0");
		printf("all went on: %d\n", s);
		return 3;
	}
	EOF
	gcc -w -pthread -o all all.c || no "cannot compile"
	refused 1 "memfd_secret.*runs on without being recorded" timeout -k 5 60 "$CHORD" record -o log ./all
	[ "$(cat out)" = "all went on: 1" ] && [ ! -e log ] || no "it did not go on: $(cat out)"
}

# Recording takes descriptors, for each task one. The limit that a shell may raise is raised for Chord, not for the program; with the
# other one all that the program has begun goes on.
t_few_descriptors() {
	cat >many.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/resource.h>
	static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	static void *f(void *x) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); return x; }
	int main(int c, char **v) {
		int n = atoi(v[1]), i;
		pthread_t *t = calloc(n, sizeof *t);
		pthread_attr_t a;
		struct rlimit l;
		pthread_attr_init(&a), pthread_attr_setstacksize(&a, 65536);
		pthread_mutex_lock(&m);
		for (i = 0; i < n; i++) if (pthread_create(t + i, &a, f, 0)) return 1;
		pthread_mutex_unlock(&m);
		for (i = 0; i < n; i++) pthread_join(t[i], 0);
		getrlimit(RLIMIT_NOFILE, &l);
		printf("%d threads, %d descriptors\n", n, (int)l.rlim_cur);
		return 0;
	}
	EOF
	gcc -w -pthread -o many many.c || no "cannot compile"
	(ulimit -Sn 100 && want timeout -k 5 60 "$CHORD" record -o log ./many 150 && want timeout -k 5 60 "$CHORD" replay log) || no "a limit that can be raised"
	[ "$(cat out)" = "150 threads, 100 descriptors" ] || no "it printed $(cat out)"
	for limit in 64 80 100; do
		rm -f log
		(ulimit -n $limit && refused 1 "too few descriptors.*runs on without being recorded" timeout -k 5 60 "$CHORD" record -o log ./many 100) || no "limit $limit"
		[ "$(cat out)" = "100 threads, $limit descriptors" ] && [ ! -e log ] || no "limit $limit: $(cat out)"
	done
	(ulimit -n 63 && refused 1 "no more than 63 descriptors" timeout -k 5 60 "$CHORD" record -o log ./many 1) || no "limit 63"
	for limit in 64 70 90; do
		(ulimit -n $limit && timeout -k 5 60 "$CHORD" record -o log bash -c 'cat </dev/null; (echo a; (echo b)) | sort; echo done' >out 2>err)
		[ "$(paste -s -d ' ' out)" = "a b done" ] || no "limit $limit: bash printed $(cat out err)"
	done
}

# A process that has unmapped its counters has no clock any more: that is said, and no log is left.
t_no_counters() {
	cat >gone.c <<-'EOF'
	#include <stdint.h>
	#include <stdio.h>
	extern char __start_chord_cnt[] __attribute__((visibility("hidden"))), __stop_chord_cnt[] __attribute__((visibility("hidden")));
	void away(uintptr_t from, uintptr_t n);
	int main(void) {
		uintptr_t from = (uintptr_t)__start_chord_cnt & -4096ul, to = ((uintptr_t)__stop_chord_cnt + 4095) & -4096ul;
		puts("went on");
		fflush(stdout);
		away(from, to - from);
	}
	EOF
	cat >away.c <<-'EOF'
	#include <stdint.h>
	#include <sys/syscall.h>
	void away(uintptr_t from, uintptr_t n) {
		__asm__ volatile("syscall\n\tmov %0, %%eax\n\tmov $3, %%edi\n\tsyscall"
			: : "i"(SYS_exit_group), "a"(SYS_munmap), "D"(from), "S"(n) : "rcx", "r11", "memory");
	}
	EOF
	gcc -c -O1 away.c || no "cannot compile"
	build gone gone.c -O1 away.o
	./gone >out
	[ $? = 3 ] || no "the program does not do what it should"
	refused 1 'process [0-9]*: its counter at 0x[0-9a-f]* cannot be read: ' timeout -k 5 60 "$CHORD" record -o log ./gone
	grep -q 'how far it has come; ./gone runs on without being recorded' err && [ "$(cat out)" = "went on" ] && [ ! -e log ] ||
		no "it did not go on: $(cat out err)"
}

# Output that is in no memory as the table has it.
t_sent_output() {
	cat >sends.c <<-'EOF'
	#include <sys/socket.h>
	int main(void) {
		struct iovec v = {"sent\n", 5};
		struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
		return sendmsg(1, &h, 0) != 5;
	}
	EOF
	gcc -w -o sends sends.c || no "cannot compile"
	refused 1 'sendmsg.*runs on without being recorded' perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die;
		open(STDOUT, ">&", \*A) or die; $s = system(@ARGV); sysread(B, $got, 5) == 5 or exit 9; print STDERR $got; exit $s >> 8' \
		timeout -k 5 60 "$CHORD" record -o log ./sends
	grep -q sent err && [ ! -e log ] || no "it did not go on: $(cat err)"
	: >a
	record cp a b
	replay 1
}

t_no_program() {
	refused 1 'nothing-such: no such program' timeout -k 5 60 "$CHORD" record -o log nothing-such
	refused 1 './nothing: No such file' timeout -k 5 60 "$CHORD" record -o log ./nothing
	echo text >text && chmod +x text
	refused 1 './text: Exec format error' timeout -k 5 60 "$CHORD" record -o log ./text
	[ ! -e log ] || no "a log is left"
	# a log that is there stays until there is another one
	want timeout -k 5 60 "$CHORD" record -o log true
	cp log old
	refused 1 'Exec format error' timeout -k 5 60 "$CHORD" record -o log ./text
	cmp -s log old && [ ! -e log.part ] || no "the old log is gone"
	want timeout -k 5 60 "$CHORD" record -o /dev/null true
	[ -c /dev/null ] || no "/dev/null is gone"
	[ "$(stat -c %a log)" = 600 ] || no "others may read the log"
	refused 1 'no/log: No such file' timeout -k 5 60 "$CHORD" record -o no/log true
	refused 2 'which program' timeout -k 5 60 "$CHORD" record
	refused 2 'one log' "$CHORD" replay a b
}

# Two at once must not write into one file, nor one through a link that somebody has put there.
t_one_name_twice() {
	mkfifo go
	"$CHORD" record -o log cat go >out 2>err &
	for i in $(seq 100); do [ ! -s log.part ] || break; sleep 0.1; done
	refused 1 'another recording is being written there' timeout -k 5 60 "$CHORD" record -o log true
	echo gone on >go
	wait $! || no "the first one has failed: $(cat err)"
	[ "$(timeout -k 5 60 "$CHORD" replay log)" = "gone on" ] || no "its log is no good"
	echo mine >file && ln -s file log.part
	refused 1 'log.part: it is a symbolic link' timeout -k 5 60 "$CHORD" record -o log true
	[ "$(cat file)" = mine ] || no "a file was written through a link"
	rm log.part && echo mine >log.part
	refused 1 'log.part: it is no recording that was begun' timeout -k 5 60 "$CHORD" record -o log true
	[ "$(cat log.part)" = mine ] || no "somebody's file is gone"
	rm log.part && mkfifo log.part
	refused 1 'log.part: it is no regular file' timeout -k 5 60 "$CHORD" record -o log true
	rm log.part && : >log.part && chmod 666 log.part
	want timeout -k 5 60 "$CHORD" record -o log true
	[ "$(stat -c %a log)" = 600 ] || no "others may read the log"
	if [ "$(id -u)" = 0 ]; then
		: >log.part && chmod 666 log.part && chown 65534 log.part
		refused 1 'log.part: it belongs to somebody else' timeout -k 5 60 "$CHORD" record -o log true
	fi
}

# ---- logs that are no good ----

t_damaged() {
	gcc -w -o world "$here/world.c" || no "cannot compile"
	record ./world
	cp log whole
	size=$(stat -c %s whole)
	: >log; cannot 'not a log'
	echo "something else altogether" >log; cannot 'not a log'
	rm log; cannot 'No such file'
	head -c 12 whole >log; cannot 'ends in the middle'
	head -c 16 whole >log; cannot 'ends in the middle'
	for cut in 17 100 $((size / 2)) $((size - 5)) $((size - 1)); do
		head -c "$cut" whole >log
		cannot 'ends in the middle|damaged'
	done
	{ head -c 8 whole; printf '\377\0\0\0'; tail -c +13 whole; } >log
	cannot 'version 255, this chord'
	for i in $(seq 20); do
		at=$((16 + (size - 17) * i / 20))
		{ head -c "$at" whole; printf '\125\252'; tail -c +$((at + 3)) whole; } >log
		cannot '^chord: ../log: it (is damaged|ends)'
	done
	{ cat whole; echo more; } >log
	cannot 'log: it is damaged'
	"$CHORD" replay <(cat whole) >out 2>&1 && no "a log is read from a pipe"
	grep -q '^chord: /dev/fd/[0-9]*: a pipe or the like' out || no "$(cat out)"
}

t_another_build() {
	printf '#include <stdio.h>\nint f(void);\nint main(void) { printf("%%d\\n", f()); }\n' >main.c
	echo 'int f(void) { return 1; }' >one.c
	echo 'int f(void) { return 2; }' >two.c
	gcc -shared -fPIC -o libf.so one.c && gcc -o prog main.c -L. -lf -Wl,-rpath,"$PWD" || no "cannot compile"
	record ./prog
	gcc -shared -fPIC -o libf.so two.c
	cannot 'libf.so: it has changed since the recording'
	rm libf.so
	cannot 'libf.so: No such file'
	gcc -shared -fPIC -o libf.so one.c
	replay 1
	gcc -O1 -g -o prog main.c -L. -lf -Wl,-rpath,"$PWD"
	cannot 'prog: it has changed since the recording'
	rm prog
	cannot 'prog: No such file'
}

t_another_processor() {
	gcc -w -o forge "$here/forge.c" -lzstd -lxxhash 2>cc.err || skip "no headers of zstd and xxhash"
	for option in "" --signals; do
		timeout -k 5 60 "$CHORD" record $option -o whole true || no "status $?"
		./forge whole log || no "it cannot be forged: status $?"
		cannot 'log: it was recorded on another processor'
	done
}

# What another process does to a file that is mapped is not seen: the replay is another run, and that is said.
t_goes_another_way() {
	cat >shared.c <<-'EOF'
	#include <fcntl.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <unistd.h>
	int main(void) {
		char *m = mmap(0, 4096, PROT_READ, MAP_SHARED, open("shared", O_RDONLY), 0), c;
		printf("%c\n", m[0]), fflush(stdout);
		read(0, &c, 1);
		printf("%c\n", m[0]);
		return 0;
	}
	EOF
	build shared shared.c
	echo old >shared.file && mv shared.file file && ln -s file shared.link
	mv shared prog && mv file shared
	mkfifo go
	(timeout -k 5 60 "$CHORD" record -o log ./prog <go >out 2>err) &
	exec 8>go
	for i in $(seq 100); do grep -q o out 2>/dev/null && break; sleep 0.1; done
	printf n | dd of=shared conv=notrunc 2>/dev/null
	echo >&8
	exec 8>&-
	wait $!
	[ "$(tr '\n' ' ' <out)" = "o n " ] || no "recorded: $(cat out err)"
	refused 1 'goes another way at event [0-9]+: recorded was .*system call write .*; now it is ' "$CHORD" replay log
}

# A program may end otherwise than it was recorded without having made another call.
t_ends_another_way() {
	cat >ends.c <<-'EOF'
	#include <fcntl.h>
	#include <sys/mman.h>
	#include <unistd.h>
	int main(void) {
		char *m = mmap(0, 4096, PROT_READ, MAP_SHARED, open("shared", O_RDONLY), 0), c;
		write(1, "ready", 5);
		read(0, &c, 1);
		_exit(m[0]);
	}
	EOF
	gcc -w -o ends ends.c || no "cannot compile"
	printf '\1' >shared
	mkfifo go
	(timeout -k 5 60 "$CHORD" record -o log ./ends <go >out 2>err; echo $? >status) &
	exec 8>go
	for i in $(seq 100); do grep -qs ready out && break; sleep 0.1; done
	printf '\2' | dd of=shared conv=notrunc 2>/dev/null
	echo >&8
	exec 8>&-
	wait $!
	[ "$(cat status)" = 2 ] || no "recorded: $(cat status out err)"
	refused 1 'goes another way at event [0-9]+: recorded was the end with status 2; now it is system call exit_group' "$CHORD" replay log
}

# Calls by int 0x80 and programs of 32 bits have other numbers.
t_other_calls() {
	cat >calls.S <<-'EOF'
	.globl _start
	_start:
	mov $4, %eax
	mov $1, %ebx
	mov $text, %ecx
	mov $8, %edx
	int $0x80
	rdtsc
	mov $1, %eax
	mov $3, %ebx
	int $0x80
	.data
	text: .ascii "went on\n"
	EOF
	{ as --64 -o calls.o calls.S && ld -o calls calls.o; } || no "cannot assemble"
	[ "$(./calls 2>/dev/null)" = "went on" ] || skip "the kernel makes no system calls of 32 bits"
	refused 1 'as of 32 bits.*runs on without being recorded' timeout -k 5 60 "$CHORD" record -o log ./calls
	[ "$(cat out)" = "went on" ] && [ ! -e log ] || no "it did not go on: $(cat out)"
	{ as --32 -o calls.o calls.S && ld -m elf_i386 -o calls calls.o; } || no "cannot assemble"
	refused 1 'calls: a program of 32 bits cannot be recorded' timeout -k 5 60 "$CHORD" record -o log ./calls
	[ ! -s out ] && [ ! -e log ] || no "it ran: $(cat out)"
}

# More files than there may be descriptors, where files end, memory that is gone, with calls that have stops and without.
t_maps() {
	gcc -w -O1 -o maps "$here/maps.c" || no "cannot compile"
	ulimit -n 100
	for option in "" --no-buffer; do
		rm -f log
		# shellcheck disable=SC2086
		timeout -k 5 60 "$CHORD" record $option -o log ./maps 300 >out 2>err
		status=$?
		[ $status = 4 ] && [ -s log ] || no "$option: status $status: $(head -c 300 err)"
		[ "$(tail -3 out | tr '\n' ' ')" = "101 0 119 -7 -7 115 115 0 -7 0 0 99 " ] || no "$option: $(tail -3 out)"
		replay 2
	done
	gcc -w -pthread -o buffer "$here/buffer.c" && ./buffer can || return 0
	"$CHORD" record --stats -o log ./maps calm >out 2>err
	[ "$(sed -E 's/.*, ([0-9]+) of them without.*/\1/' err)" -gt 3500 ] || no "few calls without a stop: $(cat err)"
	: >err
	status=4
	replay 2
}

# What a program sees of a file behind what it has mapped, and in its own copy, which writes change as long as it has none.
t_mapped() {
	cat >map.c <<-'EOF'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>
	int main(int c, char **v) {
		char b[8192], *m;
		int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
		memset(b, 'a', sizeof b), b[200] = 'T', write(fd, b, sizeof b);
		m = mmap(0, 100, PROT_READ | PROT_WRITE, *v[1] == 'p' ? MAP_PRIVATE : MAP_SHARED, fd, 0);
		printf("%c", m[200]), pwrite(fd, "Z", 1, 300), printf("%c\n", m[300]);
		if (v[2]) m = mremap(m, 4096, sizeof b, MREMAP_MAYMOVE), printf("%c\n", m[5000]);
		return m[300];
	}
	EOF
	gcc -w -o map map.c || no "cannot compile"
	for how in private shared; do
		record ./map $how
		[ $status = 90 ] && [ "$(cat out)" = TZ ] || no "$how: status $status: $(cat out err)"
		replay 1
		record ./map $how grow
		[ "$(tail -1 out)" = a ] || no "$how, growing: $(cat out err)"
		replay 1
	done
}

# A program that asks for fixed addresses has them anyway.
t_setarch() {
	gcc -O1 -w -o plain "$here/world.c" || no "cannot compile"
	record setarch -R ./plain
	[ $status = 5 ] || no "status $status: $(head -c 300 err)"
	replay 2
}

# A limit of file sizes holds for what the replay makes, too.
t_mapped_limited() {
	cat >reads.c <<-'EOF'
	#include <fcntl.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/mman.h>
	int main(void) {
		char *m = mmap(0, 300000, PROT_READ, MAP_PRIVATE, open("in", O_RDONLY), 0), line[3000];
		memset(line, m[299999], sizeof line);
		fwrite(line, 1, sizeof line, stdout);
		return 0;
	}
	EOF
	gcc -static -w -o reads reads.c || no "cannot compile"
	head -c 300000 /dev/zero | tr '\0' x >in
	record ./reads
	refused 1 '^chord: replay: a mapped file cannot have 300000 bytes: File too large$' bash -c "ulimit -f 100; exec '$CHORD' replay log"
	refused 1 '^chord: standard output: File too large$' bash -c "ulimit -f 1000; head -c 1023000 /dev/zero >full; exec '$CHORD' replay log >>full"
}

# Who appends writes to the end, whatever place the call names; and pwritev2() at no place where the descriptor is.
t_mapped_append() {
	cat >append.c <<-'EOF'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <sys/uio.h>
	#include <unistd.h>
	int main(int c, char **v) {
		struct iovec one = {"12345", 5};
		int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600), end;
		char b[100], *m;
		memset(b, 'a', sizeof b), write(fd, b, sizeof b);
		m = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
		end = open("data", O_WRONLY | O_APPEND);
		pwrite(end, "HELLO", 5, 0), printf("%.3s %.5s\n", m, m + 100);
		pwritev(end, &one, 1, 20), printf("%.3s %.10s\n", m + 20, m + 100);
		pwritev2(fd, &one, 1, 30, RWF_APPEND), printf("%.3s %.15s\n", m + 30, m + 100);
		lseek(fd, 40, SEEK_SET), pwritev2(fd, &one, 1, -1, 0), printf("%.7s %.15s\n", m + 39, m + 100);
		pwritev2(fd, &one, 1, 50, 0), printf("%.7s %.15s\n", m + 49, m + 100);
		return 7;
	}
	EOF
	gcc -w -o append append.c || no "cannot compile"
	for option in "" --no-buffer; do
		rm -f log
		# shellcheck disable=SC2086
		"$CHORD" record $option -o log ./append >out 2>err
		status=$?
		[ $status = 7 ] || no "status $status: $(cat err)"
		[ "$(tail -1 out)" = "a12345a HELLO1234512345" ] || no "$(cat out)"
		replay 1
	done
}

# A program's file that it has opened itself to write to is data; one that was mapped before cannot be changed, however it is opened.
t_mapped_program() {
	cat >change.c <<-'EOF'
	#include <fcntl.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <unistd.h>
	int main(int c, char **v) {
		int late = *v[1] == 'l', fd = open("lib.so", late ? O_RDONLY : O_RDWR), to = fd;
		char *m = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0), was = m[4000];
		for (int i = 0; late && i < 9; i++)
			close(to), to = open("lib.so", O_RDWR);
		if (v[2]) {
			int cut = open(v[2], O_WRONLY | O_TRUNC);
			return write(cut, "gone", 4);
		}
		pwrite(to, "!", 1, 4000), printf("%d%c\n", was, m[4000]), pwrite(to, &was, 1, 4000);
		return 3;
	}
	EOF
	gcc -w -o change change.c && echo 'int x[4096] = {1};' | gcc -shared -o lib.so -xc - || no "cannot compile"
	cp lib.so before
	sleep 2
	record ./change early
	[ $status = 3 ] && [ "$(cat out)" = '0!' ] || no "status $status: $(cat out err)"
	replay 1
	cmp -s lib.so before || no "the recording changed it"
	rm log
	"$CHORD" record -o log ./change late >out 2>err
	[ $? = 1 ] && grep -q 'pwrite64: it changes a program or library that is mapped' err || no "$(cat err)"
	[ "$(cat out)" = '0!' ] && [ ! -e log ] || no "it did not go on, or there is a log: $(cat out)"
	refused 1 'openat: it changes a program or library that is mapped' "$CHORD" record -o log ./change late lib.so
	[ "$(cat lib.so)" = gone ] || no "it did not go on"
}

t_stack() {
	cat >deep.c <<-'EOF'
	#define _GNU_SOURCE
	#include <stdio.h>
	#include <string.h>
	#include <sys/resource.h>
	#include <unistd.h>
	int deep(int n) { char b[4096]; memset(b, n, sizeof b); return n ? deep(n - 1) + b[5] : 0; }
	int main(void) {
		struct rlimit l;
		getrlimit(RLIMIT_STACK, &l), l.rlim_cur = 64 << 20, SET;
		printf("%d\n", deep(8000));
		return 0;
	}
	EOF
	for set in 'setrlimit(RLIMIT_STACK, &l)' 'prlimit(getpid(), RLIMIT_STACK, &l, NULL)'; do
		gcc -w -D"SET=$set" -o deep deep.c || no "cannot compile"
		(ulimit -S -s 8192; record ./deep; [ $status = 0 ] || no "$set: status $status"; replay 1) || exit 1
	done
}

# A program that begins in a folder that is gone.
t_no_folder() {
	refused 1 'the folder in which it begins has been removed.*runs on without being recorded' \
		bash -c 'mkdir removed && cd removed && rmdir ../removed && timeout -k 5 60 "$1" record -o /dev/null /bin/echo ran' - "$CHORD"
	grep -q ran out || no "it did not run on"
}

# With the rights of its file it would be another run.
t_rights() {
	cp "$(command -v id)" id && chmod 4755 id || no "cannot copy id"
	[ "$(id -u)" = 0 ] || skip "only root can give rights"
	command -v setpriv >/dev/null || skip "no setpriv"
	setpriv --reuid 65534 --clear-groups test -x "$CHORD" || skip "$CHORD is in a folder of root's own"
	chmod 755 . && mkdir -m 777 for-all
	refused 1 'id: it has .* rights by its file' setpriv --reuid 65534 --clear-groups timeout -k 5 60 "$CHORD" record -o for-all/log ./id
	[ ! -s out ] || no "it ran: $(cat out)"
	# root may trace it, and the kernel chooses its addresses at random
	refused 1 'id: its addresses are random, for it has .* rights by its file.*runs on without being recorded' \
		timeout -k 5 60 "$CHORD" record -o log ./id
	grep -q uid= out && [ ! -e log ] || no "it did not run on: $(cat out)"
	refused 5 './id: its addresses are random, .*; process 2 of the run goes on' timeout -k 5 60 "$CHORD" record -o log sh -c './id; exit 5'
	grep -q uid= out || no "it did not run: $(cat out)"
	refused 5 'process 2 was not recorded any further' timeout -k 5 60 "$CHORD" replay log
	[ ! -s out ] || no "the replay has what was not recorded: $(cat out)"
	rm log
	refused 1 './id: its addresses are random' timeout -k 5 60 "$CHORD" record --signals -o log ./id
	# started by another one that is recorded, it has its rights, whether that one forks or vforks
	as="setpriv --reuid 65534 --clear-groups"
	[ "$($as ./id -u)" = 0 ] || skip "files give no rights in this folder"
	printf '#include <stdlib.h>\n#include <unistd.h>\nint main(int n, char **v) { int s; if (!(n > 1 ? vfork() : fork())) execl("./id", "id", "-u", NULL), _exit(9);
		wait(&s); return s ? 1 : 5; }\n' >starts.c
	gcc -w -o starts starts.c || no "cannot compile"
	for how in "" vfork; do
		refused 5 'process 2 of the run goes on without being recorded' $as timeout -k 5 60 "$CHORD" record -o for-all/log ./starts $how
		[ "$(cat out)" = 0 ] || no "$how: it lacks its rights: $(cat out)"
		refused 5 'process 2 was not recorded any further' timeout -k 5 60 "$CHORD" replay for-all/log
		rm for-all/log
	done
}

# A process that hides from others can be recorded by root only. If the recorder cannot look at its files any more, it does not know
# what is standard output.
t_hides() {
	cat >hides.c <<-'EOF'
	#include <stdio.h>
	#include <sys/prctl.h>
	#include <unistd.h>
	int main(int n, char **v) {
		write(1, "before\n", 7);
		if (n > 1 ? setuid(65534) : prctl(PR_SET_DUMPABLE, 0)) return 1;
		write(1, "behind\n", 7);
		return 3;
	}
	EOF
	gcc -w -o hides hides.c || no "cannot compile"
	[ "$(id -u)" = 0 ] || { refused 1 'prctl.*it hides' timeout -k 5 60 "$CHORD" record -o log ./hides; return 0; }
	for user in "" 65534; do
		record ./hides $user
		[ "$(cat out)" = "$(printf 'before\nbehind')" ] || no "recorded: $(cat out)"
		replay 2
	done
	command -v setpriv >/dev/null || skip "no setpriv"
	setpriv --reuid 65534 --clear-groups test -x "$CHORD" || skip "$CHORD is in a folder of root's own"
	chmod 755 . && mkdir -m 777 for-all
	refused 1 'prctl.*it hides .*without being recorded' setpriv --reuid 65534 --clear-groups timeout -k 5 60 "$CHORD" record -o for-all/log ./hides
	[ "$(cat out)" = "$(printf 'before\nbehind')" ] && [ ! -e for-all/log ] || no "it did not go on: $(cat out)"
	refused 1 'setuid: it hides' setpriv --bounding-set -sys_ptrace timeout -k 5 60 "$CHORD" record -o for-all/log ./hides 65534
	[ "$(cat out)" = "$(printf 'before\nbehind')" ] && [ ! -e for-all/log ] || no "it did not go on: $(cat out)"
}

# Libraries and objects that are made in the run are data, and gone when it is replayed.
t_made_files() {
	cat >loads.c <<-'EOF'
	#include <dlfcn.h>
	#include <stdio.h>
	int main(void) {
		void *h = dlopen("./libf.so", RTLD_NOW);
		int (*f)(void) = h ? dlsym(h, "f") : 0;
		remove("libf.so");
		return !f || printf("%d\n", f()) < 0;
	}
	EOF
	printf '#include <stdio.h>\nint main(void) { return puts("linked") < 0; }\n' >main.c
	echo 'int f(void) { return 42; }' >f.c
	gcc -w -o loads loads.c -ldl || no "cannot compile"
	record sh -c 'gcc -shared -fPIC -o libf.so f.c && ./loads && gcc -O1 -flto -o linked main.c && ./linked && rm f.c'
	[ $status = 0 ] && [ "$(cat out)" = "$(printf '42\nlinked')" ] || no "status $status: $(head -c 300 out err)"
	replay 2
}

# A log of others cannot have a file changed.
t_forged() {
	cat >change.c <<-'EOF'
	#include <fcntl.h>
	#include <sys/mman.h>
	int main(void) {
		char *m = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open("precious", O_RDWR), 0);
		m[0] = 'X';
		return 0;
	}
	EOF
	gcc -w -o change change.c || no "cannot compile"
	gcc -w -o forge "$here/forge.c" -lzstd -lxxhash 2>cc.err || skip "no headers of zstd and xxhash"
	echo "precious content" >precious
	record ./change
	echo "precious content" >precious
	replay 1
	./forge log forged "$PWD/precious" "precious content
" || no "it cannot be forged: status $?"
	refused 1 'a mapping would change' "$CHORD" replay forged
	[ "$(cat precious)" = "precious content" ] || no "the file was changed"
}

# A signal strikes at the first instruction of a handler that has interrupted a call: the kernel forgets the call's number only when
# the program runs again. Mostly the signal is pending before that; here it comes just after.
t_struck_at_once() {
	cat >both.c <<-'EOF'
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	static volatile int order;
	static void on(int s) { order = order * 100 + s; }
	int main(void) {
		sigset_t all, old;
		signal(SIGUSR1, on), signal(SIGUSR2, on);
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &old);
		raise(SIGUSR1), raise(SIGUSR2);
		sigprocmask(SIG_SETMASK, &old, NULL);
		printf("%d\n", order);
		return 0;
	}
	EOF
	gcc -w -o forge "$here/forge.c" -lzstd -lxxhash 2>cc.err || skip "no headers of zstd and xxhash"
	for how in events clock; do
		$cc -w -O1 -fchord=$how -o both both.c 2>cc.err || no "cannot compile: $(head -c 300 cc.err)"
		record ./both
		[ "$(cat out)" = 1210 ] || no "$how: not the second first: $(cat out)"
		replay 1
		mv log whole
		./forge whole log interrupted now || no "$how: it cannot be forged: status $?"
		replay 1
	done
}

# A program that signals its process group signals its recorder, too, and a message that nobody reads ends nobody.
t_group() {
	cat >group.c <<-'EOF'
	#include <signal.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	static volatile int seen;
	static void on(int s) { seen++; }
	int main(int n, char **v) {
		int sig[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPIPE, SIGRTMIN, SIGRTMAX};
		for (int i = 0; i < sizeof sig / sizeof *sig; i++) signal(sig[i], on), kill(0, sig[i]);
		usleep(100000);
		if (n > 1) syscall(SYS_memfd_secret, -1);
		printf("%d\n", seen);
		return 3;
	}
	EOF
	gcc -w -o group group.c || no "cannot compile"
	command -v setsid >/dev/null || skip "no setsid"
	for option in "" --no-buffer; do
		status=0
		# shellcheck disable=SC2086
		setsid -w "$CHORD" record $option -o log ./group >out 2>err || status=$?
		[ $status = 3 ] && [ "$(cat out)" = 9 ] || no "$option: status $status: $(head -c 300 out err)"
		replay 1
	done
	{ setsid -w "$CHORD" record -o log ./group and refuses 2>&1 >out; echo $? >status; } | true
	[ "$(cat status out)" = "$(printf '1\n9')" ] || no "it was ended by a message: $(cat status out)"
}

# A process ends, in one way or the other, and holds locks in memory that it shares: the kernel marks them for the next owner.
t_robust() {
	cat >robust.c <<-'EOF'
	#include <errno.h>
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/mman.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static struct shared { pthread_mutex_t lock[3]; } *s;
	static void *take(void *p) { pthread_mutex_lock(&s->lock[2]); pause(); return p; }
	static void end(int how) {
		pthread_t t;
		pthread_mutex_lock(&s->lock[0]), pthread_mutex_lock(&s->lock[1]);
		switch (how) {
		case 0: _exit(0);
		case 1: exit(0);
		case 2: raise(SIGTERM);
		case 3: abort();
		case 4: pthread_create(&t, NULL, take, NULL), usleep(5000), exit(0);
		case 5: pthread_exit(NULL);
		case 6: pthread_mutex_unlock(&s->lock[1]), _exit(0);
		}
	}
	int main(void) {
		pthread_mutexattr_t a;
		s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pthread_mutexattr_init(&a), pthread_mutexattr_setpshared(&a, 1), pthread_mutexattr_setrobust(&a, 1);
		for (int how = 0; how < 7; how++) {
			for (int i = 0; i < 3; i++) pthread_mutex_init(&s->lock[i], &a);
			if (!fork()) end(how);
			wait(NULL);
			for (int i = 0; i < 3; i++) printf("%x ", s->lock[i].__data.__lock), printf("%d ", pthread_mutex_lock(&s->lock[i]));
			puts(""), fflush(stdout);
		}
		return 0;
	}
	EOF
	gcc -w -pthread -o robust robust.c || no "cannot compile"
	./robust >plain
	for how in "" --no-buffer; do
		# shellcheck disable=SC2086
		record $how ./robust
		[ "$(cut -d' ' -f2,4,6 plain)" = "$(cut -d' ' -f2,4,6 out)" ] || no "$how: the recording shows something else: $(diff plain out | head -4)"
		[ "$(grep -c '40000000' out)" = 7 ] || no "$how: no lock was marked: $(cat out)"
		replay 2
	done
}

# Locks that inherit priorities: the kernel writes into them, also before a thread waits.
t_inherits() {
	cat >inherits.c <<-'EOF'
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <sys/wait.h>
	#include <time.h>
	#include <unistd.h>
	static struct shared { pthread_mutex_t lock; int n, timeouts, busy; } *s;
	static void *work(void *p) {
		struct timespec t;
		for (int i = 0; i < 60; i++) {
			switch (i % 3) {
			case 0: pthread_mutex_lock(&s->lock); break;
			case 1:
				clock_gettime(CLOCK_REALTIME, &t), t.tv_nsec += 300000, t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000;
				if (pthread_mutex_timedlock(&s->lock, &t)) { __atomic_add_fetch(&s->timeouts, 1, __ATOMIC_RELAXED); continue; }
				break;
			case 2: if (pthread_mutex_trylock(&s->lock)) { __atomic_add_fetch(&s->busy, 1, __ATOMIC_RELAXED); continue; }
			}
			s->n += p ? 1 : 100;
			usleep(i % 4 ? 0 : 400);
			pthread_mutex_unlock(&s->lock);
		}
		return p;
	}
	int main(void) {
		pthread_mutexattr_t a;
		pthread_t t[3];
		s = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pthread_mutexattr_init(&a), pthread_mutexattr_setpshared(&a, 1), pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
		pthread_mutex_init(&s->lock, &a);
		if (!fork()) { work(0); _exit(0); }
		for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, work, s);
		for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
		wait(NULL);
		printf("%d %d %d\n", s->n, s->timeouts, s->busy);
		return s->timeouts + s->busy + s->n % 100 + s->n / 100 != 240;
	}
	EOF
	gcc -w -O2 -pthread -o inherits inherits.c || no "cannot compile"
	for how in "" --no-buffer; do
		# shellcheck disable=SC2086
		record $how ./inherits
		[ $status = 0 ] || no "$how: status $status: $(cat out)"
		replay 2
	done
	for seed in 1 2 3; do
		"$CHORD" record --chaos=$seed -o log ./inherits >out 2>err || no "seed $seed: status $?: $(cat out err)"
		"$CHORD" replay log >again 2>err || no "seed $seed: replay: status $?: $(cat err)"
		cmp -s out again || no "seed $seed: other output: $(cat out again)"
	done
}

# Shared memory that mremap() grows, with and without a file, and a large file that is nearly all a hole: neither is refused, nor is
# the hole in the log or in memory.
t_sparse() {
	cat >sparse.c <<-'EOF'
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <sys/resource.h>
	#include <sys/shm.h>
	#include <unistd.h>
	int main(void) {
		long size = 1L << 36;
		int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), id = shmget(IPC_PRIVATE, 8192, 0600 | IPC_CREAT), *p, *q;
		setrlimit(RLIMIT_AS, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
		ftruncate(fd, size), pwrite(fd, "abcd", 4, 1 << 20);
		p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
		p[7] = 7, p[size / 4 - 1] = 5;
		q = mmap(0, size / 2, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
		printf("%d %.4s %d %d\n", q[7], (char *)q + (1 << 20), q[1 << 25], p[size / 4 - 1]);
		for (int i = 0; i < 2; i++) {
			p = i ? shmat(id, 0, 0) : mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
			p[1024] = 9, munmap((char *)p + 4096, 4096);
			q = mremap(p, 4096, 8192, MREMAP_MAYMOVE);
			printf("%d\n", q == MAP_FAILED ? -1 : q[1024]);
		}
		shmctl(id, IPC_RMID, 0);
		return 0;
	}
	EOF
	gcc -w -o sparse sparse.c || no "cannot compile"
	(ulimit -Sv 4194304; exec timeout 60 "$CHORD" record -o log ./sparse) >out 2>err || no "status $?: $(cat err)"
	printf '7 abcd 0 5\n9\n9\n' | cmp - out || no "not the same: $(cat out)"
	[ "$(stat -c %s log)" -lt 200000 ] || no "the log is large"
	timeout 60 "$CHORD" replay log | cmp - out || no "another replay"
}

# Shared memory of System V: between processes, read only, in place of other memory, attached again; and shared with others.
t_segments() {
	cat >segments.c <<-'EOF'
	#include <errno.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/ipc.h>
	#include <sys/mman.h>
	#include <sys/shm.h>
	#include <sys/wait.h>
	#include <unistd.h>
	int main(void) {
		int id = shmget(IPC_PRIVATE, 20000, IPC_CREAT | 0600), other = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), s;
		volatile int *a = shmat(id, 0, 0), *b;
		char *c;
		struct shmid_ds ds;
		a[0] = 1;
		if (!fork()) { for (int i = 0; i < 50; i++) { a[1]++; usleep(100); } a[4999] = getppid() > 0; _exit(0); }
		if (!fork()) {
			b = shmat(id, 0, SHM_RDONLY);
			while (b[1] < 20) usleep(50);
			a[2] = b[1] >= 20;
			shmdt((void *)b);
			execlp("sh", "sh", "-c", "echo executed", (char *)0);
		}
		while (wait(&s) > 0) ;
		printf("%d %d %d %d\n", a[0], a[1], a[2], a[4999]);
		shmctl(id, IPC_STAT, &ds);
		printf("%zu %lu\n", ds.shm_segsz, (unsigned long)ds.shm_nattch);
		s = shmdt((void *)a);
		printf("%d %d\n", s, shmdt((void *)a));
		c = shmat(other, 0, 0);
		strcpy(c, "second");
		a = shmat(id, 0, 0);
		printf("%d %d %s\n", a[0], a[1], c);
		c = mmap(0, 40960, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		c = shmat(id, c + 8192, SHM_REMAP | SHM_RDONLY);
		printf("%d\n", ((int *)c)[1]);
		a[7] = 77;
		printf("%d\n", ((int *)c)[7]);
		printf("%s\n", shmat(-1, 0, 0) == (void *)-1 ? strerror(errno) : "?");
		shmctl(id, IPC_RMID, 0), shmctl(other, IPC_RMID, 0);
		return 0;
	}
	EOF
	gcc -w -O1 -o segments segments.c || no "cannot compile"
	./segments >alone || no "status $?: $(cat alone)"
	for how in "" --no-buffer; do
		# shellcheck disable=SC2086
		record $how ./segments
		cmp -s alone out || no "$how: the recording shows something else: $(diff alone out | head -4)"
		replay 2
	done
	cat >joins.c <<-'EOF'
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/shm.h>
	int main(int argc, char **argv) {
		int id = argc > 1 ? atoi(argv[1]) : shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
		int *n = shmat(id, 0, 0);
		if (argc > 1) { printf("%d\n", n[5]); return 3; }
		n[5] = 55, printf("%d\n", id), fflush(stdout), getchar();
		return shmctl(id, IPC_RMID, 0);
	}
	EOF
	gcc -w -O1 -o joins joins.c || no "cannot compile"
	mkfifo go
	./joins <go >id &
	exec 5>go
	until [ -s id ]; do sleep 0.1; done
	"$CHORD" record -o mine ./joins "$(cat id)" >out 2>err
	got=$?
	exec 5>&-
	wait $!
	[ $got = 1 ] && [ "$(cat out)" = 55 ] || no "status $got: $(cat out err)"
	grep -q 'shmat: memory that other processes have, too' err && [ ! -e mine ] || no "it was recorded: $(cat err)"
}

# Signals that the program ignores end no call, although the kernel tells the recorder of them; those with a handler do.
t_ignored() {
	cat >ignored.c <<-'EOF'
	#include <errno.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/epoll.h>
	#include <sys/ipc.h>
	#include <sys/sem.h>
	#include <sys/wait.h>
	#include <time.h>
	#include <unistd.h>
	static int e, set;
	static void on(int s) {}
	/* a child ends after 50, 100 and 150 ms; at 200 ms one sends the signal */
	static void children(int sig) {
		for (int i = 1; i < 5; i++)
			if (!fork()) {
				usleep(i * 50000);
				if (i == 4 && sig) kill(getppid(), sig);
				if (i == 4) semop(set, &(struct sembuf){0, 1, 0}, 1);
				_exit(0);
			}
	}
	static long ms(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000 + t.tv_nsec / 1000000; }
	static void say(const char *what, int result, long since, long least, long most) {
		int error = result < 0 ? errno : 0;
		long took = ms() - since;
		printf("%s %d %d %s\n", what, result, error, took < least ? "soon" : took > most ? "late" : "in time");
		fflush(stdout);
		while (wait(NULL) > 0);
	}
	int main(void) {
		struct epoll_event v;
		long t = ms();
		e = epoll_create1(0), set = semget(IPC_PRIVATE, 1, 0600);
		children(0), say("a time", epoll_wait(e, &v, 1, 400), t, 400, 3000);
		t = ms(), children(0), say("semop", semop(set, &(struct sembuf){0, -2, 0}, 1), t, 150, 3000);
		signal(SIGUSR1, on);
		t = ms(), children(SIGUSR1), say("a handler", epoll_wait(e, &v, 1, -1), t, 150, 3000);
		signal(SIGUSR1, SIG_IGN);
		t = ms(), children(SIGUSR1), say("ignored", epoll_pwait(e, &v, 1, 300, NULL), t, 300, 3000);
		signal(SIGCHLD, on);
		t = ms(), children(0), say("SIGCHLD", epoll_wait(e, &v, 1, 20000), t, 0, 10000);
		semctl(set, 0, IPC_RMID);
		return 0;
	}
	EOF
	gcc -w -o ignored ignored.c || no "cannot compile"
	./ignored >plain
	for how in "" --no-buffer; do
		# shellcheck disable=SC2086
		record $how ./ignored
		cmp -s plain out || no "$how: the recording shows something else: $(diff plain out | head -4)"
		replay 2
	done
}

# Whoever begins the recording has blocked signals that it needs: for turns, for signals that wait, and to end as the program did.
t_blocked() {
	cat >waits.c <<-'EOF'
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <unistd.h>
	static volatile int flag;
	static void *set(void *p) { usleep(1000); flag = 1; return p; }
	int main(void) {
		pthread_t t;
		sigset_t now;
		pthread_create(&t, NULL, set, NULL);
		while (!flag);
		pthread_join(t, NULL);
		sigprocmask(SIG_BLOCK, NULL, &now);
		printf("%d %d\n", sigismember(&now, SIGALRM), sigismember(&now, SIGUSR1));
		fflush(stdout);
		sigdelset(&now, SIGUSR1);
		sigprocmask(SIG_SETMASK, &now, NULL);
		raise(SIGUSR1);
		return 1;
	}
	EOF
	gcc -w -pthread -o waits waits.c || no "cannot compile"
	env --block-signal=USR1 true 2>/dev/null || skip "env(1) blocks no signals"
	{ timeout -k 5 20 env --block-signal=ALRM --block-signal=USR1 "$CHORD" record -o log ./waits >out 2>err; status=$?; } 2>/dev/null
	[ $status = 138 ] && [ "$(cat out)" = "1 1" ] || no "status $status: $(head -c 300 out err)"
	replay 2
	{ timeout -k 5 20 env --block-signal=USR1 "$CHORD" replay log >again 2>again.err; status=$?; } 2>/dev/null
	[ $status = 138 ] && cmp -s out again || no "the replay: status $status: $(head -c 300 again.err)"
	printf '#include <signal.h>\n#include <unistd.h>\nvolatile int x;\nvoid on(int s) { x = 1; }\nint main(void) {
		sigset_t all; sigemptyset(&all); sigprocmask(SIG_SETMASK, &all, 0); signal(SIGALRM, on); ualarm(300000, 0); while (!x); return 0; }\n' >once.c
	gcc -w -o once once.c || no "cannot compile"
	refused 1 'signal 14' timeout -k 5 20 env --block-signal=ALRM "$CHORD" record --signals -o log ./once
}

# Pages that guard a stack fail in the replay, too, and have lost what they had (madvise(2), MADV_GUARD_INSTALL).
t_guards() {
	cat >guards.c <<-'EOF'
	#include <setjmp.h>
	#include <signal.h>
	#include <stdio.h>
	#include <string.h>
	#include <sys/mman.h>
	static sigjmp_buf back;
	static void on(int s) { siglongjmp(back, 1); }
	static void look(const volatile char *p) { if (sigsetjmp(back, 1)) puts("guarded"); else printf("%d\n", *p); }
	int main(void) {
		char *p = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(p, 7, 8192);
		signal(SIGSEGV, on);
		if (madvise(p, 4096, 102)) return 2;
		look(p), look(p + 4096);
		madvise(p, 8192, 103);
		look(p), look(p + 4096);
		return 0;
	}
	EOF
	gcc -O1 -w -o guards guards.c || no "cannot compile"
	./guards >plain || skip "the kernel has no such pages"
	record ./guards
	cmp -s plain out || no "the recording shows something else: $(diff plain out | head -4)"
	replay 2
}

# A program blocks or ignores the signals by which it is stopped for the recording: its handlers stay, and so does what it blocks.
t_forced() {
	cat >forced.c <<-'EOF'
	#include <pthread.h>
	#include <setjmp.h>
	#include <signal.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <sys/wait.h>
	#include <unistd.h>
	#include <x86intrin.h>
	static sigjmp_buf back;
	static void on(int s) { siglongjmp(back, s); }
	static int is(int s) { struct sigaction a; sigaction(s, NULL, &a); return a.sa_handler == on ? 2 : a.sa_handler == SIG_IGN; }
	static void show(const char *at) {
		sigset_t now;
		sigprocmask(SIG_BLOCK, NULL, &now);
		printf("%s: SIGSEGV %d %d, SIGTRAP %d %d\n", at, is(SIGSEGV), sigismember(&now, SIGSEGV), is(SIGTRAP), sigismember(&now, SIGTRAP));
		fflush(stdout);
	}
	static void stops(void) {
		for (int i = 0; i < 60; i++) munmap(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
		if (!__rdtsc()) puts("no time");
	}
	static void fault(const char *at) { if (!sigsetjmp(back, 1)) *(volatile int *)8 = 1; else puts(at); }
	static void *thread(void *at) { stops(), show(at); return NULL; }
	int main(void) {
		sigset_t all, old;
		pthread_t t;
		for (int i = 0; i < 60; i++) signal(SIGSEGV, i % 2 ? on : SIG_DFL), signal(SIGTRAP, i % 2 ? on : SIG_IGN), getpid();
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &old);
		stops(), show("blocked");
		pthread_create(&t, NULL, thread, "thread"), pthread_join(t, NULL);
		if (!fork()) { stops(), show("child"), sigprocmask(SIG_SETMASK, &old, NULL), fault("the child's fault"); _exit(0); }
		wait(NULL);
		sigprocmask(SIG_SETMASK, &old, NULL), show("free"), fault("its fault");
		signal(SIGSEGV, SIG_IGN), signal(SIGTRAP, SIG_IGN);
		stops(), show("ignored"), raise(SIGSEGV), raise(SIGTRAP);
		execl("/bin/sh", "sh", "-c", "kill -SEGV $$; kill -TRAP $$; echo goes on", NULL);
		return 1;
	}
	EOF
	gcc -O1 -w -pthread -o forced forced.c || no "cannot compile"
	./forced >plain
	for how in "" --no-buffer; do
		# shellcheck disable=SC2086
		record $how ./forced
		cmp -s plain out || no "$how: the recording shows something else: $(diff plain out | head -4)"
		replay 2
	done
	[ "$(tail -1 plain)" = "goes on" ] || no "status $status: $(tail -3 plain)"
}

# A log of many chunks, whose ends are anywhere.
t_chunks() {
	gcc -w -o forge "$here/forge.c" -lzstd -lxxhash 2>cc.err || skip "no headers of zstd and xxhash"
	build world "$here/world.c" -O1
	record ./world
	cp log whole
	for bytes in 1 5 1000; do
		./forge whole log $bytes || no "it cannot be forged: status $?"
		replay 1
	done
}

# A recording binds the program to one processor, which it must not see.
t_processors() {
	gcc -O1 -w -pthread -o processors "$here/processors.c" || no "cannot compile"
	for argument in "" early; do
		./processors $argument >expected
		# shellcheck disable=SC2086
		record ./processors $argument
		cmp -s expected out || no "recorded: $(diff expected out | head -c 400)"
		replay 2
	done
	./processors alone >expected
	refused 1 'memfd_secret.*runs on without being recorded' timeout -k 5 60 "$CHORD" record -o log ./processors alone
	cmp -s expected out || no "alone: $(diff expected out | head -c 400)"
}

# Counters come and go with threads, libraries and processes: the clock is read meanwhile.
t_counters_go() {
	printf 'int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i %% 7; return s; }\n' >one.c
	$CHORD cc -fchord=events -O1 -shared -fPIC -o libone.so one.c 2>cc.err || no "$(head -c 300 cc.err)"
	cat >go.c <<-'EOF'
	#include <dlfcn.h>
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static int in_library(void)
	{
		void *l = dlopen("./libone.so", RTLD_NOW);
		int (*f)(int) = (int (*)(int))dlsym(l, "f"), got = f(100);
		dlclose(l);
		return got;
	}
	static void *thread(void *by)
	{
		for (int i = 0; i < 3; i++)
			*(int *)by += in_library() + getppid() * 0;
		return NULL;
	}
	int main(void)
	{
		int got[4] = {0}, sum = 0, status;
		pthread_t t[4];
		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, thread, &got[i]);
		sum += in_library();
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL), sum += got[i];
		if (!fork())
			_exit(in_library() % 100);
		wait(&status);
		printf("%d %d\n", sum, WEXITSTATUS(status));
		return 0;
	}
	EOF
	build go go.c -O1 -pthread
	record ./go
	replay 3
	for seed in -1 99999999999999999999999 "" x; do
		refused 2 'not a number' "$CHORD" record --chaos="$seed" -o none ./go
	done
	for option in --chaos --no-buffer --stats; do
		refused 2 'does not go with' "$CHORD" record --signals "$option" -o none ./go
		refused 2 'does not go with' env CHORD_RECORD=signals "$CHORD" record "$option" -o none ./go
	done
	[ ! -e none ] || no "a log is left"
	# Told to stop just before a call, none goes on putting that off.
	for try in $(seq 40); do
		timeout -k 5 60 "$CHORD" record --chaos -o log ./go >out 2>err || no "try $try: status $?: $(head -c 300 err)"
	done
	: >err
	replay 1
}

# Random numbers by instructions, which nothing makes trap.
t_chance() {
	grep -qw rdrand /proc/cpuinfo || skip "the processor draws no random numbers"
	how=$(grep -qw rdpid /proc/cpuinfo && echo rdpid || echo without)
	gcc -O1 -w -mrdrnd -fPIC -shared -o libchance.so -x c - <<-'EOF' || no "cannot compile"
	#include <immintrin.h>
	unsigned long long library_draws(void) { unsigned long long v = 0; _rdrand64_step(&v); return v; }
	EOF
	for compiler in gcc "$CHORD cc -fchord=events"; do
		$compiler -O1 -g -w -pthread -mno-red-zone -mrdrnd -mrdseed -o chance "$here/chance.c" 2>cc.err || no "$(head -c 300 cc.err)"
		for arguments in "$how" "$how again"; do
			# shellcheck disable=SC2086
			record ./chance $arguments
			grep -q ', 0$' out || no "$(cat out)"
			cp out first
			replay 2
			for processor in $(taskset -cp $$ | sed 's/.*: //; s/[,-]/ /g'); do
				taskset -c "$processor" "$CHORD" replay log >again 2>&1 || no "on processor $processor: $(tail -c 300 again)"
				cmp -s out again || no "on processor $processor: other output"
			done
			# shellcheck disable=SC2086
			record ./chance $arguments
			! cmp -s first out || no "the same numbers twice"
		done
		refused 1 'memfd_secret.*runs on without being recorded' timeout -k 5 60 "$CHORD" record -o log ./chance "$how,apart"
		grep -q ', 0$' out || no "let go: $(cat out)"
		record ./chance "$how"
		debug ./chance "break segv" "continue" "print sum" "disassemble draw" "break in_library" "reverse-continue" "print sum" "delete" \
			"break segv" "continue" "print sum"
		answered '^Breakpoint.*segv' '^\$1 = ' rdrand rdseed '^Breakpoint.*in_library' '^\$2 = ' '^\$3 = '
		[ "$(sed -n 's/^\$1 = //p' answers)" = "$(sed -n 's/^\$3 = //p' answers)" ] || no "another sum: $(grep '^\$' answers)"
	done
	printf '#include <cstdio>\n#include <random>\nint main() { std::random_device r; std::printf("%%u %%u\\n", r(), r()); }\n' >device.cc
	g++ -O2 -o device device.cc || no "cannot compile"
	record ./device
	replay 3
}

# A function that neither an unwind table nor a symbol tells, but Go's table, in each of its versions. In damaged ones it is not found.
t_go_table() {
	local kind head
	grep -qw rdrand /proc/cpuinfo || skip "the processor draws no random numbers"
	cat >main.c <<-'EOF'
	#include <stdio.h>
	unsigned long draw(void);
	int main(void) { printf("%lx %lx\n", draw(), draw()); return 0; }
	EOF
	for kind in fffffffb:0 fffffffa:7 fffffff0:8 fffffff1:8 fffffff1:bad; do
		head="$(printf '.long 0x%s; .byte 0, 0, 1, 8; .quad 1' "${kind%:*}")"
		case ${kind#*:} in
		0) table="$head; .quad draw, 0, done" ;;
		7) table="$head; .quad 0, 0, 0, 0, 0, 64, draw, 0, done" ;;
		8) table="$head; .quad 0, draw, 0, 0, 0, 0, 72; .long 0, 0, done - draw" ;;
		bad) table="$head; .quad 0, 0, 0, 0, 0, 0, 72; .long 0, 0, done - draw" ;;
		esac
		printf '.text\n.p2align 5\n.globl draw\ndraw: rdrand %%rax\njnc draw\nret\ndone: .p2align 5\n.section .gopclntab,"a"\n%s\n.section .note.GNU-stack\n' \
			"$table" >draw.s
		gcc -O1 -no-pie -s -o drawn main.c draw.s 2>cc.err || no "cannot compile: $(cat cc.err)"
		record ./drawn
		if [ "${kind#*:}" = bad ]; then
			timeout 60 "$CHORD" replay log >again 2>again.err
			! cmp -s out again || no "found without a table"
		else
			replay 2
		fi
	done
}

# Logs that nobody recorded. MUTATIONS: of each (default 25)
t_mutated() {
	gcc -O2 -w -o mutate "$here/mutate.c" -lzstd -lxxhash 2>cc.err || skip "no headers of zstd and xxhash"
	build world "$here/world.c" -O1
	build signals "$here/signals.c" -O1
	$CHORD c++ -w -pthread -O1 -fchord=events -o threads "$here/threads.cc" 2>cc.err || no "$(head -c 300 cc.err)"
	gcc -O1 -w -o processes "$here/processes.c" && gcc -O1 -w -o repeats "$here/repeats.c" || no "cannot compile"
	head -c 100000 /dev/zero >input
	for program in "world" "signals 10" "threads 300" "processes" "repeats input 2"; do
		# shellcheck disable=SC2086
		record ./$program
		mv log "log.${program%% *}"
	done
	mkdir outside && echo precious >outside/file && touch -d 2001-01-01 outside/file outside
	find . -mindepth 1 -printf '%p %s %T@\n' | sort >"$w/before"
	./mutate "$CHORD" "${MUTATIONS:-25}" 1 log.world log.signals log.threads log.processes log.repeats >"$w/said" || no "$(head -c 400 "$w/said")"
	find . -mindepth 1 -printf '%p %s %T@\n' | sort | cmp -s - "$w/before" || no "it has changed files: $(ls)"
	return 0
}

# What a program reads again stands in the log once, wherever its chunks end.
t_repeats() {
	gcc -O1 -w -o repeats "$here/repeats.c" || no "cannot compile"
	head -c 3000000 /dev/urandom >input
	cp input unchanged
	record ./repeats input 10
	[ $status = 0 ] && [ "$(wc -l <out)" = 30 ] || no "status $status: $(head -c 300 out err)"
	[ "$(sort -u out | wc -l)" = 2 ] || no "it has read something else: $(sort -u out)"
	cmp -s input unchanged && no "it has not changed its input"
	# once for each size of pieces, and again those in which a byte has changed
	size=$(stat -c %s log)
	[ "$size" -gt 9000000 ] && [ "$size" -lt 10000000 ] || no "the log has $size bytes"
	rm input
	replay "$REPLAYS"
}

. "$here/signals.sh"
for name in struck struck-only struck-short struck-padded struck-too-often struck-often struck-by-others struck-dead struck-library struck-lua struck-busy struck-refused ends-another-way other-calls setarch mapped mapped_limited mapped_append mapped_program maps made-files cut-off repeats stack no-folder rights hides forged struck-at-once forced blocked group robust inherits segments sparse ignored guards chunks processors counters-go chance go-table sent-output no-counters world signals real-program signals-without-clock status world-is-gone streams closed-streams own-programs default-name mutated unrecorded missed no-aio too-much all-go-on few-descriptors no-program one-name-twice damaged another-build another-processor goes-another-way $debug_cases $debug_task_cases; do
	test_case "$name"
done
"$here/tasks.sh" "$@" || failed=1
"$here/real.sh" "$@" || failed=1
"$here/buffer.sh" "$@" || failed=1
exit $failed

/* SPDX-License-Identifier: MIT */
/* buffer WAY: makes system calls that do not wait, over and over, in one of several ways. What it prints depends on what they
 * returned. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static unsigned long sum;

static void
mix(const void *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + ((const unsigned char *)at)[i];
}

/* What there is in this folder: names, states, contents. */
static void
walk(unsigned times)
{
	char bytes[1000], link[100];
	struct dirent *e;
	struct timespec now;
	struct stat st;
	ssize_t n;
	void *map;
	DIR *d;
	int fd;

	for (unsigned i = 0; i < times; i++) {
		for (d = opendir("tree"); (e = readdir(d));) {
			fd = openat(dirfd(d), e->d_name, O_RDONLY);
			mix(e->d_name, strlen(e->d_name));
			if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
				close(fd);
				continue;
			}
			mix(&st.st_mtim, sizeof st.st_mtim);
			while ((n = read(fd, bytes, sizeof bytes)) > 0)
				mix(bytes, (size_t)n);
			mix(bytes, (size_t)pread(fd, bytes, 10, 5));
			lseek(fd, 3, SEEK_SET);
			map = mmap(NULL, 600, PROT_READ, MAP_PRIVATE, fd, 0);
			mix(map, 600);
			munmap(map, 600);
			close(fd);
		}
		closedir(d);
		if (stat("is-not-there", &st) != -1 || errno != ENOENT || read(-1, bytes, 1) != -1 || errno != EBADF)
			abort();
		if (read(open("tree/1", O_RDONLY | O_CLOEXEC), NULL, 7) != -1 || errno != EFAULT)
			abort();
		close(3);
		n = readlink("tree/link", link, sizeof link);
		mix(link, (size_t)n);
		clock_gettime(CLOCK_REALTIME, &now);
		mix(&now, sizeof now);
	}
}

/* ---- signals ---- */

static volatile sig_atomic_t struck;
static volatile unsigned where;
static unsigned long places;

static void
strike(int sig)
{
	struct stat st;

	(void)sig;
	places = places * 31 + where;
	stat("tree/1", &st);
	struck++;
}

static void
signals(int most)
{
	struct itimerval often = {{0, 300}, {0, 300}};
	struct sigaction act = {.sa_handler = strike, .sa_flags = SA_RESTART};

	walk(10);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (struck < most) {
		struct stat st;

		where++;
		stat("tree/2", &st);
		mix(&st.st_size, sizeof st.st_size);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	printf("%d signals, at %lx\n", (int)struck, places);
}

/* A read that waits is interrupted, where others have been made without a stop; and with all signals blocked. */
static void
interrupted(void)
{
	struct sigaction act = {.sa_handler = strike};
	sigset_t all, old, now;
	struct stat st;
	int end[2];
	char c;

	walk(10);
	sigaction(SIGALRM, &act, NULL);
	if (pipe(end))
		abort();
	for (int i = 0; i < 3; i++) {
		ualarm(20000, 0);
		if (read(end[0], &c, 1) != -1 || errno != EINTR)
			abort();
		walk(1);
	}
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	for (int i = 0; i < 100; i++) {
		mix(&st, (size_t)stat("tree/1", &st));
		if (write(end[1], "x", 1) != 1 || read(end[0], &c, 1) != 1)
			abort();
	}
	sigprocmask(SIG_SETMASK, &old, &now);
	printf("%d signals, SIGSYS blocked %d\n", (int)struck, sigismember(&now, SIGSYS));
	signal(SIGSYS, strike);
	for (int i = 0; i < 100; i++)
		mix(&st, (size_t)stat("tree/1", &st));
	raise(SIGSYS);
	printf("%d signals\n", (int)struck);
}

/* Actions of signals, plain devices, what terminals and other files say of themselves, advice. What others do beside it shows. */
static void
states(void)
{
	static const char *const device[] = {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/full", "/dev/ptmx", "tree/fifo"};
	struct sigaction act = {.sa_handler = strike, .sa_flags = SA_RESTART}, was;
	struct termios term;
	char bytes[100];
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), fd;

	for (int i = 0; i < 40; i++) {
		for (int j = 0; j < 6; j++) {
			memset(bytes, j, sizeof bytes);
			fd = open(device[j], O_RDWR | O_NONBLOCK); /* without devpts there is no /dev/ptmx */
			mix(bytes, (size_t)read(fd, bytes, sizeof bytes) + 1);
			if (posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL) != (fd < 0 ? EBADF : j == 5 ? ESPIPE : 0) ||
			    close(fd) != (fd < 0 ? -1 : 0) || close(fd) != -1)
				abort();
			mix(bytes, sizeof bytes);
		}
		memset(&term, i, sizeof term);
		if (tcgetattr(i & 1 ? 999 : 0, &term) != -1 || tcgetattr(terminal, &term) != (terminal < 0 ? -1 : 0))
			abort();
		mix(&term, sizeof term);
		act.sa_flags ^= SA_NODEFER;
		sigaction(SIGUSR1, &act, &was);
		mix(&was.sa_flags, sizeof was.sa_flags);
		if (sigaction(SIGUSR1, NULL, &was) || was.sa_handler != strike || (was.sa_flags ^ act.sa_flags) & SA_NODEFER ||
		    sigaction(SIGKILL, &act, NULL) != -1 || errno != EINVAL)
			abort();
		raise(SIGUSR1);
	}
	if (struck != 40 || signal(SIGSYS, strike) != SIG_DFL || raise(SIGSYS) || struck != 41 || signal(SIGSYS, SIG_DFL) != strike)
		abort();
	walk(5);
}

/* ---- threads, processes ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *
work(void *p)
{
	struct stat st;
	unsigned long own = 0;

	for (int i = 0; i < 2000; i++) {
		stat(i & 1 ? "tree/1" : "tree/2", &st);
		own = own * 31 + (unsigned long)st.st_size + (unsigned long)st.st_atim.tv_nsec;
		if (i % 100 == 0) {
			pthread_mutex_lock(&lock);
			sum = sum * 31 + own + (uintptr_t)p;
			pthread_mutex_unlock(&lock);
		}
	}
	return NULL;
}

static void
threads(void)
{
	pthread_t t[4];

	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	walk(20);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void
processes(char *self)
{
	int status;

	walk(20);
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (!child) {
			walk(20);
			printf("child %d %lx\n", i, sum);
			fflush(stdout);
			if (i == 2)
				execl(self, self, "walk", (char *)NULL);
			_exit(i);
		}
		walk(5);
		waitpid(child, &status, 0);
		mix(&status, sizeof status);
	}
	if (system("ls tree >/dev/null; exit 7") >> 8 != 7)
		abort();
	if (!vfork()) {
		struct stat st;

		for (int i = 0; i < 20; i++)
			stat("tree/1", &st);
		close(0);
		_exit(0);
	}
	wait(&status);
	walk(5);
}

/* ---- large ones ---- */

static void
large(void)
{
	size_t n = 3 << 20;
	char *bytes = malloc(n);
	int fd = open("large", O_RDONLY);

	walk(10);
	for (int i = 0; i < 3; i++) {
		for (size_t part = 1; part < n; part = part * 3 + 1) {
			lseek(fd, 0, SEEK_SET);
			mix(bytes, (size_t)read(fd, bytes, part));
		}
		for (off_t at = 0; at < 2000; at++)
			mix(bytes, (size_t)pread(fd, bytes, 4000, at));
		mix(bytes, (size_t)pread(fd, bytes, SSIZE_MAX, 5));
	}
}

/* ---- what a call leaves ---- */

/* All general registers, flags, what is below the stack pointer, and a vector are as the instruction has to leave them. The call is
 * the program's own, with padding behind it. */
__asm__(".text\n.p2align 4\n.globl own_call\n.type own_call, @function\nown_call:\n"
        "push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rdi, %r15\n"
        "mov $1, %ebx\nmov $2, %ebp\nmov $3, %r12d\nmov $4, %r13d\nmov $5, %r14d\n"
        "mov $6, %edx\nmov $7, %r8d\nmov $8, %r9d\nmov $9, %r10d\n"
        "movq %rdi, %xmm7\nmovq $77, -8(%rsp)\nmovq $78, -128(%rsp)\n"
        "mov $39, %eax\nstc\n"
        "jmp 1f\n"
        ".p2align 4\n"
        "1:	syscall\n"
        "mov %rax, (%r15)\nsetc %al\nmovzbl %al, %eax\nmov %rax, 8(%r15)\nmov %rsi, 16(%r15)\nmov %rdi, 24(%r15)\n"
        "mov %rbx, 32(%r15)\nmov %rbp, 40(%r15)\nmov %r12, 48(%r15)\nmov %r13, 56(%r15)\nmov %r14, 64(%r15)\n"
        "mov %rdx, 72(%r15)\nmov %r8, 80(%r15)\nmov %r9, 88(%r15)\nmov %r10, 96(%r15)\n"
        "movq %xmm7, %rax\nmov %rax, 104(%r15)\n"
        "mov -8(%rsp), %rax\nmov %rax, 112(%r15)\nmov -128(%rsp), %rax\nmov %rax, 120(%r15)\n"
        "mov %rcx, 128(%r15)\nmov %r11, 136(%r15)\nlea 1b+2(%rip), %rax\nmov %rax, 144(%r15)\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\nret\n.p2align 4\n");
void own_call(unsigned long *to, unsigned long two);

static void
registers(void)
{
	for (int i = 0; i < 50; i++) {
		unsigned long r[19];

		own_call(r, 22);
		if (r[0] != (unsigned long)getpid() || r[1] != 1 || r[2] != 22 || r[3] != (uintptr_t)r || r[4] != 1 || r[5] != 2 ||
		    r[6] != 3 || r[7] != 4 || r[8] != 5 || r[9] != 6 || r[10] != 7 || r[11] != 8 || r[12] != 9 ||
		    r[13] != (uintptr_t)r || r[14] != 77 || r[15] != 78 || r[16] != r[18] || !(r[17] & 1)) {
			printf("round %d:", i);
			for (int j = 0; j < 19; j++)
				printf(" %lx", r[j]);
			puts("");
			exit(1);
		}
	}
}

int
main(int argc, char **argv)
{
	const char *way = argv[argc > 1];

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* Does the kernel have system call user dispatch? */
	if (!strcmp(way, "can"))
		return prctl(59, 0, 0, 0, 0) != 0;
	if (!strcmp(way, "walk"))
		walk(100);
	else if (!strcmp(way, "signals"))
		signals(atoi(argv[2]));
	else if (!strcmp(way, "interrupted"))
		interrupted();
	else if (!strcmp(way, "states"))
		states();
	else if (!strcmp(way, "threads"))
		threads();
	else if (!strcmp(way, "processes"))
		processes(argv[0]);
	else if (!strcmp(way, "large"))
		large();
	else if (!strcmp(way, "registers"))
		registers();
	else if (!strcmp(way, "refused")) {
		walk(100);
		syscall(SYS_io_uring_setup, 1, NULL);
		walk(100);
	} else if (!strcmp(way, "crash")) {
		walk(20);
		*(volatile int *)(sum & 8) = 1;
	}
	printf("%s %s\n", way, sum || !strcmp(way, "registers") ? "has ended" : "has seen nothing");
	if (strcmp(way, "refused"))
		printf("%lx\n", sum);
	return 3;
}

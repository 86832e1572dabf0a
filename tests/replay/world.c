/* SPDX-License-Identifier: MIT */
/* Prints what a program sees of its environment: time, random numbers, files, pipes, signals, mappings. Ends with status 5;
 * with an argument it ends in the way that this names. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static volatile int handled;
static volatile double product = 1;

static void
on_signal(int sig, siginfo_t *info, void *context)
{
	char text[64];
	int n = snprintf(text, sizeof text, "signal %d, own %d\n", sig, info->si_pid == getpid());

	(void)context;
	handled++;
	product *= 1.5;
	if (write(1, text, (size_t)n) != n)
		_exit(99);
}

static void
on_fault(int sig)
{
	printf("fault %d\n", sig);
	fflush(stdout);
	_exit(7);
}

static void
clocks(void)
{
	struct timespec now;
	struct timeval day;
	struct rusage use;
	unsigned processor;
	uint64_t bits;

	clock_gettime(CLOCK_REALTIME, &now);
	gettimeofday(&day, NULL);
	getrusage(RUSAGE_SELF, &use);
	printf("%lld.%09ld %ld %lld %ld\n", (long long)now.tv_sec, now.tv_nsec, day.tv_usec, (long long)time(NULL), use.ru_minflt);
	printf("%" PRIu64 " %" PRIu64 "\n", (uint64_t)__rdtsc(), (uint64_t)__rdtscp(&processor));
	if (getrandom(&bits, sizeof bits, 0) == sizeof bits)
		printf("%" PRIx64 " %d %d\n", bits, getpid(), getppid());
}

static void
files(void)
{
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), more = open("file", O_RDWR);
	char text[64] = "";
	struct iovec v[2] = {{text, 3}, {text + 10, 20}};
	struct stat st;
	char *m;

	if (fd < 0 || ftruncate(fd, 8192))
		_exit(98);
	m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	/* A write is seen in the mapping, and a store by a read. */
	if (pwrite(more, "written", 7, 100) == 7)
		puts(m + 100);
	strcpy(m + 200, "stored");
	if (pread(fd, text, 6, 200) == 6)
		puts(text);
	if (!ftruncate(fd, 20000)) {
		m = mremap(m, 8192, 16384, MREMAP_MAYMOVE);
		strcpy(m + 9000, "far");
		puts(m + 9000);
	}
	lseek(fd, 100, SEEK_SET);
	if (readv(fd, v, 2) == 23)
		printf("%s %s\n", text, text + 10);
	fstat(fd, &st);
	printf("%p %lld %lld\n", (void *)m, (long long)st.st_size, (long long)st.st_mtime);
	m = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, open("/etc/passwd", O_RDONLY), 0);
	printf("%.20s\n", m);
	unlink("file");
}

static void
sockets(void)
{
	int p[2], s[2], waiting = 0;
	char text[16] = "", control[64];
	struct iovec v = {text, sizeof text - 1};
	struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};

	if (pipe(p) || socketpair(AF_UNIX, SOCK_STREAM, 0, s) || write(p[1], "pipe", 4) != 4 || send(s[0], "socket", 6, 0) != 6)
		_exit(97);
	if (!ioctl(p[0], FIONREAD, &waiting) && read(p[0], text, sizeof text) > 0)
		printf("%s %d\n", text, waiting);
	if (recvmsg(s[1], &h, 0) > 0)
		puts(text);
}

static void
signals(void)
{
	struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
	struct itimerval soon = {.it_value = {0, 20000}};
	struct timespec nap = {0, 60000000}, left = {0, 0};
	sigset_t none, alarm_only;
	int status;

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	/* Blocked until the wait, for it could come before that on a busy machine. */
	sigemptyset(&none);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm_only, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	sigsuspend(&none);
	sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	status = nanosleep(&nap, &left);
	printf("%d %ld\n", status, left.tv_nsec);
	/* One that is ignored does not end the nap. */
	signal(SIGALRM, SIG_IGN);
	setitimer(ITIMER_REAL, &soon, NULL);
	printf("%d %d %g\n", nanosleep(&nap, NULL), handled, product);
}

int
main(int argc, char **argv)
{
	void *big;

	printf("%s %s\n", argv[argc - 1], getenv("GREETING"));
	clocks();
	files();
	sockets();
	signals();
	dup2(1, 9);
	dprintf(9, "by another descriptor\n");
	fprintf(stderr, "an error\n");
	big = malloc(10 << 20);
	memset(big, 1, 10 << 20);
	printf("%p\n", big);
	free(big);
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "fault"))
		signal(SIGSEGV, on_fault);
	if (argc > 1 && (!strcmp(argv[1], "fault") || !strcmp(argv[1], "segv")))
		*(volatile int *)(uintptr_t)argc = 1;
	if (argc > 1 && !strcmp(argv[1], "term"))
		kill(getpid(), SIGTERM);
	if (argc > 1 && !strcmp(argv[1], "abort"))
		abort();
	return 5;
}

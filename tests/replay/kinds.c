/* SPDX-License-Identifier: MIT */
/* What programs wait for and share, by many kinds of calls. Each kind prints what it got. kinds NAME runs one of them. */
#define _GNU_SOURCE
#include <asm/ioctls.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mqueue.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t strikes;

static void
on_signal(int sig)
{
	strikes += sig > 0;
}

static struct timespec
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t;
}

/* A descriptor that counts, and one that reads signals, by epoll. */
static void
timers(void)
{
	struct itimerspec often = {{0, 2000000}, {0, 2000000}}, left;
	struct epoll_event e = {.events = EPOLLIN}, got[4];
	int tick = timerfd_create(CLOCK_MONOTONIC, 0), count = eventfd(3, EFD_NONBLOCK), all = epoll_create1(0), by_signal;
	struct itimerval once = {{0, 0}, {0, 3000}};
	struct signalfd_siginfo info;
	sigset_t set;
	uint64_t n, sum = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	by_signal = signalfd(-1, &set, 0);
	for (int i = 0, fd[] = {tick, count, by_signal}; i < 3; i++) {
		e.data.fd = fd[i];
		epoll_ctl(all, EPOLL_CTL_ADD, fd[i], &e);
	}
	timerfd_settime(tick, 0, &often, NULL);
	setitimer(ITIMER_REAL, &once, NULL);
	for (int i = 0; i < 6; i++) {
		int m = epoll_wait(all, got, 4, 1000);

		for (int k = 0; k < m; k++) {
			if (got[k].data.fd == by_signal && read(by_signal, &info, sizeof info) == sizeof info)
				printf("signal %u\n", info.ssi_signo);
			else if (read(got[k].data.fd, &n, sizeof n) == sizeof n)
				sum += n;
		}
	}
	timerfd_gettime(tick, &left);
	printf("%llu, %ld left\n", (unsigned long long)sum, left.it_value.tv_nsec);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* By a signal of its own. */
static void
posix_timer(void)
{
	struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2};
	struct itimerspec often = {{0, 3000000}, {0, 3000000}};
	unsigned long when = 0;
	timer_t timer;

	signal(SIGRTMIN + 2, on_signal);
	timer_create(CLOCK_REALTIME, &how, &timer);
	timer_settime(timer, 0, &often, NULL);
	while (strikes < 4) {
		pause();
		when = when * 31 + now().tv_nsec + timer_getoverrun(timer);
	}
	timer_delete(timer);
	printf("struck %d times at %lu\n", strikes, when);
}

static void
watch(void)
{
	char got[4096] __attribute__((aligned(8)));
	int all = inotify_init1(IN_CLOEXEC), w;
	struct inotify_event *e;
	ssize_t n;

	mkdir("watched", 0700);
	w = inotify_add_watch(all, "watched", IN_ALL_EVENTS);
	if (!fork()) {
		close(open("watched/new", O_CREAT | O_WRONLY, 0600));
		unlink("watched/new");
		_exit(0);
	}
	wait(NULL);
	n = read(all, got, sizeof got);
	for (char *at = got; at < got + n; at += sizeof *e + e->len) {
		e = (void *)at;
		printf("%x %s\n", e->mask, e->len ? e->name : "");
	}
	inotify_rm_watch(all, w);
	rmdir("watched");
}

struct shared {
	sem_t full, empty;
	pthread_mutex_t lock;
	pthread_cond_t done;
	int ended;
	uint64_t value, sum;
};

static void
produce(struct shared *s, int who)
{
	for (int i = 0; i < 50; i++) {
		sem_wait(&s->empty);
		s->value = s->value * 31 + (uint64_t)(who * 1000 + i);
		sem_post(&s->full);
	}
	pthread_mutex_lock(&s->lock);
	s->ended++;
	pthread_cond_signal(&s->done);
	pthread_mutex_unlock(&s->lock);
	_exit(0);
}

/* Memory of several processes, once without a name and once by one. */
static void
share(void)
{
	pthread_mutexattr_t ma;
	pthread_condattr_t ca;

	pthread_mutexattr_init(&ma), pthread_mutexattr_setpshared(&ma, 1);
	pthread_condattr_init(&ca), pthread_condattr_setpshared(&ca, 1);
	for (int named = 0; named < 2; named++) {
		int fd = named ? shm_open("/chord-kinds", O_CREAT | O_RDWR, 0600) : -1;
		struct shared *s;

		if (named)
			ftruncate(fd, 4096);
		s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, named ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, fd, 0);
		memset(s, 0, sizeof *s);
		sem_init(&s->full, 1, 0), sem_init(&s->empty, 1, 1);
		pthread_mutex_init(&s->lock, &ma), pthread_cond_init(&s->done, &ca);
		for (int who = 1; who <= 3; who++)
			if (!fork()) {
				struct shared *mine = named ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : s;

				produce(mine, who);
			}
		for (int i = 0; i < 150; i++) {
			sem_wait(&s->full);
			s->sum = s->sum * 7 + s->value;
			sem_post(&s->empty);
		}
		pthread_mutex_lock(&s->lock);
		while (s->ended < 3)
			pthread_cond_wait(&s->done, &s->lock);
		pthread_mutex_unlock(&s->lock);
		while (wait(NULL) > 0)
			;
		printf("shared %llx %llx\n", (unsigned long long)s->value, (unsigned long long)s->sum);
		shm_unlink("/chord-kinds");
	}
}

/* Queues and semaphores of both kinds. */
static void
queues(void)
{
	struct { long type; char text[60]; } m = {3, "by System V"};
	struct mq_attr a = {.mq_maxmsg = 4, .mq_msgsize = 100};
	struct sembuf down = {0, -1, 0};
	struct msqid_ds state;
	int q = msgget(IPC_PRIVATE, 0600), sem = semget(IPC_PRIVATE, 1, 0600);
	mqd_t posix = mq_open("/chord-kinds", O_CREAT | O_RDWR, 0600, &a);
	char text[100] = "";
	unsigned prio = 0;
	ssize_t n;

	if (!fork()) {
		msgsnd(q, &m, sizeof m.text, 0);
		mq_send(posix, "by POSIX", 9, 5);
		semctl(sem, 0, SETVAL, 1);
		_exit(0);
	}
	memset(&m, 0, sizeof m);
	n = msgrcv(q, &m, sizeof m.text, 0, 0);
	printf("%zd %s, type %ld\n", n, m.text, m.type);
	if (posix != (mqd_t)-1) {
		mq_receive(posix, text, sizeof text, &prio);
		mq_getattr(posix, &a);
	}
	printf("%s at %u, %ld left\n", text, prio, a.mq_curmsgs);
	printf("%d\n", semop(sem, &down, 1));
	printf("%d\n", semctl(sem, 0, GETVAL));
	wait(NULL);
	msgctl(q, IPC_STAT, &state);
	printf("%lu %d\n", state.msg_qnum, state.msg_lspid);
	msgctl(q, IPC_RMID, NULL), semctl(sem, 0, IPC_RMID), mq_unlink("/chord-kinds");
}

/* Calls that newer programs make. */
static void
newer(void)
{
	int key = pkey_alloc(0, 0);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), to[100] = "";
	struct iovec here = {to, 5}, there = {page, 5};
	struct { unsigned n; int type; unsigned char bytes[128]; } handle = {sizeof handle.bytes};
	unsigned char attr[56] = {0};
	int mount;
	ssize_t n;

	if (key > 0) {
		pkey_mprotect(page, 4096, PROT_READ | PROT_WRITE, key);
		memcpy(page, "keyed", 5);
		pkey_free(key);
	} else {
		memcpy(page, "plain", 5);
	}
	n = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
	printf("%zd %s\n", n, to);
	n = name_to_handle_at(AT_FDCWD, "/", (void *)&handle, &mount, 0);
	printf("%zd %u %d\n", n, handle.n, handle.type);
	n = syscall(SYS_sched_getattr, 0, attr, sizeof attr, 0);
	printf("%zd %d\n", n, attr[0]);
	printf("%ld\n", syscall(452, AT_FDCWD, "/nothing", 0600, 0));
}

static uint64_t
sum(const void *at, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + ((const unsigned char *)at)[i];
	return sum;
}

/* Calls of kernels from 6.8 to 6.17, by their numbers: older ones say that there is no such call. */
static void
newest(void)
{
	static unsigned char out[4096];
	struct { uint32_t size, spare; uint64_t id, param, ns; } all = {24, 0, ~0ull, 0, 0}, one = {24, 0, 0, 0x2f, 0};
	uint64_t ids[64] = {0};
	uint32_t size = sizeof ids;
	char name[] = "kinds.XXXXXX";
	int fd = mkstemp(name);
	long n = syscall(458, &all, ids, 64, 0);

	printf("listmount %ld %" PRIx64 "\n", n, sum(ids, sizeof ids));
	one.id = ids[0];
	n = syscall(457, &one, out, sizeof out, 0);
	printf("statmount %ld %" PRIx64 "\n", n, sum(out, sizeof out));
	memset(ids, 0, sizeof ids);
	n = syscall(461, ids, &size, 0);
	printf("lsm_list_modules %ld %u %" PRIx64 "\n", n, size, sum(ids, sizeof ids));
	size = sizeof out;
	memset(out, 0, sizeof out);
	n = syscall(459, 100, out, &size, 0);
	printf("lsm_get_self_attr %ld %u %" PRIx64 "\n", n, size, sum(out, sizeof out));
	n = syscall(465, AT_FDCWD, name, 0, out, sizeof out);
	printf("listxattrat %ld\n", n);
	memset(out, 0, sizeof out);
	n = syscall(468, AT_FDCWD, name, out, 24, 0);
	printf("file_getattr %ld %" PRIx64 "\n", n, sum(out, 24));
	close(fd);
	unlink(name);
}

static void
interfaces(void)
{
	struct ifreq all[8] = {0};
	struct ifconf c = {.ifc_len = sizeof all, .ifc_req = all};
	int s = socket(AF_INET, SOCK_DGRAM, 0), n = ioctl(s, SIOCGIFCONF, &c);

	printf("SIOCGIFCONF %d %d %.16s %" PRIx64 "\n", n, c.ifc_len, all[0].ifr_name, sum(all, sizeof all));
	close(s);
}

/* The newer form of what C libraries ask a terminal, and more that tells of files. */
static void
terminal(void)
{
	unsigned char out[64] = {0};
	long long size = 0;
	int fd = posix_openpt(O_RDWR | O_NOCTTY), n;

	n = ioctl(fd, _IOC(_IOC_READ, 'T', 0x2a, 44), out);
	printf("TCGETS2 %d %" PRIx64 "\n", n, sum(out, sizeof out));
	n = ioctl(fd, _IOC(_IOC_WRITE, 'T', 0x2b, 44), out);
	printf("TCSETS2 %d\n", n);
	n = ioctl(1, FIOQSIZE, &size);
	printf("FIOQSIZE %d %lld\n", n, size);
	n = fcntl(1, 1027, 2);
	printf("F_DUPFD_QUERY %d\n", n < 0);
	n = prctl(0x41555856, out, sizeof out, 0, 0);
	printf("PR_GET_AUXV %d %" PRIx64 "\n", n, sum(out, sizeof out));
	close(fd);
}

/* As daemons begin: two forks, a session, no folder, no streams. The pipe says when it is done. */
static void
daemon_like(void)
{
	int ends[2];
	char got[100];
	ssize_t n;

	pipe(ends);
	if (!fork()) {
		setsid();
		if (fork())
			_exit(0);
		if (chdir("/") || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "r", stdin))
			_exit(1);
		close(ends[0]);
		usleep(2000);
		dprintf(ends[1], "daemon %d of %d", getpid(), getsid(0));
		_exit(0);
	}
	close(ends[1]);
	wait(NULL);
	while ((n = read(ends[0], got, sizeof got)) > 0)
		printf("%.*s\n", (int)n, got);
}

int
main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } kinds[] = {
		{"timers", timers}, {"posix-timer", posix_timer}, {"watch", watch}, {"share", share}, {"queues", queues},
		{"newer", newer}, {"newest", newest}, {"interfaces", interfaces}, {"terminal", terminal}, {"daemon", daemon_like},
	};

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (argc < 2 || !strcmp(argv[1], kinds[i].name)) {
			puts(kinds[i].name);
			kinds[i].run();
		}
	return 7;
}
